//! From the sample table to a calibration per engine: mates, curve, standardisation, fits, proper scores, warnings.
//!
//! The steps are pure: the same table and options give the same result. The result of an engine that cannot be
//! calibrated has an error; the other engines are calibrated all the same.

mod adjudicated;
mod cases;
pub mod command;
pub mod mates;
mod proper;
mod provenance;
pub mod ratings;
pub mod signs;
mod warning;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

pub use adjudicated::{Adjudicated, ended_by_scores};
use cases::{both_ratings, cases_with_cut, cut_scores, plays};
pub use cases::{cases, observation};
use evalcurve_calibration::types::Outcome;
use evalcurve_fit::calibration::{Calibration, Doubt, Draws, MatePolicy};
use evalcurve_fit::curve::{CurvePoint, EvaluationCurve, quantile_points};
use evalcurve_fit::fit::{
    BootstrapOptions, ByMethod, Fit, FitData, FitError, FitOptions, GameBootstrap, Method, ModelFit, ModelKind,
    Observation, Strengths, count_games,
};
use evalcurve_fit::parallel;
use evalcurve_fit::standardize::{ScoreMoments, Standardization, StandardizedCurve};
use evalcurve_fit::validate::{Cases, CrossValidation, EngineCases, ValidateError, fit_engines};
use evalcurve_records::sample::{ByEngine, EngineSamples, NameId, Sample, SampleTable, SamplingOptions};
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;
use mates::{MateReport, Thresholds};
pub use proper::{EngineForecasts, Validated, choose, forecasts, with_forecasts};
pub use provenance::digest;
use signs::MixedSigns;
pub(crate) use warning::LEAST_DECIDED;
pub use warning::{Shown, Warning, WarningKind};

use crate::{Fitting, Input, Reading};

/// Games with samples that an engine needs for a calibration, unless the options set another number. With fewer, the
/// errors that the games show are themselves too uncertain (docs/method.md).
pub const DEFAULT_MIN_GAMES: u64 = 30;

/// The model of a calibration, unless the options set another one: the one scale on which engines can be compared.
pub const DEFAULT_MODEL: ModelKind = ModelKind::Joint;

/// How engines are calibrated.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrateOptions {
    /// How curves and fits treat mates.
    pub mate_policy: MatePolicy,
    /// For [`MatePolicy::Clip`]: mates count as plus or minus this many centipawns.
    pub clip_cp: u32,
    /// The size from which a score is a mate.
    pub thresholds: Thresholds,
    /// Width of a bin of the evaluation curve.
    pub bin_cp: u32,
    /// Samples that a bin needs to be plotted.
    pub min_bin: u64,
    /// Samples that an engine needs to be fitted.
    pub min_samples: u64,
    /// Games with samples that an engine needs for a calibration.
    pub min_games: u64,
    /// The model of the calibration.
    pub model: ModelKind,
    /// Other models to fit and store in the calibration file. Both sigmoids always are.
    pub other_models: Vec<ModelKind>,
    /// Folds over games for scores out of sample; `None` for no such scores.
    pub folds: Option<u64>,
    /// Resamples of the games, for intervals and bands by bootstrap; 0 for none. Their seed is that of the sampling.
    pub bands: u32,
    /// Whether the bootstrap is of the sigmoids, too, and not of the evaluation curve alone.
    pub bootstrap_sigmoids: bool,
    /// Engines with a bootstrap, those with most samples; `None` for all.
    pub bootstrap_of: Option<usize>,
    /// How the samples were drawn, for the file.
    pub sampling: SamplingOptions,
    /// The filters as text, for the file.
    pub filters: Vec<String>,
    /// The inputs as text, for the file.
    pub inputs: Vec<String>,
}

/// As [`Fitting`] says, but without a bootstrap.
impl Default for CalibrateOptions {
    fn default() -> Self {
        Fitting { bands: 0, ..Fitting::default() }.options(&Reading::default(), &Input::default())
    }
}

impl CalibrateOptions {
    /// The options of the fits to a table.
    pub fn fit_options(&self, table: &SampleTable) -> FitOptions {
        FitOptions {
            min_samples: self.min_samples,
            rated_by_these_games: table.bradley_terry,
            chess: table.chess,
            ..FitOptions::default()
        }
    }
}

