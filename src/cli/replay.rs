//! `evalcurve replay`

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::json;

use super::{Done, terminal};
use crate::report::votes;
use crate::rule::log::Log;
use crate::rule::replay::{ReplayOptions, replay};
use crate::rule::{Rule, TieRule};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve replay votes.jsonl
  evalcurve replay votes.jsonl --rule majority --rule winrate-optimistic --reference Gikou
  evalcurve replay votes.jsonl --without nozomi --json

Prints how often each member's move was adopted by each rule, how the votes split and who agreed with whom, and the same with
each member left out. A move that agrees with the chosen one counts as adopted, so rates sum to more than 1. The regret
of --reference is what the chosen moves lose by that member's own evaluation, where its list has them: a member judges
its own moves kindly.

Exit codes: 0 every logged decision comes out the same; 1 one does not, no line could be used, or --strict met a problem; 2 usage,
input or output.")]
pub(super) struct Args {
    /// The log of a council, or several: headers hold for their own file
    #[arg(required = true, value_name = "VOTES")]
    files: Vec<PathBuf>,

    /// A rule to replay; may be given several times. Default: every rule that can work with the voters
    #[arg(long, value_name = "RULE", value_parser = rule)]
    rule: Vec<Rule>,

    /// A member that has no vote; may be given several times
    #[arg(long, value_name = "ENGINE")]
    without: Vec<String>,

    /// The member whose evaluation judges the chosen moves; with --without it judges and has no vote
    #[arg(long, value_name = "ENGINE")]
    reference: Option<String>,

    /// How ties are broken, in place of the log's own tie rule: leader, draw or strongest
    #[arg(long, value_name = "RULE", value_parser = tie)]
    tie: Option<TieRule>,

    /// Whether announced mates stand above the rule, in place of the log's own setting
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    mates: Option<bool>,

    /// Exit with 1 where a line of the log could not be used
    #[arg(long)]
    strict: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

fn rule(name: &str) -> Result<Rule, String> {
    let all = || Rule::ALL.map(Rule::as_str).join(", ");
    Rule::parse(name).ok_or_else(|| format!("no rule has this name; there are {}", all()))
}

fn tie(name: &str) -> Result<TieRule, String> {
    let all = || TieRule::ALL.map(TieRule::as_str).join(", ");
    TieRule::parse(name).ok_or_else(|| format!("no tie rule has this name; there are {}", all()))
}

fn on_off(word: &str) -> Result<bool, String> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("give on or off".to_owned()),
    }
}

/// Messages of one kind that are told; the rest is counted.
const TOLD: usize = 10;

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let mut log = Log::default();
    // files one after the other: line numbers stay those of their files
    let mut problems: Vec<String> = Vec::new();
    let mut sources = Vec::new();
    for path in &args.files {
        let name = path.display().to_string();
        let bytes = fs::read(path).with_context(|| format!("cannot read {name}; give the log of a council"))?;
        let read = Log::parse(&bytes);
        problems.extend(read.problems.iter().map(|p| format!("{name}:{}: {}", p.line, p.text)));
        sources.push((name, read.sessions.len()));
        log.append(read);
    }
    if !args.quiet {
        tell(&problems, "lines were not used", terminal::warning);
    }
    if log.decisions() == 0 {
        if args.quiet {
            terminal::error("the log holds no decision that can be used");
        } else {
            terminal::error("the log holds no decision that can be used; give a file that a council wrote");
        }
        return Ok(Done::Nothing);
    }
    let options = ReplayOptions {
        rules: args.rule.clone(),
        without: args.without.clone(),
        reference: args.reference.clone(),
        tie: args.tie,
        mates: args.mates,
    };
    let result = replay(&log, &options)?;
    if let (Some(first), false) = (result.impossible.first(), args.rule.is_empty()) {
        bail!("{}", first.reason);
    }
    if args.json {
        let problems: Vec<_> = problems.iter().collect();
        let lines = json!({
            "read": log.lines, "headers": log.sessions.len(), "decisions": log.decisions(),
            "ends": log.ends(), "blank": log.blank,
            "not_used": problems.len(),
        });
        let mut document = json!({ "format": "evalcurve-replay", "version": 1, "lines": lines, "problems": problems });
        document["replay"] = serde_json::to_value(&result)?;
        terminal::print(&(serde_json::to_string_pretty(&document)? + "\n"))?;
    } else if !args.quiet {
        terminal::print(&votes::text(&result))?;
    }
    let different: Vec<String> = result
        .logged
        .different
        .iter()
        .map(|d| {
            let word = |m: &Option<String>| m.clone().unwrap_or("nothing".to_owned());
            let source = source_of(&sources, d.session);
            format!("{source}:{}: the log has {}, the replay {}", d.line, word(&d.logged), word(&d.replayed))
        })
        .collect();
    tell(&different, "decisions come out differently", terminal::error);
    let strict = args.strict && !problems.is_empty();
    if strict {
        terminal::error(&format!("--strict: {} lines were not used", problems.len()));
    }
    Ok(if strict || !different.is_empty() { Done::Nothing } else { Done::Yes })
}

/// The file that a session came from.
fn source_of(sources: &[(String, usize)], session: usize) -> &str {
    let mut before = 0;
    for (name, sessions) in sources {
        before += sessions;
        if session < before {
            return name;
        }
    }
    ""
}

fn tell(messages: &[String], what: &str, say: fn(&str)) {
    for message in messages.iter().take(TOLD) {
        say(message);
    }
    if messages.len() > TOLD {
        say(&format!("{} {what} in all; the first {TOLD} are told", messages.len()));
    }
}
