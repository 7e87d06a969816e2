//! The most aggressive rule of adjudication whose share of wrong games has a bound with 95% confidence.
//!
//! Zero errors seen are not zero errors: of n games without one, the upper end of the one-sided interval of Clopper and
//! Pearson (*Biometrika* 26, 1934) is 1 − 0.05^(1/n), about 3/n. A game counts once, whatever the number of its moves,
//! and copies of a game are one.
//!
//! A rule that is chosen because few games spoke against it looks better than it is. So thresholds are tested in a
//! fixed order, from the most cautious one on, until one fails: then the chance that any rule before it breaks the
//! bound is at most that of the level, without a correction for their number (Maurer, Hothorn and Lehmacher,
//! *Biometrie in der chemisch-pharmazeutischen Industrie* 6, 1995). Where the best of several kinds of rules is taken,
//! the level is shared among them (Bonferroni).

use serde::Serialize;

use super::adjudication::{Adjudication, Kind, Played, Rule};

/// The scores at which games may be resigned, from the most cautious.
const RESIGN: [i32; 34] = [
    30_000, 20_000, 15_000, 10_000, 8_000, 6_000, 5_000, 4_500, 4_000, 3_500, 3_000, 2_800, 2_600, 2_400, 2_200, 2_000,
    1_800, 1_600, 1_500, 1_400, 1_300, 1_200, 1_100, 1_000, 900, 800, 700, 600, 500, 400, 300, 200, 150, 100,
];
/// The scores within which games may be drawn, from the most cautious.
const DRAW: [i32; 18] = [0, 1, 2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 100];

/// A rule with its bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Certified {
    pub rule: Rule,
    /// What it would have done.
    pub applied: Adjudication,
    /// No larger share of all games ends wrongly, at the level.
    pub upper: f64,
    /// One minus the confidence, after its division among the kinds of rules.
    pub level: f64,
}

/// Why no rule has the bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CannotTell {
    /// Games that even the most cautious rule decides wrongly; `None` if rules have the bound, but decide too few
    /// games, or too many of them wrongly.
    pub wrong: Option<u64>,
    pub games: u64,
    /// As many would be enough, if the share of wrong ones stays; `None` if it is above the bound.
    pub needed: Option<u64>,
    /// The bound over these games: of the most cautious rule, or of the rule that has one where `ended_by_scores` games
    /// speak against it.
    pub upper: f64,
    /// Games that this rule ends and that their scores had ended already, so that they cannot show whether that was
    /// right. If they count as wrong, no rule has the bound.
    pub ended_by_scores: u64,
}

impl CannotTell {
    fn of(games: u64) -> Self {
        Self { wrong: None, games, needed: None, upper: 1.0, ended_by_scores: 0 }
    }
}

/// A rule that is worth writing down ends so many games, ...
pub(crate) const FEWEST_ENDED: u64 = 20;
/// ... and at most this share of them wrongly.
const MOST_TURNED: f64 = 0.1;

/// What the rule found in one half of the games did in the other half.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HeldOut {
    /// Games of the other half.
    pub games: u64,
    /// Those that the rule ended.
    pub ended: u64,
    /// Those of them that ended otherwise.
    pub wrong: u64,
    /// The bound that was found.
    pub upper: f64,
}

/// The probability of at most `hits` of `n`, where each has probability `p`.
fn at_most(hits: u64, n: u64, p: f64) -> f64 {
    let (odds, mut term) = (libm::log(p) - libm::log1p(-p), n as f64 * libm::log1p(-p));
    let mut sum = libm::exp(term);
    for i in 0..hits.min(n) {
        term += libm::log((n - i) as f64 / (i + 1) as f64) + odds;
        sum += libm::exp(term);
    }
    sum.min(1.0)
}

/// The upper end of the one-sided interval of Clopper and Pearson for a share of which `hits` of `n` were seen.
pub(crate) fn upper_bound(hits: u64, n: u64, level: f64) -> f64 {
    if hits >= n {
        return 1.0;
    }
    let (mut low, mut high) = (hits as f64 / n as f64, 1.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        *(if at_most(hits, n, middle) > level { &mut low } else { &mut high }) = middle;
    }
    high
}

/// Games that are enough for a bound if the share of wrong ones stays as it is; `None` if it is not below the bound.
fn games_needed(wrong: u64, games: u64, most: f64, level: f64) -> Option<u64> {
    if wrong == 0 {
        return Some((libm::log(level) / libm::log1p(-most)).ceil() as u64);
    }
    let share = wrong as f64 / games as f64;
    let is_enough = |n: u64| upper_bound((share * n as f64).ceil() as u64, n, level) <= most;
    let most_games = 1 << 32;
    let enough = (share < most).then(|| (0..32).map(|i| games << i).find(|n| *n > most_games || is_enough(*n)))??;
    if enough > most_games {
        return None;
    }
    let (mut low, mut high) = (enough / 2, enough);
    while high - low > (high / 100).max(1) {
        let middle = low.midpoint(high);
        *(if is_enough(middle) { &mut high } else { &mut low }) = middle;
    }
    Some(high)
}

/// The rules among which the best one is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Candidates<'a> {
    pub kinds: &'a [Kind],
    /// Lengths of runs.
    pub move_counts: &'a [u32],
    pub from_ply: u32,
    /// The largest share of all games that may end wrongly.
    pub most: f64,
}

