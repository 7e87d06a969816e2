//! The votes of simulated positions, and the moves that rules choose from them.

use std::marker::PhantomData;

use evalcurve_rules::win_rate::win_rate;
use evalcurve_rules::{Columns, Definition, Move, Role, TieRule, Visitor, likelihood, tally};
use evalcurve_words::random::{GOLDEN, mix};

use super::model::{CalibrationOf, Contender, Model};
use super::ratio::{RatioTable, TOLERANCE};
use crate::ziggurat::Ziggurat;

/// Arrays up to this size have exactly one element per engine; larger ones may have more elements than engines.
pub(super) const FULL: usize = 6;
/// Number of positions that a rule decides at once.
pub(super) const LANES: usize = 64;
/// The best move; the other moves are numbered from 1.
pub(super) const BEST: Move = Move(0);

/// The votes of one position. If there are fewer than `E` engines, only the first elements of the arrays are votes.
pub(super) struct Position<const E: usize> {
    pub best: f64,
    pub moves: [Move; E],
    /// The value that each engine saw in its move.
    pub values: [f64; E],
    /// State of the random words of this position.
    word: u64,
    /// The number of the position.
    pub trial: u64,
}

/// The votes of [`LANES`] positions, one per lane, with the scores of the engines.
pub(super) struct Votes<const E: usize> {
    best: [f64; LANES],
    pub moves: [[Move; LANES]; E],
    /// As in [`Position`]. If scores and calibrations equal the values, the next three fields are unused.
    values: [[f64; LANES]; E],
    /// Scores.
    raw: [[f64; LANES]; E],
    /// Scores in standard deviations from their mean.
    standardized: [[f64; LANES]; E],
    /// The calibrated logits.
    logits: [[f64; LANES]; E],
    /// Mean calibrated logit over all engines of the move of each vote, if a rule needs it.
    judged: [[f64; LANES]; E],
    /// State of the random words of each position, for drawn ties.
    word: [u64; LANES],
}

impl<const E: usize> Votes<E> {
    pub(super) fn new() -> Self {
        let zero = [[0.0; LANES]; E];
        Self {
            best: [0.0; LANES],
            moves: [[BEST; LANES]; E],
            values: zero,
            raw: zero,
            standardized: zero,
            logits: zero,
            judged: zero,
            word: [0; LANES],
        }
    }
}

