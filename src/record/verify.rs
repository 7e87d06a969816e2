//! A second opinion on the moves of CSA records, by the `csa` crate, and CSA text written by it.
//!
//! The crate cannot be the source of the scores: it drops all comments, and ends a game without an error at a comma in
//! a comment, at an empty comment, at `T1.500` and at a last line without newline. So it is fed with a body that it
//! can take (version 2.2, the start position, the moves), and its moves must be the scanner's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use csa::{Action, Color, GameRecord, MoveRecord, PieceType, Position, Square, parse_csa};
use thiserror::Error;

/// The two readers disagree.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum VerifyError {
    /// The crate cannot read the body that it was given.
    #[error("the csa crate cannot read the moves: {0}")]
    Unreadable(String),
    /// The crate reads another number of moves.
    #[error("the csa crate reads {theirs} moves, the scanner {ours}")]
    Count {
        /// Moves of the scanner.
        ours: usize,
        /// Moves of the crate.
        theirs: usize,
    },
    /// A move differs.
    #[error("move {ply}: the csa crate reads {theirs}, the scanner {ours}")]
    Move {
        /// Which move, from 1.
        ply: usize,
        /// As the scanner reads it.
        ours: String,
        /// As the crate reads it.
        theirs: String,
    },
}

/// Reads the text of one CSA game with the `csa` crate and compares the moves.
///
/// # Errors
/// [`VerifyError`] where the crate refuses the moves or reads others.
pub fn check(game: &[u8]) -> Result<(), VerifyError> {
    let (body, moves) = sanitise(game);
    let parsed = catch_unwind(AssertUnwindSafe(|| parse_csa(&body)));
    let record = match parsed {
        Ok(Ok(record)) => record,
        Ok(Err(error)) => return Err(VerifyError::Unreadable(error.to_string())),
        Err(_) => return Err(VerifyError::Unreadable("it panics".to_owned())),
    };
    let theirs: Vec<String> = record
        .moves
        .iter()
        .filter(|m| matches!(m.action, Action::Move(..)))
        .map(|m| m.action.to_string().trim_end().to_owned())
        .collect();
    if let Some(at) = moves.iter().zip(&theirs).position(|(a, b)| a != b) {
        return Err(VerifyError::Move { ply: at + 1, ours: moves[at].clone(), theirs: theirs[at].clone() });
    }
    if moves.len() != theirs.len() {
        return Err(VerifyError::Count { ours: moves.len(), theirs: theirs.len() });
    }
    Ok(())
}

/// A body that the crate can take, and the moves that the scanner's rules find in the text.
fn sanitise(game: &[u8]) -> (String, Vec<String>) {
    let mut head = String::from("V2.2\n");
    let mut side = "+";
    let mut moves: Vec<String> = Vec::new();
    let mut ended = false;
    'lines: for line in game.split(|&b| b == b'\n') {
        let line = line.trim_ascii_end();
        if line.first() == Some(&b'\'') || line.is_empty() {
            continue;
        }
        if line.first() == Some(&b'P') && moves.is_empty() {
            let mut text = String::from_utf8_lossy(line).into_owned();
            if line.get(1).is_some_and(u8::is_ascii_digit) {
                // ranks whose trailing blanks were trimmed
                while text.len() < 2 + 27 {
                    text.push_str(if (text.len() - 2) % 3 == 1 { "*" } else { " " });
                }
            }
            head.push_str(&text);
            head.push('\n');
            continue;
        }
        if matches!(line.first(), Some(b'N' | b'$' | b'V')) {
            continue;
        }
        for statement in line.split(|&b| b == b',') {
            match statement {
                b"+" | b"-" if moves.is_empty() => side = if statement == b"+" { "+" } else { "-" },
                b"/" if !moves.is_empty() => break 'lines,
                [b'%', ..] => ended = true,
                [b'+' | b'-', ..] if statement.len() >= 7 && !ended => {
                    let text = String::from_utf8_lossy(&statement[..7]).into_owned();
                    if moves.is_empty() {
                        side = if statement[0] == b'+' { "+" } else { "-" };
                    }
                    moves.push(text);
                }
                _ => {}
            }
        }
    }
    if !head.contains("\nP") {
        head.push_str("PI\n");
    }
    let body = format!("{head}{side}\n{}\n", moves.join("\n"));
    (body, moves)
}

