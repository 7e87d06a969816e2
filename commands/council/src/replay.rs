//! Decides the vote logs of a council again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use evalcurve_app::{Error, Input, Logs, Outcome, Progress};
use evalcurve_fit::calibration::Calibration;
use evalcurve_rules::log::Log;
use evalcurve_rules::replay::{Replay as Replayed, ReplayOptions, replay};
use evalcurve_rules::weights::Weights;
use evalcurve_words::text;
use serde_json::{Value, json};

use crate::learn::{LearnOptions, Learned, learn};
use crate::noise;

/// Decides vote logs again, by any rule.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// The rules, and who votes.
    pub options: ReplayOptions,
    /// Weights to decide with, in place of those of the log.
    pub weights: Option<Weights>,
    /// Calibrations to decide with, by the name of the voter, in place of those of the log.
    pub calibrations: Vec<(String, Calibration)>,
}

impl Replay {
    /// Reads and decides; the replay is `None` if the logs hold no decision that can be used.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read, or as [`Replay::decide`].
    pub fn run(&self, input: &Input, _: &Progress) -> Result<Outcome<(Logs, Option<Replayed>)>, Error> {
        let mut logs = Logs::read(input)?;
        let found = self.decide(&mut logs)?;
        Ok(Outcome::from((logs, found)))
    }

    /// Decides logs; `None` if they hold no decision that can be used.
    ///
    /// # Errors
    /// [`Error`] for a voter that is not in the logs, or a rule that cannot work with them.
    pub fn decide(&self, logs: &mut Logs) -> Result<Option<Replayed>, Error> {
        if !self.prepare(&mut logs.log)? {
            return Ok(None);
        }
        let found = replay(&logs.log, &self.options).map_err(Error::said)?;
        match found.impossible.first() {
            Some(first) if !self.options.rules.is_empty() => Err(Error::said(&first.reason)),
            _ => Ok(Some(found)),
        }
    }

    /// Learns weights from logs; `None` if they hold no decision that can be used.
    ///
    /// # Errors
    /// [`Error`] for a voter that is not in the logs, or where there is too little to learn from.
    pub fn learn(&self, logs: &mut Logs, options: &LearnOptions) -> Result<Option<Learned>, Error> {
        if !self.prepare(&mut logs.log)? {
            return Ok(None);
        }
        let mut learned = learn(&logs.log, options).map_err(Error::said)?;
        // names of files are the same on every machine, folders are not
        let name = |(file, _): &(String, usize)| Path::new(file).file_name().map_or_else(|| file.clone(), base_name);
        learned.weights.votes.sources = logs.sources.iter().map(name).collect();
        Ok(Some(learned))
    }

    /// Gives the voters their calibrations and weights. Returns whether there are decisions.
    fn prepare(&self, log: &mut Log) -> Result<bool, Error> {
        if log.decisions() == 0 {
            return Ok(false);
        }
        let voters = log.sessions.iter().flat_map(|session| &session.header.voters);
        let names: BTreeSet<String> = voters.map(|voter| voter.name.clone()).collect();
        for (engine, calibration) in &self.calibrations {
            if !log.recalibrate(engine, calibration) {
                let known = Vec::from_iter(names);
                return Err(
                    text!("`calibration`: no voter is called '{engine}'; the log has {}", known.join(", ")).into()
                );
            }
        }
        if let Some(weights) = &self.weights {
            let out = |name: &&str| self.options.without.iter().any(|out| out == name);
            weights.check(names.iter().map(String::as_str).filter(|name| !out(name))).map_err(Error::said)?;
            log.reweigh(weights);
        }
        Ok(true)
    }
}

fn base_name(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// The JSON document of learned weights and what they gain.
///
/// # Errors
/// [`Error::Said`] for what cannot be written as JSON.
pub fn learned_document(logs: &Logs, found: &Learned) -> Result<Value, Error> {
    let learned = serde_json::to_value(found).map_err(Error::said)?;
    Ok(json!({ "format": "evalcurve-learned", "version": 1, "problems": logs.problems, "learned": learned }))
}

/// The JSON document of a replay.
///
/// # Errors
/// [`Error::Said`] for what cannot be written as JSON.
pub fn replay_document(logs: &Logs, found: &Replayed) -> Result<Value, Error> {
    let log = &logs.log;
    let mut replay = serde_json::to_value(found).map_err(Error::said)?;
    replay["noise"] = json!(noise::of_replay(log, found));
    Ok(json!({
        "format": "evalcurve-replay", "version": 1, "problems": logs.problems,
        "lines": {
            "read": log.lines, "headers": log.sessions.len(), "decisions": log.decisions(), "ends": log.ends(),
            "blank": log.blank, "not_used": log.not_used,
        },
        "replay": replay,
    }))
}
