//! The protocol for programs that take part in a council over TCP (Hanawa & Ito, *The Council System on Playing Game*,
//! IPSJ SIG Technical Report 2009, section 5), which follows the CSA server protocol 1.1.2.
//!
//! ```text
//! program  LOGIN gps secret                       the name and, if one is set, the password
//! server   LOGIN:gps OK                           or LOGIN:incorrect
//! server   BEGIN Position
//!          P1-KY-KE-GI-KI-OU-KI-GI-KE-KY          the board in CSA notation; smaller boards have fewer rows
//!          …
//!          P+00FU                                 Black's hand
//!          P-                                     White's hand
//!          -                                      the side to move
//!          1                                      whether the program may use its book (1) or not (0)
//!          10000                                  the time for the answer in milliseconds; 0: no limit
//!          END Position
//! program  -3334FU,120$depth 12                   up to five candidates, best first: move,score[$comment]
//!          -8384FU,95
//!          (an empty line)                        ends a list of fewer than five; so does a pause of 100 ms
//! server   LOGOUT                                 the end
//! ```
//!
//! The paper specifies the order of a position's parts but not their notation; the notation above is ours. Scores are
//! from the side to move's point of view. `%TORYO` instead of a move resigns, `%KACHI` declares a win.
//!
//! [`serve`] is the server. To its caller it is a USI engine, so that a program that logs in is a member of a council
//! like any other. [`join`] is the other end: it connects any USI engine to a server that uses the protocol.
//!
//! A server requires a password except on loopback addresses. The length of lines and the number of connections are
//! limited. A program that does not log in, answer or read in time is dropped.

mod join;
mod login;
mod message;
mod options;
mod search;
mod serve;
#[cfg(test)]
mod tests;

pub use evalcurve_engine::board::position::Position;
pub use join::{JoinError, JoinOptions, join};
pub use message::{Candidate, MOST_CANDIDATES, Question, position_of_csa};
pub use options::{ServeError, ServeOptions};
pub use serve::serve;
