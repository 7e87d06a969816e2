//! `evalcurve sample`

use std::path::PathBuf;

use evalcurve_app::cli::files::{check_replace, make_parent, shown};
use evalcurve_app::cli::options::{InputArgs, OutputArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, progress, terminal};
use evalcurve_app::report::text;
use evalcurve_app::{Reading, Sample};
use evalcurve_tables as table;
use evalcurve_words::{key, say};
use serde_json::json;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve sample games/ --out samples.parquet
  evalcurve sample games/ --out samples.csv --from-ply 1 --window 20 --seed 7

Any tool can read the table, and all commands of evalcurve accept it instead of the records.")]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Count the material (9Q+5R+3B+3N+P of both sides) of the drawn positions of PGN games by replaying their moves;
    /// implied by --model wdl-material and by conditions on the material
    #[arg(long, help_heading = "Sampling", hide_short_help = true)]
    material: bool,

    /// File for the table, .parquet or .csv
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    out: PathBuf,

    /// Replace an existing file
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    output: OutputArgs,
}

impl Subcommand for Args {
    const NAME: &'static str = "sample";
    const ABOUT: &'static str = key!("Write the sample table of records as Parquet or CSV");
    const HEADING: Heading = Heading::Calibrate;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        if !table::is_table(&self.out) {
            anyhow::bail!(evalcurve_words::text!("{}: a sample table ends in .parquet or .csv", self.out.display()));
        }
        check_replace(&self.out, self.force)?;
        let reading = Reading { material: self.material, ..self.input.reading() };
        let command = Sample { reading, fitting: self.input.fitting(), of_part: false };
        let drawn = progress::shown(self.output.quiet, |progress| command.run(&self.input.input(), progress))?;
        make_parent(&self.out)?;
        table::write(&drawn.value, Vec::new(), &self.out, rayon::current_num_threads())?;
        let (samples, language) = (drawn.value.samples.len(), self.input.language.chosen());
        let document = || {
            let table = self.out.to_string_lossy();
            drawn.document(json!({ "samples": samples, "table": table, "seed": command.reading.sampling().seed }))
        };
        let text = || {
            let count = text::thousands(samples as u64);
            let (read, out) = (text::reading(&drawn.report, language), shown(&self.out));
            say!(language, "{read}written {count} samples to {out}\n")
        };
        self.output.print(document, text)?;
        terminal::tell(&drawn, self.output.is_quiet(), language);
        Ok(if samples > 0 { Done::Yes } else { Done::Nothing })
    }
}
