//! Options that several commands share, and their conversion to options of the library.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;

use anyhow::Context;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use serde_json::Value;

use super::terminal;
use crate::calibrate::mates::{Threshold, Thresholds};
use crate::calibrate::{CalibrateOptions, DEFAULT_MIN_GAMES, DEFAULT_MODEL, choose};
use crate::calibration::MatePolicy;
use crate::fit::ModelKind;
use crate::language::{Language, Text};
use crate::record::encoding::whole_text;
use crate::record::{FORMATS, Format, StartTime};
use crate::report::figures::BinChoice;
use crate::sample::expression::{Column, Op};
use crate::sample::{
    Aliases, Condition, DEFAULT_PACKED_EVERY, DEFAULT_SEED, Expression, SampleTable, SamplingOptions, Terminations,
};
use crate::table::{Columns, Role, ScoreUnit, TableOptions};
use crate::text;
use crate::text::shown_path;
use crate::validate::Choice;

/// What is read and sampled, and how engines are fitted.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct InputArgs {
    /// Records, training data, logs or tables (Parquet, CSV): files, folders (searched recursively), globs or archives
    /// (.gz .zst .xz .zip .7z .tar); or - for standard input
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

    #[command(flatten)]
    pub filters: FilterArgs,

    #[command(flatten)]
    pub fit: FitArgs,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// Which samples are used.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Filters (names are globs)")]
pub(super) struct FilterArgs {
    /// Rename engines, e.g. "Gikou_* = Gikou", or @FILE with one such alias per line
    #[arg(long, value_name = "ALIAS=NAME")]
    pub alias: Vec<String>,

    /// Only these engines
    #[arg(long, value_name = "NAME")]
    pub engine: Vec<String>,

    /// Not these engines
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub not_engine: Vec<String>,

    /// Only against these opponents
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub opponent: Vec<String>,

    /// Not against these opponents
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    not_opponent: Vec<String>,

    /// Only engines with at least this rating in the game
    #[arg(long, value_name = "RATING", hide_short_help = true)]
    min_rating: Option<f64>,

    /// Only opponents with at least this rating
    #[arg(long, value_name = "RATING", hide_short_help = true)]
    min_opponent_rating: Option<f64>,

    /// Only positions up to this ply
    #[arg(long, value_name = "PLY", hide_short_help = true)]
    max_ply: Option<u32>,

    /// How games must have ended: played (not abnormal or interrupted), board (nor by time_up, illegal_move,
    /// illegal_declaration, max_moves), all, or words such as resignation,checkmate
    #[arg(long, value_name = "WORDS", default_value_t, hide_short_help = true)]
    pub terminations: Terminations,

    /// Only games from this day on (2016-04-01)
    #[arg(long, value_name = "DATE", value_parser = date, hide_short_help = true)]
    since: Option<StartTime>,

    /// Only games up to this day
    #[arg(long, value_name = "DATE", value_parser = date, hide_short_help = true)]
    until: Option<StartTime>,

    /// Only games with this time control, as in the sample table (300+10F)
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    time_control: Vec<String>,

    /// Only samples that meet a condition on the columns of the sample table ("ply >= 90 and score_cp != 0")
    #[arg(long = "where", value_name = "EXPR", value_parser = Expression::parse, hide_short_help = true)]
    condition: Vec<Expression>,
}

/// How scores are prepared and engines are fitted.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Fitting")]
pub(super) struct FitArgs {
    /// Exclude mates, clip them to ±CLIP, or keep them as they are
    #[arg(long, value_parser = mate_policies(), default_value = "exclude", hide_short_help = true)]
    pub mate_policy: MatePolicy,

    /// Mate threshold: a score of at least this size is a mate. CP or auto, for all engines or for one (sjaakii=15000);
    /// may be repeated [default: 20000]
    #[arg(long, value_name = "[ENGINE=]CP|auto", value_parser = threshold)]
    pub mate_threshold: Vec<(Option<String>, Threshold)>,

    /// Score of a mate in centipawns under --mate-policy clip
    #[arg(long, value_name = "CP", default_value_t = 3000, hide_short_help = true)]
    pub clip: u32,

