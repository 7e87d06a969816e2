//! Play-outs compared with exact values and with each other, and as scores.

use evalcurve_calibration::logistic::logistic;
use evalcurve_calibration::types::Outcome;
use evalcurve_fit::fit::{CP_PER_LOGIT, FitOptions, Method, Observation, fit};
use evalcurve_words::random::Stream;

use super::patterns::{Pattern, PatternOptions, made};
use super::*;

fn options(heuristic: Heuristic, playouts: u64) -> PlayoutOptions {
    PlayoutOptions { heuristic, playouts, ..PlayoutOptions::default() }
}

/// A rate of n play-outs lies within 4 standard errors of its expectation.
#[track_caller]
fn within_four_errors(what: &str, tally: Tally, expected: f64) {
    let error = (0.25 / tally.plays as f64).sqrt();
    let rate = tally.rate().unwrap();
    assert!((rate - expected).abs() < 4.0 * error, "{what}: {rate} of {} play-outs, exact {expected}", tally.plays);
}

#[test]
fn tic_tac_toe_at_random() {
    // enumerated in fractions: X wins 737/1260, draws 8/63, O wins 121/420; the middle, the corners and the
    // sides follow from the same tree, and their mean is the whole
    let exact = exact(&TicTacToe::default()).unwrap();
    let [win, draw, loss] = exact.chances;
    for (ours, fraction) in [(win, 737.0 / 1260.0), (draw, 8.0 / 63.0), (loss, 121.0 / 420.0)] {
        assert!((ours - fraction).abs() < 1e-12, "{ours} {fraction}");
    }
    let first: Vec<f64> = exact.expected_outcome.iter().map(|v| v.unwrap()).collect();
    assert!((first.iter().sum::<f64>() / 9.0 - (win + draw / 2.0)).abs() < 1e-12);
    let (corner, side, middle) = (first[0], first[1], first[4]);
    assert!(middle > corner && corner > side);
    assert!([2, 6, 8].iter().all(|&c| (first[c] - corner).abs() < 1e-12));
    assert!([3, 5, 7].iter().all(|&c| (first[c] - side).abs() < 1e-12));
}

#[test]
fn play_outs_of_tic_tac_toe_agree_with_the_whole_tree() {
    for moves in ["", "b2", "b2,a1,b1"] {
        let game = position(TicTacToe::default(), moves).unwrap();
        let exact = exact(&game).unwrap();
        for heuristic in [Heuristic::ExpectedOutcome, Heuristic::AllMovesAsFirst] {
            let analysis = analyse(&game, &options(heuristic, 100_000)).unwrap();
            let values = match heuristic {
                Heuristic::ExpectedOutcome => &exact.expected_outcome,
                _ => &exact.all_moves_as_first,
            };
            within_four_errors(moves, analysis.total, exact.chances[0] + exact.chances[1] / 2.0);
            for m in &analysis.moves {
                within_four_errors(&game.name(m.action), m.tally, values[usize::from(m.action)].unwrap());
            }
        }
    }
}

#[test]
fn hex_agrees_with_the_whole_tree_and_is_symmetric() {
    let board = Board::hex(3).unwrap();
    let exact = exact(&board).unwrap();
    // eight cells are filled half and half after the first move: by eq. 2 a move counts wherever it is made, and on a
    // full board the order does not matter, so both heuristics are the same
    for (a, b) in exact.expected_outcome.iter().zip(&exact.all_moves_as_first) {
        assert!((a.unwrap() - b.unwrap()).abs() < 1e-9);
    }
    // half a turn maps the board and both goals to themselves
    for cell in 0..9 {
        assert!((exact.expected_outcome[cell].unwrap() - exact.expected_outcome[8 - cell].unwrap()).abs() < 1e-9);
    }
    let analysis = analyse(&board, &options(Heuristic::ExpectedOutcome, 50_000)).unwrap();
    for m in &analysis.moves {
        within_four_errors(&board.name(m.action), m.tally, exact.expected_outcome[usize::from(m.action)].unwrap());
    }
}

