//! `evalcurve analyse`: engines score positions of other people's games.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use evalcurve_app::calibrate::CalibrateOptions;
use evalcurve_app::calibrate::mates::Threshold;
use evalcurve_app::cli::engines::thresholds;
use evalcurve_app::cli::files::{check_replace, make_parent, shown};
use evalcurve_app::cli::options::{LanguageArgs, OutputArgs, formats, games, percent, threshold};
use evalcurve_app::cli::{Done, Heading, Program, ScoreMembers, ScoreRecords, Subcommand, progress, terminal};
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::json::{about_records, rounded};
use evalcurve_app::report::text::{LABEL, estimate as estimate_words, or_dash, reading, thousands, wrap};
use evalcurve_app::shipped::{TARGET, all_positions, enough_positions, shipped};
use evalcurve_app::{Calibrate, FileFormat, Filters, Fitting, Input, Reading, Sample, Sampling, cli};
use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_engine::{EngineConfig, Game, Limit, parse_engine, parse_limit};
use evalcurve_fit::calibration::{Calibration, Estimate};
use evalcurve_records::sample::Expression;
use evalcurve_tables as table;
use evalcurve_words::language::{Language, Text, ToText};
use evalcurve_words::{key, say, text};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde_json::{Value, json};

use super::analyse_games::{self, PageArgs};
use crate::{Analyse, Analysis, Counts, GivenUp, Running, Search, Status};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve analyse --engine \"fairy-stockfish option.UCI_Variant=shogi depth=7\"
      score the positions in the program until the constant of the engine is known within 10%
  evalcurve analyse games/ --engine \"a nodes=10k\" --engine \"b nodes=10k\" --positions 1000
      two engines on the same 1,000 positions of these games
  evalcurve analyse games.pgn --engine stockfish --limit nodes=1k,4k,16k
      one engine at three limits: how the constant moves with search
  evalcurve analyse game.kif --engine \"gpsusi byoyomi=200\" --html game.html
      a page of one game: board, win rate, what moves cost; docs/game-pages.md
  evalcurve analyse games/ --player NAME --engine \"gpsusi byoyomi=200\" --html pages/
      where a player went wrong: its mistakes over all games, worst first, and a page of each

After Ctrl-C or a crash, the same command goes on where it was. docs/analyse.md describes what is calibrated.")]
pub struct Args {
    /// Records or training data, scored or not: files, folders, archives [default: the positions in the program]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// The game of the positions in the program
    #[arg(long, value_name = "GAME", value_parser = games(), default_value = "shogi", conflicts_with = "paths")]
    game: Game,

    /// An engine: its command, and option.NAME=VALUE, name=NAME and a limit (nodes=10k, depth=7, movetime=100,
    /// byoyomi=100 in milliseconds), in double quotes where there are blanks; may be repeated
    #[arg(long, value_name = "COMMAND", required_unless_present_any = ["html", "graph", "player"])]
    pub(super) engine: Vec<String>,

    /// The limit of engines without their own; several make each of these engines one engine per limit
    #[arg(long, value_name = "LIMIT[,N…]", default_value = LIMIT, value_parser = limits)]
    limit: Limits,

    /// Stop when every constant is known within this share [default: 10%, none with --positions]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    target: Option<f64>,

    /// The most positions
    #[arg(long, value_name = "N")]
    positions: Option<usize>,

    /// File for the samples, .parquet or .csv
    #[arg(long, short, value_name = "FILE", default_value = "analysed.parquet", help_heading = "Output")]
    out: PathBuf,

    /// Searches at the same time, each by a process of its own [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), hide_short_help = true)]
    pub(super) processes: Option<u16>,

    /// Best moves to report (the option MultiPV)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500), hide_short_help = true)]
    multipv: Option<u16>,

