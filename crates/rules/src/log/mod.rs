//! The vote log: JSON lines from which every decision of a council can be repeated. `docs/council-log.md` has the
//! schema.
//!
//! A line with `format` is a header, a line with `end` is the end of a game, and any other line is a decision. A header
//! applies to the lines after it until the next header, so one file may hold several sessions. All scores are in the
//! view of the side to move.

mod ballots;
mod read;
mod words;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

pub(crate) use self::ballots::vote_finder;
pub use self::ballots::{Ballots, MoveNames};
pub use self::read::{Log, Problem, Seen, Session};
pub use self::words::{LoggedScore, plies_before};
use self::words::{read_calibration, write_calibration};
use super::decide::check;
use super::decision::{Decision, Reason};
use super::options::{Options, Stakes, TieRule};
use super::rules::Rule;
use super::vote::{Bound, Move, PhaseWeight, Role, Voter};
use evalcurve_calibration::file::Tool;
use evalcurve_calibration::types::{Color, Declared, Outcome};
use evalcurve_calibration::{Calibration, LOGITS_PER_ELO, Reading, Situation};
use evalcurve_words::text::shortened;

/// The value of `format` in every header.
pub const FORMAT: &str = "evalcurve-votes";
/// The version of the log that this program writes and reads.
pub const VERSION: u32 = 1;

/// Most voters of a council, and of a header. Replays compare voters in pairs, so that time and memory grow with the
/// square of their number.
pub const MOST_VOTERS: usize = 100;

/// Most moves of one line and of one list in it. No position of a supported game has more legal moves than 593.
pub const MOST_MOVES: usize = 600;

/// How far into a header its format begins. A name later in a line may look like the format.
const HEADER_START: usize = 24;

fn is_default(stakes: &Stakes) -> bool {
    *stakes == Stakes::default()
}

/// Whether this line is a header.
pub fn is_header(line: &[u8]) -> bool {
    memchr::memmem::find(&line[..line.len().min(HEADER_START + FORMAT.len())], FORMAT.as_bytes()).is_some()
}

/// The header of a session: the voters, and how they decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`]; the first field of its line.
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The program that wrote the log.
    pub tool: Tool,
    /// The game of the moves, such as `shogi` or `chess`.
    pub game: String,
    /// The rule of the decisions.
    pub rule: Rule,
    pub tie: TieRule,
    /// Whether announced mates outrank the rule; `null` for the default of the rule.
    pub mates: Option<bool>,
    /// d of the optimal rule and the pools, logits.
    pub gap: f64,
    /// s of voters without their own value, logits.
    pub noise: f64,
    /// Standard errors that the corrected-optimistic rule subtracts.
    pub caution: f64,
    /// The most moves that a second round of searches judges.
    pub most_judged: usize,
    /// What the rule `budget` spends more time on; absent for the default.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stakes: Stakes,
    /// How win rates are read from the calibrations.
    pub reading: Reading,
    /// Rating of the council minus that of its opponent, Elo points; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating_difference: Option<f64>,
    /// Seed of drawn ties.
    pub seed: u64,
    /// The voters in the order of the council.
    pub voters: Vec<LoggedVoter>,
}

