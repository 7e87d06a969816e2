//! What is read, which samples count, and how engines are fitted: options as values, with the defaults of the program.

use std::fs;

use evalcurve_fit::calibration::MatePolicy;
use evalcurve_fit::fit::ModelKind;
use evalcurve_fit::validate::{Choice, DEFAULT_FOLDS};
use evalcurve_records::record::encoding::whole_text;
use evalcurve_records::record::{Format, StartTime};
use evalcurve_records::sample::expression::{Column, Op};
use evalcurve_records::sample::{
    Aliases, Condition, Duplicates, Expression, SampleTable, SamplingOptions, Terminations, View,
};
use evalcurve_tables::{Columns, Role, ScoreUnit, TableOptions};

use super::{Error, Input};
use crate::calibrate::mates::{Threshold, Thresholds};
use crate::calibrate::{CalibrateOptions, DEFAULT_MODEL, choose};

/// The options that messages name, in backticks.
pub const OPTIONS: [&str; 49] = [
    "alias",
    "all",
    "all-positions",
    "annotator",
    "calibration",
    "calibrations",
    "candidates",
    "column",
    "control",
    "draws",
    "duplicates",
    "engine",
    "force",
    "format",
    "from-ply",
    "json",
    "login-ms",
    "mate-policy",
    "mate-threshold",
    "material",
    "max-ply",
    "min-games",
    "min-samples",
    "model",
    "most-wrong",
    "not-engine",
    "not-opponent",
    "opponent",
    "out",
    "packed-every",
    "password-file",
    "patience",
    "ply",
    "rating",
    "rating-difference",
    "score-unit",
    "signs",
    "start-ply",
    "strict",
    "teacher",
    "terminations",
    "threads",
    "time-control",
    "to",
    "undo-normalization",
    "view",
    "where",
    "win-rate",
    "window",
];

/// The commands that messages name, in backticks.
const COMMANDS: [&str; 6] = ["analyse", "calibrate", "constant", "plot", "proxy", "replay"];

/// A message in which each option has the spelling of a host.
pub fn with_options(text: &str, spell: impl Fn(&str) -> String) -> String {
    with_words(text, |word| OPTIONS.contains(&word).then(|| spell(word)))
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
    with_words(text, |word| if OPTIONS.contains(&word) { Some(format!("--{word}")) } else { command(word) })
}

/// The format of all files, if their content is not to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Tables of samples or games.
    Table,
    Records(&'static Format),
}

/// How records and tables become samples.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Number of threads; `None` for those of the current rayon pool.
    pub threads: Option<usize>,
    /// Stop at the first damaged record.
    pub strict: bool,
    /// Check the moves of CSA games with a second reader.
    pub verify: bool,
    /// The format of all files; `None` to detect it from their content.
    pub format: Option<FileFormat>,
    /// Columns of tables with other names; an empty name ignores a column.
    pub columns: Vec<(Role, String)>,
    /// The unit of the scores of tables: of all engines, or of those that a glob names.
    pub score_unit: Vec<(Option<String>, ScoreUnit)>,
    /// Count the material of the drawn positions, also if neither the model nor a condition needs it.
    pub material: bool,
    /// How positions are drawn.
    pub sampling: Sampling,
    /// Which samples count.
    pub filters: Filters,
}

/// How positions are drawn. Rows of tables are drawn already: only `from_ply` and `drop_draws` act on them.
#[derive(Debug, Clone, Default)]
pub struct Sampling {
    /// The first ply that is sampled; `None` for 30 in records.
    pub from_ply: Option<u32>,
    /// Plies per window; `None` for 60.
    pub window: Option<u32>,
    /// Take every scored position, not one per window.
    pub all_positions: bool,
    /// Number of the first move of a record.
    pub start_ply: Option<u32>,
    /// Seed of the draw and of all resamples.
    pub seed: Option<u64>,
    /// Leave drawn games out instead of counting them as half a win.
    pub drop_draws: bool,
    /// Sample analyses, with this name for their engine.
    pub annotator: Option<String>,
    /// One position out of this many is drawn from training data.
    pub packed_every: Option<u32>,
    /// Draw from all positions, scored or not, for engines that will score them.
    pub unscored: bool,
    /// What makes two games one.
    pub duplicates: Duplicates,
    /// The point of view of scores that only a convention gives.
    pub view: View,
}

