//! `evalcurve calibrate`

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::ArgPredicate;
use evalcurve_app::calibrate::{EngineResult, among_most, forecasts, with_forecasts};
use evalcurve_app::cli::engines::{Engines, nothing};
use evalcurve_app::cli::files::{calibrations_in, check_replace, is_there, make_folder, make_parent, note_all, shown};
use evalcurve_app::cli::options::{InputArgs, OutputArgs, TableArgs};
use evalcurve_app::cli::{Done, Heading, Limits, Program, ScoreRecords, Subcommand, terminal};
use evalcurve_app::report::figures::BinChoice;
use evalcurve_app::report::text::{printable, wrap};
use evalcurve_app::{Calibrate, Calibrated, Input};
use evalcurve_engine::Game;
use evalcurve_figures::PlotOptions;
use evalcurve_fit::calibration::{Calibration, Reading, file_stems};
use evalcurve_fit::parallel;
use evalcurve_tables as table;
use evalcurve_words::language::Language;
use evalcurve_words::whole_file::WholeFiles;
use evalcurve_words::{key, say, text};

use crate::drawings;
use crate::wdl_figures::drawings_of_results;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve calibrate games/ --out calibrations
  evalcurve calibrate games.zip --min-samples 300
  evalcurve calibrate games/ --alias \"Gikou_* = Gikou\" --mate-threshold auto
  evalcurve calibrate samples-*.parquet --dry-run --model least-squares --json
  evalcurve calibrate floodgate-2016.tar.zst --model auto
  evalcurve calibrate games/ --analyse-with \"fairy-stockfish option.UCI_Variant=shogi depth=7\"

Writes OUT/ENGINE.json, one calibration file per engine, and plots as SVG and PNG. `evalcurve winrate` reads \
the files. w1 and w2 are the parameters of 1 / (1 + exp(-w1 x + w2)).")]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Folder for the calibration files
    #[arg(long, short, value_name = "FOLDER", default_value = "evalcurve-out", help_heading = "Output")]
    out: PathBuf,

    /// Folder for the plots [default: OUT/plots]
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    plots: Option<PathBuf>,

    /// Draw no plots
    #[arg(long, default_value_if("plots", ArgPredicate::IsPresent, "false"), help_heading = "Output")]
    no_plots: bool,

    /// Print the table and write no calibration and no plot
    #[arg(long, conflicts_with_all = ["out", "plots", "analyse_with"], help_heading = "Output")]
    dry_run: bool,

    /// Write the out-of-sample forecasts of the model, one row per fitted sample, .parquet or .csv
    #[arg(long, value_name = "FILE", requires = "dry_run", conflicts_with_all = ["out", "plots", "analyse_with"],
          help_heading = "Output", hide_short_help = true)]
    forecasts: Option<PathBuf>,

    /// Replace files that evalcurve did not write, and write calibrations that should not be used
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    force: bool,

    /// Calibrate this engine on positions of the records, instead of the engines that played
    ///
    /// A command with options and limit, as `analyse` reads it; may be repeated.
    #[arg(long, value_name = "COMMAND")]
    analyse_with: Vec<String>,

    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Calibrates the engines in records, and writes those in `limits` into a folder, each with its limit: records have
/// only one for both players. Returns the stems of the files that were written.
pub fn run_for(
    limits: &Limits,
    records: &Path,
    command: Calibrate,
    out: &Path,
    language: Language,
) -> anyhow::Result<BTreeSet<String>> {
    let job = Job {
        input: Input::paths([records]),
        out,
        force: false,
        limits: Some(limits),
        plots: None,
        table: &TableArgs { without_options: true, ..TableArgs::default() },
        output: OutputArgs::default(),
        language,
    };
    let (_, written) = job.run(command)?;
    let stem = |path: &String| Some(Path::new(path).file_stem()?.to_string_lossy().into_owned());
    Ok(written.iter().flatten().filter_map(stem).collect())
}

impl Args {
    /// Whether engines run.
    fn with_engines(&self) -> bool {
        !self.analyse_with.is_empty()
    }

