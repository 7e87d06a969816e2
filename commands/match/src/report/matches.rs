//! Match statistics as text, as JSON and as figures.

use std::collections::BTreeSet;
use std::fmt::Write;

use evalcurve_app::cli::terminal;
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{
    accounts, columns as columns_of, counts, fit_name, label, shown_or, signed, thousands,
};
use evalcurve_figures::{Figure, PlotError, PlotOptions, RateBar, RateWords, ShareGroups, rate_bars, share_bars};
use evalcurve_words::language::Language;
use evalcurve_words::say;
use serde_json::{Map, Value, json};

use crate::match_stats::power::PowerError;
use crate::match_stats::summary::{MOST_COMPARISONS, Pair, Row, Summary};
use crate::match_stats::{
    Decision, EloModel, Matches, Pentanomial, PerMove, PowerQuestion, Rated, RatingGroup, Sprt, SprtOptions, Strength,
};

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

/// The difference in Elo with its interval.
pub(crate) fn elo(strength: &Strength, decimals: usize) -> String {
    let points = |value: Option<f64>, infinite| shown_or(infinite, value, |v| signed(v, decimals));
    let (low, high) = strength.elo_interval;
    let open = if strength.rate > 0.5 { "+∞" } else { "-∞" };
    format!("{} [{}, {}]", points(strength.elo, open), points(low, "-∞"), points(high, "+∞"))
}

fn normalized_elo(strength: &Strength) -> String {
    let known = strength.normalized_elo.zip(strength.normalized_elo_interval);
    dash(known, |(value, (low, high))| format!("{} [{}, {}]", signed(value, 1), signed(low, 1), signed(high, 1)))
}

/// The names of the players.
fn names(language: Language) -> Columns<'static, Row> {
    Columns::new().name(language.word("player"), NAME, |row: &Row| row.entry.player.clone()).name(
        language.word("against"),
        NAME,
        |row| row.entry.opponent.clone().unwrap_or_default(),
    )
}

/// The names, and the statistics of rows with games.
fn columns(width: usize, language: Language) -> Columns<'static, Row> {
    fn cell(show: impl Fn(&Strength) -> String) -> impl Fn(&Row) -> String {
        move |row| row.strength.as_ref().map_or_else(String::new, &show)
    }
    let rate = |row: &Row| {
        let (rate, interval) = row.strength.as_ref().map_or((f64::NAN, (0.0, 1.0)), |s| (s.rate, s.rate_interval));
        let (low, high) = row.wilson.unwrap_or(interval);
        format!("{rate:.4} [{low:.3}, {high:.3}]")
    };
    names(language)
        .right(language.word("games"), 7, cell(|s| thousands(s.games)))
        .gap(2)
        .left(language.word("W-D-L"), 15, |row| dash(row.entry.games, |g| g.to_string()))
        .gap(1)
        .left(language.word("win rate [95% Wilson]"), 22, rate)
        .left("Elo [95%]", 24, cell(|s| elo(s, 1)))
        .right("LOS", 7, cell(|s| dash(s.los, percent)))
        .gap(2)
        .right(language.word("sign p"), 8, |row| dash(row.sign_test, p_value))
        .left("nElo [95%]", 24, cell(normalized_elo))
        .within(width, &[8, 2, 6, 3])
}

/// A head, one row per system, and those of all opponents together if there are any.
pub fn table(summary: &Summary, totals: &Summary, width: usize, language: Language) -> String {
    let (names, columns) = (names(language), columns(width, language));
    let line = |row: &Row| match (&row.strength, row.entry.pairs) {
        (None, _) => format!("{} {}\n", names.row(row), language.word("no games")),
        (Some(_), None) => format!("{}\n", columns.row(row).trim_end()),
        (Some(_), Some(pairs)) => parts_in(&[columns.row(row).trim_end().to_owned(), pairs_of(pairs, language)], width),
    };
    let mut out = terminal::heading(columns.head().trim_end()) + "\n";
    out.extend(summary.rows.iter().map(line));
    if !totals.rows.is_empty() {
        out += &format!("{}\n", language.word("over all opponents"));
    }
    out.extend(totals.rows.iter().map(line));
    out
}

