//! Match statistics: the strength of a player with its uncertainty, and tests between systems.
//!
//! All statistics are functions of counts: wins, draws and losses of a player ([`Wdl`]), or points of pairs of games
//! that two players began from one opening with colours swapped ([`Pentanomial`]). A draw counts as half a win
//! (Takeuchi 2018, "異種プログラム間における楽観合議について", section 4).
//!
//! ```
//! use evalcurve_match::match_stats::{Wdl, compare, strength};
//!
//! // Takeuchi 2018, table 4: win-rate optimistic consultation and majority, each 1,000 games against Apery
//! let (win_rate, majority) = (Wdl::new(423, 8, 569), Wdl::new(362, 34, 604));
//! assert_eq!(win_rate.rate(), Some(0.427));
//! let test = compare(win_rate, majority);
//! assert_eq!(format!("{:.3}", test.chi_squared.map_or(1.0, |t| t.p)), "0.020"); // without draws
//! assert_eq!(format!("{:.3}", test.half_draws.map_or(1.0, |t| t.p)), "0.029"); // a draw as half a win
//! let elo = strength(&win_rate.into()).and_then(|s| s.elo);
//! assert_eq!(elo.map(f64::round), Some(-51.0));
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`counts`] | results as counts, the win rate and its Wilson interval |
//! | [`elo`] | Elo, normalised Elo and their intervals, likelihood of superiority |
//! | [`comparison`] | tests between two systems, and corrections for several tests |
//! | [`sprt()`] | the sequential probability ratio test, over games and over pairs |
//! | [`power`] | the number of games that detect a difference |
//! | [`ratings`] | all players on one scale |
//! | [`results`], [`results_csv`] | results from game records and from tables |
//! | [`spent`] | the time of the players |
//! | [`summary`] | all statistics of several systems |

pub mod comparison;
pub mod counts;
pub mod elo;
pub mod power;
pub mod ratings;
pub mod results;
pub mod results_csv;
pub mod spent;
pub mod sprt;
pub mod summary;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod published_tests;

pub use comparison::{Comparison, Test, bonferroni, compare, sign_test};
pub use counts::{Pentanomial, Points, Wdl};
pub use elo::{Strength, elo_of_rate, rate_of_elo, strength};
pub use evalcurve_fit::validate::holm;
pub use power::PowerQuestion;
pub use ratings::{Rated, RatingGroup, rating_list};
pub use results::{Match, Matches, read_matches};
pub use spent::{PerMove, Spent};
pub use sprt::{Decision, EloModel, Sprt, SprtOptions, sprt};
pub use summary::{Entry, Summary, summarize};
