//! The material on the board during a PGN game, found by replaying its moves with cozy-chess.
//!
//! Moves must be legal; they may be written as SAN, long (`Ng1-f3`), or UCI (`g1f3`). A piece that is pinned to its
//! king is not meant, as the standard of 1994 rules (8.2.3.4).

use cozy_chess::util::{display_uci_move, parse_san_move, parse_uci_move};
use cozy_chess::{Board, Color, FenParseError, Move, Piece, get_king_moves};
use evalcurve_calibration::types::Color as Side;
use evalcurve_words::fen::rook_files;
use thiserror::Error;

use super::Movetext;
use crate::record::game::quoted;
use crate::record::played::{Played, walked};

/// Why a game cannot be replayed as far as needed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The PGN reader finds no game.
    #[error("no game")]
    NoGame,
    /// The Variant tag names other rules.
    #[error("the variant '{0}' cannot be replayed")]
    Variant(String),
    /// The FEN is not valid.
    #[error("the FEN '{0}' cannot be read")]
    Start(String),
    /// A move that no piece can make, or that is ambiguous.
    #[error("ply {ply}: '{text}' is not a legal move of exactly one piece")]
    Move {
        /// Number of the half-move in the record, from 1.
        ply: u32,
        /// The move without its marks.
        text: String,
    },
    /// The game ends before this ply.
    #[error("there is no move {0}")]
    TooShort(u32),
}

/// Values of the Variant tag, in lower case, under which the rules are those of chess.
const CHESS: &str = "|?|-|chess|standard|normal|from position|chess960|chess 960|fischerandom|fischerrandom";

/// Material values of the pieces, as Stockfish's WDL_model counts them.
const VALUES: [(Piece, u32); 5] =
    [(Piece::Pawn, 1), (Piece::Knight, 3), (Piece::Bishop, 3), (Piece::Rook, 5), (Piece::Queen, 9)];

/// Counts 9Q + 5R + 3B + 3N + P of both sides in the positions in which the half-moves `plies` of the first game of
/// `text` are played. Plies count from 1 at the record's first move and must rise.
///
/// Moves after the last of them are not read; one ply past the end of the game is its final position.
///
/// # Errors
/// [`ReplayError`].
pub fn material(text: &[u8], plies: &mut dyn Iterator<Item = u32>) -> Result<Vec<u16>, ReplayError> {
    let game = Movetext::read(text).ok_or(ReplayError::NoGame)?;
    let variant = game.variant.trim_ascii();
    if !CHESS.split('|').any(|name| variant.eq_ignore_ascii_case(name.as_bytes())) {
        return Err(ReplayError::Variant(quoted(variant)));
    }
    let mut board = start_of(game.fen)?;
    let mut moves = (1..).zip(&game.moves).peekable();
    let mut counts = Vec::new();
    for ply in plies {
        while let Some((number, word)) = moves.next_if(|(number, _)| *number < ply) {
            board.play_unchecked(find_word(&board, *word, number)?);
        }
        if u64::from(ply) > game.moves.len() as u64 + 1 {
            return Err(ReplayError::TooShort(ply));
        }
        counts.push(count(&board));
    }
    Ok(counts)
}

/// The start position of the first game of `text`, if it is not the standard one, and its first `most` half-moves as
/// UCI writes them in standard chess.
///
/// # Errors
/// [`ReplayError`].
pub fn uci_moves(text: &[u8], most: usize) -> Result<(Option<String>, Vec<String>), ReplayError> {
    let game = Movetext::read(text).ok_or(ReplayError::NoGame)?;
    let start = game.fen.map(|fen| String::from_utf8_lossy(fen).into_owned());
    let mut board = start_of(game.fen)?;
    let mut moves = Vec::new();
    for (ply, word) in (1..).zip(game.moves.iter().take(most)) {
        let found = find_word(&board, *word, ply)?;
        moves.push(display_uci_move(&board, found).to_string());
        board.play_unchecked(found);
    }
    Ok((start, moves))
}

/// The positions before each move as UCI writes it, and after the last, as FEN; up to the first move that is not legal.
pub(crate) fn fens(start: Option<&str>, moves: &[String]) -> Vec<String> {
    let text = |board: &Board| {
        let text = board.to_string();
        // where the letters of castling would mean other rooks, they are those of files
        let is_clear = read_fen(text.as_bytes()).is_some_and(|read| read.same_position(board));
        if is_clear { text } else { format!("{board:#}") }
    };
    let play = |board: &mut Board, text: &[u8]| find_move(board, text).map(|found| board.play_unchecked(found));
    walked(start_of(start.map(str::as_bytes)).ok(), moves, play, text)
}

fn start_of(fen: Option<&[u8]>) -> Result<Board, ReplayError> {
    let Some(fen) = fen else { return Ok(Board::startpos()) };
    read_fen(fen).ok_or_else(|| ReplayError::Start(quoted(fen)))
}

