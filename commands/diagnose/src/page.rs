//! Reports as pages with their tables and figures. A page loads no other file.

use evalcurve_app::report::html::{Safe, document, figure};
use evalcurve_app::report::model::{Block, p, soft};
use evalcurve_app::report::text::thousands;
use evalcurve_figures::{Data, Figure, PlotError};
use evalcurve_words::say;
use maud::{Markup, html};

use crate::headline::{Status, headline};
use crate::report::{Report, SECTIONS, Section, head};

/// A page with the numbers of its figures.
#[derive(Debug)]
pub struct Page {
    /// HTML that is also well-formed XML. The same results give the same bytes.
    pub html: String,
    /// The numbers of each figure, with its title.
    pub numbers: Vec<(String, Data)>,
}

/// The page of a diagnosis.
///
/// # Errors
/// A figure that cannot be drawn.
pub fn page(report: &Report<'_>) -> Result<Page, PlotError> {
    let body = |section: &Section| Ok((section.id, section.title, (section.answers)(report), (section.body)(report)?));
    let mut sections = SECTIONS.iter().map(body).collect::<Result<Vec<_>, PlotError>>()?;
    sections.retain(|(.., answers, body)| !answers.is_empty() || !body.is_empty());
    // what was read comes last
    sections.rotate_left(1);
    let constants = head::constants(report)?;
    let body = html! {
        header { "\n" (answer(report, constants.as_ref())) }
        "\n"
        main {
            "\n"
            h2 { (report.word("Why")) } "\n"
            @for (id, title, answers, body) in &sections {
                details class="section" id=(id) {
                    summary {
                        h3 { (Safe(report.word(title))) }
                        @for answer in answers { p { (Safe(answer)) } }
                    }
                    "\n" @for block in body { (block) }
                }
                "\n"
            }
            (provenance(report))
        }
        "\n"
    };
    let title = say!(report.language, "diagnosis of {}", report.engines(3));
    let mut numbers = Vec::new();
    sections.into_iter().for_each(|(.., body)| numbers_of(body, &mut numbers));
    numbers.extend(constants.map(Figure::into_numbers));
    Ok(Page { html: document(&title, "", report.language, body), numbers })
}

/// Adds the numbers of all figures of some blocks.
fn numbers_of(blocks: Vec<Block>, out: &mut Vec<(String, Data)>) {
    for block in blocks {
        match block {
            Block::Figures(figures) => out.extend(figures.into_iter().map(Figure::into_numbers)),
            Block::Folded { body, .. } => numbers_of(body, out),
            _ => {}
        }
    }
}

/// The answer: whether the calibrations can be used, the constants, and what to do.
fn answer(report: &Report<'_>, constants: Option<&Figure>) -> Markup {
    let answer = headline(report.diagnosis, report.language);
    let class = match answer.status {
        Status::Fine => "status fine",
        Status::Care => "status care",
        Status::NotFine => "status wrong",
    };
    html! {
        h1 { (report.word("Can these calibrations be used?")) } "\n"
        (soft(report.engines(5)))
        div class=(class) {
            strong { (answer.status.sign()) " " (answer.status.word(report.language)) }
            " " span { (Safe(&answer.sentence)) }
        }
        "\n"
        div class="beside" {
            "\n"
            div {
                h2 { (report.word("The constants")) } "\n"
                (p(report.word(
                    "1/w1 is the score at which an engine wins 73% against an equal, results that follow no score left \
                     out: the \u{201c}Ponanza constant\u{201d}, customarily 600.",
                )))
                (head::verdicts(report))
            }
            "\n"
            @if let Some(drawn) = constants { div { (figure(drawn)) } "\n" }
        }
        "\n"
        h2 { (report.word("What to do")) } "\n"
        ul class="todo" { "\n" @for line in &answer.todo { li { (Safe(line)) } "\n" } }
        "\n"
    }
}

/// Where the numbers come from.
fn provenance(report: &Report<'_>) -> Markup {
    let base = &report.diagnosis.base;
    let none = report.word("standard input");
    let inputs = if base.inputs.is_empty() { none.to_owned() } else { base.inputs.join(", ") };
    let filters = if base.filters.is_empty() { String::new() } else { format!(" · {}", base.filters.join(", ")) };
    let (seed, resamples, folds) = (base.seed, thousands(u64::from(base.resamples)), base.folds);
    let version = env!("CARGO_PKG_VERSION");
    html! {
        (soft(say!(
            report.language,
            "{inputs}{filters} · seed {seed} · {resamples} resamples of the games · {folds} folds · evalcurve \
             {version}"
        )))
        (soft(report.word(
            "Numbers in brackets are 95% intervals. They keep the samples of a game together, because these are not \
             independent. Scores and results are from the view of the engine that gave the score; a draw counts as \
             half a win. In the figures, move the pointer over a mark, tap it, or reach it with the Tab key to read \
             it.",
        )))
    }
}
