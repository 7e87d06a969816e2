//! `evalcurve council`: an engine that consists of several engines.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use evalcurve_app::cli::files::shown;
use evalcurve_app::cli::messages::About;
use evalcurve_app::cli::options::{LanguageArgs, percent};
use evalcurve_app::cli::terminal::last_words;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_engine::usi::stop_engines_on_signals_and;
use evalcurve_engine::{EngineConfig, Failure, Game, VotedGame};
use evalcurve_rules::log::Log;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{key, say, text};
use indicatif::{ProgressBar, ProgressDrawTarget};

use super::council_prepare as prepare;
use super::council_prepare::By;
use crate::{Config, Grade};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve council shogi.toml
      a USI engine; docs/gui.md says how a GUI registers it
  evalcurve council shogi.toml --check
      start every member once, report what does not fit, and exit
  evalcurve council chess.toml --init --game chess \"ethereal-chess\" \"glaurung\" \"toga2\"
      write a first configuration of these engines
  evalcurve council chess.toml --prepare
      let the members score positions that the program has, calibrate them, and check the council
  evalcurve council chess.toml --prepare --by-playing
      calibrate them by games against each other instead
  evalcurve council chess.toml --prepare --does-it-pay
      does it beat its members with the same time? --check repeats the verdict
  evalcurve council chess.toml --positions games.pgn --plies 30,60
      let the council vote on the positions after 30 and 60 plies; replay reads its vote log
  evalcurve < commands.txt
      without arguments or terminal: the council or proxy of evalcurve.toml beside the program

Exit codes: 0 success; 1 --init, --check or --prepare found an error in a member, or no member voted with --positions; \
2 errors in usage, input or output, among them a vote log that could not be written; 3 cannot tell.

docs/council.md describes the configuration, time management, faults and scores.")]
pub struct Args {
    /// The configuration file (TOML)
    #[arg(value_name = "CONFIG")]
    config: PathBuf,

    /// Start the members, check everything, and exit
    #[arg(long)]
    check: bool,

    /// Write a first configuration of the engines in COMMAND, each with the first limit that it obeys
    #[arg(long, conflicts_with_all = ["check", "prepare"], requires = "commands", group = "writes")]
    init: bool,

    /// Let the members score the same positions at their limits, calibrate them together, write the calibration files
    /// and their paths, and check the council
    #[arg(long, conflicts_with = "check", group = "writes")]
    prepare: bool,

    /// Vote on the positions of a file without playing: SFEN, moves, FEN or EPD, one per line, or PGN, KIF or CSA,
    /// one per game; the decisions go to the vote log of the configuration
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "init", "prepare"])]
    positions: Option<PathBuf>,

    /// Vote after these numbers of moves of each line or game of --positions, for example 20,40,60; without it, and if
    /// the line has fewer moves than each of these, at its end
    #[arg(long, value_name = "PLIES,…", requires = "positions", value_delimiter = ',')]
    plies: Vec<u32>,

    /// Milliseconds per position of --positions, if a member has no limit of its own
    #[arg(long, value_name = "MS", requires = "positions", value_parser = clap::value_parser!(u64).range(1..),
          hide_short_help = true)]
    movetime: Option<u64>,

    /// The engines for --init: one quoted string per engine, with its arguments; if the path has blanks and arguments
    /// follow, put the path in double quotes inside: '"my engines/engine" --option'
    #[arg(value_name = "COMMAND", requires = "init")]
    commands: Vec<String>,

    /// The game for --init
    #[arg(long, value_name = "GAME", default_value = "shogi", value_parser = game, requires = "init")]
    game: Game,

    /// With --prepare, stop when every constant is known within this share [default: 10%]
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "prepare", conflicts_with = "by_playing",
          hide_short_help = true)]
    target: Option<f64>,

    /// With --prepare, let the members play each other, instead of scoring positions
    #[arg(long, requires = "prepare")]
    by_playing: bool,

    /// After --prepare, learn weights from MEMBER with ten times its limit
    #[arg(long, value_name = "MEMBER", requires = "prepare")]
    teach: Option<String>,

    /// After --prepare, play the council against its members, with their own limits and with its time, N pairs of games
    /// each [default: 20]
    #[arg(long, value_name = "N", requires = "prepare", num_args = 0..=1, default_missing_value = "20",
          value_parser = clap::value_parser!(u32).range(10..=100_000), hide_short_help = true)]
    does_it_pay: Option<u32>,

    /// Pairs of games of every two members for --by-playing
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..),
          requires = "by_playing", hide_short_help = true)]
    pairs: u32,

    /// With --init, replace the file; with --prepare, drop the scores or games of an earlier run, and start again
    #[arg(long, requires = "writes")]
    force: bool,

    #[command(flatten)]
    language: LanguageArgs,
}

fn game(name: &str) -> Result<Game, Text> {
    name.parse().map_err(|_| text!("write shogi, minishogi or chess"))
}

impl Subcommand for Args {
    const NAME: &'static str = "council";
    const ABOUT: &'static str = key!("Run several engines as one engine (USI or UCI)");
    const HEADING: Heading = Heading::Play;
    // the configuration, or the tournament and its games
    const WRITES_INTO_INPUT: bool = true;

