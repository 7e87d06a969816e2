//! Answers that a program of somebody else once got without a word.

use evalcurve_calibration::types::Outcome;
use evalcurve_calibration::{Calibration, FittedModel, Method, Reading, Score, Situation, permille};
use evalcurve_fit::fit::{Fit, Observation};
use evalcurve_rules::{Options, Role, Rule, Voter, check};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/calibration/examples/zshogi.json");

#[test]
fn a_broken_score_has_no_win_rate() {
    // the unit tests of the crate do so with every model
    let joint = Calibration::read(FILE).unwrap();
    let sigmoid = Calibration::from_model("600", Method::MaximumLikelihood, FittedModel::sigmoid(1.0 / 600.0, 0.0));
    let strange = Situation { strength: Some(f64::NAN), ..Situation::new() };
    for found in [joint.estimate(f64::NAN), sigmoid.estimate(f64::NAN), joint.at(strange).estimate(300)] {
        assert!(found.value.is_nan() && found.interval.is_none(), "{found:?}");
    }
    for engine in [&joint, &sigmoid] {
        assert!(engine.win_rate(Score::Cp(f64::NAN)).is_nan());
        assert_eq!(engine.interval(Reading::Equal, Score::Cp(f64::NAN), &Situation::new()), None);
    }
    assert_eq!(joint.at(Situation::new()).wdl(f64::NAN).unwrap().permille(), None);
    assert_eq!(permille([f64::NAN; 3]), None);
}

#[test]
fn a_fit_does_not_drop_the_opponents() {
    // 6 of 10 games are won at +300, 1 of 10 at -300
    let row = |i: u64| {
        let (score_cp, wins) = if i % 2 == 0 { (300, 6) } else { (-300, 1) };
        Observation { game: i, score_cp, outcome: if i / 2 % 10 < wins { Outcome::Win } else { Outcome::Loss } }
    };
    let fit = Fit::sigmoid((0..6000).map(row)).unwrap();
    let (here, equals) = (fit.in_these_games(300), fit.between_equals(300));
    assert!((here.value - 0.6).abs() < 1e-6 && here.interval.is_some_and(|[low, high]| low < 0.6 && 0.6 < high));
    assert!(equals.interval.is_some_and(|[low, high]| 0.77 < low && high < 0.80), "{equals:?}");
    assert!(fit.w2().interval.is_some_and(|[low, _]| low > 0.8), "{:?}", fit.w2());
    let mine = fit.into_calibration("mine");
    assert_eq!(mine.estimate(300), equals);
    assert_eq!(format!("{:.12}", mine.at(Situation::new()).in_the_field().estimate(300)), format!("{here:.12}"));
}

#[test]
fn a_win_rate_lies_in_its_interval_also_as_a_mate() {
    let engine = Calibration::read(FILE).unwrap();
    for score in [-1e9, -20_000.0, -19_999.0, 0.0, 19_999.0, 20_000.0, 1e9] {
        let found = engine.estimate(score);
        assert!(found.interval.is_none_or(|[low, high]| low <= found.value && found.value <= high), "{found:?}");
        assert_eq!(found.interval.is_none(), score.abs() >= 20_000.0, "{score}");
    }
    assert_eq!([-20_000.0, 20_000.0].map(|score| engine.estimate(score).value), [0.0, 1.0]);
}

#[test]
fn a_council_without_calibrations_compares_no_win_rates() {
    let mut voters = ["A", "B", "C"].map(|name| Voter { strength: Some(0.0), ..Voter::member(name) });
    (voters[0].role, voters[2].role) = (Role::Leader, Role::Chooser);
    let refused = |rule: &&Rule| {
        let error = check(*rule, &voters, &Options::default()).err().map(|error| error.to_string());
        error.is_some_and(|error| error.contains("it compares win rates, and no voter has a calibration"))
    };
    let refused: Vec<&str> = Rule::ALL.iter().filter(refused).map(|rule| rule.as_str()).collect();
    let all =
        "winrate-optimistic mean-winrate log-pool optimal corrected-optimistic strength-pool cross-examination budget";
    assert_eq!(refused.join(" "), all);
}
