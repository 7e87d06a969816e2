//! Starts a USI engine, sends it a position, and prints its move.
//!
//! ```text
//! cargo run -p evalcurve-engine --example one_engine -- ./my-usi-engine
//! ```

use std::error::Error;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use evalcurve_calibration::types::Color;
use evalcurve_engine::usi::{EngineOutput, FromEngine, Go, Launch, Position, Process, Protocol, ReadLine};

/// Reads messages until `wanted` accepts one.
fn wait_for<T>(output: &Receiver<EngineOutput>, wanted: impl Fn(FromEngine) -> Option<T>) -> Result<T, Box<dyn Error>> {
    loop {
        match output.recv_timeout(Duration::from_secs(10))? {
            EngineOutput::Line(ReadLine::Text(text), _) => {
                if let Some(found) = wanted(FromEngine::parse(&text, Protocol::Usi)) {
                    return Ok(found);
                }
            }
            EngineOutput::Line(ReadLine::TooLong(_), _) => {}
            EngineOutput::Closed { stderr } => return Err(format!("the engine ended: {stderr}").into()),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().ok_or("usage: one_engine ENGINE [ARGUMENT]...")?;
    let launch = Launch { command, args: arguments.collect(), directory: None, environment: Vec::new() };
    let (sender, output) = channel();
    let engine = Process::start(&launch, move |line| sender.send(line).is_ok())?;

    engine.send(Protocol::Usi.greeting());
    wait_for(&output, |message| (message == FromEngine::Greeted).then_some(()))?;
    engine.send("isready");
    wait_for(&output, |message| (message == FromEngine::Ready).then_some(()))?;
    engine.send(Position::parse("startpos moves 7g7f 3c3d").line(Protocol::Usi));
    engine.send(Go { movetime_ms: Some(500), ..Go::default() }.line(Protocol::Usi, Color::Black));
    let best = wait_for(&output, |message| match message {
        FromEngine::BestMove(best) => Some(best.best),
        _ => None,
    })?;
    println!("{best}");
    engine.send("quit");
    Ok(())
}
