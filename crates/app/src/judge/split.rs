//! Split curves: does a score have the same meaning in all situations?
//!
//! If the evaluation curve of an engine splits by phase, color or opponent, its evaluation misses a feature, and the
//! distance between the curves is the value of that feature (Takeuchi, Kaneko, Yamaguchi and Kawai, *Visualization and
//! adjustment of evaluation functions based on evaluation values and win probability*, AAAI 2007).
//!
//! Two models are fitted to the groups g of the samples by maximum likelihood, clustered by game:
//!
//! - logit p = w1 x - w2 + d_g, one slope, d = 0 for the first group (the reference). d_g / w1 is the shift in
//!   centipawns that, added to the scores of group g, turns its curve into that of the reference;
//! - logit p = w1 x - w2 + d_g + s_g x, one curve per group. The Wald test of all d_g = s_g = 0 tests whether the
//!   curves differ, that of all s_g = 0 whether they differ by more than a shift.

use std::collections::BTreeMap;
use std::fmt;

use evalcurve_fit::curve::{CurvePoint, EvaluationCurve, Z_95, quantile_points};
use evalcurve_fit::fit::{
    FitOptions, LinearRow, LinearRows, Method, Observation, Regression, ScoreCounts, Sigmoid, Wald, count_games, fit,
    regress_any,
};
use evalcurve_fit::parallel;
use evalcurve_fit::validate::holm;
use evalcurve_records::sample::expression::{Expression, ExpressionError};
use evalcurve_records::sample::{EngineSamples, NameId, Sample, SampleTable, by_engine};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::text::signed;
use evalcurve_words::{key, say, text};
use serde::Serialize;

use crate::calibrate::{CalibrateOptions, observation};

/// Fewest samples of a group; the curve of a smaller one would have no plotted point.
pub const MIN_GROUP_SAMPLES: usize = 50;

/// Fewest games of a group; a covariance clustered by game needs clusters.
pub const MIN_GROUP_GAMES: u64 = 20;

/// Samples of a bin of equal counts, at most: a group is part of an engine's samples.
pub const SMALL_BIN: u64 = 20;

/// Most groups; the smallest ones beyond it are left out, since a test of many groups has little power.
pub const MOST_GROUPS: usize = 12;

/// Curves split if the corrected p is below this level.
pub const LEVEL: f64 = 0.05;

/// Opponents are equal up to this rating difference.
const EQUAL_RATING: f64 = 100.0;

/// Centipawns per unit of x in the regression, so that its columns are of order one.
const SCALE: f64 = 1000.0;

/// A way to split samples into groups.
#[derive(Debug, Clone, PartialEq)]
pub enum Split {
    /// The windows of the draw: plies 30 to 89, 90 to 149, and from 150 on.
    Phase,
    /// The engine's side.
    Color,
    /// The engine's rating minus its opponent's: weaker by more than 100, equal, stronger.
    RatingGap,
    /// The opponent's name.
    Opponent,
    /// The time control as the record writes it.
    TimeControl,
    /// Samples that satisfy a condition, and the others.
    Expression(Expression),
}

impl Split {
    /// The words that [`Split::parse`] accepts in addition to expressions.
    pub const WORDS: [&str; 5] = ["phase", "color", "rating-gap", "opponent", "time-control"];

