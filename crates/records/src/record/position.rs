//! A shogi position: the start position of a record, which is part of its identity, and the board of games in KI2.

use super::identity::GameHash;
use evalcurve_core::types::Color;

/// Added to the code of White's pieces.
pub(super) const WHITE: u8 = 32;

/// The fourteen pieces as CSA writes them; the index is the code on the board.
pub(super) const PIECES: [[u8; 2]; 14] =
    [*b"FU", *b"KY", *b"KE", *b"GI", *b"KI", *b"KA", *b"HI", *b"OU", *b"TO", *b"NY", *b"NK", *b"NG", *b"UM", *b"RY"];

/// The fourteen names as bits of a table of 26 by 26.
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

/// Whether this is one of CSA's fourteen piece names.
#[inline(always)]
pub(crate) fn is_piece([p, q]: [u8; 2]) -> bool {
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

/// The code of the piece on a square as a piece of `color`; 0 for none.
pub(super) fn owned(code: u8, color: Color) -> u8 {
    if code == 0 || color == Color::Black { code } else { code + WHITE }
}

/// The code of a piece after its promotion; `None` if it cannot promote.
pub(super) fn promote(code: u8) -> Option<u8> {
    match code {
        1..=4 => Some(code + 8),
        6 | 7 => Some(code + 7),
        _ => None,
    }
}

/// The code of a piece before its promotion.
pub(super) fn unpromoted(code: u8) -> u8 {
    match code {
        9..=12 => code - 8,
        13 | 14 => code - 7,
        _ => code,
    }
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

/// Pieces on squares and in hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    /// Rank times 9 plus column from the left (file 9 first): a piece code from 1, plus [`WHITE`] for White.
    pub(super) squares: [u8; 81],
    /// Black's hand first, by piece code less 1.
    pub(super) hands: [[u8; 7]; 2],
    /// The side that moves first.
    pub side_to_move: Color,
}

impl Default for Position {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Position {
    /// An empty board.
    pub(crate) const EMPTY: Self = Self { squares: [0; 81], hands: [[0; 7]; 2], side_to_move: Color::Black };

    /// The even game (平手).
    pub(crate) const EVEN: Self = {
        let mut position = Self::EMPTY;
        let back: [u8; 9] = [2, 3, 4, 5, 8, 5, 4, 3, 2];
        let mut column = 0;
        while column < 9 {
            position.squares[column] = back[column] + WHITE;
            position.squares[2 * 9 + column] = 1 + WHITE;
            position.squares[6 * 9 + column] = 1;
            position.squares[8 * 9 + column] = back[column];
            column += 1;
        }
        position.squares[9 + 1] = 7 + WHITE;
        position.squares[9 + 7] = 6 + WHITE;
        position.squares[7 * 9 + 1] = 6;
        position.squares[7 * 9 + 7] = 7;
        position
    };

    /// Reads the text after the `P` of one CSA statement (without the line end). `None` if it is not valid.
    ///
    /// `I82HI22KA` (the even game without these), `1-KY-KE…` (a rank; trailing blanks may be missing), `+00FU27OU` and
    /// `-00AL` (single pieces; `00` is the hand, `AL` all pieces that are left).
    pub(crate) fn read_csa(&mut self, text: &[u8]) -> Option<()> {
        let (&kind, rest) = text.split_first()?;
        match kind {
            b'I' => {
                *self = Self { side_to_move: self.side_to_move, ..Self::EVEN };
                for group in rest.chunks(4) {
                    let at = square(*group.first_chunk()?)?;
                    let code = piece_code(group.get(2..4)?)?;
                    if self.squares[at] & (WHITE - 1) != code {
                        return None;
                    }
                    self.squares[at] = 0;
                }
            }
            b'1'..=b'9' => {
                let rank = usize::from(kind - b'1');
                if rest == EVEN_ROWS[rank] {
                    let row = rank * 9..rank * 9 + 9;
                    self.squares[row.clone()].copy_from_slice(&Self::EVEN.squares[row]);
                    return Some(());
                }
                let mut cells = rest.chunks(3);
                for column in 0..9 {
                    let cell = cells.next().unwrap_or(b" * ");
                    let code = match cell.first() {
                        Some(b'+') => piece_code(cell.get(1..3)?)?,
                        Some(b'-') => piece_code(cell.get(1..3)?)? + WHITE,
                        _ => match cell.trim_ascii() {
                            b"*" | b"" => 0,
                            _ => return None,
                        },
                    };
                    self.squares[rank * 9 + column] = code;
                }
                if cells.any(|c| !c.trim_ascii().is_empty()) {
                    return None;
                }
            }
            b'+' | b'-' => {
                let color = if kind == b'-' { Color::White } else { Color::Black };
                for group in rest.trim_ascii_end().chunks(4) {
                    let name = group.get(2..4)?;
                    if group.get(..2)? == b"00" {
                        if name == b"AL" {
                            self.take_the_rest(color);
                            continue;
                        }
                        let held = self.held(color, piece_code(name)?)?;
                        *held = held.saturating_add(1);
                    } else {
                        let at = square(*group.first_chunk()?)?;
                        self.squares[at] = owned(piece_code(name)?, color);
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Puts all pieces of a set that are neither on the board nor in a hand into the hand of `color` (never a king).
    fn take_the_rest(&mut self, color: Color) {
        const SET: [u8; 7] = [18, 4, 4, 4, 4, 2, 2];
        for (kind, (code, all)) in (1..).zip(SET).enumerate() {
            let on_board = self.squares.iter().filter(|cell| unpromoted(*cell & (WHITE - 1)) == code).count() as u8;
            let used = on_board.saturating_add(self.hands[0][kind]).saturating_add(self.hands[1][kind]);
            let hand = &mut self.hands[color.index()][kind];
            *hand = hand.saturating_add(all.saturating_sub(used));
        }
    }

    /// How many pieces of this code `color` holds. `None` for a piece that no hand holds.
    pub(super) fn held(&mut self, color: Color, code: u8) -> Option<&mut u8> {
        self.hands[color.index()].get_mut(usize::from(code).checked_sub(1)?)
    }

    /// Adds the position to a game's hash. The same for every way of writing it.
    pub(crate) fn hash_into(&self, hash: &mut GameHash) {
        if *self == Self::EVEN {
            hash.word(0);
            return;
        }
        hash.word(1 + self.side_to_move.index() as u64);
        for bytes in self.squares.chunks(8).chain(self.hands.iter().map(|h| &h[..])) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            hash.word(u64::from_le_bytes(word));
        }
    }
}

/// Index of a CSA square (`76`: file 7, rank 6).
pub(super) fn square([file, rank]: [u8; 2]) -> Option<usize> {
    let digit = |b: u8| matches!(b, b'1'..=b'9').then(|| usize::from(b - b'1'));
    Some(digit(rank)? * 9 + (8 - digit(file)?))
}

/// The CSA square with this index.
pub(super) fn square_name(square: usize) -> [u8; 2] {
    [b'9' - (square % 9) as u8, b'1' + (square / 9 % 9) as u8]
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
        let mut rows = Position::EMPTY;
        for row in ROWS {
            assert_eq!(rows.read_csa(row.as_bytes()), Some(()), "{row}");
        }
        assert_eq!(rows, Position::EVEN);
        let mut pi = Position::EMPTY;
        assert_eq!(pi.read_csa(b"I"), Some(()));
        assert_eq!(pi, Position::EVEN);
    }

    #[test]
    fn ranks_of_the_even_game_are_what_reading_them_gives() {
        for (rank, row) in (1..).zip(EVEN_ROWS) {
            let mut padded = vec![b'0' + rank];
            padded.extend_from_slice(row);
            let mut short = Position::EMPTY;
            assert_eq!(short.read_csa(&padded), Some(()));
            // one more blank takes the slow path
            padded.push(b' ');
            let mut long = Position::EMPTY;
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
        let mut two = Position::EMPTY;
        assert_eq!(two.read_csa(b"I82HI22KA"), Some(()));
        assert_ne!(two, Position::EVEN);
        assert_eq!(two.clone().read_csa(b"I82KA"), None);
        let mut tsume = Position::EMPTY;
        assert_eq!(tsume.read_csa(b"+27OU00KI"), Some(()));
        assert_eq!(tsume.read_csa(b"-25OU00AL"), Some(()));
        assert_eq!(tsume.hands[1], [18, 4, 4, 4, 3, 2, 2]);
    }

    #[test]
    fn nonsense_is_refused_without_a_panic() {
        for bad in ["", "I8", "I82", "1+XX", "+0", "+00", "+00OUx", "-99AL", "+00OU", "X"] {
            assert_eq!({ Position::EMPTY }.read_csa(bad.as_bytes()), None, "{bad}");
        }
    }
}
