//! The diagnosis as JSON.

use evalcurve_app::report::json::{about_records, engine, rounded};
use serde_json::{Value, json};

use super::{Report, SECTIONS};

/// The JSON Schema (draft 2020-12) of [`Report::document`].
pub const SCHEMA: &str = include_str!("schema.json");

pub(super) fn document(report: &Report<'_>) -> Value {
    let (found, reading) = (report.diagnosis, report.reading);
    let mut more = json!({
        "format": "evalcurve-diagnosis",
        "version": 2,
        "tool_version": env!("CARGO_PKG_VERSION"),
        "base": found.base,
        "scores_read": { "scored": reading.scores, "book_moves": reading.book_moves },
        "verdict": report.answers(),
        "model": report.options.model.as_str(),
        "method": found.method.as_str(),
        "engines": found.results.iter().map(|r| engine(r, None)).collect::<Vec<_>>(),
    });
    for section in &SECTIONS {
        if let Some(values) = (section.values)(report) {
            more[section.id] = values;
        }
    }
    rounded(about_records(reading, report.notes, more))
}
