//! A fit to samples that differ little from others whose curve is known: without a search, and with few exponentials.
//!
//! The gradient of the loss is expanded around the known curve to the third power of the change of the logits. Its
//! coefficients are sums over the samples of numbers that are tabulated by score once. Where the expansion has its
//! zero, true Newton steps begin, and mostly one is enough: the result is that of any other search, to its tolerance.

use evalcurve_calibration::logistic::logistic;
use evalcurve_calibration::{Method, Sigmoid};

use super::objective::{MAX_PASSES, Objective, SCORE_SCALE};
use super::score_row::ScoreRow;
use super::search::Search;
use super::symmetric::inverse;
use crate::vector;

/// A Newton step that moves the logits of typical scores by no more than this is the last one: what remains is of the
/// order of its square.
const LAST_STEP: f64 = 1e-5;

/// Newton steps tried before the damped search is used.
const MOST_STEPS: usize = 6;

/// The longest step that is taken undamped, as a change of the logits of typical scores.
const LONGEST_STEP: f64 = 1.5;

/// Derivatives of the loss that the expansion uses.
const ORDERS: usize = 4;

/// Changes of a logit up to this go through the series of the exponential: its tenth term is below 3e-13.
const SERIES: f64 = 0.25;

/// Samples by distinct score: sums of results, with draws half, and counts.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// index of the score among all
    index: Vec<u32>,
    /// scores in thousands of centipawns, ascending
    x: Vec<f64>,
    wins: Vec<f64>,
    totals: Vec<f64>,
    /// win rates, filled by each pass
    rates: Vec<f64>,
}

impl Drawn {
    /// Takes the cells that are not empty (samples in the upper 32 bits, doubled results in the lower).
    pub(crate) fn take(&mut self, x: &[f64], cells: &[u64]) {
        let all = cells.len();
        self.index.resize(all, 0);
        for list in [&mut self.x, &mut self.wins, &mut self.totals] {
            list.resize(all, 0.0);
        }
        // whether a cell is empty is random, so a branch would be mispredicted
        let mut rows = 0;
        for (i, (&x, &cell)) in x.iter().zip(cells).enumerate() {
            self.index[rows] = i as u32;
            self.x[rows] = x;
            self.wins[rows] = 0.5 * f64::from(cell as u32);
            self.totals[rows] = f64::from((cell >> 32) as u32);
            rows += usize::from(cell != 0);
        }
        self.index.truncate(rows);
        for list in [&mut self.x, &mut self.wins, &mut self.totals] {
            list.truncate(rows);
        }
    }

    /// Whether no finite curve is best: one outcome, one score, or a score that splits wins from losses.
    fn undetermined(&self) -> bool {
        let rows = || self.wins.iter().zip(&self.totals).enumerate();
        let (winner, loser) = (|(w, _): (&f64, &f64)| *w > 0.0, |(w, n): (&f64, &f64)| w < n);
        let ends = |holds: &dyn Fn((&f64, &f64)) -> bool| {
            rows().find(|(_, r)| holds(*r)).zip(rows().rfind(|(_, r)| holds(*r))).map(|((a, _), (b, _))| (a, b))
        };
        match (ends(&winner), ends(&loser)) {
            // rows ascend, so that indices compare as scores do
            (Some((win_low, win_high)), Some((loss_low, loss_high))) => loss_high <= win_low || win_high <= loss_low,
            _ => true,
        }
    }
}

/// One distinct score at the known curve.
#[derive(Debug, Clone, Copy)]
struct Start {
    /// its derivatives by the logit, of a sample and of a won sample: the loss of n samples with k wins has n a - k b
    a: [f64; ORDERS],
    b: [f64; ORDERS],
    /// exp(-z) for the logit z
    e: f64,
}

/// Where the searches begin, with the curve there by distinct score.
#[derive(Debug)]
pub(super) struct Warm {
    method: Method,
    at: [f64; 2],
    starts: Vec<Start>,
    /// root mean square of the scores that the curve depends on, to judge steps by
    spread: f64,
}

