//! Simulated games of people whose true win rates are known.

use evalcurve_calibration::quantile::quantile_95;
use evalcurve_calibration::{ModelKind, Outcome, People, Situation, Span, control_seconds};
use evalcurve_words::random;

use crate::fit::case::Case;
use crate::fit::error::FitError;
use crate::fit::{FitOptions, Model, ModelFit, fit_model};

fn truth() -> People {
    People {
        w1: 0.0028,
        w2: 0.0,
        w3: 0.7,
        per_elo: 5e-4,
        per_elo_squared: -2e-7,
        per_doubling: 0.08,
        rating: Span { from: 1_000.0, middle: 1_600.0, to: 2_200.0 },
        seconds: Some(Span { from: 60.0, middle: 300.0, to: 600.0 }),
    }
}

fn normal(key: &[u64]) -> f64 {
    let of = |which: u64| random::unit(&[key, &[which]].concat()).max(1e-12);
    (-2.0 * of(0).ln()).sqrt() * (std::f64::consts::TAU * of(1)).cos()
}

/// Games with four samples each, which share a result and most of the noise of their scores. Given the result, scores
/// are normal around ±μ with a spread σ, so that the log odds of a score are 2μ/σ² times it, whatever the samples of a
/// game share.
fn games(seed: u64, count: u64) -> Vec<Case> {
    const SPREAD: f64 = 350.0;
    let game = |game: u64| {
        let key = |what: u64| [seed, game, what];
        let rating = (1_600.0 + 250.0 * normal(&key(0))).clamp(1_000.0, 2_200.0);
        let control = ["60+0", "180+2", "300", "rapid"][random::below(4, &key(1)) as usize];
        let known = Situation { rating: Some(rating), seconds: control_seconds(control), ..Situation::default() };
        let known = known.with_rating_difference(120.0 * normal(&key(2)));
        let wins = random::unit(&key(3)) < Model::People(truth()).win_rate(0.0, &known);
        let (outcome, sign) = if wins { (Outcome::Win, 1.0) } else { (Outcome::Loss, -1.0) };
        let mean = 0.5 * truth().sigmoid(&known).w1 * SPREAD * SPREAD;
        let shared = normal(&key(4));
        (0..4).map(move |sample| {
            let noise = 0.7_f64.sqrt() * shared + 0.3_f64.sqrt() * normal(&[seed, game, 5 + sample]);
            Case { game, score_cp: (sign * mean + SPREAD * noise).round() as i32, outcome, situation: known }
        })
    };
    (0..count).flat_map(game).collect()
}

fn fitted(seed: u64, count: u64) -> ModelFit {
    fit_model(ModelKind::People, &games(seed, count), &FitOptions::default()).unwrap()
}

#[test]
fn the_true_slopes_lie_in_95_percent_of_the_intervals() {
    const SETS: u64 = 200;
    let points = [(1_150.0, 60.0), (1_600.0, 300.0), (1_600.0, 60.0), (2_050.0, 600.0)];
    let mut covered = [0u64; 4];
    let mut ratios = [0.0; 4];
    for seed in 0..SETS {
        let fit = fitted(seed, 400);
        let quantile = quantile_95(fit.games);
        let covariance = fit.covariance.as_ref().unwrap();
        for (at, (rating, seconds)) in points.into_iter().enumerate() {
            let situation = Situation { rating: Some(rating), seconds: Some(seconds), ..Situation::default() };
            let gradient = gradient(&fit.model, &situation);
            let variance: f64 = (0..6)
                .flat_map(|i| (0..6).map(move |j| (i, j)))
                .map(|(i, j)| gradient[i] * covariance[i][j] * gradient[j])
                .sum();
            let (found, real) = (fit.model.equal_logit(100.0, &situation), 100.0 * truth().sigmoid(&situation).w1);
            ratios[at] += found / real / SETS as f64;
            covered[at] += u64::from((found - real).abs() <= quantile * variance.sqrt());
        }
    }
    println!("true slope inside the 95% interval, of {SETS} sets of 400 games, and mean of found/true:");
    for (((rating, seconds), covered), ratio) in points.iter().zip(covered).zip(ratios) {
        println!("rating {rating}, {seconds} s: {covered}, {ratio:.3}");
        // intervals of so few games hold 93%: 186 expected, with a standard error of 4
        assert!((175..=198).contains(&covered), "{rating} {seconds}: {covered}");
        assert!((ratio - 1.0).abs() < 0.1, "{rating} {seconds}: {ratio}");
    }
}

