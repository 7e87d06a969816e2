//! Reads a log strictly, line by line. A line with a problem is reported, and the other lines are still used.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

use evalcurve_calibration::Calibration;
use evalcurve_words::text::plain_types;
use evalcurve_words::whole_file::read_bounded;

use super::{FORMAT, Header, LoggedEnd, LoggedLine, VERSION, is_header};
use crate::weights::Weights;

/// Problems that are kept with their text; further ones are only counted.
const MOST_PROBLEMS: usize = 100;

/// Largest size of a log.
const MOST_BYTES: u64 = 1 << 30;

/// A parsed log. Every line is one of five kinds: `headers + decisions + ends + blank + not_used` is `lines`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log {
    /// Headers with the lines after them.
    pub sessions: Vec<Session>,
    /// The first 100 lines that could not be used.
    pub problems: Vec<Problem>,
    /// Number of lines that could not be used.
    pub not_used: usize,
    pub lines: usize,
    /// Number of empty lines among them.
    pub blank: usize,
}

/// Lines that were read: a decision names its game, its ply and all times, so an equal line is a copy of it.
#[derive(Debug, Default)]
pub struct Seen(HashSet<u64>);

impl Seen {
    fn first(&mut self, line: &[u8]) -> Result<(), String> {
        let mut hash = DefaultHasher::new();
        line.hash(&mut hash);
        match self.0.insert(hash.finish()) {
            true => Ok(()),
            false => Err("a copy of a line that was read before, which counts once; remove the copy".to_owned()),
        }
    }
}

/// A header and the decisions under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub header: Header,
    /// The decisions with their line numbers, from 1.
    pub decisions: Vec<(usize, LoggedLine)>,
    /// The ends of games with their line numbers, from 1.
    pub ends: Vec<(usize, LoggedEnd)>,
}

/// A line that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong, and how to fix it.
    pub text: String,
}

/// The byte order mark that may begin a log.
const MARK: &[u8] = "\u{feff}".as_bytes();

