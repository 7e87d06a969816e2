//! The likelihood of a result where a share of the results follows no score: P = low + (1 - low - high) σ(z).
//!
//! Wichmann and Hill, *The psychometric function: I. Fitting, sampling, and goodness of fit*, Perception &
//! Psychophysics 2001.

use crate::vector::{self, BLOCK, Logistics};

/// Largest derivative that is passed on; 1/P overflows where a score contradicts the result by hundreds of logits.
const LARGEST: f64 = 1e150;

/// Derivatives of a result by the logit and the shared parameters, up to [`BLOCK`] of them: those of one result with
/// the same share of lapses on both sides, or of wins, draws and losses apart.
pub(crate) struct Points {
    logistics: Logistics,
    /// of draws, the side that lost
    losses: Logistics,
    won: [f64; BLOCK],
    lost: [f64; BLOCK],
    pub loss: [f64; BLOCK],
    /// by the logit, the share of lapses, the share drawn at any score, and the width of the draws
    pub first: [[f64; BLOCK]; PARAMETERS],
    /// by two of them, see [`second`]
    pub second: [[f64; BLOCK]; TWICE],
}

/// Parameters of a result.
pub(crate) const PARAMETERS: usize = 4;
/// Pairs of them.
const TWICE: usize = PARAMETERS * (PARAMETERS + 1) / 2;

/// The place of the derivative by two parameters among those of [`Points::second`].
pub(crate) const fn second(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (j, i) } else { (i, j) };
    i * (i + 1) / 2 + j
}

/// The shares that all results of a fit have in common.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Common {
    /// won, and lost, whatever the score; `None` if it is not estimated, and 0
    pub(crate) lapse: Option<f64>,
    /// drawn whatever the score, and half the width of the other draws; `None` if a draw is half a win
    pub(crate) draws: Option<[f64; 2]>,
}

impl Points {
    pub(crate) fn new() -> Self {
        let zero = [0.0; BLOCK];
        let logistics = Logistics::new;
        let [logistics, losses] = [logistics(), logistics()];
        Self { logistics, losses, won: zero, lost: zero, loss: zero, first: [zero; _], second: [zero; _] }
    }

    /// Without an estimated share of lapses there are no derivatives by it.
    pub(crate) fn at(&mut self, z: &[f64], common: Common, results: &[f64]) {
        let n = z.len().min(BLOCK);
        if let Some(draws) = common.draws {
            return self.with_draws(&z[..n], common.lapse, draws, &results[..n]);
        }
        self.logistics.at(&z[..n]);
        let results = &results[..n];
        let Some(lapse) = common.lapse else { return self.without(z, results) };
        with_lapse(self, results, &lapse);
        if lapse > 0.0 {
            let (won, lost) = (&mut self.won[..n], &mut self.lost[..n]);
            vector::log(won);
            vector::log(lost);
            for (i, loss) in self.loss[..n].iter_mut().enumerate() {
                *loss = -(results[i] * won[i] + (1.0 - results[i]) * lost[i]);
            }
            return;
        }
        self.without(z, results);
    }

    /// Without lapses: stable where P rounds to 0 or 1.
    fn without(&mut self, z: &[f64], results: &[f64]) {
        let n = results.len();
        let (p, q) = (&self.logistics.p[..n], &self.logistics.q[..n]);
        let (by_z, zz) = (&mut self.first[0][..n], &mut self.second[0][..n]);
        for i in 0..n {
            by_z[i] = (1.0 - results[i]) * p[i] - results[i] * q[i];
            zz[i] = p[i] * q[i];
        }
        self.logistics.losses(&z[..n], results, &mut self.loss);
    }

    /// Wins with probability λ + B σ(z - δ), losses with λ + B σ(-z - δ), draws with ν + B (1 - σ(z - δ) - σ(-z - δ)),
    /// B = 1 - 2 λ - ν.
    fn with_draws(&mut self, z: &[f64], lapse: Option<f64>, [drawn, width]: [f64; 2], results: &[f64]) {
        let n = z.len();
        let lambda = lapse.unwrap_or(0.0);
        let body = 1.0 - 2.0 * lambda - drawn;
        // a loss is a win of the other side
        let t = &mut self.lost[..n];
        for i in 0..n {
            t[i] = if results[i] == 0.0 { -z[i] } else { z[i] } - width;
        }
        self.logistics.at(t);
        one_side(self, results, &[lambda, body]);
        let Self { logistics, won, lost, loss, .. } = self;
        let (t, p_of) = (&mut lost[..n], &mut won[..n]);
        if lambda > 0.0 {
            vector::log(p_of);
            loss[..n].iter_mut().zip(&*p_of).for_each(|(loss, log)| *loss = -log);
        } else {
            let constant = libm::log(body);
            logistics.losses(t, &[1.0; BLOCK][..n], loss);
            loss[..n].iter_mut().for_each(|loss| *loss -= constant);
        }
        self.draws(z, lambda, [drawn, width], results);
    }

