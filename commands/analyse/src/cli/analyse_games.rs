//! `evalcurve analyse --html`, `--annotate` and `--graph`: whole games for people who look at them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use evalcurve_app::cli::files::{check_replace, is_there, make_folder, make_parent, note_all, shown, write_figure};
use evalcurve_app::cli::options::{one_of, view};
use evalcurve_app::cli::{Done, terminal};
use evalcurve_app::judge::judges::Conflicts;
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{thousands, wrap};
use evalcurve_app::{Input, Judge, Judged, Progress, known, with_flags};
use evalcurve_calibration::types::Color;
use evalcurve_engine::{EngineConfig, Game, Limit};
use evalcurve_figures::PlotOptions;
use evalcurve_fit::calibration::{self, Calibration, file_stem, file_stems};
use evalcurve_records::record::find::{expand_globs, find};
use evalcurve_records::record::source::Refusal;
use evalcurve_records::sample::collect::{Problem, ProblemKind};
use evalcurve_records::sample::{View, turn_scores};
use evalcurve_records::{Original, games_of};
use evalcurve_words::language::Language;
use evalcurve_words::text::shown_source;
use evalcurve_words::whole_file::{self, WholeFiles};
use evalcurve_words::{say, text};
use serde_json::{Value, json};

use super::analyse::{Args, Bar, given_up_words};
use crate::annotate::{Form, Insertion, insertions};
use crate::checked::{self, Noise, Sight};
use crate::games::{
    Conflict, Cost, Dispute, MISTAKE, PHASES, Scale, Series, WholeGame, accuracy, conflicts, costly, costs,
    disagreements, dispute,
};
use crate::page::{GamePage, index, verdict};
use crate::review::{Phase, Review, file_name, is_mine, no_mistake, nobody};
use crate::{Outcome, Position, Search, Searched};

/// What is made of whole games.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Whole games")]
pub(super) struct PageArgs {
    /// Write a page of the game: board, win rate by every engine, costly moves
    ///
    /// Several games get a folder of pages, every position is searched, and without --engine the scores of the record
    /// are shown
    #[arg(long, value_name = "FILE|DIR", requires = "paths", conflicts_with_all = ["positions", "target"])]
    pub html: Option<PathBuf>,

    /// Copy the records into a folder, with the engine's score of every position added in comments
    #[arg(long, value_name = "DIR", requires_all = ["engine", "paths"], conflicts_with_all = ["positions", "target"])]
    pub annotate: Option<PathBuf>,

    /// How scores are written into comments of CSA and KIF [default: shogihome]
    #[arg(long, value_name = "FORM", value_parser = one_of::<Form>(), requires = "annotate", hide_short_help = true)]
    pub comments: Option<Form>,

    /// Draw the win rate over the game as SVG and PNG
    #[arg(long, value_name = "FILE", requires = "paths", conflicts_with_all = ["positions", "target"],
          hide_short_help = true)]
    pub graph: Option<PathBuf>,

    /// Only games of this player, and what its moves cost over all of them; may be repeated, * and ? match any letters
    ///
    /// With --html one linked set of pages, worst moves first. An engine without --calibrations is calibrated first, on
    /// the positions in the program
    #[arg(long, value_name = "NAME", requires = "paths", conflicts_with_all = ["positions", "target"])]
    pub player: Vec<String>,

    /// Whose point of view the players' scores have where only a convention says it; auto takes the other one where the
    /// games of a file show it
    #[arg(long, value_parser = view(), default_value = "auto", hide_short_help = true)]
    view: View,

    /// Calibrations of the engines, by name: files, or folders of them; may be repeated
    #[arg(long, value_name = "PATH")]
    pub calibrations: Vec<PathBuf>,

    /// Say whom to believe where engines disagree, by a table of positions that these engines scored, with results
    ///
    /// `analyse` writes such tables; the table also calibrates engines that have no calibration
    #[arg(long, value_name = "TABLE", requires_all = ["engine", "paths"], conflicts_with_all = ["positions", "target"],
          hide_short_help = true)]
    pub judges: Vec<PathBuf>,
}

impl PageArgs {
    /// Whether whole games are asked for.
    pub(super) fn asked(&self) -> bool {
        !self.player.is_empty()
            || self.html.is_some()
            || self.annotate.is_some()
            || self.graph.is_some()
            || !self.judges.is_empty()
    }

    /// The calibrations that are given, then those of the judged engines, and their conflicts.
    fn judged(&self, quiet: bool, language: Language) -> anyhow::Result<Judged> {
        let read = Input::paths(self.calibrations.clone()).calibrations()?;
        note_all(&known::notes(read.iter().map(|(_, calibration)| calibration)), quiet, language);
        let mut judged = Judged::default();
        if !self.judges.is_empty() {
            let found = Judge::default().run(&Input::paths(self.judges.clone()), &Progress::default())?;
            terminal::tell(&found, quiet, language);
            judged = found.value;
        }
        judged.calibrations.splice(0..0, read.into_iter().map(|(_, calibration)| calibration));
        Ok(judged)
    }

