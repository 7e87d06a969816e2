//! Match statistics as text, as JSON and as figures.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::json::number;
use super::text::{fit_name, thousands};
use crate::match_stats::power::PowerError;
use crate::match_stats::summary::{Row, Summary};
use crate::match_stats::{Decision, EloModel, Matches, PowerQuestion, SprtOptions, Strength};
#[cfg(feature = "plot")]
use crate::plot::{Figure, PlotError, PlotOptions, RateBar, RateWords, ShareGroups, rate_bars, share_bars};

/// Width of the name of a player in terminal columns.
const NAME: usize = 20;

fn p_value(p: f64) -> String {
    if p < 0.0005 { format!("{p:.1e}") } else { format!("{p:.3}") }
}

/// A probability in percent; it never looks certain.
fn percent(p: f64) -> String {
    if p > 0.9995 {
        ">99.9%".to_owned()
    } else if p < 0.0005 {
        "<0.1%".to_owned()
    } else {
        format!("{:.1}%", 100.0 * p)
    }
}

/// A value as text, or `-` if it is missing.
fn dash<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

fn optional(value: Option<f64>, infinite: &str) -> String {
    value.map_or_else(|| infinite.to_owned(), |v| format!("{v:+.0}"))
}

fn elo(strength: &Strength) -> String {
    let open = if strength.rate > 0.5 { "+∞" } else { "-∞" };
    let (low, high) = strength.elo_interval;
    format!("{} [{}, {}]", optional(strength.elo, open), optional(low, "-∞"), optional(high, "+∞"))
}

fn name_of(row: &Row) -> String {
    let opponent = row.entry.opponent.as_ref().map_or_else(String::new, |o| fit_name(o, NAME));
    format!("{} {}", fit_name(&row.entry.player, NAME), if opponent.is_empty() { " ".repeat(NAME) } else { opponent })
}

/// The header of [`rows`].
pub fn head() -> String {
    format!(
        "{} {} {:>7}  {:<15} {:<22} {:<20} {:>7}  {:>8}  nElo",
        fit_name("player", NAME),
        fit_name("against", NAME),
        "games",
        "W-D-L",
        "win rate [95% Wilson]",
        "Elo [95%]",
        "LOS",
        "sign p"
    )
}

/// The statistics of the systems, one line each.
pub fn rows(summary: &Summary) -> String {
    let mut out = String::new();
    for row in &summary.rows {
        let Some(strength) = &row.strength else {
            let _ = writeln!(out, "{} no games", name_of(row));
            continue;
        };
        let (low, high) = row.wilson.unwrap_or(strength.rate_interval);
        let _ = writeln!(
            out,
            "{} {:>7}  {:<15} {:<22} {:<20} {:>7}  {:>8}  {}{}",
            name_of(row),
            thousands(strength.games),
            dash(row.entry.games, |g| g.to_string()),
            format!("{:.4} [{low:.3}, {high:.3}]", strength.rate),
            elo(strength),
            dash(strength.los, percent),
            dash(row.sign_test, p_value),
            optional(strength.normalized_elo, "-"),
            row.entry.pairs.map_or_else(String::new, |p| {
                let [a, b, c, d, e] = p.counts;
                format!("  pairs {a}-{b}-{c}-{d}-{e}")
            }),
        );
    }
    out
}

/// The sequential tests, one line each.
pub fn sprt_lines(summary: &Summary, options: &SprtOptions) -> String {
    let scale = if options.model == EloModel::Normalized { "normalised Elo" } else { "Elo" };
    let mut out = format!(
        "SPRT of {} against {} {scale}, alpha {}, beta {}\n",
        options.elo0, options.elo1, options.alpha, options.beta
    );
    for row in &summary.rows {
        let result = match &row.sprt {
            Some(Ok(test)) => {
                let decision = match test.decision {
                    Decision::AcceptH0 => format!("H0 accepted: {} or less", options.elo0),
                    Decision::AcceptH1 => format!("H1 accepted: {} or more", options.elo1),
                    Decision::Continue => "undecided: play on".to_owned(),
                };
                format!("LLR {:.3} in ({:.3}, {:.3}); {decision}", test.llr, test.lower, test.upper)
            }
            Some(Err(error)) => error.to_string(),
            None => continue,
        };
        let _ = writeln!(out, "  {} {result}", name_of(row));
    }
    out + "  the error rates hold if the test was made after each trial and the match ended when it decided\n"
}

