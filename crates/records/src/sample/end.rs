//! How the scores of a game end, and from which scores it went on: whether it was resigned or adjudicated by score.

use std::fmt;
use std::str::FromStr;

use evalcurve_calibration::types::Color;

/// Rules of adjudication with up to so many moves in a row are told apart ...
pub const RUNS: usize = 4;
/// ... for the scores of both sides, that of the loser, and that of either side.
pub const RULES: usize = 3 * RUNS;

/// A game goes on from a position if it has scores more than so many plies later.
pub const GOES_ON: u32 = 12;

/// Centipawns by which a side is ahead, at most 65,535: larger scores are mates. It is small because a game holds 24.
pub type Level = u16;

/// The last scores of a game, and its levels. A level is reached if the scores of some moves in a row say that the same
/// side is ahead by as much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct GameEnd {
    /// The ply of the last score.
    pub ply: u32,
    /// The last score of Black and of White, each in its own view, if it is among the last four plies.
    pub scores: [Option<i32>; 2],
    /// The largest level from which the game went on, by the rule: one to four moves of both sides, then of the loser,
    /// then of either side.
    pub went_on: [Level; RULES],
    /// The level at the end.
    pub at_end: [Level; RULES],
}

/// The last score of one side, and by how much it is ahead, and behind, in the last one to four consecutive moves: the
/// least of these scores, 0 if there are not as many.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    ply: u32,
    score_cp: i32,
    least: [[Level; RUNS]; 2],
}

impl Last {
    fn push(&mut self, ply: u32, score_cp: i32) {
        if self.ply.checked_add(2) != Some(ply) {
            self.least = Default::default();
        }
        for (least, ahead) in self.least.iter_mut().zip([score_cp, score_cp.saturating_neg()]) {
            let ahead = level(ahead);
            for moves in (1..RUNS).rev() {
                least[moves] = least[moves - 1].min(ahead);
            }
            least[0] = ahead;
        }
        (self.ply, self.score_cp) = (ply, score_cp);
    }
}

/// The level of a score in the view of the side that is ahead.
fn level(score_cp: i32) -> Level {
    score_cp.clamp(0, Level::MAX.into()) as Level
}

/// By how much either side is ahead by its own score and by that of the loser: as both say, as the loser says, as
/// either says. `said` is by how much the score of a side (0 or 1) says that it is ahead, or (`true`) behind, if known.
fn levels(said: impl Fn(usize, bool) -> Option<Level>) -> [Level; RULES / RUNS] {
    let of = |side: usize| {
        let (own, loser) = (said(side, false), said(1 - side, true));
        let known = || own.into_iter().chain(loser);
        [known().min().unwrap_or(0), loser.unwrap_or(0), known().max().unwrap_or(0)]
    };
    let (black, white) = (of(0), of(1));
    [0, 1, 2].map(|kind| black[kind].max(white[kind]))
}

/// The same of one move, from the last scores of both sides, each in its own view, if known.
pub fn levels_of(scores: [Option<i32>; 2]) -> [Level; RULES / RUNS] {
    levels(|side, behind| scores[side].map(|cp| level(if behind { cp.saturating_neg() } else { cp })))
}

/// The numbers as text: the ply; the last scores, `-` for none; the levels from which the game went on; those at its
/// end.
impl fmt::Display for GameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ply)?;
        for score in self.scores {
            match score {
                Some(score) => write!(f, " {score}")?,
                None => write!(f, " -")?,
            }
        }
        self.went_on.iter().chain(&self.at_end).try_for_each(|level| write!(f, " {level}"))
    }
}

impl FromStr for GameEnd {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut end = Self { ply: number(words.next())?, ..Self::default() };
        for score in &mut end.scores {
            let word = words.next().ok_or(())?;
            *score = if word == "-" { None } else { Some(number(Some(word))?) };
        }
        for level in end.went_on.iter_mut().chain(&mut end.at_end) {
            *level = number(words.next())?;
        }
        words.next().map_or(Ok(end), |_| Err(()))
    }
}

