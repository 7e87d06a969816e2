//! What is read, which samples count, and how engines are fitted: options as values, with the defaults of the program.

use std::fs;

use evalcurve_fit::calibration::MatePolicy;
use evalcurve_fit::curve::{DEFAULT_BIN_CP, DEFAULT_MIN_COUNT};
use evalcurve_fit::fit::ModelKind;
use evalcurve_fit::validate::{Choice, DEFAULT_FOLDS};
use evalcurve_records::record::Format;
use evalcurve_records::record::encoding::whole_text;
use evalcurve_records::sample::expression::Column;
use evalcurve_records::sample::{
    Aliases, Condition, Duplicates, Expression, SampleTable, SamplingOptions, Terminations, View,
};
use evalcurve_tables::{Columns, Role, ScoreUnit, TableOptions};

use super::{Error, Input};
use crate::calibrate::mates::{Threshold, Thresholds};
use crate::calibrate::{CalibrateOptions, DEFAULT_MIN_GAMES, DEFAULT_MODEL, choose};
#[cfg(feature = "cli")]
use crate::cli::options::values;

/// The options that messages name, in backticks, with blanks between them.
const OPTIONS: &str = "alias all annotator calibration calibrations candidates column control draw-from \
    draws duplicates engine field force format from-ply from-scale json login-ms mate-policy mate-threshold \
    material min-games min-samples model most-wrong out password-file patience ply rating rating-difference \
    score-unit signs strict teacher terminations threads to undo-normalization view where win-rate window";

fn is_option(word: &str) -> bool {
    OPTIONS.split(' ').any(|option| option == word)
}

/// The commands that messages name, in backticks.
const COMMANDS: [&str; 6] = ["analyse", "calibrate", "constant", "plot", "proxy", "replay"];

/// A message in which each option has the spelling of a host.
pub fn with_options(text: &str, spell: impl Fn(&str) -> String) -> String {
    with_words(text, |word| is_option(word).then(|| spell(word)))
}

/// A text in which some of the words in backticks have the spelling of a host.
fn with_words(text: &str, spell: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        out += before;
        rest = after;
        match after.split_once('`').and_then(|(word, after)| Some((spell(word)?, after))) {
            Some((word, after)) => {
                out += &word;
                rest = after;
            }
            None => out.push('`'),
        }
    }
    out + rest
}

/// A message or document with options and commands as they are written on the command line.
pub fn with_flags(text: &str) -> String {
    let command = |word: &str| COMMANDS.contains(&word).then(|| format!("`evalcurve {word}`"));
    with_words(text, |word| if is_option(word) { Some(format!("--{word}")) } else { command(word) })
}

/// The format of all files, if their content is not to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Tables of samples or games.
    Table,
    Records(&'static Format),
}

/// How records and tables become samples.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Reading"))]
pub struct Reading {
    /// Number of threads [default: all cores]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = values::threads, hide_short_help = true))]
    pub threads: Option<usize>,

    /// Stop at the first damaged record instead of skipping it
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true))]
    pub strict: bool,

    /// Whether a second reader, the csa crate, checks the moves of each CSA game.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub verify: bool,

    /// Read all files as this format instead of detecting the format by content
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "FORMAT", value_parser = values::formats(), hide_short_help = true)
    )]
    pub format: Option<FileFormat>,

    /// Name of a table column, if not that of a sample table: ROLE=NAME, e.g. score=cp, engine=player; may be repeated;
    /// ROLE= ignores a column
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROLE=NAME", value_parser = values::column,
        help_heading = "Tables", hide_short_help = true))]
    pub column: Vec<(Role, String)>,

    /// Unit of the scores of a table: centipawn, pawn, winrate or percent, for all engines or for one (A=pawn); may be
    /// repeated. Win rates become 600 ln(p / (1 - p)) centipawns, 0 and 1 become mates [default: centipawn]
    #[cfg_attr(feature = "cli", arg(long, value_name = "[ENGINE=]UNIT", value_parser = values::score_unit,
        help_heading = "Tables", hide_short_help = true))]
    pub score_unit: Vec<(Option<String>, ScoreUnit)>,

    /// How positions are drawn.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub sampling: Sampling,

    /// Whether the material (9Q+5R+3B+3N+P of both sides) of the drawn positions of PGN games is counted by replaying
    /// their moves, also without a model or a condition that needs it.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub material: bool,

    /// Which samples count.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub filters: Filters,
}

