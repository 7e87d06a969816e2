//! The command line: each subcommand parses its arguments, calls the library and prints.
//!
//! To add a subcommand, write a file with its arguments and a function that runs it, declare the module, and add one
//! entry to `commands!`.
//!
//! Exit codes: 0 for success; 1 if nothing was calibrated or rescaled, `--strict` found a problem, `compare` found a
//! changed scale, a council has a problem or no vote, or a replay differs; 2 for errors in usage, input or output; 3 if
//! `compare` or `thresholds` has too few games to tell.

mod analyse;
mod analyse_games;
mod beside;
mod calibrate;
mod compare;
mod config;
mod constant;
mod council;
mod council_prepare;
mod curve;
mod diagnose;
mod documents;
mod engines;
mod evaluate;
mod export;
mod files;
mod fit;
mod help;
mod inspect;
pub mod keywords;
mod match_stats;
mod messages;
mod options;
mod play;
mod play_words;
mod plot;
mod progress;
mod proxy;
mod replay;
mod rescale;
mod sample;
mod serve;
mod serve_page;
mod simulate;
mod terminal;
mod theory;
mod theory_estimate;
mod theory_playout;
mod theory_plurality;
mod thresholds;
mod winrate;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use self::options::{language_of, one_of};
use crate::language::Language;
use crate::run::{Error, on_threads};
use crate::sample::collect::CollectError;
use crate::{key, say};

/// Turns the scores of shogi and chess engines into win rates that can be trusted and compared.
#[derive(Debug, Parser)]
#[command(name = "evalcurve", version, max_term_width = 110, args_override_self = true)]
#[command(after_help = "\
Examples:
  evalcurve calibrate floodgate-2016.tar.zst --min-samples 300
      one calibration file per engine, plots and a table, in evalcurve-out/
  evalcurve diagnose records/
      whether calibrations are precise and accurate, and engines share a scale: one HTML page
  evalcurve council shogi.toml
      an engine for a GUI, made of several engines that vote with calibrated win rates

Exit codes: 0 success; 1 nothing was calibrated or rescaled, --strict found a problem, compare found a changed scale, \
council --check or --prepare found an error in a member, no member voted with --positions, or a replay differs or has \
no usable line; 2 errors in usage, input or output; 3 compare or thresholds has too few games to tell.")]
struct Cli {
    /// Language of messages [default: ja in a Japanese locale, else en]
    #[arg(long, global = true, value_parser = one_of::<Language>(), hide_short_help = true)]
    lang: Option<Language>,

    #[command(subcommand)]
    command: Command,
}

