//! The moves in the text of a game: their times, and where an analysis is inserted as comments.
//!
//! All that a record says stays, also an older analysis. Both then stand after a move, the new one first; of several
//! analyses evalcurve reads the first. What stands there already, word for word, is not inserted again.
//!
//! | format | form | comment after a move | position |
//! |---|---|---|---|
//! | CSA, KIF | [`Form::ShogiHome`] | `*#評価値=`, `*#詰み=`, `*#読み筋=`, `*#深さ=`, `*#ノード数=`, `*#エンジン=` | after the move |
//! | CSA, KIF | [`Form::ShogiGui`] | `**Engines 0 NAME` once, `**解析 0 深さ … ノード数 … 評価値 … 読み筋 …` | after the move |
//! | CSA, KIF | [`Form::Floodgate`] | `** 30 -8384FU`: it reads as the mover's own score | before the move |
//! | PGN | all | `{[%eval 0.25,18]}`, as lichess writes it | after the move |
//!
//! In CSA the shogi comments follow a `'`. Sources: ShogiHome's `src/common/record/comment.ts`, records of ShogiGUI,
//! lichess's export, python-chess's `ChildNode.eval`.

mod csa;
mod kif;
mod pgn;

use std::ops::Range;

use encoding_rs::{Encoding, UTF_8};
use evalcurve_records::record::encoding::{declared, guess};
use evalcurve_records::record::format::Above;
use evalcurve_records::record::{Game, ScoredPosition};
use evalcurve_records::{Written, spliced};
use evalcurve_words::language::Text;
use evalcurve_words::text;

/// A move in the text of a game.
#[derive(Debug, Clone, PartialEq)]
struct Move {
    /// Where it begins; in PGN the first one with the comments before it.
    from: usize,
    /// Where it ends, with its time or glyphs: here stands the analysis of the position after it.
    after: usize,
    /// Where its comments end, too.
    end: usize,
    /// The seconds that it took.
    seconds: Option<f64>,
    /// The clock of the mover after it, in seconds.
    clock: Option<f64>,
}

impl Move {
    fn at(range: Range<usize>) -> Self {
        Self { from: range.start, after: range.end, end: range.end, seconds: None, clock: None }
    }

    /// Adds a time that may follow it.
    fn time(&mut self, range: Range<usize>, seconds: Option<f64>) {
        self.seconds = self.seconds.or(seconds);
        if self.end == range.start && self.after == self.end {
            (self.after, self.end) = (range.end, range.end);
        }
    }

    /// Adds a comment, if it follows.
    fn comment(&mut self, range: Range<usize>) {
        if self.end == range.start {
            self.end = range.end;
        }
    }
}

/// How programs for shogi write a score into a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Form {
    /// ShogiHome's analysis.
    #[default]
    ShogiHome,
    /// ShogiGUI's analysis.
    ShogiGui,
    /// A player's own score on floodgate.
    Floodgate,
}

/// What an engine says of a position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remark {
    /// Its score in the view of the side that begins a standard game: Black in shogi, White in chess.
    pub score_cp: i32,
    /// Instead, a mate by that side (positive) or against it, and the plies if they are known.
    pub mate: Option<(bool, Option<u32>)>,
    /// The move that it would play: as KIF writes it with the sign of the side, and as CSA writes it.
    pub best: Option<[String; 2]>,
    /// Depth in plies.
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
}

/// The moves of the game, and where the tags of PGN end; `None` for a format whose moves cannot be told apart in the
/// text.
fn moves(written: &Written) -> Option<(Vec<Move>, Option<usize>)> {
    match written.format.name {
        "csa" => Some((csa::moves(&written.text), None)),
        "kif" => Some((kif::moves(&written.text, encoding(written)), None)),
        "pgn" => Some(pgn::moves(&written.text)),
        _ => None,
    }
}

/// The seconds that each move took, as far as the record says; a clock is read with the increment of this time control.
pub fn times(written: &Written, time_control: &str) -> Vec<Option<f64>> {
    let increment = time_control.split_once('+').and_then(|(_, text)| text.parse::<f64>().ok()).unwrap_or(0.0);
    let mut clocks: [Option<f64>; 2] = [None; 2];
    let seconds = |(number, played): (usize, Move)| {
        let before = &mut clocks[number % 2];
        let passed = before.zip(played.clock).map(|(before, left)| (before + increment - left).max(0.0));
        *before = played.clock.or(*before);
        played.seconds.or(passed)
    };
    moves(written).unwrap_or_default().0.into_iter().enumerate().map(seconds).collect()
}

