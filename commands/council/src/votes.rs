//! The text report of a replayed vote log.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{NO_BREAK, columns, fit_name, printable, shown_or, thousands, wrap};
use evalcurve_rules::log::Log;
use evalcurve_rules::replay::{Cost, Regret, Replay, RuleReplay, Share};
use evalcurve_words::language::Language;
use evalcurve_words::{key, say};

use crate::noise::{Noise, of_replay};

/// Columns of the label of a line.
const LABEL: usize = 12;
/// Columns of a rule's name.
const RULE: usize = 24;
/// Largest number of columns of a voter.
const NAME: usize = 12;
/// Kinds of agreement that are listed.
const KINDS: usize = 16;

/// The report that `evalcurve replay` prints, in so many columns.
pub fn text(log: &Log, replay: &Replay, width: usize, language: Language) -> String {
    let count = |n: usize| thousands(n as u64);
    let logged = &replay.logged;
    let (same, different) = (count(logged.same), count(logged.different.len()));
    let line = |english, text: &str| format!("{}{text}\n", fit_name(language.word(english), LABEL));
    let mut out = line(key!("games"), &count(replay.games)) + &line(key!("decisions"), &count(replay.decisions));
    let replayed = say!(language, "{same} the same by the logged rule, {different} different");
    out += &line(key!("replayed"), &replayed);
    if logged.played_otherwise > 0 {
        let n = count(logged.played_otherwise);
        out += &line(key!("played"), &say!(language, "{n} moves that were not the decision"));
    }
    shares(&mut out, replay, language);
    agreement(&mut out, replay, language);
    noise(&mut out, &of_replay(log, replay), language);
    out += language.word("\nadoption rate: share of decisions for the voter's move\n");
    rules(&mut out, language.word("rule"), &replay.rules, width, language);
    for left in &replay.left_out {
        out.push('\n');
        let title = say!(language, "without {}", left.voter);
        rules(&mut out, &title, &left.rules, width, language);
    }
    if let Some(regret) = replay.rules.iter().find_map(|r| r.regret.as_ref()) {
        let best = replay.rules.iter().find_map(|r| r.against_best.as_ref());
        let best = best.map_or_else(String::new, |best| {
            say!(
                language,
                "against best: regret minus that of {}'s own moves, over the same decisions\n",
                printable(&best.voter)
            )
        });
        out += &say!(
            language,
            "\nregret: win rate that the chosen move loses by {}, with its standard error (clustered by game);\n\
             {best}missing: chosen moves that are not in its list and therefore lose more than the list shows\n",
            printable(&regret.reference)
        );
        for alone in &replay.alone {
            let _ = writeln!(out, "{}  {:>15}", fit_name(&alone.voter, RULE), mean_and_error(&alone.regret));
        }
    }
    for rule in &replay.impossible {
        let _ = write!(out, "{}", say!(language, "\nnot replayed: {}", printable(&rule.reason)));
    }
    if !replay.impossible.is_empty() {
        out.push('\n');
    }
    wrap(&out, width, 2)
}

fn shares(out: &mut String, replay: &Replay, language: Language) {
    let titles = [language.word("split"), language.word("who agrees")];
    for (title, list) in titles.into_iter().zip([&replay.splits, &replay.groups]) {
        let (listed, rest) = list.split_at(list.len().min(KINDS));
        // the list of an empty log is empty
        let Some(width) = listed.iter().map(|s| columns(&s.kind)).max() else { continue };
        let table = Columns::new()
            .gap(2)
            .name(title, width.max(columns(title)), |s: &&Share| s.kind.clone())
            .right(language.word("decisions"), 9, |s| thousands(s.decisions as u64))
            .left(language.word("share"), 0, |s| format!("{:.3}", s.share));
        *out += &format!("\n{}", table.table(listed));
        if !rest.is_empty() {
            let decisions: usize = rest.iter().map(|s| s.decisions).sum();
            let (kinds, decisions) = (rest.len(), thousands(decisions as u64));
            *out += &say!(language, "{kinds} other kinds: {decisions} decisions\n");
        }
    }
}

