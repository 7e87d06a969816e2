//! How sure is this? Intervals of every parameter, bands of every curve, and the number of games needed.

use maud::{Markup, html};

use super::Page;
use super::markup::{Table, folded, p, soft};
use crate::calibrate::EngineResult;
use crate::calibration::Calibration;
use crate::fit::Fit;
use crate::plot::{PlotError, curve_with_fits};
use crate::report::figures::{BinChoice, series_of_result};
use crate::report::text::{constant, number, or_dash, thousands, with_interval};
use crate::report::verdict::WANTED;

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    // an engine without a plotted bin still has its fits
    let drawn = page.engine_by_engine(|rank, index| {
        let series = series_of_result(&page.diagnosis.results[index], rank, page.options.min_bin, BinChoice::Auto);
        Ok(curve_with_fits(&series, &page.plots()).ok())
    })?;
    Ok(html! {
        (p("w1 is how steeply the win rate rises with the score, by the chosen model. The last column is the number of \
            further games like these that would make it known to ±5%."))
        (slopes(page))
        (p("The same by the plain sigmoid p(x) = 1/(1 + exp(-w1 x + w2)). The first interval of w1 is from the clustered \
            sandwich covariance, the second from the bootstrap over games; where they differ much, there are too few \
            games for either."))
        (fits(page))
        (uncalibrated(page))
        (soft("Dots: results observed, with 95% Wilson intervals. Shaded: the 95% band of the fitted curve."))
        (drawn)
    })
}

/// The slope of every calibration by its chosen model.
fn slopes<'a>(page: &Page<'a>) -> Table<'a, (&'a EngineResult, &'a Calibration)> {
    let rows = page.diagnosis.results.iter().filter_map(|r| Some((r, r.calibration.as_ref()?)));
    Table::new(format!("slopes by {}", page.options.model.as_str().replace('_', " ")), rows)
        .text("engine", |(r, _)| r.name.clone())
        .number("games", |(r, _)| thousands(r.games))
        .number("w1 · 1000 [95%]", |(_, c)| {
            or_dash(c.slope(), |(w1, half)| with_interval(1000.0 * w1, (1000.0 * (w1 - half), 1000.0 * (w1 + half)), 3))
        })
        .number("1/w1 [95%]", |(_, c)| or_dash(constant(c), |words| words))
        .number("w1 known to", |(_, c)| {
            or_dash(c.games_needed(WANTED), |n| format!("±{}%", number(100.0 * n.share_now, 1)))
        })
        .number("games for ±5%", |(_, c)| {
            or_dash(c.games_needed(WANTED), |needed| match needed.more {
                0 => "enough".to_owned(),
                more => format!("+{}", thousands(more)),
            })
        })
}

fn fits<'a>(page: &Page<'a>) -> Table<'a, (&'a EngineResult, &'a Fit)> {
    let chosen = page.diagnosis.method;
    let resampled = move |result: &EngineResult| {
        let fits = result.bootstrap.as_ref().and_then(|b| b.fit(chosen).ok());
        fits.and_then(|b| b.interval(0.95, |s| s.w1))
    };
    let rows = page.diagnosis.results.iter().filter_map(move |r| Some((r, r.fit(chosen).ok()?)));
    Table::new(format!("fits by {}", chosen.as_str().replace('_', " ")), rows)
        .text("engine", |(r, _)| r.name.clone())
        .number("games", |(r, _)| thousands(r.games))
        .number("samples", |(r, _)| thousands(r.fitted))
        .number("win %", move |(r, _)| or_dash(r.win_rate(), |rate| number(100.0 * rate, 1)))
        .number("w1 · 1000 [sandwich]", |(_, fit)| {
            let (low, high) = fit.interval_w1();
            with_interval(1000.0 * fit.sigmoid.w1, (1000.0 * low, 1000.0 * high), 3)
        })
        .number("[bootstrap]", move |(r, _)| {
            or_dash(resampled(r), |(l, h)| format!("[{}, {}]", number(1000.0 * l, 3), number(1000.0 * h, 3)))
        })
        .number("w2", |(_, fit)| with_interval(fit.sigmoid.w2, fit.interval_w2(), 2))
        .number("1/w1", |(_, fit)| {
            let ponanza = fit.sigmoid.ponanza_constant();
            fit.interval_ponanza().map_or_else(|| number(ponanza, 0), |i| with_interval(ponanza, i, 0))
        })
}

/// The engines without a calibration, and why.
fn uncalibrated(page: &Page<'_>) -> Markup {
    let least = page.options.min_samples;
    let results = &page.diagnosis.results;
    let few = results.iter().filter(|r| r.fitted < least).count();
    let without: Vec<&EngineResult> = results.iter().filter(|r| r.calibration.is_none() && r.fitted >= least).collect();
    let count = without.len();
    let table = Table::new("", without)
        .text("engine", |r| r.name.clone())
        .number("samples", |r| thousands(r.fitted))
        .prose("why", |r| r.error.clone().unwrap_or_default());
    html! {
        @if few > 0 {
            (soft(format!("{few} engines with fewer than {least} samples are not calibrated (--min-samples).")))
        }
        @if count > 0 {
            (folded(format!("{count} engines have samples but no calibration"), "and why", false, table))
        }
    }
}
