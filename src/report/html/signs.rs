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
            (p(page.choose(
                "No inverted signs, no mates under the threshold, no engine whose scores are all 0.",
                "逆の符号、しきい値より小さい詰み、評価値がすべて 0 のエンジンは見つかりません。",
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
            "棋譜には評価値が {} あり、評価値のない定跡手が {} あります。",
            thousands(page.reading.scores),
            thousands(page.reading.book_moves)
        )))
        (folded(
            page.choose("Mates and their thresholds", "詰みとそのしきい値"),
            page.choose("engine by engine", "エンジンごと"),
            false,
            mates(page),
        ))
    }
}

fn mates<'a>(page: &Page<'a>) -> Table<'a, &'a EngineResult> {
    let least = page.options.min_samples;
    let shown = page.results_by_size().into_iter().filter(move |r| r.fitted >= least || !r.warnings.is_empty());
    let caption = page.choose(
        "a mate is wrong-sided where the game did not end as announced",
        "結果と逆: 宣言どおりに終局しなかった詰み",
    );
    let found = page.choose(" (found)", "(検出)");
    Table::new(page.language, caption, shown)
        .text(page.choose("engine", "エンジン"), |r| r.name.clone())
        .number(page.choose("samples", "標本"), |r| thousands(r.samples))
        .number(page.choose("mate threshold", "詰みのしきい値"), move |r| {
            let found = if r.mates.auto { found } else { "" };
            format!("{}{found}", thousands(u64::from(r.mates.threshold_cp)))
        })
        .number(page.choose("mates", "詰み"), |r| thousands(r.mates.beyond))
        .number(page.choose("wrong-sided", "結果と逆"), |r| thousands(r.mates.wrong_sided))
        .number(page.choose("largest score left", "残る最大の評価値"), |r| {
            or_dash(r.mates.largest_cp_left, |cp| thousands(u64::from(cp)))
        })
        .number(page.choose("lowest", "最小"), |r| or_dash(r.score_range, |range| range.0.to_string()))
        .number(page.choose("highest", "最大"), |r| or_dash(r.score_range, |range| range.1.to_string()))
}
