//! One scale for all engines: logit p = w1 x + w3 d + a, with a the difference of the players' strengths.
//!
//! The plain sigmoid's w2 holds the opponents that an engine met. Here the players' strengths are fitted together with
//! the slopes, so that the opponents are in the strengths and the score between equals has no offset: a position that
//! is worth x to one side is worth -x to the other. Slopes of engines with few games lean on those of the others (a
//! normal prior on ln w1), and on positions that two engines scored one after the other, which compare their scales
//! directly.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use super::kind::{Definition, Fitter, ModelFit};
use super::lapse::{check_lapses, logit_gradient, logit_with};
use super::{Model, ModelKind};
use crate::fit::case::{Case, Reading, Situation, engines_by_number, median_size};
use crate::fit::lapse::Point;
use crate::fit::objective::SCORE_SCALE;
use crate::fit::search::{Evaluation, Limits, Loss, Minimum, minimise};
use crate::fit::sigmoid::Logistic;
use crate::fit::symmetric::Square;
use crate::fit::{
    CP_PER_LOGIT, FitError, FitOptions, Method, Observation, PointFit, ScoreCounts, Sigmoid, check_cases, fit_counts,
};
use crate::parallel;

pub(super) static JOINT: Definition = Definition {
    name: "joint",
    label: "joint",
    summary: "All engines on one scale, with the strengths of their players: for councils and comparisons",
    form: Some(Joint::name),
    rank: 3,
    lapses: true,
    fit: Fitter::All(fit),
    ..Definition::BASELINE
};

/// p(x) = `lapse` + (1 - 2 `lapse`) / (1 + exp(-w1 x + w2)) in the games of the fit, and between equals without w2.
///
/// w2 holds two things: the advantage of the opponents, and `optimism`. Between equals neither remains: engines that
/// look at one position would otherwise be forecast by who looks at it, not by what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Slope, per centipawn.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub w1: f64,
    /// Mean advantage of the opponents in the games of the fit plus `optimism`, in logits; 0 between equals.
    pub w2: f64,
    /// What a logit of rating difference adds to the logit of the win rate.
    pub w3: f64,
    /// Share of games won, and of games lost, whatever the score; the same for all engines.
    #[schemars(range(min = 0))]
    pub lapse: f64,
    /// By how much scores promise more than the results against known opponents hold, in logits; the same for all
    /// engines.
    pub optimism: f64,
}

impl Joint {
    fn lapses(&self) -> [f64; 2] {
        [self.lapse; 2]
    }

    /// The logit at a known advantage in logits, such as [`Strengths::advantage`], in a reading.
    pub(super) fn against(&self, reading: Reading, score_cp: f64, advantage: f64) -> f64 {
        let optimism = match reading {
            Reading::Field => self.optimism,
            Reading::Equal => 0.0,
        };
        logit_with(self.w1 * score_cp + advantage - optimism, self.lapses())
    }

    /// The logit before lapses. A known rating difference takes the place of the mean over the games of the fit.
    fn inner(&self, score_cp: f64, situation: &Situation) -> f64 {
        self.w1 * score_cp + situation.strength.map_or(-self.w2, |d| self.w3 * d - self.optimism)
    }
}

impl Form for Joint {
    fn name() -> &'static str {
        "joint"
    }

    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        logit_with(self.inner(score_cp, situation), self.lapses())
    }

    fn equal_logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        logit_with(self.w1 * score_cp + self.w3 * situation.strength.unwrap_or(0.0), self.lapses())
    }

    fn size() -> usize {
        5
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        vec![("w1", self.w1), ("w2", self.w2), ("w3", self.w3), ("lapse", self.lapse), ("optimism", self.optimism)]
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let [z, low, high] = logit_gradient(self.inner(score_cp, situation), self.lapses());
        let (of_w2, of_w3, of_optimism) = situation.strength.map_or((-z, 0.0, 0.0), |d| (0.0, z * d, -z));
        Some(vec![z * score_cp, of_w2, of_w3, low + high, of_optimism])
    }

    fn equal_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let strength = situation.strength.unwrap_or(0.0);
        let [z, low, high] = logit_gradient(self.w1 * score_cp + self.w3 * strength, self.lapses());
        Some(vec![z * score_cp, 0.0, z * strength, low + high, 0.0])
    }

    fn sigmoid(&self) -> Option<Sigmoid> {
        Some(Sigmoid { w1: self.w1, w2: self.w2 })
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::lapse(self.w1, self.lapse))
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        check_lapses([("lapse", self.lapse)])?;
        InvalidParameter::unless_positive("w1", self.w1)
    }
}

/// The strengths of the players of a joint fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengths {
    /// By player, in logits beyond what the rating explains; players with few games have none.
    players: BTreeMap<u32, f64>,
    /// Weight of the rating difference.
    w3: f64,
}

impl Strengths {
    /// The logit that a case of these players adds: rating difference and strengths. Unknown players count as 0.
    pub fn advantage(&self, situation: &Situation) -> f64 {
        let of = |player: u32| self.players.get(&player).copied().unwrap_or(0.0);
        let players = situation.players.map_or(0.0, |[own, opponent]| of(own) - of(opponent));
        self.w3 * situation.strength.unwrap_or(0.0) + players
    }
}

