//! `evalcurve-lab theory`

mod estimate;
mod playout;
mod plurality;

use evalcurve_app::cli::{Done, Heading, Program, Subcommand};
use evalcurve_words::key;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab theory playout tic-tac-toe --exact
      win rates of the nine moves by play-outs, and their exact values
  evalcurve-lab theory plurality --voters 5 --probabilities .3,.2,.2,.1,.1,.1
      how often each move wins the vote of five equal engines
  evalcurve-lab theory bounds --voters 5 --probabilities .3,.2,.2,.1,.1,.1
      the bounds of Sato (2013) next to the exact values
  evalcurve-lab theory estimate votes.jsonl
      noise and synchronisation of the engines of a council, and the gain of each rule")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Evaluate moves of tic-tac-toe, Hex and Y by play-outs (Raiko 2006)
    Playout(playout::Args),
    /// Compute the exact probability that each move wins the plurality of independent voters
    Plurality(plurality::PluralityArgs),
    /// Compare the bounds of Sato (2013, theorems 3 and 4) with the exact values
    Bounds(plurality::BoundsArgs),
    /// Estimate noise, gap and synchronisation from the votes of a council, and the gain of each rule
    Estimate(estimate::Args),
}

impl Subcommand for Args {
    const NAME: &'static str = "theory";
    const ABOUT: &'static str = key!("Compute the theory of councils: votes, bounds, estimates");
    const HEADING: Heading = Heading::Theory;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        match &self.command {
            Command::Playout(args) => playout::run(args),
            Command::Plurality(args) => plurality::plurality(args),
            Command::Bounds(args) => plurality::bounds(args),
            Command::Estimate(args) => estimate::run(args),
        }
    }
}
