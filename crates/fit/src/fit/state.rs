//! A fit to samples that are never in one place: each part is counted, the counts are merged and fitted, then each part
//! is summed by game at the optimum, and the sums are merged into the covariance.
//!
//! ```
//! use evalcurve_fit::fit::{FitOptions, FitState, GameSums, Method, Observation, fit};
//! use evalcurve_calibration::types::Outcome;
//!
//! let sample = |i: u64| Observation {
//!     game: i / 2,
//!     score_cp: (i as i32 * 37) % 900 - 450,
//!     outcome: if i % 8 < 4 + i % 3 { Outcome::Win } else { Outcome::Loss },
//! };
//! let parts: [Vec<Observation>; 2] = [(0..600).map(sample).collect(), (600..1000).map(sample).collect()];
//! let (method, options) = (Method::MaximumLikelihood, FitOptions::default());
//!
//! // on each machine: count
//! let [mut state, other] = parts.each_ref().map(|part| FitState::new(part));
//! // on one machine: merge the counts, and find the optimum
//! state.merge(&other)?;
//! let optimum = state.optimum(method, &options)?;
//! // on each machine: sum by game at the optimum
//! let [mut sums, more] = parts.each_ref().map(|part| GameSums::new(method, optimum.sigmoid, part));
//! // on one machine: merge the sums
//! sums.merge(&more)?;
//! let merged = state.fit(&sums, &options)?;
//!
//! let whole = fit(method, &parts.concat(), &options)?;
//! assert_eq!(merged.sigmoid, whole.sigmoid);
//! assert!((merged.covariance[0][0] / whole.covariance[0][0] - 1.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use evalcurve_calibration::{Method, Sigmoid};
use evalcurve_words::random;
use serde::{Deserialize, Serialize};

use super::counts::{Observation, ScoreCount, ScoreCounts};
use super::covariance::{Grouped, of_sums, summed_by_game};
use super::error::FitError;
use super::objective::SCORE_SCALE;
use super::options::FitOptions;
use super::plain::{Fit, PointFit, minimum, with_covariance};

/// Games by which parts are compared: those with the smallest hashes.
const COMPARED: usize = 2_048;

/// Why parts have no fit together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The same game is in two parts.
    #[error(
        "game {game:016x} is in two parts, and with it {shared} of the {compared} games that were compared: put all \
         samples of a game into one part, and drop games that occur twice"
    )]
    SharedGame {
        game: u64,
        /// Compared games that are in both parts.
        shared: usize,
        compared: usize,
    },
    /// Sums at two different curves.
    #[error("sums by {found} do not fit {wanted}: sum every part at the same optimum")]
    OtherOptimum {
        /// Method and curve of the sums.
        found: String,
        /// Method and curve that they should have.
        wanted: String,
    },
    /// The sums are of other samples than the counts.
    #[error(
        "the sums have {sums} sample(s) and the counts {counts}: sum the same parts that were counted, each of them \
         once"
    )]
    OtherSamples { sums: u64, counts: u64 },
    /// The counts have no fit.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// Compares method and curve of sums with those that they should have.
fn same(found: (Method, Sigmoid), wanted: (Method, Sigmoid)) -> Result<(), StateError> {
    let shown = |(method, Sigmoid { w1, w2 }): (Method, Sigmoid)| format!("{method} at w1 = {w1:e}, w2 = {w2:e}");
    if found == wanted { Ok(()) } else { Err(StateError::OtherOptimum { found: shown(found), wanted: shown(wanted) }) }
}

/// The counts of a part of the samples of one engine, by which parts are fitted together.
///
/// Its size depends on the number of distinct scores and not on that of samples: a few hundred kilobytes as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct FitState {
    counts: ScoreCounts,
    games: u64,
    /// The games with the smallest hashes, by hash.
    smallest: Vec<(u64, u64)>,
}

/// The form in files.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    format: String,
    version: u32,
    games: u64,
    /// Some of the games, as 16 hexadecimal digits.
    compared_games: Vec<String>,
    /// Score in centipawns, wins, draws and losses.
    counts: Vec<(i32, u64, u64, u64)>,
}

