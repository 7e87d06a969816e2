//! `--check`: is everything there, and does it fit together?

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::board::Board;
use super::config::{Config, EngineConfig, Limit};
use super::member::{Member, News, Task};
use super::session::{Event, events, members};
use crate::usi::{Go, Position};
use evalcurve_core::calibration::Calibration;

/// How good a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// As it should be.
    Good,
    /// It works, but perhaps not as meant.
    Warning,
    /// It does not work.
    Error,
}

/// Something found out about a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The member.
    pub engine: String,
    /// How good it is.
    pub grade: Grade,
    /// What it is, and what to do.
    pub text: String,
}

/// Samples below which a calibration is told to be thin.
const FEW_SAMPLES: u64 = 300;

/// Time of the trial move of a member without a limit of its own.
const TRIAL: Duration = Duration::from_millis(1_000);

/// The longest wait for the trial move of a member with one.
const LONGEST_TRIAL: Duration = Duration::from_secs(30);

/// Starts every member once, compares it with its configuration and calibration, and lets it play a move.
pub fn check(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut quiet = config.clone();
    quiet.restarts = 0;
    let (sender, receiver) = events();
    let mut all = members(&quiet, &sender);
    let begun = Instant::now();
    let mut failed: Vec<Option<String>> = all.iter_mut().map(|m| fault(&m.start(begun))).collect();
    for member in &mut all {
        member.prepare(begun);
    }
    wait(&mut all, &receiver, &mut failed, |m| m.is_starting() || m.is_preparing());

    let position = Position::even();
    let (board, _) = Board::new(config.game, &position);
    let now = Instant::now();
    for (member, engine) in all.iter_mut().zip(&config.engines) {
        let go = match engine.limit {
            Some(_) => Go { nodes: Some(1), ..Go::default() },
            None => {
                let ms = TRIAL.as_millis() as u64;
                Go::parse(&format!("btime 0 wtime 0 byoyomi {ms}"))
            }
        };
        let budget = if engine.limit.is_some() { LONGEST_TRIAL } else { TRIAL };
        let task = Task {
            serial: 1,
            position: position.clone(),
            side: board.side(),
            go,
            since: now,
            budget: Some(budget),
            margin: Duration::from_millis(config.time.margin_ms),
        };
        member.think(&task, now);
    }
    wait_until(&mut all, &receiver, &mut failed, now + LONGEST_TRIAL, |m| m.is_asked());

    for ((member, engine), failed) in all.iter().zip(&config.engines).zip(&failed) {
        let mut find = |grade, text: String| findings.push(Finding { engine: engine.name.clone(), grade, text });
        if let Some(failed) = failed {
            find(Grade::Error, failed.clone());
            continue;
        }
        options(member.as_ref(), engine, &mut find);
        calibration(member.as_ref(), engine, &mut find);
        trial(member.as_ref(), &board, &mut find);
    }
    all.iter_mut().for_each(|m| m.quit());
    findings
}

fn fault(news: &[News]) -> Option<String> {
    news.iter().find_map(|n| match n {
        News::Fault(text) => Some(text.clone()),
        _ => None,
    })
}

type Members = [Box<dyn Member>];

fn wait(all: &mut Members, events: &Receiver<Event>, failed: &mut [Option<String>], on: fn(&dyn Member) -> bool) {
    // every member has deadlines of its own for this
    wait_until(all, events, failed, Instant::now() + Duration::from_secs(3600), on);
}

fn wait_until(
    all: &mut Members,
    events: &Receiver<Event>,
    failed: &mut [Option<String>],
    until: Instant,
    on: fn(&dyn Member) -> bool,
) {
    while all.iter().any(|m| on(m.as_ref())) && Instant::now() < until {
        let next = all.iter().filter_map(|m| m.deadline()).chain([until]).min().unwrap_or(until);
        let event = events.recv_timeout(next.saturating_duration_since(Instant::now()));
        let now = Instant::now();
        if let Ok(Event::Member(place, life, heard)) = event
            && let Some(member) = all.get_mut(place)
        {
            let news = member.hear(life, heard, now);
            if let Some(slot) = failed.get_mut(place) {
                *slot = slot.take().or_else(|| fault(&news));
            }
        }
        for (member, slot) in all.iter_mut().zip(failed.iter_mut()) {
            let news = member.tick(now);
            *slot = slot.take().or_else(|| fault(&news));
        }
    }
}