fn number<T: FromStr>(word: Option<&str>) -> Result<T, ()> {
    word.ok_or(())?.parse().map_err(|_| ())
}

impl GameEnd {
    /// From the scores of a game in the order of play, each in the view of its side; `None` without any.
    pub fn of(scores: impl Iterator<Item = (u32, Color, i32)> + Clone) -> Option<Self> {
        let end = scores.clone().map(|(ply, ..)| ply).max()?;
        let gives = [Color::Black, Color::White].map(|color| scores.clone().any(|(_, of, _)| of == color));
        let mut sides = [Last::default(); 2];
        let mut found = Self { ply: end, ..Self::default() };
        for (ply, color, score_cp) in scores {
            sides[color.index()].push(ply, score_cp);
            // up to the ply before this one
            let known = sides.map(|side| side.ply.saturating_add(1) >= ply);
            let largest = match ply {
                _ if ply.saturating_add(GOES_ON) < end => &mut found.went_on,
                _ if ply.saturating_add(1) >= end => &mut found.at_end,
                _ => continue,
            };
            for moves in 0..RUNS {
                let said = |side: usize, behind: bool| {
                    let least = sides[side].least[usize::from(behind)][moves];
                    gives[side].then_some(if known[side] { least } else { 0 })
                };
                for (kind, level) in levels(said).into_iter().enumerate() {
                    largest[kind * RUNS + moves] = largest[kind * RUNS + moves].max(level);
                }
            }
        }
        found.scores = [0, 1]
            .map(|side| Some(sides[side].score_cp).filter(|_| gives[side] && sides[side].ply.saturating_add(3) >= end));
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores from ply 1 on, Black first.
    fn end(scores: &[i32]) -> GameEnd {
        let sides = [Color::Black, Color::White].into_iter().cycle();
        GameEnd::of((1..).zip(sides).zip(scores).map(|((ply, color), cp)| (ply, color, *cp))).unwrap()
    }

    #[test]
    fn an_end_is_read_as_it_is_written() {
        let found = end(&[10, -20, 300, -310, 400, -390]);
        assert_eq!(found.to_string().parse(), Ok(found));
        let one_side = GameEnd { scores: [None, Some(-7)], ..found };
        assert_eq!(one_side.to_string().parse(), Ok(one_side));
        for text in ["", "9", "9 - -", "9 - - 1 2", &format!("{found} 1"), &found.to_string().replace("400", "x")] {
            assert_eq!(text.parse::<GameEnd>(), Err(()), "{text}");
        }
    }

    #[test]
    fn levels_need_both_sides_and_moves_in_a_row() {
        // White is ahead by 700 once, comes back, and resigns at last
        let mut scores = vec![-700, 710, -300, 290];
        scores.extend([0; 12]);
        scores.extend([300, -650, 640, -800]);
        let found = end(&scores);
        assert_eq!((found.ply, found.scores), (20, [Some(640), Some(-800)]));
        assert_eq!(found.went_on, [700, 290, 0, 0, 700, 300, 0, 0, 710, 300, 0, 0]);
        assert_eq!(found.at_end[..4], [640, 300, 0, 0]);
        // White says that it is behind by 650 and 800, Black that it is ahead by 300 and 640
        assert_eq!(found.at_end[4..], [800, 650, 0, 0, 800, 650, 0, 0]);
    }

    #[test]
    fn one_side_is_enough_where_the_other_gives_no_scores() {
        let scores = [(1, -500), (3, -900), (7, -800), (40, 100), (42, 300)];
        let found = GameEnd::of(scores.into_iter().map(|(ply, cp)| (ply, Color::White, cp))).unwrap();
        // after ply 3 a move has no score
        let levels = |levels: [Level; RULES]| [0, 1, 4, 5, 8, 9].map(|rule| levels[rule]);
        assert_eq!(levels(found.went_on), [900, 500, 900, 500, 900, 500]);
        assert_eq!((levels(found.at_end), found.scores), ([300, 100, 0, 0, 300, 100], [None, Some(300)]));
        assert_eq!(GameEnd::of(std::iter::empty()), None);
    }
}
