//! The fit of the slope that depends on the rating of the players and on the time control.

use evalcurve_calibration::logistic::log_loss;
use evalcurve_calibration::{Model, ModelKind, People, Span};

use super::fitted::{ModelFit, games_of, mean_log_loss};
use super::fitter::Fitter;
use crate::fit::case::Case;
use crate::fit::error::FitError;
use crate::fit::linear::{LinearRow, LinearRows, Regression, regress};
use crate::fit::objective::SCORE_SCALE;
use crate::fit::options::FitOptions;
use crate::fit::plain::check_cases;

pub(super) const FIT: Fitter = Fitter::Each(fit);

/// Rating points in one unit of the search.
const ELO_SCALE: f64 = 400.0;

/// Parameters: ln w1, w2, w3, and those of the rating, its square, and the time.
const SIZE: usize = 6;

/// Rounds of the search; each is a regression in itself.
const MOST_ROUNDS: u32 = 60;

/// The largest change of the logarithm of a slope in one round.
const LARGEST_STEP: f64 = 1.0;

/// A sample as numbers of the order of one.
struct Row<'a> {
    case: &'a Case,
    /// The score.
    x: f64,
    /// What the logarithm of the slope grows by: 1, rating, its square, time.
    growth: [f64; 4],
    strength: f64,
}

impl Row<'_> {
    fn slope(&self, at: &[f64; SIZE]) -> f64 {
        libm::exp(at[0] + at[3] * self.growth[1] + at[4] * self.growth[2] + at[5] * self.growth[3])
    }

    fn logit(&self, at: &[f64; SIZE]) -> f64 {
        self.slope(at) * self.x - at[1] + at[2] * self.strength
    }

    /// The logit as a straight line of the parameters near a point.
    fn linear(&self, at: &[f64; SIZE], index: &[Option<u32>; SIZE]) -> LinearRow<Vec<(u32, f64)>> {
        let share = self.slope(at) * self.x;
        let [_, elo, square, time] = self.growth;
        let gradient = [share, -1.0, self.strength, share * elo, share * square, share * time];
        let features = index.iter().zip(gradient).filter_map(|(index, by)| Some(((*index)?, by)));
        LinearRow {
            game: self.case.game,
            result: self.case.outcome.value(),
            offset: self.logit(at) - gradient.iter().zip(at).map(|(by, at)| by * at).sum::<f64>(),
            features: features.collect(),
        }
    }
}

/// The range of most values, with their mean; `None` without values.
fn span(values: &[f64], mean: impl Fn(&[f64]) -> f64) -> Option<Span> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let outer = sorted.len() / 100;
    let (from, to) = (*sorted.get(outer)?, *sorted.get(sorted.len() - 1 - outer)?);
    let inside: Vec<f64> = values.iter().map(|value| value.clamp(from, to)).collect();
    Some(Span { from, middle: mean(&inside).clamp(from, to), to })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// How many different values there are, up to three.
fn different(values: impl Iterator<Item = f64>) -> usize {
    let mut seen: Vec<f64> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
        if seen.len() == 3 {
            break;
        }
    }
    seen.len()
}

