//! The report of a diagnosis as one page with its tables and figures. It loads no other file and runs no script.

mod answer;
mod differ;
#[cfg(feature = "analyse")]
pub mod game;
mod markup;
mod right;
mod scale;
mod signs;
mod split;
mod sure;

use std::cell::RefCell;

use maud::{Markup, html};

use self::markup::{Safe, figure, figures, folded, soft};
use super::text::{accounts, files, thousands};
use super::verdict::{self, Answer, Question};
use crate::calibrate::{CalibrateOptions, EngineResult};
use crate::calibration::MatePolicy;
use crate::diagnose::Diagnosis;
use crate::language::{Language, Text};
use crate::plot::{Data, Figure, PlotError, PlotOptions};
use crate::sample::ReadReport;
use crate::{key, say};

/// Marks a file as written by evalcurve, so that a later run may replace it.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"evalcurve";

const STYLE: &str = include_str!("style.css");

/// The number of engines, those with the most samples, whose parts are not collapsed.
const UNFOLDED: usize = 6;

/// The contents of a page.
#[derive(Debug)]
pub struct Page<'a> {
    /// The results.
    pub diagnosis: &'a Diagnosis,
    /// The options they were computed with.
    pub options: &'a CalibrateOptions,
    /// Counts of files and games.
    pub reading: &'a ReadReport,
    /// Notes from reading.
    pub notes: &'a [Text],
    /// The language of the page.
    pub language: Language,
    /// The figures drawn so far: title and numbers.
    numbers: RefCell<Vec<(String, Data)>>,
}

impl<'a> Page<'a> {
    /// A page about these results, with the notes from reading.
    pub fn new(
        diagnosis: &'a Diagnosis,
        options: &'a CalibrateOptions,
        reading: &'a ReadReport,
        notes: &'a [Text],
        language: Language,
    ) -> Self {
        Self { diagnosis, options, reading, notes, language, numbers: RefCell::default() }
    }

    /// The numbers of the figures of the page, each with the figure's title, once the page is made.
    pub fn into_numbers(self) -> Vec<(String, Data)> {
        self.numbers.into_inner()
    }
}

impl<'a> Page<'a> {
    /// A figure on the page, whose numbers are kept.
    fn figure(&self, drawn: &Figure) -> Markup {
        self.numbers.borrow_mut().push((drawn.title().to_owned(), drawn.data().clone()));
        figure(drawn)
    }

    /// The size of figures on a page: small enough to read on a telephone.
    fn plots(&self) -> PlotOptions {
        PlotOptions { width: 520, height: 430, language: self.language, tolerance: 0.2, ..PlotOptions::default() }
    }

    /// The text in the language of the page.
    fn word<'b>(&self, english: &'b str) -> &'b str {
        self.language.word(english)
    }

    /// The results, those with the most samples first.
    fn results_by_size(&self) -> Vec<&'a EngineResult> {
        let mut all: Vec<&'a EngineResult> = self.diagnosis.results.iter().collect();
        all.sort_by_key(|r| std::cmp::Reverse(r.fitted));
        all
    }

    /// The calibrated engines as indices into the results, those with the most samples first.
    fn by_size(&self) -> Vec<usize> {
        let results = &self.diagnosis.results;
        let mut order: Vec<usize> = (0..results.len()).filter(|&i| results[i].calibration.is_some()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(results[i].fitted), i));
        order
    }

    /// The colour of an engine in all figures: by size, so that the largest engines have the most legible colours.
    fn color(&self, engine: &str) -> usize {
        let results = &self.diagnosis.results;
        self.by_size().iter().position(|&i| results[i].name == engine).unwrap_or(0)
    }
}

impl Page<'_> {
    /// The figures of the calibrated engines by rank and index, those with the most samples side by side, the others
    /// collapsed.
    fn engine_by_engine(
        &self,
        draw: impl Fn(usize, usize) -> Result<Option<Figure>, PlotError>,
    ) -> Result<Markup, PlotError> {
        let (mut shown, mut rest) = (Vec::new(), Vec::new());
        for (rank, index) in self.by_size().into_iter().enumerate() {
            let Some(drawn) = draw(rank, index)? else { continue };
            if rank < UNFOLDED {
                shown.push(self.figure(&drawn));
                continue;
            }
            let result = &self.diagnosis.results[index];
            let (samples, games) = (thousands(result.fitted), thousands(result.games));
            let size = say!(self.language, "{samples} samples, {games} games");
            rest.push(folded(&result.name, &size, false, figures(&[self.figure(&drawn)])));
        }
        Ok(html! { (figures(&shown)) @for part in &rest { (part) } })
    }
}

