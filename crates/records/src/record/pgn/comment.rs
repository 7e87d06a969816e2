//! Scores in the comments of PGN records: cutechess, fastchess, OpenBench, Arena, TCEC, ChessBase, lichess.
//!
//! | program | comment | position | point of view |
//! |---|---|---|---|
//! | cutechess, fastchess | `+0.98/25 11s`, `-M4/20 0.1s`, `book` | before the move above | the mover's |
//! | Arena, WinBoard | `+0.15/12 3`, `(c7c5) -0.07/6 4` | before the move above | the mover's |
//! | OpenBench | `+0.57 17/28 583 363004`, compact `+0.57`, `book` | before the move above | the mover's |
//! | TCEC | `d=35, sd=35, …, wv=0.47, …`, `wv=-M12`, `book, mb=…` | before the move above | White's |
//! | TCEC, seasons 1 to 4 | `ev=0.47, d=21, mt=00:01:04, …`, `ev=-#12` | before the move above | White's |
//! | ChessBase, Fritz | `0.27/20 384 (Nf6)`, `-#18/25 815`, `B 0` | before the move above | White's |
//! | lichess | `[%eval 0.25]`, `[%eval #-3]`, `[%eval 0.25,18]` | after the move above: an analysis | White's |
//!
//! An engine's rates of wins, draws and losses may follow the score, from the same point of view: `wdl=512 300 188`
//! (`evalcurve play`, TCEC's site), `[%wdl 512,300,188]` (ChessBase), `line="info … wdl 512 300 188 …"` (fastchess
//! with `match_line`).
//!
//! OpenBench writes score, depth and selective depth, milliseconds and nodes; since December 2025 it has used the form
//! of fastchess. A value alone counts only in a game whose comments all have this form, are `book`, or are `unknown`,
//! its mark for a missing score: in other records it can be anything.
//!
//! ChessBase writes seconds without a unit, the reply that the engine expected, and no plus sign. What looks so is of
//! ChessBase only in a game whose tag `Annotator` holds two scores (`0.22;0.30`), or in which a comment has one. Its
//! lines may be wrapped within a number, `0.` and `27/20`. TCEC's season 5 has `ev=` in the mover's view beside `wv=`,
//! which counts.
//!
//! A minus may be that of Unicode, see `record/comment.rs`.
//!
//! Pawns become centipawns digit by digit, without the rounding of binary fractions.

use evalcurve_calibration::types::{Declared, Termination};

use crate::record::game::mate_cp;

/// The point of view of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// The side that made the move above the comment.
    Mover,
    White,
}

/// The content of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comment {
    Score {
        /// Centipawns from the point of view `view`; ±[`ANNOUNCED_MATE_CP`](crate::record::ANNOUNCED_MATE_CP) for a
        /// mate.
        score_cp: i32,
        /// Whether it is an announced mate.
        mate: bool,
        /// The point of view.
        view: View,
        /// Whether it is an analysis of the position after the move; otherwise it is the player's own score of the
        /// position before it.
        analysis: bool,
    },
    /// A value and nothing else, from the mover's point of view: a score if all comments of the game have this form.
    Bare {
        /// Centipawns, as in [`Comment::Score`].
        score_cp: i32,
        /// Whether it is an announced mate.
        mate: bool,
    },
    /// A book move.
    Book,
    /// Written like a score, but unreadable.
    Unreadable,
    /// A score in pawns or in centipawns: nothing tells which.
    NoUnit,
    /// No score: prose, clock times, or the marks of programs for a missing score.
    Nothing,
}

/// Reads a comment without its braces.
#[inline]
pub(crate) fn parse(body: &[u8]) -> Comment {
    let body = body.trim_ascii_start();
    match body {
        [b'+' | b'-' | b'.' | b'0'..=b'9' | b'M' | b'#', ..] => own_score(body),
        [b'b', b'o', b'o', b'k', rest @ ..] if rest.first().is_none_or(|b| !b.is_ascii_alphanumeric()) => Comment::Book,
        [b'[', b'%', b'c', b'l', b'k', rest @ ..] if is_last_command(rest) => Comment::Nothing,
        [b'd', b'=', ..] => tcec(body).unwrap_or(Comment::Nothing),
        [b'(', ..] => arena(body).or_else(|| lichess(body)).unwrap_or(Comment::Nothing),
        _ => lichess(body).or_else(|| tcec(body)).unwrap_or(Comment::Nothing),
    }
}