impl Log {
    /// Reads a file of at most 1 GiB.
    ///
    /// # Errors
    /// The system's error, `FileTooLarge`, or `InvalidData` for a file that does not begin with text, as packed ones.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::read_after(path, &mut Seen::default())
    }

    /// As [`Self::read`], after other logs: a line that was in one of them is not used again.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_after(path: &Path, seen: &mut Seen) -> io::Result<Self> {
        let bytes = read_bounded(path, MOST_BYTES)?;
        // an error without a length: the 64 bytes end within a letter
        let is_text = str::from_utf8(&bytes[..bytes.len().min(64)]).map_or_else(|e| e.error_len().is_none(), |_| true);
        is_text.then(|| Self::parse_after(&bytes, seen)).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Reads the bytes of a log.
    pub fn parse(bytes: &[u8]) -> Self {
        Self::parse_after(bytes, &mut Seen::default())
    }

    /// As [`Self::parse`], after other logs.
    pub fn parse_after(bytes: &[u8], seen: &mut Seen) -> Self {
        let mut log = Self::default();
        // whether the last header is usable: lines after a broken one have no voters
        let mut headed = false;
        let bytes = bytes.strip_prefix(MARK).unwrap_or(bytes);
        for (number, line) in bytes.split(|&b| b == b'\n').enumerate() {
            let number = number + 1;
            // joined logs have the mark before a header within
            let line = line.strip_prefix(MARK).filter(|rest| rest.starts_with(b"{")).unwrap_or(line).trim_ascii();
            log.lines = number;
            if line.is_empty() {
                log.blank += 1;
                continue;
            }
            if let Err(text) = log.take(number, line, &mut headed, seen) {
                log.not_used += 1;
                if log.problems.len() < MOST_PROBLEMS {
                    log.problems.push(Problem { line: number, text });
                }
            }
        }
        // the text after the last line feed is not a line if it is empty
        if bytes.ends_with(b"\n") || bytes.is_empty() {
            log.lines = log.lines.saturating_sub(1);
            log.blank = log.blank.saturating_sub(1);
        }
        log
    }

    /// Gives a voter another calibration in every session. Returns whether the log has this voter.
    pub fn recalibrate(&mut self, voter: &str, calibration: &Calibration) -> bool {
        let mut found = false;
        let voters = self.sessions.iter_mut().flat_map(|session| &mut session.header.voters);
        for of_that_name in voters.filter(|v| v.name == voter) {
            of_that_name.calibration = Some(calibration.without_evidence());
            found = true;
        }
        found
    }

    /// Gives the voters of every session the weights of a file; others keep theirs.
    pub fn reweigh(&mut self, weights: &Weights) {
        for voter in self.sessions.iter_mut().flat_map(|session| &mut session.header.voters) {
            if let Some(member) = weights.of(&voter.name) {
                (voter.weight, voter.phases) = (Some(member.weight), member.phases.clone());
            }
        }
    }

    fn take(&mut self, number: usize, line: &[u8], headed: &mut bool, seen: &mut Seen) -> Result<(), String> {
        let syntax = |e: serde_json::Error| {
            // serde_json counts lines within this line, so its "at line 1" would mislead
            let text = e.to_string();
            let text = text.split(" at line ").next().unwrap_or(&text);
            format!("{} (column {}); correct the line or remove it", plain_types(text), e.column())
        };
        if is_header(line) {
            *headed = false;
            // another version has other fields: report its number, not the first unknown field
            let Version { format, version } = serde_json::from_slice(line).map_err(syntax)?;
            if (format.as_str(), version) != (FORMAT, VERSION) {
                return Err(format!(
                    "format {format:?} of version {version}, this program reads {FORMAT:?} of version {VERSION}; \
                    replay the log with the program that wrote it"
                ));
            }
            let header: Header = serde_json::from_slice(line).map_err(syntax)?;
            if let Some(problem) = header.problem() {
                return Err(problem);
            }
            *headed = true;
            self.sessions.push(Session { header, decisions: Vec::new(), ends: Vec::new() });
            return Ok(());
        }
        let session = self.sessions.last_mut().filter(|_| *headed);
        let no_header = || "there is no usable header before this line; restore the header of its council".to_owned();
        if is_end(line) {
            let end: LoggedEnd = serde_json::from_slice(line).map_err(syntax)?;
            let session = session.ok_or_else(no_header)?;
            seen.first(line)?;
            session.ends.push((number, end));
            return Ok(());
        }
        let decision: LoggedLine = serde_json::from_slice(line).map_err(syntax)?;
        let session = session.ok_or_else(no_header)?;
        match decision.problem(&session.header) {
            Some(problem) => Err(problem),
            None => {
                seen.first(line)?;
                session.decisions.push((number, decision));
                Ok(())
            }
        }
    }

    /// Appends another log.
    pub fn append(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.problems.extend(other.problems);
        self.not_used += other.not_used;
        self.lines += other.lines;
        self.blank += other.blank;
    }

    /// Every decision with the place of its session and the number of its line, and its header.
    pub fn entries(&self) -> impl Iterator<Item = ((usize, usize), &Header, &LoggedLine)> {
        let sessions = self.sessions.iter().enumerate();
        sessions.flat_map(|(i, s)| s.decisions.iter().map(move |(number, line)| ((i, *number), &s.header, line)))
    }

    /// Number of usable decisions.
    pub fn decisions(&self) -> usize {
        self.sessions.iter().map(|s| s.decisions.len()).sum()
    }

    /// Number of games whose end is in the log.
    pub fn ends(&self) -> usize {
        self.sessions.iter().map(|s| s.ends.len()).sum()
    }
}

/// Whether this line is the end of a game. A text may contain `"end"`, but with escaped quotes.
fn is_end(line: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Ends {
        end: Option<serde::de::IgnoredAny>,
    }
    memchr::memmem::find(line, b"\"end\"").is_some()
        && serde_json::from_slice::<Ends>(line).is_ok_and(|line| line.end.is_some())
}

