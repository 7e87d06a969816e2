//! `evalcurve compare`

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::files::calibration;
use super::{Done, terminal};
use crate::diagnose::drift::{AtScore, Drift, DriftOptions, Verdict, drift};
use crate::fit::Method;
use crate::report::columns::Columns;
use crate::report::text;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve compare released/Gikou.json evalcurve-out/Gikou.json
  evalcurve compare old.json new.json --tolerance 5 --json
  evalcurve compare old.json new.json --score 300 --score -300 --model least-squares

Tests whether the scale of an engine's scores moved: w1 is the value of a centipawn. Exit code 0: it did not move by
more than the tolerance, or there are too few games; 1: it moved; 2: usage or input error. For use in an engine's CI.")]
pub(super) struct Args {
    /// Calibration file of the old version
    old: PathBuf,

    /// Calibration file of the new version
    new: PathBuf,

    /// Tolerated change of w1, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0)]
    tolerance: f64,

    /// Compare win rates at these scores [default: -1000 -500 -200 0 200 500 1000]
    #[arg(long, value_name = "CP", allow_negative_numbers = true)]
    score: Vec<f64>,

    /// The fits to compare [default: the chosen model of OLD]
    #[arg(long, value_parser = methods())]
    model: Option<Method>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print only errors; the exit code is the result
    #[arg(long, short)]
    quiet: bool,
}

/// The sigmoids whose slopes can be compared.
fn methods() -> impl TypedValueParser<Value = Method> {
    let all =
        [("least-squares", "lse", Method::LeastSquares), ("maximum-likelihood", "mle", Method::MaximumLikelihood)];
    let value = |(name, short, method): (&'static str, &'static str, Method)| {
        PossibleValue::new(name).aliases([short, method.as_str()])
    };
    PossibleValuesParser::new(all.map(value)).map(move |word| {
        let named = all.iter().find(|(name, short, method)| [*name, *short, method.as_str()].contains(&word.as_str()));
        named.map_or(Method::MaximumLikelihood, |(.., method)| *method)
    })
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let (old, new) = (calibration(&args.old)?, calibration(&args.new)?);
    let defaults = DriftOptions::default();
    let options = DriftOptions {
        tolerance_percent: args.tolerance,
        method: args.model,
        scores: if args.score.is_empty() { defaults.scores } else { args.score.clone() },
    };
    let found = drift(&old, &new, &options)?;
    if args.json {
        let mut document = serde_json::to_value(&found)?;
        document["sentence"] = serde_json::json!(found.sentence());
        terminal::print(&format!("{document:#}\n"))?;
    } else if !args.quiet {
        terminal::print(&table(&found))?;
        found.remarks.iter().for_each(|remark| terminal::warning(remark));
    }
    Ok(if found.verdict == Verdict::Moved { Done::Nothing } else { Done::Yes })
}

fn table(found: &Drift) -> String {
    let names = if found.old_engine == found.new_engine {
        text::printable(&found.old_engine)
    } else {
        format!("{} and {}", text::printable(&found.old_engine), text::printable(&found.new_engine))
    };
    let mut out = format!("{names}, by {}\n", found.method.as_str().replace('_', " "));
    for (label, s) in [("old", found.old), ("new", found.new)] {
        out +=
            &format!("{label}  w1 · 1000 {:.3}   w2 {:+.3}   1/w1 {:.0}\n", s.w1 * 1000.0, s.w2, s.ponanza_constant());
    }
    if let (Some(w1), Some(both)) = (found.same_w1, found.same_curve) {
        let p = |p: f64| if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
        out += &format!("equal w1: {}; equal w1 and w2: {} (Wald)\n", p(w1.p), p(both.p));
    }
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let columns = Columns::new()
        .right("score", 7, |at: &&AtScore| format!("{:+.0}", at.score_cp))
        .right("old wins", 9, |at| percent(at.old))
        .right("new wins", 9, |at| percent(at.new))
        .left("  difference [95%]", 26, |at| {
            let points = |share: f64| format!("{:+.1}", 100.0 * share);
            let ends = at.difference.interval.map(|(low, high)| format!(" [{}, {}]", points(low), points(high)));
            format!("  {}{}", points(at.difference.value), ends.unwrap_or_default())
        })
        .left("old score with the same win rate", 0, |at| format!("{:+.0}", at.old_score_cp));
    out += &format!("\n{}\n{}", terminal::heading(&columns.head()), columns.rows(&found.at));
    out + "\n" + &found.sentence() + "\n"
}
