//! Runs an engine as a child process. Writing never blocks, output is bounded, and all that it starts ends with it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use evalcurve_words::key;
use thiserror::Error;

use super::lines::{LineReader, ReadLine};
use super::processor_time::Processes;
use super::running;
#[cfg(unix)]
use super::running::guard::Guarded as Child;
use crate::lock::lock;
#[cfg(windows)]
use windows::Job as Child;

/// Lines of standard error that are stored, to report why an engine ended.
const STDERR_LINES: usize = 4;

/// Lines that may wait for an engine to read them.
const INPUT_LINES: usize = 1000;

/// How long to wait for the end of standard error after the end of standard output.
const STDERR_TIME: Duration = Duration::from_millis(500);

/// A program with its arguments, folder and environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// The program: a path, or a name to look up on PATH.
    pub command: OsString,
    pub args: Vec<OsString>,
    /// The working directory; `None`: that of the caller.
    pub directory: Option<PathBuf>,
    /// Variables added to the environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// The command that starts this program, if that is not its file.
static STARTED_BY: OnceLock<Vec<OsString>> = OnceLock::new();

impl Launch {
    /// Says that a command starts this program, such as `python -m evalcurve`. Only the first call counts.
    pub fn started_by(command: Vec<OsString>) {
        // a process is started once
        let _ = STARTED_BY.set(command);
    }

    /// This program with other arguments.
    ///
    /// # Errors
    /// Those of [`current_exe`](std::env::current_exe).
    pub fn this_program(args: Vec<OsString>) -> io::Result<Self> {
        let command = match STARTED_BY.get() {
            Some(command) => command.clone(),
            None => vec![std::env::current_exe()?.into_os_string()],
        };
        let mut words = command.into_iter().chain(args);
        Ok(Self { command: words.next().unwrap_or_default(), args: words.collect(), ..Self::default() })
    }

    /// The program `evalcurve-lab` with these arguments: the one beside this program, or else the one on `PATH`.
    ///
    /// # Errors
    /// Those of [`current_exe`](std::env::current_exe).
    pub fn lab(args: Vec<OsString>) -> io::Result<Self> {
        let name = format!("evalcurve-lab{}", std::env::consts::EXE_SUFFIX);
        let beside = std::env::current_exe()?.with_file_name(&name);
        let command = if beside.is_file() { beside.into_os_string() } else { name.into() };
        Ok(Self { command, args, ..Self::default() })
    }
}

/// The output of an engine.
#[derive(Debug)]
pub enum EngineOutput {
    /// A line of standard output, and when it arrived.
    Line(ReadLine, Instant),
    /// Standard output ended.
    Closed {
        /// The last lines of standard error, separated by ` | `.
        stderr: String,
    },
}

/// A program could not be started.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
#[error("cannot start '{command}': {source}; {remedy}")]
pub struct SpawnError {
    command: String,
    remedy: &'static str,
    #[source]
    source: io::Error,
}

impl SpawnError {
    /// The error of the system: `NotFound` for a program or a working directory that does not exist.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

/// A running engine with an interface of lines. Dropping it ends the engine and everything that the engine started.
#[derive(Debug)]
pub struct Process {
    owned: Owned,
    /// The last lines of standard error.
    stderr: Arc<Mutex<VecDeque<String>>>,
    input: Option<SyncSender<String>>,
}

/// A child process. Dropping it ends the process and everything that it started.
#[derive(Debug)]
pub struct Owned {
    child: Child,
}

impl Owned {
    /// Starts a program, with pipes to its standard input and output, and its standard error as given.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(launch: &Launch, stderr: Stdio) -> Result<(Self, Streams), SpawnError> {
        let fail = |source: io::Error| SpawnError {
            command: launch.command.to_string_lossy().into_owned(),
            remedy: match source.kind() {
                io::ErrorKind::NotFound => key!("check the path of the command and of its working directory"),
                io::ErrorKind::PermissionDenied => key!("make the file executable"),
                _ => key!("check the command"),
            },
            source,
        };
        let mut command = Command::new(&launch.command);
        command.args(&launch.args).envs(launch.environment.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        if let Some(directory) = &launch.directory {
            command.current_dir(directory);
        }
        let mut running = running::lock();
        let groups = running.as_mut().ok_or_else(|| fail(io::Error::other("this program ends")))?;
        let mut child = Child::spawn(command).map_err(fail)?;
        groups.insert(child.group());
        let streams = child.streams();
        Ok((Self { child }, streams))
    }

