//! Evaluation curves as tables.

use evalcurve::curve::{BinCount, CurvePoint};
use evalcurve::run::Curves;
use evalcurve::table::Values;
use pyo3::prelude::*;

use crate::arrow::Table;

/// One point of a curve.
struct Row<'a> {
    engine: &'a str,
    split: Option<&'a str>,
    group: Option<String>,
    point: CurvePoint,
    count: BinCount,
    band: Option<(f64, f64)>,
}

/// The points of curves with the counts of their bins, one row each.
pub(crate) fn table(found: &Curves) -> PyResult<Table> {
    let min_bin = found.options.min_bin;
    let mut rows = Vec::new();
    for result in &found.results {
        for (point, count) in result.curve.counted_points(min_bin) {
            let band = result.bootstrap.as_ref().and_then(|bootstrap| bootstrap.bins.get(&point.bin).copied());
            rows.push(Row { engine: &result.name, split: None, group: None, point, count, band });
        }
    }
    for split in &found.splits {
        for group in &split.groups {
            for (point, count) in group.curve.counted_points(min_bin) {
                let (name, label) = (Some(split.by.as_str()), Some(group.label.to_string()));
                rows.push(Row { engine: &split.engine, split: name, group: label, point, count, band: None });
            }
        }
    }
    let float = |of: &dyn Fn(&Row<'_>) -> Option<f64>| Values::Float(rows.iter().map(of).collect());
    let count = |of: &dyn Fn(&Row<'_>) -> u64| Values::Long(rows.iter().map(|row| of(row) as i64).collect());
    let mut columns = vec![("engine", Values::Text(rows.iter().map(|row| Some(row.engine)).collect()))];
    if !found.splits.is_empty() {
        columns.push(("split", Values::Text(rows.iter().map(|row| row.split).collect())));
        columns.push(("group", Values::Text(rows.iter().map(|row| row.group.as_deref()).collect())));
    }
    columns.push(("bin", Values::Integer(rows.iter().map(|row| Some(row.point.bin)).collect())));
    columns.push(("mean_score", float(&|row| Some(row.point.x))));
    columns.push(("wins", count(&|row| row.count.wins)));
    columns.push(("draws", count(&|row| row.count.draws)));
    columns.push(("losses", count(&|row| row.count.losses)));
    columns.push(("win_rate", float(&|row| Some(row.point.win_rate))));
    columns.push(("low", float(&|row| Some(row.point.low))));
    columns.push(("high", float(&|row| Some(row.point.high))));
    if found.splits.is_empty() {
        columns.push(("band_low", float(&|row| Some(row.band?.0))));
        columns.push(("band_high", float(&|row| Some(row.band?.1))));
    }
    Table::of_columns(columns)
}
