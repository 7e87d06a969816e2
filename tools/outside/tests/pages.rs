//! The first pages: what a newcomer writes with each crate.

use std::error::Error;

use evalcurve_calibration::types::Outcome;
use evalcurve_calibration::{Calibration, ErrorKind, Score, Situation};
use evalcurve_engine::{Engine, FailureKind, Game, Limit};
use evalcurve_fit::fit::{Fit, Observation};
use evalcurve_rules::{Move, Options, Rule, Vote, Voter, check, decide};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/calibration/examples/zshogi.json");
const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/selfplay/sekirei+zshogi.csa");

#[test]
fn the_win_rate_of_a_score() -> Result<(), Box<dyn Error>> {
    let engine = Calibration::read(FILE)?;
    let p = engine.estimate(300.0);
    assert!(p.interval.is_some_and(|[low, high]| 0.5 < low && low < p.value && p.value < high));
    assert!(engine.at(Situation::new().ply(80)).estimate(-50).value < 0.5);
    assert!(engine.estimate(f64::NAN).value.is_nan());
    assert!(Calibration::read("none.json").is_err_and(|error| error.kind() == ErrorKind::NotFound));
    Ok(())
}

#[test]
fn the_games_of_a_path() -> Result<(), Box<dyn Error>> {
    let mut scores = 0;
    for record in evalcurve_records::games(RECORDS)?.with_moves() {
        let game = record?.game;
        let positions = game.positions();
        assert_eq!(positions.len(), game.plies as usize + 1);
        assert!(positions.iter().all(|p| p.text.ends_with(" 1") && game.outcome_for(p.color).is_some()));
        scores += positions.iter().filter(|p| p.score.is_some_and(|score| score.color == p.color)).count();
        assert_eq!(positions.iter().filter(|p| p.score.is_some()).count(), game.scores.len());
    }
    assert!(scores > 100, "{scores}");
    Ok(())
}

#[test]
fn a_fit_of_own_rows() -> Result<(), Box<dyn Error>> {
    let outcome = |won| if won { Outcome::Win } else { Outcome::Loss };
    let row = |i: u64| match i % 2 {
        0 => Observation { game: i, score_cp: 300, outcome: outcome(i / 2 % 10 < 8) },
        _ => Observation { game: i, score_cp: -300, outcome: outcome(i / 2 % 10 < 4) },
    };
    let fit = Fit::sigmoid((0..1000).map(row))?;
    assert_eq!(format!("{:.2}", fit.in_these_games(300).value), "0.80");
    let mine = fit.into_calibration("mine");
    assert_eq!(mine.estimate(300), fit.between_equals(300));
    let in_the_field = mine.at(Situation::new()).in_the_field().estimate(300);
    assert_eq!(format!("{in_the_field:.12}"), format!("{:.12}", fit.in_these_games(300)));
    Ok(())
}

#[test]
fn a_search_of_an_engine() {
    let found = Engine::start("no-such-engine option.Threads=1", Game::Chess)
        .and_then(|mut engine| engine.search("startpos moves e2e4", Limit::Depth(10)));
    assert!(found.is_err_and(|failure| failure.kind() == FailureKind::NotFound));
}

#[test]
fn the_decision_of_a_council() -> Result<(), Box<dyn Error>> {
    let zshogi = Calibration::read(FILE)?;
    let voters = ["A", "B", "C"].map(|name| Voter { calibration: Some(&zshogi), ..Voter::member(name) });
    check(&Rule::MeanWinRate, &voters, &Options::default())?;
    let votes = [(0, 80.0), (1, 30.0), (1, 120.0)].map(|(m, cp)| Some(Vote::new(Move(m), Score::Cp(cp))));
    let decision = decide(&Rule::MeanWinRate, &voters, &votes, &Options::default())?;
    assert_eq!(decision.chosen, Move(1));
    assert!(decision.explain(&voters, &votes, |m| m.0.to_string()).summary().to_string().contains(": 1"));
    Ok(())
}
