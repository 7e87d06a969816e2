//! The start position of a shogi record, read as far as its identity needs it: which piece stands where.

use super::board::Board;
use super::identity::GameHash;
use evalcurve_core::types::Color;

/// The fourteen pieces as CSA writes them; the index is the code on the board.
pub(super) const PIECES: [[u8; 2]; 14] =
    [*b"FU", *b"KY", *b"KE", *b"GI", *b"KI", *b"KA", *b"HI", *b"OU", *b"TO", *b"NY", *b"NK", *b"NG", *b"UM", *b"RY"];

/// The fourteen names as bits of a 26 by 26 table.
const PIECE_BITS: [u64; 11] = {
    let mut bits = [0; 11];
    let mut i = 0;
    while i < PIECES.len() {
        let at = (PIECES[i][0] - b'A') as usize * 26 + (PIECES[i][1] - b'A') as usize;
        bits[at / 64] |= 1 << (at % 64);
        i += 1;
    }
    bits
};

/// Is this one of CSA's fourteen piece names?
#[inline(always)]
pub fn is_piece([p, q]: [u8; 2]) -> bool {
    let (p, q) = (usize::from(p.wrapping_sub(b'A')), usize::from(q.wrapping_sub(b'A')));
    if p >= 26 || q >= 26 {
        return false;
    }
    let at = p * 26 + q;
    PIECE_BITS[at / 64] >> (at % 64) & 1 == 1
}

fn piece_code(name: &[u8]) -> Option<u8> {
    PIECES.iter().position(|p| p == name).map(|i| i as u8 + 1)
}

/// The ranks of the even game as nearly every record writes them.
const EVEN_ROWS: [&[u8]; 9] = [
    b"-KY-KE-GI-KI-OU-KI-GI-KE-KY",
    b" * -HI *  *  *  *  * -KA * ",
    b"-FU-FU-FU-FU-FU-FU-FU-FU-FU",
    b" *  *  *  *  *  *  *  *  * ",
    b" *  *  *  *  *  *  *  *  * ",
    b" *  *  *  *  *  *  *  *  * ",
    b"+FU+FU+FU+FU+FU+FU+FU+FU+FU",
    b" * +KA *  *  *  *  * +HI * ",
    b"+KY+KE+GI+KI+OU+KI+GI+KE+KY",
];

/// A board under construction: squares as file and rank, a piece code from 1, plus 32 for White.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartPosition {
    board: [u8; 81],
    hands: [[u8; 7]; 2],
    /// The side that moves first.
    pub side_to_move: Color,
}

impl StartPosition {
    /// An empty board.
    pub fn empty() -> Self {
        Self { board: [0; 81], hands: [[0; 7]; 2], side_to_move: Color::Black }
    }

    const EVEN: Self = {
        let mut position = Self { board: [0; 81], hands: [[0; 7]; 2], side_to_move: Color::Black };
        let back: [u8; 9] = [2, 3, 4, 5, 8, 5, 4, 3, 2];
        let mut file = 0;
        while file < 9 {
            position.board[file] = back[file] + 32;
            position.board[2 * 9 + file] = 1 + 32;
            position.board[6 * 9 + file] = 1;
            position.board[8 * 9 + file] = back[file];
            file += 1;
        }
        // rank 2 and 8, index = rank * 9 + column from the left (file 9 first)
        position.board[9 + 1] = 7 + 32;
        position.board[9 + 7] = 6 + 32;
        position.board[7 * 9 + 1] = 6;
        position.board[7 * 9 + 7] = 7;
        position
    };

    /// The even game (平手).
    pub fn even() -> Self {
        Self::EVEN
    }

