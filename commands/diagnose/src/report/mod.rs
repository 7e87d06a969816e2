//! The report of a diagnosis: sections, each of which answers a question. Text prints their answers, JSON answers and
//! values, and the page (`html`) answers and bodies.
//!
//! A section is one file with its `Section`, which `SECTIONS` lists.

mod differ;
pub(crate) mod head;
mod json;
mod judges;
mod read;
mod right;
mod scale;
mod signs;
mod split;
mod sure;

use serde_json::Value;

pub use self::json::SCHEMA;
use crate::Diagnosis;
use crate::headline::headline;
use evalcurve_app::calibrate::{CalibrateOptions, EngineResult};
use evalcurve_app::report::model::{Block, folded};
use evalcurve_app::report::text::{self, Line, thousands};
use evalcurve_figures::{Figure, PlotError, PlotOptions};
use evalcurve_records::sample::ReadReport;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::say;

/// A question about calibrations, and how a report answers it. The texts are keys of
/// [`Language::word`](evalcurve_words::language::Language::word).
pub(crate) struct Section {
    /// The anchor on the page, and the key of the values in JSON.
    pub id: &'static str,
    /// The question in one to three words, for text and JSON.
    pub words: &'static str,
    /// The question on the page.
    pub title: &'static str,
    /// The answers, one line each, computed without values and body.
    pub answers: fn(&Report<'_>) -> Vec<String>,
    /// The values as JSON; `None` if others have them.
    pub values: fn(&Report<'_>) -> Option<Value>,
    /// What the page shows below the answers; without both, the page has no such section.
    pub body: fn(&Report<'_>) -> Result<Vec<Block>, PlotError>,
}

/// The sections in the order of text and JSON; what was read comes last on the page.
pub(crate) const SECTIONS: [Section; 8] = [
    read::SECTION,
    sure::SECTION,
    right::SECTION,
    scale::SECTION,
    judges::SECTION,
    differ::SECTION,
    split::SECTION,
    signs::SECTION,
];

/// What a report is about, and its language.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    pub diagnosis: &'a Diagnosis,
    /// The options they were computed with.
    pub options: &'a CalibrateOptions,
    /// Counts of files and games.
    pub reading: &'a ReadReport,
    /// Notes from reading.
    pub notes: &'a [Text],
    /// The language of text and page; JSON is in English.
    pub language: Language,
}

impl Report<'_> {
    /// The answers of all sections; only the first of a section has the question.
    fn answers(&self) -> Vec<Line> {
        let with_question = |section: &Section| {
            let question = self.language.word(section.words);
            let line = |(i, answer)| Line { question: if i == 0 { question } else { "" }, answer };
            (section.answers)(self).into_iter().enumerate().map(line).collect::<Vec<_>>()
        };
        SECTIONS.iter().flat_map(with_question).collect()
    }

    /// The result as text of at most so many columns: a word, what to do, and the answers.
    pub fn text(&self, width: usize) -> String {
        let headline = headline(self.diagnosis, self.language);
        let mut lines = vec![Line { question: headline.status.word(self.language), answer: headline.sentence }];
        let todo = |(i, answer)| Line { question: if i == 0 { self.word("What to do") } else { "" }, answer };
        lines.extend(headline.todo.into_iter().enumerate().map(todo));
        format!("{}\n{}", text::answers(&lines, width), text::answers(&self.answers(), width))
    }

    /// The document `diagnosis.json`, which has the same contents as the page.
    pub fn document(&self) -> Value {
        json::document(&Self { language: Language::English, ..*self })
    }
}

impl<'a> Report<'a> {
    /// The size of figures: small enough to read on a telephone.
    fn plots(&self) -> PlotOptions {
        PlotOptions { width: 450, height: 400, language: self.language, tolerance: 0.2, ..PlotOptions::default() }
    }

    /// The text in the language of the report.
    pub(crate) fn word(&self, english: &'static str) -> &'static str {
        self.language.word(english)
    }

    /// The names of the engines with the most samples, and how many more there are.
    pub(crate) fn engines(&self, most: usize) -> String {
        let names: Vec<&str> = self.results_by_size().iter().map(|r| r.name.as_str()).collect();
        text::first_of(&names, most, self.language)
    }

    /// The results, those with the most samples first.
    fn results_by_size(&self) -> Vec<&'a EngineResult> {
        let mut all: Vec<&'a EngineResult> = self.diagnosis.results.iter().collect();
        all.sort_by_key(|r| std::cmp::Reverse(r.fitted));
        all
    }

    /// The calibrated engines as indices into the results, those with the most samples first.
    fn by_size(&self) -> Vec<usize> {
        let results = &self.diagnosis.results;
        let mut order: Vec<usize> = (0..results.len()).filter(|&i| results[i].calibration.is_some()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(results[i].fitted), i));
        order
    }

    /// The colour of an engine in all figures: by size, so that the largest engines have the most legible colours.
    fn color(&self, engine: &str) -> usize {
        let results = &self.diagnosis.results;
        self.by_size().iter().position(|&i| results[i].name == engine).unwrap_or(0)
    }

    /// The figures of the calibrated engines by rank and index, those with the most samples side by side, the others
    /// collapsed.
    fn engine_by_engine(
        &self,
        draw: impl Fn(usize, usize) -> Result<Option<Figure>, PlotError>,
    ) -> Result<Vec<Block>, PlotError> {
        let (mut shown, mut rest) = (Vec::new(), Vec::new());
        for (rank, index) in self.by_size().into_iter().enumerate() {
            let Some(drawn) = draw(rank, index)? else { continue };
            if rank < UNFOLDED {
                shown.push(drawn);
                continue;
            }
            let result = &self.diagnosis.results[index];
            let (samples, games) = (thousands(result.fitted), thousands(result.games));
            let size = say!(self.language, "{samples} samples, {games} games");
            rest.push(folded(&result.name, &size, false, vec![Block::Figures(vec![drawn])]));
        }
        if !shown.is_empty() {
            rest.insert(0, Block::Figures(shown));
        }
        Ok(rest)
    }
}

/// The number of engines, those with the most samples, whose parts are not collapsed.
const UNFOLDED: usize = 6;
