//! `evalcurve replay`

use std::path::PathBuf;

use anyhow::bail;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use evalcurve_app::cli::files::{calibration, check_replace, shown};
use evalcurve_app::cli::options::LanguageArgs;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_app::{Error, Input, Logs};
use evalcurve_rules::replay::{Alone, MOST_COMPARED, ReplayOptions};
use evalcurve_rules::weights::Weights;
use evalcurve_rules::{Rule, Stakes, TieRule};
use evalcurve_words::language::Text;
use evalcurve_words::random::DEFAULT_SEED;
use evalcurve_words::{key, say, text, whole_file};

use crate::{LearnOptions, Replay, learned_document, replay_document, votes, weights};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve replay votes.jsonl
  evalcurve replay votes.jsonl --rule winrate-optimistic --reference Gikou
  evalcurve replay votes.jsonl --without nozomi --json
  evalcurve replay votes.jsonl --calibration Gikou=new/Gikou.json
  evalcurve replay votes.jsonl --learn --reference Strong --out weights.json
      learn weights from the preferences of the member Strong; then decide with --weights weights.json

Prints how often each rule adopts each member's move, how the votes split, which members agree, and the rules without \
each member. Every move that equals the chosen one counts as adopted, so rates sum to more than 1. The regret of \
--reference is the win rate that the chosen moves lose by that member's evaluation: of the moves in its list, and of \
those that it judged under cross-examination. It is compared with the regret of the best single member over the same \
decisions. A member overrates its own moves: let a stronger engine judge, and leave it out with --without.

Exit codes: 0 if every logged decision is repeated, or --calibration, --weights or --learn is given; 1 if one is not, \
if no line is usable, or if --strict finds a problem; 2 for errors of usage, input or output.")]
pub struct Args {
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

    /// Test whether --reference orders the members as games do: a table of their results (results.csv of play)
    #[arg(long, value_name = "FILE", requires = "reference", hide_short_help = true)]
    games: Option<PathBuf>,

    /// Decide with this calibration of ENGINE instead of that of the log; may be repeated
    #[arg(long, value_name = "ENGINE=FILE", value_parser = engine_and_file)]
    calibration: Vec<(String, PathBuf)>,

    /// Decide with the learned weights in this file instead of those of the log
    #[arg(long, value_name = "FILE", conflicts_with = "learn", hide_short_help = true)]
    weights: Option<PathBuf>,

    /// Learn from the member of --reference how much the judgement of each other member counts, and say what is gained
    /// on games that were not learned from; for cross-examination, or the --rule that uses weights
    #[arg(long, requires = "reference", conflicts_with_all = ["tie", "mates"], hide_short_help = true)]
    learn: bool,

    /// With --learn, write the weights into this file
    #[arg(long, value_name = "FILE", requires = "learn", hide_short_help = true)]
    out: Option<PathBuf>,

    /// With --learn, replace the file of --out
    #[arg(long, requires = "out", hide_short_help = true)]
    force: bool,

    /// With --learn, weights of their own from these plies on, for example 40,80
    #[arg(long, value_name = "PLIES,…", requires = "learn", value_delimiter = ',', hide_short_help = true)]
    phases: Vec<u32>,

    /// With --learn, the seed of the parts of cross-validations and of the draws of games
    #[arg(long, default_value_t = DEFAULT_SEED, requires = "learn", hide_short_help = true)]
    seed: u64,

    /// The tie rule: leader, draw or strongest [default: that of the log]
    #[arg(long, value_name = "RULE", value_parser = tie_rule)]
    tie: Option<TieRule>,

    /// Whether announced mates outrank the rule [default: the setting of the log]
    #[arg(long, value_name = "on|off", value_parser = on_off)]
    mates: Option<bool>,

    /// The thresholds agreed, decided, close and doubt of the rule budget, for example 0.7,0.9,1,0.5 [default: those of
    /// the log]
    #[arg(long, value_name = "NUMBERS", value_parser = stakes, hide_short_help = true)]
    stakes: Option<Stakes>,

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

fn stakes(text: &str) -> Result<Stakes, Text> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[agreed, decided, close, doubt]) => Ok(Stakes { agreed, decided, close, doubt }),
        _ => Err(text!("expected four numbers: agreed, decided, close, doubt; for example 0.7,0.9,1,0.5")),
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
    pub fn options(&self) -> ReplayOptions {
        ReplayOptions {
            rules: self.rule.clone(),
            without: self.without.clone(),
            reference: self.reference.clone(),
            tie: self.tie,
            stakes: self.stakes,
            mates: self.mates,
            own: Vec::new(),
        }
    }

    /// The file of --weights.
    pub fn weights(&self) -> Result<Option<Weights>, Error> {
        self.weights.as_deref().map(Weights::read).transpose().map_err(|error| Error::Said(Text::same(error)))
    }

    fn lesson(&self) -> LearnOptions {
        let mut phases = self.phases.clone();
        phases.sort_unstable();
        phases.dedup();
        LearnOptions {
            teacher: self.reference.clone().unwrap_or_default(),
            without: self.without.clone(),
            rule: self.rule.first().copied(),
            phases,
            seed: self.seed,
        }
    }
}

