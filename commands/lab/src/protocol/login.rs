//! Who may connect to a server: the listening socket, logins, and the lines of those that are logged in.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use evalcurve_engine::lock;
use evalcurve_engine::usi::{LineReader, ReadLine};

use super::message::{parse_login, same_secret};
use super::options::{Event, ServeError, ServeOptions};

/// The longest line that a program may send.
pub(super) const LINE_BYTES: usize = 4096;
/// Programs that may be logged in at the same time: one answers, and the others are refused one after another.
const MOST_LOGGED_IN: usize = 8;
/// Connections that may wait for their login; one more takes the place of the oldest.
const MOST_WAITING: usize = 8;
/// After a wrong login, an address may try again at this interval.
const RETRY_TIME: Duration = Duration::from_millis(500);
/// Addresses with wrong logins that are remembered.
const MOST_ADDRESSES: usize = 1024;
/// A connection without a login is dropped after this time.
const LOGIN_TIME: Duration = Duration::from_secs(10);
/// A program that does not read for this time is dropped.
const WRITE_TIME: Duration = Duration::from_secs(2);

/// The listening socket with its thread; both end when it is dropped.
pub(super) struct Listener {
    pub address: SocketAddr,
    closed: Arc<AtomicBool>,
}

impl Listener {
    /// Listens, unless other machines could log in without a password.
    pub(crate) fn open(options: &ServeOptions, events: SyncSender<Event>) -> Result<Self, ServeError> {
        let fail = |source| ServeError::Listen { address: options.listen.clone(), source };
        let none = || io::Error::new(io::ErrorKind::InvalidInput, "no such address");
        let address = options.listen.to_socket_addrs().map_err(fail)?.next().ok_or_else(|| fail(none()))?;
        if options.password.as_deref().unwrap_or_default().is_empty() && !is_loopback(address.ip()) {
            return Err(ServeError::NoPassword(options.listen.clone()));
        }
        let listener = TcpListener::bind(address).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let closed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&closed);
        let (name, password) = (options.name.clone(), options.password.clone().unwrap_or_default());
        let login = Arc::new(Login {
            name,
            password,
            events,
            waiting: Mutex::default(),
            next_try: Mutex::default(),
            logged_in: AtomicUsize::new(0),
        });
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().enumerate() {
                if flag.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let login = Arc::clone(&login);
                if login.wait_in_line(connection, &stream) {
                    thread::spawn(move || {
                        login.admit(connection, &stream);
                        login.leave_line(connection);
                        let _ = stream.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Ok(Self { address, closed })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Release);
        // the thread waits in `accept`: one more connection wakes it
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// What a program must know to log in, and who tries.
struct Login {
    name: Option<String>,
    password: String,
    events: SyncSender<Event>,
    /// The connections that wait for their login, the oldest first.
    waiting: Mutex<Vec<(usize, TcpStream)>>,
    /// When an address may try again after a wrong login.
    next_try: Mutex<HashMap<IpAddr, Instant>>,
    logged_in: AtomicUsize,
}

impl Login {
    /// Adds a connection to those that wait for their login. Silent connections do not hold others out: if there are
    /// too many, the oldest is closed.
    fn wait_in_line(&self, connection: usize, stream: &TcpStream) -> bool {
        let Ok(stream) = stream.try_clone() else { return false };
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= MOST_WAITING {
            let (_, oldest) = waiting.remove(0);
            let _ = oldest.shutdown(Shutdown::Both);
        }
        waiting.push((connection, stream));
        true
    }

    fn leave_line(&self, connection: usize) {
        lock(&self.waiting).retain(|(waiting, _)| *waiting != connection);
    }

    /// Waits until an address with a wrong login may try again. Returns false if the connection was closed meanwhile.
    fn wait_for_try(&self, connection: usize, address: IpAddr) -> bool {
        let now = Instant::now();
        let at = match lock(&self.next_try).get_mut(&address) {
            None => return true,
            Some(next) => {
                let at = now.max(*next);
                // many tries at once do not hold out a program at the same address for long
                *next = (at + RETRY_TIME).min(now + LOGIN_TIME / 2);
                at
            }
        };
        while Instant::now() < at {
            if lock(&self.waiting).iter().all(|(waiting, _)| *waiting != connection) {
                return false;
            }
            thread::sleep(RETRY_TIME / 20);
        }
        true
    }

    /// Remembers whether an address logged in.
    fn record(&self, address: IpAddr, logged_in: bool) {
        let mut next_try = lock(&self.next_try);
        if logged_in {
            next_try.remove(&address);
            return;
        }
        let now = Instant::now();
        if next_try.len() >= MOST_ADDRESSES {
            next_try.retain(|_, at| *at > now);
        }
        if next_try.len() < MOST_ADDRESSES {
            next_try.entry(address).or_insert(now + RETRY_TIME);
        }
    }

    /// Checks the login of a connection and forwards its lines until it ends.
    fn admit(&self, connection: usize, stream: &TcpStream) {
        let Ok(address) = stream.peer_addr().map(|peer| peer.ip().to_canonical()) else { return };
        let _ = stream.set_nodelay(true);
        let _ = stream.set_write_timeout(Some(WRITE_TIME));
        let deadline = Arc::new(Mutex::new(Some(Instant::now() + LOGIN_TIME)));
        let (Ok(reading), Ok(mut writing)) = (stream.try_clone(), stream.try_clone()) else { return };
        let reading = DeadlineReader { stream: reading, deadline: Arc::clone(&deadline) };
        let mut lines = LineReader::with_limit(BufReader::new(reading), LINE_BYTES);
        let Ok(Some(ReadLine::Text(text))) = lines.read() else { return };
        let valid = |(name, password): &(&str, &str)| {
            self.name.as_deref().is_none_or(|wanted| wanted == *name) && same_secret(password, &self.password)
        };
        if !self.wait_for_try(connection, address) {
            return;
        }
        let login = parse_login(&text).filter(valid);
        self.record(address, login.is_some());
        let Some((name, _)) = login else {
            let _ = writing.write_all(b"LOGIN:incorrect\n");
            return;
        };
        self.leave_line(connection);
        *lock(&deadline) = None;
        if self.logged_in.fetch_add(1, Ordering::AcqRel) < MOST_LOGGED_IN {
            self.forward(connection, name, writing, lines);
        }
        self.logged_in.fetch_sub(1, Ordering::AcqRel);
    }

    /// Forwards the lines of a program until it leaves.
    fn forward(&self, connection: usize, name: &str, writing: TcpStream, mut lines: LineReader<impl BufRead>) {
        let mut event = Event::LoggedIn { connection, name: name.to_owned(), stream: writing };
        while self.events.send(event).is_ok() {
            event = match lines.read() {
                Ok(Some(line)) => Event::Line { connection, line },
                ended => {
                    let why = ended.err().map_or("it closed the connection".to_owned(), |error| error.to_string());
                    let _ = self.events.send(Event::Left { connection, why });
                    return;
                }
            };
        }
    }
}

/// A stream whose reads fail after a deadline, even if single bytes keep arriving.
struct DeadlineReader {
    stream: TcpStream,
    deadline: Arc<Mutex<Option<Instant>>>,
}

impl Read for DeadlineReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let deadline = *lock(&self.deadline);
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(left)?;
        self.stream.read(buffer)
    }
}
