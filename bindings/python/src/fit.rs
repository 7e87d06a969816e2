//! Fits to scores and results in arrays, on one machine or on many.

use std::collections::HashMap;

use evalcurve::fit::{self as fits, FitOptions, Method, Observation};
use evalcurve::logistic::logit;
use evalcurve::types::Outcome;
use evalcurve::validate::{self, Forecast};
use numpy::{PyArray1, PyArray2, ToPyArray};
use pyo3::PyClass;
use pyo3::prelude::*;

use crate::running::error;
use crate::{Reduced, by_json, estimates, numbers};

/// Scores, results and games as samples.
fn observations(
    scores: &Bound<'_, PyAny>,
    results: &Bound<'_, PyAny>,
    groups: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Observation>> {
    let (scores, results) = (numbers::list(scores)?, numbers::list(results)?);
    let groups = match groups {
        Some(groups) => numbers::identities(groups)?,
        None => (0..scores.len() as u64).collect(),
    };
    if scores.len() != results.len() || scores.len() != groups.len() {
        let (scores, results, groups) = (scores.len(), results.len(), groups.len());
        return Err(error(format!(
            "{scores} scores, {results} results and {groups} groups: give one of each per sample"
        )));
    }
    let outcomes: HashMap<u64, Outcome> =
        [Outcome::Win, Outcome::Draw, Outcome::Loss].map(|outcome| (outcome.value().to_bits(), outcome)).into();
    let sample = |(i, ((score, result), game)): (usize, ((&f64, &f64), &u64))| {
        // -0.0 is 0.0
        let outcome = outcomes.get(&(result + 0.0).to_bits()).copied();
        let outcome = outcome.ok_or_else(|| error(format!("result {i} is {result}: give 1, 0.5 or 0")))?;
        if score.abs() <= f64::from(i32::MAX) {
            Ok(Observation { game: *game, score_cp: score.round() as i32, outcome })
        } else {
            Err(error(format!("score {i} is {score}: give centipawns, without mates")))
        }
    };
    scores.iter().zip(&results).zip(&groups).enumerate().map(sample).collect()
}

fn method(name: &str) -> PyResult<Method> {
    let found = Method::ALL.into_iter().find(|method| method.as_str() == name);
    let names = || Method::ALL.map(Method::as_str).join(" or ");
    found.ok_or_else(|| error(format!("'{name}' is not a method; expected {}", names())))
}

fn options(min_samples: u64) -> FitOptions {
    FitOptions { min_samples, ..FitOptions::default() }
}

/// A part that is merged into another, which must not be itself.
fn other_part<'py, T: PyClass>(part: &Bound<'py, T>, other: &Bound<'py, T>) -> PyResult<PyRef<'py, T>> {
    if part.as_any().is(other.as_any()) {
        return Err(error("a part cannot be merged into itself: its games would count twice"));
    }
    Ok(other.borrow())
}

/// A sigmoid fitted to samples, with its covariance.
#[pyclass(frozen, module = "evalcurve")]
#[derive(Debug)]
pub(crate) struct Fit(fits::Fit);

#[pymethods]
impl Fit {
    /// Slope, per centipawn.
    #[getter]
    fn w1(&self) -> f64 {
        self.0.sigmoid.w1
    }

    /// Offset, in logits: the win rate at score 0 is 1 / (1 + exp(w2)).
    #[getter]
    fn w2(&self) -> f64 {
        self.0.sigmoid.w2
    }

    /// The names of the parameters.
    #[getter]
    fn param_names(&self) -> [&'static str; 2] {
        ["w1", "w2"]
    }

    /// The parameters.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        [self.0.sigmoid.w1, self.0.sigmoid.w2].to_pyarray(py)
    }

    /// Covariance of the parameters, clustered by game.
    fn cov_params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        numbers::matrix(py, &self.0.covariance.map(|row| row.to_vec()))
    }

    /// Standard errors of the parameters.
    #[getter]
    fn bse<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.standard_errors().to_pyarray(py)
    }

    /// Intervals of the parameters, of shape (2, 2), by Student's t with as many degrees of freedom as games but one.
    #[pyo3(signature = (alpha = 0.05))]
    fn conf_int<'py>(slf: &Bound<'py, Self>, alpha: f64) -> PyResult<Bound<'py, PyAny>> {
        estimates::conf_int(slf, alpha, Some(slf.get().0.games))
    }

    /// A table of the parameters with standard errors, z and intervals, as text.
    fn summary<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        estimates::by_python(slf, "summary")
    }

    /// The parameters with standard errors, z and intervals as a pandas.DataFrame.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        estimates::by_python(slf, "frame")
    }

    /// What was minimised.
    #[getter]
    fn model(&self) -> &'static str {
        self.0.method.as_str()
    }

    /// Number of samples.
    #[getter]
    fn nobs(&self) -> u64 {
        self.0.samples
    }

    /// Number of games.
    #[getter]
    fn games(&self) -> u64 {
        self.0.games
    }

    /// Mean loss per sample at the minimum.
    #[getter]
    fn mean_loss(&self) -> f64 {
        self.0.mean_loss
    }

    /// The win rate of each score in centipawns: a float for a number, else an array of the same shape.
    fn win_rate<'py>(&self, score_cp: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        numbers::map(score_cp, |cp| [self.0.sigmoid.win_rate(cp)]).map(|[rates]| rates)
    }

    /// The ends of the 95% interval of the win rate of each score: two floats, or two arrays of the same shape.
    fn interval<'py>(&self, score_cp: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let of = |cp: f64| self.0.in_these_games(cp).interval.unwrap_or([f64::NAN; 2]);
        numbers::map(score_cp, of).map(|[low, high]| (low, high))
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map(Self).map_err(error)
    }

    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(error)
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<Reduced> {
        by_json(&slf.get_type(), slf.get().to_json()?)
    }

    fn __repr__(&self) -> String {
        let fits::Sigmoid { w1, w2 } = self.0.sigmoid;
        format!("<evalcurve.Fit: w1 = {w1:.6}, w2 = {w2:.3}, {} games>", self.0.games)
    }
}

