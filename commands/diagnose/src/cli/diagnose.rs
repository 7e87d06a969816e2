//! `evalcurve diagnose`

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use evalcurve_app::cli::engines::nothing;
use evalcurve_app::cli::files::{check_replace, is_there, make_folder, shown};
use evalcurve_app::cli::options::{InputArgs, OutputArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, progress, terminal};
use evalcurve_app::judge::split::Split;
use evalcurve_app::report::html::GENERATOR;
use evalcurve_app::report::{figures, text as words};
use evalcurve_app::with_flags;
use evalcurve_figures::Data;
use evalcurve_fit::calibration::file_stems;
use evalcurve_words::whole_file::WholeFiles;
use evalcurve_words::{key, say, text};

use crate::page::page;
use crate::{Diagnose, Diagnosed};

/// Largest width of the verdict in columns.
const WIDTH: usize = 110;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve diagnose samples.parquet
      writes evalcurve-out/diagnosis.html and diagnosis.json, and prints a verdict of ten lines
  evalcurve diagnose games/ --by phase --by \"ply >= 90 and color = black\"
  evalcurve diagnose samples.parquet --mate-policy keep --engine nanopery
      shows which samples make least squares and maximum likelihood differ

The page contains its figures and tables and loads nothing; it can be mailed, printed, and read on a phone.")]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// The score to translate between engines, in centipawns
    #[arg(long, value_name = "CP", default_value_t = 200, value_parser = clap::value_parser!(i32).range(1..=100_000),
          help_heading = "Diagnosis")]
    score: i32,

    /// Split curves by phase, color, rating-gap, opponent, time-control or an expression (ply >= 90 and score_cp > 0);
    /// can be repeated [default: phase, color, rating-gap]
    #[arg(long, value_name = "WORD|EXPRESSION", value_parser = Split::parse, help_heading = "Diagnosis")]
    by: Vec<Split>,

    /// Folder for diagnosis.html and diagnosis.json
    #[arg(long, short, value_name = "FOLDER", default_value = "evalcurve-out", help_heading = "Output")]
    out: PathBuf,

    /// Write the numbers of each figure of the page as CSV into OUT/diagnosis-data
    #[arg(long, help_heading = "Output")]
    data: bool,

    /// Replace files of these names even if another program wrote them
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    force: bool,

    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    /// The command.
    pub fn command(&self) -> Diagnose {
        let score_cp = Some(f64::from(self.score));
        let (reading, fitting) = (self.input.reading(), self.input.fitting());
        Diagnose { reading, fitting, score_cp, splits: self.by.clone() }
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "diagnose";
    const ABOUT: &'static str = key!("Report how precise, how accurate and how comparable scores are");
    const HEADING: Heading = Heading::Judge;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        if self.out.extension().is_some_and(|e| e.eq_ignore_ascii_case("html")) && !self.out.is_dir() {
            let folder = self.out.with_extension("");
            bail!(text!(
                "--out {}: it names a folder for two files; write for example --out {}",
                shown(&self.out),
                shown(&folder)
            ));
        }
        let (html, data) = (self.out.join("diagnosis.html"), self.out.join("diagnosis.json"));
        let own = |path: &PathBuf, mark: &str| fs::read_to_string(path).is_ok_and(|text| text.contains(mark));
        for (path, mark) in [(&html, GENERATOR), (&data, "\"evalcurve-diagnosis\"")] {
            if is_there(path) && !own(path, mark) {
                check_replace(path, self.force)?;
            }
        }
        let command = self.command();
        let examined = progress::shown(self.output.quiet, |progress| command.run(&self.input.input(), progress))?;
        let found = &examined.value.diagnosis;
        let language = self.input.language.chosen();
        if found.base.calibrated == 0 {
            terminal::tell(&examined, self.output.is_quiet(), language);
            return Ok(nothing(found.results.iter(), language));
        }
        let report = Diagnosed::report(&examined, language);
        let document = report.document();
        let page = page(&report)?;
        make_folder(&self.out)?;
        let numbers = self.data.then(|| self.out.join("diagnosis-data"));
        // what cannot be written is known before the first file is replaced
        numbers.iter().try_for_each(|folder| make_folder(folder))?;
        let mut together = WholeFiles::default();
        together.add(&html, with_flags(&page.html).as_bytes())?;
        together.add(&data, with_flags(&format!("{document:#}\n")).as_bytes())?;
        together.finish()?;
        let mut written = vec![shown(&html), shown(&data)];
        if let Some(folder) = numbers {
            written.push(write_numbers(&folder, page.numbers)?);
        }
        let text = || {
            let width = terminal::width().min(WIDTH);
            let last = written.pop().unwrap_or_default();
            let written = say!(language, "written {} and {last}", written.join(language.word(", ")));
            let read = words::wrap(&words::reading(&examined.report, language), width, words::LABEL);
            format!("{read}{}\n{written}\n", report.text(width))
        };
        self.output.print(|| document, text)?;
        terminal::tell(&examined, self.output.is_quiet(), language);
        Ok(Done::Yes)
    }
}

/// Writes the numbers of each figure into a folder and returns the folder.
fn write_numbers(folder: &Path, numbers: Vec<(String, Data)>) -> anyhow::Result<String> {
    let titles: Vec<&str> = numbers.iter().map(|(title, _)| title.as_str()).collect();
    for (stem, (_, data)) in file_stems(&titles).into_iter().zip(&numbers) {
        figures::write_numbers(folder, &stem, data)?;
    }
    Ok(shown(folder))
}
