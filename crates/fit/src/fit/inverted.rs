//! The share of games in which an engine's scores have the wrong sign.
//!
//! In a game whose sides both give scores, let φ(x) be a score over the median size of its engine's scores, cut to
//! ±3, T the mean of −φ(x) φ(y) over neighbouring scores x and y of the two sides, and R the mean of φ(x) over the
//! scores of one side, negative if it lost. (Means, not sums: who errs in a game, errs in all of it.) Among the four
//! ways to set the signs s and t of the two sides, the right one has a probability proportional to exp(c k k′ s t T +
//! d (k s R + k′ t R′)), and each engine has a share of games in which its sign is inverted. c, d, each engine's k
//! and its share have maximum likelihood, with weak priors on k (log-normal, standard deviation 0.7) and on the share
//! (as if ten more games had the right sign). An engine whose scores say little has a small k, not a large share.

use crate::parallel;

/// Games that the prior adds with the right sign.
const PRIOR_GAMES: f64 = 10.0;
/// Standard deviation of ln k.
const PRIOR_K: f64 = 0.7;
/// Rounds of the fit, each of so many steps for the shares.
const ROUNDS: usize = 8;
const STEPS: usize = 5;
/// The drop of the log likelihood at the ends of a 95% interval.
const DROP_95: f64 = 1.92;
/// Games with scores of both sides that an engine needs for a weight of its own.
pub const LEAST_GAMES: usize = 20;

/// What a game says of the signs of its players' scores.
#[derive(Debug, Clone, Copy)]
pub struct Evidence {
    /// The numbers of the players, Black first.
    pub players: [usize; 2],
    /// T.
    pub together: f64,
    /// R of either player.
    pub results: [f64; 2],
}

/// A share of games, with its 95% interval.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// The most likely one.
    pub value: f64,
    /// See `value`.
    pub interval: [f64; 2],
    /// Twice the log likelihood that it gains over no such game.
    pub gain: f64,
}

/// The signs of Black's and White's scores.
const SIGNS: [[f64; 2]; 4] = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];

/// The parameters.
#[derive(Debug, Clone)]
pub struct Mixture {
    /// c and d.
    together: f64,
    result: f64,
    /// k of each engine.
    weights: Vec<f64>,
    /// The share of inverted games of each engine.
    shares: Vec<f64>,
}

impl Mixture {
    /// The same without the results: to choose the sign that agrees with them would make the slope steeper.
    pub fn without_results(&self) -> Self {
        Self { result: 0.0, ..self.clone() }
    }

    /// The probability that the scores of either side of a game, Black first, have the wrong sign.
    pub fn inverted(&self, evidence: &Evidence) -> [f64; 2] {
        self.inverted_by(evidence, self.odds(evidence))
    }

    fn inverted_by(&self, evidence: &Evidence, odds: [f64; 4]) -> [f64; 2] {
        let [_, white, black, both] = probabilities(self.joint(evidence, odds));
        [black + both, white + both]
    }

    /// An engine's share of games with the wrong sign by these games.
    pub fn share(&self, engine: usize, games: &[&Evidence]) -> Option<Share> {
        let by_share: Vec<[f64; 3]> = games.iter().map(|evidence| self.by_share(engine, evidence)).collect();
        let at = |p: f64| {
            let q = 1.0 - p;
            log_product(by_share.iter().map(|[none, one, both]| q * q * none + p * q * one + p * p * both))
        };
        let profile: Vec<(f64, f64)> = (1..400).map(|i| f64::from(i) / 400.0).map(|p| (p, at(p))).collect();
        let &(value, top) = profile.iter().reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        let mut within = profile.iter().filter(|(_, l)| top - l <= DROP_95).map(|(p, _)| *p);
        let low = within.next().unwrap_or(value);
        let high = within.next_back().unwrap_or(low);
        Some(Share { value, interval: [low, high], gain: 2.0 * (top - at(0.0)) })
    }

    /// The probabilities of the four ways to set the signs of a game, were all equally likely before.
    fn odds(&self, evidence: &Evidence) -> [f64; 4] {
        let [k, l] = evidence.players.map(|player| self.weights[player]);
        let [one, other] = evidence.results;
        let parts = [self.together * k * l * evidence.together, self.result * k * one, self.result * l * other];
        // what each part takes from a way that contradicts it
        let against = parts.map(|part| libm::exp(-2.0 * part.abs()));
        let odds = SIGNS.map(|[s, t]| {
            let agrees = [s * t, s, t].into_iter().zip(parts).map(|(sign, part)| sign * part >= 0.0);
            agrees.zip(against).map(|(agrees, against)| if agrees { 1.0 } else { against }).product::<f64>()
        });
        let all: f64 = odds.iter().sum();
        odds.map(|odds| odds / all)
    }

