//! The vote log of a session, written as it goes.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::SessionError;
use evalcurve_core::rule::log::{Header, Line, LoggedEnd};
use evalcurve_core::types::{Color, Outcome};

/// A file that votes are appended to: a header before the first line and after every change of the rule.
pub(super) struct VoteFile {
    file: File,
    header_written: bool,
}

impl VoteFile {
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|source| SessionError::Log { path: path.display().to_string(), source })?;
        Ok(Self { file, header_written: false })
    }

    /// The next line gets a header of its own.
    pub fn forget_header(&mut self) {
        self.header_written = false;
    }

    /// Writes a line, with its header where that is due, in one go.
    pub fn write(&mut self, header: &Header, line: &Line) -> io::Result<()> {
        let mut text = String::new();
        if !self.header_written {
            text += &serde_json::to_string(header)?;
            text.push('\n');
        }
        text += &serde_json::to_string(line)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())?;
        self.header_written = true;
        Ok(())
    }

    /// Writes the end of a game whose decisions stand above.
    pub fn write_end(&mut self, end: &LoggedEnd) -> io::Result<()> {
        let text = serde_json::to_string(end)? + "\n";
        self.file.write_all(text.as_bytes())
    }
}

/// The game so far, for the line of its end.
#[derive(Debug, Default)]
pub(super) struct Course {
    side: Option<Color>,
    /// Decisions for both sides: whose result the GUI tells is not known.
    both: bool,
    /// The ply of the last decision that was played.
    ply: u32,
    /// The GUI said that it is over.
    pub over: bool,
}

impl Course {
    /// A decision that the GUI played.
    pub fn played(&mut self, side: Color, ply: u32) {
        self.both |= self.side.is_some_and(|known| known != side);
        (self.side, self.ply) = (Some(side), ply);
    }

    /// The game is over, by a word of the GUI. `None` where nothing was played, or the word does not tell who won.
    pub fn end(&mut self, game_id: String, word: &str) -> Option<LoggedEnd> {
        let Self { side, both, ply, over } = std::mem::replace(self, Self { over: true, ..Self::default() });
        let outcome = match word.trim() {
            "win" => Outcome::Win,
            "lose" => Outcome::Loss,
            "draw" => Outcome::Draw,
            _ => return None,
        };
        let side = side.filter(|_| !both && !over)?;
        Some(LoggedEnd { game_id, outcome, side, ply })
    }
}

/// A name for the games of this session, different from those of others.
pub(super) fn session_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_millis(), std::process::id())
}
