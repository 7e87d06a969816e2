//! The rules of councils.

use evalcurve::calibration::Score;
use evalcurve::rule::{self, Move, Options, Role, Rule, TieRule, Vote, Voter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::calibration::Calibration;
use crate::running::error;

/// One vote as Python gives it: name, move (none for an abstention), score, plies to mate, leader, weight, calibration,
/// win rate.
type Given<'py> =
    (String, Option<String>, Option<f64>, Option<i32>, bool, Option<f64>, Option<PyRef<'py, Calibration>>, Option<f64>);

/// Decides the votes on one position. Returns the explanation as JSON, and the names of the voters whose scores the
/// rule cannot use, because it compares win rates and they have none.
#[pyfunction]
#[pyo3(signature = (rule, votes, tie, seed, caution))]
pub(crate) fn decide(
    rule: &str,
    votes: Vec<Given<'_>>,
    tie: &str,
    seed: u64,
    caution: f64,
) -> PyResult<(String, Vec<String>)> {
    let names = || Rule::ALL.iter().map(|rule| rule.to_string()).collect::<Vec<_>>().join(", ");
    let parsed =
        Rule::parse(rule).ok_or_else(|| error(format!("'{rule}' is not a rule; expected one of {}", names())))?;
    let ties = || TieRule::ALL.iter().map(TieRule::to_string).collect::<Vec<_>>().join(", ");
    let tie = tie.parse().map_err(|_| error(format!("'{tie}' is not a tie rule; expected one of {}", ties())))?;
    let mut moves: Vec<&str> = Vec::new();
    for (_, best, ..) in &votes {
        if let Some(best) = best.as_deref().filter(|best| !moves.contains(best)) {
            moves.push(best);
        }
    }
    let mut voters = Vec::with_capacity(votes.len());
    let mut ballot = Vec::with_capacity(votes.len());
    let mut without = Vec::new();
    for (name, best, score_cp, mate, leads, weight, calibration, win_rate) in &votes {
        let calibration = calibration.as_ref().map(|calibration| &calibration.0);
        let role = if *leads { Role::Leader } else { Role::Member };
        // which votes lack a win rate is told below
        voters.push(Voter { role, weight: *weight, calibration, brings_win_rates: true, ..Voter::member(name) });
        let score = match (mate, score_cp) {
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err(format!("{name}: give score_cp or mate, not both")));
            }
            (Some(plies), None) => Some(Score::Mate { wins: *plies > 0, plies: Some(plies.unsigned_abs()) }),
            (None, Some(cp)) => Some(calibration.map_or(Score::Cp(*cp), |calibration| calibration.classify(*cp))),
            (None, None) => None,
        };
        if parsed.needs_win_rates() && best.is_some() && mate.is_none() && calibration.is_none() && win_rate.is_none() {
            without.push(name.clone());
        }
        if let Some(p) = win_rate.filter(|p| !(0.0..=1.0).contains(p)) {
            return Err(error(format!("{name}: the win rate {p} is not between 0 and 1")));
        }
        let number = best.as_deref().and_then(|best| moves.iter().position(|known| *known == best));
        ballot.push(number.map(|number| {
            let best = Move(number as u32);
            Vote { score, win_rate: *win_rate, ..Vote::without_score(best) }
        }));
    }
    let options = Options { tie, seed, caution, ..Options::default() };
    rule::check(parsed, &voters, &options).map_err(error)?;
    let decision = rule::decide(parsed, &voters, &ballot, &options).map_err(error)?;
    let name = |best: Move| moves.get(best.0 as usize).copied().unwrap_or_default().to_owned();
    Ok((decision.explain(&voters, &ballot, name).json().map_err(error)?, without))
}
