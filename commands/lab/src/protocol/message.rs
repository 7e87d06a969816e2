//! The lines of the protocol as types.

use evalcurve_engine::board::position::{PIECES, Position};

/// Candidates that a program may give for a position (Hanawa & Ito 2009, section 5: five, the best first).
pub const MOST_CANDIDATES: usize = 5;

/// A position to search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub position: Position,
    /// Whether the program may use its book.
    pub book: bool,
    /// Time for the answer in milliseconds; 0: no limit.
    pub time_ms: u64,
}

impl Question {
    /// The block from `BEGIN Position` to `END Position`, with line endings.
    pub fn to_text(&self) -> String {
        let position = self.position.to_csa().join("\n");
        format!("BEGIN Position\n{position}\n{}\n{}\nEND Position\n", u8::from(self.book), self.time_ms)
    }

    /// Parses the lines between `BEGIN Position` and `END Position`.
    ///
    /// # Errors
    /// Says what is wrong with the lines.
    pub fn parse(lines: &[String]) -> Result<Self, String> {
        let [position @ .., book, time] = lines else {
            return Err(format!("{} line(s) between BEGIN Position and END Position", lines.len()));
        };
        let book = match book.trim() {
            "0" => false,
            "1" => true,
            other => return Err(format!("'{other}' is neither 1 (book) nor 0 (no book)")),
        };
        let time_ms = time.trim().parse().map_err(|_| format!("'{time}' is not a number of milliseconds"))?;
        let position = position_of_csa(position.iter().map(String::as_str))
            .ok_or_else(|| format!("not a position: {}", position.join(" / ")))?;
        Ok(Self { position, book, time_ms })
    }
}

/// Parses the lines of [`Position::to_csa`]. Trailing blanks may be missing. `None` if the lines are invalid.
pub fn position_of_csa<'a>(lines: impl IntoIterator<Item = &'a str>) -> Option<Position> {
    let (mut ranks, mut hands, mut side) = (Vec::new(), String::new(), None);
    for line in lines {
        match line.as_bytes() {
            [b'P', b'1'..=b'9', ..] => {
                let cells = line.get(2..)?;
                let cell = |at: usize| sfen_of_cell(cells.get(at..(at + 3).min(cells.len()))?);
                ranks.push((0..cells.len()).step_by(3).map(cell).collect::<Option<Vec<String>>>()?);
            }
            [b'P', sign @ (b'+' | b'-'), ..] => {
                let held = line.get(2..)?.trim_end();
                for at in (0..held.len()).step_by(4) {
                    let piece = sfen_of_piece(*sign, held.get(at..at + 4)?.strip_prefix("00")?)?;
                    hands += Some(piece).filter(|piece| !piece.starts_with('+'))?.as_str();
                }
            }
            b"+" => side = Some('b'),
            b"-" => side = Some('w'),
            _ => return None,
        }
    }
    let files = ranks.iter().map(Vec::len).max()?;
    ranks.iter_mut().for_each(|rank| rank.resize(files, "1".to_owned()));
    let rows: Vec<String> = ranks.iter().map(|rank| rank.concat()).collect();
    Position::from_sfen(&format!("{} {} {hands}-", rows.join("/"), side?))
}

fn sfen_of_cell(cell: &str) -> Option<String> {
    match (cell.as_bytes().first(), cell.get(1..)) {
        (Some(sign @ (b'+' | b'-')), Some(name)) => sfen_of_piece(*sign, name),
        _ => matches!(cell.trim(), "*" | "").then(|| "1".to_owned()),
    }
}

fn sfen_of_piece(sign: u8, name: &str) -> Option<String> {
    let (letter, plain, _) = PIECES.iter().find(|(_, plain, promoted)| [*plain, *promoted].contains(&name))?;
    let letter = char::from(if sign == b'+' { *letter } else { letter.to_ascii_lowercase() });
    Some(format!("{}{letter}", if name == *plain { "" } else { "+" }))
}

/// What a program may answer instead of a move, in CSA and in USI notation.
const NO_MOVES: [(&str, &str); 2] = [("%TORYO", "resign"), ("%KACHI", "win")];

/// One line of an answer: `+7776FU,120$comment`.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The move in USI notation, `resign` or `win`.
    pub best: String,
    /// Its score from the side to move's point of view, in the program's own unit.
    pub score: f64,
    /// The comment; may be empty.
    pub comment: String,
}

impl Candidate {
    /// Parses a line for a position.
    ///
    /// # Errors
    /// Says what is wrong with the line.
    pub fn parse(line: &str, position: &Position) -> Result<Self, String> {
        let (answer, comment) = line.split_once('$').unwrap_or((line, ""));
        let (moved, score) = answer.split_once(',').unwrap_or((answer, ""));
        let moved = moved.trim();
        let best = match NO_MOVES.iter().find(|(csa, _)| *csa == moved) {
            Some((_, word)) => (*word).to_owned(),
            None => position
                .usi_of_csa(moved)
                .ok_or_else(|| format!("'{moved}' is not a move in this position; write moves as +7776FU"))?,
        };
        let score = match (score.trim(), is_move(&best)) {
            // resignations and declarations need no score
            ("", false) => 0.0,
            (text, _) => text
                .parse::<f64>()
                .ok()
                .filter(|score| score.is_finite())
                .ok_or_else(|| format!("'{text}' is not a score; write move,score[$comment]"))?,
        };
        Ok(Self { best, score, comment: comment.trim().to_owned() })
    }

