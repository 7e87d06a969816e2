//! Scores of the chosen model and of the baselines out of sample.

use std::collections::BTreeMap;

use evalcurve_calibration::types::Color;
use evalcurve_fit::calibration::{ProperScores, nine_digits};
use evalcurve_fit::fit::{ModelFit, ModelKind};
use evalcurve_fit::parallel;
use evalcurve_fit::validate::{
    BY_CHANCE, Choice, CrossValidation, Estimate, FoldOptions, Forecast, Misfit, ScoreOptions, Scores, ValidateError,
    choose_model, fold_of, misfit, scores, significant,
};
use evalcurve_records::sample::{EngineSamples, Sample, SampleTable, by_engine};
use evalcurve_tables::{Values, color};
use evalcurve_words::language::{Text, ToText};

use super::{CalibrateOptions, cases, cases_with_cut, mark_mates, observation};

/// The scores of the chosen model of an engine out of sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// Number of folds over games.
    pub folds: u64,
    pub scores: Scores,
    /// Log loss of the baselines on the same samples.
    pub baselines: BTreeMap<ModelKind, Estimate>,
    /// The worst region of scores, and whether it is worse than chance allows among all engines.
    pub misfit: Option<Misfit>,
    pub is_misshapen: bool,
}

impl Validated {
    /// As the calibration file holds it.
    pub(super) fn proper_scores(&self) -> ProperScores {
        let s = &self.scores;
        ProperScores {
            folds: self.folds,
            samples: s.samples,
            log_loss: s.log_loss,
            brier: s.brier,
            miscalibration: Some(s.decomposition.miscalibration),
            discrimination: Some(s.decomposition.discrimination),
            uncertainty: Some(s.decomposition.uncertainty),
            slope: s.slope,
            intercept: s.intercept,
            ece: Some(s.ece),
            spiegelhalter_z: s.spiegelhalter.map(|s| s.z_clustered),
            baselines: self.baselines.clone(),
        }
    }
}

/// The folds of the options; the seed is that of the sampling. `None` for no scores out of sample.
pub(super) fn fold_options(options: &CalibrateOptions) -> Option<FoldOptions> {
    options.folds.map(|folds| FoldOptions { folds, seed: options.sampling.seed })
}

/// Scores the chosen model of every engine, in the order of the validation; `near` has the fits to all samples.
pub(super) fn validate(
    validation: &mut CrossValidation<'_>,
    options: &CalibrateOptions,
    near: &[Option<&ModelFit>],
    chess: bool,
) -> Vec<Result<Validated, ValidateError>> {
    let chosen = validation.fits_near(options.model, near);
    let baselines = ModelKind::baselines().filter(|kind| kind.is_for(chess));
    let baselines: Vec<_> = baselines.map(|kind| (kind, validation.log_losses(kind))).collect();
    let score_options = ScoreOptions { seed: options.sampling.seed, ..ScoreOptions::default() };
    let engines = validation.engines();
    let of = |e: usize| {
        let engine = &engines[e];
        // one engine after the other: the forecasts of all need as much memory as the samples
        let forecasts = chosen.forecasts(e, engine)?;
        Ok(Validated {
            folds: validation.folds().folds,
            scores: scores(&forecasts, &score_options)?,
            baselines: baselines.iter().filter_map(|(kind, all)| Some((*kind, (*all.get(e)?)?))).collect(),
            misfit: misfit(&forecasts, &engine.cases.iter().map(|case| case.score_cp).collect::<Vec<_>>()),
            is_misshapen: false,
        })
    };
    let mut found: Vec<Result<Validated, ValidateError>> = parallel::map(engines.len(), of);
    let chance = |found: &Result<Validated, ValidateError>| Some(found.as_ref().ok()?.misfit?.p_value);
    let misshapen = significant(&found.iter().map(chance).collect::<Vec<_>>(), BY_CHANCE);
    for (found, is_misshapen) in found.iter_mut().zip(misshapen) {
        found.iter_mut().for_each(|found| found.is_misshapen = is_misshapen);
    }
    found
}

/// The forecasts of the chosen model for the samples of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineForecasts {
    /// The name of the engine.
    pub name: String,
    /// Each fitted sample with its fold, from 1, and the win rate in 0..=1 by the model that was fitted without that
    /// fold; or why there are none.
    pub forecasts: Result<Vec<(Sample, u64, f64)>, Text>,
}

