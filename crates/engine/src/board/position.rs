//! Shogi positions as SFEN and as the rows of CSA, on boards of any size up to nine files and ranks (5五将棋).
//!
//! Moves are played without checking whether they are legal, which is the task of the board.

use evalcurve_calibration::types::Color;

use super::Game;

/// A kind of piece. All but the king may be in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 歩
    Pawn,
    /// 香
    Lance,
    /// 桂
    Knight,
    /// 銀
    Silver,
    /// 金
    Gold,
    /// 角
    Bishop,
    /// 飛
    Rook,
    /// 王
    King,
}

impl Kind {
    /// By value.
    pub(super) const ALL: [Self; 8] = {
        use Kind::{Bishop, Gold, King, Knight, Lance, Pawn, Rook, Silver};
        [Pawn, Lance, Knight, Silver, Gold, Bishop, Rook, King]
    };
}

/// The pieces in SFEN and in CSA notation, unpromoted and promoted, in the order of [`Kind`]; gold and king do not
/// promote.
pub const PIECES: [(u8, &str, &str); 8] = [
    (b'P', "FU", "TO"),
    (b'L', "KY", "NY"),
    (b'N', "KE", "NK"),
    (b'S', "GI", "NG"),
    (b'G', "KI", "KI"),
    (b'B', "KA", "UM"),
    (b'R', "HI", "RY"),
    (b'K', "OU", "OU"),
];

/// How many pieces of each kind shogi has, in the order of [`Kind`].
const COUNTS: [u32; 8] = [18, 4, 4, 4, 4, 2, 2, 2];

/// The initial position.
pub const STARTPOS: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

/// A piece on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Whose it is.
    pub color: Color,
    /// What it is, promoted or not.
    pub kind: Kind,
    pub promoted: bool,
}

impl Piece {
    fn csa(self) -> &'static str {
        let (_, plain, promoted) = PIECES[self.kind as usize];
        if self.promoted { promoted } else { plain }
    }

    fn sfen(self) -> String {
        let letter = letter(self.kind);
        let letter = if self.color == Color::Black { letter } else { letter.to_ascii_lowercase() };
        format!("{}{letter}", if self.promoted { "+" } else { "" })
    }
}

/// A move or a drop. Squares are numbered by rank from the top, then by file from the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// A piece in hand onto a square.
    Drop(Kind, usize),
    /// A piece on the board.
    Board {
        /// The square that it leaves.
        from: usize,
        /// The square that it moves to.
        to: usize,
        promotes: bool,
    },
}

fn sign(color: Color) -> char {
    if color == Color::Black { '+' } else { '-' }
}

fn letter(kind: Kind) -> char {
    char::from(PIECES[kind as usize].0)
}

fn kind_of_letter(letter: u8) -> Option<Kind> {
    PIECES.iter().position(|(l, ..)| *l == letter.to_ascii_uppercase()).map(|at| Kind::ALL[at])
}

/// A position: the board, the hands and the side to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    files: usize,
    ranks: usize,
    /// By rank from the top, then by file from the left, so the highest file comes first.
    squares: Vec<Option<Piece>>,
    /// By colour and kind.
    hands: [[u32; 7]; 2],
    side: Color,
}

impl Position {
    /// Parses an SFEN (`board side hands [number]`); `None` if it is invalid.
    pub fn from_sfen(sfen: &str) -> Option<Self> {
        let mut words = sfen.split_ascii_whitespace();
        let rows: Vec<&str> = words.next()?.split('/').collect();
        let mut squares = Vec::new();
        let mut files = 0;
        for row in &rows {
            let before = squares.len();
            let mut promoted = false;
            for byte in row.bytes() {
                match byte {
                    b'1'..=b'9' if !promoted => squares.extend((b'0'..byte).map(|_| None)),
                    b'+' if !promoted => promoted = true,
                    letter => {
                        let color = if letter.is_ascii_uppercase() { Color::Black } else { Color::White };
                        let kind = kind_of_letter(letter)?;
                        if promoted && matches!(kind, Kind::Gold | Kind::King) {
                            return None;
                        }
                        squares.push(Some(Piece { color, kind, promoted }));
                        promoted = false;
                    }
                }
            }
            let length = squares.len() - before;
            if promoted || !(1..=9).contains(&length) || (files != 0 && length != files) {
                return None;
            }
            files = length;
        }
        if rows.len() > 9 {
            return None;
        }
        let side = match words.next()? {
            "b" => Color::Black,
            "w" => Color::White,
            _ => return None,
        };
        let mut hands = [[0u32; 7]; 2];
        let mut count = 0u32;
        for byte in words.next()?.bytes() {
            match byte {
                b'-' => {}
                b'0'..=b'9' => count = count.saturating_mul(10).saturating_add(u32::from(byte - b'0')),
                letter => {
                    let side = usize::from(letter.is_ascii_lowercase());
                    let held = hands[side].get_mut(kind_of_letter(letter)? as usize)?;
                    *held = held.saturating_add(count.max(1));
                    count = 0;
                }
            }
        }
        // a number that no piece follows
        if count > 0 {
            return None;
        }
        Self { files, ranks: rows.len(), squares, hands, side }.possible()
    }

