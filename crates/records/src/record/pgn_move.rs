//! Moves of PGN as they are written (SAN, also long or as UCI), brought to one spelling without knowing the board.

/// Ends a move.
const END: u8 = 0;
/// Stands in a move but does not tell it from others: captures, checks, judgements.
const STRIP: u8 = 1;
/// Stands in no move.
const BAD: u8 = 2;

/// What a byte is inside a move; others stand for themselves.
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

/// A move: how many bytes it has, the move without its marks, and whether it bears the sign of mate.
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
            kept => {
                // the longest has six letters (Qa1b2, e7d8Q); nine would run over
                if word >> 56 != 0 {
                    return None;
                }
                word = word << 8 | u64::from(kept);
            }
        }
        length += 1;
    }
    let byte = |back: u32| (word >> (8 * back)) as u8;
    let square = |back: u32| byte(back).is_ascii_digit() && matches!(byte(back + 1), b'a'..=b'h');
    // a letter behind the square is a promotion, also a small one: e7e8b
    let is_move = square(0)
        || (byte(0).is_ascii_alphabetic() && square(1))
        || word == u64::from_be_bytes(*b"\0\0\0\0\0\0OO")
        || word == u64::from_be_bytes(*b"\0\0\0\0\0OOO");
    is_move.then_some((length, word, mate))
}

/// Does a move, or a mark, end before this byte?
#[inline]
pub fn ends_move(byte: u8) -> bool {
    MOVE_BYTES[usize::from(byte)] == END
}
