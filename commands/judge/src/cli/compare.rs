//! `evalcurve compare`

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use evalcurve_app::cli::files::{make_parent, one_file};
use evalcurve_app::cli::options::LanguageArgs;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_app::judge::Verdict;
use evalcurve_app::report::columns::{Columns, in_markdown};
use evalcurve_app::report::text::{self, signed};
use evalcurve_app::{Input, Progress};
use evalcurve_fit::calibration::{Method, Normalization};
use evalcurve_words::language::Language;
use evalcurve_words::{key, say, whole_file};

use super::percents;
use crate::Compare;
use crate::drift::{AtScore, Change, Drift, DriftOptions, Estimated};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve compare released/Gikou.json evalcurve-out/Gikou.json
  evalcurve compare old.json new.json --tolerance 5 --json
  evalcurve compare old.json new.json --score 300 --model least-squares
  evalcurve compare old.json new.json --summary \"$GITHUB_STEP_SUMMARY\"
  evalcurve compare old.json new.json --undo-normalization 385 --undo-normalization 304

Tests whether the scale of an engine's scores moved: w1 is the value of a centipawn; of a model that separates draws, \
a is the score that wins half of the games and b the spread. Exit code 0: it did not move by more than the tolerance; \
1: it moved; 2: usage or input error; 3: the games are too few to tell. For use in an engine's CI.")]
pub struct Args {
    /// Calibration file of the old version
    old: PathBuf,

    /// Calibration file of the new version
    new: PathBuf,

    /// Tolerated change of w1, in percent
    #[arg(long, value_name = "PERCENT", value_parser = percents, default_value = "10")]
    tolerance: f64,

    /// Compare win rates at these scores [default: -1000 -500 -200 0 200 500 1000]
    #[arg(long, value_name = "CP", allow_negative_numbers = true)]
    score: Vec<f64>,

    /// The fits to compare [default: the chosen model if both files have the same, else maximum-likelihood]
    #[arg(long, value_parser = methods())]
    model: Option<Method>,

    /// The pawn value by which the engine normalised its scores, to compare internal scores; if it is given twice, the
    /// first is that of OLD. One number, or the coefficients of a polynomial (see export)
    #[arg(long, value_name = "A0,A1,A2,A3", allow_hyphen_values = true)]
    undo_normalization: Vec<Normalization>,

    /// Append the result to this file in Markdown, for the page of a CI run
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    #[command(flatten)]
    language: LanguageArgs,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print only errors; the exit code is the result
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

/// The sigmoids whose slopes can be compared.
fn methods() -> impl TypedValueParser<Value = Method> {
    let all =
        [("least-squares", "lse", Method::LeastSquares), ("maximum-likelihood", "mle", Method::MaximumLikelihood)];
    let value = |(name, short, method): (&'static str, &'static str, Method)| {
        PossibleValue::new(name).aliases([short, method.as_str()])
    };
    PossibleValuesParser::new(all.map(value)).map(move |word| {
        let named = all.iter().find(|(name, short, method)| [*name, *short, method.as_str()].contains(&word.as_str()));
        named.map_or(Method::MaximumLikelihood, |(.., method)| *method)
    })
}

impl Args {
    pub fn command(&self) -> Compare {
        let defaults = DriftOptions::default();
        let options = DriftOptions {
            tolerance_percent: self.tolerance,
            method: self.model,
            scores: if self.score.is_empty() { defaults.scores } else { self.score.clone() },
        };
        Compare { options, undo_normalization: self.undo_normalization.clone() }
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "compare";
    const ABOUT: &'static str = key!("Check whether the scores of a new version changed, for a CI");
    const HEADING: Heading = Heading::Judge;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let input = Input::paths([one_file(&self.old)?, one_file(&self.new)?]);
        let found = self.command().run(&input, &Progress::default())?.value;
        let language = self.language.chosen();
        if self.json {
            terminal::print_document(&found.document())?;
        } else if !self.quiet {
            terminal::print(&table(&found, language))?;
            found.remarks.iter().for_each(|remark| terminal::warning(&remark.text(language)));
        }
        if let Some(path) = &self.summary {
            append(path, &markdown(&found, language))?;
        }
        Ok(match found.verdict {
            Verdict::Within => Done::Yes,
            Verdict::Moved => Done::Nothing,
            Verdict::Unclear => Done::CannotTell,
        })
    }
}

/// Adds a text to the end of a file.
fn append(path: &Path, text: &str) -> anyhow::Result<()> {
    make_parent(path)?;
    let failed = || format!("{}: cannot be written", path.display());
    let old = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Ok(metadata) if metadata.is_file() => fs::read(path).with_context(failed)?,
        // a link or a device stays what it is
        _ => {
            let mut file = OpenOptions::new().create(true).append(true).open(path).with_context(failed)?;
            return whole_file::append(&mut file, text.as_bytes()).with_context(failed);
        }
    };
    Ok(whole_file::write(path, &[&old, text.as_bytes()].concat())?)
}

