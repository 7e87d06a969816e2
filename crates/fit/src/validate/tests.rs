//! Tests across the files of the module.

use evalcurve_calibration::types::Outcome;
use evalcurve_words::random;

use super::*;
use crate::fit::{FitError, FitOptions, Sigmoid};

/// Games of four samples whose outcome follows the rating difference and the score, with a steeper curve for the second
/// engine.
fn engines(games: u64) -> Vec<EngineCases> {
    let engine = |e: u64| {
        let cases = (0..4 * games).map(|i| {
            let game = i / 4;
            let strength = 3.0 * (random::unit(&[7, e, game]) - 0.5);
            let score_cp = (2_400.0 * (random::unit(&[8, e, i]) - 0.5)) as i32;
            let p = Sigmoid { w1: 0.002 * (1 + e) as f64, w2: -strength }.win_rate(f64::from(score_cp));
            let outcome = if random::unit(&[9, e, i]) < p { Outcome::Win } else { Outcome::Loss };
            let situation =
                Situation { strength: Some(strength), ply: Some(30 + (i % 97) as u32), ..Situation::default() };
            Case { game: game + 10_000 * e, score_cp, outcome, situation }
        });
        EngineCases { name: format!("engine {e}"), cases: cases.collect() }
    };
    vec![engine(0), engine(1)]
}

fn validation(engines: &[EngineCases]) -> CrossValidation<'_> {
    CrossValidation::new(engines, FoldOptions::default(), FitOptions::default())
}

fn mean(kind: ModelKind, engines: &[EngineCases]) -> f64 {
    let all: Vec<Forecast> = validation(engines).forecasts(kind).into_iter().flat_map(|f| f.unwrap()).collect();
    mean_log_loss(&all).unwrap().value
}

#[test]
fn knowing_the_strength_beats_not_knowing_it_beats_shared_scales() {
    let engines = engines(500);
    let [joint, likelihood, shared, constant] =
        [ModelKind::Joint, ModelKind::MaximumLikelihood, ModelKind::Shared600, ModelKind::Constant]
            .map(|kind| mean(kind, &engines));
    assert!(joint + 0.02 < likelihood && likelihood + 0.01 < shared && shared < constant);
    let choice = choose_model(&ModelKind::candidates(), &mut validation(&engines)).unwrap();
    assert_eq!(choice.kind, ModelKind::Joint);
    let wdl = choice.candidates.iter().find(|c| c.kind == ModelKind::Wdl).unwrap();
    assert!(wdl.log_loss.as_ref().unwrap_err().to_string().contains("drawn"), "{wdl:?}");
}

#[test]
fn a_search_that_begins_at_another_fold_ends_where_others_do() {
    let engines = engines(300);
    let mut validation = validation(&engines);
    let folds = *validation.folds();
    let fits = validation.fits(ModelKind::Joint);
    for out in 0..folds.folds {
        let kept = |engine: &EngineCases| -> Vec<Case> {
            engine.cases.iter().filter(|case| fold_of(case.game, &folds) != out).collect()
        };
        let kept: Vec<Vec<Case>> = engines.iter().map(kept).collect();
        let kept: Vec<&[Case]> = kept.iter().map(Vec::as_slice).collect();
        let cold = fit_engines(ModelKind::Joint, &kept, &FitOptions::default());
        let game = engines[0].cases.iter().find(|case| fold_of(case.game, &folds) == out).unwrap().game;
        for (e, cold) in cold.iter().enumerate() {
            let (a, b) = (fits.without(game, e).unwrap().model.parameters(), cold.as_ref().unwrap().model.parameters());
            for ((name, a), (_, b)) in a.iter().zip(&b) {
                assert!((a - b).abs() < 1e-7 * b.abs().max(1e-3), "{out} {e} {name}: {a} {b}");
            }
        }
    }
}

#[test]
fn the_simplest_of_equal_models_is_chosen() {
    // no rating matters here: the strength is independent noise
    let mut engines = engines(300);
    let by_luck = |mut case: Case| {
        let p = Sigmoid { w1: 0.002, w2: 0.0 }.win_rate(f64::from(case.score_cp));
        let luck =
            random::unit(&[11, case.game, u64::from(case.score_cp.unsigned_abs()), case.situation.ply.unwrap().into()]);
        case.outcome = if luck < p { Outcome::Win } else { Outcome::Loss };
        case
    };
    engines.iter_mut().for_each(|e| e.cases = e.cases.iter().map(by_luck).collect());
    let choice = choose_model(&ModelKind::candidates(), &mut validation(&engines)).unwrap();
    assert_eq!(choice.kind, ModelKind::MaximumLikelihood, "{choice:?}");
}