/// Which samples count. Names are globs; an empty list allows all.
#[derive(Debug, Clone, Default)]
pub struct Filters {
    /// Rules such as `Gikou_* = Gikou` that rename engines, or `@FILE` with one rule per line.
    pub alias: Vec<String>,
    /// Only these engines. Commands that fit a scale fit all engines, and show these.
    pub engine: Vec<String>,
    /// Without these engines.
    pub not_engine: Vec<String>,
    /// Only against these opponents.
    pub opponent: Vec<String>,
    /// Not against these opponents.
    pub not_opponent: Vec<String>,
    /// Least rating of the engine in the game.
    pub min_rating: Option<f64>,
    /// Least rating of the opponent.
    pub min_opponent_rating: Option<f64>,
    /// Last ply.
    pub max_ply: Option<u32>,
    /// How games must have ended.
    pub terminations: Terminations,
    /// First day.
    pub since: Option<StartTime>,
    /// Last day.
    pub until: Option<StartTime>,
    /// Only games with these time controls.
    pub time_control: Vec<String>,
    /// Conditions on the columns of the sample table.
    pub condition: Vec<Expression>,
}

/// How scores are prepared and engines are fitted.
#[derive(Debug, Clone)]
pub struct Fitting {
    /// How curves and fits treat mates.
    pub mate_policy: MatePolicy,
    /// From which size on a score is a mate: for all engines, or for those that a glob names.
    pub mate_threshold: Vec<(Option<String>, Threshold)>,
    /// The score of a mate in centipawns under [`MatePolicy::Clip`].
    pub clip: u32,
    /// Width of a bin of the evaluation curve in centipawns.
    pub bin: u32,
    /// Fewest samples of a bin that is plotted.
    pub min_bin: u64,
    /// Fewest samples of an engine that is fitted.
    pub min_samples: u64,
    /// Fewest games with samples of an engine that is calibrated.
    pub min_games: u64,
    /// Bootstrap resamples of the games; 0 for none.
    pub bands: u32,
    /// Whether the bootstrap is of the sigmoids, too.
    pub bootstrap_sigmoids: bool,
    /// Engines with a bootstrap, those with most samples; `None` for all.
    pub bootstrap_of: Option<usize>,
    /// Turn the sign of an engine's scores in games where it looks inverted.
    pub turn_signs: bool,
    /// The model of the calibration; `None` for the simplest that is as good as the best out of sample.
    pub model: Option<ModelKind>,
    /// Folds over games for scores out of sample; `None` for no such scores.
    pub folds: Option<u64>,
}

/// Resamples unless another number is given.
pub const DEFAULT_BANDS: u32 = 1_000;

impl Default for Fitting {
    fn default() -> Self {
        let of = CalibrateOptions::default();
        Self {
            mate_policy: of.mate_policy,
            mate_threshold: Vec::new(),
            clip: of.clip_cp,
            bin: of.bin_cp,
            min_bin: of.min_bin,
            min_samples: of.min_samples,
            min_games: of.min_games,
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
            mate_policy: self.mate_policy,
            clip_cp: self.clip,
            thresholds: self.thresholds(),
            bin_cp: self.bin.max(1),
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
            window: if of.all_positions { 1 } else { of.window.unwrap_or(default.window).max(1) },
            start_ply: of.start_ply.unwrap_or(default.start_ply).max(1),
            seed: of.seed.unwrap_or(default.seed),
            drop_draws: of.drop_draws,
            annotator: of.annotator.clone(),
            packed_every: of.packed_every.unwrap_or(default.packed_every).max(1),
            terminations: self.filters.terminations.clone(),
            unscored: of.unscored,
            duplicates: of.duplicates,
            view: of.view,
        }
    }

