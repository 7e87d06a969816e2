//! What adjudicating games by score would have done: the score thresholds that belong to a win rate, and how many games
//! would have ended otherwise.
//!
//! A player resigns after k scores of its own in a row at or below −T; if the rule is two-sided, the last k scores of
//! its opponent must be at or above T. A game is a draw after k scores of each player in a row within ±D. Either may
//! end a game from a move number on, whenever the scores began. The rules are those of cutechess and fastchess.

use std::borrow::Borrow;

use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_fit::curve::{Z_95, wilson};
use evalcurve_fit::parallel;
use evalcurve_records::sample::{Sample, SampleTable};
use serde::Serialize;

use super::certified::upper_bound;
use crate::drift::Estimated;

/// The largest score, in centipawns, that is considered for draws, and the steps up to it.
const DRAW_SCORES: (i32, i32) = (100, 5);

/// Games of a task.
const CHUNK: usize = 1024;

/// One rule applied to the games.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Adjudication {
    /// Scores in a row, per player.
    pub move_count: u32,
    /// The threshold in centipawns.
    pub score_cp: i32,
    /// Games that the rule would have ended.
    pub ended: u64,
    /// Those of them that ended otherwise when they were played on.
    pub turned: u64,
    /// The share of those, with its 95% Wilson interval; `None` if the rule ended no game.
    pub share: Option<Estimated>,
    /// No larger share of all games ends wrongly, with 95% confidence (Clopper and Pearson).
    pub wrong_of_all: f64,
    /// The share of the scored moves that would not have been played.
    pub saved: f64,
    /// How many they are, mean over all games.
    pub saved_per_game: f64,
}

/// What a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A player loses by its own scores.
    Resign,
    /// A player loses by its own scores and those of its opponent.
    ResignTwoSided,
    /// The game is drawn.
    Draw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// What it decides.
    pub kind: Kind,
    /// Scores in a row, per player.
    pub move_count: u32,
    /// The threshold in centipawns.
    pub score_cp: i32,
    /// The first ply after which it may end a game.
    pub from_ply: u32,
}

/// The scored positions of one game, by ply.
pub struct Played<'a> {
    /// Its identity.
    pub id: u64,
    samples: Vec<&'a Sample>,
    /// What rules ask of the samples, side by side: each of some hundred rules reads all of it.
    scores: Vec<Score>,
    /// The lowest score.
    lowest_cp: i32,
}

struct Score {
    ply: u32,
    score_cp: i32,
    color: Color,
}

/// Groups the samples of a table by game. The table holds every scored position, from the first move on.
pub fn games(table: &SampleTable) -> Vec<Played<'_>> {
    table
        .samples
        .chunk_by(|a, b| a.game == b.game)
        .map(|samples| {
            let mut samples: Vec<&Sample> = samples.iter().collect();
            samples.sort_by_key(|sample| sample.ply);
            let score = |&&Sample { ply, score_cp, color, .. }: &&Sample| Score { ply, score_cp, color };
            let scores: Vec<Score> = samples.iter().map(score).collect();
            let lowest_cp = scores.iter().map(|score| score.score_cp).min().unwrap_or(0);
            let game = samples[0].game;
            let id = table.games.get(game as usize).map_or(game.into(), |game| game.id);
            Played { id, samples, scores, lowest_cp }
        })
        .collect()
}