/// The tests between systems, with corrections; empty if there are none.
pub fn comparisons(summary: &Summary, level: f64) -> String {
    if summary.pairs.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "{} {} {:<24} {:>7} {:>8} {:>8} {:>8} {:>10} {:>8}\n",
        fit_name("first", NAME),
        fit_name("second", NAME),
        "difference [95%]",
        "chi2",
        "p",
        "exact p",
        "half p",
        "Bonferroni",
        "Holm"
    );
    let name = |index: usize| fit_name(summary.rows.get(index).map_or("", |r| &r.entry.player), NAME);
    let opponent = |index: usize| summary.rows.get(index).and_then(|r| r.entry.opponent.as_deref());
    let several = summary.pairs.iter().any(|p| opponent(p.first) != opponent(summary.pairs[0].first));
    let mut order: Vec<_> = summary.pairs.iter().collect();
    order.sort_by_key(|p| opponent(p.first));
    let mut last = None;
    for pair in order {
        let c = &pair.comparison;
        if several && last != Some(opponent(pair.first)) {
            last = Some(opponent(pair.first));
            let _ = writeln!(out, "against {}", fit_name(opponent(pair.first).unwrap_or("-"), NAME).trim_end());
        }
        let difference = dash(c.difference.zip(c.interval), |(d, (a, b))| format!("{d:+.4} [{a:+.3}, {b:+.3}]"));
        let _ = writeln!(
            out,
            "{} {} {difference:<24} {:>7} {:>8} {:>8} {:>8} {:>10} {:>8}",
            name(pair.first),
            name(pair.second),
            dash(c.chi_squared, |t| format!("{:.2}", t.chi_squared)),
            dash(c.chi_squared, |t| p_value(t.p)),
            p_value(c.exact_p),
            dash(c.half_draws, |t| p_value(t.p)),
            p_value(pair.bonferroni),
            p_value(pair.holm),
        );
    }
    let m = summary.pairs.len();
    let alone = summary.pairs.iter().filter(|p| p.comparison.chi_squared.is_some_and(|t| t.p < level)).count();
    let after =
        |p: fn(&crate::match_stats::summary::Pair) -> f64| summary.pairs.iter().filter(|x| p(x) < level).count();
    let _ = writeln!(
        out,
        "chi2 and exact p: wins and losses without draws, no continuity correction; half p: chi2 with draws as \
         half a win\n\
         {m} comparison{}: {alone} below {level} without correction, {} after Bonferroni's (each at {:.4}), \
         {} after Holm's",
        if m == 1 { "" } else { "s" },
        after(|p| p.bonferroni),
        level / m as f64,
        after(|p| p.holm),
    );
    out
}

/// Counts of the games, in one line.
pub fn reading(matches: &Matches) -> String {
    let skipped: u64 = matches.skipped.values().sum();
    let mut out = format!(
        "games   {} read = {} used + {} skipped",
        thousands(matches.read),
        thousands(matches.used),
        thousands(skipped)
    );
    if skipped > 0 {
        let _ = write!(out, " ({})", super::text::counts(&matches.skipped));
    }
    out + "\n"
}

/// A power calculation as text.
///
/// # Errors
/// [`PowerError`] of the question.
pub fn power(question: &PowerQuestion, games: Option<u64>, targets: &[f64]) -> Result<String, PowerError> {
    let what = if question.known_second {
        format!("a win rate of {} against the even {}", question.first, question.second)
    } else {
        format!("{} against {}, both systems with the same number of games", question.first, question.second)
    };
    let mut out = format!(
        "power of a two-sided test at level {:.4}: {what}, {:.0}% draws\n",
        question.level,
        100.0 * question.draws
    );
    if let Some(games) = games {
        let _ = writeln!(out, "  {} games detect it with {:.1}%", thousands(games), 100.0 * question.power(games)?);
    }
    for &target in targets {
        let _ = writeln!(out, "  {:.0}% needs {} games", 100.0 * target, thousands(question.games(target)?));
    }
    Ok(out)
}

/// A power calculation as JSON.
///
/// # Errors
/// [`PowerError`] of the question.
pub fn power_document(question: &PowerQuestion, games: Option<u64>, targets: &[f64]) -> Result<Value, PowerError> {
    let mut needed = Vec::new();
    for &target in targets {
        needed.push(json!({ "power": number(target), "games": question.games(target)? }));
    }
    let power = games.map(|g| question.power(g)).transpose()?;
    Ok(json!({
        "first": number(question.first), "second": number(question.second), "draws": number(question.draws),
        "level": number(question.level), "known_second": question.known_second,
        "games": games, "power": power.map(number), "needed": needed,
    }))
}

fn span((low, high): (f64, f64)) -> Value {
    json!([number(low), number(high)])
}

