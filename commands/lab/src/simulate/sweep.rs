//! The figures of LFICS ("合議の効能", 2016-12) and those about scales as numbers: simulated rates over one varied
//! quantity.

use evalcurve_rules::{Rule, TieRule};

use super::exact::{agreement_rate, best_move_rate};
use super::model::{Contender, Model, ModelError, Synchronisation};
use super::run::{RunOptions, simulate};

/// What a line shows. A line has the same colour on all figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The strongest engine alone.
    Strongest,
    /// The weaker engines alone.
    Weaker,
    Rule(Contender),
    /// A rule with synchronised engines.
    Synchronised(Contender),
    /// Agreement of the strongest and a weaker engine.
    AgreementWithStrongest,
    /// Agreement of the weaker engines.
    AgreementOfWeaker,
    /// Agreement of the weaker engines, synchronised.
    AgreementSynchronised,
}

/// One line: x, y and the standard error of y, which is 0 for an exact y.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub shown: Shown,
    /// The points from left to right.
    pub points: Vec<(f64, f64, f64)>,
}

/// The varied quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Varied {
    /// Noise of the two weaker engines, s2 = s3, in units of the gap; the strongest has s1 = d.
    WeakerNoise {
        /// n.
        candidates: usize,
    },
    /// The same quantity, for agreement rates.
    Agreement {
        /// n.
        candidates: usize,
    },
    /// The same quantity, with and without σ = 0.5 between the weaker engines.
    SynchronisedRates {
        /// n.
        candidates: usize,
    },
    /// Number of engines with s = 2 d.
    Engines,
    /// Gain of the weaker engines' scores.
    Gain,
    /// Error of calibrations: standard deviation of ln w1.
    CalibrationError,
}

/// A figure as numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The varied quantity.
    pub varied: Varied,
    /// Positions per point.
    pub trials: u64,
    pub seed: u64,
    pub lines: Vec<Line>,
}

/// Standard deviation of A in the figures about scales, which covers equal to won positions.
pub const SPREAD: f64 = 1.5;
/// Probability of synchronisation in LFICS.
pub(crate) const SYNCHRONISATION: f64 = 0.5;

impl Sweep {
    /// All figures, in order.
    pub const ALL: [Varied; 9] = [
        Varied::WeakerNoise { candidates: 2 },
        Varied::WeakerNoise { candidates: 3 },
        Varied::Agreement { candidates: 2 },
        Varied::Agreement { candidates: 3 },
        Varied::SynchronisedRates { candidates: 2 },
        Varied::SynchronisedRates { candidates: 3 },
        Varied::Engines,
        Varied::Gain,
        Varied::CalibrationError,
    ];

