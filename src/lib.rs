//! Turns the scores of shogi and chess engines into win rates that can be trusted and compared.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod random;
pub mod types;
pub mod whole_file;

pub mod record;

pub mod sample;

pub mod curve;
pub mod rating;
pub mod standardize;

pub mod fit;

pub mod calibrate;
pub mod calibration;

#[cfg(feature = "plot")]
pub mod plot;

#[cfg(feature = "plot")]
pub mod report;

#[cfg(feature = "cli")]
pub mod cli;
