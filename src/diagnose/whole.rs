//! All questions to one sample table.

use rayon::prelude::*;
use serde::Serialize;

use super::influence::{InfluenceTable, influence};
use super::mismatch::{MismatchOptions, ScaleMismatch, mismatch};
use super::pairwise::{Fitted, Pairwise, pairwise};
use crate::calibrate::{CalibrateOptions, EngineResult, calibrate, cases, observation};
use crate::fit::{BootstrapOptions, FitData, FitOptions, GameBootstrap, Observation};
use crate::sample::{EngineSamples, SampleTable, by_engine};
use crate::validate::FoldOptions;

/// How a table is diagnosed.
#[derive(Debug, Clone)]
pub struct DiagnoseOptions {
    /// How its engines are calibrated.
    pub calibrate: CalibrateOptions,
    /// Resamples of the games for intervals and bands.
    pub resamples: u32,
    /// The score that the table of engine against engine translates, in centipawns.
    pub score_cp: f64,
    /// Number of folds over games.
    pub folds: u64,
}

impl Default for DiagnoseOptions {
    fn default() -> Self {
        Self {
            calibrate: CalibrateOptions::default(),
            resamples: 2_000,
            score_cp: 200.0,
            folds: FoldOptions::default().folds,
        }
    }
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Diagnosis {
    /// Every engine's calibration, or why there is none; engines by name.
    pub results: Vec<EngineResult>,
    /// The bootstrap of each of `results`; `None` for those without a calibration.
    pub bootstraps: Vec<Option<GameBootstrap>>,
    /// Do equal values mean equal win rates? `None` with fewer than two engines.
    pub mismatch: Option<ScaleMismatch>,
    /// Engine against engine; `None` with fewer than two engines.
    pub pairwise: Option<Pairwise>,
    /// What moves the fits, for engines that both methods fit to.
    pub influence: Vec<InfluenceTable>,
    /// What the samples are.
    pub base: Base,
}

/// What a diagnosis rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Base {
    /// Inputs in words.
    pub inputs: Vec<String>,
    /// Filters in words.
    pub filters: Vec<String>,
    /// Seed of draws, folds and resamples.
    pub seed: u64,
    /// Resamples.
    pub resamples: u32,
    /// Folds.
    pub folds: u64,
    /// Games with samples.
    pub games: u64,
    /// Samples.
    pub samples: u64,
    /// Of these, mates that the fits leave out.
    pub mates_left_out: u64,
    /// Samples that fits rest on.
    pub fitted: u64,
    /// Engines.
    pub engines: usize,
    /// Engines with a calibration.
    pub calibrated: usize,
    /// The ratings are ours.
    pub bradley_terry: bool,
}

/// Asks everything. Marks the mates in `table` on the way.
///
/// The same table and options give the same answers on any number of threads.
pub fn diagnose(table: &mut SampleTable, options: &DiagnoseOptions) -> Diagnosis {
    let settings = &options.calibrate;
    let results = calibrate(table, settings);
    let table = &*table;
    let engines = by_engine(table);
    let seed = settings.sampling.seed;
    let observed: Vec<Vec<Observation>> = engines
        .iter()
        .map(|e| e.samples.iter().filter_map(|s| observation(table, s, settings.mate_policy, settings.clip_cp)).collect())
        .collect();
    let data: Vec<FitData<'_>> = observed.iter().map(|o| FitData::new(o)).collect();
    let bootstrap = BootstrapOptions { resamples: options.resamples, seed, bin_cp: settings.bin_cp };
    let bootstraps = data
        .par_iter()
        .zip(&results)
        .map(|(data, result)| result.calibration.is_some().then(|| data.bootstrap(&bootstrap)))
        .collect();
    let fit_options = FitOptions { min_samples: settings.min_samples, ..FitOptions::default() };
    let mismatch_options = MismatchOptions {
        folds: FoldOptions { folds: options.folds, seed },
        resamples: options.resamples,
        seed,
    };
    let mismatch = mismatch(&cases(table, settings.mate_policy, settings.clip_cp), &fit_options, &mismatch_options);
    let fitted: Vec<Fitted<'_>> = results
        .iter()
        .zip(&data)
        .filter_map(|(result, data)| {
            let fit = *result.fit(settings.model).ok()?;
            let influence = data.influence(fit.method, fit.sigmoid)?;
            Some(Fitted { name: &result.name, fit, influence })
        })
        .collect();
    let enough: Vec<EngineSamples<'_>> = engines
        .iter()
        .zip(&results)
        .filter(|(_, r)| r.fitted >= settings.min_samples)
        .map(|(e, _)| e.clone())
        .collect();
    let samples = table.samples.len() as u64;
    let of_fits: u64 = results.iter().map(|r| r.fitted).sum();
    let base = Base {
        inputs: settings.inputs.clone(),
        filters: settings.filters.clone(),
        seed,
        resamples: options.resamples,
        folds: options.folds,
        games: table.games.len() as u64,
        samples,
        mates_left_out: samples - of_fits,
        fitted: of_fits,
        engines: results.len(),
        calibrated: results.iter().filter(|r| r.calibration.is_some()).count(),
        bradley_terry: table.bradley_terry,
    };
    Diagnosis {
        bootstraps,
        mismatch,
        pairwise: pairwise(&fitted, options.score_cp),
        influence: influence(table, &enough, settings),
        base,
        results,
    }
}
