//! Reads records and sample tables, with a progress bar.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::options::{FormatArg, InputArgs};
use super::terminal;
use crate::calibrate::ratings;
use crate::record::SkipReason;
use crate::record::find::{expand_globs, find};
use crate::record::source::Refusal;
use crate::report::text;
use crate::sample::collect::CollectError;
use crate::sample::{CollectOptions, Collected, Progress, collect};
use crate::table::{TableReader, is_table, looks_like};

/// Problems of each kind that are printed; the JSON document has more.
const SHOWN: usize = 3;

/// The sample table and the report on reading it.
pub(super) struct Loaded {
    pub collected: Collected,
    /// Notes for the user, for example on ratings and on tables without games.
    pub notes: Vec<String>,
}

/// Reads the inputs, renames engines, filters samples, and estimates ratings if the records have none. The material is
/// counted if the caller or the arguments ask for it.
pub(super) fn load(args: &InputArgs, material: bool, quiet: bool) -> anyhow::Result<Loaded> {
    let material = material || args.material();
    let threads = args.threads();
    // one thread pool for all computation; a second call in one process keeps the first pool
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    let aliases = args.filters.aliases()?;
    let (tables, records) = tables_and_records(args)?;
    let mut collected =
        if records.is_empty() { Collected::default() } else { read_records(args, &records, material, quiet)? };
    let mut notes = Vec::new();
    if !tables.is_empty() {
        let mut reader = TableReader::new(&mut collected.table, args.tables());
        for path in &tables {
            reader.read(path)?;
            if let Some(problem) = reader.problems.iter().find(|p| p.strict && args.strict) {
                return Err(CollectError::Strict(problem.clone()).into());
            }
        }
        notes.extend(text::tables_without_games(&reader.without_games));
        let (problems, count) = (reader.problems, reader.count);
        let report = &mut collected.report;
        report.problems.extend(problems);
        report.positions.insert("table", count);
        let from_tables = collected.table.games.len() as u64 - report.games_used;
        report.games_read += from_tables;
        report.games_used += from_tables;
    }
    collected.table.apply_aliases(&aliases);
    let filtered = collected.table.apply_filter(&args.filters.conditions());
    collected.report.skip_used(SkipReason::Filtered, filtered);
    notes.extend(ratings::fill(&mut collected.table));
    notes.extend(text::packed_notes(&collected.report, args.packed_every));
    Ok(Loaded { collected, notes })
}

/// Separates tables from records by content. A named file with the ending of a table is always a table, so that a
/// missing column is reported. In folders, only files with these endings can be tables.
fn tables_and_records(args: &InputArgs) -> anyhow::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut tables, mut records) = (Vec::new(), Vec::new());
    let paths = expand_globs(&args.paths)?;
    if args.format.is_some_and(|format| format != FormatArg::Table) {
        return Ok((tables, paths));
    }
    let options = args.tables();
    for path in paths {
        if !path.is_dir() {
            let forced = args.format == Some(FormatArg::Table);
            let is_one = forced || is_table(&path) || looks_like(&head(&path), &options);
            if is_one { &mut tables } else { &mut records }.push(path);
            continue;
        }
        let inside = find(std::slice::from_ref(&path))?.into_iter();
        // a link to a folder above it would be read again
        let inside = inside.filter_map(|entry| entry.path.filter(|p| entry.problem.is_none() || !is_linked_folder(p)));
        let (found, others): (Vec<PathBuf>, Vec<PathBuf>) =
            inside.partition(|file| is_table(file) && looks_like(&head(file), &options));
        if found.is_empty() {
            records.push(path);
        } else {
            tables.extend(found);
            records.extend(others);
        }
    }
    Ok((tables, records))
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
        let _ = file.take(4_096).read_to_end(&mut head);
    }
    head
}

fn read_records(args: &InputArgs, records: &[PathBuf], material: bool, quiet: bool) -> anyhow::Result<Collected> {
    let options = CollectOptions {
        sampling: args.sampling(),
        threads: args.threads(),
        strict: args.strict,
        verify: args.verify,
        material,
        format: args.record_format(),
    };
    let progress = Progress::default();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if !quiet {
                show(&progress, &done);
            }
        });
        let collected = collect(records, &options, &progress);
        done.store(true, Relaxed);
        Ok(collected?)
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
    pub(super) fn tell(&self, quiet: bool) {
        if quiet {
            return;
        }
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        // most folders have files in other formats; the summary counts them
        let problems = &self.collected.report.problems;
        for problem in problems.iter().filter(|p| p.kind != Refusal::UnknownFormat.as_str()) {
            let count = shown.entry(problem.kind).or_default();
            *count += 1;
            match (*count).cmp(&(SHOWN + 1)) {
                Ordering::Less => terminal::warning(&problem.to_string()),
                Ordering::Equal => {
                    terminal::note(&format!("further cases of '{}' are only counted", problem.kind.replace('_', " ")));
                }
                Ordering::Greater => {}
            }
        }
        for note in &self.notes {
            terminal::note(note);
        }
    }
}
