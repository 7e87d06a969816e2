//! Reads calibration files strictly: no field may be missing, unknown, repeated or contradictory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use serde::de::{self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_path_to_error::{Path as JsonPath, Segment};

use crate::bounded::read_bounded;
use crate::error::CalibrationError;
use crate::estimate::Estimate;
use crate::file::*;
use crate::model::ModelKind;
use crate::types::Termination;

/// No calibration file comes near this size, but another file given by mistake may.
const MAX_BYTES: u64 = 64 << 20;

/// Largest integer that a 64-bit float holds exactly: `3.0` counts as 3 up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

const RECREATE: &str = "correct it or recreate the file with `evalcurve calibrate`";

/// What identifies a file. It is read first, since another version may have other fields.
#[derive(serde::Deserialize)]
struct Header {
    #[serde(rename = "format")]
    _format: Format,
    #[serde(rename = "version")]
    _version: Version,
}

impl Calibration {
    /// Reads a calibration file.
    ///
    /// # Errors
    /// [`CalibrationError::Io`] if the file cannot be read, else as [`Calibration::from_json`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, CalibrationError> {
        let path = path.as_ref();
        let io = |source| CalibrationError::Io {
            action: "read",
            path: path.to_owned(),
            source,
            remedy: "give the name of a file that `evalcurve calibrate` wrote",
        };
        let words = |kind, words| io(std::io::Error::new(kind, words));
        let bytes = read_bounded(path, MAX_BYTES).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => words(error.kind(), "larger than 64 MiB, so not a calibration file"),
            _ => io(error),
        })?;
        let text = String::from_utf8(bytes).map_err(|_| words(ErrorKind::InvalidData, "it is not UTF-8"))?;
        Self::from_json(&text, &path.display().to_string())
    }

    /// Reads the text of a calibration file. Every error begins with `source_name`. A byte order mark is allowed.
    ///
    /// # Errors
    /// [`CalibrationError::Syntax`] if the text is not JSON, repeats a field or holds a number that is not finite;
    /// [`CalibrationError::Field`] for another format or version, a missing or unknown field, a wrong type, and
    /// impossible values: w1 of 0 or less, a covariance that is not symmetric and positive, a chosen model that
    /// differs from its entry in `models`. Both name the JSON path.
    pub fn from_json(text: &str, source_name: &str) -> Result<Self, CalibrationError> {
        let tree = parse(text, source_name)?;
        let field = |problem: String| {
            let (path, problem) = problem.split_once('\n').unwrap_or(("", &problem));
            let (problem, remedy) = with_remedy(problem);
            CalibrationError::Field {
                source_name: source_name.to_owned(),
                json_path: format!("${path}"),
                problem,
                remedy,
            }
        };
        part::<Header>(tree.clone()).map_err(field)?;
        part(tree).map_err(field)
    }
}

impl<'de> Deserialize<'de> for Calibration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut track = serde_path_to_error::Track::new();
        let tree = Value::deserialize(deserializer)?;
        // the derived function, which `remote = "Self"` makes an inherent one
        let read = Self::deserialize(serde_path_to_error::Deserializer::new(tree.clone(), &mut track));
        let read = read.map_err(|error| de::Error::custom(problem_at(&track.path(), &error.to_string())))?;
        let written = serde_json::to_value(&read).map_err(de::Error::custom)?;
        absent(&written, &tree).map_or(Ok(()), |problem| Err(de::Error::custom(problem)))?;
        read.check().map_err(de::Error::custom)?;
        Ok(read)
    }
}

/// The first field that a file would have as it is written and has not as it was read: its path, a line break, and the
/// problem. Serde takes an absent `Option` for `null`.
fn absent(written: &Value, read: &Value) -> Option<String> {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => written.iter().find_map(|(name, value)| {
            let at = member("", name);
            match read.get(name) {
                Some(read) => absent(value, read).map(|below| at + &below),
                None => Some(format!("{at}\nmissing field `{name}`")),
            }
        }),
        (Value::Array(written), Value::Array(read)) => written
            .iter()
            .zip(read)
            .enumerate()
            .find_map(|(i, (written, read))| absent(written, read).map(|below| format!("[{i}]{below}"))),
        _ => None,
    }
}

