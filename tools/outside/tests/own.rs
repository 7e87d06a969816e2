//! The format, the model and the rule of this crate, from records to a decision.

use evalcurve_calibration::types::Color;
use evalcurve_calibration::{Calibration, ErrorKind, Score, Situation, register};
use evalcurve_engine::{Engine, Game, Limit};
use evalcurve_fit::fit::{Case, FitOptions, ModelKind};
use evalcurve_fit::validate::{CrossValidation, EngineCases, FoldOptions, choose_model, log_loss_difference};
use evalcurve_records::ProblemKind;
use evalcurve_records::record::find::Entry;
use evalcurve_records::record::{Formats, SkipReason};
use evalcurve_rules::{Move, Needs, Options, Rule, Vote, Voter, by_value, check, decide};
use outside::{BENT, Backed, Bent, SCORE_LINES};

/// 4,000 games of one move each. The log odds of Black are 2 asinh(score / 400).
fn records() -> String {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut game = |_| {
        let score = (6000.0 * (uniform() - 0.5)).round();
        let wins = uniform() < 1.0 / (1.0 + (-2.0 * (score / 400.0).asinh()).exp());
        format!("game A B {} {score}\n", if wins { "1-0" } else { "0-1" })
    };
    (0..4000).map(&mut game).collect()
}

#[test]
fn from_an_own_format_to_a_decision_of_an_own_rule() {
    let text = records() + "game A B ? 10\n";
    let games = Formats::default().with(&SCORE_LINES).games_of(vec![Entry::in_memory("my.log", text.as_bytes())]);
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for record in games {
        match record {
            Ok(record) => cases.extend(record.game.scores.iter().map(|p| Case {
                game: record.game.id,
                score_cp: p.score_cp,
                outcome: record.game.outcome_for(Color::Black).unwrap(),
                situation: Situation::new().ply(p.ply),
            })),
            Err(problem) => problems.push((problem.line, problem.kind)),
        }
    }
    assert_eq!((cases.len(), problems), (4000, vec![(4001, ProblemKind::Skipped(SkipReason::UnknownResult))]));

    let kind = register(&BENT).unwrap();
    let fit = Bent::fit(kind, &cases).unwrap();
    assert!(fit.model.parameters().iter().zip([2.0, 0.0]).all(|((_, found), true_)| (found - true_).abs() < 0.2));
    let engines = [EngineCases { name: "A".to_owned(), cases: cases.into_iter().collect() }];
    let mut validation = CrossValidation::new(&engines, FoldOptions::default(), FitOptions::default());
    validation.add(kind, |cases, _| Bent::fit(kind, cases));
    let [mine, plain] = [kind, ModelKind::MaximumLikelihood].map(|kind| validation.forecasts(kind).remove(0).unwrap());
    let ahead = log_loss_difference(&mine, &plain).unwrap();
    assert!(ahead.interval.unwrap()[1] < 0.0, "{ahead:?}");
    assert_eq!(choose_model(&[ModelKind::MaximumLikelihood, kind], &mut validation).unwrap().kind, kind);

    let text = Calibration::from_models("A", [(kind, fit.into())], kind).unwrap().to_json().unwrap();
    let unknown = Calibration::from_json(&text.replace("\"bent\"", "\"broken\""), "other.json").unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NewerVersion);
    let engine = Calibration::from_json(&text, "A.json").unwrap();
    let rate = engine.estimate(400);
    assert!(rate.interval.is_some_and(|[low, high]| low < 0.853 && 0.853 < high), "{rate:?}");

    let voters = ["a", "b", "c"].map(|name| Voter { calibration: Some(&engine), ..Voter::member(name) });
    let votes = [(1, 300.0), (2, 250.0), (2, 200.0)].map(|(best, cp)| Some(Vote::new(Move(best), Score::Cp(cp))));
    let options = Options::default();
    let rule = Backed { bonus: 0.05 };
    check(&rule, &voters, &options).unwrap();
    assert_eq!(decide(&rule, &voters, &votes, &options).unwrap().chosen, Move(2));
    assert_eq!(decide(&Rule::WinRateOptimistic, &voters, &votes, &options).unwrap().chosen, Move(1));
    let lowest = by_value("lowest", Needs { scores: true, ..Needs::NOTHING }, |votes, values| {
        values.iter_mut().zip(votes.scores).for_each(|(value, score)| *value = -score);
    });
    assert_eq!(decide(&lowest, &voters, &votes, &options).unwrap().carried_by, Some(2));
}

/// A council of two engines, here of shell scripts, that plays by a rule of this program.
#[cfg(unix)]
#[test]
fn engines_decide_by_an_own_rule() -> Result<(), Box<dyn std::error::Error>> {
    let engine = |go: &str| {
        let script = format!(
            "while read w r; do case $w in uci) echo uciok;; isready) echo readyok;; go) {go};; quit) exit;; esac; done"
        );
        Engine::start(&format!("sh -c \"{script}\""), Game::Chess)
    };
    let mut engines = [
        engine("echo info depth 9 score cp 40 pv e2e4; echo bestmove e2e4")?,
        engine("echo info depth 7 score cp -10 pv d2d4; echo bestmove d2d4")?,
    ];
    let (mut moves, mut votes) = (Vec::new(), Vec::new());
    for engine in &mut engines {
        let found = engine.search("startpos", Limit::Depth(9))?;
        let best = found.best.ok_or("no move")?;
        // any number for each move, the same for the same move
        let number = moves.iter().position(|known| *known == best).unwrap_or(moves.len());
        if number == moves.len() {
            moves.push(best);
        }
        votes.push(found.score.map(|score| Vote::new(Move(number as u32), score)));
    }
    let modest = by_value("modest", Needs { scores: true, ..Needs::NOTHING }, |votes, values| {
        values.iter_mut().zip(votes.scores).for_each(|(value, score)| *value = -score);
    });
    let voters = ["A", "B"].map(Voter::member);
    let decision = decide(&modest, &voters, &votes, &Options::default())?;
    assert_eq!(moves[decision.chosen.0 as usize], "d2d4");
    engines.into_iter().for_each(Engine::quit);
    Ok(())
}
