//! CSA V2.2 with the score comments and the summary of floodgate.
//!
//! 5x5 shogi uses the five files and ranks in the corner of square 11 (1a in USI): squares keep their numbers.

use std::fmt::Write;

use evalcurve_calibration::Score;
use evalcurve_calibration::types::{ANNOUNCED_MATE_CP, Color, Termination};
use evalcurve_engine::board::minishogi;
use evalcurve_engine::board::position::Position;
use evalcurve_engine::{Game, SearchResult};

use super::{Claim, Header, shown};
use crate::play::ending::End;
use crate::play::game::PlayedGame;

/// The first line of each game.
pub(super) const BEGINNING: &str = "'CSA encoding=UTF-8\n";

pub(super) fn write(header: &Header<'_>, game: &PlayedGame) -> String {
    let tournament = header.tournament;
    let names = [Color::Black, Color::White].map(|side| header.name(side));
    let (round, number) = header.round;
    let mut out = format!("{BEGINNING}V2.2\n");
    let _ = writeln!(out, "N+{}\nN-{}", names[0], names[1]);
    let _ = writeln!(out, "$EVENT:{} {round}.{number}", shown(&tournament.name));
    if let Some(limit) = header.shared_limit() {
        let _ = writeln!(out, "$TIME:{limit}");
    }
    match (&game.start, tournament.game) {
        (None, Game::Shogi) => out += "PI\n+\n",
        (start, _) => out += &position(start.as_deref().unwrap_or(minishogi::START)),
    }
    let mut side = game.first;
    for played in &game.moves {
        out += &played.text;
        out.push('\n');
        if let Some(found) = &played.search {
            if tournament.is_timed() {
                let _ = writeln!(out, "T{:.3}", found.time.unwrap_or_default().as_secs_f64());
            }
            if let Some(score) = found.score {
                out += &score_comment(score, side, found);
            }
        }
        side = side.opponent();
    }
    out + &ending(&game.end, side, &names) + "/\n"
}

/// `'** 30 -3334FU`: in Black's view, with the moves expected after the one played.
fn score_comment(score: Score, side: Color, found: &SearchResult) -> String {
    let own = match score {
        Score::Cp(cp) => cp.round() as i64,
        Score::Mate { wins: true, .. } => i64::from(ANNOUNCED_MATE_CP),
        Score::Mate { wins: false, .. } => -i64::from(ANNOUNCED_MATE_CP),
    };
    let black = if side == Color::Black { own } else { -own };
    // a score of 0 without a variation would be a book move
    let line = if found.pv.is_empty() { "%PASS".to_owned() } else { found.pv.join(" ") };
    format!("'** {black} {line}\n")
}

/// What a row says and what its record says: names, round, summary and number of moves.
pub(super) fn claims(claim: &Claim<'_>, record: &str) -> Vec<(String, String)> {
    let found = |start: &str| record.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    let names = claim.names.map(shown);
    let moves = record.lines().filter(|line| line.len() > 1 && line.starts_with(['+', '-'])).count();
    let last = record.lines().rfind(|line| line.starts_with("'summary:")).unwrap_or_default();
    let round = found("$EVENT:").rsplit(' ').next().unwrap_or_default();
    vec![
        (format!("N+{}", names[0]), found("N+").to_owned()),
        (format!("N-{}", names[1]), found("N-").to_owned()),
        (format!("{}.{}", claim.round.0, claim.round.1), round.to_owned()),
        (summary(claim.termination, claim.winner, &names), last.to_owned()),
        (format!("{} plies", claim.plies), format!("{moves} plies")),
    ]
}

/// The statement that ends the game, and floodgate's word for it.
fn words(termination: Termination, winner: Option<Color>) -> (&'static str, &'static str) {
    match termination {
        Termination::Resignation => ("%TORYO", "toryo"),
        Termination::Checkmate => ("%TSUMI", "tsumi"),
        Termination::TimeUp => ("%TIME_UP", "time up"),
        Termination::Declaration => ("%KACHI", "kachi"),
        Termination::IllegalDeclaration => ("%ILLEGAL_MOVE", "illegal kachi"),
        Termination::IllegalMove => ("%ILLEGAL_MOVE", "illegal move"),
        Termination::Repetition => ("%SENNICHITE", "sennichite"),
        Termination::PerpetualCheck if winner == Some(Color::Black) => ("%-ILLEGAL_ACTION", "oute_sennichite"),
        Termination::PerpetualCheck => ("%+ILLEGAL_ACTION", "oute_sennichite"),
        Termination::MaxMoves => ("%MAX_MOVES", "max_moves"),
        Termination::Adjudication => ("%CHUDAN", "adjudication"),
        _ => ("%CHUDAN", "abnormal"),
    }
}

/// Floodgate's summary, which names the winner.
fn summary(termination: Termination, winner: Option<Color>, [black, white]: &[String; 2]) -> String {
    let result = |side| match winner {
        None => "draw",
        Some(winner) if winner == side => "win",
        Some(_) => "lose",
    };
    let (_, word) = words(termination, winner);
    format!("'summary:{word}:{black} {}:{white} {}", result(Color::Black), result(Color::White))
}

/// The statement that ends the game, what happened, and the summary.
fn ending(end: &End, to_move: Color, names: &[String; 2]) -> String {
    let (statement, _) = words(end.termination, end.winner);
    let mut out = format!("{statement}\n");
    if !end.detail.is_empty() {
        let _ = writeln!(out, "'{}: {}", names[to_move.index()], shown(&end.detail));
    }
    out + &summary(end.termination, end.winner, names) + "\n"
}

/// An SFEN as the statements `P1` to `P9`, the hands that hold pieces, and the side to move.
fn position(sfen: &str) -> String {
    let lines = Position::from_sfen(sfen).map(|position| position.on_nine_files().to_csa());
    let held = lines.into_iter().flatten().filter(|line| !matches!(line.as_str(), "P+" | "P-"));
    held.map(|line| line + "\n").collect()
}
