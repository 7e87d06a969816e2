//! Options that several commands share, and their conversion to options of the library.

mod filters;
mod fitting;
mod output;

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use evalcurve_engine::Game;
use evalcurve_records::record::{FORMATS, Format};
use evalcurve_records::sample::{DEFAULT_PACKED_EVERY, DEFAULT_SEED, Duplicates, View};
use evalcurve_tables::{Role, ScoreUnit};
use evalcurve_words::language::Text;
use evalcurve_words::text;

use crate::{Calibrate, FileFormat, Fitting, Input, Reading, Sampling};
pub use filters::FilterArgs;
pub use fitting::FitArgs;
pub use fitting::threshold;
pub use output::LanguageArgs;
pub use output::OutputArgs;
pub use output::PlotArgs;
pub use output::TableArgs;
pub use output::language;
pub use output::language_of;
pub use output::set_language;

/// What is read and sampled, and how engines are fitted.
#[derive(Debug, Clone, clap::Args)]
pub struct InputArgs {
    /// Records, training data, logs or tables (Parquet, CSV): files, folders (searched recursively), globs or archives
    /// (.gz .bz2 .zst .xz .zip .7z .tar); or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads, help_heading = "Reading", hide_short_help = true)]
    threads: Option<usize>,

    /// Stop at the first damaged record instead of skipping it
    #[arg(long, help_heading = "Reading", hide_short_help = true)]
    strict: bool,

    /// Check the moves of each CSA game with a second reader (the csa crate)
    #[arg(long, help_heading = "Reading", hide_short_help = true)]
    verify: bool,

    /// Read all files as this format instead of detecting the format by content
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Reading", hide_short_help = true)]
    format: Option<FileFormat>,

    /// Name of a table column, if not that of a sample table: ROLE=NAME, e.g. score=cp, engine=player; may be repeated;
    /// ROLE= ignores a column
    #[arg(long, value_name = "ROLE=NAME", value_parser = column, help_heading = "Tables", hide_short_help = true)]
    column: Vec<(Role, String)>,

    /// Unit of the scores of a table: centipawn, pawn, winrate or percent, for all engines or for one (A=pawn); may be
    /// repeated. Win rates become 600 ln(p / (1 - p)) centipawns, 0 and 1 become mates [default: centipawn]
    #[arg(long, value_name = "[ENGINE=]UNIT", value_parser = score_unit, help_heading = "Tables",
          hide_short_help = true)]
    score_unit: Vec<(Option<String>, ScoreUnit)>,

    /// Read long options from a TOML file (min-samples = 300)
    #[arg(long, value_name = "FILE", help_heading = "Reading", hide_short_help = true)]
    pub config: Option<PathBuf>,

    /// First ply that is sampled
    ///
    /// [default: 30]
    #[arg(long, value_name = "PLY", help_heading = "Sampling", hide_short_help = true)]
    from_ply: Option<u32>,

    /// Plies per window; one position of each side is drawn from each window
    ///
    /// [default: 60]
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Sampling", hide_short_help = true)]
    window: Option<u32>,

    /// Take every scored position from --from-ply on, as Stockfish's WDL_model does, not one per window. This adds
    /// little: the positions of one game share its result, and intervals count games (they are clustered) either way
    #[arg(long, conflicts_with = "window", help_heading = "Sampling", hide_short_help = true)]
    all_positions: bool,

    /// Number of the first move of a record, for records that begin in the middle of a game; a FEN has its own number
    ///
    /// [default: 1]
    #[arg(long, value_name = "PLY", value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Sampling", hide_short_help = true)]
    start_ply: Option<u32>,

    /// Seed of the draw
    #[arg(long, default_value_t = DEFAULT_SEED, help_heading = "Sampling", hide_short_help = true)]
    pub seed: u64,

    /// Count drawn games as half a win, or leave them out
    #[arg(long, value_parser = ["half", "drop"], default_value = "half",
          help_heading = "Sampling", hide_short_help = true)]
    draws: String,

    /// Count games with the same moves once, or only the same game in two files
    #[arg(long, value_parser = ["by-moves", "by-identity"], default_value = "by-moves",
          help_heading = "Sampling", hide_short_help = true)]
    duplicates: String,

    /// Whose point of view the players' scores have where only a convention says it: the mover's in PGN of cutechess,
    /// Arena and OpenBench, Black's in CSA of floodgate; auto takes the other one where the games of a file show it
    #[arg(long, value_parser = view(), default_value = "auto", help_heading = "Sampling", hide_short_help = true)]
    view: View,

    /// Sample the analyses in the records and name their engine NAME; also the engine of training data (HCPE, HCPE3,
    /// PSV) and of tables without an engine column
    #[arg(long, value_name = "NAME", help_heading = "Sampling", hide_short_help = true)]
    annotator: Option<String>,

    /// Draw one of every N positions of training data (HCPE, HCPE3, PSV), instead of one per window
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PACKED_EVERY,
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "Sampling", hide_short_help = true)]
    packed_every: u32,

    /// Count the material (9Q+5R+3B+3N+P of both sides) of the drawn positions of PGN games by replaying their moves;
    /// implied by --model wdl-material and by conditions on the material
    #[arg(long, help_heading = "Sampling", hide_short_help = true)]
    material: bool,

    /// Take the positions that Stockfish's WDL_model takes by default: every scored position of the moves 1 to 120,
    /// scores up to 400 and material 17 to 78; with --model wdl-material unless another is given
    #[arg(long, conflicts_with_all = ["window", "from_ply"], help_heading = "Sampling", hide_short_help = true)]
    like_wdl_model: bool,

    #[command(flatten)]
    pub filters: FilterArgs,

    #[command(flatten)]
    fit: FitArgs,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// Parses one of the words of an enum of the library, and lists them in `--help`.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = strum::ParseError> + strum::VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse::<T>())
}

