//! Fits of samples with a known truth, and every error.

use evalcurve_calibration::types::Outcome;
use evalcurve_words::random;

use super::*;

/// `games` games of `per_game` samples; win rates follow `truth`, a tenth of the games are drawn.
pub(super) fn generate(truth: Sigmoid, games: u64, per_game: u64, spread: f64, seed: u64) -> Vec<Observation> {
    let mut rows = Vec::with_capacity((games * per_game) as usize);
    for game in 0..games {
        for k in 0..per_game {
            let key = |what| random::unit(&[seed, game, k, what]);
            // the sum of three uniform numbers looks normal enough
            let score_cp = ((key(0) + key(1) + key(2) - 1.5) * 2.0 * spread).round() as i32;
            let outcome = if key(3) < 0.1 {
                // draws as likely as makes the mean result p: for a share of 0.1 the wins are (p - 0.05)/0.9
                Outcome::Draw
            } else if key(4) < (truth.win_rate(f64::from(score_cp)) - 0.05) / 0.9 {
                Outcome::Win
            } else {
                Outcome::Loss
            };
            rows.push(Observation { game, score_cp, outcome });
        }
    }
    rows
}

fn rows(list: &[(i32, Outcome, u64)]) -> Vec<Observation> {
    let mut all = Vec::new();
    for &(score_cp, outcome, count) in list {
        for _ in 0..count {
            all.push(Observation { game: all.len() as u64 / 2, score_cp, outcome });
        }
    }
    all
}

const TRUTH: Sigmoid = Sigmoid { w1: 1.0 / 600.0, w2: 0.2 };
const BOTH: [Method; 2] = Method::ALL;

#[test]
fn truth_is_recovered() {
    // scores within the range where (p - 0.05)/0.9 is a probability
    let observations = generate(TRUTH, 30_000, 4, 700.0, 11);
    for method in BOTH {
        let fit = fit(method, &observations, &FitOptions::default()).unwrap();
        let [se1, se2] = fit.standard_errors();
        assert!((fit.sigmoid.w1 - TRUTH.w1).abs() < 3.0 * se1, "{fit:?}");
        assert!((fit.sigmoid.w2 - TRUTH.w2).abs() < 3.0 * se2, "{fit:?}");
        assert!(se1 / TRUTH.w1 < 0.02 && se2 < 0.02, "{fit:?}");
        assert_eq!((fit.samples, fit.games), (120_000, 30_000));
        assert!(method == Method::LeastSquares || fit.passes <= 50);
        for (found, truth) in [(fit.w1(), TRUTH.w1), (fit.w2(), TRUTH.w2), (fit.constant(), 1.0 / TRUTH.w1)] {
            let [low, high] = found.interval.unwrap();
            assert!(low < found.value && found.value < high && (truth - found.value).abs() < 2.0 * (high - low));
        }
    }
}

#[test]
fn the_other_side_has_the_mirrored_curve() {
    let observations = generate(TRUTH, 500, 4, 700.0, 5);
    let mirrored: Vec<_> = observations
        .iter()
        .map(|o| Observation { score_cp: -o.score_cp, outcome: o.outcome.reversed(), ..*o })
        .collect();
    for method in BOTH {
        let a = fit(method, &observations, &FitOptions::default()).unwrap();
        let b = fit(method, &mirrored, &FitOptions::default()).unwrap();
        assert!((a.sigmoid.w1 / b.sigmoid.w1 - 1.0).abs() < 1e-9);
        assert!((a.sigmoid.w2 + b.sigmoid.w2).abs() < 1e-9);
        assert!((a.covariance[0][0] / b.covariance[0][0] - 1.0).abs() < 1e-9);
        assert!((a.covariance[0][1] + b.covariance[0][1]).abs() < 1e-9 * a.standard_errors()[0]);
    }
}

