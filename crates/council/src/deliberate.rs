//! One thought of the council: from the members' opinions to what the GUI is told.

use std::io::Write;
use std::time::Instant;

use super::board::Board;
use super::decide::{self, Voice};
use super::member::{Opinion, Task};
use super::say;
use super::second::{self, Second};
use super::session::{SHOW_EVERY, Session};
use crate::usi::Protocol;
use evalcurve_core::rule::log::Line as LogLine;

/// A thought of the council.
pub(super) struct Thought {
    pub(super) task: Task,
    pub(super) board: Board,
    /// When the decision must be out; none for `infinite` and `ponder` before `stop` and `ponderhit`.
    pub(super) deadline: Option<Instant>,
    /// The GUI said `stop`.
    pub(super) stopped: bool,
    /// All members were told to stop.
    pub(super) all_told: bool,
    pub(super) shown: Instant,
    /// A line came that was not shown.
    pub(super) unseen: bool,
    /// An answer came since the last look at whether more can change anything.
    pub(super) answered: bool,
    pub(super) faults: Vec<(usize, String)>,
    pub(super) checkmate: Option<String>,
    /// When the second look must have ended; the deadline is that of the first.
    pub(super) last_deadline: Option<Instant>,
    pub(super) second: Option<Second>,
}

/// How members count that have not answered.
#[derive(Debug, Clone, Copy, PartialEq)]
enum View {
    /// By the configuration, as in the decision.
    Final,
    /// With the first move of their last line.
    Lines,
    /// Not at all.
    Answers,
}

impl<W: Write> Session<W> {
    /// Decides, stops members or tells how things stand, where that is due.
    pub(super) fn deliberate(&mut self, now: Instant) {
        let Some(thought) = &self.thought else { return };
        let asked = self.members.iter().any(|m| m.is_asked());
        let open = thought.task.go.is_open() && !thought.stopped;
        let late = thought.deadline.is_some_and(|d| now >= d);
        if late || (!asked && !open) {
            if !self.look_again(now) {
                self.decide(now);
            }
            return;
        }
        let stop_at = self.stop_at(thought);
        let due = !thought.all_told && stop_at.is_some_and(|at| now >= at);
        let first = thought.second.is_none();
        if due || (!thought.all_told && !open && first && self.is_settled(now)) {
            self.stop_all(now);
        }
        let Some(thought) = &self.thought else { return };
        if thought.unseen && thought.second.is_none() && now >= thought.shown + SHOW_EVERY {
            self.show(now);
        }
    }

    /// Begins a second look or its next search, where the rule wants one and there is time; false where it is time to
    /// decide.
    fn look_again(&mut self, now: Instant) -> bool {
        let Some(thought) = &self.thought else { return false };
        if thought.stopped || thought.task.go.mate.is_some() {
            return false;
        }
        let second = match &thought.second {
            None => {
                let Some(by) = second::searcher(&self.config).filter(|&by| !self.members[by].is_gone()) else {
                    return false;
                };
                let (verdict, _) = self.verdict(thought, now, View::Final);
                if verdict.way_out.is_some() {
                    return false;
                }
                let opinions = self.members.iter().map(|m| m.opinion().clone()).collect();
                Second::new(by, opinions, verdict.needs_search)
            }
            Some(second) => {
                let mut second = second.clone();
                let more = second.take(self.members[second.by].opinion());
                if !more {
                    if let Some(thought) = &mut self.thought {
                        thought.second = Some(second);
                    }
                    return false;
                }
                Some(second)
            }
        };
        let Some(second) = second else { return false };
        self.serial += 1;
        let task = second.task(&thought.task, self.serial, now, thought.last_deadline);
        let by = second.by;
        if let Some(thought) = &mut self.thought {
            thought.second = Some(second);
            thought.all_told = false;
            thought.deadline = task.as_ref().and_then(|t| t.budget).map(|b| now + b);
        }
        let Some(task) = task else { return false };
        // the others have answered, or are too late now
        self.members.iter_mut().for_each(|m| m.release(now));
        self.members[by].think(&task, now);
        true
    }

