//! `evalcurve inspect`

use evalcurve_app::calibrate::mates::Threshold;
use evalcurve_app::calibrate::{DEFAULT_MODEL, EngineResult};
use evalcurve_app::cli::engines::{Engines, SHOWN};
use evalcurve_app::cli::options::{InputArgs, OutputArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{self, or_dash, thousands};
use evalcurve_app::{Calibrated, Outcome};
use evalcurve_words::{key, say};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve inspect games.zip
  evalcurve inspect records/ --verify
  evalcurve inspect records/ --json | jq .games

Writes no files. Shows what `calibrate` would use: games read, games skipped by reason, engines, mate thresholds, \
the largest scores below them, and the signs of mate scores.")]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Check the moves of each CSA game with a second reader (the csa crate)
    #[arg(long, help_heading = "Reading", hide_short_help = true)]
    verify: bool,
    /// Show all engines, not only the ten with most samples
    #[arg(long, help_heading = "Output")]
    all: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Subcommand for Args {
    const NAME: &'static str = "inspect";
    const ABOUT: &'static str = key!("Show what records hold: engines, signs, mates, skipped games");
    const HEADING: Heading = Heading::Calibrate;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let mut command = self.input.calibrate();
        command.reading.verify = self.verify;
        // the output has no out-of-sample scores and no bootstrap intervals
        (command.fitting.folds, command.fitting.bands) = (None, 0);
        command.fitting.model.get_or_insert(DEFAULT_MODEL);
        let engines = Engines::calibrated(&command, &self.input.input(), self.output.quiet)?;
        engines.print(&self.output, &[], self.input.language.chosen(), || table(&engines, self))?;
        Ok(Done::Yes)
    }
}

fn table(engines: &Engines, args: &Args) -> String {
    let Outcome { value: Calibrated { results, .. }, report, .. } = &engines.0;
    let language = args.input.language.chosen();
    let width = terminal::width();
    let mut read = text::wrap(&text::reading(report, language), width, text::LABEL);
    let samples = thousands(results.iter().map(|r| r.samples).sum());
    // a sample table holds drawn positions only
    let of_tables = report.scores == 0 && report.positions.contains_key("table");
    read += &match of_tables {
        true => say!(language, "samples {samples}\n"),
        false => say!(
            language,
            "scores  {} scored positions and {} book moves; {samples} samples drawn\n",
            thousands(report.scores),
            thousands(report.book_moves)
        ),
    };
    if report.unread > 0 {
        let unread = thousands(report.unread);
        read += &say!(language, "unread  {unread} comments that look like scores\n");
    }
    if results.is_empty() {
        return read;
    }
    let narrow = width < 100;
    let columns = Columns::new()
        .name(language.word("engine"), if narrow { 20 } else { 28 }, |r: &&EngineResult| r.name.clone())
        .right(language.word("games"), 6, |r| thousands(r.games))
        .right(language.word("samples"), 7, |r| thousands(r.samples))
        .right(language.word("win %"), 5, |r| or_dash(r.win_rate(), |p| format!("{:.1}", p * 100.0)))
        .right(language.word("mates"), 6, |r| r.mates.beyond.to_string())
        .right(language.word("wrong"), 5, |r| r.mates.wrong_sided.to_string())
        .right(language.word("from"), 6, |r| format!("{}{}", r.mates.threshold_cp, if r.mates.auto { "a" } else { "" }))
        .right(language.word("largest"), 7, |r| or_dash(r.mates.largest_cp_left, |x| x.to_string()))
        .when(!narrow, |c| {
            c.right(language.word("scores"), 19, |r| or_dash(r.score_range, |(a, b)| say!(language, "{a} to {b}")))
        });
    let mut results: Vec<&EngineResult> = results.iter().collect();
    results.sort_by_key(|r| std::cmp::Reverse(r.samples));
    let shown = if args.all { results.len() } else { results.len().min(SHOWN) };
    let others = match results.len() - shown {
        0 => String::new(),
        _ => say!(language, "{} of {} engines, those with most samples; --all shows all\n", shown, results.len()),
    };
    let auto = args.input.fitting().mate_threshold.iter().any(|(_, t)| *t == Threshold::Auto);
    format!(
        "{read}\n{}\n{}{others}{}{}",
        terminal::heading(&columns.head()),
        columns.rows(results[..shown].iter().copied()),
        text::wrap(
            language.word(
                "mates: samples with a mate score; wrong: those of them that the result contradicts; from: the mate \
                 threshold; largest: the largest score below it",
            ),
            width,
            0
        ),
        match auto {
            true => language.word("a: found by --mate-threshold auto\n"),
            false => "",
        }
    )
}