    /// Refuses to replace what is there, before engines search for hours.
    fn check(&self, games: usize, force: bool) -> anyhow::Result<()> {
        if let Some(graph) = &self.graph {
            if games > 1 {
                bail!(text!("--graph: {games} games were read; give one, or a folder to --html"));
            }
            check_replace(graph, force)?;
        }
        match &self.html {
            Some(html) if is_page(html) && games > 1 => {
                let shown = html.display();
                bail!(text!("--html {shown}: {games} games were read; give the name of a folder, without .html"));
            }
            Some(html) if is_page(html) => check_replace(html, force)?,
            Some(folder) => check_folder(folder, force)?,
            None => {}
        }
        let Some(folder) = &self.annotate else { return Ok(()) };
        check_folder(folder, force)?;
        // before engines search for hours: copies have the names of the records
        let mut there =
            find(std::slice::from_ref(folder)).unwrap_or_default().into_iter().filter_map(|entry| entry.path);
        Ok(there.try_for_each(|path| whole_file::check(&path))?)
    }

    /// The file that the answers of engines are kept in until all is written.
    fn journal(&self) -> PathBuf {
        let beside = [&self.html, &self.annotate, &self.graph].into_iter().flatten().next();
        named(&beside.cloned().unwrap_or_else(|| PathBuf::from("analysed")), ".journal")
    }
}

/// A path with more at the end of its name, beside a folder that is written as `pages/`.
fn named(path: &Path, more: &str) -> PathBuf {
    let mut name = path.components().collect::<PathBuf>().into_os_string();
    name.push(more);
    name.into()
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html") || e.eq_ignore_ascii_case("htm"))
}

fn check_folder(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.is_file() {
        bail!(text!("{}: this is a file; give the name of a folder", path.display()));
    }
    let is_empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if is_there(path) && !force && !is_empty {
        bail!(text!(
            "{}: the folder is not empty; choose another name, or replace its files with --force",
            path.display()
        ));
    }
    Ok(())
}

/// What was written, for the summary.
#[derive(Default)]
struct Written {
    pages: Vec<String>,
    annotated: Vec<String>,
    /// What could not be annotated, and was copied as it is.
    not_annotated: Vec<Problem>,
    graph: Option<String>,
}

/// The records.
struct Read {
    games: Vec<WholeGame>,
    counts: Value,
    /// The files with all that is in them.
    originals: Vec<Original>,
    /// Games and files that could not be read.
    unread: Vec<Problem>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let language = args.language.chosen();
    let mut judged = args.pages.judged(args.output.is_quiet(), language)?;
    let Read { games, counts, originals, unread } = read(args, language)?;
    args.pages.check(games.len(), args.force)?;
    let engines = args.engines(rules(&games)?)?;
    if !args.pages.player.is_empty() && !engines.is_empty() && judged.calibrations.is_empty() {
        judged.calibrations = calibrated(args, &games, &engines, language)?;
    }
    let calibrations = &judged.calibrations;
    let searched = if engines.is_empty() { None } else { Some(search(args, &games, engines.clone(), language)?) };
    let mut series = series(&games, searched.as_ref(), calibrations);
    let checks = args.pages.html.is_some() || !args.pages.player.is_empty();
    let sights = match searched.filter(|_| checks) {
        Some(searched) => check(args, &games, &mut series, &searched, engines, language)?,
        None => Vec::new(),
    };
    if series.iter().all(Vec::is_empty) {
        bail!(text!("no record has a score of the players or an analysis; name an engine with --engine"));
    }
    tell_unjudged(args, &series, &judged.conflicts, language);
    tell_scales(args, &games, &series, language);
    let mut written = Written::default();
    let review = Review::new(&games, &series, &args.pages.player);
    write_pages(args, &review, &judged.conflicts, language, &mut written)?;
    if let Some(folder) = &args.pages.annotate {
        written.not_annotated = unread;
        annotate(args, folder, &games, &series, &originals, &mut written)?;
    }
    if let Some((path, game)) = args.pages.graph.as_ref().zip(games.first()) {
        let drawn = GamePage::new(game, &series[0], language).graph(&PlotOptions::default())?;
        write_figure(path, drawn.figure)?;
        written.graph = Some(shown(path));
    }
    // all that it held is written
    let _ = fs::remove_file(args.pages.journal());
    let known = &judged.conflicts;
    let document = || document(&review, counts, &sights, known, &written);
    args.output.print(document, || summary(&review, &sights, known, &written, language))?;
    let done = tell_not_annotated(&written.not_annotated, language);
    // no mistakes is no answer where nothing was seen
    let is_blind = checks && review.costs.iter().all(Vec::is_empty);
    Ok(if is_blind { Done::Nothing } else { done })
}

/// Problems of one kind that are named.
const NAMED: usize = 20;

/// Names what has no annotation, also to a user who wants no notes.
fn tell_not_annotated(problems: &[Problem], language: Language) -> Done {
    if problems.is_empty() {
        return Done::Yes;
    }
    problems.iter().take(NAMED).for_each(|problem| terminal::error(&problem.text(language)));
    let count = problems.len();
    terminal::error(&say!(
        language,
        "--annotate: {count} games or files are not annotated, or not to their end; what was read of them is copied as \
         it is"
    ));
    Done::Nothing
}

