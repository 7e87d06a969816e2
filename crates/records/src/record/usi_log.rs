//! Logs of dialogues between engines and whoever drives them, by USI or UCI.
//!
//! ```text
//! A vs B start.                                cshogi.cli --debug: a game, Black's name first
//! 1:position startpos moves 7g7f               what is said to engine 1, or by it
//! 1:info depth 5 score cp 254 nodes 394 pv …   score of the side to move
//! 1:bestmove 3c3d ponder 2g2f
//! まで160手で後手の勝ち                          the result
//!
//! >1:position startpos moves 7g7f              将棋所, ShogiGUI and their like: said to engine 1
//! <1:info score cp 1 pv 6a5b                   said by it
//! >1:gameover win                              the result for that engine
//! [time] [INFO] usi - sid=1: > go btime 0 …    ShogiHome
//!
//! Started game 1 of 100 (A vs B)               cutechess-cli -debug and shogitest: a game, the first mover first
//! 4123 >A(0): position startpos moves e2e4
//! 4130 <A(0): info depth 9 score mate -3 …
//! Finished game 1 (A vs B): 1-0 {White mates}  the result, the first mover's point first
//! ```
//!
//! A score belongs to the position of the last `position` line of its engine: the last one of the first line (`multipv 1`) before
//! `bestmove` that is no bound. What an engine thinks while the opponent does is none until `ponderhit`. A `bestmove`
//! without such a score is a book move. Colours go by the position; where that is `startpos`, by the number of its moves, and the
//! form of moves tells shogi, where Black begins, from chess, where White does.
//!
//! A game begins at a line of the runner's, or at the first `usinewgame` (`ucinewgame`) behind moves. Engines are called as the
//! runner calls them, else by their own `id name`. A log without a runner's lines is held in memory as a whole. Games that run at the same
//! time in one log cannot be told apart: more than two engines in one game break it.

mod line;

use std::ops::Range;

use super::{Cursor, Game, GameError, GameHash, Reader, ScoredPosition, SkipReason};
use evalcurve_core::types::{Color, Outcome, Termination};
use line::{Position, Runner, Say, Spoken};

/// The reader of logs.
#[derive(Debug, Clone, Copy)]
pub struct UsiLogReader;

/// Does a file that begins with these bytes look like a log? Three lines of a dialogue stand in it, or a third of its lines are some.
pub fn looks_like(head: &[u8]) -> bool {
    let head = &head[..head.len().min(65_536)];
    if memchr::memchr(0, &head[..head.len().min(4_096)]).is_some() {
        return false;
    }
    let lines = head.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(100);
    let (mut all, mut spoken) = (0, 0);
    for line in lines {
        all += 1;
        spoken += u32::from(line::spoken(line).is_some_and(|s| s.is_protocol()));
    }
    spoken >= 3 && 3 * spoken >= all
}

/// Moves before the start of a position as the protocols say it, by its own number; 0 for `startpos` and for what is no position.
pub(super) fn plies_before(position: &[u8]) -> u32 {
    line::position(position).map_or(0, |position| position.before)
}

impl Reader for UsiLogReader {
    fn last_boundary(&self, block: &[u8]) -> Option<usize> {
        let mut end = block.len();
        // the last line may be cut
        while let Some(feed) = memchr::memrchr(b'\n', &block[..end]) {
            let begin = memchr::memrchr(b'\n', &block[..feed]).map_or(0, |at| at + 1);
            if begin > 0 && matches!(line::runner(&block[begin..feed]), Some(Runner::Start(..))) {
                return Some(begin);
            }
            end = feed;
        }
        None
    }

    fn read_game(&self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        game.clear();
        let mut scan =
            Scan { block, slots: Vec::new(), names: None, number: None, begun: false, ended: None, first: None };
        scan.run(cursor, game)
    }
}

/// One engine of the game.
struct Slot<'a> {
    /// What the log calls it.
    key: &'a [u8],
    /// The position it was told last.
    position: Option<Position<'a>>,
    /// It thinks on the opponent's time.
    ponders: bool,
    /// The last score of the position that counts.
    score: Option<(i32, bool, u64)>,
    color: Option<Color>,
}

struct Scan<'a> {
    block: &'a [u8],
    slots: Vec<Slot<'a>>,
    /// The names of the runner, the first mover's first.
    names: Option<[&'a [u8]; 2]>,
    /// The number of the game by the runner.
    number: Option<&'a [u8]>,
    begun: bool,
    ended: Option<(Option<Outcome>, Termination)>,
    /// Who moves first.
    first: Option<Color>,
}

impl<'a> Scan<'a> {
    fn run(&mut self, cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        let mut longest: Option<Position<'a>> = None;
        let (mut last_move, mut broken): (&[u8], Option<u64>) = (b"", None);
        while cursor.offset < self.block.len() {
            let rest = &self.block[cursor.offset..];
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let text = &rest[..length];
            let number = cursor.line;
            let next_offset = cursor.offset + (length + 1).min(rest.len());
            if let Some(event) = line::runner(text) {
                match event {
                    Runner::Start(..) if self.begun => break,
                    Runner::Start(names, of) => {
                        (self.names, self.number) = (Some(names), of);
                        self.slots.clear();
                        game.line = number;
                    }
                    Runner::End(ending, of) => {
                        (cursor.offset, cursor.line) = (next_offset, number + 1);
                        // the end of another game than this one
                        let own = self.number.is_none() || of.is_none() || self.number == of;
                        if self.begun && own {
                            let (outcome, reason) = ending.resolve(self.first, longest.map_or(0, |p| p.plies()));
                            // an engine that resigned says why, where the runner only says who won
                            let reason = match self.ended {
                                Some((same, known)) if reason == Termination::Unknown && same == outcome => known,
                                _ => reason,
                            };
                            self.ended = Some((outcome, reason));
                            break;
                        }
                        continue;
                    }
                }
            } else if let Some(spoken) = line::spoken(text) {
                if self.begun && matches!(spoken.say, Say::NewGame) && longest.is_some_and(|p| p.plies() > 0) {
                    // the runner's own line was the beginning, or will be
                    break;
                }
                self.hear(&spoken, number, game, &mut longest, &mut last_move);
                if self.slots.iter().filter(|s| s.color.is_some()).count() > 2 && broken.is_none() {
                    broken = Some(number);
                }
            }
            (cursor.offset, cursor.line) = (next_offset, number + 1);
        }
        if !self.begun {
            return Ok(false);
        }
        if let Some(line) = broken {
            let value = b"a third engine plays in this game; log games that run at the same time apart";
            return Err(GameError {
                reason: SkipReason::BrokenRecord,
                line,
                value: String::from_utf8_lossy(value).into(),
            });
        }
        self.finish(cursor.offset, game, longest, last_move);
        Ok(true)
    }

