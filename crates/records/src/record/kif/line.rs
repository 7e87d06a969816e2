//! One line of KIF: its number, its move, its score; and what the first lines say about a file.

use super::ki2;
use super::words::{SCRIPTS, Script, Word, script_of, symbol, word_of};
use crate::record::encoding::declared;
use crate::record::position::PIECES;

/// Does a file that begins with these bytes look like KIF or KI2?
pub fn looks_like(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let head = &head[..head.len().min(65_536)];
    if memchr::memchr(0, &head[..head.len().min(4_096)]).is_some() {
        return false;
    }
    let mut known = false;
    let mut script = script_of(declared(head));
    for line in head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end).take(2_000) {
        match line {
            [] | [b'*' | b'|' | b'&', ..] | [b'+', b'-', ..] => continue,
            [b'#', rest @ ..] => {
                if rest.starts_with(b"KIF") {
                    return true;
                }
                continue;
            }
            [b' ' | b'0'..=b'9', ..] => {
                if let Some((_, text)) = numbered(line)
                    && SCRIPTS.iter().any(|s| parse_move(s, &line[text..], None).is_some())
                {
                    return true;
                }
                continue;
            }
            _ => {}
        }
        match word_of(line, script) {
            Some((Word::Columns, ..)) => return true,
            // prose may begin with a triangle too
            Some((Word::Ki2(_), length, found)) if known || ki2::is_move(found, &line[length..]) => return true,
            Some((Word::Ki2(_), ..)) => return false,
            Some((.., found)) => {
                known = true;
                script = found;
            }
            // another key, or text that goes on; text before anything that is KIF's is another format
            None if known || is_key(line, script) => {}
            None => return false,
        }
    }
    known
}

/// `key：value` with a key that is not known.
fn is_key(line: &[u8], script: &Script) -> bool {
    let (colon, _, _) = script.encoding.encode("：");
    !line.is_ascii() && memchr::memmem::find(&line[..line.len().min(48)], &colon).is_some()
}

/// The number of a move line, and where its text begins.
#[inline(always)]
pub(super) fn numbered(line: &[u8]) -> Option<(u32, usize)> {
    let mut i = 0;
    while line.get(i) == Some(&b' ') {
        i += 1;
    }
    let first = i;
    let mut number: u32 = 0;
    while let Some(digit) = line.get(i).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        number = number.saturating_mul(10).saturating_add(u32::from(digit));
        i += 1;
    }
    if i == first || line.get(i) != Some(&b' ') {
        return None;
    }
    while line.get(i) == Some(&b' ') {
        i += 1;
    }
    // moves begin with a Japanese character
    line.get(i).is_some_and(|b| *b >= 0x80).then_some((number, i))
}

/// From, to and piece after the move as CSA writes them, of `７六歩(77)`.
#[inline(always)]
pub(super) fn parse_move(script: &Script, text: &[u8], last_to: Option<[u8; 2]>) -> Option<[u8; 6]> {
    let width = script.width;
    let at = |i: usize| script.symbol(text.get(i..).unwrap_or_default());
    let (to, mut i) = match at(0) {
        file @ 1..=9 => {
            let rank = at(width).checked_sub(symbol::RANK).filter(|r| matches!(r, 1..=9))?;
            ([b'0' + file, b'0' + rank], 2 * width)
        }
        symbol::SAME => {
            let mut i = width;
            while at(i) == symbol::BLANK {
                i += width;
            }
            while text.get(i) == Some(&b' ') {
                i += 1;
            }
            (last_to?, i)
        }
        _ => return None,
    };
    let mut sign = at(i);
    let promoted = sign == symbol::PROMOTES;
    if promoted {
        i += width;
        sign = at(i);
    }
    let mut piece = sign.checked_sub(symbol::PIECE).filter(|p| matches!(p, 1..=14))?;
    if promoted {
        piece = promote(piece)?;
    }
    i += width;
    match at(i) {
        symbol::DROP if piece <= 7 => {
            let [p, q] = PIECES[usize::from(piece) - 1];
            return Some([b'0', b'0', to[0], to[1], p, q]);
        }
        symbol::PROMOTES => {
            piece = promote(piece)?;
            i += width;
        }
        symbol::NOT if at(i + width) == symbol::PROMOTES => i += 2 * width,
        _ => {}
    }
    match text.get(i..i + 4)? {
        &[b'(', file @ b'1'..=b'9', rank @ b'1'..=b'9', b')'] => {
            let [p, q] = PIECES[usize::from(piece) - 1];
            Some([file, rank, to[0], to[1], p, q])
        }
        _ => None,
    }
}

/// The code of a promoted piece; `None` for what does not promote.
pub(super) fn promote(piece: u8) -> Option<u8> {
    match piece {
        1..=4 => Some(piece + 8),
        6 | 7 => Some(piece + 7),
        _ => None,
    }
}

/// A number with its sign at the beginning of a text, and its length. `None` where it does not fit.
#[inline]
pub(super) fn integer(text: &[u8]) -> Option<(i32, usize)> {
    let negative = text.first() == Some(&b'-');
    let first = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let mut i = first;
    let mut value: i64 = 0;
    while let Some(digit) = text.get(i).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        // ten digits hold every i32; longer ones saturate and are refused below
        value = (value * 10 + i64::from(digit)).min(i64::from(u32::MAX));
        i += 1;
    }
    let value = i32::try_from(if negative { -value } else { value }).ok()?;
    (i > first).then_some((value, i))
}