    /// The position, if it has no more pieces of a kind than the game, so that no capture can fill a hand beyond them.
    fn possible(self) -> Option<Self> {
        Kind::ALL.iter().zip(COUNTS).all(|(kind, most)| self.count(*kind) <= most).then_some(self)
    }

    /// How many pieces of a kind are on the board and in the hands.
    pub(super) fn count(&self, kind: Kind) -> u32 {
        let on_board = self.squares.iter().flatten().filter(|piece| piece.kind == kind).count() as u32;
        let held = self.hands.iter().filter_map(|hand| hand.get(kind as usize));
        held.fold(on_board, |sum, held| sum.saturating_add(*held))
    }

    /// Writes an SFEN. Its move number is 1, since the protocol does not have one.
    pub fn to_sfen(&self) -> String {
        let row = |squares: &[Option<Piece>]| {
            let runs = squares.chunk_by(|a, b| a.is_none() && b.is_none());
            runs.map(|run| run[0].map_or_else(|| run.len().to_string(), Piece::sfen)).collect::<String>()
        };
        let rows: Vec<String> = self.squares.chunks(self.files.max(1)).map(row).collect();
        let mut hands = String::new();
        for (color, hand) in [Color::Black, Color::White].into_iter().zip(&self.hands) {
            // rook, bishop, gold, silver, knight, lance, pawn: the order of USI
            for (kind, count) in Kind::ALL.into_iter().zip(*hand).rev().filter(|(_, count)| *count > 0) {
                hands += &if count > 1 { count.to_string() } else { String::new() };
                hands += &Piece { color, kind, promoted: false }.sfen();
            }
        }
        let side = if self.side == Color::Black { 'b' } else { 'w' };
        format!("{} {side} {} 1", rows.join("/"), if hands.is_empty() { "-" } else { &hands })
    }

    /// The same position on nine files and ranks, in the corner of square 11, so that squares keep their numbers.
    #[must_use]
    pub fn on_nine_files(&self) -> Self {
        let mut squares = vec![None; 81];
        for (rank, row) in self.squares.chunks(self.files.max(1)).enumerate() {
            squares[9 * rank + 9 - row.len()..9 * rank + 9].copy_from_slice(row);
        }
        Self { files: 9, ranks: 9, squares, ..self.clone() }
    }

    /// Writes the lines of CSA: the rows `P1…`, the hands `P+…` and `P-…`, and the side to move `+` or `-`.
    pub fn to_csa(&self) -> Vec<String> {
        let mut lines: Vec<String> = (1..)
            .zip(self.squares.chunks(self.files.max(1)))
            .map(|(rank, row)| {
                let cell = |piece: &Option<Piece>| match piece {
                    Some(piece) => format!("{}{}", sign(piece.color), piece.csa()),
                    None => " * ".to_owned(),
                };
                format!("P{rank}{}", row.iter().map(cell).collect::<String>())
            })
            .collect();
        for (color, hand) in [Color::Black, Color::White].into_iter().zip(&self.hands) {
            let mut line = format!("P{}", sign(color));
            for (kind, &count) in hand.iter().enumerate() {
                line += &format!("00{}", PIECES[kind].1).repeat(count as usize);
            }
            lines.push(line);
        }
        lines.push(sign(self.side).to_string());
        lines
    }

    /// The game by the size of the board: shogi, 5x5 shogi, or one with unknown rules.
    pub fn game(&self) -> Game {
        match (self.files, self.ranks) {
            (9, 9) => Game::Shogi,
            (5, 5) => Game::Minishogi,
            _ => Game::OtherUsi,
        }
    }

    /// The side to move.
    pub fn side(&self) -> Color {
        self.side
    }

