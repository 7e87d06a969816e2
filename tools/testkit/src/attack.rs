//! Games of known truth that attack a calibration: far scales, strangers, wrong signs, copies, noise, draws, clipping.
//!
//! A game is won with probability σ(δ), δ the difference of the players' strengths. Its evidence is a random walk s
//! whose steps are normal with variance v and mean ±v/2, + if the game is won: by Bayes' theorem the logit of winning
//! given the walk is s + δ. An engine sees r = s + n with own noise n of variance ρV, V the variance of the walk so
//! far,
//! and knows r/(1 + ρ) + δ. Its score is that part of the logit which it sees in the position, in its own unit: with
//! c centipawns to a logit and optimism o, x = c (r/(1 + ρ) + o), so that logit P(win | x) = x/c - o + δ exactly.

use std::fmt::Write;

use evalcurve_calibration::types::Outcome;
use evalcurve_fit::fit::{
    Case, FitData, FitOptions, Method, ModelKind, Observation, SharedPosition, Situation, fit_engines,
};
use evalcurve_fit::normal::quantile_95;
use evalcurve_words::random::{self, Stream};
use rayon::prelude::*;

const KEY: u64 = 0x6174_7461_636b;
/// Variance of a step of the walk: logits have a standard deviation of 1.7 in the first window and of 4.9 in the last.
const STEP: f64 = 2.0;
/// Windows of the longest games.
const WINDOWS: u64 = 4;

/// How drawn games come about, from the logit at the end of the game.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Draws {
    /// With probability 2 D min(p, 1 - p): the expected result stays the sigmoid.
    Even(f64),
    /// A share of the games, whatever the logit.
    Anywhere(f64),
    /// Where neither side is ahead by this many logits: P(win) = σ(z - a), P(loss) = σ(-z - a).
    Within(f64),
}

/// An engine as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrueEngine {
    /// Centipawns to a logit: the true 1/w1.
    pub constant: f64,
    /// Strength in logits.
    pub strength: f64,
    /// ρ: the variance of its own noise over that of the evidence.
    pub noise: f64,
    /// Engines of the same number meet, no others.
    pub pool: u32,
}

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct Attack {
    /// The engines. What is wrong is wrong with the first one.
    pub engines: Vec<TrueEngine>,
    /// Games of each engine; those of other pools than 0 have `games_of_others`.
    pub games: u32,
    /// Games of each engine that is not of pool 0.
    pub games_of_others: u32,
    /// Whether ratings are known; they miss the strengths by 0.2 logits.
    pub rated: bool,
    /// By how much scores promise more than the results hold, in logits.
    pub optimism: f64,
    /// Share of results that a coin decides.
    pub coin: f64,
    /// Drawn games.
    pub draws: Draws,
    /// Share of the games of the first engine in which its sign is inverted.
    pub inverted: f64,
    /// Only its games as White count for that share.
    pub inverted_as_white: bool,
    /// How often each game is recorded.
    pub copies: u32,
    /// The scores of the first engine are noise.
    pub noise: bool,
    /// A game ends as won when both scores of a window are beyond this, in centipawns.
    pub adjudicated: Option<f64>,
    /// Scores are cut to this size.
    pub clip: Option<f64>,
    /// The first engine writes pawns.
    pub pawns: bool,
    /// Seed.
    pub seed: u64,
}

impl Attack {
    /// Equal engines of 400 centipawns to a logit, with nothing wrong.
    pub fn clean(engines: usize, games: u32, seed: u64) -> Self {
        let one = TrueEngine { constant: 400.0, strength: 0.0, noise: 0.3, pool: 0 };
        Self {
            engines: vec![one; engines],
            games,
            games_of_others: games,
            rated: false,
            optimism: 0.0,
            coin: 0.0,
            draws: Draws::Even(0.0),
            inverted: 0.0,
            inverted_as_white: false,
            copies: 1,
            noise: false,
            adjudicated: None,
            clip: None,
            pawns: false,
            seed,
        }
    }

