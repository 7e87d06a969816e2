//! Odd but valid values, given to fits, scores, curves, ratings, replays and statistics in this process: a million
//! executions take minutes. [`crate::odd`] gives such values to the program.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use evalcurve_calibration::types::Outcome;
use evalcurve_calibration::{Calibration, FittedModel};
use evalcurve_fit::curve::{CurvePoint, EvaluationCurve, quantile_points};
use evalcurve_fit::fit::{Case, Cases, FitOptions, ModelFit, ModelKind, SharedPosition, Situation, fit_engines};
use evalcurve_fit::rating::{PRIOR_DRAWS, rate};
use evalcurve_fit::standardize::{StandardizedCurve, standardization};
use evalcurve_fit::validate::{
    CrossValidation, EngineCases, Estimate, FoldOptions, Forecast, ScoreOptions, log_loss_difference, mean_log_loss,
    misfit, reliability, scores,
};
use evalcurve_words::random::Stream;
use serde::Serialize;

use crate::{fuzz, odd};

const KEY: u64 = 0x6f64_6476;

/// Messages of problems that are kept.
const MOST_PROBLEMS: usize = 50;

/// What was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ValueReport {
    pub cases: u64,
    /// Executions by what was executed.
    pub executions: BTreeMap<String, u64>,
    /// Fits that gave a model.
    pub fits: u64,
    /// What did not hold, with the case.
    pub problems: Vec<String>,
}

impl ValueReport {
    fn total(&self) -> u64 {
        self.executions.values().sum()
    }
}

fn pick<T: Copy>(stream: &mut Stream, all: &[T]) -> T {
    all[stream.below(all.len())]
}

/// Samples of one to three engines.
fn engines(stream: &mut Stream) -> Vec<EngineCases> {
    let (engines, games) = (1 + stream.below(3), pick(stream, &[1, 2, 5, 20]));
    let (rows, results, kinds) = (pick(stream, &[1, 3]), stream.below(7), stream.below(8));
    let (plies, strengths, shares) = (stream.below(4), stream.below(4), stream.below(3) == 0);
    let engine = |number: u32, stream: &mut Stream| {
        let mut cases = Vec::new();
        for game in 0..games {
            let lead = stream.below(4_001) as i32 - 2_000;
            let won = (stream.below(4_001) as i32) < lead + 2_000;
            let outcome = match results {
                0 => Outcome::Draw,
                1 => Outcome::Win,
                2 => pick(stream, &[Outcome::Win, Outcome::Draw, Outcome::Loss]),
                _ if won => Outcome::Win,
                _ => Outcome::Loss,
            };
            for row in 0..rows {
                let score_cp = match kinds {
                    0 => 0,
                    1 => pick(stream, &[-1, 1]),
                    2 => pick(stream, &[i32::MAX, i32::MIN, 0]),
                    3 => pick(stream, &[32_000, -32_000, 100]),
                    4 => 10_i32.pow(stream.below(10) as u32) * pick(stream, &[-1, 1]),
                    _ => lead + stream.below(601) as i32 - 300,
                };
                let ply = match plies {
                    0 => None,
                    1 => Some(0),
                    2 => Some(pick(stream, &[1, u32::MAX])),
                    _ => Some(stream.below(300) as u32),
                };
                let strength = match strengths {
                    0 => None,
                    1 => Some(0.0),
                    2 => Some(pick(stream, &[-63.0, 63.0])),
                    _ => Some(stream.below(401) as f64 / 100.0 - 2.0),
                };
                let shared = SharedPosition {
                    engine: pick(stream, &[0, 1, 2, 9]),
                    score_cp: score_cp.saturating_neg(),
                    replied: stream.below(2) == 0,
                };
                let situation = Situation {
                    strength,
                    rating: strength.map(|strength| 1_500.0 + 100.0 * strength),
                    seconds: pick(stream, &[None, Some(0.0), Some(60.0), Some(1e9)]),
                    ply,
                    material: ply.map(|ply| ply.min(78)),
                    engine: Some(number),
                    players: pick(stream, &[None, Some([number, number + 1]), Some([number, number])]),
                    shared: Some(shared).filter(|_| shares),
                };
                let game = pick(stream, &[game, game, game * 7 + u64::from(number), row]);
                cases.push(Case { game, score_cp, outcome, situation });
            }
        }
        EngineCases { name: format!("e{number}"), cases: cases.into_iter().collect() }
    };
    (0..engines as u32).map(|number| engine(number, stream)).collect()
}

/// Whether an estimate is a number that its interval holds.
fn estimate(what: &str, found: Estimate) -> Result<(), String> {
    let Estimate { value, interval } = found;
    // resamples that are all alike differ from the estimate by rounding
    let within = 1e-12 * value.abs();
    let holds = interval.is_none_or(|[low, high]| {
        low <= value + within && value <= high + within && low.is_finite() && high.is_finite()
    });
    if value.is_finite() && holds { Ok(()) } else { Err(format!("{what}: {value} {interval:?}")) }
}

