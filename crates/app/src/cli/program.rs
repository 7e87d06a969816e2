//! A program: a list of uses, and the way from the arguments of a process to its exit code.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, Args, FromArgMatches};
use evalcurve_records::sample::collect::CollectError;
use evalcurve_words::language::{Language, add_japanese};
use evalcurve_words::{key, say};

use super::command::{Command, DoesItPay, Done, Flat, Heading, Parsed, Services};
use super::options::{language_of, one_of, set_language};
use super::{config, documents, files, help, messages, terminal};
use crate::{Error, on_threads};

/// A program with its uses.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    pub name: &'static str,
    /// The first line of the help.
    pub about: &'static str,
    /// Examples and exit codes, the end of the help.
    pub after_help: &'static str,
    pub flats: &'static [Flat],
    /// What one use asks of another.
    pub services: Services,
    /// The arguments to assume, and whether a GUI that starts the program without any has been answered.
    pub assumed: Option<Assume>,
}

/// What [`Program::assumed`] is.
type Assume = fn(&[OsString]) -> anyhow::Result<Assumed>;

/// What a program does if it was started without arguments, or with what was dropped on it.
#[derive(Debug)]
pub enum Assumed {
    /// Arguments in place of the given ones, if there are any.
    Arguments(Vec<OsString>),
    /// Nothing more: whoever started it has been answered.
    Answered,
}

// a doc comment would be the description of the program
#[derive(Debug, clap::Args)]
struct Global {
    /// Language of messages [default: ja in a Japanese locale, else en]
    #[arg(long, global = true, value_parser = one_of::<Language>(), hide_short_help = true)]
    lang: Option<Language>,
}

impl Program {
    /// The commands under their headings, in order.
    fn commands(&self) -> Vec<&'static Command> {
        let mut all: Vec<&Command> =
            self.flats.iter().flat_map(|flat| flat.commands).chain(&documents::COMMANDS).collect();
        all.sort_by_key(|command| command.heading);
        all
    }

    /// The command line in English.
    pub fn command_line(&self) -> clap::Command {
        let program = clap::Command::new(self.name).version(env!("CARGO_PKG_VERSION")).about(self.about);
        let program = program.after_help(self.after_help).max_term_width(110).args_override_self(true);
        let program = Global::augment_args(program.subcommand_required(true).arg_required_else_help(true));
        program.subcommands(self.commands().into_iter().map(Command::clap))
    }

    /// Plays a council against its members, as [`Services::does_it_pay`] says.
    ///
    /// # Errors
    /// Engines that cannot play, and a program without the use `match`.
    pub fn does_it_pay(
        &self,
        config: &Path,
        pairs: Option<u32>,
        force: bool,
        language: Language,
    ) -> anyhow::Result<Option<Done>> {
        let Services { does_it_pay, read_council, .. } = self.services;
        does_it_pay(&DoesItPay { config, pairs, force, language, read_council })
    }

    /// The command line in a language, whose help lists the commands under headings.
    fn in_language(&self, english: clap::Command, language: Language) -> clap::Command {
        let program = help::translated(english, language);
        let (header, literal) = (program.get_styles().get_header(), program.get_styles().get_literal());
        let mut list = String::new();
        let mut last: Option<Heading> = None;
        for (command, own) in program.get_subcommands().zip(self.commands()) {
            if last != Some(own.heading) {
                list += &format!("{header}{}:{header:#}\n", language.word(own.heading.words()));
                last = Some(own.heading);
            }
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            list += &format!("  {literal}{:<11}{literal:#}  {about}\n", command.get_name());
        }
        let [usage, options] = [key!("Usage"), key!("Options")].map(|word| language.word(word));
        let template = format!(
            "{{before-help}}{{about-with-newline}}\n{header}{usage}:{header:#} {{usage}}\n\n{list}\n{header}{options}:\
             {header:#}\n{{options}}{{after-help}}"
        );
        program.help_template(template)
    }

    /// Runs the program with the arguments of this process.
    pub fn main(&self) -> ExitCode {
        #[cfg(feature = "parquet")]
        silence_polars();
        ExitCode::from(self.run(std::env::args_os().collect()))
    }

    /// Makes the Japanese and the errors of all uses known.
    pub fn introduce(&self) {
        self.flats.iter().for_each(|flat| add_japanese(flat.japanese));
        messages::know(self.flats.iter().flat_map(|flat| flat.errors).copied());
    }

    /// Runs the program with these arguments, the first of them the name of the program. Returns the exit code.
    pub fn run(&self, mut arguments: Vec<OsString>) -> u8 {
        self.introduce();
        match self.assumed.map(|assumed| assumed(&arguments)) {
            None => {}
            Some(Ok(Assumed::Arguments(instead))) if instead.is_empty() => {}
            Some(Ok(Assumed::Arguments(instead))) => {
                arguments.truncate(1);
                arguments.extend(instead);
            }
            Some(Ok(Assumed::Answered)) => return 0,
            Some(Err(error)) => return fail(&error, 2, language_of(&arguments)),
        }
        let language = language_of(&arguments);
        set_language(language);
        let english = self.command_line();
        let arguments = match config::expand(arguments, &english) {
            Ok(arguments) => self.reworded(arguments),
            Err(error) => return fail(&error, 2, language),
        };
        let one_dash = with_one_dash(&arguments);
        let command_line = self.in_language(english.clone(), language);
        let (matches, command) = match command_line.try_get_matches_from(arguments).and_then(|matches| {
            let command = self.parse(&matches)?;
            Ok((matches, command))
        }) {
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
        let language = Global::from_arg_matches(&matches).ok().and_then(|global| global.lang).unwrap_or(language);
        if !command.writes_into_input {
            files::protect(&matches, &english);
        }
        // a council, a tournament, `proxy` and `join` have engines to end, and handle signals themselves
        #[cfg(unix)]
        if !command.has_engines {
            let _ = evalcurve_engine::usi::before_signals_end(evalcurve_words::whole_file::remove_temporary_files);
        }
        let run = || (command.run)(self);
        match on_threads(threads_of(&matches), run).map_err(Into::into).flatten() {
            Ok(Done::Yes) => 0,
            Ok(Done::Nothing) => 1,
            Ok(Done::CannotTell) => 3,
            Err(error) => {
                let strict = matches!(error.downcast_ref(), Some(Error::Records(CollectError::Strict(_))));
                fail(&error, if strict { 1 } else { 2 }, language)
            }
        }
    }

    /// The arguments with the words of other programs put into those of this one.
    fn reworded(&self, arguments: Vec<OsString>) -> Vec<OsString> {
        let commands = self.commands();
        let command = |word: &OsString| commands.iter().find(|command| word == command.name);
        match arguments.iter().find_map(command).and_then(|command| command.reword) {
            Some(reword) => reword(arguments),
            None => arguments,
        }
    }

    fn parse(&self, matches: &ArgMatches) -> Result<Parsed, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let command = self.commands().into_iter().find(|command| command.name == name).ok_or_else(missing)?;
        (command.parse)(matches)
    }
}

/// Prints no panic of polars at a damaged file: the error that it becomes is printed instead.
#[cfg(feature = "parquet")]
fn silence_polars() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !evalcurve_tables::is_in_polars() {
            default(panic);
        }
    }));
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
