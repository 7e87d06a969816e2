//! Reads records into the sample table: finds the files, reads them on several threads, draws, and merges the samples
//! in a fixed order.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

use foldhash::fast::FixedState;
use thiserror::Error;

use super::copies::LEAST_PLIES;
use super::found::{Copy, Found, FoundBlock, FoundGame, FoundUnread, Rank, rank};
pub use super::merge::Collected;
use super::merge::merge;
use super::positions::every_position;
pub use super::report::{PositionCount, Problem, ProblemKind, ReadReport, kind_words};
use super::rows::Rows;
use super::sampler::{Scratch, annotator, draw, usable};
use super::view::second;
use super::{Duplicates, GameEnd, GameInfo, MOST_NAME, NameId, SamplingOptions, packed, report};
pub use crate::parallel::Progress;
use crate::parallel::{Collector, Step, read_all, read_games};
use crate::record::find::{Entry, SourceError, find};
use crate::record::format::{CountMaterial, has_zero};
use crate::record::source::{Block, Note, Refusal};
use crate::record::{Formats, Game, OddityKind, Played, SkipReason};
use evalcurve_calibration::types::Color;
use evalcurve_calibration::types::Termination;
use evalcurve_words::display_text;
use evalcurve_words::language::Text;
use evalcurve_words::language::ToText;
use evalcurve_words::text;

/// The name of an engine that the record does not name.
const UNNAMED: &str = "unnamed";

/// How records are read.
#[derive(Debug, Clone, Default)]
pub struct CollectOptions {
    /// How positions are drawn.
    pub sampling: SamplingOptions,
    /// Number of threads; 0 counts as 1.
    pub threads: usize,
    /// Stop at the first problem that is an error.
    pub strict: bool,
    /// Check the moves of each CSA game with the `csa` crate.
    pub verify: bool,
    /// Count the material of the drawn positions of PGN games, by replaying their moves.
    pub material: bool,
    /// The formats of the files.
    pub formats: Formats,
}

/// Why reading could not begin, or stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CollectError {
    /// A path does not exist.
    Source(#[from] SourceError),
    /// The first error, if [`CollectOptions::strict`] is set.
    Strict(Problem),
}

impl ToText for CollectError {
    fn to_text(&self) -> Text {
        match self {
            Self::Source(error) => error.to_text(),
            Self::Strict(problem) => text!("{problem} (`strict` stops at the first problem)"),
        }
    }
}

display_text!(CollectError);

/// Reads all records under `paths` and in the rows of tables, and draws their samples.
///
/// # Errors
/// [`CollectError::Source`] for a path that does not exist; [`CollectError::Strict`] for the first problem if
/// `options.strict` is set.
pub fn collect_with_rows(
    paths: &[PathBuf],
    tables: &[Rows],
    options: &CollectOptions,
    progress: &Progress,
) -> Result<Collected, CollectError> {
    collect(&find(paths)?, tables, options, progress)
}

/// Reads records from files or from memory, and the rows of tables, and draws their samples. With one thread, the
/// calling thread does all the work.
///
/// # Errors
/// [`CollectError::Strict`] for the first problem if `options.strict` is set.
pub fn collect(
    entries: &[Entry],
    tables: &[Rows],
    options: &CollectOptions,
    progress: &Progress,
) -> Result<Collected, CollectError> {
    let new = || Worker {
        options,
        found: Found::default(),
        game: Game { played: options.sampling.unscored.then(Played::default), ..Game::default() },
        scratch: Scratch::default(),
        kept: HashMap::default(),
    };
    let workers = read_all(entries, options.threads, &options.formats, progress, new);
    let mut found: Vec<Found> = workers.into_iter().map(|worker| worker.found).collect();
    progress.total_bytes.fetch_add(tables.iter().map(Rows::bytes).sum(), Relaxed);
    for (number, rows) in (entries.len() as u32..).zip(tables) {
        found.extend(rows.read(number, new, progress));
    }
    progress.ended.store(true, Relaxed);
    let collected = merge(found, options.sampling.duplicates == Duplicates::ByMoves, options.sampling.view);
    match collected.report.problems.iter().find(|p| p.is_error).filter(|_| options.strict) {
        Some(problem) => Err(CollectError::Strict(problem.clone())),
        None => Ok(collected),
    }
}

