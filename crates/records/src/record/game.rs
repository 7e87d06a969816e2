//! The game that a reader fills, and the reasons why a game is skipped.

use std::collections::HashMap;

use evalcurve_calibration::RATINGS;
use evalcurve_calibration::types::{ANNOUNCED_MATE_CP, Color, Declared, Outcome, Termination};
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

use super::identity::{GameHash, StartTime};
use super::played::Played;
use super::position::Position;

/// Bytes of a text that a message quotes.
pub(super) const QUOTED: usize = 60;

/// One scored position of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoredPosition {
    /// Number of the move played in the position; the first move of a record is ply 1.
    pub ply: u32,
    /// The side to move; the score is from its point of view.
    pub color: Color,
    /// Centipawns from the point of view of `color`.
    pub score_cp: i32,
    /// Whether the record itself marks the score as a mate, whatever the number is.
    pub mate: bool,
    /// Whether the score comes from an analysis of the game rather than from the player.
    pub analysis: bool,
    /// The rates of wins, draws and losses that the engine declared with the score, from the point of view of `color`.
    pub declared: Option<Declared>,
    /// Line of the score, counted from 0 at the start of the block.
    pub line: u64,
}

/// A position of a game, from [`Game::positions`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GamePosition<'a> {
    /// The number of the move played in it; the first move of a record is ply 1.
    pub ply: u32,
    /// The side to move.
    pub color: Color,
    /// The position as SFEN, whose move number is 1, or as FEN.
    pub text: String,
    /// Its score: the player's own, else that of an analysis.
    pub score: Option<&'a ScoredPosition>,
}

/// The point of view of scores by convention, where neither the record nor its format says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Convention {
    /// That of the side that moved: cutechess, Arena, OpenBench.
    Mover,
    /// That of the side that moves first, which is Black in shogi: floodgate.
    First,
}

/// What a reader finds in one game. Buffers are reused from game to game.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Game {
    /// Player names as UTF-8, Black's first, whichever side moves first; empty if the record has none.
    pub names: [String; 2],
    /// Ratings that the record gives, Black's first.
    pub ratings: [Option<f64>; 2],
    /// Time control as the record writes it; empty if the record has none.
    pub time_control: String,
    /// When the game began.
    pub start_time: Option<StartTime>,
    /// Moves played.
    pub plies: u32,
    /// Moves played before the first one of the record, if the start position gives them (the number in a FEN).
    pub plies_before: u32,
    /// Moves that have a book mark instead of a score (`'** 0` without a PV, `{book}`).
    pub book_moves: u32,
    /// The scored positions in the order of play.
    pub scores: Vec<ScoredPosition>,
    /// How it ended.
    pub termination: Option<Termination>,
    /// The outcome for Black; `None` if the record leaves it open.
    pub black_outcome: Option<Outcome>,
    /// Identity: start position, moves, names and start time (see [`identity`](super::identity)).
    pub id: u64,
    /// Hash of the start position and the moves, equal for copies under other names or another start time; `None` if
    /// the
    /// record does not say all moves.
    pub moves: Option<u64>,
    /// First line of the game, counted from 0 at the start of the block.
    pub line: u64,
    /// The engine that made the analysis, if the record names exactly one; else empty.
    pub annotator: String,
    /// Whether the scores are the votes of `annotator` in a council that played, so that no other name fits them.
    pub votes: bool,
    /// The point of view in which the players' scores were read, if only a convention says it.
    pub convention: Option<Convention>,
    /// Whether the game is chess; `false` also for a format that does not say so.
    pub chess: bool,
    /// What was odd but did not stop the reading of the game: at most one of each kind, with its line and value.
    pub oddities: Vec<Oddity>,
    /// Comments that look like scores and are not read.
    pub unread: u64,
    /// The first of them. In a game without scores that has none, the first comment with a number, where the format
    /// can say.
    pub unread_comment: Option<UnreadComment>,
    /// Start position and moves, if the caller asks for them with `Some`. Readers of PGN and of vote logs do not fill
    /// it.
    pub played: Option<Played>,
}

