//! Fits the model of LFICS to the votes of a council: noise, gap and synchronisation.
//!
//! The best moves are unknown. The information is in how often engines agree, and in how far their values differ when
//! they agree and when they do not. Values are logits of calibrated win rates. A few thousand positions are needed.

mod likelihood;
mod log;

use argmin::core::{CostFunction, Error, Executor, State, TerminationReason, TerminationStatus};
use argmin::solver::neldermead::NelderMead;
use ndarray::Array1;
use rayon::prelude::*;

pub use self::log::simulated_log;
pub use super::simulate::Ballot;

use self::likelihood::{Normal, Parameters, log_density, log_labellings};
use super::simulate::{Model, ModelError, Synchronisation, agreement_rate};
use evalcurve_fit::fit::inverse_form;
use evalcurve_rules::log::{Ballots, Log};

/// Smallest number of positions.
const LEAST: usize = 100;
/// Largest absolute logit of an open position, a win rate of 0.99. Votes beyond it are left out.
const DECIDED: f64 = 4.6;
/// Largest number of candidates to try.
const MOST_CANDIDATES: usize = 12;
/// Positions per partial sum, so that sums do not depend on the number of threads.
const CHUNK: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimateOptions {
    /// n, the number of candidates; `None` for the number with the largest likelihood.
    pub candidates: Option<usize>,
    /// Two votes for the same move whose logits differ by at most this are one copied vote.
    pub copied_within: f64,
}

impl Default for EstimateOptions {
    fn default() -> Self {
        Self { candidates: None, copied_within: 1e-6 }
    }
}

/// An estimate with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimated {
    pub value: f64,
    /// Its standard error, from the curvature of the likelihood.
    pub standard_error: f64,
}

/// A pair of voters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The first, from 0.
    pub first: usize,
    /// The second, from 0.
    pub second: usize,
    /// Positions in which both voted.
    pub positions: u64,
    /// Number of these with the same move.
    pub agreed: u64,
    /// Number of these with the same move and value.
    pub copied: u64,
    /// Expected agreement of independent voters with the estimated noise and gap.
    pub expected: f64,
    /// σ: the share of positions in which one voter would have to copy the other to explain their agreement; below 0 if
    /// they agree less than independent voters. Its standard error treats noise and gap as known.
    pub synchronisation: Estimated,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Positions used: those with two or more open votes.
    pub positions: usize,
    /// n.
    pub candidates: usize,
    /// The log likelihood of each n that was tried.
    pub tried: Vec<(usize, f64)>,
    /// d, logits.
    pub gap: Estimated,
    /// s of each voter, logits.
    pub noise: Vec<Estimated>,
    /// Every pair of voters.
    pub pairs: Vec<Pair>,
}

/// Why the model cannot be estimated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// Fewer than two voters.
    #[error("{0} voters with win rates; two are needed, and calibrations for their scores")]
    Voters(usize),
    /// Not enough positions.
    #[error("{found} positions with two or more open votes; {LEAST} are needed")]
    Positions { found: usize },
    /// A voter without votes.
    #[error("voter {0} has no vote with a win rate; leave it out, or give it a calibration")]
    Silent(usize),
    /// More different moves in a position than candidates.
    #[error("{seen} different moves in one position, but {candidates} candidates; allow more with `candidates`")]
    Candidates { seen: usize, candidates: usize },
    /// The search did not converge.
    #[error("not converged: {0}; the votes may come from too few positions, or from engines without noise")]
    NotConverged(String),
    /// A session with other voters than the first.
    #[error("the session from line {line} has other voters than the first session; estimate each council separately")]
    OtherVoters {
        /// Line of its first decision.
        line: usize,
    },
}

