//! Games that the scores ended: the threshold, and logistic regression of results on the scores of two sides, where
//! these games would have ended otherwise.

use evalcurve_calibration::logistic::logistic;

use super::symmetric::solve;

/// Thresholds that are considered are multiples of this many centipawns ...
const STEP: u16 = 50;
/// ... up to so many.
pub const MOST: u16 = 6_000;
/// Games that reach the threshold.
pub const LEAST: usize = 20;
/// The share of them that may go on from there.
const GO_ON: f64 = 0.02;
/// If games went on from there half as often as from half the threshold, what was seen would have a probability of e to
/// the minus this.
const SURPRISE: f64 = 12.0;

/// What a sample has: two scores and 1, or one score, 0 and 1.
pub type Regressors = [f64; 3];

/// Regressors with results; of games that their last scores ended, those too.
#[derive(Debug, Default)]
pub struct Results(Vec<(Regressors, f64, Option<Regressors>)>);

impl Results {
    pub fn push(&mut self, row: Regressors, result: f64, end: Option<Regressors>) {
        self.0.push((row, result, end));
    }

    /// The coefficients, from a start. With `played_on`, games that their scores ended have the results that these
    /// coefficients forecast. `None` where the regression does not converge.
    pub fn fit(&self, start: Regressors, played_on: Option<Regressors>) -> Option<Regressors> {
        let mut at = start;
        for _ in 0..30 {
            let (mut gradient, mut hessian) = ([0.0; 3], [[0.0; 3]; 3]);
            for (row, result, end) in &self.0 {
                let p = logistic(product(&at, row));
                let target = played_on.zip(*end).map_or(*result, |(model, end)| logistic(product(&model, &end)));
                for i in 0..3 {
                    gradient[i] += (target - p) * row[i];
                    for j in 0..3 {
                        hessian[i][j] += p * (1.0 - p) * row[i] * row[j];
                    }
                }
            }
            // where one score stands for both, they share the slope
            (0..3).for_each(|i| hessian[i][i] = hessian[i][i] * (1.0 + 1e-9) + 1e-9);
            let step = solve(&hessian, &gradient)?;
            at.iter_mut().zip(&step).for_each(|(at, step)| *at += step);
            if step.iter().all(|step| step.abs() < 1e-7) {
                return Some(at);
            }
        }
        None
    }

    /// The coefficients that agree with their own forecasts for the games that the scores ended.
    pub fn played_on(&self) -> Option<Regressors> {
        let mut model = self.fit([0.0; 3], None)?;
        for _ in 0..200 {
            let next = self.fit(model, Some(model))?;
            let moved = next.iter().zip(model).any(|(a, b)| (a - b).abs() > 1e-5);
            model = next;
            if !moved {
                break;
            }
        }
        Some(model)
    }
}

/// The smallest threshold from which games do not go on. Of each game the largest level from which it went on, and the
/// one at its end, in centipawns.
pub fn threshold(games: &[(u16, u16)]) -> Option<u16> {
    if games.len() < LEAST {
        return None;
    }
    let mut steps = vec![[0usize; 2]; usize::from(MOST / STEP) + 1];
    let step = |level: u16| usize::from(level.min(MOST) / STEP);
    for &(went_on, at_end) in games {
        steps[step(went_on.max(at_end))][0] += 1;
        steps[step(went_on)][1] += 1;
    }
    // games that reach each step, and those that went on from there
    for at in (1..steps.len()).rev() {
        let [reached, on] = steps[at];
        steps[at - 1][0] += reached;
        steps[at - 1][1] += on;
    }
    (2..steps.len()).find_map(|at| {
        let [reached, on] = steps[at];
        let [usual_reached, usual_on] = steps[at / 2];
        let usual = usual_on as f64 / (usual_reached as f64).max(1.0);
        let holds = reached >= LEAST && on as f64 <= GO_ON * reached as f64;
        (holds && -(reached as f64) * libm::log1p(-usual / 2.0) > SURPRISE).then_some(at as u16 * STEP)
    })
}

fn product(a: &Regressors, b: &Regressors) -> f64 {
    a.iter().zip(b).map(|(w, x)| w * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regression_finds_its_parameters() {
        let mut samples = Results::default();
        // the shares won are exactly those of the model
        for (x, won) in [(-1.0, 0.2), (0.0, 0.4), (1.0, 0.64)] {
            samples.push([x, 0.0, 1.0], won, None);
        }
        let [slope, none, offset] = samples.fit([0.0; 3], None).unwrap();
        // logit 0.2, 0.4, 0.64 = ln 1/4, ln 2/3, ln 16/9: the steps are ln 8/3
        assert!((slope - libm::log(8.0 / 3.0)).abs() < 1e-9 && (offset - libm::log(2.0 / 3.0)).abs() < 1e-9);
        assert_eq!(none, 0.0);
        assert_eq!(solve(&[[1.0, 2.0], [2.0, 1.0]], &[0.0; 2]), None);
    }

    #[test]
    fn the_threshold_is_where_games_stop_going_on() {
        // a game went on from up to 580, and ended at 600 to 900
        let ruled = || (0..100).map(|i| (i * 37 % 581, 600 + i * 3));
        let threshold = |games: &mut dyn Iterator<Item = (u16, u16)>| threshold(&games.collect::<Vec<_>>());
        assert_eq!(threshold(&mut ruled()), Some(600));
        // a few that come back are a matter of the rule; many are none
        assert_eq!(threshold(&mut ruled().chain([(700, 800), (650, 900)])), Some(600));
        assert_eq!(threshold(&mut ruled().chain((0..20).map(|i| (700 + i * 300, 800)))), None);
        // games of one position each say nothing of games that go on
        assert_eq!(threshold(&mut (0..100).map(|i| (0, i * 9))), None);
    }
}
