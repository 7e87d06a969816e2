//! Prints the win rates of scores between equals by a calibration file.
//!
//! ```text
//! cargo run -p evalcurve-fit --example calibration_file -- data/published/gikou.json 300 -120
//! ```

use std::error::Error;

use evalcurve_calibration::{Calibration, Reading, Situation};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: win_rate FILE SCORE...")?;
    let calibration = Calibration::read(file)?;
    for argument in arguments {
        let score_cp: f64 = argument.parse()?;
        let score = calibration.classify(score_cp);
        let win_rate = calibration.win_rate(score);
        match calibration.interval(Reading::Equal, score, &Situation::default()) {
            Some((low, high)) => println!("{score_cp:+} {win_rate:.3} [{low:.3}, {high:.3}]"),
            None => println!("{score_cp:+} {win_rate:.3}"),
        }
    }
    Ok(())
}
