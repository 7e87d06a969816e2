//! The commands that every program has: `schema`, `completions` and `man`.

use std::path::PathBuf;

use anyhow::bail;
use clap_complete::Shell;
use evalcurve_words::{key, text};

use super::command::{Command, Done, Heading, Subcommand};
use super::help::translated;
use super::messages::About;
use super::options::language;
use super::program::Program;
use super::terminal;

/// The commands.
pub(super) const COMMANDS: [Command; 3] =
    [Command::of::<SchemaArgs>(), Command::of::<CompletionsArgs>(), Command::of::<ManArgs>()];

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve schema > calibration.schema.json
  evalcurve schema diagnosis > diagnosis.schema.json")]
struct SchemaArgs {
    /// The document: calibration or diagnosis
    #[arg(value_name = "DOCUMENT", default_value = CALIBRATION)]
    document: String,
}

/// The document whose schema every program has.
const CALIBRATION: &str = "calibration";

impl Subcommand for SchemaArgs {
    const NAME: &'static str = "schema";
    const ABOUT: &'static str = key!("Print the JSON Schema of the calibration file or of the diagnosis");
    const HEADING: Heading = Heading::Theory;

    fn run(&self, program: &Program) -> anyhow::Result<Done> {
        let mut of_flats = program.flats.iter().flat_map(|flat| flat.schemas);
        match of_flats.find(|(name, _)| *name == self.document) {
            Some((_, schema)) => terminal::print(schema)?,
            None if self.document == CALIBRATION => terminal::print(evalcurve_calibration::SCHEMA)?,
            None => {
                let others = program.flats.iter().flat_map(|flat| flat.schemas).map(|(name, _)| *name);
                let known = [CALIBRATION].into_iter().chain(others).collect::<Vec<_>>().join(", ");
                bail!(text!("there is no schema of '{}'; expected one of {known}", self.document));
            }
        }
        Ok(Done::Yes)
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve completions bash > evalcurve.bash
  evalcurve completions powershell >> $PROFILE")]
struct CompletionsArgs {
    /// Shell to generate the script for
    #[arg(value_enum)]
    shell: Shell,
}

impl Subcommand for CompletionsArgs {
    const NAME: &'static str = "completions";
    const ABOUT: &'static str = key!("Print a completion script for a shell");
    const HEADING: Heading = Heading::Theory;

    fn run(&self, program: &Program) -> anyhow::Result<Done> {
        let mut script = Vec::new();
        let mut command_line = translated(program.command_line(), language());
        clap_complete::generate(self.shell, &mut command_line, program.name, &mut script);
        terminal::print(&String::from_utf8_lossy(&script))?;
        Ok(Done::Yes)
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve man | man -l -
  evalcurve man --out man/")]
struct ManArgs {
    /// Write the man pages of all commands to this folder
    #[arg(long, short, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

impl Subcommand for ManArgs {
    const NAME: &'static str = "man";
    const ABOUT: &'static str = key!("Print the manual page, or write those of all commands");
    const HEADING: Heading = Heading::Theory;

    fn run(&self, program: &Program) -> anyhow::Result<Done> {
        match &self.out {
            Some(folder) => {
                std::fs::create_dir_all(folder).about(|| text!("{}: cannot create the folder", folder.display()))?;
                clap_mangen::generate_to(for_pages(translated(program.command_line(), language())), folder)
                    .about(|| text!("{}: cannot write the man pages", folder.display()))?;
            }
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(for_pages(translated(program.command_line(), language()))).render(&mut page)?;
                terminal::print(&String::from_utf8_lossy(&page))?;
            }
        }
        Ok(Done::Yes)
    }
}

/// An option that `-h` hides has a text in a page only if it is no longer hidden.
fn for_pages(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| arg.hide_short_help(false)).mut_subcommands(for_pages)
}
