//! Fits win rates to the scores of engines and their results, scores the fits out of sample, and writes calibration
//! files.
//!
//! ```
//! use evalcurve_calibration::types::Outcome::{Loss, Win};
//! use evalcurve_fit::fit::{Fit, Observation};
//!
//! // an engine that is stronger than its opponents: level scores win 60 games of 100, +300 wins 81, -300 wins 34
//! let (scores, wins) = ([-300, 0, 300], [34, 60, 81]);
//! let outcome = |i: u64| if i / 3 % 100 < wins[i as usize % 3] { Win } else { Loss };
//! let row = |i: u64| Observation { game: i, score_cp: scores[i as usize % 3], outcome: outcome(i) };
//! let fit = Fit::sigmoid((0..3000).map(row))?; // rows of one game share its number
//! println!("1/w1 {:.0} centipawns, w2 {:.2}", fit.constant(), fit.w2()); // 284 [259, 314], -0.40 [-0.48, -0.32]
//! println!("+300 won in these games {:.2}", fit.in_these_games(300)); // 0.81 [0.79, 0.83]
//! println!("+300 wins between equals {:.2}", fit.between_equals(300)); // 0.74 [0.72, 0.76], to compare with others
//! # assert_eq!(format!("{:.2}", fit.in_these_games(300).value), "0.81");
//! # let between_equals = fit.between_equals(300);
//! # assert_eq!(format!("{:.2}", between_equals.value), "0.74");
//! # let folder = std::env::temp_dir().join(format!("evalcurve-first-page-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let file = folder.join("mine.json");
//! # /*
//! let file = "mine.json";
//! # */
//! let mine = fit.into_calibration("mine"); // its win rates are those between equals
//! # assert_eq!(mine.estimate(300), between_equals);
//! # let in_the_field = mine.at(Default::default()).in_the_field().estimate(300);
//! # assert_eq!(format!("{in_the_field:.12}"), format!("{:.12}", fit.in_these_games(300)));
//! evalcurve_fit::calibration::write(&mine, file)?;
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Setup: `cargo add evalcurve-fit evalcurve-calibration`. It has no features.
//!
//! [`Fit::sigmoid`](fit::Fit::sigmoid) fits one sigmoid, [`fit::fit`] with options, [`fit::fit_engines`] every model of
//! the list, with the ply, the material and the players of a [`fit::Situation`]. [`validate`] scores them on games that
//! they were not fitted to, also models of your own ([`CrossValidation::add`](validate::CrossValidation::add)).
//!
//! It reads no records, archives or tables and draws no figures. A program that only reads calibration files needs
//! `evalcurve-calibration` alone.

pub mod calibration;
pub mod curve;
pub mod fit;
pub use evalcurve_calibration::normal;
pub mod parallel;
pub mod rating;
pub mod standardize;
pub mod validate;
pub mod vector;
