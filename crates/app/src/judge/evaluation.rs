//! An existing calibration judged on games that it was not made from.

use std::collections::BTreeMap;

use evalcurve_calibration::logistic::logit;
use evalcurve_fit::calibration::{Calibration, MatePolicy, Reading};
use evalcurve_fit::fit::{Case, Model, Situation};
use evalcurve_fit::normal::two_sided;
use evalcurve_fit::validate::{
    Estimate, Forecast, Reliability, ScoreOptions, Scores, ValidateError, log_loss_difference, recalibrate_from,
    reliability, scores,
};
use evalcurve_records::sample::{NameId, Sample, SampleTable};
use evalcurve_words::key;
use evalcurve_words::language::Language;
use serde::Serialize;

use crate::calibrate::mates::{Threshold, Thresholds};
use crate::calibrate::{cases, digest, mark_mates};
use crate::judge::Verdict;

/// How right a calibration is on new games.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The engine.
    pub name: String,
    /// Samples that are mates by the threshold of the calibration and are left out, as they were when it was made.
    pub mates_left_out: u64,
    /// Samples whose opponent's strength the calibration knows.
    pub known_opponents: u64,
    /// How right its forecasts are; the samples and games are those that were judged.
    #[serde(flatten)]
    pub judged: Judged,
    /// Whether these are the very samples that it was made from, so that it looks better than it is.
    pub own_samples: bool,
}

/// How right the forecasts of a model are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    #[serde(flatten)]
    pub scores: Scores,
    /// By which factor the slope of these games is that of the forecasts; the interval has the errors of both.
    pub scale: Option<Estimate>,
    /// By how many logits these games were won more often than forecast at score 0, with the same.
    pub shift: Option<Estimate>,
    /// Log loss less that of a forecast that knows no score but the mean result of these very samples; above 0 the
    /// forecasts are worse.
    pub against_constant: Option<Estimate>,
    /// The reliability diagram.
    #[serde(skip)]
    pub reliability: Reliability,
}

/// The verdict looks at the scale and at the shift: each is off at this level, so that 5% of right calibrations are
/// called wrong.
const LEVEL: f64 = 0.025;

impl Evaluation {
    /// As [`Judged::within`].
    pub fn within(&self, tolerance_percent: f64) -> Verdict {
        self.judged.within(tolerance_percent)
    }

    /// What the scores say, in a few words.
    pub fn verdict(&self, language: Language) -> &'static str {
        self.judged.verdict(key!("stronger opponents"), key!("weaker opponents"), language)
    }
}

impl Judged {
    /// Whether the slope is right within a tolerance, in percent: [`Verdict::Within`] and [`Verdict::Moved`] as for a
    /// change from the calibration to these games.
    pub fn within(&self, tolerance_percent: f64) -> Verdict {
        let Some(slope) = self.scale.or(self.scores.slope).filter(|slope| slope.value > 0.0) else {
            return Verdict::Unclear;
        };
        let log = |number: f64| libm::log(number.max(f64::MIN_POSITIVE));
        let ends = slope.interval.map(|[low, high]| (log(low), log(high)));
        Verdict::of(log(slope.value), ends, libm::log1p(tolerance_percent / 100.0))
    }

    /// Judges forecasts. `without_score` is the part of the logit of a sample that no score moves, 0 where nothing but
    /// the win rate is known.
    ///
    /// # Errors
    /// [`ValidateError::Empty`] without forecasts.
    pub fn new(
        forecasts: &[Forecast],
        without_score: impl Fn(usize) -> f64,
        options: &ScoreOptions,
    ) -> Result<Self, ValidateError> {
        let mean = forecasts.iter().map(|f| f.outcome.value()).sum::<f64>() / forecasts.len().max(1) as f64;
        let constant = logit(mean);
        let known: Vec<Forecast> = forecasts.iter().map(|f| Forecast { logit: constant, ..*f }).collect();
        let (scale, shift) = recalibrate_from(forecasts, without_score).unzip();
        Ok(Self {
            scores: scores(forecasts, options)?,
            scale,
            shift,
            against_constant: log_loss_difference(forecasts, &known).filter(|e| e.value.is_finite()),
            reliability: reliability(forecasts, options)?,
        })
    }

