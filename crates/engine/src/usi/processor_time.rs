//! The processor time of engines, with that of everything that they start.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The processes of the system at one moment, as Linux tells of them in `/proc`. Times are exact to 10 ms a process.
#[derive(Debug)]
pub struct Processes(HashMap<u32, Usage>);

/// A process in `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Usage {
    parent: u32,
    group: u32,
    /// Its own time, and that of its children that have ended.
    time: Duration,
}

/// The unit of times in `/proc` (USER_HZ): a hundredth of a second wherever Rust runs on Linux.
const TICK: Duration = Duration::from_millis(10);

impl Usage {
    /// The content of `/proc/PID/stat`. The name is in parentheses, and may contain blanks and parentheses.
    fn parse(stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let time =
            fields.get(11..15)?.iter().map(|ticks| Some(TICK * ticks.parse().ok()?)).sum::<Option<Duration>>()?;
        Some(Self { parent: fields[1].parse().ok()?, group: fields[2].parse().ok()?, time })
    }
}

impl Processes {
    /// The processes now; `None` where the system does not tell of them: elsewhere than on Linux.
    pub fn now() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let process = |entry: std::fs::DirEntry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            // one that ends in this moment has no text
            let stat = std::fs::read(entry.path().join("stat")).ok()?;
            Some((id, Usage::parse(&String::from_utf8_lossy(&stat))?))
        };
        let all: HashMap<u32, Usage> = std::fs::read_dir("/proc").ok()?.flatten().filter_map(process).collect();
        all.contains_key(&std::process::id()).then_some(Self(all))
    }

    /// The processor time of a process so far, of its children and their children, and of those of its group that lost
    /// their parent. The leader of the group is its guard, and counts only if it is the process itself.
    pub(super) fn time_of(&self, id: u32) -> Option<Duration> {
        let group = self.0.get(&id)?.group;
        Some(self.started_by(id, Some(group)).map(|at| self.0[&at].time).sum())
    }

    /// A process, what it started, and those of a group but its leader.
    fn started_by(&self, id: u32, group: Option<u32>) -> impl Iterator<Item = u32> {
        let is_own = move |mut at: u32| {
            // more steps than processes: a parent ended and its number was given to a child in this moment
            for _ in 0..self.0.len() {
                let Some(usage) = self.0.get(&at) else { return false };
                if at == id || (Some(usage.group) == group && Some(at) != group) {
                    return true;
                }
                at = usage.parent;
            }
            false
        };
        self.0.keys().copied().filter(move |at| is_own(*at))
    }
}

/// The time that passes, less that in which this program and the engines that it started wait for a processor: as on a
/// machine that does nothing else. Elsewhere than on Linux, all of the time.
#[derive(Debug)]
pub struct QuietClock {
    began: Instant,
    waits: HashMap<(u32, u32), Duration>,
}

impl QuietClock {
    /// Starts the clock.
    pub fn start() -> Self {
        let waits = waits();
        Self { began: Instant::now(), waits }
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        let elapsed = self.began.elapsed();
        // threads of one process wait at the same time, and processes for each other
        let mut by_process: HashMap<u32, Duration> = HashMap::new();
        for (thread, wait) in waits() {
            let waited = wait.saturating_sub(self.waits.get(&thread).copied().unwrap_or_default());
            let longest = by_process.entry(thread.0).or_default();
            *longest = waited.max(*longest);
        }
        // not nothing, whatever the system tells
        elapsed.saturating_sub(by_process.values().sum()).max(elapsed / 10)
    }
}

/// How long each thread, by its process and its number, has waited for a processor so far.
fn waits() -> HashMap<(u32, u32), Duration> {
    let Some(all) = Processes::now() else { return HashMap::new() };
    let threads = |process: u32| {
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        threads.filter_map(move |thread| {
            // on a processor, waiting for one, and how often, in nanoseconds
            let times = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            let waited = times.split_whitespace().nth(1)?.parse().ok()?;
            Some(((process, thread.file_name().to_str()?.parse().ok()?), Duration::from_nanos(waited)))
        })
    };
    // not its group, which holds what a shell started beside it
    all.started_by(std::process::id(), None).flat_map(threads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_follow_a_name_with_anything_in_it() {
        let stat = "77 (a) b (c) S 5 6 6 0 -1 4194304 102 0 0 0 11 22 33 44 20 0 1 0 57289 3133440 417";
        let expected = Usage { parent: 5, group: 6, time: Duration::from_millis(1_100) };
        assert_eq!(Usage::parse(stat), Some(expected));
        assert_eq!(Usage::parse("77 (a) S 5"), None);
        assert_eq!(Usage::parse(""), None);
    }

    #[test]
    fn a_process_has_the_time_of_all_that_it_started() {
        let usage = |parent, group, ms| Usage { parent, group, time: Duration::from_millis(ms) };
        let all = [
            (1, usage(0, 1, 5_000)),
            // this program, a guard, and the engine in its group
            (10, usage(1, 10, 3_000)),
            (20, usage(10, 20, 900)),
            (21, usage(10, 20, 100)),
            // its children: one in a group of its own with a child, and one whose parent has ended
            (30, usage(21, 30, 20)),
            (31, usage(30, 31, 3)),
            (32, usage(1, 20, 4_000)),
            // another engine
            (40, usage(10, 40, 700)),
            (41, usage(10, 40, 60_000)),
        ];
        let processes = Processes(all.into_iter().collect());
        assert_eq!(processes.time_of(21), Some(Duration::from_millis(4_123)));
        assert_eq!(processes.time_of(41), Some(Duration::from_millis(60_000)));
        // without a guard, the engine leads its group
        assert_eq!(processes.time_of(40), Some(Duration::from_millis(60_700)));
        assert_eq!(processes.time_of(99), None);
    }

    /// Four threads for each processor wait for most of the time.
    #[cfg(target_os = "linux")]
    #[test]
    fn waiting_for_a_processor_takes_no_time() {
        let (clock, began) = (QuietClock::start(), Instant::now());
        let most = 4 * std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..most {
                scope.spawn(|| while began.elapsed() < Duration::from_millis(600) {});
            }
            std::thread::sleep(Duration::from_millis(500));
            let (quiet, all) = (clock.elapsed(), began.elapsed());
            assert!(quiet * 3 < all * 2, "{quiet:?} of {all:?}");
        });
    }

    /// A shell whose child works, and one whose child has ended.
    #[cfg(target_os = "linux")]
    #[test]
    fn children_count_while_they_work_and_after_their_end() {
        use super::super::{EngineOutput, Launch, Process, ReadLine};
        let work = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        for script in [format!("sh -c '{work}'; echo done; read x"), format!("sh -c '{work}; echo done; read x'; :")] {
            let launch = Launch { command: "sh".into(), args: vec!["-c".into(), script.into()], ..Launch::default() };
            let (sender, output) = std::sync::mpsc::channel();
            let process = Process::start(&launch, move |line| sender.send(line).is_ok()).unwrap();
            let first = output.recv_timeout(Duration::from_secs(60)).unwrap();
            assert!(matches!(first, EngineOutput::Line(ReadLine::Text(text), _) if text == "done"));
            let time = Processes::now().and_then(|now| process.processor_time(&now)).unwrap();
            assert!(time >= Duration::from_millis(30), "{time:?}");
        }
    }
}
