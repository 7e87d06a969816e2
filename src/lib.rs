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
//! let rate = gikou.win_rate(gikou.classify(300.0)); // at or above the file's mate threshold, the score is a mate
//! println!("{}: +300 wins {:.1}% of the time", gikou.engine.name, 100.0 * rate);
//! assert_eq!(gikou.win_rate(Score::Mate { wins: true, plies: Some(5) }), 1.0);
//! # assert_eq!(format!("{rate:.4}"), "0.6857");
//! # Ok::<(), evalcurve::calibration::CalibrationError>(())
//! ```
//!
//! Every score and every result is in the view of the side to move, which is the engine that gave the score.
//!
//! # Modules
//!
//! | module | what it holds | crate, feature |
//! |---|---|---|
//! | [`types`], [`logistic`] | colours and outcomes; the logistic function and the logit | `evalcurve-calibration` |
//! | [`mod@text`], [`whole_file`] | safe text; whole files | `evalcurve-core` |
//! | [`language`] | texts in English and Japanese | `evalcurve-core` |
//! | [`random`], [`normal`] | random numbers from keys; the normal distribution | `evalcurve-core` |
//! | [`curve`] | evaluation curves as integer counts (Takeuchi et al., AAAI 2007) | `evalcurve-core` |
//! | [`standardize`] | standardised scores, and how far they are from a common scale | `evalcurve-core` |
//! | [`rating`] | Bradley-Terry ratings for records without ratings | `evalcurve-core` |
//! | [`fit`] | least squares, maximum likelihood, other models, clustered covariance, bootstrap | `evalcurve-core` |
//! | [`validate`] | folds over games, out-of-sample forecasts, proper scores, model selection | `evalcurve-core` |
//! | [`calibration`] | the calibration file, schema and win rates | `evalcurve-calibration`, `evalcurve-core` |
//! | [`rule`] | every rule by which a council decides: votes in, one move out | `evalcurve-core` |
//! | `record` | finds and reads game records in files, folders and archives | `evalcurve-records`, `records` |
//! | `sample` | draws one position per window and side of every game; names, filters | `evalcurve-records`, `records` |
//! | `match_stats` | Elo, intervals, tests between systems, SPRT, games needed | `evalcurve-records`, `records` |
//! | `calibrate` | the whole path from the sample table to one calibration per engine | `records` |
//! | `diagnose` | is a calibration right, do engines share a scale, why do the two fits differ | `records` |
//! | `run` | every command as a struct of options with `run(input, progress)` | `records` |
//! | `report` | text, JSON and HTML reports | `records`; HTML and figures: `plot` |
//! | `table` | the sample table as columns, and as Parquet and CSV | `records`; files: `table` |
//! | `analyse` | engines score positions of other people's games | `evalcurve-analyse`, `analyse` |
//! | `council`, `usi` | an engine made of several engines; the USI and UCI protocols | `evalcurve-council`, `council` |
//! | `play` | engines and councils play against each other: shogi, 5x5 shogi, chess | `evalcurve-play`, `play` |
//! | `theory` | exact plurality, simulated councils, estimates from votes, play-outs | `evalcurve-theory`, `theory` |
//! | `plot` | figures as SVG and PNG | `evalcurve-figures`, `plot` |
//! | `cli` | the program: options from arguments, outcomes to the terminal | `cli` |
//!
//! The features `cli`, which turns on all others but `table`, and `table` are the default. A program that only reads
//! calibrations or fits its own samples needs none: `default-features = false` leaves `evalcurve-core`.

pub use evalcurve_core::{
    calibration, curve, display_text, fit, key, language, logistic, normal, random, rating, rule, say, standardize,
    text, types, validate, whole_file,
};

#[cfg(feature = "records")]
pub(crate) use evalcurve_records::csv_text;
#[cfg(feature = "records")]
pub use evalcurve_records::{match_stats, record, sample};

#[cfg(feature = "analyse")]
pub mod analyse;
#[cfg(feature = "records")]
pub mod calibrate;
#[cfg(feature = "records")]
pub mod diagnose;
#[cfg(feature = "records")]
pub mod report;
#[cfg(feature = "records")]
pub mod run;
#[cfg(feature = "records")]
pub mod table;

#[cfg(feature = "council")]
#[doc(inline)]
pub use evalcurve_council as council;
#[cfg(feature = "council")]
pub use evalcurve_council::usi;

#[cfg(feature = "play")]
#[doc(inline)]
pub use evalcurve_play as play;

#[cfg(feature = "theory")]
#[doc(inline)]
pub use evalcurve_theory as theory;

#[cfg(feature = "plot")]
#[doc(inline)]
pub use evalcurve_figures as plot;

#[cfg(feature = "cli")]
pub mod cli;
