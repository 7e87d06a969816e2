//! The two ends of the council protocol over TCP, with real processes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::support::Folder;

struct Server {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut child = folder.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn until(&mut self, word: &str) -> Vec<String> {
        let mut all = Vec::new();
        while all.last().is_none_or(|line: &String| !line.starts_with(word)) {
            all.push(self.lines.next().expect("a line").unwrap());
        }
        all
    }
}

#[test]
fn an_engine_joins_a_server_and_plays() {
    let folder = Folder::new();
    folder.write("合言葉.txt", "himitsu\n");
    let secret = ["--password-file", "合言葉.txt"];
    let mut server =
        Server::start(&folder, &[&["serve", "--listen", "127.0.0.1:0", "--name", "技巧"], &secret[..]].concat());
    server.send("usi");
    let address = server.until("usiok")[0].rsplit(' ').next().unwrap().to_owned();

    let own = evalcurve_testkit::program();
    folder.run(&["join", &address, "--name", "誰", "--", own, "scripted-engine"]).ends(2).says(&["'誰'", "password"]);
    let engine = ["--", own, "scripted-engine", "--prefer", "7g7f", "--score", "120", "--lines", "3"];
    let arguments = [&["join", &address, "--name", "技巧"], &secret[..], &engine].concat();
    let mut program: Command = folder.command(&arguments);
    let mut program = program.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    server.send("isready");
    assert_eq!(server.until("readyok")[0], "info string 技巧 logged in");
    server.send("position startpos");
    server.send("go movetime 2000");
    let lines = server.until("bestmove");
    assert_eq!(lines.last().unwrap(), "bestmove 7g7f");
    assert_eq!(lines[0], "info multipv 1 score cp 120 pv 7g7f", "{lines:?}");
    server.send("quit");
    assert!(server.child.wait().unwrap().success());
    assert!(program.wait().unwrap().success());
}

#[test]
fn errors_have_a_remedy() {
    let folder = Folder::new();
    folder
        .run(&["serve", "--listen", "0.0.0.0:0"])
        .ends(2)
        .says(&["can be reached from other machines", "--password-file"]);
    folder.run(&["serve", "--game", "chess"]).ends(2).says(&["'chess'", "write shogi, minishogi or other-usi"]);
    folder.run(&["serve", "--listen", "nowhere"]).ends(2).says(&["cannot listen on 'nowhere'", "127.0.0.1:4081"]);
    folder.write("empty.txt", "\n");
    folder.run(&["serve", "--password-file", "empty.txt"]).ends(2).says(&["empty.txt", "first line is empty"]);
    folder.run(&["join", "127.0.0.1:1", "--name", "a", "--", "no/such/engine"]).ends(2).says(&["no/such/engine"]);
}

#[test]
fn a_program_that_logs_in_is_a_member_of_a_council() {
    let folder = Folder::new();
    let own = evalcurve_testkit::program();
    // a port that is free now
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let member = |name: &str, rest: &str| format!("[[engine]]\nname = \"{name}\"\n{rest}\n");
    let address = format!("127.0.0.1:{port}");
    // a council of an engine of its own and of a program that joins it; the lines of its first search
    let first_search = |head: &str, local: &str, joins: &[&str]| {
        let config = format!("{head}\n")
            + &member("local", &format!("command = '{own}'\nargs = {local}"))
            + &member("far away", &format!("listen = \"{address}\"\nlogin = \"遠\""));
        folder.write("council.toml", config);
        let mut council = Server::start(&folder, &["council", "council.toml"]);
        council.send("usi");
        council.until("usiok");
        let mut program = folder.command(&[&["join", &address, "--name", "遠", "--", own], joins].concat());
        let mut program = program.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        council.send("isready");
        council.until("readyok");
        council.send("position startpos");
        council.send("go movetime 3000");
        let lines = council.until("bestmove");
        council.send("quit");
        assert!(council.child.wait().unwrap().success());
        program.wait().unwrap();
        lines
    };
    let lines = first_search(
        "rule = \"optimistic\"",
        "[\"scripted-engine\", \"--prefer\", \"2g2f\", \"--score\", \"50\"]",
        &["scripted-engine", "--prefer", "7g7f", "--score", "120"],
    );
    assert!(lines.last().unwrap().starts_with("bestmove 7g7f"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("[O] 7g7f") && line.ends_with("far away")), "{lines:?}");

    // 5x5 shogi: both members get its initial position
    let lines = first_search(
        "game = \"minishogi\"\nrule = \"majority\"",
        "[\"minishogi-engine\", \"--depth\", \"1\"]",
        &["minishogi-engine", "--depth", "1"],
    );
    let of_both = |name: &str| lines.iter().filter(|line| line.contains("[O] ") && line.ends_with(name)).count();
    assert_eq!((of_both("local"), of_both("far away")), (1, 1), "{lines:?}");

    folder.write("blank.toml", member("far away", "listen = \"127.0.0.1:0\"").replace("[[", "rule = \"majority\"\n[["));
    folder.run(&["council", "blank.toml", "--check"]).ends(2).says(&["blank.toml:", "'far away'", "login ="]);
    folder.write("both.toml", member("a", "").replace("[[", "rule = \"majority\"\n[["));
    folder.run(&["council", "both.toml", "--check"]).ends(2).says(&["both.toml:", "needs a command, or listen"]);
}
