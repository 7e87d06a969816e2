//! `--check`: starts every member and verifies that configuration and calibrations fit.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::board::Board;
use super::config::{Config, EngineConfig, Limit};
use super::member::Member;
use super::session::{Event, events, members};
use super::task::{MemberEvent, Task};
use crate::usi::{Clock, Go, Position};
use evalcurve_core::calibration::Calibration;

/// The grade of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// As it should be.
    Good,
    /// Works, but perhaps not as intended.
    Warning,
    /// Does not work.
    Error,
}

/// A finding about a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The member.
    pub engine: String,
    /// Its grade.
    pub grade: Grade,
    /// What was found, and what to do.
    pub text: String,
}

/// A calibration from fewer samples gets a warning.
const FEW_SAMPLES: u64 = 300;

/// Time for the trial move of a member without its own limit.
const TRIAL: Duration = Duration::from_millis(1_000);

/// The longest wait for the trial move of a member with its own limit.
const LONGEST_TRIAL: Duration = Duration::from_secs(30);

/// Starts every member once, compares it with its configuration and its calibration, and lets it play a move.
pub fn check(config: &Config) -> Vec<Finding> {
    let quiet = Config { restarts: 0, ..config.clone() };
    let (sender, receiver) = events();
    let start = Instant::now();
    let mut trial = Trial { members: members(&quiet, &sender), events: receiver };
    for member in &mut trial.members {
        member.start(start);
        member.prepare(start);
    }
    // every member has its own deadlines for this
    trial.wait_until(start + Duration::from_secs(3600), |m| m.is_starting() || m.is_preparing());

    let position = Position::startpos();
    let (board, _) = Board::new(config.game, &position);
    let now = Instant::now();
    for (member, engine) in trial.members.iter_mut().zip(&config.engines) {
        let clock = Clock {
            btime_ms: Some(0),
            wtime_ms: Some(0),
            byoyomi_ms: Some(TRIAL.as_millis() as u64),
            ..Clock::default()
        };
        // a limit of the configuration replaces this clock
        let task = Task {
            position: position.clone(),
            side: board.side(),
            go: Go { clock, ..Go::default() },
            since: now,
            budget: Some(if engine.limit.is_some() { LONGEST_TRIAL } else { TRIAL }),
            margin: Duration::from_millis(config.time.margin_ms),
        };
        member.search(&task, now);
    }
    trial.wait_until(now + LONGEST_TRIAL, |m| m.is_asked());

    let mut findings = Vec::new();
    for (member, engine) in trial.members.iter_mut().zip(&config.engines) {
        let mut add = |grade, text: String| findings.push(Finding { engine: engine.name.clone(), grade, text });
        match first_fault(member) {
            Some(fault) => add(Grade::Error, fault.clone()),
            None => {
                check_options(member, engine, &mut add);
                check_calibration(member, engine, &mut add);
                check_move(member, &board, &mut add);
            }
        }
        member.quit();
    }
    findings
}

/// The members under test.
struct Trial {
    members: Vec<Member>,
    events: Receiver<Event>,
}

impl Trial {
    /// Processes output until no member is busy.
    fn wait_until(&mut self, until: Instant, busy: fn(&Member) -> bool) {
        while self.members.iter().any(busy) && Instant::now() < until {
            let next = self.members.iter().filter_map(|m| m.deadline()).chain([until]).min().unwrap_or(until);
            let event = self.events.recv_timeout(next.saturating_duration_since(Instant::now()));
            let now = Instant::now();
            if let Ok(Event::Member(place, process, output)) = event {
                self.members[place].on_output(process, output, now);
            }
            for member in &mut self.members {
                member.check_deadline(now);
                member.events.retain(|event| matches!(event, MemberEvent::Fault(_)));
            }
        }
    }
}

/// The first fault that a member has reported.
fn first_fault(member: &Member) -> Option<&String> {
    member.events.iter().find_map(|event| if let MemberEvent::Fault(text) = event { Some(text) } else { None })
}

