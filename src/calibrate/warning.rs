//! What a user should know of an engine's scores before trusting its calibration.

use serde::Serialize;

use super::mates::is_wrong_sided;
use super::{CalibrateOptions, EngineResult};
use crate::fit::{FitOptions, Method, Observation, ScoreCounts, fit_counts};
use crate::sample::Sample;
use crate::types::Color;

/// Correlation of score and result below which a sign looks inverted (with so many samples of a colour).
const INVERTED: f64 = -0.2;
const INVERTED_SAMPLES: usize = 100;
/// A slope by one method this many times the other's is told, where each lies outside the other's interval.
const SLOPES_APART: f64 = 1.25;

/// A warning, for people and for machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// One word: `sign_inverted`, `mates_under_threshold`, `methods_disagree`, `all_scores_zero`,
    /// `not_validated`, `ratings_know_the_results`.
    pub kind: &'static str,
    /// The sentence, with figures and remedy.
    pub text: String,
}

/// All warnings of one engine.
pub(super) fn of_engine(
    result: &EngineResult,
    samples: &[Sample],
    observations: &[Observation],
    options: &CalibrateOptions,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for color in [Color::Black, Color::White] {
        let side: Vec<&Sample> = samples.iter().filter(|s| s.color == color && !s.mate).collect();
        if let Some(r) = correlation(&side).filter(|r| *r < INVERTED && side.len() >= INVERTED_SAMPLES) {
            let text = format!(
                "sign looks inverted as {color}: score and result correlate by {r:.2} over {} samples; \
                 check that the client sends scores in Black's view",
                side.len()
            );
            warnings.push(Warning { kind: "sign_inverted", text });
        }
    }
    if !samples.is_empty() && samples.iter().all(|s| s.score_cp == 0) {
        let text = "every score is 0: the records hold no evaluations of this engine".to_owned();
        warnings.push(Warning { kind: "all_scores_zero", text });
    }
    if let Some(spike) = result.mates.spike_below {
        let span = if spike.from_cp == spike.to_cp {
            format!("±{}", spike.from_cp)
        } else {
            format!("±{} to ±{}", spike.from_cp, spike.to_cp)
        };
        let text = format!(
            "{} samples make a spike at {span} under the mate threshold {}, with nothing from {} up to it: \
             these look like mates; use --mate-threshold \"{}={}\" or auto",
            spike.samples,
            result.mates.threshold_cp,
            spike.below_cp,
            result.name,
            spike.threshold()
        );
        warnings.push(Warning { kind: "mates_under_threshold", text });
    }
    warnings.extend(disagreement(result, samples, observations, options));
    warnings
}

/// Pearson's correlation of score and result; `None` where one of them does not vary.
fn correlation(samples: &[&Sample]) -> Option<f64> {
    let n = samples.len() as f64;
    let mean = |f: &dyn Fn(&Sample) -> f64| samples.iter().map(|s| f(s)).sum::<f64>() / n;
    let (x, y) = (|s: &Sample| f64::from(s.score_cp), |s: &Sample| s.outcome.value());
    let (mx, my) = (mean(&x), mean(&y));
    let sum = |f: &dyn Fn(&Sample) -> f64| samples.iter().map(|s| f(s)).sum::<f64>();
    let sxy = sum(&|s| (x(s) - mx) * (y(s) - my));
    let (sxx, syy) = (sum(&|s| (x(s) - mx).powi(2)), sum(&|s| (y(s) - my).powi(2)));
    (sxx > 0.0 && syy > 0.0).then(|| sxy / (sxx * syy).sqrt())
}

/// The two methods give slopes that are far apart: which samples make it?
///
/// Both are fitted again without one group of samples after the other; the first group without which at least half of
/// the gap (of the logarithms of the slopes) is gone is named.
fn disagreement(
    result: &EngineResult,
    samples: &[Sample],
    observations: &[Observation],
    options: &CalibrateOptions,
) -> Option<Warning> {
    let (lse, mle) = (result.least_squares.as_ref().ok()?, result.maximum_likelihood.as_ref().ok()?);
    let gap = |lse: f64, mle: f64| libm::log(lse / mle).abs();
    let before = gap(lse.sigmoid.w1, mle.sigmoid.w1);
    let outside = |(low, high): (f64, f64), w1: f64| w1 < low || w1 > high;
    let by_chance = !outside(lse.interval_w1(), mle.sigmoid.w1) || !outside(mle.interval_w1(), lse.sigmoid.w1);
    if before < libm::log(SLOPES_APART) {
        return None;
    }
    let large = {
        let mut sizes: Vec<u32> = observations.iter().map(|o| o.score_cp.unsigned_abs()).collect();
        sizes.sort_unstable();
        sizes.get(sizes.len() * 99 / 100).copied().unwrap_or(u32::MAX)
    };
    type Group<'a> = (&'a str, &'a dyn Fn(&Sample) -> bool);
    let groups: [Group<'_>; 3] = [
        ("wrong-sided mates (a win announced and not won, or a loss and not lost)", &|s| s.mate && is_wrong_sided(s)),
        ("mates", &|s| s.mate),
        ("among the outermost 1%", &|s| s.score_cp.unsigned_abs() >= large),
    ];
    let head = format!("w1 is {:.6} by least squares and {:.6} by maximum likelihood", lse.sigmoid.w1, mle.sigmoid.w1);
    for (name, belongs) in groups {
        // `observations` are the samples less excluded mates, in the same order
        let kept: Vec<&Sample> = samples
            .iter()
            .filter(|s| !(s.mate && options.mate_policy == crate::calibration::MatePolicy::Exclude))
            .collect();
        let rest: Vec<Observation> =
            observations.iter().zip(&kept).filter(|(_, s)| !belongs(s)).map(|(o, _)| *o).collect();
        let left_out = observations.len() - rest.len();
        if left_out == 0 {
            continue;
        }
        // mates are told whether or not the intervals are wide: they are what makes them wide
        if by_chance && !name.contains("mates") {
            continue;
        }
        let counts = ScoreCounts::from_observations(&rest);
        let fit_options = FitOptions { min_samples: options.min_samples, ..FitOptions::default() };
        let w1 = |method| fit_counts(method, &counts, &fit_options).ok().map(|f| f.sigmoid.w1);
        let (Some(a), Some(b)) = (w1(Method::LeastSquares), w1(Method::MaximumLikelihood)) else { continue };
        if gap(a, b) <= before / 2.0 {
            let text = format!(
                "{head}; the samples that make the difference are the {left_out} of {} that are {name}: \
                 without them {a:.6} and {b:.6}",
                observations.len()
            );
            return Some(Warning { kind: "methods_disagree", text });
        }
    }
    if by_chance {
        return None;
    }
    let text = format!(
        "{head}, and no one group of samples explains it: a sigmoid does not fit well, look at the plot of its curve"
    );
    Some(Warning { kind: "methods_disagree", text })
}
