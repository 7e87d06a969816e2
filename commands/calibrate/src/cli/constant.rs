//! `evalcurve constant`

use std::path::{Path, PathBuf};

use evalcurve_app::calibrate::{CalibrateOptions, EngineResult};
use evalcurve_app::cli::engines::{SHOWN, nothing, warn};
use evalcurve_app::cli::files::{make_folder, shown};
use evalcurve_app::cli::options::{InputArgs, games};
use evalcurve_app::cli::{Done, Heading, Limits, Program, ScoreRecords, Subcommand, progress, terminal};
use evalcurve_app::known::{self, Known};
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::figures::{BinChoice, save, series_of_calibration, series_of_result};
use evalcurve_app::report::text::{self as report, DASH, estimate, model_name, printable, thousands};
use evalcurve_app::report::verdict::Verdict;
use evalcurve_app::with_flags;
use evalcurve_calibration::CP_PER_LOGIT;
use evalcurve_engine::Game;
use evalcurve_figures::{EngineSeries, PlotOptions, curve_with_fits};
use evalcurve_fit::calibration::{Calibration, PawnValue, file_stems};
use evalcurve_words::language::Language;
use evalcurve_words::{key, say, text};
use serde_json::json;

use super::calibrate::write_calibrations;
use crate::small_plot::small_plot;
use crate::{Constant, EngineConstant};

/// The help of `--engine`.
const ENGINES: &str = "Only these engines; without PATH, commands as `analyse` reads them: these engines score \
                       positions that the program has";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve constant evalcurve-out/Gikou.json
      the constant in a calibration file
  evalcurve constant evalcurve-out --engine \"Gikou*\"
      those of some engines; a calibration file takes no other filter
  evalcurve constant games/ --engine \"Gikou*\" --out gikou
      the constant of one engine in game records; its calibration file and its plot go into the folder gikou
  evalcurve constant --known \"Houdini*\"
      what the program knows of engines that published their games
  evalcurve constant --engine \"fairy-stockfish option.UCI_Variant=shogi depth=7\"
      without a path: the engine scores positions that the program has, for about a minute

Prints the number for ShogiHome, 1/w1 with its 95% interval, whether it can be used, and a small plot; --out draws a \
larger one. Exit code 1: no engine has a constant that can be used.")]
#[command(mut_arg("paths", |paths| paths.required(false)))]
#[command(mut_arg("engine", |engine| engine.help(ENGINES).long_help(None::<&str>)))]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// The game of the engines without PATH
    #[arg(long, value_name = "GAME", value_parser = games(), default_value = "shogi")]
    #[arg(conflicts_with = "paths")]
    game: Game,

    /// List the engines that the program knows, or those that match a glob
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, conflicts_with_all = ["paths", "engine", "out"])]
    known: Option<Option<String>>,

    /// Folder for the calibration files and a plot [default: nothing is written]
    #[arg(long, short, value_name = "FOLDER", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Print one JSON document instead of the text
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print the constant and nothing else; of several engines, a line NAME, tab, constant for each
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

/// Where searches are kept while they run, without a folder.
const SEARCHES: &str = "evalcurve-searches";

/// One engine: its constant, and its curves.
struct Engine<'a> {
    found: &'a EngineConstant,
    calibration: &'a Calibration,
    series: EngineSeries,
}

