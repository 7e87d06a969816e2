//! What the reference's win rates say of the moves chosen by rules, and of each voter's own.

use std::collections::{BTreeMap, HashMap};

use super::super::log::{Ballots, Header, Log, LoggedLine};
use super::{Against, Alone, MOST_COMPARED, Regret};

/// What the reference's win rates say of the moves chosen in one way.
#[derive(Default)]
pub struct Losses {
    /// The loss of each decision that the reference judged, with its game, by session and line.
    pub by_line: BTreeMap<(usize, usize), (String, f64)>,
    /// Decisions whose move the reference did not score.
    missing: usize,
}

impl Losses {
    /// Adds the move chosen in a line, whose place is session and number.
    pub fn add(&mut self, place: (usize, usize), game: &str, judged: &Judged<'_>, chosen: &str) {
        match judged.best.zip(judged.win_rates.get(chosen)) {
            Some((best, own)) => drop(self.by_line.insert(place, (game.to_owned(), best - own))),
            None => self.missing += 1,
        }
    }

    pub fn mean(&self) -> f64 {
        self.by_line.values().map(|(_, loss)| loss).sum::<f64>() / self.by_line.len() as f64
    }

    pub fn regret(&self, reference: &str) -> Regret {
        let (mean, standard_error, judged) =
            clustered(self.by_line.values().map(|(game, loss)| (game.as_str(), *loss)));
        Regret { reference: reference.to_owned(), mean, standard_error, judged, missing: self.missing }
    }

    /// The difference from the losses of a voter's own moves, where both are known.
    pub fn against(&self, voter: &str, other: &Self) -> Option<Against> {
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

/// The losses of the own moves of each of these voters but the reference.
pub fn alone<'a>(log: &Log, voters: &[&'a str], reference: &str) -> Vec<(&'a str, Losses)> {
    let judged = voters.iter().filter(|name| **name != reference);
    let mut alone: Vec<(&str, Losses)> = judged.map(|name| (*name, Losses::default())).collect();
    let places: HashMap<&str, usize> = alone.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
    for (at, header, line) in log.entries() {
        let judged = Judged::new(header, line, reference);
        for vote in &line.votes {
            if let (Some(&place), Some(own)) = (places.get(vote.voter.as_str()), &vote.best) {
                alone[place].1.add(at, &line.game_id, &judged, own);
            }
        }
    }
    alone
}

/// The regrets of voters' own moves, and their differences.
pub fn compared(alone: &[(&str, Losses)], reference: &str) -> Vec<Alone> {
    let few = alone.len() <= MOST_COMPARED;
    let each = alone.iter().enumerate().map(|(place, (voter, own))| Alone {
        voter: (*voter).to_owned(),
        regret: own.regret(reference),
        against: alone[place + 1..]
            .iter()
            .filter(|_| few)
            .filter_map(|(voter, other)| own.against(voter, other))
            .collect(),
    });
    each.collect()
}

/// What the reference says of the moves of a line.
pub struct Judged<'a> {
    win_rates: HashMap<&'a str, f64>,
    best: Option<f64>,
}

impl<'a> Judged<'a> {
    /// The win rate of a move; `None` if the reference did not score it.
    pub fn rate(&self, best: &str) -> Option<f64> {
        self.win_rates.get(best).copied()
    }

    pub fn new(header: &Header, line: &'a LoggedLine, reference: &str) -> Self {
        let ballots = Ballots::new(header, line);
        let known = ballots.win_rates(header, reference);
        let best = known.iter().map(|&(_, p)| p).reduce(f64::max);
        // of several win rates of one move the first counts
        Self { win_rates: known.iter().rev().map(|&(m, p)| (ballots.names.name(m), p)).collect(), best }
    }
}