/// A text and the byte of the record before which it is inserted.
pub type Insertion = (usize, Vec<u8>);

/// What an engine says of the positions of a game, as texts to insert into the record at these bytes, in order:
/// `remarks` has the start position first, and one for each of the moves. All else stays as it is.
///
/// # Errors
/// Why comments cannot be inserted: the format has none, its moves are not those that were read, or an older score of a
/// position of which this engine says nothing would then be read as its.
pub fn insertions(
    written: &Written,
    plies: u32,
    engine: &str,
    remarks: &[Option<Remark>],
    form: Form,
) -> Result<Vec<Insertion>, Text> {
    let name: String = engine.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let all = comments(written, plies, name.trim(), remarks, form)?;
    match older_scores(written, name.trim(), remarks, &all) {
        0 => Ok(all),
        count => Err(text!(
            "{count} positions that {engine} did not score have an older score, which would then be read as its; \
             remove the older comments, or let it score these positions"
        )),
    }
}

/// How many scores of others the game would have that are read as those of the engine, after these insertions.
fn older_scores(written: &Written, engine: &str, remarks: &[Option<Remark>], inserted: &[Insertion]) -> usize {
    // an engine that has written into this record before, by its name
    let read = |text: &[u8]| {
        let mut game = Game::default();
        let above = Above { encoding: written.encoding, ..Above::default() };
        let is_read = written.format.games(text, &above).read(&mut game).is_some_and(|read| read.is_ok());
        is_read.then_some(game)
    };
    if inserted.is_empty() || read(&written.text).is_some_and(|game| game.annotator == engine) {
        return 0;
    }
    let Some(game) = read(&spliced(&written.text, inserted)) else { return 0 };
    let is_unsaid =
        |ply: u32| (ply as usize).checked_sub(1).and_then(|at| remarks.get(at)).is_some_and(Option::is_none);
    // scores of the players stay theirs; an analysis is that of the one engine that is named
    let of_engine = |score: &&ScoredPosition| score.analysis && game.annotator == engine && is_unsaid(score.ply);
    game.scores.iter().filter(of_engine).count()
}

/// The insertions that are not there already: those at one place stand before or behind it, word for word.
fn new(text: &[u8], all: Vec<Insertion>) -> Vec<Insertion> {
    let is_there = |pieces: &&[Insertion]| {
        let (at, whole) = (pieces[0].0, pieces.iter().flat_map(|(_, piece)| piece.clone()).collect::<Vec<u8>>());
        text[at..].starts_with(&whole) || text[..at].ends_with(&whole)
    };
    all.chunk_by(|a, b| a.0 == b.0).filter(|pieces| !is_there(pieces)).flatten().cloned().collect()
}

