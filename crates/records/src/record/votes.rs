//! Vote logs of councils: the score of each member for each position where the council was to move. The schema is in
//! `docs/council-log.md`.
//!
//! ```text
//! {"format":"evalcurve-votes","version":1,…}                                  header, anywhere
//! {"game_id":"g","ply":31,"position":"startpos moves …","side":"black",
//!  "votes":[{"voter":"A","move":"2g2f","score":52},…],"played":"2g2f",…}      a decision, on one line
//! {"game_id":"g","end":"win","side":"black","ply":97}                         the result for the council
//! ```
//!
//! A game is read once for each member that has a vote in it, as an analysis by that member: the council played, and
//! its members judged. So the scores of a member count for that member alone, whether or not the council followed it.
//! The players have no names, so the games give no ratings. The identity is that of game and member: the samples of one
//! member in one game are one cluster.
//!
//! The lines of a game are consecutive. Of several decisions for one ply the last counts. Decisions after the `ply` of
//! the end do not count: they answer a move that the opponent did not play. Bounds, win rates and lists are not scores;
//! a move without a score is a book move.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::format::{BOM, Content, Cursor, Format, Reader};
use super::game::mate_cp;
use super::lines::Lines;
use super::{Game, GameError, GameHash, OddityKind, ScoredPosition, SkipReason, usi_log};
pub use evalcurve_core::rule::log::VERSION;
use evalcurve_core::rule::log::{LoggedScore, is_header, plies_before};
use evalcurve_core::types::{Color, Declared, Outcome, Termination};

/// The entry in the list of formats.
pub static FORMAT: Format = Format {
    name: "votes",
    label: "vote logs",
    about: "vote logs of councils, each game once per member",
    content: Content::Games(Reader { recognise, last_boundary, read_game, names: None }),
    verify: None,
    material: None,
};

/// Whether a file that begins with this text is a vote log in the version that is read.
fn recognise(head: &[u8]) -> bool {
    version(head) == Some(VERSION)
}

/// The version of the vote log that begins with these bytes; `None` if they are not a vote log.
pub fn version(head: &[u8]) -> Option<u32> {
    let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    let head = &head[..head.len().min(200)];
    if head.first() != Some(&b'{') || !is_header(head) {
        return None;
    }
    const KEY: &[u8] = b"\"version\"";
    let rest = head[memchr::memmem::find(head, KEY)? + KEY.len()..].trim_ascii_start();
    let digits = rest.strip_prefix(b":")?.trim_ascii_start();
    let length = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&digits[..length]).ok()?.parse().ok()
}

/// The fields of a decision or an end that are read.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    game_id: Cow<'a, str>,
    ply: u32,
    side: Color,
    end: Option<Outcome>,
    #[serde(borrow, default)]
    position: Cow<'a, str>,
    #[serde(borrow)]
    votes: Option<Vec<Vote<'a>>>,
    #[serde(borrow, default)]
    played: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Vote<'a> {
    #[serde(borrow)]
    voter: Cow<'a, str>,
    #[serde(rename = "move")]
    best: Option<IgnoredAny>,
    score: Option<Score>,
    bound: Option<IgnoredAny>,
    wdl: Option<Declared>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Score {
    Cp(f64),
    Mate(String),
}

impl Score {
    /// Centipawns from the point of view of the side to move, and whether it is a mate.
    fn cp(&self) -> Option<(i32, bool)> {
        match self {
            // the conversion saturates at 32 bits
            Self::Cp(cp) => cp.is_finite().then(|| (cp.round() as i32, false)),
            Self::Mate(text) => LoggedScore::parse_mate(text).map(|(wins, _)| (mate_cp(wins), true)),
        }
    }
}

/// A decision or an end; `None` for any other line.
fn statement(text: &[u8]) -> Option<Line<'_>> {
    if is_header(text) {
        return None;
    }
    let line: Line<'_> = serde_json::from_slice(text).ok()?;
    (line.votes.is_some() != line.end.is_some()).then_some(line)
}