/// How positions are drawn. Rows of tables are drawn already: only `from_ply` and `drop_draws` act on them.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Sampling"))]
pub struct Sampling {
    /// First ply that is sampled
    ///
    /// [default: 30]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PLY", hide_short_help = true))]
    pub from_ply: Option<u32>,

    /// Plies per window; one position of each side is drawn from each window. Of training data (HCPE, HCPE3, PSV,
    /// binpack, plain) one of every N positions is drawn. 1 takes every scored position, as Stockfish's WDL_model does.
    /// That adds little: the positions of one game share its result, and intervals count games (they are clustered)
    /// either way
    ///
    /// [default: 60, of training data 100]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PLIES", value_parser = values::positive(),
        hide_short_help = true))]
    pub window: Option<u32>,

    /// Seed of the draw
    ///
    /// [default: 201806]
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true))]
    pub seed: Option<u64>,

    /// Count drawn games as half a win, or leave them out
    #[cfg_attr(feature = "cli", arg(long = "draws", value_name = "DRAWS", value_parser = values::either("half", "drop"),
        action = clap::ArgAction::Set, default_value = "half", hide_short_help = true))]
    pub drop_draws: bool,

    /// Count games with the same moves once, or only the same game in two files
    #[cfg_attr(feature = "cli", arg(long, value_parser = values::duplicates(), default_value = "by-moves",
        hide_short_help = true))]
    pub duplicates: Duplicates,

    /// Whose point of view the players' scores have where only a convention says it: the mover's in PGN of cutechess,
    /// Arena and OpenBench, Black's in CSA of floodgate; auto takes the other one where the games of a file show it
    #[cfg_attr(feature = "cli", arg(long, value_parser = values::view(), default_value = "auto",
        hide_short_help = true))]
    pub view: View,

    /// Sample the analyses in the records and name their engine NAME; also the engine of training data (HCPE, HCPE3,
    /// PSV) and of tables without an engine column
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", hide_short_help = true))]
    pub annotator: Option<String>,

    /// Draw from all positions, scored or not, for engines that will score them.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub unscored: bool,
}

/// Which samples count. Names are globs; an empty list allows all.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Filters (names are globs)"))]
pub struct Filters {
    /// Rename engines, e.g. "Gikou_* = Gikou", or @FILE with one such alias per line
    #[cfg_attr(feature = "cli", arg(long, value_name = "ALIAS=NAME"))]
    pub alias: Vec<String>,

    /// Only these engines
    ///
    /// calibrate, constant, inspect and plot fit all engines and show these: the constants of one scale depend on each
    /// other.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub engine: Vec<String>,

    /// How games must have ended: played (not abnormal or interrupted), board (nor by time_up, illegal_move,
    /// illegal_declaration, max_moves), all, or words such as resignation,checkmate
    #[cfg_attr(feature = "cli", arg(long, value_name = "WORDS", default_value_t, hide_short_help = true))]
    pub terminations: Terminations,

    /// Only samples that meet a condition on the columns of the sample table ("ply >= 90 and opponent != Gikou*",
    /// "start_time >= 2016-04-01", "rating >= 2500")
    #[cfg_attr(feature = "cli", arg(long = "where", value_name = "EXPR", value_parser = Expression::parse,
        hide_short_help = true))]
    pub condition: Vec<Expression>,
}

/// A model, or `None` for the simplest that is as good as the best out of sample. The name keeps clap from taking it
/// for an option that may be missing.
pub type ChosenModel = Option<ModelKind>;

