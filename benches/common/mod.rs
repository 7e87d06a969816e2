//! Helpers for the benches that read files.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use evalcurve::sample::{CollectOptions, Collected, Progress, SamplingOptions, collect_with_rows};

/// The seconds that `work` takes.
pub(crate) fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

/// The length of a file in megabytes (10⁶ bytes).
pub(crate) fn megabytes(path: &Path) -> f64 {
    fs::metadata(path).expect("the file to read").len() as f64 / 1e6
}

/// Reads a file without using it, in blocks of `block` bytes into one buffer.
pub(crate) fn read_only(path: &Path, block: usize) -> u64 {
    let mut file = File::open(path).expect("open");
    let mut buffer = vec![0; block];
    let mut sum = 0;
    loop {
        let n = file.read(&mut buffer).expect("read");
        if n == 0 {
            return sum;
        }
        sum += u64::from(buffer[n - 1]);
    }
}

/// Draws the samples of a file as the program does.
pub(crate) fn samples_of(path: &Path, sampling: SamplingOptions, threads: usize) -> Collected {
    let options = CollectOptions { sampling, threads, ..CollectOptions::default() };
    collect_with_rows(&[path.to_owned()], &[], &options, &Progress::default()).expect("collect")
}