/// The fields that every version of a header has.
#[derive(serde::Deserialize)]
struct Version {
    format: String,
    version: u32,
}

#[cfg(test)]
mod tests {
    use super::super::{LoggedVote, MOST_VOTERS};
    use super::*;
    use crate::{Options, Rule, Voter};
    use evalcurve_calibration::types::Color;

    /// A header with so many voters, and a decision of the first of them.
    fn log(voters: usize, names: impl Fn(usize) -> String) -> String {
        let names: Vec<String> = (0..voters).map(names).collect();
        let voters: Vec<Voter<'_>> = names.iter().map(|name| Voter::member(name)).collect();
        let header = Header::new("made up", Rule::Majority, &voters, &Options::default());
        let vote = LoggedVote { voter: names[0].clone(), best: Some("7g7f".to_owned()), ..LoggedVote::default() };
        let line = LoggedLine {
            game_id: "g".to_owned(),
            ply: 1,
            position: "startpos".to_owned(),
            side: Color::Black,
            material: None,
            time_ms: 1,
            votes: vec![vote],
            searched: Vec::new(),
            decision: None,
            played: "7g7f".to_owned(),
            faults: Vec::new(),
        };
        let json = [serde_json::to_string(&header).unwrap(), serde_json::to_string(&line).unwrap()];
        json.map(|line| line + "\n").concat()
    }

    #[test]
    fn a_header_has_few_voters() {
        let name = |i| format!("v{i}");
        let most = Log::parse(log(MOST_VOTERS, name).as_bytes());
        assert_eq!((most.sessions.len(), most.decisions(), most.problems), (1, 1, Vec::new()));
        // a header that is refused does not refuse the next one
        let both = log(MOST_VOTERS + 1, name) + &log(1, name);
        let read = Log::parse(both.as_bytes());
        assert_eq!((read.lines, read.sessions.len(), read.decisions(), read.problems.len()), (4, 1, 1, 2));
        let text = |i: usize| (read.problems[i].line, read.problems[i].text.as_str());
        assert_eq!(text(0), (1, "the header has 101 voters, a council at most 100; remove some of them"));
        assert!(text(1).0 == 2 && text(1).1.starts_with("there is no usable header before this line"));
    }

    #[test]
    fn a_copy_of_a_line_counts_once() {
        let text = log(1, |i| format!("v{i}"));
        let twice = Log::parse(text.repeat(2).as_bytes());
        assert_eq!((twice.lines, twice.sessions.len(), twice.decisions(), twice.not_used), (4, 2, 1, 1));
        assert!(twice.problems[0].line == 4 && twice.problems[0].text.starts_with("a copy of a line"));
        // a file that is given twice, and a longer copy of it
        let mut seen = Seen::default();
        let longer = text.clone() + &text.lines().last().unwrap_or_default().replace("\"ply\":1", "\"ply\":3");
        let found = [&text, &text, &longer].map(|text| Log::parse_after(text.as_bytes(), &mut seen).decisions());
        assert_eq!(found, [1, 0, 1]);
    }

    #[test]
    fn a_name_counts_once_and_messages_are_short() {
        let twice = Log::parse(log(40, |i| format!("v{}", i % 39)).as_bytes());
        assert!(twice.problems[0].text.starts_with("two voters are called \"v0\""), "{:?}", twice.problems);
        let long = log(MOST_VOTERS, |i| format!("v{i}").repeat(100));
        let votes = |from: &str, to: &str| Log::parse(long.replace(from, to).as_bytes()).problems;
        let unknown = votes("\"voter\":\"v0", "\"voter\":\"x");
        let text = &unknown[0].text;
        assert!(text.contains("which is not in the header; it has v0v0") && text.len() < 600, "{text}");
        let vote = &long[long.find("{\"voter\"").unwrap()..=long.find("}],\"decision\"").unwrap()];
        let twice = votes(vote, &format!("{vote},{vote}"));
        assert!(twice[0].text.ends_with("votes twice; remove one of the votes"), "{twice:?}");
    }
}