    /// Width of a bin of the evaluation curve in centipawns
    #[arg(long, value_name = "CP", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..),
          hide_short_help = true)]
    pub bin: u32,

    /// Fewest samples of a bin that is plotted
    #[arg(long, value_name = "N", default_value_t = 50, hide_short_help = true)]
    pub min_bin: u64,

    /// Fewest samples of an engine that is fitted
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub min_samples: u64,

    /// Fewest games with samples of an engine that is calibrated
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MIN_GAMES, hide_short_help = true)]
    pub min_games: u64,

    /// Bootstrap resamples of the games, for intervals and bands; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(..=1_000_000),
          hide_short_help = true)]
    pub bands: u32,

    /// The model of the calibration. The file also holds both sigmoids
    #[arg(long, value_enum, default_value_t = ModelArg::Kind(DEFAULT_MODEL), value_name = "MODEL")]
    pub model: ModelArg,

    /// Folds over games for evaluating the model out of sample; 0 for no evaluation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = folds, hide_short_help = true)]
    pub folds: u64,
}

/// How curves are plotted.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Plots")]
pub(super) struct PlotArgs {
    /// Bins of the plotted points: of one width (--bin), of equal counts (quantile), or auto: quantile where fewer than
    /// eight bins of one width have --min-bin samples
    #[arg(long, value_parser = one_of::<BinChoice>(), default_value = "auto", hide_short_help = true)]
    pub bins: BinChoice,

    /// Write the numbers of each figure as CSV beside it
    #[arg(long)]
    pub data: bool,
}

/// Which engines a table shows, and how much of each.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct TableArgs {
    /// Show all engines, not only the ten with most samples
    #[arg(long)]
    pub all: bool,

    /// Show both sigmoids, offsets and scores out of sample too, in up to 150 columns
    #[arg(long)]
    pub wide: bool,

    /// Name no options of this command: another command, which has not got them, prints the table.
    #[arg(skip)]
    pub without_options: bool,
}

/// The language of what people read.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct LanguageArgs {
    /// Language of tables, messages, reports and figures [default: ja in a Japanese locale, else en]
    #[arg(long, value_parser = one_of::<Language>(), hide_short_help = true)]
    lang: Option<Language>,
}

impl LanguageArgs {
    /// The language that the user chose, or that of the locale.
    pub(super) fn chosen(&self) -> Language {
        self.lang.unwrap_or_else(of_locale)
    }
}

/// The language of the locale.
pub(super) fn of_locale() -> Language {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().filter_map(|name| std::env::var(name).ok());
    locale
        .into_iter()
        .find(|value| !value.is_empty())
        .map_or_else(Language::default, |value| Language::of_locale(&value))
}

/// The language of messages about these arguments, which may be wrong.
pub(super) fn language_of(arguments: &[OsString]) -> Language {
    let mut words = arguments.iter().map(|argument| argument.to_string_lossy()).take_while(|argument| argument != "--");
    let mut named = None;
    while let Some(word) = words.next() {
        let value =
            if word == "--lang" { words.next() } else { word.strip_prefix("--lang=").map(|v| v.to_owned().into()) };
        named = value.and_then(|value| value.parse().ok()).or(named);
    }
    named.unwrap_or_else(of_locale)
}

/// How results are printed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,

    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
}

/// The value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormatArg {
    Table,
    Records(&'static Format),
}

impl OutputArgs {
    /// Prints the document with `--json`, else the text unless `--quiet`.
    pub(super) fn print(&self, document: impl FnOnce() -> Value, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        match (self.json, self.quiet) {
            (true, _) => terminal::print(&format!("{:#}\n", document())),
            (false, true) => Ok(()),
            (false, false) => terminal::print(&text()),
        }
    }

    /// Whether nothing but a document or errors is printed.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet || self.json
    }
}

/// The value of `--model`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelArg {
    /// A model of the list.
    Kind(ModelKind),
    /// The model is chosen later.
    Auto,
}

