//! Models of the program that uses this crate: what they are, and the list of those it has registered.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use super::definition::Definition;
use super::form::{Form, InvalidParameter};
use super::{Model, ModelKind};
use crate::situation::Situation;

pub(super) static OWN: Definition = Definition {
    label: "a model of its own",
    summary: "A model of the program itself",
    rank: Some(u8::MAX),
    diagnosed: false,
    on_request: true,
    ..Definition::BASELINE
};

/// The names beside the parameters in a calibration file.
const TAKEN: [&str; 5] = ["kind", "method", "covariance", "samples", "games"];

static REGISTERED: RwLock<Vec<&'static dyn OwnModel>> = RwLock::new(Vec::new());

/// A model of your own: a function of the score with a fixed number of parameters.
///
/// A program that [registers](register) it writes it into calibration files under its name and reads it from them; all
/// questions of a [`Calibration`](crate::Calibration) are answered, intervals with a covariance too. Other programs,
/// `evalcurve` among them, refuse such a file: they do not know the function.
///
/// ```
/// use evalcurve_calibration::{Calibration, FittedModel, Model, OwnModel, Situation, register};
///
/// /// Scores above a size count as less: log odds of `slope * size * asinh(score / size)`.
/// #[derive(Debug)]
/// struct Bent;
/// static BENT: Bent = Bent;
///
/// impl OwnModel for Bent {
///     fn name(&self) -> &'static str {
///         "bent"
///     }
///
///     fn parameters(&self) -> &'static [&'static str] {
///         &["slope", "size"]
///     }
///
///     fn logit(&self, parameters: &[f64], score_cp: f64, _: &Situation) -> f64 {
///         parameters[0] * parameters[1] * (score_cp / parameters[1]).asinh()
///     }
/// }
///
/// let bent = register(&BENT)?;
/// let model = Model::own(&BENT, vec![0.002, 500.0])?;
/// let fit = FittedModel { model, covariance: None, samples: None, games: None };
/// let text = Calibration::from_models("engine", [(bent, fit)], bent).unwrap().to_json()?;
/// let read = Calibration::from_json(&text, "engine.json")?;
/// assert!((read.estimate(1000.0).value - 0.809).abs() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OwnModel: std::fmt::Debug + Sync + std::panic::RefUnwindSafe {
    /// The name in calibration files, like `joint`.
    fn name(&self) -> &'static str;

    /// The names of the parameters in calibration files.
    fn parameters(&self) -> &'static [&'static str];

    /// The log odds of winning at a score in centipawns, view of the side to move; a draw counts half a win. It rises
    /// with the score. `parameters` are in the order of their names.
    fn logit(&self, parameters: &[f64], score_cp: f64, situation: &Situation) -> f64;

    /// What is wrong with parameters, all of them finite, that no file may hold; `None` if nothing is.
    fn problem(&self, parameters: &[f64]) -> Option<String> {
        let _ = parameters;
        None
    }
}

/// Makes a model of your own known to this program. Registering it again changes nothing.
///
/// # Errors
/// If another model has its name, or a parameter has a name that calibration files use for something else.
pub fn register(model: &'static dyn OwnModel) -> Result<ModelKind, InvalidParameter> {
    let name = model.name();
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let same = |known: &&'static dyn OwnModel| known.name() == name;
    let is_known = all.iter().find(|known| same(known)).map(|known| std::ptr::addr_eq(*known, model));
    let is_listed = ModelKind::ALL.iter().any(|kind| kind.as_str() == name || kind.form() == name);
    if name.is_empty() || is_listed || is_known == Some(false) {
        return Err(InvalidParameter::new("name", format!("{name:?} is the name of another model; choose a new one")));
    }
    if let Some(taken) = model.parameters().iter().find(|name| TAKEN.contains(name)) {
        return Err(InvalidParameter::new(taken, "calibration files use the name otherwise; choose a new one"));
    }
    if is_known.is_none() {
        all.push(model);
    }
    Ok(ModelKind::Own(name))
}

/// The registered models.
pub(crate) fn registered() -> Vec<&'static dyn OwnModel> {
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A model of your own with its parameters, from [`Model::own`].
#[derive(Debug, Clone)]
pub struct Own {
    model: &'static dyn OwnModel,
    values: Vec<f64>,
}

impl Model {
    /// A model of your own with its parameters, in the order of their names.
    ///
    /// # Errors
    /// If their number is not that of the names, or if one is not finite or [a problem](OwnModel::problem).
    pub fn own(model: &'static dyn OwnModel, parameters: Vec<f64>) -> Result<Self, InvalidParameter> {
        let own = Own { model, values: parameters };
        own.check().map(|()| Self::Own(own))
    }
}

impl Own {
    pub(super) fn name(&self) -> &'static str {
        self.model.name()
    }

    /// Reads the parameters of the registered model with this name; `None` if there is none.
    pub(super) fn read<'de, D: Deserializer<'de>>(name: &str, fields: D) -> Option<Result<Self, D::Error>> {
        let model = registered().into_iter().find(|model| model.name() == name)?;
        let read = |mut fields: BTreeMap<String, f64>| {
            let names = model.parameters();
            let value = |name: &&'static str| fields.remove(*name).ok_or_else(|| D::Error::missing_field(name));
            let values = names.iter().map(value).collect::<Result<_, _>>()?;
            let unknown = fields.keys().next().map(|name| D::Error::unknown_field(name, names));
            unknown.map_or(Ok(Self { model, values }), Err)
        };
        Some(BTreeMap::deserialize(fields).and_then(read))
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        self.parameters() == other.parameters() && self.name() == other.name()
    }
}

impl Serialize for Own {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.parameters())
    }
}

impl Form for Own {
    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.model.logit(&self.values, score_cp, situation)
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        self.model.parameters().iter().copied().zip(self.values.iter().copied()).collect()
    }

    /// By central differences: relative steps of 1e-5 leave about ten digits.
    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let slope = |i: usize| {
            let mut values = self.values.clone();
            let step = 1e-5 * values[i].abs().max(1e-3);
            let mut at = |value: f64| {
                values[i] = value;
                self.model.logit(&values, score_cp, situation)
            };
            (at(self.values[i] + step) - at(self.values[i] - step)) / (2.0 * step)
        };
        Some((0..self.values.len()).map(slope).collect())
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        let (names, values) = (self.model.parameters(), &self.values);
        if names.len() != values.len() {
            let problem = format!("{} has {} parameters, found {}", self.name(), names.len(), values.len());
            return Err(InvalidParameter::new("kind", problem));
        }
        if let Some((name, value)) = names.iter().zip(values).find(|(_, value)| !value.is_finite()) {
            return Err(InvalidParameter::new(name, format!("expected a number, found {value}")));
        }
        self.model.problem(values).map_or(Ok(()), |problem| Err(InvalidParameter::new("kind", problem)))
    }
}
