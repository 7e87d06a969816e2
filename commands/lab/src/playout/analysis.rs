//! Play-outs of a position and the values of its moves.

use std::ops::Range;

use evalcurve_app::cli::options::one_of;
use evalcurve_calibration::logistic::logit;
use evalcurve_calibration::types::Outcome;
use evalcurve_fit::fit::CP_PER_LOGIT;
use evalcurve_words::random::Stream;
use rayon::prelude::*;
use strum::{Display, EnumString, VariantNames};
use thiserror::Error;

use super::game::{Game, Side};
use super::patterns::{Made, Pattern, PatternOptions, PatternTable, made};

/// How the value of a move is computed from play-outs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Heuristic {
    /// From the play-outs that begin with the move (Raiko 2006, eq. 1).
    #[default]
    ExpectedOutcome,
    /// From the play-outs in which the side to move makes the move at any time (eq. 2).
    AllMovesAsFirst,
    /// Like all-moves-as-first, over play-outs whose moves are chosen by the values after patterns of moves (eq. 3).
    /// With uniform play-outs both are equal, since only the empty pattern applies before the first move.
    HigherOrder,
}

/// Options of play-outs. The comments of the fields are the help of the command.
#[derive(Debug, Clone, Copy, PartialEq, clap::Args)]
pub struct PlayoutOptions {
    /// How the value of a move is computed: from play-outs that begin with it, that contain it, or that follow patterns
    #[arg(long, default_value_t, value_parser = one_of::<Heuristic>())]
    pub heuristic: Heuristic,

    /// Number of play-outs per game
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub playouts: u64,

    /// Semi-random play-outs: choose the move with the largest value so far plus a random number up to NOISE
    // `None` for uniform play-outs, in which each legal move is equally likely. The values are the all-moves-as-first
    // values or those of higher order of earlier play-outs; a move without a value has ½.
    #[arg(long, value_name = "NOISE")]
    pub noise: Option<f64>,

    /// Rounds of semi-random play-outs; each uses the values of those before
    // so that results do not depend on threads; the first round is uniform
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: u32,

    #[command(flatten)]
    pub patterns: PatternOptions,

    /// Seed of the play-outs
    #[arg(long, default_value_t = DEFAULT_SEED)]
    pub seed: u64,
}

/// The default seed: the date of Raiko's page.
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

/// Why a position cannot be analysed.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum PlayoutError {
    /// No play-outs.
    #[error("0 play-outs; give 1 or more")]
    NoPlayouts,
    /// A noise out of range.
    #[error("the noise is {0}; give a number above 0 and up to 1000 (0.2 is a fifth of a win)")]
    Noise(f64),
    #[error("0 rounds; give 1 or more")]
    NoRounds,
    /// Pattern options out of range.
    #[error(
        "patterns of order {order} with a prior of {prior_plays} play-outs; give an order from 0 to 4 and a prior \
        above 0"
    )]
    Patterns { order: usize, prior_plays: f64 },
    /// The game is over.
    #[error("the game is over; give a position with a legal move")]
    Over,
    /// A game that does not end.
    #[error("a play-out did not end within {0} moves")]
    Endless(usize),
}

/// A number of play-outs and their points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of play-outs.
    pub plays: u64,
    /// Twice the points: 2 per win, 1 per draw.
    pub half_points: u64,
}

impl Tally {
    /// Adds one play-out.
    pub fn add(&mut self, outcome: Outcome) {
        self.plays += 1;
        self.half_points += outcome as u64;
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: Self) {
        self.plays += other.plays;
        self.half_points += other.half_points;
    }

    /// Points per play-out, 0 to 1, with draws as half; `None` without play-outs.
    pub fn rate(&self) -> Option<f64> {
        (self.plays > 0).then(|| self.half_points as f64 / (2 * self.plays) as f64)
    }

    /// The rate with half a win and half a loss added (Jeffreys' prior): never 0 or 1, and ½ without play-outs.
    pub fn smoothed_rate(&self) -> f64 {
        (self.half_points as f64 / 2.0 + 0.5) / (self.plays as f64 + 1.0)
    }
}