/// The counts of pairs by points.
fn pairs_of(pairs: Pentanomial, language: Language) -> String {
    let [a, b, c, d, e] = pairs.counts;
    format!("{} {a}-{b}-{c}-{d}-{e}", language.word("pairs"))
}

/// The time that the players of each row took for a move, and which matches are not of equal time; empty where no time
/// is known.
pub fn times(summary: &Summary, language: Language) -> String {
    let shown = |time: PerMove| match time.cpu_ms {
        Some(cpu_ms) => say!(language, "{0:.1} ms (processors {1:.1} ms)", time.wall_ms, cpu_ms),
        None => say!(language, "{0:.1} ms", time.wall_ms),
    };
    let (mut out, mut apart) = (String::new(), String::new());
    let timed = summary.rows.iter().filter_map(|row| Some((&row.entry, row.entry.spent.filter(|s| s.plies > 0)?)));
    for (entry, spent) in timed {
        let [a, b] = [0, 1].map(|player| shown(spent.per_move(player)));
        let (first, second) = (&entry.player, entry.opponent.as_deref().unwrap_or(language.word("the others")));
        out += &say!(language, "time a move: {first} {a}, {second} {b}\n");
        if spent.is_apart() {
            apart += &say!(
                language,
                "not at equal time: {first} takes {a} a move, {second} {b}; they differ by more than a fifth\n"
            );
        }
    }
    out + &apart
}

/// How many comparisons are not of equal time; empty if none is known to be.
fn unequal(summary: &Summary, language: Language) -> String {
    let spent = |row: usize| summary.rows.get(row)?.entry.spent;
    let is_apart = |pair: &&Pair| spent(pair.first).zip(spent(pair.second)).is_some_and(|(a, b)| a.first_is_apart(&b));
    match summary.pairs.iter().filter(is_apart).count() {
        0 => String::new(),
        n => say!(language, "not at equal time: {n} of these comparisons; their times differ by more than a fifth\n"),
    }
}

/// The statistics of one system in a narrow window: parts that go on in the next line.
pub fn short_row(row: &Row, width: usize, language: Language) -> String {
    let Some(strength) = &row.strength else { return String::new() };
    let against = row.entry.opponent.as_deref().unwrap_or_default();
    let (player, games) = (&row.entry.player, thousands(strength.games));
    let mut parts = vec![match against {
        "" => say!(language, "{player}: {games} games"),
        _ => say!(language, "{player} against {against}: {games} games"),
    }];
    parts.extend(row.entry.games.map(|games| games.to_string()));
    parts.push(format!("Elo {}", elo(strength, 1)));
    parts.push(format!("nElo {}", normalized_elo(strength)));
    parts.extend(strength.los.map(|los| format!("LOS {}", percent(los))));
    parts.extend(row.entry.pairs.map(|pairs| pairs_of(pairs, language)));
    parts_in(&parts, width)
}

/// Parts with two blanks between them, whole, in as many lines as they need.
pub fn parts_in(parts: &[String], width: usize) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for part in parts {
        let columns = columns_of(part);
        if used > 0 && used + 2 + columns > width {
            out += "\n  ";
            used = 2;
        } else if used > 0 {
            out += "  ";
            used += 2;
        }
        out += part;
        used += columns;
    }
    out + "\n"
}

/// The rating lists of groups of players, strongest first.
pub fn ratings(groups: &[RatingGroup], width: usize, language: Language) -> String {
    groups.iter().map(|group| rating_group(group, groups.len(), width, language)).collect::<Vec<String>>().join("\n")
}

