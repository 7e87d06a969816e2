//! The votes of one position of the model, and the rules over them.

use super::model::{CalibrationOf, Contender, Model};
use super::ratio::{RatioTable, TOLERANCE};
use crate::random::{GOLDEN, mix};
use crate::rule::{Move, Rule, TieRule, likelihood, tally};
use crate::theory::ziggurat::Ziggurat;

/// The best move; the others count from 1.
pub(super) const BEST: Move = Move(0);

/// The votes of one position. Only the first engines of the arrays vote where there are fewer than `E`.
pub(super) struct Votes<const E: usize> {
    /// A.
    pub best: f64,
    pub moves: [Move; E],
    /// What each engine saw in its move. Where scores and calibrations change nothing, the next four stay as they are.
    pub values: [f64; E],
    /// Its score.
    pub raw: [f64; E],
    /// Its score in standard deviations from its mean.
    pub standardized: [f64; E],
    /// What its calibration makes of its score.
    pub logits: [f64; E],
    /// True worth of its move.
    pub worth: [f64; E],
    /// Where the words of this position go on, for a drawn tie.
    word: u64,
}

impl<const E: usize> Votes<E> {
    pub(super) fn new() -> Self {
        let zero = [0.0; E];
        Self {
            best: 0.0,
            moves: [BEST; E],
            values: zero,
            raw: zero,
            standardized: zero,
            logits: zero,
            worth: zero,
            word: 0,
        }
    }
}

/// Standardisation and straight line of one engine, from [`super::run::pilot`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// Mean and reciprocal standard deviation of its scores.
    pub mean: f64,
    pub per_sd: f64,
    /// Predicted worth of its move: intercept and slope over the value it saw.
    pub intercept: f64,
    pub slope: f64,
}

