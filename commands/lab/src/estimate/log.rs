//! The vote log of a simulated council, in which the best moves are known.

use evalcurve_calibration::Score;
use evalcurve_calibration::types::Color;
use evalcurve_fit::fit::CP_PER_LOGIT;
use evalcurve_rules::log::{Ballots, Header, LoggedDecision, LoggedLine, LoggedScore, LoggedVote};
use evalcurve_rules::win_rate::win_rate;
use evalcurve_rules::{Options, Role, Rule, Voter};

use super::drawn;
use crate::simulate::{Model, ModelError};

/// The vote log of `positions` positions. The council decides by majority, and move 1 is the best in every position.
/// Votes have win rates, and scores on the scale of each engine.
///
/// # Errors
/// If the model is out of range.
pub fn simulated_log(model: &Model, positions: u64, seed: u64) -> Result<String, ModelError> {
    let names: Vec<String> = (1..=model.engines.len()).map(|i| format!("engine {i}")).collect();
    let role = |i: usize| if i == 0 { Role::Leader } else { Role::Member };
    let voters: Vec<Voter<'_>> =
        names.iter().enumerate().map(|(i, name)| Voter { role: role(i), ..Voter::member(name) }).collect();
    let options = Options { seed, ..Options::default() };
    let header = Header::new("simulated", Rule::Majority, &voters, &options);
    let mut out = String::new();
    let mut push = |line: Result<String, serde_json::Error>| {
        // every key is a string and every number is finite, so serialisation cannot fail
        if let Ok(line) = line {
            out += &line;
            out.push('\n');
        }
    };
    push(serde_json::to_string(&header));
    for (at, ballot) in drawn(model, positions, seed)?.iter().enumerate() {
        let vote = |&(i, m, value): &(usize, u32, f64)| {
            let raw = model.engines[i].gain * value + model.engines[i].offset;
            LoggedVote {
                voter: names[i].clone(),
                best: Some(format!("{}", m + 1)),
                score: Some(LoggedScore(Score::Cp((CP_PER_LOGIT * raw).round()))),
                win_rate: Some(win_rate(value)),
                ..LoggedVote::default()
            }
        };
        let mut line = LoggedLine {
            game_id: "simulated".to_owned(),
            ply: u32::try_from(at + 1).unwrap_or(u32::MAX),
            position: format!("simulated {}", at + 1),
            side: Color::Black,
            material: None,
            time_ms: 0,
            votes: ballot.iter().map(vote).collect(),
            searched: Vec::new(),
            decision: None,
            played: String::new(),
            faults: Vec::new(),
        };
        let decided = {
            let ballots = Ballots::new(&header, &line);
            let name = |m| ballots.names.name(m).to_owned();
            ballots.decide(&header, &Rule::Majority).ok().map(|d| LoggedDecision::new(&d, &header.voters(), name))
        };
        line.played = decided.as_ref().map_or_else(String::new, |d| d.best.clone());
        line.decision = decided;
        push(serde_json::to_string(&line));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::ballots;
    use super::*;
    use evalcurve_rules::log::Log;

    #[test]
    fn a_log_round_trips() {
        let model = Model::lfics(&[0.5, 0.7, 0.9], 4, 0.6);
        let log = Log::parse(simulated_log(&model, 50, 3).unwrap().as_bytes());
        assert!(log.problems.is_empty(), "{:?}", log.problems);
        let (names, read) = ballots(&log).unwrap();
        assert_eq!(names, ["engine 1", "engine 2", "engine 3"]);
        for (read, drawn) in read.iter().zip(drawn(&model, 50, 3).unwrap()) {
            for (a, b) in read.iter().zip(&drawn) {
                assert!(a.0 == b.0 && (a.2 - b.2).abs() < 1e-9, "{a:?} {b:?}");
            }
            // moves are renumbered in each position, so only agreement is compared
            for (i, a) in read.iter().enumerate() {
                for (j, b) in read.iter().enumerate() {
                    assert_eq!(a.1 == b.1, drawn[i].1 == drawn[j].1);
                }
            }
        }
    }
}
