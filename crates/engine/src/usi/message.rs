//! Whole lines: messages from engines and from GUIs.

use super::words::{Words, first_word};
use super::{Go, Info, OptionSpec, Protocol};

/// A line from an engine.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FromEngine {
    /// `id name …`
    Name(String),
    /// `option …`
    Option(OptionSpec),
    /// `usiok` or `uciok`.
    Greeted,
    /// `readyok`
    Ready,
    /// `info …`
    Info(Info),
    /// `bestmove …`
    BestMove(BestMove),
    /// `checkmate …`: moves, `nomate`, `timeout` or `notimplemented`.
    Checkmate(String),
    /// Anything else.
    Other,
}

/// `bestmove`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestMove {
    /// The move, `resign`, `win`, `(none)` or any other word that the engine sent; may be empty.
    pub best: String,
    /// The expected answer.
    pub ponder: Option<String>,
}

impl FromEngine {
    /// Parses a line. Never fails: a line that cannot be parsed is `Other`.
    pub fn parse(line: &str, protocol: Protocol) -> Self {
        let (word, rest) = first_word(line);
        match word {
            "id" => match first_word(rest) {
                ("name", name) if !name.is_empty() => Self::Name(name.to_owned()),
                _ => Self::Other,
            },
            "option" => OptionSpec::parse(rest).map_or(Self::Other, Self::Option),
            "usiok" | "uciok" => Self::Greeted,
            "readyok" => Self::Ready,
            "info" => Self::Info(Info::parse(rest, protocol)),
            "bestmove" => {
                let mut words = Words::new(rest);
                let best = words.next().unwrap_or_default().to_owned();
                let ponder = words.next().filter(|word| *word == "ponder").and_then(|_| words.next());
                Self::BestMove(BestMove { best, ponder: ponder.map(str::to_owned) })
            }
            "checkmate" => Self::Checkmate(rest.to_owned()),
            _ => Self::Other,
        }
    }
}

/// `position`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    /// The start as SFEN or FEN; `None`: the initial position.
    pub start: Option<String>,
    pub moves: Vec<String>,
}

impl Position {
    /// Parses what follows the word `position`: `startpos moves 7g7f`, `sfen … moves …`, `fen …`, or a bare SFEN.
    pub fn parse(text: &str) -> Self {
        let (start, moves) = text.split_once(" moves").unwrap_or((text, ""));
        let start = start.trim();
        let text = start.strip_prefix("sfen").or_else(|| start.strip_prefix("fen")).unwrap_or(start).trim();
        let start = Some(text).filter(|text| !matches!(*text, "startpos" | ""));
        Self { start: start.map(str::to_owned), moves: moves.split_whitespace().map(str::to_owned).collect() }
    }

    /// The line to send to an engine, starting with `position`.
    pub fn line(&self, protocol: Protocol) -> String {
        let mut line = match &self.start {
            None => "position startpos".to_owned(),
            Some(text) => format!("position {} {text}", protocol.word("sfen", "fen")),
        };
        if !self.moves.is_empty() {
            line += " moves ";
            line += &self.moves.join(" ");
        }
        line
    }
}

/// A line from a GUI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromGui {
    /// `usi` or `uci`.
    Greeting(Protocol),
    /// `isready`
    IsReady,
    /// `setoption name … value …`
    SetOption {
        name: String,
        /// Its value; `None` for a button.
        value: Option<String>,
    },
    /// `usinewgame` or `ucinewgame`.
    NewGame,
    /// `position …`
    Position(Position),
    /// `go …`
    Go(Go),
    /// `ponderhit`
    PonderHit,
    /// `stop`
    Stop,
    /// `gameover win`, `lose` or `draw`.
    GameOver(String),
    /// `quit`
    Quit,
    /// Anything else.
    Other(String),
}

impl FromGui {
    /// Parses a line. Never fails: a line that cannot be parsed is `Other`. A byte order mark, with which editors
    /// begin a file of commands, is ignored.
    pub fn parse(line: &str) -> Self {
        let line = line.trim_start_matches('\u{feff}');
        let (word, rest) = first_word(line);
        match word {
            "usi" => Self::Greeting(Protocol::Usi),
            "uci" => Self::Greeting(Protocol::Uci),
            "isready" => Self::IsReady,
            "setoption" => match rest.strip_prefix("name").map(str::trim) {
                Some(rest) => {
                    let (name, value) = match rest.split_once(" value") {
                        Some((name, value)) => (name, Some(value.trim().to_owned())),
                        None => (rest, None),
                    };
                    Self::SetOption { name: name.trim().to_owned(), value }
                }
                None => Self::Other(line.trim().to_owned()),
            },
            "usinewgame" | "ucinewgame" => Self::NewGame,
            "position" => Self::Position(Position::parse(rest)),
            "go" => Self::Go(Go::parse(rest)),
            "ponderhit" => Self::PonderHit,
            "stop" => Self::Stop,
            "gameover" => Self::GameOver(rest.to_owned()),
            "quit" => Self::Quit,
            _ => Self::Other(line.trim().to_owned()),
        }
    }
}

/// The `setoption` line for an option; a button has no value.
pub fn set_option(name: &str, value: Option<&str>) -> String {
    let value = value.map_or_else(String::new, |value| format!(" value {value}"));
    format!("setoption name {name}{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_understood() {
        let read = |line| FromEngine::parse(line, Protocol::Usi);
        assert_eq!(read("id name 将棋 エンジン 2"), FromEngine::Name("将棋 エンジン 2".into()));
        assert_eq!(read("usiok\r"), FromEngine::Greeted);
        let best = |best: &str, ponder: Option<&str>| {
            FromEngine::BestMove(BestMove { best: best.into(), ponder: ponder.map(str::to_owned) })
        };
        assert_eq!(read("bestmove 7g7f ponder 3c3d"), best("7g7f", Some("3c3d")));
        assert_eq!(read("bestmove resign"), best("resign", None));
        assert_eq!(read("bestmove"), best("", None));
        assert_eq!(read("checkmate nomate"), FromEngine::Checkmate("nomate".into()));
        assert_eq!(read("\u{fffd}\u{fffd} bestmove"), FromEngine::Other);
        assert_eq!(read(""), FromEngine::Other);
    }

    #[test]
    fn guis_are_understood() {
        let set = FromGui::SetOption { name: "E1_Book File".into(), value: Some("C:\\将棋 本\\a b.bin".into()) };
        assert_eq!(FromGui::parse("setoption name E1_Book File value C:\\将棋 本\\a b.bin"), set);
        assert_eq!(FromGui::parse("setoption name Clear"), FromGui::SetOption { name: "Clear".into(), value: None });
        let FromGui::Position(p) =
            FromGui::parse("position sfen lnsgkgsnl/9/9/9/9/9/9/9/LNSGKGSNL b - 1 moves 5i5h 5a5b")
        else {
            panic!("not a position")
        };
        assert_eq!(p.moves, ["5i5h", "5a5b"]);
        assert_eq!(p.line(Protocol::Usi), "position sfen lnsgkgsnl/9/9/9/9/9/9/9/LNSGKGSNL b - 1 moves 5i5h 5a5b");
        assert_eq!(FromGui::parse("position startpos moves"), FromGui::Position(Position::default()));
        assert_eq!(FromGui::parse("what"), FromGui::Other("what".into()));
        assert_eq!(FromGui::parse("\u{feff}usi"), FromGui::Greeting(Protocol::Usi));
    }
}
