//! `evalcurve thresholds`: at which scores a match runner may adjudicate.

use std::collections::BTreeMap;

use evalcurve_app::cli::options::{InputArgs, OutputArgs};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, progress, terminal};
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{printable, thousands, wrap};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{key, say, text};

use super::percents;
use crate::{Adjudicated, AdjudicationRule, Certificate, CertifiedRule, Losing, Thresholds};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve thresholds games.pgn
  evalcurve thresholds games.pgn --win-rate 1 --move-count 4 --json
  evalcurve thresholds games.pgn --draw-from 30 --resign-from 20
  evalcurve thresholds games.pgn --most-wrong 1/1000
      the rules that end at most one of 1,000 games wrongly, with 95% confidence, for each match runner

First come the options to write into the match runner: of those that would have decided at most 2% of the games \
wrongly, and no more than p, the ones that save most moves. For each win rate p the threshold for resigning is the \
largest of the engines' scores that win p against these opponents; that for a draw is the largest at which at most p \
of the games were not drawn. The games are then adjudicated by it: `wrong` are those that ended otherwise when they \
were played on, with a 95% interval. A game that was adjudicated already cannot show this: play the games to the \
end.")]
pub struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Win rate at which to adjudicate, in percent; may be repeated [default: 1 2 5]
    #[arg(long, value_name = "PERCENT", value_parser = percents)]
    win_rate: Vec<f64>,

    /// Scores in a row, per player; may be repeated [default: 1 2 3 5 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    move_count: Vec<u32>,

    /// The largest share of all games that may end wrongly, with 95% confidence: 1/10000, 0.01% or 0.0001. The rules
    /// that save most come first, for each match runner; without --move-count of 3 scores in a row, and 8 for draws
    #[arg(long, value_name = "SHARE", value_parser = share)]
    most_wrong: Option<f64>,

    /// The first move after which a game may be drawn
    #[arg(long, value_name = "MOVE", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..10_000))]
    draw_from: u32,

    /// The first move after which a game may be resigned; only `evalcurve play` has such a rule
    #[arg(long, value_name = "MOVE", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..10_000),
          hide_short_help = true)]
    resign_from: u32,

    #[command(flatten)]
    output: OutputArgs,
}

/// A share of games: a fraction, a percentage or a number.
fn share(text: &str) -> Result<f64, Text> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let share = match (text.split_once('/'), text.strip_suffix('%')) {
        (Some((wrong, games)), _) => number(wrong).zip(number(games)).map(|(wrong, games)| wrong / games),
        (None, Some(percent)) => number(percent).map(|percent| percent / 100.0),
        (None, None) => number(text),
    };
    let valid = share.filter(|share| *share > 0.0 && *share < 0.5);
    valid.ok_or_else(|| text!("'{text}' is not a share of games; write 1/10000, for example"))
}

impl Args {
    pub fn command(&self) -> Thresholds {
        Thresholds {
            reading: self.input.reading(),
            fitting: self.input.fitting(),
            win_rates: self.win_rate.clone(),
            move_counts: self.move_count.clone(),
            draw_from: Some(self.draw_from),
            resign_from: self.resign_from,
            most_wrong: self.most_wrong,
        }
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "thresholds";
    const ABOUT: &'static str = key!("Find the scores at which games may be resigned or drawn");
    const HEADING: Heading = Heading::Use;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let command = self.command();
        let outcome = progress::shown(self.output.quiet, |progress| command.run(&self.input.input(), progress))?;
        let Adjudicated { games, ended_by_scores, resigning, drawing, certified, notes, .. } = &outcome.value;
        let language = self.input.language.chosen();
        let recommended = outcome.value.recommended();
        let document = || outcome.value.document();
        let text = || {
            let mut out = match certified {
                Some(certified) => certificate(certified, language),
                None => first_lines(recommended, *games, language),
            };
            out += &match thousands(*ended_by_scores as u64) {
                _ if *ended_by_scores == 0 => say!(language, "{} games with scores\n", thousands(*games as u64)),
                ended => say!(
                    language,
                    "{} games with scores were played out; {ended} were adjudicated or ended by their scores, and do \
                     not count\n",
                    thousands(*games as u64)
                ),
            };
            out = wrap(&out, terminal::table_width(), 2);
            out += &losing_scores(&outcome.value, language);
            let titles = [language.word("resigning"), language.word("draws")];
            for (title, rows) in titles.into_iter().zip([resigning, drawing]).filter(|(_, rows)| !rows.is_empty()) {
                out += &format!("\n{title}\n{}", rules(rows, language));
            }
            out
        };
        self.output.print(document, text)?;
        if !self.output.json {
            notes.iter().for_each(|note| terminal::note(&printable(&note.text(language))));
        }
        let told = match certified {
            Some(certified) => certified.rules.iter().any(|rule| rule.rule.is_ok()),
            None => *ended_by_scores == 0 || recommended.iter().any(Option::is_some),
        };
        Ok(if told { Done::Yes } else { Done::CannotTell })
    }
}