    /// Seconds that an engine may take beyond the time of its limit
    #[arg(long, value_name = "SECONDS", default_value_t = Search::default().patience.as_secs() as u32,
          value_parser = clap::value_parser!(u32).range(1..=86_400), hide_short_help = true)]
    pub(super) patience: u32,

    /// Start the engine anew for every position: slower, for engines that keep more than a new game clears
    #[arg(long, hide_short_help = true)]
    pub(super) fresh: bool,

    /// Failures in a row after which an engine is given up
    #[arg(long, value_name = "N", default_value_t = Search::default().most_failures as u16,
          value_parser = clap::value_parser!(u16).range(1..), hide_short_help = true)]
    pub(super) failures: u16,

    /// Take every position from --from-ply on, not one per window and side
    #[arg(long, conflicts_with = "window", help_heading = "Sampling", hide_short_help = true)]
    every_move: bool,

    /// First ply
    #[arg(long, value_name = "PLY", help_heading = "Sampling", hide_short_help = true)]
    from_ply: Option<u32>,

    /// Plies per window; one position of each side is drawn from each window
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Sampling",
          hide_short_help = true)]
    window: Option<u32>,

    /// Seed of the draw and of the order of positions
    #[arg(long, value_name = "SEED", help_heading = "Sampling", hide_short_help = true)]
    seed: Option<u64>,

    /// Only positions that meet a condition on the columns of the sample table ("ply >= 90 and rating > 2800")
    #[arg(long = "where", value_name = "EXPR", value_parser = Expression::parse, help_heading = "Sampling",
          hide_short_help = true)]
    condition: Option<Expression>,

    /// Mate threshold of an engine: [ENGINE=]CP|auto; may be repeated [default: 20000]
    #[arg(long, value_name = "[ENGINE=]CP|auto", value_parser = threshold, hide_short_help = true)]
    mate_threshold: Vec<(Option<String>, Threshold)>,

    /// Read all files as this format instead of detecting the format by content
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_short_help = true)]
    format: Option<FileFormat>,

    /// Stop at the first damaged record instead of skipping it
    #[arg(long, hide_short_help = true)]
    pub(super) strict: bool,

    /// Replace an existing table, and forget the searches of a run that did not end
    #[arg(long, help_heading = "Output")]
    pub(super) force: bool,

    #[command(flatten)]
    pub(super) pages: PageArgs,

    #[command(flatten)]
    pub(super) language: LanguageArgs,

    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Limits of engines without their own.
#[derive(Debug, Clone)]
struct Limits(Vec<Limit>);

fn limits(value: &str) -> Result<Limits, Text> {
    let key = value.split_once('=').map_or("", |(key, _)| key);
    let limit = |part: &str| match part.contains('=') || key.is_empty() {
        true => parse_limit(part),
        false => parse_limit(&format!("{key}={part}")),
    };
    value.split(',').map(limit).collect::<Result<_, _>>().map(Limits).map_err(|error| error.to_text())
}

impl Args {
    /// The engines, one for each limit.
    pub(super) fn engines(&self, game: Game) -> anyhow::Result<Vec<EngineConfig>> {
        let more = self.multipv.map(|lines| ("MultiPV".to_owned(), lines.to_string()));
        engines(&self.engine, &self.limit.0, more.as_ref(), game)
    }

    /// What is scored, and how.
    fn job(&self) -> Job {
        let sampling = Sampling {
            from_ply: self.from_ply,
            window: if self.every_move { Some(1) } else { self.window },
            seed: self.seed,
            ..Sampling::default()
        };
        let filters = Filters { condition: self.condition.iter().cloned().collect(), ..Filters::default() };
        Job {
            paths: self.paths.clone(),
            reading: Reading { strict: self.strict, format: self.format, sampling, filters, ..Reading::default() },
            mate_threshold: self.mate_threshold.clone(),
            game: self.game,
            positions: self.positions,
            target: self.target,
            search: Search {
                processes: self.processes.map(usize::from),
                patience: Duration::from_secs(self.patience.into()),
                fresh: self.fresh,
                most_failures: self.failures.into(),
                ..Search::default()
            },
            out: self.out.clone(),
            force: self.force,
            language: self.language.chosen(),
            output: self.output,
        }
    }
}

/// Engines by their commands, those without a limit once for each of these limits, with one more option.
fn engines(
    commands: &[String],
    limits: &[Limit],
    more: Option<&(String, String)>,
    game: Game,
) -> anyhow::Result<Vec<EngineConfig>> {
    let mut engines = Vec::new();
    for text in commands {
        let mut engine = parse_engine(text, game)?;
        engine.options.extend(more.cloned());
        if engine.limit.is_some() {
            engines.push(engine);
            continue;
        }
        engines.extend(limits.iter().map(|limit| EngineConfig { limit: Some(*limit), ..engine.clone() }));
    }
    Ok(engines)
}

/// The limit of engines without their own.
const LIMIT: &str = "byoyomi=100";

