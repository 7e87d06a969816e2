//! What a user should know of an engine's scores before trusting its calibration.

mod checks;

use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_fit::calibration::{Calibration, Curve, Doubt, Estimate, Reading};
use evalcurve_fit::fit::{ModelKind, Observation, Situation, Strengths};
use evalcurve_fit::validate::mean_by_game;
use evalcurve_records::sample::{Sample, SampleTable};
use evalcurve_words::language::Text;
use evalcurve_words::text::number;
use evalcurve_words::{key, text};
use serde::Serialize;

use super::cases::both_ratings;
use super::{CalibrateOptions, EngineResult, plays};
use checks::{
    apart, book_zeros, conflict, correlation, disagreement, mates_inverted, score_unit, threshold_in_evaluations,
};

/// Correlation of score and result below which a sign looks inverted (with so many samples of a colour), and how many
/// standard errors, clustered by game, it must be below 0: all positions of a few games can go below by chance.
const INVERTED: f64 = -0.2;
const INVERTED_SAMPLES: usize = 100;
const INVERTED_ERRORS: f64 = 1.645;

/// What a warning is about. The words in documents are those of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// The scores of a colour contradict the results.
    SignInverted,
    /// The sign of the scores is wrong in some games.
    MixedSigns,
    /// Games ended because the scores were large.
    Adjudicated,
    /// Scores were cut to a size.
    CutScores,
    /// Every score is 0.
    AllScoresZero,
    /// The scores are in another unit.
    ScoreUnit,
    /// A spike of scores under the mate threshold.
    MatesUnderThreshold,
    /// The mate threshold cuts through evaluations.
    ThresholdInEvaluations,
    /// Most mates contradict the result.
    MatesInverted,
    /// Many zeros, as of a book.
    BookZeros,
    /// The slope may be 0.
    SlopeMayBeZero,
    /// On unseen games, worse than knowing no score.
    WorseThanConstant,
    /// The games of an engine contradict the fit with the others.
    Conflict,
    /// The fit with the other engines had no minimum.
    FittedApart,
    /// A large share of the results follows no score.
    ManyLapses,
    /// Many draws in a model that takes them for half a win.
    ManyDraws,
    /// A model of draws has another share of draws than a part of the games.
    DrawsMisfit,
    /// On unseen games the slope of results on forecasts is off.
    SlopeOff,
    /// On unseen games the calibration error is large.
    Miscalibrated,
    /// The curve has another shape than the results.
    Misshapen,
    /// Least squares and maximum likelihood give slopes that are far apart.
    MethodsDisagree,
    /// There are no scores out of sample.
    NotValidated,
    /// The ratings were made from the results of these games.
    RatingsKnowTheResults,
    /// Nothing says how strong most opponents are.
    UnknownOpponents,
}

/// The section of a diagnosis that shows a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// That of signs, mates and other oddities, whose answer has these words.
    Signs(&'static str),
    /// Another one, by its own numbers.
    Elsewhere,
}

impl WarningKind {
    /// The section of a diagnosis that shows it.
    pub fn shown(self) -> Shown {
        match self {
            Self::SignInverted => Shown::Signs(key!("inverted sign")),
            Self::MixedSigns => Shown::Signs(key!("inverted sign in some games")),
            Self::Adjudicated => Shown::Signs(key!("games that the scores ended")),
            Self::CutScores => Shown::Signs(key!("scores cut to one size")),
            Self::AllScoresZero => Shown::Signs(key!("all scores 0")),
            Self::ScoreUnit => Shown::Signs(key!("scores that are not centipawns")),
            Self::MatesUnderThreshold => Shown::Signs(key!("mates under the threshold")),
            Self::ThresholdInEvaluations => Shown::Signs(key!("threshold within the evaluations")),
            Self::MatesInverted => Shown::Signs(key!("mates of inverted sign")),
            Self::BookZeros => Shown::Signs(key!("zeros of book moves")),
            Self::SlopeMayBeZero => Shown::Signs(key!("scores that may say nothing")),
            Self::WorseThanConstant => Shown::Signs(key!("forecasts worse than none")),
            Self::Conflict => Shown::Signs(key!("own games against the joint fit")),
            Self::FittedApart => Shown::Signs(key!("a fit that did not converge")),
            Self::ManyLapses => Shown::Signs(key!("results that follow no score")),
            Self::ManyDraws => Shown::Signs(key!("draws at any score")),
            Self::DrawsMisfit => Shown::Signs(key!("draws that the model misses")),
            Self::SlopeOff => Shown::Signs(key!("forecasts too bold or too cautious")),
            Self::Miscalibrated => Shown::Signs(key!("large calibration error")),
            Self::Misshapen => Shown::Signs(key!("a curve of another shape")),
            Self::UnknownOpponents => Shown::Signs(key!("opponents of unknown strength")),
            Self::MethodsDisagree | Self::NotValidated | Self::RatingsKnowTheResults => Shown::Elsewhere,
        }
    }
}

