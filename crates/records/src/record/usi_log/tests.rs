use proptest::prelude::*;

use super::*;
use crate::record::work::LONGEST_GAME;

/// Games of a log, with how each was read.
fn games(text: &[u8]) -> Vec<Result<Game, SkipReason>> {
    FORMAT.games(text, &Above::default()).map(|read| read.map_err(|error| error.reason)).collect()
}

fn note(names: &mut EngineNames, text: &[u8]) {
    let mut above = Above { names: std::mem::take(names), ..Above::default() };
    FORMAT.note(text, &mut above);
    *names = above.names;
}

fn scores(game: &Game) -> Vec<(u32, Color, i32, bool)> {
    game.scores.iter().map(|s| (s.ply, s.color, s.score_cp, s.mate)).collect()
}

const CSHOGI: &str = "1:usi\n1:Fairy-Stockfish 11.1\n1:isready\n1:readyok\nA vs B start.\n1:usinewgame\n2:usinewgame\n\
1:position startpos\n1:go byoyomi 20\n1:info depth 1 multipv 1 score cp 96 nodes 30 pv 7g7f\n\
1:info depth 2 multipv 1 score cp 146 upperbound nodes 2847 pv 7g7f 5c5d\n1:bestmove 7g7f ponder 5c5d\n\
2:position startpos moves 7g7f\n2:go byoyomi 20\n2:info depth 1 score cp -94 pv 3c3d\n2:info depth 2 multipv 2 score \
        cp -300 pv 1c1d\n\
2:bestmove 3c3d\n1:position startpos moves 7g7f 3c3d\n1:bestmove 2g2f\n\
2:position startpos moves 7g7f 3c3d 2g2f\n2:info score mate -4 pv 1a1b\n2:bestmove resign\n\
1:gameover\n2:gameover\nまで3手で先手の勝ち\n1 of 2 games finished.\nB vs A start.\n2:position startpos\n\
2:info score cp 7 pv 2g2f\n2:bestmove 2g2f\nまで1手で千日手\n";

#[test]
fn a_match_of_cshogi() {
    let all = games(CSHOGI.as_bytes());
    let first = all[0].as_ref().unwrap();
    assert_eq!(first.names, ["A", "B"]);
    let (black, white) = (Color::Black, Color::White);
    // a bound and a second line do not count
    assert_eq!(scores(first), [(1, black, 96, false), (2, white, -94, false), (4, white, -100_000, true)]);
    assert_eq!((first.plies, first.book_moves), (3, 1));
    assert_eq!((first.black_outcome, first.termination), (Some(Outcome::Win), Some(Termination::Resignation)));
    let second = all[1].as_ref().unwrap();
    assert_eq!((second.names.each_ref().map(String::as_str), second.black_outcome), (["B", "A"], Some(Outcome::Draw)));
    assert_eq!(second.termination, Some(Termination::Repetition));
    assert_eq!(all.len(), 2);
    assert_ne!(first.id, second.id);
    assert!(Format::detect(CSHOGI.as_bytes()) == Some(&FORMAT));
    // cut before the second game
    let at = CSHOGI.find("B vs A").unwrap();
    assert_eq!(FORMAT.last_boundary(CSHOGI.as_bytes()), Some(at));
    // Japanese Windows
    let (sjis, ..) = encoding_rs::SHIFT_JIS.encode(CSHOGI);
    assert_eq!(games(&sjis)[0].as_ref().unwrap().black_outcome, Some(Outcome::Win));
}

#[test]
fn declared_rates_belong_to_the_last_exact_line() {
    let log = "Started game 1 of 1 (A vs B)\n5 >A(0): position startpos\n5 >A(0): go depth 9\n\
               5 <A(0): info depth 1 score cp 9 wdl 90 880 30 pv e2e4\n\
               5 <A(0): info depth 9 score cp 12 wdl 100 880 20 nodes 7 pv e2e4\n\
               5 <A(0): info depth 10 score cp 40 lowerbound wdl 300 690 10 pv e2e4\n5 <A(0): bestmove e2e4\n\
               6 >B(1): position startpos moves e2e4\n6 <B(1): info score cp -5 wdl 1 2 3\n6 <B(1): bestmove e7e5\n\
               Finished game 1 (A vs B): 1-0 {Black resigns}\n";
    let all = games(log.as_bytes());
    let game = all[0].as_ref().unwrap();
    let rates: Vec<_> = game.scores.iter().map(|s| (s.score_cp, s.declared.map(|rates| rates.to_string()))).collect();
    // numbers that do not sum to 1000 are no rates, and the score counts
    assert_eq!(rates, [(12, Some("100 880 20".to_owned())), (-5, None)]);
    assert!(game.chess && !games(CSHOGI.as_bytes())[0].as_ref().unwrap().chess);
}

