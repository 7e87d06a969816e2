//! Tests between two systems that met the same opponents, and corrections for several tests.

use std::collections::BTreeMap;

use evalcurve_fit::curve::{Z_95, wilson};
use evalcurve_fit::normal::{self, quantile_95};
use evalcurve_fit::validate::mean_by_game;

use super::counts::{Points, Wdl};

/// A chi-squared test with one degree of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// χ², without continuity correction.
    pub chi_squared: f64,
    /// The probability of this value or a larger one if the systems do not differ.
    pub p: f64,
}

/// A test of the differences that two systems had opening by opening (paired t test). An opening that favours one side
/// does so for both systems, so the games of one opening are not independent and those of two openings are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedTest {
    pub openings: u64,
    /// The probability of a mean difference as large as this if the systems do not differ.
    pub p: f64,
}

/// The difference between two systems according to their results. All but `paired` assumes independent games.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// First win rate minus second, with a draw as half a win; `None` unless both played.
    pub difference: Option<f64>,
    /// 95% interval of the difference: by openings if `paired` is there, else from Wilson's intervals of both rates
    /// (Newcombe 1998, method 10), with as many games without draws as have the observed variance.
    pub interval: Option<(f64, f64)>,
    /// The test by openings, if both systems played the same ones in all their games.
    pub paired: Option<PairedTest>,
    /// Pearson's χ² on the 2×2 table of wins and losses, without draws; `None` if a row or column is empty.
    pub chi_squared: Option<Test>,
    /// Fisher's exact test on this table, two-sided: all tables that are no more probable than the observed one. For
    /// more than 2³² games it is the p of χ², which is then the same.
    pub exact_p: f64,
    /// χ² with each draw as half a win and half a loss. This overstates the variance, so that p is too large if there
    /// are many draws.
    pub half_draws: Option<Test>,
}

/// Most games in an exact test.
const MOST_EXACT: u64 = 1 << 32;

/// Compares two systems.
pub fn compare(first: Wdl, second: Wdl) -> Comparison {
    let moments = |r: Wdl| Points::from(r).moments();
    let both = moments(first).zip(moments(second));
    let half = |r: Wdl| (r.points(), r.reversed().points());
    Comparison {
        difference: both.map(|((a, _), (b, _))| a - b),
        interval: both.map(|((a, va), (b, vb))| {
            let [(low_a, high_a), (low_b, high_b)] = [(a, va, first), (b, vb, second)].map(|(rate, variance, of)| {
                let as_many = if variance > 0.0 { rate * (1.0 - rate) / variance } else { 1.0 };
                let games = as_many * of.games() as f64;
                wilson(rate * games, games, Z_95)
            });
            (a - b - (a - low_a).hypot(high_b - b), a - b + (high_a - a).hypot(b - low_b))
        }),
        paired: None,
        chi_squared: chi_squared(decided(first), decided(second)),
        exact_p: fisher(first, second),
        half_draws: chi_squared(half(first), half(second)),
    }
}

/// Fewest openings of a paired test.
const LEAST_OPENINGS: u64 = 10;

impl Comparison {
    /// Adds the test by openings, if all games of both systems belong to the same openings.
    pub(super) fn by_opening(self, first: &BTreeMap<String, Wdl>, second: &BTreeMap<String, Wdl>) -> Self {
        let openings = first.len() as u64;
        if openings < LEAST_OPENINGS || !first.keys().eq(second.keys()) {
            return self;
        }
        let rates = first.values().zip(second.values()).filter_map(|(a, b)| Some(a.rate()? - b.rate()?));
        let mean = mean_by_game(&(0..).zip(rates).collect::<Vec<_>>());
        let Some((mean, error)) = mean.and_then(|mean| Some((mean.value, mean.standard_error()?))) else {
            return self;
        };
        let half = quantile_95(openings) * error;
        let p = normal::two_sided(normal::of_student(mean / error, (openings - 1) as f64));
        Self {
            difference: Some(mean),
            interval: Some((mean - half, mean + half)),
            paired: Some(PairedTest { openings, p }),
            ..self
        }
    }

    /// The p that corrections for several tests use: that by openings, else that of χ², else 1.
    pub fn p(&self) -> f64 {
        self.paired.map(|t| t.p).or(self.chi_squared.map(|t| t.p)).unwrap_or(1.0)
    }
}

fn decided(results: Wdl) -> (f64, f64) {
    (results.wins as f64, results.losses as f64)
}

