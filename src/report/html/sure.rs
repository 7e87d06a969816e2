//! How sure is this? Intervals of every parameter, bands of every curve, and the games that are missing.

use super::markup::{Column, DASH, Table, figure, figures, folded, number, p, soft, with_interval};
use super::{Page, UNFOLDED, engine_line};
use crate::plot::{PlotError, curve_with_fits};
use crate::report::figures::series_of_result;
use crate::report::text::thousands;
use crate::report::verdict::WANTED;

pub(super) fn section(page: &Page<'_>) -> Result<String, PlotError> {
    let chosen = page.diagnosis.method;
    let mut out =
        p("Each engine's scores become win rates by p(x) = 1/(1 + exp(-w1 x + w2)). The first interval of w1 is the \
         clustered sandwich, the second the bootstrap over games; where they differ much there are too few games for \
         either. The last column tells how many more games like these would make w1 known to ±5%.");
    let mut table = Table::new(
        &format!("fits by {}", chosen.as_str().replace('_', " ")),
        &[
            ("engine", Column::Text),
            ("games", Column::Number),
            ("samples", Column::Number),
            ("win %", Column::Number),
            ("w1 · 1000 [sandwich]", Column::Number),
            ("[bootstrap]", Column::Number),
            ("w2", Column::Number),
            ("1/w1", Column::Number),
            ("w1 known to", Column::Number),
            ("games for ±5%", Column::Number),
        ],
    );
    for result in &page.diagnosis.results {
        let Ok(fit) = result.fit(chosen) else { continue };
        let resampled = result.bootstrap.as_ref().and_then(|b| b.fit(chosen).ok());
        let interval = resampled.and_then(|b| b.interval(0.95, |s| s.w1));
        let (low, high) = fit.interval_w1();
        let needed = fit.games_needed(WANTED);
        let ponanza = fit.sigmoid.ponanza_constant();
        table.row([
            result.name.clone(),
            thousands(result.games),
            thousands(result.fitted),
            result.win_rate().map_or(DASH.to_owned(), |r| number(100.0 * r, 1)),
            with_interval(1000.0 * fit.sigmoid.w1, (1000.0 * low, 1000.0 * high), 3),
            interval
                .map_or(DASH.to_owned(), |(l, h)| format!("[{}, {}]", number(1000.0 * l, 3), number(1000.0 * h, 3))),
            with_interval(fit.sigmoid.w2, fit.interval_w2(), 2),
            fit.interval_ponanza().map_or_else(|| number(ponanza, 0), |i| with_interval(ponanza, i, 0)),
            needed.map_or(DASH.to_owned(), |n| format!("±{}%", number(100.0 * n.share_now, 1))),
            needed.map_or(DASH.to_owned(), |n| {
                if n.more == 0 { "enough".to_owned() } else { format!("+{}", thousands(n.more)) }
            }),
        ]);
    }
    out += &table.html();

    let without: Vec<&crate::calibrate::EngineResult> = page
        .diagnosis
        .results
        .iter()
        .filter(|r| r.calibration.is_none() && r.fitted >= page.options.min_samples)
        .collect();
    let few = page.diagnosis.results.iter().filter(|r| r.fitted < page.options.min_samples).count();
    if few > 0 {
        let least = page.options.min_samples;
        out += &soft(&format!("{few} engines with fewer than {least} samples are not calibrated (--min-samples)."));
    }
    if !without.is_empty() {
        let mut table =
            Table::new("", &[("engine", Column::Text), ("samples", Column::Number), ("why", Column::Prose)]);
        for result in &without {
            let why = result.error.clone().unwrap_or_default();
            table.row([result.name.clone(), thousands(result.fitted), why]);
        }
        let line = format!("{} engines have samples but no calibration", without.len());
        out += &folded(&line, "and why", &table.html());
    }

    let mut shown = Vec::new();
    let mut rest = Vec::new();
    for (rank, index) in page.by_size().into_iter().enumerate() {
        let result = &page.diagnosis.results[index];
        let series = series_of_result(result, rank, page.options.min_bin);
        // an engine without a plotted bin still has its fits
        let Ok(drawn) = curve_with_fits(&series, &page.plots()) else { continue };
        if rank < UNFOLDED {
            shown.push(figure(&drawn));
        } else {
            rest.push(folded(&result.name, &engine_line(result), &figures(&[figure(&drawn)])));
        }
    }
    out += &soft("Dots: results observed, with 95% Wilson intervals. Shaded: the 95% band of the fitted curve.");
    out += &figures(&shown);
    out += &rest.concat();
    Ok(out)
}