    /// Prints the table, and writes no more than the forecasts.
    fn print(&self) -> anyhow::Result<Done> {
        let mut command = self.input.calibrate();
        if !self.output.json {
            // the table does not show bootstrap intervals
            command.fitting.bands = 0;
        }
        if let Some(path) = &self.forecasts {
            if !table::is_table(path) {
                bail!(text!("{}: the name of a table of forecasts must end in .parquet or .csv", path.display()));
            }
            check_replace(path, self.force)?;
        }
        let engines = Engines::calibrated(&command, &self.input.input(), self.output.quiet)?;
        let (found, language) = (&engines.0.value, self.input.language.chosen());
        if let Some(path) = &self.forecasts {
            let mut all = forecasts(&found.table, &found.options);
            all.retain(|engine| found.results.iter().any(|result| result.name == engine.name));
            make_parent(path)?;
            let threads = rayon::current_num_threads();
            with_forecasts(&found.table, &all, |columns| table::write_columns(columns, path, threads))?;
        }
        engines.print(&self.output, &[], language, || engines.summary(&self.table, language))?;
        let calibrated = found.results.iter().any(|result| result.calibration.is_some());
        Ok(if calibrated { Done::Yes } else { nothing(found.results.iter(), language) })
    }

    /// What is calibrated: the records, or the table that engines make of them.
    /// `None` if no answer of an engine counts.
    fn analysed(&self, program: &Program) -> anyhow::Result<Option<(InputArgs, Option<Limits>)>> {
        let (mut input, mut limits) = (self.input.clone(), None);
        if self.with_engines() {
            let table = self.out.join("analysed.parquet");
            make_folder(&self.out)?;
            let found = (program.services.score_records)(&ScoreRecords {
                input: &self.input,
                commands: &self.analyse_with,
                game: Game::Shogi,
                table: &table,
                force: self.force,
                quiet: self.output.is_quiet(),
            })?;
            let Some(found) = found else { return Ok(None) };
            limits = Some(found);
            input.paths = vec![table];
        }
        Ok(Some((input, limits)))
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "calibrate";
    const ABOUT: &'static str = key!("Calibrate the engines of game records: table, files, plots");
    const HEADING: Heading = Heading::Calibrate;

    fn run(&self, program: &Program) -> anyhow::Result<Done> {
        if self.dry_run { self.print() } else { run(self, program) }
    }

    fn has_engines(&self) -> bool {
        self.with_engines()
    }
}

fn run(args: &Args, program: &Program) -> anyhow::Result<Done> {
    let Some((input, limits)) = args.analysed(program)? else { return Ok(Done::Nothing) };
    let language = args.input.language.chosen();
    let folder = || args.plots.clone().unwrap_or_else(|| args.out.join("plots"));
    let bins = input.fitting().bin.1;
    let plots = (!args.no_plots).then(|| Plots { folder: folder(), bins, language });
    let job = Job {
        input: input.input(),
        out: &args.out,
        force: args.force,
        limits: limits.as_ref(),
        plots,
        table: &args.table,
        output: args.output,
        language,
    };
    let (results, written) = job.run(input.calibrate())?;
    Ok(if written.iter().any(Option::is_some) { Done::Yes } else { nothing(results.iter(), language) })
}

/// A calibration whose files are written.
struct Job<'a> {
    input: Input,
    out: &'a Path,
    force: bool,
    /// The engines to write, with the limits of their searches; `None` for all players of games.
    limits: Option<&'a Limits>,
    plots: Option<Plots>,
    table: &'a TableArgs,
    output: OutputArgs,
    language: Language,
}

