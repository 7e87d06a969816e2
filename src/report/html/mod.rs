//! Reports as pages with their tables and figures. A page loads no other file.

#[cfg(feature = "analyse")]
pub mod game;
mod markup;

use maud::{Markup, html};

use self::markup::{Safe, figure};
use super::diagnosis::{Report, SECTIONS, Section, head};
use super::headline::{Status, headline};
use super::model::{Block, p, soft};
use super::text::thousands;
use crate::language::Language;
use crate::plot::{Data, Figure, PlotError};
use crate::say;

/// Marks a file as written by evalcurve, so that a later run may replace it.
pub(crate) const GENERATOR: &str = "<meta name=\"generator\" content=\"evalcurve";

const STYLE: &str = include_str!("style.css");

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
    let mut numbers = Vec::new();
    sections.iter().for_each(|(.., body)| numbers_of(body, &mut numbers));
    numbers.extend(constants.iter().map(numbers_of_figure));
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
    Ok(Page { html: document(&title, "", report.language, body), numbers })
}

fn numbers_of_figure(figure: &Figure) -> (String, Data) {
    (figure.title().to_owned(), figure.data().clone())
}

/// Adds the numbers of all figures of some blocks.
fn numbers_of(blocks: &[Block], out: &mut Vec<(String, Data)>) {
    for block in blocks {
        match block {
            Block::Figures(figures) => out.extend(figures.iter().map(numbers_of_figure)),
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

/// A page with its title, a style of its own beside that of all pages, and the elements of its body.
fn document(title: &str, style: &str, language: Language, body: Markup) -> String {
    let title = html! { (Safe(title)) }.into_string();
    // maud writes void elements such as meta as in HTML, without the slash that XML needs
    format!(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         {GENERATOR} {}\"/>\n<title>evalcurve: {title}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n\
         <body>\n{}</body>\n</html>\n",
        language.code(),
        env!("CARGO_PKG_VERSION"),
        body.into_string()
    )
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::STYLE;
    use crate::plot::contrast;

    /// The colours that a rule of `:root` defines.
    fn colors(rule: &str) -> BTreeMap<&str, (u8, u8, u8)> {
        let value = |text: &str| {
            let hex = text.trim().strip_prefix('#')?;
            // #abc is short for #aabbcc
            let hex = if hex.len() == 3 { hex.chars().flat_map(|c| [c, c]).collect() } else { hex.to_owned() };
            let part = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
            Some((part(0)?, part(2)?, part(4)?))
        };
        let declarations = rule.split(';').filter_map(|d| d.trim().strip_prefix("--")?.split_once(':'));
        declarations.filter_map(|(name, text)| Some((name, value(text)?))).collect()
    }

    /// Level AA of WCAG 2 on the screen, in light and dark mode, and on paper.
    #[test]
    fn words_can_be_read_on_every_background() {
        let rules: Vec<_> =
            STYLE.split(":root {").skip(1).map(|rest| colors(rest.split('}').next().unwrap())).collect();
        assert_eq!(rules.len(), 3, "light, dark, print");
        for (rule, mode) in rules.iter().zip(["light", "dark", "print"]) {
            for words in ["ink", "soft", "mark", "warn", "fine", "wrong"] {
                for background in ["paper", "tint"] {
                    let ratio = contrast(rule[words], rule[background]);
                    assert!(ratio >= 4.5, "{mode}: {words} on {background} has {ratio:.2}");
                }
            }
        }
        // no rule has a colour of its own but the figures, which are white, and their boxes of numbers
        let others = STYLE.lines().filter(|line| line.contains('#') && !line.contains("--"));
        for line in others {
            assert!(line.contains("figure") || line.contains(".spots"), "{line}");
        }
        assert!(contrast((0xFF, 0xFF, 0xFF), (0x22, 0x22, 0x22)) >= 4.5);
        // the words of figures on white, as invert(.9) shows them in dark mode
        let inverted = |c: u8| (229.5 - 0.8 * f64::from(c)) as u8;
        for words in [0x22, 0x66].map(inverted) {
            assert!(contrast([words; 3].into(), [inverted(0xFF); 3].into()) >= 4.5, "{words}");
        }
    }
}
