//! Where games begin: a file of openings, or random plies.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;

use evalcurve_calibration::types::Outcome;
use evalcurve_engine::usi::Position;
use evalcurve_engine::{Board, Game};
use evalcurve_records::record::Played;
use evalcurve_records::record::find::Entry;
use evalcurve_records::record::format::remove_marks;
use evalcurve_records::record::pgn::replay::uci_moves;
use evalcurve_records::{Record, games_of};
use evalcurve_words::random;
use evalcurve_words::text::{shortened, shown_path as shown};
use thiserror::Error;

use super::ending::{End, History};
use super::problem::place_of_opening_key;
use super::tournament::{Order, Tournament};

/// Random plies if the tournament gives neither a file nor their number.
const RANDOM_PLIES: u32 = 8;

/// Attempts to find a random opening that no earlier one equals.
const ATTEMPTS: u64 = 200;

/// Attempts to find one after which the game goes on.
const MOST_ATTEMPTS: u64 = 2_000;

/// Why there are no openings.
#[derive(Debug, Error, evalcurve_words::language::ToText)]
pub enum OpeningError {
    /// The file cannot be read.
    #[error("{path}: cannot read the openings: {source}; give the path of an SFEN, EPD, PGN, KIF or CSA file")]
    Read { path: String, source: std::io::Error },
    /// No line of the file is an opening.
    #[error("{path}: none of {lines} lines or games is an opening of {game}; the first problem is {first}")]
    NoOpening { path: String, lines: usize, game: &'static str, first: String },
    /// `start` is beyond the end of the file.
    #[error("{place}start is {start}, and {path} has {count} openings; write a number from 1 to {count}")]
    Start {
        /// The tournament file with the line of the key, or nothing.
        place: String,
        path: String,
        count: usize,
        /// The first one to use.
        start: usize,
    },
    /// Random plies end the game.
    #[error(
        "{place}no game goes on after {plies} random plies; write fewer plies in [openings], or a file of openings"
    )]
    Ended {
        /// The tournament file with the line of the key, or nothing.
        place: String,
        plies: u32,
    },
}

/// The openings of a tournament in the order in which they are played.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OpeningList {
    pub openings: Vec<Position>,
    /// How the games of a PGN file ended, as `gameover` tells a council that did not play them: `black`, `white` or
    /// `even`; empty for other files, and for openings in another order.
    pub results: Vec<Option<&'static str>>,
    /// How many of those that pairs use differ from all before.
    pub different: usize,
    /// What was not used and why, with file and line.
    pub problems: Vec<String>,
}

/// Reads or draws the openings of a tournament.
pub(crate) fn openings(tournament: &Tournament) -> Result<OpeningList, OpeningError> {
    list(tournament, playable)
}

/// The same; a game of the file that has ended begins before its last move.
pub(crate) fn openings_of_whole_games(tournament: &Tournament) -> Result<OpeningList, OpeningError> {
    list(tournament, |tournament, mut position| {
        let (board, problem) = tournament.board(&position);
        if problem.is_none() && board.legal_moves().is_empty() {
            position.moves.pop();
        }
        checked(tournament, position)
    })
}

/// Whether a position is an opening of a game, or else why not.
type Check = fn(&Tournament, Position) -> Result<Position, String>;

fn list(tournament: &Tournament, check: Check) -> Result<OpeningList, OpeningError> {
    let Some(path) = &tournament.openings.file else {
        return drawn(tournament);
    };
    let name = shown(path);
    let bytes = std::fs::read(path).map_err(|source| OpeningError::Read { path: name.clone(), source })?;
    let mut list = parsed(tournament, check, bytes, path, &name);
    if list.openings.is_empty() {
        let first = list.problems.first().cloned().unwrap_or_else(|| "that it is empty".to_owned());
        let (lines, game) = (list.problems.len(), tournament.game.as_str());
        return Err(OpeningError::NoOpening { path: name, lines, game, first });
    }
    if tournament.openings.order == Order::Random {
        list.results.clear();
        for last in (1..list.openings.len()).rev() {
            let other = random::below(last as u64 + 1, &[tournament.seed, SHUFFLE, last as u64]) as usize;
            list.openings.swap(last, other);
        }
    }
    let (start, count) = (tournament.openings.start.unwrap_or(1).max(1), list.openings.len());
    if start > count {
        let place = place_of_opening_key(tournament, "start");
        return Err(OpeningError::Start { place, path: name, count, start });
    }
    list.openings.drain(..start - 1);
    let used = list.openings.iter().take(tournament.pairs as usize);
    list.different = used.map(|opening| opening.line(tournament.game.protocol())).collect::<HashSet<_>>().len();
    Ok(list)
}

