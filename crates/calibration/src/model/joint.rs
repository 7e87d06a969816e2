//! One scale for all engines: u = w1 x + w3 d + a, with a the difference of the players' strengths, and wins, draws and
//! losses by u.
//!
//! The plain sigmoid's w2 holds the opponents that an engine met. Here the players' strengths are fitted together with
//! the slopes, so that the opponents are in the strengths and the score between equals has no offset: a position that
//! is worth x to one side is worth -x to the other. Engines that met, directly or by way of others, share the
//! strengths, the optimism, the width of the draws and the lapses; each slope is its own and has no prior.

use serde::{Deserialize, Serialize};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use super::lapse::{check_lapse, logit_gradient, logit_with};
use super::wdl::WdlRates;
use crate::draws::{Shares, expected_gradient, expected_logit, unit_logit};
use crate::sigmoid::Sigmoid;
use crate::situation::{Reading, Situation};

pub(super) static JOINT: Definition = Definition {
    name: "joint",
    label: "all engines together",
    summary: "All engines together, on one scale, with the strengths of their players: for councils and comparisons",
    rank: Some(3),
    lapses: true,
    knows_players: true,
    ..Definition::BASELINE
};

/// Wins lapse - drawn/2 + (1 - 2 lapse) / (1 + exp(`draw_width` - u)), losses lapse - drawn/2 + (1 - 2 lapse) / (1 +
/// exp(`draw_width` + u)), the rest draws; win rate = wins + draws/2, which is lapse + (1 - 2 lapse) / (1 + exp(-u))
/// where `draw_width` is 0. u = w1 x between equals, u = `field_w1` x - w2 against the opponents of the fit, and
/// u = w1 x + w3 d + strength - optimism against them at a known rating difference d. Engines that are fitted together
/// share w3, lapse, drawn, `draw_width` and optimism.
///
/// Between equals w2 does not remain: engines that look at one position would otherwise be forecast by who looks at it,
/// not by what it is worth. The slope in the field is another one, because who meets weak opponents has high scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Slope, per centipawn.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub w1: f64,
    /// Offset against the opponents of the fit, in logits: at score 0 u is -w2 there.
    pub w2: f64,
    /// What a logit of rating difference adds to u.
    pub w3: f64,
    /// Share of games won, and of games lost, whatever the score, a draw half of each; the same for all engines.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub lapse: f64,
    /// The part of twice `lapse` that is games drawn at any score; the rest is decided games that follow no score. The
    /// same for all engines.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub drawn: f64,
    /// Half the width of the draws, in logits: between equals a score of `draw_width`/w1 wins as often as not. 0 where
    /// no game was drawn; the same for all engines.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub draw_width: f64,
    /// By how much scores promise more than the results against known opponents hold, in logits; the same for all
    /// engines of the fit.
    pub optimism: f64,
    /// How much stronger the engine is than its opponents beyond what the ratings say, in logits, mean over the
    /// samples.
    pub strength: f64,
    /// Slope against the opponents of the fit, per centipawn.
    #[cfg_attr(test, schemars(extend("exclusiveMinimum" = 0)))]
    pub field_w1: f64,
}

/// Places of the parameters of which results depend directly, in the order of the covariance.
const LAPSE: usize = 3;
const DRAWN: usize = 4;
const WIDTH: usize = 5;
/// Widths are less than this: draws are as good as certain then.
const WIDEST: f64 = 100.0;

impl Joint {
    fn lapses(&self) -> [f64; 2] {
        [self.lapse; 2]
    }

    /// Returns `true` if games were drawn, so that draws are forecast, too.
    pub fn separates_draws(&self) -> bool {
        self.draw_width > 0.0 || self.drawn > 0.0
    }

    /// The log odds of the expected result at a logit u.
    fn expected(&self, u: f64) -> f64 {
        logit_with(expected_logit(u, self.draw_width), self.lapses())
    }

    /// The logit of the expected result at a known advantage in logits (rating difference and strengths of the
    /// players), in a reading.
    pub fn against(&self, reading: Reading, score_cp: f64, advantage: f64) -> f64 {
        self.expected(self.u_against(reading, score_cp, advantage))
    }

    fn u_against(&self, reading: Reading, score_cp: f64, advantage: f64) -> f64 {
        let optimism = match reading {
            Reading::Field => self.optimism,
            Reading::Equal => 0.0,
        };
        self.w1 * score_cp + advantage - optimism
    }

    /// The logit u between equals, or in the field: against the opponents of the fit, or at a known rating difference
    /// against players of their strength.
    fn u(&self, reading: Reading, score_cp: f64, situation: &Situation) -> f64 {
        match (reading, situation.strength) {
            (Reading::Equal, d) => self.w1 * score_cp + self.w3 * d.unwrap_or(0.0),
            (Reading::Field, Some(d)) => self.w1 * score_cp + self.w3 * d + self.strength - self.optimism,
            (Reading::Field, None) => self.field_w1 * score_cp - self.w2,
        }
    }

    /// The gradient of something by the parameters, given its derivatives by u and by lapse, drawn and the width.
    fn gradient(
        reading: Reading,
        score_cp: f64,
        situation: &Situation,
        by_u: f64,
        [lapse, drawn, width]: [f64; 3],
    ) -> [f64; 9] {
        let (x, u) = (by_u * score_cp, by_u);
        match (reading, situation.strength) {
            (Reading::Equal, d) => [x, 0.0, u * d.unwrap_or(0.0), lapse, drawn, width, 0.0, 0.0, 0.0],
            (Reading::Field, Some(d)) => [x, 0.0, u * d, lapse, drawn, width, -u, u, 0.0],
            (Reading::Field, None) => [0.0, -u, 0.0, lapse, drawn, width, 0.0, 0.0, x],
        }
    }

