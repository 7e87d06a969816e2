//! Records in a format of this program beside all others; `src/lib.rs` has the format.
//!
//! `own_format my.log`

use std::error::Error;

use evalcurve_records::record::Formats;
use outside::SCORE_LINES;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: own_format RECORDS")?;
    for record in Formats::default().with(&SCORE_LINES).games(path)? {
        match record {
            Ok(record) => println!("{}: {} scores", record.game.names.join(" - "), record.game.scores.len()),
            Err(problem) => eprintln!("{problem}"),
        }
    }
    Ok(())
}
