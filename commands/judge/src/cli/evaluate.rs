//! `evalcurve evaluate`

use std::path::PathBuf;

use evalcurve_app::cli::files::{calibration, is_calibration, note_all, shown, with_calibrations_of_folders};
use evalcurve_app::cli::options::{InputArgs, OutputArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, progress, terminal};
use evalcurve_app::judge::drift::Verdict;
use evalcurve_app::report::text;
use evalcurve_app::{Input, known};
use evalcurve_words::key;
use evalcurve_words::language::Text;

use crate::Evaluate;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve evaluate evalcurve-out/Gikou.json new-games/
  evalcurve evaluate evalcurve-out new-games/ --since 2017-01-01 --json
  evalcurve evaluate released/Gikou.json new-games/ --tolerance 10
      for a CI: exit code 1 if the scale of these games is another one, 3 if they are too few to tell

Judges calibrations on games that they were not made from, with the scores of `diagnose`. The PATHs that end in .json \
or are names of known engines are the calibrations; the options of mates are those of the files. A slope below 1 \
means that the win rates are too bold, an intercept below 0 that they are too high. Exit code 0 without --tolerance, \
whatever the verdict.")]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Tolerated difference of the scale, in percent, as in `compare`; the exit code is the result
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Output")]
    tolerance: Option<f64>,

    #[command(flatten)]
    output: OutputArgs,
}

fn percent(percent: &str) -> Result<f64, Text> {
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
}

impl Subcommand for Args {
    const NAME: &'static str = "evaluate";
    const ABOUT: &'static str = key!("Judge calibration files on games that they were not made from");
    const HEADING: Heading = Heading::Judge;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        run(self)
    }
}

fn run(args: &Args) -> anyhow::Result<Done> {
    let (input, command) = args.command()?;
    let notes = known::notes(command.calibrations.iter().map(|(_, calibration)| calibration));
    note_all(&notes, args.output.is_quiet(), args.input.language.chosen());
    let found = progress::shown(args.output.quiet, |progress| command.run(&input, progress))?;
    let language = args.input.language.chosen();
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
        let head = columns.head();
        format!(
            "{}{}\n{}{files}",
            text::wrap(&text::reading(&found.report, language), width, text::LABEL),
            terminal::heading(head.trim_end()),
            columns.rows(&rows)
        )
    };
    args.output.print(|| command.document(&found), text)?;
    terminal::tell(&found, args.output.is_quiet(), language);
    let Some(tolerance) = args.tolerance else { return Ok(Done::Yes) };
    let verdicts: Vec<Verdict> = found.value.iter().map(|one| one.within(tolerance)).collect();
    Ok(match verdicts {
        all if all.contains(&Verdict::Moved) => Done::Nothing,
        all if all.contains(&Verdict::Unclear) => Done::CannotTell,
        _ => Done::Yes,
    })
}
