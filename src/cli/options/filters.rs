//! Options that say which samples are used.

use anyhow::Context;

use crate::language::Text;
use crate::record::StartTime;
use crate::record::encoding::whole_text;
use crate::sample::expression::{Column, Op};
use crate::sample::{Aliases, Condition, Expression, Terminations};
use crate::text;

/// Which samples are used.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Filters (names are globs)")]
pub(in crate::cli) struct FilterArgs {
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

fn date(value: &str) -> Result<StartTime, Text> {
    StartTime::parse(value).ok_or_else(|| {
        text!("not a date; write for example 2016-04-01", "日付ではありません。2016-04-01 のように書いてください")
    })
}

impl FilterArgs {
    pub(in crate::cli) fn aliases(&self) -> anyhow::Result<Aliases> {
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
    pub(super) fn limits(&self) -> Vec<(&'static str, String, Condition)> {
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
    pub(in crate::cli) fn conditions(&self) -> Vec<Condition> {
        let lists = self.lists().into_iter().filter(|(_, globs, ..)| !globs.is_empty());
        let lists = lists.map(|(_, globs, column, op)| Condition::one_of(column, op, globs));
        let limits = self.limits().into_iter().map(|(.., condition)| condition);
        lists.chain(limits).chain(self.condition.iter().flat_map(Expression::conditions).cloned()).collect()
    }

    /// Whether a condition names the material.
    pub(super) fn names_material(&self) -> bool {
        self.condition.iter().any(Expression::names_material)
    }

    /// The first filter that is given besides --engine.
    pub(in crate::cli) fn other_than_engine(&self) -> Option<String> {
        let words = self.list_words().into_iter();
        let lists = words.filter_map(|words| words.split(' ').next().map(str::to_owned)).filter(|o| o != "engine");
        lists.chain(self.limits().into_iter().map(|(option, ..)| option.to_owned())).next()
    }

    /// The aliases, lists of globs and expressions in words.
    pub(super) fn list_words(&self) -> Vec<String> {
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
