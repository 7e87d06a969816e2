//! Why the two fits of one engine differ, in words.

use super::{BothFits, Estimate, Kind, Row, Slope};
use crate::calibration::MatePolicy;

/// A significant difference of the slopes by more than this factor is explained.
const WORTH_EXPLAINING: f64 = 1.05;

/// A difference of the slopes by more than this factor is explained regardless of its interval: one sample may dominate
/// a fit, and then its interval is wide.
const FAR_APART: f64 = 1.5;

/// Slopes agree if the interval of their ratio is within this factor.
const NEAR: f64 = 1.25;

/// The conclusion for one engine.
pub(super) struct Verdict {
    pub text: String,
    pub differ: bool,
    pub mates_matter: bool,
    pub driver: Option<usize>,
}

/// The cause of the difference in words, and its row.
pub(super) fn verdict(all: &BothFits, lse: Slope, mle: Slope, rows: &[Row], policy: MatePolicy) -> Verdict {
    let gap = |fits: &BothFits| fits.ratio.map(|r| libm::log(r.value).abs());
    let slopes = |fits: &BothFits| match (&fits.least_squares, &fits.maximum_likelihood) {
        (Ok(a), Ok(b)) => format!("{:.6} by least squares and {:.6} by maximum likelihood", a.w1, b.w1),
        _ => "not fitted".to_owned(),
    };
    let before = libm::log(lse.w1 / mle.w1).abs();
    let beyond_chance = all.ratio.is_some_and(|r| r.excludes(1.0));
    let differ = (beyond_chance && before > libm::log(WORTH_EXPLAINING)) || before > libm::log(FAR_APART);
    let with_mates = || {
        let row = rows.iter().find(|r| r.added && r.kind == Kind::Mates)?;
        let kept = gap(&row.fits)?;
        // mates matter if slopes differ only with them
        if kept < 2.0 * before || kept < 2.0 * libm::log(WORTH_EXPLAINING) {
            return None;
        }
        let mut text = format!(" With the {} mates kept it would be {}", row.group, slopes(&row.fits));
        if let Some(right) = rows.iter().find(|r| r.kind == Kind::WrongSidedMates)
            && gap(&right.fits)? <= kept / 2.0
        {
            let wrong = row.group - right.group;
            let words = if wrong == 1 { "one of them that is" } else { "of them that are" };
            let count = if wrong == 1 { String::new() } else { format!("{wrong} ") };
            text += &format!("; the {count}{words} wrong-sided (announced, and the game did not end so) do it");
        }
        Some(text + ". Leave mates out, as the default does.")
    };
    let mates = with_mates();
    let mates_matter = mates.is_some();
    let conclude = |text: String, driver| Verdict {
        text: text + mates.as_deref().unwrap_or_default(),
        differ,
        mates_matter,
        driver,
    };
    let head = format!("w1 is {} ({} samples).", slopes(all), all.samples);
    if !differ {
        let near = |r: &Estimate| r.low > 1.0 / NEAR && r.high < NEAR;
        let text = match all.ratio.as_ref().filter(|r| !near(r)) {
            Some(r) => format!("No significant difference (ratio between {:.2} and {:.2}): {head}", r.low, r.high),
            None => format!("The two fits agree: {head}"),
        };
        return conclude(text, None);
    }
    let head = match all.ratio.as_ref().filter(|r| !r.excludes(1.0)) {
        Some(r) => format!("{head} That may be chance (ratio between {:.2} and {:.2}).", r.low, r.high),
        None => head,
    };
    let halves = |i: &usize| {
        let row = &rows[*i];
        !row.added && gap(&row.fits).is_some_and(|now| now <= before / 2.0)
    };
    let specific = |r: &Row| !matches!(r.kind, Kind::Termination | Kind::Opponent | Kind::Phase);
    let first = (0..rows.len()).filter(|i| specific(&rows[*i])).find(halves);
    // of the large groups, the one without which the difference is smallest
    let driver = first.or_else(|| {
        let left = |i: &usize| gap(&rows[*i].fits).unwrap_or(f64::INFINITY);
        (0..rows.len()).filter(halves).min_by(|a, b| left(a).total_cmp(&left(b)))
    });
    let Some(index) = driver else {
        let text = format!(
            "{head} No one group of samples explains it: a sigmoid does not fit these scores well. Look at the \
             evaluation curve and the reliability diagram; least squares follows the middle, maximum likelihood the \
             ends."
        );
        return conclude(text, None);
    };
    let row = &rows[index];
    let share = 100.0 * row.group as f64 / all.samples as f64;
    let advice = match row.kind {
        Kind::WrongSidedMates | Kind::Mates if policy == MatePolicy::Keep => {
            "Mates are no evaluations: leave them out (--mate-policy exclude)."
        }
        Kind::WrongSidedMates | Kind::Mates => "Mates are no evaluations: leave them out.",
        Kind::SurprisingDraws => "See how these games were drawn; --draws drop leaves drawn games out.",
        Kind::OffBoard => "Their results say little about the position: leave them out with --terminations board.",
        Kind::Outermost => {
            "Large scores that did not win dominate maximum likelihood: look for a wrong --mate-threshold, or use \
             least squares."
        }
        Kind::Termination => "See how these games ended; --terminations leaves them out.",
        Kind::Opponent => "See whether this opponent is of another strength; --model strength takes it into account.",
        Kind::Phase => "Scores mean another win rate in this phase; --model phase takes it into account.",
    };
    let text = format!(
        "{head} {} the difference: {}. Without {} w1 is {}. {advice}",
        if row.group == 1 {
            format!("1 sample ({share:.1}%) makes")
        } else {
            format!("{} samples ({share:.1}%) make", row.group)
        },
        row.label,
        if row.group == 1 { "it" } else { "them" },
        slopes(&row.fits)
    );
    conclude(text, Some(index))
}