#[test]
fn a_full_board_of_hex_has_one_winner() {
    // Nash: mirrored at the long diagonal with colours swapped, the winner is the other one
    let n = 6;
    let board = Board::hex(n).unwrap();
    let mut wins = 0;
    for number in 0..2000u64 {
        let mut stream = Stream::new(&[1, number]);
        let first: Vec<bool> = (0..n * n).map(|_| stream.bits() & 1 == 0).collect();
        let outcome = board.filled(|cell| first[cell]).outcome().unwrap();
        let mirrored = board.filled(|cell| !first[(cell % n) * n + cell / n]).outcome().unwrap();
        assert_eq!(mirrored, outcome.reversed());
        wins += u32::from(outcome == Outcome::Win);
    }
    // so that random boards are won half the time; standard deviation 22
    assert!((900..1100).contains(&wins), "{wins}");
}

#[test]
fn a_full_board_of_y_has_one_winner() {
    for board in [Board::y(6).unwrap(), Board::bent_y(3, 2).unwrap(), Board::bent_y(2, 0).unwrap()] {
        for number in 0..2000u64 {
            let mut stream = Stream::new(&[2, number]);
            let first: Vec<bool> = (0..board.cells()).map(|_| stream.bits() & 1 == 0).collect();
            let outcome = board.filled(|cell| first[cell]).outcome().unwrap();
            let swapped = board.filled(|cell| !first[cell]).outcome().unwrap();
            assert_eq!(swapped, outcome.reversed());
        }
    }
}

#[test]
fn boards_have_the_right_cells() {
    let degrees = |board: &Board| {
        let mut count = [0; 7];
        (0..board.cells() as u16).for_each(|c| count[board.neighbours(c).len()] += 1);
        count
    };
    // the commercial board: 93 points, three of them with five neighbours, nine on each side
    let bent = Board::bent_y(5, 4).unwrap();
    assert_eq!(bent.cells(), 93);
    let inner: Vec<u16> = (0..93).filter(|&c| bent.edges(c) == 0).collect();
    assert_eq!(inner.iter().filter(|&&c| bent.neighbours(c).len() == 5).count(), 3);
    assert!(inner.iter().all(|&c| matches!(bent.neighbours(c).len(), 5 | 6)));
    for edge in 0..3 {
        assert_eq!((0..93).filter(|&c| bent.edges(c) >> edge & 1 == 1).count(), 9);
    }
    assert_eq!((0..93).filter(|&c| bent.edges(c).count_ones() == 2).count(), 3);
    assert_eq!(bent.neighbours(bent.action("d1").unwrap()).len(), 3);
    // straight: the corners have two neighbours, the rest of the border four
    assert_eq!(degrees(&Board::y(13).unwrap()), [0, 0, 3, 0, 33, 0, 55]);
    // Hex: two sharp corners, two blunt ones
    assert_eq!(degrees(&Board::hex(5).unwrap()), [0, 0, 2, 2, 12, 0, 9]);
    for board in [bent, Board::y(4).unwrap(), Board::hex(4).unwrap()] {
        for cell in 0..board.cells() as u16 {
            assert_eq!(board.action(&board.name(cell)), Some(cell));
            for &next in board.neighbours(cell) {
                assert!(next != cell && board.neighbours(next).contains(&cell));
            }
        }
    }
    assert!(Board::hex(0).unwrap_err().to_string().contains("1 to 26"));
    assert!(Board::y(27).is_err() && Board::bent_y(1, 3).is_err() && Board::bent_y(20, 7).is_err());
    let largest = Board::bent_y(2, 24).unwrap();
    assert_eq!(largest.cells(), 975);
    assert_eq!(largest.filled(|_| true).outcome(), Some(Outcome::Win));
}

