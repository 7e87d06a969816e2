//! Statistics of several systems, and tests between those that met the same opponent.

use std::collections::{BTreeMap, HashMap};

use evalcurve_fit::validate::holm;

use super::comparison::{Comparison, bonferroni, compare, sign_test};
use super::counts::{Pentanomial, Points, Wdl};
use super::elo::{Strength, strength};
use super::results::Match;
use super::spent::Spent;
use super::sprt::{Sprt, SprtError, SprtOptions, sprt};

/// The results of a system against one opponent, or against all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The name of the system.
    pub player: String,
    /// The opponent; `None` for several opponents, or one without a name.
    pub opponent: Option<String>,
    /// The games; `None` if only pairs are known, because an even pair may be two draws or a win and a loss.
    pub games: Option<Wdl>,
    /// The pairs, if each game belongs to one.
    pub pairs: Option<Pentanomial>,
    /// The games by opening, if each names one.
    pub openings: BTreeMap<String, Wdl>,
    /// The time of the system and of the opponent, if it is known.
    pub spent: Option<Spent>,
}

impl Entry {
    /// The independent trials: pairs if there are any, else games.
    pub fn points(&self) -> Points {
        match (self.pairs, self.games) {
            (Some(pairs), games) => Points::from(pairs).of_games(games),
            (None, games) => games.unwrap_or_default().into(),
        }
    }
}

impl From<&Match> for Entry {
    fn from(of: &Match) -> Self {
        Self {
            player: of.player.clone(),
            opponent: Some(of.opponent.clone()),
            games: Some(of.games),
            pairs: of.is_paired().then_some(of.pairs),
            openings: of.openings.clone(),
            spent: of.spent,
        }
    }
}

/// The statistics of one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub entry: Entry,
    /// Win rate, Elo, likelihood of superiority; `None` without games.
    pub strength: Option<Strength>,
    /// Wilson's 95% interval of the win rate over games.
    pub wilson: Option<(f64, f64)>,
    /// The exact sign test against an even match.
    pub sign_test: Option<f64>,
    /// The sequential test, if requested.
    pub sprt: Option<Result<Sprt, SprtError>>,
}

/// A test between two entries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Index of the first row.
    pub first: usize,
    /// Index of the second row.
    pub second: usize,
    /// The tests.
    pub comparison: Comparison,
    /// [`Comparison::p`] after Bonferroni's correction for all comparisons of the summary.
    pub bonferroni: f64,
    /// [`Comparison::p`] after Holm's.
    pub holm: f64,
}

/// The statistics of all entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// One row per entry, in the given order.
    pub rows: Vec<Row>,
    /// All pairs of entries with games against the same opponent. Opponents without a name count as the same.
    pub pairs: Vec<Pair>,
    /// The number of pairs, if they are too many to be compared.
    pub not_compared: u64,
}

/// The largest number of pairs that are compared: 141 systems against one opponent.
pub const MOST_COMPARISONS: u64 = 10_000;

/// Computes the rows; [`Summary::compared`] adds the tests between them. Entries over several opponents (see
/// [`totals`]) belong in a separate summary.
pub fn summarize(entries: &[Entry], test: Option<&SprtOptions>) -> Summary {
    let row = |entry: &Entry| {
        let points = entry.points();
        Row {
            entry: entry.clone(),
            strength: strength(&points),
            wilson: entry.games.filter(|g| g.games() > 0).map(|g| g.wilson()),
            sign_test: entry.games.map(sign_test),
            sprt: test.map(|options| sprt(&points, options)),
        }
    };
    Summary { rows: entries.iter().map(row).collect(), ..Summary::default() }
}

