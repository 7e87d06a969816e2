//! Game records: one reader a format behind one trait, and the game that a reader fills.
//!
//! A reader scans a block of bytes that holds whole games and fills a [`Game`] which the caller lends, so that
//! nothing is allocated per game. It never panics: what it cannot read becomes a [`SkipReason`] with the line,
//! and the next call goes on with the next game.

mod board;
pub mod comment;
pub mod csa;
mod csa_ending;
pub mod encoding;
pub mod find;
pub mod identity;
pub mod kif;
pub mod packed;
pub mod pgn;
mod pgn_board;
pub mod pgn_comment;
mod pgn_move;
pub mod pgn_replay;
mod pgn_tags;
pub mod position;
mod search;
pub mod source;
mod source_part;
pub mod usi_log;
pub mod verify;
pub mod votes;
pub mod write;

use std::fmt;

use encoding_rs::Encoding;

use evalcurve_core::types::{Color, Outcome, Termination};
pub use identity::{GameHash, StartTime};
pub use packed::Packed;

pub use evalcurve_core::types::ANNOUNCED_MATE_CP;

/// One scored position of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoredPosition {
    /// Number of the move that was played in the position; the first move of a record is ply 1.
    pub ply: u32,
    /// The side to move, whose view the score is in.
    pub color: Color,
    /// Centipawns in the view of `color`.
    pub score_cp: i32,
    /// The record itself says that this is a mate, whatever the number.
    pub mate: bool,
    /// The score comes from an analysis of the game, not from the player.
    pub analysis: bool,
    /// Line of the score, counted from 0 at the start of the block.
    pub line: u64,
}

/// What a reader finds in one game. Buffers are reused from game to game.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Game {
    /// Player names as UTF-8, Black's first, whoever moves first; empty where the record has none.
    pub names: [String; 2],
    /// Ratings that the record gives, Black's first.
    pub ratings: [Option<f64>; 2],
    /// Time control as the record writes it, empty where it says nothing.
    pub time_control: String,
    /// When the game began.
    pub start_time: Option<StartTime>,
    /// Moves played.
    pub plies: u32,
    /// Moves played before the first one of the record, where the start position says so (the number in a FEN).
    pub plies_before: u32,
    /// Moves that carry a book mark instead of a score (`'** 0` without a PV, `{book}`).
    pub book_moves: u32,
    /// The scored positions in the order of play.
    pub scores: Vec<ScoredPosition>,
    /// How it ended.
    pub termination: Option<Termination>,
    /// The result for Black; `None` where the record leaves it open.
    pub black_outcome: Option<Outcome>,
    /// Identity: start position, moves, names and start time (see [`identity`]).
    pub id: u64,
    /// First line of the game, counted from 0 at the start of the block.
    pub line: u64,
    /// The engine that made the analysis, where the record names one and only one; else empty.
    pub annotator: String,
    /// The scores are the votes of `annotator` in a council that played, so that no other name is right for it.
    pub votes: bool,
    /// What was odd but did not stop the reading of the game: at most one of each kind, with its line and value.
    pub oddities: Vec<Oddity>,
}

impl Game {
    /// Empties the game but keeps its buffers.
    pub fn clear(&mut self) {
        self.names[0].clear();
        self.names[1].clear();
        self.ratings = [None; 2];
        self.time_control.clear();
        self.start_time = None;
        self.plies = 0;
        self.plies_before = 0;
        self.book_moves = 0;
        self.scores.clear();
        self.termination = None;
        self.black_outcome = None;
        self.id = 0;
        self.line = 0;
        self.annotator.clear();
        self.votes = false;
        self.oddities.clear();
    }

    /// Notes something odd, the first of its kind only.
    pub fn odd(&mut self, kind: OddityKind, line: u64, value: &[u8]) {
        if self.oddities.iter().all(|o| o.kind != kind) {
            let shown = &value[..value.len().min(60)];
            self.oddities.push(Oddity { kind, line, value: String::from_utf8_lossy(shown).trim_end().to_owned() });
        }
    }