/// The page as HTML that is also well-formed XML. The same results give the same bytes.
///
/// # Errors
/// A figure that cannot be drawn.
pub fn page(page: &Page<'_>) -> Result<String, PlotError> {
    let sections = [
        ("sure", key!("How sure is this?"), Question::Sure, sure::section(page)?),
        ("right", key!("Is it right?"), Question::Right, right::section(page)?),
        ("scale", key!("Do the engines share a scale?"), Question::Scale, scale::section(page)?),
        ("differ", key!("Why do the two fits differ?"), Question::Differ, differ::section(page)?),
        ("split", key!("Does a score always mean the same?"), Question::Split, split::section(page)?),
        ("signs", key!("Signs, mates and other oddities"), Question::Signs, signs::section(page)),
        ("read", key!("What was read"), Question::Samples, read(page)),
    ];
    let lines = verdict::lines(page.diagnosis, page.language);
    let body = html! {
        header { "\n" (answer::head(page)?) }
        "\n"
        main {
            "\n"
            h2 { (page.word("Why")) } "\n"
            @for (id, title, question, body) in &sections {
                details class="section" id=(id) {
                    summary {
                        h3 { (Safe(page.word(title))) }
                        @for answer in answers(&lines, *question) { p { (Safe(answer)) } }
                    }
                    "\n" (body)
                }
                "\n"
            }
            (provenance(page))
        }
        "\n"
    };
    Ok(document(page.word("diagnosis"), "", page.language, body))
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

/// The answers to a question.
fn answers(lines: &[Answer], question: Question) -> Vec<&str> {
    lines.iter().filter(|line| line.question == question).map(|line| line.answer.as_str()).collect()
}

/// Where the numbers come from.
fn provenance(page: &Page<'_>) -> Markup {
    let base = &page.diagnosis.base;
    let none = page.word("standard input");
    let inputs = if base.inputs.is_empty() { none.to_owned() } else { base.inputs.join(", ") };
    let filters = if base.filters.is_empty() { String::new() } else { format!(" · {}", base.filters.join(", ")) };
    let (seed, resamples, folds) = (base.seed, thousands(u64::from(base.resamples)), base.folds);
    let version = env!("CARGO_PKG_VERSION");
    html! {
        (soft(say!(
            page.language,
            "{inputs}{filters} · seed {seed} · {resamples} resamples of the games · {folds} folds · evalcurve \
             {version}"
        )))
        (soft(page.word(
            "Numbers in brackets are 95% intervals. They keep the samples of a game together, because these are not \
             independent. Scores and results are from the view of the engine that gave the score; a draw counts as \
             half a win. In the figures, move the pointer over a mark, tap it, or reach it with the Tab key to read \
             it.",
        )))
    }
}

/// What was read, in counts that add up.
fn read(page: &Page<'_>) -> Markup {
    let (reading, base, options) = (page.reading, &page.diagnosis.base, page.options);
    let language = page.language;
    let (games, files_words) = (page.word(" games"), page.word(" files"));
    let mut items = vec![accounts(reading.games_read, games, reading.games_used, &reading.games_skipped, language)];
    items.extend(files(reading, files_words, language));
    let (drawn, fitted, mates) = (thousands(base.samples), thousands(base.fitted), thousands(base.mates_left_out));
    items.push(say!(language, "{drawn} samples drawn = {fitted} in the fits + {mates} mates left out"));
    let mates = match options.mate_policy {
        MatePolicy::Exclude => page.word("are left out").to_owned(),
        MatePolicy::Clip => say!(language, "count as ±{}", options.clip_cp),
        MatePolicy::Keep => page.word("are kept as they are").to_owned(),
    };
    let (window, from, least) = (options.sampling.window, options.sampling.from_ply, options.min_samples);
    items.push(say!(
        language,
        "one sample per window of {window} plies and side, from ply {from} on; mates {mates}; engines with fewer than \
         {least} samples are not calibrated"
    ));
    items.extend(page.notes.iter().map(|note| note.text(language).to_owned()));
    html! { ul { "\n" @for item in &items { li { (Safe(item)) } "\n" } } "\n" }
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