/// Standard deviation of ln w1 over engines: how far the scales of engines are apart before any game is seen.
const SLOPE_SD: f64 = 0.25;
/// Standard deviation of a player's strength around its rating, logits (35 Elo).
const STRENGTH_SD_RATED: f64 = 0.2;
/// The same where records hold no ratings (174 Elo).
const STRENGTH_SD: f64 = 1.0;
/// Weight of a shared position against a result. Chosen, like the three numbers above, by the log loss of the mean vote
/// on games out of the fit; see docs/scale.md.
const LINK_WEIGHT: f64 = 0.1;
/// Slope at which shared positions are compared, per unit of x. Only the ratios of slopes matter to them.
const LINK_SLOPE: f64 = SCORE_SCALE / CP_PER_LOGIT;
/// Games from which a player has a strength.
const PLAYER_GAMES: usize = 10;
/// Most players with a strength, those with most games. The others go by their rating alone.
const MOST_PLAYERS: usize = 200;
/// Most engines of one fit, whose time grows with the third power of their number. Further engines have fits of their
/// own, of as many, and share no position with these.
const MOST_ENGINES: usize = 500;
/// Share of lapses from which the search starts.
const FIRST_LAPSE: f64 = 0.005;
/// Partial sums: fixed, so that sums have equal bits on any number of threads.
const PARTS: usize = 8;

/// A sample of the fit.
#[derive(Debug, Clone, Copy)]
struct Row {
    game: u64,
    engine: usize,
    /// parameters of the players' strengths
    own: Option<usize>,
    opponent: Option<usize>,
    x: f64,
    /// rating difference; 0 where it is not known
    d: f64,
    result: f64,
    shared: Option<Shared>,
}

/// The score of another engine for the same position, in the same view.
#[derive(Debug, Clone, Copy)]
struct Shared {
    engine: usize,
    x: f64,
    /// 1 if the engine of the row chose the move in between, else 0
    chosen: f64,
}

/// The disagreement of two engines on a position, with its derivatives by the two logits, and theirs by the slopes and
/// the chooser's bias.
struct Link {
    loss: f64,
    first: [f64; 2],
    second: [[f64; 2]; 2],
    by: [[(usize, f64); 2]; 2],
}

/// Where each parameter is: strengths, ln slopes, their mean, chooser's bias, optimism, w3, lapse.
#[derive(Debug, Clone, Copy)]
struct Layout {
    players: usize,
    engines: usize,
    rated: bool,
    lapse: bool,
}

impl Layout {
    fn slope(&self, engine: usize) -> usize {
        self.players + engine
    }

    fn mean(&self) -> usize {
        self.players + self.engines
    }

    /// By how much a position looks better to the player who chose the move.
    fn chooser(&self) -> usize {
        self.mean() + 1
    }

    fn optimism(&self) -> usize {
        self.chooser() + 1
    }

    fn w3(&self) -> Option<usize> {
        self.rated.then_some(self.optimism() + 1)
    }

    fn lapse(&self) -> Option<usize> {
        self.lapse.then_some(self.optimism() + 1 + usize::from(self.rated))
    }

    fn size(&self) -> usize {
        self.optimism() + 1 + usize::from(self.rated) + usize::from(self.lapse)
    }
}

struct Objective<'a> {
    rows: &'a [Row],
    layout: Layout,
    strength_sd: f64,
    spread: Vec<f64>,
}