/// The games with their moves. What is wrong is told, and costs one game.
fn read(args: &Args, language: Language) -> anyhow::Result<Read> {
    let entries = find(&expand_globs(&args.paths)?)?;
    let (mut records, mut unread, mut problems, mut without, mut others) =
        (Vec::new(), Vec::new(), 0_u64, 0_u64, 0_u64);
    let mut reading = games_of(entries).with_moves();
    for found in reading.by_ref() {
        match found {
            Ok(record) => records.push(record),
            Err(problem) if args.strict => bail!(problem),
            Err(problem) => {
                problems += 1;
                if problems <= 3 && !args.output.is_quiet() {
                    terminal::warning(&problem.text(language));
                }
                // a folder may hold other files
                if ![Refusal::UnknownFormat, Refusal::Empty].map(ProblemKind::from).contains(&problem.kind) {
                    unread.push(problem);
                }
            }
        }
    }
    // before games of others are left out: it takes many games to see
    if args.engine.is_empty() {
        note_all(&turn_scores(&mut records, args.pages.view), args.output.is_quiet(), language);
    }
    let (mut games, mut there): (Vec<WholeGame>, BTreeMap<String, usize>) = Default::default();
    for record in records {
        record.game.names.iter().for_each(|name| *there.entry(name.clone()).or_default() += 1);
        match WholeGame::new(record) {
            Some(game) if game.moves.is_empty() && args.pages.judges.is_empty() => without += 1,
            Some(game)
                if [Color::Black, Color::White].iter().all(|side| !is_mine(&args.pages.player, &game, *side)) =>
            {
                others += 1;
            }
            Some(game) => games.push(game),
            None => without += 1,
        }
    }
    if games.is_empty() && others > 0 {
        bail!(nobody(&args.pages.player, &there));
    }
    if problems > 3 && !args.output.is_quiet() {
        terminal::warning(&say!(language, "{} more problems of records", problems - 3));
    }
    if without > 0 && !args.output.is_quiet() {
        terminal::warning(&say!(language, "{without} records without moves are left out"));
    }
    for game in games.iter().filter(|_| !args.output.is_quiet()).take(20) {
        if let Some(illegal) = &game.illegal {
            let (source, why) = (shown_source(&game.record.source), illegal.text(language));
            terminal::warning(&format!("{source}:{}: {why}", game.record.game.line + 1));
        }
    }
    if games.is_empty() {
        bail!(text!("no game with moves was read"));
    }
    let used = games.len() as u64;
    let skipped = json!({ "no_moves": without, "of_others": others, "unreadable": problems });
    let counts = json!({ "read": used + without + others + problems, "used": used, "skipped": skipped });
    Ok(Read { games, counts, originals: reading.originals(), unread })
}

/// The game of all records.
fn rules(games: &[WholeGame]) -> anyhow::Result<Game> {
    let rules = games.first().map(WholeGame::rules).unwrap_or_default();
    if games.iter().any(|game| game.rules() != rules) {
        bail!(text!("the records hold shogi and chess; an engine plays one of them, so give the records of one game"));
    }
    Ok(rules)
}

/// The calibrations of the engines by the positions in the program, written for the next time.
fn calibrated(
    args: &Args,
    games: &[WholeGame],
    engines: &[EngineConfig],
    language: Language,
) -> anyhow::Result<Vec<Calibration>> {
    let folder = named(&args.pages.journal().with_extension(""), ".calibrations");
    let found = args.program_positions(games[0].rules(), named(&folder, ".parquet"), engines.to_vec())?;
    make_folder(&folder)?;
    let stems = file_stems(&found.iter().map(|calibration| calibration.engine.name.as_str()).collect::<Vec<_>>());
    for (calibration, stem) in found.iter().zip(stems) {
        calibration::write(calibration, folder.join(format!("{stem}.json")))?;
    }
    if !args.output.is_quiet() {
        let folder = shown(&folder);
        terminal::note(&say!(language, "--calibrations {folder} takes these calibrations the next time"));
    }
    Ok(found)
}

/// How engines are driven.
fn driver(args: &Args, game: Game, engines: Vec<EngineConfig>) -> Search {
    Search {
        game,
        engines,
        processes: args.processes.map(usize::from),
        patience: Duration::from_secs(args.patience.into()),
        fresh: args.fresh,
        most_failures: args.failures.into(),
        journal: args.pages.journal(),
        ..Search::default()
    }
}

/// Positions that tell how long an engine takes for one.
const TRIAL: usize = 12;

