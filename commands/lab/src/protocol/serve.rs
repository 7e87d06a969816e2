//! The server's side: a USI engine whose moves come from a program that logs in.

use std::io::{BufRead, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use evalcurve_engine::usi::{self, FromGui, LineReader, Protocol, ReadLine};
use evalcurve_engine::{GUI_LINE_BYTES, forward, wait};

use super::login::{LINE_BYTES, Listener};
use super::message::{Candidate, MOST_CANDIDATES, Question, is_move};
use super::options::{Event, ServeError, ServeOptions};
use super::search::{Search, Setup};

/// Lines that wait to be processed. A program or a GUI that floods its output waits for the queue.
const QUEUE_CAPACITY: usize = 256;
/// A pause of this length ends a list of fewer than five candidates.
const PAUSE: Duration = Duration::from_millis(100);
/// Invalid lines to report per answer.
const MOST_NOTES: u32 = 5;

/// Reads USI commands from `input` and lets one program at a time answer them, until `quit` or the end of the input.
///
/// # Errors
/// The address cannot be used, or the program did not log in, left, or stalled. The caller can start the server again.
pub fn serve(
    options: &ServeOptions,
    input: impl BufRead + Send + 'static,
    output: impl Write,
) -> Result<(), ServeError> {
    if options.game.protocol() == Protocol::Uci {
        return Err(ServeError::NotUsi);
    }
    let (sender, events) = sync_channel(QUEUE_CAPACITY);
    let listener = Listener::open(options, sender.clone())?;
    forward(LineReader::with_limit(input, GUI_LINE_BYTES), sender, |line| match line {
        Some((ReadLine::Text(text), _)) => Event::Gui(FromGui::parse(&text)),
        Some((ReadLine::TooLong(bytes), _)) => Event::TooLong(bytes),
        None => Event::GuiClosed,
    });
    let mut server = Server {
        options,
        output,
        address: listener.address,
        client: None,
        setup: Setup::read(options.game, &usi::Position::default()).ok().map(|(setup, _)| setup),
        ready_until: None,
        ready_owed: 0,
        question: None,
        next: None,
    };
    let end = server.run(&events);
    if let Some(client) = server.client {
        close(client.stream, b"LOGOUT\n");
    }
    end
}

/// Sends a last line and closes the connection, which may be broken already.
fn close(mut stream: TcpStream, line: &[u8]) {
    let _ = stream.write_all(line);
    let _ = stream.shutdown(Shutdown::Both);
}

struct Client {
    connection: usize,
    name: String,
    stream: TcpStream,
}

/// A search whose question was sent to the program, and the answer so far.
struct Pending {
    search: Search,
    candidates: Vec<Candidate>,
    complete: bool,
    /// When the program is dropped if it has sent no candidate.
    until: Instant,
    allowed_ms: u64,
    /// When the list ends if no more candidates arrive.
    pause_until: Option<Instant>,
    /// Whether the GUI still waits for the answer.
    wanted: bool,
    notes: u32,
}

impl Pending {
    /// A question that the program must answer within `time_ms` and a grace, in milliseconds.
    fn new(search: Search, time_ms: u64, grace_ms: u64) -> Self {
        let allowed_ms = time_ms.saturating_add(grace_ms);
        Self {
            search,
            candidates: Vec::new(),
            complete: false,
            until: Instant::now() + Duration::from_millis(allowed_ms),
            allowed_ms,
            pause_until: None,
            wanted: true,
            notes: 0,
        }
    }

    /// Whether the program has sent no candidate yet. After the first, a pause ends the list.
    fn must_answer(&self) -> bool {
        !self.complete && self.candidates.is_empty()
    }
}

struct Server<'a, W> {
    options: &'a ServeOptions,
    output: W,
    address: SocketAddr,
    client: Option<Client>,
    /// The position of the GUI; `None` if it cannot be read.
    setup: Option<Setup>,
    /// When the program must have logged in; `None` unless `isready` waits for it.
    ready_until: Option<Instant>,
    /// How many times the GUI waits for `readyok`.
    ready_owed: usize,
    question: Option<Pending>,
    /// A search that waits for the end of the previous answer.
    next: Option<Search>,
}

