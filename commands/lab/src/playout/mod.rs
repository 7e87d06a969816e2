//! Play-outs: many random games to the end, whose outcomes give the value of each move.
//!
//! After Raiko, *Higher order statistics in play-out analysis* (2006), section "Higher order statistics in play-out
//! analysis", equations 1 to 3. For the side to move, the value of a move is this side's share of the points in
//!
//! - the play-outs that begin with the move ([`Heuristic::ExpectedOutcome`], eq. 1);
//! - the play-outs in which this side makes the move at any time ([`Heuristic::AllMovesAsFirst`], eq. 2);
//! - the play-outs in which it makes the move at any time after certain other moves, the pattern
//!   ([`patterns::PatternTable`], eq. 3); the patterns that apply are combined ([`Heuristic::HigherOrder`]).
//!
//! A draw counts half. A move that is in no play-out has no value (`None`), not 0. Counts are integers, and the random
//! stream of each play-out depends only on the seed and its number, so that results do not depend on the number of
//! threads.
//!
//! ```
//! use evalcurve_lab::playout::{Analysis, Game, PlayoutOptions, TicTacToe, analyse};
//!
//! let game = TicTacToe::default();
//! let analysis: Analysis = analyse(&game, &PlayoutOptions { playouts: 20_000, ..PlayoutOptions::default() })?;
//! // the centre is the best move
//! assert_eq!(analysis.best().map(|m| game.name(m.action)).as_deref(), Some("b2"));
//! # Ok::<(), evalcurve_lab::playout::PlayoutError>(())
//! ```

mod analysis;
mod any;
mod board;
mod exact;
mod game;
mod layout;
pub mod patterns;
mod tic_tac_toe;

#[cfg(test)]
mod tests;

pub use analysis::{
    Analysis, DEFAULT_SEED, Heuristic, MoveValue, PlayoutError, PlayoutOptions, Tally, analyse, analyse_patterns,
    score_of_win_rate,
};
pub use any::AnyGame;
pub use board::{Board, BoardError, Connection};
pub use exact::{ExactError, MoveChances, exact};
pub use game::{Game, Side, position};
pub use tic_tac_toe::TicTacToe;