fn options(member: &dyn Member, engine: &EngineConfig, find: &mut impl FnMut(Grade, String)) {
    for (name, value) in &engine.options {
        match member.options().iter().find(|o| o.name.eq_ignore_ascii_case(name)) {
            Some(spec) => {
                if let Err(problem) = spec.check(value) {
                    find(Grade::Error, problem);
                }
            }
            // these belong to USI itself and need no declaration
            None if name == "USI_Ponder" || name == "USI_Hash" => {}
            None => {
                let known: Vec<&str> = member.options().iter().map(|o| o.name.as_str()).collect();
                let text = format!("it declares no option '{name}'; it has {}", known.join(", "));
                find(Grade::Warning, text);
            }
        }
    }
}

fn calibration(member: &dyn Member, engine: &EngineConfig, find: &mut impl FnMut(Grade, String)) {
    let Some(calibration) = &engine.calibration else {
        find(Grade::Warning, "it has no calibration: rules over win rates pass its votes over".to_owned());
        return;
    };
    let of = &calibration.engine.name;
    let names = || std::iter::once(of).chain(&calibration.engine.aliases).map(|n| n.to_lowercase());
    let says = member.own_name().unwrap_or(&engine.name).to_lowercase();
    let own = [says, engine.name.to_lowercase()];
    if !names().any(|n| own.iter().any(|o| o.contains(&n) || n.contains(o.as_str()))) {
        let own = member.own_name().unwrap_or("nothing");
        find(Grade::Warning, format!("its calibration is that of '{of}', and it calls itself '{own}'; check the file"));
    }
    if let Some(samples) = calibration.provenance.as_ref().and_then(|p| p.samples).filter(|n| *n < FEW_SAMPLES) {
        find(Grade::Warning, format!("its calibration rests on {samples} samples; {FEW_SAMPLES} and more are better"));
    }
    limits(calibration, engine.limit, find);
    let file = calibration.mates.and_then(|m| m.threshold_cp);
    if file.is_none() {
        find(
            Grade::Warning,
            "neither calibration nor configuration has a mate threshold; set mate-threshold".to_owned(),
        );
    }
}

/// Scores grow with depth: a calibration holds for the time that its games gave.
fn limits(calibration: &Calibration, limit: Option<Limit>, find: &mut impl FnMut(Grade, String)) {
    let made = calibration.provenance.as_ref().map(|p| p.time_controls.clone()).unwrap_or_default();
    let now = limit.map_or_else(|| "the GUI's clock".to_owned(), Limit::words);
    let as_control = match limit {
        Some(Limit::Byoyomi(ms) | Limit::MoveTime(ms)) if ms.is_multiple_of(1000) => Some(format!("0+{}", ms / 1000)),
        _ => None,
    };
    if made.is_empty() {
        let text = format!(
            "its calibration does not say what limit its games had; make sure that it was like {now}, since scores change \
             with time"
        );
        find(Grade::Warning, text);
    } else if limit.is_some() && !made.iter().any(|m| Some(m) == as_control.as_ref()) {
        let text = format!(
            "its calibration was made at {}, and here it has {now}; calibrate it at the limit that it plays with",
            made.join(", ")
        );
        find(Grade::Warning, text);
    } else if limit.is_none() {
        find(Grade::Good, format!("its calibration was made at {}; play at similar times", made.join(", ")));
    }
}

fn trial(member: &dyn Member, board: &Board, find: &mut impl FnMut(Grade, String)) {
    let opinion = member.opinion();
    match &opinion.best {
        None => find(Grade::Error, "it did not answer a go; give it another limit".to_owned()),
        Some(best) if !board.is_legal(best) => find(Grade::Error, format!("it played '{best}', which is illegal")),
        Some(best) => {
            let ms = opinion.time.map_or(0, |t| t.as_millis());
            let depth = opinion.depth.map_or_else(String::new, |d| format!(", depth {d}"));
            find(Grade::Good, format!("it plays {best} after {ms} ms{depth}"));
            if opinion.score.is_none() {
                find(Grade::Warning, "it gave no score; is this a book move?".to_owned());
            }
            if let Some(ms) = opinion.time.filter(|t| *t > TRIAL.mul_f64(1.2)).map(|t| t.as_millis()) {
                find(Grade::Warning, format!("it took {ms} ms; under a faster clock it will be late"));
            }
        }
    }
}