/// A summary as JSON: `{"systems": […], "comparisons": […], "level": …}`.
pub fn document(summary: &Summary, level: f64) -> Map<String, Value> {
    let systems: Vec<Value> = summary
        .rows
        .iter()
        .map(|row| {
            let s = row.strength.as_ref();
            let sprt = match &row.sprt {
                None => Value::Null,
                Some(Err(error)) => json!({ "error": error.to_string() }),
                Some(Ok(test)) => json!({
                    "llr": number(test.llr), "lower": number(test.lower), "upper": number(test.upper),
                    "decision": <&str>::from(test.decision),
                }),
            };
            json!({
                "player": row.entry.player,
                "opponent": row.entry.opponent,
                "wins": row.entry.games.map(|g| g.wins),
                "draws": row.entry.games.map(|g| g.draws),
                "losses": row.entry.games.map(|g| g.losses),
                "pentanomial": row.entry.pairs.map(|p| p.counts),
                "games": s.map(|s| s.games),
                "win_rate": s.map(|s| number(s.rate)),
                "wilson": row.wilson.map(span),
                "win_rate_interval": s.map(|s| span(s.rate_interval)),
                "elo": s.and_then(|s| s.elo).map(number),
                "elo_interval": s.map(|s| json!([s.elo_interval.0.map(number), s.elo_interval.1.map(number)])),
                "normalized_elo": s.and_then(|s| s.normalized_elo).map(number),
                "los": s.and_then(|s| s.los).map(number),
                "sign_test_p": row.sign_test.map(number),
                "sprt": sprt,
            })
        })
        .collect();
    let player = |index: usize| summary.rows.get(index).map(|r| r.entry.player.as_str());
    let comparisons: Vec<Value> = summary
        .pairs
        .iter()
        .map(|pair| {
            let c = &pair.comparison;
            json!({
                "first": player(pair.first),
                "second": player(pair.second),
                "opponent": summary.rows.get(pair.first).and_then(|r| r.entry.opponent.as_deref()),
                "difference": c.difference.map(number),
                "interval": c.interval.map(span),
                "chi_squared": c.chi_squared.map(|t| number(t.chi_squared)),
                "p": c.chi_squared.map(|t| number(t.p)),
                "exact_p": number(c.exact_p),
                "half_draws_p": c.half_draws.map(|t| number(t.p)),
                "bonferroni_p": number(pair.bonferroni),
                "holm_p": number(pair.holm),
            })
        })
        .collect();
    let parts = [("systems", systems.into()), ("comparisons", comparisons.into()), ("level", number(level))];
    parts.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// Win rates with their Wilson intervals as bars (Takeuchi 2018, figure 6).
///
/// # Errors
/// [`PlotError`] if there are no games.
#[cfg(feature = "plot")]
pub fn figure(summary: &Summary, options: &PlotOptions) -> Result<Figure, PlotError> {
    let bar = |row: &Row| {
        let strength = row.strength.as_ref()?;
        let interval = row.wilson.unwrap_or(strength.rate_interval);
        let name = row.entry.player.clone();
        Some(RateBar { name, rate: strength.rate, interval: Some(interval), games: strength.games })
    };
    let bars: Vec<RateBar> = summary.rows.iter().filter_map(bar).collect();
    let mut opponents: Vec<&str> = summary.rows.iter().filter_map(|r| r.entry.opponent.as_deref()).collect();
    opponents.sort_unstable();
    opponents.dedup();
    let against = match opponents[..] {
        [one] => format!(" against {one}"),
        _ => String::new(),
    };
    let games: Vec<u64> = bars.iter().map(|b| b.games).collect();
    let (least, most) = (games.iter().min().copied().unwrap_or(0), games.iter().max().copied().unwrap_or(0));
    let caption = if least == most {
        format!("{} games each", thousands(most))
    } else {
        format!("{} to {} games each", thousands(least), thousands(most))
    };
    let words = RateWords {
        title: format!("Win rates{against}"),
        caption: format!("{caption} · draws count half"),
        axis: "win rate".to_owned(),
        notes: vec!["lines: 95% Wilson intervals".to_owned()],
    };
    rate_bars(&bars, &words, options)
}

/// Shares by group and name as bars (Takeuchi 2018, figure 7).
///
/// # Errors
/// [`PlotError`] if there are none.
#[cfg(feature = "plot")]
pub fn share_figure(shares: &[(String, String, f64)], options: &PlotOptions) -> Result<Figure, PlotError> {
    let mut groups = ShareGroups::default();
    for (group, name, _) in shares {
        for (list, text) in [(&mut groups.groups, group), (&mut groups.names, name)] {
            if !list.contains(text) {
                list.push(text.clone());
            }
        }
    }
    // of several shares of a name in a group, the last one counts
    let share = |group: &String, name: &String| {
        shares.iter().rev().find(|(g, n, _)| g == group && n == name).map(|(.., share)| *share)
    };
    groups.shares = groups.groups.iter().map(|g| groups.names.iter().map(|n| share(g, n)).collect()).collect();
    let words = RateWords {
        title: "How often the move of each engine was played, by the rule of the council".to_owned(),
        caption: "a move that agrees with the one played counts as adopted, so that the shares add up to more than 1"
            .to_owned(),
        axis: "share of moves".to_owned(),
        notes: Vec::new(),
    };
    share_bars(&groups, &words, options)
}