/// Lets the engines search every position of every game. Says before how long that takes.
fn search(args: &Args, games: &[WholeGame], engines: Vec<EngineConfig>, language: Language) -> anyhow::Result<Outcome> {
    evalcurve_engine::usi::stop_engines_on_signals()?;
    let all = |game: &WholeGame| game.open().map(|plies| game.to_search(plies)).collect::<Vec<_>>();
    let positions: Vec<Position> = games.iter().flat_map(all).collect();
    let mut search = driver(args, games[0].rules(), engines);
    make_parent(&search.journal)?;
    search.restart = args.force;
    let (quiet, checks) = (args.output.is_quiet(), args.pages.html.is_some() || !args.pages.player.is_empty());
    if positions.len() > LONG {
        let few: Vec<Position> = positions.iter().step_by(positions.len().div_ceil(TRIAL)).cloned().collect();
        let trial = search.run(&few, |_, _| false, |_| {})?;
        search.restart = false;
        let time: Duration = trial.engines.iter().filter_map(Searched::mean_time).sum();
        let mine = |game: &WholeGame| {
            let moves = game.positions.iter().take(game.moves.len());
            moves.filter(|place| is_mine(&args.pages.player, game, place.side)).count()
        };
        let more = if checks { checked::extra(games.iter().map(mine).sum(), search.game) } else { 0.0 };
        let minutes = minutes(time, positions.len() as f64 + more, &search);
        let count = thousands(positions.len() as u64);
        if !quiet {
            terminal::note(&say!(
                language,
                "{count} positions, and again around the moves that look bad: about {minutes} min; after Ctrl-C, the \
                 same command goes on"
            ));
        }
    }
    let bar = Bar::new(quiet, None, language);
    let outcome = search.run(&positions, |_, _| false, |status| bar.show(status, &[], positions.len()));
    bar.finish();
    let outcome = outcome?;
    for note in outcome.notes.iter().filter(|_| !quiet) {
        terminal::note(&note.text(language));
    }
    tell_given_up(args, &outcome, language);
    Ok(outcome)
}

fn tell_given_up(args: &Args, outcome: &Outcome, language: Language) {
    for engine in outcome.engines.iter().filter(|_| !args.output.is_quiet()) {
        if let Some(given_up) = &engine.given_up {
            terminal::warning(&given_up_words(&engine.name, given_up).text(language));
        }
    }
}

/// Positions from which on it is said how long they take.
const LONG: usize = 200;
/// A search takes less than so many times as long as the mean.
const LONGEST: u32 = 10;

/// How long so many searches take together, in whole minutes.
fn minutes(each: Duration, searches: f64, search: &Search) -> u64 {
    let processes = search.processes.unwrap_or_else(rayon::current_num_threads).max(1);
    (each.as_secs_f64() * searches / processes as f64 / 60.0).ceil() as u64
}

/// Searches the positions around moves that look bad again, deeper.
fn check(
    args: &Args,
    games: &[WholeGame],
    series: &mut [Vec<Series>],
    searched: &Outcome,
    engines: Vec<EngineConfig>,
    language: Language,
) -> anyhow::Result<Vec<Sight>> {
    let mine = |game: usize, cost: &Cost| is_mine(&args.pages.player, &games[game], cost.side);
    let asked = checked::to_check(games, series, mine);
    let limits: Vec<Limit> = engines.iter().filter_map(|engine| engine.limit).collect();
    let mut engines = engines;
    for (engine, searched) in engines.iter_mut().zip(&searched.engines) {
        engine.name.clone_from(&searched.name);
    }
    let each: Duration = searched.engines.iter().filter_map(Searched::mean_time).sum();
    // in searches of the first limit: few mistakes among many moves are worth a last look, but people make many
    let (mut times, mut spent) = (1, searched.positions as u64);
    for (round, factor) in checked::DEEPER.into_iter().enumerate() {
        let deeper = |limit| checked::times(limit, f64::from(factor));
        engines.iter_mut().for_each(|engine| engine.limit = engine.limit.map(deeper));
        let asked = if round == 0 { asked.clone() } else { checked::to_confirm(games, series, mine) };
        let mut search = driver(args, games[0].rules(), engines.clone());
        let positions: Vec<Position> = asked.iter().map(|(game, at)| games[*game].to_search(*at)).collect();
        times *= factor;
        let takes = positions.len() as u64 * u64::from(times);
        if round > 1 && takes > spent {
            break;
        }
        spent += takes;
        search.patience += LONGEST * times * each;
        let (count, minutes) = (positions.len(), minutes(each, takes as f64, &search));
        if minutes > 1 && !args.output.is_quiet() {
            terminal::note(&say!(
                language,
                "{count} positions again, with {times} times the limit: about {minutes} min"
            ));
        }
        let run = |positions: &[Position]| {
            let bar = Bar::new(args.output.is_quiet(), None, language);
            let found = search.run(positions, |_, _| false, |status| bar.show(status, &[], positions.len()));
            bar.finish();
            found
        };
        let found = run(&positions)?;
        tell_given_up(args, &found, language);
        checked::take(games, series, &asked, &found);
        // what is left is little enough to search after the better moves, too
        let better = if round == 0 { Vec::new() } else { checked::better(games, series, (&asked, &found), mine) };
        if !better.is_empty() {
            let positions = better.iter().map(|(game, at, best)| {
                let mut position = games[*game].to_search(*at);
                position.moves.push(best.clone());
                position
            });
            checked::take_better(games, series, &better, &run(&positions.collect::<Vec<_>>())?);
        }
    }
    Ok(checked::sights(games, series, &limits))
}