/// The value of `format` in files.
const FORMAT: &str = "evalcurve-fit-state";

impl From<FitState> for Written {
    fn from(state: FitState) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: 1,
            games: state.games,
            compared_games: state.smallest.iter().map(|(_, game)| format!("{game:016x}")).collect(),
            counts: state.counts.rows().iter().map(|r| (r.score_cp, r.wins, r.draws, r.losses)).collect(),
        }
    }
}

impl TryFrom<Written> for FitState {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { format, version, games, compared_games, counts } = written;
        if format != FORMAT || version != 1 {
            return Err(format!("format '{format}', version {version}: expected '{FORMAT}', version 1"));
        }
        let game = |text: &String| u64::from_str_radix(text, 16).map_err(|_| format!("'{text}' is not a game"));
        let mut smallest = compared_games.iter().map(game).collect::<Result<Vec<u64>, _>>()?;
        smallest.sort_unstable();
        smallest.dedup();
        if smallest.len() as u64 > games {
            return Err(format!("{} compared games of {games}", smallest.len()));
        }
        let row = |(score_cp, wins, draws, losses)| ScoreCount { score_cp, wins, draws, losses };
        let counted: Option<u64> =
            counts.iter().try_fold(0u64, |n, r| n.checked_add(r.1)?.checked_add(r.2)?.checked_add(r.3));
        if counted.is_none_or(|samples| samples < games) {
            return Err(format!("{games} games with fewer samples than games"));
        }
        let counts = ScoreCounts::from_rows(counts.into_iter().map(row).collect());
        Ok(Self { counts, games, smallest: by_hash(smallest.into_iter()) })
    }
}

/// The games with the smallest hashes, each once.
fn by_hash(games: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    let trim = |all: &mut Vec<(u64, u64)>| {
        all.sort_unstable();
        all.dedup();
        all.truncate(COMPARED);
    };
    let mut most = u64::MAX;
    for game in games {
        let hash = random::mix(game);
        if hash <= most {
            all.push((hash, game));
        }
        if all.len() >= 2 * COMPARED {
            trim(&mut all);
            most = all.last().map_or(most, |(hash, _)| *hash);
        }
    }
    trim(&mut all);
    all
}

impl FitState {
    /// Counts the samples of a part. All samples of a game must be in the same part.
    pub fn new(observations: &[Observation]) -> Self {
        Self {
            counts: ScoreCounts::from_observations(observations),
            games: Grouped::new(observations).games(),
            smallest: by_hash(observations.iter().map(|o| o.game)),
        }
    }

    /// Adds the counts of another part. The order of merging does not matter.
    ///
    /// # Errors
    /// [`StateError::SharedGame`] if a game is seen to be in both parts; this part is then as before. Of many games
    /// only those with the 2,048 smallest hashes are compared, so that a few shared games among millions may remain
    /// unnoticed.
    pub fn merge(&mut self, other: &Self) -> Result<(), StateError> {
        let both = self.smallest.iter().chain(&other.smallest).map(|(_, game)| *game);
        let smallest = by_hash(both);
        let is_in = |list: &[(u64, u64)], game: &(u64, u64)| list.binary_search(game).is_ok();
        let shared = || smallest.iter().filter(|g| is_in(&self.smallest, g) && is_in(&other.smallest, g));
        if let Some((_, game)) = shared().next() {
            let (shared, compared) = (shared().count(), smallest.len());
            return Err(StateError::SharedGame { game: *game, shared, compared });
        }
        self.counts.merge(&other.counts);
        self.games += other.games;
        self.smallest = smallest;
        Ok(())
    }

    /// Outcome counts by score.
    pub fn counts(&self) -> &ScoreCounts {
        &self.counts
    }

    pub fn games(&self) -> u64 {
        self.games
    }

