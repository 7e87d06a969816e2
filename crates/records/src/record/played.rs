//! The start position and the moves of a game, as engines are told them.

use evalcurve_calibration::types::Color;

use super::pgn::replay::fens;
use super::position::{Position, WHITE, letters, piece_code, promote, square};

/// How a game was played. A reader fills it if the caller puts one into [`Game::played`](super::Game::played).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Played {
    /// The start position as SFEN or FEN; `None` for the standard one.
    pub start: Option<String>,
    /// The side that moves first.
    pub first: Color,
    /// The moves as USI or UCI writes them.
    pub moves: Vec<String>,
    /// Instead of moves, single positions of the game as SFEN or FEN, with ply and side to move, in the order of play.
    pub positions: Vec<(u32, Color, String)>,
    /// The moves of shogi as CSA writes them, until the start position is known.
    pub(super) tokens: Vec<[u8; 7]>,
}

impl Default for Played {
    fn default() -> Self {
        Self { start: None, first: Color::Black, moves: Vec::new(), positions: Vec::new(), tokens: Vec::new() }
    }
}

impl Played {
    /// The positions as SFEN or FEN with ply and side to move: before each move and after the last, up to the first
    /// move that its position does not have.
    pub(super) fn texts(&self, chess: bool) -> Vec<(u32, Color, String)> {
        if !self.positions.is_empty() {
            return self.positions.clone();
        }
        let side = |ply: u32| if ply % 2 == 1 { self.first } else { self.first.opponent() };
        let texts = if chess { fens(self.start.as_deref(), &self.moves) } else { self.sfens() };
        (1..).zip(texts).map(|(ply, text)| (ply, side(ply), text)).collect()
    }

    fn sfens(&self) -> Vec<String> {
        let start = self.start.as_deref().map_or(Some(Position::EVEN), Position::from_sfen);
        walked(start, &self.moves, |board, text| board.play_usi(text), Position::sfen)
    }

    /// Turns the moves of a shogi game into those of USI, up to the first that no piece on its square can have made.
    pub(super) fn shogi(&mut self, start: &Position) {
        self.first = start.side_to_move;
        self.start = (*start != Position::EVEN).then(|| start.sfen());
        let mut board = start.clone();
        for token in std::mem::take(&mut self.tokens) {
            let Some(text) = usi_move(&mut board, token) else { break };
            self.moves.push(text);
        }
    }
}

/// The texts of a board before each move and after the last, up to the first that is not played.
pub(super) fn walked<B>(
    start: Option<B>,
    moves: &[String],
    play: impl Fn(&mut B, &[u8]) -> Option<()>,
    text: impl Fn(&B) -> String,
) -> Vec<String> {
    let Some(mut board) = start else { return Vec::new() };
    let first = text(&board);
    let later = moves.iter().map_while(|found| play(&mut board, found.as_bytes()).map(|()| text(&board)));
    [first].into_iter().chain(later).collect()
}

