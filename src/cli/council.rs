//! `evalcurve council`: an engine made of engines.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use super::{Done, terminal};
use crate::council::{self, Config, Grade};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve council shogi.toml
      an engine that speaks USI: register this command in a GUI
  evalcurve council shogi.toml --check
      starts every member once, tells what does not fit, and ends
  evalcurve < commands.txt
      without arguments, and not from a terminal: the council of evalcurve.toml beside the program

Everything about the file, time, faults and scores: docs/council.md.")]
pub(super) struct Args {
    /// The configuration, TOML
    #[arg(value_name = "CONFIG")]
    config: PathBuf,

    /// Start the members, check everything, and end
    #[arg(long)]
    check: bool,
}

/// The arguments of a program that was started with none and not from a terminal: many GUIs register nothing but an
/// executable. It is then the council of `evalcurve.toml` beside itself, if there is such a file.
pub(super) fn beside_program(arguments: &[OsString]) -> Option<[OsString; 2]> {
    if arguments.len() != 1 || std::io::stdin().is_terminal() {
        return None;
    }
    let config = std::env::current_exe().ok()?.with_file_name("evalcurve.toml");
    config.exists().then(|| ["council".into(), config.into_os_string()])
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let config = Config::read(&args.config)?;
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
