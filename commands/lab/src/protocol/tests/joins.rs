//! Engines that are shell scripts join a server.

use super::*;

#[test]
fn a_usi_engine_joins() {
    // an engine as a shell script: info lines, then the move
    let script = r#"
while read -r line; do case "$line" in
usi) echo "option name MultiPV type spin default 1 min 1 max 9"; echo usiok;;
isready) echo readyok;;
position*) echo "info string $line";;
"go movetime "*) echo "info depth 3 multipv 2 score cp 10 pv 2g2f"
  echo "info depth 4 multipv 1 score mate 7 pv 7g7f 3c3d"
  echo "info depth 5 multipv 1 score cp 99 lowerbound pv 7g7f"; echo "bestmove 7g7f";;
quit) exit;; esac; done"#;
    let gui = Gui::new(ServeOptions { password: Some("p".to_owned()), ..options() });
    let options = JoinOptions {
        server: gui.address(),
        name: "shell".to_owned(),
        password: "p".to_owned(),
        password_file: None,
        engine: evalcurve_engine::usi::Launch {
            command: "sh".into(),
            args: vec!["-c".into(), script.into()],
            directory: None,
            environment: Vec::new(),
        },
        options: vec![("Hash".to_owned(), "16".to_owned())],
        go: None,
        margin_ms: 10,
    };
    let wrong = JoinOptions { password: String::new(), ..options.clone() };
    assert!(matches!(join(&wrong), Err(JoinError::Refused(name)) if name == "shell"));
    let program = std::thread::spawn(move || join(&options));
    gui.send("isready");
    gui.until("readyok");
    gui.send("position startpos");
    gui.send("go byoyomi 3000");
    assert_eq!(
        gui.until("bestmove"),
        [
            // a mate in seven, as a number beyond every mate threshold
            "info multipv 1 score cp 99993 pv 7g7f",
            "info string depth 4",
            "info multipv 2 score cp 10 pv 2g2f",
            "info string depth 3",
            "bestmove 7g7f"
        ]
    );
    gui.send("quit");
    assert!(gui.end().is_ok());
    assert!(program.join().unwrap().is_ok());
}

/// An engine as a shell script; `go` is what it does for a `go` command.
fn shell_engine(server: String, go: &str) -> JoinOptions {
    let script = format!(
        "while read -r line; do case \"$line\" in usi) echo usiok;; isready) echo readyok;; go*) {go};; quit) exit;; \
         esac; done"
    );
    JoinOptions {
        server,
        name: "shell".to_owned(),
        password_file: None,
        password: String::new(),
        engine: evalcurve_engine::usi::Launch {
            command: "sh".into(),
            args: vec!["-c".into(), script.into()],
            ..Default::default()
        },
        options: Vec::new(),
        go: None,
        margin_ms: 10,
    }
}

/// Like GPSShogi, which ends at `go movetime` and keeps to byoyomi.
#[test]
fn an_engine_that_ends_at_movetime_gets_byoyomi() {
    let gui = Gui::new(options());
    let go = "case \"$line\" in *movetime*) exit 1;; *byoyomi*) echo bestmove 7g7f;; esac";
    let options = shell_engine(gui.address(), go);
    let program = std::thread::spawn(move || join(&options));
    gui.send("isready");
    gui.until("readyok");
    gui.send("position startpos");
    gui.send("go byoyomi 3000");
    assert_eq!(gui.until("bestmove").last().map(String::as_str), Some("bestmove 7g7f"));
    gui.send("quit");
    assert!(gui.end().is_ok() && program.join().unwrap().is_ok());
}

#[test]
fn an_engine_that_plays_an_illegal_move_leaves() {
    let gui = Gui::new(options());
    let options = shell_engine(gui.address(), "echo bestmove 9i1a+");
    let program = std::thread::spawn(move || join(&options));
    gui.send("isready");
    gui.until("readyok");
    gui.send("go movetime 15000");
    let start = std::time::Instant::now();
    let error = program.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("it played '9i1a+', which is illegal in the position lnsgkgsnl/"), "{error}");
    // the server does not wait for the answer
    assert!(matches!(gui.end_by_itself(), Err(ServeError::Left { name, .. }) if name == "shell"));
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// The board that the engine gets shows the game.
#[test]
fn an_engine_joins_for_5x5_shogi() {
    for (moves, why) in [
        ("echo info multipv 2 score cp 3 pv 5d5b; echo info multipv 1 score cp 9 pv 5d5c; echo bestmove 5d5c", None),
        ("echo bestmove 5d5b", Some("it played '5d5b', which is illegal in the position rbsgk/4p/5/P4/KGSBR b")),
        ("echo bestmove win", Some("it played 'win', which is not valid in the position rbsgk/")),
    ] {
        let gui = Gui::new(ServeOptions { game: Game::Minishogi, ..options() });
        let options = shell_engine(gui.address(), moves);
        let program = std::thread::spawn(move || join(&options));
        gui.send("isready");
        gui.until("readyok");
        gui.send("go movetime 15000");
        if let Some(why) = why {
            let error = program.join().unwrap().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            continue;
        }
        // the illegal line is left out
        assert_eq!(gui.until("bestmove"), ["info multipv 1 score cp 9 pv 5d5c", "bestmove 5d5c"]);
        gui.send("quit");
        assert!(gui.end().is_ok() && program.join().unwrap().is_ok());
    }
}

#[test]
fn sixty_thousand_ranks_are_no_burden() {
    let gui = Gui::new(options());
    let lines =
        "awk 'BEGIN { for (i = 1; i <= 60000; i++) print \"info depth 9 multipv \" i \" score cp 5 pv 7g7f\" }'";
    let options = shell_engine(gui.address(), &format!("{lines}; echo bestmove 7g7f"));
    let program = std::thread::spawn(move || join(&options));
    gui.send("isready");
    gui.until("readyok");
    let start = std::time::Instant::now();
    gui.send("go movetime 15000");
    assert_eq!(gui.until("bestmove").last().unwrap(), "bestmove 7g7f");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    gui.send("quit");
    assert!(gui.end().is_ok() && program.join().unwrap().is_ok());
}

#[test]
fn a_server_that_does_not_answer_the_login_is_left() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let options = shell_engine(listener.local_addr().unwrap().to_string(), "echo bestmove 7g7f");
    let error = join(&options).unwrap_err();
    assert!(matches!(error, JoinError::NoAnswer { .. }), "{error}");
}
