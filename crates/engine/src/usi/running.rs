//! Tracks the process groups of running engines and kills them when this program ends, also by a signal.
//!
//! A signal that can be caught stops the engines in this program. Against SIGKILL and crashes, each group has a guard.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

/// The groups; `None` once [`stop_engines`] was called.
static RUNNING: Mutex<Option<BTreeSet<u32>>> = Mutex::new(Some(BTreeSet::new()));

/// How long engines have to end by themselves if a signal ends this program.
#[cfg(unix)]
const TERMINATE_TIME: std::time::Duration = std::time::Duration::from_millis(200);

/// The groups, while none can start or be waited for: their ids remain theirs.
pub(super) fn lock() -> MutexGuard<'static, Option<BTreeSet<u32>>> {
    // a set of numbers is valid after a panic elsewhere
    crate::lock::lock(&RUNNING)
}

/// Stops all engines that run, with everything that they started. No engine can be started afterwards.
#[cfg(unix)]
pub(super) fn stop_engines() {
    use rustix::process::Signal;
    let mut running = lock();
    let Some(groups) = running.take().filter(|groups| !groups.is_empty()) else { return };
    groups.iter().for_each(|group| guard::signal_group(*group, Signal::TERM));
    std::thread::sleep(TERMINATE_TIME);
    groups.iter().for_each(|group| guard::signal_group(*group, Signal::KILL));
}

/// Whether a signal is ending this program and its engines, so that the end of an engine says nothing about it.
pub fn engines_are_stopping() -> bool {
    lock().is_none()
}

#[cfg(unix)]
pub(super) mod guard {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process_group};
    #[cfg(not(target_os = "openbsd"))]
    use rustix::process::{WaitId, WaitIdOptions, waitid};

    /// Waits for the end of its input, which only the program that started it holds open, and kills its own group.
    const SCRIPT: &str = "trap '' HUP INT QUIT TERM; while read -r line; do :; done; kill -s KILL 0";

    /// An engine in a group whose leader is a shell that ends the group when this program ends. The engine cannot start
    /// without its guard: once the group is gone, no process can join it.
    #[derive(Debug)]
    pub(crate) struct Guarded {
        engine: Child,
        /// `None` on a system without a shell, where the engine leads the group.
        guard: Option<Child>,
    }

    impl Guarded {
        /// Starts the guard and the engine.
        pub(crate) fn spawn(mut command: Command) -> io::Result<Self> {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", SCRIPT]).current_dir("/").process_group(0);
            shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut guard = shell.spawn().ok();
            let group = guard.as_ref().and_then(|guard| i32::try_from(guard.id()).ok()).unwrap_or(0);
            match command.process_group(group).spawn() {
                Ok(engine) => Ok(Self { engine, guard }),
                Err(error) => {
                    end(&mut guard);
                    Err(error)
                }
            }
        }

        /// The process id of the engine.
        pub(crate) fn id(&self) -> u32 {
            self.engine.id()
        }

        /// The id of the group.
        pub(crate) fn group(&self) -> u32 {
            self.guard.as_ref().unwrap_or(&self.engine).id()
        }

        /// The pipes of the engine.
        pub(crate) fn streams(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
            (self.engine.stdin.take(), self.engine.stdout.take(), self.engine.stderr.take())
        }

        /// Whether the engine itself has ended. It is not waited for here: its id may be that of the group.
        #[cfg(not(target_os = "openbsd"))]
        pub(crate) fn has_ended(&mut self) -> bool {
            let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            id.is_some_and(|id| waitid(WaitId::Pid(id), options).is_ok_and(|status| status.is_some()))
        }

        /// Whether the engine itself has ended: unknown without `waitid`.
        #[cfg(target_os = "openbsd")]
        pub fn has_ended(&mut self) -> bool {
            false
        }

        /// Kills the engine and everything that it started.
        pub(crate) fn kill(&mut self) {
            signal_group(self.group(), Signal::KILL);
            // in case it left its group
            let _ = self.engine.kill();
        }

        /// Waits for the engine, which was killed: this returns at once and leaves no zombie.
        pub(crate) fn wait(&mut self) {
            let _ = self.engine.wait();
            end(&mut self.guard);
        }
    }

    fn end(guard: &mut Option<Child>) {
        if let Some(guard) = guard {
            let _ = guard.kill();
            let _ = guard.wait();
        }
    }

    /// The leader of the group has not been waited for yet, so its id still identifies the group.
    pub(crate) fn signal_group(group: u32, signal: Signal) {
        if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }
}
