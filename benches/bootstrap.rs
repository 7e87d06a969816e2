//! Speed of the bootstrap over games: 2,000 resamples of 10 engines with 4,000 samples each, both fits and the curve.
//!
//! ```text
//! cargo bench --bench bootstrap
//! ```
//!
//! The samples come from the coverage simulation, four per game. The bench prints the minimum and median of 7 runs. For
//! comparison it also fits 20 of the resamples from scratch, which shows what the warm start saves.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;
use std::time::Instant;

use evalcurve::fit::{BootstrapOptions, FitData, FitOptions, Method, Observation, fit_counts};
use evalcurve::random;
use evalcurve_testkit::coverage::{CoverageOptions, simulate};
use rayon::prelude::*;

const ENGINES: u64 = 10;
const GAMES: u32 = 1000;
const RESAMPLES: u32 = 2000;
const COLD: u64 = 20;

fn main() {
    let options = CoverageOptions { games: GAMES, samples: (4, 4), ..CoverageOptions::default() };
    let engines: Vec<Vec<Observation>> = (0..ENGINES).map(|engine| simulate(&options, engine)).collect();
    let distinct: usize = engines.iter().map(|o| FitData::new(o).counts().rows().len()).sum();
    println!(
        "{ENGINES} engines, {} samples of {GAMES} games each, {} distinct scores on average, {RESAMPLES} resamples, \
         {} threads",
        engines[0].len(),
        distinct / ENGINES as usize,
        rayon::current_num_threads()
    );
    let mut times = Vec::new();
    for _ in 0..7 {
        let start = Instant::now();
        let all: Vec<_> = engines
            .par_iter()
            .map(|o| {
                FitData::new(o).bootstrap(&BootstrapOptions {
                    resamples: RESAMPLES,
                    seed: 1,
                    bin_cp: 200,
                    sigmoids: true,
                })
            })
            .collect();
        times.push(start.elapsed().as_secs_f64());
        black_box(all);
    }
    times.sort_by(f64::total_cmp);
    println!("all engines, both fits and the curve: minimum {:.2} s, median {:.2} s", times[0], times[3]);

    let start = Instant::now();
    for r in 0..COLD {
        let games = u64::from(GAMES);
        let drawn = (0..games).flat_map(|i| {
            let game = random::below(games, &[r, i]) as usize;
            engines[0][4 * game..4 * game + 4].iter().copied()
        });
        let drawn: Vec<Observation> = drawn.collect();
        let data = FitData::new(&drawn);
        for method in Method::ALL {
            black_box(fit_counts(method, data.counts(), &FitOptions::default()).expect("fit"));
        }
    }
    let cold = start.elapsed().as_secs_f64() / COLD as f64;
    let warm = times[3] / (ENGINES as f64 * f64::from(RESAMPLES));
    println!("one resample: {:.0} µs of wall time; fitted from scratch on one thread {:.0} µs", warm * 1e6, cold * 1e6);
}
