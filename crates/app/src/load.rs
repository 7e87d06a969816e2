//! Reads records and tables into one sample table.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, Read, stdin};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use evalcurve_records::record::find::{Entry, expand_globs, find};
use evalcurve_records::record::source::Refusal;
use evalcurve_records::record::{Formats, SkipReason};
use evalcurve_records::sample::alias::matches_glob;
use evalcurve_records::sample::collect::{CollectError, Problem, ProblemKind};
use evalcurve_records::sample::{CollectOptions, Collected, ReadReport, Rows, Sample, SampleTable, collect};
use evalcurve_tables as table;
use evalcurve_tables::{CsvTable, MOST_HEADER, Source, TableError, TableOptions, TableReader, is_table, looks_like};
use evalcurve_words::language::Text;
use evalcurve_words::text::folded;
use evalcurve_words::{key, text};

use super::options::{FileFormat, Filters, Fitting, Reading};
use super::{Error, Input, InputSource, Outcome, Progress};
use crate::calibrate::ratings;
use crate::calibrate::signs::mend_signs;
use crate::report::text as words;

/// Standard input.
const STDIN: &str = "-";

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// What an engine is called in the message about a wrong name.
const ENGINE: &str = key!("engine");

/// Names that a message offers for a wrong one.
const NEAREST: usize = 3;

/// Reads the inputs, renames engines, filters samples, and estimates ratings if the records have none.
pub fn load(
    reading: &Reading,
    fitting: &Fitting,
    input: &Input,
    progress: &Progress,
) -> Result<Outcome<SampleTable>, Error> {
    let mut loaded = load_part(reading, fitting, input, progress)?;
    let sampling = reading.sampling();
    if fitting.turn_signs {
        loaded.notes.extend(mend_signs(&mut loaded.value));
    }
    loaded.notes.extend(ratings::fill(&mut loaded.value));
    loaded.notes.extend(words::packed_notes(&loaded.report, sampling.packed_every));
    if loaded.value.samples.is_empty() {
        loaded.notes.extend(words::no_sample_note(&loaded.report, sampling.from_ply));
    }
    Ok(loaded)
}

/// Reads the inputs, renames engines and filters samples: what can be done with a part of the games.
pub fn load_part(
    reading: &Reading,
    fitting: &Fitting,
    input: &Input,
    progress: &Progress,
) -> Result<Outcome<SampleTable>, Error> {
    if input.sources.is_empty() {
        return Err(text!("no input: give records or a table").into());
    }
    let aliases = reading.filters.aliases()?;
    let paths = expand_globs(&input.files())?;
    let mut sorted = sorted(reading, input, &paths)?;
    refuse_strictly(reading, sorted.passed_over.first())?;
    let mut collected = match sorted.has_records() {
        true => read_records(reading, fitting, &sorted.entries, &sorted.games, progress)?,
        false => Collected::default(),
    };
    progress.ended.store(true, Relaxed);
    let passed_over = std::mem::take(&mut sorted.passed_over);
    let mut notes = read_tables(reading, sorted, &mut collected)?;
    passed_over.into_iter().for_each(|problem| pass_over(problem, &mut collected.report));
    let is_named = |path: &&PathBuf| path.is_file() || is_stdin(path);
    let named = paths.iter().filter(is_named).map(|path| path.to_string_lossy().into_owned()).collect();
    let Collected { mut table, mut report, positions } = collected;
    notes.append(&mut report.notes);
    table.apply_aliases(&aliases);
    notes.extend(unmatched_names(&reading.filters, fitting, &table)?);
    let mut conditions = reading.filters.conditions();
    let terminations = &reading.filters.terminations;
    if table.games.iter().any(|game| !terminations.contains(game.termination)) {
        conditions.push(terminations.condition());
    }
    let filtered = table.apply_filter(&conditions);
    report.skip_used(SkipReason::Filtered, filtered);
    Ok(Outcome { value: table, report, positions, notes, named })
}

/// The inputs, by how they are read.
#[derive(Default)]
struct Sorted<'a> {
    entries: Vec<Entry>,
    /// How many of the entries are files.
    records: usize,
    games: Vec<Rows>,
    tables: Vec<PathBuf>,
    in_memory: Vec<(&'a str, Arc<dyn Source>)>,
    passed_over: Vec<Problem>,
}

