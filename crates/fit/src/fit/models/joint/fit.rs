//! Fits engines together: which of them share a fit, the search for the minimum, and what each engine has of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use evalcurve_calibration::{Joint, Method, Model, ModelKind};

use super::covariance::{AtBound, Functionals, covariances, mean_strength};
use super::field::Field;
use super::objective::{Layout, Objective, RUNAWAY, Row, Rows};
use crate::fit::case::{Case, Part, median_size};
use crate::fit::counts::{Observation, ScoreCounts};
use crate::fit::error::FitError;
use crate::fit::models::fitted::ModelFit;
use crate::fit::models::strengths::{Alone, Strengths};
use crate::fit::options::FitOptions;
use crate::fit::plain::{check_cases, fit_counts};
use crate::fit::search::{Loss, Minimum, Search, Stalled};
use crate::fit::symmetric::{Arrow, Curvature};
use crate::rating::root;
use crate::{normal, parallel};

/// Standard deviation of a player's strength around its rating, logits (35 Elo).
const STRENGTH_SD_RATED: f64 = 0.2;
/// The same where records hold no ratings (174 Elo).
const STRENGTH_SD: f64 = 1.0;
/// Games from which a player has a strength.
const PLAYER_GAMES: usize = 10;
/// Largest slope from which the search starts, in logits per median score. Where small scores separate wins from losses
/// their own slope has no bound.
const FIRST_SLOPE: f64 = 4.0;
/// Most players with a strength, those with most games. The others go by their rating alone.
const MOST_PLAYERS: usize = 200;
/// Of the drawn games, the part at any score from which the search starts.
const FIRST_DRAWN: f64 = 0.1;
/// Most of the share of draws from which the search starts.
const MOST_DRAWS: f64 = 0.9;
/// Share of lapses from which the search starts.
const FIRST_LAPSE: f64 = 0.005;
/// The same where that ends at a slope that is not positive.
const MANY_LAPSES: f64 = 0.1;

/// The players with a strength, and their parameters.
pub(super) fn players(engines: &[Part<'_>]) -> HashMap<u32, u16> {
    // a game has the same players in all samples; those of one engine are mostly together
    let (mut counted, mut seen, mut last) = (HashMap::new(), HashSet::new(), None);
    for case in engines.iter().flat_map(|cases| cases.iter()) {
        let Some([a, b]) = case.situation.players else { continue };
        let game = (case.game, a.min(b), a.max(b));
        if last.replace(game) != Some(game) && seen.insert(game) {
            *counted.entry(a).or_insert(0) += 1;
            *counted.entry(b).or_insert(0) += usize::from(a != b);
        }
    }
    let counted = counted.into_iter().map(|(player, games)| (games, player));
    let mut counted: Vec<(usize, u32)> = counted.filter(|(games, _)| *games >= PLAYER_GAMES).collect();
    counted.sort_unstable_by_key(|&(games, player)| (std::cmp::Reverse(games), player));
    counted.truncate(MOST_PLAYERS);
    counted.sort_unstable_by_key(|&(_, player)| player);
    counted.into_iter().zip(0..).map(|((_, player), i)| (player, i)).collect()
}

/// An engine of a fit.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) cases: Part<'a>,
    /// the slope that small scores show, per centipawn
    slope: Option<f64>,
    /// a fit to much the same samples
    near: Option<&'a ModelFit>,
}

impl<'a> Member<'a> {
    /// # Errors
    /// Too few samples, and scores of the wrong sign: they would pass for strong opponents.
    pub(super) fn new(cases: Part<'a>, options: &FitOptions) -> Result<Self, FitError> {
        check_cases(cases.iter(), options.min_samples)?;
        match slope_of_small_scores(cases) {
            Err(error @ FitError::SlopeNotPositive { .. }) => Err(error),
            found => Ok(Self { cases, slope: found.ok(), near: None }),
        }
    }
}

