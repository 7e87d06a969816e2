//! Draws numbers with their intervals from a CSV file with the columns label, value, low and high, and writes a forest
//! plot as SVG and PNG.
//!
//! `cargo run -p evalcurve-figures --example draw_forest -- FILE.csv TITLE AXIS OUT [REFERENCE]`
//!
//! The reference is the value of the vertical line, 0 by default.

use std::error::Error;
use std::path::PathBuf;

use evalcurve_figures::{Forest, ForestMark, ForestRow, PlotOptions, forest};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, title, axis, out, more @ ..] = &arguments[..] else {
        return Err("FILE.csv TITLE AXIS OUT [REFERENCE]".into());
    };
    let reference = more.first().map_or(Ok(0.0), |reference| reference.parse())?;
    let text = std::fs::read_to_string(file)?;
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.rsplitn(4, ',').collect();
        let [high, low, value, label] = cells[..] else {
            return Err(format!("four cells are expected: {line}").into());
        };
        let mark = ForestMark { value: value.parse()?, low: low.parse()?, high: high.parse()? };
        rows.push(ForestRow { label: label.trim_matches('"').to_owned(), marks: vec![Some(mark)] });
    }
    let what = Forest {
        title: title.clone(),
        axis: axis.clone(),
        series: vec!["rule".to_owned()],
        rows,
        references: vec![(reference, None)],
        ..Forest::default()
    };
    let figure = forest(&what, &PlotOptions::default())?;
    let out = PathBuf::from(out);
    std::fs::write(out.with_extension("svg"), figure.svg())?;
    std::fs::write(out.with_extension("png"), figure.png(1.0)?)?;
    println!("wrote {}", out.with_extension("svg").display());
    Ok(())
}
