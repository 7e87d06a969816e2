//! What a replay gives.

use serde::Serialize;

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replay {
    /// Number of games, by `game_id`.
    pub games: usize,
    pub decisions: usize,
    /// How the logged decisions compare with a replay by the logged rule.
    pub logged: Logged,
    /// The voters in the order of the headers, including those left out.
    pub voters: Vec<String>,
    /// Decisions by the sizes of the groups of voters that agree, such as `2:1`, most frequent first. Abstentions do
    /// not count.
    pub splits: Vec<Share>,
    /// Decisions by which voters agreed: `YaneuraOu+nozomi, Gikou`.
    pub groups: Vec<Share>,
    /// Every pair of voters that are not left out; empty for more than [`MOST_COMPARED`](super::MOST_COMPARED).
    pub agreement: Vec<Agreement>,
    /// Each rule with all voters that are not left out.
    pub rules: Vec<RuleReplay>,
    /// The regret of each voter's own moves, by the reference; empty without one.
    pub alone: Vec<Alone>,
    /// Each rule without each voter; empty for fewer than three voters, and for more than
    /// [`MOST_COMPARED`](super::MOST_COMPARED).
    pub left_out: Vec<LeftOut>,
    /// Rules that cannot work with these voters, with the reason.
    pub impossible: Vec<Impossible>,
}

/// How the logged decisions compare with a replay by the logged rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct Logged {
    /// Decisions with the same move.
    pub same: usize,
    /// Decisions with another move.
    pub different: Vec<Difference>,
    /// Moves played that were not the decision, as fallbacks after a fault.
    pub played_otherwise: usize,
}

/// A logged decision for which the replay chooses another move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The index of the session.
    pub session: usize,
    /// The line of the log, from 1.
    pub line: usize,
    pub game_id: String,
    pub ply: u32,
    /// The logged move; `null` for no decision.
    pub logged: Option<String>,
    /// The move of the replay.
    pub replayed: Option<String>,
}

/// The decisions of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    pub kind: String,
    pub decisions: usize,
    /// Their share of all decisions with a vote, 0..=1.
    pub share: f64,
}

/// How often two voters had the same move.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// One voter.
    pub a: String,
    /// The other voter.
    pub b: String,
    /// Decisions where both voted.
    pub both: usize,
    /// Those where they had the same move.
    pub same: usize,
}

/// A rule over the whole log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleReplay {
    pub rule: String,
    /// Decisions with a vote.
    pub decided: usize,
    /// Decisions without a vote.
    pub undecided: usize,
    /// Decisions with the logged move.
    pub as_logged: usize,
    /// Decisions with a tie.
    pub ties: usize,
    /// Decisions that need a search that is not in the log. They follow the leader or the second adviser.
    pub unsearched: usize,
    /// What the searches of a decision that the rule asks for take on average; `null` if the log does not say.
    pub cost: Option<Cost>,
    /// Decisions for a move that no voter voted for, as pools may make.
    pub nobodys: usize,
    /// Adoption of each voter that is not left out.
    pub adoption: Vec<Adoption>,
    /// The regret by the reference; `null` without one.
    pub regret: Option<Regret>,
    /// The regret minus that of the voter with the least, over the same decisions; `null` without a reference.
    pub against_best: Option<Against>,
}

/// What the searches of a decision take on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// Nodes of all voters; `null` if one of them reported none.
    pub nodes: Option<f64>,
    /// Time of all voters, milliseconds.
    pub total_ms: f64,
    /// Time if each voter has a processor, milliseconds.
    pub wall_ms: f64,
}

/// The regret of one voter's own moves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alone {
    pub voter: String,
    /// The regret of its moves.
    pub regret: Regret,
    /// Its regret minus that of each voter after it in this list; empty for more than
    /// [`MOST_COMPARED`](super::MOST_COMPARED).
    pub against: Vec<Against>,
}

/// A difference of regrets, paired by decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Against {
    /// The voter whose own moves are subtracted.
    pub voter: String,
    /// Mean difference in win rate; negative if the rule is better.
    pub mean: f64,
    /// Standard error of the mean, clustered by game; `null` for fewer than two games.
    pub standard_error: Option<f64>,
    /// Decisions whose two moves the reference scored.
    pub judged: usize,
}

/// How often the chosen move was a voter's move. Several voters may agree, so rates sum to more than 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adoption {
    pub voter: String,
    /// Decisions where it voted.
    pub voted: usize,
    /// Decisions for its move.
    pub adopted: usize,
    /// Decisions that its vote carried: it had the largest value, or the first of equal ones.
    pub carried: usize,
}

impl Adoption {
    /// `adopted` as a share of all decisions, as in Takeuchi 2018, table 6. An abstention counts as not adopted.
    pub fn rate(&self, decided: usize) -> Option<f64> {
        (decided > 0).then(|| self.adopted as f64 / decided as f64)
    }
}

/// The regret of the chosen moves: the reference's win rate of the best move that it scored minus that of the chosen
/// move.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regret {
    pub reference: String,
    /// Mean over `judged`, in win rate; `null` if `judged` is 0.
    pub mean: Option<f64>,
    /// Standard error of the mean, clustered by game; `null` for fewer than two games.
    pub standard_error: Option<f64>,
    /// Decisions whose move the reference scored.
    pub judged: usize,
    /// Decisions whose move is missing from its list. The move is worse than the list, by an unknown amount.
    pub missing: usize,
}

/// Each rule without one voter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOut {
    pub voter: String,
    pub rules: Vec<RuleReplay>,
}

/// A rule that cannot work with the voters of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Impossible {
    pub rule: &'static str,
    /// Why, and how to fix it.
    pub reason: String,
}
