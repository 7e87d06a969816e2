//! Folds over games: all samples of a game, of both its players, are in the same one.

use evalcurve_words::random;

/// The default number of folds.
pub const DEFAULT_FOLDS: u64 = 5;

/// Key of the folds' draws, so that they differ from the draws of other modules with the same seed.
const KEY: u64 = 0x666f_6c64_735f_5f5f;

/// How many folds there are, and how games are assigned to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoldOptions {
    /// Number of folds, at least two.
    pub folds: u64,
    /// Seed of the assignment.
    pub seed: u64,
}

impl Default for FoldOptions {
    fn default() -> Self {
        Self { folds: DEFAULT_FOLDS, seed: evalcurve_words::random::DEFAULT_SEED }
    }
}

/// The fold, from 0, of the game with this identity.
///
/// It depends on the game and the seed alone: adding games moves no other game, and the engines of a game agree.
pub fn fold_of(game: u64, options: &FoldOptions) -> u64 {
    random::below(options.folds, &[KEY ^ options.seed, game])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_dealt_evenly_and_for_good() {
        let options = FoldOptions::default();
        let mut counts = [0; 5];
        (0..50_000).for_each(|game| counts[fold_of(game, &options) as usize] += 1);
        // 10,000 expected, standard deviation 89
        assert!(counts.iter().all(|c| (9_600..10_400).contains(c)), "{counts:?}");
        let other = FoldOptions { seed: 1, ..options };
        assert!((0..100).any(|g| fold_of(g, &options) != fold_of(g, &other)));
        assert_eq!((0..6).map(|g| fold_of(g, &options)).collect::<Vec<_>>(), KNOWN);
    }

    /// Pinned: another deal would change every published figure.
    const KNOWN: [u64; 6] = [0, 0, 1, 2, 2, 2];
}
