//! The vote log of a session.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::SessionError;
use evalcurve_core::rule::log::{Header, Line, LoggedEnd};
use evalcurve_core::types::{Color, Outcome};

/// The log file, opened for appending. It gets a header before the first line and after every change of the rule.
pub(super) struct VoteLog {
    file: File,
    header_written: bool,
}

impl VoteLog {
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|source| SessionError::Log { path: path.display().to_string(), source })?;
        Ok(Self { file, header_written: false })
    }

    /// Writes the header again before the next line.
    pub fn repeat_header(&mut self) {
        self.header_written = false;
    }

    /// Writes a decision, with the header if it is due, in one call.
    pub fn write(&mut self, header: &Header, line: &Line) -> io::Result<()> {
        let header = if self.header_written { String::new() } else { json_line(header)? };
        self.file.write_all((header + &json_line(line)?).as_bytes())?;
        self.header_written = true;
        Ok(())
    }

    /// Writes the end of a game after its decisions.
    pub fn write_end(&mut self, end: &LoggedEnd) -> io::Result<()> {
        self.file.write_all(json_line(end)?.as_bytes())
    }
}

fn json_line(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}

/// The game so far, for the line at its end.
#[derive(Debug, Default)]
pub(super) struct GameProgress {
    side: Option<Color>,
    /// The council decided for both sides, so it is unknown whose result the GUI reports.
    both_sides: bool,
    /// The ply of the last decision that was played.
    ply: u32,
    /// The GUI has reported the end.
    pub over: bool,
}

impl GameProgress {
    /// Records a decision that the GUI played.
    pub fn played(&mut self, side: Color, ply: u32) {
        self.both_sides |= self.side.is_some_and(|known| known != side);
        (self.side, self.ply) = (Some(side), ply);
    }

    /// Records the result that the GUI reports. `None` if the council played no move or both sides, or if the word is
    /// not a result.
    pub fn end(&mut self, game_id: String, result: &str) -> Option<LoggedEnd> {
        let Self { side, both_sides, ply, over } = std::mem::replace(self, Self { over: true, ..Self::default() });
        let outcome = match result.trim() {
            "win" => Outcome::Win,
            "lose" => Outcome::Loss,
            "draw" => Outcome::Draw,
            _ => return None,
        };
        let side = side.filter(|_| !both_sides && !over)?;
        Some(LoggedEnd { game_id, outcome, side, ply })
    }
}

/// A prefix for the game ids of this session that no other session has.
pub(super) fn session_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_millis(), std::process::id())
}
