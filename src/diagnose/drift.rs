//! Has the scale of an engine's scores moved from one version to the next?
//!
//! w1 is the value of a centipawn. If w1 of the new version is 1.2 times that of the old one, a former score of +300 is
//! +250 now. The two calibrations are assumed to be independent.

use serde::Serialize;

use super::regression::{Wald, wald};
use crate::calibration::{Calibration, FittedModel, FittedSigmoid, Method};
use crate::curve::Z_95;
use crate::fit::{Model, Sigmoid};
use crate::normal::quantile_95;

/// How two calibrations are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftOptions {
    /// Largest tolerated change of w1 in percent, up or down.
    pub tolerance_percent: f64,
    /// The fits to compare; `None` for those of the old calibration's chosen model, or maximum likelihood if that model
    /// is not a plain sigmoid.
    pub method: Option<Method>,
    /// Scores at which to compare win rates, centipawns.
    pub scores: Vec<f64>,
}

impl Default for DriftOptions {
    fn default() -> Self {
        Self { tolerance_percent: 10.0, method: None, scores: vec![-1000.0, -500.0, -200.0, 0.0, 200.0, 500.0, 1000.0] }
    }
}

/// Why two calibrations cannot be compared.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DriftError {
    /// A calibration has no fit by the method.
    #[error("the calibration of {engine} has no fit by {method}; choose another with --model")]
    NoFit {
        /// The engine.
        engine: String,
        /// The method.
        method: Method,
    },
    /// The tolerance is not a positive percentage.
    #[error("a tolerance of {0}% is not valid; use a number above 0, such as 10")]
    Tolerance(f64),
    /// A score is not a finite number.
    #[error("a score of {0} centipawns cannot be compared; use a finite number")]
    Score(f64),
}

/// Whether the scale moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The change is within the tolerance.
    Within,
    /// The change is beyond the tolerance and significant: its interval excludes 0.
    Moved,
    /// The change is beyond the tolerance, but its interval includes 0: there are too few games.
    Unclear,
}

/// A number with its 95% interval, `None` if a calibration has no covariance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimated {
    /// The number.
    pub value: f64,
    /// Lower and upper end.
    pub interval: Option<(f64, f64)>,
}

/// Win rates of one score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtScore {
    /// The score, centipawns.
    pub score_cp: f64,
    /// Its win rate by the old calibration.
    pub old: f64,
    /// Its win rate by the new one.
    pub new: f64,
    /// New less old.
    pub difference: Estimated,
    /// The score of the old version that has the new version's win rate, centipawns.
    pub old_score_cp: f64,
}

/// The scales of two calibrations compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// Name in the old calibration.
    pub old_engine: String,
    /// Name in the new one.
    pub new_engine: String,
    /// The fits that were compared.
    pub method: Method,
    /// The old curve.
    pub old: Sigmoid,
    /// The new curve.
    pub new: Sigmoid,
    /// Change of w1 in percent: 100 (w1 new / w1 old - 1). Its interval is computed from that of the logarithm.
    pub change_percent: Estimated,
    /// The tolerance in percent.
    pub tolerance_percent: f64,
    /// Whether the scale moved.
    pub verdict: Verdict,
    /// Test that w1 is equal, on its logarithm like the interval of the change.
    pub same_w1: Option<Wald>,
    /// Test that w1 and w2 are equal.
    pub same_curve: Option<Wald>,
    /// Win rates at the scores of the options.
    pub at: Vec<AtScore>,
    /// What makes the comparison doubtful: different sampling, different mate policies, the same samples.
    pub remarks: Vec<String>,
}

