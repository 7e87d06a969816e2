use evalcurve_calibration::{Calibration, FittedModel, Method, Score};
use evalcurve_rules::{self as rule, Role, Rule, TieRule, Vote, Voter};

use super::votes::{BEST, LANES, Plan, Votes};
use super::*;
use crate::plurality::{Tie, Voters, plurality};

const SEED: u64 = 20_161_231;

fn run(model: &Model, contenders: &[Contender], trials: u64) -> Simulation {
    simulate(model, contenders, RunOptions { trials, seed: SEED, threads: None }).unwrap()
}

fn assert_near(rate: Rate, exact: f64, what: &str) {
    let error = (exact * (1.0 - exact) / rate.trials as f64).sqrt();
    assert!((rate.value() - exact).abs() < 4.0 * error, "{what}: {} for {exact} ± {error}", rate.value());
}

/// The distribution of the moves of an engine with this noise, as a voter of the exact plurality.
fn voter(noise: f64, candidates: usize, gap: f64) -> Voters {
    let right = best_move_rate(noise, candidates, gap);
    let mut probabilities = vec![(1.0 - right) / (candidates as f64 - 1.0); candidates];
    probabilities[0] = right;
    let sum: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|p| *p /= sum);
    Voters { count: 1, weight: 1.0, probabilities }
}

#[test]
fn lfics_majority_is_exact_by_plurality_and_so_simulated() {
    for candidates in [2, 3, 5] {
        let noise = [1.0, 1.5, 1.5];
        let voters = noise.map(|s| voter(s, candidates, 1.0));
        let found = run(&Model::lfics(&noise, candidates, 1.0), &Contender::lfics(), 1_000_000);
        for (rate, s) in found.engines.iter().zip(noise) {
            assert_near(*rate, best_move_rate(s, candidates, 1.0), "single engine");
        }
        let exact = [Tie::Leader, Tie::Random].map(|tie| plurality(&voters, tie).unwrap()[0].wins);
        assert_near(found.rules[0].best_move, exact[0], "majority, leader");
        assert_near(found.rules[1].best_move, exact[1], "majority, drawn");
        if candidates == 3 {
            // the tie rule matters: specification of the model, three candidates
            assert_eq!(exact.map(|p| format!("{p:.3}")), ["0.669", "0.654"]);
        }
        for (i, j, rate) in &found.agreement {
            assert_near(*rate, agreement_rate([noise[*i], noise[*j]], candidates, 1.0), "agreement");
        }
    }
}

#[test]
fn rules_rank_as_in_lfics() {
    let rates = |model: &Model| -> Vec<f64> {
        run(model, &Contender::lfics(), 400_000).rules.iter().map(|r| r.best_move.value()).collect()
    };
    let [leader, _, optimistic, pessimistic, optimal, estimated] = rates(&Model::lfics(&[1.0, 1.2, 1.2], 3, 1.0))[..]
    else {
        panic!("six rules")
    };
    let alone = best_move_rate(1.0, 3, 1.0);
    // 多数決合議がかなり優秀で、楽観合議は多数決合議に劣る … 悲観合議は全く機能しません
    assert!(optimal > leader && leader > optimistic && optimistic > alone && alone > pessimistic);
    // 予測最善合議の結果は最善合議の結果とほぼ一致
    assert!((optimal - estimated).abs() < 0.005, "{optimal} {estimated}");
    // シンクロ率50%: 楽観合議と多数決合議が逆転
    let mut copying = Model::lfics(&[1.0, 1.2, 1.2], 3, 1.0);
    copying.synchronisations = vec![Synchronisation { of: 1, follower: 2, probability: 0.5 }];
    let [majority, _, optimism, ..] = rates(&copying)[..] else { panic!("six rules") };
    assert!(optimism > majority, "{optimism} {majority}");
    assert!(leader - majority > 3.0 * (optimistic - optimism).abs(), "optimism hardly changes");
}

#[test]
fn synchronised_engines_agree_as_often_as_they_should() {
    let mut model = Model::lfics(&[1.0, 2.0, 2.0], 3, 1.0);
    model.synchronisations = vec![Synchronisation { of: 1, follower: 2, probability: 0.3 }];
    let found = run(&model, &[], 500_000);
    let apart = agreement_rate([2.0, 2.0], 3, 1.0);
    assert_near(found.agreement[2].2, 0.3 + 0.7 * apart, "synchronised");
    assert_near(found.agreement[0].2, agreement_rate([1.0, 2.0], 3, 1.0), "apart");
    model.synchronisations[0].probability = 1.0;
    assert_eq!(run(&model, &[], 50_000).agreement[2].2.hits, 50_000);
}

#[test]
fn figures_do_not_depend_on_the_number_of_threads() {
    let model = Model::lfics(&[1.0, 1.5, 1.5], 3, 1.0);
    let with = |threads| {
        let options = RunOptions { trials: 300_001, seed: 7, threads: Some(threads) };
        Simulation {
            options: RunOptions { threads: None, ..options },
            ..simulate(&model, &Contender::lfics(), options).unwrap()
        }
    };
    assert_eq!(with(1), with(3));
    let other = RunOptions { trials: 300_001, seed: 8, threads: None };
    assert_ne!(simulate(&model, &Contender::lfics(), other).unwrap().engines, with(1).engines);
}

