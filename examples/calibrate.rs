//! Calibrates the engines of a folder of game records: `cargo run --example calibrate -- games/`
use evalcurve::run::{Calibrate, Error, Input, Progress};

fn main() -> Result<(), Error> {
    let found = Calibrate::default().run(&Input::paths(std::env::args().skip(1)), &Progress::default())?;
    for engine in &found.value.results {
        println!("{}: {:?}", engine.name, engine.calibration.as_ref().and_then(|calibration| calibration.constant()));
    }
    Ok(())
}
