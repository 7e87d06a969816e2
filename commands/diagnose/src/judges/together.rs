//! Forecasts of several engines together: stacked by the results, their mean, and what they have in common.
//!
//! The stack is a logistic regression of the results on the logits of all engines, with weights that are not negative
//! and a free constant (Wolpert, *Stacked generalization*, Neural Networks 1992; Breiman, *Stacked regressions*,
//! Machine Learning 1996). Its weights are fitted without the fold of the game that it forecasts, fold after fold.

use evalcurve_calibration::logistic::Logistic;
use evalcurve_fit::fit::{FitError, LinearRow, regress, solve};
use evalcurve_fit::normal::Z_95;
use evalcurve_fit::parallel;
use evalcurve_fit::validate::{fold_of, mean_by_game};
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;
use serde::Serialize;

use super::{Estimate, FoldOptions, Forecast, Shared, log_loss_difference, mean_log_loss};

/// Slopes of the mean loss, per standard deviation of an engine's logits, that count as 0.
const FLAT: f64 = 1e-9;

/// Forecasts of several engines together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Together {
    pub stacked: Mixture,
    /// The mean of the logits.
    pub mean: Mixture,
    /// The constant of the stack, fitted to all games.
    pub constant: f64,
    /// The engines, in the order of the ranking.
    pub engines: Vec<Member>,
    /// What engines have in common, in pairs.
    pub pairs: Vec<Redundancy>,
}

/// Forecasts that are made of those of all engines.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mixture {
    pub log_loss: Estimate,
    /// Its log loss less that of the best engine alone: below 0 it forecasts better.
    pub against_best: Option<Estimate>,
}

/// An engine in the stack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// Its weight, fitted to all games.
    pub weight: f64,
    /// The smallest and the largest weight of the folds.
    pub weights_of_folds: [f64; 2],
    /// By how much the log loss of the stack is larger without it.
    pub adds: Option<Estimate>,
    /// Partial correlation of its win rates with the results, given the win rates of the others.
    pub with_results: Option<Estimate>,
}

/// How much two engines say the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Redundancy {
    /// An engine, as an index of the ranking.
    pub first: usize,
    /// Another.
    pub second: usize,
    /// Correlation of their win rates.
    pub correlation: Option<Estimate>,
    /// Partial correlation of their win rates, given those of the others; `None` if there are no others.
    pub partial: Option<Estimate>,
}

/// The engines together; the first is the best.
pub(super) fn together(shared: &Shared, folds: &FoldOptions) -> Result<Together, Text> {
    let why = |error: FitError| text!("no stack could be fitted: {why}", why = error.to_text());
    let engines: Vec<usize> = (0..shared.names.len()).collect();
    let everywhere: Vec<usize> = (0..shared.positions()).collect();
    // all engines, then all but one
    let without = |out: Option<usize>| engines.iter().copied().filter(|e| Some(*e) != out).collect::<Vec<_>>();
    let sets: Vec<Vec<usize>> = [None].into_iter().chain(engines.iter().copied().map(Some)).map(without).collect();
    let stacks = parallel::map_into(sets, |set| stacked(shared, &set, folds));
    let stacks: Vec<(Vec<Forecast>, Vec<Weights>)> = stacks.into_iter().collect::<Result<_, _>>().map_err(why)?;
    let Weights { weights, constant } = Weights::fit(shared, &engines, &everywhere).map_err(why)?;
    let (stack, of_folds) = &stacks[0];
    let mixture = |forecasts: &[Forecast]| -> Result<Mixture, Text> {
        let log_loss = mean_log_loss(forecasts).ok_or_else(|| text!("too few samples"))?;
        Ok(Mixture { log_loss, against_best: log_loss_difference(forecasts, &shared.forecasts[0]) })
    };
    let correlations = Correlations::new(shared);
    let member = |e: usize| {
        let found = of_folds.iter().map(|fold| fold.weights[e]);
        Member {
            weight: weights[e],
            weights_of_folds: [found.clone().fold(f64::INFINITY, f64::min), found.fold(0.0, f64::max)],
            adds: log_loss_difference(&stacks[e + 1].0, stack),
            with_results: correlations.given_others(e, engines.len(), &everything_but(&engines, &[e])),
        }
    };
    let pair = |first: usize, second: usize| {
        let others = everything_but(&engines, &[first, second]);
        Redundancy {
            first,
            second,
            correlation: correlations.given_others(first, second, &[]),
            partial: correlations.given_others(first, second, &others).filter(|_| !others.is_empty()),
        }
    };
    Ok(Together {
        stacked: mixture(stack)?,
        mean: mixture(&mean(shared))?,
        constant,
        engines: engines.iter().copied().map(member).collect(),
        pairs: engines
            .iter()
            .flat_map(|&a| (a + 1..engines.len()).map(move |b| (a, b)))
            .map(|(a, b)| pair(a, b))
            .collect(),
    })
}

