//! Fits thresholds and spreads to counts of wins, draws and losses by score and stage.

use evalcurve_calibration::logistic::Logistic;
use evalcurve_calibration::model::{MOST_STAGE, TERMS};
use evalcurve_calibration::{Model, ModelKind, StageUnit, Wdl};

use super::UNIT;
use crate::fit::case::{Case, central_range};
use crate::fit::covariance::leveraged;
use crate::fit::error::FitError;
use crate::fit::models::fitted::ModelFit;
use crate::fit::options::FitOptions;
use crate::fit::plain::check_cases;
use crate::fit::search::{Evaluation, Loss, Minimum, minimise};
use crate::fit::symmetric::Square;
use crate::vector::{self, BLOCK, Logistics};

/// How often each outcome followed one score at one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WdlCount {
    /// Ply or material.
    pub stage: u32,
    /// Score in centipawns, or in the unit that a and b are wanted in.
    pub score_cp: i32,
    /// Won games.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Lost games.
    pub losses: u64,
}

/// The share of what all stages together have, below which a or b is next to 0. With a hundredth, 481 of 489 engines of
/// TCEC keep the calibration that complete searches give, and the others have a lower degree in a fit or a fold.
const NEXT_TO_ZERO: f64 = 0.01;

/// What the search needs of one stage.
struct Stage {
    /// powers of the centred stage
    basis: [f64; TERMS],
    draws: f64,
}

/// One score at one stage, seen from the winning or from the losing side.
struct Row {
    stage: usize,
    /// the score in units, positive where this side is ahead
    x: f64,
    /// games that this side won, and those that it won or drew
    hits: f64,
    hits_and_draws: f64,
}

/// The mean loss over a and b as polynomials of `terms` terms in the centred stage: first those of a, then of b.
struct Objective<'a> {
    stages: &'a [Stage],
    rows: &'a [Row],
    terms: usize,
    samples: f64,
    spread: Vec<f64>,
    /// a and b where all stages have the same
    flat: [f64; 2],
}

/// Below this c, 1 - e^{-2c} loses digits.
const CANCELS: f64 = 0.05;

/// The sum of a loss with its derivatives by (a, b): f, f_a, f_b, f_aa, f_ab, f_bb.
///
/// With z = (x-a)/b, v = (-x-a)/b, c = a/b: D = (1-W)(1-L)(1 - e^{-2c}), so that the loss is a sum of functions of z, v
/// and c alone.
struct Derivatives {
    a: f64,
    b: f64,
    sums: [f64; 6],
}

impl Derivatives {
    /// Of so many draws, given e^{-2c}.
    fn of_draws(a: f64, b: f64, draws: f64, e: f64) -> Self {
        let mut all = Self { a, b, sums: [0.0; 6] };
        if draws > 0.0 {
            let c = a / b;
            let gap = if c < CANCELS { -libm::expm1(-2.0 * c) } else { 1.0 - e };
            let first = -2.0 * draws * e / gap;
            all.sums[0] = -draws * libm::log(gap);
            all.chain(first, -2.0 * first / gap, [1.0 / b, -c / b, -1.0 / (b * b), 2.0 * c / (b * b)]);
        }
        all
    }

    /// z or v.
    fn logit(&self, x: f64) -> f64 {
        (x - self.a) / self.b
    }

    /// Adds a loss with its first two derivatives by z or v.
    fn add(&mut self, z: f64, [loss, first, second]: [f64; 3]) {
        let b = self.b;
        self.sums[0] += loss;
        self.chain(first, second, [-1.0 / b, -z / b, 1.0 / (b * b), 2.0 * z / (b * b)]);
    }

    fn chain(&mut self, first: f64, second: f64, [by_a, by_b, by_ab, by_bb]: [f64; 4]) {
        self.sums[1] += first * by_a;
        self.sums[2] += first * by_b;
        self.sums[3] += second * by_a * by_a;
        self.sums[4] += second * by_a * by_b + first * by_ab;
        self.sums[5] += second * by_b * by_b + first * by_bb;
    }
}

/// Loss of one (score, outcome counts) and its derivatives by (a, b), as in [`Derivatives`].
pub(super) fn derivatives(a: f64, b: f64, [x, wins, draws, losses]: [f64; 4]) -> [f64; 6] {
    let mut all = Derivatives::of_draws(a, b, draws, libm::exp(-2.0 * a / b));
    for (x, hits) in [(x, wins), (-x, losses)] {
        let z = all.logit(x);
        let Logistic { p, q, minus_log_p, minus_log_q } = Logistic::at(z);
        all.add(z, [hits * minus_log_p + draws * minus_log_q, draws * p - hits * q, (hits + draws) * p * q]);
    }
    all.sums
}