/// The calibration of one engine with all that led to it.
#[derive(Debug, Clone)]
pub struct EngineResult {
    pub name: String,
    /// Games with a sample of this engine.
    pub games: u64,
    /// Samples drawn, mates among them.
    pub samples: u64,
    /// Samples that curve and fits use under the mate policy.
    pub fitted: u64,
    /// Wins, draws and losses among those.
    pub outcomes: [u64; 3],
    /// Mates and their threshold.
    pub mates: MateReport,
    /// Games in which the sign of its scores looks inverted, with the places of these games.
    pub signs: Option<(MixedSigns, Vec<String>)>,
    /// Games that its scores and those of its opponents ended.
    pub adjudicated: Option<Adjudicated>,
    /// Smallest and largest score drawn, in centipawns.
    pub score_range: Option<(i32, i32)>,
    pub curve: EvaluationCurve,
    /// The same in bins of about the same number of samples.
    pub quantiles: Vec<CurvePoint>,
    /// Mean and standard deviation of the fitted samples.
    pub standardization: Option<Standardization>,
    /// The same with mates included, under any policy.
    pub standardization_with_mates: Option<Standardization>,
    /// The curve in units of the standard deviation.
    pub standardized_curve: Option<StandardizedCurve>,
    pub sigmoids: ByMethod<Result<Fit, FitError>>,
    /// The fits of the other models that were asked for.
    pub models: BTreeMap<ModelKind, Result<Box<ModelFit>, FitError>>,
    /// Scores of the chosen model out of sample; `None` where it was not scored.
    pub validated: Option<Validated>,
    /// The bootstrap of curve and fits, where the options ask for it and the engine has enough samples.
    pub bootstrap: Option<GameBootstrap>,
    /// What a user of the calibration should know.
    pub warnings: Vec<Warning>,
    /// Why there is no calibration.
    pub error: Option<Text>,
    pub calibration: Option<Calibration>,
}

impl EngineResult {
    /// Mean result of the fitted samples, draws half.
    pub fn win_rate(&self) -> Option<f64> {
        let [wins, draws, losses] = self.outcomes;
        let n = wins + draws + losses;
        (n > 0).then(|| (wins as f64 + draws as f64 / 2.0) / n as f64)
    }

    /// Whether it has the samples and games that a calibration needs.
    pub fn has_enough(&self, options: &CalibrateOptions) -> bool {
        self.fitted >= options.min_samples && self.games >= options.min_games
    }

    /// Why its calibration must not be used.
    pub fn refusal(&self) -> Option<Doubt> {
        self.calibration.as_ref().and_then(refusal)
    }

    /// Why it has no calibration that can be used.
    pub fn why_not(&self) -> Option<Text> {
        let refused = || self.refusal().map(|doubt| text!("the calibration {doubt}"));
        self.error.clone().or_else(refused)
    }

    /// Engines that share the fit of the chosen model with it, this one among them.
    fn fitted_together(&self) -> usize {
        self.strengths().map_or(1, |strengths| strengths.engines())
    }

    /// The strengths of the players of its joint fit.
    fn strengths(&self) -> Option<&Strengths> {
        self.models.get(&ModelKind::Joint)?.as_ref().ok()?.strengths.as_deref()
    }

    /// Why a model was not fitted.
    fn fitted_model(&self, kind: ModelKind) -> Result<(), &FitError> {
        match kind.method() {
            Some(method) => self.fit(method).map(|_| ()),
            None => match self.models.get(&kind) {
                Some(Ok(_)) | None => Ok(()),
                Some(Err(error)) => Err(error),
            },
        }
    }

    /// The fit by `method`.
    pub fn fit(&self, method: Method) -> Result<&Fit, &FitError> {
        self.sigmoids[method].as_ref()
    }
}

/// Why a calibration must not be used: worse than knowing no score, a slope that may be 0, or scores in another unit.
pub fn refusal(calibration: &Calibration) -> Option<Doubt> {
    let refused =
        |doubt: &Doubt| matches!(doubt, Doubt::WorseThanConstant | Doubt::SlopeMayBeZero | Doubt::NoCentipawns);
    calibration.doubts.iter().copied().find(refused)
}

