//! Time per byte: one part of a text is repeated until the text is long, and until it is eight times as long.

use std::time::Duration;

use evalcurve_calibration::Calibration;
use evalcurve_records::sample::Expression;
use evalcurve_rules::log::Log;
use evalcurve_rules::replay::{ReplayOptions, replay};

use super::files::{file, options, read};

pub(super) const PROMISE: &str = "a text in which one part is repeated until it is eight times as long takes less than \
                                  32 times as long, and 2 MiB less than 5 seconds";

/// Bytes of the long text under libFuzzer. Tests use a short one, which only has to be read.
const LONG: usize = if cfg!(fuzzing) { 2 << 20 } else { 1 << 14 };
/// A text that is read within this time is not looked at again.
const QUICK: Duration = Duration::from_millis(400);
/// No text may take that long.
const SLOW: Duration = Duration::from_secs(5);

/// The first byte chooses what the text is and the options, the next two where the part that is repeated begins and
/// ends. In that part, byte 1 stands for the number of the repetition.
pub(super) fn growth(bytes: &[u8]) {
    let [kind, from, to, text @ ..] = bytes else { return };
    let at = |byte: u8| text.len() * usize::from(byte) / 255;
    let (from, to) = (at(*from.min(to)), at(*from.max(to)));
    if from == to {
        return;
    }
    let (head, part, tail) = (&text[..from], &text[from..to], &text[to..]);
    let long = |length: usize| {
        let mut long = head.to_vec();
        let mut number = 0_u32;
        while long.len() + part.len() + tail.len() <= length {
            for piece in part.split_inclusive(|b| *b == 1) {
                match piece.split_last() {
                    Some((1, piece)) => {
                        long.extend_from_slice(piece);
                        long.extend_from_slice(number.to_string().as_bytes());
                    }
                    _ => long.extend_from_slice(piece),
                }
            }
            number += 1;
        }
        long.extend_from_slice(tail);
        long
    };
    let time = |length: usize| {
        let long = long(length);
        let begun = used();
        take(*kind, &long);
        used() - begun
    };
    let whole = time(LONG);
    if cfg!(fuzzing) && whole > QUICK {
        let part = time(LONG / 8).max(QUICK / 64);
        assert!(whole < (32 * part).min(SLOW), "{LONG} bytes take {whole:?}, an eighth of them {part:?}");
    }
}

fn take(kind: u8, text: &[u8]) {
    match kind % 4 {
        0 => drop(read(&file("growth", text), &options(kind >> 2, None))),
        1 => {
            let log = Log::parse(text);
            let _ = replay(&log, &ReplayOptions::default());
        }
        2 => {
            let _ = std::str::from_utf8(text).map(|text| Calibration::from_json(text, "growth"));
        }
        _ => {
            let _ = std::str::from_utf8(text).map(Expression::parse);
        }
    }
}

/// The time of this thread on a processor, which other programs do not change.
#[cfg(unix)]
fn used() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// The time since the first call.
#[cfg(not(unix))]
fn used() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}
