//! `evalcurve rescale`: training data and tables with their scores on another scale.

use std::path::PathBuf;

use anyhow::anyhow;
use evalcurve_app::cli::files::{calibration, shown};
use evalcurve_app::cli::options::{InputArgs, OutputArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, progress, terminal};
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{estimate, number, or_dash, printable, thousands, wrap};
use evalcurve_app::with_flags;
use evalcurve_fit::calibration::Calibration;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{key, say, text};

use crate::{Rescale, Rescaled, RescaledFile, Teacher};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve rescale train.hcpe --to-scale 600 --out rescaled
      fits the scale to the results in the file, and makes it 600
  evalcurve rescale data/ --to-scale 410 --calibration Stockfish.json --out new
      the scale of the calibration file, if the results do not contradict it
  evalcurve rescale pool/ --to-scale 600 --out new --teacher 'a*=A.json' --teacher 'b*=B.json'
      several engines: their names in tables, and those of other files
  evalcurve rescale train.psv --to-scale 600 --model phase --out rescaled
      a scale that depends on the ply
  evalcurve rescale train.binpack --from-scale 361 --to-scale 600 --out rescaled
      the scale is known: nothing is fitted

Files keep their names, and all but their scores; binpack and Parquet are compressed anew. Mates stay, and larger \
scores are clipped below them. Nothing is written if the scale is not known (exit code 1).")]
#[command(mut_arg("model", |model| model.default_value("maximum-likelihood")))]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Centipawns that one logit is worth in the new files
    #[arg(long, value_name = "CENTIPAWNS", required = true)]
    to_scale: f64,

    /// The calibration of the engine that gave the scores, instead of a fit to the results in the data
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,

    /// Centipawns of a logit in the files as they are, if it is known: nothing is fitted
    #[arg(long, value_name = "CENTIPAWNS", conflicts_with_all = ["calibration", "teacher"])]
    from_scale: Option<f64>,

    /// The calibration of one of several engines: its name in tables, or that of its files; may be repeated
    #[arg(long, value_name = "NAME=FILE", value_parser = teacher, hide_short_help = true)]
    teacher: Vec<(String, PathBuf)>,

    /// Folder for the new files
    #[arg(long, short, value_name = "FOLDER", help_heading = "Output")]
    out: PathBuf,

    /// Replace files
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    output: OutputArgs,
}

fn teacher(value: &str) -> Result<(String, PathBuf), Text> {
    let parts = value.split_once('=').filter(|(name, file)| !name.trim().is_empty() && !file.trim().is_empty());
    let (name, file) = parts.ok_or_else(|| text!("write NAME=FILE, with a calibration file"))?;
    Ok((name.trim().to_owned(), PathBuf::from(file.trim())))
}

impl Args {
    pub fn command(&self) -> anyhow::Result<Rescale> {
        let read = |file: &PathBuf| -> anyhow::Result<(String, Calibration)> { Ok((shown(file), calibration(file)?)) };
        let teacher = |(glob, file): &(String, PathBuf)| read(file).map(|(file, found)| (glob.clone(), file, found));
        Ok(Rescale {
            reading: self.input.reading(),
            fitting: self.input.fitting(),
            to_scale: self.to_scale,
            calibration: self.calibration.as_ref().map(read).transpose()?,
            teachers: self.teacher.iter().map(teacher).collect::<anyhow::Result<_>>()?,
            from_scale: self.from_scale,
            out: self.out.clone(),
            force: self.force,
        })
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "rescale";
    const ABOUT: &'static str = key!("Write training data with its scores on a stated scale");
    const HEADING: Heading = Heading::Use;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let command = self.command()?;
        let found = progress::shown(self.output.quiet, |progress| command.run(&self.input.input(), progress))?;
        let language = self.input.language.chosen();
        self.output.print(|| Rescaled::document(&found), || text(&found.value, language))?;
        terminal::tell(&found, self.output.is_quiet(), language);
        for reason in found.value.refused.iter().filter(|_| !self.output.json) {
            terminal::error(&with_flags(&reason.text(language)));
        }
        let strict = found.report.problems.iter().find(|problem| problem.is_error && command.reading.strict);
        match (found.value.files.is_empty(), strict) {
            (false, None) => Ok(Done::Yes),
            (true, _) => Ok(Done::Nothing),
            (_, Some(problem)) => Err(anyhow!(problem.text(language))),
        }
    }
}

fn text(found: &Rescaled, language: Language) -> String {
    let columns = Columns::new()
        .name(language.word("scores of"), 20, |t: &&Teacher| printable(&t.name))
        .right(language.word("samples"), 9, |t| thousands(t.samples))
        .gap(2)
        .left(language.word("1/w1 of the data [95%]"), 24, |t| or_dash(t.before, |e| estimate(&e, 1)))
        .left(language.word("taken"), 8, |t| number(t.scale.value, 1))
        .left(language.word("after [95%]"), 24, |t| or_dash(t.after, |e| estimate(&e, 1)));
    let mut out = String::new();
    if !found.teachers.is_empty() {
        out += &format!("{}\n{}", terminal::heading(columns.head().trim_end()), columns.rows(&found.teachers));
    }
    for teacher in &found.teachers {
        out += &stages(teacher, language);
    }
    if !found.files.is_empty() {
        let columns = Columns::new()
            .name(language.word("file"), 30, |f: &&RescaledFile| printable(&f.written))
            .left(language.word("format"), 8, |f| f.format.to_owned())
            .right(language.word("scores"), 13, |f| thousands(f.positions))
            .right(language.word("mates"), 11, |f| thousands(f.mates))
            .right(language.word("clipped"), 11, |f| thousands(f.clipped))
            .right(language.word("unreadable"), 11, |f| thousands(f.unreadable));
        out += &format!("\n{}\n{}", terminal::heading(columns.head().trim_end()), columns.rows(&found.files));
    }
    out
}

/// The scale by ply, and what a slope by ply is worth.
fn stages(teacher: &Teacher, language: Language) -> String {
    if teacher.stages.is_empty() {
        return String::new();
    }
    let stage = |s: &crate::Stage| {
        let (from, to, scale) = (s.from_ply, s.to_ply, estimate(&s.scale, 0));
        say!(language, "ply {from} to {to}: {scale}")
    };
    let all = teacher.stages.iter().map(stage).collect::<Vec<_>>().join(language.word(", "));
    let name = printable(&teacher.name);
    let gain = teacher.gain_by_ply.map_or_else(String::new, |gain| {
        let gain = estimate(&gain, 5);
        say!(language, "; a slope by ply (`model` phase) lowers the log loss by {gain}")
    });
    wrap(&say!(language, "{name}, 1/w1 by ply: {all}{gain}"), terminal::width(), 2)
}
