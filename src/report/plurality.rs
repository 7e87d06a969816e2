//! Tables, JSON and heat maps of exact pluralities and of the bounds of Sato (2013) for them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::figures::FigureError;
use crate::plot::{HeatMap, PlotOptions, heat_map};
use crate::theory::improvement::{Verdict, expected_voting_matrix};
use crate::theory::plurality::{MoveWins, Tie, Voters};
use crate::theory::sato::{Bounds, Theorem};
use crate::theory::sato_map::Cell;
use crate::whole_file;

/// Differences between a bound and an exact value below this are rounding.
const ROUNDING: f64 = 1e-9;
/// Largest number of moves in a table.
const MOST_ROWS: usize = 40;

/// A table of the probabilities of each move.
pub fn text(voters: &[Voters], tie: Tie, found: &[MoveWins], verdict: Option<&Verdict>) -> String {
    let mut out = String::new();
    for group in voters {
        let plural = if group.count == 1 { "voter" } else { "voters" };
        let _ = writeln!(out, "{} {plural} of weight {}", group.count, group.weight);
    }
    let each: String = (1..=voters.len()).map(|g| format!("{:>10}", format!("group {g}"))).collect();
    let header = if voters.len() == 1 { format!("{:>10}", "one voter") } else { each };
    let wins = match tie {
        Tie::Leader => "wins, ties to leader",
        Tie::Random => "wins, ties drawn",
        Tie::Worst => "wins, ties lost",
    };
    let _ = writeln!(out, "\n{:>5}{header}{:>12}{:>14}{wins:>22}", "move", "alone", "alone or tied");
    for (m, of) in found.iter().enumerate().take(MOST_ROWS) {
        let pi: String = voters.iter().map(|g| format!("{:>10.5}", g.probabilities[m])).collect();
        let _ = writeln!(out, "{:>5}{pi}{:>12.6}{:>14.6}{:>22.6}", m + 1, of.strict, of.strict_or_tied, of.wins);
    }
    if found.len() > MOST_ROWS {
        let _ = writeln!(out, "  … and {} more moves; use --json to see them", found.len() - MOST_ROWS);
    }
    let clear: f64 = found.iter().map(|m| m.strict).sum();
    let _ = writeln!(out, "\nsome move is ahead alone: {clear:.6}; several are tied: {:.6}", 1.0 - clear);
    if let Some(verdict) = verdict {
        let _ = writeln!(out, "\n{:<12}{:>14}{:>12}{:>12}", "", "improvement", "reduction", "gain");
        let mut row = |name: &str, c: &crate::theory::improvement::Change| {
            let _ = writeln!(out, "{name:<12}{:>14.6}{:>12.6}{:>+12.6}", c.improvement, c.reduction, c.gain());
        };
        let mut place = 0;
        for (g, group) in voters.iter().enumerate().filter(|(_, g)| g.count > 0) {
            row(
                &if voters.len() == 1 { "one voter".to_owned() } else { format!("group {}", g + 1) },
                &verdict.voters[place],
            );
            place += group.count;
        }
        row("council", &verdict.council);
        let answer = |yes: bool| if yes { "yes" } else { "no" };
        let _ = writeln!(out, "better on average than every voter (definition 3): {}", answer(verdict.expected));
        let _ = writeln!(
            out,
            "better than the original, whose voters are worse (theorem 2): {}",
            answer(verdict.beyond_original)
        );
    }
    out
}

