//! Separate rates of wins, draws and losses, with a threshold and a spread that change during the game, as Stockfish's
//! WDL_model fits them: W(x) = 1/(1 + exp(-(x - a)/b)), L(x) = W(-x), D = 1 - W - L, where a and b are polynomials of
//! the third degree in the ply or the material.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::form::{Form, InvalidParameter};
use super::formula::Formula;
use super::kind::{Definition, Fitter, ModelFit, Needs};
use super::{Model, ModelKind};
use crate::fit::case::{Case, Situation, central_range};
use crate::fit::covariance::clustered;
use crate::fit::search::{Evaluation, Loss, Minimum, minimise};
use crate::fit::sigmoid::Logistic;
use crate::fit::symmetric::Square;
use crate::fit::{FitError, FitOptions, check_cases};

pub(super) static WDL: Definition = Definition {
    name: "wdl",
    label: "wdl",
    summary: "Separate rates of wins, draws and losses, by ply",
    form: Some(Wdl::name),
    rank: 6,
    diagnosed: false,
    needs: Needs { ply: true, ..Needs::NONE },
    accepts: |kind, model| goes_by(StageUnit::Ply, kind, model),
    fit: Fitter::Each(|kind, cases, options| fit(StageUnit::Ply, kind, cases, options)),
    ..Definition::BASELINE
};

pub(super) static WDL_MATERIAL: Definition = Definition {
    name: "wdl_material",
    label: "wdl material",
    summary: "Separate rates of wins, draws and losses, by material",
    form: Some(Wdl::name),
    rank: 7,
    diagnosed: false,
    needs: Needs { material: true, ..Needs::NONE },
    accepts: |kind, model| goes_by(StageUnit::Material, kind, model),
    fit: Fitter::Each(|kind, cases, options| fit(StageUnit::Material, kind, cases, options)),
    ..Definition::BASELINE
};

/// Material at which a and b are the sums of their coefficients, as in Stockfish.
const MATERIAL_TARGET: f64 = 58.0;

/// The same for plies: move 32.
const PLY_TARGET: f64 = 64.0;

/// Coefficients of a polynomial.
pub(super) const TERMS: usize = 4;

/// Centipawns in the unit of the search, so that a and b are of the order of one.
const UNIT: f64 = 100.0;

/// What the stage of a game is measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StageUnit {
    /// Number of the move to be made.
    Ply,
    /// Pawns and pieces on the board, counted 1, 3, 3, 5, 9.
    Material,
}

impl StageUnit {
    /// `ply` or `material`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ply => "ply",
            Self::Material => "material",
        }
    }

    /// The stage in which a and b are the sums of their coefficients.
    pub fn target(self) -> f64 {
        match self {
            Self::Ply => PLY_TARGET,
            Self::Material => MATERIAL_TARGET,
        }
    }

    /// The situation at the target stage.
    pub(crate) fn at_target(self) -> Situation {
        match self {
            Self::Ply => Situation { ply: Some(PLY_TARGET as u32), ..Situation::default() },
            Self::Material => Situation { material: Some(MATERIAL_TARGET as u32), ..Situation::default() },
        }
    }

    /// The ply or the material of a situation, where it is known.
    pub fn of(self, situation: &Situation) -> Option<u32> {
        match self {
            Self::Ply => situation.ply,
            Self::Material => situation.material,
        }
    }
}

/// The model of wins, draws and losses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "wins 1 / (1 + exp(-(x - a)/b)), losses 1 / (1 + exp(-(-x - a)/b)), the rest draws; \
                   win rate = wins + draws/2; a and b are polynomials of t = stage/64 (ply) or stage/58 (material)")]
pub struct Wdl {
    /// What the stage is measured by.
    pub stage: StageUnit,
    /// Coefficients of a in centipawns, highest power first: a(t) = a₀t³ + a₁t² + a₂t + a₃, t = stage/target. A score
    /// of a wins half of the games.
    pub a: [f64; TERMS],
    /// Coefficients of b in centipawns, likewise.
    pub b: [f64; TERMS],
    /// Earlier plies, or less material, count as this.
    pub from_stage: u32,
    /// Later plies, or more material, count as this.
    pub to_stage: u32,
}

/// Shares of wins, draws and losses, which sum to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WdlRates {
    /// Of wins.
    pub win: f64,
    /// Of draws.
    pub draw: f64,
    /// Of losses.
    pub loss: f64,
}

