//! Tables through Arrow's PyCapsule interface, which pandas, polars, pyarrow and DuckDB have in common.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, StructArray,
};
use arrow_schema::{DataType, Field, SchemaRef};
use evalcurve::calibrate::{EngineForecasts, with_forecasts};
use evalcurve::language::Text;
use evalcurve::sample;
use evalcurve::table::{CellKind, Cells, Source, Values, with_columns};
use numpy::PyArray1;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use pyo3_arrow::input::AnyRecordBatch;

use crate::Reduced;
use crate::running::error;

/// A column as pickle keeps it: `TYPE:NAME`, and its cells.
type Column<'py> = (String, Bound<'py, PyAny>);

/// A table that came through Arrow.
#[derive(Debug)]
pub(crate) struct Given {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Given {
    /// Takes any object with `__arrow_c_stream__` or `__arrow_c_array__`.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (batches, schema) = object.extract::<AnyRecordBatch>()?.into_table()?.into_inner();
        Ok(Self { schema, batches })
    }

    /// A column in one piece, as another type.
    pub(crate) fn column(&self, name: &str, kind: &DataType) -> Result<ArrayRef, String> {
        let index = self.schema.index_of(name).map_err(|e| e.to_string())?;
        let cast = |batch: &RecordBatch| arrow_cast::cast(batch.column(index), kind).map_err(|e| e.to_string());
        let pieces: Vec<ArrayRef> = self.batches.iter().map(cast).collect::<Result<_, _>>()?;
        let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
        match pieces[..] {
            [] => Ok(arrow_array::new_empty_array(kind)),
            _ => arrow_select::concat::concat(&pieces).map_err(|e| e.to_string()),
        }
    }
}

impl Source for Given {
    fn names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn height(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn cells(&self, name: &str, kind: CellKind) -> Result<Box<dyn Cells + '_>, Text> {
        let found = self.schema.field_with_name(name).map_err(|e| e.to_string())?.data_type();
        if kind == CellKind::Number && found.is_numeric() {
            let column = self.column(name, &DataType::Float64)?;
            return Ok(Box::new(Numbers(column.as_primitive::<Float64Type>().clone())));
        }
        let column = if kind == CellKind::Flag && found.is_numeric() {
            let flags = self.column(name, &DataType::Boolean)?;
            arrow_cast::cast(&flags, &DataType::Utf8).map_err(|e| e.to_string())?
        } else {
            self.column(name, &DataType::Utf8)?
        };
        Ok(Box::new(Texts(column.as_string::<i32>().clone())))
    }
}

struct Numbers(Float64Array);

impl Cells for Numbers {
    fn number(&self, row: usize) -> Option<f64> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }

    fn text(&self, _: usize) -> Option<&str> {
        None
    }
}

struct Texts(StringArray);

impl Cells for Texts {
    fn number(&self, row: usize) -> Option<f64> {
        self.text(row)?.trim().parse().ok()
    }

    fn text(&self, row: usize) -> Option<&str> {
        (row < self.0.len() && self.0.is_valid(row)).then(|| self.0.value(row))
    }
}

