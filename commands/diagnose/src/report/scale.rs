//! One scale? The mismatch of every transform, engine against engine, and tests of equal curves.

use evalcurve_app::report::model::{Block, Table, folded, h3, p, soft};
use evalcurve_app::report::text::{
    model_name, number, or_dash, p_value, thousands, with_interval, with_known_interval,
};
use evalcurve_figures::{EngineSeries, Figure, Forest, ForestMark, ForestRow, PlotError, Point, forest, pooled_curves};
use evalcurve_fit::fit::Wald;
use evalcurve_words::language::Text;
use evalcurve_words::{key, say};
use serde_json::json;

use super::{Report, Section};
use crate::mismatch::{CellPoint, ScaleMismatch, Transform, TransformMismatch};
use crate::pairwise::{Pair, Pairwise, Scales};

pub(super) const SECTION: Section = Section {
    id: "scale",
    words: key!("One scale?"),
    title: key!("Do the engines share a scale?"),
    answers,
    values: |report| Some(json!({ "mismatch": report.diagnosis.mismatch, "pairwise": report.diagnosis.pairwise })),
    body,
};

/// The number of engines in the table of pairs.
const IN_TABLE: usize = 10;
/// The number of engines in the figures of equal values.
const IN_FIGURE: usize = 8;

fn answers(report: &Report<'_>) -> Vec<String> {
    let (diagnosis, language) = (report.diagnosis, report.language);
    let mismatch = match &diagnosis.mismatch {
        Some(found) => {
            let one = |(transform, name)| {
                let r = found.transforms.iter().find(|r| r.transform == transform)?;
                let name = language.word(name);
                Some(format!("{name} {}", with_known_interval(r.m, r.m_interval, 3)))
            };
            let parts: Vec<String> = SHOWN.into_iter().filter_map(one).collect();
            let (engines, parts) = (found.engines.len(), parts.join(language.word(", ")));
            say!(
                language,
                "scale mismatch, how far the win rates of {engines} engines at equal values are apart (root mean \
                 square): {parts}"
            )
        }
        None => {
            say!(language, "fewer than two engines: nothing to compare")
        }
    };
    let mut out = vec![mismatch];
    if let Some(pairs) = &diagnosis.pairwise {
        let (apart, all) = (pairs.apart(), pairs.pairs.len());
        let text = match pairs.scales() {
            Scales::Apart(a, b) => {
                let there = or_dash(pairs.equivalents[a][b], |e| with_interval(e.score_cp, (e.low, e.high), 0));
                let (score, a, b) = (number(pairs.score_cp, 0), &pairs.engines[a], &pairs.engines[b]);
                say!(
                    language,
                    "the scales of {apart} of {all} pairs differ by more than a factor of 1.25 (Holm, 5%); between \
                     equals {score} of {a} is {there} of {b}"
                )
            }
            Scales::Differ(a, b) => {
                let ratio = or_dash(pairs.ratio(a, b), |(ratio, between)| with_interval(ratio, between, 2));
                let (different, a, b) = (pairs.different(), &pairs.engines[a], &pairs.engines[b]);
                say!(
                    language,
                    "the scales of {different} of {all} pairs differ (Holm, 5%), none surely by more than a factor of \
                     1.25, which opponents alone can make; between equals {b} needs {ratio} times the score of {a}"
                )
            }
            Scales::Alike => say!(language, "the scales of all {all} pairs are alike, within a factor of 1.25"),
            Scales::Unknown => say!(
                language,
                "no difference of scales seen among {all} pairs (Holm, 5%); too few games to say that they are alike"
            ),
        };
        out.push(text);
    }
    out.extend(fields(report));
    out
}

/// Fields that are this far apart make win rates against them incomparable (one logit).
const FIELDS_APART_ELO: f64 = 174.0;

