//! Games that ended because the scores were large: resigned or adjudicated by score, and never played out.
//!
//! Their results agree with the scores by construction, which makes the slope too steep. They show in the samples as a
//! threshold: games go on until the scores of both sides, of the loser or of either side are beyond it, for some moves
//! in a row, and none goes on from there. An engine that resigns in place of a move keeps that score to itself, and
//! whoever decides games by another rule has no threshold: such games show by last scores which, by the engine's own
//! curve, would often have been reversed. How much that matters is estimated by the results that these games would have
//! had: with x and y the last scores of the two sides in the engine's view, the engine wins with probability σ(a x + b
//! y + c), where a, b and c are fitted to all samples, those games counting with the probability itself, until nothing
//! changes. The slope of the plain sigmoid by the true results over that by the probabilities is the factor by which
//! 1/w1 is too small.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use evalcurve_calibration::logistic::logistic;
use evalcurve_calibration::types::{Outcome, Termination};
use evalcurve_fit::fit::played_on::{LEAST, MOST, Results, threshold};
use evalcurve_fit::parallel;
use evalcurve_records::sample::{
    GOES_ON, GameEnd, GameInfo, Level, NameId, RULES, RUNS, Sample, SampleTable, levels_of,
};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use serde::Serialize;

use super::plays;

/// A bias of the constant by so many percent counts; from a factor on, its size is not known.
const MATTERS: f64 = 5.0;
const LARGEST: f64 = 4.0;
/// Where no threshold shows, a factor up to this is no sign of games that the scores ended.
const MATTERS_EARLY: f64 = 1.1;
/// Games that are lost this rarely from the threshold need no look.
const NEVER: f64 = 0.005;
/// Scores beyond so many thresholds are cut to that.
const CUT: f64 = 5.0;
/// Games ended before they were decided where this share of the results would have been reversed and was not, and where
/// that is no chance: as the first probability says for the engine, or for all engines together where the engine, by
/// the second, is no exception.
const REVERSED: f64 = 0.015;
const RARE: f64 = 0.01;
const LIKELY: f64 = 0.5;

/// Games of an engine that the scores ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Adjudicated {
    /// The threshold in centipawns; where none shows, the score from which hardly a game would have been reversed.
    pub threshold_cp: Level,
    /// The share of results that would have been reversed by the engine's curve, where no threshold shows.
    pub reversed: Option<f64>,
    /// Decided games that ended beyond the threshold, or by resignation, adjudication or for a reason that the record
    /// does not give, as the scores say.
    pub games: u64,
    /// All decided games with samples.
    pub decided: u64,
    /// The ends of all games are known; if not, those that are not known may have ended at the threshold, too.
    pub are_known: bool,
    /// How many times larger 1/w1 would be if these games had been played on; `None` for several times.
    pub factor: Option<f64>,
    /// The rule, as a [`GameEnd`] has them.
    #[serde(skip)]
    rule: usize,
}

impl Adjudicated {
    /// The warning, if it matters.
    pub fn text(&self) -> Option<Text> {
        let Self { threshold_cp, reversed, games, decided, are_known, factor, .. } = self;
        let larger = match factor.map(|factor| 100.0 * (factor - 1.0)) {
            Some(percent) if percent <= MATTERS => return None,
            Some(percent) if *are_known => text!("about {percent:.0}% larger"),
            Some(percent) => text!("up to {percent:.0}% larger"),
            None => text!("several times as large"),
        };
        if let Some(percent) = reversed.map(|share| 100.0 * share) {
            return Some(text!(
                "{games} of {decided} decided games ended at scores from which {percent:.0}% of them would have been \
                 reversed, by the curve of these games: they were resigned or adjudicated by score, so that their \
                 results are made from the scores; if such games were played on, 1/w1 would be {larger}; use games \
                 that were played to the end"
            ));
        }
        Some(text!(
            "{games} of {decided} decided games ended when the scores were beyond ±{threshold_cp}, and no game went on \
             from there: their results are made from the scores; if such games were played on, 1/w1 would be {larger}; \
             use games that were played to the end"
        ))
    }