fn rating_group(group: &RatingGroup, groups: usize, width: usize, language: Language) -> String {
    let RatingGroup { players, los, dispersion, .. } = group;
    let (n, games) = (thousands(players.len() as u64), thousands(group.games));
    let scale = match &group.anchor {
        Some(anchor) => say!(language, "{anchor} fixed"),
        None => say!(language, "mean 0"),
    };
    let mut out = say!(language, "ratings in Elo: {n} players, {games} games, {scale}, dispersion {dispersion:.2}\n");
    let end = |end: Option<f64>, open: &str| shown_or(open, end, |elo| format!("{elo:.0}"));
    let columns = Columns::new()
        .right("", 4, |row: &(usize, &Rated)| (row.0 + 1).to_string())
        .name(language.word("player"), 24, |(_, p)| p.player.clone())
        .right("Elo", 7, |(_, p)| format!("{:.1}", p.elo))
        .gap(2)
        .left("[95%]", 15, |(_, p)| {
            dash(p.interval, |(low, high)| format!("[{}, {}]", end(low, "-∞"), end(high, "+∞")))
        })
        .gap(1)
        .right(language.word("points"), 9, |(_, p)| format!("{:.1}", p.points))
        .right(language.word("games"), 8, |(_, p)| thousands(p.games))
        .right(language.word("draws"), columns_of(language.word("draws")).max(6), |(_, p)| {
            format!("{:.0}%", 100.0 * p.draws as f64 / p.games.max(1) as f64)
        })
        .right(language.word("opponents"), 9, |(_, p)| thousands(p.opponents as u64))
        .right(language.word("LOS next"), 9, |&(place, _)| {
            dash(los.get(place).and_then(|row| row.get(place + 1)), |p| percent(*p))
        })
        .within(width, &[7, 6]);
    out += &columns.table(players.iter().enumerate());
    if !group.determined {
        out += language.word(
            "some players won, or lost, every game against all others: half a drawn game was added for each player, \
             and the distance to them is a bound only\n",
        );
    }
    if los.is_empty() {
        out += language.word("no intervals: too many players\n");
    }
    if groups > 1 {
        out += language.word("no games join this group to the others: ratings of two groups cannot be compared\n");
    }
    out
}

/// Most players whose likelihoods of superiority are all in the JSON document.
const MOST_IN_MATRIX: usize = 200;

/// The rating lists as JSON; `los[i][j]` is the likelihood that player i is stronger than player j.
pub(crate) fn ratings_document(groups: &[RatingGroup]) -> Value {
    let group = |group: &RatingGroup| {
        let mut document = json!(group);
        document["los"] = json!((group.players.len() <= MOST_IN_MATRIX).then_some(&group.los));
        document
    };
    groups.iter().map(group).collect()
}

/// What a sequential test tests.
pub fn sprt_head(options: &SprtOptions, language: Language) -> String {
    let SprtOptions { elo0, elo1, alpha, beta, model } = options;
    let scale = match model {
        EloModel::Normalized => language.word("normalised Elo"),
        EloModel::Logistic => language.word("logistic Elo"),
        EloModel::Bayesian => language.word("Bayesian Elo"),
    };
    say!(language, "SPRT of {elo0} against {elo1} {scale}, alpha {alpha}, beta {beta}\n")
}

/// The state of a sequential test, and after how many pairs it decided if that is known.
pub fn sprt_result(test: &Sprt, decided_after: Option<u32>, options: &SprtOptions, language: Language) -> String {
    let SprtOptions { elo0, elo1, .. } = options;
    let after = decided_after.map_or_else(String::new, |pairs| say!(language, " after {pairs} pairs"));
    // what the other hypothesis would seldom give: an Elo between the two may be accepted as either
    let decision = match test.decision {
        Decision::AcceptH0 => say!(language, "H0 accepted{after}: less than {elo1}"),
        Decision::AcceptH1 => say!(language, "H1 accepted{after}: more than {elo0}"),
        Decision::Continue => say!(language, "undecided: play on"),
    };
    let Sprt { llr, lower, upper, .. } = test;
    say!(language, "LLR {llr:.3} in ({lower:.3}, {upper:.3}); {decision}")
}

/// The sequential tests, one line each.
pub fn sprt_lines(summary: &Summary, options: &SprtOptions, language: Language) -> String {
    let mut out = sprt_head(options, language);
    for row in &summary.rows {
        let result = match &row.sprt {
            Some(Ok(test)) => sprt_result(test, None, options, language),
            Some(Err(error)) => error.to_string(),
            None => continue,
        };
        let _ = writeln!(out, "  {} {result}", names(language).row(row));
    }
    let condition =
        language.word("the error rates hold if the test was made after each trial and the match ended when it decided");
    format!("{out}  {condition}\n")
}

