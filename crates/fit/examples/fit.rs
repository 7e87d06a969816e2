//! Fits a sigmoid to samples and prints its calibration file.
//!
//! ```text
//! cargo run -p evalcurve-fit --example fit
//! ```

use std::error::Error;

use evalcurve_calibration::Calibration;
use evalcurve_calibration::types::Outcome;
use evalcurve_fit::fit::{FitOptions, Method, Observation, fit};
use evalcurve_words::random;

fn main() -> Result<(), Box<dyn Error>> {
    // two samples per game; scores of a real engine come from its game records
    let observations: Vec<Observation> = (0..2000)
        .map(|i| {
            let score_cp = random::below(2001, &[1, i]) as i32 - 1000;
            let win_rate = 1.0 / (1.0 + (-0.003 * f64::from(score_cp)).exp());
            let outcome = if random::unit(&[2, i]) < win_rate { Outcome::Win } else { Outcome::Loss };
            Observation { game: i / 2, score_cp, outcome }
        })
        .collect();
    let method = Method::MaximumLikelihood;
    let found = fit(method, &observations, &FitOptions::default())?;
    let calibration =
        Calibration::from_models("example", [(method.into(), found.into())], method.into()).ok_or("no model")?;
    print!("{}", calibration.to_json()?);
    Ok(())
}
