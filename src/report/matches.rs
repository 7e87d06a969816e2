//! Match statistics as text, as JSON and as figures.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::columns::Columns;
use super::text::{accounts, fit_name, shown_or, signed, thousands};
use crate::language::Language;
use crate::match_stats::power::PowerError;
use crate::match_stats::summary::{Pair, Row, Summary};
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
    shown_or("-", value, show)
}

fn elo(strength: &Strength) -> String {
    let points = |value: Option<f64>, infinite| shown_or(infinite, value, |v| signed(v, 0));
    let (low, high) = strength.elo_interval;
    let open = if strength.rate > 0.5 { "+∞" } else { "-∞" };
    format!("{} [{}, {}]", points(strength.elo, open), points(low, "-∞"), points(high, "+∞"))
}

/// The names of the players.
fn names() -> Columns<'static, Row> {
    Columns::new()
        .name("player", NAME, |row: &Row| row.entry.player.clone())
        .name("against", NAME, |row| row.entry.opponent.clone().unwrap_or_default())
}

/// The names, and the statistics of rows with games.
fn columns() -> Columns<'static, Row> {
    fn cell(show: impl Fn(&Strength) -> String) -> impl Fn(&Row) -> String {
        move |row| row.strength.as_ref().map_or_else(String::new, &show)
    }
    let rate = |row: &Row| {
        let (rate, interval) = row.strength.as_ref().map_or((f64::NAN, (0.0, 1.0)), |s| (s.rate, s.rate_interval));
        let (low, high) = row.wilson.unwrap_or(interval);
        format!("{rate:.4} [{low:.3}, {high:.3}]")
    };
    names()
        .right("games", 7, cell(|s| thousands(s.games)))
        .gap(2)
        .left("W-D-L", 15, |row| dash(row.entry.games, |g| g.to_string()))
        .gap(1)
        .left("win rate [95% Wilson]", 22, rate)
        .left("Elo [95%]", 20, cell(elo))
        .right("LOS", 7, cell(|s| dash(s.los, percent)))
        .gap(2)
        .right("sign p", 8, |row| dash(row.sign_test, p_value))
        .left("nElo", 0, cell(|s| dash(s.normalized_elo, |v| signed(v, 0))))
}

/// The header of [`rows`].
pub fn head() -> String {
    columns().head()
}

/// The statistics of the systems, one line each.
pub fn rows(summary: &Summary) -> String {
    let (names, columns) = (names(), columns());
    let line = |row: &Row| match (&row.strength, row.entry.pairs) {
        (None, _) => names.row(row) + " no games\n",
        (Some(_), None) => columns.row(row) + "\n",
        (Some(_), Some(pairs)) => {
            let [a, b, c, d, e] = pairs.counts;
            format!("{}  pairs {a}-{b}-{c}-{d}-{e}\n", columns.row(row))
        }
    };
    summary.rows.iter().map(line).collect()
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
        let _ = writeln!(out, "  {} {result}", names().row(row));
    }
    out + "  the error rates hold if the test was made after each trial and the match ended when it decided\n"
}

