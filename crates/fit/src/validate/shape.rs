//! Whether the shape of a curve is that of the results: no region of scores won more, or less, than was forecast by
//! more than matters.

use std::collections::BTreeMap;

use evalcurve_calibration::types::Outcome;

use super::clusters::mean_by_game;
use super::forecast::Forecast;
use crate::normal;

/// Regions of scores, with as many samples each, between the outermost 5% on either side.
const REGIONS: usize = 10;
const OUTER: f64 = 0.05;
/// Fewest samples of a region.
const LEAST: usize = 30;
/// An error of the win rate that does not matter.
const MATTERS: f64 = 0.03;
/// The chance of one engine, of all, that is called misshapen with an error of 0.03 or less.
pub const BY_CHANCE: f64 = 0.05;

/// The region of scores where results differ most from the forecasts, for the error that chance allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Misfit {
    /// The lowest and the highest score of the region, centipawns.
    pub scores: [i32; 2],
    /// The mean of the forecast win rates, and that of the results.
    pub forecast: f64,
    pub seen: f64,
    /// The chance of such a difference, or a larger one in any region, where the error is 0.03.
    pub p_value: f64,
}

/// The worst region of an engine's forecasts out of sample, whose scores are in the same order; `None` with too few
/// samples. Differences are clustered by game; the chance is corrected for the number of regions.
pub fn misfit(forecasts: &[Forecast], scores: &[i32]) -> Option<Misfit> {
    let mut order: Vec<usize> = (0..forecasts.len().min(scores.len())).collect();
    order.sort_by_key(|i| (scores[*i], forecasts[*i].game));
    let outer = (order.len() as f64 * OUTER) as usize;
    let inner = order.get(outer..order.len() - outer)?;
    let regions = (inner.len() / LEAST).min(REGIONS);
    let region = |k: usize| {
        let samples = &inner[k * inner.len() / regions..(k + 1) * inner.len() / regions];
        let of = |i: &usize| (forecasts[*i].game, forecasts[*i].outcome.value() - forecasts[*i].win_rate());
        let off = mean_by_game(&samples.iter().map(of).collect::<Vec<_>>())?;
        let (least, games) = least_error(samples.iter().map(|i| &forecasts[*i]));
        let beyond = (off.value.abs() - MATTERS) / off.standard_error().unwrap_or(0.0).max(least);
        let far = normal::of_student(beyond, games as f64 - 1.0).copysign(beyond);
        let forecast = samples.iter().map(|i| forecasts[*i].win_rate()).sum::<f64>() / samples.len() as f64;
        let scores = [*samples.first()?, *samples.last()?].map(|i| scores[i]);
        let p_value = (normal::cdf(-far) * regions as f64).min(1.0);
        Some(Misfit { scores, forecast, seen: forecast + off.value, p_value })
    };
    (0..regions).filter_map(region).min_by(|a, b| a.p_value.total_cmp(&b.p_value))
}

/// The standard error of the mean result by the forecasts, with the share of draws that was seen: that of the results
/// themselves is 0 where all are the same. Results of a game are one. Beside it the number of games.
fn least_error<'a>(forecasts: impl Iterator<Item = &'a Forecast> + Clone) -> (f64, usize) {
    let n = forecasts.clone().count() as f64;
    let draws = forecasts.clone().filter(|forecast| forecast.outcome == Outcome::Draw).count() as f64;
    let drawn = draws / (n + 2.0);
    let mut games: BTreeMap<u64, f64> = BTreeMap::new();
    for forecast in forecasts {
        let rate = forecast.win_rate();
        *games.entry(forecast.game).or_default() += (rate * (1.0 - rate) - 0.25 * drawn).max(0.0).sqrt();
    }
    (games.values().map(|sum| sum * sum).sum::<f64>().sqrt() / n, games.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_words::random::unit;

    /// Games of which a share is won in place of what is forecast where scores are small and positive.
    fn forecasts(bent: f64, games: u64, seed: u64) -> (Vec<Forecast>, Vec<i32>) {
        let of = |game: u64| {
            let score = (1_200.0 * (unit(&[seed, game, 0]) - 0.5)) as i32;
            let logit = f64::from(score) / 200.0;
            let forecast = Forecast { game, logit, outcome: Outcome::Draw };
            let off = if (0..120).contains(&score) { bent } else { 0.0 };
            let won = unit(&[seed, game, 1]) < forecast.win_rate() - off;
            (Forecast { outcome: if won { Outcome::Win } else { Outcome::Loss }, ..forecast }, score)
        };
        (0..games).map(of).unzip()
    }

    #[test]
    fn a_bend_is_found_and_chance_is_not() {
        let (bent, scores) = forecasts(0.2, 4_000, 1);
        let found = misfit(&bent, &scores).unwrap();
        assert!(found.p_value < 1e-4 && found.seen < found.forecast - 0.1, "{found:?}");
        assert!(found.scores[0] >= -60 && found.scores[1] <= 180, "{found:?}");
        // no more than the level are called misshapen where all is right, and where the error does not matter
        for off in [0.0, MATTERS] {
            let called = |seed: u64| {
                let (forecasts, scores) = forecasts(off, 2_000, 10 + seed);
                misfit(&forecasts, &scores).unwrap().p_value <= BY_CHANCE
            };
            assert!((0..100_u64).filter(|seed| called(*seed)).count() <= 9, "{off}");
        }
        // 40 won games in a row at 93% are no wonder
        let (mut won, scores) = forecasts(0.0, 400, 3);
        won.iter_mut().for_each(|forecast| (forecast.logit, forecast.outcome) = (2.6, Outcome::Win));
        assert!(misfit(&won, &scores).unwrap().p_value > BY_CHANCE);
        let (few, scores) = forecasts(0.4, 20, 1);
        assert_eq!(misfit(&few, &scores), None);
    }
}
