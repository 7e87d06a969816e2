//! Calibrations: scores into win rates.

use std::path::PathBuf;

use evalcurve::calibration::{self, CalibrationError, FittedModel, Reading, Situation, control_seconds};
use evalcurve::judge::evaluation::Forecaster;
use evalcurve::language::Language;
use evalcurve::logistic::logistic;
use evalcurve::plot::{PlotOptions, curve_with_fits};
use evalcurve::report::figures::series_of_calibration;
use evalcurve::run::{Converter, seconds_of};
use evalcurve::table::{CellKind, Cells, Source};
use numpy::{PyArray1, PyArray2, ToPyArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrow::Given;
use crate::figure::Figure;
use crate::running::{error, keywords, of_kind};
use crate::{Reduced, by_json, estimates, numbers};

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

/// What is known of the positions, from keyword arguments: one situation for all, or one for each.
struct Situations(Vec<Situation>);

impl Situations {
    fn at(&self, index: usize) -> Situation {
        // one for all, or one for each
        self.0.get(index).or(self.0.last()).copied().unwrap_or_default()
    }
}

/// The values and what is known of their positions, all of one shape; what the calibration cannot know is refused.
fn situations<'py>(
    calibration: &calibration::Calibration,
    values: &Bound<'py, PyAny>,
    known: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, Situations)> {
    let py = values.py();
    let numpy = py.import("numpy")?;
    let (mut names, mut arrays) = (Vec::new(), vec![values.clone()]);
    for (name, value) in known.into_iter().flat_map(|known| known.iter()) {
        let name: String = name.extract()?;
        if !["rating_difference", "ply", "material", "rating", "control"].contains(&name.as_str()) {
            return Err(PyTypeError::new_err(format!("unexpected keyword argument '{name}'")));
        }
        if !value.is_none() {
            names.push(name);
            arrays.push(numpy.call_method1("asarray", (value,))?);
        }
    }
    let is_scalar =
        |array: &Bound<'py, PyAny>| -> PyResult<bool> { Ok(array.getattr("ndim")?.extract::<usize>()? == 0) };
    let one_for_all = arrays[1..].iter().map(&is_scalar).collect::<PyResult<Vec<_>>>()?.into_iter().all(|one| one);
    let (values, count) = match one_for_all {
        true => (values.clone(), 1),
        false => {
            let all: Vec<Bound<'py, PyAny>> =
                numpy.call_method1("broadcast_arrays", PyTuple::new(py, arrays)?)?.extract()?;
            arrays = all;
            (arrays[0].clone(), arrays[0].getattr("size")?.extract()?)
        }
    };
    let mut situations = vec![Situation::default(); count];
    for (name, array) in names.iter().zip(&arrays[1..]) {
        let flat = numpy.call_method1("ravel", (array,))?;
        if name == "control" {
            let texts: Vec<Option<String>> = flat.call_method0("tolist")?.extract()?;
            for (situation, text) in situations.iter_mut().zip(texts) {
                let seconds = text.map(|text| seconds_of(&text)).transpose();
                situation.seconds = seconds.map_err(|text| error(keywords(&text.to_string())))?;
            }
            continue;
        }
        for (situation, value) in situations.iter_mut().zip(numbers::list(&flat)?) {
            // as in a column that not every row has
            if value.is_nan() {
                continue;
            }
            let whole = || -> PyResult<u32> {
                let is_whole = value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0;
                let refused = || error(format!("{name}={value} is not a whole number from 0"));
                is_whole.then_some(value as u32).ok_or_else(refused)
            };
            match name.as_str() {
                "rating_difference" => *situation = situation.with_rating_difference(value),
                "ply" => situation.ply = Some(whole()?),
                "material" => situation.material = Some(whole()?),
                _ => situation.rating = Some(value),
            }
        }
    }
    refuse_unknown_people(calibration, &situations)?;
    Ok((values, Situations(situations)))
}