impl<W: Write> Server<'_, W> {
    fn run(&mut self, events: &Receiver<Event>) -> Result<(), ServeError> {
        loop {
            let question = self.question.as_ref();
            let deadlines = [
                self.ready_until,
                question.filter(|question| question.must_answer()).map(|question| question.until),
                question.and_then(|question| question.pause_until),
            ];
            match wait(events, deadlines.into_iter().flatten().min()) {
                Some(Event::Gui(FromGui::Quit) | Event::GuiClosed) => return Ok(()),
                Some(Event::Gui(command)) => self.on_gui(command)?,
                Some(Event::TooLong(bytes)) => {
                    writeln!(self.output, "info string a line of {bytes} bytes was discarded")?;
                    // it may have been a position: the program is asked about no other one instead
                    self.setup = None;
                }
                Some(Event::LoggedIn { connection, name, stream }) => self.on_login(connection, name, stream)?,
                Some(Event::Line { connection, line }) => self.on_line(connection, line)?,
                Some(Event::Left { connection, why }) => {
                    if let Some(client) = self.client.take_if(|client| client.connection == connection) {
                        return Err(ServeError::Left { name: client.name, why });
                    }
                }
                None => {}
            }
            // also after an event: a program that floods its output cannot put a deadline off
            self.on_deadline(Instant::now())?;
            self.output.flush()?;
        }
    }

    fn on_deadline(&mut self, now: Instant) -> Result<(), ServeError> {
        if self.ready_until.is_some_and(|until| now >= until) {
            return Err(ServeError::NoLogin(self.options.login_ms));
        }
        let Some(question) = &self.question else { return Ok(()) };
        if question.pause_until.is_some_and(|until| now >= until) {
            return self.complete();
        }
        if question.must_answer() && now >= question.until {
            let name = self.client.as_ref().map_or_else(String::new, |client| client.name.clone());
            return Err(ServeError::Stalled { name, ms: question.allowed_ms });
        }
        Ok(())
    }

    fn on_login(&mut self, connection: usize, name: String, mut stream: TcpStream) -> Result<(), ServeError> {
        if self.client.is_some() {
            close(stream, b"LOGIN:incorrect\n");
            return Ok(());
        }
        if stream.write_all(format!("LOGIN:{name} OK\n").as_bytes()).is_err() {
            return Ok(());
        }
        writeln!(self.output, "info string {name} logged in")?;
        self.client = Some(Client { connection, name, stream });
        self.ready_until = None;
        for _ in 0..std::mem::take(&mut self.ready_owed) {
            writeln!(self.output, "readyok")?;
        }
        Ok(())
    }

    fn on_gui(&mut self, command: FromGui) -> Result<(), ServeError> {
        match command {
            FromGui::Greeting(Protocol::Usi) => {
                let name = self.options.name.as_deref().unwrap_or("program");
                writeln!(self.output, "id name {name} at {}\nid author evalcurve\nusiok", self.address)?;
            }
            FromGui::Greeting(Protocol::Uci) => return Err(ServeError::NotUsi),
            FromGui::IsReady if self.client.is_some() => writeln!(self.output, "readyok")?,
            FromGui::IsReady => {
                self.ready_owed += 1;
                let until = Instant::now() + Duration::from_millis(self.options.login_ms);
                self.ready_until.get_or_insert(until);
            }
            FromGui::Position(given) => {
                let (setup, problem) = match Setup::read(self.options.game, &given) {
                    Ok((setup, problem)) => (Some(setup), problem),
                    Err(why) => (None, Some(why)),
                };
                if let Some(problem) = problem {
                    writeln!(self.output, "info string {problem}")?;
                }
                self.setup = setup;
            }
            FromGui::Go(go) if go.mate.is_some() => writeln!(self.output, "checkmate notimplemented")?,
            FromGui::Go(go) => self.go(Search::new(go, self.setup.clone(), Instant::now()))?,
            FromGui::Stop => self.stop()?,
            FromGui::PonderHit => self.ponder_hit(Instant::now())?,
            FromGui::NewGame | FromGui::GameOver(_) => self.end_search()?,
            _ => {}
        }
        Ok(())
    }

    /// Asks the program, as soon as its previous answer has ended.
    fn go(&mut self, search: Search) -> Result<(), ServeError> {
        if self.question.as_ref().is_some_and(|question| question.wanted && question.search.is_held()) {
            // GUIs do not do this; the newer command counts
            self.stop()?;
        }
        if self.question.as_ref().is_none_or(|question| question.complete) {
            return self.ask(search);
        }
        if self.next.replace(search).is_some_and(|before| before.stopped) {
            // the GUI may wait for it, and ignores it
            writeln!(self.output, "bestmove resign")?;
        }
        Ok(())
    }

    fn ask(&mut self, search: Search) -> Result<(), ServeError> {
        let Some(client) = &mut self.client else { return self.resign(search, "no program is logged in") };
        let Some(position) = search.setup.as_ref().map(|setup| setup.position.clone()) else {
            return self.resign(search, "the program is not asked: the position cannot be read");
        };
        let time_ms = search.time_ms(position.side(), self.options.answer_ms, Instant::now());
        let question = Question { position, book: self.options.book, time_ms };
        if let Err(error) = client.stream.write_all(question.to_text().as_bytes()) {
            return Err(ServeError::Left { name: client.name.clone(), why: error.to_string() });
        }
        self.question = Some(Pending::new(search, time_ms, self.options.grace_ms));
        Ok(())
    }

    /// Answers a search that the program cannot be asked about, as soon as the GUI wants the answer.
    fn resign(&mut self, search: Search, why: &str) -> Result<(), ServeError> {
        writeln!(self.output, "info string {why}")?;
        self.question = Some(Pending::new(search, 0, 0));
        self.complete()
    }

    fn on_line(&mut self, connection: usize, line: ReadLine) -> Result<(), ServeError> {
        let Some(client) = self.client.as_ref().filter(|client| client.connection == connection) else {
            return Ok(());
        };
        let left = |why: String| Err(ServeError::Left { name: client.name.clone(), why });
        let text = match line {
            ReadLine::Text(text) => text,
            ReadLine::TooLong(bytes) => return left(format!("a line has {bytes} bytes, {LINE_BYTES} are allowed")),
        };
        if text.trim() == "LOGOUT" {
            return left("it logged out".to_owned());
        }
        let Some(question) = self.question.as_mut().filter(|question| !question.complete) else { return Ok(()) };
        if text.trim().is_empty() {
            return if question.candidates.is_empty() { Ok(()) } else { self.complete() };
        }
        let Some(setup) = &question.search.setup else { return Ok(()) };
        match setup.candidate(&text) {
            Ok(candidate) => {
                let last = !is_move(&candidate.best);
                question.candidates.push(candidate);
                question.pause_until = Some(Instant::now() + PAUSE);
                if last || question.candidates.len() == MOST_CANDIDATES {
                    return self.complete();
                }
            }
            Err(error) if question.notes < MOST_NOTES => {
                question.notes += 1;
                writeln!(self.output, "info string {}: {error}", client.name)?;
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// The list of candidates is complete: answers, unless the answer waits for `stop` or `ponderhit`.
    fn complete(&mut self) -> Result<(), ServeError> {
        if let Some(question) = &mut self.question {
            question.complete = true;
            question.pause_until = None;
            if !question.search.is_held() {
                self.answer()?;
            }
        }
        match self.next.take() {
            Some(search) => self.ask(search),
            None => Ok(()),
        }
    }

    /// `stop`, which takes an incomplete list. A GUI ignores the answer to an interrupted ponder, and its clock runs:
    /// that answer waits for no list at all.
    fn stop(&mut self) -> Result<(), ServeError> {
        if let Some(question) = &mut self.question
            && (question.search.stop() || question.complete || !question.candidates.is_empty())
        {
            self.answer()?;
        }
        if self.next.as_mut().is_some_and(Search::stop) {
            self.next = None;
            writeln!(self.output, "bestmove resign")?;
        }
        Ok(())
    }

    /// Answers a search that the end of its game has overtaken. Its answer must not come later, as the first move of
    /// the next game.
    fn end_search(&mut self) -> Result<(), ServeError> {
        if let Some(question) = &mut self.question {
            question.search.stop();
            self.answer()?;
        }
        if self.next.take().is_some() {
            writeln!(self.output, "bestmove resign")?;
        }
        Ok(())
    }

    fn ponder_hit(&mut self, now: Instant) -> Result<(), ServeError> {
        if let Some(search) = &mut self.next {
            search.ponder_hit(now);
        }
        let Some(question) = &mut self.question else { return Ok(()) };
        let hit = question.search.ponder_hit(now);
        if hit && question.complete && !question.search.is_held() { self.answer() } else { Ok(()) }
    }

    fn answer(&mut self) -> Result<(), ServeError> {
        let Some(question) = self.question.as_mut().filter(|question| question.wanted) else { return Ok(()) };
        question.wanted = false;
        for (rank, candidate) in (1..).zip(&question.candidates) {
            if is_move(&candidate.best) {
                let (score, usi) = (candidate.score.round() as i64, &candidate.best);
                writeln!(self.output, "info multipv {rank} score cp {score} pv {usi}")?;
            }
            if !candidate.comment.is_empty() {
                writeln!(self.output, "info string {}", candidate.comment)?;
            }
        }
        let best = question.candidates.first().map_or("resign", |candidate| &candidate.best);
        writeln!(self.output, "bestmove {best}")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_engine::board::Game;
    use evalcurve_engine::usi::Go;

    /// The time ends between the first candidate and the pause that ends the list.
    #[test]
    fn a_list_that_has_begun_is_an_answer() {
        let options = ServeOptions {
            listen: String::new(),
            game: Game::Shogi,
            name: None,
            password: None,
            password_file: None,
            login_ms: 0,
            answer_ms: 0,
            grace_ms: 0,
            book: false,
        };
        let (setup, _) = Setup::read(Game::Shogi, &usi::Position::default()).unwrap();
        let now = Instant::now();
        let search = Search::new(Go::parse("movetime 200"), Some(setup), now);
        let mut server = Server {
            options: &options,
            output: Vec::new(),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            client: None,
            setup: None,
            ready_until: None,
            ready_owed: 0,
            question: Some(Pending::new(search, 200, 0)),
            next: None,
        };
        let late = now + Duration::from_millis(500);
        assert!(matches!(server.on_deadline(late), Err(ServeError::Stalled { ms: 200, .. })));
        let candidate = Candidate { best: "7g7f".to_owned(), score: 5.0, comment: String::new() };
        if let Some(question) = &mut server.question {
            question.candidates.push(candidate);
            question.pause_until = Some(late + PAUSE);
        }
        assert!(server.on_deadline(late).is_ok() && server.output.is_empty());
        assert!(server.on_deadline(late + PAUSE).is_ok());
        assert_eq!(String::from_utf8_lossy(&server.output), "info multipv 1 score cp 5 pv 7g7f\nbestmove 7g7f\n");
    }
}
