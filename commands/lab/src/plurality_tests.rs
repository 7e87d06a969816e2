use evalcurve_words::random;

use super::*;

/// π of the counterexample to theorem 3 of Sato (2013).
const PI: [f64; 6] = [0.3, 0.2, 0.2, 0.1, 0.1, 0.1];

fn group(count: usize, weight: f64, probabilities: &[f64]) -> Voters {
    Voters { count, weight, probabilities: probabilities.to_vec() }
}

/// The weight and distribution of each voter in order.
fn ballots(voters: &[Voters]) -> Vec<(f64, Vec<f64>)> {
    voters.iter().flat_map(|g| (0..g.count).map(|_| (g.weight, g.probabilities.clone()))).collect()
}

/// The result of each move for given votes: (strict, strict or tied, wins).
fn counted(chosen: &[usize], ballots: &[(f64, Vec<f64>)], moves: usize, tie: Tie) -> Vec<[f64; 3]> {
    let mut weight = vec![0.0; moves];
    for (m, ballot) in chosen.iter().zip(ballots) {
        weight[*m] += ballot.0;
    }
    let most = weight.iter().fold(0.0f64, |a, b| a.max(*b));
    let tied: Vec<usize> = (0..moves).filter(|m| (weight[*m] - most).abs() < 1e-9).collect();
    let first = chosen.iter().find(|m| tied.contains(m)).copied();
    (0..moves)
        .map(|m| {
            let (alone, among) = (tied == [m], tied.contains(&m));
            let wins = match tie {
                Tie::Worst => f64::from(u8::from(alone)),
                Tie::Random => f64::from(u8::from(among)) / tied.len() as f64,
                Tie::Leader => f64::from(u8::from(first == Some(m))),
            };
            [f64::from(u8::from(alone)), f64::from(u8::from(among)), wins]
        })
        .collect()
}

/// Every assignment of moves to voters.
fn brute_force(voters: &[Voters], tie: Tie) -> Vec<[f64; 3]> {
    let ballots = ballots(voters);
    let moves = ballots[0].1.len();
    let mut sums = vec![[0.0; 3]; moves];
    let mut chosen = vec![0; ballots.len()];
    loop {
        let p: f64 = chosen.iter().zip(&ballots).map(|(m, b)| b.1[*m]).product();
        for (sum, got) in sums.iter_mut().zip(counted(&chosen, &ballots, moves, tie)) {
            (0..3).for_each(|i| sum[i] += p * got[i]);
        }
        let Some(at) = chosen.iter().position(|m| m + 1 < moves) else { return sums };
        chosen[at] += 1;
        chosen[..at].fill(0);
    }
}

fn assert_exact(voters: &[Voters]) {
    for tie in [Tie::Leader, Tie::Random, Tie::Worst] {
        let exact = plurality(voters, tie).unwrap();
        for (m, (got, want)) in exact.iter().zip(brute_force(voters, tie)).enumerate() {
            let got = [got.strict, got.strict_or_tied, got.wins];
            for i in 0..3 {
                assert!((got[i] - want[i]).abs() < 1e-12, "{tie:?} move {m}: {got:?}, counted {want:?}, {voters:?}");
            }
        }
    }
}

#[test]
fn the_counterexample_to_sato_has_its_exact_values() {
    let found = plurality_of_alike(5, &PI, Tie::Worst).unwrap();
    assert_eq!(format!("{:.4} {:.4}", found[0].strict, found[1].strict_or_tied), "0.2981 0.3027");
    assert_exact(&[group(5, 1.0, &PI)]);
}

#[test]
fn equal_voters_agree_with_every_assignment() {
    for n in 1..=7 {
        assert_exact(&[group(n, 1.0, &[0.5, 0.3, 0.15, 0.05])]);
        assert_exact(&[group(n, 1.0, &[0.5, 0.5, 0.0])]);
        assert_exact(&[group(n, 2.5, &[1.0])]);
    }
}

#[test]
fn different_voters_agree_with_every_assignment() {
    let (a, b, c) = ([0.6, 0.1, 0.2, 0.1], [0.1, 0.4, 0.4, 0.1], [0.25, 0.25, 0.25, 0.25]);
    assert_exact(&[group(1, 1.0, &a), group(1, 1.0, &b), group(1, 1.0, &c)]);
    // the leader's 1.5 votes of Sato (2013, section 2.1)
    assert_exact(&[group(1, 1.5, &a), group(4, 1.0, &b)]);
    assert_exact(&[group(2, 1.0, &a), group(3, 1.0, &b), group(1, 2.0, &c)]);
    // equal voters with others between them
    assert_exact(&[group(2, 1.0, &a), group(1, 1.0, &b), group(2, 1.0, &a)]);
    assert_exact(&[group(1, 0.1, &a), group(1, 0.2, &b), group(1, 0.3, &c), group(2, 0.3, &a)]);
    // equal neighbours
    assert_exact(&[group(2, 1.0, &a), group(0, 1.0, &b), group(2, 1.0, &a)]);
}

#[test]
fn only_the_ratios_of_weights_count() {
    let council = |scale: f64| {
        let groups = [(1, 1.5, [0.6, 0.3, 0.1]), (4, 1.0, [0.4, 0.4, 0.2])];
        groups.map(|(count, weight, p)| group(count, scale * weight, &p))
    };
    let expected = plurality(&council(1.0), Tie::Leader).unwrap();
    for scale in [1e-300, 1e-10, 1e10, 1e307] {
        for (found, expected) in plurality(&council(scale), Tie::Leader).unwrap().iter().zip(&expected) {
            assert!((found.wins - expected.wins).abs() < 1e-12, "{scale}: {found:?} {expected:?}");
        }
    }
    // the heavy voters differ, and the light ones decide
    assert_exact(&[group(2, 1.0, &[0.6, 0.3, 0.1]), group(3, 1e-6, &[0.2, 0.2, 0.6])]);
    let refused = plurality(&[group(1, 1e12, &[0.5, 0.5]), group(1, 1.0, &[0.1, 0.9])], Tie::Leader);
    assert!(refused.unwrap_err().to_string().contains("leave out so light voters"));
}

