//! The moves in the text of a PGN record.

use evalcurve_records::record::format::BOM;
use evalcurve_records::record::pgn::comment::is_chessbase;
use evalcurve_records::record::pgn::san;

use super::{Move, Remark};

/// What a token is.
#[derive(Clone, Copy)]
enum Token {
    Move,
    /// A judgement of the move above: `$1`, `!?`, `+-`.
    Glyph,
    Comment,
    Other,
}

/// The moves, and where their tags end.
pub(super) fn moves(text: &[u8]) -> (Vec<Move>, Option<usize>) {
    let (mut moves, mut tags): (Vec<Move>, _) = (Vec::new(), None);
    // a comment on the start position
    let mut before: Option<usize> = None;
    // up to where a judgement of the last move may still follow: behind comments, but not behind an older evaluation,
    // which would then be read first
    let mut open = 0;
    let mut at = blanks(text, if text.starts_with(BOM) { BOM.len() } else { 0 });
    while at < text.len() {
        let is_tag = text[at] == b'[' && (moves.is_empty() || text[at - 1] == b'\n');
        let (end, kind) = if is_tag { (line_end(text, at), Token::Other) } else { token(text, at) };
        match (kind, moves.last_mut()) {
            (Token::Move, _) => {
                moves.push(Move { from: before.take().unwrap_or(at), ..Move::at(at..end) });
                open = end;
            }
            (Token::Glyph, Some(last)) if text[open..at].trim_ascii().is_empty() => (last.after, open) = (end, end),
            (Token::Comment, Some(last)) => {
                let (seconds, clock) = times(&text[at..end]);
                (last.seconds, last.clock) = (last.seconds.or(seconds), last.clock.or(clock));
                let is_scored = memchr::memmem::find(&text[at..end], b"[%eval").is_some();
                if !is_scored && text[open..at].trim_ascii().is_empty() {
                    open = end;
                }
            }
            (_, Some(_)) if text[at] == b';' && text[open..at].trim_ascii().is_empty() => open = end,
            (_, None) if is_tag => (tags, before) = (Some(end), None),
            (Token::Comment, None) => before = before.or(Some(at)),
            _ => {}
        }
        at = blanks(text, end);
    }
    (moves, tags)
}

fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |i| at + i + 1)
}

/// Where the token at a place ends, without the blanks behind it, and what it is.
fn token(text: &[u8], at: usize) -> (usize, Token) {
    let rest = &text[at..];
    match rest[0] {
        b';' => return (line_end(text, at), Token::Other),
        b'%' if at == 0 || text[at - 1] == b'\n' => return (line_end(text, at), Token::Other),
        b'{' => {
            let end = memchr::memchr(b'}', rest).map_or(text.len(), |i| at + i + 1);
            return (end, Token::Comment);
        }
        b'(' => return (variation(text, at), Token::Other),
        _ => {}
    }
    // a number before a move: `1.e4`
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let dots = rest[digits..].iter().take_while(|b| **b == b'.').count();
    if dots > 0 {
        return (at + digits + dots, Token::Other);
    }
    let length = rest.iter().take_while(|b| !b.is_ascii_whitespace() && !b"{}();".contains(b)).count().max(1);
    let is_castling = rest.starts_with(b"0-0");
    let is_move = (rest[0].is_ascii_alphabetic() || is_castling)
        && san(rest).is_some_and(|(found, ..)| found > 1)
        && !rest.starts_with(b"e.p.");
    let kind = match rest[0] {
        _ if is_move => Token::Move,
        b'$' | b'!' | b'?' | b'+' | b'-' | b'=' | b'~' | 0x80.. => Token::Glyph,
        _ => Token::Other,
    };
    (at + length, kind)
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
    at.min(text.len())
}

/// The seconds that a comment gives the move above it, and the mover's clock after the move.
fn times(comment: &[u8]) -> (Option<f64>, Option<f64>) {
    let command = |name: &[u8]| {
        let from = memchr::memmem::find(comment, name)? + name.len();
        let to = from + memchr::memchr(b']', &comment[from..])?;
        let text = std::str::from_utf8(&comment[from..to]).ok()?;
        text.trim().split(':').try_fold(0.0, |sum, word| Some(60.0 * sum + word.parse::<f64>().ok()?))
    };
    let clock = command(b"[%clk ");
    let time = command(b"[%emt ").or_else(|| time_of_runner(comment).filter(|_| clock.is_none()));
    (time, clock)
}

/// The seconds in `{+0.98/25 11s}`.
fn time_of_runner(token: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(token).ok()?;
    let words = text.trim_matches(|c: char| "{} \r\n\t".contains(c)).split([' ', ',']);
    words.skip(1).find_map(|word| word.strip_suffix('s')?.parse::<f64>().ok())
}

/// The tag that names the engine, for a record without one.
pub(super) fn tag(engine: &str, end_of_line: &str) -> String {
    format!("[Annotator \"{}\"]{end_of_line}", engine.replace('\\', "\\\\").replace('"', "\\\""))
}

/// lichess's evaluation, in White's view: pawns, or moves to the mate.
pub(super) fn comment(remark: &Remark) -> String {
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

/// Whether the tags name this engine already, or hold what ChessBase keeps there and the reader needs.
pub(super) fn is_named(tags: &[u8], tag: &str) -> bool {
    let value = |line: &[u8]| -> Option<Vec<u8>> {
        let rest = line.strip_prefix(b"[Annotator \"")?;
        Some(rest[..memchr::memrchr(b'"', rest)?].to_vec())
    };
    let lines = || tags.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    // of several the last counts
    let last = lines().rfind(|line| value(line).is_some());
    last.is_some_and(|line| line == tag.trim_end().as_bytes())
        || lines().filter_map(value).any(|value| is_chessbase(&value))
}
