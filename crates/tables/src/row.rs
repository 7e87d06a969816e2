//! One row of a table: its cells, and what must be right in them.

use std::collections::BTreeMap;

use evalcurve_calibration::RATINGS;
use evalcurve_calibration::types::{Color, Declared, Outcome};
use evalcurve_records::record::GameHash;
use evalcurve_records::sample::MOST_NAME;
use evalcurve_words::language::Text;
use evalcurve_words::text;

use super::columns::{self, ResultWord, Role, is_true};
use super::read::TableOptions;
use super::source::Cells;

/// Largest plausible ply. The longest possible games of chess and shogi are shorter, and models fit every ply.
pub const MOST_PLY: u32 = 20_000;

/// The columns of a row that can be wrong.
pub(super) struct Parsed {
    pub score_cp: i32,
    pub mate: bool,
    pub color: Color,
    /// Whether the row has the colour. Else the engine whose name comes first is Black.
    pub has_color: bool,
    pub outcome: Outcome,
    pub ply: u32,
    pub window: u32,
    /// Those of the engine and of its opponent.
    pub ratings: [Option<f64>; 2],
}

/// Why a row is not a sample.
pub(super) struct BadRow {
    pub kind: &'static str,
    pub value: String,
    pub wanted: Text,
}

/// The columns of a file by role, at one row.
pub(super) struct Row<'t> {
    pub columns: BTreeMap<Role, Box<dyn Cells + 't>>,
    pub row: usize,
}

impl Row<'_> {
    pub(crate) fn has(&self, role: Role) -> bool {
        self.columns.contains_key(&role)
    }

    pub(crate) fn number(&self, role: Role) -> Option<f64> {
        self.columns.get(&role)?.number(self.row)
    }

    /// A number from 0 to `most`.
    pub(crate) fn number_up_to(&self, role: Role, most: u32) -> Option<f64> {
        self.number(role).filter(|n| (0.0..=f64::from(most)).contains(n))
    }

    pub(crate) fn text(&self, role: Role) -> Option<&str> {
        self.columns.get(&role)?.text(self.row)
    }

    /// The rates that the engine declared, if all three columns have them.
    pub(crate) fn declared(&self) -> Option<Declared> {
        let rate = |role| self.number_up_to(role, 1_000).map(|rate| rate.round() as u16);
        let [win, draw, loss] = [Role::DeclaredWin, Role::DeclaredDraw, Role::DeclaredLoss].map(rate);
        Declared::try_from([win?, draw?, loss?]).ok()
    }

    /// Adds all cells to a hash of the content of a file.
    pub(crate) fn add_to(&self, hash: &mut GameHash) {
        for role in self.columns.keys() {
            hash.bytes(role.as_str().as_bytes());
            match self.text(*role) {
                Some(text) => hash.bytes(text.as_bytes()),
                None => hash.word(self.number(*role).map_or(1, f64::to_bits)),
            }
        }
    }

    /// Whether a flag is set.
    pub(crate) fn is_true(&self, role: Role) -> bool {
        self.text(role).is_some_and(is_true)
    }

    /// A text that is not empty.
    pub(crate) fn name(&self, role: Role) -> Option<&str> {
        self.text(role).filter(|name| !name.is_empty())
    }

    /// The beginning of a cell for messages.
    fn shown(&self, role: Role) -> String {
        let number = || self.number(role).map(|n| n.to_string());
        self.text(role).map(str::to_owned).or_else(number).unwrap_or_default().chars().take(60).collect()
    }
}

/// The engine of a row.
pub(super) fn engine<'a>(row: &'a Row<'_>, options: &'a TableOptions) -> &'a str {
    row.text(Role::Engine).or(options.engine.as_deref()).unwrap_or_default()
}