/// Keys that keep draws apart.
const SHUFFLE: u64 = 1;
const PLIES: u64 = 2;
const START: u64 = 3;

/// The endings of records of shogi, which are read in any encoding.
const RECORDS: [&str; 5] = ["csa", "kif", "kifu", "ki2", "ki2u"];

fn parsed(tournament: &Tournament, check: Check, mut bytes: Vec<u8>, path: &Path, shown: &str) -> OpeningList {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let most = tournament.openings.plies.map_or(usize::MAX, |plies| plies as usize);
    let mut list = OpeningList::default();
    let mut add = |line: usize, position: Result<Position, String>, result: Option<Option<&'static str>>| match position
        .and_then(|position| check(tournament, position))
    {
        Ok(position) => {
            list.openings.push(position);
            list.results.extend(result);
        }
        Err(why) => list.problems.push(format!("{shown}:{line}: {why}")),
    };
    if RECORDS.contains(&&*ending) {
        for game in games_of(vec![Entry::in_memory(shown, bytes)]).with_moves() {
            match game {
                Err(problem) => add(problem.line as usize, Err(problem.value.to_string()), None),
                Ok(Record { game, .. }) => {
                    let Played { start, mut moves, .. } = game.played.unwrap_or_default();
                    moves.truncate(most);
                    let result = game.black_outcome.map(|outcome| match outcome {
                        Outcome::Win => "black",
                        Outcome::Draw => "even",
                        Outcome::Loss => "white",
                    });
                    add(game.line as usize + 1, Ok(Position { start, moves }), Some(result));
                }
            }
        }
        return list;
    }
    let length = remove_marks(&mut bytes, 0);
    let text = String::from_utf8_lossy(&bytes[..length]);
    let text = text.trim_start_matches('\u{feff}');
    if ending == "pgn" || text.starts_with("[Event ") {
        for (line, game) in pgn_games(text) {
            let read = uci_moves(game.as_bytes(), most).map_err(|e| e.to_string());
            let start = |start: Option<String>| start.map(|start| completed(tournament.game, &start));
            let read = read.map(|(found, moves)| Position { start: start(found), moves });
            add(line, read, Some(result(game)));
        }
        return list;
    }
    for (line, text) in (1..).zip(text.lines()).filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#')) {
        let mut position = position(tournament.game, text.trim());
        position.moves.truncate(most);
        add(line, Ok(position), None);
    }
    list
}

/// The Result tag of a game, for a council.
fn result(game: &str) -> Option<&'static str> {
    let tag = game.lines().find_map(|line| line.trim().strip_prefix("[Result \""))?;
    [("1-0", "white"), ("0-1", "black"), ("1/2-1/2", "even")]
        .into_iter()
        .find_map(|(mark, word)| tag.starts_with(mark).then_some(word))
}

/// The games of a PGN file with their first lines, from 1. A game begins at its Event tag.
fn pgn_games(text: &str) -> Vec<(usize, &str)> {
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for (line, text) in (1..).zip(text.split_inclusive('\n')) {
        if text.starts_with("[Event \"") {
            starts.push((line, at));
        }
        at += text.len();
    }
    if starts.is_empty() {
        starts.push((1, 0));
    }
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([text.len()]);
    starts.iter().zip(ends).map(|((line, from), to)| (*line, &text[*from..to])).collect()
}

