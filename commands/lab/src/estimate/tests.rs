use evalcurve_rules::Rule;

use super::*;
use crate::simulate::{Contender, RunOptions, simulate};

fn truth() -> Model {
    let mut model = Model::lfics(&[0.5, 0.7, 0.9], 3, 0.6);
    model.spread = 0.8;
    model
}

#[test]
fn known_parameters_are_recovered_within_four_standard_errors() {
    let truth = truth();
    let found = estimate(3, &drawn(&truth, 2500, 1).unwrap(), EstimateOptions::default()).unwrap();
    assert_eq!(found.candidates, 3, "{:?}", found.tried);
    let near = |e: Estimated, exact: f64, what: &str| {
        assert!((e.value - exact).abs() < 4.0 * e.standard_error, "{what}: {e:?} for {exact}");
        assert!(e.standard_error < 0.15 * exact, "{what}: {e:?} is too uncertain");
    };
    near(found.gap, 0.6, "gap");
    for (e, engine) in found.noise.iter().zip(&truth.engines) {
        near(*e, engine.noise, "noise");
    }
    for pair in &found.pairs {
        assert!(pair.synchronisation.value.abs() < 4.0 * pair.synchronisation.standard_error, "{pair:?}");
        assert_eq!(pair.copied, 0);
    }
}

/// The likelihood of unlabelled moves has one term per labelling: without it, four candidates look like three with half
/// the gap.
#[test]
fn the_number_of_candidates_is_recovered() {
    for (candidates, seed) in [(2, 4), (4, 1)] {
        let truth = Model { candidates, ..truth() };
        let found = estimate(3, &drawn(&truth, 2500, seed).unwrap(), EstimateOptions::default()).unwrap();
        assert_eq!(found.candidates, candidates, "{:?}", found.tried);
        assert!((found.gap.value - 0.6).abs() < 4.0 * found.gap.standard_error, "{:?}", found.gap);
    }
}

#[test]
fn synchronisation_is_recovered_and_predicts_gains() {
    let mut truth = truth();
    truth.synchronisations = vec![Synchronisation { of: 1, follower: 2, probability: 0.5 }];
    let options = EstimateOptions { candidates: Some(3), ..EstimateOptions::default() };
    let found = estimate(3, &drawn(&truth, 2500, 2).unwrap(), options).unwrap();
    let pair = found.pairs[2];
    assert!((pair.synchronisation.value - 0.5).abs() < 0.08, "{pair:?}");
    assert!((pair.copied as f64 / pair.positions as f64 - 0.5).abs() < 0.04, "{pair:?}");
    let model = found.model();
    assert!(model.synchronisations.iter().any(|s| s.of == 1 && s.follower == 2), "{model:?}");
    let run = RunOptions { trials: 200_000, seed: 5, threads: None };
    let contenders = [Contender::new(Rule::Majority), Contender::new(Rule::Optimistic)];
    let gains = |m: &Model| simulate(m, &contenders, run).unwrap().rules.iter().map(|r| r.gain).collect::<Vec<_>>();
    for (predicted, real) in gains(&model).iter().zip(gains(&truth)) {
        assert!((predicted - real).abs() < 0.02, "{predicted} {real}");
    }
}

#[test]
fn insufficient_votes_are_refused() {
    let options = EstimateOptions::default();
    assert_eq!(estimate(1, &[], options), Err(EstimateError::Voters(1)));
    assert_eq!(estimate(3, &[], options), Err(EstimateError::Positions { found: 0 }));
    let votes = drawn(&truth(), 300, 1).unwrap();
    assert_eq!(estimate(4, &votes, options), Err(EstimateError::Silent(4)));
    let few = EstimateOptions { candidates: Some(2), ..options };
    assert_eq!(estimate(3, &votes, few), Err(EstimateError::Candidates { seen: 3, candidates: 2 }));
}