    /// The curve at which [`GameSums`] are to be made.
    ///
    /// # Errors
    /// Every [`FitError`] but [`FitError::TooFewGames`].
    pub fn optimum(&self, method: Method, options: &FitOptions) -> Result<PointFit, FitError> {
        minimum(method, &self.counts, options).map(|(_, point)| point)
    }

    /// The fit to all parts, with the covariance from the sums of the same parts.
    ///
    /// # Errors
    /// As [`fit`](super::fit), and [`StateError::OtherSamples`] or [`StateError::OtherOptimum`] if the sums do not
    /// belong to these counts.
    pub fn fit(&self, sums: &GameSums, options: &FitOptions) -> Result<Fit, StateError> {
        let (minimum, point) = minimum(sums.method, &self.counts, options)?;
        if sums.samples != point.samples {
            return Err(StateError::OtherSamples { sums: sums.samples, counts: point.samples });
        }
        same((sums.method, sums.sigmoid), (point.method, point.sigmoid))?;
        let covariance = || of_sums(&minimum, point.samples, self.games, &sums.sums);
        Ok(with_covariance(&point, self.games, &minimum, options, covariance)?)
    }
}

/// Σ over the games of a part of s sᵀ, with s the gradient of a game's summed loss at one curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameSums {
    method: Method,
    sigmoid: Sigmoid,
    samples: u64,
    sums: [[f64; 2]; 2],
}

impl GameSums {
    /// Sums the samples of a part at the curve of [`FitState::optimum`].
    pub fn new(method: Method, sigmoid: Sigmoid, observations: &[Observation]) -> Self {
        let counts = ScoreCounts::from_observations(observations);
        let at = [sigmoid.w1 * SCORE_SCALE, sigmoid.w2];
        let sums = summed_by_game(method, at, &counts, &Grouped::new(observations));
        Self { method, sigmoid, samples: counts.samples(), sums }
    }

