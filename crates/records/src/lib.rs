//! Reads game records with engine scores and draws samples from them.
//!
//! ```
//! # let text = "V2.2\nN+zshogi\nN-sekirei\nPI\n+\n+7776FU\n'** 30 -3334FU\n-3334FU\n'** -12 +2726FU\n%TORYO\n";
//! # let entry = || evalcurve_records::record::find::Entry::in_memory("a.csa", text.as_bytes());
//! # let records = evalcurve_records::games_of(vec![entry()]).with_moves();
//! # /*
//! let records = evalcurve_records::games("kifu/")?.with_moves(); // a file, a folder or an archive
//! # */
//! for record in records {
//!     let game = match record {
//!         Ok(record) => record.game,
//!         Err(problem) => {
//!             eprintln!("{problem}"); // file, line, value and remedy; the other games are read
//!             continue;
//!         }
//!     };
//!     println!("{:?}: {:?} for Black, moves {:?}", game.names, game.black_outcome, game.played.map(|p| p.moves));
//!     for p in &game.scores {
//!         println!("{} {:?}: {} centipawns", p.ply, p.color, p.score_cp); // in the view of the side to move
//!     }
//! #     assert_eq!((game.scores.len(), game.scores[1].score_cp, game.plies), (2, 12, 2));
//! }
//! # Ok::<(), evalcurve_records::record::find::SourceError>(())
//! ```
//!
//! [`games`] reads every format of [`record::FORMATS`], and [`games_of`] bytes in memory too. [`record::Formats`] reads
//! a format of your own beside them. [`ProblemKind`] tells a program why a game is skipped or a file refused.
//! [`sample::collect()`] draws samples from files on several threads.

pub mod csv_text;
mod games;
pub mod parallel;
pub mod record;
pub mod sample;

pub use games::{Games, Original, Record, Written, games, games_of};
pub use record::source::Refusal;
pub use record::{OddityKind, SkipReason};
pub use sample::collect::{Problem, ProblemKind};