fn curve(points: &[CurvePoint]) -> Result<(), String> {
    let is_wrong = |p: &&CurvePoint| {
        !(p.x.is_finite() && 0.0 <= p.low && p.low <= p.win_rate && p.win_rate <= p.high && p.high <= 1.0)
    };
    points.iter().find(is_wrong).map_or(Ok(()), |point| Err(format!("{point:?}")))
}

/// What is known of a fit, written as a calibration file and read back.
fn fitted(kind: ModelKind, fit: &ModelFit) -> Result<(), String> {
    if !fit.mean_loss.is_finite() || fit.covariance.iter().flatten().flatten().any(|value| !value.is_finite()) {
        return Err(format!("{fit:?}"));
    }
    let fitted = FittedModel::from(fit.clone());
    let Some(calibration) = Calibration::from_models("odd", [(kind, fitted)], kind) else {
        return Err("no calibration".to_owned());
    };
    let text = calibration.to_json().map_err(|error| format!("{kind:?} cannot be written: {error}"))?;
    Calibration::from_json(&text, "odd").map_err(|error| format!("{kind:?} cannot be read back: {error}: {text}"))?;
    fuzz::run("calibration", text.as_bytes());
    Ok(())
}

struct Run<'a> {
    report: &'a mut ValueReport,
    place: String,
}

