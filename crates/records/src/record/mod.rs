//! Game records: one reader per format, listed in [`FORMATS`], and the game that a reader fills.
//!
//! A reader scans a block of bytes that holds whole games and fills a [`Game`] that the caller lends, so that it
//! allocates nothing per game. It never panics: a game that cannot be read gives a [`SkipReason`] with its line, and
//! the next call continues with the next game.

use std::path::PathBuf;

use crate::games::Games;

pub(crate) mod archive;
mod board;
pub mod comment;
pub mod csa;
pub mod encoding;
pub mod find;
pub mod format;
mod game;
pub mod identity;
pub mod kif;
mod lines;
mod names;
pub mod packed;
pub mod pgn;
mod played;
pub mod position;
pub mod positions;
mod search;
pub mod source;
pub mod usi_log;
pub mod votes;
mod work;

pub use format::{Above, BlockGames, Cursor, Format, Reader, last_line_end};
pub use game::{
    Convention, Game, GameError, GamePosition, Oddity, OddityKind, ScoredPosition, SkipReason, UnreadComment,
};
pub use identity::{GameHash, StartTime};
pub use packed::Packed;
pub use played::Played;

pub use evalcurve_calibration::types::ANNOUNCED_MATE_CP;

/// All formats, in the order of detection: the first one that recognises a file reads it.
///
/// A new format of the list is one file with a [`Reader`] and its [`Format`], its `mod` line above and one line here; a
/// format of your own program goes to [`Formats`]. Detection, the values and the help of options, messages and the
/// abilities (a second reader, material) come from this list.
pub static FORMATS: &[&Format] = &[
    &packed::hcpe::FORMAT,
    &packed::hcpe3::FORMAT,
    &packed::psv::FORMAT,
    &packed::binpack::FORMAT,
    &packed::plain::FORMAT,
    &votes::FORMAT,
    &positions::FORMAT,
    &csa::FORMAT,
    &kif::FORMAT,
    &usi_log::FORMAT,
    &pgn::FORMAT,
];

/// The formats that files are read in: those of [`FORMATS`], and before them your own.
///
/// A format is a type that implements [`Reader`] and a static [`Format`] that names it. The games then have all that
/// others have: archives, encodings, duplicates, samples ([`CollectOptions::formats`](crate::sample::CollectOptions)).
///
/// ```
/// use evalcurve_calibration::types::{Color, Outcome};
/// use evalcurve_records::record::find::Entry;
/// use evalcurve_records::record::{
///     Above, Cursor, Format, Formats, Game, GameError, GameHash, Reader, SkipReason, last_line_end,
/// };
///
/// /// Lines such as `game A B 1-0 +35 -20 +80`: the players, the result, and the mover's score before each move.
/// struct Lines;
///
/// static LINES: Format = Format::of_games::<Lines>("score-lines", "lines of scores", "a game in each line");
///
/// impl Reader for Lines {
///     fn recognise(head: &[u8]) -> bool {
///         head.starts_with(b"game ")
///     }
///
///     fn last_boundary(block: &[u8]) -> Option<usize> {
///         last_line_end(block)
///     }
///
///     fn below(_: &Above) -> Self {
///         Self
///     }
///
///     fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
///         let line = cursor.line;
///         let Some(text) = cursor.next_line(block) else { return Ok(false) };
///         let mut words = text.split(u8::is_ascii_whitespace).skip(1).map(String::from_utf8_lossy);
///         game.line = line;
///         game.names = [(); 2].map(|()| words.next().unwrap_or_default().into_owned());
///         game.black_outcome = match words.next().as_deref() {
///             Some("1-0") => Some(Outcome::Win),
///             Some("0-1") => Some(Outcome::Loss),
///             _ => return Err(GameError::at(SkipReason::UnknownResult, line, text)),
///         };
///         for (mover, score) in [Color::Black, Color::White].into_iter().cycle().zip(words) {
///             let Ok(score) = score.parse::<i32>() else {
///                 return Err(GameError::at(SkipReason::BrokenMove, line, text));
///             };
///             game.plies += 1;
///             game.add_score(mover, if mover == Color::Black { score } else { -score }, false, false, line);
///         }
///         let mut hash = GameHash::default();
///         hash.bytes(text);
///         game.identify(hash);
///         Ok(true)
///     }
/// }
///
/// let text = "game A B 1-0 +35 -20 +80\ngame A B ? +1\ngame B A 0-1 -5 +9\n";
/// let mut games = Formats::default().with(&LINES).games_of(vec![Entry::in_memory("my.log", text.as_bytes())]);
/// assert_eq!(games.next().unwrap()?.game.scores.len(), 3);
/// assert_eq!(games.next().unwrap().unwrap_err().line, 2); // a problem with value and remedy
/// assert_eq!(games.next().unwrap()?.game.names[0], "B");
/// # Ok::<(), evalcurve_records::Problem>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Formats {
    own: Vec<&'static Format>,
    only: Option<&'static Format>,
}

impl Formats {
    /// Adds a format. Of those that recognise a file, the one that was added last reads it.
    pub fn with(mut self, format: &'static Format) -> Self {
        self.own.insert(0, format);
        self
    }

    /// Reads all files in one format, whatever their content is; `None` to detect the format of each.
    pub fn only(mut self, format: Option<&'static Format>) -> Self {
        self.only = format;
        self
    }

    /// The format of a file that begins with these bytes: the only one, or that of its content. A text may hold zero
    /// bytes by accident, so bytes that are no training data can still be one.
    pub fn detect(&self, head: &[u8]) -> Option<&'static Format> {
        let find = |is_text| self.all().find(|format| format.recognises_as(head, is_text));
        let by_content = || if format::has_zero(head) { find(false).or_else(|| find(true)) } else { find(true) };
        self.only.or_else(by_content)
    }

    /// The games of a file, a folder or an archive; see [`games`](crate::games()).
    ///
    /// # Errors
    /// [`SourceError`](find::SourceError) for a path that does not exist.
    pub fn games(&self, path: impl Into<PathBuf>) -> Result<Games, find::SourceError> {
        Ok(self.games_of(find::find(&[path.into()])?))
    }

    /// The games of these files.
    pub fn games_of(&self, entries: Vec<find::Entry>) -> Games {
        Games::new(entries, self)
    }

    /// The labels of all formats, joined by commas.
    pub fn labels(&self) -> String {
        self.all().map(|format| format.label).collect::<Vec<_>>().join(", ")
    }

    fn all(&self) -> impl Iterator<Item = &'static Format> {
        self.own.iter().chain(FORMATS).copied()
    }
}

impl Format {
    /// The format of the list for a file that begins with these bytes, by its content alone; see [`Formats::detect`].
    pub fn detect(head: &[u8]) -> Option<&'static Self> {
        Formats::default().detect(head)
    }

    /// The format with this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        FORMATS.iter().copied().find(|format| format.name == name)
    }
}
