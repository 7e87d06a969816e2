//! `evalcurve plot`

use std::path::{Path, PathBuf};

use anyhow::bail;
use evalcurve_app::Calibrated;
use evalcurve_app::cli::files::{is_calibration, list_plots, make_folder, note_all, with_calibrations_of_folders};
use evalcurve_app::cli::options::{InputArgs, OutputArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, progress, terminal};
use evalcurve_app::judge::split::{SMALL_BIN, Split, SplitCurves};
use evalcurve_app::report::figures;
use evalcurve_app::report::figures::{FEWEST_POINTS, FigureError};
use evalcurve_figures::{PlotError, PlotOptions};
use evalcurve_fit::calibration::{Calibration, Reading, file_stems};
use evalcurve_fit::parallel;
use evalcurve_words::language::Text;
use evalcurve_words::{key, say, text};

use super::points::{note_splits, print};
use crate::constants::chosen_calibrations;
use crate::{Curve, drawings, wdl_figures};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve plot data/published/*.json --field --out figure-1
      the published sigmoids of three engines (Takeuchi 2018, figure 1)
  evalcurve plot samples.parquet --min-bin 20 --out plots
  evalcurve plot evalcurve-out
      the calibration files of a folder
  evalcurve plot old/Gikou.json new/Gikou.json
  evalcurve plot games/ --by phase --by \"opponent = Gikou*\"
      curves of parts of the samples: does a score mean the same in every phase?

Draws every figure that the inputs allow: curves need counts, which published coefficients do not have. Of the \
filters, only --engine applies to calibration files.")]
pub struct Args {
    #[command(flatten)]
    pub(super) curve: CurveArgs,

    /// Folder for the plots
    #[arg(long, short, value_name = "FOLDER", default_value = "evalcurve-plots", help_heading = "Output")]
    out: PathBuf,

    /// Draw the sigmoids against the opponents of the records, not between equals
    #[arg(long, help_heading = "Plots")]
    field: bool,

    /// Draw scores from -CP to CP centipawns [default: as far as the data]
    #[arg(long, value_name = "CP", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Plots",
          hide_short_help = true)]
    score_limit: Option<u32>,

    /// Print the points of the curves as CSV (JSON with --json) and draw nothing
    ///
    /// Columns: engine, bin (number k of the bin [k·BIN, (k+1)·BIN)), mean score in the bin, wins, draws, losses, win
    /// rate with draws as half a win, its 95% Wilson interval (which assumes independent samples), and its 95%
    /// bootstrap interval over games (--bands). With --by: engine, split and group first, and no bootstrap interval.
    #[arg(long, conflicts_with_all = ["out", "field", "score_limit", "data"], help_heading = "Output")]
    points: bool,

    /// Write the numbers of each figure as CSV beside it
    #[arg(long, help_heading = "Plots")]
    data: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Which curves are counted.
#[derive(Debug, clap::Args)]
pub struct CurveArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,

    /// Split by phase, color, rating-gap, opponent, time-control, or by a condition ("ply >= 90 and color = black");
    /// may be repeated
    #[arg(long, value_name = "HOW", value_parser = Split::parse, help_heading = "Splitting")]
    pub(super) by: Vec<Split>,
}

impl CurveArgs {
    /// The command.
    pub fn command(&self) -> Curve {
        Curve { reading: self.input.reading(), fitting: self.input.fitting(), splits: self.by.clone() }
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "plot";
    const ABOUT: &'static str = key!("Draw plots from calibration files, sample tables or records");
    const HEADING: Heading = Heading::Calibrate;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        if self.points { print(self) } else { run(self) }
    }
}

fn run(args: &Args) -> anyhow::Result<Done> {
    let mut command = args.curve.input.calibrate();
    // no output depends on out-of-sample scores
    command.fitting.folds = None;
    let (min_bin, bins) = (command.fitting.min_bin, command.fitting.bin.1);
    let language = args.curve.input.language.chosen();
    let paths = with_calibrations_of_folders(&args.curve.input.paths)?;
    let files = paths.iter().filter(|path| is_calibration(path)).count();
    let plot_options =
        PlotOptions { score_limit_cp: args.score_limit.map(f64::from), language, ..PlotOptions::default() };
    if !args.curve.by.is_empty() {
        if files > 0 {
            bail!(text!("a calibration file has no samples to split: give records or a sample table to --by"));
        }
        return split(args, args.curve.command(), &plot_options);
    }
    let mut calibrations: Vec<Calibration> = Vec::new();
    let mut records = None;
    let series: Vec<_> = if files == 0 {
        let found = progress::shown(args.output.quiet, |progress| command.run(&args.curve.input.input(), progress))?;
        terminal::tell(&found, args.output.quiet, language);
        let Calibrated { results, options, .. } = &found.value;
        let enough = results.iter().filter(|r| r.has_enough(options));
        let series = drawings::series_of_results(enough, min_bin, bins, language);
        records = Some(found.value);
        series
    } else if files < paths.len() {
        bail!(text!("cannot draw calibration files (.json) and records together; calibrate the records first"));
    } else {
        let (all, notes) = chosen_calibrations(&args.curve.input.input(), &command.reading)?;
        note_all(&notes, args.output.is_quiet(), language);
        calibrations = all;
        let coloured = calibrations.iter().enumerate();
        coloured.map(|(color, c)| figures::series_of_calibration(c, color, min_bin, language)).collect()
    };
    if series.is_empty() {
        return report(args, &[], None);
    }
    make_folder(&args.out)?;
    let reading = if args.field { Reading::Field } else { Reading::Equal };
    let mut drawings = drawings::drawings(&series, reading);
    drawings.extend(match &records {
        Some(Calibrated { results, table, options, .. }) => wdl_figures::drawings_of_results(results, table, options),
        None => wdl_figures::drawings(calibrations.iter().map(|calibration| (calibration, Vec::new()))),
    });
    let drawings::Written { files, left_out } = drawings::write(&drawings, &args.out, &plot_options, args.data)?;
    note_all(&left_out, args.output.is_quiet(), language);
    let why = || text!("no engine has anything within the axes");
    report(args, &files, (!left_out.is_empty()).then(why))
}

/// Draws the curves of parts of the samples.
fn split(args: &Args, command: Curve, plot_options: &PlotOptions) -> anyhow::Result<Done> {
    let (language, min_bin) = (args.curve.input.language.chosen(), command.fitting.min_bin);
    let found = progress::shown(args.output.quiet, |progress| command.run(&args.curve.input.input(), progress))?;
    let splits = &found.value.splits;
    terminal::tell(&found, args.output.quiet, language);
    note_splits(splits, args.output.is_quiet(), language);
    make_folder(&args.out)?;
    let written = write_splits(splits, min_bin, &args.out, plot_options, args.data)?;
    let why = splits.first().map(|_| {
        let fewest = min_bin.min(SMALL_BIN);
        text!("no two parts have {FEWEST_POINTS} points of at least {fewest} samples; --min-bin makes smaller ones")
    });
    report(args, &written, why)
}

/// Writes one figure per engine and split into `folder`, which must exist. Splits without two parts that have points
/// enough are left out. Returns the paths of the SVG files.
fn write_splits(
    splits: &[SplitCurves],
    min_bin: u64,
    folder: &Path,
    options: &PlotOptions,
    data: bool,
) -> Result<Vec<PathBuf>, FigureError> {
    let drawn = splits.iter().map(|s| (s, figures::split_figure(s, min_bin, options)));
    let drawn: Vec<_> = drawn.filter(|(_, figure)| !matches!(figure, Err(PlotError::Nothing { .. }))).collect();
    let names: Vec<String> = drawn.iter().map(|(s, _)| format!("{}-by-{}", s.engine, s.by)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let stems = file_stems(&names);
    let drawn = drawn.into_iter().zip(&stems).collect();
    let saved = parallel::map_into(drawn, |((_, figure), stem)| figures::save(figure, folder, stem, data));
    saved.into_iter().collect()
}

/// Lists the files written. `why` says why there are none, if engines have enough samples.
fn report(args: &Args, written: &[PathBuf], why: Option<Text>) -> anyhow::Result<Done> {
    let language = args.curve.input.language.chosen();
    if written.is_empty() {
        let why = why.unwrap_or_else(|| text!("no engine has enough samples (--min-samples) and games (--min-games)"));
        terminal::error(&say!(language, "nothing to draw: {}", why.text(language)));
        return Ok(Done::Nothing);
    }
    let also = language.word(if args.data { key!(", .png and .csv") } else { key!(" and .png") });
    list_plots(&args.output, written, also, None)
}
