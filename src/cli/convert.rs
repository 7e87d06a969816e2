//! `evalcurve winrate` and `evalcurve export`: what one calibration file is used for.

use std::path::PathBuf;

use anyhow::bail;
use serde_json::json;

use super::{Done, terminal};
use crate::calibration::{Calibration, Reading, Score, Situation, Target, export as export_to};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve winrate Gikou.json 300 -120 mate5 mate-4
  evalcurve winrate Gikou.json --inverse 0.75
  evalcurve winrate Gikou.json 300 --rating-difference -150
  evalcurve winrate Gikou.json 300 --json

The situation matters to models that were fitted with it (--model strength, strength-shared, phase, wdl, wdl-material); other
models refuse it. The default is a game between equals, in its middle.

Scores are centipawns in the view of the side to move; negative ones are no flags. A score at the file's mate
threshold or beyond it counts as a mate.")]
pub(super) struct WinrateArgs {
    /// The calibration file
    file: PathBuf,

    /// Scores in centipawns, or mateN (mate-N for being mated); with --inverse, win rates between 0 and 1
    #[arg(required = true, value_name = "SCORE", allow_hyphen_values = true, allow_negative_numbers = true)]
    values: Vec<String>,

    /// Turn win rates into scores
    #[arg(long)]
    inverse: bool,

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
    // `allow_hyphen_values` makes clap pass on flags after the first score as values
    let (mut inverse, mut as_json) = (args.inverse, args.json);
    let (mut rating_difference, mut ply, mut material) = (args.rating_difference, args.ply, args.material);
    let mut values = Vec::new();
    let mut given = args.values.iter();
    while let Some(value) = given.next() {
        let (flag, inline) = match value.split_once('=') {
            Some((flag, inline)) if flag.starts_with("--") => (flag, Some(inline)),
            _ => (value.as_str(), None),
        };
        let mut operand = |wanted: &str| match inline.or_else(|| given.next().map(String::as_str)) {
            Some(text) => Ok(text),
            None => bail!("{flag}: {wanted} is missing"),
        };
        match flag {
            "--inverse" => inverse = true,
            "--json" => as_json = true,
            "--rating-difference" => {
                let wanted = "a rating difference in Elo points";
                rating_difference = Some(parse(operand(wanted)?, wanted)?);
            }
            "--ply" => ply = Some(parse(operand("a ply")?, "a ply")?),
            "--material" => material = Some(parse(operand("a material count")?, "a material count")?),
            flag if flag.starts_with("--") => bail!("{flag}: no such option; see evalcurve winrate --help"),
            _ => values.push(value),
        }
    }
    if values.is_empty() {
        bail!("no score given; write for example: evalcurve winrate FILE 300");
    }
    let calibration = Calibration::read(&args.file)?;
    let situation = situation(&calibration, rating_difference, ply, material)?;
    let mut text = String::new();
    let mut rows = Vec::new();
    for value in values {
        if inverse {
            let rate: f64 = parse(value, "a win rate between 0 and 1")?;
            let Some(score) = calibration.score(Reading::Equal, rate, &situation) else {
                if rate > 0.0 && rate < 1.0 {
                    bail!("{value}: no score has this win rate by the model of the file");
                }
                bail!("{value}: a win rate lies between 0 and 1, both excluded");
            };
            text += &format!("{value}\t{score:.0}\n");
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
        let rate = calibration.win_rate_in(Reading::Equal, score, &situation);
        let (note, interval) = match score {
            Score::Mate { .. } => ("\tmate".to_owned(), None),
            Score::Cp(cp) => {
                let interval = calibration.interval(Reading::Equal, cp, &situation);
                (interval.map_or_else(String::new, |(a, b)| format!("\t[{a:.4}, {b:.4}]")), interval)
            }
        };
        text += &format!("{value}\t{rate:.4}{note}\n");
        rows.push(json!({
            "score": value, "win_rate": rate, "mate": matches!(score, Score::Mate { .. }),
            "interval": interval.map(|(a, b)| [a, b]),
        }));
    }
    let text =
        if as_json { format!("{:#}\n", json!({ "engine": calibration.engine.name, "values": rows })) } else { text };
    terminal::print(&text)?;
    Ok(Done::Yes)
}

/// The situation from the options. An option that the model does not use is an error: the user would expect an effect.
fn situation(
    calibration: &Calibration,
    rating_difference: Option<f64>,
    ply: Option<u32>,
    material: Option<u32>,
) -> anyhow::Result<Situation> {
    let needs = calibration.model.kind.needs();
    let takes = [
        ("--rating-difference", rating_difference.is_some(), needs.rating),
        ("--ply", ply.is_some(), needs.ply),
        ("--material", material.is_some(), needs.material),
    ];
    for (flag, given, taken) in takes {
        if given && !taken {
            bail!(
                "{flag}: the model of {}, {}, does not use it; calibrate with another --model",
                calibration.engine.name,
                calibration.model.kind
            );
        }
    }
    if let Some(elo) = rating_difference.filter(|elo| !elo.is_finite()) {
        bail!("--rating-difference: {elo} is not a rating difference in Elo points");
    }
    let situation = Situation { ply, material, ..Situation::default() };
    Ok(rating_difference.map_or(situation, |elo| situation.with_rating_difference(elo)))
}

fn parse<T: std::str::FromStr>(text: &str, wanted: &str) -> anyhow::Result<T> {
    match text.trim().parse() {
        Ok(value) => Ok(value),
        Err(_) => bail!("'{text}' is not {wanted}"),
    }
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
    let calibration = Calibration::read(&args.file)?;
    let text = export_to(&calibration, args.to)?;
    terminal::print(&text)?;
    terminal::note(&format!("for {}: {}", args.to.as_str(), args.to.lost()));
    Ok(Done::Yes)
}
