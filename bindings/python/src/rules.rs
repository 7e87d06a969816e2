//! The rules of councils.

use evalcurve::calibration::{FittedModel, Method, Score};
use evalcurve::fit::CP_PER_LOGIT;
use evalcurve::logistic::logit;
use evalcurve::rule::{self, Move, Options, Role, Rule, TieRule, Vote, Voter};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::calibration::Calibration;
use crate::running::error;

/// One vote as Python gives it: name, move (none for an abstention), score, plies to mate, leader, weight, calibration,
/// win rate, and its scores of other moves.
type Given<'py> = (
    String,
    Option<String>,
    Option<f64>,
    Option<i32>,
    bool,
    Option<f64>,
    Option<PyRef<'py, Calibration>>,
    Option<f64>,
    Vec<GivenMove>,
    Vec<GivenMove>,
);

/// A move with its score in centipawns or its plies to mate, and its win rate.
type GivenMove = (String, Option<f64>, Option<i32>, Option<f64>);

/// What turns a score into the win rate that it stands for, where win rates are given and no calibration.
fn of_win_rates() -> evalcurve::calibration::Calibration {
    let fitted = FittedModel::sigmoid(1.0 / CP_PER_LOGIT, 0.0);
    evalcurve::calibration::Calibration::from_model("win rates", Method::MaximumLikelihood, fitted)
}

/// The score that stands for a win rate.
fn score_of_win_rate(win_rate: f64) -> f64 {
    CP_PER_LOGIT * logit(win_rate)
}

/// A score as it was given.
fn score(
    name: &str,
    (score_cp, mate): (Option<f64>, Option<i32>),
    calibration: Option<&evalcurve::calibration::Calibration>,
) -> PyResult<Option<Score>> {
    Ok(match (mate, score_cp) {
        (Some(_), Some(_)) => return Err(PyValueError::new_err(format!("{name}: give score_cp or mate, not both"))),
        (Some(plies), None) => Some(Score::Mate { wins: plies > 0, plies: Some(plies.unsigned_abs()) }),
        (None, Some(cp)) => Some(calibration.map_or(Score::Cp(cp), |calibration| calibration.classify(cp))),
        (None, None) => None,
    })
}

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
    for (_, best, .., list, judged) in &votes {
        for best in best.iter().chain(list.iter().chain(judged).map(|(best, ..)| best)) {
            if !moves.contains(&best.as_str()) {
                moves.push(best);
            }
        }
    }
    let number =
        |best: &str| moves.iter().position(|known| *known == best).map_or(Move(0), |number| Move(number as u32));
    let mut others = Vec::with_capacity(votes.len());
    for (name, .., calibration, _, list, judged) in &votes {
        let calibration = calibration.as_ref().map(|calibration| &calibration.0);
        let scored = |(best, score_cp, mate, win_rate): &GivenMove| {
            let by_rate = win_rate.filter(|_| mate.is_none() && calibration.is_none() && parsed.needs_win_rates());
            let score_cp = by_rate.map(score_of_win_rate).or(*score_cp);
            score(name, (score_cp, *mate), calibration).map(|score| Some((number(best), score?)))
        };
        let moves = |list: &[GivenMove]| -> PyResult<Vec<(Move, Score)>> {
            list.iter().filter_map(|one| scored(one).transpose()).collect()
        };
        others.push((moves(list)?, moves(judged)?));
    }
    let mut voters = Vec::with_capacity(votes.len());
    let mut ballot = Vec::with_capacity(votes.len());
    let mut without = Vec::new();
    let by_rates = of_win_rates();
    let listed = votes.iter().zip(&others);
    for ((name, best, score_cp, mate, leads, weight, given, win_rate, ..), (list, judged)) in listed {
        let calibration = given.as_ref().map(|calibration| &calibration.0);
        let has_rates = list.len() + judged.len() > 0 && parsed.needs_win_rates() && win_rate.is_some();
        let calibration = calibration.or(Some(&by_rates).filter(|_| has_rates));
        let role = if *leads { Role::Leader } else { Role::Member };
        // which votes lack a win rate is told below
        voters.push(Voter { role, weight: *weight, calibration, brings_win_rates: true, ..Voter::member(name) });
        let by_rate = win_rate.filter(|_| mate.is_none() && given.is_none() && calibration.is_some());
        let score = score(name, (by_rate.map(score_of_win_rate).or(*score_cp), *mate), calibration)?;
        if parsed.needs_win_rates() && best.is_some() && mate.is_none() && calibration.is_none() && win_rate.is_none() {
            without.push(name.clone());
        }
        if let Some(p) = win_rate.filter(|p| !(0.0..=1.0).contains(p)) {
            return Err(error(format!("{name}: the win rate {p} is not between 0 and 1")));
        }
        ballot.push(best.as_deref().map(|best| Vote {
            score,
            win_rate: *win_rate,
            list,
            judged,
            ..Vote::without_score(number(best))
        }));
    }
    let options = Options { tie, seed, caution, ..Options::default() };
    rule::check(&parsed, &voters, &options).map_err(error)?;
    let decision = rule::decide(&parsed, &voters, &ballot, &options).map_err(error)?;
    let name = |best: Move| moves.get(best.0 as usize).copied().unwrap_or_default().to_owned();
    Ok((decision.explain(&voters, &ballot, name).json().map_err(error)?, without))
}
