//! The noise s of voters, estimated from a log: how far their logits differ where they vote for the same move.

use std::collections::BTreeSet;

use evalcurve_fit::fit::Square;
use evalcurve_rules::Move;
use evalcurve_rules::log::{Ballots, Log};
use evalcurve_rules::replay::Replay;
use serde::Serialize;

/// Pairs of logits that two voters need at least to be compared.
const MIN_PAIRS: usize = 30;

/// The noise of one voter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Noise {
    pub(crate) voter: String,
    /// s, logits; `null` if too few votes agree, or if the differences leave no variance for this voter.
    pub(crate) noise: Option<f64>,
    /// Positions where it has the same move as another voter, both with an exact score that is not a mate.
    pub(crate) pairs: usize,
}

/// The noise of the voters that a replay compares in pairs.
pub(crate) fn of_replay(log: &Log, replay: &Replay) -> Vec<Noise> {
    let compared: BTreeSet<&str> = replay.agreement.iter().flat_map(|pair| [&*pair.a, &*pair.b]).collect();
    let names: Vec<&str> = replay.voters.iter().map(String::as_str).filter(|name| compared.contains(name)).collect();
    estimate(log, &names)
}

/// Estimates the noise of each of the named voters.
///
/// With independent noise, the difference of two logits of the same move has the variance s_i² + s_j² around its mean.
/// For three or more voters, least squares over all pairs, weighted by their counts, gives each s²; of two voters, each
/// gets half. Voters with common errors differ by less than their noise, so the estimate is too small for them.
fn estimate(log: &Log, voters: &[&str]) -> Vec<Noise> {
    let n = voters.len();
    let differences = differences(log, voters);
    let mut normal = Square::zero(n);
    let mut right = vec![0.0; n];
    let mut pairs = vec![0; n];
    for i in 0..n {
        for j in i + 1..n {
            let differences = &differences[i * n + j];
            pairs[i] += differences.len();
            pairs[j] += differences.len();
            if differences.len() < MIN_PAIRS {
                continue;
            }
            let count = differences.len() as f64;
            let mean = differences.iter().sum::<f64>() / count;
            let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (count - 1.0);
            normal.add(i, j, count);
            for voter in [i, j] {
                normal.add(voter, voter, count);
                right[voter] += count * variance;
            }
        }
    }
    let squares = match n {
        2 if normal.at(0, 0) > 0.0 => Some(vec![0.5 * right[0] / normal.at(0, 0); 2]),
        // without a factor, some voter has no pairs, or only sums of two squares are known
        _ => normal.cholesky().map(|factor| factor.solve(&right)),
    };
    let noise = |i: usize| squares.as_ref().map(|v| v[i]).filter(|&v| v > 0.0).map(f64::sqrt);
    (0..n).map(|i| Noise { voter: voters[i].to_owned(), noise: noise(i), pairs: pairs[i] }).collect()
}

/// The differences of the exact logits of voters i < j wherever they have the same move, at i n + j.
fn differences(log: &Log, voters: &[&str]) -> Vec<Vec<f64>> {
    let n = voters.len();
    let mut differences = vec![Vec::new(); n * n];
    let mut logits: Vec<Option<(Move, f64)>> = vec![None; n];
    for (_, header, line) in log.entries() {
        logits.fill(None);
        for (voter, best, logit) in Ballots::new(header, line).exact_logits(header) {
            let name = header.voters[voter].name.as_str();
            if let Some(i) = voters.iter().position(|v| *v == name) {
                logits[i] = Some((best, logit));
            }
        }
        let known: Vec<(usize, Move, f64)> =
            logits.iter().enumerate().filter_map(|(i, logit)| logit.map(|(best, logit)| (i, best, logit))).collect();
        for (place, (i, best, logit)) in known.iter().enumerate() {
            for (j, _, other) in known[place + 1..].iter().filter(|(_, other, _)| other == best) {
                differences[i * n + j].push(logit - other);
            }
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Color;
    use evalcurve_calibration::{Calibration, FittedModel, Method, Score};
    use evalcurve_rules::log::{Header, LoggedLine, LoggedScore, LoggedVote, Session};
    use evalcurve_rules::{Options, Rule, Voter};

    /// The estimate recovers a known noise.
    #[test]
    fn known_noise_is_recovered() {
        let c = Calibration::from_model("E", Method::LeastSquares, FittedModel::sigmoid(1.0 / 600.0, 0.2));
        let names = ["a", "b", "c", "d"];
        let voters = names.map(|n| Voter { calibration: Some(&c), ..Voter::member(n) });
        let header = Header::new("made up", Rule::Optimal, &voters, &Options::default());
        let truth = [0.2, 0.4, 0.6, 0.3];
        // twelve uniform numbers minus 6: mean 0, variance 1
        let normal = |i: u64, v: u64| (0..12).map(|k| evalcurve_words::random::unit(&[5, i, v, k])).sum::<f64>() - 6.0;
        let line = |i: u64| LoggedLine {
            game_id: "g".to_owned(),
            ply: i as u32,
            position: String::new(),
            side: Color::Black,
            material: None,
            time_ms: 0,
            votes: (0..4)
                .map(|v| LoggedVote {
                    voter: names[v].to_owned(),
                    // a votes for another move now and then
                    best: Some(if v == 0 && i.is_multiple_of(3) { "m2" } else { "m1" }.to_owned()),
                    score: Some(LoggedScore(Score::Cp(600.0 * (normal(i, 9) + truth[v] * normal(i, v as u64))))),
                    ..LoggedVote::default()
                })
                .collect(),
            searched: Vec::new(),
            decision: None,
            played: String::new(),
            faults: Vec::new(),
        };
        let decisions: Vec<(usize, LoggedLine)> = (0..6000).map(|i| (i as usize, line(i))).collect();
        let log = Log { sessions: vec![Session { header, decisions, ends: Vec::new() }], ..Log::default() };
        for (found, truth) in estimate(&log, &names).iter().zip(truth) {
            // the standard error of a variance of 4,000 pairs is 2% of it
            assert!((found.noise.unwrap() - truth).abs() < 0.03, "{found:?} {truth}");
        }
        assert_eq!(estimate(&log, &names)[0].pairs, 3 * 4000);
        // two voters: half each; one voter: no comparison
        let two = estimate(&log, &["b", "c"]);
        let expected = (0.5f64 * (0.16 + 0.36)).sqrt();
        assert!(two.iter().all(|v| (v.noise.unwrap() - expected).abs() < 0.03), "{two:?}");
        assert_eq!(estimate(&log, &["b"])[0].noise, None);
        assert_eq!(estimate(&Log::default(), &names)[2].noise, None);
    }
}