fn everything_but(engines: &[usize], out: &[usize]) -> Vec<usize> {
    engines.iter().copied().filter(|e| !out.contains(e)).collect()
}

/// Forecasts with the mean of the logits.
fn mean(shared: &Shared) -> Vec<Forecast> {
    let engines = shared.forecasts.len() as f64;
    let at = |i: usize| {
        let logit = shared.forecasts.iter().map(|f| f[i].logit).sum::<f64>() / engines;
        Forecast { logit, ..shared.forecasts[0][i] }
    };
    (0..shared.positions()).map(at).collect()
}

/// The forecasts of the stack of some engines, and its weights without each fold.
fn stacked(shared: &Shared, engines: &[usize], folds: &FoldOptions) -> Result<(Vec<Forecast>, Vec<Weights>), FitError> {
    let fold = |i: usize| fold_of(shared.forecasts[0][i].game, folds);
    let of_fold = |out: u64| {
        let others: Vec<usize> = (0..shared.positions()).filter(|&i| fold(i) != out).collect();
        Weights::fit(shared, engines, &others)
    };
    let weights: Vec<Weights> = (0..folds.folds).map(of_fold).collect::<Result<_, _>>()?;
    let forecast = |i: usize| {
        let Weights { weights, constant } = &weights[fold(i) as usize];
        let sum = engines.iter().zip(weights).map(|(&e, w)| w * shared.forecasts[e][i].logit).sum::<f64>();
        Forecast { logit: constant + sum, ..shared.forecasts[0][i] }
    };
    Ok(((0..shared.positions()).map(forecast).collect(), weights))
}

/// The weights of a stack.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights {
    pub weights: Vec<f64>,
    pub constant: f64,
}

impl Weights {
    /// Weights of some engines, fitted to some positions: none is negative, and among those that are not, they have
    /// the least log loss. Lawson and Hanson's method: engines enter one after another while a positive weight would
    /// help, and leave where it becomes 0.
    pub(super) fn fit(shared: &Shared, engines: &[usize], positions: &[usize]) -> Result<Self, FitError> {
        let fit = |active: &[usize], start: &[f64]| {
            let width = active.len() + 1;
            let row = |&i: &usize| {
                let logits = active.iter().zip(0..).map(move |(&a, j)| (j, shared.forecasts[engines[a]][i].logit));
                logits.chain([(active.len() as u32, 1.0)])
            };
            let features: Vec<(u32, f64)> = positions.iter().flat_map(row).collect();
            let row = |(&i, features)| {
                let Forecast { game, outcome, .. } = shared.forecasts[0][i];
                LinearRow { game, result: outcome.value(), offset: 0.0, features }
            };
            let rows = positions.iter().zip(features.chunks_exact(width)).map(row).collect();
            regress(&rows, start).map(|found| found.at)
        };
        let mut found = Self { weights: vec![0.0; engines.len()], constant: fit(&[], &[0.0])?[0] };
        let mut active: Vec<usize> = Vec::new();
        // each set of engines is left for a better one, so this ends long before
        for _ in 0..4 * engines.len() {
            let Some(next) = found.steepest(shared, engines, positions, &active) else { break };
            active.push(next);
            loop {
                let start: Vec<f64> = active.iter().map(|&a| found.weights[a]).chain([found.constant]).collect();
                let free = fit(&active, &start)?;
                let leaving = active.iter().zip(&free).filter(|(_, w)| **w <= 0.0);
                let part =
                    |(&a, w): (&usize, &f64)| (found.weights[a] / (found.weights[a] - w).max(f64::MIN_POSITIVE), a);
                let first = leaving.map(part).min_by(|a, b| a.0.total_cmp(&b.0));
                let step = first.map_or(1.0, |(step, _)| step);
                active.iter().zip(&free).for_each(|(&a, w)| found.weights[a] += step * (w - found.weights[a]));
                found.constant += step * (free[active.len()] - found.constant);
                let Some((_, out)) = first else { break };
                found.weights[out] = 0.0;
                active.retain(|a| *a != out);
            }
        }
        Ok(found)
    }

