//! Simulated engines whose skill is known.

use evalcurve_calibration::types::Outcome;
use evalcurve_fit::fit::{Case, Cases, Situation};
use evalcurve_words::random;

use super::together::{Correlations, Weights};
use super::*;
use evalcurve_app::judge::judges::{Conflicts, conflicts, found};

/// A standard normal number.
fn normal(key: &[u64]) -> f64 {
    let unit = |last: u64| random::unit(&[key, &[last]].concat());
    (-2.0 * libm::log(1.0 - unit(0))).sqrt() * libm::cos(std::f64::consts::TAU * unit(1))
}

/// How an engine sees the true logit of a position: with noise of its own, or as another engine with more noise.
#[derive(Clone, Copy)]
enum Sight {
    Own(f64),
    As(usize, f64),
}

/// Standard deviation of the true logits.
const SPREAD: f64 = 2.0;

/// Two positions each of so many games. Forecasts are right on average: noise shrinks them.
fn simulated(games: u64, sights: &[Sight], seed: u64) -> (Vec<EngineCases>, Vec<Result<Vec<Forecast>, ValidateError>>) {
    let mut engines: Vec<(EngineCases, Vec<Forecast>)> = Vec::new();
    let name = |e: usize| EngineCases { name: format!("engine {e}"), cases: Cases::default() };
    engines.extend((0..sights.len()).map(|e| (name(e), Vec::new())));
    for game in 0..games {
        let truth = SPREAD * normal(&[seed, 1, game]);
        let won = random::unit(&[seed, 2, game]) < 1.0 / (1.0 + libm::exp(-truth));
        let outcome = if won { Outcome::Win } else { Outcome::Loss };
        for place in 0..2 {
            let mut seen: Vec<(f64, f64)> = Vec::new();
            for (e, sight) in (0..).zip(sights) {
                let noise = |size: f64| size * normal(&[seed, 3, game, place, e]);
                let (at, variance) = match *sight {
                    Sight::Own(size) => (truth + noise(size), size * size),
                    Sight::As(other, size) => (seen[other].0 + noise(size), seen[other].1 + size * size),
                };
                seen.push((at, variance));
                let logit = at * SPREAD * SPREAD / (SPREAD * SPREAD + variance);
                let ply = 30 + 60 * place as u32 + (game % 60) as u32;
                let situation = Situation { ply: Some(ply), ..Situation::default() };
                let (cases, forecasts) = &mut engines[e as usize];
                cases.cases.extend([Case { game, score_cp: 0, outcome, situation }]);
                forecasts.push(Forecast { game, logit, outcome });
            }
        }
    }
    engines.into_iter().map(|(cases, forecasts)| (cases, Ok(forecasts))).unzip()
}

fn judged(games: u64, sights: &[Sight], seed: u64) -> Judges {
    let (cases, forecasts) = simulated(games, sights, seed);
    judges(&cases, &forecasts, &FoldOptions::default(), 60).unwrap()
}

#[test]
fn the_best_engine_is_found() {
    let found = judged(1_500, &[Sight::Own(2.0), Sight::Own(0.5), Sight::Own(2.0)], 1);
    assert!(found.has_best() && found.engines[0].name == "engine 1", "{:?}", found.engines);
    assert_eq!((found.positions, found.games, found.not_by_all), (3_000, 1_500, 0));
    assert_eq!([found.engines[1].places, found.engines[2].places], [[2, 3]; 2]);
    let names: Vec<String> = found.groups.iter().map(|g| g.label.to_string()).collect();
    assert_eq!(names, ["ply 30–89", "ply 90+", "ply 30–59", "ply 60–89", "ply 90–119", "ply 120+"]);
    assert_eq!(found.groups[..2].iter().map(|g| g.positions).sum::<u64>(), found.positions);
    assert_eq!(found.groups[2..].iter().map(|g| g.positions).sum::<u64>(), found.positions);
    assert_eq!(found.better_in_a_group().count(), 0);
}

#[test]
fn a_part_of_the_positions_may_have_another_best() {
    let (cases, mut forecasts) = simulated(1_500, &[Sight::Own(0.5), Sight::Own(1.5)], 2);
    // the first engine sees nothing from ply 90 on
    let first = forecasts[0].as_mut().unwrap();
    first
        .iter_mut()
        .zip(cases[0].cases.iter())
        .filter(|(_, c)| c.situation.ply >= Some(90))
        .for_each(|(f, _)| f.logit *= -0.2);
    let found = judges(&cases, &forecasts, &FoldOptions::default(), 60).unwrap();
    let better: Vec<String> = found.better_in_a_group().map(|(g, e)| format!("{} {}", e.name, g.label)).collect();
    assert_eq!(found.engines[0].name, "engine 1");
    assert_eq!(better, ["engine 0 ply 30–89", "engine 0 ply 30–59", "engine 0 ply 60–89"]);
}

#[test]
fn engines_of_equal_skill_are_seldom_told_apart() {
    let alarms = (0..100).filter(|seed| {
        let found = judged(150, &[Sight::Own(1.0); 3], 100 + seed);
        found.pairs.iter().any(|pair| pair.p_corrected < LEVEL)
    });
    // 5 expected at most; more than 11 have a probability of 0.4%
    assert!(alarms.count() <= 11);
}

