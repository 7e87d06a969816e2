//! One decision: announced mates first, then the rule, then the tie rule.

use super::decision::Decision;
use super::definition::{Ballot, DecisionRule};
use super::measured::Measured;
use super::options::{Options, RuleError, Stakes, TieRule};
use super::vote::{Role, Vote, Voter};

/// Decides the votes of one position by a rule of the list, or by [your own](DecisionRule).
///
/// `votes` holds one vote per voter, in the same order; `None` is an abstention. Call [`check`] once
/// before the first decision.
///
/// # Errors
/// If every voter abstains, or if the slices differ in length.
pub fn decide(
    rule: &dyn DecisionRule,
    voters: &[Voter<'_>],
    votes: &[Option<Vote<'_>>],
    options: &Options<'_>,
) -> Result<Decision, RuleError> {
    if voters.len() != votes.len() {
        return Err(RuleError::Lengths { voters: voters.len(), votes: votes.len() });
    }
    let voters: Vec<Voter<'_>> = voters.iter().map(|voter| voter.at(options.situation.ply)).collect();
    let all: Vec<Measured<'_>> = voters
        .iter()
        .zip(votes)
        .enumerate()
        .filter_map(|(i, (voter, vote))| vote.as_ref().map(|vote| Measured::new(i, voter, vote, options)))
        .collect();
    if all.is_empty() {
        return Err(RuleError::NoVotes);
    }
    let mates = options.mates.unwrap_or(rule.mates());
    let ballot = Ballot { rule: rule.name(), mates, voters: &voters, options, all: &all, votes: all.iter().collect() };
    let mut decision = ballot.decided_by(rule);
    for m in &all {
        decision.win_rates[m.index] = m.win_rate;
    }
    decision.agreeing = all.iter().filter(|m| m.vote.best == decision.chosen).map(|m| m.index).collect();
    Ok(decision)
}

/// Checks that a rule can work with these voters. Call it once, before the first decision.
///
/// # Errors
/// If a weight, noise or option is out of range, if there are two leaders, or if the rule or the tie rule needs a
/// calibration, a standardisation, a rating or a chooser that no voter has.
pub fn check(rule: &dyn DecisionRule, voters: &[Voter<'_>], options: &Options<'_>) -> Result<(), RuleError> {
    const LOGITS: &str = "a number above 0, in logits";
    for (place, voter) in voters.iter().enumerate() {
        let range = |key, value: f64, good: bool, range| match good {
            true => Ok(()),
            false => {
                let what = format!("the {key} of {}", voter.name);
                Err(RuleError::Range { what, key, voter: Some(place), value, range })
            }
        };
        for w in voter.weight.into_iter().chain(voter.phases.iter().map(|phase| phase.weight)) {
            range("weight", w, w >= 0.0 && w.is_finite(), "a number of 0 or more")?;
        }
        if let Some(s) = voter.noise {
            range("noise", s, s > 0.0 && s.is_finite(), LOGITS)?;
        }
        if let Some(r) = voter.strength {
            range("strength", r, r.is_finite(), "a rating in Elo points")?;
        }
    }
    let Options { gap, noise, caution, most_judged, stakes, .. } = *options;
    let range = |key, what: &str, value, good: bool, range| match good {
        true => Ok(()),
        false => Err(RuleError::Range { what: what.to_owned(), key, voter: None, value, range }),
    };
    range("gap", "the gap d", gap, gap > 0.0 && gap.is_finite(), LOGITS)?;
    range("noise", "the noise s", noise, noise > 0.0 && noise.is_finite(), LOGITS)?;
    range("caution", "the caution", caution, caution >= 0.0 && caution.is_finite(), "a number of 0 or more")?;
    check_stakes(stakes)?;
    range("most-judged", "the number of judged moves", most_judged as f64, most_judged >= 2, "2 or more")?;

    let refuse =
        |problem: &str, remedy| Err(RuleError::Needs { rule: rule.name(), problem: problem.to_owned(), remedy });
    let count = |role| voters.iter().filter(|v| v.role == role).count();
    if count(Role::Leader) > 1 {
        return refuse("two voters are the leader", "make one of them a member");
    }
    let needs = rule.needs();
    if needs.chooser && (count(Role::Chooser) != 1 || voters.len() < 3) {
        return refuse("it needs one chooser and two advisers", "give one voter the role chooser");
    }
    if needs.any_win_rate() && !voters.iter().any(|v| v.calibration.is_some() || v.brings_win_rates) {
        return refuse(
            "it compares win rates, and no voter has a calibration",
            "calibrate the engines, or choose another rule",
        );
    }
    let standardized = |v: &Voter<'_>| v.calibration.is_some_and(|c| c.standardization.is_some());
    if needs.standardized && !voters.iter().any(standardized) {
        return refuse("no voter has a calibration with mean and sd", "calibrate the engines, or choose another rule");
    }
    let rated = voters.iter().any(|v| v.strength.is_some());
    if needs.ratings && !rated {
        return refuse("no voter has a rating", "give the voters their strength in Elo points");
    }
    if options.tie == TieRule::Strongest && !rated {
        return refuse(
            "no voter has a rating for the tie rule strongest",
            "give the voters their strength, or choose the tie rule leader",
        );
    }
    Ok(())
}

fn check_stakes(Stakes { agreed, decided, close, doubt }: Stakes) -> Result<(), RuleError> {
    let (rate, logits) = ("a win rate of 0.5 or more", "a number of 0 or more, in logits");
    for (what, value, least, range) in [
        ("the agreed win rate", agreed, 0.5, rate),
        ("the decided win rate", decided, 0.5, rate),
        ("close", close, 0.0, logits),
        ("doubt", doubt, 0.0, logits),
    ] {
        if value.is_nan() || value < least {
            return Err(RuleError::Range { what: what.to_owned(), key: "budget", voter: None, value, range });
        }
    }
    Ok(())
}