impl Objective<'_> {
    fn a_and_b(&self, at: &[f64], basis: &[f64; TERMS]) -> Option<(f64, f64)> {
        let value = |c: &[f64]| c.iter().zip(basis).map(|(c, u)| c * u).sum::<f64>();
        let (a, b) = (value(&at[..self.terms]), value(&at[self.terms..]));
        // draws would be negative, or the curve fall
        (a > 1e-6 && b > 1e-6).then_some((a, b))
    }
}

/// Adds derivatives by a and b, as of [`derivatives`], as those by the coefficients of a stage.
fn add_stage([f_a, f_b, f_aa, f_ab, f_bb]: [f64; 5], basis: &[f64], gradient: &mut [f64], hessian: &mut Square) {
    let k = basis.len();
    for (i, u) in basis.iter().enumerate() {
        gradient[i] += f_a * u;
        gradient[k + i] += f_b * u;
        for (j, v) in basis.iter().enumerate() {
            let both = u * v;
            hessian.add(k + i, j, f_ab * both);
            if j <= i {
                hessian.add(i, j, f_aa * both);
                hessian.add(k + i, k + j, f_bb * both);
            }
        }
    }
}

impl Loss for Objective<'_> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        let k = self.terms;
        let a_and_b: Vec<(f64, f64)> =
            self.stages.iter().map(|stage| self.a_and_b(at, &stage.basis)).collect::<Option<_>>()?;
        let mut e: Vec<f64> = a_and_b.iter().map(|(a, b)| -2.0 * a / b).collect();
        vector::exp(&mut e);
        let of_stage = |((stage, (a, b)), e): ((&Stage, (f64, f64)), f64)| Derivatives::of_draws(a, b, stage.draws, e);
        let mut sums: Vec<Derivatives> = self.stages.iter().zip(a_and_b).zip(e).map(of_stage).collect();
        let (mut logistics, mut z) = (Logistics::new(), [0.0; BLOCK]);
        let (mut shares, mut losses) = ([0.0; BLOCK], [0.0; BLOCK]);
        for rows in self.rows.chunks(BLOCK) {
            for (row, (z, share)) in rows.iter().zip(z.iter_mut().zip(&mut shares)) {
                (*z, *share) = (sums[row.stage].logit(row.x), row.hits / row.hits_and_draws);
            }
            let z = &z[..rows.len()];
            logistics.at(z);
            logistics.losses(z, &shares, &mut losses);
            for (i, row) in rows.iter().enumerate() {
                let (p, q, n) = (logistics.p[i], logistics.q[i], row.hits_and_draws);
                sums[row.stage].add(z[i], [n * losses[i], (n - row.hits) * p - row.hits * q, n * p * q]);
            }
        }
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; 2 * k], Square::zero(2 * k));
        for (stage, Derivatives { sums, .. }) in self.stages.iter().zip(sums) {
            let [f, sums @ ..] = sums.map(|s| s / self.samples);
            loss += f;
            add_stage(sums, &stage.basis[..k], &mut gradient, &mut hessian);
        }
        Some(Evaluation { loss, gradient, hessian })
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }

    /// Whether a or b is next to 0 at some stage, and the step goes on: a search would crawl along this end until its
    /// last evaluation.
    fn leaves(&self, at: &[f64], _here: &Evaluation, step: &[f64], _is_bowl: bool) -> bool {
        let next: Vec<f64> = at.iter().zip(step).map(|(a, s)| a + s).collect();
        let is_near = |(a, b): (f64, f64)| (a / self.flat[0]).min(b / self.flat[1]) < NEXT_TO_ZERO;
        let leaves = |Stage { basis, .. }: &Stage| {
            self.a_and_b(at, basis).is_some_and(is_near) && self.a_and_b(&next, basis).is_none()
        };
        self.terms > 1 && self.stages.iter().any(leaves)
    }
}

/// A fit with what its covariance needs.
struct Solved {
    model: Wdl,
    /// coefficients in the centred stage: a's, then b's, in units
    at: Vec<f64>,
    hessian: Square,
    mean_loss: f64,
    scale: StageScale,
}

/// u = (stage - middle)/width.
#[derive(Clone, Copy)]
struct StageScale {
    middle: f64,
    width: f64,
    terms: usize,
}

impl StageScale {
    fn basis(&self, stage: f64) -> [f64; TERMS] {
        let u = (stage - self.middle) / self.width;
        [1.0, u, u * u, u * u * u]
    }

