//! Commands as values: options in, results out. The program, the Python package and any other host fill a struct, run
//! it, and show the outcome in their own way; nothing here prints, or knows how a host spells its options.
//!
//! ```no_run
//! use evalcurve::run::{Calibrate, Input, Progress};
//!
//! let found = Calibrate::default().run(&Input::paths(["games/"]), &Progress::default())?;
//! for calibration in found.value.results.iter().filter_map(|result| result.calibration.as_ref()) {
//!     println!("{}: {:?}", calibration.engine.name, calibration.constant());
//! }
//! # Ok::<(), evalcurve::run::Error>(())
//! ```
//!
//! A message names an option by its word in backticks, such as `min-samples`; [`with_options`] gives it the
//! spelling of a host.

mod calibrate;
mod calibrations;
mod curve;
mod diagnose;
mod evaluate;
mod load;
mod match_stats;
mod options;
mod replay;
mod rescale;
mod thresholds;
mod winrate;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::calibration::CalibrationError;
use crate::language::{Language, Text, ToText};
use crate::record::find::SourceError;
use crate::record::source::Refusal;
use crate::sample::collect::{CollectError, Problem, kind_words};
use crate::sample::{Positions, ReadReport};
use crate::table::{Source, TableError};
use crate::text::{portable_path, shown_source};

pub use crate::sample::Progress;
pub use calibrate::{Calibrate, Calibrated, Forecasts, Judge, Judged, Sample};
pub use calibrations::{Compare, Constant, EngineConstant, Export};
#[cfg(feature = "cli")]
pub(crate) use calibrations::{calibration, calibrations_in, is_calibration, one_file, with_calibrations_of_folders};
pub use curve::{Curve, Curves};
pub use diagnose::{Diagnose, Diagnosed};
pub use evaluate::Evaluate;
pub use match_stats::{MatchResults, MatchStats};
pub use options::{DEFAULT_BANDS, FileFormat, Filters, Fitting, OPTIONS, Reading, Sampling, with_flags, with_options};
pub use replay::{Logs, Replay, learned_document, replay_document};
pub use rescale::{Rescale, Rescaled, RescaledFile, Stage, Teacher};
pub use thresholds::{
    Adjudicated, AdjudicationRule, Bias, Certificate, CertifiedRule, DEFAULT_DRAW_FROM, Losing, Thresholds,
};
pub use winrate::{Answer, Converter, Winrate, seconds_of};

/// Something to read.
#[derive(Debug, Clone)]
pub enum InputSource {
    /// A file, a folder, an archive, a glob, or `-` for standard input.
    Path(PathBuf),
    /// A file in memory: its name in messages, and its content.
    Bytes(String, Arc<[u8]>),
    /// A table in memory, with its name in messages.
    Table(String, Arc<dyn Source>),
}

/// What a command reads. Tables are read after the files.
#[derive(Debug, Clone, Default)]
pub struct Input {
    pub sources: Vec<InputSource>,
}

impl Input {
    /// Files, folders, archives and globs.
    pub fn paths<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self { sources: paths.into_iter().map(|path| InputSource::Path(path.into())).collect() }
    }

    fn files(&self) -> Vec<PathBuf> {
        let path = |source: &InputSource| match source {
            InputSource::Path(path) => Some(path.clone()),
            InputSource::Bytes(..) | InputSource::Table(..) => None,
        };
        self.sources.iter().filter_map(path).collect()
    }

    /// The inputs for the calibration file, without folders of this machine. Files in memory that are in a folder count
    /// as the folder.
    fn words(&self) -> Vec<String> {
        let word = |source: &InputSource| match source {
            InputSource::Path(path) => {
                let name = path.file_name().filter(|_| path.has_root() || path.starts_with(".."));
                Some(portable_path(name.map_or(path, Path::new)))
            }
            InputSource::Bytes(name, _) => name.split('/').next().map(str::to_owned),
            InputSource::Table(..) => None,
        };
        let mut words: Vec<String> = self.sources.iter().filter_map(word).filter(|word| !word.is_empty()).collect();
        words.dedup();
        words
    }
}