    /// Whether the process itself has ended; something that it started may still hold its output.
    pub fn has_ended(&mut self) -> bool {
        self.child.has_ended()
    }
}

impl Process {
    /// Starts an engine. Separate threads read its output, pass it to `listener`, write its input and collect its
    /// standard error; they end with the engine. `listener` returns whether it wants more output; while it blocks, the
    /// engine waits.
    ///
    /// # Errors
    /// The program does not exist or cannot be executed.
    pub fn start(
        launch: &Launch,
        mut listener: impl FnMut(EngineOutput) -> bool + Send + 'static,
    ) -> Result<Self, SpawnError> {
        let (owned, (stdin, stdout, stderr)) = Owned::start(launch, Stdio::piped())?;

        let stderr_lines = Arc::new(Mutex::new(VecDeque::new()));
        let last_lines = Arc::clone(&stderr_lines);
        let (stderr_open, stderr_ended) = channel::<()>();
        if let Some(stderr) = stderr {
            let lines = Arc::clone(&stderr_lines);
            thread::spawn(move || {
                collect_last_lines(stderr, &lines);
                drop(stderr_open);
            });
        }
        if let Some(stdout) = stdout {
            thread::spawn(move || {
                let lines = LineReader::new(BufReader::new(stdout));
                if lines.forward(|line, at| listener(EngineOutput::Line(line, at))) {
                    // an engine that fails reports it on standard error at about the same moment; the wait has a limit
                    // because a grandchild can hold that stream open
                    let _ = stderr_ended.recv_timeout(STDERR_TIME);
                    listener(EngineOutput::Closed { stderr: joined(&stderr_lines) });
                }
            });
        }
        let (input, lines) = sync_channel(INPUT_LINES);
        if let Some(stdin) = stdin {
            thread::spawn(move || write_lines(stdin, &lines));
        }
        Ok(Self { owned, stderr: last_lines, input: Some(input) })
    }

    /// Sends a line. Never blocks: an engine that does not read its input blocks only its own writer thread, and loses
    /// lines when a thousand wait. The end of an engine is reported by [`EngineOutput::Closed`].
    pub fn send(&self, line: impl Into<String>) {
        if let Some(input) = &self.input {
            // this fails if the engine has ended, which the listener reports, or if it does not read, which its
            // deadlines show
            let _ = input.try_send(line.into());
        }
    }

    /// The process id of the engine.
    pub fn id(&self) -> u32 {
        self.owned.child.id()
    }

    /// The processor time of the engine so far, with that of everything that it started.
    pub fn processor_time(&self, now: &Processes) -> Option<Duration> {
        now.time_of(self.id())
    }

    /// Whether the engine itself has ended; something that it started may still hold its output, which is then not
    /// [`EngineOutput::Closed`].
    pub fn has_ended(&mut self) -> bool {
        self.owned.has_ended()
    }