#[test]
fn a_fold_is_forecast_by_the_others_alone() {
    let engines = engines(60);
    let folds = FoldOptions::default();
    let forecasts = validation(&engines).forecasts(ModelKind::MaximumLikelihood);
    let forecasts = forecasts[0].as_ref().unwrap();
    // the model of fold 0 by hand
    let cases = &engines[0].cases;
    let kept: Vec<Case> = cases.iter().filter(|c| fold_of(c.game, &folds) != 0).collect();
    let fit = crate::fit::fit_model(ModelKind::MaximumLikelihood, &kept, &FitOptions::default()).unwrap();
    let mut seen = 0;
    for (case, forecast) in cases.iter().zip(forecasts) {
        assert_eq!((case.game, case.outcome), (forecast.game, forecast.outcome));
        let logit = fit.model.logit(f64::from(case.score_cp), &case.situation);
        let same = logit == forecast.logit;
        assert_eq!(same, fold_of(case.game, &folds) == 0);
        seen += usize::from(same);
    }
    assert!(seen > 20);
}

#[test]
fn shared_models_are_one_for_all() {
    let mut engines = engines(300);
    for (e, engine) in (0..).zip(&mut engines) {
        // both met one opponent, so that the joint model fits them together
        let met = |case: Case| {
            let situation = Situation { players: Some([e, 9]), ..case.situation };
            Case { situation, ..case }
        };
        engine.cases = engine.cases.iter().map(met).collect();
    }
    let cases: Vec<&Cases> = engines.iter().map(|e| &e.cases).collect();
    let fits = fit_engines(ModelKind::Joint, &cases, &FitOptions::default());
    let w3: Vec<f64> = fits
        .iter()
        .map(|f| match f.as_ref().unwrap().model {
            Model::Joint(m) => m.w3,
            _ => panic!(),
        })
        .collect();
    assert_eq!(w3[0], w3[1]);
    assert!((w3[0] - 1.0).abs() < 0.2, "{w3:?}");
    // one sigmoid of z: slope times sd agrees
    let z = fit_engines(ModelKind::SharedZ, &cases, &FitOptions::default());
    let slope = |i: usize| match z[i].as_ref().unwrap().model {
        Model::Sigmoid(s) => {
            s.w1 * crate::standardize::standardization(cases[i].iter().map(|c| c.score_cp)).unwrap().sd
        }
        _ => panic!(),
    };
    assert!((slope(0) / slope(1) - 1.0).abs() < 1e-12);
}

#[test]
fn errors_are_reached() {
    let engines = engines(30);
    let none = FoldOptions { folds: 1, ..FoldOptions::default() };
    let options = FitOptions::default();
    assert_eq!(
        CrossValidation::new(&engines, none, options).forecasts(ModelKind::Constant)[0],
        Err(ValidateError::TooFewFolds { folds: 1 })
    );
    let empty = [EngineCases { name: "none".to_owned(), cases: Cases::default() }];
    assert_eq!(validation(&empty).forecasts(ModelKind::Constant)[0], Err(ValidateError::Empty));
    assert_eq!(scores(&[], &ScoreOptions::default()), Err(ValidateError::Empty));
    assert_eq!(reliability(&[], &ScoreOptions::default()), Err(ValidateError::Empty));
    let mut cases: Vec<Case> = engines[0].cases.iter().collect();
    let fit = |kind, cases: &[Case]| crate::fit::fit_model(kind, cases, &options).map(|_| ());
    cases.iter_mut().for_each(|c| c.situation.ply = Some(40));
    assert_eq!(fit(ModelKind::Phase, &cases), Err(FitError::OnePly { ply: 40, samples: 120 }));
}

/// A forecast of its own game.
fn forecast(game: u64, p: f64, outcome: Outcome) -> Forecast {
    Forecast { game, logit: libm::log(p / (1.0 - p)), outcome }
}

