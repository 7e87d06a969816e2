//! The report of a diagnosis as one page with its tables and figures. It loads no other file and runs no script.

mod answer;
mod differ;
mod markup;
mod right;
mod scale;
mod signs;
mod split;
mod sure;

use maud::{Markup, html};

use self::markup::{Safe, figure, figures, folded, soft};
use super::language::Language;
use super::text::{accounts, files, thousands};
use super::verdict::{self, Line};
use crate::calibrate::CalibrateOptions;
use crate::calibration::MatePolicy;
use crate::diagnose::Diagnosis;
use crate::plot::{Figure, PlotError, PlotOptions};
use crate::sample::ReadReport;

/// Marks a file as written by evalcurve, so that a later run may replace it.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"evalcurve";

const STYLE: &str = include_str!("style.css");

/// The number of engines, those with the most samples, whose parts are not collapsed.
const UNFOLDED: usize = 6;

/// The contents of a page.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The results.
    pub diagnosis: &'a Diagnosis,
    /// The options they were computed with.
    pub options: &'a CalibrateOptions,
    /// Counts of files and games.
    pub reading: &'a ReadReport,
    /// Notes from reading.
    pub notes: &'a [String],
    /// The language of the headline.
    pub language: Language,
}

impl Page<'_> {
    /// The size of figures on a page: small enough to read on a telephone.
    fn plots(&self) -> PlotOptions {
        PlotOptions { width: 520, height: 430, ..PlotOptions::default() }
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
                shown.push(figure(&drawn));
                continue;
            }
            let result = &self.diagnosis.results[index];
            let size = format!("{} samples, {} games", thousands(result.fitted), thousands(result.games));
            rest.push(folded(&result.name, &size, false, figures(&[figure(&drawn)])));
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
        ("sure", "How sure is this?", "How sure?", sure::section(page)?),
        ("right", "Is it right?", "Is it right?", right::section(page)?),
        ("scale", "Do the engines share a scale?", "One scale?", scale::section(page)?),
        ("differ", "Why do the two fits differ?", "Why LSE ≠ MLE?", differ::section(page)?),
        ("split", "Does a score always mean the same?", "Split curves", split::section(page)?),
        ("signs", "Signs, mates and other oddities", "Signs, mates", signs::section(page)),
        ("read", "What was read", "Samples", read(page)),
    ];
    let lines = verdict::lines(page.diagnosis);
    let body = html! {
        header { "\n" (answer::head(page)?) }
        "\n"
        main {
            "\n"
            h2 { (page.language.choose("Why", "根拠")) } "\n"
            @for (id, title, question, body) in &sections {
                details class="section" id=(id) {
                    summary { h3 { (Safe(title)) } @for answer in answers(&lines, question) { p { (Safe(answer)) } } }
                    "\n" (body)
                }
                "\n"
            }
            (provenance(page))
        }
        "\n"
    };
    // maud writes void elements such as meta as in HTML, without the slash that XML needs
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         {GENERATOR} {}\"/>\n<title>evalcurve: diagnosis</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n{}</body>\n</html>\n",
        page.language.code(),
        env!("CARGO_PKG_VERSION"),
        body.into_string()
    ))
}

/// The answers to a question: its own line and those without a question that follow.
fn answers<'a>(lines: &'a [Line], question: &str) -> Vec<&'a str> {
    let from = lines.iter().position(|line| line.question == question).unwrap_or(lines.len());
    let own = lines.iter().skip(from).enumerate();
    own.take_while(|(i, line)| *i == 0 || line.question.is_empty()).map(|(_, line)| line.answer.as_str()).collect()
}

/// Where the numbers come from.
fn provenance(page: &Page<'_>) -> Markup {
    let base = &page.diagnosis.base;
    let inputs = if base.inputs.is_empty() { "standard input".to_owned() } else { base.inputs.join(", ") };
    let filters = if base.filters.is_empty() { String::new() } else { format!(" · {}", base.filters.join(", ")) };
    html! {
        (soft(format!(
            "{inputs}{filters} · seed {} · {} resamples of the games · {} folds · evalcurve {}",
            base.seed,
            thousands(u64::from(base.resamples)),
            base.folds,
            env!("CARGO_PKG_VERSION")
        )))
        (soft(
            "Numbers in brackets are 95% intervals. They keep the samples of a game together, because these are not \
             independent. Scores and results are from the view of the engine that gave the score; a draw counts as \
             half a win. In the curves, move the pointer over a point, tap it, or reach it with the Tab key to read \
             it.",
        ))
    }
}

/// What was read, in counts that add up.
fn read(page: &Page<'_>) -> Markup {
    let (reading, base, options) = (page.reading, &page.diagnosis.base, page.options);
    let mut items = vec![accounts(reading.games_read, " games", reading.games_used, &reading.games_skipped)];
    items.extend(files(reading, " files"));
    items.push(format!(
        "{} samples drawn = {} in the fits + {} mates left out",
        thousands(base.samples),
        thousands(base.fitted),
        thousands(base.mates_left_out)
    ));
    items.push(format!(
        "one sample per window of {} plies and side, from ply {} on; mates {}; engines with fewer than {} samples are \
         not calibrated",
        options.sampling.window,
        options.sampling.from_ply,
        match options.mate_policy {
            MatePolicy::Exclude => "are left out".to_owned(),
            MatePolicy::Clip => format!("count as ±{}", options.clip_cp),
            MatePolicy::Keep => "are kept as they are".to_owned(),
        },
        options.min_samples
    ));
    items.extend(page.notes.iter().cloned());
    html! { ul { "\n" @for item in &items { li { (Safe(item)) } "\n" } } "\n" }
}
