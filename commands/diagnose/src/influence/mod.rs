//! Why do least squares and maximum likelihood differ? Refits both without one group of samples at a time.
//!
//! Samples with a large score that contradicts the result dominate maximum likelihood, but not least squares: a mate
//! that was announced and not won, a draw with a large score, a game that ended off the board.

mod groups;
mod verdict;

use evalcurve_app::calibrate::{CalibrateOptions, observation};
use evalcurve_fit::calibration::MatePolicy;
use evalcurve_fit::fit::{
    Case, FitData, FitOptions, Method, Model, ModelKind, Observation, fit_model, standard_error_of_difference,
    unexplained,
};
use evalcurve_records::sample::{EngineSamples, Sample, SampleTable};
use evalcurve_words::language::{Text, ToText};
use groups::groups;
use rayon::prelude::*;
use serde::Serialize;
use verdict::{Verdict, verdict};

/// Number of games named per engine.
const GAMES_NAMED: usize = 3;

/// The kind of samples in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Samples where a win by mate was announced and the game lost, or the reverse.
    WrongSidedMates,
    Mates,
    /// Draws for which least squares gives one side a high win rate.
    SurprisingDraws,
    /// Games that ended on time, by a crash, by an illegal move or at a limit of plies.
    OffBoard,
    /// The 1% of samples with the largest scores.
    Outermost,
    Termination,
    Opponent,
    /// One phase of the game.
    Phase,
}

/// One slope with its 95% interval, clustered by game, per centipawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slope {
    /// w1.
    pub w1: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A number with its 95% interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// Whether the interval excludes `value`.
    pub(crate) fn excludes(&self, value: f64) -> bool {
        self.low > value || self.high < value
    }
}

/// Both fits to a part of the samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BothFits {
    pub samples: u64,
    /// The slope by least squares, or why there is none.
    #[serde(serialize_with = "evalcurve_app::judge::value_or_error")]
    pub least_squares: Result<Slope, Text>,
    /// The slope by maximum likelihood, or why there is none.
    #[serde(serialize_with = "evalcurve_app::judge::value_or_error")]
    pub maximum_likelihood: Result<Slope, Text>,
    /// The ratio of the slopes, least squares to maximum likelihood, with its interval.
    pub ratio: Option<Estimate>,
}

/// The fits without a group of samples (or with mates, if these are left out).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Kind of the group.
    pub kind: Kind,
    /// Name of the group.
    pub label: Text,
    /// Whether the group is added instead of left out.
    pub added: bool,
    /// Samples in the group.
    pub group: u64,
    /// The fits without (or with) the group.
    pub fits: BothFits,
    /// Factor by which the slope by least squares changes, with its interval.
    pub least_squares_change: Option<Estimate>,
    /// Factor by which the slope by maximum likelihood changes, with its interval.
    pub maximum_likelihood_change: Option<Estimate>,
    /// Share of the results without a score that predicts them ([`InfluenceTable::lapses`]) that the group has.
    pub lapses: Option<f64>,
}

/// A game that changes the ratio of the slopes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedGame {
    /// File, or archive and member.
    pub source: String,
    pub line: u64,
    pub termination: &'static str,
    /// The result for the engine.
    pub result: f64,
    /// The engine's scores in the samples, in centipawns.
    pub scores_cp: Vec<i32>,
    /// Change of the logarithm of the ratio without the game, to first order.
    pub pull: f64,
}

/// The influence of groups of samples on the fits of one engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InfluenceTable {
    pub engine: String,
    /// The fits to all samples that the mate policy keeps.
    pub all: BothFits,
    /// The groups that have samples.
    pub rows: Vec<Row>,
    /// Share of the results that follow no score, by the lapse model; `None` if it cannot be fitted.
    pub lapses: Option<f64>,
    /// Names of groups without samples.
    pub empty: Vec<Text>,
    /// The games that change the ratio most.
    pub games: Vec<NamedGame>,
    /// The cause of the difference, in words.
    pub verdict: Text,
    /// Whether the slopes differ: significantly and by more than 5%, or by more than half.
    pub differ: bool,
    /// Whether they would differ, or differ twice as much, with the mates that are left out.
    pub mates_matter: bool,
    /// Index of the row that causes the difference.
    pub driver: Option<usize>,
}