impl Objective<'_> {
    /// Derivatives of the logit of a row by its parameters, their number, and the logit.
    fn features(&self, row: &Row, at: &[f64]) -> ([(usize, f64); 5], usize, f64) {
        let slope = self.layout.slope(row.engine);
        let scaled = libm::exp(at[slope]) * row.x;
        let optimism = self.layout.optimism();
        let mut features = [(slope, scaled), (optimism, -1.0), (0, 0.0), (0, 0.0), (0, 0.0)];
        let mut n = 2;
        let mut z = scaled - at[optimism];
        let others = [row.own.map(|i| (i, 1.0)), row.opponent.map(|i| (i, -1.0)), self.layout.w3().map(|i| (i, row.d))];
        for (i, by) in others.into_iter().flatten() {
            features[n] = (i, by);
            n += 1;
            z += at[i] * by;
        }
        (features, n, z)
    }

    fn lapse(&self, at: &[f64]) -> f64 {
        self.layout.lapse().map_or(0.0, |i| at[i])
    }

    fn results(&self, rows: &[Row], at: &[f64]) -> Evaluation {
        let k = self.layout.size();
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; k], Square::zero(k));
        let lapse = self.lapse(at);
        for row in rows {
            let (features, n, z) = self.features(row, at);
            let point = Point::at(z, [lapse; 2], row.result);
            loss += point.loss;
            let (first, second) = (point.first[0], point.second[0][0]);
            for (a, &(i, x)) in features[..n].iter().enumerate() {
                gradient[i] += first * x;
                for &(j, y) in &features[..=a] {
                    hessian.add(i, j, second * x * y);
                }
            }
            // w1 is the exponential of its parameter
            hessian.add(features[0].0, features[0].0, first * features[0].1);
            if let Some(l) = self.layout.lapse() {
                gradient[l] += point.first[1] + point.first[2];
                let cross = point.second[0][1] + point.second[0][2];
                features[..n].iter().for_each(|&(i, x)| hessian.add(i, l, cross * x));
                let own: f64 = point.second[1..].iter().flat_map(|row| &row[1..]).sum();
                hessian.add(l, l, own);
            }
        }
        Evaluation { loss, gradient, hessian }
    }

    /// The disagreement on a shared position: (p - p')(z - z'), with its derivatives.
    fn link(&self, row: &Row, at: &[f64], mean: f64) -> Option<Link> {
        let Shared { engine: other, x, chosen } = row.shared?;
        let (engines, half) = (self.layout.engines, 0.5 * chosen);
        let bias = half * at[self.layout.chooser()];
        let z = |engine: usize, x: f64| libm::exp(at[self.layout.slope(engine)] - mean) * LINK_SLOPE * x;
        let (own, theirs) = (z(row.engine, row.x), z(other, x));
        let (one, two) = (own - bias, theirs + bias);
        let (p, r) = (Logistic::at(one), Logistic::at(two));
        let (dp, dz) = (p.p - r.p, one - two);
        let (a, b) = (p.p * p.q, r.p * r.q);
        Some(Link {
            loss: dp * dz,
            first: [a * dz + dp, -b * dz - dp],
            second: [[a * (p.q - p.p) * dz + 2.0 * a, -a - b], [-a - b, -b * (r.q - r.p) * dz + 2.0 * b]],
            by: [[(row.engine, own), (engines, -half)], [(other, theirs), (engines, half)]],
        })
    }

    /// The sum of all links, by the ln slopes around their mean and the chooser's bias.
    fn links(&self, rows: &[Row], at: &[f64], mean: f64) -> Evaluation {
        let engines = self.layout.engines;
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; engines + 1], Square::zero(engines + 1));
        for link in rows.iter().filter_map(|row| self.link(row, at, mean)) {
            loss += link.loss;
            for (first, by) in link.first.iter().zip(&link.by) {
                by.iter().for_each(|&(i, x)| gradient[i] += first * x);
                // a slope is the exponential of its parameter
                hessian.add(by[0].0, by[0].0, first * by[0].1);
            }
            for (second, by) in link.second.iter().zip(&link.by) {
                for (value, other) in second.iter().zip(&link.by) {
                    for (i, x) in by {
                        // of two mirrored entries one is counted: the lower triangle
                        other.iter().filter(|(j, _)| i >= j).for_each(|(j, y)| hessian.add(*i, *j, value * x * y));
                    }
                }
            }
        }
        Evaluation { loss, gradient, hessian }
    }

    fn parts(&self, of: impl Fn(&[Row]) -> Evaluation + Sync + Send) -> Option<Evaluation> {
        let length = self.rows.len().div_ceil(PARTS).max(1);
        Evaluation::sum(parallel::map_chunks(self.rows, length, of))
    }

    /// The gradient of a row's loss by all parameters, for the covariance. What every slope takes alike is passed once,
    /// as the parameter after the last.
    fn gradient(&self, row: &Row, at: &[f64], mean: f64, add: &mut dyn FnMut(usize, f64)) {
        let (features, n, z) = self.features(row, at);
        let point = Point::at(z, [self.lapse(at); 2], row.result);
        features[..n].iter().for_each(|&(i, x)| add(i, point.first[0] * x));
        if let Some(l) = self.layout.lapse() {
            add(l, point.first[1] + point.first[2]);
        }
        if let Some(link) = self.link(row, at, mean) {
            let mut slopes = 0.0;
            for (first, by) in link.first.iter().zip(&link.by) {
                let [(engine, z), (_, bias)] = *by;
                add(self.layout.slope(engine), LINK_WEIGHT * first * z);
                add(self.layout.chooser(), LINK_WEIGHT * first * bias);
                slopes += first * z;
            }
            // around the mean: every slope takes its share
            add(self.layout.size(), -LINK_WEIGHT * slopes / self.layout.engines as f64);
        }
    }

    fn mean(&self, at: &[f64]) -> f64 {
        at[self.layout.players..self.layout.mean()].iter().sum::<f64>() / self.layout.engines as f64
    }

    /// Precision of the priors, by parameter; those of the slopes are around their mean.
    fn prior(&self, add: &mut dyn FnMut(usize, usize, f64)) {
        (0..self.layout.players).for_each(|i| add(i, i, 1.0 / (self.strength_sd * self.strength_sd)));
        let (mean, precision) = (self.layout.mean(), 1.0 / (SLOPE_SD * SLOPE_SD));
        for engine in 0..self.layout.engines {
            let slope = self.layout.slope(engine);
            add(slope, slope, precision);
            add(mean, slope, -precision);
            add(mean, mean, precision);
        }
        // the bias is 0 without shared positions
        add(self.layout.chooser(), self.layout.chooser(), 1e-3);
    }
}

