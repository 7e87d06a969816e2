//! The page in the browser: the library's commands as the worker of the page (`web/worker.js`) calls them. Files come
//! in as bytes and results go out as JSON, SVG and HTML; nothing here reads a disk, a clock or a network.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use evalcurve_app::calibrate::EngineResult;
use evalcurve_app::calibrate::mates::Threshold;
use evalcurve_app::report::figures::{BinChoice, series_of_calibration};
use evalcurve_app::report::text;
use evalcurve_app::report::verdict::Verdict;
use evalcurve_app::{
    Calibrate, Calibrated, DEFAULT_BANDS, Error, Fitting, Input, InputSource, Logs, Outcome, Progress, with_flags,
    with_options,
};
use evalcurve_calibrate::drawings::{Drawing, drawings, series_of_results};
use evalcurve_calibrate::wdl_figures;
use evalcurve_council::{Replay, votes};
use evalcurve_diagnose::page::page;
use evalcurve_diagnose::{Diagnose, Diagnosed, Diagnosis};
use evalcurve_figures::{EngineSeries, PlotError, PlotOptions, reliability};
use evalcurve_fit::calibration::{Calibration, Reading, Score, Situation, file_stems};
use evalcurve_fit::fit::ModelKind;
use evalcurve_records::sample::collect::kind_words;
use evalcurve_rules::replay::Replay as Replayed;
use evalcurve_tables as table;
use evalcurve_use::{Converter, Target, export};
use evalcurve_words::language::{Language, Text, ToText, add_japanese};
use evalcurve_words::text::printable_json;
use js_sys::Function;
use serde::Deserialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

/// What the page lists: the version, the models and the programs to export to, as JSON.
#[wasm_bindgen]
pub fn about() -> String {
    for japanese in [
        evalcurve_calibrate::JAPANESE,
        evalcurve_council::JAPANESE,
        evalcurve_diagnose::JAPANESE,
        evalcurve_use::JAPANESE,
    ] {
        add_japanese(japanese);
    }
    let names = |kind: &ModelKind| [Language::English, Language::Japanese].map(|l| text::model_name(*kind, l));
    let models = ModelKind::ALL.iter().filter(|kind| !kind.is_baseline());
    let models: Vec<_> = models.map(|kind| json!({ "name": kind.as_str(), "labels": names(kind) })).collect();
    let fitting = Fitting::default();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "models": models,
        "model": fitting.model.map(ModelKind::as_str),
        "min_games": fitting.min_games,
        "min_samples": fitting.min_samples,
        "targets": Target::ALL.iter().map(|target| target.as_str()).collect::<Vec<_>>(),
    })
    .to_string()
}

/// Files that the user chose.
#[wasm_bindgen]
#[derive(Default)]
pub struct Files(Vec<(String, Vec<u8>)>);

#[wasm_bindgen]
impl Files {
    /// No files.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; in a folder, its name begins with the folder.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) {
        let is_hidden = name.split('/').skip(1).any(|part| part.starts_with('.'));
        if !is_hidden {
            self.0.push((name, bytes));
        }
    }
}

/// The options of the page.
#[derive(Deserialize)]
struct Options {
    min_games: u64,
    min_samples: u64,
    /// `None` for the best out of sample.
    model: Option<String>,
    annotator: Option<String>,
    mate_threshold_auto: bool,
}

impl Options {
    /// The command without bootstrap, of which neither the table nor the calibrations show anything.
    fn command(&self) -> Calibrate {
        let mut command = Calibrate::default();
        command.fitting.bands = 0;
        command.reading.sampling.annotator = self.annotator.clone();
        command.fitting.min_games = self.min_games;
        command.fitting.min_samples = self.min_samples;
        let named = |name: &String| ModelKind::ALL.iter().find(|kind| kind.as_str() == name);
        command.fitting.model = self.model.as_ref().and_then(named).copied();
        if self.mate_threshold_auto {
            command.fitting.mate_threshold.push((None, Threshold::Auto));
        }
        command
    }
}

thread_local! {
    /// What is told of the progress: bytes, all bytes, games.
    static TELL: RefCell<Option<Function>> = const { RefCell::new(None) };
}

fn tell(progress: &Progress) {
    let number = |n: u64| JsValue::from_f64(n as f64);
    let (done, all) = (progress.bytes.load(Relaxed), progress.total_bytes.load(Relaxed));
    let games = progress.games.load(Relaxed);
    TELL.with_borrow(|tell| {
        // a page that throws shows no progress
        tell.iter().for_each(|tell| drop(tell.call3(&JsValue::NULL, &number(done), &number(all), &number(games))));
    });
}

