//! The 256 bits of a shogi position: hcp (Apery, dlshogi) and packed sfen (YaneuraOu, nodchip).
//!
//! Bits are taken from the low end of each byte. Bit 0 is the side to move (1: White), then stand the squares of the
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
//! hcp has the two flags in the other order. A piece in hand has the code without its first bit, a 0 (but for gold), and the
//! colour; bishop and rook of hcp have `111110` and `111111` and the colour. So the lengths are the same, and one check
//! serves both, which takes bishops and rooks together. Nothing here needs to know what stands where: the side to move gives the view of a
//! result, and the rest tells a position from other bytes.

use crate::types::Color;

/// Bytes of a position.
pub const BYTES: usize = 32;
/// Bits of a position.
const BITS: usize = 8 * BYTES;

/// Pieces of a kind that there are: pawn, lance, knight, silver, gold, bishop or rook.
const PIECES: [u8; 6] = [18, 4, 4, 4, 4, 4];

/// The side to move.
pub fn side_to_move(position: &[u8; BYTES]) -> Color {
    if position[0] & 1 == 0 { Color::Black } else { Color::White }
}

/// A word of the code at the low end of `bits`: kind of piece and length without flags; `None` for an empty square.
#[inline]
fn piece(bits: u64) -> Option<(usize, u32)> {
    match bits & 63 {
        b if b & 1 == 0 => None,
        b if b & 3 == 0b01 => Some((0, 2)),
        b if b & 15 == 0b0011 => Some((1, 4)),
        b if b & 15 == 0b1011 => Some((2, 4)),
        b if b & 15 == 0b0111 => Some((3, 4)),
        b if b & 31 == 0b01111 => Some((4, 5)),
        _ => Some((5, 6)),
    }
}

/// Bits from `at` on, at least 8 of them as long as the position holds so many; zeros behind its end.
#[inline]
fn bits(words: &[u64; 5], at: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    match words.get(word..word + 2) {
        Some([low, high]) => (low >> shift) | (high << 1).wrapping_shl(63 - shift as u32),
        _ => 0,
    }
}

/// Can these be a position? The kings stand on two squares, no kind has more pieces than there are, and the code ends
/// with the last bit.
pub fn is_position(position: &[u8; BYTES]) -> bool {
    let mut words = [0u64; 5];
    for (word, bytes) in words.iter_mut().zip(position.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b));
    }
    let kings = [(words[0] >> 1) & 127, (words[0] >> 8) & 127];
    if kings[0] == kings[1] || kings.iter().any(|&k| k > 80) {
        return false;
    }
    let mut count = [0u8; 6];
    let mut at = 15;
    let mut squares = 79;
    while squares > 0 {
        let rest = bits(&words, at);
        let empty = (rest.trailing_zeros() as usize).min(squares).min(48);
        if empty > 0 {
            (at, squares) = (at + empty, squares - empty);
            continue;
        }
        let Some((kind, length)) = piece(rest) else { return false };
        count[kind] += 1;
        at += length as usize + if kind == 4 { 1 } else { 2 };
        squares -= 1;
    }
    while at < BITS {
        let Some((kind, length)) = piece(bits(&words, at) << 1 | 1) else { return false };
        count[kind] = count[kind].saturating_add(1);
        at += length as usize - 1 + if kind == 4 { 1 } else { 2 };
    }
    at == BITS && count.iter().zip(PIECES).all(|(&n, most)| n <= most)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The start position as cshogi 1.1.0 writes it: `Board().to_hcp`.
    pub const START_HCP: [u8; 32] = hex("58a449210cd757217e8e4d212caf427814c2ab109e4d212cd75f213e8e49210c");
    /// The same as `Board().to_psfen`.
    pub const START_PSFEN: [u8; 32] = hex("58a451220ceb67227e9653221caf447824c22b119e53221ceb6f223e9651220c");

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
    fn positions_are_told_from_other_bytes() {
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
                bytes.copy_from_slice(&crate::random::bits(&[i, word as u64]).to_le_bytes());
            }
            passed += u32::from(is_position(&random));
        }
        assert!(passed < 400, "{passed} of 20,000 random blocks pass for positions");
    }
}