impl Loss for Objective<'_> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        let (layout, lapse) = (self.layout, self.lapse(at));
        if !(0.0..0.4).contains(&lapse) || at[layout.players..layout.chooser()].iter().any(|w| w.abs() > 12.0) {
            return None;
        }
        let mut total = self.parts(|rows| self.results(rows, at))?;
        let mean = self.mean(at);
        let links = self.parts(|rows| self.links(rows, at, mean))?;
        total.loss += LINK_WEIGHT * links.loss;
        // around the mean: each slope moves the mean of all
        let e = layout.engines;
        let entry = |i: usize, j: usize| links.hessian.at(i.max(j), i.min(j));
        let row_mean: Vec<f64> = (0..=e).map(|i| (0..e).map(|j| entry(i, j)).sum::<f64>() / e as f64).collect();
        let all_mean = row_mean[..e].iter().sum::<f64>() / e as f64;
        let gradient_mean = links.gradient[..e].iter().sum::<f64>() / e as f64;
        let place = |i: usize| if i == e { layout.chooser() } else { layout.slope(i) };
        for i in 0..=e {
            total.gradient[place(i)] += LINK_WEIGHT * (links.gradient[i] - if i == e { 0.0 } else { gradient_mean });
            for j in 0..=i {
                let centred = match (i == e, j == e) {
                    (true, true) => entry(i, j),
                    (true, false) => entry(i, j) - row_mean[e],
                    _ => entry(i, j) - row_mean[i] - row_mean[j] + all_mean,
                };
                total.hessian.add(place(i), place(j), LINK_WEIGHT * centred);
            }
        }
        self.prior(&mut |i, j, precision| {
            total.hessian.add(i, j, precision);
            let factor = if i == j { 0.5 } else { 1.0 };
            total.loss += factor * precision * at[i] * at[j];
            total.gradient[i] += precision * at[j];
            if i != j {
                total.gradient[j] += precision * at[i];
            }
        });
        Some(total.mean(self.rows.len() as f64))
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }

    fn limits(&self) -> Limits {
        Limits { argmin: 40, all: 200 }
    }
}

/// The players with a strength, and their parameters.
fn players(engines: &[&[Case]]) -> HashMap<u32, usize> {
    let mut games: HashMap<u32, Vec<u64>> = HashMap::new();
    for case in engines.iter().flat_map(|cases| cases.iter()) {
        for player in case.situation.players.into_iter().flatten() {
            games.entry(player).or_default().push(case.game);
        }
    }
    let mut counted: Vec<(usize, u32)> = games
        .into_iter()
        .map(|(player, mut games)| {
            games.sort_unstable();
            games.dedup();
            (games.len(), player)
        })
        .filter(|(games, _)| *games >= PLAYER_GAMES)
        .collect();
    counted.sort_unstable_by_key(|&(games, player)| (std::cmp::Reverse(games), player));
    counted.truncate(MOST_PLAYERS);
    counted.sort_unstable_by_key(|&(_, player)| player);
    counted.into_iter().zip(0..).map(|((_, player), i)| (player, i)).collect()
}

/// Fits the slopes of all engines, the strengths of their players, w3 and the share of lapses.
fn fit(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    let able: Vec<Result<(), FitError>> = engines
        .iter()
        .map(|cases| match check_cases(cases.iter(), options.min_samples) {
            // the other engines give a scale to one whose results alone would make its slope infinite
            Err(FitError::Separable { .. }) if engines.len() > 1 => Ok(()),
            Err(error) => Err(error),
            // a slope here is always positive; scores of the wrong sign must not be calibrated
            Ok(()) => match slope_of_small_scores(cases) {
                Err(error @ FitError::SlopeNotPositive { .. }) => Err(error),
                _ => Ok(()),
            },
        })
        .collect();
    let members: Vec<&[Case]> = engines.iter().zip(&able).filter(|(_, a)| a.is_ok()).map(|(c, _)| *c).collect();
    let blocks = blocks(&members);
    let fit_block = |block: usize| {
        let members: Vec<&[Case]> = blocks[block].iter().map(|i| members[*i]).collect();
        fit_members(kind, &members, options)
    };
    let fits = parallel::map(blocks.len(), fit_block);
    let mut fitted: Vec<(usize, _)> = blocks.into_iter().flatten().zip(fits.into_iter().flatten()).collect();
    fitted.sort_unstable_by_key(|(i, _)| *i);
    let mut fitted = fitted.into_iter().map(|(_, fit)| fit);
    let none = Err(FitError::TooFewSamples { have: 0, need: options.min_samples });
    able.into_iter().map(|able| able.and_then(|()| fitted.next().unwrap_or(none.clone()))).collect()
}

