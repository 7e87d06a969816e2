//! Do least squares and maximum likelihood agree?
//!
//! Samples with a large score that contradicts the result dominate maximum likelihood, but not least squares. So where
//! the slopes are apart, the largest such score is named.

use evalcurve_app::calibrate::{EngineResult, WarningKind};
use evalcurve_fit::curve::Z_95;
use evalcurve_fit::fit::{Case, FitData, Method, Observation, contradictions, standard_error_of_difference};
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

fn contradiction(table: &SampleTable, observed: &[Observation]) -> Option<Contradiction> {
    let cases: Vec<Case> = observed.iter().map(Case::from).collect();
    let case = *contradictions(&cases).first()?;
    let game = table.games.iter().find(|game| game.id == case.game)?;
    let source = table.names.get(game.source).to_owned();
    Some(Contradiction { score_cp: case.score_cp, source, line: game.line })
}
