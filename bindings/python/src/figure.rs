//! Figures for notebooks.

use evalcurve::plot;
use pyo3::prelude::*;

use crate::running::error;

/// A figure, which notebooks show.
#[pyclass(frozen, module = "evalcurve")]
#[derive(Debug)]
pub(crate) struct Figure(pub plot::Figure);

#[pymethods]
impl Figure {
    /// The figure as the text of an SVG file.
    #[getter]
    fn svg(&self) -> &str {
        self.0.svg()
    }

    /// The figure as the bytes of a PNG file.
    fn png(&self) -> PyResult<Vec<u8>> {
        self.0.png(self.0.scale()).map_err(error)
    }

    /// The numbers that the figure shows: names of columns, and rows of text.
    #[getter]
    fn data(&self) -> (Vec<&'static str>, Vec<Vec<String>>) {
        let data = self.0.data();
        (data.head.clone(), data.rows.clone())
    }

    fn _repr_svg_(&self) -> &str {
        self.0.svg()
    }

    fn __repr__(&self) -> String {
        format!("<evalcurve.Figure: {}>", self.0.title())
    }
}
