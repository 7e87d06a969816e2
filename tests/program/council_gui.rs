//! A council in the order of commands that GUIs send, with members whose answers a shell script gives.

#![cfg(unix)]

use crate::council::Gui;
use crate::support::Folder;

/// The table of a member. `go` is what the script does when it is asked; `$r` is what follows the word `go`.
fn shell(folder: &Folder, name: &str, go: &str) -> String {
    let script = format!(
        "while read -r w r; do case \"$w\" in usi) echo id name {name}; echo usiok;; isready) echo readyok;; \
         go) {go};; quit) exit;; esac; done"
    );
    folder.write(&format!("{name}.sh"), script);
    format!("[[engine]]\nname = '{name}'\ncommand = 'sh'\nargs = ['{name}.sh']\ndirectory = '.'\n")
}

fn council(folder: &Folder, head: &str, members: &[String]) -> Gui {
    folder.write("council.toml", format!("rule = 'majority'\n{head}\n{}", members.concat()));
    let mut gui = Gui::new(folder, &["council", "council.toml"]);
    gui.ready("usi");
    gui
}

#[test]
fn searchmoves_counts_for_members_that_do_not_know_it() {
    let folder = Folder::new();
    let members = [shell(&folder, "A", "echo bestmove 7g7f"), shell(&folder, "B", "echo bestmove 7g7f")];
    let mut gui = council(&folder, "log = 'votes.jsonl'", &members);
    assert_eq!(gui.best("startpos", "go byoyomi 2000 searchmoves 2g2f"), "bestmove 2g2f");
    assert_eq!(gui.best("startpos", "go byoyomi 2000 searchmoves 2g2f 7g7f"), "bestmove 7g7f");
    assert_eq!(gui.best("startpos", "go byoyomi 2000 searchmoves 7g7e"), "bestmove 7g7f");
    assert!(gui.got("searchmoves has 7g7e, which is illegal") && !gui.got("started again"), "{:#?}", gui.log());
    gui.quit();
    assert!(folder.text("votes.jsonl").contains("\"fault\":\"7g7f, which searchmoves leaves out\""));
}

/// The decision of a ponder that `gameover` ends must not answer the first `go` of the next game.
#[test]
fn a_ponder_ends_with_its_game() {
    let folder = Folder::new();
    let go = "case \"$r\" in ponder*) ;; *) echo bestmove 3c3d;; esac;; stop) echo bestmove 1g1f";
    let mut gui = council(&folder, "", &[shell(&folder, "A", go)]);
    gui.send("position startpos");
    gui.send("go ponder btime 1000 wtime 1000");
    gui.send("gameover win");
    gui.until("bestmove");
    gui.send("isready");
    gui.until("readyok");
    gui.send("usinewgame");
    assert_eq!(gui.best("startpos moves 7g7f", "go byoyomi 2000"), "bestmove 3c3d");
    gui.quit();
}

#[test]
fn a_mate_that_is_none_is_no_answer() {
    let folder = Folder::new();
    let lies = shell(&folder, "A", "echo checkmate 1a1a garbage");
    let none = shell(&folder, "B", "sleep 0.2; echo checkmate nomate");
    let mut gui = council(&folder, "", &[lies, none]);
    gui.send("position startpos");
    gui.send("go mate 900");
    assert_eq!(gui.until("checkmate"), "checkmate nomate");
    assert!(gui.got("A: answered checkmate 1a1a garbage, which is no mate"), "{:#?}", gui.log());
    gui.quit();
    // a limit of moves does not apply to a search for a mate
    let limited =
        shell(&folder, "A", "echo \"$r\" >> asked; echo checkmate P*1c 1b1a G*1b") + "limit = { nodes = 9 }\n";
    let mut gui = council(&folder, "", &[limited]);
    gui.send("position sfen 9/8k/9/7G1/9/9/9/9/4K4 b GP 1");
    gui.send("go mate 9000");
    let answer = gui.until("checkmate");
    assert_eq!((folder.text("asked").trim(), answer.as_str()), ("mate 9000", "checkmate P*1c 1b1a G*1b"));
    gui.quit();
}