/// Compares a new calibration with an old one.
///
/// The verdict is on the scale w1 only. w2 changes with the strength of the opponents; the test of both is reported
/// separately.
///
/// # Errors
/// [`DriftError`].
pub fn drift(old: &Calibration, new: &Calibration, options: &DriftOptions) -> Result<Drift, DriftError> {
    if !(options.tolerance_percent > 0.0 && options.tolerance_percent.is_finite()) {
        return Err(DriftError::Tolerance(options.tolerance_percent));
    }
    if let Some(score) = options.scores.iter().find(|s| !s.is_finite()) {
        return Err(DriftError::Score(*score));
    }
    let method = options.method.or(old.model.kind.method()).unwrap_or(Method::MaximumLikelihood);
    let (a, b) = (fitted(old, method)?, fitted(new, method)?);
    let covariances = a.covariance.zip(b.covariance);
    let quantile = a.games.into_iter().chain(b.games).min().map_or(Z_95, quantile_95);
    let (from, to) = (Sigmoid { w1: a.w1, w2: a.w2 }, Sigmoid { w1: b.w1, w2: b.w2 });

    let log_ratio = libm::log(b.w1 / a.w1);
    let log_variance = covariances.map(|(va, vb)| va[0][0] / (a.w1 * a.w1) + vb[0][0] / (b.w1 * b.w1));
    let percent = |log: f64| 100.0 * libm::expm1(log);
    let ends = |variance: f64| {
        let half = quantile * variance.max(0.0).sqrt();
        (percent(log_ratio - half), percent(log_ratio + half))
    };
    let change = Estimated { value: percent(log_ratio), interval: log_variance.map(ends) };
    let by_chance = change.interval.is_some_and(|(low, high)| low <= 0.0 && 0.0 <= high);
    // as a ratio, so that swapping the calibrations gives the same verdict
    let beyond = log_ratio.abs() > libm::log1p(options.tolerance_percent / 100.0);
    let verdict = match (beyond, by_chance) {
        (false, _) => Verdict::Within,
        (true, false) => Verdict::Moved,
        (true, true) => Verdict::Unclear,
    };

    let summed = covariances.map(|(va, vb)| {
        let sum = |i: usize, j: usize| va[i][j] + vb[i][j];
        vec![vec![sum(0, 0), sum(0, 1)], vec![sum(1, 0), sum(1, 1)]]
    });
    let at = |&score_cp: &f64| {
        let (p, q) = (from.win_rate(score_cp), to.win_rate(score_cp));
        let variance = |v: [[f64; 2]; 2], p: f64| {
            let logit = score_cp * score_cp * v[0][0] - 2.0 * score_cp * v[0][1] + v[1][1];
            p * p * (1.0 - p) * (1.0 - p) * logit.max(0.0)
        };
        let half = covariances.map(|(va, vb)| quantile * (variance(va, p) + variance(vb, q)).sqrt());
        let difference = Estimated { value: q - p, interval: half.map(|h| (q - p - h, q - p + h)) };
        AtScore { score_cp, old: p, new: q, difference, old_score_cp: (to.logit(score_cp) + from.w2) / from.w1 }
    };
    Ok(Drift {
        old_engine: old.engine.name.clone(),
        new_engine: new.engine.name.clone(),
        method,
        old: from,
        new: to,
        change_percent: change,
        tolerance_percent: options.tolerance_percent,
        verdict,
        same_w1: log_variance.and_then(|v| wald(&[log_ratio], &[vec![v]])),
        same_curve: summed.as_ref().and_then(|v| wald(&[b.w1 - a.w1, b.w2 - a.w2], v)),
        at: options.scores.iter().map(at).collect(),
        remarks: remarks(old, new),
    })
}

fn fitted(calibration: &Calibration, method: Method) -> Result<FittedSigmoid, DriftError> {
    match calibration.models.get(&method.into()) {
        Some(FittedModel { model: Model::Sigmoid(curve), covariance, samples, games }) => {
            let square = |v: &Vec<Vec<f64>>| match v.as_slice() {
                [a, b] => Some([[*a.first()?, *a.get(1)?], [*b.first()?, *b.get(1)?]]),
                _ => None,
            };
            let covariance = covariance.as_ref().and_then(square);
            Ok(FittedSigmoid { w1: curve.w1, w2: curve.w2, covariance, samples: *samples, games: *games })
        }
        _ => Err(DriftError::NoFit { engine: calibration.engine.name.clone(), method }),
    }
}

