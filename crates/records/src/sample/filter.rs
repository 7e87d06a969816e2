//! Which samples count: by engine, opponent, rating, ply, termination, date and time control.

use super::alias::matches_glob;
use super::expression::Expression;
use super::{GameInfo, Names, Sample};
use crate::record::StartTime;
use evalcurve_core::types::Termination;

/// Conditions that a sample must meet, all of them. An empty list or `None` asks nothing. Names are globs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// The engine is one of these.
    pub engines: Vec<String>,
    /// The engine is none of these.
    pub not_engines: Vec<String>,
    /// The opponent is one of these.
    pub opponents: Vec<String>,
    /// The opponent is none of these.
    pub not_opponents: Vec<String>,
    /// The engine's rating is at least this; a game without ratings does not pass.
    pub min_rating: Option<f64>,
    /// The opponent's rating is at least this.
    pub min_opponent_rating: Option<f64>,
    /// The position's ply is at most this.
    pub max_ply: Option<u32>,
    /// The game ended in one of these ways.
    pub terminations: Vec<Termination>,
    /// The game ended in none of these ways.
    pub not_terminations: Vec<Termination>,
    /// The game began on this day or later.
    pub since: Option<StartTime>,
    /// The game began on this day or before.
    pub until: Option<StartTime>,
    /// The time control is one of these.
    pub time_controls: Vec<String>,
    /// Each of these holds; a sample that lacks a value does not pass.
    pub conditions: Vec<Expression>,
}

impl Filter {
    /// Everything passes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Does this sample pass?
    pub fn accepts(&self, names: &Names, game: &GameInfo, sample: &Sample) -> bool {
        let one_of = |globs: &[String], name: &str| globs.iter().any(|g| matches_glob(g, name));
        let asked = |globs: &[String], name: &str| globs.is_empty() || one_of(globs, name);
        let (engine, opponent) = (names.get(sample.engine), names.get(sample.opponent));
        let (own, other) = (game.ratings[sample.color.index()], game.ratings[sample.color.opponent().index()]);
        let at_least = |limit: Option<f64>, rating: Option<f64>| limit.is_none_or(|l| rating.is_some_and(|r| r >= l));
        let day = |t: StartTime| (t.year, t.month, t.day);
        let date = game.start_time.map(day);
        asked(&self.engines, engine)
            && !one_of(&self.not_engines, engine)
            && asked(&self.opponents, opponent)
            && !one_of(&self.not_opponents, opponent)
            && at_least(self.min_rating, own)
            && at_least(self.min_opponent_rating, other)
            && self.max_ply.is_none_or(|p| sample.ply <= p)
            && (self.terminations.is_empty() || self.terminations.contains(&game.termination))
            && !self.not_terminations.contains(&game.termination)
            && self.since.is_none_or(|limit| date.is_some_and(|d| d >= day(limit)))
            && self.until.is_none_or(|limit| date.is_some_and(|d| d <= day(limit)))
            && asked(&self.time_controls, names.get(game.time_control))
            && self.conditions.iter().all(|c| c.holds(names, game, sample) == Some(true))
    }
}
