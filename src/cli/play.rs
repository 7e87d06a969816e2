//! `evalcurve play`: engines and councils against each other.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::files::shown;
use super::match_stats::two_numbers;
use super::options::{LanguageArgs, OutputArgs};
use super::{Done, terminal};
use crate::language::{Language, Text};
use crate::match_stats::{Decision, SprtOptions};
use crate::play::{self, Encounter, RunOptions, SprtBounds, Standings, Tournament};
use crate::report::json::rounded;
use crate::report::tournament;
use crate::say;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve play examples/tournament.toml
      play the engines of the file, and print Elo with intervals; records and results are in \
examples/tournament-games
  evalcurve play examples/tournament.toml
      the same command again plays what is missing after Ctrl-C
  evalcurve play test.toml --sprt 0:5 --concurrency 8
      play until a sequential test of Elo 0 against 5 decides; --normalized for normalised Elo, as fastchess has it
  evalcurve match-stats examples/tournament-games/results.csv
      the statistics again; evalcurve calibrate examples/tournament-games uses the scores

Exit codes: 0 all games are played, or the test accepted H1 (ELO1 or more); 1 it accepted H0 (ELO0 or less); 3 it is \
undecided, for the games of --pairs are played; 2 errors in usage, input or output. docs/play.md describes the \
tournament file, the rules and the records.")]
pub(super) struct Args {
    /// The tournament (TOML)
    #[arg(value_name = "TOURNAMENT")]
    tournament: PathBuf,

    /// The folder of records and results [default: TOURNAMENT without .toml and with -games]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Pairs of games of every two engines, instead of the number in the file [default: 50; with a test, until it
    /// decides]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pairs: Option<u32>,

    /// Games at the same time [default: as in the file, else one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: Option<u16>,

    /// Stop when a sequential test of logistic Elo ELO0 (not better) against ELO1 (better) decides
    #[arg(long, value_name = "ELO0:ELO1", value_parser = two_numbers, allow_hyphen_values = true)]
    sprt: Option<(f64, f64)>,

    /// The bounds of --sprt are normalised Elo
    #[arg(long, requires = "sprt")]
    normalized: bool,

    /// Where the table of the games so far is not shown on a terminal, print it after every N pairs; 0 for never
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    report_every: u64,

    /// Delete the games that are in the folder, and start again
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    language: LanguageArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// The level of the tests between engines that met the same opponent, before correction.
const LEVEL: f64 = 0.05;

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let mut tournament = Tournament::read(&args.tournament)?;
    if let Some(pairs) = args.pairs {
        (tournament.pairs, tournament.pairs_given) = (pairs, true);
    }
    if let Some((elo0, elo1)) = args.sprt {
        SprtOptions::new(elo0, elo1).check()?;
        let known = tournament.sprt.unwrap_or(SprtBounds { elo0, elo1, alpha: 0.05, beta: 0.05, normalized: false });
        tournament.sprt = Some(SprtBounds { elo0, elo1, normalized: known.normalized || args.normalized, ..known });
    }
    let folder = args.out.clone().unwrap_or_else(|| beside(&args.tournament));
    crate::usi::stop_engines_on_signals_and(last_words)?;
    let options =
        RunOptions { concurrency: args.concurrency.map(usize::from), restart: args.force, most_crashes: None };
    let language = args.language.chosen();
    let live = Live::new(args, language);
    let standings = watch(&tournament, &folder, &options, live)?;
    let text = || tournament_text(&tournament, &standings, &folder, language);
    args.output.print(|| rounded(document(&tournament, &standings, &folder)), text)?;
    Ok(done(&tournament, &standings))
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

/// The table of the games so far and how to go on, for a signal that ends this program; empty when there is nothing to
/// say.
static LAST_WORDS: Mutex<String> = Mutex::new(String::new());

pub(super) fn last_words() {
    // a text is valid after a panic elsewhere
    terminal::report(&LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Plays a tournament with the table of the games so far on a terminal.
pub(super) fn watch(
    tournament: &Tournament,
    folder: &Path,
    options: &RunOptions,
    mut live: Live,
) -> anyhow::Result<Standings> {
    let standings = play::run(tournament, folder, options, |standings, problems| {
        if !live.quiet {
            problems
                .iter()
                .take(MOST_PROBLEMS)
                .for_each(|problem| terminal::warning(&Text::error(problem).text(live.language)));
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

fn tournament_text(tournament: &Tournament, standings: &Standings, folder: &Path, language: Language) -> String {
    let results = tournament::results(tournament, standings);
    let head = terminal::heading(&tournament::head(language));
    let mut text = format!("{head}\n{}", tournament::rows(&results, language));
    text += &tournament::tests(tournament, standings, &results, LEVEL, language);
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
        *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = format!("\n{table}{on}\n");
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
        LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.bar.finish_and_clear();
    }
}
