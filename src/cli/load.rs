//! Reads whatever the paths name, records or sample tables, with a progress bar.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::options::InputArgs;
use super::terminal;
use crate::calibrate::ratings;
use crate::record::SkipReason;
use crate::record::find::expand_globs;
use crate::record::source::Refusal;
use crate::report::text;
use crate::sample::table::{is_table, read_into};
use crate::sample::{CollectOptions, Collected, Progress, collect};

/// Problems told of each kind; the JSON document holds more.
const SHOWN: usize = 3;

/// The table and how it came about.
pub(super) struct Loaded {
    pub collected: Collected,
    /// Rows of sample tables that were read, and how many of them passed over.
    pub rows: Option<(u64, u64)>,
    /// What is worth a remark: ratings, tables without games.
    pub notes: Vec<String>,
}

/// Reads, renames, filters, and rates where the records do not.
pub(super) fn load(args: &InputArgs, quiet: bool) -> anyhow::Result<Loaded> {
    let threads = args.threads();
    // one pool for everything that computes; a second call in one process keeps the first
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    let aliases = args.aliases()?;
    let (tables, records): (Vec<PathBuf>, Vec<PathBuf>) =
        expand_globs(&args.paths)?.into_iter().partition(|p| is_table(p));
    let mut collected = if records.is_empty() { Collected::default() } else { read_records(args, &records, quiet)? };
    let mut notes = Vec::new();
    let mut rows = None;
    for path in &tables {
        let read = read_into(&mut collected.table, path, threads)?;
        if let Some(problem) = read.problems.iter().find(|p| p.strict && args.strict) {
            return Err(crate::sample::collect::CollectError::Strict(problem.clone()).into());
        }
        let (all, skipped) = rows.unwrap_or((0, 0));
        rows = Some((all + read.rows, skipped + read.rows_skipped));
        if read.no_games {
            let path = path.display();
            notes.push(format!("{path}: no column 'game'; every sample counts as a game, intervals are too narrow"));
        }
        collected.report.problems.extend(read.problems);
    }
    if !tables.is_empty() {
        let games = collected.table.games.len() as u64;
        let from_tables = games - collected.report.games_used;
        collected.report.games_read += from_tables;
        collected.report.games_used += from_tables;
    }
    collected.table.apply_aliases(&aliases);
    let filtered = collected.table.apply_filter(&args.filter());
    collected.report.skip_used(SkipReason::Filtered, filtered);
    notes.extend(ratings::fill(&mut collected.table));
    notes.extend(text::packed_notes(&collected.report, args.packed_every));
    Ok(Loaded { collected, rows, notes })
}

fn read_records(args: &InputArgs, records: &[PathBuf], quiet: bool) -> anyhow::Result<Collected> {
    let options = CollectOptions {
        sampling: args.sampling(),
        threads: args.threads(),
        strict: args.strict,
        verify: args.verify,
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
        done.store(true, Ordering::Relaxed);
        Ok(collected?)
    })
}

/// Draws the progress bar until `done`; nothing where standard error is not a terminal.
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
    while !done.load(Ordering::Relaxed) {
        let games = progress.games.load(Ordering::Relaxed);
        bar.set_length(progress.total_bytes.load(Ordering::Relaxed));
        bar.set_position(progress.bytes.load(Ordering::Relaxed));
        let rate = games as f64 / start.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!("{games} games {rate:.0}/s"));
        std::thread::sleep(Duration::from_millis(80));
    }
    bar.finish_and_clear();
}

impl Loaded {
    /// Tells the problems and remarks on standard error.
    pub(super) fn tell(&self, quiet: bool) {
        if quiet {
            return;
        }
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        for problem in &self.collected.report.problems {
            let count = shown.entry(problem.kind).or_default();
            *count += 1;
            // files of other kinds lie in every folder; the summary counts them
            if *count <= SHOWN && problem.kind != Refusal::UnknownFormat.as_str() {
                terminal::warning(&problem.to_string());
            } else if *count == SHOWN + 1 && problem.kind != Refusal::UnknownFormat.as_str() {
                terminal::note(&format!("further cases of '{}' are only counted", problem.kind.replace('_', " ")));
            }
        }
        for note in &self.notes {
            terminal::note(note);
        }
    }
}
