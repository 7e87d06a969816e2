//! Thresholds and spreads that were planted are found.

use evalcurve_words::random;

use super::fit::*;
use crate::fit::case::Case;
use crate::fit::{FitError, FitOptions, Model, ModelKind, Situation, StageUnit, Wdl, WdlRates, fit_model};

#[test]
fn derivatives_agree_with_finite_differences() {
    for row in [[1.3, 5.0, 2.0, 1.0], [-4.0, 0.0, 3.0, 9.0], [0.0, 1.0, 0.0, 1.0]] {
        let (a, b, h) = (2.1, 0.7, 1e-5);
        let d = derivatives(a, b, row);
        let f = |a: f64, b: f64| derivatives(a, b, row);
        let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-6 * (1.0 + y.abs()), "{row:?}: {x} {y}");
        close(d[1], (f(a + h, b)[0] - f(a - h, b)[0]) / (2.0 * h));
        close(d[2], (f(a, b + h)[0] - f(a, b - h)[0]) / (2.0 * h));
        close(d[3], (f(a + h, b)[1] - f(a - h, b)[1]) / (2.0 * h));
        close(d[4], (f(a, b + h)[1] - f(a, b - h)[1]) / (2.0 * h));
        close(d[5], (f(a, b + h)[2] - f(a, b - h)[2]) / (2.0 * h));
    }
}

/// A curve like those of chess engines.
fn truth() -> Wdl {
    Wdl {
        stage: StageUnit::Material,
        a: [-150.0, 400.0, -330.0, 440.0],
        b: [80.0, -140.0, 70.0, 45.0],
        from_stage: 17,
        to_stage: 78,
    }
}

fn drawn(n: u64) -> Vec<Case> {
    (0..n)
        .map(|i| {
            let score_cp = random::below(1201, &[i, 1]) as i32 - 600;
            let situation =
                Situation { material: Some(17 + random::below(62, &[i, 2]) as u32), ..Situation::default() };
            let rates = truth().rates(f64::from(score_cp), &situation);
            let u = random::unit(&[i, 3]);
            let outcome = match u {
                u if u < rates.win => evalcurve_calibration::types::Outcome::Win,
                u if u < rates.win + rates.draw => evalcurve_calibration::types::Outcome::Draw,
                _ => evalcurve_calibration::types::Outcome::Loss,
            };
            Case { game: i / 2, score_cp, outcome, situation }
        })
        .collect()
}

#[test]
fn truth_is_recovered_within_its_errors() {
    let fit = fit_model(ModelKind::WdlMaterial, &drawn(60_000), &FitOptions::default()).unwrap();
    let Model::Wdl(model) = fit.model else { panic!("{fit:?}") };
    assert_eq!((model.stage, model.from_stage, model.to_stage), (StageUnit::Material, 17, 78));
    for stage in [20.0, 40.0, 58.0, 78.0] {
        let ((a, b), (true_a, true_b)) = (model.a_and_b(stage), truth().a_and_b(stage));
        assert!(
            (a / true_a - 1.0).abs() < 0.05 && (b / true_b - 1.0).abs() < 0.12,
            "{stage}: {a} {b} {true_a} {true_b}"
        );
    }
    let errors = fit.standard_errors().unwrap();
    let found = fit.model.parameters();
    let wanted = Model::Wdl(truth()).parameters();
    for ((f, w), e) in found.iter().zip(&wanted).zip(&errors) {
        assert!((f.1 - w.1).abs() < 4.0 * e && *e > 0.0, "{f:?} {w:?} {e}");
    }
}

#[test]
fn rates_sum_to_one_and_their_logit_stays_finite() {
    let at = Situation { material: Some(58), ..Situation::default() };
    for x in [0.0, 35.0, -400.0, 3_000.0, 32_000.0, -1_148_897.0] {
        let WdlRates { win, draw, loss } = truth().rates(x, &at);
        assert!((win + draw + loss - 1.0).abs() < 1e-12 && draw >= 0.0, "{x}");
        let logit = truth().logit(x, &at);
        assert!(logit.is_finite());
        let rate = win + 0.5 * draw;
        if rate > 1e-10 && rate < 1.0 - 1e-10 {
            assert!((logit - libm::log(rate / (1.0 - rate))).abs() < 1e-6, "{x}");
        }
    }
    // both branches of the logit meet
    let (_, b) = truth().a_and_b(58.0);
    let near = |x: f64| truth().logit(x, &at);
    let slope = (near(680.0 * b + 1.0) - near(680.0 * b)) * b;
    let further = (near(800.0 * b + 1.0) - near(800.0 * b)) * b;
    assert!((slope - 1.0).abs() < 1e-6 && (further - 1.0).abs() < 1e-6);
    assert!((near(800.0 * b) - near(680.0 * b) - 120.0).abs() < 1e-6);
}

#[test]
fn gradients_of_the_shares_agree_with_finite_differences() {
    let at = Situation { material: Some(31), ..Situation::default() };
    for x in [-350.0, 0.0, 80.0, 900.0] {
        let found = truth().rate_gradients(x, &at);
        for i in 0..truth().a.len() + truth().b.len() {
            let moved = |by: f64| {
                let mut wdl = truth();
                if i < 4 {
                    wdl.a[i] += by
                } else {
                    wdl.b[i - 4] += by
                }
                let rates = wdl.rates(x, &at);
                [rates.win, rates.draw, rates.loss]
            };
            for ((gradient, up), down) in found.iter().zip(moved(1e-4)).zip(moved(-1e-4)) {
                let wanted = (up - down) / 2e-4;
                assert!((gradient[i] - wanted).abs() < 1e-9, "{x} {i}: {} {wanted}", gradient[i]);
            }
        }
    }
}

#[test]
fn few_samples_get_a_lower_degree() {
    let fit = fit_model(ModelKind::WdlMaterial, &drawn(80), &FitOptions::default()).unwrap();
    let Model::Wdl(model) = &fit.model else { panic!("{fit:?}") };
    for stage in model.from_stage..=model.to_stage {
        let (a, b) = model.a_and_b(f64::from(stage));
        assert!(a > 0.0 && b > 0.0, "{stage}: {a} {b}");
    }
}

#[test]
fn samples_without_a_stage_are_left_out() {
    let mut cases = drawn(4_000);
    let all = fit_model(ModelKind::WdlMaterial, &cases, &FitOptions::default()).unwrap();
    let unknown = cases.clone().into_iter().map(|c| Case { situation: Situation::default(), ..c });
    cases.extend(unknown);
    let known = fit_model(ModelKind::WdlMaterial, &cases, &FitOptions::default()).unwrap();
    assert_eq!((known.kind, known.samples, &known.model), (ModelKind::WdlMaterial, 4_000, &all.model));
    assert_eq!(
        fit_model(ModelKind::WdlMaterial, &cases[3_990..], &FitOptions::default()),
        Err(FitError::TooFewWithMaterial { have: 10, need: 30 })
    );
}

#[test]
fn no_draws_is_an_error() {
    let row = |score_cp, wins, losses| WdlCount { stage: 40, score_cp, wins, draws: 0, losses };
    let counts = [row(-100, 3, 7), row(100, 7, 3)];
    assert_eq!(fit_wdl_counts(&counts, StageUnit::Ply), Err(FitError::NoDraws { samples: 20 }));
}
