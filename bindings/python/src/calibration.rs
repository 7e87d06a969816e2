//! Calibrations: scores into win rates.

use std::path::PathBuf;

use evalcurve::calibration::{self, CalibrationError, FittedModel, Reading, Situation};
use evalcurve::language::{Language, Text};
use evalcurve::plot::{PlotOptions, curve_with_fits};
use evalcurve::report::figures::series_of_calibration;
use evalcurve::run::{Converter, seconds_of};
use numpy::{PyArray1, PyArray2, ToPyArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::figure::Figure;
use crate::running::{error, keywords, of_kind};
use crate::{Reduced, by_json};
use crate::{estimates, numbers};

/// The calibration of one engine.
#[pyclass(frozen, eq, module = "evalcurve")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Calibration(pub calibration::Calibration);

/// An error of the file with the same words.
fn failed(error: CalibrationError) -> PyErr {
    let io = match &error {
        CalibrationError::Io { source, .. } => Some(source.kind()),
        _ => None,
    };
    of_kind(io, error.to_string())
}

/// What is known of the positions, from keyword arguments; what the calibration cannot know is refused.
fn situation(calibration: &calibration::Calibration, known: Option<&Bound<'_, PyDict>>) -> PyResult<Situation> {
    let refused = |text: Text| error(keywords(&text.to_string()));
    let mut situation = Situation::default();
    for (name, value) in known.into_iter().flat_map(|known| known.iter()) {
        let name: String = name.extract()?;
        let known = !value.is_none();
        match name.as_str() {
            "rating_difference" if known => situation = situation.with_rating_difference(value.extract()?),
            "ply" => situation.ply = value.extract()?,
            "material" => situation.material = value.extract()?,
            "rating" => situation.rating = value.extract()?,
            "control" if known => situation.seconds = Some(seconds_of(&value.extract::<String>()?).map_err(refused)?),
            "rating_difference" | "control" => {}
            _ => return Err(PyTypeError::new_err(format!("unexpected keyword argument '{name}'"))),
        }
    }
    if situation.rating.is_some() || situation.seconds.is_some() {
        let converter = Converter { calibration: calibration.clone(), reading: Reading::Equal, situation, elsewhere: None };
        converter.people_note().map_err(refused)?;
    }
    Ok(situation)
}

fn reading(field: bool) -> Reading {
    if field { Reading::Field } else { Reading::Equal }
}

impl Calibration {
    fn fitted(&self) -> Option<&FittedModel> {
        self.0.models.get(&self.0.model.kind)
    }

    fn covariance(&self) -> PyResult<&[Vec<f64>]> {
        let covariance = self.fitted().and_then(|fit| fit.covariance.as_deref());
        covariance.ok_or_else(|| self.without_covariance())
    }

    fn without_covariance(&self) -> PyErr {
        let model = self.model();
        error(format!("{}: the model {model} has no covariance, so it has no interval", self.name()))
    }
}

#[pymethods]
impl Calibration {
    /// Reads a calibration file.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        calibration::Calibration::read(path).map(Self).map_err(failed)
    }

    /// Reads the text of a calibration file.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        calibration::Calibration::from_json(text, "<text>").map(Self).map_err(failed)
    }

    /// The text of the calibration file.
    pub(crate) fn to_json(&self) -> PyResult<String> {
        self.0.to_json().map_err(failed)
    }

    /// Writes the calibration file, whole or not at all.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        calibration::write(&self.0, path).map_err(failed)
    }

    /// The name of the engine.
    #[getter]
    fn name(&self) -> &str {
        &self.0.engine.name
    }

    /// The model, such as `joint`.
    #[getter]
    fn model(&self) -> &'static str {
        self.0.model.kind.as_str()
    }

    /// The centipawns of one logit between equal players, the constant known as 600, with its 95% interval.
    #[getter]
    fn constant(&self) -> Option<(f64, Option<[f64; 2]>)> {
        self.0.constant().map(|estimate| (estimate.value, estimate.interval))
    }

    /// The names of the parameters of the model.
    #[getter]
    fn param_names(&self) -> Vec<&'static str> {
        self.0.model.model.parameters().into_iter().map(|(name, _)| name).collect()
    }

    /// The parameters of the model.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let values: Vec<f64> = self.0.model.model.parameters().into_iter().map(|(_, value)| value).collect();
        values.to_pyarray(py)
    }

    /// Covariance of the parameters, clustered by game.
    fn cov_params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        numbers::matrix(py, self.covariance()?)
    }

    /// Standard errors of the parameters.
    #[getter]
    fn bse<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(numbers::standard_errors(self.covariance()?).to_pyarray(py))
    }

    /// Intervals of the parameters, of shape (n, 2), by Student's t with as many degrees of freedom as games but one.
    #[pyo3(signature = (alpha = 0.05))]
    fn conf_int<'py>(slf: &Bound<'py, Self>, alpha: f64) -> PyResult<Bound<'py, PyAny>> {
        estimates::conf_int(slf, alpha, slf.get().games())
    }

    /// A table of the parameters with standard errors, z and intervals, as text.
    fn summary<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        estimates::by_python(slf, "summary")
    }

    /// The parameters with standard errors, z and intervals as a pandas.DataFrame.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        estimates::by_python(slf, "frame")
    }

    /// Draws the evaluation curve and the model into axes of matplotlib, by default the current ones, and returns
    /// them. Bins with fewer samples than `min_bin` are left out; other keyword arguments are those of `Axes.plot` for
    /// the line.
    #[pyo3(signature = (ax = None, *, min_bin = 50, **line))]
    fn plot<'py>(
        slf: &Bound<'py, Self>,
        ax: Option<Bound<'py, PyAny>>,
        min_bin: u64,
        line: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let line = line.unwrap_or_else(|| PyDict::new(slf.py()));
        slf.py().import("evalcurve._estimates")?.call_method1("plot", (slf, ax, min_bin, line))
    }

    /// Number of samples of the fit.
    #[getter]
    fn nobs(&self) -> Option<u64> {
        self.fitted().and_then(|fit| fit.samples)
    }

    /// Number of games of the fit, the clusters of the covariance.
    #[getter]
    fn games(&self) -> Option<u64> {
        self.fitted().and_then(|fit| fit.games)
    }

    /// Why the calibration may be wrong, in words; empty if nothing is known against it.
    #[getter]
    fn doubts(&self) -> Vec<&'static str> {
        self.0.doubts.iter().map(|doubt| doubt.words()).collect()
    }

    /// The score in centipawns from which on a score counts as a mate.
    #[getter]
    fn mate_threshold(&self) -> Option<f64> {
        self.0.mates.and_then(|mates| mates.threshold_cp)
    }

    /// The win rate of each score, from 0 to 1: a float for a number, else an array of the same shape.
    ///
    /// Scores are centipawns in the view of the side to move. From the mate threshold on, a score is a mate, whose win
    /// rate is 1 or 0. NaN gives NaN.
    ///
    /// rating_difference, ply, material, rating and control tell what is known of the positions, as in `evalcurve
    /// winrate`; with `field` the win rate is that against the opponents of the games, else that between equal players.
    #[pyo3(signature = (score_cp, *, field = false, **known))]
    fn win_rate<'py>(
        &self,
        score_cp: &Bound<'py, PyAny>,
        field: bool,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (situation, reading) = (situation(&self.0, known)?, reading(field));
        let of = |cp| [self.0.win_rate_in(reading, self.0.classify(cp), &situation)];
        numbers::map(score_cp, of).map(|[rates]| rates)
    }

    /// The ends of the 95% interval of the win rate of each score, clustered by game: two floats for a number, else two
    /// arrays of the same shape. It is that of the curve, not of single results.
    ///
    /// rating_difference, ply, material, rating and control tell what is known of the positions, as in `evalcurve
    /// winrate`; with `field` the win rate is that against the opponents of the games, else that between equal players.
    #[pyo3(signature = (score_cp, *, field = false, **known))]
    fn interval<'py>(
        &self,
        score_cp: &Bound<'py, PyAny>,
        field: bool,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (situation, reading) = (situation(&self.0, known)?, reading(field));
        if self.0.interval(reading, 0.0, &situation).is_none() {
            return Err(self.without_covariance());
        }
        let of = |cp| {
            let (low, high) = self.0.interval(reading, cp, &situation).unwrap_or((f64::NAN, f64::NAN));
            [low, high]
        };
        numbers::map(score_cp, of).map(|[low, high]| (low, high))
    }

    /// The score in centipawns of each win rate, the inverse of `win_rate`; NaN where no score has it, as for 0 and 1.
    ///
    /// rating_difference, ply, material, rating and control tell what is known of the positions, as in `evalcurve
    /// winrate`; with `field` the win rate is that against the opponents of the games, else that between equal players.
    #[pyo3(signature = (win_rate, *, field = false, **known))]
    fn inverse<'py>(
        &self,
        win_rate: &Bound<'py, PyAny>,
        field: bool,
        known: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (situation, reading) = (situation(&self.0, known)?, reading(field));
        let of = |p| [self.0.score(reading, p, &situation).unwrap_or(f64::NAN)];
        numbers::map(win_rate, of).map(|[scores]| scores)
    }

    /// The evaluation curve with its fits.
    #[pyo3(signature = (min_bin = 50))]
    fn figure(&self, min_bin: u64) -> PyResult<Figure> {
        let series = series_of_calibration(&self.0, 0, min_bin, Language::English);
        curve_with_fits(&series, &PlotOptions::default()).map(Figure).map_err(error)
    }

    fn _repr_svg_(&self) -> Option<String> {
        // a notebook falls back to the text where there is nothing to draw
        self.figure(50).ok().map(|figure| figure.0.svg().to_owned())
    }

    fn __repr__(&self) -> String {
        let constant = self.0.constant().map_or_else(String::new, |c| format!(", 1/w1 = {:.0}", c.value));
        format!("<evalcurve.Calibration of {}: {}{constant}>", self.name(), self.model())
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<Reduced> {
        by_json(&slf.get_type(), slf.get().to_json()?)
    }
}
