//! What a command found, and what it met while it read.

use std::collections::{BTreeMap, BTreeSet};

use evalcurve_records::record::source::Refusal;
use evalcurve_records::sample::collect::{Problem, kind_words};
use evalcurve_records::sample::{Positions, ReadReport};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::say;
use evalcurve_words::text::shown_source;

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
    pub(crate) named: BTreeSet<String>,
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
    /// A value that needed no reading, with notes.
    pub fn noted(value: T, notes: Vec<Text>) -> Self {
        Self { notes, ..Self::from(value) }
    }

    /// Another value with the same reading.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Outcome<U> {
        let Self { value, report, positions, notes, named } = self;
        Outcome { value: of(value), report, positions, notes, named }
    }

    /// Shows the first problems of each kind to `warn`, and that there are more, and the notes, to `note`.
    pub fn tell(&self, language: Language, warn: impl Fn(&str), note: impl Fn(&str)) {
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        // most folders have files in other formats; the summary counts them
        let is_shown = |p: &&Problem| p.kind != Refusal::UnknownFormat.into() || self.named.contains(&p.source);
        let mut last_folder = "";
        for problem in self.report.problems.iter().filter(is_shown) {
            let count = shown.entry(problem.kind.as_str()).or_default();
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
                let kind = kind_words(problem.kind.as_str()).text(language);
                note(&say!(language, "further cases of '{kind}' are only counted"));
            }
        }
        self.notes.iter().for_each(|text| note(&text.text(language)));
    }
}
