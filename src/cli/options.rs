//! Options that several commands share, and how they become the library's.

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::calibrate::mates::{Threshold, Thresholds};
use crate::calibrate::{CalibrateOptions, choose};
use crate::calibration::MatePolicy;
use crate::fit::ModelKind;
use crate::record::{FORMATS, Format, StartTime};
use crate::sample::expression::Expression;
use crate::sample::{Aliases, DEFAULT_PACKED_EVERY, DEFAULT_SEED, Filter, SampleTable, SamplingOptions};
use crate::table::{Columns, Role, ScoreUnit, TableOptions};
use crate::types::Termination;
use crate::validate::Choice;

/// What is read, and how.
#[derive(Debug, clap::Args)]
pub(super) struct InputArgs {
    /// Records, training data, logs: files, folders (searched through), globs, archives (.gz .zst .xz .zip .7z .tar), -
    /// for standard input; or tables (Parquet, CSV)
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Threads at work [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Reading")]
    pub threads: Option<usize>,

    /// Stop at the first damaged record instead of skipping it
    #[arg(long, help_heading = "Reading")]
    pub strict: bool,

    /// Check the moves of every CSA game with a second reader (the csa crate)
    #[arg(long, help_heading = "Reading")]
    pub verify: bool,

    /// Read every file as this format instead of detecting the format by content
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Reading")]
    pub format: Option<FormatArg>,

    /// What the columns of a table are called, where not as in a sample table: ROLE=NAME, e.g. score=cp, engine=player;
    /// may be repeated; ROLE= passes a column over
    #[arg(long, value_name = "ROLE=NAME", value_parser = column, help_heading = "Tables")]
    pub column: Vec<(Role, String)>,

    /// Unit of a table's scores; win rates become 600 ln(p / (1 - p)) centipawns, 0 and 1 mates
    #[arg(long, value_enum, default_value_t = ScoreUnitArg::Centipawn, help_heading = "Tables")]
    pub score_unit: ScoreUnitArg,

    /// Read long options from a TOML file (min-samples = 300)
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub config: Option<PathBuf>,

    /// First ply that is sampled
    #[arg(long, value_name = "PLY", default_value_t = 30, help_heading = "Sampling")]
    pub from_ply: u32,

    /// Plies in a window; one position of each side is drawn from each
    #[arg(long, value_name = "PLIES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Sampling")]
    pub window: u32,

    /// Number of the first move of a record, for records that begin in the middle of a game; a FEN has its own
    #[arg(long, value_name = "PLY", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Sampling")]
    pub start_ply: u32,

    /// Seed of the draw
    #[arg(long, default_value_t = DEFAULT_SEED, help_heading = "Sampling")]
    pub seed: u64,

    /// Drawn games count half, or are left out
    #[arg(long, value_enum, default_value_t = DrawsArg::Half, help_heading = "Sampling")]
    pub draws: DrawsArg,

    /// Draw from the analyses in the records, and call the engine that made them NAME; the engine of training data
    /// (HCPE, HCPE3, PSV) and of tables that name none
    #[arg(long, value_name = "NAME", help_heading = "Sampling")]
    pub annotator: Option<String>,

    /// Draw one position of every N of training data (HCPE, HCPE3, PSV), which windows do not fit
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PACKED_EVERY,
          value_parser = clap::value_parser!(u32).range(1..), help_heading = "Sampling")]
    pub packed_every: u32,

    /// Count the material (9Q+5R+3B+3N+P of both sides) of the drawn positions of PGN games, by playing their moves; --model
    /// wdl-material and conditions on it do so unasked
    #[arg(long, help_heading = "Sampling")]
    pub material: bool,

    /// Rename engines, e.g. "Gikou_* = Gikou", or @FILE with one such rule a line
    #[arg(long, value_name = "ALIAS=NAME", help_heading = "Filters (names are globs)")]
    pub alias: Vec<String>,

    /// Only these engines
    #[arg(long, value_name = "NAME", help_heading = "Filters (names are globs)")]
    pub engine: Vec<String>,

    /// Not these engines
    #[arg(long, value_name = "NAME", help_heading = "Filters (names are globs)")]
    pub not_engine: Vec<String>,

    /// Only against these opponents
    #[arg(long, value_name = "NAME", help_heading = "Filters (names are globs)")]
    pub opponent: Vec<String>,

    /// Not against these opponents
    #[arg(long, value_name = "NAME", help_heading = "Filters (names are globs)")]
    pub not_opponent: Vec<String>,

    /// Only engines rated at least this in their game
    #[arg(long, value_name = "RATING", help_heading = "Filters (names are globs)")]
    pub min_rating: Option<f64>,

    /// Only against opponents rated at least this
    #[arg(long, value_name = "RATING", help_heading = "Filters (names are globs)")]
    pub min_opponent_rating: Option<f64>,

    /// Only positions up to this ply
    #[arg(long, value_name = "PLY", help_heading = "Filters (names are globs)")]
    pub max_ply: Option<u32>,

    /// Only games that ended so (resignation, time_up, illegal_move, declaration, repetition, max_moves, …)
    #[arg(long, value_name = "WORD", value_parser = termination, help_heading = "Filters (names are globs)")]
    pub termination: Vec<Termination>,

    /// Not games that ended so
    #[arg(long, value_name = "WORD", value_parser = termination, help_heading = "Filters (names are globs)")]
    pub not_termination: Vec<Termination>,

    /// Only games from this day on (2016-04-01)
    #[arg(long, value_name = "DATE", value_parser = date, help_heading = "Filters (names are globs)")]
    pub since: Option<StartTime>,

    /// Only games up to this day
    #[arg(long, value_name = "DATE", value_parser = date, help_heading = "Filters (names are globs)")]
    pub until: Option<StartTime>,

    /// Only games with this time control, as the sample table has it (300+10F)
    #[arg(long, value_name = "TEXT", help_heading = "Filters (names are globs)")]
    pub time_control: Vec<String>,

    /// Only samples that meet a condition over the table's columns ("ply >= 90 and score_cp != 0")
    #[arg(long = "where", value_name = "EXPR", value_parser = Expression::parse, help_heading = "Filters (names are globs)")]
    pub condition: Vec<Expression>,
}