    /// Whether the scores ended a decided game.
    fn ends(&self, end: &GameEnd, game: Option<&GameInfo>) -> bool {
        match self.reversed {
            Some(_) => may_be_by_score(game),
            None => end.at_end[self.rule] >= self.threshold_cp,
        }
    }
}

/// Whether the scores may have ended a game, all of whose scores were read.
fn may_be_by_score(game: Option<&GameInfo>) -> bool {
    let by = [Termination::Resignation, Termination::Adjudication, Termination::Unknown];
    game.is_some_and(|game| game.end.is_some() && by.contains(&game.termination))
}

/// Scores of both sides at one time of a game, each in its own view. In a game with scores of both sides, both are
/// known.
type Moment = [Option<i32>; 2];

/// The samples of a game that its players gave.
fn of_players<'a>(table: &SampleTable, samples: &'a [Sample]) -> Vec<&'a Sample> {
    samples.iter().filter(|sample| plays(table, sample)).collect()
}

/// When a sample was taken.
fn time(sample: &Sample) -> u32 {
    if sample.ply > 0 { sample.ply } else { sample.window * (GOES_ON + 1) }
}

/// The times at which the scores of a game are known. `samples` are those of its players.
fn moments(samples: &[&Sample]) -> Vec<(u32, Moment)> {
    let both = samples.iter().any(|s| s.reply_cp.is_some() || s.color != samples[0].color);
    let mut waiting: [Option<&Sample>; 2] = [None; 2];
    let mut found = Vec::new();
    for sample in samples {
        let (side, other) = (sample.color.index(), sample.color.opponent().index());
        let in_window = || waiting[other].take_if(|s| s.window == sample.window).map(|s| s.score_cp);
        let mut moment = [Some(sample.score_cp); 2];
        moment[other] = sample.reply_cp.or_else(in_window);
        waiting[side] = sample.reply_cp.is_none().then_some(*sample);
        if moment[other].is_some() || !both {
            found.push((time(sample), moment));
        }
    }
    found
}

/// How the scores of a game end. Where the record is not known, only its samples are; the flag says which.
fn end_of(table: &SampleTable, samples: &[&Sample]) -> (GameEnd, bool) {
    let (first, last) = samples.iter().fold((u32::MAX, 0), |(a, b), s| (a.min(time(s)), b.max(time(s))));
    // all positions, not those of some windows
    let all = || GameEnd::of(samples.iter().map(|s| (s.ply, s.color, s.score_cp)));
    let is_dense = samples.len() > RUNS && last - first <= 2 * samples.len() as u32;
    let known = samples.first().and_then(|sample| table.game(sample)?.end).or_else(|| is_dense.then(all)?);
    if let Some(known) = known {
        return (known, true);
    }
    let mut sampled = GameEnd::default();
    for (time, moment) in moments(samples) {
        let goes_on = time + GOES_ON < last;
        for (kind, level) in levels_of(moment).into_iter().enumerate() {
            match goes_on {
                true => sampled.went_on[kind * RUNS] = sampled.went_on[kind * RUNS].max(level),
                false => sampled.at_end[kind * RUNS] = level,
            }
        }
        if !goes_on {
            sampled.scores = moment;
        }
    }
    (sampled, false)
}