    /// What the scores say, in a few words. `low` and `high` are those for games that were won less often and more
    /// often than forecast.
    pub fn verdict(&self, low: &'static str, high: &'static str, language: Language) -> &'static str {
        let off = |estimate: Option<Estimate>, from: f64| {
            let by = |e: Estimate| Some((e.value - from) / e.standard_error()?);
            estimate.and_then(by).map(|z| if two_sided(z) < LEVEL { z } else { 0.0 })
        };
        let constant = self.against_constant.and_then(|e| e.interval);
        let (scale, shift) = (off(self.scale, 1.0), off(self.shift, 0.0));
        // who knows no score knows how many of these games were won: where only that is off, other opponents are
        let is_level = shift.is_none_or(|z| z == 0.0);
        language.word(match (constant, scale, shift) {
            (Some([low, _]), ..) if low > 0.0 && (is_level || scale.is_some_and(|z| z < 0.0)) => {
                key!("worse than knowing no score")
            }
            (_, Some(z), _) if z < 0.0 => key!("too bold"),
            (_, Some(z), _) if z > 0.0 => key!("too cautious"),
            (.., Some(z)) if z < 0.0 => low,
            (.., Some(z)) if z > 0.0 => high,
            (_, Some(_), Some(_)) => key!("no error seen"),
            _ => key!("too few games to tell"),
        })
    }
}

/// Judges the calibration on the samples of its engine in `table`, whose mates it marks. The forecasts are those
/// against the opponents of these games: rating differences and strengths count where the file knows them.
///
/// # Errors
/// [`ValidateError::Empty`] without samples of the engine.
pub fn evaluate(
    calibration: &Calibration,
    table: &mut SampleTable,
    options: &ScoreOptions,
) -> Result<Evaluation, ValidateError> {
    let name = &calibration.engine.name;
    let mates = calibration.mates;
    let mut thresholds = Thresholds::default();
    if let Some(cp) = mates.and_then(|mates| mates.threshold_cp) {
        thresholds.by_engine.push((name.clone(), Threshold::Cp(cp as u32)));
    }
    mark_mates(table, &thresholds);
    let policy = mates.map_or(MatePolicy::Exclude, |mates| mates.policy);
    let clip_cp = mates.and_then(|mates| mates.clip_cp).map_or(0, |cp| cp as u32);
    let engines = cases(table, policy, clip_cp);
    let own = engines.iter().find(|engine| engine.name == *name).ok_or(ValidateError::Empty)?;
    let mut own: Vec<Case> = own.cases.iter().collect();
    if calibration.model.kind.needs().material {
        // as the fit left them out
        own.retain(|case| case.situation.material.is_some());
    }
    if table.bradley_terry {
        // made from the results that are to be forecast
        own.iter_mut().for_each(|case| case.situation.strength = None);
    }
    let forecaster = Forecaster::new(calibration);
    let names = table.names.numbers().into_iter().enumerate();
    let strength = |(id, number): (usize, u32)| Some((number, forecaster.strength(table.names.get(id as NameId))?));
    let strengths: BTreeMap<u32, f64> = names.filter_map(strength).collect();
    let opponent = |case: &Case| strengths.get(&case.situation.players?[1]).copied();
    let forecast = |case: &Case, score_cp: f64| forecaster.logit(score_cp, opponent(case), &case.situation);
    let forecasts: Vec<Forecast> = own
        .iter()
        .map(|case| Forecast {
            game: case.game,
            logit: forecast(case, f64::from(case.score_cp)),
            outcome: case.outcome,
        })
        .collect();
    let samples = table.engines().into_iter().find(|id| table.names.get(*id) == name);
    let samples: Vec<Sample> = samples.map_or_else(Vec::new, |id| table.of_engine(id).copied().collect());
    let (digest, samples) = (digest(table, &samples), samples.len());
    let mut judged = Judged::new(&forecasts, |i| forecast(&own[i], 0.0), options)?;
    let slope_error = calibration.slope().map_or(0.0, |(w1, half)| half / (calibration.quantile() * w1));
    let even = Situation { strength: Some(0.0), ..Situation::default() };
    let level_error = calibration.logit_error(Reading::Field, 0.0, &even).unwrap_or(0.0);
    let with_error = |of_games: Option<Estimate>, of_file: f64| {
        of_games.map(|e| Estimate::normal(e.value, e.standard_error().map(|error| error.hypot(of_file))))
    };
    judged.scale = with_error(judged.scale, judged.scale.map_or(0.0, |scale| scale.value) * slope_error);
    judged.shift = with_error(judged.shift, level_error);
    Ok(Evaluation {
        name: name.clone(),
        mates_left_out: (samples - forecasts.len()) as u64,
        known_opponents: own.iter().filter(|case| opponent(case).is_some()).count() as u64,
        own_samples: calibration.provenance.as_ref().and_then(|p| p.digest.as_ref()) == Some(&digest),
        judged,
    })
}

