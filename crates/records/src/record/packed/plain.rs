//! The plain text of Stockfish's tools, `docs/convert.md` of their branch: positions, one field a line.
//!
//! ```text
//! fen rnbqkb1r/ppp2ppp/4pn2/3p4/2PP4/2N5/PP2PPPP/R1BQKBNR w KQkq - 0 4
//! move c1g5
//! score 38
//! ply 6
//! result 1
//! e
//! ```
//!
//! Score and result (1, 0 or -1) are from the point of view of the side to move. The ply of chess counts from 0. Tools
//! of shogi write `sfen` instead of `fen`, and count from 1. Other fields are kept.

use std::ops::Range;

use evalcurve_calibration::types::{Color, Outcome, Termination};

use super::{Packed, PackedPosition, Visit};
use crate::record::format::{BOM, Format};
use crate::record::game::SkipReason;

/// The entry in the list of formats.
pub static FORMAT: Format = Format::of_positions(
    Packed::Plain,
    "plain",
    "training data of Stockfish's tools as text, one field of a position per line",
);

/// One position of a text.
#[derive(Debug, Default)]
struct Entry<'a> {
    position: Option<(&'a [u8], bool)>,
    score: Option<(i32, Range<usize>)>,
    ply: Option<u32>,
    result: Option<&'a [u8]>,
}

/// The text without the space around it, as a number.
fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

impl<'a> Entry<'a> {
    fn add(&mut self, line: &'a [u8], at: usize) {
        let Some((name, value)) = line.split_at_checked(line.iter().position(|&b| b == b' ').unwrap_or(line.len()))
        else {
            return;
        };
        let value = value.trim_ascii();
        match name {
            b"fen" | b"sfen" => self.position = Some((value, name == b"fen")),
            b"score" => {
                let from = at + line.len() - line[name.len()..].trim_ascii_start().len();
                self.score = number(value).map(|score| (score, from..from + value.len()));
            }
            b"ply" => self.ply = number(value),
            b"result" => self.result = Some(value),
            _ => {}
        }
    }

    /// The position, if all of it can be read.
    fn read(&self) -> Result<(PackedPosition, Range<usize>), SkipReason> {
        let ((position, is_chess), (score_cp, place)) =
            self.position.zip(self.score.clone()).ok_or(SkipReason::BrokenRecord)?;
        let mut words = position.split(|&b| b == b' ').filter(|word| !word.is_empty());
        let color = match (words.next(), words.next()) {
            (Some(board), Some(b"w")) if is_board(board) => Color::White,
            (Some(board), Some(b"b")) if is_board(board) => Color::Black,
            _ => return Err(SkipReason::BrokenPosition),
        };
        let own = match self.result.ok_or(SkipReason::BrokenRecord)? {
            b"1" => Outcome::Win,
            b"0" => Outcome::Draw,
            b"-1" => Outcome::Loss,
            _ => return Err(SkipReason::IllegalResult),
        };
        let (black_outcome, termination) = (own.in_view_of(color), Termination::Unknown);
        let ply = self.ply.map(|ply| ply.saturating_add(u32::from(is_chess)));
        Ok((PackedPosition { color, score_cp, black_outcome, termination, ply }, place))
    }
}

/// Eight or nine rows of a board.
fn is_board(text: &[u8]) -> bool {
    let rows = text.iter().filter(|&&b| b == b'/').count();
    (rows == 7 || rows == 8) && text.iter().all(|b| b.is_ascii_alphanumeric() || b"/+".contains(b))
}

/// Whether a text begins like this one.
pub(super) fn recognise(head: &[u8]) -> bool {
    let mut lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let is_first = |line: &[u8]| line.starts_with(b"fen ") || line.starts_with(b"sfen ");
    lines.next().is_some_and(is_first)
        && lines.next().is_some_and(|line| [&b"move "[..], b"score "].iter().any(|field| line.starts_with(field)))
}

/// Where the last entry of a block ends.
pub(super) fn last_boundary(block: &[u8]) -> usize {
    let ends = memchr::memmem::rfind_iter(block, b"\ne").map(|at| at + 2);
    let mut ends = ends.filter_map(|at| match block.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    });
    ends.next().unwrap_or(0)
}

/// Walks over the positions of a block of whole entries, as [`Packed::walk`] says.
pub(super) fn walk(text: &[u8], visit: &mut Visit<'_>) {
    let (mut entry, mut begin, mut at) = (Entry::default(), None, 0);
    let start = text.len() - text.strip_prefix(BOM).unwrap_or(text).len();
    visit.copy(&text[..start]);
    at += start;
    let mut copied = start;
    for line in text[start..].split_inclusive(|&b| b == b'\n') {
        let (from, content) = (at, line.trim_ascii());
        at += line.len();
        if content.is_empty() {
            continue;
        }
        let begin_of_entry = *begin.get_or_insert(from);
        if content != b"e" {
            entry.add(content, from + line.len() - line.trim_ascii_start().len());
            continue;
        }
        let range = begin_of_entry..at;
        match entry.read() {
            Ok((position, place)) => {
                let score = visit.position(range, &position);
                // a number that stays is written as it is
                if score != position.score_cp {
                    visit.copy(&text[copied..place.start]);
                    visit.copy(score.to_string().as_bytes());
                    copied = place.end;
                }
            }
            Err(reason) => visit.damage(range, reason),
        }
        (entry, begin) = (Entry::default(), None);
    }
    visit.copy(&text[copied..]);
    if let Some(begin) = begin {
        visit.damage(begin..text.len(), SkipReason::BrokenRecord);
    }
}
