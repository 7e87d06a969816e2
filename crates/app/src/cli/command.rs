//! A command of the program, and the list of commands that one use brings.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use evalcurve_engine::{ConfigError, EngineConfig, Game, ReadCouncil, VotedGame};
use evalcurve_rules::replay::Alone;
use evalcurve_words::language::Language;
use evalcurve_words::text::shown_path;
use evalcurve_words::{key, text};

use super::messages::Known;
use super::options::InputArgs;
use super::program::Program;
use crate::Calibrate;

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// Exit code 0.
    Yes,
    /// Exit code 1: nothing was calibrated, or the compared inputs differ.
    Nothing,
    /// Exit code 3: there are too few games to tell.
    CannotTell,
}

/// The headings of the list of commands, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heading {
    Calibrate,
    Judge,
    Use,
    Play,
    Theory,
}

impl Heading {
    /// The heading in English.
    pub fn words(self) -> &'static str {
        match self {
            Self::Calibrate => key!("Calibrate"),
            Self::Judge => key!("Judge calibrations"),
            Self::Use => key!("Use calibrations"),
            Self::Play => key!("Councils and matches"),
            Self::Theory => key!("Theory, and this program"),
        }
    }
}

/// The arguments of a command, and what they do.
pub trait Subcommand: clap::Args {
    /// The word on the command line.
    const NAME: &'static str;
    /// The line in the list of commands.
    const ABOUT: &'static str;
    const HEADING: Heading;
    /// Whether it writes into the files that it is given, so that they need no protection from it.
    const WRITES_INTO_INPUT: bool = false;

    /// Runs the command and prints.
    ///
    /// # Errors
    /// What the program reports with exit code 2.
    fn run(&self, program: &Program) -> anyhow::Result<Done>;

    /// Whether it has engines to end, and so handles signals itself.
    fn has_engines(&self) -> bool {
        false
    }
}

/// A command, whatever its arguments.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    pub name: &'static str,
    pub about: &'static str,
    pub heading: Heading,
    /// Adds the arguments.
    pub arguments: fn(clap::Command) -> clap::Command,
    /// Parses and runs; first whether engines run.
    pub parse: fn(&ArgMatches) -> Result<Parsed, clap::Error>,
    /// Puts words of other programs into those of this one, before they are parsed.
    pub reword: Option<fn(Vec<OsString>) -> Vec<OsString>>,
}

/// Runs a command whose arguments are known.
pub type Run = dyn FnOnce(&Program) -> anyhow::Result<Done> + Send;

/// A command with its arguments.
pub struct Parsed {
    /// Whether it has engines to end, and so handles signals itself.
    pub has_engines: bool,
    /// Whether it writes into the files that it is given.
    pub writes_into_input: bool,
    /// Runs it.
    pub run: Box<Run>,
}

impl Command {
    /// The command with these arguments.
    pub const fn of<A: Subcommand + Send + 'static>() -> Self {
        Self {
            name: A::NAME,
            about: A::ABOUT,
            heading: A::HEADING,
            arguments: A::augment_args,
            parse: |matches| {
                let args = A::from_arg_matches(matches)?;
                Ok(Parsed {
                    has_engines: args.has_engines(),
                    writes_into_input: A::WRITES_INTO_INPUT,
                    run: Box::new(move |program| args.run(program)),
                })
            },
            reword: None,
        }
    }

    /// The command as clap knows it.
    pub fn clap(&self) -> clap::Command {
        (self.arguments)(clap::Command::new(self.name)).about(self.about).long_about(None::<&str>)
    }
}

/// What one use of the program brings: its commands, their Japanese, and schemas of what they write.
#[derive(Debug, Clone, Copy)]
pub struct Flat {
    pub commands: &'static [Command],
    /// The Japanese of its texts, as JSON.
    pub japanese: &'static str,
    /// The errors of its own, which are reported in the language of the user.
    pub errors: &'static [Known],
    /// The JSON Schemas of its documents, by name.
    pub schemas: &'static [(&'static str, &'static str)],
}

/// The limit of each engine, by its name.
pub type Limits = BTreeMap<String, String>;

