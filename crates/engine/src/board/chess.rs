//! Chess and Chess960, by cozy-chess.

use cozy_chess::util::{display_san_move, display_uci_move, parse_uci_move};
use cozy_chess::{FenParseError, File, Move, Piece, Rank, Square};
use evalcurve_calibration::types::Color;
use evalcurve_words::fen::rook_files;

use super::{ReadRules, Rules};

#[derive(Debug, Clone)]
struct Chess {
    board: cozy_chess::Board,
    /// Castling is written as the king taking its rook, as in Chess960, instead of the king's two steps.
    king_takes_rook: bool,
    /// What of the FEN contradicts its pieces.
    left_out: Option<&'static str>,
}

/// Reads a FEN, whose counters may be missing or out of range. Castling rights are those of FEN, X-FEN or Shredder-FEN.
pub(super) fn read(text: Option<&str>, chess960: bool) -> ReadRules {
    let (board, left_out) = match text {
        None => (cozy_chess::Board::default(), None),
        Some(text) => read_fen(text).map_err(|e| e.to_string())?,
    };
    let king_takes_rook = chess960 || !has_standard_castling(&board);
    Ok(Box::new(Chess { board, king_takes_rook, left_out }))
}

/// An initial position of Chess960 as X-FEN, by its number from 0 to 959.
pub(super) fn start(number: u32) -> String {
    let board = cozy_chess::Board::chess960_startpos(number);
    // the outermost rooks castle, so that the rights need no files
    board.to_string()
}

/// The board, and what of the FEN contradicts its pieces. Engines differ in what they do then, but the moves of the
/// pieces are clear.
fn read_fen(text: &str) -> Result<(cozy_chess::Board, Option<&'static str>), FenParseError> {
    let mut fields: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if let given @ 4..=5 = fields.len() {
        fields.extend(["0", "1"][given - 4..].iter().map(|&counter| counter.to_owned()));
    }
    if let [placement, _, rights, _, quiet, number] = &mut fields[..] {
        *rights = rook_files(placement, rights);
        for (counter, range) in [(quiet, 0..=100), (number, 1..=u64::from(u16::MAX))] {
            if let Ok(value) = counter.parse::<u64>() {
                *counter = value.clamp(*range.start(), *range.end()).to_string();
            }
        }
    }
    let read = |fields: &[String]| cozy_chess::Board::from_fen(&fields.join(" "), true);
    match read(&fields) {
        Ok(board) => without_touching_kings(board).map(|board| (board, None)),
        Err(FenParseError::InvalidCastlingRights) => {
            let given = fields[2].clone();
            let mut is_valid = |rights: String| {
                fields[2] = rights;
                !matches!(read(&fields), Err(FenParseError::InvalidCastlingRights))
            };
            let (mut rights, mut left_out) = (String::new(), "castling rights that it has twice");
            for right in given.chars() {
                // rights that are valid alone may not be valid together, as when one is there twice
                if is_valid(format!("{rights}{right}")) {
                    rights.push(right);
                } else if !is_valid(right.to_string()) {
                    left_out = "castling rights without a king and a rook in their places";
                }
            }
            fields[2] = if rights.is_empty() { "-".to_owned() } else { rights };
            let (board, _) = read_fen(&fields.join(" "))?;
            Ok((board, Some(left_out)))
        }
        Err(FenParseError::InvalidEnPassant) => {
            fields[3] = "-".to_owned();
            Ok((without_touching_kings(read(&fields)?)?, Some("an en passant square that no pawn has passed")))
        }
        Err(e) => Err(e),
    }
}

fn without_touching_kings(board: cozy_chess::Board) -> Result<cozy_chess::Board, FenParseError> {
    // the crate accepts kings that touch, and ends the program after one has taken the other
    if cozy_chess::get_king_moves(board.king(cozy_chess::Color::White)).has(board.king(cozy_chess::Color::Black)) {
        return Err(FenParseError::InvalidBoard);
    }
    Ok(board)
}

/// Whether all castling rights are those of standard chess: kings on the e-file, rooks on the a-file and the h-file.
fn has_standard_castling(board: &cozy_chess::Board) -> bool {
    use cozy_chess::Color;
    [Color::White, Color::Black].into_iter().all(|color| {
        let rights = board.castle_rights(color);
        let none = rights.short.is_none() && rights.long.is_none();
        let rooks = rights.short.is_none_or(|f| f == File::H) && rights.long.is_none_or(|f| f == File::A);
        none || (rooks && board.king(color).file() == File::E)
    })
}

