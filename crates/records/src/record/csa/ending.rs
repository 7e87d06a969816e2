//! How a CSA game ended: the `%` statements, floodgate's summary, and the time control that its event names.

use evalcurve_calibration::types::{Color, Outcome, Termination};

/// The meaning of a `%` statement, given the side to move. `None` for a statement that the format does not define.
pub(super) fn special_ending(statement: &[u8], to_move: Color) -> Option<(Termination, Option<Outcome>)> {
    let wins = |color| Some(Outcome::Win.in_view_of(color));
    let loses = |color: Color| wins(color.opponent());
    Some(match statement {
        b"%TORYO" => (Termination::Resignation, loses(to_move)),
        b"%TSUMI" => (Termination::Checkmate, loses(to_move)),
        b"%TIME_UP" => (Termination::TimeUp, loses(to_move)),
        b"%ILLEGAL_MOVE" => (Termination::IllegalMove, loses(to_move)),
        b"%+ILLEGAL_ACTION" => (Termination::IllegalMove, loses(Color::Black)),
        b"%-ILLEGAL_ACTION" => (Termination::IllegalMove, loses(Color::White)),
        b"%KACHI" => (Termination::Declaration, wins(to_move)),
        b"%SENNICHITE" => (Termination::Repetition, Some(Outcome::Draw)),
        b"%JISHOGI" => (Termination::Impasse, Some(Outcome::Draw)),
        b"%HIKIWAKE" => (Termination::Draw, Some(Outcome::Draw)),
        b"%MAX_MOVES" => (Termination::MaxMoves, Some(Outcome::Draw)),
        b"%CHUDAN" => (Termination::Interrupted, None),
        b"%MATTA" | b"%FUZUME" | b"%ERROR" => (Termination::Unknown, None),
        _ => return None,
    })
}

/// `TYPE:NAME win|lose|draw:NAME win|lose|draw`, the players in either order. Returns the type and Black's outcome.
pub(super) fn parse_summary<'a>(text: &'a [u8], names: [&[u8]; 2]) -> Option<(&'a [u8], Outcome)> {
    let colon = memchr::memchr(b':', text)?;
    let (kind, players) = (&text[..colon], text[colon + 1..].trim_ascii_end());
    let word = |rest: &[u8]| match rest {
        b"win" => Some(Outcome::Win),
        b"lose" => Some(Outcome::Loss),
        b"draw" => Some(Outcome::Draw),
        _ => None,
    };
    // a name may hold a colon, so the line is cut by the names of the record and not by colons
    for (first, second, black_first) in [(0, 1, true), (1, 0, false)] {
        let parsed = (|| {
            let rest = players.strip_prefix(names[first])?.strip_prefix(b" ")?;
            let end = memchr::memchr(b':', rest)?;
            let own = word(&rest[..end])?;
            let other = word(rest[end + 1..].strip_prefix(names[second])?.strip_prefix(b" ")?)?;
            (own == other.reversed()).then_some(own)
        })();
        if let Some(own) = parsed {
            return Some((kind, if black_first { own } else { own.reversed() }));
        }
    }
    None
}

/// The termination for a word of shogi-server; another word gives `Unknown` and the outcome still counts.
pub(super) fn summary_termination(kind: &[u8]) -> Termination {
    match kind {
        b"toryo" => Termination::Resignation,
        b"tsumi" => Termination::Checkmate,
        b"abnormal" => Termination::Abnormal,
        // no word of the server: `evalcurve play`
        b"adjudication" => Termination::Adjudication,
        b"time up" | b"time_up" => Termination::TimeUp,
        b"kachi" => Termination::Declaration,
        b"illegal kachi" => Termination::IllegalDeclaration,
        b"sennichite" => Termination::Repetition,
        b"oute_sennichite" => Termination::PerpetualCheck,
        b"jishogi" => Termination::Impasse,
        b"max_moves" => Termination::MaxMoves,
        b"illegal move" | b"uchifuzume" | b"oute_kaihimore" | b"outori" => Termination::IllegalMove,
        _ => Termination::Unknown,
    }
}

/// `wdoor+floodgate-300-10F+BLACK+WHITE+TIME`: 300 seconds with an increment of 10 gives `300+10F`.
pub(super) fn floodgate_time_control(event: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(event.split(|&b| b == b'+').nth(1)?).ok()?;
    let mut parts = text.rsplit('-');
    let (second, first) = (parts.next()?, parts.next()?);
    parts.next()?;
    let number = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    (number(first) && number(second.trim_end_matches('F'))).then(|| format!("{first}+{second}"))
}
