//! The page in the browser with records from disk: what its server gives out, and to whom.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::support::{Folder, root};

/// The program with the page, which ends with the test.
pub(crate) struct Serving {
    child: Child,
    /// Where the page is.
    pub(crate) url: String,
}

impl Serving {
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = folder.command(&[&["serve-page"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.url.trim_start_matches("http://").trim_end_matches('/')).unwrap()
    }

    /// The status and the body of what a request for this path gets; the host may bring more lines.
    fn ask(&self, path: &str, host: &str) -> (String, String) {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = self.connect();
        let host = host.replace("HERE", address).replace("PORT", address.rsplit(':').next().unwrap());
        write!(stream, "GET {path} HTTP/1.1\r\nAccept: */*\r\nhost: {host}\r\n\r\n").unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        let (head, body) = all.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().to_owned(), body.to_owned())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A desktop gives the paths of what is dropped on the program; the page is beside a copy of it.
#[cfg(unix)]
#[test]
fn records_that_are_dropped_on_the_program_are_on_the_page() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("my games/1.csa", "first");
    folder.write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > opened\n");
    std::fs::set_permissions(folder.at("bin/xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::copy(folder.command(&[]).get_program(), folder.at("evalcurve")).unwrap();
    std::fs::copy(root().join("web/page.html"), folder.at("evalcurve.html")).unwrap();
    let path = format!("{}:{}", folder.at("bin").display(), std::env::var("PATH").unwrap());
    let mut dropped = std::process::Command::new(folder.at("evalcurve"));
    dropped.arg("my games").current_dir(folder.at("")).env("PATH", path).stdout(Stdio::piped()).stdin(Stdio::null());
    let mut child = dropped.stderr(Stdio::null()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let served = Serving { child, url: url.trim().to_owned() };
    assert!(served.ask("/records", "HERE").1.contains("my games/1.csa"));
    let opened = || std::fs::read_to_string(folder.at("opened")).unwrap_or_default();
    let since = std::time::Instant::now();
    while opened().is_empty() && since.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(opened().trim(), served.url);
    // a folder with the name of a command is no argument alone
    folder.write("schema/1.csa", "first");
    folder.good(&["schema"]);
    folder.run(&["my", "games"]).ends(2).says(&["unrecognized subcommand 'my'"]);
}

#[test]
fn the_page_gets_the_records_and_nobody_else_does() {
    let folder = Folder::new();
    folder.write("対局/1.csa", "first");
    folder.write("対局/.hidden", "secret");
    folder.write("other.csa", "secret");
    let page = root().join("web/page.html").to_string_lossy().into_owned();
    let served = Serving::start(&folder, &["対局", "--page", &page]);
    assert!(served.url.starts_with("http://127.0.0.1:"), "{}", served.url);
    let (status, html) = served.ask("/", "HERE");
    assert!(status == "200" && html.contains("default-src 'none'; connect-src 'self'; script-src"), "{html}");
    // a game that came meanwhile is there too
    folder.write("対局/2.csa", "second");
    let listed = |served: &Serving| -> (String, serde_json::Value) {
        let (status, list) = served.ask("/records", "HERE");
        let list: serde_json::Value = serde_json::from_str(&list).unwrap();
        assert_eq!(status, "200");
        (list["list"].as_str().unwrap().to_owned(), list["files"].clone())
    };
    let (list, files) = listed(&served);
    assert_eq!(
        files,
        serde_json::json!([{ "name": "対局/1.csa", "place": "対局" }, { "name": "対局/2.csa", "place": "対局" }])
    );
    assert_eq!(listed(&served).0, list);
    let expected = |status: &str, body: &str| (status.to_owned(), body.to_owned());
    assert_eq!(served.ask(&format!("/records/{list}/1"), "HERE"), expected("200", "second"));
    assert_eq!(served.ask(&format!("/records/{list}/1"), "LOCALHOST:PORT"), expected("200", "second"));
    std::fs::remove_file(folder.at("対局/1.csa")).unwrap();
    let gone = [format!("/records/{list}/0"), format!("/records/{list}/2"), format!("/records/{list}/../other.csa")];
    let others = ["/records/0", "/../other.csa", "/other.csa", "", "/ x"].map(str::to_owned);
    for path in gone.iter().chain(&others) {
        let found = served.ask(path, "HERE").0;
        assert!(["404", "409"].contains(&&*found), "{path} {found}");
    }
    // a page of another name that leads here, and another site
    let of = |site: &str| format!("HERE\r\nSec-Fetch-Site: {site}");
    for host in [
        "evil.example",
        "evil.example:PORT",
        "127.0.0.1",
        "",
        "HERE\r\nOrigin: http://evil.example",
        "HERE\r\nOrigin: null",
    ] {
        assert_eq!(served.ask(&format!("/records/{list}/1"), host), expected("403", ""), "{host}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(served.ask("/records", &of(site)), expected("403", ""), "{site}");
    }
    for site in ["same-origin", "none\r\nOrigin: http://HERE"] {
        assert_eq!(served.ask("/records", &of(site)).0, "200", "{site}");
    }
    // a file that comes makes another list, and the numbers of the old one are told from it
    folder.write("対局/0.csa", "new");
    let (new, _) = listed(&served);
    assert_eq!(served.ask(&format!("/records/{list}/1"), "HERE"), expected("409", ""));
    assert_eq!(served.ask(&format!("/records/{new}/0"), "HERE"), expected("200", "new"));
}

/// Clients that read nothing, that say nothing, and that say little: others are answered, and little is held.
#[test]
#[cfg(target_os = "linux")]
fn clients_that_wait_hold_neither_threads_nor_memory() {
    let folder = Folder::new();
    folder.write("in/1.csa", "first");
    folder.write("secret.csa", "secret");
    std::os::unix::fs::symlink("../secret.csa", folder.at("in/out.csa")).unwrap();
    std::os::unix::fs::symlink("1.csa", folder.at("in/own.csa")).unwrap();
    let page = root().join("web/page.html").to_string_lossy().into_owned();
    let large = folder.at("large.html");
    std::fs::write(&large, std::fs::read_to_string(page).unwrap() + &" ".repeat(8 << 20)).unwrap();
    let served = Serving::start(&folder, &["in", "--page", "large.html"]);
    let (_, list) = served.ask("/records", "HERE");
    assert!(list.contains("1.csa") && list.contains("own.csa") && !list.contains("out.csa"), "{list}");
    let host = served.url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut waiting = Vec::new();
    for number in 0..48 {
        let mut stream = served.connect();
        match number % 3 {
            0 => write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap(),
            1 => write!(stream, "G").unwrap(),
            _ => {}
        }
        waiting.push(stream);
    }
    std::thread::sleep(std::time::Duration::from_secs(1));
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id())).unwrap();
    let number = |name: &str| -> u64 {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let (threads, memory) = (number("Threads:"), number("VmRSS:"));
    println!("{threads} threads, {memory} KiB");
    assert!(threads <= 40 && memory < 120_000, "{threads} threads, {memory} KiB");
    // they lose their places one after the other
    assert_eq!(served.ask("/records", "HERE").0, "200");
    drop(waiting);
    assert_eq!(served.ask("/", "HERE").0, "200");
}

/// Without descriptors, the server waits for one.
#[test]
#[cfg(target_os = "linux")]
fn without_descriptors_the_server_waits() {
    let folder = Folder::new();
    folder.write("in/1.csa", "first");
    std::process::Command::new("mkfifo").arg(folder.at("in/pipe.csa")).status().unwrap();
    let page = root().join("web/page.html").to_string_lossy().into_owned();
    let served = Serving::start(&folder, &["in", "--page", &page]);
    let (_, list) = served.ask("/records", "HERE");
    assert!(list.contains("1.csa") && !list.contains("pipe"), "{list}");
    let limit = |number: u32| {
        let set = format!("--nofile={number}:1024");
        let done = std::process::Command::new("prlimit").args(["--pid", &served.child.id().to_string(), &set]).status();
        done.unwrap().success()
    };
    let open = std::fs::read_dir(format!("/proc/{}/fd", served.child.id())).unwrap().count() as u32;
    let time = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", served.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    assert!(limit(open));
    let (_client, before) = (served.connect(), time());
    std::thread::sleep(std::time::Duration::from_secs(1));
    // hundredths of a second
    assert!(time() - before < 20);
    assert!(limit(1_024));
    assert_eq!(served.ask("/records", "HERE").0, "200");
}

#[test]
fn what_cannot_be_served_is_told_at_once() {
    let folder = Folder::new();
    folder.write("page.html", "<p>");
    let page = root().join("web/page.html").to_string_lossy().into_owned();
    for (path, page, said) in [
        (".", "none.html", "none.html: cannot read the page"),
        (".", "page.html", "page.html: it is not the page"),
        ("none", &page, "none: no such file or folder"),
        ("-", &page, "not standard input"),
    ] {
        folder.run(&["serve-page", path, "--page", page]).ends(2).says(&[said]);
    }
}