/// Calibrates every engine of the table, engines by name.
///
/// Marks the mates in `table` on the way, so that what is written of it afterwards shows them.
pub fn calibrate(table: &mut SampleTable, options: &CalibrateOptions) -> Vec<EngineResult> {
    let mates = mark_mates(table, &options.thresholds);
    let table = &*table;
    // before the fits, which need most memory
    let doubtful = Doubtful::new(table);
    let fitted = {
        // they go before the results come
        let cases = cases_with_cut(table, options);
        let (fit_options, folds) = (options.fit_options(table), proper::fold_options(options));
        let mut validation = folds.map(|folds| CrossValidation::new(&cases, folds, fit_options));
        fit(table, &cases, validation.as_mut(), options)
    };
    results(table, mates, fitted, doubtful, options)
}

/// As [`calibrate`], of a table whose mates are marked, with its cases and their cross-validation, if there is one.
pub fn calibrate_cases(
    table: &SampleTable,
    mates: Vec<MateReport>,
    cases: &[EngineCases],
    validation: Option<&mut CrossValidation<'_>>,
    options: &CalibrateOptions,
) -> Vec<EngineResult> {
    let cut = cut_scores(table);
    let all: Cow<'_, [EngineCases]> =
        if cut.is_empty() { cases.into() } else { cases.iter().cloned().chain(cut).collect() };
    let fitted = fit(table, &all, validation, options);
    results(table, mates, fitted, Doubtful::new(table), options)
}

/// Engines whose scores say that something is wrong with the games.
struct Doubtful {
    signs: HashMap<NameId, MixedSigns>,
    adjudicated: BTreeMap<NameId, Adjudicated>,
}

impl Doubtful {
    fn new(table: &SampleTable) -> Self {
        let (signs, adjudicated) = rayon::join(|| signs::mixed_signs(table), || adjudicated::adjudicated(table));
        Self { signs: signs.into_iter().map(|mixed| (mixed.engine, mixed)).collect(), adjudicated }
    }
}

/// The models of an engine, and the scores of the chosen one.
type Fitted = (Models, Option<Result<Validated, ValidateError>>);

/// Fits and scores the models of every engine.
fn fit(
    table: &SampleTable,
    cases: &[EngineCases],
    validation: Option<&mut CrossValidation<'_>>,
    options: &CalibrateOptions,
) -> Vec<Fitted> {
    let models = fit_models(cases, options, &options.fit_options(table));
    let validated = match validation {
        Some(validation) => {
            let near: Vec<_> = models.iter().map(|of| of.get(&options.model)?.as_deref().ok()).collect();
            proper::validate(validation, options, &near, table.chess).into_iter().map(Some).collect()
        }
        None => vec![None; models.len()],
    };
    models.into_iter().zip(validated).collect()
}

/// The results of all engines, by name.
fn results(
    table: &SampleTable,
    mates: Vec<MateReport>,
    fitted: Vec<Fitted>,
    Doubtful { mut signs, adjudicated }: Doubtful,
    options: &CalibrateOptions,
) -> Vec<EngineResult> {
    let (engines, numbers) = (ByEngine::new(table), table.names.numbers());
    let signs: Vec<Option<MixedSigns>> = engines.ids().map(|id| signs.remove(&id)).collect();
    let samples: Vec<u64> = (0..engines.len()).map(|engine| engines.samples(engine) as u64).collect();
    let with_bootstrap = among_most(&samples, options.bootstrap_of);
    let described = (0..engines.len()).zip(mates).zip(fitted).zip(signs).zip(with_bootstrap).collect();
    parallel::map_into(described, |((((engine, mates), (models, validated)), signs), with_bootstrap)| {
        let engine = &engines.of(engine);
        let mut result = describe(table, engine, mates, models, with_bootstrap, options);
        if let Some(mixed) = signs {
            result.warnings.insert(0, Warning { kind: WarningKind::MixedSigns, text: mixed.text(table) });
            let places = mixed.places(table);
            result.signs = Some((mixed, places));
        }
        result.adjudicated = adjudicated.get(&engine.id).copied().filter(|_| result.has_enough(options));
        if let Some(text) = result.adjudicated.and_then(|adjudicated| adjudicated.text()) {
            result.warnings.push(Warning { kind: WarningKind::Adjudicated, text });
        }
        add_validation(table, validated, &mut result, options);
        finish(table, &engine.samples, &numbers, &mut result, options);
        result
    })
}

