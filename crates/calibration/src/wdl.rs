//! Wins, draws and losses apart: their rates at a score, and the score of a pawn.

use crate::estimate::Estimate;
use crate::file::Calibration;
use crate::logistic::share_interval;
use crate::model::{Model, TERMS, Wdl};
use crate::situation::{Reading, Situation, StageUnit};

/// Shares of wins, draws and losses at a score, which sum to 1, with their 95% intervals.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct WdlEstimate {
    /// Share of wins.
    pub win: Estimate,
    /// Share of draws.
    pub draw: Estimate,
    /// Share of losses.
    pub loss: Estimate,
}

impl WdlEstimate {
    /// The shares in permille as engines print them after `wdl`: whole numbers that sum to 1000; `None` for the shares
    /// of a score that is NaN.
    pub fn permille(&self) -> Option<[u16; 3]> {
        permille([self.win.value, self.draw.value, self.loss.value])
    }
}

/// Shares of wins, draws and losses as whole numbers that sum to 1000: the draws take what rounding leaves. `None` if
/// one of them is NaN.
pub fn permille(shares @ [win, _, loss]: [f64; 3]) -> Option<[u16; 3]> {
    // only a rounded 500.5 on both sides exceeds 1000
    let of = |share: f64| (1000.0 * share).round().clamp(0.0, 1000.0) as u16;
    let (win, loss) = match (of(win), of(loss)) {
        (w, l) if w + l > 1000 => (w, 1000 - w),
        both => both,
    };
    (!shares.iter().any(|share| share.is_nan())).then(|| [win, 1000 - win - loss, loss])
}

/// The score that wins half of the games at the reference stage, and the spread there.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct PawnValue {
    /// What the stage is measured by.
    pub unit: StageUnit,
    /// The reference stage: material 58 or ply 64.
    pub stage: f64,
    /// a: the score of 50% wins.
    pub a: Estimate,
    /// b: the spread of the curve.
    pub b: Estimate,
}

impl Calibration {
    /// The chosen model of wins, draws and losses by the stage of the game; `None` for other models.
    pub fn wdl_model(&self) -> Option<&Wdl> {
        match &self.model.model {
            Model::Wdl(wdl) => Some(wdl),
            _ => None,
        }
    }

    /// Returns `true` if the chosen model gives the shares of wins, draws and losses: [`Calibration::wdl`] has them.
    pub fn separates_draws(&self) -> bool {
        match &self.model.model {
            Model::Wdl(_) => true,
            Model::Joint(joint) => joint.separates_draws(),
            _ => false,
        }
    }

    /// The constants between equals in the form of Stockfish's WDL_model, a = `draw_width`/w1 and b = 1/w1 in every
    /// stage; the model itself where it has this form. `None` for a model of the win rate alone.
    pub fn wdl_constants(&self) -> Option<Wdl> {
        match &self.model.model {
            Model::Wdl(wdl) => Some(*wdl),
            Model::Joint(joint) if joint.separates_draws() => {
                let constant = |value: f64| std::array::from_fn(|i| if i + 1 == TERMS { value } else { 0.0 });
                let (a, b) = (constant(joint.draw_width / joint.w1), constant(1.0 / joint.w1));
                Some(Wdl { stage: StageUnit::Ply, a, b, from_stage: 0, to_stage: 0 })
            }
            _ => None,
        }
    }

    /// Shares of wins, draws and losses at a score in centipawns, in a reading. The intervals are computed on their
    /// logits, like those of [`Calibration::interval`]. `None` for a model of the win rate alone. Models by the stage
    /// of the game have one reading.
    pub fn wdl(&self, reading: Reading, score_cp: f64, situation: &Situation) -> Option<WdlEstimate> {
        let (rates, gradients) = match &self.model.model {
            Model::Wdl(wdl) => {
                (wdl.rates(score_cp, situation), wdl.rate_gradients(score_cp, situation).map(|of| of.to_vec()))
            }
            Model::Joint(joint) if joint.separates_draws() => (
                joint.rates(reading, score_cp, situation),
                joint.rate_gradients(reading, score_cp, situation).map(|of| of.to_vec()),
            ),
            _ => return None,
        };
        let estimate = |value: f64, gradient: &[f64]| {
            let spread = value * (1.0 - value);
            let interval = self
                .variance_along(gradient)
                .filter(|_| spread > 1e-12)
                .map(|variance| share_interval(value, self.quantile() * variance.sqrt() / spread));
            Estimate { value, interval }
        };
        let [win, draw, loss] = &gradients;
        let shares = [estimate(rates.win, win), estimate(rates.draw, draw), estimate(rates.loss, loss)];
        // the three are 1 together: the interval of a share near 0, which is wide in logits, ends where those of the
        // others leave no room
        let low = |share: &Estimate| share.interval.map_or(0.0, |[low, _]| low);
        let room = 1.0 - shares.iter().map(low).sum::<f64>();
        let [win, draw, loss] = shares.map(|share| {
            let most = (low(&share) + room).max(share.value);
            Estimate { interval: share.interval.map(|[low, high]| [low, high.min(most)]), ..share }
        });
        Some(WdlEstimate { win, draw, loss })
    }

    /// The score of 50% wins and the spread at the stage to which Stockfish's constants refer.
    pub fn pawn_value(&self) -> Option<PawnValue> {
        let model = self.wdl_model()?;
        let stage = model.stage.target();
        let (a, b) = self.a_and_b(stage)?;
        Some(PawnValue { unit: model.stage, stage, a, b })
    }

    /// a and b at a stage, with their 95% intervals: between equals a score of a wins as often as not, and b is the
    /// spread of the curve. `None` for a model of the win rate alone; models without stages have one a and one b.
    pub fn a_and_b(&self, stage: f64) -> Option<(Estimate, Estimate)> {
        let estimate = |value: f64, gradient: &[f64]| {
            let half = self.variance_along(gradient).map(|v| self.quantile() * v.sqrt());
            Estimate { value, interval: half.map(|h| [value - h, value + h]) }
        };
        let (a, b) = match &self.model.model {
            Model::Wdl(model) => {
                let ((a, b), powers, none) = (model.a_and_b(stage), model.powers(stage), [0.0; TERMS]);
                let [of_a, of_b] = [[powers, none], [none, powers]];
                (estimate(a, of_a.as_flattened()), estimate(b, of_b.as_flattened()))
            }
            Model::Joint(joint) if joint.separates_draws() => {
                let [(a, of_a), (b, of_b)] = joint.a_and_b();
                (estimate(a, &of_a), estimate(b, &of_b))
            }
            _ => return None,
        };
        // both are positive
        Some((a, b.possible(f64::INFINITY)))
    }

    /// The variance of a function of the parameters of the chosen model with this gradient; `None` without covariance.
    pub(crate) fn variance_along(&self, gradient: &[f64]) -> Option<f64> {
        let covariance = self.models.get(&self.model.kind)?.covariance.as_ref()?;
        let product = |row: &Vec<f64>| row.iter().zip(gradient).map(|(v, g)| v * g).sum::<f64>();
        // rounding can make it negative if the correlation is 1
        Some(covariance.iter().zip(gradient).map(|(row, g)| g * product(row)).sum::<f64>().max(0.0))
    }
}
