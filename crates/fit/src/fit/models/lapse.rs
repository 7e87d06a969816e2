//! The fit of the sigmoid with lapses, and what lapses explain.

use std::cell::RefCell;

use evalcurve_calibration::logistic::Logistic;
use evalcurve_calibration::{Lapse, Method, Model, ModelKind, Outcome, Sigmoid};

use super::fitted::{ModelFit, games_of};
use super::fitter::Fitter;
use crate::fit::case::Case;
use crate::fit::counts::{ScoreCount, ScoreCounts};
use crate::fit::covariance::clustered;
use crate::fit::error::FitError;
use crate::fit::lapse::{Common, Points, drawn_share, second};
use crate::fit::objective::SCORE_SCALE;
use crate::fit::options::FitOptions;
use crate::fit::plain::{check_cases, fit_counts};
use crate::fit::search::{Evaluation, Loss, Minimum, Search};
use crate::fit::symmetric::Square;
use crate::parallel;
use crate::vector::{BLOCK, add_all};

pub(super) const FIT: Fitter = Fitter::Near(|kind, engines, near, options| {
    let fit = |e: usize| fit(kind, &engines[e].cases(), near.get(e).copied().flatten(), options);
    parallel::map(engines.len(), fit)
});

/// Largest share of lapses; more means that the scores say little.
const LARGEST: f64 = 0.4;

/// The likelihood of results counted by score, in (w1, w2) and, if it is free, the share of lapses on either side.
struct Likelihood {
    /// scores, results, and the part of the samples with both
    x: Vec<f64>,
    result: Vec<f64>,
    weight: Vec<f64>,
    spread: Vec<f64>,
    /// written by each evaluation
    points: RefCell<Box<Points>>,
}

impl Likelihood {
    fn new(counts: &ScoreCounts, free: bool) -> Self {
        let samples = counts.samples() as f64;
        let (mut x, mut result, mut weight) = (Vec::new(), Vec::new(), Vec::new());
        for &ScoreCount { score_cp, wins, draws, losses } in counts.rows() {
            for (of, n) in [(1.0, wins), (0.5, draws), (0.0, losses)].into_iter().filter(|(_, n)| *n > 0) {
                x.push(f64::from(score_cp) / SCORE_SCALE);
                result.push(of);
                weight.push(n as f64 / samples);
            }
        }
        let mut spread = vec![1.0; 2 + usize::from(free)];
        spread[0] = x.iter().zip(&weight).map(|(x, n)| n * x * x).sum::<f64>().sqrt();
        Self { x, result, weight, spread, points: RefCell::new(Box::new(Points::new())) }
    }
}

impl Loss for Likelihood {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        if at[2..].iter().any(|share| !(0.0..LARGEST).contains(share)) {
            return None;
        }
        let (mut loss, mut by, mut twice, mut z) = (0.0, [0.0; 3], [0.0; 6], [0.0; BLOCK]);
        let common = Common { lapse: at.get(2).copied(), draws: None };
        let points = &mut **self.points.borrow_mut();
        let blocks = self.x.chunks(BLOCK).zip(self.result.chunks(BLOCK)).zip(self.weight.chunks(BLOCK));
        for ((x, result), weight) in blocks {
            z.iter_mut().zip(x).for_each(|(z, x)| *z = at[0] * x - at[1]);
            points.at(&z[..x.len()], common, result);
            let Points { loss: of, first, second: bend, .. } = points;
            for (i, (x, n)) in x.iter().zip(weight).enumerate() {
                loss += n * of[i];
                add_all(&mut by, [n * first[0][i] * x, -n * first[0][i], n * first[1][i]]);
                let (zz, both, shares) = (n * bend[0][i], n * bend[second(0, 1)][i], n * bend[second(1, 1)][i]);
                add_all(&mut twice, [zz * x * x, -zz * x, zz, both * x, -both, shares]);
            }
        }
        let mut hessian = Square::zero(at.len());
        let places = (0..at.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        places.zip(twice).for_each(|((i, j), sum)| hessian.add(i, j, sum));
        Some(Evaluation { loss, gradient: by[..at.len()].to_vec(), hessian })
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }
}

/// Shares from which the searches start.
const STARTS: [f64; 3] = [0.002, 0.02, 0.1];

