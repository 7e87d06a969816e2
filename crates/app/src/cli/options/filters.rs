//! Options that say which samples are used.

use evalcurve_records::record::StartTime;
use evalcurve_records::sample::{Expression, Terminations};
use evalcurve_words::language::Text;
use evalcurve_words::text;

use crate::Filters;

/// Which samples are used.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Filters (names are globs)")]
pub struct FilterArgs {
    /// Rename engines, e.g. "Gikou_* = Gikou", or @FILE with one such alias per line
    #[arg(long, value_name = "ALIAS=NAME")]
    alias: Vec<String>,

    /// Only these engines
    ///
    /// calibrate, constant, inspect and plot fit all engines and show these: the constants of one scale depend on
    /// each other.
    #[arg(long, value_name = "NAME")]
    pub engine: Vec<String>,

    /// Not these engines
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    not_engine: Vec<String>,

    /// Only against these opponents
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    opponent: Vec<String>,

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
    terminations: Terminations,

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

/// The positions that Stockfish's WDL_model takes by default.
const WDL_MODEL: &str = "score_cp >= -400 and score_cp <= 400 and material >= 17 and material <= 78 and ply <= 240";

fn date(value: &str) -> Result<StartTime, Text> {
    StartTime::parse(value).ok_or_else(|| text!("not a date; write for example 2016-04-01"))
}

impl FilterArgs {
    /// The filters as values, with those of WDL_model if they are wanted.
    pub fn filters(&self, like_wdl_model: bool) -> Filters {
        let of_wdl_model = like_wdl_model.then(|| Expression::parse(WDL_MODEL).ok()).flatten();
        Filters {
            alias: self.alias.clone(),
            engine: self.engine.clone(),
            not_engine: self.not_engine.clone(),
            opponent: self.opponent.clone(),
            not_opponent: self.not_opponent.clone(),
            min_rating: self.min_rating,
            min_opponent_rating: self.min_opponent_rating,
            max_ply: self.max_ply,
            terminations: self.terminations.clone(),
            since: self.since,
            until: self.until,
            time_control: self.time_control.clone(),
            condition: self.condition.iter().cloned().chain(of_wdl_model).collect(),
        }
    }
}