#[test]
fn the_middle_of_a_straight_board_of_y_weighs_more() {
    // the finding of Raiko 2006, figure 3: "the straight board gives a large emphasis on the center"
    let spread = |board: Board| {
        let analysis = analyse(&board, &options(Heuristic::AllMovesAsFirst, 20_000)).unwrap();
        let rates: Vec<f64> = analysis.moves.iter().map(|m| m.tally.rate().unwrap()).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        (rates.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / rates.len() as f64).sqrt()
    };
    let (straight, bent) = (spread(Board::y(13).unwrap()), spread(Board::bent_y(5, 4).unwrap()));
    assert!(straight > 1.2 * bent, "{straight} {bent}");
}

#[test]
fn moves_without_play_outs_have_no_value() {
    assert_eq!(Tally::default().rate(), None);
    assert_eq!(Tally::default().smoothed_rate(), 0.5);
    let analysis = analyse(&Board::hex(5).unwrap(), &options(Heuristic::ExpectedOutcome, 3)).unwrap();
    assert!(analysis.moves.iter().filter(|m| m.tally.rate().is_none()).count() >= 22);
    assert!(analysis.best().is_some());
    // draws count half
    let mut tally = Tally::default();
    [Outcome::Draw, Outcome::Draw, Outcome::Win, Outcome::Loss].into_iter().for_each(|o| tally.add(o));
    assert_eq!(tally.rate(), Some(0.5));
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let board = Board::hex(4).unwrap();
    for heuristic in [Heuristic::ExpectedOutcome, Heuristic::AllMovesAsFirst, Heuristic::HigherOrder] {
        for noise in [None, Some(0.3)] {
            let options = PlayoutOptions { noise, ..options(heuristic, 3_000) };
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| analyse(&board, &options)).unwrap()
            };
            let (one, three) = (with(1), with(3));
            assert_eq!((&one.moves, one.total), (&three.moves, three.total));
            assert_eq!(one.table, three.table);
            let other = analyse(&board, &PlayoutOptions { seed: 7, ..options }).unwrap();
            assert_ne!(one.moves, other.moves);
        }
    }
}

#[test]
fn patterns_count_moves_made_after_them() {
    let game = TicTacToe::default();
    let x = |name: &str| made(&game, Side::First, game.action(name).unwrap());
    let o = |name: &str| made(&game, Side::Second, game.action(name).unwrap());
    let pattern = Pattern::new(vec![x("b2"), o("a1")]);
    let mut table = patterns::PatternTable::with(vec![pattern.clone(), Pattern::new(vec![x("c3")])], 9);
    // X b2, O a1, X c1, O b1, X a3: X wins on the diagonal
    table.count(&[x("b2"), o("a1"), x("c1"), o("b1"), x("a3")], Outcome::Win);
    let tally = |pattern: &Pattern, m| table.tally(pattern, m).map(|t| (t.plays, t.half_points));
    assert_eq!(tally(&Pattern::default(), x("b2")), Some((1, 2)));
    assert_eq!(tally(&Pattern::default(), o("b1")), Some((1, 0)));
    assert_eq!(tally(&pattern, x("c1")), Some((1, 2)));
    assert_eq!(tally(&pattern, o("b1")), Some((1, 0)));
    // b2 itself came before the pattern was complete; c3 was never made
    assert_eq!(tally(&pattern, x("b2")), Some((0, 0)));
    assert_eq!(tally(&Pattern::new(vec![x("c3")]), x("a3")), Some((0, 0)));
    assert_eq!(tally(&Pattern::new(vec![x("a2")]), x("a3")), None);
    assert!(pattern.extends(&Pattern::new(vec![o("a1")])) && !pattern.extends(&Pattern::default()));
}

