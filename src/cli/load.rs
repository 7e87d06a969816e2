//! Reads records and sample tables, with a progress bar.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{anyhow, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::options::{FormatArg, InputArgs};
use super::{embed, terminal};
use crate::calibrate::ratings;
use crate::language::{Language, Text};
use crate::record::SkipReason;
use crate::record::find::{Entry, expand_globs, find};
use crate::record::source::Refusal;
use crate::report::text;
use crate::sample::alias::matches_glob;
use crate::sample::collect::{CollectError, Problem, kind_words};
use crate::sample::{CollectOptions, Collected, Progress, Rows, Sample, SampleTable, collect_with_rows};
use crate::say;
use crate::table::{self, MOST_HEADER, TableError, TableReader, is_table, looks_like};

/// Problems of each kind that are printed; the JSON document has more.
const SHOWN: usize = 3;

/// What an engine is called in the message about a wrong name.
const ENGINE: (&str, &str) = ("engine", "エンジン");

/// Names that a message offers for a wrong one.
const NEAREST: usize = 3;

/// The sample table and the report on reading it.
pub(super) struct Loaded {
    pub collected: Collected,
    /// Notes for the user, for example on ratings and on tables without games.
    pub notes: Vec<Text>,
    /// The language of messages.
    language: Language,
    /// The files that the user named; other files are from folders.
    named: BTreeSet<String>,
}

/// Reads the inputs, renames engines, filters samples, and estimates ratings if the records have none.
pub(super) fn load(args: &InputArgs, quiet: bool) -> anyhow::Result<Loaded> {
    let mut loaded = load_part(args, quiet)?;
    loaded.notes.extend(ratings::fill(&mut loaded.collected.table));
    loaded.notes.extend(text::packed_notes(&loaded.collected.report, args.packed_every));
    if loaded.collected.table.samples.is_empty() {
        loaded.notes.extend(text::no_sample_note(&loaded.collected.report, args.from_ply));
    }
    Ok(loaded)
}

/// Reads the inputs, renames engines and filters samples: what can be done with a part of the games.
pub(super) fn load_part(args: &InputArgs, quiet: bool) -> anyhow::Result<Loaded> {
    let threads = args.threads();
    // one thread pool for all computation; a second call in one process keeps the first pool
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    let aliases = args.filters.aliases()?;
    let paths = expand_globs(&args.paths)?;
    let Inputs { tables: files, records, passed_over } = inputs(args, &paths)?;
    if let Some(problem) = passed_over.first().filter(|_| args.strict) {
        return Err(CollectError::Strict(problem.clone()).into());
    }
    let (mut tables, mut in_memory, mut games) = (Vec::new(), Vec::new(), Vec::new());
    for path in files {
        // what is wrong with a file is reported by its reader
        match table::read_games(&path, &args.tables()) {
            Ok(Some(rows)) => games.push(rows),
            Ok(None) | Err(_) => tables.push(path),
        }
    }
    for (name, table) in embed::given().unwrap_or_default().tables {
        let is_samples = table::holds_samples(&table.names(), &args.tables());
        let rows = if is_samples { Ok(None) } else { table::games(table.as_ref(), &name) };
        match rows.map_err(|message| anyhow!("{name}: {message}"))? {
            Some(rows) => games.push(rows),
            None => in_memory.push((name, table)),
        }
    }
    let is_read = !records.is_empty() || !games.is_empty();
    let mut collected = if is_read { read_records(args, &records, &games, quiet)? } else { Collected::default() };
    let mut notes = Vec::new();
    if !tables.is_empty() || !in_memory.is_empty() {
        let mut reader = TableReader::new(&mut collected.table, args.tables());
        let mut refused = Vec::new();
        for path in &tables {
            match reader.read(path) {
                Ok(()) => {}
                Err(error) if tables.len() + records.len() + games.len() == 1 || !path.exists() => {
                    return Err(error.into());
                }
                Err(error) => {
                    let problem = refusal(path, &error);
                    if args.strict {
                        return Err(CollectError::Strict(problem).into());
                    }
                    refused.push((problem, error));
                }
            }
            if let Some(problem) = reader.problems.iter().find(|p| p.strict && args.strict) {
                return Err(CollectError::Strict(problem.clone()).into());
            }
        }
        for (name, table) in &in_memory {
            reader.add(table.as_ref(), name)?;
        }
        if !refused.is_empty() && refused.len() == tables.len() && !is_read {
            // nothing was read: the first error is the result of the command
            return Err(refused.swap_remove(0).1.into());
        }
        reader.finish();
        notes.extend(text::tables_without_games(&reader.without_games));
        let (problems, count) = (reader.problems, reader.count);
        let report = &mut collected.report;
        report.problems.extend(problems);
        for (problem, _) in refused {
            *report.files_refused.entry(problem.kind).or_default() += 1;
            report.problems.push(problem);
        }
        report.positions.insert("table", count);
        let from_tables = collected.table.games.len() as u64 - report.games_used;
        report.games_read += from_tables;
        report.games_used += from_tables;
        collected.table.sort();
    }
    for problem in passed_over {
        *collected.report.files_refused.entry(problem.kind).or_default() += 1;
        collected.report.problems.push(problem);
    }
    let named = paths.iter().filter(|path| path.is_file()).map(|path| path.to_string_lossy().into_owned()).collect();
    collected.table.apply_aliases(&aliases);
    notes.extend(unmatched_names(args, &collected.table)?);
    let mut conditions = args.filters.conditions();
    let terminations = &args.filters.terminations;
    if collected.table.games.iter().any(|game| !terminations.contains(game.termination)) {
        conditions.push(terminations.condition());
    }
    let filtered = collected.table.apply_filter(&conditions);
    collected.report.skip_used(SkipReason::Filtered, filtered);
    Ok(Loaded { collected, notes, language: args.language.chosen(), named })
}

