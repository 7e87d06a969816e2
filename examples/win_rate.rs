//! Prints a win rate by a calibration file: `cargo run --example win_rate -- Gikou.json 300`
use evalcurve::calibration::Calibration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [file, score] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "give a file and a score")?;
    let calibration = Calibration::read(file)?;
    println!("{:.4}", calibration.win_rate(calibration.classify(score.parse()?)));
    Ok(())
}