impl Job<'_> {
    /// Calibrates, writes and prints. Returns the results, and the paths in their order.
    fn run(&self, mut command: Calibrate) -> anyhow::Result<(Vec<EngineResult>, Vec<Option<String>>)> {
        let json = self.output.json;
        if self.plots.is_none() && !json {
            // neither the files nor the table show them
            command.fitting.bands = 0;
        }
        // figures have bands by the covariance
        command.fitting.bootstrap_sigmoids = json;
        command.fitting.bootstrap_of = self.plots.as_ref().filter(|_| !json).map(|_| MOST_FIGURES);
        let engines = Engines::calibrated(&command, &self.input, self.output.quiet)?;
        let Calibrated { results, options, .. } = &engines.0.value;
        // what cannot be written is known before the first file is replaced
        if let Some(plots) = self.plots.as_ref().filter(|_| results.iter().any(|r| r.has_enough(options))) {
            make_folder(&plots.folder)?;
        }
        let (files, written) = prepare_calibrations(results, self.limits, self.out, self.force)?;
        // the disk takes the files while figures are drawn
        let (done, drawn) = std::thread::scope(|scope| {
            let finish = scope.spawn(|| files.finish());
            let draw = |plots: &Plots| plots.draw(&engines.0.value, self.output.is_quiet());
            let drawn = self.plots.as_ref().map(draw).transpose();
            (finish.join().unwrap_or_else(|panic| resume_unwind(panic)), drawn)
        });
        done?;
        let drawn = drawn?;
        let strangers = of_other_games(results, &written, self.out);
        let text = || {
            let parts = self.written(results, &written, drawn.unwrap_or(0));
            let written = wrap(&parts.join(self.language.word("; ")), terminal::width(), 2);
            format!("{}\n{written}", engines.summary(self.table, self.language))
        };
        engines.print(&self.output, &written, self.language, text)?;
        if !self.output.is_quiet() {
            self.warn_of(&strangers);
        }
        Ok((engines.0.value.results, written))
    }

    /// The files and plots that were written.
    fn written(&self, results: &[EngineResult], written: &[Option<String>], plots: usize) -> Vec<String> {
        let language = self.language;
        let mut parts = match (written.iter().flatten().count(), shown(self.out)) {
            (0, _) => vec![say!(language, "no calibration file written")],
            (1, out) => vec![say!(language, "written 1 calibration file to {out}")],
            (n, out) => vec![say!(language, "written {n} calibration files to {out}")],
        };
        let refused = results.iter().filter(|r| r.calibration.is_some() && r.refusal().is_some());
        let refused: Vec<&str> = refused.filter(|_| !self.force).map(|r| r.name.as_str()).collect();
        if !refused.is_empty() {
            let refused = printable(&refused.join(", "));
            parts.push(match self.table.without_options {
                true => say!(language, "none for {refused}, for the reasons below"),
                false => say!(language, "none for {refused}, for the reasons below (--force writes them)"),
            });
        }
        if let Some(folder) = self.plots.as_ref().map(|plots| shown(&plots.folder)).filter(|_| plots > 0) {
            parts.push(match plots {
                1 => say!(language, "1 plot to {folder}"),
                n => say!(language, "{n} plots to {folder}"),
            });
        }
        parts
    }

    /// Warns of files in the folder that another run wrote.
    fn warn_of(&self, strangers: &[String]) {
        let (language, folder) = (self.language, shown(self.out));
        terminal::warning(&match strangers {
            [] => return,
            [one] => {
                say!(language, "{folder} also holds {one}, which another run made from other games or by other options")
            }
            [first, others @ ..] => say!(
                language,
                "{folder} also holds {first} and {} more, which another run made from other games or by other options",
                others.len()
            ),
        });
    }
}

/// Writes one file per engine, or per engine in `limits`, all or none. Returns the paths in the order of the results,
/// `None` for a result without a file.
pub(super) fn write_calibrations(
    results: &[EngineResult],
    limits: Option<&Limits>,
    out: &Path,
    force: bool,
) -> anyhow::Result<Vec<Option<String>>> {
    let (files, paths) = prepare_calibrations(results, limits, out, force)?;
    files.finish()?;
    Ok(paths)
}

