//! `evalcurve inspect`

use super::engines::Engines;
use super::load::load;
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};
use crate::calibrate::{CalibrateOptions, mates};
use crate::report::text;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve inspect games.zip
  evalcurve inspect records/ --verify
  evalcurve inspect records/ --json | jq .games

Writes no files. Shows what `calibrate` would use: games read, games skipped by reason, engines, mate thresholds,
the largest scores below them, and the signs of mate scores.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    fit: FitArgs,
    #[command(flatten)]
    tell: TellArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    // the output has no out-of-sample scores and no bootstrap intervals
    let options = CalibrateOptions { folds: None, bands: 0, ..args.fit.calibrate_options(&args.input) };
    let engines = Engines::new(load(&args.input, args.fit.material(), args.tell.quiet)?, options);
    if args.tell.json {
        terminal::print(&engines.document(&[]))?;
        return Ok(Done::Yes);
    }
    let collected = &engines.loaded.collected;
    let report = &collected.report;
    let mut out = text::reading(report);
    out += &format!(
        "scores  {} scored positions and {} book moves; {} samples drawn\n\n",
        text::thousands(report.scores),
        text::thousands(report.book_moves),
        text::thousands(collected.table.samples.len() as u64)
    );
    let head = format!(
        "{} {:>6} {:>7} {:>5} {:>10} {:>6} {:>11} {:>12} {:>22}",
        text::fit_name("engine", 28),
        "games",
        "samples",
        "win %",
        "mates from",
        "mates",
        "wrong-sided",
        "largest left",
        "scores"
    );
    out += &terminal::heading(&head);
    out.push('\n');
    for r in &engines.results {
        let m = &r.mates;
        let range = r.score_range.map_or_else(|| "–".to_owned(), |(a, b)| format!("{a} to {b}"));
        out += &format!(
            "{} {:>6} {:>7} {:>5} {:>10} {:>6} {:>11} {:>12} {:>22}\n",
            text::fit_name(&r.name, 28),
            text::thousands(r.games),
            text::thousands(r.samples),
            r.win_rate().map_or_else(|| "–".to_owned(), |p| format!("{:.1}", p * 100.0)),
            format!("{}{}", m.threshold_cp, if m.auto { "a" } else { "" }),
            m.beyond,
            m.wrong_sided,
            m.largest_cp_left.map_or_else(|| "–".to_owned(), |x| x.to_string()),
            range
        );
    }
    if args.fit.mate_threshold.iter().any(|(_, t)| *t == mates::Threshold::Auto) {
        out += "a: found by --mate-threshold auto\n";
    }
    if !args.tell.quiet {
        terminal::print(&out)?;
    }
    engines.tell(args.tell.quiet);
    Ok(Done::Yes)
}
