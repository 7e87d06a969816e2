//! Errors with the place of the value, as they pass through serde.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path as JsonPath, Segment};

/// A problem with the path of its value below the document, such as `.models.least_squares.w1`.
///
/// Errors of serde are texts: raised within a `Deserialize`, it is displayed as the path, a line break, and the
/// problem,
/// and [`Located::of_serde`] reads that again.
#[derive(Debug)]
pub(crate) struct Located {
    pub path: String,
    pub problem: String,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.path, self.problem)
    }
}

impl Located {
    pub(crate) fn new(path: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self { path: path.into(), problem: problem.to_string() }
    }

    /// An error of serde at a path of its document, in terms of JSON.
    pub(crate) fn of_serde(path: &JsonPath, message: &str) -> Self {
        let mut at = path.iter().fold(String::new(), |at, segment| match segment {
            Segment::Seq { index } => format!("{at}[{index}]"),
            Segment::Map { key } => member(&at, key),
            Segment::Enum { .. } | Segment::Unknown => at,
        });
        let problem = match message.split_once('\n') {
            Some((below, problem)) if below.starts_with(['.', '[']) => return Self::new(at + below, problem),
            Some(("", problem)) => problem,
            _ => message,
        };
        if let Some(name) = problem.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            at = member(&at, name);
        }
        Self::new(at, plain_types(problem))
    }

    /// The same with the path of the value that was read.
    pub(crate) fn below(self, path: &str) -> Self {
        Self { path: format!("{path}{}", self.path), ..self }
    }
}

/// `Ok`, or the first problem.
pub(crate) type Checked = Result<(), Located>;

pub(crate) fn wrong<T>(path: impl Into<String>, problem: impl fmt::Display) -> Result<T, Located> {
    Err(Located::new(path, problem))
}

/// Converts a value. Problems inside have their path below the value.
pub(crate) fn part<T: DeserializeOwned>(value: Value) -> Result<T, Located> {
    serde_path_to_error::deserialize(value).map_err(|error| Located::of_serde(error.path(), &error.inner().to_string()))
}

/// The child of `path` with this name: `$.a`, or `$["a b"]` if the name is not a plain word.
pub(crate) fn member(path: &str, name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain { format!("{path}.{name}") } else { format!("{path}[{name:?}]") }
}

/// Replaces names of Rust types in messages of serde: `u32` becomes "an integer from 0"; and backticks, which would
/// make an option of a field.
pub fn plain_types(message: &str) -> String {
    let plain = match message.rsplit_once(", expected ") {
        Some((found, "u64" | "u32" | "u16" | "u8" | "usize")) => format!("{found}, expected an integer from 0"),
        Some((found, "i64" | "i32")) => format!("{found}, expected an integer"),
        Some((found, "f64")) => format!("{found}, expected a number"),
        Some((found, "string or map")) => format!("{found}, expected a string"),
        Some((found, expected)) if expected.starts_with("struct ") || expected == "a map" => {
            format!("{found}, expected an object")
        }
        _ => message.to_owned(),
    };
    plain.replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_words_of_a_file() {
        for (message, plain) in [
            ("invalid value: integer `-3`, expected usize", "invalid value: integer '-3', expected an integer from 0"),
            ("invalid type: string \"x\", expected f64", "invalid type: string \"x\", expected a number"),
            ("invalid type: null, expected struct Voter", "invalid type: null, expected an object"),
            ("unknown field `a`, expected `b` or `c`", "unknown field 'a', expected 'b' or 'c'"),
        ] {
            assert_eq!(plain_types(message), plain);
        }
    }
}
