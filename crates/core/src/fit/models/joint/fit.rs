//! Fits all engines together: who takes part, the search for the minimum, and the covariance.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use evalcurve_calibration::{Joint, Method, Model, ModelKind, Situation};

use super::objective::{LINK_SLOPE, Layout, Objective, Row, Shared};
use crate::fit::case::{Case, engines_by_number, median_size};
use crate::fit::counts::{Observation, ScoreCounts};
use crate::fit::error::FitError;
use crate::fit::lapse::Point;
use crate::fit::models::fitted::ModelFit;
use crate::fit::models::strengths::Strengths;
use crate::fit::objective::SCORE_SCALE;
use crate::fit::options::FitOptions;
use crate::fit::plain::{PointFit, check_cases, fit_counts};
use crate::fit::search::{Evaluation, Loss, Minimum, minimise};
use crate::parallel;

/// Standard deviation of a player's strength around its rating, logits (35 Elo).
const STRENGTH_SD_RATED: f64 = 0.2;
/// The same where records hold no ratings (174 Elo).
const STRENGTH_SD: f64 = 1.0;
/// Games from which a player has a strength.
const PLAYER_GAMES: usize = 10;
/// Most players with a strength, those with most games. The others go by their rating alone.
const MOST_PLAYERS: usize = 200;
/// Most engines of one fit, whose time grows with the third power of their number. Further engines have fits of their
/// own, of as many, and share no position with these.
pub(super) const MOST_ENGINES: usize = 500;
/// Share of lapses from which the search starts.
const FIRST_LAPSE: f64 = 0.005;

/// The players with a strength, and their parameters.
pub(super) fn players(engines: &[&[Case]]) -> HashMap<u32, usize> {
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
pub(super) fn fit(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
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
pub(super) fn blocks(engines: &[&[Case]]) -> Vec<Vec<usize>> {
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
pub(super) fn rows(engines: &[&[Case]], players: &HashMap<u32, usize>, options: &FitOptions) -> Vec<Row> {
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
