//! What a GUI shows beside a score: its win rate between equals, and wins, draws and losses where the file has them.
//!
//! `win_rate zshogi.json 300 -120`

use std::error::Error;

use evalcurve_calibration::{Calibration, Situation};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, scores @ ..] = &arguments[..] else { return Err("usage: win_rate FILE SCORE…".into()) };
    let engine = Calibration::read(file)?;
    let now = engine.at(Situation::new().ply(40)); // what the GUI knows of the position
    for score in scores {
        let score: f64 = score.parse()?;
        print!("{score:+} {:.3}", now.estimate(score));
        match now.wdl(score).and_then(|shares| shares.permille()) {
            Some([wins, draws, losses]) => println!(" wdl {wins} {draws} {losses}"),
            None => println!(),
        }
    }
    Ok(())
}