/// The gradient of the logit of 100 centipawns between equals by finite differences: another way than that of the file.
fn gradient(model: &Model, situation: &Situation) -> Vec<f64> {
    let Model::People(people) = model else { panic!("{model:?}") };
    let moved = |i: usize, h: f64| {
        let mut p: Vec<f64> = model.parameters().into_iter().map(|(_, value)| value).collect();
        p[i] += h;
        let [w1, w2, w3, per_elo, per_elo_squared, per_doubling] = p[..] else { panic!() };
        let moved = People { w1, w2, w3, per_elo, per_elo_squared, per_doubling, ..*people };
        Model::People(moved).equal_logit(100.0, situation)
    };
    let step = [1e-8, 1e-4, 1e-4, 1e-8, 1e-11, 1e-5];
    (0..6).map(|i| (moved(i, step[i]) - moved(i, -step[i])) / (2.0 * step[i])).collect()
}

#[test]
fn parameters_are_found_within_their_errors() {
    let fit = fitted(9, 6_000);
    let errors = fit.standard_errors().unwrap();
    let Model::People(found) = &fit.model else { panic!("{fit:?}") };
    assert!((found.rating.middle - 1_600.0).abs() < 20.0 && found.rating.from > 1_000.0, "{found:?}");
    // w1 is that at the middle of the samples, which is not the truth's
    let middle = Situation {
        rating: Some(found.rating.middle),
        seconds: Some(found.seconds.unwrap().middle),
        ..Situation::default()
    };
    let real = truth().sigmoid(&middle).w1;
    assert!((found.w1 / real - 1.0).abs() < 0.06 && (found.w1 - real).abs() < 4.0 * errors[0], "{found:?} {real}");
    for (i, real) in [(2, 0.7), (5, 0.08)] {
        let (name, value) = fit.model.parameters()[i];
        assert!((value - real).abs() < 4.0 * errors[i], "{name}: {value}, not {real}");
    }
    let per_elo = truth().per_elo + 2.0 * truth().per_elo_squared * (found.rating.middle - 1_600.0);
    assert!((found.per_elo - per_elo).abs() < 4.0 * errors[3], "{found:?}");
    // the result does not depend on the order of the samples by more than the last digits
    let mut turned = games(9, 6_000);
    turned.reverse();
    let again = fit_model(ModelKind::People, &turned, &FitOptions::default()).unwrap();
    for ((name, a), (_, b)) in fit.model.parameters().iter().zip(again.model.parameters()) {
        assert!((a - b).abs() < 1e-6 * a.abs().max(1e-6), "{name} {a} {b}");
    }
}

#[test]
fn what_the_games_do_not_say_is_zero_or_refused() {
    let options = FitOptions::default();
    let changed = |change: fn(&mut Situation)| -> Vec<Case> {
        let mut cases = games(3, 300);
        cases.iter_mut().for_each(|case| change(&mut case.situation));
        cases
    };
    let fit = |cases: &[Case]| fit_model(ModelKind::People, cases, &options);
    // one time control, or none
    for change in [|s: &mut Situation| s.seconds = Some(300.0), |s: &mut Situation| s.seconds = None] {
        let fit = fit(&changed(change)).unwrap();
        let errors = fit.standard_errors().unwrap();
        assert_eq!((fit.model.parameters()[5].1, errors[5]), (0.0, 0.0));
        assert!(errors[..5].iter().all(|error| *error > 0.0), "{errors:?}");
    }
    // no ratings, and one rating
    let none = changed(|s| s.rating = None);
    assert_eq!(fit(&none), Err(FitError::TooFewRated { have: 0, need: 30 }));
    assert_eq!(fit(&changed(|s| s.rating = Some(1_500.0))), Err(FitError::OneRating { samples: 1_200 }));
    // scores of the wrong sign
    let mut wrong = games(3, 300);
    wrong.iter_mut().for_each(|case| case.score_cp = -case.score_cp);
    assert!(matches!(fit(&wrong), Err(FitError::SlopeNotPositive { .. })), "{:?}", fit(&wrong));
}
