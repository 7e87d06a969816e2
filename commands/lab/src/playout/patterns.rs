//! Values of moves after patterns of other moves (Raiko 2006, eq. 3).

use evalcurve_calibration::types::Outcome;

use super::analysis::Tally;
use super::game::{Game, Side};

/// A move with its mover, as a number: the action, plus the number of actions for the second player.
pub type Made = u16;

/// A set of moves that were made, in any order. The empty pattern always applies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Pattern(Vec<Made>);

impl Pattern {
    /// The pattern of these moves.
    pub fn new(mut moves: Vec<Made>) -> Self {
        moves.sort_unstable();
        moves.dedup();
        Self(moves)
    }

    /// The moves, in ascending order.
    pub fn moves(&self) -> &[Made] {
        &self.0
    }

    /// Number of moves.
    pub fn order(&self) -> usize {
        self.0.len()
    }

    /// Whether all its moves are among those made.
    pub fn applies(&self, made: &[Made]) -> bool {
        self.0.iter().all(|m| made.contains(m))
    }

    /// Whether it contains all moves of `other` and one more.
    pub fn extends(&self, other: &Self) -> bool {
        self.order() == other.order() + 1 && other.applies(&self.0)
    }
}

/// The number of a move.
pub fn made<G: Game>(game: &G, side: Side, action: u16) -> Made {
    action + if side == Side::Second { game.actions() as u16 } else { 0 }
}

/// How patterns are chosen and combined. Raiko leaves both open in the section that defines them.
#[derive(Debug, Clone, Copy, PartialEq, clap::Args)]
pub struct PatternOptions {
    /// Largest number of moves in a pattern
    // 0 to 4; with 0 there is only the empty pattern, which is all-moves-as-first
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub order: usize,
    /// Smallest number of play-outs with a move after a pattern for the pattern to grow by the move.
    #[arg(skip = Self::default().min_plays)]
    pub min_plays: u64,
    /// Largest number of patterns; the most frequent ones remain.
    #[arg(skip = Self::default().most)]
    pub most: usize,
    /// Weight of the value of the order below in play-outs when orders are combined, above 0.
    #[arg(skip = Self::default().prior_plays)]
    pub prior_plays: f64,
}

impl Default for PatternOptions {
    fn default() -> Self {
        Self { order: 2, min_plays: 50, most: 1000, prior_plays: 30.0 }
    }
}

/// The tally of every move made after every pattern, in the view of the side that makes the move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternTable {
    /// By order, then by their moves; the empty pattern first.
    patterns: Vec<Pattern>,
    /// One row per pattern with one tally per move.
    tallies: Vec<Tally>,
    /// Number of actions; there are twice as many moves.
    actions: usize,
}

impl PatternTable {
    /// These patterns and the empty one, without play-outs. Patterns with unknown moves are left out.
    pub fn with(mut patterns: Vec<Pattern>, actions: usize) -> Self {
        patterns.retain(|p| p.moves().last().is_none_or(|&m| usize::from(m) < 2 * actions));
        patterns.push(Pattern::default());
        patterns.sort_by(|a, b| (a.order(), a).cmp(&(b.order(), b)));
        patterns.dedup();
        let tallies = vec![Tally::default(); patterns.len() * 2 * actions];
        Self { patterns, tallies, actions }
    }

    /// The patterns: the empty one, then by order.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Number of different moves: twice the actions.
    fn width(&self) -> usize {
        2 * self.actions
    }

    fn row(&self, pattern: usize) -> &[Tally] {
        self.tallies.get(pattern * self.width()..(pattern + 1) * self.width()).unwrap_or(&[])
    }

    /// The play-outs in which a move was made after a pattern (eq. 3); `None` for an unknown pattern.
    pub fn tally(&self, pattern: &Pattern, of: Made) -> Option<Tally> {
        let index = self.patterns.iter().position(|p| p == pattern)?;
        self.row(index).get(usize::from(of)).copied()
    }

