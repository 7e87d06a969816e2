//! `evalcurve constant`

use std::path::PathBuf;

use serde_json::json;

use super::engines::{SHOWN, nothing, warn};
use super::files::{make_folder, shown};
use super::options::{InputArgs, OutputArgs};
use super::{Done, progress, terminal};
use crate::calibrate::CalibrateOptions;
use crate::calibration::{Calibration, file_stems};
use crate::language::Language;
use crate::plot::{EngineSeries, PlotOptions, curve_with_fits};
use crate::report::columns::Columns;
use crate::report::figures::{BinChoice, save, series_of_calibration, series_of_result};
use crate::report::headline::Verdict;
use crate::report::small_plot::small_plot;
use crate::report::text::{DASH, constant, model_name, printable, thousands};
use crate::run::{Constant, EngineConstant};
use crate::say;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve constant evalcurve-out/Gikou.json
      the constant in a calibration file
  evalcurve constant evalcurve-out/*.json --engine \"Gikou*\"
      those of some engines; a calibration file takes no other filter
  evalcurve constant games/ --engine \"Gikou*\"
      the constant of one engine in game records

Prints 1/w1 with its 95% interval, whether it can be used, and a small plot. A larger plot goes into a file.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Folder for the plot
    #[arg(long, short, value_name = "FOLDER", default_value = "evalcurve-plots", help_heading = "Output")]
    out: PathBuf,

    #[command(flatten)]
    output: OutputArgs,
}

/// One engine: its calibration, the games it is from, and its curves.
struct Engine {
    calibration: Calibration,
    games: Option<u64>,
    series: EngineSeries,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let language = args.input.language.chosen();
    let command = Constant { reading: args.input.reading(), fitting: args.input.fitting() };
    let found = progress::shown(args.output.quiet, |progress| command.run(&args.input.input(), progress))?;
    terminal::tell(&found, args.output.is_quiet(), language);
    let min_bin = command.fitting.min_bin;
    let engine = |EngineConstant { calibration, games, result }: &EngineConstant| {
        let calibration = calibration.clone()?;
        let series = match result {
            Some(result) => series_of_result(result, 0, min_bin, BinChoice::Auto, language),
            None => series_of_calibration(&calibration, 0, CalibrateOptions::default().min_bin, language),
        };
        Some(Engine { calibration, games: *games, series })
    };
    let mut engines: Vec<Engine> = found.value.iter().filter_map(engine).collect();
    if engines.is_empty() {
        return Ok(nothing(found.value.is_empty(), language));
    }
    engines.sort_by_key(|e| std::cmp::Reverse(e.series.samples));
    let picture = match &engines[..] {
        [one] => Some(draw(args, one)?),
        _ => None,
    };
    let document = || {
        let one = |e: &Engine| {
            let found = e.calibration.constant();
            json!({
                "engine": e.calibration.engine.name,
                "constant": found.as_ref().map(|c| c.value),
                "interval": found.and_then(|c| c.interval),
                "samples": e.series.samples,
                "verdict": Verdict::of(&e.calibration).word(Language::English),
            })
        };
        json!({ "engines": engines.iter().map(one).collect::<Vec<_>>(), "picture": picture })
    };
    args.output.print(document, || text(args, &engines, picture.as_deref()))?;
    if !args.output.is_quiet() {
        warn(found.value.iter().filter_map(|engine| engine.result.as_ref()), language);
        // what a file knows
        let files = found.value.iter().filter(|engine| engine.result.is_none());
        files.filter_map(|engine| engine.calibration.as_ref()).for_each(|c| terminal::doubts(c, language));
    }
    Ok(Done::Yes)
}

/// Draws the engine's curve into a file and returns its path.
fn draw(args: &Args, engine: &Engine) -> anyhow::Result<String> {
    make_folder(&args.out)?;
    let stem = file_stems(&[engine.calibration.engine.name.as_str()]).pop().unwrap_or_default();
    let figure = curve_with_fits(
        &engine.series,
        &PlotOptions { language: args.input.language.chosen(), ..PlotOptions::default() },
    );
    let svg = save(figure, &args.out, &format!("{stem}-curve"), false)?;
    Ok(shown(&svg.with_extension("png")))
}

fn text(args: &Args, engines: &[Engine], picture: Option<&str>) -> String {
    let language = args.input.language.chosen();
    let value = |e: &Engine| constant(&e.calibration).unwrap_or_else(|| DASH.to_owned());
    let verdict = |e: &Engine| Verdict::of(&e.calibration).advice(&e.calibration, e.games, language);
    if let ([one], Some(picture)) = (engines, picture) {
        let games = one.games.map_or_else(String::new, |games| say!(language, " of {} games", thousands(games)));
        let samples = thousands(one.series.samples);
        let samples = say!(language, "{samples} samples{games}");
        let doubts = one.calibration.doubts.iter().map(|doubt| say!(language, "  it {doubt}\n"));
        let plot = small_plot(&one.series).unwrap_or_default();
        return format!(
            "{}\n\n  1/w1 = {} ({samples}{}{})\n  {}\n{}\n{plot}\n{picture}\n",
            terminal::heading(&printable(&one.calibration.engine.name)),
            value(one),
            language.word(", "),
            model_name(one.calibration.model.kind, language),
            verdict(one),
            doubts.collect::<String>(),
        );
    }
    let columns = Columns::new()
        .name(language.word("engine"), 28, |e: &&Engine| e.calibration.engine.name.clone())
        .left("1/w1 [95%]", 18, |e| value(e))
        .gap(2)
        .left(language.word("verdict"), 0, |e| verdict(e));
    let mut out = terminal::heading(columns.head().trim_end()) + "\n" + &columns.rows(engines.iter().take(SHOWN));
    if engines.len() > SHOWN {
        out += &say!(language, "the {} of {} engines with most samples\n", SHOWN, engines.len());
    }
    out + language.word("--engine NAME shows one engine with its curve\n")
}
