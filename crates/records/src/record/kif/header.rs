//! The head of a KIF record: players, times, handicap, and diagrams of other start positions.

use evalcurve_calibration::types::Color;

use super::words::{Key, symbol};
use super::{Range, Scan};
use crate::record::game::{Game, SkipReason};
use crate::record::identity::StartTime;
use crate::record::position::{Position, owned};

impl Scan<'_> {
    pub(super) fn header(&mut self, key: Key, value: Range, game: &mut Game) {
        let text = &self.lines.block[value.clone()];
        match key {
            Key::Black => self.names[0] = Some(value),
            Key::White => self.names[1] = Some(value),
            Key::TimeControl => self.time_control = Some(value),
            Key::Date => self.date = Some(value),
            Key::StartTime => game.begin_at(start_time(text), self.lines.line, text),
            Key::Handicap => {
                if let Some(off) = self.script.handicap(self.trimmed(text))
                    && self.rows == 0
                {
                    self.position = Position::EVEN;
                    // the table holds the pieces to remove from the board
                    if !off.is_empty() && self.position.read_csa(&[b"I", off].concat()).is_some() {
                        self.position.side_to_move = Color::White;
                    }
                }
            }
            Key::Hand(color) => {
                if self.hand(color, text).is_none() {
                    self.broken(SkipReason::BrokenPosition);
                }
            }
            Key::Other => {}
        }
    }

    /// A value without blanks around it, including wide blanks.
    pub(super) fn trimmed<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let mut text = text.trim_ascii();
        while self.script.symbol(text) == symbol::BLANK {
            text = text[self.script.width..].trim_ascii_start();
        }
        while text.len().checked_sub(self.script.width).is_some_and(|i| self.script.symbol(&text[i..]) == symbol::BLANK)
        {
            text = text[..text.len() - self.script.width].trim_ascii_end();
        }
        text
    }

    /// `飛　角　歩十三　`, or なし.
    fn hand(&mut self, color: Color, text: &[u8]) -> Option<()> {
        let mut text = text;
        let mut last: Option<(u8, u8)> = None;
        while let Some(&byte) = text.first() {
            if byte == b' ' {
                text = &text[1..];
                continue;
            }
            let found = self.script.symbol(text);
            match found {
                symbol::BLANK => {}
                symbol::TEN => last = Some((last?.0, 10)),
                0x11..=0x19 => {
                    let (piece, tens) = last?;
                    last = Some((piece, if tens == 10 { 10 } else { 0 } + found - symbol::RANK));
                }
                0x21..=0x27 => {
                    if let Some((piece, count)) = last {
                        *self.position.held(color, piece)? = count;
                    }
                    last = Some((found - symbol::PIECE, 1));
                }
                // なし
                _ => break,
            }
            text = text.get(self.script.width..)?;
        }
        if let Some((piece, count)) = last {
            *self.position.held(color, piece)? = count;
        }
        Some(())
    }

    /// A row of a diagram, `|v香v桂 ・…|一`.
    pub(super) fn row(&mut self) {
        if self.body {
            return;
        }
        if self.rows == 0 {
            // hands can precede the board
            self.position.squares = [0; 81];
        }
        let mut rest = &self.lines.block[self.lines.at + 1..];
        for column in 0..9 {
            let color = if matches!(rest.first(), Some(b'v' | b'V')) { Color::White } else { Color::Black };
            let found = self.script.symbol(rest.get(1..).unwrap_or_default());
            let code = match found {
                symbol::EMPTY => 0,
                0x21..=0x2e => found - symbol::PIECE,
                _ => return self.broken(SkipReason::BrokenPosition),
            };
            if let Some(square) = self.position.squares.get_mut(self.rows * 9 + column) {
                *square = owned(code, color);
            }
            rest = &rest[1 + self.script.width..];
        }
        self.rows += 1;
    }
}

pub(super) fn start_time(text: &[u8]) -> Option<StartTime> {
    // the text after the numbers (a day of the week) can be in any encoding
    let ascii = text.trim_ascii_start();
    let end = ascii.iter().position(|b| !b.is_ascii()).unwrap_or(ascii.len());
    std::str::from_utf8(&ascii[..end]).ok().and_then(StartTime::parse)
}
