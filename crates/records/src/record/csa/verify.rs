//! Checks the moves of CSA records with a second reader, the `csa` crate.
//!
//! The crate cannot be the source of the scores: it drops all comments, and it ends a game without an error at a comma
//! in a comment, at an empty comment, at `T1.500` and at a last line without newline. So it gets a body that it can
//! read (version 2.2, the start position, the moves), and its moves must equal those of the scanner.

use std::panic::{AssertUnwindSafe, catch_unwind};

use csa::{Action, parse_csa};

/// Reads the text of one CSA game with the `csa` crate and compares the moves.
///
/// # Errors
/// A message if the crate refuses the moves or reads different ones.
pub fn check(game: &[u8]) -> Result<(), String> {
    let (body, moves) = sanitise(game);
    let parsed = catch_unwind(AssertUnwindSafe(|| parse_csa(&body)));
    let parsed = parsed.map_err(|_| "it panics".to_owned()).and_then(|read| read.map_err(|e| e.to_string()));
    let record = parsed.map_err(|why| format!("a second CSA reader rejects the moves: {why}"))?;
    let theirs: Vec<String> = record
        .moves
        .iter()
        .filter(|m| matches!(m.action, Action::Move(..)))
        .map(|m| m.action.to_string().trim_end().to_owned())
        .collect();
    if let Some((ply, (ours, theirs))) = (1..).zip(moves.iter().zip(&theirs)).find(|(_, (a, b))| a != b) {
        return Err(format!("move {ply}: the csa crate reads {theirs}, the scanner {ours}"));
    }
    let (ours, theirs) = (moves.len(), theirs.len());
    if ours != theirs {
        return Err(format!("the csa crate reads {theirs} moves, the scanner {ours}"));
    }
    Ok(())
}

/// A body that the crate can read, and the moves in the text by the scanner's rules.
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
