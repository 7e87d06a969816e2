//! `evalcurve council`: an engine made of engines; and the scripted engine of its tests.

use std::path::PathBuf;
use std::time::Duration;

use super::Done;
use crate::council::scripted::{Fault, Script};
use crate::council::{self, Config, Game};

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

    /// Something that goes wrong, and how often: crash=0.1; may be repeated
    #[arg(long, value_name = "FAULT[=RATE]", value_parser = fault)]
    fault: Vec<(Fault, f64)>,
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

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let config = Config::read(&args.config)?;
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
    };
    council::scripted::play(&script, std::io::stdin(), std::io::stdout())?;
    Ok(Done::Yes)
}