    fn expected_gradient(&self, reading: Reading, score_cp: f64, situation: &Situation) -> Vec<f64> {
        let u = self.u(reading, score_cp, situation);
        let [z, low, high] = logit_gradient(expected_logit(u, self.draw_width), self.lapses());
        let [by_u, by_width] = expected_gradient(u, self.draw_width);
        Self::gradient(reading, score_cp, situation, z * by_u, [low + high, 0.0, z * by_width]).to_vec()
    }

    fn rates_at(&self, u: f64) -> WdlRates {
        let (body, [win, draw, loss]) = (1.0 - 2.0 * self.lapse, Shares::at(u, self.draw_width).values);
        let decided = self.lapse - 0.5 * self.drawn;
        WdlRates { win: decided + body * win, draw: self.drawn + body * draw, loss: decided + body * loss }
    }

    /// The shares of wins, draws and losses at a score in centipawns.
    pub fn rates(&self, reading: Reading, score_cp: f64, situation: &Situation) -> WdlRates {
        self.rates_at(self.u(reading, score_cp, situation))
    }

    /// The gradients of the shares of wins, draws and losses by the parameters.
    pub fn rate_gradients(&self, reading: Reading, score_cp: f64, situation: &Situation) -> [[f64; 9]; 3] {
        let (body, shares) =
            (1.0 - 2.0 * self.lapse, Shares::at(self.u(reading, score_cp, situation), self.draw_width));
        std::array::from_fn(|k| {
            let (lapse, drawn) = if k == 1 { (0.0, 1.0) } else { (1.0, -0.5) };
            let direct = [lapse - 2.0 * shares.values[k], drawn, body * shares.by_width[k]];
            Self::gradient(reading, score_cp, situation, body * shares.by_logit[k], direct)
        })
    }

    /// 1 over the score between equals with an expected result of .731, but for lapses: w1 where the width is 0. With
    /// its gradient.
    pub(crate) fn unit_slope(&self) -> (f64, [f64; 9]) {
        let [u, by_width] = unit_logit(self.draw_width);
        let mut gradient = [0.0; 9];
        (gradient[0], gradient[WIDTH]) = (1.0 / u, -self.w1 * by_width / (u * u));
        (self.w1 / u, gradient)
    }

    /// The score that wins as often as not between equals but for lapses, and the spread 1/w1, with their gradients.
    pub(crate) fn a_and_b(&self) -> [(f64, [f64; 9]); 2] {
        let (b, mut of_a, mut of_b) = (1.0 / self.w1, [0.0; 9], [0.0; 9]);
        (of_a[0], of_a[WIDTH], of_b[0]) = (-self.draw_width * b * b, b, -b * b);
        [(self.draw_width * b, of_a), (b, of_b)]
    }

    /// The gradient of the share of decided games that follow no score.
    pub(crate) fn lapses_gradient() -> [f64; 9] {
        let mut gradient = [0.0; 9];
        (gradient[LAPSE], gradient[DRAWN]) = (2.0, -1.0);
        gradient
    }
}

impl Form for Joint {
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.expected(self.u(Reading::Field, score_cp, situation))
    }

    fn equal_logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.expected(self.u(Reading::Equal, score_cp, situation))
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("w1", self.w1),
            ("w2", self.w2),
            ("w3", self.w3),
            ("lapse", self.lapse),
            ("drawn", self.drawn),
            ("draw_width", self.draw_width),
            ("optimism", self.optimism),
            ("strength", self.strength),
            ("field_w1", self.field_w1),
        ]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        Some(self.expected_gradient(Reading::Field, score_cp, situation))
    }

    fn equal_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        Some(self.expected_gradient(Reading::Equal, score_cp, situation))
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(Sigmoid { w1: self.unit_slope().0, w2: 0.0 })
    }

    fn formula(&self) -> Option<Formula> {
        Some(match self.separates_draws() {
            false => Formula::lapse(self.w1, self.lapse),
            true => Formula::of_score(
                [("W1", self.w1), ("WIDTH", self.draw_width), ("LAPSE", self.lapse), ("DRAWN", self.drawn)],
                &[
                    ("decided", "LAPSE - 0.5 * DRAWN"),
                    ("body", "1.0 - 2.0 * LAPSE"),
                    ("win", "decided + body / (1.0 + exp(min(700.0, WIDTH - W1 * score_cp)))"),
                    ("loss", "decided + body / (1.0 + exp(min(700.0, WIDTH + W1 * score_cp)))"),
                    ("draw", "1.0 - win - loss"),
                    ("win_rate", "win + 0.5 * draw"),
                ],
            ),
        })
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        check_lapse(self.lapse)?;
        // both are rounded in files
        if !(0.0..=2.0 * self.lapse + 1e-8).contains(&self.drawn) {
            let problem = format!("expected a share from 0 to twice lapse, found {}", self.drawn);
            return Err(InvalidParameter::new("drawn", problem));
        }
        if !(0.0..WIDEST).contains(&self.draw_width) {
            let problem = format!("expected a number from 0 to below {WIDEST}, found {}", self.draw_width);
            return Err(InvalidParameter::new("draw_width", problem));
        }
        InvalidParameter::unless_positive("field_w1", self.field_w1)?;
        InvalidParameter::unless_positive("w1", self.w1)
    }
}