/// The scores of each engine that mean a loss at each win rate; empty without engines.
fn losing_scores(found: &Adjudicated, language: Language) -> String {
    let Adjudicated { percents, calibrated, engines, .. } = found;
    if engines.is_empty() {
        return String::new();
    }
    let mut of_engines: BTreeMap<&str, Vec<&Losing>> =
        calibrated.iter().map(|name| (name.as_str(), Vec::new())).collect();
    engines.iter().for_each(|losing| of_engines.entry(&losing.name).or_default().push(losing));
    let columns =
        Columns::new().name(language.word("score that wins"), 24, |(name, _): &(&str, Vec<&Losing>)| printable(name));
    let columns = percents.iter().fold(columns, |columns, &percent| {
        columns.right(format!("{percent}%"), 7, move |(_, scores)| {
            let losing = scores.iter().find(|losing| losing.percent == percent);
            losing.map_or_else(|| "–".to_owned(), |losing| losing.score_cp.to_string())
        })
    });
    format!("\n{}\n{}", terminal::heading(&columns.head()), columns.rows(of_engines))
}

/// Options of match runners, and what each would have decided.
fn rules(rows: &[AdjudicationRule], language: Language) -> String {
    let width = rows.iter().map(|r| r.option.len()).max().unwrap_or(0);
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let wrong = |r: &AdjudicationRule| match r.rule.share {
        Some(share) => {
            let ends = share
                .interval
                .map_or_else(String::new, |(low, high)| format!(" [{:.1}, {:.1}]", 100.0 * low, 100.0 * high));
            format!("{} = {}{ends}", r.rule.turned, percent(share.value))
        }
        None => "–".to_owned(),
    };
    let columns = Columns::new()
        .right("p", 4, |r: &&AdjudicationRule| format!("{}%", r.percent))
        .gap(2)
        .left(language.word("option of fastchess, cutechess"), width.max(30), |r| r.option.clone())
        .gap(1)
        .right(language.word("ended"), 6, |r| r.rule.ended.to_string())
        .gap(2)
        .left(language.word("wrong [95%]"), 23, |r| wrong(r))
        .gap(1)
        .right(language.word("in 10,000"), 9, |r| format!("≤ {:.0}", (1e4 * r.rule.wrong_of_all).ceil()))
        .right(language.word("moves saved"), 11, |r| percent(r.rule.saved))
        .within(terminal::table_width(), &[4, 4]);
    let rows: Vec<&AdjudicationRule> = rows.iter().collect();
    format!("{}\n{}", terminal::heading(&columns.head()), columns.rows(rows))
}