    pub fn tables(&self) -> TableOptions {
        let mut columns = Columns::default();
        self.columns.iter().for_each(|(role, name)| columns.set(*role, name));
        TableOptions {
            columns,
            units: self.score_unit.clone(),
            engine: self.sampling.annotator.clone(),
            from_ply: self.sampling.from_ply,
            drop_draws: self.sampling.drop_draws,
            threads: self.threads(),
            duplicates: self.sampling.duplicates,
        }
    }

    /// The options that were given and do not act on tables, whose rows are drawn already.
    pub fn without_effect_on_tables(&self) -> Vec<&'static str> {
        let of = &self.sampling;
        let given = [
            ("window", of.window.is_some()),
            ("all-positions", of.all_positions),
            ("start-ply", of.start_ply.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }

    /// The filters in words, for the calibration file.
    fn filter_words(&self) -> Vec<String> {
        let mut words = self.filters.list_words();
        words.extend(self.sampling.annotator.iter().map(|name| format!("annotator {name}")));
        let view = match self.sampling.view {
            View::Auto => None,
            View::Mover => Some("mover"),
            View::First => Some("white"),
        };
        words.extend(view.map(|view| format!("view {view}")));
        words.extend(self.filters.limits().into_iter().map(|(option, value, _)| format!("{option} {value}")));
        for (engine, unit) in &self.score_unit {
            let engine = engine.as_ref().map_or_else(String::new, |engine| format!("{engine}="));
            words.push(format!("score-unit {engine}{unit}"));
        }
        words.extend(self.columns.iter().map(|(role, name)| format!("column {}={name}", role.as_str())));
        words
    }
}

impl Filters {
    pub fn aliases(&self) -> Result<Aliases, Error> {
        let mut aliases = Aliases::default();
        for rule in &self.alias {
            match rule.strip_prefix('@') {
                Some(file) => {
                    let bytes = fs::read(file)
                        .map_err(|source| Error::File { what: format!("{file}: cannot read the aliases"), source })?;
                    aliases.add_file(&whole_text(bytes), file).map_err(Error::said)?;
                }
                None => aliases.add(rule, "`alias`").map_err(Error::said)?,
            }
        }
        Ok(aliases)
    }

    /// The filters that list globs: their names, values and conditions.
    fn lists(&self) -> [(&'static str, &Vec<String>, Column, Op); 5] {
        [
            ("engine", &self.engine, Column::Engine, Op::Equal),
            ("not-engine", &self.not_engine, Column::Engine, Op::NotEqual),
            ("opponent", &self.opponent, Column::Opponent, Op::Equal),
            ("not-opponent", &self.not_opponent, Column::Opponent, Op::NotEqual),
            ("time-control", &self.time_control, Column::TimeControl, Op::Equal),
        ]
    }

    /// The filters that limit a number or a date: their names, values and conditions.
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
    pub fn conditions(&self) -> Vec<Condition> {
        let lists = self.lists().into_iter().filter(|(_, globs, ..)| !globs.is_empty());
        let lists = lists.map(|(_, globs, column, op)| Condition::one_of(column, op, globs.clone()));
        let limits = self.limits().into_iter().map(|(.., condition)| condition);
        lists.chain(limits).chain(self.condition.iter().flat_map(Expression::conditions).cloned()).collect()
    }

    /// Whether a condition names the material.
    pub fn names_material(&self) -> bool {
        self.condition.iter().any(Expression::names_material)
    }

    /// The first filter that is given besides `engine`.
    pub fn other_than_engine(&self) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_spells_options() {
        assert_eq!(with_flags("lower `min-samples`, or `model` wdl"), "lower --min-samples, or --model wdl");
        assert_eq!(with_flags("`plot` has `x` and `where`"), "`evalcurve plot` has `x` and --where");
        assert_eq!(with_flags("a ` alone"), "a ` alone");
    }
}