    /// Adds a score that stands, in Black's view, below the last move: the score of `mover`, who found it before that
    /// move, or of an analysis of the position behind it.
    ///
    /// Of several scores of one player for one position the last counts, but a number does not undo a mate that was
    /// announced (ShogiHome writes `詰み=先手勝ち:10手` and `評価値=3509` for one move). Of several analyses the first
    /// counts: ShogiGUI writes the deepest first.
    #[inline]
    pub(crate) fn add_score(&mut self, mover: Color, black_score_cp: i32, mate: bool, analysis: bool, line: u64) {
        let (ply, color) = if analysis { (self.plies + 1, mover.opponent()) } else { (self.plies, mover) };
        let score_cp = if color == Color::Black { black_score_cp } else { black_score_cp.saturating_neg() };
        let scored = ScoredPosition { ply, color, score_cp, mate, analysis, line };
        let same = |s: &&mut ScoredPosition| s.ply == ply && s.analysis == analysis;
        // below one move stand scores of two positions at the most
        match self.scores.iter_mut().rev().take(2).find(same) {
            Some(_) if analysis => {}
            Some(last) if last.mate && !mate => {}
            Some(last) => *last = scored,
            None => self.scores.push(scored),
        }
    }

    /// The result for `color`.
    pub fn outcome_for(&self, color: Color) -> Option<Outcome> {
        self.black_outcome.map(|o| if color == Color::Black { o } else { o.reversed() })
    }
}

/// Something in a record that the reader passed over, while it used the rest of the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// What kind of thing.
    pub kind: OddityKind,
    /// Line, counted from 0 at the start of the block.
    pub line: u64,
    /// The text, cut at 60 bytes.
    pub value: String,
}

/// Kinds of odd things, as they are counted in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OddityKind {
    /// A score comment whose number cannot be read.
    UnreadableScore,
    /// A statement that the format does not know.
    UnknownStatement,
    /// A rating or a date that cannot be read.
    UnreadableHeader,
}

impl OddityKind {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnreadableScore => "unreadable_score",
            Self::UnknownStatement => "unknown_statement",
            Self::UnreadableHeader => "unreadable_header",
        }
    }
}

/// Why a game gives no samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// A player disconnected or crashed (`'summary:abnormal`, `abandoned`).
    Abnormal,
    /// Every score of the file is 0, so that they say nothing.
    AllScoresZero,
    /// The scores come from an analysis and nobody said which engine made it.
    AnalysisWithoutEngine,
    /// A move cannot be read, or is out of turn.
    BrokenMove,
    /// The start position cannot be read.
    BrokenPosition,
    /// A record of training data that is cut, or whose lengths do not fit.
    BrokenRecord,
    /// A draw, while draws are dropped.
    Draw,
    /// The same game was met before.
    Duplicate,
    /// No sample passed the filters.
    Filtered,
    /// A result of training data that is none.
    IllegalResult,
    /// Stopped before the end (%CHUDAN, `unterminated`).
    Interrupted,
    /// No moves at all.
    NoMoves,
    /// No scores at all.
    NoScores,
    /// Scores, but none from the first sampled ply on.
    NoScoresInWindows,
    /// The draw took another record of training data.
    NotDrawn,
    /// The record does not say who won.
    UnknownResult,
    /// The summary names neither player.
    UnknownWinner,
}

