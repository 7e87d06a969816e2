//! Engines that scored the same positions: which of them judges best, and what each adds to the others.
//!
//! An engine is judged by the log loss of the chosen model's forecasts, each by a fit without the fold of its game. All
//! engines are judged on the positions that all of them scored, so differences are paired by position; their standard
//! errors are clustered by game.

mod together;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use evalcurve_app::judge::judges::{Shared, shared};
use evalcurve_fit::normal::two_sided;
use evalcurve_fit::validate::{
    EngineCases, Estimate, FoldOptions, Forecast, ValidateError, holm, log_loss_difference, mean_log_loss,
};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use serde::Serialize;

pub use self::together::{Member, Mixture, Redundancy, Together};

/// Differences count at this level, after Holm's correction.
pub const LEVEL: f64 = 0.05;
/// Groups of about equally many positions by ply.
const PLY_GROUPS: usize = 4;
/// Phases: windows of the draw, the last one open.
const PHASES: u32 = 3;

/// Engines on the positions that all of them scored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judges {
    /// Positions that all of these engines scored.
    pub positions: u64,
    pub games: u64,
    /// Positions that several engines scored, but not all of these: others called them a mate, or failed.
    pub not_by_all: u64,
    /// Engines that share too few positions with others.
    pub left_out: Vec<String>,
    /// The engines, best first.
    pub engines: Vec<Judge>,
    /// Each engine against each one that is better.
    pub pairs: Vec<Pair>,
    /// The same in parts of the positions.
    pub groups: Vec<Group>,
    /// Their forecasts together, or why there are none.
    #[serde(serialize_with = "evalcurve_app::judge::value_or_error")]
    pub together: Result<Together, Text>,
}

/// An engine among others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judge {
    pub name: String,
    pub log_loss: Estimate,
    /// Log loss less that of the best; `None` for the best.
    pub behind: Option<Estimate>,
    /// The first and the last place that it may have: it is behind all that are better, and ahead of all that are
    /// worse, after Holm's correction.
    pub places: [usize; 2],
}

/// Two engines.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// The better one, as an index into [`Judges::engines`].
    pub better: usize,
    pub worse: usize,
    /// Log loss of the worse one less that of the better one.
    pub difference: Estimate,
    /// The probability of such a difference between engines that judge equally well.
    pub p: f64,
    /// The same with Holm's correction for the number of pairs.
    pub p_corrected: f64,
}

/// How positions are put into groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// By the windows of the draw.
    Phase,
    /// By ply, groups of about equal size.
    Ply,
}

/// A part of the positions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    pub by: Grouping,
    /// Its plies.
    pub label: Text,
    pub positions: u64,
    pub games: u64,
    /// The engines, in the order of [`Judges::engines`].
    pub engines: Vec<InGroup>,
}

/// An engine in a part of the positions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct InGroup {
    pub log_loss: Estimate,
    /// Log loss less that of the engine that is the best on all positions; `None` for that engine.
    pub behind: Option<Estimate>,
    /// The probability of such a difference between engines that judge equally well here, with Holm's correction for
    /// all engines and groups.
    pub p_corrected: Option<f64>,
}

impl Judges {
    /// Whether one engine judges better than each other one.
    pub fn has_best(&self) -> bool {
        self.engines.first().is_some_and(|best| best.places == [1, 1])
    }

    /// Engines that judge better than the best on all positions in a part of them.
    pub fn better_in_a_group(&self) -> impl Iterator<Item = (&Group, &Judge)> {
        let is_better =
            |e: &InGroup| e.p_corrected.is_some_and(|p| p < LEVEL) && e.behind.is_some_and(|b| b.value < 0.0);
        self.groups.iter().flat_map(move |group| {
            let engines = group.engines.iter().zip(&self.engines);
            engines.filter(move |(found, _)| is_better(found)).map(move |(_, judge)| (group, judge))
        })
    }
}

