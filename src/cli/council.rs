//! `evalcurve council`: an engine that consists of several engines.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use super::{Done, terminal};
use crate::council::{self, Config, Grade};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve council shogi.toml
      a USI engine: register this command in a GUI
  evalcurve council shogi.toml --check
      start every member once, report what does not fit, and exit
  evalcurve < commands.txt
      without arguments and not on a terminal: the council of evalcurve.toml in the folder of the program

docs/council.md describes the configuration, time management, faults and scores.")]
pub(super) struct Args {
    /// The configuration file (TOML)
    #[arg(value_name = "CONFIG")]
    config: PathBuf,

    /// Start the members, check everything, and exit
    #[arg(long)]
    check: bool,
}

/// The arguments to assume if there are none and the input is not a terminal: many GUIs register only an executable.
/// The program is then the council of the `evalcurve.toml` in its own folder, if that file exists.
pub(super) fn beside_program(arguments: &[OsString]) -> Option<[OsString; 2]> {
    if arguments.len() != 1 || std::io::stdin().is_terminal() {
        return None;
    }
    let config = std::env::current_exe().ok()?.with_file_name("evalcurve.toml");
    config.exists().then(|| ["council".into(), config.into_os_string()])
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let config = Config::read(&args.config)?;
    council::usi::stop_engines_on_signals()?;
    if args.check {
        let findings = council::check(&config);
        for finding in &findings {
            let text = format!("{}: {}", finding.engine, finding.text);
            match finding.grade {
                Grade::Good => terminal::print(&format!("{text}\n"))?,
                Grade::Warning => terminal::warning(&text),
                Grade::Error => terminal::error(&text),
            }
        }
        let bad = findings.iter().any(|f| f.grade == Grade::Error);
        return Ok(if bad { Done::Nothing } else { Done::Yes });
    }
    council::run(config, std::io::stdin(), std::io::stdout())?;
    Ok(Done::Yes)
}
