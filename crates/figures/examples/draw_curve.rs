//! Draws the evaluation curve of one engine with its fitted sigmoid, and writes it as `curve.svg` and `curve.png`.
//!
//! `cargo run -p evalcurve-figures --example draw_curve [FOLDER]`

use std::error::Error;
use std::path::PathBuf;

use evalcurve_figures::{EngineSeries, FittedCurve, PlotOptions, Point, curve_with_fits};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let sigmoid = |x: f64| 1.0 / (1.0 + (0.02 - 0.0018 * x).exp());
    let mut engine = EngineSeries::new("技巧", 0);
    // an invented engine: 60 positions per bin at the ends of the curve, 600 in the middle
    for bin in -10..10 {
        let x = f64::from(bin) * 200.0 + 100.0;
        let count = 60 + 54 * (10 - (f64::from(bin) + 0.5).abs() as u64);
        let win_rate = 0.02 + 0.96 * sigmoid(x);
        let margin = 1.96 * (win_rate * (1.0 - win_rate) / count as f64).sqrt();
        engine.curve.push(Point { x, win_rate, low: win_rate - margin, high: win_rate + margin, count });
        engine.histogram.push((x, count));
        engine.samples += count;
    }
    engine.fits = vec![FittedCurve::sample("least squares", "w1 = 0.0018, w2 = 0.02", |x| (sigmoid(x), None))];

    let figure = curve_with_fits(&engine, &PlotOptions::default())?;
    std::fs::write(folder.join("curve.svg"), figure.svg())?;
    std::fs::write(folder.join("curve.png"), figure.png(1.0)?)?;
    println!("{}: wrote curve.svg and curve.png to {}", figure.title(), folder.display());
    Ok(())
}
