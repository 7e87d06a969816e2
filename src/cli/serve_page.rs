//! `evalcurve serve-page`: the page in the browser, with records from disk, for this computer alone.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use super::messages::{About, of_error};
use super::options::language;
use super::{Done, terminal};
use crate::record::find::find;
use crate::text;
use crate::text::shown_source;

/// What the page may do, and what it may do here: ask this program.
const POLICY: [&str; 2] = ["default-src 'none';", "default-src 'none'; connect-src 'self';"];

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve serve-page records/
      open the printed address in a browser; reload the page after more games
The page shows what `calibrate` and `diagnose` find. It reaches no other computer, and no other computer reaches it; \
others who use this one can open it, too.")]
pub(super) struct Args {
    /// Records, training data or tables for the page: files, folders (searched recursively), globs or archives
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The page [default: evalcurve.html beside the program]
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

struct Server {
    paths: Vec<PathBuf>,
    page: String,
    /// The `Host` that a browser of this computer names; another is a page that lets its own name lead here.
    hosts: [String; 2],
    /// The files as they were last listed, which the page asks for by number.
    files: Mutex<Vec<PathBuf>>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let beside = std::env::current_exe()?.with_file_name("evalcurve.html");
    let page = args.page.as_ref().unwrap_or(&beside);
    let shown = super::files::shown(page);
    let html = fs::read_to_string(page).about(|| {
        text!("{shown}: cannot read the page; archives of a release have it, and --page FILE names another")
    })?;
    anyhow::ensure!(html.contains(POLICY[0]), text!("{shown}: it is not the page evalcurve.html of a release"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    let server = Arc::new(Server {
        paths: args.paths.clone(),
        page: html.replacen(POLICY[0], POLICY[1], 1),
        hosts: ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}")),
        files: Mutex::default(),
    });
    // a path that is wrong is told at once
    server.list()?;
    terminal::print(&format!("http://127.0.0.1:{port}/\n"))?;
    terminal::note(&text!("open this address in a browser; Ctrl-C ends the program").text(language()));
    for stream in listener.incoming() {
        let server = Arc::clone(&server);
        // a browser that went away needs no answer
        std::thread::spawn(move || stream.and_then(|stream| server.answer(&stream)));
    }
    Ok(Done::Yes)
}

impl Server {
    /// Looks for the files again: those that can be read, each with its name and the path that led to it.
    fn list(&self) -> anyhow::Result<String> {
        let (mut files, mut list) = (Vec::new(), Vec::new());
        for place in &self.paths {
            for entry in find(std::slice::from_ref(place))? {
                let path = entry.path.ok_or_else(|| text!("-: the page reads files, not standard input"))?;
                if let Some(problem) = entry.problem {
                    terminal::warning(&format!("{}: {problem}", shown_source(&entry.display)));
                    continue;
                }
                list.push(json!({ "name": entry.display, "place": place.to_string_lossy() }));
                files.push(path);
            }
        }
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files;
        Ok(json!(list).to_string())
    }

    fn answer(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let lines = BufReader::new(stream.take(1 << 14)).lines().map_while(Result::ok);
        let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        let host =
            head.iter().find_map(|line| Some(line.to_ascii_lowercase().strip_prefix("host:")?.trim().to_owned()));
        let ours = host.is_some_and(|host| self.hosts.contains(&host));
        let path = head.first().and_then(|line| line.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1"));
        let (status, (kind, length, body)) = match path.filter(|_| ours).and_then(|path| self.found(path)) {
            Some(found) => ("200 OK", found),
            None => (if ours { "404 Not Found" } else { "403 Forbidden" }, text_of("text/plain", String::new())),
        };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
        )?;
        // a record that grows meanwhile is cut
        io::copy(&mut body.take(length), &mut stream).map(drop)
    }

    /// Only the page, the list, and the listed files by number: no path of a request reaches the disk.
    fn found(&self, path: &str) -> Option<Found> {
        match path {
            "/" => Some(text_of("text/html; charset=utf-8", self.page.clone())),
            "/records" => {
                let list = self.list().inspect_err(|error| terminal::warning(&of_error(error).text(language())));
                Some(text_of("application/json", list.ok()?))
            }
            _ => {
                let number: usize = path.strip_prefix("/records/")?.parse().ok()?;
                let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
                let file = File::open(files.get(number)?).ok()?;
                Some(("application/octet-stream", file.metadata().ok()?.len(), Box::new(file)))
            }
        }
    }
}

/// What a request gets: its type, its length, and its bytes.
type Found = (&'static str, u64, Box<dyn Read>);

fn text_of(kind: &'static str, text: String) -> Found {
    (kind, text.len() as u64, Box::new(Cursor::new(text)))
}
