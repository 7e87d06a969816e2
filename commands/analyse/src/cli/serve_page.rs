//! `evalcurve serve-page`: the page in the browser, with records from disk, for this computer alone.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Cursor, IsTerminal, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use evalcurve_app::cli::files::open_in_browser;
use evalcurve_app::cli::messages::{About, of_error};
use evalcurve_app::cli::options::language;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_records::record::find::{expand_globs, find};
use evalcurve_words::text::shown_source;
use evalcurve_words::{key, text};
use serde_json::json;

/// Answers at the same time; more wait. A browser asks for one file after the other.
const MOST_ANSWERS: usize = 32;
/// Bytes of the head of a request.
const MOST_HEAD: usize = 1 << 14;
/// Time for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// Time that the other side may read nothing, and that an answer may be behind [`SLOWEST`].
const STALL: Duration = Duration::from_secs(10);
/// Bytes of an answer in a second.
const SLOWEST: u64 = 1 << 18;
/// Wait where there is no place for another answer, or no descriptor.
const PAUSE: Duration = Duration::from_millis(20);

/// What the page may do, and what it may do here: ask this program.
const POLICY: [&str; 2] = ["default-src 'none';", "default-src 'none'; connect-src 'self';"];

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve serve-page records/
      open the printed address in a browser; reload the page after more games
The page shows what `calibrate` and `diagnose` find. It reaches no other computer, and no other computer reaches it; \
others who use this one can open it, too.")]
pub struct Args {
    /// Records, training data or tables for the page: files, folders (searched recursively), globs or archives
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The page [default: evalcurve.html beside the program]
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,

    /// Open the page in the browser, as when records are dropped on the program
    #[arg(long)]
    open: bool,
}

struct Server {
    paths: Vec<PathBuf>,
    page: Arc<[u8]>,
    /// The `Host` that a browser of this computer names; another is a page that lets its own name lead here.
    hosts: [String; 2],
    /// The files as they were last listed.
    files: Mutex<Files>,
}

/// A list of files, which the page asks for by number.
#[derive(Default)]
struct Files {
    /// Tells this list from those before it.
    id: String,
    /// Each with the folder that it may not lead out of.
    paths: Vec<(PathBuf, Option<PathBuf>)>,
}

impl Subcommand for Args {
    const NAME: &'static str = "serve-page";
    const ABOUT: &'static str = key!("Show records in the browser: the page, for this computer alone");
    const HEADING: Heading = Heading::Calibrate;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let done = run(self);
        if let (Err(error), true) = (&done, self.open && io::stdin().is_terminal()) {
            // the window would close with the message
            terminal::error(&of_error(error).text(language()));
            terminal::note(&text!("Enter closes this window").text(language()));
            let _ = io::stdin().read_line(&mut String::new());
            return Ok(Done::Nothing);
        }
        done
    }
}

