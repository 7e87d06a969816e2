//! The vote log: JSON lines from which every decision of a council can be taken again. `docs/council-log.md` has the schema.
//!
//! A line with `format` is a header, one with `end` tells how a game ended, any other is a decision. A header holds for the lines after it until the next header: several sessions may go into
//! one file. All scores are in the view of the side to move.

mod ballots;
mod read;
mod words;

use serde::{Deserialize, Serialize};

pub use self::ballots::{Ballots, MoveNames};
pub use self::read::{Log, Problem, Session};
pub use self::words::LoggedScore;
use self::words::{bound, by_name, read_calibration, write_calibration};
use super::decision::{Decision, Reason};
use super::kind::{Rule, TieRule};
use super::options::{Options, check};
use super::vote::{Bound, Move, Role, Voter};
use crate::calibration::{Calibration, Tool};
use crate::types::{Color, Outcome};

/// The value of `format` in every header.
pub const FORMAT: &str = "evalcurve-votes";
/// The version of the log that is written and read.
pub const VERSION: u32 = 1;

/// The format comes first in a header. A name further on in a line may look like it.
const HEADER_START: usize = 24;

/// Whether this line is a header.
pub fn is_header(line: &[u8]) -> bool {
    memchr::memmem::find(&line[..line.len().min(HEADER_START + FORMAT.len())], FORMAT.as_bytes()).is_some()
}

/// The voters of the lines that follow, and how they decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`]; the first field of its line.
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// What wrote the log.
    pub tool: LoggedTool,
    /// `shogi`, `chess`, or whatever the moves belong to.
    pub game: String,
    /// The rule of the decisions.
    #[serde(with = "by_name")]
    pub rule: Rule,
    /// How their ties were broken.
    #[serde(with = "by_name")]
    pub tie: TieRule,
    /// Whether mates stand above the rule; `null`: as the rule has it.
    pub mates: Option<bool>,
    /// d of the optimal rule and the pools, logits.
    pub gap: f64,
    /// s of voters that have none of their own, logits.
    pub noise: f64,
    /// Standard errors that the corrected rule takes off.
    pub caution: f64,
    /// Seed of drawn ties.
    pub seed: u64,
    /// The voters in the order of the council.
    pub voters: Vec<LoggedVoter>,
}

/// The program that wrote a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedTool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A [`Voter`] with all that a replay needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedVoter {
    /// Its name, different from all others.
    pub name: String,
    /// Its role.
    #[serde(with = "by_name")]
    pub role: Role,
    /// Its weight; `null`: as the rule has it.
    pub weight: Option<f64>,
    /// s, logits.
    pub noise: Option<f64>,
    /// Rating, Elo points.
    pub strength: Option<f64>,
    /// Its calibration, a calibration file without the evidence ([`Calibration::without_evidence`]).
    #[serde(serialize_with = "write_calibration", deserialize_with = "read_calibration")]
    pub calibration: Option<Calibration>,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Which game; any text, the same for all its lines.
    pub game_id: String,
    /// The number of the move to be made, from 1.
    pub ply: u32,
    /// The position as the protocol says it (`sfen …`, `startpos moves …`).
    pub position: String,
    /// The side to move, `black` or `white`.
    pub side: Color,
    /// From the order to think to the decision, milliseconds.
    pub time_ms: u64,
    /// What the voters said, one entry a voter at most; whoever has none abstained.
    pub votes: Vec<LoggedVote>,
    /// Moves searched on request, for a tie or by the chooser.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<LoggedMove>,
    /// What the rule made of it; `null` where nobody voted.
    pub decision: Option<LoggedDecision>,
    /// What the council played: the decision, or a way out where there was none.
    pub played: String,
    /// What went wrong, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// What one voter said. An abstention has no `move`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedVote {
    /// The voter's name.
    pub voter: String,
    /// Its move as the protocol says it; absent for an abstention.
    #[serde(rename = "move", default, skip_serializing_if = "Option::is_none")]
    pub best: Option<String>,
    /// The score of that move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<LoggedScore>,
    /// `lower` or `upper` where the score is a bound.
    #[serde(default, with = "bound", skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// A win rate that the voter gave itself, 0..=1: it stands in place of that from the calibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub win_rate: Option<f64>,
    /// Its best moves, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<LoggedMove>,
    /// How long it thought, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Why it abstained, or what was odd, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// A move with its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedMove {
    /// The move as the protocol says it.
    #[serde(rename = "move")]
    pub best: String,
    /// Its score.
    pub score: LoggedScore,
}

