//! `evalcurve sample`

use std::path::PathBuf;

use serde_json::json;

use super::Done;
use super::files::{check_replace, make_parent, shown};
use super::load::load;
use super::options::{InputArgs, OutputArgs};
use crate::calibrate::mark_mates;
use crate::report::{json, text};
use crate::say;
use crate::table;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve sample games/ --out samples.parquet
  evalcurve sample games/ --out samples.csv --from-ply 1 --window 20 --seed 7

Any tool can read the table, and all commands of evalcurve accept it instead of the records.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// File for the table, .parquet or .csv
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    out: PathBuf,

    /// Replace an existing file
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    if !table::is_table(&args.out) {
        anyhow::bail!("{}: a sample table ends in .parquet or .csv", args.out.display());
    }
    check_replace(&args.out, args.force)?;
    let mut loaded = load(&args.input, args.output.quiet)?;
    mark_mates(&mut loaded.collected.table, &args.input.fit.thresholds());
    make_parent(&args.out)?;
    table::write(&loaded.collected.table, &args.out, args.input.threads())?;
    let samples = loaded.collected.table.samples.len();
    let (report, language) = (&loaded.collected.report, args.input.language.chosen());
    let document = || {
        let table = args.out.to_string_lossy();
        let (positions, seed) = (&report.positions, args.input.seed);
        let more = json!({ "positions": positions, "samples": samples, "table": table, "seed": seed });
        json::about_records(report, &loaded.notes, more)
    };
    let text = || {
        let count = text::thousands(samples as u64);
        let (read, out) = (text::reading(report, language), shown(&args.out));
        say!(language, "{read}written {count} samples to {out}\n", "{read}{count} 標本を {out} に書き出しました\n")
    };
    args.output.print(document, text)?;
    loaded.warn(args.output.is_quiet());
    Ok(if samples > 0 { Done::Yes } else { Done::Nothing })
}