/// Refuses ratings and time controls that the games of the calibration did not have.
fn refuse_unknown_people(calibration: &calibration::Calibration, situations: &[Situation]) -> PyResult<()> {
    let known = |of: fn(&Situation) -> Option<f64>| situations.iter().filter_map(of);
    let ends = |of: fn(&Situation) -> Option<f64>| [known(of).reduce(f64::min), known(of).reduce(f64::max)];
    let (ratings, seconds) = (ends(|s| s.rating), ends(|s| s.seconds));
    for (rating, seconds) in ratings.into_iter().zip(seconds).filter(|(rating, s)| rating.is_some() || s.is_some()) {
        let situation = Situation { rating, seconds, ..Situation::default() };
        let converter =
            Converter { calibration: calibration.clone(), reading: Reading::Equal, situation, elsewhere: None };
        converter.people_note().map_err(|text| error(keywords(&text.to_string())))?;
    }
    Ok(())
}

/// The forecasts of the rows of a table, in [0, 1]; NaN where there is none.
fn forecasts(calibration: &calibration::Calibration, table: &Given) -> PyResult<Vec<f64>> {
    let names = table.names();
    let cells = |name: &str, kind| {
        names
            .contains(&name)
            .then(|| table.cells(name, kind))
            .transpose()
            .map_err(|text| error(format!("{name}: {text}")))
    };
    let number = |name| cells(name, CellKind::Number);
    let text = |name| cells(name, CellKind::Text);
    let scores = number("score_cp")?.map_or_else(|| number("score"), |found| Ok(Some(found)))?;
    let Some(scores) = scores else {
        return Err(error(format!("no column 'score_cp': its scores are forecast (found: {})", names.join(", "))));
    };
    let (ply, material, difference) = (number("ply")?, number("material")?, number("rating_difference")?);
    let (rating, opponent_rating) = (number("rating")?, number("opponent_rating")?);
    let (mate, by_results) = (cells("mate", CellKind::Flag)?, cells("bradley_terry", CellKind::Flag)?);
    let control = text("time_control")?.map_or_else(|| text("control"), |found| Ok(Some(found)))?;
    let (engine, opponent, color) = (text("engine")?, text("opponent")?, text("color")?);
    let (black, white) = (text("black")?, text("white")?);
    let kind = calibration.model.kind;
    if kind.needs().material && material.is_none() {
        return Err(error(format!("the model {kind} of {} needs the column material", calibration.engine.name)));
    }
    let at = |cells: &Option<Box<dyn Cells + '_>>, row| cells.as_ref()?.number(row).filter(|x| x.is_finite());
    let is = |cells: &Option<Box<dyn Cells + '_>>, row| {
        let text = cells.as_ref().and_then(|cells| cells.text(row));
        text.is_some_and(|text| text.eq_ignore_ascii_case("true") || text == "1")
    };
    fn word<'t>(cells: &'t Option<Box<dyn Cells + 't>>, row: usize) -> Option<&'t str> {
        cells.as_ref()?.text(row).filter(|text| !text.is_empty())
    }
    let own = |name: &str| name == calibration.engine.name || calibration.engine.aliases.iter().any(|a| a == name);
    let forecaster = Forecaster::new(calibration);
    let (mut found, mut of_engine) = (Vec::with_capacity(table.height()), false);
    for row in 0..table.height() {
        let is_own = engine.is_none() || word(&engine, row).is_some_and(own);
        of_engine |= is_own;
        let score = scores.number(row).filter(|cp| is_own && cp.is_finite());
        let score = score.and_then(|cp| forecaster.score(cp, is(&mate, row)));
        let mut situation = Situation {
            ply: at(&ply, row).map(|ply| ply as u32),
            material: at(&material, row).map(|count| count as u32),
            seconds: word(&control, row).and_then(control_seconds),
            ..Situation::default()
        };
        // ratings that were made from these results know them
        let ratings = Some([at(&rating, row), at(&opponent_rating, row)]).filter(|_| !is(&by_results, row));
        if let Some([own, opponent]) = ratings {
            situation.rating = own.map(|own| 0.5 * (own + opponent.unwrap_or(own)));
            if let (Some(own), Some(opponent)) = (own, opponent) {
                situation = situation.with_rating_difference(own - opponent);
            }
        }
        if let Some(difference) = at(&difference, row) {
            situation = situation.with_rating_difference(difference);
        }
        // the opponent of the side to move, also where the engine is not one of the players
        let player = match word(&color, row) {
            Some("black") => word(&white, row),
            Some("white") => word(&black, row),
            _ => None,
        };
        let opponent = player.or_else(|| word(&opponent, row)).and_then(|name| forecaster.strength(name));
        let is_known = !kind.needs().material || situation.material.is_some();
        let logit = score.filter(|_| is_known).map(|cp| forecaster.logit(cp, opponent, &situation));
        found.push(logit.map_or(f64::NAN, logistic));
    }
    if !of_engine && table.height() > 0 {
        let name = &calibration.engine.name;
        return Err(error(format!("no row has the engine {name}: rename it, or leave the column engine out")));
    }
    Ok(found)
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
        let ((scores, situations), reading) = (situations(&self.0, score_cp, known)?, reading(field));
        let of = |i, cp| [self.0.win_rate_in(reading, self.0.classify(cp), &situations.at(i))];
        numbers::map_at(&scores, of).map(|[rates]| rates)
    }

    /// The ends of the 95% interval of the win rate of each score, clustered by game: two floats for a number, else two
    /// arrays of the same shape. It is that of the curve, not of single results; NaN for a mate.
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
        let ((scores, situations), reading) = (situations(&self.0, score_cp, known)?, reading(field));
        if self.0.interval(reading, calibration::Score::Cp(0.0), &situations.at(0)).is_none() {
            return Err(self.without_covariance());
        }
        let of = |i, cp| {
            let (low, high) =
                self.0.interval(reading, self.0.classify(cp), &situations.at(i)).unwrap_or((f64::NAN, f64::NAN));
            [low, high]
        };
        numbers::map_at(&scores, of).map(|[low, high]| (low, high))
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
        let ((rates, situations), reading) = (situations(&self.0, win_rate, known)?, reading(field));
        let of = |i, p| [self.0.score(reading, p, &situations.at(i)).unwrap_or(f64::NAN)];
        numbers::map_at(&rates, of).map(|[scores]| scores)
    }

    /// Forecasts the result of each row of a table of samples that the calibration was not made from: an array of win
    /// rates against the opponents of the rows, as `evaluate` judges them.
    ///
    /// The table has score_cp, and of ply, material, rating, opponent_rating (or rating_difference), opponent,
    /// time_control, mate and engine what is known. NaN stands for no forecast: a mate, where the calibration leaves
    /// mates out, a score or material that is missing, or a row of another engine.
    fn forecast<'py>(&self, py: Python<'py>, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let table = match table.is_instance_of::<PyDict>() {
            true => py.import("evalcurve")?.getattr("_Columns")?.call1((table,))?,
            false => table.clone(),
        };
        Ok(forecasts(&self.0, &Given::new(&table)?)?.to_pyarray(py))
    }

    /// The evaluation curve with its fits.
    #[pyo3(signature = (min_bin = 50))]
    fn figure(&self, min_bin: u64) -> PyResult<Figure> {
        let series = series_of_calibration(&self.0, 0, min_bin, Language::English);
        curve_with_fits(&series, &PlotOptions::default()).map(Figure::from).map_err(error)
    }

    fn _repr_svg_(&self) -> Option<String> {
        // a notebook falls back to the text where there is nothing to draw
        self.figure(50).ok().map(|figure| figure.svg().to_owned())
    }

    fn __repr__(&self) -> String {
        let constant = self.0.constant().map_or_else(String::new, |c| format!(", 1/w1 = {:.0}", c.value));
        format!("<evalcurve.Calibration of {}: {}{constant}>", self.name(), self.model())
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<Reduced> {
        by_json(&slf.get_type(), slf.get().to_json()?)
    }
}