/// Declares the subcommands under the headings of the help, each with its arguments and the function that runs it.
macro_rules! commands {
    ($($heading:literal { $($(#[$attribute:meta])* $name:ident($args:ty) => $run:expr,)* })*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($($(#[$attribute])* $name($args),)*)*
        }

        /// The headings, and how many commands each has.
        const HEADINGS: &[(&str, usize)] = &[$(($heading, [$(stringify!($name)),*].len())),*];

        impl Command {
            fn run(&self) -> anyhow::Result<Done> {
                match self {
                    $($(Self::$name(args) => {
                        let run: fn(&$args) -> anyhow::Result<Done> = $run;
                        run(args)
                    })*)*
                }
            }
        }
    };
}

commands! {
    "Calibrate" {
        /// Calibrate the engines of game records: table, files, plots
        Calibrate(calibrate::Args) => calibrate::run,
        /// Let engines score positions of games, and calibrate them
        Analyse(analyse::Args) => analyse::run,
        /// Show an engine's constant, whether to trust it, and its curve
        Constant(constant::Args) => constant::run,
        /// Show what records hold: engines, signs, mates, skipped games
        Inspect(inspect::Args) => inspect::run,
        /// Write the sample table of records as Parquet or CSV
        Sample(sample::Args) => sample::run,
        /// Compute evaluation curves, as CSV or JSON
        Curve(curve::Args) => curve::run,
        /// Print the table of `calibrate` without writing files
        Fit(fit::Args) => fit::run,
        /// Draw plots from calibration files, sample tables or records
        Plot(plot::Args) => plot::run,
        /// Show records in the browser: the page, for this computer alone
        ServePage(serve_page::Args) => serve_page::run,
    }
    "Judge calibrations" {
        /// Report how precise, how accurate and how comparable scores are
        Diagnose(diagnose::Args) => diagnose::run,
        /// Judge calibration files on games that they were not made from
        Evaluate(evaluate::Args) => evaluate::run,
        /// Check whether the scores of a new version changed, for a CI
        Compare(compare::Args) => compare::run,
    }
    "Use calibrations" {
        /// Turn scores into win rates, or win rates into scores
        Winrate(winrate::Args) => winrate::run,
        /// Print the constants for another program, or as source code
        Export(export::Args) => export::run,
        /// Write training data with its scores on a stated scale
        Rescale(rescale::Args) => rescale::run,
        /// Run an engine with its scores on a common scale
        Proxy(proxy::Args) => proxy::run,
        /// Find the scores at which games may be resigned or drawn
        Thresholds(thresholds::Args) => thresholds::run,
    }
    "Councils and matches" {
        /// Run several engines as one engine (USI or UCI)
        Council(council::Args) => council::run,
        /// Play engines and councils against each other
        Play(play::Args) => play::run,
        /// Decide a council's vote log again by any rule
        Replay(replay::Args) => replay::run,
        /// Serve the council protocol of Hanawa & Ito 2009
        Serve(serve::ServeArgs) => serve::serve,
        /// Connect a USI engine to a council server (Hanawa & Ito 2009)
        Join(serve::JoinArgs) => serve::join,
        /// Analyse match results: Elo, intervals, tests, SPRT
        MatchStats(match_stats::Args) => match_stats::run,
    }
    "Theory, and this program" {
        /// Simulate which rule finds the best move
        Simulate(simulate::Args) => simulate::run,
        /// Compute the theory of councils: votes, bounds, estimates
        Theory(theory::Args) => theory::run,
        /// Print the JSON Schema of the calibration file or of the diagnosis
        #[command(after_help = "\
Examples:
  evalcurve schema > calibration.schema.json
  evalcurve schema diagnosis > diagnosis.schema.json")]
        Schema(SchemaArgs) => |args| {
            match args.document {
                Document::Calibration => terminal::print(&crate::calibration::schema())?,
                Document::Diagnosis => terminal::print(crate::report::diagnosis::SCHEMA)?,
            }
            Ok(Done::Yes)
        },
        /// Print a completion script for a shell
        Completions(documents::CompletionsArgs) => |args| documents::completions(args, Cli::command()),
        /// Print the manual page, or write those of all commands
        Man(documents::ManArgs) => |args| documents::man(args, Cli::command()),
    }
}

/// The arguments of `evalcurve schema`.
#[derive(Debug, clap::Args)]
struct SchemaArgs {
    /// The document
    #[arg(value_name = "DOCUMENT", value_enum, default_value_t = Document::Calibration)]
    document: Document,
}

/// A document with a schema.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Document {
    /// The calibration file
    Calibration,
    /// diagnosis.json
    Diagnosis,
}

/// How a command that did not fail ended.
enum Done {
    /// Exit code 0.
    Yes,
    /// Exit code 1: nothing was calibrated, or the compared inputs differ.
    Nothing,
    /// Exit code 3: there are too few games to tell.
    CannotTell,
}

/// The program in a language, whose help lists the commands under headings.
fn program(language: Language) -> clap::Command {
    let program = help::translated(Cli::command(), language);
    let (header, literal) = (program.get_styles().get_header(), program.get_styles().get_literal());
    let mut commands = program.get_subcommands();
    let mut list = String::new();
    for (heading, count) in HEADINGS {
        list += &format!("{header}{}:{header:#}\n", language.word(heading));
        for command in commands.by_ref().take(*count) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            list += &format!("  {literal}{:<11}{literal:#}  {about}\n", command.get_name());
        }
    }
    let [usage, options] = [key!("Usage"), key!("Options")].map(|word| language.word(word));
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{header}{usage}:{header:#} {{usage}}\n\n{list}\n{header}{options}:\
         {header:#}\n{{options}}{{after-help}}"
    );
    drop(commands);
    program.help_template(template)
}

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    #[cfg(feature = "table")]
    silence_polars();
    ExitCode::from(main_with(std::env::args_os().collect()))
}

/// Prints no panic of polars at a damaged file: the error that it becomes is printed instead.
#[cfg(feature = "table")]
fn silence_polars() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !crate::table::is_in_polars() {
            default(panic);
        }
    }));
}

