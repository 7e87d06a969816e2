//! Which of two engines was right where their win rates between equals, the ones that are printed, differed.

use evalcurve_fit::normal::quantile_95;
use evalcurve_fit::validate::{EngineCases, Estimate, Forecast, ValidateError, mean_by_game};
use serde::Serialize;

use super::{Shared, shared};

/// Differences of win rates from which conflicts of each size begin.
pub const SIZES: [f64; 4] = [0.05, 0.1, 0.2, 0.3];

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
    let mut games: Vec<u64> = found.iter().map(|(game, ..)| *game).collect();
    games.sort_unstable();
    games.dedup();
    let square = |rate: f64, result: f64| (rate - result) * (rate - result);
    Some(Conflicts {
        engines: engines.map(|engine| shared.names[engine].clone()),
        from: SIZES[size],
        positions: found.len() as u64,
        games: games.len() as u64,
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
