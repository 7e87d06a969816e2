//! Who has won how often.

use std::collections::{BTreeMap, BTreeSet};

use evalcurve_calibration::types::{Outcome, Termination};
use serde::Serialize;

use super::store::GameRow;
use super::tournament::Tournament;
use crate::match_stats::{Decision, Match, Pentanomial, Points, Spent, Sprt, SprtOptions, Wdl, sprt};

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
    /// The pairs of the first openings without a gap, over which the test was made, and their games.
    tested: (Pentanomial, Wdl),
    /// The pairs of later openings, by their openings.
    waiting: BTreeMap<u32, ([Outcome; 2], Moves)>,
    /// The first opening whose pair was not counted yet.
    next: u32,
    /// The games of each pair so far.
    known: BTreeSet<Moves>,
    /// Pairs whose games have the same moves, and pairs whose games an earlier pair has.
    twins: u32,
    replays: u32,
}

/// Both games of a pair, as [`GameRow::moves`] has them.
type Moves = [u64; 2];

/// After so many pairs that are one game each, or that repeat earlier ones, more of them decide nothing. An engine that
/// differs from its opponent in one game of ten has 50 such pairs in a row from the first one in 1 of 190 tests.
const MOST_IDLE: u32 = 50;

/// Why more games of two engines tell nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// All pairs so far have the same moves in both games.
    Twins { pairs: u32 },
    /// So many pairs repeated earlier ones, move by move.
    Replays { pairs: u32 },
}

/// The results of a tournament so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standings {
    /// One per encounter of the tournament, in its order.
    pub encounters: Vec<Encounter>,
    /// The faults of each engine, in the order of the tournament.
    pub faults: Vec<Faults>,
    pub games: u64,
    /// Games to play if no test decides earlier.
    pub planned: u64,
    /// The time that each engine has used for its moves, in milliseconds, in the order of the tournament.
    pub thinking_ms: Vec<u64>,
    /// Their processor time, with that of everything that they started, in milliseconds; `None` where it was not
    /// measured in all games.
    pub cpu_ms: Vec<Option<u64>>,
    /// The engines that meet.
    meetings: Vec<(usize, usize)>,
    test: Option<SprtOptions>,
}

impl Standings {
    /// Counts the games that are finished, pair by pair.
    pub(crate) fn new(tournament: &Tournament, rows: &[GameRow]) -> Self {
        let meetings = tournament.encounters();
        let names = |(first, second): &(usize, usize)| {
            let [player, opponent] = [first, second].map(|place| tournament.engines[*place].name.clone());
            Match { player, opponent, ..Match::default() }
        };
        let mut standings = Self {
            encounters: meetings.iter().map(|p| Encounter { results: names(p), ..Encounter::default() }).collect(),
            faults: vec![Faults::default(); tournament.engines.len()],
            thinking_ms: vec![0; tournament.engines.len()],
            cpu_ms: vec![Some(0); tournament.engines.len()],
            planned: 2 * u64::from(tournament.pairs) * meetings.len() as u64,
            meetings,
            test: tournament.sprt,
            ..Self::default()
        };
        for pair in rows.as_chunks().0 {
            standings.add(pair);
        }
        standings
    }

    /// Counts one more pair. The time does not depend on how many were counted before.
    pub fn add(&mut self, pair: &[GameRow; 2]) {
        let place = pair[0].encounter(self.meetings.len());
        let (first, second) = self.meetings[place];
        for row in pair {
            let loser = match row.result {
                Outcome::Win => second,
                _ => first,
            };
            self.faults[loser].add(row.termination());
            self.games += 1;
            self.thinking_ms[first] += row.player_ms;
            self.thinking_ms[second] += row.opponent_ms;
            for (engine, cpu_ms) in [(first, row.player_cpu_ms), (second, row.opponent_cpu_ms)] {
                self.cpu_ms[engine] = self.cpu_ms[engine].zip(cpu_ms).map(|(sum, ms)| sum + ms);
            }
            let spent = self.encounters[place].results.spent.get_or_insert_default();
            *spent = spent.and(Spent {
                plies: u64::from(row.plies.saturating_sub(row.opening_plies)),
                wall_ms: [row.player_ms, row.opponent_ms],
                cpu_ms: row.player_cpu_ms.zip(row.opponent_cpu_ms).map(|(player, opponent)| [player, opponent]),
            });
        }
        let (results, moves) = (pair.each_ref().map(|row| row.result), pair.each_ref().map(|row| row.moves));
        self.encounters[place].add(pair[0].opening, results, moves, self.test.as_ref());
    }
}

impl Encounter {
    /// Whether more games of these engines would not be used.
    pub fn is_over(&self) -> bool {
        self.decided_after.is_some() || (self.sprt.is_some() && self.idle().is_some())
    }