/// Whether a comment without a score could have one in another form: it has a digit, and is neither a clock of lichess
/// nor TCEC's mark of no score.
pub(crate) fn may_score(body: &[u8]) -> bool {
    let known = [&b"[%"[..], b"d=", b"ev="].iter().any(|form| body.trim_ascii_start().starts_with(form));
    !known && body.iter().any(u8::is_ascii_digit)
}

/// `+0.98/25 11s`: a value, a slash, a depth. Or a form of OpenBench.
#[inline]
fn own_score(body: &[u8]) -> Comment {
    let Some((score_cp, mate, rest, true)) = short_value(body).or_else(|| value(body)) else {
        // neither a point nor a mate: "1/2" is not a score
        return unreadable_or_prose(body);
    };
    let [b'/', depth @ ..] = rest else { return openbench(body, rest, score_cp, mate) };
    let mut digits = 0;
    let mut searched = false;
    while let Some(&digit @ b'0'..=b'9') = depth.get(digits) {
        searched |= digit != b'0';
        digits += 1;
    }
    if digits == 0 || depth.get(digits).is_some_and(|b| !b.is_ascii_whitespace() && *b != b',') {
        return unreadable_or_prose(body);
    }
    // `0.00/0` marks a move without a search
    if !searched && score_cp == 0 {
        return Comment::Nothing;
    }
    Comment::Score { score_cp, mate, view: View::Mover, analysis: false }
}

/// A value and what OpenBench writes after it: nothing, or ` 17/28 583 363004`: depth and selective depth,
/// milliseconds, nodes.
#[cold]
#[inline(never)]
fn openbench(body: &[u8], rest: &[u8], score_cp: i32, mate: bool) -> Comment {
    if rest.trim_ascii().is_empty() {
        return Comment::Bare { score_cp, mate };
    }
    let (mut rest, mut searched) = (rest, false);
    for (place, before) in [b" ", b"/", b" ", b" "].into_iter().enumerate() {
        let Some(number) = rest.strip_prefix(before) else { return unreadable_or_prose(body) };
        let digits = number.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return unreadable_or_prose(body);
        }
        searched |= place == 0 && number[..digits].iter().any(|b| *b != b'0');
        rest = &number[digits..];
    }
    match rest.first() {
        Some(b) if !b.is_ascii_whitespace() && *b != b',' => unreadable_or_prose(body),
        _ if !searched && score_cp == 0 => Comment::Nothing,
        _ => Comment::Score { score_cp, mate, view: View::Mover, analysis: false },
    }
}

/// Reads the form of nearly all values, without loops: `+0.98/`, `-12.34/`. [`value`] reads the others.
#[inline(always)]
fn short_value(text: &[u8]) -> Option<(i32, bool, &[u8], bool)> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (tens, ones, decimals, rest) = match digits {
        [ones, b'.', tenths, hundredths, rest @ ..] => (b'0', *ones, [*tenths, *hundredths], rest),
        [tens, ones, b'.', tenths, hundredths, rest @ ..] => (*tens, *ones, [*tenths, *hundredths], rest),
        _ => return None,
    };
    if rest.first() != Some(&b'/') {
        return None;
    }
    let [tens, ones, tenths, hundredths] = [tens, ones, decimals[0], decimals[1]].map(|b| b.wrapping_sub(b'0'));
    if tens.max(ones).max(tenths).max(hundredths) > 9 {
        return None;
    }
    let score_cp = 1_000 * i32::from(tens) + 100 * i32::from(ones) + 10 * i32::from(tenths) + i32::from(hundredths);
    Some((if negative { -score_cp } else { score_cp }, false, rest, true))
}

