//! Engines that scored the same positions, and what became of positions where two of them differed.
//!
//! The forecasts are by fits without the fold of their game, on the positions that all of these engines scored.

use std::cmp::Reverse;

use evalcurve_fit::fit::count_games;
use evalcurve_fit::normal::quantile_95;
use evalcurve_fit::validate::{EngineCases, Estimate, Forecast, ValidateError, mean_by_game};
use serde::Serialize;

/// The most engines that are compared, those with the most shared positions.
const MOST_ENGINES: usize = 12;
/// The fewest positions and games of a comparison.
const COMPARED: (usize, usize) = (100, 20);

/// The forecasts of some engines on the same positions, ordered by game and ply.
#[derive(Debug, Clone, Default)]
pub struct Shared {
    pub names: Vec<String>,
    pub plies: Vec<u32>,
    /// by engine, then by position
    pub forecasts: Vec<Vec<Forecast>>,
}

impl Shared {
    /// Number of positions.
    pub fn positions(&self) -> usize {
        self.plies.len()
    }

    /// The forecasts of an engine at some positions.
    pub fn at(&self, engine: usize, positions: &[usize]) -> Vec<Forecast> {
        positions.iter().map(|&i| self.forecasts[engine][i]).collect()
    }

    /// Games at some positions, which are in order.
    pub fn games(&self, positions: &[usize]) -> usize {
        positions.chunk_by(|a, b| self.forecasts[0][*a].game == self.forecasts[0][*b].game).count()
    }

    /// Whether these positions are enough for a comparison.
    pub fn are_enough(&self, positions: &[usize]) -> bool {
        positions.len() >= COMPARED.0 && self.games(positions) >= COMPARED.1
    }

    /// The engines in another order.
    pub fn ordered(self, order: &[usize]) -> Self {
        let names = order.iter().map(|&e| self.names[e].clone()).collect();
        let forecasts = order.iter().map(|&e| self.forecasts[e].clone()).collect();
        Self { names, forecasts, ..self }
    }
}

/// The positions that several engines scored, by those that scored at least half as many as the first of them; the
/// engines that are left out; and the number of positions that not all of the others scored.
pub fn shared(
    cases: &[EngineCases],
    forecasts: &[Result<Vec<Forecast>, ValidateError>],
) -> (Shared, Vec<String>, usize) {
    let mut all: Vec<(u64, u32, usize, usize)> = Vec::new();
    for (e, (engine, found)) in cases.iter().zip(forecasts).enumerate().filter(|(_, (_, found))| found.is_ok()) {
        let of = found.as_ref().map_or(0, Vec::len);
        let places = engine.cases.iter().take(of).enumerate();
        all.extend(places.filter_map(|(i, case)| Some((case.game, case.situation.ply?, e, i))));
    }
    all.sort_unstable();
    all.dedup_by_key(|(game, ply, e, _)| (*game, *ply, *e));
    let outcome = |(.., e, i): &(u64, u32, usize, usize)| cases[*e].cases.at(*i).outcome;
    let several: Vec<&[(u64, u32, usize, usize)]> = all
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .filter(|p| p.len() > 1 && p.iter().all(|one| outcome(one) == outcome(&p[0])))
        .collect();
    let mut counts = vec![0_usize; cases.len()];
    several.iter().flat_map(|p| p.iter()).for_each(|(.., e, _)| counts[*e] += 1);
    let most = counts.iter().max().copied().unwrap_or(0);
    let mut chosen: Vec<usize> = (0..counts.len()).filter(|&e| counts[e] > 0 && 2 * counts[e] >= most).collect();
    chosen.sort_by_key(|&e| (Reverse(counts[e]), e));
    chosen.truncate(MOST_ENGINES);
    chosen.sort_unstable();
    let name = |&e: &usize| cases[e].name.clone();
    let left_out = (0..counts.len()).filter(|e| counts[*e] > 0 && !chosen.contains(e)).map(|e| name(&e)).collect();
    let mut out = Shared { names: chosen.iter().map(name).collect(), ..Shared::default() };
    out.forecasts = vec![Vec::new(); chosen.len()];
    for position in &several {
        let of = |e: &usize| {
            let (.., i) = position.iter().find(|(.., engine, _)| engine == e)?;
            forecasts[*e].as_ref().ok()?.get(*i).copied()
        };
        if let Some(found) = chosen.iter().map(of).collect::<Option<Vec<Forecast>>>() {
            out.plies.push(position[0].1);
            out.forecasts.iter_mut().zip(found).for_each(|(list, forecast)| list.push(forecast));
        }
    }
    let not_by_all = several.len() - out.positions();
    (out, left_out, not_by_all)
}

