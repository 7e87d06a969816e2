//! Lines of single positions with the results of their games, in SFEN or FEN.
//!
//! ```text
//! # a comment
//! sfen 4k4/9/… b 2P 43 result "1-0"; ce 120; id "game 7"; black_rating 2812;
//! r1bq1rk1/… w - - 3 12 c9 "1/2-1/2";     EPD: the result in an operation, ce is in view of the side to move
//! r1bq1rk1/… w - - 3 12 [0.5] 35          the result, and a score in White's view
//! r1bq1rk1/… w - - 3 12 | 35 | 0.5        the score in White's view, and the result
//! ```
//!
//! Results are of the side that begins a standard game: Black in shogi, White in chess. Lines in a row with the same
//! `id` are positions of one game. A score is an analysis by an engine that the line does not name.

use evalcurve_calibration::types::{Color, Outcome};

use super::format::{Above, Cursor, Format, Reader};
use super::game::{Game, GameError, ScoredPosition, SkipReason};
use super::identity::GameHash;
use super::lines::Lines;
use super::pgn::replay::is_position as is_chess_position;
use super::position::Position;

/// The entry in the list of formats.
pub static FORMAT: Format = Format::of_games::<PositionLines>(
    "positions",
    "SFEN and EPD lines",
    "one position per line, as SFEN, FEN or EPD, with the result of its game",
);

/// The reader; a line says all about itself.
struct PositionLines;

impl Reader for PositionLines {
    /// The first line that is no comment is a position.
    fn recognise(head: &[u8]) -> bool {
        let mut lines = head.split(|&b| b == b'\n');
        lines.find(|line| !is_comment(line)).is_some_and(|line| Line::read(line).is_some())
    }

    fn last_boundary(block: &[u8]) -> Option<usize> {
        // the last line may be incomplete
        let mut below = memchr::memrchr(b'\n', block)? + 1;
        let mut id = None;
        while below > 0 {
            let begin = memchr::memrchr(b'\n', &block[..below - 1]).map_or(0, |at| at + 1);
            let line = &block[begin..below];
            if !is_comment(line) {
                let own = Line::read(line).and_then(|line| line.id);
                match id {
                    None => id = Some((own, begin)),
                    Some((Some(last), start)) if own == Some(last) => id = Some((Some(last), begin.min(start))),
                    Some((_, start)) => return Some(start),
                }
            }
            below = begin;
        }
        None
    }

    fn below(_: &Above) -> Self {
        Self
    }

    fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        let mut lines = Lines::new(block, cursor);
        let read = read_lines(&mut lines, game);
        lines.store(cursor);
        read
    }
}

fn read_lines<'a>(lines: &mut Lines<'a>, game: &mut Game) -> Result<bool, GameError> {
    let mut first: Option<Line<'a>> = None;
    let mut found: Vec<(u32, Color, &str)> = Vec::new();
    let mut hash = GameHash::default();
    while lines.at < lines.block.len() {
        let text = lines.text(lines.at);
        if is_comment(text) {
            lines.skip_line();
            continue;
        }
        let read = Line::read(text);
        let id = read.as_ref().and_then(|line| line.id);
        match &first {
            Some(first) if id.is_none() || first.id != id => break,
            _ => {}
        }
        let number = lines.line;
        lines.begin(game);
        lines.skip_line();
        let Some(line) = read else { return Err(GameError::at(SkipReason::BrokenPosition, number, text)) };
        hash.bytes(line.position.as_bytes());
        found.push((line.ply, line.side, line.position));
        if let Some(score_cp) = line.score_cp {
            let (ply, color) = (line.ply, line.side);
            let (mate, declared) = (false, None);
            game.scores.push(ScoredPosition { ply, color, score_cp, mate, analysis: true, declared, line: number });
        }
        if first.is_none() {
            game.chess = line.is_chess;
            game.black_outcome = line.first_outcome.map(|first| if line.is_chess { first.reversed() } else { first });
            for (side, (name, rating)) in line.players.iter().enumerate() {
                game.names[side] = name.unwrap_or_default().to_owned();
                if let Some(rating) = rating {
                    game.rate(side, rating.as_bytes(), number, text);
                }
            }
            first = Some(line);
        }
    }
    let Some(first) = first else { return Ok(false) };
    // in the order of play, each ply once
    found.sort_by_key(|(ply, ..)| *ply);
    found.dedup_by_key(|(ply, ..)| *ply);
    game.scores.sort_by_key(|score| score.ply);
    game.scores.dedup_by_key(|score| score.ply);
    game.plies = found.last().map_or(0, |(ply, ..)| *ply);
    if let Some(played) = &mut game.played {
        let of = |(ply, side, text): (u32, Color, &str)| (ply, side, text.to_owned());
        played.positions = found.into_iter().map(of).collect();
    }
    hash.bytes(first.id.unwrap_or_default().as_bytes());
    hash.word(game.black_outcome.map_or(3, |outcome| outcome as u64));
    game.id = hash.finish(&game.names, None);
    Ok(true)
}

fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"#")
}

#[derive(Debug, PartialEq)]
struct Line<'a> {
    /// The position alone.
    position: &'a str,
    is_chess: bool,
    side: Color,
    /// The number of the next move of either side, from 1.
    ply: u32,
    /// The outcome of the side that begins a standard game.
    first_outcome: Option<Outcome>,
    /// In view of the side to move.
    score_cp: Option<i32>,
    id: Option<&'a str>,
    /// Name and rating, Black's first.
    players: [(Option<&'a str>, Option<&'a str>); 2],
}

impl<'a> Line<'a> {
    fn read(line: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.trim();
        let text = text.strip_prefix("position ").unwrap_or(text);
        let text = text.strip_prefix("sfen ").or_else(|| text.strip_prefix("fen ")).unwrap_or(text).trim_start();
        let mut rest = text;
        let board = word(&mut rest)?;
        let side = match word(&mut rest)? {
            "b" => Color::Black,
            "w" => Color::White,
            _ => return None,
        };
        let is_chess = match board.matches('/').count() {
            7 => true,
            8 => false,
            _ => return None,
        };
        word(&mut rest)?;
        let mut ply = 1;
        if is_chess {
            word(&mut rest)?;
            let after = rest;
            let numbers = [number(&mut rest), number(&mut rest)];
            match numbers {
                [Some(_), Some(full)] => {
                    ply = full
                        .max(1)
                        .saturating_sub(1)
                        .saturating_mul(2)
                        .saturating_add(1 + u32::from(side == Color::Black));
                }
                _ => rest = after,
            }
        } else if let Some(move_number) = number(&mut rest) {
            ply = move_number.max(1);
        }
        let position = text[..text.len() - rest.len()].trim_end();
        let is_position = match is_chess {
            true => is_chess_position(position.as_bytes()),
            false => Position::from_sfen(position).is_some_and(|position| position.has_kings()),
        };
        if !is_position {
            return None;
        }
        let mut line = Self {
            position,
            is_chess,
            side,
            ply,
            first_outcome: None,
            score_cp: None,
            id: None,
            players: [(None, None); 2],
        };
        line.operations(rest.trim());
        Some(line)
    }

    /// What follows the position.
    fn operations(&mut self, rest: &'a str) {
        let first_mover = if self.is_chess { Color::White } else { Color::Black };
        let of_first = |cp: &str| {
            let cp = cp.trim().parse::<i32>().ok()?;
            Some(if self.side == first_mover { cp } else { cp.saturating_neg() })
        };
        if let Some(fields) = rest.strip_prefix('|') {
            let (score, result) = fields.split_once('|').unwrap_or((fields, ""));
            (self.score_cp, self.first_outcome) = (of_first(score), outcome(result));
            return;
        }
        if let Some((result, score)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            (self.first_outcome, self.score_cp) = (outcome(result), of_first(score));
            return;
        }
        for operation in Operations(rest) {
            let (name, value) = operation.split_once(char::is_whitespace).unwrap_or((operation, ""));
            let value = value.trim().trim_matches('"');
            match name {
                "id" => self.id = Some(value),
                "ce" => self.score_cp = value.parse().ok(),
                "black" => self.players[0].0 = Some(value),
                "white" => self.players[1].0 = Some(value),
                "black_rating" => self.players[0].1 = Some(value),
                "white_rating" => self.players[1].1 = Some(value),
                "result" => self.first_outcome = outcome(value),
                _ if name.len() == 2 && name.starts_with('c') => {
                    self.first_outcome = outcome(value).or(self.first_outcome);
                }
                _ => {}
            }
        }
    }
}

/// The operations of EPD: ended by semicolons, which quoted texts may hold.
struct Operations<'a>(&'a str);

impl<'a> Iterator for Operations<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0.trim_start();
        if text.is_empty() {
            return None;
        }
        let mut is_quoted = false;
        let end = text.find(|c| {
            is_quoted ^= c == '"';
            c == ';' && !is_quoted
        });
        let (operation, rest) = end.map_or((text, ""), |end| (&text[..end], &text[end + 1..]));
        self.0 = rest;
        Some(operation.trim())
    }
}

/// The next word, which is taken from the text.
fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    *rest = &text[end..];
    Some(&text[..end]).filter(|word| !word.is_empty())
}

/// The next word if it is a number; else nothing is taken.
fn number(rest: &mut &str) -> Option<u32> {
    let before = *rest;
    let found = word(rest).and_then(|word| word.parse().ok());
    if found.is_none() {
        *rest = before;
    }
    found
}

