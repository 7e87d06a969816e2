//! The castling rights of a FEN, in one notation for all readers of chess positions.

/// Castling rights with the files of the rooks, as in Shredder-FEN: K and Q, as in FEN and X-FEN, are the outermost
/// rooks on either side of the king. Any other letter, or one without such a rook, remains.
///
/// `placement` and `rights` are the first and the third field of the FEN.
///
/// ```
/// use evalcurve_words::fen::rook_files;
/// assert_eq!(rook_files("rk2r3/8/8/8/8/8/8/R3K2R", "KQkq"), "HAea");
/// ```
pub fn rook_files(placement: &str, rights: &str) -> String {
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
        let file = u8::try_from(file).ok().filter(|file| *file < 8)?;
        Some(cased(char::from(b'a' + file)))
    };
    rights.chars().map(|right| letter(right).unwrap_or(right)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_name_the_rooks() {
        assert_eq!(rook_files("r3k2r/8/8/8/8/8/8/R3K2R", "KQkq"), "HAha");
        // inner rooks have their files already
        assert_eq!(rook_files("8/8/8/8/8/8/8/R1R1K3", "QC"), "AC");
        assert_eq!(rook_files("8/8/8/8/8/8/8/4K3", "KQ-"), "KQ-");
        // rows that are no rows
        assert_eq!(rook_files("", "Kk"), "Kk");
        assert_eq!(rook_files("k99999999999r", "k"), "k");
    }
}
