//! The time that the players of a match spent on their moves.

/// The time of the two players of some games, the first one's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// Moves that they searched: those of both, without the openings.
    pub plies: u64,
    /// From the question to the move, in milliseconds.
    pub wall_ms: [u64; 2],
    /// Processor time, with that of everything that they started, in milliseconds; `None` if it was not measured in all
    /// games.
    pub cpu_ms: Option<[u64; 2]>,
}

/// The time of one player on a move, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerMove {
    pub wall_ms: f64,
    /// Processor time; `None` if it was not measured in all games.
    pub cpu_ms: Option<f64>,
}

/// Two players differ in time if one spends more than this many times what the other does.
pub(crate) const APART: f64 = 1.2;

/// Processor times are exact to 10 ms a game: below this sum, in milliseconds, they compare nothing.
const LEAST_MS: u64 = 1_000;

impl Default for Spent {
    /// The time of no games.
    fn default() -> Self {
        Self { plies: 0, wall_ms: [0; 2], cpu_ms: Some([0; 2]) }
    }
}

impl Spent {
    /// The time of these games and others.
    pub fn and(self, other: Self) -> Self {
        let sum = |a: [u64; 2], b: [u64; 2]| [a[0].saturating_add(b[0]), a[1].saturating_add(b[1])];
        Self {
            plies: self.plies.saturating_add(other.plies),
            wall_ms: sum(self.wall_ms, other.wall_ms),
            cpu_ms: self.cpu_ms.zip(other.cpu_ms).map(|(a, b)| sum(a, b)),
        }
    }

    /// The same in the view of the other player.
    pub fn reversed(self) -> Self {
        let [a, b] = self.wall_ms;
        Self { wall_ms: [b, a], cpu_ms: self.cpu_ms.map(|[a, b]| [b, a]), ..self }
    }

    /// The time of the first or second player on a move.
    pub fn per_move(&self, player: usize) -> PerMove {
        // both move in turn
        let moves = self.plies.max(1) as f64 / 2.0;
        PerMove {
            wall_ms: self.wall_ms[player] as f64 / moves,
            cpu_ms: self.cpu_ms.map(|cpu_ms| cpu_ms[player] as f64 / moves),
        }
    }

    /// Whether both players spent enough for a comparison.
    fn is_enough(&self) -> bool {
        self.wall_ms.iter().chain(self.cpu_ms.iter().flatten()).all(|ms| *ms >= LEAST_MS)
    }

    /// Whether the two players differ by more than a fifth in time.
    pub fn is_apart(&self) -> bool {
        self.first_is_apart(&self.reversed())
    }

    /// Whether the first player of these games and the first of others differ by more than a fifth in time.
    pub fn first_is_apart(&self, other: &Self) -> bool {
        let times = self.per_move(0).beside(other.per_move(0));
        self.is_enough() && other.is_enough() && !(1.0 / APART..=APART).contains(&times)
    }
}

impl PerMove {
    /// The time in times another, by processor time if both have it: several processors do not make a comparison one of
    /// equal time.
    pub fn beside(self, other: Self) -> f64 {
        let (a, b) = self.cpu_ms.zip(other.cpu_ms).unwrap_or((self.wall_ms, other.wall_ms));
        a / b.max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_decides_where_it_is_known() {
        let spent = |wall_ms, cpu_ms| Spent { plies: 200, wall_ms, cpu_ms };
        let council = spent([2_000, 2_000], Some([6_000, 2_000]));
        assert_eq!(council.per_move(0), PerMove { wall_ms: 20.0, cpu_ms: Some(60.0) });
        assert!(council.is_apart() && council.reversed().is_apart());
        assert!(!spent([2_000, 2_000], None).is_apart());
        assert!(spent([2_500, 2_000], None).is_apart());
        assert!(!spent([2_400, 2_000], None).is_apart());
        assert!(council.first_is_apart(&council.reversed()) && !council.first_is_apart(&council));
        // too short to tell
        assert!(!spent([900, 90], Some([900, 90])).is_apart());
        assert_eq!(council.and(spent([1, 2], None)), Spent { plies: 400, wall_ms: [2_001, 2_002], cpu_ms: None });
    }
}