/// Rows of samples or forecasts, one scored position each. Goes wherever Arrow goes.
#[pyclass(frozen, module = "evalcurve")]
#[derive(Debug)]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// The columns of a sample table; with `every` also those that only some tables need.
    pub(crate) fn of_samples(table: &sample::SampleTable, every: bool) -> PyResult<Self> {
        with_columns(table, every, Self::of_columns)
    }

    /// The columns of forecasts.
    pub(crate) fn of_forecasts(table: &sample::SampleTable, forecasts: &[EngineForecasts]) -> PyResult<Self> {
        with_forecasts(table, forecasts, Self::of_columns)
    }

    /// Columns of equal length.
    pub(crate) fn of_columns(columns: Vec<(&'static str, Values<'_>)>) -> PyResult<Self> {
        let array = |values: Values<'_>| -> ArrayRef {
            match values {
                Values::Text(values) => Arc::new(StringArray::from(values)),
                Values::Integer(values) => Arc::new(Int32Array::from(values)),
                Values::Long(values) => Arc::new(Int64Array::from(values)),
                Values::Float(values) => Arc::new(Float64Array::from(values)),
                Values::Flag(values) => Arc::new(BooleanArray::from(values)),
            }
        };
        let columns = columns.into_iter().map(|(name, values)| (name, array(values), true));
        Ok(Self { batch: RecordBatch::try_from_iter_with_nullable(columns).map_err(error)? })
    }
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<evalcurve.Table: {} rows, columns {}>", self.batch.num_rows(), self.columns().join(", "))
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The names of the columns, so that `dict(table)` has them with their arrays.
    fn keys(&self) -> Vec<String> {
        self.columns()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self
            .batch
            .column_by_name(name)
            .ok_or_else(|| PyKeyError::new_err(format!("no column '{name}' (found: {})", self.columns().join(", "))))?;
        if let Some(texts) = column.as_string_opt::<i32>() {
            let list = PyList::new(py, texts.iter())?;
            return py.import("numpy")?.call_method1("array", (list, "object"));
        }
        if let Some(flags) = column.as_boolean_opt() {
            return Ok(PyArray1::from_iter(py, flags.iter().map(|flag| flag == Some(true))).into_any());
        }
        if let (0, Some(numbers)) = (column.null_count(), column.as_primitive_opt::<Int32Type>()) {
            return Ok(PyArray1::from_slice(py, numbers.values()).into_any());
        }
        if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
            return Ok(PyArray1::from_slice(py, numbers.values()).into_any());
        }
        let floats = arrow_cast::cast(column, &DataType::Float64).map_err(error)?;
        let floats = floats.as_primitive::<Float64Type>().iter().map(|x| x.unwrap_or(f64::NAN));
        Ok(PyArray1::from_iter(py, floats).into_any())
    }

    /// The rows as named tuples.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names = self.columns();
        let row = py.import("collections")?.call_method1("namedtuple", ("Row", &names))?.getattr("_make")?;
        let list = |name: &String| self.__getitem__(py, name)?.call_method0("tolist");
        let columns = PyTuple::new(py, names.iter().map(list).collect::<PyResult<Vec<_>>>()?)?;
        let builtins = py.import("builtins")?;
        let rows = builtins.getattr("zip")?.call1(columns)?;
        builtins.getattr("map")?.call1((row, rows))
    }

    /// The first rows, as a notebook shows them.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("evalcurve._estimates")?.call_method1("html_of_table", (slf,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<Bound<'py, PyAny>, (Vec<Column<'py>>,)>> {
        let (py, batch) = (slf.py(), &slf.get().batch);
        let column = |(field, column): (&Arc<Field>, &ArrayRef)| {
            let cells = match field.data_type() {
                DataType::Utf8 => PyList::new(py, column.as_string::<i32>().iter())?.into_any(),
                DataType::Int32 => PyList::new(py, column.as_primitive::<Int32Type>().iter())?.into_any(),
                DataType::Int64 => PyArray1::from_slice(py, column.as_primitive::<Int64Type>().values()).into_any(),
                DataType::Boolean => PyList::new(py, column.as_boolean().iter())?.into_any(),
                _ => PyList::new(py, column.as_primitive::<Float64Type>().iter())?.into_any(),
            };
            Ok((format!("{}:{}", field.data_type(), field.name()), cells))
        };
        let columns = batch.schema().fields().iter().zip(batch.columns()).map(column).collect::<PyResult<Vec<_>>>()?;
        Ok((slf.get_type().getattr("_restore")?, (columns,)))
    }

    /// The table that pickle kept: columns by type and name.
    #[staticmethod]
    fn _restore(columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let column = |(name, cells): (String, Bound<'_, PyAny>)| -> PyResult<(String, ArrayRef, bool)> {
            let (kind, name) = name.split_once(':').ok_or_else(|| error("no column of a table"))?;
            let array: ArrayRef = match kind {
                "Utf8" => Arc::new(StringArray::from(cells.extract::<Vec<Option<String>>>()?)),
                "Int32" => Arc::new(Int32Array::from(cells.extract::<Vec<Option<i32>>>()?)),
                "Int64" => Arc::new(Int64Array::from(cells.extract::<Vec<i64>>()?)),
                "Boolean" => Arc::new(BooleanArray::from(cells.extract::<Vec<Option<bool>>>()?)),
                _ => Arc::new(Float64Array::from(cells.extract::<Vec<Option<f64>>>()?)),
            };
            Ok((name.to_owned(), array, true))
        };
        let columns = columns.into_iter().map(column).collect::<PyResult<Vec<_>>>()?;
        Ok(Self { batch: RecordBatch::try_from_iter_with_nullable(columns).map_err(error)? })
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Field::new_struct("", self.batch.schema().fields().clone(), false);
        let rows: ArrayRef = Arc::new(StructArray::from(self.batch.clone()));
        let reader = ArrayIterator::new(std::iter::once(Ok(rows)), Arc::new(field));
        Ok(to_stream_pycapsule(py, Box::new(reader), requested_schema)?)
    }

    /// The table as a pandas.DataFrame.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let columns = PyDict::new(slf.py());
        for name in slf.get().columns() {
            columns.set_item(&name, slf.get().__getitem__(slf.py(), &name)?)?;
        }
        slf.py().import("pandas")?.call_method1("DataFrame", (columns,))
    }

    /// The table as a polars.DataFrame.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// The table as a pyarrow.Table.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }
}