impl Played<'_> {
    /// Whether it has a score at this ply or later.
    pub(crate) fn reaches(&self, ply: u32) -> bool {
        self.samples.last().is_some_and(|sample| sample.ply >= ply)
    }

    /// Its place in the table.
    pub(crate) fn game(&self) -> Option<u32> {
        self.samples.first().map(|sample| sample.game)
    }

    /// The index of the score after which a player resigns: after `move_count` scores of its own in a row at or below
    /// −`score_cp`, and if it is two-sided as many of its opponent at or above `score_cp`.
    fn resignation(&self, rule: &Rule) -> Option<usize> {
        if self.lowest_cp > -rule.score_cp {
            return None;
        }
        // the length of a run, and its last ply
        let (mut low, mut high) = ([(0u32, 0u32); 2], [(0u32, 0u32); 2]);
        let go_on = |(length, last): &mut (u32, u32), ply: u32, is_beyond: bool| {
            // a move without a score in between ends the run
            let follows = *length > 0 && ply == *last + 2;
            *length = match is_beyond {
                true if follows => *length + 1,
                is_first => u32::from(is_first),
            };
            *last = ply;
        };
        let alone = rule.kind == Kind::Resign;
        self.scores.iter().position(|&Score { ply, score_cp, color }| {
            let side = color.index();
            go_on(&mut low[side], ply, score_cp <= -rule.score_cp);
            if !alone {
                go_on(&mut high[side], ply, score_cp >= rule.score_cp);
            }
            let (length, last) = high[1 - side];
            // the opponent's last score is that of the move before
            let agrees = || alone || (length >= rule.move_count && last + 1 == ply);
            low[side].0 >= rule.move_count && ply >= rule.from_ply && agrees()
        })
    }

    /// The index of the score after which the game is a draw: `move_count` scores of each player in a row within
    /// `score_cp`.
    fn draw(&self, rule: &Rule) -> Option<usize> {
        let (mut length, mut last) = (0, 0);
        self.scores.iter().position(|&Score { ply, score_cp, .. }| {
            let counts = score_cp.unsigned_abs() <= rule.score_cp.unsigned_abs();
            length = match counts {
                true if ply == last + 1 => length + 1,
                is_first => u32::from(is_first),
            };
            last = ply;
            length >= 2 * rule.move_count && ply >= rule.from_ply
        })
    }

    /// The score after which a rule ends the game, the first of several rules, and the outcome for its side.
    pub fn end(&self, rules: &[Rule]) -> Option<(&Sample, Outcome)> {
        let end = |rule: &Rule| rule.end(self).map(|at| (at, rule.outcome()));
        let (at, outcome) = rules.iter().filter_map(end).min_by_key(|(at, _)| *at)?;
        Some((*self.samples.get(at)?, outcome))
    }
}

impl Rule {
    fn end(&self, game: &Played<'_>) -> Option<usize> {
        if self.kind == Kind::Draw { game.draw(self) } else { game.resignation(self) }
    }

    /// The outcome for the side of the last score.
    fn outcome(&self) -> Outcome {
        if self.kind == Kind::Draw { Outcome::Draw } else { Outcome::Loss }
    }

    /// What the rule would have done in these games.
    pub fn apply<'a, G: Borrow<Played<'a>> + Sync>(&self, games: &[G]) -> Adjudication {
        let part = |games: &[G]| {
            let (mut ended, mut turned, mut saved, mut all) = (0u64, 0u64, 0usize, 0usize);
            for game in games.iter().map(Borrow::borrow) {
                all += game.samples.len();
                let Some(at) = self.end(game) else { continue };
                ended += 1;
                turned += u64::from(game.samples.get(at).is_some_and(|sample| sample.outcome != self.outcome()));
                saved += game.samples.len() - at - 1;
            }
            (ended, turned, saved, all)
        };
        let parts = parallel::map_chunks(games, CHUNK, part).into_iter();
        let (ended, turned, saved, all) = parts.fold((0, 0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3));
        let share = (ended > 0).then(|| share_of(turned, ended));
        let saved_per_game = saved as f64 / (games.len() as f64).max(1.0);
        let saved = saved as f64 / (all as f64).max(1.0);
        let wrong_of_all = upper_bound(turned, games.len() as u64, 0.05);
        let Self { move_count, score_cp, .. } = *self;
        Adjudication { move_count, score_cp, ended, turned, share, wrong_of_all, saved, saved_per_game }
    }
}