/// What differs between two calibrations apart from the engine.
fn remarks(old: &Calibration, new: &Calibration) -> Vec<String> {
    let mut remarks = Vec::new();
    let digest = |c: &Calibration| c.provenance.as_ref().and_then(|p| p.digest.clone());
    if digest(old).is_some() && digest(old) == digest(new) {
        remarks.push(
            "both are fitted to the same samples: they are not independent, and the tests are not valid".to_owned(),
        );
    }
    if let (Some(a), Some(b)) = (&old.mates, &new.mates) {
        if a.policy != b.policy || a.clip_cp != b.clip_cp {
            remarks.push("mates were treated differently (--mate-policy): calibrate both the same way".to_owned());
        } else if a.threshold_cp != b.threshold_cp {
            let cp = |t: Option<f64>| t.map_or_else(|| "none".to_owned(), |t| format!("{t:.0}"));
            let (a, b) = (cp(a.threshold_cp), cp(b.threshold_cp));
            remarks.push(format!("mates begin at {a} in the old and at {b} in the new one"));
        }
    }
    if let (Some(a), Some(b)) = (&old.sampling, &new.sampling) {
        if (a.from_ply, a.window, a.per_window, a.draws) != (b.from_ply, b.window, b.per_window, b.draws) {
            remarks.push(
                "samples were drawn differently (--from-ply, --window or --draws): calibrate both the same way"
                    .to_owned(),
            );
        }
        if a.filters != b.filters {
            remarks.push("the filters differ".to_owned());
        }
    }
    let opponents =
        |c: &Calibration| c.provenance.as_ref().map(|p| p.opponents.iter().map(|o| o.name.clone()).collect::<Vec<_>>());
    if let (Some(a), Some(b)) = (opponents(old), opponents(new))
        && !a.is_empty()
        && !b.is_empty()
        && !a.iter().any(|name| b.contains(name))
    {
        remarks.push("they have no opponent in common: w2 depends on the opponents, and w1 may".to_owned());
    }
    remarks
}

