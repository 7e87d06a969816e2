//! The engines of the records with their fits, as `inspect` and `calibrate` print them.

use std::collections::BTreeMap;

use evalcurve_engine::EngineConfig;
use evalcurve_words::language::Language;
use evalcurve_words::say;

use super::options::{OutputArgs, TableArgs};
use super::progress::shown;
use super::terminal::tell;
use super::{Done, terminal};
use crate::calibrate::EngineResult;
use crate::calibrate::mates::Threshold;
use crate::report::text;
use crate::{Calibrate, Calibrated, Input, Outcome};

/// Engines in a table without `--all`.
pub const SHOWN: usize = 10;
/// Engines whose warning of one kind is printed; the others are named.
const WARNINGS_SHOWN: usize = 3;
/// The most that are named.
const OTHERS_NAMED: usize = 6;
/// Engines with too few samples that are named.
const FEW_NAMED: usize = 4;

/// Calibrated engines, to be shown.
pub struct Engines(pub Outcome<Calibrated>);

impl Engines {
    /// Runs the command while its progress is shown.
    pub fn calibrated(command: &Calibrate, input: &Input, quiet: bool) -> anyhow::Result<Self> {
        Ok(Self(shown(quiet, |progress| command.run(input, progress))?))
    }

    /// Prints the document or the text, and what was unusual.
    pub fn print(
        &self,
        output: &OutputArgs,
        written: &[Option<String>],
        language: Language,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        output.print(|| self.0.document(written), text)?;
        self.warn(output.is_quiet(), language);
        Ok(())
    }

    /// The table of engines, those with most samples first, after a summary of the records.
    pub fn summary(&self, table: &TableArgs, language: Language) -> String {
        let Outcome { value: Calibrated { results, options, choice, .. }, report, .. } = &self.0;
        // without a terminal, rows are whole
        let (width, of_row) = (terminal::width(), terminal::table_width());
        let mut out = text::wrap(&text::reading(report, language), width, text::LABEL);
        if results.is_empty() {
            return out;
        }
        let samples = results.iter().map(|r| r.samples).sum();
        let drawn = text::samples(report, samples, results.len(), &options.sampling, language);
        out += &text::wrap(&drawn, width, text::LABEL);
        let (mut enough, mut few): (Vec<_>, Vec<_>) = results.iter().partition(|r| r.has_enough(options));
        for list in [&mut enough, &mut few] {
            list.sort_by_key(|r| std::cmp::Reverse(r.fitted));
        }
        let shown = if table.all { enough.len() } else { enough.len().min(SHOWN) };
        let columns = text::verdicts(width, language);
        let head = if table.wide { text::head(language) } else { columns.head() };
        if shown > 0 {
            out += &(terminal::heading(head.trim_end()) + "\n");
        }
        for result in &enough[..shown] {
            out += &match table.wide {
                true => text::engine(result, options.model, language),
                false => text::verdict(&columns, result, if result.calibration.is_some() { of_row } else { width }),
            };
        }
        if shown < enough.len() {
            out += &say!(
                language,
                "the {} of {} engines with most samples; --all shows the others\n",
                shown,
                enough.len()
            );
        }
        let too_few: Vec<String> = few.iter().map(|result| self.shortage(result, language)).collect();
        if !too_few.is_empty() {
            let [samples, games] =
                [" (--min-samples)", " (--min-games)"].map(|option| if table.without_options { "" } else { option });
            let line = say!(
                language,
                "{} engines with fewer than {} samples{samples} or {} games{games} are not calibrated: {}{}\n",
                too_few.len(),
                options.min_samples,
                options.min_games,
                too_few[..too_few.len().min(FEW_NAMED)].join(", "),
                if too_few.len() > FEW_NAMED { ", …" } else { "" }
            );
            out += &text::wrap(&line, width, 2);
        }
        let choice = choice.as_ref().map(|choice| text::choice(choice, language));
        let wide = |of: &dyn Fn() -> Option<String>| table.wide.then(of).flatten();
        let scores = wide(&|| text::proper_scores(&enough[..shown], language));
        let standardization = wide(&|| text::standardization(results, options.model, language));
        let wdl = text::wdl(&enough[..shown], of_row, language);
        for part in [choice, wdl, scores, standardization].into_iter().flatten() {
            out += &format!("\n{}", text::wrap(&part, if table.wide { text::WIDE } else { of_row }, 2));
        }
        out
    }

