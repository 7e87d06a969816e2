//! Plays a game out many times and says how good each move is.

use std::ops::Range;

use rayon::prelude::*;
use thiserror::Error;

use super::game::{Game, Side};
use super::patterns::{Made, Pattern, PatternOptions, PatternTable, made};
use evalcurve_core::random::Stream;
use evalcurve_core::types::Outcome;

/// How the value of a move comes from play-outs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Heuristic {
    /// The play-outs that began with the move (Raiko 2006, eq. 1).
    #[default]
    ExpectedOutcome,
    /// The play-outs in which the side to move made it at any time (eq. 2).
    AllMovesAsFirst,
    /// As all-moves-as-first, over play-outs whose moves are chosen by the values after patterns of moves (eq. 3). With
    /// uniform play-outs both are the same, since before the first move only the empty pattern applies.
    HigherOrder,
}

impl Heuristic {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ExpectedOutcome, Self::AllMovesAsFirst, Self::HigherOrder];

    /// `expected-outcome`, `all-moves-as-first` or `higher-order`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ExpectedOutcome => "expected-outcome",
            Self::AllMovesAsFirst => "all-moves-as-first",
            Self::HigherOrder => "higher-order",
        }
    }
}

/// How games are played out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayoutOptions {
    /// The value of a move.
    pub heuristic: Heuristic,
    /// Number of play-outs.
    pub playouts: u64,
    /// `None`: each legal move is as likely. Else semi-random: the move with the largest value plus a random number
    /// between 0 and this, by the all-moves-as-first values, or those of higher order, of the play-outs before; a move
    /// without a value has ½.
    pub noise: Option<f64>,
    /// Semi-random play-outs are made in so many rounds: the values that choose moves are those of the rounds before,
    /// so that they do not depend on threads. The first round is uniform.
    pub rounds: u32,
    /// Patterns, for [`Heuristic::HigherOrder`].
    pub patterns: PatternOptions,
    /// Seed of all draws.
    pub seed: u64,
}

/// The seed that is used unless another is given: the date of Raiko's page.
pub const DEFAULT_SEED: u64 = 20_060_901;

impl Default for PlayoutOptions {
    fn default() -> Self {
        Self {
            heuristic: Heuristic::default(),
            playouts: 10_000,
            noise: None,
            rounds: 10,
            patterns: PatternOptions::default(),
            seed: DEFAULT_SEED,
        }
    }
}

/// What cannot be played out.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum PlayoutError {
    /// No play-outs were asked for.
    #[error("0 play-outs: ask for one at least")]
    NoPlayouts,
    /// A noise that is none.
    #[error("noise {0}: semi-random play-outs take a number above 0 and up to 1000; 0.2 is a fifth of a win")]
    Noise(f64),
    /// No rounds.
    #[error("0 rounds: semi-random play-outs need one at least")]
    NoRounds,
    /// Pattern options out of range.
    #[error(
        "patterns of order {order} with a prior of {prior_plays} play-outs: the order is 0 to 4, the prior above 0"
    )]
    Patterns {
        /// As given.
        order: usize,
        /// As given.
        prior_plays: f64,
    },
    /// Nothing to choose from.
    #[error("the game is over: there is no move to judge")]
    Over,
    /// A game that does not end.
    #[error("a play-out did not end within {0} moves")]
    Endless(usize),
}

/// Play-outs and their points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of play-outs.
    pub plays: u64,
    /// Twice the points: 2 a win, 1 a draw.
    pub half_points: u64,
}

impl Tally {
    /// Counts one play-out.
    pub fn add(&mut self, outcome: Outcome) {
        self.plays += 1;
        self.half_points += outcome as u64;
    }

    /// Adds up two counts.
    pub fn merge(&mut self, other: Self) {
        self.plays += other.plays;
        self.half_points += other.half_points;
    }

    /// Points per play-out, 0 to 1, draws half; `None` without play-outs: 0/0 is no value.
    pub fn rate(&self) -> Option<f64> {
        (self.plays > 0).then(|| self.half_points as f64 / (2 * self.plays) as f64)
    }

