//! `evalcurve sample`

use std::path::PathBuf;

use super::calibrate::{check_replace, make_parent};
use super::load::load;
use super::options::{FitArgs, InputArgs, TellArgs};
use super::{Done, terminal};
use crate::calibrate::mark_mates;
use crate::report::{json, text};
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
    #[command(flatten)]
    fit: FitArgs,

    /// File for the table, .parquet or .csv
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    out: PathBuf,

    /// Replace an existing file
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    tell: TellArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    if !table::is_table(&args.out) {
        anyhow::bail!("{}: a sample table ends in .parquet or .csv", args.out.display());
    }
    check_replace(&args.out, args.force)?;
    let mut loaded = load(&args.input, args.fit.material(), args.tell.quiet)?;
    mark_mates(&mut loaded.collected.table, &args.fit.thresholds());
    make_parent(&args.out)?;
    table::write(&loaded.collected.table, &args.out, args.input.threads())?;
    let samples = loaded.collected.table.samples.len();
    if args.tell.json {
        let report = &loaded.collected.report;
        let (games, files, problems) = json::reading(report);
        let document = serde_json::json!({
            "games": games, "files": files, "positions": json::positions(report), "problems": problems,
            "notes": loaded.notes, "samples": samples, "table": args.out.to_string_lossy(), "seed": args.input.seed,
        });
        terminal::print(&format!("{document:#}\n"))?;
    } else if !args.tell.quiet {
        let mut out = text::reading(&loaded.collected.report);
        out += &format!("written {} samples to {}\n", text::thousands(samples as u64), args.out.display());
        terminal::print(&out)?;
        loaded.tell(false);
    }
    Ok(if samples > 0 { Done::Yes } else { Done::Nothing })
}
