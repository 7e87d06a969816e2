//! Hex and Y: two players fill a board, and the player that connects certain edges wins. There are no draws.

use std::sync::Arc;

use evalcurve_calibration::types::Outcome;
use thiserror::Error;

use super::game::{Game, Side};
use super::layout;

/// The edges that a player must connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connection {
    /// Hex: the first player connects the first two edges, the second player the other two.
    OppositeEdges,
    /// Y: all three edges, for both players.
    AllEdges,
}

/// The part of a board that does not change.
#[derive(Debug)]
struct Shape {
    connection: Connection,
    /// The neighbours of each cell, in ascending order.
    neighbours: Vec<Vec<u16>>,
    /// The edges of a cell, as bits.
    edges: Vec<u8>,
    names: Vec<String>,
    places: Vec<(f64, f64)>,
}

/// A position on a board of Hex or Y. The game continues until the board is full (Raiko 2006: the winner of a full
/// board does not depend on the order of the moves).
#[derive(Debug, Clone)]
pub struct Board {
    shape: Arc<Shape>,
    /// 0 empty, 1 the first player, 2 the second.
    stones: Vec<u8>,
    stones_placed: usize,
}

/// A board of an invalid size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{game} board of {size}; give a size from {least} to {most}")]
pub struct BoardError {
    pub game: &'static str,
    pub size: usize,
    /// The smallest valid size.
    pub least: usize,
    /// The largest valid size.
    pub most: usize,
}

/// More cells than the largest board, which is the bent board with a core of 2 and 24 rings, 975.
const MOST_CELLS: usize = 1024;
/// The longest side of a board.
const MOST: usize = 26;

fn sized(game: &'static str, size: usize, least: usize) -> Result<usize, BoardError> {
    if (least..=MOST).contains(&size) { Ok(size) } else { Err(BoardError { game, size, least, most: MOST }) }
}

/// `a1`: a letter for the column, a number for the row, both from 0.
fn cell_name(column: usize, row: usize) -> String {
    format!("{}{}", char::from(b'a' + column.min(25) as u8), row + 1)
}

