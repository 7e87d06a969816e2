//! `evalcurve evaluate`

use std::path::PathBuf;

use super::files::{calibration, is_calibration, shown};
use super::options::{InputArgs, OutputArgs};
use super::{Done, progress, terminal};
use crate::record::find::expand_globs;
use crate::report::text;
use crate::run::{Evaluate, Input};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve evaluate evalcurve-out/Gikou.json new-games/
  evalcurve evaluate evalcurve-out/*.json new-games/ --since 2017-01-01 --json

Judges calibrations on games that they were not made from, with the scores of `diagnose`. The PATHs that end in .json \
are the calibrations; the options of mates are those of the files. A slope below 1 means that the win rates are too \
bold, an intercept below 0 that they are too high.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    /// What is read, and the command.
    fn command(&self) -> anyhow::Result<(Input, Evaluate)> {
        let (files, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            expand_globs(&self.input.paths)?.into_iter().partition(|path| is_calibration(path));
        let read = |file: &PathBuf| Ok((shown(file), calibration(file)?));
        let calibrations = files.iter().map(read).collect::<anyhow::Result<_>>()?;
        Ok((Input::paths(paths), Evaluate { calibrations, ..self.options() }))
    }

    /// The command without its calibrations.
    pub(super) fn options(&self) -> Evaluate {
        Evaluate { reading: self.input.reading(), fitting: self.input.fitting(), calibrations: Vec::new() }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let (input, command) = args.command()?;
    let found = progress::shown(args.output.quiet, |progress| command.run(&input, progress))?;
    let language = args.input.language.chosen();
    let text = || {
        let width = terminal::width();
        let columns = text::evaluations(width, language);
        let head = columns.head();
        format!(
            "{}{}\n{}",
            text::wrap(&text::reading(&found.report, language), width, text::LABEL),
            terminal::heading(head.trim_end()),
            columns.rows(&found.value)
        )
    };
    args.output.print(|| command.document(&found), text)?;
    terminal::tell(&found, args.output.is_quiet(), language);
    Ok(Done::Yes)
}
