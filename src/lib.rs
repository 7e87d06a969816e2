//! Turns the scores of shogi and chess engines into win rates that can be trusted and compared.
//!
//! A score of +300 means another win rate for every engine. This crate reads game records, draws samples of score and
//! result, fits p(x) = 1 / (1 + exp(-w1 x + w2)) to those of each engine, and keeps the result in a calibration file.
//! A program that has such a file turns scores into win rates:
//!
//! ```
//! use evalcurve::calibration::{Calibration, Score};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/published/gikou.json");
//! # /*
//! let path = "data/published/gikou.json";
//! # */
//! let gikou = Calibration::read(path)?;
//! let rate = gikou.win_rate(gikou.classify(300.0)); // at the file's mate threshold and beyond it is a mate
//! println!("{}: +300 wins {:.1}% of the time", gikou.engine.name, 100.0 * rate);
//! assert_eq!(gikou.win_rate(Score::Mate { wins: true, plies: Some(5) }), 1.0);
//! # assert_eq!(format!("{rate:.4}"), "0.6494");
//! # Ok::<(), evalcurve::calibration::CalibrationError>(())
//! ```
//!
//! Every score and every result inside is in the view of the side to move, which is the engine that gave the score.
//!
//! # Rooms, in reading order
//!
//! | module | what it holds |
//! |---|---|
//! | [`types`], [`random`], [`normal`], [`whole_file`] | words of the field; draws that depend on their keys alone; the normal distribution; files written whole or not at all |
//! | [`record`] | finds records in files, folders and archives, and reads them ([`record::csa`], [`record::kif`], [`record::pgn`], [`record::packed`], [`record::usi_log`], [`record::votes`]) |
//! | [`sample`] | one position a window and side of every game: the sample table; names, filters |
//! | [`curve`] | evaluation curves as integer counts (Takeuchi, Kaneko, Yamaguchi and Kawai, AAAI 2007) |
//! | [`standardize`] | standardised scores, and how far a scale is from comparing engines |
//! | [`rating`] | Bradley-Terry ratings for records that hold none |
//! | [`fit`] | least squares and maximum likelihood, covariance clustered by game, bootstrap; the other models |
//! | [`validate`] | folds over games, forecasts out of sample and their proper scores, the choice of a model |
//! | [`calibration`] | the calibration file, its schema, and win rates from it |
//! | [`calibrate`] | all of these in a row, from the sample table to a calibration an engine |
//! | [`match_stats`] | what results of matches say: Elo, intervals, tests between systems, SPRT, games needed |
//! | [`rule`] | every way to decide a vote: votes in, one move out |
//! | [`theory`] | why councils work: exact plurality, simulated councils, estimates from votes, play-outs |
//! | [`usi`] | what USI and UCI say, as types; an engine as a child process |
//! | `council` | an engine made of several engines, and the protocol by which programs log in (feature `council`) |
//! | [`diagnose`] | is a calibration right, do engines share a scale, why do the two fits differ; split curves, drift between versions |
//! | `plot`, `report` | figures as SVG and PNG, tables for people (feature `plot`) |
//! | `cli` | the commands (feature `cli`) |
//!
//! # Features
//!
//! `cli`, `council`, `plot` and `table` are on by default. A program that reads calibrations or fits its own samples needs none
//! of them: `default-features = false` leaves out clap, plotters, polars and the rules of the games.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod normal;
pub mod random;
pub mod types;
pub mod whole_file;

pub mod record;

pub mod sample;

pub mod curve;
pub mod rating;
pub mod standardize;

pub mod fit;

pub mod validate;

pub mod calibrate;
pub mod calibration;

pub mod match_stats;

pub mod rule;

pub mod theory;

pub mod usi;

#[cfg(feature = "council")]
pub mod council;
pub mod diagnose;

#[cfg(feature = "plot")]
pub mod plot;

#[cfg(feature = "plot")]
pub mod report;

#[cfg(feature = "cli")]
pub mod cli;
