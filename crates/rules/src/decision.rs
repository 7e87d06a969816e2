//! A decision and its explanation.

use evalcurve_calibration::Score;
use evalcurve_words::language::Text;
use evalcurve_words::text;
use serde::{Deserialize, Serialize};

use super::options::TieRule;
use super::vote::{Bound, Move, Vote, Voter};

/// Why the chosen move was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// It has the largest value.
    LargestValue,
    /// A voter announces a mate with it, and no voter announces a shorter one.
    ProvenWin,
    /// All voters announce that they are mated, and this mate is the longest.
    OnlyLosses,
    /// No vote has what the rule compares, so the majority decides.
    NoValues,
    /// The chooser scores it higher than the other adviser's (3-Hirn).
    Chooser,
    /// The voter that was given the rest of the budget chooses it.
    SearchedOn,
    /// The advisers agree, only one of them voted, or the chooser scores them the same (3-Hirn).
    Adviser,
}

/// A tie and how it was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TieBroken {
    /// The tie rule that broke it: `leader` also if the strongest voter scored none of the moves.
    pub by: TieRule,
    /// The moves with equal values, in the order of the voters.
    pub moves: Vec<Move>,
}

/// The move that a rule chooses, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The rule that decided.
    pub rule: &'static str,
    pub chosen: Move,
    /// The voter whose vote carries it: the first with the largest value. `None` if the move is only in lists.
    pub carried_by: Option<usize>,
    /// The voters that voted for the move, in order. All of them count as adopted.
    pub agreeing: Vec<usize>,
    /// The value of each voter's vote, the largest of which wins; `None` for a vote that the rule skipped.
    pub values: Vec<Option<f64>>,
    /// The calibrated win rate of each voter's vote, in 0..=1.
    pub win_rates: Vec<Option<f64>>,
    /// Every move with its value, for rules over lists.
    pub candidates: Vec<(Move, f64)>,
    /// Why it was chosen.
    pub reason: Reason,
    /// How a tie was broken; `None` without a tie.
    pub tie: Option<TieBroken>,
    /// Moves that the strongest voter (for a tie) or the chooser (for 3-Hirn) has not scored. Search them and decide
    /// again with [`Options::searched`](super::Options). Empty if no score is missing.
    pub needs_search: Vec<Move>,
    /// The voter that is to search the position for longer, with what is left of a budget; its move then decides.
    pub hand_over: Option<usize>,
}

impl Decision {
    /// Explains the decision. `name` returns the notation of a move.
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
            rule: self.rule,
            best: name(self.chosen),
            reason: self.reason,
            carried_by: self.carried_by.and_then(|i| voters.get(i)).map(|v| v.name.to_owned()),
            tied: self.tie.iter().flat_map(|t| t.moves.iter().map(|&m| name(m))).collect(),
            tie_broken_by: self.tie.as_ref().map(|t| t.by.into()),
            votes: votes.collect(),
        }
    }
}

/// The text of a mate, such as `mate -4`.
pub(super) fn mate_text(wins: bool, plies: Option<u32>) -> String {
    match plies {
        Some(plies) => format!("mate {}{plies}", if wins { "" } else { "-" }),
        None => format!("mate {}", if wins { "+" } else { "-" }),
    }
}

/// A score in the notation of engines: `+152`, `mate 5`, `mate -`, `+152 lowerbound`.
fn written(score: Score, bound: Option<Bound>) -> String {
    let score = match score {
        // a rounded score is never -0
        Score::Cp(cp) => format!("{:+.0}", cp.round() + 0.0),
        Score::Mate { wins, plies } => mate_text(wins, plies),
    };
    match bound {
        None => score,
        Some(Bound::Lower) => format!("{score} lowerbound"),
        Some(Bound::Upper) => format!("{score} upperbound"),
    }
}

/// A decision with names in place of numbers: [`Explanation::lines`] for people, serde for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    pub rule: &'static str,
    /// The chosen move.
    #[serde(rename = "move")]
    pub best: String,
    /// Why it was chosen.
    pub reason: Reason,
    /// The voter that carries it.
    pub carried_by: Option<String>,
    /// The moves that were tied.
    pub tied: Vec<String>,
    /// The tie rule that broke the tie.
    pub tie_broken_by: Option<&'static str>,
    /// One entry per voter.
    pub votes: Vec<VoteExplained>,
}

/// One voter in an [`Explanation`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VoteExplained {
    pub name: String,
    /// Whether its move was chosen.
    pub adopted: bool,
    /// Its move; `None` if it abstained.
    #[serde(rename = "move")]
    pub best: Option<String>,
    pub win_rate: Option<f64>,
    /// Its score in the notation of engines.
    pub score: Option<String>,
    /// The value of its vote.
    pub value: Option<f64>,
}

impl Explanation {
    /// One line per voter, and one for the decision:
    ///
    /// ```text
    /// [O] 7g7f 0.563 (+152) YaneuraOu
    /// [X] 2g2f 0.541 (+130) Gikou
    /// [-] nozomi abstains
    /// winrate-optimistic: 7g7f by YaneuraOu
    /// ```
    pub fn lines(&self) -> Vec<Text> {
        let mut lines: Vec<Text> = self.votes.iter().map(VoteExplained::line).collect();
        lines.push(self.summary());
        lines
    }

    /// The decision in one line.
    pub fn summary(&self) -> Text {
        let mut line = Text::same(format!("{}: {}", self.rule, self.best));
        if let Some(name) = &self.carried_by {
            line.push(&text!(" by {name}"));
        }
        line.push(&match self.reason {
            Reason::LargestValue | Reason::Adviser => Text::default(),
            Reason::ProvenWin => text!(", a proven win"),
            Reason::OnlyLosses => text!(", the longest of proven losses"),
            Reason::NoValues => text!(", by majority since no vote has what the rule compares"),
            Reason::Chooser => text!(", preferred by the chooser"),
            Reason::SearchedOn => text!(", after a longer search"),
        });
        if let Some(by) = self.tie_broken_by {
            line.push(&text!(", tied {} (broken by {by})", self.tied.join(" ")));
        }
        line
    }

    /// The explanation as one line of JSON.
    ///
    /// # Errors
    /// Never with these types; serde's signature requires a result.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

impl VoteExplained {
    fn line(&self) -> Text {
        let Some(best) = &self.best else { return text!("[-] {} abstains", self.name) };
        let mut line = format!("[{}] {best}", if self.adopted { 'O' } else { 'X' });
        if let Some(p) = self.win_rate {
            line += &format!(" {p:.3}");
        }
        if let Some(score) = &self.score {
            line += &format!(" ({score})");
        }
        Text::same(line + " " + &self.name)
    }
}
