//! Tables, JSON and heat maps of exact pluralities and of the bounds of Sato (2013) for them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::figures::{FigureError, save};
use evalcurve_app::report::text::centred;
use evalcurve_figures::PlotOptions;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{key, say, text, whole_file};
use serde_json::{Value, json};

use crate::figures::{HeatMap, heat_map};
use crate::improvement::{Change, Verdict, expected_voting_matrix};
use crate::plurality::{MoveWins, PluralityError, Tie, Voters, plurality_of_alike};
use crate::sato::{self, Bounds, Theorem};
use crate::sato_map::Cell;

/// Differences between a bound and an exact value below this are rounding.
const ROUNDING: f64 = 1e-9;
/// Largest number of moves in a table.
const MOST_ROWS: usize = 40;

/// A table of the probabilities of each move.
pub fn text(voters: &[Voters], tie: Tie, found: &[MoveWins], verdict: Option<&Verdict>, language: Language) -> String {
    let mut out = String::new();
    for group in voters {
        let count = Text::counted(group.count as u64, "{n} voter", "{n} voters");
        out += &say!(language, "{count} of weight {}\n", group.weight);
    }
    let group = |g: usize| match voters.len() {
        1 => say!(language, "one voter"),
        _ => say!(language, "group {}", g + 1),
    };
    let wins = language.word(match tie {
        Tie::Leader => key!("wins, ties to leader"),
        Tie::Random => key!("wins, ties drawn"),
        Tie::Worst => key!("wins, ties lost"),
    });
    let mut table =
        Columns::new().gap(0).right(language.word("move"), 5, |(m, _): &(usize, &MoveWins)| (m + 1).to_string());
    for (g, voters) in voters.iter().enumerate() {
        table = table.right(group(g), 10, |(m, _)| format!("{:.5}", voters.probabilities[*m]));
    }
    let table = table
        .right(language.word("alone"), 12, |(_, of)| format!("{:.6}", of.strict))
        .right(language.word("alone or tied"), 14, |(_, of)| format!("{:.6}", of.strict_or_tied))
        .right(wins, 22, |(_, of)| format!("{:.6}", of.wins));
    out += &format!("\n{}{}", table.table(found.iter().enumerate().take(MOST_ROWS)), more_moves(found.len(), language));
    let clear: f64 = found.iter().map(|m| m.strict).sum();
    out += &say!(language, "\nsome move is ahead alone: {clear:.6}; several are tied: {:.6}\n", 1.0 - clear);
    if let Some(verdict) = verdict {
        let table = Columns::new()
            .gap(0)
            .left("", 12, |(name, _): &(String, Change)| name.clone())
            .right(language.word("improvement"), 14, |(_, c)| format!("{:.6}", c.improvement))
            .right(language.word("reduction"), 12, |(_, c)| format!("{:.6}", c.reduction))
            .right(language.word("gain"), 12, |(_, c)| format!("{:+.6}", c.gain()));
        // the verdict lists every voter; those of a group have the same
        let first = |g: usize| voters[..g].iter().map(|v| v.count).sum::<usize>();
        let groups = voters.iter().enumerate().filter(|(_, v)| v.count > 0);
        let rows = groups.map(|(g, _)| (group(g), verdict.voters[first(g)]));
        out += &format!("\n{}", table.table(rows.chain([(say!(language, "council"), verdict.council)])));
        let answer = |yes: bool| if yes { text!("yes") } else { text!("no") };
        out += &say!(
            language,
            "better on average than every voter (definition 3): {}\n\
             better than the original, whose voters are worse (theorem 2): {}\n",
            answer(verdict.expected),
            answer(verdict.beyond_original)
        );
    }
    out
}

/// The line below a table that does not show all moves.
fn more_moves(moves: usize, language: Language) -> String {
    match moves.saturating_sub(MOST_ROWS) {
        0 => String::new(),
        more => say!(language, "  … and {more} more moves; use `json` to see them\n"),
    }
}