/// Positions of games, and what was not used.
pub type ReadPositions = (Vec<VotedGame>, Vec<String>);

/// What one use asks of another through the program.
#[derive(Debug, Clone, Copy)]
pub struct Services {
    /// Lets the engines of these commands score positions of the records of another command until their constants are
    /// known within 10%, and writes the table. `force` replaces a file; `quiet` prints nothing. Returns their limits;
    /// `None` if no answer counts, and why was said.
    pub score_records: fn(&ScoreRecords<'_>) -> anyhow::Result<Option<Limits>>,
    /// Lets the members of a council score the positions in the program until their constants are known within a share,
    /// and writes the table.
    pub score_members: fn(ScoreMembers<'_>) -> anyhow::Result<()>,
    /// Calibrates the engines in records and writes those with a limit into a folder. Returns the stems of the files.
    pub calibrate: fn(&Limits, &Path, Calibrate, &Path, Language) -> anyhow::Result<BTreeSet<String>>,
    /// Plays the members of a council against each other. Returns the records.
    pub play_members: fn(&PlayMembers<'_>) -> anyhow::Result<PathBuf>,
    /// Plays a council against its members, and says who is ahead with the same time; `None` if there are no games.
    pub does_it_pay: fn(&DoesItPay<'_>) -> anyhow::Result<Option<Done>>,
    /// Says whether a judge, from the regret of each member, orders the members as the games of a table do.
    pub judged_as_games: fn(&[Alone], &Path, Language) -> anyhow::Result<()>,
    /// Reads positions of a game from a file, after each of these numbers of moves of each line or game.
    pub read_positions: fn(Game, &Path, &[u32]) -> anyhow::Result<ReadPositions>,
    /// Reads the configuration of a council that is an engine of a tournament.
    pub read_council: ReadCouncil,
}

impl Services {
    /// No use is there to be asked.
    pub const NONE: Self = Self {
        score_records: |_| without("analyse"),
        score_members: |_| without("analyse"),
        calibrate: |_, _, _, _, _| without("calibrate"),
        play_members: |_| without("match"),
        // without a number of pairs, there are no games to look at
        does_it_pay: |wanted| if wanted.pairs.is_some() { without("match") } else { Ok(None) },
        judged_as_games: |_, _, _| without("match"),
        read_positions: |_, _, _| without("match"),
        read_council: |path| {
            let message = text!("a council, and this program was built without the feature council");
            Err(ConfigError { file: shown_path(path), line: None, message })
        },
    };
}

/// The error of a program without a use that another one needs.
fn without<T>(name: &'static str) -> anyhow::Result<T> {
    Err(text!("this program was built without the feature {name}").into())
}

/// What [`Services::score_records`] scores.
#[derive(Debug, Clone, Copy)]
pub struct ScoreRecords<'a> {
    pub input: &'a InputArgs,
    pub commands: &'a [String],
    pub game: Game,
    pub table: &'a Path,
    pub force: bool,
    pub quiet: bool,
}

/// What [`Services::score_members`] scores.
#[derive(Debug, Clone)]
pub struct ScoreMembers<'a> {
    pub members: Vec<EngineConfig>,
    pub game: Game,
    pub target: Option<f64>,
    pub table: &'a Path,
    pub force: bool,
    pub language: Language,
}

/// Which members [`Services::play_members`] lets play.
#[derive(Debug, Clone, Copy)]
pub struct PlayMembers<'a> {
    /// The configuration of the council.
    pub config: &'a Path,
    pub engines: &'a [EngineConfig],
    pub game: Game,
    pub pairs: u32,
    /// The folder of the games.
    pub games: &'a Path,
    /// Drop what is left of an earlier run.
    pub force: bool,
    pub language: Language,
}

/// What [`Services::does_it_pay`] plays.
#[derive(Debug, Clone, Copy)]
pub struct DoesItPay<'a> {
    /// The configuration of the council.
    pub config: &'a Path,
    /// Pairs of games of each two; `None` to look at the games that there are.
    pub pairs: Option<u32>,
    /// Drop what is left of an earlier run.
    pub force: bool,
    pub language: Language,
    pub read_council: ReadCouncil,
}