    /// The samples of a data set, games in order.
    pub fn samples(&self, set: u64) -> Vec<Simulated> {
        let mut samples = Vec::new();
        let mut pools: Vec<u32> = self.engines.iter().map(|e| e.pool).collect();
        pools.sort_unstable();
        pools.dedup();
        for pool in pools {
            let members: Vec<usize> = (0..self.engines.len()).filter(|e| self.engines[*e].pool == pool).collect();
            let games = if pool == 0 { self.games } else { self.games_of_others } as usize;
            let seats = members.len() + members.len() % 2;
            if seats < 2 {
                continue;
            }
            // the circle method: in each round every engine plays once, or sits out where their number is odd
            let rounds = if members.len().is_multiple_of(2) { games } else { games * seats / members.len() };
            for round in 0..rounds {
                let seat = |i: usize| if i == 0 { 0 } else { 1 + (i - 1 + round) % (seats - 1) };
                for board in 0..seats / 2 {
                    let (a, b) = (seat(board), seat(seats - 1 - board));
                    let (Some(&a), Some(&b)) = (members.get(a), members.get(b)) else { continue };
                    let pair = if (round / (seats - 1)).is_multiple_of(2) { [a, b] } else { [b, a] };
                    let game = (u64::from(pool) << 40) + ((round * seats + board) as u64);
                    self.game(set, game, pair, &mut samples);
                }
            }
        }
        samples
    }

    fn game(&self, set: u64, number: u64, players: [usize; 2], samples: &mut Vec<Simulated>) {
        let mut draw = Stream::new(&[KEY, self.seed, set, number]);
        let mut normal = || random::normal(draw.unit(), draw.unit());
        // ratings belong to the engines, not to the game
        let rating = |e: usize| {
            let key = |i: u64| random::unit(&[KEY, self.seed, set, u64::MAX, e as u64, i]);
            self.engines[e].strength + 0.2 * random::normal(key(0), key(1))
        };
        let advantage = self.engines[players[0]].strength - self.engines[players[1]].strength;
        let own: [f64; 2] = [normal(), normal()];
        let first_noise: Vec<f64> = (0..WINDOWS).map(|_| normal()).collect();
        let steps: Vec<[f64; 3]> = (0..WINDOWS).map(|_| [normal(), normal(), normal()]).collect();
        let mut unit = || draw.unit();
        let won = unit() < sigmoid(advantage);
        let windows = 1 + (unit() * WINDOWS as f64) as usize;
        let inverted = unit() < self.inverted;
        let (coin, side, decides, first) = (unit() < self.coin, unit() < 0.5, unit(), unit() < 0.5);
        let mut walk = 0.0;
        let mut scores = Vec::new();
        let mut adjudicated = None;
        for (window, [step, noise_0, noise_1]) in steps.iter().take(windows).enumerate() {
            walk += STEP.sqrt() * step + if won { 0.5 } else { -0.5 } * STEP;
            let variance = STEP * (window + 1) as f64;
            let mut seen = [noise_0, noise_1];
            let mut cp = [0.0; 2];
            for (side, noise) in seen.iter_mut().enumerate() {
                let engine = &self.engines[players[side]];
                let noise = (engine.noise * variance).sqrt() * (0.7 * own[side] + 0.7 * *noise);
                let sign = if side == 0 { 1.0 } else { -1.0 };
                let logit = (sign * walk + noise) / (1.0 + engine.noise * 0.98) + self.optimism;
                cp[side] = engine.constant * logit;
                if players[side] == 0 {
                    // the first to move is Black
                    if inverted && !(self.inverted_as_white && (side == 0) == first) {
                        cp[side] = -cp[side];
                    }
                    if self.noise {
                        cp[side] = 300.0 * first_noise[window];
                    }
                    if self.pawns {
                        cp[side] /= 100.0;
                    }
                }
                if let Some(clip) = self.clip {
                    cp[side] = cp[side].clamp(-clip, clip);
                }
            }
            scores.push(cp.map(|cp| cp.round() as i32));
            if let Some(limit) = self.adjudicated
                && cp[0] * cp[1] < 0.0
                && cp.iter().all(|cp| cp.abs() > limit)
            {
                adjudicated = Some(cp[0] > 0.0);
                break;
            }
        }
        let win = |won: bool| if won { Outcome::Win } else { Outcome::Loss };
        let outcome = match (adjudicated, self.draws) {
            (Some(won), _) => win(won),
            _ if coin => win(side),
            (None, Draws::Even(0.0)) => win(won),
            (None, draws) => {
                let z = walk + advantage;
                let (p, q) = (sigmoid(z), sigmoid(-z));
                let [wins, losses] = match draws {
                    Draws::Anywhere(share) => [(1.0 - share) * p, (1.0 - share) * q],
                    Draws::Within(a) => [sigmoid(z - a), sigmoid(-z - a)],
                    Draws::Even(share) => [p - share * p.min(q), q - share * p.min(q)],
                };
                if decides < wins {
                    Outcome::Win
                } else if decides < wins + losses {
                    Outcome::Loss
                } else {
                    Outcome::Draw
                }
            }
        };
        for copy in 0..self.copies {
            for (window, cp) in scores.iter().enumerate() {
                for side in 0..2 {
                    let other = 1 - side;
                    // the first to move at an odd ply; its opponent answers
                    let moves_first = (side == 0) == first;
                    samples.push(Simulated {
                        game: number * u64::from(self.copies) + u64::from(copy),
                        players: [players[side], players[other]],
                        black: moves_first,
                        window: window as u32,
                        score_cp: cp[side],
                        reply_cp: moves_first.then_some(cp[other]),
                        outcome: if side == 0 { outcome } else { outcome.reversed() },
                        ratings: self.rated.then(|| [rating(players[side]), rating(players[other])]),
                        adjudicated: adjudicated.is_some(),
                    });
                }
            }
        }
    }
}