/// Standardisation and prediction line of one engine, from [`super::run::pilot`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// Mean of its scores, and the reciprocal of their standard deviation.
    pub mean: f64,
    pub per_sd: f64,
    /// Predicted worth of its move as a line over the value it saw.
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
    strengths: Vec<f64>,
    noise: Vec<f64>,
    /// Whether scores, standardised scores or logits differ from the values.
    scaled: bool,
    errors: bool,
    /// Whether a rule needs what every engine thinks of every move that was voted for.
    judged: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(model: &'a Model, key: u64, contenders: &[Contender], scales: Option<Vec<Scale>>) -> Self {
        let engines = model.engines.len();
        let plain = Scale { mean: 0.0, per_sd: 1.0, intercept: 0.0, slope: 1.0 };
        let optimal = contenders.iter().any(|c| c.rule.needs().log_ratios);
        let errors = model.engines.iter().any(|e| e.calibration_error > 0.0 || e.shift_error > 0.0);
        Self {
            model,
            ziggurat: Ziggurat::get(),
            key,
            synchronised: model.synchronisations.iter().map(|s| (s.of, s.follower, threshold(s.probability))).collect(),
            scaled: errors || scales.is_some() || model.engines.iter().any(|e| e.gain != 1.0 || e.offset != 0.0),
            errors,
            judged: contenders.iter().any(|c| c.rule.needs().judged),
            scales: scales.unwrap_or_else(|| vec![plain; engines]),
            ratios: model.engines.iter().filter(|_| optimal).map(|e| RatioTable::new(model.gap, e.noise)).collect(),
            strengths: model.engines.iter().map(|e| -e.noise).collect(),
            noise: model.engines.iter().map(|e| e.noise).collect(),
        }
    }

    /// The number of engines. It is a constant for small arrays, so that loops over them are unrolled.
    #[inline(always)]
    pub(super) fn voting<const E: usize>(&self) -> usize {
        let engines = self.model.engines.len();
        if E <= FULL { E } else { engines }
    }

    /// The votes of position number `trial`, a function of only this number and the key.
    #[inline(always)]
    pub(super) fn draw<const E: usize>(&self, trial: u64) -> Position<E> {
        let n = self.voting::<E>();
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
        let (mut moves, mut values) = ([BEST; E], [0.0; E]);
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
            moves[i] = Move(if wrong { which } else { BEST.0 });
            values[i] = if wrong { other } else { own };
        }
        for &(of, follower, threshold) in &self.synchronised {
            if bits() < threshold && of < n && follower < n {
                moves[follower] = moves[of];
                values[follower] = values[of];
            }
        }
        Position { best, moves, values, word, trial }
    }

    /// The value that each engine sees in each of some moves of position number `trial`. The random words are those of
    /// [`Self::draw`].
    #[cold]
    #[inline(never)]
    pub(super) fn seen(&self, trial: u64, best: f64, moves: &[Move]) -> Vec<Vec<f64>> {
        let model = self.model;
        let mut word = mix(self.key.wrapping_add(trial.wrapping_mul(GOLDEN)));
        let mut bits = || {
            word = word.wrapping_add(GOLDEN);
            mix(word)
        };
        if model.spread > 0.0 {
            bits();
        }
        let mut engines: Vec<Vec<f64>> = Vec::with_capacity(moves.len());
        for noise in &self.noise {
            let candidates: Vec<f64> = (0..model.candidates.max(2)).map(|_| self.ziggurat.draw(bits())).collect();
            let of = |m: &Move| {
                let worth = if *m == BEST { best } else { best - model.gap };
                worth + noise * candidates.get(m.0 as usize).copied().unwrap_or_default()
            };
            engines.push(moves.iter().map(of).collect());
        }
        for &(of, follower, threshold) in &self.synchronised {
            if bits() < threshold && of < engines.len() && follower < engines.len() {
                engines[follower] = engines[of].clone();
            }
        }
        engines
    }

    /// Puts a position into a lane, with the scores of its engines.
    #[inline(always)]
    pub(super) fn put<const E: usize>(&self, position: &Position<E>, votes: &mut Votes<E>, lane: usize) {
        let n = self.voting::<E>();
        let Position { best, moves, values, mut word, trial } = *position;
        // the calibrated logit of engine i is slope · value + offset
        let mut lines = [(1.0, 0.0); E];
        votes.best[lane] = best;
        for i in 0..n {
            votes.moves[i][lane] = moves[i];
            votes.values[i][lane] = values[i];
        }
        if self.scaled {
            let mut normal = || {
                word = word.wrapping_add(GOLDEN);
                self.ziggurat.draw(mix(word))
            };
            for (i, (engine, value)) in self.model.engines.iter().zip(values).enumerate() {
                let scale = &self.scales[i];
                let raw = engine.gain * value + engine.offset;
                votes.raw[i][lane] = raw;
                votes.standardized[i][lane] = (raw - scale.mean) * scale.per_sd;
                let (mut slope, mut offset) = match self.model.calibration {
                    CalibrationOf::Scale => (1.0, 0.0),
                    CalibrationOf::Prediction => (scale.slope, scale.intercept),
                };
                let mut logit = offset + slope * value;
                if self.errors {
                    let (steeper, shifted) = (normal(), normal());
                    let (factor, shift) = (libm::exp(engine.calibration_error * steeper), engine.shift_error * shifted);
                    logit = logit * factor + shift;
                    (slope, offset) = (slope * factor, offset * factor + shift);
                }
                votes.logits[i][lane] = logit;
                lines[i] = (slope, offset);
            }
        }
        if self.judged {
            let engines = self.seen(trial, best, &moves[..n]);
            let weights = self.model.engines.iter().map(|engine| engine.weight.unwrap_or(1.0));
            let total: f64 = weights.clone().sum();
            for (j, judged) in votes.judged.iter_mut().enumerate().take(n) {
                let logits = engines.iter().zip(&lines).map(|(seen, (slope, offset))| slope * seen[j] + offset);
                judged[lane] = logits.zip(weights.clone()).map(|(logit, w)| w * logit).sum::<f64>() / total;
            }
        }
        votes.word[lane] = word;
    }

    /// The moves that a rule chooses, by the functions that councils decide with.
    pub(super) fn choose<const E: usize>(&self, contender: &Contender, votes: &Votes<E>) -> [Move; LANES] {
        contender.rule.visit(Choose { plan: self, contender, votes })
    }

    #[inline(always)]
    fn choose_by<R: Definition, const E: usize>(&self, contender: &Contender, votes: &Votes<E>) -> [Move; LANES] {
        let (scores, standardized, logits) = match self.scaled {
            true => (&votes.raw, &votes.standardized, &votes.logits),
            false => (&votes.values, &votes.values, &votes.values),
        };
        let role = |i: usize| if i == 0 { Role::Leader } else { Role::Member };
        let given = |i: usize| self.model.engines.get(i).and_then(|engine| engine.weight);
        let weights: [f64; E] = std::array::from_fn(|i| R::weight(given(i), role(i)));
        let lanes = Lanes::<R, E> { plan: self, votes, scores, standardized, logits, weights, rule: PhantomData };
        if !R::NEEDS.log_ratios {
            return lanes.largest(contender.tie, None).0;
        }
        let best = if contender.best_known { votes.best } else { self.estimated_best(votes, logits) };
        let ratios = self.ratios(&best, logits);
        let (mut chosen, leads) = lanes.largest(contender.tie, Some(&ratios));
        for (lane, (chosen, lead)) in chosen.iter_mut().zip(leads).enumerate() {
            // closer than the error of the table: repeat with exact ratios
            if lead <= 2.0 * self.voting::<E>() as f64 * TOLERANCE {
                *chosen = lanes.exactly(contender.tie, best[lane], lane);
            }
        }
        chosen
    }

    /// The estimate of A in each lane.
    #[inline(always)]
    fn estimated_best<const E: usize>(&self, votes: &Votes<E>, logits: &[[f64; LANES]; E]) -> [f64; LANES] {
        let n = self.voting::<E>();
        let mut best = [0.0; LANES];
        for (lane, best) in best.iter_mut().enumerate() {
            let (moves, values) = (column(&votes.moves, lane), column(logits, lane));
            *best = likelihood::estimated_best(&moves[..n], &values[..n], self.model.gap);
        }
        best
    }

    /// The log likelihood ratios of all votes, from the tables.
    #[inline(always)]
    fn ratios<const E: usize>(&self, best: &[f64; LANES], logits: &[[f64; LANES]; E]) -> [[f64; LANES]; E] {
        let mut ratios = [[0.0; LANES]; E];
        for (ratios, (table, values)) in ratios.iter_mut().zip(self.ratios.iter().zip(logits)) {
            for lane in 0..LANES {
                ratios[lane] = table.near(values[lane] - best[lane]);
            }
        }
        ratios
    }
}