    /// Simulates a figure.
    ///
    /// # Errors
    /// If there are no trials, or if threads cannot be started.
    pub fn new(varied: Varied, options: RunOptions) -> Result<Self, ModelError> {
        let mut sweep = Self { varied, trials: options.trials, seed: options.seed, lines: Vec::new() };
        match varied {
            Varied::WeakerNoise { candidates } => {
                let mut contenders = Contender::lfics();
                contenders.retain(|c| candidates > 2 || c.tie == TieRule::Leader);
                for s in noises() {
                    sweep.singles(s, candidates);
                    sweep.rates(s, &weaker(s, candidates), &contenders, Shown::Rule, options)?;
                }
            }
            Varied::Agreement { candidates } => {
                for s in noises() {
                    sweep.push(Shown::AgreementOfWeaker, (s, agreement_rate([s, s], candidates, 1.0), 0.0));
                    sweep.push(Shown::AgreementWithStrongest, (s, agreement_rate([1.0, s], candidates, 1.0), 0.0));
                    let found = simulate(&synchronised(weaker(s, candidates)), &[], options)?;
                    if let Some((.., rate)) = found.agreement.iter().find(|(i, j, _)| (*i, *j) == (1, 2)) {
                        sweep.push(Shown::AgreementSynchronised, (s, rate.value(), rate.standard_error()));
                    }
                }
            }
            Varied::SynchronisedRates { candidates } => {
                let contenders = [Contender::new(Rule::Majority), Contender::new(Rule::Optimistic)];
                for s in noises() {
                    sweep.singles(s, candidates);
                    let model = weaker(s, candidates);
                    sweep.rates(s, &model, &contenders, Shown::Rule, options)?;
                    sweep.rates(s, &synchronised(model), &contenders, Shown::Synchronised, options)?;
                }
            }
            Varied::Engines => {
                let contenders = Contender::lfics();
                for n in 1..=10 {
                    let model = Model::lfics(&vec![2.0; n], 2, 1.0);
                    sweep.rates(n as f64, &model, &contenders, Shown::Rule, options)?;
                }
            }
            Varied::Gain => {
                for step in 0..=8 {
                    let gain = libm::exp2(f64::from(step) / 4.0);
                    let mut model = Model { spread: SPREAD, ..weaker(1.2, 3) };
                    model.engines.iter_mut().skip(1).for_each(|e| e.gain = gain);
                    sweep.push(Shown::Strongest, (gain, best_move_rate(1.0, 3, 1.0), 0.0));
                    sweep.rates(gain, &model, &optimisms(), Shown::Rule, options)?;
                }
            }
            Varied::CalibrationError => {
                for step in 0..=8 {
                    let error = f64::from(step) / 10.0;
                    let mut model = Model { spread: SPREAD, ..weaker(1.2, 3) };
                    for (engine, gain) in model.engines.iter_mut().zip([1.0, 1.5, 1.5]) {
                        (engine.gain, engine.calibration_error) = (gain, error);
                    }
                    sweep.push(Shown::Strongest, (error, best_move_rate(1.0, 3, 1.0), 0.0));
                    sweep.rates(error, &model, &optimisms(), Shown::Rule, options)?;
                }
            }
        }
        Ok(sweep)
    }

    fn push(&mut self, shown: Shown, point: (f64, f64, f64)) {
        match self.lines.iter_mut().find(|l| l.shown == shown) {
            Some(line) => line.points.push(point),
            None => self.lines.push(Line { shown, points: vec![point] }),
        }
    }

    fn singles(&mut self, s: f64, candidates: usize) {
        self.push(Shown::Strongest, (s, best_move_rate(1.0, candidates, 1.0), 0.0));
        self.push(Shown::Weaker, (s, best_move_rate(s, candidates, 1.0), 0.0));
    }

    fn rates(
        &mut self,
        x: f64,
        model: &Model,
        contenders: &[Contender],
        shown: impl Fn(Contender) -> Shown,
        options: RunOptions,
    ) -> Result<(), ModelError> {
        for rule in simulate(model, contenders, options)?.rules {
            self.push(shown(rule.contender), (x, rule.best_move.value(), rule.best_move.standard_error()));
        }
        Ok(())
    }
}

/// The three optimisms, and the majority, which does not depend on scales.
fn optimisms() -> Vec<Contender> {
    let mut all = Contender::optimisms().to_vec();
    all.push(Contender::new(Rule::Majority));
    all
}

fn noises() -> impl Iterator<Item = f64> {
    (0..=8).map(|k| 1.0 + f64::from(k) / 4.0)
}

fn weaker(s: f64, candidates: usize) -> Model {
    Model::lfics(&[1.0, s, s], candidates, 1.0)
}

fn synchronised(mut model: Model) -> Model {
    model.synchronisations = vec![Synchronisation { of: 1, follower: 2, probability: SYNCHRONISATION }];
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_lines() {
        let options = RunOptions { trials: 2000, seed: 3, threads: None };
        for varied in Sweep::ALL {
            let sweep = Sweep::new(varied, options).unwrap();
            assert!(sweep.lines.len() >= 3, "{varied:?}");
            let points = sweep.lines[0].points.len();
            assert!(points >= 9 && sweep.lines.iter().all(|l| l.points.len() == points), "{varied:?}");
        }
    }

    #[test]
    fn one_engine_has_the_rate_of_a_single_engine() {
        let options = RunOptions { trials: 200_000, seed: 3, threads: None };
        let sweep = Sweep::new(Varied::Engines, options).unwrap();
        let alone = best_move_rate(2.0, 2, 1.0);
        for line in &sweep.lines {
            assert!((line.points[0].1 - alone).abs() < 4.0 * line.points[0].2, "{:?}", line.shown);
        }
    }
}
