//! One engine: a process that speaks USI or UCI, the positions that it searches, its clock and its limits.
//!
//! [`usi`] has the messages and the process, [`board`] the legal moves of shogi, 5x5 shogi and chess. A [`Player`]
//! waits for each answer, as a match runner does; a [`Member`] never waits, as a council needs it. [`ConfigText`] reads
//! the tables of engines in the files of councils and tournaments. [`Failure::kind`] tells an engine that is not there
//! from one that ended, or is late.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use evalcurve_engine::usi::Position;
//! use evalcurve_engine::{Board, Game, Limit, Player, parse_engine};
//!
//! let config = parse_engine("stockfish option.Threads=1", Game::Chess)?;
//! let mut engine = Player::start(&config)?; // an error if it is not there, ends, or is not ready in time
//! let position = Position::parse("startpos moves e2e4");
//! let (board, problem) = Board::new(Game::Chess, &position); // a problem names the first illegal move
//! assert!(problem.is_none() && board.is_legal("e7e5"));
//! let found = engine.search(position, board.side(), Limit::Depth(10).go(), Duration::from_secs(60))?;
//! println!("{:?} {:?} {:?}", found.best, found.score, found.pv); // the score in the view of the side to move
//! engine.quit(); // and everything that it started
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod board;
pub mod clock;
mod command;
mod config;
mod config_file;
mod info_lines;
mod lock;
mod member;
mod player;
mod queue;
mod task;
mod trial;
pub mod usi;
mod voted;

pub use board::{Board, Game};
pub use command::{EngineError, parse_engine, parse_limit, words};
pub use config::{CHESS_SCALE_CP, CouncilConfig, EngineConfig, Limit, TimeControl, centipawns, read_later};
pub use config_file::{ConfigError, ConfigText, Document, ReadCouncil};
pub use info_lines::InfoLines;
pub use lock::lock;
pub use member::{Listener, Member};
pub use player::{Failure, Player};
pub use queue::{Event, GUI_LINE_BYTES, events, forward, wait};
pub use task::{FailureKind, MemberEvent, SearchResult, Task};
pub use trial::{Trial, disobeys, ignored, instead_of, time_per_move, try_limits};
pub use voted::VotedGame;

/// The text of a file of the repository; `None` in a package, which does not hold it.
#[cfg(test)]
pub(crate) fn of_repository(path: &str) -> Option<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/oracle").is_dir().then(|| std::fs::read_to_string(root.join(path)).unwrap())
}
