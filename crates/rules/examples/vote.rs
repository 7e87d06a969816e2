//! Decides three votes by each of two rules.
//!
//! ```text
//! cargo run -p evalcurve-rules --example vote
//! ```

use std::error::Error;

use evalcurve_calibration::Score;
use evalcurve_rules::{Move, Options, Rule, Vote, Voter, decide};

fn main() -> Result<(), Box<dyn Error>> {
    let voters = [Voter::leader("A"), Voter::member("B"), Voter::member("C")];
    let moves = ["7g7f", "2g2f"];
    let vote = |best: u32, score_cp| Some(Vote::new(Move(best), Score::Cp(score_cp)));
    let votes = [vote(0, 150.0), vote(1, 30.0), vote(1, 120.0)];
    for (name, rule) in [("majority", Rule::Majority), ("optimistic", Rule::Optimistic)] {
        let decision = decide(&rule, &voters, &votes, &Options::default())?;
        println!("{name}: {}", moves[decision.chosen.0 as usize]);
    }
    Ok(())
}