    /// Reads the text behind the `P` of one CSA statement (without the line end). `None` where it makes no sense.
    ///
    /// `I82HI22KA` (even game less these), `1-KY-KE…` (a rank; trailing blanks may be missing), `+00FU27OU` and
    /// `-00AL` (single pieces; `00` is the hand, `AL` all that is left).
    pub fn read_csa(&mut self, text: &[u8]) -> Option<()> {
        let (&kind, rest) = text.split_first()?;
        match kind {
            b'I' => {
                let side = self.side_to_move;
                *self = Self { side_to_move: side, ..Self::even() };
                for group in rest.chunks(4) {
                    let index = square(group.first()?, group.get(1)?)?;
                    let code = piece_code(group.get(2..4)?)?;
                    if self.board[index] & 31 != code {
                        return None;
                    }
                    self.board[index] = 0;
                }
            }
            b'1'..=b'9' => {
                let rank = usize::from(kind - b'1');
                if rest == EVEN_ROWS[rank] {
                    let row = rank * 9..rank * 9 + 9;
                    self.board[row.clone()].copy_from_slice(&Self::EVEN.board[row]);
                    return Some(());
                }
                let mut cells = rest.chunks(3);
                for column in 0..9 {
                    let cell = cells.next().unwrap_or(b" * ");
                    let code = match cell.first() {
                        Some(b'+') => piece_code(cell.get(1..3)?)?,
                        Some(b'-') => piece_code(cell.get(1..3)?)? + 32,
                        _ => match cell.trim_ascii() {
                            b"*" | b"" => 0,
                            _ => return None,
                        },
                    };
                    self.board[rank * 9 + column] = code;
                }
                if cells.any(|c| !c.trim_ascii().is_empty()) {
                    return None;
                }
            }
            b'+' | b'-' => {
                let side = usize::from(kind == b'-');
                for group in rest.trim_ascii_end().chunks(4) {
                    let name = group.get(2..4)?;
                    if group.get(..2)? == b"00" {
                        if name == b"AL" {
                            self.take_the_rest(side);
                            continue;
                        }
                        let code = piece_code(name)?;
                        let slot = self.hands[side].get_mut(usize::from(code) - 1)?;
                        *slot = slot.saturating_add(1);
                    } else {
                        let index = square(group.first()?, group.get(1)?)?;
                        self.board[index] = piece_code(name)? + if side == 1 { 32 } else { 0 };
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// All pieces of a set that are neither on the board nor in a hand go to `side`'s hand (never a king).
    fn take_the_rest(&mut self, side: usize) {
        const SET: [u8; 7] = [18, 4, 4, 4, 4, 2, 2];
        // promoted codes 9 to 14 back to 1, 2, 3, 4, 6, 7
        const BASE: [u8; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 6, 7];
        let mut used = [0u8; 9];
        for &cell in &self.board {
            used[usize::from(BASE[usize::from(cell & 31).min(14)])] += 1;
        }
        for kind in 0..7 {
            let in_hands = self.hands[0][kind].saturating_add(self.hands[1][kind]);
            let left = SET[kind].saturating_sub(used[kind + 1].saturating_add(in_hands));
            self.hands[side][kind] = self.hands[side][kind].saturating_add(left);
        }
    }

    /// Takes everything off the board; hands and side to move stay.
    pub(super) fn clear_board(&mut self) {
        self.board = [0; 81];
    }

    /// Puts a piece (its code from 1, or 0 for none) on rank and column, both counted from 0 at the upper left.
    pub(super) fn put(&mut self, rank: usize, column: usize, code: u8, color: Color) {
        if let Some(square) = self.board.get_mut(rank * 9 + column).filter(|_| column < 9) {
            *square = if code == 0 || color == Color::Black { code } else { code + 32 };
        }
    }

    /// Puts `count` pieces into a hand. `None` for what no hand holds.
    pub(super) fn hold(&mut self, color: Color, code: u8, count: u8) -> Option<()> {
        *self.hands[color.index()].get_mut(usize::from(code).checked_sub(1)?)? = count;
        Some(())
    }

    /// The board to play on from here.
    pub(super) fn board(&self) -> Board {
        Board { squares: self.board, hands: self.hands }
    }

    /// Adds the position to a game's hash. The same for every way of writing it.
    pub fn hash_into(&self, hash: &mut GameHash) {
        if *self == Self::EVEN {
            hash.word(0);
            return;
        }
        hash.word(1 + self.side_to_move.index() as u64);
        for bytes in self.board.chunks(8).chain(self.hands.iter().map(|h| &h[..])) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            hash.word(u64::from_le_bytes(word));
        }
    }
}

/// Index of a CSA square (`76`: file 7, rank 6).
pub(super) fn square(file: &u8, rank: &u8) -> Option<usize> {
    let digit = |b: &u8| (b'1'..=b'9').contains(b).then(|| usize::from(b - b'1'));
    Some(digit(rank)? * 9 + (8 - digit(file)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [&str; 9] = [
        "1-KY-KE-GI-KI-OU-KI-GI-KE-KY",
        "2 * -HI *  *  *  *  * -KA * ",
        "3-FU-FU-FU-FU-FU-FU-FU-FU-FU",
        "4 *  *  *  *  *  *  *  *  * ",
        "5 *  *  *  *  *  *  *  *  *",
        "6",
        "7+FU+FU+FU+FU+FU+FU+FU+FU+FU",
        "8 * +KA *  *  *  *  * +HI *",
        "9+KY+KE+GI+KI+OU+KI+GI+KE+KY",
    ];

    #[test]
    fn every_way_of_writing_the_even_game_is_the_same() {
        let mut rows = StartPosition::empty();
        for row in ROWS {
            assert_eq!(rows.read_csa(row.as_bytes()), Some(()), "{row}");
        }
        assert_eq!(rows, StartPosition::even());
        let mut pi = StartPosition::empty();
        assert_eq!(pi.read_csa(b"I"), Some(()));
        assert_eq!(pi, StartPosition::even());
    }

    #[test]
    fn ranks_of_the_even_game_are_what_reading_them_gives() {
        for (rank, row) in (1..).zip(EVEN_ROWS) {
            let mut padded = vec![b'0' + rank];
            padded.extend_from_slice(row);
            let mut short = StartPosition::empty();
            assert_eq!(short.read_csa(&padded), Some(()));
            // a blank more takes the long way
            padded.push(b' ');
            let mut long = StartPosition::empty();
            assert_eq!(long.read_csa(&padded), Some(()));
            assert_eq!(short, long);
        }
    }

    #[test]
    fn exactly_fourteen_names_are_pieces() {
        let all = (0..=u8::MAX).flat_map(|p| (0..=u8::MAX).map(move |q| [p, q]));
        let found: Vec<[u8; 2]> = all.filter(|name| is_piece(*name)).collect();
        let mut expected = PIECES.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn handicaps_and_hands_differ() {
        let mut two = StartPosition::empty();
        assert_eq!(two.read_csa(b"I82HI22KA"), Some(()));
        assert_ne!(two, StartPosition::even());
        assert_eq!(two.clone().read_csa(b"I82KA"), None);
        let mut tsume = StartPosition::empty();
        assert_eq!(tsume.read_csa(b"+27OU00KI"), Some(()));
        assert_eq!(tsume.read_csa(b"-25OU00AL"), Some(()));
        assert_eq!(tsume.hands[1], [18, 4, 4, 4, 3, 2, 2]);
    }

    #[test]
    fn nonsense_is_refused_without_a_panic() {
        for bad in ["", "I8", "I82", "1+XX", "+0", "+00", "+00OUx", "-99AL", "+00OU", "X"] {
            assert_eq!(StartPosition::empty().read_csa(bad.as_bytes()), None, "{bad}");
        }
    }
}