fn check_options(member: &Member, engine: &EngineConfig, add: &mut impl FnMut(Grade, String)) {
    for (name, value) in &engine.options {
        match member.options.iter().find(|o| o.name.eq_ignore_ascii_case(name)) {
            Some(spec) => {
                if let Err(problem) = spec.check(value) {
                    add(Grade::Error, problem);
                }
            }
            // engines need not declare the options of USI itself
            None if name == "USI_Ponder" || name == "USI_Hash" => {}
            None => {
                let known: Vec<&str> = member.options.iter().map(|o| o.name.as_str()).collect();
                let text = format!("it declares no option '{name}'; its options are {}", known.join(", "));
                add(Grade::Warning, text);
            }
        }
    }
}

fn check_calibration(member: &Member, engine: &EngineConfig, add: &mut impl FnMut(Grade, String)) {
    let Some(calibration) = &engine.calibration else {
        add(Grade::Warning, "it has no calibration: rules that use win rates ignore its votes".to_owned());
        return;
    };
    let calibrated = &calibration.engine.name;
    let own_name = member.own_name.as_deref();
    let own_names = [own_name.unwrap_or(&engine.name).to_lowercase(), engine.name.to_lowercase()];
    let mut names = std::iter::once(calibrated).chain(&calibration.engine.aliases).map(|n| n.to_lowercase());
    if !names.any(|name| own_names.iter().any(|own| own.contains(&name) || name.contains(own.as_str()))) {
        let own = own_name.map_or("the engine reports no name".to_owned(), |own| format!("the engine is '{own}'"));
        add(Grade::Warning, format!("its calibration is for '{calibrated}', but {own}; check the file"));
    }
    if let Some(samples) = calibration.provenance.as_ref().and_then(|p| p.samples).filter(|n| *n < FEW_SAMPLES) {
        let text = format!("its calibration comes from only {samples} samples; use at least {FEW_SAMPLES}");
        add(Grade::Warning, text);
    }
    check_limit(calibration, engine.limit, add);
    if calibration.mates.and_then(|m| m.threshold_cp).is_none() {
        let text = "neither its calibration nor its configuration has a mate threshold; set mate-threshold";
        add(Grade::Warning, text.to_owned());
    }
}

/// Scores change with the search time, so a calibration is valid for the limit of its games.
fn check_limit(calibration: &Calibration, limit: Option<Limit>, add: &mut impl FnMut(Grade, String)) {
    let made = calibration.provenance.as_ref().map(|p| p.time_controls.clone()).unwrap_or_default();
    let now = limit.map_or_else(|| "the GUI's clock".to_owned(), |limit| limit.to_string());
    let as_control = match limit {
        Some(Limit::Byoyomi(ms) | Limit::MoveTime(ms)) if ms.is_multiple_of(1000) => Some(format!("0+{}", ms / 1000)),
        _ => None,
    };
    if made.is_empty() {
        let text = format!(
            "its calibration does not record the limit of its games; make sure that it was similar to {now}, since scores \
             change with time"
        );
        add(Grade::Warning, text);
    } else if limit.is_none() {
        add(Grade::Good, format!("its calibration was made at {}; play at similar times", made.join(", ")));
    } else if !made.iter().any(|m| Some(m) == as_control.as_ref()) {
        let text = format!(
            "its calibration was made at {}, but its limit here is {now}; calibrate it at the limit that it plays with",
            made.join(", ")
        );
        add(Grade::Warning, text);
    }
}

fn check_move(member: &Member, board: &Board, add: &mut impl FnMut(Grade, String)) {
    let result = &member.result;
    match &result.best {
        None => add(Grade::Error, "it did not answer a go command; give it another limit".to_owned()),
        Some(best) if !board.is_legal(best) => add(Grade::Error, format!("it played '{best}', which is illegal")),
        Some(best) => {
            let time = result.time.unwrap_or_default();
            let depth = result.depth.map_or_else(String::new, |d| format!(", depth {d}"));
            add(Grade::Good, format!("it plays {best} after {} ms{depth}", time.as_millis()));
            if result.score.is_none() {
                add(Grade::Warning, "it gave no score; is this a book move?".to_owned());
            }
            if time > TRIAL.mul_f64(1.2) {
                let text = format!("it took {} ms; with a faster clock it will be late", time.as_millis());
                add(Grade::Warning, text);
            }
        }
    }
}
