//! Options that several commands share.

mod output;
pub mod values;

use std::path::PathBuf;

use crate::{Calibrate, Fitting, Input, Reading};
pub use output::{LanguageArgs, OutputArgs, TableArgs, language, language_of, set_language};
pub use values::{formats, games, one_of, percent, threads, threshold, view};

/// What is read and sampled, and how engines are fitted.
#[derive(Debug, Clone, clap::Args)]
pub struct InputArgs {
    /// Records, training data, logs or tables (Parquet, CSV): files, folders (searched recursively), globs or archives
    /// (.gz .bz2 .zst .xz .zip .7z .tar); or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    #[command(flatten)]
    pub given: Reading,

    /// Read long options from a TOML file (min-samples = 300)
    #[arg(long, value_name = "FILE", help_heading = "Reading", hide_short_help = true)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    fit: Fitting,

    #[command(flatten)]
    pub language: LanguageArgs,
}

impl InputArgs {
    /// What is read.
    pub fn input(&self) -> Input {
        Input::paths(&self.paths)
    }

    /// How it is read.
    pub fn reading(&self) -> Reading {
        self.given.clone()
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