/// A [`Voter`] with everything that a replay needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedVoter {
    /// Its name, unique in the header.
    pub name: String,
    pub role: Role,
    /// Its weight; `null` for the default of the rule.
    pub weight: Option<f64>,
    /// Its weights in later phases of a game.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseWeight>,
    /// s, logits.
    pub noise: Option<f64>,
    /// Rating, Elo points.
    pub strength: Option<f64>,
    /// Its calibration file without the evidence ([`Calibration::without_evidence`]).
    #[serde(serialize_with = "write_calibration", deserialize_with = "read_calibration")]
    pub calibration: Option<Calibration>,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedLine {
    /// Any text that identifies the game, the same for all its lines.
    pub game_id: String,
    /// The number of the move to be made, from 1.
    pub ply: u32,
    /// The position in the notation of the protocol (`sfen …`, `startpos moves …`).
    pub position: String,
    /// The side to move, `black` or `white`.
    pub side: Color,
    /// Material on the board, in chess: 9Q + 5R + 3B + 3N + P of both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<u32>,
    /// Time from the `go` command to the decision, milliseconds.
    pub time_ms: u64,
    /// The votes, at most one entry per voter; a voter without an entry abstained.
    pub votes: Vec<LoggedVote>,
    /// Moves searched on request, for a tie or by the chooser.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<LoggedMove>,
    /// The decision of the rule; `null` if no voter voted.
    pub decision: Option<LoggedDecision>,
    /// The move that the council played: the decision, or a fallback if there was none.
    pub played: String,
    /// Faults, as messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// The vote of one voter. An abstention has no `move`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedVote {
    /// The voter's name.
    pub voter: String,
    /// Its move in the notation of the protocol; absent for an abstention.
    #[serde(rename = "move", default, skip_serializing_if = "Option::is_none")]
    pub best: Option<String>,
    /// The score of that move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<LoggedScore>,
    /// `lower` or `upper` if the score is a bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// The rates of wins, draws and losses that the voter declared with the score, permille.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wdl: Option<Declared>,
    /// A win rate that the voter reported itself, 0..=1; it replaces the one from the calibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub win_rate: Option<f64>,
    /// Its best moves, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<LoggedMove>,
    /// Its scores of moves of other voters, from the second round of searches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<LoggedMove>,
    /// Time until its answer, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Processor time of its processes since the last line that has it, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// Nodes that it searched for its vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// What its part of the second round took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<LoggedCost>,
    /// Its move after a longer search, which the rule `budget` gives to one voter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deeper: Option<LoggedDeeper>,
    /// Why it abstained, or what was wrong with its answer, as a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// A move with its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedMove {
    /// The move in the notation of the protocol.
    #[serde(rename = "move")]
    pub best: String,
    pub score: LoggedScore,
}

/// The cost of searches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedCost {
    /// Nodes, if the engine reported them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Their time, milliseconds.
    pub time_ms: u64,
}

/// The move of a longer search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedDeeper {
    /// The move.
    #[serde(rename = "move")]
    pub best: String,
    /// Its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<LoggedScore>,
    /// Nodes beyond those of the vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Time beyond that of the vote, milliseconds.
    pub time_ms: u64,
}

/// The decision of the rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedDecision {
    /// The move.
    #[serde(rename = "move")]
    pub best: String,
    /// Why it was chosen.
    pub reason: Reason,
    /// The voter whose vote carries it.
    pub carried_by: Option<String>,
    /// The tie rule that broke a tie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie_broken_by: Option<String>,
}

/// The end of a game, after its decisions. Without it the result of the game is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedEnd {
    /// The game, as in the lines of its decisions.
    pub game_id: String,
    /// The result for the council: `win`, `loss` or `draw`.
    #[serde(rename = "end")]
    pub outcome: Outcome,
    /// The council's side, `black` or `white`.
    pub side: Color,
    /// The ply of the council's last decision that was played: a later one answers a move that the opponent did not
    /// make.
    pub ply: u32,
}

impl Header {
    /// The header of a council. Numbers of calibrations are rounded to the 9 digits of their files. Decide with
    /// [`Header::voters`], which have the rounded numbers, so that log and replay cannot differ.
    pub fn new(game: &str, rule: Rule, voters: &[Voter<'_>], options: &Options<'_>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: Tool::current(),
            game: game.to_owned(),
            rule,
            tie: options.tie,
            mates: options.mates,
            gap: options.gap,
            noise: options.noise,
            caution: options.caution,
            most_judged: options.most_judged,
            stakes: options.stakes,
            reading: options.reading,
            rating_difference: options.situation.strength.map(|d| d / LOGITS_PER_ELO),
            seed: options.seed,
            voters: voters.iter().map(LoggedVoter::new).collect(),
        }
    }

