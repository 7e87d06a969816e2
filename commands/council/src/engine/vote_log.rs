//! The vote log of a session.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_rules::log::{Header, LoggedEnd, LoggedLine};
use evalcurve_words::whole_file;
use serde::Serialize;

use super::SessionError;

/// The log file, opened for appending. It gets a header before the first line and after every change of the rule.
pub(super) struct VoteLog {
    path: PathBuf,
    file: File,
    header_written: bool,
    /// The file ends within a line, because a session was killed while it wrote: the next line ends that one.
    ends_in_line: bool,
}

impl VoteLog {
    pub(crate) fn open(path: &Path) -> Result<Self, SessionError> {
        let file = OpenOptions::new().create(true).read(true).append(true).open(path);
        let opened = file.and_then(|mut file| {
            let ends_in_line = ends_in_line(&mut file)?;
            Ok(Self { path: path.to_owned(), file, header_written: false, ends_in_line })
        });
        opened.map_err(|source| SessionError::log(path, "open", source))
    }

    /// Writes the header again before the next line.
    pub(crate) fn repeat_header(&mut self) {
        self.header_written = false;
    }

    /// Writes a decision, with the header if it is due, in one call.
    pub(crate) fn write(&mut self, header: &Header, line: &LoggedLine) -> Result<(), SessionError> {
        let header = if self.header_written { Ok(String::new()) } else { json_line(header) };
        self.append(header.and_then(|header| Ok(header + &json_line(line)?)))?;
        self.header_written = true;
        Ok(())
    }

    /// Writes the end of a game after its decisions.
    pub(crate) fn write_end(&mut self, end: &LoggedEnd) -> Result<(), SessionError> {
        self.append(json_line(end))
    }

    /// Appends whole lines, or nothing.
    fn append(&mut self, lines: io::Result<String>) -> Result<(), SessionError> {
        let write = || {
            let text = if self.ends_in_line { "\n" } else { "" }.to_owned() + &lines?;
            whole_file::append(&mut self.file, text.as_bytes())?;
            self.ends_in_line = false;
            Ok(())
        };
        write().map_err(|source| SessionError::log(&self.path, "write", source))
    }
}

/// Whether a file ends without a line end.
fn ends_in_line(file: &mut File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    // a device, such as /dev/null, has no end
    if !metadata.is_file() || metadata.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
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
    /// The last decision, played or not.
    decided: Option<(Color, u32)>,
    /// The GUI has reported the end.
    pub over: bool,
}

impl GameProgress {
    /// Records a decision that the GUI played.
    pub(crate) fn played(&mut self, side: Color, ply: u32) {
        self.both_sides |= self.side.is_some_and(|known| known != side);
        (self.side, self.ply) = (Some(side), ply);
    }

    /// Records a decision.
    pub(crate) fn decided(&mut self, side: Color, ply: u32) {
        self.decided = Some((side, ply));
    }

    /// Records the result that the GUI reports: `win`, `lose` or `draw` for the council, or `black`, `white` or `even`
    /// for a game that the council only voted on. `None` if the council played no move or both sides, or if the word is
    /// not a result.
    pub(crate) fn end(&mut self, game_id: String, result: &str) -> Option<LoggedEnd> {
        let Self { side, both_sides, ply, decided, over } =
            std::mem::replace(self, Self { over: true, ..Self::default() });
        let for_winner = |winner: Color| {
            let (side, ply) = decided.filter(|_| !over)?;
            let outcome = if side == winner { Outcome::Win } else { Outcome::Loss };
            Some(LoggedEnd { game_id: game_id.clone(), outcome, side, ply })
        };
        let outcome = match result.trim() {
            "black" => return for_winner(Color::Black),
            "white" => return for_winner(Color::White),
            "even" => {
                let even = |end: LoggedEnd| LoggedEnd { outcome: Outcome::Draw, ..end };
                return for_winner(Color::Black).map(even);
            }
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
