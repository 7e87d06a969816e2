//! A fit to samples that differ little from others whose curve is known: without a search, and with few exponentials.
//!
//! The gradient of the loss is expanded around the known curve to the third power of the change of the logits. Its
//! coefficients are sums over the samples, which each game has once for all resamples. Where the expansion has its
//! zero, and leaves out too much, true Newton steps begin, and mostly one is enough: the result is that of any other
//! search, to its tolerance.

use evalcurve_calibration::logistic::logistic;
use evalcurve_calibration::{Method, Sigmoid};

use super::objective::{MAX_PASSES, Objective, SCORE_SCALE};
use super::score_row::ScoreRow;
use super::search::Search;
use super::symmetric::inverse;
use crate::vector;

/// A Newton step that moves the logits of typical scores by no more than this is the last one: what remains is of the
/// order of its square.
const LAST_STEP: f64 = 1e-4;

/// What the expansion leaves out moves the logits of typical scores by less than this, where it is all that is used.
const NEGLIGIBLE: f64 = 1e-8;

/// Newton steps tried before the damped search is used.
const MOST_STEPS: usize = 10;

/// The longest step that is taken undamped, as a change of the logits of typical scores.
const LONGEST_STEP: f64 = 1.5;

/// Derivatives of the loss that the expansion uses. `diagnose` of 9,307 games of floodgate takes 3.51, 3.48 and 3.59
/// CPU-seconds with 3, 4 and 5.
const ORDERS: usize = 4;

/// Sums of the expansion: of the j-th derivative, j from 0, times x^0 to x^(j+1).
const TERMS: usize = ORDERS * (ORDERS + 3) / 2;

/// The coefficients of the expansion, which add up over samples.
type Terms = [f64; TERMS];

/// The place of the j-th derivative times x^i.
const fn place(j: usize, i: usize) -> usize {
    j * (j + 3) / 2 + i
}

/// Changes of a logit up to this go through the series of the exponential: its tenth term is below 3e-10.
const SERIES: f64 = 0.5;

/// Samples of one score: its index among all, with a cell.
pub(super) type Sample = (u32, u64);

/// One sample in a cell: the samples are in the upper half, their doubled results in the lower.
pub(super) const ONE: u64 = 1 << 32;

/// The sum of the results of a cell, with draws half, and its samples.
pub(super) fn results(cell: u64) -> (f64, f64) {
    (0.5 * f64::from(cell as u32), f64::from((cell >> 32) as u32))
}

fn sigmoid(at: [f64; 2]) -> Sigmoid {
    Sigmoid { w1: at[0] / SCORE_SCALE, w2: at[1] }
}

