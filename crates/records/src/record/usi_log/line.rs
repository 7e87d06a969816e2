//! Single lines of a log.

use evalcurve_calibration::types::{Color, Declared, Outcome, Termination};
use evalcurve_rules::log::plies_before;

use crate::record::game::mate_cp;
use crate::record::pgn::comment::ending;

/// A line to or from an engine.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogLine<'a> {
    /// The key of the engine in the log.
    pub key: &'a [u8],
    pub message: Message<'a>,
    text: &'a [u8],
}

/// The message of a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Message<'a> {
    Position(Position<'a>),
    Go {
        ponder: bool,
    },
    PonderHit,
    /// A valid score from the point of view of the side to move.
    Score {
        score_cp: i32,
        mate: bool,
        declared: Option<Declared>,
    },
    BestMove(&'a [u8]),
    /// `id name`.
    Name(&'a [u8]),
    NewGame,
    /// The result for the engine.
    GameOver(Outcome),
    Other,
}

/// A position as the protocols write it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position<'a> {
    /// `startpos`, or `sfen` or `fen` with its fields.
    pub start: &'a [u8],
    /// The moves, with blanks between them.
    pub moves: &'a [u8],
    /// Moves before the start position, by its own number.
    pub before: u32,
    /// The side to move in the start position; `None` for `startpos`.
    side: Option<Color>,
    plies: u32,
}

impl Position<'_> {
    /// Moves that were played from the start position.
    pub(crate) fn plies(&self) -> u32 {
        self.plies
    }

    /// The side to move, if `first` moves first in the start position.
    pub(crate) fn side(&self, first: Option<Color>) -> Option<Color> {
        let first = self.side.or(first)?;
        Some(if self.plies.is_multiple_of(2) { first } else { first.opponent() })
    }
}

impl LogLine<'_> {
    /// Whether the text begins with a word of the protocols.
    pub(crate) fn is_protocol(&self) -> bool {
        let word = self.text.split(u8::is_ascii_whitespace).next().unwrap_or(b"");
        const WORDS: &str = "usi uci usiok uciok id option setoption isready readyok usinewgame ucinewgame position go \
                             info bestmove gameover quit";
        WORDS.split(' ').any(|known| known.as_bytes() == word)
    }
}

/// Reads the line of an engine.
pub(super) fn parse(line: &[u8]) -> Option<LogLine<'_>> {
    let line = line.trim_ascii();
    let (key, text) = parts(line)?;
    let text = text.trim_ascii();
    Some(LogLine { key, message: message(text), text })
}

/// The engine of a line, and the text after it.
fn parts(line: &[u8]) -> Option<(&[u8], &[u8])> {
    // `1:`
    let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
    if (1..=2).contains(&digits) && line.get(digits) == Some(&b':') {
        return Some((&line[..digits], &line[digits + 1..]));
    }
    let head = &line[..line.len().min(120)];
    // `sid=1: >`
    if let Some(at) = memchr::memmem::find(head, b"sid=") {
        let rest = &line[at + 4..];
        let colon = memchr::memchr(b':', &rest[..rest.len().min(100)])?;
        let text = rest[colon + 1..].trim_ascii_start();
        return matches!(text.first(), Some(b'<' | b'>')).then(|| (&rest[..colon], &text[1..]));
    }
    // `>1:`, `4123 >NAME(0): `
    let at = head.iter().position(|b| matches!(b, b'<' | b'>'))?;
    if at > 0 && !matches!(head[at - 1], b' ' | b']' | b'\t') {
        return None;
    }
    let rest = &line[at + 1..];
    let colon = memchr::memchr(b':', &rest[..rest.len().min(100)])?;
    (colon > 0).then(|| (&rest[..colon], &rest[colon + 1..]))
}

fn message(text: &[u8]) -> Message<'_> {
    let (word, rest) = next(text);
    match word {
        b"info" => info(rest),
        b"id" => match next(rest) {
            (b"name", name) => Message::Name(name.trim_ascii()),
            _ => Message::Other,
        },
        b"bestmove" => Message::BestMove(next(rest).0),
        b"position" => position(rest).map_or(Message::Other, Message::Position),
        b"go" => Message::Go { ponder: next(rest).0 == b"ponder" },
        b"ponderhit" => Message::PonderHit,
        b"usinewgame" | b"ucinewgame" => Message::NewGame,
        b"gameover" => match next(rest).0 {
            b"win" => Message::GameOver(Outcome::Win),
            b"lose" => Message::GameOver(Outcome::Loss),
            b"draw" => Message::GameOver(Outcome::Draw),
            _ => Message::Other,
        },
        _ => Message::Other,
    }
}

