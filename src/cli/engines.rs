//! The engines of what was read, with their fits: what `inspect`, `fit` and `calibrate` show, each in its way.

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
    /// How the model was chosen, where it was.
    pub choice: Option<Choice>,
    pub results: Vec<EngineResult>,
}

impl Engines {
    /// By the options as they are.
    pub(super) fn new(mut loaded: Loaded, options: CalibrateOptions) -> Self {
        let results = calibrate(&mut loaded.collected.table, &options);
        Self { loaded, options, choice: None, results }
    }

    /// By the model that the arguments name, or choose with `auto`.
    pub(super) fn chosen(mut loaded: Loaded, mut options: CalibrateOptions, fit: &FitArgs) -> Self {
        let choice = fit.choose(&mut loaded.collected.table, &mut options);
        Self { choice, ..Self::new(loaded, options) }
    }

    /// The JSON document; `written` are the calibration files in the order of the results, empty where none were written.
    pub(super) fn document(&self, written: &[Option<String>]) -> String {
        let file = |i: usize| written.get(i).and_then(Option::as_deref);
        let engines = self.results.iter().enumerate().map(|(i, r)| json::engine(r, file(i))).collect();
        let report = &self.loaded.collected.report;
        json::document(report, &self.options, self.choice.as_ref(), &self.loaded.notes, engines)
    }

    /// The table of all engines, with what was read above it.
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
        let too_few: Vec<&EngineResult> = self.results.iter().filter(few).collect();
        if !too_few.is_empty() {
            out += &format!(
                "{} engines with fewer than {} samples are not calibrated (--min-samples): ",
                too_few.len(),
                self.options.min_samples
            );
            let names: Vec<String> =
                too_few.iter().take(8).map(|r| format!("{} {}", text::printable(&r.name), r.fitted)).collect();
            out += &names.join(", ");
            out += if too_few.len() > 8 { ", …\n" } else { "\n" };
        }
        if let Some(choice) = &self.choice {
            out.push('\n');
            out += &text::choice(choice);
        }
        if let Some(lines) = text::proper_scores(&self.results) {
            out.push('\n');
            out += &lines;
        }
        if let Some(line) = text::standardization(&self.results, self.options.model) {
            out.push('\n');
            out += &line;
        }
        out
    }

    /// Tells the problems of reading and the warnings of engines on standard error.
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

/// Nothing was calibrated: says so, since a quiet success would be believed.
pub(super) fn nothing(results: &[EngineResult]) -> Done {
    if results.is_empty() {
        terminal::error("no engine has a single sample; `evalcurve inspect` shows why games were skipped");
    } else {
        terminal::error("no engine could be calibrated; the table says why for each");
    }
    Done::Nothing
}
