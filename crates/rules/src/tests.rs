//! The worked examples of the papers, and properties of every rule.

use evalcurve_calibration::file::Standardization;
use evalcurve_calibration::{Calibration, FittedModel, Method, Reading, Score, Situation};
use proptest::prelude::*;

use super::*;

fn cp(best: u32, cp: f64) -> Option<Vote<'static>> {
    Some(Vote::new(Move(best), Score::Cp(cp)))
}

fn mate(best: u32, wins: bool, plies: u32) -> Option<Vote<'static>> {
    Some(Vote::new(Move(best), Score::Mate { wins, plies: Some(plies) }))
}

fn sigmoid(w1: f64, w2: f64) -> Calibration {
    Calibration::from_model("E", Method::LeastSquares, FittedModel::sigmoid(w1, w2))
}

/// YaneuraOu, 技巧 and nozomi by least squares, with their mean and sd (Takeuchi 2018, tables 2 and 3).
fn takeuchi() -> [Calibration; 3] {
    [(0.002895, 0.1613, 99.09, 2228.1), (0.002600, 0.1638, 334.00, 1925.9), (0.002484, 0.5750, 420.16, 2107.4)].map(
        |(w1, w2, mean, sd)| {
            let mut c = sigmoid(w1, w2);
            c.standardization = Some(Standardization { mean, sd, samples: 3700 });
            c
        },
    )
}

fn council(calibrations: &[Calibration; 3]) -> [Voter<'_>; 3] {
    let [y, g, n] = calibrations;
    [
        Voter { calibration: Some(y), ..Voter::leader("YaneuraOu") },
        Voter { calibration: Some(g), ..Voter::member("Gikou") },
        Voter { calibration: Some(n), ..Voter::member("nozomi") },
    ]
}

#[track_caller]
fn chosen(rule: Rule, voters: &[Voter<'_>], votes: &[Option<Vote<'_>>], options: &Options<'_>) -> u32 {
    decide(&rule, voters, votes, options).unwrap().chosen.0
}