/// The tests between systems, with corrections; empty if there are none.
pub fn comparisons(summary: &Summary, level: f64) -> String {
    if summary.pairs.is_empty() {
        return String::new();
    }
    let name = |index: usize| summary.rows.get(index).map_or_else(String::new, |r| r.entry.player.clone());
    let opponent = |index: usize| summary.rows.get(index).and_then(|r| r.entry.opponent.as_deref());
    let columns = Columns::new()
        .name("first", NAME, |p: &&Pair| name(p.first))
        .name("second", NAME, |p| name(p.second))
        .left("difference [95%]", 24, |p| {
            let difference = p.comparison.difference.zip(p.comparison.interval);
            dash(difference, |(d, (a, b))| format!("{} [{}, {}]", signed(d, 4), signed(a, 3), signed(b, 3)))
        })
        .right("chi2", 7, |p| dash(p.comparison.chi_squared, |t| format!("{:.2}", t.chi_squared)))
        .right("p", 8, |p| dash(p.comparison.chi_squared, |t| p_value(t.p)))
        .right("exact p", 8, |p| p_value(p.comparison.exact_p))
        .right("half p", 8, |p| dash(p.comparison.half_draws, |t| p_value(t.p)))
        .right("Bonferroni", 10, |p| p_value(p.bonferroni))
        .right("Holm", 8, |p| p_value(p.holm));
    let mut out = columns.head() + "\n";
    let mut order: Vec<&Pair> = summary.pairs.iter().collect();
    order.sort_by_key(|p| opponent(p.first));
    let several = order.iter().any(|p| opponent(p.first) != opponent(order[0].first));
    for pairs in order.chunk_by(|a, b| opponent(a.first) == opponent(b.first)) {
        if several {
            let against = opponent(pairs[0].first).unwrap_or("-");
            let _ = writeln!(out, "against {}", fit_name(against, NAME).trim_end());
        }
        out += &columns.rows(pairs.iter().copied());
    }
    let m = summary.pairs.len();
    let alone = summary.pairs.iter().filter(|p| p.comparison.chi_squared.is_some_and(|t| t.p < level)).count();
    let after = |p: fn(&Pair) -> f64| summary.pairs.iter().filter(|x| p(x) < level).count();
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
    format!("games   {}\n", accounts(matches.read, "", matches.used, &matches.skipped, Language::English))
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
    let needed = |&target: &f64| Ok(json!({ "power": target, "games": question.games(target)? }));
    let needed = targets.iter().map(needed).collect::<Result<Vec<Value>, PowerError>>()?;
    let power = games.map(|g| question.power(g)).transpose()?;
    Ok(json!({
        "first": question.first, "second": question.second, "draws": question.draws, "level": question.level,
        "known_second": question.known_second, "games": games, "power": power, "needed": needed,
    }))
}

/// A summary as JSON: `{"systems": […], "comparisons": […], "level": …}`.
pub fn document(summary: &Summary, level: f64) -> Map<String, Value> {
    let system = |row: &Row| {
        let (entry, s) = (&row.entry, row.strength.as_ref());
        let sprt = row.sprt.as_ref().map(|test| match test {
            Err(error) => json!({ "error": error.to_string() }),
            Ok(test) => json!({
                "llr": test.llr, "lower": test.lower, "upper": test.upper, "decision": <&str>::from(test.decision),
            }),
        });
        json!({
            "player": entry.player,
            "opponent": entry.opponent,
            "wins": entry.games.map(|g| g.wins),
            "draws": entry.games.map(|g| g.draws),
            "losses": entry.games.map(|g| g.losses),
            "pentanomial": entry.pairs.map(|p| p.counts),
            "games": s.map(|s| s.games),
            "win_rate": s.map(|s| s.rate),
            "wilson": row.wilson,
            "win_rate_interval": s.map(|s| s.rate_interval),
            "elo": s.and_then(|s| s.elo),
            "elo_interval": s.map(|s| s.elo_interval),
            "normalized_elo": s.and_then(|s| s.normalized_elo),
            "los": s.and_then(|s| s.los),
            "sign_test_p": row.sign_test,
            "sprt": sprt,
        })
    };
    let row = |index: usize| summary.rows.get(index).map(|r| &r.entry);
    let comparison = |pair: &Pair| {
        let c = &pair.comparison;
        json!({
            "first": row(pair.first).map(|e| &e.player),
            "second": row(pair.second).map(|e| &e.player),
            "opponent": row(pair.first).and_then(|e| e.opponent.as_ref()),
            "difference": c.difference,
            "interval": c.interval,
            "chi_squared": c.chi_squared.map(|t| t.chi_squared),
            "p": c.chi_squared.map(|t| t.p),
            "exact_p": c.exact_p,
            "half_draws_p": c.half_draws.map(|t| t.p),
            "bonferroni_p": pair.bonferroni,
            "holm_p": pair.holm,
        })
    };
    let systems: Value = summary.rows.iter().map(system).collect();
    let comparisons = summary.pairs.iter().map(comparison).collect();
    let parts = [("systems", systems), ("comparisons", comparisons), ("level", level.into())];
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
    let games = || bars.iter().map(|b| b.games);
    let (least, most) = (games().min().unwrap_or(0), games().max().unwrap_or(0));
    let range = if least == most { String::new() } else { format!("{} to ", thousands(least)) };
    let words = RateWords {
        title: format!("Win rates{against}"),
        caption: format!("{range}{} games each · draws count half", thousands(most)),
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
