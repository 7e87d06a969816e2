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
use std::collections::{HashMap, VecDeque};

use evalcurve_calibration::types::{Color, Declared, Outcome, Termination};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::format::{Above, BOM, Cursor, Format, Reader};
use super::game::{Game, GameError, OddityKind, ScoredPosition, SkipReason, mate_cp};
use super::identity::GameHash;
use super::lines::Lines;
use super::usi_log;
pub use evalcurve_rules::log::VERSION;
use evalcurve_rules::log::{LoggedScore, MOST_VOTERS, is_header, plies_before};

/// The entry in the list of formats.
pub static FORMAT: Format =
    Format::of_games::<Votes>("votes", "vote logs", "vote logs of councils, each game once per member");

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
struct Statement<'a> {
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
fn statement(text: &[u8]) -> Option<Statement<'_>> {
    if is_header(text) {
        return None;
    }
    let line: Statement<'_> = serde_json::from_slice(text).ok()?;
    (line.votes.is_some() != line.end.is_some()).then_some(line)
}

/// The reader of vote logs. A log gives a game once for each voter.
#[derive(Default)]
struct Votes {
    /// The games of the other voters, which are still to be given.
    later: VecDeque<Game>,
}

impl Reader for Votes {
    fn recognise(head: &[u8]) -> bool {
        version(head) == Some(VERSION)
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

    fn below(_: &Above) -> Self {
        Self::default()
    }

    fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        if self.later.is_empty() {
            let mut scan = Scan::default();
            let mut lines = Lines::new(block, cursor);
            while lines.at < block.len()
                && scan.end.is_none()
                && scan.line(lines.text(lines.at).trim_ascii(), lines.line)
            {
                lines.skip_line();
            }
            lines.store(cursor);
            self.later = scan.finish()?;
        }
        let found = self.later.pop_front();
        let is_game = found.is_some();
        *game = found.unwrap_or_default();
        Ok(is_game)
    }
}

/// One game with the votes of all voters.
#[derive(Default)]
struct Scan<'a> {
    /// What all voters share.
    game: Game,
    id: Option<Cow<'a, str>>,
    /// The voters by name, and their number in the order of their first votes.
    voters: HashMap<Cow<'a, str>, usize>,
    /// The decisions that count, by ply.
    decisions: Vec<Decision<'a>>,
    end: Option<Statement<'a>>,
    /// The line of the first vote by more than [`MOST_VOTERS`] voters.
    crowded: Option<u64>,
    /// A line that cannot be read.
    broken: Option<(&'a [u8], u64)>,
}

struct Decision<'a> {
    ply: u32,
    position: Cow<'a, str>,
    played: Cow<'a, str>,
    votes: Vec<(usize, Kept<'a>)>,
}

/// What a vote gives to its voter.
enum Kept<'a> {
    Score(ScoredPosition),
    /// A move without a score.
    Book,
    /// A score that cannot be read, and its line.
    Unreadable(&'a [u8], u64),
}

impl Kept<'_> {
    fn add_to(self, game: &mut Game) {
        match self {
            Self::Book => game.book_moves += 1,
            Self::Unreadable(text, line) => game.odd(OddityKind::UnreadableScore, line, text),
            Self::Score(scored) => {
                // a voter that appears twice in the line counts once
                game.scores.pop_if(|last| last.ply == scored.ply);
                game.scores.push(scored);
            }
        }
    }
}