/// An engine may answer `stop` later than it ever did. It was ended for that although it had answered.
#[test]
fn a_late_checkmate_is_an_answer() {
    let folder = Folder::new();
    let go = "case \"$r\" in mate*) sleep 0.6; echo checkmate timeout;; *) echo bestmove 7g7f;; esac";
    let mut gui = council(&folder, "", &[shell(&folder, "A", go) + "stop-patience-ms = 2000\n"]);
    gui.send("position startpos");
    gui.send("go mate 200");
    gui.until("checkmate");
    assert_eq!(gui.best("startpos", "go byoyomi 4000"), "bestmove 7g7f");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    gui.send("isready");
    gui.until("readyok");
    assert!(!gui.got("started again"), "{:#?}", gui.log());
    gui.quit();
}

/// A search that is open when the game ends is decided, but its move is not played.
#[test]
fn no_move_is_logged_after_the_end_of_a_game() {
    let folder = Folder::new();
    let go = "case \"$n\" in '') n=1; echo bestmove 7g7f;; esac;; stop) echo bestmove 1g1f";
    let mut gui = council(&folder, "log = 'votes.jsonl'", &[shell(&folder, "A", go)]);
    assert_eq!(gui.best("startpos", "go byoyomi 2000"), "bestmove 7g7f");
    gui.send("position startpos moves 7g7f 3c3d");
    gui.send("go byoyomi 5000");
    gui.send("gameover lose");
    gui.until("bestmove");
    gui.quit();
    let log = folder.text("votes.jsonl");
    let of_kind = |key: &str| log.lines().filter(|line| line.contains(key)).count();
    assert_eq!((of_kind("\"played\""), of_kind("\"end\":\"loss\"")), (1, 1), "{log}");
    assert!(log.lines().any(|line| line.contains("\"end\":\"loss\"") && line.contains("\"ply\":1")), "{log}");
}

/// In UCI, GUIs begin a game by `ucinewgame` alone.
#[test]
fn a_member_that_failed_is_back_in_the_next_game() {
    let folder = Folder::new();
    let go = "if [ -e worked ]; then echo bestmove 7g7f; else touch worked; exit 1; fi";
    let mut gui = council(&folder, "restarts = 1", &[shell(&folder, "A", go)]);
    gui.best("startpos", "go byoyomi 2000");
    gui.send("usinewgame");
    assert_eq!(gui.best("startpos", "go byoyomi 5000"), "bestmove 7g7f");
    gui.quit();
}

#[test]
fn a_long_answer_is_quoted_in_part() {
    let folder = Folder::new();
    let go = "printf 'bestmove '; head -c 20000 /dev/zero | tr '\\0' x; echo";
    let mut gui = council(&folder, "", &[shell(&folder, "A", go), shell(&folder, "B", "echo bestmove 7g7f")]);
    assert_eq!(gui.best("startpos", "go byoyomi 2000"), "bestmove 7g7f");
    let longest = gui.log().iter().map(String::len).max().unwrap();
    assert!(gui.got("which is illegal") && longest < 500, "{longest}");
    gui.quit();
}

/// Paths keep their blanks, of whatever kind, from the engine to the GUI and back.
#[test]
fn paths_in_options_stay_as_they_are() {
    let folder = Folder::new();
    let path = "C:\\将棋\u{3000}本\\a  b.bin";
    let script = format!(
        "while read -r line; do case \"$line\" in usi) printf '%s\\n' 'option name Book type filename default {path}'; \
         echo usiok;; isready) echo readyok;; setoption*) printf '%s\\n' \"$line\" >> set;; go*) echo bestmove 7g7f;; \
         quit) exit;; esac; done"
    );
    folder.write("A.sh", script);
    let member = "[[engine]]\nname = 'A'\ncommand = 'sh'\nargs = ['A.sh']\ndirectory = '.'\n".to_owned();
    let mut gui = council(&folder, "", &[member]);
    assert!(gui.got(&format!("option name E1_Book type filename default {path}")), "{:#?}", gui.log());
    gui.send(&format!("setoption name E1_Book value {path}"));
    gui.best("startpos", "go byoyomi 2000");
    gui.quit();
    assert_eq!(folder.text("set").trim(), format!("setoption name Book value {path}"));
}
