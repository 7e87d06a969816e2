//! Written games must be read back with the same scores, results and terminations.

use std::time::Duration;

use evalcurve_calibration::Score;
use evalcurve_calibration::types::{ANNOUNCED_MATE_CP, Color, Declared, Outcome, Termination};
use evalcurve_engine::usi::Position;
use evalcurve_engine::{Board, EngineConfig, Game, Limit, SearchResult};
use evalcurve_records::record::{self as records, Above, Format};
use evalcurve_words::random;

use super::{Header, extension, write};
use crate::play::ending::End;
use crate::play::game::{PlayedGame, PlayedMove};
use crate::play::tournament::Tournament;

fn tournament(game: Game, limit: Limit) -> Tournament {
    let engine = |name: &str| EngineConfig { name: name.to_owned(), limit: Some(limit), ..EngineConfig::default() };
    Tournament { game, engines: vec![engine("強い \"A\" 5"), engine("B:b {x}")], ..Tournament::default() }
}

/// A score of every kind that engines report.
fn score(keys: &[u64]) -> Option<Score> {
    match random::below(8, keys) {
        0 => None,
        1 => Some(Score::Cp(0.0)),
        2 => Some(Score::Mate { wins: random::below(2, &[keys[0], 7]) == 0, plies: Some(5) }),
        3 => Some(Score::Cp(31_000.0)),
        _ => Some(Score::Cp(random::below(4_001, &[keys[0], keys[1], 9]) as f64 - 2_000.0)),
    }
}

/// Rates with some moves.
fn declared(ply: usize) -> Option<Declared> {
    let win = ply as u16 % 100;
    (!ply.is_multiple_of(4)).then(|| Declared::try_from([win, 1_000 - 3 * win, 2 * win]).unwrap())
}

/// A game of random moves with random scores from a position.
fn game(of: Game, start: Option<&str>, opening: usize, plies: usize, seed: u64, end: End) -> (PlayedGame, Board) {
    let position = Position { start: start.map(str::to_owned), moves: Vec::new() };
    let (mut board, problem) = Board::new(of, &position);
    assert_eq!(problem, None);
    let first = board.side();
    let mut moves = Vec::new();
    for ply in 0..plies {
        let mut legal = board.legal_moves();
        legal.sort_unstable();
        let keys = [seed, ply as u64];
        let Some(text) = legal.get(random::below(legal.len() as u64, &keys) as usize) else { break };
        let written = board.record_text(text).unwrap();
        board.play(text);
        let found = || SearchResult {
            score: score(&[seed, ply as u64, 3]),
            declared: declared(ply),
            depth: (ply % 3 > 0).then_some(ply as u32),
            seldepth: (ply % 2 > 0).then_some(2 * ply as u32),
            nodes: (ply % 5 > 0).then_some(1_000 * ply as u64),
            nps: Some(900_000),
            pv: board.legal_moves().first().and_then(|m| board.record_text(m)).into_iter().collect(),
            time: Some(Duration::from_millis(1_234)),
            ..SearchResult::default()
        };
        let expected_nothing = ply % 4 == 1;
        let mut search = (ply >= opening).then(found);
        if let Some(found) = search.as_mut().filter(|_| expected_nothing) {
            found.pv.clear();
        }
        moves.push(PlayedMove { text: written, search });
    }
    (PlayedGame { start: position.start, first, moves, end, time: [Duration::ZERO; 2], processor_time: None }, board)
}

fn read(of: Game, text: &str) -> records::Game {
    let format = Format::detect(text.as_bytes()).unwrap();
    assert_eq!(format.name, extension(of));
    let read = format.games(text.as_bytes(), &Above::default()).next();
    if let Some(check) = format.verify {
        assert_eq!(check(text.as_bytes()), Ok(()), "{text}");
    }
    read.and_then(Result::ok).unwrap_or_else(|| panic!("unreadable: {text}"))
}

/// Ply, colour, score and whether it is a mate.
type Scored = (u32, Color, i32, bool);