/// A move of CSA as USI writes it. It is played on the board.
fn usi_move(board: &mut Position, [sign, a, b, c, d, p, q]: [u8; 7]) -> Option<String> {
    let color = if sign == b'+' { Color::Black } else { Color::White };
    let after = piece_code(&[p, q])?;
    let name = |file: u8, rank: u8| format!("{}{}", char::from(file), char::from(b'a' + (rank - b'1')));
    let to = square([c, d])?;
    let (from, text) = match square([a, b]) {
        None => (None, format!("{}*{}", letters(after), name(c, d))),
        Some(from) => {
            let before = board.squares[from] & (WHITE - 1);
            let promotes = before != after;
            if before == 0 || (promotes && promote(before) != Some(after)) {
                return None;
            }
            (Some(from), name(a, b) + &name(c, d) + if promotes { "+" } else { "" })
        }
    };
    board.play(color, from, to, after);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::{Above, Format, Game};
    use super::*;

    fn played(text: &str) -> Played {
        let mut game = Game { played: Some(Played::default()), ..Game::default() };
        let format = Format::detect(text.as_bytes()).unwrap();
        format.games(text.as_bytes(), &Above::default()).read(&mut game).unwrap().unwrap();
        game.played.unwrap()
    }

    #[test]
    fn moves_are_those_of_usi_in_every_shogi_format() {
        let csa = "V2.2\nN+a\nN-b\nPI\n+\n+7776FU\nT1\n'** 30 -3334FU\n-3334FU\nT1\n+8822UM\nT1\n-3122GI\nT1\n+0055KA\n\
                   T1\n%TORYO\n";
        let moves = ["7g7f", "3c3d", "8h2b+", "3a2b", "B*5e"];
        assert_eq!((played(csa).start, played(csa).moves), (None, moves.map(str::to_owned).to_vec()));
        let kif = "手合割：平手\n先手：a\n後手：b\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   \
                   3 ２二角成(88)\n   4 同　銀(31)\n   5 ５五角打\n   6 投了\n";
        assert_eq!(played(kif).moves, moves);
        let ki2 = "先手：a\n後手：b\n\n▲７六歩 △３四歩 ▲２二角成 △同銀 ▲５五角\nまで5手で先手の勝ち\n";
        assert_eq!(played(ki2).moves, moves);
        // a rook that is not there ends the moves
        assert_eq!(played(&csa.replace("-3334FU\nT1\n+8822UM", "-3335FU\nT1\n+9922UM")).moves.len(), 2);
    }

    #[test]
    fn positions_follow_the_moves() {
        let texts = |chess, start: Option<&str>, moves: &str| {
            let moves = moves.split(' ').map(str::to_owned).collect();
            Played { start: start.map(str::to_owned), moves, ..Played::default() }.texts(chess)
        };
        let all = texts(false, None, "7g7f 3c3d 8h2b+ 3a2b B*5e");
        assert_eq!((all.len(), all[0].1, all[5].1), (6, Color::Black, Color::White));
        assert_eq!(all[4].2, "lnsgkg1nl/1r5s1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL b Bb 1");
        assert_eq!(all[5].2, "lnsgkg1nl/1r5s1/pppppp1pp/6p2/4B4/2P6/PP1PPPPPP/7R1/LNSGKGSNL w b 1");
        // they end before what no piece can move, and there are none without a start
        assert_eq!([texts(false, None, "7g7f 5e5d 3c3d").len(), texts(true, Some("8/8"), "e2e4").len()], [2, 0]);
        let fen = |start, moves| texts(true, start, moves).pop().unwrap().2;
        assert_eq!(fen(None, "e2e4 e7e5 g1f3"), "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
        let castles = Some("4k3/8/8/8/8/8/8/R3K2R w KQ - 3 30");
        assert_eq!(fen(castles, "e1g1 e8d8"), "3k4/8/8/8/8/8/8/R4RK1 w - - 5 31");
        // the inner rook castles
        assert_eq!(fen(Some("4k3/8/8/8/8/8/8/K4R1R w F - 0 1"), "h1h2"), "4k3/8/8/8/8/8/7R/K4R2 b K - 1 1");
        assert_eq!(fen(Some("4k3/8/8/8/8/8/8/K4R1R w F - 0 1"), "a1a1"), "4k3/8/8/8/8/8/8/K4R1R w F - 0 1");
    }

    #[test]
    fn start_positions_are_sfen() {
        let handicap = "V2.2\nN+a\nN-b\nPI82HI\n-\n-3142GI\nT1\n+7776FU\nT1\n%TORYO\n";
        let found = played(handicap);
        assert_eq!(
            (found.start.as_deref(), found.first),
            (Some("lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"), Color::White)
        );
        assert_eq!(found.moves, ["3a4b", "7g7f"]);
        let mut mate = Position::EMPTY;
        assert_eq!(mate.read_csa(b"+27OU00KI00FU00FU"), Some(()));
        assert_eq!(mate.read_csa(b"-25OU11RY00HI"), Some(()));
        assert_eq!(mate.sfen(), "8+r/9/9/9/7k1/9/7K1/9/9 b G2Pr 1");
    }
}