/// Fits w1, w2 and the share of lapses by maximum likelihood: the best minimum of several starts, or of the one where a
/// fit to much the same samples ended. No lapses at all is among them, so that the share is exactly 0 where data have
/// none.
fn fit(kind: ModelKind, cases: &[Case], near: Option<&ModelFit>, options: &FitOptions) -> Result<ModelFit, FitError> {
    check_cases(cases, options.min_samples)?;
    let observations: Vec<_> = cases.iter().map(Case::observation).collect();
    let counts = ScoreCounts::from_observations(&observations);
    let start = |w1: f64, w2: f64, share: f64| [w1 * SCORE_SCALE, w2, share];
    let starts: Vec<[f64; 3]> = match near.map(|fit| &fit.model) {
        Some(Model::Lapse(near)) => vec![start(near.w1, near.w2, near.lapse.max(STARTS[0]))],
        _ => {
            let plain = Method::ALL.iter().filter_map(|method| fit_counts(*method, &counts, options).ok());
            let each = |Sigmoid { w1, w2 }| STARTS.map(|share| start(w1, w2, share));
            plain.flat_map(|fit| each(fit.sigmoid)).collect()
        }
    };
    let mut best: Option<Minimum> = None;
    for free in [true, false] {
        let likelihood = Likelihood::new(&counts, free);
        // the likelihood of the plain sigmoid has one minimum
        let starts = if free { &starts[..] } else { &starts[starts.len().saturating_sub(1)..] };
        for start in starts.iter().map(|start| &start[..likelihood.spread.len()]) {
            let Ok(found) = Search::new(&likelihood).minimise(start) else { continue };
            let better = best.as_ref().is_none_or(|b| found.evaluation.loss < b.evaluation.loss - 1e-12);
            if found.at[0] > 0.0 && better {
                best = Some(found);
            }
        }
    }
    let Some(found) = best else {
        if near.is_some() {
            return fit(kind, cases, None, options);
        }
        let plain = fit_counts(Method::MaximumLikelihood, &counts, options);
        return Err(plain.err().unwrap_or(FitError::NotConverged { gradient: f64::INFINITY, passes: 0 }));
    };
    let size = found.at.len();
    let lapse = found.at.get(2).copied().unwrap_or(0.0);
    let model = Lapse { w1: found.at[0] / SCORE_SCALE, w2: found.at[1], lapse };
    let covariance = || {
        let games: Vec<u64> = cases.iter().map(|c| c.game).collect();
        let points = RefCell::new(Box::new(Points::new()));
        clustered(&found.evaluation.hessian, &games, |i, add| {
            let x = f64::from(cases[i].score_cp) / SCORE_SCALE;
            let mut points = points.borrow_mut();
            let common = Common { lapse: found.at.get(2).copied(), draws: None };
            points.at(&[found.at[0] * x - found.at[1]], common, &[cases[i].outcome.value()]);
            let [by_z, by_share, ..] = points.first.map(|of| of[0]);
            [x * by_z, -by_z, by_share][..size].iter().enumerate().for_each(|(j, by)| add(j, *by));
        })
    };
    let covariance = if options.forecasts_only { None } else { covariance() };
    // w1 per centipawn; a share that is not free has variance 0
    let scales = [1.0 / SCORE_SCALE, 1.0, 1.0];
    let row = |i: usize| (0..size).map(|j| if i == j { scales[i] } else { 0.0 }).collect();
    let rows: Vec<Vec<f64>> = (0..scales.len()).map(row).collect();
    let covariance = covariance.map(|v| v.transformed(&rows));
    ModelFit::new(kind, Model::Lapse(model), covariance, games_of(cases), found.evaluation.loss)
}

/// Whether an engine's results hold lapses at all: the likelihood ratio of a fit with lapses against the plain sigmoid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LapseTest {
    /// Twice the gain in log likelihood, 0 or more.
    pub statistic: f64,
    /// Chance of such a gain without lapses: half that of chi-squared with one degree of freedom, since a share cannot
    /// be negative.
    pub p_value: f64,
}

/// Tests the share of a [`ModelKind::Lapse`] fit against 0. `plain` is the mean loss of maximum likelihood on the same
/// samples.
pub fn lapse_test(lapse: &ModelFit, plain: f64) -> LapseTest {
    let statistic = (2.0 * lapse.samples as f64 * (plain - lapse.mean_loss)).max(0.0);
    LapseTest { statistic, p_value: 0.5 * libm::erfc((0.5 * statistic).sqrt()) }
}

/// The part of the share of lapses that is games drawn at any score.
pub fn drawn(model: &Lapse, cases: &[Case]) -> f64 {
    let rate = |case: &Case| Logistic::at(model.w1 * f64::from(case.score_cp) - model.w2).p;
    drawn_share(cases.iter().map(|case| (rate(case), case.outcome.value())), model.lapse)
}

/// For each sample, the probability that its result followed no score. The mean is twice `lapse` at the maximum of
/// the likelihood, so sums over groups of samples divide the lapses between them.
pub fn unexplained(model: &Lapse, cases: &[Case]) -> Vec<f64> {
    let one = |case: &Case| {
        let at = Logistic::at(model.w1 * f64::from(case.score_cp) - model.w2);
        let share = model.lapse;
        let (win, loss) = (share + (1.0 - 2.0 * share) * at.p, share + (1.0 - 2.0 * share) * at.q);
        let of = |weight: f64, rate: f64| if rate > 0.0 { weight * share / rate } else { 0.0 };
        of(case.outcome.value(), win) + of(1.0 - case.outcome.value(), loss)
    };
    cases.iter().map(one).collect()
}

