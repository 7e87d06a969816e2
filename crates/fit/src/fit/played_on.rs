//! Logistic regression of results on the scores of two sides, where some games would have ended otherwise.

use evalcurve_calibration::logistic::logistic;

use super::symmetric::solve;

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
}