/// Sato 2013: AI_i(p) of eq. 2.6 to 2.20, the voting matrices of eq. 2.22 to 2.26 and the voting vectors of eq. 2.28 to
/// 2.32 with w = (1.5, 1, 1).
#[test]
fn the_worked_example_of_sato() {
    let engines = [[1, 2, 3, 1, 2], [1, 1, 1, 2, 2], [3, 2, 1, 3, 2]];
    let matrices = [
        [[1, 1, 0], [1, 1, 0], [0, 0, 1]],
        [[1, 0, 1], [0, 1, 0], [1, 0, 1]],
        [[1, 0, 0], [0, 1, 1], [0, 1, 1]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
    ];
    let vectors = [[2.5, 2.5, 1.0], [2.5, 1.0, 2.5], [1.5, 2.0, 2.0], [1.5, 1.0, 1.0], [3.5, 3.5, 3.5]];
    // "in position 3, leader's suggestion is rejected", "in position 4, [it] is accepted to resolve a conflict"
    let accepted = [1, 2, 1, 1, 2];
    for p in 0..5 {
        let moves = engines.map(|ai| Move(ai[p]));
        for i in 0..3 {
            for j in 0..3 {
                assert_eq!(u8::from(moves[i] == moves[j]), matrices[p][i][j], "V_{i}{j}({p})");
            }
        }
        let mut v = [0.0; 3];
        tally::support(&moves, &[1.5, 1.0, 1.0], &mut v);
        assert_eq!(v, vectors[p], "position {}", p + 1);

        let voters = [Voter::leader("AI1"), Voter::member("AI2"), Voter::member("AI3")];
        let votes = moves.map(|m| Some(Vote::without_score(m)));
        let decision = decide(&Rule::Weighted, &voters, &votes, &Options::default()).unwrap();
        assert_eq!(decision.chosen, Move(accepted[p]), "position {}", p + 1);
        assert_eq!(decision.values, vectors[p].map(Some));
        assert_eq!(decision.tie, None);
        // a simple majority with ties to the leader is the same for three voters
        assert_eq!(chosen(Rule::Majority, &voters, &votes, &Options::default()), accepted[p]);
    }
}

/// Sato 2013, section 2.1: five engines, the leader alone, two against two. By eq. 2.35 the strongest's evaluation
/// decides.
#[test]
fn ties_of_the_weighted_majority() {
    let voters = [
        Voter::leader("L"),
        Voter::member("A"),
        Voter::member("B"),
        Voter::member("C"),
        Voter { strength: Some(3000.0), ..Voter::member("D") },
    ];
    let list = [(Move(3), Score::Cp(50.0)), (Move(2), Score::Cp(40.0)), (Move(1), Score::Cp(30.0))];
    let votes = [
        cp(1, 0.0),
        cp(2, 0.0),
        cp(2, 0.0),
        cp(3, 0.0),
        Some(Vote { list: &list, ..Vote::new(Move(3), Score::Cp(50.0)) }),
    ];
    let tied = |tie| decide(&Rule::Weighted, &voters, &votes, &Options { tie, ..Options::default() }).unwrap();
    let leader = tied(TieRule::Leader);
    // the leader's move is not among the tied: the first in order is
    assert_eq!(leader.chosen, Move(2));
    assert_eq!(leader.tie, Some(TieBroken { by: TieRule::Leader, moves: vec![Move(2), Move(3)] }));
    let strongest = tied(TieRule::Strongest);
    assert_eq!((strongest.chosen, strongest.tie.unwrap().by), (Move(3), TieRule::Strongest));
    assert!(strongest.needs_search.is_empty());

    // the strongest abstains: the tied moves must be searched, and the search decides
    let mut votes = votes;
    votes[4] = None;
    votes[0] = cp(3, 0.0);
    let open = Options { tie: TieRule::Strongest, ..Options::default() };
    let unknown = decide(&Rule::Majority, &voters, &votes, &open).unwrap();
    assert_eq!(unknown.needs_search, [Move(3), Move(2)]);
    assert_eq!((unknown.chosen, unknown.tie.unwrap().by), (Move(3), TieRule::Leader));
    let searched = [(Move(2), Score::Cp(9.0)), (Move(3), Score::Cp(-9.0))];
    let known = decide(&Rule::Majority, &voters, &votes, &Options { searched: &searched, ..open }).unwrap();
    assert_eq!(known.chosen, Move(2));
    assert!(known.needs_search.is_empty());
}

/// Takeuchi 2018, table 6, majority: the adoption rates follow from the splits of section 4.5 (all 0.47, Y+G 0.11, Y+N
/// 0.14, G+N 0.14, three ways 0.14), with YaneuraOu as leader.
#[test]
fn the_majority_row_of_takeuchi() {
    let splits = [(47, [1, 1, 1]), (11, [1, 1, 2]), (14, [1, 2, 1]), (14, [1, 2, 2]), (14, [1, 2, 3])];
    let voters = [Voter::leader("YaneuraOu"), Voter::member("Gikou"), Voter::member("nozomi")];
    let mut adopted = [0u32; 3];
    for (share, moves) in splits {
        let votes = moves.map(|m| Some(Vote::without_score(Move(m))));
        for i in decide(&Rule::Majority, &voters, &votes, &Options::default()).unwrap().agreeing {
            adopted[i] += share;
        }
    }
    for (ours, printed) in adopted.into_iter().zip([0.8571, 0.7184, 0.7416]) {
        let ours = f64::from(ours) / 100.0;
        assert!((ours - printed).abs() < 0.01 + 1e-9, "{ours} {printed}");
    }
}

/// Hanawa and Ito 2009, table 5: under a majority every decision adopts the voters of its largest group, so the
/// adoption rates of a column sum to what its splits say.
#[test]
fn the_columns_of_hanawa_and_ito() {
    // adoption of the four programs, then 1:1:1:1, 2:2, 2:1:1, 3:1 and 4; one column a leader, the last with drawn ties
    let columns = [
        ([0.816, 0.715, 0.708, 0.707], [0.078, 0.107, 0.211, 0.189, 0.416]),
        ([0.654, 0.870, 0.654, 0.750], [0.088, 0.108, 0.206, 0.181, 0.417]),
        ([0.696, 0.684, 0.840, 0.709], [0.083, 0.110, 0.208, 0.186, 0.413]),
        ([0.644, 0.744, 0.681, 0.879], [0.081, 0.104, 0.205, 0.185, 0.424]),
        ([0.691, 0.737, 0.721, 0.782], [0.083, 0.112, 0.204, 0.185, 0.416]),
    ];
    let splits = [[1, 2, 3, 4], [1, 1, 2, 2], [1, 1, 2, 3], [1, 1, 1, 2], [1, 1, 1, 1]];
    let voters = [Voter::leader("a"), Voter::member("b"), Voter::member("c"), Voter::member("d")];
    for (adopted, shares) in columns {
        let mut sum = 0.0;
        for (moves, share) in splits.into_iter().zip(shares) {
            let votes = moves.map(|m| Some(Vote::without_score(Move(m))));
            sum += share * decide(&Rule::Majority, &voters, &votes, &Options::default()).unwrap().agreeing.len() as f64;
        }
        let printed: f64 = adopted.iter().sum();
        // nine numbers of three decimals
        assert!((sum - printed).abs() < 0.006, "{sum} {printed}");
    }
}

/// Takeuchi 2018, section 4.2.1: at standardised scores of 0.0 技巧 should be chosen, and standardisation does not see
/// it.
#[test]
fn win_rates_see_what_standardised_scores_do_not() {
    let calibrations = takeuchi();
    let voters = council(&calibrations);
    let votes = [cp(1, 99.09), cp(2, 334.00), cp(3, 420.16)];
    // the paper reads its curves with w2
    let options = Options { reading: Reading::Field, ..Options::default() };
    let by_rate = decide(&Rule::WinRateOptimistic, &voters, &votes, &options).unwrap();
    assert_eq!((by_rate.chosen, by_rate.carried_by), (Move(2), Some(1)));
    // 1/(1+exp(-w1 x + w2)) in Python
    for (p, expected) in by_rate.win_rates.iter().zip([0.531_348_0, 0.669_207_4, 0.615_043_9]) {
        assert!((p.unwrap() - expected).abs() < 1e-4, "{p:?} {expected}");
    }
    assert_eq!(chosen(Rule::Optimistic, &voters, &votes, &options), 3);
    assert_eq!(chosen(Rule::Pessimistic, &voters, &votes, &options), 1);
    let standard = decide(&Rule::StandardizedOptimistic, &voters, &votes, &options).unwrap();
    assert_eq!((standard.chosen, standard.tie.unwrap().moves.len()), (Move(1), 3));
}

#[test]
fn mates_go_as_the_option_says() {
    let calibrations = takeuchi();
    let voters = council(&calibrations);
    let on = Options { mates: Some(true), ..Options::default() };
    let off = Options { mates: Some(false), ..Options::default() };
    // the shorter win, against a majority and against every win rate
    let wins = [cp(1, 9000.0), mate(2, true, 9), mate(3, true, 5)];
    for rule in Rule::ALL {
        let decision = decide(&rule, &voters, &wins, &on).unwrap();
        assert_eq!((decision.chosen, decision.reason), (Move(3), Reason::ProvenWin), "{rule}");
    }
    assert_eq!(chosen(Rule::Majority, &voters, &wins, &off), 1);
    // off: both mates are win rate 1, and the leader's tie rule takes the first
    assert_eq!(chosen(Rule::WinRateOptimistic, &voters, &wins, &off), 2);
    // a proven loss loses to every other vote, whatever its company
    let losses = [mate(1, false, 8), mate(1, false, 20), cp(3, -2500.0)];
    for rule in Rule::ALL {
        assert_eq!(chosen(rule, &voters, &losses, &on), 3, "{rule}");
    }
    assert_eq!(chosen(Rule::Majority, &voters, &losses, &off), 1);
    assert_eq!(
        chosen(Rule::Pessimistic, &voters, &[mate(1, false, 8), cp(2, 5.0), cp(3, 9.0)], &Options::default()),
        1
    );
    // nothing else left: the longer
    let lost = [mate(1, false, 8), mate(2, false, 20), mate(3, false, 4)];
    let decision = decide(&Rule::WinRateOptimistic, &voters, &lost, &on).unwrap();
    assert_eq!((decision.chosen, decision.reason), (Move(2), Reason::OnlyLosses));
    // an upper bound proves no win, a lower bound proves one
    let bounded = |bound| [Some(Vote { bound: Some(bound), ..mate(1, true, 5).unwrap() }), mate(2, true, 9), None];
    assert_eq!(chosen(Rule::WinRateOptimistic, &voters, &bounded(Bound::Upper), &on), 2);
    assert_eq!(chosen(Rule::WinRateOptimistic, &voters, &bounded(Bound::Lower), &on), 1);
    // a sentinel score is a mate by the voter's calibration
    let mut calibrations = takeuchi();
    calibrations[2].mates = Some(evalcurve_calibration::file::Mates {
        policy: evalcurve_calibration::file::MatePolicy::Exclude,
        clip_cp: None,
        threshold_cp: Some(20_000.0),
        beyond: 1,
        wrong_sided: 0,
    });
    let voters = council(&calibrations);
    let sentinel = [cp(1, 40_000.0), cp(2, 300.0), cp(3, 29_998.0)];
    assert_eq!(chosen(Rule::WinRateOptimistic, &voters, &sentinel, &on), 3);
}

#[test]
fn a_second_round_judges_the_most_promising_moves() {
    let calibration = sigmoid(1.0 / 600.0, 0.3);
    let voters = ["A", "B", "C", "D"].map(|name| Voter { calibration: Some(&calibration), ..Voter::member(name) });
    let votes = [cp(1, 50.0), cp(2, 300.0), cp(3, -100.0), cp(4, 200.0)];
    let asked = |options: &Options<'_>| decide(&Rule::CrossExamination, &voters, &votes, options).unwrap().needs_search;
    assert_eq!(asked(&Options::default()), [Move(2), Move(4), Move(1)]);
    assert_eq!(asked(&Options { most_judged: 4, ..Options::default() }), [Move(2), Move(4), Move(1), Move(3)]);
    let none = Options { most_judged: 1, ..Options::default() };
    let error = check(&Rule::CrossExamination, &voters, &none).unwrap_err();
    assert_eq!(error.to_string(), "the number of judged moves is 1; give 2 or more");
}

#[test]
fn cross_examination_judges_every_voted_move() {
    let calibration = sigmoid(1.0 / 600.0, 0.3);
    let voters = ["A", "B", "C"].map(|name| Voter { calibration: Some(&calibration), ..Voter::member(name) });
    let decided =
        |votes: &[Option<Vote<'_>>]| decide(&Rule::CrossExamination, &voters, votes, &Options::default()).unwrap();
    // agreement needs no second round
    let agreed = decided(&[cp(1, 300.0), cp(1, 60.0), cp(1, 0.0)]);
    assert_eq!((agreed.chosen, agreed.needs_search), (Move(1), Vec::new()));
    // before it, a move that a voter has not judged counts as d below its own: 2 has two votes, 1 the highest score
    let votes = [cp(1, 300.0), cp(2, 60.0), cp(2, 0.0)];
    let before = decided(&votes);
    assert_eq!((before.chosen, before.needs_search), (Move(2), vec![Move(2), Move(1)]));
    // 300, 100 and -100 for move 1, against 240, 60 and 0 for move 2, between equals (without w2)
    let judged = [[(Move(2), Score::Cp(240.0))], [(Move(1), Score::Cp(100.0))], [(Move(1), Score::Cp(-100.0))]];
    let mut votes = votes;
    for (vote, judged) in votes.iter_mut().zip(&judged) {
        *vote = vote.map(|vote| Vote { judged, ..vote });
    }
    let after = decided(&votes);
    // equal, so the first vote decides
    assert_eq!((after.chosen, after.needs_search), (Move(1), Vec::new()));
    assert!((after.values[0].unwrap() - 300.0 / 600.0 / 3.0).abs() < 1e-9, "{:?}", after.values);
    assert!((after.values[1].unwrap() - 300.0 / 600.0 / 3.0).abs() < 1e-9, "{:?}", after.values);
    // a little less for move 1
    let less = [(Move(1), Score::Cp(80.0))];
    votes[1] = votes[1].map(|vote| Vote { judged: &less, ..vote });
    assert_eq!(decided(&votes).chosen, Move(2));
    // a voter without weight proposes, and is not asked
    let mut weighed = voters;
    weighed[2].weight = Some(0.0);
    votes[2] = cp(3, 900.0);
    let asked = decide(&Rule::CrossExamination, &weighed, &votes, &Options::default()).unwrap().needs_search;
    assert_eq!(asked.len(), 3);
    let judged = [[1, 3, 2], [2, 3, 1]].map(|moves| moves.map(|m| (Move(m), Score::Cp(10.0 * f64::from(m)))));
    for (vote, judged) in votes.iter_mut().zip(&judged) {
        *vote = vote.map(|vote| Vote { judged, ..vote });
    }
    let decision = decide(&Rule::CrossExamination, &weighed, &votes, &Options::default()).unwrap();
    assert_eq!((decision.chosen, decision.needs_search), (Move(3), Vec::new()));
    // from its phase on it has a weight
    weighed[2].phases = &[PhaseWeight { from_ply: 40, weight: 1.0 }];
    for (ply, asked) in [(39, 0), (40, 3)] {
        let options = Options { situation: Situation { ply: Some(ply), ..Situation::default() }, ..Options::default() };
        let decision = decide(&Rule::CrossExamination, &weighed, &votes, &options).unwrap();
        assert_eq!(decision.needs_search.len(), asked, "{ply}");
    }
    // a proven win needs no examination
    let won = decided(&[mate(3, true, 5), cp(1, 0.0), cp(2, 0.0)]);
    assert_eq!((won.chosen, won.needs_search), (Move(3), Vec::new()));
}

/// A budget ends where votes agree or the game is decided, asks for moves in question, and hands the rest to one voter.
#[test]
fn a_budget_spends_time_where_it_matters() {
    let calibration = sigmoid(1.0 / 600.0, 0.0);
    let voters = ["A", "B", "C"].map(|name| Voter { calibration: Some(&calibration), ..Voter::member(name) });
    let with = |votes: &[Option<Vote<'_>>], stakes| {
        decide(&Rule::Budget, &voters, votes, &Options { stakes, ..Options::default() }).unwrap()
    };
    let default = Stakes::default();
    let doubting = Stakes { agreed: 0.7, doubt: 0.5, ..default };
    // votes that agree are final, or only in a decided game
    let agreed = [cp(1, 300.0), cp(1, 60.0), cp(1, 0.0)];
    assert_eq!((with(&agreed, default).chosen, with(&agreed, default).hand_over), (Move(1), None));
    assert_eq!(with(&agreed, doubting).hand_over, Some(0));
    let won = [cp(1, 1200.0), cp(1, 900.0), cp(1, 900.0)];
    assert_eq!(with(&won, doubting).hand_over, None);
    // a decided game needs no second round: the majority plays
    let decided = [cp(1, 1800.0), cp(2, 1500.0), cp(2, 1500.0)];
    assert_eq!((with(&decided, default).chosen, with(&decided, default).needs_search), (Move(2), Vec::new()));
    // only moves in question are judged: their voters see 1 .42 logits below 2, and 3 .67
    let votes = [cp(1, 50.0), cp(2, 300.0), cp(3, -100.0)];
    let asked = |close| with(&votes, Stakes { close, ..default }).needs_search;
    assert_eq!(asked(1.0), [Move(2), Move(1), Move(3)]);
    assert_eq!((asked(0.5), asked(0.0)), (vec![Move(2), Move(1)], Vec::new()));
    // without a second round the lead of the first votes decides whether one voter searches on
    let none = Stakes { close: 0.0, doubt: 9.0, ..default };
    assert_eq!((with(&votes, none).chosen, with(&votes, none).hand_over), (Move(1), Some(0)));
    // 1 is judged better than 2 by .2 logits; a score of 3 that was not asked for does not count
    let a = [(Move(2), Score::Cp(0.0)), (Move(3), Score::Cp(900.0))];
    let b = [(Move(1), Score::Cp(400.0)), (Move(3), Score::Cp(900.0))];
    let c = [(Move(1), Score::Cp(0.0)), (Move(2), Score::Cp(-210.0))];
    let mut judged = votes;
    for (vote, judged) in judged.iter_mut().zip([&a[..], &b, &c]) {
        *vote = vote.map(|vote| Vote { judged, ..vote });
    }
    let narrow = Stakes { close: 0.5, doubt: 0.1, ..default };
    let decision = with(&judged, narrow);
    assert_eq!((decision.chosen, decision.needs_search, decision.hand_over), (Move(1), Vec::new(), None));
    let doubted = with(&judged, Stakes { doubt: 0.3, ..narrow });
    assert_eq!((doubted.chosen, doubted.hand_over), (Move(1), Some(0)));
    // the longer search decides where it was asked for, and only there
    judged[0] = judged[0].map(|vote| Vote { deeper: Some(Move(7)), ..vote });
    let deeper = with(&judged, Stakes { doubt: 0.3, ..narrow });
    assert_eq!((deeper.chosen, deeper.reason, deeper.hand_over), (Move(7), Reason::SearchedOn, None));
    assert_eq!(with(&judged, narrow).chosen, Move(1));
    // the voter with the largest weight searches on
    let mut weighed = voters;
    (weighed[1].weight, weighed[2].role) = (Some(1.5), Role::Leader);
    let options = Options { stakes: none, ..Options::default() };
    assert_eq!(decide(&Rule::Budget, &weighed, &votes, &options).unwrap().hand_over, Some(1));
    weighed[1].weight = None;
    assert_eq!(decide(&Rule::Budget, &weighed, &votes, &options).unwrap().hand_over, Some(2));
    let range = Options { stakes: Stakes { agreed: 0.4, ..default }, ..Options::default() };
    let error = check(&Rule::Budget, &voters, &range).unwrap_err().to_string();
    assert_eq!(error, "the agreed win rate is 0.4; give a win rate of 0.5 or more");
}

/// Sato 2013, eq. 4.1, and what happens around it.
#[test]
fn three_hirn() {
    let voters = [Voter::member("AI1"), Voter::member("AI2"), Voter { role: Role::Chooser, ..Voter::member("human") }];
    let judge = |f1: f64, f2: f64| {
        let searched = [(Move(1), Score::Cp(f1)), (Move(2), Score::Cp(f2))];
        decide(
            &Rule::ThreeHirn,
            &voters,
            &[cp(1, 10.0), cp(2, 20.0), None],
            &Options { searched: &searched, ..Options::default() },
        )
        .unwrap()
    };
    assert_eq!((judge(5.0, 4.0).chosen, judge(5.0, 4.0).reason), (Move(1), Reason::Chooser));
    assert_eq!((judge(4.0, 5.0).chosen, judge(4.0, 5.0).reason), (Move(2), Reason::Chooser));
    assert_eq!((judge(4.0, 4.0).chosen, judge(4.0, 4.0).reason), (Move(2), Reason::Adviser));
    // from the chooser's own list; a move that is missing there is no better
    let list = [(Move(9), Score::Cp(70.0)), (Move(1), Score::Cp(60.0))];
    let listed = Some(Vote { list: &list, ..Vote::new(Move(9), Score::Cp(70.0)) });
    assert_eq!(chosen(Rule::ThreeHirn, &voters, &[cp(1, 10.0), cp(2, 20.0), listed], &Options::default()), 1);
    // unknown: the decision asks for a search
    let unknown =
        decide(&Rule::ThreeHirn, &voters, &[cp(1, 10.0), cp(2, 20.0), cp(9, 0.0)], &Options::default()).unwrap();
    assert_eq!((unknown.chosen, unknown.needs_search), (Move(2), vec![Move(1), Move(2)]));
    assert_eq!(chosen(Rule::ThreeHirn, &voters, &[None, cp(2, 20.0), cp(9, 0.0)], &Options::default()), 2);
    assert_eq!(chosen(Rule::ThreeHirn, &voters, &[None, None, cp(9, 0.0)], &Options::default()), 9);
    assert!(check(&Rule::ThreeHirn, &voters[..2], &Options::default()).is_err());
    assert!(check(&Rule::ThreeHirn, &voters, &Options::default()).is_ok());
}

/// LFICS 2016-12, appendix: the products of F as printed, multiplied out, against the sums of logarithms.
#[test]
fn the_optimal_consultation_is_the_printed_product() {
    let (d, s, a): (f64, [f64; 3], f64) = (1.0, [1.0, 1.5, 2.0], 0.4);
    let moves = [Move(1), Move(2), Move(2)];
    let values: [f64; 3] = [0.9, 0.7, -0.2];
    let erf = |x: f64| 1.0 - libm::erfc(x);
    let printed = |b: Move| -> f64 {
        (0..3)
            .map(|i| {
                let x = (values[i] - a) / s[i];
                let y = x + d / s[i];
                let (gx, gy) = ((-x * x / 2.0).exp(), (-y * y / 2.0).exp());
                let (ex, ey) = (erf(x / 2f64.sqrt()) + 1.0, erf(y / 2f64.sqrt()) + 1.0);
                if moves[i] == b { gx * ey } else { gy * ex }
            })
            .product()
    };
    let ratios: Vec<f64> = (0..3).map(|i| likelihood::log_ratio(values[i], a, d, s[i])).collect();
    let mut l = [0.0; 3];
    likelihood::log_likelihood(&moves, &ratios, &mut l);
    assert!(((l[0] - l[1]) - (printed(Move(1)) / printed(Move(2))).ln()).abs() < 1e-12);
    assert_eq!(l[1], l[2]);
    // A = (k-1)/k d + mean V
    assert!((likelihood::estimated_best(&moves, &values, d) - (0.5 + 1.4 / 3.0)).abs() < 1e-15);
    assert!(likelihood::log_ratio(10.0, -10.0, 0.3, 0.01).is_finite());
}

#[test]
fn pools_may_choose_a_move_that_no_voter_ranks_first() {
    let c = sigmoid(1.0 / 600.0, 0.0);
    let rated = |name, strength| Voter { calibration: Some(&c), strength: Some(strength), ..Voter::member(name) };
    let voters = [rated("A", 3000.0), rated("B", 3000.0)];
    let a = [(Move(1), Score::Cp(200.0)), (Move(3), Score::Cp(180.0)), (Move(2), Score::Cp(-400.0))];
    let b = [(Move(2), Score::Cp(200.0)), (Move(3), Score::Cp(180.0)), (Move(1), Score::Cp(-400.0))];
    let votes = [Some(Vote { list: &a, ..cp(1, 200.0).unwrap() }), Some(Vote { list: &b, ..cp(2, 200.0).unwrap() })];
    for rule in [Rule::MeanWinRate, Rule::LogPool, Rule::StrengthPool] {
        let decision = decide(&rule, &voters, &votes, &Options::default()).unwrap();
        assert_eq!((decision.chosen, decision.carried_by), (Move(3), None), "{rule}");
        assert!(decision.agreeing.is_empty());
        assert_eq!(decision.candidates.len(), 3);
    }
    let mean = decide(&Rule::MeanWinRate, &voters, &votes, &Options::default()).unwrap().candidates[1];
    assert!((mean.1 - 0.574_442_516_811_659).abs() < 1e-12, "{mean:?}"); // 1/(1+exp(-0.3))
    // a missing move counts as the gap below the last of the list
    let short = [Some(Vote { list: &a[..2], ..cp(1, 200.0).unwrap() }), cp(2, 120.0)];
    let pooled = decide(&Rule::LogPool, &voters, &short, &Options { gap: 0.25, ..Options::default() }).unwrap();
    let expect = [(200.0 + 120.0) / 600.0 - 0.25, (180.0 + 120.0) / 600.0 - 0.25, (180.0 + 120.0) / 600.0 - 0.25];
    for ((_, value), expected) in pooled.candidates.iter().zip(expect) {
        assert!((value - expected / 2.0).abs() < 1e-12, "{value} {expected}");
    }
    // a listed forced loss is skipped
    let trap = [(Move(2), Score::Cp(200.0)), (Move(3), Score::Mate { wins: false, plies: Some(6) })];
    let votes = [votes[0], Some(Vote { list: &trap, ..cp(2, 200.0).unwrap() })];
    assert_ne!(chosen(Rule::MeanWinRate, &voters, &votes, &Options::default()), 3);
    // a voter 400 points weaker counts a tenth
    let voters = [rated("A", 2600.0), rated("B", 3000.0)];
    let votes = [cp(1, 300.0), cp(2, 0.0)];
    assert_eq!(chosen(Rule::StrengthPool, &voters, &votes, &Options::default()), 2);
    assert_eq!(pool::strength_weight(2600.0, 3000.0), 0.1);
}

#[test]
fn corrected_optimism_trusts_the_noisy_less() {
    let c = sigmoid(1.0 / 600.0, 0.0);
    let voter = |name, noise| Voter { calibration: Some(&c), noise: Some(noise), ..Voter::member(name) };
    let voters = [voter("steady", 0.3), voter("noisy", 0.9)];
    let votes = [cp(1, 100.0), cp(2, 250.0)];
    assert_eq!(chosen(Rule::WinRateOptimistic, &voters, &votes, &Options::default()), 2);
    assert_eq!(chosen(Rule::CorrectedOptimistic, &voters, &votes, &Options::default()), 1);
    assert_eq!(chosen(Rule::CorrectedOptimistic, &voters, &votes, &Options { caution: 0.0, ..Options::default() }), 2);
    let decision = decide(&Rule::CorrectedOptimistic, &voters, &votes, &Options::default()).unwrap();
    assert!((decision.values[0].unwrap() - (100.0 / 600.0 - 2.0 * 0.3)).abs() < 1e-12);
    // a calibration that is less sure there counts as noise
    let mut unsure = sigmoid(1.0 / 600.0, 0.0);
    if let Some(fit) = unsure.models.get_mut(&Method::LeastSquares.into()) {
        fit.covariance = Some(vec![vec![1e-6, 0.0], vec![0.0, 0.01]]);
    }
    let error = |reading| unsure.logit_error(reading, 250.0, &Situation::default()).unwrap();
    assert!((error(Reading::Field) - (0.0625f64 + 0.01).sqrt()).abs() < 1e-12);
    // between equals the offset has no part in it
    assert!((error(Reading::Equal) - 0.25).abs() < 1e-12);
    let even = [voter("sure", 0.3), Voter { calibration: Some(&unsure), ..voter("unsure", 0.3) }];
    assert_eq!(chosen(Rule::CorrectedOptimistic, &even, &[cp(1, 230.0), cp(2, 250.0)], &Options::default()), 1);
}

/// Best-move rates in the model of LFICS 2016-12, with n = 3, s = (1, 1.5, 1.5), d = 1, by
/// `tests/oracle/winners_curse.py`.
#[test]
fn corrected_optimism_beats_optimism_where_voters_differ() {
    const TRIALS: u64 = 40_000;
    let s = [1.0, 1.5, 1.5];
    let mut best = [0u64; 4];
    for trial in 0..TRIALS {
        let (mut moves, mut values) = ([Move(0); 3], [f64::NEG_INFINITY; 3]);
        for voter in 0..3 {
            for m in 0..3 {
                let keys = |part| evalcurve_words::random::unit(&[11, trial, voter as u64, u64::from(m), part]);
                let normal = evalcurve_words::random::normal(keys(0), keys(1));
                let value = if m == 0 { 0.0 } else { -1.0 } + s[voter] * normal;
                if value > values[voter] {
                    (moves[voter], values[voter]) = (Move(m), value);
                }
            }
        }
        let adopted = |v: &[f64]| moves[tally::largest(&moves, v, tally::Tie::Leader(Some(moves[0]))).unwrap()];
        let mut sums = [0.0; 3];
        tally::support(&moves, &[1.0; 3], &mut sums);
        best[0] += u64::from(adopted(&sums) == Move(0));
        best[1] += u64::from(adopted(&values) == Move(0));
        let bounds = [0, 1, 2].map(|i| win_rate::lower_bound(values[i], s[i], 2.0));
        best[2] += u64::from(adopted(&bounds) == Move(0));
        let a = likelihood::estimated_best(&moves, &values, 1.0);
        let ratios = [0, 1, 2].map(|i| likelihood::log_ratio(values[i], a, 1.0, s[i]));
        likelihood::log_likelihood(&moves, &ratios, &mut sums);
        best[3] += u64::from(adopted(&sums) == Move(0));
    }
    // standard error 0.0024
    for (count, expected) in best.into_iter().zip([0.669, 0.622, 0.652, 0.682]) {
        let rate = count as f64 / TRIALS as f64;
        assert!((rate - expected).abs() < 0.009, "{rate} {expected}");
    }
}

#[test]
fn votes_without_values_are_skipped() {
    let calibrations = takeuchi();
    let voters = council(&calibrations);
    // a book move has no score: it counts for rules that count votes, and for no other
    let book = Some(Vote::without_score(Move(1)));
    let votes = [book, book, cp(3, -500.0)];
    assert_eq!(chosen(Rule::Majority, &voters, &votes, &Options::default()), 1);
    let optimistic = decide(&Rule::WinRateOptimistic, &voters, &votes, &Options::default()).unwrap();
    assert_eq!((optimistic.chosen, optimistic.win_rates[0]), (Move(3), None));
    // no vote has a score: the majority decides
    let decision = decide(
        &Rule::WinRateOptimistic,
        &voters,
        &[book, book, Some(Vote::without_score(Move(2)))],
        &Options::default(),
    );
    assert_eq!(decision.map(|d| (d.chosen, d.reason)).unwrap(), (Move(1), Reason::NoValues));
    assert_eq!(decide(&Rule::Majority, &voters, &[None, None, None], &Options::default()), Err(RuleError::NoVotes));
    assert!(matches!(decide(&Rule::Majority, &voters, &[None], &Options::default()), Err(RuleError::Lengths { .. })));
    // a voter whose score is a win rate, as play-outs give it, needs no calibration
    let bare = ["A", "B"].map(|name| Voter { brings_win_rates: true, ..Voter::member(name) });
    let rates = [0.4, 0.6].map(|p| Some(Vote { win_rate: Some(p), ..Vote::without_score(Move((p * 10.0) as u32)) }));
    for rule in Rule::ALL.into_iter().filter(|r| r.needs_win_rates()) {
        assert!(check(&rule, &bare, &Options::default()).is_ok() || rule == Rule::StrengthPool);
    }
    assert_eq!(chosen(Rule::WinRateOptimistic, &bare, &rates, &Options::default()), 6);
}

#[test]
fn rules_that_cannot_work_are_refused() {
    let two = [Voter::leader("A"), Voter::leader("B")];
    let message =
        |rule, voters: &[Voter<'_>], options: &Options<'_>| check(&rule, voters, options).unwrap_err().to_string();
    let options = Options::default();
    assert_eq!(
        message(Rule::Majority, &two, &options),
        "rule majority: two voters are the leader; make one of them a member"
    );
    let heavy = [Voter { weight: Some(f64::NAN), ..Voter::member("A") }];
    assert_eq!(message(Rule::Weighted, &heavy, &options), "the weight of A is NaN; give a number of 0 or more");
    // else the majority would decide without a word
    for rule in Rule::ALL.into_iter().filter(|rule| rule.needs_win_rates()) {
        let error = check(&rule, &[Voter::leader("A"), Voter::member("B")], &options).unwrap_err();
        assert!(error.to_string().contains("no voter has a"), "{error}");
    }
    for rule in [Rule::Strongest, Rule::StrengthPool, Rule::StandardizedOptimistic, Rule::ThreeHirn] {
        assert!(check(&rule, &[Voter::member("A")], &options).is_err(), "{rule}");
    }
    assert!(check(&Rule::Optimal, &[Voter::member("A")], &Options { gap: 0.0, ..options }).is_err());
    for rule in Rule::ALL {
        assert_eq!(Rule::parse(rule.as_str()), Some(rule));
    }
    for tie in TieRule::ALL {
        assert_eq!(tie.to_string().parse(), Ok(*tie));
    }
    assert!(Rule::parse("plurality").is_none() && "coin".parse::<TieRule>().is_err());
}

#[test]
fn drawn_ties_depend_on_seed_and_place_alone() {
    let voters = [Voter::member("A"), Voter::member("B"), Voter::member("C")];
    let votes = [cp(1, 0.0), cp(2, 0.0), cp(3, 0.0)];
    let draw = |seed, ply| {
        let options =
            Options { tie: TieRule::Draw, seed, draw_key: tally::draw_key("game", ply), ..Options::default() };
        chosen(Rule::Majority, &voters, &votes, &options)
    };
    let mut counts = [0; 3];
    for ply in 0..3000 {
        assert_eq!(draw(7, ply), draw(7, ply));
        counts[draw(7, ply) as usize - 1] += 1;
    }
    // 1,000 expected, standard deviation 26
    assert!(counts.iter().all(|c| (900..1100).contains(c)), "{counts:?}");
    assert!((0..50).any(|ply| draw(7, ply) != draw(8, ply)));
    assert_ne!(tally::draw_key("ab", 1), tally::draw_key("ba", 1));
    assert_ne!(tally::draw_key("a", 1), tally::draw_key("a\0", 1));
}

#[test]
fn a_decision_explains_itself() {
    let calibrations = takeuchi();
    let mut voters = council(&calibrations).to_vec();
    voters.push(Voter::member("silent"));
    let votes =
        [cp(0, 152.0), Some(Vote { bound: Some(Bound::Lower), ..cp(1, 130.0).unwrap() }), mate(1, false, 8), None];
    let decision = decide(&Rule::WinRateOptimistic, &voters, &votes, &Options::default()).unwrap();
    let explanation = decision.explain(&voters, &votes, |m| ["7g7f", "2g2f"][m.0 as usize].to_owned());
    assert_eq!(
        explanation.lines().iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "[O] 7g7f 0.608 (+152) YaneuraOu",
            "[X] 2g2f 0.584 (+130 lowerbound) Gikou",
            "[X] 2g2f 0.000 (mate -8) nozomi",
            "[-] silent abstains",
            "winrate-optimistic: 7g7f by YaneuraOu",
        ]
    );
    let json: serde_json::Value = serde_json::from_str(&explanation.json().unwrap()).unwrap();
    assert_eq!(
        (&json["rule"], &json["move"], &json["reason"]),
        (&"winrate-optimistic".into(), &"7g7f".into(), &"largest_value".into())
    );
    assert_eq!((&json["votes"][0]["adopted"], &json["votes"][3]["move"]), (&true.into(), &serde_json::Value::Null));
    let tie = decide(&Rule::Majority, &voters, &[cp(0, 1.0), cp(1, 2.0), None, None], &Options::default()).unwrap();
    let line = tie
        .explain(&voters, &[cp(0, 1.0), cp(1, 2.0), None, None], |m| ["7g7f", "2g2f"][m.0 as usize].to_owned())
        .summary();
    assert_eq!(line.to_string(), "majority: 7g7f by YaneuraOu, tied 7g7f 2g2f (broken by leader)");
}

fn any_vote() -> impl Strategy<Value = Option<(u32, i32, u8)>> {
    proptest::option::weighted(0.85, (0..4u32, -3000..3000i32, 0..12u8))
}

fn to_vote(vote: Option<(u32, i32, u8)>) -> Option<Vote<'static>> {
    vote.map(|(best, score, kind)| match kind {
        0 => Vote::new(Move(best), Score::Mate { wins: score > 0, plies: Some(score.unsigned_abs() % 20) }),
        1 => Vote::without_score(Move(best)),
        2 => Vote { bound: Some(Bound::Lower), ..Vote::new(Move(best), Score::Cp(f64::from(score))) },
        _ => Vote::new(Move(best), Score::Cp(f64::from(score))),
    })
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn six(calibrations: &[Calibration; 3]) -> Vec<Voter<'_>> {
    let voter = |(i, name): (usize, &&'static str)| Voter {
        calibration: Some(&calibrations[i % 3]),
        noise: Some(0.3 + 0.1 * i as f64),
        strength: Some(3000.0 - 70.0 * i as f64),
        ..Voter::member(name)
    };
    NAMES.iter().enumerate().map(voter).collect()
}

/// The text of a file of the repository; `None` in a package, which does not hold it.
fn of_repository(path: &str) -> Option<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/oracle").is_dir().then(|| std::fs::read_to_string(root.join(path)).unwrap())
}

