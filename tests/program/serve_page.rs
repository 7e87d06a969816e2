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

    /// The status and the body of what a request for this path gets.
    fn ask(&self, path: &str, host: &str) -> (String, String) {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).unwrap();
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
    let list = r#"[{"name":"対局/1.csa","place":"対局"},{"name":"対局/2.csa","place":"対局"}]"#;
    let expected = |status: &str, body: &str| (status.to_owned(), body.to_owned());
    assert_eq!(served.ask("/records", "HERE"), expected("200", list));
    assert_eq!(served.ask("/records/1", "LOCALHOST:PORT"), expected("200", "second"));
    std::fs::remove_file(folder.at("対局/1.csa")).unwrap();
    for path in ["/records/0", "/records/2", "/records/../other.csa", "/../other.csa", "/other.csa", "", "/ x"] {
        assert_eq!(served.ask(path, "HERE"), expected("404", ""), "{path}");
    }
    // a page of another name that leads here
    for host in ["evil.example", "evil.example:PORT", "127.0.0.1", ""] {
        assert_eq!(served.ask("/records/1", host), expected("403", ""), "{host}");
    }
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