    fn is_settled(&mut self, now: Instant) -> bool {
        let Some(thought) = &mut self.thought else { return false };
        if !self.config.early_stop || !std::mem::take(&mut thought.answered) {
            return false;
        }
        let Some(thought) = &self.thought else { return false };
        let outstanding: Vec<usize> = (0..self.members.len()).filter(|&i| self.members[i].is_asked()).collect();
        if outstanding.is_empty() || outstanding.len() == self.members.len() {
            return false;
        }
        let (verdict, _) = self.verdict(thought, now, View::Answers);
        decide::is_settled(&self.config, &self.header, &verdict, &outstanding)
    }

    /// The decision as it would be now.
    fn verdict(&self, thought: &Thought, now: Instant, view: View) -> (decide::Verdict, LogLine) {
        let fault = |place: usize| thought.faults.iter().rev().find(|(p, _)| *p == place).map(|(_, f)| f.as_str());
        let mut opinions: Vec<_> = match &thought.second {
            Some(second) => second.opinions.clone(),
            None => self.members.iter().map(|m| m.opinion().clone()).collect(),
        };
        for opinion in opinions.iter_mut().filter(|o| o.best.is_none()) {
            match view {
                View::Final => {}
                View::Lines => opinion.best = opinion.pv.first().cloned(),
                View::Answers => *opinion = Opinion::default(),
            }
        }
        let voices: Vec<Voice<'_>> = opinions
            .iter()
            .zip(&self.config.engines)
            .enumerate()
            .map(|(place, (opinion, engine))| Voice {
                name: &engine.name,
                opinion,
                fault: fault(place).or_else(|| (opinion.best.is_none()).then_some("no answer in time")),
            })
            .collect();
        let line = LogLine {
            game_id: self.game_id(),
            ply: thought.board.ply(),
            position: thought
                .task
                .position
                .line(self.config.game.protocol())
                .trim_start_matches("position ")
                .to_owned(),
            side: thought.board.side(),
            time_ms: now.saturating_duration_since(thought.task.since).as_millis() as u64,
            votes: Vec::new(),
            searched: thought.second.as_ref().map(|s| s.searched.clone()).unwrap_or_default(),
            decision: None,
            played: String::new(),
            faults: Vec::new(),
        };
        decide::verdict(&self.config, &self.header, &thought.board, &voices, line)
    }

    /// Tells the GUI how things stand.
    fn show(&mut self, now: Instant) {
        let Some(mut thought) = self.thought.take() else { return };
        thought.unseen = false;
        thought.shown = now;
        let (verdict, _) = self.verdict(&thought, now, View::Lines);
        let time = now.saturating_duration_since(thought.task.since);
        for line in say::info_lines(&verdict, time, self.style()).iter().rev() {
            self.say(line);
        }
        self.thought = Some(thought);
    }

    /// Decides with what there is, says so, and lets the members go.
    pub(super) fn decide(&mut self, now: Instant) {
        let Some(thought) = self.thought.take() else { return };
        let (mut verdict, mut line) = self.verdict(&thought, now, View::Final);
        let mut after = thought.board.clone();
        let follows = after.play(&verdict.played);
        verdict.ponder = verdict.ponder.filter(|p| follows && after.is_legal(p));
        let mates_wanted = thought.task.go.mate.is_some() && self.protocol == Protocol::Usi;
        let text = match (&thought.checkmate, mates_wanted) {
            (Some(answer), _) => format!("checkmate {answer}\n"),
            (None, true) => "checkmate timeout\n".to_owned(),
            _ => {
                let time = now.saturating_duration_since(thought.task.since);
                say::decision(&verdict, time, self.style())
            }
        };
        self.write(&text);
        self.members.iter_mut().for_each(|m| m.release(now));
        if mates_wanted {
            return;
        }
        line.faults = thought
            .faults
            .iter()
            .filter_map(|(place, text)| Some(format!("{}: {text}", self.config.engines.get(*place)?.name)))
            .chain(verdict.way_out.clone())
            .collect();
        // what is said after the end of a game nobody plays, and no decision of it is meant
        if self.course.over {
            return;
        }
        // nor the answer to `stop` about a move that the opponent did not make, or about a position that is looked at
        if !thought.task.go.ponder && !thought.task.go.infinite {
            self.course.played(line.side, line.ply);
        }
        self.write_log(|log, header| log.write(header, &line));
    }
}
