//! Who beat whom: results from game records, with or without scores.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::counts::{Pentanomial, Wdl};
use crate::record::find::{SourceError, find};
use crate::record::source::{self, Block, Key, Part, Refusal, Sink};
use crate::record::{Cursor, Game};
use evalcurve_core::types::{Color, Outcome, Termination};

/// How games of a match become pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pairing {
    /// Every game stands alone.
    #[default]
    None,
    /// Two games in a row of the same players with colours swapped are one pair: match runners that begin each opening
    /// twice write them so, as long as they play one game at a time. A game whose successor has the same colours stands
    /// alone.
    InOrder,
}

/// All games of two players, in the view of the first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Match {
    /// The player whose view the counts take.
    pub player: String,
    /// The other one.
    pub opponent: String,
    /// All games.
    pub games: Wdl,
    /// The games that were played in pairs.
    pub pairs: Pentanomial,
    /// Games that belong to no pair; all of them where games were not paired.
    pub unpaired: u64,
}

impl Match {
    /// The same games in the view of the opponent.
    pub fn reversed(&self) -> Self {
        Self {
            player: self.opponent.clone(),
            opponent: self.player.clone(),
            games: self.games.reversed(),
            pairs: self.pairs.reversed(),
            unpaired: self.unpaired,
        }
    }

    /// Every game belongs to a pair, so that the pairs say all.
    pub fn is_paired(&self) -> bool {
        self.unpaired == 0 && self.pairs.pairs() > 0
    }
}

/// Matches, and what became of the games: read = used + skipped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matches {
    /// One entry for two players, by name.
    pub list: Vec<Match>,
    /// Games met.
    pub read: u64,
    /// Games counted.
    pub used: u64,
    /// Games not counted, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Files that held no games, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// The first skipped games and refused files: place, line from 1 or 0, what it was.
    pub problems: Vec<(String, u64, String)>,
}

/// Problems that are kept for messages.
const MOST_PROBLEMS: usize = 100;

impl Matches {
    /// Counts a game that is not used.
    pub(super) fn skip(&mut self, reason: &'static str, place: &str, line: u64, value: &str) {
        *self.skipped.entry(reason).or_default() += 1;
        self.problem(place, line, format!("{}: {value}", reason.replace('_', " ")));
    }

    fn problem(&mut self, place: &str, line: u64, text: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push((place.to_owned(), line, text));
        }
    }

    /// All matches in the view of each player: those of the list and, turned round, the same again, unless the list
    /// holds both sides already.
    pub fn both_views(&self) -> Vec<Match> {
        let listed = |m: &Match| self.list.iter().any(|n| n.player == m.opponent && n.opponent == m.player);
        let turned = self.list.iter().filter(|m| !listed(m)).map(Match::reversed);
        let mut all: Vec<Match> = self.list.iter().cloned().chain(turned).collect();
        all.sort_by(|a, b| (&a.player, &a.opponent).cmp(&(&b.player, &b.opponent)));
        all
    }
}

/// One game as it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Played {
    /// The player whose name comes first by order of bytes had Black.
    pub first_is_black: bool,
    /// The result of that player.
    pub outcome: Outcome,
}

/// Games by their players, the names in order, kept in the order of reading until they are paired.
#[derive(Debug, Default)]
pub(super) struct Games(BTreeMap<(String, String), Vec<Played>>);

impl Games {
    /// Adds a game of `black` against `white`.
    pub(super) fn add(&mut self, black: &str, white: &str, black_outcome: Outcome) {
        let first_is_black = black <= white;
        let (names, outcome) =
            if first_is_black { ((black, white), black_outcome) } else { ((white, black), black_outcome.reversed()) };
        let names = (names.0.to_owned(), names.1.to_owned());
        self.0.entry(names).or_default().push(Played { first_is_black, outcome });
    }

    /// Counts games and pairs.
    pub(super) fn count(&self, pairing: Pairing) -> Vec<Match> {
        let count = |((player, opponent), games): (&(String, String), &Vec<Played>)| {
            let mut out = Match { player: player.clone(), opponent: opponent.clone(), ..Match::default() };
            games.iter().for_each(|g| out.games.add(g.outcome));
            let mut rest = games.as_slice();
            while let [first, tail @ ..] = rest {
                rest = tail;
                match tail {
                    [second, after @ ..]
                        if pairing == Pairing::InOrder && first.first_is_black != second.first_is_black =>
                    {
                        out.pairs.add(first.outcome, second.outcome);
                        rest = after;
                    }
                    _ => out.unpaired += 1,
                }
            }
            out
        };
        self.0.iter().map(count).collect()
    }
}

/// Reads the results of all records under `paths`: files, folders and archives in any format that
/// [`crate::record`] reads. Scores are not needed. A game met twice counts once.
///
/// # Errors
/// [`SourceError`] for a path that names nothing. Damaged games and files are counted and passed over.
pub fn read_matches(paths: &[PathBuf], pairing: Pairing) -> Result<Matches, SourceError> {
    let mut reading = Reading::default();
    for (index, entry) in find(paths)?.iter().enumerate() {
        reading.display.clone_from(&entry.display);
        source::read_entry(u32::try_from(index).unwrap_or(u32::MAX), entry, &mut reading);
    }
    let mut matches = reading.matches;
    matches.list = reading.games.count(pairing);
    Ok(matches)
}

#[derive(Default)]
struct Reading {
    matches: Matches,
    games: Games,
    seen: HashSet<u64>,
    game: Game,
    buffer: Vec<u8>,
    /// The file that is being read.
    display: String,
    /// Lines of the member before this block.
    lines: u64,
    member: Option<Arc<str>>,
    /// The last file of training data.
    training: Option<Arc<str>>,
}