/// What is known of each game: what engines found, else what the record says.
fn series(games: &[WholeGame], searched: Option<&Outcome>, calibrations: &[Calibration]) -> Vec<Vec<Series>> {
    let Some(outcome) = searched else { return games.iter().map(|game| game.recorded(calibrations)).collect() };
    let mut from = 0;
    let of = |game: &WholeGame| {
        let series = outcome.engines.iter().map(|engine| game.searched(engine, from, calibrations)).collect();
        from += game.open().count();
        series
    };
    games.iter().map(of).collect()
}

/// Says once for each engine that its constant is assumed, and what its calibration does not know of the players.
fn tell_scales(args: &Args, games: &[WholeGame], series: &[Vec<Series>], language: Language) {
    let doubts = games.iter().zip(series).flat_map(|(game, all)| all.iter().filter_map(|series| game.doubt(series)));
    for doubt in doubts.filter(|_| !args.output.is_quiet()).take(3) {
        terminal::warning(&doubt.text(language));
    }
    let of = |series: &Series| match series.scale {
        Scale::Assumed(constant) => Some((series.name.clone(), constant as i64)),
        Scale::Calibrated(_) => None,
    };
    let assumed: BTreeSet<(String, i64)> = series.iter().flatten().filter_map(of).collect();
    for (name, constant) in assumed.iter().filter(|_| !args.output.is_quiet()).take(3) {
        terminal::note(&match &name[..] {
            "" => say!(
                language,
                "the record does not name its engine, so win rates are by a constant of {constant}, which is assumed"
            ),
            _ => say!(
                language,
                "no calibration of '{name}' was given, so its win rates are by a constant of {constant}, which is \
                 assumed; give its calibration with --calibrations"
            ),
        });
    }
}

