//! Speed of simulated councils and of the exact plurality.
//!
//! ```text
//! cargo bench --bench simulation                     trials per second
//! python3 benches/simulation_peer.py                 the same model and rules in numpy, and the ratio
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant;

use evalcurve_lab::plurality::{Tie, plurality_of_alike};
use evalcurve_lab::simulate::{Contender, Model, RunOptions, simulate};

/// Processor time of this program in seconds, if the system provides it. Other programs may be running as well.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let ticks = |i: usize| stat.rsplit(')').next()?.split_whitespace().nth(i)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

fn best(times: u32, mut work: impl FnMut()) -> f64 {
    let timed = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..times).map(|_| timed(&mut work)).fold(f64::INFINITY, f64::min)
}

fn main() {
    let trials = 10_000_000;
    let threads = std::env::args().skip_while(|a| a != "--threads").nth(1).and_then(|n| n.parse().ok());
    for (noise, candidates) in [(&[1.0, 1.5, 1.5][..], 2), (&[1.0, 1.5, 1.5], 3), (&[2.0; 10], 2)] {
        let model = Model::lfics(noise, candidates, 1.0);
        let options = RunOptions { trials, seed: 1, threads };
        let none = best(5, || drop(simulate(&model, &[], options)));
        let before = cpu_seconds();
        let seconds = best(5, || drop(simulate(&model, &Contender::lfics(), options)));
        let busy = cpu_seconds().zip(before).map(|(a, b)| 5.0 * trials as f64 / (a - b) / 1e6);
        let busy = busy.map_or_else(String::new, |rate| format!(", {rate:.2} per second of processor time"));
        println!(
            "simulation engines {} candidates {candidates}: {:.2} million trials per second, six rules decided on each \
             ({:.2} without rules){busy}",
            noise.len(),
            trials as f64 / seconds / 1e6,
            trials as f64 / none / 1e6
        );
    }
    let zipf: Vec<f64> = (1..=600).map(|k| 1.0 / f64::from(k)).collect();
    let sum: f64 = zipf.iter().sum();
    let zipf: Vec<f64> = zipf.iter().map(|p| p / sum).collect();
    for tie in [Tie::Worst, Tie::Random] {
        let seconds = best(5, || drop(plurality_of_alike(100, &zipf, tie)));
        println!("plurality voters 100 moves 600 ties {}: {:.1} ms", tie, seconds * 1e3);
    }
}
