//! `evalcurve theory estimate`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};

use super::options::TellArgs;
use super::{Done, terminal};
use crate::report::estimate as report;
use crate::rule::Rule;
use crate::rule::log::Log;
use crate::theory::estimate::{EstimateOptions, ballots, estimate};
use crate::theory::simulate::{Contender, RunOptions, simulate};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve theory estimate votes.jsonl
      how strong the engines are, how much they think alike, and what each rule would gain
  evalcurve simulate --noise .5,.7,.9 --gap .6 --candidates 3 --trials 5000 --votes votes.jsonl
      a log to try it on, with known truth

Nothing is known of the best moves: what tells is how often engines agree, and how far their win rates differ where they
do and where they do not. A few thousand positions are needed. Errors that all engines share cannot be seen.")]
pub(super) struct Args {
    /// The log of a council, or several of the same council
    #[arg(required = true, value_name = "VOTES")]
    files: Vec<PathBuf>,

    /// Moves worth a thought in a position [default: the number that makes the votes likeliest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=64))]
    candidates: Option<u32>,

    /// Two votes for a move whose win rates' logits differ by no more are one, copied
    #[arg(long, value_name = "LOGIT", default_value_t = 1e-6)]
    copied_within: f64,

    /// Positions to simulate
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,

    /// Seed of the simulation
    #[arg(long, default_value_t = 20_161_231)]
    seed: u64,

    /// Threads of the simulation [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    #[command(flatten)]
    tell: TellArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let mut log = Log::default();
    for file in &args.files {
        let bytes = fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
        let read = Log::parse(&bytes);
        for problem in &read.problems {
            terminal::warning(&format!("{}:{}: {}", file.display(), problem.line, problem.text));
        }
        log.append(read);
    }
    if log.sessions.is_empty() {
        bail!("no votes: give a log that a council wrote");
    }
    let (names, ballots) = ballots(&log)?;
    let candidates = args.candidates.and_then(|n| usize::try_from(n).ok());
    let options = EstimateOptions { candidates, copied_within: args.copied_within };
    let found = estimate(names.len(), &ballots, options)?;
    let model = found.model();
    let mut contenders = Contender::lfics();
    contenders.extend([Rule::Weighted, Rule::CorrectedOptimistic].map(Contender::new));
    let run = RunOptions { trials: args.trials, seed: args.seed, threads: args.threads };
    let simulated = simulate(&model, &contenders, run)?;
    if args.tell.json {
        let document = report::document(&names, &found, &model, &simulated);
        terminal::print(&format!("{document:#}\n"))?;
    } else if !args.tell.quiet {
        terminal::print(&report::text(&names, &found, &model, &simulated))?;
    }
    Ok(Done::Yes)
}
