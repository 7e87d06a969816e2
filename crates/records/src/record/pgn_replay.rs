//! The material on the board in the course of a PGN game, by playing its moves.

use thiserror::Error;

use super::pgn::Movetext;
use super::pgn_board::ChessBoard;

/// Why a game cannot be played out as far as it is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// Nothing that the reader of PGN takes for a game.
    #[error("no game")]
    NoGame,
    /// The rules are others, by the Variant tag.
    #[error("the variant '{0}' is not played out")]
    Variant(String),
    /// The FEN is none.
    #[error("the FEN '{0}' cannot be read")]
    Start(String),
    /// A move that no piece can make, or that may mean two.
    #[error("ply {ply}: '{text}' is no move of one piece on the board")]
    Move {
        /// Number of the half-move in the record, from 1.
        ply: u32,
        /// The move without its marks.
        text: String,
    },
    /// The game ends before.
    #[error("there is no move {0}")]
    TooShort(u32),
}

/// Values of the Variant tag, in small letters, under which the rules are those of chess.
const CHESS: [&str; 11] = [
    "",
    "?",
    "-",
    "chess",
    "standard",
    "normal",
    "from position",
    "chess960",
    "chess 960",
    "fischerandom",
    "fischerrandom",
];

/// 9Q + 5R + 3B + 3N + P of both sides, as Stockfish's WDL_model counts it, in the positions in which the half-moves
/// `plies` of the first game of `text` are played: counted from 1 at the record's first move, and rising.
///
/// Moves behind the last of them are not looked at; one past the end of the game is the position that it ends in.
///
/// # Errors
/// [`ReplayError`]; moves are played, not checked to be legal.
pub fn material(text: &[u8], plies: impl IntoIterator<Item = u32>) -> Result<Vec<u16>, ReplayError> {
    let game = Movetext::read(text).ok_or(ReplayError::NoGame)?;
    let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
    let variant = game.variant.trim_ascii();
    if !CHESS.iter().any(|name| variant.eq_ignore_ascii_case(name.as_bytes())) {
        return Err(ReplayError::Variant(shown(variant)));
    }
    let mut board = match game.fen {
        None => ChessBoard::default(),
        Some(fen) => ChessBoard::read_fen(fen).ok_or_else(|| ReplayError::Start(shown(fen)))?,
    };
    let mut moves = (1..).zip(&game.moves).peekable();
    let mut counts = Vec::new();
    for ply in plies {
        while let Some((number, word)) = moves.next_if(|(number, _)| *number < ply) {
            if board.play(*word).is_none() {
                let bytes = word.to_be_bytes();
                let text = shown(bytes.split(|b| *b == 0).next_back().unwrap_or_default());
                return Err(ReplayError::Move { ply: number, text });
            }
        }
        if u64::from(ply) > game.moves.len() as u64 + 1 {
            return Err(ReplayError::TooShort(ply));
        }
        counts.push(board.material());
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = "[Event \"x\"]\n[White \"A\"]\n[Result \"*\"]\n\n1. e4 {+0.3/9 1s} d5 (1... e5 2. Nf3) 2. exd5 $1 Qxd5 ; taken\n\
                        3. Nc3 Qxd2+ 4. Bxd2 {+9.1/9 1s} a6 *\n";

    #[test]
    fn the_position_of_a_ply_is_that_before_its_move() {
        let counts = material(GAME.as_bytes(), [1, 3, 4, 5, 6, 7, 8]);
        assert_eq!(counts.unwrap(), [78, 78, 77, 76, 76, 75, 66]);
        let short = "[FEN \"k7/8/8/8/8/8/1q6/K7 w - - 0 1\"]\n\n1. Kxb2 *\n";
        assert_eq!(material(short.as_bytes(), [1, 2]).unwrap(), [9, 0]);
        assert_eq!(material(short.as_bytes(), [3]), Err(ReplayError::TooShort(3)));
    }

    #[test]
    fn what_cannot_be_played_is_an_error_only_where_it_matters() {
        let broken = GAME.replace("a6", "Qh8");
        assert!(material(broken.as_bytes(), [8]).is_ok());
        assert_eq!(
            material(broken.as_bytes(), [8, 9]).unwrap_err().to_string(),
            "ply 8: 'Qh8' is no move of one piece on the board"
        );
        let with = |tag: &str| material(format!("{tag}\n{GAME}").as_bytes(), [1]);
        assert_eq!(with("[Variant \"Atomic\"]"), Err(ReplayError::Variant("Atomic".to_owned())));
        assert_eq!(with("[Variant \"Chess960\"]"), Ok(vec![78]));
        assert!(matches!(with("[FEN \"8/8/8/8/8/8/8/9 w - - 0 1\"]"), Err(ReplayError::Start(_))));
        assert_eq!(material(b"", [1]), Err(ReplayError::NoGame));
    }
}
