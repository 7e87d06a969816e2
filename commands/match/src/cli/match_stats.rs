//! `evalcurve match-stats`

use std::path::{Path, PathBuf};

use evalcurve_app::cli::files::{shown, write_figure};
use evalcurve_app::cli::options::{LanguageArgs, OutputArgs, one_of};
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_app::report::text::{LABEL, thousands, wrap};
use evalcurve_app::{Error, Input, Progress};
use evalcurve_figures::{Figure, PlotOptions};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{key, say, text};
use serde_json::Value;

use crate::match_stats::results_csv::{Table, shares_of};
use crate::match_stats::{EloModel, Entry, Pentanomial, PowerQuestion, SprtOptions, Wdl};
use crate::report::matches;
use crate::{MatchResults, MatchStats};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve match-stats 423-8-569
      wins, draws, losses: win rate, Wilson interval, Elo, likelihood of superiority
  evalcurve match-stats win-rate=423-8-569 simple=409-6-585 majority=362-34-604
      tests between systems that met the same opponent, corrected for their number
  evalcurve match-stats games/ --paired --sprt 0:5
      from records, with two games of one opening per pair; a sequential test of Elo 0 against 5
  evalcurve match-stats 12-90-300-120-20 --sprt 0:5
      from counts of pairs with 0, 1/2, 1, 1 1/2 and 2 points
  evalcurve match-stats games/ --ratings --anchor Stockfish=3500
      all players on one scale, with intervals
  evalcurve match-stats --power 0.427:0.379 --games 1000
      how often 1,000 games of each find that difference, and how many games are needed
  evalcurve match-stats data/published/takeuchi-2018-figure-6.csv --plot figure-6.svg
      win rates with intervals as SVG and PNG

A table of results (.csv) has the columns player, opponent and either wins, draws, losses or result (1, 0.5, 0). It \
may have the column opening: two games of the same opening and players are a pair. Commas, tabs or semicolons separate \
the cells. A row with an invalid cell is counted and skipped. Of a folder of `play`, \
give its results.csv, which knows the pairs, or --paired.")]
pub struct Args {
    /// Results as W-D-L or NAME=W-D-L (five numbers are pairs by points, fewest first); tables of results (.csv);
    /// records: files, folders, globs, archives
    #[arg(value_name = "RESULT|PATH", required_unless_present_any = ["power", "shares"])]
    inputs: Vec<String>,

    /// Pair successive games of the same players with colours swapped, as games of one opening (records)
    #[arg(long, help_heading = "Reading")]
    paired: bool,

    /// Only matches of this player, in the view of this player
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    player: Option<String>,

    /// Only matches against this opponent; compares the players that met it. Game records are compared only with this
    /// option
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    opponent: Option<String>,

    /// Rate all players on one scale
    ///
    /// The model of Bradley and Terry, with a draw as half a win. The list takes the place of the statistics of each
    /// match.
    #[arg(long, help_heading = "Ratings")]
    ratings: bool,

    /// Rate all players, and fix the rating of this one
    ///
    /// One player in each group of players that met; without it the mean of a group is 0.
    #[arg(long, value_name = "NAME=ELO", value_parser = anchor, help_heading = "Ratings", hide_short_help = true)]
    anchor: Vec<(String, f64)>,