/// The tests between systems, with corrections, or why there are too many; empty if there are none.
pub fn comparisons(summary: &Summary, level: f64, width: usize, language: Language) -> String {
    if summary.not_compared > 0 {
        let (all, most) = (thousands(summary.not_compared), thousands(MOST_COMPARISONS));
        return say!(
            language,
            "{all} comparisons of systems with a common opponent are too many (at most {most}): choose fewer systems\n"
        );
    }
    if summary.pairs.is_empty() {
        return String::new();
    }
    let name = |index: usize| summary.rows.get(index).map_or_else(String::new, |r| r.entry.player.clone());
    let opponent = |index: usize| summary.rows.get(index).and_then(|r| r.entry.opponent.as_deref());
    let paired = summary.pairs.iter().any(|p| p.comparison.paired.is_some());
    let columns = Columns::new()
        .name(language.word("first"), NAME, |p: &&Pair| name(p.first))
        .name(language.word("second"), NAME, |p| name(p.second))
        .left(language.word("difference [95%]"), 24, |p| {
            let difference = p.comparison.difference.zip(p.comparison.interval);
            dash(difference, |(d, (a, b))| format!("{} [{}, {}]", signed(d, 4), signed(a, 3), signed(b, 3)))
        })
        .when(paired, |columns| {
            columns.right(language.word("by opening"), 10, |p| dash(p.comparison.paired, |t| p_value(t.p)))
        })
        .right("chi2", 7, |p| dash(p.comparison.chi_squared, |t| format!("{:.2}", t.chi_squared)))
        .right("p", 8, |p| dash(p.comparison.chi_squared, |t| p_value(t.p)))
        .right(language.word("exact p"), 8, |p| p_value(p.comparison.exact_p))
        .when(!paired, |columns| {
            columns.right(language.word("half p"), 8, |p| dash(p.comparison.half_draws, |t| p_value(t.p)))
        })
        .right("Bonferroni", 10, |p| p_value(p.bonferroni))
        .right("Holm", 8, |p| p_value(p.holm))
        .within(width, if paired { &[4, 5, 4, 4] } else { &[3, 5, 5] });
    let mut out = columns.head() + "\n";
    let mut order: Vec<&Pair> = summary.pairs.iter().collect();
    order.sort_by_key(|p| opponent(p.first));
    let several = order.iter().any(|p| opponent(p.first) != opponent(order[0].first));
    for pairs in order.chunk_by(|a, b| opponent(a.first) == opponent(b.first)) {
        if several {
            let against = fit_name(opponent(pairs[0].first).unwrap_or("-"), NAME);
            let _ = writeln!(out, "{} {}", language.word("against"), against.trim_end());
        }
        out += &columns.rows(pairs.iter().copied());
    }
    out + &significant(summary, level, paired, language) + &unequal(summary, language)
}

/// How the tests were made, and how many of them are significant.
fn significant(summary: &Summary, level: f64, paired: bool, language: Language) -> String {
    let m = summary.pairs.len();
    let alone = summary.pairs.iter().filter(|p| p.comparison.p() < level).count();
    let after = |p: fn(&Pair) -> f64| summary.pairs.iter().filter(|x| p(x) < level).count();
    let (plural, each) = (if m == 1 { "" } else { "s" }, level / m as f64);
    let (bonferroni, holm) = (after(|p| p.bonferroni), after(|p| p.holm));
    let how = if paired {
        language.word(
            "difference and by opening: t test of the differences in each opening; the corrections use its p. chi2 and \
             exact p: wins and losses without draws, as if games were independent\n",
        )
    } else {
        language.word(
            "chi2 and exact p: wins and losses without draws, no continuity correction; half p: chi2 with draws as \
             half a win\n",
        )
    };
    let found = say!(
        language,
        "{m} comparison{plural}: {alone} below {level} without correction, {bonferroni} after Bonferroni's (each at \
         {each:.4}), {holm} after Holm's\n",
    );
    how.to_owned() + &found
}

/// Counts of the games of records or the rows of tables, and of the files that were passed over.
pub fn reading(matches: &Matches, what: &str, language: Language) -> String {
    let accounts = accounts(matches.read, "", matches.used, &matches.skipped, language);
    let mut out = format!("{}{accounts}\n", label(language, what));
    if !matches.refused.is_empty() {
        let refused = counts(&matches.refused, language);
        let refused = say!(language, "passed over: {refused}");
        out += &format!("{}{refused}\n", label(language, "files"));
    }
    out
}

