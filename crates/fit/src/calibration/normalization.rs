//! Engines that print normalised scores: internal units times 100 over a pawn value that depends on the stage of the
//! game, as Stockfish does since 2022. Here the normalisation is taken back, from printed centipawns to internal units.

use std::str::FromStr;

use evalcurve_calibration::model::{Model, Sigmoid, TERMS, Wdl};
use evalcurve_calibration::{Calibration, FittedModel, StageUnit};

use crate::fit::symmetric::Square;

/// The pawn value N(m) of an engine that prints 100 · score / N(m): the coefficients of a polynomial, highest power
/// first, in the variable of [`Wdl`]; a single number is a constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalization(Vec<f64>);

/// Why a normalisation cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error, evalcurve_words::language::ToText)]
#[non_exhaustive]
pub enum NormalizationError {
    /// The text is not a list of numbers.
    #[error(
        "'{0}' is not a pawn value: use one number, as in 328, or the coefficients of a polynomial, as in \
             -37.45,121.19,-132.78,420.71, highest power first"
    )]
    Coefficients(String),
    /// The pawn value is not positive.
    #[error("the pawn value is {value} at stage {stage}; it must be above 0")]
    NotPositive { value: f64, stage: f64 },
    /// The model does not change with the stage, or cannot be scaled.
    #[error("the model {0} cannot take back this normalisation; calibrate with `model` wdl-material or wdl")]
    Model(&'static str),
    /// The result is no curve that rises at every stage.
    #[error("without its normalisation the curve falls: {0}")]
    Falls(String),
}

impl FromStr for Normalization {
    type Err = NormalizationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || NormalizationError::Coefficients(text.to_owned());
        let numbers: Vec<f64> =
            text.split(',').map(|n| n.trim().parse()).collect::<Result<_, _>>().map_err(|_| wrong())?;
        let usable = numbers.len() <= 2 * TERMS && numbers.iter().all(|n| n.is_finite());
        if usable { Ok(Self(numbers)) } else { Err(wrong()) }
    }
}

impl std::fmt::Display for Normalization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    }
}

/// A model in internal units, with its covariance.
#[derive(Debug, Clone, PartialEq)]
struct Undone {
    model: Model,
    covariance: Option<Vec<Vec<f64>>>,
    /// The largest error of a and b in internal units, as cubic polynomials cannot hold their exact product with N.
    largest_error: f64,
}

/// The matrix from the coefficients of a cubic c(m) to the coefficients of the cubic nearest to c(m) N(m)/100, by
/// weighted least squares
/// over the stages; `None` where these do not determine it.
fn scaling(wdl: &Wdl, pawn: &dyn Fn(f64) -> f64, weight: &dyn Fn(&[f64; TERMS]) -> f64) -> Option<Vec<[f64; TERMS]>> {
    let stages = wdl.from_stage..=wdl.to_stage;
    let terms = TERMS.min(stages.clone().count());
    let mut normal = Square::zero(terms);
    let mut right = [[0.0; TERMS]; TERMS];
    for stage in stages {
        let powers = wdl.powers(f64::from(stage));
        let weight = weight(&powers);
        // of fewer stages than terms only the lowest powers are determined
        let low = &powers[TERMS - terms..];
        for i in 0..terms {
            for j in 0..=i {
                normal.add(i, j, weight * low[i] * low[j]);
            }
            for (k, power) in powers.iter().enumerate() {
                right[k][i] += weight * low[i] * power * pawn(f64::from(stage)) / 100.0;
            }
        }
    }
    let factor = normal.cholesky()?;
    let columns: Vec<Vec<f64>> = right.iter().map(|r| factor.solve(&r[..terms])).collect();
    Some(
        (0..TERMS)
            .map(|row| {
                let entry = |k: usize| row.checked_sub(TERMS - terms).and_then(|i| columns[k].get(i).copied());
                std::array::from_fn(|k| entry(k).unwrap_or(0.0))
            })
            .collect(),
    )
}

impl Normalization {
    /// N at a stage, in internal units per pawn.
    pub fn pawn_value(&self, unit: StageUnit, stage: f64) -> f64 {
        self.0.iter().fold(0.0, |sum, c| sum * (stage / unit.target()) + c)
    }

    /// The calibration of an engine's internal scores from that of its printed scores, which are normalised, with the
    /// largest error of a and b. Only the chosen model remains; curve, range and mates are in printed centipawns.
    ///
    /// # Errors
    /// [`NormalizationError`].
    pub fn undo(&self, calibration: &Calibration) -> Result<(Calibration, f64), NormalizationError> {
        let kind = calibration.model.kind;
        let fitted = calibration.models.get(&kind);
        let undone = self.undo_model(&calibration.model.model, fitted.and_then(|fit| fit.covariance.as_ref()))?;
        let mut found = calibration.clone();
        found.model.model = undone.model.clone();
        found.models = fitted
            .map(|fit| (kind, FittedModel { model: undone.model, covariance: undone.covariance, ..fit.clone() }))
            .into_iter()
            .collect();
        (found.curve, found.scores, found.mates, found.standardization) = (None, None, None, None);
        Ok((found, undone.largest_error))
    }

    /// The model of the printed scores as a model of the internal scores N(m)/100 times as large.
    fn undo_model(&self, model: &Model, covariance: Option<&Vec<Vec<f64>>>) -> Result<Undone, NormalizationError> {
        let constant = match self.0.as_slice() {
            [n] if *n > 0.0 => Some(n / 100.0),
            [n] => return Err(NormalizationError::NotPositive { value: *n, stage: 0.0 }),
            _ => None,
        };
        match (model, constant) {
            (Model::Sigmoid(s), Some(by)) => Ok(Undone {
                model: Model::Sigmoid(Sigmoid { w1: s.w1 / by, w2: s.w2 }),
                covariance: covariance.map(|v| {
                    let scale = [1.0 / by, 1.0];
                    v.iter()
                        .zip(scale)
                        .map(|(row, r)| row.iter().zip(scale).map(|(x, c)| x * r * c).collect())
                        .collect()
                }),
                largest_error: 0.0,
            }),
            (Model::Wdl(wdl), _) => self.undo_wdl(wdl, covariance),
            _ => Err(NormalizationError::Model(model.form_name())),
        }
    }