    /// Test logistic Elo ELO0 (not better) against ELO1 (better) sequentially; fastchess's default is normalised Elo
    #[arg(long, value_name = "ELO0:ELO1", value_parser = two_numbers, allow_hyphen_values = true,
          help_heading = "Tests")]
    sprt: Option<(f64, f64)>,

    /// Probability of accepting ELO1 if ELO0 is true
    #[arg(long, value_name = "P", default_value_t = 0.05, help_heading = "Tests", hide_short_help = true)]
    alpha: f64,

    /// Probability of accepting ELO0 if ELO1 is true
    #[arg(long, value_name = "P", default_value_t = 0.05, help_heading = "Tests", hide_short_help = true)]
    beta: f64,

    /// The Elo of the bounds of --sprt
    #[arg(long, value_name = "MODEL", default_value = "logistic", value_parser = one_of::<EloModel>(),
          help_heading = "Tests", hide_short_help = true)]
    elo_model: EloModel,

    /// Level of the tests between systems, before correction
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = probability,
          help_heading = "Tests", hide_short_help = true)]
    level: f64,

    /// Two win rates to distinguish, or one to distinguish from 0.5 in a match
    #[arg(long, value_name = "RATE[:RATE]", value_parser = rates, help_heading = "Power")]
    power: Option<(f64, Option<f64>)>,

    /// Games of each system
    #[arg(long, value_name = "N", requires = "power", help_heading = "Power")]
    games: Option<u64>,

    /// Share of drawn games
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, requires = "power")]
    #[arg(help_heading = "Power", hide_short_help = true)]
    draw_share: f64,

    /// Number of comparisons; the level is divided by it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..),
          requires = "power", help_heading = "Power", hide_short_help = true)]
    comparisons: u32,

    /// Power to reach [default: 0.8 and 0.9]
    #[arg(long, value_name = "P", value_parser = probability, requires = "power",
          help_heading = "Power", hide_short_help = true)]
    target: Vec<f64>,

    /// Draw a table of shares (columns group, name, share) instead of results
    #[arg(long, value_name = "FILE", conflicts_with = "inputs", requires = "plot")]
    #[arg(help_heading = "Output", hide_short_help = true)]
    shares: Option<PathBuf>,

    /// Draw win rates and intervals into FILE.svg and FILE.png
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    language: LanguageArgs,

    #[command(flatten)]
    output: OutputArgs,
}

fn probability(text: &str) -> Result<f64, Text> {
    text.parse().ok().filter(|p| *p > 0.0 && *p < 1.0).ok_or_else(|| text!("not a number between 0 and 1"))
}