/// Whether the comment ends after the bracket that closes this command. Most comments of lichess hold only a clock.
#[inline]
fn is_last_command(text: &[u8]) -> bool {
    let end = text.iter().position(|&b| b == b']').unwrap_or(text.len());
    matches!(text.get(end..), Some([b']'] | [b']', b' ']))
}

/// A first word with a sign that ends in a slash and a depth is an unreadable score, other text is prose.
#[cold]
fn unreadable_or_prose(body: &[u8]) -> Comment {
    let end = body.iter().position(|b| b.is_ascii_whitespace() || *b == b',').unwrap_or(body.len());
    let word = &body[..end];
    let depth = memchr::memrchr(b'/', word).map(|slash| &word[slash + 1..]);
    let has_depth = depth.is_some_and(|d| !d.is_empty() && d.iter().all(u8::is_ascii_digit));
    match word {
        [b'+' | b'-', ..] if has_depth => Comment::Unreadable,
        _ => Comment::Nothing,
    }
}

/// The rates in a comment: the last ones, because fastchess writes all lines of a search.
#[cold]
#[inline(never)]
pub(crate) fn declared(body: &[u8]) -> Option<Declared> {
    const KEY: &[u8] = b"wdl";
    let at = memchr::memmem::rfind(body, KEY).filter(|&at| at == 0 || !body[at - 1].is_ascii_alphanumeric())?;
    let rest = body[at + KEY.len()..].strip_prefix(b"=").or_else(|| body[at + KEY.len()..].strip_prefix(b" "))?;
    let end = rest.iter().position(|b| !b.is_ascii_digit() && !matches!(b, b' ' | b',' | b'\r' | b'\n'));
    let numbers = &rest[..end.unwrap_or(rest.len())];
    let mut words = numbers.split(|b| !b.is_ascii_digit()).filter(|word| !word.is_empty());
    Declared::parse([words.next()?, words.next()?, words.next()?])
}

/// The form of Arena with the first move of the line, `(c7c5) -0.07/6 4`: with a sign, and without a blank in the move.
#[cold]
#[inline(never)]
fn arena(body: &[u8]) -> Option<Comment> {
    let at = body.iter().take(12).position(|b| *b == b')')?;
    let score = body[at + 1..].trim_ascii_start();
    let is_move = !body[..at].iter().any(u8::is_ascii_whitespace);
    match own_score(score) {
        found @ Comment::Score { .. } if is_move && matches!(score, [b'+' | b'-', ..]) => Some(found),
        _ => None,
    }
}

/// The form of ChessBase: White's score, depth, seconds, perhaps the expected reply. `B 0` is a book move.
#[cold]
#[inline(never)]
pub(crate) fn chessbase(body: &[u8]) -> Option<Comment> {
    let body = body.trim_ascii();
    if let [b'B', b' ' | b'\n' | b'\r', seconds @ ..] = body {
        return seconds.trim_ascii().iter().all(u8::is_ascii_digit).then_some(Comment::Book);
    }
    // lines are wrapped after a point and a slash, too
    let mut joined = Vec::with_capacity(body.len().min(LONGEST_CHESSBASE));
    for &byte in body.iter().take(LONGEST_CHESSBASE) {
        if !(byte.is_ascii_whitespace() && matches!(joined.last(), Some(b'.' | b'/'))) {
            joined.push(byte);
        }
    }
    let (score_cp, mate, rest, true) = value(&joined).filter(|_| joined.first() != Some(&b'+'))? else { return None };
    let digits = |text: &[u8]| text.iter().take_while(|b| b.is_ascii_digit()).count();
    let depth = rest.strip_prefix(b"/")?;
    let (depth, rest) = depth.split_at(digits(depth));
    let seconds = rest.trim_ascii_start();
    let after = &seconds[digits(seconds)..];
    if depth.is_empty() || seconds.len() == rest.len() || after.len() == seconds.len() {
        return None;
    }
    match after.trim_ascii_start() {
        [] | [b'(', .., b')'] if depth.iter().all(|b| *b == b'0') && score_cp == 0 => Some(Comment::Nothing),
        [] | [b'(', .., b')'] => Some(Comment::Score { score_cp, mate, view: View::White, analysis: false }),
        _ => None,
    }
}