/// The language with this code.
fn language(code: &str) -> Language {
    code.parse().unwrap_or_default()
}

/// A message with the options as the page calls them, and others as the program does.
fn on_page(message: &str, language: Language) -> String {
    let options = with_options(message, |option| {
        let (english, japanese) = match option {
            "annotator" => ("“Engine of the analyses”", "「解析に使ったエンジンの名前」"),
            "mate-threshold" => ("“Find each engine's mate scores”", "「詰みの評価値をエンジンごとに判別する」"),
            "min-games" => ("“Games an engine needs”", "「エンジンごとの最小対局数」"),
            "min-samples" => ("“Samples an engine needs”", "「エンジンごとの最小標本数」"),
            "model" => ("“Model”", "「モデル」"),
            other => return format!("--{other}"),
        };
        if language == Language::Japanese { japanese } else { english }.to_owned()
    });
    with_flags(&options)
}

fn said(text: &Text, language: Language) -> String {
    on_page(&text.text(language), language)
}

fn failed(error: &Error, language: Language) -> JsError {
    JsError::new(&said(&error.to_text(), language))
}

/// What was found in files.
#[wasm_bindgen]
pub struct Session {
    /// What is not a calibration file.
    input: Input,
    command: Calibrate,
    found: Option<Outcome<Calibrated>>,
    /// The calibrations of the results, then those of files, with the stems of their files.
    calibrations: Vec<(String, Calibration)>,
    /// Why calibration files could not be read.
    problems: Vec<Text>,
    /// The index of each result's calibration.
    of_result: Vec<Option<usize>>,
    votes: Option<(Logs, Option<Replayed>)>,
    /// What the figures show, in a language.
    series: Vec<EngineSeries>,
    diagnosed: Option<Outcome<Diagnosed>>,
}

/// The reliability diagrams of a diagnosis.
fn reliabilities(diagnosis: &Diagnosis) -> impl Iterator<Item = Drawing<'_>> {
    let names: Vec<&str> = diagnosis.results.iter().map(|result| result.name.as_str()).collect();
    let diagrams = file_stems(&names).into_iter().zip(names).zip(&diagnosis.reliability).enumerate();
    diagrams.filter_map(|(rank, ((stem, name), diagram))| {
        let (diagram, stem) = (diagram.as_ref()?, format!("{stem}-reliability"));
        Some(Drawing::new(stem, Some(name), move |options| reliability(name, rank, diagram, true, options)))
    })
}

/// Whether a file is a calibration.
fn is_calibration(name: &str, bytes: &[u8]) -> bool {
    let has = |word: &[u8]| bytes.windows(word.len()).take(1 << 12).any(|part| part == word);
    Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) && has(b"evalcurve-calibration")
}

/// Whether a file is a vote log.
fn is_vote_log(bytes: &[u8]) -> bool {
    let word = evalcurve_rules::log::FORMAT.as_bytes();
    bytes.starts_with(b"{") && bytes.windows(word.len()).take(1 << 12).any(|part| part == word)
}

