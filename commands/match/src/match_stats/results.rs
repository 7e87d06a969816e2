//! Results of matches from game records, with or without scores.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalcurve_calibration::types::{Color, Outcome, Termination};
use evalcurve_records::parallel::{Collector, Progress, Step, read_all, read_games};
use evalcurve_records::record::find::{SourceError, expand_globs, find};
use evalcurve_records::record::source::{Block, Key, Note, Refusal};
use evalcurve_records::record::{Formats, Game};
use evalcurve_records::sample::collect::{Problem, ProblemKind};
use evalcurve_records::sample::{NameId, Names};
use evalcurve_words::language::Text;
use foldhash::fast::FixedState;

use super::counts::{Pentanomial, Wdl};
use super::spent::Spent;

/// How games of a match become pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pairing {
    /// Games are not paired.
    #[default]
    None,
    /// Two successive games of the same players with colours swapped are one pair. Match runners that play each opening
    /// twice write them so, if they play one game at a time. A game whose successor has the same colours is unpaired.
    InOrder,
}

/// All games of two players, in the view of the first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Match {
    /// The player whose view the counts take.
    pub player: String,
    pub opponent: String,
    pub games: Wdl,
    /// Counts of the paired games.
    pub pairs: Pentanomial,
    /// Number of unpaired games.
    pub unpaired: u64,
    /// Counts by opening, if each game names one; else empty.
    pub openings: BTreeMap<String, Wdl>,
    /// The time of both, if that of each game is known.
    pub spent: Option<Spent>,
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
            openings: self.openings.iter().map(|(opening, games)| (opening.clone(), games.reversed())).collect(),
            spent: self.spent.map(Spent::reversed),
        }
    }

    /// Whether each game belongs to a pair.
    pub(crate) fn is_paired(&self) -> bool {
        self.unpaired == 0 && self.pairs.pairs() > 0
    }
}

/// Matches, with counts of games, or of rows if they come from tables: read = used + the sum of skipped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matches {
    /// One entry per pair of players: of records sorted by name, in the view of the player who had the first move in
    /// the first game; of tables as they come.
    pub list: Vec<Match>,
    /// Games or rows read.
    pub read: u64,
    /// Games or rows used.
    pub used: u64,
    /// Games or rows skipped, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Files without games, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// The first skipped games or rows, and refused files. Files in other formats that were found in a folder are only
    /// counted.
    pub problems: Vec<Problem>,
}

/// Most problems of a kind that are reported with their text.
const MOST_PROBLEMS: usize = 100;

impl Matches {
    pub(super) fn skip(&mut self, reason: &'static str, source: &str, line: u64, value: &str) {
        *self.skipped.entry(reason).or_default() += 1;
        self.problem(ProblemKind::Other(reason), source, line, Text::same(value));
    }

    /// Counts games whose problems have no text.
    fn skip_more(&mut self, more: &BTreeMap<&'static str, u64>) {
        self.read += more.values().sum::<u64>();
        more.iter().for_each(|(reason, n)| *self.skipped.entry(reason).or_default() += n);
    }

    pub(super) fn refuse(&mut self, reason: &'static str, source: &str, message: Text) {
        *self.refused.entry(reason).or_default() += 1;
        self.problem(ProblemKind::Other(reason), source, 0, message);
    }

    fn problem(&mut self, kind: ProblemKind, source: &str, line: u64, value: Text) {
        let counted = self.skipped.get(kind.as_str()).or(self.refused.get(kind.as_str()));
        if counted.map_or(self.problems.len(), |n| *n as usize) <= MOST_PROBLEMS {
            self.problems.push(Problem { source: source.to_owned(), line, kind, value, is_error: true });
        }
    }

    /// Adds the matches and counts of another table.
    pub(super) fn append(&mut self, other: Self) {
        self.list.extend(other.list);
        other.problems.into_iter().for_each(|p| self.problem(p.kind, &p.source, p.line, p.value));
        self.read += other.read;
        self.used += other.used;
        for (ours, theirs) in [(&mut self.skipped, other.skipped), (&mut self.refused, other.refused)] {
            theirs.iter().for_each(|(reason, n)| *ours.entry(reason).or_default() += n);
        }
    }