fn comments(
    written: &Written,
    plies: u32,
    engine: &str,
    remarks: &[Option<Remark>],
    form: Form,
) -> Result<Vec<Insertion>, Text> {
    let format = written.format.label;
    let (moves, tags) = moves(written)
        .ok_or_else(|| text!("a record in {format} has no comments to write to; CSA, KIF, KI2 and PGN have"))?;
    if moves.len() != plies as usize {
        let found = moves.len();
        return Err(text!(
            "{found} of its {plies} moves are found in its text, so comments could stand at the wrong move"
        ));
    }
    let end_of_line = if memchr::memmem::find(&written.text, b"\r\n").is_some() { "\r\n" } else { "\n" };
    // the start position, and that after each move
    let said = remarks.iter().enumerate().filter_map(|(ply, remark)| Some((ply, remark.as_ref()?)));
    let of_move = |ply: usize| moves.get(ply.checked_sub(1)?);
    let Some(first) = moves.first().map(|played| played.from) else { return Ok(Vec::new()) };
    let mut all: Vec<Insertion> = Vec::new();
    if written.format.name == "pgn" {
        let tag = pgn::tag(engine, end_of_line);
        let tags = tags.filter(|end| !pgn::is_named(&written.text[..*end], &tag));
        all.extend(tags.filter(|_| remarks.iter().any(Option::is_some)).map(|end| (end, tag.into_bytes())));
        let comment = |(ply, remark): (usize, &Remark)| match (ply, of_move(ply)) {
            (0, _) => Some((first, format!("{} ", pgn::comment(remark)).into_bytes())),
            (_, played) => Some((played?.after, format!(" {}", pgn::comment(remark)).into_bytes())),
        };
        all.extend(said.filter_map(comment));
        return Ok(new(&written.text, all));
    }
    // ShogiGUI has no comments in KI2, whose moves begin with a sign
    let is_ki2 = written.format.name == "kif" && written.text.get(first).is_some_and(|byte| !byte.is_ascii());
    let form = if is_ki2 && form == Form::ShogiGui { Form::ShogiHome } else { form };
    let (encoding, before) = (encoding(written), if written.format.name == "csa" { "'" } else { "" });
    let comments = |at: usize, lines: &[String]| {
        let mut text = String::new();
        // in a line of several moves
        if at > 0 && written.text.get(at - 1) != Some(&b'\n') {
            text += end_of_line;
        }
        lines.iter().for_each(|line| text += &[before, line, end_of_line].concat());
        (at, encoding.encode(&text).0.into_owned())
    };
    for (ply, remark) in said {
        let at = match (form, ply) {
            // the score of the position before the move, below those that the record has: the last counts
            (Form::Floodgate, _) => moves.get(ply).map(|played| played.end),
            (Form::ShogiHome | Form::ShogiGui, 0) => Some(first),
            (Form::ShogiHome | Form::ShogiGui, _) => of_move(ply).map(|played| played.after),
        };
        let Some(at) = at else { continue };
        if form == Form::ShogiGui && all.is_empty() {
            all.push(comments(first, &[format!("**Engines 0 {engine}")]));
        }
        all.push(comments(at, &lines(remark, engine, form)));
    }
    Ok(new(&written.text, all))
}

/// What an engine says, as lines that begin with `*`.
fn lines(remark: &Remark, engine: &str, form: Form) -> Vec<String> {
    let best = remark.best.as_ref();
    match form {
        Form::ShogiHome => {
            let score = match remark.mate {
                Some((black, plies)) => {
                    let plies = plies.map_or_else(String::new, |plies| format!(":{plies}手"));
                    format!("*#詰み={}{plies}", if black { "先手勝ち" } else { "後手勝ち" })
                }
                None => format!("*#評価値={}", remark.score_cp),
            };
            let mut lines = vec![score];
            lines.extend(best.map(|[kif, _]| format!("*#読み筋={kif}")));
            lines.extend(remark.depth.map(|depth| format!("*#深さ={depth}")));
            lines.extend(remark.nodes.map(|nodes| format!("*#ノード数={nodes}")));
            lines.push(format!("*#エンジン={engine}"));
            lines
        }
        Form::ShogiGui => {
            let depth = remark.depth.map_or_else(String::new, |depth| format!(" 深さ {depth}"));
            let nodes = remark.nodes.map_or_else(String::new, |nodes| format!(" ノード数 {nodes}"));
            let value = match remark.mate {
                Some((black, plies)) => {
                    let plies = plies.map_or_else(String::new, |plies| format!(" {plies}"));
                    format!("{}詰{plies}", if black { '+' } else { '-' })
                }
                None => remark.score_cp.to_string(),
            };
            let best = best.map_or_else(String::new, |[kif, _]| format!(" 読み筋 {kif}"));
            vec![format!("**解析 0{depth}{nodes} 評価値 {value}{best}")]
        }
        Form::Floodgate => {
            let score = remark.mate.map_or(remark.score_cp, |(black, _)| if black { MATE } else { -MATE });
            // without a line, floodgate's 0 would be a book move
            let best = best.map_or("%TORYO", |[_, csa]| csa);
            vec![format!("** {score} {best}")]
        }
    }
}

/// A mate on floodgate, as ShogiHome writes it.
const MATE: i32 = 30_000;

/// The encoding of the text: what it declares, unless its bytes contradict that.
fn encoding(written: &Written) -> &'static Encoding {
    let is_utf8 = std::str::from_utf8(&written.text).is_ok();
    match declared(&written.text).or(written.encoding) {
        Some(encoding) if is_utf8 == (encoding == UTF_8) || written.text.is_ascii() => encoding,
        _ if is_utf8 => UTF_8,
        _ => guess(&written.text),
    }
}

#[cfg(test)]
mod tests;
