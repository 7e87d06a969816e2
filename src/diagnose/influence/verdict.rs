//! Why the two fits of one engine differ, in words.

use super::{BothFits, Estimate, Kind, Row, Slope};
use crate::calibration::MatePolicy;
use crate::language::Text;
use crate::text;

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
        (Ok(a), Ok(b)) => text!(
            "{:.6} by least squares and {:.6} by maximum likelihood",
            "最小二乗法で {:.6}、最尤法で {:.6}",
            a.w1,
            b.w1
        ),
        _ => text!("not fitted", "当てはめなし"),
    }
}

/// The cause of the difference in words, and its row.
pub(super) fn verdict(all: &BothFits, lse: Slope, mle: Slope, rows: &[Row], policy: MatePolicy) -> Verdict {
    let gap = |fits: &BothFits| fits.ratio.map(|r| libm::log(r.value).abs());
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
        let both = slopes(&row.fits);
        let mut text = Text::both(
            format!(" With the {} mates kept it would be {}", row.group, both),
            format!("詰み {} 標本を残すと{}", row.group, both.text(crate::language::Language::Japanese)),
        );
        if let Some(right) = rows.iter().find(|r| r.kind == Kind::WrongSidedMates)
            && gap(&right.fits)? <= kept / 2.0
        {
            let wrong = row.group - right.group;
            let words = if wrong == 1 { "one of them that is" } else { "of them that are" };
            let count = if wrong == 1 { String::new() } else { format!("{wrong} ") };
            text.push(&Text::both(
                format!("; the {count}{words} wrong-sided (announced, and the game did not end so) do it"),
                format!("。原因は結果と逆の {wrong} 標本"),
            ));
        }
        text.push(&text!(". Leave mates out, as the default does.", "。既定のとおり詰みは除いてください。"));
        Some(text)
    };
    let mates = with_mates();
    let mates_matter = mates.is_some();
    let conclude = |mut text: Text, driver| {
        text.push(&mates.clone().unwrap_or_default());
        Verdict { text, differ, mates_matter, driver }
    };
    let both = slopes(all);
    let mut head = Text::both(
        format!("w1 is {} ({} samples).", both, all.samples),
        format!("w1 は{}({} 標本)。", both.text(crate::language::Language::Japanese), all.samples),
    );
    if !differ {
        let near = |r: &Estimate| r.low > 1.0 / NEAR && r.high < NEAR;
        let mut text = match all.ratio.as_ref().filter(|r| !near(r)) {
            Some(r) => text!(
                "No significant difference (ratio between {:.2} and {:.2}): ",
                "有意な差なし(比 {:.2}–{:.2}): ",
                r.low,
                r.high
            ),
            None => text!("The two fits agree: ", "二つの当てはめは一致: "),
        };
        text.push(&head);
        return conclude(text, None);
    }
    if let Some(r) = all.ratio.as_ref().filter(|r| !r.excludes(1.0)) {
        head.push(&text!(
            " That may be chance (ratio between {:.2} and {:.2}).",
            "偶然かもしれません(比 {:.2}–{:.2})。",
            r.low,
            r.high
        ));
    }
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
        head.push(&text!(
            " No one group of samples explains it: a sigmoid does not fit these scores well. Look at the evaluation \
             curve and the reliability diagram; least squares follows the middle, maximum likelihood the ends.",
            "一つの群では説明できず、シグモイドがうまく当てはまりません。評価曲線と信頼度図を見てください。最小二乗法は中央に、\
             最尤法は両端に従います。"
        ));
        return conclude(head, None);
    };
    let row = &rows[index];
    let share = 100.0 * row.group as f64 / all.samples as f64;
    let (advice, japanese) = match row.kind {
        Kind::WrongSidedMates | Kind::Mates if policy == MatePolicy::Keep => (
            "Mates are no evaluations: leave them out (--mate-policy exclude).",
            "詰みは評価値ではないので除いてください(--mate-policy exclude)。",
        ),
        Kind::WrongSidedMates | Kind::Mates => {
            ("Mates are no evaluations: leave them out.", "詰みは評価値ではないので除いてください。")
        }
        Kind::SurprisingDraws => (
            "See how these games were drawn; --draws drop leaves drawn games out.",
            "なぜ引き分けたかを見てください。--draws drop で引き分けを除けます。",
        ),
        Kind::OffBoard => (
            "Their results say little about the position: leave them out with --terminations board.",
            "その結果は局面とほぼ無関係です。--terminations board で除いてください。",
        ),
        Kind::Outermost => (
            "Large scores that did not win dominate maximum likelihood: look for a wrong --mate-threshold, or use \
             least squares.",
            "勝てなかった大きい評価値が最尤法を左右しています。--mate-threshold を確かめるか、最小二乗法を使ってください。",
        ),
        Kind::Termination => (
            "See how these games ended; --terminations leaves them out.",
            "なぜ終局したかを見てください。--terminations で除けます。",
        ),
        Kind::Opponent => (
            "See whether this opponent is of another strength; --model strength takes it into account.",
            "この相手の強さが違わないか見てください。--model strength は強さを考慮します。",
        ),
        Kind::Phase => (
            "Scores mean another win rate in this phase; --model phase takes it into account.",
            "この進行度では評価値の意味が違います。--model phase は進行度を考慮します。",
        ),
    };
    let rest = slopes(&row.fits);
    let makes = match row.group {
        1 => format!("1 sample ({share:.1}%) makes"),
        n => format!("{n} samples ({share:.1}%) make"),
    };
    let them = if row.group == 1 { "it" } else { "them" };
    head.push(&Text::both(
        format!(" {makes} the difference: {}. Without {them} w1 is {}. {advice}", row.label, rest),
        format!(
            "原因は {} 標本({share:.1}%): {}。これを除くと w1 は{}。{japanese}",
            row.group,
            row.label.text(crate::language::Language::Japanese),
            rest.text(crate::language::Language::Japanese)
        ),
    ));
    conclude(head, Some(index))
}