impl Wdl {
    /// The stage of a situation, the middle of the range where it is not known.
    pub fn stage_of(&self, situation: &Situation) -> f64 {
        self.stage.of(situation).map_or(0.5 * (f64::from(self.from_stage) + f64::from(self.to_stage)), f64::from)
    }

    /// The stage, clamped to the range of the fit, over its target.
    fn relative(&self, stage: f64) -> f64 {
        stage.max(f64::from(self.from_stage)).min(f64::from(self.to_stage)) / self.stage.target()
    }

    /// The powers that the coefficients multiply at a stage, highest first.
    pub fn powers(&self, stage: f64) -> [f64; TERMS] {
        let t = self.relative(stage);
        [t * t * t, t * t, t, 1.0]
    }

    /// (a, b) in centipawns at a stage.
    pub fn a_and_b(&self, stage: f64) -> (f64, f64) {
        let t = self.relative(stage);
        let at = |c: &[f64; TERMS]| c.iter().fold(0.0, |sum, c| sum * t + c);
        (at(&self.a), at(&self.b))
    }

    /// Shares of wins, draws and losses at a score in centipawns.
    pub fn rates(&self, score_cp: f64, situation: &Situation) -> WdlRates {
        let (a, b) = self.a_and_b(self.stage_of(situation));
        let (win, loss) = (Logistic::at((score_cp - a) / b), Logistic::at((-score_cp - a) / b));
        // 1 - W - L without cancellation
        WdlRates { win: win.p, draw: win.q * loss.q * -libm::expm1(-2.0 * a / b), loss: loss.p }
    }

    /// The gradients of the shares of wins, draws and losses by the coefficients of a, then of b.
    pub fn rate_gradients(&self, score_cp: f64, situation: &Situation) -> [[f64; 2 * TERMS]; 3] {
        let stage = self.stage_of(situation);
        let ((a, b), powers) = (self.a_and_b(stage), self.powers(stage));
        let of = |x: f64| {
            let at = Logistic::at((x - a) / b);
            let by_z = at.p * at.q / b;
            let (by_a, by_b) = (-by_z, -by_z * (x - a) / b);
            std::array::from_fn(|i| powers[i % TERMS] * if i < TERMS { by_a } else { by_b })
        };
        let (win, loss): ([f64; 2 * TERMS], [f64; 2 * TERMS]) = (of(score_cp), of(-score_cp));
        [win, std::array::from_fn(|i| -win[i] - loss[i]), loss]
    }

    /// The log odds of winning, a draw half: ln (W + D/2) - ln (L + D/2), without cancellation at large scores.
    pub fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        let (a, b) = self.a_and_b(self.stage_of(situation));
        let (win, loss) = (Logistic::at((score_cp - a) / b), Logistic::at((-score_cp - a) / b));
        // (W + 1 - L)/(L + 1 - W); both halves share a factor that underflows beyond 700 spreads
        let (for_us, against) = (win.p + loss.q, loss.p + win.q);
        if for_us > 1e-300 && against > 1e-300 {
            libm::log(for_us) - libm::log(against)
        } else {
            // there one of the two terms is a plain exponential: e^{-(|x|-a)/b} + e^{-(|x|+a)/b} over 2
            let tail = (score_cp.abs() - a) / b - libm::log1p(libm::exp(-2.0 * a / b)) + std::f64::consts::LN_2;
            if score_cp > 0.0 { tail } else { -tail }
        }
    }
}