fn last_boundary(block: &[u8]) -> Option<usize> {
    // backwards, because the last line may be incomplete
    let mut end = memchr::memrchr(b'\n', block)?;
    let mut later: Option<(Cow<'_, str>, usize)> = None;
    loop {
        let begin = memchr::memrchr(b'\n', &block[..end]).map_or(0, |feed| feed + 1);
        if let Some(line) = statement(block[begin..end].trim_ascii()) {
            if line.end.is_some() {
                return Some(end + 1);
            }
            match &later {
                Some((id, at)) if *id != line.game_id => return Some(*at),
                _ => later = Some((line.game_id, begin)),
            }
        }
        end = begin.checked_sub(1)?;
    }
}

fn read_game(block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
    let mut scan = Scan { turn: cursor.voter, ..Scan::default() };
    let mut lines = Lines::new(block, cursor);
    while lines.at < block.len() && scan.end.is_none() && scan.line(lines.text(lines.at).trim_ascii(), lines.line, game)
    {
        lines.skip_line();
    }
    let (turn, voters) = (scan.turn, scan.voters.len());
    let found = scan.finish(game);
    if matches!(found, Ok(true)) && turn + 1 < voters {
        cursor.voter += 1;
    } else {
        lines.store(cursor);
        cursor.voter = 0;
    }
    found
}

/// One game with the votes of one voter.
#[derive(Default)]
struct Scan<'a> {
    /// The index of the voter in `voters`.
    turn: usize,
    id: Option<Cow<'a, str>>,
    voters: Vec<Cow<'a, str>>,
    /// The moves played, by ply.
    played: Vec<(u32, Cow<'a, str>)>,
    end: Option<Line<'a>>,
    /// A line that cannot be read.
    broken: Option<(&'a [u8], u64)>,
}

impl<'a> Scan<'a> {
    /// Adds a line. Returns `false` for a line of the next game.
    fn line(&mut self, text: &'a [u8], number: u64, game: &mut Game) -> bool {
        if text.is_empty() || is_header(text) {
            // the lines after a header of another version can have another meaning
            if self.turn == 0 && version(text).is_some_and(|version| version != VERSION) {
                game.odd(OddityKind::UnknownStatement, number, text);
            }
            return true;
        }
        let Some(line) = statement(text) else {
            self.broken.get_or_insert((text, number));
            // reported once, not for every voter
            if self.turn == 0 {
                game.odd(OddityKind::UnknownStatement, number, text);
            }
            return true;
        };
        match &self.id {
            Some(id) if *id != line.game_id => return false,
            Some(_) => {}
            None => {
                game.line = number;
                game.plies_before = plies_before(&line.position);
                game.chess = usi_log::is_chess(line.position.as_bytes(), line.played.as_bytes());
                self.id = Some(line.game_id.clone());
            }
        }
        if line.end.is_some() {
            self.end = Some(line);
            return true;
        }
        self.take_back(line.ply, game);
        for vote in line.votes.unwrap_or_default() {
            if !self.voters.contains(&vote.voter) {
                self.voters.push(vote.voter.clone());
            }
            if self.voters.get(self.turn) != Some(&vote.voter) {
                continue;
            }
            match vote.score {
                None => game.book_moves += u32::from(vote.best.is_some()),
                Some(_) if vote.bound.is_some() => {}
                Some(score) => match score.cp() {
                    Some((score_cp, mate)) => {
                        let (ply, color, declared) = (line.ply, line.side, vote.wdl);
                        // a voter that appears twice in the line counts once
                        game.scores.pop_if(|last| last.ply == ply);
                        let line = number;
                        let analysis = true;
                        game.scores.push(ScoredPosition { ply, color, score_cp, mate, analysis, declared, line });
                    }
                    None => game.odd(OddityKind::UnreadableScore, number, text),
                },
            }
        }
        self.played.push((line.ply, line.played));
        true
    }

    /// Drops the decisions from this ply on.
    fn take_back(&mut self, ply: u32, game: &mut Game) {
        while self.played.pop_if(|(of, _)| *of >= ply).is_some() {}
        while game.scores.pop_if(|s| s.ply >= ply).is_some() {}
    }

    fn finish(mut self, game: &mut Game) -> Result<bool, GameError> {
        let Some(id) = self.id.take() else {
            return match self.broken {
                Some((text, line)) => Err(GameError::at(SkipReason::BrokenRecord, line, text)),
                None => Ok(false),
            };
        };
        let end = self.end.take();
        if let Some(end) = &end {
            self.take_back(end.ply.saturating_add(1), game);
        }
        let last = self.played.last();
        let word = last.map_or("", |(_, played)| played);
        let moved = !matches!(word, "resign" | "win" | "(none)" | "0000" | "");
        game.plies = last.map_or(0, |(ply, _)| ply - u32::from(!moved && *ply > 0));
        if let Some(Line { end: Some(outcome), side, .. }) = end {
            game.black_outcome = Some(outcome.in_view_of(side));
            game.termination = Some(match (word, outcome) {
                ("resign", Outcome::Loss) => Termination::Resignation,
                ("win", Outcome::Win) => Termination::Declaration,
                (_, Outcome::Draw) => Termination::Draw,
                _ => Termination::Unknown,
            });
        }
        if let Some(voter) = self.voters.get(self.turn) {
            game.annotator.push_str(voter);
        }
        game.votes = true;
        let mut hash = GameHash::default();
        // the same for all members: their samples are of one game, and of the same positions
        hash.bytes(id.as_bytes());
        game.identify(hash);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
