//! CSA records (V1 to V3) with the extensions of floodgate, ShogiGUI and ShogiHome.
//!
//! A line scanner over bytes: it knows where each statement ends, so that only comments are searched for their line
//! end, and it decodes names only. What it reads:
//!
//! ```text
//! 'CSA encoding=UTF-8                         encoding of a V3 file (first line)
//! V2.2                                        version; begins a game
//! N+NAME  N-NAME  N+:NAME                     players
//! $EVENT:wdoor+floodgate-300-10F+…            time control, if $TIME and $TIME_LIMIT are absent
//! $START_TIME:2016/12/30 01:00:01
//! P1-KY-KE…  PI82HI  P+00FU  +                start position and side to move
//! 'black_rate:NAME+HASH:3148.0                rating
//! +7776FU                                     move; `+7776FU,T12` too: a comma joins statements
//! T12  T6.123                                 time
//! '** 30 -8384FU +2625FU #1234                score in Black's view, of the position BEFORE the move above
//! '** 0                                       no PV and zero: a book move, not a score
//! '**評価値=8                                  see `comment`
//! %TORYO                                      end
//! 'summary:toryo:BLACK lose:WHITE win         end as floodgate decided; overrides the % line
//! /                                           separates games
//! ```
//!
//! Sources: CSA standard record format V2.2 and V3.0 (Computer Shogi Association); shogi-server's output.

mod ending;
mod moves;
pub mod verify;

use ending::{floodgate_time_control, parse_summary, special_ending, summary_termination};
use evalcurve_calibration::types::{Color, Termination};

use super::comment;
use super::encoding::{declared, decode_into, decode_with, guess};
use super::format::{Above, Cursor, Format, Reader};
use super::game::{Convention, Game, GameError, OddityKind, SkipReason};
use super::identity::{GameHash, StartTime};
use super::lines::Lines;
use super::position::Position;
pub use moves::move_token;

/// The entry in the list of formats.
pub static FORMAT: Format = Format {
    verify: Some(verify::check),
    ..Format::of_games::<Csa>("csa", "CSA", "CSA V1 to V3 with the score comments of floodgate, ShogiGUI and ShogiHome")
};

/// The reader of CSA, with the encoding that the file declares.
struct Csa(Option<&'static encoding_rs::Encoding>);

impl Reader for Csa {
    fn recognise(head: &[u8]) -> bool {
        let mut hints = 0;
        for line in head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end).take(2_000) {
            let is_csa = match line {
                [b'V', b'1'..=b'3', rest @ ..] => rest.is_empty() || rest.first() == Some(&b'.'),
                [b'N', b'+' | b'-', ..] => true,
                [b'P', b'I', ..] => true,
                [b'P', b'1'..=b'9', b' ' | b'+' | b'-', ..] => true,
                [b'+' | b'-', ..] => line.get(..7).is_some_and(|t| move_token(t).is_some()),
                [b'\'', rest @ ..] => rest.starts_with(b"CSA encoding="),
                _ => false,
            };
            hints += u32::from(is_csa);
            if hints >= 2 {
                return true;
            }
            // two statements are enough, and one in a file of one or two lines
            if !is_csa
                && !matches!(line.first(), None | Some(b'\'' | b'$' | b'T' | b'%' | b'/' | b'#' | b'+' | b'-' | b'P'))
            {
                return false;
            }
        }
        hints >= 1
    }

    fn last_boundary(block: &[u8]) -> Option<usize> {
        // `/` alone on a line: cut after it. A version line, or names after the end of a game, without one: cut before
        // it.
        let is_end = |line: &[u8]| line.first() == Some(&b'%') && memchr::memchr(b',', line).is_none();
        let mut end = block.len();
        while let Some(at) = memchr::memrchr(b'\n', &block[..end]) {
            match &block[at + 1..] {
                [b'/', b'\n', ..] => return Some(at + 3),
                [b'/', b'\r', b'\n', ..] => return Some(at + 4),
                [b'V', b'1'..=b'3', ..] => return Some(at + 1),
                [b'N', b'+', ..] if is_end(&block[memchr::memrchr(b'\n', &block[..at]).map_or(0, |i| i + 1)..at]) => {
                    return Some(at + 1);
                }
                _ => end = at,
            }
        }
        None
    }

    fn below(above: &Above) -> Self {
        Self(above.encoding)
    }

    fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        let lines = Lines::new(block, cursor);
        let mut scan = Scan { lines, encoding: self.0, start: cursor.offset, ..Scan::default() };
        let read = scan.run(game);
        scan.lines.store(cursor);
        read
    }
}

