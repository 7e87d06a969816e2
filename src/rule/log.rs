//! The vote log: JSON lines from which every decision of a council can be taken again. `docs/council-log.md` has the schema.
//!
//! A line with `format` is a header, and holds for the lines after it until the next header: several sessions may go into
//! one file. All scores are in the view of the side to move.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::decide::decide;
use super::decision::{Decision, Reason};
use super::kind::{Rule, TieRule};
use super::options::{Options, RuleError, check};
use super::tally::draw_key;
use super::vote::{Bound, Move, Role, Vote, Voter};
use crate::calibration::{Calibration, Score, Tool};

/// The value of `format` in every header.
pub const FORMAT: &str = "evalcurve-votes";
/// The version that this program writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// The voters of the lines that follow, and how they decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
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
    pub side: crate::types::Color,
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

/// A score in a log: a number of centipawns, or `"mate 5"`, `"mate -4"`, `"mate +"`, `"mate -"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoggedScore(pub Score);

impl Serialize for LoggedScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            // an integer where it is one: engines say 152, not 152.0
            Score::Cp(cp) if cp.fract() == 0.0 && cp.abs() < 1e15 => serializer.serialize_i64(cp as i64),
            Score::Cp(cp) if !cp.is_finite() => Err(ser::Error::custom(format!("a score of {cp} is no number"))),
            Score::Cp(cp) => serializer.serialize_f64(cp),
            Score::Mate { wins, plies } => {
                let sign = if wins { "" } else { "-" };
                let text = match plies {
                    Some(plies) => format!("mate {sign}{plies}"),
                    None => format!("mate {}", if wins { "+" } else { "-" }),
                };
                serializer.serialize_str(&text)
            }
        }
    }
}

impl<'de> Deserialize<'de> for LoggedScore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Cp(f64),
            Mate(String),
        }
        let wrong = |found: &str| {
            de::Error::custom(format!(
                "a score is a number of centipawns or \"mate 5\", \"mate -4\", \"mate +\", \"mate -\", not {found}"
            ))
        };
        match Either::deserialize(deserializer).map_err(|_| wrong("this"))? {
            Either::Cp(cp) => Ok(Self(Score::Cp(cp))),
            Either::Mate(text) => mate(&text).map(Self).ok_or_else(|| wrong(&format!("{text:?}"))),
        }
    }
}

fn mate(text: &str) -> Option<Score> {
    let words = text.strip_prefix("mate ")?;
    let (wins, plies) = match words.strip_prefix('-') {
        Some(rest) => (false, rest),
        None => (true, words.strip_prefix('+').unwrap_or(words)),
    };
    match plies {
        "" => (words != "").then_some(Score::Mate { wins, plies: None }),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            Some(Score::Mate { wins, plies: Some(digits.parse().ok()?) })
        }
        _ => None,
    }
}

/// Enums that go by their names.
mod by_name {
    use super::{Deserialize, Deserializer, Role, Rule, Serializer, TieRule, de};

    pub trait Named: Sized + Copy + 'static {
        const WHAT: &'static str;
        fn name(self) -> &'static str;
        fn all() -> &'static [Self];
    }

    impl Named for Rule {
        const WHAT: &'static str = "rule";
        fn name(self) -> &'static str {
            self.as_str()
        }
        fn all() -> &'static [Self] {
            &Self::ALL
        }
    }

    impl Named for TieRule {
        const WHAT: &'static str = "tie rule";
        fn name(self) -> &'static str {
            self.as_str()
        }
        fn all() -> &'static [Self] {
            &Self::ALL
        }
    }

    impl Named for Role {
        const WHAT: &'static str = "role";
        fn name(self) -> &'static str {
            self.as_str()
        }
        fn all() -> &'static [Self] {
            &Self::ALL
        }
    }

    pub fn serialize<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value.name())
    }

    pub fn deserialize<'de, T: Named, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::all().iter().copied().find(|t| t.name() == text).ok_or_else(|| {
            let known: Vec<_> = T::all().iter().map(|t| t.name()).collect();
            de::Error::custom(format!("no {} is called {text:?}; there are {}", T::WHAT, known.join(", ")))
        })
    }
}

