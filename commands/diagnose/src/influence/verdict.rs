//! Why the two fits of one engine differ, in words.

use evalcurve_fit::calibration::MatePolicy;
use evalcurve_words::language::Text;
use evalcurve_words::text;

use super::{BothFits, Estimate, Kind, Row, Slope};

/// A significant difference of the slopes by more than this factor is explained.
const WORTH_EXPLAINING: f64 = 1.05;

/// A difference of the slopes by more than this factor is explained regardless of its interval: one sample may dominate
/// a fit, and then its interval is wide.
const FAR_APART: f64 = 1.5;

/// Slopes agree if the interval of their ratio is within this factor.
const NEAR: f64 = 1.25;

/// The conclusion for one engine.
pub(super) struct Verdict {
    pub text: Text,
    pub differ: bool,
    pub mates_matter: bool,
    pub driver: Option<usize>,
}

/// The slopes of both fits.
fn slopes(fits: &BothFits) -> Text {
    match (&fits.least_squares, &fits.maximum_likelihood) {
        (Ok(a), Ok(b)) => text!("{:.6} by least squares and {:.6} by maximum likelihood", a.w1, b.w1),
        _ => text!("not fitted"),
    }
}

/// The logarithm of the ratio of the slopes, without its sign.
fn gap(fits: &BothFits) -> Option<f64> {
    fits.ratio.map(|r| libm::log(r.value).abs())
}

/// What mates do if they are kept; `None` if the slopes differ as much without them, by `before`.
fn with_mates(rows: &[Row], before: f64) -> Option<Text> {
    let row = rows.iter().find(|r| r.added && r.kind == Kind::Mates)?;
    let kept = gap(&row.fits)?;
    if kept < 2.0 * before || kept < 2.0 * libm::log(WORTH_EXPLAINING) {
        return None;
    }
    let both = slopes(&row.fits);
    let mut text = text!(" With the {} mates kept it would be {both}", row.group);
    if let Some(right) = rows.iter().find(|r| r.kind == Kind::WrongSidedMates)
        && gap(&right.fits)? <= kept / 2.0
    {
        let wrong = row.group - right.group;
        text.push(&match wrong {
            1 => text!("; the one of them that is wrong-sided (announced, and the game did not end so) do it"),
            _ => text!("; the {wrong} of them that are wrong-sided (announced, and the game did not end so) do it"),
        });
    }
    text.push(&text!(". Leave mates out, as the default does."));
    Some(text)
}

/// The group without which the slopes differ by less than half of `before`: the first specific one, or of the large
/// groups the one without which the difference is smallest.
fn driver(rows: &[Row], before: f64) -> Option<usize> {
    let halves = |i: &usize| {
        let row = &rows[*i];
        !row.added && gap(&row.fits).is_some_and(|now| now <= before / 2.0)
    };
    let specific = |r: &Row| !matches!(r.kind, Kind::Termination | Kind::Opponent | Kind::Phase);
    let first = (0..rows.len()).filter(|i| specific(&rows[*i])).find(halves);
    first.or_else(|| {
        let left = |i: &usize| gap(&rows[*i].fits).unwrap_or(f64::INFINITY);
        (0..rows.len()).filter(halves).min_by(|a, b| left(a).total_cmp(&left(b)))
    })
}

/// What to do about a group that makes the slopes differ.
fn advice(kind: Kind, policy: MatePolicy) -> Text {
    match kind {
        Kind::WrongSidedMates | Kind::Mates if policy == MatePolicy::Keep => {
            text!("Mates are no evaluations: leave them out (`mate-policy` exclude).")
        }
        Kind::WrongSidedMates | Kind::Mates => {
            text!("Mates are no evaluations: leave them out.")
        }
        Kind::SurprisingDraws => text!("See how these games were drawn; `draws` drop leaves drawn games out."),
        Kind::OffBoard => {
            text!("Their results say little about the position: leave them out with `terminations` board.")
        }
        Kind::Outermost => text!(
            "Large scores that did not win dominate maximum likelihood: look for a wrong `mate-threshold`, or use \
             least squares."
        ),
        Kind::Termination => text!("See how these games ended; `terminations` leaves them out."),
        Kind::Opponent => {
            text!("See whether this opponent is of another strength; `model` joint takes it into account.")
        }
        Kind::Phase => text!("Scores mean another win rate in this phase; `model` phase takes it into account."),
    }
}

/// The cause of the difference in words, and its row.
pub(super) fn verdict(all: &BothFits, lse: Slope, mle: Slope, rows: &[Row], policy: MatePolicy) -> Verdict {
    let before = libm::log(lse.w1 / mle.w1).abs();
    let beyond_chance = all.ratio.is_some_and(|r| r.excludes(1.0));
    let differ = (beyond_chance && before > libm::log(WORTH_EXPLAINING)) || before > libm::log(FAR_APART);
    let mates = with_mates(rows, before);
    let mates_matter = mates.is_some();
    let conclude = |mut text: Text, driver| {
        text.push(&mates.clone().unwrap_or_default());
        Verdict { text, differ, mates_matter, driver }
    };
    let both = slopes(all);
    let mut head = text!("w1 is {both} ({} samples).", all.samples);
    if !differ {
        let near = |r: &Estimate| r.low > 1.0 / NEAR && r.high < NEAR;
        let mut text = match all.ratio.as_ref().filter(|r| !near(r)) {
            Some(r) => text!("No significant difference (ratio between {:.2} and {:.2}): ", r.low, r.high),
            None => text!("The two fits agree: "),
        };
        text.push(&head);
        return conclude(text, None);
    }
    if let Some(r) = all.ratio.as_ref().filter(|r| !r.excludes(1.0)) {
        head.push(&text!(" That may be chance (ratio between {:.2} and {:.2}).", r.low, r.high));
    }
    let Some(index) = driver(rows, before) else {
        head.push(&text!(
            " No one group of samples explains it: a sigmoid does not fit these scores well. Look at the evaluation \
             curve and the reliability diagram; least squares follows the middle, maximum likelihood the ends."
        ));
        return conclude(head, None);
    };
    let row = &rows[index];
    let share = 100.0 * row.group as f64 / all.samples as f64;
    let advice = advice(row.kind, policy);
    let rest = slopes(&row.fits);
    let label = &row.label;
    head.push(&match row.group {
        1 => text!(" 1 sample ({share:.1}%) makes the difference: {label}. Without it w1 is {rest}. {advice}"),
        n => text!(" {n} samples ({share:.1}%) make the difference: {label}. Without them w1 is {rest}. {advice}"),
    });
    conclude(head, Some(index))
}
