//! The legal moves of a position. Moves are texts in the notation of the protocol.

use cozy_chess::util::{display_uci_move, parse_uci_move};
use haitaka::{BitBoard, Piece};
use serde::Deserialize;
use strum::{EnumString, IntoStaticStr};

use crate::usi::{Position, Protocol};
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
    /// Castling is written as the king taking its rook, as in Chess960, instead of the king's two steps.
    king_takes_rook: bool,
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
    /// Material on the board in chess, pawns and pieces of both sides counted 1, 3, 3, 5, 9; `None` in other games.
    pub fn material(&self) -> Option<u32> {
        use cozy_chess::Piece::{Bishop, Knight, Pawn, Queen, Rook};
        let Rules::Chess(board) = &self.rules else { return None };
        let counts = [(Pawn, 1), (Knight, 3), (Bishop, 3), (Rook, 5), (Queen, 9)];
        Some(counts.into_iter().map(|(piece, worth)| worth * board.pieces(piece).len()).sum())
    }

    /// The board after the moves of a position. If the position cannot be read or one of its moves is illegal, the
    /// board checks nothing, and the text says why.
    ///
    /// The notation of castling is that of standard chess unless the position has castling rights that only Chess960
    /// has; see [`Board::chess960`].
    pub fn new(game: Game, position: &Position) -> (Self, Option<String>) {
        Self::in_notation(game, position, false)
    }

    /// [`Board::new`] for chess in the notation of Chess960 (`UCI_Chess960`): castling is the king taking its rook.
    pub fn chess960(position: &Position) -> (Self, Option<String>) {
        Self::in_notation(Game::Chess, position, true)
    }

    fn in_notation(game: Game, position: &Position, chess960: bool) -> (Self, Option<String>) {
        let text = position.start.as_deref();
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
        let king_takes_rook = chess960 || matches!(&rules, Rules::Chess(board) if !has_standard_castling(board));
        let side = if black { Color::Black } else { Color::White };
        let mut board = Self { side, plies: 0, rules, king_takes_rook };
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

    /// Whether castling is written as the king taking its rook.
    pub fn king_takes_rook(&self) -> bool {
        self.king_takes_rook
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
                    moves.extend(of_piece.into_iter().map(|m| chess_text(board, m, self.king_takes_rook)));
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
            Rules::Chess(board) => chess_move(board, text, self.king_takes_rook).is_some(),
            Rules::Unknown => {
                (4..=7).contains(&text.len())
                    && text.chars().all(|c| c.is_ascii_alphanumeric() || "*+@=-".contains(c))
                    && text.chars().any(|c| c.is_ascii_digit())
                    && text != "0000"
            }
        }
    }

    /// A legal move in the notation of the board, since engines may write castling in either way. `None` if it is
    /// illegal.
    pub fn normalized(&self, text: &str) -> Option<String> {
        match &self.rules {
            Rules::Chess(board) => {
                let m = chess_move(board, text, self.king_takes_rook)?;
                Some(chess_text(board, m, self.king_takes_rook))
            }
            _ => self.is_legal(text).then(|| text.to_owned()),
        }
    }

    /// Plays a move. If it is illegal, returns false and changes nothing.
    pub fn play(&mut self, text: &str) -> bool {
        let played = match &mut self.rules {
            Rules::Shogi(board) => shogi_move(text).is_some_and(|m| board.try_play(m).is_ok()),
            Rules::Chess(board) => {
                chess_move(board, text, self.king_takes_rook).is_some_and(|m| board.try_play(m).is_ok())
            }
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

/// Reads a FEN, whose counters may be missing. Castling rights are those of FEN, X-FEN or Shredder-FEN.
fn chess(text: &str) -> (Rules, Option<String>) {
    let mut fields: Vec<&str> = text.split_whitespace().collect();
    if let given @ 4..=5 = fields.len() {
        fields.extend(&["0", "1"][given - 4..]);
    }
    let rights =
        if let [placement, _, rights, ..] = fields[..] { rook_files(placement, rights) } else { String::new() };
    if let Some(field) = fields.get_mut(2) {
        *field = &rights;
    }
    match cozy_chess::Board::from_fen(&fields.join(" "), true) {
        Ok(board) => (Rules::Chess(Box::new(board)), None),
        Err(e) => (Rules::Unknown, Some(format!("the position '{text}' is not chess ({e}); moves are not checked"))),
    }
}

/// Castling rights with the files of the rooks, as in Shredder-FEN: K and Q, as in FEN and X-FEN, are the outermost
/// rooks on either side of the king. Any other letter, or one without such a rook, remains.
fn rook_files(placement: &str, rights: &str) -> String {
    let letter = |right: char| {
        let white = right.is_ascii_uppercase();
        let row = if white { placement.rsplit('/').next() } else { placement.split('/').next() }?;
        let squares = row.chars().flat_map(|c| {
            let run = c.to_digit(10).map_or(1, |run| run.min(8));
            std::iter::repeat_n(c, run as usize)
        });
        let squares: Vec<char> = squares.collect();
        let cased = |c: char| if white { c.to_ascii_uppercase() } else { c };
        let king = squares.iter().position(|c| *c == cased('k'))?;
        let is_rook = |c: &char| *c == cased('r');
        let file = match right.to_ascii_lowercase() {
            'k' => squares.iter().rposition(is_rook).filter(|file| *file > king)?,
            'q' => squares.iter().position(is_rook).filter(|file| *file < king)?,
            _ => return None,
        };
        Some(cased(char::from(b'a' + u8::try_from(file).ok()?)))
    };
    rights.chars().map(|right| letter(right).unwrap_or(right)).collect()
}

/// Whether all castling rights are those of standard chess: kings on the e-file, rooks on the a-file and the h-file.
fn has_standard_castling(board: &cozy_chess::Board) -> bool {
    use cozy_chess::{Color, File};
    [Color::White, Color::Black].into_iter().all(|color| {
        let rights = board.castle_rights(color);
        let none = rights.short.is_none() && rights.long.is_none();
        let rooks = rights.short.is_none_or(|f| f == File::H) && rights.long.is_none_or(|f| f == File::A);
        none || (rooks && board.king(color).file() == File::E)
    })
}

fn shogi_move(text: &str) -> Option<haitaka::Move> {
    // the crate also accepts `p*5e`, which no program writes
    let drop = text.as_bytes().get(1) == Some(&b'*');
    let valid = text.is_ascii() && (4..=5).contains(&text.len()) && (!drop || text.as_bytes()[0].is_ascii_uppercase());
    if valid { text.parse().ok() } else { None }
}

fn chess_text(board: &cozy_chess::Board, m: cozy_chess::Move, king_takes_rook: bool) -> String {
    if king_takes_rook { m.to_string() } else { display_uci_move(board, m).to_string() }
}

/// The move, if it is legal. Castling may be written in either way; what is both is read in the notation of the board.
fn chess_move(board: &cozy_chess::Board, text: &str, king_takes_rook: bool) -> Option<cozy_chess::Move> {
    if !text.is_ascii() || !(4..=5).contains(&text.len()) {
        return None;
    }
    let (as_written, by_steps) = (text.parse(), parse_uci_move(board, text));
    let readings = if king_takes_rook { [as_written, by_steps] } else { [by_steps, as_written] };
    readings.into_iter().flatten().find(|m| {
        // the crate reads promotions to pawn or king as moves without promotion
        (text.len() == 4 || m.promotion.is_some())
            && board.generate_moves(|of_piece| of_piece.into_iter().any(|legal| legal == *m))
    })
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
        assert!(Board::new(Game::Chess, &Position::parse("fen 4k3/8/8/8/8/8/8/4K3 w K - 0 1")).1.is_some());
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
