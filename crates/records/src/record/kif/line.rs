//! One line of KIF: its number, its move, its score; and the recognition of KIF by the first lines of a file.

use super::words::{SCRIPTS, Script, Word, script_of, symbol, word_of};
use crate::record::encoding::declared;
use crate::record::position::{PIECES, promote};

/// Whether a file that begins with this text is KIF or KI2.
pub(super) fn recognise(head: &[u8]) -> bool {
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
            // prose can begin with a triangle too
            Some((Word::Ki2(_), length, found)) if known || is_ki2_move(found, &line[length..]) => return true,
            Some((Word::Ki2(_), ..)) => return false,
            Some((.., found)) => {
                known = true;
                script = found;
            }
            // an unknown key, or text that continues; text before anything of KIF is another format
            None if known || is_key(line, script) => {}
            None => return false,
        }
    }
    known
}

/// Whether the line is `key：value` with an unknown key.
fn is_key(line: &[u8], script: &Script) -> bool {
    let (colon, _, _) = script.encoding.encode("：");
    !line.is_ascii() && memchr::memmem::find(&line[..line.len().min(48)], &colon).is_some()
}

/// The number of a move line and the offset of its text.
#[inline(always)]
pub fn numbered(line: &[u8]) -> Option<(u32, usize)> {
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

/// Whether `text`, after a ▲ or △, begins with the square that a move goes to.
fn is_ki2_move(script: &Script, text: &[u8]) -> bool {
    let at = |i: usize| script.symbol(text.get(i..).unwrap_or_default());
    at(0) == symbol::SAME || (matches!(at(0), 1..=9) && matches!(at(script.width), 0x11..=0x19))
}

/// The target square and the piece before the move, at the beginning of a move in KIF or KI2, and where they end.
///
/// `ki2` also accepts `７六同歩`, which some newspapers write.
#[inline(always)]
pub(super) fn moved_piece(
    script: &Script,
    text: &[u8],
    last_to: Option<[u8; 2]>,
    ki2: bool,
) -> Option<([u8; 2], u8, usize)> {
    let width = script.width;
    let at = |i: usize| script.symbol(text.get(i..).unwrap_or_default());
    let (to, mut i) = match at(0) {
        file @ 1..=9 => {
            let rank = at(width).checked_sub(symbol::RANK).filter(|r| matches!(r, 1..=9))?;
            ([b'0' + file, b'0' + rank], 2 * width)
        }
        symbol::SAME => (last_to?, width),
        _ => return None,
    };
    if ki2 || i == width {
        loop {
            match at(i) {
                symbol::BLANK => i += width,
                symbol::SAME if ki2 => i += width,
                _ if text.get(i) == Some(&b' ') => i += 1,
                _ => break,
            }
        }
    }
    let promoted = at(i) == symbol::PROMOTES;
    if promoted {
        i += width;
    }
    let piece = at(i).checked_sub(symbol::PIECE).filter(|p| matches!(p, 1..=14))?;
    Some((to, if promoted { promote(piece)? } else { piece }, i + width))
}

/// From, to and piece after the move of `７六歩(77)`, as CSA writes them.
#[inline(always)]
pub(super) fn parse_move(script: &Script, text: &[u8], last_to: Option<[u8; 2]>) -> Option<[u8; 6]> {
    let width = script.width;
    let at = |i: usize| script.symbol(text.get(i..).unwrap_or_default());
    let (to, mut piece, mut i) = moved_piece(script, text, last_to, false)?;
    match at(i) {
        symbol::DROP if piece <= 7 => {
            let [p, q] = PIECES[usize::from(piece) - 1].0;
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
            let [p, q] = PIECES[usize::from(piece) - 1].0;
            Some([file, rank, to[0], to[1], p, q])
        }
        _ => None,
    }
}
