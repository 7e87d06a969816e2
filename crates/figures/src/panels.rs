//! Small multiples: one panel per engine, where a single frame would hold too many lines.

use evalcurve_words::say;

use super::chart::{
    AXIS_SIZE, Area, AxisSpec, Canvas, LABEL_SIZE, ROW, SOFT_TEXT, TEXT, Words, X_AXIS, Y_AXIS, frame, height_of_words,
    sheet, ticks,
};
use super::{EngineSeries, Figure, Language, PlotError, PlotOptions, font};

/// The most engines in one frame; more get a panel each.
pub(super) const MOST_TOGETHER: usize = 6;
const MOST_PANELS: usize = 24;
/// The least width of a panel.
const PANEL: f64 = 170.0;
/// The height of the frame of a panel.
const PANEL_HEIGHT: f64 = 118.0;
/// Space between two panels.
const GAP: f64 = 16.0;
/// Names of engines without a panel that a note lists.
const NAMED: usize = 5;

/// The engines that get a panel, those with the most positions first, and a note on the others.
pub(super) fn with_panel(engines: &[EngineSeries], drawn: &[bool], language: Language) -> (Vec<usize>, Option<String>) {
    let mut order: Vec<usize> = (0..engines.len()).filter(|i| drawn[*i]).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(engines[i].samples), i));
    let rest = order.split_off(order.len().min(MOST_PANELS));
    let names: Vec<&str> = rest.iter().map(|&i| engines[i].name.as_str()).collect();
    let what = language.word("with fewer positions, not drawn");
    let note = listed(what, &names, language);
    (order, note)
}

/// `3 engines WHAT: A, B, C`, with at most [`NAMED`] names; `None` without a name.
pub(super) fn listed(what: &str, names: &[&str], language: Language) -> Option<String> {
    let (plural, shown) = (if names.len() == 1 { "" } else { "s" }, names.len().min(NAMED));
    let others = match names.len() - shown {
        0 => String::new(),
        1 => language.word(" and 1 other").to_owned(),
        n => say!(language, " and {n} others"),
    };
    let (count, named) = (names.len(), names[..shown].join(", "));
    (count > 0).then(|| say!(language, "{count} engine{plural} {what}: {named}{others}"))
}

/// Draws one panel for each of the engines in `order`, all with the same axes; `series` draws into the panel of an
/// engine. The height of the figure follows the number of panels.
pub(super) fn panels(
    engines: &[EngineSeries],
    order: &[usize],
    words: Words<'_>,
    (x, y): (&AxisSpec<'_>, &AxisSpec<'_>),
    options: &PlotOptions,
    mut series: impl FnMut(usize, &mut Canvas<'_, '_, '_>) -> Result<(), PlotError>,
) -> Result<Figure, PlotError> {
    let inner = f64::from(options.width) - 30.0 - Y_AXIS;
    let columns = (((inner + GAP) / (PANEL + GAP)).floor() as usize).clamp(1, order.len().max(1));
    let rows = order.len().div_ceil(columns);
    let named = 2.0 * ROW;
    let height = height_of_words(words, options.width) + rows as f64 * (named + PANEL_HEIGHT + GAP) + X_AXIS + 8.0;
    let options = PlotOptions { height: (height as u32).clamp(360, 8000), ..*options };
    sheet(&options, words, |pen, area| {
        let left = area.left + Y_AXIS;
        let width = (area.right - 12.0 - left - (columns - 1) as f64 * GAP) / columns as f64;
        let step = (area.bottom - area.top - X_AXIS) / rows as f64;
        for (k, &i) in order.iter().enumerate() {
            let (row, column) = (k / columns, k % columns);
            let (first, lowest) = (column == 0, k + columns >= order.len());
            let from = left + column as f64 * (width + GAP);
            let top = area.top + row as f64 * step;
            let panel = Area {
                left: if first { from - Y_AXIS } else { from },
                top: top + named,
                right: from + width,
                bottom: top + step - GAP + if lowest { X_AXIS } else { 0.0 },
            };
            pen.text(&font::elide(&engines[i].name, LABEL_SIZE, width), (from, top + 8.0), LABEL_SIZE, TEXT)?;
            let constant = font::elide(&engines[i].constant, LABEL_SIZE - 1.0, width);
            pen.text(&constant, (from, top + 8.0 + ROW), LABEL_SIZE - 1.0, SOFT_TEXT)?;
            let x = AxisSpec { labelled: lowest, name: "", ticks: inner_ticks(x), ..x.clone() };
            let y = AxisSpec { labelled: first, ..y.clone() };
            frame(pen, panel, &x, &y, |canvas| series(i, canvas))?;
        }
        let at = ((left + area.right - 12.0) / 2.0, area.bottom - GAP - 8.0);
        pen.text_middle(x.name, at, AXIS_SIZE, TEXT)
    })
}

/// A few ticks, none at the ends, where the labels of two panels would meet.
fn inner_ticks(axis: &AxisSpec<'_>) -> Vec<f64> {
    let (low, high) = axis.range;
    let margin = 0.12 * (high - low);
    let inner = |wanted: f64| -> Vec<f64> {
        ticks(axis.range, wanted).into_iter().filter(|t| *t >= low + margin && *t <= high - margin).collect()
    };
    // one tick alone shows no scale
    [4.0, 6.0, 8.0].map(inner).into_iter().find(|ticks| ticks.len() >= 3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_panel_shows_a_scale() {
        for limit in [700.0, 1500.0, 2200.0, 4000.0, 6000.0, 9500.0] {
            let ticks = inner_ticks(&AxisSpec::new("", (-limit, limit)));
            assert!((3..=7).contains(&ticks.len()) && ticks.contains(&0.0), "{limit}: {ticks:?}");
        }
    }

    #[test]
    fn the_engines_with_most_positions_get_a_panel() {
        let engines: Vec<EngineSeries> =
            (0..40).map(|i| EngineSeries { samples: i, ..EngineSeries::new(format!("e{i}"), i as usize) }).collect();
        let mut drawn = vec![true; 40];
        drawn[39] = false;
        let (order, note) = with_panel(&engines, &drawn, Language::English);
        assert_eq!((order.len(), order[0], order[23]), (24, 38, 15));
        let note = note.unwrap();
        assert_eq!(note, "15 engines with fewer positions, not drawn: e14, e13, e12, e11, e10 and 10 others");
        let listed = |names: &[&str]| listed("without a curve", names, Language::English);
        assert_eq!(listed(&["a"]).unwrap(), "1 engine without a curve: a");
        assert_eq!(listed(&[]), None);
    }
}
