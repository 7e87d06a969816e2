//! How sure is this? Intervals of every constant, bands of every curve, and the number of games needed.

use evalcurve_app::calibrate::EngineResult;
use evalcurve_app::report::figures::{BinChoice, series_of_result};
use evalcurve_app::report::model::{Block, Table, folded, p, soft};
use evalcurve_app::report::text::{
    PLANNED_SHARE as WANTED, constant, estimate, model_name, number, or_dash, thousands,
};
use evalcurve_app::report::verdict::rounded_up;
use evalcurve_figures::{PlotError, PlotOptions, curve_with_fits};
use evalcurve_fit::fit::Method;
use evalcurve_words::{key, say};
use serde_json::{Value, json};

use super::{Report, Section};

pub(super) const SECTION: Section =
    Section { id: "sure", words: key!("How sure?"), title: key!("How sure is this?"), answers, values, body };

fn answers(report: &Report<'_>) -> Vec<String> {
    let language = report.language;
    let share = |r: &EngineResult| {
        let needed = r.calibration.as_ref()?.games_needed(WANTED)?;
        Some((needed.share_now, r.name.clone(), needed.more))
    };
    let mut known: Vec<_> = report.diagnosis.results.iter().filter_map(share).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return Vec::new() };
    let enough = known.iter().filter(|k| k.0 <= WANTED).count();
    let (best, name) = (100.0 * first.0, &first.1);
    let mut text = match known.len() {
        1 => say!(language, "the constant is known to ±{best:.0}%"),
        all => say!(
            language,
            "the constants are known to ±{best:.0}% ({name}) up to ±{:.0}% ({}); {enough} of {all} to ±5%",
            100.0 * last.0,
            last.1
        ),
    };
    if last.2 > 0 {
        let more = thousands(rounded_up(last.2));
        text += &say!(language, "; {} needs about {more} more games for that", last.1);
    }
    vec![text]
}

fn values(report: &Report<'_>) -> Option<Value> {
    let results = &report.diagnosis.results;
    let needed =
        |r: &EngineResult| Some(json!({ "engine": r.name, "w1": r.calibration.as_ref()?.games_needed(WANTED)? }));
    Some(json!({
        "bootstrap": results.iter().filter_map(bootstrap).collect::<Vec<_>>(),
        "games_needed": results.iter().filter_map(needed).collect::<Vec<_>>(),
    }))
}

/// The bootstrap of one engine: intervals of w1 and w2 by both methods.
fn bootstrap(result: &EngineResult) -> Option<Value> {
    let bootstrap = result.bootstrap.as_ref()?;
    let of = |method: Method| {
        let curves = bootstrap.fit(method)?;
        let (w1, w2) = (curves.interval(|s| s.w1), curves.interval(|s| s.w2));
        Some(json!({ "w1_interval": w1, "w2_interval": w2, "failed": curves.failed }))
    };
    let (squares, likelihood) = (of(Method::LeastSquares), of(Method::MaximumLikelihood));
    Some(json!({ "engine": result.name, "least_squares": squares, "maximum_likelihood": likelihood }))
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let mut out = vec![
        p(report.word(
            "The constant 1/w1 is that of the calibration. The last column is the number of further games like these \
             that would make it known to \u{b1}5%.",
        )),
        constants(report),
    ];
    out.extend(uncalibrated(report));
    let alone = p(report.word(
        "Here each engine's samples are fitted alone, by p(x) = 1/(1 + exp(-w1 x + w2)), against the opponents that \
         it met; the constants may therefore differ from those above. The first interval of w1 is from the clustered \
         sandwich covariance, the second from the bootstrap over games; where they differ much, there are too few \
         games for either. It has no second where more than a fortieth of the resamples determine no curve.",
    ));
    out.push(folded(
        report.word("The sigmoid of each engine alone"),
        report.word("by both methods, with two kinds of intervals"),
        false,
        std::iter::once(alone).chain(Method::ALL.map(|method| fits(report, method))).collect(),
    ));
    out.push(soft(
        report.word("Dots: results observed, with 95% Wilson intervals. Shaded: the 95% band of the fitted curve."),
    ));
    // an engine without a plotted bin still has its fits
    out.extend(report.engine_by_engine(|rank, index| {
        let result = &report.diagnosis.results[index];
        let series = series_of_result(result, rank, report.options.min_bin, BinChoice::Auto, report.language);
        Ok(curve_with_fits(&series, &PlotOptions { height: 560, ..report.plots() }).ok())
    })?);
    Ok(out)
}