/// A warning, for people and for machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub kind: WarningKind,
    /// The sentence, with numbers and the remedy.
    pub text: Text,
}

/// All warnings of one engine.
pub(super) fn of_engine(
    table: &SampleTable,
    result: &EngineResult,
    samples: &[Sample],
    observations: &[Observation],
    options: &CalibrateOptions,
) -> Vec<Warning> {
    let mut warnings = sign_inverted(table, samples);
    if !samples.is_empty() && samples.iter().all(|s| s.score_cp == 0) {
        let text = text!("every score is 0: the records hold no evaluations of this engine");
        warnings.push(Warning { kind: WarningKind::AllScoresZero, text });
    }
    warnings.extend(score_unit(table, samples));
    if let Some(cut) = result.mates.cut {
        let (count, cp, all) = (cut.samples, cut.cp, samples.len());
        let text = text!(
            "{count} of {all} scores are exactly ±{cp}, and none is larger: they were cut, stand for all larger ones, \
             and are left out; a score of ±{cp} is worth more than the win rate at {cp}"
        );
        warnings.push(Warning { kind: WarningKind::CutScores, text });
    }
    // 0.00 is the score of a draw in chess
    warnings.extend(book_zeros(samples, options).filter(|_| !table.chess));
    warnings.extend(threshold_in_evaluations(result, samples));
    warnings.extend(mates_inverted(result, samples));
    warnings.extend(mates_under_threshold(result));
    // a fit that is not used needs no explanation
    if result.has_enough(options) {
        warnings.extend(conflict(result, options));
        warnings.extend(apart(result, options));
        warnings.extend(disagreement(table, result, samples, observations, options));
    }
    warnings
}

/// Warnings of colours whose scores contradict the results.
fn sign_inverted(table: &SampleTable, samples: &[Sample]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for color in [Color::Black, Color::White] {
        let without_color = |s: &Sample| table.game(s).is_some_and(|game| game.without_colors);
        let color_of = |s: &Sample| if without_color(s) { Color::Black } else { s.color };
        let side: Vec<&Sample> = samples.iter().filter(|s| color_of(s) == color && !s.mate).collect();
        let found = correlation(&side).filter(|_| side.len() >= INVERTED_SAMPLES);
        if let Some((r, _)) = found.filter(|(r, errors)| *r < INVERTED && *errors < -INVERTED_ERRORS) {
            let count = side.len();
            let view = match table.chess {
                true => text!("from whose point of view the records have scores"),
                false => text!("that the client sends scores in Black's view"),
            };
            let text = text!(
                "sign looks inverted as {color}: score and result correlate by {r:.2} over {count} samples; check \
                 {view}"
            );
            warnings.push(Warning { kind: WarningKind::SignInverted, text });
        }
    }
    warnings
}

/// A warning of a spike of scores under the mate threshold.
fn mates_under_threshold(result: &EngineResult) -> Option<Warning> {
    let spike = result.mates.spike_below?;
    let span = match (spike.from_cp, spike.to_cp) {
        (from, to) if from == to => Text::same(format!("±{from}")),
        (from, to) => text!("±{from} to ±{to}"),
    };
    let text = text!(
        "{} samples make a spike at {span} under the mate threshold {}, with nothing from {} up to it: these look \
         like mates; use `mate-threshold` \"{}={}\" or auto",
        spike.samples,
        result.mates.threshold_cp,
        spike.below_cp,
        result.name,
        spike.threshold()
    );
    Some(Warning { kind: WarningKind::MatesUnderThreshold, text })
}

/// Parts of the samples by stage, and of each by the size of the score, whose draws are compared with the fit.
const PARTS: usize = 3;
/// Samples of a part that is compared.
const PART_SAMPLES: usize = 100;
/// A share of draws this far from the fitted one, by so many standard errors, has a warning.
const DRAWS_OFF: f64 = 0.05;
const DRAWS_OFF_ERRORS: f64 = 4.0;