/// Parses the columns of a row that can be wrong.
pub(super) fn parse(row: &Row<'_>, options: &TableOptions) -> Result<Parsed, BadRow> {
    let bad = |role, kind, wanted| BadRow { kind, value: row.shown(role), wanted };
    if options.engine.is_none() && row.name(Role::Engine).is_none() {
        return Err(bad(Role::Engine, "bad_engine", text!("a name")));
    }
    for (role, kind) in [(Role::Engine, "bad_engine"), (Role::Opponent, "bad_opponent")] {
        if row.name(role).is_some_and(|name| name.len() > MOST_NAME) {
            let wanted = text!("a name of at most {MOST_NAME} bytes");
            return Err(bad(role, kind, wanted));
        }
    }
    let unit = options.unit(engine(row, options));
    let score = match row.number(Role::Score) {
        Some(number) => unit.centipawns(number),
        None => row.text(Role::Score).and_then(columns::mate).map(|wins| {
            let size = evalcurve_records::record::ANNOUNCED_MATE_CP;
            (if wins { size } else { -size }, true)
        }),
    };
    let Some((score_cp, mate)) = score else {
        return Err(bad(Role::Score, "bad_score", unit.wanted()));
    };
    let color = row
        .name(Role::Color)
        .map(|text| columns::color(text).ok_or_else(|| bad(Role::Color, "bad_color", text!("black or white"))));
    let color = color.transpose()?;
    let result = match row.number(Role::Result) {
        Some(number) => columns::outcome(number).map(ResultWord::Own),
        None => row.text(Role::Result).and_then(columns::result),
    };
    let outcome = match (result, color) {
        (Some(ResultWord::Own(outcome)), _) => outcome,
        (Some(ResultWord::Winner(winner)), Some(color)) if winner == color => Outcome::Win,
        (Some(ResultWord::Winner(_)), Some(_)) => Outcome::Loss,
        (Some(ResultWord::Winner(_)), None) => {
            let wanted = text!("a result for the engine, because the row has no colour (`column` color=NAME)");
            return Err(bad(Role::Result, "bad_result", wanted));
        }
        (None, _) => {
            let wanted = text!("1, 0.5, 0, win, draw, loss, W, D, L, 1-0, 0-1 or 1/2-1/2");
            return Err(bad(Role::Result, "bad_result", wanted));
        }
    };
    let ply = row.number(Role::Ply).filter(|ply| *ply >= 0.0).unwrap_or(0.0);
    if ply > f64::from(MOST_PLY) {
        return Err(bad(Role::Ply, "bad_ply", text!("a ply up to 20000")));
    }
    // a cell with text, as of another tool, is no window
    let window = match row.number(Role::Window).filter(|window| !window.is_nan()) {
        Some(window) if !(0.0..=f64::from(MOST_PLY)).contains(&window) => {
            return Err(bad(Role::Window, "bad_window", text!("a window from 0 to {MOST_PLY}")));
        }
        window => window.unwrap_or(0.0) as u32,
    };
    // made from results, ratings have mean 0
    let range = if row.is_true(Role::BradleyTerry) { -RATINGS.end()..=*RATINGS.end() } else { RATINGS };
    let rating = |role| match row.number(role).filter(|rating| !rating.is_nan()) {
        Some(rating) if !range.contains(&rating) => {
            let (least, most) = (range.start(), range.end());
            let wanted = text!("a rating from {least} to {most} (leave the cell empty if it is unknown)");
            Err(bad(role, "bad_rating", wanted))
        }
        rating => Ok(rating),
    };
    let ratings = [rating(Role::Rating)?, rating(Role::OpponentRating)?];
    let has_color = color.is_some();
    // without colours, the names tell the two engines of a game apart
    let is_second = row.name(Role::Opponent).is_some_and(|opponent| engine(row, options) > opponent);
    Ok(Parsed {
        score_cp,
        mate,
        color: color.unwrap_or(if is_second { Color::White } else { Color::Black }),
        has_color,
        outcome,
        ply: ply as u32,
        window,
        ratings,
    })
}

/// The identity of a game: 16 hexadecimal digits as sample tables have them, in lower case; any other text by its hash.
pub fn game_id(text: &str) -> u64 {
    let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == 16
        && text.bytes().all(is_digit)
        && let Ok(id) = u64::from_str_radix(text, 16)
    {
        return id;
    }
    let mut hash = evalcurve_records::record::GameHash::default();
    hash.bytes(text.as_bytes());
    hash.finish(&[String::new(), String::new()], None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_are_different_games() {
        let names = ["ABCDEFABCDEFABCD", "abcdefabcdefabcd", "+bcdefabcdefabcd", "0bcdefabcdefabcd", "abcdefabcdefabc"];
        let ids: std::collections::BTreeSet<u64> = names.map(game_id).into();
        assert_eq!(ids.len(), names.len());
        assert_eq!((game_id(names[1]), game_id(names[3])), (0xABCD_EFAB_CDEF_ABCD, 0x0BCD_EFAB_CDEF_ABCD));
    }
}