/// Positions that engines score, and the table of the samples. Without records the program has the positions.
#[derive(Default)]
struct Job {
    paths: Vec<PathBuf>,
    reading: Reading,
    mate_threshold: Vec<(Option<String>, Threshold)>,
    game: Game,
    positions: Option<usize>,
    target: Option<f64>,
    /// How the engines are driven.
    search: Search,
    out: PathBuf,
    force: bool,
    language: Language,
    output: OutputArgs,
}

impl Job {
    /// Draws the positions: those of the records, or all that the program has.
    fn read(&self) -> anyhow::Result<(Drawn, CalibrateOptions)> {
        let mut reading = self.reading.clone();
        reading.sampling.unscored = true;
        let mut source = Input::paths(&self.paths);
        if self.paths.is_empty() {
            source = shipped(self.game);
            all_positions(&mut reading.sampling);
        }
        let fitting = Fitting { bands: 0, mate_threshold: self.mate_threshold.clone(), ..Fitting::default() };
        let options = Calibrate { reading: reading.clone(), fitting: fitting.clone() }.options(&source);
        let command = Sample { reading, fitting, of_part: false };
        let drawn = progress::shown(self.output.is_quiet(), |progress| command.run(&source, progress))?;
        Ok((drawn, options))
    }

    fn print(&self, analysis: &Analysis, drawn: &Drawn, target: Option<f64>) -> anyhow::Result<()> {
        let (language, is_quiet) = (self.language, self.output.is_quiet());
        let document = || {
            let more = document(analysis, &self.out.to_string_lossy());
            about_records(&drawn.report, &drawn.notes, more)
        };
        let text = || {
            let reading = wrap(&reading(&drawn.report, language), terminal::width(), LABEL);
            reading + &summary(analysis, target, language) + &written(analysis, &self.out, language)
        };
        self.output.print(|| rounded(document()), text)?;
        terminal::tell(drawn, is_quiet, language);
        if !is_quiet {
            analysis.outcome.notes.iter().for_each(|note| terminal::note(&note.text(language)));
        }
        Ok(())
    }
}

/// What [`Services::score_records`](evalcurve_app::cli::Services::score_records) does.
///
/// # Errors
/// Records or engines that allow no table.
pub fn score_records(wanted: &ScoreRecords<'_>) -> anyhow::Result<Option<cli::Limits>> {
    let ScoreRecords { input, commands, game, table, force, quiet } = *wanted;
    let (paths, out, language) = (input.paths.clone(), table.to_owned(), input.language.chosen());
    let mut job = Job { paths, game, out, force, language, ..Job::default() };
    job.reading.sampling.seed = input.given.sampling.seed;
    job.output.quiet = quiet;
    let (done, limits) = job.run(|game| engines(commands, &[parse_limit(LIMIT)?], None, game), false)?;
    Ok((done == Done::Yes).then_some(limits))
}

/// What [`Services::score_members`](evalcurve_app::cli::Services::score_members) does. Says before how long that takes.
/// A member that crashes again and again is an error.
///
/// # Errors
/// Engines that allow no table.
pub fn score_members(wanted: ScoreMembers<'_>) -> anyhow::Result<()> {
    let ScoreMembers { members, game, target, table, force, language } = wanted;
    let (mate_threshold, out) = (thresholds(&members), table.to_owned());
    let job = Job { mate_threshold, game, target, out, force, language, ..Job::default() };
    job.run(|_| Ok(members), true)?;
    Ok(())
}

/// Searches of each engine that tell how long all of them take.
const TRIAL: usize = 16;

/// Positions from which on the first constants tell how many are needed: told at 200 positions, the number was 0.5 to
/// 4.5 times the true one for six engines (2026-11-28).
const TELLING: usize = 800;

/// Crashes in a row after which a member of a council is given up.
const MOST_CRASHES: usize = 2;

/// Positions after which the scores of a member are looked at: more of them would mend none of these faults.
const SOUND: usize = 200;

/// Standard errors by which the side with the better score loses more often, where a sign is wrong: one in 30,000 by
/// chance.
const WRONG_SIGN: f64 = 4.0;

