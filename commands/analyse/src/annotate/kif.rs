//! The moves in the text of a KIF or KI2 record.

use encoding_rs::{Encoding, UTF_8};
use evalcurve_records::record::kif::numbered;

use super::Move;

/// The signs before a move of KI2.
const SIGNS: [char; 6] = ['▲', '△', '▼', '▽', '☗', '☖'];

/// The moves up to the end of the game or its first variation: a line for each, or several in a line of KI2.
pub(super) fn moves(text: &[u8], encoding: &'static Encoding) -> Vec<Move> {
    let (mut moves, mut at): (Vec<Move>, usize) = (Vec::new(), 0);
    let decoded = |line| encoding.decode_without_bom_handling(line).0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let begin = at;
        at += line.len();
        match line.first() {
            Some(b'*') => moves.last_mut().into_iter().for_each(|last| last.comment(begin..at)),
            // a move is numbered in turn
            Some(b' ' | b'0'..=b'9')
                if numbered(line).is_some_and(|(number, _)| number as usize == moves.len() + 1) =>
            {
                // what has no square is an end
                if !is_move(&decoded(line)) {
                    return moves;
                }
                moves.push(Move { seconds: seconds(line), ..Move::at(begin..at) });
            }
            Some(0x80..) => {
                let words = decoded(line);
                if words.starts_with("まで") || words.starts_with("変化") {
                    return moves;
                }
                if words.starts_with(SIGNS) {
                    let mut ends = signs(line, encoding).into_iter().skip(1).chain([line.len()]);
                    let mut from = 0;
                    moves.extend(
                        ends.by_ref().map(|end| Move::at(begin + std::mem::replace(&mut from, end)..begin + end)),
                    );
                }
            }
            _ => {}
        }
    }
    moves
}

/// The places of the signs in a line of KI2, whose other characters are Japanese or ASCII.
fn signs(line: &[u8], encoding: &'static Encoding) -> Vec<usize> {
    let width = if encoding == UTF_8 { 3 } else { 2 };
    let known = SIGNS.map(|sign| encoding.encode(&sign.to_string()).0.into_owned());
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(byte) = line.get(at) {
        if known.iter().any(|sign| line[at..].starts_with(sign)) {
            found.push(at);
        }
        at += if byte.is_ascii() { 1 } else { width };
    }
    found
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
