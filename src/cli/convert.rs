//! `evalcurve winrate` and `evalcurve export`: one calibration file, used.

use std::path::PathBuf;

use anyhow::bail;
use serde_json::json;

use super::{Done, terminal};
use crate::calibration::{Calibration, Score, Target, export as export_to};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve winrate Gikou.json 300 -120 mate5 mate-4
  evalcurve winrate Gikou.json --inverse 0.75
  evalcurve winrate Gikou.json 300 --json

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

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn winrate(args: &WinrateArgs) -> anyhow::Result<Done> {
    // `allow_hyphen_values` gives flags that stand behind the first score to us
    let (mut inverse, mut as_json) = (args.inverse, args.json);
    let mut values = Vec::new();
    for value in &args.values {
        match value.as_str() {
            "--inverse" => inverse = true,
            "--json" => as_json = true,
            flag if flag.starts_with("--") => bail!("{flag}: no such option; see evalcurve winrate --help"),
            value => values.push(value),
        }
    }
    if values.is_empty() {
        bail!("no score given; write for example: evalcurve winrate FILE 300");
    }
    let calibration = Calibration::read(&args.file)?;
    let mut text = String::new();
    let mut rows = Vec::new();
    for value in values {
        if inverse {
            let rate: f64 = parse(value, "a win rate between 0 and 1")?;
            let Some(score) = calibration.score(rate) else {
                bail!("{value}: a win rate lies between 0 and 1, both excluded");
            };
            text += &format!("{value}\t{score:.0}\n");
            rows.push(json!({ "win_rate": rate, "score_cp": score }));
            continue;
        }
        let score = match value.strip_prefix("mate") {
            Some(plies) => {
                let plies: i64 = parse(plies, "a number of plies behind mate, as in mate5 or mate-4")?;
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
        let rate = calibration.win_rate(score);
        let (note, interval) = match score {
            Score::Mate { .. } => ("\tmate".to_owned(), None),
            Score::Cp(cp) => {
                let interval = calibration.win_rate_interval(cp);
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

What the target cannot hold is said on standard error.")]
pub(super) struct ExportArgs {
    /// The calibration file
    file: PathBuf,

    /// The program that will take it: ponanza, shogihome, dlshogi, shogi-gougi-yaml, json
    #[arg(long, value_name = "TARGET", value_parser = target)]
    to: Target,
}

fn target(word: &str) -> Result<Target, String> {
    Target::parse(word).ok_or_else(|| {
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
