//! The 256 bits of a shogi position: hcp (Apery, dlshogi) and packed sfen (YaneuraOu, nodchip).
//!
//! Bits are taken from the low end of each byte. Bit 0 is the side to move (1: White). Then come the squares of the
//! kings (Black's, White's; 7 bits each), the other 79 squares from 1一 down the files, and the pieces in hand up to
//! bit 256. A square is a word of a prefix code and flags:
//!
//! | piece | code, low bit first | flags |
//! |---|---|---|
//! | none | `0` | |
//! | pawn | `10` | promoted, colour |
//! | lance, knight, silver | `1100`, `1101`, `1110` | promoted, colour |
//! | gold | `11110` | colour |
//! | bishop, rook | `111110`, `111111` | promoted, colour |
//!
//! hcp has the two flags in the other order, and so the codes of knight and silver. A piece in hand has the code
//! without its first bit, a 0 (except for gold), and the colour; bishop and rook of hcp have `111110` and `111111` and
//! the colour. So the lengths are the same, and one check that counts bishops and rooks together serves both. Only an
//! analysis needs the pieces: the side to move gives the point of view of a result, and the rest distinguishes a
//! position from other bytes.

use evalcurve_calibration::types::Color;

use crate::record::position::{KING, Position, WHITE, promote};

pub(crate) const BYTES: usize = 32;
const BITS: usize = 8 * BYTES;

/// Number of pieces of each kind: pawn, lance, knight, silver, gold, bishop or rook.
const PIECES: [u8; 6] = [18, 4, 4, 4, 4, 4];

pub fn side_to_move(position: &[u8; BYTES]) -> Color {
    if position[0] & 1 == 0 { Color::Black } else { Color::White }
}

/// Bits that are decoded at once: as many whole words of the code as they hold.
const WINDOW: usize = 10;
/// The sum of the whole words in each window, on the board and in hand.
static ON_BOARD: [Sum; 1 << WINDOW] = windows(true);
static IN_HAND: [Sum; 1 << WINDOW] = windows(false);

/// A sum of words of the code; from the low end: bits (9 bits wide), squares (7), and pieces of each kind (8 each).
type Sum = u64;

const fn length(sum: Sum) -> usize {
    (sum & 511) as usize
}

const fn squares(sum: Sum) -> u64 {
    sum >> 9 & 127
}

const fn pieces(sum: Sum, kind: usize) -> u8 {
    (sum >> (16 + 8 * kind)) as u8
}

/// The word of the code at the low end of `bits`, with its flags.
const fn word(bits: usize, on_board: bool) -> Sum {
    let (kind, length) = match if on_board { bits & 63 } else { bits << 1 & 63 | 1 } {
        b if b & 1 == 0 => return 1 << 9 | 1,
        b if b & 3 == 0b01 => (0, 2),
        b if b & 15 == 0b0011 => (1, 4),
        b if b & 15 == 0b1011 => (2, 4),
        b if b & 15 == 0b0111 => (3, 4),
        b if b & 31 == 0b01111 => (4, 5),
        _ => (5, 6),
    };
    let flags = if kind == 4 { 1 } else { 2 };
    let place = if on_board { 1 << 9 | length } else { length - 1 };
    1 << (16 + 8 * kind) | (place + flags)
}

const fn windows(on_board: bool) -> [Sum; 1 << WINDOW] {
    let mut table = [0; 1 << WINDOW];
    let mut window = 0;
    while window < table.len() {
        let mut sum = 0;
        loop {
            let with_next = sum + word(window >> length(sum), on_board);
            if length(with_next) > WINDOW {
                break;
            }
            sum = with_next;
        }
        table[window] = sum;
        window += 1;
    }
    table
}

/// 64 bits from `at` on; zeros after the end of the position.
#[inline]
fn bits(words: &[u64; 5], at: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    match words.get(word..word + 2) {
        Some([low, high]) => (low >> shift) | (high << 1).wrapping_shl(63 - shift as u32),
        _ => 0,
    }
}

