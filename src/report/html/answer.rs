//! The answer at the top of the page: whether the calibrations can be used, the constants, and what to do.

use maud::{Markup, html};

use super::Page;
use super::markup::{Safe, Table, p};
use crate::calibrate::EngineResult;
use crate::calibration::Calibration;
use crate::plot::{Forest, ForestMark, ForestRow, PlotError, PlotOptions, forest};
use crate::report::headline::{Status, Verdict, constant_or_why, headline};
use crate::report::text::thousands;
use crate::say;

/// The most engines in the figure of the constants.
const IN_FIGURE: usize = 40;
/// The constant that is customary.
const CUSTOMARY: f64 = 600.0;

pub(super) fn head(page: &Page<'_>) -> Result<Markup, PlotError> {
    let language = page.language;
    let answer = headline(page.diagnosis, language);
    let class = match answer.status {
        Status::Fine => "status fine",
        Status::Care => "status care",
        Status::NotFine => "status wrong",
    };
    let results = &page.diagnosis.results;
    let order: Vec<&EngineResult> = page.by_size().into_iter().filter_map(|i| results.get(i)).collect();
    let table = Table::new(language, "", order.iter().copied())
        .text(language.word("engine"), |r| r.name.clone())
        .number("1/w1 [95%]", |r| constant_or_why(r, language))
        .prose(language.word("verdict"), move |r| {
            let advice = |c: &Calibration| Verdict::of(c).advice(c, Some(r.games), language);
            r.calibration.as_ref().map_or_else(String::new, advice)
        })
        .number(language.word("samples"), |r| thousands(r.fitted));
    let drawn = constants(&order, page)?;
    Ok(html! {
        h1 { (language.word("Can these calibrations be used?")) } "\n"
        div class=(class) {
            strong { (answer.status.sign()) " " (answer.status.word(language)) }
            " " span { (Safe(&answer.sentence)) }
        }
        "\n"
        div class="beside" {
            "\n"
            div {
                h2 { (language.word("The constants")) } "\n"
                (p(language.word(
                    "1/w1 is the score at which an engine wins 73% against an equal, results that follow no score left \
                     out: the \u{201c}Ponanza constant\u{201d}, customarily 600.",
                )))
                (table)
            }
            "\n"
            @if let Some(drawn) = &drawn { div { (page.figure(drawn)) } "\n" }
        }
        "\n"
        h2 { (language.word("What to do")) } "\n"
        ul class="todo" { "\n" @for line in &answer.todo { li { (Safe(line)) } "\n" } }
        "\n"
    })
}

/// The constants of the largest engines on one scale; `None` if no model has one.
fn constants(order: &[&EngineResult], page: &Page<'_>) -> Result<Option<crate::plot::Figure>, PlotError> {
    let mark = |r: &&EngineResult| {
        let constant = r.calibration.as_ref().and_then(Calibration::constant)?;
        let (low, high) = constant.interval.map_or((constant.value, constant.value), |[low, high]| (low, high));
        Some(ForestMark { value: constant.value, low, high })
    };
    let rows: Vec<ForestRow> =
        order.iter().take(IN_FIGURE).map(|r| ForestRow { label: r.name.clone(), marks: vec![mark(r)] }).collect();
    if rows.iter().all(|row| row.marks.iter().all(Option::is_none)) {
        return Ok(None);
    }
    let language = page.language;
    let others = match order.len().saturating_sub(IN_FIGURE) {
        0 => Vec::new(),
        n => vec![say!(language, "{n} engines with fewer samples are not drawn")],
    };
    let plot = Forest {
        title: language.word("The constants of all engines on one scale").to_owned(),
        caption: language
            .word("Where two intervals do not overlap, the same score means different win rates.")
            .to_owned(),
        axis: language.word("1/w1 (centipawns), with its 95% interval").to_owned(),
        rows,
        references: vec![(CUSTOMARY, None)],
        notes: [vec![language.word("grey line: the customary 600").to_owned()], others].concat(),
        ..Forest::default()
    };
    forest(&plot, &PlotOptions { width: 620, ..page.plots() }).map(Some)
}