/// The simulation chooses the same move as a council in every position.
#[test]
fn every_rule_decides_as_a_council_does() {
    let mut model = Model::lfics(&[0.8, 1.1, 0.9, 1.3], 4, 0.7);
    model.synchronisations = vec![Synchronisation { of: 1, follower: 3, probability: 0.3 }];
    model.spread = 0.5;
    let mut contenders = Contender::lfics();
    contenders.retain(|c| c.tie == TieRule::Leader);
    contenders.extend(Rule::ALL.map(Contender::new));
    contenders.retain(|c| model.check(&[*c]).is_ok() && !c.rule.needs().standardized);
    let plan = Plan::new(&model, 99, &contenders, None);
    // for judged moves: 600 is one logit
    let identity = Calibration::from_model("E", Method::LeastSquares, FittedModel::sigmoid(1.0 / 600.0, 0.0));
    let voters: Vec<Voter<'_>> = model
        .engines
        .iter()
        .enumerate()
        .map(|(i, e)| Voter {
            role: if i == 0 { Role::Leader } else { Role::Member },
            noise: Some(e.noise),
            strength: Some(-e.noise),
            calibration: Some(&identity),
            ..Voter::member("engine")
        })
        .collect();
    let mut votes = Votes::<4>::new();
    let mut wrong = 0;
    for block in 0..50 {
        let positions: Vec<_> = (0..LANES as u64).map(|k| plan.draw::<4>(block * LANES as u64 + k)).collect();
        for (lane, position) in positions.iter().enumerate() {
            plan.put(position, &mut votes, lane);
        }
        for contender in &contenders {
            let here = plan.choose(contender, &votes);
            for (position, here) in positions.iter().zip(here) {
                let seen = plan.seen(position.trial, position.best, &position.moves);
                let judged: Vec<Vec<(rule::Move, Score)>> = seen
                    .iter()
                    .map(|row| position.moves.iter().zip(row).map(|(m, v)| (*m, Score::Cp(600.0 * v))).collect())
                    .collect();
                let ballot = |i: usize| {
                    let win_rate = 1.0 / (1.0 + libm::exp(-position.values[i]));
                    let vote = Vote::new(position.moves[i], Score::Cp(position.values[i]));
                    Some(Vote { win_rate: Some(win_rate), judged: &judged[i], ..vote })
                };
                let best = contender.best_known.then_some(position.best);
                let options =
                    rule::Options { gap: model.gap, best, caution: model.caution, ..rule::Options::default() };
                let council = rule::decide(&contender.rule, &voters, &[0, 1, 2, 3].map(ballot), &options).unwrap();
                // the conversion to win rates and back changes the last digits
                wrong += u32::from(here != council.chosen);
                assert!(here == council.chosen || contender.rule == Rule::Optimal, "{}", contender.name());
            }
        }
    }
    assert!(wrong <= 1, "{wrong}");
    assert_eq!(BEST, rule::Move(0));
}

#[test]
fn scales_mislead_only_raw_optimism() {
    let plain = Model { spread: 1.0, ..Model::lfics(&[1.0, 1.2, 1.4], 3, 1.0) };
    let mut scaled = plain.clone();
    for (engine, (gain, offset)) in scaled.engines.iter_mut().zip([(1.0, 0.0), (3.0, 0.0), (1.0, 2.0)]) {
        (engine.gain, engine.offset) = (gain, offset);
    }
    let rates = |model: &Model| -> Vec<u64> {
        run(model, &Contender::optimisms(), 300_000).rules.iter().map(|r| r.best_move.hits).collect()
    };
    let (before, after) = (rates(&plain), rates(&scaled));
    assert!(after[0] + 3000 < before[0], "raw optimism should suffer: {before:?} {after:?}");
    assert!(before[1].abs_diff(after[1]) <= 3, "standardised scores must not change: {before:?} {after:?}");
    assert_eq!(before[2], after[2], "win rates must not change");
    assert_eq!(before[0], before[2], "without scales raw scores are calibrated");
    // calibration errors reduce the rate
    scaled.engines.iter_mut().for_each(|e| (e.calibration_error, e.shift_error) = (0.3, 1.0));
    assert!(rates(&scaled)[2] + 3000 < before[2]);
}

#[test]
fn invalid_models_are_refused() {
    let message = |change: &dyn Fn(&mut Model)| {
        let mut model = Model::lfics(&[1.0, 1.5], 2, 1.0);
        change(&mut model);
        model.check(&Contender::lfics()).unwrap_err().to_string()
    };
    assert!(message(&|m| m.engines.clear()).contains("0 engines"));
    assert!(message(&|m| m.engines[1].noise = 0.0).contains("noise of engine 2 is 0"));
    assert!(message(&|m| m.engines[0].gain = f64::NAN).contains("gain of engine 1"));
    assert!(message(&|m| m.candidates = 1).contains("candidates"));
    assert!(message(&|m| m.gap = 0.0).contains("gap of the optimal rule"));
    let pair = |of, follower, probability| vec![Synchronisation { of, follower, probability }];
    assert!(message(&|m| m.synchronisations = pair(0, 2, 0.5)).contains("engines 1 and 3"));
    assert!(message(&|m| m.synchronisations = pair(0, 0, 0.5)).contains("two different"));
    assert!(message(&|m| m.synchronisations = pair(0, 1, 1.5)).contains("1.5"));
    let model = Model::lfics(&[1.0], 2, 1.0);
    assert!(model.check(&[Contender::new(Rule::LogPool)]).unwrap_err().to_string().contains("log-pool"));
    let none = RunOptions { trials: 0, seed: 0, threads: None };
    assert_eq!(simulate(&model, &[], none), Err(ModelError::Trials));
}