/// What becomes of scores, and how engines are fitted.
#[derive(Debug, clap::Args)]
pub(super) struct FitArgs {
    /// Mates: left out, clipped to ±CLIP, or kept as they are
    #[arg(long, value_enum, default_value_t = MatePolicyArg::Exclude, help_heading = "Fitting")]
    pub mate_policy: MatePolicyArg,

    /// Size from which a score is a mate: CP or auto, for all or for one engine (sjaakii=15000); may be repeated
    /// [default: 20000]
    #[arg(long, value_name = "[ENGINE=]CP|auto", value_parser = threshold, help_heading = "Fitting")]
    pub mate_threshold: Vec<(Option<String>, Threshold)>,

    /// Centipawns that a mate counts under --mate-policy clip
    #[arg(long, value_name = "CP", default_value_t = 3000, help_heading = "Fitting")]
    pub clip: u32,

    /// Width of a bin of the evaluation curve in centipawns
    #[arg(long, value_name = "CP", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Fitting")]
    pub bin: u32,

    /// Samples that a bin needs to be plotted
    #[arg(long, value_name = "N", default_value_t = 50, help_heading = "Fitting")]
    pub min_bin: u64,

    /// Samples that an engine needs to be fitted
    #[arg(long, value_name = "N", default_value_t = 30, help_heading = "Fitting")]
    pub min_samples: u64,

    /// Resamples of the games for intervals and bands by bootstrap, 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(..=1_000_000),
          help_heading = "Fitting")]
    pub bands: u32,

    /// The model of the calibration; both sigmoids stand beside it in the file. auto: the simplest that is as good as
    /// the best out of sample, one for all engines
    #[arg(long, value_enum, default_value_t = ModelArg::MaximumLikelihood, hide_possible_values = true,
          value_name = "least-squares|maximum-likelihood|strength|strength-shared|phase|isotonic|beta|wdl|wdl-material|auto",
          help_heading = "Fitting")]
    pub model: ModelArg,

    /// Folds over games in which the model is judged on games that it has not seen; 0: not at all
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = folds, help_heading = "Fitting")]
    pub folds: u64,
}

/// How results are told.
#[derive(Debug, clap::Args)]
pub(super) struct TellArgs {
    /// Print one JSON document instead of tables
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Print errors only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// See [`ScoreUnit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ScoreUnitArg {
    Centipawn,
    Pawn,
    #[value(name = "winrate")]
    WinRate,
    Percent,
}

impl ScoreUnitArg {
    fn unit(self) -> ScoreUnit {
        match self {
            Self::Centipawn => ScoreUnit::Centipawn,
            Self::Pawn => ScoreUnit::Pawn,
            Self::WinRate => ScoreUnit::WinRate,
            Self::Percent => ScoreUnit::Percent,
        }
    }
}