/// Whether these bytes can be a position: the kings are on different squares, no kind has more pieces than the game,
/// and the code ends with the last bit.
pub(crate) fn is_position(position: &[u8; BYTES]) -> bool {
    let mut words = [0u64; 5];
    for (word, bytes) in words.iter_mut().zip(position.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let kings = [(words[0] >> 1) & 127, (words[0] >> 8) & 127];
    if kings[0] == kings[1] || kings.iter().any(|&k| k > 80) {
        return false;
    }
    let mut sum: Sum = 15;
    let (mut rest, mut known) = (bits(&words, 15), 64);
    let mut take = |sum: &mut Sum, next: Sum| {
        *sum += next;
        rest >>= length(next);
        known -= length(next);
        if known < WINDOW {
            (rest, known) = (bits(&words, length(*sum)), 64);
        }
        rest as usize
    };
    let mut next = take(&mut sum, 0);
    while squares(sum) < 79 {
        let whole = ON_BOARD[next % (1 << WINDOW)];
        // the last squares one by one: the words after them are pieces in hand
        let fits = squares(sum + whole) <= 79;
        next = take(&mut sum, if fits { whole } else { word(next, true) });
    }
    while length(sum) < BITS {
        let whole = IN_HAND[next % (1 << WINDOW)];
        let fits = length(sum + whole) <= BITS;
        next = take(&mut sum, if fits { whole } else { word(next, false) });
    }
    length(sum) == BITS && (0..PIECES.len()).all(|kind| pieces(sum, kind) <= PIECES[kind])
}

/// The pieces of a position; `hcp` for the order of the flags of Apery and dlshogi, else that of YaneuraOu. `None` if
/// the bytes are not a position.
pub(super) fn read(bytes: &[u8; BYTES], hcp: bool) -> Option<Position> {
    if !is_position(bytes) {
        return None;
    }
    let mut code = Code { bytes, at: 1, hcp };
    let mut position = Position { side_to_move: side_to_move(bytes), ..Position::EMPTY };
    // from 1一 down the files, to a board that is read rank by rank from 9一
    let square = |index: usize| index % 9 * 9 + (8 - index / 9);
    let kings = [code.bits(7), code.bits(7)];
    for (king, piece) in kings.into_iter().zip([KING, KING + WHITE]) {
        *position.squares.get_mut(square(king))? = piece;
    }
    for index in (0..81).filter(|index| !kings.contains(index)) {
        if code.bits(1) == 1 {
            position.squares[square(index)] = code.piece(true);
        }
    }
    while code.at < BITS {
        let piece = code.piece(false);
        let color = if piece >= WHITE { Color::White } else { Color::Black };
        // promoted pieces in hand are those that are not in the game
        if let Some(held) = position.held(color, piece & (WHITE - 1)) {
            *held = held.saturating_add(1);
        }
    }
    Some(position)
}

/// The prefix code of a position, from a bit on.
struct Code<'a> {
    bytes: &'a [u8; BYTES],
    at: usize,
    hcp: bool,
}

impl Code<'_> {
    fn bits(&mut self, count: usize) -> usize {
        let bit = |at: usize| self.bytes.get(at / 8).map_or(0, |byte| usize::from(byte >> (at % 8) & 1));
        let value = (0..count).map(|i| bit(self.at + i) << i).sum();
        self.at += count;
        value
    }

    /// The next piece as boards have it, after the first bit of its word on the board.
    fn piece(&mut self, on_board: bool) -> u8 {
        // pawn, lance, knight, silver, gold, bishop, rook
        let [at_1101, at_1110] = if self.hcp { [4, 3] } else { [3, 4] };
        let kind = match self.bits(1) {
            0 => 1,
            _ if self.bits(1) == 0 => [2, at_1101][self.bits(1)],
            _ if self.bits(1) == 0 => at_1110,
            _ if self.bits(1) == 0 => 5,
            _ => {
                // hcp has another 1 in hand
                self.at += usize::from(self.hcp && !on_board);
                6 + self.bits(1) as u8
            }
        };
        let great = self.hcp && !on_board && kind > 5;
        let (promoted, white) = match kind {
            5 => (false, self.bits(1) == 1),
            _ if great => (false, self.bits(1) == 1),
            _ if self.hcp && on_board => {
                let white = self.bits(1) == 1;
                (self.bits(1) == 1, white)
            }
            _ => (self.bits(1) == 1, self.bits(1) == 1),
        };
        let piece = if promoted { promote(kind).unwrap_or(kind) } else { kind };
        piece + if white { WHITE } else { 0 }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The start position as cshogi 1.1.0 writes it: `Board().to_hcp`.
    pub(crate) const START_HCP: [u8; 32] = hex("58a449210cd757217e8e4d212caf427814c2ab109e4d212cd75f213e8e49210c");
    /// The same as `Board().to_psfen`.
    pub(crate) const START_PSFEN: [u8; 32] = hex("58a451220ceb67227e9653221caf447824c22b119e53221ceb6f223e9651220c");

    const fn hex(text: &str) -> [u8; 32] {
        const fn digit(c: u8) -> u8 {
            if c >= b'a' { c - b'a' + 10 } else { c - b'0' }
        }
        let text = text.as_bytes();
        let mut bytes = [0; 32];
        let mut i = 0;
        while i < 32 {
            bytes[i] = digit(text[2 * i]) << 4 | digit(text[2 * i + 1]);
            i += 1;
        }
        bytes
    }

    #[test]
    fn both_codes_hold_the_pieces() {
        let even = Position::EVEN.sfen();
        assert_eq!(read(&START_HCP, true).map(|p| p.sfen()), Some(even.clone()));
        assert_eq!(read(&START_PSFEN, false).map(|p| p.sfen()), Some(even));
        assert_eq!(read(&[0; 32], true), None);
    }

    #[test]
    fn positions_are_distinguished_from_other_bytes() {
        assert!(is_position(&START_HCP) && is_position(&START_PSFEN));
        assert_eq!(side_to_move(&START_HCP), Color::Black);
        let mut white = START_HCP;
        white[0] |= 1;
        assert_eq!(side_to_move(&white), Color::White);
        assert!(!is_position(&[0; 32]) && !is_position(&[0xff; 32]));
        let mut passed = 0;
        for i in 0..20_000u64 {
            let mut random = [0u8; 32];
            for (word, bytes) in random.chunks_exact_mut(8).enumerate() {
                bytes.copy_from_slice(&evalcurve_words::random::bits(&[i, word as u64]).to_le_bytes());
            }
            passed += u32::from(is_position(&random));
        }
        assert!(passed < 400, "{passed} of 20,000 random blocks pass for positions");
    }
}
