//! A model of this program, fitted to the records of an engine and kept in a file; `src/lib.rs` has the model.
//!
//! `own_model kifu/ zshogi out.json`

use std::error::Error;

use evalcurve_calibration::{Calibration, Situation, register};
use evalcurve_fit::calibration::write;
use evalcurve_fit::fit::Case;
use outside::{BENT, Bent};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [records, name, out] = &arguments[..] else { return Err("usage: own_model RECORDS ENGINE OUT".into()) };
    let bent = register(&BENT)?;
    let mut cases = Vec::new();
    for game in evalcurve_records::games(records)?.filter_map(Result::ok).map(|record| record.game) {
        let own = game.scores.iter().filter(|p| game.names[p.color.index()] == *name && !p.mate && !p.analysis);
        cases.extend(own.filter_map(|p| {
            let (outcome, situation) = (game.outcome_for(p.color)?, Situation::new().ply(p.ply));
            Some(Case { game: game.id, score_cp: p.score_cp, outcome, situation })
        }));
    }
    write(&Calibration::from_model(name, bent, Bent::fit(bent, &cases)?), out)?;
    println!("+300: {:.3}", Calibration::read(out)?.estimate(300));
    Ok(())
}
