//! The exact probability that a move wins the plurality of independent voters.
//!
//! Voters that share a distribution, a weight and a stretch of the order form a group. The votes of a move are then a
//! vector t of counts, one a group, and the product over all moves of the generating functions
//! Σ_t Π_g (λ_gk x_g)^t_g e^(-λ_gk) / t_g!, λ_gk = (voters of g)·π_g(k), holds every split of the votes (the counts are
//! Poisson numbers that are told their sum). Leaving from the factor of every other move what would beat the move under
//! test gives the probability that it wins. A tie among T moves needs 1/T = ∫ u^(T-1) du, which Gauss-Legendre nodes
//! integrate exactly.
//!
//! Sato (2013, "An Analysis of Voting Algorithm in Games", theorems 3 and 4) gives bounds instead: see [`super::sato`].

use super::quadrature::unit_interval;

/// Coefficients below this are dropped. All terms are positive and the last factor is below e^groups·√(2π n), so that
/// with 600 moves the loss stays below 1e-12.
const NEGLIGIBLE: f64 = 1e-20;
/// A number of winning votes that is less probable than this in all is left out.
const UNSEEN: f64 = 1e-18;
/// A distribution must add up to 1 within this.
const SUM_TOLERANCE: f64 = 1e-9;
/// Splits of the votes among groups, at most: twelve voters that all differ, or one voter and thousands alike.
const MOST_STATES: usize = 4096;

/// Voters that are alike and stand side by side in the council's order.
#[derive(Debug, Clone, PartialEq)]
pub struct Voters {
    /// How many.
    pub count: usize,
    /// The weight of the vote of each, above 0; 1 in a simple majority.
    pub weight: f64,
    /// The probability of each move, adding up to 1.
    pub probabilities: Vec<f64>,
}

/// Who wins where several moves have the most votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tie {
    /// The move of the first voter in order whose move is among the tied: the leader if it is, else the next.
    #[default]
    Leader,
    /// Each tied move with the same probability.
    Random,
    /// Not the move that is asked about: the probability is that of winning alone.
    Worst,
}

impl Tie {
    /// As the command line has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Random => "random",
            Self::Worst => "worst",
        }
    }
}

/// What becomes of one move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoveWins {
    /// Probability that it has more votes than any other move.
    pub strict: f64,
    /// Probability that no other move has more votes.
    pub strict_or_tied: f64,
    /// Probability that the council plays it, by the tie rule.
    pub wins: f64,
}

/// Why a probability cannot be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PluralityError {
    /// No voter.
    #[error("no voter: give at least one")]
    NoVoters,
    /// No move.
    #[error("no move to vote for: give the probabilities of one or more moves")]
    NoMoves,
    /// Distributions over different numbers of moves.
    #[error("group {group} has probabilities of {found} moves, the first of {expected}: write 0 for a move never made")]
    Moves {
        /// The group, counted from 1.
        group: usize,
        /// Its number of moves.
        found: usize,
        /// The first group's.
        expected: usize,
    },
    /// A probability that is none.
    #[error("probability {value} of group {group}, move {index}: give numbers from 0 to 1")]
    Probability {
        /// The group, counted from 1.
        group: usize,
        /// The move, counted from 1.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A distribution that does not add up to 1.
    #[error("the probabilities of group {group} add up to {sum}: they must add up to 1")]
    Sum {
        /// The group, counted from 1.
        group: usize,
        /// Their sum.
        sum: f64,
    },
    /// A weight that is not a positive number.
    #[error("weight {weight} of group {group}: give a finite number above 0")]
    Weight {
        /// The group, counted from 1.
        group: usize,
        /// The weight.
        weight: f64,
    },
    /// Too many voters that differ.
    #[error(
        "{states} splits of the votes are too many ({most} at most): let more voters share distribution and weight"
    )]
    States {
        /// Splits of the votes among the groups.
        states: usize,
        /// The most that are computed.
        most: usize,
    },
}

/// What becomes of each move when `voters` vote independently of each other.
///
/// # Errors
/// [`PluralityError`] for distributions that are none, weights that are not above 0, and too many different voters.
pub fn plurality(voters: &[Voters], tie: Tie) -> Result<Vec<MoveWins>, PluralityError> {
    let council = Council::new(voters)?;
    // With one group of voters the first among the tied is as likely any: the leader is a draw.
    let alike = council.counts.len() == 1 && tie == Tie::Leader;
    Ok(council.all(if alike { Tie::Random } else { tie }))
}

/// [`plurality`] of `count` voters of weight 1 with one distribution.
///
/// # Errors
/// [`PluralityError`] for no voters or a distribution that is none.
pub fn plurality_of_alike(count: usize, probabilities: &[f64], tie: Tie) -> Result<Vec<MoveWins>, PluralityError> {
    plurality(&[Voters { count, weight: 1.0, probabilities: probabilities.to_vec() }], tie)
}