/// A line: `startpos moves …`, `sfen …`, `fen …`, a bare SFEN, FEN or EPD with operations, or moves alone.
fn position(game: Game, line: &str) -> Position {
    let line = line.strip_prefix("position ").unwrap_or(line).trim();
    let first = line.split_whitespace().next().unwrap_or_default();
    if !matches!(first, "startpos" | "sfen" | "fen") && !first.contains('/') {
        let moves = line.strip_prefix("moves ").unwrap_or(line).split_whitespace();
        return Position { start: None, moves: moves.map(str::to_owned).collect() };
    }
    let mut position = Position::parse(line);
    position.start = position.start.map(|start| completed(game, &start));
    position
}

/// A start position with all fields, which engines and readers of records expect: six in a FEN, four in an SFEN. The
/// operations of an EPD are left out, but for its counters.
fn completed(game: Game, start: &str) -> String {
    let mut fields: Vec<&str> = start.split_whitespace().collect();
    let missing: &[&str] = match game {
        Game::Chess => {
            let operations = fields.split_off(fields.len().min(4));
            // an operation that is no counter counts as missing; a wrong counter of a FEN is its reader's to refuse
            let counter = |at: usize, name: &str, valid: RangeInclusive<u16>| {
                let of_fen = operations.iter().take(at + 1).all(|field| field.parse::<u32>().is_ok());
                let named = operations.windows(2).find(|two| two[0] == name).map(|two| two[1].trim_end_matches(';'));
                let named = named.filter(|text| text.parse().is_ok_and(|number| valid.contains(&number)));
                operations.get(at).copied().filter(|_| of_fen).or(named)
            };
            let counters =
                [counter(0, "hmvc", 0..=100).unwrap_or("0"), counter(1, "fmvn", 1..=u16::MAX).unwrap_or("1")];
            if fields.len() == 4 {
                fields.extend(counters);
            }
            &["", "", "-", "-", "0", "1"]
        }
        Game::Shogi | Game::Minishogi => &["", "", "-", "1"],
        _ => &[],
    };
    // what has no board and no side to move is no position
    if fields.len() >= 2 {
        fields.extend(missing.iter().skip(fields.len()));
    }
    fields.join(" ")
}

/// A position of the game with a legal move.
fn checked(tournament: &Tournament, position: Position) -> Result<Position, String> {
    let (board, problem) = tournament.board(&position);
    let shown = || shortened(&position.line(tournament.game.protocol()), 80);
    if let Some(problem) = problem {
        // a council would go on
        return Err(problem.what);
    }
    if board.king_takes_rook() && !tournament.chess960 {
        return Err(format!("'{}' is Chess960; write chess960 = true", shown()));
    }
    if board.legal_moves().is_empty() { Err(format!("'{}' has no legal move", shown())) } else { Ok(position) }
}

/// A position in which a game can begin: it has not ended by the rules, as a dead position or by the count of moves.
fn playable(tournament: &Tournament, position: Position) -> Result<Position, String> {
    let position = checked(tournament, position)?;
    let (board, _) = tournament.board(&position);
    let game = tournament.game;
    match History::default().add(game, &board) {
        Some(End { detail, .. }) => {
            Err(format!("'{}' has ended: {detail}", shortened(&position.line(game.protocol()), 80)))
        }
        None => Ok(position),
    }
}

/// Random openings, each from its own draws, and all different as long as there are enough.
fn drawn(tournament: &Tournament) -> Result<OpeningList, OpeningError> {
    let plies = tournament.openings.plies.unwrap_or(RANDOM_PLIES);
    let mut known = HashSet::new();
    let mut list = OpeningList::default();
    for number in 0..u64::from(tournament.pairs) {
        let mut found = None;
        for attempt in 0..MOST_ATTEMPTS {
            if attempt >= ATTEMPTS && found.is_some() {
                break;
            }
            let (board, position) = random_moves(tournament, plies, number, attempt);
            if board.legal_moves().is_empty() || board.in_check() {
                continue;
            }
            found = Some(position);
            if known.insert(board.identity()) {
                list.different += 1;
                break;
            }
        }
        let position = found.ok_or_else(|| {
            let place = place_of_opening_key(tournament, "plies");
            OpeningError::Ended { place, plies }
        })?;
        list.openings.push(position);
    }
    Ok(list)
}