/// How the positions of a plotted curve are put into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BinChoice {
    /// Bins of one width, or of equal counts if the first give half of the engines few points.
    #[default]
    Auto,
    Width,
    /// Bins of about the same number of positions.
    Quantile,
}

/// The width of a bin of the evaluation curve in centipawns, and how the bins of its figures are made.
pub type Binning = (u32, BinChoice);

/// What becomes of mates, and the size in centipawns of one that is clipped.
pub type MatesAs = (MatePolicy, u32);

/// How scores are prepared and engines are fitted.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Fitting"))]
pub struct Fitting {
    /// Exclude mates, clip them to ±3000 (clip) or ±CP centipawns (clip=CP), or keep them as they are
    #[cfg_attr(feature = "cli", arg(long, value_name = "exclude|clip[=CP]|keep", value_parser = values::mate_policy,
        default_value = "exclude", hide_short_help = true))]
    pub mate_policy: MatesAs,

    /// Mate threshold: a score of at least this size is a mate. CP or auto, for all engines or for one (sjaakii=15000);
    /// may be repeated [default: 20000]
    #[cfg_attr(feature = "cli", arg(long, value_name = "[ENGINE=]CP|auto", value_parser = values::threshold))]
    pub mate_threshold: Vec<(Option<String>, Threshold)>,

    /// Bins of the evaluation curve: of one width in centipawns, drawn with equal counts (quantile), or auto: 200
    /// centipawns, drawn with equal counts if half of the engines would have fewer than eight points
    #[cfg_attr(feature = "cli", arg(long, value_name = "CP|quantile|auto", default_value = "auto",
        value_parser = values::bin, hide_short_help = true))]
    pub bin: Binning,

    /// Fewest samples of a bin that is plotted
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Fitting::default().min_bin,
        hide_short_help = true))]
    pub min_bin: u64,

    /// Fewest samples of an engine that is fitted
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Fitting::default().min_samples))]
    pub min_samples: u64,

    /// Fewest games with samples of an engine that is calibrated
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Fitting::default().min_games,
        hide_short_help = true))]
    pub min_games: u64,

    /// Games in which the sign of an engine's scores looks inverted: keep the scores as they are, or turn their sign
    /// (auto)
    #[cfg_attr(feature = "cli", arg(long = "signs", value_name = "SIGNS", value_parser = values::either("keep", "auto"),
        action = clap::ArgAction::Set, default_value = "keep", hide_short_help = true))]
    pub turn_signs: bool,

    /// Bootstrap resamples of the games, for intervals and bands; 0 for none
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Fitting::default().bands,
        value_parser = clap::value_parser!(u32).range(..=1_000_000), hide_short_help = true))]
    pub bands: u32,

    /// Whether the bootstrap is of the sigmoids, too.
    #[cfg_attr(feature = "cli", arg(skip = true))]
    pub bootstrap_sigmoids: bool,

    /// Engines with a bootstrap, those with most samples; `None` for all.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub bootstrap_of: Option<usize>,

    /// The model of the calibration. The file also holds both sigmoids
    #[cfg_attr(feature = "cli", arg(long, value_name = "MODEL", value_parser = values::models(),
        default_value = DEFAULT_MODEL.as_str()))]
    pub model: ChosenModel,

    /// Folds over games for evaluating the model out of sample; 0 for no evaluation
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = values::folds, default_value = "5",
        hide_short_help = true))]
    pub folds: Folds,
}

/// Folds over games for scores out of sample; `None` for no such scores.
pub type Folds = Option<u64>;

/// Resamples unless another number is given.
pub const DEFAULT_BANDS: u32 = 1_000;

impl Default for Fitting {
    fn default() -> Self {
        Self {
            mate_policy: (MatePolicy::Exclude, 3_000),
            mate_threshold: Vec::new(),
            bin: (DEFAULT_BIN_CP, BinChoice::Auto),
            min_bin: DEFAULT_MIN_COUNT,
            min_samples: 30,
            min_games: DEFAULT_MIN_GAMES,
            bands: DEFAULT_BANDS,
            bootstrap_sigmoids: true,
            bootstrap_of: None,
            turn_signs: false,
            model: Some(DEFAULT_MODEL),
            folds: Some(DEFAULT_FOLDS),
        }
    }
}