    fn slot(&mut self, key: &'a [u8]) -> Option<&mut Slot<'a>> {
        let at = self.slots.iter().position(|s| s.key == key).unwrap_or_else(|| {
            self.slots.push(Slot { key, position: None, ponders: false, score: None, color: None });
            self.slots.len() - 1
        });
        self.slots.get_mut(at)
    }

    fn hear(
        &mut self,
        spoken: &Spoken<'a>,
        line: u64,
        game: &mut Game,
        longest: &mut Option<Position<'a>>,
        last_move: &mut &'a [u8],
    ) {
        let first = self.first;
        let Some(slot) = self.slot(spoken.key) else { return };
        match spoken.say {
            Say::Position(position) => (slot.position, slot.score) = (Some(position), None),
            Say::Go { ponder } => (slot.ponders, slot.score) = (ponder, None),
            Say::PonderHit => slot.ponders = false,
            Say::Score { score_cp, mate } => slot.score = Some((score_cp, mate, line)),
            Say::GameOver(outcome) => {
                let (color, reason) = (slot.color, self.ended.map_or(Termination::Unknown, |(_, reason)| reason));
                if let Some(color) = color.filter(|_| self.begun) {
                    self.ended.get_or_insert((Some(outcome.in_view_of(color)), reason));
                }
            }
            Say::BestMove(word) if !slot.ponders => {
                let Some(position) = slot.position else { return };
                let Some(color) = position.side(first.or_else(|| line::first_mover(&position, word))) else { return };
                let score = slot.score.take();
                slot.color = Some(color);
                if self.first.is_none() {
                    self.first = line::first_mover(&position, word);
                }
                if !self.begun {
                    self.begun = true;
                    game.line = if self.names.is_some() { game.line } else { line };
                    game.plies_before = position.before;
                }
                let ply = position.plies() + 1;
                match score {
                    Some((score_cp, mate, line)) => {
                        let scored = ScoredPosition { ply, color, score_cp, mate, analysis: false, line };
                        match game.scores.last_mut().filter(|last| last.ply >= ply) {
                            // taken back, and played again
                            Some(last) if last.ply == ply => *last = scored,
                            Some(_) => {}
                            None => game.scores.push(scored),
                        }
                    }
                    None if line::is_move(word) => game.book_moves += 1,
                    None => {}
                }
                if longest.is_none_or(|p| p.plies() <= position.plies()) {
                    (*longest, *last_move) = (Some(position), word);
                }
                game.plies = game.plies.max(position.plies() + u32::from(line::is_move(word)));
                let lost = |color: Color| if color == Color::Black { Outcome::Loss } else { Outcome::Win };
                match word {
                    b"resign" => self.ended = Some((Some(lost(color)), Termination::Resignation)),
                    b"win" => self.ended = Some((Some(lost(color.opponent())), Termination::Declaration)),
                    _ => {}
                }
            }
            // the answer to `stop`, about a move that was not played
            Say::BestMove(_) => slot.ponders = false,
            Say::NewGame | Say::Other => {}
        }
    }

    fn finish(&mut self, end: usize, game: &mut Game, longest: Option<Position<'a>>, last_move: &[u8]) {
        if let Some((outcome, termination)) = self.ended {
            (game.black_outcome, game.termination) = (outcome, Some(termination));
        }
        let first = self.first.unwrap_or(Color::Black);
        for (index, color) in [first, first.opponent()].into_iter().enumerate() {
            let own = self.slots.iter().find(|s| s.color == Some(color));
            let given = self.names.and_then(|names| names.get(index).copied());
            let name = given.or_else(|| own.and_then(|slot| self.own_name(slot.key, end)));
            if let Some(name) = name {
                super::encoding::decode_into(name, None, name, &mut game.names[color.index()]);
            }
        }
        let mut hash = GameHash::default();
        if let Some(position) = longest {
            hash.bytes(position.start);
            hash.bytes(position.moves);
        }
        hash.bytes(last_move);
        game.id = hash.finish(&game.names, None);
    }

    /// What an engine calls itself: the last `id name` of its before `end`, which may stand before earlier games.
    fn own_name(&self, key: &[u8], end: usize) -> Option<&'a [u8]> {
        let before = &self.block[..end];
        memchr::memmem::rfind_iter(before, b"id name ").find_map(|at| {
            let line = line_around(before, at);
            let spoken = line::spoken(&before[line.clone()])?;
            (spoken.key == key).then(|| before[at + 8..line.end].trim_ascii())
        })
    }
}

fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let begin = memchr::memrchr(b'\n', &text[..at]).map_or(0, |feed| feed + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |feed| at + feed);
    begin..end
}

#[cfg(test)]
mod tests;
