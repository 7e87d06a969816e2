//! Options that several commands share.

mod output;
pub mod values;

use std::path::PathBuf;

use evalcurve_records::sample::Expression;

use crate::{Calibrate, Fitting, Input, Reading};
pub use output::LanguageArgs;
pub use output::OutputArgs;
pub use output::PlotArgs;
pub use output::TableArgs;
pub use output::language;
pub use output::language_of;
pub use output::set_language;
pub use values::{formats, games, one_of, percent, percents, threads, threshold, view};

/// What is read and sampled, and how engines are fitted.
#[derive(Debug, Clone, clap::Args)]
pub struct InputArgs {
    /// Records, training data, logs or tables (Parquet, CSV): files, folders (searched recursively), globs or archives
    /// (.gz .bz2 .zst .xz .zip .7z .tar); or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// The options as they are given; [`InputArgs::reading`] has those of --like-wdl-model.
    #[command(flatten)]
    pub given: Reading,

    /// Read long options from a TOML file (min-samples = 300)
    #[arg(long, value_name = "FILE", help_heading = "Reading", hide_short_help = true)]
    pub config: Option<PathBuf>,

    /// Take the positions that Stockfish's WDL_model takes by default: every scored position of the moves 1 to 120,
    /// scores up to 400 and material 17 to 78; with --model wdl-material unless another is given
    #[arg(long, conflicts_with_all = ["window", "from_ply"], help_heading = "Sampling", hide_short_help = true)]
    like_wdl_model: bool,

    #[command(flatten)]
    fit: Fitting,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// The positions that Stockfish's WDL_model takes by default.
const WDL_MODEL: &str = "score_cp >= -400 and score_cp <= 400 and material >= 17 and material <= 78 and ply <= 240";

impl InputArgs {
    /// What is read.
    pub fn input(&self) -> Input {
        Input::paths(&self.paths)
    }

    /// How it is read.
    pub fn reading(&self) -> Reading {
        let mut reading = self.given.clone();
        if self.like_wdl_model {
            reading.sampling.from_ply = Some(1);
            reading.sampling.window = Some(1);
            reading.filters.condition.extend(Expression::parse(WDL_MODEL));
        }
        reading
    }

    /// How engines are fitted.
    pub fn fitting(&self) -> Fitting {
        self.fit.clone()
    }

    /// The command that calibrates.
    pub fn calibrate(&self) -> Calibrate {
        Calibrate { reading: self.reading(), fitting: self.fitting() }
    }
}