impl ModelArg {
    /// The model; for `auto` the one that is used until it is chosen.
    fn kind(self) -> ModelKind {
        match self {
            Self::Kind(kind) => kind,
            Self::Auto => DEFAULT_MODEL,
        }
    }
}

/// Parses one of the words of an enum of the library, and lists them in `--help`.
fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = strum::ParseError> + strum::VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|word| word.parse::<T>())
}

/// The values of `--mate-policy`.
fn mate_policies() -> impl TypedValueParser<Value = MatePolicy> {
    PossibleValuesParser::new(["exclude", "clip", "keep"]).map(|word| match word.as_str() {
        "clip" => MatePolicy::Clip,
        "keep" => MatePolicy::Keep,
        _ => MatePolicy::Exclude,
    })
}

/// The number of cores.
pub(super) fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Every value of `--model` with its name.
static MODELS: LazyLock<(Vec<ModelArg>, Vec<String>)> = LazyLock::new(|| {
    let kinds = ModelKind::calibrations().map(|kind| (ModelArg::Kind(kind), kind.as_str().replace('_', "-")));
    kinds.chain([(ModelArg::Auto, "auto".to_owned())]).unzip()
});

impl ValueEnum for ModelArg {
    fn value_variants<'a>() -> &'a [Self] {
        &MODELS.0
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (models, names) = &*MODELS;
        let name: &'static str = names.get(models.iter().position(|model| model == self)?)?;
        let value = PossibleValue::new(name);
        Some(match self {
            Self::Kind(kind) => {
                let in_files = Some(kind.as_str()).filter(|word| *word != name);
                value.aliases(kind.aliases().iter().copied().chain(in_files)).help(kind.summary())
            }
            Self::Auto => {
                value.help("The simplest model that is as good as the best out of sample, one for all engines")
            }
        })
    }
}

/// Largest number of threads.
const MOST_THREADS: usize = 1_024;
/// Largest number of folds.
const MOST_FOLDS: u64 = 100;

/// Parses the value of `--threads`.
pub(super) fn threads(value: &str) -> Result<usize, Text> {
    let threads = value.parse().ok().filter(|n| *n <= MOST_THREADS);
    threads.ok_or_else(|| {
        text!("expected a whole number of threads up to {MOST_THREADS}", "スレッド数は {MOST_THREADS} までの整数です")
    })
}