/// Why the scores of an engine can never be calibrated.
fn unsound<'a>(
    counts: &Counts,
    samples: impl Iterator<Item = &'a evalcurve_records::sample::Sample> + Clone,
) -> Option<Text> {
    let (asked, scored) = (counts.positions, counts.scored);
    if scored == 0 && counts.mates > 0 {
        return Some(text!("nothing but mates in {asked} positions; correct its options, or its mate-threshold"));
    }
    let mut scores = samples.clone().filter(|sample| !sample.mate).map(|sample| sample.score_cp);
    let first = scores.next()?;
    if scored > 1 && scores.all(|score| score == first) {
        return Some(text!("{first} centipawns in all of {scored} positions; it does not judge them"));
    }
    for (color, word) in [(Color::Black, key!("Black")), (Color::White, key!("White"))] {
        let decided = samples.clone().filter(|s| s.color == color && s.score_cp != 0 && s.outcome != Outcome::Draw);
        let (mut all, mut right) = (0_u32, 0_u32);
        for sample in decided {
            all += 1;
            right += u32::from((sample.score_cp > 0) == (sample.outcome == Outcome::Win));
        }
        let [all, right] = [all, right].map(f64::from);
        if 0.5 * all - right > WRONG_SIGN * 0.5 * all.sqrt() {
            let word = Text::word(word);
            return Some(text!(
                "the better its score for {word}, the more often {word} loses ({right} of {all} scores name the \
                 winner): it does not print scores in view of the side to move"
            ));
        }
    }
    None
}

/// An error for the first engine that was given up.
fn given_up(analysis: &Analysis) -> anyhow::Result<()> {
    let mut given_up =
        analysis.outcome.engines.iter().filter_map(|engine| Some((&engine.name, engine.given_up.as_ref()?)));
    given_up.next().map_or(Ok(()), |(name, why)| Err(given_up_words(name, why).into()))
}

/// Why an engine was given up.
pub(super) fn given_up_words(name: &str, given_up: &GivenUp) -> Text {
    match given_up {
        GivenUp::Failures(why) => text!("{name}: given up after several failures in a row; the last: {why}"),
        GivenUp::Limit(why) => text!("{name}: {why}"),
    }
}

impl Args {
    /// The calibrations of engines by the positions in the program. Says before how long that takes. The searches are
    /// kept in the journal of `table` until all engines are calibrated.
    pub(super) fn program_positions(
        &self,
        game: Game,
        table: PathBuf,
        engines: Vec<EngineConfig>,
    ) -> anyhow::Result<Vec<Calibration>> {
        let mut job = Job { paths: Vec::new(), reading: Reading::default(), out: table, game, ..self.job() };
        (job.positions, job.target) = (None, None);
        let (analysis, _, journal) = job.score(|_| Ok(engines), true)?;
        let language = self.language.chosen();
        let engines = analysis.outcome.engines.iter().map(|engine| {
            let result = analysis.results.iter().find(|result| result.name == engine.name);
            let calibration = result.and_then(|result| result.calibration.clone());
            let constant = calibration.as_ref().and_then(|calibration| calibration.constant());
            if let Some(constant) = constant.filter(|_| !self.output.is_quiet()) {
                let (name, positions) = (&engine.name, thousands(analysis.outcome.positions as u64));
                let constant = estimate_words(&constant, 0);
                terminal::note(&say!(language, "calibrated {name} on {positions} positions: 1/w1 {constant}"));
            }
            let why = result.and_then(|result| result.error.clone()).unwrap_or_default();
            calibration.ok_or_else(|| text!("{}: it cannot be calibrated; {why}", engine.name).into())
        });
        let found = engines.collect::<anyhow::Result<Vec<_>>>()?;
        let _ = std::fs::remove_file(journal);
        Ok(found)
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "analyse";
    const ABOUT: &'static str = key!("Let engines score positions of games, and calibrate them");
    const HEADING: Heading = Heading::Calibrate;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        if self.pages.asked() {
            return analyse_games::run(self);
        }
        Ok(self.job().run(|game| self.engines(game), false)?.0)
    }
}

/// What was drawn from the records.
type Drawn = evalcurve_app::Outcome<evalcurve_records::sample::SampleTable>;

