//! The test tools as a program: `evalcurve-testkit generate | scripted-engine | torture | council`.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Parser, Subcommand};
use evalcurve_council::{Config, Game};
use evalcurve_testkit::generate::{self, GenerateOptions, Truth};
use evalcurve_testkit::scripted::{self, Fault, Script};
use evalcurve_testkit::torture::{self, TortureOptions};

/// Test tools of evalcurve
#[derive(Debug, Parser)]
#[command(name = "evalcurve-testkit", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write records that follow a known evaluation curve
    Generate(GenerateArgs),
    /// Run a scripted engine with faults on demand
    ScriptedEngine(ScriptedArgs),
    /// Play games against councils whose members fail at random
    Torture(TortureArgs),
    /// Run the council of a configuration, like `evalcurve council`
    Council {
        /// The configuration, TOML
        config: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct GenerateArgs {
    /// The file: CSA, games separated by /; or .pgn
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,

    /// Engines with their truth: NAME:W1:W2
    #[arg(long, value_name = "NAME:W1:W2", value_parser = truth,
          default_values = ["A:0.0015:0.2", "B:0.003:-0.3", "C:0.0008:0.5"])]
    engine: Vec<Truth>,

    /// Games
    #[arg(long, default_value_t = 1000)]
    games: u64,

    /// Plies of a game
    #[arg(long, default_value_t = 150)]
    plies: u32,

    /// Standard deviation of the logit of scores
    #[arg(long, default_value_t = 1.5)]
    spread: f64,

    /// Draws at even positions
    #[arg(long, default_value_t = 0.05)]
    draws: f64,

    /// Share of mates
    #[arg(long, default_value_t = 0.0)]
    mates: f64,

    /// Share of games that the winner loses on time; all decided games then end with scores of ±10,000
    #[arg(long, default_value_t = 0.0)]
    time_losses: f64,

    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
struct ScriptedArgs {
    /// The game: shogi, minishogi or chess
    #[arg(long, default_value = "shogi", value_parser = game)]
    game: Game,

    /// The name that it reports
    #[arg(long, default_value = "Script")]
    name: String,

    /// Seed of moves, scores and faults
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Play this move if it is legal; may be repeated
    #[arg(long, value_name = "MOVE")]
    prefer: Vec<String>,

    /// Its score: centipawns, or "mate 5"
    #[arg(long, allow_hyphen_values = true)]
    score: Option<String>,

    /// Search time in milliseconds
    #[arg(long, default_value_t = 5)]
    think_ms: u64,

    /// The number of lines (MultiPV)
    #[arg(long, default_value_t = 1)]
    lines: usize,

    /// Let faults depend on the position alone, so that the same games have the same faults
    #[arg(long)]
    repeatable: bool,

    /// A file to append the time of every answer to
    #[arg(long, value_name = "FILE")]
    stamps: Option<PathBuf>,

    /// A fault and its rate: crash=0.1; may be repeated
    #[arg(long, value_name = "FAULT[=RATE]", value_parser = fault)]
    fault: Vec<(Fault, f64)>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-testkit torture --games 1000
      councils of three members that fail at random; exit code 1 unless every move was legal and in time and
      no process or descriptor remained")]
struct TortureArgs {
    /// The game: shogi or chess
    #[arg(long, default_value = "shogi", value_parser = game)]
    game: Game,

    /// Games
    #[arg(long, default_value_t = 20)]
    games: u64,

    /// Moves of the council per game
    #[arg(long, default_value_t = 12)]
    moves: u32,

    /// Time per move in milliseconds; a third of it is the margin of the council
    #[arg(long, default_value_t = 450, value_parser = clap::value_parser!(u64).range(30..))]
    time_ms: u64,

    /// The rate of each fault of a member
    #[arg(long, default_value_t = 0.02)]
    rate: f64,

    /// Seed of faults and commands
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn game(name: &str) -> Result<Game, String> {
    name.parse().map_err(|_| "write shogi or chess".to_owned())
}

fn fault(text: &str) -> Result<(Fault, f64), String> {
    let (name, rate) = text.split_once('=').unwrap_or((text, "1"));
    let names = || Fault::ALL.map(Fault::as_str).join(", ");
    let fault = Fault::parse(name).ok_or_else(|| format!("not a fault; one of {}", names()))?;
    let rate = rate.parse().map_err(|_| format!("'{rate}' is not a rate; write crash=0.1"))?;
    Ok((fault, rate))
}

fn truth(text: &str) -> Result<Truth, String> {
    let mut parts = text.rsplitn(3, ':');
    let parsed = (|| {
        let w2 = parts.next()?.parse().ok()?;
        let w1 = parts.next()?.parse().ok()?;
        Some(Truth { name: parts.next()?.to_owned(), w1, w2 })
    })();
    parsed.ok_or_else(|| "write NAME:W1:W2, for example Gikou:0.0026:0.16".to_owned())
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Generate(args) => write_games(&args),
        Command::ScriptedEngine(args) => scripted_engine(&args),
        Command::Torture(args) => torture(&args),
        Command::Council { config } => {
            evalcurve_council::run(Config::read(&config)?, std::io::stdin(), std::io::stdout())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn write_games(args: &GenerateArgs) -> anyhow::Result<ExitCode> {
    if args.out.exists() && !args.force {
        bail!("{} exists: give --force to replace it", args.out.display());
    }
    let options = GenerateOptions {
        engines: args.engine.clone(),
        games: args.games,
        plies: args.plies,
        spread: args.spread,
        draws: args.draws,
        mates: args.mates,
        time_losses: args.time_losses,
        seed: args.seed,
    };
    let shown = args.out.display();
    let file = std::fs::File::create(&args.out).with_context(|| format!("{shown}: cannot create the file"))?;
    let mut out = BufWriter::new(file);
    let pgn = args.out.extension().is_some_and(|ending| ending == "pgn");
    for index in 0..options.games {
        if index > 0 && !pgn {
            out.write_all(b"/\n")?;
        }
        let text = if pgn { generate::pgn(&options, index)? } else { generate::csa(&options, index)? };
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    eprintln!("note: {} games with seed {} in {shown}", options.games, options.seed);
    Ok(ExitCode::SUCCESS)
}

fn scripted_engine(args: &ScriptedArgs) -> anyhow::Result<ExitCode> {
    let script = Script {
        game: args.game,
        name: args.name.clone(),
        seed: args.seed,
        prefer: args.prefer.clone(),
        score: args.score.clone(),
        think: Duration::from_millis(args.think_ms),
        faults: args.fault.clone(),
        lines: args.lines,
        repeatable: args.repeatable,
        stamps: args.stamps.clone(),
    };
    scripted::play(&script, std::io::stdin(), std::io::stdout())?;
    Ok(ExitCode::SUCCESS)
}

fn torture(args: &TortureArgs) -> anyhow::Result<ExitCode> {
    let options = TortureOptions {
        program: std::env::current_exe().context("cannot find this program")?,
        game: args.game,
        games: args.games,
        moves: args.moves,
        seed: args.seed,
        time: Duration::from_millis(args.time_ms),
        rate: args.rate,
    };
    let report = torture::torture(&options)?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(ExitCode::from(u8::from(!report.is_clean())))
}
