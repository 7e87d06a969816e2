//! The commands on the command line.

#[cfg(feature = "program")]
mod flat;
#[cfg(feature = "program")]
pub mod serve;
pub mod simulate;
#[cfg(feature = "program")]
pub mod theory;

#[cfg(feature = "program")]
pub use self::flat::FLAT;