impl Job {
    /// Scores positions by the engines of a game, writes the table and prints. The members of a council are given up
    /// early, as an error. Returns the limits of the engines, too.
    fn run(
        self,
        engines: impl FnOnce(Game) -> anyhow::Result<Vec<EngineConfig>>,
        is_council: bool,
    ) -> anyhow::Result<(Done, cli::Limits)> {
        let (analysis, drawn, journal) = self.score(engines, is_council)?;
        let is_empty = analysis.table.samples.is_empty();
        if !is_empty {
            table::write(&analysis.table, analysis.columns(), &self.out, rayon::current_num_threads())?;
        }
        // the table has all that it held
        let _ = std::fs::remove_file(journal);
        self.print(&analysis, &drawn, self.aim())?;
        let limits = analysis.outcome.engines.iter().filter_map(|e| Some((e.name.clone(), e.limit?.to_string())));
        let limits = limits.collect();
        if !is_empty {
            return Ok((Done::Yes, limits));
        }
        for engine in &analysis.outcome.engines {
            let why = engine.given_up.as_ref().map(|why| given_up_words(&engine.name, why));
            let why = why.unwrap_or_else(|| text!("{}: none of its answers has a score", engine.name));
            terminal::error(&why.text(self.language));
        }
        Ok((Done::Nothing, limits))
    }

    /// How well constants are to be known.
    fn aim(&self) -> Option<f64> {
        self.target.or(self.positions.is_none().then_some(TARGET))
    }

    /// Scores positions. Returns the journal, too, which has the searches until somebody removes it.
    fn score(
        &self,
        engines: impl FnOnce(Game) -> anyhow::Result<Vec<EngineConfig>>,
        is_council: bool,
    ) -> anyhow::Result<(Analysis, Drawn, PathBuf)> {
        if !table::is_table(&self.out) {
            bail!(text!("{}: a sample table ends in .parquet or .csv", self.out.display()));
        }
        table::check_name(&self.out)?;
        check_replace(&self.out, self.force)?;
        evalcurve_engine::usi::stop_engines_on_signals()?;
        let (drawn, calibrate) = self.read()?;
        if drawn.value.samples.is_empty() {
            terminal::tell(&drawn, self.output.is_quiet(), self.language);
            bail!(text!("no position was drawn; the games need moves and a result, and positions from --from-ply on"));
        }
        let game = if drawn.value.chess { Game::Chess } else { Game::Shogi };
        make_parent(&self.out)?;
        let target = self.aim();
        let mut journal = self.out.clone().into_os_string();
        journal.push(".journal");
        let search =
            Search { engines: engines(game)?, journal: journal.into(), restart: self.force, ..self.search.clone() };
        let mut analyse = Analyse { positions: self.positions, target, calibrate, search };
        if is_council {
            analyse.search.most_crashes = MOST_CRASHES;
        }
        let all = drawn.value.samples.len().min(self.positions.unwrap_or(usize::MAX));
        let typical = target.map_or(all, |target| enough_positions(game, target).min(all));
        let bar = Bar::new(self.output.is_quiet(), target, self.language);
        bar.expects.set((is_council || self.paths.is_empty()).then_some((Some(typical), all)));
        if is_council {
            let few = Analyse { positions: Some(SOUND), target: None, ..analyse.clone() };
            let few = few.run(&drawn.value, &drawn.positions, |status, running, all| bar.show(status, running, all))?;
            given_up(&few)?;
            analyse.search.restart = false;
            if let Some(reason) = few.counts.iter().zip(&few.outcome.engines).find_map(|(counts, engine)| {
                let table = &few.table;
                let own = table.samples.iter().filter(|sample| table.names.get(sample.engine) == engine.name);
                unsound(counts, own).map(|reason| reason.about(&Text::same(&engine.name)))
            }) {
                bar.finish();
                bail!(reason);
            }
        }
        let analysis = analyse
            .run(&drawn.value, &drawn.positions, |status, running, positions| bar.show(status, running, positions));
        bar.finish();
        let analysis = analysis?;
        if is_council {
            given_up(&analysis)?;
        }
        Ok((analysis, drawn, analyse.search.journal))
    }
}

/// The progress on a terminal.
pub(super) struct Bar {
    bar: ProgressBar,
    target: Option<f64>,
    language: Language,
    /// Where there is no terminal: when the last line was written.
    lines: Option<Cell<Instant>>,
    /// How many positions it takes as a rule, and at most, until it is said how long that is; the first number goes
    /// once it is said.
    expects: Cell<Option<(Option<usize>, usize)>>,
    /// The first look with a search, and their number then: engines take time to start.
    began: Cell<Option<(Instant, usize)>>,
}