#[test]
fn a_log_of_a_gui() {
    let log = "<1:id name Kifu\n<2:id name Other\n>1:usinewgame\n>2:usinewgame\n>2:position startpos\n>2:go\n<2:info \
    score cp 10\n\
<2:bestmove 7g7f ponder 3c3d\n>2:position startpos moves 7g7f 3c3d\n>2:go ponder\n<2:info score cp 99\n\
>1:position startpos moves 7g7f\n>1:go\n<1:info score cp 1 pv 4a3b\n<1:bestmove 4a3b\n>2:stop\n<2:bestmove 2g2f\n\
>2:position startpos moves 7g7f 4a3b\n>2:go ponder\n<2:info score cp 55\n>2:ponderhit\n<2:bestmove 2g2f\n\
>1:gameover lose\n>2:gameover win\n>1:usinewgame\n>2:usinewgame\n>1:position sfen 9/9/9/9/9/9/9/9/9 w - 12 moves 1a1b\n\
<1:info score cp -8\n<1:bestmove resign\n";
    let all = games(log.as_bytes());
    let first = all[0].as_ref().unwrap();
    assert_eq!(first.names, ["Other", "Kifu"]);
    // what was thought for a move that was not played is no score
    let (black, white) = (Color::Black, Color::White);
    assert_eq!(scores(first), [(1, black, 10, false), (2, white, 1, false), (3, black, 55, false)]);
    assert_eq!(first.black_outcome, Some(Outcome::Win));
    let second = all[1].as_ref().unwrap();
    assert_eq!((scores(second), second.plies_before), (vec![(2, black, -8, false)], 11));
    assert_eq!((second.black_outcome, second.termination), (Some(Outcome::Loss), Some(Termination::Resignation)));
    assert_eq!(second.names, ["Kifu", ""]);
    let home = "[2024-01-01T00:00:00.000] [INFO] usi - sid=2: < id name X\n[t] [INFO] usi - sid=2: > position \
    startpos\n\
[t] [INFO] usi - sid=2: < info score cp 33 pv 7g7f\n[t] [INFO] usi - sid=2: < bestmove 7g7f\n[t] [INFO] usi - sid=2: \
        > gameover draw\n";
    let game = games(home.as_bytes()).remove(0).unwrap();
    assert_eq!(
        (game.names[0].as_str(), scores(&game), game.black_outcome),
        ("X", vec![(1, black, 33, false)], Some(Outcome::Draw))
    );
    assert!(Format::detect(log.as_bytes()) == Some(&FORMAT) && Format::detect(home.as_bytes()) == Some(&FORMAT));
}

const CUTECHESS: &str = "Started game 1 of 2 (New vs Old)\n12 >New(0): ucinewgame\n12 >New(0): position startpos\n\
13 <New(0): info depth 3 score cp 40 pv e2e4\n14 <New(0): bestmove e2e4\n14 >Old(1): position startpos moves e2e4\n\
15 <Old(1): info depth 3 score mate 2 pv e7e5\n15 <Old(1): bestmove e7e5\nFinished game 1 (New vs Old): 0-1 {Black \
        mates}\n\
Started game 2 of 2 (Old vs New)\n16 >Old(1): position fen 8/8/8/8/8/8/8/8 b - - 0 40\n16 <Old(1): info score cp -5 \
        pv a7a5\n\
17 <Old(1): bestmove a7a5\nFinished game 2 (Old vs New): * {No result}\n";