impl Form for Wdl {
    fn name() -> &'static str {
        "wdl"
    }

    fn logit(&self, score_cp: f64, situation: &Situation) -> f64 {
        Wdl::logit(self, score_cp, situation)
    }

    fn size() -> usize {
        8
    }

    fn fitted_range(&self) -> Option<(StageUnit, [u32; 2])> {
        Some((self.stage, [self.from_stage, self.to_stage]))
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        let names = ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"];
        names.into_iter().zip(self.a.into_iter().chain(self.b)).collect()
    }

    fn logit_gradient(&self, score_cp: f64, situation: &Situation) -> Option<Vec<f64>> {
        let stage = self.stage_of(situation);
        let (a, b) = self.a_and_b(stage);
        let (win, loss) = (Logistic::at((score_cp - a) / b), Logistic::at((-score_cp - a) / b));
        // of p = (1 + W - L)/2, and from there of the logit
        let (of_win, of_loss) = (win.p * win.q / b, loss.p * loss.q / b);
        let by_a = 0.5 * (of_loss - of_win);
        let by_b = 0.5 * (of_loss * (-score_cp - a) / b - of_win * (score_cp - a) / b);
        let rates = (0.5 * (win.p + loss.q), 0.5 * (loss.p + win.q));
        // far out both vanish at the same rate
        let scale = 1.0 / (rates.0 * rates.1).max(1e-300);
        let powers = self.powers(stage);
        Some([by_a, by_b].iter().flat_map(|by| powers.map(|power| by * power * scale)).collect())
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula {
            stage: Some(self.stage),
            constants: vec![
                ("AS", self.a.to_vec()),
                ("BS", self.b.to_vec()),
                ("FROM_STAGE", vec![f64::from(self.from_stage)]),
                ("TO_STAGE", vec![f64::from(self.to_stage)]),
                ("TARGET", vec![self.stage.target()]),
            ],
            steps: vec![
                match self.stage {
                    StageUnit::Ply => ("m", "max(FROM_STAGE, min(TO_STAGE, ply)) / TARGET"),
                    StageUnit::Material => ("m", "max(FROM_STAGE, min(TO_STAGE, material)) / TARGET"),
                },
                ("a", "((AS[0] * m + AS[1]) * m + AS[2]) * m + AS[3]"),
                ("b", "((BS[0] * m + BS[1]) * m + BS[2]) * m + BS[3]"),
                ("win", "1.0 / (1.0 + exp(min(700.0, (a - score_cp) / b)))"),
                ("loss", "1.0 / (1.0 + exp(min(700.0, (a + score_cp) / b)))"),
                ("draw", "1.0 - win - loss"),
                ("win_rate", "win + 0.5 * draw"),
            ],
        })
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        InvalidParameter::unless_ascending(("from_stage", self.from_stage), ("to_stage", self.to_stage))?;
        // a game has no more plies than this, and the check would not end on a range up to 2^32
        let last = self.to_stage.min(self.from_stage.saturating_add(10_000));
        for stage in self.from_stage..=last {
            let (a, b) = self.a_and_b(f64::from(stage));
            if a.is_nan() || b.is_nan() || a <= 0.0 || b <= 0.0 {
                return Err(InvalidParameter::new("a", format!("a {a} or b {b} is not positive at stage {stage}")));
            }
        }
        Ok(())
    }
}

/// Refuses a stage in another unit than the name of the model implies.
fn goes_by(unit: StageUnit, kind: ModelKind, model: &Model) -> Result<(), InvalidParameter> {
    match model {
        Model::Wdl(wdl) if wdl.stage != unit => {
            let problem = format!("{} where {kind} goes by {}", wdl.stage.as_str(), unit.as_str());
            Err(InvalidParameter::new("stage", problem))
        }
        _ => Ok(()),
    }
}

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

/// Rows of one stage: (score in units, wins, draws, losses).
struct Stage {
    /// powers of the centred stage
    basis: [f64; TERMS],
    rows: Vec<[f64; 4]>,
}

/// The mean loss over a and b as polynomials of `terms` terms in the centred stage: first those of a, then of b.
struct Objective<'a> {
    stages: &'a [Stage],
    terms: usize,
    samples: f64,
    spread: Vec<f64>,
}

/// Loss of one (score, outcome counts) and its derivatives by (a, b): f, f_a, f_b, f_aa, f_ab, f_bb.
///
/// With z = (x-a)/b, v = (-x-a)/b, c = a/b: D = (1-W)(1-L)(1 - e^{-2c}), so that the loss is a sum of functions of z, v
/// and c alone.
fn derivatives(a: f64, b: f64, [x, wins, draws, losses]: [f64; 4]) -> [f64; 6] {
    let mut sums = [0.0; 6];
    let mut chain = |first: f64, second: f64, [by_a, by_b, by_ab, by_bb]: [f64; 4]| {
        sums[1] += first * by_a;
        sums[2] += first * by_b;
        sums[3] += second * by_a * by_a;
        sums[4] += second * by_a * by_b + first * by_ab;
        sums[5] += second * by_b * by_b + first * by_bb;
    };
    let mut loss = 0.0;
    for (z, hits) in [((x - a) / b, wins), ((-x - a) / b, losses)] {
        let at = Logistic::at(z);
        loss += hits * at.minus_log_p + draws * at.minus_log_q;
        chain(
            draws * at.p - hits * at.q,
            (hits + draws) * at.p * at.q,
            [-1.0 / b, -z / b, 1.0 / (b * b), 2.0 * z / (b * b)],
        );
    }
    if draws > 0.0 {
        let c = a / b;
        let grown = libm::expm1(2.0 * c);
        loss -= draws * libm::log(-libm::expm1(-2.0 * c));
        // e^{2c}/(e^{2c}-1)² = (1 + 1/(e^{2c}-1))/(e^{2c}-1): no infinity over infinity
        let (first, second) = (-draws * 2.0 / grown, draws * 4.0 * (1.0 + 1.0 / grown) / grown);
        chain(first, second, [1.0 / b, -c / b, -1.0 / (b * b), 2.0 * c / (b * b)]);
    }
    sums[0] = loss;
    sums
}

