//! The win rate of people by score, rating and time control.
//!
//! An engine's score promises more to players who can win a won game: the logarithm of the slope is a parabola in the
//! rating and a straight line in the logarithm of the time.

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Needs};
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use crate::sigmoid::Sigmoid;
use crate::situation::Situation;

pub(super) static PEOPLE: Definition = Definition {
    name: "people",
    label: "slope by rating and time control",
    summary: "For games of people: the slope depends on the rating of the players and on the time control",
    rank: Some(7),
    diagnosed: false,
    on_request: true,
    knows_players: true,
    needs: Needs { rating: true, level: true, ..Needs::NONE },
    ..Definition::BASELINE
};

/// The values that a model was fitted to. Those outside count as the nearer end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// 1% of the samples lie below.
    pub from: f64,
    /// The value that replaces an unknown one.
    pub middle: f64,
    /// 1% of the samples lie above.
    pub to: f64,
}

impl Span {
    /// Whether the model knows this value.
    pub fn contains(&self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }

    /// The value within the span; the middle for an unknown one.
    fn within(&self, value: Option<f64>) -> f64 {
        // not `clamp`, which panics where a caller made `from` the larger
        value.map_or(self.middle, |value| value.max(self.from).min(self.to))
    }

    fn check(&self, field: &'static str) -> Result<(), InvalidParameter> {
        if self.from <= self.middle && self.middle <= self.to {
            return Ok(());
        }
        let problem = format!("from {}, middle {} and to {} are not in this order", self.from, self.middle, self.to);
        Err(InvalidParameter::new(field, problem))
    }
}

/// p(x, R, T, d) = 1/(1 + exp(-w1(R, T) x + w2 - w3 d)) with
/// ln w1(R, T) = ln w1 + `per_elo` e + `per_elo_squared` e² + `per_doubling` log2(T/T0), e = R - R0. R0 and T0 are
/// the `middle` of `rating` and `seconds` (missing without time controls), whose `from` and `to` clamp R and T.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct People {
    /// Slope at the middle rating R0 and the middle time T0, per centipawn.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub w1: f64,
    /// Offset between equals, in logits; the sign of Takeuchi 2018.
    pub w2: f64,
    /// What a logit of rating difference adds to the logit of the win rate.
    pub w3: f64,
    /// Change of the logarithm of the slope per rating point.
    pub per_elo: f64,
    /// The same for the square of the rating points from the middle.
    pub per_elo_squared: f64,
    /// Change of the logarithm of the slope where players have twice the time.
    pub per_doubling: f64,
    /// Mean rating R of the two players.
    pub rating: Span,
    /// Seconds T of a player for 40 moves; missing where no game has a time control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<Span>,
}

impl People {
    /// Rating points from the middle, and doublings of the time from its middle.
    pub fn distances(&self, situation: &Situation) -> [f64; 2] {
        let doublings = |seconds: &Span| libm::log2(seconds.within(situation.seconds) / seconds.middle);
        let elo = self.rating.within(situation.rating) - self.rating.middle;
        [elo, self.seconds.as_ref().map_or(0.0, doublings)]
    }

    /// The sigmoid in a situation.
    pub fn sigmoid(&self, situation: &Situation) -> Sigmoid {
        let [elo, doublings] = self.distances(situation);
        let growth = (self.per_elo + self.per_elo_squared * elo) * elo + self.per_doubling * doublings;
        Sigmoid { w1: self.w1 * libm::exp(growth), w2: self.w2 - self.w3 * situation.strength.unwrap_or(0.0) }
    }
}

impl Form for People {
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.sigmoid(situation).logit(score_cp)
    }

    fn score(&self, win_rate: f64, situation: &Situation) -> Option<f64> {
        self.sigmoid(situation).score(win_rate)
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("w1", self.w1),
            ("w2", self.w2),
            ("w3", self.w3),
            ("per_elo", self.per_elo),
            ("per_elo_squared", self.per_elo_squared),
            ("per_doubling", self.per_doubling),
        ]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let [elo, doublings] = self.distances(situation);
        let share = self.sigmoid(situation).w1 * score_cp;
        let strength = situation.strength.unwrap_or(0.0);
        Some(vec![share / self.w1, -1.0, strength, share * elo, share * elo * elo, share * doublings])
    }

    fn formula(&self) -> Option<Formula> {
        let number = |name, value| (name, vec![value]);
        let span = |names: [&'static str; 3], span: &Span| {
            [span.from, span.middle, span.to].into_iter().zip(names).map(|(value, name)| (name, vec![value])).collect()
        };
        let ratings: Vec<_> = span(["FROM_RATING", "MIDDLE_RATING", "TO_RATING"], &self.rating);
        let times: Option<Vec<_>> =
            self.seconds.as_ref().map(|seconds| span(["FROM_SECONDS", "MIDDLE_SECONDS", "TO_SECONDS"], seconds));
        let mut constants = vec![
            number("W1", self.w1),
            number("PER_ELO", self.per_elo),
            number("PER_ELO_SQUARED", self.per_elo_squared),
        ];
        constants.extend(ratings);
        let mut steps = vec![
            ("elo", "max(FROM_RATING, min(TO_RATING, rating)) - MIDDLE_RATING"),
            ("growth", "(PER_ELO + PER_ELO_SQUARED * elo) * elo"),
        ];
        let mut arguments = vec!["rating"];
        if let Some(times) = times {
            arguments.push("seconds");
            constants.push(number("LOG_PER_LOG_TIME", self.per_doubling / std::f64::consts::LN_2));
            constants.extend(times);
            let time = "max(FROM_SECONDS, min(TO_SECONDS, seconds)) / MIDDLE_SECONDS";
            steps.extend([("time", time), ("slope", "W1 * exp(growth + LOG_PER_LOG_TIME * log1p(time - 1.0))")]);
        } else {
            steps.push(("slope", "W1 * exp(growth)"));
        }
        steps.push(("win_rate", "1.0 / (1.0 + exp(min(700.0, -slope * score_cp)))"));
        Some(Formula { arguments, constants, steps })
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_positive("w1", self.w1)?;
        self.rating.check("rating")?;
        let Some(seconds) = &self.seconds else { return Ok(()) };
        seconds.check("seconds")?;
        InvalidParameter::unless_positive("seconds", seconds.from)
    }
}
