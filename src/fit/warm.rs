//! A fit to samples that differ little from others whose curve is known: a few Newton steps without a search.

use super::Method;
use super::sigmoid::{Logistic, Sigmoid};
use super::solve::{MAX_PASSES, Objective, Row, SCORE_SCALE, inverse};

/// A Newton step that moves the logits of typical scores by no more than this is the last one: what remains is of the
/// order of its square.
const LAST_STEP: f64 = 1e-5;

/// Newton steps tried before the search that damps them takes over.
const MOST_STEPS: usize = 6;

/// The longest step that is taken undamped, as a change of the logits of typical scores.
const LONGEST_STEP: f64 = 1.5;

/// Samples by distinct score: sums of results, with draws half, and counts.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// index of the score among all
    index: Vec<u32>,
    /// scores in thousands of centipawns, ascending
    x: Vec<f64>,
    wins: Vec<f64>,
    totals: Vec<f64>,
}

impl Drawn {
    /// Takes cells (samples in the upper 32 bits, doubled results in the lower), those that hold samples.
    pub fn take(&mut self, x: &[f64], cells: &[u64]) {
        self.index.clear();
        self.x.clear();
        self.wins.clear();
        self.totals.clear();
        for (i, (&x, &cell)) in x.iter().zip(cells).enumerate() {
            if cell != 0 {
                self.index.push(i as u32);
                self.x.push(x);
                self.wins.push(0.5 * f64::from(cell as u32));
                self.totals.push(f64::from((cell >> 32) as u32));
            }
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

/// Where the searches begin, with the curve there by distinct score.
#[derive(Debug)]
pub(super) struct Warm {
    method: Method,
    at: [f64; 2],
    /// win rates at `at` of all distinct scores
    rates: Vec<f64>,
    /// root mean square of the distinct scores that fits see most; judges steps only
    spread: f64,
}

impl Warm {
    /// `at` is (a, b) of the logit a x - b, x in thousands of centipawns.
    pub fn new(method: Method, at: [f64; 2], x: &[f64]) -> Self {
        let rates: Vec<f64> = x.iter().map(|x| Logistic::at(at[0] * x - at[1]).p).collect();
        // far scores have a win rate of 0 or 1 that no step moves
        let (mut weights, mut squares) = (0.0, 0.0);
        for (x, p) in x.iter().zip(&rates) {
            let weight = p * (1.0 - p);
            weights += weight;
            squares += weight * x * x;
        }
        let spread = if weights > 0.0 { (squares / weights).sqrt() } else { 1.0 };
        Self { method, at, rates, spread }
    }

    /// The curve of a resample; `None` where it determines none or no search converges.
    pub fn fit(&self, drawn: &Drawn) -> Option<Sigmoid> {
        if drawn.undetermined() {
            return None;
        }
        self.newton(drawn).or_else(|| self.search(drawn))
    }

    fn newton(&self, drawn: &Drawn) -> Option<Sigmoid> {
        let mut at = self.at;
        for pass in 0..MOST_STEPS {
            let [ga, gb, haa, hab, hbb] = if pass == 0 {
                self.sums(drawn, |i, _| self.rates[drawn.index[i] as usize])
            } else {
                self.sums(drawn, |_, x| {
                    // exp(-|z|) cannot overflow
                    let z = at[0] * x - at[1];
                    let e = libm::exp(-z.abs());
                    (if z >= 0.0 { 1.0 } else { e }) / (1.0 + e)
                })
            };
            let h = inverse(&[[haa, hab], [hab, hbb]])?;
            let step = [-(h[0][0] * ga + h[0][1] * gb), -(h[1][0] * ga + h[1][1] * gb)];
            let size = step[0].abs() * self.spread + step[1].abs();
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

    /// Gradient and Hessian of the summed loss by (a, b); `rate` gives the win rate of a row.
    fn sums(&self, drawn: &Drawn, rate: impl Fn(usize, f64) -> f64) -> [f64; 5] {
        let mut s = [0.0; 5];
        let rows = drawn.x.iter().zip(&drawn.wins).zip(&drawn.totals).enumerate();
        let mut add = |x: f64, first: f64, second: f64| {
            s[0] += first * x;
            s[1] -= first;
            s[2] += second * x * x;
            s[3] -= second * x;
            s[4] += second;
        };
        match self.method {
            Method::MaximumLikelihood => rows.for_each(|(i, ((&x, &k), &n))| {
                let p = rate(i, x);
                add(x, n * p - k, n * p * (1.0 - p));
            }),
            // d/dz of Σ (p - y)² = 2 pq (n p - k), and d²/dz² = 2 pq (n pq + (n p - k)(1 - 2p)); the factor 2 cancels
            Method::LeastSquares => rows.for_each(|(i, ((&x, &k), &n))| {
                let p = rate(i, x);
                let (pq, miss) = (p * (1.0 - p), n * p - k);
                add(x, pq * miss, pq * (n * pq + miss * (1.0 - 2.0 * p)));
            }),
        }
        s
    }

    /// The way of every other fit, from the same start.
    fn search(&self, drawn: &Drawn) -> Option<Sigmoid> {
        let rows = drawn.x.iter().zip(&drawn.wins).zip(&drawn.totals);
        // a draw is half a win and half a loss: the loss by squares differs by a constant
        let row = |((&x, &k), &n): ((&f64, &f64), &f64)| Row { x, wins: k, draws: 0.0, losses: n - k };
        let objective = Objective::new(self.method, rows.map(row).collect());
        let found = objective.polish(self.at, MAX_PASSES).or_else(|_| objective.minimise(self.at));
        found.ok().map(|minimum| minimum.sigmoid())
    }
}
