//! Positions and searches of a GUI that has its own order, and the answers of a program.

use super::*;

/// The program is asked about no other position instead.
#[test]
fn a_position_that_cannot_be_read_is_not_asked_about() {
    let gui = Gui::new(options());
    let (mut gps, _) = Program::login(&gui.address(), "LOGIN gps");
    gui.until("info string gps logged in");
    let not_asked = "info string the program is not asked: the position cannot be read";
    for (position, why) in [
        ("startpos moves 7g7f 3c3d foo", "move 3 of the position, 'foo', cannot be played"),
        ("sfen lnsgkgsnl/9 x - 1", "the position 'lnsgkgsnl/9 x - 1' cannot be read"),
    ] {
        gui.send(&format!("position {position}"));
        let said = gui.receive();
        assert!(said.starts_with(&format!("info string {why}; write ")), "{said}");
        gui.send("go movetime 15000");
        assert_eq!(gui.until("bestmove"), [not_asked, "bestmove resign"]);
        // this answer, too, waits for `stop`
        gui.send("go infinite");
        assert_eq!(gui.receive(), not_asked);
        gui.send("go mate 1");
        assert_eq!(gui.receive(), "checkmate notimplemented");
        gui.send("stop");
        assert_eq!(gui.receive(), "bestmove resign");
    }
    gui.send("position startpos");
    gui.send("go movetime 15000");
    assert_eq!(gps.question().position.to_sfen(), evalcurve_engine::board::position::STARTPOS);
    gps.send("%TORYO");
    gui.until("bestmove");
    // 20,000 moves are read; a line without end is not
    let shuffle = " 2h3h 8b7b 3h2h 7b8b".repeat(5_000);
    gui.send(&format!("position startpos moves{shuffle} 7g7f"));
    gui.send("go movetime 15000");
    assert!(gps.question().position.to_sfen().contains(" w "), "a long game");
    gps.send("%TORYO");
    gui.until("bestmove");
    gui.send(&format!("position startpos moves{}", shuffle.repeat(6)));
    assert_eq!(gui.receive(), "info string a line of 600023 bytes was discarded");
    gui.send("go movetime 15000");
    assert_eq!(gui.until("bestmove"), [not_asked, "bestmove resign"]);
    gui.send("quit");
    assert!(gui.end().is_ok());
}

/// `stop` and `ponderhit` count for a `go` that waits until the program has answered the question before it.
#[test]
fn a_search_that_waits_can_be_stopped() {
    let gui = Gui::new(options());
    let (mut gps, _) = Program::login(&gui.address(), "LOGIN gps");
    gui.until("info string gps logged in");
    // the GUI ignores the answer to an interrupted ponder, and its clock runs: it is answered before the program is
    let ponder_in_vain = |gps: &mut Program| {
        gui.send("position startpos");
        gui.send("go ponder");
        gps.question();
        gui.send("stop");
        gui.until("bestmove");
        gui.send("position startpos moves 7g7f");
    };
    for (go, release, longest_ms) in [("infinite", "stop", 1_000), ("ponder byoyomi 7000", "ponderhit", 7_000)] {
        ponder_in_vain(&mut gps);
        gui.send(&format!("go {go}"));
        gui.send(release);
        // a position that is sent later belongs to the next search
        gui.send("position startpos moves 2g2f");
        gui.send("go mate 1");
        gui.until("checkmate");
        gps.send("+2726FU,10\n");
        let question = gps.question();
        assert!(question.position.to_sfen().contains("/2P6/"), "{}", question.position.to_sfen());
        assert!((1..=longest_ms).contains(&question.time_ms), "{go}: {}", question.time_ms);
        gps.send("-3334FU,5\n");
        assert_eq!(gui.until("bestmove").last().unwrap(), "bestmove 3c3d", "{go}");
    }
    // every search gets its answer, in their order, even if the GUI does not wait for it
    ponder_in_vain(&mut gps);
    for go in ["ponder", "infinite"] {
        gui.send(&format!("go {go}"));
        gui.send("stop");
    }
    gui.send("go movetime 15000");
    assert_eq!((gui.receive(), gui.receive()), ("bestmove resign".to_owned(), "bestmove resign".to_owned()));
    gps.send("+2726FU,10\n");
    gps.question();
    gps.send("-3334FU,5\n");
    assert_eq!(gui.until("bestmove").last().unwrap(), "bestmove 3c3d");
    gui.send("go infinite");
    gps.question();
    gui.send("go movetime 15000");
    gps.send("-3334FU,5\n");
    assert_eq!(gui.until("bestmove").last().unwrap(), "bestmove 3c3d");
    gps.question();
    gps.send("-8384FU,5\n");
    assert_eq!(gui.until("bestmove").last().unwrap(), "bestmove 8c8d");
    gui.send("quit");
    assert!(gui.end().is_ok());
}

