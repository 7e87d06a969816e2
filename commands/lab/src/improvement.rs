//! Expected improvement and reduction of a council over the original engine (Sato 2013, "An Analysis of
//! Voting Algorithm in Games", definitions 1 to 3, theorems 1 and 2, equations 3.15 and 3.16).
//!
//! f*(p, m) is the worth of a move to a perfect player, in any unit; larger is better for the side to move.

use super::plurality::{PluralityError, Tie, Voters, plurality};

/// The average gain and loss of a change from the original engine's move.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Change {
    /// Ex_i: Σ over better moves of π(m) (f*(m) - f*(original)), eq. 3.15.
    pub improvement: f64,
    /// Ex_r: Σ over worse moves of π(m) (f*(original) - f*(m)), eq. 3.16.
    pub reduction: f64,
}

impl Change {
    /// The change from a move worth `original` to moves with these probabilities and values.
    pub fn new(probabilities: &[f64], values: &[f64], original: f64) -> Self {
        let part = |sign: f64| -> f64 {
            probabilities.iter().zip(values).map(|(p, v)| p * (sign * (v - original)).max(0.0)).sum()
        };
        Self { improvement: part(1.0), reduction: part(-1.0) }
    }

    /// The average gain over the original engine: improvement minus reduction.
    pub fn gain(&self) -> f64 {
        self.improvement - self.reduction
    }

    fn add(&mut self, occurs: f64, other: Self) {
        self.improvement += occurs * other.improvement;
        self.reduction += occurs * other.reduction;
    }
}

/// A position with the worth of its moves and the moves of the players.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// Pr(p): the probability of the position.
    pub occurs: f64,
    /// f* of each move.
    pub values: Vec<f64>,
    /// f* of the move of the original engine, which the voters derive from.
    pub original: f64,
    /// π_i of each voter.
    pub voters: Vec<Vec<f64>>,
    /// Π of the council.
    pub council: Vec<f64>,
}

impl Position {
    /// A position in which the council plays by plurality.
    ///
    /// # Errors
    /// If the voters are invalid.
    pub fn of_plurality(
        occurs: f64,
        values: Vec<f64>,
        original: f64,
        voters: &[Voters],
        tie: Tie,
    ) -> Result<Self, PluralityError> {
        let council = plurality(voters, tie)?.into_iter().map(|m| m.wins).collect();
        let voters = voters.iter().flat_map(|g| std::iter::repeat_n(g.probabilities.clone(), g.count)).collect();
        Ok(Self { occurs, values, original, voters, council })
    }
}

/// Definitions 1 to 3 and theorem 2, applied to a council over positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Definition 1: the council is worse than no voter in any position. `None` if a voter or the council plays at
    /// random.
    pub absolutely: Option<bool>,
    /// Definitions 2 and 3 (equal for voters that do not play at random, proposition 1): better on average than each
    /// voter.
    pub expected: bool,
    /// Theorem 2 (eq. 3.18): better on average than the original engine, while every voter is worse.
    pub beyond_original: bool,
    /// The change from the original engine to each voter.
    pub voters: Vec<Change>,
    /// The change from the original engine to the council.
    pub council: Change,
}

/// Judges a council over positions. Their probabilities should add up to 1, and every position has the same voters.
pub fn judge(positions: &[Position]) -> Verdict {
    let count = positions.iter().map(|p| p.voters.len()).max().unwrap_or(0);
    let mut voters = vec![Change::default(); count];
    let mut council = Change::default();
    let mut absolutely = Some(true);
    for position in positions {
        let of = |probabilities: &[f64]| Change::new(probabilities, &position.values, position.original);
        council.add(position.occurs, of(&position.council));
        let chosen = certain(&position.council).and_then(|m| position.values.get(m));
        for (sum, pi) in voters.iter_mut().zip(&position.voters) {
            sum.add(position.occurs, of(pi));
            let own = certain(pi).and_then(|m| position.values.get(m));
            absolutely = match (absolutely, own, chosen) {
                (Some(so_far), Some(own), Some(chosen)) => Some(so_far && own <= chosen),
                _ => None,
            };
        }
    }
    Verdict {
        absolutely,
        expected: voters.iter().all(|v| v.gain() < council.gain()),
        beyond_original: council.gain() > 0.0 && voters.iter().all(|v| v.gain() < 0.0),
        voters,
        council,
    }
}

/// The move with probability 1.
fn certain(probabilities: &[f64]) -> Option<usize> {
    probabilities.iter().position(|p| *p > 1.0 - 1e-12)
}

/// The expected voting matrix: Ex\[V_ij\] = Σ_k π_i(k) π_j(k), with 1 on the diagonal. Eq. 3.3 prints 0 there, but a
/// voter always agrees with itself (eq. 2.5).
pub fn expected_voting_matrix(voters: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let agree = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(p, q)| p * q).sum() };
    (0..voters.len())
        .map(|i| (0..voters.len()).map(|j| if i == j { 1.0 } else { agree(&voters[i], &voters[j]) }).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(count: usize, probabilities: &[f64]) -> [Voters; 1] {
        [Voters { count, weight: 1.0, probabilities: probabilities.to_vec() }]
    }

    /// A council that is better than the original, of voters that are worse: the case of Obata et al. (2011) that
    /// theorem 2 explains. One move is better by 1 (.4), one is worse by 2 (.25), and the original move has .35.
    #[test]
    fn a_council_of_weaker_voters_can_beat_the_original() {
        let (pi, values) = ([0.4, 0.35, 0.25], vec![1.0, 0.0, -2.0]);
        let one = Change::new(&pi, &values, 0.0);
        assert!((one.improvement - 0.4).abs() < 1e-12 && (one.reduction - 0.5).abs() < 1e-12);
        let position = Position::of_plurality(1.0, values, 0.0, &equal(25, &pi), Tie::Random).unwrap();
        let verdict = judge(&[position]);
        assert!(verdict.council.gain() > 0.0 && verdict.beyond_original && verdict.expected, "{verdict:?}");
        assert_eq!(verdict.absolutely, None);
        assert_eq!(verdict.voters.len(), 25);
    }

    #[test]
    fn definition_one_requires_every_position() {
        let position = |council: [f64; 2]| Position {
            occurs: 0.5,
            values: vec![1.0, 0.0],
            original: 0.0,
            voters: vec![vec![1.0, 0.0], vec![0.0, 1.0]],
            council: council.to_vec(),
        };
        let good = judge(&[position([1.0, 0.0]), position([1.0, 0.0])]);
        assert_eq!(good.absolutely, Some(true));
        // not better than its first voter, so definition 2 does not hold
        assert!(!good.expected);
        assert_eq!(judge(&[position([1.0, 0.0]), position([0.0, 1.0])]).absolutely, Some(false));
    }

    #[test]
    fn the_expected_voting_matrix_has_ones_on_its_diagonal() {
        let matrix = expected_voting_matrix(&[vec![0.5, 0.5], vec![0.2, 0.8]]);
        assert_eq!(matrix[0][0], 1.0);
        assert!((matrix[0][1] - 0.5).abs() < 1e-12);
    }
}