impl Sorted<'_> {
    fn has_records(&self) -> bool {
        let has_tables = !self.tables.is_empty() || !self.in_memory.is_empty();
        !self.entries.is_empty() || !self.games.is_empty() || !has_tables
    }
}

fn sorted<'a>(reading: &Reading, input: &'a Input, paths: &[PathBuf]) -> Result<Sorted<'a>, Error> {
    let options = reading.tables();
    let mut paths = paths.to_vec();
    let has_stdin = paths.iter().any(|path| is_stdin(path));
    // what was looked at stays there for the reader of records
    let is_table = |head: &[u8]| is_table_in_memory(STDIN, head, reading.format, &options);
    let table_in_stdin = has_stdin && stdin().lock().fill_buf().is_ok_and(is_table);
    paths.retain(|path| !(table_in_stdin && is_stdin(path)));
    let (files, entries) = inputs(reading, &paths)?;
    let records = entries.len();
    let mut sorted = Sorted { entries, records, ..Sorted::default() };
    for path in files {
        // what is wrong with a file is reported by its reader
        match table::read_games(&path, &options) {
            Ok(Some(rows)) => sorted.games.push(rows),
            Ok(None) | Err(_) => sorted.tables.push(path),
        }
    }
    for source in &input.sources {
        let (name, table) = match source {
            InputSource::Path(path) if table_in_stdin && is_stdin(path) => {
                (STDIN, csv_in_memory(STDIN, stdin().lock()))
            }
            InputSource::Path(_) => continue,
            InputSource::Bytes(name, bytes) if !is_table_in_memory(name, bytes, reading.format, &options) => {
                sorted.entries.push(Entry::in_memory(name.as_str(), bytes.clone()));
                continue;
            }
            InputSource::Bytes(name, bytes) => (name.as_str(), csv_in_memory(name, &bytes[..])),
            InputSource::Table(name, table) => (name.as_str(), Ok(table.clone())),
        };
        match table.and_then(|table| Ok((games_of(name, table.as_ref(), &options)?, table))) {
            Ok((Some(rows), _)) => sorted.games.push(rows),
            Ok((None, table)) => sorted.in_memory.push((name, table)),
            Err(problem) if input.sources.len() == 1 || matches!(source, InputSource::Table(..)) => {
                return Err(problem.about(&Text::same(name)).into());
            }
            Err(problem) => sorted.passed_over.push(unreadable(name.to_owned(), problem)),
        }
    }
    Ok(sorted)
}

/// Adds the samples of the tables to those of the records. Returns notes.
fn read_tables(reading: &Reading, inputs: Sorted<'_>, collected: &mut Collected) -> Result<Vec<Text>, Error> {
    let has_records = inputs.has_records();
    let Sorted { records, games, tables, in_memory, .. } = inputs;
    let first = tables.first().map(|path| path.to_string_lossy().into_owned());
    let Some(first) = first.or_else(|| Some(in_memory.first()?.0.to_owned())) else { return Ok(Vec::new()) };
    let mut reader = TableReader::new(&mut collected.table, reading.tables());
    let mut refused = Vec::new();
    for path in &tables {
        match reader.read(path) {
            Ok(()) => {}
            Err(error) if tables.len() + records + games.len() == 1 || !path.exists() => return Err(error.into()),
            Err(error) => {
                let problem = refusal(path, &error);
                refuse_strictly(reading, Some(&problem))?;
                refused.push((problem, error));
            }
        }
        refuse_strictly(reading, reader.problems.iter().find(|p| p.is_error))?;
    }
    for (name, table) in in_memory {
        reader.add(table.as_ref() as &dyn Source, name)?;
    }
    if !refused.is_empty() && refused.len() == tables.len() && !has_records {
        // nothing was read: the first error is the result of the command
        return Err(refused.swap_remove(0).1.into());
    }
    reader.finish();
    let notes = words::tables_without_games(&reader.without_games).into_iter().collect();
    let (problems, count, copies) = (reader.problems, reader.count, reader.copies);
    let report = &mut collected.report;
    report.problems.extend(problems);
    report.problems.extend(without_effect(reading, first));
    refused.into_iter().for_each(|(problem, _)| pass_over(problem, report));
    report.positions.insert("table", count);
    let from_tables = collected.table.games.len() as u64 - report.games_used;
    report.games_read += from_tables;
    report.games_used += from_tables;
    report.skip_used(SkipReason::SameMoves, copies);
    collected.table.sort();
    Ok(notes)
}