/// The longest comment that can be of ChessBase.
const LONGEST_CHESSBASE: usize = 64;

/// Whether the value of the tag `Annotator` is ChessBase's: two scores, `0.22;0.30`.
pub fn is_chessbase(annotator: &[u8]) -> bool {
    let is_score = |text: &[u8]| matches!(value(text.trim_ascii()), Some((.., [], true)));
    let at = memchr::memchr(b';', annotator);
    at.is_some_and(|at| is_score(&annotator[..at]) && is_score(&annotator[at + 1..]))
}

/// `wv=0.47` among fields separated by commas, or `ev=0.47` before them. 0.00 with `d=1` means "none".
fn tcec(body: &[u8]) -> Option<Comment> {
    // it comes late, after the PV, and no other field there contains a `w`
    let mut end = body.len();
    while let Some(at) = memchr::memrchr(b'w', &body[..end]) {
        let begins = at == 0 || matches!(body[at - 1], b' ' | b',' | b'\n' | b'\r');
        if begins && body[at..].starts_with(b"wv=") {
            return Some(field_of_tcec(&body[at + 3..], body));
        }
        end = at;
    }
    body.strip_prefix(b"ev=").map(|text| field_of_tcec(text, body))
}

fn field_of_tcec(text: &[u8], body: &[u8]) -> Comment {
    match value(text) {
        Some((score_cp, mate, rest, _)) if rest.first().is_none_or(|b| *b == b',' || b.is_ascii_whitespace()) => {
            if score_cp == 0 && !mate && depth_is_one(body) {
                Comment::Nothing
            } else {
                Comment::Score { score_cp, mate, view: View::White, analysis: false }
            }
        }
        _ => Comment::Unreadable,
    }
}

fn depth_is_one(body: &[u8]) -> bool {
    body.starts_with(b"d=1,") || (!body.starts_with(b"d=") && memchr::memmem::find(body, b" d=1,").is_some())
}

/// `[%eval 0.25]`, `[%eval #-3]`, possibly with a depth after a comma. A number without a point is centipawns beside
/// ChessBase's `[%wdl …]`, and else without a unit, because it could be centipawns or pawns.
fn lichess(body: &[u8]) -> Option<Comment> {
    let mut from = 0;
    while let Some(percent) = memchr::memchr(b'%', &body[from..]).map(|i| from + i) {
        from = percent + 1;
        if percent == 0 || body[percent - 1] != b'[' || !body[from..].starts_with(b"eval ") {
            continue;
        }
        let text = body[from + 5..].trim_ascii_start();
        return Some(match value(text) {
            Some((score_cp, mate, [b']' | b',' | b' ', ..], exact)) if exact => {
                Comment::Score { score_cp, mate, view: View::White, analysis: true }
            }
            Some((score_cp, mate, [b']' | b',' | b' ', ..], _)) if memchr::memmem::find(body, b"[%wdl ").is_some() => {
                Comment::Score { score_cp: score_cp / 100, mate, view: View::White, analysis: true }
            }
            Some((.., [b']' | b',' | b' ', ..], _)) => Comment::NoUnit,
            _ => Comment::Unreadable,
        });
    }
    None
}