pub(super) struct Worker<'a> {
    pub options: &'a CollectOptions,
    pub found: Found,
    game: Game,
    scratch: Scratch,
    /// The index of each game, by its identity, its annotator and what it says.
    kept: HashMap<(u64, Option<NameId>, Rank), usize, FixedState>,
}

impl Worker<'_> {
    /// Reads all games of a block, or draws from a block of training data.
    fn read(&mut self, block: &Block) -> FoundBlock {
        if let Some(kind) = block.format.packed() {
            return packed::read(block, kind, &self.options.sampling, &mut self.found);
        }
        let mut out = FoundBlock::new(block.key, &block.member, block.filled as u64, self.found.games.len());
        out.chess = true;
        if block.offset == 0 && has_zero(block.text()) {
            let before = block.text().iter().take_while(|b| **b != 0).filter(|b| **b == b'\n').count();
            let text = text!("the text holds a zero byte, so the file is damaged; what can be read is used");
            out.oddity(before as u64, OddityKind::ZeroByte, text);
        }
        let material = block.format.material.filter(|_| self.options.material);
        let verify = block.format.verify.filter(|_| self.options.verify);
        let mut game = std::mem::take(&mut self.game);
        out.lines = read_games(block, &mut game, |read, text| {
            out.read += 1;
            match read {
                Ok(game) if self.options.sampling.unscored => self.take_all(game.clone(), &mut out, text),
                Ok(game) => {
                    self.take(game, &mut out, material.map(|count| (count, text)));
                    if let Some(check) = verify {
                        match check(text) {
                            Ok(()) => out.verified += 1,
                            Err(error) => out.problem(game.line, OddityKind::MovesDiffer, error.to_string(), true),
                        }
                    }
                }
                Err(error) => {
                    report::count(&mut out.skipped, error.reason, 1);
                    let value = text!("'{}'; the game is skipped", error.value);
                    out.problem(error.line, error.reason, value, true);
                }
            }
        });
        self.game = game;
        out.games.end = self.found.games.len();
        out
    }

    /// Draws from all positions of a game.
    fn take_all(&mut self, mut game: Game, out: &mut FoundBlock, text: &[u8]) {
        if game.votes {
            // the council's games, once for each member
            return report::count(&mut out.skipped, SkipReason::NoMoves, 1);
        }
        let mut played = game.played.take().unwrap_or_default();
        let is_pgn = played.moves.is_empty() && played.positions.is_empty() && game.plies > 0;
        if let Err(error) = if is_pgn { played.read_pgn(text) } else { Ok(()) } {
            report::count(&mut out.skipped, SkipReason::BrokenMove, 1);
            let text = text!("{error}; the game is skipped");
            return out.problem(game.line, SkipReason::BrokenMove, text, true);
        }
        game.scores = every_position(&played, game.line);
        let (id, before) = (game.id, game.plies_before);
        let kept = self.found.games.len();
        self.take(&game, out, None);
        if self.found.games.len() > kept {
            self.found.positions.add_game(id, played, before);
        }
    }

    /// Draws the samples of a game, and counts their material if its text is given.
    fn take(&mut self, game: &Game, out: &mut FoundBlock, played: Option<(CountMaterial, &[u8])>) {
        let options = &self.options.sampling;
        out.book_moves += u64::from(game.book_moves);
        out.scores += game.scores.len() as u64;
        if let Some(first) = game.unread_comment.clone() {
            FoundUnread::add(&mut out.unread, FoundUnread { count: game.unread, first, chess: game.chess });
        }
        for oddity in &game.oddities {
            out.oddity(oddity.line, oddity.kind, text!("'{}' is ignored", oddity.value));
        }
        let outcome = match usable(game, options) {
            Ok(outcome) => outcome,
            Err(reason) => return unusable(game, reason, out),
        };
        let names = game.names.iter().map(String::as_str).chain(annotator(game, options));
        if let Some(bytes) = names.map(str::len).find(|bytes| *bytes > MOST_NAME) {
            let reason = SkipReason::BrokenRecord;
            report::count(&mut out.skipped, reason, 1);
            let text = text!("a name of {bytes} bytes; a player has at most {MOST_NAME}; the game is skipped");
            out.problem(game.line, reason, text, true);
            return;
        }
        let from = self.found.samples.len();
        draw(game, options, &mut self.scratch, &mut self.found.samples);
        if self.found.samples.len() == from {
            report::count(&mut out.skipped, SkipReason::NoScoresInWindows, 1);
            return;
        }
        if let Some((count, text)) = played {
            self.count_material(game, from, |plies| count(text, plies), out);
        }
        let names = &mut self.found.names;
        let annotator = annotator(game, options).map(|name| names.intern(name));
        let info = GameInfo {
            id: game.id,
            players: [0, 1]
                .map(|side| names.intern(if game.names[side].is_empty() { UNNAMED } else { &game.names[side] })),
            ratings: game.ratings,
            start_time: game.start_time,
            time_control: names.intern(&game.time_control),
            termination: game.termination.unwrap_or(Termination::Unknown),
            black_outcome: outcome,
            without_colors: false,
            source: 0,
            line: game.line,
            end: annotator.is_none().then(|| end(game, None)).flatten(),
            moves: game.moves.filter(|_| game.plies >= LEAST_PLIES),
            unread: (100 * game.unread).div_ceil((game.unread + game.scores.len() as u64).max(1)) as u8,
        };
        let convention = game.convention.filter(|_| annotator.is_none());
        let view = convention.map(|convention| (convention, end(game, Some(second(convention)))));
        out.chess &= game.chess;
        let samples = from..self.found.samples.len();
        let rank = rank(&self.found, &info, &self.found.samples[samples.clone()]);
        let analysis = (!options.unscored).then_some(annotator.is_some());
        let of_side = |color| game.scores.iter().any(|s| s.color == color && Some(s.analysis) == analysis);
        let scored = [Color::Black, Color::White].map(of_side);
        self.keep(FoundGame { info, annotator, samples, rank, view, scored }, out);
    }

    /// Counts the material of the samples of a game, which begin at `from`.
    fn count_material(
        &mut self,
        game: &Game,
        from: usize,
        count: impl FnOnce(&mut dyn Iterator<Item = u32>) -> Result<Vec<u16>, String>,
        out: &mut FoundBlock,
    ) {
        let before = game.plies_before;
        let samples = &mut self.found.samples[from..];
        match count(&mut samples.iter().map(|drawn| drawn.position.ply.saturating_sub(before))) {
            Ok(counts) => {
                samples.iter_mut().zip(counts).for_each(|(sample, count)| sample.material = Some(count));
            }
            Err(error) => {
                let text = text!("{error}; its samples have no material");
                out.oddity(game.line, OddityKind::NotReplayed, text);
            }
        }
    }

    /// Keeps a game, unless it says the same as one that is kept: a small file may hold a game a million times.
    fn keep(&mut self, game: FoundGame, out: &mut FoundBlock) {
        let found = &mut self.found;
        let index = found.games.len();
        match *self.kept.entry((game.info.id, game.annotator, game.rank)).or_insert(index) {
            kept if kept < index => {
                out.copy(Copy { line: game.info.line, kept, before: index });
                found.samples.truncate(game.samples.start);
            }
            _ => found.games.push(game),
        }
    }

    /// Adds a block, or what is all of a file or member.
    fn push(&mut self, found: FoundBlock, is_whole: bool) -> Step {
        let stop = self.options.strict && found.problems.iter().any(|p| p.is_error);
        let step = Step { games: found.read, stop };
        if is_whole {
            self.found.push_whole(found);
        } else {
            self.found.blocks.push(found);
        }
        step
    }
}

