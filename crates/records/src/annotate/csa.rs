//! The statements of a CSA record.

use super::{Form, Kind, Part};
use crate::record::comment::{self, engine_of_analysis};
use crate::record::csa::move_token;

/// Cuts a text into lines, and lines of moves and times into statements.
pub(super) fn parts(text: &[u8]) -> Vec<Part<'_>> {
    let (mut parts, mut ended) = (Vec::new(), false);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if ended || !matches!(line.first(), Some(b'+' | b'-' | b'T' | b'%')) {
            parts.push(Part { kind: analysis(line).map_or(Kind::Other, Kind::Analysis), text: line.into() });
            continue;
        }
        for statement in line.split_inclusive(|byte| *byte == b',') {
            let kind = match statement {
                [b'%', ..] => {
                    ended = true;
                    Kind::Other
                }
                [b'T', ..] => seconds(statement).map_or(Kind::Other, Kind::Time),
                _ if !ended && move_token(statement).is_some() => Kind::Move(None),
                _ => Kind::Other,
            };
            parts.push(Part { kind, text: statement.into() });
        }
    }
    parts
}

fn seconds(statement: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(&statement[1..]).ok()?;
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The form of an analysis in a line.
fn analysis(line: &[u8]) -> Option<Form> {
    let line = line.strip_prefix(b"'")?;
    of_comment(line, &String::from_utf8_lossy(line))
}

/// The form of an analysis in a comment that begins with `*`; the second text is the same, decoded.
pub(super) fn of_comment(line: &[u8], decoded: &str) -> Option<Form> {
    if let [b'*', b'*', b' ', b'-' | b'+' | b'0'..=b'9', ..] = line {
        return Some(Form::Floodgate);
    }
    const SHOGIHOME: [&str; 6] = ["評価値=", "詰み=", "読み筋=", "深さ=", "ノード数=", "エンジン="];
    let rest = decoded.strip_prefix("*#");
    if rest.is_some_and(|rest| SHOGIHOME.iter().any(|key| rest.starts_with(key))) {
        return Some(Form::ShogiHome);
    }
    let is_analysis = engine_of_analysis(line).is_some()
        || comment::parse(decoded.trim_end()).is_some_and(|found| found.analysis && rest.is_none());
    is_analysis.then_some(Form::ShogiGui)
}
