//! A small USI engine for 5x5 shogi with the piece values of Hanawa and Ito (2009, table 1), with and without a search
//! of captures: the four members of their councils. The search is our own: alpha-beta to a fixed depth over the values
//! of the pieces, with one point per attacked square, so that few moves are equal. It is deterministic.

use std::io::{self, BufRead, Write};

use evalcurve_calibration::types::Color;
use evalcurve_engine::board::minishogi::{Minishogi, parse};
use evalcurve_engine::board::position::{Kind, Move, Piece};
use evalcurve_engine::board::{Board, Game};
use evalcurve_engine::usi::{FromGui, Position};

/// Beyond any sum of pieces.
const MATE: i32 = 100_000;
/// Scores from here on are mates.
const MATES: i32 = MATE - 1000;
/// The longest line of captures.
const CAPTURES: u32 = 8;

/// A set of piece values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Values {
    /// 独自駒価値: those that the author of the paper's program chose.
    Own,
    /// K55駒価値: those of the program K55.
    K55,
}

impl Values {
    fn of(self, piece: Piece) -> i32 {
        let [own, k55] = match (piece.kind, piece.promoted) {
            (Kind::Pawn, false) => [40, 40],
            (Kind::Silver, false) => [115, 320],
            (Kind::Gold, _) => [130, 360],
            (Kind::Bishop, false) => [137, 520],
            (Kind::Rook, false) => [155, 640],
            (Kind::Pawn, true) => [95, 320],
            (Kind::Silver, true) => [122, 360],
            (Kind::Bishop, true) => [180, 800],
            (Kind::Rook, true) => [190, 960],
            (Kind::King | Kind::Lance | Kind::Knight, _) => [0, 0],
        };
        if self == Self::Own { own } else { k55 }
    }

    fn in_hand(self, kind: Kind) -> i32 {
        let [own, k55] = match kind {
            Kind::Pawn => [25, 48],
            Kind::Silver => [90, 440],
            Kind::Gold => [127, 480],
            Kind::Bishop => [110, 640],
            Kind::Rook => [117, 840],
            Kind::King | Kind::Lance | Kind::Knight => [0, 0],
        };
        if self == Self::Own { own } else { k55 }
    }
}

/// The engine.
#[derive(Debug, Clone, Copy)]
pub struct Engine {
    /// The piece values.
    pub values: Values,
    /// Whether it searches captures beyond its depth.
    pub captures: bool,
    /// The depth where `go` gives none.
    pub depth: u32,
}

impl Engine {
    /// Answers until `quit` or the end of the input.
    ///
    /// # Errors
    /// The input cannot be read, or the output not written.
    pub fn run(&self, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
        let mut position = Position::default();
        for line in input.lines() {
            match FromGui::parse(&line?) {
                FromGui::Greeting(protocol) => {
                    writeln!(output, "id name minishogi\nid author evalcurve\n{}", protocol.greeting_done())?;
                }
                FromGui::IsReady => writeln!(output, "readyok")?,
                FromGui::Position(next) => position = next,
                FromGui::Go(go) => {
                    let depth = go.depth.map_or(self.depth, |depth| depth.clamp(1, 20) as u32);
                    writeln!(output, "{}", self.answer(&position, depth))?;
                }
                FromGui::Quit => break,
                _ => {}
            }
            output.flush()?;
        }
        Ok(())
    }

    fn answer(&self, position: &Position, depth: u32) -> String {
        let (board, _) = Board::new(Game::Minishogi, position);
        let Some(Ok(board)) = board.text().map(|text| parse(&text)) else { return "bestmove resign".to_owned() };
        let Some((best, score)) = self.best(&board, depth) else { return "bestmove resign".to_owned() };
        let shown = match MATE - score.abs() {
            // the king would be taken a ply after the mate
            plies if plies < MATE - MATES => format!("mate {}", (plies - 1) * score.signum()),
            _ => format!("cp {score}"),
        };
        let best = board.0.usi(best);
        format!("info depth {depth} score {shown} pv {best}\nbestmove {best}")
    }

    /// The best move with its score; `None` without a legal move.
    fn best(&self, board: &Minishogi, depth: u32) -> Option<(Move, i32)> {
        let mut moves: Vec<Move> = board.legal().collect();
        self.order(board, &mut moves);
        let mut best: Option<(Move, i32)> = None;
        for m in moves {
            let bound = best.map_or(-MATE, |(_, score)| score);
            let score = -self.search(&board.after(m), depth - 1, 1, [-MATE, -bound]);
            if best.is_none_or(|(_, most)| score > most) {
                best = Some((m, score));
            }
        }
        best
    }

    /// The value for the side to move by negamax. A side without a way out loses its king two plies later.
    fn search(&self, board: &Minishogi, depth: u32, ply: i32, window: [i32; 2]) -> i32 {
        match depth {
            0 if self.captures => self.search_captures(board, CAPTURES, ply, window),
            0 => self.sum(board),
            _ => self.best_of(board, board.candidates(), ply, [ply - MATE, window[0], window[1]], |next, window| {
                self.search(next, depth - 1, ply + 1, window)
            }),
        }
    }

