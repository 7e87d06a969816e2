//! Tag pairs of PGN: players, times, start position, and how the game ended.

use std::ops::Range;

use encoding_rs::Encoding;
use evalcurve_calibration::types::{Color, Outcome, Termination};
use strum::{EnumCount, EnumString};

use super::comment::{self, ending};
use crate::record::encoding::{decode_with, guess_of_tags};
use crate::record::game::{Game, GameError, OddityKind, SkipReason};
use crate::record::identity::{GameHash, StartTime};

/// Whether a tag pair begins here: `[Name "`.
#[inline]
pub(crate) fn is_tag(text: &[u8]) -> bool {
    tag_value(text).is_some()
}

/// The offsets where the value of the tag pair begins and where its name ends.
#[inline]
fn tag_value(text: &[u8]) -> Option<(usize, usize)> {
    if text.first() != Some(&b'[') {
        return None;
    }
    let name = text[1..].iter().take(64).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let mut at = 1 + name;
    while matches!(text.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    (name > 0 && at > 1 + name && text.get(at) == Some(&b'"')).then_some((at + 1, 1 + name))
}

/// The tags that are read. Black comes first: the order of sides in evalcurve.
#[derive(Debug, Clone, Copy, EnumCount, EnumString)]
enum Tag {
    Black,
    White,
    BlackElo,
    WhiteElo,
    Date,
    #[strum(serialize = "Time", serialize = "StartTime")]
    Time,
    #[strum(serialize = "UTCDate")]
    UtcDate,
    #[strum(serialize = "UTCTime")]
    UtcTime,
    GameStartTime,
    TimeControl,
    Termination,
    TerminationDetails,
    Round,
    Result,
    #[strum(serialize = "FEN")]
    Fen,
    Variant,
    Annotator,
}

/// The values of the tags of one game, as ranges of the block with their lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tags([Option<(Range<usize>, u64)>; Tag::COUNT]);

/// The end of the movetext.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ending<'a> {
    /// White's outcome by the mark that ends the movetext; `Some(None)` for `*`.
    pub mark: Option<Option<Outcome>>,
    /// The comment after the last move.
    pub comment: &'a [u8],
    /// Whether the last move has the sign of mate.
    pub mate_sign: bool,
}

impl Tags {
    /// Adds the tag pair on `line`, which begins at `from` in the block and ends before its line feed at `to`.
    pub(crate) fn add(&mut self, block: &[u8], from: usize, to: usize, line: u64) {
        let text = &block[from..to];
        let Some((value, name_end)) = tag_value(text) else { return };
        let name = std::str::from_utf8(&text[1..name_end]).unwrap_or_default();
        let Ok(tag) = name.parse::<Tag>() else { return };
        // the last quote of the line ends the value; a quote inside is escaped
        let end = memchr::memrchr(b'"', &text[value..]).map_or(text.trim_ascii_end().len(), |i| value + i);
        self.0[tag as usize] = Some((from + value..from + end.max(value), line));
    }

