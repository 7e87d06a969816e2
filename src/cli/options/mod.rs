//! Options that several commands share, and their conversion to options of the library.

mod filters;
mod fitting;
mod output;

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::calibrate::CalibrateOptions;
use crate::language::Text;
use crate::record::{FORMATS, Format};
use crate::sample::{DEFAULT_PACKED_EVERY, DEFAULT_SEED, SamplingOptions};
use crate::table::{Columns, Role, ScoreUnit, TableOptions};
use crate::text;
use crate::text::shown_path;
pub(super) use filters::FilterArgs;
pub(super) use fitting::FitArgs;
pub(super) use output::{LanguageArgs, OutputArgs, PlotArgs, TableArgs, language_of};

/// What is read and sampled, and how engines are fitted.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct InputArgs {
    /// Records, training data, logs or tables (Parquet, CSV): files, folders (searched recursively), globs or archives
    /// (.gz .bz2 .zst .xz .zip .7z .tar); or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads, help_heading = "Reading", hide_short_help = true)]
    pub threads: Option<usize>,

    /// Stop at the first damaged record instead of skipping it
    #[arg(long, help_heading = "Reading", hide_short_help = true)]
    pub strict: bool,

    /// Check the moves of each CSA game with a second reader (the csa crate)
    #[arg(long, help_heading = "Reading", hide_short_help = true)]
    pub verify: bool,

    /// Read all files as this format instead of detecting the format by content
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Reading", hide_short_help = true)]
    pub format: Option<FormatArg>,

    /// Name of a table column, if not that of a sample table: ROLE=NAME, e.g. score=cp, engine=player; may be repeated;
    /// ROLE= ignores a column
    #[arg(long, value_name = "ROLE=NAME", value_parser = column, help_heading = "Tables", hide_short_help = true)]
    pub column: Vec<(Role, String)>,

    /// Unit of the scores of a table; win rates become 600 ln(p / (1 - p)) centipawns, 0 and 1 become mates
    #[arg(long, value_parser = one_of::<ScoreUnit>(), default_value = "centipawn",
          help_heading = "Tables", hide_short_help = true)]
    pub score_unit: ScoreUnit,

    /// Read long options from a TOML file (min-samples = 300)
    #[arg(long, value_name = "FILE", help_heading = "Reading", hide_short_help = true)]
    pub config: Option<PathBuf>,

    /// First ply that is sampled
    #[arg(long, value_name = "PLY", default_value_t = 30, help_heading = "Sampling", hide_short_help = true)]
    pub from_ply: u32,

    /// Plies per window; one position of each side is drawn from each window
    #[arg(long, value_name = "PLIES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Sampling", hide_short_help = true)]
    pub window: u32,

    /// Take every scored position from --from-ply on, as Stockfish's WDL_model does, not one per window. This adds
    /// little: the positions of one game share its result, and intervals count games (they are clustered) either way
    #[arg(long, conflicts_with = "window", help_heading = "Sampling", hide_short_help = true)]
    pub all_positions: bool,

    /// Number of the first move of a record, for records that begin in the middle of a game; a FEN has its own number
    #[arg(long, value_name = "PLY", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Sampling", hide_short_help = true)]
    pub start_ply: u32,

    /// Seed of the draw
    #[arg(long, default_value_t = DEFAULT_SEED, help_heading = "Sampling", hide_short_help = true)]
    pub seed: u64,

    /// Count drawn games as half a win, or leave them out
    #[arg(long, value_parser = ["half", "drop"], default_value = "half",
          help_heading = "Sampling", hide_short_help = true)]
    pub draws: String,

    /// Sample the analyses in the records and name their engine NAME; also the engine of training data (HCPE, HCPE3,
    /// PSV) and of tables without an engine column
    #[arg(long, value_name = "NAME", help_heading = "Sampling", hide_short_help = true)]
    pub annotator: Option<String>,

    /// Draw one of every N positions of training data (HCPE, HCPE3, PSV), instead of one per window
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PACKED_EVERY,
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "Sampling", hide_short_help = true)]
    pub packed_every: u32,

    /// Count the material (9Q+5R+3B+3N+P of both sides) of the drawn positions of PGN games by replaying their moves;
    /// implied by --model wdl-material and by conditions on the material
    #[arg(long, help_heading = "Sampling", hide_short_help = true)]
    pub material: bool,

    /// Draw from all positions, for engines that will score them.
    #[arg(skip)]
    pub unscored: bool,

    #[command(flatten)]
    pub filters: FilterArgs,

    #[command(flatten)]
    pub fit: FitArgs,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// The value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormatArg {
    Table,
    Records(&'static Format),
}