impl Objective<'_> {
    fn a_and_b(&self, at: &[f64], basis: &[f64; TERMS]) -> Option<(f64, f64)> {
        let value = |c: &[f64]| c.iter().zip(basis).map(|(c, u)| c * u).sum::<f64>();
        let (a, b) = (value(&at[..self.terms]), value(&at[self.terms..]));
        // draws would be negative, or the curve fall
        (a > 1e-6 && b > 1e-6).then_some((a, b))
    }
}

impl Loss for Objective<'_> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation> {
        let k = self.terms;
        let (mut loss, mut gradient, mut hessian) = (0.0, vec![0.0; 2 * k], Square::zero(2 * k));
        for stage in self.stages {
            let (a, b) = self.a_and_b(at, &stage.basis)?;
            let mut sums = [0.0; 6];
            for row in &stage.rows {
                sums.iter_mut().zip(derivatives(a, b, *row)).for_each(|(s, d)| *s += d);
            }
            let [f, f_a, f_b, f_aa, f_ab, f_bb] = sums.map(|s| s / self.samples);
            loss += f;
            for i in 0..k {
                let u = stage.basis[i];
                gradient[i] += f_a * u;
                gradient[k + i] += f_b * u;
                for j in 0..k {
                    let both = u * stage.basis[j];
                    hessian.add(k + i, j, f_ab * both);
                    if j <= i {
                        hessian.add(i, j, f_aa * both);
                        hessian.add(k + i, k + j, f_bb * both);
                    }
                }
            }
        }
        Some(Evaluation { loss, gradient, hessian })
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }
}

/// A fit with what its covariance needs.
struct Solved {
    model: Wdl,
    /// coefficients in the centred stage: a's, then b's, in units
    at: Vec<f64>,
    hessian: Square,
    mean_loss: f64,
    scale: Scale,
}

/// u = (stage - middle)/width.
#[derive(Clone, Copy)]
struct Scale {
    middle: f64,
    width: f64,
    terms: usize,
}

