//! Runs a simulation and counts.

use std::ops::Range;

use evalcurve_words::random;
use rayon::prelude::*;

use super::model::{Contender, Model, ModelError};
use super::votes::{BEST, LANES, Plan, Scale, Votes};

/// Positions per task of a thread.
const CHUNK: u64 = 1 << 16;
/// Positions that standardisations and predictions are estimated from, before the trials.
const PILOT: u64 = 1 << 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// Number of positions.
    pub trials: u64,
    /// Seed; equal seeds give equal results for any number of threads.
    pub seed: u64,
    /// Number of threads; `None` for all cores.
    pub threads: Option<usize>,
}

/// A rate over positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Positions with the event.
    pub hits: u64,
    /// All positions.
    pub trials: u64,
}

impl Rate {
    /// The rate, 0 to 1.
    pub fn value(&self) -> f64 {
        self.hits as f64 / self.trials as f64
    }

    /// Standard error of the rate.
    pub fn standard_error(&self) -> f64 {
        let p = self.value();
        (p * (1.0 - p) / self.trials as f64).sqrt()
    }
}

/// The result of one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleResult {
    pub contender: Contender,
    /// How often it chose the best move.
    pub best_move: Rate,
    /// Its rate minus that of the strongest engine alone, over the same positions.
    pub gain: f64,
    /// Standard error of the gain, from paired positions.
    pub gain_error: f64,
}

/// The result of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    pub options: RunOptions,
    /// How often each engine voted for the best move.
    pub engines: Vec<Rate>,
    /// The engine with the least noise, the baseline of the gains.
    pub strongest: usize,
    /// How often two engines voted for the same move, in the order (0,1), (0,2), …, (1,2), ….
    pub agreement: Vec<(usize, usize, Rate)>,
    /// How often all engines voted for the same move.
    pub unanimous: Rate,
    /// The result of each rule, in the order given.
    pub rules: Vec<RuleResult>,
}

/// Simulates a council: draws positions, in which the engines vote and each rule decides.
///
/// # Errors
/// If the model is out of range, if there are no trials, or if threads cannot be started.
pub fn simulate(model: &Model, contenders: &[Contender], options: RunOptions) -> Result<Simulation, ModelError> {
    model.check(contenders)?;
    if options.trials == 0 {
        return Err(ModelError::Trials);
    }
    let go = || counted(model, contenders, options);
    match options.threads {
        None => Ok(go()),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
            Ok(pool.map_err(|_| ModelError::Threads(threads))?.install(go))
        }
    }
}

fn counted(model: &Model, contenders: &[Contender], options: RunOptions) -> Simulation {
    let needs_scales = contenders.iter().any(|c| c.rule.needs().standardized)
        || model.calibration == super::model::CalibrationOf::Prediction;
    let scales = needs_scales.then(|| pilot(model, random::bits(&[options.seed, 1])));
    let plan = Plan::new(model, random::bits(&[options.seed, 0]), contenders, scales);
    let chunks = options.trials.div_ceil(CHUNK);
    let counts = (0..chunks)
        .into_par_iter()
        .map(|chunk| {
            let trials = chunk * CHUNK..options.trials.min((chunk + 1) * CHUNK);
            let strongest = model.strongest();
            match model.engines.len() {
                1 => count::<1>(&plan, contenders, strongest, trials),
                2 => count::<2>(&plan, contenders, strongest, trials),
                3 => count::<3>(&plan, contenders, strongest, trials),
                4 => count::<4>(&plan, contenders, strongest, trials),
                5 => count::<5>(&plan, contenders, strongest, trials),
                6 => count::<6>(&plan, contenders, strongest, trials),
                7..=16 => count::<16>(&plan, contenders, strongest, trials),
                _ => count::<{ super::model::MOST_ENGINES }>(&plan, contenders, strongest, trials),
            }
        })
        .reduce(|| Counts::new(model.engines.len(), contenders.len()), Counts::with);
    counts.finish(model, contenders, options)
}

/// Integer sums, which do not depend on the order.
struct Counts {
    engines: Vec<u64>,
    pairs: Vec<u64>,
    unanimous: u64,
    /// For each rule: correct, correct while the strongest engine is wrong, wrong while it is correct.
    rules: Vec<[u64; 3]>,
}

impl Counts {
    fn new(engines: usize, rules: usize) -> Self {
        let pairs = engines * (engines - 1) / 2;
        Self { engines: vec![0; engines], pairs: vec![0; pairs], unanimous: 0, rules: vec![[0; 3]; rules] }
    }

    fn with(mut self, other: Self) -> Self {
        let add = |a: &mut [u64], b: &[u64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.engines, &other.engines);
        add(&mut self.pairs, &other.pairs);
        self.unanimous += other.unanimous;
        self.rules.iter_mut().zip(&other.rules).for_each(|(a, b)| add(a, b));
        self
    }

