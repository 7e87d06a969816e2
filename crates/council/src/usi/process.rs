//! An engine that runs: a child process with all that it starts, which can neither block nor flood its caller.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::lines::{Line, LineReader};

/// Lines of standard error that are kept, to say why an engine ended.
const LAST_WORDS: usize = 4;

/// How long they may come after the end of standard output.
const LAST_WORDS_TIME: Duration = Duration::from_millis(100);

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program: a path, or a name that is looked up on PATH.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs; `None`: where its caller does.
    pub directory: Option<PathBuf>,
    /// Variables added to the environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// What a process gives to whoever listens.
#[derive(Debug)]
pub enum Heard {
    /// A line of its standard output, and when it came.
    Line(Line, Instant),
    /// Its standard output ended.
    Closed(Closed),
}

/// The end of an engine's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// The last lines that it wrote to standard error.
    pub last_words: String,
}

/// A program that did not start.
#[derive(Debug, Error)]
#[error("cannot start '{command}': {source}; {remedy}")]
pub struct SpawnError {
    command: String,
    remedy: &'static str,
    #[source]
    source: io::Error,
}

/// A running engine. Dropping it ends the engine and everything that the engine started.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: Option<Sender<String>>,
}

#[cfg(unix)]
type Child = std::process::Child;
#[cfg(windows)]
type Child = Box<dyn process_wrap::std::ChildWrapper>;