    /// The matrix that takes coefficients of u, lowest power first, to those of t = stage/target, highest first.
    fn to_powers(self, target: f64) -> [[f64; TERMS]; TERMS] {
        // u = p t + q
        let (p, q) = (target / self.width, -self.middle / self.width);
        let mut matrix = [[0.0; TERMS]; TERMS];
        let mut power = [1.0, 0.0, 0.0, 0.0]; // of u, lowest first in t
        for column in 0..TERMS {
            for (row, c) in matrix.iter_mut().rev().zip(power) {
                row[column] = c;
            }
            // times p t + q
            let shifted = [0.0, power[0], power[1], power[2]];
            power.iter_mut().zip(shifted).for_each(|(c, below)| *c = q * *c + p * below);
        }
        matrix
    }
}

/// Fits a and b by maximum likelihood of wins, draws and losses to counts, stages as they are. Without a covariance,
/// since counts do not know the games.
///
/// Polynomials of the third degree need many samples. Where the best ones have a or b fall to 0 at some stage, the
/// degree is lowered until they do not, and the leading coefficients are 0.
///
/// # Errors
/// [`FitError::NoDraws`] without draws, [`FitError::OneClass`] with nothing else, [`FitError::NotConverged`], and
/// [`FitError::WdlNotPositive`] where a or b is not positive within the range of stages.
pub fn fit_wdl_counts(counts: &[WdlCount], stage: StageUnit) -> Result<Wdl, FitError> {
    let samples = counts.iter().map(|c| c.wins + c.draws + c.losses).sum();
    let draws = counts.iter().map(|c| c.draws).sum::<u64>();
    if draws == 0 {
        return Err(FitError::NoDraws { samples });
    }
    if draws == samples {
        return Err(FitError::OneClass { outcome: evalcurve_calibration::types::Outcome::Draw, samples });
    }
    solve(counts, stage).map(|s| s.model)
}

