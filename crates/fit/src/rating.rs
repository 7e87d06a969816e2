//! Ratings of players from the results of their games, by the model of Bradley and Terry.

use std::collections::{BTreeMap, BTreeSet};

use evalcurve_calibration::logistic::Logistic;
pub use evalcurve_calibration::{ELO_PER_LOGIT, LOGITS_PER_ELO};

use crate::fit::symmetric::Square;
use evalcurve_calibration::types::Outcome;
use evalcurve_words::language::ToText;

/// Converged means: no player's expected points per game differ from the points made by more.
const TOLERANCE: f64 = 1e-10;

/// Virtual drawn games added to each player, spread over the opponents in proportion to the games played, so that the
/// rating of a player who won every game stays finite.
pub const PRIOR_DRAWS: f64 = 0.5;

/// Most Newton steps.
const MOST_STEPS: u32 = 100;

/// Ratings of players, in the numbering of the games.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratings {
    /// Elo points of each player, with mean 0 over each component.
    pub elo: Vec<f64>,
    /// Component of each player, numbered from 0 in the order of their first players. Ratings of players in
    /// different components cannot be compared: no chain of games joins them.
    pub component: Vec<usize>,
    /// Games of each player.
    pub games: Vec<u64>,
    /// Newton steps taken.
    pub iterations: u32,
    /// Largest difference of points made and expected, per game, at the end.
    pub gradient: f64,
}

impl Ratings {
    /// Elo points by which `player` is above `opponent`; `None` where no chain of games joins them.
    pub fn difference(&self, player: usize, opponent: usize) -> Option<f64> {
        let same = self.component.get(player)? == self.component.get(opponent)?;
        same.then(|| Some(self.elo.get(player)? - self.elo.get(opponent)?)).flatten()
    }
}

/// Why games give no ratings.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error, ToText)]
#[non_exhaustive]
pub enum RatingError {
    /// A game names a player beyond the number of players.
    #[error("game {game} names player {player}, but there are {players} players: number the players from 0")]
    UnknownPlayer { game: usize, player: usize, players: usize },
    /// The prior is not a positive finite number.
    #[error("prior of {prior_draws} draws: give a finite number above 0")]
    Prior { prior_draws: f64 },
    /// The search did not converge.
    #[error("ratings not converged after {iterations} steps: a larger prior helps")]
    NotConverged {
        iterations: u32,
        /// Largest difference of points made and expected, per game.
        gradient: f64,
    },
}

/// The games of two players.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encounter {
    /// The player whose points are counted.
    pub first: usize,
    /// The opponent.
    pub second: usize,
    pub games: f64,
    /// Points of the first player, draws counted half.
    pub points: f64,
}

/// Rates players by their games `(black, white, outcome for black)`, draws counted half.
///
/// The expected result of i against j is 1/(1 + 10^((R_j - R_i)/400)) (Bradley and Terry, *Rank analysis of incomplete
/// block designs*, Biometrika 1952; the scale is Elo's); moving first is worth nothing. Maximised is the likelihood
/// with `prior_draws` draws added per player, such as [`PRIOR_DRAWS`], as bayeselo does (Coulom, *Whole-history
/// rating*, 2008, for the use of virtual games). Games of a player against itself have no information and are left out.
/// The order of the games does not matter.
///
/// # Errors
/// A player out of range, a prior that is not positive, or no convergence.
pub fn rate(players: usize, games: &[(usize, usize, Outcome)], prior_draws: f64) -> Result<Ratings, RatingError> {
    let mut encounters = Vec::with_capacity(games.len());
    for (game, &(black, white, outcome)) in games.iter().enumerate() {
        if let Some(player) = [black, white].into_iter().find(|&p| p >= players) {
            return Err(RatingError::UnknownPlayer { game, player, players });
        }
        let (first, second) = (black.min(white), black.max(white));
        let outcome = if first == black { outcome } else { outcome.reversed() };
        encounters.push(Encounter { first, second, games: 1.0, points: outcome.value() });
    }
    encounters.retain(|e| e.first != e.second);
    encounters.sort_unstable_by_key(|e| (e.first, e.second));
    // points are halves, so that no order changes a sum
    encounters.dedup_by(|next, kept| {
        let same = (next.first, next.second) == (kept.first, kept.second);
        if same {
            (kept.games, kept.points) = (kept.games + next.games, kept.points + next.points);
        }
        same
    });
    rate_encounters(players, &encounters, prior_draws)
}