/// Differences of win rates from which conflicts of each size begin.
pub const SIZES: [f64; 6] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5];

/// With fewer positions or games nobody is believed.
const FEWEST: (usize, usize) = (40, 20);

/// Conflicts of two engines of one size, in which the first promised more to the side to move.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conflicts {
    /// The engine that promised more, and the other.
    pub engines: [String; 2],
    /// The win rates are at least this far apart.
    pub from: f64,
    /// Positions.
    pub positions: u64,
    /// Their games.
    pub games: u64,
    /// The mean win rates of the two engines.
    pub said: [f64; 2],
    /// The mean result, a draw half a win.
    pub was: Estimate,
    /// The share of positions in which the first engine was nearer to the result.
    pub first_nearer: f64,
    /// The squared error of the first engine less that of the second: below 0 where the first is better.
    pub difference: Estimate,
}

impl Conflicts {
    /// The engine whose win rates were better, as an index; `None` if it cannot be told.
    ///
    /// Squared errors decide, because the bolder of two win rates is nearer to most results, and need not be right.
    pub fn believe(&self) -> Option<usize> {
        let enough = self.positions >= FEWEST.0 as u64 && self.games >= FEWEST.1 as u64;
        let error = self.difference.standard_error().filter(|_| enough)?;
        let clear = self.difference.value.abs() > quantile_95(self.games) * error;
        clear.then(|| usize::from(self.difference.value > 0.0))
    }

    /// The ends of the 95% interval of the mean result; `None` with too few games.
    pub fn was_interval(&self) -> Option<[f64; 2]> {
        let half = quantile_95(self.games) * self.was.standard_error()?;
        Some([(self.was.value - half).max(0.0), (self.was.value + half).min(1.0)])
    }
}

/// The conflicts of every two engines that scored the same positions, by size. The forecasts are those of the cases, in
/// their order, each by a fit without the game.
pub fn conflicts(cases: &[EngineCases], forecasts: &[Result<Vec<Forecast>, ValidateError>]) -> Vec<Conflicts> {
    let (shared, ..) = shared(cases, forecasts);
    let engines = 0..shared.names.len();
    let pairs = engines.clone().flat_map(|a| engines.clone().filter(move |b| a != *b).map(move |b| [a, b]));
    pairs
        .flat_map(|pair| (0..SIZES.len()).map(move |size| (pair, size)))
        .filter_map(|(pair, size)| of_size(&shared, pair, size))
        .collect()
}

/// The conflicts of two engines of one size.
fn of_size(shared: &Shared, engines: [usize; 2], size: usize) -> Option<Conflicts> {
    let until = SIZES.get(size + 1).copied().unwrap_or(f64::INFINITY);
    let [first, second] = engines.map(|engine| &shared.forecasts[engine]);
    let rates = first.iter().zip(second).map(|(a, b)| (a.game, [a.win_rate(), b.win_rate()], a.outcome.value()));
    let found: Vec<(u64, [f64; 2], f64)> =
        rates.filter(|(_, [a, b], _)| (SIZES[size]..until).contains(&(a - b))).collect();
    let mean = |of: &dyn Fn([f64; 2], f64) -> f64| {
        mean_by_game(&found.iter().map(|(game, rates, result)| (*game, of(*rates, *result))).collect::<Vec<_>>())
    };
    let square = |rate: f64, result: f64| (rate - result) * (rate - result);
    Some(Conflicts {
        engines: engines.map(|engine| shared.names[engine].clone()),
        from: SIZES[size],
        positions: found.len() as u64,
        games: count_games(found.iter().map(|(game, ..)| *game).collect()),
        said: [mean(&|rates, _| rates[0])?.value, mean(&|rates, _| rates[1])?.value],
        was: mean(&|_, result| result)?,
        first_nearer: mean(&|[a, b], result| f64::from(u8::from((a - result).abs() < (b - result).abs())))?.value,
        difference: mean(&|[a, b], result| square(a, result) - square(b, result))?,
    })
}

/// The conflicts of two engines with such win rates for the side to move; `None` where the win rates hardly differ, or
/// never did so much.
pub fn found<'a>(all: &'a [Conflicts], engines: [&str; 2], rates: [f64; 2]) -> Option<&'a Conflicts> {
    let [high, low] = if rates[0] >= rates[1] { engines } else { [engines[1], engines[0]] };
    let apart = (rates[0] - rates[1]).abs();
    let from = SIZES.into_iter().rev().find(|from| apart >= *from)?;
    all.iter().find(|c| c.from == from && c.engines[0] == high && c.engines[1] == low)
}
