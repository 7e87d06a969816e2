//! Time that `evalcurve proxy` adds: the same dialogue with an engine directly and through the proxy.
//!
//! ```text
//! cargo bench --bench proxy
//! ```
//!
//! The engine is `cat`, which answers each line with the line; a search would hide the difference. Directly and through
//! the proxy alternate line by line, so that a busy machine affects both.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const LINES: usize = 20_000;
const INFO: &str =
    "info depth 21 seldepth 30 multipv 1 score cp 35 nodes 1234567 nps 1500000 time 823 pv e2e4 e7e5 g1f3\n";

struct Dialogue {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Dialogue {
    fn new(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let (input, output) = (child.stdin.take().expect("its input"), child.stdout.take().expect("its output"));
        Self { child, input, output: BufReader::new(output), line: String::new() }
    }

    /// The time from a line to its answer.
    fn ask(&mut self) -> Duration {
        let start = Instant::now();
        self.input.write_all(INFO.as_bytes()).expect("it reads");
        self.line.clear();
        self.output.read_line(&mut self.line).expect("it answers");
        start.elapsed()
    }

    fn end(mut self) {
        drop(self.input);
        let _ = self.child.wait();
    }
}

fn main() {
    let calibration = concat!(env!("CARGO_MANIFEST_DIR"), "/data/published/gikou.json");
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_evalcurve"));
    proxy.args(["proxy", "--calibration", calibration, "--", "cat"]);
    let mut both = [Dialogue::new(Command::new("cat")), Dialogue::new(proxy)];
    let mut times = [Vec::with_capacity(LINES), Vec::with_capacity(LINES)];
    for _ in 0..LINES {
        both.iter_mut().zip(&mut times).for_each(|(dialogue, times)| times.push(dialogue.ask()));
    }
    both.into_iter().for_each(Dialogue::end);
    for (name, times) in ["directly", "through the proxy"].iter().zip(&mut times) {
        times.sort();
        let micros = |share: f64| times[((LINES - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
        println!(
            "{name:18} median {:6.1} µs   p99 {:6.1} µs   p99.9 {:6.1} µs",
            micros(0.5),
            micros(0.99),
            micros(0.999)
        );
    }
    println!("the proxy reads and writes each line twice here: to the engine and back");
}