/// The out-of-sample forecasts of the chosen model, engines by name: those that the scores of [`Validated`] judge. The
/// table's mates must be marked ([`mark_mates`]).
pub fn forecasts(table: &SampleTable, options: &CalibrateOptions) -> Vec<EngineForecasts> {
    let folds = fold_options(options).unwrap_or(FoldOptions { seed: options.sampling.seed, ..FoldOptions::default() });
    let (policy, clip_cp) = (options.mate_policy, options.clip_cp);
    let cases = cases_with_cut(table, options);
    let found = CrossValidation::new(&cases, folds, options.fit_options(table)).forecasts(options.model);
    let of = |(engine, forecasts): (&EngineSamples<'_>, Result<Vec<Forecast>, ValidateError>)| {
        // the samples that became cases, in their order
        let fitted = engine.samples.iter().filter(|s| observation(table, s, policy, clip_cp).is_some());
        let row = |(sample, forecast): (&Sample, &Forecast)| {
            (*sample, fold_of(forecast.game, &folds) + 1, forecast.win_rate())
        };
        let rows = forecasts.map(|forecasts| fitted.zip(&forecasts).map(row).collect()).map_err(|e| e.to_text());
        EngineForecasts { name: engine.name.to_owned(), forecasts: rows }
    };
    by_engine(table).iter().zip(found).map(of).collect()
}

/// Chooses the model for all engines of a table, as `--model auto` does; see [`choose_model`]. Marks the mates in
/// `table` on the way.
///
/// Material is not considered where it was not counted in every sample, and
/// models of draws are not considered without drawn games.
///
/// # Errors
/// As [`choose_model`].
pub fn choose(table: &mut SampleTable, options: &CalibrateOptions) -> Result<Choice, ValidateError> {
    mark_mates(table, &options.thresholds);
    let cases = cases(table, options.mate_policy, options.clip_cp);
    let folds = fold_options(options).unwrap_or(FoldOptions { seed: options.sampling.seed, ..FoldOptions::default() });
    let mut validation = CrossValidation::new(&cases, folds, options.fit_options(table));
    let material = cases
        .iter()
        .filter(|e| validation.has_enough(e))
        .all(|e| e.cases.iter().all(|c| c.situation.material.is_some()));
    let known = ModelKind::candidates().into_iter().filter(|kind| material || !kind.needs().material);
    let candidates: Vec<ModelKind> =
        known.chain(ModelKind::baselines().filter(|kind| kind.is_for(table.chess))).collect();
    choose_model(&candidates, &mut validation)
}

/// Calls `use_columns` with the columns of forecasts and their names: game, engine, opponent, color, ply, window,
/// score_cp, result, the ratings and whether they were made from results, as in the sample table; fold, from 1; and
/// win_rate, the forecast of the model that was fitted without that fold.
pub fn with_forecasts<T>(
    table: &SampleTable,
    forecasts: &[EngineForecasts],
    use_columns: impl FnOnce(Vec<(&'static str, Values<'_>)>) -> T,
) -> T {
    let rows: Vec<&(Sample, u64, f64)> = forecasts.iter().filter_map(|e| e.forecasts.as_ref().ok()).flatten().collect();
    let ids: Vec<String> = table.games.iter().map(|g| format!("{:016x}", g.id)).collect();
    let integer = |value: &dyn Fn(&Sample) -> i32| Values::Integer(rows.iter().map(|r| Some(value(&r.0))).collect());
    let rating = |side: fn(Color) -> Color| {
        let of = |s: &Sample| *table.games.get(s.game as usize)?.ratings.get(side(s.color).index())?;
        Values::Float(rows.iter().map(|r| of(&r.0)).collect())
    };
    use_columns(vec![
        ("game", Values::Text(rows.iter().map(|r| ids.get(r.0.game as usize).map(String::as_str)).collect())),
        ("engine", Values::Text(rows.iter().map(|r| Some(table.names.get(r.0.engine))).collect())),
        ("opponent", Values::Text(rows.iter().map(|r| Some(table.names.get(r.0.opponent))).collect())),
        ("color", Values::Text(rows.iter().map(|(s, ..)| color(table.games.get(s.game as usize)?, s)).collect())),
        ("ply", integer(&|s| s.ply as i32)),
        ("window", integer(&|s| s.window as i32)),
        ("score_cp", integer(&|s| s.score_cp)),
        ("result", Values::Float(rows.iter().map(|r| Some(r.0.outcome.value())).collect())),
        ("rating", rating(|color| color)),
        ("opponent_rating", rating(Color::opponent)),
        ("bradley_terry", Values::Flag(vec![table.bradley_terry; rows.len()])),
        ("fold", Values::Integer(rows.iter().map(|r| Some(r.1 as i32)).collect())),
        ("win_rate", Values::Float(rows.iter().map(|r| Some(nine_digits(r.2))).collect())),
    ])
}
