//! The checked configuration of a council.

use std::num::NonZeroU64;
use std::path::PathBuf;

use evalcurve_calibration::{Reading, Situation};
use evalcurve_engine::{CHESS_SCALE_CP, CouncilConfig, EngineConfig, Game, centipawns, read_later};
use evalcurve_fit::fit::CP_PER_LOGIT;
use evalcurve_rules::{Options, Rule, Stakes, TieRule, Voter};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A council. The fields are the keys of the configuration file.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    #[serde(skip)]
    pub file: PathBuf,
    /// The name that GUIs show.
    pub name: String,
    /// What is played; it decides the protocol of the members.
    pub game: Game,
    /// How votes become a move.
    pub rule: Rule,
    /// Which of several moves with the same value wins.
    pub tie: TieRule,
    /// Whether announced mates outrank the rule; `None`: the default of the rule.
    pub mates: Option<bool>,
    /// The gap d of the optimal rule and of the pools, in logits.
    pub gap: f64,
    /// The noise s of members without their own, in logits.
    pub noise: f64,
    /// The number of standard errors that the corrected rule subtracts.
    pub caution: f64,
    /// The most moves that the second round of cross-examination judges.
    pub most_judged: usize,
    /// How the win rates of calibrations are read: between equals, or against the opponents of the calibration games.
    pub reading: Reading,
    /// The rating of the council minus that of its opponent, Elo points. Models that were fitted with ratings use it.
    #[serde(deserialize_with = "elo")]
    pub rating_difference: Option<f64>,
    /// The seed of random tie breaks.
    pub seed: u64,
    /// The centipawns that represent a logit of 1 in the score for the GUI; `None`: what is usual in the game.
    #[serde(deserialize_with = "centipawns")]
    pub score_scale: Option<f64>,
    /// Whether the GUI gets each decision as JSON, too. The log has it in any case.
    pub verbose: bool,
    /// Learned weights of all members, by the path of their file.
    pub weights: Option<PathBuf>,
    /// The file for all decisions, in the form that `replay` reads; `None`: none is kept.
    pub log: Option<PathBuf>,
    /// Whether to stop all members as soon as the decision of the rule can no longer change.
    pub early_stop: bool,
    pub resign: Resign,
    /// How to count a member whose move does not arrive in time.
    pub late: Late,
    /// How often a member is restarted per game.
    pub restarts: u32,
    /// How the time of the GUI is shared.
    pub time: TimePolicy,
    /// How the rule `budget` spends the time of all members.
    pub budget: Spending,
    /// The members, at least one.
    #[serde(rename = "engine", deserialize_with = "read_later")]
    pub engines: Vec<EngineConfig>,
}

impl Default for Config {
    fn default() -> Self {
        let Options { tie, mates, gap, noise, caution, most_judged, seed, .. } = Options::default();
        Self {
            file: PathBuf::new(),
            name: "evalcurve council".to_owned(),
            game: Game::default(),
            rule: Rule::default(),
            tie,
            mates,
            gap,
            noise,
            caution,
            most_judged,
            reading: Reading::Equal,
            rating_difference: None,
            seed,
            score_scale: None,
            verbose: false,
            weights: None,
            log: None,
            early_stop: false,
            resign: Resign::default(),
            late: Late::default(),
            restarts: 3,
            time: TimePolicy::default(),
            budget: Spending::default(),
            engines: Vec::new(),
        }
    }
}

/// A finite rating difference.
fn elo<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let elo = f64::deserialize(deserializer)?;
    match elo.is_finite() {
        true => Ok(Some(elo)),
        false => Err(D::Error::custom(format!("{elo} is not valid; write a rating difference in Elo points"))),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resign {
    /// When all members that answered resign.
    #[default]
    All,
    /// When more members resign than vote.
    Majority,
    /// Never while there is a legal move.
    Never,
}

/// How to count a member whose move does not arrive in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Late {
    #[default]
    Abstain,
    /// It votes for the first move of its last line.
    LastLine,
}

/// How the time that the GUI gives is shared between the members and the council.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TimePolicy {
    /// The part of the time per move that is reserved for the council itself and the way to the GUI.
    pub margin_ms: u64,
    /// The largest share of the remaining main time to spend on one move, in (0, 1].
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// The longest search if the GUI gives no time (`go nodes`, `go depth`).
    pub longest_ms: u64,
    /// How long `usiok` waits for the options of the members.
    pub options_ms: u64,
}

impl Default for TimePolicy {
    fn default() -> Self {
        Self { margin_ms: 50, share: 0.25, longest_ms: 600_000, options_ms: 1_500 }
    }
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    match share > 0.0 && share <= 1.0 {
        true => Ok(share),
        false => Err(D::Error::custom(format!("share is {share}; write a number above 0, up to 1"))),
    }
}

/// How the rule `budget` spends the time of all members.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Spending {
    /// Nodes per move of all members together; `None`: the time on the clock.
    pub nodes: Option<NonZeroU64>,
    /// The share of the first look, in (0, 1].
    #[serde(deserialize_with = "share")]
    pub first: f64,
    /// The threshold of [`Stakes`] of this name, as are the next three.
    pub agreed: f64,
    /// See [`Stakes`].
    pub decided: f64,
    /// See [`Stakes`].
    pub close: f64,
    /// See [`Stakes`].
    pub doubt: f64,
}

impl Default for Spending {
    fn default() -> Self {
        let Stakes { agreed, decided, close, doubt } = Stakes::default();
        Self { nodes: None, first: 0.5, agreed, decided, close, doubt }
    }
}

impl Spending {
    fn stakes(&self) -> Stakes {
        let Self { agreed, decided, close, doubt, .. } = *self;
        Stakes { agreed, decided, close, doubt }
    }
}

impl Config {
    /// The members as voters.
    pub fn voters(&self) -> Vec<Voter<'_>> {
        self.engines.iter().map(EngineConfig::voter).collect()
    }

    /// The centipawns that represent a logit of 1 in the score for the GUI.
    pub(crate) fn score_scale_cp(&self) -> f64 {
        self.score_scale.unwrap_or(if self.game == Game::Chess { CHESS_SCALE_CP } else { CP_PER_LOGIT })
    }

    /// What a tournament has to know of it.
    pub fn as_player(&self) -> CouncilConfig {
        CouncilConfig {
            name: self.name.clone(),
            game: self.game,
            members: self.engines.clone(),
            options: self.rule_options(),
        }
    }

    /// The options of every decision.
    pub fn rule_options(&self) -> Options<'static> {
        Options {
            tie: self.tie,
            mates: self.mates,
            gap: self.gap,
            noise: self.noise,
            caution: self.caution,
            most_judged: self.most_judged,
            stakes: self.budget.stakes(),
            seed: self.seed,
            reading: self.reading,
            situation: match self.rating_difference {
                Some(elo) => Situation::default().with_rating_difference(elo),
                None => Situation::default(),
            },
            ..Options::default()
        }
    }
}