    fn run(&self, program: &Program) -> anyhow::Result<Done> {
        let language = self.language.chosen();
        if self.init {
            return prepare::init(&self.config, self.game, &self.commands, self.force, language);
        }
        stop_engines_on_signals_and(last_words)?;
        if self.prepare {
            let by =
                if self.by_playing { By::Games { pairs: self.pairs } } else { By::Positions { target: self.target } };
            prepare::prepare(program, &self.config, by, self.force, language)?;
            if let Some(member) = &self.teach {
                prepare::teach(program, &self.config, member, self.force, language)?;
            }
        }
        let config = Config::read(&self.config)?;
        if self.check || self.prepare {
            let findings = crate::check(&config);
            for finding in &findings {
                let text = format!("{}: {}", finding.engine, finding.text.text(language));
                match finding.grade {
                    Grade::Good => terminal::print(&format!("{text}\n"))?,
                    Grade::Warning => terminal::warning(&text),
                    Grade::Error => terminal::error(&text),
                }
            }
            if findings.iter().any(|f| f.grade == Grade::Error) {
                return Ok(Done::Nothing);
            }
            if let Some(pairs) = self.does_it_pay {
                let done = program.does_it_pay(&self.config, Some(pairs), self.force, language)?;
                return Ok(done.unwrap_or(Done::CannotTell));
            }
            return Ok(program.does_it_pay(&self.config, None, false, language)?.unwrap_or(Done::Yes));
        }
        if let Some(file) = &self.positions {
            return vote_on(self, program, &config, file);
        }
        crate::run(config, std::io::stdin(), std::io::stdout())?;
        Ok(Done::Yes)
    }

    fn has_engines(&self) -> bool {
        true
    }
}

/// How long a council may take to get ready.
const PATIENCE: Duration = Duration::from_secs(600);

/// Votes on the positions of a file. This program is the council, in a process of its own.
fn vote_on(args: &Args, program: &Program, config: &Config, file: &Path) -> anyhow::Result<Done> {
    let language = args.language.chosen();
    let Some(log) = &config.log else {
        bail!(text!(
            "{}: there is no vote log; write log = \"votes.jsonl\" above the first [[engine]]",
            shown(&args.config)
        ));
    };
    if args.movetime.is_none() && config.engines.iter().any(|engine| engine.limit.is_none()) {
        bail!(text!("a member has no limit of its own; give the time per position by --movetime MS"));
    }
    let movetime = args.movetime.map(Duration::from_millis);
    let (games, problems) = (program.services.read_positions)(config.game, file, &args.plies)?;
    problems.iter().take(PROBLEMS).for_each(|problem| terminal::warning(problem));
    if problems.len() > PROBLEMS {
        let more = problems.len() - PROBLEMS;
        let text = say!(language, "{more} more lines or games were not used");
        terminal::note(&text);
    }
    let count: usize = games.iter().map(|game| game.positions.len()).sum();
    let (done, voted) = votes(&args.config, config, &games, movetime, language)?;
    let (games, not_used) = (games.len(), problems.len());
    terminal::print(&say!(
        language,
        "{done} of {count} positions voted on, of {games} games or lines; not used: {not_used}; evalcurve replay {}\n",
        shown(log)
    ))?;
    voted?;
    let without = without_votes(log, done as usize)?;
    if without > 0 {
        terminal::warning(&say!(
            language,
            "no member voted on {without} of {done} positions; to see why: evalcurve council {} --check",
            shown(&args.config)
        ));
    }
    Ok(if done > 0 && without as u64 == done { Done::Nothing } else { Done::Yes })
}

/// Positions that tell how long all of them take.
const TRIAL: u64 = 8;

/// Lets the council of a file vote on positions, and says after a few how long all of them take. Returns how many it
/// voted on, and why it stopped before the last one.
///
/// # Errors
/// The council cannot be started, or its vote log does not hold what it voted, as on a full disk.
pub(super) fn votes(
    path: &Path,
    config: &Config,
    games: &[VotedGame],
    movetime: Option<Duration>,
    language: Language,
) -> anyhow::Result<(u64, Result<(), Failure>)> {
    let longest = Duration::from_millis(config.time.longest_ms);
    let count: usize = games.iter().map(|game| game.positions.len()).sum();
    let council = EngineConfig::of_council(path, config.as_player(), PATIENCE)?;
    let logged = || -> anyhow::Result<u64> {
        match &config.log {
            Some(log) if log.exists() => Ok(read_log(log)?.decisions() as u64),
            _ => Ok(0),
        }
    };
    let before = logged()?;
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
    let since = Instant::now();
    let voted = crate::vote(&council, config.game, games, movetime, longest, || {
        bar.inc(1);
        if bar.position() == TRIAL && count as u64 > TRIAL {
            let minutes = (since.elapsed().as_secs_f64() / TRIAL as f64 * count as f64 / 60.0).ceil();
            bar.suspend(|| {
                terminal::note(&say!(language, "the council votes on {count} positions, about {minutes:.0} min"))
            });
        }
    });
    let done = bar.position();
    bar.finish_and_clear();
    let kept = logged()?.saturating_sub(before);
    if let Some(log) = config.log.as_ref().filter(|_| voted.is_ok() && kept < done) {
        bail!(text!(
            "{}: only {kept} of {done} votes could be written; free space on the disk, and vote on the others",
            shown(log)
        ));
    }
    Ok((done, voted))
}

/// A vote log; an error names the file.
pub(super) fn read_log(path: &Path) -> anyhow::Result<Log> {
    Log::read(path).about(|| text!("{}: cannot read the vote log", shown(path)))
}

/// How many of the last decisions of a vote log are without a vote.
pub(super) fn without_votes(log: &Path, decisions: usize) -> anyhow::Result<usize> {
    let read = read_log(log)?;
    let lines: Vec<_> = read.sessions.iter().flat_map(|session| &session.decisions).collect();
    Ok(lines.iter().rev().take(decisions).filter(|(_, line)| line.decision.is_none()).count())
}

/// Problems of the file of positions that are printed.
const PROBLEMS: usize = 3;