/// Fits the win rate 1 / (1 + exp(-w1 x + w2)) to scores and results.
///
/// scores (centipawns), results (1, 0.5 or 0, both in the view of the side to move) and groups (the game of each
/// sample: numbers or text) are arrays of shape (n,). Without groups each sample counts as a game. The method is
/// `maximum_likelihood` or `least_squares`. The covariance is that of statsmodels' `cov_type="cluster"`.
#[pyfunction]
#[pyo3(signature = (scores, results, groups = None, *, method = "maximum_likelihood", min_samples = 30))]
pub(crate) fn fit(
    py: Python<'_>,
    scores: &Bound<'_, PyAny>,
    results: &Bound<'_, PyAny>,
    groups: Option<&Bound<'_, PyAny>>,
    method: &str,
    min_samples: u64,
) -> PyResult<Fit> {
    let (method, samples) = (self::method(method)?, observations(scores, results, groups)?);
    py.detach(|| fits::fit(method, &samples, &options(min_samples))).map(Fit).map_err(error)
}

/// The mean log loss of one forecast minus that of another of the same results, with its 95% interval.
///
/// results (1, 0.5 or 0), one and other (win rates between 0 and 1) and groups (the game of each sample) are arrays of
/// shape (n,). The interval pairs the samples and is clustered by game. Below 0, `one` is better.
#[pyfunction]
#[pyo3(signature = (results, one, other, groups = None))]
pub(crate) fn log_loss_difference(
    results: &Bound<'_, PyAny>,
    one: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
    groups: Option<&Bound<'_, PyAny>>,
) -> PyResult<(f64, Option<[f64; 2]>)> {
    let forecasts = |win_rates: &Bound<'_, PyAny>| -> PyResult<Vec<Forecast>> {
        let win_rates = numbers::list(win_rates)?;
        if let Some((i, p)) = win_rates.iter().enumerate().find(|(_, p)| !(**p > 0.0 && **p < 1.0)) {
            return Err(error(format!("win rate {i} is {p}: give a number between 0 and 1")));
        }
        let samples = observations(&PyArray1::from_vec(results.py(), vec![0.0; win_rates.len()]), results, groups)?;
        let forecast =
            |(sample, p): (Observation, f64)| Forecast { game: sample.game, logit: logit(p), outcome: sample.outcome };
        Ok(samples.into_iter().zip(win_rates).map(forecast).collect())
    };
    let found = validate::log_loss_difference(&forecasts(one)?, &forecasts(other)?);
    let found = found.ok_or_else(|| error("there are no samples, or not one forecast of each for every sample"))?;
    Ok((found.value, found.interval))
}