fn agreement(out: &mut String, replay: &Replay, language: Language) {
    let mut seen = HashSet::new();
    let all = replay.agreement.iter().flat_map(|pair| [pair.a.as_str(), pair.b.as_str()]);
    let names: Vec<&str> = all.filter(|name| seen.insert(*name)).collect();
    if names.is_empty() {
        return;
    }
    let pairs: HashMap<(&str, &str), f64> = replay
        .agreement
        .iter()
        .filter(|p| p.both > 0)
        .flat_map(|p| {
            let share = p.same as f64 / p.both as f64;
            [((p.a.as_str(), p.b.as_str()), share), ((p.b.as_str(), p.a.as_str()), share)]
        })
        .collect();
    let mut table = Columns::new().gap(2).name(language.word("agreement"), RULE, |a: &&str| (*a).to_owned());
    for b in &names {
        let share = |a: &&str| shown_or("-", pairs.get(&(*a, *b)), |share| format!("{share:.3}"));
        table = table.right(head(b), NAME, share);
    }
    *out += &format!("\n{}", table.table(names.iter().copied()));
}

fn noise(out: &mut String, noise: &[Noise], language: Language) {
    if noise.iter().any(|n| n.noise.is_some()) {
        let cell = |n: &Noise| format!("  {:>NAME$}", shown_or("-", n.noise, |s| format!("{s:.3}")));
        let cells: String = noise.iter().map(cell).collect();
        let _ = writeln!(out, "{}{cells}", fit_name(language.word("noise s, logits"), RULE));
    }
}

fn mean_and_error(regret: &Regret) -> String {
    with_error(regret.mean, regret.standard_error)
}

fn with_error(mean: Option<f64>, standard_error: Option<f64>) -> String {
    let error = standard_error.map_or_else(String::new, |error| format!(" ±{error:.4}"));
    shown_or("-", mean, |mean| format!("{mean:.4}{error}"))
}

/// The name of a voter, shortened to its column.
fn head(name: &str) -> String {
    fit_name(name, NAME).trim_end().to_owned()
}

fn rules(out: &mut String, title: &str, rules: &[RuleReplay], width: usize, language: Language) {
    let Some(first) = rules.first() else { return };
    let (ties, costs) = (first.adoption.len() + 2, rules.iter().any(|r| r.cost.is_some()));
    let least_needed = if costs { &[ties, ties + 1, ties, ties - 1][..] } else { &[ties, ties - 1] };
    let four = |share: f64| format!("{share:.4}");
    let mut table = Columns::new().gap(2).left(title, RULE, |r: &&RuleReplay| r.rule.clone());
    for (i, voter) in first.adoption.iter().enumerate() {
        table = table.right(head(&voter.voter), NAME, move |r| {
            shown_or("-", r.adoption.get(i).and_then(|a| a.rate(r.decided)), four)
        });
    }
    let word = |english| language.word(english);
    let table = table
        .right(word("as logged"), columns(word("as logged")), |r| {
            shown_or("-", (r.decided > 0).then(|| r.as_logged as f64 / r.decided as f64), four)
        })
        .right(word("ties"), 6, |r| thousands(r.ties as u64))
        .when(costs, |table| {
            let ms = |of: fn(&Cost) -> f64| {
                move |r: &&RuleReplay| shown_or("-", r.cost.as_ref(), |cost| format!("{:.1}", of(cost)))
            };
            let table = table.right(word("total ms"), columns(word("total ms")).max(9), ms(|cost| cost.total_ms));
            table.right(word("wall ms"), columns(word("wall ms")).max(8), ms(|cost| cost.wall_ms))
        })
        .when(rules.iter().any(|r| r.cost.is_some_and(|cost| cost.nodes.is_some())), |table| {
            let nodes = |r: &&RuleReplay| shown_or("-", r.cost.and_then(|cost| cost.nodes), |n| format!("{n:.0}"));
            table.right(word("nodes"), 9, nodes)
        })
        .when(rules.iter().any(|r| r.regret.is_some()), |table| {
            let against = |r: &&RuleReplay| {
                let best = r.against_best.as_ref();
                best.map_or_else(String::new, |b| with_error(Some(b.mean), b.standard_error))
            };
            table
                .right(word("regret"), 15, |r| r.regret.as_ref().map_or_else(String::new, mean_and_error))
                .when(rules.iter().any(|r| r.against_best.is_some()), |table| {
                    table.right(word("against best"), 16, against)
                })
                .right(word("missing"), 7, |r| {
                    r.regret.as_ref().map_or_else(String::new, |r| thousands(r.missing as u64))
                })
        })
        .within(width, least_needed);
    let _ = writeln!(out, "{}", table.head());
    for rule in rules {
        *out += &table.row(&rule);
        if rule.unsearched > 0 {
            let n = thousands(rule.unsearched as u64);
            let words = say!(language, "  {n} not searched");
            *out += &format!("  {}", words.trim_start().replace(' ', &NO_BREAK.to_string()));
        }
        out.push('\n');
    }
}
