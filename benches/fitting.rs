//! Fitting speed: 10 million samples are counted and fitted.
//!
//! ```text
//! cargo bench --bench fitting                  prints times and passes
//! cargo bench --bench fitting -- --rows FILE   also writes the rows for benches/peers.py
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use evalcurve::fit::{FitOptions, Method, Observation, ScoreCounts, fit, fit_counts};
use evalcurve::random;
use evalcurve::types::Outcome;

const ROWS: u64 = 10_000_000;
const PER_GAME: u64 = 4;

fn main() {
    let rows: Vec<Observation> = (0..ROWS).map(row).collect();
    println!("{ROWS} samples of {} games", ROWS / PER_GAME);
    for method in Method::ALL {
        let mut times: [Vec<f64>; 3] = Default::default();
        let mut passes = 0;
        let mut fitted = None;
        for _ in 0..7 {
            let start = Instant::now();
            let counts = ScoreCounts::from_observations(&rows);
            times[0].push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            let point = fit_counts(method, &counts, &FitOptions::default()).expect("fit");
            times[1].push(start.elapsed().as_secs_f64());
            passes = point.passes;
            let start = Instant::now();
            fitted = Some(fit(method, &rows, &FitOptions::default()).expect("fit"));
            times[2].push(start.elapsed().as_secs_f64());
        }
        for times in &mut times {
            times.sort_by(f64::total_cmp);
        }
        let [count, point, whole] = times.map(|t| t[t.len() / 2] * 1e3);
        println!(
            "{method}: counting {count:.0} ms, {passes} passes over the counts in {point:.1} ms, \
             whole fit with clustered covariance {whole:.0} ms"
        );
        if let Some(fit) = fitted {
            println!(
                "  w1 {:.9e} ± {:.2e}, w2 {:.9e} ± {:.2e}",
                fit.sigmoid.w1,
                fit.standard_errors()[0],
                fit.sigmoid.w2,
                fit.standard_errors()[1]
            );
        }
    }
    let mut arguments = std::env::args().skip_while(|a| a != "--rows").skip(1);
    if let Some(path) = arguments.next() {
        let mut out = BufWriter::new(File::create(&path).expect("create the file of --rows"));
        for row in &rows {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&row.game.to_le_bytes());
            bytes[8..12].copy_from_slice(&row.score_cp.to_le_bytes());
            bytes[12..].copy_from_slice(&((row.outcome.value() * 2.0) as i32).to_le_bytes());
            out.write_all(&bytes).expect("write");
        }
        println!("rows written to {path}: game u64, score_cp i32, result*2 i32");
    }
}

/// One sample. There are a few thousand distinct scores; results follow w1 = 0.0015 and w2 = 0.2, and the samples of a
/// game are correlated.
fn row(index: u64) -> Observation {
    let game = index / PER_GAME;
    let normal = |key: u64| random::normal(random::unit(&[1, key]), random::unit(&[2, key]));
    let score_cp = (900.0 * normal(index)) as i32;
    let p = 1.0 / (1.0 + libm::exp(-0.0015 * f64::from(score_cp) + 0.2));
    let luck = if index.is_multiple_of(2) { random::unit(&[3, game]) } else { random::unit(&[4, index]) };
    let outcome = if luck < p { Outcome::Win } else { Outcome::Loss };
    Observation { game, score_cp, outcome }
}
