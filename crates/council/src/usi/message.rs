//! Whole lines: what engines say and what GUIs say.

use std::fmt;

use super::{Go, Info, OptionSpec, Protocol};

/// A line of an engine.
#[derive(Debug, Clone, PartialEq)]
pub enum FromEngine {
    /// `id name …`
    Name(String),
    /// `id author …`
    Author(String),
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
    /// The move, `resign`, `win`, `(none)` or whatever else the engine wrote; may be empty.
    pub best: String,
    /// The answer that it expects.
    pub ponder: Option<String>,
}

impl FromEngine {
    /// Reads a line. Never fails: what makes no sense is `Other`.
    pub fn parse(line: &str, protocol: Protocol) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "id" => match rest.split_once(char::is_whitespace) {
                Some(("name", name)) => Self::Name(name.trim().to_owned()),
                Some(("author", name)) => Self::Author(name.trim().to_owned()),
                _ => Self::Other,
            },
            "option" => OptionSpec::parse(rest).map_or(Self::Other, Self::Option),
            "usiok" | "uciok" => Self::Greeted,
            "readyok" => Self::Ready,
            "info" => Self::Info(Info::parse(rest, protocol)),
            "bestmove" => {
                let mut words = rest.split_whitespace();
                let best = words.next().unwrap_or_default().to_owned();
                let ponder = words.next().filter(|w| *w == "ponder").and_then(|_| words.next());
                Self::BestMove(BestMove { best, ponder: ponder.map(str::to_owned) })
            }
            "checkmate" => Self::Checkmate(rest.to_owned()),
            _ => Self::Other,
        }
    }
}

/// Where the moves of a position start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// `startpos`
    Even,
    /// `sfen …` or `fen …`
    Text(String),
}

/// `position`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The start.
    pub start: Start,
    /// The moves from there.
    pub moves: Vec<String>,
}

impl Position {
    /// The even game before its first move.
    pub fn even() -> Self {
        Self { start: Start::Even, moves: Vec::new() }
    }

    /// Reads what follows the word `position`: `startpos moves 7g7f`, `sfen … moves …`, `fen …`, or a bare SFEN.
    pub fn parse(text: &str) -> Self {
        let (start, moves) = match text.split_once(" moves") {
            Some((start, moves)) => (start.trim(), moves),
            None => (text.trim(), ""),
        };
        let text = start.strip_prefix("sfen").or_else(|| start.strip_prefix("fen")).unwrap_or(start).trim();
        let start = if text == "startpos" || text.is_empty() { Start::Even } else { Start::Text(text.to_owned()) };
        Self { start, moves: moves.split_whitespace().map(str::to_owned).collect() }
    }

    /// The line that an engine gets, from `position` on.
    pub fn line(&self, protocol: Protocol) -> String {
        let mut line = match (&self.start, protocol) {
            (Start::Even, _) => "position startpos".to_owned(),
            (Start::Text(text), Protocol::Usi) => format!("position sfen {text}"),
            (Start::Text(text), Protocol::Uci) => format!("position fen {text}"),
        };
        if !self.moves.is_empty() {
            line += " moves";
        }
        for m in &self.moves {
            line.push(' ');
            line += m;
        }
        line
    }
}

/// A line of a GUI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromGui {
    /// `usi` or `uci`.
    Greeting(Protocol),
    /// `isready`
    IsReady,
    /// `setoption name … value …`
    SetOption {
        /// The option.
        name: String,
        /// Its value; none for a button.
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
    /// Reads a line. Never fails: what makes no sense is `Other`.
    pub fn parse(line: &str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
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
                None => Self::Other(line.to_owned()),
            },
            "usinewgame" | "ucinewgame" => Self::NewGame,
            "position" => Self::Position(Position::parse(rest)),
            "go" => Self::Go(Go::parse(rest)),
            "ponderhit" => Self::PonderHit,
            "stop" => Self::Stop,
            "gameover" => Self::GameOver(rest.to_owned()),
            "quit" => Self::Quit,
            _ => Self::Other(line.to_owned()),
        }
    }
}

/// `setoption` as an engine gets it.

pub(crate) struct SetOption<'a> {
    pub name: &'a str,
    pub value: Option<&'a str>,
}

impl fmt::Display for SetOption<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setoption name {}", self.name)?;
        self.value.map_or(Ok(()), |value| write!(f, " value {value}"))
    }
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
        assert_eq!(FromGui::parse("position startpos moves"), FromGui::Position(Position::even()));
        assert_eq!(FromGui::parse("what"), FromGui::Other("what".into()));
    }
}
