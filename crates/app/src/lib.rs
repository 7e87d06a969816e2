//! What the commands share: input and outcome, one set of options, the way from records to calibrations, reports, and
//! the terminal. It knows no command.
//!
//! ```no_run
//! use evalcurve_app::{Calibrate, Input, Progress};
//!
//! let found = Calibrate::default().run(&Input::paths(["games/"]), &Progress::default())?;
//! for calibration in found.value.results.iter().filter_map(|result| result.calibration.as_ref()) {
//!     println!("{}: {:?}", calibration.engine.name, calibration.constant());
//! }
//! # Ok::<(), evalcurve_app::Error>(())
//! ```
//!
//! A command is a struct of options with defaults. Its `run(&input, &progress)` returns an [`Outcome`] of values,
//! counts, problems and notes, or an [`Error`]. A message names an option by its word in backticks, such as
//! `min-samples`; [`with_options`] gives it the spelling of a host.

pub mod calibrate;
mod calibrations;
#[cfg(feature = "cli")]
pub mod cli;
mod error;
mod input;
pub mod judge;
pub mod known;
mod load;
mod logs;
mod options;
mod outcome;
pub mod report;
#[cfg(feature = "cli")]
pub mod shipped;
mod threads;

pub use calibrate::command::{Calibrate, Calibrated, Forecasts, Judge, Judged, Sample};
pub use calibrations::{calibration, calibrations_in, is_calibration, one_file, with_calibrations_of_folders};
pub use error::Error;
pub use evalcurve_records::sample::Progress;
pub use input::{Input, InputSource};
pub use load::{keep_engines, load, load_part, unmatched};
pub use logs::Logs;
pub use options::{
    BinChoice, Binning, ChosenModel, DEFAULT_BANDS, FileFormat, Filters, Fitting, Folds, MatesAs, Reading, Sampling,
    with_flags, with_options,
};
pub use outcome::Outcome;
pub use threads::on_threads;