/// The counts of a part of the samples of one engine, by which parts are fitted together.
///
/// Each machine calls `count` on its part; one machine merges the counts, finds the `optimum`, and sends it out; each
/// machine calls `GameSums.sum`; one machine merges the sums and calls `fit`. All samples of a game must be in one
/// part.
#[pyclass(module = "evalcurve", eq)]
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FitState(fits::FitState);

#[pymethods]
impl FitState {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Counts the samples of a part: three arrays of shape (n,), as for `fit`.
    #[staticmethod]
    #[pyo3(signature = (scores, results, groups))]
    fn count(scores: &Bound<'_, PyAny>, results: &Bound<'_, PyAny>, groups: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(fits::FitState::new(&observations(scores, results, Some(groups))?)))
    }

    /// Adds the counts of another part. A game that is seen to be in both parts is an error.
    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let other = other_part(slf, other)?;
        slf.borrow_mut().0.merge(&other.0).map_err(error)
    }

    /// Number of samples.
    #[getter]
    fn samples(&self) -> u64 {
        self.0.counts().samples()
    }

    /// Number of games.
    #[getter]
    fn games(&self) -> u64 {
        self.0.games()
    }

    /// (w1, w2) of the curve at which `GameSums` are to be made.
    #[pyo3(signature = (method = "maximum_likelihood", *, min_samples = 30))]
    fn optimum(&self, method: &str, min_samples: u64) -> PyResult<(f64, f64)> {
        let point = self.0.optimum(self::method(method)?, &options(min_samples)).map_err(error)?;
        Ok((point.sigmoid.w1, point.sigmoid.w2))
    }

    /// The fit to all parts, with the sums of the same parts.
    #[pyo3(signature = (sums, *, min_samples = 30))]
    fn fit(&self, sums: &GameSums, min_samples: u64) -> PyResult<Fit> {
        self.0.fit(&sums.0, &options(min_samples)).map(Fit).map_err(error)
    }

    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(error)
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map(Self).map_err(error)
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<Reduced> {
        by_json(&slf.get_type(), slf.borrow().to_json()?)
    }

    fn __repr__(&self) -> String {
        format!("<evalcurve.FitState: {} samples, {} games>", self.samples(), self.games())
    }
}

/// The sums by game of a part of the samples, at an optimum.
#[pyclass(module = "evalcurve", eq)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GameSums(fits::GameSums);

#[pymethods]
impl GameSums {
    /// Sums the samples of a part at the optimum of all counts.
    #[staticmethod]
    #[pyo3(signature = (optimum, scores, results, groups, method = "maximum_likelihood"))]
    fn sum(
        optimum: (f64, f64),
        scores: &Bound<'_, PyAny>,
        results: &Bound<'_, PyAny>,
        groups: &Bound<'_, PyAny>,
        method: &str,
    ) -> PyResult<Self> {
        let sigmoid = fits::Sigmoid { w1: optimum.0, w2: optimum.1 };
        let samples = observations(scores, results, Some(groups))?;
        Ok(Self(fits::GameSums::new(self::method(method)?, sigmoid, &samples)))
    }

    /// Adds the sums of another part.
    fn merge(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        let other = other_part(slf, other)?;
        slf.borrow_mut().0.merge(&other.0).map_err(error)
    }

    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(error)
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        serde_json::from_str(text).map(Self).map_err(error)
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<Reduced> {
        by_json(&slf.get_type(), slf.borrow().to_json()?)
    }
}
