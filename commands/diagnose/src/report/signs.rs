//! Signs and sentinels: scores that are not evaluations, and scores from the wrong view.

use std::collections::{BTreeMap, BTreeSet};

use evalcurve_app::calibrate::{EngineResult, Shown, Warning, WarningKind};
use evalcurve_app::report::model::{Block, Table, folded, p};
use evalcurve_app::report::text::{first_of, or_dash, thousands};
use evalcurve_figures::PlotError;
use evalcurve_words::{key, say};

use super::{Report, Section};

pub(super) const SECTION: Section = Section {
    id: "signs",
    words: key!("Signs, mates"),
    title: key!("Signs, mates and other oddities"),
    answers,
    values: |_| None,
    body,
};

fn answers(report: &Report<'_>) -> Vec<String> {
    let language = report.language;
    let mut found: BTreeMap<WarningKind, (&'static str, Vec<&str>)> = BTreeMap::new();
    for result in &report.diagnosis.results {
        let kinds: BTreeSet<WarningKind> = result.warnings.iter().map(|warning| warning.kind).collect();
        for kind in kinds {
            let Shown::Signs(words) = kind.shown() else { continue };
            found.entry(kind).or_insert((words, Vec::new())).1.push(&result.name);
        }
    }
    let line = |(words, names): &(&'static str, Vec<&str>)| {
        format!("{}: {}", language.word(words), first_of(names, 3, language))
    };
    let found: Vec<String> = found.values().map(line).collect();
    let nothing = language.word("nothing unusual found");
    vec![if found.is_empty() { nothing.to_owned() } else { found.join("; ") }]
}

fn body(report: &Report<'_>) -> Result<Vec<Block>, PlotError> {
    let of = |r: &EngineResult, w: &Warning| (r.name.clone(), w.text.text(report.language).to_string());
    let warned = report.diagnosis.results.iter().flat_map(|r| {
        let here = r.warnings.iter().filter(|w| w.kind.shown() != Shown::Elsewhere);
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
