//! Signals that end the program: temporary files are removed first.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::whole_file::remove_temporary_files;

/// On SIGINT, SIGTERM and SIGHUP, removes the temporary files of this process, then ends it as the signal would have.
pub(super) fn clean_up_on_signals() {
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
    let Ok(mut signals) = Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_temporary_files();
            let _ = emulate_default_handler(signal);
        }
    });
}

/// Whether the caller, for example `nohup`, asked this process to ignore the signal.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