/// A warning if a model of draws has another share of draws than a part of the games.
pub(super) fn draws_misfit(table: &SampleTable, calibration: &Calibration, samples: &[Sample]) -> Option<Warning> {
    let wdl = calibration.wdl_model()?;
    let situation = |s: &Sample| {
        let material = s.material.map(u32::from);
        Situation { ply: Some(s.ply), material, ..Situation::default() }
    };
    let known = samples.iter().filter(|s| !s.mate && wdl.stage.of(&situation(s)).is_some());
    let mut by_stage: Vec<(f64, &Sample)> = known.map(|s| (wdl.stage_of(&situation(s)), s)).collect();
    by_stage.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut worst: Option<(f64, Text)> = None;
    for part in by_stage.chunks(by_stage.len().div_ceil(PARTS).max(1)) {
        let (from, to) = (part.first()?.0, part.last()?.0);
        let mut by_score: Vec<&Sample> = part.iter().map(|(_, s)| *s).collect();
        by_score.sort_by_key(|s| s.score_cp.unsigned_abs());
        for cell in by_score.chunks(by_score.len().div_ceil(PARTS).max(1)).filter(|cell| cell.len() >= PART_SAMPLES) {
            let fitted: Vec<f64> = cell.iter().map(|s| wdl.rates(f64::from(s.score_cp), &situation(s)).draw).collect();
            let is_draw = |s: &Sample| f64::from(u8::from(s.outcome == Outcome::Draw));
            let off = |(s, fitted): (&&Sample, &f64)| Some((table.game(s)?.id, is_draw(s) - fitted));
            let Some(mean) = mean_by_game(&cell.iter().zip(&fitted).filter_map(off).collect::<Vec<_>>()) else {
                continue;
            };
            let errors = mean.standard_error().filter(|e| *e > 0.0).map_or(0.0, |error| mean.value.abs() / error);
            if mean.value.abs() < DRAWS_OFF || errors < DRAWS_OFF_ERRORS.max(worst.as_ref().map_or(0.0, |w| w.0)) {
                continue;
            }
            let fitted = 100.0 * fitted.iter().sum::<f64>() / cell.len() as f64;
            let (seen, unit) = (fitted + 100.0 * mean.value, wdl.stage.as_str());
            let [low, high] = [cell.first()?, cell.last()?].map(|s| s.score_cp.unsigned_abs());
            worst = Some((
                errors,
                text!(
                    "the model does not fit these games: at {unit} {from} to {to} and scores of ±{low} to ±{high}, \
                     {seen:.0}% are draws and {fitted:.0}% by the model; `plot` draws both"
                ),
            ));
        }
    }
    worst.map(|(_, text)| Warning { kind: WarningKind::DrawsMisfit, text })
}

/// The share of samples against opponents of unknown strength from which the constant may be off. With 60 opponents of
/// 8 games each and a standard deviation of 1.5 logits, 1/w1 is a third too large, and 45% of the intervals hold it.
const MANY_UNKNOWN: f64 = 0.3;

/// A warning if nothing says how strong many opponents are: no rating, and too few games for a strength of their own.
pub(super) fn unknown_opponents(
    table: &SampleTable,
    samples: &[Sample],
    numbers: &[u32],
    strengths: &Strengths,
) -> Option<Warning> {
    let is_unknown = |s: &&Sample| {
        let is_rated = !table.bradley_terry && both_ratings(table, s).is_some();
        let strength = || strengths.of(*numbers.get(s.opponent as usize)?);
        plays(table, s) && !is_rated && !table.names.get(s.opponent).is_empty() && strength().is_none()
    };
    let share = samples.iter().filter(is_unknown).count() as f64 / samples.len().max(1) as f64;
    (share > MANY_UNKNOWN).then(|| Warning {
        kind: WarningKind::UnknownOpponents,
        text: text!(
            "{:.0}% of the samples are against opponents without a rating and with few games, so that nothing says \
             how strong they are: 1/w1 can be too large by a third; use records with ratings, or more games of each \
             opponent",
            100.0 * share
        ),
    })
}