#[test]
fn corp_by_hand() {
    // forecasts .2 .4 .6 .8 with results 0 1 0 1: .4 and .6 pool to ½
    let four = [
        forecast(1, 0.2, Outcome::Loss),
        forecast(2, 0.4, Outcome::Win),
        forecast(3, 0.6, Outcome::Loss),
        forecast(4, 0.8, Outcome::Win),
    ];
    let few = ScoreOptions { resamples: 10, ..ScoreOptions::default() };
    let parts = scores(&four, &few).unwrap().decomposition;
    // S = (.04 + .36 + .36 + .04)/4 = .2, S_C = (0 + .25 + .25 + 0)/4 = .125, S_R = .25
    assert!((parts.miscalibration.value - 0.075).abs() < 1e-12);
    assert!((parts.discrimination.value - 0.125).abs() < 1e-12);
    assert!((parts.uncertainty.value - 0.25).abs() < 1e-12);
    let diagram = reliability(&four, &ScoreOptions { resamples: 50, ..ScoreOptions::default() }).unwrap();
    let rates: Vec<(f64, u64)> = diagram.pools.iter().map(|p| (p.win_rate, p.samples)).collect();
    assert_eq!(rates, [(0.0, 1), (0.5, 2), (1.0, 1)]);
    assert!((diagram.pools[1].from - 0.4).abs() < 1e-12 && (diagram.pools[1].to - 0.6).abs() < 1e-12);
    assert_eq!(diagram.histogram, [0, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    // a draw is half of either: ½(1-p)² + ½p²
    let draw = [forecast(1, 0.3, Outcome::Draw)];
    let s = scores(&draw, &ScoreOptions { resamples: 10, ..ScoreOptions::default() }).unwrap();
    assert!((s.brier.value - 0.29).abs() < 1e-12 && s.slope.is_none() && s.log_loss.interval.is_none());
}

/// Calibrated forecasts, four samples a game that share forecast and luck.
fn calibrated(games: u64, seed: u64) -> Vec<Forecast> {
    (0..4 * games)
        .map(|i| {
            let p = 0.05 + 0.9 * random::unit(&[seed, 1, i / 4]);
            let outcome = if random::unit(&[seed, 2, i / 4]) < p { Outcome::Win } else { Outcome::Loss };
            forecast(i / 4, p, outcome)
        })
        .collect()
}

#[test]
fn intervals_hold_where_samples_of_a_game_go_together() {
    let options = ScoreOptions { resamples: 200, seed: 3 };
    let (mut slope, mut ece, mut naive, mut clustered) = (0, 0, 0, 0);
    let sets = 200;
    for seed in 0..sets {
        let forecasts = calibrated(150, 100 + seed);
        let s = scores(&forecasts, &options).unwrap();
        let holds = |e: &Estimate, x: f64| e.interval.is_some_and(|[low, high]| low <= x && x <= high);
        slope += u64::from(holds(&s.slope.unwrap(), 1.0));
        ece += u64::from(holds(&s.ece, 0.0));
        naive += u64::from(s.spiegelhalter.unwrap().z.abs() < 1.96);
        clustered += u64::from(s.spiegelhalter.unwrap().z_clustered.abs() < 1.96);
    }
    // 95% of 200 is 190, standard deviation 3
    assert!((179..=200).contains(&slope), "slope {slope}");
    assert!(ece >= 179, "ece {ece}");
    assert!(clustered >= 179 && naive < 160, "{clustered} {naive}");
}

#[test]
fn a_calibrated_model_stays_within_its_band() {
    let forecasts = calibrated(400, 5);
    let diagram = reliability(&forecasts, &ScoreOptions { resamples: 300, seed: 1 }).unwrap();
    assert!(diagram.band.windows(2).all(|w| w[0].forecast < w[1].forecast && w[0].low <= w[1].low));
    let inside = |b: &BandPoint| b.low <= b.forecast + 0.02 && b.forecast - 0.02 <= b.high;
    assert!(diagram.band.iter().all(inside));
    assert_eq!(diagram.histogram.iter().sum::<u64>(), 1_600);
}

#[test]
fn numbers_do_not_depend_on_the_number_of_threads() {
    let engines = engines(100);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let f = validation(&engines).forecasts(ModelKind::Joint);
            let options = ScoreOptions { resamples: 50, ..ScoreOptions::default() };
            let all: Vec<_> = f.into_iter().flat_map(|f| f.unwrap()).collect();
            (scores(&all, &options).unwrap(), reliability(&all, &options).unwrap())
        })
    };
    assert_eq!(run(1), run(3));
}

