//! What the reference's win rates say of the moves chosen by rules, and of each voter's own.

use std::collections::BTreeMap;

use super::super::log::{Ballots, Header, Line, Log, Session, vote_finder};
use super::{Against, Regret};

/// What the reference's win rates say of the moves chosen in one way.
#[derive(Default)]
pub(super) struct Losses {
    /// The loss of each decision that the reference judged, with its game, by session and line.
    pub(super) by_line: BTreeMap<(usize, usize), (String, f64)>,
    /// Decisions whose move the reference did not score.
    missing: usize,
}

impl Losses {
    /// Adds the move chosen in a line.
    pub(super) fn add(
        &mut self,
        session: (usize, &Header),
        (number, line): (usize, &Line),
        reference: &str,
        chosen: &str,
    ) {
        match evaluation(session.1, line, reference, chosen) {
            Some((best, own)) => {
                self.by_line.insert((session.0, number), (line.game_id.clone(), best - own));
            }
            None => self.missing += 1,
        }
    }

    pub(super) fn mean(&self) -> f64 {
        self.by_line.values().map(|(_, loss)| loss).sum::<f64>() / self.by_line.len() as f64
    }

    pub(super) fn regret(&self, reference: &str) -> Regret {
        let (mean, standard_error, judged) =
            clustered(self.by_line.values().map(|(game, loss)| (game.as_str(), *loss)));
        Regret { reference: reference.to_owned(), mean, standard_error, judged, missing: self.missing }
    }

    /// The difference from the losses of a voter's own moves, where both are known.
    pub(super) fn against(&self, voter: &str, other: &Self) -> Option<Against> {
        let pairs = self
            .by_line
            .iter()
            .filter_map(|(place, (game, loss))| Some((game.as_str(), loss - other.by_line.get(place)?.1)));
        let (mean, standard_error, judged) = clustered(pairs);
        Some(Against { voter: voter.to_owned(), mean: mean?, standard_error, judged })
    }
}

/// The mean, its standard error, and the number of values. Games are independent, positions of one game are not.
fn clustered<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> (Option<f64>, Option<f64>, usize) {
    let mut games: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for (game, value) in values {
        let of = games.entry(game).or_default();
        *of = (of.0 + value, of.1 + 1);
    }
    let judged: usize = games.values().map(|g| g.1).sum();
    let n = judged as f64;
    let mean = (judged > 0).then(|| games.values().map(|g| g.0).sum::<f64>() / n);
    let count = games.len() as f64;
    let standard_error = mean.filter(|_| games.len() > 1).map(|mean| {
        let squares: f64 = games.values().map(|&(sum, count)| (sum - mean * count as f64).powi(2)).sum();
        (count / (count - 1.0) * squares).sqrt() / n
    });
    (mean, standard_error, judged)
}

/// The losses of one voter's own moves.
pub(super) fn alone(log: &Log, voter: &str, reference: &str) -> Losses {
    let mut losses = Losses::default();
    // joined logs may have many councils
    let has_voter = |(_, session): &(usize, &Session)| session.header.voters.iter().any(|v| v.name == voter);
    for (i, session) in log.sessions.iter().enumerate().filter(has_voter) {
        for (number, line) in &session.decisions {
            let own = vote_finder(&line.votes)(voter).and_then(|vote| vote.best.clone());
            if let Some(own) = own {
                losses.add((i, &session.header), (*number, line), reference, &own);
            }
        }
    }
    losses
}

/// The reference's win rates of the best move that it scored and of the chosen move; `None` if it did not score the
/// chosen move.
fn evaluation(header: &Header, line: &Line, reference: &str, chosen: &str) -> Option<(f64, f64)> {
    let ballots = Ballots::new(header, line);
    let known = ballots.win_rates(header, reference);
    let best = known.iter().map(|&(_, p)| p).reduce(f64::max)?;
    known.iter().find(|(m, _)| ballots.names.name(*m) == chosen).map(|&(_, p)| (best, p))
}
