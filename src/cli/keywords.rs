//! Commands from keyword arguments, for the Python package: the words are parsed as those of the command line, so that
//! names, defaults and messages of options are the same.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};
use serde_json::Value;

use super::{Cli, Command, messages};
use crate::language::Language;
use crate::run::{Calibrate, Diagnose, Error, Evaluate};

fn parse(command: &str, words: &[OsString]) -> Result<Command, Error> {
    let program = ["evalcurve", command].map(OsString::from);
    // records and tables are no keywords
    let cli = Cli::command().mut_subcommand(command, |c| {
        let has_paths = c.get_arguments().any(|argument| argument.get_id() == "paths");
        if has_paths { c.mut_arg("paths", |paths| paths.required(false)) } else { c }
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