/// χ² = n (ad - bc)² / [(a+b)(c+d)(a+c)(b+d)] (Pearson 1900), in a form that does not overflow.
fn chi_squared((a, b): (f64, f64), (c, d): (f64, f64)) -> Option<Test> {
    let (first, second, wins, losses) = (a + b, c + d, a + c, b + d);
    if first == 0.0 || second == 0.0 || wins == 0.0 || losses == 0.0 {
        return None;
    }
    let n = first + second;
    // the difference of the rates over its standard error under one common rate
    let difference = a / first - c / second;
    let variance = wins / n * (losses / n) * (1.0 / first + 1.0 / second);
    let chi_squared = difference * difference / variance;
    Some(Test { chi_squared, p: normal::two_sided(chi_squared.sqrt()) })
}

/// Relative error up to which a table counts as no more probable than the observed one, as in R and scipy.
const TIE: f64 = 1.0 + 1e-7;
/// Terms smaller than the largest by this factor are ignored.
const NEGLIGIBLE: f64 = 1e-300;

/// The share of the weights that are no larger than the observed one. The weights are those of `low..=high`, `up(k)` is
/// weight(k+1)/weight(k), and they fall on both sides of `mode`.
fn two_sided_share(observed: u64, mode: u64, (low, high): (u64, u64), up: impl Fn(u64) -> f64) -> f64 {
    let mut terms = vec![(mode, 1.0)];
    let (mut k, mut weight) = (mode, 1.0);
    while k < high && weight > NEGLIGIBLE {
        weight *= up(k);
        k += 1;
        terms.push((k, weight));
    }
    (k, weight) = (mode, 1.0);
    while k > low && weight > NEGLIGIBLE {
        k -= 1;
        weight /= up(k);
        terms.push((k, weight));
    }
    let limit = terms.iter().find(|t| t.0 == observed).map_or(0.0, |t| t.1) * TIE;
    // add the smallest first, so that small tails are not lost
    terms.sort_by(|a, b| a.1.total_cmp(&b.1));
    let total: f64 = terms.iter().map(|t| t.1).sum();
    // the sum of nothing is -0
    let tail = terms.iter().take_while(|t| t.1 <= limit).map(|t| t.1).sum::<f64>() + 0.0;
    (tail / total).min(1.0)
}

/// Fisher's exact test of two rows of wins and losses, two-sided; 1 if a row or column is empty.
fn fisher(first: Wdl, second: Wdl) -> f64 {
    let (row, other) = (first.wins.saturating_add(first.losses), second.wins.saturating_add(second.losses));
    let wins = first.wins.saturating_add(second.wins);
    let n = row.saturating_add(other);
    if n > MOST_EXACT {
        return chi_squared(decided(first), decided(second)).map_or(1.0, |test| test.p);
    }
    let (low, high) = (wins.saturating_sub(other), wins.min(row));
    // the mode of the hypergeometric distribution
    let mode = ((u128::from(row) + 1) * (u128::from(wins) + 1) / (u128::from(n) + 2)) as u64;
    two_sided_share(first.wins, mode.clamp(low, high), (low, high), |k| {
        let (k, row, wins, n) = (k as f64, row as f64, wins as f64, n as f64);
        (row - k) * (wins - k) / ((k + 1.0) * (n - row - wins + k + 1.0))
    })
}

/// The exact sign test of one match: the two-sided probability of wins as uneven as these if both players are equally
/// strong, without draws. For more than 2³² games by the normal distribution.
pub fn sign_test(games: Wdl) -> f64 {
    let n = games.wins.saturating_add(games.losses);
    if n > MOST_EXACT {
        return Points::from(games).z().map_or(1.0, normal::two_sided);
    }
    two_sided_share(games.wins, n / 2, (0, n), |k| (n - k) as f64 / (k as f64 + 1.0))
}