impl Process {
    /// Starts an engine. Threads of its own read what it writes and hand it to `listener`, write what it is sent, and
    /// keep its last words; they end with the engine. `listener` says whether it wants more; it may block, and then the
    /// engine waits too.
    ///
    /// # Errors
    /// The program is not there or may not be run.
    pub fn start(
        launch: &Launch,
        mut listener: impl FnMut(Heard) -> bool + Send + 'static,
    ) -> Result<Self, SpawnError> {
        let fail = |source: io::Error| SpawnError {
            command: launch.command.to_string_lossy().into_owned(),
            remedy: match source.kind() {
                io::ErrorKind::NotFound => "check the path of the command and of its working directory",
                io::ErrorKind::PermissionDenied => "make the file executable",
                _ => "check the command",
            },
            source,
        };
        let mut command = Command::new(&launch.command);
        command.args(&launch.args).envs(launch.environment.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(directory) = &launch.directory {
            command.current_dir(directory);
        }
        let mut child = spawn(command).map_err(fail)?;
        let (stdin, stdout, stderr) = streams(&mut child);

        let words = Arc::new(Mutex::new(VecDeque::new()));
        let (said_all, all_said) = channel::<()>();
        if let Some(stderr) = stderr {
            let words = Arc::clone(&words);
            thread::spawn(move || {
                keep_last_words(LineReader::new(BufReader::new(stderr)), &words);
                drop(said_all);
            });
        }
        if let Some(stdout) = stdout {
            thread::spawn(move || {
                let mut lines = LineReader::new(BufReader::new(stdout));
                while let Ok(Some(line)) = lines.read() {
                    if !listener(Heard::Line(line, Instant::now())) {
                        return;
                    }
                }
                // what an engine says of its death comes on the other stream at about the same moment; not for ever, since
                // a grandchild may hold that stream open
                let _ = all_said.recv_timeout(LAST_WORDS_TIME);
                let last_words = match words.lock() {
                    Ok(words) => words.iter().cloned().collect::<Vec<_>>().join(" | "),
                    Err(_) => String::new(),
                };
                listener(Heard::Closed(Closed { last_words }));
            });
        }
        let (input, orders) = channel();
        if let Some(stdin) = stdin {
            thread::spawn(move || write_orders(stdin, &orders));
        }
        Ok(Self { child, input: Some(input) })
    }

    /// Sends a line. Never blocks: an engine that does not read makes only its own writer wait, and one that has ended
    /// says so by [`Heard::Closed`].
    pub fn send(&self, line: impl Into<String>) {
        if let Some(input) = &self.input {
            // a writer that is gone means an engine that is gone, which the listener is told
            let _ = input.send(line.into());
        }
    }

    /// The number that the system gave the engine.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the engine and all that it started, and reaps it.
    fn end(&mut self) {
        self.input = None;
        kill_all(&mut self.child);
        // it was killed: this returns at once and leaves no zombie
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

type Streams = (Option<std::process::ChildStdin>, Option<std::process::ChildStdout>, Option<std::process::ChildStderr>);

#[cfg(unix)]
fn spawn(mut command: Command) -> io::Result<Child> {
    use std::os::unix::process::CommandExt;
    command.process_group(0).spawn()
}

#[cfg(unix)]
fn streams(child: &mut Child) -> Streams {
    (child.stdin.take(), child.stdout.take(), child.stderr.take())
}

/// The child has not been waited for, so that its number still means its group.
#[cfg(unix)]
fn kill_all(child: &mut Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    // should it have left its group
    let _ = child.kill();
}

#[cfg(windows)]
fn spawn(command: Command) -> io::Result<Child> {
    use process_wrap::std::{CommandWrap, JobObject};
    CommandWrap::from(command).wrap(JobObject).spawn()
}

#[cfg(windows)]
fn streams(child: &mut Child) -> Streams {
    (child.stdin().take(), child.stdout().take(), child.stderr().take())
}

#[cfg(windows)]
fn kill_all(child: &mut Child) {
    let _ = child.start_kill();
}

fn write_orders(mut stdin: std::process::ChildStdin, orders: &Receiver<String>) {
    while let Ok(mut line) = orders.recv() {
        line.push('\n');
        // orders that wait already go with this one
        while let Ok(more) = orders.try_recv() {
            line += &more;
            line.push('\n');
        }
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn keep_last_words<R: io::BufRead>(mut lines: LineReader<R>, words: &Mutex<VecDeque<String>>) {
    while let Ok(Some(line)) = lines.read() {
        let Line::Text(text) = line else { continue };
        let Ok(mut words) = words.lock() else { return };
        if words.len() == LAST_WORDS {
            words.pop_front();
        }
        words.push_back(text.chars().take(200).collect());
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Launch {
        let args = vec!["-c".into(), script.into()];
        Launch { command: "sh".into(), args, directory: None, environment: vec![("WHO".into(), "将棋".into())] }
    }

    fn start(script: &str) -> (Process, Receiver<Heard>) {
        let (sender, heard) = channel();
        (Process::start(&shell(script), move |h| sender.send(h).is_ok()).unwrap(), heard)
    }

    fn text(heard: &Receiver<Heard>) -> String {
        match heard.recv_timeout(Duration::from_secs(20)).unwrap() {
            Heard::Line(Line::Text(text), _) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_go_in_and_out() {
        let (process, heard) = start("while read l; do echo \"$WHO $l\"; done");
        process.send("a");
        process.send("b");
        assert_eq!((text(&heard), text(&heard)), ("将棋 a".into(), "将棋 b".into()));
    }

    #[test]
    fn the_end_comes_with_the_last_words() {
        let (_process, heard) = start("echo one; echo no network >&2; exit 3");
        assert_eq!(text(&heard), "one");
        let Heard::Closed(closed) = heard.recv_timeout(Duration::from_secs(20)).unwrap() else { panic!("a line") };
        assert_eq!(closed.last_words, "no network");
    }

    #[test]
    fn an_engine_that_does_not_read_blocks_nobody_and_dies_with_its_children() {
        let (process, heard) = start("sleep 1000 & echo $!; sleep 1000");
        let grandchild = text(&heard);
        for _ in 0..100 {
            process.send("x".repeat(10_000));
        }
        drop(process);
        // the pipe closes when the last process that holds it has gone
        assert!(matches!(heard.recv_timeout(Duration::from_secs(20)).unwrap(), Heard::Closed(_)), "{grandchild}");
    }

    #[test]
    fn a_missing_program_says_what_to_do() {
        let launch = Launch { command: "no/such/engine".into(), ..shell("") };
        let error = Process::start(&launch, |_| true).unwrap_err().to_string();
        assert!(error.starts_with("cannot start 'no/such/engine':") && error.ends_with("working directory"), "{error}");
    }
}