/// A bound as `lower` or `upper`.
mod bound {
    use super::{Bound, Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(bound: &Option<Bound>, serializer: S) -> Result<S::Ok, S::Error> {
        match bound {
            Some(Bound::Lower) => serializer.serialize_str("lower"),
            Some(Bound::Upper) => serializer.serialize_str("upper"),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Bound>, D::Error> {
        match Option::<String>::deserialize(deserializer)?.as_deref() {
            None => Ok(None),
            Some("lower") => Ok(Some(Bound::Lower)),
            Some("upper") => Ok(Some(Bound::Upper)),
            Some(other) => Err(de::Error::custom(format!("a bound is lower or upper, not {other:?}"))),
        }
    }
}

fn write_calibration<S: Serializer>(calibration: &Option<Calibration>, serializer: S) -> Result<S::Ok, S::Error> {
    let Some(calibration) = calibration else { return serializer.serialize_none() };
    let text = calibration.to_json().map_err(ser::Error::custom)?;
    let tree: serde_json::Value = serde_json::from_str(&text).map_err(ser::Error::custom)?;
    tree.serialize(serializer)
}

fn read_calibration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Calibration>, D::Error> {
    let Some(tree) = Option::<serde_json::Value>::deserialize(deserializer)? else { return Ok(None) };
    Calibration::from_json(&tree.to_string(), "calibration").map(Some).map_err(de::Error::custom)
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

    /// The voters, for [`decide`].
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
    pub(super) fn problem(&self) -> Option<String> {
        if self.format != FORMAT {
            return Some(format!("the format is {:?}, not {FORMAT:?}; give a log that a council wrote", self.format));
        }
        if self.version != VERSION {
            return Some(format!(
                "version {} of the log, this program reads version {VERSION}; replay it with the program that wrote it",
                self.version
            ));
        }
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

/// The moves of one line by number: the order in which they were met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MoveNames<'a>(Vec<&'a str>);

impl<'a> MoveNames<'a> {
    /// The number of a move; the same text gets the same number.
    pub fn number(&mut self, text: &'a str) -> Move {
        let place = self.0.iter().position(|&known| known == text).unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        });
        Move(place as u32)
    }

    /// The text of a move; empty for one that was never numbered.
    pub fn name(&self, m: Move) -> &'a str {
        self.0.get(m.0 as usize).copied().unwrap_or_default()
    }
}

/// The votes of a line as rules take them.
#[derive(Debug, Clone, Default)]
pub struct Ballots<'a> {
    /// The moves by number.
    pub names: MoveNames<'a>,
    lists: Vec<Vec<(Move, Score)>>,
    votes: Vec<Option<(Move, &'a LoggedVote)>>,
    searched: Vec<(Move, Score)>,
    draw_key: u64,
}

impl<'a> Ballots<'a> {
    /// The votes of a line in the order of the header's voters.
    pub fn new(header: &Header, line: &'a Line) -> Self {
        let mut names = MoveNames::default();
        let mut moves = |list: &'a [LoggedMove]| -> Vec<(Move, Score)> {
            list.iter().map(|m| (names.number(&m.best), m.score.0)).collect()
        };
        let of = |voter: &LoggedVoter| line.votes.iter().find(|v| v.voter == voter.name);
        let lists = header.voters.iter().map(|v| moves(of(v).map_or(&[][..], |v| &v.list))).collect();
        let searched = moves(&line.searched);
        let votes = header
            .voters
            .iter()
            .map(|voter| of(voter).and_then(|vote| Some((names.number(vote.best.as_deref()?), vote))))
            .collect();
        Self { names, lists, votes, searched, draw_key: draw_key(&line.game_id, line.ply) }
    }

    /// The votes, one a voter.
    pub fn votes(&self) -> Vec<Option<Vote<'_>>> {
        let vote = |(place, vote): (usize, &Option<(Move, &'a LoggedVote)>)| {
            vote.map(|(best, logged)| Vote {
                best,
                score: logged.score.map(|s| s.0),
                bound: logged.bound,
                list: &self.lists[place],
                win_rate: logged.win_rate,
                standardized: None,
            })
        };
        self.votes.iter().enumerate().map(vote).collect()
    }

    /// The header's options with what belongs to this line.
    pub fn options<'b>(&'b self, header: &Header) -> Options<'b> {
        Options { draw_key: self.draw_key, searched: &self.searched, ..header.options() }
    }

    /// Decides the line by a rule.
    ///
    /// # Errors
    /// Nobody voted.
    pub fn decide(&self, header: &Header, rule: Rule) -> Result<Decision, RuleError> {
        decide(rule, &header.voters(), &self.votes(), &self.options(header))
    }
}

impl Line {
    /// What is wrong with a line that parsed; `None` for a good one.
    pub(super) fn problem(&self, header: &Header) -> Option<String> {
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
