//! A shogi position: the start position of a record, which is part of its identity, and the board of games in KI2.

use evalcurve_calibration::types::Color;

use super::identity::GameHash;

/// Added to the code of White's pieces.
pub(super) const WHITE: u8 = 32;

/// The fourteen pieces as CSA and as SFEN write them; the index is the code on the board, less 1.
pub const PIECES: [([u8; 2], &str); 14] = [
    (*b"FU", "P"),
    (*b"KY", "L"),
    (*b"KE", "N"),
    (*b"GI", "S"),
    (*b"KI", "G"),
    (*b"KA", "B"),
    (*b"HI", "R"),
    (*b"OU", "K"),
    (*b"TO", "+P"),
    (*b"NY", "+L"),
    (*b"NK", "+N"),
    (*b"NG", "+S"),
    (*b"UM", "+B"),
    (*b"RY", "+R"),
];

/// The code of a king.
pub(super) const KING: u8 = 8;

/// The fourteen names as bits of a table of 26 by 26.
const PIECE_BITS: [u64; 11] = {
    let mut bits = [0; 11];
    let mut i = 0;
    while i < PIECES.len() {
        let [p, q] = PIECES[i].0;
        let at = (p - b'A') as usize * 26 + (q - b'A') as usize;
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

/// The code of a piece that CSA names.
pub(super) fn piece_code(name: &[u8]) -> Option<u8> {
    PIECES.iter().position(|(csa, _)| csa == name).map(|i| i as u8 + 1)
}

/// A piece of either side, without its side, as SFEN writes it; empty for none.
pub(super) fn letters(code: u8) -> &'static str {
    PIECES.get(usize::from(code & (WHITE - 1)).wrapping_sub(1)).map_or("", |(_, letters)| letters)
}

/// The piece that a letter of SFEN stands for, and its side.
pub(super) fn lettered(letter: u8) -> Option<(u8, Color)> {
    let code = PIECES.iter().position(|(_, letters)| *letters.as_bytes() == [letter.to_ascii_uppercase()])? as u8 + 1;
    Some((code, if letter.is_ascii_uppercase() { Color::Black } else { Color::White }))
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
pub struct Position {
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

    /// Reads an SFEN: board, side to move and hands; nothing after them is looked at. `None` if it is not valid.
    pub fn from_sfen(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let mut rows = words.next()?.split('/');
        let mut position = Self::EMPTY;
        for row in position.squares.chunks_mut(9) {
            let (mut column, mut promoted) = (0, false);
            for byte in rows.next()?.bytes() {
                match byte {
                    b'1'..=b'9' if !promoted => column += usize::from(byte - b'0'),
                    b'+' if !promoted => promoted = true,
                    letter => {
                        let (code, color) = lettered(letter)?;
                        *row.get_mut(column)? = owned(if promoted { promote(code)? } else { code }, color);
                        (column, promoted) = (column + 1, false);
                    }
                }
            }
            if column != 9 || promoted {
                return None;
            }
        }
        position.side_to_move = match words.next()? {
            "b" => Color::Black,
            "w" => Color::White,
            _ => return None,
        };
        let hands = words.next()?;
        let mut count = 0_u8;
        for byte in hands.bytes().filter(|_| hands != "-") {
            if byte.is_ascii_digit() {
                count = count.saturating_mul(10).saturating_add(byte - b'0');
                continue;
            }
            let (code, color) = lettered(byte)?;
            let held = position.held(color, code)?;
            *held = held.saturating_add(count.max(1));
            count = 0;
        }
        // a row too many, or a number without a piece
        (rows.next().is_none() && count == 0).then_some(position)
    }

    /// The position as SFEN, as move 1.
    pub fn sfen(&self) -> String {
        let mut text = String::new();
        let write = |code: u8, text: &mut String| {
            let letters = letters(code);
            text.push_str(&if code >= WHITE { letters.to_lowercase() } else { letters.to_owned() });
        };
        for (rank, row) in self.squares.chunks(9).enumerate() {
            if rank > 0 {
                text.push('/');
            }
            for cells in row.chunk_by(|a, b| *a == 0 && *b == 0) {
                match cells {
                    [0, ..] => text += &cells.len().to_string(),
                    cells => cells.iter().for_each(|code| write(*code, &mut text)),
                }
            }
        }
        text += if self.side_to_move == Color::Black { " b " } else { " w " };
        let before_hands = text.len();
        // rook, bishop, gold, silver, knight, lance, pawn
        for (side, hand) in [0, WHITE].into_iter().zip(&self.hands) {
            for code in [7, 6, 5, 4, 3, 2, 1] {
                match hand[usize::from(code) - 1] {
                    0 => continue,
                    1 => {}
                    n => text += &n.to_string(),
                }
                write(code + side, &mut text);
            }
        }
        if text.len() == before_hands {
            text.push('-');
        }
        text + " 1"
    }

    /// The piece on a square as SFEN writes it, in capitals; `None` on an empty one and outside the board.
    pub fn piece(&self, file: usize, rank: usize) -> Option<&'static str> {
        let (column, rank) = (9_usize.checked_sub(file)?, rank.checked_sub(1)?);
        let code = *self.squares.get(rank * 9 + column).filter(|_| column < 9)?;
        (code != 0).then(|| letters(code))
    }

    /// Whether each side has one king.
    pub(super) fn has_kings(&self) -> bool {
        [Color::Black, Color::White]
            .iter()
            .all(|color| self.squares.iter().filter(|code| **code == owned(KING, *color)).count() == 1)
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
        let mut expected = PIECES.map(|(csa, _)| csa).to_vec();
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
    fn sfen_is_read_as_it_is_written() {
        assert_eq!(Position::EVEN.sfen(), "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
        for sfen in [
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "ln1g3nl/1r1sgk3/p1p1pppp1/1p1p4p/9/2PP2P2/PPS1PP2P/2R1G1SK1/LN3G1NL w BPb 1",
            "8+r/9/9/9/7k1/9/7K1/9/9 b G2P12pr 1",
        ] {
            let position = Position::from_sfen(sfen).unwrap();
            assert_eq!(position.sfen(), sfen.replace("12pr", "r12p"));
        }
        let mate = Position::from_sfen("8+r/9/9/9/7k1/9/7K1/9/9 b G2Pr").unwrap();
        let found = [(1, 1), (2, 5), (2, 7), (9, 1), (0, 1), (1, 0), (10, 1), (1, 10)].map(|(f, r)| mate.piece(f, r));
        assert_eq!(found, [Some("+R"), Some("K"), Some("K"), None, None, None, None, None]);
        assert!(mate.has_kings() && !Position::EMPTY.has_kings());
        for bad in [
            "",
            "9/9/9/9/9/9/9/9/9",
            "9/9/9/9/9/9/9/9/9 b",
            "9/9/9/9/9/9/9/9/9 x -",
            "9/9/9/9/9/9/9/9 b -",
            "9/9/9/9/9/9/9/9/9/9 b -",
            "9/9/9/9/9/9/9/9/8 b -",
            "9/9/9/9/9/9/9/9/9P b -",
            "9/9/9/9/9/9/9/9/8+ b -",
            "+K8/9/9/9/9/9/9/9/9 b -",
            "+18/9/9/9/9/9/9/9/9 b -",
            "x8/9/9/9/9/9/9/9/9 b -",
            "9/9/9/9/9/9/9/9/9 b K",
            "9/9/9/9/9/9/9/9/9 b 2",
        ] {
            assert_eq!(Position::from_sfen(bad), None, "{bad}");
        }
    }

    #[test]
    fn nonsense_is_refused_without_a_panic() {
        for bad in ["", "I8", "I82", "1+XX", "+0", "+00", "+00OUx", "-99AL", "+00OU", "X"] {
            assert_eq!({ Position::EMPTY }.read_csa(bad.as_bytes()), None, "{bad}");
        }
    }
}
