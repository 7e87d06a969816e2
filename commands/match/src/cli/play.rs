//! `evalcurve play`: engines and councils against each other.

use std::path::{Path, PathBuf};

use evalcurve_app::Error;
use evalcurve_app::cli::files::shown;
use evalcurve_app::cli::options::{LanguageArgs, OutputArgs, one_of};
use evalcurve_app::cli::{Done, Heading, PlayMembers, Program, Subcommand, terminal};
use evalcurve_app::report::json::rounded;
use evalcurve_engine::{ConfigText, Game, VotedGame};
use evalcurve_words::language::Language;
use evalcurve_words::{key, say};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::play_words::{Bounds, Copy, Words, bounds};
use crate::match_stats::{Decision, EloModel, SprtOptions};
use crate::report::{matches, tournament};
use crate::{Encounter, Processors, RunOptions, Standings, Tournament, estimate, extension, positions};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve play examples/tournament.toml
      play the engines of the file, and print Elo with intervals; records and results are in \
examples/tournament-games
  evalcurve play examples/tournament.toml
      the same command again plays what is missing after Ctrl-C
  evalcurve play test.toml --sprt 0:5 --concurrency 8
      play until a sequential test of Elo 0 against 5 decides
  evalcurve play --engine cmd=./new name=new --engine cmd=./old name=old --each tc=10+0.1 option.Hash=16 \
--openings file=book.epd order=random --rounds 100 --resign score=600 movecount=3 --pgnout file=games.pgn
      without a file, in the words of fastchess, whose commands also run as they are
  evalcurve match-stats examples/tournament-games/results.csv
      the statistics again; evalcurve calibrate examples/tournament-games uses the scores

Exit codes: 0 all games are played, or the test accepted H1 (more than ELO0); 1 it accepted H0 (less than ELO1); 3 \
it is undecided, for the games of --pairs are played; 2 errors in usage, input or output. docs/play.md describes the \
tournament file, the rules and the records.")]
pub struct Args {
    /// The tournament (TOML)
    #[arg(value_name = "TOURNAMENT")]
    file: Option<PathBuf>,

    /// The folder of records and results [default: TOURNAMENT, or the file of --pgnout, without its ending and with
    /// -games; else play-games]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Pairs of games of every two engines, instead of the number in the file [default: 50; with a test, until it
    /// decides]
    #[arg(long, value_name = "N", alias = "rounds", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pairs: Option<u32>,

    /// Games at the same time [default: as in the file, else one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: Option<u16>,

    /// Bind the engines of each game to a processor of this list, such as 0,2,5-7 (Linux) [default: all of them]
    #[arg(long, value_name = "LIST", alias = "use-affinity", num_args = 0..=1, default_missing_value = "",
          hide_short_help = true)]
    affinity: Option<String>,

    /// Stop when a sequential test of ELO0 (not better) against ELO1 (better) decides; or in words: elo0=0 elo1=5
    /// alpha=0.05 beta=0.05 model=normalized
    #[arg(long, value_name = "ELO0:ELO1", value_parser = bounds, allow_hyphen_values = true)]
    sprt: Option<Bounds>,

    /// The Elo of the bounds of --sprt [default: as in the file, else logistic; in words normalized]
    #[arg(long, value_name = "MODEL", value_parser = one_of::<EloModel>(), requires = "sprt", hide_short_help = true)]
    elo_model: Option<EloModel>,

    /// Delete the games that are in the folder, and start again
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    words: Words,

    /// Where the table of the games so far is not shown on a terminal, print it after every N pairs; 0 for never
    #[arg(long, value_name = "N", default_value_t = 10, alias = "ratinginterval")]
    #[arg(help_heading = "Output", hide_short_help = true)]
    report_every: u64,

    #[command(flatten)]
    language: LanguageArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// The level of the tests between engines that met the same opponent, before correction.
const LEVEL: f64 = 0.05;

impl Subcommand for Args {
    const NAME: &'static str = "play";
    const ABOUT: &'static str = key!("Play engines and councils against each other");
    const HEADING: Heading = Heading::Play;
    // the configuration, or the tournament and its games
    const WRITES_INTO_INPUT: bool = true;