    /// The line, without its line ending.
    pub fn to_line(&self, position: &Position) -> Option<String> {
        let moved = match NO_MOVES.iter().find(|(_, word)| *word == self.best) {
            Some((csa, _)) => (*csa).to_owned(),
            None => position.csa_of_usi(&self.best)?,
        };
        let comment = self.comment.replace(['\n', '\r'], " ");
        let tail = if comment.is_empty() { String::new() } else { format!("${comment}") };
        Some(format!("{moved},{}{tail}", self.score))
    }
}

/// Whether an answer is a move: neither `resign` nor `win`.
pub(crate) fn is_move(best: &str) -> bool {
    NO_MOVES.iter().all(|(_, word)| *word != best)
}

/// Parses `LOGIN NAME [PASSWORD]` into name and password; a missing password is empty.
pub(crate) fn parse_login(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_ascii_whitespace();
    if words.next()? != "LOGIN" {
        return None;
    }
    Some((words.next()?, words.next().unwrap_or_default()))
}

/// Compares two secrets in a time that does not reveal where they differ.
pub(crate) fn same_secret(given: &str, wanted: &str) -> bool {
    let differ = given.bytes().zip(wanted.bytes()).fold(0, |seen, (a, b)| seen | (a ^ b));
    given.len() == wanted.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_engine::board::position::STARTPOS;

    fn startpos() -> Position {
        Position::from_sfen(STARTPOS).unwrap()
    }

    #[test]
    fn a_question_round_trips() {
        let question = Question { position: startpos().play("7g7f").unwrap(), book: true, time_ms: 1500 };
        let text = question.to_text();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!((lines[0].as_str(), lines.last().unwrap().as_str()), ("BEGIN Position", "END Position"));
        assert_eq!(lines[lines.len() - 4..lines.len() - 1], ["-", "1", "1500"]);
        assert_eq!(Question::parse(&lines[1..lines.len() - 1]), Ok(question));
        for (line, value) in [(lines.len() - 3, "2"), (lines.len() - 2, "-1"), (3, "P3-XX")] {
            let mut bad = lines.clone();
            bad[line] = value.to_owned();
            let error = Question::parse(&bad[1..bad.len() - 1]).unwrap_err();
            assert!(error.contains(value), "{error}");
        }
        assert!(Question::parse(&[]).is_err());
    }

    #[test]
    fn positions_round_trip() {
        let middle = "ln1g3nl/1r1sgk3/p1p1pppp1/1p1p4p/9/2PP2P2/PPS1PP2P/2R1G1SK1/LN3G1NL w BPb 1";
        let small = "+r+b2k/5/5/5/K4 w - 1";
        for sfen in [middle, small, "4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G4S4N4L18P 1"] {
            let position = Position::from_sfen(sfen).unwrap();
            let lines = position.to_csa();
            assert_eq!(position_of_csa(lines.iter().map(String::as_str)), Some(position.clone()), "{lines:?}");
            // trailing blanks may be missing
            assert_eq!(position_of_csa(lines.iter().map(|l| l.trim_end())), Some(position));
        }
        let bad = [&["P1+XX"][..], &["P1 * "], &["P+00TO", "+"], &["P1 * ", "P+00OU", "+"], &["P+27OU", "P1 * ", "+"]];
        for bad in bad.into_iter().chain([&["x"][..], &["P1", "+"], &["P1+あ", "+"]]) {
            assert_eq!(position_of_csa(bad.iter().copied()), None, "{bad:?}");
        }
    }

    #[test]
    fn candidates_have_a_move_a_score_and_perhaps_a_comment() {
        let position = startpos();
        let read = |line| Candidate::parse(line, &position);
        let seven = |score, comment: &str| Candidate { best: "7g7f".to_owned(), score, comment: comment.to_owned() };
        assert_eq!(read("+7776FU,120"), Ok(seven(120.0, "")));
        assert_eq!(read("+7776FU, -30.5 $ 深さ 8, $5"), Ok(seven(-30.5, "深さ 8, $5")));
        assert_eq!(read("%TORYO").map(|c| c.best), Ok("resign".to_owned()));
        for (bad, why) in
            [("+7776FU", "''"), ("+7776FU,x", "'x'"), ("-3334FU,1", "-3334FU"), ("", "''"), ("+7776FU,NaN", "NaN")]
        {
            assert!(read(bad).unwrap_err().contains(why), "{bad}");
        }
        let line = seven(-30.5, "two\nlines").to_line(&position).unwrap();
        assert_eq!(line, "+7776FU,-30.5$two lines");
        assert_eq!(read(&line), Ok(seven(-30.5, "two lines")));
    }

    #[test]
    fn logins_and_secrets() {
        assert_eq!(parse_login("LOGIN gps secret"), Some(("gps", "secret")));
        assert_eq!(parse_login("LOGIN 技巧"), Some(("技巧", "")));
        assert_eq!((parse_login("LOGIN"), parse_login("HELLO x")), (None, None));
        assert!(
            same_secret("ab", "ab") && !same_secret("ab", "ac") && !same_secret("ab", "abc") && !same_secret("", "a")
        );
    }
}