/// The first problem is an error under `strict`.
fn refuse_strictly(reading: &Reading, problem: Option<&Problem>) -> Result<(), CollectError> {
    match problem.filter(|problem| problem.is_error && reading.strict) {
        Some(problem) => Err(CollectError::Strict(problem.clone())),
        None => Ok(()),
    }
}

/// Reports a file that is not used.
fn pass_over(problem: Problem, report: &mut ReadReport) {
    *report.files_refused.entry(problem.kind.as_str()).or_default() += 1;
    report.problems.push(problem);
}

/// Whether a file in memory is a table, as for files on disk.
fn is_table_in_memory(name: &str, bytes: &[u8], format: Option<FileFormat>, options: &TableOptions) -> bool {
    match format {
        Some(format) => format == FileFormat::Table,
        None => is_table(Path::new(name)) || table::is_parquet(bytes) || table::looks_like_csv(bytes, options),
    }
}

/// A table in memory, or why it cannot be used.
fn csv_in_memory(name: &str, mut from: impl BufRead) -> Result<Arc<dyn Source>, Text> {
    if from.fill_buf().is_ok_and(table::is_parquet) {
        return Err(text!("a Parquet table is read from a file only; write it as CSV"));
    }
    Ok(Arc::new(CsvTable::read(from, name).map_err(|error| error.problem)?))
}

/// The games of a table that holds them; `None` if it holds samples, and an error if it holds neither.
fn games_of(name: &str, table: &dyn Source, options: &TableOptions) -> Result<Option<Rows>, Text> {
    if table::holds_samples(&table.names(), options) {
        return Ok(None);
    }
    let games = table::games(table, name)?;
    if games.is_none() {
        // the reader says which column is missing
        let mut samples = SampleTable::default();
        TableReader::new(&mut samples, options.clone()).add(table, name).map_err(|error| error.problem)?;
    }
    Ok(games)
}

/// The problem of options of sampling that do not act on tables, such as the first one.
fn without_effect(reading: &Reading, source: String) -> Option<Problem> {
    let options: Vec<String> =
        reading.without_effect_on_tables().into_iter().map(|option| format!("`{option}`")).collect();
    let options = (!options.is_empty()).then(|| options.join(", "))?;
    let value = text!("{options}; the rows of tables are drawn already: sample the records again");
    Some(Problem { source, line: 0, kind: ProblemKind::Other("no_effect"), value, is_error: false })
}

/// The problem of a table that is not used.
fn refusal(path: &Path, error: &TableError) -> Problem {
    let source = path.to_string_lossy().into_owned();
    unreadable(source, error.problem.clone())
}

/// The problem of a file or folder that is not used.
fn unreadable(source: String, value: Text) -> Problem {
    Problem { source, line: 0, kind: Refusal::Unreadable.into(), value, is_error: true }
}

