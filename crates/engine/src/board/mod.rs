//! The legal moves of a position. Moves are texts in the notation of the protocol.
//!
//! A game is one file with its `Rules`; [`Board`] holds them and counts sides and plies.

mod chess;
pub mod minishogi;
pub mod position;
mod shogi;

use evalcurve_calibration::types::Color;
use evalcurve_words::text::shortened;
use serde::Deserialize;
use strum::{EnumString, IntoStaticStr};

use crate::usi::{Position, Protocol};

/// What is wrong with a position: the message says what follows for its board, too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}{then}")]
pub struct PositionFault {
    /// What is wrong, as a whole sentence.
    pub what: String,
    then: &'static str,
}

/// The board of a position that cannot be followed.
const UNCHECKED: &str = "; moves are not checked";

/// Characters of a position or move that a message quotes.
pub const MOST_QUOTED: usize = 80;

/// The game that a council plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Game {
    /// Shogi, by USI.
    #[default]
    Shogi,
    /// 5x5 shogi (5五将棋), by USI.
    Minishogi,
    /// Chess, by UCI; Chess960 positions too.
    Chess,
    /// A game with unknown rules, by USI: no move is checked.
    OtherUsi,
    /// A game with unknown rules, by UCI: no move is checked.
    OtherUci,
}

impl Game {
    /// The protocol of GUIs and, by default, of members.
    pub fn protocol(self) -> Protocol {
        match self {
            Self::Shogi | Self::Minishogi | Self::OtherUsi => Protocol::Usi,
            Self::Chess | Self::OtherUci => Protocol::Uci,
        }
    }

    /// The name in configurations and logs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The rules of a game in one position.
trait Rules: std::fmt::Debug + Send + Sync {
    fn boxed(&self) -> Box<dyn Rules>;

    fn side(&self) -> Color;

    fn legal_moves(&self) -> Vec<String>;

    /// A legal move in the notation of the board; `None` if it is illegal.
    fn normalized(&self, text: &str) -> Option<String>;

    /// Plays a move. If it is illegal, returns false and changes nothing.
    fn play(&mut self, text: &str) -> bool;

    fn in_check(&self) -> bool;

    /// The position as SFEN or FEN.
    fn text(&self) -> String;

    /// Equal for positions that count as a repetition of each other.
    fn identity(&self) -> String;

    /// A legal move as game records write it: CSA in shogi, SAN in chess.
    fn record_text(&self, text: &str) -> Option<String>;

    fn material(&self) -> Option<u32> {
        None
    }

    fn may_declare(&self) -> bool {
        false
    }

    fn king_takes_rook(&self) -> bool {
        false
    }

    /// What of the position contradicts its pieces and is left out.
    fn left_out(&self) -> Option<&'static str> {
        None
    }

    fn is_dead(&self) -> bool {
        false
    }

    fn quiet_plies(&self) -> u32 {
        0
    }

    /// The moves of both sides before this one, if the position counts them.
    fn finished_moves(&self) -> Option<u32> {
        None
    }
}

/// Rules, or why the text is not a position of the game.
type ReadRules = Result<Box<dyn Rules>, String>;

/// A position with its legal moves.
#[derive(Debug)]
pub struct Board {
    /// `None` if the rules do not cover this position: any move is allowed.
    rules: Option<Box<dyn Rules>>,
    /// Moves since the start position.
    plies: u32,
    side: Color,
    /// The moves that may be chosen (`searchmoves`); empty for all.
    only: Vec<String>,
}

impl Clone for Board {
    fn clone(&self) -> Self {
        let rules = self.rules.as_ref().map(|rules| rules.boxed());
        Self { rules, plies: self.plies, side: self.side, only: self.only.clone() }
    }
}

