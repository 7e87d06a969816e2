//! Moves of PGN (SAN, also long or as UCI), converted to one spelling without a board.

/// A byte that ends a move.
const END: u8 = 0;
/// A byte of a move that does not distinguish it from others: captures, checks, judgements.
const STRIP: u8 = 1;
/// A byte that is not part of a move.
const BAD: u8 = 2;

/// The class of each byte inside a move, or its spelling.
const MOVE_BYTES: [u8; 256] = {
    let mut table = [BAD; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'\0'..=b' ' | b'{' | b'}' | b'(' | b')' | b'[' | b']' | b';' | b'$' | b'.' | b'*' => END,
            b'x' | b'=' | b'+' | b'#' | b'!' | b'?' | b'-' | b':' | b'~' => STRIP,
            b'0' | b'o' => b'O',
            b'1'..=b'8' | b'a'..=b'h' | b'A'..=b'Z' | b'@' => byte as u8,
            b'n' | b'q' | b'r' | b'k' => byte as u8 - 32,
            _ => BAD,
        };
        byte += 1;
    }
    table
};

/// The move at the beginning of a text: its length, the move without its marks, and whether it has the sign of mate.
#[inline(always)]
pub fn san(text: &[u8]) -> Option<(usize, u64, bool)> {
    let mut word: u64 = 0;
    let mut mate = false;
    let mut length = 0;
    while let Some(&byte) = text.get(length) {
        match MOVE_BYTES[usize::from(byte)] {
            END => break,
            STRIP => mate |= byte == b'#',
            BAD => return None,
            letter => {
                // the longest move has six letters (Qa1b2, e7d8Q); nine would overflow
                if word >> 56 != 0 {
                    return None;
                }
                word = word << 8 | u64::from(letter);
            }
        }
        length += 1;
    }
    let byte = |back: u32| (word >> (8 * back)) as u8;
    let square = |back: u32| byte(back).is_ascii_digit() && matches!(byte(back + 1), b'a'..=b'h');
    // a letter after the square is a promotion, also in lower case: e7e8b
    let is_move = square(0)
        || (byte(0).is_ascii_alphabetic() && square(1))
        || word == u64::from_be_bytes(*b"\0\0\0\0\0\0OO")
        || word == u64::from_be_bytes(*b"\0\0\0\0\0OOO");
    is_move.then_some((length, word, mate))
}

/// Whether a move or a mark ends before this byte.
#[inline]
pub(crate) fn ends_move(byte: u8) -> bool {
    MOVE_BYTES[usize::from(byte)] == END
}
