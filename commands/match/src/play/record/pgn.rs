//! PGN with the score comments and the words of cutechess and fastchess.

use evalcurve_calibration::Score;
use evalcurve_calibration::types::{Color, Termination};
use evalcurve_engine::SearchResult;

use super::{Claim, Header, shown};
use crate::play::ending::End;
use crate::play::game::PlayedGame;
use crate::play::tournament::Tournament;

/// The columns after which movetext continues in the next line.
const COLUMNS: usize = 80;

/// The initial position, which records of Chess960 name, too.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// The beginning of the first line of each game.
pub(super) const BEGINNING: &str = "[Event \"";

pub(super) fn write(header: &Header<'_>, game: &PlayedGame) -> String {
    let tournament = header.tournament;
    let result = result(game.end.winner);
    let (round, number) = header.round;
    let mut out = String::new();
    let mut tag = |name: &str, value: &str| out += &(tag(name, value) + "\n");
    tag("Event", &tournament.name);
    tag("Site", "?");
    tag("Date", "????.??.??");
    tag("Round", &format!("{round}.{number}"));
    tag("White", &header.name(Color::White));
    tag("Black", &header.name(Color::Black));
    tag("Result", result);
    if tournament.chess960 {
        tag("Variant", "Chess960");
    }
    let start = game.start.as_deref().or(tournament.chess960.then_some(START));
    if let Some(fen) = start {
        tag("SetUp", "1");
        tag("FEN", fen);
    }
    tag("PlyCount", &game.moves.len().to_string());
    match header.shared_limit() {
        Some(limit) => tag("TimeControl", &limit),
        None => {
            for (side, name) in [(Color::White, "WhiteTimeControl"), (Color::Black, "BlackTimeControl")] {
                let limit = Tournament::limit_text(&tournament.engines[header.players[side.index()]]);
                if !limit.is_empty() {
                    tag(name, &limit);
                }
            }
        }
    }
    tag("Termination", termination(game.end.termination));
    out.push('\n');
    out + &movetext(header, game, result) + "\n"
}

/// What a row says and what its record says, tag by tag.
pub(super) fn claims(claim: &Claim<'_>, record: &str) -> Vec<(String, String)> {
    let [black, white] = claim.names;
    let (round, number) = claim.round;
    let both = |(name, value): (&str, &str)| {
        let found = record.lines().find(|line| line.strip_prefix('[').is_some_and(|rest| rest.starts_with(name)));
        (tag(name, value), found.unwrap_or_default().to_owned())
    };
    let tags = [
        ("White", white),
        ("Black", black),
        ("Round", &format!("{round}.{number}")),
        ("Result", result(claim.winner)),
        ("PlyCount", &claim.plies.to_string()),
        ("Termination", termination(claim.termination)),
    ];
    tags.map(both).into()
}

/// A line with a tag.
fn tag(name: &str, value: &str) -> String {
    format!("[{name} \"{}\"]", shown(value).replace('\\', "\\\\").replace('"', "\\\""))
}

/// The word of the Result tag.
fn result(winner: Option<Color>) -> &'static str {
    match winner {
        Some(Color::White) => "1-0",
        Some(Color::Black) => "0-1",
        None => "1/2-1/2",
    }
}

/// The word of the Termination tag.
fn termination(of: Termination) -> &'static str {
    match of {
        Termination::TimeUp => "time forfeit",
        Termination::IllegalMove | Termination::IllegalDeclaration => "illegal move",
        Termination::Abnormal => "abandoned",
        Termination::Adjudication => "adjudication",
        _ => "normal",
    }
}

