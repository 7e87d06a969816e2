//! Every program of the cookbook runs and says what it should.

use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/calibration/examples/zshogi.json");
const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/selfplay/sekirei+zshogi.csa");

/// What a program prints.
fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("evalcurve-cookbook-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn win_rate() {
    let said = run(env!("CARGO_BIN_EXE_win_rate"), &[FILE, "300", "-300", "NaN"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("+300 0.539 [0.5") && lines[0].contains("] wdl "), "{said}");
    assert!(lines[1].starts_with("-300 0.461 [0.4") && lines[2] == "NaN NaN", "{said}");
}

#[test]
fn calibrate_folder_and_own_model() {
    let folder = Folder::new("calibrate");
    let said = run(env!("CARGO_BIN_EXE_calibrate_folder"), &[RECORDS, &folder.file("")]);
    assert!(said.lines().count() == 2 && said.contains("zshogi: 1/w1 "), "{said}");
    assert!(Path::new(&folder.file("zshogi.json")).is_file());
    let said = run(env!("CARGO_BIN_EXE_own_model"), &[RECORDS, "zshogi", &folder.file("bent.json")]);
    assert!(said.starts_with("+300: 0.") && said.contains('['), "{said}");
}

#[test]
fn positions() {
    let said = run(env!("CARGO_BIN_EXE_positions"), &[RECORDS]);
    let first = said.lines().next().unwrap();
    assert!(first.starts_with("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\t1\t"), "{first}");
    let scored = said.lines().filter(|line| !line.split('\t').nth(2).unwrap().starts_with("-\t")).count();
    assert!(scored > 1_000, "{scored}");
}

#[cfg(unix)]
#[test]
fn engine_win_rates() {
    let script = "while read w r; do case $w in uci) echo uciok;; isready) echo readyok;; quit) exit;; \
                  go) echo info depth 9 score cp 300 pv d2d4 d7d5; echo bestmove d2d4;; esac; done";
    let engine = format!("sh -c \"{script}\"");
    let said = run(env!("CARGO_BIN_EXE_engine_win_rates"), &[&engine, FILE, "e2e4"]);
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.lines().all(|line| line.starts_with("d2d4 0.539 [0.5") && line.ends_with("] d2d4 d7d5")), "{said}");
}

#[test]
fn council() {
    let votes = [(80, "2g2f"), (30, "7g7f"), (120, "7g7f")].map(|(score, m)| format!("{FILE}:{m}:{score}"));
    let said = run(env!("CARGO_BIN_EXE_council"), &votes.each_ref().map(String::as_str));
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].contains("7g7f") && lines[1].starts_with("modest: ") && lines.len() == 2, "{said}");
}

#[test]
fn forecasts() {
    let folder = Folder::new("forecasts");
    let rows = (0..600).map(|i| format!("{i},{},{}\n", if i % 2 == 0 { 300 } else { -300 }, u8::from(i % 4 < 2)));
    std::fs::write(folder.file("rows.csv"), format!("game,score,result\n{}", rows.collect::<String>())).unwrap();
    let said = run(env!("CARGO_BIN_EXE_forecasts"), &[FILE, &folder.file("rows.csv")]);
    assert!(said.starts_with("600 rows: log loss 0."), "{said}");
}

#[test]
fn own_format() {
    let folder = Folder::new("format");
    std::fs::write(folder.file("my.log"), "game A B 1-0 35 -20 80\ngame C D ? 1\n").unwrap();
    assert_eq!(run(env!("CARGO_BIN_EXE_own_format"), &[&folder.file("my.log")]), "A - B: 3 scores\n");
}