#[test]
fn the_order_of_games_does_not_matter_to_nine_digits() {
    let observations = generate(TRUTH, 400, 5, 700.0, 6);
    let mut shuffled = observations.clone();
    // samples of a game apart: the general way
    shuffled.sort_by_key(|o| random::bits(&[9, o.game, o.score_cp as u64]));
    for method in BOTH {
        let a = fit(method, &observations, &FitOptions::default()).unwrap();
        let b = fit(method, &shuffled, &FitOptions::default()).unwrap();
        assert_eq!(a.sigmoid, b.sigmoid);
        for (x, y) in a.covariance.as_flattened().iter().zip(b.covariance.as_flattened()) {
            assert!((x / y - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn wrong_sided_sentinels_move_the_likelihood_and_not_the_squares() {
    let mut observations = generate(TRUTH, 500, 4, 700.0, 7);
    let clean = BOTH.map(|m| fit(m, &observations, &FitOptions::default()).unwrap());
    for (game, score_cp, outcome) in
        [(9001, 30_000, Outcome::Loss), (9002, -30_000, Outcome::Win), (9003, 30_000, Outcome::Draw)]
    {
        observations.push(Observation { game, score_cp, outcome });
    }
    let [squares, likelihood] = BOTH.map(|m| fit(m, &observations, &FitOptions::default()).unwrap());
    assert!((squares.sigmoid.w1 / clean[0].sigmoid.w1 - 1.0).abs() < 0.01, "{squares:?}");
    assert!(likelihood.sigmoid.w1 < 0.8 * clean[1].sigmoid.w1, "{likelihood:?}");
    assert!(likelihood.passes <= 50 && likelihood.mean_loss.is_finite());
    assert!(likelihood.covariance.as_flattened().iter().all(|c| c.is_finite()));

    // the sentinel of GPSShogi on the wrong side rules the likelihood altogether
    observations.push(Observation { game: 9004, score_cp: 1_148_897, outcome: Outcome::Loss });
    let [squares, likelihood] = BOTH.map(|m| fit(m, &observations, &FitOptions::default()));
    assert!((squares.unwrap().sigmoid.w1 / clean[0].sigmoid.w1 - 1.0).abs() < 0.01);
    assert!(matches!(likelihood, Err(FitError::SlopeNotPositive { .. })), "{likelihood:?}");
}

#[test]
fn right_sided_sentinels_do_no_harm() {
    let mut observations = generate(TRUTH, 500, 4, 700.0, 8);
    let clean = BOTH.map(|m| fit(m, &observations, &FitOptions::default()).unwrap());
    for i in 0..200 {
        let (score_cp, outcome) = if i % 2 == 0 { (1_148_897, Outcome::Win) } else { (-1_148_897, Outcome::Loss) };
        observations.push(Observation { game: 10_000 + i, score_cp, outcome });
    }
    for (method, clean) in BOTH.into_iter().zip(clean) {
        let with = fit(method, &observations, &FitOptions::default()).unwrap();
        assert!((with.sigmoid.w1 / clean.sigmoid.w1 - 1.0).abs() < 1e-6, "{with:?}");
        assert!(method == Method::LeastSquares || with.passes <= 50, "{with:?}");
    }
}

#[test]
fn every_error_is_reached() {
    use Outcome::{Draw, Loss, Win};
    let options = FitOptions::default();
    for method in BOTH {
        let error = |list: &[(i32, Outcome, u64)]| fit(method, &rows(list), &options).unwrap_err();
        assert_eq!(error(&[]), FitError::TooFewSamples { have: 0, need: 30 });
        assert_eq!(error(&[(10, Win, 15), (-10, Loss, 14)]), FitError::TooFewSamples { have: 29, need: 30 });
        for outcome in [Win, Draw, Loss] {
            assert_eq!(error(&[(10, outcome, 20), (20, outcome, 20)]), FitError::OneClass { outcome, samples: 40 });
        }
        assert_eq!(error(&[(150, Win, 20), (150, Loss, 20)]), FitError::AllScoresEqual { score_cp: 150, samples: 40 });
        assert_eq!(error(&[(150, Win, 20), (-150, Loss, 20)]), FitError::Separable { samples: 40 });
        assert_eq!(error(&[(-150, Win, 20), (150, Loss, 20)]), FitError::Separable { samples: 40 });
        assert!(matches!(
            error(&[(-150, Win, 20), (150, Win, 10), (150, Loss, 20), (-150, Loss, 10)]),
            FitError::SlopeNotPositive { w1 } if w1 < 0.0
        ));
        let one_game: Vec<_> = generate(TRUTH, 2, 100, 700.0, 1);
        assert_eq!(fit(method, &one_game, &options), Err(FitError::TooFewGames { have: 2, need: 3 }));
    }
    // separated but for one sample far out: the likelihood has a minimum, least squares wants a step
    let stepped = rows(&[(-100, Loss, 500), (100, Win, 500), (-1000, Win, 1)]);
    assert!(matches!(fit(Method::LeastSquares, &stepped, &options), Err(FitError::NotConverged { .. })));
    let outlier = rows(&[(-100, Loss, 500), (100, Win, 500), (1_000_000, Loss, 1)]);
    assert!(matches!(fit(Method::LeastSquares, &outlier, &options), Err(FitError::NotConverged { .. })));
}

#[test]
fn messages_are_lower_case_and_name_value_and_remedy() {
    let messages = [
        FitError::TooFewSamples { have: 7, need: 30 }.to_string(),
        FitError::OneClass { outcome: Outcome::Win, samples: 40 }.to_string(),
        FitError::AllScoresEqual { score_cp: 0, samples: 40 }.to_string(),
        FitError::Separable { samples: 40 }.to_string(),
        FitError::NotConverged { gradient: 1e-3, passes: 50 }.to_string(),
        FitError::SlopeNotPositive { w1: -0.001 }.to_string(),
        FitError::TooFewGames { have: 2, need: 3 }.to_string(),
    ];
    assert!(messages[1].starts_with("every one of 40 samples is a win: "));
    for message in messages {
        assert!(!message.starts_with(char::is_uppercase) && message.contains(char::is_numeric), "{message}");
        assert!(!message.ends_with('.') && message.contains(": ") && !message.contains("  "), "{message}");
    }
}

#[test]
fn numbers_do_not_depend_on_the_number_of_threads() {
    // more than 8192 distinct scores and several chunks of samples
    let observations = generate(Sigmoid { w1: 1.0 / 60_000.0, w2: 0.1 }, 60_000, 4, 60_000.0, 3);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let data = FitData::new(&observations);
            assert!(data.counts().rows().len() > 2 * 8192);
            let fits = BOTH.map(|m| data.fit(m, &FitOptions::default()).unwrap());
            let curves = bootstrap(Method::MaximumLikelihood, &observations[..4000], 20, 5).unwrap();
            (fits, curves)
        })
    };
    let bits = |(fits, curves): &([Fit; 2], Bootstrap)| -> Vec<u64> {
        let of_fits = fits.iter().flat_map(|f| {
            let [[a, b], [c, d]] = f.covariance;
            [f.sigmoid.w1, f.sigmoid.w2, a, b, c, d, f.mean_loss].map(f64::to_bits)
        });
        of_fits.chain(curves.sigmoids.iter().flat_map(|s| [s.w1.to_bits(), s.w2.to_bits()])).collect()
    };
    let one = bits(&run(1));
    assert_eq!(one, bits(&run(2)));
    assert_eq!(one, bits(&run(3)));
}

fn bootstrap(method: Method, observations: &[Observation], resamples: u32, seed: u64) -> Option<Bootstrap> {
    let options = BootstrapOptions { resamples, seed, bin_cp: u32::MAX, sigmoids: true };
    FitData::new(observations).bootstrap(&options).fit(method).cloned()
}

#[test]
fn bootstrap_and_covariance_agree() {
    let observations = generate(TRUTH, 1500, 4, 700.0, 21);
    for method in BOTH {
        let fit = fit(method, &observations, &FitOptions::default()).unwrap();
        let curves = bootstrap(method, &observations, 400, 42).unwrap();
        assert_eq!((curves.sigmoids.len(), curves.failed), (400, 0));
        let mean = curves.sigmoids.iter().map(|s| s.w1).sum::<f64>() / 400.0;
        let variance = curves.sigmoids.iter().map(|s| (s.w1 - mean) * (s.w1 - mean)).sum::<f64>() / 399.0;
        // a standard error from 400 resamples is itself uncertain by 3.5%
        let ratio = variance.sqrt() / fit.standard_errors()[0];
        assert!((0.85..1.15).contains(&ratio), "{method}: {ratio}");
        let (low, high) = curves.interval(|s| s.w1).unwrap();
        assert!(low < fit.sigmoid.w1 && fit.sigmoid.w1 < high);
        assert_ne!(curves, bootstrap(method, &observations, 400, 43).unwrap());
    }
}

#[test]
fn bootstrap_counts_resamples_without_a_curve() {
    // a single lost game keeps the samples from being separable: a third of the resamples miss it
    let mut observations = rows(&[(-200, Outcome::Loss, 20), (200, Outcome::Win, 20)]);
    observations.push(Observation { game: 99, score_cp: 250, outcome: Outcome::Loss });
    observations.push(Observation { game: 99, score_cp: -250, outcome: Outcome::Win });
    let curves = bootstrap(Method::MaximumLikelihood, &observations, 200, 1).unwrap();
    // after the first hundred it is clear that there is no interval
    assert_eq!(curves.sigmoids.len() + curves.failed, 100);
    assert!((20..55).contains(&curves.failed), "{}", curves.failed);
    let separable = rows(&[(-200, Outcome::Loss, 20), (200, Outcome::Win, 20)]);
    assert_eq!(bootstrap(Method::MaximumLikelihood, &separable, 5, 1), None);
    // a third of the resamples know no end
    assert_eq!(curves.interval(|s| s.w1), None);
}