/// The next word, and the text after it.
fn next(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    text.split_at(end)
}

fn number(word: &[u8]) -> Option<i32> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn info(mut rest: &[u8]) -> Message<'_> {
    let (mut score, mut declared) = (None, None);
    loop {
        let word;
        (word, rest) = next(rest);
        match word {
            // text or moves follow
            b"" | b"pv" | b"string" => break,
            b"multipv" => {
                let (which, after) = next(rest);
                if which != b"1" {
                    return Message::Other;
                }
                rest = after;
            }
            b"lowerbound" | b"upperbound" => return Message::Other,
            b"score" => {
                let (kind, after) = next(rest);
                let value;
                (value, rest) = next(after);
                score = match kind {
                    b"cp" => number(value).map(|score_cp| (score_cp, false)),
                    b"mate" => wins(value).map(|wins| (mate_cp(wins), true)),
                    _ => None,
                };
            }
            b"wdl" => {
                let words = [(); 3].map(|()| {
                    let word;
                    (word, rest) = next(rest);
                    word
                });
                declared = Declared::parse(words);
            }
            _ => {}
        }
    }
    score.map_or(Message::Other, |(score_cp, mate)| Message::Score { score_cp, mate, declared })
}

/// Whether `5`, `-3`, `+` or `-` is a mate by the side to move. `0` means that it is mated.
fn wins(value: &[u8]) -> Option<bool> {
    match value {
        b"+" => Some(true),
        b"-" => Some(false),
        _ => number(value).map(|n| n > 0),
    }
}

pub(super) fn position(text: &[u8]) -> Option<Position<'_>> {
    let at = memchr::memmem::find(text, b" moves");
    let (start, moves) = at.map_or((text, &b""[..]), |at| (&text[..at], text[at + 6..].trim_ascii()));
    let start = start.trim_ascii();
    let plies = moves.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    let mut found = Position { start, moves, before: 0, side: None, plies: u32::try_from(plies).ok()? };
    let (kind, fields) = next(start);
    if kind == b"startpos" {
        return Some(found);
    }
    let side = next(next(fields).1).0;
    found.side = Some(match side {
        b"b" => Color::Black,
        b"w" => Color::White,
        _ => return None,
    });
    found.before = std::str::from_utf8(start).map_or(0, plies_before);
    matches!(kind, b"sfen" | b"fen").then_some(found)
}

/// Whether this is a move, not `resign`, `win` or `(none)`.
pub(super) fn is_move(word: &[u8]) -> bool {
    is_shogi(word) || is_chess(word)
}

/// `7g7f`, `2b3c+`, `P*5e`.
fn is_shogi(word: &[u8]) -> bool {
    let square = |file: u8, rank: u8| file.is_ascii_digit() && rank.is_ascii_lowercase();
    match word {
        [a, b, c, d] | [a, b, c, d, b'+'] if square(*a, *b) => square(*c, *d),
        [piece, b'*', c, d] => piece.is_ascii_uppercase() && square(*c, *d),
        _ => false,
    }
}

/// `e2e4`, `e7e8q`.
fn is_chess(word: &[u8]) -> bool {
    let square = |file: u8, rank: u8| file.is_ascii_lowercase() && rank.is_ascii_digit();
    matches!(word, [a, b, c, d] | [a, b, c, d, _] if square(*a, *b) && square(*c, *d))
}

/// The side that moves first: by the start position, else by the game that the form of the moves belongs to.
pub(super) fn first_mover(position: &Position<'_>, best: &[u8]) -> Option<Color> {
    position.side.or_else(|| {
        let word = if position.plies > 0 { next(position.moves).0 } else { best };
        match word {
            _ if is_shogi(word) => Some(Color::Black),
            _ if is_chess(word) => Some(Color::White),
            _ => None,
        }
    })
}

/// Whether a position is of chess: by the notation of the start position, else by the form of the moves.
pub(super) fn is_of_chess(position: &Position<'_>, best: &[u8]) -> bool {
    let word = if position.plies > 0 { next(position.moves).0 } else { best };
    position.start.starts_with(b"fen") || (!position.start.starts_with(b"sfen") && is_chess(word))
}

