//! `evalcurve winrate` and `evalcurve export`: what one calibration file is used for.

use std::path::PathBuf;

use anyhow::bail;
use serde_json::json;

use super::files::calibration;
use super::{Done, terminal};
use crate::calibration::{Calibration, ModelKind, Reading, Score, Situation, Target, export as export_to};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve winrate Gikou.json 300 -120 mate5 mate-4
  evalcurve winrate Gikou.json --inverse 0.75
  evalcurve winrate Gikou.json 300 --rating-difference -150
  evalcurve winrate Gikou.json 300 --json

The win rate is that between players of equal strength, in the middle of a game. --field prints what happened against
the opponents that the engine met; only win rates between equals may be compared between engines.

The situation matters to models that were fitted with it (--model joint, strength, strength-shared, phase, wdl,
wdl-material); other models refuse it.

Scores are centipawns in the view of the side to move; negative ones are no flags. A score at the file's mate
threshold or beyond it counts as a mate.")]
pub(super) struct WinrateArgs {
    /// The calibration file
    file: PathBuf,

    /// Scores in centipawns, or mateN (mate-N for being mated); with --inverse, win rates between 0 and 1
    #[arg(required = true, value_name = "SCORE", allow_negative_numbers = true)]
    values: Vec<String>,

    /// Turn win rates into scores
    #[arg(long)]
    inverse: bool,

    /// Read the win rate against the opponents of the calibration, not that between equals
    #[arg(long)]
    field: bool,

    /// Own rating minus the opponent's, in Elo points
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    rating_difference: Option<f64>,

    /// Number of the move to be made
    #[arg(long, value_name = "PLY")]
    ply: Option<u32>,

    /// Pawns and pieces of both sides, counted 1, 3, 3, 5, 9
    #[arg(long, value_name = "N")]
    material: Option<u32>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn winrate(args: &WinrateArgs) -> anyhow::Result<Done> {
    let calibration = calibration(&args.file)?;
    let situation = situation(&calibration, args)?;
    let reading = if args.field { Reading::Field } else { Reading::Equal };
    let mut text = String::new();
    let mut rows = Vec::new();
    for value in &args.values {
        if args.inverse {
            let rate: f64 = parse(value, "a win rate between 0 and 1")?;
            let Some(score) = calibration.score(reading, rate, &situation) else {
                if rate > 0.0 && rate < 1.0 {
                    bail!("{value}: no score has this win rate by the model of the file");
                }
                bail!("{value}: a win rate lies between 0 and 1, both excluded");
            };
            // a rounded score is never -0
            text += &format!("{value}\t{:.0}\n", score.round() + 0.0);
            rows.push(json!({ "win_rate": rate, "score_cp": score }));
            continue;
        }
        let score = match value.strip_prefix("mate") {
            Some(plies) => {
                let plies: i64 = parse(plies, "a number of plies after mate, as in mate5 or mate-4")?;
                Score::Mate { wins: plies > 0, plies: u32::try_from(plies.unsigned_abs()).ok() }
            }
            None => {
                let score: f64 = parse(value, "a score in centipawns")?;
                if !score.is_finite() {
                    bail!("'{value}' is not a score in centipawns; a mate is written mate5 or mate-4");
                }
                calibration.classify(score)
            }
        };
        let rate = calibration.win_rate_in(reading, score, &situation);
        let interval = match score {
            Score::Mate { .. } => None,
            Score::Cp(cp) => calibration.interval(reading, cp, &situation),
        };
        let is_mate = matches!(score, Score::Mate { .. });
        let note = match interval {
            _ if is_mate => "\tmate".to_owned(),
            Some((low, high)) => format!("\t[{low:.4}, {high:.4}]"),
            None => String::new(),
        };
        text += &format!("{value}\t{rate:.4}{note}\n");
        rows.push(json!({ "score": value, "win_rate": rate, "mate": is_mate, "interval": interval }));
    }
    if args.json {
        text = format!("{:#}\n", json!({ "engine": calibration.engine.name, "reading": reading, "values": rows }));
    }
    terminal::print(&text)?;
    Ok(Done::Yes)
}

/// The situation from the options. An option that the model does not use is an error: the user would expect an effect.
fn situation(calibration: &Calibration, args: &WinrateArgs) -> anyhow::Result<Situation> {
    let needs = calibration.model.kind.needs();
    for (flag, given, used) in [
        (
            "--rating-difference",
            args.rating_difference.is_some(),
            needs.rating || calibration.model.kind == ModelKind::Joint,
        ),
        ("--ply", args.ply.is_some(), needs.ply),
        ("--material", args.material.is_some(), needs.material),
    ] {
        if given && !used {
            let (engine, kind) = (&calibration.engine.name, calibration.model.kind);
            bail!("{flag}: the model of {engine}, {kind}, does not use it; calibrate with another --model");
        }
    }
    if let Some(elo) = args.rating_difference.filter(|elo| !elo.is_finite()) {
        bail!("--rating-difference: {elo} is not a rating difference in Elo points");
    }
    let situation = Situation { ply: args.ply, material: args.material, ..Situation::default() };
    Ok(args.rating_difference.map_or(situation, |elo| situation.with_rating_difference(elo)))
}

fn parse<T: std::str::FromStr>(text: &str, wanted: &str) -> anyhow::Result<T> {
    text.trim().parse().map_err(|_| anyhow::anyhow!("'{text}' is not {wanted}"))
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve export Gikou.json --to ponanza
  evalcurve export Gikou.json --to shogi-gougi-yaml > gougi.yaml

What the target cannot hold is reported on standard error.")]
pub(super) struct ExportArgs {
    /// The calibration file
    file: PathBuf,

    /// The program that will take it: ponanza, shogihome, dlshogi, shogi-gougi-yaml, json
    #[arg(long, value_name = "TARGET", value_parser = target)]
    to: Target,
}

fn target(word: &str) -> Result<Target, String> {
    word.parse().map_err(|_| {
        format!("not a target; one of {}", Target::ALL.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(", "))
    })
}

pub(super) fn export(args: &ExportArgs) -> anyhow::Result<Done> {
    let calibration = calibration(&args.file)?;
    let text = export_to(&calibration, args.to)?;
    terminal::print(&text)?;
    terminal::note(&format!("for {}: {}", args.to.as_str(), args.to.lost()));
    for doubt in &calibration.doubts {
        terminal::warning(&format!("the calibration of {} {}", calibration.engine.name, doubt.words()));
    }
    Ok(Done::Yes)
}