/// Calibrates the engines of the files, reads those that are calibrations, and replays those that are vote logs.
/// `progress` is called with the bytes that were read, all bytes, and the games so far.
///
/// # Errors
/// A message in the language.
#[wasm_bindgen]
pub fn open(files: Files, options: &str, progress: Function, code: &str) -> Result<Session, JsError> {
    let language = language(code);
    let options: Options = serde_json::from_str(options).map_err(|error| JsError::new(&error.to_string()))?;
    let command = options.command();
    let (mut input, mut of_files, mut logs) = (Input::default(), Input::default(), Input::default());
    let mut files = files.0;
    // the order in which the program walks through folders
    files.sort_by(|a, b| a.0.split('/').cmp(b.0.split('/')));
    for (name, bytes) in files {
        let is_log = is_vote_log(&bytes);
        let to = if is_calibration(&name, &bytes) { &mut of_files } else { &mut input };
        let source = InputSource::Bytes(name, bytes.into());
        logs.sources.extend(is_log.then(|| source.clone()));
        to.sources.push(source);
    }
    // a file that cannot be read costs itself, and none of the others
    let (mut read, mut problems, all) = (Vec::new(), Vec::new(), of_files.sources.len());
    for source in of_files.sources {
        match (Input { sources: vec![source] }).calibrations() {
            Ok(found) => read.extend(found),
            Err(error) if all == 1 && input.sources.is_empty() => return Err(failed(&error, language)),
            Err(error) => problems.push(error.to_text()),
        }
    }
    let votes = match logs.sources.is_empty() {
        true => None,
        false => Some(Replay::default().run(&logs, &Progress::default()).map_err(|error| failed(&error, language))?),
    };
    TELL.set(Some(progress));
    let progress = Progress { each: Some(tell), ..Progress::default() };
    let found = match input.sources.is_empty() {
        true => None,
        false => Some(command.run(&input, &progress).map_err(|error| failed(&error, language))?),
    };
    let results = found.as_ref().map_or(&[][..], |found| &found.value.results);
    let mut calibrations: Vec<Calibration> = Vec::new();
    let of_result = results.iter().map(|result| {
        calibrations.push(result.calibration.clone()?);
        Some(calibrations.len() - 1)
    });
    let of_result = of_result.collect();
    calibrations.extend(read.into_iter().map(|(_, calibration)| calibration));
    let names: Vec<&str> = calibrations.iter().map(|c| c.engine.name.as_str()).collect();
    let stems = file_stems(&names);
    // as a program has them that reads the files
    let as_file = |calibration: &Calibration| Calibration::from_json(&calibration.to_json()?, &calibration.engine.name);
    let calibrations: Result<Vec<_>, _> = calibrations.iter().map(as_file).collect();
    let calibrations = stems.into_iter().zip(calibrations.map_err(|error| failed(&error.into(), language))?).collect();
    let votes = votes.map(|outcome| outcome.value);
    let (series, diagnosed) = (Vec::new(), None);
    Ok(Session { input, command, found, calibrations, problems, of_result, votes, series, diagnosed })
}

impl Session {
    /// The results with enough samples, those with the most first, with the index of their calibration.
    fn results(&self) -> (Vec<(&EngineResult, Option<usize>)>, Vec<&EngineResult>) {
        let Some(Outcome { value: Calibrated { results, options, .. }, .. }) = &self.found else {
            return Default::default();
        };
        let mut all: Vec<(&EngineResult, Option<usize>)> = results.iter().zip(self.of_result.iter().copied()).collect();
        all.sort_by_key(|(result, _)| std::cmp::Reverse(result.fitted));
        let (enough, few): (Vec<_>, Vec<_>) = all.into_iter().partition(|(result, _)| result.has_enough(options));
        (enough, few.into_iter().map(|(result, _)| result).collect())
    }

    fn of_files(&self) -> impl Iterator<Item = (usize, &Calibration)> {
        let calibrated = self.of_result.iter().flatten().count();
        self.calibrations.iter().enumerate().skip(calibrated).map(|(i, (_, calibration))| (i, calibration))
    }

    /// One row of the table of engines.
    fn row(&self, result: Option<&EngineResult>, index: Option<usize>, language: Language) -> Value {
        let stored = index.and_then(|i| self.calibrations.get(i));
        let calibration = stored.map(|(_, calibration)| calibration);
        let games = result.map(|r| r.games).or_else(|| calibration?.provenance.as_ref()?.games);
        let samples = result.map(|r| r.fitted).or_else(|| {
            let calibration = calibration?;
            calibration.models.get(&calibration.model.kind)?.samples
        });
        let constant = calibration.and_then(Calibration::constant);
        let whole = |value: f64| text::number(value, 0);
        let name = result.map(|r| r.name.as_str()).or_else(|| Some(calibration?.engine.name.as_str()));
        json!({
            "name": text::printable(name.unwrap_or_default()),
            "games": games.map(text::thousands),
            "samples": samples.map(text::thousands),
            "constant": constant.map(|c| whole(c.value)),
            "interval": constant.and_then(|c| c.interval).map(|ends| ends.map(whole)),
            "log_loss": result.and_then(|r| r.validated.as_ref()).map(|v| format!("{:.3}", v.scores.log_loss.value)),
            "kind": calibration.map(|c| format!("{:?}", Verdict::of(c))),
            "verdict": match calibration {
                Some(calibration) => Verdict::of(calibration).advice(calibration, games, language),
                None => result.and_then(|r| r.error.as_ref()).map(|e| said(e, language)).unwrap_or_default(),
            },
            "warnings": result.map(|r| r.warnings.iter().map(|w| said(&w.text, language)).collect::<Vec<_>>()),
            "file": index,
            "stem": stored.map(|(stem, _)| stem),
        })
    }

