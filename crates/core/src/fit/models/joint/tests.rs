//! Slopes, strengths and lapses that were planted are found.

use super::fit::{MOST_ENGINES, blocks, players, rows};
use super::objective::{Layout, Objective, Row};
use crate::fit::SharedPosition;
use crate::fit::search::Loss;
use crate::fit::{Case, FitError, FitOptions, Method, Model, ModelFit, ModelKind, ScoreCounts, Situation, fit_counts};
use crate::fit::{Joint, Sigmoid};
use crate::random::unit;
use crate::types::Outcome;

/// Logits from 12 uniform numbers: normal, mean 0, standard deviation 1.
fn normal(keys: &[u64]) -> f64 {
    (0..12).map(|i| unit(&[keys, &[i]].concat())).sum::<f64>() - 6.0
}

/// A round robin of engines with other scales and strengths. Engine 0 meets the strong, the last one the weak.
fn planted(scales: &[f64], strengths: &[f64], games: u64, seed: u64, rated: bool) -> Vec<Vec<Case>> {
    let n = scales.len();
    let mut engines = vec![Vec::new(); n];
    for game in 0..games {
        let a = (unit(&[seed, game, 1]) * n as f64) as usize;
        let b = (a + 1 + (unit(&[seed, game, 2]) * (n - 1) as f64) as usize) % n;
        let position = 1.5 * normal(&[seed, game, 3]);
        let advantage = strengths[a] - strengths[b];
        let p = Sigmoid { w1: 1.0, w2: 0.0 }.win_rate(position + advantage);
        let outcome = if unit(&[seed, game, 4]) < p { Outcome::Win } else { Outcome::Loss };
        let score = |e: usize, sign: f64| {
            let seen = sign * position + 0.3 * normal(&[seed, game, 5, e as u64]);
            (seen * scales[e]) as i32
        };
        let (own, reply) = (score(a, 1.0), score(b, -1.0));
        let case = |players: [usize; 2], score_cp, outcome, reply: Option<i32>| Case {
            game,
            score_cp,
            outcome,
            situation: Situation {
                strength: rated.then(|| strengths[players[0]] - strengths[players[1]]),
                engine: Some(players[0] as u32),
                players: Some(players.map(|p| p as u32)),
                shared: reply.map(|cp| SharedPosition { engine: players[1] as u32, score_cp: -cp, replied: true }),
                ..Situation::default()
            },
        };
        engines[a].push(case([a, b], own, outcome, Some(reply)));
        engines[b].push(case([b, a], reply, outcome.reversed(), None));
    }
    engines
}

fn slopes(engines: &[Vec<Case>]) -> Vec<(Joint, ModelFit)> {
    let cases: Vec<&[Case]> = engines.iter().map(Vec::as_slice).collect();
    let fits = crate::fit::fit_engines(ModelKind::Joint, &cases, &FitOptions::default());
    fits.into_iter()
        .map(|fit| {
            let fit = fit.unwrap();
            let Model::Joint(model) = fit.model else { panic!("{fit:?}") };
            (model, fit)
        })
        .collect()
}

#[test]
fn scales_are_found_whatever_the_opponents_with_ratings_and_without() {
    let (scales, strengths) = ([300.0, 600.0, 900.0, 1500.0], [1.2, 0.4, -0.4, -1.2]);
    for rated in [true, false] {
        let found = slopes(&planted(&scales, &strengths, 6000, 7, rated));
        for (i, (model, fit)) in found.iter().enumerate() {
            let error = fit.standard_errors().unwrap()[0];
            // scores hold noise, so that all slopes are a little flatter, by the same factor
            let ratio = model.w1 * scales[i] / (found[0].0.w1 * scales[0]);
            assert!((ratio - 1.0).abs() < 4.0 * error / model.w1 + 0.02, "{rated} {i}: {ratio} {error} {model:?}");
            assert!(model.lapse < 0.01, "{model:?}");
        }
        // the field of the strongest is the easiest: its opponents' mean advantage is lowest
        assert!(found.windows(2).all(|w| w[0].0.w2 < w[1].0.w2), "{found:?}");
    }
}

#[test]
fn one_large_score_that_contradicts_its_result_decides_nothing() {
    let mut engines = planted(&[300.0, 600.0, 900.0], &[0.3, 0.0, -0.3], 150, 5, false);
    let before = slopes(&engines);
    let last = engines[0].last_mut().unwrap();
    (last.score_cp, last.outcome) = (30_000, Outcome::Loss);
    let alone = ScoreCounts::from_observations(&engines[0].iter().map(Case::observation).collect::<Vec<_>>());
    let plain = fit_counts(Method::MaximumLikelihood, &alone, &FitOptions::default());
    assert!(matches!(plain, Err(FitError::SlopeNotPositive { .. })), "{plain:?}");
    let after = slopes(&engines);
    assert!((after[0].0.w1 / before[0].0.w1 - 1.0).abs() < 0.2, "{before:?} {after:?}");

    // with the wrong sign throughout it is refused
    engines[0].iter_mut().for_each(|case| case.score_cp = -case.score_cp);
    let cases: Vec<&[Case]> = engines.iter().map(Vec::as_slice).collect();
    let fits = crate::fit::fit_engines(ModelKind::Joint, &cases, &FitOptions::default());
    assert!(matches!(fits[0], Err(FitError::SlopeNotPositive { .. })) && fits[1].is_ok(), "{fits:?}");
}