fn write_pages(
    args: &Args,
    review: &Review<'_>,
    known: &[Conflicts],
    language: Language,
    written: &mut Written,
) -> anyhow::Result<()> {
    let Some(html) = &args.pages.html else { return Ok(()) };
    let games = review.games;
    let pages = games.iter().zip(review.series).enumerate().map(|(index, (game, series))| {
        GamePage::new(game, series, language).with_known(known).of_sides(review.sides(index))
    });
    if is_page(html) {
        make_parent(html)?;
        for page in pages {
            whole_file::write(html, with_flags(&page.html()?).as_bytes())?;
            written.pages.push(shown(html));
        }
        return Ok(());
    }
    make_folder(html)?;
    let named: Vec<(String, GamePage<'_>)> =
        pages.enumerate().map(|(index, page)| (page_name(index, games.len()), page)).collect();
    for (name, page) in &named {
        let path = html.join(name);
        whole_file::write(&path, with_flags(&page.html_in_set()?).as_bytes())?;
        written.pages.push(shown(&path));
    }
    let path = html.join("index.html");
    whole_file::write(&path, index(&named, review, language).as_bytes())?;
    written.pages.push(shown(&path));
    Ok(())
}

/// The file of a game among others.
fn page_name(index: usize, games: usize) -> String {
    let digits = games.to_string().len();
    format!("game-{:0digits$}.html", index + 1)
}

/// Copies each record with what the engines say inserted, into a folder per engine if there are several.
fn annotate(
    args: &Args,
    folder: &Path,
    games: &[WholeGame],
    series: &[Vec<Series>],
    originals: &[Original],
    written: &mut Written,
) -> anyhow::Result<()> {
    let form = args.pages.comments.unwrap_or_default();
    let names: Vec<&str> = series.first().into_iter().flatten().map(|series| &*series.name).collect();
    // names that differ only in what a folder cannot be called have folders of their own
    let folders = file_stems(&names);
    let left = &mut written.not_annotated;
    let problem = |source: &str, line: u64, value| Problem {
        source: source.to_owned(),
        line,
        kind: ProblemKind::Other("not_annotated"),
        value,
        is_error: false,
    };
    // by engine and file
    let none: Vec<Insertion> = Vec::new();
    let mut inserted = vec![vec![none; originals.len()]; folders.len()];
    for (game, all) in games.iter().zip(series) {
        let Some(record) = &game.record.written else { continue };
        let ((file, at), mut why) = (record.place, game.illegal.clone());
        for (series, files) in all.iter().zip(&mut inserted) {
            let (name, remarks) = (&series.name, series.remarks(game.record.game.chess));
            match insertions(record, game.record.game.plies, name, &remarks, form) {
                Ok(_) if remarks.iter().all(Option::is_none) => {
                    why = Some(text!("{name} has scored none of its positions"));
                }
                Ok(found) => files[file].extend(found.into_iter().map(|(place, text)| (at + place, text))),
                Err(reason) => why = Some(reason),
            }
        }
        left.extend(why.map(|why| problem(&game.record.source, game.record.game.line + 1, why)));
    }
    if inserted.iter().flatten().all(Vec::is_empty) && !left.is_empty() {
        let reason = left.first().map_or_else(Default::default, |problem| problem.value.clone());
        bail!(text!("--annotate: no game could be annotated; {reason}"));
    }
    let (mut taken, mut files) = (BTreeSet::new(), WholeFiles::default());
    for (number, original) in originals.iter().enumerate() {
        if !original.is_whole {
            left.push(problem(&original.source, 0, text!("it was not read to its end, so it is not written")));
            continue;
        }
        let name = free_name(&original.source, &taken);
        taken.insert(name.to_lowercase());
        for (engine, inserted) in folders.iter().zip(&inserted) {
            let into = if folders.len() > 1 { folder.join(engine) } else { folder.to_owned() };
            let path = into.join(&name);
            make_parent(&path)?;
            files.add(&path, &original.with(&inserted[number]))?;
            written.annotated.push(shown(&path));
        }
    }
    Ok(files.finish()?)
}

/// The last part of a source's name, which no other source has got in large or small letters.
fn free_name(source: &str, taken: &BTreeSet<String>) -> String {
    let last = file_stem(source.rsplit(['/', '\\']).next().unwrap_or_default());
    // a packed record is written as it is without its packing
    let packed = [".gz", ".bz2", ".zst", ".xz"].into_iter().find_map(|end| last.strip_suffix(end));
    let last = packed.unwrap_or(&last).to_owned();
    let (stem, end) =
        last.rsplit_once('.').map_or((last.as_str(), String::new()), |(stem, end)| (stem, format!(".{end}")));
    let numbered = (2..).map(|number| format!("{stem}-{number}{end}"));
    std::iter::once(last.clone()).chain(numbered).find(|name| !taken.contains(&name.to_lowercase())).unwrap_or(last)
}

/// Mistakes in the terminal.
const MOST_MISTAKES: usize = 20;

/// What the noise of the searches lets one see: where it hides mistakes, first of all.
fn noise_words(review: &Review<'_>, sights: &[Sight], language: Language) -> Vec<String> {
    let of = |sight: &Sight| {
        let series = review.series.first()?.get(sight.engine)?;
        // a warning has said that it failed
        let silent = |game: &Vec<Series>| game.get(sight.engine).is_none_or(|s| s.said.iter().all(Option::is_none));
        if review.series.iter().all(silent) {
            return None;
        }
        let (name, first) = (&series.name, series.limit.clone().unwrap_or_default());
        let deeper = series.deeper.first().map(|(limit, _)| limit.clone()).unwrap_or_default();
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let Some(deep) = sight.noise[1] else {
            return Some(say!(
                language,
                "{name}: cannot tell how far searches with {deeper} can be trusted: too few moves were its own choice; \
                 no move is called a mistake"
            ));
        };
        let (edge, mistake) = (percent(deep.edge), 100.0 * MISTAKE);
        let shallow = sight.noise[0].map_or_else(|| "–".to_owned(), |noise| percent(noise.edge));
        if !sight.blind {
            return Some(say!(
                language,
                "{name}: neighbouring searches differ by up to {shallow} points in four of five cases with {first}, \
                 and by {edge} with {deeper}, which decides"
            ));
        }
        let advice = match sight.would_do.as_ref().map(|limit| limit.to_string()) {
            Some(limit) => say!(language, "; {limit} would do, as the noise falls"),
            None => say!(language, "; a much longer limit is needed"),
        };
        Some(say!(
            language,
            "{name}: the noise hides mistakes: neighbouring searches differ by up to {edge} points in four of five \
             cases even with {deeper}, and a mistake is {mistake:.0}{advice}"
        ))
    };
    let mut sights: Vec<&Sight> = sights.iter().collect();
    sights.sort_by_key(|sight| !sight.blind);
    sights.into_iter().filter_map(of).collect()
}

/// The moves that cost most, in the terminal.
fn summary(
    review: &Review<'_>,
    sights: &[Sight],
    known: &[Conflicts],
    written: &Written,
    language: Language,
) -> String {
    let (games, series) = (review.games, review.series);
    let mut out = String::new();
    for line in noise_words(review, sights, language) {
        out += &wrap(&(line + "\n"), terminal::width(), 2);
    }
    if games.len() == 1 || !review.players.is_empty() {
        let all = review.mistakes();
        let verdict = |(_, cost): &(usize, &Cost)| language.word(cost.verdict()).to_owned();
        let played = |(game, cost): &(usize, &Cost)| games[*game].played(cost.ply, language).unwrap_or_default();
        let better = |(game, cost): &(usize, &Cost)| {
            let better = review.better(*game, cost.ply);
            better.iter().map(|words| words.in_language(language)).collect::<Vec<_>>().join(", ")
        };
        let columns = Columns::new()
            .when(games.len() > 1, |columns| {
                columns.name(language.word("game"), 22, |(game, _): &(usize, &Cost)| review.names[*game].clone())
            })
            .left(language.word("move"), 17, played)
            .left(language.word("verdict"), 8, verdict)
            .right(language.word("cost"), 8, |(_, cost)| cost.points())
            .gap(2)
            .left(language.word("better move"), 16, better)
            .left(language.word("phase of the game"), 10, |(game, cost)| {
                language.word(PHASES[games[*game].phase(cost.ply)]).to_owned()
            });
        let judged: usize = review.costs.iter().map(Vec::len).sum();
        if !review.players.is_empty() {
            let (count, found) = (games.len(), all.len());
            out += &(say!(language, "{found} mistakes in {judged} moves of {count} games") + "\n");
        }
        if all.is_empty() {
            out += &(no_mistake(judged, series.first().map_or(&[], Vec::as_slice), language) + "\n");
        } else {
            out += &(terminal::heading(columns.head().trim_end()) + "\n");
            let rows = all.iter().take(if review.players.is_empty() { 10 } else { MOST_MISTAKES });
            rows.for_each(|row| out += &(columns.row(row).trim_end().to_owned() + "\n"));
        }
        out += "\n";
    }
    if !review.players.is_empty() {
        let phases = review.phases();
        let columns = Columns::new()
            .left(language.word("phase of the game"), 12, |phase: &Phase| language.word(phase.name).to_owned())
            .right(language.word("moves judged"), 7, |phase| thousands(phase.moves as u64))
            .right(language.word("mistakes"), 9, |phase| phase.mistakes.to_string())
            .right(language.word("blunders"), 9, |phase| phase.blunders.to_string())
            .right(language.word("mean cost"), 10, |phase| format!("{:.1}", 100.0 * phase.cost));
        out += &(terminal::heading(columns.head().trim_end()) + "\n");
        phases.iter().for_each(|phase| out += &(columns.row(phase).trim_end().to_owned() + "\n"));
        out += &review.trend(language).map_or_else(String::new, |trend| trend + "\n");
        out += "\n";
    }
    if !known.is_empty() {
        out += &disputes(review, known, language);
    }
    for conflict in searched_conflicts(games, series) {
        out += &(told(&conflict, &series[0], language) + "\n");
    }
    let list = [&written.pages, &written.annotated].into_iter().flatten().chain(&written.graph);
    list.for_each(|path| out += &format!("{path}\n"));
    out
}

/// Most disputes in the terminal.
const MOST_DISPUTES: usize = 20;

/// What the engines say side by side where they are furthest apart, and whom to believe.
fn disputes(review: &Review<'_>, known: &[Conflicts], language: Language) -> String {
    let (games, series) = (review.games, review.series);
    let mut all: Vec<(usize, usize, Dispute<'_>)> = Vec::new();
    for (index, (game, engines)) in games.iter().zip(series).enumerate() {
        let of = |at: usize| Some((index, at, dispute(game, engines, at, known)?));
        match games.len() {
            1 => all.extend(disagreements(engines, game.positions.len()).into_iter().filter_map(|(at, _)| of(at))),
            _ => all.extend((0..game.positions.len()).filter_map(of)),
        }
    }
    let apart = |(.., dispute): &(usize, usize, Dispute<'_>)| dispute.rates[0] - dispute.rates[1];
    all.retain(|found| apart(found) >= MISTAKE);
    all.sort_by(|a, b| apart(b).total_cmp(&apart(a)).then((a.0, a.1).cmp(&(b.0, b.1))));
    if all.is_empty() {
        return say!(language, "Nowhere are the engines {:.0} points apart.", 100.0 * MISTAKE) + "\n\n";
    }
    let mut out = terminal::heading(language.word("Whom to believe where the engines disagree")) + "\n";
    for (index, at, dispute) in all.iter().take(MOST_DISPUTES) {
        let (game, engines) = (&games[*index], &series[*index]);
        let names: Vec<String> = engines.iter().map(|series| series.name.clone()).collect();
        let line = || say!(language, "line {}", game.record.game.line + 1);
        let place = game.played(*at, language).unwrap_or_else(line);
        let source = if games.len() > 1 { format!("{} ", review.names[*index]) } else { String::new() };
        let said = |series: &Series| {
            let said = series.at(*at)?;
            let rate = game.rate_of(game.positions[*at].side, said);
            let best = said.best.as_ref().map_or_else(String::new, |best| format!(" {}", best.in_language(language)));
            Some(format!("{} {:.0}%{best}", series.name, 100.0 * rate))
        };
        let said: Vec<String> = engines.iter().filter_map(said).collect();
        out += &format!("{source}{place}: {}\n  {}\n", said.join(", "), verdict(dispute, &names, language));
    }
    out + "\n"
}

/// Names the engines about which the table says nothing.
fn tell_unjudged(args: &Args, series: &[Vec<Series>], known: &[Conflicts], language: Language) {
    if args.pages.judges.is_empty() || args.output.is_quiet() {
        return;
    }
    let judged: BTreeSet<&str> = known.iter().flat_map(|c| &c.engines).map(String::as_str).collect();
    let names: BTreeSet<&str> = series.iter().flatten().map(|series| series.name.as_str()).collect();
    for name in names.difference(&judged) {
        let there = judged.iter().copied().collect::<Vec<_>>().join(", ");
        terminal::warning(&say!(
            language,
            "--judges says nothing of {name}: its engines are {there}; give the engine its name there with name=NAME"
        ));
    }
}

/// The conflicts of engines that searched the games; the players of a record have different names in each.
fn searched_conflicts(games: &[WholeGame], series: &[Vec<Series>]) -> Vec<Conflict> {
    let searched = series.iter().flatten().all(|series| series.limit.is_some());
    if searched && games.len() > 1 { conflicts(games, series) } else { Vec::new() }
}

fn told(conflict: &Conflict, engines: &[Series], language: Language) -> String {
    let [first, second] = conflict.engines.map(|engine| &*engines[engine].name);
    let (positions, games, (right, error)) = (conflict.positions, conflict.games, conflict.right);
    let error = error.map_or_else(String::new, |error| format!(" ± {:.0}", 100.0 * error));
    say!(
        language,
        "{first} and {second} are on different sides of 50% in {positions} positions of {games} decided games; {first} \
         is right in {:.0}%{error} of them (mean and standard error over games)",
        100.0 * right
    )
}

fn engine_document(series: &Series) -> Value {
    let (assumed, constant) = match &series.scale {
        Scale::Assumed(constant) => (true, Some(*constant)),
        Scale::Calibrated(calibration) => (false, calibration.constant().map(|constant| constant.value)),
    };
    json!({
        "engine": series.name, "limit": series.limit,
        "side": series.own.map(|side| format!("{side:?}").to_lowercase()),
        "positions": series.said.iter().flatten().count(), "constant": constant, "assumed": assumed,
        "given_up": series.given_up,
        "deeper": series.deeper.iter().map(|(limit, _)| limit).collect::<Vec<_>>(),
        "win_rates": (0..series.said.len()).map(|at| series.known(at).map(|said| said.rates[0])).collect::<Vec<_>>(),
    })
}

fn document(review: &Review<'_>, counts: Value, sights: &[Sight], known: &[Conflicts], written: &Written) -> Value {
    let (games, series) = (review.games, review.series);
    let game = |(game, series): (&WholeGame, &Vec<Series>)| {
        let all = costs(game, series);
        let cost = |cost: &Cost| {
            let words = &game.moves[cost.ply - 1].words;
            json!({
                "ply": cost.ply, "move": words.record, "cost": cost.cost, "within": cost.edge,
                "by": cost.by, "win_rates": cost.rates, "verdict": cost.verdict(),
            })
        };
        let disputed = |at: usize| {
            let found = dispute(game, series, at, known).filter(|found| found.rates[0] - found.rates[1] >= MISTAKE)?;
            Some(json!({
                "after_move": at, "engines": found.engines.map(|engine| &series[engine].name),
                "win_rates": found.rates, "believe": found.believe().map(|engine| &series[engine].name),
                "known": found.known,
            }))
        };
        let accuracies = [Color::Black, Color::White].map(|side| accuracy(&all, side));
        json!({
            "source": &*game.record.source, "line": game.record.game.line + 1, "moves": game.moves.len(),
            "illegal": game.illegal,
            "engines": series.iter().map(engine_document).collect::<Vec<_>>(),
            "accuracy": accuracies,
            "disputes": (0..game.positions.len()).filter_map(disputed).collect::<Vec<_>>(),
            "costly": costly(&all).into_iter().map(cost).collect::<Vec<_>>(),
        })
    };
    let conflict = |conflict: &Conflict| {
        json!({
            "engines": conflict.engines.map(|engine| &series[0][engine].name),
            "positions": conflict.positions, "games": conflict.games,
            "first_right": conflict.right.0, "standard_error": conflict.right.1,
        })
    };
    let not_annotated =
        |problem: &Problem| json!({ "source": problem.source, "line": problem.line, "reason": problem.value });
    let noise = |noise: &Option<Noise>| {
        noise.map(|noise| json!({ "mean": noise.mean, "four_of_five": noise.edge, "pairs": noise.pairs }))
    };
    let sight = |sight: &Sight| {
        let series = series.first().and_then(|series| series.get(sight.engine));
        json!({
            "engine": series.map(|series| &series.name), "limit": series.map(|series| &series.limit),
            "deeper": series.and_then(|series| Some(&series.deeper.first()?.0)),
            "noise": noise(&sight.noise[0]), "noise_deeper": noise(&sight.noise[1]),
            "hides_mistakes": sight.blind, "would_do": sight.would_do.map(|limit| limit.to_string()),
        })
    };
    let page = |game: usize| {
        // one page has the name that it was given
        let last = written.pages.last()?;
        Some(if written.pages.len() == 1 { file_name(last).to_owned() } else { page_name(game, games.len()) })
    };
    json!({
        "searches": sights.iter().map(sight).collect::<Vec<_>>(),
        "review": review.document(page),
        "conflicts": searched_conflicts(games, series).iter().map(conflict).collect::<Vec<_>>(),
        "games": counts,
        "whole_games": games.iter().zip(series).map(game).collect::<Vec<_>>(),
        "pages": written.pages, "annotated": written.annotated, "graph": written.graph,
        "not_annotated": written.not_annotated.iter().map(not_annotated).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stands_beside_a_folder_however_it_is_written() {
        for (path, kept) in
            [("pages", "pages.journal"), ("a/pages/", "a/pages.journal"), ("./x.html", "./x.html.journal")]
        {
            assert_eq!(named(Path::new(path), ".journal"), Path::new(kept));
        }
    }
}
