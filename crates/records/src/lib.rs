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
//!     println!("{:?}: {:?} for Black", game.names, game.black_outcome);
//!     for p in game.positions() {
//!         let score_cp = p.score.map(|score| score.score_cp); // in the view of the side to move
//!         println!("{} {:?} {score_cp:?} {:?} {}", p.ply, p.color, game.outcome_for(p.color), p.text); // SFEN or FEN
//!     }
//! #     let scores: Vec<_> = game.positions().iter().map(|p| p.score.map(|score| score.score_cp)).collect();
//! #     assert_eq!(scores, [Some(30), Some(12), None]);
//! }
//! # Ok::<(), evalcurve_records::record::find::SourceError>(())
//! ```
//!
//! Setup: `cargo add evalcurve-records`. It has no features.
//!
//! [`games`] reads every format of [`record::FORMATS`], and [`games_of`] bytes in memory too. [`record::Formats`] reads
//! a format of your own beside them. [`ProblemKind`] tells a program why a game is skipped or a file refused.
//! [`sample::collect()`] draws samples from files on several threads.

pub mod csv_text;
mod games;
pub mod parallel;
pub mod record;
pub mod sample;

pub use games::{Games, Original, Record, Written, games, games_of, spliced};
pub use record::source::Refusal;
pub use record::{OddityKind, SkipReason};
pub use sample::collect::{Problem, ProblemKind};