    fn run(&self, program: &Program) -> anyhow::Result<Done> {
        let copy = self.words.copy()?;
        let tournament = self.tournament(program)?;
        let folder = self.out.clone().unwrap_or_else(|| match (&self.file, &copy) {
            (Some(file), _) => beside(file),
            (None, Some(copy)) => beside(&copy.file),
            (None, None) => PathBuf::from("play-games"),
        });
        evalcurve_engine::usi::stop_engines_on_signals_and(terminal::last_words)?;
        let append_to = copy.as_ref().filter(|copy| copy.append).map(|copy| copy.file.clone());
        let options = RunOptions { restart: self.force, append_to, ..RunOptions::default() };
        let language = self.language.chosen();
        let live = Live::new(self, language);
        let standings = watch(&tournament, &folder, &options, live)?;
        if let Some(Copy { file, .. }) = copy.filter(|copy| !copy.append) {
            let records = folder.join(format!("games.{}", extension(tournament.game)));
            let text =
                std::fs::read(&records).map_err(|source| Error::File { what: shown(&records).into(), source })?;
            evalcurve_words::whole_file::write(&file, &text)?;
        }
        let text = || standings_text(&tournament, &standings, &folder, true, language);
        self.output.print(|| rounded(document(&tournament, &standings, &folder)), text)?;
        Ok(done(&tournament, &standings))
    }

    fn has_engines(&self) -> bool {
        true
    }
}

impl Args {
    /// The tournament of the file or of the options, with what the options change.
    fn tournament(&self, program: &Program) -> anyhow::Result<Tournament> {
        let mut tournament = match &self.file {
            Some(file) => Tournament::read(file, program.services.read_council)?,
            None => self.words.tournament(program.services.read_council)?,
        };
        if let Some(pairs) = self.pairs {
            (tournament.pairs, tournament.pairs_given) = (pairs, true);
        }
        if let Some(Bounds { elo: (elo0, elo1), errors: [alpha, beta], model }) = self.sprt {
            let model_of = |known: EloModel| self.elo_model.or(model).unwrap_or(known);
            let known = tournament.sprt.unwrap_or(SprtOptions::new(elo0, elo1));
            let (alpha, beta) = (alpha.unwrap_or(known.alpha), beta.unwrap_or(known.beta));
            let bounds = SprtOptions { elo0, elo1, alpha, beta, model: model_of(known.model) };
            bounds.check()?;
            tournament.sprt = Some(bounds);
        }
        tournament.concurrency = self.concurrency.map(usize::from).or(tournament.concurrency);
        if let Some(list) = &self.affinity {
            let last = std::thread::available_parallelism().map_or(0, |count| count.get() - 1);
            let list = if list.is_empty() { format!("0-{last}") } else { list.clone() };
            tournament.affinity = Some(Processors::try_from(list).map_err(anyhow::Error::msg)?);
        }
        if let Some(problem) = tournament.affinity_problem() {
            anyhow::bail!(problem);
        }
        Ok(tournament)
    }
}

/// The end of the sequential test, if there is one.
fn done(tournament: &Tournament, standings: &Standings) -> Done {
    let decision = |encounter: &Encounter| encounter.sprt.filter(|_| encounter.decided_after.is_some());
    let decisions: Vec<Option<Decision>> =
        standings.encounters.iter().map(|encounter| decision(encounter).map(|test| test.decision)).collect();
    match tournament.sprt {
        Some(_) if decisions.contains(&None) => Done::CannotTell,
        Some(_) if decisions.contains(&Some(Decision::AcceptH0)) => Done::Nothing,
        _ => Done::Yes,
    }
}

/// Pairs between two reports of games where no terminal shows them.
const REPORT_EVERY: u64 = 10;

/// Games in a row in which one member of a council may crash.
const MOST_CRASHES: u32 = 2;

/// What [`Services::play_members`](evalcurve_app::cli::Services::play_members) does.
///
/// # Errors
/// Engines that cannot play, and files that cannot be written.
pub fn play_members(wanted: &PlayMembers<'_>) -> anyhow::Result<PathBuf> {
    let PlayMembers { config, engines, game, pairs, games, force, language } = *wanted;
    let name = format!("members of {}", shown(config));
    let tournament = Tournament { name, game, pairs, engines: engines.to_vec(), ..Tournament::default() };
    let tournament = tournament.checked(&ConfigText::open(config)?)?;
    let options = RunOptions { restart: force, most_crashes: Some(MOST_CRASHES), ..RunOptions::default() };
    let minutes = estimate(&tournament)?.as_secs().div_ceil(60);
    let count = 2 * u64::from(pairs) * tournament.encounters().len() as u64;
    terminal::note(&say!(language, "{count} games take about {minutes} min; after Ctrl-C, the same command goes on"));
    let command = format!("evalcurve council {} --prepare --by-playing", shown(config));
    watch(&tournament, games, &options, Live::of(false, REPORT_EVERY, command, language))?;
    Ok(games.join(format!("games.{}", extension(game))))
}

