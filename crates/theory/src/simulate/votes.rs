//! The votes of one position of the model, and the rules over them.

use super::model::{CalibrationOf, Contender, Model};
use super::ratio::{RatioTable, TOLERANCE};
use crate::ziggurat::Ziggurat;
use evalcurve_core::random::{GOLDEN, mix};
use evalcurve_core::rule::win_rate::win_rate;
use evalcurve_core::rule::{Columns, Definition, Move, Role, TieRule, Visitor, likelihood, tally};

/// Arrays up to this size are full; larger ones have room for more engines than there are.
pub(super) const FULL: usize = 6;
/// Positions that a rule decides side by side.
pub(super) const LANES: usize = 64;
/// The best move; the others count from 1.
pub(super) const BEST: Move = Move(0);

/// The votes of one position. Only the first engines of the arrays vote where there are fewer than `E`.
pub(super) struct Position<const E: usize> {
    /// A.
    pub best: f64,
    pub moves: [Move; E],
    /// What each engine saw in its move.
    pub values: [f64; E],
    /// Where the words of this position go on.
    word: u64,
}

/// The votes of [`LANES`] positions side by side, one in each lane, with the scores of the engines.
pub(super) struct Votes<const E: usize> {
    best: [f64; LANES],
    pub moves: [[Move; LANES]; E],
    /// As in [`Position`]. Where scores and calibrations change nothing, the next three stay as they are.
    values: [[f64; LANES]; E],
    /// Scores.
    raw: [[f64; LANES]; E],
    /// Scores in standard deviations from their mean.
    standardized: [[f64; LANES]; E],
    /// What calibrations make of scores.
    logits: [[f64; LANES]; E],
    /// Where the words of a position go on, for a drawn tie.
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
            word: [0; LANES],
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
        let optimal = contenders.iter().any(|c| c.rule.needs().log_ratios);
        let errors = model.engines.iter().any(|e| e.calibration_error > 0.0 || e.shift_error > 0.0);
        Self {
            model,
            ziggurat: Ziggurat::get(),
            key,
            synchronised: model.synchronisations.iter().map(|s| (s.of, s.follower, threshold(s.probability))).collect(),
            scaled: errors || scales.is_some() || model.engines.iter().any(|e| e.gain != 1.0 || e.offset != 0.0),
            errors,
            scales: scales.unwrap_or_else(|| vec![plain; engines]),
            ratios: model.engines.iter().filter(|_| optimal).map(|e| RatioTable::new(model.gap, e.noise)).collect(),
            strengths: model.engines.iter().map(|e| -e.noise).collect(),
            noise: model.engines.iter().map(|e| e.noise).collect(),
        }
    }

    /// How many engines vote: a constant where the arrays hold no more, so that loops over them are unrolled.
    #[inline(always)]
    pub(super) fn voting<const E: usize>(&self) -> usize {
        let engines = self.model.engines.len();
        if E <= FULL { E } else { engines }
    }

    /// The votes of position number `trial`, which depend on it and the key alone.
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
        Position { best, moves, values, word }
    }

    /// Puts a position into a lane, with the scores of its engines.
    #[inline(always)]
    pub(super) fn put<const E: usize>(&self, position: &Position<E>, votes: &mut Votes<E>, lane: usize) {
        let n = self.voting::<E>();
        let Position { best, moves, values, mut word } = *position;
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
                let mut logit = match self.model.calibration {
                    CalibrationOf::Scale => value,
                    CalibrationOf::Prediction => scale.intercept + scale.slope * value,
                };
                if self.errors {
                    let (steeper, shifted) = (normal(), normal());
                    logit = logit * libm::exp(engine.calibration_error * steeper) + engine.shift_error * shifted;
                }
                votes.logits[i][lane] = logit;
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
        let n = self.voting::<E>();
        let needs = R::NEEDS;
        let (raw, standardized, logits) = match self.scaled {
            true => (&votes.raw, &votes.standardized, &votes.logits),
            false => (&votes.values, &votes.values, &votes.values),
        };
        let best = match needs.log_ratios && !contender.best_known {
            true => &self.estimated_best(votes, logits),
            false => &votes.best,
        };
        let ratios = needs.log_ratios.then(|| self.ratios(best, logits));
        let role = |i: usize| if i == 0 { Role::Leader } else { Role::Member };
        let weights: [f64; E] = std::array::from_fn(|i| R::weight(None, role(i)));
        // only the columns that the rule needs are gathered: the others are empty constants
        let values = |lane: usize, log_ratios: &[f64], moves: &[Move], values: &mut [f64]| {
            let gather = |needed: bool, all: &[[f64; LANES]; E]| if needed { column(all, lane) } else { [0.0; E] };
            let of = |needed: bool| if needed { n } else { 0 };
            let scores = gather(needs.scores, raw);
            let standardized = gather(needs.standardized, standardized);
            let logit = gather(needs.logits || needs.win_rates, logits);
            let mut win_rates = logit;
            if needs.win_rates && !R::WIN_RATE_ORDER_ONLY {
                win_rates.iter_mut().for_each(|p| *p = win_rate(*p));
            }
            let columns = Columns {
                moves,
                weights: &weights[..n],
                scores: &scores[..of(needs.scores)],
                standardized: &standardized[..of(needs.standardized)],
                win_rates: &win_rates[..of(needs.win_rates)],
                logits: &logit[..of(needs.logits)],
                standard_errors: &self.noise[..of(needs.standard_errors)],
                log_ratios,
                ratings: &self.strengths[..of(needs.ratings)],
                caution: self.model.caution,
            };
            R::values(&columns, values);
        };
        let (mut chosen, leads) = match &ratios {
            None => largest(n, contender.tie, votes, |lane, moves, out| values(lane, &[], moves, out)),
            Some(ratios) => largest(n, contender.tie, votes, |lane, moves, out| {
                values(lane, &column(ratios, lane)[..n], moves, out);
            }),
        };
        if ratios.is_some() {
            for (lane, (chosen, lead)) in chosen.iter_mut().zip(leads).enumerate() {
                // closer than the error of the table: repeat with exact ratios
                if lead <= 2.0 * n as f64 * TOLERANCE {
                    let moves = column(&votes.moves, lane);
                    let exact = self.exact_ratios(best[lane], logits, lane);
                    let mut exact_values = [0.0; E];
                    values(lane, &exact[..n], &moves[..n], &mut exact_values[..n]);
                    *chosen = adopted(contender.tie, &moves[..n], &exact_values[..n], votes.word[lane]);
                }
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

    #[cold]
    #[inline(never)]
    fn exact_ratios<const E: usize>(&self, best: f64, logits: &[[f64; LANES]; E], lane: usize) -> [f64; E] {
        let mut ratios = [0.0; E];
        let tables = self.ratios.iter().zip(logits);
        ratios.iter_mut().zip(tables).for_each(|(r, (table, values))| *r = table.exact(values[lane] - best));
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

/// What all engines say in a lane.
#[inline(always)]
fn column<T: Copy, const E: usize>(all: &[[T; LANES]; E], lane: usize) -> [T; E] {
    std::array::from_fn(|i| all[i][lane])
}

/// The moves with the largest values, and by how much each leads; `value` gives those of a lane.
#[inline(always)]
fn largest<const E: usize>(
    n: usize,
    tie: TieRule,
    votes: &Votes<E>,
    value: impl Fn(usize, &[Move], &mut [f64]),
) -> ([Move; LANES], [f64; LANES]) {
    let (mut chosen, mut leads) = ([BEST; LANES], [0.0; LANES]);
    let mut tied = [false; LANES];
    // nothing in here branches, so that the compiler makes it decide several lanes at once
    for lane in 0..LANES {
        let (moves, mut values) = (column(&votes.moves, lane), [0.0; E]);
        value(lane, &moves[..n], &mut values[..n]);
        let leading = tally::leading(&moves[..n], &values[..n], Some(moves[0]));
        chosen[lane] = leading.chosen;
        leads[lane] = leading.top - leading.second;
        tied[lane] = leading.is_tied();
    }
    if tie == TieRule::Draw {
        for lane in (0..LANES).filter(|&lane| tied[lane]) {
            let (moves, mut values) = (column(&votes.moves, lane), [0.0; E]);
            value(lane, &moves[..n], &mut values[..n]);
            chosen[lane] = adopted(tie, &moves[..n], &values[..n], votes.word[lane]);
        }
    }
    (chosen, leads)
}

/// The move with the largest value in one position.
#[cold]
#[inline(never)]
fn adopted(tie: TieRule, moves: &[Move], values: &[f64], word: u64) -> Move {
    let tie = match tie {
        TieRule::Draw => tally::Tie::Draw(mix(word.wrapping_add(GOLDEN))),
        _ => tally::Tie::Leader(moves.first().copied()),
    };
    // no value is NaN, so that some voter has the largest
    tally::largest(moves, values, tie).map_or(BEST, |voter| moves[voter])
}

/// The number of 64-bit words below which a share `probability` of them lies.
fn threshold(probability: f64) -> u64 {
    if probability >= 1.0 { u64::MAX } else { (probability * 18_446_744_073_709_551_616.0) as u64 }
}
