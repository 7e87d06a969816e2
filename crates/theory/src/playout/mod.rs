//! Play-outs: a game is played to its end many times at random, and the results say how good each move is.
//!
//! After Raiko, *Higher order statistics in play-out analysis* (2006), section "Higher order statistics in play-out
//! analysis", equations 1 to 3. For the side to move, a move's value is the share of the points that this side made in
//!
//! - the play-outs that began with the move ([`Heuristic::ExpectedOutcome`], eq. 1);
//! - the play-outs in which this side made the move at any time ([`Heuristic::AllMovesAsFirst`], eq. 2);
//! - the play-outs in which it made the move at any time after certain other moves, the pattern
//!   ([`patterns::PatternTable`], eq. 3); the patterns that apply are combined ([`Heuristic::HigherOrder`]).
//!
//! A draw counts half. A move that no play-out made has no value (`None`), never 0. Play-outs are counted in integers
//! and each has a random stream of its own, drawn from the seed and its number: the same figures for any thread count.
//!
//! ```
//! use evalcurve_theory::playout::{Analysis, Game, PlayoutOptions, TicTacToe, analyse};
//!
//! let game = TicTacToe::default();
//! let analysis: Analysis = analyse(&game, &PlayoutOptions { playouts: 20_000, ..PlayoutOptions::default() })?;
//! // nobody doubts that the middle is best
//! assert_eq!(analysis.best().map(|m| game.name(m.action)).as_deref(), Some("b2"));
//! # Ok::<(), evalcurve_theory::playout::PlayoutError>(())
//! ```

mod analysis;
mod any;
mod board;
mod chooser;
mod exact;
mod game;
mod layout;
pub mod patterns;
mod tic_tac_toe;

#[cfg(test)]
mod tests;

pub use analysis::{
    Analysis, DEFAULT_SEED, Heuristic, MoveValue, PlayoutError, PlayoutOptions, Tally, analyse, analyse_patterns,
};
pub use any::AnyGame;
pub use board::{Board, BoardError, Connection};
pub use chooser::{Ballot, Chooser, score_of_win_rate, win_rate_of_score};
pub use exact::{ExactError, MoveChances, exact};
pub use game::{Game, Side, position};
pub use tic_tac_toe::TicTacToe;
