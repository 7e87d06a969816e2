//! The report of a diagnosis as one page: tables and figures inside it, nothing fetched from elsewhere, no script.

mod differ;
mod markup;
mod right;
mod scale;
mod signs;
mod split;
mod sure;

pub(in crate::report) use self::markup::{number, p_value, with_interval};
use self::markup::{safe, soft};
use super::text::{counts, thousands};
use super::verdict::{self, Line};
use crate::calibrate::CalibrateOptions;
use crate::calibration::MatePolicy;
use crate::diagnose::Diagnosis;
use crate::plot::{PlotError, PlotOptions};
use crate::sample::ReadReport;

/// How the page's own files are known again.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"evalcurve";

const STYLE: &str = include_str!("style.css");

/// Engines that are shown unfolded, those with the most samples.
const UNFOLDED: usize = 6;

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The answers.
    pub diagnosis: &'a Diagnosis,
    /// The options they rest on.
    pub options: &'a CalibrateOptions,
    /// What became of files and games.
    pub reading: &'a ReadReport,
    /// Remarks of reading.
    pub notes: &'a [String],
}

impl Page<'_> {
    /// Figures for a page: as narrow as can be read on a telephone.
    fn plots(&self) -> PlotOptions {
        PlotOptions { width: 520, height: 430, ..PlotOptions::default() }
    }

    /// Engines of the results with a calibration, those with the most samples first, as indices.
    fn by_size(&self) -> Vec<usize> {
        let results = &self.diagnosis.results;
        let mut order: Vec<usize> = (0..results.len()).filter(|&i| results[i].calibration.is_some()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(results[i].fitted), i));
        order
    }

    /// The colour of an engine on all figures: by size, so that the largest have the clearest.
    fn color(&self, engine: &str) -> usize {
        let results = &self.diagnosis.results;
        self.by_size().iter().position(|&i| results[i].name == engine).unwrap_or(0)
    }
}

/// The page as HTML that is well-formed XML too. The same answers give the same bytes.
///
/// # Errors
/// A figure that cannot be drawn.
pub fn page(page: &Page<'_>) -> Result<String, PlotError> {
    let sections: [(&str, &str, String); 6] = [
        ("sure", "How sure is this?", sure::section(page)?),
        ("right", "Is it right?", right::section(page)?),
        ("scale", "One scale?", scale::section(page)?),
        ("differ", "Why do the two fits differ?", differ::section(page)?),
        ("split", "Does a score always mean the same?", split::section(page)?),
        ("signs", "Signs and sentinels", signs::section(page)),
    ];
    let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
    out += &format!("{GENERATOR} {}\"/>\n", env!("CARGO_PKG_VERSION"));
    out += "<title>evalcurve: diagnosis</title>\n<style>\n";
    out += STYLE;
    out += "</style>\n</head>\n<body>\n<header>\n";
    out += &head(page);
    out += "<nav>\n";
    for (id, title, _) in &sections {
        out += &format!("<a href=\"#{id}\">{}</a>\n", safe(title));
    }
    out += "<a href=\"#read\">What was read</a>\n</nav>\n</header>\n<main>\n";
    for (id, title, body) in &sections {
        out += &format!("<section id=\"{id}\">\n<h2>{}</h2>\n{body}</section>\n", safe(title));
    }
    out += &format!("<section id=\"read\">\n<h2>What was read</h2>\n{}</section>\n", read(page));
    out += "</main>\n</body>\n</html>\n";
    Ok(out)
}

fn head(page: &Page<'_>) -> String {
    let base = &page.diagnosis.base;
    let mut out = String::from("<h1>Are these scores calibrated, and do the engines share a scale?</h1>\n");
    let inputs = if base.inputs.is_empty() { "standard input".to_owned() } else { base.inputs.join(", ") };
    let filters = if base.filters.is_empty() { String::new() } else { format!(" · {}", base.filters.join(", ")) };
    out += &soft(&format!(
        "{inputs}{filters} · seed {} · {} resamples of the games · {} folds · evalcurve {}",
        base.seed,
        thousands(u64::from(base.resamples)),
        base.folds,
        env!("CARGO_PKG_VERSION")
    ));
    out += "<div class=\"verdict\"><dl>\n";
    for Line { question, answer } in verdict::lines(page.diagnosis) {
        out += &format!("<dt>{}</dt><dd>{}</dd>\n", safe(question), safe(&answer));
    }
    out += "</dl></div>\n";
    out += &soft(
        "Numbers in brackets are 95% intervals. They keep the samples of a game together, since these are not \
         independent. A score and a result are in the view of the engine that gave the score; a draw counts half a win.",
    );
    out
}

/// The counts, which add up.
fn read(page: &Page<'_>) -> String {
    let (reading, base, options) = (page.reading, &page.diagnosis.base, page.options);
    let skipped: u64 = reading.games_skipped.values().sum();
    let mut items = vec![format!(
        "{} games read = {} used + {} skipped{}",
        thousands(reading.games_read),
        thousands(reading.games_used),
        thousands(skipped),
        if skipped > 0 { format!(" ({})", counts(&reading.games_skipped)) } else { String::new() }
    )];
    if reading.files_read > 0 || !reading.files_refused.is_empty() {
        let refused = counts(&reading.files_refused);
        let refused = if refused.is_empty() { refused } else { format!("; passed over: {refused}") };
        items.push(format!("{} files with games{refused}", thousands(reading.files_read)));
    }
    items.push(format!(
        "{} samples drawn = {} in the fits + {} mates left out",
        thousands(base.samples),
        thousands(base.fitted),
        thousands(base.mates_left_out)
    ));
    items.push(format!(
        "one sample a window of {} plies and side, from ply {} on; mates {}; engines with fewer than {} samples are not \
         calibrated",
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
    let items: String = items.iter().map(|i| format!("<li>{}</li>\n", safe(i))).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// The engine of an index, by its name and samples, for a folded part.
fn engine_line(result: &crate::calibrate::EngineResult) -> String {
    format!("{} samples, {} games", thousands(result.fitted), thousands(result.games))
}
