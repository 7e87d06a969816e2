//! The tokens of a PGN record.

use std::borrow::Cow;

use super::{Form, Kind, Part, Remark, end_line};
use crate::record::pgn::san;

/// Cuts a text into tags, moves with the blanks after them, comments, and the rest.
pub(super) fn parts(text: &[u8]) -> Vec<Part<'_>> {
    let (mut parts, mut at, mut named) = (Vec::new(), 0, false);
    while at < text.len() {
        if text[at] == b'[' && (at == 0 || text[at - 1] == b'\n') {
            let end = line_end(text, at);
            named |= text[at..].starts_with(b"[Annotator ");
            parts.push(Part { kind: Kind::Other, text: text[at..end].into() });
            if !named && text.get(end) != Some(&b'[') {
                named = true;
                parts.push(Part { kind: Kind::HeadEnd, text: Cow::Borrowed(b"") });
            }
            at = end;
            continue;
        }
        let (end, kind) = token(text, at);
        match text[at] {
            b'{' => comments(&text[at..end], &mut parts),
            _ => parts.push(Part { kind, text: text[at..end].into() }),
        }
        at = end;
    }
    parts
}

fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |i| at + i + 1)
}

/// Where the token at a place ends, and what it is.
fn token(text: &[u8], at: usize) -> (usize, Kind) {
    let rest = &text[at..];
    match rest[0] {
        b';' => return (line_end(text, at), Kind::Other),
        b'%' if at == 0 || text[at - 1] == b'\n' => return (line_end(text, at), Kind::Other),
        b'{' => {
            let end = memchr::memchr(b'}', rest).map_or(text.len(), |i| at + i + 1);
            return (blanks(text, end), Kind::Other);
        }
        b'(' => return (variation(text, at), Kind::Other),
        _ => {}
    }
    // a number before a move: `1.e4`
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let dots = rest[digits..].iter().take_while(|b| **b == b'.').count();
    if dots > 0 {
        return (blanks(text, at + digits + dots), Kind::Other);
    }
    let length = rest.iter().take_while(|b| !b.is_ascii_whitespace() && !b"{}();".contains(b)).count().max(1);
    let is_castling = rest.starts_with(b"0-0");
    let is_move = (rest[0].is_ascii_alphabetic() || is_castling)
        && san(rest).is_some_and(|(found, ..)| found > 1)
        && !rest.starts_with(b"e.p.");
    (blanks(text, at + length), if is_move { Kind::Move(None) } else { Kind::Other })
}

/// The place behind the blanks at a place.
fn blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// Where a variation ends, with those in it and their comments.
fn variation(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0_u32;
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' => at += memchr::memchr(b'}', &text[at..]).unwrap_or(text.len() - at),
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    blanks(text, at.min(text.len()))
}

/// A comment without an older evaluation, and the times in it.
fn comments<'a>(token: &'a [u8], parts: &mut Vec<Part<'a>>) {
    let command = |name: &[u8]| {
        let from = memchr::memmem::find(token, name)?;
        let to = from + memchr::memchr(b']', &token[from..])?;
        Some((from, to + 1))
    };
    let clock = |name: &[u8]| {
        let (from, to) = command(name)?;
        let text = std::str::from_utf8(&token[from + name.len()..to - 1]).ok()?;
        text.trim().split(':').try_fold(0.0, |sum, word| Some(60.0 * sum + word.parse::<f64>().ok()?))
    };
    let kind = match (clock(b"[%emt "), clock(b"[%clk ")) {
        (Some(time), _) => Kind::Time(time),
        (None, Some(left)) => Kind::Clock(left),
        (None, None) => time_of_runner(token).map_or(Kind::Other, Kind::Time),
    };
    let Some((from, to)) = command(b"[%eval ") else {
        parts.push(Part { kind, text: token.into() });
        return;
    };
    let without = [&token[..from], &token[blanks(token, to)..]].concat();
    let is_empty = without.iter().all(|b| b.is_ascii_whitespace() || b"{}".contains(b));
    // the analysis counts as a part, so that the others say what is left of the comment
    parts.push(Part { kind: Kind::Analysis(Form::ShogiHome), text: Cow::Borrowed(b"") });
    if !is_empty {
        parts.push(Part { kind, text: Cow::Owned(without) });
    }
}

/// The seconds in `{+0.98/25 11s}`.
fn time_of_runner(token: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(token).ok()?;
    let words = text.trim_matches(|c: char| "{} \r\n\t".contains(c)).split([' ', ',']);
    words.skip(1).find_map(|word| word.strip_suffix('s')?.parse::<f64>().ok())
}

/// The parts with what an engine says of the start position before the first move, and of each other after its move.
pub(super) fn annotated(parts: &[Part<'_>], engine: &str, remarks: &[Option<Remark>], end_of_line: &str) -> Vec<u8> {
    let (mut out, mut ply) = (Vec::new(), 0);
    let said = |ply: usize| remarks.get(ply).and_then(Option::as_ref).map(comment);
    for part in parts {
        match part.kind {
            Kind::Analysis(_) => {}
            Kind::HeadEnd => out.extend_from_slice(tag(engine, end_of_line).as_bytes()),
            Kind::Move(_) => {
                if let Some(comment) = said(0).filter(|_| ply == 0) {
                    out.extend_from_slice(format!("{comment} ").as_bytes());
                }
                ply += 1;
                let text = part.text.trim_ascii_end();
                out.extend_from_slice(text);
                if let Some(comment) = said(ply) {
                    out.extend_from_slice(format!(" {comment}").as_bytes());
                }
                let blank = &part.text[text.len()..];
                out.extend_from_slice(if blank.is_empty() { b" " } else { blank });
            }
            _ => out.extend_from_slice(&part.text),
        }
    }
    end_line(&mut out, end_of_line);
    out
}

/// The tag that names the engine, for a record without one.
fn tag(engine: &str, end_of_line: &str) -> String {
    format!("[Annotator \"{}\"]{end_of_line}", engine.replace('\\', "\\\\").replace('"', "\\\""))
}

/// lichess's evaluation, in White's view: pawns, or moves to the mate.
fn comment(remark: &Remark) -> String {
    let depth = remark.depth.map_or_else(String::new, |depth| format!(",{depth}"));
    match remark.mate {
        Some((white, plies)) => {
            let moves = plies.unwrap_or(1).div_ceil(2).max(1);
            format!("{{[%eval #{}{moves}{depth}]}}", if white { "" } else { "-" })
        }
        None => {
            let (sign, cp) = (if remark.score_cp < 0 { "-" } else { "" }, remark.score_cp.unsigned_abs());
            format!("{{[%eval {sign}{}.{:02}{depth}]}}", cp / 100, cp % 100)
        }
    }
}