/// The report as JSON.
pub fn document(voters: &[Voters], tie: Tie, found: &[MoveWins], verdict: Option<&Verdict>) -> Value {
    let distributions: Vec<Vec<f64>> = voters.iter().map(|g| g.probabilities.clone()).collect();
    let change = |c: &Change| json!({ "improvement": c.improvement, "reduction": c.reduction, "gain": c.gain() });
    let group = |g: &Voters| json!({ "count": g.count, "weight": g.weight, "probabilities": g.probabilities });
    let wins = |m: &MoveWins| json!({ "alone": m.strict, "alone_or_tied": m.strict_or_tied, "wins": m.wins });
    json!({
        "voters": voters.iter().map(group).collect::<Vec<_>>(),
        "tie": tie.to_string(),
        "moves": found.iter().map(wins).collect::<Vec<_>>(),
        // of one voter per group; a voter always agrees with itself
        "expected_voting_matrix": expected_voting_matrix(&distributions),
        "verdict": verdict.map(|v| json!({
            "voters": v.voters.iter().map(change).collect::<Vec<_>>(),
            "council": change(&v.council),
            "absolutely_works_well": v.absolutely,
            "expected_to_work_well": v.expected,
            "works_well_with_random_numbers": v.beyond_original,
        })),
    })
}

/// The bounds of a council of equal voters and its exact values.
pub(crate) struct BoundsTable {
    voters: usize,
    theorem: Theorem,
    moves: Vec<MoveBounds>,
}

/// The exact values of a move, the bounds as the theorem prints them, and the corrected ones.
struct MoveBounds {
    probability: f64,
    exact: MoveWins,
    printed: Bounds,
    mended: Bounds,
}

impl MoveBounds {
    fn lower_holds(&self) -> bool {
        self.printed.lower <= self.exact.strict + ROUNDING
    }

    fn upper_holds(&self) -> bool {
        self.printed.upper >= self.exact.strict_or_tied - ROUNDING
    }
}

impl BoundsTable {
    /// Computes the values and the bounds of each move.
    ///
    /// # Errors
    /// As [`plurality_of_alike`].
    pub(crate) fn new(voters: usize, probabilities: &[f64]) -> Result<Self, PluralityError> {
        let exact = plurality_of_alike(voters, probabilities, Tie::Random)?;
        let theorem = Theorem::for_council(voters, probabilities.len());
        let one = |(m, (&probability, exact))| {
            let printed = sato::printed(theorem, voters, probabilities, m)?;
            Some(MoveBounds { probability, exact, printed, mended: sato::mended(voters, probabilities, m)? })
        };
        let moves = probabilities.iter().zip(exact).enumerate().filter_map(one).collect();
        Ok(Self { voters, theorem, moves })
    }

    pub(crate) fn text(&self, language: Language) -> String {
        let number = |x: f64| format!("{x:.4}");
        let word = |holds: bool| language.word(if holds { key!("holds") } else { key!("FAILS") }).to_owned();
        let table = Columns::new()
            .gap(0)
            .right(language.word("move"), 5, |(m, _): &(usize, &MoveBounds)| (m + 1).to_string())
            .right("π", 9, |(_, b)| number(b.probability))
            .right(language.word("printed ≤"), 12, |(_, b)| number(b.printed.lower))
            .right("", 10, |(_, b)| word(b.lower_holds()))
            .right(language.word("mended ≤"), 10, |(_, b)| number(b.mended.lower))
            .right(language.word("exact"), 10, |(_, b)| number(b.exact.strict))
            .gap(2)
            .right(language.word("printed ≥"), 12, |(_, b)| number(b.printed.upper))
            .gap(0)
            .right("", 10, |(_, b)| word(b.upper_holds()))
            .right(language.word("mended ≥"), 10, |(_, b)| number(b.mended.upper))
            .right(language.word("exact"), 10, |(_, b)| number(b.exact.strict_or_tied));
        let (n, theorem) = (self.moves.len(), self.theorem.number());
        let head = say!(language, "{} voters, {n} moves: theorem {theorem} of Sato (2013)", self.voters);
        format!(
            "{head}\n\n{:>14}{}{}\n{}{}",
            "",
            centred(language.word("wins alone"), 44),
            centred(language.word("wins or is tied"), 44),
            table.table(self.moves.iter().enumerate().take(MOST_ROWS)),
            more_moves(n, language)
        )
    }

