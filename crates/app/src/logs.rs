//! Vote logs as input.

use evalcurve_records::record::find::expand_globs;
use evalcurve_rules::log::{Log, Seen};
use evalcurve_words::text;

use crate::{Error, Input, InputSource};

/// The vote logs of several files.
#[derive(Debug, Default)]
pub struct Logs {
    /// All of them.
    pub log: Log,
    /// The lines that cannot be used, with their files.
    pub problems: Vec<String>,
    /// The files and how many sessions they have.
    pub sources: Vec<(String, usize)>,
}

impl Logs {
    /// Reads file by file, so that line numbers are those of each file; a header applies to its own file.
    ///
    /// # Errors
    /// [`Error`] for a file that cannot be read.
    pub fn read(input: &Input) -> Result<Self, Error> {
        let (mut logs, mut seen) = (Self::default(), Seen::default());
        for source in &input.sources {
            match source {
                InputSource::Path(path) => {
                    for path in expand_globs(std::slice::from_ref(path))? {
                        let name = path.display().to_string();
                        let log = Log::read_after(&path, &mut seen).map_err(|source| match source.kind() {
                            std::io::ErrorKind::InvalidData => text!("{name} is no text; unpack it first").into(),
                            _ => Error::File { what: text!("cannot read {name}; give a vote log"), source },
                        })?;
                        logs.add(log, &name);
                    }
                }
                InputSource::Bytes(name, bytes) => logs.add(Log::parse_after(bytes, &mut seen), name),
                InputSource::Table(name, _) => {
                    return Err(text!("{name}: a table, not a vote log").into());
                }
            }
        }
        Ok(logs)
    }

    fn add(&mut self, read: Log, name: &str) {
        self.problems.extend(read.problems.iter().map(|p| format!("{name}:{}: {}", p.line, p.text)));
        self.sources.push((name.to_owned(), read.sessions.len()));
        self.log.append(read);
    }

    /// The file of a session.
    pub fn source(&self, session: usize) -> &str {
        let mut last = 0;
        let found = self.sources.iter().find(|(_, sessions)| {
            last += sessions;
            session < last
        });
        found.map_or("", |(name, _)| name)
    }
}
