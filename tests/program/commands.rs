//! Commands as values: what a program gets that embeds the library.

use std::sync::Arc;

use evalcurve::run::{Calibrate, Diagnose, Error, Fitting, Input, InputSource, Progress, Reading, Sample, Sampling};
use evalcurve::table::{CellKind, Cells, Source};

use crate::support::{Folder, project_data};

fn without_bands() -> Fitting {
    Fitting { bands: 0, ..Fitting::default() }
}

fn selfplay() -> Input {
    Input::paths([project_data("selfplay")])
}

fn constants(found: &evalcurve::run::Calibrated) -> Vec<(String, Option<f64>)> {
    let constant = |r: &evalcurve::calibrate::EngineResult| Some(r.calibration.as_ref()?.constant()?.value);
    found.results.iter().map(|r| (r.name.clone(), constant(r))).collect()
}

#[test]
fn the_second_call_has_threads_of_its_own() {
    let document = |threads| {
        let reading = Reading { threads: Some(threads), ..Reading::default() };
        let command = Calibrate { reading, fitting: Fitting { bands: 20, ..Fitting::default() } };
        command.run(&selfplay(), &Progress::default()).unwrap().document(&[])
    };
    assert_eq!(document(3), document(1));
    let pool = |threads| evalcurve::run::on_threads(Some(threads), rayon::current_num_threads).unwrap();
    assert_eq!([pool(3), pool(1), pool(2)], [3, 1, 2]);
}

#[test]
fn files_in_memory_are_those_on_disk() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "200"]);
    let command = Calibrate { fitting: without_bands(), ..Calibrate::default() };
    let on_disk = command.run(&Input::paths([folder.at("games.csa")]), &Progress::default()).unwrap();
    let bytes: Arc<[u8]> = folder.read("games.csa").into();
    let sources = vec![InputSource::Bytes("games.csa".to_owned(), bytes)];
    let in_memory = command.run(&Input { sources }, &Progress::default()).unwrap();
    assert!(on_disk.report.games_used == 200 && in_memory.report.games_used == 200);
    assert_eq!(constants(&on_disk.value), constants(&in_memory.value));
    assert!(constants(&on_disk.value).iter().all(|(_, constant)| constant.is_some()));
}

#[test]
fn errors_say_what_they_are() {
    let run = |input: &Input| Calibrate::default().run(input, &Progress::default()).map(|_| ()).unwrap_err();
    assert_eq!(run(&Input::paths(["none/at/all"])).io(), Some(std::io::ErrorKind::NotFound));
    assert_eq!(run(&Input::paths(["none.csv"])).io(), Some(std::io::ErrorKind::NotFound));
    assert!(matches!(run(&Input::default()), Error::Said(_)));
    let progress = Progress::default();
    progress.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(Calibrate::default().run(&selfplay(), &progress), Err(Error::Interrupted)));
    assert!(matches!(Diagnose::default().run(&Input::paths(["none"]), &Progress::default()), Err(Error::Records(_))));
}

/// One question has one answer: a choice of engines does not change the constants.
#[test]
fn the_constant_of_an_engine_does_not_depend_on_the_choice() {
    let folder = Folder::new();
    let data = project_data("selfplay");
    let options = ["--mate-threshold", "auto", "--bands", "0", "--engine", "sekirei"];
    let all = folder.document(&["calibrate", "--dry-run", &data, "--mate-threshold", "auto", "--bands", "0"]);
    let all = all["engines"].as_array().unwrap();
    let expected = &all.iter().find(|engine| engine["name"] == "sekirei").unwrap()["models"]["joint"]["w1"];
    let chosen = folder.document(&[&["calibrate", "--dry-run", &data], &options[..]].concat());
    assert_eq!(chosen["engines"].as_array().unwrap().len(), 1);
    assert_eq!(&chosen["engines"][0]["models"]["joint"]["w1"], expected);
    folder.good(&[&["calibrate", &data, "--no-plots", "--out", "out"], &options[..]].concat());
    let files: Vec<_> = std::fs::read_dir(folder.at("out")).unwrap().collect();
    assert_eq!(files.len(), 1);
    let constant = |arguments: &[&str]| {
        let ran = folder.good(&[&["constant"], arguments, &["--json"]].concat());
        let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        document["engines"][0]["constant"].as_f64().unwrap()
    };
    let (of_file, of_records) = (constant(&["out/sekirei.json"]), constant(&[&[&*data], &options[..]].concat()));
    assert!((of_file / of_records - 1.0).abs() < 1e-8, "{of_file} {of_records}");
}