    fn finish(self, model: &Model, contenders: &[Contender], options: RunOptions) -> Simulation {
        let rate = |hits| Rate { hits, trials: options.trials };
        let engines = model.engines.len();
        let pairs = (0..engines).flat_map(|i| (i + 1..engines).map(move |j| (i, j)));
        let n = options.trials as f64;
        let rule = |(contender, [right, gained, lost]): (&Contender, &[u64; 3])| {
            let (gained, lost) = (*gained as f64 / n, *lost as f64 / n);
            let gain = gained - lost;
            let gain_error = ((gained + lost - gain * gain) / n).sqrt();
            RuleResult { contender: *contender, best_move: rate(*right), gain, gain_error }
        };
        Simulation {
            options,
            engines: self.engines.iter().map(|&hits| rate(hits)).collect(),
            strongest: model.strongest(),
            agreement: pairs.zip(&self.pairs).map(|((i, j), &hits)| (i, j, rate(hits))).collect(),
            unanimous: rate(self.unanimous),
            rules: contenders.iter().zip(&self.rules).map(rule).collect(),
        }
    }
}

/// `E` is the number of engines or more.
fn count<const E: usize>(plan: &Plan<'_>, contenders: &[Contender], strongest: usize, trials: Range<u64>) -> Counts {
    let n = plan.voting::<E>();
    let mut counts = Counts::new(n, contenders.len());
    // positions without a unanimous vote are collected, and each rule decides a full block of them
    let mut votes = Box::new(Votes::<E>::new());
    let mut open = 0;
    let mut right = [0u64; E];
    let mut unanimous_right = 0;
    let decide = |votes: &Votes<E>, open: usize, rules: &mut [[u64; 3]]| {
        for (contender, sums) in contenders.iter().zip(rules) {
            let chosen = plan.choose(contender, votes);
            for (m, m_of_strongest) in chosen[..open].iter().zip(&votes.moves[strongest]) {
                let (good, alone) = (*m == BEST, *m_of_strongest == BEST);
                sums[0] += u64::from(good);
                sums[1] += u64::from(good & !alone);
                sums[2] += u64::from(!good & alone);
            }
        }
    };
    for trial in trials {
        let position = plan.draw::<E>(trial);
        let moves = &position.moves[..n];
        let mut all = true;
        for (sum, m) in right.iter_mut().zip(moves) {
            *sum += u64::from(*m == BEST);
            all &= *m == moves[0];
        }
        if all {
            // every rule chooses the only move
            counts.unanimous += 1;
            unanimous_right += u64::from(moves[0] == BEST);
            continue;
        }
        let mut pairs = counts.pairs.iter_mut();
        for i in 0..n {
            for (j, sum) in (i + 1..n).zip(&mut pairs) {
                *sum += u64::from(moves[i] == moves[j]);
            }
        }
        plan.put(&position, &mut votes, open);
        open += 1;
        if open == LANES {
            decide(&votes, open, &mut counts.rules);
            open = 0;
        }
    }
    decide(&votes, open, &mut counts.rules);
    counts.engines.copy_from_slice(&right[..n]);
    counts.pairs.iter_mut().for_each(|sum| *sum += counts.unanimous);
    counts.rules.iter_mut().for_each(|sums| sums[0] += unanimous_right);
    counts
}

/// The votes of one position: voter, move and value (a logit for rules over win rates). Voters and moves are numbers.
pub type Ballot = Vec<(usize, u32, f64)>;

/// The votes of `positions` positions; move 0 is the best.
#[cfg(feature = "program")]
pub(crate) fn votes(model: &Model, positions: u64, seed: u64) -> Result<Vec<Ballot>, ModelError> {
    model.check(&[])?;
    let plan = Plan::new(model, random::bits(&[seed, 0]), &[], None);
    let n = model.engines.len();
    let ballot = |trial| {
        let position = plan.draw::<{ super::model::MOST_ENGINES }>(trial);
        (0..n).map(|i| (i, position.moves[i].0, position.values[i])).collect()
    };
    Ok((0..positions).map(ballot).collect())
}

/// Mean and standard deviation of each engine's scores, and their prediction line, from separate positions.
fn pilot(model: &Model, key: u64) -> Vec<Scale> {
    const E: usize = super::model::MOST_ENGINES;
    let plan = Plan::new(model, key, &[], None);
    let n = model.engines.len();
    // sums of value, worth, value² and value · worth
    let mut sums = vec![[0.0f64; 4]; n];
    for trial in 0..PILOT {
        let position = plan.draw::<E>(trial);
        for (i, sum) in sums.iter_mut().enumerate() {
            let worth = if position.moves[i] == BEST { position.best } else { position.best - model.gap };
            let (value, worth) = (position.values[i] - model.level, worth - model.level);
            sum[0] += value;
            sum[1] += worth;
            sum[2] += value * value;
            sum[3] += value * worth;
        }
    }
    let scale = |(engine, sums): (&super::model::Engine, &[f64; 4])| {
        let [value, worth, square, product] = sums.map(|s| s / PILOT as f64);
        let (variance, covariance) = (square - value * value, product - value * worth);
        let slope = covariance / variance;
        Scale {
            mean: engine.gain * (value + model.level) + engine.offset,
            per_sd: 1.0 / (engine.gain * variance.sqrt()),
            intercept: worth + model.level - slope * (value + model.level),
            slope,
        }
    };
    model.engines.iter().zip(&sums).map(scale).collect()
}
