//! Models in the calibration file: their fields by kind, written and read.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::error::CalibrationError;
use super::file::{ChosenModel, FittedModel};
use super::node::Node;
use crate::fit::{Beta, Isotonic, Model, ModelKind, Phase, Sigmoid, StageUnit, Strength, Wdl};

type Result<T> = std::result::Result<T, CalibrationError>;

/// A field of a model.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Field<'a> {
    Word(&'a str),
    Number(f64),
    Count(u32),
    List(&'a [f64]),
    Points(&'a [(f64, f64)]),
}

/// The word of the model's form, and its fields in the order of the file.
fn fields(model: &Model) -> (&'static str, Vec<(&'static str, Field<'_>)>) {
    use Field::{Count, List, Number, Points, Word};
    match model {
        Model::Sigmoid(m) => ("sigmoid", vec![("w1", Number(m.w1)), ("w2", Number(m.w2))]),
        Model::Strength(m) => ("strength", vec![("w1", Number(m.w1)), ("w2", Number(m.w2)), ("w3", Number(m.w3))]),
        Model::Phase(m) => (
            "phase",
            vec![
                ("w1", Number(m.w1)),
                ("w2", Number(m.w2)),
                ("w1_per_ply", Number(m.w1_per_ply)),
                ("middle_ply", Number(m.middle_ply)),
                ("from_ply", Count(m.from_ply)),
                ("to_ply", Count(m.to_ply)),
            ],
        ),
        Model::Isotonic(m) => ("isotonic", vec![("points", Points(&m.points))]),
        Model::Beta(m) => (
            "beta",
            vec![
                ("base_w1", Number(m.base.w1)),
                ("base_w2", Number(m.base.w2)),
                ("a", Number(m.a)),
                ("b", Number(m.b)),
                ("c", Number(m.c)),
            ],
        ),
        Model::Wdl(m) => (
            "wdl",
            vec![
                ("stage", Word(m.stage.as_str())),
                ("a", List(&m.a)),
                ("b", List(&m.b)),
                ("from_stage", Count(m.from_stage)),
                ("to_stage", Count(m.to_stage)),
            ],
        ),
        // a yardstick, and no calibration: the reader refuses it
        _ => ("none", Vec::new()),
    }
}

/// The word of the form that models of a kind have; `None` of those that no file holds.
fn form(kind: ModelKind) -> Option<&'static str> {
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

impl Serialize for ChosenModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (form, fields) = fields(&self.model);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", form)?;
        map.serialize_entry("method", self.kind.as_str())?;
        fields.iter().try_for_each(|(name, field)| map.serialize_entry(name, field))?;
        map.end()
    }
}

impl Serialize for FittedModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (form, fields) = fields(&self.model);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", form)?;
        fields.iter().try_for_each(|(name, field)| map.serialize_entry(name, field))?;
        map.serialize_entry("covariance", &self.covariance)?;
        map.serialize_entry("samples", &self.samples)?;
        map.serialize_entry("games", &self.games)?;
        map.end()
    }
}

/// Reads the chosen model, which must be one of `models`.
pub(super) fn chosen(node: &Node, models: &BTreeMap<ModelKind, FittedModel>) -> Result<ChosenModel> {
    let model = model(node, &["method"])?;
    let by = node.get("method")?;
    let known = kinds();
    let kind = by.word(&known.iter().map(|k| (k.as_str(), *k)).collect::<Vec<_>>())?;
    match models.get(&kind) {
        Some(fit) if fit.model == model => Ok(ChosenModel { kind, model }),
        Some(_) => Err(node.wrong(format!("the chosen model has not the parameters of $.models.{kind}"))),
        None => Err(by.wrong(format!("the chosen method {kind} is not in $.models"))),
    }
}

fn kinds() -> Vec<ModelKind> {
    ModelKind::ALL.into_iter().filter(|k| form(*k).is_some()).collect()
}

