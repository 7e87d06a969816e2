//! Win rates, their inverse and their intervals, by the chosen model of a calibration.

use crate::estimate::Estimate;
use crate::file::Calibration;
use crate::logistic::share_interval;
use crate::model::{Joint, Model, Sigmoid};
use crate::quantile::{Z_95, quantile_95};
use crate::situation::{Reading, Situation};

/// A score in the view of the side to move, as an engine reports it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// Centipawns; positive if the side to move expects to win.
    Cp(f64),
    /// A mate that the engine announces.
    Mate {
        /// `true` if the side to move mates (`mate 5`, `mate +`), `false` if it is mated (`mate -4`, `mate -`).
        wins: bool,
        /// Plies to the mate, if the engine reports them.
        plies: Option<u32>,
    },
}

/// Relative step of the score for the slope of the logit.
const STEP: f64 = 1e-4;

impl Calibration {
    /// The win rate in 0..=1 of a score between players of equal strength, in the view of the side to move, in the
    /// middle of a game: the reading that may be compared between engines.
    ///
    /// Same as [`Calibration::win_rate_in`] of [`Reading::Equal`] with an unknown situation.
    pub fn win_rate(&self, score: Score) -> f64 {
        self.win_rate_in(Reading::Equal, score, &Situation::default())
    }

    /// The win rate in 0..=1 of a score, in the view of the side to move, in a situation.
    ///
    /// A model uses only the parts of the situation that it was fitted with. An unknown ply or material counts as the
    /// middle of the fitted samples; an unknown rating difference is 0 in the equal reading. A council passes the ply
    /// and the same rating difference to all members. An announced mate is 1 or 0, regardless of its distance.
    /// Centipawns of any size go through the chosen model (see [`Calibration::classify`] for scores that mean a mate);
    /// NaN gives NaN.
    pub fn win_rate_in(&self, reading: Reading, score: Score, situation: &Situation) -> f64 {
        match score {
            Score::Cp(cp) => Sigmoid::STANDARD.win_rate(self.logit(reading, cp, situation)),
            Score::Mate { wins, .. } => f64::from(u8::from(wins)),
        }
    }

    /// The win rates that hopeless and won positions approach: 0 and 1 but for the results that follow no score.
    pub fn limits(&self, reading: Reading) -> [f64; 2] {
        // beyond the scores of any engine, and of any slope
        [-1e9, 1e9].map(|cp| self.win_rate_in(reading, Score::Cp(cp), &Situation::default()))
    }

    /// The log odds of [`Calibration::win_rate_in`] for a score in centipawns.
    pub fn logit(&self, reading: Reading, score_cp: f64, situation: &Situation) -> f64 {
        self.model.model.logit_in(reading, score_cp, situation)
    }

    /// The score in centipawns with this win rate, the inverse of [`Calibration::win_rate_in`].
    ///
    /// `None` unless 0 < `win_rate` < 1, and if no score has this win rate.
    pub fn score(&self, reading: Reading, win_rate: f64, situation: &Situation) -> Option<f64> {
        match reading {
            Reading::Field => self.model.model.score(win_rate, situation),
            Reading::Equal => self.model.model.equal_score(win_rate, situation),
        }
    }

    /// The 95% interval of the win rate of a score; `None` if the chosen model has no covariance, for mates and for
    /// NaN. [`Calibration::estimate`] gives both.
    ///
    /// Uses the delta method on the logit (see [`Calibration::logit_error`]); the ends of its interval go through the
    /// sigmoid, so they stay within 0..=1. Between equals where games are drawn it is made on the logit of wins less
    /// losses: how nearly even a small score is hangs on the width of the draws by its exponential. The covariance is
    /// clustered by game, the quantile that of Student's t by the number of games. The interval describes the
    /// uncertainty of the curve, not the scatter of results around it.
    pub fn interval(&self, reading: Reading, score: Score, situation: &Situation) -> Option<(f64, f64)> {
        let Score::Cp(score_cp) = score else { return None };
        if let (Reading::Equal, None, Model::Joint(joint)) = (reading, situation.strength, &self.model.model)
            && joint.separates_draws()
        {
            return self.interval_of_lead(score_cp, situation);
        }
        let half = self.quantile() * self.logit_error(reading, score_cp, situation)?;
        let logit = self.logit(reading, score_cp, situation);
        if logit.is_nan() || half.is_nan() {
            return None;
        }
        Some((Sigmoid::STANDARD.win_rate(logit - half), Sigmoid::STANDARD.win_rate(logit + half)))
    }

