//! What a file of a later version holds beyond this one: kept when it is written again, and reported.
//!
//! Fields and doubts can be added within a version of the format, because they change no win rate. What belongs to the
//! chosen model does, and is refused.

use std::fmt;

use serde_json::Value;

use crate::file::{Calibration, Doubt};
use crate::located::{Located, member};

/// More unknown fields than this are another kind of file.
const MOST: usize = 100;

/// A part of a calibration file that this version does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// Path of the value, such as `$.doubts[0]`.
    path: String,
    value: Value,
}

impl Unknown {
    /// Path of the value, such as `$.doubts[0]`.
    pub fn json_path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Unknown {
    /// The path, and the value if it is a text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        self.value.as_str().map_or(Ok(()), |text| write!(f, " {text:?}"))
    }
}

/// Moves what the error is about out of the tree; `None` if the win rates could depend on it.
pub(crate) fn set_aside(tree: &mut Value, error: &Located, so_far: usize) -> Option<Unknown> {
    let of_other_model = || {
        let name = other_model(tree, &error.path)?;
        let is_newer = error.problem.starts_with("unknown field") || error.problem.starts_with("a model of kind");
        is_newer.then(|| member(".models", &name))
    };
    let is_name = ["unknown field", "unknown method", "unknown baseline", "unknown termination"]
        .iter()
        .any(|words| error.problem.starts_with(words));
    let is_chosen = error.path == ".model" || error.path.starts_with(".model.") || error.path.starts_with(".model[");
    let path = match of_other_model() {
        Some(path) => path,
        None if is_name && !is_chosen && !chosen_model(tree).is_some_and(|at| leads_into(&error.path, &at)) => {
            error.path.clone()
        }
        None => return None,
    };
    if so_far >= MOST {
        return None;
    }
    let value = taken(tree, &path)?;
    Some(Unknown { path: format!("${path}"), value })
}

/// Path of the entry of the chosen model.
fn chosen_model(tree: &Value) -> Option<String> {
    Some(member(".models", tree.pointer("/model/method")?.as_str()?))
}

fn leads_into(path: &str, object: &str) -> bool {
    path.strip_prefix(object).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// The model that a path leads into, if it is not the chosen one.
fn other_model(tree: &Value, path: &str) -> Option<String> {
    let chosen = chosen_model(tree);
    let models = tree.get("models")?.as_object()?;
    let within = |name: &&String| {
        let at = member(".models", name);
        leads_into(path, &at) && chosen.as_deref() != Some(&at)
    };
    models.keys().find(within).cloned()
}

/// Removes the member of an object at a path.
fn taken(tree: &mut Value, path: &str) -> Option<Value> {
    let child = |name: String| path.strip_prefix(&name).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
    match tree {
        Value::Object(members) => {
            let (name, rest) = members.keys().find_map(|name| Some((name.clone(), child(member("", name))?)))?;
            if rest.is_empty() { members.remove(&name) } else { taken(members.get_mut(&name)?, rest) }
        }
        Value::Array(items) => {
            let (item, rest) =
                items.iter_mut().enumerate().find_map(|(i, item)| Some((item, child(format!("[{i}]"))?)))?;
            taken(item, rest)
        }
        _ => None,
    }
}

/// The doubts that were read as [`Doubt::Unknown`], as the file has them.
pub(crate) fn doubts<'a>(read: &'a Calibration, tree: &'a Value) -> impl Iterator<Item = Unknown> + 'a {
    read.doubts.iter().enumerate().filter(|(_, doubt)| **doubt == Doubt::Unknown).filter_map(|(i, _)| {
        Some(Unknown { path: format!("$.doubts[{i}]"), value: tree.get("doubts")?.get(i)?.clone() })
    })
}

/// Puts a part back where it was, if there is still a place for it.
pub(crate) fn put_back(tree: &mut Value, part: &Unknown) {
    fn put(tree: &mut Value, path: &str, value: &Value) {
        let child = |name: String| path.strip_prefix(&name).filter(|rest| rest.starts_with(['.', '[']));
        match tree {
            Value::Object(members) => {
                let below = members.keys().find_map(|name| Some((name.clone(), child(member("", name))?)));
                if let Some((name, rest)) = below {
                    return members.get_mut(&name).map_or((), |below| put(below, rest, value));
                }
                let quoted = path.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                let name = quoted.and_then(|quoted| serde_json::from_str(quoted).ok());
                let name: Option<String> = name.or_else(|| Some(path.strip_prefix('.')?.to_owned()));
                if let Some(name) = name {
                    members.entry(name).or_insert_with(|| value.clone());
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    match path.strip_prefix(&format!("[{i}]")) {
                        Some("") if *item == "unknown" => *item = value.clone(),
                        Some(rest) if !rest.is_empty() => put(item, rest, value),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    put(tree, part.path.strip_prefix('$').unwrap_or_default(), &part.value);
}

impl Calibration {
    /// What the file holds that this version does not know, such as a doubt of a later one. Win rates do not depend on
    /// it, and [`Calibration::to_json`] writes it again.
    pub fn unknown(&self) -> &[Unknown] {
        &self.unknown
    }
}