    /// Reads a word or an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] if the text is neither.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Ok(match text.trim() {
            "phase" => Self::Phase,
            "color" | "colour" => Self::Color,
            "rating-gap" | "rating_gap" => Self::RatingGap,
            "opponent" => Self::Opponent,
            "time-control" | "time_control" => Self::TimeControl,
            word if !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "=!<>".contains(c)) => {
                return Err(ExpressionError {
                    text: text.to_owned(),
                    position: 1,
                    problem: format!(
                        "'{word}' is neither {} nor an expression such as ply >= 90 or opponent = \"Gikou*\"",
                        Self::WORDS.join(", ")
                    ),
                });
            }
            expression => Self::Expression(Expression::parse(expression)?),
        })
    }

    /// The number of a sample's group; `None` if the record does not contain it.
    fn group(&self, table: &SampleTable, sample: &Sample, options: &CalibrateOptions) -> Option<u32> {
        let game = table.game(sample)?;
        let named = |id: NameId| Some(id).filter(|id| !table.names.get(*id).is_empty());
        match self {
            Self::Phase => {
                let since = sample.ply.checked_sub(options.sampling.from_ply)?;
                Some((since / options.sampling.window.max(1)).min(2))
            }
            Self::Color => (!game.without_colors).then(|| sample.color.index() as u32),
            Self::RatingGap => {
                let gap = game.ratings[sample.color.index()]? - game.ratings[sample.color.opponent().index()]?;
                Some(if gap < -EQUAL_RATING { 1 } else { 2 * u32::from(gap > EQUAL_RATING) })
            }
            Self::Opponent => named(sample.opponent),
            Self::TimeControl => named(game.time_control),
            Self::Expression(expression) => expression.holds(&table.names, game, sample).map(u32::from),
        }
    }

    /// The name of a group.
    fn label(&self, group: u32, table: &SampleTable, options: &CalibrateOptions) -> Text {
        match (self, group) {
            (Self::Phase, _) => {
                let width = options.sampling.window.max(1);
                let first = options.sampling.from_ply + group * width;
                match group {
                    2 => text!("ply {first}+"),
                    _ => text!("ply {first}–{}", first + width - 1),
                }
            }
            (Self::Color, 0) => text!("black"),
            (Self::Color, _) => text!("white"),
            (Self::RatingGap, 0) => text!("ratings within {EQUAL_RATING:.0}"),
            (Self::RatingGap, 1) => text!("weaker by more than {EQUAL_RATING:.0}"),
            (Self::RatingGap, _) => text!("stronger by more than {EQUAL_RATING:.0}"),
            (Self::Opponent | Self::TimeControl, name) => Text::same(table.names.get(name)),
            (Self::Expression(expression), 0) => text!("not ({expression})"),
            (Self::Expression(expression), _) => Text::same(expression.to_string()),
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phase => f.write_str("phase"),
            Self::Color => f.write_str("color"),
            Self::RatingGap => f.write_str("rating-gap"),
            Self::Opponent => f.write_str("opponent"),
            Self::TimeControl => f.write_str("time-control"),
            Self::Expression(expression) => expression.fmt(f),
        }
    }
}

/// The curve of one group of samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Its name.
    pub label: Text,
    pub samples: u64,
    /// Games among them.
    pub games: u64,
    #[serde(skip)]
    pub curve: EvaluationCurve,
    /// The same in bins of about the same number of samples.
    #[serde(skip)]
    pub quantiles: Vec<CurvePoint>,
    /// Its curve by maximum likelihood; `None` if its samples do not determine one.
    pub sigmoid: Option<Sigmoid>,
    /// The shift of its scores; `None` for the reference, and without a test.
    pub shift: Option<Shift>,
}

/// The centipawns that, added to the scores of a group, turn its curve into that of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shift {
    /// d / w1, centipawns; positive if the group wins more often than its scores predict.
    pub cp: f64,
    /// Lower end of its 95% interval, by the delta method.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Whether the curves of groups differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SplitTest {
    /// Test of one curve for all groups, against one curve per group.
    pub any: Wald,
    /// Test of one slope for all groups, so that curves differ only by a shift, against one slope per group.
    pub slopes: Wald,
    /// `any.p` with Holm's correction for all splits of all engines.
    pub corrected_p: f64,
}

/// One engine, split one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SplitCurves {
    pub engine: String,
    /// How its samples are split, in the form that [`Split::parse`] accepts.
    pub by: String,
    /// The groups; the first is the reference of the shifts.
    pub groups: Vec<Group>,
    /// Samples in groups that are too small (below [`MIN_GROUP_SAMPLES`] or [`MIN_GROUP_GAMES`]), or beyond
    /// `MOST_GROUPS`.
    pub in_small_groups: u64,
    /// Groups that no curve fits: all games have the same outcome, or one score separates wins from losses.
    pub without_curve: Vec<Text>,
    /// Samples whose record does not contain the group.
    pub unknown: u64,
    /// The test, or the reason why it is missing.
    #[serde(serialize_with = "super::value_or_error")]
    pub test: Result<SplitTest, Text>,
    /// Whether the curves differ at the level `LEVEL` after the correction.
    pub splits: bool,
}

