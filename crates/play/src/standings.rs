//! Who has won how often.

use serde::Serialize;

use super::store::Row;
use super::tournament::Tournament;
use evalcurve_core::types::{Outcome, Termination};
use evalcurve_records::match_stats::{Decision, Entry, Match, Points, Sprt, SprtOptions, sprt};

/// Games that an engine lost by a fault of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Faults {
    /// It ended, or did not start.
    pub crashes: u64,
    /// It exceeded its time.
    pub time: u64,
    /// It played an illegal move or declared a win that was not valid.
    pub illegal: u64,
}

impl Faults {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.crashes + self.time + self.illegal
    }

    fn add(&mut self, termination: Termination) {
        match termination {
            Termination::Abnormal => self.crashes += 1,
            Termination::TimeUp => self.time += 1,
            Termination::IllegalMove | Termination::IllegalDeclaration => self.illegal += 1,
            _ => {}
        }
    }
}

/// The games of two engines.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Encounter {
    /// The counts, in the view of the first engine.
    pub results: Match,
    /// The sequential test over the pairs in the order of the openings, up to its decision.
    pub sprt: Option<Sprt>,
    /// The pair after which the test decided, from 1.
    pub decided_after: Option<u32>,
}

/// The results of a tournament so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standings {
    /// One per encounter of the tournament, in its order.
    pub encounters: Vec<Encounter>,
    /// The faults of each engine, in the order of the tournament.
    pub faults: Vec<Faults>,
    /// Games played.
    pub games: u64,
    /// Games to play if no test decides earlier.
    pub planned: u64,
    /// The time that each engine has used for its moves, in milliseconds, in the order of the tournament.
    pub thinking_ms: Vec<u64>,
}

impl Standings {
    /// Counts the games that are finished.
    pub(crate) fn new(tournament: &Tournament, rows: &[Row]) -> Self {
        let pairs = tournament.encounters();
        let names = |(first, second): &(usize, usize)| {
            let [player, opponent] = [first, second].map(|place| tournament.engines[*place].name.clone());
            Match { player, opponent, ..Match::default() }
        };
        let mut standings = Self {
            encounters: pairs.iter().map(|p| Encounter { results: names(p), ..Encounter::default() }).collect(),
            faults: vec![Faults::default(); tournament.engines.len()],
            thinking_ms: vec![0; tournament.engines.len()],
            planned: 2 * u64::from(tournament.pairs) * pairs.len() as u64,
            ..Self::default()
        };
        for (place, encounter) in standings.encounters.iter_mut().enumerate() {
            let of = |row: &&Row| row.encounter(pairs.len()) == place;
            let mut rows: Vec<&Row> = rows.iter().filter(of).collect();
            rows.sort_by_key(|row| (row.pair, row.game));
            let options = tournament.sprt.map(SprtOptions::from);
            for pair in rows.chunks_exact(2) {
                encounter.add_pair(pair[0].result(), pair[1].result());
                let round = pair[0].opening;
                let in_order = u64::from(round) == encounter.results.pairs.pairs();
                if let Some(options) = options.filter(|_| encounter.decided_after.is_none() && in_order) {
                    encounter.test(&options, round);
                }
            }
        }
        for row in rows {
            let (first, second) = pairs[row.encounter(pairs.len())];
            let loser = match row.result() {
                Outcome::Win => second,
                _ => first,
            };
            standings.faults[loser].add(row.termination());
            standings.games += 1;
            standings.thinking_ms[first] += row.player_ms;
            standings.thinking_ms[second] += row.opponent_ms;
        }
        standings
    }

    /// The results as entries for a summary of match statistics.
    pub fn entries(&self) -> Vec<Entry> {
        self.encounters.iter().filter(|e| e.results.games.games() > 0).map(|e| Entry::from(&e.results)).collect()
    }
}

impl Encounter {
    fn add_pair(&mut self, first: Outcome, second: Outcome) {
        self.results.games.add(first);
        self.results.games.add(second);
        self.results.pairs.add(first, second);
    }

    fn test(&mut self, options: &SprtOptions, round: u32) {
        // a likelihood that cannot be maximised yet decides nothing
        if let Ok(test) = sprt(&Points::from(self.results.pairs), options) {
            self.decided_after = (test.decision != Decision::Continue).then_some(round);
            self.sprt = Some(test);
        }
    }
}