/// A game to be written as CSA: even start position, moves as CSA tokens (`+7776FU`).
#[derive(Debug, Clone, Default)]
pub struct CsaGame {
    /// Players, Black first.
    pub names: [String; 2],
    /// Event, empty for none.
    pub event: String,
    /// Moves with the comment that follows each (floodgate's `** 30`), if any.
    pub moves: Vec<(String, Option<String>)>,
    /// Last statement, e.g. `%TORYO`.
    pub end: String,
    /// Comment lines after the end, e.g. `summary:toryo:a lose:b win`.
    pub trailer: Vec<String>,
}

/// A move token that is none.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not a CSA move; write for example +7776FU")]
pub struct TokenError(String);

/// Writes a game as CSA V2.2. The `csa` crate writes header, position and moves; the comments, which it does not know,
/// are put behind their moves.
///
/// # Errors
/// [`TokenError`] for a move that is none.
pub fn write(game: &CsaGame) -> Result<String, TokenError> {
    let record = GameRecord {
        black_player: Some(game.names[0].clone()),
        white_player: Some(game.names[1].clone()),
        event: (!game.event.is_empty()).then(|| game.event.clone()),
        start_pos: Position::default(),
        moves: game
            .moves
            .iter()
            .map(|(token, _)| Ok(MoveRecord { action: action(token)?, time: None }))
            .collect::<Result<_, TokenError>>()?,
        ..GameRecord::default()
    };
    let text = record.to_string();
    let mut out = String::with_capacity(text.len() * 2);
    let mut comments = game.moves.iter().map(|(_, comment)| comment);
    for line in text.lines() {
        out.push_str(line);
        out.push('\n');
        if line.len() == 7 && matches!(line.as_bytes().first(), Some(b'+' | b'-')) {
            if let Some(Some(comment)) = comments.next() {
                out.push('\'');
                out.push_str(comment);
                out.push('\n');
            }
        }
    }
    out.push_str(&game.end);
    out.push('\n');
    for line in &game.trailer {
        out.push('\'');
        out.push_str(line);
        out.push('\n');
    }
    Ok(out)
}

fn action(token: &str) -> Result<Action, TokenError> {
    let error = || TokenError(token.to_owned());
    let bytes: [u8; 7] = token.as_bytes().try_into().map_err(|_| error())?;
    let color = match bytes[0] {
        b'+' => Color::Black,
        b'-' => Color::White,
        _ => return Err(error()),
    };
    let digit = |b: u8| b.is_ascii_digit().then(|| b - b'0').ok_or_else(error);
    let from = Square::new(digit(bytes[1])?, digit(bytes[2])?);
    let to = Square::new(digit(bytes[3])?, digit(bytes[4])?);
    let piece = match &bytes[5..] {
        b"FU" => PieceType::Pawn,
        b"KY" => PieceType::Lance,
        b"KE" => PieceType::Knight,
        b"GI" => PieceType::Silver,
        b"KI" => PieceType::Gold,
        b"KA" => PieceType::Bishop,
        b"HI" => PieceType::Rook,
        b"OU" => PieceType::King,
        b"TO" => PieceType::ProPawn,
        b"NY" => PieceType::ProLance,
        b"NK" => PieceType::ProKnight,
        b"NG" => PieceType::ProSilver,
        b"UM" => PieceType::Horse,
        b"RY" => PieceType::Dragon,
        _ => return Err(error()),
    };
    Ok(Action::Move(color, from, to, piece))
}
