//! A progress bar while records are read.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{Error, Progress};

/// Runs a command while a bar shows its reading, unless `quiet`.
pub fn shown<T>(quiet: bool, run: impl FnOnce(&Progress) -> Result<T, Error>) -> anyhow::Result<T> {
    let progress = Progress::default();
    let bar = |done: &AtomicBool| {
        if !quiet {
            show(&progress, done);
        }
    };
    Ok(while_shown(bar, || run(&progress))?)
}

/// Does the work while another thread shows its progress, until its flag is set.
fn while_shown<T>(show: impl FnOnce(&AtomicBool) + Send, work: impl FnOnce() -> T) -> T {
    /// Sets the flag also where the work panics; else the scope would wait for the other thread for ever.
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| show(&done));
        let _ends = Ends(&done);
        work()
    })
}

/// Draws the progress bar until `done`, if standard error is a terminal.
fn show(progress: &Progress, done: &AtomicBool) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if bar.is_hidden() {
        return;
    }
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg} eta {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    let start = std::time::Instant::now();
    while !done.load(Relaxed) && !progress.ended.load(Relaxed) {
        let games = progress.games.load(Relaxed);
        bar.set_length(progress.total_bytes.load(Relaxed));
        bar.set_position(progress.bytes.load(Relaxed));
        let rate = games as f64 / start.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!("{games} games {rate:.0}/s"));
        std::thread::sleep(Duration::from_millis(80));
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_the_progress_bar() {
        let bar = |done: &AtomicBool| {
            while !done.load(Relaxed) {
                std::thread::yield_now();
            }
        };
        assert_eq!(while_shown(bar, || 1), 1);
        let work = || while_shown(bar, || panic!("a reader panics on purpose"));
        assert!(std::panic::catch_unwind(work).is_err());
    }
}