    /// The last lines of standard error, separated by ` | `.
    pub(crate) fn last_words(&self) -> String {
        joined(&self.stderr)
    }
}

fn joined(lines: &Mutex<VecDeque<String>>) -> String {
    let lines = lock(lines);
    lines.iter().cloned().collect::<Vec<String>>().join(" | ")
}

impl Drop for Process {
    fn drop(&mut self) {
        // its input ends before it is killed
        self.input = None;
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.child.kill();
        // the id belongs to the group up to `wait`
        if let Some(groups) = &mut *running::lock() {
            groups.remove(&self.child.group());
        }
        self.child.wait();
    }
}

/// Standard input, output and error of a child process, where they are pipes.
pub type Streams =
    (Option<std::process::ChildStdin>, Option<std::process::ChildStdout>, Option<std::process::ChildStderr>);

/// Makes this program stop its engines, and remove its temporary files, before SIGHUP, SIGINT or SIGTERM ends it.
/// Engines have process groups of their own, so these signals do not reach them otherwise. A signal that this program
/// ignores, as under `nohup`, remains ignored. On Windows, the job object of this program ends its engines with it.
///
/// # Errors
/// The signals cannot be caught.
pub fn stop_engines_on_signals() -> io::Result<()> {
    stop_engines_on_signals_and(|| {})
}

/// The same, and calls a function then. On Windows it is not called.
///
/// # Errors
/// The signals cannot be caught.
pub fn stop_engines_on_signals_and(last: impl Fn() + Send + 'static) -> io::Result<()> {
    #[cfg(unix)]
    before_signals_end(move || {
        running::stop_engines();
        evalcurve_words::whole_file::remove_temporary_files();
        last();
    })?;
    #[cfg(not(unix))]
    drop(last);
    Ok(())
}

/// Calls a function before SIGHUP, SIGINT or SIGTERM ends this program as it would have anyway. A signal that this
/// program ignores, as under `nohup`, remains ignored. SIGXFSZ no longer ends it: the write fails.
///
/// # Errors
/// The signals cannot be caught.
#[cfg(unix)]
pub fn before_signals_end(clean_up: impl Fn() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    // a file that grows beyond the limit of the system (`ulimit -f`) is then an error like a full disk
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let caught = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
    let mut signals = signal_hook::iterator::Signals::new(caught)?;
    thread::spawn(move || {
        for signal in &mut signals {
            clean_up();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Whether this process inherited a signal as ignored, as after `nohup`; its children do, too. Unknown, and false,
/// without the /proc of Linux.
#[cfg(unix)]
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(windows)]
mod windows {
    use std::io;
    use std::process::{ChildStderr, ChildStdin, ChildStdout, Command};
    use std::sync::OnceLock;

    use process_wrap::std::{ChildWrapper, CommandWrap, JobObject};
    use win32job::{ExtendedLimitInfo, JobError};

    /// The job of this program, of its engines and of all that they start. Nothing closes it but the end of this
    /// program, whatever that is, and then the system ends the others.
    static OWN: OnceLock<Option<win32job::Job>> = OnceLock::new();

    fn own() -> Result<win32job::Job, JobError> {
        let mut info = ExtendedLimitInfo::new();
        info.limit_kill_on_job_close();
        let job = win32job::Job::create_with_limit_info(&info)?;
        job.assign_current_process()?;
        Ok(job)
    }

    /// An engine in a job object of its own, which ends it with all that it started. That of `process-wrap` does not
    /// end with this program.
    #[derive(Debug)]
    pub(super) struct Job(Box<dyn ChildWrapper>);

    impl Job {
        pub(super) fn spawn(command: Command) -> io::Result<Self> {
            // the engine inherits it; without it, the engines of a program that is killed run on
            OWN.get_or_init(|| own().ok());
            CommandWrap::from(command).wrap(JobObject).spawn().map(Self)
        }

        pub(super) fn id(&self) -> u32 {
            self.0.id()
        }

        pub(super) fn group(&self) -> u32 {
            self.0.id()
        }

        pub(super) fn streams(&mut self) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
            (self.0.stdin().take(), self.0.stdout().take(), self.0.stderr().take())
        }

        pub(super) fn has_ended(&mut self) -> bool {
            // not the job, which goes on
            self.0.inner_mut().try_wait().is_ok_and(|status| status.is_some())
        }

        pub(super) fn kill(&mut self) {
            let _ = self.0.start_kill();
        }

        pub(super) fn wait(&mut self) {
            let _ = self.0.wait();
        }
    }
}

fn write_lines(mut stdin: std::process::ChildStdin, lines: &Receiver<String>) {
    while let Ok(mut text) = lines.recv() {
        text.push('\n');
        // lines that are already waiting are written together
        while let Ok(line) = lines.try_recv() {
            text += &line;
            text.push('\n');
        }
        if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn collect_last_lines(stderr: impl Read, last: &Mutex<VecDeque<String>>) {
    LineReader::new(BufReader::new(stderr)).forward(|line, _| {
        if let ReadLine::Text(text) = line {
            let mut last = lock(last);
            if last.len() == STDERR_LINES {
                last.pop_front();
            }
            last.push_back(text.chars().take(200).collect());
        }
        true
    });
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Launch {
        let args = vec!["-c".into(), script.into()];
        Launch { command: "sh".into(), args, directory: None, environment: vec![("WHO".into(), "将棋".into())] }
    }

    fn start(script: &str) -> (Process, Receiver<EngineOutput>) {
        let (sender, output) = channel();
        (Process::start(&shell(script), move |line| sender.send(line).is_ok()).unwrap(), output)
    }

    fn text(output: &Receiver<EngineOutput>) -> String {
        match output.recv_timeout(Duration::from_secs(20)).unwrap() {
            EngineOutput::Line(ReadLine::Text(text), _) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_go_in_and_out() {
        let (process, output) = start("while read l; do echo \"$WHO $l\"; done");
        process.send("a");
        process.send("b");
        assert_eq!((text(&output), text(&output)), ("将棋 a".into(), "将棋 b".into()));
    }

    #[test]
    fn the_end_comes_with_the_last_lines_of_standard_error() {
        let (_process, output) = start("echo one; echo no network >&2; exit 3");
        assert_eq!(text(&output), "one");
        let EngineOutput::Closed { stderr } = output.recv_timeout(Duration::from_secs(20)).unwrap() else {
            panic!("a line")
        };
        assert_eq!(stderr, "no network");
    }

    #[test]
    fn an_engine_that_does_not_read_blocks_no_caller_and_dies_with_its_children() {
        let (process, output) = start("sleep 1000 & echo $!; sleep 1000");
        let grandchild = text(&output);
        for _ in 0..100 {
            process.send("x".repeat(10_000));
        }
        drop(process);
        // the pipe closes when the last process that holds it has ended
        assert!(
            matches!(output.recv_timeout(Duration::from_secs(20)).unwrap(), EngineOutput::Closed { .. }),
            "{grandchild}"
        );
    }

    #[test]
    fn a_missing_program_says_what_to_do() {
        let launch = Launch { command: "no/such/engine".into(), ..shell("") };
        let error = Process::start(&launch, |_| true).unwrap_err().to_string();
        assert!(error.starts_with("cannot start 'no/such/engine':") && error.ends_with("working directory"), "{error}");
    }
}
