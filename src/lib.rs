//! Turns the scores of shogi and chess engines into win rates that can be trusted and compared.
//!
//! A score of +300 means another win rate for every engine. evalcurve reads game records, draws samples of score and
//! result, fits win rates to those of each engine, and keeps the result in a calibration file. A program that has such
//! a file turns scores into win rates:
//!
//! ```
//! use evalcurve::calibration::Calibration;
//!
//! let gikou = Calibration::read("data/published/gikou.json")?;
//! let rate = gikou.estimate(300); // at or above the file's mate threshold, the score is a mate
//! println!("{}: +300 wins {:.1}% of the time", gikou.engine.name, 100.0 * rate.value);
//! # assert_eq!(format!("{rate:.4}"), "0.6857");
//! # Ok::<(), evalcurve::calibration::CalibrationError>(())
//! ```
//!
//! Every score and every result is in the view of the side to move, which is the engine that gave the score.
//!
//! This package is the program: a list of uses, [`PROGRAM`], each a crate that can be left out (`--no-default-features
//! --features calibrate,council`). What the uses share are crates of their own, which other programs can take alone;
//! they are here under shorter names.
//!
//! | module | what it holds | crate |
//! |---|---|---|
//! | [`calibration`] | the calibration file and its win rates | `evalcurve-calibration` |
//! | [`language`], [`mod@text`], [`whole_file`], [`random`] | messages, texts, files, numbers | `evalcurve-words` |
//! | [`curve`], [`fit`], [`validate`], [`standardize`], [`rating`] | curves, fits, scores, ratings | `evalcurve-fit` |
//! | [`rule`] | every rule by which a council decides: votes in, one move out | `evalcurve-rules` |
//! | [`games`], [`record`], [`sample`] | reads game records; draws positions from them | `evalcurve-records` |
//! | [`table`] | the sample table as columns, CSV and Parquet | `evalcurve-tables` |
//! | [`plot`] | figures as SVG and PNG | `evalcurve-figures` |
//! | [`engine`] | one engine: its process, USI and UCI, boards, clocks, limits | `evalcurve-engine` |
//! | [`calibrate`], [`judge`], [`report`] | from samples to calibrations and reports | `evalcurve-app` |
//! | [`run`] | the commands as structs of options with `run(input, progress)` | `evalcurve-app`, the uses |

mod beside;
#[cfg(feature = "python")]
pub mod keywords;

pub use evalcurve_app::{calibrate, cli, judge, report};
pub use evalcurve_calibration::{logistic, types};
pub use evalcurve_engine as engine;
pub use evalcurve_figures as plot;
pub use evalcurve_fit::{calibration, curve, fit, normal, rating, standardize, validate};
pub use evalcurve_records::{games, games_of, record, sample};
pub use evalcurve_rules as rule;
pub use evalcurve_tables as table;
pub use evalcurve_words::{language, random, say, text, whole_file};

/// Engines, and the engine that is made of several.
#[cfg(feature = "council")]
#[doc(inline)]
pub use evalcurve_council as council;
#[cfg(feature = "diagnose")]
#[doc(inline)]
pub use evalcurve_diagnose as diagnose;
#[cfg(feature = "match")]
#[doc(inline)]
pub use evalcurve_match as play;

/// The commands as values: options in, results out. A host fills a struct, runs it, and shows the outcome in its own
/// way.
///
/// ```no_run
/// use evalcurve::run::{Calibrate, Input, Progress};
///
/// let found = Calibrate::default().run(&Input::paths(["games/"]), &Progress::default())?;
/// for calibration in found.value.results.iter().filter_map(|result| result.calibration.as_ref()) {
///     println!("{}: {:?}", calibration.engine.name, calibration.constant());
/// }
/// # Ok::<(), evalcurve::run::Error>(())
/// ```
pub mod run {
    pub use evalcurve_app::{
        Calibrate, Calibrated, DEFAULT_BANDS, Error, FileFormat, Filters, Fitting, Forecasts, Input, InputSource,
        Judge, Judged, Logs, Outcome, Progress, Reading, Sample, Sampling, on_threads, with_flags, with_options,
    };
    #[cfg(feature = "calibrate")]
    pub use evalcurve_calibrate::{Constant, Curve, Curves, EngineConstant};
    #[cfg(feature = "council")]
    pub use evalcurve_council::{Replay, replay_document};
    #[cfg(feature = "diagnose")]
    pub use evalcurve_diagnose::{Diagnose, Diagnosed};
    #[cfg(feature = "judge")]
    pub use evalcurve_judge::{Compare, Evaluate, JudgeForecasts, JudgedModel, Thresholds};
    #[cfg(feature = "match")]
    pub use evalcurve_match::MatchStats;
    #[cfg(feature = "train")]
    pub use evalcurve_train::{Rescale, Rescaled};
    #[cfg(feature = "use")]
    pub use evalcurve_use::{Converter, Export, Target, Winrate, export, seconds_of};
}

/// The program `evalcurve`: its uses, in the order of the help, and what one asks of another.
pub const PROGRAM: cli::Program = cli::Program {
    name: "evalcurve",
    about: evalcurve_words::key!(
        "Turns the scores of shogi and chess engines into win rates that can be trusted and compared"
    ),
    after_help: "\
Examples:
  evalcurve calibrate floodgate-2016.tar.zst --min-samples 300
      one calibration file per engine, plots and a table, in evalcurve-out/
  evalcurve diagnose records/
      whether calibrations are precise and accurate, and engines share a scale: one HTML page
  evalcurve council shogi.toml
      an engine for a GUI, made of several engines that vote with calibrated win rates

Exit codes: 0 success; 1 nothing was calibrated or rescaled, --strict found a problem, compare found a changed scale, \
council --check or --prepare found an error in a member, no member voted with --positions, or a replay differs or has \
no usable line; 2 errors in usage, input or output; 3 compare, thresholds or council has too few games to tell.",
    flats: &[
        #[cfg(feature = "calibrate")]
        evalcurve_calibrate::cli::FLAT,
        #[cfg(feature = "analyse")]
        evalcurve_analyse::cli::FLAT,
        #[cfg(feature = "diagnose")]
        evalcurve_diagnose::cli::FLAT,
        #[cfg(feature = "judge")]
        evalcurve_judge::cli::FLAT,
        #[cfg(feature = "use")]
        evalcurve_use::cli::FLAT,
        #[cfg(feature = "train")]
        evalcurve_train::cli::FLAT,
        #[cfg(feature = "council")]
        evalcurve_council::cli::FLAT,
        #[cfg(feature = "match")]
        evalcurve_match::cli::FLAT,
    ],
    services: services(),
    assumed: Some(beside::assumed),
};

/// What one use asks of another, as far as this program has it.
const fn services() -> cli::Services {
    #[allow(unused_mut)]
    let mut services = cli::Services::NONE;
    #[cfg(feature = "analyse")]
    {
        services.score_records = evalcurve_analyse::cli::analyse::score_records;
        services.score_members = evalcurve_analyse::cli::analyse::score_members;
    }
    #[cfg(feature = "calibrate")]
    {
        services.calibrate = evalcurve_calibrate::cli::calibrate::run_for;
    }
    #[cfg(feature = "council")]
    {
        services.read_council = evalcurve_council::Config::read_as_player;
    }
    #[cfg(feature = "match")]
    {
        services.play_members = evalcurve_match::cli::play::play_members;
        services.does_it_pay = evalcurve_match::cli::pays::does_it_pay;
        services.judged_as_games = evalcurve_match::cli::judged::judged_as_games;
        services.read_positions = evalcurve_match::cli::play::read_positions;
    }
    services
}