    /// The value of a tag and its line.
    fn value<'a>(&self, block: &'a [u8], tag: Tag) -> Option<(&'a [u8], u64)> {
        self.0[tag as usize].as_ref().map(|(range, line)| (block[range.clone()].trim_ascii(), *line))
    }

    /// The value of a tag; empty without the tag.
    fn text<'a>(&self, block: &'a [u8], tag: Tag) -> &'a [u8] {
        self.value(block, tag).map_or(b"", |(text, _)| text)
    }

    /// The start position as the record writes it, if any.
    pub(crate) fn fen<'a>(&self, block: &'a [u8]) -> Option<&'a [u8]> {
        self.value(block, Tag::Fen).map(|(fen, _)| fen)
    }

    /// The rules, if they are named; else empty.
    pub(crate) fn variant<'a>(&self, block: &'a [u8]) -> &'a [u8] {
        self.text(block, Tag::Variant)
    }

    /// Whether the annotator is ChessBase's: two scores.
    pub(crate) fn are_chessbase(&self, block: &[u8]) -> bool {
        comment::is_chessbase(self.text(block, Tag::Annotator))
    }

    /// The side that moves first and the number of half-moves before it, by the FEN tag.
    ///
    /// # Errors
    /// [`SkipReason::BrokenPosition`] if the FEN has no side to move: every score would be in doubt.
    pub(crate) fn start(&self, block: &[u8]) -> Result<(Color, u32), GameError> {
        let Some((fen, line)) = self.value(block, Tag::Fen) else { return Ok((Color::White, 0)) };
        let mut fields = fen.split(|b| b.is_ascii_whitespace()).filter(|f| !f.is_empty());
        let board = fields.next().unwrap_or_default();
        let color = match fields.next() {
            Some(b"w") => Color::White,
            Some(b"b") => Color::Black,
            _ => return Err(GameError::at(SkipReason::BrokenPosition, line, fen)),
        };
        if memchr::memchr_iter(b'/', board).count() != 7 {
            return Err(GameError::at(SkipReason::BrokenPosition, line, fen));
        }
        let number = fields.nth(3).and_then(|f| std::str::from_utf8(f).ok()).and_then(|t| t.parse::<u32>().ok());
        // match runners without a number write 0 or 1
        let moves = number.filter(|n| (1..=9_999).contains(n)).map_or(0, |n| n - 1);
        Ok((color, 2 * moves + u32::from(color == Color::Black)))
    }

    /// Adds the start position to the identity; the standard one adds nothing, whether it is written or not.
    pub(crate) fn hash_start(&self, block: &[u8], hash: &mut GameHash) {
        hash.word(u64::from_le_bytes(*b"PGN\0\0\0\0\0"));
        const STANDARD: &[u8] = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq";
        if let Some(fen) = self.fen(block).filter(|fen| !fen.starts_with(STANDARD)) {
            hash.bytes(fen);
        }
    }

    /// Fills in the game's names, ratings, times and outcome. `encoding` is that of tags that are not UTF-8, once it is
    /// known.
    pub(crate) fn finish(
        &self,
        block: &[u8],
        encoding: &mut Option<&'static Encoding>,
        mut hash: GameHash,
        ending: Ending<'_>,
        game: &mut Game,
    ) {
        let mut text_into = |text: &[u8], out: &mut String| text_into(text, block, encoding, out);
        for (name, tag) in game.names.iter_mut().zip([Tag::Black, Tag::White]) {
            text_into(self.text(block, tag), name);
            if name == "?" {
                name.clear();
            }
        }
        for (side, tag) in [Tag::BlackElo, Tag::WhiteElo].into_iter().enumerate() {
            match self.value(block, tag) {
                None | Some((b"" | b"-" | b"?" | b"0", _)) => {}
                Some((text, line)) => game.rate(side, text, line, text),
            }
        }
        // who made the analyses; two scores are ChessBase's, and lichess gives the address of a person
        let annotator = self.text(block, Tag::Annotator);
        if annotator != b"?" && !comment::is_chessbase(annotator) && !annotator.starts_with(b"http") {
            text_into(annotator, &mut game.annotator);
        }
        text_into(self.text(block, Tag::TimeControl), &mut game.time_control);
        if game.time_control == "?" || game.time_control == "-" {
            game.time_control.clear();
        }
        game.start_time = self.time(block);
        game.identify(hash);
        // two games of one pair may share a book line and more; the round distinguishes them
        hash.bytes(self.text(block, Tag::Round));
        game.id = hash.finish(&game.names, game.start_time);
        self.decide(block, ending, game);
    }

    /// `GameStartTime`, else `UTCDate` and `UTCTime`, else `Date` and `Time`. A date with question marks does not
    /// count.
    fn time(&self, block: &[u8]) -> Option<StartTime> {
        let text = |tag| self.value(block, tag).and_then(|(text, _)| std::str::from_utf8(text).ok());
        if let Some(time) = text(Tag::GameStartTime).and_then(StartTime::parse) {
            return Some(time);
        }
        let is_utc = self.0[Tag::UtcDate as usize].is_some();
        let (date, time) = if is_utc { (Tag::UtcDate, Tag::UtcTime) } else { (Tag::Date, Tag::Time) };
        let day = StartTime::parse(text(date)?)?;
        Some(StartTime { time: text(time).and_then(clock).or(day.time), ..day })
    }

    /// Sets the outcome and the termination. The Result tag and the mark after the moves must not contradict each
    /// other.
    fn decide(&self, block: &[u8], end: Ending<'_>, game: &mut Game) {
        let (text, line) = self.value(block, Tag::Result).unwrap_or((b"*", 0));
        let white = match (result(text), end.mark.flatten()) {
            (Some(Some(tag)), Some(mark)) if tag != mark => {
                game.odd(OddityKind::UnreadableHeader, line, text);
                None
            }
            (Some(tag), mark) => tag.or(mark),
            (None, mark) => {
                if !matches!(text, b"" | b"?") {
                    game.odd(OddityKind::UnreadableHeader, line, text);
                }
                mark
            }
        };
        game.black_outcome = white.map(Outcome::reversed);
        game.termination = Some(self.termination(block, end, white));
    }

    fn termination(&self, block: &[u8], end: Ending<'_>, white: Option<Outcome>) -> Termination {
        const WORDS: [(Termination, &[&str]); 5] = [
            (Termination::Adjudication, &["adjudication"]),
            (Termination::TimeUp, &["time forfeit"]),
            (Termination::IllegalMove, &["illegal move", "rules infraction"]),
            (
                Termination::Abnormal,
                &["abandoned", "disconnected", "disconnect", "stalled connection", "death", "emergency"],
            ),
            (Termination::Interrupted, &["unterminated", "interrupted"]),
        ];
        let text = |tag| self.text(block, tag);
        let is = |word: &str| text(Tag::Termination).eq_ignore_ascii_case(word.as_bytes());
        if let Some(&(termination, _)) = WORDS.iter().find(|(_, words)| words.iter().any(|word| is(word))) {
            return termination;
        }
        let by_words = ending(text(Tag::TerminationDetails))
            .or_else(|| ending(end.comment))
            .or_else(|| ending(text(Tag::Termination)));
        match by_words {
            Some(termination) => termination,
            None if end.mate_sign => Termination::Checkmate,
            None if white == Some(Outcome::Draw) => Termination::Draw,
            None => Termination::Unknown,
        }
    }
}