impl Game {
    /// The positions of the game, scored or not, and the one after the last move. It is empty unless
    /// [`Game::played`] was asked for, as by [`Games::with_moves`](crate::Games::with_moves), and ends before a move
    /// that is not legal.
    pub fn positions(&self) -> Vec<GamePosition<'_>> {
        let mut scores: Vec<&ScoredPosition> = self.scores.iter().collect();
        // of two scores of a position, the later one stays
        scores.sort_by_key(|score| !score.analysis);
        let scores: HashMap<u32, &ScoredPosition> = scores.into_iter().map(|score| (score.ply, score)).collect();
        let texts = self.played.iter().flat_map(|played| played.texts(self.chess));
        let position = |(ply, color, text)| GamePosition { ply, color, text, score: scores.get(&ply).copied() };
        texts.map(position).collect()
    }

    /// Empties the game and keeps its buffers.
    pub fn clear(&mut self) {
        let Self { mut names, mut time_control, mut scores, mut annotator, mut oddities, played, .. } =
            std::mem::take(self);
        names.iter_mut().chain([&mut time_control, &mut annotator]).for_each(String::clear);
        scores.clear();
        oddities.clear();
        let played = played.map(|_| Played::default());
        *self = Self { names, time_control, scores, annotator, oddities, played, ..Self::default() };
    }

    /// Counts its lines from a place that is this many lines further up.
    pub fn move_down(&mut self, lines: u64) {
        self.line += lines;
        self.scores.iter_mut().for_each(|score| score.line += lines);
        self.oddities.iter_mut().for_each(|oddity| oddity.line += lines);
        self.unread_comment.iter_mut().for_each(|comment| comment.line += lines);
    }

    /// Notes something odd, only the first of its kind.
    pub fn odd(&mut self, kind: OddityKind, line: u64, value: &[u8]) {
        if self.oddities.iter().all(|o| o.kind != kind) {
            self.oddities.push(Oddity { kind, line, value: quoted(value).trim_end().to_owned() });
        }
    }

    /// Sets a rating as the record writes it, if it is one of [`RATINGS`]. `shown` is the text for messages.
    pub(super) fn rate(&mut self, side: usize, value: &[u8], line: u64, shown: &[u8]) {
        let rating = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse::<f64>().ok());
        match rating.filter(|rating| RATINGS.contains(rating)) {
            Some(rating) => self.ratings[side] = Some(rating),
            None => self.odd(OddityKind::UnreadableHeader, line, shown),
        }
    }

    /// Sets when the game began, as `text` says.
    pub(super) fn begin_at(&mut self, time: Option<StartTime>, line: u64, text: &[u8]) {
        self.start_time = time;
        if time.is_none() && !text.trim_ascii().is_empty() {
            self.odd(OddityKind::UnreadableHeader, line, text);
        }
    }

    /// Adds a score, from Black's point of view, that a record writes after a move: the score that `mover` found before
    /// that move, or that of an analysis of the position after it.
    ///
    /// Of several scores of one player for one position the last counts, but a number does not replace a mate that was
    /// announced (ShogiHome writes `詰み=先手勝ち:10手` and `評価値=3509` for one move). Of several analyses the first
    /// counts: ShogiGUI writes the deepest first.
    #[inline]
    pub fn add_score(&mut self, mover: Color, black_score_cp: i32, mate: bool, analysis: bool, line: u64) {
        let (ply, color) = if analysis { (self.plies + 1, mover.opponent()) } else { (self.plies, mover) };
        let score_cp = if color == Color::Black { black_score_cp } else { black_score_cp.saturating_neg() };
        let scored = ScoredPosition { ply, color, score_cp, mate, analysis, declared: None, line };
        match self.score_of(ply, analysis) {
            Some(_) if analysis => {}
            Some(last) if last.mate && !mate => {}
            Some(last) => *last = scored,
            None => self.scores.push(scored),
        }
    }

    /// Notes a comment that looks like a score and is not read.
    #[cold]
    pub(super) fn add_unread(&mut self, line: u64, text: &str) {
        self.unread += 1;
        let text = text.trim();
        let value = || text[..text.floor_char_boundary(QUOTED)].to_owned();
        self.unread_comment.get_or_insert_with(|| UnreadComment { line, value: value() });
    }

    /// The score that a comment after the last move already gave for this position.
    #[inline]
    pub(super) fn score_of(&mut self, ply: u32, analysis: bool) -> Option<&mut ScoredPosition> {
        // the comments after one move hold scores of at most two positions
        self.scores.iter_mut().rev().take(2).find(|s| s.ply == ply && s.analysis == analysis)
    }

    /// The outcome for `color`.
    pub fn outcome_for(&self, color: Color) -> Option<Outcome> {
        self.black_outcome.map(|outcome| outcome.in_view_of(color))
    }

    /// Notes a move of shogi, if the moves are wanted.
    #[inline]
    pub(super) fn keep_move(&mut self, token: [u8; 7]) {
        if let Some(played) = &mut self.played {
            played.tokens.push(token);
        }
    }

    /// Sets the identity of a shogi game whose moves are in `hash`, and how it was played.
    pub(super) fn identify_shogi(&mut self, hash: GameHash, start: &Position) {
        if let Some(played) = &mut self.played {
            played.shogi(start);
        }
        self.identify(hash);
    }

    /// Sets the identity of a game whose start position and moves are in `hash`, and the hash of them.
    pub fn identify(&mut self, hash: GameHash) {
        self.moves = Some(hash.digest());
        self.id = hash.finish(&self.names, self.start_time);
    }
}