    /// All matches in the view of each player: those of the list and their reversals, unless the list holds the same
    /// games in both views already.
    pub fn both_views(&self) -> Vec<Match> {
        let listed: HashMap<(&str, &str), &Match> = self.list.iter().map(|m| ((&*m.player, &*m.opponent), m)).collect();
        let other = |m: &Match| listed.get(&(&*m.opponent, &*m.player)).map(|other| other.games.reversed());
        let is_single = |m: &&Match| other(m) != Some(m.games);
        let reversed = self.list.iter().filter(is_single).map(Match::reversed);
        let mut all: Vec<Match> = self.list.iter().cloned().chain(reversed).collect();
        all.sort_by(|a, b| (&a.player, &a.opponent).cmp(&(&b.player, &b.opponent)));
        all
    }
}

/// One game between two players whose names are in byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Played {
    /// Whether the first of the two names had the first move.
    first_moves: bool,
    /// The outcome for the first of the two names.
    outcome: Outcome,
}

/// Games by their players, the names in byte order. The games are in the order of reading.
#[derive(Debug, Default)]
struct Games(BTreeMap<(String, String), Vec<Played>>);

impl Games {
    /// Adds a game in which `mover` had the first move, with the outcome for it.
    fn add(&mut self, mover: &str, other: &str, outcome: Outcome) {
        let first_moves = mover <= other;
        let (names, outcome) =
            if first_moves { ((mover, other), outcome) } else { ((other, mover), outcome.reversed()) };
        let names = (names.0.to_owned(), names.1.to_owned());
        self.0.entry(names).or_default().push(Played { first_moves, outcome });
    }

    /// Counts games and pairs, in the view of the player who had the first move in the first game: match runners write
    /// the engine that is tested so.
    fn count(&self, pairing: Pairing) -> Vec<Match> {
        let count = |((player, opponent), games): (&(String, String), &Vec<Played>)| {
            let mut out = Match { player: player.clone(), opponent: opponent.clone(), ..Match::default() };
            games.iter().for_each(|g| out.games.add(g.outcome));
            let mut rest = games.as_slice();
            while let [first, tail @ ..] = rest {
                rest = tail;
                match tail {
                    [second, after @ ..] if pairing == Pairing::InOrder && first.first_moves != second.first_moves => {
                        out.pairs.add(first.outcome, second.outcome);
                        rest = after;
                    }
                    _ => out.unpaired += 1,
                }
            }
            if games.first().is_some_and(|game| game.first_moves) { out } else { out.reversed() }
        };
        self.0.iter().map(count).collect()
    }
}

/// Reads the results of all records under `paths` on `threads` threads: files, folders and archives in all formats that
/// [`evalcurve_records::record`] reads. Scores are not needed. A game that occurs twice counts once, or not at all if
/// its records contradict each other. The result does not depend on the number of threads.
///
/// # Errors
/// [`SourceError`] for a path that does not exist. Damaged games and files are counted and skipped.
pub fn read_matches(paths: &[PathBuf], pairing: Pairing, threads: usize) -> Result<Matches, SourceError> {
    let paths = expand_globs(paths)?;
    let named: HashSet<&Path> = paths.iter().map(PathBuf::as_path).filter(|path| !path.is_dir()).collect();
    let collectors =
        read_all(&find(&paths)?, threads, &Formats::default(), &Progress::default(), ResultCollector::default);
    let mut pieces: Vec<(&Piece, &Names)> =
        collectors.iter().flat_map(|c| c.pieces.iter().map(|piece| (piece, &c.names))).collect();
    pieces.sort_by_key(|(piece, _)| piece.key);
    let (mut matches, mut games, mut results) = (Matches::default(), Games::default(), known_results(&pieces));
    let (mut lines_before, mut last): (u64, Option<&Piece>) = (0, None);
    for (at, &(piece, names)) in pieces.iter().enumerate() {
        let is_new = !last.is_some_and(|last| Arc::ptr_eq(&last.member, &piece.member));
        if is_new {
            lines_before = 0;
            let file = pieces[at..].iter().take_while(|(other, _)| Arc::ptr_eq(&other.member, &piece.member));
            let has_no_game = |content: &Content| matches!(content, Content::Games(results, ..) if results.is_empty());
            if file.map(|(piece, _)| &piece.content).all(has_no_game) {
                matches.refuse(Refusal::NoGames.as_str(), &piece.member, Refusal::no_games());
            }
        }
        last = Some(piece);
        match &piece.content {
            // most folders have files in other formats: those that are named, and standard input, have a message
            Content::Note(ProblemKind::Refused(refusal), message) => match refusal {
                Refusal::UnknownFormat if !named.contains(Path::new(&*piece.member)) => {
                    *matches.refused.entry(refusal.as_str()).or_default() += 1;
                }
                _ => matches.refuse(refusal.as_str(), &piece.member, message.clone()),
            },
            Content::Note(kind, message) => matches.problem(*kind, &piece.member, 0, message.clone()),
            Content::TrainingData if is_new => {
                let message = "training data holds positions, not matches between named players";
                matches.refuse("training_data", &piece.member, Text::same(message));
            }
            Content::TrainingData => {}
            Content::Games(games_read, lines, more) => {
                for (line, result) in games_read {
                    matches.read += 1;
                    let (reason, value) = match result {
                        Ok(game) => match results.insert(game.id, KnownResult::Counted) {
                            Some(KnownResult::Counted) => DUPLICATE,
                            Some(KnownResult::Contradicted) => CONTRADICTED,
                            Some(KnownResult::Is(_)) | None => {
                                matches.used += 1;
                                let [mover, other] = game.players.map(|id| names.get(id));
                                games.add(mover, other, game.outcome);
                                continue;
                            }
                        },
                        Err((reason, value)) => (*reason, value.as_str()),
                    };
                    matches.skip(reason, &piece.member, lines_before + line + 1, value);
                }
                matches.skip_more(more);
                lines_before += lines;
            }
        }
    }
    matches.list = games.count(pairing);
    Ok(matches)
}

