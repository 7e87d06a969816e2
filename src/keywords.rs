//! Commands from keyword arguments, for the Python package: the words are parsed as those of the command line, so that
//! names, defaults and messages of options are the same.

use std::ffi::OsString;

use evalcurve_app::cli::messages;
use evalcurve_app::cli::options::InputArgs;
use evalcurve_app::{Calibrate, Error};
use evalcurve_calibrate::Curve;
use evalcurve_calibrate::cli::plot::CurveArgs;
use evalcurve_council::Replay;
use evalcurve_council::cli::replay;
use evalcurve_diagnose::Diagnose;
use evalcurve_diagnose::cli::diagnose;
use evalcurve_judge::cli::{compare, evaluate, thresholds};
use evalcurve_judge::{Compare, Evaluate, JudgeForecasts, Thresholds};
use evalcurve_lab::cli::simulate;
use evalcurve_match::cli::match_stats;
use evalcurve_train::Rescale;
use evalcurve_train::cli::rescale;
use evalcurve_words::language::Language;
use serde_json::Value;

/// The arguments of a command.
fn parse<A: clap::Args>(words: &[OsString]) -> Result<A, Error> {
    let mut command = A::augment_args(clap::Command::new("evalcurve").args_override_self(true));
    // records and tables are no keywords
    for list in ["paths", "files"] {
        if command.get_arguments().any(|argument| argument.get_id() == list) {
            command = command.mut_arg(list, |paths| paths.required(false));
        }
    }
    let program = [OsString::from("evalcurve")];
    let parsed = command.try_get_matches_from(program.iter().chain(words)).and_then(|m| A::from_arg_matches(&m));
    parsed.map_err(|error| {
        let text = messages::of_arguments(error, Language::English).to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        // the usage that follows is that of the command line
        let text = text.split("\n\nUsage:").next().unwrap_or(text).split("\n\nFor more").next().unwrap_or(text);
        Error::Said(text.trim_end().to_owned().into())
    })
}

/// The command that calibrates.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn calibrate(words: &[OsString]) -> Result<Calibrate, Error> {
    Ok(parse::<InputArgs>(words)?.calibrate())
}

/// The command that diagnoses.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn diagnose(words: &[OsString]) -> Result<Diagnose, Error> {
    Ok(parse::<diagnose::Args>(words)?.command())
}

/// The command that judges calibrations, without the calibrations.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn evaluate(words: &[OsString]) -> Result<Evaluate, Error> {
    Ok(parse::<evaluate::Args>(words)?.options())
}

/// The command that judges tables of forecasts.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn evaluate_forecasts(words: &[OsString]) -> Result<JudgeForecasts, Error> {
    Ok(parse::<evaluate::Args>(words)?.judge_forecasts())
}

/// The command that counts evaluation curves.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn curve(words: &[OsString]) -> Result<Curve, Error> {
    Ok(parse::<CurveArgs>(words)?.command())
}

/// The command that compares two calibrations.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn compare(words: &[OsString]) -> Result<Compare, Error> {
    // two files are needed on the command line
    let words: Vec<OsString> = words.iter().cloned().chain(["--", "old", "new"].map(OsString::from)).collect();
    Ok(parse::<compare::Args>(&words)?.command())
}

/// The command that finds scores at which to adjudicate.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn thresholds(words: &[OsString]) -> Result<Thresholds, Error> {
    Ok(parse::<thresholds::Args>(words)?.command())
}

/// The command that puts training data on another scale.
///
/// # Errors
/// [`Error::Said`] for a wrong option, or a calibration that cannot be read.
pub fn rescale(words: &[OsString]) -> Result<Rescale, Error> {
    parse::<rescale::Args>(words)?.command().map_err(|error| Error::Said(messages::of_error(&error)))
}

/// The command that decides vote logs again, without calibrations.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn replay(words: &[OsString]) -> Result<Replay, Error> {
    let args = parse::<replay::Args>(words)?;
    Ok(Replay { options: args.options(), weights: args.weights()?, calibrations: Vec::new() })
}

/// What `match-stats` or `simulate` says of these words.
///
/// # Errors
/// [`Error`] where the command line would have printed an error.
pub fn document(command: &str, words: &[OsString]) -> Result<Value, Error> {
    match command {
        "match-stats" => parse::<match_stats::Args>(words)?.document(),
        "simulate" => {
            let args = parse::<simulate::Args>(words)?;
            args.document().map_err(|error| Error::Said(messages::of_error(&error)))
        }
        _ => Err(Error::Said(format!("'{command}' is not a command with keywords").into())),
    }
}
