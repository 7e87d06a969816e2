//! The exact probability that a move wins the plurality of independent voters.
//!
//! Consecutive voters with the same distribution and weight form a group. The votes of a move are then a vector t of
//! counts, one per group, and the product over all moves of the generating functions Σ_t Π_g (λ_gk x_g)^t_g e^(-λ_gk) /
//! t_g!, λ_gk = (voters of g)·π_g(k), contains every split of the votes (the counts are Poisson numbers conditioned on
//! their sum). Removing from the factor of every other move the terms that would beat the move under test gives the
//! probability that it wins. A tie among T moves needs 1/T = ∫ u^(T-1) du, which Gauss-Legendre nodes integrate
//! exactly.
//!
//! Sato (2013, "An Analysis of Voting Algorithm in Games", theorems 3 and 4) gives bounds instead; see [`super::sato`].

use strum::{Display, EnumString, VariantNames};

use super::quadrature::unit_interval;

/// Coefficients below this are dropped. All terms are positive and the last factor is below e^groups·√(2π n), so the
/// error stays below 1e-12 with 600 moves.
const NEGLIGIBLE: f64 = 1e-20;
/// Numbers of winning votes with a total probability below this are left out.
const UNSEEN: f64 = 1e-18;
/// Tolerance of the sum of a distribution.
const SUM_TOLERANCE: f64 = 1e-9;
/// Largest number of splits of the votes among groups: twelve different voters, or one voter and thousands of equal
/// ones.
const MOST_STATES: usize = 4096;
/// Sums of weights that differ by less, relative to the larger, are equal.
const SAME: f64 = 1e-12;
/// The smallest weight, relative to the largest.
const LEAST_WEIGHT: f64 = 1e-9;

/// A group of equal voters that are consecutive in the order of the council.
#[derive(Debug, Clone, PartialEq)]
pub struct Voters {
    pub count: usize,
    /// The weight of each vote, above 0; 1 in a simple majority.
    pub weight: f64,
    /// The probability of each move, adding up to 1.
    pub probabilities: Vec<f64>,
}

/// Which move wins if several have the most votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Tie {
    /// The tied move of the first voter in order: the leader if its move is tied, else the next voter.
    #[default]
    Leader,
    /// Each tied move with equal probability.
    Random,
    /// No tied move: only moves that are ahead alone win.
    Worst,
}

/// The probabilities of one move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoveWins {
    /// Probability that it has more votes than any other move.
    pub strict: f64,
    /// Probability that no other move has more votes.
    pub strict_or_tied: f64,
    /// Probability that the council plays it, by the tie rule.
    pub wins: f64,
}

/// Why the probabilities cannot be computed: the value, its place, and what to give instead.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct PluralityError(pub(super) String);

impl PluralityError {
    pub(super) fn no_moves() -> Self {
        Self("no move to vote for; give the probabilities of one or more moves".to_owned())
    }
}

/// The probabilities of each move if the voters vote independently.
///
/// # Errors
/// If a distribution or weight is invalid, or if there are too many different voters.
pub fn plurality(voters: &[Voters], tie: Tie) -> Result<Vec<MoveWins>, PluralityError> {
    let council = Council::new(voters)?;
    // within one group of voters, each tied move is equally likely to be the first
    let one_group = council.counts.len() == 1 && tie == Tie::Leader;
    Ok(council.all(if one_group { Tie::Random } else { tie }))
}

/// [`plurality`] of `count` voters of weight 1 with one distribution.
///
/// # Errors
/// If there are no voters, or if the distribution is invalid.
pub fn plurality_of_alike(count: usize, probabilities: &[f64], tie: Tie) -> Result<Vec<MoveWins>, PluralityError> {
    plurality(&[Voters { count, weight: 1.0, probabilities: probabilities.to_vec() }], tie)
}