/// Where output is redirected, progress is a line each minute.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

impl Bar {
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    pub(super) fn new(quiet: bool, target: Option<f64>, language: Language) -> Self {
        let target_of_drawing = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target_of_drawing);
        let counts = language.word("{pos}/{len} positions {msg}, eta {eta}");
        if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:20}} {counts}")) {
            bar.set_style(style);
        }
        let lines = (!quiet && bar.is_hidden()).then(|| Cell::new(Instant::now()));
        Self { bar, target, language, lines, expects: Cell::default(), began: Cell::default() }
    }

    /// Says how long it takes: once some searches tell the speed, and once the first constants tell how many positions.
    fn estimate(&self, status: &Status, needed: Option<usize>) {
        let (Some((typical, all)), members) = (self.expects.get(), status.asked.len()) else { return };
        let Some((began, before)) = self.began.get().filter(|(_, before)| status.searches > *before) else {
            return self.began.set((status.searches > 0).then(|| (Instant::now(), status.searches)));
        };
        let left = |of: usize| of.saturating_sub(status.positions) * members;
        let searches = status.searches - before;
        let each = began.elapsed().as_secs_f64() / searches as f64;
        let minutes = |of: usize| (each * left(of) as f64 / 60.0).ceil();
        let text = match (typical, needed) {
            (Some(typical), _) if searches >= TRIAL * members || left(all) == 0 => {
                self.expects.set(needed.is_none().then_some((None, all)));
                let (about, most) = (minutes(typical), minutes(all));
                let [typical, all] = [typical, all].map(|of| thousands(of as u64));
                say!(
                    self.language,
                    "scoring about {typical} of {all} positions takes about {about:.0} min, and {most:.0} at most; \
                     after Ctrl-C, the same command goes on"
                )
            }
            (None, Some(needed)) if status.checked >= TELLING => {
                self.expects.set(None);
                let (about, needed) = (minutes(needed), thousands(needed as u64));
                say!(self.language, "the first constants tell: about {needed} positions, and {about:.0} min more")
            }
            _ => return,
        };
        self.bar.suspend(|| terminal::note(&text));
    }

    /// The positions after which all constants are known well enough, by those known so far; `None` without a target
    /// or before.
    fn needed(&self, status: &Status, running: &[Running], all: usize) -> Option<usize> {
        let within: Option<Vec<f64>> = running.iter().map(|one| one.within).collect();
        let widest = within?.into_iter().fold(0.0, f64::max);
        // slopes, whose intervals shrink with the root of the number, are the inverse of constants
        let of_slope = |of_constant: f64| of_constant / (1.0 + of_constant);
        let times = of_slope(widest) / of_slope(self.target?);
        let needed = (status.checked as f64 * times * times).ceil() as usize;
        (running.len() == status.asked.len() && widest > 0.0).then(|| needed.clamp(status.positions.min(all), all))
    }

    /// Writes the line of this minute.
    fn line(&self, status: &Status, running: &[Running], needed: usize) {
        let Some(last) = self.lines.as_ref().filter(|last| last.get().elapsed() >= BETWEEN_LINES) else { return };
        last.set(Instant::now());
        let rate = status.searches as f64 / self.bar.elapsed().as_secs_f64().max(0.001);
        let left = needed.saturating_sub(status.positions) as f64 * status.asked.len() as f64;
        let (done, all) = (thousands(status.positions as u64), thousands(needed as u64));
        let minutes = (left / rate.max(1e-9) / 60.0).ceil();
        let within = running.iter().filter_map(|one| one.within).fold(0.0, f64::max);
        let known =
            if within > 0.0 { say!(self.language, "; known within ±{:.0}%", 100.0 * within) } else { String::new() };
        terminal::note(&say!(self.language, "{done} of {all} positions, {minutes:.0} min left{known}"));
    }

    pub(super) fn show(&self, status: &Status, running: &[Running], positions: usize) {
        if self.bar.is_hidden() && self.lines.is_none() {
            return;
        }
        if status.searches == 0 {
            // answers of an earlier run say nothing about the speed of this one
            self.bar.set_position(status.positions as u64);
            self.bar.reset_eta();
        }
        let needed = self.needed(status, running, positions);
        self.estimate(status, needed);
        let needed = needed.unwrap_or(positions);
        self.line(status, running, needed);
        self.bar.set_length(needed as u64);
        self.bar.set_position(status.positions as u64);
        let one = |one: &Running| {
            let within = one.within.map(|within| format!(" ±{:.0}%", 100.0 * within)).unwrap_or_default();
            format!("{} {:.0}{within}", one.name.chars().take(16).collect::<String>(), one.constant)
        };
        let rate = status.searches as f64 / self.bar.elapsed().as_secs_f64().max(0.001);
        let constants = running.iter().map(one).collect::<Vec<_>>().join(self.language.word(", "));
        self.bar.set_message(format!("{rate:.0}/s {constants}"));
    }
}