    fn undo_wdl(&self, wdl: &Wdl, covariance: Option<&Vec<Vec<f64>>>) -> Result<Undone, NormalizationError> {
        let pawn = |stage: f64| self.pawn_value(wdl.stage, stage);
        for stage in (wdl.from_stage..=wdl.to_stage).map(f64::from) {
            if pawn(stage).is_nan() || pawn(stage) <= 0.0 {
                return Err(NormalizationError::NotPositive { value: pawn(stage), stage });
            }
        }
        // stages where a or b is known well count more
        let known = |from: usize| {
            move |powers: &[f64; TERMS]| {
                let entry = |i: usize, j: usize| covariance?.get(from + i)?.get(from + j).copied();
                let all = || (0..TERMS).flat_map(|i| (0..TERMS).map(move |j| (i, j)));
                let variance: Option<f64> = all().map(|(i, j)| Some(powers[i] * powers[j] * entry(i, j)?)).sum();
                variance.filter(|v| *v > 0.0).map_or(1.0, |v| 1.0 / v)
            }
        };
        let singular = || NormalizationError::Falls("the stages of the calibration do not determine it".to_owned());
        let map_a = scaling(wdl, &pawn, &known(0)).ok_or_else(singular)?;
        let map_b = scaling(wdl, &pawn, &known(TERMS)).ok_or_else(singular)?;
        let apply = |map: &[[f64; TERMS]], c: &[f64; TERMS]| -> [f64; TERMS] {
            std::array::from_fn(|i| map[i].iter().zip(c).map(|(m, c)| m * c).sum())
        };
        let found = Wdl { a: apply(&map_a, &wdl.a), b: apply(&map_b, &wdl.b), ..*wdl };
        let mut largest_error = 0.0f64;
        for stage in (wdl.from_stage..=wdl.to_stage).map(f64::from) {
            let ((a, b), (of_a, of_b)) = (found.a_and_b(stage), wdl.a_and_b(stage));
            let by = pawn(stage) / 100.0;
            largest_error = largest_error.max((a - of_a * by).abs()).max((b - of_b * by).abs());
        }
        let model = Model::Wdl(found);
        model.check().map_err(|e| NormalizationError::Falls(e.to_string()))?;
        let rows: Vec<Vec<f64>> = (0..2 * TERMS)
            .map(|i| {
                let (map, shift) = if i < TERMS { (&map_a, 0) } else { (&map_b, TERMS) };
                let mut row = vec![0.0; 2 * TERMS];
                row[shift..shift + TERMS].copy_from_slice(&map[i % TERMS]);
                row
            })
            .collect();
        let covariance = covariance.map(|v| {
            let mut square = Square::zero(2 * TERMS);
            v.iter().enumerate().for_each(|(i, row)| (0..=i).for_each(|j| square.add(i, j, row[j])));
            square.transformed(&rows)
        });
        Ok(Undone { model, covariance, largest_error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed() -> Wdl {
        Wdl {
            stage: StageUnit::Material,
            a: [2.0, -3.0, 4.0, 97.0],
            b: [1.0, -2.0, 3.0, 20.0],
            from_stage: 17,
            to_stage: 78,
        }
    }

    #[test]
    fn a_constant_scales_every_coefficient() {
        let undone = "250".parse::<Normalization>().unwrap().undo_model(&Model::Wdl(printed()), None).unwrap();
        let Model::Wdl(found) = undone.model else { panic!("{undone:?}") };
        for (f, p) in found.a.iter().chain(&found.b).zip(printed().a.iter().chain(&printed().b)) {
            assert!((f - 2.5 * p).abs() < 1e-7, "{f} {p}");
        }
        assert!(undone.largest_error < 1e-7);
    }

    #[test]
    fn where_100_is_a_pawn_at_every_stage_the_pawn_value_comes_back() {
        let pawn: Normalization = "-13.5, 40.9, -36.8, 386.8".parse().unwrap();
        let wdl = Wdl { a: [0.0, 0.0, 0.0, 100.0], ..printed() };
        let undone = pawn.undo_model(&Model::Wdl(wdl), None).unwrap();
        let Model::Wdl(found) = undone.model else { panic!("{undone:?}") };
        for (f, p) in found.a.iter().zip([-13.5, 40.9, -36.8, 386.8]) {
            assert!((f - p).abs() < 1e-6, "{f} {p}");
        }
        // b · N is of the sixth degree; the cubic is near it
        assert!(undone.largest_error > 1e-6 && undone.largest_error < 0.5, "{}", undone.largest_error);
    }

    #[test]
    fn what_cannot_be_taken_back_is_an_error() {
        assert!("3, x".parse::<Normalization>().is_err() && "".parse::<Normalization>().is_err());
        let model = Model::Wdl(printed());
        let falls = "1,-400".parse::<Normalization>().unwrap().undo_model(&model, None);
        assert!(matches!(falls, Err(NormalizationError::NotPositive { .. })), "{falls:?}");
        let by_stage = "1,2,3,400".parse::<Normalization>().unwrap();
        let sigmoid = by_stage.undo_model(&Model::Sigmoid(Sigmoid { w1: 0.004, w2: 0.0 }), None);
        assert_eq!(sigmoid, Err(NormalizationError::Model("sigmoid")));
    }
}
