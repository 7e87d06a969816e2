//! How well a calibration forecasts the rows of a table: `game,score,result`, the score in centipawns and the result 1,
//! 0.5 or 0, both of the side to move. The rows should not be those that the calibration was fitted to.
//!
//! `forecasts zshogi.json rows.csv`

use std::error::Error;

use evalcurve_calibration::types::Outcome;
use evalcurve_calibration::{Calibration, Reading, Situation};
use evalcurve_fit::validate::{Forecast, ScoreOptions, scores};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, table] = &arguments[..] else { return Err("usage: forecasts CALIBRATION TABLE.csv".into()) };
    let engine = Calibration::read(file)?;
    let mut forecasts = Vec::new();
    for line in std::fs::read_to_string(table)?.lines().skip(1) {
        let [game, score, result] = line.split(',').collect::<Vec<_>>()[..] else { return Err(line.into()) };
        let outcome = match result {
            "1" => Outcome::Win,
            "0" => Outcome::Loss,
            _ => Outcome::Draw,
        };
        let logit = engine.logit(Reading::Equal, score.parse()?, &Situation::new());
        forecasts.push(Forecast { game: game.parse()?, logit, outcome });
    }
    let found = scores(&forecasts, &ScoreOptions::default())?;
    println!("{} rows: log loss {:.4}, Brier score {:.4}", forecasts.len(), found.log_loss, found.brier);
    Ok(())
}