impl Played {
    /// Reads the moves of the first game of a text in PGN.
    pub(crate) fn read_pgn(&mut self, text: &[u8]) -> Result<(), ReplayError> {
        let (start, moves) = uci_moves(text, usize::MAX)?;
        let black = start.as_deref().and_then(|fen| fen.split_whitespace().nth(1)) == Some("b");
        self.first = if black { Side::Black } else { Side::White };
        (self.start, self.moves) = (start, moves);
        Ok(())
    }
}

fn count(board: &Board) -> u16 {
    VALUES.iter().map(|(piece, value)| board.pieces(*piece).len() * value).sum::<u32>() as u16
}

/// Whether this is a position of chess, as FEN or its first four fields.
pub(crate) fn is_position(fen: &[u8]) -> bool {
    read_fen(fen).is_some()
}

/// Reads a FEN whose last fields may be missing or out of range, also with castling rights as X-FEN and Shredder-FEN
/// write them.
fn read_fen(fen: &[u8]) -> Option<Board> {
    let mut fields = std::str::from_utf8(fen).ok()?.split_ascii_whitespace();
    let (board, side) = (fields.next()?, fields.next()?);
    let rights = fields.next().unwrap_or("-");
    let passed = fields.next().unwrap_or("-");
    let rights: String = rook_files(board, rights).chars().filter(|c| *c != '-').collect();
    let rights = if rights.is_empty() { "-" } else { &rights };
    let of =
        |passed: &str, counters: &str| Board::from_fen(&format!("{board} {side} {rights} {passed} {counters}"), true);
    let counters = [fields.next().unwrap_or("0"), fields.next().unwrap_or("1")].join(" ");
    let counters = if of("-", &counters).is_ok() { &counters } else { "0 1" };
    let read = |passed| of(passed, counters);
    match read(passed) {
        Err(FenParseError::InvalidEnPassant) => read("-").ok(),
        found => found.ok(),
    }
    // the crate accepts kings that touch, and ends the program after one has taken the other
    .filter(|board| !get_king_moves(board.king(Color::White)).has(board.king(Color::Black)))
}

/// The legal move of a word of the movetext.
fn find_word(board: &Board, word: u64, ply: u32) -> Result<Move, ReplayError> {
    let bytes = word.to_be_bytes();
    let text = &bytes[bytes.iter().take_while(|b| **b == 0).count()..];
    find_move(board, text).ok_or_else(|| ReplayError::Move { ply, text: quoted(text) })
}

/// The legal move that `text` means, spelled as [`san`](super::spelling::san) spells it; `None` for none or several.
fn find_move(board: &Board, text: &[u8]) -> Option<Move> {
    let text = std::str::from_utf8(text).ok()?;
    match text {
        "OO" => return parse_san_move(board, "O-O").ok(),
        "OOO" => return parse_san_move(board, "O-O-O").ok(),
        _ => {}
    }
    // `g1f3` moves the piece on g1, `Ng1f3` only a knight; `e1g1` castles, as does `e1h1` in Chess960
    let letter = text.chars().next().filter(char::is_ascii_uppercase);
    let squares = letter.map_or(text, |_| &text[1..]).to_ascii_lowercase();
    if let Ok(found) = parse_uci_move(board, &squares) {
        let piece = board.piece_on(found.from)?;
        let fits = letter.is_none_or(|letter| char::from(piece) == letter.to_ascii_lowercase());
        return Some(found).filter(|found| fits && board.is_legal(*found));
    }
    // a letter after the square is a promotion, also in lower case
    let (head, last) = text.split_at(text.len().checked_sub(1)?);
    let found = parse_san_move(board, &format!("{head}{}", last.to_ascii_uppercase())).ok()?;
    // cozy-chess writes castling as the king's move onto its own rook, which is not meant here
    Some(found).filter(|found| board.color_on(found.to) != Some(board.side_to_move()))
}

#[cfg(test)]
mod tests {
    use cozy_chess::{Color, File, Rank, Square};

    use super::super::spelling::san;
    use super::*;

    const GAME: &str = "[Event \"x\"]\n[White \"A\"]\n[Result \"*\"]\n\n1. e4 {+0.3/9 1s} d5 (1... e5 2. Nf3) 2. \
    exd5 $1 Qxd5 ; taken\n\
                        3. Nc3 Qxd2+ 4. Bxd2 {+9.1/9 1s} a6 *\n";

    #[test]
    fn the_position_of_a_ply_is_the_one_before_its_move() {
        let counts = material(GAME.as_bytes(), &mut [1, 3, 4, 5, 6, 7, 8].into_iter());
        assert_eq!(counts.unwrap(), [78, 78, 77, 76, 76, 75, 66]);
        let short = "[FEN \"k7/8/8/8/8/8/1q6/K7 w - - 0 1\"]\n\n1. Kxb2 *\n";
        assert_eq!(material(short.as_bytes(), &mut [1, 2].into_iter()).unwrap(), [9, 0]);
        assert_eq!(material(short.as_bytes(), &mut [3].into_iter()), Err(ReplayError::TooShort(3)));
    }

