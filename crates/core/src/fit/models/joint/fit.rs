//! Fits engines together: which of them share a fit, the search for the minimum, and the covariance.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use evalcurve_calibration::logistic::Logistic;
use evalcurve_calibration::{Joint, Method, Model, ModelKind, Situation};

use super::objective::{Layout, Objective, Row};
use crate::fit::case::{Case, median_size};
use crate::fit::counts::{Observation, ScoreCounts};
use crate::fit::error::FitError;
use crate::fit::lapse::{Point, drawn_share};
use crate::fit::models::fitted::ModelFit;
use crate::fit::models::strengths::{Alone, Strengths};
use crate::fit::options::FitOptions;
use crate::fit::plain::{PointFit, check_cases, fit_counts};
use crate::fit::search::{Evaluation, Loss, Minimum, Search, Stalled};
use crate::fit::symmetric::Square;
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
/// own, of as many.
pub(super) const MOST_ENGINES: usize = 500;
/// Share of lapses from which the search starts.
const FIRST_LAPSE: f64 = 0.005;
/// The same where that ends at a slope that is not positive.
const MANY_LAPSES: f64 = 0.1;

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

/// Fits the slopes of all engines, the strengths of their players, w3 and the share of lapses; each group of engines
/// that met has its own.
pub(super) fn fit(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    let able: Vec<Result<(), FitError>> = engines
        .iter()
        .map(|cases| {
            check_cases(cases.iter(), options.min_samples)?;
            // scores of the wrong sign would pass for strong opponents
            match slope_of_small_scores(cases) {
                Err(error @ FitError::SlopeNotPositive { .. }) => Err(error),
                _ => Ok(()),
            }
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

/// The engines that share a fit: those of a group, but no more than [`MOST_ENGINES`], beginning with those with most
/// samples.
pub(super) fn blocks(engines: &[&[Case]]) -> Vec<Vec<usize>> {
    let mut blocks = Vec::new();
    for mut group in groups(engines) {
        group.sort_by_key(|i| (std::cmp::Reverse(engines[*i].len()), *i));
        blocks.extend(group.chunks(MOST_ENGINES).map(<[usize]>::to_vec));
    }
    blocks.iter_mut().for_each(|block| block.sort_unstable());
    blocks
}

/// The groups of engines that met, met a common opponent, or scored the same game, directly or by way of others.
fn groups(engines: &[&[Case]]) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..engines.len()).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let (mut of_player, mut of_game) = (HashMap::new(), HashMap::new());
    for (e, cases) in engines.iter().enumerate() {
        for case in *cases {
            let players = case.situation.players.into_iter().flatten();
            let firsts: Vec<usize> = players
                .map(|player| *of_player.entry(player).or_insert(e))
                .chain([*of_game.entry(case.game).or_insert(e)])
                .collect();
            for first in firsts {
                let (a, b) = (root(&mut parent, first), root(&mut parent, e));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..engines.len()).for_each(|e| groups.entry(root(&mut parent, e)).or_default().push(e));
    groups.into_values().collect()
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

/// The unit of each engine's scores in the fit, the median size of those that are not 0: slopes are of the order of
/// one, also where some scores are mates.
pub(super) fn units(engines: &[&[Case]]) -> Vec<f64> {
    let scores = |cases: &[Case]| cases.iter().map(|c| c.score_cp).filter(|cp| *cp != 0).collect::<Vec<i32>>();
    engines.iter().map(|cases| f64::from(median_size(scores(cases).into_iter()))).collect()
}

/// The samples of all engines, with the parameters of their players.
pub(super) fn rows(
    engines: &[&[Case]],
    units: &[f64],
    players: &HashMap<u32, usize>,
    options: &FitOptions,
) -> Vec<Row> {
    let row = |engine: usize, case: &Case| {
        // a player's strength against itself says nothing
        let pair = case.situation.players.filter(|p| p[0] != p[1]);
        let player = |side: usize| pair.and_then(|p| players.get(&p[side]).copied());
        Row {
            game: case.game,
            engine,
            own: player(0),
            opponent: player(1),
            x: f64::from(case.score_cp) / units[engine],
            d: strength(case, options).unwrap_or(0.0),
            offset: 0.0,
            result: case.outcome.value(),
        }
    };
    engines.iter().enumerate().flat_map(|(e, cases)| cases.iter().map(move |case| row(e, case))).collect()
}

/// Slopes beyond this, in logits per median score, run off to infinity: a score separates wins from losses, but for
/// results that follow no score.
const RUNAWAY: f64 = 30.0;

/// Fits engines together. If the search does not converge, engines whose slopes ran off have fits of their own and the
/// others are tried again; if there are none, each engine has its own.
fn fit_members(kind: ModelKind, engines: &[&[Case]], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    fit_together(kind, engines, options).unwrap_or_else(|failed| apart(kind, engines, &failed.runaways, options))
}

/// Fits some engines each by itself and the others together; all by themselves if `alone` is empty.
pub(super) fn apart(
    kind: ModelKind,
    engines: &[&[Case]],
    alone: &[usize],
    options: &FitOptions,
) -> Vec<Result<ModelFit, FitError>> {
    let (single, rest): (Vec<usize>, Vec<usize>) =
        (0..engines.len()).partition(|e| alone.is_empty() || alone.contains(e));
    let rest_of: Vec<&[Case]> = rest.iter().map(|e| engines[*e]).collect();
    let of_one = |i: usize| -> Result<ModelFit, FitError> {
        let mut fits = fit_together(kind, &[engines[single[i]]], options).map_err(|failed| failed.error)?;
        let fit = fits.pop().unwrap_or(Err(FitError::TooFewSamples { have: 0, need: options.min_samples }))?;
        let strengths = fit.strengths.as_deref().cloned().map(|s| Arc::new(Strengths { apart: true, ..s }));
        Ok(ModelFit { strengths, ..fit })
    };
    let ones = single.iter().copied().zip(parallel::map(single.len(), of_one));
    let others = if rest.is_empty() { Vec::new() } else { fit_members(kind, &rest_of, options) };
    let mut fits: Vec<_> = ones.chain(rest.into_iter().zip(others)).collect();
    fits.sort_by_key(|(e, _)| *e);
    fits.into_iter().map(|(_, fit)| fit).collect()
}

/// A joint fit without a minimum.
#[derive(Debug)]
struct Failed {
    error: FitError,
    /// Engines whose slopes ran off.
    runaways: Vec<usize>,
}

fn fit_together(
    kind: ModelKind,
    engines: &[&[Case]],
    options: &FitOptions,
) -> Result<Vec<Result<ModelFit, FitError>>, Failed> {
    let (players, units) = (players(engines), units(engines));
    let rows = rows(engines, &units, &players, options);
    let ratings = engines.iter().flat_map(|cases| cases.iter()).filter(|c| strength(c, options).is_some()).count();
    let rated = rows.iter().any(|r| r.d != 0.0);
    let strength_sd = if rated && 10 * ratings >= 9 * rows.len() { STRENGTH_SD_RATED } else { STRENGTH_SD };
    let small = |(cases, unit): (&&[Case], &f64)| slope_of_small_scores(cases).map_or(1.0, |fit| fit.sigmoid.w1 * unit);
    let slopes: Vec<f64> = engines.iter().zip(&units).map(small).collect();
    let (objective, Minimum { at, evaluation }) = solve(&rows, players.len(), &slopes, rated, strength_sd)?;
    let (objective, at, evaluation) = (&objective, &at[..], &evaluation);
    let layout = objective.layout;
    let strengths = Arc::new(Strengths {
        players: players.iter().map(|(player, i)| (*player, at[*i])).collect(),
        w3: layout.w3().map_or(0.0, |i| at[i]),
        engines: engines.len(),
        apart: false,
    });
    // the parameters of each engine's model as linear functions of those of the fit
    let mut functionals: Vec<Vec<Vec<f64>>> = (0..engines.len())
        .map(|e| {
            let mut of = vec![vec![0.0; layout.size()]; 6];
            of[0][layout.slope(e)] = 1.0 / units[e];
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
        let of_players = features[1..n].iter().filter(|(i, _)| *i < layout.players);
        of_players.for_each(|&(i, x)| functionals[row.engine][5][i] += x / samples);
    }
    let covariances = covariances(objective, at, evaluation, &functionals);
    let alone = |e: usize| {
        let advantage = |row: &Row| {
            let (features, n, _) = objective.features(row, at);
            // what is known of the row but for its score and the optimism
            features[2..n].iter().map(|(i, x)| at[*i] * x).sum::<f64>()
        };
        let own = objective.rows.iter().filter(|row| row.engine == e);
        let own: Vec<Row> = own
            .map(|row| Row { engine: 0, own: None, opponent: None, d: 0.0, offset: advantage(row), ..*row })
            .collect();
        alone(&own, &[at[layout.slope(e)], at[layout.optimism()], objective.lapse(at)], units[e])
    };
    let shared_lapse = objective.lapse(at);
    let rates = objective.rows.iter().map(|row| (Logistic::at(objective.features(row, at).2).p, row.result));
    let drawn = drawn_share(rates, shared_lapse);
    let fit = |(e, cases): (usize, &&[Case])| {
        let w1 = at[layout.slope(e)] / units[e];
        if w1 <= 0.0 {
            return Err(FitError::SlopeNotPositive { w1 });
        }
        let of = |k: usize| functionals[e][k].iter().zip(at).map(|(f, a)| f * a).sum::<f64>();
        let (lapse, optimism) = (objective.lapse(at), at[layout.optimism()]);
        let advantage = |c: &Case| strengths.advantage(&Situation { strength: strength(c, options), ..c.situation });
        let loss = |c: &Case| {
            Point::at(w1 * f64::from(c.score_cp) + advantage(c) - optimism, [lapse; 2], c.outcome.value()).loss
        };
        let mean_loss = cases.iter().map(loss).sum::<f64>() / cases.len() as f64;
        let opponents = parts(cases.iter().map(advantage).collect());
        let model = Joint { w1, w2: of(1), w3: strengths.w3, lapse, drawn, optimism, strength: of(5), opponents };
        let covariance = covariances.as_ref().and_then(|all| all.get(e).cloned());
        let fit = ModelFit::new(kind, Model::Joint(model), covariance, cases, mean_loss)?;
        let alone = if engines.len() > 1 { alone(e) } else { None };
        Ok(ModelFit { strengths: Some(strengths.clone()), alone, ..fit })
    };
    Ok(engines.iter().enumerate().map(fit).collect())
}

/// Parts of the samples of which a file holds the mean advantage.
const PARTS: usize = 10;
/// Advantages that differ less are alike, logits.
const ALIKE: f64 = 1e-6;

/// The means of equal parts of the advantages less the mean of all, ascending; empty if all are alike.
fn parts(mut advantages: Vec<f64>) -> Vec<f64> {
    advantages.sort_unstable_by(f64::total_cmp);
    let n = advantages.len();
    let parts = PARTS.min(n);
    let part = |i: usize| &advantages[i * n / parts..(i + 1) * n / parts];
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = (0..parts).map(|i| mean(part(i))).collect();
    let centre = mean(&means);
    let means: Vec<f64> = means.into_iter().map(|m| m - centre).collect();
    if means.iter().all(|m| m.abs() < ALIKE) { Vec::new() } else { means }
}

/// The lowest minimum: without lapses, with lapses beside it, or with lapses beside the slopes that small scores show.
/// A few large scores that contradict the result can hide the last one from the others.
fn solve<'a>(
    rows: &'a [Row],
    players: usize,
    slopes: &[f64],
    rated: bool,
    strength_sd: f64,
) -> Result<(Objective<'a>, Minimum), Failed> {
    let objective = |lapse: bool| {
        let layout = Layout { players, engines: slopes.len(), rated, lapse };
        Objective { rows, layout, strength_sd, spread: vec![1.0; layout.size()] }
    };
    let (plain, lapsing) = (objective(false), objective(true));
    let mut start = vec![0.0; plain.layout.size()];
    start[players..players + slopes.len()].copy_from_slice(slopes);
    plain.layout.w3().into_iter().for_each(|i| start[i] = 0.8);
    let (without, passes) = {
        let search = Search::new(&plain);
        (search.minimise(&start), search.passes())
    };
    let with = |at: &[f64], first: f64| {
        let at = |lapse: f64| at.iter().copied().chain([lapse]).collect::<Vec<f64>>();
        // a minimum without lapses remains one unless the first of them makes the results more likely
        let gain = lapsing.evaluate(&at(0.0)).and_then(|e| e.gradient.last().copied());
        gain.filter(|g| *g < 0.0).map(|_| Search::new(&lapsing).minimise(&at(first)))
    };
    // small scores show that slopes are positive: a minimum where one is not explains large scores that contradict
    let is_positive = |found: &Minimum| found.at[players..players + slopes.len()].iter().all(|slope| *slope > 0.0);
    let beside = without.as_ref().ok().and_then(|found| with(&found.at, FIRST_LAPSE));
    let mut lapsed: Vec<Result<Minimum, Stalled>> = [beside, with(&start, FIRST_LAPSE)].into_iter().flatten().collect();
    if !lapsed.iter().chain([&without]).flatten().any(is_positive) {
        lapsed.extend(with(&start, MANY_LAPSES));
    }
    let runaways = |at: &[f64]| {
        let of = at.get(players..players + slopes.len()).unwrap_or_default();
        (0..of.len()).filter(|e| of[*e] > RUNAWAY).collect::<Vec<usize>>()
    };
    let stalled: Vec<&Stalled> = lapsed.iter().chain([&without]).filter_map(|found| found.as_ref().err()).collect();
    let lowest_stalled = stalled.into_iter().min_by(|a, b| a.loss.total_cmp(&b.loss));
    let failed = |stalled: &Stalled| Failed {
        error: FitError::NotConverged { gradient: stalled.gradient, passes },
        runaways: runaways(&stalled.at),
    };
    let off = lowest_stalled.filter(|stalled| !runaways(&stalled.at).is_empty()).map(|s| (s.loss, failed(s)));
    let rank = |found: &Minimum| (!is_positive(found), found.evaluation.loss);
    let lower = |a: &Minimum, b: &Minimum| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    let with = lapsed.into_iter().flatten().min_by(lower);
    let found = match (without, with) {
        (Ok(without), Some(with)) if lower(&without, &with).is_le() => Ok((plain, without)),
        (_, Some(with)) => Ok((lapsing, with)),
        (without, None) => without.map(|found| (plain, found)).map_err(|stalled| failed(&stalled)),
    };
    // a minimum above a search that ran off hides an engine without a finite slope
    match (found, off) {
        (Ok((_, minimum)), Some((loss, failed))) if loss < minimum.evaluation.loss => Err(failed),
        (found, _) => found,
    }
}

/// The covariance of each engine's parameters: L (Σ d dᵀ + A⁻¹ P A⁻¹) Lᵀ. A is the Hessian; d = (A - A_g)⁻¹ s is by how
/// much the minimum moves, in one Newton step, without a game of gradient s and Hessian A_g (the cluster jackknife); P
/// is the precision of the prior, which counts as an observation.
fn covariances(
    objective: &Objective<'_>,
    at: &[f64],
    evaluation: &Evaluation,
    functionals: &[Vec<Vec<f64>>],
) -> Option<Vec<Vec<Vec<f64>>>> {
    let rows = objective.rows;
    let factor = evaluation.hessian.clone().scaled(rows.len() as f64).cholesky()?;
    let inverse = factor.inverse();
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by_key(|row| row.game);
    let by_game: Vec<&[&Row]> = order.chunk_by(|a, b| a.game == b.game).collect();
    let games = parallel::map(by_game.len(), |game| without(objective, by_game[game], at, &inverse));
    if games.len() < 2 {
        return None;
    }
    let of = |k: usize| {
        let solved: Vec<Vec<f64>> = functionals[k].iter().map(|f| factor.solve(f)).collect();
        let n = solved.len();
        let mut covariance = vec![vec![0.0; n]; n];
        for game in &games {
            let sums: Vec<f64> = solved.iter().map(|s| game.iter().map(|&(i, v)| s[i] * v).sum()).collect();
            for (row, a) in covariance.iter_mut().zip(&sums) {
                row.iter_mut().zip(&sums).for_each(|(entry, b)| *entry += a * b);
            }
        }
        for i in 0..objective.layout.players {
            for (row, a) in covariance.iter_mut().zip(&solved) {
                row.iter_mut().zip(&solved).for_each(|(entry, b)| *entry += objective.precision() * a[i] * b[i]);
            }
        }
        // exactly symmetric
        (0..n).map(|i| (0..n).map(|j| covariance[i.max(j)][i.min(j)]).collect()).collect()
    };
    Some(parallel::map(functionals.len(), of))
}

/// The u for which A⁻¹u = (A - A_g)⁻¹s, with s and A_g the gradient and the Hessian of a game's rows: on the parameters
/// that the game touches, u = S⁻¹ (S⁻¹ - A_g)⁻¹ s with S the part of A⁻¹ between them. Where only this game determines
/// a parameter it is s itself.
pub(super) fn without(objective: &Objective<'_>, rows: &[&Row], at: &[f64], inverse: &Square) -> Vec<(usize, f64)> {
    let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
    for row in rows {
        objective.derivatives(row, at, &mut |i, v| *sum.entry(i).or_default() += v, &mut |_, _, _| {});
    }
    let place: HashMap<usize, usize> = sum.keys().enumerate().map(|(place, i)| (*i, place)).collect();
    let n = sum.len();
    let mut own = Square::zero(n);
    for row in rows {
        let second = &mut |i: usize, j: usize, v: f64| own.add(place[&i], place[&j], v);
        objective.derivatives(row, at, &mut |_, _| {}, second);
    }
    let touched: Vec<usize> = sum.keys().copied().collect();
    let mut between = Square::zero(n);
    for (a, &i) in touched.iter().enumerate() {
        touched[..=a].iter().enumerate().for_each(|(b, &j)| between.add(a, b, inverse.at(i.max(j), i.min(j))));
    }
    let plain: Vec<f64> = sum.values().copied().collect();
    let lapse = objective.layout.lapse().and_then(|l| Some((*place.get(&l)?, at[l])));
    let corrected = || {
        let between = between.cholesky()?;
        let mut rest = between.inverse();
        rest.add_all(&own.scaled(-1.0));
        let moved = rest.cholesky().map(|rest| rest.solve(&plain));
        let moved = match (lapse, moved) {
            // a share that one game makes goes with it, and cannot fall below 0
            (Some((l, share)), moved) if moved.as_ref().is_none_or(|m| m[l] < -share) => {
                fixed(&rest, &plain, l, -share)?
            }
            (_, moved) => moved?,
        };
        Some(between.solve(&moved))
    };
    let corrected = corrected().unwrap_or_else(|| plain.clone());
    touched.into_iter().zip(corrected).collect()
}

/// The minimum of x Hx/2 - gx over x whose component `l` has this value; `None` where there is none.
fn fixed(hessian: &Square, gradient: &[f64], l: usize, value: f64) -> Option<Vec<f64>> {
    let others: Vec<usize> = (0..gradient.len()).filter(|i| *i != l).collect();
    let mut part = Square::zero(others.len());
    for (a, &i) in others.iter().enumerate() {
        others[..=a].iter().enumerate().for_each(|(b, &j)| part.add(a, b, hessian.at(i.max(j), i.min(j))));
    }
    let right: Vec<f64> = others.iter().map(|&i| gradient[i] - value * hessian.at(i.max(l), i.min(l))).collect();
    let mut solved = part.cholesky()?.solve(&right);
    solved.insert(l, value);
    Some(solved)
}

/// The engine's own slope where only the strengths of the players are those of the joint fit: slope, optimism and
/// lapses are its own. The chance is that of the likelihood ratio to the joint values, divided by the mean of the
/// eigenvalues of A⁻¹B (Rao and Scott 1984) with A the Hessian and B the sum over games of squared gradients, because
/// samples of a game are not independent. Half of it is 0, as a share is at its bound: the joint slope is already the
/// engine's own.
fn alone(rows: &[Row], joint: &[f64; 3], unit: f64) -> Option<Alone> {
    let (objective, found) = solve(rows, 0, &[joint[0].max(0.0)], false, 1.0).ok()?;
    let n = rows.len() as f64;
    let layout = Layout { players: 0, engines: 1, rated: false, lapse: true };
    let shared = Objective { rows, layout, strength_sd: 1.0, spread: vec![1.0; layout.size()] };
    let ratio = 2.0 * n * (shared.evaluate(joint)?.loss - found.evaluation.loss);
    let inverse = found.evaluation.hessian.clone().scaled(n).cholesky()?.inverse();
    let k = objective.layout.size();
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by_key(|row| row.game);
    let trace: f64 = order
        .chunk_by(|a, b| a.game == b.game)
        .map(|game| {
            let mut sum = vec![0.0; k];
            for row in game {
                objective.derivatives(row, &found.at, &mut |i, v| sum[i] += v, &mut |_, _, _| {});
            }
            let pairs = (0..k).flat_map(|i| (0..k).map(move |j| (i, j)));
            pairs.map(|(i, j)| sum[i] * inverse.at(i.max(j), i.min(j)) * sum[j]).sum::<f64>()
        })
        .sum();
    let statistic = ratio.max(0.0) * k as f64 / trace;
    let p_value = 0.5 * libm::erfc((0.5 * statistic).sqrt());
    Some(Alone { w1: found.at.first()? / unit, lapse: objective.lapse(&found.at), p_value })
}