/// The number of a cell of a triangle.
fn in_triangle(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

impl Shape {
    fn empty(connection: Connection, places: Vec<(f64, f64)>) -> Self {
        let cells = places.len();
        Self {
            connection,
            neighbours: vec![Vec::new(); cells],
            edges: vec![0; cells],
            names: vec![String::new(); cells],
            places,
        }
    }

    /// The cells of a triangle with `size` on each side, joined to their neighbours; any other cells follow them.
    fn triangle(size: usize, places: Vec<(f64, f64)>) -> Self {
        let mut shape = Self::empty(Connection::AllEdges, places);
        for row in 0..size {
            for column in 0..=row {
                let at = in_triangle(row, column);
                if column < row {
                    shape.join(at, at + 1);
                }
                if row + 1 < size {
                    shape.join(at, in_triangle(row + 1, column));
                    shape.join(at, in_triangle(row + 1, column + 1));
                }
            }
        }
        shape
    }

    fn join(&mut self, a: usize, b: usize) {
        self.neighbours[a].push(b as u16);
        self.neighbours[b].push(a as u16);
    }

    fn board(mut self) -> Board {
        self.neighbours.iter_mut().for_each(|list| list.sort_unstable());
        let cells = self.edges.len();
        Board { shape: Arc::new(self), stones: vec![0; cells], stones_placed: 0 }
    }
}

impl Board {
    /// Hex on a rhombus of `size` by `size` cells: the first player connects the first and the last row, the second
    /// player the first and the last column.
    ///
    /// # Errors
    /// Unless 1 ≤ size ≤ 26.
    pub fn hex(size: usize) -> Result<Self, BoardError> {
        let n = sized("Hex", size, 1)?;
        let mut shape = Shape::empty(Connection::OppositeEdges, layout::rhombus(n));
        for row in 0..n {
            for column in 0..n {
                let at = row * n + column;
                shape.names[at] = cell_name(column, row);
                let edge = |on: bool, bit: u8| u8::from(on) << bit;
                shape.edges[at] =
                    edge(row == 0, 0) | edge(row == n - 1, 1) | edge(column == 0, 2) | edge(column == n - 1, 3);
                if column + 1 < n {
                    shape.join(at, at + 1);
                }
                if row + 1 < n {
                    shape.join(at, at + n);
                    if column > 0 {
                        shape.join(at, at + n - 1);
                    }
                }
            }
        }
        Ok(shape.board())
    }

    /// Y on the straight board: a triangle with `size` cells on each side, size (size + 1)/2 in all. The top row has
    /// one cell.
    ///
    /// # Errors
    /// Unless 1 ≤ size ≤ 26.
    pub fn y(size: usize) -> Result<Self, BoardError> {
        let n = sized("Y", size, 1)?;
        let mut shape = Shape::triangle(n, layout::triangle(n));
        for (row, column) in (0..n).flat_map(|row| (0..=row).map(move |column| (row, column))) {
            let at = in_triangle(row, column);
            shape.names[at] = cell_name(column, row);
            shape.edges[at] = u8::from(column == 0) | u8::from(column == row) << 1 | u8::from(row == n - 1) << 2;
        }
        Ok(shape.board())
    }

    /// Y on a bent board: a triangle with `core` cells on each side, surrounded by `rings` closed rings. Each side of a
    /// ring is one cell longer than that of the ring inside it. The three corners of the core have five neighbours
    /// instead of six; `bent_y(5, 4)` has the 93 cells of the commercial board, nine on each side.
    ///
    /// On a straight board the sides of such rings grow by three cells: the bent board gives less weight to the centre.
    /// Cells are named by the ring from inside (`a` for the rows of the core, see [`Board::y`], then one letter per
    /// ring with numbered cells).
    ///
    /// # Errors
    /// Unless 2 ≤ core and core + rings ≤ 26.
    pub(crate) fn bent_y(core: usize, rings: usize) -> Result<Self, BoardError> {
        let n = sized("bent Y", core, 2)?;
        sized("bent Y", core.saturating_add(rings), 2)?;
        let inner = n * (n + 1) / 2;
        let mut shape = Shape::triangle(n, layout::bent(n, rings));
        (0..inner).for_each(|at| shape.names[at] = format!("core{}", at + 1));
        // around the core: down the left side, along the bottom, up the right side
        let mut ring: Vec<usize> = (0..n).map(|row| in_triangle(row, 0)).collect();
        ring.extend((1..n).map(|column| in_triangle(n - 1, column)));
        ring.extend((1..n - 1).rev().map(|row| in_triangle(row, row)));
        let mut next_cell = inner;
        for r in 1..=rings {
            let (inside, outside) = (n - 2 + r, n - 1 + r);
            let outer: Vec<usize> = (next_cell..next_cell + 3 * outside).collect();
            next_cell += 3 * outside;
            for (k, &at) in outer.iter().enumerate() {
                shape.names[at] = format!("{}{}", char::from(b'a' + (r - 1) as u8), k + 1);
                shape.join(at, outer[(k + 1) % outer.len()]);
            }
            // a cell of the outer ring is next to the gap between two inner cells, a corner next to a corner
            for side in 0..3 {
                for k in 0..=inside {
                    let at = ring[(side * inside + k) % ring.len()];
                    shape.join(at, outer[(side * outside + k) % outer.len()]);
                    shape.join(at, outer[(side * outside + k + 1) % outer.len()]);
                }
            }
            ring = outer;
        }
        // corners were visited from both sides
        for list in &mut shape.neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let side = ring.len() / 3;
        for (k, &at) in ring.iter().enumerate() {
            shape.edges[at] |= 1 << (k / side);
            if k.is_multiple_of(side) {
                shape.edges[at] |= 1 << ((k / side + 2) % 3);
            }
        }
        Ok(shape.board())
    }

    /// The neighbours of a cell in ascending order; empty for an unknown cell.
    pub(crate) fn neighbours(&self, cell: u16) -> &[u16] {
        self.shape.neighbours.get(usize::from(cell)).map_or(&[], Vec::as_slice)
    }

    /// The coordinates of each cell on paper, in distances of neighbours, y downwards.
    pub fn places(&self) -> &[(f64, f64)] {
        &self.shape.places
    }

    pub fn cells(&self) -> usize {
        self.stones.len()
    }

    /// Whether the stones of the first player connect their edges.
    fn first_connects(&self) -> bool {
        let (starts, wanted): (u8, &dyn Fn(u8) -> bool) = match self.shape.connection {
            Connection::OppositeEdges => (0b01, &|edges| edges & 0b11 == 0b11),
            Connection::AllEdges => (0b001, &|edges| edges & 0b111 == 0b111),
        };
        let mut seen = [0u64; MOST_CELLS.div_ceil(64)];
        let mut stack: Vec<u16> = Vec::with_capacity(64);
        for start in 0..self.cells() {
            if self.stones[start] != 1
                || self.shape.edges[start] & starts == 0
                || seen[start / 64] >> (start % 64) & 1 == 1
            {
                continue;
            }
            let mut edges = 0;
            seen[start / 64] |= 1 << (start % 64);
            stack.push(start as u16);
            while let Some(cell) = stack.pop() {
                edges |= self.shape.edges[usize::from(cell)];
                for &next in &self.shape.neighbours[usize::from(cell)] {
                    let at = usize::from(next);
                    if self.stones[at] == 1 && seen[at / 64] >> (at % 64) & 1 == 0 {
                        seen[at / 64] |= 1 << (at % 64);
                        stack.push(next);
                    }
                }
            }
            if wanted(edges) {
                return true;
            }
        }
        false
    }
}

impl Game for Board {
    fn actions(&self) -> usize {
        self.cells()
    }

    fn mover(&self) -> Side {
        if self.stones_placed.is_multiple_of(2) { Side::First } else { Side::Second }
    }

    fn legal(&self, out: &mut Vec<u16>) {
        out.clear();
        out.extend((0..self.cells() as u16).filter(|&cell| self.stones[usize::from(cell)] == 0));
    }

    fn legal_after(&self, action: u16, legal: &mut Vec<u16>) {
        if let Ok(index) = legal.binary_search(&action) {
            legal.remove(index);
        }
    }

    fn play(&mut self, action: u16) {
        let stone = 1 + self.mover().index() as u8;
        if let Some(cell) = self.stones.get_mut(usize::from(action)).filter(|cell| **cell == 0) {
            *cell = stone;
            self.stones_placed += 1;
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let full = self.stones_placed == self.cells();
        full.then(|| if self.first_connects() { Outcome::Win } else { Outcome::Loss })
    }

    fn name(&self, action: u16) -> String {
        self.shape.names.get(usize::from(action)).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Board {
        /// The full board with the stones of one side on these cells and those of the other side on the rest.
        pub(crate) fn filled(&self, is_first: impl Fn(usize) -> bool) -> Self {
            let stones = (0..self.cells()).map(|cell| if is_first(cell) { 1 } else { 2 }).collect();
            Self { shape: self.shape.clone(), stones, stones_placed: self.cells() }
        }

        /// The edges of a cell, as bits.
        pub(crate) fn edges(&self, cell: u16) -> u8 {
            self.shape.edges[usize::from(cell)]
        }
    }
}
