//! How sure is this? Intervals of every constant, bands of every curve, and the number of games needed.

use maud::{Markup, html};

use super::Page;
use super::markup::{Table, folded, p, soft};
use crate::calibrate::EngineResult;
use crate::calibration::Calibration;
use crate::fit::{Fit, Method};
use crate::plot::{PlotError, curve_with_fits};
use crate::report::figures::{BinChoice, series_of_result};
use crate::report::text::{constant, model_name, number, or_dash, thousands, with_interval};
use crate::report::verdict::WANTED;
use crate::say;

pub(super) fn section(page: &Page<'_>) -> Result<Markup, PlotError> {
    // an engine without a plotted bin still has its fits
    let drawn = page.engine_by_engine(|rank, index| {
        let result = &page.diagnosis.results[index];
        let series = series_of_result(result, rank, page.options.min_bin, BinChoice::Auto, page.language);
        Ok(curve_with_fits(&series, &page.plots()).ok())
    })?;
    Ok(html! {
        (p(page.word(
            "The constant 1/w1 is that of the calibration. The last column is the number of further games like these \
             that would make it known to \u{b1}5%.",
        )))
        (constants(page))
        (uncalibrated(page))
        (folded(
            page.word("The sigmoid of each engine alone"),
            page.word("by both methods, with two kinds of intervals"),
            false,
            html! {
                (p(page.word(
                    "Here each engine's samples are fitted alone, by p(x) = 1/(1 + exp(-w1 x + w2)), against the \
                     opponents that it met; the constants may therefore differ from those above. The first interval of \
                     w1 is from the clustered sandwich covariance, the second from the bootstrap over games; where \
                     they differ much, there are too few games for either.",
                )))
                @for method in Method::ALL { (fits(page, method)) }
            },
        ))
        (soft(page.word(
            "Dots: results observed, with 95% Wilson intervals. Shaded: the 95% band of the fitted curve.",
        )))
        (drawn)
    })
}

/// The constants of the calibrations.
fn constants<'a>(page: &Page<'a>) -> Table<'a, (&'a EngineResult, &'a Calibration)> {
    let language = page.language;
    let rows = page.results_by_size().into_iter().filter_map(|r| Some((r, r.calibration.as_ref()?)));
    let name = model_name(page.options.model, language);
    Table::new(language, say!(language, "by the chosen model ({name})"), rows)
        .text(page.word("engine"), |(r, _)| r.name.clone())
        .number(page.word("games"), |(r, _)| thousands(r.games))
        .number(page.word("samples"), |(r, _)| thousands(r.fitted))
        .number(page.word("win %"), |(r, _)| or_dash(r.win_rate(), |rate| number(100.0 * rate, 1)))
        .number("1/w1 [95%]", |(_, c)| or_dash(constant(c), |words| words))
        .number(page.word("known to"), |(_, c)| {
            or_dash(c.games_needed(WANTED), |n| format!("±{}%", number(100.0 * n.share_now, 1)))
        })
        .number(page.word("games for ±5%"), move |(_, c)| {
            or_dash(c.games_needed(WANTED), |needed| match needed.more {
                0 => language.word("enough").to_owned(),
                more => format!("+{}", thousands(more)),
            })
        })
}

fn fits<'a>(page: &Page<'a>, method: Method) -> Table<'a, (&'a EngineResult, &'a Fit)> {
    let language = page.language;
    let resampled = move |result: &EngineResult| {
        let fits = result.bootstrap.as_ref().and_then(|b| b.fit(method).ok());
        fits.and_then(|b| b.interval(0.95, |s| s.w1))
    };
    let rows = page.results_by_size().into_iter().filter_map(move |r| Some((r, r.fit(method).ok()?)));
    Table::new(language, model_name(method.into(), language), rows)
        .text(page.word("engine"), |(r, _)| r.name.clone())
        .number(page.word("samples"), |(r, _)| thousands(r.fitted))
        .number(page.word("w1 · 1000 [sandwich]"), |(_, fit)| {
            let (low, high) = fit.interval_w1();
            with_interval(1000.0 * fit.sigmoid.w1, (1000.0 * low, 1000.0 * high), 3)
        })
        .number(page.word("[bootstrap]"), move |(r, _)| {
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
    let results = page.results_by_size();
    let few = results.iter().filter(|r| r.fitted < least).count();
    let without: Vec<&EngineResult> =
        results.into_iter().filter(|r| r.calibration.is_none() && r.fitted >= least).collect();
    let count = without.len();
    let table = Table::new(page.language, "", without)
        .text(page.word("engine"), |r| r.name.clone())
        .number(page.word("samples"), |r| thousands(r.fitted))
        .prose(page.word("why"), |r| {
            r.error.as_ref().map_or_else(String::new, |why| why.text(page.language).to_owned())
        });
    html! {
        @if few > 0 {
            (soft(say!(
                page.language,
                "{few} engines with fewer than {least} samples are not calibrated (`min-samples`)."
            )))
        }
        @if count > 0 {
            (folded(
                say!(
                    page.language,
                    "{count} engines have samples but no calibration"
                ),
                page.word("and why"),
                false,
                table,
            ))
        }
    }
}