impl Chess {
    /// The move, if it is legal. Castling may be written in either way; what is both is read in the notation of the
    /// board.
    fn legal(&self, text: &str) -> Option<Move> {
        if !text.is_ascii() || !(4..=5).contains(&text.len()) {
            return None;
        }
        let (as_written, by_steps) = (text.parse(), parse_uci_move(&self.board, text));
        let readings = if self.king_takes_rook { [as_written, by_steps] } else { [by_steps, as_written] };
        readings.into_iter().flatten().find(|m| {
            // the crate reads promotions to pawn or king as moves without promotion
            (text.len() == 4 || m.promotion.is_some())
                && self.board.generate_moves(|of_piece| of_piece.into_iter().any(|legal| legal == *m))
        })
    }

    fn shown(&self, m: Move) -> String {
        if self.king_takes_rook { m.to_string() } else { display_uci_move(&self.board, m).to_string() }
    }

    /// The square that a pawn has passed, if a capture en passant is legal.
    fn en_passant(&self) -> Option<Square> {
        let square = Square::new(self.board.en_passant()?, Rank::Sixth.relative_to(self.board.side_to_move()));
        let pawns = self.board.colored_pieces(self.board.side_to_move(), Piece::Pawn);
        let captures = |of_piece: cozy_chess::PieceMoves| {
            of_piece.from.file() != square.file() && of_piece.into_iter().any(|m| m.to == square)
        };
        self.board.generate_moves_for(pawns, captures).then_some(square)
    }
}

impl Rules for Chess {
    fn boxed(&self) -> Box<dyn Rules> {
        Box::new(self.clone())
    }

    fn side(&self) -> Color {
        if self.board.side_to_move() == cozy_chess::Color::Black { Color::Black } else { Color::White }
    }

    fn legal_moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        self.board.generate_moves(|of_piece| {
            moves.extend(of_piece.into_iter().map(|m| self.shown(m)));
            false
        });
        moves
    }

    fn normalized(&self, text: &str) -> Option<String> {
        self.legal(text).map(|m| self.shown(m))
    }

    fn play(&mut self, text: &str) -> bool {
        self.legal(text).is_some_and(|m| self.board.try_play(m).is_ok())
    }

    fn in_check(&self) -> bool {
        !self.board.checkers().is_empty()
    }

    fn text(&self) -> String {
        if self.king_takes_rook { format!("{:#}", self.board) } else { self.board.to_string() }
    }

    fn identity(&self) -> String {
        let text = format!("{:#}", self.board);
        let fields: Vec<&str> = text.split(' ').take(3).collect();
        let passed = self.en_passant().map_or_else(String::new, |square| square.to_string());
        format!("{} {passed}", fields.join(" "))
    }

    fn record_text(&self, text: &str) -> Option<String> {
        self.legal(text).map(|m| display_san_move(&self.board, m).to_string())
    }

    fn material(&self) -> Option<u32> {
        use Piece::{Bishop, Knight, Pawn, Queen, Rook};
        let counts = [(Pawn, 1), (Knight, 3), (Bishop, 3), (Rook, 5), (Queen, 9)];
        Some(counts.into_iter().map(|(piece, worth)| worth * self.board.pieces(piece).len()).sum())
    }

    fn king_takes_rook(&self) -> bool {
        self.king_takes_rook
    }

    fn left_out(&self) -> Option<&'static str> {
        self.left_out
    }

    fn is_dead(&self) -> bool {
        let (all, bishops) = (self.board.occupied().len(), self.board.pieces(Piece::Bishop));
        let minor = bishops.len() + self.board.pieces(Piece::Knight).len();
        let dark = |square: Square| (square.file() as usize + square.rank() as usize).is_multiple_of(2);
        let dark = bishops.into_iter().filter(|square| dark(*square)).count();
        all == 2
            || (all == 3 && minor == 1)
            || (all == 2 + bishops.len() && (dark == 0 || dark == bishops.len() as usize))
    }

    fn quiet_plies(&self) -> u32 {
        u32::from(self.board.halfmove_clock())
    }

    fn finished_moves(&self) -> Option<u32> {
        Some(u32::from(self.board.fullmove_number()).saturating_sub(1))
    }
}