/// Three games cannot tell how good forecasts are: the normal interval of the log loss would begin below 0.
#[test]
fn intervals_of_impossible_values_are_left_out() {
    let game = |i: u64, p: f64, outcome| forecast(i, p, outcome);
    let few = [game(1, 0.97, Outcome::Loss), game(2, 0.6, Outcome::Win), game(3, 0.7, Outcome::Win)];
    let options = ScoreOptions { resamples: 200, seed: 1 };
    let s = scores(&few, &options).unwrap();
    assert!(s.log_loss.value > 1.0 && s.log_loss.interval.is_none(), "{:?}", s.log_loss);
    assert!(s.brier.interval.is_none(), "{:?}", s.brier);
    assert_eq!(mean_log_loss(&few).unwrap().interval, None);
    // all games won: no resample varies in its mean result, which does not make that certain
    let won: Vec<Forecast> = (0..46).map(|i| game(i, 0.5 + 0.01 * i as f64, Outcome::Win)).collect();
    let s = scores(&won, &options).unwrap();
    assert_eq!(s.decomposition.uncertainty.interval, None);
    let all = [s.log_loss, s.brier, s.ece, s.decomposition.miscalibration, s.decomposition.discrimination];
    for e in all {
        assert!(e.interval.is_none_or(|[low, high]| low >= 0.0 && low < high), "{e:?}");
    }
    assert_eq!(serde_json::to_value(s.decomposition.uncertainty).unwrap()["interval"], serde_json::Value::Null);
    let possible = |interval, most| Estimate { value: 0.0, interval: Some(interval) }.possible(most).interval;
    assert_eq!(possible([0.0, 0.0], 1.0), None);
    assert_eq!(possible([-0.384, 2.302], f64::INFINITY), None);
    assert_eq!(possible([0.5, 1.1], 1.0), None);
    assert_eq!(possible([0.0, 0.2], 1.0), Some([0.0, 0.2]));
}

/// A model of a program's own is fitted in each fold, compared with those of the list, and chosen where it is better.
#[test]
fn an_own_model_is_validated_and_chosen() {
    use evalcurve_calibration::{OwnModel, Situation, register};

    /// A step: a win rate below a score, and one from it on.
    #[derive(Debug)]
    struct Step;
    static STEP: Step = Step;
    impl OwnModel for Step {
        fn name(&self) -> &'static str {
            "step"
        }
        fn parameters(&self) -> &'static [&'static str] {
            &["low", "high"]
        }
        fn logit(&self, parameters: &[f64], score_cp: f64, _: &Situation) -> f64 {
            if score_cp < 100.0 { parameters[0] } else { parameters[1] }
        }
    }
    let kind = register(&STEP).unwrap();
    // results hang on the side of +100 alone
    let case = |i: u64| {
        let score_cp = evalcurve_words::random::below(2001, &[1, i]) as i32 - 1000;
        let wins = evalcurve_words::random::unit(&[2, i]) < if score_cp < 100 { 0.2 } else { 0.7 };
        let outcome = if wins { Outcome::Win } else { Outcome::Loss };
        Case { game: i / 2, score_cp, outcome, situation: Situation::default() }
    };
    let engines = [EngineCases { name: "step".to_owned(), cases: (0..3000).map(case).collect() }];
    let (smooth, mut validation) = (self::engines(250), validation(&engines));
    assert!(matches!(validation.forecasts(kind)[0], Err(ValidateError::Fold { source: FitError::OwnModel, .. })));
    validation.add(kind, |cases, options| {
        assert_eq!(options.min_samples, 0);
        let logit = |low: bool| {
            let side = cases.iter().filter(|case| (case.score_cp < 100) == low);
            let [won, all] = side.fold([0.5, 1.0], |[won, all], case| [won + case.outcome.value(), all + 1.0]);
            evalcurve_calibration::logistic::logit(won / all)
        };
        let model = Model::own(&STEP, vec![logit(true), logit(false)]).unwrap();
        ModelFit::of_cases(kind, model, None, cases)
    });
    let forecasts = validation.forecasts(kind)[0].clone().unwrap();
    let rate = |low: bool| forecasts.iter().zip(engines[0].cases.iter()).find(|(_, case)| (case.score_cp < 100) == low);
    assert!((rate(true).unwrap().0.win_rate() - 0.2).abs() < 0.03);
    assert!((rate(false).unwrap().0.win_rate() - 0.7).abs() < 0.03);
    let listed = validation.forecasts(ModelKind::MaximumLikelihood)[0].clone().unwrap();
    let ahead = log_loss_difference(&forecasts, &listed).unwrap();
    assert!(ahead.interval.unwrap()[1] < 0.0, "{ahead:?}");
    let choice = choose_model(&[ModelKind::Constant, kind], &mut {
        let mut other = CrossValidation::new(&smooth, FoldOptions::default(), FitOptions::default());
        other.add(kind, |cases, _| ModelFit::of_cases(kind, Model::own(&STEP, vec![-0.5, 0.5]).unwrap(), None, cases));
        other
    });
    assert_eq!(choice.unwrap().kind, kind);
}