/// Parses one of the words of an enum of the library, and lists them in `--help`.
fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = strum::ParseError> + strum::VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse::<T>())
}

/// The number of cores.
pub(super) fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Largest number of threads.
const MOST_THREADS: usize = 1_024;
/// Parses the value of `--threads`.
pub(super) fn threads(value: &str) -> Result<usize, Text> {
    let threads = value.parse().ok().filter(|n| *n <= MOST_THREADS);
    threads.ok_or_else(|| {
        text!("expected a whole number of threads up to {MOST_THREADS}", "スレッド数は {MOST_THREADS} までの整数です")
    })
}

fn column(value: &str) -> Result<(Role, String), Text> {
    let roles = <Role as strum::VariantNames>::VARIANTS.join(", ");
    let (role, name) = value.split_once('=').ok_or_else(|| {
        text!("write ROLE=NAME, with ROLE one of {roles}", "役割=列名 と書いてください。役割は {roles} のどれかです")
    })?;
    let role = role.trim().parse().map_err(|_| {
        text!(
            "'{role}' is not the role of a column; expected one of {roles}",
            "'{role}' は列の役割ではありません。{roles} のどれかです"
        )
    })?;
    Ok((role, name.trim().to_owned()))
}

/// The values of `--format`: the list of formats, and tables.
fn formats() -> impl TypedValueParser<Value = FormatArg> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name).chain(["table"]))
        .map(|name| Format::by_name(&name).map_or(FormatArg::Table, FormatArg::Records))
}

impl InputArgs {
    pub(super) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(all_threads).max(1)
    }

    pub(super) fn sampling(&self) -> SamplingOptions {
        SamplingOptions {
            from_ply: self.from_ply,
            window: if self.all_positions { 1 } else { self.window },
            start_ply: self.start_ply,
            seed: self.seed,
            drop_draws: self.draws == "drop",
            annotator: self.annotator.clone(),
            packed_every: self.packed_every,
            terminations: self.filters.terminations.clone(),
            unscored: self.unscored,
        }
    }

    /// Whether to count the material, because of the option, the model or a condition.
    pub(super) fn material(&self) -> bool {
        let of_model = self.fit.model.kind().needs().material;
        self.material || of_model || self.filters.names_material()
    }

    /// The format of all records, if the user gives one.
    pub(super) fn record_format(&self) -> Option<&'static Format> {
        match self.format {
            Some(FormatArg::Records(format)) => Some(format),
            Some(FormatArg::Table) | None => None,
        }
    }

    /// How tables are read.
    pub(super) fn tables(&self) -> TableOptions {
        let mut columns = Columns::default();
        self.column.iter().for_each(|(role, name)| columns.set(*role, name));
        TableOptions { columns, unit: self.score_unit, engine: self.annotator.clone(), threads: self.threads() }
    }

    /// The filters in words, for the calibration file.
    pub(super) fn filter_words(&self) -> Vec<String> {
        let mut words = self.filters.list_words();
        words.extend(self.annotator.iter().map(|name| format!("annotator {name}")));
        words.extend(self.filters.limits().into_iter().map(|(option, value, _)| format!("{option} {value}")));
        if self.score_unit != ScoreUnit::default() {
            words.push(format!("score-unit {}", self.score_unit));
        }
        words.extend(self.column.iter().map(|(role, name)| format!("column {}={name}", role.as_str())));
        words
    }

    pub(super) fn calibrate_options(&self) -> CalibrateOptions {
        let fit = &self.fit;
        CalibrateOptions {
            mate_policy: fit.mate_policy,
            clip_cp: fit.clip,
            thresholds: fit.thresholds(),
            bin_cp: fit.bin,
            min_bin: fit.min_bin,
            min_samples: fit.min_samples,
            min_games: fit.min_games,
            model: fit.model.kind(),
            other_models: Vec::new(),
            folds: (fit.folds > 0).then_some(fit.folds),
            bands: fit.bands,
            sampling: self.sampling(),
            filters: self.filter_words(),
            inputs: self.input_words(),
        }
    }

    /// The inputs for the calibration file, without folders of this machine.
    fn input_words(&self) -> Vec<String> {
        let word = |path: &PathBuf| {
            let name = path.file_name().filter(|_| path.is_absolute() || path.starts_with(".."));
            shown_path(name.map_or(path, Path::new))
        };
        self.paths.iter().map(word).filter(|w| !w.is_empty()).collect()
    }
}
