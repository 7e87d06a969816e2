//! The games of files and archives, one after another.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};

use encoding_rs::Encoding;
use evalcurve_words::language::Text;
use evalcurve_words::text;

use crate::parallel::read_games;
use crate::record::find::{Entry, SourceError};
use crate::record::format::BOM;
use crate::record::source::{Block, Note, Refusal, Returns, Shared, Sink, Work};
use crate::record::{Format, Formats, Game, Played, SkipReason, archive};
use crate::sample::collect::{Problem, ProblemKind};

/// Blocks that are read ahead.
const AHEAD: usize = 4;

/// A game, and the file that holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The file, or the archive and member.
    pub source: Arc<str>,
    /// The game. Its lines are counted from 0 at the start of the file.
    pub game: Game,
    /// Its text, after [`Games::with_moves`].
    pub written: Option<Written>,
}

/// A game as the record has it.
#[derive(Debug, Clone)]
pub struct Written {
    pub format: &'static Format,
    /// The encoding that the file declares above the game.
    pub encoding: Option<&'static Encoding>,
    pub text: Vec<u8>,
    /// The number of its file in [`Games::originals`], and its place there.
    pub place: (usize, usize),
}

/// All of a file or a member of an archive, also what is no game.
#[derive(Debug, Clone)]
pub struct Original {
    /// The file, or the archive and member.
    pub source: Arc<str>,
    /// Whether it was read to its end, and its bytes are known.
    pub is_whole: bool,
    /// Its text as the readers see it: without the byte order marks within, and without carriage returns alone.
    text: Vec<u8>,
    /// The places in the text before which a mark stood.
    marks: Vec<usize>,
    /// Whether every line feed was a carriage return.
    returns: bool,
}

impl Original {
    /// Its bytes as they are, with what is inserted at places of its text, in order.
    pub fn with(&self, insertions: &[(usize, Vec<u8>)]) -> Vec<u8> {
        let marks = self.marks.iter().map(|at| (*at, BOM.to_vec()));
        let mut all: Vec<(usize, Vec<u8>)> = insertions.iter().cloned().chain(marks).collect();
        // a mark belongs to the line behind it
        all.sort_by_key(|(at, _)| *at);
        let mut out = spliced(&self.text, &all);
        if self.returns {
            out.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b'\r');
        }
        out
    }
}

/// A text with what is inserted at places of it, in order.
pub fn spliced(text: &[u8], insertions: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut from) = (Vec::with_capacity(2 * text.len()), 0);
    for (at, piece) in insertions {
        let at = (*at).clamp(from, text.len());
        out.extend_from_slice(&text[from..at]);
        out.extend_from_slice(piece);
        from = at;
    }
    out.extend_from_slice(&text[from..]);
    out
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.format.name == other.format.name && self.encoding == other.encoding && self.text == other.text
    }
}

/// The games of a file, a folder or an archive, in all formats that are read, without a filter. Damaged games and files
/// that cannot be read come as problems between them; the iteration goes on after a problem.
///
/// # Errors
/// [`SourceError`] for a path that does not exist.
pub fn games(path: impl Into<PathBuf>) -> Result<Games, SourceError> {
    Formats::default().games(path)
}

/// The games of these files, as [`games`] gives them. [`Entry::in_memory`] makes a file of bytes.
pub fn games_of(entries: Vec<Entry>) -> Games {
    Formats::default().games_of(entries)
}

/// Gives the blocks of a file to `take`, while that returns `true`.
fn read(entry: &Entry, formats: &Formats, take: impl FnMut(Work) -> bool) {
    struct Blocks<F> {
        take: F,
        shared: Shared,
    }
    impl<F: FnMut(Work) -> bool> Sink for Blocks<F> {
        fn take(&mut self, work: Work) {
            let goes_on = (self.take)(work);
            self.shared.stop.fetch_or(!goes_on, Relaxed);
        }
        fn shared(&self) -> &Shared {
            &self.shared
        }
    }
    let shared = Shared { formats: formats.clone(), ..Shared::default() };
    archive::read_entry(0, entry, &mut Blocks { take, shared });
}

fn whole(entry: Option<&Entry>, formats: &Formats) -> Vec<Work> {
    let mut all = Vec::new();
    entry.into_iter().for_each(|entry| {
        read(entry, formats, |work| {
            all.push(work);
            true
        });
    });
    all
}

/// See [`games`].
pub struct Games {
    work: Box<dyn Iterator<Item = Work> + Send>,
    thread: Option<JoinHandle<()>>,
    /// The games of the block that was read last.
    ready: VecDeque<Result<Record, Problem>>,
    /// The file of that block, and its lines so far.
    member: Option<Arc<str>>,
    lines: u64,
    /// The file has had no game so far.
    is_empty: bool,
    with_moves: bool,
    originals: Vec<Original>,
}

impl Iterator for Games {
    type Item = Result<Record, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            match self.work.next() {
                Some(Work::Block(block)) => self.block(&block),
                Some(Work::Part(part)) => self.positions(part.member()),
                Some(Work::Note(Note { member, refusal, kind, message, .. })) => {
                    // the file, or the archive around it, is cut off
                    if let Some(last) = self.originals.last_mut().filter(|last| last.source.starts_with(&*member)) {
                        last.is_whole &= refusal.is_none();
                    }
                    self.problem(&member, 0, kind, message);
                }
                // files are not handed out here
                Some(Work::Entry(..)) => {}
                None => {
                    self.begin(None);
                    if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
                        resume_unwind(panic);
                    }
                    break;
                }
            }
        }
        self.ready.pop_front()
    }
}