/// What the rule decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedDecision {
    /// The move.
    #[serde(rename = "move")]
    pub best: String,
    /// Why.
    pub reason: Reason,
    /// The voter whose vote carried it.
    pub carried_by: Option<String>,
    /// The rule that broke a tie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie_broken_by: Option<String>,
}

/// The end of a game, behind its decisions. A game without one has no known result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedEnd {
    /// The game, as in its decisions.
    pub game_id: String,
    /// The result for the council: `win`, `loss` or `draw`.
    #[serde(rename = "end")]
    pub outcome: Outcome,
    /// The council's side, `black` or `white`.
    pub side: Color,
    /// The ply of the council's last decision that was played: a later one answers a move that the opponent did not make.
    pub ply: u32,
}

impl Header {
    /// The header of a council. Floats of calibrations are kept with the 9 digits of their files, and [`Header::voters`]
    /// gives back what a replay sees: decide with those, and log and replay cannot differ.
    pub fn new(game: &str, rule: Rule, voters: &[Voter<'_>], options: &Options<'_>) -> Self {
        let tool = Tool::current();
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: LoggedTool { name: tool.name, version: tool.version },
            game: game.to_owned(),
            rule,
            tie: options.tie,
            mates: options.mates,
            gap: options.gap,
            noise: options.noise,
            caution: options.caution,
            seed: options.seed,
            voters: voters.iter().map(LoggedVoter::new).collect(),
        }
    }

    /// The voters, for [`decide`](crate::rule::decide()).
    pub fn voters(&self) -> Vec<Voter<'_>> {
        self.voters.iter().map(LoggedVoter::voter).collect()
    }

    /// The options of every decision, but for [`Options::draw_key`] and [`Options::searched`], which a line has.
    pub fn options(&self) -> Options<'static> {
        Options {
            tie: self.tie,
            mates: self.mates,
            gap: self.gap,
            noise: self.noise,
            best: None,
            caution: self.caution,
            seed: self.seed,
            draw_key: 0,
            searched: &[],
        }
    }

    /// What is wrong with a header that parsed; `None` for a good one.
    fn problem(&self) -> Option<String> {
        if self.voters.is_empty() {
            return Some("the header has no voters; a council has one at least".to_owned());
        }
        let twice = self.voters.iter().enumerate().find(|(i, v)| self.voters[..*i].iter().any(|w| w.name == v.name));
        if let Some((_, voter)) = twice {
            return Some(format!("two voters are called {:?}; give each a name of its own", voter.name));
        }
        check(self.rule, &self.voters(), &self.options()).err().map(|e| e.to_string())
    }
}

impl LoggedVoter {
    fn new(voter: &Voter<'_>) -> Self {
        Self {
            name: voter.name.to_owned(),
            role: voter.role,
            weight: voter.weight,
            noise: voter.noise,
            strength: voter.strength,
            calibration: voter.calibration.map(Calibration::without_evidence),
        }
    }

    fn voter(&self) -> Voter<'_> {
        Voter {
            name: &self.name,
            role: self.role,
            weight: self.weight,
            calibration: self.calibration.as_ref(),
            noise: self.noise,
            strength: self.strength,
        }
    }
}

impl LoggedDecision {
    /// A decision as the log holds it.
    pub fn new(decision: &Decision, voters: &[Voter<'_>], name: impl Fn(Move) -> String) -> Self {
        Self {
            best: name(decision.chosen),
            reason: decision.reason,
            carried_by: decision.carried_by.and_then(|i| voters.get(i)).map(|v| v.name.to_owned()),
            tie_broken_by: decision.tie.as_ref().map(|t| t.by.as_str().to_owned()),
        }
    }
}

impl Line {
    /// What is wrong with a line that parsed; `None` for a good one.
    fn problem(&self, header: &Header) -> Option<String> {
        for (i, vote) in self.votes.iter().enumerate() {
            let name = &vote.voter;
            if !header.voters.iter().any(|v| v.name == *name) {
                let known: Vec<_> = header.voters.iter().map(|v| v.name.as_str()).collect();
                return Some(format!("a vote of {name:?}, whom the header does not name; it has {}", known.join(", ")));
            }
            if self.votes[..i].iter().any(|v| v.voter == *name) {
                return Some(format!("{name:?} votes twice; keep one of the votes"));
            }
            if let Some(p) = vote.win_rate.filter(|p| !(0.0..=1.0).contains(p)) {
                return Some(format!("the win rate {p} of {name:?} is outside 0 to 1; remove it or correct it"));
            }
            if vote.best.is_none() && (vote.score.is_some() || vote.win_rate.is_some() || !vote.list.is_empty()) {
                return Some(format!("{name:?} has a score and no move; add the move or remove the score"));
            }
        }
        None
    }
}
