//! Fits win rates to the scores of engines and their results, scores the fits out of sample, and writes calibration
//! files.
//!
//! ```
//! use evalcurve_calibration::types::Outcome::{Loss, Win};
//! use evalcurve_calibration::{Calibration, Situation};
//! use evalcurve_fit::fit::{FitOptions, Method, Observation, fit};
//!
//! // an engine that is stronger than its opponents: level scores win 60 games of 100, +300 wins 81, -300 wins 34
//! let (scores, wins) = ([-300, 0, 300], [34, 60, 81]);
//! let outcome = |i: u64| if i / 3 % 100 < wins[i as usize % 3] { Win } else { Loss };
//! let row = |i: u64| Observation { game: i, score_cp: scores[i as usize % 3], outcome: outcome(i) };
//! let rows: Vec<Observation> = (0..3000).map(row).collect(); // samples of one game share its number
//! let method = Method::MaximumLikelihood;
//! let found = fit(method, &rows, &FitOptions::default())?;
//! println!("1/w1 {:.0} {:?} centipawns", 1.0 / found.sigmoid.w1, found.interval_ponanza());
//! let mine = Calibration::from_models("mine", [(method.into(), found.into())], method.into()).unwrap();
//! println!("+300 between equals {:?}", mine.estimate(300)); // .74: what may be compared with other engines
//! println!("+300 in these games {:?}", mine.at(Situation::new()).in_the_field().estimate(300)); // .81
//! # assert_eq!(format!("{:.2}", mine.estimate(300).value), "0.74");
//! # assert_eq!(format!("{:.2}", mine.at(Situation::new()).in_the_field().estimate(300).value), "0.81");
//! # let folder = std::env::temp_dir().join(format!("evalcurve-first-page-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let file = folder.join("mine.json");
//! # /*
//! let file = "mine.json";
//! # */
//! evalcurve_fit::calibration::write(&mine, file)?;
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`fit::fit`] fits one sigmoid, [`fit::fit_engines`] every model of the list, with the ply, the material and the
//! players of a [`fit::Situation`]. [`validate`] scores them on games that they were not fitted to, also models of your
//! own ([`CrossValidation::add`](validate::CrossValidation::add)).
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

/// The text of a file of the repository; `None` in a package, which does not hold it.
#[cfg(test)]
pub(crate) fn of_repository(path: &str) -> Option<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/oracle").is_dir().then(|| std::fs::read_to_string(root.join(path)).unwrap())
}
