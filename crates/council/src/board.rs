//! The legal moves of a position. Moves are texts in the notation of the protocol.

use cozy_chess::util::{display_uci_move, parse_uci_move};
use haitaka::{BitBoard, Piece};
use serde::Deserialize;
use strum::{EnumString, IntoStaticStr};

use crate::usi::{Position, Protocol, Start};
use evalcurve_core::types::Color;

/// The game that a council plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Game {
    /// Shogi, by USI.
    #[default]
    Shogi,
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
            Self::Shogi | Self::OtherUsi => Protocol::Usi,
            Self::Chess | Self::OtherUci => Protocol::Uci,
        }
    }

    /// The name in configurations and logs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A position with its legal moves.
#[derive(Debug, Clone)]
pub struct Board {
    rules: Rules,
    /// Moves since the start position.
    plies: u32,
    side: Color,
}

#[derive(Debug, Clone)]
enum Rules {
    Shogi(Box<haitaka::Board>),
    Chess(Box<cozy_chess::Board>),
    /// The rules do not cover this position: any move is allowed.
    Unknown,
}

impl Board {
    /// The board after the moves of a position. If the position cannot be read or one of its moves is illegal, the
    /// board checks nothing, and the text says why.
    pub fn new(game: Game, position: &Position) -> (Self, Option<String>) {
        let text = match &position.start {
            Start::Startpos => None,
            Start::Text(text) => Some(text.as_str()),
        };
        let (rules, mut problem) = match (game, text) {
            (Game::Shogi, None) => (Rules::Shogi(Box::new(haitaka::Board::startpos())), None),
            (Game::Shogi, Some(text)) => shogi(text),
            (Game::Chess, None) => (Rules::Chess(Box::default()), None),
            (Game::Chess, Some(text)) => chess(text),
            (Game::OtherUsi | Game::OtherUci, _) => (Rules::Unknown, None),
        };
        let black = match (&rules, text) {
            (Rules::Shogi(b), _) => b.side_to_move() == haitaka::Color::Black,
            (Rules::Chess(b), _) => b.side_to_move() == cozy_chess::Color::Black,
            (Rules::Unknown, Some(text)) => text.split_whitespace().nth(1) != Some("w"),
            (Rules::Unknown, None) => game != Game::OtherUci,
        };
        let mut board = Self { side: if black { Color::Black } else { Color::White }, plies: 0, rules };
        for (i, m) in position.moves.iter().enumerate() {
            if !board.play(m) {
                problem = Some(format!("move {} of the position, '{m}', is illegal; moves are not checked", i + 1));
                board.rules = Rules::Unknown;
                board.play(m);
            }
        }
        (board, problem)
    }

    /// The side to move.
    pub fn side(&self) -> Color {
        self.side
    }

    /// The number of the next move, from 1, counted from the start of the position.
    pub fn ply(&self) -> u32 {
        self.plies + 1
    }

    /// Whether moves are checked.
    pub fn checks_moves(&self) -> bool {
        !matches!(self.rules, Rules::Unknown)
    }

    /// All legal moves; empty if moves are not checked.
    pub fn legal_moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        match &self.rules {
            Rules::Shogi(board) => {
                board.generate_moves(|of_piece| {
                    moves.extend(of_piece.into_iter().map(|m| m.to_string()));
                    false
                });
            }
            Rules::Chess(board) => {
                board.generate_moves(|of_piece| {
                    moves.extend(of_piece.into_iter().map(|m| display_uci_move(board, m).to_string()));
                    false
                });
            }
            Rules::Unknown => {}
        }
        moves
    }

    /// Whether a move is legal. If moves are not checked, whether it looks like a move.
    pub fn is_legal(&self, text: &str) -> bool {
        match &self.rules {
            Rules::Shogi(board) => shogi_move(text)
                .is_some_and(|m| board.generate_moves(|of_piece| of_piece.into_iter().any(|legal| legal == m))),
            Rules::Chess(board) => chess_move(board, text).is_some(),
            Rules::Unknown => {
                (4..=7).contains(&text.len())
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || "*+@=-".contains(c))
                    && text.chars().any(|c| c.is_ascii_digit())
                    && text != "0000"
            }
        }
    }

    /// Plays a move. If it is illegal, returns false and changes nothing.
    pub fn play(&mut self, text: &str) -> bool {
        let played = match &mut self.rules {
            Rules::Shogi(board) => shogi_move(text).is_some_and(|m| board.try_play(m).is_ok()),
            Rules::Chess(board) => chess_move(board, text).is_some_and(|m| board.try_play(m).is_ok()),
            Rules::Unknown => true,
        };
        if played {
            self.side = self.side.opponent();
            self.plies += 1;
        }
        played
    }

    /// Whether the side to move may declare a win by entering king (入玉宣言): its king is in the last three ranks and
    /// not in check, with ten other pieces there, and those and the pieces in hand are worth 28 points for Black or 27
    /// for White (CSA's 27-point rule: rooks and bishops count 5, all others 1).
    pub fn may_declare(&self) -> bool {
        let Rules::Shogi(board) = &self.rules else { return false };
        let side = board.side_to_move();
        let camp = haitaka::prom_zone(side) & board.colors(side);
        if !board.checkers().is_empty() || !camp.has(board.king(side)) {
            return false;
        }
        let great = |set: BitBoard| {
            [Piece::Rook, Piece::Bishop, Piece::PRook, Piece::PBishop]
                .iter()
                .map(|&p| (board.pieces(p) & set).len())
                .sum::<u32>()
        };
        let others = camp.len().saturating_sub(1);
        let hand: u32 = Piece::ALL
            .iter()
            .zip(board.hand(side))
            .map(|(&piece, &count)| u32::from(count) * if matches!(piece, Piece::Rook | Piece::Bishop) { 5 } else { 1 })
            .sum();
        let points = others + 4 * great(camp) + hand;
        others >= 10 && points >= if side == haitaka::Color::Black { 28 } else { 27 }
    }
}