/// Runs the program with these arguments, the first of them the name of the program. Returns the exit code.
pub fn main_with(mut arguments: Vec<OsString>) -> u8 {
    match beside::arguments(&arguments) {
        Ok(found) if found.is_empty() && beside::answer_without_config(&arguments) => return 0,
        Ok(found) => arguments.extend(found),
        Err(error) => return fail(&error, 2, language_of(&arguments)),
    }
    let language = language_of(&arguments);
    options::set_language(language);
    let command = Cli::command();
    let subcommands: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let arguments = match config::expand(arguments, &command) {
        Ok(arguments) => arguments,
        Err(error) => return fail(&error, 2, language),
    };
    let arguments = match arguments.iter().position(|word| subcommands.iter().any(|name| word == name.as_str())) {
        Some(at) if arguments[at] == "play" => play_words::joined(arguments),
        _ => arguments,
    };
    let one_dash = with_one_dash(&arguments);
    let parse = |matches: ArgMatches| Ok((threads_of(&matches), Cli::from_arg_matches(&matches)?));
    let (threads, cli) = match program(language).try_get_matches_from(arguments).and_then(parse) {
        Ok(parsed) => parsed,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            if let Some(word) = one_dash.filter(|_| error.kind() == clap::error::ErrorKind::UnknownArgument) {
                terminal::note(&say!(
                    language,
                    "'{word}': options begin with two dashes, except those of fastchess after `play` (docs/play.md)"
                ));
            }
            // clap reports help and version as errors, too; a closed pipe is not an error
            let _ = messages::of_arguments(error, language).print();
            return code;
        }
    };
    let language = cli.lang.unwrap_or(language);
    // a council, a tournament, `proxy` and `join` have engines to end, and handle signals themselves
    #[cfg(unix)]
    let has_engines = matches!(
        cli.command,
        Command::Analyse(_) | Command::Council(_) | Command::Play(_) | Command::Proxy(_) | Command::Join(_)
    ) || matches!(&cli.command, Command::Calibrate(args) if args.has_engines())
        || matches!(&cli.command, Command::Constant(args) if args.has_engines());
    #[cfg(unix)]
    if !has_engines {
        let _ = crate::usi::before_signals_end(crate::whole_file::remove_temporary_files);
    }
    match on_threads(threads, || cli.command.run()).map_err(Into::into).flatten() {
        Ok(Done::Yes) => 0,
        Ok(Done::Nothing) => 1,
        Ok(Done::CannotTell) => 3,
        Err(error) => {
            let strict = matches!(error.downcast_ref(), Some(Error::Records(CollectError::Strict(_))));
            fail(&error, if strict { 1 } else { 2 }, language)
        }
    }
}

/// The first argument like `-engine`, as the options of other match runners are written.
fn with_one_dash(arguments: &[OsString]) -> Option<String> {
    let is_word = |text: &str| {
        text.strip_prefix('-').is_some_and(|rest| rest.len() > 2 && rest.bytes().all(|b| b.is_ascii_lowercase()))
    };
    arguments.iter().skip(1).filter_map(|argument| argument.to_str()).find(|text| is_word(text)).map(str::to_owned)
}

/// The value of `--threads`, if the command has this option.
fn threads_of(matches: &ArgMatches) -> Option<usize> {
    let (_, matches) = matches.subcommand()?;
    matches.try_get_one("threads").ok().flatten().copied().or_else(|| threads_of(matches))
}

/// Reports an error.
fn fail(error: &anyhow::Error, code: u8, language: Language) -> u8 {
    terminal::error(&messages::of_error(error).text(language));
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::OPTIONS;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn messages_name_options_of_the_program() {
        let program = Cli::command();
        fn knows(command: &clap::Command, option: &str) -> bool {
            command.get_arguments().any(|a| a.get_long() == Some(option))
                || command.get_subcommands().any(|command| knows(command, option))
        }
        let has = |option: &&str| knows(&program, option);
        let unknown: Vec<&str> = OPTIONS.into_iter().filter(|option| !has(option)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