    /// What the figures show of each engine.
    fn series(&self, language: Language) -> Vec<EngineSeries> {
        let mut all: Vec<EngineSeries> = Vec::new();
        let mut min_bin = Fitting::default().min_bin;
        if let Some(Outcome { value: Calibrated { results, options, .. }, .. }) = &self.found {
            min_bin = options.min_bin;
            let plotted = results.iter().filter(|r| r.has_enough(options));
            all = series_of_results(plotted, min_bin, BinChoice::Auto, language);
        }
        let first = all.len();
        let of_files = self.of_files().enumerate();
        all.extend(of_files.map(|(i, (_, c))| series_of_calibration(c, first + i, min_bin, language)));
        all
    }

    /// The figures of all engines, and those of one.
    fn drawings(&self) -> Vec<Drawing<'_>> {
        let mut all = drawings(&self.series, Reading::Equal);
        if let Some(Outcome { value: Calibrated { results, table, options, .. }, .. }) = &self.found {
            all.extend(wdl_figures::drawings_of_results(results, table, options));
        }
        all.extend(wdl_figures::drawings(self.of_files().map(|(_, calibration)| (calibration, Vec::new()))));
        all.extend(self.diagnosed.iter().flat_map(|found| reliabilities(&found.value.diagnosis)));
        all
    }

    fn list_of_figures(&self) -> Value {
        let figures = self.drawings();
        figures.iter().map(|d| json!({ "name": d.name, "engine": d.engine.map(text::printable) })).collect()
    }

    /// The command with a bootstrap, as the program has it.
    fn resampling(&self) -> Calibrate {
        let mut command = self.command.clone();
        command.fitting.bands = DEFAULT_BANDS;
        command
    }

    fn calibration_at(&self, index: usize) -> Result<&Calibration, JsError> {
        let found = self.calibrations.get(index).map(|(_, calibration)| calibration);
        found.ok_or_else(|| JsError::new("no such calibration"))
    }
}

#[wasm_bindgen]
impl Session {
    /// What the page shows, as JSON.
    pub fn report(&mut self, code: &str) -> String {
        let language = language(code);
        let (enough, few) = self.results();
        let series = self.series(language);
        let mut engines: Vec<Value> = enough.iter().map(|(r, index)| self.row(Some(r), *index, language)).collect();
        engines.extend(self.of_files().map(|(i, _)| self.row(None, Some(i), language)));
        let few: Vec<Value> = few
            .iter()
            .map(|r| json!([text::printable(&r.name), text::thousands(r.games), text::thousands(r.fitted)]))
            .collect();
        let mut out = json!({ "engines": engines, "few": few, "skipped": [], "problems": [], "notes": [] });
        if let Some(found) = &self.found {
            let report = &found.report;
            let mut lines = text::reading(report, language);
            let results = &found.value.results;
            let samples = results.iter().map(|r| r.samples).sum();
            if samples > 0 {
                lines += &text::samples(report, samples, results.len(), &found.value.options.sampling, language);
            }
            let skipped = report.games_skipped.iter().chain(&report.files_refused);
            let mut skipped: Vec<(String, u64)> =
                skipped.map(|(kind, n)| (kind_words(kind).text(language), *n)).collect();
            skipped.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            out["reading"] = lines.trim_end().into();
            out["games"] = report.games_read.into();
            out["skipped"] = skipped.into_iter().map(|(words, n)| json!([words, text::thousands(n)])).collect();
            let problems = report.problems.iter().map(|p| text::printable(&on_page(&p.text(language), language)));
            out["problems"] = problems.collect();
            out["notes"] = found.notes.iter().map(|note| text::printable(&said(note, language))).collect();
            out["choice"] = found.value.choice.as_ref().map(|choice| text::choice(choice, language)).into();
        }
        if let Some(problems) = out["problems"].as_array_mut() {
            problems.splice(0..0, self.problems.iter().map(|problem| text::printable(&said(problem, language)).into()));
        }
        if let Some((logs, replayed)) = &self.votes {
            let problems = logs.problems.iter().map(|problem| text::printable(problem)).collect::<Vec<_>>();
            let shown = replayed.as_ref().map(|replayed| votes::text(&logs.log, replayed, usize::MAX, language));
            out["votes"] = json!({ "text": shown, "problems": problems });
        }
        self.series = series;
        out["figures"] = self.list_of_figures();
        out.to_string()
    }