/// Splits each engine with enough samples in each way, engines by name. The table's mates must be marked
/// ([`crate::calibrate::mark_mates`]).
pub fn split_curves(table: &SampleTable, splits: &[Split], options: &CalibrateOptions) -> Vec<SplitCurves> {
    let engines: Vec<EngineSamples<'_>> =
        by_engine(table).into_iter().filter(|e| e.samples.len() as u64 >= options.min_samples).collect();
    let pairs: Vec<(&EngineSamples<'_>, &Split)> =
        engines.iter().flat_map(|engine| splits.iter().map(move |split| (engine, split))).collect();
    let mut all = parallel::map(pairs.len(), |i| one(table, pairs[i].0, pairs[i].1, options));
    let p: Vec<f64> = all.iter().filter_map(|s| s.test.as_ref().ok()).map(|t| t.any.p).collect();
    let mut corrected = holm(&p).into_iter();
    for split in &mut all {
        if let Ok(test) = &mut split.test
            && let Some(p) = corrected.next()
        {
            test.corrected_p = p;
            split.splits = p < LEVEL;
        }
    }
    all
}

fn one(table: &SampleTable, engine: &EngineSamples<'_>, split: &Split, options: &CalibrateOptions) -> SplitCurves {
    let mut unknown = 0;
    let mut found: BTreeMap<u32, Vec<Observation>> = BTreeMap::new();
    for sample in &engine.samples {
        let Some(o) = observation(table, sample, options.mate_policy, options.clip_cp) else { continue };
        match split.group(table, sample, options) {
            Some(group) => found.entry(group).or_default().push(o),
            None => unknown += 1,
        }
    }
    let named = |(group, o): (u32, Vec<Observation>)| (split.label(group, table, options), o);
    let mut groups: Vec<(Text, Vec<Observation>)> = found.into_iter().map(named).collect();
    let games = |o: &[Observation]| count_games(o.iter().map(|o| o.game).collect());
    let total: usize = groups.iter().map(|(_, o)| o.len()).sum();
    groups.retain(|(_, o)| o.len() >= MIN_GROUP_SAMPLES && games(o) >= MIN_GROUP_GAMES);
    // the records name these groups, so that their number is open: the largest comes first
    if matches!(split, Split::Opponent | Split::TimeControl) {
        groups.sort_by_cached_key(|(label, o)| (std::cmp::Reverse(o.len()), label.to_string()));
    }
    groups.truncate(MOST_GROUPS);
    let left: usize = groups.iter().map(|(_, o)| o.len()).sum();
    // such a group has an infinite shift, which would leave the others without a test
    let (groups, out): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|(_, o)| !ScoreCounts::from_observations(o).separable());
    let test = test(&groups);
    let fit_options = FitOptions { min_samples: options.min_samples, ..FitOptions::default() };
    let group = |(i, (label, o)): (usize, (Text, Vec<Observation>))| {
        let mut curve = EvaluationCurve::new(options.bin_cp);
        o.iter().for_each(|o| curve.add(o.score_cp, o.outcome));
        let shifts = test.as_ref().ok().map(|(_, shifts)| shifts);
        Group {
            samples: o.len() as u64,
            games: games(&o),
            sigmoid: fit(Method::MaximumLikelihood, &o, &fit_options).ok().map(|f| f.sigmoid),
            shift: shifts.filter(|_| i > 0).and_then(|s| s.get(i - 1)).copied(),
            label,
            curve,
            quantiles: quantile_points(o.iter().map(|o| (o.score_cp, o.outcome)), options.min_bin.min(SMALL_BIN)),
        }
    };
    SplitCurves {
        engine: engine.name.to_owned(),
        by: split.to_string(),
        groups: groups.into_iter().enumerate().map(group).collect(),
        in_small_groups: (total - left) as u64,
        without_curve: out.into_iter().map(|(label, _)| label).collect(),
        unknown,
        test: test.map(|(test, _)| test),
        splits: false,
    }
}

/// The tests, and the shift of each group except the first.
fn test(groups: &[(Text, Vec<Observation>)]) -> Result<(SplitTest, Vec<Shift>), Text> {
    let k = groups.len();
    if k < 2 {
        return Err(match k {
            0 => text!(
                "no group has {MIN_GROUP_SAMPLES} samples, {MIN_GROUP_GAMES} games and results of both kinds: nothing \
                 to compare"
            ),
            _ => text!(
                "only one group has {MIN_GROUP_SAMPLES} samples, {MIN_GROUP_GAMES} games and results of both kinds: \
                 nothing to compare"
            ),
        });
    }
    let (parallel, free) = (regression(groups, false)?, regression(groups, true)?);
    let singular = || text!("the covariance of the groups is singular: add games");
    let all: Vec<usize> = (2..2 * k).collect();
    let any = free.wald(&all).ok_or_else(singular)?;
    let slopes = free.wald(&all[k - 1..]).ok_or_else(singular)?;
    let shifts = (2..k + 1).map(|column| shift(&parallel, column)).collect::<Option<_>>();
    let shifts = shifts.ok_or_else(|| text!("higher scores do not win more often: look at the sign of the scores"))?;
    Ok((SplitTest { any, slopes, corrected_p: any.p }, shifts))
}

