//! `evalcurve evaluate`

use std::path::{Path, PathBuf};

use evalcurve_app::cli::files::{
    calibration, is_calibration, make_folder, note_all, shown, with_calibrations_of_folders,
};
use evalcurve_app::cli::options::{InputArgs, OutputArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, progress, terminal};
use evalcurve_app::judge::Verdict;
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::figures::save;
use evalcurve_app::report::text;
use evalcurve_app::{Input, Outcome, known};
use evalcurve_figures::{PlotOptions, reliability};
use evalcurve_fit::calibration::file_stems;
use evalcurve_fit::validate::{Estimate, Reliability, ScoreOptions};
use evalcurve_words::key;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::text::thousands;

use crate::{Difference, Evaluate, JudgeForecasts, JudgedForecasts, JudgedModel};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve evaluate evalcurve-out/Gikou.json new-games/
  evalcurve evaluate evalcurve-out new-games/ --json
  evalcurve evaluate released/Gikou.json new-games/ --tolerance 10
      for a CI: exit code 1 if the scale of these games is another one, 3 if they are too few to tell
  evalcurve evaluate --forecasts mine.csv --forecasts theirs.csv --figures out
      judges models of your own side by side, from tables of win_rate, result and game

Judges calibrations on games that they were not made from, with the scores of `diagnose`. The PATHs that end in .json \
or are names of known engines are the calibrations; the options of mates are those of the files. A slope below 1 \
means that the win rates are too bold, an intercept below 0 that they are too high. Exit code 0 without --tolerance, \
whatever the verdict.

A table of forecasts has the columns win_rate (or win, draw and loss, or one win_rate_NAME for each model), result and \
game, and may have model. Models are compared on the samples that both forecast.",
    mut_arg("paths", |paths| paths.required(false)))]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Judge the forecasts in this table (.csv or .parquet) instead of calibrations; may be repeated
    #[arg(id = "forecast_tables", long = "forecasts", value_name = "TABLE", conflicts_with_all = ["paths", "tolerance"],
          help_heading = "Output")]
    forecasts: Vec<PathBuf>,

    /// Write the reliability diagram of each model to this folder: NAME-reliability.svg, .png and .csv
    #[arg(long, value_name = "FOLDER", help_heading = "Output", hide_short_help = true)]
    figures: Option<PathBuf>,

    /// Tolerated difference of the scale, in percent, as in `compare`; the exit code is the result
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Output")]
    tolerance: Option<f64>,

    #[command(flatten)]
    output: OutputArgs,
}

fn percent(percent: &str) -> Result<f64, Text> {
    let percent = percent.trim().trim_end_matches(['%', '％']);
    let number = percent.parse().ok().filter(|x: &f64| *x > 0.0 && x.is_finite());
    number.ok_or_else(|| {
        evalcurve_words::text!("a tolerance of {percent}% is not valid; use a number above 0, such as 10")
    })
}