/// An answer after the end of a game would be the first move of the next one.
#[test]
fn a_search_ends_with_its_game() {
    let gui = Gui::new(options());
    let (mut gps, _) = Program::login(&gui.address(), "LOGIN gps");
    gui.until("info string gps logged in");
    for (go, end) in [("ponder", "gameover win"), ("movetime 15000", "gameover lose"), ("infinite", "usinewgame")] {
        gui.send("position startpos");
        gui.send(&format!("go {go}"));
        gps.question();
        // a second one waits for the answer to the first
        gui.send("go movetime 15000");
        gui.send(end);
        let ends: Vec<String> = (0..2).map(|_| gui.receive()).collect();
        assert_eq!(ends, ["bestmove resign", "bestmove resign"], "{go}");
        gui.send("position startpos moves 7g7f");
        gui.send("go movetime 15000");
        gps.send("+2726FU,10\n");
        let question = gps.question();
        assert!(question.position.to_sfen().contains("/2P6/"), "{}", question.position.to_sfen());
        gps.send("-3334FU,5\n");
        assert_eq!(gui.until("bestmove").last().unwrap(), "bestmove 3c3d", "{go}");
    }
    gui.send("quit");
    assert!(gui.end().is_ok());
}

/// The program does not learn of `ponderhit`: its answer must be there in time all the same.
#[test]
fn ponder_has_the_time_of_the_move() {
    let gui = Gui::new(ServeOptions { grace_ms: 0, ..options() });
    let (mut gps, _) = Program::login(&gui.address(), "LOGIN gps");
    gui.until("info string gps logged in");
    gui.send("position startpos");
    gui.send("go ponder btime 0 wtime 0 byoyomi 5000");
    assert_eq!(gps.question().time_ms, 5_000);
    gps.send("+7776FU,10\n");
    // the answer waits for `ponderhit`
    std::thread::sleep(Duration::from_millis(200));
    gui.send("go mate 1");
    assert_eq!(gui.receive(), "checkmate notimplemented");
    gui.send("ponderhit");
    assert_eq!(gui.until("bestmove").last().unwrap(), "bestmove 7g7f");
    // an answer later than that time does not count
    gui.send("go ponder btime 0 wtime 0 byoyomi 300");
    gps.question();
    gui.send("ponderhit");
    assert!(matches!(gui.end_by_itself(), Err(ServeError::Stalled { ms: 300, .. })));
}

#[test]
fn illegal_answers_do_not_reach_the_gui() {
    let gui = Gui::new(options());
    let (mut gps, _) = Program::login(&gui.address(), "LOGIN gps");
    gui.until("info string gps logged in");
    let mut rejected = |position: &str, line: &str, why: &str, legal: &str, best: &str| {
        gui.send(&format!("position {position}"));
        gui.send("go movetime 15000");
        gps.question();
        gps.send(line);
        gps.send(&format!("{legal}\n"));
        let lines = gui.until("bestmove");
        assert_eq!((lines[0].as_str(), lines.last().unwrap().as_str()), (why, best));
        lines.len()
    };
    // the bishop jumps
    let why = "info string gps: '+8822UM' is illegal in this position";
    assert_eq!(rejected("startpos", "+8822UM,10", why, "+7776FU,5", "bestmove 7g7f"), 3);
    let why = "info string gps: '%KACHI' is no valid declaration in this position (27-point rule)";
    rejected("startpos", "%KACHI", why, "+7776FU,5", "bestmove 7g7f");
    // 5x5 shogi: two pawns on a file
    let why = "info string gps: '+0053FU' is illegal in this position";
    rejected("sfen rbsgk/5/5/P4/KGSB1 b RP 1", "+0053FU,1", why, "+5453FU,5", "bestmove 5d5c");
    // as in a council, moves are not checked after a position that is not of the game
    for (position, problem) in [
        ("startpos moves 7g7e", "move 1 of the position, '7g7e', is illegal; moves are not checked"),
        ("sfen 9/9/9/9/9/9/9/9/1B7 w - 1 moves", "is not shogi"),
    ] {
        gui.send(&format!("position {position}"));
        assert!(gui.receive().contains(problem), "{position}");
    }
    gui.send("position sfen 9/9/9/9/9/9/9/9/1B7 b - 1");
    gui.send("go movetime 15000");
    gps.question();
    gps.send("+8928KA,10\n");
    assert_eq!(gui.until("bestmove").last().unwrap(), "bestmove 8i2h");
    gui.send("quit");
    assert!(gui.end().is_ok());
}