    /// The engine, not one of `active`, whose weight lowers the mean loss most.
    fn steepest(&self, shared: &Shared, engines: &[usize], positions: &[usize], active: &[usize]) -> Option<usize> {
        let error = |&i: &usize| {
            let logits = engines.iter().zip(&self.weights).map(|(&e, w)| w * shared.forecasts[e][i].logit);
            let p = Logistic::at(self.constant + logits.sum::<f64>()).p;
            p - shared.forecasts[0][i].outcome.value()
        };
        let errors: Vec<f64> = positions.iter().map(error).collect();
        let slope = |a: usize| {
            let logit = |i: &usize| shared.forecasts[engines[a]][*i].logit;
            let size = positions.iter().map(|i| logit(i) * logit(i)).sum::<f64>().sqrt();
            let sum = positions.iter().zip(&errors).map(|(i, error)| error * logit(i)).sum::<f64>();
            sum / size.max(f64::MIN_POSITIVE) / (positions.len() as f64).sqrt()
        };
        let outside = (0..engines.len()).filter(|a| !active.contains(a)).map(|a| (a, slope(a)));
        outside.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, slope)| *slope < -FLAT).map(|(a, _)| a)
    }
}

/// The win rates that the engines forecast and the results, each with mean 0 and standard deviation 1.
pub(super) struct Correlations {
    games: Vec<u64>,
    columns: Vec<Vec<f64>>,
}

impl Correlations {
    pub(super) fn new(shared: &Shared) -> Self {
        // results are linear in win rates, and not in logits
        let rates = shared.forecasts.iter().map(|f| f.iter().map(Forecast::win_rate).collect());
        let results = shared.forecasts[0].iter().map(|f| f.outcome.value()).collect();
        let columns = rates.chain([results]).map(standard).collect();
        Self { games: shared.forecasts[0].iter().map(|f| f.game).collect(), columns }
    }

    /// The partial correlation of two columns given others: that of what is left of them after linear regression on the
    /// others. The interval is normal on Fisher's scale, its standard error clustered by game. That the regressions are
    /// estimated does not change it to first order, because what is left does not depend linearly on the others.
    pub(super) fn given_others(&self, first: usize, second: usize, others: &[usize]) -> Option<Estimate> {
        let [a, b] = [first, second].map(|column| self.residuals(column, others));
        let (a, b) = (a?, b?);
        // rounding can lead beyond 1, where Fisher's scale ends
        let value = mean_product(&a, &b).clamp(-1.0, 1.0);
        let pull = |((game, a), b): ((&u64, &f64), &f64)| (*game, a * b - 0.5 * value * (a * a + b * b));
        let pulls: Vec<(u64, f64)> = self.games.iter().zip(&a).zip(&b).map(pull).collect();
        let error = mean_by_game(&pulls)?.standard_error();
        let known = error.map(|error| error / (1.0 - value * value)).filter(|error| error.is_finite());
        let end = |sign: f64, error: f64| libm::tanh(libm::atanh(value) + sign * Z_95 * error);
        value.is_finite().then(|| Estimate { value, interval: known.map(|error| [end(-1.0, error), end(1.0, error)]) })
    }

    /// What is left of a column, with standard deviation 1; `None` if nothing is, or if the others determine one
    /// another.
    fn residuals(&self, column: usize, others: &[usize]) -> Option<Vec<f64>> {
        let product = |i: usize, j: usize| mean_product(&self.columns[i], &self.columns[j]);
        let matrix: Vec<Vec<f64>> = others.iter().map(|&i| others.iter().map(|&j| product(i, j)).collect()).collect();
        let toward: Vec<f64> = others.iter().map(|&i| product(i, column)).collect();
        let slopes = if others.is_empty() { Vec::new() } else { solve(&matrix, &toward)? };
        let left = |i: usize| {
            let known = others.iter().zip(&slopes).map(|(&other, slope)| slope * self.columns[other][i]).sum::<f64>();
            self.columns[column][i] - known
        };
        let left: Vec<f64> = (0..self.games.len()).map(left).collect();
        // rounding alone leaves this much of a column that the others determine
        (mean_product(&left, &left) > 1e-12).then(|| standard(left))
    }
}

fn mean_product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / a.len().max(1) as f64
}

/// Numbers with mean 0 and standard deviation 1.
fn standard(mut numbers: Vec<f64>) -> Vec<f64> {
    let mean = numbers.iter().sum::<f64>() / numbers.len().max(1) as f64;
    numbers.iter_mut().for_each(|x| *x -= mean);
    let deviation = mean_product(&numbers, &numbers).sqrt();
    numbers.iter_mut().for_each(|x| *x /= deviation);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page said 1.00 [NaN, NaN].
    #[test]
    fn engines_that_agree_in_all_have_no_interval() {
        let column = |factor: f64| standard((0..40).map(|i| factor * f64::from(i * i % 17)).collect());
        for factor in [1.0, 0.1, 0.3, 1.0 / 3.0, 0.7] {
            let all = Correlations { games: (0..40).collect(), columns: vec![column(1.0), column(factor)] };
            let found = all.given_others(0, 1, &[]).unwrap();
            let holds = found.interval.is_none_or(|[low, high]| low <= found.value && found.value <= high);
            assert!(holds && found.value <= 1.0 && found.value > 0.999_999, "{found:?}");
        }
    }
}