/// The samples of the largest scores that contradict the result, largest first: a win expected and lost, or a loss
/// expected and won. These are what lapses explain.
pub fn contradictions(cases: &[Case]) -> Vec<&Case> {
    let contradicts = |c: &&Case| match c.outcome {
        Outcome::Win => c.score_cp < 0,
        Outcome::Loss => c.score_cp > 0,
        Outcome::Draw => c.score_cp != 0,
    };
    let mut found: Vec<&Case> = cases.iter().filter(contradicts).collect();
    found.sort_by_key(|c| (std::cmp::Reverse(c.score_cp.unsigned_abs()), c.game));
    found
}

#[cfg(test)]
mod tests {
    use evalcurve_calibration::Situation;

    use super::*;
    use crate::fit::fit_model;
    use evalcurve_words::random::unit;

    /// Games drawn from a sigmoid with lapses.
    fn planted(lapse: f64, seed: u64) -> Vec<Case> {
        (0..4000u64)
            .map(|game| {
                let score_cp = (6000.0 * (unit(&[seed, game, 0]) - 0.5)) as i32;
                let p = lapse + (1.0 - 2.0 * lapse) * Sigmoid { w1: 0.004, w2: 0.2 }.win_rate(f64::from(score_cp));
                let outcome = if unit(&[seed, game, 1]) < p { Outcome::Win } else { Outcome::Loss };
                Case { game, score_cp, outcome, situation: Situation::default() }
            })
            .collect()
    }

    fn lapse_of(cases: &[Case]) -> (Lapse, ModelFit) {
        let fit = fit_model(ModelKind::Lapse, cases, &FitOptions::default()).unwrap();
        let Model::Lapse(model) = fit.model else { panic!("{fit:?}") };
        (model, fit)
    }

    #[test]
    fn planted_lapses_are_found_and_the_slope_is_right() {
        let cases = planted(0.04, 1);
        let (model, fit) = lapse_of(&cases);
        let errors = fit.standard_errors().unwrap();
        assert!((model.w1 - 0.004).abs() < 3.0 * errors[0], "{model:?} {errors:?}");
        assert!((model.lapse - 0.04).abs() < 3.0 * errors[2], "{model:?}");
        let plain = fit_model(ModelKind::MaximumLikelihood, &cases, &FitOptions::default()).unwrap();
        let test = lapse_test(&fit, plain.mean_loss);
        assert!(test.p_value < 1e-6, "{test:?} {model:?} {plain:?}");
        // at the maximum, the lapses of all samples sum to the share
        let mean = unexplained(&model, &cases).iter().sum::<f64>() / cases.len() as f64;
        assert!((mean - 2.0 * model.lapse).abs() < 1e-6, "{mean} {model:?}");
        // the plain sigmoid is flatter
        assert!(plain.model.sigmoid().unwrap().w1 < 0.0035);
    }

    #[test]
    fn a_fit_to_much_the_same_samples_leads_to_the_same_minimum() {
        for (lapse, seed) in [(0.0, 5), (0.0, 6), (0.004, 7), (0.04, 8)] {
            let cases = planted(lapse, seed);
            let (complete, _) = lapse_of(&cases);
            let (_, near) = lapse_of(&cases[..3200]);
            let found = fit(ModelKind::Lapse, &cases, Some(&near), &FitOptions::default()).unwrap();
            let Model::Lapse(found) = found.model else { panic!("{found:?}") };
            assert!((found.w1 / complete.w1 - 1.0).abs() < 1e-7, "{found:?} {complete:?}");
            assert!((found.lapse - complete.lapse).abs() < 1e-8, "{found:?} {complete:?}");
        }
    }

    #[test]
    fn without_lapses_the_share_is_near_zero_and_the_test_is_silent() {
        let cases = planted(0.0, 2);
        let plain = fit_model(ModelKind::MaximumLikelihood, &cases, &FitOptions::default()).unwrap();
        let (model, fit) = lapse_of(&cases);
        assert!(model.lapse < 0.01, "{model:?}");
        assert!(fit.mean_loss <= plain.mean_loss + 1e-12);
        assert!(lapse_test(&fit, plain.mean_loss).p_value > 0.01);
    }

    #[test]
    fn one_game_lost_on_time_does_not_flatten_the_curve() {
        let mut cases = planted(0.0, 3);
        cases.truncate(1000);
        let (before, _) = lapse_of(&cases);
        cases.push(Case { game: 9999, score_cp: 12_730, outcome: Outcome::Loss, situation: Situation::default() });
        let (after, _) = lapse_of(&cases);
        let plain = fit_model(ModelKind::MaximumLikelihood, &cases, &FitOptions::default()).unwrap();
        assert!((after.w1 / before.w1 - 1.0).abs() < 0.05, "{before:?} {after:?}");
        assert!(plain.model.sigmoid().unwrap().w1 < 0.9 * before.w1);
        assert_eq!(contradictions(&cases)[0].score_cp, 12_730);
    }
}