    /// The same with the shares of inverted games, which add up to the likelihood of the game.
    fn joint(&self, evidence: &Evidence, odds: [f64; 4]) -> [f64; 4] {
        let [p, q] = evidence.players.map(|player| self.shares[player]);
        let priors = [(1.0 - p) * (1.0 - q), (1.0 - p) * q, p * (1.0 - q), p * q];
        std::array::from_fn(|i| odds[i] * priors[i])
    }

    fn log_likelihood<'a>(&self, games: impl IntoIterator<Item = &'a Evidence>) -> f64 {
        log_product(games.into_iter().map(|game| self.joint(game, self.odds(game)).iter().sum()))
    }

    /// Fits the mixture to games; `of_engine` has those of each engine.
    pub fn fit(all: &[Evidence], of_engine: &[Vec<u32>]) -> Self {
        /// Games of a task.
        const CHUNK: usize = 4096;
        let n = of_engine.len();
        let mut now = Self { together: 1.0, result: 1.0, weights: vec![1.0; n], shares: vec![0.02; n] };
        for _ in 0..ROUNDS {
            let odds = |games: &[Evidence]| games.iter().map(|game| now.odds(game)).collect::<Vec<[f64; 4]>>();
            let odds = parallel::map_chunks(all, CHUNK, odds).concat();
            for _ in 0..STEPS {
                let share = |engine: usize| {
                    let (mut inverted, mut sides) = (0.0, PRIOR_GAMES);
                    for game in of_engine[engine].iter().map(|game| *game as usize) {
                        let shares = now.inverted_by(&all[game], odds[game]);
                        for (player, share) in all[game].players.into_iter().zip(shares) {
                            if player == engine {
                                inverted += share;
                                sides += 1.0;
                            }
                        }
                    }
                    inverted / sides
                };
                now.shares = parallel::map(of_engine.len(), share);
            }
            let steps = [1.0, 0.8, 1.25];
            let common = steps.into_iter().flat_map(|c| steps.map(|d| (now.together * c, now.result * d)));
            let tried = common.map(|(together, result)| {
                let one = Self { together, result, ..now.clone() };
                // in the order of the games on any number of threads
                let parts = parallel::map_chunks(all, CHUNK, |games| one.log_likelihood(games));
                (parts.iter().sum(), one)
            });
            now = best(tried).unwrap_or(now);
            for (engine, games) in of_engine.iter().enumerate().filter(|(_, games)| games.len() >= LEAST_GAMES) {
                let from = now.weights[engine];
                let tried = [1.0, 0.6, 0.8, 1.25, 1.6].map(|step| {
                    // in place: a copy has the numbers of all engines
                    let weight = (from * step).clamp(0.01, 3.0);
                    now.weights[engine] = weight;
                    let likelihood = now.log_likelihood(games.iter().map(|game| &all[*game as usize]));
                    (likelihood - 0.5 * (libm::log(weight) / PRIOR_K).powi(2), weight)
                });
                now.weights[engine] = best(tried).unwrap_or(from);
            }
        }
        now
    }

    /// The likelihood of a game by the share p of games in which an engine's sign is inverted: the factors of (1 - p)²,
    /// p (1 - p) and p².
    fn by_share(&self, engine: usize, evidence: &Evidence) -> [f64; 3] {
        let [none, white, black, both] = self.odds(evidence);
        let [is_black, is_white] = evidence.players.map(|player| player == engine);
        if is_black && is_white {
            return [none, white + black, both];
        }
        let other = self.shares[evidence.players[usize::from(is_black)]];
        let (own, opponent) = if is_black { (black, white) } else { (white, black) };
        let (right, wrong) = ((1.0 - other) * none + other * opponent, (1.0 - other) * own + other * both);
        [right, right + wrong, wrong]
    }
}

/// Shares of their sum.
fn probabilities(parts: [f64; 4]) -> [f64; 4] {
    let sum = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    parts.map(|part| part / sum)
}

/// The logarithm of a product of likelihoods.
fn log_product(factors: impl Iterator<Item = f64>) -> f64 {
    /// A factor counts as no less; the logarithm is taken where the product falls below it.
    const LEAST: f64 = 1e-150;
    let (mut log, mut product) = (0.0, 1.0);
    for factor in factors {
        product *= factor.max(LEAST);
        if product < LEAST {
            log += libm::log(product);
            product = 1.0;
        }
    }
    log + libm::log(product)
}

/// The first of those with the largest likelihood.
fn best<T>(tried: impl IntoIterator<Item = (f64, T)>) -> Option<T> {
    tried.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, one)| one)
}
