//! Logs of USI or UCI dialogues between engines and a match runner or a GUI.
//!
//! ```text
//! A vs B start.                                cshogi.cli --debug: a game, Black's name first
//! 1:position startpos moves 7g7f               a line to or from engine 1
//! 1:info depth 5 score cp 254 nodes 394 pv …   score of the side to move
//! 1:bestmove 3c3d ponder 2g2f
//! まで160手で後手の勝ち                          the result
//!
//! >1:position startpos moves 7g7f              将棋所, ShogiGUI and similar: a line to engine 1
//! <1:info score cp 1 pv 6a5b                   a line from engine 1
//! >1:gameover win                              the result for that engine
//! [time] [INFO] usi - sid=1: > go btime 0 …    ShogiHome
//!
//! Started game 1 of 100 (A vs B)               cutechess-cli -debug and shogitest: a game, the first mover first
//! 4123 >A(0): position startpos moves e2e4
//! 4130 <A(0): info depth 9 score mate -3 …
//! Finished game 1 (A vs B): 1-0 {White mates}  the result, the first mover's point first
//! ```
//!
//! A score belongs to the position of the last `position` line of its engine: the last score of the first line
//! (`multipv 1`) before `bestmove` that is not a bound, with the rates of wins, draws and losses (`wdl`) in that line.
//! Scores of pondering do not count until `ponderhit`. A `bestmove` without such a score is a book move. Colours
//! follow from the position; for `startpos`, from the number of its moves, and the form of moves distinguishes shogi,
//! where Black begins, from chess, where White does.
//!
//! A game begins at a line of the runner, or at the first `usinewgame` (`ucinewgame`) after moves. Engines have the
//! names of the runner, else their own `id name`. A log without lines of a runner is held in memory as a whole. Games
//! that run at the same time in one log cannot be separated: more than two engines in one game break it.

mod line;

use evalcurve_calibration::types::{Color, Declared, Outcome, Termination};
use line::{LogLine, Message, Position, Runner};

use super::encoding;
use super::format::{Above, BOM, Cursor, Format, Reader};
use super::game::{Game, GameError, ScoredPosition, SkipReason};
use super::identity::GameHash;
use super::lines::Lines;
use super::names::{EngineNames, MOST_ENGINES};

/// The entry in the list of formats.
pub static FORMAT: Format = Format::of_games::<Log>(
    "usi-log",
    "USI and UCI logs",
    "logs of USI or UCI dialogues between engines and a match runner or a GUI",
);

/// The reader of logs, with the names that engines gave themselves (`id name`) so far.
struct Log(EngineNames);

impl Reader for Log {
    /// At least three lines, and a third of all lines, are dialogue.
    fn recognise(head: &[u8]) -> bool {
        let lines = head.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(100);
        let (mut all, mut dialogue) = (0, 0);
        for line in lines {
            all += 1;
            dialogue += u32::from(line::parse(line).is_some_and(|parsed| parsed.is_protocol()));
        }
        dialogue >= 3 && 3 * dialogue >= all
    }

    fn last_boundary(block: &[u8]) -> Option<usize> {
        let mut end = block.len();
        // the last line may be incomplete
        while let Some(feed) = memchr::memrchr(b'\n', &block[..end]) {
            let begin = memchr::memrchr(b'\n', &block[..feed]).map_or(0, |at| at + 1);
            if begin > 0 && matches!(line::runner(&block[begin..feed]), Some(Runner::Start(..))) {
                return Some(begin);
            }
            end = feed;
        }
        None
    }

    fn note(text: &[u8], above: &mut Above) {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let mut passed = 0;
        for at in memchr::memmem::find_iter(text, b"name ") {
            if at < passed {
                continue;
            }
            let begin = memchr::memrchr(b'\n', &text[passed..at]).map_or(passed, |feed| passed + feed + 1);
            passed = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |feed| at + feed);
            let line = &text[begin..passed];
            if line::runner(line).is_none()
                && let Some(LogLine { key, message: Message::Name(name), .. }) = line::parse(line)
            {
                above.names.set(key, name);
            }
        }
    }

    fn below(above: &Above) -> Self {
        Self(above.names.clone())
    }

    fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        let own_names = std::mem::take(&mut self.0);
        let mut scan = Scan { lines: Lines::new(block, cursor), own_names, ..Scan::default() };
        let read = scan.run(game);
        scan.lines.store(cursor);
        self.0 = scan.own_names;
        read
    }
}

