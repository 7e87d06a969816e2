//! Signs and sentinels: scores that are not evaluations, and scores from the wrong view.

use maud::{Markup, html};

use super::Page;
use super::markup::{Safe, Table, folded, p};
use crate::calibrate::{EngineResult, Warning};
use crate::report::text::{or_dash, thousands};
use crate::say;

/// Warnings that other sections of the page cover.
const ELSEWHERE: [&str; 3] = ["methods_disagree", "not_validated", "ratings_know_the_results"];

pub(super) fn section(page: &Page<'_>) -> Markup {
    let warned: Vec<(&EngineResult, &Warning)> = page
        .diagnosis
        .results
        .iter()
        .flat_map(|r| r.warnings.iter().map(move |w| (r, w)))
        .filter(|(_, w)| !ELSEWHERE.contains(&w.kind))
        .collect();
    html! {
        @if warned.is_empty() {
            (p(page.word(
                "No inverted signs, no mates under the threshold, no engine whose scores are all 0.",
            )))
        } @else {
            ul {
                "\n"
                @for (r, w) in &warned {
                    li { span class="warn" { (Safe(&r.name)) } ": " (Safe(w.text.text(page.language))) }
                    "\n"
                }
            }
            "\n"
        }
        (p(say!(
            page.language,
            "The records hold {} scores, and {} book moves, which have no score.",
            thousands(page.reading.scores),
            thousands(page.reading.book_moves)
        )))
        (folded(
            page.word("Mates and their thresholds"),
            page.word("engine by engine"),
            false,
            mates(page),
        ))
    }
}

fn mates<'a>(page: &Page<'a>) -> Table<'a, &'a EngineResult> {
    let least = page.options.min_samples;
    let shown = page.results_by_size().into_iter().filter(move |r| r.fitted >= least || !r.warnings.is_empty());
    let caption = page.word("a mate is wrong-sided where the game did not end as announced");
    let found = page.word(" (found)");
    Table::new(page.language, caption, shown)
        .text(page.word("engine"), |r| r.name.clone())
        .number(page.word("samples"), |r| thousands(r.samples))
        .number(page.word("mate threshold"), move |r| {
            let found = if r.mates.auto { found } else { "" };
            format!("{}{found}", thousands(u64::from(r.mates.threshold_cp)))
        })
        .number(page.word("mates"), |r| thousands(r.mates.beyond))
        .number(page.word("wrong-sided"), |r| thousands(r.mates.wrong_sided))
        .number(page.word("largest score left"), |r| or_dash(r.mates.largest_cp_left, |cp| thousands(u64::from(cp))))
        .number(page.word("lowest"), |r| or_dash(r.score_range, |range| range.0.to_string()))
        .number(page.word("highest"), |r| or_dash(r.score_range, |range| range.1.to_string()))
}
