//! `evalcurve theory`

use super::{Done, theory_estimate, theory_playout, theory_plurality};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve theory playout tic-tac-toe --exact
      win rates of the nine moves by play-outs, and what they are in the limit
  evalcurve theory plurality --voters 5 --probabilities .3,.2,.2,.1,.1,.1
      how often each move wins the vote of five engines alike
  evalcurve theory bounds --voters 5 --probabilities .3,.2,.2,.1,.1,.1
      the bounds of Sato (2013) beside it
  evalcurve theory estimate votes.jsonl
      how strong the engines of a council are, how much they think alike, and what each rule would gain")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Judge moves of tic-tac-toe, Hex and Y by play-outs (Raiko 2006)
    Playout(theory_playout::Args),
    /// The exact probability that each move wins the plurality of independent voters
    Plurality(theory_plurality::PluralityArgs),
    /// The bounds of Sato (2013, theorems 3 and 4), as printed and mended, beside the exact values
    Bounds(theory_plurality::BoundsArgs),
    /// Noise, gap and synchronisation from a council's votes, and what each rule would gain
    Estimate(theory_estimate::Args),
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    match &args.command {
        Command::Playout(args) => theory_playout::run(args),
        Command::Plurality(args) => theory_plurality::plurality(args),
        Command::Bounds(args) => theory_plurality::bounds(args),
        Command::Estimate(args) => theory_estimate::run(args),
    }
}