impl Estimate {
    /// The estimated model for a simulation, with the default caution. Voters are synchronised if they agree by at
    /// least two standard errors more than noise and gap explain: the second copies the first. A voter copies at most
    /// one other, with which it agrees most.
    pub fn model(&self) -> Model {
        let noise: Vec<f64> = self.noise.iter().map(|s| s.value).collect();
        let mut model = Model::lfics(&noise, self.candidates, self.gap.value);
        for follower in 0..noise.len() {
            let sigma = |p: &&Pair| p.synchronisation.value;
            let clear =
                |p: &&Pair| p.second == follower && p.synchronisation.value > 2.0 * p.synchronisation.standard_error;
            let most = self.pairs.iter().filter(clear).max_by(|a, b| sigma(a).total_cmp(&sigma(b)));
            if let Some(pair) = most {
                let probability = pair.synchronisation.value.clamp(0.0, 1.0);
                model.synchronisations.push(Synchronisation { of: pair.first, follower, probability });
            }
        }
        model
    }
}

/// The votes of a log as logits, and the names of its voters. Mates, bounds, and win rates above 0.99 or below 0.01 are
/// left out.
///
/// # Errors
/// If a session has other voters than the first.
pub fn ballots(log: &Log) -> Result<(Vec<String>, Vec<Ballot>), EstimateError> {
    let mut names: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for session in &log.sessions {
        let own: Vec<String> = session.header.voters.iter().map(|v| v.name.clone()).collect();
        if names.is_empty() {
            names = own;
        } else if names != own {
            return Err(EstimateError::OtherVoters { line: session.decisions.first().map_or(0, |d| d.0) });
        }
        for (_, line) in &session.decisions {
            let votes = Ballots::new(&session.header, line).exact_logits(&session.header);
            let open = votes.into_iter().filter(|(_, _, logit)| logit.abs() <= DECIDED);
            all.push(open.map(|(voter, best, logit)| (voter, best.0, logit)).collect());
        }
    }
    Ok((names, all))
}

/// Estimates the model from the votes of `voters` voters by maximum likelihood.
///
/// # Errors
/// If there are too few voters or positions, or if the search does not converge.
pub fn estimate(voters: usize, ballots: &[Ballot], options: EstimateOptions) -> Result<Estimate, EstimateError> {
    if voters < 2 {
        return Err(EstimateError::Voters(voters));
    }
    let used: Vec<Ballot> = ballots.iter().filter(|b| b.len() > 1).cloned().collect();
    if used.len() < LEAST {
        return Err(EstimateError::Positions { found: used.len() });
    }
    if let Some(silent) = (0..voters).find(|i| !used.iter().any(|b| b.iter().any(|v| v.0 == *i))) {
        return Err(EstimateError::Silent(silent + 1));
    }
    let different = |b: &Ballot| (0..b.len()).filter(|&i| !b[..i].iter().any(|v| v.1 == b[i].1)).count();
    let seen = used.iter().map(different).max().unwrap_or(0).max(2);
    let own: Vec<Ballot> = used.iter().map(|b| without_copies(b, options.copied_within)).collect();
    let normal = Normal::new();
    let mut best: Option<(Parameters, f64)> = None;
    let mut tried = Vec::new();
    let range = match options.candidates {
        Some(n) if n < seen => return Err(EstimateError::Candidates { seen, candidates: n }),
        Some(n) => n..=n,
        None => seen..=MOST_CANDIDATES.max(seen),
    };
    for candidates in range {
        let problem = Problem { ballots: &own, normal: &normal, candidates, voters };
        let found = match &best {
            None => problem.solve(first_guess(voters, &own)).and_then(|(found, _)| problem.solve(logs(&found))),
            Some((near, _)) => problem.solve(logs(near)),
        };
        let (found, value) = match found {
            Ok(found) => found,
            // no maximum with more candidates than the best number so far
            Err(_) if best.is_some() => break,
            Err(error) => return Err(error),
        };
        let value = value + own.iter().map(|b| log_labellings(different(b), candidates)).sum::<f64>();
        tried.push((candidates, value));
        match &best {
            // smaller than with fewer candidates: more candidates will not improve it
            Some((_, so_far)) if value <= *so_far => break,
            _ => best = Some((found, value)),
        }
    }
    let Some((found, _)) = best else { return Err(EstimateError::Candidates { seen, candidates: MOST_CANDIDATES }) };
    let problem = Problem { ballots: &own, normal: &normal, candidates: found.candidates, voters };
    // once more, for the last of the printed digits
    let (found, _) = problem.solve(logs(&found))?;
    let errors = problem.standard_errors(&logs(&found))?;
    // the errors are those of logarithms
    let with = |value: f64, error: f64| Estimated { value, standard_error: value * error };
    Ok(Estimate {
        positions: used.len(),
        candidates: found.candidates,
        tried,
        gap: with(found.gap, errors[0]),
        noise: found.noise.iter().zip(&errors[1..]).map(|(s, e)| with(*s, *e)).collect(),
        pairs: pairs(&used, &found, options.copied_within),
    })
}

