//! Boards: the legal moves of any position that is accepted, against a second implementation.

use csa::{Action, parse_csa};
use evalcurve_engine::board::position::Position as OwnPosition;
use evalcurve_engine::usi::Position;
use evalcurve_engine::{Board, Game};
use evalcurve_lab::protocol::position_of_csa;
use evalcurve_records::record::{Above, csa as csa_reader, pgn};

pub(super) const PROMISE: &str = "every legal move is accepted, played, and written for records without ambiguity; any \
                                  other text is refused; the position is written and read back";

/// Moves played from one input.
const MOST_PLIES: usize = 60;

/// A position on the first line, further lines: words that may be moves; bytes of the last choose among legal moves.
struct Input<'a> {
    position: Position,
    words: Vec<&'a str>,
    choices: &'a [u8],
}

fn input(bytes: &[u8]) -> Option<Input<'_>> {
    let mut parts = bytes.splitn(3, |b| *b == b'\n');
    let position = Position::parse(std::str::from_utf8(parts.next()?).ok()?);
    let words = std::str::from_utf8(parts.next().unwrap_or_default()).ok()?.split(' ').collect();
    Some(Input { position, words, choices: parts.next().unwrap_or_default() })
}

/// Checks what holds in every position and returns its legal moves.
fn position(game: Game, board: &Board, words: &[&str]) -> Vec<String> {
    let moves = board.legal_moves();
    let text = board.text().expect("the rules are known");
    let mut records: Vec<String> = Vec::new();
    for m in &moves {
        assert_eq!(board.normalized(m).as_deref(), Some(m.as_str()), "{text}");
        let mut next = board.clone();
        assert!(next.play(m), "{text}: {m}");
        assert_ne!(next.side(), board.side());
        assert_eq!(next.ply(), board.ply() + 1);
        records.push(board.record_text(m).unwrap_or_else(|| panic!("{text}: {m} cannot be written")));
    }
    records.sort_unstable();
    assert!(records.windows(2).all(|w| w[0] != w[1]), "{text}: two moves are written as one: {records:?}");
    for word in words {
        match board.normalized(word) {
            Some(m) => assert!(moves.contains(&m), "{text}: {word} is {m}"),
            None => {
                assert!(!moves.iter().any(|m| m == word), "{text}: {word}");
                assert!(!board.clone().play(word), "{text}: {word}");
            }
        }
    }
    let again = Position { start: Some(text.clone()), moves: Vec::new() };
    let (again, problem) = if board.king_takes_rook() { Board::chess960(&again) } else { Board::new(game, &again) };
    assert_eq!(problem, None, "{text}");
    assert_eq!(again.identity(), board.identity());
    // the number of the move is not read in shogi
    assert!(game == Game::Shogi || again.text().as_ref() == Some(&text), "{text}: {:?}", again.text());
    assert_eq!((again.side(), again.in_check(), again.legal_moves()), (board.side(), board.in_check(), moves.clone()));
    moves
}

/// Plays moves chosen by the bytes and calls `each` before each with the board and the move.
fn play(game: Game, mut board: Board, input: &Input<'_>, mut each: impl FnMut(&Board, &str)) -> Board {
    for choice in input.choices.iter().take(MOST_PLIES) {
        let moves = position(game, &board, &input.words);
        let Some(m) = moves.get(usize::from(*choice) % moves.len().max(1)) else { break };
        each(&board, m);
        assert!(board.play(m));
    }
    position(game, &board, &input.words);
    board
}