/// A sample in the view of its engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulated {
    /// The game.
    pub game: u64,
    /// The engine and its opponent.
    pub players: [usize; 2],
    /// Whether the engine is Black.
    pub black: bool,
    /// The window, from 0.
    pub window: u32,
    /// The score.
    pub score_cp: i32,
    /// The opponent's next score in its own view.
    pub reply_cp: Option<i32>,
    /// The outcome for the engine.
    pub outcome: Outcome,
    /// The ratings of the engine and of its opponent, in logits.
    pub ratings: Option<[f64; 2]>,
    /// The game was ended by the scores.
    pub adjudicated: bool,
}

/// The samples of each engine as models see them.
pub fn cases(samples: &[Simulated], engines: usize) -> Vec<Vec<Case>> {
    let mut cases = vec![Vec::new(); engines];
    for s in samples {
        let shared = s.reply_cp.map(|cp| SharedPosition { engine: s.players[1] as u32, score_cp: -cp, replied: true });
        let situation = Situation {
            strength: s.ratings.map(|[own, opponent]| own - opponent),
            engine: Some(s.players[0] as u32),
            players: Some(s.players.map(|p| p as u32)),
            shared,
            ..Situation::default()
        };
        cases[s.players[0]].push(Case { game: s.game, score_cp: s.score_cp, outcome: s.outcome, situation });
    }
    cases
}

/// The name of an engine: A, B, …, Z, A1, ….
pub fn name(engine: usize) -> String {
    let letter = char::from(b'A' + (engine % 26) as u8);
    if engine < 26 { letter.to_string() } else { format!("{letter}{}", engine / 26) }
}

/// The samples as a table that `evalcurve calibrate` reads.
pub fn csv(samples: &[Simulated]) -> String {
    let mut text =
        "game,engine,opponent,color,ply,window,score_cp,reply_cp,mate,result,rating,opponent_rating,termination\n"
            .to_owned();
    for s in samples {
        let [engine, opponent] = s.players.map(name);
        let color = if s.black { "black" } else { "white" };
        let ply = 31 + 60 * s.window + u32::from(!s.black);
        let reply = s.reply_cp.map_or_else(String::new, |cp| cp.to_string());
        let elo = |i: usize| s.ratings.map_or_else(String::new, |r| format!("{:.1}", r[i] * 400.0 / 10f64.ln()));
        let ending = if s.adjudicated { "adjudication" } else { "resignation" };
        let _ = writeln!(
            text,
            "g{},{engine},{opponent},{color},{ply},{},{},{reply},false,{},{},{},{ending}",
            s.game,
            s.window,
            s.score_cp,
            s.outcome.value(),
            elo(0),
            elo(1)
        );
    }
    text
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-z))
}

