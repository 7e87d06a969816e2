//! Where searches begin: the likelihood at a flat curve, least squares at several curves.

use evalcurve_calibration::Method;

use super::counts::ScoreCounts;
use super::objective::Objective;
use super::score_row::ScoreRow;
use super::search::{Minimum, Search, Stalled};

/// The minimum of a method over counts for which at least the likelihood has a minimum of finite slope.
pub(crate) fn solve(method: Method, counts: &ScoreCounts) -> Result<(Minimum, u32), (Stalled, u32)> {
    let likelihood = Objective::from_counts(Method::MaximumLikelihood, counts);
    let search = Search::new(&likelihood);
    let by_likelihood = search.minimise(&likelihood.flat_start());
    let passes = search.passes();
    match method {
        Method::MaximumLikelihood => by_likelihood.map(|m| (m, passes)).map_err(|s| (s, passes)),
        Method::LeastSquares => {
            let objective = Objective::from_counts(method, counts);
            let (found, more) = least_of(&objective, by_likelihood.ok().map(|m| m.at));
            found.map(|m| (m, passes + more)).map_err(|s| (s, passes + more))
        }
    }
}

/// Slopes at which a search for the least squares may begin, as logits at the median distance of a score from 0.
const START_SLOPES: [f64; 6] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// Starts that are searched to the end, besides the curve by maximum likelihood.
const STARTS: usize = 3;

/// Rows on which starts are compared; with more, neighbouring scores are taken together.
const COARSE_ROWS: usize = 2048;

/// Least squares is not convex: the best minimum from several starts, the likelihood's curve among them.
fn least_of(objective: &Objective, likelihood: Option<Vec<f64>>) -> (Result<Minimum, Stalled>, u32) {
    let search = Search::new(objective);
    if objective.rows.len() <= COARSE_ROWS {
        return (best_of_starts(objective, &search, likelihood), search.passes());
    }
    // few rows are enough to see which valley is the deepest; its lowest point is then found on all rows
    let coarse = objective.coarse();
    let coarse_search = Search::new(&coarse);
    let found = best_of_starts(&coarse, &coarse_search, likelihood).and_then(|m| search.minimise(&m.at));
    (found, coarse_search.passes() + search.passes())
}

fn best_of_starts(
    objective: &Objective,
    search: &Search<'_>,
    likelihood: Option<Vec<f64>>,
) -> Result<Minimum, Stalled> {
    let [_, b] = objective.flat_start();
    let typical = objective.median_distance();
    let mut starts: Vec<(Vec<f64>, f64)> = START_SLOPES
        .iter()
        .flat_map(|slope| [vec![slope / typical, 0.0], vec![slope / typical, b]])
        .filter_map(|at| search.evaluate(&at).map(|found| (at, found.loss)))
        .collect();
    // stable, so that equal losses keep their order
    starts.sort_by(|x, y| x.1.total_cmp(&y.1));
    starts.truncate(STARTS);
    let starts = likelihood.into_iter().chain(starts.into_iter().map(|s| s.0));

    let mut best: Result<Minimum, Stalled> = Err(Stalled::NOWHERE);
    for start in starts {
        let found = search.minimise(&start);
        let better = match (&found, &best) {
            (Ok(f), Ok(b)) => f.evaluation.loss < b.evaluation.loss,
            (Ok(_), Err(_)) => true,
            (Err(f), Err(b)) => f.gradient < b.gradient,
            (Err(_), Ok(_)) => false,
        };
        if better {
            best = found;
        }
    }
    // a minimum above another point that was evaluated is a local one, and the search for the better one diverged
    if let Ok(b) = &best
        && b.evaluation.loss > search.lowest() * (1.0 + 1e-9)
    {
        let (gradient, loss) = (b.evaluation.size_of_gradient(), b.evaluation.loss);
        best = Err(Stalled { gradient, at: b.at.clone(), loss });
    }
    best
}

impl Objective {
    /// The same samples on at most [`COARSE_ROWS`] rows: neighbouring scores are replaced by their mean.
    fn coarse(&self) -> Self {
        let size = self.rows.len().div_ceil(COARSE_ROWS);
        let merged = |rows: &[ScoreRow]| {
            let mut sum = ScoreRow { x: 0.0, wins: 0.0, draws: 0.0, losses: 0.0 };
            for r in rows {
                sum.x += r.x * r.total();
                sum.wins += r.wins;
                sum.draws += r.draws;
                sum.losses += r.losses;
            }
            ScoreRow { x: sum.x / sum.total(), ..sum }
        };
        Self::new(self.method, self.rows.chunks(size).map(merged).collect())
    }

    /// The median of |x| over the samples, or the root mean square where most scores are 0.
    fn median_distance(&self) -> f64 {
        let mut distances: Vec<(f64, f64)> = self.rows.iter().map(|r| (r.x.abs(), r.total())).collect();
        distances.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut left = 0.5 * self.samples;
        let median = distances.iter().find(|(_, n)| {
            left -= n;
            left <= 0.0
        });
        median.map(|m| m.0).filter(|m| *m > 0.0).unwrap_or(self.spread[0])
    }
}
