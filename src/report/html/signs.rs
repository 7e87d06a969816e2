//! Signs and sentinels: what is no evaluation, and whose view it was.

use super::Page;
use super::markup::{Column, DASH, Table, folded, p, safe};
use crate::calibrate::EngineResult;
use crate::report::text::thousands;

pub(super) fn section(page: &Page<'_>) -> String {
    let results = &page.diagnosis.results;
    let mut out = String::new();
    let warned: Vec<(&EngineResult, &crate::calibrate::Warning)> = results
        .iter()
        .flat_map(|r| r.warnings.iter().map(move |w| (r, w)))
        // other sections tell these
        .filter(|(_, w)| !["methods_disagree", "not_validated", "ratings_know_the_results"].contains(&w.kind))
        .collect();
    if warned.is_empty() {
        out += &p("No inverted signs, no mates under the threshold, no engine whose scores are all 0.");
    } else {
        let item = |(r, w): &(&EngineResult, &crate::calibrate::Warning)| {
            format!("<li><span class=\"warn\">{}</span>: {}</li>\n", safe(&r.name), safe(&w.text))
        };
        out += &format!("<ul>\n{}</ul>\n", warned.iter().map(item).collect::<String>());
    }
    out += &p(&format!(
        "{} scores were met in the records, and {} book moves, which are no scores.",
        thousands(page.reading.scores),
        thousands(page.reading.book_moves)
    ));
    let mut table = Table::new(
        "a mate is wrong-sided where the game did not end as announced",
        &[
            ("engine", Column::Text),
            ("samples", Column::Number),
            ("mate threshold", Column::Number),
            ("mates", Column::Number),
            ("wrong-sided", Column::Number),
            ("largest score left", Column::Number),
            ("lowest", Column::Number),
            ("highest", Column::Number),
        ],
    );
    let enough = |r: &&EngineResult| r.fitted >= page.options.min_samples || !r.warnings.is_empty();
    for result in results.iter().filter(enough) {
        let mates = &result.mates;
        table.row([
            result.name.clone(),
            thousands(result.samples),
            format!("{}{}", thousands(u64::from(mates.threshold_cp)), if mates.auto { " (found)" } else { "" }),
            thousands(mates.beyond),
            thousands(mates.wrong_sided),
            mates.largest_cp_left.map_or(DASH.to_owned(), |cp| thousands(u64::from(cp))),
            result.score_range.map_or(DASH.to_owned(), |r| r.0.to_string()),
            result.score_range.map_or(DASH.to_owned(), |r| r.1.to_string()),
        ]);
    }
    out += &folded("Mates and their thresholds", "engine by engine", &table.html());
    out
}
