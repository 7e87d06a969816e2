//! Do least squares and maximum likelihood agree?
//!
//! Samples with a large score that contradicts the result dominate maximum likelihood, but not least squares. So where
//! the slopes are apart, the largest such score is named.

use evalcurve_app::calibrate::{EngineResult, WarningKind};
use evalcurve_fit::curve::Z_95;
use evalcurve_fit::fit::{Case, FitData, Method, Observation, contradictions};
use evalcurve_fit::parallel;
use evalcurve_fit::validate::Estimate;
use evalcurve_records::sample::SampleTable;
use evalcurve_words::language::Text;
use serde::Serialize;

/// A significant difference of the slopes by more than this factor counts ...
const APART: f64 = 1.05;

/// ... and one by more than this factor regardless of its interval: one sample may dominate a fit, and then its
/// interval is wide.
const FAR_APART: f64 = 1.5;

/// The slopes of one engine by both methods.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoFits {
    pub engine: String,
    /// Samples that the mate policy keeps.
    pub samples: u64,
    /// w1 by least squares, per centipawn.
    pub least_squares: f64,
    /// w1 by maximum likelihood, per centipawn.
    pub maximum_likelihood: f64,
    /// The ratio of the slopes, least squares to maximum likelihood; its interval takes into account that both fits
    /// share their games.
    pub ratio: Estimate,
    /// Whether the slopes differ: significantly and by more than 5%, or by more than half.
    pub differ: bool,
    /// The samples that make the difference, in words, where they are known.
    pub cause: Option<Text>,
    /// The largest score that the result contradicts.
    pub contradiction: Option<Contradiction>,
}

/// A score that the result of its game contradicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contradiction {
    pub score_cp: i32,
    /// File, or archive and member, of its game.
    pub source: String,
    pub line: u64,
}

impl TwoFits {
    /// |ln| of the ratio of the slopes.
    pub fn gap(&self) -> f64 {
        libm::log(self.ratio.value).abs()
    }
}

/// The engines with both fits, in their order; `observed` are the samples of each that were fitted.
pub(crate) fn two_fits(
    table: &SampleTable,
    results: &[EngineResult],
    observed: &[Vec<Observation>],
    data: &[FitData<'_>],
) -> Vec<TwoFits> {
    let of = |i: usize| of_engine(table, &results[i], &observed[i], &data[i]);
    parallel::map(results.len(), of).into_iter().flatten().collect()
}

fn of_engine(
    table: &SampleTable,
    result: &EngineResult,
    observed: &[Observation],
    data: &FitData<'_>,
) -> Option<TwoFits> {
    let pulls = |method: Method| {
        let sigmoid = result.fit(method).ok()?.sigmoid;
        Some((sigmoid.w1, data.influence(method, sigmoid)?.on([1.0 / sigmoid.w1, 0.0])))
    };
    let (squares, a) = pulls(Method::LeastSquares)?;
    let (likelihood, b) = pulls(Method::MaximumLikelihood)?;
    let value = squares / likelihood;
    let interval = standard_error_of_difference(&a, &b).map(|se| {
        let half = libm::exp(Z_95 * se);
        [value / half, value * half]
    });
    let beyond_chance = interval.is_some_and(|[low, high]| low > 1.0 || high < 1.0);
    let gap = libm::log(value).abs();
    let cause = result.warnings.iter().find(|warning| warning.kind == WarningKind::MethodsDisagree);
    Some(TwoFits {
        engine: result.name.clone(),
        samples: result.fitted,
        least_squares: squares,
        maximum_likelihood: likelihood,
        ratio: Estimate { value, interval },
        differ: (beyond_chance && gap > libm::log(APART)) || gap > libm::log(FAR_APART),
        cause: cause.map(|warning| warning.text.clone()),
        contradiction: contradiction(table, observed),
    })
}

/// The standard error of a difference a - b of two numbers that rest on games in common, from the influences of the
/// games on each, by ascending game. `None` with fewer than two games.
///
/// √(G/(G-1) Σ_g (a_g - b_g)²), with 0 for a game that only one of the two has.
fn standard_error_of_difference(a: &[(u64, f64)], b: &[(u64, f64)]) -> Option<f64> {
    let (mut i, mut j, mut games, mut sum) = (0, 0, 0u64, 0.0);
    loop {
        let difference = match (a.get(i), b.get(j)) {
            (None, None) => break,
            (Some(x), Some(y)) if x.0 == y.0 => {
                (i, j) = (i + 1, j + 1);
                x.1 - y.1
            }
            (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                i += 1;
                x.1
            }
            (_, Some(y)) => {
                j += 1;
                -y.1
            }
            (Some(_), None) => break,
        };
        games += 1;
        sum += difference * difference;
    }
    (games > 1).then(|| (games as f64 / (games - 1) as f64 * sum).sqrt())
}

fn contradiction(table: &SampleTable, observed: &[Observation]) -> Option<Contradiction> {
    let cases: Vec<Case> = observed.iter().map(Case::from).collect();
    let case = *contradictions(&cases).first()?;
    let game = table.games.iter().find(|game| game.id == case.game)?;
    let source = table.names.get(game.source).to_owned();
    Some(Contradiction { score_cp: case.score_cp, source, line: game.line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_pair_games() {
        let a = [(1, 1.0), (3, 2.0), (5, 1.0)];
        let b = [(2, 1.0), (3, 2.0), (6, -1.0)];
        // games 1, 2, 5 and 6 differ by 1 each, game 3 by 0
        let expected = (5.0f64 / 4.0 * 4.0).sqrt();
        assert!((standard_error_of_difference(&a, &b).unwrap() - expected).abs() < 1e-12);
        assert_eq!(standard_error_of_difference(&a[..1], &[]), None);
        assert_eq!(standard_error_of_difference(&a, &a), Some(0.0));
    }
}