/// A win rate as a score in centipawns, 600 ln(p/(1 - p)), rounded; `None` unless 0 < p < 1.
///
/// As a score, a win rate can be calibrated like any other: the sigmoid p(x) = 1/(1 + exp(-w1 x + w2)) scales the logit
/// by 600 w1 and shifts it by w2.
pub fn score_of_win_rate(win_rate: f64) -> Option<i32> {
    if !(win_rate > 0.0 && win_rate < 1.0) {
        return None;
    }
    // the logit is never beyond 709, which fits
    Some((CP_PER_LOGIT * logit(win_rate)).round() as i32)
}

/// A legal move with its tally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveValue {
    pub action: u16,
    /// The play-outs that the heuristic counts for the move, in the view of the side to move.
    pub tally: Tally,
}

/// The result of the play-outs of a position.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The side to move; all points are in its view.
    pub side: Side,
    /// Every legal move, in ascending order.
    pub moves: Vec<MoveValue>,
    /// All play-outs.
    pub total: Tally,
    /// Values by pattern; only the empty pattern unless the heuristic is of higher order.
    pub table: PatternTable,
}

impl Analysis {
    /// The move with the best rate. Of equal ones, the one with more play-outs, then the first. `None` if no move has a
    /// value.
    pub fn best(&self) -> Option<MoveValue> {
        let better = |a: &MoveValue, b: &MoveValue| {
            // a/b > c/d in integers
            let left = u128::from(a.tally.half_points) * u128::from(b.tally.plays);
            let right = u128::from(b.tally.half_points) * u128::from(a.tally.plays);
            left > right || (left == right && a.tally.plays > b.tally.plays)
        };
        let mut with_value = self.moves.iter().filter(|m| m.tally.plays > 0);
        let first = *with_value.next()?;
        Some(with_value.fold(first, |best, m| if better(m, &best) { *m } else { best }))
    }
}

/// Counts of the play-outs of one round.
#[derive(Debug, Clone)]
struct Counted {
    /// By first move.
    first: Vec<Tally>,
    table: PatternTable,
    total: Tally,
    /// Whether a play-out did not end.
    endless: bool,
}

impl Counted {
    fn new(table: PatternTable, actions: usize) -> Self {
        Self { first: vec![Tally::default(); actions], table, total: Tally::default(), endless: false }
    }

    fn merge(mut self, other: &Self) -> Self {
        self.first.iter_mut().zip(&other.first).for_each(|(a, b)| a.merge(*b));
        self.table.merge(&other.table);
        self.total.merge(other.total);
        self.endless |= other.endless;
        self
    }
}

/// Evaluates each legal move of `game` by play-outs, on the current rayon pool.
///
/// # Errors
/// If an option is out of range, if the game is over, or if it does not end.
pub fn analyse<G: Game>(game: &G, options: &PlayoutOptions) -> Result<Analysis, PlayoutError> {
    analyse_patterns(game, options, Vec::new())
}

/// Like [`analyse`], but counts the moves made after these patterns from the first play-out, for every heuristic.
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
    let mut all = Counted::new(PatternTable::with(patterns, actions), actions);
    let higher = options.heuristic == Heuristic::HigherOrder;
    let rounds = if options.noise.is_some() || higher { u64::from(options.rounds) } else { 1 };
    for round in 0..rounds {
        // parts that differ by at most one
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

/// Largest number of moves of a play-out.
fn most_moves<G: Game>(game: &G) -> usize {
    game.actions() * 100 + 1000
}

/// Counts the play-outs with these numbers.
fn play<G: Game>(
    game: &G,
    range: Range<u64>,
    options: &PlayoutOptions,
    guide: Option<(&PatternTable, f64)>,
    like: &Counted,
) -> Counted {
    let empty = || Counted::new(like.table.emptied(), like.first.len());
    // integer sums do not depend on how the range is split
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
                        let first = run.moves.first().map(|&m| usize::from(m) % game.actions().max(1));
                        if let Some(tally) = first.and_then(|m| counted.first.get_mut(m)) {
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

/// The buffers of one play-out at a time.
#[derive(Default)]
struct Run {
    legal: Vec<u16>,
    moves: Vec<Made>,
}

impl Run {
    /// Plays to the end and returns the result for the first player; the moves are in `moves`. `None` if the game does
    /// not end.
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