/// A checked model, ready to draw.
pub(super) struct Plan<'a> {
    model: &'a Model,
    ziggurat: &'static Ziggurat,
    key: u64,
    /// Synchronisation as (of, follower, threshold of 64 uniform bits).
    synchronised: Vec<(usize, usize, u64)>,
    scales: Vec<Scale>,
    ratios: Vec<RatioTable>,
    weights: Vec<f64>,
    ones: Vec<f64>,
    strengths: Vec<f64>,
    noise: Vec<f64>,
    /// Whether scores, standardised scores or logits differ from the values.
    scaled: bool,
    errors: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(model: &'a Model, key: u64, contenders: &[Contender], scales: Option<Vec<Scale>>) -> Self {
        let engines = model.engines.len();
        let plain = Scale { mean: 0.0, per_sd: 1.0, intercept: 0.0, slope: 1.0 };
        let optimal = contenders.iter().any(|c| c.rule == Rule::Optimal);
        let errors = model.engines.iter().any(|e| e.calibration_error > 0.0 || e.shift_error > 0.0);
        let mut weights = vec![1.0; engines];
        weights[0] = crate::rule::LEADER_WEIGHT;
        Self {
            model,
            ziggurat: Ziggurat::get(),
            key,
            synchronised: model.synchronisations.iter().map(|s| (s.of, s.follower, threshold(s.probability))).collect(),
            scaled: errors || scales.is_some() || model.engines.iter().any(|e| e.gain != 1.0 || e.offset != 0.0),
            errors,
            scales: scales.unwrap_or_else(|| vec![plain; engines]),
            ratios: model.engines.iter().filter(|_| optimal).map(|e| RatioTable::new(model.gap, e.noise)).collect(),
            weights,
            ones: vec![1.0; engines],
            strengths: model.engines.iter().map(|e| -e.noise).collect(),
            noise: model.engines.iter().map(|e| e.noise).collect(),
        }
    }

    /// The votes of position number `trial`, which depend on it and the key alone. `n` engines vote.
    #[inline(always)]
    pub(super) fn draw<const E: usize>(&self, n: usize, trial: u64, votes: &mut Votes<E>) {
        let mut word = mix(self.key.wrapping_add(trial.wrapping_mul(GOLDEN)));
        let mut bits = || {
            word = word.wrapping_add(GOLDEN);
            mix(word)
        };
        let ziggurat = self.ziggurat;
        let model = self.model;
        let mut best = model.level;
        if model.spread > 0.0 {
            best += model.spread * ziggurat.draw(bits());
        }
        votes.best = best;
        for i in 0..n {
            let own = ziggurat.draw(bits());
            let (mut other, mut which) = (ziggurat.draw(bits()), 1);
            for candidate in 2..model.candidates {
                let x = ziggurat.draw(bits());
                if x > other {
                    (other, which) = (x, candidate as u32);
                }
            }
            let own = best + self.noise[i] * own;
            let other = best - model.gap + self.noise[i] * other;
            let wrong = other > own;
            votes.moves[i] = Move(if wrong { which } else { BEST.0 });
            votes.values[i] = if wrong { other } else { own };
        }
        for &(of, follower, threshold) in &self.synchronised {
            if bits() < threshold && of < n && follower < n {
                votes.moves[follower] = votes.moves[of];
                votes.values[follower] = votes.values[of];
            }
        }
        if self.scaled {
            for i in 0..n {
                let (engine, scale, value) = (&model.engines[i], &self.scales[i], votes.values[i]);
                let raw = engine.gain * value + engine.offset;
                votes.raw[i] = raw;
                votes.standardized[i] = (raw - scale.mean) * scale.per_sd;
                let mut logit = match model.calibration {
                    CalibrationOf::Scale => value,
                    CalibrationOf::Prediction => scale.intercept + scale.slope * value,
                };
                if self.errors {
                    let (steeper, shifted) = (ziggurat.draw(bits()), ziggurat.draw(bits()));
                    logit = logit * libm::exp(engine.calibration_error * steeper) + engine.shift_error * shifted;
                }
                votes.logits[i] = logit;
                votes.worth[i] = if votes.moves[i] == BEST { best } else { best - model.gap };
            }
        }
        votes.word = word;
    }

    /// The move that a rule takes, by the functions that councils decide with.
    #[inline(always)]
    pub(super) fn choose<const E: usize>(&self, n: usize, contender: &Contender, votes: &Votes<E>) -> Move {
        let moves = &votes.moves[..n];
        let mut worth = [0.0; E];
        let values = &mut worth[..n];
        let (raw, standardized, logits) = match self.scaled {
            true => (&votes.raw, &votes.standardized, &votes.logits),
            false => (&votes.values, &votes.values, &votes.values),
        };
        match contender.rule {
            Rule::Majority => tally::support(moves, &self.ones[..n], values),
            Rule::Weighted => tally::support(moves, &self.weights[..n], values),
            Rule::Optimistic => values.copy_from_slice(&raw[..n]),
            Rule::Pessimistic => values.iter_mut().zip(raw).for_each(|(v, x)| *v = -x),
            Rule::StandardizedOptimistic => values.copy_from_slice(&standardized[..n]),
            Rule::WinRateOptimistic => values.copy_from_slice(&logits[..n]),
            Rule::CorrectedOptimistic => {
                let each = values.iter_mut().zip(logits).zip(&self.noise);
                each.for_each(|((v, logit), noise)| *v = logit - self.model.caution * noise);
            }
            Rule::Strongest => values.copy_from_slice(&self.strengths[..n]),
            _ => return self.optimal(n, contender, votes, &logits[..n]),
        }
        self.largest(contender, moves, values, votes.word)
    }

    #[inline(always)]
    fn largest(&self, contender: &Contender, moves: &[Move], values: &[f64], word: u64) -> Move {
        let tie = match contender.tie {
            TieRule::Draw => tally::Tie::Draw(mix(word.wrapping_add(GOLDEN))),
            _ => tally::Tie::Leader(moves.first().copied()),
        };
        // no value is NaN, so that some voter has the largest
        tally::largest(moves, values, tie).map_or(BEST, |top| moves[top.voter])
    }

    #[inline(always)]
    fn optimal<const E: usize>(&self, n: usize, contender: &Contender, votes: &Votes<E>, logits: &[f64]) -> Move {
        let moves = &votes.moves[..n];
        let known = contender.best_known;
        let best = if known { votes.best } else { likelihood::estimated_best(moves, logits, self.model.gap) };
        let (mut ratios, mut likelihoods) = ([0.0; E], [0.0; E]);
        let tables = self.ratios.iter().zip(logits);
        ratios.iter_mut().zip(tables).for_each(|(r, (table, v))| *r = table.near(v - best));
        likelihood::log_likelihood(moves, &ratios[..n], &mut likelihoods[..n]);
        let near = self.largest(contender, moves, &likelihoods[..n], votes.word);
        // nearer to each other than the table is to the truth: once more, exactly
        let (mut chosen, mut other) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for (m, &likelihood) in moves.iter().zip(&likelihoods) {
            let (of_it, of_another) = if *m == near { (likelihood, other) } else { (chosen, likelihood) };
            chosen = if of_it > chosen { of_it } else { chosen };
            other = if of_another > other { of_another } else { other };
        }
        if chosen - other > 2.0 * n as f64 * TOLERANCE { near } else { self.exactly(n, contender, votes, logits, best) }
    }

    #[cold]
    #[inline(never)]
    fn exactly<const E: usize>(
        &self,
        n: usize,
        contender: &Contender,
        votes: &Votes<E>,
        logits: &[f64],
        best: f64,
    ) -> Move {
        let (mut ratios, mut likelihoods) = ([0.0; E], [0.0; E]);
        let tables = self.ratios.iter().zip(logits);
        ratios.iter_mut().zip(tables).for_each(|(r, (table, v))| *r = table.exact(v - best));
        likelihood::log_likelihood(&votes.moves[..n], &ratios[..n], &mut likelihoods[..n]);
        self.largest(contender, &votes.moves[..n], &likelihoods[..n], votes.word)
    }
}

/// The number of 64-bit words below which a share `probability` of them lies.
fn threshold(probability: f64) -> u64 {
    if probability >= 1.0 { u64::MAX } else { (probability * 18_446_744_073_709_551_616.0) as u64 }
}
