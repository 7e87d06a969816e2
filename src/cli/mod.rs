//! The command line: one file a subcommand, each parses, calls the library and prints.
//!
//! Exit codes: 0, it went well; 1, nothing was calibrated, `--strict` met a problem, `compare` saw the scale move or a replay
//! differs; 2, usage, input or output.

mod calibrate;
mod compare;
mod config;
mod convert;
mod council;
mod curve;
mod diagnose;
mod documents;
mod engines;
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

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::sample::collect::CollectError;

/// Turns the scores of shogi and chess engines into win rates that can be trusted and compared.
#[derive(Debug, Parser)]
#[command(name = "evalcurve", version, max_term_width = 110, args_override_self = true)]
#[command(after_help = "\
Examples:
  evalcurve calibrate floodgate-2016.tar.zst --min-samples 300
      a calibration file of every engine, plots and a table, in evalcurve-out/
  evalcurve winrate evalcurve-out/Gikou.json 300 -120
      win rates of two scores
  evalcurve diagnose records/
      how sure and how right that is, and whether the engines share a scale: one HTML page
  evalcurve council shogi.toml
      an engine for a GUI, made of several engines that vote by calibrated win rates
  evalcurve simulate --noise 1,1.5,1.5 --candidates 3
      which rule such a council should use

Exit codes: 0 it went well; 1 nothing was calibrated, --strict met a problem, compare saw the scale move, or a
replay differs; 2 usage, input or output.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Calibrate every engine in a pile of game records: curves, fits, calibration files, plots
    Calibrate(calibrate::Args),
    /// Look at records without writing anything: engines, signs, mate thresholds, what would be skipped
    Inspect(inspect::Args),
    /// Draw the sample table from records and write it as Parquet or CSV
    Sample(sample::Args),
    /// Count evaluation curves, as CSV or JSON
    Curve(curve::Args),
    /// Fit sigmoids by least squares and maximum likelihood, without writing files
    Fit(fit::Args),
    /// Ask of a calibration: how sure, is it right, do the engines share a scale; a report as one page and as JSON
    Diagnose(diagnose::Args),
    /// Draw plots from calibration files, sample tables or records
    Plot(plot::Args),
    /// Say whether the scale of a new version's scores moved, for an engine's CI
    Compare(compare::Args),
    /// Turn scores into win rates by a calibration file, or win rates into scores
    Winrate(convert::WinrateArgs),
    /// Give the constants of a calibration in the form that another program takes
    Export(convert::ExportArgs),
    /// Be an engine made of several engines, for a GUI (USI or UCI)
    Council(council::Args),
    /// Decide the votes of a council's log again: by its own rule, by others, with each member left out
    Replay(replay::Args),
    /// Let a program that speaks the council protocol of Hanawa & Ito 2009 log in, and be its engine
    Serve(serve::ServeArgs),
    /// Let a USI engine log in to a server of that protocol
    Join(serve::JoinArgs),
    /// Say what results of matches mean: Elo, intervals, tests between systems, SPRT, games needed
    MatchStats(match_stats::Args),
    /// Simulate councils: which rule finds the best move, with engines this strong and this much alike?
    Simulate(simulate::Args),
    /// Why councils work: exact chances of a vote, bounds, estimates from votes, play-outs
    Theory(theory::Args),
    /// Print the JSON Schema of the calibration file
    #[command(after_help = "\
Examples:
  evalcurve schema > calibration.schema.json")]
    Schema,
    /// Print a completion script for a shell
    Completions(documents::CompletionsArgs),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(documents::ManArgs),
}

/// How a command ended well.
enum Done {
    /// Exit code 0.
    Yes,
    /// Exit code 1: it ran, but nothing was calibrated, or what was compared differs.
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
            // clap prints help and version through the same door; a closed pipe is no error
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = match cli.command {
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Curve(args) => curve::run(&args),
        Command::Fit(args) => fit::run(&args),
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Winrate(args) => convert::winrate(&args),
        Command::Export(args) => convert::export(&args),
        Command::Council(args) => council::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Join(args) => serve::join(&args),
        Command::MatchStats(args) => match_stats::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Theory(args) => theory::run(&args),
        Command::Schema => terminal::print(&crate::calibration::schema()).map(|()| Done::Yes),
        Command::Completions(args) => documents::completions(&args, Cli::command()),
        Command::Man(args) => documents::man(&args, Cli::command()),
    };
    match done {
        Ok(Done::Yes) => ExitCode::SUCCESS,
        Ok(Done::Nothing) => ExitCode::from(1),
        Err(error) => {
            let strict = error.downcast_ref::<CollectError>().is_some_and(|e| matches!(e, CollectError::Strict(_)));
            fail(&error, if strict { 1 } else { 2 })
        }
    }
}

/// Tells an error with its causes; one that its effect already quotes is not told twice.
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