impl Board {
    /// The board after the moves of a position. If the position cannot be read or one of its moves is illegal, the
    /// board checks nothing, and the fault says why. It also says what is wrong with castling rights or an en
    /// passant square, which are left out.
    ///
    /// The notation of castling is that of standard chess unless the position has castling rights that only Chess960
    /// has; see [`Board::chess960`].
    pub fn new(game: Game, position: &Position) -> (Self, Option<PositionFault>) {
        Self::in_notation(game, position, false)
    }

    /// [`Board::new`] for chess in the notation of Chess960 (`UCI_Chess960`): castling is the king taking its rook.
    pub fn chess960(position: &Position) -> (Self, Option<PositionFault>) {
        Self::in_notation(Game::Chess, position, true)
    }

    fn in_notation(game: Game, position: &Position, chess960: bool) -> (Self, Option<PositionFault>) {
        let start = position.start.as_deref();
        let read = match game {
            Game::Shogi => Some(shogi::read(start)),
            Game::Minishogi => Some(minishogi::read(start)),
            Game::Chess => Some(chess::read(start, chess960)),
            Game::OtherUsi | Game::OtherUci => None,
        };
        let text = shortened(start.unwrap_or_default(), MOST_QUOTED);
        let fault = |what, then| Some(PositionFault { what, then });
        let (rules, mut problem) = match read.transpose() {
            Ok(rules) => {
                let left_out = rules.as_ref().and_then(|rules| rules.left_out());
                (rules, left_out.and_then(|l| fault(format!("the position '{text}' has {l}"), ", which are left out")))
            }
            Err(why) => (None, fault(format!("the position '{text}' is not {} ({why})", game.as_str()), UNCHECKED)),
        };
        let side = match (&rules, start) {
            (Some(rules), _) => rules.side(),
            (None, Some(text)) if text.split_whitespace().nth(1) == Some("w") => Color::White,
            (None, None) if game == Game::OtherUci => Color::White,
            (None, _) => Color::Black,
        };
        let mut board = Self { rules, plies: 0, side, only: Vec::new() };
        for (i, m) in position.moves.iter().enumerate() {
            if !board.play(m) {
                let (number, shown) = (i + 1, shortened(m, MOST_QUOTED));
                problem = fault(format!("move {number} of the position, '{shown}', is illegal"), UNCHECKED);
                board.rules = None;
                board.play(m);
            }
        }
        (board, problem)
    }

    /// One of the 960 initial positions of Chess960, by its number; others repeat them.
    pub fn chess960_start(number: u32) -> Position {
        Position { start: Some(chess::start(number % 960)), moves: Vec::new() }
    }

    /// The side to move.
    pub fn side(&self) -> Color {
        self.side
    }

    /// The number of the next move, from 1, counted from the start of the position.
    pub fn ply(&self) -> u32 {
        self.plies + 1
    }

    /// Material on the board in chess, pawns and pieces of both sides counted 1, 3, 3, 5, 9; `None` in other games.
    pub fn material(&self) -> Option<u32> {
        self.rules.as_ref()?.material()
    }