impl Scale {
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
        return Err(FitError::OneClass { outcome: crate::types::Outcome::Draw, samples });
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
    let scale = Scale { middle, width: if width > 0.0 { width } else { 1.0 }, terms: by_stage.len().clamp(1, TERMS) };
    let stages: Vec<Stage> = by_stage
        .iter()
        .map(|rows| Stage {
            basis: scale.basis(rows.first().map_or(0.0, |r| f64::from(r.stage))),
            rows: rows
                .iter()
                .map(|c| [f64::from(c.score_cp) / UNIT, c.wins as f64, c.draws as f64, c.losses as f64])
                .collect(),
        })
        .collect();
    // one a and one b first, from the share of draws and the size of the scores
    let size = mean(&|c| f64::from(c.score_cp) * f64::from(c.score_cp)).sqrt() / UNIT;
    let share = (sorted.iter().map(|c| c.draws as f64).sum::<f64>() / samples).clamp(0.02, 0.98);
    let b = 0.5 * size.max(0.01);
    let a = b * (libm::log1p(share) - libm::log1p(-share));
    let objective = |terms: usize| Objective {
        stages: &stages,
        terms,
        samples,
        // a step of a spread in a or b moves the logits by about one
        spread: [[1.0, 1.0, 2.0, 4.0]; 2].iter().flat_map(|u| u.iter().take(terms)).map(|u| u / b).collect(),
    };
    let flat = minimise(&objective(1), &[a, b])?;
    let mut failure = None;
    for terms in (1..=scale.terms).rev() {
        let mut start = vec![0.0; 2 * terms];
        start[0] = flat.at[0];
        start[terms] = flat.at[1];
        let scale = Scale { terms, ..scale };
        match minimise(&objective(terms), &start).and_then(|found| finish(found, scale, &sorted, unit)) {
            Ok(solved) => return Ok(solved),
            // the minimum lies where a or b is 0 in some stage: too bent for these samples
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or(FitError::TooFewSamples { have: 0, need: 1 }))
}

/// The minimum as a model, if a and b are positive in every stage of the range.
fn finish(found: Minimum, scale: Scale, sorted: &[&WdlCount], unit: StageUnit) -> Result<Solved, FitError> {
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
fn fit(unit: StageUnit, kind: ModelKind, cases: &[Case], options: &FitOptions) -> Result<ModelFit, FitError> {
    let mut known: Vec<(Case, u32)> = cases.iter().filter_map(|c| Some((*c, unit.of(&c.situation)?))).collect();
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
    let in_units = clustered(&hessian, &games, |i, add| {
        let (case, stage) = &known[i];
        let basis = scale.basis(f64::from(*stage));
        let value = |c: &[f64]| c.iter().zip(basis).map(|(c, u)| c * u).sum::<f64>();
        let mut row = [f64::from(case.score_cp) / UNIT, 0.0, 0.0, 0.0];
        row[3 - case.outcome as usize] = 1.0;
        let [_, f_a, f_b, ..] = derivatives(value(&at[..terms]), value(&at[terms..]), row);
        for (k, u) in basis.iter().enumerate().take(terms) {
            add(k, f_a * u);
            add(terms + k, f_b * u);
        }
    });
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
    let cases: Vec<Case> = known.iter().map(|k| k.0).collect();
    ModelFit::new(kind, Model::Wdl(model), covariance, &cases, mean_loss)
}

#[cfg(test)]
mod tests {
    use super::super::fit_model;
    use super::*;
    use crate::random;

    #[test]
    fn derivatives_agree_with_finite_differences() {
        for row in [[1.3, 5.0, 2.0, 1.0], [-4.0, 0.0, 3.0, 9.0], [0.0, 1.0, 0.0, 1.0]] {
            let (a, b, h) = (2.1, 0.7, 1e-5);
            let d = derivatives(a, b, row);
            let f = |a: f64, b: f64| derivatives(a, b, row);
            let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-6 * (1.0 + y.abs()), "{row:?}: {x} {y}");
            close(d[1], (f(a + h, b)[0] - f(a - h, b)[0]) / (2.0 * h));
            close(d[2], (f(a, b + h)[0] - f(a, b - h)[0]) / (2.0 * h));
            close(d[3], (f(a + h, b)[1] - f(a - h, b)[1]) / (2.0 * h));
            close(d[4], (f(a, b + h)[1] - f(a, b - h)[1]) / (2.0 * h));
            close(d[5], (f(a, b + h)[2] - f(a, b - h)[2]) / (2.0 * h));
        }
    }

    /// A curve like those of chess engines.
    fn truth() -> Wdl {
        Wdl {
            stage: StageUnit::Material,
            a: [-150.0, 400.0, -330.0, 440.0],
            b: [80.0, -140.0, 70.0, 45.0],
            from_stage: 17,
            to_stage: 78,
        }
    }

    fn drawn(n: u64) -> Vec<Case> {
        (0..n)
            .map(|i| {
                let score_cp = random::below(1201, &[i, 1]) as i32 - 600;
                let situation =
                    Situation { material: Some(17 + random::below(62, &[i, 2]) as u32), ..Situation::default() };
                let rates = truth().rates(f64::from(score_cp), &situation);
                let u = random::unit(&[i, 3]);
                let outcome = match u {
                    u if u < rates.win => crate::types::Outcome::Win,
                    u if u < rates.win + rates.draw => crate::types::Outcome::Draw,
                    _ => crate::types::Outcome::Loss,
                };
                Case { game: i / 2, score_cp, outcome, situation }
            })
            .collect()
    }

    #[test]
    fn truth_is_recovered_within_its_errors() {
        let fit = fit_model(ModelKind::WdlMaterial, &drawn(60_000), &FitOptions::default()).unwrap();
        let Model::Wdl(model) = fit.model else { panic!("{fit:?}") };
        assert_eq!((model.stage, model.from_stage, model.to_stage), (StageUnit::Material, 17, 78));
        for stage in [20.0, 40.0, 58.0, 78.0] {
            let ((a, b), (true_a, true_b)) = (model.a_and_b(stage), truth().a_and_b(stage));
            assert!(
                (a / true_a - 1.0).abs() < 0.05 && (b / true_b - 1.0).abs() < 0.12,
                "{stage}: {a} {b} {true_a} {true_b}"
            );
        }
        let errors = fit.standard_errors().unwrap();
        let found = fit.model.parameters();
        let wanted = Model::Wdl(truth()).parameters();
        for ((f, w), e) in found.iter().zip(&wanted).zip(&errors) {
            assert!((f.1 - w.1).abs() < 4.0 * e && *e > 0.0, "{f:?} {w:?} {e}");
        }
    }

    #[test]
    fn rates_sum_to_one_and_their_logit_stays_finite() {
        let at = Situation { material: Some(58), ..Situation::default() };
        for x in [0.0, 35.0, -400.0, 3_000.0, 32_000.0, -1_148_897.0] {
            let WdlRates { win, draw, loss } = truth().rates(x, &at);
            assert!((win + draw + loss - 1.0).abs() < 1e-12 && draw >= 0.0, "{x}");
            let logit = truth().logit(x, &at);
            assert!(logit.is_finite());
            let rate = win + 0.5 * draw;
            if rate > 1e-10 && rate < 1.0 - 1e-10 {
                assert!((logit - libm::log(rate / (1.0 - rate))).abs() < 1e-6, "{x}");
            }
        }
        // both branches of the logit meet
        let (_, b) = truth().a_and_b(58.0);
        let near = |x: f64| truth().logit(x, &at);
        let slope = (near(680.0 * b + 1.0) - near(680.0 * b)) * b;
        let further = (near(800.0 * b + 1.0) - near(800.0 * b)) * b;
        assert!((slope - 1.0).abs() < 1e-6 && (further - 1.0).abs() < 1e-6);
        assert!((near(800.0 * b) - near(680.0 * b) - 120.0).abs() < 1e-6);
    }

    #[test]
    fn gradients_of_the_shares_agree_with_finite_differences() {
        let at = Situation { material: Some(31), ..Situation::default() };
        for x in [-350.0, 0.0, 80.0, 900.0] {
            let found = truth().rate_gradients(x, &at);
            for i in 0..truth().a.len() + truth().b.len() {
                let moved = |by: f64| {
                    let mut wdl = truth();
                    if i < TERMS {
                        wdl.a[i] += by
                    } else {
                        wdl.b[i - TERMS] += by
                    }
                    let rates = wdl.rates(x, &at);
                    [rates.win, rates.draw, rates.loss]
                };
                for ((gradient, up), down) in found.iter().zip(moved(1e-4)).zip(moved(-1e-4)) {
                    let wanted = (up - down) / 2e-4;
                    assert!((gradient[i] - wanted).abs() < 1e-9, "{x} {i}: {} {wanted}", gradient[i]);
                }
            }
        }
    }

    #[test]
    fn few_samples_get_a_lower_degree() {
        let fit = fit_model(ModelKind::WdlMaterial, &drawn(80), &FitOptions::default()).unwrap();
        let Model::Wdl(model) = &fit.model else { panic!("{fit:?}") };
        for stage in model.from_stage..=model.to_stage {
            let (a, b) = model.a_and_b(f64::from(stage));
            assert!(a > 0.0 && b > 0.0, "{stage}: {a} {b}");
        }
    }

    #[test]
    fn samples_without_a_stage_are_left_out() {
        let mut cases = drawn(4_000);
        let all = fit_model(ModelKind::WdlMaterial, &cases, &FitOptions::default()).unwrap();
        let unknown = cases.clone().into_iter().map(|c| Case { situation: Situation::default(), ..c });
        cases.extend(unknown);
        let known = fit_model(ModelKind::WdlMaterial, &cases, &FitOptions::default()).unwrap();
        assert_eq!((known.kind, known.samples, &known.model), (ModelKind::WdlMaterial, 4_000, &all.model));
        assert_eq!(
            fit_model(ModelKind::WdlMaterial, &cases[3_990..], &FitOptions::default()),
            Err(FitError::TooFewWithMaterial { have: 10, need: 30 })
        );
    }

    #[test]
    fn no_draws_is_an_error() {
        let row = |score_cp, wins, losses| WdlCount { stage: 40, score_cp, wins, draws: 0, losses };
        let counts = [row(-100, 3, 7), row(100, 7, 3)];
        assert_eq!(fit_wdl_counts(&counts, StageUnit::Ply), Err(FitError::NoDraws { samples: 20 }));
    }
}