    /// The interval of a win rate between equals from that of ln (2p - 1)/(2 - 2p), p being that of the score's size.
    fn interval_of_lead(&self, score_cp: f64, situation: &Situation) -> Option<(f64, f64)> {
        let error = self.logit_error(Reading::Equal, score_cp, situation)?;
        let rate = Sigmoid::STANDARD.win_rate(self.logit(Reading::Equal, score_cp.abs(), situation));
        let lead = 2.0 * rate - 1.0;
        if lead.is_nan() {
            return None;
        }
        if !(lead > 0.0 && rate < 1.0) {
            return Some((rate, rate));
        }
        let half = self.quantile() * error * rate / lead;
        let [low, high] = share_interval(lead, half).map(|lead| 0.5 + 0.5 * lead);
        Some(if score_cp > 0.0 { (low, high) } else { (1.0 - high, 1.0 - low) })
    }

    /// The slope per centipawn of the chosen model with the half of its 95% interval; `None` for a model without both.
    ///
    /// It is the mean slope between equals up to the score that is worth one logit, 1 over
    /// [`Calibration::constant`]: w1 of a sigmoid. A model of draws by stage is read at that of
    /// [`Calibration::pawn_value`].
    pub fn slope(&self) -> Option<(f64, f64)> {
        let fit = self.models.get(&self.model.kind)?;
        if let Model::Joint(joint) = &fit.model {
            let (slope, gradient) = joint.unit_slope();
            return Some((slope, self.quantile() * self.variance_along(&gradient)?.sqrt()));
        }
        // its parameters mean what they want
        let is_own = matches!(fit.model, Model::Own(_));
        let Some((at, (_, w1))) =
            fit.model.parameters().into_iter().enumerate().find(|(_, (name, _))| *name == "w1" && !is_own)
        else {
            let score = self.score_of_one_logit()?;
            let at = self.reference();
            let logit = |share: f64| self.logit(Reading::Equal, share * score, &at);
            let logits_per_share = (logit(1.0 + STEP) - logit(1.0 - STEP)) / (2.0 * STEP);
            let error = self.logit_error(Reading::Equal, score, &at)? / logits_per_share;
            return Some((1.0 / score, self.quantile() * error / score));
        };
        let variance = *fit.covariance.as_ref()?.get(at)?.get(at)?;
        Some((w1, self.quantile() * variance.max(0.0).sqrt()))
    }

    fn score_of_one_logit(&self) -> Option<f64> {
        self.score(Reading::Equal, Sigmoid::STANDARD.win_rate(1.0), &self.reference())
    }

    /// The situation that one constant for the whole model is read in.
    fn reference(&self) -> Situation {
        self.wdl_model().map_or_else(Situation::default, |wdl| wdl.stage.at_target())
    }

    /// The score in centipawns that is worth one logit between equals, an expected result of .731: 1/w1 of a sigmoid,
    /// the constant that shogi programs call Ponanza's. Where draws bend the curve it is larger than 1/w1, and the
    /// score that wins as often as not is another one, a of [`Calibration::a_and_b`]. The interval is that of the
    /// slope, and is missing where it contains 0.
    pub fn constant(&self) -> Option<Estimate> {
        let value = match self.sigmoid() {
            Some(sigmoid) => 1.0 / sigmoid.w1,
            None => self.score_of_one_logit()?,
        };
        let ends = self.slope().filter(|(w1, half)| w1 > half);
        Some(Estimate { value, interval: ends.map(|(w1, half)| [1.0 / (w1 + half), 1.0 / (w1 - half)]) })
    }