/// Whether a position as the protocols write it, and a move in it, are of chess.
pub(super) fn is_chess(position: &[u8], best: &[u8]) -> bool {
    line::position(position).is_some_and(|position| line::is_of_chess(&position, best))
}

/// Adds the score of a move. A move that was taken back and played again replaces the first one.
fn add(game: &mut Game, scored: ScoredPosition) {
    match game.scores.last_mut().filter(|last| last.ply >= scored.ply) {
        Some(last) if last.ply == scored.ply => *last = scored,
        Some(_) => {}
        None => game.scores.push(scored),
    }
}

/// One engine of the game.
struct Slot<'a> {
    /// Its key in the log.
    key: &'a [u8],
    /// The last position that it received.
    position: Position<'a>,
    ponders: bool,
    /// The last valid score of the position: centipawns, whether it is a mate, the rates beside it, and its line.
    score: Option<(i32, bool, Option<Declared>, u64)>,
    color: Option<Color>,
}

#[derive(Default)]
struct Scan<'a> {
    lines: Lines<'a>,
    /// The engines that received a position.
    slots: Vec<Slot<'a>>,
    /// The names given by the engines, in this game or before.
    own_names: EngineNames,
    /// The names given by the runner, the first mover's first.
    names: Option<[&'a [u8]; 2]>,
    /// The number of the game given by the runner.
    number: Option<&'a [u8]>,
    begun: bool,
    ended: Option<(Option<Outcome>, Termination)>,
    /// The side that moves first.
    first: Option<Color>,
}

