//! Reading speed of training data (HCPE and PSV), compared with reading the same file without using it.
//!
//! ```text
//! EVALCURVE_PACKED="big.hcpe big.psv" cargo bench --bench packed
//! ```
//!
//! Without `EVALCURVE_PACKED` the bench writes two files of 1 GB into the temporary folder: one start position with
//! random scores and results. Runs alternate on a warm cache, and the first run is not counted. The bench prints the
//! minimum and the median of 9 runs, and the speed relative to reading alone. Reading alone does what
//! `cat FILE > /dev/null` does: it reads blocks of 128 KiB into one buffer. `every 1000` measures little but reading
//! and checking; `every 100` is the default, whose samples must also be decoded and stored.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use evalcurve::random;
use evalcurve::sample::SamplingOptions;

const RUNS: usize = 9;

fn main() {
    let paths: Vec<PathBuf> = match std::env::var("EVALCURVE_PACKED") {
        Ok(list) => list.split_whitespace().map(PathBuf::from).collect(),
        Err(_) => ["hcpe", "psv"].into_iter().map(make_file).collect(),
    };
    for path in &paths {
        let megabytes = common::megabytes(path);
        println!("{}: {megabytes:.0} MB, {RUNS} alternated runs", path.display());
        type Work<'a> = (&'a str, Box<dyn Fn() -> u64 + 'a>);
        let work: [Work<'_>; 5] = [
            ("reading the file alone", Box::new(|| common::read_only(path, 1 << 17))),
            ("1 thread, every 1000", Box::new(|| samples_of(path, 1, 1_000))),
            ("2 threads, every 1000", Box::new(|| samples_of(path, 2, 1_000))),
            ("1 thread, every 100", Box::new(|| samples_of(path, 1, 100))),
            ("2 threads, every 100", Box::new(|| samples_of(path, 2, 100))),
        ];
        let mut times = vec![Vec::new(); work.len()];
        for run in 0..=RUNS {
            for ((_, work), times) in work.iter().zip(&mut times) {
                let taken = common::seconds(work);
                if run > 0 {
                    times.push(taken);
                }
            }
        }
        let best = |times: &Vec<f64>| times.iter().copied().fold(f64::INFINITY, f64::min);
        let reading = best(&times[0]);
        for ((name, _), times) in work.iter().zip(&mut times) {
            let min = best(times);
            times.sort_by(f64::total_cmp);
            println!(
                "{name:24} min {:6.1} ms  median {:6.1} ms  {:5.0} MB/s  {:4.0}% of reading",
                min * 1e3,
                times[RUNS / 2] * 1e3,
                megabytes / min,
                100.0 * reading / min
            );
        }
    }
}

fn samples_of(path: &Path, threads: usize, packed_every: u32) -> u64 {
    let sampling = SamplingOptions { annotator: Some("engine".to_owned()), packed_every, ..SamplingOptions::default() };
    let collected = common::samples_of(path, sampling, threads);
    let positions = collected.report.positions.values().map(|count| count.read).sum();
    assert!(positions > 0 && collected.report.adds_up());
    positions
}

/// A start position as hcp, and as packed sfen.
const START: [[u8; 32]; 2] = [
    [
        0x58, 0xa4, 0x49, 0x21, 0x0c, 0xd7, 0x57, 0x21, 0x7e, 0x8e, 0x4d, 0x21, 0x2c, 0xaf, 0x42, 0x78, 0x14, 0xc2,
        0xab, 0x10, 0x9e, 0x4d, 0x21, 0x2c, 0xd7, 0x5f, 0x21, 0x3e, 0x8e, 0x49, 0x21, 0x0c,
    ],
    [
        0x58, 0xa4, 0x51, 0x22, 0x0c, 0xeb, 0x67, 0x22, 0x7e, 0x96, 0x53, 0x22, 0x1c, 0xaf, 0x44, 0x78, 0x24, 0xc2,
        0x2b, 0x11, 0x9e, 0x53, 0x22, 0x1c, 0xeb, 0x6f, 0x22, 0x3e, 0x96, 0x51, 0x22, 0x0c,
    ],
];

fn make_file(kind: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("evalcurve-bench.{kind}"));
    let mut out = BufWriter::with_capacity(1 << 20, fs::File::create(&path).expect("create"));
    let psv = kind == "psv";
    for i in 0..25_000_000u64 {
        let draw = random::bits(&[1, i]);
        let score = (draw as i16 >> 4).to_le_bytes();
        out.write_all(&START[usize::from(psv)]).expect("write");
        out.write_all(&score).expect("write");
        out.write_all(&[0, 0]).expect("write");
        let won = draw >> 63;
        if psv {
            // games of 100 positions
            out.write_all(&[(i % 100 + 1) as u8, 0, if won == 1 { 1 } else { 0xff }, 0]).expect("write");
        } else {
            out.write_all(&[1 + won as u8, 0]).expect("write");
        }
    }
    out.flush().expect("write");
    path
}