/// Reads an SFEN without its move number: it should count from 1, but some programs write 0.
fn shogi(text: &str) -> (Rules, Option<String>) {
    let fields: Vec<&str> = text.split_whitespace().take(3).collect();
    match haitaka::Board::from_sfen(&fields.join(" ")) {
        Ok(board) => (Rules::Shogi(Box::new(board)), None),
        Err(e) => (Rules::Unknown, Some(format!("the position '{text}' is not shogi ({e}); moves are not checked"))),
    }
}

/// Reads a FEN, whose counters may be missing.
fn chess(text: &str) -> (Rules, Option<String>) {
    let mut fields: Vec<&str> = text.split_whitespace().collect();
    if let given @ 4..=5 = fields.len() {
        fields.extend(&["0", "1"][given - 4..]);
    }
    let text = fields.join(" ");
    match cozy_chess::Board::from_fen(&text, false).or_else(|_| cozy_chess::Board::from_fen(&text, true)) {
        Ok(board) => (Rules::Chess(Box::new(board)), None),
        Err(e) => (Rules::Unknown, Some(format!("the position '{text}' is not chess ({e}); moves are not checked"))),
    }
}

fn shogi_move(text: &str) -> Option<haitaka::Move> {
    // the crate also accepts `p*5e`, which no program writes
    let drop = text.as_bytes().get(1) == Some(&b'*');
    let valid = text.is_ascii() && (4..=5).contains(&text.len()) && (!drop || text.as_bytes()[0].is_ascii_uppercase());
    if valid { text.parse().ok() } else { None }
}

/// The move, if it is legal.
fn chess_move(board: &cozy_chess::Board, text: &str) -> Option<cozy_chess::Move> {
    if !text.is_ascii() || !(4..=5).contains(&text.len()) {
        return None;
    }
    let m = parse_uci_move(board, text).ok()?;
    // the crate reads promotions to pawn or king as moves without promotion
    if text.len() == 5 && m.promotion.is_none() {
        return None;
    }
    board.generate_moves(|of_piece| of_piece.into_iter().any(|legal| legal == m)).then_some(m)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(game: Game, text: &str) -> Board {
        let (board, problem) = Board::new(game, &Position::parse(text));
        assert_eq!(problem, None, "{text}");
        board
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

    #[test]
    fn illegal_moves_are_recognized() {
        let b = board(Game::Shogi, "startpos");
        for m in ["7g7e", "7g7f+", "P*5e", "resign", "win", "", "0000", "７六歩", "7g", "7g7f7", "a1a1", "0000"] {
            assert!(!b.is_legal(m), "{m}");
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
        assert!(problem.unwrap().starts_with("move 2 of the position, '7g7f', is illegal"));
        assert_eq!((b.side(), b.checks_moves()), (Color::Black, false));
        assert!(b.is_legal("7g7f") && !b.is_legal("resign"));
        let (_, problem) = Board::new(Game::Shogi, &Position::parse("sfen rbsgk/4p/5/P4/KGSBR b - 1"));
        assert!(problem.unwrap().contains("is not shogi"));
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
