//! Checks of an engine's samples and of its two fits.

use std::collections::BTreeSet;

use evalcurve_calibration::types::{Outcome, Termination};
use evalcurve_fit::calibration::MatePolicy;
use evalcurve_fit::fit::{
    Case, Fit, FitOptions, Method, Model, ModelKind, Observation, ScoreCounts, contradictions, drawn, fit_counts,
    fit_model, lapse_test, median_size, unexplained,
};
use evalcurve_fit::normal::quantile_95;
use evalcurve_records::sample::{Sample, SampleTable, Terminations};
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;

use super::{Warning, WarningKind};
use crate::calibrate::mates::is_wrong_sided;
use crate::calibrate::{CalibrateOptions, EngineResult};

/// Fewest samples from which a unit is guessed.
const UNIT_SAMPLES: usize = 30;
/// No engine's centipawns stay within so many over a whole game.
const PAWNS: u32 = 40;
/// Pawns beside centipawns: of so many scores of the engine ...
const MOST_ARE_PAWNS: f64 = 0.9;
/// ... and the opponents' neighbouring scores are this many times as large.
const PAWNS_RATIO: f64 = 25.0;

/// Scores that cannot be centipawns: win rates from 0 to 1 or 0 to 100, pawns.
pub(super) fn score_unit(table: &SampleTable, samples: &[Sample]) -> Option<Warning> {
    let scores = || samples.iter().filter(|s| !s.mate).map(|s| s.score_cp);
    let (low, high) = (scores().min()?, scores().max()?);
    let count = scores().count();
    if count < UNIT_SAMPLES || low == high {
        return None;
    }
    let small = scores().filter(|cp| cp.unsigned_abs() <= PAWNS).count();
    let ratio = (small as f64 >= MOST_ARE_PAWNS * count as f64).then(|| ratio_to_opponents(samples)).flatten();
    if let Some(ratio) = ratio.filter(|ratio| *ratio >= PAWNS_RATIO) {
        let name = samples.first().map_or("", |sample| table.names.get(sample.engine));
        let text = text!(
            "its scores are pawns beside centipawns: those of its opponents at the next move are {ratio:.0} times as \
             large on average; multiply them by 100, in a table by `score-unit` \"{name}=pawn\""
        );
        return Some(Warning { kind: WarningKind::ScoreUnit, text });
    }
    let looks = if low >= 0 && high <= 1 {
        text!("win rates from 0 to 1")
    } else if low >= -1 && high <= 1 {
        text!("results or win rates from -1 to 1")
    } else if low >= 0 && high <= 100 {
        text!("win rates in percent")
    } else if small == count || small as f64 >= MOST_ARE_PAWNS * count as f64 && are_mates(scores()) {
        text!("pawns")
    } else {
        return None;
    };
    let text = text!(
        "all scores lie from {low} to {high}: they look like {looks}, not like centipawns, and were cut to whole \
         numbers; \
         write centipawns into the records or the table (a win rate p is 600 ln(p / (1 - p)) centipawns, a pawn is 100)"
    );
    Some(Warning { kind: WarningKind::ScoreUnit, text })
}

/// Mates in pawns, such as 100 or 327.67, have this size at least, and only so many different ones.
const PAWNS_OF_MATES: u32 = 90;
const MATES_IN_PAWNS: usize = 12;

/// Whether the scores that are too large for pawns are mates.
fn are_mates(scores: impl Iterator<Item = i32>) -> bool {
    let beyond: BTreeSet<u32> = scores.map(i32::unsigned_abs).filter(|size| *size > PAWNS).collect();
    beyond.first().is_none_or(|least| *least >= PAWNS_OF_MATES) && beyond.len() <= MATES_IN_PAWNS
}