/// Checked voters, with equal neighbours merged, and the factor of each move in the generating function.
struct Council {
    /// Voters of each group.
    counts: Vec<usize>,
    weights: Vec<f64>,
    /// π of each group and move.
    probabilities: Vec<Vec<f64>>,
    /// Length of a row of the dense arrays: one more than the voters of the largest group, whose counts are adjacent.
    row: usize,
    /// For each pair of rows the row of their sum; `None` if it has more votes than voters.
    row_sum: Vec<Vec<Option<usize>>>,
    /// Votes of each group in each state.
    votes: Vec<Vec<usize>>,
    /// Summed weight of each state.
    weight_of: Vec<f64>,
    /// The terms of each move: the state and its coefficient.
    factors: Vec<Vec<(usize, f64)>>,
    /// The largest weight that each move has with a probability that is not negligible.
    most: Vec<f64>,
    /// Normalisation of the product: 1 / Π_g Poisson(n_g; n_g).
    scale: f64,
}

/// The votes that another move may have while the move under test has a given state of votes.
#[derive(Clone, Copy)]
enum Rival {
    /// Fewer, or the same with a factor u.
    Tied(f64),
    /// Fewer, or the same with a factor u to the power of its votes from this group, divided by the third number, and
    /// no vote from the groups before.
    FirstOf(usize, f64, usize),
}