/// The votes that are not copies of an earlier vote.
fn without_copies(ballot: &Ballot, within: f64) -> Ballot {
    let copy = |i: usize| ballot[..i].iter().any(|v| same(v, &ballot[i], within));
    (0..ballot.len()).filter(|&i| !copy(i)).map(|i| ballot[i]).collect()
}

fn same(a: &(usize, u32, f64), b: &(usize, u32, f64), within: f64) -> bool {
    a.1 == b.1 && (a.2 - b.2).abs() <= within
}

fn pairs(ballots: &[Ballot], found: &Parameters, within: f64) -> Vec<Pair> {
    let voters = found.noise.len();
    let mut all = Vec::new();
    for first in 0..voters {
        for second in first + 1..voters {
            let (mut positions, mut agreed, mut copied) = (0u64, 0u64, 0u64);
            for ballot in ballots {
                let of = |i: usize| ballot.iter().find(|v| v.0 == i);
                if let (Some(a), Some(b)) = (of(first), of(second)) {
                    positions += 1;
                    agreed += u64::from(a.1 == b.1);
                    copied += u64::from(same(a, b, within));
                }
            }
            if positions == 0 {
                continue;
            }
            let expected = agreement_rate([found.noise[first], found.noise[second]], found.candidates, found.gap);
            let rate = agreed as f64 / positions as f64;
            let error = (rate * (1.0 - rate) / positions as f64).sqrt();
            let room = (1.0 - expected).max(1e-9);
            let synchronisation = Estimated { value: (rate - expected) / room, standard_error: error / room };
            all.push(Pair { first, second, positions, agreed, copied, expected, synchronisation });
        }
    }
    all
}

/// Starting point of the search as ln d and ln s: s from the standard deviation of differences, and d = s.
fn first_guess(voters: usize, ballots: &[Ballot]) -> Vec<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for ballot in ballots {
        for (i, a) in ballot.iter().enumerate() {
            for b in &ballot[..i] {
                sum += (a.2 - b.2) * (a.2 - b.2);
                count += 1.0;
            }
        }
    }
    let noise = if count > 0.0 { (sum / count / 2.0).sqrt().max(1e-3) } else { 1.0 };
    vec![libm::log(noise); voters + 1]
}

fn logs(p: &Parameters) -> Vec<f64> {
    std::iter::once(p.gap).chain(p.noise.iter().copied()).map(libm::log).collect()
}

struct Problem<'a> {
    ballots: &'a [Ballot],
    normal: &'a Normal,
    candidates: usize,
    voters: usize,
}