fn movetext(header: &Header<'_>, game: &PlayedGame, result: &str) -> String {
    // the number of the first move, from the last field of a FEN
    let first = game.start.as_deref().and_then(|fen| fen.split_whitespace().nth(5)?.parse::<u32>().ok()).unwrap_or(1);
    let offset = usize::from(game.first == Color::Black);
    let mut words: Vec<String> = Vec::new();
    let timed = header.tournament.is_timed();
    for (at, played) in game.moves.iter().enumerate() {
        let half = at + offset;
        let number = u64::from(first.max(1)) + half as u64 / 2;
        let number = match half % 2 {
            0 => format!("{number}. "),
            _ if at == 0 => format!("{number}... "),
            _ => String::new(),
        };
        let last = at + 1 == game.moves.len();
        let mut comment = match &played.search {
            None => "book".to_owned(),
            Some(found) => score_comment(found, timed),
        };
        if last {
            let side = if half % 2 == 0 { Color::Black } else { Color::White };
            let reason = reason(&game.end, side);
            comment += if comment.is_empty() { "" } else { ", " };
            comment += &reason;
        }
        // one word: WDL_model's reader looks for the comment in the line of its move
        words.push(match comment.is_empty() {
            true => format!("{number}{}", played.text),
            false => format!("{number}{} {{{comment}}}", played.text),
        });
    }
    if game.moves.is_empty() {
        words.push(format!("{{{}}}", reason(&game.end, game.first)));
    }
    words.push(result.to_owned());
    wrapped(&words)
}

/// `+0.98/25 1.2s, wdl=512 300 188, n=1234, sd=31, nps=900, pv="e2e4 e7e5"` in the view of the mover, as fastchess has
/// it. Without a depth, 1 says that the engine has searched. Times and speeds differ from run to run, and belong to
/// limits of time.
fn score_comment(found: &SearchResult, timed: bool) -> String {
    let value = match found.score {
        None => return String::new(),
        Some(Score::Cp(cp)) => format!("{:+.2}", (cp.round() + 0.0) / 100.0),
        Some(Score::Mate { wins, plies }) => {
            // in plies, as cutechess and fastchess write it
            format!("{}M{}", if wins { '+' } else { '-' }, plies.unwrap_or(1))
        }
    };
    let time = if timed { format!(" {:.3}s", found.time.unwrap_or_default().as_secs_f64()) } else { String::new() };
    let declared = found.declared.map_or_else(String::new, |rates| format!(", wdl={rates}"));
    let number = |name: &str, n: Option<u64>| n.map_or_else(String::new, |n| format!(", {name}={n}"));
    let nps = if timed { found.nps } else { None };
    let more = number("n", found.nodes) + &number("sd", found.seldepth.map(u64::from)) + &number("nps", nps);
    let pv = if found.pv.is_empty() { String::new() } else { format!(", pv=\"{}\"", found.pv.join(" ")) };
    format!("{value}/{}{time}{declared}{more}{pv}", found.depth.unwrap_or(1).max(1))
}

/// Why the game ended, in the words of cutechess; `to_move` is the side whose turn it is.
fn reason(end: &End, to_move: Color) -> String {
    let name = |side| if side == Color::White { "White" } else { "Black" };
    let (mover, winner) = (name(to_move), end.winner.map_or("no side", name));
    let detail: String = shown(&end.detail).replace(['{', '}'], "|");
    match end.termination {
        Termination::Checkmate => format!("{winner} mates"),
        Termination::Resignation => format!("{mover} resigns"),
        Termination::TimeUp => format!("{mover} loses on time: {detail}"),
        Termination::IllegalMove => format!("{mover} makes an illegal move: {detail}"),
        Termination::IllegalDeclaration => format!("{mover} makes an illegal move: win"),
        Termination::Abnormal => format!("{mover} disconnects: {detail}"),
        Termination::Repetition => "Draw by 3-fold repetition".to_owned(),
        Termination::MaxMoves => "Draw by maximum number of plies".to_owned(),
        Termination::Adjudication if end.winner.is_none() => "Draw by adjudication".to_owned(),
        Termination::Adjudication => format!("{winner} wins by adjudication"),
        _ => format!("Draw by {detail}"),
    }
}

fn wrapped(words: &[String]) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in words {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > COLUMNS {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += width;
    }
    out + "\n"
}
