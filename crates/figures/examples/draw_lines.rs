//! Draws lines from a CSV file and writes them as SVG and PNG. Its columns: line, x, y and a standard error (a bar has
//! two of them), or line, x, y, low and high (the ends of the bar).
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
    let mut rows = text.lines();
    let columns = rows.next().map_or(0, |head| head.split(',').count());
    for line in rows {
        let mut cells: Vec<&str> = line.rsplitn(columns, ',').collect();
        cells.reverse();
        let [name, x, y, last @ ..] = &cells[..] else {
            return Err(format!("line, x, y, and error or low and high are expected: {line}").into());
        };
        let (x, y): (f64, f64) = (x.parse()?, y.parse()?);
        let ends = match last {
            [error] => error.parse::<f64>().map(|error| [y - 2.0 * error, y + 2.0 * error])?,
            [low, high] => [low.parse()?, high.parse()?],
            _ => return Err(format!("{columns} cells are expected: {line}").into()),
        };
        let name = name.trim_matches('"');
        let place = lines.iter().position(|line| line.name == name).unwrap_or(lines.len());
        if place == lines.len() {
            lines.push(RateLine { name: name.to_owned(), color: place, ..RateLine::default() });
        }
        lines[place].points.push((x, y, (ends != [y; 2]).then_some(ends)));
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