#[test]
fn a_match_of_cutechess() {
    let all = games(CUTECHESS.as_bytes());
    let first = all[0].as_ref().unwrap();
    // the Black pieces move second
    assert_eq!(first.names, ["Old", "New"]);
    assert_eq!(scores(first), [(1, Color::White, 40, false), (2, Color::Black, 100_000, true)]);
    assert_eq!((first.black_outcome, first.termination), (Some(Outcome::Win), Some(Termination::Checkmate)));
    let second = all[1].as_ref().unwrap();
    assert_eq!((second.plies_before, second.termination), (79, Some(Termination::Interrupted)));
    assert_eq!(second.names, ["Old", "New"]);
    // two games at a time
    let mixed = "Started game 1 of 2 (A vs B)\nStarted game 2 of 2 (B vs A)\n1 >A(0): position startpos\n1 <A(0): \
    info score cp 1\n\
1 <A(0): bestmove e2e4\n1 >B(2): position startpos\n1 <B(2): bestmove e2e4\n1 >B(1): position startpos moves e2e4\n\
1 <B(1): bestmove e7e5\nFinished game 1 (A vs B): 1-0 {White mates}\n";
    assert!(matches!(games(mixed.as_bytes())[0], Err(SkipReason::BrokenRecord)));
    assert!(
        Format::detect(b"1:23 a clock\n2:34 another\n<html>\n") != Some(&FORMAT)
            && Format::detect(b"") != Some(&FORMAT)
    );
}

/// Game records that lie in folders with logs are not taken for one.
#[test]
fn other_texts_are_no_logs() {
    for text in ["[Event \"x\"]\n1. e4 e5 1-0\n", "V2.2\nN+A\nPI\n+\n+7776FU\n", "手合割：平手\n   1 ７六歩(77)\n"]
    {
        assert!(Format::detect(text.as_bytes()) != Some(&FORMAT), "{text}");
    }
    const { assert!(LONGEST_GAME > 1 << 20) };
}

#[test]
fn a_cut_loses_the_game_it_cuts_alone() {
    for log in [CSHOGI, CUTECHESS] {
        let whole: Vec<u64> = games(log.as_bytes()).into_iter().flatten().map(|g| g.id).collect();
        let second = log.rfind("Started").or_else(|| log.find("B vs A")).unwrap();
        for cut in 0..log.len() {
            let all = games(&log.as_bytes()[..cut]);
            if cut >= second {
                assert_eq!(all[0].as_ref().unwrap().id, whole[0], "cut at {cut}");
            }
            // a game that is cut is not decided by half a line
            assert!(all.len() <= 2);
        }
    }
}

#[test]
fn names_are_kept_for_later_games() {
    let game = |a: &str, b: &str| {
        format!(
            "{a} vs {b} start.\n>1:position startpos\n<1:bestmove 7g7f\n\
             >2:position startpos moves 7g7f\n<2:bestmove 3c3d\nまで2手で千日手\n"
        )
    };
    let own = "<1:id name 一番\n<2:id author name B\n<2:id name Second\n";
    let log = format!("{own}{}\n>1:usinewgame\n{}", game("A", "B"), game("A", "B").split_once('\n').unwrap().1);
    let all = games(log.as_bytes());
    assert_eq!(all[0].as_ref().unwrap().names, ["A", "B"]);
    assert_eq!(all[1].as_ref().unwrap().names, ["一番", "Second"]);
    // the second game alone, with what was noted above it
    let (first, second) = log.split_at(log.find("\n>1:usinewgame").unwrap());
    let mut above = Above::default();
    FORMAT.note(first.as_bytes(), &mut above);
    let game = FORMAT.games(second.as_bytes(), &above).next().unwrap().unwrap();
    assert_eq!(game, { all[1].clone().map(|found| Game { line: game.line, ..found }).unwrap() });
    // no more than a game can have engines
    let mut above = Above::default();
    (0..1_000).for_each(|i| FORMAT.note(format!("<k{i}:id name N{i}\n").as_bytes(), &mut above));
    let names = &above.names;
    assert_eq!(
        (names.get(b"k935"), names.get(b"k936"), names.get(b"k999")),
        (None, Some(&b"N936"[..]), Some(&b"N999"[..]))
    );
}

