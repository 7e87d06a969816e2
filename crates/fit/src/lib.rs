//! Fits win rates to the scores of engines and their results, scores the fits out of sample, and writes calibration
//! files.
//!
//! ```
//! use evalcurve_calibration::Calibration;
//! use evalcurve_fit::fit::{FitOptions, Method, Observation, fit};
//! use evalcurve_calibration::types::Outcome::{Loss, Win};
//!
//! // at +300 the engine wins two games of three, at -300 one
//! let row = |i: i32| (if i % 2 == 0 { 300 } else { -300 }, if i % 6 < 2 || i % 6 == 3 { Loss } else { Win });
//! let rows = (0..600).map(|i| Observation { game: i as u64, score_cp: row(i).0, outcome: row(i).1 });
//! let method = Method::MaximumLikelihood;
//! let found = fit(method, &rows.collect::<Vec<_>>(), &FitOptions::default())?;
//! let calibration = Calibration::from_models("example", [(method.into(), found.into())], method.into()).unwrap();
//! assert_eq!(format!("{:.2}", calibration.win_rate(calibration.classify(300.0))), "0.67");
//! # Ok::<(), evalcurve_fit::fit::FitError>(())
//! ```
//!
//! It reads no records, archives or tables and draws no figures. A program that only reads calibration files needs
//! `evalcurve-calibration` alone.

pub mod calibration;
pub mod curve;
pub mod fit;
pub mod normal;
pub mod parallel;
pub mod rating;
pub mod standardize;
pub mod validate;
mod vector;
