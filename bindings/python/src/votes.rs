//! The vote logs of councils.

use std::path::PathBuf;

use evalcurve::calibration::Score;
use evalcurve::keywords;
use evalcurve::rule::Role;
use evalcurve::rule::log::{Ballots, Header, LoggedLine};
use evalcurve::rule::replay::OwnRule;
use evalcurve::run::{Input, Logs, Replay, replay_document};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::ffi::OsString;

use crate::calibration::Calibration;
use crate::running::{call_error, detached, error};

/// The votes of one decision, each with the keys of `evalcurve.Vote`.
fn votes(header: &Header, line: &LoggedLine) -> Vec<Value> {
    let ballots = Ballots::new(header, line);
    let votes = ballots.votes();
    let voters = header.voters.iter().zip(&votes).map(|(voter, vote)| {
        let own = vote.map(|vote| vote.best);
        let rates = ballots.win_rates(header, &voter.name);
        // its own move is the first, if it has a win rate
        let win_rate = rates.iter().find(|(m, _)| Some(*m) == own).map(|(_, p)| *p);
        let (score_cp, mate) = match vote.and_then(|vote| vote.score) {
            Some(Score::Cp(cp)) => (Some(cp), None),
            Some(Score::Mate { wins, plies }) => {
                let plies = plies.and_then(|plies| i32::try_from(plies).ok());
                (None, plies.map(|plies| if wins { plies } else { -plies }))
            }
            None => (None, None),
        };
        json!({
            "name": voter.name, "move": own.map(|m| ballots.names.name(m)), "score_cp": score_cp, "mate": mate,
            "leader": voter.role == Role::Leader, "weight": voter.weight, "calibration": null, "win_rate": win_rate,
        })
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
                "position": line.position, "side": line.side, "rule": session.header.rule.as_str(),
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