/// The mean size of the opponents' replies over that of the scores that they reply to, sizes cut at their median;
/// `None` with few replies.
fn ratio_to_opponents(samples: &[Sample]) -> Option<f64> {
    let replied: Vec<(i32, i32)> = samples.iter().filter_map(|s| Some((s.score_cp, s.reply_cp?))).collect();
    let size = |of: fn(&(i32, i32)) -> i32| {
        let most = median_size(replied.iter().map(of));
        replied.iter().map(|pair| f64::from(of(pair).saturating_abs().min(most))).sum::<f64>()
    };
    (replied.len() >= UNIT_SAMPLES / 2).then(|| size(|pair| pair.1) / size(|pair| pair.0).max(1.0))
}

/// A warning about zeros needs this share of the samples ...
const ZEROS_SHARE: f64 = 0.05;
/// ... and this many ...
const ZEROS: usize = 20;
/// ... and zeros this many times as frequent as the scores around them.
const ZEROS_EXCESS: f64 = 10.0;
/// The scores around them, centipawns.
const AROUND_ZERO: u32 = 20;

/// Many scores of exactly 0 early in the games: book moves, written as evaluations.
pub(super) fn book_zeros(samples: &[Sample], options: &CalibrateOptions) -> Option<Warning> {
    let zeros: Vec<&Sample> = samples.iter().filter(|s| s.score_cp == 0).collect();
    if zeros.len() < ZEROS || zeros.len() == samples.len() || (zeros.len() as f64) < ZEROS_SHARE * samples.len() as f64
    {
        return None;
    }
    let near = samples.iter().filter(|s| s.score_cp != 0 && s.score_cp.unsigned_abs() <= AROUND_ZERO).count();
    // a score next to 0 has as many samples as 0, were it not special
    if (zeros.len() as f64) < ZEROS_EXCESS * (near as f64 / f64::from(2 * AROUND_ZERO)).max(0.5) {
        return None;
    }
    let median = |plies: &mut Vec<u32>| {
        plies.sort_unstable();
        plies.get(plies.len() / 2).copied()
    };
    let of_zeros = median(&mut zeros.iter().map(|s| s.ply).collect())?;
    let of_others = median(&mut samples.iter().filter(|s| s.score_cp != 0).map(|s| s.ply).collect())?;
    let (n, percent) = (zeros.len(), 100.0 * zeros.len() as f64 / samples.len() as f64);
    let text = if of_zeros < of_others {
        text!(
            "{n} of {} scores ({percent:.0}%) are exactly 0, half of them up to ply {of_zeros} (the others: \
            {of_others}): these look like moves from a book; leave them out with `where` \"score_cp != 0\" or start \
            later than ply {} (`from-ply`)",
            samples.len(),
            options.sampling.from_ply
        )
    } else {
        text!(
            "{n} of {} scores ({percent:.0}%) are exactly 0, late in the games as well: if they are repetitions this \
            is right; if they mean that there is no score, leave them out with `where` \"score_cp != 0\"",
            samples.len()
        )
    };
    Some(Warning { kind: WarningKind::BookZeros, text })
}

/// A threshold that evaluations reach: scores on both sides of it, without a gap.
pub(super) fn threshold_in_evaluations(result: &EngineResult, samples: &[Sample]) -> Option<Warning> {
    let threshold = result.mates.threshold_cp;
    let largest = result.mates.largest_cp_left?;
    let sizes = samples.iter().map(|s| s.score_cp.unsigned_abs());
    // mates of a program that counts down from the threshold are all of nearly one size; evaluations thin out
    let beyond = sizes.filter(|s| (threshold..threshold.saturating_add(threshold / 4)).contains(s));
    let beyond: BTreeSet<u32> = beyond.collect();
    let lowest = *beyond.first()?;
    let spread = beyond.last()? - lowest;
    let no_gap = lowest - largest.min(lowest) < (threshold / 20).max(50);
    if beyond.len() < 5 || !no_gap || spread < threshold / 10 {
        return None;
    }
    let text = text!(
        "the mate threshold {threshold} cuts through evaluations: {} different scores lie just beyond it, from \
        {lowest} on, and {largest} just below; use a larger `mate-threshold` \"{}=CP\" or auto",
        beyond.len(),
        result.name
    );
    Some(Warning { kind: WarningKind::ThresholdInEvaluations, text })
}