fn names(found: &Drift, language: Language) -> String {
    if found.old_engine == found.new_engine {
        text::printable(&found.old_engine)
    } else {
        let (old, new) = (text::printable(&found.old_engine), text::printable(&found.new_engine));
        say!(language, "old {old}, new {new}")
    }
}

/// A number of the scale with its interval: w1 in thousandths.
fn shown(name: &str, number: &Estimated) -> String {
    let (by, digits) = if name == "w1" { (1000.0, 3) } else { (1.0, 1) };
    let one = |x: f64| format!("{:.digits$}", x * by);
    let ends = number.interval.map_or_else(String::new, |(low, high)| format!(" [{}, {}]", one(low), one(high)));
    one(number.value) + &ends
}

/// The result for a CI page.
fn markdown(found: &Drift, language: Language) -> String {
    let word = match found.verdict {
        Verdict::Within => language.word("the scale did not move"),
        Verdict::Moved => language.word("the scale moved"),
        Verdict::Unclear => language.word("cannot tell"),
    };
    let (names, sentence) = (in_markdown(&names(found, language)), found.sentence(language));
    let mut out = say!(language, "## Scale of {names}: {word}\n\n");
    let changes = Columns::new()
        .name("", 0, |change: &&Change| label(change.name).to_owned())
        .right(language.word("old"), 0, |change| shown(change.name, &change.old))
        .right(language.word("new"), 0, |change| shown(change.name, &change.new))
        .right(language.word("change [95%]"), 0, |change| {
            let Estimated { value, interval } = change.change_percent;
            let ends = interval.map(|(low, high)| format!(" [{}, {}]", signed(low, 1), signed(high, 1)));
            format!("{}%{}", signed(value, 1), ends.unwrap_or_default())
        });
    out += &say!(language, "{sentence}.\n\n");
    out += &format!("{}\n{}", changes.markdown(&found.changes), wins(language).markdown(&found.at));
    let remarks: String = found.remarks.iter().map(|remark| format!("- {}\n", remark.text(language))).collect();
    format!("{out}\n{remarks}")
}

fn label(name: &str) -> &str {
    if name == "w1" { "w1 · 1000" } else { name }
}

/// The win rates at some scores.
fn wins<'a>(language: Language) -> Columns<'static, &'a AtScore> {
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    Columns::new()
        .right(language.word("score"), 7, |at: &&AtScore| signed(at.score_cp, 0))
        .right(language.word("old wins"), 9, move |at| percent(at.old))
        .right(language.word("new wins"), 9, move |at| percent(at.new))
        .gap(3)
        .left(language.word("difference [95%]"), 24, |at| {
            let points = |share: f64| signed(100.0 * share, 1);
            let ends = at.difference.interval.map(|(low, high)| format!(" [{}, {}]", points(low), points(high)));
            points(at.difference.value) + &ends.unwrap_or_default()
        })
        .gap(1)
        .left(language.word("old score, same win rate"), 0, |at| {
            if at.old_score_cp.is_nan() { text::DASH.to_owned() } else { signed(at.old_score_cp, 0) }
        })
}

fn table(found: &Drift, language: Language) -> String {
    let (names, model) = (names(found, language), text::model_name(found.model, language));
    let mut out = match found.between_equals {
        true => say!(language, "{names}, by {model}, between equals\n"),
        false => say!(language, "{names}, by {model}, against the opponents of each file\n"),
    };
    let (old, new) = (language.word("old"), language.word("new"));
    for (label, sigmoid) in [(old, found.old), (new, found.new)] {
        if let Some(s) = sigmoid {
            let (w1, k) = (s.w1 * 1000.0, s.ponanza_constant());
            out += &format!("{label}  w1 · 1000 {w1:.3}   w2 {}   1/w1 {k:.0}\n", signed(s.w2, 3));
        }
    }
    let all = |pick: fn(&Change) -> &Estimated| {
        found.changes.iter().map(|c| format!("   {} {}", label(c.name), shown(c.name, pick(c)))).collect::<String>()
    };
    if let Some((unit, stage)) = found.stage {
        let unit = unit.as_str();
        out += &say!(
            language,
            "at {unit} {stage}; a is the score that wins half of the games, the normalised pawn value\n"
        );
    }
    if found.old.is_none() {
        out += &format!("{old}{}\n{new}{}\n", all(|c| &c.old), all(|c| &c.new));
    }
    let p = |p: f64| if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") };
    if let Some(w1) = found.same_w1.map(|test| p(test.p)) {
        out += &match found.same_curve.map(|test| p(test.p)) {
            Some(both) => say!(language, "equal w1: {w1}; equal w1 and w2: {both} (Wald)\n"),
            None => say!(language, "equal w1: {w1} (Wald)\n"),
        };
    }
    let columns = wins(language);
    out += &format!("\n{}\n{}", terminal::heading(&columns.head()), columns.rows(&found.at));
    out + "\n" + &text::wrap(&found.sentence(language), terminal::table_width(), 2)
}