/// One engine of the summary.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(rename = "engine")]
    name: &'a str,
    limit: Option<String>,
    #[serde(flatten)]
    counts: &'a Counts,
    mean_ms: Option<f64>,
    #[serde(serialize_with = "why")]
    given_up: Option<&'a GivenUp>,
    constant: Option<f64>,
    interval: Option<[f64; 2]>,
    log_loss: Option<f64>,
    error: Option<&'a Text>,
}

/// The reason alone.
fn why<S: serde::Serializer>(given_up: &Option<&GivenUp>, to: S) -> Result<S::Ok, S::Error> {
    given_up.map(GivenUp::why).serialize(to)
}

fn rows(analysis: &Analysis) -> Vec<Row<'_>> {
    let (engines, mut rows) = (&analysis.outcome.engines, Vec::new());
    for (number, (engine, counts)) in engines.iter().zip(&analysis.counts).enumerate() {
        let result = analysis.results.iter().find(|result| result.name == engine.name);
        let constant = result.and_then(|result| result.calibration.as_ref()?.constant());
        rows.push(Row {
            name: &engine.name,
            limit: engine.limit.map(|limit| limit.to_string()),
            counts,
            mean_ms: analysis.mean_time(number).map(|time| 1_000.0 * time.as_secs_f64()),
            given_up: engine.given_up.as_ref(),
            constant: constant.as_ref().map(|constant| constant.value),
            interval: constant.and_then(|constant| constant.interval),
            log_loss: result.and_then(|result| result.validated.as_ref()).map(|v| v.scores.log_loss.value),
            error: result.and_then(|result| result.error.as_ref()),
        });
    }
    rows
}