/// The problem of a table that is not used.
fn refusal(path: &Path, error: &TableError) -> Problem {
    let source = path.to_string_lossy().into_owned();
    let (words, named) = (error.words(), format!("{source}: "));
    let value = Text::of(|language| {
        let text = words.text(language);
        text.strip_prefix(&named).unwrap_or(&text).to_owned()
    });
    unreadable(source, value)
}

/// The problem of a file or folder that is not used.
fn unreadable(source: String, value: Text) -> Problem {
    Problem { source, line: 0, kind: Refusal::Unreadable.as_str(), value, strict: true }
}

/// The message for a glob that matches none of the names, with the nearest ones; `None` if it matches one.
pub(super) fn unmatched(what: (&str, &str), glob: &str, names: &BTreeSet<&str>) -> Option<Text> {
    if names.is_empty() || names.iter().any(|name| matches_glob(glob, name)) {
        return None;
    }
    let wanted = glob.replace(['*', '?'], "").to_lowercase();
    let mut near: Vec<(f64, &str)> =
        names.iter().map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), *name)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let nearest: Vec<&str> = near.iter().take(NEAREST).map(|(_, name)| *name).collect();
    Some(Text::of(|language| {
        let (what, nearest) = (language.choose(what.0, what.1), nearest.join(language.choose(", ", "、")));
        say!(
            language,
            "no {what} matches '{glob}'; nearest: {nearest}",
            "'{glob}' に合う{what}がありません。近い名前: {nearest}"
        )
    }))
}

