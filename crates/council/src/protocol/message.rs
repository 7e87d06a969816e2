//! The lines of the protocol as types.

use super::position::Position;

/// Candidates that a program may give for a position (Hanawa & Ito 2009, section 5: five, the best first).
pub const MOST_CANDIDATES: usize = 5;

/// A position to think about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The position.
    pub position: Position,
    /// Whether the program may use its book.
    pub book: bool,
    /// Time for the answer, milliseconds; 0: as long as it likes.
    pub time_ms: u64,
}

impl Question {
    /// The block from `BEGIN Position` to `END Position`, each line with its end.
    pub fn to_text(&self) -> String {
        let mut text = String::from("BEGIN Position\n");
        for line in self.position.to_csa() {
            text.push_str(&line);
            text.push('\n');
        }
        text.push_str(if self.book { "1\n" } else { "0\n" });
        text.push_str(&format!("{}\nEND Position\n", self.time_ms));
        text
    }

    /// Reads the lines between `BEGIN Position` and `END Position`.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn parse(lines: &[String]) -> Result<Self, String> {
        let [position @ .., book, time] = lines else {
            return Err(format!("{} line(s) between BEGIN Position and END Position", lines.len()));
        };
        let book = match book.trim() {
            "0" => false,
            "1" => true,
            other => return Err(format!("'{other}' is neither 1 (book) nor 0 (no book)")),
        };
        let time_ms = time.trim().parse().map_err(|_| format!("'{time}' is no number of milliseconds"))?;
        let position = Position::from_csa(position.iter().map(String::as_str))
            .ok_or_else(|| format!("no position: {}", position.join(" / ")))?;
        Ok(Self { position, book, time_ms })
    }
}

/// What a program proposes.
#[derive(Debug, Clone, PartialEq)]
pub enum Proposal {
    /// A move in USI's words.
    Move(String),
    /// `%TORYO`.
    Resign,
    /// `%KACHI`.
    Win,
}

/// One line of an answer: `+7776FU,120$comment`.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The move.
    pub proposal: Proposal,
    /// Its score in the view of the side to move, in the program's own unit.
    pub score: f64,
    /// What the program has to say; empty where it says nothing.
    pub comment: String,
}

impl Candidate {
    /// Reads a line for a position.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(line: &str, position: &Position) -> Result<Self, String> {
        let (answer, comment) = line.split_once('$').unwrap_or((line, ""));
        let (moved, score) = answer.split_once(',').unwrap_or((answer, ""));
        let proposal = match moved.trim() {
            "%TORYO" => Proposal::Resign,
            "%KACHI" => Proposal::Win,
            csa => match position.usi_of_csa(csa) {
                Some(usi) => Proposal::Move(usi),
                None => return Err(format!("'{csa}' is no move in this position; write it as +7776FU")),
            },
        };
        let score = match (score.trim(), &proposal) {
            // giving up needs no score
            ("", Proposal::Resign | Proposal::Win) => 0.0,
            (text, _) => text
                .parse::<f64>()
                .ok()
                .filter(|score| score.is_finite())
                .ok_or_else(|| format!("'{text}' is no score; write move,score[$comment]"))?,
        };
        Ok(Self { proposal, score, comment: comment.trim().to_owned() })
    }

    /// The line, without its end.
    pub fn to_line(&self, position: &Position) -> Option<String> {
        let moved = match &self.proposal {
            Proposal::Move(usi) => position.csa_of_usi(usi)?,
            Proposal::Resign => "%TORYO".to_owned(),
            Proposal::Win => "%KACHI".to_owned(),
        };
        let comment = self.comment.replace(['\n', '\r'], " ");
        let tail = if comment.is_empty() { String::new() } else { format!("${comment}") };
        Some(format!("{moved},{}{tail}", self.score))
    }
}

/// `LOGIN NAME [PASSWORD]`: the name and the password, empty where none is given.
pub fn parse_login(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_ascii_whitespace();
    if words.next()? != "LOGIN" {
        return None;
    }
    Some((words.next()?, words.next().unwrap_or_default()))
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
pub fn same_secret(given: &str, wanted: &str) -> bool {
    let differ = given.bytes().zip(wanted.bytes()).fold(0, |seen, (a, b)| seen | (a ^ b));
    given.len() == wanted.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::super::position::EVEN;
    use super::*;

    fn even() -> Position {
        Position::from_sfen(EVEN).unwrap()
    }

    #[test]
    fn a_question_is_read_as_it_is_written() {
        let question = Question { position: even().play("7g7f").unwrap(), book: true, time_ms: 1500 };
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
    fn candidates_have_a_move_a_score_and_perhaps_a_comment() {
        let position = even();
        let read = |line| Candidate::parse(line, &position);
        let seven = |score, comment: &str| Candidate {
            proposal: Proposal::Move("7g7f".to_owned()),
            score,
            comment: comment.to_owned(),
        };
        assert_eq!(read("+7776FU,120"), Ok(seven(120.0, "")));
        assert_eq!(read("+7776FU, -30.5 $ 深さ 8, $5"), Ok(seven(-30.5, "深さ 8, $5")));
        assert_eq!(read("%TORYO").map(|c| c.proposal), Ok(Proposal::Resign));
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
