//! A calibration file for each engine of a folder of records, by a sigmoid. `evalcurve calibrate` does more: it draws
//! few positions of each game, compares models and knows mates.
//!
//! `calibrate_folder kifu/ out/`

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use evalcurve_fit::calibration::{file_stems, write};
use evalcurve_fit::fit::{Fit, Observation};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [records, out] = &arguments[..] else { return Err("usage: calibrate_folder RECORDS OUT".into()) };
    let mut engines: BTreeMap<String, Vec<Observation>> = BTreeMap::new();
    for record in evalcurve_records::games(records)? {
        let game = match record {
            Ok(record) => record.game,
            Err(problem) => {
                eprintln!("{problem}");
                continue;
            }
        };
        for p in game.scores.iter().filter(|p| !p.mate && !p.analysis) {
            let Some(outcome) = game.outcome_for(p.color) else { continue };
            let rows = engines.entry(game.names[p.color.index()].clone()).or_default();
            rows.push(Observation { game: game.id, score_cp: p.score_cp, outcome });
        }
    }
    let names: Vec<&String> = engines.keys().collect();
    let stems = file_stems(&names);
    for ((name, rows), stem) in engines.into_iter().zip(stems) {
        match Fit::sigmoid(rows) {
            Ok(fit) => {
                println!("{name}: 1/w1 {:.0}, w2 {:.2}", fit.constant(), fit.w2());
                write(&fit.into_calibration(name), Path::new(out).join(stem + ".json"))?;
            }
            Err(why) => eprintln!("{name}: {why}"),
        }
    }
    Ok(())
}
