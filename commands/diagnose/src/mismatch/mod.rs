//! Do equal scores mean equal win rates for all engines? The scale mismatch M of each transform of scores to one scale,
//! out of sample and with intervals.
//!
//! Each transform is fitted without one fold of the games and gives the values of that fold, for each fold. All
//! transforms are compared on the same samples and resampled with the same games, so their differences are more certain
//! than the individual values.

pub(crate) mod cells;
pub(crate) mod rows;
mod scales;

use evalcurve_fit::fit::percentile_interval;
use evalcurve_fit::parallel;
use evalcurve_fit::validate::{CrossValidation, ModelKind, ScoreOptions};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use serde::Serialize;

pub use cells::CellPoint;
use cells::{Cells, resample};
use scales::Scales;

/// A transform is left out if more than one in this many engines lack it.
const MOST_WITHOUT: usize = 5;

/// A transform of the scores of all engines to one scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// The raw scores, which simple optimistic consultation compares.
    Raw,
    /// Standardised scores (x - mean)/sd of each engine.
    Standardized,
    /// The win rate by the engine's sigmoid, fitted by least squares.
    LeastSquares,
    /// The win rate by the engine's sigmoid, fitted by maximum likelihood.
    MaximumLikelihood,
    /// The win rate by isotonic regression.
    Isotonic,
    /// The raw scores, with results relative to the opponents: what the joint model explains by the strengths of the
    /// players, their rating difference and the optimism of scores is subtracted from the result.
    RawAgainstEquals,
    /// The win rate between equals by the joint model, with the same results.
    Equal,
}

impl Transform {
    /// All transforms, simplest first.
    pub const ALL: [Self; 7] = [
        Self::Raw,
        Self::RawAgainstEquals,
        Self::Standardized,
        Self::LeastSquares,
        Self::MaximumLikelihood,
        Self::Equal,
        Self::Isotonic,
    ];

    /// The name in reports.
    pub fn words(self) -> Text {
        match self {
            Self::Raw => text!("raw scores"),
            Self::RawAgainstEquals => text!("raw scores, opponents taken out"),
            Self::Standardized => text!("standardised scores (z)"),
            Self::LeastSquares => text!("least squares, field"),
            Self::MaximumLikelihood => text!("maximum likelihood, field"),
            Self::Equal => text!("all engines together, between equals"),
            Self::Isotonic => text!("isotonic regression, field"),
        }
    }

    /// Whether it gives the win rate against the opponents that the engine met.
    pub fn is_field(self) -> bool {
        matches!(self, Self::LeastSquares | Self::MaximumLikelihood | Self::Isotonic)
    }

    fn kind(self) -> Option<ModelKind> {
        match self {
            Self::Raw | Self::Standardized => None,
            Self::LeastSquares => Some(ModelKind::LeastSquares),
            Self::MaximumLikelihood => Some(ModelKind::MaximumLikelihood),
            Self::RawAgainstEquals | Self::Equal => Some(ModelKind::Joint),
            Self::Isotonic => Some(ModelKind::Isotonic),
        }
    }
}

/// The mismatch of one transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransformMismatch {
    pub transform: Transform,
    /// Samples in cells of 5 or more.
    pub samples: u64,
    /// M² with its sign: an unbiased estimate, which may be below 0 for a good scale.
    pub m_squared: f64,
    /// Its 95% interval by the bootstrap over games, see [`mismatch`].
    pub m_squared_interval: (f64, f64),
    /// √max(0, M²): root mean square difference between the win rate of an engine and that of all engines at equal
    /// values.
    pub m: f64,
    /// The interval of M, from the ends of that of M².
    pub m_interval: Option<(f64, f64)>,
    /// Difference of M² to that of the first transform in the list, with its interval; `None` for the first.
    pub above_best: Option<(f64, (f64, f64))>,
    /// The mean results of each engine in the quantile bins of the pooled values; M measures their spread.
    #[serde(skip)]
    pub curves: Vec<Vec<CellPoint>>,
}