    /// Why more games tell nothing.
    pub fn idle(&self) -> Option<Idle> {
        if self.replays >= MOST_IDLE {
            return Some(Idle::Replays { pairs: self.replays });
        }
        (self.twins >= MOST_IDLE && self.has_twins_only()).then_some(Idle::Twins { pairs: self.twins })
    }

    fn has_twins_only(&self) -> bool {
        self.twins as usize == self.known.len()
    }

    fn add(&mut self, round: u32, outcomes: [Outcome; 2], moves: Moves, test: Option<&SprtOptions>) {
        let [first, second] = outcomes;
        self.results.games.add(first);
        self.results.games.add(second);
        self.results.pairs.add(first, second);
        if self.is_over() {
            return;
        }
        self.waiting.insert(round, (outcomes, moves));
        while !self.is_over()
            && let Some(next) = self.waiting.first_entry().filter(|entry| *entry.key() == self.next + 1)
        {
            let (round, ([first, second], moves)) = next.remove_entry();
            self.next = round;
            // a pair that was played before is no new evidence
            if !self.known.insert(moves) {
                self.replays += 1;
                continue;
            }
            self.twins += u32::from(moves[0] == moves[1]);
            let Some(options) = test else { continue };
            let (pairs, games) = &mut self.tested;
            pairs.add(first, second);
            [first, second].into_iter().for_each(|outcome| games.add(outcome));
            // a likelihood that cannot be maximised yet decides nothing, nor do engines that play the same moves
            if let Ok(mut test) = sprt(&Points::from(*pairs).of_games(Some(*games)), options) {
                if self.has_twins_only() {
                    test.decision = Decision::Continue;
                }
                self.decided_after = (test.decision != Decision::Continue).then_some(round);
                self.sprt = Some(test);
            }
        }
        if self.is_over() {
            self.waiting.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Color;
    use evalcurve_engine::EngineConfig;
    use evalcurve_words::random;

    fn pair(opening: u32) -> [GameRow; 2] {
        let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss, Outcome::Win];
        [1, 2].map(|game| GameRow {
            pair: opening,
            game,
            player: "A".into(),
            opponent: "B".into(),
            opening,
            colour: Color::Black,
            result: outcomes[random::below(4, &[7, u64::from(opening), u64::from(game)]) as usize],
            termination: ["checkmate", "time_up"][random::below(2, &[8, u64::from(opening)]) as usize].into(),
            detail: String::new(),
            plies: 9,
            opening_plies: 1,
            moves: u64::from(2 * opening) + u64::from(game),
            player_ms: 3,
            opponent_ms: 4,
            player_cpu_ms: Some(30),
            opponent_cpu_ms: None,
            from: 0,
            to: 0,
        })
    }

    /// The test over the first pairs, each time from the beginning, until one decides.
    fn recounted(pairs: u32, options: &SprtOptions) -> (Option<Sprt>, Option<u32>) {
        let (mut counts, mut last) = (Pentanomial::default(), None);
        for opening in 1..=pairs {
            let [first, second] = pair(opening);
            counts.add(first.result, second.result);
            last = sprt(&Points::from(counts), options).ok().or(last);
            if last.as_ref().is_some_and(|test| test.decision != Decision::Continue) {
                return (last, Some(opening));
            }
        }
        (last, None)
    }

    #[test]
    fn the_test_is_over_the_first_openings_whatever_order_the_pairs_end_in() {
        let bounds = SprtOptions::new(0.0, 100.0);
        let engine = |name: &str| EngineConfig { name: name.into(), ..EngineConfig::default() };
        let engines = vec![engine("A"), engine("B")];
        let tournament = Tournament { sprt: Some(bounds), pairs: 200, engines, ..Tournament::default() };
        let mut order: Vec<u32> = (1..=200).collect();
        let in_order = Standings::new(&tournament, &order.iter().flat_map(|o| pair(*o)).collect::<Vec<GameRow>>());
        assert_eq!(in_order.games, 400);
        assert!(in_order.encounters[0].decided_after.is_some_and(|pair| pair > 10 && pair < 150), "{in_order:?}");
        for seed in 0..20 {
            for last in (1..order.len()).rev() {
                order.swap(last, random::below(last as u64 + 1, &[seed, last as u64]) as usize);
            }
            let mut standings = Standings::new(&tournament, &[]);
            let mut known = Vec::new();
            for opening in &order {
                standings.add(&pair(*opening));
                known.push(*opening);
                let prefix = (1..).take_while(|opening| known.contains(opening)).count() as u32;
                let encounter = &standings.encounters[0];
                assert_eq!((encounter.sprt, encounter.decided_after), recounted(prefix, &bounds));
            }
            assert_eq!(standings.encounters[0].results, in_order.encounters[0].results);
            assert_eq!((&standings.faults, &standings.thinking_ms), (&in_order.faults, &in_order.thinking_ms));
        }
    }
}
