//! The engines of the records with their fits, as `inspect`, `fit` and `calibrate` print them.

use super::load::Loaded;
use super::options::FitArgs;
use super::{Done, terminal};
use crate::calibrate::{CalibrateOptions, EngineResult, calibrate};
use crate::report::{json, text};
use crate::validate::Choice;

/// Records read and engines fitted.
pub(super) struct Engines {
    pub loaded: Loaded,
    pub options: CalibrateOptions,
    /// How the model was chosen, if by `auto`.
    pub choice: Option<Choice>,
    pub results: Vec<EngineResult>,
}

impl Engines {
    /// Fits all engines with these options.
    pub(super) fn new(mut loaded: Loaded, options: CalibrateOptions) -> Self {
        let results = calibrate(&mut loaded.collected.table, &options);
        Self { loaded, options, choice: None, results }
    }

    /// Fits all engines with the model that the arguments name or that `auto` chooses.
    pub(super) fn chosen(mut loaded: Loaded, mut options: CalibrateOptions, fit: &FitArgs) -> Self {
        let choice = fit.choose(&mut loaded.collected.table, &mut options);
        Self { choice, ..Self::new(loaded, options) }
    }

    /// The JSON document. `written` has the calibration files in the order of the results; it is empty if none were
    /// written.
    pub(super) fn document(&self, written: &[Option<String>]) -> String {
        let file = |i: usize| written.get(i).and_then(Option::as_deref);
        let engines = self.results.iter().enumerate().map(|(i, r)| json::engine(r, file(i))).collect();
        let report = &self.loaded.collected.report;
        json::document(report, &self.options, self.choice.as_ref(), &self.loaded.notes, engines)
    }

    /// The table of all engines, after a summary of the records.
    pub(super) fn summary(&self) -> String {
        let mut out = text::reading(&self.loaded.collected.report);
        out += &text::samples(
            &self.loaded.collected.report,
            self.loaded.collected.table.samples.len() as u64,
            self.results.len(),
            &self.options.sampling,
        );
        if self.results.is_empty() {
            return out;
        }
        out += &terminal::heading(&text::head());
        out.push('\n');
        let few = |r: &&EngineResult| r.fitted < self.options.min_samples;
        for result in self.results.iter().filter(|r| !few(r)) {
            out += &text::engine(result, self.options.model);
        }
        let too_few: Vec<String> =
            self.results.iter().filter(few).map(|r| format!("{} {}", text::printable(&r.name), r.fitted)).collect();
        if !too_few.is_empty() {
            out += &format!(
                "{} engines with fewer than {} samples are not calibrated (--min-samples): {}{}\n",
                too_few.len(),
                self.options.min_samples,
                too_few[..too_few.len().min(8)].join(", "),
                if too_few.len() > 8 { ", …" } else { "" }
            );
        }
        let choice = self.choice.as_ref().map(text::choice);
        let scores = text::proper_scores(&self.results);
        let standardization = text::standardization(&self.results, self.options.model);
        for part in [choice, scores, standardization].into_iter().flatten() {
            out += &format!("\n{part}");
        }
        out
    }

    /// Prints the problems of reading and the warnings of engines to standard error.
    pub(super) fn tell(&self, quiet: bool) {
        self.loaded.tell(quiet);
        if quiet {
            return;
        }
        for result in &self.results {
            for warning in &result.warnings {
                terminal::warning(&format!("{}: {}", result.name, warning.text));
            }
        }
    }
}

/// Reports that no engine was calibrated; a silent success would be misleading.
pub(super) fn nothing(results: &[EngineResult]) -> Done {
    if results.is_empty() {
        terminal::error("no engine has a single sample; `evalcurve inspect` shows why games were skipped");
    } else {
        terminal::error("no engine could be calibrated; the table gives the reason for each engine");
    }
    Done::Nothing
}