/// What a command found, and what it met while it read.
#[derive(Debug, Clone, Default)]
pub struct Outcome<T> {
    pub value: T,
    /// What was read and skipped, and the problems.
    pub report: ReadReport,
    /// How the positions of the samples are reached, where engines are to score them.
    pub positions: Positions,
    /// Notes, for example on ratings and on tables without games.
    pub notes: Vec<Text>,
    /// The files that the user named; other files are from folders.
    named: BTreeSet<String>,
}

impl<T> From<T> for Outcome<T> {
    fn from(value: T) -> Self {
        let (report, positions) = (ReadReport::default(), Positions::default());
        Self { value, report, positions, notes: Vec::new(), named: BTreeSet::new() }
    }
}

/// Problems of each kind that are worth showing; the report has more.
const SHOWN: usize = 3;

/// The folder of a file is not repeated if it is longer than this.
const LONG_PATH: usize = 40;

impl<T> Outcome<T> {
    /// Another value with the same reading.
    fn map<U>(self, of: impl FnOnce(T) -> U) -> Outcome<U> {
        let Self { value, report, positions, notes, named } = self;
        Outcome { value: of(value), report, positions, notes, named }
    }

    /// Shows the first problems of each kind to `warn`, and that there are more, and the notes, to `note`.
    pub fn tell(&self, language: Language, warn: impl Fn(&str), note: impl Fn(&str)) {
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        // most folders have files in other formats; the summary counts them
        let is_shown = |p: &&Problem| p.kind != Refusal::UnknownFormat.as_str() || self.named.contains(&p.source);
        let mut last_folder = "";
        for problem in self.report.problems.iter().filter(is_shown) {
            let count = shown.entry(problem.kind).or_default();
            *count += 1;
            if *count <= SHOWN {
                // a long path is shown once
                let source = match problem.source.rsplit_once(['/', '\\']) {
                    Some((folder, name)) if folder == last_folder && folder.len() > LONG_PATH => format!("…/{name}"),
                    place => {
                        last_folder = place.map_or("", |(folder, _)| folder);
                        problem.source.clone()
                    }
                };
                warn(&Problem { source: shown_source(&source), ..problem.clone() }.text(language));
            } else if *count == SHOWN + 1 {
                let kind = kind_words(problem.kind).text(language);
                note(&crate::say!(language, "further cases of '{kind}' are only counted"));
            }
        }
        self.notes.iter().for_each(|text| note(&text.text(language)));
    }
}

/// Why a command has no outcome.
#[derive(Debug, thiserror::Error, ToText)]
pub enum Error {
    /// Records cannot be read.
    #[error(transparent)]
    Records(#[from] CollectError),
    /// A table cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A calibration file cannot be read.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// Another file cannot be read: the file and what failed.
    #[error("{what}: {source}")]
    File { what: String, source: io::Error },
    /// [`Progress::stop`] was set.
    #[error("interrupted")]
    Interrupted,
    /// An option or the data allow no result.
    #[error(transparent)]
    Said(#[from] Text),
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Self {
        CollectError::from(error).into()
    }
}

impl Error {
    /// An error with the words of another.
    fn said(error: impl ToText) -> Self {
        Self::Said(error.to_text())
    }

    /// The kind of the input or output error, if it is one.
    pub fn io(&self) -> Option<io::ErrorKind> {
        let missing = |path: &str| (!Path::new(path).exists()).then_some(io::ErrorKind::NotFound);
        match self {
            Self::File { source, .. } | Self::Calibration(CalibrationError::Io { source, .. }) => Some(source.kind()),
            Self::Records(CollectError::Source(SourceError { path, .. })) => missing(path),
            // a table in memory has another name
            Self::Table(TableError { file: Some(file), .. }) if crate::table::is_table(Path::new(file)) => {
                missing(file)
            }
            _ => None,
        }
    }
}

/// Computes on this many threads, or on the current rayon pool if it has as many or no number is given.
///
/// # Errors
/// [`Error::File`] if the system gives no threads.
pub fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
    /// The stack of each thread, as the main thread of a program has it.
    const STACK: usize = 8 << 20;
    let is_there =
        |threads: &usize| rayon::current_thread_index().is_some() && rayon::current_num_threads() == *threads;
    let Some(threads) = threads.map(|n| n.max(1)).filter(|n| !is_there(n)) else { return Ok(work()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    let failed = |error| Error::File { what: "cannot begin threads".to_owned(), source: io::Error::other(error) };
    Ok(pool.map_err(failed)?.install(work))
}
