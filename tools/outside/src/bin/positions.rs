//! The positions of records as SFEN or FEN, with the score and the result for the side to move.
//!
//! `positions kifu/ > positions.txt`

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: positions RECORDS")?;
    for record in evalcurve_records::games(path)?.with_moves() {
        let Ok(record) = record else { continue };
        for p in record.game.positions() {
            let score = p.score.map_or_else(|| "-".to_owned(), |score| score.score_cp.to_string());
            let result = record.game.outcome_for(p.color).map_or_else(|| "-".to_owned(), |won| won.value().to_string());
            println!("{}\t{}\t{score}\t{result}", p.text, p.ply);
        }
    }
    Ok(())
}
