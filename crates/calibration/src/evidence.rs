//! The fields of a fitted model beside its parameters.

use serde::Deserialize;

/// The fields of a fitted model beside its parameters.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Evidence {
    /// Covariance of the parameters in their order, clustered by game; symmetric and positive.
    pub(crate) covariance: Option<Vec<Vec<f64>>>,
    /// Number of fitted samples.
    pub(crate) samples: Option<u64>,
    /// Number of games with fitted samples: the clusters of the covariance.
    pub(crate) games: Option<u64>,
}
