//! Prints the players, the outcome and the number of scores of each game in a file.
//!
//! ```text
//! cargo run -p evalcurve-records --example read_games -- data/selfplay/sekirei+zshogi.csa
//! ```

use std::error::Error;

use evalcurve_records::record::{Cursor, Format, Game, encoding};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_games FILE")?;
    let text = std::fs::read(&path)?;
    let format = Format::detect(&text).ok_or_else(|| format!("not in a known format: {}", Format::labels()))?;
    if format.packed().is_some() {
        return Err("this file holds training data, not games".into());
    }
    let mut cursor = Cursor { encoding: encoding::declared(&text), ..Cursor::default() };
    // one game for all: its buffers are reused
    let mut game = Game::default();
    loop {
        match format.read_game(&text, &mut cursor, &mut game) {
            Ok(true) => {
                let [black, white] = &game.names;
                let (plies, scores) = (game.plies, game.scores.len());
                println!("{black} vs {white}: {:?} for Black, {plies} plies, {scores} scores", game.black_outcome);
            }
            Ok(false) => return Ok(()),
            // the reader continues with the next game
            Err(error) => eprintln!("{path}:{}: {}: {}", error.line + 1, error.reason, error.value),
        }
    }
}