/// Compares the engines that scored the same positions; `None` if no two of them share enough. The forecasts are those
/// of the cases, in their order; phases are windows of so many plies.
pub fn judges(
    cases: &[EngineCases],
    forecasts: &[Result<Vec<Forecast>, ValidateError>],
    folds: &FoldOptions,
    window: u32,
) -> Option<Judges> {
    let (shared, left_out, not_by_all) = shared(cases, forecasts);
    let everywhere: Vec<usize> = (0..shared.positions()).collect();
    if shared.names.len() < 2 || !shared.are_enough(&everywhere) {
        return None;
    }
    let losses: Vec<Estimate> = shared.forecasts.iter().map(|f| mean_log_loss(f)).collect::<Option<_>>()?;
    let mut order: Vec<usize> = (0..losses.len()).collect();
    order.sort_by(|&a, &b| losses[a].value.total_cmp(&losses[b].value).then(a.cmp(&b)));
    let shared = shared.ordered(&order);
    let pairs = pairs(&shared.forecasts)?;
    let differ = |pair: &&Pair| pair.p_corrected < LEVEL;
    let judge = |(place, name): (usize, &String)| Judge {
        name: name.clone(),
        log_loss: losses[order[place]],
        behind: pairs.iter().find(|pair| (pair.better, pair.worse) == (0, place)).map(|pair| pair.difference),
        places: [
            1 + pairs.iter().filter(|pair| pair.worse == place).filter(differ).count(),
            shared.names.len() - pairs.iter().filter(|pair| pair.better == place).filter(differ).count(),
        ],
    };
    let engines = shared.names.iter().enumerate().map(judge).collect();
    Some(Judges {
        positions: shared.positions() as u64,
        games: shared.games(&everywhere) as u64,
        not_by_all: not_by_all as u64,
        left_out,
        engines,
        groups: groups(&shared, window),
        together: together::together(&shared, folds),
        pairs,
    })
}

/// The chance of a difference that is at least as large if there is none.
fn chance(difference: &Estimate) -> f64 {
    difference.standard_error().map_or(1.0, |error| two_sided(difference.value / error))
}

/// Engines in pairs; the better ones come first.
fn pairs(forecasts: &[Vec<Forecast>]) -> Option<Vec<Pair>> {
    let all = (0..forecasts.len()).flat_map(|a| (a + 1..forecasts.len()).map(move |b| (a, b)));
    let pair = |(better, worse): (usize, usize)| {
        let difference = log_loss_difference(&forecasts[worse], &forecasts[better])?;
        Some(Pair { better, worse, difference, p: chance(&difference), p_corrected: 1.0 })
    };
    let mut pairs: Vec<Pair> = all.map(pair).collect::<Option<_>>()?;
    let corrected = holm(&pairs.iter().map(|pair| pair.p).collect::<Vec<_>>());
    pairs.iter_mut().zip(corrected).for_each(|(pair, p)| pair.p_corrected = p);
    Some(pairs)
}

/// The engines by phase and by ply, where there are several groups of enough positions.
fn groups(shared: &Shared, window: u32) -> Vec<Group> {
    let mut plies = shared.plies.clone();
    plies.sort_unstable();
    let (Some(&from), Some(&to)) = (plies.first(), plies.last()) else { return Vec::new() };
    let phases = (0..PHASES).map(|phase| from.saturating_add(phase.saturating_mul(window.max(1)))).collect();
    let quantiles = (0..PLY_GROUPS).map(|i| plies[i * plies.len() / PLY_GROUPS]).collect();
    let mut found = Vec::new();
    for (by, mut starts) in [(Grouping::Phase, phases), (Grouping::Ply, quantiles)] as [(_, Vec<u32>); 2] {
        starts.dedup();
        let ends = starts.iter().skip(1).map(|next| next - 1).chain([to]);
        let group = |(start, end): (&u32, u32)| {
            let here: Vec<usize> =
                (0..shared.positions()).filter(|&i| (*start..=end).contains(&shared.plies[i])).collect();
            let first = *start;
            let label = if end == to { text!("ply {first}+") } else { text!("ply {first}–{}", end) };
            shared.are_enough(&here).then(|| group(shared, by, label, &here)).flatten()
        };
        let of_kind: Vec<Group> = starts.iter().zip(ends).filter_map(group).collect();
        if of_kind.len() > 1 {
            found.extend(of_kind);
        }
    }
    let others = |groups: &[Group]| -> Vec<f64> {
        groups.iter().flat_map(|g| &g.engines).filter_map(|e| e.behind.as_ref().map(chance)).collect()
    };
    let corrected = holm(&others(&found));
    let engines = found.iter_mut().flat_map(|g| &mut g.engines).filter(|e| e.behind.is_some());
    engines.zip(corrected).for_each(|(engine, p)| engine.p_corrected = Some(p));
    found
}

/// The engines at some positions.
fn group(shared: &Shared, by: Grouping, label: Text, here: &[usize]) -> Option<Group> {
    let best = shared.at(0, here);
    let engine = |e: usize| {
        let own = shared.at(e, here);
        let behind = if e == 0 { None } else { Some(log_loss_difference(&own, &best)?) };
        Some(InGroup { log_loss: mean_log_loss(&own)?, behind, p_corrected: None })
    };
    let engines = (0..shared.names.len()).map(engine).collect::<Option<_>>()?;
    Some(Group { by, label, positions: here.len() as u64, games: shared.games(here) as u64, engines })
}
