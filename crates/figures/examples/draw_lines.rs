//! Draws lines from a CSV file with the columns line, x, y and standard error, and writes them as SVG and PNG.
//!
//! `cargo run -p evalcurve-figures --example draw_lines -- FILE.csv TITLE X-AXIS Y-AXIS OUT`

use std::error::Error;
use std::path::PathBuf;

use evalcurve_figures::{PlotOptions, RateChart, RateLine, rate_chart};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, title, x_name, y_name, out] = &arguments[..] else {
        return Err("FILE.csv TITLE X-AXIS Y-AXIS OUT".into());
    };
    let text = std::fs::read_to_string(file)?;
    let mut lines: Vec<RateLine> = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.rsplitn(4, ',').collect();
        let [error, y, x, name] = cells[..] else {
            return Err(format!("four cells are expected: {line}").into());
        };
        let name = name.trim_matches('"');
        let place = lines.iter().position(|line| line.name == name).unwrap_or(lines.len());
        if place == lines.len() {
            lines.push(RateLine { name: name.to_owned(), color: place, ..RateLine::default() });
        }
        lines[place].points.push((x.parse()?, y.parse()?, error.parse()?));
    }
    let [title, x_name, y_name] = [title, x_name, y_name].map(String::clone);
    let chart = RateChart { title, x_name, y_name, lines, ..RateChart::default() };
    let figure = rate_chart(&chart, &PlotOptions::default())?;
    let out = PathBuf::from(out);
    std::fs::write(out.with_extension("svg"), figure.svg())?;
    std::fs::write(out.with_extension("png"), figure.png(1.0)?)?;
    println!("wrote {}", out.with_extension("svg").display());
    Ok(())
}