/// How far the opponents that the engines met are apart.
fn fields(report: &Report<'_>) -> Option<String> {
    let language = report.language;
    let calibrations = report.diagnosis.results.iter().filter_map(|r| r.calibration.as_ref());
    let mut known: Vec<(f64, &str)> =
        calibrations.filter_map(|c| Some((c.field?.advantage()?, c.engine.name.as_str()))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (hardest, easiest) = (known.first()?, known.last()?);
    let signed = |elo: f64| if elo > 0.0 { format!("+{}", number(elo, 0)) } else { number(elo, 0) };
    let apart = easiest.0 - hardest.0 > FIELDS_APART_ELO;
    apart.then(|| {
        say!(
            language,
            "fields: {} is {} Elo against its opponents, {} {}; win rates against such different fields cannot be \
             compared, those between equals can",
            hardest.1,
            signed(hardest.0),
            easiest.1,
            signed(easiest.0)
        )
    })
}

/// The transforms of the answer, with short names.
const SHOWN: [(Transform, &str); 5] = [
    (Transform::Raw, key!("raw scores")),
    (Transform::Standardized, key!("standardised")),
    (Transform::MaximumLikelihood, key!("maximum likelihood")),
    (Transform::RawAgainstEquals, key!("opponents taken out: raw scores")),
    (Transform::Equal, key!("all engines together")),
];

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let mut out = vec![p(report.word(
        "A council that takes the largest value compares values of different engines, so equal values should mean \
         equal win rates. The scale mismatch M is how far an engine's win rate at a value is from that of all engines \
         at it (root mean square over 20 bins of the pooled values, sampling noise taken out). 0 is a common scale; \
         0.09 means that equal values differ by about 9 points of win rate.",
    ))];
    match &report.diagnosis.mismatch {
        Some(found) => out.extend(mismatch(report, found)?),
        None => {
            out.push(p(report.word("Fewer than two engines with a fit in every fold: there is nothing to compare.")))
        }
    }
    if let Some(pairs) = &report.diagnosis.pairwise {
        out.extend(equivalents(report, pairs));
        out.extend(tests(report, pairs));
    }
    Ok(out)
}

fn mismatch(report: &Report<'_>, found: &ScaleMismatch) -> Result<Vec<Block>, PlotError> {
    let thousand = |(low, high): (f64, f64)| (1000.0 * low, 1000.0 * high);
    let language = report.language;
    let caption = say!(
        language,
        "{} engines, {} samples, {} games; out of sample ({} folds), {} resamples of the games; best first",
        found.engines.len(),
        thousands(found.samples),
        thousands(found.games),
        found.folds,
        thousands(u64::from(found.resamples))
    );
    let table = Table::new(language, caption, found.transforms.iter().enumerate())
        .text(report.word("scale"), |(_, t)| t.transform.words().text(language))
        .number(report.word("samples"), |(_, t)| thousands(t.samples))
        .number(report.word("mismatch M"), |(_, t)| with_known_interval(t.m, t.m_interval, 3))
        .number("M² · 1000", |(_, t)| with_interval(1000.0 * t.m_squared, thousand(t.m_squared_interval), 2))
        .number(report.word("M² · 1000 above the best"), |(_, t)| {
            or_dash(t.above_best, |(v, i)| with_interval(1000.0 * v, thousand(i), 2))
        })
        .best(|(rank, _)| *rank == 0);
    let row = |t: &TransformMismatch| ForestRow {
        label: t.transform.words().text(language),
        marks: vec![Some(ForestMark { value: t.m_squared, low: t.m_squared_interval.0, high: t.m_squared_interval.1 })],
    };
    let bars = Forest {
        title: report.word("Scale mismatch M²").to_owned(),
        caption: say!(language, "{} engines · 0: equal values mean equal win rates", found.engines.len()),
        axis: report.word("M² (square of a win rate)").to_owned(),
        rows: found.transforms.iter().map(row).collect(),
        references: vec![(0.0, None)],
        ..Forest::default()
    };
    let drawn = found.transforms.iter().map(|transform| at_equal_values(report, found, transform));
    let mut out = vec![
        table.into(),
        soft(report.word(
            "M² is corrected for noise and may therefore be negative: then no mismatch is seen. Field win rates are \
             those against the opponents that each engine met, and the results at raw scores contain these, too. \
             Where they are taken out, or between equals, the results are without what the opponents explain, so only \
             the scale is left. Isotonic regression needs many samples; with few, its steps are noise.",
        )),
    ];
    out.extend(advice(report, found));
    out.extend([
        Block::Figures(vec![forest(&bars, &report.plots())?]),
        h3(report.word("All engines at equal values")),
        soft(report.word(
            "On a common scale these lines coincide. The axis is the same for all scales: the share of all samples \
             with a lower value.",
        )),
        Block::Figures(drawn.collect::<Result<_, PlotError>>()?),
    ]);
    if found.engines.len() > IN_FIGURE {
        let all = found.engines.len();
        out.push(soft(say!(language, "The {} engines with the most samples of {}.", IN_FIGURE, all)));
    }
    out.extend(left_out(report, found));
    Ok(out)
}

