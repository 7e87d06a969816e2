//! Signs and sentinels: scores that are not evaluations, and scores from the wrong view.

use super::{Report, Section};
use crate::calibrate::{EngineResult, Warning};
use crate::plot::PlotError;
use crate::report::model::{Block, Table, folded, p};
use crate::report::text::{first_of, or_dash, thousands};
use crate::{key, say};

pub(super) const SECTION: Section = Section {
    id: "signs",
    words: key!("Signs, mates"),
    title: key!("Signs, mates and other oddities"),
    answers,
    values: |_| None,
    body,
};

/// Warnings that other sections cover.
const ELSEWHERE: [&str; 3] = ["methods_disagree", "not_validated", "ratings_know_the_results"];

fn answers(report: &Report<'_>) -> Vec<String> {
    let language = report.language;
    let kinds = [
        ("sign_inverted", key!("inverted sign")),
        ("mixed_signs", key!("inverted sign in some games")),
        ("adjudicated", key!("games that the scores ended")),
        ("cut_scores", key!("scores cut to one size")),
        ("all_scores_zero", key!("all scores 0")),
        ("score_unit", key!("scores that are not centipawns")),
        ("mates_under_threshold", key!("mates under the threshold")),
        ("threshold_in_evaluations", key!("threshold within the evaluations")),
        ("mates_inverted", key!("mates of inverted sign")),
        ("book_zeros", key!("zeros of book moves")),
    ];
    let found: Vec<String> = kinds
        .iter()
        .filter_map(|(kind, words)| {
            let has = |r: &&EngineResult| r.warnings.iter().any(|w| w.kind == *kind);
            let names: Vec<&str> = report.diagnosis.results.iter().filter(has).map(|r| r.name.as_str()).collect();
            let words = language.word(words);
            (!names.is_empty()).then(|| format!("{words}: {}", first_of(&names, 3, language)))
        })
        .collect();
    let nothing = language.word("nothing unusual found");
    vec![if found.is_empty() { nothing.to_owned() } else { found.join("; ") }]
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let of = |r: &EngineResult, w: &Warning| (r.name.clone(), w.text.text(report.language).to_string());
    let warned = report.diagnosis.results.iter().flat_map(|r| {
        let here = r.warnings.iter().filter(|w| !ELSEWHERE.contains(&w.kind));
        here.map(move |w| of(r, w))
    });
    let warned: Vec<(String, String)> = warned.collect();
    Ok(vec![
        match warned.is_empty() {
            true => {
                p(report.word("No inverted signs, no mates under the threshold, no engine whose scores are all 0."))
            }
            false => Block::List(warned),
        },
        p(say!(
            report.language,
            "The records hold {} scores, and {} book moves, which have no score.",
            thousands(report.reading.scores),
            thousands(report.reading.book_moves)
        )),
        folded(report.word("Mates and their thresholds"), report.word("engine by engine"), false, vec![mates(report)]),
    ])
}

fn mates(report: &Report<'_>) -> Block {
    let least = report.options.min_samples;
    let shown = report.results_by_size().into_iter().filter(|r| r.fitted >= least || !r.warnings.is_empty());
    let caption = report.word("a mate is wrong-sided where the game did not end as announced");
    let found = report.word(" (found)");
    Table::new(report.language, caption, shown)
        .text(report.word("engine"), |r| r.name.clone())
        .number(report.word("samples"), |r| thousands(r.samples))
        .number(report.word("mate threshold"), |r| {
            let found = if r.mates.auto { found } else { "" };
            format!("{}{found}", thousands(u64::from(r.mates.threshold_cp)))
        })
        .number(report.word("mates"), |r| thousands(r.mates.beyond))
        .number(report.word("wrong-sided"), |r| thousands(r.mates.wrong_sided))
        .number(report.word("largest score left"), |r| or_dash(r.mates.largest_cp_left, |cp| thousands(u64::from(cp))))
        .number(report.word("lowest"), |r| or_dash(r.score_range, |range| range.0.to_string()))
        .number(report.word("highest"), |r| or_dash(r.score_range, |range| range.1.to_string()))
        .into()
}