/// A resample: games, and samples by distinct score as sums of results and counts.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// how often each game was drawn
    pub games: Vec<u32>,
    /// cells by distinct score
    pub cells: Vec<u64>,
    /// whether the lists below are those of the cells
    pub taken: bool,
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
    /// Takes the cells that are not empty.
    fn take(&mut self, x: &[f64]) {
        if std::mem::replace(&mut self.taken, true) {
            return;
        }
        let all = self.cells.len();
        self.index.resize(all, 0);
        for list in [&mut self.x, &mut self.wins, &mut self.totals] {
            list.resize(all, 0.0);
        }
        // whether a cell is empty is random, so a branch would be mispredicted
        let mut rows = 0;
        for (i, (&x, &cell)) in x.iter().zip(&self.cells).enumerate() {
            self.index[rows] = i as u32;
            self.x[rows] = x;
            (self.wins[rows], self.totals[rows]) = results(cell);
            rows += usize::from(cell != 0);
        }
        // rows without samples fill the last lanes
        let (all, last) = (rows.next_multiple_of(LANES), rows.saturating_sub(1));
        let (index, x) = (self.index.get(last).copied().unwrap_or(0), self.x.get(last).copied().unwrap_or(0.0));
        self.index.truncate(rows);
        self.index.resize(all, index);
        for (list, filling) in [(&mut self.x, x), (&mut self.wins, 0.0), (&mut self.totals, 0.0)] {
            list.truncate(rows);
            list.resize(all, filling);
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
}

/// Where the searches begin, with the curve there by distinct score.
#[derive(Debug)]
pub(super) struct Warm {
    method: Method,
    at: [f64; 2],
    /// exp(-z) of the logit z of each score
    e: Vec<f64>,
    /// root mean square of the scores that the curve depends on, to judge steps by
    spread: f64,
    /// the coefficients of the expansion, of each game
    games: Vec<Terms>,
}

impl Warm {
    /// `at` is (a, b) of the logit a x - b, x in thousands of centipawns.
    pub(crate) fn new<'a>(method: Method, at: [f64; 2], x: &[f64], games: impl Iterator<Item = &'a [Sample]>) -> Self {
        let (a, b) = derivatives(method);
        let logit = |x: f64| at[0] * x - at[1];
        let start = |&x: &f64| {
            let p = logistic(logit(x));
            let value = |polynomial: &Vec<f64>| polynomial.iter().rev().fold(0.0, |sum, c| sum * p + c);
            Start { a: std::array::from_fn(|j| value(&a[j])), b: std::array::from_fn(|j| value(&b[j])) }
        };
        let (mut weights, mut squares) = (0.0, 0.0);
        for x in x {
            let weight = logistic(logit(*x)) * logistic(-logit(*x));
            weights += weight;
            squares += weight * x * x;
        }
        let spread = if weights > 0.0 { (squares / weights).sqrt() } else { 1.0 };
        // beyond ±700 it would overflow; such scores have a win rate of 0 or 1 all the same
        let e = x.iter().map(|x| libm::exp(-logit(*x).clamp(-700.0, 700.0))).collect();
        let starts: Vec<Start> = x.iter().map(start).collect();
        Self { method, at, e, spread, games: games.map(|samples| terms(&starts, x, samples)).collect() }
    }

    /// The curve of a resample; `None` where it determines no curve or no search converges.
    pub(crate) fn fit(&self, x: &[f64], drawn: &mut Drawn) -> Option<Sigmoid> {
        let (begin, beyond) = self.expand(&drawn.games).unwrap_or((self.at, f64::INFINITY));
        // a minimum this near shows that there is one
        if beyond <= NEGLIGIBLE {
            return Some(sigmoid(begin));
        }
        drawn.take(x);
        if drawn.undetermined() {
            return None;
        }
        self.newton(drawn, begin).or_else(|| self.search(drawn))
    }

    fn size(&self, step: [f64; 2]) -> f64 {
        step[0].abs() * self.spread + step[1].abs()
    }

    /// Where the expansion of the gradient is 0, and about how far from there the gradient itself is, as a change of
    /// the logits of typical scores; `None` where that is too far away.
    fn expand(&self, games: &[u32]) -> Option<([f64; 2], f64)> {
        let mut sums = [0.0; TERMS];
        add_times(&mut sums, games, &self.games);
        let mut step = [0.0, 0.0];
        for _ in 0..8 {
            // (da x - db)^q / q! as coefficients of x^r
            let mut powers = [[0.0; ORDERS]; ORDERS];
            powers[0][0] = 1.0;
            for q in 1..ORDERS {
                for r in 0..q + 1 {
                    let (from, raised) = (powers[q - 1][r], if r > 0 { powers[q - 1][r - 1] } else { 0.0 });
                    powers[q][r] = (step[0] * raised - step[1] * from) / q as f64;
                }
            }
            let moment =
                |j: usize, i: usize, q: usize| (0..q + 1).map(|r| powers[q][r] * sums[place(j, i + r)]).sum::<f64>();
            // the gradient and its derivatives
            let along = |i: usize, from: usize| (from..ORDERS).map(|j| moment(j, i, j - from)).sum::<f64>();
            let (haa, hab, hbb) = (along(2, 1), -along(1, 1), along(0, 1));
            let h = inverse(&[[haa, hab], [hab, hbb]])?;
            let to = |ga: f64, gb: f64| [-(h[0][0] * ga + h[0][1] * gb), -(h[1][0] * ga + h[1][1] * gb)];
            let more = to(along(1, 0), -along(0, 0));
            step = [step[0] + more[0], step[1] + more[1]];
            let size = self.size(step);
            if size.is_nan() || size > LONGEST_STEP {
                return None;
            }
            if self.size(more) < 1e-8 {
                let last = to(moment(ORDERS - 1, 1, ORDERS - 1), -moment(ORDERS - 1, 0, ORDERS - 1));
                return Some(([self.at[0] + step[0], self.at[1] + step[1]], size * self.size(last)));
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
            // the likelihood is convex: shorter steps lead to its one minimum all the same
            let is_convex = self.method == Method::MaximumLikelihood;
            if size.is_nan() || (size > LONGEST_STEP && !is_convex) {
                return None;
            }
            let length = (LONGEST_STEP / size).min(1.0);
            at = [at[0] + length * step[0], at[1] + length * step[1]];
            if size <= LAST_STEP {
                return Some(sigmoid(at));
            }
        }
        None
    }

    /// The win rates at a curve.
    fn rates(&self, drawn: &mut Drawn, at: [f64; 2]) {
        let (da, db) = (at[0] - self.at[0], at[1] - self.at[1]);
        drawn.rates.clear();
        // exp(-z) of the known curve, for the loop below
        drawn.rates.extend(drawn.index.iter().map(|&i| self.e.get(i as usize).copied().unwrap_or(0.0)));
        // the change of the logit rises or falls with the score, so that it is small in between two borders
        let rising = |x: &f64| if da < 0.0 { db - da * x } else { da * x - db };
        let low = drawn.x.partition_point(|x| rising(x) < -SERIES);
        let high = drawn.x.partition_point(|x| rising(x) <= SERIES);
        rates_near(&mut drawn.rates[low..high], &drawn.x[low..high], &[da, db]);
        for far in [0..low, high..drawn.x.len()] {
            let (rates, x) = (&mut drawn.rates[far.clone()], &drawn.x[far]);
            rates.iter_mut().zip(x).for_each(|(rate, x)| *rate = at[0] * x - at[1]);
            vector::logistic(rates);
        }
    }

    /// Gradient and Hessian of the summed loss by (a, b).
    fn sums(&self, drawn: &Drawn) -> [f64; 5] {
        let mut sums = [[0.0; LANES]; 5];
        let Drawn { x, rates, wins, totals, .. } = drawn;
        match self.method {
            Method::MaximumLikelihood => likelihood_sums(&mut sums, x, rates, wins, totals),
            Method::LeastSquares => squares_sums(&mut sums, x, rates, wins, totals),
        }
        sums.map(|lanes| lanes.iter().sum())
    }

    /// The general search, from the same start.
    fn search(&self, drawn: &Drawn) -> Option<Sigmoid> {
        let rows = drawn.x.iter().zip(&drawn.wins).zip(&drawn.totals);
        // a draw is half a win and half a loss: the loss by squares differs by a constant
        let row = |((&x, &k), &n): ((&f64, &f64), &f64)| ScoreRow { x, wins: k, draws: 0.0, losses: n - k };
        // the rows that fill the lanes have no samples
        let objective = Objective::new(self.method, rows.map(row).filter(|row| row.total() > 0.0).collect());
        // of 59,758 resamples of floodgate whose squares come here, 46,639 have a minimum, and 158 more by argmin from
        // the same start, 125 of these as a step from 0 to 1 between two scores
        let found = Search::new(&objective).polish(&self.at, MAX_PASSES);
        found.ok().map(|minimum| minimum.sigmoid())
    }
}

/// The coefficients of samples of one game.
fn terms(starts: &[Start], x: &[f64], samples: &[Sample]) -> Terms {
    let mut sums = [0.0; TERMS];
    for &(index, cell) in samples {
        let (Some(start), Some(&x)) = (starts.get(index as usize), x.get(index as usize)) else { continue };
        let (k, n) = results(cell);
        for j in 0..ORDERS {
            let mut term = n * start.a[j] - k * start.b[j];
            for sum in &mut sums[place(j, 0)..place(j + 1, 0)] {
                *sum += term;
                term *= x;
            }
        }
    }
    sums
}

/// Rows that are added up side by side. Their number is fixed, and with it the bits of the sums.
const LANES: usize = 4;

/// Gradient and Hessian, each in parts.
type Sums = [[f64; LANES]; 5];

/// Adds to gradient and Hessian by (a, b) what the first two derivatives by the logit make of each row. The lists have
/// whole numbers of [`LANES`].
#[inline(always)]
fn add_derivatives(
    sums: &mut Sums,
    x: &[f64],
    rates: &[f64],
    wins: &[f64],
    totals: &[f64],
    derivatives: impl Fn(f64, f64, f64) -> [f64; 2],
) {
    let [x, rates, wins, totals] = [x, rates, wins, totals].map(|list| list.as_chunks::<LANES>().0);
    let mut added = *sums;
    for (((x, p), k), n) in x.iter().zip(rates).zip(wins).zip(totals) {
        for lane in 0..LANES {
            let (x, [first, second]) = (x[lane], derivatives(p[lane], k[lane], n[lane]));
            added[0][lane] += first * x;
            added[1][lane] -= first;
            added[2][lane] += second * x * x;
            added[3][lane] -= second * x;
            added[4][lane] += second;
        }
    }
    *sums = added;
}

vector::wide! {
    /// Adds the coefficients of games, each so many times.
    add_times(sums: &mut Terms; times: &[u32], games: &[Terms]) {
        let mut added = *sums;
        for (&times, of_game) in times.iter().zip(games) {
            let times = f64::from(times);
            added.iter_mut().zip(of_game).for_each(|(sum, term)| *sum += times * term);
        }
        *sums = added;
    }

    /// Adds gradient and Hessian of the likelihood, by (a, b).
    likelihood_sums(sums: &mut Sums; x: &[f64], rates: &[f64], wins: &[f64], totals: &[f64]) {
        add_derivatives(sums, x, rates, wins, totals, |p, k, n| [n * p - k, n * p * (1.0 - p)]);
    }

    /// The same of half the squares: half of d/dz of Σ (p - y)², 2 pq (n p - k), and of its derivative,
    /// 2 pq (n pq + (n p - k)(1 - 2p)).
    squares_sums(sums: &mut Sums; x: &[f64], rates: &[f64], wins: &[f64], totals: &[f64]) {
        add_derivatives(sums, x, rates, wins, totals, |p, k, n| {
            let (pq, miss) = (p * (1.0 - p), n * p - k);
            [pq * miss, pq * (n * pq + miss * (1.0 - 2.0 * p))]
        });
    }

    /// 1/(1 + e exp(-(da x - db))) in place of each e, where the exponent is at most [`SERIES`].
    rates_near(rates: &mut [f64]; x: &[f64], change: &[f64; 2]) {
        let [da, db] = *change;
        for (rate, x) in rates.iter_mut().zip(x) {
            let u = db - da * x;
            let mut series = 1.0 + u / 9.0;
            for n in [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
                series = 1.0 + series * (u * (1.0 / n));
            }
            *rate = 1.0 / (1.0 + *rate * series);
        }
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

    /// A warm fit to these cells, each of which is the samples of one game.
    fn warm(method: Method, at: Sigmoid, x: &[f64], cells: &[u64]) -> (Warm, Drawn) {
        let games: Vec<Sample> = (0..).zip(cells.iter().copied()).collect();
        let warm = Warm::new(method, [at.w1 * SCORE_SCALE, at.w2], x, games.chunks(1));
        let drawn = Drawn { games: vec![1; games.len()], cells: cells.to_vec(), ..Drawn::default() };
        (warm, drawn)
    }

    #[test]
    fn the_warm_fit_is_that_of_every_other_way() {
        for method in Method::ALL {
            for far in [false, true] {
                let (x, _, counts) = samples(1, 0.0, far);
                let at = fit_counts(method, &counts, &FitOptions::default()).unwrap().sigmoid;
                // near samples, some further off, and some that need the search
                for (seed, shift) in [(2, 0.0), (3, 0.02), (4, -0.1), (5, 0.5), (6, 3.0), (7, -0.8)] {
                    let (_, cells, counts) = samples(seed, shift, far);
                    let (warm, mut drawn) = warm(method, at, &x, &cells);
                    let ours = warm.fit(&x, &mut drawn).unwrap();
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
            let (_, cells, counts) = samples(2, 0.02, false);
            let (warm, drawn) = warm(method, at, &x, &cells);
            let (begin, beyond) = warm.expand(&drawn.games).unwrap();
            let there = fit_counts(method, &counts, &FitOptions::default()).unwrap().sigmoid;
            let left = [begin[0] - there.w1 * SCORE_SCALE, begin[1] - there.w2];
            let step = [warm.at[0] - there.w1 * SCORE_SCALE, warm.at[1] - there.w2];
            assert!(warm.size(left) < 0.01 * warm.size(step), "{method}: {left:?} of {step:?}");
            assert!(warm.size(left) < beyond, "{method}: {left:?}, said to be {beyond}");
        }
    }

    #[test]
    fn what_determines_no_curve_has_none() {
        let x = [-1.0, 0.0, 1.0];
        let at = Sigmoid { w1: 1.0 / SCORE_SCALE, w2: 0.0 };
        let cell = |n: u64, doubled: u64| (n << 32) + doubled;
        let fit = |cells: [u64; 3]| {
            let (warm, mut drawn) = warm(Method::MaximumLikelihood, at, &x, &cells);
            warm.fit(&x, &mut drawn)
        };
        for cells in [
            [cell(5, 0), cell(0, 0), cell(5, 10)],
            [cell(5, 10), cell(5, 10), cell(5, 10)],
            [cell(0, 0), cell(0, 0), cell(0, 0)],
            [cell(5, 0), cell(4, 4), cell(3, 6)],
        ] {
            assert_eq!(fit(cells), None, "{cells:?}");
        }
        assert!(fit([cell(5, 2), cell(4, 4), cell(5, 8)]).is_some());
    }

    /// The expansion alone, where many games leave little beyond it.
    #[test]
    fn what_the_expansion_leaves_out_is_negligible_where_it_is_not_looked_at() {
        let (x, cells, counts) = samples(1, 0.0, false);
        for method in Method::ALL {
            let at = fit_counts(method, &counts, &FitOptions::default()).unwrap().sigmoid;
            // one score was drawn a thousandth more often than the others
            let more: Vec<u64> = (0..).zip(&cells).map(|(i, cell)| cell * if i == 350 { 1001 } else { 1000 }).collect();
            let (warm, mut drawn) = warm(method, at, &x, &more);
            let (begin, beyond) = warm.expand(&drawn.games).unwrap();
            assert!(beyond <= NEGLIGIBLE, "{method}: {beyond}");
            assert_eq!(warm.fit(&x, &mut drawn), Some(sigmoid(begin)), "{method}");
            drawn.take(&x);
            let exact = warm.newton(&mut drawn, begin).unwrap();
            let off = [begin[0] - exact.w1 * SCORE_SCALE, begin[1] - exact.w2];
            assert!(warm.size(off) <= NEGLIGIBLE, "{method}: {off:?}");
        }
    }
}