/// The value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormatArg {
    Table,
    Records(&'static Format),
}

/// Draws in games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DrawsArg {
    Half,
    Drop,
}

/// See [`MatePolicy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MatePolicyArg {
    Exclude,
    Clip,
    Keep,
}

/// See [`ModelKind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ModelArg {
    #[value(aliases = ["lse", "least_squares"])]
    LeastSquares,
    #[value(aliases = ["mle", "maximum_likelihood"])]
    MaximumLikelihood,
    Strength,
    #[value(alias = "strength_shared")]
    StrengthShared,
    Phase,
    Isotonic,
    Beta,
    Wdl,
    #[value(alias = "wdl_material")]
    WdlMaterial,
    Auto,
}

impl ModelArg {
    /// The model; that of `auto` is chosen later.
    fn kind(self) -> ModelKind {
        match self {
            Self::LeastSquares => ModelKind::LeastSquares,
            Self::MaximumLikelihood | Self::Auto => ModelKind::MaximumLikelihood,
            Self::Strength => ModelKind::Strength,
            Self::StrengthShared => ModelKind::StrengthShared,
            Self::Phase => ModelKind::Phase,
            Self::Isotonic => ModelKind::Isotonic,
            Self::Beta => ModelKind::Beta,
            Self::Wdl => ModelKind::Wdl,
            Self::WdlMaterial => ModelKind::WdlMaterial,
        }
    }
}

fn folds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(1) => Err("a model is judged on games that it has not seen; give 2 or more, or 0 for no judging".to_owned()),
        Ok(folds) => Ok(folds),
        Err(_) => Err("not a number of folds".to_owned()),
    }
}

fn termination(word: &str) -> Result<Termination, String> {
    Termination::parse(word).ok_or_else(|| {
        let words: Vec<&str> = Termination::ALL.iter().map(|t| t.as_str()).collect();
        format!("not a termination; one of {}", words.join(", "))
    })
}

fn column(text: &str) -> Result<(Role, String), String> {
    let roles = || Role::ALL.map(Role::as_str).join(", ");
    let (role, name) = text.split_once('=').ok_or_else(|| format!("write ROLE=NAME, ROLE one of {}", roles()))?;
    let role =
        Role::parse(role.trim()).ok_or_else(|| format!("'{role}' is no role of a column; one of {}", roles()))?;
    Ok((role, name.trim().to_owned()))
}

/// The values of `--format`: the list of formats, and tables.
fn formats() -> impl TypedValueParser<Value = FormatArg> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name).chain(["table"]))
        .map(|name| Format::by_name(&name).map_or(FormatArg::Table, FormatArg::Records))
}

fn date(text: &str) -> Result<StartTime, String> {
    StartTime::parse(text).ok_or_else(|| "not a date; write for example 2016-04-01".to_owned())
}

fn threshold(text: &str) -> Result<(Option<String>, Threshold), String> {
    let (engine, value) = match text.rsplit_once('=') {
        Some((engine, value)) => (Some(engine.trim().to_owned()), value.trim()),
        None => (None, text.trim()),
    };
    let threshold = match value {
        "auto" => Threshold::Auto,
        number => Threshold::Cp(number.parse().map_err(|_| {
            format!("'{number}' is neither a number of centipawns nor auto; write 20000, auto or ENGINE=15000")
        })?),
    };
    Ok((engine, threshold))
}