/// Dispatches to the code of one rule, once per block of lanes.
struct Choose<'a, const E: usize> {
    plan: &'a Plan<'a>,
    contender: &'a Contender,
    votes: &'a Votes<E>,
}

impl<const E: usize> Visitor for Choose<'_, E> {
    type Output = [Move; LANES];

    fn visit<R: Definition>(self) -> Self::Output {
        self.plan.choose_by::<R, E>(self.contender, self.votes)
    }
}

/// A block of positions as one rule sees it.
struct Lanes<'a, R, const E: usize> {
    plan: &'a Plan<'a>,
    votes: &'a Votes<E>,
    scores: &'a [[f64; LANES]; E],
    standardized: &'a [[f64; LANES]; E],
    logits: &'a [[f64; LANES]; E],
    weights: [f64; E],
    rule: PhantomData<R>,
}

impl<R: Definition, const E: usize> Lanes<'_, R, E> {
    /// Writes the values of the votes in one lane. Only the columns that the rule needs are gathered.
    #[inline(always)]
    fn values(&self, lane: usize, log_ratios: &[f64; E], moves: &[Move], values: &mut [f64]) {
        let n = self.plan.voting::<E>();
        let needs = R::NEEDS;
        let scores = gather(needs.scores, self.scores, lane);
        let standardized = gather(needs.standardized, self.standardized, lane);
        let logits = gather(needs.logits, self.logits, lane);
        let judged = gather(needs.judged, &self.votes.judged, lane);
        let mut win_rates = gather(needs.win_rates, self.logits, lane);
        if needs.win_rates && !R::WIN_RATE_ORDER_ONLY {
            win_rates.iter_mut().for_each(|p| *p = win_rate(*p));
        }
        let length = |needed: bool| if needed { n } else { 0 };
        let columns = Columns {
            moves,
            weights: &self.weights[..n],
            scores: &scores[..length(needs.scores)],
            standardized: &standardized[..length(needs.standardized)],
            win_rates: &win_rates[..length(needs.win_rates)],
            logits: &logits[..length(needs.logits)],
            standard_errors: &self.plan.noise[..length(needs.standard_errors)],
            log_ratios: &log_ratios[..length(needs.log_ratios)],
            ratings: &self.plan.strengths[..length(needs.ratings)],
            judged: &judged[..length(needs.judged)],
            caution: self.plan.model.caution,
        };
        R::values(&columns, values);
    }

    /// The moves with the largest values, and their leads.
    #[inline(always)]
    fn largest(&self, tie: TieRule, log_ratios: Option<&[[f64; LANES]; E]>) -> ([Move; LANES], [f64; LANES]) {
        let n = self.plan.voting::<E>();
        let (mut chosen, mut leads) = ([BEST; LANES], [0.0; LANES]);
        let mut tied = [false; LANES];
        // no branches in this loop, so that the compiler vectorises it over lanes
        for lane in 0..LANES {
            let (moves, mut values) = (column(&self.votes.moves, lane), [0.0; E]);
            let ratios = log_ratios.map_or([0.0; E], |ratios| column(ratios, lane));
            self.values(lane, &ratios, &moves[..n], &mut values[..n]);
            let leading = tally::leading(&moves[..n], &values[..n], Some(moves[0]));
            chosen[lane] = leading.chosen;
            leads[lane] = leading.top - leading.second;
            tied[lane] = leading.is_tied();
        }
        if tie == TieRule::Draw {
            for lane in (0..LANES).filter(|&lane| tied[lane]) {
                let ratios = log_ratios.map_or([0.0; E], |ratios| column(ratios, lane));
                chosen[lane] = self.adopted(tie, &ratios, lane);
            }
        }
        (chosen, leads)
    }

    /// The move with the largest value in one lane, with exact log likelihood ratios.
    #[cold]
    #[inline(never)]
    fn exactly(&self, tie: TieRule, best: f64, lane: usize) -> Move {
        let mut ratios = [0.0; E];
        let tables = self.plan.ratios.iter().zip(self.logits);
        ratios.iter_mut().zip(tables).for_each(|(r, (table, values))| *r = table.exact(values[lane] - best));
        self.adopted(tie, &ratios, lane)
    }

    /// The move with the largest value in one lane, after ties are broken.
    #[cold]
    #[inline(never)]
    fn adopted(&self, tie: TieRule, log_ratios: &[f64; E], lane: usize) -> Move {
        let n = self.plan.voting::<E>();
        let (moves, mut values) = (column(&self.votes.moves, lane), [0.0; E]);
        self.values(lane, log_ratios, &moves[..n], &mut values[..n]);
        let tie = match tie {
            TieRule::Draw => tally::Tie::Draw(mix(self.votes.word[lane].wrapping_add(GOLDEN))),
            _ => tally::Tie::Leader(Some(moves[0])),
        };
        // no value is NaN, so one voter has the largest
        tally::largest(&moves[..n], &values[..n], tie).map_or(BEST, |voter| moves[voter])
    }
}

/// The entries of all engines in one lane.
#[inline(always)]
fn column<T: Copy, const E: usize>(all: &[[T; LANES]; E], lane: usize) -> [T; E] {
    std::array::from_fn(|i| all[i][lane])
}

/// A column that a rule may not need.
#[inline(always)]
fn gather<const E: usize>(needed: bool, all: &[[f64; LANES]; E], lane: usize) -> [f64; E] {
    if needed { column(all, lane) } else { [0.0; E] }
}

/// The threshold below which 64 uniform bits are with this probability.
fn threshold(probability: f64) -> u64 {
    if probability >= 1.0 { u64::MAX } else { (probability * 18_446_744_073_709_551_616.0) as u64 }
}