    /// An engine and what it has too little of.
    fn shortage(&self, result: &EngineResult, language: Language) -> String {
        let (games, samples) = (result.games, result.fitted);
        let [of_games, of_samples] = [games, samples].map(|n| if n == 1 { "" } else { "s" });
        let of_games = say!(language, "{games} game{of_games}");
        let of_samples = say!(language, "{samples} sample{of_samples}");
        let short = [
            (games < self.0.value.options.min_games).then_some(of_games),
            (samples < self.0.value.options.min_samples).then_some(of_samples),
        ];
        let short: Vec<String> = short.into_iter().flatten().collect();
        let name = text::printable(&result.name);
        format!("{name} {}", short.join(language.word(" and ")))
    }

    /// Prints the problems of reading and the warnings of engines to standard error.
    fn warn(&self, quiet: bool, language: Language) {
        tell(&self.0, quiet, language);
        if !quiet {
            warn(self.0.value.results.iter(), language);
        }
    }
}

/// Prints the warnings of engines to standard error: of each kind those of the engines with most samples, and the names
/// of the others.
pub fn warn<'a>(results: impl Iterator<Item = &'a EngineResult>, language: Language) {
    let mut results: Vec<&EngineResult> = results.collect();
    results.sort_by_key(|r| std::cmp::Reverse(r.samples));
    let mut by_kind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (result, warning) in results.iter().flat_map(|r| r.warnings.iter().map(move |w| (r, w))) {
        let named = by_kind.entry(warning.kind.into()).or_default();
        named.push(&result.name);
        if named.len() <= WARNINGS_SHOWN {
            terminal::warning(&format!("{}: {}", text::printable(&result.name), warning.text.text(language)));
        }
    }
    for (kind, named) in by_kind.iter().filter(|(_, named)| named.len() > WARNINGS_SHOWN) {
        let others = text::printable(&text::first_of(&named[WARNINGS_SHOWN..], OTHERS_NAMED, language));
        let kind = kind.replace('_', " ");
        terminal::note(&say!(language, "the same ({kind}) for {others}; --json has the details"));
    }
}

/// Engines whose reason is named when there is no calibration.
const REASONS: usize = 3;

/// Reports that no engine was calibrated, and why; a silent success would be misleading.
pub fn nothing<'a>(results: impl Iterator<Item = &'a EngineResult>, language: Language) -> Done {
    let mut results: Vec<&EngineResult> = results.collect();
    results.sort_by_key(|r| std::cmp::Reverse(r.samples));
    let why = |r: &&EngineResult| Some(format!("{}: {}", text::printable(&r.name), r.why_not()?.text(language)));
    let reasons: Vec<String> = results.iter().filter_map(why).collect();
    let more = match reasons.len().saturating_sub(REASONS) {
        0 => String::new(),
        n => say!(language, " and {n} more"),
    };
    let reasons = reasons[..reasons.len().min(REASONS)].join("; ") + &more;
    terminal::error(&match &reasons[..] {
        "" => {
            say!(language, "no engine has a single sample; `evalcurve inspect` shows why games were skipped")
        }
        _ => say!(language, "no engine could be calibrated: {reasons}"),
    });
    Done::Nothing
}

/// The mate thresholds of members.
pub fn thresholds(members: &[EngineConfig]) -> Vec<(Option<String>, Threshold)> {
    let of = |member: &EngineConfig| {
        Some((Some(member.name.clone()), Threshold::Cp(member.mate_threshold_cp?.round() as u32)))
    };
    members.iter().filter_map(of).collect()
}