/// What resigning at −`score_cp` would have done.
pub fn resign(games: &[Played<'_>], kind: Kind, move_count: u32, score_cp: i32, from_ply: u32) -> Adjudication {
    Rule { kind, move_count, score_cp, from_ply }.apply(games)
}

/// The draw rule with the largest threshold that turns no larger share of its games; `None` if none does.
pub fn draw(games: &[Played<'_>], move_count: u32, from_ply: u32, largest_share: f64) -> Option<Adjudication> {
    let (largest, step) = DRAW_SCORES;
    let rule = |score_cp: i32| Rule { kind: Kind::Draw, move_count, score_cp, from_ply }.apply(games);
    let allowed = |rule: &Adjudication| rule.share.is_some_and(|share| share.value <= largest_share);
    (0..=largest / step).rev().map(|i| rule(i * step)).find(allowed)
}

/// A share with its 95% Wilson interval.
fn share_of(hits: u64, n: u64) -> Estimated {
    let (hits, n) = (hits as f64, n as f64);
    Estimated { value: hits / n, interval: Some(wilson(hits, n, Z_95)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game with these scores from the first ply on, each in the view of its mover; `None` for a move without.
    fn table(games: &[(&[Option<i32>], Outcome)]) -> SampleTable {
        let mut table = SampleTable::default();
        for (game, (scores, black)) in games.iter().enumerate() {
            for (i, score) in scores.iter().enumerate() {
                let Some(score_cp) = *score else { continue };
                let color = if i % 2 == 0 { Color::Black } else { Color::White };
                table.samples.push(Sample {
                    game: game as u32,
                    engine: 0,
                    opponent: 0,
                    color,
                    ply: i as u32 + 1,
                    window: 0,
                    score_cp,
                    reply_cp: None,
                    declared: None,
                    mate: false,
                    outcome: if color == Color::Black { *black } else { black.reversed() },
                    material: None,
                    line: 1,
                });
            }
        }
        table
    }

    #[test]
    fn a_player_resigns_after_its_own_scores() {
        let s = Some;
        let lost = [s(0), s(500), s(-600), s(600), s(-700), s(700), s(-800), s(900)];
        let gap = [s(0), s(500), s(-600), s(600), None, s(700), s(-800), s(900)];
        let back = [s(-600), s(600), s(-600), s(600), s(-200), s(200)];
        let table = table(&[(&lost, Outcome::Loss), (&gap, Outcome::Loss), (&back, Outcome::Win)]);
        let games = games(&table);
        let two = resign(&games, Kind::Resign, 2, 600, 0);
        assert_eq!((two.ended, two.turned), (2, 1));
        // the first game ends after five of eight scores, the third after three of six
        assert!((two.saved - 6.0 / 21.0).abs() < 1e-12, "{}", two.saved);
        let three = resign(&games, Kind::Resign, 3, 600, 0);
        assert_eq!((three.ended, three.turned), (1, 0));
        assert_eq!(resign(&games, Kind::Resign, 1, 900, 0).share, None);
        // from ply 7 on the first game still ends there, and the third has been won back
        let late = resign(&games, Kind::Resign, 2, 600, 7);
        assert_eq!((late.ended, late.turned), (1, 0));
        assert!((late.saved - 1.0 / 21.0).abs() < 1e-12, "{}", late.saved);
        // in the first game the opponent agrees for two moves, in the third for one
        assert_eq!(resign(&games, Kind::ResignTwoSided, 2, 600, 0).ended, 1);
        let doubted = table_of_doubts();
        let games = super::games(&doubted);
        let ended = |kind| resign(&games, kind, 2, 600, 0).ended;
        assert_eq!((ended(Kind::Resign), ended(Kind::ResignTwoSided)), (1, 0));
    }

    /// A game that one side gives up, and its opponent does not.
    fn table_of_doubts() -> SampleTable {
        let s = Some;
        table(&[(&[s(0), s(10), s(-700), s(20), s(-700), s(10), s(-800), s(30)], Outcome::Draw)])
    }

    #[test]
    fn draws_need_both_players_in_a_row() {
        let s = Some;
        let quiet = [s(90), s(-80), s(5), s(-5), s(0), s(0), s(0)];
        let swing = [s(90), s(-80), s(5), s(-5), s(90), s(-90), s(300)];
        let table = table(&[(&quiet, Outcome::Draw), (&swing, Outcome::Win)]);
        let games = games(&table);
        // at 85 the first ends after ply 5, and the second has three in a row; at 90 the second, a win, ends as well
        let rule = draw(&games, 2, 1, 0.0).unwrap();
        assert_eq!((rule.score_cp, rule.ended, rule.turned), (85, 1, 0));
        // half of the games may be turned: then 100 is allowed
        assert_eq!(draw(&games, 2, 1, 0.5).map(|rule| (rule.score_cp, rule.turned)), Some((100, 1)));
        // no game ends before the move number, and what was before it counts
        let late = draw(&games, 2, 6, 0.0).unwrap();
        assert_eq!((late.score_cp, late.ended, late.turned), (85, 1, 0));
        assert!((late.saved - 1.0 / 14.0).abs() < 1e-12, "{}", late.saved);
        assert_eq!(draw(&games, 2, 8, 0.0), None);
    }

    #[test]
    fn the_ends_of_the_interval_are_one_quantile_away() {
        // the definition: at either end p the observed share is z standard errors of p away
        for (hits, n) in [(3u64, 100u64), (50, 90), (7, 8)] {
            let share = share_of(hits, n);
            let (low, high) = share.interval.unwrap();
            assert!(low < share.value && share.value < high);
            for p in [low, high] {
                let z = (share.value - p) / (p * (1.0 - p) / n as f64).sqrt();
                assert!((z.abs() - Z_95).abs() < 1e-9, "{hits} of {n}: {p} {z}");
            }
        }
        assert_eq!(share_of(0, 20).interval.unwrap().0, 0.0);
    }
}