/// The message for a glob that matches none of the names, with the nearest ones; `None` if it matches one.
pub fn unmatched(what: &'static str, glob: &str, names: &BTreeSet<&str>) -> Option<Text> {
    if names.is_empty() || names.iter().any(|name| matches_glob(glob, name)) {
        return None;
    }
    let several: Vec<&str> = glob.split(['、', ',', '，']).map(str::trim).collect();
    if several.len() > 1 && several.iter().all(|part| names.iter().any(|name| matches_glob(part, name))) {
        let what = Text::word(what);
        return Some(text!("no {what} matches '{glob}'; give one name at a time, and the option once for each"));
    }
    let wanted = folded(&glob.replace(['*', '?', '＊', '？'], ""));
    let mut near: Vec<(f64, &str)> =
        names.iter().map(|name| (strsim::jaro_winkler(&wanted, &folded(name)), *name)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let nearest: Vec<&str> = near.iter().take(NEAREST).map(|(_, name)| *name).collect();
    let (what, nearest) = (Text::word(what), Text::list(nearest.into_iter().map(Text::same)));
    Some(text!("no {what} matches '{glob}'; nearest: {nearest}"))
}

/// Notes for names of the options that match no engine; an error if a filter matches none at all.
fn unmatched_names(filters: &Filters, fitting: &Fitting, table: &SampleTable) -> Result<Vec<Text>, Text> {
    let aliases: Vec<&str> = filters.alias.iter().filter_map(|rule| Some(rule.split_once('=')?.0.trim())).collect();
    let thresholds = fitting.mate_threshold.iter().filter_map(|(engine, _)| engine.as_deref()).collect();
    let engine = filters.engine.iter().map(String::as_str).collect();
    let options: [(&str, &'static str, Vec<&str>); 3] =
        [("engine", ENGINE, engine), ("mate-threshold", ENGINE, thresholds), ("alias", key!("player"), aliases)];
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
        let names = if option == "alias" { &players } else { &engines };
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
    what: &'static str,
    globs: impl IntoIterator<Item = &'a str>,
    names: &BTreeSet<&str>,
) -> Result<Vec<Text>, Text> {
    let globs: Vec<&str> = globs.into_iter().collect();
    let mut wrong: Vec<Text> = globs.iter().filter_map(|glob| unmatched(what, glob, names)).collect();
    if option == "engine" && !wrong.is_empty() && wrong.len() == globs.len() {
        return Err(wrong.swap_remove(0));
    }
    Ok(wrong.iter().map(|message| message.about(&Text::same(format!("`{option}`")))).collect())
}

/// Keeps what is of the engines that the filter names, all if it names none. Returns notes for names that match
/// nothing.
///
/// # Errors
/// If all names match nothing.
pub fn keep_engines<T>(list: &mut Vec<T>, wanted: &[String], name: impl Fn(&T) -> &str) -> Result<Vec<Text>, Text> {
    let names = list.iter().map(&name).collect();
    let notes = wrong_globs("engine", ENGINE, wanted.iter().map(String::as_str), &names)?;
    list.retain(|one| wanted.is_empty() || wanted.iter().any(|glob| matches_glob(glob, name(one))));
    Ok(notes)
}

/// Separates tables from records by content. A named file with the ending of a table is always a table, so that a
/// missing column is reported. In folders, only files with these endings can be tables.
fn inputs(reading: &Reading, paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<Entry>), Error> {
    let (mut tables, mut records) = (Vec::new(), Vec::new());
    if reading.format.is_some_and(|format| format != FileFormat::Table) {
        return Ok((tables, find(paths)?));
    }
    let options = reading.tables();
    for (at, path) in paths.iter().cloned().enumerate() {
        if !path.is_dir() {
            let forced = reading.format == Some(FileFormat::Table);
            // devices and pipes are refused with the records
            let can_be_one = path.is_file() || !path.exists();
            let is_one = can_be_one && (forced || is_table(&path) || looks_like(&head(&path), &options));
            if is_one {
                tables.push(path);
            } else {
                // of a path with blanks and without quotes the others are parts
                records.extend(find(&[path]).or_else(|_| find(&paths[at..]))?);
            }
            continue;
        }
        let is_one =
            |entry: &Entry| entry.path.as_ref().is_some_and(|file| is_table(file) && looks_like(&head(file), &options));
        let (found, others): (Vec<Entry>, Vec<Entry>) = find(&[path])?.into_iter().partition(is_one);
        tables.extend(found.into_iter().filter_map(|table| table.path));
        records.extend(others);
    }
    Ok((tables, records))
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

fn read_records(
    reading: &Reading,
    fitting: &Fitting,
    entries: &[Entry],
    games: &[Rows],
    progress: &Progress,
) -> Result<Collected, Error> {
    let options = CollectOptions {
        sampling: reading.sampling(),
        threads: reading.threads(),
        strict: reading.strict,
        verify: reading.verify,
        material: reading.material || fitting.kind().needs().material || reading.filters.names_material(),
        formats: Formats::default().only(match reading.format {
            Some(FileFormat::Records(format)) => Some(format),
            Some(FileFormat::Table) | None => None,
        }),
    };
    let collected = collect(entries, games, &options, progress);
    if progress.stop.load(Relaxed) {
        return Err(Error::Interrupted);
    }
    Ok(collected?)
}
