//! The moves in the text of a CSA record.

use evalcurve_records::record::csa::move_token;

use super::Move;

/// The moves up to the end of the game; a comma joins statements.
pub(super) fn moves(text: &[u8]) -> Vec<Move> {
    let (mut moves, mut at): (Vec<Move>, usize) = (Vec::new(), 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let begin = at;
        at += line.len();
        match line.first() {
            Some(b'\'') => moves.last_mut().into_iter().for_each(|last| last.comment(begin..at)),
            Some(b'+' | b'-' | b'T' | b'%') => {
                let mut from = begin;
                for statement in line.split_inclusive(|byte| *byte == b',') {
                    let range = from..from + statement.len();
                    from = range.end;
                    match statement {
                        [b'%', ..] => return moves,
                        [b'T', time @ ..] => {
                            moves.last_mut().into_iter().for_each(|last| last.time(range.clone(), seconds(time)));
                        }
                        // after a comma at the end of the line
                        [b'\n'] | [b'\r', b'\n'] => {
                            moves.last_mut().into_iter().for_each(|last| last.time(range.clone(), None));
                        }
                        _ if move_token(statement).is_some() => moves.push(Move::at(range)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    moves
}

fn seconds(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok()
}
