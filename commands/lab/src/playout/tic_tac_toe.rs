//! Tic-tac-toe.

use evalcurve_calibration::types::Outcome;

use super::game::{Game, Side};

/// Three by three cells, three in a row wins. Cells are `a1` (bottom left) to `c3`, by columns from the left and rows
/// from the bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TicTacToe {
    /// Occupied cells of each side, as bits.
    cells: [u16; 2],
}

const FULL: u16 = 0x1FF;
const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl TicTacToe {
    /// The side that occupies a cell.
    pub fn holder(&self, cell: u16) -> Option<Side> {
        [Side::First, Side::Second].into_iter().find(|s| cell < 9 && self.cells[s.index()] >> cell & 1 == 1)
    }

    fn has_line(self, side: Side) -> bool {
        LINES.iter().any(|line| self.cells[side.index()] & line == *line)
    }

    fn empty(self) -> u16 {
        FULL & !(self.cells[0] | self.cells[1])
    }
}

impl Game for TicTacToe {
    fn actions(&self) -> usize {
        9
    }

    fn mover(&self) -> Side {
        if (self.cells[0] | self.cells[1]).count_ones().is_multiple_of(2) { Side::First } else { Side::Second }
    }

    fn legal(&self, out: &mut Vec<u16>) {
        out.clear();
        if self.outcome().is_none() {
            out.extend((0..9).filter(|cell| self.empty() >> cell & 1 == 1));
        }
    }

    fn play(&mut self, action: u16) {
        if action < 9 {
            self.cells[self.mover().index()] |= 1 << action;
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        if self.has_line(Side::First) {
            Some(Outcome::Win)
        } else if self.has_line(Side::Second) {
            Some(Outcome::Loss)
        } else {
            (self.empty() == 0).then_some(Outcome::Draw)
        }
    }

    fn name(&self, action: u16) -> String {
        format!("{}{}", char::from(b'a' + (action % 3) as u8), action / 3 + 1)
    }
}
