//! Where the printed bounds of Sato hold, over councils and distributions.

use super::plurality::{PluralityError, Tie, plurality_of_alike};
use super::sato::{Bounds, Theorem, mended, printed};

/// One move in a council; the other moves share the remaining probability equally.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// n.
    pub voters: usize,
    /// π_m.
    pub probability: f64,
    /// The theorem that applies.
    pub theorem: Theorem,
    pub printed: Bounds,
    /// The corrected bounds.
    pub mended: Bounds,
    /// Exact probability of winning alone, which Π_b should not exceed.
    pub strict: f64,
    /// Exact probability of winning or being tied, which Π_w should not fall below.
    pub strict_or_tied: f64,
}

impl Cell {
    /// The margin of the printed lower bound; negative if it fails.
    pub fn lower_margin(&self) -> f64 {
        self.strict - self.printed.lower
    }

    /// The margin of the printed upper bound; negative if it fails.
    pub fn upper_margin(&self) -> f64 {
        self.printed.upper - self.strict_or_tied
    }
}

/// Cells of councils of 2 to `most_voters` over `moves` moves (2 or more), row by row of `probabilities`.
///
/// # Errors
/// If there are fewer than two moves, or if a probability is outside 0 to 1.
pub fn map(moves: usize, most_voters: usize, probabilities: &[f64]) -> Result<Vec<Vec<Cell>>, PluralityError> {
    if moves < 2 {
        return Err(PluralityError::no_moves());
    }
    let cell = |probability: f64, voters: usize| {
        let mut pi = vec![(1.0 - probability) / (moves as f64 - 1.0); moves];
        pi[0] = probability;
        let exact = plurality_of_alike(voters, &pi, Tie::Worst)?[0];
        let theorem = Theorem::for_council(voters, moves);
        match (printed(theorem, voters, &pi, 0), mended(voters, &pi, 0)) {
            (Some(printed), Some(mended)) => Ok(Cell {
                voters,
                probability,
                theorem,
                printed,
                mended,
                strict: exact.strict,
                strict_or_tied: exact.strict_or_tied,
            }),
            _ => Err(PluralityError::no_moves()),
        }
    };
    probabilities.iter().map(|&p| (2..=most_voters).map(|n| cell(p, n)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_bounds_fail_somewhere_and_mended_ones_nowhere() {
        let rows = map(6, 15, &[0.1, 0.3, 0.5, 0.7]).unwrap();
        let cells: Vec<&Cell> = rows.iter().flatten().collect();
        assert_eq!(cells.len(), 4 * 14);
        assert!(cells.iter().any(|c| c.lower_margin() < -0.05) && cells.iter().any(|c| c.lower_margin() > 0.0));
        assert!(cells.iter().any(|c| c.upper_margin() < -0.05));
        assert!(cells.iter().all(|c| c.mended.lower <= c.strict + 1e-9 && c.mended.upper >= c.strict_or_tied - 1e-9));
        assert!(map(1, 5, &[0.5]).is_err() && map(3, 5, &[1.5]).is_err());
    }
}