    #[test]
    fn moves_are_written_as_uci() {
        let (start, moves) = uci_moves(GAME.as_bytes(), 3).unwrap();
        assert_eq!((start, moves.join(" ")), (None, "e2e4 d7d5 e4d5".to_owned()));
        let castles = "[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O *\n";
        let (start, moves) = uci_moves(castles.as_bytes(), 9).unwrap();
        assert_eq!((start.as_deref(), moves.join(" ").as_str()), (Some("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), "e1g1"));
        assert_eq!(uci_moves(b"nothing", 9), Err(ReplayError::NoGame));
    }

    #[test]
    fn an_illegal_move_is_an_error_only_if_it_is_reached() {
        let broken = GAME.replace("a6", "Qh8");
        assert!(material(broken.as_bytes(), &mut [8].into_iter()).is_ok());
        assert_eq!(
            material(broken.as_bytes(), &mut [8, 9].into_iter()).unwrap_err().to_string(),
            "ply 8: 'Qh8' is not a legal move of exactly one piece"
        );
        let with = |tag: &str| material(format!("{tag}\n{GAME}").as_bytes(), &mut [1].into_iter());
        assert_eq!(with("[Variant \"Atomic\"]"), Err(ReplayError::Variant("Atomic".to_owned())));
        assert_eq!(with("[Variant \"Chess960\"]"), Ok(vec![78]));
        assert!(matches!(with("[FEN \"8/8/8/8/8/8/8/9 w - - 0 1\"]"), Err(ReplayError::Start(_))));
        // a rook on the 200th file
        let far = format!("[FEN \"4k3/8/8/8/8/8/8/K{}R w K - 0 1\"]", "8".repeat(25));
        assert!(matches!(with(&far), Err(ReplayError::Start(_))));
        assert_eq!(material(b"", &mut [1].into_iter()), Err(ReplayError::NoGame));
    }

    /// The board after these moves; panics with the move that is not played.
    fn after(fen: Option<&str>, moves: &str) -> Board {
        let mut board = fen.map_or_else(Board::startpos, |fen| read_fen(fen.as_bytes()).unwrap());
        for text in moves.split_whitespace() {
            play(&mut board, text).unwrap_or_else(|| panic!("{text} is not played"));
        }
        board
    }

    fn play(board: &mut Board, text: &str) -> Option<()> {
        let bytes = san(text.as_bytes()).unwrap().1.to_be_bytes();
        let text = &bytes[bytes.iter().take_while(|b| **b == 0).count()..];
        find_move(board, text).map(|found| board.play(found))
    }

    fn shown(board: &Board) -> String {
        let cell = |square: Square| match (board.piece_on(square), board.color_on(square)) {
            (Some(piece), Some(Color::White)) => char::from(piece).to_ascii_uppercase(),
            (Some(piece), _) => char::from(piece),
            _ => '.',
        };
        let row = |rank: &Rank| File::ALL.iter().map(|file| cell(Square::new(*file, *rank))).collect::<String>();
        Rank::ALL.iter().rev().map(row).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn captures_take_material_away() {
        assert_eq!(count(&Board::startpos()), 78);
        assert_eq!(count(&after(None, "e4 d5 exd5 Qxd5 Nc3 Qa5")), 76);
        // past a pawn, by White and by Black
        let board = after(None, "e4 a6 e5 d5 exd6");
        assert_eq!(
            (count(&board), shown(&board).as_str()),
            (77, "rnbqkbnr/.pp.pppp/p..P..../......../......../......../PPPP.PPP/RNBQKBNR")
        );
        assert_eq!(count(&after(None, "a3 d5 a4 d4 e4 dxe3")), 77);
        // a pawn becomes a queen, a knight
        let board = after(Some("1n5k/P1P5/8/8/8/8/8/K7 w - - 0 1"), "axb8=Q+ Kh7 c8N");
        assert_eq!(
            (count(&board), shown(&board).as_str()),
            (12, ".QN...../.......k/......../......../......../......../......../K.......")
        );
    }

    #[test]
    fn a_pinned_piece_is_not_chosen() {
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
        assert_eq!(count(&after(Some("7k/P7/8/8/8/8/8/K7 w - - 0 1"), "a7a8b")), 3);
    }

    #[test]
    fn illegal_moves_leave_the_board_unchanged() {
        let start = shown(&Board::startpos());
        for text in ["e5", "Nd2", "exd3", "Ra3", "Bb5", "Qd1", "e2e5", "e8=Q", "e4=Q", "O-O", "Kxe1", "P@e4"] {
            let mut board = Board::startpos();
            assert!(san(text.as_bytes()).is_some(), "{text}");
            assert_eq!((play(&mut board, text), shown(&board)), (None, start.clone()), "{text}");
        }
        let mut board = after(Some("7k/P7/8/8/8/8/8/K7 w - - 0 1"), "");
        assert_eq!((play(&mut board, "a8"), play(&mut board, "a8=K")), (None, None));
        for fen in [
            "",
            "8/8 w",
            "9/8/8/8/8/8/8/8 w",
            "8/8/8/8/8/8/8/8 x",
            "8/8/8/8/8/8/8/7z w",
            "8/8/8/8/8/8/8/8 w K",
            "4k3/4K3/8/8/8/8/8/8 w",
        ] {
            assert!(read_fen(fen.as_bytes()).is_none(), "{fen}");
        }
    }
}