/// The place of a text in the block.
type Range = std::ops::Range<usize>;

#[derive(Default)]
struct Scan<'a> {
    lines: Lines<'a>,
    encoding: Option<&'static encoding_rs::Encoding>,
    /// The encoding of the comments, guessed at the first that is not UTF-8.
    guessed: Option<&'static encoding_rs::Encoding>,
    start: usize,
    position: Position,
    hash: GameHash,
    mover: Option<Color>,
    names: [Option<Range>; 2],
    event: Option<Range>,
    time_control: Option<Range>,
    summary: Option<(Range, u64)>,
    special: Option<Range>,
    /// A score whose program says that it is Black's.
    of_black: bool,
    /// An analysis by more than one engine.
    annotators_differ: bool,
}

impl<'a> Scan<'a> {
    fn run(&mut self, game: &mut Game) -> Result<bool, GameError> {
        let block = self.lines.block;
        while let Some(&byte) = block.get(self.lines.at) {
            match byte {
                b'+' | b'-' => {
                    let before = game.plies;
                    self.move_or_side(game)?;
                    if game.plies > before {
                        self.plain_moves(game);
                    }
                }
                b'T' => self.time(game),
                b'\'' => self.comment(game),
                b'\n' => self.lines.skip_feed(),
                b'\r' | b',' | b' ' | b'\t' => self.lines.at += 1,
                b'/' if self.is_separator() => {
                    self.lines.skip_line();
                    if self.lines.begun {
                        return self.finish(game).map(|()| true);
                    }
                    // nor does text above a separator show the encoding
                    self.start = self.lines.at;
                }
                b'V' => {
                    if self.lines.begun {
                        return self.finish(game).map(|()| true);
                    }
                    // the text above does not show the encoding of this game
                    self.start = self.lines.at;
                    self.lines.skip_line();
                }
                b'N' | b'$' | b'P' => {
                    // a header after the moves or the end: a new game whose separator is missing
                    let (moved, ended) = (game.plies > 0, self.special.is_some());
                    if (byte == b'N' && (moved || ended)) || (byte == b'P' && moved && ended) {
                        return self.finish(game).map(|()| true);
                    }
                    self.lines.begin(game);
                    self.header(byte, game)?;
                }
                b'%' => {
                    self.lines.begin(game);
                    let end = self.statement_end(self.lines.at);
                    if self.special.is_none() {
                        self.special = Some(self.lines.at..end);
                    }
                    self.end_statement_from(end, game);
                }
                // the last messages of the server: #RESIGN, #WIN
                b'#' => self.lines.skip_line(),
                _ => {
                    if self.lines.begun {
                        self.lines.odd(game, OddityKind::UnknownStatement);
                    }
                    self.lines.skip_line();
                }
            }
        }
        if self.lines.begun { self.finish(game).map(|()| true) } else { Ok(false) }
    }

    /// Where a statement that may be followed by a comma ends.
    fn statement_end(&self, from: usize) -> usize {
        let rest = &self.lines.block[from..];
        rest.iter().position(|&b| matches!(b, b'\n' | b'\r' | b',')).map_or(self.lines.block.len(), |i| from + i)
    }

    fn is_separator(&self) -> bool {
        let rest = &self.lines.block[self.lines.at + 1..];
        let at_line_start = self.lines.at == 0 || self.lines.block[self.lines.at - 1] == b'\n';
        at_line_start && matches!(rest, [] | [b'\n', ..] | [b'\r', b'\n', ..] | [b'\r'])
    }