/// A line of the match runner.
#[derive(Debug, Clone, Copy)]
pub(super) enum Runner<'a> {
    /// A game begins: the names of the first mover and of the other, and its number.
    Start([&'a [u8]; 2], Option<&'a [u8]>),
    /// A game ended, and its number.
    End(Ending, Option<&'a [u8]>),
}

/// The end of a game as a runner writes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    Black(Option<Outcome>, Termination),
    /// The outcome for the first mover.
    First(Option<Outcome>, Termination),
    /// The side to move wins.
    ToMove(Termination),
}

impl Ending {
    /// The outcome for Black, given the first mover and the number of moves.
    pub(crate) fn resolve(self, first: Option<Color>, plies: u32) -> (Option<Outcome>, Termination) {
        match self {
            Self::Black(outcome, reason) => (outcome, reason),
            Self::First(outcome, reason) => {
                (first.zip(outcome).map(|(color, outcome)| outcome.in_view_of(color)), reason)
            }
            Self::ToMove(reason) => {
                let mover = first.map(|first| if plies.is_multiple_of(2) { first } else { first.opponent() });
                (mover.map(|color| Outcome::Win.in_view_of(color)), reason)
            }
        }
    }
}

/// Reads a line of the match runner.
pub(super) fn runner(line: &[u8]) -> Option<Runner<'_>> {
    let line = line.trim_ascii();
    if let Some(names) = line.strip_suffix(b" start.") {
        return versus(names).map(|names| Runner::Start(names, None));
    }
    if let Some(rest) = line.strip_prefix(b"Started game ") {
        let names = rest.strip_suffix(b")")?;
        let at = memchr::memmem::find(names, b" (")?;
        return versus(&names[at + 2..]).map(|names| Runner::Start(names, Some(next(rest).0)));
    }
    if let Some(rest) = line.strip_prefix(b"Finished game ") {
        let at = memchr::memmem::rfind(rest, b"): ")?;
        let (result, words) = next(&rest[at + 3..]);
        return Some(Runner::End(finished(result, words), Some(next(rest).0)));
    }
    // まで in UTF-8 and Shift_JIS
    let made = ["まで".as_bytes(), b"\x82\xdc\x82\xc5"].into_iter().any(|word| line.starts_with(word));
    made.then(|| japanese(&crate::record::encoding::decode(line, None, line)))
        .flatten()
        .map(|end| Runner::End(end, None))
}

fn versus(names: &[u8]) -> Option<[&[u8]; 2]> {
    let at = memchr::memmem::find(names, b" vs ")?;
    Some([names[..at].trim_ascii(), names[at + 4..].trim_ascii()])
}

/// `1-0 {White mates}`.
fn finished(result: &[u8], words: &[u8]) -> Ending {
    let outcome = match result {
        b"1-0" => Some(Outcome::Win),
        b"0-1" => Some(Outcome::Loss),
        b"1/2-1/2" => Some(Outcome::Draw),
        _ => None,
    };
    let reason = match outcome {
        None => Termination::Interrupted,
        Some(outcome) => {
            let draw = if outcome == Outcome::Draw { Termination::Draw } else { Termination::Unknown };
            ending(words.strip_suffix(b"}").unwrap_or(words)).unwrap_or(draw)
        }
    };
    Ending::First(outcome, reason)
}

/// `まで160手で後手の勝ち`, as cshogi writes it.
fn japanese(line: &str) -> Option<Ending> {
    let (plies, end) = line.strip_prefix("まで")?.split_once("手で")?;
    plies.parse::<u32>().ok()?;
    Some(match end {
        // also its word for the ply limit
        "持将棋" => Ending::Black(Some(Outcome::Draw), Termination::Impasse),
        "千日手" => Ending::Black(Some(Outcome::Draw), Termination::Repetition),
        "入玉宣言" => Ending::ToMove(Termination::Declaration),
        _ => {
            let (side, what) = end.split_once('の')?;
            let own = match side {
                "先手" | "下手" => Outcome::Win,
                "後手" | "上手" => Outcome::Loss,
                _ => return None,
            };
            match what {
                "勝ち" => Ending::Black(Some(own), Termination::Unknown),
                "反則勝ち" | "反則負け" => {
                    Ending::Black(Some(if what == "反則勝ち" { own } else { own.reversed() }), Termination::IllegalMove)
                }
                "切れ負け" => Ending::Black(Some(own.reversed()), Termination::TimeUp),
                _ => return None,
            }
        }
    })
}
