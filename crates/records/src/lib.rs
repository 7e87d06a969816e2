//! Reads game records with engine scores and draws samples from them.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! for record in evalcurve_records::games("../../data/selfplay/sekirei+zshogi.csa")? {
//!     let game = record?.game;
//!     let [black, white] = &game.names;
//!     println!("{black} vs {white}: {:?} for Black, {} scores", game.black_outcome, game.scores.len());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`games`] reads files, folders and archives, and [`games_of`] bytes in memory too; [`sample::collect()`] draws
//! samples
//! from them on several threads.

pub mod csv_text;
mod games;
pub mod parallel;
pub mod record;
pub mod sample;

pub use games::{Games, Original, Record, Written, games, games_of};
