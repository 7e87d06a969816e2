//! Reading speed: one big CSA file is read, parsed and sampled, compared with a minimal line scanner on the same bytes.
//!
//! ```text
//! EVALCURVE_BENCH=big.csa cargo bench --bench reading
//! ```
//!
//! Without `EVALCURVE_BENCH` the bench repeats the shipped games in a file of about 200 MB in the temporary folder.
//! Runs alternate. The bench prints the minimum and the median of 15 runs, and their ratios.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use common::seconds;
use evalcurve::sample::{Duplicates, SamplingOptions};

const RUNS: usize = 15;

fn main() {
    let path = std::env::var_os("EVALCURVE_BENCH").map_or_else(make_file, PathBuf::from);
    let megabytes = common::megabytes(&path);
    println!("{}: {megabytes:.0} MB, {RUNS} alternated runs", path.display());

    let mut times: [Vec<f64>; 5] = Default::default();
    for _ in 0..RUNS {
        times[0].push(seconds(|| lines_of(&path)));
        times[4].push(seconds(|| line_feeds_of(&path)));
        times[1].push(seconds(|| samples_of(&path, 1)));
        times[2].push(seconds(|| samples_of(&path, 2)));
        times[3].push(seconds(|| common::read_only(&path, 1 << 20)));
    }
    let names = [
        "memchr, line by line",
        "evalcurve, 1 thread",
        "evalcurve, 2 threads",
        "reading the file alone",
        "memchr_iter over blocks",
    ];
    let mut medians = Vec::new();
    for (name, times) in names.iter().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        let (min, median) = (times[0], times[RUNS / 2]);
        medians.push(median);
        println!("{name:24} min {:6.1} ms  median {:6.1} ms  {:5.0} MB/s", min * 1e3, median * 1e3, megabytes / median);
    }
    println!("evalcurve on one thread takes {:.2} times the line scanner", medians[1] / medians[0]);
    println!("                           and {:.2} times finding all line feeds", medians[1] / medians[4]);
    println!("two threads are {:.2} times as fast as one", medians[1] / medians[2]);
}

/// The minimum that any line reader does: it reads blocks, splits them into lines, and looks at the first byte of each.
fn lines_of(path: &Path) -> u64 {
    let mut file = fs::File::open(path).expect("open");
    let mut buffer = vec![0; 1 << 20];
    let mut counts = [0u64; 256];
    loop {
        let n = file.read(&mut buffer).expect("read");
        if n == 0 {
            return counts[usize::from(b'\'')];
        }
        let mut rest = &buffer[..n];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            counts[usize::from(rest[0])] += 1;
            rest = &rest[end + 1..];
        }
    }
}

/// Even less: it only finds the ends of lines, in one pass.
fn line_feeds_of(path: &Path) -> u64 {
    let mut file = fs::File::open(path).expect("open");
    let mut buffer = vec![0; 1 << 20];
    let mut sum = 0;
    loop {
        let n = file.read(&mut buffer).expect("read");
        if n == 0 {
            return sum;
        }
        sum += memchr::memchr_iter(b'\n', &buffer[..n]).map(|end| end as u64).sum::<u64>();
    }
}

fn samples_of(path: &Path, threads: usize) -> usize {
    let sampling = SamplingOptions { duplicates: Duplicates::ByIdentity, ..SamplingOptions::default() };
    common::samples_of(path, sampling, threads).table.samples.len()
}

/// The shipped games, repeated with a different start time each time, so that no game has the identity of another.
fn make_file() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/selfplay");
    let mut games = Vec::new();
    for entry in fs::read_dir(folder).expect("data/selfplay").flatten() {
        if entry.path().extension().is_some_and(|e| e == "csa") {
            games.extend_from_slice(&fs::read(entry.path()).expect("read"));
            games.extend_from_slice(b"/\n");
        }
    }
    let text = String::from_utf8(games).expect("the shipped games are UTF-8");
    let mut all = String::new();
    let mut day = 0;
    while all.len() < 200_000_000 {
        let date = format!("$START_TIME:{:04}/{:02}/{:02}\nPI\n", 1000 + day / 300, 1 + day / 25 % 12, 1 + day % 25);
        all += &text.replace("PI\n", &date);
        day += 1;
    }
    let path = std::env::temp_dir().join("evalcurve-bench.csa");
    fs::write(&path, all).expect("write");
    path
}
