//! `evalcurve replay`

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::files::calibration;
use super::options::LanguageArgs;
use super::{Done, terminal};
use crate::language::Text;
use crate::report::votes;
use crate::rule::replay::{MOST_COMPARED, ReplayOptions};
use crate::rule::{Rule, TieRule};
use crate::run::{Error, Input, Logs, Replay, replay_document};
use crate::{say, text};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve replay votes.jsonl
  evalcurve replay votes.jsonl --rule winrate-optimistic --reference Gikou
  evalcurve replay votes.jsonl --without nozomi --json
  evalcurve replay votes.jsonl --calibration Gikou=new/Gikou.json

Prints how often each rule adopts each member's move, how the votes split, which members agree, and the rules without \
each member. Every move that equals the chosen one counts as adopted, so rates sum to more than 1. The regret of \
--reference is the win rate that the chosen moves lose by that member's evaluation: of the moves in its list, and of \
those that it judged under cross-examination. It is compared with the regret of the best single member over the same \
decisions. A member overrates its own moves: let a stronger engine judge, and leave it out with --without.

Exit codes: 0 if every logged decision is repeated, or --calibration is given; 1 if one is not, if no line is usable, \
or if --strict finds a problem; 2 for errors of usage, input or output.")]
pub(super) struct Args {
    /// One or more vote logs, or globs of them; a header applies to its own file
    #[arg(required = true, value_name = "VOTES")]
    files: Vec<PathBuf>,

    /// A rule to replay; may be repeated [default: every rule that can work with the voters]
    #[arg(long, value_name = "RULE", value_parser = rule_parser())]
    rule: Vec<Rule>,

    /// Leave a member out; may be repeated
    #[arg(long, value_name = "ENGINE")]
    without: Vec<String>,

    /// The member whose win rates judge the chosen moves; it may be left out by --without
    #[arg(long, value_name = "ENGINE")]
    reference: Option<String>,

    /// Decide with this calibration of ENGINE instead of that of the log; may be repeated
    #[arg(long, value_name = "ENGINE=FILE", value_parser = engine_and_file)]
    calibration: Vec<(String, PathBuf)>,

    /// The tie rule: leader, draw or strongest [default: that of the log]
    #[arg(long, value_name = "RULE", value_parser = tie_rule)]
    tie: Option<TieRule>,

    /// Whether announced mates outrank the rule [default: the setting of the log]
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    mates: Option<bool>,

    /// Exit with 1 if a line of the log is unusable
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    language: LanguageArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print only errors
    #[arg(long, short)]
    quiet: bool,
}

/// Parses the name of a rule; `--help` lists the rules with their summaries.
pub(super) fn rule_parser() -> impl TypedValueParser<Value = Rule> {
    let values = Rule::ALL.map(|rule| PossibleValue::new(rule.as_str()).help(rule.summary()));
    PossibleValuesParser::new(values).try_map(|name| Rule::parse(&name).ok_or("not a rule"))
}

fn tie_rule(name: &str) -> Result<TieRule, Text> {
    let all: Vec<&str> = TieRule::ALL.iter().map(<&str>::from).collect();
    name.parse().map_err(|_| text!("not a tie rule; expected one of {}", all.join(", ")))
}

/// `ENGINE=FILE`; the name of an engine has no `=`.
fn engine_and_file(text: &str) -> Result<(String, PathBuf), Text> {
    match text.split_once('=') {
        Some((engine, file)) if !engine.is_empty() && !file.is_empty() => Ok((engine.to_owned(), file.into())),
        _ => Err(text!("expected ENGINE=FILE, for example Gikou=calibrations/Gikou.json")),
    }
}

fn on_off(word: &str) -> Result<bool, Text> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(text!("expected on or off")),
    }
}

/// Messages of one kind that are printed; the others are only counted.
const PRINTED: usize = 10;

impl Args {
    pub(super) fn options(&self) -> ReplayOptions {
        ReplayOptions {
            rules: self.rule.clone(),
            without: self.without.clone(),
            reference: self.reference.clone(),
            tie: self.tie,
            mates: self.mates,
            own: Vec::new(),
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let language = args.language.chosen();
    let mut logs = Logs::read(&Input::paths(&args.files))?;
    let more = |what: Text| say!(language, "{what} in all; only the first {PRINTED} are listed");
    if !args.quiet {
        report(&logs.problems, &more(text!("{} lines were not used", logs.log.not_used)), terminal::warning);
    }
    let read = |(engine, file): &(String, PathBuf)| Ok((engine.clone(), calibration(file)?));
    let command = Replay {
        options: args.options(),
        // a log without decisions is reported first
        calibrations: match logs.log.decisions() {
            0 => Vec::new(),
            _ => args.calibration.iter().map(read).collect::<Result<_, Error>>()?,
        },
    };
    let Some(result) = command.decide(&mut logs)? else {
        terminal::error(
            language.word("the log has no decision that can be used; give a vote log that a council wrote"),
        );
        return Ok(Done::Nothing);
    };
    if result.voters.len() > args.without.len() + MOST_COMPARED && !args.quiet {
        terminal::note(&say!(
            language,
            "more than {MOST_COMPARED} voters: no pair is compared, no noise estimated, and none left out in turn; \
             name some by --without"
        ));
    }
    if args.json {
        terminal::print_document(&replay_document(&logs, &result)?)?;
    } else if !args.quiet {
        terminal::print(&votes::text(&result, language))?;
    }
    let different: Vec<String> = result
        .logged
        .different
        .iter()
        .map(|d| {
            let name = |m: &Option<String>| m.clone().unwrap_or(language.word("no move").to_owned());
            let (source, line) = (logs.source(d.session), d.line);
            say!(language, "{source}:{line}: the log has {}, the replay {}", name(&d.logged), name(&d.replayed))
        })
        .collect();
    // other calibrations decide otherwise: no error
    let repeats = args.calibration.is_empty();
    if repeats {
        report(&different, &more(text!("{} decisions differ", different.len())), terminal::error);
    }
    let strict = args.strict && !logs.problems.is_empty();
    if strict {
        let n = logs.log.not_used;
        terminal::error(&say!(language, "--strict: {n} lines were not used"));
    }
    Ok(if strict || (repeats && !different.is_empty()) { Done::Nothing } else { Done::Yes })
}

/// Prints the first messages, and `more` if there are others.
fn report(messages: &[String], more: &str, print: fn(&str)) {
    for message in messages.iter().take(PRINTED) {
        print(message);
    }
    if messages.len() > PRINTED {
        print(more);
    }
}
