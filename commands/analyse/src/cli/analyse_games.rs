//! `evalcurve analyse --html`, `--annotate` and `--graph`: whole games for people who look at them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use evalcurve_app::cli::files::{check_replace, is_there, make_folder, make_parent, note_all, shown, write_figure};
use evalcurve_app::cli::options::one_of;
use evalcurve_app::cli::{Done, terminal};
use evalcurve_app::judge::judges::Conflicts;
use evalcurve_app::report::columns::Columns;
use evalcurve_app::{Input, Judge, Judged, Progress, known, with_flags};
use evalcurve_calibration::types::Color;
use evalcurve_figures::PlotOptions;
use evalcurve_fit::calibration::{Calibration, file_stem, file_stems};
use evalcurve_records::record::find::{expand_globs, find};
use evalcurve_records::record::source::Refusal;
use evalcurve_records::sample::collect::Problem;
use evalcurve_records::{Original, games_of};
use evalcurve_words::language::Language;
use evalcurve_words::text::shown_source;
use evalcurve_words::whole_file::{self, WholeFiles};
use evalcurve_words::{say, text};
use serde_json::{Value, json};

use super::analyse::{Args, Bar, given_up_words};
use crate::annotate::{Form, Insertion, insertions};
use crate::games::{
    Conflict, Cost, Dispute, MISTAKE, Scale, Series, WholeGame, accuracy, conflicts, costly, costs, disagreements,
    dispute,
};
use crate::page::{GamePage, index, verdict};
use crate::{Outcome, Position};

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
        self.html.is_some() || self.annotate.is_some() || self.graph.is_some() || !self.judges.is_empty()
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
        let mut name = beside.cloned().unwrap_or_else(|| PathBuf::from("analysed")).into_os_string();
        name.push(".journal");
        name.into()
    }
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html") || e.eq_ignore_ascii_case("htm"))
}

fn check_folder(path: &Path, force: bool) -> anyhow::Result<()> {
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
    let judged = args.pages.judged(args.output.is_quiet(), language)?;
    let calibrations = &judged.calibrations;
    let Read { games, counts, originals, unread } = read(args, language)?;
    args.pages.check(games.len(), args.force)?;
    let searched = if args.engine.is_empty() { None } else { Some(search(args, &games, language)?) };
    let series = series(&games, searched.as_ref(), calibrations);
    if series.iter().all(Vec::is_empty) {
        bail!(text!("no record has a score of the players or an analysis; name an engine with --engine"));
    }
    tell_unjudged(args, &series, &judged.conflicts, language);
    tell_scales(args, &games, &series, language);
    let mut written = Written::default();
    write_pages(args, &games, &series, &judged.conflicts, language, &mut written)?;
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
    let document = || document(&games, counts, &series, known, &written);
    args.output.print(document, || summary(&games, &series, known, &written, language))?;
    Ok(tell_not_annotated(&written.not_annotated, language))
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
    let (mut games, mut unread, mut problems, mut without) = (Vec::new(), Vec::new(), 0_u64, 0_u64);
    let mut reading = games_of(entries).with_moves();
    for found in reading.by_ref() {
        match found {
            Ok(record) => match WholeGame::new(record) {
                Some(game) if !(game.moves.is_empty() && args.pages.judges.is_empty()) => games.push(game),
                _ => without += 1,
            },
            Err(problem) if args.strict => bail!(problem),
            Err(problem) => {
                problems += 1;
                if problems <= 3 && !args.output.is_quiet() {
                    terminal::warning(&problem.text(language));
                }
                // a folder may hold other files
                if ![Refusal::UnknownFormat, Refusal::Empty].iter().any(|other| other.as_str() == problem.kind) {
                    unread.push(problem);
                }
            }
        }
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
    let skipped = json!({ "no_moves": without, "unreadable": problems });
    let counts = json!({ "read": used + without + problems, "used": used, "skipped": skipped });
    Ok(Read { games, counts, originals: reading.originals(), unread })
}

/// Lets the engines search every position of every game.
fn search(args: &Args, games: &[WholeGame], language: Language) -> anyhow::Result<Outcome> {
    evalcurve_engine::usi::stop_engines_on_signals()?;
    let rules = games[0].rules();
    if games.iter().any(|game| game.rules() != rules) {
        bail!(text!("the records hold shogi and chess; an engine plays one of them, so give the records of one game"));
    }
    let positions: Vec<Position> = games.iter().flat_map(WholeGame::to_search).collect();
    let journal = args.pages.journal();
    make_parent(&journal)?;
    let search = crate::Search {
        game: rules,
        engines: args.engines(rules)?,
        processes: args.processes.map(usize::from),
        patience: Duration::from_secs(args.patience.into()),
        fresh: args.fresh,
        most_failures: args.failures.into(),
        journal,
        restart: args.force,
        ..crate::Search::default()
    };
    let bar = Bar::new(args.output.is_quiet(), None, language);
    let outcome = search.run(&positions, |_, _| false, |status| bar.show(status, &[], positions.len()));
    bar.finish();
    let outcome = outcome?;
    for note in outcome.notes.iter().filter(|_| !args.output.is_quiet()) {
        terminal::note(&note.text(language));
    }
    for engine in outcome.engines.iter().filter(|_| !args.output.is_quiet()) {
        if let Some(given_up) = &engine.given_up {
            terminal::warning(&given_up_words(&engine.name, given_up).text(language));
        }
    }
    Ok(outcome)
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
        terminal::note(&say!(
            language,
            "no calibration of '{name}' was given, so its win rates are by a constant of {constant}, which is assumed; \
             give its calibration with --calibrations"
        ));
    }
}

