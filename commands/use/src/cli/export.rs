//! `evalcurve export`: the constants of one calibration file for another program.

use std::path::PathBuf;

use evalcurve_app::cli::files::{note_all, one_file};
use evalcurve_app::cli::options::language;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_app::{Input, Progress};
use evalcurve_fit::calibration::Normalization;
use evalcurve_words::language::Text;
use evalcurve_words::{key, text};

use crate::{Export, Target};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve export Gikou.json --to ponanza
  evalcurve export Gikou.json --to shogi-gougi-yaml > gougi.yaml
  evalcurve export MyEngine.json --to stockfish
      win_rate_params, to_cp and wdl, as in uci.cpp; calibrate with --model wdl-material or wdl
  evalcurve export MyEngine.json --to rust > src/win_rate.rs
  evalcurve export MyEngine.json --to nnue-pytorch
      in_offset, in_scaling, out_offset and out_scaling of the loss, for data with the scores of this engine
  evalcurve export MyEngine.json --to stockfish --undo-normalization 72.32,-185.52,110.06,323.19
      for an engine that prints 100 * score / pawn value: constants for its internal scores

What the target cannot hold is reported on standard error.")]
pub struct Args {
    /// The calibration file, or the name of a known engine
    file: PathBuf,

    /// The program or language that will take it: ponanza, shogihome, dlshogi, nnue-pytorch, bullet, yaneuraou, lc0,
    /// shogi-gougi-yaml, stockfish, rust, python, c-header, javascript, json
    #[arg(long, value_name = "TARGET", value_parser = target)]
    to: Target,

    /// The pawn value by which the engine normalised the scores: one number, or the coefficients of a polynomial in
    /// material/58 (in ply/64 for the model wdl), highest power first
    #[arg(long, value_name = "A0,A1,A2,A3", allow_hyphen_values = true)]
    undo_normalization: Option<Normalization>,
}

fn target(word: &str) -> Result<Target, Text> {
    word.parse().map_err(|_| {
        text!("not a target; one of {}", Target::ALL.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(", "))
    })
}

impl Subcommand for Args {
    const NAME: &'static str = "export";
    const ABOUT: &'static str = key!("Print the constants for another program, or as source code");
    const HEADING: Heading = Heading::Use;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let command = Export { target: self.to, undo_normalization: self.undo_normalization.clone() };
        let found = command.run(&Input::paths([one_file(&self.file)?]), &Progress::default())?;
        let (calibration, text) = &found.value;
        terminal::print(text)?;
        note_all(&found.notes, false, language());
        terminal::doubts(calibration, language());
        Ok(Done::Yes)
    }
}