impl Drift {
    /// The verdict in one or two sentences.
    pub fn sentence(&self) -> String {
        let change = &self.change_percent;
        let interval = change.interval.map_or_else(
            || " (no interval: a calibration has no covariance)".to_owned(),
            |(low, high)| format!(" [{low:+.1}, {high:+.1}]"),
        );
        let tolerance = self.tolerance_percent;
        let changed = format!("w1 changed by {:+.1}%{interval}", change.value);
        let wide = change.interval.is_some_and(|(low, high)| {
            let limit = libm::log1p(tolerance / 100.0);
            libm::log1p(high / 100.0) > limit || libm::log1p(low / 100.0) < -limit
        });
        match self.verdict {
            Verdict::Within if wide => {
                format!("no move beyond {tolerance}% was found: {changed}; the games are too few to rule one out")
            }
            Verdict::Within => format!("the scale did not move by more than {tolerance}%: {changed}"),
            Verdict::Moved => {
                let example = self.at.iter().rfind(|a| a.score_cp > 0.0 && a.score_cp <= 600.0);
                let example = example.map_or_else(String::new, |a| {
                    format!("; {:+.0} of the new version is {:+.0} of the old one", a.score_cp, a.old_score_cp)
                });
                format!("the scale moved by more than {tolerance}%: {changed}{example}")
            }
            Verdict::Unclear => format!(
                "beyond {tolerance}%, but this may be chance: {changed}; add games (`evalcurve fit` reports how many)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::FittedSigmoid;

    fn calibration(w1: f64, w2: f64, se: Option<f64>) -> Calibration {
        let covariance = se.map(|se| [[se * se, 0.3 * se * 0.05], [0.3 * se * 0.05, 0.0025]]);
        let fit = FittedSigmoid { w1, w2, covariance, samples: Some(4000), games: Some(1000) };
        Calibration::from_sigmoids("A", [(Method::MaximumLikelihood, fit)], Method::MaximumLikelihood).unwrap()
    }

    fn compare(old: &Calibration, new: &Calibration) -> Drift {
        drift(old, new, &DriftOptions::default()).unwrap()
    }

    #[test]
    fn verdicts_follow_tolerance_and_chance() {
        let old = calibration(0.002, 0.1, Some(0.00004));
        for (w1, se, verdict) in [
            (0.00205, 0.00004, Verdict::Within),
            (0.00219, 0.00004, Verdict::Within),
            (0.0024, 0.00004, Verdict::Moved),
            (0.0017, 0.00004, Verdict::Moved),
            (0.0024, 0.0004, Verdict::Unclear),
        ] {
            let found = compare(&old, &calibration(w1, 0.1, Some(se)));
            assert_eq!(found.verdict, verdict, "{w1} {se}: {}", found.sentence());
            let (low, high) = found.change_percent.interval.unwrap();
            assert!(low < found.change_percent.value && found.change_percent.value < high);
        }
        let moved = compare(&old, &calibration(0.0024, 0.1, Some(0.00004)));
        assert!((moved.change_percent.value - 20.0).abs() < 1e-9);
        assert_eq!(
            moved.sentence(),
            "the scale moved by more than 10%: w1 changed by +20.0% [+14.0, +26.3]; +500 of the new version is +600 of \
             the old one"
        );
    }

    #[test]
    fn tests_agree_with_numpy() {
        // d = [0.0001, 0.05]; V = [[3.2e-9, 1.2e-6], [1.2e-6, 0.005]]
        // numpy: d @ inv(V) @ d = 3.1593406593406588, scipy.stats.chi2.sf(_, 2) = 0.2060430132775897;
        // log(1.05)**2/((4e-5/.002)**2 + (4e-5/.0021)**2)
        let found = compare(&calibration(0.002, 0.1, Some(0.00004)), &calibration(0.0021, 0.15, Some(0.00004)));
        let (w1, both) = (found.same_w1.unwrap(), found.same_curve.unwrap());
        assert!((w1.statistic - 3.1206650796044517).abs() < 1e-9 && w1.df == 1);
        assert!((both.statistic - 3.159_340_659_340_66).abs() < 1e-9 && both.df == 2, "{both:?}");
        assert!((both.p - 0.206_043_013_277_589_7).abs() < 1e-12);
    }

    #[test]
    fn curves_are_compared_at_scores() {
        let (old, new) = (calibration(0.002, 0.1, Some(0.00004)), calibration(0.0024, -0.1, Some(0.00004)));
        let found = compare(&old, &new);
        let at = found.at.iter().find(|a| a.score_cp == 500.0).unwrap();
        assert!((at.old - 1.0 / (1.0 + libm::exp(-0.9))).abs() < 1e-12);
        assert!((at.new - 1.0 / (1.0 + libm::exp(-1.3))).abs() < 1e-12);
        assert!((at.old_score_cp - 700.0).abs() < 1e-9);
        let (low, high) = at.difference.interval.unwrap();
        assert!(low < at.difference.value && at.difference.value < high);
    }

    #[test]
    fn published_coefficients_have_no_test() {
        let found = compare(&calibration(0.002, 0.1, None), &calibration(0.0024, 0.1, Some(0.0001)));
        assert_eq!((found.verdict, found.same_w1, found.change_percent.interval), (Verdict::Moved, None, None));
        assert!(found.sentence().contains("no covariance"));
        let bad = DriftOptions { tolerance_percent: 0.0, ..DriftOptions::default() };
        let old = calibration(0.002, 0.1, None);
        assert_eq!(drift(&old, &old, &bad), Err(DriftError::Tolerance(0.0)));
        let other = DriftOptions { method: Some(Method::LeastSquares), ..DriftOptions::default() };
        assert!(drift(&old, &old, &other).unwrap_err().to_string().contains("--model"));
    }
}
