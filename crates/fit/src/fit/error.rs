//! Why samples have no fit, in every language.

use evalcurve_calibration::types::Outcome;
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;
use thiserror::Error;

/// Why samples have no fit. The messages do not name the engine; the caller puts its name in front. Words in backticks
/// are options, which each host spells in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Error, ToText)]
#[non_exhaustive]
pub enum FitError {
    /// Fewer samples than the options ask for.
    #[error("{have} sample(s), a fit needs {need}: add games, widen the filters or lower `min-samples`")]
    TooFewSamples { have: u64, need: u64 },
    /// Only wins, only draws or only losses.
    #[error("every one of {samples} samples is a {}: add games that end otherwise", word(.outcome))]
    OneClass { outcome: Outcome, samples: u64 },
    /// The scores do not differ.
    #[error("all {samples} scores are {score_cp} centipawns: check that the score was read from the right field")]
    AllScoresEqual { score_cp: i32, samples: u64 },
    /// A threshold on the score separates wins from losses, so that the best slope is infinite.
    #[error(
        "a single score separates the wins from the losses in all {samples} samples, so the best slope is infinite: \
         add games, or take samples from earlier in the game"
    )]
    Separable { samples: u64 },
    /// The search ended where the gradient is not zero, or where the slope goes to infinity.
    #[error(
        "not converged after {passes} passes: look for a wrong mate threshold or outlying scores, or use the other \
         method"
    )]
    NotConverged {
        /// Largest component of the gradient of the mean loss, scores in units of 1000 centipawns.
        gradient: f64,
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
        "{have} sample(s) with the ratings of both players, a fit by rating needs {need}: take records with ratings, \
         or another `model`"
    )]
    TooFewRated {
        /// Number of samples with a rating difference.
        have: u64,
        need: u64,
    },
    /// Too few samples whose material is known.
    #[error(
        "{have} sample(s) with a count of the material, a fit by material needs {need}: take PGN records, a table of \
         samples with `material`, or `model` wdl, which goes by ply"
    )]
    TooFewWithMaterial {
        /// Number of samples with material.
        have: u64,
        need: u64,
    },
    /// The players have one rating in all samples, so that a dependence on it cannot be fitted.
    #[error("all {samples} samples are of players of one rating: add games of others, or take another `model`")]
    OneRating { samples: u64 },
    /// The samples are from one ply, so that a dependence on the ply cannot be fitted.
    #[error("nearly all of {samples} samples are from ply {ply}: take samples of more plies, or another `model`")]
    OnePly { ply: u32, samples: u64 },
    /// No draws, which the model of wins, draws and losses needs.
    #[error("none of {samples} samples is from a drawn game: take another `model`, or `draws` half")]
    NoDraws { samples: u64 },
    /// The threshold or the spread of the model of wins, draws and losses is not positive at some stage.
    #[error("the fitted curve falls at {unit} {stage}: too few samples there; add games or take another `model`")]
    WdlNotPositive {
        /// `ply` or `material`.
        unit: &'static str,
        stage: u32,
    },
    /// A model of a program's own, which is fitted where it is made.
    #[error("only the program that has this model fits it: take another `model`")]
    OwnModel,
    /// Too few games for a covariance.
    #[error("{have} game(s), an interval needs {need}: add games")]
    TooFewGames { have: u64, need: u64 },
}

fn word(outcome: &Outcome) -> Text {
    match outcome {
        Outcome::Win => text!("win"),
        Outcome::Draw => text!("draw"),
        Outcome::Loss => text!("loss"),
    }
}
