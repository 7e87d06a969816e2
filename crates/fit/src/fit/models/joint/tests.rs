//! Slopes, strengths and lapses that were planted are found.

use std::collections::BTreeMap;

use evalcurve_calibration::types::Outcome;
use evalcurve_words::random::unit;

use super::covariance::{Inverse, without};
use super::fit::{Member, apart, players, rows, units};
use super::objective::{Layout, Objective, Rows};
use crate::fit::case::Part;
use crate::fit::lapse::Points;
use crate::fit::models::fit_engines_near;
use crate::fit::search::{Loss, Search};
use crate::fit::symmetric::{Arrow, Curvature};
use crate::fit::{
    Case, FitError, FitOptions, Joint, Method, Model, ModelFit, ModelKind, Reading, ScoreCounts, Sigmoid, Situation,
    fit_counts,
};

/// Logits from 12 uniform numbers: normal, mean 0, standard deviation 1.
fn normal(keys: &[u64]) -> f64 {
    (0..12).map(|i| unit(&[keys, &[i]].concat())).sum::<f64>() - 6.0
}

/// A round robin of engines with other scales and strengths. Engine 0 meets the strong, the last one the weak.
fn planted(scales: &[f64], strengths: &[f64], games: u64, seed: u64, rated: bool) -> Vec<Vec<Case>> {
    with_draws(scales, strengths, games, seed, rated, 0.0)
}

