//! Models in the calibration file: their parameters by kind, written, read and checked.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::check::{Checked, positive, wrong};
use super::file::{ChosenModel, FittedModel};
use super::read::part;
use crate::fit::{Isotonic, Model, ModelKind, Phase, StageUnit, Wdl};

/// The word of `kind` for models of a kind; `None` for those that no file holds.
pub(super) fn form(kind: ModelKind) -> Option<&'static str> {
    Some(match kind {
        ModelKind::LeastSquares | ModelKind::MaximumLikelihood => "sigmoid",
        ModelKind::Strength | ModelKind::StrengthShared => "strength",
        ModelKind::Phase => "phase",
        ModelKind::Isotonic => "isotonic",
        ModelKind::Beta => "beta",
        ModelKind::Wdl | ModelKind::WdlMaterial => "wdl",
        _ => return None,
    })
}

/// The kinds of models that a file can hold.
pub(super) fn kinds() -> impl Iterator<Item = ModelKind> {
    ModelKind::ALL.into_iter().filter(|kind| form(*kind).is_some())
}

/// The word of `kind` for a model.
fn word(model: &Model) -> &'static str {
    match model {
        Model::Sigmoid(_) => "sigmoid",
        Model::Strength(_) => "strength",
        Model::Phase(_) => "phase",
        Model::Isotonic(_) => "isotonic",
        Model::Beta(_) => "beta",
        Model::Wdl(_) => "wdl",
        // a baseline, which the reader refuses
        _ => "none",
    }
}

/// The fields of a fitted model beside its parameters.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Evidence {
    /// Covariance of the parameters in their order, clustered by game; symmetric and positive.
    #[serde(deserialize_with = "Option::deserialize")]
    covariance: Option<Vec<Vec<f64>>>,
    /// Number of fitted samples.
    #[serde(deserialize_with = "Option::deserialize")]
    samples: Option<u64>,
    /// Number of games with fitted samples: the clusters of the covariance.
    #[serde(deserialize_with = "Option::deserialize")]
    games: Option<u64>,
}

/// The field of a chosen model beside its parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    method: String,
}

impl Serialize for ChosenModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            kind: &'a str,
            method: ModelKind,
            #[serde(flatten)]
            model: &'a Model,
        }
        Fields { kind: word(&self.model), method: self.kind, model: &self.model }.serialize(serializer)
    }
}

impl Serialize for FittedModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            kind: &'a str,
            #[serde(flatten)]
            model: &'a Model,
            covariance: &'a Option<Vec<Vec<f64>>>,
            samples: Option<u64>,
            games: Option<u64>,
        }
        let Self { model, covariance, samples, games } = self;
        Fields { kind: word(model), model, covariance, samples: *samples, games: *games }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ChosenModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = || {
            let (model, Choice { method }) =
                with_model(Map::deserialize(deserializer).map_err(|e| e.to_string())?, &["method"])?;
            let Some(kind) = kinds().find(|kind| kind.as_str() == method) else {
                let words: Vec<&str> = kinds().map(ModelKind::as_str).collect();
                return wrong(".method", format!("unknown method {method:?}, expected {}", words.join(" or ")));
            };
            Ok(Self { kind, model })
        };
        read().map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for FittedModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Map::deserialize(deserializer)?;
        let (model, Evidence { covariance, samples, games }) =
            with_model(object, &["covariance", "samples", "games"]).map_err(D::Error::custom)?;
        Ok(Self { model, covariance, samples, games })
    }
}

/// A model, whose `kind` says which parameters it has, and the fields `beside` them.
fn with_model<T: DeserializeOwned>(mut object: Map<String, Value>, beside: &[&str]) -> Result<(Model, T), String> {
    let kind = match object.remove("kind") {
        Some(Value::String(kind)) => kind,
        Some(other) => return wrong(".kind", format!("expected a text, found {other}")),
        None => return wrong("", "missing field `kind`"),
    };
    let beside: Map<String, Value> = beside.iter().filter_map(|name| object.remove_entry(*name)).collect();
    let parameters = Value::Object(object);
    let model = match kind.as_str() {
        "sigmoid" => Model::Sigmoid(part(parameters)?),
        "strength" => Model::Strength(part(parameters)?),
        "phase" => Model::Phase(part(parameters)?),
        "isotonic" => Model::Isotonic(part(parameters)?),
        "beta" => Model::Beta(part(parameters)?),
        "wdl" => Model::Wdl(part(parameters)?),
        other => {
            return wrong(
                ".kind",
                format!(
                    "a model of kind {other:?} is unknown; use the evalcurve that wrote the file, or recreate the file \
                     with this one"
                ),
            );
        }
    };
    Ok((model, part(Value::Object(beside))?))
}

