//! The test tools as a program: `evalcurve-testkit generate | scripted-engine | minishogi-engine | torture | faults |
//! signals | council`.

use std::io::{BufWriter, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Parser, Subcommand};
use evalcurve_council::Config;
use evalcurve_engine::Game;
use evalcurve_fit::fit::FitOptions;
use evalcurve_testkit::attack::{self, Attack, Draws};
use evalcurve_testkit::faults::{self, FaultOptions};
use evalcurve_testkit::generate::{self, GenerateOptions, Truth};
use evalcurve_testkit::minishogi::{Engine, Values};
use evalcurve_testkit::odd::{self, OddOptions};
use evalcurve_testkit::odd_values;
use evalcurve_testkit::scripted::{self, Fault, Script};
use evalcurve_testkit::signals;
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
    /// Simulate games of known truth with what deceives a calibration, and count which intervals hold it
    Attack(AttackArgs),
    /// Run a scripted engine with faults on demand
    ScriptedEngine(ScriptedArgs),
    /// Run an engine for 5x5 shogi with the piece values of Hanawa and Ito (2009)
    MinishogiEngine {
        /// The piece values
        #[arg(long, default_value = "own")]
        values: Values,

        /// Search captures beyond the depth
        #[arg(long)]
        captures: bool,

        /// Plies to search where `go` gives no depth
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
        depth: u32,
    },
    /// Play games against councils whose members fail at random
    Torture(TortureArgs),
    /// Let every call of a command that reads or writes a file fail, or kill the command there (Linux)
    Faults(FaultArgs),
    /// Let commands compute from valid inputs with odd contents, and look for what must not come out
    Odd(OddArgs),
    /// Kill councils by signals and look for what survives (Linux)
    Signals(SignalArgs),
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

    /// Players, each one of the engines under its own name, whose opponents are drawn; 0: the engines play in pairs
    #[arg(long, default_value_t = 0)]
    players: u64,

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
struct AttackArgs {
    /// Engines
    #[arg(long, default_value_t = 8)]
    engines: usize,

    /// Games of each engine
    #[arg(long, default_value_t = 200)]
    games: u32,

    /// Centipawns to a logit of the first engine over those of the others
    #[arg(long, default_value_t = 1.0)]
    factor: f64,

    /// Log-normal standard deviation of the others' scales
    #[arg(long, default_value_t = 0.0)]
    spread: f64,

    /// Own noise of the first engine; the others have 0.3
    #[arg(long, default_value_t = 0.3)]
    own_noise: f64,

    /// Ratings, strengths of standard deviation 0.5, optimism 0.3, 2% of the results by a coin
    #[arg(long)]
    rated: bool,

    /// Engines, the last ones, that meet only each other, on a scale ten times as wide
    #[arg(long, default_value_t = 0)]
    strangers: usize,

    /// Games of each stranger
    #[arg(long, default_value_t = 30)]
    stranger_games: u32,

    /// Share of the games of the first engine in which its sign is inverted
    #[arg(long, default_value_t = 0.0)]
    inverted: f64,

    /// Only its games as White count for that share
    #[arg(long)]
    inverted_as_white: bool,

    /// How often each game is recorded
    #[arg(long, default_value_t = 1)]
    copies: u32,

    /// The scores of the first engine are noise
    #[arg(long)]
    noise: bool,

    /// End games as won when both scores are beyond this
    #[arg(long, value_name = "CP")]
    adjudicated: Option<f64>,

    /// Draws at even positions; the expected result stays a sigmoid
    #[arg(long, default_value_t = 0.0, conflicts_with = "draws_within")]
    draws: f64,

    /// Draws where neither side is ahead by so many logits at the end
    #[arg(long, value_name = "LOGITS")]
    draws_within: Option<f64>,