/// Notes for names of the arguments that match no engine or no opponent; an error if a filter matches none at all.
fn unmatched_names(args: &InputArgs, table: &SampleTable) -> anyhow::Result<Vec<Text>> {
    fn list(globs: &[String]) -> Vec<&str> {
        globs.iter().map(String::as_str).collect()
    }
    let filters = &args.filters;
    let aliases: Vec<&str> = filters.alias.iter().filter_map(|rule| Some(rule.split_once('=')?.0.trim())).collect();
    let thresholds = args.fit.mate_threshold.iter().filter_map(|(engine, _)| engine.as_deref()).collect();
    let (engine, opponent, player) = (ENGINE, ("opponent", "対局相手"), ("player", "対局者"));
    let options: [(&str, (&str, &str), Vec<&str>); 5] = [
        ("--engine", engine, list(&filters.engine)),
        ("--opponent", opponent, list(&filters.opponent)),
        ("--not-engine", engine, list(&filters.not_engine)),
        ("--mate-threshold", engine, thresholds),
        ("--alias", player, aliases),
    ];
    if options.iter().all(|(.., globs)| globs.is_empty()) {
        return Ok(Vec::new());
    }
    let names = |of: fn(&Sample) -> u32| -> BTreeSet<&str> {
        let ids: BTreeSet<u32> = table.samples.iter().map(of).collect();
        ids.into_iter().map(|id| table.names.get(id)).filter(|name| !name.is_empty()).collect()
    };
    let (engines, opponents) = (names(|s| s.engine), names(|s| s.opponent));
    let replaced = table.aliases.values().flatten().map(String::as_str);
    let players = engines.iter().chain(&opponents).copied().chain(replaced).collect();
    let mut notes = Vec::new();
    for (option, what, globs) in options {
        let names = match option {
            "--opponent" => &opponents,
            "--alias" => &players,
            _ => &engines,
        };
        notes.extend(wrong_globs(option, what, globs, names)?);
    }
    Ok(notes)
}

/// Notes for the globs of an option that match none of the names.
///
/// # Errors
/// If none of the globs of a filter matches a name: nothing would be left.
fn wrong_globs<'a>(
    option: &str,
    what: (&str, &str),
    globs: impl IntoIterator<Item = &'a str>,
    names: &BTreeSet<&str>,
) -> Result<Vec<Text>, Text> {
    let globs: Vec<&str> = globs.into_iter().collect();
    let mut wrong: Vec<Text> = globs.iter().filter_map(|glob| unmatched(what, glob, names)).collect();
    if ["--engine", "--opponent"].contains(&option) && !wrong.is_empty() && wrong.len() == globs.len() {
        return Err(wrong.swap_remove(0));
    }
    Ok(wrong.iter().map(|message| message.about(&Text::same(option))).collect())
}

/// Keeps what is of the engines that --engine names, all if it names none. Returns notes for names that match nothing.
///
/// # Errors
/// If all names match nothing.
pub(super) fn keep_engines<T>(
    list: &mut Vec<T>,
    wanted: &[String],
    name: impl Fn(&T) -> &str,
) -> Result<Vec<Text>, Text> {
    let names = list.iter().map(&name).collect();
    let notes = wrong_globs("--engine", ENGINE, wanted.iter().map(String::as_str), &names)?;
    list.retain(|one| wanted.is_empty() || wanted.iter().any(|glob| matches_glob(glob, name(one))));
    Ok(notes)
}

/// What the paths lead to.
#[derive(Default)]
struct Inputs {
    tables: Vec<PathBuf>,
    records: Vec<PathBuf>,
    /// Links that lead back to a folder above them.
    passed_over: Vec<Problem>,
}

/// Separates tables from records by content. A named file with the ending of a table is always a table, so that a
/// missing column is reported. In folders, only files with these endings can be tables.
fn inputs(args: &InputArgs, paths: &[PathBuf]) -> anyhow::Result<Inputs> {
    let mut inputs = Inputs::default();
    if args.format.is_some_and(|format| format != FormatArg::Table) {
        inputs.records = paths.to_vec();
        return Ok(inputs);
    }
    let options = args.tables();
    for path in paths.iter().cloned() {
        if !path.is_dir() {
            let forced = args.format == Some(FormatArg::Table);
            // devices and pipes are refused with the records
            let can_be_one = path.is_file() || !path.exists();
            let is_one = can_be_one && (forced || is_table(&path) || looks_like(&head(&path), &options));
            if is_one { &mut inputs.tables } else { &mut inputs.records }.push(path);
            continue;
        }
        let (mut tables, mut others, mut loops) = (Vec::new(), Vec::new(), Vec::new());
        for Entry { path: file, display, problem, .. } in find(std::slice::from_ref(&path))? {
            let Some(file) = file else { continue };
            match problem {
                // as a path of its own, it would be read again
                Some(problem) if is_linked_folder(&file) => loops.push(unreadable(display, problem.into())),
                _ if is_table(&file) && looks_like(&head(&file), &options) => tables.push(file),
                _ => others.push(file),
            }
        }
        if tables.is_empty() {
            inputs.records.push(path);
        } else {
            inputs.tables.extend(tables);
            inputs.records.extend(others);
            inputs.passed_over.extend(loops);
        }
    }
    Ok(inputs)
}