impl Fitting {
    /// The mate thresholds by engine.
    pub fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        for (engine, threshold) in &self.mate_threshold {
            match engine {
                Some(engine) => thresholds.by_engine.push((engine.clone(), *threshold)),
                None => thresholds.default = *threshold,
            }
        }
        thresholds
    }

    /// The model; while it is not chosen, the one that is used until then.
    pub fn kind(&self) -> ModelKind {
        self.model.unwrap_or(DEFAULT_MODEL)
    }

    /// Chooses the model if none is named: sets it and the other candidates in the options.
    pub fn choose(&self, table: &mut SampleTable, options: &mut CalibrateOptions) -> Option<Choice> {
        // without a choice, the errors of the engines give the reason
        let choice = if self.model.is_none() { choose(table, options).ok()? } else { return None };
        options.model = choice.kind;
        let fitted = choice.candidates.iter().filter(|c| c.log_loss.is_ok() && !c.kind.is_baseline());
        options.other_models = fitted.map(|c| c.kind).collect();
        Some(choice)
    }

    /// The options of the library's steps.
    pub fn options(&self, reading: &Reading, input: &Input) -> CalibrateOptions {
        CalibrateOptions {
            mate_policy: self.mate_policy.0,
            clip_cp: self.mate_policy.1,
            thresholds: self.thresholds(),
            bin_cp: self.bin.0.max(1),
            min_bin: self.min_bin,
            min_samples: self.min_samples,
            min_games: self.min_games,
            model: self.kind(),
            other_models: Vec::new(),
            folds: self.folds,
            bands: self.bands,
            bootstrap_sigmoids: self.bootstrap_sigmoids,
            bootstrap_of: self.bootstrap_of,
            sampling: reading.sampling(),
            filters: reading
                .filter_words()
                .into_iter()
                .chain(self.turn_signs.then(|| "signs auto".to_owned()))
                .collect(),
            inputs: input.words(),
        }
    }
}

impl Reading {
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(rayon::current_num_threads).max(1)
    }

    /// How positions of records are drawn.
    pub fn sampling(&self) -> SamplingOptions {
        let (of, default) = (&self.sampling, SamplingOptions::default());
        SamplingOptions {
            from_ply: of.from_ply.unwrap_or(default.from_ply),
            window: of.window.unwrap_or(default.window).max(1),
            seed: of.seed.unwrap_or(default.seed),
            drop_draws: of.drop_draws,
            annotator: of.annotator.clone(),
            packed_every: of.window.unwrap_or(default.packed_every).max(1),
            terminations: self.filters.terminations.clone(),
            unscored: of.unscored,
            duplicates: of.duplicates,
            view: of.view,
        }
    }

    pub fn tables(&self) -> TableOptions {
        let mut columns = Columns::default();
        self.column.iter().for_each(|(role, name)| columns.set(*role, name));
        TableOptions {
            columns,
            units: self.score_unit.clone(),
            engine: self.sampling.annotator.clone(),
            from_ply: self.sampling.from_ply,
            drop_draws: self.sampling.drop_draws,
            duplicates: self.sampling.duplicates,
        }
    }

    /// The options that were given and do not act on tables, whose rows are drawn already.
    pub fn without_effect_on_tables(&self) -> Vec<&'static str> {
        let of = &self.sampling;
        of.window.map(|_| "window").into_iter().collect()
    }

    /// The filters in words, for the calibration file.
    fn filter_words(&self) -> Vec<String> {
        let mut words = self.filters.list_words();
        words.extend(self.sampling.annotator.iter().map(|name| format!("annotator {name}")));
        words.extend(self.sampling.view.as_str().map(|view| format!("view {view}")));
        for (engine, unit) in &self.score_unit {
            let engine = engine.as_ref().map_or_else(String::new, |engine| format!("{engine}="));
            words.push(format!("score-unit {engine}{unit}"));
        }
        words.extend(self.column.iter().map(|(role, name)| format!("column {}={name}", role.as_str())));
        words
    }
}

