//! A decision, and what it says of itself.

use serde::{Deserialize, Serialize};

use super::kind::{Rule, TieRule};
use super::vote::{Bound, Move, Vote, Voter};
use crate::calibration::Score;

/// Why the chosen move was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The rule's value of it is the largest.
    LargestValue,
    /// A voter announces a mate with it, and none announces a shorter one.
    ProvenWin,
    /// All voters announce that they are mated, and this takes longest.
    OnlyLosses,
    /// No vote had what the rule compares, so most voters decided.
    NoValues,
    /// The chooser scores it higher than the other adviser's (3-Hirn).
    Chooser,
    /// The advisers agree, only one of them voted, or the chooser did not tell them apart (3-Hirn).
    Adviser,
}

/// A tie and what broke it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TieBroken {
    /// The rule that did: the leader's also where the strongest had scored none of the moves.
    pub by: TieRule,
    /// The moves with equal values, in the order of the voters.
    pub moves: Vec<Move>,
}

/// The move that a rule chose, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The rule that decided.
    pub rule: Rule,
    /// The move.
    pub chosen: Move,
    /// The voter whose vote carried it: the first with the largest value. `None` where the move stands in lists alone.
    pub carried_by: Option<usize>,
    /// The voters whose move was chosen, in order: all of them count as adopted.
    pub agreeing: Vec<usize>,
    /// For each voter what the rule compared (the smallest score wins under [`Rule::Pessimistic`], so there with its sign
    /// changed); `None` for those it passed over.
    pub values: Vec<Option<f64>>,
    /// For each voter the calibrated win rate of its vote, in 0..=1.
    pub win_rates: Vec<Option<f64>>,
    /// For rules over lists: every move and its value.
    pub candidates: Vec<(Move, f64)>,
    /// Why.
    pub reason: Reason,
    /// How a tie was broken; `None` where there was none.
    pub tie: Option<TieBroken>,
    /// Moves that the strongest (for a tie) or the chooser (for 3-Hirn) has not scored: search them, and decide again with
    /// [`Options::searched`](super::Options). Empty where nothing is missing.
    pub needs_search: Vec<Move>,
}

impl Decision {
    pub(super) fn without_values(mut self) -> Self {
        self.values.fill(None);
        self
    }

    pub(super) fn with_candidates(mut self, candidates: Vec<(Move, f64)>) -> Self {
        self.candidates = candidates;
        self
    }

    /// The decision in words and numbers. `name` gives a move as its game writes it.
    pub fn explain(
        &self,
        voters: &[Voter<'_>],
        votes: &[Option<Vote<'_>>],
        name: impl Fn(Move) -> String,
    ) -> Explanation {
        let votes = voters.iter().zip(votes).enumerate().map(|(i, (voter, vote))| VoteExplained {
            name: voter.name.to_owned(),
            adopted: self.agreeing.contains(&i),
            best: vote.as_ref().map(|v| name(v.best)),
            win_rate: self.win_rates.get(i).copied().flatten(),
            score: vote.as_ref().and_then(|v| v.score.map(|s| written(s, v.bound))),
            value: self.values.get(i).copied().flatten().filter(|v| v.is_finite()),
        });
        Explanation {
            rule: self.rule.as_str(),
            best: name(self.chosen),
            reason: self.reason,
            carried_by: self.carried_by.and_then(|i| voters.get(i)).map(|v| v.name.to_owned()),
            tied: self.tie.iter().flat_map(|t| t.moves.iter().map(|&m| name(m))).collect(),
            tie_broken_by: self.tie.as_ref().map(|t| t.by.as_str()),
            votes: votes.collect(),
        }
    }
}

/// A score as engines say it: `+152`, `mate 5`, `mate -`, `+152 lowerbound`.
fn written(score: Score, bound: Option<Bound>) -> String {
    let score = match score {
        Score::Cp(cp) => format!("{cp:+.0}"),
        Score::Mate { wins, plies: Some(plies) } => format!("mate {}{plies}", if wins { "" } else { "-" }),
        Score::Mate { wins, plies: None } => format!("mate {}", if wins { "+" } else { "-" }),
    };
    match bound {
        None => score,
        Some(Bound::Lower) => format!("{score} lowerbound"),
        Some(Bound::Upper) => format!("{score} upperbound"),
    }
}

/// A decision with names in place of numbers: [`Explanation::lines`] for people, serde for machines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The rule.
    pub rule: &'static str,
    /// The chosen move.
    #[serde(rename = "move")]
    pub best: String,
    /// Why.
    pub reason: Reason,
    /// The voter that carried it.
    pub carried_by: Option<String>,
    /// The moves that were tied.
    pub tied: Vec<String>,
    /// What broke the tie.
    pub tie_broken_by: Option<&'static str>,
    /// What every voter said.
    pub votes: Vec<VoteExplained>,
}

/// One voter in an [`Explanation`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VoteExplained {
    /// The voter.
    pub name: String,
    /// Whether its move was chosen.
    pub adopted: bool,
    /// Its move; `None` where it abstained.
    #[serde(rename = "move")]
    pub best: Option<String>,
    /// Its win rate.
    pub win_rate: Option<f64>,
    /// Its score as engines say it.
    pub score: Option<String>,
    /// What the rule compared.
    pub value: Option<f64>,
}

impl Explanation {
    /// One line a voter, and one for the decision:
    ///
    /// ```text
    /// [O] 7g7f 0.563 (+152) YaneuraOu
    /// [X] 2g2f 0.541 (+130) Gikou
    /// [-] nozomi abstains
    /// winrate-optimistic: 7g7f by YaneuraOu
    /// ```
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.votes.iter().map(VoteExplained::line).collect();
        lines.push(self.summary());
        lines
    }

    /// The decision in one line.
    pub fn summary(&self) -> String {
        let mut line = format!("{}: {}", self.rule, self.best);
        if let Some(name) = &self.carried_by {
            line += &format!(" by {name}");
        }
        line += match self.reason {
            Reason::LargestValue | Reason::Adviser => "",
            Reason::ProvenWin => ", a proven win",
            Reason::OnlyLosses => ", the longest of proven losses",
            Reason::NoValues => ", by majority since no vote has what the rule compares",
            Reason::Chooser => ", preferred by the chooser",
        };
        if let Some(by) = self.tie_broken_by {
            line += &format!(", tied {} (broken by {by})", self.tied.join(" "));
        }
        line
    }

    /// The explanation as one line of JSON.
    ///
    /// # Errors
    /// None that these types can give; serde's signature has it.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

impl VoteExplained {
    fn line(&self) -> String {
        let Some(best) = &self.best else { return format!("[-] {} abstains", self.name) };
        let mut line = format!("[{}] {best}", if self.adopted { 'O' } else { 'X' });
        if let Some(p) = self.win_rate {
            line += &format!(" {p:.3}");
        }
        if let Some(score) = &self.score {
            line += &format!(" ({score})");
        }
        line + " " + &self.name
    }
}