    /// Share of the games that are drawn whatever the score
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["draws", "draws_within"])]
    draws_anywhere: Option<f64>,

    /// Cut scores to this size
    #[arg(long, value_name = "CP")]
    clip: Option<f64>,

    /// The first engine writes pawns
    #[arg(long)]
    pawns: bool,

    /// Show how often an engine's own games contradict the joint fit
    #[arg(long)]
    conflicts: bool,

    /// Write the first data set to this file as a table, and fit nothing
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Data sets
    #[arg(long, default_value_t = 100)]
    sets: u64,

    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
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

    /// Its score: centipawns, "mate 5", or "material"
    #[arg(long, allow_hyphen_values = true)]
    score: Option<String>,

    /// Search time in milliseconds
    #[arg(long, default_value_t = 1)]
    think_ms: u64,

    /// The nodes that it reports, whatever it is asked for
    #[arg(long, default_value_t = 10)]
    nodes: u64,
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
    /// The game: shogi, minishogi or chess
    #[arg(long, default_value = "shogi", value_parser = game)]
    game: Game,

    /// Play Chess960, from its starting positions
    #[arg(long)]
    chess960: bool,

    /// Games
    #[arg(long, default_value_t = 20)]
    games: u64,

    /// Games of each council
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    session_games: u64,

    /// Councils at the same time
    #[arg(long, default_value_t = 1)]
    jobs: usize,

    /// Moves of the council per game
    #[arg(long, default_value_t = 12)]
    moves: u32,

    /// Time per move in milliseconds; a third of it is the margin of the council
    #[arg(long, default_value_t = 450, value_parser = clap::value_parser!(u64).range(30..))]
    time_ms: u64,

    /// Count an answer as late only this many milliseconds after its time, for a machine with other work
    #[arg(long, default_value_t = 0)]
    grace_ms: u64,

    /// The rate of each fault of a member
    #[arg(long, default_value_t = 0.02)]
    rate: f64,

    /// Seed of faults and commands
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-testkit faults --kills 500
      every call of every command fails once, and each command is killed 500 times; exit code 1 if a file was
      neither the old one nor the new one, a message did not name it, or a temporary file remained")]
struct FaultArgs {
    /// The commands, for example calibrate,play; all without it
    #[arg(value_delimiter = ',')]
    commands: Vec<String>,

    /// The program evalcurve; without it, the one beside this program
    #[arg(long)]
    program: Option<PathBuf>,

    /// Let one in so many calls fail
    #[arg(long, default_value_t = 1)]
    every: u64,

    /// Kills of each command
    #[arg(long, default_value_t = 0)]
    kills: u64,
}

#[derive(Debug, clap::Args)]
struct OddArgs {
    /// The program evalcurve; without it, the one beside this program
    #[arg(long)]
    program: Option<PathBuf>,

    /// Instead, compute from odd values in this process, so many times at least
    #[arg(long)]
    executions: Option<u64>,

    /// Inputs
    #[arg(long, default_value_t = 100)]
    cases: u64,

    /// The most engines of an input
    #[arg(long, default_value_t = 1_000)]
    engines: usize,

    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Folder for inputs and outputs; those of a case with a problem stay
    #[arg(long, default_value = "odd")]
    folder: PathBuf,
}

#[derive(Debug, clap::Args)]
struct SignalArgs {
    /// Councils for each of the signals 1, 2, 9 and 15
    #[arg(long, default_value_t = 10)]
    runs: u64,
}