/// The games of the table that the scores ended, for each engine for which there are such.
pub(super) fn adjudicated(table: &SampleTable) -> BTreeMap<NameId, Adjudicated> {
    struct Game<'a> {
        samples: &'a [Sample],
        end: GameEnd,
        is_known: bool,
    }
    let mut games: BTreeMap<NameId, Vec<u32>> = BTreeMap::new();
    let mut all = Vec::with_capacity(table.games.len());
    for (samples, number) in table.samples.chunk_by(|a, b| a.game == b.game).zip(0..) {
        let of_players = of_players(table, samples);
        let mut engines: Vec<NameId> = of_players.iter().map(|sample| sample.engine).collect();
        engines.sort_unstable();
        engines.dedup();
        engines.into_iter().for_each(|engine| games.entry(engine).or_default().push(number));
        let (end, is_known) = end_of(table, &of_players);
        all.push(Game { samples, end, is_known });
    }
    let games: Vec<(NameId, Vec<&Game<'_>>)> = games
        .into_iter()
        .map(|(engine, games)| (engine, games.iter().map(|game| &all[*game as usize]).collect()))
        .collect();
    let last_scores = parallel::map(games.len(), |i| {
        let (engine, games) = &games[i];
        let is_own = |s: &&Sample| s.engine == *engine && plays(table, s);
        let ends = games.iter().filter(|game| may_be_by_score(table.game(&game.samples[0]))).filter_map(|game| {
            let own = game.samples.iter().find(is_own)?;
            Some((game.end.scores[own.color.index()]?, own.outcome))
        });
        LastScores::new(games.iter().flat_map(|game| game.samples).filter(is_own), ends)
    });
    let together = last_scores.iter().flatten().fold(LastScores::default(), |sum, one| LastScores {
        expected: sum.expected + one.expected,
        reversed: sum.reversed + one.reversed,
        ..sum
    });
    let is_rare = together.chance() < RARE;
    let of_engine = |i: usize| {
        let (engine, games) = (games[i].0, || games[i].1.iter().copied());
        // the rule that ended most games: if it asks for more moves in a row, games come back from its threshold
        let of_rule = |rule: usize| {
            let levels: Vec<_> = games().map(|game| (game.end.went_on[rule], game.end.at_end[rule])).collect();
            let threshold_cp = threshold(&levels)?;
            let ended = games().filter(|game| game.end.at_end[rule] >= threshold_cp).count();
            Some((ended, Reverse(threshold_cp), Reverse(rule)))
        };
        let ruled = (0..RULES).filter_map(of_rule).max();
        let early = last_scores[i].as_ref().filter(|one| one.share() >= REVERSED);
        let early = early.filter(|one| one.chance() < if is_rare { LIKELY } else { RARE });
        let (threshold_cp, rule, reversed) = match ruled {
            // a threshold that few of these games passed is not what ended them
            Some((ended, Reverse(threshold_cp), Reverse(rule))) if early.is_none_or(|one| 2 * ended >= one.open) => {
                (threshold_cp, rule, None)
            }
            _ => early.map(|one| (one.from_cp, 0, Some(one.share())))?,
        };
        let of_end = Adjudicated { threshold_cp, reversed, games: 0, decided: 0, are_known: true, factor: None, rule };
        let cut = CUT * f64::from(threshold_cp);
        let score = |cp: i32| f64::from(cp).clamp(-cut, cut) / 100.0;
        let (mut ended, mut decided, mut are_known) = (0, 0, true);
        let (mut own, mut pairs) = (Results::default(), Results::default());
        for game in games() {
            let samples = of_players(table, game.samples);
            let Some(first) = samples.iter().find(|sample| sample.engine == engine) else { continue };
            let side = first.color.index();
            let pair = |moment: &Moment| {
                let (x, y) = (moment[side], moment[1 - side].map(i32::saturating_neg));
                let (x, y) = (x.or(y).unwrap_or(0), y.or(x).unwrap_or(0));
                [score(x), score(y), 1.0]
            };
            let won = first.outcome.value();
            let end = of_end.ends(&game.end, table.game(first)).then(|| pair(&game.end.scores));
            let end = end.filter(|[x, y, _]| first.outcome != Outcome::Draw && (x + y > 0.0) == (won > 0.5));
            decided += u64::from(first.outcome != Outcome::Draw);
            ended += u64::from(end.is_some());
            are_known &= game.is_known;
            // a game whose end is not known may have ended at the threshold
            let at = score(threshold_cp.into()) * (2.0 * won - 1.0);
            let end = end.or_else(|| (!game.is_known && at != 0.0 && reversed.is_none()).then_some([at, at, 1.0]));
            moments(&samples).iter().for_each(|(_, moment)| pairs.push(pair(moment), won, end));
            let scores = samples.iter().filter(|sample| sample.engine == engine && !sample.mate);
            scores.for_each(|s| own.push([score(s.score_cp), 0.0, 1.0], s.outcome.value(), end));
        }
        let plain = own.fit([0.0; 3], None)?;
        let seen = plain[0];
        if reversed.is_none() && 1.0 - logistic(seen * score(threshold_cp.into())) < NEVER {
            return None;
        }
        let played_on = pairs.played_on().and_then(|model| own.fit(plain, Some(model)));
        let factor = played_on.map(|[slope, ..]| seen / slope).filter(|factor| (0.0..LARGEST).contains(factor));
        if reversed.is_some() && factor.is_some_and(|factor| factor <= MATTERS_EARLY) {
            return None;
        }
        Some((engine, Adjudicated { games: ended, decided, are_known, factor, ..of_end }))
    };
    parallel::map(games.len(), of_engine).into_iter().flatten().collect()
}