/// Learns weights and says what they gain; false if the logs have no decision.
fn learned(args: &Args, program: &Program, command: &Replay, logs: &mut Logs) -> anyhow::Result<bool> {
    if let Some(out) = &args.out {
        check_replace(out, args.force)?;
    }
    let weighed: Vec<Rule> = Rule::weighed().collect();
    if args.rule.len() > 1 || args.rule.iter().any(|rule| !weighed.contains(rule)) {
        let known = weighed.iter().map(|rule| rule.as_str()).collect::<Vec<_>>().join(", ");
        bail!(text!("--learn learns weights for one rule that uses them: {known}"));
    }
    let Some(found) = command.learn(logs, &args.lesson())? else { return Ok(false) };
    if let Some(out) = &args.out {
        whole_file::write(out, found.weights.to_json()?.as_bytes())?;
    }
    if args.json {
        terminal::print_document(&learned_document(logs, &found)?)?;
    } else if !args.quiet {
        let written = args.out.as_deref().map(shown);
        let language = args.language.chosen();
        terminal::print(&weights::text(&found, written.as_deref(), language))?;
        let alone: Vec<Alone> = found.members.iter().map(|member| member.alone.clone()).collect();
        let judge = program.services.judged_as_games;
        args.games.iter().try_for_each(|games| judge(&alone, games, language))?;
    }
    Ok(true)
}

impl Subcommand for Args {
    const NAME: &'static str = "replay";
    const ABOUT: &'static str = key!("Decide a council's vote log again by any rule");
    const HEADING: Heading = Heading::Play;

    fn run(&self, program: &Program) -> anyhow::Result<Done> {
        let language = self.language.chosen();
        let mut logs = Logs::read(&Input::paths(&self.files))?;
        let more = |what: Text| say!(language, "{what} in all; only the first {PRINTED} are listed");
        if !self.quiet {
            report(&logs.problems, &more(text!("{} lines were not used", logs.log.not_used)), terminal::warning);
        }
        let read = |(engine, file): &(String, PathBuf)| Ok((engine.clone(), calibration(file)?));
        let command = Replay {
            options: self.options(),
            weights: self.weights()?,
            // a log without decisions is reported first
            calibrations: match logs.log.decisions() {
                0 => Vec::new(),
                _ => self.calibration.iter().map(read).collect::<Result<_, Error>>()?,
            },
        };
        let no_decision = || {
            terminal::error(
                language.word("the log has no decision that can be used; give a vote log that a council wrote"),
            )
        };
        let strict = self.strict && !logs.problems.is_empty();
        if self.learn {
            let found = learned(self, program, &command, &mut logs)?;
            if !found {
                no_decision();
            }
            return Ok(if found && !strict { Done::Yes } else { Done::Nothing });
        }
        let Some(result) = command.decide(&mut logs)? else {
            no_decision();
            return Ok(Done::Nothing);
        };
        if result.voters.len() > self.without.len() + MOST_COMPARED && !self.quiet {
            terminal::note(&say!(
                language,
                "more than {MOST_COMPARED} voters: no pair is compared, no noise estimated, and none left out in turn; \
                 name some by --without"
            ));
        }
        if self.json {
            terminal::print_document(&replay_document(&logs, &result)?)?;
        } else if !self.quiet {
            terminal::print(&votes::text(&logs.log, &result, terminal::table_width(), language))?;
            let judge = program.services.judged_as_games;
            self.games.iter().try_for_each(|games| judge(&result.alone, games, language))?;
        }
        let different: Vec<String> = result
            .logged
            .different
            .iter()
            .map(|d| {
                let name = |m: &Option<String>| m.clone().unwrap_or(say!(language, "no move"));
                let (source, line) = (logs.source(d.session), d.line);
                say!(language, "{source}:{line}: the log has {}, the replay {}", name(&d.logged), name(&d.replayed))
            })
            .collect();
        // other calibrations and weights decide otherwise: no error
        let repeats = self.calibration.is_empty() && self.weights.is_none();
        if repeats {
            report(&different, &more(text!("{} decisions differ", different.len())), terminal::error);
        }
        if strict {
            let n = logs.log.not_used;
            terminal::error(&say!(language, "--strict: {n} lines were not used"));
        }
        Ok(if strict || (repeats && !different.is_empty()) { Done::Nothing } else { Done::Yes })
    }
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