    /// The share of results that follow no score; `None` for a model without lapses. Games that are drawn at any score
    /// are not among them where the model tells them apart, see [`Calibration::drawn`].
    pub fn lapses(&self) -> Option<Estimate> {
        let parameters = self.model.model.parameters();
        let gradient: Vec<f64> = match &self.model.model {
            Model::Joint(_) => Joint::lapses_gradient().to_vec(),
            Model::Own(_) => return None,
            // as many games are won as lost
            _ => parameters.iter().map(|(name, _)| if *name == "lapse" { 2.0 } else { 0.0 }).collect(),
        };
        let value: f64 = parameters.iter().zip(&gradient).map(|((_, value), weight)| value * weight).sum();
        let half = self.variance_along(&gradient).map(|variance| self.quantile() * variance.sqrt());
        let estimate = Estimate { value, interval: half.map(|half| [value - half, value + half]) };
        gradient.iter().any(|weight| *weight > 0.0).then_some(estimate.possible(1.0))
    }

    /// The share of games that are drawn at any score; `None` for a model that does not tell them from other results
    /// that follow no score.
    pub fn drawn(&self) -> Option<f64> {
        match &self.model.model {
            Model::Joint(joint) => Some(joint.drawn),
            _ => None,
        }
    }

    /// The quantile of 95% intervals of the chosen model: Student's t by its games, normal where these are not known.
    pub fn quantile(&self) -> f64 {
        let games = self.models.get(&self.model.kind).and_then(|fit| fit.games);
        games.map_or(Z_95, quantile_95)
    }

    /// The standard error of the logit at a score in centipawns: √(gᵀVg) with g its gradient by the parameters (for the
    /// equal reading of a sigmoid x² V11); `None` if the chosen model has no covariance.
    pub fn logit_error(&self, reading: Reading, score_cp: f64, situation: &Situation) -> Option<f64> {
        let gradient = match reading {
            Reading::Field => self.model.model.logit_gradient(score_cp, situation)?,
            Reading::Equal => self.model.model.equal_gradient(score_cp, situation)?,
        };
        self.variance_along(&gradient).map(f64::sqrt)
    }

    /// Interprets a number that an engine reports as centipawns: from the mate threshold of the file on it is an
    /// announced mate of unknown distance.
    pub fn classify(&self, score_cp: f64) -> Score {
        match self.mates.and_then(|mates| mates.threshold_cp) {
            Some(threshold) if score_cp.abs() >= threshold => Score::Mate { wins: score_cp > 0.0, plies: None },
            _ => Score::Cp(score_cp),
        }
    }

    /// Same as [`Calibration::classify`] for a score that may already be a mate.
    pub fn classify_score(&self, score: Score) -> Score {
        match score {
            Score::Cp(cp) => self.classify(cp),
            mate => mate,
        }
    }

    /// The calibration reduced to what turns scores into win rates: without other models, curve, samples and
    /// provenance.
    ///
    /// It is still a valid calibration file; floats have its 9 digits.
    pub fn without_evidence(&self) -> Self {
        let kind = self.model.kind;
        let bare = Self {
            models: self.models.iter().filter(|(k, _)| **k == kind).map(|(k, fit)| (*k, fit.clone())).collect(),
            field: None,
            doubts: Vec::new(),
            unknown: Vec::new(),
            curve: None,
            scores: None,
            sampling: None,
            provenance: None,
            proper_scores: None,
            ..self.clone()
        };
        // through the file format, because numbers in memory may have more digits
        match bare.to_json().and_then(|text| Self::from_json(&text, &self.engine.name)) {
            Ok(read) => read,
            Err(_) => bare,
        }
    }

    /// The chosen model between equals as a sigmoid of the score, see [`Model::sigmoid`]; its w2 is 0.
    pub fn sigmoid(&self) -> Option<Sigmoid> {
        self.model.model.sigmoid().map(|sigmoid| Sigmoid { w2: 0.0, ..sigmoid })
    }
}