/// The coefficients w1 and w2, then d of each group except the first and, with slopes, s of each of them.
fn regression(groups: &[(Text, Vec<Observation>)], slopes: bool) -> Result<Regression, Text> {
    let k = groups.len();
    let columns = if slopes { 2 * k } else { k + 1 };
    let mut rows = LinearRows::default();
    for (i, (_, observations)) in groups.iter().enumerate() {
        let used = if i == 0 { 2 } else { 3 + usize::from(slopes) };
        for o in observations {
            let x = f64::from(o.score_cp) / SCALE;
            let features = [(0, x), (1, -1.0), (i as u32 + 1, 1.0), ((k + i) as u32, x)];
            rows.push(LinearRow { game: o.game, result: o.outcome.value(), offset: 0.0, features: &features[..used] });
        }
    }
    let games = count_games(groups.iter().flat_map(|(_, o)| o).map(|o| o.game).collect());
    let found = regress_any(rows, columns).ok_or_else(|| {
        text!("the samples do not determine {columns} coefficients: groups may be too small, or of one result only")
    })?;
    match found.covariance() {
        Some(_) if games > columns as u64 => Ok(found),
        _ => Err(text!("{games} games are too few for {columns} coefficients: add games")),
    }
}

/// d / w1 with the variance (V_dd - 2 r V_dw + r² V_ww) / w1², r = d / w1.
fn shift(parallel: &Regression, column: usize) -> Option<Shift> {
    let (w1, d) = (*parallel.at.first()?, *parallel.at.get(column)?);
    if w1 <= 0.0 {
        return None;
    }
    let covariance = parallel.covariance()?;
    let v = |i: usize, j: usize| covariance.get(i).and_then(|row| row.get(j)).copied();
    let ratio = d / w1;
    let variance = (v(column, column)? - 2.0 * ratio * v(column, 0)? + ratio * ratio * v(0, 0)?) / (w1 * w1);
    let half = Z_95 * variance.max(0.0).sqrt();
    Some(Shift { cp: SCALE * ratio, low: SCALE * (ratio - half), high: SCALE * (ratio + half) })
}

impl SplitCurves {
    /// What divides the samples, in words.
    pub fn by_words(&self, language: Language) -> &str {
        match self.by.as_str() {
            "phase" => language.word(key!("phase")),
            "color" => language.word(key!("color")),
            "rating-gap" => language.word(key!("rating-gap")),
            "opponent" => language.word(key!("opponent")),
            "time-control" => language.word(key!("time-control")),
            condition => condition,
        }
    }

    /// The result in one sentence.
    pub fn sentence(&self, language: Language) -> String {
        let head = say!(language, "{} by {}", self.engine, self.by_words(language));
        let test = match &self.test {
            Ok(test) => test,
            Err(why) => {
                let why = why.text(language);
                return say!(language, "{head}: not tested: {why}");
            }
        };
        let out: Vec<String> = self.without_curve.iter().map(|label| label.text(language)).collect();
        let out = match &out[..] {
            [] => String::new(),
            out => {
                let names = out.join(language.word(", "));
                say!(language, "; left out, no curve fits them: {names}")
            }
        };
        let p = |p: f64| if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
        let corrected = p(test.corrected_p);
        if !self.splits {
            return say!(language, "{head}: no split seen ({corrected} after correction){out}");
        }
        let reference = self.groups.first().map_or_else(String::new, |g| g.label.text(language));
        let shifts = self.groups.iter().filter_map(|g| g.shift.map(|s| (g.label.text(language), s)));
        let one = |(label, s): (String, Shift)| {
            let [cp, low, high] = [s.cp, s.low, s.high].map(|v| signed(v, 0));
            format!("{label} {cp} cp [{low}, {high}]")
        };
        let shifts: Vec<String> = shifts.map(one).collect();
        let shifts = shifts.join(language.word(", "));
        let slopes = match p(test.slopes.p) {
            p if test.slopes.p < LEVEL => {
                say!(language, "; slopes differ too ({p}), so that no shift makes the curves one")
            }
            _ => String::new(),
        };
        say!(
            language,
            "{head}: the curves split ({corrected} after correction); as against {reference}, scores lack \
             {shifts}{slopes}{out}"
        )
    }
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
