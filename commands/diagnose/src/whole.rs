//! All diagnostics of one sample table.

use std::collections::HashSet;

use evalcurve_app::calibrate::{
    CalibrateOptions, EngineResult, calibrate_cases, cases, mark_mates, observation, ratings,
};
use evalcurve_app::judge::split::{Split, SplitCurves, split_curves};
use evalcurve_fit::calibration::Calibration;
use evalcurve_fit::fit::{FitData, Method, Observation};
use evalcurve_fit::parallel;
use evalcurve_fit::validate::{
    CrossValidation, DEFAULT_FOLDS, Estimate, FoldOptions, Forecast, ModelKind, Reliability, ScoreOptions,
    log_loss_difference, mean_log_loss, reliability,
};
use evalcurve_records::sample::{ByEngine, Sample, SampleTable};
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;
use serde::Serialize;

use super::declared::{DeclaredScores, declared};
use super::judges::{Judges, judges};
use super::mismatch::{ScaleMismatch, mismatch};
use super::pairwise::{Fitted, Pairwise, pairwise};
use super::two_fits::{TwoFits, two_fits};

/// The results of all diagnostics.
#[derive(Debug, Clone)]
pub struct Diagnosis {
    /// The calibration of each engine, or why it has none; engines by name.
    pub results: Vec<EngineResult>,
    /// The scores of the models on the samples of all engines that both sigmoids fit.
    pub models: Vec<ModelScores>,
    /// The reliability diagram of the chosen model for each of `results`, if there is one.
    pub reliability: Vec<Option<Reliability>>,
    /// How good the rates of wins, draws and losses are that engines declare, for those that do.
    pub declared: Vec<DeclaredScores>,
    /// The sigmoids used by `pairwise` and the intervals: those of the chosen model if it is a sigmoid, else those by
    /// maximum likelihood.
    pub method: Method,
    /// Do equal values mean equal win rates? `None` with fewer than two engines.
    pub mismatch: Option<ScaleMismatch>,
    /// Comparison of engines in pairs; `None` with fewer than two engines.
    pub pairwise: Option<Pairwise>,
    /// Engines on the positions that all of them scored; `None` if no two share enough.
    pub judges: Option<Judges>,
    /// Do both methods agree? Engines that both fit.
    pub two_fits: Vec<TwoFits>,
    /// Does a score have the same meaning in all situations?
    pub splits: Vec<SplitCurves>,
    /// The samples and options.
    pub base: Base,
}

/// A model over all engines, out of sample.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelScores {
    pub kind: ModelKind,
    pub samples: u64,
    /// Mean log loss of the samples with its interval, or why there is none.
    pub log_loss: Result<Estimate, Text>,
    /// Log loss minus that of the chosen model on the same samples; negative if this model is better.
    pub behind_chosen: Option<Estimate>,
}

/// The samples and options of a diagnosis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Base {
    pub inputs: Vec<String>,
    pub filters: Vec<String>,
    /// Seed of draws, folds and resamples.
    pub seed: u64,
    pub resamples: u32,
    pub folds: u64,
    /// The chosen model.
    #[serde(skip)]
    pub model: ModelKind,
    /// Number of games with samples.
    pub games: u64,
    pub samples: u64,
    /// Of these, mates that are left out of the fits.
    pub mates_left_out: u64,
    /// Number of fitted samples.
    pub fitted: u64,
    pub engines: usize,
    /// Engines with a calibration.
    pub calibrated: usize,
    /// Whether the ratings were computed from these games.
    pub bradley_terry: bool,
}

impl Base {
    fn of(table: &SampleTable, settings: &CalibrateOptions, results: &[EngineResult]) -> Self {
        let samples = table.samples.len() as u64;
        let of_fits: u64 = results.iter().map(|r| r.fitted).sum();
        Self {
            inputs: settings.inputs.clone(),
            filters: settings.filters.clone(),
            seed: settings.sampling.seed,
            resamples: settings.bands,
            folds: settings.folds.unwrap_or(DEFAULT_FOLDS),
            model: settings.model,
            games: table.games.iter().map(|game| game.id).collect::<HashSet<u64>>().len() as u64,
            samples,
            mates_left_out: samples - of_fits,
            fitted: of_fits,
            engines: results.len(),
            calibrated: results.iter().filter(|r| r.calibration.is_some()).count(),
            bradley_terry: table.bradley_terry,
        }
    }
}

/// Resamples if the calibration options request none.
const DEFAULT_RESAMPLES: u32 = 1_000;

/// Largest number of resamples of proper scores and bands, since each sorts all forecasts of an engine.
const MOST_SCORE_RESAMPLES: u32 = 500;

/// The forecasts of a model for the samples of one engine, or why there are none.
type Forecasts = Result<Vec<Forecast>, Text>;

fn no_samples() -> Text {
    text!("too few samples")
}

