//! `evalcurve theory`

use super::{Done, theory_playout};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve theory playout tic-tac-toe --exact
      win rates of the nine moves by play-outs, and what they are in the limit")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Judge moves of tic-tac-toe, Hex and Y by play-outs (Raiko 2006)
    Playout(theory_playout::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    match &args.command {
        Command::Playout(args) => theory_playout::run(args),
    }
}
