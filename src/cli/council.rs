//! `evalcurve council`: an engine made of engines; and the scripted engine of its tests.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;

use super::{Done, terminal};
use crate::council::scripted::{Fault, Script};
use crate::council::torture::TortureOptions;
use crate::council::{self, Config, Game, Grade};

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

#[derive(Debug, clap::Args)]
pub(super) struct ScriptedArgs {
    /// The game: shogi or chess
    #[arg(long, default_value = "shogi", value_parser = game)]
    game: Game,

    /// The name that it gives itself
    #[arg(long, default_value = "Script")]
    name: String,

    /// Seed of moves, scores and faults
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Play this move where it is legal; may be repeated
    #[arg(long, value_name = "MOVE")]
    prefer: Vec<String>,

    /// Its score: centipawns, or "mate 5"
    #[arg(long, allow_hyphen_values = true)]
    score: Option<String>,

    /// Milliseconds of thought
    #[arg(long, default_value_t = 5)]
    think_ms: u64,

    /// Lines by MultiPV
    #[arg(long, default_value_t = 1)]
    lines: usize,

    /// A file that gets the time of every answer
    #[arg(long, value_name = "FILE")]
    stamps: Option<PathBuf>,

    /// Something that goes wrong, and how often: crash=0.1; may be repeated
    #[arg(long, value_name = "FAULT[=RATE]", value_parser = fault)]
    fault: Vec<(Fault, f64)>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve torture --games 1000
      councils of three members that fail at random; exit code 1 unless every move was legal and in time and
      nothing was left behind")]
pub(super) struct TortureArgs {
    /// The game: shogi or chess
    #[arg(long, default_value = "shogi", value_parser = game)]
    game: Game,

    /// Games
    #[arg(long, default_value_t = 20)]
    games: u64,

    /// Moves of the council in a game
    #[arg(long, default_value_t = 12)]
    moves: u32,

    /// Time of a move in milliseconds; the council keeps a third of it as its margin
    #[arg(long, default_value_t = 450, value_parser = clap::value_parser!(u64).range(30..))]
    time_ms: u64,

    /// How often a member meets each of its faults
    #[arg(long, default_value_t = 0.02)]
    rate: f64,

    /// Seed of faults and orders
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn game(name: &str) -> Result<Game, String> {
    Game::parse(name).ok_or_else(|| "write shogi or chess".to_owned())
}

fn fault(text: &str) -> Result<(Fault, f64), String> {
    let (name, rate) = text.split_once('=').unwrap_or((text, "1"));
    let names = || Fault::ALL.map(Fault::as_str).join(", ");
    let fault = Fault::parse(name).ok_or_else(|| format!("not a fault; one of {}", names()))?;
    let rate = rate.parse().map_err(|_| format!("'{rate}' is no rate; write crash=0.1"))?;
    Ok((fault, rate))
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

pub(super) fn scripted(args: &ScriptedArgs) -> anyhow::Result<Done> {
    let script = Script {
        game: args.game,
        name: args.name.clone(),
        seed: args.seed,
        prefer: args.prefer.clone(),
        score: args.score.clone(),
        think: Duration::from_millis(args.think_ms),
        faults: args.fault.clone(),
        lines: args.lines,
        stamps: args.stamps.clone(),
    };
    council::scripted::play(&script, std::io::stdin(), std::io::stdout())?;
    Ok(Done::Yes)
}

pub(super) fn torture(args: &TortureArgs) -> anyhow::Result<Done> {
    let options = TortureOptions {
        program: std::env::current_exe().context("cannot find this program")?,
        game: args.game,
        games: args.games,
        moves: args.moves,
        seed: args.seed,
        time: Duration::from_millis(args.time_ms),
        rate: args.rate,
    };
    let report = council::torture::torture(&options)?;
    terminal::print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    Ok(if report.is_clean() { Done::Yes } else { Done::Nothing })
}
