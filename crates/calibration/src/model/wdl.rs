//! Separate rates of wins, draws and losses, with a threshold and a spread that change during the game, as Stockfish's
//! WDL_model fits them: W(x) = 1/(1 + exp(-(x - a)/b)), L(x) = W(-x), D = 1 - W - L, where a and b are polynomials of
//! the third degree in the ply or the material.

use serde::{Deserialize, Serialize};

use super::definition::{Definition, Needs};
use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use crate::logistic::Logistic;
use crate::situation::{Situation, StageUnit};

pub(super) static WDL: Definition = Definition {
    name: "wdl",
    label: "wdl",
    summary: "Separate rates of wins, draws and losses, by ply",
    rank: Some(6),
    diagnosed: false,
    needs: Needs { ply: true, ..Needs::NONE },
    stage: Some(StageUnit::Ply),
    ..Definition::BASELINE
};

pub(super) static WDL_MATERIAL: Definition = Definition {
    name: "wdl_material",
    label: "wdl material",
    summary: "Separate rates of wins, draws and losses, by material",
    rank: Some(7),
    diagnosed: false,
    needs: Needs { material: true, ..Needs::NONE },
    stage: Some(StageUnit::Material),
    ..Definition::BASELINE
};

/// Coefficients of a, and of b.
pub const TERMS: usize = 4;

/// The model of wins, draws and losses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    test,
    schemars(description = "wins 1 / (1 + exp(-(x - a)/b)), losses 1 / (1 + exp(-(-x - a)/b)), the rest draws; \
                   win rate = wins + draws/2; a and b are polynomials of t = stage/64 (ply) or stage/58 (material), \
                   the highest power first")
)]
pub struct Wdl {
    /// What the stage is measured by.
    pub stage: StageUnit,
    /// Coefficients of a in centipawns, highest power first: a(t) = a₀t³ + a₁t² + a₂t + a₃, t = stage/target. A score
    /// of a wins half of the games.
    pub a: [f64; TERMS],
    /// Coefficients of b in centipawns, likewise.
    pub b: [f64; TERMS],
    /// Earlier plies, or less material, count as this.
    pub from_stage: u32,
    /// Later plies, or more material, count as this.
    pub to_stage: u32,
}

/// Shares of wins, draws and losses, which sum to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WdlRates {
    /// Share of wins.
    pub win: f64,
    /// Share of draws.
    pub draw: f64,
    /// Share of losses.
    pub loss: f64,
}

/// The highest stage: no game has a later ply, and no position more material.
pub const MOST_STAGE: u32 = 20_000;

impl Wdl {
    /// The stage of a situation, the middle of the range where it is not known.
    pub fn stage_of(&self, situation: &Situation) -> f64 {
        self.stage.of(situation).map_or(0.5 * (f64::from(self.from_stage) + f64::from(self.to_stage)), f64::from)
    }

    /// The stage, clamped to the range of the fit, over its target.
    fn relative(&self, stage: f64) -> f64 {
        stage.max(f64::from(self.from_stage)).min(f64::from(self.to_stage)) / self.stage.target()
    }

    /// The powers that the coefficients multiply at a stage, highest first.
    pub fn powers(&self, stage: f64) -> [f64; TERMS] {
        let t = self.relative(stage);
        [t * t * t, t * t, t, 1.0]
    }

    /// (a, b) in centipawns at a stage.
    pub fn a_and_b(&self, stage: f64) -> (f64, f64) {
        let t = self.relative(stage);
        let at = |c: &[f64; TERMS]| c.iter().fold(0.0, |sum, c| sum * t + c);
        (at(&self.a), at(&self.b))
    }

    /// Shares of wins, draws and losses at a score in centipawns.
    pub fn rates(&self, score_cp: f64, situation: &Situation) -> WdlRates {
        let (a, b) = self.a_and_b(self.stage_of(situation));
        let (win, loss) = (Logistic::at((score_cp - a) / b), Logistic::at((-score_cp - a) / b));
        // 1 - W - L without cancellation
        WdlRates { win: win.p, draw: win.q * loss.q * -libm::expm1(-2.0 * a / b), loss: loss.p }
    }