    /// The names and engines of the figures as JSON; a diagnosis adds some at the end.
    pub fn figures(&self) -> String {
        self.list_of_figures().to_string()
    }

    /// A figure as SVG for the page and as a file with its numbers, as JSON; `null` if nothing is within its axes.
    pub fn figure(&self, index: usize, code: &str) -> Result<String, JsError> {
        let language = language(code);
        let all = self.drawings();
        let Some(drawing) = all.get(index) else { return Ok("null".to_owned()) };
        let file = PlotOptions { language, ..PlotOptions::default() };
        let small = PlotOptions { width: 450, height: 480, tolerance: 0.2, ..file };
        let drawn = drawing.draw(&small).and_then(|small| Ok((small, drawing.draw(&file)?)));
        match drawn {
            Ok((small, file)) => {
                Ok(json!({ "page": small.svg_for_page(), "file": file.svg(), "csv": file.data().to_csv() }).to_string())
            }
            Err(PlotError::Nothing { .. }) => Ok("null".to_owned()),
            Err(error) => Err(JsError::new(&error.to_string())),
        }
    }

    /// All results as JSON, as `evalcurve calibrate --dry-run --json` prints them; these have a bootstrap.
    pub fn document(&self, code: &str) -> Result<String, JsError> {
        let language = language(code);
        let found = self.resampling().run(&self.input, &Progress::default()).map_err(|e| failed(&e, language))?;
        Ok(printable_json(&with_flags(&format!("{:#}\n", found.document(&[])))))
    }

    /// A calibration file.
    pub fn calibration(&self, index: usize) -> Result<String, JsError> {
        self.calibration_at(index)?.to_json().map_err(|error| JsError::new(&error.to_string()))
    }

    /// The sample table as CSV.
    pub fn samples(&self) -> Option<String> {
        self.found.as_ref().map(|found| table::to_csv(&found.value.table))
    }

    /// The page of the diagnosis, as `evalcurve diagnose` writes it.
    pub fn diagnose(&mut self, code: &str) -> Result<String, JsError> {
        let language = language(code);
        if self.diagnosed.is_none() {
            let Calibrate { reading, fitting } = self.resampling();
            let command = Diagnose { reading, fitting, ..Diagnose::default() };
            let progress = Progress { each: Some(tell), ..Progress::default() };
            self.diagnosed = Some(command.run(&self.input, &progress).map_err(|error| failed(&error, language))?);
        }
        let Some(found) = &self.diagnosed else { return Ok(String::new()) };
        let page = page(&Diagnosed::report(found, language)).map_err(|error| JsError::new(&error.to_string()))?;
        Ok(with_flags(&page.html))
    }

    /// The diagnosis as JSON, once it is made.
    pub fn diagnosis(&self) -> Option<String> {
        let report = Diagnosed::report(self.diagnosed.as_ref()?, Language::English);
        Some(with_flags(&format!("{:#}\n", report.document())))
    }

    /// The win rates of scores between equals: rate and ends of its interval, then the shares of wins, draws and losses
    /// if the model has them, as JSON.
    pub fn win_rates(&self, index: usize, scores: &[f64]) -> Result<String, JsError> {
        let calibration = self.calibration_at(index)?.clone();
        let converter =
            Converter { calibration, reading: Reading::Equal, situation: Situation::default(), elsewhere: None };
        let one = |score: &f64| {
            let answer = converter.answer(Score::Cp(*score));
            let shares = answer.wdl.map(|wdl| [wdl.win, wdl.draw, wdl.loss].map(|share| share.value));
            json!({ "rate": answer.rate, "interval": answer.interval, "mate": answer.mate, "wdl": shares })
        };
        Ok(scores.iter().map(one).collect::<Value>().to_string())
    }

    /// The score of a win rate between equals, if there is one.
    pub fn score(&self, index: usize, rate: f64) -> Option<f64> {
        self.calibration_at(index).ok()?.score(Reading::Equal, rate, &Situation::default())
    }

    /// A calibration as settings or source code for another program.
    pub fn export(&self, index: usize, target: &str) -> Result<String, JsError> {
        let target: Target = target.parse().map_err(|_| JsError::new("no such target"))?;
        export(self.calibration_at(index)?, target, None).map_err(|error| JsError::new(&error.to_string()))
    }
}
