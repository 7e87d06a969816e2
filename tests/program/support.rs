//! A temporary folder, the program that runs in it, and generated games.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// The program that has this command: `evalcurve`, or `evalcurve-lab`.
fn program(arguments: &[&str]) -> String {
    let is_of_lab = |word: &&str| matches!(*word, "join" | "serve" | "simulate" | "theory");
    match arguments.iter().any(is_of_lab) {
        true => evalcurve_testkit::program_of("evalcurve-lab"),
        false => env!("CARGO_BIN_EXE_evalcurve").to_owned(),
    }
}

/// A new folder for one test; it is removed at the end of the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("evalcurve-program-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The content of a file that may not exist yet.
    pub(crate) fn read_if_any(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_default()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// A command that runs the program in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program(arguments));
        // texts do not depend on the locale of the machine
        command.current_dir(&self.0).args(arguments).env_remove("NO_COLOR").env("LC_ALL", "C");
        // engines of the test come first
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places = std::iter::once(self.at("bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(places).unwrap());
        command
    }

    /// A command that heeds signals, also where the tests ignore them, as in the background of a shell: a program
    /// inherits that. `None` with a message on standard error if it cannot be made.
    #[cfg(unix)]
    pub(crate) fn heeding_signals(&self, arguments: &[&str]) -> Option<Command> {
        use evalcurve_engine::usi::is_ignored;
        if ![1, 2, 15].into_iter().any(is_ignored) {
            return Some(self.command(arguments));
        }
        let default = "--default-signal=HUP,INT,TERM";
        if !Command::new("env").args([default, "true"]).output().is_ok_and(|ran| ran.status.success()) {
            eprintln!("SKIPPED: the tests ignore signals, and env has no {default}");
            return None;
        }
        let mut command = self.command(arguments);
        let program = command.get_program().to_owned();
        let environment: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command = Command::new("env");
        command.current_dir(&self.0).arg(default).arg(program).args(arguments);
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Some(command)
    }

    /// Runs the program in this folder with empty standard input.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    /// Runs the program with `input` on standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (mut stdin, mut stdout, mut stderr) =
            (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // a program that does not read everything may close the pipe
                let _ = stdin.write_all(input);
            });
            scope.spawn(|| stderr.read_to_end(&mut err).unwrap());
            stdout.read_to_end(&mut out).unwrap();
        });
        let status = child.wait().unwrap();
        let out = with_slashes(String::from_utf8(out).expect("UTF-8 out"));
        let err = with_slashes(String::from_utf8_lossy(&err).into_owned());
        assert!(!err.contains("panicked"), "{arguments:?}: {err}");
        Ran { arguments: arguments.join(" "), code: status.code(), out, err }
    }

    /// Runs the program, which must end with exit code 0.
    pub(crate) fn good(&self, arguments: &[&str]) -> Ran {
        self.run(arguments).ends(0)
    }

    /// Runs `evalcurve-lab`, which must end with exit code 0.
    pub(crate) fn lab(&self, arguments: &[&str]) -> Ran {
        let mut lab = Command::new(evalcurve_testkit::program_of("evalcurve-lab"));
        let ran = lab.current_dir(&self.0).args(arguments).env("LC_ALL", "C").output().unwrap();
        let [out, err] = [ran.stdout, ran.stderr].map(|text| with_slashes(String::from_utf8_lossy(&text).into_owned()));
        Ran { arguments: arguments.join(" "), code: ran.status.code(), out, err }.ends(0)
    }

    /// The JSON document of a command that must end with exit code 0. Games always add up.
    pub(crate) fn document(&self, arguments: &[&str]) -> Value {
        self.good(&[arguments, &["--json"]].concat()).document()
    }

    /// Writes records with known w1 and w2 into the file `name`.
    pub(crate) fn generate(&self, name: &str, arguments: &[&str]) {
        let mut command = Command::new(evalcurve_testkit::program());
        let made = command.current_dir(&self.0).args(["generate", "--out", name]).args(arguments).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    /// Generated games, one text per game.
    pub(crate) fn games(&self, count: u32, arguments: &[&str]) -> Vec<String> {
        let count = count.to_string();
        self.generate("generated.tmp", &[&["--games", &count], arguments].concat());
        let text = self.text("generated.tmp");
        fs::remove_file(self.at("generated.tmp")).unwrap();
        let games: Vec<String> = text.split("/\n").map(str::to_owned).collect();
        assert_eq!(games.len().to_string(), count);
        games
    }
}

/// The same paths on every system. Documents have other escapes than that of a backslash, too.
pub(crate) fn with_slashes(text: String) -> String {
    match (cfg!(windows), text.starts_with('{')) {
        (true, true) => text.replace(r"\\", "/"),
        (true, false) => text.replace('\\', "/"),
        (false, _) => text,
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// The result of a run of the program.
pub(crate) struct Ran {
    pub arguments: String,
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "evalcurve {}\n{}{}", self.arguments, self.out, self.err);
        self
    }

    /// Checks that standard error contains each of these texts.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(
                self.err.contains(&with_slashes((*word).to_owned())),
                "no '{word}' in the messages of evalcurve {}\n{}",
                self.arguments,
                self.err
            );
        }
        self
    }

    /// The JSON document on standard output, whose games must add up.
    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        let document: Value = serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("evalcurve {}: {e}\n{}{}", self.arguments, self.out, self.err));
        let games = &document["games"];
        let skipped: u64 = games["skipped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        let read = games["read"].as_u64().unwrap();
        assert_eq!(read, games["used"].as_u64().unwrap() + skipped, "evalcurve {}: {games}", self.arguments);
        document
    }
}

/// The engine with this name in a document.
#[track_caller]
pub(crate) fn engine<'a>(document: &'a Value, name: &str) -> &'a Value {
    document["engines"]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["name"] == name)
        .unwrap_or_else(|| panic!("no engine {name} in {:#}", document["engines"]))
}

/// The texts of an engine's warnings of one kind.
pub(crate) fn warnings<'a>(engine: &'a Value, kind: &str) -> Vec<&'a str> {
    let all = engine["warnings"].as_array().unwrap();
    all.iter().filter(|w| w["kind"] == kind).map(|w| w["text"].as_str().unwrap()).collect()
}

pub(crate) fn names(document: &Value) -> Vec<&str> {
    document["engines"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect()
}

/// Problems of one kind in a document, as `SOURCE:LINE`.
pub(crate) fn problems(document: &Value, kind: &str) -> Vec<String> {
    let all = document["problems"].as_array().unwrap();
    all.iter()
        .filter(|p| p["kind"] == kind)
        .map(|p| format!("{}:{}", p["source"].as_str().unwrap(), p["line"]))
        .collect()
}

/// The header and the rows of a CSV table, cells as text. Our tables have no quoted commas.
pub(crate) fn csv(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    (rows.next().expect("a head"), rows.collect())
}

/// The text of a CSV table.
pub(crate) fn csv_text(head: &[String], rows: &[Vec<String>]) -> String {
    let mut text = head.join(",") + "\n";
    for row in rows {
        text += &row.join(",");
        text.push('\n');
    }
    text
}

/// The folder of the project.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file or folder below `data`, as an argument.
pub(crate) fn project_data(name: &str) -> String {
    root().join("data").join(name).to_string_lossy().into_owned()
}