/// What the records of a game say about its result.
enum KnownResult {
    /// All give this one, for the player with the first move.
    Is(Outcome),
    /// Two of them give different ones.
    Contradicted,
    /// The game is counted, as used or as skipped; other records of it are duplicates.
    Counted,
}

/// The results of all games by their identity: which record is read first must not decide.
fn known_results(pieces: &[(&Piece, &Names)]) -> HashMap<u64, KnownResult> {
    let mut known = HashMap::new();
    let games = pieces.iter().flat_map(|(piece, _)| match &piece.content {
        Content::Games(results, ..) => results.as_slice(),
        _ => &[],
    });
    for game in games.filter_map(|(_, result)| result.as_ref().ok()) {
        let result = known.entry(game.id).or_insert(KnownResult::Is(game.outcome));
        if matches!(result, KnownResult::Is(outcome) if *outcome != game.outcome) {
            *result = KnownResult::Contradicted;
        }
    }
    known
}

/// The results that one worker reads.
#[derive(Default)]
struct ResultCollector {
    names: Names,
    pieces: Vec<Piece>,
    game: Game,
    /// The games so far, with their outcomes: a small file may hold a game a million times.
    known: HashSet<(u64, Outcome), FixedState>,
}

/// A block or a refused file.
struct Piece {
    key: Key,
    member: Arc<str>,
    content: Content,
}