    /// Counts a play-out: its moves in order, and the result for the first player.
    pub fn count(&mut self, moves: &[Made], outcome: Outcome) {
        let (width, actions) = (self.width(), self.actions);
        if let ([_], Some(row)) = (&self.patterns[..], self.tallies.get_mut(..width)) {
            for &m in moves {
                row[usize::from(m)].add(if usize::from(m) < actions { outcome } else { outcome.reversed() });
            }
            return;
        }
        let mut time = vec![usize::MAX; width];
        for (t, &m) in moves.iter().enumerate() {
            // a move that is made twice counts from its first time
            let slot = &mut time[usize::from(m)];
            *slot = (*slot).min(t);
        }
        for (index, pattern) in self.patterns.iter().enumerate() {
            let complete = pattern.moves().iter().map(|&m| time[usize::from(m)].saturating_add(1)).max().unwrap_or(0);
            for &m in moves.get(complete..).unwrap_or(&[]) {
                let own = if usize::from(m) < actions { outcome } else { outcome.reversed() };
                self.tallies[index * width + usize::from(m)].add(own);
            }
        }
    }

    /// Adds another table of the same patterns.
    pub(super) fn merge(&mut self, other: &Self) {
        self.tallies.iter_mut().zip(&other.tallies).for_each(|(a, b)| a.merge(*b));
    }

    /// The same patterns without play-outs.
    pub(super) fn emptied(&self) -> Self {
        Self { tallies: vec![Tally::default(); self.tallies.len()], ..self.clone() }
    }

    /// Adds the patterns that are frequent enough.
    pub(super) fn grow(&mut self, options: &PatternOptions) {
        let mut found: Vec<(u64, Pattern)> = Vec::new();
        for (index, pattern) in self.patterns.iter().enumerate().filter(|(_, p)| p.order() < options.order) {
            for (m, tally) in self.row(index).iter().enumerate().filter(|(_, t)| t.plays >= options.min_plays.max(1)) {
                let mut moves = pattern.moves().to_vec();
                moves.push(m as Made);
                found.push((tally.plays, Pattern::new(moves)));
            }
        }
        found.retain(|(_, p)| self.patterns.binary_search_by(|q| (q.order(), q).cmp(&(p.order(), p))).is_err());
        // lower order first, then the more frequent; one pattern may have grown from several
        found.sort_by(|(n, p), (m, q)| (p.order(), m, p).cmp(&(q.order(), n, q)));
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|(_, p)| seen.insert(p.clone()));
        found.truncate(options.most.saturating_sub(self.patterns.len()));
        if found.is_empty() {
            return;
        }
        let mut grown =
            Self::with(self.patterns.iter().cloned().chain(found.into_iter().map(|(_, p)| p)).collect(), self.actions);
        let width = self.width();
        for (index, pattern) in grown.patterns.iter().enumerate() {
            if let Some(old) = self.patterns.iter().position(|p| p == pattern) {
                grown.tallies[index * width..(index + 1) * width].copy_from_slice(self.row(old));
            }
        }
        *self = grown;
    }

    /// Which patterns apply after these moves, by index.
    pub fn applying(&self, made: &[Made]) -> Vec<usize> {
        (0..self.patterns.len()).filter(|&i| self.patterns[i].applies(made)).collect()
    }

    /// The value of a move after the patterns of `applying`, 0 to 1 for its side; `None` if no play-out contains it.
    ///
    /// The value of order l is (n r + k v)/(n + k). Here r is the pooled rate of the applying patterns of that order, n
    /// their mean number of play-outs (patterns share play-outs, so a sum would count them several times), v the value
    /// of order l - 1, and k [`PatternOptions::prior_plays`].
    pub fn value(&self, applying: &[usize], of: Made, options: &PatternOptions) -> Option<f64> {
        let mut value = None;
        let mut rest = applying;
        while let Some(&first) = rest.first() {
            let order = self.patterns.get(first)?.order();
            let same = rest.partition_point(|&i| self.patterns.get(i).is_some_and(|p| p.order() == order));
            let (now, later) = rest.split_at(same.max(1));
            rest = later;
            let mut sum = Tally::default();
            let mut count = 0u64;
            for tally in now.iter().filter_map(|&i| self.row(i).get(usize::from(of))).filter(|t| t.plays > 0) {
                sum.merge(*tally);
                count += 1;
            }
            let Some(rate) = sum.rate() else { continue };
            let plays = sum.plays as f64 / count as f64;
            value = Some(match value {
                None => rate,
                Some(v) => (plays * rate + options.prior_plays * v) / (plays + options.prior_plays),
            });
        }
        value
    }
}