/// The games whose results were made from the scores: somebody adjudicated them, as the record says, or they ended
/// where the scores of one of their players end games.
pub fn ended_by_scores(table: &SampleTable) -> HashSet<u32> {
    let found = adjudicated(table);
    let mut ended = HashSet::new();
    for samples in table.samples.chunk_by(|a, b| a.game == b.game) {
        let of_players = of_players(table, samples);
        let Some(first) = of_players.first() else { continue };
        let (end, _) = end_of(table, &of_players);
        let game = table.game(first);
        let by_tag = game.is_some_and(|game| game.termination == Termination::Adjudication);
        let rules = of_players.iter().filter_map(|sample| found.get(&sample.engine));
        let by_score = || first.outcome != Outcome::Draw && rules.into_iter().any(|rule| rule.ends(&end, game));
        if by_tag || by_score() {
            ended.insert(first.game);
        }
    }
    ended
}

/// What the last scores of an engine's games say of their results, by the plain curve of its samples. Games that merely
/// end, or whose last moves have no scores, are reversed as often as the curve says.
#[derive(Debug, Clone, Copy, Default)]
struct LastScores {
    /// The score from which hardly a game is reversed, centipawns.
    from_cp: Level,
    /// Games that the scores may have ended.
    games: u32,
    /// Those of them that were decided before that score.
    open: usize,
    /// How many of those that ended before it would have been reversed, and how many were.
    expected: f64,
    reversed: f64,
}

impl LastScores {
    fn new<'a>(samples: impl Iterator<Item = &'a Sample>, ends: impl Iterator<Item = (i32, Outcome)>) -> Option<Self> {
        let score = |cp: i32| f64::from(cp).clamp(-f64::from(MOST), f64::from(MOST)) / 100.0;
        let ends: Vec<(i32, Outcome)> = ends.collect();
        if ends.len() < LEAST {
            return None;
        }
        let mut own = Results::default();
        samples.filter(|s| !s.mate).for_each(|s| own.push([score(s.score_cp), 0.0, 1.0], s.outcome.value(), None));
        let [slope, ..] = own.fit([0.0; 3], None).filter(|[slope, ..]| *slope > 0.0)?;
        let from_cp = 100.0 * libm::log((1.0 - NEVER) / NEVER) / slope;
        let (from_cp, games) = (from_cp.min(Level::MAX.into()) as Level, ends.len() as u32);
        let mut found = Self { from_cp, games, ..Self::default() };
        for (score_cp, outcome) in ends {
            let agreed = f64::from(score_cp) / 100.0 * (2.0 * outcome.value() - 1.0);
            let chance = logistic(-slope * f64::from(score_cp).abs() / 100.0);
            if chance >= NEVER {
                found.open += usize::from(outcome != Outcome::Draw);
                found.expected += chance;
                // a draw is half of a reversal, as the curve counts it
                found.reversed += if outcome == Outcome::Draw { 0.5 } else { f64::from(u8::from(agreed < 0.0)) };
            }
        }
        Some(found)
    }

    /// The share of the results that would have been reversed, and were not.
    fn share(&self) -> f64 {
        (self.expected - self.reversed) / f64::from(self.games)
    }

    /// How probable as few are, or fewer (Poisson).
    fn chance(&self) -> f64 {
        let log_term = |k: u32| f64::from(k) * libm::log(self.expected) - libm::lgamma(f64::from(k) + 1.0);
        (0..=self.reversed as u32).map(|k| libm::exp(log_term(k) - self.expected)).sum()
    }
}