    /// The voters, for [`decide`](crate::decide()).
    pub fn voters(&self) -> Vec<Voter<'_>> {
        self.voters.iter().map(LoggedVoter::voter).collect()
    }

    /// What is known of a position of this session.
    pub fn situation(&self, ply: Option<u32>, material: Option<u32>) -> Situation {
        let situation = Situation { ply, material, ..Situation::default() };
        self.rating_difference.map_or(situation, |elo| situation.with_rating_difference(elo))
    }

    /// The options of every decision, without the ply, [`Options::draw_key`] and [`Options::searched`], which depend on
    /// the line.
    pub fn options(&self) -> Options<'static> {
        Options {
            tie: self.tie,
            mates: self.mates,
            gap: self.gap,
            noise: self.noise,
            best: None,
            caution: self.caution,
            most_judged: self.most_judged,
            stakes: self.stakes,
            situation: self.situation(None, None),
            reading: self.reading,
            seed: self.seed,
            draw_key: 0,
            searched: &[],
        }
    }

    /// The problem of a header that parsed; `None` for a valid one.
    fn problem(&self) -> Option<String> {
        if self.voters.is_empty() {
            return Some("the header has no voters; a council has at least one".to_owned());
        }
        if self.voters.len() > MOST_VOTERS {
            let voters = self.voters.len();
            return Some(format!(
                "the header has {voters} voters, a council at most {MOST_VOTERS}; remove some of them"
            ));
        }
        let mut names = HashSet::new();
        if let Some(voter) = self.voters.iter().find(|v| !names.insert(v.name.as_str())) {
            return Some(format!("two voters are called {:?}; give each a different name", voter.name));
        }
        check(&self.rule, &self.voters(), &self.options()).err().map(|e| e.to_string())
    }
}

impl LoggedVoter {
    fn new(voter: &Voter<'_>) -> Self {
        Self {
            name: voter.name.to_owned(),
            role: voter.role,
            weight: voter.weight,
            phases: voter.phases.to_vec(),
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
            phases: &self.phases,
            calibration: self.calibration.as_ref(),
            noise: self.noise,
            strength: self.strength,
            // its lines may hold win rates of its own
            brings_win_rates: self.calibration.is_none(),
        }
    }
}

impl LoggedDecision {
    /// The log entry of a decision.
    pub fn new(decision: &Decision, voters: &[Voter<'_>], name: impl Fn(Move) -> String) -> Self {
        Self {
            best: name(decision.chosen),
            reason: decision.reason,
            carried_by: decision.carried_by.and_then(|i| voters.get(i)).map(|v| v.name.to_owned()),
            tie_broken_by: decision.tie.as_ref().map(|t| t.by.to_string()),
        }
    }
}

impl LoggedVote {
    /// The problem of a vote that parsed; `None` for a valid one.
    fn problem(&self) -> Option<String> {
        let name = &self.voter;
        if let Some(p) = self.win_rate.filter(|p| !(0.0..=1.0).contains(p)) {
            return Some(format!("the win rate {p} of {name:?} is outside 0 to 1; remove it or correct it"));
        }
        let longest = self.list.len().max(self.judged.len());
        if longest > MOST_MOVES {
            return Some(format!("a list of {name:?} has {longest} moves, more than {MOST_MOVES}; shorten it"));
        }
        let has_score = self.score.is_some()
            || self.wdl.is_some()
            || self.win_rate.is_some()
            || !self.list.is_empty()
            || !self.judged.is_empty();
        (self.best.is_none() && has_score)
            .then(|| format!("{name:?} has a score but no move; add the move or remove the score"))
    }
}

impl LoggedLine {
    /// The problem of a line that parsed; `None` for a valid one.
    fn problem(&self, header: &Header) -> Option<String> {
        let known: HashSet<&str> = header.voters.iter().map(|v| v.name.as_str()).collect();
        let mut names = HashSet::new();
        for vote in &self.votes {
            let name = &vote.voter;
            if !known.contains(name.as_str()) {
                let known: Vec<_> = header.voters.iter().map(|v| v.name.as_str()).collect();
                let known = shortened(&known.join(", "), 200);
                return Some(format!("a vote of {name:?}, which is not in the header; it has {known}"));
            }
            if !names.insert(name) {
                return Some(format!("{name:?} votes twice; remove one of the votes"));
            }
            if let Some(problem) = vote.problem() {
                return Some(problem);
            }
        }
        let lists = self.votes.iter().flat_map(|vote| vote.list.iter().chain(&vote.judged)).chain(&self.searched);
        let voted = self.votes.iter().filter_map(|vote| vote.best.as_deref());
        let moves: HashSet<&str> = lists.map(|m| m.best.as_str()).chain(voted).collect();
        let most = moves.len().max(self.searched.len());
        (most > MOST_MOVES).then(|| format!("the line has {most} moves, more than {MOST_MOVES}; remove some of them"))
    }
}