/// The largest engines' mean results at equal values of one transform.
fn at_equal_values(
    report: &Report<'_>,
    found: &ScaleMismatch,
    transform: &TransformMismatch,
) -> Result<Figure, PlotError> {
    let size = |e: usize| transform.curves[e].iter().map(|p| p.count).sum::<u64>();
    let point = |p: &CellPoint| {
        let (low, high) = p.interval;
        Point { x: p.quantile, win_rate: p.result.clamp(0.0, 1.0), low, high, count: p.count }
    };
    let series = |e: usize| EngineSeries {
        curve: transform.curves[e].iter().map(point).collect(),
        samples: size(e),
        ..EngineSeries::new(found.engines[e].clone(), report.color(&found.engines[e]))
    };
    let mut order: Vec<usize> = (0..found.engines.len().min(transform.curves.len())).collect();
    order.sort_by_key(|&e| (std::cmp::Reverse(size(e)), e));
    let series: Vec<EngineSeries> = order.into_iter().take(IN_FIGURE).map(series).collect();
    pooled_curves(&series, &transform.transform.words().text(report.language), &report.plots())
}

/// What is not part of the comparison, and why.
fn left_out(report: &Report<'_>, found: &ScaleMismatch) -> Vec<Block> {
    let language = report.language;
    let transforms = found.transforms_left_out.iter().map(|(t, why)| (t.words().text(language), why));
    let rows: Vec<(String, &Text)> = transforms.chain(found.left_out.iter().map(|(e, why)| (e.clone(), why))).collect();
    let count = rows.len();
    let table = Table::new(language, "", rows)
        .text(report.word("left out"), |(what, _)| what.clone())
        .prose(report.word("why"), |(_, why)| why.text(language).to_owned());
    let mut out = Vec::new();
    if found.too_few > 0 {
        out.push(soft(say!(language, "{} engines with too few samples take no part.", found.too_few)));
    }
    if count > 0 {
        let title = say!(language, "{count} left out of this comparison");
        out.push(folded(title, report.word("and why"), false, vec![table.into()]));
    }
    out
}

/// What to do about the mismatch.
fn advice(report: &Report<'_>, found: &ScaleMismatch) -> Option<Block> {
    let language = report.language;
    let name = |t: &TransformMismatch| t.transform.words().text(language);
    let has_equal = found.transforms.iter().any(|t| t.transform == Transform::RawAgainstEquals);
    // raw scores contain the opponents where nothing takes these out
    let comparable = |t: &&TransformMismatch| match t.transform {
        Transform::Raw => !has_equal,
        transform => !transform.is_field(),
    };
    let best = found.transforms.iter().find(comparable)?;
    let is_bad = |t: &&TransformMismatch| t.m_squared_interval.0 > 0.0 && t.m > 0.03;
    let bad: Vec<String> = found.transforms.iter().filter(comparable).filter(is_bad).map(name).collect();
    let mut text = if bad.is_empty() {
        report.word("What to do: no scale is worse than 0.03 beyond chance.").to_owned()
    } else {
        let bad = bad.join(report.word(" or "));
        say!(language, "What to do: do not compare {bad} between these engines.")
    };
    let m = with_known_interval(best.m, best.m_interval, 3);
    text += &say!(language, " Best here: {} ({m})", name(best));
    text += report.word(
        ". Field win rates can each be right and are not to be compared all the same: they contain the opponents.",
    );
    Some(p(text))
}