impl Args {
    /// Whether engines run.
    fn with_engines(&self) -> bool {
        self.input.paths.is_empty() && self.known.is_none()
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "constant";
    const ABOUT: &'static str = key!("Show an engine's constant, whether to trust it, and its curve");
    const HEADING: Heading = Heading::Calibrate;

    fn run(&self, program: &Program) -> anyhow::Result<Done> {
        run(self, program)
    }

    fn has_engines(&self) -> bool {
        self.with_engines()
    }
}

fn run(args: &Args, program: &Program) -> anyhow::Result<Done> {
    let language = args.input.language.chosen();
    let silent = args.quiet || args.json;
    if let Some(pattern) = &args.known {
        return list(&known::matching(pattern.as_deref())?, args, language);
    }
    let (mut input, mut limits) = (args.input.clone(), None);
    if args.with_engines() {
        if input.given.filters.engine.is_empty() {
            anyhow::bail!(text!("give records or calibration files, or an engine as `engine` \"COMMAND\""));
        }
        let folder = args.out.as_deref().unwrap_or(Path::new(SEARCHES));
        let table = folder.join("analysed.parquet");
        make_folder(folder)?;
        // the journal of a run that did not end says which answers need no search
        let force = table.exists();
        let found = (program.services.score_records)(&ScoreRecords {
            input: &input,
            commands: &input.given.filters.engine,
            game: args.game,
            table: &table,
            force,
            quiet: silent,
        })?;
        let Some(found) = found else { return Ok(Done::Nothing) };
        limits = Some(found);
        input.paths = vec![table];
        input.given.filters.engine.clear();
    }
    let command = Constant { reading: input.reading(), fitting: input.fitting() };
    let found = progress::shown(args.quiet, |progress| command.run(&input.input(), progress))?;
    if limits.is_some() && args.out.is_none() {
        input.paths.iter().for_each(|table| drop(std::fs::remove_file(table)));
        let _ = std::fs::remove_dir(SEARCHES);
    }
    terminal::tell(&found, silent, language);
    let mut engines: Vec<Engine<'_>> =
        found.value.iter().filter_map(|found| Engine::of(found, command.fitting.min_bin, language)).collect();
    let results = || found.value.iter().filter_map(|engine| engine.result.as_ref());
    if engines.is_empty() {
        let done = nothing(results(), language);
        if limits.is_none() && !silent {
            terminal::note(language.word(key!(
                "without games, `evalcurve constant --engine COMMAND` lets an engine score positions that the program \
                 has"
            )));
        }
        return Ok(done);
    }
    engines.sort_by_key(|e| std::cmp::Reverse(e.series.samples));
    let mut written = written(args, results(), limits.as_ref())?;
    if let ([one], Some(out)) = (&engines[..], &args.out) {
        written.push(draw(args, out, one)?);
    }
    match (args.json, args.quiet) {
        (true, _) => terminal::print_document(&document(&engines, &written))?,
        (false, true) => terminal::print(&numbers(&engines))?,
        (false, false) => terminal::print(&with_flags(&text(&engines, &written, args.has_engines(), language)))?,
    }
    if !silent {
        warn(results(), language);
        // what a file knows
        let files = engines.iter().filter(|engine| engine.found.result.is_none());
        files.for_each(|engine| terminal::doubts(engine.calibration, language));
    }
    let usable = engines.iter().any(|engine| engine.found.usable().is_some());
    if !usable && results().next().is_some() {
        return Ok(nothing(results(), language));
    }
    Ok(if usable { Done::Yes } else { Done::Nothing })
}

/// Lists engines that the program knows.
fn list(all: &[Known], args: &Args, language: Language) -> anyhow::Result<Done> {
    let all: Vec<(&Known, Calibration)> = all.iter().filter_map(|known| Some((known, known.calibration()?))).collect();
    if args.json {
        let one = |(known, calibration): &(&Known, Calibration)| {
            json!({
                "engine": known.name(),
                "tournament": known.tournament(),
                "years": known.years(),
                "games": known.games(),
                "constant": calibration.constant(),
                "elsewhere": known.elsewhere(),
                "verdict": Verdict::of(calibration).word(Language::English),
            })
        };
        terminal::print_document(&json!({ "engines": all.iter().map(one).collect::<Vec<_>>() }))?;
        return Ok(Done::Yes);
    }
    // 80 columns in all; longer names are cut in their middle, `--json` has them whole
    let columns = Columns::new()
        .name(language.word("engine"), 33, |(known, _): &(&Known, Calibration)| known.name().to_owned())
        .left(language.word(key!("years")), 9, |(known, _)| known.years())
        .right(language.word("games"), 5, |(known, _)| thousands(known.games()))
        .gap(2)
        .left("1/w1 [95%]", 15, |(_, calibration)| report::constant(calibration).unwrap_or_else(|| DASH.to_owned()))
        .gap(1)
        .left(language.word("verdict"), 0, |(_, calibration)| Verdict::of(calibration).word(language).to_owned());
    terminal::print(&(terminal::heading(columns.head().trim_end()) + "\n" + &columns.rows(all)))?;
    if !args.quiet {
        terminal::note(language.word(key!(
            "chess of TCEC and shogi of floodgate, not games of your own; the intervals are those of these events"
        )));
    }
    Ok(Done::Yes)
}

/// Writes the calibrations of records that can be used, if a folder is given, with the limits of engines that searched.
/// Returns their paths.
fn written<'a>(
    args: &Args,
    results: impl Iterator<Item = &'a EngineResult>,
    limits: Option<&Limits>,
) -> anyhow::Result<Vec<String>> {
    let Some(out) = &args.out else { return Ok(Vec::new()) };
    let results: Vec<EngineResult> = results.cloned().collect();
    Ok(write_calibrations(&results, limits, out, false)?.into_iter().flatten().collect())
}