/// Checks all models of a file, and that the chosen one is among them.
pub(super) fn check(chosen: &ChosenModel, models: &BTreeMap<ModelKind, FittedModel>) -> Checked {
    check_parameters(".model", &chosen.model)?;
    for (kind, fit) in models {
        let at = format!(".models.{kind}");
        let (found, expected) = (word(&fit.model), form(*kind).unwrap_or_default());
        if found != expected {
            let problem = format!("a model of kind {found:?}, but {kind} has kind {expected:?}");
            return wrong(&format!("{at}.kind"), problem);
        }
        check_parameters(&at, &fit.model)?;
        if let Model::Wdl(wdl) = &fit.model {
            let expected = if *kind == ModelKind::Wdl { StageUnit::Ply } else { StageUnit::Material };
            if wdl.stage != expected {
                let problem = format!("{}, but the stage of {kind} is {}", wdl.stage.as_str(), expected.as_str());
                return wrong(&format!("{at}.stage"), problem);
            }
        }
        if let Some(covariance) = &fit.covariance {
            check_covariance(&format!("{at}.covariance"), covariance, fit.model.parameters().len())?;
        }
    }
    match models.get(&chosen.kind) {
        Some(fit) if fit.model == chosen.model => Ok(()),
        Some(_) => wrong(".model", format!("the chosen model differs from $.models.{}", chosen.kind)),
        None => wrong(".model.method", format!("the chosen method {} is not in $.models", chosen.kind)),
    }
}

fn check_parameters(at: &str, model: &Model) -> Checked {
    let field = |name: &str| format!("{at}.{name}");
    let ascending = |low: &str, from: u32, high: &str, to: u32| {
        if from <= to { Ok(()) } else { wrong(&field(low), format!("{low} {from} is above {high} {to}")) }
    };
    match model {
        Model::Sigmoid(m) => positive(&field("w1"), m.w1),
        Model::Strength(m) => positive(&field("w1"), m.w1),
        Model::Phase(m @ Phase { from_ply, to_ply, .. }) => {
            ascending("from_ply", *from_ply, "to_ply", *to_ply)?;
            positive(&field("w1"), m.w1)?;
            if [from_ply, to_ply].iter().any(|ply| m.sigmoid(Some(**ply)).w1 <= 0.0) {
                return wrong(&field("w1_per_ply"), "the slope is not positive between from_ply and to_ply");
            }
            Ok(())
        }
        Model::Isotonic(Isotonic { points }) => {
            let rising = points.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1);
            let within = points.iter().all(|(_, p)| *p > 0.0 && *p < 1.0);
            if points.len() < 2 || !rising || !within {
                let problem = "expected two or more points, scores ascending, win rates in (0, 1) and not falling";
                return wrong(&field("points"), problem);
            }
            Ok(())
        }
        Model::Beta(m) => {
            for (name, weight) in [("a", m.a), ("b", m.b)] {
                if weight < 0.0 {
                    return wrong(&field(name), format!("expected a number from 0, found {weight:?}"));
                }
            }
            if m.a + m.b <= 0.0 {
                return wrong(&field("a"), "a and b are both 0, so the score has no influence");
            }
            positive(&field("base_w1"), m.base.w1)
        }
        Model::Wdl(m @ Wdl { from_stage, to_stage, .. }) => {
            ascending("from_stage", *from_stage, "to_stage", *to_stage)?;
            // a game has fewer plies than this, and checking a range up to 2^32 would not end
            for stage in *from_stage..=*to_stage.min(&from_stage.saturating_add(10_000)) {
                let (a, b) = m.a_and_b(f64::from(stage));
                if a.is_nan() || b.is_nan() || a <= 0.0 || b <= 0.0 {
                    return wrong(&field("a"), format!("a {a} or b {b} is not positive at stage {stage}"));
                }
            }
            Ok(())
        }
        // a baseline: the check of its kind refuses it
        _ => Ok(()),
    }
}

/// Expects a symmetric matrix of that size whose correlations are within -1 and 1.
fn check_covariance(at: &str, matrix: &[Vec<f64>], size: usize) -> Checked {
    for (i, row) in matrix.iter().enumerate() {
        if row.len() != size {
            return wrong(&format!("{at}[{i}]"), format!("expected a list of {size}, found {}", row.len()));
        }
    }
    if matrix.len() != size || size == 0 {
        return wrong(at, format!("expected a list of {size}, found {}", matrix.len()));
    }
    for i in 0..size {
        for j in 0..=i {
            let (v, w) = (matrix[i][j], matrix[j][i]);
            if v != w {
                return wrong(at, format!("the covariance is not symmetric: {w} and {v}"));
            }
            // a fixed parameter has variance 0; rounding to nine digits may carry a correlation of 1 beyond 1
            let bound = matrix[i][i].max(0.0).sqrt() * matrix[j][j].max(0.0).sqrt() * (1.0 + 1e-6);
            if v.abs() > bound || matrix[i][i] < 0.0 || (size == 2 && matrix[i][i] <= 0.0) {
                return wrong(at, format!("the covariance {matrix:?} is not positive"));
            }
        }
    }
    Ok(())
}