/// Warnings about a calibration that was fitted.
pub(super) fn of_calibration(calibration: &Calibration, result: &EngineResult) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = many_draws(calibration).into_iter().collect();
    for doubt in &calibration.doubts {
        let (kind, text) = match doubt {
            Doubt::WorseThanConstant | Doubt::SlopeOff | Doubt::Miscalibrated => {
                warnings.extend(out_of_sample(calibration, *doubt));
                continue;
            }
            // a fold showed it, and was reported
            Doubt::SlopeMayBeZero if result.warnings.iter().any(|w| w.kind == WarningKind::SlopeMayBeZero) => continue,
            Doubt::SlopeMayBeZero => {
                let (w1, half) = calibration.slope().unwrap_or_default();
                let shown = |w1: f64| number(1e3 * w1, 2);
                let text = text!(
                    "w1 · 1000 is {} [{}, {}]: the {} games do not show whether a higher score is better; \
                    add games",
                    shown(w1),
                    shown(w1 - half),
                    shown(w1 + half),
                    result.games
                );
                (WarningKind::SlopeMayBeZero, text)
            }
            Doubt::ManyLapses => {
                let share = calibration.lapses().map_or(f64::NAN, |lapses| lapses.value);
                let (percent, lapse) = (100.0 * share, 0.5 * share);
                let text = text!(
                    "{percent:.0}% of the results follow no score (lapse {lapse:.3} on either side): look for losses \
                     on time, games that were cut, and wrong results; `terminations` board keeps only \
                     games that were decided on the board"
                );
                (WarningKind::ManyLapses, text)
            }
            // reported by a warning of its own, or shown by the table
            Doubt::SignInverted
            | Doubt::NoCentipawns
            | Doubt::Adjudicated
            | Doubt::CutScores
            | Doubt::Conflict
            | Doubt::Misshapen
            | Doubt::OneSided
            | Doubt::WideInterval => continue,
            // no doubt of a fit
            _ => continue,
        };
        warnings.push(Warning { kind, text });
    }
    warnings
}

/// A warning of many draws in a model that takes them for half a win.
fn many_draws(calibration: &Calibration) -> Option<Warning> {
    let draws = calibration.curve.as_ref().map_or(0.0, draws_of);
    let text = match (calibration.drawn(), calibration.lapses()) {
        (Some(drawn), _) if drawn > MANY_LAPSES => {
            let [low, high] = calibration.limits(Reading::Equal).map(|rate| 100.0 * rate);
            let drawn = 100.0 * draws;
            Some(text!(
                "{drawn:.0}% of the results are draws, many of them at large scores; a draw counts as half a win, so \
                 that win rates stay between {low:.0}% and {high:.0}%"
            ))
        }
        (None, Some(Estimate { value, interval: Some([low, _]) })) if low > MANY_LAPSES && draws > MANY_LAPSES => {
            let (percent, drawn) = (100.0 * value, 100.0 * draws);
            Some(text!(
                "{percent:.0}% of the results follow no score, and {drawn:.0}% are draws: a draw counts as half a win \
                 at any score; the model wdl fits draws by themselves"
            ))
        }
        _ => None,
    };
    let text = text.filter(|_| !calibration.doubts.contains(&Doubt::ManyLapses));
    text.map(|text| Warning { kind: WarningKind::ManyDraws, text })
}

/// A warning of what the games show that the fit has not seen.
fn out_of_sample(calibration: &Calibration, doubt: Doubt) -> Option<Warning> {
    let kind = calibration.model.kind;
    let scores = calibration.proper_scores.as_ref();
    let shown = |e: &Estimate| match e.interval {
        Some([low, high]) => format!("{} [{}, {}]", number(e.value, 2), number(low, 2), number(high, 2)),
        None => number(e.value, 2),
    };
    let (kind, text) = match doubt {
        Doubt::WorseThanConstant => {
            let value = |e: Option<&Estimate>| e.map_or(f64::NAN, |e| e.value);
            let (own, constant) = (scores.map(|s| &s.log_loss), scores.and_then(|s| s.baselines.get(&CONSTANT)));
            let text = text!(
                "on unseen games the log loss of {kind} is {:.3}, worse than the {:.3} of knowing no score at \
                all: look for wrong signs, for scores that are no centipawns, and for lost games with large \
                scores; or add games",
                value(own),
                value(constant)
            );
            (WarningKind::WorseThanConstant, text)
        }
        Doubt::SlopeOff => {
            let slope = scores.and_then(|s| s.slope).map_or_else(String::new, |slope| shown(&slope));
            let text = text!(
                "on unseen games the slope of the results on the forecasts of {kind} is {slope}, outside {} to {}: \
                 below 1 the win rates are too bold, above too cautious; look at the plot, and try `model` auto",
                SLOPES[0],
                SLOPES[1]
            );
            (WarningKind::SlopeOff, text)
        }
        Doubt::Miscalibrated => {
            let error = scores.and_then(|s| s.ece).map_or_else(String::new, |error| shown(&error));
            let text = text!(
                "on unseen games the calibration error of {kind} is {error}, above {LARGEST_ERROR}: look at the \
                 plot, and try `model` auto"
            );
            (WarningKind::Miscalibrated, text)
        }
        _ => return None,
    };
    Some(Warning { kind, text })
}