/// Fits the slope with its dependence on rating and time by maximum likelihood over the cases whose players have
/// ratings. A parameter about which the cases say nothing, as that of the time where all have one time control, is 0.
fn fit(kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    let known: Vec<Case> = cases.iter().filter(|c| finite(c.situation.rating).is_some()).copied().collect();
    let (have, need) = (known.len() as u64, options.min_samples.max(SIZE as u64));
    if have < need {
        return Err(FitError::TooFewRated { have, need });
    }
    check_cases(known.iter(), options.min_samples)?;
    let ratings: Vec<f64> = known.iter().filter_map(|c| c.situation.rating).collect();
    let rating = span(&ratings, mean).filter(|span| span.from < span.to);
    let rating = rating.ok_or(FitError::OneRating { samples: have })?;
    let times: Vec<f64> = known.iter().filter_map(|c| c.situation.seconds).collect();
    let seconds = span(&times, |values| libm::exp(mean(&values.iter().map(|v| libm::log(*v)).collect::<Vec<_>>())));
    let start =
        People { w1: 1.0, w2: 0.0, w3: 0.0, per_elo: 0.0, per_elo_squared: 0.0, per_doubling: 0.0, rating, seconds };
    let row = |case| {
        let Case { score_cp, situation, .. }: &Case = case;
        let [elo, doublings] = start.distances(situation);
        let elo = elo / ELO_SCALE;
        let growth = [1.0, elo, elo * elo, doublings];
        Row { case, x: f64::from(*score_cp) / SCORE_SCALE, growth, strength: situation.strength.unwrap_or(0.0) }
    };
    let rows: Vec<Row> = known.iter().map(row).collect();
    let squared = different(rows.iter().map(|row| row.growth[1])) > 2;
    let timed = different(rows.iter().map(|row| row.growth[3])) > 1;
    let rated = different(rows.iter().map(|row| row.strength)) > 1;
    let mut next = 0..;
    let index = [true, true, rated, true, squared, timed].map(|used| if used { next.next() } else { None });
    let (at, fitted) = search(&rows, &index)?;
    let model = People {
        w1: libm::exp(at[0]) / SCORE_SCALE,
        w2: at[1],
        w3: at[2],
        per_elo: at[3] / ELO_SCALE,
        per_elo_squared: at[4] / (ELO_SCALE * ELO_SCALE),
        per_doubling: at[5],
        ..start
    };
    // of w1, whose logarithm was fitted
    let scale = [1.0 / model.w1, 1.0, 1.0, ELO_SCALE, ELO_SCALE * ELO_SCALE, 1.0];
    let covariance = fitted.covariance_of(index.map(|index| index.map(|index| index as usize)), scale);
    let model = Model::People(model);
    let mean_loss = mean_log_loss(&model, &known);
    ModelFit::new(kind, model, covariance, games_of(&known), mean_loss)
}

/// The optimum, and the regression there. Each round fits the logits as straight lines of the parameters; at the
/// optimum the lines touch the logits, so that the gradient is theirs.
fn search(rows: &[Row<'_>], index: &[Option<u32>; SIZE]) -> Result<([f64; SIZE], Regression), FitError> {
    let loss = |at: &[f64; SIZE]| rows.iter().map(|row| log_loss(row.logit(at), row.case.outcome.value())).sum::<f64>();
    let plain: LinearRows = rows
        .iter()
        .map(|row| LinearRow {
            game: row.case.game,
            result: row.case.outcome.value(),
            offset: 0.0,
            features: [(0, row.x), (1, -1.0), (2, row.growth[1] * row.x)],
        })
        .collect();
    let slope = regress(&plain, &[0.0; 3])?.at;
    if slope[0] <= 0.0 {
        return Err(FitError::SlopeNotPositive { w1: slope[0] / SCORE_SCALE });
    }
    let mut at = [libm::log(slope[0]), slope[1], 0.0, 0.0, 0.0, 0.0];
    let mut lowest = loss(&at);
    for passes in 1..=MOST_ROUNDS {
        let lines: LinearRows = rows.iter().map(|row| row.linear(&at, index)).collect();
        let here: Vec<f64> = at.iter().zip(index).filter_map(|(at, index)| index.map(|_| *at)).collect();
        let fitted = regress(&lines, &here)?;
        let mut step = [0.0; SIZE];
        for (i, index) in index.iter().enumerate() {
            step[i] = index.map_or(0.0, |index| fitted.at[index as usize] - at[i]);
        }
        let largest = [0, 3, 4, 5].map(|i| step[i].abs()).into_iter().fold(0.0, f64::max);
        let mut share = (LARGEST_STEP / largest).min(1.0);
        let moved = |share: f64| -> [f64; SIZE] { std::array::from_fn(|i| at[i] + share * step[i]) };
        while loss(&moved(share)) > lowest && share > 1e-6 {
            share *= 0.5;
        }
        if step.iter().all(|step| step.abs() < 1e-9) || share <= 1e-6 {
            return match largest < 1e-5 {
                true => Ok((at, fitted)),
                false => Err(FitError::NotConverged { gradient: largest, passes }),
            };
        }
        at = moved(share);
        lowest = loss(&at);
    }
    Err(FitError::NotConverged { gradient: f64::INFINITY, passes: MOST_ROUNDS })
}

#[cfg(test)]
mod tests;