impl Council {
    fn new(voters: &[Voters]) -> Result<Self, PluralityError> {
        let groups = merged(voters)?;
        let counts: Vec<usize> = groups.iter().map(|g| g.count).collect();
        let states = counts.iter().fold(1usize, |product, n| product.saturating_mul(n.saturating_add(1)));
        if states > MOST_STATES {
            return Err(PluralityError(format!(
                "{states} splits of the votes are too many (at most {MOST_STATES}); use fewer different distributions \
                 and weights"
            )));
        }
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|&g| std::cmp::Reverse(counts[g]));
        let row = counts[order[0]] + 1;
        let mut strides = vec![0; counts.len()];
        let mut stride = 1;
        for g in order {
            strides[g] = stride;
            stride *= counts[g] + 1;
        }
        let votes: Vec<Vec<usize>> = (0..states)
            .map(|s| counts.iter().zip(&strides).map(|(n, stride)| (s / stride) % (n + 1)).collect())
            .collect();
        let fits = |a: usize, b: usize| {
            let both = votes[a * row].iter().zip(&votes[b * row]);
            both.zip(&counts).all(|((a, b), n)| a + b <= *n).then_some(a + b)
        };
        let rows = states / row;
        let row_sum = (0..rows).map(|a| (0..rows).map(|b| fits(a, b)).collect()).collect();
        let weights: Vec<f64> = groups.iter().map(|g| g.weight).collect();
        let weight_of: Vec<f64> =
            votes.iter().map(|t| t.iter().zip(&weights).map(|(&t, w)| t as f64 * w).sum()).collect();
        let poisson: Vec<Vec<Vec<f64>>> = groups
            .iter()
            .map(|g| g.probabilities.iter().map(|p| poisson(g.count as f64 * p, g.count)).collect())
            .collect();
        let factor = |k: usize| -> Vec<(usize, f64)> {
            let coefficient = |s: usize| votes[s].iter().enumerate().map(|(g, &t)| poisson[g][k][t]).product::<f64>();
            (0..states).map(|s| (s, coefficient(s))).filter(|term| term.1 > NEGLIGIBLE).collect()
        };
        let factors: Vec<Vec<(usize, f64)>> = (0..groups[0].probabilities.len()).map(factor).collect();
        let most = factors.iter().map(|f| f.iter().map(|term| weight_of[term.0]).fold(0.0, f64::max)).collect();
        let scale = counts.iter().map(|&n| 1.0 / poisson_at(n as f64, n)).product();
        let probabilities = groups.into_iter().map(|g| g.probabilities).collect();
        Ok(Self { counts, weights, probabilities, row, row_sum, votes, weight_of, factors, most, scale })
    }

    fn all(&self, tie: Tie) -> Vec<MoveWins> {
        let moves = self.factors.len();
        let mut found = vec![MoveWins { strict: 0.0, strict_or_tied: 0.0, wins: 0.0 }; moves];
        let whole: f64 = self.counts.iter().zip(&self.weights).map(|(&n, w)| n as f64 * w).sum();
        let mut totals: Vec<f64> = self.weight_of[1..].to_vec();
        totals.sort_by(f64::total_cmp);
        totals.dedup_by(|a, b| same(*a, *b));
        let states: Vec<Vec<usize>> = totals
            .iter()
            .map(|total| (1..self.weight_of.len()).filter(|&s| same(self.weight_of[s], *total)).collect())
            .collect();
        // the number of other moves that can be tied
        let most = (moves - 1).min(self.counts.iter().sum::<usize>() - 1);
        let others = |total: &f64| ((whole / total + 1e-9).floor() - 1.0).max(0.0) as usize;
        let others: Vec<usize> = totals.iter().map(|total| others(total).min(most)).collect();
        // no other move may have a vote, and every voter votes: no move wins alone with the smallest total
        let mut strict = vec![0.0; moves];
        for (place, &total) in totals.iter().enumerate() {
            if others[place] == 0 {
                self.beyond_half(&states[place], &mut found);
                continue;
            }
            // a move that is not ahead of this total is below the next
            let (mut tied, mut strict_next) = (vec![0.0; moves], vec![0.0; moves]);
            let next = states.get(place + 1).filter(|_| others[place + 1] > 0).map_or(&[][..], |next| next);
            let both = [&states[place][..], next].concat();
            self.each(total, &both, Rival::Tied(1.0), &mut |k, s, p| {
                let sums = if next.contains(&s) { &mut strict_next } else { &mut tied };
                sums[k] += p * self.scale;
            });
            let seen = tied.iter().sum::<f64>() - strict.iter().sum::<f64>() > UNSEEN;
            let wins = if seen && tie != Tie::Worst {
                self.ties_broken(tie, total, &states[place], others[place])
            } else {
                strict.clone()
            };
            for (k, of) in found.iter_mut().enumerate() {
                of.strict += strict[k];
                of.strict_or_tied += tied[k];
                of.wins += wins[k];
            }
            strict = strict_next;
        }
        for of in &mut found {
            for p in [&mut of.strict, &mut of.strict_or_tied, &mut of.wins] {
                *p = p.clamp(0.0, 1.0);
            }
        }
        found
    }

    /// For every move the probability that it has this total, no move is ahead, and the tie rule chooses it.
    fn ties_broken(&self, tie: Tie, total: f64, states: &[usize], others: usize) -> Vec<f64> {
        let moves = self.factors.len();
        let sums = |states: &[usize], rival: Rival, share: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let mut sums = vec![0.0; moves];
            self.each(total, states, rival, &mut |k, s, p| sums[k] += share(s) * p * self.scale);
            sums
        };
        if tie != Tie::Leader {
            return self.among_tied(others, |u| sums(states, Rival::Tied(u), &|_| 1.0));
        }
        let mut wins = vec![0.0; moves];
        for g in 0..self.counts.len() {
            let first = |s: &usize| self.votes[*s].iter().position(|&t| t > 0) == Some(g);
            let own: Vec<usize> = states.iter().copied().filter(first).collect();
            let Some(&one) = own.first() else { continue };
            // each vote within the group is equally likely to be the first: the share of its votes in those of all tied
            // moves, s·∫ u^(s-1) u^(the others') du.
            let part = if g + 1 == self.counts.len() {
                // no other group can have voted for the tied moves: all have s votes
                self.among_tied(others, |u| sums(&own, Rival::FirstOf(g, u, self.votes[one][g]), &|_| 1.0))
            } else {
                self.integrated(self.counts[g].div_ceil(2), |u| {
                    let share = |s: usize| {
                        let t = self.votes[s][g] as f64;
                        t * libm::pow(u, t - 1.0)
                    };
                    sums(&own, Rival::FirstOf(g, u, 1), &share)
                })
            };
            wins.iter_mut().zip(part).for_each(|(w, p)| *w += p);
        }
        wins
    }

    /// More than half of all weight always wins.
    fn beyond_half(&self, states: &[usize], found: &mut [MoveWins]) {
        for (k, of) in found.iter_mut().enumerate() {
            for &s in states {
                if let Some(own) = self.term(k, s) {
                    let rest = |(g, &n): (usize, &usize)| {
                        poisson_at(n as f64 * (1.0 - self.probabilities[g][k]), n - self.votes[s][g])
                    };
                    let p = own * self.counts.iter().enumerate().map(rest).product::<f64>() * self.scale;
                    of.strict += p;
                    of.strict_or_tied += p;
                    of.wins += p;
                }
            }
        }
    }

    /// ∫ f(u) du for f a polynomial of degree `others`, so that a term u^T becomes 1/(T + 1).
    fn among_tied(&self, others: usize, f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
        self.integrated(others / 2 + 1, f)
    }

    fn integrated(&self, nodes: usize, f: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.factors.len()];
        for (u, w) in unit_interval(nodes) {
            sums.iter_mut().zip(f(u)).for_each(|(sum, p)| *sum += w * p);
        }
        sums
    }

    /// For every move k and each of `states` as its votes: the unscaled probability that it has them and that the
    /// rivals have what they may.
    fn each(&self, total: f64, states: &[usize], rival: Rival, into: &mut dyn FnMut(usize, usize, f64)) {
        let all = self.weight_of.len();
        // moves that never reach this total are merged: their votes add up to Poisson numbers, and they do not win
        let (mut rivals, mut factors, mut rest) = (Vec::new(), Vec::new(), vec![0.0; self.counts.len()]);
        let allowed: Vec<f64> = (0..all).map(|t| self.allowed(t, total, rival)).collect();
        for (k, factor) in self.factors.iter().enumerate() {
            if self.most[k] < total && !same(self.most[k], total) {
                rest.iter_mut().zip(&self.probabilities).for_each(|(sum, p)| *sum += p[k]);
            } else {
                let terms = factor.iter().filter(|&&(t, _)| allowed[t] > 0.0);
                factors.push(terms.map(|&(t, c)| (t, c * allowed[t])).collect::<Vec<_>>());
                rivals.push(k);
            }
        }
        let Some(last) = rivals.len().checked_sub(1) else { return };
        // row k: product of the factors before the k-th rival
        let mut prefixes = vec![0.0; all * rivals.len()];
        for (state, first) in prefixes[..all].iter_mut().enumerate() {
            let of = |(g, share): (usize, &f64)| poisson_at(self.counts[g] as f64 * share, self.votes[state][g]);
            *first = rest.iter().enumerate().map(of).product();
        }
        for (k, factor) in factors[..last].iter().enumerate() {
            let (before, after) = prefixes.split_at_mut(all * (k + 1));
            self.multiply(&before[all * k..], factor, &mut after[..all]);
        }
        let mut suffix = vec![0.0; all];
        let mut next = suffix.clone();
        suffix[0] = 1.0;
        for (place, factor) in factors.iter().enumerate().rev() {
            for &s in states {
                if let Some(own) = self.term(rivals[place], s) {
                    let rest = self.coefficient(&prefixes[all * place..all * (place + 1)], &suffix, all - 1 - s);
                    into(rivals[place], s, own * rest);
                }
            }
            next.fill(0.0);
            self.multiply(&suffix, factor, &mut next);
            std::mem::swap(&mut suffix, &mut next);
        }
    }

    /// The coefficient of a state in the factor of a move; `None` if it is negligible.
    fn term(&self, k: usize, state: usize) -> Option<f64> {
        let factor = &self.factors[k];
        factor.binary_search_by_key(&state, |term| term.0).ok().map(|at| factor[at].1)
    }

    /// The factor of a rival's votes; 0 if the rival would win.
    fn allowed(&self, votes: usize, total: f64, rival: Rival) -> f64 {
        let weight = self.weight_of[votes];
        match rival {
            _ if !same(weight, total) => f64::from(u8::from(weight < total)),
            Rival::Tied(u) => u,
            Rival::FirstOf(g, ..) if self.votes[votes][..g].iter().any(|&t| t > 0) => 0.0,
            Rival::FirstOf(g, u, unit) => libm::pow(u, (self.votes[votes][g] / unit) as f64),
        }
    }

    /// Adds the product of a dense and a sparse polynomial, without terms that exceed the number of voters.
    fn multiply(&self, dense: &[f64], sparse: &[(usize, f64)], out: &mut [f64]) {
        let row = self.row;
        for (a, from) in dense.chunks_exact(row).enumerate() {
            let Some(last) = from.iter().rposition(|&c| c > NEGLIGIBLE) else { continue };
            for &(t, c) in sparse {
                if let Some(to) = self.row_sum[a][t / row] {
                    let shift = t % row;
                    let length = (row - shift).min(last + 1);
                    let to = to * row + shift;
                    for (o, d) in out[to..to + length].iter_mut().zip(&from[..length]) {
                        *o += c * d;
                    }
                }
            }
        }
    }

    /// Coefficient `at` of the product of two dense polynomials.
    fn coefficient(&self, one: &[f64], other: &[f64], at: usize) -> f64 {
        let (rows, column) = (at / self.row, at % self.row);
        let mut sum = 0.0;
        for a in 0..=rows {
            if self.row_sum[a][rows - a] == Some(rows) {
                let (one, other) = (&one[a * self.row..], &other[(rows - a) * self.row..]);
                sum += one[..=column].iter().zip(other[..=column].iter().rev()).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        sum
    }
}

/// Whether two sums of weights are equal up to rounding.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.max(b)
}