    /// The gradients of the shares of wins, draws and losses by the coefficients of a, then of b.
    pub fn rate_gradients(&self, score_cp: f64, situation: &Situation) -> [[f64; 2 * TERMS]; 3] {
        let stage = self.stage_of(situation);
        let ((a, b), powers) = (self.a_and_b(stage), self.powers(stage));
        let of = |x: f64| {
            let at = Logistic::at((x - a) / b);
            let by_z = at.p * at.q / b;
            let (by_a, by_b) = (-by_z, -by_z * (x - a) / b);
            std::array::from_fn(|i| powers[i % TERMS] * if i < TERMS { by_a } else { by_b })
        };
        let (win, loss): ([f64; 2 * TERMS], [f64; 2 * TERMS]) = (of(score_cp), of(-score_cp));
        [win, std::array::from_fn(|i| -win[i] - loss[i]), loss]
    }

    /// The log odds of winning, a draw half: ln (W + D/2) - ln (L + D/2), without cancellation at large scores.
    pub fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        let (a, b) = self.a_and_b(self.stage_of(situation));
        let (win, loss) = (Logistic::at((score_cp - a) / b), Logistic::at((-score_cp - a) / b));
        // (W + 1 - L)/(L + 1 - W); both halves share a factor that underflows beyond 700 spreads
        let (for_us, against) = (win.p + loss.q, loss.p + win.q);
        if for_us > 1e-300 && against > 1e-300 {
            libm::log(for_us) - libm::log(against)
        } else {
            // there one of the two terms is a plain exponential: e^{-(|x|-a)/b} + e^{-(|x|+a)/b} over 2
            let tail = (score_cp.abs() - a) / b - libm::log1p(libm::exp(-2.0 * a / b)) + std::f64::consts::LN_2;
            if score_cp > 0.0 { tail } else { -tail }
        }
    }
}

impl Form for Wdl {
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        Wdl::logit(self, score_cp, situation)
    }

    fn fitted_range(&self) -> Option<(StageUnit, [u32; 2])> {
        Some((self.stage, [self.from_stage, self.to_stage]))
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        let names = ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"];
        names.into_iter().zip(self.a.into_iter().chain(self.b)).collect()
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let stage = self.stage_of(situation);
        let (a, b) = self.a_and_b(stage);
        let (win, loss) = (Logistic::at((score_cp - a) / b), Logistic::at((-score_cp - a) / b));
        // of p = (1 + W - L)/2, and from there of the logit
        let (of_win, of_loss) = (win.p * win.q / b, loss.p * loss.q / b);
        let by_a = 0.5 * (of_loss - of_win);
        let by_b = 0.5 * (of_loss * (-score_cp - a) / b - of_win * (score_cp - a) / b);
        let rates = (0.5 * (win.p + loss.q), 0.5 * (loss.p + win.q));
        // far out both vanish at the same rate
        let scale = 1.0 / (rates.0 * rates.1).max(1e-300);
        let powers = self.powers(stage);
        Some([by_a, by_b].iter().flat_map(|by| powers.map(|power| by * power * scale)).collect())
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula {
            arguments: vec![self.stage.as_str()],
            constants: vec![
                ("AS", self.a.to_vec()),
                ("BS", self.b.to_vec()),
                ("FROM_STAGE", vec![f64::from(self.from_stage)]),
                ("TO_STAGE", vec![f64::from(self.to_stage)]),
                ("TARGET", vec![self.stage.target()]),
            ],
            steps: vec![
                match self.stage {
                    StageUnit::Ply => ("m", "max(FROM_STAGE, min(TO_STAGE, ply)) / TARGET"),
                    StageUnit::Material => ("m", "max(FROM_STAGE, min(TO_STAGE, material)) / TARGET"),
                },
                ("a", "((AS[0] * m + AS[1]) * m + AS[2]) * m + AS[3]"),
                ("b", "((BS[0] * m + BS[1]) * m + BS[2]) * m + BS[3]"),
                ("win", "1.0 / (1.0 + exp(min(700.0, (a - score_cp) / b)))"),
                ("loss", "1.0 / (1.0 + exp(min(700.0, (a + score_cp) / b)))"),
                ("draw", "1.0 - win - loss"),
                ("win_rate", "win + 0.5 * draw"),
            ],
        })
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_ascending(("from_stage", self.from_stage), ("to_stage", self.to_stage))?;
        // computations over all stages would not end on a range up to 2^32
        if self.to_stage > MOST_STAGE {
            let problem = format!("to_stage {} is above {MOST_STAGE}, the highest ply", self.to_stage);
            return Err(InvalidParameter::new("to_stage", problem));
        }
        for stage in self.from_stage..=self.to_stage {
            let (a, b) = self.a_and_b(f64::from(stage));
            if a.is_nan() || b.is_nan() || a <= 0.0 || b <= 0.0 {
                return Err(InvalidParameter::new("a", format!("a {a} or b {b} is not positive at stage {stage}")));
            }
        }
        Ok(())
    }
}