/// Which score of one engine is as good as a given score of another.
fn equivalents(report: &Report<'_>, pairs: &Pairwise) -> [Block; 3] {
    let (largest, language) = (pairs.largest(IN_TABLE), report.language);
    let score = number(pairs.score_cp, 0);
    let caption = if pairs.engines.len() > IN_TABLE {
        say!(
            language,
            "the {} engines with the most samples of {}; the JSON beside this page has all",
            IN_TABLE,
            pairs.engines.len()
        )
    } else {
        say!(language, "{} games", thousands(pairs.games))
    };
    let mut table = Table::new(language, caption, largest.iter().copied())
        .text("A", |&a| pairs.engines[a].clone())
        .number(report.word("samples"), |&a| thousands(pairs.samples[a]));
    for &b in &largest {
        table = table.number(&pairs.engines[b], |&a| {
            let e = pairs.equivalents[a][b];
            if a == b { score.clone() } else { or_dash(e, |e| with_interval(e.score_cp, (e.low, e.high), 0)) }
        });
    }
    [
        h3(say!(language, "A score of {score} elsewhere")),
        p(say!(
            language,
            "Row A, column B: the score at which B's win rate between equals is that of A at {score}, by the chosen \
             model ({}).",
            model_name(report.diagnosis.base.model, language)
        )),
        table.into(),
    ]
}

/// Tests of equal curves, of all engines and of each pair.
fn tests(report: &Report<'_>, pairs: &Pairwise) -> Vec<Block> {
    let language = report.language;
    let test = |words: &str, test: Option<Wald>| match test {
        Some(t) => {
            let (statistic, p) = (number(t.statistic, 1), p_value(t.p));
            say!(language, "{words}: χ² {statistic}, df {}, p {p}", t.df)
        }
        None => say!(language, "{words}: too few games for a test"),
    };
    let largest = pairs.largest(IN_TABLE);
    let mut shown: Vec<&Pair> =
        pairs.pairs.iter().filter(|p| largest.contains(&p.first) && largest.contains(&p.second)).collect();
    shown.sort_by(|a, b| a.p_corrected.total_cmp(&b.p_corrected));
    let caption = report.word(
        "Wald tests of the plain sigmoids, clustered by game; the last two columns compare the constants of the \
         chosen model, corrected by Holm for all pairs",
    );
    let table = Table::new(language, caption, shown)
        .text("A", |pair| pairs.engines[pair.first].clone())
        .text("B", |pair| pairs.engines[pair.second].clone())
        .number(report.word("samples"), |pair| thousands(pair.samples))
        .number(report.word("χ² of equal w1"), |pair| number(pair.equal_slopes.statistic, 1))
        .number("p", |pair| p_value(pair.equal_slopes.p))
        .number(report.word("χ² of equal (w1, w2)"), |pair| number(pair.equal_curves.statistic, 1))
        .number("p", |pair| p_value(pair.equal_curves.p))
        .number(report.word("p of equal constants"), |pair| p_value(pair.p_same))
        .number(report.word("p within a factor of 1.25"), |pair| p_value(pair.p_corrected));
    let mut out = vec![h3(report.word("Are the curves one?"))];
    if pairs.left_out > 0 {
        out.push(soft(say!(
            language,
            "The {} engines with the most samples are compared; {} others are not.",
            pairs.engines.len(),
            pairs.left_out
        )));
    }
    out.push(p(say!(
        language,
        "{} engines, {} samples of {} games. {}. {}. A small p means that engines differ by more than chance; M and \
         the table above show by how much.",
        pairs.engines.len(),
        thousands(pairs.samples.iter().sum()),
        thousands(pairs.games),
        test(report.word("Equal slopes w1"), pairs.equal_slopes),
        test(report.word("Equal curves (w1, w2)"), pairs.equal_curves)
    )));
    let (apart, all) = (pairs.apart(), pairs.pairs.len());
    let title = say!(language, "the scales of {} of {} pairs differ after correction", apart, all);
    out.push(folded(title, report.word("the pairs in the table above"), false, vec![table.into()]));
    out
}
