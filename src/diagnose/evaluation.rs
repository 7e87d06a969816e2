//! An existing calibration judged on games that it was not made from.

use serde::Serialize;

use crate::calibrate::mates::{Threshold, Thresholds};
use crate::calibrate::{cases, mark_mates};
use crate::calibration::{Calibration, MatePolicy, Reading};
use crate::fit::Case;
use crate::key;
use crate::language::Language;
use crate::logistic::logit;
use crate::sample::SampleTable;
use crate::validate::{
    Estimate, Forecast, Reliability, ScoreOptions, Scores, ValidateError, log_loss_difference, reliability, scores,
};

/// How right a calibration is on new games.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The engine.
    pub name: String,
    /// Samples that are mates by the threshold of the calibration and are left out, as they were when it was made.
    pub mates_left_out: u64,
    /// Its scores on these games; the samples and games are those that were judged.
    #[serde(flatten)]
    pub scores: Scores,
    /// Log loss less that of a forecast that knows no score but the mean result of these very samples; above 0 the
    /// calibration is worse.
    pub against_constant: Option<Estimate>,
    /// The reliability diagram.
    #[serde(skip)]
    pub reliability: Reliability,
}

impl Evaluation {
    /// What the scores say, in a few words.
    pub fn verdict(&self, language: Language) -> &'static str {
        let interval = |estimate: Option<Estimate>| estimate.and_then(|e| e.interval);
        let (slope, intercept) = (interval(self.scores.slope), interval(self.scores.intercept));
        language.word(match (interval(self.against_constant), slope, intercept) {
            (Some([low, _]), ..) if low > 0.0 => key!("worse than knowing no score"),
            (_, Some([_, high]), _) if high < 1.0 => key!("too bold"),
            (_, Some([low, _]), _) if low > 1.0 => key!("too cautious"),
            (.., Some([_, high])) if high < 0.0 => key!("too optimistic"),
            (.., Some([low, _])) if low > 0.0 => key!("too pessimistic"),
            (_, Some(_), Some(_)) => key!("no error seen"),
            _ => key!("too few games to tell"),
        })
    }
}

/// Judges the calibration on the samples of its engine in `table`, whose mates it marks. The forecasts are those
/// against the opponents of these games: rating differences count where the model knows them.
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
    let own = engines.into_iter().find(|engine| engine.name == *name).ok_or(ValidateError::Empty)?.cases;
    let forecast = |case: &Case| {
        let logit = calibration.logit(Reading::Field, f64::from(case.score_cp), &case.situation);
        Forecast { game: case.game, logit, outcome: case.outcome }
    };
    let forecasts: Vec<Forecast> = own.iter().map(forecast).collect();
    let mean = forecasts.iter().map(|f| f.outcome.value()).sum::<f64>() / forecasts.len().max(1) as f64;
    let constant = logit(mean);
    let without_score: Vec<Forecast> = forecasts.iter().map(|f| Forecast { logit: constant, ..*f }).collect();
    let samples = table.engines().into_iter().find(|id| table.names.get(*id) == name);
    let samples = samples.map_or(0, |id| table.of_engine(id).count());
    Ok(Evaluation {
        name: name.clone(),
        mates_left_out: (samples - forecasts.len()) as u64,
        scores: scores(&forecasts, options)?,
        against_constant: log_loss_difference(&forecasts, &without_score).filter(|e| e.value.is_finite()),
        reliability: reliability(&forecasts, options)?,
    })
}