    /// Skips the rest of a statement that ends at `from` or, with the digits of a time, a little later.
    #[inline]
    fn end_statement_from(&mut self, from: usize, game: &mut Game) {
        let mut at = from;
        while let Some(&byte) = self.lines.block.get(at) {
            match byte {
                b'\n' => {
                    self.lines.at = at + 1;
                    self.lines.line += 1;
                    return;
                }
                b',' => {
                    self.lines.at = at + 1;
                    return;
                }
                b'0'..=b'9' | b'.' | b'\r' | b' ' | b'\t' => at += 1,
                _ => {
                    if self.lines.begun {
                        self.lines.odd(game, OddityKind::UnknownStatement);
                    }
                    self.lines.at = at;
                    self.lines.skip_line();
                    return;
                }
            }
        }
        self.lines.at = at;
    }

    /// Gives up the game and skips to the next one: to its separator or version or, once this game has moves or an end,
    /// to the header of the next one.
    #[cold]
    fn broken(&mut self, reason: SkipReason) -> GameError {
        let error = GameError::at(reason, self.lines.line, self.lines.text(self.lines.at));
        let (mut moved, mut ended) = (reason == SkipReason::BrokenMove, false);
        self.lines.skip_line();
        while let Some(&byte) = self.lines.rest().first() {
            match byte {
                b'/' if self.is_separator() => {
                    self.lines.skip_line();
                    break;
                }
                b'V' => break,
                b'N' if moved || ended => break,
                b'P' if ended => break,
                b'+' | b'-' => moved |= move_token(self.lines.rest()).is_some(),
                b'%' => ended = true,
                _ => {}
            }
            self.lines.skip_line();
        }
        error
    }

    fn header(&mut self, byte: u8, game: &mut Game) -> Result<(), GameError> {
        let end = self.lines.text_end(self.lines.at);
        let from = self.lines.at + 1;
        let text = &self.lines.block[from.min(end)..end];
        match byte {
            b'N' => {
                let side = match text.first() {
                    Some(b'+') => 0,
                    Some(b'-') => 1,
                    _ => {
                        game.odd(OddityKind::UnknownStatement, self.lines.line, text);
                        self.lines.skip_line();
                        return Ok(());
                    }
                };
                let colon = usize::from(text.get(1) == Some(&b':'));
                self.names[side] = Some(from + 1 + colon..end);
            }
            b'$' => {
                let value = |key: &[u8]| text.starts_with(key).then_some(from + key.len()..end);
                if let Some(range) = value(b"EVENT:") {
                    self.event = Some(range);
                } else if let Some(range) = value(b"TIME_LIMIT:").or_else(|| value(b"TIME:")) {
                    self.time_control = Some(range);
                } else if let Some(range) = value(b"START_TIME:") {
                    let value = &self.lines.block[range];
                    let time = std::str::from_utf8(value).ok().and_then(StartTime::parse);
                    game.begin_at(time, self.lines.line, value);
                }
            }
            _ => {
                if game.plies == 0 && self.position.read_csa(text).is_none() {
                    return Err(self.broken(SkipReason::BrokenPosition));
                }
            }
        }
        self.lines.skip_line();
        Ok(())
    }

    #[inline]
    fn comment(&mut self, game: &mut Game) {
        let rest = self.lines.rest();
        if rest.starts_with(b"'** ") && rest.get(4).is_some_and(|b| matches!(b, b'-' | b'+' | b'0'..=b'9')) {
            self.score(game);
            return;
        }
        match rest {
            // a comment above the game is not about it
            _ if !self.lines.begun => self.lines.skip_line(),
            [_, b'*', ..] => {
                let text = self.lines.text(self.lines.at + 1);
                self.text_score(text, game);
                self.lines.skip_line();
            }
            [_, b's' | b'b' | b'w', ..] => {
                let end = self.lines.text_end(self.lines.at);
                let text = &self.lines.block[self.lines.at + 1..end];
                if text.starts_with(b"summary:") {
                    self.summary = Some((self.lines.at + 9..end, self.lines.line));
                } else if let Some(value) = text.strip_prefix(b"black_rate:") {
                    self.rating(0, value, game);
                } else if let Some(value) = text.strip_prefix(b"white_rate:") {
                    self.rating(1, value, game);
                }
                self.lines.skip_line();
            }
            _ => self.lines.skip_line(),
        }
    }