/// 64 names of 0.9 MB, cloned for every block of 1 MiB, took 0.9 GB.
#[test]
fn long_names_are_cut_and_shared() {
    let mut names = EngineNames::default();
    let (ascii, kanji) = ("n".repeat(1_000), "棋".repeat(1_000));
    let (sjis, _, _) = encoding_rs::SHIFT_JIS.encode(&kanji);
    for (key, name) in [("1", ascii.as_bytes()), ("2", kanji.as_bytes()), ("3", &[b"x", &sjis[..]].concat())] {
        note(&mut names, &[format!("<{key}:id name ").as_bytes(), name, b"\n"].concat());
    }
    let text = |key: &str| String::from_utf8(names.get(key.as_bytes()).unwrap().to_vec()).unwrap();
    assert_eq!(text("1"), ascii[..200]);
    assert_eq!(text("2"), "棋".repeat(66));
    assert_eq!(text("3"), format!("x{}", "棋".repeat(99)));
    let shared = names.clone();
    assert!(std::ptr::eq(names.get(b"1").unwrap(), shared.get(b"1").unwrap()));
    note(&mut names, b"<1:id name other\n");
    assert_eq!((names.get(b"1"), shared.get(b"1").map(<[u8]>::len)), (Some(&b"other"[..]), Some(200)));
    // the keys of ShogiHome are as short as those of the others
    let home = |length| format!("[t] [INFO] usi - sid={}: < id name A\n", "1".repeat(length));
    let known = |length| {
        let mut names = EngineNames::default();
        note(&mut names, home(length).as_bytes());
        names != EngineNames::default()
    };
    assert!(known(99) && !known(100));
}

/// The time is linear in the length of the log: each of these took minutes when it was not.
#[test]
fn long_logs_without_names_and_with_many_engines_are_read() {
    let game =
        ">1:usinewgame\n>1:position startpos\n<1:bestmove 7g7f\n>2:position startpos moves 7g7f\n<2:bestmove 3c3d\n";
    assert_eq!(games(game.repeat(50_000).as_bytes()).len(), 50_000);
    let engines: String = (0..200_000).map(|i| format!("<k{i}:info score cp 1\n>k{i}:position startpos\n")).collect();
    let begun = ">1:position startpos\n<1:bestmove 7g7f\n";
    let all = games(format!("{begun}{engines}").as_bytes());
    assert!(matches!(all[..], [Err(SkipReason::BrokenRecord)]), "{all:?}");
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        games(&bytes);
        let _ = Format::detect(&bytes);
        FORMAT.last_boundary(&bytes);
    }

    #[test]
    fn any_lines_are_read(words in proptest::collection::vec(proptest::sample::select(vec![
        "1:", "2:", ">1:", "<3(0):", "position ", "startpos", " moves", " 7g7f", "sfen x b - \
        1", "\n", "bestmove ", "resign",
        "info ", "score ", "cp ", "mate ", "-5 ", "multipv ", "go ponder", "ponderhit", "A vs B \
        start.", "まで3手で", "先手の勝ち",
        "gameover win", "usinewgame", "Started game 1 of 1 (", ")", "Finished game 1 (a vs b): 1-0",
    ]), 0..60)) {
        let text = words.concat();
        for game in games(text.as_bytes()).into_iter().flatten() {
            prop_assert!(game.scores.windows(2).all(|w| w[0].ply < w[1].ply));
        }
    }

    /// A changed byte in one game leaves the other as it was.
    #[test]
    fn one_changed_byte_costs_one_game(at in 0usize..900, byte in any::<u8>()) {
        let mut text = CUTECHESS.as_bytes().to_vec();
        let second = CUTECHESS.rfind("Started").unwrap();
        let at = at % text.len();
        text[at] = byte;
        let whole: Vec<u64> = games(CUTECHESS.as_bytes()).into_iter().flatten().map(|g| g.id).collect();
        let found: Vec<u64> = games(&text).into_iter().flatten().map(|g| g.id).collect();
        if at < second - 1 {
            prop_assert!(found.contains(&whole[1]), "{at} {byte}");
        } else if at > second + 40 {
            prop_assert!(found.contains(&whole[0]), "{at} {byte}");
        }
    }
}