/// [`rate`] from counts, each pair of players once.
///
/// # Errors
/// A prior that is not positive, or no convergence.
///
/// # Panics
/// If an encounter names a player beyond `players`.
pub fn rate_encounters(players: usize, encounters: &[Encounter], prior_draws: f64) -> Result<Ratings, RatingError> {
    if !(prior_draws > 0.0 && prior_draws.is_finite()) {
        return Err(RatingError::Prior { prior_draws });
    }
    let mut played = vec![0.0; players];
    for e in encounters {
        played[e.first] += e.games;
        played[e.second] += e.games;
    }
    let with_prior = |e: &Encounter| {
        let draws = prior_draws * e.games * (1.0 / played[e.first] + 1.0 / played[e.second]);
        Encounter { games: e.games + draws, points: e.points + 0.5 * draws, ..*e }
    };
    let pairs: Vec<Encounter> = encounters.iter().map(with_prior).collect();
    let component = components(players, &pairs);
    let (mut logits, iterations, gradient) = newton(&component, &pairs, MOST_STEPS)?;
    centre(&mut logits, &component);
    let elo = logits.into_iter().map(|r| r * ELO_PER_LOGIT).collect();
    let games = played.into_iter().map(|games| games as u64).collect();
    Ok(Ratings { elo, component, games, iterations, gradient })
}

/// Covariance of the ratings of the players of one component, in Elo² and in their order, if each game is a trial of
/// Bernoulli: the inverse information about the component's mean. `encounters` are those of the component. `None` where
/// rounding leaves no inverse.
pub fn covariance(elo: &[f64], players: &[usize], encounters: &[Encounter]) -> Option<Vec<Vec<f64>>> {
    let n = players.len();
    let Some(free) = n.checked_sub(1).filter(|free| *free > 0) else {
        return Some(vec![vec![0.0; n]; n]);
    };
    let place: BTreeMap<usize, usize> = players.iter().copied().zip(0..).collect();
    // the last player's rating is held fast: only differences have information
    let mut information = Square::zero(free);
    for e in encounters {
        let (Some(&i), Some(&j)) = (place.get(&e.first), place.get(&e.second)) else { continue };
        let (p, _) = expected((elo[e.first] - elo[e.second]) * LOGITS_PER_ELO);
        let weight = e.games * p * (1.0 - p) * LOGITS_PER_ELO * LOGITS_PER_ELO;
        [i, j].into_iter().filter(|&k| k < free).for_each(|k| information.add(k, k, weight));
        if i < free && j < free {
            information.add(i, j, -weight);
        }
    }
    let inverse = information.cholesky()?.inverse();
    let at = |i: usize, j: usize| if i.max(j) < free { inverse.at(i.max(j), i.min(j)) } else { 0.0 };
    let means: Vec<f64> = (0..n).map(|i| (0..n).map(|j| at(i, j)).sum::<f64>() / n as f64).collect();
    let mean = means.iter().sum::<f64>() / n as f64;
    let row = |i: usize| (0..n).map(|j| at(i, j) - means[i] - means[j] + mean).collect();
    Some((0..n).map(row).collect())
}

/// Whether the likelihood of the games of a component has its maximum at finite ratings: each player scored, over a
/// chain of opponents, against each other one (Ford, *Solution of a ranking problem from binary comparisons*, 1957).
pub fn is_determined(players: &[usize], encounters: &[Encounter]) -> bool {
    let reaches_all = |forward: bool| {
        let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for e in encounters {
            let scores = [(e.first, e.second, e.points > 0.0), (e.second, e.first, e.points < e.games)];
            for (a, b, _) in scores.into_iter().filter(|(.., scored)| *scored) {
                let (from, to) = if forward { (a, b) } else { (b, a) };
                next.entry(from).or_default().push(to);
            }
        }
        let mut open: Vec<usize> = players.first().copied().into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(player) = open.pop() {
            if seen.insert(player) {
                open.extend(next.get(&player).into_iter().flatten());
            }
        }
        seen.len() == players.len()
    };
    reaches_all(true) && reaches_all(false)
}

