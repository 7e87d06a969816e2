//! Shogi, by haitaka.

use evalcurve_calibration::types::Color;
use haitaka::{BitBoard, Move, Piece};

use super::position::Position;
use super::{ReadRules, Rules};

#[derive(Debug, Clone)]
struct Shogi(haitaka::Board);

/// Reads an SFEN without its move number: it should count from 1, but some programs write 0.
pub(super) fn read(text: Option<&str>) -> ReadRules {
    let Some(text) = text else { return Ok(Box::new(Shogi(haitaka::Board::startpos()))) };
    let fields: Vec<&str> = text.split_whitespace().take(3).collect();
    let sfen = fields.join(" ");
    // the crate panics at ranks and hands that are too large
    let read = match Position::from_sfen(&sfen) {
        Some(_) => haitaka::Board::from_sfen(&sfen).map_err(|e| e.to_string()),
        None => Err("its board, side or hands cannot be read".to_owned()),
    };
    Ok(Box::new(Shogi(read?)))
}

fn parse(text: &str) -> Option<Move> {
    // the crate also accepts `p*5e`, which no program writes
    let drop = text.as_bytes().get(1) == Some(&b'*');
    let valid = text.is_ascii() && (4..=5).contains(&text.len()) && (!drop || text.as_bytes()[0].is_ascii_uppercase());
    if valid { text.parse().ok() } else { None }
}

impl Shogi {
    fn legal(&self, text: &str) -> Option<Move> {
        parse(text).filter(|m| self.0.generate_moves(|of_piece| of_piece.into_iter().any(|legal| legal == *m)))
    }
}

impl Rules for Shogi {
    fn boxed(&self) -> Box<dyn Rules> {
        Box::new(self.clone())
    }

    fn side(&self) -> Color {
        if self.0.side_to_move() == haitaka::Color::Black { Color::Black } else { Color::White }
    }

    fn legal_moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        self.0.generate_moves(|of_piece| {
            moves.extend(of_piece.into_iter().map(|m| m.to_string()));
            false
        });
        moves
    }

    fn normalized(&self, text: &str) -> Option<String> {
        self.legal(text).map(|_| text.to_owned())
    }

    fn play(&mut self, text: &str) -> bool {
        // the crate's own check takes a drop of a piece that is not in hand for legal
        self.legal(text).is_some_and(|m| self.0.try_play(m).is_ok())
    }

    fn in_check(&self) -> bool {
        !self.0.checkers().is_empty()
    }

    fn text(&self) -> String {
        self.0.to_string()
    }

    fn identity(&self) -> String {
        let text = self.0.to_string();
        // without the move number
        text.rsplit_once(' ').map_or(text.clone(), |(position, _)| position.to_owned())
    }

    fn record_text(&self, text: &str) -> Option<String> {
        self.legal(text)?;
        Position::from_sfen(&self.0.to_string())?.csa_of_usi(text)
    }

    fn may_declare(&self) -> bool {
        let board = &self.0;
        let side = board.side_to_move();
        let camp = haitaka::prom_zone(side) & board.colors(side);
        if !board.checkers().is_empty() || !camp.has(board.king(side)) {
            return false;
        }
        let great = |set: BitBoard| {
            [Piece::Rook, Piece::Bishop, Piece::PRook, Piece::PBishop]
                .iter()
                .map(|&p| (board.pieces(p) & set).len())
                .sum::<u32>()
        };
        let others = camp.len().saturating_sub(1);
        let hand: u32 = Piece::ALL
            .iter()
            .zip(board.hand(side))
            .map(|(&piece, &count)| u32::from(count) * if matches!(piece, Piece::Rook | Piece::Bishop) { 5 } else { 1 })
            .sum();
        let points = others + 4 * great(camp) + hand;
        others >= 10 && points >= if side == haitaka::Color::Black { 28 } else { 27 }
    }
}