/// A table of four rows: plies 10 to 40, one of them drawn.
#[derive(Debug)]
struct Rows;

struct Column(Vec<f64>);

impl Cells for Column {
    fn number(&self, row: usize) -> Option<f64> {
        self.0.get(row).copied()
    }

    fn text(&self, _: usize) -> Option<&str> {
        None
    }
}

impl Source for Rows {
    fn names(&self) -> Vec<&str> {
        vec!["score_cp", "result", "ply"]
    }

    fn height(&self) -> usize {
        4
    }

    fn cells(&self, name: &str, _: CellKind) -> Result<Box<dyn Cells + '_>, evalcurve::language::Text> {
        Ok(Box::new(Column(match name {
            "score_cp" => vec![100.0, -20.0, 30.0, 40.0],
            "result" => vec![1.0, 0.5, 0.0, 1.0],
            _ => vec![10.0, 20.0, 30.0, 40.0],
        })))
    }
}

/// Rows of tables are drawn already: options of sampling act on them or are said to have no effect.
#[test]
fn options_act_on_tables_or_are_named() {
    let sources = vec![InputSource::Table("rows".to_owned(), Arc::new(Rows))];
    let drawn = |sampling: Sampling| {
        let sampling = Sampling { annotator: Some("E".to_owned()), ..sampling };
        let command = Sample { reading: Reading { sampling, ..Reading::default() }, ..Sample::default() };
        let found = command.run(&Input { sources: sources.clone() }, &Progress::default()).unwrap();
        let plies: Vec<u32> = found.value.samples.iter().map(|sample| sample.ply).collect();
        assert!(found.report.adds_up());
        (plies, found.report.problems.iter().map(ToString::to_string).collect::<String>())
    };
    let (plies, problems) = drawn(Sampling::default());
    assert_eq!((plies.len(), problems.as_str()), (4, ""));
    assert_eq!(drawn(Sampling { drop_draws: true, ..Sampling::default() }).0.len(), 3);
    let (mut late, _) = drawn(Sampling { from_ply: Some(30), ..Sampling::default() });
    late.sort_unstable();
    assert_eq!(late, [30, 40]);
    let (plies, problems) = drawn(Sampling { window: Some(20), ..Sampling::default() });
    assert_eq!(plies.len(), 4);
    assert!(problems.starts_with("rows: no effect: `window`; the rows of tables"), "{problems}");
}

/// The program names the options as flags.
#[test]
fn messages_name_flags() {
    let folder = Folder::new();
    let data = project_data("selfplay");
    folder.good(&["sample", &data, "--out", "samples.csv"]);
    let ran = folder.good(&[
        "calibrate",
        "--dry-run",
        "samples.csv",
        "--window",
        "20",
        "--mate-threshold",
        "Absent=900",
        "--bands",
        "0",
    ]);
    assert!(ran.err.contains("warning: samples.csv: no effect: --window; the rows"), "{}", ran.err);
    assert!(ran.err.contains("note: --mate-threshold: no engine matches 'Absent'"), "{}", ran.err);
    let all = folder
        .run(&["calibrate", "--dry-run", "samples.csv", "--bands", "0", "--min-samples", "100000", "--json"])
        .document();
    let error = all["engines"][0]["error"].as_str().unwrap();
    assert!(error.contains("or lower --min-samples"), "{error}");
    let late = folder.document(&["inspect", "samples.csv", "--from-ply", "90", "--draws", "drop"]);
    let rows = &late["positions"]["table"]["skipped"];
    assert!(rows["filtered"].as_u64() > Some(0) && rows["draw"].as_u64() > Some(0), "{rows}");
}