/// Draws the engine's curve into a file and returns its path.
fn draw(args: &Args, out: &Path, engine: &Engine<'_>) -> anyhow::Result<String> {
    make_folder(out)?;
    let stem = file_stems(&[engine.calibration.engine.name.as_str()]).pop().unwrap_or_default();
    let figure = curve_with_fits(
        &engine.series,
        &PlotOptions { language: args.input.language.chosen(), ..PlotOptions::default() },
    );
    let svg = save(figure, out, &format!("{stem}-curve"), false)?;
    Ok(shown(&svg.with_extension("png")))
}

impl<'a> Engine<'a> {
    fn of(found: &'a EngineConstant, min_bin: u64, language: Language) -> Option<Self> {
        let calibration = found.calibration.as_ref()?;
        let series = match &found.result {
            Some(result) => series_of_result(result, 0, min_bin, BinChoice::Auto, language),
            None => series_of_calibration(calibration, 0, CalibrateOptions::default().min_bin, language),
        };
        Some(Self { found, calibration, series })
    }

    fn name(&self) -> &str {
        &self.calibration.engine.name
    }

    fn value(&self) -> String {
        self.found.usable().map_or_else(|| DASH.to_owned(), |constant| estimate(&constant, 0))
    }

    /// The first line: the number for ShogiHome where the games tell it, else what to do.
    fn first_line(&self, scored: bool, language: Language) -> String {
        let plays_shogi = !self.found.plays_chess;
        match (self.found.usable(), Verdict::of(self.calibration)) {
            (Some(constant), Verdict::Good | Verdict::Rough) if plays_shogi => {
                say!(language, "ShogiHome's win rate coefficient: {:.0}\n\n", constant.value)
            }
            (_, Verdict::TooFewGames) => {
                let way_out = match scored {
                    true => String::new(),
                    false => say!(
                        language,
                        "; without its games, `evalcurve constant --engine COMMAND` lets it score positions that the \
                         program has"
                    ),
                };
                let interval = self.found.usable().map(|constant| constant.interval);
                let is_600 = |[low, high]: [f64; 2]| (low..=high).contains(&CP_PER_LOGIT);
                let line = match interval {
                    Some(None) => say!(language, "the file does not say how well its constant is known{way_out}"),
                    _ if plays_shogi && interval.flatten().is_none_or(is_600) => {
                        say!(language, "too few games to tell: until there are more, 600 is as good{way_out}")
                    }
                    _ => say!(language, "too few games to tell{way_out}"),
                };
                report::wrap(&(line + "\n"), terminal::width(), 0) + "\n"
            }
            _ => String::new(),
        }
    }