enum Content {
    /// The games, each with its line from 0 in the block, the number of lines, and the games whose problems have no
    /// text: those after the first [`MOST_PROBLEMS`].
    Games(Vec<(u64, Result<GameResult, Skipped>)>, u64, BTreeMap<&'static str, u64>),
    TrainingData,
    /// Why the file is refused, or something odd about the file before.
    Note(ProblemKind, Text),
}

/// A reason and a value.
type Skipped = (&'static str, String);

/// The reason and the value for a game that occurs twice.
const DUPLICATE: (&str, &str) = ("duplicate", "the same game was read before");

/// The reason and the value for a game whose records contradict each other.
const CONTRADICTED: (&str, &str) = ("unknown_result", "another record of the game has another result");

struct GameResult {
    id: u64,
    /// The player with the first move, and the other.
    players: [NameId; 2],
    /// For the player with the first move.
    outcome: Outcome,
}

impl GameResult {
    fn of(game: &Game, names: &mut Names) -> Result<Self, Skipped> {
        let mover = if game.chess { Color::White } else { Color::Black };
        let skip = |reason, value: &str| Err((reason, value.to_owned()));
        match game.termination {
            Some(Termination::Abnormal) => return skip("abnormal", "an engine crashed, or the connection was lost"),
            Some(Termination::Interrupted) => return skip("interrupted", "the game was not played to its end"),
            _ => {}
        }
        let Some(outcome) = game.outcome_for(mover) else {
            return skip("unknown_result", "the record does not give the winner");
        };
        let [first, second] = [mover, mover.opponent()].map(|color| &game.names[color.index()]);
        if first.is_empty() || second.is_empty() {
            return skip("unnamed_player", "the record does not name both players");
        }
        if first == second {
            return skip("same_player", first);
        }
        Ok(Self { id: game.id, players: [names.intern(first), names.intern(second)], outcome })
    }
}

impl Collector for ResultCollector {
    fn block(&mut self, block: &Block) -> Step {
        let (mut results, mut more, mut problems) = (Vec::new(), BTreeMap::new(), 0);
        let (names, known) = (&mut self.names, &mut self.known);
        let mut of_game = |game: &Game| {
            let result = GameResult::of(game, names)?;
            let is_new = known.insert((result.id, result.outcome));
            let (reason, value) = DUPLICATE;
            is_new.then_some(result).ok_or_else(|| (reason, value.to_owned()))
        };
        let lines = read_games(block, &mut self.game, |read, _| {
            let (line, result) = match read {
                Ok(game) => (game.line, of_game(game)),
                Err(error) => (error.line, Err((error.reason.as_str(), error.value))),
            };
            problems += usize::from(result.is_err());
            match result {
                Err((reason, _)) if problems > MOST_PROBLEMS => *more.entry(reason).or_default() += 1,
                result => results.push((line, result)),
            }
        });
        let is_packed = block.format.packed().is_some();
        let content = if is_packed { Content::TrainingData } else { Content::Games(results, lines, more) };
        self.pieces.push(Piece { key: block.key, member: block.member.clone(), content });
        Step::default()
    }

    fn note(&mut self, note: Note) -> Step {
        let Note { key, member, kind, message, .. } = note;
        self.pieces.push(Piece { key, member, content: Content::Note(kind, message) });
        Step::default()
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
        assert_eq!((ac.opponent.as_str(), ac.games, ac.unpaired), ("A", Wdl::new(1, 0, 0), 1));
        assert_eq!(ac.reversed().games, Wdl::new(0, 0, 1));
        assert_eq!(games.count(Pairing::None)[0].unpaired, 5);
    }

    #[test]
    fn records_without_scores_give_results() {
        let folder = std::env::temp_dir().join(format!("evalcurve-match-stats-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let game = |black: &str, white: &str, end: &str, first: &str| {
            format!("V2.2\nN+{black}\nN-{white}\nPI\n+\n{first}\n{end}\n")
        };
        // the side to move resigns: White after one move
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
        let matches = read_matches(std::slice::from_ref(&folder), Pairing::InOrder, 2).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((matches.read, matches.used), (5, 2));
        assert_eq!(matches.skipped, BTreeMap::from([("duplicate", 1), ("interrupted", 1), ("same_player", 1)]));
        // a file in another format that is found in a folder is only counted
        assert_eq!(matches.refused, BTreeMap::from([("unknown_format", 1)]));
        assert!(!matches.problems.iter().any(|p| p.source.contains("readme.txt")), "{:?}", matches.problems);
        assert_eq!(matches.list.len(), 1);
        assert_eq!((matches.list[0].games, matches.list[0].pairs.counts), (Wdl::new(1, 0, 1), [0, 0, 1, 0, 0]));
        let lines: Vec<u64> = matches.problems.iter().map(|p| p.line).collect();
        assert!(lines.contains(&18), "{:?}", matches.problems);
        assert!(read_matches(&[PathBuf::from("no/such/folder")], Pairing::None, 1).is_err());
    }
    #[test]
    fn a_game_that_is_read_again_takes_no_memory() {
        let folder = std::env::temp_dir().join(format!("evalcurve-match-copies-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let game = |name: &str, end: &str| format!("V2.2\nN+{name}\nN-B\nPI\n+\n+7776FU\n{end}\n");
        let text = [game("A", "%TORYO"), game("B", "%TORYO"), game("C", "%CHUDAN"), game("D", "%TORYO")].concat();
        let lost = game("A", "%+ILLEGAL_ACTION");
        std::fs::write(folder.join("games.csa"), text.repeat(20_000) + &lost).unwrap();
        let read = |threads| read_matches(std::slice::from_ref(&folder), Pairing::None, threads).unwrap();
        let one = read(1);
        assert_eq!((one.read, one.used), (80_001, 1));
        // the results of A contradict each other, B plays itself
        let skipped = [("duplicate", 39_999), ("interrupted", 20_000), ("same_player", 20_000), ("unknown_result", 1)];
        assert_eq!(one.skipped, BTreeMap::from(skipped));
        assert!((MOST_PROBLEMS..=3 * MOST_PROBLEMS + 1).contains(&one.problems.len()), "{}", one.problems.len());
        assert!(one == read(2) && one == read(3));
        let entries = find(std::slice::from_ref(&folder)).unwrap();
        let collectors = read_all(&entries, 1, &Formats::default(), &Progress::default(), ResultCollector::default);
        let kept =
            |piece: &Piece| matches!(&piece.content, Content::Games(results, ..) if results.len() <= MOST_PROBLEMS + 3);
        assert!(collectors[0].pieces.len() > 1 && collectors[0].pieces.iter().all(kept));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
