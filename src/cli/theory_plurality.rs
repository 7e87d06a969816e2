//! `evalcurve theory plurality` and `evalcurve theory bounds`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::json;

use super::options::TellArgs;
use super::theory::one_of;
use super::{Done, terminal};
use crate::plot::PlotOptions;
use crate::report::plurality as report;
use crate::theory::improvement::{Position, judge};
use crate::theory::plurality::{self, Tie, Voters};
use crate::theory::{sato, sato_map};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve theory plurality --voters 5 --probabilities .3,.2,.2,.1,.1,.1
  evalcurve theory plurality --voters 1,4 --weights 1.5,1 --probabilities .6,.3,.1 --probabilities .4,.4,.2
      a leader with weight 1.5, and four voters with other probabilities
  evalcurve theory plurality --voters 25 --probabilities .4,.35,.25 --values 1,0,-2 --original 2
      does a council of weaker engines beat the original, which plays move 2? (Sato 2013, theorem 2)

Probabilities are over the same moves in the same order and add up to 1. With several --probabilities there is one list
per group of --voters. Ties go to the first voter in order with a tied move (leader), are drawn (random), or are lost
(worst).")]
pub(super) struct PluralityArgs {
    /// Number of voters in each group of equal voters, in the order of the council
    #[arg(long, value_name = "N,…", value_delimiter = ',', required = true)]
    voters: Vec<usize>,

    /// Probability of each move; once for all groups, or once per group
    #[arg(long, value_name = "P,P,…", required = true)]
    probabilities: Vec<String>,

    /// Weight of a vote; one per group, or one for all groups
    #[arg(long, value_name = "W,…", value_delimiter = ',', default_value = "1")]
    weights: Vec<f64>,

    /// Which move wins a tie
    #[arg(long, default_value_t, value_parser = one_of(&[Tie::Leader, Tie::Random, Tie::Worst]))]
    tie: Tie,

    /// Worth of each move to a perfect player in any unit; adds expected improvement and reduction
    #[arg(
        long,
        value_name = "V,V,…",
        value_delimiter = ',',
        allow_negative_numbers = true,
        allow_hyphen_values = true,
        requires = "original"
    )]
    values: Vec<f64>,

    /// The move, from 1, of the original engine, which the voters derive from
    #[arg(long, value_name = "MOVE", requires = "values")]
    original: Option<usize>,

    #[command(flatten)]
    tell: TellArgs,
}

fn numbers(text: &str) -> anyhow::Result<Vec<f64>> {
    let number = |t: &str| t.trim().parse::<f64>().with_context(|| format!("'{t}' in --probabilities is not a number"));
    text.split(',').map(number).collect()
}

/// One item per group, from a list with one item per group or one for all.
fn for_groups<T: Clone>(items: &[T], groups: usize, option: &str) -> anyhow::Result<Vec<T>> {
    match items {
        [one] => Ok(vec![one.clone(); groups]),
        many if many.len() == groups => Ok(many.to_vec()),
        many => {
            bail!("--{option} is given for {} groups, --voters for {groups}; give one per group, or one", many.len())
        }
    }
}

pub(super) fn plurality(args: &PluralityArgs) -> anyhow::Result<Done> {
    let groups = args.voters.len();
    let distributions = args.probabilities.iter().map(|t| numbers(t)).collect::<anyhow::Result<Vec<_>>>()?;
    let distributions = for_groups(&distributions, groups, "probabilities")?;
    let weights = for_groups(&args.weights, groups, "weights")?;
    let voters: Vec<Voters> = (0..groups)
        .map(|g| Voters { count: args.voters[g], weight: weights[g], probabilities: distributions[g].clone() })
        .collect();
    let found = plurality::plurality(&voters, args.tie)?;
    let verdict = match args.original {
        None => None,
        Some(original) => {
            let moves = distributions[0].len();
            if args.values.len() != moves {
                bail!("--values has {} numbers for {moves} moves; give one per move", args.values.len());
            }
            let Some(&value) = original.checked_sub(1).and_then(|m| args.values.get(m)) else {
                bail!("--original is {original}; give a move from 1 to {moves}");
            };
            let position = Position::of_plurality(1.0, args.values.clone(), value, &voters, args.tie)?;
            Some(judge(&[position]))
        }
    };
    if args.tell.json {
        let document = report::document(&voters, args.tie, &found, verdict.as_ref());
        terminal::print(&format!("{document:#}\n"))?;
    } else if !args.tell.quiet {
        terminal::print(&report::text(&voters, args.tie, &found, verdict.as_ref()))?;
    }
    Ok(Done::Yes)
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve theory bounds --voters 5 --probabilities .3,.2,.2,.1,.1,.1
  evalcurve theory bounds --map plots --moves 6 --most-voters 30
      heat maps and a table of where the printed bounds hold: one move with probability p, the others with equal shares

As printed, the theorems apply the factor (1-p)^(n-i) twice and hold only in some cases. The mended bounds always
hold.")]
pub(super) struct BoundsArgs {
    /// Number of voters
    #[arg(long, value_name = "N", required_unless_present = "map")]
    voters: Option<usize>,

    /// Probability of each move, the same for all voters
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', required_unless_present = "map")]
    probabilities: Vec<f64>,

    /// Draw heat maps into this folder instead, as SVG and PNG, with the numbers as CSV
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["voters", "probabilities"])]
    map: Option<PathBuf>,

    /// Number of moves for --map
    #[arg(long, value_name = "N", default_value_t = 6)]
    moves: usize,

    /// Largest number of voters for --map
    #[arg(long, value_name = "N", default_value_t = 30)]
    most_voters: usize,

    #[command(flatten)]
    tell: TellArgs,
}

pub(super) fn bounds(args: &BoundsArgs) -> anyhow::Result<Done> {
    if let Some(folder) = &args.map {
        let probabilities: Vec<f64> = (1..=38).map(|k| f64::from(k) / 40.0).collect();
        let cells = sato_map::map(args.moves, args.most_voters, &probabilities)?;
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot create the folder", folder.display()))?;
        let written = report::write_maps(&cells, args.moves, folder, &PlotOptions::default())?;
        let shown: Vec<String> = written.iter().map(|p| p.to_string_lossy().replace('\\', "/")).collect();
        if args.tell.json {
            terminal::print(&format!("{:#}\n", json!({ "plots": shown, "summary": report::map_summary(&cells) })))?;
        } else if !args.tell.quiet {
            let lines: String = shown.iter().map(|p| format!("{p} and .png\n")).collect();
            terminal::print(&(report::map_text(&cells) + &lines))?;
        }
        return Ok(Done::Yes);
    }
    let (Some(voters), pi) = (args.voters, &args.probabilities) else {
        bail!("give --voters and --probabilities, or --map FOLDER");
    };
    let exact = plurality::plurality_of_alike(voters, pi, Tie::Random)?;
    let theorem = sato::Theorem::for_council(voters, pi.len());
    let of = |form: &dyn Fn(usize) -> Option<sato::Bounds>| (0..pi.len()).filter_map(form).collect::<Vec<_>>();
    let printed = of(&|m| sato::printed(theorem, voters, pi, m));
    let mended = of(&|m| sato::mended(voters, pi, m));
    if args.tell.json {
        let document = report::bounds_document(voters, pi, theorem, &exact, &printed, &mended);
        terminal::print(&format!("{document:#}\n"))?;
    } else if !args.tell.quiet {
        terminal::print(&report::bounds_text(voters, pi, theorem, &exact, &printed, &mended))?;
    }
    Ok(Done::Yes)
}
