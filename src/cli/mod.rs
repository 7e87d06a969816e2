//! The command line: each subcommand parses its arguments, calls the library and prints.
//!
//! To add a subcommand, write a file with its arguments and a function that runs it, declare the module, and add one
//! entry to `commands!`.
//!
//! Exit codes: 0 for success; 1 if nothing was calibrated, `--strict` found a problem, `compare` found a changed scale
//! or a replay differs; 2 for errors in usage, input or output.

mod calibrate;
mod compare;
mod config;
mod convert;
mod council;
mod curve;
mod diagnose;
mod documents;
mod engines;
mod files;
mod fit;
mod inspect;
mod load;
mod match_stats;
mod options;
mod plot;
mod replay;
mod sample;
mod serve;
mod simulate;
mod terminal;
mod theory;
mod theory_estimate;
mod theory_playout;
mod theory_plurality;

use std::error::Error;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::sample::collect::CollectError;

/// Turns the scores of shogi and chess engines into win rates that can be trusted and compared.
#[derive(Debug, Parser)]
#[command(name = "evalcurve", version, max_term_width = 110, args_override_self = true)]
#[command(after_help = "\
Examples:
  evalcurve calibrate floodgate-2016.tar.zst --min-samples 300
      one calibration file per engine, plots and a table, in evalcurve-out/
  evalcurve winrate evalcurve-out/Gikou.json 300 -120
      win rates of two scores
  evalcurve diagnose records/
      how precise and how accurate the calibrations are, and whether the engines share a scale: one HTML page
  evalcurve council shogi.toml
      an engine for a GUI, made of several engines that vote with calibrated win rates
  evalcurve simulate --noise 1,1.5,1.5 --candidates 3
      which rule such a council should use

Exit codes: 0 success; 1 nothing was calibrated, --strict found a problem, compare found a changed scale, or a
replay differs; 2 errors in usage, input or output.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// Declares the subcommands, in the order of the help, each with its arguments and the function that runs it.
macro_rules! commands {
    ($($(#[$attribute:meta])* $name:ident($args:ty) => $run:expr,)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$attribute])* $name($args),)*
        }

        impl Command {
            fn run(&self) -> anyhow::Result<Done> {
                match self {
                    $(Self::$name(args) => {
                        let run: fn(&$args) -> anyhow::Result<Done> = $run;
                        run(args)
                    })*
                }
            }
        }
    };
}

commands! {
    /// Calibrate every engine in game records: curves, fits, calibration files, plots
    Calibrate(calibrate::Args) => calibrate::run,
    /// Show what records hold without writing anything: engines, signs, mate thresholds, skipped games
    Inspect(inspect::Args) => inspect::run,
    /// Draw the sample table from records and write it as Parquet or CSV
    Sample(sample::Args) => sample::run,
    /// Compute evaluation curves, as CSV or JSON
    Curve(curve::Args) => curve::run,
    /// Fit sigmoids by least squares and maximum likelihood, without writing files
    Fit(fit::Args) => fit::run,
    /// Diagnose calibrations: how precise, how accurate, do the engines share a scale; one HTML page and JSON
    Diagnose(diagnose::Args) => diagnose::run,
    /// Draw plots from calibration files, sample tables or records
    Plot(plot::Args) => plot::run,
    /// Check whether the scale of a new version's scores changed, for an engine's CI
    Compare(compare::Args) => compare::run,
    /// Turn scores into win rates with a calibration file, or win rates into scores
    Winrate(convert::WinrateArgs) => convert::winrate,
    /// Print the constants of a calibration in the form that another program reads
    Export(convert::ExportArgs) => convert::export,
    /// Run several engines as one engine for a GUI (USI or UCI)
    Council(council::Args) => council::run,
    /// Replay the decisions of a vote log: by the logged rule, by other rules, with each member left out
    Replay(replay::Args) => replay::run,
    /// Serve the council protocol of Hanawa & Ito 2009: a program that logs in becomes a USI engine
    Serve(serve::ServeArgs) => serve::serve,
    /// Log a USI engine in to a server of that protocol
    Join(serve::JoinArgs) => serve::join,
    /// Analyse match results: Elo, intervals, tests between systems, SPRT, games needed
    MatchStats(match_stats::Args) => match_stats::run,
    /// Simulate councils: which rule finds the best move, for engines of this strength and similarity?
    Simulate(simulate::Args) => simulate::run,
    /// Theory of councils: exact probabilities of a vote, bounds, estimates from votes, play-outs
    Theory(theory::Args) => theory::run,
    /// Print the JSON Schema of the calibration file
    #[command(after_help = "\
Examples:
  evalcurve schema > calibration.schema.json")]
    Schema(SchemaArgs) => |_| terminal::print(&crate::calibration::schema()).map(|()| Done::Yes),
    /// Print a completion script for a shell
    Completions(documents::CompletionsArgs) => |args| documents::completions(args, Cli::command()),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(documents::ManArgs) => |args| documents::man(args, Cli::command()),
}

/// `evalcurve schema` has no arguments.
#[derive(Debug, clap::Args)]
struct SchemaArgs {}

/// How a command that did not fail ended.
enum Done {
    /// Exit code 0.
    Yes,
    /// Exit code 1: nothing was calibrated, or the compared inputs differ.
    Nothing,
}

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if let Some(council) = council::beside_program(&arguments) {
        arguments.extend(council);
    }
    let arguments = match config::expand(arguments, &Cli::command()) {
        Ok(arguments) => arguments,
        Err(error) => return fail(&error, 2),
    };
    let cli = match Cli::command().try_get_matches_from(arguments).and_then(|m| Cli::from_arg_matches(&m)) {
        Ok(cli) => cli,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            // clap reports help and version as errors, too; a closed pipe is not an error
            let _ = with_expected_number(error).print();
            return ExitCode::from(code);
        }
    };
    // a council, `serve` and `join` have engines to end, and handle signals themselves
    #[cfg(unix)]
    if !matches!(cli.command, Command::Council(_) | Command::Serve(_) | Command::Join(_)) {
        let _ = crate::usi::before_signals_end(crate::whole_file::remove_temporary_files);
    }
    match cli.command.run() {
        Ok(Done::Yes) => ExitCode::SUCCESS,
        Ok(Done::Nothing) => ExitCode::from(1),
        Err(error) => {
            let strict = error.downcast_ref::<CollectError>().is_some_and(|e| matches!(e, CollectError::Strict(_)));
            fail(&error, if strict { 1 } else { 2 })
        }
    }
}

/// Puts what is expected into an error about a number, where Rust says "invalid digit found in string".
fn with_expected_number(error: clap::Error) -> clap::Error {
    let source = error.source();
    let number = source.and_then(|s| s.downcast_ref::<ParseIntError>()).map(|e| match e.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "the number is too large",
        _ => "expected a whole number",
    });
    let expected = number.or(source.and_then(|s| s.downcast_ref::<ParseFloatError>()).map(|_| "expected a number"));
    let context = |kind| error.get(kind).map(ToString::to_string);
    match (expected, context(ContextKind::InvalidValue), context(ContextKind::InvalidArg)) {
        (Some(expected), Some(value), Some(option)) => {
            let help = "For more information, try '--help'.";
            let message = format!("invalid value '{value}' for '{option}': {expected}\n\n{help}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message)
        }
        _ => error,
    }
}

/// Reports an error with its causes; a cause that the message already quotes is not repeated.
fn fail(error: &anyhow::Error, code: u8) -> ExitCode {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    terminal::error(&text);
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