    fn search_captures(&self, board: &Minishogi, left: u32, ply: i32, [low, high]: [i32; 2]) -> i32 {
        let quiet = self.sum(board);
        let low = low.max(quiet);
        if low >= high || left == 0 {
            return quiet;
        }
        let captures = board.candidates().into_iter().filter(|m| taken(board, *m).is_some()).collect();
        self.best_of(board, captures, ply, [quiet, low, high], |next, window| {
            self.search_captures(next, left - 1, ply + 1, window)
        })
    }

    /// The value of the best of the moves, at least `best`, cut off at `high`. `search` gives that of a position.
    fn best_of(
        &self,
        board: &Minishogi,
        mut moves: Vec<Move>,
        ply: i32,
        [mut best, mut low, high]: [i32; 3],
        search: impl Fn(&Minishogi, [i32; 2]) -> i32,
    ) -> i32 {
        self.order(board, &mut moves);
        for m in moves {
            let score = match taken(board, m) {
                Some(Piece { kind: Kind::King, .. }) => MATE - ply,
                _ => -search(&board.after(m), [-high, -low]),
            };
            best = best.max(score);
            low = low.max(best);
            if low >= high {
                break;
            }
        }
        best
    }

    /// Captures first, the most valuable first of all.
    fn order(&self, board: &Minishogi, moves: &mut [Move]) {
        let value = |piece: Piece| if piece.kind == Kind::King { MATE } else { self.values.of(piece) };
        moves.sort_by_key(|m| std::cmp::Reverse(taken(board, *m).map_or(0, value)));
    }

    /// The pieces and attacked squares of the side to move, less those of the opponent.
    fn sum(&self, board: &Minishogi) -> i32 {
        let of = |color: Color| {
            let mut sum = 0;
            for (square, piece) in board.0.pieces(color) {
                sum += self.values.of(piece);
                board.reach(square, piece, |_| sum += 1);
            }
            for kind in [Kind::Pawn, Kind::Silver, Kind::Gold, Kind::Bishop, Kind::Rook] {
                sum += board.0.in_hand(color, kind) as i32 * self.values.in_hand(kind);
            }
            sum
        };
        of(board.0.side()) - of(board.0.side().opponent())
    }
}

fn taken(board: &Minishogi, m: Move) -> Option<Piece> {
    match m {
        Move::Drop(..) => None,
        Move::Board { to, .. } => board.0.at(to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(sfen: &str, captures: bool, depth: u32) -> (String, i32) {
        let engine = Engine { values: Values::K55, captures, depth };
        let board = parse(sfen).unwrap();
        let (m, score) = engine.best(&board, depth).unwrap();
        (board.0.usi(m), score)
    }

    #[test]
    fn mates_and_hanging_pieces_are_found() {
        // a gold before the king, covered by the pawn
        let (m, score) = best("4k/p4/4P/5/K4 b G 1", false, 3);
        assert_eq!((m.as_str(), score), ("G*1b", MATE - 2));
        // a defended pawn costs the rook: seen by the search of captures only
        let defended = "k4/1s3/p4/5/R3K b - 1";
        assert_eq!(best(defended, false, 1).0, "5e5c");
        assert_ne!(best(defended, true, 1).0, "5e5c");
    }

    #[test]
    fn pruning_does_not_change_the_value() {
        fn plain(engine: &Engine, board: &Minishogi, depth: u32, ply: i32) -> i32 {
            if depth == 0 {
                return engine.sum(board);
            }
            let value = |m: Move| match taken(board, m) {
                Some(Piece { kind: Kind::King, .. }) => MATE - ply,
                _ => -plain(engine, &board.after(m), depth - 1, ply + 1),
            };
            board.candidates().into_iter().map(value).max().unwrap_or(ply - MATE)
        }
        let engine = Engine { values: Values::Own, captures: false, depth: 3 };
        for sfen in ["rbsgk/4p/5/P4/KGSBR b - 1", "r2gk/2s1p/1b3/P1B2/KGS1R w - 1", "4k/5/2G2/5/K1R2 w BSbsgp 1"] {
            let board = parse(sfen).unwrap();
            let values = board.legal().map(|m| -plain(&engine, &board.after(m), 2, 1));
            assert_eq!(engine.best(&board, 3).unwrap().1, values.max().unwrap(), "{sfen}");
        }
    }

    #[test]
    fn it_answers_as_a_usi_engine() {
        let engine = Engine { values: Values::Own, captures: true, depth: 2 };
        let mut out = Vec::new();
        let input =
            "usi\nisready\nposition startpos moves 1e1d\ngo depth 2\nposition sfen 4k/4G/4R/5/K4 w - 1\ngo\nquit\n";
        engine.run(input.as_bytes(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("usiok\nreadyok\ninfo depth 2 score cp "), "{out}");
        assert!(out.ends_with("bestmove resign\n"), "{out}");
    }
}