/// Writes the files beside the old ones, and returns the paths that they will have.
fn prepare_calibrations(
    results: &[EngineResult],
    limits: Option<&Limits>,
    out: &Path,
    force: bool,
) -> anyhow::Result<(WholeFiles, Vec<Option<String>>)> {
    let names: Vec<&str> = results.iter().map(|r| r.name.as_str()).collect();
    let path_of = |(stem, result): (String, &EngineResult)| {
        let limit = limits.map(|limits| limits.get(&result.name));
        let may_write = limit != Some(None) && (force || result.refusal().is_none());
        (may_write && result.calibration.is_some()).then(|| (out.join(format!("{stem}.json")), limit.flatten()))
    };
    let paths: Vec<Option<(PathBuf, Option<&String>)>> =
        file_stems(&names).into_iter().zip(results).map(path_of).collect();
    let given = || paths.iter().flatten().map(|(path, _)| path);
    // before the first file is written
    for path in given().filter(|path| is_there(path) && Calibration::read(path).is_err()) {
        check_replace(path, force)?;
    }
    if given().next().is_some() {
        make_folder(out)?;
    }
    let file = |(path, result): (&Option<(PathBuf, Option<&String>)>, &EngineResult)| -> anyhow::Result<WholeFiles> {
        let mut file = WholeFiles::default();
        if let (Some((path, limit)), Some(calibration)) = (path, &result.calibration) {
            let mut calibration = Cow::Borrowed(calibration);
            if let Some(limit) = limit
                && let Some(provenance) = &mut calibration.to_mut().provenance
            {
                provenance.time_controls = vec![(*limit).clone()];
            }
            file.add(path, calibration.to_json()?.as_bytes())?;
        }
        Ok(file)
    };
    let mut together = WholeFiles::default();
    for file in parallel::map_into(paths.iter().zip(results).collect(), file) {
        together.append(file?);
    }
    Ok((together, paths.iter().map(|path| path.as_ref().map(|(path, _)| shown(path))).collect()))
}

/// The names of calibration files in the folder that are not of this run and were made from other inputs or by other
/// options: their engines are on no common scale with those of this run.
fn of_other_games(results: &[EngineResult], written: &[Option<String>], out: &Path) -> Vec<String> {
    let made_from =
        |c: &Calibration| (c.provenance.as_ref().map(|p| p.inputs.clone()), c.sampling.clone(), c.model.kind);
    let Some(own) = results.iter().find_map(|result| result.calibration.as_ref()).map(made_from) else {
        return Vec::new();
    };
    let written: HashSet<&str> = written.iter().flatten().map(String::as_str).collect();
    let others = calibrations_in(out).into_iter().filter(|path| !written.contains(shown(path).as_str()));
    let differ = |path: &PathBuf| Calibration::read(path).is_ok_and(|other| made_from(&other) != own);
    let name = |path: PathBuf| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    others.filter(differ).map(name).collect()
}

/// How many engines have figures: nobody looks through more, and with 500 they took longer than all fits.
const MOST_FIGURES: usize = 50;

/// The figures of engines.
struct Plots {
    folder: PathBuf,
    bins: BinChoice,
    language: Language,
}

impl Plots {
    /// Draws and writes. Returns the number of files.
    fn draw(&self, found: &Calibrated, is_quiet: bool) -> anyhow::Result<usize> {
        let Calibrated { table, results, options, .. } = found;
        let language = self.language;
        let enough: Vec<&EngineResult> = results.iter().filter(|r| r.has_enough(options)).collect();
        let drawn = among_most(&enough.iter().map(|r| r.samples).collect::<Vec<u64>>(), Some(MOST_FIGURES));
        if enough.len() > MOST_FIGURES && !is_quiet {
            let all = enough.len();
            terminal::note(&say!(
                language,
                "figures of the {MOST_FIGURES} of {all} engines with most samples; `evalcurve plot` draws others"
            ));
        }
        let drawn: Vec<&EngineResult> =
            enough.into_iter().zip(drawn).filter_map(|(r, drawn)| drawn.then_some(r)).collect();
        let series = drawings::series_of_results(drawn.iter().copied(), options.min_bin, self.bins, language);
        if series.is_empty() {
            return Ok(0);
        }
        let mut drawings = drawings::drawings(&series, Reading::Equal);
        drawings.extend(drawings_of_results(drawn, table, options));
        let plot = PlotOptions { language, ..PlotOptions::default() };
        let written = drawings::write(&drawings, &self.folder, &plot, false)?;
        note_all(&written.left_out, is_quiet, language);
        Ok(written.files.len())
    }
}