impl Filters {
    pub fn aliases(&self) -> Result<Aliases, Error> {
        let mut aliases = Aliases::default();
        for rule in &self.alias {
            match rule.strip_prefix('@') {
                Some(file) => {
                    let bytes = fs::read(file).map_err(|source| Error::File {
                        what: format!("{file}: cannot read the aliases").into(),
                        source,
                    })?;
                    aliases.add_file(&whole_text(bytes), file).map_err(Error::said)?;
                }
                None => aliases.add(rule, "`alias`").map_err(Error::said)?,
            }
        }
        Ok(aliases)
    }

    /// The conditions that samples must meet.
    pub fn conditions(&self) -> Vec<Condition> {
        let engines = (!self.engine.is_empty()).then(|| Condition::one_of(Column::Engine, self.engine.clone()));
        engines.into_iter().chain(self.condition.iter().flat_map(Expression::conditions).cloned()).collect()
    }

    /// Whether a condition names the material.
    pub fn names_material(&self) -> bool {
        self.condition.iter().any(Expression::names_material)
    }

    /// The first filter that is given besides `engine`.
    pub fn other_than_engine(&self) -> Option<String> {
        let words = self.list_words().into_iter();
        words.filter_map(|words| words.split(' ').next().map(str::to_owned)).find(|option| option != "engine")
    }

    /// The filters in words.
    fn list_words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.alias.iter().map(|alias| format!("alias {alias}")).collect();
        words.extend(self.engine.iter().map(|glob| format!("engine {glob}")));
        if self.terminations != Terminations::default() {
            words.push(format!("terminations {}", self.terminations));
        }
        words.extend(self.condition.iter().map(|expression| format!("where {expression}")));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "cli")]
    #[test]
    fn a_command_line_without_options_has_the_defaults() {
        use crate::cli::options::InputArgs;
        use clap::{Args, FromArgMatches};
        let command = InputArgs::augment_args(clap::Command::new("evalcurve"));
        let said = |option: &str, words: &str| {
            let argument = command.get_arguments().find(|a| a.get_long() == Some(option)).unwrap();
            argument.get_long_help().unwrap().to_string().ends_with(&format!("[default: {words}]"))
        };
        let default = SamplingOptions::default();
        let windows = format!("{}, of training data {}", default.window, default.packed_every);
        assert!(said("from-ply", &default.from_ply.to_string()) && said("window", &windows));
        assert!(said("seed", &default.seed.to_string()));
        let matches = command.try_get_matches_from(["evalcurve", "games"]).unwrap();
        let args = InputArgs::from_arg_matches(&matches).unwrap();
        assert_eq!(args.reading(), Reading::default());
        assert_eq!(args.fitting(), Fitting::default());
    }

    #[test]
    fn engines_are_calibrated_by_these_defaults() {
        let expected = CalibrateOptions {
            mate_policy: MatePolicy::Exclude,
            clip_cp: 3_000,
            thresholds: Thresholds::default(),
            bin_cp: 200,
            min_bin: 50,
            min_samples: 30,
            min_games: 30,
            model: ModelKind::Joint,
            other_models: Vec::new(),
            folds: Some(5),
            bands: 0,
            bootstrap_sigmoids: true,
            bootstrap_of: None,
            sampling: SamplingOptions::default(),
            filters: Vec::new(),
            inputs: Vec::new(),
        };
        assert_eq!(CalibrateOptions::default(), expected);
    }

    #[test]
    fn each_host_spells_options() {
        assert_eq!(with_flags("lower `min-samples`, or `model` wdl"), "lower --min-samples, or --model wdl");
        assert_eq!(with_flags("`plot` has `x` and `where`"), "`evalcurve plot` has `x` and --where");
        assert_eq!(with_flags("a ` alone"), "a ` alone");
    }
}
