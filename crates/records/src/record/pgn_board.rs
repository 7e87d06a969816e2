//! A chessboard that plays written moves, as far as counting what stands on it needs it.
//!
//! Moves are not checked to be legal. The piece that a move means is the only one of its kind that reaches the square;
//! where several do, the only one that does not leave its king in check (the standard of 1994, 8.2.3.4).

use evalcurve_core::types::Color;

const PAWN: u8 = 1;
const KNIGHT: u8 = 2;
const BISHOP: u8 = 3;
const ROOK: u8 = 4;
const QUEEN: u8 = 5;
const KING: u8 = 6;
/// Added to a piece of Black.
const BLACK: u8 = 8;

/// What the pieces count, by their code: P, N, B, R, Q and no count for kings.
const VALUES: [u16; 7] = [0, 1, 3, 3, 5, 9, 0];

const START: &[u8] = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// A square as 8 times its rank plus its file, both from 0 at a1.
type Square = usize;

/// See the [module](self).
#[derive(Debug, Clone)]
pub struct ChessBoard {
    squares: [u8; 64],
    side: Color,
    /// Files of the rooks that may castle, by colour: on the h-side of the king, on the a-side.
    rooks: [[Option<usize>; 2]; 2],
}

impl Default for ChessBoard {
    fn default() -> Self {
        // the text is right; an empty board would play no move
        Self::read_fen(START).unwrap_or(Self { squares: [0; 64], side: Color::White, rooks: [[None; 2]; 2] })
    }
}

fn piece_code(letter: u8) -> Option<u8> {
    b"PNBRQK".iter().position(|l| *l == letter).map(|i| i as u8 + 1)
}

fn file_of(letter: u8) -> Option<usize> {
    matches!(letter, b'a'..=b'h').then(|| usize::from(letter - b'a'))
}

fn rank_of(digit: u8) -> Option<usize> {
    matches!(digit, b'1'..=b'8').then(|| usize::from(digit - b'1'))
}

/// The rank on which a side's pieces begin.
fn home(side: Color) -> usize {
    if side == Color::White { 0 } else { 7 }
}

