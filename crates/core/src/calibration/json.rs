//! JSON as a tree that keeps what strictness needs: fields named twice are refused, errors have a path.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::error::CalibrationError;

/// A JSON value; objects keep their order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What the value is, for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(b) => b.to_string(),
            Self::Unsigned(n) => n.to_string(),
            Self::Signed(n) => n.to_string(),
            Self::Float(x) => format!("{x:?}"),
            Self::Text(s) if s.chars().count() > 40 => {
                format!("the text {:?}…", s.chars().take(40).collect::<String>())
            }
            Self::Text(s) => format!("the text {s:?}"),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Object(_) => "an object".to_owned(),
        }
    }
}

/// Parses a whole text; a byte order mark in front is passed over.
pub(super) fn parse(text: &str, source_name: &str) -> Result<Json, CalibrationError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let problem = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what).to_owned();
        let json_path = path_at(text, line, column);
        CalibrationError::Syntax { source_name: source_name.to_owned(), json_path, problem, line, column }
    })
}

/// The child of `path` by name: `$.a`, or `$["a b"]` where the name is not a plain word.
pub(super) fn member(path: &str, name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain { format!("{path}.{name}") } else { format!("{path}[{name:?}]") }
}

/// The path of the value in which a line and column (from 1, in bytes) lie.
fn path_at(text: &str, line: usize, column: usize) -> String {
    enum Frame {
        List(usize),
        Object { key: Option<String>, in_value: bool },
    }
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = start.saturating_add(column).min(text.len());
    let bytes = text.as_bytes();
    let mut frames: Vec<Frame> = Vec::new();
    let mut at = 0;
    while at < end {
        match bytes[at] {
            b'{' => frames.push(Frame::Object { key: None, in_value: false }),
            b'[' => frames.push(Frame::List(0)),
            // the last closing bracket is where a parser may complain: it still belongs to what it closes
            b'}' | b']' if at + 1 < end => {
                frames.pop();
            }
            b':' => {
                if let Some(Frame::Object { in_value, .. }) = frames.last_mut() {
                    *in_value = true;
                }
            }
            b',' => match frames.last_mut() {
                Some(Frame::List(index)) => *index += 1,
                Some(Frame::Object { key, in_value }) => (*key, *in_value) = (None, false),
                None => {}
            },
            b'"' => {
                let open = at;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if let Some(Frame::Object { key, in_value: false }) = frames.last_mut() {
                    *key = text.get(open..=at).and_then(|quoted| serde_json::from_str(quoted).ok());
                }
            }
            _ => {}
        }
        at += 1;
    }
    frames.iter().fold("$".to_owned(), |path, frame| match frame {
        Frame::List(index) => format!("{path}[{index}]"),
        Frame::Object { key: Some(key), .. } => member(&path, key),
        Frame::Object { key: None, .. } => path,
    })
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tree;
        impl<'de> Visitor<'de> for Tree {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }

            fn visit_unit<E: Error>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E: Error>(self, v: bool) -> Result<Json, E> {
                Ok(Json::Bool(v))
            }

            fn visit_u64<E: Error>(self, v: u64) -> Result<Json, E> {
                Ok(Json::Unsigned(v))
            }

            fn visit_i64<E: Error>(self, v: i64) -> Result<Json, E> {
                Ok(Json::Signed(v))
            }

            fn visit_f64<E: Error>(self, v: f64) -> Result<Json, E> {
                Ok(Json::Float(v))
            }

            fn visit_str<E: Error>(self, v: &str) -> Result<Json, E> {
                Ok(Json::Text(v.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Json::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let (mut members, mut names) = (Vec::new(), BTreeSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if !names.insert(name.clone()) {
                        return Err(A::Error::custom(format!("the field {name:?} stands here twice")));
                    }
                    members.push((name, map.next_value()?));
                }
                Ok(Json::Object(members))
            }
        }
        deserializer.deserialize_any(Tree)
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
    fn syntax_errors_have_the_path_they_stand_at() {
        assert_eq!(path_of(r#"{"models": {"least_squares": {"w1": 1e999}}}"#), "$.models.least_squares.w1");
        assert_eq!(path_of("{\"a\": 1,\n \"b\": [1, {\"c d\": NaN}]}"), r#"$.b[1]["c d"]"#);
        assert_eq!(path_of(r#"{"a": {"b": 1, "b": 2}}"#), "$.a.b");
        assert_eq!(path_of(r#"{"a": [1, 2"#), "$.a[1]");
        assert_eq!(path_of(r#"{"a\"}": Infinity}"#), r#"$["a\"}"]"#);
        assert_eq!(path_of(""), "$");
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        assert_eq!(parse("\u{feff}[1, -2, 0.5]", "test").ok(), parse("[1, -2, 0.5]", "test").ok());
    }

    #[test]
    fn nesting_without_end_is_an_error() {
        assert!(parse(&"[".repeat(100_000), "test").is_err());
    }
}