    fn verdict(&self, language: Language) -> String {
        Verdict::of(self.calibration).advice(self.calibration, self.found.games(), language)
    }
}

fn document(engines: &[Engine<'_>], written: &[String]) -> serde_json::Value {
    let one = |e: &Engine<'_>| {
        let usable = e.found.usable();
        json!({
            "engine": e.name(),
            "constant": usable.as_ref().map(|c| c.value),
            "interval": usable.and_then(|c| c.interval),
            "samples": e.series.samples,
            "verdict": Verdict::of(e.calibration).word(Language::English),
        })
    };
    json!({ "engines": engines.iter().map(one).collect::<Vec<_>>(), "written": written })
}

/// The constants alone.
fn numbers(engines: &[Engine<'_>]) -> String {
    let usable = engines.iter().filter_map(|engine| Some((engine.name(), engine.found.usable()?.value)));
    match engines {
        [_] => usable.map(|(_, value)| format!("{value:.0}\n")).collect(),
        _ => usable.map(|(name, value)| format!("{name}\t{value:.0}\n")).collect(),
    }
}

/// At which stage of a game the constant is that of a model by stage.
fn of_stage(pawn: &PawnValue, language: Language) -> String {
    let (unit, stage, a, b) =
        (language.word(pawn.unit.as_str()), pawn.stage, estimate(&pawn.a, 1), estimate(&pawn.b, 1));
    say!(language, "  at {unit} {stage:.0}, where a = {a} and b = {b}\n")
}

/// `scored`: the engines have scored positions that the program has.
fn text(engines: &[Engine<'_>], written: &[String], scored: bool, language: Language) -> String {
    if let [one] = engines {
        let first = one.first_line(scored, language);
        let games =
            one.found.games().map_or_else(String::new, |games| say!(language, " of {} games", thousands(games)));
        let samples = thousands(one.series.samples);
        let samples = say!(language, "{samples} samples{games}");
        let doubts = one.calibration.doubts.iter().map(|doubt| say!(language, "  it {doubt}\n"));
        let plot = small_plot(&one.series, language).unwrap_or_default();
        let stage = one.calibration.pawn_value().map(|pawn| of_stage(&pawn, language)).unwrap_or_default();
        return format!(
            "{first}{}\n\n  1/w1 = {} ({samples}{}{})\n{stage}  {}\n{}\n{plot}\n{}\n",
            terminal::heading(&printable(one.name())),
            one.value(),
            language.word(", "),
            model_name(one.calibration.model.kind, language),
            one.verdict(language),
            doubts.collect::<String>(),
            written.join("\n"),
        );
    }
    let columns = Columns::new()
        .name(language.word("engine"), 28, |e: &&Engine<'_>| e.name().to_owned())
        .left("1/w1 [95%]", 18, |e| e.value())
        .gap(2)
        .left(language.word("verdict"), 0, |e| e.verdict(language));
    let mut out = terminal::heading(columns.head().trim_end()) + "\n" + &columns.rows(engines.iter().take(SHOWN));
    if engines.len() > SHOWN {
        out += &say!(language, "the {} of {} engines with most samples\n", SHOWN, engines.len());
    }
    let last = match engines.iter().all(|engine| engine.found.plays_chess) {
        true => key!("--engine NAME shows one engine with its curve\n"),
        false => key!("1/w1 is ShogiHome's win rate coefficient; --engine NAME shows one engine with its curve\n"),
    };
    out += &report::wrap(language.word(last), terminal::width(), 0);
    if let Some(pawn) = engines.iter().find_map(|engine| engine.calibration.pawn_value()) {
        let (unit, stage) = (language.word(pawn.unit.as_str()), pawn.stage);
        out += &say!(language, "models by {unit}: at {unit} {stage:.0}\n");
    }
    out + &written.iter().map(|path| format!("{path}\n")).collect::<String>()
}
