//! Transforms fitted out of sample: each without one fold of the games, for the values of that fold.

use rayon::prelude::*;

use super::Transform;
use crate::fit::FitOptions;
use crate::standardize::{MismatchRow, Standardization};
use crate::validate::{Case, EngineCases, FoldOptions, Model, Situation, fit_engines, fold_of};

/// What a transform knows of one engine.
enum Scale {
    Raw,
    Standardized(Standardization),
    Model(Box<Model>),
}

/// A transform fitted without each fold to each engine.
pub(super) struct Scales {
    pub transform: Transform,
    /// by fold, by engine
    fits: Vec<Vec<Result<Scale, String>>>,
}

pub(super) fn scales(transform: Transform, engines: &[&EngineCases], fit: &FitOptions, folds: &FoldOptions) -> Scales {
    let one = |out: u64| -> Vec<Result<Scale, String>> {
        let keep = |e: &&EngineCases| -> Vec<Case> {
            e.cases.iter().filter(|c| fold_of(c.game, folds) != out).copied().collect()
        };
        let kept: Vec<Vec<Case>> = engines.iter().map(keep).collect();
        match transform.kind() {
            None if transform == Transform::Raw => kept.iter().map(|_| Ok(Scale::Raw)).collect(),
            None => kept
                .iter()
                .map(|cases| {
                    let standard = Standardization::from_scores(cases.iter().map(|c| c.score_cp));
                    standard.map(Scale::Standardized).map_err(|e| e.to_string())
                })
                .collect(),
            Some(kind) => {
                let slices: Vec<&[Case]> = kept.iter().map(Vec::as_slice).collect();
                // who has enough samples for a fit keeps it when a fold is missing
                let options = FitOptions { min_samples: 0, ..*fit };
                fit_engines(kind, &slices, &options)
                    .into_iter()
                    .map(|fit| fit.map(|f| Scale::Model(Box::new(f.model))).map_err(|e| e.to_string()))
                    .collect()
            }
        }
    };
    Scales { transform, fits: (0..folds.folds).into_par_iter().map(one).collect() }
}

impl Scales {
    /// Why an engine has no values.
    pub fn error(&self, engine: usize) -> Option<String> {
        self.fits.iter().find_map(|fits| fits.get(engine)?.as_ref().err().cloned())
    }

    /// The values of all samples of the engines `kept`, each by the fit without the sample's fold.
    pub fn rows(&self, engines: &[&EngineCases], kept: &[usize], folds: &FoldOptions) -> Vec<MismatchRow> {
        let value = |scale: &Scale, case: &Case| -> (f64, f64) {
            let (x, y) = (f64::from(case.score_cp), case.outcome.value());
            match scale {
                Scale::Raw => (x, y),
                Scale::Standardized(standard) => (standard.z(x), y),
                Scale::Model(model) if self.transform == Transform::Strength => {
                    let equals = Situation { strength: Some(0.0), ..case.situation };
                    let explained = model.win_rate(x, &case.situation) - model.win_rate(x, &equals);
                    (model.logit(x, &equals), y - explained)
                }
                // the logit tells apart what a win rate would round to 0 or 1
                Scale::Model(model) => (model.logit(x, &case.situation), y),
            }
        };
        let row = |(engine, &e): (usize, &usize)| {
            engines[e].cases.iter().map(move |case| {
                let fits = self.fits.get(fold_of(case.game, folds) as usize).and_then(|f| f.get(e));
                let (value, result) = match fits {
                    Some(Ok(scale)) => value(scale, case),
                    // engines without a fit were left out before; NaN would leave the row out
                    _ => (f64::NAN, 0.0),
                };
                MismatchRow { engine, value, result }
            })
        };
        kept.iter().enumerate().flat_map(row).collect()
    }
}