/// Whether each number is among the `most` largest ones; of equal ones the first are.
pub fn among_most(numbers: &[u64], most: Option<usize>) -> Vec<bool> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|i| Reverse(numbers[*i]));
    let mut among = vec![false; numbers.len()];
    order.into_iter().take(most.unwrap_or(usize::MAX)).for_each(|i| among[i] = true);
    among
}

/// Adds the scores out of sample, and what they say.
fn add_validation(
    table: &SampleTable,
    validated: Option<Result<Validated, ValidateError>>,
    result: &mut EngineResult,
    options: &CalibrateOptions,
) {
    match validated {
        Some(Ok(validated)) => {
            if let Some(misfit) = validated.misfit.filter(|_| validated.is_misshapen) {
                let ([from, to], seen, forecast) = (misfit.scores, 100.0 * misfit.seen, 100.0 * misfit.forecast);
                let text = text!(
                    "on unseen games scores of {from} to {to} won {seen:.0}%, and not {forecast:.0}% as the curve \
                     says: its shape is another one; look at the plot, and try `model` auto"
                );
                result.warnings.push(Warning { kind: WarningKind::Misshapen, text });
            }
            result.validated = Some(validated);
        }
        Some(Err(error)) if result.fitted_model(options.model).is_ok() => {
            // a slope that depends on a few games is no better than one that may be 0
            let kind = match error {
                ValidateError::Fold { source: FitError::SlopeNotPositive { .. }, .. } => WarningKind::SlopeMayBeZero,
                _ => WarningKind::NotValidated,
            };
            let text = error.to_text().about(&text!("the model has no scores out of sample"));
            result.warnings.push(Warning { kind, text });
        }
        Some(Err(_)) | None => {}
    }
    if table.bradley_terry && options.model.needs().rating && result.fitted_model(options.model).is_ok() {
        let text = text!(
            "the ratings were made from these very games, so that the model looks better out of sample than it is"
        );
        result.warnings.push(Warning { kind: WarningKind::RatingsKnowTheResults, text });
    }
}

/// Boxed, because a map has room for more models than there are.
type Models = BTreeMap<ModelKind, Result<Box<ModelFit>, FitError>>;

/// Fits all models but the plain sigmoids, each to all engines.
fn fit_models(engines: &[EngineCases], options: &CalibrateOptions, fit_options: &FitOptions) -> Vec<Models> {
    let cases: Vec<&Cases> = engines.iter().map(|engine| &engine.cases).collect();
    let mut models: Vec<Models> = vec![BTreeMap::new(); engines.len()];
    let mut kinds: Vec<ModelKind> = options.other_models.iter().copied().chain([options.model]).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds.into_iter().filter(|kind| kind.method().is_none()) {
        for (models, fit) in models.iter_mut().zip(fit_engines(kind, &cases, fit_options)) {
            models.insert(kind, fit.map(Box::new));
        }
    }
    models
}

/// Sets the mate flag of every sample by its engine's threshold. Returns the mates of each engine, engines by name.
pub fn mark_mates(table: &mut SampleTable, thresholds: &Thresholds) -> Vec<MateReport> {
    let engines = ByEngine::new(table);
    let report = |engine| {
        let EngineSamples { id, name, samples } = engines.of(engine);
        (id, mates::report(&samples, thresholds.of(name)))
    };
    let reports: Vec<(NameId, MateReport)> = parallel::map(engines.len(), report);
    let mut threshold = vec![None; reports.iter().map(|(id, _)| *id as usize + 1).max().unwrap_or(0)];
    reports.iter().for_each(|(id, report)| threshold[*id as usize] = Some(report.threshold_cp));
    let of = |name: NameId| threshold.get(name as usize).copied().flatten();
    table.cut_at = reports.iter().filter_map(|(id, r)| Some((*id, r.cut?.cp))).collect();
    for sample in &mut table.samples {
        sample.mate = of(sample.engine).is_some_and(|cp| mates::is_mate(sample, cp));
        let of_opponent = of(sample.opponent).unwrap_or(mates::DEFAULT_THRESHOLD_CP);
        sample.reply_cp = sample.reply_cp.filter(|cp| cp.unsigned_abs() < of_opponent);
    }
    reports.into_iter().map(|(_, report)| report).collect()
}