/// The values of `--view`. White moves first in chess, and Black in shogi.
pub fn view() -> impl TypedValueParser<Value = View> {
    PossibleValuesParser::new(["auto", "mover", "white", "black"]).map(|word| match word.as_str() {
        "mover" => View::Mover,
        "white" | "black" => View::First,
        _ => View::Auto,
    })
}

/// Largest number of threads.
const MOST_THREADS: usize = 1_024;
/// Parses the value of `--threads`.
pub fn threads(value: &str) -> Result<usize, Text> {
    let threads = value.parse().ok().filter(|n| *n <= MOST_THREADS);
    threads.ok_or_else(|| text!("expected a whole number of threads up to {MOST_THREADS}"))
}

fn column(value: &str) -> Result<(Role, String), Text> {
    let roles = <Role as strum::VariantNames>::VARIANTS.join(", ");
    let (role, name) = value.split_once('=').ok_or_else(|| text!("write ROLE=NAME, with ROLE one of {roles}"))?;
    let role =
        role.trim().parse().map_err(|_| text!("'{role}' is not the role of a column; expected one of {roles}"))?;
    Ok((role, name.trim().to_owned()))
}

fn score_unit(value: &str) -> Result<(Option<String>, ScoreUnit), Text> {
    let (engine, unit) = match value.rsplit_once('=') {
        Some((engine, unit)) => (Some(engine.trim().to_owned()), unit.trim()),
        None => (None, value.trim()),
    };
    let units = <ScoreUnit as strum::VariantNames>::VARIANTS.join(", ");
    let unit = unit.parse().map_err(|_| text!("'{unit}' is not a unit of scores; expected one of {units}"))?;
    Ok((engine, unit))
}

/// The values of `--format`: the list of formats, and tables.
pub fn formats() -> impl TypedValueParser<Value = FileFormat> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name).chain(["table"]))
        .map(|name| Format::by_name(&name).map_or(FileFormat::Table, FileFormat::Records))
}

/// The games of which the program has positions.
pub fn games() -> impl TypedValueParser<Value = Game> {
    PossibleValuesParser::new(["shogi", "chess"]).try_map(|name| name.parse::<Game>())
}

pub fn percent(value: &str) -> Result<f64, Text> {
    let number = value.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    number
        .filter(|n| *n > 0.0 && *n <= 100.0)
        .map(|n| n / 100.0)
        .ok_or_else(|| text!("'{value}' is no share; write for example 10%"))
}

/// A number of percent, with or without its sign.
pub fn percents(value: &str) -> Result<f64, Text> {
    let number = value.trim().trim_end_matches(['%', '％']).trim().parse::<f64>().ok();
    number.ok_or_else(|| text!("'{value}' is no percentage; write for example 10 or 10%"))
}

impl InputArgs {
    /// What is read.
    pub fn input(&self) -> Input {
        Input::paths(&self.paths)
    }

    /// How it is read.
    pub fn reading(&self) -> Reading {
        Reading {
            threads: self.threads,
            strict: self.strict,
            verify: self.verify,
            format: self.format,
            columns: self.column.clone(),
            score_unit: self.score_unit.clone(),
            material: self.material,
            sampling: Sampling {
                from_ply: self.from_ply.or(self.like_wdl_model.then_some(1)),
                window: self.window,
                all_positions: self.all_positions || self.like_wdl_model,
                start_ply: self.start_ply,
                seed: Some(self.seed),
                drop_draws: self.draws == "drop",
                annotator: self.annotator.clone(),
                packed_every: Some(self.packed_every),
                unscored: false,
                view: self.view,
                duplicates: if self.duplicates == "by-moves" { Duplicates::ByMoves } else { Duplicates::ByIdentity },
            },
            filters: self.filters.filters(self.like_wdl_model),
        }
    }

    /// How engines are fitted.
    pub fn fitting(&self) -> Fitting {
        self.fit.fitting()
    }

    /// The command that calibrates.
    pub fn calibrate(&self) -> Calibrate {
        Calibrate { reading: self.reading(), fitting: self.fitting() }
    }
}