/// The report as JSON.
pub fn document(voters: &[Voters], tie: Tie, found: &[MoveWins], verdict: Option<&Verdict>) -> Value {
    let distributions: Vec<Vec<f64>> = voters.iter().map(|g| g.probabilities.clone()).collect();
    let change = |c: &crate::theory::improvement::Change| json!({ "improvement": c.improvement, "reduction": c.reduction, "gain": c.gain() });
    json!({
        "voters": voters.iter().map(|g| json!({ "count": g.count, "weight": g.weight, "probabilities": g.probabilities })).collect::<Vec<_>>(),
        "tie": tie.to_string(),
        "moves": found.iter().map(|m| json!({ "alone": m.strict, "alone_or_tied": m.strict_or_tied, "wins": m.wins })).collect::<Vec<_>>(),
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

fn holds(lower: bool, bound: f64, exact: f64) -> bool {
    if lower { bound <= exact + ROUNDING } else { bound >= exact - ROUNDING }
}

/// Printed and corrected bounds next to the exact values.
pub fn bounds_text(
    voters: usize,
    probabilities: &[f64],
    theorem: Theorem,
    exact: &[MoveWins],
    printed: &[Bounds],
    mended: &[Bounds],
) -> String {
    let mut out = String::new();
    let _ =
        writeln!(out, "{voters} voters, {} moves: theorem {} of Sato (2013)", probabilities.len(), theorem.number());
    let _ = writeln!(out, "\n{:>14}{:^44}{:^44}", "", "wins alone", "wins or is tied");
    let half = format!("{:>12}{:>10}{:>10}{:>10}  ", "printed ≤", "", "mended ≤", "exact");
    let other = format!("{:>12}{:>10}{:>10}{:>10}", "printed ≥", "", "mended ≥", "exact");
    let _ = writeln!(out, "{:>5}{:>9}{half}{other}", "move", "π");
    for (m, pi) in probabilities.iter().enumerate().take(MOST_ROWS) {
        let word = |lower: bool, bound: f64, exact: f64| if holds(lower, bound, exact) { "holds" } else { "FAILS" };
        let (p, q, e) = (printed[m], mended[m], exact[m]);
        let _ = writeln!(
            out,
            "{:>5}{pi:>9.4}{:>12.4}{:>10}{:>10.4}{:>10.4}  {:>12.4}{:>10}{:>10.4}{:>10.4}",
            m + 1,
            p.lower,
            word(true, p.lower, e.strict),
            q.lower,
            e.strict,
            p.upper,
            word(false, p.upper, e.strict_or_tied),
            q.upper,
            e.strict_or_tied
        );
    }
    if probabilities.len() > MOST_ROWS {
        let _ = writeln!(out, "  … and {} more moves; use --json to see them", probabilities.len() - MOST_ROWS);
    }
    out
}

/// The report as JSON.
pub fn bounds_document(
    voters: usize,
    probabilities: &[f64],
    theorem: Theorem,
    exact: &[MoveWins],
    printed: &[Bounds],
    mended: &[Bounds],
) -> Value {
    let one = |m: usize| {
        let (p, q, e) = (printed[m], mended[m], exact[m]);
        json!({
            "probability": probabilities[m],
            "alone": e.strict,
            "alone_or_tied": e.strict_or_tied,
            "printed": {
                "lower": p.lower, "lower_holds": holds(true, p.lower, e.strict),
                "upper": p.upper, "upper_holds": holds(false, p.upper, e.strict_or_tied),
            },
            "mended": { "lower": q.lower, "upper": q.upper },
        })
    };
    json!({
        "voters": voters,
        "theorem": theorem.number(),
        "moves": (0..probabilities.len()).map(one).collect::<Vec<_>>(),
    })
}

/// The number of cells in which each printed bound holds.
pub fn map_summary(cells: &[Vec<Cell>]) -> Value {
    let (all, lower, upper) = tally(cells);
    json!({ "cells": all, "lower_holds": lower, "upper_holds": upper })
}

fn tally(cells: &[Vec<Cell>]) -> (usize, usize, usize) {
    let all = || cells.iter().flatten();
    let lower = all().filter(|c| c.lower_margin() >= -ROUNDING).count();
    (all().count(), lower, all().filter(|c| c.upper_margin() >= -ROUNDING).count())
}

/// The summary of a map as text.
pub fn map_text(cells: &[Vec<Cell>]) -> String {
    let (all, lower, upper) = tally(cells);
    let share = |n: usize| 100.0 * n as f64 / all as f64;
    let (low, up) = (share(lower), share(upper));
    format!("of {all} cells the printed lower bound holds in {lower} ({low:.1}%), the upper in {upper} ({up:.1}%)\n")
}

/// Writes two heat maps, `bounds-lower` and `bounds-upper`, as SVG and PNG, and
/// `bounds.csv`. Returns the paths of the SVG files.
///
/// # Errors
/// If a map cannot be drawn or written.
pub fn write_maps(
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
                "{moves} moves: one of probability π, the rest shared equally by the others · Sato (2013), theorem 3 up to {} voters, then theorem 4",
                moves + 1
            ),
            x_name: "voters".to_owned(),
            y_name: "π, probability of the move for one voter".to_owned(),
            xs: cells.first().map_or_else(Vec::new, |row| row.iter().map(|c| c.voters as f64).collect()),
            ys: cells.iter().filter_map(|row| Some(row.first()?.probability)).collect(),
            margins: cells.iter().map(|row| row.iter().map(margin).collect()).collect(),
            notes: vec![map_text(cells).trim_end().to_owned()],
        };
        let failed = |source| FigureError::Plot { name: name.to_owned(), source };
        let figure = heat_map(&map, options).map_err(failed)?;
        let svg = folder.join(format!("{name}.svg"));
        whole_file::write(&svg, figure.svg().as_bytes())?;
        whole_file::write(&folder.join(format!("{name}.png")), &figure.png(options.scale).map_err(failed)?)?;
        written.push(svg);
    }
    let mut csv =
        "voters,probability,theorem,strict,strict_or_tied,printed_lower,printed_upper,mended_lower,mended_upper\n"
            .to_owned();
    for c in cells.iter().flatten() {
        let _ = writeln!(
            csv,
            "{},{},{},{:.9},{:.9},{:.9},{:.9},{:.9},{:.9}",
            c.voters,
            c.probability,
            c.theorem.number(),
            c.strict,
            c.strict_or_tied,
            c.printed.lower,
            c.printed.upper,
            c.mended.lower,
            c.mended.upper
        );
    }
    whole_file::write(&folder.join("bounds.csv"), csv.as_bytes())?;
    Ok(written)
}
