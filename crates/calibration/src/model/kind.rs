//! What the list of models says of each kind.

use super::definition::Needs;
use super::form::InvalidParameter;
use super::own::registered;
use super::{Method, Model, ModelKind};

impl ModelKind {
    /// The models that others are compared with, in the order of the list.
    pub fn baselines() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kind| kind.is_baseline())
    }

    /// Returns `false` if the model is for the other kind of games: chess, or everything but chess.
    pub fn is_for(self, chess: bool) -> bool {
        self.definition().chess.is_none_or(|only| only == chess)
    }

    /// The models that a calibration can have, in the order of the list.
    pub fn calibrations() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kind| !kind.is_baseline())
    }

    /// The candidates of a choice by log loss: maximum likelihood first, the others from simple to flexible.
    pub fn candidates() -> Vec<Self> {
        let mut kinds: Vec<Self> = Self::calibrations().filter(|kind| !kind.definition().on_request).collect();
        kinds.sort_by_key(|kind| (*kind != Self::MaximumLikelihood, kind.definition().rank));
        kinds
    }

    /// The models that every diagnosis scores: baselines first, the others from simple to flexible.
    pub fn diagnosed() -> Vec<Self> {
        let mut kinds: Vec<Self> = Self::ALL.iter().copied().filter(|kind| kind.definition().diagnosed).collect();
        kinds.sort_by_key(|kind| kind.definition().rank);
        kinds
    }

    /// The name in files: `maximum_likelihood`, `shared_600` …
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own(name) => name,
            _ => self.definition().name,
        }
    }

    /// Short names that options accept, too.
    pub fn aliases(self) -> &'static [&'static str] {
        self.definition().aliases
    }

    /// A few words for reports.
    pub fn label(self) -> &'static str {
        self.definition().label
    }

    /// One sentence for help texts.
    pub fn summary(self) -> &'static str {
        self.definition().summary
    }

    /// The model with that name in files, of the list or [registered](super::register).
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().chain(Self::own()).find(|kind| kind.as_str() == name)
    }

    /// The registered models.
    pub(crate) fn own() -> impl Iterator<Item = Self> {
        registered().into_iter().map(|model| Self::Own(model.name()))
    }

    /// Returns `true` for a baseline: used for comparison, never stored as a calibration.
    pub fn is_baseline(self) -> bool {
        self.definition().rank.is_none()
    }

    /// `kind` of the model in calibration files; `None` for a baseline.
    pub fn form_name(self) -> Option<&'static str> {
        (!self.is_baseline()).then(|| self.form())
    }

    /// Returns `true` for a model with a share of results that follow no score.
    pub fn allows_lapses(self) -> bool {
        self.definition().lapses
    }

    /// Returns `true` if the players or their rating difference change its win rates.
    pub fn knows_players(self) -> bool {
        self.definition().knows_players
    }

    /// What it must know of a sample beyond the score.
    pub fn needs(self) -> Needs {
        self.definition().needs
    }

    /// The method of the plain sigmoids; `None` for other models.
    pub fn method(self) -> Option<Method> {
        Method::ALL.into_iter().find(|method| Self::from(*method) == self)
    }

    /// Refuses parameters that no calibration file may hold under the name of this model.
    ///
    /// # Errors
    /// Field `kind` where the parameters are of another form; else the first parameter that is out of range.
    pub fn check(self, model: &Model) -> Result<(), InvalidParameter> {
        let (found, expected) = (model.form_name(), self.form_name().unwrap_or("none"));
        if found != expected {
            let problem = format!("a model of kind {found:?}, but {self} is of kind {expected:?}");
            return Err(InvalidParameter::new("kind", problem));
        }
        model.check()?;
        match (self.definition().stage, model.fitted_range()) {
            (Some(expected), Some((found, _))) if found != expected => {
                let problem = format!("{} where {self} goes by {}", found.as_str(), expected.as_str());
                Err(InvalidParameter::new("stage", problem))
            }
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for ModelKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for ModelKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl From<Method> for ModelKind {
    fn from(method: Method) -> Self {
        match method {
            Method::LeastSquares => Self::LeastSquares,
            Method::MaximumLikelihood => Self::MaximumLikelihood,
        }
    }
}