/// Chess, in either notation of castling; the first byte chooses. The records are read back with cozy-chess.
pub(super) fn chess(bytes: &[u8]) {
    let Some((notation, bytes)) = bytes.split_first() else { return };
    let Some(input) = input(bytes) else { return };
    let chess960 = notation % 2 == 1;
    let (board, problem) =
        if chess960 { Board::chess960(&input.position) } else { Board::new(Game::Chess, &input.position) };
    if problem.is_some() || !board.checks_moves() {
        return;
    }
    let start = board.text().expect("the rules are known");
    let theirs: cozy_chess::Board = start.parse().expect("cozy-chess reads what is written");
    let mut count = 0;
    theirs.generate_moves(|of_piece| {
        count += of_piece.len();
        false
    });
    assert_eq!(count, board.legal_moves().len(), "{start}");
    let mut material: Vec<u16> = Vec::new();
    let mut record = format!("[Event \"x\"]\n[FEN \"{start}\"]\n[Result \"*\"]\n\n");
    let board = play(Game::Chess, board, &input, |board, m| {
        material.push(board.material().expect("chess has material") as u16);
        record += &board.record_text(m).expect("a legal move");
        record.push(' ');
    });
    material.push(board.material().expect("chess has material") as u16);
    record += "*\n";
    let count = pgn::FORMAT.material.expect("PGN counts material");
    if material.len() > 1 {
        let read = count(record.as_bytes(), &mut (1..=material.len() as u32));
        assert_eq!(read, Ok(material), "{record}");
    }
}

/// Shogi: the council's rules (haitaka), the positions of the TCP protocol, and the `csa` crate.
pub(super) fn shogi(bytes: &[u8]) {
    let Some(input) = input(bytes) else { return };
    let (board, problem) = Board::new(Game::Shogi, &input.position);
    if problem.is_some() || !board.checks_moves() {
        return;
    }
    let sfen = board.text().expect("the rules are known");
    let mut own = OwnPosition::from_sfen(&sfen).unwrap_or_else(|| panic!("{sfen}"));
    let header = format!("V2.2\n{}\n", own.to_csa().join("\n"));
    let mut record = header.clone();
    let mut plies = 0;
    play(Game::Shogi, board, &input, |board, m| {
        same(&own, board);
        let csa = board.record_text(m).expect("a legal move");
        assert_eq!(own.csa_of_usi(m).as_deref(), Some(csa.as_str()), "{m}");
        assert_eq!(own.usi_of_csa(&csa).as_deref(), Some(m), "{csa}");
        own = own.play(m).expect("a legal move");
        record += &csa;
        record.push('\n');
        plies += 1;
    });
    let theirs = parse_csa(&format!("{record}%TORYO\n")).unwrap_or_else(|e| panic!("{e}: {record}"));
    let moves = theirs.moves.iter().filter(|m| matches!(m.action, Action::Move(..)));
    let moves: Vec<String> = moves.map(|m| m.action.to_string().trim_end().to_owned()).collect();
    assert_eq!(moves, record[header.len()..].lines().collect::<Vec<_>>());
    let text = format!("{record}%TORYO\n");
    let game = csa_reader::FORMAT.games(text.as_bytes(), &Above::default()).next();
    assert_eq!(game.map(|read| read.map(|game| game.plies)), Some(Ok(plies)), "{text}");
}

/// 5x5 shogi.
pub(super) fn minishogi(bytes: &[u8]) {
    let Some(input) = input(bytes) else { return };
    let (board, problem) = Board::new(Game::Minishogi, &input.position);
    if problem.is_some() || !board.checks_moves() {
        return;
    }
    play(Game::Minishogi, board, &input, |board, m| {
        let text = board.text().expect("the rules are known");
        let own = OwnPosition::from_sfen(&text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(position_of_csa(own.to_csa().iter().map(String::as_str)), Some(own.clone()), "{text}");
        let csa = board.record_text(m).expect("a legal move");
        assert_eq!(own.usi_of_csa(&csa).as_deref(), Some(m), "{csa}");
    });
}

/// The two positions are the same, but for the number of the move.
fn same(own: &OwnPosition, board: &Board) {
    let words = |text: &str| text.split(' ').take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&own.to_sfen()), words(&board.text().expect("the rules are known")));
}
