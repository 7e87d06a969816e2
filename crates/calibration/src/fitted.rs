//! Models in the calibration file: their parameters by kind, written, read and checked.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use serde_path_to_error::Track;

use crate::error::OF_ANOTHER_VERSION;
use crate::evidence::Evidence;
use crate::file::{ChosenModel, FittedModel};
use crate::located::{Checked, Located, part, wrong};
use crate::model::{Model, ModelKind};

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
        Fields { kind: self.model.form_name(), method: self.kind, model: &self.model }.serialize(serializer)
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
        Fields { kind: model.form_name(), model, covariance, samples: *samples, games: *games }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ChosenModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Map::deserialize(deserializer)?;
        let (model, Choice { method }) = with_model(object, &["method"]).map_err(D::Error::custom)?;
        let kind = ModelKind::parse(&method).filter(|kind| !kind.is_baseline()).ok_or_else(|| {
            let words: Vec<&str> = ModelKind::calibrations().map(ModelKind::as_str).collect();
            let problem = format!("unknown method {method:?}, expected {}; {OF_ANOTHER_VERSION}", words.join(" or "));
            D::Error::custom(Located::new(".method", problem))
        })?;
        Ok(Self { kind, model })
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
fn with_model<T: DeserializeOwned>(mut object: Map<String, Value>, beside: &[&str]) -> Result<(Model, T), Located> {
    let kind = match object.remove("kind") {
        Some(Value::String(kind)) => kind,
        Some(other) => return wrong(".kind", format!("expected a text, found {other}")),
        None => return wrong("", "missing field `kind`"),
    };
    let beside: Map<String, Value> = beside.iter().filter_map(|name| object.remove_entry(*name)).collect();
    let parameters = Value::Object(object);
    let mut track = Track::new();
    let read = Model::deserialize_form(&kind, serde_path_to_error::Deserializer::new(parameters, &mut track));
    let model = match read {
        Some(model) => model.map_err(|error| Located::of_serde(&track.path(), &error.to_string()))?,
        None => {
            return wrong(
                ".kind",
                format!(
                    "a model of kind {kind:?} is unknown; {OF_ANOTHER_VERSION}, or recreate the file with this one"
                ),
            );
        }
    };
    Ok((model, part(Value::Object(beside))?))
}

/// Checks all models of a file, and that the chosen one is among them.
pub(crate) fn check(chosen: &ChosenModel, models: &BTreeMap<ModelKind, FittedModel>) -> Checked {
    chosen.model.check().or_else(|e| wrong(format!(".model.{}", e.field), e.problem))?;
    for (kind, fit) in models {
        let at = format!(".models.{kind}");
        kind.check(&fit.model).or_else(|e| wrong(format!("{at}.{}", e.field), e.problem))?;
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

/// Expects a symmetric matrix of that size whose correlations are within -1 and 1.
fn check_covariance(at: &str, matrix: &[Vec<f64>], size: usize) -> Checked {
    for (i, row) in matrix.iter().enumerate() {
        if row.len() != size {
            return wrong(format!("{at}[{i}]"), format!("expected a list of {size}, found {}", row.len()));
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
