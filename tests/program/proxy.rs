//! `evalcurve proxy`: the engine's bytes with other scores, between a GUI and engines that fail on demand.

use std::time::{Duration, Instant};

use evalcurve_testkit::program as testkit;
use serde_json::Value;

use crate::council::{Gui, calibration};
use crate::material::games;
use crate::support::Folder;

/// The arguments of a proxy before a scripted engine.
fn proxied<'a>(options: &[&'a str], engine: &[&'a str]) -> Vec<&'a str> {
    [&["proxy", "--calibration", "a.json"][..], options, &["--", testkit(), "scripted-engine"], engine].concat()
}

/// A folder with a calibration whose score 80 is 40 on the scale of 600.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("a.json", calibration(1200.0));
    folder
}

/// The number after `score cp` in the last of the lines.
fn last_score(lines: &[String]) -> i64 {
    let line = lines.iter().rfind(|l| l.contains(" score cp ")).expect("a score");
    line.split(" score cp ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
}

fn dialogue(folder: &Folder, arguments: &[&str], protocol: &str, position: &str) -> Vec<String> {
    let mut gui = Gui::new(folder, arguments);
    gui.ready(protocol);
    gui.best(position, "go movetime 100");
    gui.quit()
}

#[test]
fn scores_are_on_the_scale_of_the_gui() {
    let folder = folder();
    let engine = ["--prefer", "7g7f", "--score", "80", "--name", "将棋"];
    let score = |options: &[&str]| {
        let lines = dialogue(&folder, &proxied(options, &engine), "usi", "startpos");
        assert!(lines.contains(&"bestmove 7g7f".to_owned()) && lines.contains(&"id name 将棋".to_owned()), "{lines:?}");
        last_score(&lines)
    };
    assert_eq!(score(&[]), 40);
    assert_eq!(score(&["--equal", "--scale", "1200"]), 80);
    // the opponents take 0.4 logits
    assert_eq!(score(&["--field"]), 40 - 240);
    let lines = dialogue(&folder, &proxied(&["--wdl"], &engine), "usi", "startpos");
    // 1/(1 + exp(-80/1200)) = 0.51666
    assert!(lines.iter().any(|l| l.contains(" score cp 40 wdl 517 0 483")), "{lines:?}");
    // UCI: 80/1200 · 271.585 = 18.1
    let engine = ["--game", "chess", "--prefer", "e2e4", "--score", "80"];
    let lines = dialogue(&folder, &proxied(&[], &engine), "uci", "startpos");
    assert_eq!(last_score(&lines), 18);
    let mate = ["--score", "mate 5"];
    let lines = dialogue(&folder, &proxied(&["--wdl"], &mate), "usi", "startpos");
    assert!(lines.iter().any(|l| l.contains("score mate 5")) && lines.iter().all(|l| !l.contains("wdl")), "{lines:?}");
}

#[test]
fn a_model_by_material_follows_the_position() {
    let folder = Folder::new();
    folder.write("games.pgn", games(300));
    let fit = ["calibrate", "games.pgn", "--model", "wdl-material", "--out", "out", "--no-plots", "--quiet"];
    folder.good(&[&fit[..], &["--from-ply", "1", "--window", "10"]].concat());
    folder.write("a.json", folder.read("out/A.json"));
    let few = "fen 4k3/pppppppp/8/8/8/8/PPPPPPPP/R3K3 w Q - 0 40";
    for (position, material) in [("startpos", "78"), (few, "21"), (&format!("{few} moves a1b1 e8d8"), "21")] {
        let engine = ["--game", "chess", "--score", "90"];
        let lines = dialogue(&folder, &proxied(&["--wdl"], &engine), "uci", position);
        let ran = folder.good(&["winrate", "a.json", "90", "--material", material, "--json"]);
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        let value = &document["values"][0];
        let rate = value["win_rate"].as_f64().unwrap();
        let wanted = (rate / (1.0 - rate)).ln() / 0.003_682_08;
        assert_eq!(last_score(&lines), wanted.round() as i64, "{position}");
        let permille: Vec<String> = value["permille"].as_array().unwrap().iter().map(Value::to_string).collect();
        let wdl = format!(" wdl {}", permille.join(" "));
        assert!(lines.iter().any(|l| l.contains(&wdl)), "{wdl}: {lines:?}");
    }
}

/// With `cat` as the engine the GUI's own bytes come back.
#[cfg(unix)]
#[test]
fn every_byte_but_the_score_is_that_of_the_engine() {
    let folder = folder();
    let mut input = b"usi\r\nid name \xff\xfe\x00 \r\n\n  \ninfo string score cp 80\ninfo score cp x\n".to_vec();
    let long = ["info pv ", &"7g7f ".repeat(100_000), "score cp 80\n"].concat();
    input.extend_from_slice(long.as_bytes());
    input.extend_from_slice(b"\xe5\xb0\x86 score cp 80\ninfo score mate -3\ninfo depth 2");
    let ran = folder.command(&["proxy", "--calibration", "a.json", "--", "cat"]);
    assert_eq!(through(ran, &input), input);
    // a score among them
    let ran = folder.command(&["proxy", "--calibration", "a.json", "--", "cat"]);
    let found = through(ran, b"usi\ninfo\tscore  cp +80\tpv \xff\r\nquit\n");
    assert_eq!(found, b"usi\ninfo\tscore  cp 40\tpv \xff\r\nquit\n");
}

#[cfg(unix)]
fn through(mut command: std::process::Command, input: &[u8]) -> Vec<u8> {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output.stdout
}

#[test]
fn engines_that_fail_end_with_the_gui() {
    let folder = folder();
    // the GUI of these tests reads UTF-8; the bytes themselves are checked with `cat`
    for fault in ["hang", "garbage", "long-line", "no-info", "illegal", "resign", "ignore-stop", "slow"] {
        let mut gui = Gui::new(&folder, &proxied(&[], &["--score", "80", "--fault", fault, "--prefer", "7g7f"]));
        gui.ready("usi");
        gui.send("position startpos");
        gui.send("go movetime 200");
        if !matches!(fault, "hang" | "slow" | "ignore-stop") {
            gui.until("bestmove");
        }
        gui.send("stop");
        let start = Instant::now();
        gui.quit();
        assert!(start.elapsed() < Duration::from_secs(20), "{fault}");
    }
    for fault in ["crash", "close", "crash-at-start"] {
        let input = b"usi\nisready\nusinewgame\nposition startpos\ngo btime 0 wtime 0 byoyomi 200\n";
        let mut command = folder.command(&proxied(&[], &["--fault", fault]));
        // the GUI does not end its input: the engine is the one to end
        let mut child = command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = std::io::Write::write_all(&mut stdin, input);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{fault}: {err}");
        assert!(err.contains("ended before `quit`"), "{fault}: {err}");
    }
}

/// The proxy ends with its engine although a child of a session of its own holds the output, and not with a program
/// that only launches the engine.
#[cfg(target_os = "linux")]
#[test]
fn a_child_that_holds_the_output_does_not_hold_the_proxy() {
    let folder = folder();
    let engine = "while read -r w; do case $w in usi) echo usiok;; go) echo bestmove 7g7f;; quit) exit;; esac; done";
    let holds = format!("setsid sleep 30 & {engine}");
    let launches = format!("exec 3<&0; (sleep 0.5; {engine}) <&3 & exit");
    for (script, input) in [(&holds, "usi\ngo\nquit\n"), (&launches, "usi\ngo\nquit\n")] {
        let start = Instant::now();
        let command = folder.command(&["proxy", "--calibration", "a.json", "--", "sh", "-c", script]);
        let out = String::from_utf8(through(command, input.as_bytes())).unwrap();
        assert_eq!(out, "usiok\nbestmove 7g7f\n", "{script}");
        assert!(start.elapsed() < Duration::from_secs(20), "{script}");
    }
}

/// An engine that ignores the end of its input, and its child, end with the proxy.
#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left() {
    let folder = folder();
    let script = "sleep 1000 & echo $!; echo $$; exec sleep 1000";
    let command = folder.command(&["proxy", "--calibration", "a.json", "--", "sh", "-c", script]);
    let out = String::from_utf8(through(command, b"usi\n")).unwrap();
    let ids: Vec<&str> = out.lines().collect();
    assert_eq!(ids.len(), 2, "{out}");
    for id in ids {
        // init may need a moment to collect the child of the engine
        let state = || {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
        };
        let start = Instant::now();
        while state().is_some_and(|state| state != 'Z') {
            assert!(start.elapsed() < Duration::from_secs(10), "process {id} is left");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn wrong_use_is_refused() {
    let folder = folder();
    folder.run(&["proxy", "--calibration", "a.json"]).ends(2).says(&["ENGINE"]);
    folder.run(&["proxy", "--", "engine"]).ends(2).says(&["--calibration"]);
    folder.run(&["proxy", "--calibration", "none.json", "--", "engine"]).ends(2).says(&["none.json"]);
    let missing = ["proxy", "--calibration", "a.json", "--", "no/such/engine"];
    folder.run(&missing).ends(2).says(&["cannot start 'no/such/engine'", "check the path"]);
    for scale in ["0", "-5", "inf"] {
        let scale = format!("--scale={scale}");
        folder.run(&["proxy", "--calibration", "a.json", &scale, "--", "x"]).ends(2).says(&["above 0, such as 600"]);
    }
    folder.run(&["proxy", "--calibration", "a.json", "--equal", "--field", "--", "x"]).ends(2).says(&["--field"]);
}
