//! `evalcurve play`: engines and councils against each other.

use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::files::shown;
use super::match_stats::two_numbers;
use super::options::{LanguageArgs, OutputArgs};
use super::{Done, terminal};
use crate::language::Language;
use crate::match_stats::SprtOptions;
use crate::play::{self, RunOptions, SprtBounds, Standings, Tournament};
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
      stop as soon as a sequential test of Elo 0 against 5 decides
  evalcurve match-stats examples/tournament-games/results.csv
      the statistics again; evalcurve calibrate examples/tournament-games uses the scores

docs/play.md describes the tournament file, the rules and the records.")]
pub(super) struct Args {
    /// The tournament (TOML)
    #[arg(value_name = "TOURNAMENT")]
    tournament: PathBuf,

    /// The folder of records and results [default: TOURNAMENT without .toml and with -games]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Pairs of games of every two engines, instead of the number in the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pairs: Option<u32>,

    /// Games at the same time [default: as in the file, else one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: Option<u16>,

    /// Stop when a sequential test of Elo ELO0 (not better) against ELO1 (better) decides
    #[arg(long, value_name = "ELO0:ELO1", value_parser = two_numbers, allow_hyphen_values = true)]
    sprt: Option<(f64, f64)>,

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
    tournament.pairs = args.pairs.unwrap_or(tournament.pairs);
    if let Some((elo0, elo1)) = args.sprt {
        SprtOptions::new(elo0, elo1).check()?;
        let known = tournament.sprt.unwrap_or(SprtBounds { elo0, elo1, alpha: 0.05, beta: 0.05, normalized: false });
        tournament.sprt = Some(SprtBounds { elo0, elo1, ..known });
    }
    let folder = args.out.clone().unwrap_or_else(|| beside(&args.tournament));
    crate::usi::stop_engines_on_signals()?;
    let options =
        RunOptions { concurrency: args.concurrency.map(usize::from), restart: args.force, most_crashes: None };
    let language = args.language.chosen();
    let standings = watch(&tournament, &folder, &options, args.output.is_quiet(), language)?;
    let text = || tournament_text(&tournament, &standings, &folder, language);
    args.output.print(|| rounded(document(&tournament, &standings, &folder)), text)?;
    Ok(Done::Yes)
}

/// Plays a tournament with the table of the games so far on a terminal.
pub(super) fn watch(
    tournament: &Tournament,
    folder: &Path,
    options: &RunOptions,
    quiet: bool,
    language: Language,
) -> anyhow::Result<Standings> {
    let mut live = Live::new(quiet, language);
    let standings = play::run(tournament, folder, options, |standings, problems| {
        if !quiet {
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

fn tournament_text(tournament: &Tournament, standings: &Standings, folder: &Path, language: Language) -> String {
    let results = tournament::results(tournament, standings);
    let head = terminal::heading(&tournament::head(language));
    let mut text = format!("{head}\n{}", tournament::rows(&results, language));
    text += &tournament::tests(tournament, standings, &results, LEVEL, language);
    text += &tournament::faults(tournament, standings, language);
    let (played, planned, folder) = (standings.games, standings.planned, shown(folder));
    text + &match played > planned {
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

/// The table of the games so far on a terminal.
struct Live {
    bar: ProgressBar,
    language: Language,
    started_with: Option<u64>,
}

impl Live {
    fn new(quiet: bool, language: Language) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        let counts = language.word("{pos}/{len} games, eta {eta}");
        if let Ok(style) = ProgressStyle::with_template(&format!("{{msg}}\n{{bar:30}} {counts}")) {
            bar.set_style(style);
        }
        Self { bar, language, started_with: None }
    }

    fn show(&mut self, tournament: &Tournament, standings: &Standings) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_length(standings.planned.max(standings.games));
        if self.started_with.is_none() {
            // games of an earlier run say nothing about the speed of this one
            self.started_with = Some(standings.games);
            self.bar.reset_eta();
        }
        let results = tournament::results(tournament, standings);
        let table = format!("{}\n{}", tournament::head(self.language), tournament::rows(&results, self.language));
        let width = terminal::width();
        let lines = table.lines().map(|line| line.chars().take(width).collect::<String>());
        self.bar.set_message(lines.collect::<Vec<_>>().join("\n"));
        self.bar.set_position(standings.games);
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