impl Args {
    /// What is read, and the command.
    fn command(&self) -> anyhow::Result<(Input, Evaluate)> {
        let (files, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            with_calibrations_of_folders(&self.input.paths)?.into_iter().partition(|path| is_calibration(path));
        let read = |file: &PathBuf| Ok((shown(file), calibration(file)?));
        let calibrations = files.iter().map(read).collect::<anyhow::Result<_>>()?;
        Ok((Input::paths(paths), Evaluate { calibrations, ..self.options() }))
    }

    /// The command without its calibrations.
    pub fn options(&self) -> Evaluate {
        Evaluate { reading: self.input.reading(), fitting: self.input.fitting(), calibrations: Vec::new() }
    }

    /// The command that judges tables of forecasts.
    pub fn judge_forecasts(&self) -> JudgeForecasts {
        let (resamples, seed) = (self.input.fitting().bands.max(1), self.input.reading().sampling().seed);
        JudgeForecasts { scores: ScoreOptions { resamples, seed }, threads: self.input.reading().threads }
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "evaluate";
    const ABOUT: &'static str = key!("Judge calibration files on games that they were not made from");
    const HEADING: Heading = Heading::Judge;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        if !self.forecasts.is_empty() {
            return run_forecasts(self);
        }
        let (input, command) = self.command()?;
        let notes = known::notes(command.calibrations.iter().map(|(_, calibration)| calibration));
        note_all(&notes, self.output.is_quiet(), self.input.language.chosen());
        let found = progress::shown(self.output.quiet, |progress| command.run(&input, progress))?;
        let language = self.input.language.chosen();
        if let Some(folder) = &self.figures {
            let diagrams: Vec<(&str, &Reliability)> =
                found.value.iter().map(|one| (one.name.as_str(), &one.judged.reliability)).collect();
            write_figures(folder, &diagrams, language)?;
        }
        let text = || {
            let width = terminal::width();
            let (mut rows, mut files) = (found.value.clone(), String::new());
            for (i, (row, (file, _))) in rows.iter_mut().zip(&command.calibrations).enumerate() {
                // files of one engine, such as two versions
                if found.value.iter().filter(|other| other.name == row.name).count() > 1 {
                    row.name = format!("{} {}", i + 1, row.name);
                    files += &format!("{}: {file}\n", i + 1);
                }
            }
            let columns = text::evaluations(width, language);
            format!(
                "{}{}\n{}{files}",
                text::wrap(&text::reading(&found.report, language), width, text::LABEL),
                terminal::heading(columns.head().trim_end()),
                columns.rows(&rows)
            )
        };
        self.output.print(|| command.document(&found), text)?;
        terminal::tell(&found, self.output.is_quiet(), language);
        let Some(tolerance) = self.tolerance else { return Ok(Done::Yes) };
        let verdicts: Vec<Verdict> = found.value.iter().map(|one| one.within(tolerance)).collect();
        Ok(match verdicts {
            all if all.contains(&Verdict::Moved) => Done::Nothing,
            all if all.contains(&Verdict::Unclear) => Done::CannotTell,
            _ => Done::Yes,
        })
    }
}

/// Writes the reliability diagram of each model.
fn write_figures(folder: &Path, diagrams: &[(&str, &Reliability)], language: Language) -> anyhow::Result<()> {
    make_folder(folder)?;
    let names: Vec<String> = diagrams.iter().map(|(name, _)| format!("{name}-reliability")).collect();
    let options = PlotOptions { language, ..PlotOptions::default() };
    for (index, ((name, diagram), stem)) in diagrams.iter().zip(file_stems(&names)).enumerate() {
        save(reliability(name, index, diagram, false, &options), folder, &stem, true)?;
    }
    Ok(())
}

fn run_forecasts(args: &Args) -> anyhow::Result<Done> {
    let command = args.judge_forecasts();
    let found = command.run(&Input::paths(args.forecasts.clone()))?;
    let language = args.input.language.chosen();
    if let Some(folder) = &args.figures {
        let diagrams: Vec<(&str, &Reliability)> =
            found.value.models.iter().map(|model| (model.name.as_str(), &model.judged.reliability)).collect();
        write_figures(folder, &diagrams, language)?;
    }
    args.output.print(|| command.document(&found), || tables(&found, terminal::width(), language))?;
    terminal::tell(&found, args.output.is_quiet(), language);
    Ok(Done::Yes)
}

/// Rows read, used and skipped.
fn rows_read(found: &Outcome<JudgedForecasts>, language: Language) -> String {
    let count = found.report.positions.get("table").cloned().unwrap_or_default();
    text::accounts(count.read, language.word(" rows"), count.used, &count.skipped, language) + "\n"
}

/// The models, and their differences.
fn tables(found: &Outcome<JudgedForecasts>, width: usize, language: Language) -> String {
    let estimate = |e: &Estimate, decimals| text::estimate(e, decimals);
    let models = Columns::new()
        .name(language.word("model"), 16, |m: &&JudgedModel| m.name.clone())
        .right(language.word("samples"), 9, |m| thousands(m.judged.scores.samples))
        .right(language.word("games"), 8, |m| thousands(m.judged.scores.games))
        .gap(2)
        .left(language.word("log loss [95%]"), 21, |m| estimate(&m.judged.scores.log_loss, 4))
        .when(width >= 130, |columns| {
            columns.left(language.word("Brier [95%]"), 21, |m| estimate(&m.judged.scores.brier, 4))
        })
        .when(width >= 110, |columns| {
            columns.left(language.word("calibration error"), 20, |m| estimate(&m.judged.scores.ece, 3))
        })
        .left(language.word("scale [95%]"), 17, |m| text::or_dash(m.judged.scale, |e| text::estimate(&e, 2)))
        .left(language.word("verdict"), 0, |m| m.verdict(language).to_owned());
    let mut out = rows_read(found, language);
    out += &format!("\n{}\n{}", terminal::heading(models.head().trim_end()), models.rows(&found.value.models));
    if found.value.differences.is_empty() {
        return out;
    }
    let pairs = Columns::new()
        .name(language.word("pair"), 30, |d: &&Difference| format!("{} - {}", d.one, d.other))
        .right(language.word("samples"), 9, |d| thousands(d.samples))
        .gap(2)
        .left(language.word("log loss [95%]"), 26, |d| estimate(&d.log_loss, 5))
        .right("Holm", 8, |d| text::or_dash(d.p_holm, text::p_value))
        .left(language.word("better"), 0, |d| d.better().map_or(language.word("cannot tell"), |name| name).to_owned());
    let rows = pairs.rows(&found.value.differences);
    out + &format!("\n{}\n{rows}", terminal::heading(pairs.head().trim_end()))
}
