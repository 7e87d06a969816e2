//! Speed of a council: the time from the last member's `bestmove` to the council's, and the processor time while idle.
//!
//! ```text
//! cargo bench --bench council
//! ```
//!
//! The three members are scripted engines that record when they answer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const PROGRAM: &str = env!("CARGO_BIN_EXE_evalcurve");
const MOVES: usize = 2_000;
const MEMBERS: usize = 3;
const IDLE: Duration = Duration::from_secs(10);

fn nanos() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos()
}

/// Processor time of a process in clock ticks (of 10 ms nearly everywhere); `None` if the system does not report it.
fn ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

fn main() {
    let folder = std::env::temp_dir().join(format!("evalcurve-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let stamps = |i: usize| folder.join(format!("stamps-{i}"));
    let mut config = "rule = 'winrate-optimistic'\nlog = 'votes.jsonl'\n".to_owned();
    let calibration = concat!(env!("CARGO_MANIFEST_DIR"), "/data/published/gikou.json");
    for i in 0..MEMBERS {
        config += &format!(
            "[[engine]]\nname = 'M{i}'\ncommand = '{}'\ncalibration = '{calibration}'\n\
             args = ['scripted-engine', '--seed', '{i}', '--think-ms', '2', '--stamps', '{}']\n",
            evalcurve_testkit::program(),
            stamps(i).display()
        );
    }
    fs::write(folder.join("council.toml"), config).expect("a configuration");

    let mut child = Command::new(PROGRAM)
        .args(["council", "council.toml"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a council");
    let mut input = child.stdin.take().expect("its input");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut until = |word: &str| loop {
        let line = lines.next().expect("a line").expect("text");
        if line.starts_with(word) {
            return nanos();
        }
    };
    writeln!(input, "usi\nisready\nusinewgame").expect("an order");
    until("readyok");
    let mut answers = Vec::with_capacity(MOVES);
    for _ in 0..MOVES {
        writeln!(input, "position startpos moves 7g7f 3c3d\ngo btime 0 wtime 0 byoyomi 5000").expect("an order");
        answers.push(until("bestmove"));
    }
    let before = ticks(child.id());
    sleep(IDLE);
    let idle = ticks(child.id()).zip(before).map(|(a, b)| a - b);
    writeln!(input, "quit").expect("an order");
    child.wait().expect("an end");

    let stamps: Vec<Vec<u128>> = (0..MEMBERS)
        .map(|i| fs::read_to_string(stamps(i)).expect("stamps").lines().map(|l| l.parse().expect("a number")).collect())
        .collect();
    let mut micros: Vec<f64> = answers
        .iter()
        .enumerate()
        .map(|(k, &answer)| {
            let last = stamps.iter().map(|s| s[k]).max().expect("members");
            answer.saturating_sub(last) as f64 / 1e3
        })
        .collect();
    micros.sort_by(f64::total_cmp);
    let quantile = |q: f64| micros[((micros.len() - 1) as f64 * q) as usize];
    println!("from the last member's bestmove to the council's, {MOVES} moves, {MEMBERS} members, log on:");
    println!(
        "  p50 {:.0} µs  p90 {:.0} µs  p99 {:.0} µs  max {:.0} µs",
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        quantile(1.0)
    );
    match idle {
        Some(ticks) => println!("idle for {} s: {ticks} clock ticks of processor time", IDLE.as_secs()),
        None => println!("idle: this system does not report it"),
    }
    let _ = fs::remove_dir_all(&folder);
}