impl InfluenceTable {
    /// |ln| of the ratio of the slopes.
    pub fn gap(&self) -> f64 {
        self.all.ratio.map_or(0.0, |r| libm::log(r.value).abs())
    }
}

/// Both fits, and for each method the influence of games on ln w1.
struct Fitted {
    fits: BothFits,
    pulls: [Option<Vec<(u64, f64)>>; 2],
}

/// The influence tables of engines, in their order, for those that both methods can fit.
pub fn influence(
    table: &SampleTable,
    engines: &[EngineSamples<'_>],
    options: &CalibrateOptions,
) -> Vec<InfluenceTable> {
    engines.par_iter().filter_map(|engine| of_engine(table, engine, options)).collect()
}

fn of_engine(table: &SampleTable, engine: &EngineSamples<'_>, options: &CalibrateOptions) -> Option<InfluenceTable> {
    let samples = &engine.samples;
    let seen: Vec<Option<Observation>> =
        samples.iter().map(|s| observation(table, s, options.mate_policy, options.clip_cp)).collect();
    let base: Vec<Observation> = seen.iter().flatten().copied().collect();
    let whole = fit_both(&base, options.min_samples);
    let (Ok(lse), Ok(mle)) = (&whole.fits.least_squares, &whole.fits.maximum_likelihood) else { return None };
    let (lse, mle) = (*lse, *mle);

    let lapsed = lapsed(&seen, options.min_samples);
    let (groups, empty) = groups(table, samples, &seen, options);
    let rows: Vec<Row> = groups
        .into_iter()
        .map(|group| {
            let part: Vec<Observation> = samples
                .iter()
                .zip(&seen)
                .zip(&group.members)
                .filter_map(|((sample, seen), member)| match (group.added, member) {
                    (true, true) => observation(table, sample, MatePolicy::Keep, options.clip_cp),
                    (true, false) => *seen,
                    (false, true) => None,
                    (false, false) => *seen,
                })
                .collect();
            let fitted = fit_both(&part, options.min_samples);
            let change = |method: usize, now: &Result<Slope, Text>, before: Slope| {
                let now = now.as_ref().ok()?;
                let se = standard_error_of_difference(fitted.pulls[method].as_ref()?, whole.pulls[method].as_ref()?)?;
                Some(factor(now.w1 / before.w1, se))
            };
            Row {
                kind: group.kind,
                label: group.label,
                added: group.added,
                group: group.members.iter().filter(|m| **m).count() as u64,
                least_squares_change: change(0, &fitted.fits.least_squares, lse),
                maximum_likelihood_change: change(1, &fitted.fits.maximum_likelihood, mle),
                lapses: lapsed.as_ref().filter(|_| !group.added).and_then(|l| share(l, &group.members)),
                fits: fitted.fits,
            }
        })
        .collect();
    let games = named_games(table, samples, &seen, &whole.pulls);
    let Verdict { text, differ, mates_matter, driver } = verdict(&whole.fits, lse, mle, &rows, options.mate_policy);
    let (engine, all) = (engine.name.to_owned(), whole.fits);
    let lapses = lapsed.map(|l| l.iter().sum::<f64>() / base.len() as f64);
    Some(InfluenceTable { engine, all, rows, lapses, empty, games, verdict: text, differ, mates_matter, driver })
}

/// For each sample, the probability that its result follows no score; 0 for samples that are not fitted.
fn lapsed(seen: &[Option<Observation>], min_samples: u64) -> Option<Vec<f64>> {
    let cases: Vec<Case> = seen.iter().flatten().map(Case::from).collect();
    let fit = fit_model(ModelKind::Lapse, &cases, &FitOptions { min_samples, ..FitOptions::default() }).ok()?;
    let Model::Lapse(model) = fit.model else { return None };
    let mut found = unexplained(&model, &cases).into_iter();
    Some(seen.iter().map(|o| o.and_then(|_| found.next()).unwrap_or(0.0)).collect())
}

/// A lapse rate below this counts as 0.
const NO_LAPSES: f64 = 1e-4;

/// The part of all lapses that the members of a group have.
fn share(lapsed: &[f64], members: &[bool]) -> Option<f64> {
    let all: f64 = lapsed.iter().sum();
    let of_group: f64 = lapsed.iter().zip(members).filter(|(_, member)| **member).map(|(l, _)| l).sum();
    (all > NO_LAPSES * lapsed.len() as f64).then(|| of_group / all)
}

/// A factor with its interval, from the standard error of its logarithm.
fn factor(value: f64, se: f64) -> Estimate {
    let half = libm::exp(evalcurve_fit::curve::Z_95 * se);
    Estimate { value, low: value / half, high: value * half }
}

fn fit_both(observations: &[Observation], min_samples: u64) -> Fitted {
    let options = FitOptions { min_samples, ..FitOptions::default() };
    let data = FitData::new(observations);
    let [(least_squares, a), (maximum_likelihood, b)] = Method::ALL.map(|method| match data.fit(method, &options) {
        Err(error) => (Err(error.to_text()), None),
        Ok(fit) => {
            let (low, high) = fit.interval_w1();
            let w1 = fit.sigmoid.w1;
            let pulls = data.influence(method, fit.sigmoid).map(|i| i.on([1.0 / w1, 0.0]));
            (Ok(Slope { w1, low, high }), pulls)
        }
    });
    let ratio = match (&least_squares, &maximum_likelihood, &a, &b) {
        (Ok(lse), Ok(mle), Some(a), Some(b)) => {
            standard_error_of_difference(a, b).map(|se| factor(lse.w1 / mle.w1, se))
        }
        _ => None,
    };
    let fits = BothFits { samples: observations.len() as u64, least_squares, maximum_likelihood, ratio };
    Fitted { fits, pulls: [a, b] }
}

/// The games that change ln(w1 by least squares / w1 by maximum likelihood) most.
fn named_games(
    table: &SampleTable,
    samples: &[Sample],
    seen: &[Option<Observation>],
    pulls: &[Option<Vec<(u64, f64)>>; 2],
) -> Vec<NamedGame> {
    let [Some(lse), Some(mle)] = pulls else { return Vec::new() };
    // both are of the same games by ascending id, since both fits use the same samples
    let mut ranked: Vec<(u64, f64)> = lse.iter().zip(mle).map(|(a, b)| (a.0, b.1 - a.1)).collect();
    ranked.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    ranked
        .into_iter()
        .take(GAMES_NAMED)
        .filter_map(|(id, pull)| {
            let of_game =
                || samples.iter().zip(seen).filter(|(s, o)| o.is_some() && table.game(s).is_some_and(|g| g.id == id));
            let first = of_game().next()?.0;
            let game = table.game(first)?;
            Some(NamedGame {
                source: table.names.get(game.source).to_owned(),
                line: game.line,
                termination: game.termination.as_str(),
                result: first.outcome.value(),
                scores_cp: of_game().filter_map(|(_, o)| Some(o.as_ref()?.score_cp)).collect(),
                pull,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_app::calibrate::mark_mates;
    use evalcurve_app::calibrate::mates::Thresholds;
    use evalcurve_calibration::types::{Color, Outcome, Termination};
    use evalcurve_records::sample::{GameInfo, by_engine};
    use evalcurve_words::random;

    /// Two samples per game of an engine with slope 0.003; every `wrong`-th game has a mate that is not won.
    fn table(wrong: u64) -> SampleTable {
        let mut table = SampleTable::default();
        let (engine, others) = (table.names.intern("engine"), ["a", "b", "c"].map(|n| table.names.intern(n)));
        let (source, time_control) = (table.names.intern("games.csa"), table.names.intern(""));
        for i in 0..900u64 {
            let truth = 6.0 * random::unit(&[1, i]) - 3.0;
            let wins = random::unit(&[2, i]) < 1.0 / (1.0 + libm::exp(-truth));
            let outcome = if wins { Outcome::Win } else { Outcome::Loss };
            table.games.push(GameInfo {
                id: random::mix(i),
                players: [engine, others[(i % 3) as usize]],
                ratings: [None; 2],
                start_time: None,
                time_control,
                termination: if i % 50 == 0 { Termination::TimeUp } else { Termination::Resignation },
                black_outcome: outcome,
                without_colors: false,
                source,
                line: 1 + 100 * i,
                end: None,
                moves: None,
                unread: 0,
            });
            for window in 0..2u32 {
                let mate = window == 1 && i % 10 == 0;
                let right = if wins { 30_000 } else { -30_000 };
                let score_cp = match (mate, wrong > 0 && i % wrong == 0) {
                    (true, true) => -right,
                    (true, false) => right,
                    _ => ((truth + random::unit(&[3, i, u64::from(window)]) - 0.5) / 0.003) as i32,
                };
                table.samples.push(Sample {
                    game: i as u32,
                    engine,
                    opponent: others[(i % 3) as usize],
                    color: Color::Black,
                    ply: 40 + 60 * window,
                    window,
                    score_cp,
                    reply_cp: None,
                    declared: None,
                    mate: false,
                    material: None,
                    outcome,
                    line: 1 + 100 * i + u64::from(window),
                });
            }
        }
        mark_mates(&mut table, &Thresholds::default());
        table
    }

    fn tables(wrong: u64, policy: MatePolicy) -> InfluenceTable {
        let table = table(wrong);
        let options = CalibrateOptions { mate_policy: policy, ..CalibrateOptions::default() };
        influence(&table, &by_engine(&table), &options).remove(0)
    }

    #[test]
    fn mates_that_are_not_won_cause_the_difference() {
        let found = tables(100, MatePolicy::Keep);
        let driver = &found.rows[found.driver.unwrap()];
        assert!(found.differ && driver.kind == Kind::WrongSidedMates && driver.group == 9, "{}", found.verdict);
        assert!(found.verdict.to_string().contains("`mate-policy` exclude"));
        // least squares hardly changes, maximum likelihood does
        let (lse, mle) = (driver.least_squares_change.unwrap(), driver.maximum_likelihood_change.unwrap());
        assert!((lse.value - 1.0).abs() < 0.1 && mle.value > 2.0, "{lse:?} {mle:?}");
        // the games that pull are those with such a mate
        assert!(found.games.iter().all(|g| g.scores_cp.iter().any(|s| s.abs() == 30_000)), "{:?}", found.games);
        assert_eq!(found.games[0].source, "games.csa");
    }

    #[test]
    fn left_out_mates_are_added_to_show_their_influence() {
        let found = tables(100, MatePolicy::Exclude);
        assert!(!found.differ && found.mates_matter && found.driver.is_none(), "{}", found.verdict);
        assert!(found.verdict.to_string().contains("the 9 of them that are wrong-sided"), "{}", found.verdict);
        assert!(found.rows[0].added && found.rows[0].group == 90 && found.rows[0].fits.samples == 1800);
        assert_eq!((found.rows[1].group, found.rows[1].fits.samples), (81, 1791));
        // correct mates do no harm
        let harmless = tables(0, MatePolicy::Exclude);
        assert!(!harmless.mates_matter, "{}", harmless.verdict);
        assert!(
            harmless.verdict.to_string().starts_with("The two fits agree")
                || harmless.verdict.to_string().starts_with("No significant difference")
        );
    }

    #[test]
    fn groups_cover_opponents_terminations_and_phases() {
        let found = tables(0, MatePolicy::Exclude);
        let of = |kind: Kind| found.rows.iter().filter(|r| r.kind == kind).map(|r| r.group).collect::<Vec<_>>();
        assert_eq!(of(Kind::Opponent).iter().sum::<u64>(), found.all.samples);
        assert_eq!(of(Kind::Phase).iter().sum::<u64>(), found.all.samples);
        assert_eq!(of(Kind::Termination).iter().sum::<u64>(), found.all.samples);
        let off_board = of(Kind::OffBoard);
        assert!(off_board.len() == 1 && off_board[0] < 40);
        assert!(found.empty.iter().any(|e| e.to_string().contains("draws")));
        for row in found.rows.iter().filter(|r| !r.added) {
            assert_eq!(row.fits.samples + row.group, found.all.samples, "{}", row.label);
        }
    }
}