fn summary(analysis: &Analysis, target: Option<f64>, language: Language) -> String {
    let (searched, drawn) = (thousands(analysis.outcome.positions as u64), thousands(analysis.drawn as u64));
    let percent = target.map_or(0.0, |target| 100.0 * target);
    let stopped = match analysis.reached {
        Some(true) => say!(language, ", enough for ±{percent:.0}%"),
        Some(false) => say!(language, ", too few for ±{percent:.0}%"),
        None => String::new(),
    };
    let mut out = say!(language, "positions {searched} searched of {drawn} drawn{stopped}\n\n");
    let value =
        |row: &Row<'_>| or_dash(row.constant, |value| estimate_words(&Estimate { value, interval: row.interval }, 0));
    let columns = Columns::new()
        .name(language.word("engine"), 26, |row: &Row<'_>| row.name.to_owned())
        .left(language.word("limit"), 14, |row| row.limit.clone().unwrap_or_default())
        .right(language.word("scored"), 7, |row| thousands(row.counts.scored as u64))
        .right(language.word("mates"), 6, |row| thousands(row.counts.mates as u64))
        .right(language.word("failed"), 6, |row| thousands(row.counts.failures() as u64))
        .right("ms", 7, |row| or_dash(row.mean_ms, |ms| format!("{ms:.1}")))
        .gap(2)
        .left("1/w1 [95%]", 19, value)
        .gap(1)
        .right(language.word("log loss"), 8, |row| or_dash(row.log_loss, |loss| format!("{loss:.3}")));
    let rows = rows(analysis);
    out += &(terminal::heading(columns.head().trim_end()) + "\n");
    rows.iter().for_each(|row| out += &(columns.row(row).trim_end().to_owned() + "\n"));
    for row in &rows {
        let name = row.name;
        if let Some(given_up) = row.given_up {
            let (why, left) = (given_up_words(name, given_up), thousands(row.counts.not_asked as u64));
            out += &wrap(&(say!(language, "{why} ({left} positions not asked)") + "\n"), terminal::width(), 2);
        } else if let Some(first) = &row.counts.first_failure {
            let word = |(kind, n): (&&'static str, &usize)| format!("{n} {}", kind.replace('_', " "));
            let reasons = row.counts.failed.iter().map(word).collect::<Vec<_>>().join(", ");
            out += &wrap(&say!(language, "{name}: {reasons}; the first: {first}\n"), terminal::width(), 2);
        }
        if let Some(why) = row.error {
            out += &wrap(&format!("{name}: {}\n", why.text(language)), terminal::width(), 2);
        }
    }
    out
}

/// What was written, and what the constants mean.
fn written(analysis: &Analysis, out: &Path, language: Language) -> String {
    if analysis.table.samples.is_empty() {
        return String::new();
    }
    let (samples, out) = (thousands(analysis.table.samples.len() as u64), shown(out));
    let text = say!(
        language,
        "\nThe constants are of the side to move when the players of these records go on, at equal ratings.\n\
         written {samples} samples to {out}; evalcurve calibrate {out} makes calibration files of them\n"
    );
    text
}

fn document(analysis: &Analysis, out: &str) -> Value {
    json!({
        "engines": rows(analysis),
        "positions": analysis.outcome.positions,
        "drawn": analysis.drawn,
        "reached": analysis.reached,
        "samples": analysis.table.samples.len(),
        "searches": analysis.outcome.searches,
        "engine_seconds": analysis.outcome.engine_time.as_secs_f64(),
        "seconds": analysis.outcome.time.as_secs_f64(),
        "table": out,
        "engine_notes": analysis.outcome.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_share_their_word() {
        let read = |text: &str| limits(text).map(|limits| limits.0).map_err(|why| why.text(Language::Japanese));
        assert_eq!(read("nodes=1k,4k"), Ok(vec![Limit::Nodes(1_000), Limit::Nodes(4_000)]));
        assert_eq!(read("depth=3,nodes=4"), Ok(vec![Limit::Depth(3), Limit::Nodes(4)]));
        assert!(
            read("1000").is_err_and(|why| why.starts_with("'1000' は制限ではありません")) && read("nodes=1,x").is_err()
        );
    }

    #[test]
    fn scores_that_more_positions_do_not_mend_are_found() {
        // of 200 positions, three of four results follow the score
        let found = |score: &dyn Fn(u32, Color) -> i32, mates: usize| {
            let sample = |n: u32| {
                let color = [Color::Black, Color::White][n as usize % 2];
                let won = (n / 2).is_multiple_of(2);
                let (sign, outcome) = if won { (1, Outcome::Win) } else { (-1, Outcome::Loss) };
                let sign = if n % 8 < 2 { -sign } else { sign };
                evalcurve_records::sample::Sample {
                    game: n,
                    engine: 0,
                    opponent: 1,
                    color,
                    ply: 40,
                    window: 0,
                    score_cp: sign * score(n, color),
                    reply_cp: None,
                    declared: None,
                    mate: mates > 0,
                    outcome,
                    material: None,
                    line: 1,
                }
            };
            let samples: Vec<evalcurve_records::sample::Sample> = (0..200).map(sample).collect();
            let counts = Counts { positions: 200, scored: 200 - mates, mates, ..Counts::default() };
            unsound(&counts, samples.iter()).map(|reason| reason.to_string())
        };
        assert_eq!(found(&|n, _| 100 + n as i32, 0), None);
        // by chance, half of them
        assert_eq!(found(&|n, _| if n % 16 < 8 { 100 } else { -100 }, 0), None);
        let contains = |reason: Option<String>, words: &str| {
            assert!(reason.as_ref().is_some_and(|r| r.contains(words)), "{reason:?}")
        };
        contains(found(&|_, _| 0, 0), "0 centipawns in all of 200 positions");
        contains(found(&|_, _| 100, 200), "nothing but mates in 200 positions");
        contains(found(&|n, _| -100 - n as i32, 0), "the more often Black loses (25 of 100");
        contains(
            found(&|n, color| if color == Color::Black { 100 + n as i32 } else { -100 }, 0),
            "the more often White loses",
        );
    }

    #[test]
    fn shares_are_percent() {
        assert_eq!([percent("10%"), percent("5")].map(Result::unwrap), [0.1, 0.05]);
        assert!(["0", "-3%", "200", "x"].iter().all(|text| percent(text).is_err()));
    }
}
