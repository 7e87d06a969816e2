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
        (p(page.choose(
            "The constant 1/w1 is that of the calibration. The last column is the number of further games like these \
             that would make it known to \u{b1}5%.",
            "定数 1/w1 は較正のものです。最後の列は、\u{b1}5% の精度に達するまでに要る、同じような対局の数です。",
        )))
        (constants(page))
        (uncalibrated(page))
        (folded(
            page.choose("The sigmoid of each engine alone", "エンジン単独のシグモイド"),
            page.choose("by both methods, with two kinds of intervals", "二つの方法と二種類の区間"),
            false,
            html! {
                (p(page.choose(
                    "Here each engine's samples are fitted alone, by p(x) = 1/(1 + exp(-w1 x + w2)), against the \
                     opponents that it met; the constants may therefore differ from those above. The first interval of \
                     w1 is from the clustered sandwich covariance, the second from the bootstrap over games; where \
                     they differ much, there are too few games for either.",
                    "ここでは各エンジンの標本だけに p(x) = 1/(1 + exp(-w1 x + w2)) を当てはめます。実際の対局相手に対する\
                     勝率なので、定数は上の表と違うことがあります。w1 の最初の区間は対局単位のサンドイッチ共分散、次の区間は\
                     対局のブートストラップによります。大きく違うときは、どちらにも対局が足りません。",
                )))
                @for method in Method::ALL { (fits(page, method)) }
            },
        ))
        (soft(page.choose(
            "Dots: results observed, with 95% Wilson intervals. Shaded: the 95% band of the fitted curve.",
            "点: 実際の結果と 95% ウィルソン区間。帯: 当てはめた曲線の 95% 区間。",
        )))
        (drawn)
    })
}

/// The constants of the calibrations.
fn constants<'a>(page: &Page<'a>) -> Table<'a, (&'a EngineResult, &'a Calibration)> {
    let language = page.language;
    let rows = page.results_by_size().into_iter().filter_map(|r| Some((r, r.calibration.as_ref()?)));
    let name = model_name(page.options.model, language);
    Table::new(language, say!(language, "by the chosen model ({name})", "選んだモデル({name})による"), rows)
        .text(page.choose("engine", "エンジン"), |(r, _)| r.name.clone())
        .number(page.choose("games", "局"), |(r, _)| thousands(r.games))
        .number(page.choose("samples", "標本"), |(r, _)| thousands(r.fitted))
        .number(page.choose("win %", "勝率 %"), |(r, _)| or_dash(r.win_rate(), |rate| number(100.0 * rate, 1)))
        .number("1/w1 [95%]", |(_, c)| or_dash(constant(c), |words| words))
        .number(page.choose("known to", "精度"), |(_, c)| {
            or_dash(c.games_needed(WANTED), |n| format!("±{}%", number(100.0 * n.share_now, 1)))
        })
        .number(page.choose("games for ±5%", "±5% に要る局数"), move |(_, c)| {
            or_dash(c.games_needed(WANTED), |needed| match needed.more {
                0 => language.choose("enough", "十分").to_owned(),
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
        .text(page.choose("engine", "エンジン"), |(r, _)| r.name.clone())
        .number(page.choose("samples", "標本"), |(r, _)| thousands(r.fitted))
        .number(page.choose("w1 · 1000 [sandwich]", "w1 · 1000 [サンドイッチ]"), |(_, fit)| {
            let (low, high) = fit.interval_w1();
            with_interval(1000.0 * fit.sigmoid.w1, (1000.0 * low, 1000.0 * high), 3)
        })
        .number(page.choose("[bootstrap]", "[ブートストラップ]"), move |(r, _)| {
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
        .text(page.choose("engine", "エンジン"), |r| r.name.clone())
        .number(page.choose("samples", "標本"), |r| thousands(r.fitted))
        .prose(page.choose("why", "理由"), |r| {
            r.error.as_ref().map_or_else(String::new, |why| why.text(page.language).to_owned())
        });
    html! {
        @if few > 0 {
            (soft(say!(
                page.language,
                "{few} engines with fewer than {least} samples are not calibrated (--min-samples).",
                "{least} 標本未満の {few} エンジンは較正しません(--min-samples)。"
            )))
        }
        @if count > 0 {
            (folded(
                say!(
                    page.language,
                    "{count} engines have samples but no calibration",
                    "標本はあるが較正のないエンジン {count}"
                ),
                page.choose("and why", "理由"),
                false,
                table,
            ))
        }
    }
}
