//! The first pages: what a newcomer writes with each crate.

use std::error::Error;
use std::time::Duration;

use evalcurve_calibration::types::Outcome;
use evalcurve_calibration::{Calibration, ErrorKind, Score, Situation};
use evalcurve_engine::usi::Position;
use evalcurve_engine::{Board, FailureKind, Game, Limit, Player, parse_engine};
use evalcurve_fit::fit::{FitOptions, Method, Observation, fit};
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
        scores += game.scores.iter().filter(|p| game.outcome_for(p.color).is_some()).count();
        assert_eq!(game.played.map(|played| played.moves.len()), Some(game.plies as usize));
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
    let method = Method::MaximumLikelihood;
    let found = fit(method, &(0..1000).map(row).collect::<Vec<_>>(), &FitOptions::default())?;
    let mine = Calibration::from_models("mine", [(method.into(), found.into())], method.into()).ok_or("no model")?;
    let in_these_games = mine.at(Situation::new()).in_the_field().estimate(300);
    assert!((in_these_games.value - 0.8).abs() < 1e-6, "{in_these_games:?}");
    assert!(mine.estimate(300).value < 0.75);
    Ok(())
}

#[test]
fn a_search_of_an_engine() -> Result<(), Box<dyn Error>> {
    let config = parse_engine("no-such-engine option.Threads=1", Game::Chess)?;
    let position = Position::parse("startpos moves e2e4");
    let (board, problem) = Board::new(Game::Chess, &position);
    assert_eq!(problem, None);
    let search =
        |mut engine: Player| engine.search(position, board.side(), Limit::Depth(10).go(), Duration::from_secs(60));
    let found = Player::start(&config).and_then(search);
    assert!(found.is_err_and(|failure| failure.kind() == FailureKind::NotFound));
    Ok(())
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
