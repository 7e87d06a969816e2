//! `evalcurve proxy`: one engine with its scores on a common scale.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use evalcurve_app::cli::files::{calibration, note_all};
use evalcurve_app::cli::options::language;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_app::known;
use evalcurve_engine::usi::{Launch, stop_engines_on_signals};
use evalcurve_fit::calibration::Reading;
use evalcurve_words::{key, say, text};

use crate::{Proxy, Rewriter};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve proxy --calibration Gikou.json -- ./gikou
      register this command in a GUI: +300 then means the same for every engine
  evalcurve proxy --calibration Stockfish.json --wdl -- stockfish
  evalcurve proxy --calibration Apery.json --scale 400 -- ./apery usi
  evalcurve < commands.txt
      without arguments and not on a terminal: the proxy of the table [proxy] in evalcurve.toml beside the program

Everything passes through byte for byte, except the number in `info … score cp`: it becomes the logit of the \
calibrated win rate times the scale, so that the GUI's own formula, 1/(1 + exp(-score/scale)), gives the calibrated \
win rate. Mates, bounds, MultiPV, pondering and infinite analysis stay as they are. The proxy ends with the \
GUI, and the engine with the proxy.")]
pub struct Args {
    /// The calibration file of the engine
    #[arg(long, value_name = "FILE")]
    calibration: PathBuf,

    /// Centipawns per logit that the GUI assumes [default: 600 in USI, 271.6 in UCI]
    #[arg(long, value_name = "CP")]
    scale: Option<f64>,

    /// The win rate between players of equal strength; this is the default
    #[arg(long, conflicts_with = "field")]
    equal: bool,

    /// The win rate against the opponents of the calibration
    #[arg(long)]
    field: bool,

    /// Add win, draw and loss in permille after the score, in place of the engine's own
    #[arg(long)]
    wdl: bool,

    /// Working directory of the engine [default: that of the GUI]
    #[arg(long, value_name = "FOLDER")]
    directory: Option<PathBuf>,

    /// The engine and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "ENGINE")]
    engine: Vec<OsString>,
}

impl Subcommand for Args {
    const NAME: &'static str = "proxy";
    const ABOUT: &'static str = key!("Run an engine with its scores on a common scale");
    const HEADING: Heading = Heading::Use;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        if let Some(scale) = self.scale.filter(|s| !(s.is_finite() && *s > 0.0)) {
            bail!(text!("--scale: {scale} is not a number of centipawns above 0, such as 600"));
        }
        let calibration = calibration(&self.calibration)?;
        note_all(&known::notes([&calibration]), false, language());
        terminal::doubts(&calibration, language());
        if let Some((unit, [from, to])) = calibration.model.model.fitted_range().filter(|_| self.wdl) {
            let (engine, unit) = (&calibration.engine.name, unit.as_str());
            terminal::note(&say!(
                language(),
                "the games of {engine} cover {unit} {from} to {to}; beyond, its W/D/L is that of the nearest end"
            ));
        }
        let reading = if self.field { Reading::Field } else { Reading::Equal };
        let rewriter = Rewriter::new(calibration, reading, self.scale, self.wdl);
        let mut words = self.engine.iter().cloned();
        let command = words.next().unwrap_or_default();
        let launch = Launch { command, args: words.collect(), directory: self.directory.clone(), ..Launch::default() };
        stop_engines_on_signals()?;
        Proxy { launch, rewriter }.run(std::io::stdin(), std::io::stdout())?;
        Ok(Done::Yes)
    }
}