/// The mismatch of all transforms on the same samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScaleMismatch {
    /// The engines compared, in the order of the curves.
    pub engines: Vec<String>,
    /// Engines with too few samples for a fit.
    pub too_few: usize,
    /// Other engines that were left out, and why.
    pub left_out: Vec<(String, Text)>,
    /// Transforms that were left out, and why.
    pub transforms_left_out: Vec<(Transform, Text)>,
    /// Samples of the engines compared.
    pub samples: u64,
    /// Games of these.
    pub games: u64,
    /// Folds over games.
    pub folds: u64,
    pub resamples: u32,
    /// Seed of the resamples; the seed of the folds is that of the sampling.
    pub seed: u64,
    /// The transforms, best (lowest M²) first.
    pub transforms: Vec<TransformMismatch>,
}

/// Measures the mismatch of each transform over engines; `None` with fewer than two suitable engines.
///
/// Engines without the samples that `validation` asks for are not compared. Another engine is left out if some
/// transform cannot be fitted to it without some fold. If more than one in five engines lack a transform (for example
/// without ratings), the transform is left out instead. Samples without ratings count as played between equal players.
///
/// Intervals: games are drawn with replacement, `resamples` times; values and bin edges are fixed. The mean result of a
/// cell then scatters around the observed one instead of the true one, which increases each resampled M² by the
/// sampling variance; so the interval is M² plus the percentiles of (resampled M² - their mean). Near 0 it is
/// conservative. It does not include the scatter of the fits, which is large for small samples.
pub fn mismatch(validation: &mut CrossValidation<'_>, options: &ScoreOptions) -> Option<ScaleMismatch> {
    let engines = validation.engines();
    let enough: Vec<usize> = (0..engines.len()).filter(|&e| validation.has_enough(&engines[e])).collect();
    let too_few = engines.len() - enough.len();
    let (scales, transforms_left_out) = fitted_scales(validation, &enough);
    let failed = |e: usize| scales.iter().find_map(|s| Some(s.error(e)?.about(&s.transform.words())));
    let used: Vec<usize> = enough.iter().copied().filter(|&e| failed(e).is_none()).collect();
    let left_out = enough.iter().filter_map(|&e| Some((engines[e].name.clone(), failed(e)?))).collect();
    if used.len() < 2 {
        return None;
    }
    let names: Vec<String> = used.iter().map(|&e| engines[e].name.clone()).collect();
    let games_of: Vec<u64> = used.iter().flat_map(|&e| engines[e].cases.iter().map(|c| c.game)).collect();
    // a transform has 32 bytes for each sample while it is cut, and 4 or 16 for the resamples
    let cells = parallel::map(scales.len(), |s| Cells::new(&scales[s].rows(engines, &used), names.len()));
    let mut ids = games_of.clone();
    ids.sort_unstable();
    ids.dedup();
    let resampled = resample(&games_of, &ids, &cells, options);

    let transforms = compared(&scales, &cells, &resampled)?;
    Some(ScaleMismatch {
        engines: names,
        too_few,
        left_out,
        transforms_left_out,
        samples: games_of.len() as u64,
        games: ids.len() as u64,
        folds: validation.folds().folds,
        resamples: options.resamples,
        seed: options.seed,
        transforms,
    })
}

/// The transforms that were fitted, and those that were left out because too many of the engines lack them. If few
/// engines lack a transform, these engines are left out instead.
fn fitted_scales(validation: &mut CrossValidation<'_>, enough: &[usize]) -> (Vec<Scales>, Vec<(Transform, Text)>) {
    let mut left_out = Vec::new();
    let mut scales: Vec<Scales> =
        Transform::ALL.into_iter().map(|transform| Scales::new(transform, validation)).collect();
    scales.retain(|s| {
        let without: Vec<(usize, Text)> = enough.iter().filter_map(|&e| Some((e, s.error(e)?))).collect();
        let too_many = without.len() * MOST_WITHOUT > enough.len();
        if let Some((e, why)) = without.first().filter(|_| too_many) {
            let mut words = text!("{} of {} engines have none; ", without.len(), enough.len());
            words.push(&why.about(&Text::same(&validation.engines()[*e].name)));
            left_out.push((s.transform, words));
        }
        !too_many
    });
    (scales, left_out)
}

