//! `evalcurve-lab theory estimate`

use std::path::PathBuf;

use anyhow::bail;
use evalcurve_app::cli::options::{OutputArgs, language, threads};
use evalcurve_app::cli::{Done, terminal};
use evalcurve_app::{Input, Logs};
use evalcurve_rules::Rule;
use evalcurve_words::text;

use crate::estimate::{EstimateOptions, ballots, estimate};
use crate::report::estimate as report;
use crate::simulate::{Contender, RunOptions, simulate};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab theory estimate votes.jsonl
      noise and synchronisation of the engines, and the gain of each rule
  evalcurve-lab simulate --noise .5,.7,.9 --gap .6 --trials 5000 --votes votes.jsonl
      a vote log with known parameters to try it on

The best moves are unknown. The estimate uses how often engines agree, and how far their win rates differ when they \
agree and when they do not. A few thousand positions are needed. Errors common to all engines are invisible.")]
pub(super) struct Args {
    /// One or more vote logs, or globs of them, of the same council
    #[arg(required = true, value_name = "VOTES")]
    files: Vec<PathBuf>,

    /// Number of candidate moves [default: the number with the largest likelihood]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=64))]
    candidates: Option<u32>,

    /// Largest difference of logits for which two votes for the same move count as one copied vote
    #[arg(long, value_name = "LOGIT", default_value_t = 1e-6)]
    copied_within: f64,

    /// Number of positions to simulate
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    trials: u64,

    /// Seed of the simulation
    #[arg(long, default_value_t = 20_161_231)]
    seed: u64,

    /// Number of threads of the simulation [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,

    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let Logs { log, problems, .. } = Logs::read(&Input::paths(&args.files))?;
    problems.iter().for_each(|problem| terminal::warning(problem));
    if log.sessions.is_empty() {
        bail!(text!("no votes; give a vote log that a council wrote"));
    }
    let (names, ballots) = ballots(&log)?;
    let candidates = args.candidates.and_then(|n| usize::try_from(n).ok());
    let options = EstimateOptions { candidates, copied_within: args.copied_within };
    let found = estimate(names.len(), &ballots, options)?;
    let mut model = found.model();
    model.caution = log.sessions.last().map_or(model.caution, |session| session.header.caution);
    let mut contenders = Contender::lfics();
    contenders.extend([Rule::Weighted, Rule::CorrectedOptimistic].map(Contender::new));
    let run = RunOptions { trials: args.trials, seed: args.seed, threads: args.threads };
    let simulated = simulate(&model, &contenders, run)?;
    let document = || report::document(&names, &found, &model, &simulated);
    args.output.print(document, || report::text(&names, &found, &model, &simulated, language()))?;
    Ok(Done::Yes)
}