/// Most mates contradict the result: their sign is inverted, or they are no mates.
pub(super) fn mates_inverted(result: &EngineResult, samples: &[Sample]) -> Option<Warning> {
    let decided = |s: &&Sample| s.mate && s.outcome != Outcome::Draw;
    let (all, wrong) =
        (samples.iter().filter(decided).count(), samples.iter().filter(decided).filter(|s| is_wrong_sided(s)).count());
    if all < 10 || 2 * wrong <= all {
        return None;
    }
    let text = text!(
        "{wrong} of {all} mates in decided games are wrong-sided: the sign of mates looks inverted, or scores from \
        {} on are no mates; check the records, or raise `mate-threshold` \"{}=CP\"",
        result.mates.threshold_cp,
        result.name
    );
    Some(Warning { kind: WarningKind::MatesInverted, text })
}

/// Pearson's correlation of score and result, with scores drawn in to their median size, so that a few large ones
/// decide nothing, and the same in standard errors, clustered by game; `None` where one of them does not vary.
pub(super) fn correlation(samples: &[&Sample]) -> Option<(f64, f64)> {
    let n = samples.len() as f64;
    let limit = median_size(samples.iter().map(|s| s.score_cp));
    let mean = |f: &dyn Fn(&Sample) -> f64| samples.iter().map(|s| f(s)).sum::<f64>() / n;
    let (x, y) = (|s: &Sample| f64::from(s.score_cp.clamp(-limit, limit)), |s: &Sample| s.outcome.value());
    let (mx, my) = (mean(&x), mean(&y));
    let sum = |f: &dyn Fn(&Sample) -> f64| samples.iter().map(|s| f(s)).sum::<f64>();
    let (sxx, syy) = (sum(&|s| (x(s) - mx).powi(2)), sum(&|s| (y(s) - my).powi(2)));
    let of_game = |game: &[&Sample]| game.iter().map(|s| (x(s) - mx) * (y(s) - my)).sum::<f64>();
    let games = samples.chunk_by(|a, b| a.game == b.game).map(of_game);
    let (sxy, squares) = games.fold((0.0, 0.0), |(sum, squares), g| (sum + g, squares + g * g));
    (sxx > 0.0 && syy > 0.0 && squares > 0.0).then(|| (sxy / (sxx * syy).sqrt(), sxy / squares.sqrt()))
}

/// An own slope differs from the joint one by more than chance at this level, divided by the engines of the fit.
const CONFLICT_BY_CHANCE: f64 = 0.01;

/// The joint fit gives an engine a slope that its own games contradict.
pub(super) fn conflict(result: &EngineResult, options: &CalibrateOptions) -> Option<Warning> {
    let fit = result.models.get(&options.model)?.as_ref().ok()?;
    let (own, Model::Joint(joint)) = (fit.alone?, &fit.model) else { return None };
    let apart = own.w1 <= 0.0 || libm::log(own.w1 / joint.w1).abs() > libm::log(SLOPES_APART);
    if !apart || own.p_value * result.fitted_together() as f64 > CONFLICT_BY_CHANCE {
        return None;
    }
    let constant = |w1: f64| if w1 > 0.0 { format!("{:.0}", 1.0 / w1) } else { "–".to_owned() };
    let (alone, together) = (constant(own.w1), constant(joint.w1));
    let [own_lapse, lapse] = [own.lapse, joint.lapse].map(|share| 200.0 * share);
    let text = text!(
        "1/w1 is {together} in the fit with the other engines and {alone} by its own games, where {own_lapse:.0}% of \
        the results follow no score and not {lapse:.0}%: look for games with the wrong sign, another unit or wrong \
        results, or calibrate it in a run of its own"
    );
    Some(Warning { kind: WarningKind::Conflict, text })
}