    /// The table as JSON.
    pub(crate) fn document(&self) -> Value {
        let one = |b: &MoveBounds| {
            json!({
                "probability": b.probability,
                "alone": b.exact.strict,
                "alone_or_tied": b.exact.strict_or_tied,
                "printed": {
                    "lower": b.printed.lower, "lower_holds": b.lower_holds(),
                    "upper": b.printed.upper, "upper_holds": b.upper_holds(),
                },
                "mended": { "lower": b.mended.lower, "upper": b.mended.upper },
            })
        };
        let moves: Vec<Value> = self.moves.iter().map(one).collect();
        json!({ "voters": self.voters, "theorem": self.theorem.number(), "moves": moves })
    }
}

/// The number of cells in which each printed bound holds.
pub(crate) fn map_summary(cells: &[Vec<Cell>]) -> Value {
    let (all, lower, upper) = tally(cells);
    json!({ "cells": all, "lower_holds": lower, "upper_holds": upper })
}

fn tally(cells: &[Vec<Cell>]) -> (usize, usize, usize) {
    let all = || cells.iter().flatten();
    let lower = all().filter(|c| c.lower_margin() >= -ROUNDING).count();
    (all().count(), lower, all().filter(|c| c.upper_margin() >= -ROUNDING).count())
}

/// The summary of a map as text.
pub(crate) fn map_text(cells: &[Vec<Cell>], language: Language) -> String {
    let (all, lower, upper) = tally(cells);
    let share = |n: usize| 100.0 * n as f64 / all as f64;
    let (low, up) = (share(lower), share(upper));
    say!(
        language,
        "of {all} cells the printed lower bound holds in {lower} ({low:.1}%), the upper in {upper} ({up:.1}%)\n"
    )
}

/// Writes two heat maps, `bounds-lower` and `bounds-upper`, as SVG and PNG, and
/// `bounds.csv`. Returns the paths of the SVG files.
///
/// # Errors
/// If a map cannot be drawn or written.
pub(crate) fn write_maps(
    cells: &[Vec<Cell>],
    moves: usize,
    folder: &Path,
    options: &PlotOptions,
) -> Result<Vec<PathBuf>, FigureError> {
    type Margin = fn(&Cell) -> f64;
    let forms: [(&str, &str, Margin); 2] = [
        (
            "bounds-lower",
            "Where the printed lower bound Π_b stays below the chance of winning alone",
            Cell::lower_margin,
        ),
        (
            "bounds-upper",
            "Where the printed upper bound Π_w stays above the chance of winning or a tie",
            Cell::upper_margin,
        ),
    ];
    let mut written = Vec::new();
    for (name, title, margin) in forms {
        let map = HeatMap {
            title: title.to_owned(),
            caption: format!(
                "{moves} moves: one of probability π, the rest shared equally by the others · Sato (2013), theorem 3 \
                 up to {} voters, then theorem 4",
                moves + 1
            ),
            x_name: "voters".to_owned(),
            y_name: "π, probability of the move for one voter".to_owned(),
            xs: cells.first().map_or_else(Vec::new, |row| row.iter().map(|c| c.voters as f64).collect()),
            ys: cells.iter().filter_map(|row| Some(row.first()?.probability)).collect(),
            margins: cells.iter().map(|row| row.iter().map(margin).collect()).collect(),
            notes: vec![map_text(cells, options.language).trim_end().to_owned()],
        };
        written.push(save(heat_map(&map, options), folder, name, false)?);
    }
    let mut csv =
        "voters,probability,theorem,strict,strict_or_tied,printed_lower,printed_upper,mended_lower,mended_upper\n"
            .to_owned();
    for c in cells.iter().flatten() {
        let values = [c.strict, c.strict_or_tied, c.printed.lower, c.printed.upper, c.mended.lower, c.mended.upper];
        let values = values.map(|value| format!("{value:.9}")).join(",");
        let _ = writeln!(csv, "{},{},{},{values}", c.voters, c.probability, c.theorem.number());
    }
    whole_file::write(&folder.join("bounds.csv"), csv.as_bytes())?;
    Ok(written)
}
