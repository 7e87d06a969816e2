//! What `evalcurve-lab simulate` does.

use std::path::Path;

use evalcurve_app::cli::files::{check_replace, list_plots, make_folder};
use evalcurve_app::cli::options::language;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand};
use evalcurve_figures::PlotOptions;
use evalcurve_words::{key, whole_file};

use super::Args;
use crate::estimate::simulated_log;
use crate::report::simulation;
use crate::simulate::sweep::Sweep;
use crate::simulate::{RunOptions, document, simulate};

impl Subcommand for Args {
    const NAME: &'static str = "simulate";
    const ABOUT: &'static str = key!("Simulate which rule finds the best move");
    const HEADING: Heading = Heading::Theory;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let options = self.options();
        if let Some(folder) = &self.figures {
            return figures(self, folder, options);
        }
        let model = self.model()?;
        if let Some(file) = &self.votes {
            check_replace(file, self.force)?;
            whole_file::write(file, simulated_log(&model, self.trials, self.seed)?.as_bytes())?;
            return Ok(Done::Yes);
        }
        let found = simulate(&model, &self.contenders(&model)?, options)?;
        self.output.print(|| document(&model, &found), || simulation::text(&model, &found, language()))?;
        Ok(Done::Yes)
    }
}

fn figures(args: &Args, folder: &Path, options: RunOptions) -> anyhow::Result<Done> {
    make_folder(folder)?;
    let mut written = Vec::new();
    for varied in Sweep::ALL {
        written.push(simulation::write_figure(&Sweep::new(varied, options)?, folder, &PlotOptions::default())?);
    }
    list_plots(&args.output, &written, ", .png and .csv", None)
}