/// Checked voters, put together where they are alike, and each move's factor of the generating function.
struct Council {
    /// Voters of each group.
    counts: Vec<usize>,
    weights: Vec<f64>,
    /// π of each group and move.
    probabilities: Vec<Vec<f64>>,
    /// One more than the voters of the largest group, whose votes lie side by side in the dense arrays: the length of a row.
    row: usize,
    /// For each pair of rows the row of their sum; `None` where it has more votes than voters.
    row_sum: Vec<Vec<Option<usize>>>,
    /// Votes of each group in each state.
    votes: Vec<Vec<usize>>,
    /// Summed weight of each state.
    weight_of: Vec<f64>,
    /// For each move its terms: the state and its coefficient.
    factors: Vec<Vec<(usize, f64)>>,
    /// The most weight that a move has with a probability worth a thought.
    most: Vec<f64>,
    /// Brings the product to probability: 1 / Π_g Poisson(n_g; n_g).
    scale: f64,
}

/// What the other moves may have while the move under test has a state of votes.
#[derive(Clone, Copy)]
enum Rival {
    /// Less, or the same, each tie counted u.
    Tied(f64),
    /// Less, or the same, a tie counted u to the power of its votes of this group in units of the third number, and
    /// with no vote of the groups before it.
    FirstOf(usize, f64, usize),
}

impl Council {
    fn new(voters: &[Voters]) -> Result<Self, PluralityError> {
        let groups = merged(voters)?;
        let counts: Vec<usize> = groups.iter().map(|g| g.count).collect();
        let states = counts.iter().fold(1usize, |product, n| product.saturating_mul(n.saturating_add(1)));
        if states > MOST_STATES {
            return Err(PluralityError::States { states, most: MOST_STATES });
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
        // so many others can be tied
        let others: Vec<usize> = totals.iter().map(|t| ((whole / t + 1e-9).floor() - 1.0).max(0.0) as usize).collect();
        // no other move may have a vote, and all have some: nobody wins alone with the smallest total
        let mut strict = vec![0.0; moves];
        for (place, &total) in totals.iter().enumerate() {
            if others[place] == 0 {
                self.beyond_half(&states[place], &mut found);
                continue;
            }
            // what is not ahead of this total is behind the next
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

    /// For every move the probability that it has this total, nothing is ahead, and the tie rule takes it.
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
            // Which of them comes first within the group is as likely any: the share of its votes in those of all tied
            // moves, s·∫ u^(s-1) u^(the others') du.
            let part = if g + 1 == self.counts.len() {
                // nobody else can have voted for the tied: all have s votes
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

    /// More than half of all weight wins whatever the others do.
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
        // Moves that never come near this total stand together: their votes add up to Poisson numbers. They do not win.
        let (mut rivals, mut factors, mut rest) = (Vec::new(), Vec::new(), vec![0.0; self.counts.len()]);
        let allowed: Vec<f64> = (0..all).map(|t| self.allowed(t, total, rival)).collect();
        for (k, factor) in self.factors.iter().enumerate() {
            if self.most[k] < total && !same(self.most[k], total) {
                rest.iter_mut().zip(&self.probabilities).for_each(|(sum, p)| *sum += p[k]);
            } else {
                let kept = factor.iter().filter(|&&(t, _)| allowed[t] > 0.0);
                factors.push(kept.map(|&(t, c)| (t, c * allowed[t])).collect::<Vec<_>>());
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

    /// The coefficient of a state in the factor of a move; `None` where it is negligible.
    fn term(&self, k: usize, state: usize) -> Option<f64> {
        let factor = &self.factors[k];
        factor.binary_search_by_key(&state, |term| term.0).ok().map(|at| factor[at].1)
    }

    /// The share with which a rival's votes count; 0: it would win.
    fn allowed(&self, votes: usize, total: f64, rival: Rival) -> f64 {
        let weight = self.weight_of[votes];
        match rival {
            _ if !same(weight, total) => f64::from(u8::from(weight < total)),
            Rival::Tied(u) => u,
            Rival::FirstOf(g, ..) if self.votes[votes][..g].iter().any(|&t| t > 0) => 0.0,
            Rival::FirstOf(g, u, unit) => libm::pow(u, (self.votes[votes][g] / unit) as f64),
        }
    }

    /// Adds the product of a dense and a sparse polynomial, without what exceeds the number of voters.
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

/// Weights add up in different orders: sums that differ by rounding are the same.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// The groups, checked, neighbours that are alike put together.
fn merged(voters: &[Voters]) -> Result<Vec<Voters>, PluralityError> {
    let mut groups: Vec<Voters> = Vec::new();
    let mut expected = None;
    for (i, group) in voters.iter().enumerate() {
        let (number, moves) = (i + 1, group.probabilities.len());
        if moves == 0 {
            return Err(PluralityError::NoMoves);
        }
        let expected = *expected.get_or_insert(moves);
        if moves != expected {
            return Err(PluralityError::Moves { group: number, found: moves, expected });
        }
        if let Some(index) = group.probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
            let value = group.probabilities[index];
            return Err(PluralityError::Probability { group: number, index: index + 1, value });
        }
        let sum: f64 = group.probabilities.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(PluralityError::Sum { group: number, sum });
        }
        if !(group.weight.is_finite() && group.weight > 0.0) {
            return Err(PluralityError::Weight { group: number, weight: group.weight });
        }
        match groups.last_mut() {
            Some(last) if last.weight == group.weight && last.probabilities == group.probabilities => {
                last.count = last.count.saturating_add(group.count);
            }
            _ if group.count > 0 => groups.push(group.clone()),
            _ => {}
        }
    }
    if groups.is_empty() { Err(PluralityError::NoVoters) } else { Ok(groups) }
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
