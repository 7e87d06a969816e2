//! The commands as functions, for a program that holds tables in memory and wants values instead of text, such as the
//! Python package. Options have the names, defaults and messages of the command line.
//!
//! A call runs on one thread, which keeps what the command would have printed.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use anyhow::bail;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use serde_json::Value;

use super::engines::Engines;
use super::load::{load, load_part};
use super::{Cli, Command, diagnose, messages};
use crate::calibrate::mates::Threshold;
use crate::calibrate::{CalibrateOptions, EngineForecasts, EngineResult, mark_mates};
use crate::language::Language;
use crate::report::json;
use crate::sample::{Progress, SampleTable};
use crate::table::Source;

/// What a command gets besides its arguments.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Tables in memory, with their names; they are read after the files.
    pub tables: Vec<(String, Arc<dyn Source>)>,
    /// Counts what is read, and can stop the reading.
    pub progress: Arc<Progress>,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct CallError {
    /// What the command line prints after `error: `.
    pub text: String,
    /// The kind of the input or output error, if it is one.
    pub io: Option<io::ErrorKind>,
}

impl From<anyhow::Error> for CallError {
    fn from(error: anyhow::Error) -> Self {
        let io = error.chain().find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
        Self { text: messages::of_error(&error, Language::English), io }
    }
}

impl From<clap::Error> for CallError {
    fn from(error: clap::Error) -> Self {
        let text = messages::of_arguments(error, Language::English).to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        // the usage that follows is that of the command line
        let text = text.split("\n\nUsage:").next().unwrap_or(text).split("\n\nFor more").next().unwrap_or(text);
        Self { text: text.trim_end().to_owned(), io: None }
    }
}

/// A value with what the command line would have printed about the reading.
#[derive(Debug, Clone)]
pub struct Called<T> {
    /// The value.
    pub value: T,
    /// The document of `--json`.
    pub document: Value,
    /// Warnings, as the command line prints them after `warning: `.
    pub warnings: Vec<String>,
}