/// What [`Services::read_positions`](evalcurve_app::cli::Services::read_positions) does.
///
/// # Errors
/// The file cannot be read, or has no position.
pub fn read_positions(game: Game, file: &Path, plies: &[u32]) -> anyhow::Result<(Vec<VotedGame>, Vec<String>)> {
    Ok(positions(game, file, plies)?)
}

/// Plays a tournament with the table of the games so far on a terminal.
pub(super) fn watch(
    tournament: &Tournament,
    folder: &Path,
    options: &RunOptions,
    mut live: Live,
) -> anyhow::Result<Standings> {
    let standings = crate::run(tournament, folder, options, |standings, problems| {
        if !live.quiet {
            problems.iter().take(MOST_PROBLEMS).for_each(|problem| terminal::warning(problem));
        }
        live.show(tournament, standings);
    });
    live.end();
    Ok(standings?)
}

/// Problems of openings that are printed.
const MOST_PROBLEMS: usize = 5;

/// The folder beside a tournament file.
fn beside(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-games"))
}

/// The table, with tests between the engines or without.
pub(super) fn standings_text(
    tournament: &Tournament,
    standings: &Standings,
    folder: &Path,
    tests: bool,
    language: Language,
) -> String {
    let (results, width) = (tournament::results(tournament, standings), terminal::table_width());
    let mut text = tournament::rows(&results, width, language);
    if tests {
        text += &tournament::tests(tournament, standings, &results, LEVEL, width, language);
    }
    text += &matches::times(&results.encounters, language);
    text += &tournament::faults(tournament, standings, language);
    let (played, planned, folder) = (standings.games, standings.planned, shown(folder));
    text + &match played > planned || tournament.is_unbounded() {
        // --pairs is smaller than in an earlier run
        true => say!(language, "{played} games in {folder}\n"),
        false => say!(language, "{played} of {planned} games in {folder}\n"),
    }
}

fn document(tournament: &Tournament, standings: &Standings, folder: &Path) -> Value {
    let results = tournament::results(tournament, standings);
    let mut document = tournament::document(tournament, standings, &results, LEVEL);
    document["folder"] = json!(shown(folder));
    document
}

/// The table of the games so far on a terminal; else after every some pairs.
pub(super) struct Live {
    bar: ProgressBar,
    language: Language,
    quiet: bool,
    /// Pairs between two reports without a terminal.
    every: u64,
    /// The command that goes on.
    command: String,
    started_with: Option<u64>,
}

impl Live {
    fn new(args: &Args, language: Language) -> Self {
        let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
        let quoted = |argument: String| if argument.contains(' ') { format!("\"{argument}\"") } else { argument };
        let command = arguments.filter(|argument| argument != "--force").map(quoted).collect::<Vec<_>>().join(" ");
        Self::of(args.output.is_quiet(), args.report_every, format!("evalcurve {command}"), language)
    }

    /// A table that says how to go on after Ctrl-C.
    pub(super) fn of(quiet: bool, every: u64, command: String, language: Language) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let counts = language.word("{pos}/{len} games, eta {eta}");
        if let Ok(style) = ProgressStyle::with_template(&format!("{{msg}}\n{{bar:30}} {counts}")) {
            bar.set_style(style);
        }
        Self { bar, language, quiet, every, command, started_with: None }
    }

    fn show(&mut self, tournament: &Tournament, standings: &Standings) {
        if self.quiet {
            return;
        }
        let (width, language) = (terminal::width(), self.language);
        let table = tournament::short_rows(tournament, standings, width, language);
        let (games, command) = (standings.games, &self.command);
        let on = say!(language, "{games} games are stored; the same command goes on: {command}");
        terminal::set_last_words(format!("\n{table}{on}\n"));
        let begun = self.started_with.is_none();
        // games of an earlier run say nothing about the speed of this one
        let before = *self.started_with.get_or_insert(games);
        if self.bar.is_hidden() {
            if games > before && self.every > 0 && (games / 2).is_multiple_of(self.every) {
                terminal::report(&table);
            }
            return;
        }
        self.bar.set_length(if tournament.is_unbounded() { games } else { standings.planned.max(games) });
        if begun {
            self.bar.reset_eta();
        }
        self.bar.set_message(table.trim_end().to_owned());
        self.bar.set_position(games);
    }

    fn end(&self) {
        terminal::set_last_words(String::new());
        self.bar.finish_and_clear();
    }
}
