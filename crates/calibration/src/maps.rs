//! Objects of the calibration file whose names are among known words.

use std::collections::BTreeMap;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer};
use serde_json::{Map, Value};

use crate::located::{Located, member, part, wrong};
use crate::model::ModelKind;
use crate::types::Termination;

/// The fitted models by the method in their key.
pub(crate) fn models<'de, D: Deserializer<'de>, V: DeserializeOwned>(d: D) -> Result<BTreeMap<ModelKind, V>, D::Error> {
    let kinds: Vec<ModelKind> = ModelKind::calibrations().chain(ModelKind::own()).collect();
    entries(d, "method", &kinds, ModelKind::as_str, |kind| kind)
}

/// The log loss of each baseline.
pub(crate) fn baselines<'de, D: Deserializer<'de>, V: DeserializeOwned>(
    d: D,
) -> Result<BTreeMap<ModelKind, V>, D::Error> {
    entries(d, "baseline", &ModelKind::baselines().collect::<Vec<_>>(), ModelKind::as_str, |kind| kind)
}

/// The number of games per termination, by its word.
pub(crate) fn terminations<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<String, u64>, D::Error> {
    entries(d, "termination", Termination::ALL, Termination::as_str, |termination| termination.as_str().to_owned())
}

/// Reads an object whose names are among the words of `known`.
fn entries<'de, D: Deserializer<'de>, W: Copy, K: Ord, V: DeserializeOwned>(
    deserializer: D,
    what: &str,
    known: &[W],
    word: impl Fn(W) -> &'static str,
    key: impl Fn(W) -> K,
) -> Result<BTreeMap<K, V>, D::Error> {
    let object = Map::<String, Value>::deserialize(deserializer)?;
    let read = object.into_iter().map(|(name, value)| {
        let at = member("", &name);
        let Some(found) = known.iter().copied().find(|w| word(*w) == name) else {
            let words: Vec<&str> = known.iter().copied().map(&word).collect();
            let remedy = format!("remove it, or correct its name to one of {}", words.join(", "));
            return wrong(at, format!("unknown {what} {name:?}; {remedy}"));
        };
        Ok((key(found), part(value).map_err(|problem| problem.below(&at))?))
    });
    read.collect::<Result<_, Located>>().map_err(de::Error::custom)
}