/// Counts a game without samples, and says what can be done about it.
fn unusable(game: &Game, reason: SkipReason, out: &mut FoundBlock) {
    report::count(&mut out.skipped, reason, 1);
    if reason == SkipReason::AnalysisWithoutEngine {
        let text = text!(
            "the scores are an analysis and the record does not name its engine; name it with \
             `annotator` NAME"
        );
        out.problem(game.line, reason, text, false);
    }
}

impl Collector for Worker<'_> {
    fn block(&mut self, block: &Block) -> Step {
        let found = self.read(block);
        self.push(found, block.is_whole)
    }

    fn note(&mut self, note: Note) -> Step {
        let Note { key, member, refusal, kind, message } = note;
        let mut found = FoundBlock::new(key, &member, 0, self.found.games.len());
        (found.refusal, found.is_note) = (refusal, refusal.is_none());
        match refusal {
            None => {
                report::count(&mut found.oddities, kind.as_str(), 1);
                found.problem(None, kind, message, true);
            }
            Some(Refusal::UnknownFormat | Refusal::Empty) => found.problem(None, kind, message, false),
            Some(_) => found.problem(None, kind, message, true),
        }
        self.push(found, true)
    }
}

/// How the scores of the players end, where those of one side may have the other sign.
fn end(game: &Game, inverted: Option<Color>) -> Option<GameEnd> {
    let scores = game.scores.iter().filter(|score| !score.analysis);
    let of_side = |color, cp: i32| if inverted == Some(color) { cp.saturating_neg() } else { cp };
    GameEnd::of(scores.map(|s| (s.ply.saturating_add(game.plies_before), s.color, of_side(s.color, s.score_cp))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::View;

    /// A file of 12 KB that was packed several times held 200 games 4,000 times, and all were kept.
    #[test]
    fn a_game_that_is_read_again_takes_no_memory() {
        let folder = std::env::temp_dir().join(format!("evalcurve-copies-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let game = |number: u32, score: i32| {
            format!("V2.2\nN+A{number}\nN-B\nPI\n+\n+7776FU\n'** {score} -3334FU\n-3334FU\n'** 40 +2726FU\n%TORYO\n")
        };
        let games: String = (0..30).map(|number| game(number, 30)).collect();
        // more than one block, and at the end a record of a game that differs
        std::fs::write(folder.join("a.csa"), games.repeat(1_000) + &game(7, 31)).unwrap();
        std::fs::write(folder.join("b.csa"), &games).unwrap();
        let read = |threads| {
            let sampling = SamplingOptions { from_ply: 1, ..SamplingOptions::default() };
            CollectOptions { sampling, threads, ..CollectOptions::default() }
        };
        let options = read(1);
        let new = || Worker {
            options: &options,
            found: Found::default(),
            game: Game::default(),
            scratch: Scratch::default(),
            kept: HashMap::default(),
        };
        let entries = find(std::slice::from_ref(&folder)).unwrap();
        let workers = read_all(&entries, 1, &Formats::default(), &Progress::default(), new);
        let found = &workers[0].found;
        assert_eq!((found.games.len(), found.samples.len()), (31, 62));
        assert!(found.blocks.iter().all(|block| block.copies.len() <= 20));
        // whatever worker reads a block, with the names that it happens to know, the table is the same
        let results = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)].map(|(workers, next)| {
            let in_turn = || InTurn { workers: (0..workers).map(|_| new()).collect(), next };
            let InTurn { workers, .. } =
                read_all(&entries, 1, &Formats::default(), &Progress::default(), in_turn).remove(0);
            let Collected { table, report, .. } =
                merge(workers.into_iter().map(|worker| worker.found).collect(), true, View::Auto);
            assert!(report.adds_up());
            assert_eq!((report.games_read, report.games_used), (30_031, 30));
            let texts: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
            let names: Vec<&str> = (0..table.names.len()).map(|id| table.names.get(id as NameId)).collect();
            (texts, format!("{names:?} {:?} {:?}", table.games, table.samples))
        });
        assert_eq!(results[0].0.len(), 20);
        assert!(results[0].0[0].contains("a.csa:302: duplicate: the game is also in "), "{:?}", results[0].0);
        for other in &results[1..] {
            assert!(results[0] == *other);
        }
        // two records of a game in turn, whichever says more
        for [first, second] in [[30, 31], [31, 30]] {
            let both = game(1, first) + &game(1, second);
            std::fs::write(folder.join("a.csa"), both.repeat(500)).unwrap();
            let entries = find(&[folder.join("a.csa")]).unwrap();
            let workers = read_all(&entries, 1, &Formats::default(), &Progress::default(), new);
            assert_eq!(workers[0].found.games.len(), 2);
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Of files that held nothing but a game that was kept already, all but 20 were in no count.
    #[test]
    fn files_with_copies_alone_are_all_counted() {
        let game = "V2.2\nN+A\nN-B\nPI\n+\n+7776FU\n'** 30 -3334FU\n-3334FU\n'** 40 +2726FU\n%TORYO\n";
        let entries: Vec<Entry> =
            (0..100).map(|n| Entry::in_memory(format!("{n:02}.csa"), game.as_bytes().to_vec())).collect();
        for threads in [1, 3] {
            let sampling = SamplingOptions { from_ply: 1, ..SamplingOptions::default() };
            let options = CollectOptions { sampling, threads, ..CollectOptions::default() };
            let report = collect(&entries, &[], &options, &Progress::default()).unwrap().report;
            assert_eq!((report.games_read, report.games_used, report.files_read), (100, 1, 100));
            assert_eq!(report.games_skipped["duplicate"], 99);
            assert!(report.adds_up() && report.problems.len() == 20);
            assert!(report.problems[0].to_string().starts_with("01.csa:2: duplicate: "), "{}", report.problems[0]);
        }
    }

    #[test]
    fn comments_that_are_not_read_are_counted_for_each_file() {
        let text = |moves: usize, other: &str| {
            let pair = |n: usize| format!("{n}. e4 {{+0.{n:02}/9 1s}} e5 {{{other}{n}/9 1s}}\n");
            format!("[White \"a\"]\n\n{}1-0\n", (1..=moves).map(pair).collect::<String>())
        };
        let problem = |text: String| {
            let sampling = SamplingOptions::default();
            let options = CollectOptions { sampling, ..CollectOptions::default() };
            let entry = Entry::in_memory("a.pgn", text.into_bytes());
            let report = collect(&[entry], &[], &options, &Progress::default()).unwrap().report;
            (report.scores, report.unread, report.problems.first().map(ToString::to_string).unwrap_or_default())
        };
        let (scores, unread, text_of_many) = problem(text(40, "0,"));
        assert_eq!((scores, unread), (40, 40));
        let expected = "a.pgn:3: unread comment: '0,1/9 1s' is not read as a score (40 comments look like scores and \
                        are not read, 40 are); known forms are '+0.98/25 11s'";
        assert!(text_of_many.starts_with(expected), "{text_of_many}");
        // a few are prose
        assert_eq!(problem(text(9, "0,")), (9, 9, String::new()));
        // without any score, a number is enough
        let (scores, unread, other) = problem(text(3, "depth ").replace("+0.", "move "));
        assert_eq!((scores, unread), (0, 0));
        assert!(other.starts_with("a.pgn:3: unread comment: 'move 01/9 1s' is not read as a score; known"), "{other}");
    }

    #[test]
    fn members_that_hold_nothing_take_no_memory() {
        let mut found = Found::default();
        let member: std::sync::Arc<str> = "a.zip/b".into();
        // in any order
        for number in (0..1_000).map(|n| n * 7 % 1_000) {
            let mut block = FoundBlock::new((0, number), &member, 0, 0);
            block.refusal = Some(Refusal::Empty);
            block.problem(None, Refusal::Empty, format!("{number}"), false);
            found.push_whole(block);
        }
        let report = merge(vec![found], true, View::Auto).report;
        assert_eq!(report.files_refused["empty"], 1_000);
        let first: Vec<String> = report.problems.iter().map(|problem| problem.value.to_string()).collect();
        assert_eq!(first, (0..20).map(|n| n.to_string()).collect::<Vec<_>>());
    }

    /// Workers that read the blocks in turn, as threads may.
    struct InTurn<'a> {
        workers: Vec<Worker<'a>>,
        next: usize,
    }

    impl<'a> InTurn<'a> {
        fn next(&mut self) -> &mut Worker<'a> {
            self.next += 1;
            let count = self.workers.len();
            &mut self.workers[(self.next - 1) % count]
        }
    }

    impl Collector for InTurn<'_> {
        fn block(&mut self, block: &Block) -> Step {
            self.next().block(block)
        }

        fn note(&mut self, note: Note) -> Step {
            self.next().note(note)
        }
    }
}