/// Components of players joined by games, numbered in the order of their first players.
fn components(players: usize, pairs: &[Encounter]) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..players).collect();
    for pair in pairs {
        let (a, b) = (root(&mut parent, pair.first), root(&mut parent, pair.second));
        // the smaller number is the root, so that a component is met at its first player
        parent[a.max(b)] = a.min(b);
    }
    let mut number = vec![0; players];
    let mut next = 0;
    for p in 0..players {
        let r = root(&mut parent, p);
        if r == p {
            number[p] = next;
            next += 1;
        } else {
            number[p] = number[r];
        }
    }
    number
}

/// The root of the tree of p, in a forest where a root is its own parent. Shortens the way to it.
pub(crate) fn root(parent: &mut [usize], mut p: usize) -> usize {
    while parent[p] != p {
        parent[p] = parent[parent[p]];
        p = parent[p];
    }
    p
}

/// Moves every component's mean to 0.
fn centre(values: &mut [f64], component: &[usize]) {
    let mut sums = vec![(0.0, 0.0); component.iter().max().map_or(0, |c| c + 1)];
    for (&v, &c) in values.iter().zip(component) {
        sums[c].0 += v;
        sums[c].1 += 1.0;
    }
    for (v, &c) in values.iter_mut().zip(component) {
        *v -= sums[c].0 / sums[c].1;
    }
}

/// Expected result at a difference in logits, and -log of it.
fn expected(difference: f64) -> (f64, f64) {
    let Logistic { p, minus_log_p, .. } = Logistic::at(difference);
    (p, minus_log_p)
}

fn loss(logits: &[f64], pairs: &[Encounter]) -> f64 {
    let of = |p: &Encounter| {
        let d = logits[p.first] - logits[p.second];
        // -log(1 - p) = -log p + d
        let minus_log = expected(d).1;
        p.points * minus_log + (p.games - p.points) * (minus_log + d)
    };
    pairs.iter().map(of).sum()
}

/// Newton's method on the convex loss; ratings in logits, steps, gradient.
fn newton(component: &[usize], pairs: &[Encounter], max_iterations: u32) -> Result<(Vec<f64>, u32, f64), RatingError> {
    let players = component.len();
    let mut games = vec![0.0; players];
    for p in pairs {
        games[p.first] += p.games;
        games[p.second] += p.games;
    }
    let mut logits = vec![0.0; players];
    let mut here = loss(&logits, pairs);
    let mut iterations = 0;
    loop {
        let mut gradient = vec![0.0; players];
        let mut weights = Vec::with_capacity(pairs.len());
        for p in pairs {
            let (e, _) = expected(logits[p.first] - logits[p.second]);
            let excess = p.games * e - p.points;
            gradient[p.first] += excess;
            gradient[p.second] -= excess;
            weights.push(p.games * e * (1.0 - e));
        }
        let size =
            gradient.iter().zip(&games).filter(|(_, n)| **n > 0.0).fold(0.0f64, |m, (g, n)| m.max((g / n).abs()));
        if size <= TOLERANCE {
            return Ok((logits, iterations, size));
        }
        let stalled = RatingError::NotConverged { iterations, gradient: size };
        if iterations >= max_iterations {
            return Err(stalled);
        }
        iterations += 1;
        let step = solve(&gradient, component, pairs, &weights);
        let mut length = 1.0;
        loop {
            let next: Vec<f64> = logits.iter().zip(&step).map(|(r, s)| r - length * s).collect();
            let there = loss(&next, pairs);
            // near the minimum the loss no longer resolves a step
            if there <= here + 1e-12 * here.abs() {
                (logits, here) = (next, there);
                break;
            }
            length *= 0.5;
            if length < 1e-9 {
                return Err(stalled);
            }
        }
    }
}

