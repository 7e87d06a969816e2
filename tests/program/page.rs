//! The page in a browser, which `cargo xtask page` makes: Chromium without a window, driven over a pipe by its DevTools
//! protocol. EVALCURVE_PAGE names the page, if it is not where the chore writes it.
#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use evalcurve::report::verdict::Verdict;
use serde_json::{Value, json};

use crate::browser::chromium;
use crate::replay::LOG;
use crate::serve_page::Serving;
use crate::support::{Folder, root};

/// A browser with the page in it.
struct Page {
    browser: Child,
    to: File,
    from: BufReader<File>,
    session: Value,
    next: u64,
    /// What went wrong in the page, and what it asked of the network.
    complaints: Vec<String>,
    _folder: Folder,
}

/// The built page.
fn file() -> PathBuf {
    let page =
        std::env::var_os("EVALCURVE_PAGE").map_or_else(|| root().join("target/page/evalcurve.html"), PathBuf::from);
    page.canonicalize().unwrap_or_else(|error| panic!("{}: {error}; cargo xtask page", page.display()))
}

/// What the page may take for anything that a test asks of it.
const PATIENCE: Duration = Duration::from_secs(120);

impl Page {
    fn open(language: &str) -> Self {
        Self::open_at(&format!("file://{}", file().display()), language)
    }

    fn open_at(url: &str, language: &str) -> Self {
        let folder = Folder::new();
        for name in ["to", "from"] {
            assert!(Command::new("mkfifo").arg(folder.at(name)).status().unwrap().success());
        }
        let script = "exec \"$0\" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
                      --remote-debugging-pipe --user-data-dir=profile --lang=$1 --accept-lang=$1 about:blank \
                      3<to 4>from";
        let browser = Command::new("sh")
            .args(["-c", script, &chromium(), language])
            .current_dir(folder.at(""))
            .env("LANGUAGE", language)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = OpenOptions::new().write(true).open(folder.at("to")).unwrap();
        let from = BufReader::new(File::open(folder.at("from")).unwrap());
        let (session, complaints) = (Value::Null, Vec::new());
        let mut page_of = Self { browser, to, from, session, next: 0, complaints, _folder: folder };
        let targets = page_of.send("Target.getTargets", json!({}));
        let target = targets["targetInfos"].as_array().unwrap().iter().find(|t| t["type"] == "page").unwrap();
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        page_of.session = page_of.send("Target.attachToTarget", attach)["sessionId"].clone();
        page_of.send("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page_of.send(&format!("{domain}.enable"), json!({}));
        }
        page_of.send("Page.navigate", json!({ "url": url }));
        page_of.wait("document.body?.dataset.ready === 'true'");
        page_of
    }

    fn send(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            bytes.pop();
            assert!(!bytes.is_empty(), "the browser ended");
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.next {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let about = &answer["params"];
            let url = about["request"]["url"].as_str().unwrap_or_default();
            match answer["method"].as_str() {
                Some("Runtime.exceptionThrown" | "Log.entryAdded") => self.complaints.push(about.to_string()),
                Some("Network.requestWillBeSent") if url.starts_with("http") => self.complaints.push(url.to_owned()),
                _ => {}
            }
        }
    }

    /// The value of a script, which may be a promise.
    fn value(&mut self, script: &str) -> Value {
        let params = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let found = self.send("Runtime.evaluate", params);
        assert!(found["exceptionDetails"].is_null(), "{script}: {}", found["exceptionDetails"]);
        found["result"]["value"].clone()
    }

    fn text(&mut self, script: &str) -> String {
        let value = self.value(script);
        value.as_str().unwrap_or_else(|| panic!("{script}: {value}")).to_owned()
    }

