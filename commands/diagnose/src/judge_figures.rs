//! Figures of engines on the same positions.

use evalcurve_figures::{Figure, Forest, ForestMark, ForestRow, PlotError, PlotOptions, forest};
use evalcurve_fit::validate::Estimate;
use evalcurve_words::say;

use crate::judges::{Group, Judges};

/// The most engines that a figure or a table of groups shows.
pub(super) const SHOWN: usize = 6;

fn mark(estimate: &Estimate) -> ForestMark {
    let [low, high] = estimate.interval.unwrap_or([estimate.value; 2]);
    ForestMark { value: estimate.value, low, high }
}

/// How far engines are behind the best, on all positions and in parts of them.
///
/// # Errors
/// A figure that cannot be drawn.
pub fn ranking_figure(found: &Judges, options: &PlotOptions) -> Result<Figure, PlotError> {
    let language = options.language;
    let shown = || found.engines.iter().take(SHOWN).skip(1);
    let everywhere = ForestRow {
        label: say!(language, "all positions"),
        marks: shown().map(|e| e.behind.as_ref().map(mark)).collect(),
    };
    let of_group = |group: &Group| ForestRow {
        label: group.label.text(language),
        marks: group.engines.iter().take(SHOWN).skip(1).map(|e| e.behind.as_ref().map(mark)).collect(),
    };
    let best = found.engines.first().map_or("", |best| &best.name);
    let series: Vec<String> = shown().map(|e| e.name.clone()).collect();
    let others = series.join(language.word(", "));
    let what = Forest {
        title: say!(language, "Log loss behind {best} on the same positions"),
        caption: match found.engines.len() {
            2 => say!(language, "{others} · above 0: {best} judges better"),
            _ => say!(language, "above 0: {best} judges better"),
        },
        axis: say!(language, "difference of log loss, with its 95% interval"),
        series,
        rows: std::iter::once(everywhere).chain(found.groups.iter().map(of_group)).collect(),
        references: vec![(0.0, None)],
        ..Forest::default()
    };
    forest(&what, options)
}

/// The stack, the plain mean and each engine against the best one; `None` without a stack.
///
/// # Errors
/// A figure that cannot be drawn.
pub fn together_figure(found: &Judges, options: &PlotOptions) -> Result<Option<Figure>, PlotError> {
    let (language, Ok(together)) = (options.language, &found.together) else { return Ok(None) };
    let row = |label: &str, difference: Option<Estimate>| ForestRow {
        label: label.to_owned(),
        marks: vec![difference.as_ref().map(mark)],
    };
    let best = found.engines.first().map_or("", |best| &best.name);
    let alone = found.engines.iter().skip(1).map(|e| row(&e.name, e.behind));
    let mixtures = [
        row(language.word("all engines stacked"), together.stacked.against_best),
        row(language.word("their plain mean"), together.mean.against_best),
    ];
    let what = Forest {
        title: say!(language, "Engines together against {best} alone"),
        caption: say!(language, "below 0: forecasts better"),
        axis: say!(language, "difference of log loss, with its 95% interval"),
        rows: mixtures.into_iter().chain(alone).collect(),
        references: vec![(0.0, None)],
        ..Forest::default()
    };
    forest(&what, options).map(Some)
}