/// Converts a value. An error is the path below the value, a line break, and the problem.
///
/// Errors that are raised with such a path inside the value are given the longer path.
pub(crate) fn part<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| problem_at(error.path(), &error.inner().to_string()))
}

/// The path of an error below its value, a line break, and the problem.
pub(crate) fn problem_at(path: &JsonPath, message: &str) -> String {
    let (path, problem) = located(path, message);
    format!("{path}\n{problem}")
}

/// The path of an error below its document, and the problem in terms of JSON.
fn located(path: &JsonPath, message: &str) -> (String, String) {
    let mut at = path.iter().fold(String::new(), |at, segment| match segment {
        Segment::Seq { index } => format!("{at}[{index}]"),
        Segment::Map { key } => member(&at, key),
        Segment::Enum { .. } | Segment::Unknown => at,
    });
    if let Some((below, problem)) = message.split_once('\n').filter(|(below, _)| below.starts_with(['.', '['])) {
        return (at + below, problem.to_owned());
    }
    let message = message.trim_start_matches('\n');
    let name = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
    if let Some(name) = name {
        at = member(&at, name);
    }
    (at, plain_types(message))
}

/// A message of serde that names what is expected in the words of a file, where serde uses those of Rust.
pub fn plain_types(message: &str) -> String {
    match message.rsplit_once(", expected ") {
        Some((found, "u64" | "u32" | "u16" | "u8" | "usize")) => format!("{found}, expected an integer from 0"),
        Some((found, "i64" | "i32")) => format!("{found}, expected an integer"),
        Some((found, "f64")) => format!("{found}, expected a number"),
        Some((found, "string or map")) => format!("{found}, expected a string"),
        Some((found, expected)) if expected.starts_with("struct ") || expected == "a map" => {
            format!("{found}, expected an object")
        }
        _ => message.to_owned(),
    }
}

/// The problem and its remedy. A problem with its own remedy has it after a semicolon.
fn with_remedy(problem: &str) -> (String, String) {
    let remedy = if problem.starts_with("missing field") {
        "add it (as null if its value is unknown and the format allows null) or recreate the file with \
         `evalcurve calibrate`"
    } else if problem.starts_with("unknown field") {
        "remove it or correct its name"
    } else if let Some((problem, remedy)) =
        problem.rsplit_once("; ").filter(|_| !problem.starts_with("unknown variant"))
    {
        return (problem.to_owned(), remedy.to_owned());
    } else {
        RECREATE
    };
    (problem.to_owned(), remedy.to_owned())
}

/// The child of `path` with this name: `$.a`, or `$["a b"]` if the name is not a plain word.
fn member(path: &str, name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain { format!("{path}.{name}") } else { format!("{path}[{name:?}]") }
}

/// The fitted models by the method in their key.
pub(crate) fn models<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<ModelKind, FittedModel>, D::Error> {
    let kinds: Vec<ModelKind> = ModelKind::calibrations().collect();
    entries(d, "method", &kinds, ModelKind::as_str, |kind| kind)
}

/// The log loss of each baseline.
pub(crate) fn baselines<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<ModelKind, Estimate>, D::Error> {
    entries(d, "baseline", &ModelKind::baselines().collect::<Vec<_>>(), ModelKind::as_str, |kind| kind)
}

/// The number of games per termination, by its word.
pub(crate) fn terminations<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<String, u64>, D::Error> {
    entries(d, "termination", Termination::ALL, Termination::as_str, |termination| termination.as_str().to_owned())
}