/// Fits the slopes of all engines, the strengths of their players, w3 and the share of lapses; each group of engines
/// that met has its own.
pub(super) fn fit(
    kind: ModelKind,
    engines: &[Part<'_>],
    near: &[Option<&ModelFit>],
    options: &FitOptions,
) -> Vec<Result<ModelFit, FitError>> {
    let member = |e: usize| {
        let near = near.get(e).copied().flatten();
        Member::new(engines[e], options).map(|member| Member { near, ..member })
    };
    let able = parallel::map(engines.len(), member);
    let members: Vec<Member<'_>> = able.iter().filter_map(|member| member.as_ref().ok().copied()).collect();
    let groups = groups(&members);
    let fit_group = |group: usize| {
        let members: Vec<Member<'_>> = groups[group].iter().map(|i| members[*i]).collect();
        fit_members(kind, &members, options)
    };
    let fits = parallel::map(groups.len(), fit_group);
    let mut fitted: Vec<(usize, _)> = groups.into_iter().flatten().zip(fits.into_iter().flatten()).collect();
    fitted.sort_unstable_by_key(|(i, _)| *i);
    let mut fitted = fitted.into_iter().map(|(_, fit)| fit);
    let none = Err(FitError::TooFewSamples { have: 0, need: options.min_samples });
    able.into_iter().map(|able| able.and_then(|_| fitted.next().unwrap_or(none.clone()))).collect()
}

/// The groups of engines that met, met a common opponent, or scored the same game, directly or by way of others.
fn groups(engines: &[Member<'_>]) -> Vec<Vec<usize>> {
    let mut parent: Vec<usize> = (0..engines.len()).collect();
    let (mut of_player, mut of_game) = (HashMap::new(), HashMap::new());
    for (e, member) in engines.iter().enumerate() {
        let mut last = None;
        for case in member.cases.iter() {
            // samples of a game are mostly together
            if last == Some((case.game, case.situation.players)) {
                continue;
            }
            last = Some((case.game, case.situation.players));
            let mut join = |first: usize| {
                let (a, b) = (root(&mut parent, first), root(&mut parent, e));
                parent[a.max(b)] = a.min(b);
            };
            case.situation.players.into_iter().flatten().for_each(|p| join(*of_player.entry(p).or_insert(e)));
            join(*of_game.entry(case.game).or_insert(e));
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..engines.len()).for_each(|e| groups.entry(root(&mut parent, e)).or_default().push(e));
    groups.into_values().collect()
}

/// The sigmoid of an engine with each score drawn in to the median of their sizes: its sign is that of most scores, not
/// of a few large ones that contradict the result.
fn slope_of_small_scores(cases: Part<'_>) -> Result<f64, FitError> {
    let mut observations: Vec<Observation> = cases.iter().map(|case| case.observation()).collect();
    let limit = median_size(observations.iter().map(|o| o.score_cp));
    observations.iter_mut().for_each(|o| o.score_cp = o.score_cp.clamp(-limit, limit));
    let options = FitOptions { min_samples: 0, ..FitOptions::default() };
    let fit = fit_counts(Method::MaximumLikelihood, &ScoreCounts::from_observations(&observations), &options)?;
    Ok(fit.sigmoid.w1)
}

/// The rating difference of a case, where the fit may use it.
fn strength(case: &Case, options: &FitOptions) -> Option<f64> {
    case.situation.strength.filter(|d| d.is_finite() && !options.rated_by_these_games)
}

/// The unit of each engine's scores in the fit, the median size of those that are not 0: slopes are of the order of
/// one, also where some scores are mates.
pub(super) fn units(engines: &[Part<'_>]) -> Vec<f64> {
    let scores = |cases: &Part<'_>| median_size(cases.iter().map(|c| c.score_cp).filter(|cp| *cp != 0));
    engines.iter().map(|cases| f64::from(scores(cases))).collect()
}

/// The samples of all engines, with the parameters of their players.
pub(super) fn rows(engines: &[Part<'_>], units: &[f64], players: &HashMap<u32, u16>, options: &FitOptions) -> Rows {
    let row = |engine: usize, case: &Case| {
        // a player's strength against itself says nothing
        let pair = case.situation.players.filter(|p| p[0] != p[1]);
        let player = |side: usize| pair.and_then(|p| players.get(&p[side])).copied();
        Row {
            game: case.game,
            engine: engine as u32,
            own: player(0),
            opponent: player(1),
            x: f64::from(case.score_cp) / units[engine],
            d: strength(case, options).unwrap_or(0.0),
            offset: 0.0,
            result: case.outcome.value(),
        }
    };
    let total = engines.iter().map(|cases| cases.iter().count()).sum();
    let (mut rows, mut own) = (Rows::with_capacity(total), Vec::new());
    for (e, cases) in engines.iter().enumerate() {
        own.extend(cases.iter().map(|case| row(e, &case)));
        own.sort_by_key(|row| (row.own, row.opponent));
        rows.extend(own.drain(..));
    }
    rows
}

/// A share of lapses of a file that is not above this is 0: what rounding leaves of a difference.
const NO_LAPSE: f64 = 1e-12;

/// Of so many slopes one may be negative by chance.
const ENGINES_OF_CHANCE: usize = 100;

/// Whether slopes are positive, but for those of few of many engines.
fn are_positive(slopes: &[f64]) -> bool {
    slopes.iter().filter(|slope| **slope <= 0.0).count() * ENGINES_OF_CHANCE <= slopes.len()
}

/// Fits engines together. If the search does not converge, engines whose slopes ran off have fits of their own and the
/// others are tried again; if there are none, each engine has its own.
fn fit_members(kind: ModelKind, engines: &[Member<'_>], options: &FitOptions) -> Vec<Result<ModelFit, FitError>> {
    fit_together(kind, engines, options).unwrap_or_else(|failed| apart(kind, engines, &failed.runaways, options))
}

/// Fits some engines each by itself and the others together; all by themselves if `alone` is empty.
pub(super) fn apart(
    kind: ModelKind,
    engines: &[Member<'_>],
    alone: &[usize],
    options: &FitOptions,
) -> Vec<Result<ModelFit, FitError>> {
    let (single, rest): (Vec<usize>, Vec<usize>) =
        (0..engines.len()).partition(|e| alone.is_empty() || alone.contains(e));
    let rest_of: Vec<Member<'_>> = rest.iter().map(|e| engines[*e]).collect();
    let of_one = |i: usize| -> Result<ModelFit, FitError> {
        // the fit that it is near to shares lapses with others, from which it runs off
        let member = Member { near: None, ..engines[single[i]] };
        let mut fits = fit_together(kind, &[member], options).map_err(|failed| failed.error)?;
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

impl Failed {
    fn new(stalled: &Stalled, engines: usize, passes: u32) -> Self {
        let slopes = stalled.at.get(..engines).unwrap_or_default();
        let runaways = (0..slopes.len()).filter(|e| slopes[*e] > RUNAWAY).collect();
        Self { error: FitError::NotConverged { gradient: stalled.gradient, passes }, runaways }
    }
}

fn fit_together(
    kind: ModelKind,
    members: &[Member<'_>],
    options: &FitOptions,
) -> Result<Vec<Result<ModelFit, FitError>>, Failed> {
    let engines: Vec<Part<'_>> = members.iter().map(|member| member.cases).collect();
    let (players, units) = (players(&engines), units(&engines));
    let rows = rows(&engines, &units, &players, options);
    let ratings = engines.iter().flat_map(|cases| cases.iter()).filter(|c| strength(c, options).is_some()).count();
    let rated = rows.are_rated();
    let strength_sd = if rated && 10 * ratings >= 9 * rows.len() { STRENGTH_SD_RATED } else { STRENGTH_SD };
    let small = members
        .iter()
        .zip(&units)
        .map(|(member, unit)| member.slope.map_or(1.0, |slope| (slope * unit).min(FIRST_SLOPE)));
    let slopes: Vec<f64> = small.collect();
    let draws = rows.result.contains(&0.5);
    let layout = Layout { players: players.len(), engines: slopes.len(), rated, draws, lapse: false };
    let plain = Objective::new(&rows, layout, strength_sd);
    let near = Near::of(members, &units, &slopes, &players, layout);
    let found = near.and_then(|near| near.solve(&plain));
    let cold = || {
        let mut start = vec![0.0; layout.size()];
        start[..slopes.len()].copy_from_slice(&slopes);
        layout.w3().into_iter().for_each(|i| start[i] = 0.8);
        if let Some(i) = layout.drawn() {
            [start[i], start[i + 1]] = first_draws(&rows);
        }
        solve(&plain, &start)
    };
    let (objective, Minimum { at, evaluation }) = found.unwrap_or_else(cold)?;
    let (objective, at, layout) = (&objective, &at[..], objective.layout);
    let strengths = Arc::new(Strengths {
        players: players.iter().map(|(player, i)| (*player, at[layout.player((*i).into())])).collect(),
        w3: layout.w3().map_or(0.0, |i| at[i]),
        engines: engines.len(),
        apart: false,
    });
    let optimism = at[layout.optimism()];
    let [drawn, draw_width] = objective.common(at).draws.unwrap_or_default();
    let lapse = objective.lapse(at) + 0.5 * drawn;
    let fields = parallel::map(engines.len(), |e| Field::new(objective, e, units[e], at));
    let full = !options.forecasts_only;
    let covariances_of = |objective: &Objective<'_>, at: &[f64], evaluation: &_, of_lapse| {
        let functionals = |e: usize| Functionals::new(objective, e, units[e], fields[e].as_ref().ok(), at);
        covariances(objective, at, evaluation, &parallel::map(engines.len(), functionals), of_lapse)
    };
    let covariances = full.then(|| match AtBound::new(objective, at) {
        Some(b) => covariances_of(&b.objective, &b.at, &b.evaluation, Some(b.precision)),
        None => covariances_of(objective, at, &evaluation, None),
    });
    let fit = |e: usize| {
        let w1 = at[e] / units[e];
        if w1 <= 0.0 {
            return Err(FitError::SlopeNotPositive { w1 });
        }
        let &Field { w1: field_w1, w2, .. } = fields[e].as_ref().map_err(FitError::clone)?;
        let strength = mean_strength(objective, e, at);
        let own = objective.rows_of(e);
        let (mut loss, samples) = (0.0, own.len() as f64);
        objective.each_point(own, at, &mut |_, points, i| loss += points.loss[i]);
        let model = Joint { w1, w2, w3: strengths.w3, lapse, drawn, draw_width, optimism, strength, field_w1 };
        let games = engines[e].iter().map(|case| case.game);
        let fit = ModelFit::new(kind, Model::Joint(model), None, games, loss / samples)?;
        let alone = if full && engines.len() > 1 { alone(objective, e, at, units[e]) } else { None };
        Ok(ModelFit { strengths: Some(strengths.clone()), alone, ..fit })
    };
    let mut fits = parallel::map(engines.len(), fit);
    for (fit, covariance) in fits.iter_mut().zip(covariances.into_iter().flatten().flatten()) {
        if let Ok(fit) = fit {
            fit.covariance = Some(covariance);
        }
    }
    Ok(fits)
}

/// Where a fit to much the same samples ended.
struct Near {
    /// without the lapse
    at: Vec<f64>,
    lapse: f64,
}

impl Near {
    /// `None` if no member has such a fit. A member without one has the slope that small scores show.
    fn of(
        members: &[Member<'_>],
        units: &[f64],
        slopes: &[f64],
        players: &HashMap<u32, u16>,
        layout: Layout,
    ) -> Option<Self> {
        let joint = |member: &Member<'_>| match (&member.near?.model, &member.near?.strengths) {
            (Model::Joint(joint), Some(strengths)) => Some((*joint, Arc::clone(strengths))),
            _ => None,
        };
        let (first, strengths) = members.iter().find_map(joint)?;
        let slope = |((member, unit), small): ((&Member<'_>, &f64), &f64)| match member.near.map(|near| &near.model) {
            Some(Model::Joint(joint)) => joint.w1 * unit,
            _ => *small,
        };
        let mut at: Vec<f64> = members.iter().zip(units).zip(slopes).map(slope).collect();
        at.resize(members.len() + players.len(), 0.0);
        for (player, i) in players {
            at[members.len() + usize::from(*i)] = strengths.of(*player).unwrap_or(0.0);
        }
        at.push(first.optimism);
        at.extend(layout.rated.then_some(first.w3));
        if layout.draws {
            // a fit without draws has none to begin with
            (first.drawn > 0.0).then(|| at.extend([first.drawn, first.draw_width]))?;
        }
        Some(Self { at, lapse: first.lapse - 0.5 * first.drawn })
    }

    /// The minimum next to it, or the engines that run off from there; `None` where there is neither, or where a search
    /// from the beginning may find lapses that this fit has not, or end lower without slopes that ran off.
    ///
    /// Where lapses are known, slopes that run off from here mostly do so from the beginning as well: of 10 fits to
    /// 27,612 games of TCEC, 6 ended there at the same engines after ten times as many evaluations, and 4 at minima
    /// whose forecasts are no better (log loss .5134 of all engines, .5132 without these searches).
    fn solve<'a>(self, plain: &Objective<'a>) -> Option<Result<(Objective<'a>, Minimum<Arrow>), Failed>> {
        let engines = plain.layout.engines;
        let lapse = self.lapse > NO_LAPSE;
        let objective = if lapse { plain.lapsing() } else { plain.clone() };
        let start: Vec<f64> = self.at.into_iter().chain(lapse.then_some(self.lapse)).collect();
        let search = Search::new(&objective);
        let found = match search.minimise(&start) {
            Ok(found) => found,
            Err(stalled) => {
                let failed = Failed::new(&stalled, engines, search.passes());
                return (lapse && !failed.runaways.is_empty()).then_some(Err(failed));
            }
        };
        let slopes = &found.at[..engines];
        if !are_positive(slopes) || (!lapse && slopes.iter().any(|slope| *slope > RUNAWAY)) {
            return None;
        }
        if !lapse {
            let at: Vec<f64> = found.at.iter().copied().chain([0.0]).collect();
            objective.lapsing().evaluate(&at)?.gradient.last().filter(|gradient| **gradient >= 0.0)?;
        }
        Some(Ok((objective, found)))
    }
}

/// The share drawn at any score and half the width of the draws from which the search starts: as many games are drawn
/// at an even score as among all.
fn first_draws(rows: &Rows) -> [f64; 2] {
    let draws = rows.result.iter().filter(|result| **result == 0.5).count();
    let share = (draws as f64 / rows.len() as f64).min(MOST_DRAWS);
    [FIRST_DRAWN * share, 2.0 * libm::atanh(share)]
}

/// The lowest minimum: without lapses, with lapses beside it, or with lapses beside the slopes that small scores show.
/// A few large scores that contradict the result can hide the last one from the others.
fn solve<'a>(plain: &Objective<'a>, start: &[f64]) -> Result<(Objective<'a>, Minimum<Arrow>), Failed> {
    let engines = plain.layout.engines;
    let lapsing = plain.lapsing();
    let (without, passes) = {
        let search = Search::new(plain);
        (search.minimise(start), search.passes())
    };
    let leaving = lapsing.leaving();
    let with = |objective: &Objective<'_>, at: &[f64], first: f64| {
        let at = |lapse: f64| at.iter().copied().chain([lapse]).collect::<Vec<f64>>();
        // a minimum without lapses remains one unless the first of them makes the results more likely
        let gain = lapsing.evaluate(&at(0.0)).and_then(|e| e.gradient.last().copied());
        gain.filter(|g| *g < 0.0).map(|_| Search::new(objective).minimise(&at(first)))
    };
    // small scores show that slopes are positive: a minimum where one is not explains large scores that contradict
    let is_positive = |found: &Minimum<Arrow>| are_positive(&found.at[..engines]);
    // where lapses improve the minimum without them, there is one with them, however few
    let beside = without.as_ref().ok().and_then(|found| with(&lapsing, &found.at, FIRST_LAPSE));
    let mut lapsed: Vec<Result<Minimum<Arrow>, Stalled>> =
        [beside, with(&leaving, start, FIRST_LAPSE)].into_iter().flatten().collect();
    if !lapsed.iter().chain([&without]).flatten().any(is_positive) {
        lapsed.extend(with(&leaving, start, MANY_LAPSES));
    }
    let stalled: Vec<&Stalled> = lapsed.iter().chain([&without]).filter_map(|found| found.as_ref().err()).collect();
    let lowest_stalled = stalled.into_iter().min_by(|a, b| a.loss.total_cmp(&b.loss));
    let failed = |stalled: &Stalled| Failed::new(stalled, engines, passes);
    let off = lowest_stalled.map(|s| (s.loss, failed(s))).filter(|(_, failed)| !failed.runaways.is_empty());
    let rank = |found: &Minimum<Arrow>| (!is_positive(found), found.evaluation.loss);
    let lower = |a: &Minimum<Arrow>, b: &Minimum<Arrow>| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    let with = lapsed.into_iter().flatten().min_by(lower);
    let found = match (without, with) {
        (Ok(without), Some(with)) if lower(&without, &with).is_le() => Ok((plain.clone(), without)),
        (_, Some(with)) => Ok((lapsing, with)),
        (without, None) => without.map(|found| (plain.clone(), found)).map_err(|stalled| failed(&stalled)),
    };
    // a minimum above a search that ran off hides an engine without a finite slope
    match (found, off) {
        (Ok((_, minimum)), Some((loss, failed))) if loss < minimum.evaluation.loss => Err(failed),
        (found, _) => found,
    }
}

/// The engine's own slope where only the strengths of the players and the draws are those of the joint fit: slope,
/// optimism and lapses are its own. The chance is that of the likelihood ratio to the joint values, divided by the mean
/// of the eigenvalues of A⁻¹B (Rao and Scott 1984) with A the Hessian and B the sum over games of squared gradients,
/// because samples of a game are not independent. Half of it is 0, as a share is at its bound: the joint slope is
/// already the engine's own.
fn alone(all: &Objective<'_>, engine: usize, at: &[f64], unit: f64) -> Option<Alone> {
    let own = all.rows_of(engine);
    let row =
        |i: usize| Row { engine: 0, own: None, opponent: None, d: 0.0, offset: all.advantage(i, at), ..all.rows.at(i) };
    let mut rows: Vec<Row> = own.map(row).collect();
    // games together
    rows.sort_by_key(|row| row.game);
    let rows: Rows = rows.into_iter().collect();
    let joint = [at[engine], at[all.layout.optimism()], all.lapse(at)];
    let drawn = all.common(at).draws;
    let plain = Objective::new(&rows, Layout::ALONE, 1.0).knowing(drawn);
    let (objective, found) = solve(&plain, &[joint[0].max(0.0), joint[1]]).ok()?;
    let n = rows.len() as f64;
    let shared = plain.lapsing();
    let ratio = 2.0 * n * (shared.evaluate(&joint)?.loss - found.evaluation.loss);
    let factor = found.evaluation.hessian.clone().scaled(n).factor()?;
    let k = objective.layout.size();
    let (mut sum, mut trace, mut games) = (vec![0.0; k], 0.0, 0.0);
    objective.each_point(0..rows.len(), &found.at, &mut |i, points, place| {
        let first = [rows.x[i] * points.first[0][place], -points.first[0][place], points.first[1][place]];
        sum.iter_mut().zip(first).for_each(|(sum, first)| *sum += first);
        if rows.game.get(i + 1) != Some(&rows.game[i]) {
            trace += sum.iter().zip(factor.solve(&sum)).map(|(a, b)| a * b).sum::<f64>();
            sum.fill(0.0);
            games += 1.0;
        }
    });
    // few games do not know the scatter of their gradients well
    let (t, freedom) = ((ratio.max(0.0) * k as f64 / trace).sqrt(), (games - k as f64).max(1.0));
    let p_value = 0.5 * normal::two_sided(normal::of_student(t, freedom));
    let lapse = objective.lapse(&found.at) + 0.5 * drawn.map_or(0.0, |[drawn, _]| drawn);
    Some(Alone { w1: found.at.first()? / unit, lapse, p_value })
}