const CONSTANT: ModelKind = ModelKind::Constant;
/// The slope of results on forecasts is off where its interval is outside this range.
const SLOPES: [f64; 2] = [0.8, 1.25];
/// A calibration error above this is too large.
const LARGEST_ERROR: f64 = 0.1;
/// With fewer samples of won or of lost games, and for a verdict with fewer such games, the slope rests on the
/// strengths of the players alone: one lost game among 1,500, with scores that mean nothing, had a constant that looked
/// good in 13 of 30 cases.
pub(crate) const LEAST_DECIDED: u64 = 10;
/// A share of results that follow no score above this is too large.
const MANY_LAPSES: f64 = 0.1;

/// The share of drawn samples.
fn draws_of(curve: &Curve) -> f64 {
    let [wins, draws, losses] = curve.results().map(|n| n as f64);
    draws / (wins + draws + losses).max(1.0)
}

/// What speaks against a calibration, the worst first.
pub(super) fn doubts(calibration: &Calibration, warnings: &[Warning], rows_as_games: bool) -> Vec<Doubt> {
    let scores = calibration.proper_scores.as_ref();
    let slope = calibration.slope();
    let ends = |e: Option<Estimate>| e.and_then(|e| e.interval);
    // where draws come at any score, each of them is half a win and half a loss that follow none; some models know
    let known = calibration.drawn().is_some();
    let draws = calibration.curve.as_ref().filter(|_| !known).map_or(0.0, draws_of);
    let constant = scores.and_then(|s| Some((s.log_loss.value, s.baselines.get(&CONSTANT)?.value)));
    let warned = |kind| warnings.iter().any(|warning| warning.kind == kind);
    let is_one_sided = |curve: &Curve| {
        let [wins, _, losses] = curve.results();
        wins.min(losses) < LEAST_DECIDED
    };
    let all = [
        (Doubt::SignInverted, warned(WarningKind::SignInverted) || warned(WarningKind::MixedSigns)),
        (Doubt::NoCentipawns, warned(WarningKind::ScoreUnit)),
        (Doubt::WorseThanConstant, constant.is_some_and(|(own, constant)| own > constant)),
        (Doubt::Adjudicated, warned(WarningKind::Adjudicated)),
        (Doubt::CutScores, warned(WarningKind::CutScores)),
        (Doubt::ManyLapses, ends(calibration.lapses()).is_some_and(|[low, _]| low > MANY_LAPSES + draws)),
        (Doubt::SlopeMayBeZero, slope.is_some_and(|(w1, half)| w1 <= half) || warned(WarningKind::SlopeMayBeZero)),
        (Doubt::Conflict, warned(WarningKind::Conflict)),
        (Doubt::Misshapen, warned(WarningKind::Misshapen)),
        (Doubt::OneSided, calibration.curve.as_ref().is_some_and(is_one_sided)),
        (Doubt::WideInterval, slope.is_some_and(|(w1, half)| w1 + half > 2.0 * (w1 - half))),
        (
            Doubt::SlopeOff,
            ends(scores.and_then(|s| s.slope)).is_some_and(|[low, high]| high < SLOPES[0] || low > SLOPES[1]),
        ),
        (Doubt::Miscalibrated, ends(scores.and_then(|s| s.ece)).is_some_and(|[low, _]| low > LARGEST_ERROR)),
        (Doubt::UnknownOpponents, warned(WarningKind::UnknownOpponents)),
        (Doubt::RowsAsGames, rows_as_games),
    ];
    all.into_iter().filter(|(_, holds)| *holds).map(|(doubt, _)| doubt).collect()
}