/// Solves the Newton equations by conjugate gradients with the diagonal as preconditioner.
///
/// The matrix is a weighted graph Laplacian, one entry a pair, and knows no mean of a component; nor may the right
/// side, of which rounding leaves one. Dense elimination would cost the cube of the players.
fn solve(right: &[f64], component: &[usize], pairs: &[Encounter], weights: &[f64]) -> Vec<f64> {
    let n = right.len();
    let mut diagonal = vec![0.0; n];
    for (p, w) in pairs.iter().zip(weights) {
        diagonal[p.first] += w;
        diagonal[p.second] += w;
    }
    let scaled =
        |r: &[f64]| -> Vec<f64> { r.iter().zip(&diagonal).map(|(r, &d)| if d > 0.0 { r / d } else { 0.0 }).collect() };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut x = vec![0.0; n];
    let mut residual = right.to_vec();
    centre(&mut residual, component);
    let mut z = scaled(&residual);
    let mut direction = z.clone();
    let mut rz = dot(&residual, &z);
    let (goal, fine) = (rz * 1e-24, rz * 1e-18);
    // rounding can keep a large system from the goal, and further steps then lead away from the solution
    let mut best = (rz, x.clone());
    let mut since_best = 0;
    for _ in 0..(4 * n + 10) {
        if rz.is_nan() || rz <= goal || (best.0 <= fine && since_best > 20) {
            break;
        }
        let mut product = vec![0.0; n];
        for (p, w) in pairs.iter().zip(weights) {
            let flow = w * (direction[p.first] - direction[p.second]);
            product[p.first] += flow;
            product[p.second] -= flow;
        }
        let curvature = dot(&direction, &product);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let alpha = rz / curvature;
        for i in 0..n {
            x[i] += alpha * direction[i];
            residual[i] -= alpha * product[i];
        }
        centre(&mut residual, component);
        z = scaled(&residual);
        let next = dot(&residual, &z);
        let beta = next / rz;
        rz = next;
        since_best += 1;
        if rz < best.0 {
            (best.0, since_best) = (rz, 0);
            best.1.clone_from(&x);
        }
        for i in 0..n {
            direction[i] = z[i] + beta * direction[i];
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_words::random;

    fn games(black: usize, white: usize, [wins, draws, losses]: [usize; 3]) -> Vec<(usize, usize, Outcome)> {
        let of = |n, outcome| std::iter::repeat_n((black, white, outcome), n);
        of(wins, Outcome::Win).chain(of(draws, Outcome::Draw)).chain(of(losses, Outcome::Loss)).collect()
    }

    #[test]
    fn two_players_differ_by_the_logit_of_their_score() {
        // Apery against nozomi, Takeuchi 2018, table 1: 760 wins, 24 draws, 216 losses
        let ratings = rate(2, &games(0, 1, [760, 24, 216]), PRIOR_DRAWS).unwrap();
        // half a draw of prior from each player
        let expected = ELO_PER_LOGIT * libm::log(772.5 / 228.5);
        assert!((ratings.difference(0, 1).unwrap() - expected).abs() < 1e-6);
        assert!((ratings.elo[0] + ratings.elo[1]).abs() < 1e-9);
        let mirrored = rate(2, &games(1, 0, [216, 24, 760]), PRIOR_DRAWS).unwrap();
        assert_eq!(ratings, mirrored);
    }

    #[test]
    fn rounding_does_not_keep_a_search_from_its_end() {
        // of 400,000 such cases 155 did not converge while rounding could move the mean of all players
        for case in 0..3_000 {
            let mut number = 0;
            let mut below = |n: u64| {
                number += 1;
                random::below(n, &[case, number]) as usize
            };
            let players = 8 + below(5);
            let game = |below: &mut dyn FnMut(u64) -> usize| {
                let outcome = if case % 2 == 0 || below(2) == 0 { Outcome::Win } else { Outcome::Loss };
                (below(players as u64), below(players as u64), outcome)
            };
            let games: Vec<_> = (0..200).map(|_| game(&mut below)).collect();
            assert!(rate(players, &games, PRIOR_DRAWS).is_ok(), "{case}");
        }
    }

    #[test]
    fn a_player_who_always_wins_stays_finite() {
        let ratings = rate(3, &[games(0, 1, [50, 0, 0]), games(1, 2, [0, 0, 50])].concat(), PRIOR_DRAWS).unwrap();
        assert!(ratings.elo.iter().all(|r| r.is_finite()));
        assert!(ratings.elo[0] > 400.0 + ratings.elo[1] && ratings.gradient <= TOLERANCE);
    }

    #[test]
    fn components_are_centred_apart() {
        let list = [games(3, 1, [3, 0, 1]), games(0, 4, [1, 1, 5]), vec![(2, 2, Outcome::Win)]].concat();
        let ratings = rate(5, &list, PRIOR_DRAWS).unwrap();
        assert_eq!(ratings.component, [0, 1, 2, 1, 0]);
        assert_eq!(ratings.games, [7, 4, 0, 4, 7]);
        assert_eq!(ratings.elo[2], 0.0);
        assert!((ratings.elo[0] + ratings.elo[4]).abs() < 1e-9 && (ratings.elo[1] + ratings.elo[3]).abs() < 1e-9);
        assert_eq!(ratings.difference(0, 1), None);
        assert_eq!(ratings.difference(0, 9), None);
        assert!(rate(0, &[], PRIOR_DRAWS).unwrap().elo.is_empty());
    }

    #[test]
    fn known_strengths_are_recovered_in_any_order_of_games() {
        let strength = |p: usize| 40.0 * p as f64;
        let n = 30;
        let mut list: Vec<_> = (0..60_000u64)
            .map(|i| {
                let (a, b) = (random::below(n, &[i, 1]) as usize, random::below(n, &[i, 2]) as usize);
                let (p, _) = expected((strength(a) - strength(b)) / ELO_PER_LOGIT);
                (a, b, if random::unit(&[i, 3]) < p { Outcome::Win } else { Outcome::Loss })
            })
            .collect();
        let ratings = rate(n as usize, &list, PRIOR_DRAWS).unwrap();
        let mean = strength(n as usize - 1) / 2.0;
        for (p, elo) in ratings.elo.iter().enumerate() {
            assert!((elo - (strength(p) - mean)).abs() < 40.0, "{p}: {elo}");
        }
        assert!(ratings.iterations < 12);
        list.sort_by_key(|g| (g.1, g.0, g.2));
        assert_eq!(ratings, rate(n as usize, &list, PRIOR_DRAWS).unwrap());
    }

    #[test]
    fn many_players_with_few_games_each_converge() {
        let players = 2_000;
        let strength = |p: u64| 600.0 * random::unit(&[3, p]) - 300.0;
        let list: Vec<_> = (0..20_000)
            .map(|game| {
                let [a, b] = [1, 2].map(|side| random::below(players, &[game, side]));
                let win = 1.0 / (1.0 + libm::pow(10.0, (strength(b) - strength(a)) / 400.0));
                let outcome = if random::unit(&[game, 4]) < win { Outcome::Win } else { Outcome::Loss };
                (a as usize, b as usize, outcome)
            })
            .collect();
        let ratings = rate(players as usize, &list, PRIOR_DRAWS).unwrap();
        assert!(ratings.gradient <= TOLERANCE && ratings.iterations < 12, "{}", ratings.iterations);
    }

    #[test]
    fn a_long_chain_of_players_converges() {
        let list: Vec<_> = (0..499).flat_map(|p| games(p, p + 1, [6, 1, 3])).collect();
        let ratings = rate(500, &list, PRIOR_DRAWS).unwrap();
        assert!(ratings.gradient <= TOLERANCE);
        assert!(ratings.elo.windows(2).all(|w| w[0] > w[1]));
    }

    #[test]
    fn errors_are_reached() {
        assert_eq!(
            rate(2, &[(0, 1, Outcome::Win), (0, 2, Outcome::Win)], PRIOR_DRAWS),
            Err(RatingError::UnknownPlayer { game: 1, player: 2, players: 2 })
        );
        assert_eq!(rate(1, &[], 0.0), Err(RatingError::Prior { prior_draws: 0.0 }));
        let pair = Encounter { first: 0, second: 1, games: 4.0, points: 3.0 };
        assert!(matches!(newton(&[0, 0], &[pair], 0), Err(RatingError::NotConverged { iterations: 0, .. })));
    }
}
