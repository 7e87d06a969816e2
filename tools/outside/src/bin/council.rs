//! The decision of engines that have their own calibrations, and by a rule of this program.
//!
//! `council zshogi.json:7g7f:120 gikou.json:2g2f:80 sekirei.json:7g7f:30`

use std::error::Error;

use evalcurve_calibration::{Calibration, Score};
use evalcurve_rules::{DecisionRule, Move, Needs, Options, Rule, Vote, Voter, by_value, check, decide};

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: council CALIBRATION:MOVE:SCORE…";
    let (mut engines, mut moves, mut votes) = (Vec::new(), Vec::<String>::new(), Vec::new());
    for argument in std::env::args().skip(1) {
        let (rest, score) = argument.rsplit_once(':').ok_or(usage)?;
        let (file, best) = rest.rsplit_once(':').ok_or(usage)?;
        engines.push(Calibration::read(file)?);
        // any number for each move, the same for the same move
        let number = moves.iter().position(|known| known == best).unwrap_or(moves.len());
        if number == moves.len() {
            moves.push(best.to_owned());
        }
        votes.push(Some(Vote::new(Move(number as u32), Score::Cp(score.parse()?))));
    }
    let voters: Vec<Voter> = engines
        .iter()
        .map(|engine| Voter { calibration: Some(engine), ..Voter::member(&engine.engine.name) })
        .collect();
    let modest = by_value("modest", Needs { win_rates: true, ..Needs::NOTHING }, |votes, values| {
        values.iter_mut().zip(votes.win_rates).for_each(|(value, rate)| *value = -rate);
    });
    let rules: [&dyn DecisionRule; 2] = [&Rule::MeanWinRate, &modest];
    for rule in rules {
        check(rule, &voters, &Options::default())?;
        let decision = decide(rule, &voters, &votes, &Options::default())?;
        println!("{}: {}", rule.name(), decision.explain(&voters, &votes, |m| moves[m.0 as usize].clone()).summary());
    }
    Ok(())
}
