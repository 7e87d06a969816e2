//! The text report of a replayed vote log.

use std::fmt::Write;

use super::text::{columns, fit_name, printable, thousands};
use crate::rule::replay::{Replay, RuleReplay};

/// Columns of a rule's name.
const RULE: usize = 24;
/// Largest number of columns of a voter.
const NAME: usize = 12;
/// Kinds of agreement that are listed.
const KINDS: usize = 16;

/// The report that `evalcurve replay` prints.
pub fn text(replay: &Replay) -> String {
    let mut out = format!("games       {}\n", thousands(replay.games as u64));
    let _ = writeln!(out, "decisions   {}", thousands(replay.decisions as u64));
    let _ = writeln!(
        out,
        "replayed    {} the same by the logged rule, {} different",
        thousands(replay.logged.same as u64),
        thousands(replay.logged.different.len() as u64)
    );
    if replay.logged.played_otherwise > 0 {
        let _ = writeln!(
            out,
            "played      {} moves that were not the decision",
            thousands(replay.logged.played_otherwise as u64)
        );
    }
    shares(&mut out, replay);
    agreement(&mut out, replay);
    noise(&mut out, replay);
    out += "\nadoption rate: share of decisions for the voter's move\n";
    rules(&mut out, "rule", &replay.rules);
    for left in &replay.left_out {
        out.push('\n');
        rules(&mut out, &format!("without {}", left.voter), &left.rules);
    }
    if let Some(regret) = replay.rules.iter().find_map(|r| r.regret.as_ref()) {
        let _ = write!(
            out,
            "\nregret: win rate that the chosen move loses by {}, with its standard error (clustered by game);\n\
             missing: chosen moves that are not in its list and therefore lose more than the list shows\n",
            printable(&regret.reference)
        );
    }
    for rule in &replay.impossible {
        let _ = write!(out, "\nnot replayed: {}", printable(&rule.reason));
    }
    if !replay.impossible.is_empty() {
        out.push('\n');
    }
    out
}

fn shares(out: &mut String, replay: &Replay) {
    for (title, list) in [("split", &replay.splits), ("who agrees", &replay.groups)] {
        // the list of an empty log is empty
        let Some(width) = list.iter().take(KINDS).map(|s| columns(&s.kind)).max() else { continue };
        let width = width.max(title.len());
        let _ = writeln!(out, "\n{}  decisions  share", fit_name(title, width));
        for share in list.iter().take(KINDS) {
            let count = thousands(share.decisions as u64);
            let _ = writeln!(out, "{}  {count:>9}  {:.3}", fit_name(&share.kind, width), share.share);
        }
        if list.len() > KINDS {
            let rest: usize = list[KINDS..].iter().map(|s| s.decisions).sum();
            let _ = writeln!(out, "{} other kinds: {} decisions", list.len() - KINDS, thousands(rest as u64));
        }
    }
}

fn agreement(out: &mut String, replay: &Replay) {
    let mut names: Vec<&str> = Vec::new();
    for pair in &replay.agreement {
        for name in [&pair.a, &pair.b] {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}{}", fit_name("agreement", RULE), heads(names.iter().copied()));
    for a in &names {
        let _ = write!(out, "{}", fit_name(a, RULE));
        for b in &names {
            let pair = replay.agreement.iter().find(|p| (p.a == *a && p.b == *b) || (p.a == *b && p.b == *a));
            let cell = match pair {
                Some(p) if p.both > 0 => format!("{:.3}", p.same as f64 / p.both as f64),
                _ => "-".to_owned(),
            };
            let _ = write!(out, "  {cell:>NAME$}");
        }
        out.push('\n');
    }
}

fn noise(out: &mut String, replay: &Replay) {
    if replay.noise.iter().all(|n| n.noise.is_none()) {
        return;
    }
    let _ = write!(out, "{}", fit_name("noise s, logits", RULE));
    for voter in &replay.noise {
        let cell = voter.noise.map_or("-".to_owned(), |s| format!("{s:.3}"));
        let _ = write!(out, "  {cell:>NAME$}");
    }
    out.push('\n');
}

/// Names of voters, right-aligned in their columns.
fn heads<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let head = |name: &str| {
        let name = if columns(name) > NAME { fit_name(name, NAME) } else { printable(name) };
        format!("  {}{name}", " ".repeat(NAME.saturating_sub(columns(&name))))
    };
    names.map(head).collect()
}

fn rules(out: &mut String, title: &str, rules: &[RuleReplay]) {
    let Some(first) = rules.first() else { return };
    let judged = rules.iter().any(|r| r.regret.is_some());
    let _ = write!(out, "{}{}", fit_name(title, RULE), heads(first.adoption.iter().map(|a| a.voter.as_str())));
    let _ = write!(out, "  {:>9}  {:>6}", "as logged", "ties");
    if judged {
        let _ = write!(out, "  {:>15}  {:>7}", "regret", "missing");
    }
    out.push('\n');
    for rule in rules {
        let _ = write!(out, "{}", fit_name(rule.rule, RULE));
        for adoption in &rule.adoption {
            let rate = adoption.rate(rule.decided).map_or("-".to_owned(), |r| format!("{r:.4}"));
            let _ = write!(out, "  {rate:>NAME$}");
        }
        let same = match rule.decided {
            0 => "-".to_owned(),
            n => format!("{:.4}", rule.as_logged as f64 / n as f64),
        };
        let _ = write!(out, "  {same:>9}  {:>6}", thousands(rule.ties as u64));
        if let Some(regret) = &rule.regret {
            let mean = match (regret.mean, regret.standard_error) {
                (None, _) => "-".to_owned(),
                (Some(mean), None) => format!("{mean:.4}"),
                (Some(mean), Some(error)) => format!("{mean:.4} ±{error:.4}"),
            };
            let _ = write!(out, "  {mean:>15}  {:>7}", thousands(regret.missing as u64));
        }
        if rule.unsearched > 0 {
            let _ = write!(out, "  {} not searched", thousands(rule.unsearched as u64));
        }
        out.push('\n');
    }
}