impl Problem<'_> {
    fn parameters(&self, logs: &[f64]) -> Parameters {
        let values: Vec<f64> = logs.iter().map(|l| libm::exp(l.clamp(-12.0, 12.0))).collect();
        Parameters { gap: values[0], noise: values[1..].to_vec(), candidates: self.candidates }
    }

    /// The mean of -ln density over the positions.
    fn loss(&self, logs: &[f64]) -> f64 {
        let p = self.parameters(logs);
        let sums: Vec<f64> = self
            .ballots
            .par_chunks(CHUNK)
            .map(|chunk| chunk.iter().map(|b| log_density(b, &p, self.normal)).sum::<f64>())
            .collect();
        -sums.iter().sum::<f64>() / self.ballots.len() as f64
    }

    /// The maximum next to a start. Far from it the simplex may degenerate, so that a second search must follow.
    fn solve(&self, start: Vec<f64>) -> Result<(Parameters, f64), EstimateError> {
        let failed = |what: String| EstimateError::NotConverged(what);
        let vertex = |k: usize| -> Array1<f64> {
            start.iter().enumerate().map(|(i, v)| if k == i + 1 { v + 0.2 } else { *v }).collect()
        };
        let simplex: Vec<Array1<f64>> = (0..=start.len()).map(vertex).collect();
        let solver = NelderMead::new(simplex).with_sd_tolerance(1e-9).map_err(|e| failed(e.to_string()))?;
        let run = Executor::new(Cost(self), solver).configure(|s| s.max_iters(2000)).run();
        let state = run.map_err(|e| failed(e.to_string()))?.state;
        let done = TerminationStatus::Terminated(TerminationReason::SolverConverged);
        let at = match state.get_best_param() {
            Some(best) if *state.get_termination_status() == done => best.to_vec(),
            _ => return Err(failed(format!("{} steps of the search", state.get_iter()))),
        };
        if at.iter().any(|v| v.abs() > 10.0) {
            return Err(failed("a parameter goes to zero or infinity".to_owned()));
        }
        let value = -self.loss(&at) * self.ballots.len() as f64;
        Ok((self.parameters(&at), value))
    }

    /// Standard errors of the logarithms, from the inverse of the Hessian by finite differences.
    fn standard_errors(&self, at: &[f64]) -> Result<Vec<f64>, EstimateError> {
        const STEP: f64 = 0.02;
        let k = at.len();
        let loss = |moved: &[(usize, f64)]| {
            let mut point = at.to_vec();
            moved.iter().for_each(|(i, by)| point[*i] += by);
            self.loss(&point)
        };
        let curvature = |i: usize, j: usize| {
            let corner = |a: f64, b: f64| loss(&[(i, a * STEP), (j, b * STEP)]);
            let value = corner(1.0, 1.0) - corner(1.0, -1.0) - corner(-1.0, 1.0) + corner(-1.0, -1.0);
            value / (4.0 * STEP * STEP) * self.ballots.len() as f64
        };
        let lower: Vec<Vec<f64>> = (0..k).map(|i| (0..=i).map(|j| curvature(i, j)).collect()).collect();
        let hessian: Vec<Vec<f64>> = (0..k).map(|i| (0..k).map(|j| lower[i.max(j)][i.min(j)]).collect()).collect();
        let flat = || EstimateError::NotConverged("the likelihood is flat in some direction".to_owned());
        debug_assert_eq!(k, self.voters + 1);
        let unit = |i: usize| (0..k).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
        (0..k).map(|i| inverse_form(&hessian, &unit(i)).map(f64::sqrt).ok_or_else(flat)).collect()
    }
}

struct Cost<'a, 'b>(&'a Problem<'b>);

impl CostFunction for Cost<'_, '_> {
    type Param = Array1<f64>;
    type Output = f64;

    fn cost(&self, param: &Array1<f64>) -> Result<f64, Error> {
        Ok(self.0.loss(&param.to_vec()))
    }
}

/// Votes drawn from a model, to test [`estimate`]. A has the level and the spread of the model.
///
/// # Errors
/// If the model is out of range.
pub fn drawn(model: &Model, positions: u64, seed: u64) -> Result<Vec<Ballot>, ModelError> {
    super::simulate::votes(model, positions, seed)
}

#[cfg(test)]
mod tests;