/// Scores each model on the samples of the engines that both plain sigmoids fit without each fold. A model that does
/// not fit one of these engines has an error instead of a score.
fn model_scores(
    validation: &mut CrossValidation<'_>,
    chosen: ModelKind,
    own_ratings: bool,
    chess: bool,
) -> Vec<ModelScores> {
    let plain = Method::ALL.map(|method| validation.fits(method.into()));
    let able = |e: usize| plain.iter().all(|fits| fits.error(e).is_none());
    let mut pooled = |kind: ModelKind| -> Forecasts {
        if own_ratings && kind.needs().rating {
            return Err(ratings::own());
        }
        let mut pool = Vec::new();
        let forecasts = validation.forecasts(kind);
        for (e, (engine, forecasts)) in validation.engines().iter().zip(forecasts).enumerate() {
            if able(e) {
                pool.extend(forecasts.map_err(|e| e.to_text().about(&Text::same(&engine.name)))?);
            }
        }
        if pool.is_empty() { Err(no_samples()) } else { Ok(pool) }
    };
    let mut kinds: Vec<ModelKind> = ModelKind::diagnosed().into_iter().filter(|k| k.is_for(chess)).collect();
    if !kinds.contains(&chosen) {
        kinds.push(chosen);
    }
    let reference = pooled(chosen);
    kinds
        .into_iter()
        .map(|kind| {
            let forecasts = if kind == chosen { reference.clone() } else { pooled(kind) };
            let other = reference.as_ref().ok().filter(|_| kind != chosen);
            ModelScores {
                kind,
                samples: forecasts.as_ref().map_or(0, |f| f.len() as u64),
                behind_chosen: forecasts.as_ref().ok().zip(other).and_then(|(f, o)| log_loss_difference(f, o)),
                log_loss: forecasts.and_then(|f| mean_log_loss(&f).ok_or_else(no_samples)),
            }
        })
        .collect()
}

/// The engines with a calibration and a plain fit, and their calibrations.
fn with_influence<'a>(
    results: &'a [EngineResult],
    data: &[FitData<'_>],
    method: Method,
) -> (Vec<Fitted<'a>>, Vec<&'a Calibration>) {
    let one = |(result, data): (&'a EngineResult, &FitData<'_>)| {
        let fit = *result.fit(method).ok()?;
        let influence = data.influence(fit.method, fit.sigmoid)?;
        Some((Fitted { name: &result.name, fit, influence }, result.calibration.as_ref()?))
    };
    results.iter().zip(data).filter_map(one).unzip()
}

/// Runs all diagnostics: calibrates the engines by `options`, translates `score_cp` centipawns between them, and splits
/// the samples of each by `splits`. Marks the mates in `table`.
///
/// The same table and options give the same results on any number of threads.
pub fn diagnose(table: &mut SampleTable, options: &CalibrateOptions, score_cp: f64, splits: &[Split]) -> Diagnosis {
    let folds = options.folds.unwrap_or(DEFAULT_FOLDS);
    let resamples = if options.bands == 0 { DEFAULT_RESAMPLES } else { options.bands };
    let settings = &CalibrateOptions { folds: Some(folds), bands: resamples, ..options.clone() };
    let method = settings.model.method().unwrap_or(Method::MaximumLikelihood);
    let mates = mark_mates(table, &settings.thresholds);
    let table = &*table;
    let seed = settings.sampling.seed;
    let fold_options = FoldOptions { folds, seed };
    let cases = cases(table, settings.mate_policy, settings.clip_cp);
    let mut validation = CrossValidation::new(&cases, fold_options, settings.fit_options(table));
    let results = calibrate_cases(table, mates, &cases, Some(&mut validation), settings);
    let engines = ByEngine::new(table);
    let score_options = ScoreOptions { resamples: resamples.min(MOST_SCORE_RESAMPLES), seed };
    let models = model_scores(&mut validation, settings.model, table.bradley_terry, table.chess);
    let forecasts = validation.forecasts(settings.model);
    let judges = judges(&cases, &forecasts, &fold_options, settings.sampling.window);
    let declared = parallel::map(engines.len(), |e| {
        let fitted = |s: &&Sample| observation(table, s, settings.mate_policy, settings.clip_cp).is_some();
        let samples: Vec<&Sample> = engines.samples_of(e).filter(fitted).collect();
        declared(engines.name(e), &samples, forecasts[e].as_ref().ok()?, &score_options)
    });
    let declared = declared.into_iter().flatten().collect();
    let reliability = |forecasts: Result<Vec<Forecast>, _>| reliability(&forecasts.ok()?, &score_options).ok();
    let reliability = parallel::map_into(forecasts, reliability);
    let mismatch = mismatch(&mut validation, &ScoreOptions { resamples, seed });
    // what follows needs the samples in another form
    drop(validation);
    drop(cases);
    let observed = |e: usize| -> Vec<Observation> {
        let of = |s: &Sample| observation(table, s, settings.mate_policy, settings.clip_cp);
        engines.samples_of(e).filter_map(of).collect()
    };
    let observed: Vec<Vec<Observation>> = (0..engines.len()).map(observed).collect();
    let data: Vec<FitData<'_>> = observed.iter().map(|o| FitData::new(o)).collect();
    let (fitted, calibrations) = with_influence(&results, &data, method);
    let same: Vec<&str> = judges.iter().flat_map(|found| &found.engines).map(|judge| judge.name.as_str()).collect();
    let pairwise = pairwise(&fitted, &calibrations, score_cp, &same);
    Diagnosis {
        models,
        reliability,
        declared,
        method,
        mismatch,
        judges,
        pairwise,
        two_fits: two_fits(table, &results, &observed, &data),
        splits: split_curves(table, splits, settings),
        base: Base::of(table, settings, &results),
        results,
    }
}