fn folds(value: &str) -> Result<u64, Text> {
    match value.parse() {
        Ok(folds) if folds > MOST_FOLDS => {
            Err(text!("expected at most {MOST_FOLDS} folds", "分割は {MOST_FOLDS} までです"))
        }
        Ok(1) => Err(text!(
            "a model is evaluated on games that it has not seen; give 2 or more, or 0 for no evaluation",
            "モデルは当てはめに使っていない対局で採点します。2 以上か、採点しないなら 0 にしてください"
        )),
        Ok(folds) => Ok(folds),
        Err(_) => Err(text!("expected a whole number of folds", "分割の数は整数です")),
    }
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

fn date(value: &str) -> Result<StartTime, Text> {
    StartTime::parse(value).ok_or_else(|| {
        text!("not a date; write for example 2016-04-01", "日付ではありません。2016-04-01 のように書いてください")
    })
}

fn threshold(value: &str) -> Result<(Option<String>, Threshold), Text> {
    let (engine, value) = match value.rsplit_once('=') {
        Some((engine, value)) => (Some(engine.trim().to_owned()), value.trim()),
        None => (None, value.trim()),
    };
    let threshold = match value {
        "auto" => Threshold::Auto,
        number => Threshold::Cp(number.parse().map_err(|_| {
            text!(
                "'{number}' is neither a number of centipawns nor auto; write 20000, auto or ENGINE=15000",
                "'{number}' は評価値でも auto でもありません。20000、auto、エンジン名=15000 のように書いてください"
            )
        })?),
    };
    Ok((engine, threshold))
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
        }
    }

    /// Whether to count the material, because of the option, the model or a condition.
    pub(super) fn material(&self) -> bool {
        let of_model = self.fit.model.kind().needs().material;
        self.material || of_model || self.filters.condition.iter().any(Expression::names_material)
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

impl FilterArgs {
    pub(super) fn aliases(&self) -> anyhow::Result<Aliases> {
        let mut aliases = Aliases::default();
        for rule in &self.alias {
            match rule.strip_prefix('@') {
                Some(file) => {
                    let bytes = std::fs::read(file).with_context(|| format!("{file}: cannot read the aliases"))?;
                    aliases.add_file(&whole_text(bytes), file)?;
                }
                None => aliases.add(rule, "--alias")?,
            }
        }
        Ok(aliases)
    }

    /// The options that list globs: their names, values and conditions.
    fn lists(&self) -> [(&'static str, Vec<String>, Column, Op); 5] {
        [
            ("engine", self.engine.clone(), Column::Engine, Op::Equal),
            ("not-engine", self.not_engine.clone(), Column::Engine, Op::NotEqual),
            ("opponent", self.opponent.clone(), Column::Opponent, Op::Equal),
            ("not-opponent", self.not_opponent.clone(), Column::Opponent, Op::NotEqual),
            ("time-control", self.time_control.clone(), Column::TimeControl, Op::Equal),
        ]
    }

    /// The options that limit a number or a date: their names, values and conditions.
    fn limits(&self) -> Vec<(&'static str, String, Condition)> {
        let number = |option, column, op, limit: Option<f64>| {
            limit.map(|limit| (option, limit.to_string(), Condition::number(column, op, limit)))
        };
        let day = |option, op, limit: Option<StartTime>| {
            limit.map(|limit| (option, limit.to_string(), Condition::day(op, limit)))
        };
        let limits = [
            number("min-rating", Column::Rating, Op::GreaterOrEqual, self.min_rating),
            number("min-opponent-rating", Column::OpponentRating, Op::GreaterOrEqual, self.min_opponent_rating),
            number("max-ply", Column::Ply, Op::LessOrEqual, self.max_ply.map(f64::from)),
            day("since", Op::GreaterOrEqual, self.since),
            day("until", Op::LessOrEqual, self.until),
        ];
        limits.into_iter().flatten().collect()
    }

    /// The conditions that samples must meet.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let lists = self.lists().into_iter().filter(|(_, globs, ..)| !globs.is_empty());
        let lists = lists.map(|(_, globs, column, op)| Condition::one_of(column, op, globs));
        let limits = self.limits().into_iter().map(|(.., condition)| condition);
        lists.chain(limits).chain(self.condition.iter().flat_map(Expression::conditions).cloned()).collect()
    }

    /// The first filter that is given besides --engine.
    pub(super) fn other_than_engine(&self) -> Option<String> {
        let words = self.list_words().into_iter();
        let lists = words.filter_map(|words| words.split(' ').next().map(str::to_owned)).filter(|o| o != "engine");
        lists.chain(self.limits().into_iter().map(|(option, ..)| option.to_owned())).next()
    }

    /// The aliases, lists of globs and expressions in words.
    fn list_words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.alias.iter().map(|alias| format!("alias {alias}")).collect();
        for (option, globs, ..) in self.lists() {
            words.extend(globs.iter().map(|glob| format!("{option} {glob}")));
        }
        if self.terminations != Terminations::default() {
            words.push(format!("terminations {}", self.terminations));
        }
        words.extend(self.condition.iter().map(|expression| format!("where {expression}")));
        words
    }
}

impl FitArgs {
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

    /// Chooses the model if it is `auto`: sets it and the other candidates in the options.
    pub(super) fn choose(&self, table: &mut SampleTable, options: &mut CalibrateOptions) -> Option<Choice> {
        if self.model != ModelArg::Auto {
            return None;
        }
        match choose(table, options) {
            Ok(choice) => {
                options.model = choice.kind;
                options.other_models = choice
                    .candidates
                    .iter()
                    .filter(|c| c.log_loss.is_ok() && !c.kind.is_baseline())
                    .map(|c| c.kind)
                    .collect();
                Some(choice)
            }
            // nothing to choose by; the errors of the engines give the reason
            Err(_) => None,
        }
    }
}