    /// The draws among results with draws.
    fn draws(&mut self, z: &[f64], lambda: f64, [drawn, width]: [f64; 2], results: &[f64]) {
        let body = 1.0 - 2.0 * lambda - drawn;
        let apart = -libm::expm1(-2.0 * width);
        let Self { logistics: wins, losses, won, lost, loss, first: by, second: twice } = self;
        let (mut of, mut n) = ([0; BLOCK], 0);
        for i in (0..z.len()).filter(|i| results[*i] == 0.5) {
            (of[n], won[n], lost[n]) = (i, z[i] - width, -z[i] - width);
            n += 1;
        }
        wins.at(&won[..n]);
        losses.at(&lost[..n]);
        let p_of = &mut won[..n];
        for (k, (i, p_of)) in of[..n].iter().zip(&mut *p_of).enumerate() {
            let (win, win_q, lose, lose_q) = (wins.p[k], wins.q[k], losses.p[k], losses.q[k]);
            let (a, c) = (win * win_q, lose * lose_q);
            let (bend_a, bend_c) = (a * (win_q - win), c * (lose_q - lose));
            let even = win_q * lose_q * apart;
            let p = (drawn + body * even).max(1.0 / LARGEST);
            *p_of = p;
            let r = 1.0 / p;
            let first = [body * (c - a), -2.0 * even, 1.0 - even, body * (a + c)].map(|of| of * r);
            let of_p = [
                body * (-bend_a - bend_c),
                -2.0 * (c - a),
                0.0,
                a - c,
                0.0,
                0.0,
                body * (bend_a - bend_c),
                -2.0 * (a + c),
                -(a + c),
                body * (-bend_a - bend_c),
            ];
            let of_p = of_p.map(|of| of * r);
            put(by, twice, *i, first, of_p);
        }
        vector::log(p_of);
        of[..n].iter().zip(&*p_of).for_each(|(i, log)| loss[*i] = -log);
    }
}

vector::wide! {
    /// The shares won and lost with lapses, and the derivatives.
    with_lapse(points: &mut Points; results: &[f64], lapse: &f64) {
        let (n, lapse) = (results.len(), *lapse);
        let (p, q) = (&points.logistics.p[..n], &points.logistics.q[..n]);
        let slope = 1.0 - 2.0 * lapse;
        let (won, lost) = (&mut points.won[..n], &mut points.lost[..n]);
        let [by_z, by_share, ..] = points.first.each_mut().map(|values| &mut values[..n]);
        let [zz, both, shares, ..] = points.second.each_mut().map(|values| &mut values[..n]);
        for i in 0..n {
            let (p, q, result) = (p[i], q[i], results[i]);
            let (win, loss) = ((lapse + slope * p).max(1.0 / LARGEST), (lapse + slope * q).max(1.0 / LARGEST));
            (won[i], lost[i]) = (win, loss);
            let (to_win, to_loss) = (result / win, (1.0 - result) / loss);
            let by = to_loss - to_win;
            let curvature = (to_win / win + to_loss / loss).min(LARGEST);
            // the derivatives of the probability of a win
            let (rise, share) = (slope * p * q, q - p);
            by_z[i] = by * rise;
            by_share[i] = by * share;
            zz[i] = curvature * rise * rise + by * rise * share;
            both[i] = curvature * rise * share - 2.0 * by * p * q;
            shares[i] = curvature * share * share;
        }
    }

    /// P of one side and the derivatives, where draws are apart; `shares` are λ and B.
    one_side(points: &mut Points; results: &[f64], shares: &[f64; 2]) {
        let (n, [lambda, body]) = (results.len(), *shares);
        let p_of = &mut points.won[..n];
        let [by_z, by_lambda, by_drawn, by_width] = points.first.each_mut().map(|values| &mut values[..n]);
        let [zz, zl, ll, zd, ld, dd, zw, lw, dw, ww] = points.second.each_mut().map(|values| &mut values[..n]);
        let (win, lose) = (&points.logistics.p[..n], &points.logistics.q[..n]);
        for i in 0..n {
            let (a, other) = (win[i], lose[i]);
            let (rise, sign) = (a * other, if results[i] == 0.0 { -1.0 } else { 1.0 });
            let p = (lambda + body * a).max(1.0 / LARGEST);
            p_of[i] = p;
            let r = 1.0 / p;
            // the derivatives of P over P by t = z - δ, λ and ν, and of that by t without B; P itself may be too small
            // for a double
            let (by_t, l, d, bend) = match lambda > 0.0 {
                true => (body * rise * r, (other - a) * r, -a * r, rise * r),
                false => (other, (other - a) * r, -1.0 / body, other / body),
            };
            (by_z[i], by_lambda[i], by_drawn[i], by_width[i]) = (-sign * by_t, -l, -d, by_t);
            let (tt, tl, td) = (by_t * (by_t - (other - a)), by_t * l + 2.0 * bend, by_t * d + bend);
            (zz[i], zw[i], ww[i]) = (tt, -sign * tt, tt);
            (zl[i], lw[i], ll[i]) = (sign * tl, -tl, (l * l).min(LARGEST));
            (zd[i], dw[i], dd[i]) = (sign * td, -td, (d * d).min(LARGEST));
            ld[i] = (l * d).clamp(-LARGEST, LARGEST);
        }
    }
}