/// The engines that share a fit: all of them, or [`MOST_ENGINES`] at a time, beginning with those with most samples.
fn blocks(engines: &[&[Case]]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..engines.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(engines[*i].len()));
    let mut blocks: Vec<Vec<usize>> = order.chunks(MOST_ENGINES).map(<[usize]>::to_vec).collect();
    blocks.iter_mut().for_each(|block| block.sort_unstable());
    blocks
}

/// The sigmoid of an engine with each score drawn in to the median of their sizes: its sign is that of most scores, not
/// of a few large ones that contradict the result.
fn slope_of_small_scores(cases: &[Case]) -> Result<PointFit, FitError> {
    let mut observations: Vec<Observation> = cases.iter().map(Case::observation).collect();
    let limit = median_size(observations.iter().map(|o| o.score_cp));
    observations.iter_mut().for_each(|o| o.score_cp = o.score_cp.clamp(-limit, limit));
    let options = FitOptions { min_samples: 0, ..FitOptions::default() };
    fit_counts(Method::MaximumLikelihood, &ScoreCounts::from_observations(&observations), &options)
}

/// The rating difference of a case, where the fit may use it.
fn strength(case: &Case, options: &FitOptions) -> Option<f64> {
    case.situation.strength.filter(|d| d.is_finite() && !options.rated_by_these_games)
}

/// The samples of all engines, with the parameters of their players.
fn rows(engines: &[&[Case]], players: &HashMap<u32, usize>, options: &FitOptions) -> Vec<Row> {
    let engine_of = engines_by_number(engines.iter().copied());
    engines
        .iter()
        .enumerate()
        .flat_map(|(engine, cases)| cases.iter().map(move |case| (engine, case)))
        .map(|(engine, case)| {
            // a player's strength against itself says nothing
            let pair = case.situation.players.filter(|p| p[0] != p[1]);
            let player = |side: usize| pair.and_then(|p| players.get(&p[side]).copied());
            let shared = case.situation.shared.and_then(|shared| {
                let other = engine_of.get(&shared.engine).copied().filter(|other| *other != engine)?;
                let x = f64::from(shared.score_cp) / SCORE_SCALE;
                Some(Shared { engine: other, x, chosen: f64::from(u8::from(shared.replied)) })
            });
            Row {
                game: case.game,
                engine,
                own: player(0),
                opponent: player(1),
                x: f64::from(case.score_cp) / SCORE_SCALE,
                d: strength(case, options).unwrap_or(0.0),
                result: case.outcome.value(),
                shared,
            }
        })
        .collect()
}

fn fit_members(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    let players = players(engines);
    let rows = rows(engines, &players, options);
    let ratings = engines.iter().flat_map(|cases| cases.iter()).filter(|c| strength(c, options).is_some()).count();
    let rated = rows.iter().any(|r| r.d != 0.0);
    let strength_sd = if rated && 10 * ratings >= 9 * rows.len() { STRENGTH_SD_RATED } else { STRENGTH_SD };
    let solution = solve(&rows, players.len(), engines.len(), rated, strength_sd);
    let (objective, Minimum { at, evaluation }) = match &solution {
        Ok(found) => found,
        Err(error) => return engines.iter().map(|_| Err(*error)).collect(),
    };
    let layout = objective.layout;
    let strengths = Arc::new(Strengths {
        players: players.iter().map(|(player, i)| (*player, at[*i])).collect(),
        w3: layout.w3().map_or(0.0, |i| at[i]),
    });
    // the parameters of each engine's model as linear functions of those of the fit
    let mut functionals: Vec<Vec<Vec<f64>>> = (0..engines.len())
        .map(|e| {
            let mut of = vec![vec![0.0; layout.size()]; 5];
            of[0][layout.slope(e)] = libm::exp(at[layout.slope(e)]) / SCORE_SCALE;
            layout.w3().into_iter().for_each(|i| of[2][i] = 1.0);
            layout.lapse().into_iter().for_each(|i| of[3][i] = 1.0);
            of[4][layout.optimism()] = 1.0;
            of
        })
        .collect();
    for row in &rows {
        let (features, n, _) = objective.features(row, at);
        let samples = engines[row.engine].len() as f64;
        features[1..n].iter().for_each(|&(i, x)| functionals[row.engine][1][i] -= x / samples);
    }
    let covariances = covariances(objective, at, evaluation, &functionals);
    engines
        .iter()
        .enumerate()
        .map(|(e, cases)| {
            let w2: f64 = functionals[e][1].iter().zip(at).map(|(f, a)| f * a).sum();
            let model = Joint {
                w1: libm::exp(at[layout.slope(e)]) / SCORE_SCALE,
                w2,
                w3: strengths.w3,
                lapse: objective.lapse(at),
                optimism: at[layout.optimism()],
            };
            let lapses = [model.lapse; 2];
            let loss = |c: &Case| {
                let situation = Situation { strength: strength(c, options), ..c.situation };
                let z = model.w1 * f64::from(c.score_cp) + strengths.advantage(&situation) - model.optimism;
                Point::at(z, lapses, c.outcome.value()).loss
            };
            let mean_loss = cases.iter().map(loss).sum::<f64>() / cases.len() as f64;
            let covariance = covariances.as_ref().and_then(|all| all.get(e).cloned());
            let fit = ModelFit::new(kind, Model::Joint(model), covariance, cases, mean_loss)?;
            Ok(ModelFit { strengths: Some(strengths.clone()), ..fit })
        })
        .collect()
}