impl ChessBoard {
    /// Reads a FEN, also as X-FEN and Shredder-FEN write castling in Chess960; its counters do not matter. `None` where it
    /// is none.
    pub fn read_fen(fen: &[u8]) -> Option<Self> {
        let mut fields = fen.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty());
        let mut board = Self { squares: [0; 64], side: Color::White, rooks: [[None; 2]; 2] };
        let mut ranks = 8;
        for row in fields.next()?.split(|b| *b == b'/') {
            ranks = usize::checked_sub(ranks, 1)?;
            let mut file = 0;
            for &cell in row {
                if let b'1'..=b'8' = cell {
                    file += usize::from(cell - b'0');
                    continue;
                }
                let code = piece_code(cell.to_ascii_uppercase())?;
                let black = if cell.is_ascii_lowercase() { BLACK } else { 0 };
                *board.squares.get_mut(8 * ranks + file).filter(|_| file < 8)? = code + black;
                file += 1;
            }
            if file != 8 {
                return None;
            }
        }
        board.side = match fields.next()? {
            b"w" => Color::White,
            b"b" => Color::Black,
            _ => return None,
        };
        for &letter in fields.next().unwrap_or(b"-").iter().filter(|l| **l != b'-') {
            board.allow_castling(letter)?;
        }
        (ranks == 0).then_some(board)
    }

    /// `K` and `Q` are the outermost rooks, other letters the file of one.
    fn allow_castling(&mut self, letter: u8) -> Option<()> {
        let side = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let row = 8 * home(side);
        let is = |file: &usize, code| self.squares.get(row + file) == Some(&self.own(code, side));
        let king = (0..8).find(|file| is(file, KING))?;
        let file = match letter.to_ascii_lowercase() {
            b'k' => (king + 1..8).rev().find(|file| is(file, ROOK))?,
            b'q' => (0..king).find(|file| is(file, ROOK))?,
            other => file_of(other).filter(|file| is(file, ROOK))?,
        };
        self.rooks[side.index()][usize::from(file < king)] = Some(file);
        Some(())
    }

    /// 9Q + 5R + 3B + 3N + P of both sides, 78 at the start of a game.
    pub fn material(&self) -> u16 {
        self.squares.iter().filter_map(|piece| VALUES.get(usize::from(piece & 7))).sum()
    }

    /// Plays a move that is spelt as `pgn_move::san` spells it. `None`, and the board as it was, where no piece or more
    /// than one can be meant.
    pub fn play(&mut self, word: u64) -> Option<()> {
        let bytes = word.to_be_bytes();
        let text = &bytes[bytes.iter().take_while(|b| **b == 0).count()..];
        match text {
            b"OO" => return self.castle(0),
            b"OOO" => return self.castle(1),
            _ => {}
        }
        let (piece, text) = match text {
            [letter, rest @ ..] if letter.is_ascii_uppercase() => (Some(piece_code(*letter)?), rest),
            _ => (None, text),
        };
        let (promoted, text) = match text {
            [rest @ .., letter] if letter.is_ascii_alphabetic() => {
                (Some(piece_code(letter.to_ascii_uppercase())?), rest)
            }
            _ => (None, text),
        };
        let [origin @ .., file, rank] = text else { return None };
        let to = 8 * rank_of(*rank)? + file_of(*file)?;
        let (from_file, from_rank) = match origin {
            [] => (None, None),
            [one] if one.is_ascii_digit() => (None, Some(rank_of(*one)?)),
            [one] => (Some(file_of(*one)?), None),
            [file, rank] => (Some(file_of(*file)?), Some(rank_of(*rank)?)),
            _ => return None,
        };
        let side = self.side;
        // `g1f3` is whatever stands there, `f3` a pawn
        let piece = match (piece, from_file.zip(from_rank)) {
            (Some(piece), _) => piece,
            (None, None) => PAWN,
            (None, Some((file, rank))) => *self.squares.get(8 * rank + file)? & 7,
        };
        let own = self.own(piece, side);
        let candidates = (0..64).filter(|from| {
            self.squares.get(*from) == Some(&own)
                && from_file.is_none_or(|file| file == from % 8)
                && from_rank.is_none_or(|rank| rank == from / 8)
        });
        let mut reaching = candidates.clone().filter(|from| self.reaches(*from, to));
        let from = match (reaching.next(), reaching.next()) {
            (Some(from), None) => from,
            (Some(first), Some(second)) => {
                let mut safe = [first, second].into_iter().chain(reaching).filter(|from| self.is_safe(*from, to));
                match (safe.next(), safe.next()) {
                    (Some(from), None) => from,
                    _ => return None,
                }
            }
            // `e1g1`, or `e1h1` where Chess960 is played
            (None, _) if piece == KING && from_file.is_some() && from_rank.is_some() => {
                let from = candidates.clone().next()?;
                let onto_rook = self.squares.get(to) == Some(&self.own(ROOK, side));
                let is_castling = from / 8 == to / 8 && (onto_rook || from.abs_diff(to) == 2);
                return if is_castling { self.castle(usize::from(to < from)) } else { None };
            }
            (None, _) => return None,
        };
        // a pawn becomes a piece on the last rank, and only there
        let last = piece == PAWN && to / 8 == home(side.opponent());
        let becomes = match promoted {
            Some(code @ KNIGHT..=QUEEN) if last => code,
            None if !last => piece,
            _ => return None,
        };
        self.put(from, to, self.own(becomes, side));
        if piece == KING {
            self.rooks[side.index()] = [None; 2];
        }
        self.side = side.opponent();
        Some(())
    }

    fn own(&self, code: u8, side: Color) -> u8 {
        if side == Color::Black { code + BLACK } else { code }
    }

    /// Moves what stands on `from`, as `piece`; a pawn that was passed goes, too.
    fn put(&mut self, from: Square, to: Square, piece: u8) {
        if self.squares[from] & 7 == PAWN && from % 8 != to % 8 && self.squares[to] == 0 {
            self.squares[from / 8 * 8 + to % 8] = 0;
        }
        self.squares[from] = 0;
        self.squares[to] = piece;
    }

    /// Castles with the rook on the h-side (0) or the a-side (1).
    fn castle(&mut self, wing: usize) -> Option<()> {
        let (side, row) = (self.side, 8 * home(self.side));
        let (king, rook) = (self.own(KING, side), self.own(ROOK, side));
        let rook_from = row + (*self.rooks[side.index()].get(wing)?)?;
        let king_from = (row..row + 8).find(|square| self.squares[*square] == king)?;
        let (king_to, rook_to) = if wing == 0 { (row + 6, row + 5) } else { (row + 2, row + 3) };
        let way = |from: Square, to: Square| from.min(to)..=from.max(to);
        let free = |square: Square| square == king_from || square == rook_from || self.squares[square] == 0;
        if self.squares[rook_from] != rook || !way(king_from, king_to).chain(way(rook_from, rook_to)).all(free) {
            return None;
        }
        self.squares[king_from] = 0;
        self.squares[rook_from] = 0;
        self.squares[king_to] = king;
        self.squares[rook_to] = rook;
        self.rooks[side.index()] = [None; 2];
        self.side = side.opponent();
        Some(())
    }

    /// Does the piece on `from` move to `to`, checks and castling aside?
    fn reaches(&self, from: Square, to: Square) -> bool {
        let (piece, target) = (self.squares[from], self.squares[to]);
        let black = piece & BLACK != 0;
        if from == to || (target != 0 && (target & BLACK != 0) == black) {
            return false;
        }
        let (files, ranks) = ((from % 8).abs_diff(to % 8), (from / 8).abs_diff(to / 8));
        match piece & 7 {
            PAWN => self.pawn_reaches(from, to, black),
            KNIGHT => files * ranks == 2,
            BISHOP => files == ranks && self.is_clear(from, to),
            ROOK => files * ranks == 0 && self.is_clear(from, to),
            QUEEN => (files == ranks || files * ranks == 0) && self.is_clear(from, to),
            KING => files.max(ranks) == 1,
            _ => false,
        }
    }

    fn pawn_reaches(&self, from: Square, to: Square, black: bool) -> bool {
        let forward = if black { to + 8 == from || to + 16 == from } else { to == from + 8 || to == from + 16 };
        if forward {
            let home = if black { 6 } else { 1 };
            let single = from.abs_diff(to) == 8;
            return self.squares[to] == 0 && (single || (from / 8 == home && self.squares[(from + to) / 2] == 0));
        }
        let next_rank = if black { to / 8 + 1 == from / 8 } else { to / 8 == from / 8 + 1 };
        if !next_rank || (from % 8).abs_diff(to % 8) != 1 {
            return false;
        }
        // onto a piece of the other side, or past a pawn of theirs on the fifth rank
        let (passed, fifth) = if black { (PAWN, 3) } else { (PAWN + BLACK, 4) };
        self.squares[to] != 0 || (from / 8 == fifth && self.squares[from / 8 * 8 + to % 8] == passed)
    }

    /// Is nothing between two squares of one line?
    fn is_clear(&self, from: Square, to: Square) -> bool {
        let (low, high) = (from.min(to), from.max(to));
        let step = match ((high / 8 - low / 8), (low % 8).cmp(&(high % 8))) {
            (0, _) => 1,
            (_, std::cmp::Ordering::Equal) => 8,
            (_, std::cmp::Ordering::Less) => 9,
            (_, std::cmp::Ordering::Greater) => 7,
        };
        (low + step..high).step_by(step).all(|square| self.squares[square] == 0)
    }

    /// Is the king of the side to move safe behind this move?
    fn is_safe(&self, from: Square, to: Square) -> bool {
        let mut after = self.clone();
        after.put(from, to, self.squares[from]);
        let king = self.own(KING, self.side);
        let Some(king) = (0..64).find(|square| after.squares[*square] == king) else { return true };
        // what moves onto the king's square gives check
        !(0..64).any(|from| after.squares[from] != 0 && after.reaches(from, king))
    }
}

