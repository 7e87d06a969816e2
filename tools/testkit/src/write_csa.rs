//! Writes CSA records, by the `csa` crate.

use std::fmt::Write;

use csa::{Action, Color, GameRecord, MoveRecord, PieceType, Position, Square};
use thiserror::Error;

use evalcurve_records::record::StartTime;

/// A game to write as CSA: even start position, moves as CSA tokens (`+7776FU`).
#[derive(Debug, Clone, Default)]
pub struct CsaGame {
    /// Players, Black first.
    pub names: [String; 2],
    /// Event, empty for none.
    pub event: String,
    /// When the game began.
    pub start_time: Option<StartTime>,
    /// Moves with the comment that follows each (floodgate's `** 30`), if any.
    pub moves: Vec<(String, Option<String>)>,
    /// Last statement, e.g. `%TORYO`.
    pub end: String,
    /// Comment lines after the end, e.g. `summary:toryo:a lose:b win`.
    pub trailer: Vec<String>,
}

/// A text that is not a move token.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{0}' is not a CSA move; write for example +7776FU")]
pub struct TokenError(String);

/// Writes a game as CSA V2.2. The `csa` crate writes header, position and moves; the comments, which it does not know,
/// are inserted after their moves.
///
/// # Errors
/// [`TokenError`] for a text that is not a move.
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
    let mut start_time = game.start_time;
    for line in text.lines() {
        if let Some(start) = start_time.take_if(|_| line.starts_with('P')) {
            let (h, m, s) = start.time.unwrap_or_default();
            let _ =
                writeln!(out, "$START_TIME:{:04}/{:02}/{:02} {h:02}:{m:02}:{s:02}", start.year, start.month, start.day);
        }
        out.push_str(line);
        out.push('\n');
        if line.len() == 7
            && matches!(line.as_bytes().first(), Some(b'+' | b'-'))
            && let Some(Some(comment)) = comments.next()
        {
            out.push('\'');
            out.push_str(comment);
            out.push('\n');
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
