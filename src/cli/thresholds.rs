//! `evalcurve thresholds`: at which scores a match runner may adjudicate.

use std::collections::BTreeMap;

use super::options::{InputArgs, OutputArgs};
use super::{Done, progress, terminal};
use crate::language::Language;
use crate::report::columns::Columns;
use crate::report::text::{printable, thousands};
use crate::run::{Adjudicated, AdjudicationRule, Losing, Thresholds};
use crate::{key, say};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve thresholds games.pgn
  evalcurve thresholds games.pgn --win-rate 1 --move-count 4 --json
  evalcurve thresholds games.pgn --draw-from 30

First come the options to write into the match runner: of those that would have decided at most 2% of the games \
wrongly, and no more than p, the ones that save most moves. For each win rate p the threshold for resigning is the \
largest of the engines' scores that win p against these opponents; that for a draw is the largest at which at most p \
of the games were not drawn. The games are then adjudicated by it: `wrong` are those that ended otherwise when they \
were played on, with a 95% interval. A game that was adjudicated already cannot show this: play the games to the \
end.")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Win rate at which to adjudicate, in percent; may be repeated [default: 1 2 5]
    #[arg(long, value_name = "PERCENT")]
    win_rate: Vec<f64>,

    /// Scores in a row, per player; may be repeated [default: 1 2 3 5 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    move_count: Vec<u32>,

    /// The first move whose scores count for a draw
    #[arg(long, value_name = "MOVE", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    draw_from: u32,

    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    pub(super) fn command(&self) -> Thresholds {
        Thresholds {
            reading: self.input.reading(),
            fitting: self.input.fitting(),
            win_rates: self.win_rate.clone(),
            move_counts: self.move_count.clone(),
            draw_from: Some(self.draw_from),
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let command = args.command();
    let outcome = progress::shown(args.output.quiet, |progress| command.run(&args.input.input(), progress))?;
    let Adjudicated { games, percents, calibrated, engines, resigning, drawing, notes } = &outcome.value;
    let language = args.input.language.chosen();
    let recommended = outcome.value.recommended();
    let document = || outcome.value.document();
    let text = || {
        let mut out = first_lines(recommended, *games, language);
        out += &say!(language, "{} games with scores\n", thousands(*games as u64));
        let mut of_engines: BTreeMap<&str, Vec<&Losing>> =
            calibrated.iter().filter(|_| !engines.is_empty()).map(|name| (name.as_str(), Vec::new())).collect();
        engines.iter().for_each(|losing| of_engines.entry(&losing.name).or_default().push(losing));
        let columns = Columns::new()
            .name(language.word("score that wins"), 24, |(name, _): &(&str, Vec<&Losing>)| printable(name));
        let columns = percents.iter().fold(columns, |columns, &percent| {
            columns.right(format!("{percent}%"), 7, move |(_, scores)| {
                let losing = scores.iter().find(|losing| losing.percent == percent);
                losing.map_or_else(|| "–".to_owned(), |losing| losing.score_cp.to_string())
            })
        });
        if !of_engines.is_empty() {
            out += &format!("\n{}\n{}", terminal::heading(&columns.head()), columns.rows(of_engines));
        }
        let titles = [language.word("resigning"), language.word("draws")];
        for (title, rows) in titles.into_iter().zip([resigning, drawing]) {
            if rows.is_empty() {
                continue;
            }
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
                .left(language.word("option of fastchess and cutechess"), width.max(33), |r| r.option.clone())
                .right(language.word("ended"), 6, |r| r.rule.ended.to_string())
                .left(language.word("wrong [95%]"), 24, |r| wrong(r))
                .right(language.word("moves saved"), 11, |r| percent(r.rule.saved));
            let rows: Vec<&AdjudicationRule> = rows.iter().collect();
            out += &format!("\n{title}\n{}\n{}", terminal::heading(&columns.head()), columns.rows(rows));
        }
        out
    };
    args.output.print(document, text)?;
    if !args.output.json {
        notes.iter().for_each(|note| terminal::note(&printable(&note.text(language))));
    }
    Ok(Done::Yes)
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