impl<'a> Scan<'a> {
    /// Adds a line. Returns `false` for a line of the next game.
    fn line(&mut self, text: &'a [u8], number: u64) -> bool {
        if text.is_empty() || is_header(text) {
            // the lines after a header of another version can have another meaning
            if version(text).is_some_and(|version| version != VERSION) {
                self.game.odd(OddityKind::UnknownStatement, number, text);
            }
            return true;
        }
        let Some(line) = statement(text) else {
            self.broken.get_or_insert((text, number));
            self.game.odd(OddityKind::UnknownStatement, number, text);
            return true;
        };
        match &self.id {
            Some(id) if *id != line.game_id => return false,
            Some(_) => {}
            None => {
                self.game.line = number;
                self.game.plies_before = plies_before(&line.position);
                self.game.chess = usi_log::is_chess(line.position.as_bytes(), line.played.as_bytes());
                self.id = Some(line.game_id.clone());
            }
        }
        if line.end.is_some() {
            self.end = Some(line);
            return true;
        }
        self.take_back(line.ply);
        let mut votes = Vec::new();
        for vote in line.votes.unwrap_or_default() {
            let count = self.voters.len();
            if count == MOST_VOTERS && !self.voters.contains_key(&vote.voter) {
                self.crowded.get_or_insert(number);
                continue;
            }
            let voter = *self.voters.entry(vote.voter).or_insert(count);
            let kept = match vote.score {
                None if vote.best.is_some() => Kept::Book,
                Some(score) if vote.bound.is_none() => match score.cp() {
                    Some((score_cp, mate)) => {
                        let (ply, color, declared, line) = (line.ply, line.side, vote.wdl, number);
                        Kept::Score(ScoredPosition { ply, color, score_cp, mate, analysis: true, declared, line })
                    }
                    None => Kept::Unreadable(text, number),
                },
                _ => continue,
            };
            votes.push((voter, kept));
        }
        self.decisions.push(Decision { ply: line.ply, position: line.position, played: line.played, votes });
        true
    }

    /// Drops the decisions from this ply on.
    fn take_back(&mut self, ply: u32) {
        while self.decisions.pop_if(|decision| decision.ply >= ply).is_some() {}
    }

    /// The game once for each voter; none if the lines held no game.
    fn finish(mut self) -> Result<VecDeque<Game>, GameError> {
        let Some(id) = self.id.take() else {
            return match self.broken {
                Some((text, line)) => Err(GameError::at(SkipReason::BrokenRecord, line, text)),
                None => Ok(VecDeque::new()),
            };
        };
        if let Some(line) = self.crowded {
            let value = format!("more than {MOST_VOTERS} voters in one game; a council has at most {MOST_VOTERS}");
            return Err(GameError { reason: SkipReason::BrokenRecord, line, value });
        }
        let end = self.end.take();
        if let Some(end) = &end {
            self.take_back(end.ply.saturating_add(1));
        }
        let mut game = self.game;
        let last = self.decisions.last();
        let word = last.map_or("", |decision| &decision.played);
        let moved = !matches!(word, "resign" | "win" | "(none)" | "0000" | "");
        game.plies = last.map_or(0, |decision| decision.ply - u32::from(!moved && decision.ply > 0));
        if let Some(Statement { end: Some(outcome), side, .. }) = end {
            game.black_outcome = Some(outcome.in_view_of(side));
            game.termination = Some(match (word, outcome) {
                ("resign", Outcome::Loss) => Termination::Resignation,
                ("win", Outcome::Win) => Termination::Declaration,
                (_, Outcome::Draw) => Termination::Draw,
                _ => Termination::Unknown,
            });
        }
        game.votes = true;
        let mut hash = GameHash::default();
        // the same for all members: their samples are of one game, and of the same positions
        hash.bytes(id.as_bytes());
        game.identify(hash);
        game.moves = last.filter(|decision| decision.position.contains(" moves ")).map(|decision| {
            let mut moves = GameHash::default();
            moves.bytes(decision.position.as_bytes());
            moves.bytes(word.as_bytes());
            moves.digest()
        });
        // an odd line is reported once, not for every voter
        let others = Game { oddities: Vec::new(), ..game.clone() };
        let mut games: VecDeque<Game> = (1..self.voters.len()).map(|_| others.clone()).collect();
        games.push_front(game);
        for (name, number) in self.voters {
            if let Some(game) = games.get_mut(number) {
                game.annotator = name.into_owned();
            }
        }
        for (voter, kept) in self.decisions.into_iter().flat_map(|decision| decision.votes) {
            if let Some(game) = games.get_mut(voter) {
                kept.add_to(game);
            }
        }
        Ok(games)
    }
}

#[cfg(test)]
mod tests;