/// Reads all fitted models.
pub(super) fn fitted(node: &Node) -> Result<BTreeMap<ModelKind, FittedModel>> {
    let mut models = BTreeMap::new();
    for (name, entry) in node.members()? {
        let Some((kind, form)) = ModelKind::parse(name).and_then(|k| Some((k, form(k)?))) else {
            let known: Vec<&str> = kinds().into_iter().map(ModelKind::as_str).collect();
            return Err(entry.error(
                "a model fitted by this method is unknown here",
                format!("remove it, or correct its name to one of {}", known.join(", ")),
            ));
        };
        let model = model(&entry, &["covariance", "samples", "games"])?;
        let found = fields(&model).0;
        if found != form {
            return Err(entry.get("kind")?.wrong(format!("a model of kind {found:?}, but {kind} is of kind {form:?}")));
        }
        let stage = match kind {
            ModelKind::Wdl => Some(StageUnit::Ply),
            ModelKind::WdlMaterial => Some(StageUnit::Material),
            _ => None,
        };
        if let (Some(wanted), Model::Wdl(wdl)) = (stage, &model)
            && wdl.stage != wanted
        {
            let stage = entry.get("stage")?;
            return Err(stage.wrong(format!("{} where {kind} goes by {}", wdl.stage.as_str(), wanted.as_str())));
        }
        let size = match &model {
            Model::Isotonic(_) => 0,
            other => other.parameters().len(),
        };
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

/// Reads a model by its kind; `beside` are fields that stand beside its own.
fn model(node: &Node, beside: &[&str]) -> Result<Model> {
    let kind = node.get("kind")?;
    let only = |own: &[&str]| node.only(&[&["kind"], beside, own].concat());
    let number = |name: &str| node.get(name)?.number();
    let count = |name: &str| {
        let at = node.get(name)?;
        u32::try_from(at.count()?).map_err(|_| at.wrong("a number below 2^32 is expected"))
    };
    let not_below = |low: &str, high: &str| {
        let (from, to) = (count(low)?, count(high)?);
        if from <= to {
            Ok((from, to))
        } else {
            Err(node.get(low)?.wrong(format!("{low} {from} is above {high} {to}")))
        }
    };
    Ok(match kind.text()? {
        "sigmoid" => {
            only(&["w1", "w2"])?;
            Model::Sigmoid(Sigmoid { w1: node.get("w1")?.positive()?, w2: number("w2")? })
        }
        "strength" => {
            only(&["w1", "w2", "w3"])?;
            Model::Strength(Strength { w1: node.get("w1")?.positive()?, w2: number("w2")?, w3: number("w3")? })
        }
        "phase" => {
            only(&["w1", "w2", "w1_per_ply", "middle_ply", "from_ply", "to_ply"])?;
            let (from_ply, to_ply) = not_below("from_ply", "to_ply")?;
            let model = Phase {
                w1: node.get("w1")?.positive()?,
                w2: number("w2")?,
                w1_per_ply: number("w1_per_ply")?,
                middle_ply: number("middle_ply")?,
                from_ply,
                to_ply,
            };
            if [from_ply, to_ply].iter().any(|ply| model.sigmoid(Some(*ply)).w1 <= 0.0) {
                return Err(node.get("w1_per_ply")?.wrong("the slope is not positive between from_ply and to_ply"));
            }
            Model::Phase(model)
        }
        "isotonic" => {
            only(&["points"])?;
            let at = node.get("points")?;
            let points: Vec<(f64, f64)> = at.list(|point| point.pair(Node::number).map(|[x, p]| (x, p)))?;
            let rising = points.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1);
            let within = points.iter().all(|(_, p)| *p > 0.0 && *p < 1.0);
            if points.len() < 2 || !rising || !within {
                return Err(
                    at.wrong("two points or more are expected, scores ascending, win rates in (0, 1) not falling")
                );
            }
            Model::Isotonic(Isotonic { points })
        }
        "beta" => {
            only(&["base_w1", "base_w2", "a", "b", "c"])?;
            let weight = |name: &str| {
                let at = node.get(name)?;
                let x = at.number()?;
                if x >= 0.0 { Ok(x) } else { Err(at.wrong(format!("expected a number from 0, found {x}"))) }
            };
            let (a, b) = (weight("a")?, weight("b")?);
            if a + b <= 0.0 {
                return Err(node.get("a")?.wrong("a and b are both 0, so that the score would not matter"));
            }
            let base = Sigmoid { w1: node.get("base_w1")?.positive()?, w2: number("base_w2")? };
            Model::Beta(Beta { base, a, b, c: number("c")? })
        }
        "wdl" => {
            only(&["stage", "a", "b", "from_stage", "to_stage"])?;
            let (from_stage, to_stage) = not_below("from_stage", "to_stage")?;
            let four = |name: &str| {
                let at = node.get(name)?;
                let list = at.list(Node::number)?;
                <[f64; 4]>::try_from(list).map_err(|_| at.wrong("a list of 4 is expected"))
            };
            let units = [StageUnit::Ply, StageUnit::Material];
            let stage = node.get("stage")?.word(&units.map(|u| (u.as_str(), u)))?;
            let model = Wdl { stage, a: four("a")?, b: four("b")?, from_stage, to_stage };
            // a game has no more plies than this, and the check would not end on a range up to 2^32
            let seen = from_stage..=to_stage.min(from_stage.saturating_add(10_000));
            for stage in seen {
                let (a, b) = model.a_and_b(f64::from(stage));
                if a.is_nan() || b.is_nan() || a <= 0.0 || b <= 0.0 {
                    return Err(node.get("a")?.wrong(format!("a {a} or b {b} is not positive at stage {stage}")));
                }
            }
            Model::Wdl(model)
        }
        other => {
            return Err(kind.error(
                format!("a model of kind {other:?} is unknown here"),
                "use the evalcurve that wrote the file, or recreate the file with this one",
            ));
        }
    })
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
