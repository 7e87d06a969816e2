//! Lets an engine search the positions of a game, and prints what each of its moves is worth by its calibration.
//!
//! `engine_win_rates "stockfish option.Threads=1" stockfish.json e2e4 e7e5 g1f3`

use std::error::Error;

use evalcurve_calibration::Calibration;
use evalcurve_engine::{Engine, Game, Limit};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, file, moves @ ..] = &arguments[..] else {
        return Err("usage: engine_win_rates ENGINE CALIBRATION MOVE…".into());
    };
    let calibration = Calibration::read(file)?;
    let mut engine = Engine::start(command, Game::Chess)?;
    for played in 0..=moves.len() {
        let position = format!("startpos moves {}", moves[..played].join(" "));
        let found = engine.search(&position, Limit::Depth(10))?;
        let rate = found.score.map(|score| format!("{:.3}", calibration.estimate(score))).unwrap_or_default();
        println!("{} {rate} {}", found.best.unwrap_or_default(), found.pv.join(" "));
    }
    engine.quit();
    Ok(())
}