/// What a calibration forecasts for the side to move of games that it was not made from, against their opponents.
#[derive(Debug)]
pub struct Forecaster<'a> {
    calibration: &'a Calibration,
    own: Option<f64>,
    known: BTreeMap<&'a str, f64>,
}

impl<'a> Forecaster<'a> {
    pub fn new(calibration: &'a Calibration) -> Self {
        let own = calibration.field.as_ref().and_then(|field| field.strength);
        let met = calibration.provenance.iter().flat_map(|provenance| &provenance.opponents);
        Self { calibration, own, known: met.filter_map(|o| Some((o.name.as_str(), o.strength?))).collect() }
    }

    /// The strength of an opponent in logits, if the calibration met it.
    pub fn strength(&self, opponent: &str) -> Option<f64> {
        self.known.get(opponent).copied()
    }

    /// The score that a forecast takes, in centipawns: that of a mate as the calibration treats mates, which leaves
    /// them out (`None`), clips them or keeps them.
    pub fn score(&self, score_cp: f64, is_mate: bool) -> Option<f64> {
        let mates = self.calibration.mates;
        let reached = mates.and_then(|mates| mates.threshold_cp).is_some_and(|cp| score_cp.abs() >= cp);
        if !is_mate && !reached {
            return Some(score_cp);
        }
        match mates.map_or(MatePolicy::Exclude, |mates| mates.policy) {
            MatePolicy::Exclude => None,
            MatePolicy::Clip => mates.and_then(|mates| mates.clip_cp).map(|cp| cp.copysign(score_cp)),
            MatePolicy::Keep => Some(score_cp),
        }
    }

    /// The logit against an opponent of this strength, in logits. Where neither its strength nor its rating is known,
    /// it is one of those that the calibration met.
    pub fn logit(&self, score_cp: f64, opponent: Option<f64>, situation: &Situation) -> f64 {
        let Model::Joint(joint) = &self.calibration.model.model else {
            return self.calibration.logit(Reading::Field, score_cp, situation);
        };
        let rated = situation.strength.filter(|_| joint.w3 != 0.0);
        match (self.own, opponent, rated) {
            (Some(own), opponent, rated) if opponent.is_some() || rated.is_some() => {
                let advantage = joint.w3 * rated.unwrap_or(0.0) + own - opponent.unwrap_or(0.0);
                joint.against(Reading::Field, score_cp, advantage)
            }
            _ => self.calibration.logit(Reading::Field, score_cp, &Situation { strength: rated, ..*situation }),
        }
    }
}