/// The mismatch of each transform, best first, with the intervals that the resamples give.
fn compared(scales: &[Scales], cells: &[Cells], resampled: &[Vec<f64>]) -> Option<Vec<TransformMismatch>> {
    let measured = |(i, cells): (usize, &Cells)| {
        let counted = cells.counted();
        let (m_squared, samples) = cells.m_squared(counted.iter().copied());
        if samples == 0 {
            return None;
        }
        let m_squared_interval = interval(m_squared, resampled.iter().map(|r| r[i]).collect())?;
        let root = |x: f64| x.max(0.0).sqrt();
        let m_interval = (m_squared_interval.1 > 0.0).then(|| (root(m_squared_interval.0), root(m_squared_interval.1)));
        let found = TransformMismatch {
            transform: scales[i].transform,
            samples,
            m_squared,
            m_squared_interval,
            m: root(m_squared),
            m_interval,
            above_best: None,
            curves: cells.curves(&counted),
        };
        Some((i, found))
    };
    let mut results: Vec<(usize, TransformMismatch)> = cells.iter().enumerate().filter_map(measured).collect();
    results.sort_by(|a, b| a.1.m_squared.total_cmp(&b.1.m_squared));
    let best = results.first().map(|(i, r)| (*i, r.m_squared))?;
    for (i, result) in results.iter_mut().skip(1) {
        let difference = result.m_squared - best.1;
        let spread = interval(difference, resampled.iter().map(|r| r[*i] - r[best.0]).collect())?;
        result.above_best = Some((difference, spread));
    }
    Some(results.into_iter().map(|(_, r)| r).collect())
}