/// The fit with the other engines had no minimum.
pub(super) fn apart(result: &EngineResult, options: &CalibrateOptions) -> Option<Warning> {
    let fit = result.models.get(&options.model)?.as_ref().ok()?;
    let text = text!(
        "the fit together with the other engines did not converge: this engine is fitted by itself, with strengths of \
         its own; look for a wrong mate threshold or outlying scores"
    );
    fit.strengths.as_ref()?.is_apart().then_some(Warning { kind: WarningKind::FittedApart, text })
}

/// A warning is given where the slope by one method is this many times the other's and outside its interval.
const SLOPES_APART: f64 = 1.25;

/// The two methods give slopes that are far apart: which samples cause it?
///
/// Both are fitted again without one group of samples after the other; the first group without which at least half of
/// the gap (of the logarithms of the slopes) is gone is named.
pub(super) fn disagreement(
    table: &SampleTable,
    result: &EngineResult,
    samples: &[Sample],
    observations: &[Observation],
    options: &CalibrateOptions,
) -> Option<Warning> {
    let (lse, mle) = (result.fit(Method::LeastSquares).ok()?, result.fit(Method::MaximumLikelihood).ok()?);
    let gap = |lse: f64, mle: f64| libm::log(lse / mle).abs();
    let before = gap(lse.sigmoid.w1, mle.sigmoid.w1);
    let holds = |fit: &Fit, w1: f64| fit.w1().interval.is_some_and(|[low, high]| low <= w1 && w1 <= high);
    let by_chance = holds(lse, mle.sigmoid.w1) || holds(mle, lse.sigmoid.w1);
    if before < libm::log(SLOPES_APART) {
        return None;
    }
    let large = outermost(observations);
    type Group<'a> = (Text, bool, &'a dyn Fn(&Sample) -> bool);
    let groups: [Group<'_>; 3] = [
        (text!("wrong-sided mates (a win announced and not won, or a loss and not lost)"), true, &|s| {
            s.mate && is_wrong_sided(s)
        }),
        (text!("mates"), true, &|s| s.mate),
        (text!("among the outermost 1%"), false, &|s| s.score_cp.unsigned_abs() >= large),
    ];
    let mut head =
        text!("w1 is {:.6} by least squares and {:.6} by maximum likelihood", lse.sigmoid.w1, mle.sigmoid.w1);
    // `observations` are the samples less excluded mates, in the same order
    let used: Vec<&Sample> =
        samples.iter().filter(|s| !(s.mate && options.mate_policy == MatePolicy::Exclude)).collect();
    for (name, are_mates, belongs) in groups {
        // next to mates, results that follow no score are the usual cause
        if !are_mates && let Some(why) = lapses(table, &used, observations, mle.mean_loss, options) {
            head.push(&why);
            return Some(Warning { kind: WarningKind::MethodsDisagree, text: head });
        }
        let rest: Vec<Observation> =
            observations.iter().zip(&used).filter(|(_, s)| !belongs(s)).map(|(o, _)| *o).collect();
        let left_out = observations.len() - rest.len();
        // mates are reported even where the intervals are wide, since mates are what widens them
        if left_out == 0 || (by_chance && !are_mates) {
            continue;
        }
        let Some((a, b)) = slopes(&rest, options.min_samples) else { continue };
        if gap(a, b) <= before / 2.0 {
            let all = observations.len();
            head.push(&text!(
                "; the samples that make the difference are the {left_out} of {all} that are {name}: without them \
                 {a:.6} and {b:.6}"
            ));
            return Some(Warning { kind: WarningKind::MethodsDisagree, text: head });
        }
    }
    if by_chance {
        return None;
    }
    head.push(&text!(
        ", and no single group of samples explains it: a sigmoid does not fit well; look at the plot of the curve"
    ));
    Some(Warning { kind: WarningKind::MethodsDisagree, text: head })
}

/// The slopes by least squares and by maximum likelihood.
fn slopes(seen: &[Observation], min_samples: u64) -> Option<(f64, f64)> {
    let counts = ScoreCounts::from_observations(seen);
    let options = FitOptions { min_samples, ..FitOptions::default() };
    let w1 = |method| fit_counts(method, &counts, &options).ok().map(|f| f.sigmoid.w1);
    Some((w1(Method::LeastSquares)?, w1(Method::MaximumLikelihood)?))
}

