//! The program's fits of the shipped games compared with scipy and statsmodels (see `tests/oracle`).

use serde_json::Value;

use crate::support::{Folder, engine, project_data};

/// Agreement to six significant digits.
fn close(ours: &Value, theirs: &Value, place: &str) {
    let (ours, theirs) = (ours.as_f64().unwrap(), theirs.as_f64().unwrap());
    assert!((ours - theirs).abs() <= 1e-6 * theirs.abs(), "{place}: {ours} here, {theirs} by the oracle");
}

#[test]
fn fits_of_the_shipped_games_equal_scipy_and_statsmodels() {
    let data = project_data("selfplay");
    let folder = Folder::new();
    let oracle: Value = serde_json::from_str(include_str!("../oracle/selfplay.expected.json")).unwrap();
    for (policy, key) in [("exclude", "mates_excluded"), ("keep", "mates_kept")] {
        let document =
            folder.document(&["calibrate", "--dry-run", &data, "--mate-threshold", "auto", "--mate-policy", policy]);
        let engines = oracle.as_object().unwrap();
        assert_eq!(document["engines"].as_array().unwrap().len(), engines.len());
        for (name, expected) in engines {
            let (ours, expected) = (engine(&document, name), &expected[key]);
            assert_eq!(ours["fitted"], expected["samples"], "{name} {policy}");
            for method in ["least_squares", "maximum_likelihood"] {
                let place = format!("{name}, {method}, mates {policy}");
                close(&ours[method]["w1"], &expected[method]["w1"], &place);
                close(&ours[method]["w2"], &expected[method]["w2"], &place);
                for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    close(&ours[method]["covariance"][i][j], &expected[method]["covariance"][i][j], &place);
                }
            }
        }
    }
}