#[test]
fn intervals_of_differences_cover_the_truth() {
    let sights = [Sight::Own(0.8), Sight::Own(1.2)];
    // engines by name, not by rank
    let difference = |games: u64, seed: u64| {
        let (_, forecasts) = simulated(games, &sights, seed);
        let [one, other] = &forecasts[..] else { panic!() };
        log_loss_difference(other.as_ref().unwrap(), one.as_ref().unwrap()).unwrap()
    };
    let truth = difference(200_000, 7).value;
    let covered = (0..300).filter(|seed| {
        let [low, high] = difference(200, 1_000 + seed).interval.unwrap();
        low <= truth && truth <= high
    });
    let share = covered.count() as f64 / 300.0;
    assert!((0.915..=0.985).contains(&share), "{share}");
}

#[test]
fn a_stack_finds_what_engines_add() {
    let found = judged(1_500, &[Sight::Own(1.5), Sight::Own(1.5), Sight::As(0, 1.0)], 3);
    let together = found.together.as_ref().unwrap();
    let below = |e: Option<Estimate>| e.unwrap().interval.unwrap()[1] < 0.0;
    assert!(below(together.stacked.against_best), "{:?}", together.stacked);
    let of = |name: &str| found.engines.iter().position(|e| e.name == name).unwrap();
    let member = |name: &str| &together.engines[of(name)];
    for name in ["engine 0", "engine 1"] {
        let Member { weight, adds, with_results, .. } = member(name);
        assert!(*weight > 0.2 && adds.unwrap().interval.unwrap()[0] > 0.0, "{:?}", member(name));
        assert!(with_results.unwrap().interval.unwrap()[0] > 0.0);
    }
    // engine 2 sees nothing that engine 0 does not see
    let Member { weight, adds, with_results, .. } = member("engine 2");
    assert!((0.0..0.15).contains(weight) && adds.unwrap().value < 0.001, "{:?}", member("engine 2"));
    assert!(with_results.unwrap().value.abs() < 0.05);
    let pair = |a: &str, b: &str| {
        let (a, b) = (of(a).min(of(b)), of(a).max(of(b)));
        together.pairs.iter().find(|pair| (pair.first, pair.second) == (a, b)).unwrap().partial.unwrap().value
    };
    assert!(pair("engine 0", "engine 2") > 0.6 && pair("engine 1", "engine 2").abs() < 0.1);
}

#[test]
fn a_stack_has_no_negative_weight() {
    // an engine that sees the opposite
    let (cases, mut forecasts) = simulated(500, &[Sight::Own(1.0), Sight::Own(1.0)], 4);
    forecasts[1].as_mut().unwrap().iter_mut().for_each(|f| f.logit *= -1.0);
    let found = judges(&cases, &forecasts, &FoldOptions::default(), 60).unwrap();
    let together = found.together.unwrap();
    assert_eq!(together.engines[1].weight, 0.0);
    assert_eq!(together.engines[1].weights_of_folds, [0.0, 0.0]);
    assert_eq!(together.engines[1].adds.unwrap(), Estimate { value: 0.0, interval: None });
    assert!(together.mean.against_best.unwrap().interval.unwrap()[0] > 0.0);
}

#[test]
fn one_engine_twice_has_no_best_and_one_weight() {
    let (mut cases, mut forecasts) = simulated(300, &[Sight::Own(1.0)], 5);
    cases.push(cases[0].clone());
    forecasts.push(forecasts[0].clone());
    let found = judges(&cases, &forecasts, &FoldOptions::default(), 60).unwrap();
    assert!(!found.has_best());
    assert_eq!((found.pairs[0].difference.value, found.pairs[0].p), (0.0, 1.0));
    let weights: Vec<f64> = found.together.unwrap().engines.iter().map(|e| e.weight).collect();
    assert!(weights[0] > 0.5 && weights[1] == 0.0, "{weights:?}");
}

#[test]
fn intervals_of_partial_correlations_cover_the_truth() {
    let sights = [Sight::Own(1.0), Sight::Own(1.0), Sight::Own(1.0)];
    let partial = |games: u64, seed: u64| {
        let (cases, forecasts) = simulated(games, &sights, seed);
        Correlations::new(&shared(&cases, &forecasts).0).given_others(0, 1, &[2]).unwrap()
    };
    let truth = partial(100_000, 9).value;
    // of scores it is (r - r²)/(1 - r²) = 0.44, with r = 4/5 of any two engines
    assert!((0.35..0.5).contains(&truth), "{truth}");
    let covered = (0..300).filter(|seed| {
        let [low, high] = partial(150, 5_000 + seed).interval.unwrap();
        low <= truth && truth <= high
    });
    let share = covered.count() as f64 / 300.0;
    assert!((0.90..=0.985).contains(&share), "{share}");
}

