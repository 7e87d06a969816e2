//! `evalcurve completions` and `evalcurve man`

use super::messages::About;
use crate::text;
use std::path::PathBuf;

use clap::Command;
use clap_complete::Shell;

use super::{Done, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve completions bash > evalcurve.bash
  evalcurve completions powershell >> $PROFILE")]
pub(super) struct CompletionsArgs {
    /// Shell to generate the script for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve man | man -l -
  evalcurve man --out man/")]
pub(super) struct ManArgs {
    /// Write the man pages of all commands to this folder
    #[arg(long, short, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub(super) fn completions(args: &CompletionsArgs, mut command: Command) -> anyhow::Result<Done> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "evalcurve", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(Done::Yes)
}

pub(super) fn man(args: &ManArgs, command: Command) -> anyhow::Result<Done> {
    match &args.out {
        Some(folder) => {
            std::fs::create_dir_all(folder).about(|| text!("{}: cannot create the folder", folder.display()))?;
            clap_mangen::generate_to(command, folder)
                .about(|| text!("{}: cannot write the man pages", folder.display()))?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            terminal::print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(Done::Yes)
}