/// p-values multiplied by their number, at most 1 (Bonferroni).
pub fn bonferroni(p: &[f64]) -> Vec<f64> {
    p.iter().map(|one| (one * p.len() as f64).min(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use evalcurve_fit::validate::holm;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_tea_tasting_table() {
        // Fisher, *The Design of Experiments* (1935), chapter 2: 3 of 4 cups right, two-sided 34/70
        assert!((fisher(Wdl::new(3, 0, 1), Wdl::new(1, 0, 3)) - 34.0 / 70.0).abs() < 1e-12);
    }

    /// Newcombe 1998, *Statistics in Medicine* 17:873, table II, method 10: 56/70 - 48/80 and 10/10 - 0/20.
    #[test]
    fn intervals_of_differences_stay_within_their_range() {
        let of = |first, second| compare(first, second).interval.unwrap();
        let close = |(a, b): (f64, f64), (low, high): (f64, f64)| (a - low).abs() < 6e-5 && (b - high).abs() < 6e-5;
        assert!(close(of(Wdl::new(56, 0, 14), Wdl::new(48, 0, 32)), (0.0524, 0.3339)));
        assert!(close(of(Wdl::new(10, 0, 0), Wdl::new(0, 0, 20)), (0.6791, 1.0)));
        // results that are all alike are no certainty
        let (low, high) = of(Wdl::new(10, 0, 0), Wdl::new(0, 10, 0));
        assert!(low < 0.3 && high > 0.6 && high < 1.0, "{low} {high}");
        assert!(of(Wdl::new(3, 0, 1), Wdl::new(1, 0, 3)).1 < 1.0);
        // draws narrow it
        let (low, high) = of(Wdl::new(30, 40, 30), Wdl::new(30, 40, 30));
        let (from, to) = of(Wdl::new(50, 0, 50), Wdl::new(50, 0, 50));
        assert!(from < low && high < to);
    }

    #[test]
    fn empty_tables_have_no_test() {
        let nothing = compare(Wdl::default(), Wdl::new(3, 0, 4));
        assert_eq!((nothing.difference, nothing.chi_squared, nothing.exact_p), (None, None, 1.0));
        let draws = compare(Wdl::new(0, 9, 0), Wdl::new(0, 3, 0));
        assert_eq!((draws.chi_squared, draws.exact_p), (None, 1.0));
        assert_eq!(draws.half_draws.map(|t| t.p), Some(1.0));
        assert_eq!(sign_test(Wdl::new(0, 5, 0)), 1.0);
        // a share too small for a number is 0, not -0
        for p in
            [sign_test(Wdl::new(1_000_000_000, 0, 0)), fisher(Wdl::new(1_000_000, 0, 0), Wdl::new(0, 0, 1_000_000))]
        {
            assert!(p == 0.0 && p.is_sign_positive(), "{p:e}");
        }
        // counts far beyond any match end soon
        let huge = compare(Wdl::new(1 << 47, 0, 1 << 47), Wdl::new(1 << 40, 5, (1 << 40) + 9));
        assert!(huge.chi_squared.is_some() && huge.exact_p > 0.9);
    }

    #[test]
    fn openings_pair_the_games_of_two_systems() {
        // 12 openings of two games; the second system makes half a point more in 5 of them, less in 1
        let of = |points: [u64; 12]| -> BTreeMap<String, Wdl> {
            points.iter().enumerate().map(|(i, &w)| (i.to_string(), Wdl::new(w, 0, 2 - w))).collect()
        };
        let first = of([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 0, 1]);
        let second = of([1, 1, 0, 0, 1, 2, 2, 1, 2, 2, 1, 0]);
        let sum = |of: &BTreeMap<String, Wdl>| {
            of.values().fold(Wdl::default(), |mut sum, games| {
                sum += *games;
                sum
            })
        };
        let plain = compare(sum(&first), sum(&second));
        let found = plain.by_opening(&first, &second);
        // scipy.stats.ttest_rel of the points by opening: t = -1.7728105, p = 0.1039157
        let test = found.paired.unwrap();
        assert!(test.openings == 12 && (found.difference.unwrap() - plain.difference.unwrap()).abs() < 1e-12);
        assert!((test.p - 0.103_915_7).abs() < 3e-4 && found.p() == test.p, "{test:?}");
        let (low, high) = found.interval.unwrap();
        assert!((low - -0.373_587).abs() < 1e-4 && (high - 0.040_254).abs() < 1e-4, "{low} {high}");
        // other openings, or too few of them: games are taken as independent
        let others: BTreeMap<String, Wdl> = second.iter().map(|(k, v)| (k.clone() + "x", *v)).collect();
        assert_eq!(plain.by_opening(&first, &others).paired, None);
        assert_eq!(plain.by_opening(&BTreeMap::new(), &BTreeMap::new()), plain);
    }

    #[test]
    fn corrections() {
        // Holm 1979 by hand: 3·.01, max(2·.02, .03), max(.04, .04)
        let p = [0.04, 0.01, 0.02];
        let close = |a: Vec<f64>, b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(close(bonferroni(&p), [0.12, 0.03, 0.06]));
        assert!(close(holm(&p), [0.04, 0.03, 0.04]));
        assert!(close(holm(&[0.9, 0.8, 0.7]), [1.0, 1.0, 1.0]));
        assert!(holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn order_does_not_matter(w in 0u64..60, l in 0u64..60, w2 in 0u64..60, l2 in 0u64..60, d in 0u64..9) {
            let (a, b) = (Wdl::new(w, d, l), Wdl::new(w2, 3, l2));
            let (x, y) = (compare(a, b), compare(b, a));
            prop_assert!((x.exact_p - y.exact_p).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&x.exact_p));
            let p = |c: &Comparison| c.chi_squared.map_or(-1.0, |t| t.p);
            prop_assert!((p(&x) - p(&y)).abs() < 1e-9);
            // swapping wins and losses for both changes nothing
            let z = compare(a.reversed(), b.reversed());
            prop_assert!((x.exact_p - z.exact_p).abs() < 1e-9);
        }
    }
}
