//! Why samples have no fit, in every language.

use crate::language::Text;
use crate::types::Outcome;

/// Why samples have no fit. The messages do not name the engine; the caller puts its name in front. Words in backticks
/// are options, which each host spells in its own way.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Fewer samples than the options ask for.
    #[error("{have} sample(s), a fit needs {need}: add games, widen the filters or lower `min-samples`")]
    TooFewSamples {
        /// Number of samples.
        have: u64,
        /// Number asked for.
        need: u64,
    },
    /// Only wins, only draws or only losses.
    #[error("every one of {samples} samples is a {}: add games that end otherwise", word(*outcome))]
    OneClass {
        /// The one outcome.
        outcome: Outcome,
        /// Number of samples.
        samples: u64,
    },
    /// The scores do not differ.
    #[error("all {samples} scores are {score_cp} centipawns: check that the score was read from the right field")]
    AllScoresEqual {
        /// The one score.
        score_cp: i32,
        /// Number of samples.
        samples: u64,
    },
    /// A threshold on the score separates wins from losses, so that the best slope is infinite.
    #[error(
        "a single score separates the wins from the losses in all {samples} samples, so the best slope is infinite: \
         add games, or take samples from earlier in the game"
    )]
    Separable {
        /// Number of samples.
        samples: u64,
    },
    /// The search ended where the gradient is not zero, or where the slope goes to infinity.
    #[error(
        "not converged after {passes} passes: look for a wrong mate threshold or outlying scores, or use the other \
         method"
    )]
    NotConverged {
        /// Largest component of the gradient of the mean loss, scores in units of 1000 centipawns.
        gradient: f64,
        /// Passes over the counts.
        passes: u32,
    },
    /// Higher scores do not go with more wins.
    #[error(
        "the fitted slope w1 is not positive, higher scores do not win more often: check whose point of view the \
         scores take"
    )]
    SlopeNotPositive {
        /// The slope, per centipawn.
        w1: f64,
    },
    /// Too few samples whose rating difference is known.
    #[error(
        "{have} sample(s) with the ratings of both players, a fit by strength needs {need}: take records with ratings, \
         or another `model`"
    )]
    TooFewRated {
        /// Number of samples with a rating difference.
        have: u64,
        /// Number needed.
        need: u64,
    },
    /// Too few samples whose material is known.
    #[error(
        "{have} sample(s) with a count of the material, a fit by material needs {need}: take PGN records, a table \
         of samples with `material`, or `model` wdl, which goes by ply"
    )]
    TooFewWithMaterial {
        /// Number of samples with material.
        have: u64,
        /// Number needed.
        need: u64,
    },
    /// The rating difference is the same in all samples, so that its effect cannot be separated from w2.
    #[error("all {samples} samples have the same rating difference: add other opponents, or take another `model`")]
    OneStrength {
        /// Number of samples.
        samples: u64,
    },
    /// The samples are from one ply, so that a dependence on the ply cannot be fitted.
    #[error("nearly all of {samples} samples are from ply {ply}: widen `max-ply`, or take another `model`")]
    OnePly {
        /// The ply.
        ply: u32,
        /// Number of samples.
        samples: u64,
    },
    /// No draws, which the model of wins, draws and losses needs.
    #[error("none of {samples} samples is from a drawn game: take another `model`, or `draws` half")]
    NoDraws {
        /// Number of samples.
        samples: u64,
    },
    /// The threshold or the spread of the model of wins, draws and losses is not positive at some stage.
    #[error("the fitted curve falls at {unit} {stage}: too few samples there; add games or take another `model`")]
    WdlNotPositive {
        /// `ply` or `material`.
        unit: &'static str,
        /// Where.
        stage: u32,
    },
    /// Too few games for a covariance.
    #[error("{have} game(s), an interval needs {need}: add games")]
    TooFewGames {
        /// Number of games.
        have: u64,
        /// Number needed.
        need: u64,
    },
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win => "win",
        Outcome::Draw => "draw",
        Outcome::Loss => "loss",
    }
}

impl FitError {
    /// The message in every language.
    pub fn words(&self) -> Text {
        let japanese = match *self {
            Self::TooFewSamples { have, need } => format!(
                "標本 {have}(当てはめには {need} 必要): 対局を増やすか、条件を緩めるか、`min-samples` を小さくしてください"
            ),
            Self::OneClass { outcome, samples } => {
                let all = match outcome {
                    Outcome::Win => "勝ち",
                    Outcome::Draw => "引き分け",
                    Outcome::Loss => "負け",
                };
                format!("{samples} 標本がすべて{all}です: 他の結果の対局を加えてください")
            }
            Self::AllScoresEqual { score_cp, samples } => format!(
                "{samples} の評価値がすべて {score_cp} です: 評価値が正しい欄から読まれているか確かめてください"
            ),
            Self::Separable { samples } => format!(
                "{samples} 標本の勝ちと負けが一つの評価値で完全に分かれるため、傾きが無限大になります: 対局を増やすか、\
                 もっと早い手数の標本を使ってください"
            ),
            Self::NotConverged { passes, .. } => format!(
                "{passes} 回の反復で収束しません: 詰みのしきい値の誤りや外れた評価値を探すか、他の方法を使ってください"
            ),
            Self::SlopeNotPositive { .. } => "傾き w1 が正になりません。評価値が高くても勝ちが増えていません: 評価値が\
                                              どちらから見た値か確かめてください"
                .to_owned(),
            Self::TooFewRated { have, need } => format!(
                "両者のレーティングがある標本は {have}(レート差の当てはめには {need} 必要): レーティングのある棋譜を使うか、\
                 他の `model` を選んでください"
            ),
            Self::TooFewWithMaterial { have, need } => format!(
                "駒割のある標本は {have}(駒割の当てはめには {need} 必要): PGN の棋譜か `material` で駒割を数えた標本表を\
                 使うか、手数による `model` wdl を選んでください"
            ),
            Self::OneStrength { samples } => format!(
                "{samples} 標本のレート差がすべて同じです: 他の相手との対局を加えるか、他の `model` を選んでください"
            ),
            Self::OnePly { ply, samples } => format!(
                "{samples} 標本のほとんどが {ply} 手目です: `max-ply` を大きくするか、他の `model` を選んでください"
            ),
            Self::NoDraws { samples } => {
                format!("{samples} 標本に引き分けの対局がありません: 他の `model` か `draws` half を選んでください")
            }
            Self::WdlNotPositive { unit, stage } => format!(
                "当てはめた曲線が {unit} {stage} で下がります。そこの標本が少なすぎます: 対局を増やすか、他の `model` を\
                 選んでください"
            ),
            Self::TooFewGames { have, need } => {
                format!("対局 {have}(信頼区間には {need} 必要): 対局を増やしてください")
            }
        };
        Text::both(self.to_string(), japanese)
    }
}