/// A power calculation as text.
///
/// # Errors
/// [`PowerError`] of the question.
pub fn power(
    question: &PowerQuestion,
    games: Option<u64>,
    targets: &[f64],
    language: Language,
) -> Result<String, PowerError> {
    let PowerQuestion { first, second, level, .. } = question;
    let what = if question.known_second {
        say!(language, "a win rate of {first} against the even {second}")
    } else {
        say!(language, "{first} against {second}, both systems with the same number of games")
    };
    let draws = 100.0 * question.draws;
    let mut out = say!(language, "power of a two-sided test at level {level:.4}: {what}, {draws:.0}% draws\n");
    if let Some(games) = games {
        let (power, games) = (100.0 * question.power(games)?, thousands(games));
        out += &say!(language, "  {games} games detect it with {power:.1}%\n");
    }
    for &target in targets {
        let (percent, games) = (100.0 * target, thousands(question.games(target)?));
        out += &say!(language, "  {percent:.0}% needs {games} games\n");
    }
    Ok(out)
}

/// A power calculation as JSON.
///
/// # Errors
/// [`PowerError`] of the question.
pub(crate) fn power_document(
    question: &PowerQuestion,
    games: Option<u64>,
    targets: &[f64],
) -> Result<Value, PowerError> {
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
            "normalized_elo_interval": s.and_then(|s| s.normalized_elo_interval),
            "los": s.and_then(|s| s.los),
            "sign_test_p": row.sign_test,
            "sprt": sprt,
            "ms_per_move": entry.spent.filter(|s| s.plies > 0).map(|s| [0, 1].map(|player| s.per_move(player).wall_ms)),
            "cpu_ms_per_move": entry.spent.filter(|s| s.plies > 0)
                .and_then(|s| Some([s.per_move(0).cpu_ms?, s.per_move(1).cpu_ms?])),
            "equal_time": entry.spent.map(|s| !s.is_apart()),
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
            "openings": c.paired.map(|t| t.openings),
            "by_opening_p": c.paired.map(|t| t.p),
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
    let not_compared = summary.not_compared.into();
    let parts =
        [("systems", systems), ("comparisons", comparisons), ("not_compared", not_compared), ("level", level.into())];
    parts.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// Win rates with their Wilson intervals as bars (Takeuchi 2018, figure 6).
///
/// # Errors
/// [`PlotError`] if there are no games.
pub fn figure(summary: &Summary, options: &PlotOptions) -> Result<Figure, PlotError> {
    let bar = |row: &Row| {
        let strength = row.strength.as_ref()?;
        let interval = row.wilson.unwrap_or(strength.rate_interval);
        let name = row.entry.player.clone();
        Some(RateBar { name, rate: strength.rate, interval: Some(interval), games: strength.games })
    };
    let bars: Vec<RateBar> = summary.rows.iter().filter_map(bar).collect();
    let opponents: BTreeSet<&str> = summary.rows.iter().filter_map(|r| r.entry.opponent.as_deref()).collect();
    let language = options.language;
    let title = match opponents.first() {
        Some(one) if opponents.len() == 1 => say!(language, "Win rates against {one}"),
        _ => say!(language, "Win rates"),
    };
    let games = || bars.iter().map(|b| b.games);
    let (least, most) = (games().min().unwrap_or(0), games().max().unwrap_or(0));
    let to = language.word(" to ");
    let range = if least == most { String::new() } else { thousands(least) + to };
    let most = thousands(most);
    let words = RateWords {
        title,
        caption: say!(language, "{range}{most} games each · draws count half"),
        axis: say!(language, "win rate"),
        notes: vec![say!(language, "lines: 95% Wilson intervals")],
    };
    rate_bars(&bars, &words, options)
}

/// Shares by group and name as bars (Takeuchi 2018, figure 7).
///
/// # Errors
/// [`PlotError`] if there are none.
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
    let word = |english| options.language.word(english).to_owned();
    let words = RateWords {
        title: word("How often the move of each engine was played, by the rule of the council"),
        caption: word(
            "a move that agrees with the one played counts as adopted, so that the shares add up to more than 1",
        ),
        axis: word("share of moves"),
        notes: Vec::new(),
    };
    share_bars(&groups, &words, options)
}