    /// The piece on a square.
    pub fn at(&self, square: usize) -> Option<Piece> {
        self.squares.get(square).copied().flatten()
    }

    /// How many pieces of a kind a side has in hand.
    pub fn in_hand(&self, color: Color, kind: Kind) -> u32 {
        self.hands[color.index()].get(kind as usize).copied().unwrap_or(0)
    }

    /// The pieces of a side on the board with their squares.
    pub fn pieces(&self, color: Color) -> impl Iterator<Item = (usize, Piece)> + '_ {
        let pieces = self.squares.iter().enumerate().filter_map(|(square, piece)| Some((square, (*piece)?)));
        pieces.filter(move |(_, piece)| piece.color == color)
    }

    /// The number of a USI square, `7g`.
    fn square(&self, text: &[u8]) -> Option<usize> {
        let [file @ b'1'..=b'9', rank @ b'a'..=b'i'] = text else { return None };
        let (file, rank) = (usize::from(file - b'0'), usize::from(rank - b'a'));
        (file <= self.files && rank < self.ranks).then(|| rank * self.files + self.files - file)
    }

    /// A square with its rank counted from `first`: `a` in USI, `1` in CSA.
    fn square_text(&self, square: usize, first: u8) -> String {
        let (rank, column) = (square / self.files, square % self.files);
        format!("{}{}", self.files - column, char::from(first + rank as u8))
    }

    /// Reads a USI move (`7g7f`, `8h2b+`, `B*5e`). `None` for text that is not a move, a move from an empty square or
    /// of the other side's piece, and a drop of a piece that is not in hand.
    fn read_usi(&self, text: &str) -> Option<Move> {
        match text.as_bytes() {
            [letter, b'*', to @ ..] => {
                let kind = kind_of_letter(*letter).filter(|kind| self.in_hand(self.side, *kind) > 0)?;
                Some(Move::Drop(kind, self.square(to)?))
            }
            [a, b, c, d, rest @ ..] if matches!(rest, [] | [b'+']) => {
                let (from, to) = (self.square(&[*a, *b])?, self.square(&[*c, *d])?);
                let own = self.at(from).filter(|piece| piece.color == self.side);
                own.map(|_| Move::Board { from, to, promotes: !rest.is_empty() })
            }
            _ => None,
        }
    }

    /// A move in USI notation.
    pub fn usi(&self, m: Move) -> String {
        let square = |square| self.square_text(square, b'a');
        match m {
            Move::Drop(kind, to) => format!("{}*{}", letter(kind), square(to)),
            Move::Board { from, to, promotes } => {
                format!("{}{}{}", square(from), square(to), if promotes { "+" } else { "" })
            }
        }
    }

    /// A move in CSA notation (`+7776FU`), which names the piece after the move.
    pub(super) fn csa(&self, m: Move) -> String {
        let square = |square| self.square_text(square, b'1');
        let (from, to) = match m {
            Move::Drop(_, to) => ("00".to_owned(), to),
            Move::Board { from, to, .. } => (square(from), to),
        };
        let name = self.moved(m).map_or("", Piece::csa);
        format!("{}{from}{}{name}", sign(self.side), square(to))
    }

    /// The piece of a move as it stands after it.
    fn moved(&self, m: Move) -> Option<Piece> {
        match m {
            Move::Drop(kind, _) => Some(Piece { color: self.side, kind, promoted: false }),
            Move::Board { from, promotes, .. } => {
                self.at(from).map(|piece| Piece { promoted: piece.promoted || promotes, ..piece })
            }
        }
    }

    /// The position after a move.
    #[must_use]
    pub fn after(&self, m: Move) -> Self {
        let mut next = Self { side: self.side.opponent(), ..self.clone() };
        let hand = &mut next.hands[self.side.index()];
        let to = match m {
            Move::Drop(kind, to) => {
                hand[kind as usize] = hand[kind as usize].saturating_sub(1);
                to
            }
            Move::Board { from, to, .. } => {
                next.squares[from] = None;
                to
            }
        };
        if let Some(held) = self.at(to).and_then(|taken| hand.get_mut(taken.kind as usize)) {
            *held += 1;
        }
        next.squares[to] = self.moved(m);
        next
    }

    /// The position after a USI move.
    pub fn play(&self, usi: &str) -> Option<Self> {
        self.read_usi(usi).map(|m| self.after(m))
    }

    /// A USI move in CSA notation.
    pub fn csa_of_usi(&self, usi: &str) -> Option<String> {
        self.read_usi(usi).map(|m| self.csa(m))
    }

    /// A CSA move in USI notation. CSA names the piece after the move, so only the board shows whether it promotes.
    pub fn usi_of_csa(&self, csa: &str) -> Option<String> {
        let (from, to, name) = (csa.get(1..3)?, csa.get(3..5)?, csa.get(5..)?);
        // ranks are digits in CSA and letters in USI
        let square = |digits: &str| {
            let &[file, rank] = digits.as_bytes() else { return None };
            Some(format!("{}{}", char::from(file), char::from(rank.checked_add(b'a' - b'1')?)))
        };
        let to = square(to)?;
        let from = match from {
            "00" => format!("{}*", PIECES.iter().find(|(_, plain, _)| *plain == name).map(|p| char::from(p.0))?),
            from => square(from)?,
        };
        let moves = [format!("{from}{to}"), format!("{from}{to}+")];
        moves.into_iter().find(|usi| self.csa_of_usi(usi).as_deref() == Some(csa))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_round_trip() {
        let middle = "ln1g3nl/1r1sgk3/p1p1pppp1/1p1p4p/9/2PP2P2/PPS1PP2P/2R1G1SK1/LN3G1NL w BPb 1";
        // 5五将棋
        let small = "rbsgk/4p/5/P4/KGSBR b - 1";
        for sfen in [STARTPOS, middle, small, "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1", "+r+b2k/5/5/5/K4 w - 1"] {
            assert_eq!(Position::from_sfen(sfen).unwrap().to_sfen(), sfen);
        }
        let large = Position::from_sfen(small).unwrap().on_nine_files();
        assert_eq!(large.to_sfen(), "4rbsgk/8p/9/4P4/4KGSBR/9/9/9/9 b - 1");
        let games = [STARTPOS, small, "rk/2/KR b - 1"].map(|sfen| Position::from_sfen(sfen).unwrap().game());
        assert_eq!(games, [Game::Shogi, Game::Minishogi, Game::OtherUsi]);
        let lines = Position::from_sfen(STARTPOS).unwrap().to_csa();
        assert_eq!(lines[1], "P2 * -HI *  *  *  *  * -KA * ");
        assert_eq!(lines[9..], ["P+", "P-", "+"]);
        for bad in [
            "",
            "lnsgkgsnl/8 b - 1",
            "x8 b - 1",
            "9/9 x - 1",
            "9/9 b Q 1",
            "+/9 b -",
            "+K8 b - 1",
            "+g8 b - 1",
            "9 b 19P 1",
            "9 b 10p9p 1",
            // five golds, nineteen pawns
            "4ggg2 b 2G 1",
            "ppppppppp/ppppppppp b P 1",
            "/9 b - 1",
            " b - 1",
        ] {
            assert_eq!(Position::from_sfen(bad), None, "{bad}");
        }
    }

    #[test]
    fn moves_round_trip() {
        let mut position = Position::from_sfen(STARTPOS).unwrap();
        let game = [
            ("7g7f", "+7776FU"),
            ("3c3d", "-3334FU"),
            ("8h2b+", "+8822UM"),
            ("3a2b", "-3122GI"),
            ("B*5e", "+0055KA"),
            ("2b3c", "-2233GI"),
            ("5e3c+", "+5533UM"),
            ("2a3c", "-2133KE"),
        ];
        for (usi, csa) in game {
            assert_eq!(position.csa_of_usi(usi).as_deref(), Some(csa));
            assert_eq!(position.usi_of_csa(csa).as_deref(), Some(usi));
            position = position.play(usi).unwrap();
        }
        assert_eq!(
            position.to_sfen(),
            "lnsgkg2l/1r7/ppppppnpp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL b Sb2 1".replace("Sb2", "S2b")
        );
        // the other side's piece, an empty square, not in hand, no square, not a move
        for bad in ["3c3d", "5e5d", "P*5e", "7g7", "0g7f", "resign", ""] {
            assert_eq!(position.csa_of_usi(bad), None, "{bad}");
        }
        for bad in [
            "-7776FU", "+7776KA", "+5554FU", "+0055TO", "+0055OU", "+77", "+7776X", "%TORYO", "+あ", "+あ6FU", "+7あFU",
        ] {
            assert_eq!(position.usi_of_csa(bad), None, "{bad}");
        }
    }
}