fn write_pages(
    args: &Args,
    games: &[WholeGame],
    series: &[Vec<Series>],
    known: &[Conflicts],
    language: Language,
    written: &mut Written,
) -> anyhow::Result<()> {
    let Some(html) = &args.pages.html else { return Ok(()) };
    let pages = games.iter().zip(series).map(|(game, series)| GamePage::new(game, series, language).with_known(known));
    if is_page(html) {
        make_parent(html)?;
        for page in pages {
            whole_file::write(html, with_flags(&page.html()?).as_bytes())?;
            written.pages.push(shown(html));
        }
        return Ok(());
    }
    make_folder(html)?;
    let digits = games.len().to_string().len();
    let named: Vec<(String, GamePage<'_>)> =
        (1..).zip(pages).map(|(number, page)| (format!("game-{number:0digits$}.html"), page)).collect();
    for (name, page) in &named {
        let path = html.join(name);
        whole_file::write(&path, with_flags(&page.html()?).as_bytes())?;
        written.pages.push(shown(&path));
    }
    let path = html.join("index.html");
    whole_file::write(&path, index(&named, language).as_bytes())?;
    written.pages.push(shown(&path));
    Ok(())
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
        kind: "not_annotated",
        value,
        strict: false,
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
                Ok(found) if found.is_empty() => why = Some(text!("{name} has scored none of its positions")),
                Ok(found) => files[file].extend(found.into_iter().map(|(place, text)| (at + place, text))),
                Err(reason) => why = Some(reason),
            }
        }
        left.extend(why.map(|why| problem(&game.record.source, game.record.game.line + 1, why)));
    }
    if inserted.iter().flatten().all(Vec::is_empty) {
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

/// The moves that cost most, in the terminal.
fn summary(
    games: &[WholeGame],
    series: &[Vec<Series>],
    known: &[Conflicts],
    written: &Written,
    language: Language,
) -> String {
    let mut out = String::new();
    if let ([game], [series]) = (games, series) {
        let all = costs(game, series);
        let rows: Vec<&Cost> = costly(&all).into_iter().take(10).collect();
        let verdict = |cost: &&Cost| language.word(cost.verdict()).to_owned();
        let played = |cost: &&Cost| format!("{} {}", cost.ply, game.moves[cost.ply - 1].words.in_language(language));
        let columns = Columns::new()
            .left(language.word("move"), 20, played)
            .left(language.word("verdict"), 10, verdict)
            .right(language.word("cost"), 6, |cost: &&Cost| cost.points());
        if rows.is_empty() {
            out += &say!(language, "No move cost {:.0} points or more.", 100.0 * MISTAKE);
            out += "\n";
        } else {
            out += &(terminal::heading(columns.head().trim_end()) + "\n");
            rows.iter().for_each(|row| out += &(columns.row(row).trim_end().to_owned() + "\n"));
        }
        out += "\n";
    }
    if !known.is_empty() {
        out += &disputes(games, series, known, language);
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
fn disputes(games: &[WholeGame], series: &[Vec<Series>], known: &[Conflicts], language: Language) -> String {
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
        let place = match at.checked_sub(1).and_then(|at| game.moves.get(at)) {
            Some(played) => format!("{at} {}", played.words.in_language(language)),
            None => say!(language, "line {}", game.record.game.line + 1),
        };
        let source = if games.len() > 1 { format!("{} ", shown_source(&game.record.source)) } else { String::new() };
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
        "win_rates": series.said.iter().map(|said| said.as_ref().map(|said| said.rates[0])).collect::<Vec<_>>(),
    })
}

fn document(
    games: &[WholeGame],
    counts: Value,
    series: &[Vec<Series>],
    known: &[Conflicts],
    written: &Written,
) -> Value {
    let game = |(game, series): (&WholeGame, &Vec<Series>)| {
        let all = costs(game, series);
        let cost = |cost: &Cost| {
            let words = &game.moves[cost.ply - 1].words;
            json!({
                "ply": cost.ply, "move": words.record, "cost": cost.cost, "win_rates": cost.rates,
                "verdict": cost.verdict(),
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
    json!({
        "conflicts": searched_conflicts(games, series).iter().map(conflict).collect::<Vec<_>>(),
        "games": counts,
        "whole_games": games.iter().zip(series).map(game).collect::<Vec<_>>(),
        "pages": written.pages, "annotated": written.annotated, "graph": written.graph,
        "not_annotated": written.not_annotated.iter().map(not_annotated).collect::<Vec<_>>(),
    })
}
