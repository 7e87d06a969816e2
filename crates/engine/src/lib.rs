//! One engine: a process that speaks USI or UCI, the positions that it searches, its clock and its limits.
//!
//! ```no_run
//! use evalcurve_engine::{Engine, FailureKind, Game, Limit};
//!
//! let mut engine = Engine::start("stockfish option.Threads=1", Game::Chess)?; // sets options, waits until it is ready
//! let found = engine.search("startpos moves e2e4", Limit::Depth(10))?; // or an SFEN or FEN, with moves or without
//! println!("{:?} {:?} {:?}", found.best, found.score, found.pv); // the score in the view of the side to move
//! match engine.search("startpos moves e2e5", Limit::MoveTime(100)) {
//!     Err(failure) if failure.kind() == FailureKind::Position => println!("{failure}"), // move 1, 'e2e5', is illegal
//!     other => println!("{:?}", other?.best),
//! }
//! engine.quit(); // and everything that it started
//! # Ok::<(), evalcurve_engine::Failure>(())
//! ```
//!
//! Setup: `cargo add evalcurve-engine`. It has no features.
//!
//! An [`Engine`] answers for positions by their text. [`Failure::kind`] tells one that is not there from one that ended
//! or is late. A [`Player`] is the same with a configuration, games and clocks, as a match runner needs it; a
//! [`Member`] never waits, as a council needs it. [`usi`] has the messages and the process, [`board`] the legal moves
//! of shogi, 5x5 shogi and chess. [`ConfigText`] reads the tables of engines in the files of councils and tournaments.

pub mod board;
pub mod clock;
mod command;
mod config;
mod config_file;
mod engine;
mod info_lines;
mod lock;
mod member;
mod player;
mod queue;
mod task;
mod trial;
pub mod usi;
mod voted;

pub use board::{Board, Game, PositionFault};
pub use command::{EngineError, parse_engine, parse_limit, words};
pub use config::{CHESS_SCALE_CP, CouncilConfig, EngineConfig, Limit, TimeControl, centipawns, read_later};
pub use config_file::{ConfigError, ConfigText, Document, ReadCouncil};
pub use engine::Engine;
pub use info_lines::InfoLines;
pub use lock::lock;
pub use member::{Listener, Member};
pub use player::{Failure, Player};
pub use queue::{Event, GUI_LINE_BYTES, events, forward, wait};
pub use task::{FailureKind, MemberEvent, SearchResult, Task};
pub use trial::{disobeys, ignored, instead_of, start_to_try, time_per_move, trial_patience, usable_limits};
pub use voted::VotedGame;

/// The text of a file of the repository; `None` in a package, which does not hold it.
#[cfg(test)]
pub(crate) fn of_repository(path: &str) -> Option<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/oracle").is_dir().then(|| std::fs::read_to_string(root.join(path)).unwrap())
}