/// How an estimate of w1 is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// A plain sigmoid of the engine alone.
    MaximumLikelihood,
    /// The joint model.
    Joint,
    /// Normal prior of estimated mean and a standard deviation of .25 around ln w1 of the joint model.
    Fixed,
    /// The same with an estimated standard deviation.
    Normal,
    /// The same with Student's t of three degrees of freedom.
    Student,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::MaximumLikelihood, Self::Joint, Self::Fixed, Self::Normal, Self::Student];

    /// The name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MaximumLikelihood => "maximum_likelihood",
            Self::Joint => "joint",
            Self::Fixed => "joint, fixed .25",
            Self::Normal => "joint, normal",
            Self::Student => "joint, Student's t",
        }
    }
}

/// An estimate of w1 with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimated {
    w1: f64,
    low: f64,
    high: f64,
}

/// What one estimator makes of one engine over many data sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The estimator.
    pub estimator: Estimator,
    /// The engine.
    pub engine: usize,
    /// Data sets.
    pub sets: usize,
    /// Those with an estimate.
    pub fitted: usize,
    /// Those whose interval holds the truth.
    pub held: usize,
    /// Those whose interval lies above and below the truth.
    pub beyond: [usize; 2],
    /// Median of the estimated over the true constant.
    pub median: f64,
    /// Median of the upper over the lower end of the interval; infinite where the lower end is not positive.
    pub width: f64,
    /// Mean loss that the equal reading has beyond that of the truth, in nats.
    pub excess: f64,
}

/// Fits many data sets and counts which intervals hold the truth. The result does not depend on the number of threads.
pub fn coverage(attack: &Attack, sets: u64, options: &FitOptions) -> Vec<Found> {
    let n = attack.engines.len();
    let truth: Vec<f64> = attack.engines.iter().map(|e| 1.0 / e.constant).collect();
    let one = |set: u64| {
        let cases = cases(&attack.samples(set), n);
        let slices: Vec<&[Case]> = cases.iter().map(Vec::as_slice).collect();
        let alone = |e: usize| {
            let observations: Vec<Observation> = cases[e].iter().map(Case::observation).collect();
            let fit = FitData::new(&observations).fit(Method::MaximumLikelihood, options).ok()?;
            let [low, high] = fit.w1().interval?;
            Some(Estimated { w1: fit.sigmoid.w1, low, high })
        };
        let joint: Vec<Option<Estimated>> = fit_engines(ModelKind::Joint, &slices, options)
            .into_iter()
            .map(|fit| {
                let fit = fit.ok()?;
                let w1 = fit.model.parameters().first()?.1;
                let half = quantile_95(fit.games) * fit.standard_errors()?.first()?;
                Some(Estimated { w1, low: w1 - half, high: w1 + half })
            })
            .collect();
        let shrunk = [(false, Some(0.25)), (false, None), (true, None)].map(|(heavy, sd)| shrink(&joint, heavy, sd));
        let excess = |e: usize, found: &Estimated| {
            let loss = |c: &Case| {
                let x = f64::from(c.score_cp);
                let (p, z) = (sigmoid(truth[e] * x), found.w1 * x);
                let of = |z: f64| p * libm::log1p(libm::exp(-z)) + (1.0 - p) * libm::log1p(libm::exp(z));
                of(z.clamp(-500.0, 500.0)) - of(truth[e] * x)
            };
            cases[e].iter().map(loss).sum::<f64>() / cases[e].len().max(1) as f64
        };
        let of = |estimator: Estimator, e: usize| {
            let found = match estimator {
                Estimator::MaximumLikelihood => alone(e),
                Estimator::Joint => joint[e],
                Estimator::Fixed => shrunk[0][e],
                Estimator::Normal => shrunk[1][e],
                Estimator::Student => shrunk[2][e],
            };
            found.map(|found| (found, excess(e, &found)))
        };
        Estimator::ALL.map(|estimator| (0..n).map(|e| of(estimator, e)).collect::<Vec<_>>())
    };
    let all: Vec<_> = (0..sets).into_par_iter().map(one).collect();
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let mut found = Vec::new();
    for (i, estimator) in Estimator::ALL.into_iter().enumerate() {
        for engine in 0..n {
            let fits: Vec<(Estimated, f64)> = all.iter().filter_map(|set| set[i][engine]).collect();
            let beyond = [
                fits.iter().filter(|(f, _)| f.low > truth[engine]).count(),
                fits.iter().filter(|(f, _)| f.high < truth[engine]).count(),
            ];
            let ratio = |f: &Estimated| if f.low > 0.0 { f.high / f.low } else { f64::INFINITY };
            found.push(Found {
                estimator,
                engine,
                sets: all.len(),
                fitted: fits.len(),
                held: fits.len() - beyond[0] - beyond[1],
                beyond,
                median: median(fits.iter().map(|(f, _)| truth[engine] / f.w1).collect()),
                width: median(fits.iter().map(|(f, _)| ratio(f)).collect()),
                excess: fits.iter().map(|(_, e)| e).sum::<f64>() / fits.len().max(1) as f64,
            });
        }
    }
    found
}