/// The same with draws of half a width.
fn with_draws(scales: &[f64], strengths: &[f64], games: u64, seed: u64, rated: bool, width: f64) -> Vec<Vec<Case>> {
    let n = scales.len();
    let mut engines = vec![Vec::new(); n];
    for game in 0..games {
        let a = (unit(&[seed, game, 1]) * n as f64) as usize;
        let b = (a + 1 + (unit(&[seed, game, 2]) * (n - 1) as f64) as usize) % n;
        let position = (1.5 + 0.6 * width) * normal(&[seed, game, 3]);
        let advantage = strengths[a] - strengths[b];
        let p = |shift: f64| Sigmoid { w1: 1.0, w2: 0.0 }.win_rate(position + advantage + shift);
        let outcome = match unit(&[seed, game, 4]) {
            luck if luck < p(-width) => Outcome::Win,
            luck if luck < p(width) => Outcome::Draw,
            _ => Outcome::Loss,
        };
        let score = |e: usize, sign: f64| {
            let seen = sign * position + 0.3 * normal(&[seed, game, 5, e as u64]);
            (seen * scales[e]) as i32
        };
        let (own, reply) = (score(a, 1.0), score(b, -1.0));
        let case = |players: [usize; 2], score_cp, outcome| Case {
            game,
            score_cp,
            outcome,
            situation: Situation {
                strength: rated.then(|| strengths[players[0]] - strengths[players[1]]),
                engine: Some(players[0] as u32),
                players: Some(players.map(|p| p as u32)),
                ..Situation::default()
            },
        };
        engines[a].push(case([a, b], own, outcome));
        engines[b].push(case([b, a], reply, outcome.reversed()));
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
fn draws_have_a_width_and_win_rates_are_right_between() {
    let (scales, width) = ([30.0, 100.0, 300.0], 4.0);
    let found = slopes(&with_draws(&scales, &[0.5, 0.0, -0.5], 6000, 12, false, width));
    for ((model, fit), scale) in found.iter().zip(scales) {
        // noise of the scores flattens both by the same factor
        let errors = fit.standard_errors().unwrap();
        assert!((model.draw_width / width - 0.99).abs() < 4.0 * errors[5] / width, "{model:?} {errors:?}");
        assert!((model.w1 * scale - 0.99).abs() < 4.0 * errors[0] * scale, "{model:?} {errors:?}");
        assert!(model.drawn < 0.01 && model.lapse < 0.01, "{model:?}");
        for u in [0.5, 2.0, 4.0, 6.0] {
            let p = |z: f64| Sigmoid::STANDARD.win_rate(z);
            let truth = [p(u - width), p(u + width) - p(u - width), p(-u - width)];
            let rates = model.rates(Reading::Equal, u * scale, &Situation::default());
            for (found, truth) in [rates.win, rates.draw, rates.loss].into_iter().zip(truth) {
                assert!((found - truth).abs() < 0.03, "{u}: {rates:?} {truth:?}");
            }
        }
    }
}

#[test]
fn draws_at_any_score_are_told_from_those_of_even_ones() {
    let mut engines = planted(&[300.0, 900.0], &[0.0, 0.0], 4000, 13, false);
    let drawn = |case: &&mut Case| unit(&[14, case.game]) < 0.2;
    engines.iter_mut().flatten().filter(drawn).for_each(|case| case.outcome = Outcome::Draw);
    for (model, _) in slopes(&engines) {
        assert!((model.drawn - 0.2).abs() < 0.03 && model.draw_width < 0.1, "{model:?}");
        assert!(model.lapse - 0.5 * model.drawn < 0.01, "{model:?}");
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
fn mates_among_the_scores_do_not_stop_the_search() {
    let scales: Vec<f64> = (0..24).map(|e| 250.0 + 40.0 * f64::from(e)).collect();
    let mut engines = planted(&scales, &[0.0; 24], 1500, 11, false);
    for (e, cases) in engines.iter_mut().enumerate() {
        for (i, case) in cases.iter_mut().enumerate().filter(|(i, _)| i % 5 == 0) {
            // a mate is announced, wrongly now and then
            let right = (i + e) % 70 != 0;
            case.score_cp = if (case.outcome == Outcome::Win) == right { 30_000 } else { -30_000 };
        }
    }
    for (e, (model, fit)) in slopes(&engines).into_iter().enumerate() {
        let strengths = fit.strengths.as_ref().unwrap();
        assert!(strengths.engines() == 24 && !strengths.is_apart(), "{e}");
        let error = fit.standard_errors().unwrap()[0];
        assert!((model.w1 - 0.95 / scales[e]).abs() < 4.0 * error, "{e}: {} {error} {}", model.w1, 1.0 / scales[e]);
        assert!((0.002..0.02).contains(&model.lapse), "{model:?}");
    }
}

#[test]
fn an_engine_without_a_finite_slope_leaves_the_others_their_fit() {
    let mut engines = planted(&[300.0, 600.0, 900.0], &[0.2, 0.0, -0.2], 900, 12, false);
    // a share of lapses in all games, and one engine whose sign of the score says the rest of the result
    for case in engines.iter_mut().flatten().filter(|case| case.game % 40 == 0) {
        case.outcome = case.outcome.reversed();
    }
    let plain = engines.clone();
    for case in &mut engines[2] {
        let won = (case.score_cp >= 0) == (case.game % 40 != 0);
        case.outcome = if won { Outcome::Win } else { Outcome::Loss };
    }
    let cases: Vec<&[Case]> = engines.iter().map(Vec::as_slice).collect();
    let fits = crate::fit::fit_engines(ModelKind::Joint, &cases, &FitOptions::default());
    assert!(matches!(fits[2], Err(FitError::NotConverged { .. })), "{:?}", fits[2]);
    let two = crate::fit::fit_engines(ModelKind::Joint, &cases[..2], &FitOptions::default());
    assert_eq!(fits[..2], two);
    assert!(two.iter().all(|fit| fit.as_ref().unwrap().strengths.as_ref().unwrap().engines() == 2));

    // from a fit with lapses in which it has a slope, the engine runs off as well
    let mut with_lapses = plain;
    for case in with_lapses.iter_mut().flatten().filter(|case| case.game % 7 == 0) {
        case.outcome = if case.score_cp < 0 { Outcome::Win } else { Outcome::Loss };
    }
    let before = slopes(&with_lapses);
    assert!(before[2].0.lapse > 0.01 && before[2].1.strengths.as_ref().unwrap().engines() == 3, "{before:?}");
    let parts: Vec<Part<'_>> = cases.iter().map(|cases| Part::from(*cases)).collect();
    let near: Vec<Option<&ModelFit>> = before.iter().map(|(_, fit)| Some(fit)).collect();
    let fits = fit_engines_near(ModelKind::Joint, &parts, &near, &FitOptions::default());
    assert!(matches!(fits[2], Err(FitError::NotConverged { .. })), "{:?}", fits[2]);
    for (fit, cold) in fits[..2].iter().zip(&two) {
        let (fit, cold) = (fit.as_ref().unwrap(), cold.as_ref().unwrap());
        assert_eq!(fit.strengths.as_ref().unwrap().engines(), 2);
        assert!((fit.mean_loss / cold.mean_loss - 1.0).abs() < 1e-9, "{fit:?} {cold:?}");
    }
}

#[test]
fn where_the_search_fails_each_engine_has_its_own_fit() {
    let engines = planted(&[300.0, 600.0], &[0.4, -0.4], 200, 5, false);
    let cases: Vec<Part<'_>> = engines.iter().map(|cases| Part::from(cases.as_slice())).collect();
    let members: Vec<Member<'_>> =
        cases.iter().map(|cases| Member::new(*cases, &FitOptions::default()).unwrap()).collect();
    let fits = apart(ModelKind::Joint, &members, &[], &FitOptions::default());
    for (fit, (alone, _)) in fits.iter().zip(engines.iter().map(|e| slopes(std::slice::from_ref(e)).remove(0))) {
        let fit = fit.as_ref().unwrap();
        assert_eq!(fit.model, Model::Joint(alone));
        assert!(fit.strengths.as_ref().unwrap().is_apart());
    }
}

/// An entry on or below the diagonal.
fn entry(arrow: &Arrow, i: usize, j: usize) -> f64 {
    let n = arrow.diagonal.len();
    match (i.checked_sub(n), j.checked_sub(n)) {
        (Some(i), Some(j)) => arrow.tail.at(i, j),
        (Some(i), None) => {
            let mut edges = arrow.pattern.of(j).filter(|edge| arrow.pattern.columns[*edge] as usize == i);
            edges.next().map_or(0.0, |edge| arrow.edges[edge])
        }
        _ => f64::from(u8::from(i == j)) * arrow.diagonal[i],
    }
}

#[test]
fn derivatives_are_those_of_the_loss() {
    for draws in [false, true] {
        let mut engines = planted(&[300.0, 600.0, 900.0], &[0.5, 0.0, -0.5], 60, 3, true);
        let some = engines.iter_mut().flatten().filter(|case| draws && case.game % 3 == 0);
        some.for_each(|case| case.outcome = Outcome::Draw);
        let cases: Vec<Part<'_>> = engines.iter().map(|cases| Part::from(cases.as_slice())).collect();
        let numbers = players(&cases);
        let rows = rows(&cases, &units(&cases), &numbers, &FitOptions::default());
        let layout = Layout { players: numbers.len(), engines: 3, rated: true, draws, lapse: true };
        let objective = Objective::new(&rows, layout, 0.2);
        let mut at: Vec<f64> = (0..layout.size() as u64).map(|i| unit(&[9, i]) - 0.3).collect();
        *at.last_mut().unwrap() = 0.03;
        layout.drawn().into_iter().for_each(|i| [at[i], at[i + 1]] = [0.07, 0.9]);
        let here = objective.evaluate(&at).unwrap();
        for i in 0..layout.size() {
            let shifted = |h: f64| {
                let mut to = at.clone();
                to[i] += h;
                objective.evaluate(&to).unwrap()
            };
            let (up, down) = (shifted(1e-6), shifted(-1e-6));
            let slope = (up.loss - down.loss) / 2e-6;
            assert!((slope - here.gradient[i]).abs() < 1e-6, "{draws} {i}: {slope} {}", here.gradient[i]);
            for j in 0..layout.size() {
                let slope = (up.gradient[j] - down.gradient[j]) / 2e-6;
                let entry = entry(&here.hessian, i.max(j), i.min(j));
                assert!((slope - entry).abs() < 1e-5 * slope.abs().max(1.0), "{draws} {i} {j}: {slope} {entry}");
            }
        }
    }
}

#[test]
fn strangers_do_not_move_each_other() {
    let first = planted(&[300.0, 600.0], &[0.4, -0.4], 200, 5, false);
    // other games of other players, scored on a scale ten times as wide
    let mut second = planted(&[3000.0, 6000.0], &[0.2, -0.2], 40, 6, false);
    for case in second.iter_mut().flatten() {
        case.game += 1000;
        case.situation.players = case.situation.players.map(|players| players.map(|p| p + 2));
    }
    let fit = |engines: &[Vec<Case>]| slopes(engines).into_iter().map(|(_, fit)| fit).collect::<Vec<_>>();
    let together = fit(&[first.clone(), second.clone()].concat());
    assert_eq!(together, [fit(&first), fit(&second)].concat());
    // one game between them, and they share a fit
    second[0][0].situation.players = Some([2, 1]);
    assert_ne!(fit(&[first.clone(), second].concat())[..2], fit(&first));
}

#[test]
fn the_jackknife_is_the_fit_without_the_game() {
    let engines = planted(&[300.0, 600.0], &[0.4, -0.4], 60, 8, true);
    let cases: Vec<Part<'_>> = engines.iter().map(|cases| Part::from(cases.as_slice())).collect();
    let (units, numbers) = (units(&cases), players(&cases));
    let rows = rows(&cases, &units, &numbers, &FitOptions::default());
    let layout = Layout { players: numbers.len(), engines: 2, rated: true, draws: false, lapse: false };
    fn objective(rows: &Rows, layout: Layout) -> Objective<'_> {
        Objective::new(rows, layout, 0.2)
    }
    let all = Search::new(&objective(&rows, layout)).minimise(&vec![0.1; layout.size()]).unwrap();
    let inverse = Inverse::new(all.evaluation.hessian.clone().scaled(rows.len() as f64).factor().unwrap());
    for game in [0, 7, 31] {
        let (gone, rest): (Vec<u32>, Vec<u32>) = (0..rows.len() as u32).partition(|i| rows.game[*i as usize] == game);
        let moved = without(&objective(&rows, layout), &gone, &all.at, &inverse, &mut Points::new());
        let rest: Rows = rest.iter().map(|i| rows.at(*i as usize)).collect();
        let next = Search::new(&objective(&rest, layout)).minimise(&all.at).unwrap().at;
        for (i, (next, all)) in next.iter().zip(&all.at).enumerate() {
            let step: f64 = moved.iter().map(|&(j, u)| inverse.at(i, j) * u).sum();
            let whole = next - all;
            // one Newton step is the fit but for the change of the curvature
            assert!((step - whole).abs() < 0.1 * whole.abs() + 1e-3, "{game} {i}: {step} {whole}");
        }
    }
}

#[test]
fn a_share_of_lapses_of_0_is_not_certain() {
    let of_seed = |seed| {
        let engines = planted(&[300.0, 600.0], &[0.0, 0.0], 400, seed, false);
        let found = slopes(&engines);
        (found[0].0.lapse == 0.0).then_some((engines, found))
    };
    let (engines, found) = (21..41).find_map(of_seed).expect("half of the estimates are 0");
    let lapses: Vec<f64> = found.iter().map(|(_, fit)| fit.covariance.as_ref().unwrap()[3][3]).collect();
    // the first two derivatives by the share, of one sample a game
    let (mut slope, mut bend) = (0.0, 0.0);
    for (cases, (model, fit)) in engines.iter().zip(&found) {
        let strengths = fit.strengths.as_ref().unwrap();
        for case in cases {
            let [own, other] = case.situation.players.unwrap().map(|p| strengths.of(p).unwrap_or(0.0));
            let u = model.w1 * f64::from(case.score_cp) + own - other - model.optimism;
            let p = Sigmoid::STANDARD.win_rate(if case.outcome == Outcome::Win { u } else { -u });
            slope += 0.5 * (2.0 - 1.0 / p);
            bend += 0.5 * (2.0 - 1.0 / p).powi(2);
        }
    }
    let possible = 3.0 / (0.06 * 0.06);
    let [least, most] = [bend, 0.0].map(|bend| 1.0 / (bend + 0.5 * slope * slope + possible));
    assert!(slope > 0.0 && lapses.iter().all(|v| (least..most).contains(v)), "{lapses:?} {least} {most}");
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
fn a_thousand_engines_share_a_fit() {
    let scales: Vec<f64> = (0..1000).map(|e| 300.0 + f64::from(e % 5) * 100.0).collect();
    let engines = planted(&scales, &[0.0; 1000], 40_000, 4, false);
    let fits = slopes(&engines);
    assert!(fits.iter().all(|(_, fit)| fit.strengths.as_ref().unwrap().engines() == 1000));
    // of the intervals, as many hold the planted slope as should
    let holds = |(e, (model, fit)): (usize, &(Joint, ModelFit))| {
        let error = fit.standard_errors().unwrap()[0];
        (model.w1 - 0.96 / scales[e]).abs() < 2.0 * error
    };
    let held = fits.iter().enumerate().filter(|fit| holds(*fit)).count();
    assert!((900..=985).contains(&held), "{held}");
}

#[test]
fn one_engine_and_its_opponents_have_a_fit() {
    let engines = planted(&[600.0, 600.0], &[0.5, -0.5], 200, 2, false);
    let fits = slopes(&engines[..1]);
    assert!(fits[0].0.w1 > 0.0 && fits[0].0.w2 < 0.0, "{:?}", fits[0]);
}

#[test]
fn the_field_reading_is_what_happened_at_each_score() {
    // opponents of very different strengths, in rating and beyond
    let engines = planted(&[400.0; 5], &[0.0, 2.5, -2.5, 1.5, -1.5], 8000, 9, true);
    let (model, _) = slopes(&engines)[0];
    let at = |model: Joint, x: f64| Sigmoid::STANDARD.win_rate(Model::Joint(model).logit(x, &Situation::default()));
    let missed = |range: std::ops::Range<i32>, model: Joint| {
        let cases: Vec<&Case> = engines[0].iter().filter(|case| range.contains(&case.score_cp)).collect();
        let left: f64 = cases.iter().map(|c| c.outcome.value() - at(model, f64::from(c.score_cp))).sum();
        left / (0.25 * cases.len() as f64).sqrt()
    };
    for from in [-900, -600, -300, 0, 300, 600] {
        let missed = missed(from..from + 300, model);
        assert!(missed.abs() < 2.0, "{from}: {missed} {model:?}");
    }
    // opponents that were the same at every score would make it as steep as it is against each of them
    let same = Joint { field_w1: model.w1, ..model };
    assert!(missed(300..600, same) < -3.0 || missed(300..600, same) > 3.0, "{} {model:?}", missed(300..600, same));
}

/// The joint model against `tests/oracle/joint.py`, which knows only the equations of docs/method.md.
#[test]
fn the_joint_model_agrees_with_numpy_to_six_digits() {
    let Some(text) = crate::fit::oracle::of_repository("tests/oracle/joint.csv") else { return };
    let expected = crate::fit::oracle::of_repository("tests/oracle/joint.expected.json").unwrap();
    let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
    let number = |name: &str| u32::from(name.as_bytes()[0]);
    let mut engines: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let outcome = match f[5] {
            "1" => Outcome::Win,
            "0.5" => Outcome::Draw,
            _ => Outcome::Loss,
        };
        let situation = Situation {
            strength: Some(f[4].parse().unwrap()),
            engine: Some(number(f[1])),
            players: Some([number(f[1]), number(f[2])]),
            ..Situation::default()
        };
        let (game, score_cp) = (f[0].parse().unwrap(), f[3].parse().unwrap());
        engines.entry(f[1]).or_default().push(Case { game, score_cp, outcome, situation });
    }
    let names: Vec<&str> = engines.keys().copied().collect();
    let close = |what: &str, ours: f64, theirs: &serde_json::Value| {
        let theirs = theirs.as_f64().unwrap();
        assert!((ours - theirs).abs() < 2e-6 * theirs.abs().max(0.01), "{what}: {ours:e} here, {theirs:e} there");
    };
    for (name, (_, fit)) in names.into_iter().zip(slopes(&engines.into_values().collect::<Vec<_>>())) {
        let (theirs, errors) = (&expected[name], fit.standard_errors().unwrap());
        for (i, (parameter, value)) in fit.model.parameters().into_iter().enumerate() {
            close(&format!("{name} {parameter}"), value, &theirs["parameters"][i]);
            close(&format!("{name} error of {parameter}"), errors[i], &theirs["standard_errors"][i]);
        }
        close(name, fit.mean_loss, &theirs["mean_loss"]);
    }
}