/// Random plies from the initial position, or from one of those of Chess960, fewer if the game ends, and the board
/// after them.
fn random_moves(tournament: &Tournament, plies: u32, number: u64, attempt: u64) -> (Board, Position) {
    let drawn = || random::below(960, &[tournament.seed, START, number, attempt]) as u32;
    let mut position = if tournament.chess960 { Board::chess960_start(drawn()) } else { Position::default() };
    let (mut board, _) = tournament.board(&position);
    for ply in 0..u64::from(plies) {
        let mut legal = board.legal_moves();
        legal.sort_unstable();
        let at = random::below(legal.len() as u64, &[tournament.seed, PLIES, number, attempt, ply]) as usize;
        let Some(text) = legal.get(at) else { break };
        board.play(text);
        position.moves.push(text.clone());
    }
    (board, position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::tournament::Openings;

    fn read(game: Game, name: &str, text: &str) -> OpeningList {
        let tournament = Tournament { game, ..Tournament::default() };
        parsed(&tournament, playable, text.as_bytes().to_vec(), Path::new(name), name)
    }

    #[test]
    fn every_form_of_a_line_is_read() {
        let text = "\u{feff}# openings\r\nstartpos moves 7g7f 3c3d\r\n\r\n7g7f 8c8d\r\n\
                    sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1 moves 2g2f\r\n\
                    lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1\r\n7g7f 7g7f\r\n";
        let list = read(Game::Shogi, "openings.sfen", text);
        let moves: Vec<String> = list.openings.iter().map(|p| p.moves.join(" ")).collect();
        assert_eq!(moves, ["7g7f 3c3d", "7g7f 8c8d", "2g2f", ""]);
        assert_eq!(list.problems, ["openings.sfen:7: move 2 of the position, '7g7f', is illegal"]);
        let epd = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - hmvc 0; fmvn 2;\n\
                   rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\n";
        let list = read(Game::Chess, "book.epd", epd);
        assert_eq!(list.openings.len(), 2);
        let starts: Vec<&str> = list.openings.iter().filter_map(|p| p.start.as_deref()).collect();
        assert_eq!(starts, ["rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"; 2]);
        assert!(list.problems[0].starts_with("book.epd:3:") && list.problems[0].ends_with("has no legal move"));
    }

    /// A game that begins there would be a draw without a move.
    #[test]
    fn a_position_that_has_ended_is_no_opening() {
        let epd = "4k3/8/8/8/8/8/4P3/4K3 w - - 150 100\n4k3/8/8/8/8/8/8/4K1N1 w - - 0 1\n\
                   4k3/8/8/8/8/8/4P3/4K3 w - - 99 100\nr3k3/8/8/8/8/8/8/4K2R w KQq - 0 1\n";
        let list = read(Game::Chess, "book.epd", epd);
        assert_eq!(list.openings.len(), 1);
        let ends = ["has ended: fifty moves", "has ended: insufficient material", "a king and a rook in their places"];
        for ((line, problem), end) in [1, 2, 4].iter().zip(&list.problems).zip(ends) {
            assert!(problem.starts_with(&format!("book.epd:{line}:")) && problem.ends_with(end), "{problem}");
        }
        assert_eq!(list.problems.len(), 3);
    }

    /// Engines and readers of records expect all fields.
    #[test]
    fn start_positions_have_all_fields() {
        let board = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR";
        for (given, expected) in [
            ("w KQkq -", "w KQkq - 0 1"),
            ("w KQkq - bm Nf3; id \"a 7\";", "w KQkq - 0 1"),
            ("b KQkq - fmvn 12; hmvc 3;", "b KQkq - 3 12"),
            ("w KQkq - 4", "w KQkq - 4 1"),
            ("w KQkq - 4 9 c0 \"x\";", "w KQkq - 4 9"),
            ("w KQkq - hmvc many;", "w KQkq - 0 1"),
            ("w KQkq - hmvc 101; fmvn 0;", "w KQkq - 0 1"),
        ] {
            let list = read(Game::Chess, "book.epd", &format!("{board} {given}\n"));
            assert_eq!(list.openings[0].start, Some(format!("{board} {expected}")), "{given}: {list:?}");
        }
        let pgn = format!("[Event \"a\"]\n[SetUp \"1\"]\n[FEN \"{board} w KQkq -\"]\n\n1. Nf3 *\n");
        let list = read(Game::Chess, "book.pgn", &pgn);
        assert_eq!(list.openings[0].start, Some(format!("{board} w KQkq - 0 1")), "{list:?}");
        let shogi = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
        for (given, expected) in [("w -", "w - 1"), ("b - 7", "b - 7"), ("w - moves 8c8d", "w - 1")] {
            let list = read(Game::Shogi, "book.sfen", &format!("sfen {shogi} {given}\n"));
            assert_eq!(list.openings[0].start, Some(format!("{shogi} {expected}")), "{given}: {list:?}");
        }
        for (game, text) in [(Game::Chess, "a/b\n"), (Game::Shogi, "sfen a/b x\n"), (Game::Chess, "fen\n/\n")] {
            assert!(read(game, "book", text).openings.iter().all(|p| p.start.is_none()), "{text}");
        }
    }

    #[test]
    fn chess960_has_openings_of_its_own() {
        let of = |chess960| Tournament { game: Game::Chess, chess960, pairs: 100, ..Tournament::default() };
        let drawn = openings(&of(true)).unwrap();
        let starts: HashSet<&str> = drawn.openings.iter().filter_map(|p| p.start.as_deref()).collect();
        assert!(starts.len() > 80 && drawn.different == 100, "{}", starts.len());
        assert!(drawn.openings.iter().all(|p| checked(&of(true), p.clone()).is_ok()));
        // king on g1, rooks on f1 and h1, in either notation of the rights
        let epd = "bbrnnkrq/pppppppp/8/8/8/8/PPPPPPPP/BBRNNKRQ w KQkq - 0 1\n\
                   bbrnnkrq/pppppppp/8/8/8/8/PPPPPPPP/BBRNNKRQ w GCgc - 0 1\n";
        let read = |chess960| parsed(&of(chess960), playable, epd.as_bytes().to_vec(), Path::new("b.epd"), "b.epd");
        assert_eq!(read(true).openings.len(), 2, "{:?}", read(true).problems);
        let problems = read(false).problems;
        assert!(problems.len() == 2 && problems[0].ends_with("is Chess960; write chess960 = true"), "{problems:?}");
    }

    #[test]
    fn games_of_a_pgn_file_are_openings() {
        let pgn = "[Event \"a\"]\n[Result \"*\"]\n\n1. e4 e5 2. Nf3 *\n\n[Event \"b\"]\n\n1. d4 {d} d5 (1... Nf6) *\n\n\
                   [Event \"c\"]\n\n1. e4 Ke3 *\n";
        let list = read(Game::Chess, "book.pgn", pgn);
        // joined files of editors that begin each with a mark
        assert_eq!(read(Game::Chess, "book.pgn", &pgn.replace("[Event", "\u{feff}[Event")), list);
        let moves: Vec<String> = list.openings.iter().map(|p| p.moves.join(" ")).collect();
        assert_eq!(moves, ["e2e4 e7e5 g1f3", "d2d4 d7d5"]);
        assert_eq!(list.problems.len(), 1);
        assert!(list.problems[0].starts_with("book.pgn:10: ply 2: 'Ke3'"), "{:?}", list.problems);
    }

    /// With the handicap and the result.
    #[test]
    fn records_of_shogi_are_openings() {
        let kif = "手合割：香落ち\n先手：甲\n後手：乙\n手数----指手\n   1 ３四歩(33)\n   2 ７六歩(77)\n   3 投了\n";
        let of = |name: &str, text: &[u8], plies| {
            let openings = Openings { plies, ..Openings::default() };
            let tournament = Tournament { game: Game::Shogi, openings, ..Tournament::default() };
            parsed(&tournament, playable, text.to_vec(), Path::new(name), name)
        };
        let list = of("a.kif", kif.as_bytes(), None);
        assert_eq!(
            (list.openings[0].moves.join(" "), &list.results[..]),
            ("3c3d 7g7f".to_owned(), &[Some("black")][..])
        );
        assert!(list.openings[0].start.as_ref().is_some_and(|start| start.contains(" w - ")), "{list:?}");
        let game = |end: &str| format!("V2.2\nN+a\nN-b\nPI\n+\n+7776FU\n-3334FU\n{end}\n");
        let csa = [game("%TORYO"), game("+7775FU\n%TORYO"), game("%SENNICHITE")].join("/\n");
        let list = of("b.csa", csa.as_bytes(), Some(1));
        let moves: Vec<String> = list.openings.iter().map(|p| p.moves.join(" ")).collect();
        assert_eq!((moves.len() + list.problems.len(), &*moves[0], list.results[0]), (3, "7g7f", Some("white")));
        assert_eq!(list.results.last(), Some(&Some("even")));
        assert_eq!(list.results.len(), moves.len());
    }

    #[test]
    fn random_openings_differ_and_depend_on_the_seed_alone() {
        for game in [Game::Shogi, Game::Minishogi, Game::Chess] {
            let tournament = Tournament { game, pairs: 200, ..Tournament::default() };
            let (first, again) = (openings(&tournament).unwrap(), openings(&tournament).unwrap());
            assert_eq!(first, again);
            let of = |list: &OpeningList| list.openings.iter().map(|p| p.moves.join(" ")).collect::<HashSet<_>>();
            assert_eq!(of(&first).len(), 200);
            let more = openings(&Tournament { pairs: 300, ..tournament.clone() }).unwrap();
            assert_eq!(more.openings[..200], first.openings, "more pairs begin with the same openings");
            let other = openings(&Tournament { seed: 2, ..tournament }).unwrap();
            assert!(of(&first).intersection(&of(&other)).count() < 20);
        }
    }

    #[test]
    fn repeated_lines_of_a_file_are_counted() {
        let path = std::env::temp_dir().join(format!("evalcurve-openings-{}.txt", std::process::id()));
        std::fs::write(&path, "startpos moves 7g7f\n2g2f\nmoves 7g7f\n7g7f 3c3d\n").unwrap();
        let of = |pairs, start| {
            let file = Openings { file: Some(path.clone()), start, ..Openings::default() };
            let list = openings(&Tournament { game: Game::Shogi, pairs, openings: file, ..Tournament::default() });
            list.map(|list| (list.openings.len(), list.different))
        };
        let found = [of(2, None), of(4, None), of(9, None), of(3, Some(2))].map(|list| list.unwrap());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found, [(4, 2), (4, 3), (4, 3), (3, 3)]);
    }

    #[test]
    fn repeated_openings_are_counted_and_end_no_game() {
        let of = |game, pairs, plies| {
            let plies = Openings { plies: Some(plies), ..Openings::default() };
            openings(&Tournament { game, pairs, openings: plies, ..Tournament::default() })
        };
        // shogi has 30 first moves, chess 20
        for (game, pairs, expected) in [(Game::Shogi, 100, 30), (Game::Chess, 100, 20), (Game::Shogi, 20, 20)] {
            let list = of(game, pairs, 1).unwrap();
            assert_eq!((list.openings.len(), list.different), (pairs as usize, expected), "{game:?}");
            // the first of several pairs stay the same
            assert_eq!(of(game, pairs / 2, 1).unwrap().openings, list.openings[..pairs as usize / 2]);
        }
        // so long that nearly every game has ended before, or gives check
        let long = of(Game::Minishogi, 3, 60).unwrap();
        for opening in &long.openings {
            let (board, _) = Board::new(Game::Minishogi, opening);
            assert!(opening.moves.len() == 60 && !board.in_check() && !board.legal_moves().is_empty());
        }
        let error = of(Game::Minishogi, 1, 3_000).unwrap_err().to_string();
        assert!(error.starts_with("no game goes on after 3000 random plies"), "{error}");
    }
}