    /// Whether castling is written as the king taking its rook.
    pub fn king_takes_rook(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.king_takes_rook())
    }

    pub fn checks_moves(&self) -> bool {
        self.rules.is_some()
    }

    /// From now on, until a move is played, no other move than these is legal (`searchmoves`). Gives a message about
    /// those that the rules do not allow; if these are all, every move stays legal.
    pub fn search_only(&mut self, moves: &[String]) -> Option<String> {
        let (only, illegal): (Vec<_>, Vec<_>) =
            moves.iter().map(|text| self.normalized(text).ok_or(text)).partition(Result::is_ok);
        self.only = only.into_iter().flatten().collect();
        let first = illegal.into_iter().find_map(Result::err)?;
        let rest = if self.only.is_empty() { "every move counts" } else { "the others count" };
        Some(format!("searchmoves has {}, which is illegal; {rest}", quoted(first)))
    }

    /// Whether a move would be legal if `searchmoves` did not leave it out.
    pub fn leaves_out(&self, text: &str) -> bool {
        let is_move = match &self.rules {
            Some(rules) => rules.normalized(text).is_some(),
            None => looks_like_a_move(text),
        };
        is_move && !self.is_legal(text)
    }

    /// All legal moves; if moves are not checked, only those of `searchmoves`.
    pub fn legal_moves(&self) -> Vec<String> {
        match &self.rules {
            Some(rules) if self.only.is_empty() => rules.legal_moves(),
            _ => self.only.clone(),
        }
    }

    /// Whether the moves are legal and mate; if moves are not checked, whether they look like moves. A mate in shogi
    /// may end where only drops between king and checking piece are left, since solvers leave out futile ones (無駄合い).
    pub fn is_mated_after<'a>(&self, moves: impl IntoIterator<Item = &'a str>) -> bool {
        let mut board = self.clone();
        let legal = moves.into_iter().all(|text| board.is_legal(text) && board.play(text));
        legal && (!board.checks_moves() || (board.in_check() && board.legal_moves().iter().all(|m| m.contains('*'))))
    }

    /// Whether a move is legal. If moves are not checked, whether it looks like a move.
    pub fn is_legal(&self, text: &str) -> bool {
        self.normalized(text).is_some()
    }

    /// A legal move in the notation of the board, since engines may write castling in either way. `None` if it is
    /// illegal.
    pub fn normalized(&self, text: &str) -> Option<String> {
        let found = match &self.rules {
            Some(rules) => rules.normalized(text),
            None => looks_like_a_move(text).then(|| text.to_owned()),
        };
        found.filter(|text| self.only.is_empty() || self.only.contains(text))
    }

    /// Plays a move. If it is illegal, returns false and changes nothing.
    pub fn play(&mut self, text: &str) -> bool {
        let played = self.rules.as_mut().is_none_or(|rules| rules.play(text));
        if played {
            self.side = self.side.opponent();
            self.plies += 1;
            self.only.clear();
        }
        played
    }

    /// Whether the side to move may declare a win by entering king (入玉宣言): its king is in the last three ranks and
    /// not in check, with ten other pieces there, and those and the pieces in hand are worth 28 points for Black or 27
    /// for White (CSA's 27-point rule: rooks and bishops count 5, all others 1). 5x5 shogi has no such rule.
    pub fn may_declare(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.may_declare())
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.in_check())
    }

    /// The position as SFEN or FEN; `None` if moves are not checked.
    pub fn text(&self) -> Option<String> {
        self.rules.as_ref().map(|rules| rules.text())
    }

    /// A text that is equal for positions that count as a repetition of each other; `None` if moves are not checked.
    pub fn identity(&self) -> Option<String> {
        self.rules.as_ref().map(|rules| rules.identity())
    }

    /// A legal move as game records write it: CSA (`+7776FU`) in shogi, SAN (`Nf3`) in chess. `None` if it is illegal
    /// or moves are not checked.
    pub fn record_text(&self, text: &str) -> Option<String> {
        self.rules.as_ref()?.record_text(text)
    }

    /// Whether neither side can mate in chess: kings alone, with one minor piece, or with bishops on squares of one
    /// colour.
    pub fn is_dead(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.is_dead())
    }

    /// How many moves both sides have made: in chess by the number of its FEN, in other games since the start position.
    pub fn finished_moves(&self) -> u32 {
        self.rules.as_ref().and_then(|rules| rules.finished_moves()).unwrap_or(self.plies / 2)
    }

    /// In chess, the moves of both sides since the last capture or pawn move; 0 in other games.
    pub fn quiet_plies(&self) -> u32 {
        self.rules.as_ref().map_or(0, |rules| rules.quiet_plies())
    }
}

/// A move or answer of an engine in a message: shortened, and without control characters.
pub fn quoted(text: &str) -> String {
    shortened(text, MOST_QUOTED).escape_debug().to_string()
}

