//! `evalcurve-lab theory plurality` and `evalcurve-lab theory bounds`

use std::path::PathBuf;

use anyhow::bail;
use clap::builder::RangedU64ValueParser;
use evalcurve_app::cli::Done;
use evalcurve_app::cli::files::{list_plots, make_folder};
use evalcurve_app::cli::messages::About;
use evalcurve_app::cli::options::{OutputArgs, language, one_of};
use evalcurve_figures::PlotOptions;
use evalcurve_words::text;

use crate::cli::simulate::one_per;
use crate::improvement::{Position, judge};
use crate::plurality::{self, Tie, Voters};
use crate::report::plurality as report;
use crate::sato_map;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab theory plurality --voters 5 --probabilities .3,.2,.2,.1,.1,.1
  evalcurve-lab theory plurality --voters 1,4 --weights 1.5,1 --probabilities .6,.3,.1 --probabilities .4,.4,.2
      a leader with weight 1.5, and four voters with other probabilities
  evalcurve-lab theory plurality --voters 25 --probabilities .4,.35,.25 --values 1,0,-2 --original 2
      does a council of weaker engines beat the original, which plays move 2? (Sato 2013, theorem 2)

Probabilities are over the same moves in the same order and add up to 1. With several --probabilities there is one \
list per group of --voters. Ties go to the first voter in order with a tied move (leader), are drawn (random), or \
are lost (worst).")]
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
    #[arg(long, default_value_t, value_parser = one_of::<Tie>())]
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
    output: OutputArgs,
}

fn numbers(text: &str) -> anyhow::Result<Vec<f64>> {
    let number = |t: &str| t.trim().parse::<f64>().about(|| text!("'{t}' in --probabilities is not a number"));
    text.split(',').map(number).collect()
}

pub(super) fn plurality(args: &PluralityArgs) -> anyhow::Result<Done> {
    let groups = args.voters.len();
    let distributions = args.probabilities.iter().map(|t| numbers(t)).collect::<anyhow::Result<Vec<_>>>()?;
    let distributions = one_per("group", groups, "probabilities", &distributions)?;
    let weights = one_per("group", groups, "weights", &args.weights)?;
    let voters: Vec<Voters> = (0..groups)
        .map(|g| Voters { count: args.voters[g], weight: weights[g], probabilities: distributions[g].clone() })
        .collect();
    let found = plurality::plurality(&voters, args.tie)?;
    let verdict = match args.original {
        None => None,
        Some(original) => {
            let moves = distributions[0].len();
            if args.values.len() != moves {
                bail!(text!("--values has {} numbers for {moves} moves; give one per move", args.values.len()));
            }
            let Some(&value) = original.checked_sub(1).and_then(|m| args.values.get(m)) else {
                bail!(text!("--original is {original}; give a move from 1 to {moves}"));
            };
            let position = Position::of_plurality(1.0, args.values.clone(), value, &voters, args.tie)?;
            Some(judge(&[position]))
        }
    };
    let document = || report::document(&voters, args.tie, &found, verdict.as_ref());
    args.output.print(document, || report::text(&voters, args.tie, &found, verdict.as_ref(), language()))?;
    Ok(Done::Yes)
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab theory bounds --voters 5 --probabilities .3,.2,.2,.1,.1,.1
  evalcurve-lab theory bounds --map plots --moves 6 --most-voters 30
      heat maps and a table of where the printed bounds hold: one move with probability p, the others with equal shares

As printed, the theorems apply the factor (1-p)^(n-i) twice and hold only in some cases. The mended bounds always \
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
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = size().range(2..=1_000))]
    moves: usize,

    /// Largest number of voters for --map
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = size().range(1..=200))]
    most_voters: usize,

    #[command(flatten)]
    output: OutputArgs,
}

fn size() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new()
}

pub(super) fn bounds(args: &BoundsArgs) -> anyhow::Result<Done> {
    if let Some(folder) = &args.map {
        let probabilities: Vec<f64> = (1..=38).map(|k| f64::from(k) / 40.0).collect();
        let cells = sato_map::map(args.moves, args.most_voters, &probabilities)?;
        make_folder(folder)?;
        let written = report::write_maps(&cells, args.moves, folder, &PlotOptions::default())?;
        let summary = (report::map_summary(&cells), report::map_text(&cells, language()));
        return list_plots(&args.output, &written, language().word(" and .png"), Some(summary));
    }
    let (Some(voters), pi) = (args.voters, &args.probabilities) else {
        bail!(text!("give --voters and --probabilities, or --map FOLDER"));
    };
    let bounds = report::BoundsTable::new(voters, pi)?;
    args.output.print(|| bounds.document(), || bounds.text(language()))?;
    Ok(Done::Yes)
}
