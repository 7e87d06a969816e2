//! Draws how the constants of analysed positions depend on the players, for `docs/analyse.md`:
//! `cargo run --release --example constant_by_rating -- docs/plots data/analysed/shogi.parquet OTHER.parquet`
//!
//! The games of the first table are cut into four groups of equally many samples by the mean rating of both players,
//! and every engine is calibrated on each group alone. Every further table is one more group.

use std::error::Error;
use std::path::Path;

use evalcurve::calibrate::{CalibrateOptions, EngineResult, calibrate};
use evalcurve::plot::{Forest, ForestMark, ForestRow, PlotOptions, forest};
use evalcurve::report::figures::save;
use evalcurve::run::{Input, Progress, Sample};
use evalcurve::sample::SampleTable;

/// Groups of players.
const GROUPS: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, tables @ ..] = &arguments[..] else { return Err("usage: constant_by_rating OUT TABLE…".into()) };
    let (mut rows, mut series): (Vec<ForestRow>, Vec<String>) = (Vec::new(), Vec::new());
    for (number, path) in tables.iter().enumerate() {
        let table = Sample::default().run(&Input::paths([path]), &Progress::default())?.value;
        let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy().replace('-', " ");
        let groups = if number == 0 { by_rating(&table) } else { vec![(stem, table)] };
        for (label, mut group) in groups {
            let results = calibrate(&mut group, &CalibrateOptions { bands: 0, ..CalibrateOptions::default() });
            series = results.iter().map(|result| result.name.clone()).collect();
            results.iter().filter_map(|r| Some((&r.name, mark(r)?))).for_each(|(name, mark)| {
                println!("{label} {name}: {:.0} [{:.0}, {:.0}]", mark.value, mark.low, mark.high);
            });
            rows.push(ForestRow { label, marks: results.iter().map(mark).collect() });
        }
    }
    let figure = Forest {
        title: "Constants of engines by the players of the positions".to_owned(),
        caption: "floodgate games by the mean rating of both players, and fast games of engines; 95% intervals"
            .to_owned(),
        axis: "1/w1 (centipawns per logit)".to_owned(),
        series,
        rows,
        references: Vec::new(),
        limits: None,
        notes: Vec::new(),
    };
    save(forest(&figure, &PlotOptions::default()), Path::new(out), "constant-by-rating", false)?;
    Ok(())
}

/// The samples by the mean rating of both players.
fn by_rating(table: &SampleTable) -> Vec<(String, SampleTable)> {
    let mean = |game: u32| match table.games.get(game as usize)?.ratings {
        [Some(black), Some(white)] => Some((black + white) / 2.0),
        _ => None,
    };
    let mut all: Vec<f64> = table.samples.iter().filter_map(|sample| mean(sample.game)).collect();
    all.sort_by(f64::total_cmp);
    let end = |i: usize| all.get(i * all.len().saturating_sub(1) / GROUPS).copied();
    let ends: Vec<f64> = (0..=GROUPS).filter_map(end).collect();
    let group = |(number, band): (usize, &[f64])| {
        let is_in = |rating: f64| rating >= band[0] && (rating < band[1] || number + 1 == GROUPS);
        let mut part = table.clone();
        part.samples.retain(|sample| mean(sample.game).is_some_and(is_in));
        (format!("rating {:.0} to {:.0}", band[0], band[1]), part)
    };
    ends.windows(2).enumerate().map(group).collect()
}

fn mark(result: &EngineResult) -> Option<ForestMark> {
    let constant = result.calibration.as_ref()?.constant()?;
    let [low, high] = constant.interval?;
    Some(ForestMark { value: constant.value, low, high })
}