impl InputArgs {
    pub(super) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get)).max(1)
    }

    pub(super) fn sampling(&self) -> SamplingOptions {
        SamplingOptions {
            from_ply: self.from_ply,
            window: self.window,
            start_ply: self.start_ply,
            seed: self.seed,
            drop_draws: self.draws == DrawsArg::Drop,
            annotator: self.annotator.clone(),
            packed_every: self.packed_every,
        }
    }

    /// Is the material wanted, by the option or by a condition?
    pub(super) fn material(&self) -> bool {
        self.material || self.condition.iter().any(Expression::names_material)
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
        TableOptions { columns, unit: self.score_unit.unit(), engine: self.annotator.clone(), threads: self.threads() }
    }

    pub(super) fn aliases(&self) -> anyhow::Result<Aliases> {
        let mut aliases = Aliases::default();
        for rule in &self.alias {
            match rule.strip_prefix('@') {
                Some(file) => {
                    let text =
                        std::fs::read_to_string(file).with_context(|| format!("{file}: cannot read the aliases"))?;
                    aliases.add_file(&text, file)?;
                }
                None => aliases.add(rule, "--alias")?,
            }
        }
        Ok(aliases)
    }

    pub(super) fn filter(&self) -> Filter {
        Filter {
            engines: self.engine.clone(),
            not_engines: self.not_engine.clone(),
            opponents: self.opponent.clone(),
            not_opponents: self.not_opponent.clone(),
            min_rating: self.min_rating,
            min_opponent_rating: self.min_opponent_rating,
            max_ply: self.max_ply,
            terminations: self.termination.clone(),
            not_terminations: self.not_termination.clone(),
            since: self.since,
            until: self.until,
            time_controls: self.time_control.clone(),
            conditions: self.condition.clone(),
        }
    }

    /// The filters in words, as the calibration file keeps them.
    pub(super) fn filter_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut list = |name: &str, values: &[String]| words.extend(values.iter().map(|v| format!("{name} {v}")));
        list("alias", &self.alias);
        list("engine", &self.engine);
        list("not-engine", &self.not_engine);
        list("opponent", &self.opponent);
        list("not-opponent", &self.not_opponent);
        let terminations = |t: &[Termination]| t.iter().map(|t| t.as_str().to_owned()).collect::<Vec<_>>();
        list("termination", &terminations(&self.termination));
        list("not-termination", &terminations(&self.not_termination));
        list("time-control", &self.time_control);
        list("where", &self.condition.iter().map(ToString::to_string).collect::<Vec<_>>());
        let mut one = |name: &str, value: Option<String>| words.extend(value.map(|v| format!("{name} {v}")));
        one("annotator", self.annotator.clone());
        one("min-rating", self.min_rating.map(|r| r.to_string()));
        one("min-opponent-rating", self.min_opponent_rating.map(|r| r.to_string()));
        one("max-ply", self.max_ply.map(|p| p.to_string()));
        one("since", self.since.map(|d| d.to_string()));
        one("until", self.until.map(|d| d.to_string()));
        let unit = self.score_unit.unit();
        one("score-unit", (unit != ScoreUnit::Centipawn).then(|| unit.to_string()));
        words.extend(self.column.iter().map(|(role, name)| format!("column {}={name}", role.as_str())));
        words
    }

    /// The inputs in words: no folder that only this machine has.
    fn input_words(&self) -> Vec<String> {
        let word = |path: &PathBuf| {
            let shown = if path.is_absolute() || path.starts_with("..") {
                path.file_name().map_or_else(|| path.to_string_lossy(), |n| n.to_string_lossy())
            } else {
                path.to_string_lossy()
            };
            shown.replace('\\', "/")
        };
        self.paths.iter().map(word).filter(|w| !w.is_empty()).collect()
    }
}

impl FitArgs {
    /// Does the model look at the material?
    pub(super) fn material(&self) -> bool {
        self.model == ModelArg::WdlMaterial
    }

    pub(super) fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        for (engine, threshold) in &self.mate_threshold {
            match engine {
                Some(engine) => thresholds.by_engine.push((engine.clone(), *threshold)),
                None => thresholds.default = *threshold,
            }
        }
        thresholds
    }

    /// Chooses the model where it is `auto`: sets it in the options, and the other candidates beside it.
    pub(super) fn choose(&self, table: &mut SampleTable, options: &mut CalibrateOptions) -> Option<Choice> {
        if self.model != ModelArg::Auto {
            return None;
        }
        match choose(table, options) {
            Ok(choice) => {
                options.model = choice.kind;
                options.beside = choice
                    .candidates
                    .iter()
                    .filter(|c| c.log_loss.is_ok() && !c.kind.is_baseline())
                    .map(|c| c.kind)
                    .collect();
                Some(choice)
            }
            // nothing to choose by: the engines' own errors say why
            Err(_) => None,
        }
    }

    pub(super) fn calibrate_options(&self, input: &InputArgs) -> CalibrateOptions {
        CalibrateOptions {
            mate_policy: match self.mate_policy {
                MatePolicyArg::Exclude => MatePolicy::Exclude,
                MatePolicyArg::Clip => MatePolicy::Clip,
                MatePolicyArg::Keep => MatePolicy::Keep,
            },
            clip_cp: self.clip,
            thresholds: self.thresholds(),
            bin_cp: self.bin,
            min_bin: self.min_bin,
            min_samples: self.min_samples,
            model: self.model.kind(),
            beside: Vec::new(),
            folds: (self.folds > 0).then_some(self.folds),
            bands: self.bands,
            sampling: input.sampling(),
            filters: input.filter_words(),
            inputs: input.input_words(),
        }
    }
}