/// The rules that keep a bound, for each match runner.
fn certificate(found: &Certificate, language: Language) -> String {
    let share = |share: f64| format!("{:.1}/10000", 1e4 * share);
    let most = share(found.most_wrong);
    let mut out = match found.rules.iter().any(|rule| rule.rule.is_ok()) {
        true => say!(language, "at most {most} games end wrongly, with 95% confidence\n"),
        false => say!(language, "no rule is known to end at most {most} games wrongly\n"),
    };
    for rule in &found.rules {
        let name = match rule.name {
            "resign" => language.word("resigning"),
            "resign_value" => language.word("resigning at one score"),
            _ => language.word("draws"),
        };
        out += &format!("{name}: {}", certified_rule(rule, language));
        for (runner, option) in &rule.options {
            out += &format!("    {runner:<20}  {option}\n");
        }
        for half in &rule.held_out {
            let (wrong, games, upper) = (half.wrong, thousands(half.games), share(half.upper));
            out += &say!(
                language,
                "    found in half of the games at {upper}; {wrong} of the other {games} end wrongly\n"
            );
        }
    }
    let mut changes: Vec<(f64, &str)> =
        found.bias.iter().map(|bias| (100.0 * (bias.adjudicated / bias.played - 1.0), bias.name.as_str())).collect();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let [(low, first), .., (high, last)] = changes[..] {
        let (engines, (middle, _)) = (changes.len(), changes[changes.len() / 2]);
        let (first, last) = (printable(first), printable(last));
        out += &say!(
            language,
            "a calibration from games that end so has another 1/w1: by {middle:+.1}% in the median of {engines} \
             engines, {low:+.1}% ({first}) to {high:+.1}% ({last})\n"
        );
    }
    out + "\n"
}

fn certified_rule(rule: &CertifiedRule, language: Language) -> String {
    match &rule.rule {
        Ok(found) => {
            let (ended, wrong, score) = (thousands(found.applied.ended), found.applied.turned, found.rule.score_cp);
            let upper = format!("{:.1}", 1e4 * found.upper);
            let (saved, plies) = (100.0 * found.applied.saved, found.applied.saved_per_game);
            say!(
                language,
                "{score} (ends {ended} games, {wrong} of them wrongly: at most {upper} in 10,000; saves {saved:.1}% of \
                 the scored moves, {plies:.1} a game)\n"
            )
        }
        Err(cannot) => {
            let (games, upper) = (thousands(cannot.games), format!("{:.1}", 1e4 * cannot.upper));
            if cannot.ended_by_scores > 0 {
                let (ended, wrong) = (thousands(cannot.ended_by_scores), cannot.wrong.unwrap_or_default());
                return say!(
                    language,
                    "cannot tell: {ended} games that the rule ends had been ended by their scores; {games} games \
                     remain, {wrong} of them ended wrongly: at most {upper} in 10,000 of those\n"
                );
            }
            let Some(wrong) = cannot.wrong else {
                let none = key!("no rule with this bound ends 20 games, nine of ten of them rightly\n");
                return language.word(none).to_owned();
            };
            let needed = match cannot.needed {
                Some(needed) => {
                    let needed = thousands(needed);
                    say!(language, "{needed} would be enough if that share stays")
                }
                None => say!(language, "more games would not help at this share"),
            };
            say!(
                language,
                "cannot tell: the most cautious rule ends {wrong} of {games} games wrongly, at most {upper} in 10,000; \
                 {needed}\n"
            )
        }
    }
}

/// What to write into the match runner, of so many games.
fn first_lines(recommended: [Option<&AdjudicationRule>; 2], games: usize, language: Language) -> String {
    let rules: Vec<&AdjudicationRule> = recommended.into_iter().flatten().collect();
    if rules.is_empty() {
        let none =
            key!("for the match runner: no option, as too few of these games would have ended by one without error\n");
        return language.word(none).to_owned();
    }
    let games = thousands(games as u64);
    let line = |rule: &&AdjudicationRule| {
        let (option, ended, wrong) = (&rule.option, thousands(rule.rule.ended), thousands(rule.rule.turned));
        say!(language, "for the match runner: {option} (ends {ended} of {games} games, {wrong} of them wrongly)\n")
    };
    rules.iter().map(line).collect()
}