    fn wait(&mut self, condition: &str) {
        let start = Instant::now();
        while self.value(condition) != true {
            assert!(start.elapsed() < PATIENCE, "never {condition}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Gives the page files, and returns what it says went wrong once it has ended.
    fn give(&mut self, files: &[PathBuf]) -> String {
        self.value("document.getElementById('failed').hidden = true; document.getElementById('results').hidden = true");
        let input = self.send("Runtime.evaluate", json!({ "expression": "document.getElementById('files')" }));
        let object = &input["result"]["objectId"];
        self.send("DOM.setFileInputFiles", json!({ "files": files, "objectId": object }));
        self.wait("!document.getElementById('results').hidden || !document.getElementById('failed').hidden");
        self.text("document.getElementById('failed').hidden ? '' : document.getElementById('failed').textContent")
    }

    fn has_no_complaints(&mut self) {
        self.value("1");
        assert!(self.complaints.is_empty(), "{:#?}", self.complaints);
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let _ = self.browser.wait();
    }
}

/// Names of players that would act in a page that took them for markup.
const HOSTILE: [&str; 2] = ["<script>hacked=1</script>", "\"><img/src=x/onerror=\"hacked=1\">"];

#[test]
#[ignore = "needs Chromium and the page"]
fn the_page_gives_what_the_program_gives_with_the_page() {
    let folder = Folder::new();
    folder.generate("plain.csa", &["--games", "400"]);
    let plain = folder.text("plain.csa");
    let mut names: Vec<&str> = plain.lines().filter_map(|line| line.strip_prefix("N+")).collect();
    names.sort_unstable();
    names.dedup();
    let hostile = names.iter().zip(HOSTILE).fold(plain.clone(), |text, (name, hostile)| {
        // the summary of a game repeats the names
        let places =
            |name: &str| [format!("N+{name}\n"), format!("N-{name}\n"), format!(":{name} "), format!(" {name}:")];
        places(name).iter().zip(places(hostile)).fold(text, |text, (from, to)| text.replace(from, &to))
    });
    folder.write("games.csa", hostile);
    let options = ["games.csa", "--mate-threshold", "auto"];
    let with = |command: &'static str, more: &[&'static str]| [&[command], &options[..], more].concat();
    let mut page = Page::open("en-US");
    assert_eq!(page.give(&[folder.at("games.csa")]), "");
    assert_eq!(page.text("call('document', 'en')"), folder.good(&with("calibrate", &["--dry-run", "--json"])).out);
    folder.good(&with("calibrate", &["--no-plots", "--out", "out"]));
    folder.good(&with("sample", &["--out", "samples.csv"]));
    assert!(page.text("call('samples')") == folder.text("samples.csv"), "samples");
    let files = page.value("report.engines.filter((e) => e.file !== null).map((e) => [e.file, e.stem])");
    assert!(files.as_array().unwrap().len() >= 2, "{files}");
    for file in files.as_array().unwrap() {
        let name = format!("out/{}.json", file[1].as_str().unwrap());
        assert_eq!(page.text(&format!("call('file', {})", file[0])), folder.text(&name), "{name}");
        let rate = page.value(&format!("call('convert', {}, [300]).then((all) => all[0].rate)", file[0]));
        let program = folder.good(&["winrate", &name, "300", "--json"]);
        assert_eq!(rate, serde_json::from_str::<Value>(&program.out).unwrap()["values"][0]["win_rate"]);
        let source = page.text(&format!("call('export', {}, 'python')", file[0]));
        assert_eq!(source, folder.good(&["export", &name, "--to", "python"]).out);
    }
    for language in ["en", "ja"] {
        folder.good(&with("diagnose", &["--out", "judged", "--lang", language]));
        let diagnosis = page.text(&format!("call('diagnose', '{language}')"));
        assert!(diagnosis == folder.text("judged/diagnosis.html"), "{language}");
    }
    assert!(page.text("call('diagnosis')") == folder.text("judged/diagnosis.json"));
    page.value("document.getElementById('diagnose').click()");
    page.wait("!document.getElementById('page').hidden && document.getElementById('running').hidden");
    // the diagnosis adds the reliability diagram, and another look at an engine draws nothing again
    page.wait("report.figures.some((f) => f.name.endsWith('-reliability'))");
    page.wait("document.querySelectorAll('#figures figure svg').length >= 5");
    page.wait(
        "[...document.querySelectorAll('#figures text')].some((text) => \
         text.textContent.includes('win rate observed'))",
    );
    let asked = page.value("report.drawn.size");
    page.value("figures()");
    assert_eq!(page.value("report.drawn.size"), asked);
    let drawn = page.value("document.querySelectorAll('#results script, #results img, #results [onerror]').length");
    assert_eq!(drawn, 0);
    assert_eq!(page.value("typeof hacked"), "undefined");
    // archives of the same games
    let games = folder.read("games.csa");
    let mut zip = zip::ZipWriter::new(File::create(folder.at("a.zip")).unwrap());
    zip.start_file("games.csa", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(&games).unwrap();
    zip.finish().unwrap();
    let mut tar = tar::Builder::new(zstd::Encoder::new(File::create(folder.at("a.tar.zst")).unwrap(), 1).unwrap());
    tar.append_path_with_name(folder.at("games.csa"), "games.csa").unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    for name in ["a.zip", "a.tar.zst"] {
        assert_eq!(page.give(&[folder.at(name)]), "");
        let program = folder.good(&["calibrate", "--dry-run", name, "--mate-threshold", "auto", "--json"]).out;
        assert_eq!(page.text("call('document', 'en')"), program, "{name}");
    }
    // a folder that is dropped
    for (i, part) in plain.split_inclusive("\n/\n").enumerate() {
        folder.write(&format!("dropped/{}/{i}.csa", i % 3), part);
    }
    page.value("document.getElementById('results').hidden = true; scrollTo(0, 0)");
    for kind in ["dragEnter", "dragOver", "drop"] {
        let data = json!({ "items": [], "files": [folder.at("dropped")], "dragOperationsMask": 1 });
        page.send("Input.dispatchDragEvent", json!({ "type": kind, "x": 200, "y": 200, "data": data }));
    }
    page.wait("!document.getElementById('results').hidden");
    let program = folder.good(&["calibrate", "--dry-run", "dropped", "--mate-threshold", "auto", "--json"]).out;
    assert_eq!(page.text("call('document', 'en')"), program);
    // the same samples as a table, and the calibration file that came of them
    assert_eq!(page.give(&[folder.at("samples.csv")]), "");
    let table = folder.good(&["calibrate", "--dry-run", "samples.csv", "--mate-threshold", "auto", "--json"]).out;
    assert_eq!(page.text("call('document', 'en')"), table);
    let file = folder.at(&format!("out/{}.json", files[0][1].as_str().unwrap()));
    assert_eq!(page.give(&[file]), "");
    assert_eq!(page.value("report.engines.length"), 1);
    page.has_no_complaints();
}

/// A verdict without an answer would stop the page.
#[test]
fn the_page_has_an_answer_for_every_verdict() {
    let words = fs::read_to_string(root().join("web/words.js")).unwrap();
    for verdict in Verdict::ALL {
        let answers = words.matches(&format!("      {verdict:?}: (e) => [")).count();
        assert_eq!(answers, 2, "{verdict:?} in English and Japanese");
    }
}

/// A wrong file, a damaged archive and an archive that unpacks to 4 GB are reported as by the program, and the page
/// goes on.
#[test]
#[ignore = "needs Chromium and the page"]
fn bad_files_are_reported_with_the_page() {
    let folder = Folder::new();
    folder.write("picture.png", [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 4_000]].concat());
    folder.generate("games.csa", &["--games", "200"]);
    let packed = zstd::encode_all(folder.read("games.csa").as_slice(), 3).unwrap();
    folder.write("half.csa.zst", &packed[..packed.len() / 2]);
    let mut bomb = zstd::Encoder::new(File::create(folder.at("bomb.csa.zst")).unwrap(), 1).unwrap();
    let zeros = vec![0; 1 << 24];
    (0..256).for_each(|_| bomb.write_all(&zeros).unwrap());
    bomb.finish().unwrap();
    folder.write("wrong.csv", "engine,result\nA,1\n");
    let mut page = Page::open("en-US");
    for name in ["picture.png", "half.csa.zst", "bomb.csa.zst"] {
        let said = page.give(&[folder.at(name)]);
        let program = folder.run(&["calibrate", "--dry-run", name, "--mate-threshold", "auto", "--json"]);
        assert_eq!(said, "", "{name}");
        assert_eq!(page.text("call('document', 'en')"), program.out, "{name}");
        assert!(!page.text("document.getElementById('problems').textContent").is_empty(), "{name}");
    }
    let said = page.give(&[folder.at("wrong.csv")]);
    folder.run(&["calibrate", "--dry-run", "wrong.csv"]).ends(2).says(&["no column 'score_cp'"]);
    assert!(said.contains("wrong.csv: no column 'score_cp'"), "{said}");
    // good files among bad ones count
    let all = ["picture.png", "half.csa.zst", "games.csa", "wrong.csv"].map(|name| folder.at(name));
    assert_eq!(page.give(&all), "");
    assert!(page.value("report.engines.length").as_u64().unwrap() >= 2);
    page.has_no_complaints();
}

#[test]
#[ignore = "needs Chromium and the page"]
fn the_page_fits_every_screen_in_both_languages_with_the_page() {
    for (locale, language) in [("en-US", "en"), ("ja", "ja")] {
        let mut page = Page::open(locale);
        assert_eq!(page.text("document.documentElement.lang"), language);
        assert_eq!(page.value("Object.keys(WORDS.en).join() === Object.keys(WORDS.ja).join()"), true);
        page.value("document.getElementById('example').click()");
        page.wait("!document.getElementById('results').hidden");
        page.wait("document.querySelectorAll('#figures figure svg').length >= 4");
        page.wait("document.querySelectorAll('#conversion td').length > 8");
        for width in [320, 390, 800, 1_280] {
            let screen = json!({ "width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 800 });
            page.send("Emulation.setDeviceMetricsOverride", screen);
            page.value("document.querySelectorAll('details').forEach((part) => (part.open = true))");
            let beyond = page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(beyond, 0, "{language}, {width}");
            // the answer is on the first screen
            page.value("document.getElementById('answer').scrollIntoView()");
            let bottom = page.value("document.getElementById('sentence').getBoundingClientRect().bottom");
            assert!((0.0..844.0).contains(&bottom.as_f64().unwrap()), "{bottom}");
        }
        let nameless = "[...document.querySelectorAll('input, select, button, iframe, progress')].filter((e) => \
                        e.offsetParent && !e.labels?.length && !e.textContent && !e.title && \
                        !e.getAttribute('aria-labelledby')).length";
        assert_eq!(page.value(nameless), 0);
        assert_eq!(page.value("[...document.querySelectorAll('[data-t]')].filter((e) => !e.textContent).length"), 0);
        // the words of numbers show at the focus
        let shown = "(() => { const g = document.querySelector('.spots g'); g.focus(); return \
                     getComputedStyle(g.querySelector('text')).visibility })()";
        assert_eq!(page.value(shown), "visible");
        page.value("document.getElementById('language').click()");
        let other = if language == "en" { "ja" } else { "en" };
        page.wait(&format!("document.documentElement.lang === '{other}'"));
        // a computation that is stopped leaves a page that computes
        page.value("document.getElementById('example').click()");
        page.wait("!document.getElementById('running').hidden");
        page.value("document.getElementById('cancel').click()");
        page.wait("!document.getElementById('failed').hidden");
        page.value("document.getElementById('example').click()");
        page.wait("!document.getElementById('results').hidden");
        page.has_no_complaints();
    }
}

#[test]
#[ignore = "needs Chromium and the page"]
fn vote_logs_are_replayed_with_the_page() {
    let folder = Folder::new();
    folder.write("votes.jsonl", LOG);
    let mut page = Page::open("en-US");
    assert_eq!(page.give(&[folder.at("votes.jsonl")]), "");
    let program = folder.run(&["replay", "votes.jsonl"]).out;
    assert_eq!(page.text("document.getElementById('votes-text').textContent"), program);
    page.has_no_complaints();
}

/// A folder is there without a dialogue, and after a reload with what came meanwhile; the page asks nobody else.
#[test]
#[ignore = "needs Chromium and the page"]
fn a_folder_is_served_with_the_page() {
    let folder = Folder::new();
    folder.write("my games/.hidden", "");
    folder.generate("my games/1.csa", &["--games", "200"]);
    let served = Serving::start(&folder, &["my games", "--page", &file().to_string_lossy()]);
    for number in 1..=2 {
        let mut page = Page::open_at(&served.url, "en-US");
        page.wait("!document.getElementById('results').hidden");
        let program = folder.good(&["calibrate", "--dry-run", "my games", "--mate-threshold", "auto", "--json"]).out;
        assert_eq!(page.text("call('document', 'en')"), program);
        let command = page.text("document.getElementById('command').textContent");
        assert_eq!(command, "evalcurve calibrate 'my games' --mate-threshold auto");
        assert!(page.text("document.getElementById('drop').textContent").contains("the page comes from evalcurve"));
        page.value("fetch('http://localhost:1/').catch(() => 0)");
        let asked: Vec<_> = page.complaints.iter().filter(|url| !url.starts_with(&served.url)).collect();
        // the one that the policy of the page refused
        assert!(asked.iter().all(|said| said.contains("localhost:1/")) && !asked.is_empty(), "{asked:#?}");
        folder.generate(&format!("my games/{}.csa", number + 1), &["--games", "100", "--seed", "9"]);
    }
}

/// A year of floodgate: what the page must take in its stride.
#[test]
#[ignore = "needs Chromium, the page and EVALCURVE_RECORDS"]
fn ten_thousand_games_take_seconds_with_the_page() {
    let Some(records) = std::env::var_os("EVALCURVE_RECORDS").filter(|folder| !folder.is_empty()) else {
        println!("SKIPPED: EVALCURVE_RECORDS names no folder of records");
        return;
    };
    let archive = PathBuf::from(&records).join("floodgate-2016-dev.tar.zst");
    let mut page = Page::open("en-US");
    let start = Instant::now();
    assert_eq!(page.give(std::slice::from_ref(&archive)), "");
    let (seconds, memory) = (start.elapsed().as_secs_f64(), page.value("call('memory')").as_f64().unwrap() / 1e6);
    println!("{seconds:.1} s, {memory:.0} MB");
    assert_eq!(page.value("report.games"), 9_862);
    assert!(memory < 1_000.0, "{memory} MB");
    let options = ["calibrate", "--dry-run", "floodgate-2016-dev.tar.zst", "--mate-threshold", "auto", "--json"];
    let program = Folder::new().command(&options).current_dir(&records).output().unwrap();
    assert!(page.text("call('document', 'en')").as_bytes() == program.stdout);
    page.has_no_complaints();
}