#[test]
fn only_positions_of_all_engines_count() {
    let (mut cases, mut forecasts) = simulated(300, &[Sight::Own(1.0); 4], 6);
    let mut keep = |e: usize, n: usize| {
        cases[e].cases = cases[e].cases.iter().take(n).collect();
        forecasts[e].as_mut().unwrap().truncate(n);
    };
    keep(1, 400);
    keep(2, 299);
    // the last one is calibrated on other games
    cases[3].cases = cases[3].cases.iter().map(|case| Case { game: case.game + 1_000, ..case }).collect();
    let found = judges(&cases, &forecasts, &FoldOptions::default(), 60).unwrap();
    assert_eq!((found.positions, found.not_by_all, found.engines.len()), (299, 101, 3));
    let alone = [0, 3].map(|e| cases[e].clone());
    let of_these = [0, 3].map(|e| forecasts[e].clone());
    assert_eq!(judges(&alone, &of_these, &FoldOptions::default(), 60), None);
    assert_eq!(judges(&[], &[], &FoldOptions::default(), 60), None);
}

#[test]
fn no_other_weights_are_better() {
    let (cases, forecasts) = simulated(400, &[Sight::Own(1.0), Sight::Own(1.5)], 8);
    let shared = shared(&cases, &forecasts).0;
    let everywhere: Vec<usize> = (0..shared.positions()).collect();
    let Weights { weights, constant } = Weights::fit(&shared, &[0, 1], &everywhere).unwrap();
    let loss = |w: [f64; 2], c: f64| {
        let logit = |i: usize| c + w[0] * shared.forecasts[0][i].logit + w[1] * shared.forecasts[1][i].logit;
        let all: Vec<Forecast> =
            everywhere.iter().map(|&i| Forecast { logit: logit(i), ..shared.forecasts[0][i] }).collect();
        mean_log_loss(&all).unwrap().value
    };
    let least = loss([weights[0], weights[1]], constant);
    for step in [[0.02, 0.0, 0.0], [0.0, 0.02, 0.0], [0.0, 0.0, 0.02]] {
        for sign in [1.0, -1.0] {
            let [a, b, c] = step.map(|s| sign * s);
            assert!(loss([weights[0] + a, weights[1] + b], constant + c) > least);
        }
    }
}

#[test]
fn conflicts_say_whom_to_believe() {
    // the second engine sees hardly anything, and both forecasts are right on average
    let (cases, mut forecasts) = simulated(2_000, &[Sight::Own(0.3), Sight::Own(6.0)], 11);
    let all = conflicts(&cases, &forecasts);
    let large =
        |first: &str, all: &[Conflicts]| all.iter().find(|c| c.engines[0] == first && c.from == 0.3).cloned().unwrap();
    for (first, believed) in [("engine 0", 0), ("engine 1", 1)] {
        let found = large(first, &all);
        assert_eq!(found.believe(), Some(believed), "{found:?}");
        // the result is where the good engine said, and not where the other did
        let [good, other] = [believed, 1 - believed].map(|which| (found.said[which] - found.was.value).abs());
        assert!(good < 0.05 && other > 0.25, "{found:?}");
        let [low, high] = found.was_interval().unwrap();
        assert!(low < found.was.value && found.was.value < high && found.games <= found.positions, "{found:?}");
    }
    // a position finds the conflicts of its size, whichever engine is named first
    let found_size =
        |rates: [f64; 2]| found(&all, ["engine 0", "engine 1"], rates).map(|c| (c.engines[0].as_str(), c.from));
    assert_eq!(found_size([0.75, 0.5]), Some(("engine 0", 0.2)));
    assert_eq!(found_size([0.4, 0.75]), Some(("engine 1", 0.3)));
    // 33 and 51 points are two sizes
    assert_eq!([0.33, 0.51].map(|apart| found_size([0.9, 0.9 - apart]).unwrap().1), [0.3, 0.5]);
    assert_eq!(found_size([0.5, 0.52]), None);
    assert_eq!(found(&all, ["engine 0", "engine 7"], [0.1, 0.9]), None);

    // an engine that is bold is nearer to most results, and not to be believed for that
    forecasts[1] = Ok(forecasts[0].as_ref().unwrap().iter().map(|f| Forecast { logit: 3.0 * f.logit, ..*f }).collect());
    let bold = conflicts(&cases, &forecasts).into_iter().find(|c| c.engines[0] == "engine 1" && c.from == 0.1).unwrap();
    assert!(bold.first_nearer > 0.6 && bold.believe() != Some(0), "{bold:?}");

    // few games say nothing
    let (cases, forecasts) = simulated(15, &[Sight::Own(0.3), Sight::Own(6.0)], 11);
    assert!(conflicts(&cases, &forecasts).iter().all(|c| c.believe().is_none()));
}

#[test]
fn equal_engines_are_seldom_believed_more() {
    let told = |seed: u64| {
        let (cases, forecasts) = simulated(300, &[Sight::Own(1.5); 2], 500 + seed);
        let all = conflicts(&cases, &forecasts);
        [all.len(), all.iter().filter(|c| c.believe().is_some()).count()]
    };
    let [all, believed] = (0..60).map(told).fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    // 5% are expected by chance
    assert!(all > 300 && believed * 100 <= 9 * all, "{believed} of {all}");
}
