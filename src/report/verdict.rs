//! The results of a diagnosis, one line per question.

use crate::calibrate::EngineResult;
use crate::diagnose::Diagnosis;
use crate::diagnose::mismatch::Transform;
use crate::diagnose::regression::Wald;
use crate::report::headline::rounded_up;
use crate::report::text::{number, or_dash, p_value, thousands, with_interval};
use crate::validate::ModelKind;

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Line {
    /// The question in one or two words.
    pub question: &'static str,
    /// The answer.
    pub answer: String,
}

/// The relative precision of w1 that is enough for most uses.
pub(super) const WANTED: f64 = 0.05;

fn line(question: &'static str, answer: String) -> Line {
    Line { question, answer }
}

/// All answers, in the order of the report.
pub fn lines(diagnosis: &Diagnosis) -> Vec<Line> {
    let base = &diagnosis.base;
    let mut out = vec![line(
        "Samples",
        format!(
            "{} of {} games; {} of {} engines calibrated",
            thousands(base.samples),
            thousands(base.games),
            base.calibrated,
            base.engines
        ),
    )];
    out.extend(sure(diagnosis));
    out.extend(right(diagnosis));
    out.extend(scale(diagnosis));
    out.extend(differ(diagnosis));
    out.extend(split(diagnosis));
    out.push(signs(diagnosis));
    out
}

fn sure(diagnosis: &Diagnosis) -> Option<Line> {
    let share = |r: &EngineResult| {
        let needed = r.calibration.as_ref()?.games_needed(WANTED)?;
        Some((needed.share_now, r.name.clone(), needed.more))
    };
    let mut known: Vec<_> = diagnosis.results.iter().filter_map(share).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let (first, last) = (known.first()?, known.last()?);
    let enough = known.iter().filter(|k| k.0 <= WANTED).count();
    let mut text = format!("w1 is known to ±{:.0}% ({})", 100.0 * first.0, first.1);
    if known.len() > 1 {
        text += &format!(" up to ±{:.0}% ({}); {enough} of {} to ±5%", 100.0 * last.0, last.1, known.len());
    }
    if last.2 > 0 {
        text += &format!("; {} needs about {} more games for that", last.1, thousands(rounded_up(last.2)));
    }
    Some(line("How sure?", text))
}

fn right(diagnosis: &Diagnosis) -> Option<Line> {
    let of = |kind: ModelKind| diagnosis.models.iter().find(|m| m.kind == kind);
    let loss = |kind: ModelKind| of(kind)?.log_loss.as_ref().ok().copied();
    let chosen = diagnosis.base.model;
    let own = loss(chosen)?;
    let mut text = format!("log loss on unseen games {}", estimate(&own, 3));
    let shared = [(ModelKind::Shared600, "the shared 600"), (ModelKind::Lichess, "lichess's curve")];
    for (kind, name) in shared {
        if let Some(shared) = loss(kind) {
            text += &format!(", with {name} {}", number(shared.value, 3));
        }
    }
    let best = diagnosis.models.iter().filter_map(|m| Some((m, m.log_loss.as_ref().ok()?.value)));
    if let Some((best, value)) = best.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|b| b.0.kind != chosen) {
        text += &format!("; the best is {} ({})", number(value, 3), best.kind.as_str().replace('_', " "));
    }
    let judged = diagnosis.results.iter().filter_map(|r| r.validated.as_ref()?.scores.slope?.interval);
    let (wrong, all) = judged.fold((0, 0), |(w, a), [low, high]| (w + u32::from(low > 1.0 || high < 1.0), a + 1));
    if all > 0 {
        text += &format!("; calibration slope off 1 for {wrong} of {all} engines");
    }
    Some(line("Is it right?", text))
}

/// `0.293 [0.290, 0.296]`
pub(super) fn estimate(e: &crate::validate::Estimate, decimals: usize) -> String {
    match e.interval {
        Some([low, high]) => with_interval(e.value, (low, high), decimals),
        None => number(e.value, decimals),
    }
}

fn scale(diagnosis: &Diagnosis) -> Vec<Line> {
    let mismatch = match &diagnosis.mismatch {
        Some(found) => {
            let one = |t: Transform| {
                let r = found.transforms.iter().find(|r| r.transform == t)?;
                Some(format!("{} {}", short(t), with_interval(r.m, r.m_interval, 3)))
            };
            let parts: Vec<String> = SHOWN.into_iter().filter_map(one).collect();
            format!(
                "at equal values, win rates of {} engines are apart by (root mean square M): {}",
                found.engines.len(),
                parts.join(", ")
            )
        }
        None => "fewer than two engines: nothing to compare".to_owned(),
    };
    let mut out = vec![line("One scale?", mismatch)];
    if let Some(pairs) = &diagnosis.pairwise {
        let test = |t: Wald, decimals| format!("(χ² {:.decimals$}, df {}, p {})", t.statistic, t.df, p_value(t.p));
        let mut text = match pairs.equal_curves {
            Some(t) if t.p < 0.05 => format!("the engines' curves differ {}", test(t, 0)),
            Some(t) => format!("no difference between the engines' curves seen {}", test(t, 1)),
            None => "too few games for a test of equal curves".to_owned(),
        };
        if let Some((a, b)) = example_pair(diagnosis) {
            text += &format!(
                "; between equals {} of {} is {} of {}",
                number(pairs.score_cp, 0),
                pairs.engines[a],
                or_dash(pairs.equivalents[a][b], |e| with_interval(e.score_cp, (e.low, e.high), 0)),
                pairs.engines[b]
            );
        }
        out.push(line("", text));
    }
    out.extend(fields(diagnosis));
    out
}

/// Fields that are this far apart make win rates against them incomparable (one logit).
const FIELDS_APART_ELO: f64 = 174.0;