#[test]
fn patterns_of_uniform_play_outs_agree_with_exact_values() {
    // after O's answer a1 to X's b2, X's c3 made next: eq. 3 counts it at any later time too, so only bounds are known;
    // but for the last but one cell order cannot matter: two cells are left, X takes one, O the other
    let game = position(TicTacToe::default(), "b2,a1,c1,a3,a2,c2").unwrap();
    let options = PlayoutOptions {
        patterns: PatternOptions { order: 1, min_plays: 1, ..PatternOptions::default() },
        ..options(Heuristic::HigherOrder, 20_000)
    };
    let table = analyse(&game, &options).unwrap().table;
    let x = |name: &str| made(&game, Side::First, game.action(name).unwrap());
    let after = |first: &str, then: u16| table.tally(&Pattern::new(vec![x(first)]), then).unwrap();
    // X b1 does not win; then O c3 leaves b3, which wins for X (b1, b2, b3); O b3 leaves c3: a draw
    let o = |name: &str| made(&game, Side::Second, game.action(name).unwrap());
    let (c3, b3) = (after("b1", o("c3")), after("b1", o("b3")));
    assert!(c3.plays > 1000 && b3.plays > 1000);
    assert_eq!((c3.rate(), b3.rate()), (Some(0.0), Some(0.5)));
}

#[test]
fn semi_random_play_outs_find_better_replies() {
    // O must answer the threat a1-b2 at c3; uniform play-outs know it, guided ones are surer of it
    let game = position(TicTacToe::default(), "a1,b1,b2").unwrap();
    let rate = |heuristic, noise| {
        let options = PlayoutOptions { noise, ..options(heuristic, 20_000) };
        let analysis = analyse(&game, &options).unwrap();
        assert_eq!(game.name(analysis.best().unwrap().action), "c3");
        analysis.moves.iter().filter(|m| game.name(m.action) == "a2").map(|m| m.tally.rate().unwrap()).sum::<f64>()
    };
    let (uniform, guided) = (rate(Heuristic::ExpectedOutcome, None), rate(Heuristic::ExpectedOutcome, Some(0.2)));
    assert!(guided < uniform, "{guided} {uniform}: X no longer misses its win by chance");
    assert!(rate(Heuristic::HigherOrder, Some(0.2)) < uniform);
}

#[test]
fn invalid_options_are_refused() {
    let game = TicTacToe::default();
    let refused = |options: PlayoutOptions| analyse(&game, &options).unwrap_err();
    let default = PlayoutOptions::default();
    assert_eq!(refused(PlayoutOptions { playouts: 0, ..default }), PlayoutError::NoPlayouts);
    assert_eq!(refused(PlayoutOptions { noise: Some(0.0), ..default }), PlayoutError::Noise(0.0));
    assert!(matches!(refused(PlayoutOptions { noise: Some(f64::NAN), ..default }), PlayoutError::Noise(_)));
    assert_eq!(refused(PlayoutOptions { rounds: 0, ..default }), PlayoutError::NoRounds);
    let patterns = PatternOptions { order: 5, ..PatternOptions::default() };
    assert!(matches!(refused(PlayoutOptions { patterns, ..default }), PlayoutError::Patterns { .. }));
    let over = position(game, "a1,a2,b1,b2,c1").unwrap();
    assert_eq!(analyse(&over, &default).unwrap_err(), PlayoutError::Over);
    assert_eq!(position(game, "a1,a1").unwrap_err(), "a1");
    assert!(exact(&Board::hex(4).unwrap()).unwrap_err().to_string().contains("16 open moves"));
}

#[test]
fn win_rates_pass_through_their_logit_and_back() {
    assert_eq!(score_of_win_rate(0.5), Some(0));
    // 600 ln 3
    assert_eq!(score_of_win_rate(0.75), Some(659));
    assert_eq!(score_of_win_rate(0.25), Some(-659));
    for none in [0.0, 1.0, -0.1, 1.1, f64::NAN] {
        assert_eq!(score_of_win_rate(none), None);
    }
    for rate in [0.001, 0.3, 0.5001, 0.999] {
        // half a centipawn is 0.0002 at the most
        assert!((win_rate_of_score(score_of_win_rate(rate).unwrap()) - rate).abs() < 2.1e-4);
    }
    assert!(score_of_win_rate(f64::MIN_POSITIVE).unwrap() > -500_000);
}

