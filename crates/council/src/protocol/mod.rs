//! The protocol by which programs take part in a council over TCP (Hanawa & Ito, *The Council System on Playing Game*,
//! IPSJ SIG Technical Report 2009, section 5), which is modelled on the CSA server protocol 1.1.2.
//!
//! ```text
//! program  LOGIN gps secret                       name and, where one is set, password
//! server   LOGIN:gps OK                           or LOGIN:incorrect
//! server   BEGIN Position
//!          P1-KY-KE-GI-KI-OU-KI-GI-KE-KY          the board, as CSA writes it; smaller boards have fewer rows
//!          …
//!          P+00FU                                 Black's hand
//!          P-                                     White's hand
//!          -                                      the side to move
//!          1                                      the program may use its book (1) or not (0)
//!          10000                                  time for the answer, milliseconds; 0: as long as it likes
//!          END Position
//! program  -3334FU,120$depth 12                   up to five candidates, the best first: move,score[$comment]
//!          -8384FU,95
//!          (an empty line)                        ends a list of fewer than five; so does a silence of 100 ms
//! server   LOGOUT                                 the end
//! ```
//!
//! The paper gives the order of a position's parts but not their spelling; the spelling above is ours. Scores are in the
//! view of the side to move. `%TORYO` in place of a move gives the game up, `%KACHI` declares a win.
//!
//! [`serve`] is the server: to its caller it is a USI engine, so that a program that logs in is a member of a council like
//! any other. [`join`] is the other end: it lets any USI engine log in to a server that speaks the protocol.
//!
//! A server lets in whoever knows the password, and asks for none on its own machine only. Lines have a limit, so have
//! connections; who does not log in, answer or read in time is dropped.

mod join;
mod message;
mod position;
mod serve;
#[cfg(test)]
mod tests;

pub use join::{JoinError, JoinOptions, join};
pub use message::{Candidate, MOST_CANDIDATES, Proposal, Question};
pub use position::Position;
pub use serve::{ServeError, ServeOptions, serve};