#[test]
fn random_councils_agree_with_every_assignment() {
    for case in 0..60u64 {
        let draw = |keys: &[u64]| random::unit(&[&[7, case], keys].concat());
        let moves = 2 + (draw(&[0]) * 3.0) as usize;
        let groups = 1 + (draw(&[1]) * 3.0) as u64;
        let voters: Vec<Voters> = (0..groups)
            .map(|g| {
                let raw: Vec<f64> = (0..moves as u64).map(|m| draw(&[2, g, m])).collect();
                let sum: f64 = raw.iter().sum();
                let weight = [1.0, 1.5, 2.0][(draw(&[3, g]) * 3.0) as usize];
                group(1 + (draw(&[4, g]) * 2.0) as usize, weight, &raw.iter().map(|p| p / sum).collect::<Vec<_>>())
            })
            .collect();
        assert_exact(&voters);
    }
}

/// 100 voters and 600 moves: exactly one move wins, whatever the rule.
#[test]
fn a_large_council_always_plays_some_move() {
    let raw: Vec<f64> = (1..=600).map(|k| 1.0 / f64::from(k)).collect();
    let sum: f64 = raw.iter().sum();
    let pi: Vec<f64> = raw.iter().map(|p| p / sum).collect();
    for tie in [Tie::Leader, Tie::Random] {
        for voters in [vec![group(100, 1.0, &pi)], vec![group(1, 1.5, &pi), group(40, 1.0, &pi)]] {
            let found = plurality(&voters, tie).unwrap();
            let total: f64 = found.iter().map(|m| m.wins).sum();
            assert!((total - 1.0).abs() < 1e-10, "{total}");
            assert!(found.iter().all(|m| m.strict <= m.wins + 1e-12 && m.wins <= m.strict_or_tied + 1e-12));
            assert!(found.windows(2).all(|two| two[0].wins > two[1].wins), "likelier moves win more often");
        }
    }
}

/// Two moves: the binomial of Obata et al. (2011) that Sato (2013) quotes as equation 3.39.
#[test]
fn two_moves_give_the_binomial() {
    let p: f64 = 0.6;
    let found = plurality_of_alike(9, &[p, 1.0 - p], Tie::Random).unwrap();
    // scipy.stats.binom.sf(4, 9, 0.6)
    assert!((found[0].strict - 0.73343232).abs() < 1e-9, "{}", found[0].strict);
    assert_eq!(format!("{:.12}", found[0].strict), format!("{:.12}", found[0].wins));
}

#[test]
fn drawn_councils_agree_within_four_standard_errors() {
    let raw: Vec<f64> = (1..=12).map(|k| 1.0 / f64::from(k)).collect();
    let sum: f64 = raw.iter().sum();
    let pi: Vec<f64> = raw.iter().map(|p| p / sum).collect();
    let own: Vec<f64> = pi.iter().rev().copied().collect();
    let voters = [group(1, 1.5, &own), group(14, 1.0, &pi)];
    let ballots = ballots(&voters);
    let trials = 100_000u64;
    for tie in [Tie::Leader, Tie::Random] {
        let mut sums = vec![[0.0; 3]; pi.len()];
        for trial in 0..trials {
            let vote = |(v, ballot): (usize, &(f64, Vec<f64>))| {
                let mut left = random::unit(&[11, trial, v as u64]);
                let at = ballot.1.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                at.unwrap_or(0)
            };
            let chosen: Vec<usize> = ballots.iter().enumerate().map(vote).collect();
            for (sum, got) in sums.iter_mut().zip(counted(&chosen, &ballots, pi.len(), tie)) {
                (0..3).for_each(|i| sum[i] += got[i]);
            }
        }
        for (got, sum) in plurality(&voters, tie).unwrap().iter().zip(&sums) {
            for (p, count) in [got.strict, got.strict_or_tied, got.wins].into_iter().zip(sum) {
                let error = (p * (1.0 - p) / trials as f64).sqrt();
                assert!((count / trials as f64 - p).abs() < 4.0 * error + 1e-9, "{p} {count}");
            }
        }
    }
}

#[test]
fn invalid_councils_are_refused() {
    let message = |voters: &[Voters]| plurality(voters, Tie::Leader).unwrap_err().to_string();
    assert!(message(&[]).contains("no voter"));
    assert!(message(&[group(0, 1.0, &[1.0])]).contains("no voter"));
    assert!(message(&[group(1, 1.0, &[])]).contains("no move"));
    assert!(message(&[group(3, 1.0, &[0.5, 0.4])]).contains("add up to 0.9"));
    assert!(message(&[group(3, 1.0, &[1.5, -0.5])]).contains("probability 1.5 of group 1, move 1"));
    assert!(message(&[group(3, 1.0, &[f64::NAN, 1.0])]).contains("NaN"));
    assert!(message(&[group(3, 0.0, &[1.0])]).contains("weight 0"));
    assert!(message(&[group(1, 1.0, &[1.0]), group(1, 2.0, &[0.5, 0.5])]).contains("group 2 has probabilities of 2"));
    let many: Vec<Voters> = (0..13).map(|i| group(1, 1.0 + f64::from(i), &[0.5, 0.5])).collect();
    assert!(message(&many).contains("8192 splits"));
}