/// The table of rules in `docs/rules.md` is that of the list, row by row; `cargo xtask bless` writes it.
#[test]
fn the_documentation_has_the_list_of_rules() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md");
    let Some(docs) = of_repository("docs/rules.md") else { return };
    let is_row = |line: &str| line.starts_with("| `");
    let rows: Vec<&str> = docs.lines().filter(|line| is_row(line)).collect();
    let expected = Rule::ALL.map(|rule| {
        let mates = if rule.mates_by_default() { "on" } else { "off" };
        let formula = rule.formula().replace('|', "\\|");
        format!("| `{rule}` | {} | {formula} | {mates} | {} |", rule.summary(), rule.source())
    });
    if std::env::var("EVALCURVE_BLESS").is_ok_and(|v| v == "1") {
        let before: Vec<&str> = docs.lines().take_while(|line| !is_row(line)).collect();
        let after = docs.lines().skip(before.len() + rows.len());
        let lines = before.iter().copied().chain(expected.iter().map(String::as_str)).chain(after);
        return std::fs::write(path, lines.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
    assert_eq!(rows, expected, "`cargo xtask bless` writes docs/rules.md");
}

/// Every rule decides by a value, or by the chooser, if the votes have everything that it needs.
#[test]
fn every_rule_gets_what_it_needs() {
    let calibrations = takeuchi();
    let mut voters = six(&calibrations);
    voters[5].role = Role::Chooser;
    let list = [(Move(1), Score::Cp(80.0)), (Move(2), Score::Cp(50.0))];
    let votes = [1, 2, 1, 2, 1, 1].map(|m| Some(Vote { list: &list, ..cp(m, 80.0).unwrap() }));
    for rule in Rule::ALL {
        assert_eq!(check(&rule, &voters, &Options::default()), Ok(()), "{rule}");
        let reason = decide(&rule, &voters, &votes, &Options::default()).unwrap().reason;
        assert!(matches!(reason, Reason::LargestValue | Reason::Chooser), "{rule}: {reason:?}");
    }
}

/// A council may stop early if the outstanding votes cannot change the move.
#[test]
fn rules_know_when_they_are_settled() {
    let rated = |name, strength| Voter { strength, ..Voter::member(name) };
    let leader = Voter { strength: Some(3000.0), ..Voter::leader("A") };
    let voters = [leader, rated("B", None), rated("C", None), rated("D", Some(3100.0))];
    let settled = |rule: Rule, votes: [Option<u32>; 4], outstanding: &[usize]| {
        let votes = votes.map(|m| m.map(Move));
        rule.is_settled(&Pending {
            voters: &voters,
            votes: &votes,
            outstanding,
            chosen: Move(1),
            carried_by: Some(0),
            ply: None,
        })
    };
    let agreed = [Some(1), Some(1), None, None];
    assert!(!settled(Rule::Majority, agreed, &[2, 3]));
    assert!(settled(Rule::Majority, agreed, &[2]));
    // 2.5 against 2, and 1.5 against 1 + 1
    assert!(settled(Rule::Weighted, agreed, &[2, 3]));
    assert!(!settled(Rule::Weighted, [Some(1), Some(2), None, None], &[2]));
    assert!(settled(Rule::Strongest, agreed, &[1, 2]));
    assert!(!settled(Rule::Strongest, agreed, &[3]));
    assert!(!settled(Rule::WinRateOptimistic, agreed, &[2]));
}

proptest! {
    /// Without ties, the same move wins for every order of the voters.
    #[test]
    fn the_order_of_voters_matters_only_for_ties(
        votes in proptest::collection::vec(any_vote(), 6), shift in 0..6usize, mates in any::<bool>(),
    ) {
        let calibrations = takeuchi();
        let voters = six(&calibrations);
        let votes: Vec<_> = votes.into_iter().map(to_vote).collect();
        let turned = |i: usize| (i + shift) % 6;
        let turned_voters: Vec<_> = (0..6).map(|i| voters[turned(i)]).collect();
        let turned_votes: Vec<_> = (0..6).map(|i| votes[turned(i)]).collect();
        let options = Options { mates: Some(mates), ..Options::default() };
        for rule in Rule::ALL {
            if rule.needs().chooser {
                continue; // the first and the second adviser are defined by their order
            }
            let Ok(decision) = decide(&rule, &voters, &votes, &options) else {
                prop_assert!(votes.iter().all(Option::is_none));
                continue;
            };
            let other = decide(&rule, &turned_voters, &turned_votes, &options).unwrap();
            if decision.tie.is_none() {
                prop_assert_eq!(decision.chosen, other.chosen, "{}", rule);
                let of = |i: &usize| other.agreeing.contains(&((i + 6 - shift) % 6));
                let agreeing: Vec<usize> = (0..6).filter(of).collect();
                prop_assert_eq!(&decision.agreeing, &agreeing);
            }
            prop_assert_eq!(decision.tie.map(|t| t.moves.len()), other.tie.map(|t| t.moves.len()), "{}", rule);
            // some voter voted for the chosen move
            prop_assert!(votes.iter().flatten().any(|v| v.best == other.chosen));
        }
    }

    /// An abstention has the same effect as no voter.
    #[test]
    fn abstentions_have_no_effect(votes in proptest::collection::vec(any_vote(), 6)) {
        let calibrations = takeuchi();
        let voters = six(&calibrations);
        let votes: Vec<_> = votes.into_iter().map(to_vote).collect();
        let present: Vec<usize> = (0..6).filter(|&i| votes[i].is_some()).collect();
        let (few, theirs): (Vec<_>, Vec<_>) = present.iter().map(|&i| (voters[i], votes[i])).unzip();
        for rule in Rule::ALL.into_iter().filter(|r| *r != Rule::StrengthPool) {
            let all = decide(&rule, &voters, &votes, &Options::default()).map(|d| d.chosen);
            prop_assert_eq!(all, decide(&rule, &few, &theirs, &Options::default()).map(|d| d.chosen), "{}", rule);
        }
    }

    /// The chosen move stays chosen with one more vote for it, or with a better score of the voter that carries it.
    #[test]
    fn more_support_never_hurts(
        votes in proptest::collection::vec(any_vote(), 6), who in 0..6usize, more in 1..500i32,
    ) {
        let calibrations = takeuchi();
        let voters = six(&calibrations);
        let plain: Vec<_> = votes.iter().map(|v| to_vote(v.map(|(m, s, _)| (m, s, 9)))).collect();
        for rule in [Rule::Majority, Rule::Weighted] {
            let Ok(before) = decide(&rule, &voters, &plain, &Options::default()) else { continue };
            let mut after = plain.clone();
            after[who] = Some(Vote { best: before.chosen, ..after[who].unwrap_or(Vote::without_score(before.chosen)) });
            let after = decide(&rule, &voters, &after, &Options::default()).unwrap();
            prop_assert!(after.chosen == before.chosen || before.tie.is_some(), "{}", rule);
        }
        let rules =
            [Rule::Optimistic, Rule::StandardizedOptimistic, Rule::WinRateOptimistic, Rule::CorrectedOptimistic];
        for rule in rules {
            let Ok(before) = decide(&rule, &voters, &plain, &Options::default()) else { continue };
            let carrier = before.carried_by.unwrap();
            let mut after = plain.clone();
            if let Some(Vote { score: Some(Score::Cp(cp)), .. }) = &mut after[carrier] {
                *cp += f64::from(more);
            }
            let after = decide(&rule, &voters, &after, &Options::default()).unwrap();
            prop_assert_eq!(after.chosen, before.chosen, "{}", rule);
            prop_assert_eq!(after.tie, None);
        }
    }

    /// A unanimous vote is adopted by every rule.
    #[test]
    fn unanimous_votes_are_adopted(votes in proptest::collection::vec(any_vote(), 6), best in 0..4u32) {
        let calibrations = takeuchi();
        let voters = six(&calibrations);
        let votes: Vec<_> = votes.into_iter().map(|v| to_vote(v.map(|(_, s, kind)| (best, s, kind)))).collect();
        prop_assume!(votes.iter().any(Option::is_some));
        for rule in Rule::ALL {
            let decision = decide(&rule, &voters, &votes, &Options::default()).unwrap();
            prop_assert_eq!(decision.chosen, Move(best), "{}", rule);
            prop_assert_eq!(decision.tie, None);
        }
    }

    /// No number from an engine makes a rule panic or choose a move without a vote.
    #[test]
    fn odd_numbers_do_no_harm(
        scores in proptest::collection::vec(
            (0..3u32, proptest::num::f64::ANY, proptest::option::of(proptest::num::f64::ANY)),
            1..5,
        ),
    ) {
        let calibrations = takeuchi();
        let voters = &six(&calibrations)[..scores.len()];
        let votes: Vec<_> = scores
            .iter()
            .map(|&(best, cp, win_rate)| Some(Vote { win_rate, ..Vote::new(Move(best), Score::Cp(cp)) }))
            .collect();
        for rule in Rule::ALL {
            let decision = decide(&rule, voters, &votes, &Options::default()).unwrap();
            prop_assert!(votes.iter().flatten().any(|v| v.best == decision.chosen));
            decision.explain(voters, &votes, |m| m.0.to_string()).json().unwrap();
        }
    }
}

proptest! {
    /// [`tally::leading`], which has no branches, agrees with the definition.
    #[test]
    fn the_leading_move_is_that_of_the_definition(
        ballot in prop::collection::vec((0u32..4, 0usize..6), 0..8),
        leader in prop::option::of(0u32..4),
    ) {
        let scale = [f64::NAN, f64::NEG_INFINITY, -3.0, 0.5, 0.5 + 1e-14, f64::INFINITY];
        let (moves, values): (Vec<Move>, Vec<f64>) = ballot.iter().map(|&(m, v)| (Move(m), scale[v])).unzip();
        let found = tally::leading(&moves, &values, leader.map(Move));
        let numbers = || values.iter().copied().filter(|v| !v.is_nan());
        let top = numbers().fold(f64::NEG_INFINITY, f64::max);
        // infinities equal themselves, and 0.5 and 0.5 + 1e-14 each other
        let best: Vec<Move> = (0..moves.len())
            .filter(|&i| values[i] == top || (values[i] - top).abs() < 1e-12)
            .map(|i| moves[i])
            .collect();
        prop_assert_eq!(found.top, top);
        let largest = tally::largest(&moves, &values, tally::Tie::Leader(leader.map(Move)));
        prop_assert_eq!(largest.is_none(), best.is_empty());
        if let Some(&first) = best.first() {
            let chosen = leader.map(Move).filter(|m| best.contains(m)).unwrap_or(first);
            prop_assert_eq!(found.chosen, chosen);
            let others = || moves.iter().zip(&values).filter(|(m, v)| **m != chosen && !v.is_nan()).map(|(_, v)| *v);
            prop_assert_eq!(found.second, others().fold(f64::NEG_INFINITY, f64::max));
            if top > f64::NEG_INFINITY {
                prop_assert_eq!(found.is_tied(), best.iter().any(|m| *m != chosen));
            }
        }
    }
}

/// A rule of another crate is held to the mates, ties and needs of the list.
#[test]
fn own_rules_decide_like_those_of_the_list() {
    let needs = Needs { scores: true, ..Needs::NOTHING };
    let own = by_value("mine", needs, |votes, values| values.copy_from_slice(votes.scores));
    let voters = [Voter::member("a"), Voter::leader("b"), Voter::member("c")];
    let mate = Some(Vote::new(Move(7), Score::Mate { wins: true, plies: Some(3) }));
    for votes in [[cp(1, 30.0), cp(2, 90.0), cp(1, 60.0)], [cp(1, 90.0), cp(2, 90.0), None], [cp(1, 30.0), mate, None]]
    {
        let (mine, listed) = [&own as &dyn DecisionRule, &Rule::Optimistic]
            .map(|r| decide(r, &voters, &votes, &Options::default()))
            .into();
        assert_eq!(Decision { rule: "optimistic", ..mine.unwrap() }, listed.unwrap());
    }
    let without =
        [Some(Vote::without_score(Move(3))), Some(Vote::without_score(Move(4))), Some(Vote::without_score(Move(4)))];
    let decision = decide(&own, &voters, &without, &Options::default()).unwrap();
    assert_eq!((decision.rule, decision.chosen, decision.reason), ("mine", Move(4), Reason::NoValues));
    let rates =
        by_value("rates", Needs { win_rates: true, ..Needs::NOTHING }, |votes, to| to.copy_from_slice(votes.win_rates));
    assert!(
        check(&rates, &voters, &Options::default()).unwrap_err().to_string().starts_with("rule rates: it compares")
    );
}

/// A rule that looks at the votes themselves, and a replay by it.
#[test]
fn own_rules_see_votes_and_are_replayed() {
    struct Last;
    impl DecisionRule for Last {
        fn name(&self) -> &'static str {
            "last"
        }

        fn values(&self, _: &Columns<'_>, _: &mut [f64]) {}

        fn decide(&self, ballot: &Ballot<'_>) -> Decision {
            ballot.adopt(ballot.votes().last().map_or(0, |(place, ..)| place))
        }
    }
    let voters = [Voter::member("a"), Voter::member("b")];
    let decision = decide(&Last, &voters, &[cp(1, 30.0), cp(2, -90.0)], &Options::default()).unwrap();
    assert_eq!((decision.chosen, decision.carried_by, decision.agreeing), (Move(2), Some(1), vec![1]));
    let header =
        serde_json::to_string(&log::Header::new("chess", Rule::Majority, &voters, &Options::default())).unwrap();
    let line = "{\"game_id\":\"g\",\"ply\":1,\"position\":\"startpos\",\"side\":\"white\",\"time_ms\":1,\"votes\":[\
                {\"voter\":\"a\",\"move\":\"e2e4\"},{\"voter\":\"b\",\"move\":\"d2d4\"}],\"decision\":null,\
                \"played\":\"e2e4\"}";
    let log = log::Log::parse(format!("{header}\n{line}\n").as_bytes());
    let own = replay::OwnRule::of(&Last, &log);
    assert_eq!((own.name.as_str(), own.moves), ("last", vec![Some("d2d4".to_owned())]));
}