/// Writes the derivatives of -ln P from those of P over P.
#[inline(always)]
fn put(
    by: &mut [[f64; BLOCK]; PARAMETERS],
    twice: &mut [[f64; BLOCK]; TWICE],
    i: usize,
    first: [f64; PARAMETERS],
    of_p: [f64; TWICE],
) {
    for a in 0..PARAMETERS {
        by[a][i] = -first[a];
        for b in 0..=a {
            twice[second(a, b)][i] = (first[a] * first[b]).clamp(-LARGEST, LARGEST) - of_p[second(a, b)];
        }
    }
}

/// Bins of the win rate in which [`drawn_share`] counts.
const BINS: usize = 64;
/// Halvings by which it narrows a range: as far as doubles go.
const HALVES: u32 = 56;

/// The part of the share of lapses 2ε that is games drawn at any score, by maximum likelihood. `results` has win rates
/// without lapses and results. Of a share 2ε, δ is drawn and the rest is decided by a coin; the other games follow the
/// score, s, and are drawn with probability 2 D min(s, 1 - s), which leaves the expected result as it is.
pub(crate) fn drawn_share(results: impl Iterator<Item = (f64, f64)>, lapse: f64) -> f64 {
    // the sum of win rates, losses, draws and wins
    let mut bins = [(0.0, [0.0; 3]); BINS];
    for (rate, result) in results {
        let bin = &mut bins[((rate * BINS as f64) as usize).min(BINS - 1)];
        bin.0 += rate;
        bin.1[(2.0 * result) as usize] += 1.0;
    }
    if lapse <= 0.0 || bins.iter().all(|(_, [_, draws, _])| *draws == 0.0) {
        return 0.0;
    }
    let body = 1.0 - 2.0 * lapse;
    // the log likelihood is concave in δ and D; its derivatives, of losses, draws and wins
    let derivatives = |drawn: f64, even: f64| -> [f64; 2] {
        let coin = lapse - 0.5 * drawn;
        let (mut by_drawn, mut by_even) = (0.0, 0.0);
        for (sum, counts) in &bins {
            let n: f64 = counts.iter().sum();
            let rate = if n > 0.0 { sum / n } else { 0.5 };
            let least = rate.min(1.0 - rate);
            let half = even * least;
            let p = [coin + body * (1.0 - rate - half), drawn + 2.0 * body * half, coin + body * (rate - half)];
            let [losses, draws, wins] =
                [0, 1, 2].map(|k| if counts[k] > 0.0 { counts[k] / p[k].max(1.0 / LARGEST) } else { 0.0 });
            let change = draws - 0.5 * (losses + wins);
            by_drawn += change;
            by_even += 2.0 * body * least * change;
        }
        [by_drawn, by_even]
    };
    // where a falling function is 0, or the end next to that: its sign is known where differences of the likelihood are
    // lost in rounding
    let root = |to: f64, of: &dyn Fn(f64) -> f64| {
        let (mut low, mut high) = (0.0, to);
        if of(low) <= 0.0 {
            return low;
        }
        if of(high) >= 0.0 {
            return high;
        }
        for _ in 0..HALVES {
            let middle = 0.5 * (low + high);
            if of(middle) > 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    };
    // at the best D the derivative of the profile is that by δ alone
    let profile = |drawn: f64| derivatives(drawn, root(1.0, &|even| derivatives(drawn, even)[1]))[0];
    root(2.0 * lapse, &profile)
}

#[cfg(test)]
mod tests {
    use evalcurve_calibration::logistic::Logistic;

    use super::*;

    /// Negative log likelihood of one result in nats, with its derivatives by (z, low, high).
    #[derive(Debug, Clone, Copy)]
    struct Point {
        loss: f64,
        first: [f64; 3],
        second: [[f64; 3]; 3],
    }

    impl Point {
        /// At a logit z, with the shares of games won (`low`) and lost (`high`) whatever the score. `result` is 1, 0.5
        /// or 0.
        fn at(z: f64, [low, high]: [f64; 2], result: f64) -> Self {
            let Logistic { p, q, minus_log_p, minus_log_q } = Logistic::at(z);
            let slope = 1.0 - low - high;
            // both without cancellation
            let (win, loss) = (low + slope * p, high + slope * q);
            let (to_win, to_loss) = (result / win.max(1.0 / LARGEST), (1.0 - result) / loss.max(1.0 / LARGEST));
            // first and second derivatives by P
            let by = to_loss - to_win;
            let curvature = (to_win / win.max(1.0 / LARGEST) + to_loss / loss.max(1.0 / LARGEST)).min(LARGEST);
            let of = [slope * p * q, q, -p];
            let mut first = of.map(|d| by * d);
            let mut second = of.map(|a| of.map(|b| curvature * a * b));
            let cross = by * -p * q;
            second[0][0] += by * slope * p * q * (q - p);
            second[0][1..].iter_mut().for_each(|entry| *entry += cross);
            second[1..].iter_mut().for_each(|row| row[0] += cross);
            let loss = if low == 0.0 && high == 0.0 {
                // stable where P rounds to 0 or 1
                first[0] = (1.0 - result) * p - result * q;
                second[0][0] = p * q;
                result * minus_log_p + (1.0 - result) * minus_log_q
            } else {
                -(result * libm::log(win) + (1.0 - result) * libm::log(loss))
            };
            Self { loss, first, second }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_loss() {
        for result in [0.0, 0.5, 1.0] {
            for at in [[-3.0, 0.02, 0.05], [0.3, 0.01, 0.01], [6.0, 0.1, 0.003], [1.0, 0.0, 0.0]] {
                let point = |at: [f64; 3]| Point::at(at[0], [at[1], at[2]], result);
                let here = point(at);
                // one-sided where a share is 0
                let inner = if at[1] == 0.0 { 1 } else { 3 };
                for i in 0..inner {
                    let shifted = |h: f64| {
                        let mut to = at;
                        to[i] += h;
                        point(to)
                    };
                    let (up, down) = (shifted(1e-6), shifted(-1e-6));
                    let slope = (up.loss - down.loss) / 2e-6;
                    assert!((slope - here.first[i]).abs() < 1e-5 * slope.abs().max(1.0), "{at:?} {i}");
                    for j in 0..inner {
                        let slope = (up.first[j] - down.first[j]) / 2e-6;
                        assert!((slope - here.second[i][j]).abs() < 1e-4 * slope.abs().max(1.0), "{at:?} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_points_are_those_of_each() {
        let (z, mut points) = ([-900.0, -30.0, -1.5, 0.0, 0.3, 12.0, 900.0], Points::new());
        for (result, lapse) in [0.0, 0.5, 1.0].into_iter().flat_map(|r| [0.0, 0.004, 0.3].map(|l| (r, l))) {
            points.at(&z, Common { lapse: Some(lapse), draws: None }, &[result; 7]);
            let mut plain = Points::new();
            plain.at(&z, Common::default(), &[result; 7]);
            if lapse == 0.0 {
                assert_eq!(
                    (plain.loss, plain.first[0], plain.second[0]),
                    (points.loss, points.first[0], points.second[0])
                );
            }
            for (i, z) in z.into_iter().enumerate() {
                let one = Point::at(z, [lapse; 2], result);
                let same =
                    |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * b.abs().max(1e-200), "{z} {lapse}: {a} {b}");
                same(points.loss[i], one.loss);
                same(points.first[0][i], one.first[0]);
                same(points.first[1][i], one.first[1] + one.first[2]);
                same(points.second[0][i], one.second[0][0]);
                same(points.second[1][i], one.second[0][1] + one.second[0][2]);
                same(points.second[2][i], one.second[1..].iter().flat_map(|row| &row[1..]).sum());
            }
        }
    }

    #[test]
    fn derivatives_with_draws_are_those_of_the_loss() {
        let mut checked = 0;
        for result in [0.0, 0.5, 1.0] {
            for at in [[-3.0, 0.02, 0.05, 0.4], [0.3, 0.01, 0.01, 5.0], [6.0, 0.1, 0.003, 2.0], [1.0, 0.0, 0.02, 0.7]] {
                let point = |at: [f64; PARAMETERS]| {
                    let mut points = Points::new();
                    let lapse = (at[1] > 0.0).then_some(at[1]);
                    points.at(&[at[0]], Common { lapse, draws: Some([at[2], at[3]]) }, &[result]);
                    (points.loss[0], points.first.map(|of| of[0]), points.second.map(|of| of[0]))
                };
                let here = point(at);
                let of = |i: usize, h: f64| {
                    let mut to = at;
                    to[i] += h;
                    point(to)
                };
                for i in (0..PARAMETERS).filter(|i| at[*i] != 0.0) {
                    let (up, down) = (of(i, 1e-6), of(i, -1e-6));
                    let slope = (up.0 - down.0) / 2e-6;
                    assert!((slope - here.1[i]).abs() < 1e-5 * slope.abs().max(1.0), "{result} {at:?} {i}");
                    for j in (0..PARAMETERS).filter(|j| at[*j] != 0.0) {
                        let slope = (up.1[j] - down.1[j]) / 2e-6;
                        let found = here.2[second(i, j)];
                        assert!(
                            (slope - found).abs() < 1e-4 * slope.abs().max(1.0),
                            "{result} {at:?} {i} {j}: {slope} {found}"
                        );
                        checked += 1;
                    }
                }
            }
        }
        assert_eq!(checked, 3 * (3 * 16 + 9));
        let chances = [0.0, 0.5, 1.0].map(|result| {
            let mut points = Points::new();
            points.at(&[0.7], Common { lapse: Some(0.03), draws: Some([0.05, 1.2]) }, &[result]);
            libm::exp(-points.loss[0])
        });
        assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{chances:?}");
        let mut points = Points::new();
        points.at(&[-900.0; 3], Common { lapse: None, draws: Some([1e-9, 1e-9]) }, &[0.0, 0.5, 1.0]);
        assert!(points.loss[..3].iter().chain(points.first.iter().flat_map(|of| &of[..3])).all(|x| x.is_finite()));
    }

    #[test]
    fn drawn_games_are_told_from_coins() {
        for (drawn, coin, even) in [(0.2, 0.0, 0.0), (0.0, 0.1, 0.3), (0.1, 0.06, 0.4), (0.0, 0.04, 0.0)] {
            let mut stream = evalcurve_words::random::Stream::new(&[77]);
            let result = |_| {
                let (rate, luck) = (stream.unit(), stream.unit());
                let half = even * rate.min(1.0 - rate);
                let body = 1.0 - drawn - 2.0 * coin;
                let wins = coin + body * (rate - half);
                let result = if luck < wins {
                    1.0
                } else if luck < wins + drawn + 2.0 * body * half {
                    0.5
                } else {
                    0.0
                };
                (rate, result)
            };
            let results: Vec<(f64, f64)> = (0..40_000).map(result).collect();
            let found = drawn_share(results.into_iter(), coin + 0.5 * drawn);
            assert!((found - drawn).abs() < 0.015, "{drawn} {coin} {even}: {found}");
        }
        assert_eq!(drawn_share([(0.5, 1.0), (0.7, 0.0)].into_iter(), 0.1), 0.0);
        assert_eq!(drawn_share([(0.5, 0.5), (0.7, 0.0)].into_iter(), 0.0), 0.0);
    }

    #[test]
    fn a_contradiction_by_hundreds_of_logits_stays_finite() {
        for low in [0.0, 1e-3] {
            let point = Point::at(-900.0, [low, low], 1.0);
            assert!(point.loss.is_finite() && point.first.iter().all(|d| d.is_finite()), "{point:?}");
            assert!(point.second.iter().flatten().all(|d| d.is_finite()), "{point:?}");
        }
    }
}