#[test]
fn derivatives_are_those_of_the_loss() {
    let engines = planted(&[300.0, 600.0, 900.0], &[0.5, 0.0, -0.5], 60, 3, true);
    let cases: Vec<&[Case]> = engines.iter().map(Vec::as_slice).collect();
    let numbers = players(&cases);
    let mut rows: Vec<Row> = rows(&cases, &numbers, &FitOptions::default());
    // some of them of the same position, without a move in between
    rows.iter_mut().step_by(3).filter_map(|row| row.shared.as_mut()).for_each(|shared| shared.chosen = 0.0);
    for chosen in [0.0, 1.0] {
        assert!(rows.iter().any(|row| row.shared.is_some_and(|shared| shared.chosen == chosen)));
    }
    let layout = Layout { players: numbers.len(), engines: 3, rated: true, lapse: true };
    let objective = Objective { rows: &rows, layout, strength_sd: 0.2, spread: vec![1.0; layout.size()] };
    let mut at: Vec<f64> = (0..layout.size() as u64).map(|i| unit(&[9, i]) - 0.3).collect();
    *at.last_mut().unwrap() = 0.03;
    let here = objective.evaluate(&at).unwrap();
    for i in 0..layout.size() {
        let shifted = |h: f64| {
            let mut to = at.clone();
            to[i] += h;
            objective.evaluate(&to).unwrap()
        };
        let (up, down) = (shifted(1e-6), shifted(-1e-6));
        let slope = (up.loss - down.loss) / 2e-6;
        assert!((slope - here.gradient[i]).abs() < 1e-6, "{i}: {slope} {}", here.gradient[i]);
        for j in 0..layout.size() {
            let slope = (up.gradient[j] - down.gradient[j]) / 2e-6;
            let entry = here.hessian.at(i.max(j), i.min(j));
            assert!((slope - entry).abs() < 1e-5 * slope.abs().max(1.0), "{i} {j}: {slope} {entry}");
        }
    }
    // the gradients of the rows add up to that of the loss without the priors
    let mut sum = vec![0.0; layout.size() + 1];
    let mean = objective.mean(&at);
    rows.iter().for_each(|row| objective.gradient(row, &at, mean, &mut |i, v| sum[i] += v));
    let share = sum.pop().unwrap();
    sum[layout.players..layout.mean()].iter_mut().for_each(|s| *s += share);
    objective.prior(&mut |i, j, precision| {
        sum[i] += precision * at[j];
        if i != j {
            sum[j] += precision * at[i];
        }
    });
    for (sum, gradient) in sum.iter().zip(&here.gradient) {
        assert!((sum / rows.len() as f64 - gradient).abs() < 1e-12, "{sum} {gradient}");
    }
}

#[test]
fn shared_positions_give_an_engine_with_few_games_its_scale() {
    let strengths = [0.0; 4];
    let mut engines = planted(&[600.0, 600.0, 600.0, 1500.0], &strengths, 4000, 5, true);
    let right = slopes(&engines)[3].0.w1;
    engines[3].truncate(40);
    let with = slopes(&engines)[3].0.w1;
    let shared = |engines: &mut Vec<Vec<Case>>, change: fn(&mut Option<SharedPosition>)| {
        engines.iter_mut().flatten().for_each(|case| change(&mut case.situation.shared));
    };
    // without a move in between
    shared(&mut engines, |shared| shared.iter_mut().for_each(|shared| shared.replied = false));
    let same = slopes(&engines)[3].0.w1;
    shared(&mut engines, |shared| *shared = None);
    let without = slopes(&engines)[3].0.w1;
    for linked in [with, same] {
        assert!((linked - right).abs() < (without - right).abs(), "{linked} {without} {right}");
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let engines = planted(&[300.0, 900.0], &[0.3, -0.3], 300, 1, false);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| slopes(&engines).into_iter().map(|(_, fit)| fit).collect::<Vec<_>>())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn engines_beyond_the_limit_have_fits_of_their_own() {
    let two = planted(&[400.0, 800.0], &[0.2, -0.2], 300, 4, false);
    // the two with most samples come last, after hundreds with few
    let few: Vec<Vec<Case>> = two.iter().map(|cases| cases[..20].to_vec()).collect();
    let engines: Vec<&[Case]> = few.iter().cycle().take(MOST_ENGINES).chain(&two).map(Vec::as_slice).collect();
    let blocks = blocks(&engines);
    assert_eq!(blocks.iter().map(Vec::len).collect::<Vec<_>>(), [MOST_ENGINES, 2]);
    assert_eq!(blocks[0][MOST_ENGINES - 2..], [MOST_ENGINES, MOST_ENGINES + 1]);
    let options = FitOptions { min_samples: 10, ..FitOptions::default() };
    let fit = |engines: &[&[Case]]| crate::fit::fit_engines(ModelKind::Joint, engines, &options);
    let together = fit(&engines);
    assert_eq!(together.len(), engines.len());
    for block in blocks {
        let alone = fit(&block.iter().map(|i| engines[*i]).collect::<Vec<_>>());
        for (i, alone) in block.into_iter().zip(alone) {
            assert_eq!(together[i], alone, "{i}");
        }
    }
}

#[test]
fn one_engine_and_its_opponents_have_a_fit() {
    let engines = planted(&[600.0, 600.0], &[0.5, -0.5], 200, 2, false);
    let fits = slopes(&engines[..1]);
    assert!(fits[0].0.w1 > 0.0 && fits[0].0.w2 < 0.0, "{:?}", fits[0]);
}