/// The result of the side that begins a standard game.
fn outcome(text: &str) -> Option<Outcome> {
    match text.trim().trim_matches('"') {
        "1-0" | "1.0" | "1" => Some(Outcome::Win),
        "0-1" | "0.0" | "0" => Some(Outcome::Loss),
        "1/2-1/2" | "1/2" | "0.5" => Some(Outcome::Draw),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Played;
    use super::*;

    const SHOGI: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
    const CHESS: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

    fn games(text: &str) -> Vec<Result<Game, GameError>> {
        assert_eq!(Format::detect(text.as_bytes()).map(|format| format.name), Some("positions"), "{text}");
        let mut games = FORMAT.games(text.as_bytes(), &Above::default());
        let mut all = Vec::new();
        loop {
            let mut game = Game { played: Some(Played::default()), ..Game::default() };
            match games.read(&mut game) {
                None => return all,
                Some(read) => all.push(read.map(|_| game)),
            }
        }
    }

    #[test]
    fn results_and_scores_of_every_form_are_read() {
        let (win, loss, draw) = (Some(Outcome::Win), Some(Outcome::Loss), Some(Outcome::Draw));
        // the outcome is Black's, the score of the side to move
        for (line, outcome, score, ply) in [
            (format!("sfen {SHOGI} b - 43 result \"1-0\"; ce 120;"), win, Some(120), 43),
            (format!("{SHOGI} w 2Pr 44 [0.0] -35"), loss, Some(35), 44),
            (format!("{CHESS} w KQkq - 0 12 c9 \"1-0\";"), loss, None, 23),
            (format!("{CHESS} b KQkq - hmvc 3; c0 \"a; b\"; c9 \"1/2-1/2\"; ce -7"), draw, Some(-7), 1),
            (format!("{CHESS} b KQkq - 3 12 | 35 | 0.0"), win, Some(-35), 24),
            (format!("{CHESS} w KQkq - 3 12 id \"x\";"), None, None, 23),
        ] {
            let all = games(&line);
            let [Ok(game)] = &all[..] else { panic!("{line}: {all:?}") };
            let scores: Vec<(u32, i32)> = game.scores.iter().map(|s| (s.ply, s.score_cp)).collect();
            assert_eq!(
                (game.black_outcome, scores),
                (outcome, score.map(|cp| (ply, cp)).into_iter().collect()),
                "{line}"
            );
            let position = game.played.as_ref().and_then(|played| played.positions.first()).unwrap();
            assert_eq!((position.0, game.chess), (ply, line.contains(CHESS)), "{line}");
            assert!(line.contains(&position.2), "{line}");
        }
    }

    #[test]
    fn lines_of_one_game_are_one_game() {
        let line = |ply: u32, id: &str| {
            format!("{SHOGI} b - {ply} result \"1-0\"; id \"{id}\"; black \"A\"; white \"B\"; white_rating 2700;\n")
        };
        let text = ["# set\n", &line(41, "1"), "\n", &line(31, "1"), &line(31, "2")].concat();
        let all: Vec<Game> = games(&text).into_iter().map(Result::unwrap).collect();
        let plies = |game: &Game| game.played.as_ref().unwrap().positions.iter().map(|p| p.0).collect::<Vec<_>>();
        assert_eq!(all.iter().map(plies).collect::<Vec<_>>(), [vec![31, 41], vec![31]]);
        assert_eq!((all[0].names.clone(), all[0].ratings), (["A".into(), "B".into()], [None, Some(2700.0)]));
        assert_ne!(all[0].id, all[1].id);
        // a block is cut between games
        let cut = |text: &str| FORMAT.last_boundary(text.as_bytes());
        assert_eq!(cut(&text), Some(text.len() - line(31, "2").len()));
        let two = [line(31, "1"), line(41, "1")].concat();
        assert_eq!(cut(&two), None);
        let with_rest = [line(31, "0"), two.clone(), "half".to_owned()].concat();
        assert_eq!(cut(&with_rest), Some(line(31, "0").len()));
    }

    #[test]
    fn a_broken_line_costs_itself() {
        let bad = ["x", "9/9 b - 1", &SHOGI.replace('K', "P"), &SHOGI.replacen('9', "8", 1)];
        for bad in bad {
            let text = format!("{SHOGI} b - 1 [1.0]\n{bad} b - 1 [1.0]\n{CHESS} w - - 0 1 [0.5]\n");
            let all = games(&text);
            assert_eq!(all.len(), 3, "{bad}");
            let error = all[1].as_ref().unwrap_err();
            assert_eq!((error.reason, error.line), (SkipReason::BrokenPosition, 1), "{bad}");
        }
        assert!(Format::detect(b"one 1\ntwo 2\n").is_none());
    }
}
