//! Figures for notebooks.

use evalcurve::plot;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::Reduced;
use crate::running::error;

/// What pickle keeps.
type Kept = (String, String, f32, Numbers);

/// The names of columns, and rows of text.
type Numbers = (Vec<String>, Vec<Vec<String>>);

/// A figure, which notebooks show and pickle keeps.
#[pyclass(frozen, eq, module = "evalcurve")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    svg: String,
    title: String,
    scale: f32,
    numbers: Numbers,
}

impl From<plot::Figure> for Figure {
    fn from(figure: plot::Figure) -> Self {
        let data = figure.data();
        Self {
            svg: figure.svg().to_owned(),
            title: figure.title().to_owned(),
            scale: figure.scale(),
            numbers: (data.head.iter().map(|name| (*name).to_owned()).collect(), data.rows().collect()),
        }
    }
}

#[pymethods]
impl Figure {
    /// The figure as the text of an SVG file.
    #[getter]
    pub(crate) fn svg(&self) -> &str {
        &self.svg
    }

    /// The figure as the bytes of a PNG file.
    fn png(&self) -> PyResult<Vec<u8>> {
        plot::png(&self.svg, self.scale).map_err(error)
    }

    /// The numbers that the figure shows: names of columns, and rows of text.
    #[getter]
    fn data(&self) -> Numbers {
        self.numbers.clone()
    }

    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    fn __repr__(&self) -> String {
        format!("<evalcurve.Figure: {}>", self.title)
    }

    /// The figure that pickle kept.
    #[staticmethod]
    fn _restore(svg: String, title: String, scale: f32, numbers: Numbers) -> Self {
        Self { svg, title, scale, numbers }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<Bound<'py, PyAny>, Kept>> {
        let (class, own): (Bound<'py, PyType>, _) = (slf.get_type(), slf.get().clone());
        Ok((class.getattr("_restore")?, (own.svg, own.title, own.scale, own.numbers)))
    }
}