impl Reading {
    /// Counts the game that was read last, or says why not.
    fn take(&mut self) -> Result<(), (&'static str, String)> {
        let game = &self.game;
        let skip = |reason, value: &str| Err((reason, value.to_owned()));
        match game.termination {
            Some(t @ Termination::Abnormal) => return skip("abnormal", t.as_str()),
            Some(t @ Termination::Interrupted) => return skip("interrupted", t.as_str()),
            _ => {}
        }
        let Some(outcome) = game.outcome_for(Color::Black) else {
            return skip("unknown_result", "the record does not say who won");
        };
        let [black, white] = &game.names;
        if black.is_empty() || white.is_empty() {
            return skip("unnamed_player", "the record does not name both players");
        }
        if black == white {
            return skip("same_player", black);
        }
        if !self.seen.insert(game.id) {
            return skip("duplicate", "the same game was met before");
        }
        self.games.add(black, white, outcome);
        Ok(())
    }
}

impl Reading {
    /// Counts a file of positions, once.
    fn training_data(&mut self, member: &Arc<str>) {
        if self.training.as_ref() != Some(member) {
            self.training = Some(member.clone());
            *self.matches.refused.entry("training_data").or_default() += 1;
            let message = "training data hold positions, not matches between named players".to_owned();
            self.matches.problem(member, 0, message);
        }
    }
}

impl Sink for Reading {
    fn block(&mut self, block: Block) {
        if self.member.as_ref() != Some(&block.member) {
            (self.member, self.lines) = (Some(block.member.clone()), 0);
        }
        let mut cursor = Cursor { encoding: block.encoding, ..Cursor::default() };
        let text = block.text();
        let Some(reader) = block.format.reader() else { return self.training_data(&block.member) };
        loop {
            match reader.read_game(text, &mut cursor, &mut self.game) {
                Ok(false) => break,
                Ok(true) => {
                    self.matches.read += 1;
                    match self.take() {
                        Ok(()) => self.matches.used += 1,
                        Err((reason, value)) => {
                            let line = self.lines + self.game.line + 1;
                            self.matches.skip(reason, &block.member, line, &value);
                        }
                    }
                }
                Err(error) => {
                    self.matches.read += 1;
                    let line = self.lines + error.line + 1;
                    self.matches.skip(error.reason.as_str(), &block.member, line, &error.value);
                }
            }
        }
        self.lines += cursor.line + u64::from(text.last().is_some_and(|&b| b != b'\n'));
        self.buffer = block.bytes;
    }

    fn part(&mut self, part: Part) {
        self.training_data(&part.member);
    }

    fn refuse(&mut self, _: Key, member: &str, refusal: Refusal, message: String) {
        *self.matches.refused.entry(refusal.as_str()).or_default() += 1;
        self.matches.problem(member, 0, message);
    }

    fn buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    fn byte_count(&self) -> Arc<AtomicU64> {
        Arc::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_in_a_row_with_colours_swapped_are_pairs() {
        let mut games = Games::default();
        for (black, white, outcome) in [
            ("A", "B", Outcome::Win),
            ("B", "A", Outcome::Win),
            ("A", "B", Outcome::Draw), // its successor has the same colours
            ("A", "B", Outcome::Win),
            ("B", "A", Outcome::Loss),
            ("C", "A", Outcome::Win),
        ] {
            games.add(black, white, outcome);
        }
        let [ab, ac] = &games.count(Pairing::InOrder)[..] else { panic!("two matches") };
        assert_eq!((ab.player.as_str(), ab.games), ("A", Wdl::new(3, 1, 1)));
        assert_eq!((ab.pairs.counts, ab.unpaired, ab.is_paired()), ([0, 0, 1, 0, 1], 1, false));
        assert_eq!((ac.opponent.as_str(), ac.games, ac.unpaired), ("C", Wdl::new(0, 0, 1), 1));
        assert_eq!(ac.reversed().games, Wdl::new(1, 0, 0));
        assert_eq!(games.count(Pairing::None)[0].unpaired, 5);
    }

    #[test]
    fn records_without_scores_give_results() {
        let folder = std::env::temp_dir().join(format!("evalcurve-match-stats-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let game = |black: &str, white: &str, end: &str, first: &str| {
            format!("V2.2\nN+{black}\nN-{white}\nPI\n+\n{first}\n{end}\n")
        };
        // the side to move resigns: White behind one move
        let text = [
            game("A", "B", "%TORYO", "+7776FU"),
            game("B", "A", "%TORYO", "+7776FU"),
            game("A", "B", "%CHUDAN", "+2726FU"),
            game("A", "B", "%TORYO", "+7776FU"),
            game("A", "A", "%TORYO", "+2726FU"),
        ]
        .join("/\n");
        std::fs::write(folder.join("games.csa"), text).unwrap();
        std::fs::write(folder.join("readme.txt"), "no games here").unwrap();
        let matches = read_matches(std::slice::from_ref(&folder), Pairing::InOrder).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((matches.read, matches.used), (5, 2));
        assert_eq!(matches.skipped, BTreeMap::from([("duplicate", 1), ("interrupted", 1), ("same_player", 1)]));
        assert_eq!(matches.refused.values().sum::<u64>(), 1);
        assert_eq!(matches.list.len(), 1);
        assert_eq!((matches.list[0].games, matches.list[0].pairs.counts), (Wdl::new(1, 0, 1), [0, 0, 1, 0, 0]));
        let lines: Vec<u64> = matches.problems.iter().map(|p| p.1).collect();
        assert!(lines.contains(&18), "{:?}", matches.problems);
        assert!(read_matches(&[PathBuf::from("no/such/folder")], Pairing::None).is_err());
    }
}