fn is_linked_folder(path: &Path) -> bool {
    path.is_symlink() && path.is_dir()
}

/// The first bytes of a file; none if it cannot be read, which its reader will report.
fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(MOST_HEADER).read_to_end(&mut head);
    }
    head
}

fn read_records(args: &InputArgs, records: &[PathBuf], games: &[Rows], quiet: bool) -> anyhow::Result<Collected> {
    let options = CollectOptions {
        sampling: args.sampling(),
        threads: args.threads(),
        strict: args.strict,
        verify: args.verify,
        material: args.material(),
        format: args.record_format(),
    };
    let called = embed::given();
    // who calls shows the progress
    let quiet = quiet || called.is_some();
    let progress = called.map_or_else(Default::default, |called| called.progress);
    let bar = |done: &AtomicBool| {
        if !quiet {
            show(&progress, done);
        }
    };
    let collected = while_shown(bar, || collect_with_rows(records, games, &options, &progress));
    if progress.stop.load(Relaxed) {
        bail!("interrupted");
    }
    Ok(collected?)
}

/// Does the work while another thread shows its progress, until its flag is set.
fn while_shown<T>(show: impl FnOnce(&AtomicBool) + Send, work: impl FnOnce() -> T) -> T {
    /// Sets the flag also where the work panics; else the scope would wait for the other thread for ever.
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| show(&done));
        let _ends = Ends(&done);
        work()
    })
}

/// Draws the progress bar until `done`, if standard error is a terminal.
fn show(progress: &Progress, done: &AtomicBool) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if bar.is_hidden() {
        return;
    }
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg} eta {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    let start = std::time::Instant::now();
    while !done.load(Relaxed) {
        let games = progress.games.load(Relaxed);
        bar.set_length(progress.total_bytes.load(Relaxed));
        bar.set_position(progress.bytes.load(Relaxed));
        let rate = games as f64 / start.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!("{games} games {rate:.0}/s"));
        std::thread::sleep(Duration::from_millis(80));
    }
    bar.finish_and_clear();
}

impl Loaded {
    /// Prints problems and notes to standard error.
    pub(super) fn warn(&self, quiet: bool) {
        if quiet {
            return;
        }
        let language = self.language;
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        // most folders have files in other formats; the summary counts them
        let is_shown = |p: &&Problem| p.kind != Refusal::UnknownFormat.as_str() || self.named.contains(&p.source);
        for problem in self.collected.report.problems.iter().filter(is_shown) {
            let count = shown.entry(problem.kind).or_default();
            *count += 1;
            match (*count).cmp(&(SHOWN + 1)) {
                Ordering::Less => terminal::warning(&problem.text(language)),
                Ordering::Equal => {
                    let kind = kind_words(problem.kind, language);
                    terminal::note(&say!(
                        language,
                        "further cases of '{kind}' are only counted",
                        "以降の「{kind}」は数えるだけにします"
                    ));
                }
                Ordering::Greater => {}
            }
        }
        for note in &self.notes {
            terminal::note(&note.text(language));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_progress_bar() {
        let bar = |done: &AtomicBool| {
            while !done.load(Relaxed) {
                std::thread::yield_now();
            }
        };
        assert_eq!(while_shown(bar, || 1), 1);
        let work = || while_shown(bar, || panic!("a reader panics on purpose"));
        assert!(std::panic::catch_unwind(work).is_err());
    }
}