impl Games {
    pub(crate) fn new(entries: Vec<Entry>, formats: &Formats) -> Self {
        let all: Arc<(Vec<Entry>, Formats)> = Arc::new((entries, formats.clone()));
        let (sender, receiver) = sync_channel(AHEAD);
        let theirs = all.clone();
        let read_all =
            move || theirs.0.iter().for_each(|entry| read(entry, &theirs.1, |work| sender.send(work).is_ok()));
        let (thread, work): (_, Box<dyn Iterator<Item = Work> + Send>) = match Builder::new().spawn(read_all) {
            Ok(thread) => (Some(thread), Box::new(receiver.into_iter())),
            // where there are no threads, one file at a time is held in memory
            Err(_) => (None, Box::new((0..all.0.len()).flat_map(move |index| whole(all.0.get(index), &all.1)))),
        };
        Self {
            work,
            thread,
            ready: VecDeque::new(),
            member: None,
            lines: 0,
            is_empty: false,
            with_moves: false,
            originals: Vec::new(),
        }
    }

    /// Gives each game its moves ([`Game::played`]) and its text, too, and keeps the files.
    pub fn with_moves(mut self) -> Self {
        self.with_moves = true;
        self
    }

    /// The records that were read so far, after [`Self::with_moves`], also those without a game that can be read.
    pub fn originals(self) -> Vec<Original> {
        self.originals
    }

    fn problem(&mut self, member: &str, line: u64, kind: impl Into<ProblemKind>, value: Text) {
        self.ready.push_back(Err(Problem {
            source: member.to_owned(),
            line,
            kind: kind.into(),
            value,
            is_error: true,
        }));
    }

    /// Begins another file, unless it is the same. Returns whether it is another.
    fn begin(&mut self, member: Option<&Arc<str>>) -> bool {
        // members of one name are different members
        if let (Some(last), Some(next)) = (&self.member, member)
            && Arc::ptr_eq(last, next)
        {
            return false;
        }
        let last = std::mem::replace(&mut self.member, member.cloned());
        if let Some(last) = last.filter(|_| self.is_empty) {
            self.problem(&last, 0, Refusal::NoGames, Refusal::no_games());
        }
        (self.lines, self.is_empty) = (0, member.is_some());
        true
    }

    fn block(&mut self, block: &Block) {
        if block.format.packed().is_some() {
            return self.positions(&block.member);
        }
        if self.begin(Some(&block.member)) && self.with_moves {
            let (source, (text, marks)) = (block.member.clone(), Default::default());
            self.originals.push(Original { source, is_whole: true, text, marks, returns: false });
        }
        let (lines, member, mut place) = (self.lines, &block.member, (0, 0));
        if let Some(original) = self.originals.last_mut() {
            place.1 = original.text.len();
            original.text.extend_from_slice(block.text());
            original.marks.extend(block.cleaned.marks.iter().map(|at| place.1 + at));
            original.returns |= block.cleaned.returns == Returns::Replaced;
            original.is_whole &= block.cleaned.returns != Returns::Mixed;
            place.0 = self.originals.len() - 1;
        }
        let played = self.with_moves.then(Played::default);
        self.lines += read_games(block, &mut Game { played, ..Game::default() }, |read, text| {
            self.is_empty = false;
            self.ready.push_back(match read {
                Ok(game) => {
                    let mut game = game.clone();
                    game.move_down(lines);
                    let written = self.with_moves.then(|| {
                        let (format, encoding) = (block.format, block.above.encoding);
                        // a slice of the block
                        let at = text.as_ptr().addr() - block.text().as_ptr().addr();
                        Written { format, encoding, text: text.to_vec(), place: (place.0, place.1 + at) }
                    });
                    let (line, chess) = (game.line, game.chess);
                    // only moves of PGN are still to be read
                    let unread = |played: &&mut Played| chess && played.moves.is_empty() && played.positions.is_empty();
                    let unread = game.played.as_mut().filter(unread);
                    match unread.map_or(Ok(()), |played| played.read_pgn(text)) {
                        Ok(()) => Ok(Record { source: member.clone(), game, written }),
                        Err(error) => Err(Problem {
                            source: member.to_string(),
                            line: line + 1,
                            kind: SkipReason::BrokenMove.into(),
                            value: text!("{error}; the game is skipped"),
                            is_error: true,
                        }),
                    }
                }
                Err(error) => Err(Problem {
                    source: member.to_string(),
                    line: lines + error.line + 1,
                    kind: error.reason.into(),
                    value: Text::same(format!("'{}'", error.value)),
                    is_error: true,
                }),
            });
        });
    }

    /// Reports a file of training data once.
    fn positions(&mut self, member: &Arc<str>) {
        if self.begin(Some(member)) {
            self.is_empty = false;
            let message = text!("training data holds positions and not games; draw samples from it");
            self.problem(member, 0, Refusal::NoGames, message);
        }
    }
}