/// How far the opponents that the engines met are apart.
fn fields(diagnosis: &Diagnosis) -> Option<Line> {
    let calibrations = diagnosis.results.iter().filter_map(|r| r.calibration.as_ref());
    let mut known: Vec<(f64, &str)> =
        calibrations.filter_map(|c| Some((c.field?.advantage()?, c.engine.name.as_str()))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (hardest, easiest) = (known.first()?, known.last()?);
    let signed = |elo: f64| if elo > 0.0 { format!("+{}", number(elo, 0)) } else { number(elo, 0) };
    let text = format!(
        "fields: {} is {} Elo against its opponents, {} {}",
        hardest.1,
        signed(hardest.0),
        easiest.1,
        signed(easiest.0)
    );
    (easiest.0 - hardest.0 > FIELDS_APART_ELO).then(|| {
        line("", text + "; win rates against such different fields cannot be compared, those between equals can")
    })
}

/// The transforms of the verdict.
const SHOWN: [Transform; 5] = [
    Transform::Raw,
    Transform::Standardized,
    Transform::LeastSquares,
    Transform::MaximumLikelihood,
    Transform::Strength,
];

/// The short name of a transform.
fn short(transform: Transform) -> &'static str {
    match transform {
        Transform::Raw => "raw",
        Transform::Standardized => "z",
        Transform::LeastSquares => "LSE",
        Transform::MaximumLikelihood => "MLE",
        Transform::Strength => "strength-adjusted",
        Transform::Isotonic => "isotonic",
    }
}

/// Scores beyond this are rare and make no good example.
const TYPICAL_CP: f64 = 2_000.0;

/// The two of the largest engines whose scores differ most, among typical scores.
pub(super) fn example_pair(diagnosis: &Diagnosis) -> Option<(usize, usize)> {
    let pairs = diagnosis.pairwise.as_ref()?;
    let largest = pairs.largest(6);
    let usual = |a: usize, b: usize| pairs.equivalents[a][b].is_some_and(|e| e.low > 0.0 && e.high < TYPICAL_CP);
    let ratio = |a: usize, b: usize| pairs.equivalents[a][b].map_or(0.0, |e| (e.score_cp / pairs.score_cp).abs());
    let all =
        largest.iter().flat_map(|&a| largest.iter().map(move |&b| (a, b))).filter(|(a, b)| a != b && usual(*a, *b));
    all.max_by(|x, y| ratio(x.0, x.1).total_cmp(&ratio(y.0, y.1)))
}

fn differ(diagnosis: &Diagnosis) -> Option<Line> {
    let tables = &diagnosis.influence;
    if tables.is_empty() {
        return None;
    }
    let apart: Vec<_> = tables.iter().filter(|t| t.differ).collect();
    let mut text = format!("LSE and MLE are apart for {} of {} engines", apart.len(), tables.len());
    let widest = apart.iter().max_by(|a, b| a.gap().total_cmp(&b.gap()));
    if let Some(t) = widest {
        text += &format!("; the furthest apart is {}", t.engine);
        if let Some(ratio) = t.all.ratio {
            text += &format!(" (ratio {})", with_interval(ratio.value, (ratio.low, ratio.high), 2));
        }
        text += &match t.driver.and_then(|i| t.rows.get(i)) {
            Some(row) if row.group == 1 => format!(", by 1 sample: {}", row.label),
            Some(row) => format!(", by {} samples: {}", row.group, row.label),
            None => ", not by a single group: a sigmoid does not fit it well".to_owned(),
        };
    }
    let moved = tables.iter().filter(|t| t.mates_matter).count();
    if moved > 0 {
        text += &format!("; with mates kept they would differ for {moved}");
    }
    Some(line("Why LSE ≠ MLE?", text))
}

fn split(diagnosis: &Diagnosis) -> Option<Line> {
    let tested = diagnosis.splits.iter().filter(|s| s.test.is_ok()).count();
    if tested == 0 {
        return None;
    }
    let split: Vec<_> = diagnosis.splits.iter().filter(|s| s.splits).collect();
    let mut text = format!("{} of {tested} curves split after correction", split.len());
    if !split.is_empty() {
        let mut by: Vec<(&str, usize)> = Vec::new();
        for s in &split {
            match by.iter_mut().find(|b| b.0 == s.by) {
                Some(b) => b.1 += 1,
                None => by.push((&s.by, 1)),
            }
        }
        let by: Vec<String> = by.into_iter().map(|(by, n)| format!("{n} by {by}")).collect();
        text += &format!(": {}", by.join(", "));
    }
    Some(line("Split curves", text))
}

fn signs(diagnosis: &Diagnosis) -> Line {
    let kinds = [
        ("sign_inverted", "inverted sign"),
        ("all_scores_zero", "all scores 0"),
        ("score_unit", "scores that are not centipawns"),
        ("mates_under_threshold", "mates under the threshold"),
        ("threshold_in_evaluations", "threshold within the evaluations"),
        ("mates_inverted", "mates of inverted sign"),
        ("book_zeros", "zeros of book moves"),
    ];
    let found: Vec<String> = kinds
        .iter()
        .filter_map(|(kind, words)| {
            let has = |r: &&EngineResult| r.warnings.iter().any(|w| w.kind == *kind);
            let names: Vec<&str> = diagnosis.results.iter().filter(has).map(|r| r.name.as_str()).collect();
            let (named, more) = names.split_at(names.len().min(3));
            let tail = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            (!names.is_empty()).then(|| format!("{words}: {}{tail}", named.join(", ")))
        })
        .collect();
    let text = if found.is_empty() { "nothing unusual found".to_owned() } else { found.join("; ") };
    line("Signs, mates", text)
}
