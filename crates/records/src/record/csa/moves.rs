//! The moves of a CSA game with their times and scores: the hot path of the reader.

use evalcurve_calibration::types::Color;

use super::Scan;
use crate::record::comment::{begins_pv, floodgate_score};
use crate::record::game::{Game, GameError, OddityKind, ScoredPosition, SkipReason};
use crate::record::position::{Position, is_piece};

/// The seven bytes of a move; `None` if they are not a move.
#[inline(always)]
pub fn move_token(bytes: &[u8]) -> Option<[u8; 7]> {
    let &token: &[u8; 7] = bytes.first_chunk()?;
    let [sign, from_file, from_rank, to_file, to_rank, p, q] = token;
    // four digits at once: each byte less '0' is below 10
    let digits = u32::from_le_bytes([from_file, from_rank, to_file, to_rank]) ^ 0x3030_3030;
    let are_digits = (digits.wrapping_add(0x7676_7676) | digits) & 0x8080_8080 == 0;
    // a drop comes from 00, every other move from a square of the board
    let from_ok = (digits & 0xff == 0) == (digits & 0xff00 == 0);
    let to_ok = digits & 0x00ff_0000 != 0 && digits & 0xff00_0000 != 0;
    let ok = (sign == b'+' || sign == b'-') & are_digits & from_ok & to_ok && is_piece([p, q]);
    ok.then_some(token)
}

impl Scan<'_> {
    /// `T12`, nearly always followed by the line end.
    #[inline]
    pub(super) fn time(&mut self, game: &mut Game) {
        let mut at = self.lines.at + 1;
        while self.lines.block.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if self.lines.block.get(at) == Some(&b'\n') {
            self.lines.at = at + 1;
            self.lines.line += 1;
        } else {
            self.end_statement_from(at, game);
        }
    }

    #[inline]
    pub(super) fn move_or_side(&mut self, game: &mut Game) -> Result<(), GameError> {
        let rest = self.lines.rest();
        let color = if rest[0] == b'+' { Color::Black } else { Color::White };
        if let Some(token) = move_token(rest) {
            if self.special.is_some() {
                // moves after the end are a note in some files, never part of the game
                self.lines.skip_line();
                return Ok(());
            }
            match self.mover {
                Some(last) if last != color => {}
                None => {
                    self.lines.begin(game);
                    if game.plies == 0 {
                        if self.position == Position::EMPTY {
                            self.position = Position::EVEN;
                        }
                        // a record without a side-to-move line begins with the side of its first move
                        self.position.side_to_move = color;
                        self.position.hash_into(&mut self.hash);
                    }
                }
                Some(_) => return Err(self.broken(SkipReason::BrokenMove)),
            }
            self.mover = Some(color);
            game.plies += 1;
            self.hash.shogi_move(token);
            game.keep_move(token);
            match rest.get(7) {
                Some(b'\n') => {
                    self.lines.at += 8;
                    self.lines.line += 1;
                }
                Some(b',') => self.lines.at += 8,
                _ => self.end_statement_from(self.lines.at + 7, game),
            }
            return Ok(());
        }
        let end = self.statement_end(self.lines.at);
        if self.lines.block[self.lines.at + 1..end].trim_ascii().is_empty() {
            self.lines.begin(game);
            if game.plies == 0 {
                self.position.side_to_move = color;
            }
            self.end_statement_from(end, game);
            return Ok(());
        }
        if self.special.is_some() || !self.lines.begun {
            self.lines.skip_line();
            return Ok(());
        }
        Err(self.broken(SkipReason::BrokenMove))
    }

    /// Reads the bulk of every record: `+7776FU`, `T12`, `'** 30 -8384FU`, each alone on its line.
    ///
    /// Called after a move. It does what `time`, `score` and `move_or_side` do, with its state in locals, which is
    /// faster. It stops at the first line of another form and leaves that line to the caller.
    pub(super) fn plain_moves(&mut self, game: &mut Game) {
        let block = self.lines.block;
        let Some(mut mover) = self.scored_mover() else { return };
        let (mut at, mut line, mut hash, mut plies) = (self.lines.at, self.lines.line, self.hash, game.plies);
        loop {
            if block.get(at) == Some(&b'T') {
                let mut end = at + 1;
                while block.get(end).is_some_and(u8::is_ascii_digit) {
                    end += 1;
                }
                if block.get(end) != Some(&b'\n') {
                    break;
                }
                at = end + 1;
                line += 1;
            }
            if let Some(text) = block.get(at..).and_then(|rest| rest.strip_prefix(b"'** ")) {
                let Some((score, length)) = floodgate_score(text) else { break };
                if score == 0 && !begins_pv(&text[length..]) {
                    game.book_moves += 1;
                } else {
                    let score_cp = if mover == Color::Black { score } else { score.saturating_neg() };
                    // the first score after its move; the caller handles a second one
                    game.scores.push(ScoredPosition {
                        ply: plies,
                        color: mover,
                        score_cp,
                        mate: false,
                        analysis: false,
                        declared: None,
                        line,
                    });
                }
                let end = self.lines.line_end(at + 4 + length);
                at = (end + 1).min(block.len());
                line += u64::from(end < block.len());
            }
            let Some((&[.., b'\n'], token)) =
                block.get(at..).and_then(|rest| Some((rest.first_chunk::<8>()?, move_token(rest)?)))
            else {
                break;
            };
            let color = if token[0] == b'+' { Color::Black } else { Color::White };
            if color == mover {
                break;
            }
            mover = color;
            plies += 1;
            hash.shogi_move(token);
            game.keep_move(token);
            at += 8;
            line += 1;
        }
        (self.lines.at, self.lines.line, self.hash, self.mover) = (at, line, hash, Some(mover));
        game.plies = plies;
    }

    /// `'** INT[ PV…][ 'free text]`, with the cursor at the quote.
    pub(super) fn score(&mut self, game: &mut Game) {
        let text = &self.lines.block[self.lines.at + 4..];
        match floodgate_score(text) {
            Some((0, length)) if !begins_pv(&text[length..]) => {
                game.book_moves += u32::from(self.scored_mover().is_some());
            }
            Some((score, _)) => self.push_score(score, false, false, game),
            None if self.lines.begun => {
                self.lines.odd(game, OddityKind::UnreadableScore);
                game.add_unread(self.lines.line, &String::from_utf8_lossy(self.lines.text(self.lines.at + 1)));
            }
            // above the game
            None => {}
        }
        self.lines.skip_line();
    }

    /// Who made the move that a score belongs to: before the first move and after the end there is none.
    pub(super) fn scored_mover(&self) -> Option<Color> {
        self.mover.filter(|_| self.special.is_none())
    }

    /// Adds a score from Black's point of view that belongs to the last move.
    #[inline]
    pub(super) fn push_score(&mut self, black_score_cp: i32, mate: bool, analysis: bool, game: &mut Game) {
        let Some(mover) = self.scored_mover() else { return };
        game.add_score(mover, black_score_cp, mate, analysis, self.lines.line);
    }
}
