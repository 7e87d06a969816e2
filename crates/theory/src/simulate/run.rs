//! Many positions, counted.

use std::ops::Range;

use rayon::prelude::*;

use super::model::{Contender, Model, ModelError};
use super::votes::{BEST, LANES, Plan, Scale, Votes};
use evalcurve_core::random;

/// Positions that a thread works through at a time.
const CHUNK: u64 = 1 << 16;
/// Positions from which standardisations and predictions are taken before the trials.
const PILOT: u64 = 1 << 18;

/// How a simulation is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// Positions.
    pub trials: u64,
    /// The same seed gives the same figures, whatever the number of threads.
    pub seed: u64,
    /// Threads at work; `None`: all cores.
    pub threads: Option<usize>,
}

/// How often something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Positions where it did.
    pub hits: u64,
    /// Positions in all.
    pub trials: u64,
}

impl Rate {
    /// The share, 0 to 1.
    pub fn value(&self) -> f64 {
        self.hits as f64 / self.trials as f64
    }

    /// Standard error of the share.
    pub fn standard_error(&self) -> f64 {
        let p = self.value();
        (p * (1.0 - p) / self.trials as f64).sqrt()
    }
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleResult {
    /// The rule.
    pub contender: Contender,
    /// How often it took the best move.
    pub best_move: Rate,
    /// Its rate less that of the strongest engine alone, over the same positions.
    pub gain: f64,
    /// Standard error of the gain, in pairs: position by position.
    pub gain_error: f64,
}

/// What a simulation gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// How it was run.
    pub options: RunOptions,
    /// How often each engine voted for the best move.
    pub engines: Vec<Rate>,
    /// The engine with the least noise, against which gains are counted.
    pub strongest: usize,
    /// How often two engines voted for the same move; in the order (0,1), (0,2), …, (1,2), ….
    pub agreement: Vec<(usize, usize, Rate)>,
    /// How often all engines voted for the same move.
    pub unanimous: Rate,
    /// What became of each rule, in the order given.
    pub rules: Vec<RuleResult>,
}

/// Simulates a council: draws positions, lets the engines vote and each rule decide.
///
/// # Errors
/// [`ModelError`] for a model out of range, no trials, or threads that cannot be started.
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

/// Sums that can be taken in any order.
struct Counts {
    engines: Vec<u64>,
    pairs: Vec<u64>,
    unanimous: u64,
    /// For each rule: right, right where the strongest is wrong, wrong where it is right.
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

/// `E` is the number of engines, or room for it.
fn count<const E: usize>(plan: &Plan<'_>, contenders: &[Contender], strongest: usize, trials: Range<u64>) -> Counts {
    let n = plan.voting::<E>();
    let mut counts = Counts::new(n, contenders.len());
    // votes that a rule must decide are gathered, and each rule takes all of them in turn
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
            // every rule takes the one move that there is
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

/// The votes of one position: voter, move, value (a logit, where win rates are compared). Voters and moves are numbered.
pub type Ballot = Vec<(usize, u32, f64)>;

/// The votes of so many positions; move 0 is the best.
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

/// Mean and spread of each engine's scores, and what they predict, over positions of their own.
fn pilot(model: &Model, key: u64) -> Vec<Scale> {
    const E: usize = super::model::MOST_ENGINES;
    let plan = Plan::new(model, key, &[], None);
    let n = model.engines.len();
    // of value and worth: sums, squares, products
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