    fn rating(&self, side: usize, text: &[u8], game: &mut Game) {
        let value = memchr::memrchr(b':', text).map_or(text, |i| &text[i + 1..]);
        game.rate(side, value, self.lines.line, text);
    }

    #[cold]
    fn text_score(&mut self, text: &[u8], game: &mut Game) {
        let mut decoded = String::new();
        // from the text so far: what follows may be another game
        let so_far = self.start..self.lines.text_end(self.lines.at);
        let guess = || *self.guessed.get_or_insert_with(|| guess(&self.lines.block[so_far]));
        decode_with(text, self.encoding, guess, &mut decoded);
        let decoded = comment::with_minus(&decoded).unwrap_or(decoded);
        let of_shogigui = comment::engine_of_analysis(decoded.as_bytes()).map(|from| &decoded[from..]);
        if let Some(engine) = decoded.strip_prefix("*#エンジン=").or(of_shogigui).map(str::trim) {
            if game.annotator.is_empty() && !self.annotators_differ {
                engine.clone_into(&mut game.annotator);
            } else if game.annotator != engine {
                self.annotators_differ = true;
                game.annotator.clear();
            }
        } else if let Some(found) = comment::parse(&decoded) {
            if found.counts() {
                self.of_black |= !found.analysis;
                self.push_score(found.black_score_cp, found.mate, found.analysis, game);
            }
        } else if self.scored_mover().is_some() {
            match decoded.strip_prefix("** ").and_then(|text| comment::floodgate_score(text.as_bytes())) {
                // with another minus
                Some((score, _)) => self.push_score(score, false, false, game),
                None if comment::looks_like_score(&decoded) => game.add_unread(self.lines.line, &decoded),
                None => {}
            }
        }
    }

    fn finish(&mut self, game: &mut Game) -> Result<(), GameError> {
        let context = &self.lines.block[self.start..self.lines.at];
        let is_ascii = |range: &Option<Range>| range.as_ref().is_none_or(|r| self.lines.block[r.clone()].is_ascii());
        let all_ascii = self.names.iter().chain([&self.time_control]).all(is_ascii);
        let encoding = if all_ascii { None } else { self.encoding.or_else(|| declared(context)) };
        for (name, range) in game.names.iter_mut().zip(&self.names) {
            if let Some(range) = range {
                decode_into(self.lines.block[range.clone()].trim_ascii(), encoding, context, name);
            }
        }
        if let Some(range) = &self.time_control {
            decode_into(self.lines.block[range.clone()].trim_ascii(), encoding, context, &mut game.time_control);
        } else if let Some(range) = &self.event
            && let Some(control) = floodgate_time_control(&self.lines.block[range.clone()])
        {
            game.time_control = control;
        }
        if game.plies == 0 {
            self.position.hash_into(&mut self.hash);
        }
        game.identify_shogi(self.hash, &self.position);
        if !self.of_black && game.scores.iter().any(|score| !score.analysis) {
            game.convention = Some(Convention::First);
        }
        self.decide(game)
    }

    /// Sets the winner and the termination, from the summary if there is one, else from the `%` line.
    fn decide(&mut self, game: &mut Game) -> Result<(), GameError> {
        let to_move = self.mover.map_or(self.position.side_to_move, Color::opponent);
        if let Some((range, line)) = self.summary.clone() {
            let text = &self.lines.block[range];
            let names = self.names.clone().map(|r| r.map_or(&b""[..], |r| self.lines.block[r].trim_ascii()));
            let Some((kind, outcome)) = parse_summary(text, names) else {
                return Err(GameError::at(SkipReason::UnknownWinner, line, text));
            };
            game.termination = Some(summary_termination(kind));
            game.black_outcome = Some(outcome);
            return Ok(());
        }
        let Some(range) = self.special.clone() else { return Ok(()) };
        let statement = self.lines.block[range].trim_ascii();
        let (termination, outcome) = special_ending(statement, to_move).unwrap_or_else(|| {
            game.odd(OddityKind::UnknownStatement, game.line, statement);
            (Termination::Unknown, None)
        });
        game.termination = Some(termination);
        game.black_outcome = outcome;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