/// The win rate that [`score_of_win_rate`] turned into this score, up to its rounding.
fn win_rate_of_score(score_cp: i32) -> f64 {
    logistic(f64::from(score_cp) / CP_PER_LOGIT)
}

/// Games of Hex between two players of few play-outs; every position has a win rate and the result of the game.
fn self_play(games: u64) -> Vec<Observation> {
    let mut observations = Vec::new();
    for number in 0..games {
        let mut board = Board::hex(5).unwrap();
        let mut stream = Stream::new(&[99, number]);
        let mut seen = Vec::new();
        // two moves at random, so that no two games are the same
        let mut legal = Vec::new();
        for _ in 0..2 {
            board.legal(&mut legal);
            board.play(legal[stream.below(legal.len())]);
        }
        while board.outcome().is_none() {
            let options = PlayoutOptions { seed: stream.bits(), ..options(Heuristic::AllMovesAsFirst, 40) };
            let best = analyse(&board, &options).unwrap().best().unwrap();
            seen.push((board.mover(), score_of_win_rate(best.tally.smoothed_rate()).unwrap()));
            board.play(best.action);
        }
        for (side, score_cp) in seen {
            observations.push(Observation { game: number, score_cp, outcome: board.outcome_for(side).unwrap() });
        }
    }
    observations
}

#[test]
fn play_out_win_rates_are_calibrated_by_the_fits_of_engine_scores() {
    let observations = self_play(300);
    assert!(observations.len() > 5000);
    // log loss of the win rates as they are, and as the fitted sigmoid has them
    let loss = |rate: &dyn Fn(i32) -> f64| {
        let one = |o: &Observation| {
            let (y, p) = (o.outcome.value(), rate(o.score_cp));
            -(y * p.ln() + (1.0 - y) * (1.0 - p).ln())
        };
        observations.iter().map(one).sum::<f64>() / observations.len() as f64
    };
    let raw = loss(&win_rate_of_score);
    for method in Method::ALL {
        let fitted = fit(method, &observations, &FitOptions::default()).unwrap();
        let calibrated = loss(&|score| fitted.sigmoid.win_rate(f64::from(score)));
        // the better side's random opponent errs more than its real one: play-out win rates are too close to ½, so 600
        // w1 is above 1
        assert!(fitted.sigmoid.w1 * CP_PER_LOGIT > 1.05, "{method}: {:?}", fitted.sigmoid);
        // the reported value is the largest of about twenty noisy ones, and so too large
        assert!(fitted.sigmoid.w2 > 0.5, "{method}: {:?}", fitted.sigmoid);
        assert!(calibrated < raw, "{method}: {calibrated} {raw}");
    }
    // and where the win rates are right, the fit finds w1 = 1/600 and w2 = 0: outcomes drawn by the rates themselves
    let mut stream = Stream::new(&[5]);
    let drawn: Vec<Observation> = observations
        .iter()
        .enumerate()
        .map(|(i, o)| {
            let won = stream.unit() < win_rate_of_score(o.score_cp);
            Observation { game: i as u64, outcome: if won { Outcome::Win } else { Outcome::Loss }, ..*o }
        })
        .collect();
    let fitted = fit(Method::MaximumLikelihood, &drawn, &FitOptions::default()).unwrap();
    let [e1, e2] = fitted.standard_errors();
    assert!((fitted.sigmoid.w1 - 1.0 / CP_PER_LOGIT).abs() < 4.0 * e1, "{:?}", fitted.sigmoid);
    assert!(fitted.sigmoid.w2.abs() < 4.0 * e2, "{:?}", fitted.sigmoid);
}