/// The size of the score that 1% of the samples reach.
fn outermost(seen: &[Observation]) -> u32 {
    let mut sizes: Vec<u32> = seen.iter().map(|o| o.score_cp.unsigned_abs()).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() * 99 / 100).copied().unwrap_or(u32::MAX)
}

/// A fit with lapses is better by more than chance at this level.
const LAPSES_BY_CHANCE: f64 = 0.01;

/// The share of results that follow no score, where it explains why the methods disagree. `plain` is the mean loss of
/// maximum likelihood.
fn lapses(
    table: &SampleTable,
    samples: &[&Sample],
    observations: &[Observation],
    plain: f64,
    options: &CalibrateOptions,
) -> Option<Text> {
    let cases: Vec<Case> = observations.iter().map(Case::from).collect();
    let fit_options = FitOptions { min_samples: options.min_samples, ..FitOptions::default() };
    let fit = fit_model(ModelKind::Lapse, &cases, &fit_options).ok()?;
    if lapse_test(&fit, plain).p_value >= LAPSES_BY_CHANCE {
        return None;
    }
    let Model::Lapse(model) = fit.model else { return None };
    let share = 200.0 * model.lapse;
    if drawn(&model, &cases) > model.lapse {
        let draws = observations.iter().filter(|o| o.outcome == Outcome::Draw).count();
        let drawn = 100.0 * draws as f64 / observations.len() as f64;
        return Some(text!(
            "; {drawn:.0}% of the results are draws, which count as half a win at any score: the model wdl fits draws \
             by themselves"
        ));
    }
    let half = 200.0 * quantile_95(fit.games) * fit.standard_errors()?.get(2)?;
    let largest = contradictions(&cases).first().map_or_else(Text::default, |case| {
        text!(" (the largest score that the result contradicts: {} in game {:016x})", case.score_cp, case.game)
    });
    let endings: Vec<Termination> =
        samples.iter().map(|s| table.game(s).map_or(Termination::Unknown, |g| g.termination)).collect();
    let cause = match off_board(&endings, &unexplained(&model, &cases)) {
        Some(mut words) => {
            words.push(&text!(" (leave them out with `terminations` board)"));
            words
        }
        None => text!("look for losses on time, crashes and games that were cut"),
    };
    let remedy = match options.model {
        kind if kind.allows_lapses() => {
            text!("; {kind} allows for them")
        }
        _ => text!(", or use `model` lapse, whose w1 is {:.6}", model.w1),
    };
    // an interval beyond 0 to 100% is left out
    let ends = (share > half && share + half < 100.0).then(|| format!("[{:.1}, {:.1}] ", share - half, share + half));
    let ends = ends.unwrap_or_default();
    let mut text = text!("; about {share:.1}% {ends}of the results follow no score{largest}; ");
    text.push(&cause);
    text.push(&remedy);
    Some(text)
}

/// The part of the lapses in games that the position did not decide, with how they ended; `None` if there are none.
/// `lapsed` has the probability of a lapse for each sample.
fn off_board(endings: &[Termination], lapsed: &[f64]) -> Option<Text> {
    let (mut lapses, mut samples, mut words) = (0.0, 0, Vec::new());
    for &ending in Termination::ALL.iter().filter(|t| !Terminations::is_on_board(**t)) {
        let of_ending = || endings.iter().zip(lapsed).filter(|(e, _)| **e == ending);
        if of_ending().next().is_some() {
            lapses += of_ending().map(|(_, lapse)| lapse).sum::<f64>();
            samples += of_ending().count();
            words.push(ending.to_text());
        }
    }
    let percent = |part: f64, whole: f64| 100.0 * part / whole;
    (samples > 0).then(|| {
        let (share, of_all) = (percent(lapses, lapsed.iter().sum()), percent(samples as f64, endings.len() as f64));
        text!("{share:.0}% of these are in the {of_all:.1}% of the samples whose games ended by {}", Text::list(words))
    })
}