/// Reads an object whose names are among the words of `known`.
fn entries<'de, D: Deserializer<'de>, W: Copy, K: Ord, V: DeserializeOwned>(
    deserializer: D,
    what: &str,
    known: &[W],
    word: impl Fn(W) -> &'static str,
    key: impl Fn(W) -> K,
) -> Result<BTreeMap<K, V>, D::Error> {
    let object = Map::<String, Value>::deserialize(deserializer)?;
    let read = object.into_iter().map(|(name, value)| {
        let at = member("", &name);
        let Some(found) = known.iter().copied().find(|w| word(*w) == name) else {
            let words: Vec<&str> = known.iter().copied().map(&word).collect();
            let remedy = format!("remove it, or correct its name to one of {}", words.join(", "));
            return Err(format!("{at}\nunknown {what} {name:?}; {remedy}"));
        };
        Ok((key(found), part(value).map_err(|problem| at + &problem)?))
    });
    read.collect::<Result<_, String>>().map_err(de::Error::custom)
}

/// Parses a whole text as a tree in which no object repeats a name; a byte order mark at the start is skipped.
fn parse(text: &str, source_name: &str) -> Result<Value, CalibrationError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut json = serde_json::Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let tree = Tree::deserialize(serde_path_to_error::Deserializer::new(&mut json, &mut track));
    tree.and_then(|Tree(value)| json.end().map(|()| value)).map_err(|error| {
        let message = error.to_string();
        let problem = message.rsplit_once(" at line ").map_or(message.as_str(), |(problem, _)| problem);
        CalibrationError::Syntax {
            source_name: source_name.to_owned(),
            json_path: format!("${}", located(&track.path(), "").0),
            problem: problem.to_owned(),
            line: error.line(),
            column: error.column(),
        }
    })
}

/// A JSON value without repeated names, in which floats without a fraction are integers.
struct Tree(Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor).map(Tree)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        let whole = v.fract() == 0.0 && v.abs() <= EXACT;
        Ok(if whole { (v as i64).into() } else { v.into() })
    }

    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Tree(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (mut object, mut seen) = (Map::new(), BTreeSet::new());
        while let Some(name) = map.next_key_seed(NewName(&mut seen))? {
            object.insert(name, map.next_value::<Tree>()?.0);
        }
        Ok(Value::Object(object))
    }
}

/// A name that its object does not have yet. The name itself is refused, so that the path of the error includes it.
struct NewName<'a>(&'a mut BTreeSet<String>);

impl<'de> DeserializeSeed<'de> for NewName<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        let name = String::deserialize(deserializer)?;
        if self.0.insert(name.clone()) { Ok(name) } else { Err(de::Error::custom(format!("duplicate field {name:?}"))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(text: &str) -> String {
        match parse(text, "test") {
            Err(CalibrationError::Syntax { json_path, .. }) => json_path,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn syntax_errors_have_a_path() {
        assert_eq!(path_of(r#"{"models": {"least_squares": {"w1": 1e999}}}"#), "$.models.least_squares.w1");
        assert_eq!(path_of("{\"a\": 1,\n \"b\": [1, {\"c d\": NaN}]}"), r#"$.b[1]["c d"]"#);
        assert_eq!(path_of(r#"{"a": {"b": 1, "b": 2}}"#), "$.a.b");
        assert_eq!(path_of(r#"{"a": [1, 2"#), "$.a");
        assert_eq!(path_of(r#"{"a\"}": Infinity}"#), r#"$["a\"}"]"#);
        assert_eq!(path_of(""), "$");
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(parse("\u{feff}[1, -2, 0.5]", "test").ok(), parse("[1, -2, 0.5]", "test").ok());
    }

    #[test]
    fn deep_nesting_is_an_error() {
        assert!(parse(&"[".repeat(100_000), "test").is_err());
    }

    #[test]
    fn types_have_the_words_of_a_file() {
        for (message, plain) in [
            ("invalid value: integer `-3`, expected usize", "invalid value: integer `-3`, expected an integer from 0"),
            ("invalid type: string \"x\", expected f64", "invalid type: string \"x\", expected a number"),
            ("invalid type: null, expected struct Voter", "invalid type: null, expected an object"),
            ("unknown field `a`, expected `b` or `c`", "unknown field `a`, expected `b` or `c`"),
        ] {
            assert_eq!(plain_types(message), plain);
        }
    }
}