/// The value plus the percentiles of the resampled values around their mean; `None` where no resample has a value.
fn interval(value: f64, mut resampled: Vec<f64>) -> Option<(f64, f64)> {
    resampled.retain(|value| value.is_finite());
    let mean = resampled.iter().sum::<f64>() / resampled.len() as f64;
    let (low, high) = percentile_interval(resampled, 0.95)?;
    Some((value + low - mean, value + high - mean))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Outcome;
    use evalcurve_fit::fit::FitOptions;
    use evalcurve_fit::validate::{Case, Cases, EngineCases, FoldOptions, Situation};
    use evalcurve_words::random;

    /// Engines whose scores are the true logits times their scale; 800 games per pair, one sample per side.
    fn engines(scales: &[f64]) -> Vec<EngineCases> {
        drawn(scales, 0.3, 0)
    }

    /// Engine e is stronger than engine e - 1 by `step` logits, which the scores do not contain.
    fn drawn(scales: &[f64], step: f64, seed: u64) -> Vec<EngineCases> {
        let mut out: Vec<EngineCases> =
            (0..scales.len()).map(|e| EngineCases { name: format!("engine {e}"), cases: Cases::default() }).collect();
        let mut game = 0;
        for a in 0..scales.len() {
            for b in 0..a {
                for _ in 0..800 {
                    game += 1;
                    let truth = 5.0 * random::unit(&[1, game, seed]) - 2.5;
                    let strength = step * (a as f64 - b as f64);
                    let p = 1.0 / (1.0 + libm::exp(-truth - strength));
                    let wins = random::unit(&[2, game, seed]) < p;
                    for (e, sign, won) in [(a, 1.0, wins), (b, -1.0, !wins)] {
                        out[e].cases.extend([Case {
                            game,
                            score_cp: (sign * truth * scales[e]) as i32,
                            outcome: if won { Outcome::Win } else { Outcome::Loss },
                            situation: Situation { strength: Some(sign * strength), ..Situation::default() },
                        }]);
                    }
                }
            }
        }
        out
    }

    fn validation(engines: &[EngineCases]) -> CrossValidation<'_> {
        CrossValidation::new(engines, FoldOptions::default(), FitOptions::default())
    }

    fn found(engines: &[EngineCases], resamples: u32) -> Option<ScaleMismatch> {
        mismatch(&mut validation(engines), &ScoreOptions { resamples, seed: 7 })
    }

    #[test]
    fn unequal_scales_are_found_and_corrected() {
        let engines = engines(&[200.0, 800.0, 400.0]);
        let found = found(&engines, 200).unwrap();
        assert_eq!((found.engines.len(), found.samples, found.games), (3, 4800, 2400));
        let of = |t: Transform| found.transforms.iter().find(|r| r.transform == t).unwrap();
        let raw = of(Transform::Raw);
        assert!(raw.m > 0.05 && raw.m_interval.unwrap().0 > 0.02, "{raw:?}");
        for t in [Transform::LeastSquares, Transform::MaximumLikelihood] {
            let fitted = of(t);
            assert!(fitted.m_interval.is_none_or(|(low, _)| low < 0.03) && fitted.m < 0.6 * raw.m, "{fitted:?}");
            assert!(fitted.m_squared_interval.0 < fitted.m_squared && fitted.m_squared < fitted.m_squared_interval.1);
        }
        // opponents taken out, the raw scores still differ, and win rates between equals do not
        let (raw_equal, equal) = (of(Transform::RawAgainstEquals), of(Transform::Equal));
        assert!(raw_equal.m > 0.05 && equal.m < 0.6 * raw_equal.m, "{raw_equal:?} {equal:?}");
        // isotonic regression is noisy, but better than raw scores
        assert!(of(Transform::Isotonic).m < raw.m);
        // ordered; the first has no distance to itself
        assert!(found.transforms.windows(2).all(|w| w[0].m_squared <= w[1].m_squared));
        assert!(found.transforms[0].above_best.is_none());
        let (above, (low, high)) = raw.above_best.unwrap();
        assert!(0.0 < low && low < above && above < high);
    }

    /// With one scale for all, raw scores differ by the opponents alone.
    #[test]
    fn opponents_are_no_scale() {
        let engines = drawn(&[400.0, 400.0, 400.0], 1.2, 3);
        let found = found(&engines, 100).unwrap();
        let m = |t: Transform| found.transforms.iter().find(|r| r.transform == t).unwrap().m;
        assert!(m(Transform::Raw) > 0.1, "{found:?}");
        assert!(m(Transform::RawAgainstEquals) < 0.03 && m(Transform::Equal) < 0.03, "{found:?}");
    }

    #[test]
    fn intervals_cover_the_truth() {
        // one scale for all: M² of the raw scores is 0; its interval is conservative there
        let covers = |seed: u64| {
            let engines = drawn(&[400.0, 400.0, 400.0], 0.0, seed);
            let found = found(&engines, 200).unwrap();
            let raw = found.transforms.iter().find(|t| t.transform == Transform::Raw).unwrap();
            raw.m_squared_interval.0 <= 0.0 && 0.0 <= raw.m_squared_interval.1
        };
        let held = (0..40).filter(|seed| covers(*seed)).count();
        assert!(held >= 36, "{held} of 40");
    }

    #[test]
    fn the_same_on_any_number_of_threads() {
        let engines = engines(&[200.0, 800.0]);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| found(&engines, 40))
        };
        let one = on(1).unwrap();
        assert_eq!(Some(&one), on(3).as_ref());
        assert_eq!((one.transforms.len(), one.transforms_left_out.len()), (7, 0));
    }

    #[test]
    fn one_engine_cannot_be_compared() {
        let mut engines = engines(&[200.0, 800.0]);
        engines[1].cases = engines[1].cases.iter().take(5).collect();
        assert_eq!(found(&engines, 10), None);
    }
}