/// The minimum without lapses, or with them where they are better.
fn solve(
    rows: &[Row],
    players: usize,
    engines: usize,
    rated: bool,
    strength_sd: f64,
) -> Result<(Objective<'_>, Minimum), FitError> {
    let objective = |lapse: bool| {
        let layout = Layout { players, engines, rated, lapse };
        Objective { rows, layout, strength_sd, spread: vec![1.0; layout.size()] }
    };
    let start = |layout: Layout| {
        let mut at = vec![0.0; layout.size()];
        at[players..=players + engines].fill(libm::log(LINK_SLOPE));
        layout.w3().into_iter().for_each(|i| at[i] = 0.8);
        layout.lapse().into_iter().for_each(|i| at[i] = FIRST_LAPSE);
        at
    };
    let plain = objective(false);
    let without = minimise(&plain, &start(plain.layout));
    let lapsing = objective(true);
    let with = match &without {
        Ok(found) => {
            let at = |lapse: f64| found.at.iter().copied().chain([lapse]).collect::<Vec<f64>>();
            // without lapses it is a minimum unless the first of them makes the results more likely
            let better = lapsing.evaluate(&at(0.0)).and_then(|e| e.gradient.last().copied()).is_some_and(|g| g < 0.0);
            better.then(|| minimise(&lapsing, &at(FIRST_LAPSE)).ok()).flatten()
        }
        Err(_) => minimise(&lapsing, &start(lapsing.layout)).ok(),
    };
    match (without, with) {
        (Ok(without), Some(with)) if without.evaluation.loss <= with.evaluation.loss => Ok((plain, without)),
        (_, Some(with)) => Ok((lapsing, with)),
        (without, None) => without.map(|found| (plain, found)),
    }
}