/// The checked groups, with equal neighbours merged and the largest weight 1.
fn merged(voters: &[Voters]) -> Result<Vec<Voters>, PluralityError> {
    let mut groups: Vec<Voters> = Vec::new();
    let first = voters.first().map_or(0, |group| group.probabilities.len());
    for (i, group) in (1..).zip(voters) {
        let (moves, sum) = (group.probabilities.len(), group.probabilities.iter().sum::<f64>());
        let bad = group.probabilities.iter().position(|p| !(0.0..=1.0).contains(p));
        if moves == 0 {
            return Err(PluralityError::no_moves());
        }
        let problem = if moves != first {
            format!(
                "group {i} has probabilities of {moves} moves, the first group of {first}; give 0 for a move that is \
                 never played"
            )
        } else if let Some(k) = bad {
            format!("probability {} of group {i}, move {}; give numbers from 0 to 1", group.probabilities[k], k + 1)
        } else if (sum - 1.0).abs() > SUM_TOLERANCE {
            format!("the probabilities of group {i} add up to {sum}; they must add up to 1")
        } else if !(group.weight.is_finite() && group.weight > 0.0) {
            format!("weight {} of group {i}; give a finite number above 0", group.weight)
        } else {
            match groups.last_mut() {
                Some(last) if last.weight == group.weight && last.probabilities == group.probabilities => {
                    last.count = last.count.saturating_add(group.count);
                }
                _ if group.count > 0 => groups.push(group.clone()),
                _ => {}
            }
            continue;
        };
        return Err(PluralityError(problem));
    }
    let weights = || groups.iter().map(|group| group.weight);
    let Some((least, most)) = weights().min_by(f64::total_cmp).zip(weights().max_by(f64::total_cmp)) else {
        return Err(PluralityError("no voter; give at least one".to_owned()));
    };
    if least / most < LEAST_WEIGHT {
        return Err(PluralityError(format!(
            "the weight {least} is less than {LEAST_WEIGHT} of the weight {most}; leave out so light voters"
        )));
    }
    groups.iter_mut().for_each(|group| group.weight /= most);
    Ok(groups)
}

/// e^(-λ) λ^t / t! for t to `most`.
fn poisson(lambda: f64, most: usize) -> Vec<f64> {
    (0..=most).map(|t| poisson_at(lambda, t)).collect()
}

fn poisson_at(lambda: f64, t: usize) -> f64 {
    if lambda == 0.0 {
        return if t == 0 { 1.0 } else { 0.0 };
    }
    libm::exp(t as f64 * libm::log(lambda) - lambda - libm::lgamma(t as f64 + 1.0))
}

#[cfg(test)]
#[path = "plurality_tests.rs"]
mod tests;