/// The shares of the data sets in which an engine's own games contradict the joint fit at a level: of the first engine,
/// and of the others.
pub fn conflicts(attack: &Attack, sets: u64, options: &FitOptions, level: f64) -> [f64; 2] {
    let n = attack.engines.len();
    let one = |set: u64| {
        let cases = cases(&attack.samples(set), n);
        let slices: Vec<&[Case]> = cases.iter().map(Vec::as_slice).collect();
        let fits = fit_engines(ModelKind::Joint, &slices, options).into_iter();
        fits.map(|fit| Some(fit.ok()?.alone?.p_value < level)).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..sets).into_par_iter().map(one).collect();
    let share = |engines: std::ops::Range<usize>| {
        let found: Vec<bool> = all.iter().flat_map(|set| &set[engines.clone()]).copied().flatten().collect();
        found.iter().filter(|conflict| **conflict).count() as f64 / found.len().max(1) as f64
    };
    [share(0..1), share(1..n)]
}

/// Estimates of ln w1 drawn to their common centre by a prior whose centre is estimated from them, and so is its spread
/// unless it is given.
fn shrink(found: &[Option<Estimated>], heavy: bool, spread: Option<f64>) -> Vec<Option<Estimated>> {
    let known: Vec<(f64, f64)> = found
        .iter()
        .flatten()
        .filter(|f| f.w1 > 0.0)
        .map(|f| (libm::log(f.w1), (f.high - f.low) / (2.0 * 1.96 * f.w1)))
        .collect();
    let grid: Vec<f64> = (0..400).map(|i| -14.0 + 14.0 * f64::from(i) / 399.0).collect();
    let prior = |l: f64, centre: f64, spread: f64| {
        let z = (l - centre) / spread;
        if heavy { (1.0 + z * z / 3.0).powi(-2) / spread } else { libm::exp(-0.5 * z * z) / spread }
    };
    let likelihood = |l: f64, (at, error): (f64, f64)| libm::exp(-0.5 * ((l - at) / error).powi(2));
    let near = |one: (f64, f64)| {
        let (low, high) = (one.0 - 6.0 * one.1, one.0 + 6.0 * one.1);
        grid.iter().map(move |g| low + (high - low) * (g + 14.0) / 14.0)
    };
    let mut best = (f64::NEG_INFINITY, 0.0, 1.0);
    let spreads = (0..14).map(|i| 0.05 * 1.35f64.powi(i));
    for spread in spread.map_or_else(|| spreads.collect(), |given| vec![given]) {
        // the centre by weights of the estimates
        let mut centre = 0.0;
        for _ in 0..if heavy { 8 } else { 1 } {
            let weight = |(at, error): (f64, f64)| {
                let variance = spread * spread + error * error;
                let z2 = (at - centre).powi(2) / variance;
                (if heavy && centre != 0.0 { 4.0 / (3.0 + z2) } else { 1.0 }) / variance
            };
            let sum: f64 = known.iter().map(|k| weight(*k)).sum();
            centre = known.iter().map(|k| weight(*k) * k.0).sum::<f64>() / sum;
        }
        let marginal: f64 = known
            .iter()
            .map(|k| libm::log(near(*k).map(|l| prior(l, centre, spread) * likelihood(l, *k)).sum::<f64>()))
            .sum();
        if marginal > best.0 {
            best = (marginal, centre, spread);
        }
    }
    let (_, centre, spread) = best;
    found
        .iter()
        .map(|f| {
            let f = f.filter(|f| f.w1 > 0.0)?;
            let one = (libm::log(f.w1), (f.high - f.low) / (2.0 * 1.96 * f.w1));
            let weights: Vec<(f64, f64)> =
                near(one).map(|l| (l, prior(l, centre, spread) * likelihood(l, one))).collect();
            let sum: f64 = weights.iter().map(|w| w.1).sum();
            let quantile = |share: f64| {
                let mut total = 0.0;
                let at = weights.iter().find(|w| {
                    total += w.1;
                    total >= share * sum
                });
                libm::exp(at.map_or(f64::NAN, |w| w.0))
            };
            Some(Estimated { w1: quantile(0.5), low: quantile(0.025), high: quantile(0.975) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples of the engines in many games, by the share won in bins of the true logit.
    #[test]
    fn scores_mean_what_they_say() {
        for draws in [Draws::Even(0.0), Draws::Even(0.8)] {
            let mut attack = Attack::clean(3, 20_000, 5);
            attack.draws = draws;
            attack.optimism = 0.3;
            attack.engines[1].strength = 0.7;
            attack.engines[2].noise = 1.5;
            for samples in cases(&attack.samples(0), 3) {
                for low in [-3.0, -1.0, 0.0, 1.0] {
                    let (mut n, mut won, mut expected) = (0.0, 0.0, 0.0);
                    for case in &samples {
                        let [own, other] = case.situation.players.unwrap().map(|p| attack.engines[p as usize]);
                        let z = f64::from(case.score_cp) / own.constant - 0.3 + own.strength - other.strength;
                        if (low..low + 1.0).contains(&z) {
                            n += 1.0;
                            won += case.outcome.value();
                            expected += sigmoid(z);
                        }
                    }
                    assert!(n > 1000.0 && ((won - expected) / n).abs() < 0.02, "{draws:?} {low} {n} {won} {expected}");
                }
            }
        }
    }

    #[test]
    fn the_joint_model_holds_a_far_scale_and_a_prior_does_not() {
        let mut attack = Attack::clean(6, 60, 11);
        attack.engines[0].constant *= 4.0;
        let found = coverage(&attack, 60, &FitOptions::default());
        let of = |estimator| found.iter().find(|f| f.estimator == estimator && f.engine == 0).unwrap();
        assert!(of(Estimator::Joint).held >= 52, "{found:?}");
        // of 60 intervals of 95%, fewer than 48 hold the truth once in 10,000 times
        assert!(of(Estimator::Normal).held < 48, "{found:?}");
    }

    #[test]
    fn an_engine_with_wrong_signs_contradicts_the_others_and_a_right_one_does_not() {
        let options = FitOptions::default();
        let mut attack = Attack::clean(4, 800, 3);
        let [first, others] = conflicts(&attack, 20, &options, 0.01);
        assert!(first <= 0.05 && others <= 0.05, "{first} {others}");
        attack.inverted = 0.2;
        let [first, others] = conflicts(&attack, 20, &options, 0.01);
        assert!(first >= 0.6 && others <= 0.05, "{first} {others}");
    }
}
