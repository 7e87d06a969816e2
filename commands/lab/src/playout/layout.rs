//! Coordinates of the cells of a board, for figures.

use super::board::Board;

/// √3/2, the distance of two adjacent rows.
const ROW: f64 = 0.866_025_403_784_438_6;

/// Cells of a triangle with `size` on each side: rows from the top, neighbours at distance 1, y downwards.
pub(super) fn triangle(size: usize) -> Vec<(f64, f64)> {
    let place = |row: usize, column: usize| (column as f64 - row as f64 / 2.0, row as f64 * ROW);
    (0..size).flat_map(|row| (0..=row).map(move |column| place(row, column))).collect()
}

/// Cells of a rhombus with `size` on each side, rows from the bottom.
pub(super) fn rhombus(size: usize) -> Vec<(f64, f64)> {
    let place = |row: usize, column: usize| (column as f64 + row as f64 / 2.0, (size - 1 - row) as f64 * ROW);
    (0..size).flat_map(|row| (0..size).map(move |column| place(row, column))).collect()
}

/// Cells of a bent board: a flat core, and rings interpolated between the border of the core and a round outline. A
/// bent board does not fit on flat paper, but neighbours stay next to each other.
pub(super) fn bent(core: usize, rings: usize) -> Vec<(f64, f64)> {
    let mut places = triangle(core);
    let side = core - 1;
    // the middle of the core's three corners
    let middle = (0.0, side as f64 * ROW * 2.0 / 3.0);
    // top, bottom left, bottom right: the order in which rings run
    let corners = [(0.0, 0.0), (-(side as f64) / 2.0, side as f64 * ROW), (side as f64 / 2.0, side as f64 * ROW)];
    let outer = (side + rings) as f64;
    for r in 1..=rings {
        let (cells, part) = (side + r, r as f64 / rings as f64);
        for k in 0..3 * cells {
            let (edge, along) = (k / cells, (k % cells) as f64 / cells as f64);
            let (a, b) = (corners[edge], corners[(edge + 1) % 3]);
            let inside = (a.0 + along * (b.0 - a.0), a.1 + along * (b.1 - a.1));
            // counter-clockwise from the top, on paper with y downwards
            let angle = std::f64::consts::TAU * (edge as f64 + along) / 3.0;
            // largest at the corners
            let radius = outer * (0.60 + 0.05 * libm::cos(3.0 * angle));
            let outside = (middle.0 - radius * libm::sin(angle), middle.1 - radius * libm::cos(angle));
            places.push((inside.0 + part * (outside.0 - inside.0), inside.1 + part * (outside.1 - inside.1)));
        }
    }
    places
}

impl Board {
    /// The pairs of adjacent cells, each once.
    pub fn links(&self) -> Vec<(usize, usize)> {
        let of = |cell: u16| {
            let later = self.neighbours(cell).iter().filter(move |&&next| next > cell);
            later.map(move |&next| (usize::from(cell), usize::from(next)))
        };
        (0..self.cells() as u16).flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_next_to_each_other() {
        for board in [
            Board::y(13).unwrap(),
            Board::hex(11).unwrap(),
            Board::bent_y(5, 4).unwrap(),
            Board::bent_y(2, 3).unwrap(),
            Board::bent_y(4, 0).unwrap(),
        ] {
            let places = board.places();
            assert_eq!(places.len(), board.cells());
            let distance =
                |a: usize, b: usize| ((places[a].0 - places[b].0).powi(2) + (places[a].1 - places[b].1).powi(2)).sqrt();
            for (a, b) in board.links() {
                assert!((0.4..1.9).contains(&distance(a, b)), "{a} {b}: {}", distance(a, b));
            }
            // no two cells are in the same place
            for a in 0..board.cells() {
                assert!((0..a).all(|b| distance(a, b) > 0.4), "{a}");
            }
        }
    }
}
