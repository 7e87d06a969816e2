//! What a council is made of: the checked configuration.

use std::path::PathBuf;

use super::board::Game;
use crate::usi::{Go, Launch, Protocol};
use evalcurve_core::calibration::Calibration;
use evalcurve_core::rule::{Options, Role, Rule, TieRule, Voter};

/// A council.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file that it comes from.
    pub file: PathBuf,
    /// The name that a GUI shows.
    pub name: String,
    /// What is played.
    pub game: Game,
    /// How votes are decided.
    pub rule: Rule,
    /// How ties are broken.
    pub tie: TieRule,
    /// Whether announced mates stand above the rule; `None`: as the rule has it.
    pub mates: Option<bool>,
    /// d of the optimal rule and of the pools, logits.
    pub gap: f64,
    /// s of members that have none of their own, logits.
    pub noise: f64,
    /// Standard errors that the corrected rule takes off.
    pub caution: f64,
    /// Seed of drawn ties.
    pub seed: u64,
    /// Centipawns that a logit of 1 is shown as.
    pub score_scale_cp: f64,
    /// Where votes are logged.
    pub log: Option<PathBuf>,
    /// Stop everybody as soon as the rule's outcome cannot change.
    pub early_stop: bool,
    /// When the council resigns.
    pub resign: Resign,
    /// What becomes of a member whose move does not come in time.
    pub late: Late,
    /// Restarts of one member in a game.
    pub restarts: u32,
    /// Time.
    pub time: TimePolicy,
    /// The members, one at least.
    pub engines: Vec<EngineConfig>,
}

/// When the council resigns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resign {
    /// When all members that voted do.
    All,
    /// When more than half of them do.
    Majority,
    /// Never while there is a legal move.
    Never,
}

/// A member whose move does not come in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Late {
    /// Abstains.
    Abstain,
    /// Votes for the first move of its last line.
    LastLine,
}

/// How the council deals with time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimePolicy {
    /// What the council keeps of every move for itself and the way to the GUI.
    pub margin_ms: u64,
    /// The largest share of the remaining main time that one move may take, in (0, 1].
    pub share: f64,
    /// The longest thought where the GUI gives no time (`go nodes`, `go depth`).
    pub longest_ms: u64,
    /// How long `usiok` waits for the options of members.
    pub options_ms: u64,
}

impl Default for TimePolicy {
    fn default() -> Self {
        Self { margin_ms: 50, share: 0.25, longest_ms: 600_000, options_ms: 1_500 }
    }
}

/// What a member is told in place of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// `go nodes N`
    Nodes(u64),
    /// `go depth N`
    Depth(u64),
    /// `go movetime N`, milliseconds.
    MoveTime(u64),
    /// `go btime 0 wtime 0 byoyomi N`, milliseconds.
    Byoyomi(u64),
}

impl Limit {
    /// The order that it is.
    pub fn go(self) -> Go {
        let mut go = Go::default();
        match self {
            Self::Nodes(n) => go.nodes = Some(n),
            Self::Depth(n) => go.depth = Some(n),
            Self::MoveTime(ms) => go.movetime_ms = Some(ms),
            Self::Byoyomi(ms) => {
                (go.clock.btime_ms, go.clock.wtime_ms, go.clock.byoyomi_ms) = (Some(0), Some(0), Some(ms));
            }
        }
        go
    }

    /// The time that it takes by itself, milliseconds.
    pub fn time_ms(self) -> Option<u64> {
        match self {
            Self::MoveTime(ms) | Self::Byoyomi(ms) => Some(ms),
            Self::Nodes(_) | Self::Depth(_) => None,
        }
    }
}

/// A member.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Its name, different from all others.
    pub name: String,
    /// How it is started.
    pub launch: Launch,
    /// What it speaks.
    pub protocol: Protocol,
    /// Options that it gets at every start, in the order of their names.
    pub options: Vec<(String, String)>,
    /// What turns its scores into win rates; `None`: `"none"`.
    pub calibration: Option<Calibration>,
    /// Scores of this size and beyond are mates, centipawns; stands above that of the calibration.
    pub mate_threshold_cp: Option<f64>,
    /// Its weight.
    pub weight: Option<f64>,
    /// Its role.
    pub role: Role,
    /// s, logits.
    pub noise: Option<f64>,
    /// Rating, Elo points.
    pub strength: Option<f64>,
    /// What it is told in place of the clock.
    pub limit: Option<Limit>,
    /// How long its move may take after `stop`, before that is a fault.
    pub stop_patience_ms: u64,
    /// How long it may take from its start to `usiok`.
    pub start_ms: u64,
    /// How long it may take to `readyok`.
    pub ready_ms: u64,
}

impl Config {
    /// The members as voters.
    pub fn voters(&self) -> Vec<Voter<'_>> {
        self.engines
            .iter()
            .map(|engine| Voter {
                name: &engine.name,
                role: engine.role,
                weight: engine.weight,
                calibration: engine.calibration.as_ref(),
                noise: engine.noise,
                strength: engine.strength,
            })
            .collect()
    }

    /// The options of every decision.
    pub fn rule_options(&self) -> Options<'static> {
        Options {
            tie: self.tie,
            mates: self.mates,
            gap: self.gap,
            noise: self.noise,
            caution: self.caution,
            seed: self.seed,
            ..Options::default()
        }
    }
}