/// A value at the beginning of `text`: pawns with decimals, or a mate (`M5`, `+M5`, `-M5`, `#5`, `#-5`). Returns
/// centipawns, whether it is a mate, the rest of the text, and whether it has a decimal point or is a mate.
#[inline]
fn value(text: &[u8]) -> Option<(i32, bool, &[u8], bool)> {
    let mut at = 0;
    let mut negative = false;
    if let Some(&sign @ (b'+' | b'-')) = text.first() {
        negative = sign == b'-';
        at = 1;
    }
    if matches!(text.get(at), Some(b'M' | b'#')) {
        at += 1;
        if let Some(&sign @ (b'+' | b'-')) = text.get(at) {
            negative ^= sign == b'-';
            at += 1;
        }
        let digits = text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        return (digits > 0).then(|| (mate_cp(!negative), true, &text[at + digits..], true));
    }
    let digit = |at: usize| text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10);
    let begin = at;
    let mut centipawns: i64 = 0;
    while let Some(d) = digit(at) {
        // saturates far above the limit below
        centipawns = (centipawns * 10 + i64::from(d)).min(i64::from(u32::MAX));
        at += 1;
    }
    centipawns *= 100;
    let whole = at - begin;
    let point = text.get(at) == Some(&b'.');
    if point {
        at += 1;
        let decimals = at;
        for weight in [10, 1] {
            let Some(d) = digit(at) else { break };
            centipawns += weight * i64::from(d);
            at += 1;
        }
        if digit(at).is_some_and(|d| d >= 5) {
            centipawns += 1;
        }
        while digit(at).is_some() {
            at += 1;
        }
        if at == decimals {
            return None;
        }
    } else if whole == 0 {
        return None;
    }
    let score_cp = i32::try_from(if negative { -centipawns } else { centipawns }).ok()?;
    Some((score_cp, false, &text[at..], point))
}

