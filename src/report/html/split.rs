//! Does a score always mean the same? Curves of parts of the samples.

use super::Page;
use super::markup::{Column, DASH, Table, figure, figures, folded, number, p, p_value, soft, with_interval};
use crate::diagnose::split::SplitCurves;
use crate::fit::Sigmoid;
use crate::plot::PlotError;
use crate::report::figures::split_figure;
use crate::report::text::thousands;

/// Split curves that are drawn, the surest first.
const DRAWN: usize = 8;
/// Groups are parts of an engine's samples: their bins may be smaller than those of its curve.
const SMALL_BIN: u64 = 20;

pub(super) fn section(page: &Page<'_>) -> Result<String, PlotError> {
    let all = &page.diagnosis.splits;
    let tested = all.iter().filter(|s| s.test.is_ok()).count();
    let mut out = p(
        "Where an engine's curve splits by phase, colour or opponent, equal scores mean different win rates in these \
         parts: its evaluation, or the model, misses a feature (Takeuchi, Kaneko, Yamaguchi and Kawai, AAAI 2007). The \
         shift is what that feature is worth: centipawns that, added to the scores, make the curve that of the first \
         group.",
    );
    let mut order: Vec<&SplitCurves> = all.iter().filter(|s| s.splits).collect();
    let statistic = |s: &SplitCurves| s.test.as_ref().map_or(0.0, |t| t.any.statistic / f64::from(t.any.df.max(1)));
    order.sort_by(|a, b| statistic(b).total_cmp(&statistic(a)));
    out += &p(&format!(
        "{} of {tested} curves split (Wald test clustered by game, corrected by Holm for all of them).",
        order.len()
    ));
    let mut table = Table::new(
        "",
        &[
            ("engine", Column::Text),
            ("by", Column::Text),
            ("group", Column::Text),
            ("samples", Column::Number),
            ("w1 · 1000", Column::Number),
            ("shift (cp)", Column::Number),
            ("p corrected", Column::Number),
            ("p of equal slopes", Column::Number),
        ],
    );
    for split in &order {
        for (i, group) in split.groups.iter().enumerate() {
            let first = i == 0;
            let test = split.test.as_ref().ok().filter(|_| first);
            table.row([
                if first { split.engine.clone() } else { String::new() },
                if first { split.by.clone() } else { String::new() },
                group.label.clone(),
                thousands(group.samples),
                group.sigmoid.map_or(DASH.to_owned(), |s: Sigmoid| number(1000.0 * s.w1, 3)),
                match group.shift {
                    Some(s) => with_interval(s.cp, (s.low, s.high), 0),
                    None if first => "0 (reference)".to_owned(),
                    None => DASH.to_owned(),
                },
                test.map_or(String::new(), |t| p_value(t.corrected_p)),
                test.map_or(String::new(), |t| p_value(t.slopes.p)),
            ]);
        }
    }
    out += &table.html();
    let mut drawn = Vec::new();
    for split in order.iter().take(DRAWN) {
        // a group without a plotted bin and without a fit has nothing to draw
        if let Ok(plot) = split_figure(split, page.options.min_bin.min(SMALL_BIN), &page.plots()) {
            drawn.push(figure(&plot));
        }
    }
    out += &figures(&drawn);
    let sentences: Vec<String> = all.iter().filter(|s| !s.splits).map(|s| soft(&s.sentence())).collect();
    if !sentences.is_empty() {
        out +=
            &folded(&format!("{} that do not split or could not be tested", sentences.len()), "", &sentences.concat());
    }
    Ok(out)
}