/// The constants of the calibrations.
fn constants(report: &Report<'_>) -> Block {
    let language = report.language;
    let rows = report.results_by_size().into_iter().filter_map(|r| Some((r, r.calibration.as_ref()?)));
    let name = model_name(report.options.model, language);
    Table::new(language, say!(language, "by the chosen model ({name})"), rows)
        .text(report.word("engine"), |(r, _)| r.name.clone())
        .number(report.word("games"), |(r, _)| thousands(r.games))
        .number(report.word("samples"), |(r, _)| thousands(r.fitted))
        .number(report.word("win %"), |(r, _)| or_dash(r.win_rate(), |rate| number(100.0 * rate, 1)))
        .number("1/w1 [95%]", |(_, c)| or_dash(constant(c), |words| words))
        .number(report.word("known to"), |(_, c)| {
            or_dash(c.games_needed(WANTED), |n| format!("±{}%", number(100.0 * n.share_now, 1)))
        })
        .number(report.word("games for ±5%"), |(_, c)| {
            or_dash(c.games_needed(WANTED), |needed| match needed.more {
                0 => say!(language, "enough"),
                more => format!("+{}", thousands(more)),
            })
        })
        .into()
}

fn fits(report: &Report<'_>, method: Method) -> Block {
    let resampled = |result: &EngineResult| {
        let fits = result.bootstrap.as_ref().and_then(|b| b.fit(method));
        fits.and_then(|b| b.interval(|s| s.w1))
    };
    let rows = report.results_by_size().into_iter().filter_map(|r| Some((r, r.fit(method).ok()?)));
    Table::new(report.language, model_name(method.into(), report.language), rows)
        .text(report.word("engine"), |(r, _)| r.name.clone())
        .number(report.word("samples"), |(r, _)| thousands(r.fitted))
        .number(report.word("w1 · 1000 [sandwich]"), |(_, fit)| estimate(&fit.w1().times(1000.0), 3))
        .number(report.word("[bootstrap]"), |(r, _)| {
            or_dash(resampled(r), |(l, h)| format!("[{}, {}]", number(1000.0 * l, 3), number(1000.0 * h, 3)))
        })
        .number("w2", |(_, fit)| estimate(&fit.w2(), 2))
        .number("1/w1", |(_, fit)| {
            let constant = fit.constant();
            constant.interval.map_or_else(|| number(constant.value, 0), |_| estimate(&constant, 0))
        })
        .into()
}

/// The engines without a calibration, and why.
fn uncalibrated(report: &Report<'_>) -> Vec<Block> {
    let least = report.options.min_samples;
    let results = report.results_by_size();
    let few = results.iter().filter(|r| r.fitted < least).count();
    let without: Vec<&EngineResult> =
        results.into_iter().filter(|r| r.calibration.is_none() && r.fitted >= least).collect();
    let mut out = Vec::new();
    if few > 0 {
        out.push(soft(say!(
            report.language,
            "{few} engines with fewer than {least} samples are not calibrated (`min-samples`)."
        )));
    }
    let count = without.len();
    if count > 0 {
        let table = Table::new(report.language, "", without)
            .text(report.word("engine"), |r| r.name.clone())
            .number(report.word("samples"), |r| thousands(r.fitted))
            .prose(report.word("why"), |r| {
                r.error.as_ref().map_or_else(String::new, |why| why.text(report.language).to_owned())
            });
        let title = say!(report.language, "{count} engines have samples but no calibration");
        out.push(folded(title, report.word("and why"), false, vec![table.into()]));
    }
    out
}