impl Summary {
    /// Adds the tests between all pairs of rows with a common opponent, corrected for their number, unless there are
    /// more than [`MOST_COMPARISONS`].
    pub fn compared(self) -> Self {
        let mut by_opponent: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
        for (index, row) in self.rows.iter().enumerate() {
            by_opponent.entry(row.entry.opponent.as_deref()).or_default().push(index);
        }
        let of = |systems: &Vec<usize>| systems.len() as u64 * (systems.len() as u64 - 1) / 2;
        let comparisons = by_opponent.values().map(of).sum();
        if comparisons > MOST_COMPARISONS {
            return Self { not_compared: comparisons, ..self };
        }
        let mut pairs = Vec::new();
        for (first, a) in self.rows.iter().map(|r| &r.entry).enumerate() {
            let rivals = by_opponent.get(&a.opponent.as_deref()).map_or(&[][..], Vec::as_slice);
            for &second in &rivals[rivals.partition_point(|rival| *rival <= first)..] {
                let b = &self.rows[second].entry;
                let (Some(x), Some(y)) = (a.games, b.games) else { continue };
                if a.player != b.player {
                    let comparison = compare(x, y).by_opening(&a.openings, &b.openings);
                    pairs.push(Pair { first, second, comparison, bonferroni: 1.0, holm: 1.0 });
                }
            }
        }
        let p: Vec<f64> = pairs.iter().map(|p| p.comparison.p()).collect();
        for (pair, (a, b)) in pairs.iter_mut().zip(bonferroni(&p).into_iter().zip(holm(&p))) {
            (pair.bonferroni, pair.holm) = (a, b);
        }
        Self { pairs, ..self }
    }
}

/// The results over all opponents of each player that met several, in the order of the matches. `matches` has each
/// match in the view of both players ([`super::Matches::both_views`]), or as a paper prints it.
pub fn totals<'a>(matches: impl IntoIterator<Item = &'a Match>) -> Vec<Entry> {
    let mut list: Vec<(Entry, u32)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for m in matches {
        let place = *known.entry(&m.player).or_insert(list.len());
        match list.get_mut(place) {
            Some((entry, opponents)) => {
                *opponents += 1;
                entry.games.iter_mut().for_each(|games| *games += m.games);
                entry.pairs = entry.pairs.filter(|_| m.is_paired());
                entry.pairs.iter_mut().for_each(|pairs| *pairs += m.pairs);
                entry.spent = entry.spent.zip(m.spent).map(|(a, b)| a.and(b));
            }
            None => list.push((Entry { opponent: None, openings: BTreeMap::new(), ..Entry::from(m) }, 1)),
        }
    }
    list.into_iter().filter(|(_, opponents)| *opponents > 1).map(|(entry, _)| entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(player: &str, opponent: &str, games: Wdl) -> Entry {
        let (player, opponent) = (player.to_owned(), Some(opponent.to_owned()));
        Entry { player, opponent, games: Some(games), ..Entry::default() }
    }

    #[test]
    fn systems_with_a_common_opponent_are_compared() {
        let entries = [
            entry("w", "Apery", Wdl::new(423, 8, 569)),
            entry("x", "other", Wdl::new(1, 1, 1)),
            entry("s", "Apery", Wdl::new(409, 6, 585)),
            entry("m", "Apery", Wdl::new(362, 34, 604)),
        ];
        let summary = summarize(&entries, Some(&SprtOptions::new(0.0, 5.0))).compared();
        let compared: Vec<(usize, usize)> = summary.pairs.iter().map(|p| (p.first, p.second)).collect();
        assert_eq!(compared, [(0, 2), (0, 3), (2, 3)]);
        assert_eq!(format!("{:.3} {:.3}", summary.pairs[1].bonferroni, summary.pairs[1].holm), "0.059 0.059");
        assert_eq!(format!("{:.3}", summary.pairs[2].holm), "0.192");
        assert!(summary.rows.iter().all(|r| r.sprt.as_ref().is_some_and(Result::is_ok)));
    }

    #[test]
    fn comparisons_have_a_limit() {
        let compared = |systems: u64| {
            let entries: Vec<Entry> = (0..systems).map(|i| entry(&i.to_string(), "a", Wdl::new(i, 1, 3))).collect();
            let summary = summarize(&entries, None).compared();
            (summary.rows.len() as u64, summary.pairs.len() as u64, summary.not_compared)
        };
        assert_eq!(compared(141), (141, 9_870, 0));
        assert_eq!(compared(142), (142, 0, 10_011));
    }

    #[test]
    fn totals_are_over_several_opponents() {
        let of = |player: &str, opponent: &str, games| Match {
            player: player.to_owned(),
            opponent: opponent.to_owned(),
            games,
            ..Match::default()
        };
        let list = [of("a", "b", Wdl::new(1, 0, 0)), of("b", "a", Wdl::new(0, 0, 1)), of("a", "c", Wdl::new(0, 2, 0))];
        let all = totals(&list);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].games, &all[0].opponent), (Some(Wdl::new(1, 2, 0)), &None));
    }
}