/// The centipawns written for a mate for or against the side whose point of view it is.
pub(super) fn mate_cp(wins: bool) -> i32 {
    if wins { ANNOUNCED_MATE_CP } else { -ANNOUNCED_MATE_CP }
}

/// The beginning of a text, for a message.
pub(super) fn quoted(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(QUOTED)]).into_owned()
}

/// A part of a record that was ignored; the rest of the game is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    pub kind: OddityKind,
    /// Line, counted from 0 at the start of the block.
    pub line: u64,
    /// The text, cut at 60 bytes.
    pub value: String,
}

/// What is odd about a record that is used nevertheless, as reports count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum OddityKind {
    /// A score comment whose number cannot be read.
    UnreadableScore,
    /// A score that could be in pawns or in centipawns: `[%eval 47,22]`.
    ScoreWithoutUnit,
    /// A statement that the format does not define.
    UnknownStatement,
    /// A rating or a date that cannot be read, or a rating outside [`RATINGS`].
    UnreadableHeader,
    /// The second reader finds other moves.
    MovesDiffer,
    /// The moves cannot be replayed, so that the material is not known.
    NotReplayed,
    /// Two engines of a game have one name.
    SameName,
    /// Bytes behind the end of an archive.
    TrailingData,
    /// Comments that are not read as scores.
    UnreadComment,
    /// A zero byte in a text.
    ZeroByte,
}

impl OddityKind {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A comment in which no score was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadComment {
    /// Its line, counted from 0 at the start of the block.
    pub line: u64,
    /// Its text, cut at 60 bytes.
    pub value: String,
}

/// Why a game gives no samples.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, IntoStaticStr, VariantNames,
)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// A player disconnected or crashed (`'summary:abnormal`, `abandoned`).
    Abnormal,
    /// Every score of the file is 0, so that the scores carry no information.
    AllScoresZero,
    /// The scores come from an analysis by an engine without a name.
    AnalysisWithoutEngine,
    /// A move cannot be read, or is out of turn.
    BrokenMove,
    /// The start position cannot be read.
    BrokenPosition,
    /// A record of training data that is cut, or whose lengths do not fit.
    BrokenRecord,
    /// A draw, while draws are dropped.
    Draw,
    /// The same game was read before.
    Duplicate,
    /// No sample passed the filters.
    Filtered,
    /// A result byte of training data that is not a result.
    IllegalResult,
    /// Stopped before the end (%CHUDAN, `unterminated`).
    Interrupted,
    NoMoves,
    NoScores,
    /// Scores, but none from the first sampled ply on.
    NoScoresInWindows,
    /// The sampling drew other records of training data.
    NotDrawn,
    /// A copy of another game: the same moves, under other names or another start time.
    SameMoves,
    /// The record does not name the winner.
    UnknownResult,
    /// The summary names neither player.
    UnknownWinner,
}

impl SkipReason {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A game that could not be read to its end; the reader continues with the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameError {
    pub reason: SkipReason,
    /// Line of the damage, counted from 0 at the start of the block.
    pub line: u64,
    /// The offending text, cut at 60 bytes.
    pub value: String,
}

impl GameError {
    /// An error that quotes the beginning of `text`.
    pub fn at(reason: SkipReason, line: u64, text: &[u8]) -> Self {
        Self { reason, line, value: quoted(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rating_that_no_player_has_is_unknown() {
        let rating = |text: &str| {
            let mut game = Game::default();
            game.rate(0, text.as_bytes(), 3, text.as_bytes());
            (game.ratings[0], game.oddities.first().map(|oddity| oddity.kind))
        };
        for (text, number) in [("3148.5", 3148.5), ("-1000", -1_000.0), ("0", 0.0), ("1e4", 10_000.0)] {
            assert_eq!(rating(text), (Some(number), None), "{text}");
        }
        for text in ["99999999", "-1001", "10000.5", "1e308", "inf", "NaN", "strong"] {
            assert_eq!(rating(text), (None, Some(OddityKind::UnreadableHeader)), "{text}");
        }
    }
}