    /// Adds the sums of another part.
    ///
    /// # Errors
    /// [`StateError::OtherOptimum`] if they were made at another curve.
    pub fn merge(&mut self, other: &Self) -> Result<(), StateError> {
        same((other.method, other.sigmoid), (self.method, self.sigmoid))?;
        self.samples += other.samples;
        self.sums.iter_mut().flatten().zip(other.sums.iter().flatten()).for_each(|(a, b)| *a += b);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::generate;
    use super::*;
    use crate::fit::fit;

    const TRUTH: Sigmoid = Sigmoid { w1: 1.0 / 600.0, w2: 0.2 };

    /// The samples in `parts` parts, by game, in a scattered order.
    fn parts(observations: &[Observation], parts: u64) -> Vec<Vec<Observation>> {
        let of = |part| observations.iter().filter(|o| random::mix(o.game) % parts == part).copied().collect();
        (0..parts).map(of).collect()
    }

    fn merged(parts: &[Vec<Observation>]) -> FitState {
        let mut all = FitState::default();
        parts.iter().for_each(|part| all.merge(&FitState::new(part)).unwrap());
        all
    }

    #[test]
    fn parts_have_the_fit_of_the_whole() {
        let whole = generate(TRUTH, 20_000, 4, 700.0, 11);
        for n in [1, 2, 7, 64] {
            let parts = parts(&whole, n);
            let state = merged(&parts);
            for method in Method::ALL {
                let expected = fit(method, &whole, &FitOptions::default()).unwrap();
                let optimum = state.optimum(method, &FitOptions::default()).unwrap();
                let mut sums: Vec<GameSums> =
                    parts.iter().map(|part| GameSums::new(method, optimum.sigmoid, part)).collect();
                let mut all = sums.pop().unwrap();
                sums.iter().for_each(|s| all.merge(s).unwrap());
                let got = state.fit(&all, &FitOptions::default()).unwrap();
                let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{n} parts: {a} is not {b}");
                near(got.sigmoid.w1, expected.sigmoid.w1);
                near(got.sigmoid.w2, expected.sigmoid.w2);
                got.covariance
                    .iter()
                    .flatten()
                    .zip(expected.covariance.iter().flatten())
                    .for_each(|(a, b)| near(*a, *b));
                assert_eq!((got.games, got.samples), (expected.games, expected.samples));
                assert_eq!(got.quantile.to_bits(), expected.quantile.to_bits());
            }
        }
    }

    #[test]
    fn the_order_of_parts_does_not_matter_and_json_keeps_everything() {
        let whole = generate(TRUTH, 9_000, 2, 700.0, 3);
        let mut parts = parts(&whole, 5);
        let forwards = merged(&parts);
        parts.reverse();
        assert_eq!(forwards, merged(&parts));
        assert_eq!(forwards, FitState::new(&whole));
        let text = serde_json::to_string(&forwards).unwrap();
        assert_eq!(serde_json::from_str::<FitState>(&text).unwrap(), forwards);
        // 9,000 games with some 3,000 distinct scores
        assert!(text.len() < 200_000, "{} bytes", text.len());

        let optimum = forwards.optimum(Method::LeastSquares, &FitOptions::default()).unwrap();
        let sums = GameSums::new(Method::LeastSquares, optimum.sigmoid, &whole);
        let text = serde_json::to_string(&sums).unwrap();
        assert_eq!(serde_json::from_str::<GameSums>(&text).unwrap(), sums);
    }

    #[test]
    fn a_split_game_is_noticed() {
        let whole = generate(TRUTH, 50_000, 2, 700.0, 5);
        // one game of a hundred is in both parts
        let split = |o: &&Observation| o.game.is_multiple_of(100);
        let part = |parity| -> Vec<Observation> {
            whole
                .iter()
                .enumerate()
                .filter(|(i, o)| if split(o) { i % 2 == parity } else { o.game % 2 == parity as u64 })
                .map(|(_, o)| *o)
                .collect()
        };
        let mut state = FitState::new(&part(0));
        let before = state.clone();
        let error = state.merge(&FitState::new(&part(1))).unwrap_err();
        assert!(
            matches!(error, StateError::SharedGame { game, shared: 5..50, compared: 2_048 } if game % 100 == 0),
            "{error}"
        );
        assert_eq!(state, before);
        assert!(state.merge(&before).unwrap_err().to_string().contains("2048 of the 2048 games"));
    }

    #[test]
    fn sums_of_other_samples_or_another_curve_are_refused() {
        let whole = generate(TRUTH, 1_000, 2, 700.0, 7);
        let (options, method) = (FitOptions::default(), Method::MaximumLikelihood);
        let state = FitState::new(&whole);
        let optimum = state.optimum(method, &options).unwrap();
        let sums = GameSums::new(method, optimum.sigmoid, &whole);
        assert!(state.fit(&sums, &options).is_ok());
        let half = GameSums::new(method, optimum.sigmoid, &whole[..1_000]);
        assert!(state.fit(&half, &options).unwrap_err().to_string().contains("1000 sample(s) and the counts 2000"));
        let mut other = GameSums::new(method, TRUTH, &whole);
        assert!(state.fit(&other, &options).is_err_and(|e| matches!(e, StateError::OtherOptimum { .. })));
        assert!(other.merge(&sums).unwrap_err().to_string().contains("sum every part at the same optimum"));
        assert!(matches!(FitState::default().optimum(method, &options), Err(FitError::TooFewSamples { .. })));
    }

    #[test]
    fn a_damaged_file_has_a_message() {
        let good = serde_json::to_value(FitState::new(&generate(TRUTH, 3, 2, 700.0, 7))).unwrap();
        for (field, value, message) in [
            ("format", "other".into(), "expected 'evalcurve-fit-state', version 1"),
            ("version", 2.into(), "version 2"),
            ("compared_games", vec!["x"].into(), "'x' is not a game"),
            ("games", 2.into(), "3 compared games of 2"),
            ("games", 7.into(), "7 games with fewer samples"),
            ("counts", serde_json::json!([[0, u64::MAX, 1, 0]]), "fewer samples"),
        ] {
            let mut bad = good.clone();
            bad[field] = value;
            let error = serde_json::from_value::<FitState>(bad).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