/// The covariance of each engine's parameters: L A⁻¹ (B + P) A⁻¹ Lᵀ with A the Hessian, B the sum over games of s sᵀ,
/// and P the precision of the priors, which count as observations: without clusters this is A⁻¹, the usual posterior.
fn covariances(
    objective: &Objective<'_>,
    at: &[f64],
    evaluation: &Evaluation,
    functionals: &[Vec<Vec<f64>>],
) -> Option<Vec<Vec<Vec<f64>>>> {
    let rows = objective.rows;
    let factor = evaluation.hessian.clone().scaled(rows.len() as f64).cholesky()?;
    let mean = objective.mean(at);
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by_key(|row| row.game);
    let by_game: Vec<&[&Row]> = order.chunk_by(|a, b| a.game == b.game).collect();
    let games: Vec<Vec<(usize, f64)>> = parallel::map(by_game.len(), |game| {
        let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
        for row in by_game[game] {
            objective.gradient(row, at, mean, &mut |i, value| *sum.entry(i).or_default() += value);
        }
        sum.into_iter().collect()
    });
    let clusters = games.len() as f64;
    let correction = clusters / (clusters - 1.0);
    if clusters < 2.0 {
        return None;
    }
    let of = |k: usize| {
        let mut solved: Vec<Vec<f64>> = functionals[k].iter().map(|f| factor.solve(f)).collect();
        let slopes = objective.layout.players..objective.layout.mean();
        for solved in &mut solved {
            let all_slopes = solved[slopes.clone()].iter().sum();
            solved.push(all_slopes);
        }
        let n = solved.len();
        let mut covariance = vec![vec![0.0; n]; n];
        for game in &games {
            let sums: Vec<f64> = solved.iter().map(|s| game.iter().map(|&(i, v)| s[i] * v).sum()).collect();
            for (row, a) in covariance.iter_mut().zip(&sums) {
                row.iter_mut().zip(&sums).for_each(|(entry, b)| *entry += a * b * correction);
            }
        }
        objective.prior(&mut |i, j, precision| {
            for (row, a) in covariance.iter_mut().zip(&solved) {
                for (entry, b) in row.iter_mut().zip(&solved) {
                    let mirrored = if i == j { 0.0 } else { a[j] * b[i] };
                    *entry += precision * (a[i] * b[j] + mirrored);
                }
            }
        });
        // exactly symmetric
        (0..n).map(|i| (0..n).map(|j| covariance[i.max(j)][i.min(j)]).collect()).collect()
    };
    Some(parallel::map(functionals.len(), of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::SharedPosition;
    use crate::random::unit;
    use crate::types::Outcome;

    /// Logits from 12 uniform numbers: normal, mean 0, standard deviation 1.
    fn normal(keys: &[u64]) -> f64 {
        (0..12).map(|i| unit(&[keys, &[i]].concat())).sum::<f64>() - 6.0
    }

    /// A round robin of engines with other scales and strengths. Engine 0 meets the strong, the last one the weak.
    fn planted(scales: &[f64], strengths: &[f64], games: u64, seed: u64, rated: bool) -> Vec<Vec<Case>> {
        let n = scales.len();
        let mut engines = vec![Vec::new(); n];
        for game in 0..games {
            let a = (unit(&[seed, game, 1]) * n as f64) as usize;
            let b = (a + 1 + (unit(&[seed, game, 2]) * (n - 1) as f64) as usize) % n;
            let position = 1.5 * normal(&[seed, game, 3]);
            let advantage = strengths[a] - strengths[b];
            let p = Sigmoid { w1: 1.0, w2: 0.0 }.win_rate(position + advantage);
            let outcome = if unit(&[seed, game, 4]) < p { Outcome::Win } else { Outcome::Loss };
            let score = |e: usize, sign: f64| {
                let seen = sign * position + 0.3 * normal(&[seed, game, 5, e as u64]);
                (seen * scales[e]) as i32
            };
            let (own, reply) = (score(a, 1.0), score(b, -1.0));
            let case = |players: [usize; 2], score_cp, outcome, reply: Option<i32>| Case {
                game,
                score_cp,
                outcome,
                situation: Situation {
                    strength: rated.then(|| strengths[players[0]] - strengths[players[1]]),
                    engine: Some(players[0] as u32),
                    players: Some(players.map(|p| p as u32)),
                    shared: reply.map(|cp| SharedPosition { engine: players[1] as u32, score_cp: -cp, replied: true }),
                    ..Situation::default()
                },
            };
            engines[a].push(case([a, b], own, outcome, Some(reply)));
            engines[b].push(case([b, a], reply, outcome.reversed(), None));
        }
        engines
    }

    fn slopes(engines: &[Vec<Case>]) -> Vec<(Joint, ModelFit)> {
        let cases: Vec<&[Case]> = engines.iter().map(Vec::as_slice).collect();
        let fits = crate::fit::fit_engines(ModelKind::Joint, &cases, &FitOptions::default());
        fits.into_iter()
            .map(|fit| {
                let fit = fit.unwrap();
                let Model::Joint(model) = fit.model else { panic!("{fit:?}") };
                (model, fit)
            })
            .collect()
    }

    #[test]
    fn scales_are_found_whatever_the_opponents_with_ratings_and_without() {
        let (scales, strengths) = ([300.0, 600.0, 900.0, 1500.0], [1.2, 0.4, -0.4, -1.2]);
        for rated in [true, false] {
            let found = slopes(&planted(&scales, &strengths, 6000, 7, rated));
            for (i, (model, fit)) in found.iter().enumerate() {
                let error = fit.standard_errors().unwrap()[0];
                // scores hold noise, so that all slopes are a little flatter, by the same factor
                let ratio = model.w1 * scales[i] / (found[0].0.w1 * scales[0]);
                assert!((ratio - 1.0).abs() < 4.0 * error / model.w1 + 0.02, "{rated} {i}: {ratio} {error} {model:?}");
                assert!(model.lapse < 0.01, "{model:?}");
            }
            // the field of the strongest is the easiest: its opponents' mean advantage is lowest
            assert!(found.windows(2).all(|w| w[0].0.w2 < w[1].0.w2), "{found:?}");
        }
    }

    #[test]
    fn one_large_score_that_contradicts_its_result_decides_nothing() {
        let mut engines = planted(&[300.0, 600.0, 900.0], &[0.3, 0.0, -0.3], 150, 5, false);
        let before = slopes(&engines);
        let last = engines[0].last_mut().unwrap();
        (last.score_cp, last.outcome) = (30_000, Outcome::Loss);
        let alone = ScoreCounts::from_observations(&engines[0].iter().map(Case::observation).collect::<Vec<_>>());
        let plain = fit_counts(Method::MaximumLikelihood, &alone, &FitOptions::default());
        assert!(matches!(plain, Err(FitError::SlopeNotPositive { .. })), "{plain:?}");
        let after = slopes(&engines);
        assert!((after[0].0.w1 / before[0].0.w1 - 1.0).abs() < 0.2, "{before:?} {after:?}");

        // with the wrong sign throughout it is refused
        engines[0].iter_mut().for_each(|case| case.score_cp = -case.score_cp);
        let cases: Vec<&[Case]> = engines.iter().map(Vec::as_slice).collect();
        let fits = crate::fit::fit_engines(ModelKind::Joint, &cases, &FitOptions::default());
        assert!(matches!(fits[0], Err(FitError::SlopeNotPositive { .. })) && fits[1].is_ok(), "{fits:?}");
    }

    #[test]
    fn derivatives_are_those_of_the_loss() {
        let engines = planted(&[300.0, 600.0, 900.0], &[0.5, 0.0, -0.5], 60, 3, true);
        let cases: Vec<&[Case]> = engines.iter().map(Vec::as_slice).collect();
        let numbers = players(&cases);
        let mut rows: Vec<Row> = rows(&cases, &numbers, &FitOptions::default());
        // some of them of the same position, without a move in between
        rows.iter_mut().step_by(3).filter_map(|row| row.shared.as_mut()).for_each(|shared| shared.chosen = 0.0);
        for chosen in [0.0, 1.0] {
            assert!(rows.iter().any(|row| row.shared.is_some_and(|shared| shared.chosen == chosen)));
        }
        let layout = Layout { players: numbers.len(), engines: 3, rated: true, lapse: true };
        let objective = Objective { rows: &rows, layout, strength_sd: 0.2, spread: vec![1.0; layout.size()] };
        let mut at: Vec<f64> = (0..layout.size() as u64).map(|i| unit(&[9, i]) - 0.3).collect();
        *at.last_mut().unwrap() = 0.03;
        let here = objective.evaluate(&at).unwrap();
        for i in 0..layout.size() {
            let shifted = |h: f64| {
                let mut to = at.clone();
                to[i] += h;
                objective.evaluate(&to).unwrap()
            };
            let (up, down) = (shifted(1e-6), shifted(-1e-6));
            let slope = (up.loss - down.loss) / 2e-6;
            assert!((slope - here.gradient[i]).abs() < 1e-6, "{i}: {slope} {}", here.gradient[i]);
            for j in 0..layout.size() {
                let slope = (up.gradient[j] - down.gradient[j]) / 2e-6;
                let entry = here.hessian.at(i.max(j), i.min(j));
                assert!((slope - entry).abs() < 1e-5 * slope.abs().max(1.0), "{i} {j}: {slope} {entry}");
            }
        }
        // the gradients of the rows add up to that of the loss without the priors
        let mut sum = vec![0.0; layout.size() + 1];
        let mean = objective.mean(&at);
        rows.iter().for_each(|row| objective.gradient(row, &at, mean, &mut |i, v| sum[i] += v));
        let share = sum.pop().unwrap();
        sum[layout.players..layout.mean()].iter_mut().for_each(|s| *s += share);
        objective.prior(&mut |i, j, precision| {
            sum[i] += precision * at[j];
            if i != j {
                sum[j] += precision * at[i];
            }
        });
        for (sum, gradient) in sum.iter().zip(&here.gradient) {
            assert!((sum / rows.len() as f64 - gradient).abs() < 1e-12, "{sum} {gradient}");
        }
    }

    #[test]
    fn shared_positions_give_an_engine_with_few_games_its_scale() {
        let strengths = [0.0; 4];
        let mut engines = planted(&[600.0, 600.0, 600.0, 1500.0], &strengths, 4000, 5, true);
        let right = slopes(&engines)[3].0.w1;
        engines[3].truncate(40);
        let with = slopes(&engines)[3].0.w1;
        let shared = |engines: &mut Vec<Vec<Case>>, change: fn(&mut Option<SharedPosition>)| {
            engines.iter_mut().flatten().for_each(|case| change(&mut case.situation.shared));
        };
        // without a move in between
        shared(&mut engines, |shared| shared.iter_mut().for_each(|shared| shared.replied = false));
        let same = slopes(&engines)[3].0.w1;
        shared(&mut engines, |shared| *shared = None);
        let without = slopes(&engines)[3].0.w1;
        for linked in [with, same] {
            assert!((linked - right).abs() < (without - right).abs(), "{linked} {without} {right}");
        }
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let engines = planted(&[300.0, 900.0], &[0.3, -0.3], 300, 1, false);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| slopes(&engines).into_iter().map(|(_, fit)| fit).collect::<Vec<_>>())
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn engines_beyond_the_limit_have_fits_of_their_own() {
        let two = planted(&[400.0, 800.0], &[0.2, -0.2], 300, 4, false);
        // the two with most samples come last, after hundreds with few
        let few: Vec<Vec<Case>> = two.iter().map(|cases| cases[..20].to_vec()).collect();
        let engines: Vec<&[Case]> = few.iter().cycle().take(MOST_ENGINES).chain(&two).map(Vec::as_slice).collect();
        let blocks = blocks(&engines);
        assert_eq!(blocks.iter().map(Vec::len).collect::<Vec<_>>(), [MOST_ENGINES, 2]);
        assert_eq!(blocks[0][MOST_ENGINES - 2..], [MOST_ENGINES, MOST_ENGINES + 1]);
        let options = FitOptions { min_samples: 10, ..FitOptions::default() };
        let fit = |engines: &[&[Case]]| crate::fit::fit_engines(ModelKind::Joint, engines, &options);
        let together = fit(&engines);
        assert_eq!(together.len(), engines.len());
        for block in blocks {
            let alone = fit(&block.iter().map(|i| engines[*i]).collect::<Vec<_>>());
            for (i, alone) in block.into_iter().zip(alone) {
                assert_eq!(together[i], alone, "{i}");
            }
        }
    }

    #[test]
    fn one_engine_and_its_opponents_have_a_fit() {
        let engines = planted(&[600.0, 600.0], &[0.5, -0.5], 200, 2, false);
        let fits = slopes(&engines[..1]);
        assert!(fits[0].0.w1 > 0.0 && fits[0].0.w2 < 0.0, "{:?}", fits[0]);
    }
}