impl Candidates<'_> {
    /// The rule of a kind that ends most games, of those whose bound is at most `most` and that are worth it.
    ///
    /// # Errors
    /// [`CannotTell`] if even the most cautious rule has none, or none is worth it.
    fn certify(&self, games: &[&Played<'_>], kind: Kind, move_count: u32) -> Result<Certified, CannotTell> {
        let Self { kinds, move_counts, from_ply, most } = *self;
        let level = 0.05 / (kinds.len() * move_counts.len()).max(1) as f64;
        let scores: &[i32] = if kind == Kind::Draw { &DRAW } else { &RESIGN };
        let n = games.len() as u64;
        let (mut found, mut cannot) = (None, CannotTell::of(n));
        for (i, &score_cp) in scores.iter().enumerate() {
            let rule = Rule { kind, move_count, score_cp, from_ply };
            let applied = rule.apply(games);
            let upper = upper_bound(applied.turned, n, level);
            if upper > most {
                if i == 0 {
                    let wrong = applied.turned;
                    let needed = games_needed(wrong, n, most, level);
                    cannot = CannotTell { wrong: Some(wrong), needed, upper, ..cannot };
                }
                break;
            }
            cannot.upper = upper;
            let is_worth_it = applied.ended >= FEWEST_ENDED && applied.share.is_some_and(|s| s.value <= MOST_TURNED);
            found = is_worth_it.then_some(Certified { rule, applied, upper, level }).or(found);
        }
        found.ok_or(cannot)
    }

    /// The one that saves most moves.
    ///
    /// # Errors
    /// [`CannotTell`] of the first, if there is none.
    pub fn best(&self, games: &[&Played<'_>]) -> Result<Certified, CannotTell> {
        let each = self.kinds.iter().flat_map(|kind| self.move_counts.iter().map(move |count| (*kind, *count)));
        let tried: Vec<_> = each.map(|(kind, count)| self.certify(games, kind, count)).collect();
        let best = tried.iter().flatten().max_by(|a, b| a.applied.saved.total_cmp(&b.applied.saved)).copied();
        let cannot = CannotTell::of(games.len() as u64);
        best.ok_or_else(|| tried.into_iter().find_map(Result::err).unwrap_or(cannot))
    }

    /// The best rule over the games that were played out. It is certified only if it keeps the bound as well where each
    /// of the other games that it ends counts as wrong: their results were made from the scores.
    ///
    /// # Errors
    /// As of [`Self::best`], or that the other games are too many.
    pub fn best_with(&self, games: &[&Played<'_>], others: &[&Played<'_>]) -> Result<Certified, CannotTell> {
        let found = self.best(games)?;
        let ended = found.rule.apply(others).ended;
        let wrong = found.applied.turned + ended;
        let upper = upper_bound(wrong, (games.len() + others.len()) as u64, found.level);
        if ended > 0 && upper > self.most {
            let cannot = CannotTell::of(games.len() as u64);
            let wrong = Some(found.applied.turned);
            return Err(CannotTell { wrong, upper: found.upper, ended_by_scores: ended, ..cannot });
        }
        Ok(found)
    }

    /// The best of each half of the games, and what it does in the other half.
    pub(crate) fn held_out(&self, games: &[Played<'_>], half: impl Fn(&Played<'_>) -> bool) -> Vec<HeldOut> {
        let (one, other): (Vec<&Played<'_>>, Vec<&Played<'_>>) = games.iter().partition(|game| half(game));
        let of = |(seen, unseen): (&Vec<&Played<'_>>, &Vec<&Played<'_>>)| {
            let found = self.best(seen).ok()?;
            let applied = found.rule.apply(unseen);
            let games = unseen.len() as u64;
            Some(HeldOut { games, ended: applied.ended, wrong: applied.turned, upper: found.upper })
        };
        [(&one, &other), (&other, &one)].into_iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By bisection of the sum of the binomial distribution in Python.
    #[test]
    fn the_bound_is_that_of_clopper_and_pearson() {
        for (hits, n, wanted) in [
            (0u64, 100u64, 0.029_513_049_607_039_9),
            (1, 144_429, 3.284_522_522_485_7e-5),
            (3, 50, 0.147_837_176_364_181),
            (250, 10_000, 0.027_723_005_901_065),
        ] {
            let found = upper_bound(hits, n, 0.05);
            assert!((found / wanted - 1.0).abs() < 1e-9, "{hits} of {n}: {found} {wanted}");
            assert!((at_most(hits, n, found) - 0.05).abs() < 1e-6, "{hits} of {n}");
        }
        assert_eq!(upper_bound(5, 5, 0.05), 1.0);
        // the rule of three
        assert_eq!(games_needed(0, 10, 1e-4, 0.05), Some(29_956));
        assert_eq!(games_needed(3, 100, 0.02, 0.05), None);
        let needed = games_needed(1, 1_000, 0.002, 0.05).unwrap();
        assert!(upper_bound((needed as f64 / 1_000.0).ceil() as u64, needed, 0.05) <= 0.002, "{needed}");
        assert!(needed > 1_000, "{needed}");
    }

    /// Of 2,000 samples of games in which one rule has exactly the bound, at most 5% may certify it.
    #[test]
    fn a_wrong_rule_is_certified_as_rarely_as_promised() {
        let (n, p) = (400u64, 0.02);
        let mut certified = 0;
        for trial in 0..2_000u64 {
            let hits = (0..n).filter(|i| evalcurve_words::random::unit(&[trial, *i]) < p).count() as u64;
            certified += u32::from(upper_bound(hits, n, 0.05) <= p);
        }
        assert!(certified <= 120, "{certified} of 2,000");
    }
}