fn game(name: &str) -> Result<Game, String> {
    name.parse().map_err(|_| "write shogi, minishogi or chess".to_owned())
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
        Command::Attack(args) => attack(&args),
        Command::ScriptedEngine(args) => scripted_engine(&args),
        Command::MinishogiEngine { values, captures, depth } => {
            Engine { values, captures, depth }.run(stdin().lock(), stdout().lock())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Torture(args) => torture(&args),
        Command::Faults(args) => faults(args),
        Command::Odd(args) => odd(args),
        Command::Signals(args) => signals(&args),
        Command::Council { config } => {
            evalcurve_engine::usi::stop_engines_on_signals()?;
            evalcurve_council::run(Config::read(&config)?, stdin(), stdout())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn odd(args: OddArgs) -> anyhow::Result<ExitCode> {
    let beside = std::env::current_exe()?.with_file_name(format!("evalcurve{}", std::env::consts::EXE_SUFFIX));
    let OddArgs { program, executions, cases, engines, seed, folder } = args;
    if let Some(executions) = executions {
        let report = odd_values::run(seed, executions);
        println!("{}", serde_json::to_string_pretty(&report)?);
        return Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let program = std::path::absolute(program.unwrap_or(beside))?;
    let testkit = std::env::current_exe()?;
    let report = odd::run(&OddOptions { program, testkit, seed, cases, engines: engines.max(1), folder })?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write_games(args: &GenerateArgs) -> anyhow::Result<ExitCode> {
    if args.out.exists() && !args.force {
        bail!("{} exists: give --force to replace it", args.out.display());
    }
    let options = GenerateOptions {
        engines: args.engine.clone(),
        players: args.players,
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

fn attack(args: &AttackArgs) -> anyhow::Result<ExitCode> {
    let mut attack = Attack::clean(args.engines, args.games, args.seed);
    let n = attack.engines.len() as f64;
    for (i, engine) in attack.engines.iter_mut().enumerate() {
        let place = if n > 1.0 { 2.0 * i as f64 / (n - 1.0) - 1.0 } else { 0.0 };
        if i > 0 {
            engine.constant *= libm::exp(1.7 * args.spread * place);
        }
        if args.rated {
            engine.strength = 0.85 * place;
        }
    }
    if args.rated {
        (attack.rated, attack.optimism, attack.coin) = (true, 0.3, 0.02);
    }
    if let Some(first) = attack.engines.first_mut() {
        first.constant *= args.factor;
        first.noise = args.own_noise;
    }
    for engine in attack.engines.iter_mut().rev().take(args.strangers) {
        engine.constant *= 10.0;
        engine.pool = 1;
    }
    attack.games_of_others = args.stranger_games;
    (attack.inverted, attack.copies, attack.noise) = (args.inverted, args.copies, args.noise);
    attack.inverted_as_white = args.inverted_as_white;
    (attack.adjudicated, attack.clip, attack.pawns) = (args.adjudicated, args.clip, args.pawns);
    attack.draws = match (args.draws_within, args.draws_anywhere) {
        (Some(logits), _) => Draws::Within(logits),
        (None, Some(share)) => Draws::Anywhere(share),
        (None, None) => Draws::Even(args.draws),
    };
    if let Some(out) = &args.out {
        let text = attack::csv(&attack.samples(0));
        std::fs::write(out, text).with_context(|| format!("{}: cannot write the file", out.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.conflicts {
        println!("level  first  others");
        for level in [0.05, 0.01, 0.001] {
            let [first, others] = attack::conflicts(&attack, args.sets, &FitOptions::default(), level);
            println!("{level:<5} {:>5.1}% {:>6.1}%", 100.0 * first, 100.0 * others);
        }
        return Ok(ExitCode::SUCCESS);
    }
    println!("engine  constant  estimator            fitted  covers  above  below  median  width    loss");
    for f in attack::coverage(&attack, args.sets, &FitOptions::default()) {
        println!(
            "{:<6} {:>9.0}  {:<19} {:>7} {:>6.1}% {:>6} {:>6} {:>7.3} {:>6.2} {:>7.4}",
            attack::name(f.engine),
            attack.engines[f.engine].constant,
            f.estimator.as_str(),
            f.fitted,
            100.0 * f.held as f64 / f.fitted.max(1) as f64,
            f.beyond[0],
            f.beyond[1],
            f.median,
            f.width,
            f.excess
        );
    }
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
        nodes: args.nodes,
        lines: args.lines,
        repeatable: args.repeatable,
        stamps: args.stamps.clone(),
    };
    scripted::play(&script, stdin(), stdout())?;
    Ok(ExitCode::SUCCESS)
}

fn torture(args: &TortureArgs) -> anyhow::Result<ExitCode> {
    let options = TortureOptions {
        program: std::env::current_exe().context("cannot find this program")?,
        game: if args.chess960 { Game::Chess } else { args.game },
        chess960: args.chess960,
        games: args.games,
        session_games: args.session_games,
        jobs: args.jobs,
        moves: args.moves,
        seed: args.seed,
        time: Duration::from_millis(args.time_ms),
        grace: Duration::from_millis(args.grace_ms),
        rate: args.rate,
    };
    let report = torture::torture(&options)?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(ExitCode::from(u8::from(!report.is_clean())))
}

fn faults(args: FaultArgs) -> anyhow::Result<ExitCode> {
    let testkit = std::env::current_exe().context("cannot find this program")?;
    let beside = testkit.with_file_name(format!("evalcurve{}", std::env::consts::EXE_SUFFIX));
    let program = std::path::absolute(args.program.unwrap_or(beside)).context("the program has no path")?;
    let options = FaultOptions { program, testkit, every: args.every, kills: args.kills, scenes: args.commands };
    let Some(report) = faults::faults(&options)? else { return Ok(ExitCode::SUCCESS) };
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(ExitCode::from(u8::from(report.values().any(|scene| scene.problems > 0))))
}

fn signals(args: &SignalArgs) -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let Some(report) = signals::signals(&program, args.runs)? else { return Ok(ExitCode::SUCCESS) };
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(ExitCode::from(u8::from(report.iter().any(|signal| !signal.is_clean()))))
}
