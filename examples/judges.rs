//! Draws which engine judges best on the same positions, and what all of them give together, for `docs/diagnosis.md`:
//! `cargo run --release --example judges -- docs/plots data/analysed/shogi.parquet data/analysed/chess.parquet`

use std::error::Error;
use std::path::Path;

use evalcurve::diagnose::judge_figures::{ranking_figure, together_figure};
use evalcurve::plot::PlotOptions;
use evalcurve::report::figures::save;
use evalcurve::run::{Diagnose, Input, Progress};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, tables @ ..] = &arguments[..] else { return Err("usage: judges OUT TABLE…".into()) };
    let options = PlotOptions::default();
    for path in tables {
        let found = Diagnose::default().run(&Input::paths([path]), &Progress::default())?.value.diagnosis;
        let judges = found.judges.ok_or("no engines share positions")?;
        let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        save(ranking_figure(&judges, &options), Path::new(out), &format!("judges-{stem}"), false)?;
        if let Some(figure) = together_figure(&judges, &options).transpose() {
            save(figure, Path::new(out), &format!("together-{stem}"), false)?;
        }
    }
    Ok(())
}