/// The termination by the words of a program: `White mates`, `Draw by 3-fold repetition`, `Black loses on time`. Only
/// the part of a comment after its last comma counts.
pub(crate) fn ending(text: &[u8]) -> Option<Termination> {
    let words = memchr::memrchr(b',', text).map_or(text, |i| &text[i + 1..]).trim_ascii();
    if words.len() < 4 || words.len() > 80 {
        return None;
    }
    let mut lower = [0u8; 80];
    let lower = lower.get_mut(..words.len())?;
    lower.copy_from_slice(words);
    lower.make_ascii_lowercase();
    // a comment can be wrapped anywhere
    lower.iter_mut().filter(|b| b.is_ascii_whitespace()).for_each(|b| *b = b' ');
    let lower = &*lower;
    let has = |word: &str| memchr::memmem::find(lower, word.as_bytes()).is_some();
    if lower.ends_with(b"mates") || lower.ends_with(b"checkmate") {
        return Some(Termination::Checkmate);
    }
    const WORDS: [(Termination, &[&str]); 10] = [
        (Termination::Repetition, &["repetition"]),
        (Termination::Adjudication, &["adjudicat", "tcec draw rule", "tcec win rule", "syzygytb", "tb position"]),
        (Termination::Draw, &["fifty move", "50 move", "50-move", "insufficient", "stalemate", "agreement"]),
        (Termination::MaxMoves, &["maximum"]),
        (Termination::TimeUp, &["on time", "time forfeit"]),
        (Termination::IllegalMove, &["illegal move"]),
        (Termination::Resignation, &["resign"]),
        (Termination::Abnormal, &["disconnect", "connection stall", "stalled", "crash", "abandon"]),
        (Termination::Interrupted, &["no result"]),
        (Termination::Declaration, &["impasse", "declar"]),
    ];
    WORDS.iter().find(|(_, words)| words.iter().any(|word| has(word))).map(|&(termination, _)| termination)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(score_cp: i32, mate: bool) -> Comment {
        Comment::Score { score_cp, mate, view: View::Mover, analysis: false }
    }

    fn tcec(score_cp: i32, mate: bool) -> Comment {
        Comment::Score { score_cp, mate, view: View::White, analysis: false }
    }

    fn lichess(score_cp: i32, mate: bool) -> Comment {
        Comment::Score { score_cp, mate, view: View::White, analysis: true }
    }

    #[test]
    fn cutechess_and_fastchess() {
        for (text, expected) in [
            ("+0.98/25 11s", own(98, false)),
            ("-2.34/18 0.67s", own(-234, false)),
            ("0.00/1 0.001s, Draw by adjudication", own(0, false)),
            ("+0.05/12", own(5, false)),
            (" -0.05/12 ", own(-5, false)),
            ("+152.40/30 0s", own(15_240, false)),
            ("+M5/20", own(100_000, true)),
            ("-M4/20 0.1s, White mates", own(-100_000, true)),
            ("M5/20", own(100_000, true)),
            ("-#5/20", own(-100_000, true)),
            ("0.5/3", own(50, false)),
            ("-0.999/3", own(-100, false)),
            ("+1.23\n/20 1s", Comment::Nothing),
            ("book", Comment::Book),
            ("book, mb=+0+0+0+0+0,", Comment::Book),
            ("book 0.001s", Comment::Book),
            ("booked", Comment::Nothing),
            ("0.00/0 0.001s", Comment::Nothing),
            ("+inf/20 1s", Comment::Unreadable),
            ("+99999999999.00/20 1s", Comment::Unreadable),
            ("-/20", Comment::Unreadable),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn arena_and_winboard() {
        for (text, expected) in [
            ("(c7c5) -0.07/6 4", own(-7, false)),
            ("(e7e8q)\n+0.50/12\n40", own(50, false)),
            ("(Nbd7) +M12/20 3", own(100_000, true)),
            ("(c2c4) +0.00/6 1", own(0, false)),
            ("+0.15/1\n0", own(15, false)),
            ("(c7c5)", Comment::Nothing),
            ("(c7c5) 0.25/6 4", Comment::Nothing),
            ("(better) was +0.25/6", Comment::Nothing),
            ("(a b) +0.25/6 1", Comment::Nothing),
            ("(0.00 → 0.75) Inaccuracy. Best move was Nf6.", Comment::Nothing),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn chessbase_and_fritz() {
        for (text, expected) in [
            ("0.27/20 384 (Nf6)", Some(tcec(27, false))),
            ("-0.19/24 194", Some(tcec(-19, false))),
            ("\n0.64/33 196 \n(Qc1)", Some(tcec(64, false))),
            ("-0.\n40/30 176", Some(tcec(-40, false))),
            ("1.09/\n32 120", Some(tcec(109, false))),
            ("0.56/26\n14", Some(tcec(56, false))),
            ("-#18/25 815 (Kf7)", Some(tcec(-100_000, true))),
            ("#4/ 60 0 (g5+)", Some(tcec(100_000, true))),
            ("0.00/0 0", Some(Comment::Nothing)),
            ("B 0", Some(Comment::Book)),
            ("B\n12 ", Some(Comment::Book)),
            ("+0.27/20 384", None),
            ("0.27/20 384s", None),
            ("0.27/20 3.84", None),
            ("0.27/20", None),
            ("22/33 29 (Rb7+)", None),
            ("0.27 384", None),
            ("Better 0.27/20 384", None),
            ("", None),
        ] {
            assert_eq!(chessbase(text.as_bytes()), expected, "{text}");
        }
        for (annotator, expected) in
            [("0.22;0.30", true), ("-1.05; #12", true), ("0.22", false), ("Kasparov;Karpov", false), ("1;2", false)]
        {
            assert_eq!(is_chessbase(annotator.as_bytes()), expected, "{annotator}");
        }
    }

    #[test]
    fn tcec_fields() {
        for (text, expected) in [
            (" ev=0.00, d=1, mt=00:00:00, tl=02:30:00, s=0 kN/s, pv=e4, tb=0, R50=50,  ", Comment::Nothing),
            (" ev=-0.21, d=24, mt=00:02:47, tl=02:27:13, s=7411 kN/s, pv=Nf6 Bd3, tb=0,  ", tcec(-21, false)),
            ("ev=-#12, d=24", tcec(-100_000, true)),
            ("ev=0.30, d=24, wv=-0.30, R50=50", tcec(-30, false)),
            ("prev=0.30, d=24", Comment::Nothing),
            ("d=35, sd=35, mt=552425, pv=c5 dxc5, tb=102, wv=0.47, R50=50, mb=+0+0+0+0+0,", tcec(47, false)),
            ("d=36, pv=Kd2 Qd3+, wv=-12.05, R50=50, White wins by adjudication: TCEC win rule", tcec(-1205, false)),
            ("d=35, wv=-M12, R50=1", tcec(-100_000, true)),
            ("d=35, wv=#5", tcec(100_000, true)),
            ("d=35, wv=#-5", tcec(-100_000, true)),
            ("d=1, sd=1, pv=, wv=0.00, R50=50", Comment::Nothing),
            ("d=1, sd=1, pv=, wv=0.12, R50=50", tcec(12, false)),
            ("d=11, sd=1, pv=, wv=0.00, R50=50", tcec(0, false)),
            ("mt=1, d=1, wv=0.00,", Comment::Nothing),
            ("d=12, wv=x, R50=50", Comment::Unreadable),
            ("d=12, pv=e4", Comment::Nothing),
            ("WhiteEngineOptions: Protocol=uci; Threads=256;", Comment::Nothing),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn lichess_commands() {
        for (text, expected) in [
            (" [%eval 0.25] [%clk 0:05:00] ", lichess(25, false)),
            ("[%clk 0:05:00] [%eval -11.3]", lichess(-1130, false)),
            ("[%eval #3]", lichess(100_000, true)),
            ("[%eval #-3]", lichess(-100_000, true)),
            ("[%eval 0.25,18]", lichess(25, false)),
            (" Inaccuracy. [%eval 1.0] ", lichess(100, false)),
            // ChessBase writes centipawns here, lichess always has a point
            ("[%eval 25,18]", Comment::NoUnit),
            ("[%eval -106,29] [%wdl 1,444,555]", lichess(-106, false)),
            ("[%eval #-3,29] [%wdl 0,0,1000]", lichess(-100_000, true)),
            ("[%eval ]", Comment::Unreadable),
            ("[%clk 0:05:00]", Comment::Nothing),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn declared_rates_follow_scores() {
        let rates = |text: &str| declared(text.as_bytes()).map(|rates| rates.to_string());
        for text in [
            "+0.98/25 11s, wdl=512 300 188",
            "+0.98/25 11s, wdl=512 300 188, White mates",
            "wv=0.5, wdl=512 300 188, mt=303476",
            "[%eval 98,29] [%wdl 512,300,188][%mdl 8192]",
            "+0.98/25 11s, line=\"info depth 9 wdl 1 2 997 pv e2e4\", line=\"info depth 25 wdl 512 300 188 pv e2e4\"",
            "+0.98/25, wdl=512\n300 188",
        ] {
            assert_eq!(rates(text).as_deref(), Some("512 300 188"), "{text}");
        }
        for text in
            ["+0.98/25 11s", "wdl=512 300", "wdl=512 300 18", "xwdl=512 300 188", "wdl: 512 300 188", "wdl=-1 1 1000"]
        {
            assert_eq!(rates(text), None, "{text}");
        }
    }

    #[test]
    fn prose_gives_no_score() {
        for text in
            ["", "+0.5 is better", "1/2-1/2 agreed", "1/2", "3.5 hours", "-", "+/- 0.3", "4.5/9 points", "why=wv"]
        {
            let expected = if text.starts_with("4.5") { own(450, false) } else { Comment::Nothing };
            assert_eq!(parse(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn endings_by_their_words() {
        for (text, expected) in [
            ("+M1/127 0.002s, White mates", Some(Termination::Checkmate)),
            ("0.00/20 0.2s, Draw by 3-fold repetition", Some(Termination::Repetition)),
            ("0.00/20 0.2s, Draw by fifty\nmoves rule", Some(Termination::Draw)),
            ("mb=+2+0-1+0+0, Adjudication: TCEC draw rule", Some(Termination::Adjudication)),
            ("-M4/20 0.1s, White loses on time", Some(Termination::TimeUp)),
            ("-0.57/14 0.12s, No result", Some(Termination::Interrupted)),
            ("0.00/1 0s, Black disconnects", Some(Termination::Abnormal)),
            ("White's connection stalls", Some(Termination::Abnormal)),
            ("Black makes an illegal move: e7e9", Some(Termination::IllegalMove)),
            ("+0.98/25 11s", None),
            ("", None),
        ] {
            assert_eq!(ending(text.as_bytes()), expected, "{text}");
        }
    }
}
