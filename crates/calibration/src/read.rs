//! Reads calibration files strictly: no field may be missing, repeated or contradictory. An unknown one is set aside,
//! unless win rates could depend on it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::bounded::read_bounded;
use crate::error::CalibrationError;
use crate::file::*;
use crate::located::{Located, member, part};
use crate::unknown::{doubts, set_aside};

/// No calibration file comes near this size, but another file given by mistake may.
const MAX_BYTES: u64 = 64 << 20;

/// Largest integer that a 64-bit float holds exactly: `3.0` counts as 3 up to here.
const EXACT: f64 = 9_007_199_254_740_992.0;

const RECREATE: &str = "correct it or calibrate again";

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
        let io = |source: std::io::Error| CalibrationError::Io {
            action: "read",
            path: path.to_owned(),
            remedy: match source.kind() {
                ErrorKind::IsADirectory => "`evalcurve calibrate` makes calibration files of the records in a folder",
                _ => "give the name of a calibration file",
            },
            source,
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
    /// [`CalibrationError::Field`] for another format or version, a missing field, an unknown one of the chosen model,
    /// a wrong type, and impossible values: w1 of 0 or less, a covariance that is not symmetric and positive, a chosen
    /// model that differs from its entry in `models`. Both name the JSON path.
    pub fn from_json(text: &str, source_name: &str) -> Result<Self, CalibrationError> {
        let tree = parse(text, source_name)?;
        let field = |Located { path, problem }| {
            let (problem, remedy) = with_remedy(&problem);
            CalibrationError::Field {
                source_name: source_name.to_owned(),
                json_path: format!("${path}"),
                problem,
                remedy,
            }
        };
        let header = match &tree {
            Value::Object(all) => {
                let of = |name: &&str| Some(((*name).to_owned(), all.get(*name)?.clone()));
                Value::Object(["format", "version"].iter().filter_map(of).collect())
            }
            other => other.clone(),
        };
        part::<Header>(header).map_err(field)?;
        // as of a part of another document, so that the words are the same
        let outside = |error: Located| Located::of_serde(&serde_path_to_error::Track::new().path(), &error.to_string());
        Self::from_tree(&tree).map_err(outside).map_err(field)
    }

    fn from_tree(tree: &Value) -> Result<Self, Located> {
        let (mut tree, mut unknown) = (Cow::Borrowed(tree), Vec::new());
        let mut read = loop {
            let mut track = serde_path_to_error::Track::new();
            // the derived function, which `remote = "Self"` makes an inherent one
            let read = Self::deserialize(serde_path_to_error::Deserializer::new(&*tree, &mut track));
            let error = match read {
                Ok(read) => break read,
                Err(error) => Located::of_serde(&track.path(), &error.to_string()),
            };
            unknown.push(set_aside(tree.to_mut(), &error, unknown.len()).ok_or(error)?);
        };
        let written = serde_json::to_value(&read).map_err(|error| Located::new("", error))?;
        absent(&written, &tree).map_or(Ok(()), Err)?;
        read.check()?;
        unknown.extend(doubts(&read, &tree));
        read.unknown = unknown;
        Ok(read)
    }
}

impl<'de> Deserialize<'de> for Calibration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_tree(&Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// The first field that a file would have as it is written and has not as it was read. Serde takes an absent `Option`
/// for `null`.
fn absent(written: &Value, read: &Value) -> Option<Located> {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => written.iter().find_map(|(name, value)| {
            let at = member("", name);
            match read.get(name) {
                Some(read) => absent(value, read).map(|problem| problem.below(&at)),
                None => Some(Located::new(at, format!("missing field '{name}'"))),
            }
        }),
        (Value::Array(written), Value::Array(read)) => written
            .iter()
            .zip(read)
            .enumerate()
            .find_map(|(i, (written, read))| absent(written, read).map(|problem| problem.below(&format!("[{i}]")))),
        _ => None,
    }
}

/// The problem and its remedy. A problem with its own remedy has it after a semicolon.
fn with_remedy(problem: &str) -> (String, String) {
    let remedy = if problem.starts_with("missing field") {
        "add it (as null if its value is unknown and the format allows null) or calibrate again"
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
            json_path: format!("${}", Located::of_serde(&track.path(), "").path),
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
}