fn solve(counts: &[WdlCount], unit: StageUnit) -> Result<Solved, FitError> {
    let mut sorted: Vec<&WdlCount> = counts.iter().filter(|c| c.wins + c.draws + c.losses > 0).collect();
    sorted.sort_by_key(|c| (c.stage, c.score_cp));
    let total = |c: &WdlCount| (c.wins + c.draws + c.losses) as f64;
    let samples: f64 = sorted.iter().map(|c| total(c)).sum();
    let mean = |value: &dyn Fn(&WdlCount) -> f64| sorted.iter().map(|c| total(c) * value(c)).sum::<f64>() / samples;
    let middle = mean(&|c| f64::from(c.stage));
    let width = mean(&|c| (f64::from(c.stage) - middle).powi(2)).sqrt();
    let by_stage: Vec<&[&WdlCount]> = sorted.chunk_by(|a, b| a.stage == b.stage).collect();
    let width = if width > 0.0 { width } else { 1.0 };
    let scale = StageScale { middle, width, terms: by_stage.len().clamp(1, TERMS) };
    let stage = |rows: &&[&WdlCount]| Stage {
        basis: scale.basis(rows.first().map_or(0.0, |r| f64::from(r.stage))),
        draws: rows.iter().map(|c| c.draws as f64).sum(),
    };
    let stages: Vec<Stage> = by_stage.iter().map(stage).collect();
    let mut rows = Vec::with_capacity(2 * sorted.len());
    for (stage, counts) in by_stage.iter().enumerate() {
        for c in *counts {
            let x = f64::from(c.score_cp) / UNIT;
            let side = |x: f64, hits: u64| Row { stage, x, hits: hits as f64, hits_and_draws: (hits + c.draws) as f64 };
            rows.extend([side(x, c.wins), side(-x, c.losses)].into_iter().filter(|row| row.hits_and_draws > 0.0));
        }
    }
    // one a and one b first, from the share of draws and the size of the scores
    let size = mean(&|c| f64::from(c.score_cp) * f64::from(c.score_cp)).sqrt() / UNIT;
    let share = (sorted.iter().map(|c| c.draws as f64).sum::<f64>() / samples).clamp(0.02, 0.98);
    let b = 0.5 * size.max(0.01);
    let a = b * (libm::log1p(share) - libm::log1p(-share));
    let objective = |terms: usize, flat: [f64; 2]| Objective {
        stages: &stages,
        rows: &rows,
        terms,
        samples,
        // a step of a spread in a or b moves the logits by about one
        spread: [[1.0, 1.0, 2.0, 4.0]; 2].iter().flat_map(|u| u.iter().take(terms)).map(|u| u / b).collect(),
        flat,
    };
    let flat = minimise(&objective(1, [a, b]), &[a, b])?;
    let mut failure = None;
    for terms in (1..=scale.terms).rev() {
        let mut start = vec![0.0; 2 * terms];
        start[0] = flat.at[0];
        start[terms] = flat.at[1];
        let scale = StageScale { terms, ..scale };
        match minimise(&objective(terms, [start[0], start[terms]]), &start)
            .and_then(|found| finish(found, scale, &sorted, unit))
        {
            Ok(solved) => return Ok(solved),
            // the minimum lies where a or b is 0 in some stage: too bent for these samples
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or(FitError::TooFewSamples { have: 0, need: 1 }))
}

/// The minimum as a model, if a and b are positive in every stage of the range.
fn finish(found: Minimum, scale: StageScale, sorted: &[&WdlCount], unit: StageUnit) -> Result<Solved, FitError> {
    let matrix = scale.to_powers(unit.target());
    let powers = |c: &[f64]| matrix.map(|row| UNIT * row.iter().zip(c).map(|(m, c)| m * c).sum::<f64>());
    let model = Wdl {
        stage: unit,
        a: powers(&found.at[..scale.terms]),
        b: powers(&found.at[scale.terms..]),
        from_stage: sorted.first().map_or(0, |c| c.stage),
        to_stage: sorted.last().map_or(0, |c| c.stage),
    };
    if let Some(stage) = (model.from_stage..=model.to_stage).find(|&stage| {
        let (a, b) = model.a_and_b(f64::from(stage));
        a <= 0.0 || b <= 0.0
    }) {
        return Err(FitError::WdlNotPositive { unit: unit.as_str(), stage });
    }
    Ok(Solved { model, at: found.at, hessian: found.evaluation.hessian, mean_loss: found.evaluation.loss, scale })
}

/// Fits the model to the cases whose ply or material is known. The outermost 1% of the stages on either side count as
/// the stages next to them.
pub(super) fn fit(
    unit: StageUnit,
    kind: ModelKind,
    cases: &[Case],
    options: &FitOptions,
) -> Result<ModelFit, FitError> {
    let mut known: Vec<(Case, u32)> =
        cases.iter().filter_map(|c| Some((*c, unit.of(&c.situation)?.min(MOST_STAGE)))).collect();
    let need = options.min_samples.max(2 * TERMS as u64 + 1);
    let have = known.len() as u64;
    if unit == StageUnit::Material && have < need && (cases.len() as u64) >= need {
        return Err(FitError::TooFewWithMaterial { have, need });
    }
    check_cases(known.iter().map(|(c, _)| c), need)?;
    if let Some((from, to)) = central_range(known.iter().map(|k| k.1)) {
        known.iter_mut().for_each(|k| k.1 = k.1.clamp(from, to));
    }
    let mut keys: Vec<(u32, i32, usize)> = known.iter().map(|(c, s)| (*s, c.score_cp, c.outcome as usize)).collect();
    keys.sort_unstable();
    let counts: Vec<WdlCount> = keys
        .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
        .filter_map(|run| {
            let &(stage, score_cp, _) = run.first()?;
            let mut by = [0u64; 3];
            run.iter().for_each(|k| by[k.2] += 1);
            let [losses, draws, wins] = by;
            Some(WdlCount { stage, score_cp, wins, draws, losses })
        })
        .collect();
    if counts.iter().all(|c| c.draws == 0) {
        return Err(FitError::NoDraws { samples: known.len() as u64 });
    }
    let Solved { model, at, hessian, mean_loss, scale } = solve(&counts, unit)?;
    let games: Vec<u64> = known.iter().map(|k| k.0.game).collect();
    let terms = scale.terms;
    let in_units = || {
        leveraged(&hessian, &games, |i, gradient, hessian| {
            let (case, stage) = &known[i];
            let basis = scale.basis(f64::from(*stage));
            let value = |c: &[f64]| c.iter().zip(basis).map(|(c, u)| c * u).sum::<f64>();
            let mut row = [f64::from(case.score_cp) / UNIT, 0.0, 0.0, 0.0];
            row[3 - case.outcome as usize] = 1.0;
            let [_, sums @ ..] = derivatives(value(&at[..terms]), value(&at[terms..]), row);
            add_stage(sums, &basis[..terms], gradient, hessian);
        })
    };
    let in_units = if options.forecasts_only { None } else { in_units() };
    // from the centred stage to the powers of stage/target: linear in the coefficients
    let matrix = scale.to_powers(unit.target());
    let entry = |v: &Square, i: usize, j: usize| {
        let mut sum = 0.0;
        for k in 0..terms {
            for l in 0..terms {
                let (r, c) = (k + terms * (i / TERMS), l + terms * (j / TERMS));
                sum += matrix[i % TERMS][k] * v.at(r.max(c), r.min(c)) * matrix[j % TERMS][l];
            }
        }
        UNIT * UNIT * sum
    };
    let size = 0..2 * TERMS;
    let covariance = in_units.map(|v| {
        // one entry for both of a mirrored pair: they differ by rounding
        size.clone().map(|i| size.clone().map(|j| entry(&v, i.max(j), i.min(j))).collect()).collect()
    });
    ModelFit::new(kind, Model::Wdl(model), covariance, games, mean_loss)
}