#[test]
fn scores_are_read_back() {
    const SHOGI: &str = "lnsgkgsnl/1r5+B1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/7R1/LNSGKGSNL w b 4";
    const CHESS: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 3 12";
    const SMALL: &str = "rbsgk/4p/5/P4/KGSBR b - 1";
    for (of, starts) in
        [(Game::Shogi, [None, Some(SHOGI)]), (Game::Chess, [None, Some(CHESS)]), (Game::Minishogi, [None, Some(SMALL)])]
    {
        for (seed, start) in (0..40).zip(starts.into_iter().cycle()) {
            let limit = if seed % 2 == 0 { Limit::Depth(3) } else { Limit::MoveTime(2_000) };
            let tournament = tournament(of, limit);
            let header = Header { tournament: &tournament, players: [1, 0], round: (3, 2) };
            let end = End::draw(Termination::MaxMoves);
            let (played, _) = game(of, start, 4, 60, seed, end);
            let text = write(&header, &played);
            let read = read(of, &text);
            assert_eq!(read.names, ["B:b {x}", "強い \"A\" 5"]);
            assert_eq!(read.plies as usize, played.moves.len());
            let mut expected: Vec<Scored> = Vec::new();
            let mut expected_rates: Vec<(u32, Option<Declared>)> = Vec::new();
            for (ply, m) in (1..).zip(&played.moves) {
                let color = if ply % 2 == 1 { played.first } else { played.first.opponent() };
                match m.search.as_ref().and_then(|found| found.score) {
                    Some(Score::Cp(cp)) => expected.push((ply, color, cp as i32, false)),
                    Some(Score::Mate { wins, .. }) => {
                        let cp = if wins { ANNOUNCED_MATE_CP } else { -ANNOUNCED_MATE_CP };
                        // CSA has no sign for a mate but the number
                        expected.push((ply, color, cp, of == Game::Chess));
                    }
                    None => {}
                }
                // CSA has no place for them
                let rates = m.search.as_ref().filter(|found| of == Game::Chess && found.score.is_some());
                expected_rates.extend(rates.map(|found| (ply, found.declared)));
            }
            let rates: Vec<_> = read.scores.iter().map(|s| (s.ply, s.declared)).collect();
            assert!(of != Game::Chess || rates == expected_rates, "{text}");
            assert!(of == Game::Chess || rates.iter().all(|(_, rates)| rates.is_none()), "{text}");
            let found: Vec<Scored> = read.scores.iter().map(|s| (s.ply, s.color, s.score_cp, s.mate)).collect();
            assert_eq!(found, expected, "{text}");
            assert!(read.scores.iter().all(|s| !s.analysis) && read.oddities.is_empty(), "{:?}", read.oddities);
            assert!(expected.len() > 20 || played.moves.len() < 60);
            assert_eq!(read.time_control, if seed % 2 == 0 { "depth 3" } else { "movetime 2000 ms" });
        }
    }
}

#[test]
fn terminations_and_results_are_read_back() {
    use Termination as T;
    let both = [T::Resignation, T::Checkmate, T::TimeUp, T::IllegalMove, T::Abnormal, T::Adjudication];
    let of_shogi = [T::Declaration, T::IllegalDeclaration, T::Repetition, T::PerpetualCheck];
    for of in [Game::Shogi, Game::Chess, Game::Minishogi] {
        let tournament = tournament(of, Limit::Nodes(5));
        let header = Header { tournament: &tournament, players: [0, 1], round: (1, 1) };
        let shogi = of_shogi.iter().filter(|_| of != Game::Chess);
        for termination in both.iter().chain(shogi).copied() {
            for plies in [0, 1, 7, 8] {
                let detail = match termination {
                    T::TimeUp | T::IllegalMove | T::Abnormal => "ended {x}, crash | 1/2",
                    _ => "",
                };
                let (mut played, board) = game(of, None, 0, plies, 5, End::draw(T::Draw));
                // who can lose in this way
                let mover = board.side();
                let losers = match termination {
                    T::Declaration => vec![mover.opponent()],
                    T::Adjudication | T::PerpetualCheck | T::Repetition => vec![mover, mover.opponent()],
                    _ => vec![mover],
                };
                for loser in losers {
                    played.end = End::lost(termination, loser, detail);
                    let text = write(&header, &played);
                    let read = read(of, &text);
                    assert_eq!(read.termination, Some(termination), "{text}");
                    let black = if loser == Color::Black { Outcome::Loss } else { Outcome::Win };
                    assert_eq!(read.black_outcome, Some(black), "{text}");
                }
            }
        }
        for (termination, detail) in [
            (T::Repetition, ""),
            (T::MaxMoves, ""),
            (T::Adjudication, ""),
            (T::Draw, "stalemate"),
            (T::Draw, "fifty moves"),
        ] {
            if termination == T::Draw && of != Game::Chess {
                continue;
            }
            let end = End { detail: detail.to_owned(), ..End::draw(termination) };
            let text = write(&header, &game(of, None, 2, 9, 5, end).0);
            let read = read(of, &text);
            assert_eq!((read.termination, read.black_outcome), (Some(termination), Some(Outcome::Draw)), "{text}");
        }
    }
}

