//! Engine against engine, and the mismatch of raw scores, against statsmodels and pandas; see `tests/oracle/README.md`.

use std::collections::BTreeMap;

use evalcurve_calibration::types::Outcome;
use evalcurve_fit::calibration::{Calibration, FittedModel};
use evalcurve_fit::fit::{FitData, FitOptions, Method, Observation, Wald};
use serde_json::Value;

use super::mismatch::cells::Cells;
use super::mismatch::rows::MismatchRow;
use super::pairwise::{Fitted, pairwise};

const SAMPLES: &str = include_str!("../../../tests/oracle/observations.csv");
const EXPECTED: &str = include_str!("../../../tests/oracle/pairwise.expected.json");

/// The samples by engine, mates excluded, the games of each engine numbered from 0.
fn samples() -> BTreeMap<&'static str, Vec<Observation>> {
    let mut games: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut out: BTreeMap<&str, Vec<Observation>> = BTreeMap::new();
    for fields in SAMPLES.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        if fields[5] != "0" {
            continue;
        }
        let known = games.entry(fields[1]).or_default();
        let game = known.iter().position(|g| *g == fields[0]).unwrap_or_else(|| {
            known.push(fields[0]);
            known.len() - 1
        });
        let outcome = match fields[6] {
            "1" => Outcome::Win,
            "0.5" => Outcome::Draw,
            _ => Outcome::Loss,
        };
        let score_cp = fields[4].parse().unwrap();
        out.entry(fields[1]).or_default().push(Observation { game: game as u64, score_cp, outcome });
    }
    out
}

fn assert_close(what: &str, ours: f64, theirs: &Value, digits: f64) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours / theirs - 1.0).abs() < digits, "{what}: {ours:e} here, {theirs:e} there");
}

fn assert_wald(what: &str, ours: Wald, theirs: &Value) {
    assert_close(what, ours.statistic, &theirs["statistic"], 5e-7);
    assert_close(what, ours.p, &theirs["p"], 5e-7);
    assert_eq!(u64::from(ours.df), theirs["df"].as_u64().unwrap(), "{what}");
}

#[test]
fn engines_against_each_other_agree_with_statsmodels_to_six_digits() {
    let expected: Value = serde_json::from_str(EXPECTED).unwrap();
    let samples = samples();
    let data: Vec<(&str, FitData<'_>)> = samples.iter().map(|(name, o)| (*name, FitData::new(o))).collect();
    let fitted: Vec<Fitted<'_>> = data
        .iter()
        .map(|(name, data)| {
            let fit = data.fit(Method::MaximumLikelihood, &FitOptions::default()).unwrap();
            let influence = data.influence(fit.method, fit.sigmoid).unwrap();
            Fitted { name, fit, influence }
        })
        .collect();
    // the tests do not read the calibrations
    let calibration = Calibration::from_model("A", Method::LeastSquares, FittedModel::sigmoid(0.002, 0.0));
    let found = pairwise(&fitted, &vec![&calibration; fitted.len()], 200.0, &[]).unwrap();
    assert_eq!(serde_json::json!(found.engines), expected["engines"]);
    assert_eq!(found.games, expected["games"].as_u64().unwrap());
    assert_wald("all slopes", found.equal_slopes.unwrap(), &expected["equal_slopes"]);
    assert_wald("all curves", found.equal_curves.unwrap(), &expected["equal_curves"]);
    let pairs = expected["pairs"].as_array().unwrap();
    assert_eq!(found.pairs.len(), pairs.len());
    for (ours, theirs) in found.pairs.iter().zip(pairs) {
        let what = format!("pair {} {}", ours.first, ours.second);
        assert_wald(&what, ours.equal_slopes, &theirs["equal_slopes"]);
        assert_wald(&what, ours.equal_curves, &theirs["equal_curves"]);
    }
}

#[test]
fn the_mismatch_of_raw_scores_agrees_with_pandas() {
    let expected: Value = serde_json::from_str(EXPECTED).unwrap();
    let rows: Vec<MismatchRow> = samples()
        .values()
        .enumerate()
        .flat_map(|(engine, rows)| {
            let row =
                move |o: &Observation| MismatchRow { engine, value: f64::from(o.score_cp), result: o.outcome.value() };
            rows.iter().map(row).collect::<Vec<_>>()
        })
        .collect();
    let cells = Cells::new(&rows, samples().len());
    let (m_squared, samples) = cells.m_squared(cells.counted().into_iter());
    let theirs = &expected["raw_mismatch"];
    assert_eq!(samples, theirs["samples"].as_u64().unwrap());
    assert_close("M²", m_squared, &theirs["m_squared"], 1e-9);
}