/// White's outcome; `Some(None)` for an open game, `None` for another text.
fn result(text: &[u8]) -> Option<Option<Outcome>> {
    match text {
        b"1-0" => Some(Some(Outcome::Win)),
        b"0-1" => Some(Some(Outcome::Loss)),
        b"1/2-1/2" | b"1/2" => Some(Some(Outcome::Draw)),
        b"*" => Some(None),
        _ => None,
    }
}

/// `19:27:35`.
fn clock(text: &str) -> Option<(u8, u8, u8)> {
    let mut parts = text.trim().splitn(3, ':').map(|part| part.get(..2).and_then(|d| d.parse::<u8>().ok()));
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    (hour < 24 && minute < 60 && second < 61).then_some((hour, minute, second))
}

/// The text of a value; if it is not UTF-8, in the encoding of the tags of its block, which is kept. `\"` and `\\` are
/// a quote and a backslash.
fn text_into(bytes: &[u8], block: &[u8], encoding: &mut Option<&'static Encoding>, out: &mut String) {
    decode_with(bytes.trim_ascii(), None, || *encoding.get_or_insert_with(|| guess_of_tags(block)), out);
    // only now: in Shift_JIS a backslash can be a part of a character, such as ソ
    if out.contains('\\') {
        let text = std::mem::take(out);
        let mut rest = text.chars().peekable();
        while let Some(char) = rest.next() {
            match (char, rest.peek()) {
                ('\\', Some('"' | '\\')) => out.extend(rest.next()),
                _ => out.push(char),
            }
        }
    }
}