#[cfg(test)]
mod tests {
    use super::super::pgn_move::san;
    use super::*;

    /// The board after these moves; panics with the move that is not played.
    fn after(fen: Option<&str>, moves: &str) -> ChessBoard {
        let mut board = fen.map_or_else(ChessBoard::default, |fen| ChessBoard::read_fen(fen.as_bytes()).unwrap());
        for text in moves.split_whitespace() {
            play(&mut board, text).unwrap_or_else(|| panic!("{text} is not played"));
        }
        board
    }

    fn play(board: &mut ChessBoard, text: &str) -> Option<()> {
        board.play(san(text.as_bytes()).unwrap().1)
    }

    fn shown(board: &ChessBoard) -> String {
        let row = |rank: usize| -> String {
            let cell = |p: &u8| char::from(b".PNBRQK??pnbrqk?"[usize::from(*p)]);
            board.squares[8 * rank..8 * rank + 8].iter().map(cell).collect()
        };
        (0..8).rev().map(row).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn captures_take_material_away() {
        assert_eq!(ChessBoard::default().material(), 78);
        assert_eq!(after(None, "e4 d5 exd5 Qxd5 Nc3 Qa5").material(), 76);
        // past a pawn, by White and by Black
        let board = after(None, "e4 a6 e5 d5 exd6");
        assert_eq!(
            (board.material(), shown(&board).as_str()),
            (77, "rnbqkbnr/.pp.pppp/p..P..../......../......../......../PPPP.PPP/RNBQKBNR")
        );
        assert_eq!(after(None, "a3 d5 a4 d4 e4 dxe3").material(), 77);
        // a pawn becomes a queen, a knight
        let board = after(Some("1n5k/P1P5/8/8/8/8/8/K7 w - - 0 1"), "axb8=Q+ Kh7 c8N");
        assert_eq!(
            (board.material(), shown(&board).as_str()),
            (12, ".QN...../.......k/......../......../......../......../......../K.......")
        );
    }

    #[test]
    fn a_pinned_piece_is_not_meant() {
        // the knight on e2 is pinned by the rook on e8, the one on b1 is free
        let fen = "4r2k/8/8/8/8/8/4N3/1N2K3 w - - 0 1";
        let board = after(Some(fen), "Nc3");
        assert!(shown(&board).ends_with("..N...../....N.../....K..."), "{}", shown(&board));
        // with the king off the file both may be meant
        let mut board = after(Some("4r2k/8/8/8/8/8/4N3/1N1K4 w - - 0 1"), "");
        assert_eq!(play(&mut board, "Nc3"), None);
        assert_eq!(shown(&board).matches('N').count(), 2);
        assert!(play(&mut board, "Nec3").is_some());
        // by rank, and by file and rank
        assert!(
            shown(&after(Some("k7/8/3R4/8/8/8/8/K2R4 w - - 0 1"), "R1d3")).ends_with("/...R..../......../K.......")
        );
        let board = after(Some("8/8/k7/8/8/8/1Q6/K2Q2Q1 w - - 0 1"), "Qd1d4");
        assert!(shown(&board).ends_with("/...Q..../......../.Q....../K.....Q."), "{}", shown(&board));
    }

    #[test]
    fn castling_also_of_chess960() {
        let board = after(None, "e4 e5 Nf3 Nf6 Be2 Be7 O-O 0-0");
        assert_eq!(shown(&board), "rnbq.rk./ppppbppp/.....n../....p.../....P.../.....N../PPPPBPPP/RNBQ.RK.");
        for king in ["O-O-O", "e1c1", "e1a1", "Ke1c1"] {
            let board = after(Some("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"), king);
            assert!(shown(&board).ends_with("/..KR...."), "{king}: {}", shown(&board));
        }
        // the king passes over its rook; the inner rook castles, by Shredder's letter
        assert!(shown(&after(Some("4k3/8/8/8/8/8/8/1RK5 w Q - 0 1"), "O-O-O")).ends_with("/..KR...."));
        assert!(shown(&after(Some("4k3/8/8/8/8/8/8/K4R1R w F - 0 1"), "O-O")).ends_with("/.....RKR"));
        assert!(shown(&after(Some("4k3/8/8/8/8/8/8/RK5R w K - 0 1"), "O-O")).ends_with("/R....RK."));
        // without the right, or after the king has moved
        let mut board = after(Some("4k3/8/8/8/8/8/8/4K2R w - - 0 1"), "");
        assert_eq!(play(&mut board, "O-O"), None);
        let mut board = after(Some("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), "Ke2 Ke7 Ke1 Ke8");
        assert_eq!(play(&mut board, "O-O"), None);
    }

    #[test]
    fn long_moves_and_those_of_uci() {
        let board = after(None, "e2e4 e7-e5 g1f3 Nb8-c6 Pd2d4 exd4 f1b5 a7xa6".replace("a7xa6", "a6").as_str());
        assert_eq!(shown(&board), "r.bqkbnr/.ppp.ppp/p.n...../.B....../...pP.../.....N../PPP..PPP/RNBQK..R");
        assert_eq!(after(Some("7k/P7/8/8/8/8/8/K7 w - - 0 1"), "a7a8b").material(), 3);
    }

    #[test]
    fn what_nobody_can_play_leaves_the_board_alone() {
        let start = shown(&ChessBoard::default());
        for text in ["e5", "Nd2", "exd3", "Ra3", "Bb5", "Qd1", "e2e5", "e8=Q", "e4=Q", "O-O", "Kxe1", "P@e4"] {
            let mut board = ChessBoard::default();
            let Some((_, word, _)) = san(text.as_bytes()) else { panic!("{text}") };
            assert_eq!((board.play(word), shown(&board)), (None, start.clone()), "{text}");
        }
        let mut board = after(Some("7k/P7/8/8/8/8/8/K7 w - - 0 1"), "");
        assert_eq!((play(&mut board, "a8"), play(&mut board, "a8=K")), (None, None));
        for fen in ["", "8/8 w", "9/8/8/8/8/8/8/8 w", "8/8/8/8/8/8/8/8 x", "8/8/8/8/8/8/8/7z w", "8/8/8/8/8/8/8/8 w K"]
        {
            assert!(ChessBoard::read_fen(fen.as_bytes()).is_none(), "{fen}");
        }
    }
}