impl Warm {
    /// `at` is (a, b) of the logit a x - b, x in thousands of centipawns.
    pub(crate) fn new(method: Method, at: [f64; 2], x: &[f64]) -> Self {
        let (a, b) = derivatives(method);
        let logit = |x: f64| at[0] * x - at[1];
        let start = |&x: &f64| {
            let p = logistic(logit(x));
            let value = |polynomial: &Vec<f64>| polynomial.iter().rev().fold(0.0, |sum, c| sum * p + c);
            // beyond ±700 it would overflow; such scores have a win rate of 0 or 1 all the same
            let e = libm::exp(-logit(x).clamp(-700.0, 700.0));
            Start { a: std::array::from_fn(|j| value(&a[j])), b: std::array::from_fn(|j| value(&b[j])), e }
        };
        let (mut weights, mut squares) = (0.0, 0.0);
        for x in x {
            let weight = logistic(logit(*x)) * logistic(-logit(*x));
            weights += weight;
            squares += weight * x * x;
        }
        let spread = if weights > 0.0 { (squares / weights).sqrt() } else { 1.0 };
        Self { method, at, starts: x.iter().map(start).collect(), spread }
    }

    /// The curve of a resample; `None` where it determines no curve or no search converges.
    pub(crate) fn fit(&self, drawn: &mut Drawn) -> Option<Sigmoid> {
        if drawn.undetermined() {
            return None;
        }
        let begin = self.expand(drawn).unwrap_or(self.at);
        self.newton(drawn, begin).or_else(|| self.search(drawn))
    }

    fn size(&self, step: [f64; 2]) -> f64 {
        step[0].abs() * self.spread + step[1].abs()
    }

