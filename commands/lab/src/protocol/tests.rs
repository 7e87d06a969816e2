//! Server and program over a loopback connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use evalcurve_engine::board::Game;

use super::*;

#[cfg(unix)]
#[cfg(test)]
mod joins;
#[cfg(test)]
mod searches;

/// Standard input and output of a server that runs in a thread.
struct Gui {
    input: Option<Sender<String>>,
    output: Receiver<String>,
    server: Option<JoinHandle<Result<(), ServeError>>>,
}

struct Lines {
    from: Receiver<String>,
    rest: Vec<u8>,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.rest.is_empty() {
            match self.from.recv() {
                Ok(line) => self.rest = format!("{line}\n").into_bytes(),
                Err(_) => return Ok(0),
            }
        }
        let n = self.rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&self.rest[..n]);
        self.rest.drain(..n);
        Ok(n)
    }
}

struct Pipe(Sender<String>, Vec<u8>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.1.extend_from_slice(bytes);
        while let Some(end) = self.1.iter().position(|&b| b == b'\n') {
            let line: Vec<u8> = self.1.drain(..=end).collect();
            let _ = self.0.send(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn options() -> ServeOptions {
    ServeOptions {
        listen: "127.0.0.1:0".to_owned(),
        game: Game::Shogi,
        name: None,
        password: None,
        password_file: None,
        login_ms: 20_000,
        answer_ms: 20_000,
        grace_ms: 20_000,
        book: false,
    }
}

impl Gui {
    fn new(options: ServeOptions) -> Self {
        let (input, from) = channel();
        let (to, output) = channel();
        let server = std::thread::spawn(move || {
            serve(&options, BufReader::new(Lines { from, rest: Vec::new() }), Pipe(to, Vec::new()))
        });
        Self { input: Some(input), output, server: Some(server) }
    }

    fn send(&self, line: &str) {
        self.input.as_ref().unwrap().send(line.to_owned()).unwrap();
    }

    fn receive(&self) -> String {
        self.output.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    fn until(&self, word: &str) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            all.push(self.receive());
            if all.last().unwrap().starts_with(word) {
                return all;
            }
        }
    }

    /// The address, from the greeting.
    fn address(&self) -> String {
        self.send("usi");
        self.until("usiok")[0].rsplit(' ').next().unwrap().to_owned()
    }

    fn end(mut self) -> Result<(), ServeError> {
        self.input = None;
        self.server.take().unwrap().join().unwrap()
    }
}

struct Program {
    stream: TcpStream,
    lines: BufReader<TcpStream>,
}

impl Program {
    fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self { stream, lines }
    }

    fn login(address: &str, line: &str) -> (Self, String) {
        let mut program = Self::connect(address);
        program.send(line);
        let answer = program.receive();
        (program, answer)
    }

    fn send(&mut self, text: &str) {
        self.stream.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// The next line; empty if the connection was closed.
    fn receive(&mut self) -> String {
        let mut line = String::new();
        let _ = self.lines.read_line(&mut line);
        line.trim_end().to_owned()
    }

    fn question(&mut self) -> Question {
        assert_eq!(self.receive(), "BEGIN Position");
        let lines: Vec<String> = std::iter::from_fn(|| Some(self.receive()).filter(|l| l != "END Position")).collect();
        Question::parse(&lines).unwrap()
    }
}

#[test]
fn a_program_that_logs_in_answers_for_the_engine() {
    let gui = Gui::new(ServeOptions { name: Some("gps".to_owned()), ..options() });
    let address = gui.address();
    gui.send("isready");
    assert_eq!(Program::login(&address, "LOGIN bonanza").1, "LOGIN:incorrect");
    assert_eq!(Program::login(&address, "USER gps").1, "LOGIN:incorrect");
    let (mut gps, answer) = Program::login(&address, "LOGIN gps");
    assert_eq!(answer, "LOGIN:gps OK");
    assert_eq!(gui.until("readyok"), ["info string gps logged in", "readyok"]);
    // one at a time
    assert_eq!(Program::login(&address, "LOGIN gps").1, "LOGIN:incorrect");

    gui.send("position startpos moves 7g7f");
    gui.send("go btime 60000 wtime 60000 byoyomi 1000");
    let question = gps.question();
    assert_eq!((question.time_ms, question.book), (3000, false));
    assert_eq!(question.position.to_sfen(), "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 1");
    gps.send("+2726FU,5");
    gps.send("-3334FU,120$depth 12");
    gps.send("-8384FU,95");
    gps.send("");
    assert_eq!(
        gui.until("bestmove"),
        [
            "info string gps: '+2726FU' is not a move in this position; write moves as +7776FU",
            "info multipv 1 score cp 120 pv 3c3d",
            "info string depth 12",
            "info multipv 2 score cp 95 pv 8c8d",
            "bestmove 3c3d"
        ]
    );

    // the answer to `go infinite` waits for `stop`, which takes an incomplete list
    gui.send("go infinite");
    gps.question();
    for rank in 1..=4 {
        gps.send(&format!("-{rank}3{rank}4FU,{}", -10 * rank));
    }
    gps.send("what?,1");
    assert_eq!(gui.receive(), "info string gps: 'what?' is not a move in this position; write moves as +7776FU");
    gui.send("stop");
    let lines = gui.until("bestmove");
    assert_eq!((lines.len(), lines[4].as_str()), (5, "bestmove 1c1d"));
    // five candidates complete the list, even after the answer
    gps.send("-5354FU,-50");
    // a resignation completes the list
    gui.send("go movetime 5000");
    gps.question();
    gps.send("%TORYO,-3000");
    assert_eq!(gui.until("bestmove"), ["bestmove resign"]);
    gui.send("quit");
    assert_eq!(gps.receive(), "LOGOUT");
    assert!(gui.end().is_ok());
}

#[test]
fn every_isready_gets_its_readyok() {
    let gui = Gui::new(options());
    let address = gui.address();
    gui.send("isready");
    gui.send("isready");
    // both are there before the login
    gui.send("go mate 1000");
    gui.until("checkmate");
    let _program = Program::login(&address, "LOGIN gps");
    gui.send("isready");
    gui.send("go mate 1000");
    let all = gui.until("checkmate");
    assert_eq!(all[..], ["info string gps logged in", "readyok", "readyok", "readyok", "checkmate notimplemented"]);
    gui.send("quit");
    assert!(gui.end().is_ok());
}

#[test]
fn strangers_and_programs_that_stall_are_dropped() {
    let gui = Gui::new(ServeOptions { password: Some("正しい".to_owned()), grace_ms: 0, ..options() });
    let address = gui.address();
    for wrong in ["LOGIN gps", "LOGIN gps 正し", "LOGIN gps 正しいぞ"] {
        assert_eq!(Program::login(&address, wrong).1, "LOGIN:incorrect");
    }
    // a connection that exceeds the line limit is closed
    let mut flood = Program::connect(&address);
    let _ = flood.stream.write_all(&vec![b'x'; 100_000]);
    let _ = flood.stream.write_all(b"\n");
    assert_eq!(flood.receive(), "");
    let (mut gps, answer) = Program::login(&address, "LOGIN gps 正しい");
    assert_eq!(answer, "LOGIN:gps OK");
    gui.send("isready");
    gui.until("readyok");
    gui.send("go movetime 50");
    gps.question();
    let error = gui.end_by_itself().unwrap_err().to_string();
    assert_eq!(error, "'gps' did not answer within 50 ms and was dropped");
    assert_eq!(gps.receive(), "LOGOUT");
}

impl Gui {
    /// The server ends without `quit`.
    fn end_by_itself(mut self) -> Result<(), ServeError> {
        self.server.take().unwrap().join().unwrap()
    }
}

#[test]
fn a_program_that_leaves_ends_the_server() {
    for last_line in ["LOGOUT", ""] {
        let gui = Gui::new(options());
        let (mut gps, _) = Program::login(&gui.address(), "LOGIN gps");
        gui.until("info string gps logged in");
        if last_line.is_empty() {
            drop(gps)
        } else {
            gps.send(last_line)
        }
        assert!(matches!(gui.end_by_itself(), Err(ServeError::Left { name, .. }) if name == "gps"));
    }
    // no program logs in
    let gui = Gui::new(ServeOptions { login_ms: 30, ..options() });
    gui.send("isready");
    assert!(matches!(gui.end_by_itself(), Err(ServeError::NoLogin(30))));
}

#[test]
fn other_machines_need_a_password() {
    let open = ServeOptions { listen: "0.0.0.0:0".to_owned(), ..options() };
    let run = |options| serve(&options, std::io::empty(), std::io::sink());
    assert!(matches!(run(open.clone()), Err(ServeError::NoPassword(_))));
    assert!(matches!(
        run(ServeOptions { password: Some(String::new()), ..open.clone() }),
        Err(ServeError::NoPassword(_))
    ));
    assert!(run(ServeOptions { password: Some("x".to_owned()), ..open }).is_ok());
    assert!(matches!(run(ServeOptions { listen: "nowhere".to_owned(), ..options() }), Err(ServeError::Listen { .. })));
}

#[test]
fn chess_is_refused() {
    let options = ServeOptions { game: Game::Chess, ..options() };
    assert!(matches!(serve(&options, std::io::empty(), std::io::sink()), Err(ServeError::NotUsi)));
}

#[test]
fn wrong_logins_are_slowed_down() {
    let gui = Gui::new(ServeOptions { password: Some("secret".to_owned()), ..options() });
    let address = gui.address();
    let start = std::time::Instant::now();
    for _ in 0..4 {
        assert_eq!(Program::login(&address, "LOGIN gps guess").1, "LOGIN:incorrect");
    }
    assert_eq!(Program::login(&address, "LOGIN gps secret").1, "LOGIN:gps OK");
    // the first is answered at once, and so is the first after a login
    assert!(start.elapsed() >= Duration::from_millis(2000), "{:?}", start.elapsed());
}

#[test]
fn silent_connections_hold_no_login_out() {
    let gui = Gui::new(options());
    let address = gui.address();
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let start = std::time::Instant::now();
    assert_eq!(Program::login(&address, "LOGIN gps").1, "LOGIN:gps OK");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    drop(silent);
}

#[test]
fn control_characters_do_not_reach_the_gui() {
    let gui = Gui::new(options());
    let (mut gps, answer) = Program::login(&gui.address(), "LOGIN g\u{7}");
    assert_eq!(answer, "LOGIN:g OK");
    assert_eq!(gui.receive(), "info string g logged in");
    gui.send("go movetime 15000");
    gps.question();
    gps.send("+7776FU,1$\u{1b}[2Jx\rbestmove resign\0\n");
    let lines = gui.until("bestmove");
    assert_eq!(lines[1], "info string [2Jx bestmove resign");
    assert_eq!(lines[2], "bestmove 7g7f");
    gui.send("quit");
    assert!(gui.end().is_ok());
}

/// Invalid lines without a pause are no answer.
#[test]
fn a_flood_does_not_put_the_deadline_off() {
    let gui = Gui::new(ServeOptions { grace_ms: 0, ..options() });
    let (mut gps, _) = Program::login(&gui.address(), "LOGIN gps");
    gui.until("info string gps logged in");
    gui.send("go movetime 300");
    gps.question();
    let flood = std::thread::spawn(move || {
        let lines = "?\n".repeat(10_000);
        while gps.stream.write_all(lines.as_bytes()).is_ok() {}
    });
    assert!(matches!(gui.end_by_itself(), Err(ServeError::Stalled { ms: 300, .. })));
    flood.join().unwrap();
}

/// An output that nothing reads.
struct Stuck(Receiver<()>);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if String::from_utf8_lossy(bytes).contains("logged in") {
            let _ = self.0.recv();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A program that floods waits until the GUI reads, and does not fill the memory.
#[test]
fn a_flood_waits_for_a_gui_that_does_not_read() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (input, from) = channel();
    let (release, stuck) = channel();
    let options = ServeOptions { listen: port.to_string(), ..options() };
    let server =
        std::thread::spawn(move || serve(&options, BufReader::new(Lines { from, rest: Vec::new() }), Stuck(stuck)));
    let mut gps = loop {
        match TcpStream::connect(port) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    gps.write_all(b"LOGIN gps\n").unwrap();
    gps.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let flood = "+7776FU,1$x\n".repeat(100_000);
    let written = (0..100).take_while(|_| gps.write_all(flood.as_bytes()).is_ok()).count();
    // the buffers of the system hold a few megabytes
    assert!(written < 60, "{} MB were accepted", written);
    drop(release);
    drop(input);
    let _ = server.join().unwrap();
}