impl SkipReason {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Abnormal => "abnormal",
            Self::AllScoresZero => "all_scores_zero",
            Self::AnalysisWithoutEngine => "analysis_without_engine",
            Self::BrokenMove => "broken_move",
            Self::BrokenPosition => "broken_position",
            Self::BrokenRecord => "broken_record",
            Self::Draw => "draw",
            Self::Duplicate => "duplicate",
            Self::Filtered => "filtered",
            Self::IllegalResult => "illegal_result",
            Self::Interrupted => "interrupted",
            Self::NoMoves => "no_moves",
            Self::NoScores => "no_scores",
            Self::NoScoresInWindows => "no_scores_in_windows",
            Self::NotDrawn => "not_drawn",
            Self::UnknownResult => "unknown_result",
            Self::UnknownWinner => "unknown_winner",
        }
    }

    /// The record is damaged, so that `--strict` stops here; the other reasons are ordinary.
    pub fn is_damage(self) -> bool {
        matches!(
            self,
            Self::AllScoresZero
                | Self::BrokenMove
                | Self::BrokenPosition
                | Self::BrokenRecord
                | Self::IllegalResult
                | Self::UnknownWinner
        )
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A game that could not be read to its end; the reader stands at the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameError {
    /// Why.
    pub reason: SkipReason,
    /// Line of the trouble, counted from 0 at the start of the block.
    pub line: u64,
    /// The offending text, cut at 60 bytes.
    pub value: String,
}

impl GameError {
    /// An error that shows the beginning of `text`.
    fn at(reason: SkipReason, line: u64, text: &[u8]) -> Self {
        Self { reason, line, value: String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned() }
    }
}

/// A reader of one format.
pub trait Reader {
    /// Where `block` may be cut so that what lies before holds whole games only; `None` where no game ends in it.
    fn last_boundary(&self, block: &[u8]) -> Option<usize>;

    /// Reads the next game of `block` from the cursor on into `game`.
    ///
    /// `Ok(false)` at the end of the block. After an error the cursor stands behind the broken game.
    ///
    /// # Errors
    /// A [`GameError`] where the game is damaged.
    fn read_game(&self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError>;
}

/// Where a reader stands in a block.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    /// Byte offset.
    pub offset: usize,
    /// Lines before it.
    pub line: u64,
    /// The encoding that the file declares, if it does.
    pub encoding: Option<&'static Encoding>,
    /// Voters of the game at `offset` that were read already: the log of a council gives a game once for each.
    pub voter: usize,
}

/// The formats that evalcurve reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// CSA V1 to V3 with floodgate's, ShogiGUI's and ShogiHome's score comments.
    Csa,
    /// PGN with the score comments of cutechess, fastchess, TCEC and lichess.
    Pgn,
    /// KIF, KIFU and KI2 with ShogiGUI's, ShogiHome's and floodgate's score comments.
    Kif,
    /// Dialogues of engines with a match runner or a GUI, by USI or UCI.
    UsiLog,
    /// Logs of councils, a game once for each member.
    Votes,
    /// Training data.
    Packed(Packed),
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Csa,
        Self::Pgn,
        Self::Kif,
        Self::UsiLog,
        Self::Votes,
        Self::Packed(Packed::Hcpe),
        Self::Packed(Packed::Hcpe3),
        Self::Packed(Packed::Psv),
    ];

    /// The format of a file that begins with these bytes, by content alone.
    pub fn detect(head: &[u8]) -> Option<Self> {
        if let Some(packed) = Packed::detect(head) {
            return Some(Self::Packed(packed));
        }
        if votes::looks_like(head) {
            return Some(Self::Votes);
        }
        if csa::looks_like(head) {
            return Some(Self::Csa);
        }
        if kif::looks_like(head) {
            return Some(Self::Kif);
        }
        if usi_log::looks_like(head) {
            return Some(Self::UsiLog);
        }
        pgn::looks_like(head).then_some(Self::Pgn)
    }

    /// Its reader, where it holds text.
    pub fn reader(self) -> Option<&'static dyn Reader> {
        match self {
            Self::Csa => Some(&csa::CsaReader),
            Self::Pgn => Some(&pgn::PgnReader),
            Self::Kif => Some(&kif::KifReader),
            Self::UsiLog => Some(&usi_log::UsiLogReader),
            Self::Votes => Some(&votes::VotesReader),
            Self::Packed(_) => None,
        }
    }

    /// Where `block` may be cut so that what lies before holds whole games or records only.
    pub fn last_boundary(self, block: &[u8]) -> Option<usize> {
        match self {
            Self::Packed(packed) => packed.last_boundary(block),
            _ => self.reader().and_then(|reader| reader.last_boundary(block)),
        }
    }

    /// Its name in messages and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Csa => "csa",
            Self::Pgn => "pgn",
            Self::Kif => "kif",
            Self::UsiLog => "usi-log",
            Self::Votes => "votes",
            Self::Packed(packed) => packed.as_str(),
        }
    }
}