impl Run<'_> {
    /// Executes something; a panic is a problem.
    fn execute<T>(&mut self, what: &str, work: impl FnOnce() -> Result<T, String>) -> Option<T> {
        *self.report.executions.entry(what.to_owned()).or_default() += 1;
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default())
        });
        match result {
            Ok(found) => Some(found),
            Err(problem) => {
                if self.report.problems.len() < MOST_PROBLEMS {
                    let problem: String = problem.chars().take(1_000).collect();
                    self.report.problems.push(format!("{}: {what}: {problem}", self.place));
                }
                None
            }
        }
    }

    fn fits(&mut self, engines: &[EngineCases], chess: bool) {
        let cases: Vec<&Cases> = engines.iter().map(|engine| &engine.cases).collect();
        let options = FitOptions { min_samples: 1, chess, ..FitOptions::default() };
        for kind in ModelKind::ALL {
            let found = self.execute("fit", || {
                let found = fit_engines(*kind, &cases, &options);
                if found.len() == cases.len() { Ok(found) } else { Err("an engine without an answer".to_owned()) }
            });
            for fit in found.into_iter().flatten() {
                match fit {
                    Ok(fit) => {
                        self.report.fits += 1;
                        // baselines are only compared with
                        if !kind.is_baseline() {
                            self.execute("calibration", || fitted(*kind, &fit));
                        }
                    }
                    Err(error) => drop(self.execute("refusal", || {
                        let text = error.to_string();
                        if text.contains("NaN") || text.contains("inf ") { Err(text) } else { Ok(()) }
                    })),
                }
            }
        }
    }

    fn judged(&mut self, engines: &[EngineCases], stream: &mut Stream) {
        let folds = FoldOptions { folds: pick(stream, &[2, 5]), seed: 1 };
        let options = FitOptions { min_samples: 1, ..FitOptions::default() };
        let kind = pick(stream, ModelKind::ALL);
        let found = self.execute("forecasts", || Ok(CrossValidation::new(engines, folds, options).forecasts(kind)));
        let mut all: Vec<Vec<Forecast>> = found.into_iter().flatten().flatten().collect();
        // forecasts of others
        let logit = |stream: &mut Stream| pick(stream, &[0.0, -0.0, 1e-300, 700.0, -745.0, 1e6, -1e6, 0.3]);
        all.extend(engines.iter().map(|engine| {
            let of = |case: Case| Forecast { game: case.game, logit: logit(stream), outcome: case.outcome };
            engine.cases.iter().map(of).collect()
        }));
        let resampling = ScoreOptions { resamples: 20, seed: 3 };
        for forecasts in &all {
            if let Some(scored) = self.execute("scores", || Ok(scores(forecasts, &resampling).ok())).flatten() {
                self.execute("estimates", || {
                    for (what, found) in [("log loss", scored.log_loss), ("Brier", scored.brier), ("ECE", scored.ece)] {
                        estimate(what, found)?;
                    }
                    scored.slope.map_or(Ok(()), |found| estimate("slope", found))?;
                    scored.intercept.map_or(Ok(()), |found| estimate("intercept", found))
                });
            }
            self.execute("reliability", || {
                let text =
                    reliability(forecasts, &resampling).map_or_else(|e| e.to_string(), |found| format!("{found:?}"));
                if text.contains("NaN") || text.contains("inf") { Err(text) } else { Ok(()) }
            });
            self.execute("misfit", || {
                let points: Vec<i32> = forecasts.iter().map(|forecast| forecast.logit as i32).collect();
                match misfit(forecasts, &points) {
                    Some(found) if !(0.0..=1.0).contains(&found.p_value) => Err(format!("{found:?}")),
                    _ => Ok(()),
                }
            });
            self.execute("log loss", || {
                mean_log_loss(forecasts).map_or(Ok(()), |found| estimate("mean", found))?;
                log_loss_difference(forecasts, &all[0]).map_or(Ok(()), |found| estimate("difference", found))
            });
        }
    }

    fn curves(&mut self, engines: &[EngineCases], stream: &mut Stream) {
        let samples: Vec<(i32, Outcome)> =
            engines.iter().flat_map(|engine| engine.cases.iter()).map(|case| (case.score_cp, case.outcome)).collect();
        let width = pick(stream, &[0, 1, 200, u32::MAX]);
        self.execute("curve", || {
            let mut found = EvaluationCurve::new(width);
            samples.iter().for_each(|(score, outcome)| found.add(*score, *outcome));
            let in_bins: u64 = found.points(0).iter().map(|point| point.count).sum();
            curve(&found.points(1))?;
            if in_bins == samples.len() as u64 {
                Ok(())
            } else {
                Err(format!("{in_bins} of {} samples", samples.len()))
            }
        });
        self.execute("quantiles", || curve(&quantile_points(samples.iter().copied(), 2)));
        self.execute("standardized", || {
            let Ok(unit) = standardization(samples.iter().map(|sample| sample.0)) else { return Ok(()) };
            let mut found = StandardizedCurve::new(unit);
            samples.iter().for_each(|(score, outcome)| found.add(*score, *outcome));
            curve(&found.points(1))
        });
    }

    fn rated(&mut self, stream: &mut Stream) {
        let players = 1 + stream.below(12);
        let outcomes: &[Outcome] =
            pick(stream, &[&[Outcome::Win][..], &[Outcome::Draw], &[Outcome::Win, Outcome::Loss]]);
        let game = |stream: &mut Stream| (stream.below(players), stream.below(players), pick(stream, outcomes));
        let games: Vec<_> = (0..pick(stream, &[0, 1, 10, 200])).map(|_| game(stream)).collect();
        self.execute("ratings", || {
            let found = rate(players, &games, PRIOR_DRAWS).map_err(|error| error.to_string())?;
            if found.elo.iter().all(|elo| elo.is_finite()) { Ok(()) } else { Err(format!("{:?}", found.elo)) }
        });
    }

    /// Texts through the bodies of the fuzz targets, which compute from what they read.
    fn texts(&mut self, seed: u64, case: u64, stream: &mut Stream) {
        self.execute("replay", || {
            odd::votes(seed, case).map(|text| fuzz::run("vote_log", text.as_bytes())).map_err(|e| e.to_string())
        });
        self.execute("match statistics", || {
            let mut text = String::from("white,black,result\n");
            for _ in 0..pick(stream, &[1, 2, 40]) {
                let [white, black] = [0, 0].map(|_: i32| pick(stream, &["A", "B", "C"]));
                text += &format!("{white},{black},{}\n", pick(stream, &["1-0", "0-1", "1/2-1/2"]));
            }
            fuzz::run("results", text.as_bytes());
            Ok(())
        });
        // reading costs most
        if case.is_multiple_of(50) {
            self.execute("samples", || {
                let choice = stream.below(256) as u8;
                let text = [&[choice, 255][..], odd::records(seed, case).as_bytes()].concat();
                fuzz::run("samples", &text);
                Ok(())
            });
        }
    }
}

/// Executes at least so many computations of odd values.
pub fn run(seed: u64, executions: u64) -> ValueReport {
    let mut report = ValueReport::default();
    while report.total() < executions {
        let case = report.cases;
        report.cases += 1;
        let mut stream = Stream::new(&[KEY, seed, case]);
        let engines = engines(&mut stream);
        let mut run = Run { report: &mut report, place: format!("--seed {seed}, case {case}") };
        run.fits(&engines, stream.below(2) == 0);
        run.judged(&engines, &mut stream);
        run.curves(&engines, &mut stream);
        run.rated(&mut stream);
        run.texts(seed, case, &mut stream);
    }
    report
}

#[cfg(test)]
mod tests {
    #[test]
    fn odd_values_keep_all_promises() {
        let report = super::run(7, 5_000);
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
        let written = report.executions["calibration"];
        assert!(written > 100 && report.executions.len() > 12, "{:?}", report.executions);
    }
}
