//! Play-outs as a member of a council: a move with its win rate, also as a score.

use evalcurve_calibration::logistic::{logistic, logit};
use evalcurve_fit::fit::CP_PER_LOGIT;

use super::analysis::{Analysis, PlayoutError, PlayoutOptions, analyse};
use super::game::Game;

/// A win rate as a score in centipawns, 600 ln(p/(1 - p)), rounded; `None` unless 0 < p < 1.
///
/// As a score, a win rate can be calibrated like any other: the sigmoid p(x) = 1/(1 + exp(-w1 x + w2)) scales the logit
/// by 600 w1 and shifts it by w2.
pub fn score_of_win_rate(win_rate: f64) -> Option<i32> {
    if !(win_rate > 0.0 && win_rate < 1.0) {
        return None;
    }
    // the logit is never beyond 709, which fits
    Some((CP_PER_LOGIT * logit(win_rate)).round() as i32)
}

/// The win rate that [`score_of_win_rate`] turned into this score, up to its rounding.
pub fn win_rate_of_score(score_cp: i32) -> f64 {
    logistic(f64::from(score_cp) / CP_PER_LOGIT)
}

/// The vote of a member of a council.
#[derive(Debug, Clone, PartialEq)]
pub struct Ballot {
    /// The move, by name.
    pub name: String,
    pub action: u16,
    /// Its win rate for the side to move, with half a win and half a loss added so that it is never 0 or 1.
    pub win_rate: f64,
    /// The win rate as a score.
    pub score_cp: i32,
    /// All moves with a value, best first: name, win rate, score. Corresponds to the MultiPV list of an engine.
    pub candidates: Vec<(String, f64, i32)>,
}

/// A player that chooses moves by play-outs.
#[derive(Debug, Clone, PartialEq)]
pub struct Chooser {
    /// Its name in a council.
    pub name: String,
    pub options: PlayoutOptions,
}

impl Chooser {
    /// Its vote in a position. The seed is that of the options, so equal positions have equal votes. `None` if no move
    /// has a value.
    ///
    /// # Errors
    /// [`PlayoutError`], for example for a finished game.
    pub fn choose<G: Game>(&self, game: &G) -> Result<Option<Ballot>, PlayoutError> {
        let analysis = analyse(game, &self.options)?;
        Ok(ballot(game, &analysis))
    }
}

fn ballot<G: Game>(game: &G, analysis: &Analysis) -> Option<Ballot> {
    let best = analysis.best()?;
    let mut list: Vec<_> = analysis.moves.iter().filter(|m| m.tally.plays > 0).collect();
    let rate = |m: &super::MoveValue| m.tally.rate().unwrap_or(0.5);
    list.sort_by(|a, b| {
        rate(b).total_cmp(&rate(a)).then(b.tally.plays.cmp(&a.tally.plays)).then(a.action.cmp(&b.action))
    });
    let candidate = |m: &super::MoveValue| {
        let win_rate = m.tally.smoothed_rate();
        score_of_win_rate(win_rate).map(|score_cp| (game.name(m.action), win_rate, score_cp))
    };
    let (name, win_rate, score_cp) = candidate(&best)?;
    let candidates = list.into_iter().filter_map(candidate).collect();
    Some(Ballot { name, action: best.action, win_rate, score_cp, candidates })
}
