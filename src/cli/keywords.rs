//! Commands from keyword arguments, for the Python package: the words are parsed as those of the command line, so that
//! names, defaults and messages of options are the same.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};
use serde_json::Value;

use super::{Cli, Command, messages};
use crate::language::Language;
use crate::run::{Calibrate, Compare, Curve, Diagnose, Error, Evaluate, Replay, Rescale, Thresholds};

fn parse(command: &str, words: &[OsString]) -> Result<Command, Error> {
    let program = ["evalcurve", command].map(OsString::from);
    // records and tables are no keywords
    let cli = Cli::command().mut_subcommand(command, |c| {
        let lists = ["paths", "files"];
        let list = lists.into_iter().find(|list| c.get_arguments().any(|argument| argument.get_id() == list));
        if let Some(list) = list { c.mut_arg(list, |paths| paths.required(false)) } else { c }
    });
    let parsed = cli.try_get_matches_from(program.iter().chain(words)).and_then(|m| Cli::from_arg_matches(&m));
    parsed.map(|cli| cli.command).map_err(|error| {
        let text = messages::of_arguments(error, Language::English).to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        // the usage that follows is that of the command line
        let text = text.split("\n\nUsage:").next().unwrap_or(text).split("\n\nFor more").next().unwrap_or(text);
        Error::Said(text.trim_end().to_owned().into())
    })
}

fn wrong(command: &str) -> Error {
    Error::Said(format!("'{command}' is not a command with keywords").into())
}

/// The command that calibrates.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn calibrate(words: &[OsString]) -> Result<Calibrate, Error> {
    let Command::Fit(args) = parse("fit", words)? else { return Err(wrong("fit")) };
    Ok(args.command())
}

/// The command that diagnoses.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn diagnose(words: &[OsString]) -> Result<Diagnose, Error> {
    let Command::Diagnose(args) = parse("diagnose", words)? else { return Err(wrong("diagnose")) };
    Ok(args.command())
}

/// The command that judges calibrations, without the calibrations.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn evaluate(words: &[OsString]) -> Result<Evaluate, Error> {
    let Command::Evaluate(args) = parse("evaluate", words)? else { return Err(wrong("evaluate")) };
    Ok(args.options())
}

/// The command that counts evaluation curves.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn curve(words: &[OsString]) -> Result<Curve, Error> {
    let Command::Curve(args) = parse("curve", words)? else { return Err(wrong("curve")) };
    Ok(args.command())
}

/// The command that compares two calibrations.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn compare(words: &[OsString]) -> Result<Compare, Error> {
    // two files are needed on the command line
    let words: Vec<OsString> = words.iter().cloned().chain(["--", "old", "new"].map(OsString::from)).collect();
    let Command::Compare(args) = parse("compare", &words)? else { return Err(wrong("compare")) };
    Ok(args.command())
}

/// The command that finds scores at which to adjudicate.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn thresholds(words: &[OsString]) -> Result<Thresholds, Error> {
    let Command::Thresholds(args) = parse("thresholds", words)? else { return Err(wrong("thresholds")) };
    Ok(args.command())
}

/// The command that puts training data on another scale.
///
/// # Errors
/// [`Error::Said`] for a wrong option, or a calibration that cannot be read.
pub fn rescale(words: &[OsString]) -> Result<Rescale, Error> {
    let Command::Rescale(args) = parse("rescale", words)? else { return Err(wrong("rescale")) };
    args.command().map_err(|error| Error::Said(messages::of_error(&error)))
}

/// The command that decides vote logs again, without calibrations.
///
/// # Errors
/// [`Error::Said`] for a wrong option.
pub fn replay(words: &[OsString]) -> Result<Replay, Error> {
    let Command::Replay(args) = parse("replay", words)? else { return Err(wrong("replay")) };
    Ok(Replay { options: args.options(), weights: args.weights()?, calibrations: Vec::new() })
}

/// What `match-stats` or `simulate` says of these words.
///
/// # Errors
/// [`Error`] where the command line would have printed an error.
pub fn document(command: &str, words: &[OsString]) -> Result<Value, Error> {
    match parse(command, words)? {
        Command::MatchStats(args) => args.document(),
        Command::Simulate(args) => args.document().map_err(|error| Error::Said(messages::of_error(&error))),
        _ => Err(wrong(command)),
    }
}