    /// The rate with half a win and half a loss added: never 0 or 1, and ½ without play-outs (Jeffreys' prior).
    pub fn smoothed_rate(&self) -> f64 {
        (self.half_points as f64 / 2.0 + 0.5) / (self.plays as f64 + 1.0)
    }
}

/// A legal move and what the play-outs say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveValue {
    /// The move.
    pub action: u16,
    /// The play-outs that the heuristic counts for it, for the side to move.
    pub tally: Tally,
}

/// What play-outs say of a position.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The side to move, whose points are counted.
    pub side: Side,
    /// Every legal move, ascending.
    pub moves: Vec<MoveValue>,
    /// All play-outs, for the side to move.
    pub total: Tally,
    /// Values by pattern; the empty pattern alone unless the heuristic is of higher order.
    pub table: PatternTable,
}

impl Analysis {
    /// The move with the best rate; of equal ones the one with more play-outs, then the first. `None` where no move has
    /// a value.
    pub fn best(&self) -> Option<MoveValue> {
        let better = |a: &MoveValue, b: &MoveValue| {
            // a/b > c/d in whole numbers
            let left = u128::from(a.tally.half_points) * u128::from(b.tally.plays);
            let right = u128::from(b.tally.half_points) * u128::from(a.tally.plays);
            left > right || (left == right && a.tally.plays > b.tally.plays)
        };
        let mut with_value = self.moves.iter().filter(|m| m.tally.plays > 0);
        let first = *with_value.next()?;
        Some(with_value.fold(first, |best, m| if better(m, &best) { *m } else { best }))
    }
}

/// What the play-outs of one round count.
#[derive(Debug, Clone)]
struct Counted {
    /// By first move.
    first: Vec<Tally>,
    table: PatternTable,
    total: Tally,
    /// A play-out did not end.
    endless: bool,
}

impl Counted {
    fn merge(mut self, other: &Self) -> Self {
        self.first.iter_mut().zip(&other.first).for_each(|(a, b)| a.merge(*b));
        self.table.merge(&other.table);
        self.total.merge(other.total);
        self.endless |= other.endless;
        self
    }
}

/// Plays `game` out and says how good each move is, by the threads of the rayon pool that calls it.
///
/// # Errors
/// [`PlayoutError`] for options out of range, a game that is over, or one that does not end.
pub fn analyse<G: Game>(game: &G, options: &PlayoutOptions) -> Result<Analysis, PlayoutError> {
    analyse_patterns(game, options, Vec::new())
}

/// The same, counting the moves made after these patterns from the first play-out on, whatever the heuristic.
///
/// # Errors
/// As [`analyse`].
pub fn analyse_patterns<G: Game>(
    game: &G,
    options: &PlayoutOptions,
    patterns: Vec<Pattern>,
) -> Result<Analysis, PlayoutError> {
    check(options)?;
    let mut legal = Vec::new();
    game.legal(&mut legal);
    if legal.is_empty() || game.outcome().is_some() {
        return Err(PlayoutError::Over);
    }
    let actions = game.actions();
    let mut all = Counted {
        first: vec![Tally::default(); actions],
        table: PatternTable::with(patterns, actions),
        total: Tally::default(),
        endless: false,
    };
    let higher = options.heuristic == Heuristic::HigherOrder;
    let rounds = if options.noise.is_some() || higher { u64::from(options.rounds) } else { 1 };
    for round in 0..rounds {
        // parts of a number that differ by one at the most
        let range = options.playouts * round / rounds..options.playouts * (round + 1) / rounds;
        let guide = if round == 0 { None } else { options.noise.map(|noise| (&all.table, noise)) };
        let counted = play(game, range, options, guide, &all);
        all = all.merge(&counted);
        if all.endless {
            return Err(PlayoutError::Endless(most_moves(game)));
        }
        if higher {
            all.table.grow(&options.patterns);
        }
    }
    let side = game.mover();
    let value = |action: u16| {
        let tally = match options.heuristic {
            Heuristic::ExpectedOutcome => all.first.get(usize::from(action)).copied(),
            _ => all.table.tally(&Pattern::default(), made(game, side, action)),
        };
        MoveValue { action, tally: tally.unwrap_or_default() }
    };
    Ok(Analysis {
        side,
        moves: legal.iter().map(|&action| value(action)).collect(),
        total: all.total,
        table: all.table,
    })
}