/// The result of an engine before its model is scored.
fn describe(
    table: &SampleTable,
    engine: &EngineSamples<'_>,
    mates: MateReport,
    models: Models,
    with_bootstrap: bool,
    options: &CalibrateOptions,
) -> EngineResult {
    let samples = &engine.samples;
    let observations: Vec<Observation> =
        samples.iter().filter_map(|s| observation(table, s, options.mate_policy, options.clip_cp)).collect();

    let mut curve = EvaluationCurve::new(options.bin_cp);
    let mut moments = ScoreMoments::default();
    let mut outcomes = [0; 3];
    for o in &observations {
        curve.add(o.score_cp, o.outcome);
        moments.add(o.score_cp);
        outcomes[match o.outcome {
            Outcome::Win => 0,
            Outcome::Draw => 1,
            Outcome::Loss => 2,
        }] += 1;
    }
    let with_mates: ScoreMoments = samples.iter().map(|s| s.score_cp).collect();
    let standardization = moments.standardization().ok();
    let standardized_curve = standardization.map(|standard| {
        let mut curve = StandardizedCurve::new(standard);
        observations.iter().for_each(|o| curve.add(o.score_cp, o.outcome));
        curve
    });

    let fit_options = FitOptions { min_samples: options.min_samples, ..FitOptions::default() };
    let data = FitData::new(&observations);
    let enough = options.bands > 0 && observations.len() as u64 >= options.min_samples.max(1);
    let bootstrap = (enough && with_bootstrap).then(|| {
        data.bootstrap(&BootstrapOptions {
            resamples: options.bands,
            seed: options.sampling.seed,
            bin_cp: options.bin_cp,
            sigmoids: options.bootstrap_sigmoids,
        })
    });
    let mut result = EngineResult {
        name: engine.name.to_owned(),
        games: count_games(samples.iter().map(|s| s.game.into()).collect()),
        samples: samples.len() as u64,
        fitted: observations.len() as u64,
        outcomes,
        mates,
        signs: None,
        adjudicated: None,
        score_range: samples.iter().map(|s| s.score_cp).min().zip(samples.iter().map(|s| s.score_cp).max()),
        curve,
        quantiles: quantile_points(observations.iter().map(|o| (o.score_cp, o.outcome)), options.min_bin),
        standardization,
        standardization_with_mates: with_mates.standardization().ok(),
        standardized_curve,
        sigmoids: ByMethod::new(|method| data.fit(method, &fit_options)),
        models,
        validated: None,
        bootstrap,
        warnings: Vec::new(),
        error: None,
        calibration: None,
    };
    result.warnings = warning::of_engine(table, &result, samples, &observations, options);
    result
}

/// Sets the calibration, or the error.
fn finish(
    table: &SampleTable,
    samples: &[Sample],
    numbers: &[u32],
    result: &mut EngineResult,
    options: &CalibrateOptions,
) {
    if result.games < options.min_games {
        let (have, need) = (result.games, options.min_games);
        result.error = Some(text!("{have} game(s), {need} needed: add games, or set `min-games`"));
        return;
    }
    match result.fitted_model(options.model) {
        Err(_) if result.fitted == 0 && result.mates.beyond > 0 => {
            let (all, cp) = (result.mates.beyond, result.mates.threshold_cp);
            result.error = Some(text!(
                "all {all} samples are mates, which a fit leaves out: raise `mate-threshold` if scores from {cp} on \
                 are no mates, or add games with other scores"
            ));
        }
        Err(error) => result.error = Some(error.to_text()),
        Ok(()) => match provenance::calibration(table, samples, numbers, result, options) {
            Some(mut calibration) => {
                let strengths = result.strengths().filter(|_| options.model == ModelKind::Joint);
                let unknown = strengths.and_then(|s| warning::unknown_opponents(table, samples, numbers, s));
                result.warnings.extend(unknown);
                calibration.doubts = warning::doubts(&calibration, &result.warnings, table.rows_as_games);
                result.warnings.extend(warning::of_calibration(&calibration, result));
                result.warnings.extend(warning::draws_misfit(table, &calibration, samples));
                result.calibration = Some(calibration);
            }
            None => {
                result.error = Some(text!("the chosen model was not fitted; choose another with `model`"));
            }
        },
    }
}

/// Draws as the calibration file holds them.
fn draws(sampling: &SamplingOptions) -> Draws {
    if sampling.drop_draws { Draws::Drop } else { Draws::Half }
}
