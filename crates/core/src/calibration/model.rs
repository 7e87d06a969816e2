//! Models in the calibration file: their fields by kind, written and read.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::error::CalibrationError;
use super::file::{ChosenModel, FittedModel};
use super::node::Node;
use crate::fit::{InvalidParameter, Model, ModelKind};

type Result<T> = std::result::Result<T, CalibrationError>;

impl Serialize for ChosenModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            kind: &'static str,
            method: ModelKind,
            #[serde(flatten)]
            model: &'a Model,
        }
        let Self { kind: method, model } = self;
        Written { kind: model.form_name(), method: *method, model }.serialize(serializer)
    }
}

impl Serialize for FittedModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            kind: &'static str,
            #[serde(flatten)]
            model: &'a Model,
            covariance: &'a Option<Vec<Vec<f64>>>,
            samples: Option<u64>,
            games: Option<u64>,
        }
        let Self { model, covariance, samples, games } = self;
        Written { kind: model.form_name(), model, covariance, samples: *samples, games: *games }.serialize(serializer)
    }
}

/// Reads the chosen model, which must be one of `models`.
pub(super) fn chosen(node: &Node, models: &BTreeMap<ModelKind, FittedModel>) -> Result<ChosenModel> {
    let model = model(node, &["method"])?;
    let by = node.get("method")?;
    let known: Vec<(&str, ModelKind)> = ModelKind::calibrations().map(|k| (k.as_str(), k)).collect();
    let kind = by.word(&known)?;
    match models.get(&kind) {
        Some(fit) if fit.model == model => Ok(ChosenModel { kind, model }),
        Some(_) => Err(node.wrong(format!("the chosen model has not the parameters of $.models.{kind}"))),
        None => Err(by.wrong(format!("the chosen method {kind} is not in $.models"))),
    }
}

/// Reads all fitted models.
pub(super) fn fitted(node: &Node) -> Result<BTreeMap<ModelKind, FittedModel>> {
    let mut models = BTreeMap::new();
    for (name, entry) in node.members()? {
        let Some(kind) = ModelKind::parse(name).filter(|kind| !kind.is_baseline()) else {
            let known: Vec<&str> = ModelKind::calibrations().map(ModelKind::as_str).collect();
            return Err(entry.error(
                "a model fitted by this method is unknown here",
                format!("remove it, or correct its name to one of {}", known.join(", ")),
            ));
        };
        let model = model(&entry, &["covariance", "samples", "games"])?;
        kind.check(&model).map_err(|e| invalid(&entry, &e))?;
        let size = model.parameters().len();
        let fit = FittedModel {
            model,
            covariance: entry.get("covariance")?.optional(|node| covariance(node, size))?,
            samples: entry.get("samples")?.optional(Node::count)?,
            games: entry.get("games")?.optional(Node::count)?,
        };
        models.insert(kind, fit);
    }
    Ok(models)
}

/// Reads a model by its kind; `beside` are fields of the entry that are no parameters.
fn model(node: &Node, beside: &[&str]) -> Result<Model> {
    let kind = node.get("kind")?;
    let name = kind.text()?;
    match Model::deserialize_form(name, node.without(&[&["kind"], beside].concat())) {
        Some(model) => {
            let model = model?;
            model.check().map_err(|e| invalid(node, &e))?;
            Ok(model)
        }
        None => Err(kind.error(
            format!("a model of kind {name:?} is unknown here"),
            "use the evalcurve that wrote the file, or recreate the file with this one",
        )),
    }
}

fn invalid(node: &Node, error: &InvalidParameter) -> CalibrationError {
    node.get(error.field).map_or_else(|missing| missing, |field| field.wrong(&error.problem))
}

/// A symmetric matrix of that size whose correlations lie within -1 and 1.
fn covariance(node: &Node, size: usize) -> Result<Vec<Vec<f64>>> {
    let rows = node.items()?;
    let matrix: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let values = row.list(Node::number)?;
            if values.len() == size { Ok(values) } else { Err(row.wrong(format!("expected a list of {size}"))) }
        })
        .collect::<Result<_>>()?;
    if matrix.len() != size || size == 0 {
        return Err(node.wrong(format!("expected a list of {size}")));
    }
    for i in 0..size {
        for j in 0..=i {
            let (v, w) = (matrix[i][j], matrix[j][i]);
            if v != w {
                return Err(node.wrong(format!("the covariance is not symmetric: {w} and {v}")));
            }
            // a parameter held fast has variance 0; a correlation that is 1 up to the digits written may come out larger
            let bound = matrix[i][i].max(0.0).sqrt() * matrix[j][j].max(0.0).sqrt() * (1.0 + 1e-6);
            if v.abs() > bound || matrix[i][i] < 0.0 || (size == 2 && matrix[i][i] <= 0.0) {
                return Err(node.wrong(format!("the covariance {matrix:?} is not positive")));
            }
        }
    }
    Ok(matrix)
}