fn check(options: &PlayoutOptions) -> Result<(), PlayoutError> {
    if options.playouts == 0 {
        return Err(PlayoutError::NoPlayouts);
    }
    if let Some(noise) = options.noise.filter(|n| !(*n > 0.0 && *n <= 1000.0)) {
        return Err(PlayoutError::Noise(noise));
    }
    if options.rounds == 0 {
        return Err(PlayoutError::NoRounds);
    }
    let PatternOptions { order, prior_plays, .. } = options.patterns;
    if order > 4 || !(prior_plays > 0.0 && prior_plays.is_finite()) {
        return Err(PlayoutError::Patterns { order, prior_plays });
    }
    Ok(())
}

/// A play-out with more moves than this does not end.
fn most_moves<G: Game>(game: &G) -> usize {
    game.actions() * 100 + 1000
}

/// The play-outs with those numbers, counted.
fn play<G: Game>(
    game: &G,
    range: Range<u64>,
    options: &PlayoutOptions,
    guide: Option<(&PatternTable, f64)>,
    like: &Counted,
) -> Counted {
    let empty = || Counted {
        first: vec![Tally::default(); like.first.len()],
        table: like.table.emptied(),
        total: Tally::default(),
        endless: false,
    };
    // sums of integers: how the range is cut does not matter
    let piece = (range.end - range.start).div_ceil(4 * rayon::current_num_threads() as u64).max(16);
    let pieces = (range.end - range.start).div_ceil(piece);
    (0..pieces)
        .into_par_iter()
        .map(|p| {
            let mut counted = empty();
            let mut run = Run::default();
            let from = range.start + p * piece;
            for number in from..(from + piece).min(range.end) {
                let mut stream = Stream::new(&[options.seed, number]);
                match run.one(game, &mut stream, guide, &options.patterns) {
                    Some(outcome) => {
                        let own = if game.mover() == Side::First { outcome } else { outcome.reversed() };
                        counted.total.add(own);
                        if let Some(tally) = run
                            .moves
                            .first()
                            .and_then(|&m| counted.first.get_mut(usize::from(m) % game.actions().max(1)))
                        {
                            tally.add(own);
                        }
                        counted.table.count(&run.moves, outcome);
                    }
                    None => counted.endless = true,
                }
            }
            counted
        })
        .reduce(empty, |a, b| a.merge(&b))
}

/// One play-out at a time, with its buffers.
#[derive(Default)]
struct Run {
    legal: Vec<u16>,
    moves: Vec<Made>,
}

impl Run {
    /// Plays to the end and gives the result for the first player; the moves are in `moves`. `None` if there is no end.
    fn one<G: Game>(
        &mut self,
        start: &G,
        stream: &mut Stream,
        guide: Option<(&PatternTable, f64)>,
        patterns: &PatternOptions,
    ) -> Option<Outcome> {
        let mut game = start.clone();
        self.moves.clear();
        game.legal(&mut self.legal);
        for _ in 0..most_moves(start) {
            if let Some(outcome) = game.outcome() {
                return Some(outcome);
            }
            let side = game.mover();
            let chosen = match guide {
                None => self.legal.get(stream.below(self.legal.len())).copied()?,
                Some((table, noise)) => {
                    let applying = table.applying(&self.moves);
                    let mut best: Option<(f64, u16)> = None;
                    for &action in &self.legal {
                        let value = table.value(&applying, made(&game, side, action), patterns).unwrap_or(0.5);
                        let value = value + noise * stream.unit();
                        if best.is_none_or(|(most, _)| value > most) {
                            best = Some((value, action));
                        }
                    }
                    best?.1
                }
            };
            self.moves.push(made(&game, side, chosen));
            game.play(chosen);
            game.legal_after(chosen, &mut self.legal);
        }
        game.outcome()
    }
}