    /// Where the expansion of the gradient is 0; `None` where that is too far away.
    fn expand(&self, drawn: &Drawn) -> Option<[f64; 2]> {
        // sums[j][i] = Σ (j+1-th derivative) x^i
        let mut sums = [[0.0; ORDERS + 1]; ORDERS];
        let rows = drawn.index.iter().zip(&drawn.x).zip(drawn.wins.iter().zip(&drawn.totals));
        for ((&index, &x), (&k, &n)) in rows {
            let Some(start) = self.starts.get(index as usize) else { continue };
            for j in 0..ORDERS {
                let mut term = n * start.a[j] - k * start.b[j];
                for sum in &mut sums[j][..j + 2] {
                    *sum += term;
                    term *= x;
                }
            }
        }
        let mut step = [0.0, 0.0];
        for _ in 0..8 {
            let [da, db] = step;
            // Σ (j+1-th derivative) x^i (da x - db)^q / q!
            let moment = |j: usize, i: usize, q: usize| {
                let powers = |x: f64, n: usize| (0..n).fold(1.0, |product, _| product * x);
                let choose = [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 2.0, 1.0, 0.0], [1.0, 3.0, 3.0, 1.0]];
                let term = |r: usize| choose[q][r] * powers(da, r) * powers(-db, q - r) * sums[j][i + r];
                (0..=q).map(term).sum::<f64>() / [1.0, 1.0, 2.0, 6.0][q]
            };
            // the gradient and its derivatives
            let along = |i: usize, from: usize| (from..ORDERS).map(|j| moment(j, i, j - from)).sum::<f64>();
            let (ga, gb) = (along(1, 0), -along(0, 0));
            let (haa, hab, hbb) = (along(2, 1), -along(1, 1), along(0, 1));
            let h = inverse(&[[haa, hab], [hab, hbb]])?;
            let more = [-(h[0][0] * ga + h[0][1] * gb), -(h[1][0] * ga + h[1][1] * gb)];
            step = [da + more[0], db + more[1]];
            let size = self.size(step);
            if size.is_nan() || size > LONGEST_STEP {
                return None;
            }
            if self.size(more) < 1e-8 {
                return Some([self.at[0] + step[0], self.at[1] + step[1]]);
            }
        }
        None
    }

    fn newton(&self, drawn: &mut Drawn, begin: [f64; 2]) -> Option<Sigmoid> {
        let mut at = begin;
        for _ in 0..MOST_STEPS {
            self.rates(drawn, at);
            let [ga, gb, haa, hab, hbb] = self.sums(drawn);
            let h = inverse(&[[haa, hab], [hab, hbb]])?;
            let step = [-(h[0][0] * ga + h[0][1] * gb), -(h[1][0] * ga + h[1][1] * gb)];
            let size = self.size(step);
            if size.is_nan() || size > LONGEST_STEP {
                return None;
            }
            at = [at[0] + step[0], at[1] + step[1]];
            if size <= LAST_STEP {
                return Some(Sigmoid { w1: at[0] / SCORE_SCALE, w2: at[1] });
            }
        }
        None
    }

    /// The win rates at a curve.
    fn rates(&self, drawn: &mut Drawn, at: [f64; 2]) {
        let (da, db) = (at[0] - self.at[0], at[1] - self.at[1]);
        drawn.rates.clear();
        // exp(-z) of the known curve, for the loop below
        drawn.rates.extend(drawn.index.iter().map(|&i| self.starts.get(i as usize).map_or(0.0, |s| s.e)));
        // the change of the logit rises or falls with the score, so that it is small in between two borders
        let near = |x: &f64| (da * x - db).abs() <= SERIES;
        let low = drawn.x.iter().position(near).unwrap_or(drawn.x.len());
        let high = drawn.x.iter().rposition(near).map_or(low, |last| last + 1);
        for (rate, x) in drawn.rates[low..high].iter_mut().zip(&drawn.x[low..high]) {
            let u = db - da * x;
            let mut series = 1.0 + u / 9.0;
            for n in [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
                series = 1.0 + series * (u * (1.0 / n));
            }
            *rate = 1.0 / (1.0 + *rate * series);
        }
        for far in [0..low, high..drawn.x.len()] {
            let (rates, x) = (&mut drawn.rates[far.clone()], &drawn.x[far]);
            rates.iter_mut().zip(x).for_each(|(rate, x)| *rate = at[0] * x - at[1]);
            vector::logistic(rates);
        }
    }

    /// Gradient and Hessian of the summed loss by (a, b).
    fn sums(&self, drawn: &Drawn) -> [f64; 5] {
        let mut s = [0.0; 5];
        let rows = drawn.x.iter().zip(&drawn.rates).zip(drawn.wins.iter().zip(&drawn.totals));
        let mut add = |x: f64, first: f64, second: f64| {
            s[0] += first * x;
            s[1] -= first;
            s[2] += second * x * x;
            s[3] -= second * x;
            s[4] += second;
        };
        match self.method {
            Method::MaximumLikelihood => {
                rows.for_each(|((&x, &p), (&k, &n))| add(x, n * p - k, n * p * (1.0 - p)));
            }
            // half of d/dz of Σ (p - y)², 2 pq (n p - k), and of its derivative, 2 pq (n pq + (n p - k)(1 - 2p))
            Method::LeastSquares => rows.for_each(|((&x, &p), (&k, &n))| {
                let (pq, miss) = (p * (1.0 - p), n * p - k);
                add(x, pq * miss, pq * (n * pq + miss * (1.0 - 2.0 * p)));
            }),
        }
        s
    }

    /// The general search, from the same start.
    fn search(&self, drawn: &Drawn) -> Option<Sigmoid> {
        let rows = drawn.x.iter().zip(&drawn.wins).zip(&drawn.totals);
        // a draw is half a win and half a loss: the loss by squares differs by a constant
        let row = |((&x, &k), &n): ((&f64, &f64), &f64)| ScoreRow { x, wins: k, draws: 0.0, losses: n - k };
        let objective = Objective::new(self.method, rows.map(row).collect());
        // of 59,758 resamples of floodgate whose squares come here, 46,639 have a minimum, and 158 more by argmin from
        // the same start, 125 of these as a step from 0 to 1 between two scores
        let found = Search::new(&objective).polish(&self.at, MAX_PASSES);
        found.ok().map(|minimum| minimum.sigmoid())
    }
}

