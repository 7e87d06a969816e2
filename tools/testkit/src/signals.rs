//! Councils that a signal ends at any moment: which of their engines, and of the processes that these started, survive.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(unix)]
use evalcurve_engine::usi::is_ignored;
use evalcurve_words::random;
use serde::Serialize;

use crate::torture::{TortureError, processes_named, settles};

/// The result for one signal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SignalReport {
    /// The signal: 1, 2, 9 or 15.
    pub signal: u32,
    /// Councils that it ended.
    pub councils: u64,
    /// Engines and their children at the moment of the signal.
    pub processes: u64,
    /// Those that were still running half a minute after the council.
    pub survivors: u64,
    /// Councils that a signal did not end.
    pub deaf: u64,
    /// The longest time until all were gone, in milliseconds.
    pub slowest_ms: u64,
}

impl SignalReport {
    /// Whether nothing survived, and there was something that could.
    pub fn is_clean(&self) -> bool {
        self.survivors == 0 && self.deaf == 0 && self.processes > 0
    }
}

/// Ends `runs` councils by each signal. Their members ignore `quit` and the end of their input, some hang, and some
/// have children. `None` with a message on standard error if the system has no `/proc`.
///
/// # Errors
/// The configuration cannot be written, or the program cannot be started.
pub fn signals(program: &Path, runs: u64) -> Result<Option<Vec<SignalReport>>, TortureError> {
    if !Path::new("/proc/self/cmdline").exists() {
        eprintln!("SKIPPED: the system has no /proc");
        return Ok(None);
    }
    let folder = std::env::temp_dir().join(format!("evalcurve-signals-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    // a council that inherits a signal as ignored goes on, as it should
    let (ignored, others): (Vec<i32>, Vec<i32>) = [1, 2, 9, 15].into_iter().partition(|signal| is_ignored(*signal));
    if !ignored.is_empty() {
        eprintln!("SKIPPED: this process ignores the signals {ignored:?}");
    }
    let of_signal = |signal: i32| {
        let mut report = SignalReport { signal: signal as u32, ..SignalReport::default() };
        let ended = (0..runs).try_for_each(|run| one_council(program, &folder, run, &mut report));
        ended.map(|()| report)
    };
    let reports = others.into_iter().map(of_signal).collect::<Result<_, _>>();
    let _ = fs::remove_dir_all(&folder);
    reports.map(Some)
}

#[cfg(not(unix))]
fn is_ignored(_: i32) -> bool {
    false
}

fn one_council(program: &Path, folder: &Path, run: u64, report: &mut SignalReport) -> Result<(), TortureError> {
    let mark = format!("signals-{}-{}-{run}", std::process::id(), report.signal);
    let shown = program.to_string_lossy();
    let member = |number: u32, faults: &[&str]| {
        let faults: String = faults.iter().map(|fault| format!(", \"--fault={fault}\"")).collect();
        format!(
            "[[engine]]\nname = \"M{number}\"\ncommand = '{shown}'\n\
             args = [\"scripted-engine\", \"--name={mark}\", \"--think-ms=20\"{faults}]\n"
        )
    };
    let members = [
        member(1, &["ignore-quit", "children"]),
        member(2, &["ignore-quit", "hang=0.5"]),
        member(3, &["ignore-quit", "ignore-stop"]),
    ];
    let config = folder.join("council.toml");
    fs::write(&config, format!("game = \"shogi\"\nrule = \"majority\"\n{}", members.concat()))?;
    let mut council = Command::new(program);
    council.arg("council").arg(&config).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut council = council.spawn()?;
    let orders = b"usi\nisready\nusinewgame\nposition startpos\ngo infinite\n";
    council.stdin.as_mut().map_or(Ok(()), |input| input.write_all(orders))?;
    // any moment from the start of the first member to the search
    let moment = random::below(150, &[u64::from(report.signal), run]);
    std::thread::sleep(Duration::from_millis(moment));
    report.processes += processes_named(&mark);
    let since = Instant::now();
    if report.signal == 9 {
        council.kill()?;
    } else {
        Command::new("kill").args([format!("-{}", report.signal), council.id().to_string()]).status()?;
    }
    let is_running = || u64::from(council.try_wait().is_ok_and(|ended| ended.is_none()));
    if settles(is_running) > 0 {
        report.deaf += 1;
        council.kill()?;
    }
    report.councils += 1;
    council.wait()?;
    report.survivors += settles(|| processes_named(&mark));
    report.slowest_ms = report.slowest_ms.max(since.elapsed().as_millis() as u64);
    Ok(())
}
