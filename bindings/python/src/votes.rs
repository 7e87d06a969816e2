//! The vote logs of councils.

use std::path::PathBuf;

use evalcurve::calibration::Score;
use evalcurve::keywords;
use evalcurve::rule::Role;
use evalcurve::rule::log::{Ballots, Header, LoggedLine, LoggedMove};
use evalcurve::rule::replay::OwnRule;
use evalcurve::run::{Input, Logs, Replay, replay_document};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::ffi::OsString;

use crate::calibration::Calibration;
use crate::running::{call_error, detached, error};

/// A score as `score_cp` or `mate`, the plies to a mate, negative for the side that is mated.
fn score_of(score: Option<Score>) -> Value {
    let (score_cp, mate) = match score {
        Some(Score::Cp(cp)) => (Some(cp), None),
        Some(Score::Mate { wins, plies }) => {
            let plies = plies.and_then(|plies| i32::try_from(plies).ok());
            (None, plies.map(|plies| if wins { plies } else { -plies }))
        }
        None => (None, None),
    };
    json!({ "score_cp": score_cp, "mate": mate })
}

/// The votes of one decision, each with the keys of `evalcurve.Vote` and what else the log has.
fn votes(header: &Header, line: &LoggedLine) -> Vec<Value> {
    let ballots = Ballots::new(header, line);
    let votes = ballots.votes();
    let options = ballots.options(header);
    let voters = header.voters.iter().zip(&votes).map(|(voter, vote)| {
        let own = vote.map(|vote| vote.best);
        let rates = ballots.win_rates(header, &voter.name);
        // its own move is the first, if it has a win rate
        let win_rate = rates.iter().find(|(m, _)| Some(*m) == own).map(|(_, p)| *p);
        let with_rate = |best: &str, score: Option<Score>| {
            let mut value = score_of(score);
            let rate = voter.calibration.as_ref().zip(score).map(|(calibration, score)| {
                calibration.win_rate_in(options.reading, calibration.classify_score(score), &options.situation)
            });
            (value["move"], value["win_rate"]) = (best.into(), json!(rate));
            value
        };
        let moves = |list: &[LoggedMove]| -> Vec<Value> {
            list.iter().map(|each| with_rate(&each.best, Some(each.score.0))).collect()
        };
        let logged = line.votes.iter().find(|logged| logged.voter == voter.name);
        let mut value = json!({
            "name": voter.name, "move": own.map(|m| ballots.names.name(m)), "leader": voter.role == Role::Leader,
            "weight": voter.weight, "calibration": null, "win_rate": win_rate,
            "list": logged.map_or_else(Vec::new, |logged| moves(&logged.list)),
            "judged": logged.map_or_else(Vec::new, |logged| moves(&logged.judged)),
            "deeper": logged.and_then(|logged| logged.deeper.as_ref()).map(|deeper| {
                let mut value = with_rate(&deeper.best, deeper.score.as_ref().map(|score| score.0));
                (value["nodes"], value["time_ms"]) = (json!(deeper.nodes), deeper.time_ms.into());
                value
            }),
            "bound": logged.and_then(|logged| logged.bound), "nodes": logged.and_then(|logged| logged.nodes),
            "time_ms": logged.and_then(|logged| logged.time_ms), "cpu_ms": logged.and_then(|logged| logged.cpu_ms),
            "second": logged.and_then(|logged| logged.second),
        });
        let score = score_of(vote.and_then(|vote| vote.score));
        (value["score_cp"], value["mate"]) = (score["score_cp"].clone(), score["mate"].clone());
        value
    });
    voters.collect()
}

/// The decisions of vote logs as JSON, and the lines that cannot be used.
#[pyfunction]
pub(crate) fn read_votes(
    paths: Vec<PathBuf>,
    calibrations: Vec<(String, PyRef<'_, Calibration>)>,
) -> PyResult<(String, Vec<String>)> {
    let mut logs = Logs::read(&Input::paths(paths)).map_err(call_error)?;
    for (name, calibration) in &calibrations {
        if !logs.log.recalibrate(name, &calibration.0) {
            return Err(error(format!("no voter of the log is called '{name}'")));
        }
    }
    let mut decisions = Vec::new();
    for (i, session) in logs.log.sessions.iter().enumerate() {
        for (number, line) in &session.decisions {
            let end = session.ends.iter().map(|(_, end)| end).find(|end| end.game_id == line.game_id);
            decisions.push(json!({
                "file": logs.source(i), "line": number, "game_id": line.game_id, "ply": line.ply,
                "position": line.position, "side": line.side, "material": line.material,
                "time_ms": line.time_ms, "rule": session.header.rule.as_str(),
                "votes": votes(&session.header, line),
                "decision": line.decision.as_ref().map(|decision| &decision.best),
                "carried_by": line.decision.as_ref().and_then(|decision| decision.carried_by.as_ref()),
                "played": line.played, "result": end.map(|end| end.outcome.value()),
            }));
        }
    }
    Ok((Value::from(decisions).to_string(), logs.problems))
}

/// Decides vote logs again. Returns the JSON document, and the lines that cannot be used.
#[pyfunction]
pub(crate) fn replay(
    py: Python<'_>,
    words: Vec<OsString>,
    paths: Vec<PathBuf>,
    calibrations: Vec<(String, PyRef<'_, Calibration>)>,
    own: Vec<(String, Vec<Option<String>>)>,
) -> PyResult<(String, Vec<String>)> {
    let Replay { mut options, weights, .. } = keywords::replay(&words).map_err(call_error)?;
    options.own = own.into_iter().map(|(name, moves)| OwnRule { name, moves }).collect();
    let calibrations = calibrations.into_iter().map(|(name, calibration)| (name, calibration.0.clone())).collect();
    let command = Replay { options, weights, calibrations };
    let found = detached(py, None, move |progress| {
        let (logs, found) = command.run(&Input::paths(paths), progress)?.value;
        let document = found.map(|found| replay_document(&logs, &found)).transpose()?;
        Ok((document, logs.problems))
    })?;
    match found.map_err(call_error)? {
        (Some(document), problems) => Ok((document.to_string(), problems)),
        (None, _) => Err(error("the log has no decision that can be used; give a vote log that a council wrote")),
    }
}