/// The derivatives of the loss by the logit as polynomials in the win rate p: n times the first, less k times the
/// second.
///
/// The likelihood's first derivative is n p - k, half of that of the squares pq (n p - k); each next one follows by
/// dp/dz = p - p².
fn derivatives(method: Method) -> ([Vec<f64>; ORDERS], [Vec<f64>; ORDERS]) {
    let by_logit = |polynomial: &[f64]| {
        let mut next = vec![0.0; polynomial.len() + 1];
        for (power, c) in polynomial.iter().enumerate().skip(1) {
            // d/dp p^m = m p^(m-1), times p - p²
            next[power] += power as f64 * c;
            next[power + 1] -= power as f64 * c;
        }
        next
    };
    let rise = |first: Vec<f64>| {
        let mut all: [Vec<f64>; ORDERS] = Default::default();
        let mut current = first;
        for slot in &mut all {
            let next = by_logit(&current);
            *slot = std::mem::replace(&mut current, next);
        }
        all
    };
    match method {
        Method::MaximumLikelihood => (rise(vec![0.0, 1.0]), rise(vec![1.0])),
        Method::LeastSquares => (rise(vec![0.0, 0.0, 1.0, -1.0]), rise(vec![0.0, 1.0, -1.0])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::{FitOptions, ScoreCount, ScoreCounts, fit_counts};
    use evalcurve_words::random;

    /// Samples of one curve, as cells and as counts.
    fn samples(seed: u64, shift: f64, far: bool) -> (Vec<f64>, Vec<u64>, ScoreCounts) {
        let (mut x, mut cells, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..700u64 {
            let mut score_cp = i as i32 * 9 - 3150;
            if far && i == 699 {
                score_cp = 1_148_897;
            }
            let p = Sigmoid { w1: 0.0015 * (1.0 + shift), w2: 0.2 - shift }.win_rate(f64::from(score_cp));
            let mut row = ScoreCount { score_cp, wins: 0, draws: 0, losses: 0 };
            for j in 0..random::below(5, &[seed, i]) {
                match random::unit(&[seed, i, j]) {
                    u if (u - p).abs() < 0.02 => row.draws += 1,
                    u if u < p => row.wins += 1,
                    _ => row.losses += 1,
                }
            }
            x.push(f64::from(score_cp) / SCORE_SCALE);
            cells.push((row.total() << 32) + 2 * row.wins + row.draws);
            rows.push(row);
        }
        (x, cells, ScoreCounts::from_rows(rows))
    }

    #[test]
    fn the_warm_fit_is_that_of_every_other_way() {
        for method in Method::ALL {
            for far in [false, true] {
                let (x, _, counts) = samples(1, 0.0, far);
                let at = fit_counts(method, &counts, &FitOptions::default()).unwrap().sigmoid;
                let warm = Warm::new(method, [at.w1 * SCORE_SCALE, at.w2], &x);
                let mut drawn = Drawn::default();
                // near samples, some further off, and some that need the search
                for (seed, shift) in [(2, 0.0), (3, 0.02), (4, -0.1), (5, 0.5), (6, 3.0), (7, -0.8)] {
                    let (_, cells, counts) = samples(seed, shift, far);
                    drawn.take(&x, &cells);
                    let ours = warm.fit(&mut drawn).unwrap();
                    let theirs = fit_counts(method, &counts, &FitOptions::default()).unwrap().sigmoid;
                    let (a, b) = ((ours.w1 / theirs.w1 - 1.0).abs(), (ours.w2 - theirs.w2).abs());
                    assert!(a < 1e-8 && b < 1e-8, "{method} {far} {shift}: {ours:?} {theirs:?}");
                }
            }
        }
    }

    #[test]
    fn the_expansion_leaves_little_to_newton() {
        let (x, _, counts) = samples(1, 0.0, false);
        for method in Method::ALL {
            let at = fit_counts(method, &counts, &FitOptions::default()).unwrap().sigmoid;
            let warm = Warm::new(method, [at.w1 * SCORE_SCALE, at.w2], &x);
            let (_, cells, counts) = samples(2, 0.02, false);
            let mut drawn = Drawn::default();
            drawn.take(&x, &cells);
            let begin = warm.expand(&drawn).unwrap();
            let there = fit_counts(method, &counts, &FitOptions::default()).unwrap().sigmoid;
            let left = [begin[0] - there.w1 * SCORE_SCALE, begin[1] - there.w2];
            let step = [warm.at[0] - there.w1 * SCORE_SCALE, warm.at[1] - there.w2];
            assert!(warm.size(left) < 0.01 * warm.size(step), "{method}: {left:?} of {step:?}");
        }
    }

    #[test]
    fn what_determines_no_curve_has_none() {
        let x = [-1.0, 0.0, 1.0];
        let warm = Warm::new(Method::MaximumLikelihood, [1.0, 0.0], &x);
        let mut drawn = Drawn::default();
        let cell = |n: u64, doubled: u64| (n << 32) + doubled;
        for cells in [
            [cell(5, 0), cell(0, 0), cell(5, 10)],
            [cell(5, 10), cell(5, 10), cell(5, 10)],
            [cell(0, 0), cell(0, 0), cell(0, 0)],
            [cell(5, 0), cell(4, 4), cell(3, 6)],
        ] {
            drawn.take(&x, &cells);
            assert_eq!(warm.fit(&mut drawn), None, "{cells:?}");
        }
        drawn.take(&x, &[cell(5, 2), cell(4, 4), cell(5, 8)]);
        assert!(warm.fit(&mut drawn).is_some());
    }
}