fn run(args: &Args) -> anyhow::Result<Done> {
    let beside = std::env::current_exe()?.with_file_name("evalcurve.html");
    let page = args.page.as_ref().unwrap_or(&beside);
    let shown = evalcurve_app::cli::files::shown(page);
    let html = fs::read_to_string(page).about(|| {
        text!("{shown}: cannot read the page; archives of a release have it, and --page FILE names another")
    })?;
    anyhow::ensure!(html.contains(POLICY[0]), text!("{shown}: it is not the page evalcurve.html of a release"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let server = Arc::new(Server {
        paths: args.paths.clone(),
        page: html.replacen(POLICY[0], POLICY[1], 1).into_bytes().into(),
        hosts: ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}")),
        files: Mutex::default(),
    });
    // a path that is wrong is told at once
    server.list()?;
    let address = format!("http://127.0.0.1:{port}/");
    terminal::print(&format!("{address}\n"))?;
    if args.open && open_in_browser(&address).is_err() {
        terminal::warning(&text!("no browser could be opened").text(language()));
    }
    terminal::note(&text!("open this address in a browser; Ctrl-C ends the program").text(language()));
    loop {
        // each answer holds the server
        while Arc::strong_count(&server) > MOST_ANSWERS {
            sleep(PAUSE);
        }
        let ours = Arc::clone(&server);
        // a browser that went away needs no answer
        let answer = listener.accept().and_then(|(stream, _)| Builder::new().spawn(move || ours.answer(&stream)));
        if answer.is_err() {
            sleep(PAUSE);
        }
    }
}

impl Server {
    /// Looks for the files again: those that can be read, each with its name and the path that led to it.
    fn list(&self) -> anyhow::Result<String> {
        // one search at a time
        let mut known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut paths, mut list) = (Vec::new(), Vec::new());
        for place in &self.paths {
            for given in expand_globs(std::slice::from_ref(place))? {
                let root = if given.is_dir() { Some(given.canonicalize()?) } else { None };
                for entry in find(std::slice::from_ref(&given))? {
                    let path = entry.path.ok_or_else(|| text!("-: the page reads files, not standard input"))?;
                    let outside = text!("the link leads out of the folder");
                    let problem =
                        entry.problem.or((!is_within(&path, root.as_deref())).then(|| outside.text(language())));
                    if let Some(problem) = problem {
                        terminal::warning(&format!("{}: {problem}", shown_source(&entry.display)));
                        continue;
                    }
                    list.push(json!({ "name": entry.display, "place": place.to_string_lossy() }));
                    paths.push((path, root.clone()));
                }
            }
        }
        let mut hash = DefaultHasher::new();
        paths.hash(&mut hash);
        *known = Files { id: format!("{:016x}", hash.finish()), paths };
        Ok(json!({ "list": known.id, "files": list }).to_string())
    }

    fn answer(&self, mut stream: &TcpStream) -> io::Result<()> {
        let head = String::from_utf8_lossy(&head(stream)?).to_string();
        let mut lines = head.lines();
        let first = lines.next().unwrap_or_default();
        let fields: Vec<(String, &str)> = lines
            .filter_map(|line| line.split_once(':').map(|(name, v)| (name.to_ascii_lowercase(), v.trim())))
            .collect();
        let field = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let is_host = |host: &str| self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host));
        let ours = field("host").is_some_and(is_host)
            && field("origin").is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_host))
            && field("sec-fetch-site").is_none_or(|site| ["same-origin", "none"].contains(&site));
        let path = first.strip_prefix("GET ").and_then(|line| line.strip_suffix(" HTTP/1.1"));
        let found = match path {
            _ if !ours => Err("403 Forbidden"),
            Some(path) => self.found(path),
            None => Err("404 Not Found"),
        };
        let (status, (kind, length, body)) = match found {
            Ok(found) => ("200 OK", found),
            Err(status) => (status, text_of("text/plain", Arc::default())),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\n\
             X-Frame-Options: DENY\r\nConnection: close\r\n\r\n"
        );
        stream.set_write_timeout(Some(STALL))?;
        // a record that grows meanwhile is cut
        let (mut all, mut buffer) = (head.as_bytes().chain(body.take(length)), vec![0; 1 << 16]);
        let (start, mut sent) = (Instant::now(), 0);
        loop {
            let read = all.read(&mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            let mut part = &buffer[..read];
            while !part.is_empty() {
                let written = stream.write(part)?;
                sent += written as u64;
                if written == 0 || start.elapsed() > STALL + Duration::from_secs(sent / SLOWEST) {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                part = &part[written..];
            }
        }
    }

    /// Only the page, the list, and the files of the list that was made last, by number: no path of a request reaches
    /// the disk.
    fn found(&self, path: &str) -> Result<Found, &'static str> {
        const NONE: &str = "404 Not Found";
        match path {
            "/" => Ok(text_of("text/html; charset=utf-8", self.page.clone())),
            "/records" => {
                let list = self.list().inspect_err(|error| terminal::warning(&of_error(error).text(language())));
                Ok(text_of("application/json", list.map_err(|_| NONE)?.into_bytes().into()))
            }
            _ => {
                let (list, number) =
                    path.strip_prefix("/records/").and_then(|path| path.split_once('/')).ok_or(NONE)?;
                let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
                if list != files.id {
                    return Err("409 Conflict");
                }
                let number: usize = number.parse().map_err(|_| NONE)?;
                let (path, root) = files.paths.get(number).ok_or(NONE)?.clone();
                drop(files);
                // opening a pipe would wait for its writer
                let file = Some(&path).filter(|path| path.is_file() && is_within(path, root.as_deref()));
                let file = File::open(file.ok_or(NONE)?).map_err(|_| NONE)?;
                let length = file.metadata().map_err(|_| NONE)?.len();
                Ok(("application/octet-stream", length, Box::new(file)))
            }
        }
    }
}

/// Whether a path leads to a file in the folder.
fn is_within(path: &Path, folder: Option<&Path>) -> bool {
    folder.is_none_or(|folder| path.canonicalize().is_ok_and(|real| real.starts_with(folder)))
}

/// The head of a request, without more of it than is allowed in its time.
fn head(mut stream: &TcpStream) -> io::Result<Vec<u8>> {
    let (start, mut head, mut buffer) = (Instant::now(), Vec::new(), [0; 2_048]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = HEAD_TIME.checked_sub(start.elapsed()).filter(|left| !left.is_zero());
        stream.set_read_timeout(Some(left.ok_or(io::ErrorKind::TimedOut)?))?;
        let read = stream.read(&mut buffer)?;
        head.extend_from_slice(&buffer[..read]);
        if read == 0 || head.len() > MOST_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(head)
}

/// What a request gets: its type, its length, and its bytes.
type Found = (&'static str, u64, Box<dyn Read>);

fn text_of(kind: &'static str, text: Arc<[u8]>) -> Found {
    (kind, text.len() as u64, Box::new(Cursor::new(text)))
}
