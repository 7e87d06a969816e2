//! The answer at the top of the page: the constants with the verdict on each engine.

use evalcurve_app::calibrate::EngineResult;
use evalcurve_app::report::model::{Block, Table};
use evalcurve_app::report::text::{DASH, constant, thousands};
use evalcurve_app::report::verdict::Verdict;
use evalcurve_figures::{Figure, Forest, ForestMark, ForestRow, PlotError, PlotOptions, forest};
use evalcurve_fit::calibration::Calibration;
use evalcurve_words::language::Language;
use evalcurve_words::say;

use super::Report;

/// The most engines in the figure of the constants.
const IN_FIGURE: usize = 40;
/// The constant that is customary.
const CUSTOMARY: f64 = 600.0;

/// The calibrated engines, those with the most samples first.
fn order<'a>(report: &Report<'a>) -> impl Iterator<Item = &'a EngineResult> {
    let results = &report.diagnosis.results;
    report.by_size().into_iter().filter_map(|i| results.get(i))
}

/// The constant of a result with its interval, or why it has none.
fn constant_or_why(result: &EngineResult, language: Language) -> String {
    let calibrated = result.calibration.as_ref();
    let shown = calibrated.map(|c| constant(c).unwrap_or_else(|| DASH.to_owned()));
    shown.or_else(|| result.error.as_ref().map(|why| why.text(language).to_owned())).unwrap_or_default()
}

/// The constants with the verdicts.
pub(crate) fn verdicts(report: &Report<'_>) -> Block {
    let language = report.language;
    Table::new(language, "", order(report))
        .text(language.word("engine"), |r| r.name.clone())
        .number("1/w1 [95%]", |r| constant_or_why(r, language))
        .prose(language.word("verdict"), |r| {
            let advice = |c: &Calibration| Verdict::of(c).advice(c, Some(r.games), language);
            r.calibration.as_ref().map_or_else(String::new, advice)
        })
        .number(language.word("samples"), |r| thousands(r.fitted))
        .into()
}

/// The constants of the largest engines on one scale; `None` if no model has one.
pub(crate) fn constants(report: &Report<'_>) -> Result<Option<Figure>, PlotError> {
    let mark = |r: &EngineResult| {
        let constant = r.calibration.as_ref().and_then(Calibration::constant)?;
        let (low, high) = constant.interval.map_or((constant.value, constant.value), |[low, high]| (low, high));
        Some(ForestMark { value: constant.value, low, high })
    };
    let row = |r: &EngineResult| ForestRow { label: r.name.clone(), marks: vec![mark(r)] };
    let rows: Vec<ForestRow> = order(report).take(IN_FIGURE).map(row).collect();
    if rows.iter().all(|row| row.marks.iter().all(Option::is_none)) {
        return Ok(None);
    }
    let language = report.language;
    let others = match order(report).count().saturating_sub(IN_FIGURE) {
        0 => Vec::new(),
        n => vec![say!(language, "{n} engines with fewer samples are not drawn")],
    };
    let plot = Forest {
        title: say!(language, "The constants of all engines on one scale"),
        caption: say!(language, "Where two intervals do not overlap, the same score means different win rates."),
        axis: say!(language, "1/w1 (centipawns), with its 95% interval"),
        rows,
        references: vec![(CUSTOMARY, None)],
        notes: [vec![say!(language, "grey line: the customary 600")], others].concat(),
        ..Forest::default()
    };
    forest(&plot, &PlotOptions { width: 450, ..report.plots() }).map(Some)
}