/// WDL_model's reader finds a comment only in the line of its move; cutechess and fastchess write mates in plies.
#[test]
fn a_move_and_its_comment_are_in_one_line() {
    let tournament = tournament(Game::Chess, Limit::Depth(3));
    let header = Header { tournament: &tournament, players: [0, 1], round: (1, 1) };
    let (mut played, _) = game(Game::Chess, None, 4, 60, 3, End::draw(Termination::MaxMoves));
    for (m, plies) in played.moves.iter_mut().skip(20).zip([1, 4, 7]) {
        let found = m.search.as_mut().unwrap();
        (found.score, found.depth) = (Some(Score::Mate { wins: plies % 2 == 1, plies: Some(plies) }), Some(9));
    }
    let text = write(&header, &played);
    let movetext: Vec<&str> = text.split("\n\n").nth(1).unwrap().lines().collect();
    assert!(movetext.len() > 10 && movetext.iter().all(|line| line.chars().count() <= 80 + 90), "{text}");
    assert!(!movetext.iter().any(|line| line.starts_with('{')), "{text}");
    // a number stays with its move, too
    assert!(!movetext.iter().any(|line| line.ends_with('.')), "{text}");
    for mate in ["{+M1/9", "{-M4/9", "{+M7/9"] {
        assert!(text.contains(mate), "{mate}: {text}");
    }
}

/// As fastchess writes `nodes`, `seldepth`, `nps` and `pv`; a speed belongs to limits of time.
#[test]
fn comments_say_how_an_engine_searched() {
    let of = |limit| {
        let tournament = tournament(Game::Chess, limit);
        let header = Header { tournament: &tournament, players: [0, 1], round: (1, 1) };
        let (mut played, _) = game(Game::Chess, None, 1, 4, 3, End::draw(Termination::MaxMoves));
        let found = played.moves[3].search.as_mut().unwrap();
        found.pv = vec!["e7e5".to_owned(), "g1f3".to_owned()];
        (found.score, found.depth, found.declared) = (Some(Score::Cp(-7.0)), Some(9), None);
        write(&header, &played)
    };
    let fixed = of(Limit::Depth(9));
    assert!(fixed.contains("{-0.07/9, n=3000, sd=6, pv=\"e7e5 g1f3\", Draw by "), "{fixed}");
    let timed = of(Limit::MoveTime(1_000));
    assert!(timed.contains("{-0.07/9 1.234s, n=3000, sd=6, nps=900000, pv=\"e7e5 g1f3\", Draw by "), "{timed}");
}

#[test]
fn chess960_is_read_back() {
    let tournament = Tournament { chess960: true, ..tournament(Game::Chess, Limit::Depth(3)) };
    let header = Header { tournament: &tournament, players: [0, 1], round: (1, 1) };
    for number in [0, 5, 100, 518, 959] {
        let start = Board::chess960_start(number);
        let (played, _) = game(Game::Chess, start.start.as_deref(), 2, 80, 11, End::draw(Termination::MaxMoves));
        let text = write(&header, &played);
        assert!(text.contains("[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \""), "{text}");
        let read = read(Game::Chess, &text);
        let scored = played.moves.iter().filter(|m| m.search.as_ref().is_some_and(|found| found.score.is_some()));
        assert_eq!((read.plies, read.scores.len()), (80, scored.count()), "{text}");
    }
    // the initial position of chess is one of them, and is named
    let (played, _) = game(Game::Chess, None, 2, 9, 11, End::draw(Termination::MaxMoves));
    assert!(write(&header, &played).contains("[FEN \"rnbqkbnr/"));
}
