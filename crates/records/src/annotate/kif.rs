//! The lines of a KIF record, and the moves of a KI2 record.

use std::borrow::Cow;

use encoding_rs::Encoding;

use super::{Kind, Part, csa};
use crate::record::kif::numbered;

/// The signs before a move of KI2.
const SIGNS: [char; 6] = ['▲', '△', '▼', '▽', '☗', '☖'];

/// Cuts a text into lines, and lines of KI2 into moves.
pub(super) fn parts<'a>(text: &'a [u8], encoding: &'static Encoding) -> Vec<Part<'a>> {
    let (mut parts, mut ended, mut moved) = (Vec::new(), false, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let part = |kind| Part { kind, text: line.into() };
        match line.first() {
            Some(b' ' | b'0'..=b'9') if !ended => {
                // a move is numbered in turn; what has no square, an end, comes last
                let is_next = numbered(line).is_some_and(|(number, _)| number == moved + 1);
                let is_move = is_next && is_move(&encoding.decode_without_bom_handling(line).0);
                moved += u32::from(is_move);
                ended |= is_next && !is_move;
                parts.push(part(if is_move { Kind::Move(seconds(line)) } else { Kind::Other }));
            }
            Some(b'*') => {
                let decoded = encoding.decode_without_bom_handling(line).0;
                parts.push(part(csa::of_comment(line, &decoded).map_or(Kind::Other, Kind::Analysis)));
            }
            Some(0x80..) => {
                let decoded = encoding.decode_without_bom_handling(line).0;
                ended |= decoded.starts_with("まで") || decoded.starts_with("変化");
                if ended || !decoded.starts_with(SIGNS) {
                    parts.push(part(Kind::Other));
                    continue;
                }
                let mut rest = &*decoded;
                while !rest.is_empty() {
                    let end =
                        rest.char_indices().skip(1).find(|(_, c)| SIGNS.contains(c)).map_or(rest.len(), |(i, _)| i);
                    let text = Cow::Owned(encoding.encode(&rest[..end]).0.into_owned());
                    parts.push(Part { kind: Kind::Move(None), text });
                    rest = &rest[end..];
                }
            }
            _ => parts.push(part(Kind::Other)),
        }
    }
    parts
}

/// Whether a numbered line has a move: a square, or `同`.
fn is_move(line: &str) -> bool {
    let text = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit() || SIGNS.contains(&c));
    text.starts_with('同') || text.starts_with(|c: char| ('１'..='９').contains(&c) || c.is_ascii_digit())
}

/// The seconds of `( 0:02/00:00:02)`.
fn seconds(line: &[u8]) -> Option<f64> {
    let from = memchr::memrchr(b'(', line)?;
    let text = std::str::from_utf8(&line[from + 1..]).ok()?;
    let (minutes, seconds) = text.split('/').next()?.trim().split_once(':')?;
    let [minutes, seconds] = [minutes, seconds].map(|word| word.trim().parse::<f64>().ok());
    Some(60.0 * minutes? + seconds?)
}