fn looks_like_a_move(text: &str) -> bool {
    (4..=7).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "*+@=-".contains(c))
        && text.chars().any(|c| c.is_ascii_digit())
        && text != "0000"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(game: Game, text: &str) -> Board {
        let (board, problem) = Board::new(game, &Position::parse(text));
        assert_eq!(problem, None, "{text}");
        board
    }

    #[test]
    fn material_is_counted_in_chess() {
        assert_eq!(board(Game::Chess, "startpos").material(), Some(78));
        assert_eq!(board(Game::Chess, "fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1").material(), Some(5));
        assert_eq!(board(Game::Shogi, "startpos").material(), None);
    }

    fn perft(board: &Board, depth: u32) -> u64 {
        let moves = board.legal_moves();
        assert!(moves.iter().all(|m| board.is_legal(m)));
        if depth == 1 {
            return moves.len() as u64;
        }
        let after = |m: &String| {
            let mut next = board.clone();
            assert!(next.play(m), "{m}");
            perft(&next, depth - 1)
        };
        moves.iter().map(after).sum()
    }

    /// Counts that many programs agree on (shogi: YaneuraOu's perft; chess: the Chess Programming Wiki).
    #[test]
    fn legal_moves_are_those_of_the_rules() {
        assert_eq!(perft(&board(Game::Shogi, "startpos"), 3), 25_470);
        let max = "sfen R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
        assert_eq!(perft(&board(Game::Shogi, max), 1), 593);
        assert_eq!(perft(&board(Game::Chess, "startpos"), 3), 8_902);
        let kiwipete = "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        assert_eq!(perft(&board(Game::Chess, kiwipete), 3), 97_862);
    }

    /// Counts by pyffish, the rules of Fairy-Stockfish (`tests/oracle/perft_minishogi.py`).
    #[test]
    fn legal_moves_of_5x5_shogi_are_those_of_fairy_stockfish() {
        let file = "tests/oracle/perft_minishogi.expected.json";
        let Some(expected) = crate::of_repository(file) else { return };
        let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
        let positions = expected["positions"].as_array().unwrap();
        assert_eq!(positions.len(), 61);
        for position in positions {
            let sfen = position["sfen"].as_str().unwrap();
            let board = board(Game::Minishogi, &format!("sfen {sfen}"));
            let (own, theirs) = (board.identity().unwrap(), sfen.split(' ').take(2).collect::<Vec<_>>().join(" "));
            assert!(own.starts_with(&theirs), "{sfen}: {own}");
            for (depth, count) in (1..).zip(position["counts"].as_array().unwrap()) {
                assert_eq!(perft(&board, depth), count.as_u64().unwrap(), "{sfen} at depth {depth}");
            }
        }
    }

    #[test]
    fn positions_that_are_not_5x5_shogi_are_refused() {
        for (sfen, why) in [
            ("rbsgk/4p/5/P4/KGSBR x - 1", "cannot be read"),
            ("rbsgk/4p/5/P4 b - 1", "not five files and ranks"),
            ("rbsgk/4p/6/P4/KGSBR b - 1", "cannot be read"),
            ("rbsgk/4pp/5/P4/KGSBR b - 1", "cannot be read"),
            // 135 squares and a pawn, and 261, which are 5 in eight bits
            ("rbsgk/4p/999999999999999p/P4/KGSBR b - 1", "cannot be read"),
            ("rbsgk/4p/99999999999999999999999999999/P4/KGSBR b - 1", "cannot be read"),
            ("rbsgl/4p/5/P4/KGSBR b - 1", "more pieces of a kind"),
            ("rbsgk/4p/5/P4/KGSBR b 2K 1", "cannot be read"),
            ("rbsgk/4p/5/P4/KGSBR b 2 1", "cannot be read"),
            ("rbsgk/4p/5/P4/KGSBR b 12P 1", "more pieces of a kind"),
            ("rbsgk/4p/5/P4/KGSBR b 2PpP 1", "more pieces of a kind"),
            // a capture would put a third gold into the hand
            ("rbsgk/4g/5/P4/KGSBR b - 1", "more pieces of a kind"),
            ("rbsg1/4p/5/P4/KGSBR b - 1", "one king"),
            ("rbsgk/4P/5/P4/KGSBR b - 1", "can take the king"),
        ] {
            let (_, problem) = Board::new(Game::Minishogi, &Position::parse(&format!("sfen {sfen}")));
            assert!(problem.as_ref().is_some_and(|p| p.what.contains(why)), "{sfen}: {problem:?}");
        }
    }

    #[test]
    fn moves_are_written_as_records_write_them() {
        let written = |board: &Board, text: &str| board.record_text(text);
        let shogi = board(Game::Shogi, "startpos moves 7g7f 3c3d");
        assert_eq!(written(&shogi, "8h2b+").as_deref(), Some("+8822UM"));
        assert_eq!(written(&shogi, "7g7f"), None);
        let drop = board(Game::Shogi, "startpos moves 7g7f 3c3d 8h2b+ 3a2b");
        assert_eq!(written(&drop, "B*4e").as_deref(), Some("+0045KA"));
        let chess = board(Game::Chess, "startpos moves e2e4 e7e5 g1f3 g8f6 f1c4 f8c5");
        assert_eq!(written(&chess, "e1g1").as_deref(), Some("O-O"));
        assert_eq!(written(&chess, "c4f7").as_deref(), Some("Bxf7+"));
        let mini = board(Game::Minishogi, "startpos");
        assert_eq!(written(&mini, "5d5c").as_deref(), Some("+5453FU"));
        let capture = board(Game::Minishogi, "startpos moves 1e1b");
        assert_eq!((capture.in_check(), written(&capture, "1a1b").as_deref()), (true, Some("-1112OU")));
    }

    #[test]
    fn repetitions_and_dead_positions_are_recognized() {
        // the en passant square counts only if the capture is legal
        let identity = |text: &str| board(Game::Chess, text).identity();
        assert_eq!(
            identity("startpos moves e2e4"),
            identity("fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 3 7")
        );
        assert_ne!(identity("fen 4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"), identity("fen 4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1"));
        let there_and_back = "startpos moves 2h3h 8b7b 3h2h 7b8b";
        assert_eq!(board(Game::Shogi, there_and_back).identity(), board(Game::Shogi, "startpos").identity());
        let dead = |fen: &str| board(Game::Chess, &format!("fen {fen} w - - 0 1")).is_dead();
        assert!(dead("4k3/8/8/8/8/8/8/4K3") && dead("4k3/8/8/8/8/8/8/4KN2") && dead("2b1k3/8/8/8/8/8/8/4KB2"));
        assert!(!dead("1b2k3/8/8/8/8/8/8/4KB2") && !dead("4k3/8/8/8/8/8/4P3/4K3") && !dead("4k3/8/8/8/8/8/8/4KNN1"));
        assert_eq!(board(Game::Chess, "startpos moves g1f3 g8f6").quiet_plies(), 2);
    }

    #[test]
    fn kings_that_touch_are_refused() {
        let position = |fen: &str| Position::parse(&format!("fen {fen}"));
        let (_, problem) = Board::new(Game::Chess, &position("4kb2/2B1K3/8/8/8/8/8/8 w - - 0 1"));
        assert!(problem.is_some_and(|problem| problem.what.contains("is not chess")));
        assert_eq!(Board::new(Game::Chess, &position("4kb2/2B5/4K3/8/8/8/8/8 w - - 0 1")).1, None);
    }

    /// Counts of the first two positions of the Chess960 perft suite that engines share.
    #[test]
    fn chess960_castles_by_taking_the_rook() {
        for (fen, counts) in [
            ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", [21, 528, 12_189]),
            ("2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9", [21, 807, 18_002]),
        ] {
            for (depth, count) in (1..).zip(counts) {
                assert_eq!(perft(&board(Game::Chess, &format!("fen {fen}")), depth), count, "{fen}");
            }
        }
        let two_rooks = "r3k2r/8/8/8/8/8/8/RR2K1RR w KQkq - 0 1";
        let moves = |fen: &str| {
            let mut moves = board(Game::Chess, &format!("fen {fen}")).legal_moves();
            moves.retain(|m| m.starts_with("e1"));
            moves.sort_unstable();
            moves
        };
        // the outermost rooks are those of standard chess, but g1 and b1 hold the others
        assert_eq!(moves(two_rooks), ["e1d1", "e1d2", "e1e2", "e1f1", "e1f2"]);
        // X-FEN names inner rooks by their files; the other side keeps K and Q
        let inner = "r3k2r/8/8/8/8/8/8/RR2K1RR w GBkq - 0 1";
        assert_eq!(moves(inner), ["e1b1", "e1d1", "e1d2", "e1e2", "e1f1", "e1f2", "e1g1"]);
        let b = board(Game::Chess, &format!("fen {inner} moves e1g1 e8a8"));
        assert_eq!((b.side(), b.king_takes_rook()), (Color::White, true));
        // X-FEN in which K is the outermost rook of Chess960: its king stays on g1
        let king_on_g = board(Game::Chess, "fen 6kr/8/8/8/8/8/8/6KR w Kk - 0 1");
        assert!(king_on_g.is_legal("g1h1") && !king_on_g.is_legal("g1g1"));
        assert!(king_on_g.legal_moves().contains(&"g1h1".to_owned()));
        // the standard start in both notations
        let castles = "startpos moves e2e4 e7e5 g1f3 g8f6 f1c4 f8c5";
        let standard = board(Game::Chess, castles);
        assert_eq!(standard.normalized("e1h1").as_deref(), Some("e1g1"));
        let (chess960, _) = Board::chess960(&Position::parse(castles));
        assert_eq!(chess960.normalized("e1g1").as_deref(), Some("e1h1"));
        assert!(chess960.legal_moves().contains(&"e1h1".to_owned()));
        // a rook on the 200th file
        let far = format!("fen 4k3/8/8/8/8/8/8/K{}R w K - 0 1", "8".repeat(25));
        assert!(Board::new(Game::Chess, &Position::parse(&far)).1.is_some());
    }

    #[test]
    fn a_fen_may_contradict_its_pieces() {
        let read = |fen: &str| Board::new(Game::Chess, &Position::parse(&format!("fen {fen}")));
        let pieces = "8/8/4k3/8/8/4K3/4R3/8 w";
        for (fields, what) in [
            ("- - 101 120", None),
            ("- - 0 0", None),
            ("- - 0 70000", None),
            ("KQ - 3 9", Some("castling rights")),
            ("- d6 3 9", Some("an en passant square")),
            ("Kk d6 300 0", Some("castling rights")),
            ("-K- - 0 1", Some("castling rights")),
        ] {
            let (board, problem) = read(&format!("{pieces} {fields}"));
            assert_eq!(problem.as_ref().map(|_| true), what.map(|_| true), "{fields}: {problem:?}");
            assert!(what.is_none_or(|what| problem.is_some_and(|problem| problem.what.contains(what))));
            assert!(board.is_legal("e3d3") && !board.is_legal("e3e5"), "{fields}");
        }
        for twice in ["KK", "HKq", "qKqK", "K-", "KHhAa"] {
            let (board, problem) = read(&format!("r3k3/8/8/8/8/8/8/4K2R w {twice} - 0 1"));
            assert!(board.checks_moves() && problem.is_some(), "{twice}");
        }
        let (board, _) = read("r3k3/8/8/8/8/8/8/4K2R w KQkq - 0 1");
        assert!(board.is_legal("e1g1") && board.text().is_some_and(|text| text.contains(" Kq ")), "{board:?}");
        // a right that is there twice takes no other with it
        for (twice, what) in
            [("KKQkq", "a king and a rook"), ("KQQ", "that it has twice"), ("QKK", "that it has twice")]
        {
            let (board, problem) = read(&format!("4k3/8/8/8/8/8/8/R3K2R w {twice} - 0 1"));
            assert!(board.is_legal("e1g1") && board.is_legal("e1c1"), "{twice}");
            assert!(problem.is_some_and(|problem| problem.what.contains(what)), "{twice}");
        }
        for text in [format!("{pieces} - - x 1"), "4kK2/8/8/8/8/8/8/8 w K - 0 1".to_owned(), "8/8/8 w".to_owned()] {
            let (board, problem) = read(&text);
            assert!(
                !board.checks_moves() && problem.is_some_and(|p| p.to_string().contains("moves are not checked")),
                "{text}"
            );
        }
    }

    #[test]
    fn only_some_moves_may_be_chosen() {
        let mut b = board(Game::Chess, "startpos moves e2e4 e7e5 g1f3 g8f6 f1c4 f8c5");
        assert_eq!(b.search_only(&["e1h1".to_owned(), "a2a3".to_owned()]), None);
        assert_eq!(b.legal_moves(), ["e1g1", "a2a3"]);
        assert!(b.is_legal("e1h1") && !b.is_legal("h2h3") && b.leaves_out("h2h3") && !b.leaves_out("h2h5"));
        assert!(b.play("h2h3"), "the GUI may play any move");
        assert_eq!((b.legal_moves().len() > 20, b.leaves_out("a7a6")), (true, false));
        let mut b = board(Game::Shogi, "startpos");
        let problem = b.search_only(&["7g7e".to_owned()]).unwrap();
        assert_eq!((problem.contains("7g7e"), b.legal_moves().len()), (true, 30));
        let problem = b.search_only(&["2g2f".to_owned(), "5i5a\u{85}".repeat(90)]).unwrap();
        assert!(problem.len() < 600 && !problem.contains('\u{85}') && b.legal_moves() == ["2g2f"], "{problem}");
        // also where no rules are known
        let mut b = board(Game::OtherUsi, "startpos");
        assert_eq!((b.search_only(&["2g2f".to_owned()]), b.legal_moves()), (None, vec!["2g2f".to_owned()]));
        assert!(b.leaves_out("7g7f") && !b.leaves_out("2g2f") && !b.leaves_out("none"));
    }

    #[test]
    fn mates_are_checked_to_their_end() {
        let b = board(Game::Chess, "startpos moves f2f3 e7e5 g2g4");
        let is_mate = |moves: &str| b.is_mated_after(moves.split(' '));
        assert!(is_mate("d8h4") && !is_mate("d8g5") && !is_mate("d8h4 e1f2") && !is_mate("garbage"));
        let b = board(Game::Shogi, "sfen 8k/9/7G1/9/9/9/4P4/9/4K4 b 2P 1");
        assert!(!b.is_mated_after(["P*1b"]) && !b.is_mated_after([]));
        // pawns on 1b and 1c are futile; without the golds, the king goes away
        let b = board(Game::Shogi, "sfen 8k/6G2/7G1/9/9/9/9/9/K8 b R10p 1");
        assert!(b.is_mated_after(["R*1d"]) && !b.is_mated_after(["3b3a"]));
        let b = board(Game::Shogi, "sfen 8k/9/9/9/9/9/9/9/K8 b R10p 1");
        assert!(!b.is_mated_after(["R*1d"]));
    }

    #[test]
    fn illegal_moves_are_recognized() {
        let b = board(Game::Shogi, "startpos");
        for m in ["7g7e", "7g7f+", "P*5e", "resign", "win", "", "0000", "７六歩", "7g", "7g7f7", "a1a1", "N*5e"] {
            assert!(!b.is_legal(m) && !b.clone().play(m), "{m}");
        }
        // a pawn drop that mates, and one on a file that has a pawn
        let b = board(Game::Shogi, "sfen 8k/9/7G1/9/9/9/4P4/9/4K4 b P 1");
        assert!(!b.is_legal("P*5d") && b.is_legal("P*4d"));
        let mate = board(Game::Shogi, "sfen 7lk/9/8G/7N1/9/9/9/9/4K4 b P 1");
        assert!(!mate.is_legal("P*1b"), "打ち歩詰め");
        assert!(!mate.is_legal("p*5e"));
        let b = board(Game::Chess, "fen 4k3/P7/8/8/8/8/8/R3K2R w KQ - 0 1");
        for m in ["a7a8", "a7a8p", "a7a8k", "e1e3", "0000", "(none)", "a1a1"] {
            assert!(!b.is_legal(m), "{m}");
        }
        assert!(b.is_legal("e1g1") && b.is_legal("e1c1") && b.is_legal("a7a8q") && b.is_legal("e1h1"));
    }

    #[test]
    fn sides_and_plies_are_counted() {
        let b = board(Game::Shogi, "startpos moves 7g7f 3c3d 2g2f");
        assert_eq!((b.side(), b.ply()), (Color::White, 4));
        assert_eq!(board(Game::Chess, "startpos").side(), Color::White);
        assert_eq!(board(Game::OtherUci, "startpos moves a1b1x").side(), Color::Black);
        let b = board(Game::Shogi, "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 0");
        assert_eq!(b.side(), Color::White);
        let (b, problem) = Board::new(Game::Shogi, &Position::parse("startpos moves 7g7f 7g7f 2g2f 8c8d"));
        assert!(problem.unwrap().what.starts_with("move 2 of the position, '7g7f', is illegal"));
        assert_eq!((b.side(), b.checks_moves()), (Color::Black, false));
        assert!(b.is_legal("7g7f") && !b.is_legal("resign"));
        // the words of a damaged file or line may be long
        let (long, not_a_move) = ("x".repeat(5_000), Position::parse(&format!("startpos moves {}", "y".repeat(5_000))));
        for game in [Game::Shogi, Game::Minishogi, Game::Chess] {
            let not_a_position = Position { start: Some(long.clone()), ..Position::default() };
            for position in [&not_a_position, &not_a_move] {
                let (_, problem) = Board::new(game, position);
                assert!(problem.is_some_and(|problem| problem.to_string().len() < 300), "{game:?}");
            }
        }
        let (_, problem) = Board::new(Game::Shogi, &Position::parse("sfen rbsgk/4p/5/P4/KGSBR b - 1"));
        assert!(problem.unwrap().what.contains("is not shogi"));
        for board in [
            "4k4/9/9/9/9/9/9/9/4K4 b 99P 1",
            "4k4/9/9/9/9/9/9/9/4K4 b 2K 1",
            "4k4/9/9/9/9/9/9/9/4K4 b R33333333333 1",
            "99/9/9/9/9/9/9/9/4K4 b - 1",
        ] {
            let (_, problem) = Board::new(Game::Shogi, &Position::parse(&format!("sfen {board}")));
            assert!(problem.unwrap().what.contains("is not shogi"), "{board}");
        }
    }

    #[test]
    fn declarations_are_counted() {
        // Black's king and ten others in the camp; two dragons and two horses are 20 points, eight pawns 8: 28
        let good = "sfen 1+R+B+P+P+PK2/+P+P+P+P+P4/+B+R7/9/9/9/9/9/k8 b - 1";
        assert!(board(Game::Shogi, good).may_declare());
        let poor = "sfen 1+R+B+P+P+PK2/+P+P+P+P5/+B+R7/9/9/9/9/9/k8 b - 1";
        assert!(!board(Game::Shogi, poor).may_declare());
        assert!(board(Game::Shogi, "sfen 1+R+B+P+P+PK2/+P+P+P+P5/+B+R7/9/9/9/9/9/k8 b P 1").may_declare());
        assert!(!board(Game::Shogi, "startpos").may_declare());
        assert!(!board(Game::Shogi, "sfen 1+R+B+P+P+PK2/+P+P+P+P+P1g2/+B+R7/9/9/9/9/9/k8 b - 1").may_declare());
    }
}