fn anchor(text: &str) -> Result<(String, f64), Text> {
    let parsed = text.rsplit_once('=').and_then(|(name, elo)| Some((name.trim().to_owned(), finite(elo)?)));
    parsed.filter(|(name, _)| !name.is_empty()).ok_or_else(|| text!("write a player and its rating: Stockfish=3500"))
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

pub(super) fn two_numbers(text: &str) -> Result<(f64, f64), Text> {
    let two = rates(text).ok().and_then(|(a, b)| Some((a, b?)));
    two.ok_or_else(|| text!("write two numbers, for example 0:5"))
}

fn rates(text: &str) -> Result<(f64, Option<f64>), Text> {
    let parsed = match text.split_once(':') {
        Some((a, b)) => finite(a).zip(finite(b)).map(|(a, b)| (a, Some(b))),
        None => finite(text).map(|a| (a, None)),
    };
    parsed.ok_or_else(|| text!("write one or two win rates, for example 0.427:0.379"))
}

/// Parses a result on the command line; `None` for a path.
fn result(text: &str, number: usize) -> Option<Entry> {
    let (name, counts) = text.rsplit_once('=').unwrap_or(("", text));
    let player = if name.trim().is_empty() { format!("result {number}") } else { name.trim().to_owned() };
    let entry = |games, pairs| Entry { player: player.clone(), games, pairs, ..Entry::default() };
    match counts.parse::<Wdl>() {
        Ok(games) => Some(entry(Some(games), None)),
        Err(_) => counts.parse::<Pentanomial>().ok().map(|pairs| entry(None, Some(pairs))),
    }
}

impl Args {
    /// What is read, and the command.
    pub fn command(&self) -> (Input, MatchStats) {
        let (mut entries, mut paths) = (Vec::new(), Vec::new());
        for input in &self.inputs {
            match result(input, entries.len() + 1) {
                Some(entry) => entries.push(entry),
                None => paths.push(input),
            }
        }
        let command = MatchStats {
            entries,
            paired: self.paired,
            player: self.player.clone(),
            opponent: self.opponent.clone(),
            ratings: self.ratings,
            anchors: self.anchor.clone(),
            sprt: self.sprt.map(|(elo0, elo1)| SprtOptions {
                elo0,
                elo1,
                alpha: self.alpha,
                beta: self.beta,
                model: self.elo_model,
            }),
            level: self.level,
            power: self.power.map(|(first, second)| PowerQuestion {
                first,
                second: second.unwrap_or(0.5),
                draws: self.draw_share,
                level: self.level / f64::from(self.comparisons),
                known_second: second.is_none(),
            }),
            games: self.games,
            targets: if self.target.is_empty() { MatchStats::default().targets } else { self.target.clone() },
        };
        (Input::paths(paths), command)
    }

    /// The JSON document.
    pub fn document(&self) -> Result<Value, Error> {
        let (input, command) = self.command();
        let found = (!self.inputs.is_empty()).then(|| command.run(&input, &Progress::default())).transpose()?;
        command.document(found.as_ref().map(|found| &found.value))
    }
}

impl Subcommand for Args {
    const NAME: &'static str = "match-stats";
    const ABOUT: &'static str = key!("Analyse match results: Elo, intervals, tests, SPRT");
    const HEADING: Heading = Heading::Play;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let language = self.language.chosen();
        if let Some(path) = &self.shares {
            let shares = shares_of(&Table::read(path)?)?;
            draw(self, matches::share_figure(&shares, &plot_options(language))?)?;
            return Ok(Done::Yes);
        }
        let (input, command) = self.command();
        let mut text = String::new();
        if let Some(question) = &command.power {
            text += &matches::power(question, command.games, &command.targets, language)?;
        }
        if self.inputs.is_empty() {
            let document = command.document(None)?;
            self.output.print(|| document, || text)?;
            return Ok(Done::Yes);
        }
        if !self.paired && !self.output.quiet {
            for table in self.inputs.iter().filter_map(|folder| table_of_pairs(Path::new(folder))) {
                let table = shown(&table);
                terminal::note(&say!(
                    language,
                    "{table} holds the pairs of games of one opening; `match-stats {table}`, or --paired, uses them"
                ));
            }
        }
        let outcome = command.run(&input, &Progress::default())?;
        terminal::tell(&outcome, self.output.quiet, language);
        let found = outcome.value;
        if self.paired && found.paired[1] > 0 && !self.output.quiet {
            let [pairs, games] = found.paired.map(thousands);
            terminal::warning(&say!(
                language,
                "--paired: {pairs} pairs of successive games with swapped colours; {games} games are in none, and \
                 intervals of their matches are by games (a table with the column opening pairs games in any order)"
            ));
        }
        // only the form that is printed: of a million pairings, the document takes gigabytes
        if self.output.json {
            terminal::print_document(&command.document(Some(&found))?)?;
        } else if !self.output.quiet {
            terminal::print(&(text + &tables(&found, &command, language)))?;
        }
        if self.plot.is_some() {
            draw(self, matches::figure(&found.summary, &plot_options(language))?)?;
        }
        Ok(if found.summary.rows.iter().any(|r| r.strength.is_some()) { Done::Yes } else { Done::Nothing })
    }
}

fn tables(found: &MatchResults, command: &MatchStats, language: Language) -> String {
    let width = terminal::table_width();
    let read: String = found.read().map(|(read, what)| matches::reading(read, what, language)).collect();
    let mut text = wrap(&read, width, LABEL);
    if let Some(groups) = &found.ratings {
        return text + &wrap(&matches::ratings(groups, width, language), width, 2);
    }
    text += &matches::table(&found.summary, &found.totals, width, language);
    let mut more = matches::times(&found.summary, language);
    if let Some(options) = &command.sprt {
        more += &format!("\n{}", matches::sprt_lines(&found.summary, options, language));
    }
    let comparisons = matches::comparisons(&found.summary, command.level, width, language);
    if !comparisons.is_empty() {
        more += &format!("\n{comparisons}");
    }
    text + &wrap(&more, width, 2)
}

/// The table of results that `play` writes beside its records.
fn table_of_pairs(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("results.csv");
    let has_pairs = || Table::read(&path).is_ok_and(|table| table.has_pairs());
    (path.is_file() && has_pairs()).then_some(path)
}

fn plot_options(language: Language) -> PlotOptions {
    PlotOptions { language, ..PlotOptions::default() }
}

/// Writes the figure to the file that the arguments name.
fn draw(args: &Args, figure: Figure) -> anyhow::Result<()> {
    args.plot.as_ref().map_or(Ok(()), |path| write_figure(path, figure))
}