/// What the command of this thread was given and printed.
#[derive(Default)]
struct Running {
    given: Given,
    printed: String,
    messages: Vec<(&'static str, String)>,
}

impl Running {
    /// The error that the command reported without failing.
    fn error(&self) -> Option<String> {
        self.messages.iter().find(|(label, _)| *label == "error").map(|(_, text)| text.clone())
    }
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Keeps what a command prints, if it was called; else returns `false`.
pub(super) fn keep_text(text: &str) -> bool {
    RUNNING.with_borrow_mut(|running| running.as_mut().map(|running| running.printed += text).is_some())
}

/// Keeps a message, if the command was called; else returns `false`.
pub(super) fn keep_message(label: &'static str, text: &str) -> bool {
    RUNNING.with_borrow_mut(|running| {
        running.as_mut().map(|running| running.messages.push((label, text.to_owned()))).is_some()
    })
}

/// What the command was given, if it was called.
pub(super) fn given() -> Option<Given> {
    RUNNING.with_borrow(|running| running.as_ref().map(|running| running.given.clone()))
}

/// Runs `call` with what is given. Returns its result, what it printed, and its messages.
fn running<T>(given: Given, call: impl FnOnce() -> T) -> (T, Running) {
    RUNNING.set(Some(Running { given, ..Running::default() }));
    let result = call();
    (result, RUNNING.take().unwrap_or_default())
}

fn parse(command: &str, arguments: &[OsString], given: &Given) -> Result<Command, CallError> {
    let mut cli = Cli::command();
    if !given.tables.is_empty() {
        cli = cli.mut_subcommand(command, |c| c.mut_arg("paths", |paths| paths.required(false)));
    }
    let program = ["evalcurve", command].map(OsString::from);
    let matches = cli.try_get_matches_from(program.iter().chain(arguments))?;
    Ok(Cli::from_arg_matches(&matches)?.command)
}

fn wrong(command: &str) -> CallError {
    clap::Error::raw(ErrorKind::InvalidSubcommand, format!("'{command}' is not a command for this call")).into()
}

fn done<T>((result, running): (anyhow::Result<(T, Value)>, Running)) -> Result<Called<T>, CallError> {
    let (value, document) = result?;
    let warnings = running.messages.into_iter().filter(|(label, _)| *label == "warning").map(|(_, text)| text);
    Ok(Called { value, document, warnings: warnings.collect() })
}

/// The document that a command prints with `--json`, which is added to the arguments.
///
/// # Errors
/// [`CallError`] where the command line would have printed an error.
pub fn document(command: &str, arguments: &[OsString], given: Given) -> Result<Value, CallError> {
    let json = OsString::from("--json");
    let arguments: Vec<OsString> = std::iter::once(json).chain(arguments.iter().cloned()).collect();
    let command = parse(command, &arguments, &given)?;
    let (result, running) = running(given, || command.run());
    result?;
    match (serde_json::from_str(&running.printed), running.error()) {
        (Ok(document), _) => Ok(document),
        (Err(_), Some(text)) => Err(CallError { text, io: None }),
        (Err(error), None) => Err(anyhow::Error::from(error).into()),
    }
}

/// The engines of records and tables, calibrated with the options of `evalcurve fit`.
#[derive(Debug)]
pub struct Calibrated {
    /// The engines, by name.
    pub results: Vec<EngineResult>,
    /// How they were calibrated.
    pub options: CalibrateOptions,
}

/// Calibrates as `evalcurve fit` does.
///
/// # Errors
/// [`CallError`] where the command line would have printed an error.
pub fn calibrate(arguments: &[OsString], given: Given) -> Result<Called<Calibrated>, CallError> {
    let Command::Fit(args) = parse("fit", arguments, &given)? else { return Err(wrong("fit")) };
    done(running(given, || {
        let input = args.input();
        let loaded = load(input, true)?;
        loaded.warn(false);
        let engines = Engines::chosen(loaded, input.calibrate_options(), input);
        let document = engines.document(&[]);
        Ok((Calibrated { results: engines.results, options: engines.options }, document))
    }))
}

/// The out-of-sample forecasts of the chosen model, with the samples that they are of.
///
/// # Errors
/// [`CallError`] where the command line would have printed an error.
pub fn forecasts(
    arguments: &[OsString],
    given: Given,
) -> Result<Called<(SampleTable, Vec<EngineForecasts>)>, CallError> {
    let Command::Fit(args) = parse("fit", arguments, &given)? else { return Err(wrong("fit")) };
    done(running(given, || {
        let input = args.input();
        let mut loaded = load(input, true)?;
        loaded.warn(false);
        let mut options = input.calibrate_options();
        let table = &mut loaded.collected.table;
        mark_mates(table, &options.thresholds);
        input.fit.choose(table, &mut options);
        let found = crate::calibrate::forecasts(table, &options);
        Ok(((loaded.collected.table, found), Value::Null))
    }))
}

/// The sample table of records and tables, as `evalcurve sample` writes it.
///
/// # Errors
/// [`CallError`] where the command line would have printed an error.
pub fn sample(arguments: &[OsString], given: Given) -> Result<Called<SampleTable>, CallError> {
    let Command::Fit(args) = parse("fit", arguments, &given)? else { return Err(wrong("fit")) };
    done(running(given, || {
        let input = args.input();
        let mut loaded = load(input, true)?;
        loaded.warn(false);
        mark_mates(&mut loaded.collected.table, &input.fit.thresholds());
        let report = &loaded.collected.report;
        let more = serde_json::json!({ "positions": report.positions });
        let document = json::about_records(report, &loaded.notes, more);
        Ok((loaded.collected.table, document))
    }))
}

/// The sample table of a part of the games: nothing in it depends on the other parts, so that the tables of all parts
/// have the samples of the whole. Ratings are those of the records.
///
/// # Errors
/// [`CallError`] as in [`sample`], and for mate thresholds that are to be found in the samples.
pub fn sample_part(arguments: &[OsString], given: Given) -> Result<Called<SampleTable>, CallError> {
    let Command::Fit(args) = parse("fit", arguments, &given)? else { return Err(wrong("fit")) };
    done(running(given, || {
        let input = args.input();
        let thresholds = input.fit.thresholds();
        if input.fit.mate_threshold.iter().any(|(_, threshold)| *threshold == Threshold::Auto) {
            bail!("the threshold auto is found in the samples of all parts; give it where all are read");
        }
        let mut loaded = load_part(input, true)?;
        loaded.warn(false);
        mark_mates(&mut loaded.collected.table, &thresholds);
        let document = json::about_records(&loaded.collected.report, &loaded.notes, Value::Null);
        Ok((loaded.collected.table, document))
    }))
}

/// The document of `evalcurve diagnose`, without its files.
///
/// # Errors
/// [`CallError`] where the command line would have printed an error.
pub fn diagnose(arguments: &[OsString], given: Given) -> Result<Called<()>, CallError> {
    let Command::Diagnose(args) = parse("diagnose", arguments, &given)? else { return Err(wrong("diagnose")) };
    done(running(given, || {
        let found = diagnose::examine(&args)?;
        found.loaded.warn(false);
        Ok(((), found.document()))
    }))
}
