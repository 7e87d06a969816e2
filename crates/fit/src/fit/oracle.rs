//! Our fits against those of scipy and statsmodels; see `tests/oracle/README.md`.

use evalcurve_calibration::types::Outcome;
use serde_json::Value;

use super::*;

/// The text of a file of the repository; `None` in a package, which does not hold it.
pub(crate) fn of_repository(path: &str) -> Option<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/oracle").is_dir().then(|| std::fs::read_to_string(root.join(path)).unwrap())
}

/// The samples of one engine, with or without mates.
fn observations(samples: &str, engine: &str, keep_mates: bool) -> Vec<Observation> {
    samples
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|f| f[1] == engine && (keep_mates || f[5] == "0"))
        .map(|f| Observation {
            game: f[0].parse().unwrap(),
            score_cp: f[4].parse().unwrap(),
            outcome: match f[6] {
                "1" => Outcome::Win,
                "0.5" => Outcome::Draw,
                _ => Outcome::Loss,
            },
        })
        .collect()
}

fn assert_close(what: &str, ours: f64, theirs: &Value) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours / theirs - 1.0).abs() < 5e-7, "{what}: {ours:e} here, {theirs:e} there");
}

#[test]
fn fits_agree_with_scipy_and_statsmodels_to_six_digits() {
    let Some(samples) = of_repository("tests/oracle/observations.csv") else { return };
    let expected = of_repository("tests/oracle/observations.expected.json").unwrap();
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let mut fits = 0;
    for (engine, policies) in expected.as_object().unwrap() {
        for (policy, theirs) in policies.as_object().unwrap() {
            let observations = observations(&samples, engine, policy == "mates_kept");
            for method in Method::ALL {
                let ours = fit(method, &observations, &FitOptions::default()).unwrap();
                let what = format!("{engine} {policy} {method}");
                assert_eq!(ours.samples, theirs["samples"].as_u64().unwrap(), "{what}");
                assert_eq!(ours.games, theirs["games"].as_u64().unwrap(), "{what}");
                let theirs = &theirs[method.as_str()];
                assert_close(&what, ours.sigmoid.w1, &theirs["w1"]);
                assert_close(&what, ours.sigmoid.w2, &theirs["w2"]);
                assert_close(&what, ours.mean_loss, &theirs["mean_loss"]);
                for i in 0..2 {
                    for j in 0..2 {
                        assert_close(&what, ours.covariance[i][j], &theirs["covariance"][i][j]);
                    }
                }
                assert!(method == Method::LeastSquares || ours.passes <= 50, "{what}");
                fits += 1;
            }
        }
    }
    assert_eq!(fits, 12);
}

#[test]
fn a_wrong_sided_mate_moves_the_likelihood_more_than_the_squares() {
    let Some(samples) = of_repository("tests/oracle/observations.csv") else { return };
    let w1 =
        |method, keep| fit(method, &observations(&samples, "mates", keep), &FitOptions::default()).unwrap().sigmoid.w1;
    let moved = |method| (w1(method, true) / w1(method, false) - 1.0).abs();
    assert!(moved(Method::MaximumLikelihood) > 0.3);
    assert!(moved(Method::LeastSquares) < 0.1);
}
