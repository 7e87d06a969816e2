//! Models and scores against statsmodels and scikit-learn; see `tests/oracle/README.md`.

use evalcurve_calibration::types::Outcome;
use serde_json::Value;

use super::*;
use crate::fit::oracle::of_repository;
use crate::fit::{FitOptions, ScoreCounts, fit_model, pool_adjacent_violators};

/// The samples of one engine without mates.
fn cases(samples: &str, engine: &str) -> Vec<Case> {
    let case = |f: Vec<&str>| Case {
        game: f[0].parse().unwrap(),
        score_cp: f[4].parse().unwrap(),
        outcome: match f[6] {
            "1" => Outcome::Win,
            "0.5" => Outcome::Draw,
            _ => Outcome::Loss,
        },
        situation: Situation { ply: Some(f[3].parse().unwrap()), ..Situation::default() },
    };
    let lines = samples.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    lines.filter(|f| f[1] == engine && f[5] == "0").map(case).collect()
}

/// The samples and what is expected of them.
fn oracle() -> Option<(String, Value)> {
    let samples = of_repository("tests/oracle/observations.csv")?;
    let expected = of_repository("tests/oracle/models.expected.json")?;
    Some((samples, serde_json::from_str(&expected).unwrap()))
}

fn close(what: &str, ours: f64, theirs: &Value) {
    let theirs = theirs.as_f64().unwrap();
    let scale = theirs.abs().max(1e-12);
    assert!((ours - theirs).abs() < 5e-7 * scale, "{what}: {ours:e} here, {theirs:e} there");
}

#[test]
fn the_phase_agrees_with_statsmodels_to_six_digits() {
    let Some((samples, expected)) = oracle() else { return };
    for (engine, theirs) in expected.as_object().unwrap() {
        let cases = cases(&samples, engine);
        let kind = ModelKind::Phase;
        let what = format!("{engine} {kind}");
        let ours = fit_model(kind, &cases, &FitOptions::default()).unwrap();
        let theirs = &theirs[kind.as_str()];
        for (i, (name, value)) in ours.model.parameters().into_iter().enumerate() {
            close(&format!("{what} {name}"), value, &theirs["parameters"][i]);
            for (j, value) in ours.covariance.as_ref().unwrap()[i].iter().enumerate() {
                close(&format!("{what} covariance {i} {j}"), *value, &theirs["covariance"][i][j]);
            }
        }
        close(&what, ours.mean_loss, &theirs["mean_loss"]);
        let Model::Phase(phase) = ours.model else { panic!("{what}") };
        assert_eq!(theirs["from_ply"], phase.from_ply);
        assert_eq!(theirs["to_ply"], phase.to_ply);
        close(&what, phase.middle_ply, &theirs["middle_ply"]);
    }
}

#[test]
fn pooled_win_rates_agree_with_scikit_learn() {
    let Some((samples, expected)) = oracle() else { return };
    for (engine, theirs) in expected.as_object().unwrap() {
        let cases = cases(&samples, engine);
        let observations: Vec<_> = cases.iter().map(Case::observation).collect();
        let counts = ScoreCounts::from_observations(&observations);
        let rows = counts.rows();
        let pools =
            pool_adjacent_violators(rows.iter().map(|r| (r.wins as f64 + 0.5 * r.draws as f64, r.total() as f64)));
        let Model::Isotonic(curve) = fit_model(ModelKind::Isotonic, &cases, &FitOptions::default()).unwrap().model
        else {
            panic!("{engine}");
        };
        for (case, theirs) in cases.iter().zip(theirs["isotonic"].as_array().unwrap()) {
            let row = rows.partition_point(|r| r.score_cp < case.score_cp);
            let pool = pools.iter().find(|p| p.first <= row && row <= p.last).unwrap();
            close(engine, pool.mean, theirs);
            if pool.mean > 0.0 && pool.mean < 1.0 {
                // the curve goes through the pools but for the certain ones
                close(engine, curve.win_rate(f64::from(case.score_cp)), theirs);
            }
        }
    }
}

#[test]
fn scores_agree_with_scikit_learn_and_statsmodels_to_six_digits() {
    let Some((samples, expected)) = oracle() else { return };
    for (engine, theirs) in expected.as_object().unwrap() {
        let theirs = &theirs["scores"];
        let forecasts: Vec<Forecast> = cases(&samples, engine)
            .iter()
            .map(|c| Forecast { game: c.game, logit: f64::from(c.score_cp) / 600.0, outcome: c.outcome })
            .collect();
        let ours = scores(&forecasts, &ScoreOptions { resamples: 20, ..ScoreOptions::default() }).unwrap();
        close(engine, ours.log_loss.value, &theirs["log_loss"]);
        close(engine, ours.log_loss.standard_error().unwrap(), &theirs["log_loss_mean"]["standard_error"]);
        close(engine, ours.brier.value, &theirs["brier"]);
        close(engine, ours.brier.standard_error().unwrap(), &theirs["brier_mean"]["standard_error"]);
        close(engine, ours.decomposition.miscalibration.value, &theirs["miscalibration"]);
        close(engine, ours.decomposition.discrimination.value, &theirs["discrimination"]);
        close(engine, ours.decomposition.uncertainty.value, &theirs["uncertainty"]);
        for (name, ours) in [("slope", ours.slope), ("intercept", ours.intercept)] {
            close(name, ours.unwrap().value, &theirs[name][0]);
            close(name, ours.unwrap().standard_error().unwrap(), &theirs[name][1]);
        }
        close(engine, ours.ece.value, &theirs["ece"]);
        close(engine, ours.spiegelhalter.unwrap().z, &theirs["spiegelhalter_z"]);
        close(engine, ours.spiegelhalter.unwrap().z_clustered, &theirs["spiegelhalter_z_clustered"]);
    }
}