impl<'a> Scan<'a> {
    fn run(&mut self, game: &mut Game) -> Result<bool, GameError> {
        let mut longest: Option<Position<'a>> = None;
        let (mut last_move, mut broken): (&[u8], Option<u64>) = (b"", None);
        while self.lines.at < self.lines.block.len() {
            let (text, number) = (self.lines.text(self.lines.at), self.lines.line);
            if let Some(event) = line::runner(text) {
                match event {
                    Runner::Start(..) if self.begun => break,
                    Runner::Start(names, of) => {
                        (self.names, self.number) = (Some(names), of);
                        self.slots.clear();
                        game.line = number;
                    }
                    Runner::End(ending, of) => {
                        self.lines.skip_line();
                        // the end may belong to another game
                        let own = self.number.is_none() || of.is_none() || self.number == of;
                        if self.begun && own {
                            let (outcome, reason) = ending.resolve(self.first, longest.map_or(0, |p| p.plies()));
                            // an engine that resigned gives the reason if the runner only gives the winner
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
            } else if let Some(parsed) = line::parse(text) {
                if self.begun && matches!(parsed.message, Message::NewGame) && longest.is_some_and(|p| p.plies() > 0) {
                    // a line of the runner was the beginning, or will be
                    break;
                }
                if let Message::Name(name) = parsed.message {
                    self.own_names.set(parsed.key, name);
                } else if broken.is_none() {
                    self.message(&parsed, number, game, &mut longest, &mut last_move);
                    let players = self.slots.iter().filter(|s| s.color.is_some()).count();
                    broken = (players > 2 || self.slots.len() > MOST_ENGINES).then_some(number);
                }
            }
            self.lines.skip_line();
        }
        if !self.begun {
            return Ok(false);
        }
        if let Some(line) = broken {
            let value = "a third engine plays in this game; write games that run at the same time to separate logs";
            return Err(GameError { reason: SkipReason::BrokenRecord, line, value: value.to_owned() });
        }
        self.finish(game, longest, last_move);
        Ok(true)
    }

    fn message(
        &mut self,
        parsed: &LogLine<'a>,
        line: u64,
        game: &mut Game,
        longest: &mut Option<Position<'a>>,
        last_move: &mut &'a [u8],
    ) {
        let (first, key) = (self.first, parsed.key);
        let Some(slot) = self.slots.iter_mut().find(|s| s.key == key) else {
            // anything else is about no position
            if let Message::Position(position) = parsed.message {
                self.slots.push(Slot { key, position, ponders: false, score: None, color: None });
            }
            return;
        };
        match parsed.message {
            Message::Position(position) => (slot.position, slot.score) = (position, None),
            Message::Go { ponder } => (slot.ponders, slot.score) = (ponder, None),
            Message::PonderHit => slot.ponders = false,
            Message::Score { score_cp, mate, declared } => slot.score = Some((score_cp, mate, declared, line)),
            Message::GameOver(outcome) => {
                let (color, reason) = (slot.color, self.ended.map_or(Termination::Unknown, |(_, reason)| reason));
                if let Some(color) = color.filter(|_| self.begun) {
                    self.ended.get_or_insert((Some(outcome.in_view_of(color)), reason));
                }
            }
            Message::BestMove(word) if !slot.ponders => {
                let position = slot.position;
                let Some(color) = position.side(first.or_else(|| line::first_mover(&position, word))) else { return };
                let score = slot.score.take();
                slot.color = Some(color);
                self.first = first.or_else(|| line::first_mover(&position, word));
                if !self.begun {
                    self.begun = true;
                    game.line = if self.names.is_some() { game.line } else { line };
                    game.plies_before = position.before;
                }
                match score {
                    Some((score_cp, mate, declared, line)) => {
                        let ply = position.plies() + 1;
                        add(game, ScoredPosition { ply, color, score_cp, mate, analysis: false, declared, line });
                    }
                    None => game.book_moves += u32::from(line::is_move(word)),
                }
                if longest.is_none_or(|p| p.plies() <= position.plies()) {
                    (*longest, *last_move) = (Some(position), word);
                }
                game.plies = game.plies.max(position.plies() + u32::from(line::is_move(word)));
                match word {
                    b"resign" => self.ended = Some((Some(Outcome::Loss.in_view_of(color)), Termination::Resignation)),
                    b"win" => self.ended = Some((Some(Outcome::Win.in_view_of(color)), Termination::Declaration)),
                    _ => {}
                }
            }
            // the answer to `stop`, with a move that was not played
            Message::BestMove(_) => slot.ponders = false,
            Message::Name(_) | Message::NewGame | Message::Other => {}
        }
    }

    fn finish(&mut self, game: &mut Game, longest: Option<Position<'a>>, last_move: &[u8]) {
        if let Some((outcome, termination)) = self.ended {
            (game.black_outcome, game.termination) = (outcome, Some(termination));
        }
        let first = self.first.unwrap_or(Color::Black);
        for (index, color) in [first, first.opponent()].into_iter().enumerate() {
            let own = self.slots.iter().find(|s| s.color == Some(color));
            let given = self.names.and_then(|names| names.get(index).copied());
            let name = given.or_else(|| own.and_then(|slot| self.own_names.get(slot.key)));
            if let Some(name) = name {
                encoding::decode_into(name, None, name, &mut game.names[color.index()]);
            }
        }
        game.chess = longest.is_some_and(|position| line::is_of_chess(&position, last_move));
        let mut hash = GameHash::default();
        if let Some(position) = longest {
            hash.bytes(position.start);
            hash.bytes(position.moves);
        }
        hash.bytes(last_move);
        if let (Some(played), Some(position)) = (&mut game.played, longest) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let start = text(position.start);
            let fields = start.split_once(' ').map(|(_, fields)| fields.trim().to_owned());
            played.start = fields.filter(|_| !start.starts_with("startpos"));
            played.first = first;
            played.moves = text(position.moves).split_whitespace().map(str::to_owned).collect();
            played.moves.extend(Some(last_move).filter(|word| line::is_move(word)).map(text));
        }
        game.identify(hash);
    }
}

#[cfg(test)]
mod tests;
