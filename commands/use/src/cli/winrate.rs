//! `evalcurve winrate`: scores to win rates, and back, by one calibration file or several.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use evalcurve_app::cli::files::{is_calibration, one_file};
use evalcurve_app::cli::messages::About;
use evalcurve_app::cli::options::language;
use evalcurve_app::cli::{Done, Heading, Program, Subcommand, terminal};
use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::columns;
use evalcurve_app::{Input, Progress};
use evalcurve_fit::calibration::{Reading, Score, Situation};
use evalcurve_records::csv_text::{self, first_line, separator};
use evalcurve_words::language::Text;
use evalcurve_words::text::{plain_number, shortened};
use evalcurve_words::{key, say, text};
use serde_json::{Value, json};

use crate::{Answer, Converter, Winrate};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve winrate Gikou.json 300 -120 mate5 mate-4
  evalcurve winrate \"Stockfish 17\" 80
      a known engine, without a file; list: `evalcurve constant --known`
  evalcurve winrate Gikou.json --inverse 0.75
  evalcurve winrate Gikou.json 300 --rating-difference -150
  evalcurve winrate lichess.json 300 --rating 1500 --control blitz
  evalcurve winrate Stockfish.json Ethereal.json 100 --material 58 --wdl
  grep -o 'score cp -*[0-9]*' engine.log | cut -d' ' -f3 | evalcurve winrate Gikou.json -
  evalcurve winrate Stockfish.json --csv evals.csv --column eval > rates.csv

The win rate is that between players of equal strength, in the middle of a game. --field prints what happened against \
the opponents that the engine met; only win rates between equals may be compared between engines. A model that \
separates draws (--model wdl, wdl-material) adds the shares of wins, draws and losses with their intervals.

The situation matters to models that were fitted with it (--model joint, phase, wdl, wdl-material, \
people); other models refuse it.

Scores are centipawns in the view of the side to move; a negative score is read as a score, not as an \
option. A score at the file's mate \
threshold or beyond it counts as a mate.")]
pub struct Args {
    /// The calibration file, or the name of a known engine; a glob that matches several gives a column for each
    file: PathBuf,

    /// Scores in centipawns, or mateN (mate-N for being mated); - reads them from standard input; with --inverse, win
    /// rates between 0 and 1. Further calibration files (*.json) become further columns
    #[arg(value_name = "SCORE", allow_negative_numbers = true)]
    values: Vec<String>,

    /// Turn win rates into scores
    #[arg(long)]
    inverse: bool,

    /// Print wins, draws and losses in permille, as UCI engines do after `wdl`
    #[arg(long, conflicts_with = "inverse")]
    wdl: bool,

    /// Add the win rates to a CSV table with a header; its columns ply and material are used if the model needs them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["inverse", "json", "values"])]
    csv: Option<PathBuf>,

    /// The column of the scores
    #[arg(long, value_name = "NAME", default_value = "score", requires = "csv")]
    column: String,

    /// Read the win rate against the opponents of the calibration, not that between equals
    #[arg(long)]
    field: bool,

    /// Own rating minus the opponent's, in Elo points
    #[arg(long, value_name = "ELO", allow_negative_numbers = true)]
    rating_difference: Option<f64>,

    /// Number of the move to be made
    #[arg(long, value_name = "PLY")]
    ply: Option<u32>,

    /// Pawns and pieces of both sides, counted 1, 3, 3, 5, 9
    #[arg(long, value_name = "N")]
    material: Option<u32>,

    /// Rating of both players
    #[arg(long, value_name = "ELO")]
    rating: Option<f64>,

    /// Time control: bullet, blitz, rapid, classical, or as in records, 180+2
    #[arg(long, value_name = "CONTROL")]
    control: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The shares with their intervals, after a tab each.
fn notes(answer: &Answer) -> String {
    let mut text = match answer.interval {
        _ if answer.mate => "\tmate".to_owned(),
        Some((low, high)) => format!("\t[{low:.4}, {high:.4}]"),
        None => String::new(),
    };
    if let Some((low, high)) = answer.elsewhere {
        text += &format!("\t{}", say!(language(), "elsewhere [{low:.4}, {high:.4}]"));
    }
    if let Some(wdl) = &answer.wdl {
        for (name, share) in [("win", wdl.win), ("draw", wdl.draw), ("loss", wdl.loss)] {
            let ends = share.interval.map_or_else(String::new, |[low, high]| format!(" [{low:.4}, {high:.4}]"));
            text += &format!("\t{name} {:.4}{ends}", share.value);
        }
    }
    text
}

fn json_answer(answer: &Answer, shown: &str) -> Value {
    let mut row = json!({
        "score": shown, "win_rate": answer.rate, "mate": answer.mate, "interval": answer.interval,
    });
    if let Some(elsewhere) = answer.elsewhere {
        row["elsewhere"] = json!(elsewhere);
    }
    if let Some(wdl) = &answer.wdl {
        row["wdl"] = json!(wdl);
    }
    if let Some(permille) = answer.permille() {
        row["permille"] = json!(permille);
    }
    row
}

impl Subcommand for Args {
    const NAME: &'static str = "winrate";
    const ABOUT: &'static str = key!("Turn scores into win rates, or win rates into scores");
    const HEADING: Heading = Heading::Use;

    fn run(&self, _: &Program) -> anyhow::Result<Done> {
        let (files, values): (Vec<&String>, Vec<&String>) = self.values.iter().partition(|value| is_file(value));
        let files = files.iter().map(|file| PathBuf::from(file.as_str()));
        let command = Winrate {
            reading: if self.field { Reading::Field } else { Reading::Equal },
            rating_difference: self.rating_difference,
            ply: self.ply,
            material: self.material,
            rating: self.rating,
            control: self.control.clone(),
            of_rows: self.csv.is_some(),
        };
        let input = Input::paths([self.file.clone()].into_iter().chain(files));
        let found = command.run(&input, &Progress::default())?;
        terminal::tell(&found, false, language());
        let converters = found.value;
        if let Some(converter) = converters.iter().find(|c| self.wdl && !c.separates_draws()) {
            let (engine, kind) = (&converter.calibration.engine.name, converter.calibration.model.kind);
            bail!(text!(
                "--wdl: the model of {engine}, {kind}, does not separate draws, or its games had none; calibrate with \
                 --model joint, wdl-material or wdl"
            ));
        }
        if let Some(path) = &self.csv {
            return table(self, &one_file(path)?, &converters);
        }
        let mut given: Vec<String> = Vec::new();
        for value in values {
            if value == "-" { given.extend(from_stdin(self.inverse)?) } else { given.push(value.clone()) }
        }
        if given.is_empty() {
            bail!(text!("no scores: add them after the file, write - to read them from standard input, or use --csv"));
        }
        if self.inverse {
            return inverse(self, &converters, &given);
        }
        note_pawns(&given);
        let scores: Vec<Score> = given.iter().map(|value| score(value)).collect::<Result<_, _>>()?;
        if self.json {
            let of = |c: &Converter| -> Vec<Value> {
                given.iter().zip(&scores).map(|(shown, score)| json_answer(&c.answer(*score), shown)).collect()
            };
            return print_json(&converters, &of);
        }
        terminal::print(&answers(self, &converters, &given, &scores))?;
        Ok(Done::Yes)
    }
}

/// The win rates of scores: a line for each with its interval, or of several calibrations a table.
fn answers(args: &Args, converters: &[Converter], given: &[String], scores: &[Score]) -> String {
    let rows = given.iter().zip(scores.iter().copied());
    if let [converter] = converters {
        let line = |(shown, score): (&String, Score)| {
            let answer = converter.answer(score);
            match args.wdl {
                true => format!("{shown}\t{}\n", short(&answer, true)),
                false => format!("{shown}\t{:.4}{}\n", answer.rate, notes(&answer)),
            }
        };
        return rows.map(line).collect();
    }
    let mut table = Columns::new().right("score", 7, |(shown, _): &(&String, Score)| (*shown).clone());
    for converter in converters {
        let name = converter.calibration.engine.name.clone();
        let width = columns(&name).max(10) + 2;
        table = table.right(&name, width, |(_, score)| short(&converter.answer(*score), args.wdl));
    }
    let rows: Vec<(&String, Score)> = rows.collect();
    format!("{}\n{}", terminal::heading(&table.head()), table.rows(rows))
}

/// The win rate, or the permille, without intervals.
fn short(answer: &Answer, wdl: bool) -> String {
    match answer.permille().filter(|_| wdl) {
        Some([win, draw, loss]) => format!("{win} {draw} {loss}"),
        None => format!("{:.4}", answer.rate),
    }
}

fn print_json(converters: &[Converter], values: &dyn Fn(&Converter) -> Vec<Value>) -> anyhow::Result<Done> {
    let one = |c: &Converter| json!({ "engine": c.calibration.engine.name, "reading": c.reading, "values": values(c) });
    let document = match converters {
        [only] => one(only),
        all => json!({ "calibrations": all.iter().map(one).collect::<Vec<_>>() }),
    };
    terminal::print_document(&document)?;
    Ok(Done::Yes)
}

/// Whether an argument names a further calibration file, not a score.
fn is_file(value: &str) -> bool {
    let path = Path::new(value);
    value != "-" && (is_calibration(path) || (score(value).is_err() && path.is_file()))
}

/// Scores between white space. What is no score is reported with its line, and the others are used.
fn from_stdin(inverse: bool) -> anyhow::Result<Vec<String>> {
    let (mut taken, mut wrong) = (Vec::new(), 0u64);
    for (number, line) in io::stdin().lock().split(b'\n').enumerate() {
        let line = line.about(|| text!("standard input, line {}", number + 1))?;
        for word in String::from_utf8_lossy(&line).split_whitespace() {
            let is_usable = if inverse { word.parse::<f64>().is_ok() } else { score(word).is_ok() };
            if is_usable {
                taken.push(word.to_owned());
                continue;
            }
            wrong += 1;
            if wrong <= 3 {
                let word = shortened(word, 80);
                terminal::warning(&say!(language(), "standard input, line {}: '{word}' is not a score", number + 1));
            }
        }
    }
    if wrong > 0 {
        terminal::warning(&say!(language(), "standard input: {} scores used, {wrong} words left out", taken.len()));
    }
    Ok(taken)
}

fn inverse(args: &Args, converters: &[Converter], given: &[String]) -> anyhow::Result<Done> {
    let back = |c: &Converter, value: &String| -> anyhow::Result<(f64, f64)> {
        let rate: f64 = parse(value, key!("a win rate between 0 and 1"))?;
        match c.calibration.score(c.reading, rate, &c.situation) {
            // a rounded score is never -0
            Some(score) => Ok((rate, score + 0.0)),
            None if rate > 0.0 && rate < 1.0 => {
                bail!(text!("{value}: no score has this win rate by the model of the file"))
            }
            None => bail!(text!("{value}: a win rate lies between 0 and 1, both excluded")),
        }
    };
    let mut text = String::new();
    for value in given {
        let scores: Vec<String> = converters
            .iter()
            .map(|c| Ok(format!("{:.0}", back(c, value)?.1.round() + 0.0)))
            .collect::<anyhow::Result<_>>()?;
        text += &format!("{value}\t{}\n", scores.join("\t"));
    }
    if !args.json {
        terminal::print(&text)?;
        return Ok(Done::Yes);
    }
    let of = |c: &Converter| -> Vec<Value> {
        let row = |(rate, score)| json!({ "win_rate": rate, "score_cp": score });
        given.iter().filter_map(|value| back(c, value).ok().map(row)).collect()
    };
    print_json(converters, &of)
}

/// Copies a CSV table as UTF-8 and adds the columns of each calibration.
fn table(args: &Args, path: &Path, converters: &[Converter]) -> anyhow::Result<Done> {
    let shown = path.display().to_string();
    let text = csv_text::read(path).map_err(|problem| anyhow!("{shown}: {problem}"))?;
    let separator = separator(first_line(&text));
    let mut reader = csv::ReaderBuilder::new().flexible(true).delimiter(separator).from_reader(text.as_bytes());
    let head = reader.headers().about(|| Text::same(shown.clone()))?.clone();
    let at = |name: &str| head.iter().position(|h| h.trim() == name);
    let Some(score_at) = at(&args.column) else {
        let names = head.iter().collect::<Vec<_>>().join(", ");
        bail!(text!("{shown}: no column '{}'; choose one with --column: {}", args.column, names));
    };
    let (ply_at, material_at) = (at("ply"), at("material"));
    let mut out = csv::WriterBuilder::new().flexible(true).delimiter(separator).from_writer(io::stdout().lock());
    let (mut used, mut wrong) = (0u64, 0u64);
    let mut write = |record: &csv::StringRecord| match out.write_record(record) {
        Err(error) if matches!(error.kind(), csv::ErrorKind::Io(e) if e.kind() == io::ErrorKind::BrokenPipe) => {
            Ok(false)
        }
        other => other.map(|()| true).about(|| text!("cannot write to standard output")),
    };
    let mut open = write(&names_with_added(&head, converters))?;
    let mut complain = |line: u64, problem: String| {
        wrong += 1;
        if wrong <= 3 {
            terminal::warning(&say!(language(), "{shown}, line {line}: {problem}"));
        }
    };
    for row in reader.records() {
        if !open {
            return Ok(Done::Yes);
        }
        let mut row = row.about(|| Text::same(shown.clone()))?;
        let line = csv_text::line_of(&row, &text);
        let found = score(row.get(score_at).unwrap_or_default().trim());
        let number = |at: Option<usize>| at.and_then(|i| row.get(i)).and_then(|text| text.trim().parse::<u32>().ok());
        let (ply, material) = (number(ply_at), number(material_at));
        // short rows are filled, so that the new columns are below their names
        while row.len() < head.len() {
            row.push_field("");
        }
        for converter in converters {
            added_cells(converter, found.as_ref().ok(), (ply, material), args.wdl)
                .iter()
                .for_each(|c| row.push_field(c));
        }
        match found {
            Ok(_) => used += 1,
            Err(problem) => complain(line, format!("{problem}; its new cells are empty")),
        }
        open = write(&row)?;
    }
    if wrong > 0 {
        terminal::warning(&say!(language(), "{shown}: {used} scores converted, {wrong} rows not"));
    }
    match out.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ if used == 0 => bail!(text!("{shown}: no row has a score in the column '{}'", args.column)),
        _ => Ok(Done::Yes),
    }
}

/// The cells that a calibration adds to a row with this ply and material; empty ones without a score.
fn added_cells(
    converter: &Converter,
    score: Option<&Score>,
    (ply, material): (Option<u32>, Option<u32>),
    wdl: bool,
) -> Vec<String> {
    let separates = converter.separates_draws();
    let Some(score) = score else { return vec![String::new(); if separates { 4 } else { 1 }] };
    let given = converter.situation;
    let situation = Situation { ply: given.ply.or(ply), material: given.material.or(material), ..given };
    let answer = converter.answer_in(*score, &situation);
    let mut cells = vec![format!("{:.6}", answer.rate)];
    if separates {
        cells.extend(match (wdl, &answer.wdl, answer.permille()) {
            (true, _, Some(permille)) => permille.map(|n| n.to_string()),
            (_, Some(w), _) => [w.win, w.draw, w.loss].map(|share| format!("{:.6}", share.value)),
            _ => [answer.rate, 0.0, 1.0 - answer.rate].map(|share| format!("{share:.6}")),
        });
    }
    cells
}

/// The column names of a table, followed by those that each calibration adds.
fn names_with_added(head: &csv::StringRecord, converters: &[Converter]) -> csv::StringRecord {
    let mut names = head.clone();
    for converter in converters {
        let suffix =
            if converters.len() == 1 { String::new() } else { format!(" {}", converter.calibration.engine.name) };
        let added = if converter.separates_draws() { &["win_rate", "win", "draw", "loss"][..] } else { &["win_rate"] };
        added.iter().for_each(|name| names.push_field(&format!("{name}{suffix}")));
    }
    names
}

/// A score in centipawns or a mate, as the user writes it.
fn score(value: &str) -> anyhow::Result<Score> {
    if let Some(plies) = value.strip_prefix("mate") {
        let plies: i64 = parse(plies, key!("a number of plies after mate, as in mate5 or mate-4"))?;
        return Ok(Score::Mate { wins: plies > 0, plies: u32::try_from(plies.unsigned_abs()).ok() });
    }
    if let Some(rate) = value.trim_end().strip_suffix(['%', '％']).and_then(|_| plain_number(value)) {
        bail!(text!("'{value}' is not a score in centipawns; for the score of a win rate: --inverse {rate}"));
    }
    let score: f64 = parse(value, key!("a score in centipawns"))?;
    if !score.is_finite() {
        bail!(text!("'{value}' is not a score in centipawns; a mate is written mate5 or mate-4"));
    }
    Ok(Score::Cp(score))
}

fn parse<T: std::str::FromStr>(text: &str, wanted: &'static str) -> anyhow::Result<T> {
    let wanted = Text::word(wanted);
    let hint = || plain_number(text).map_or_else(Text::default, |plain| text!("; write {plain}"));
    text.trim().parse().map_err(|_| anyhow!(text!("'{text}' is not {wanted}{}", hint())))
}

/// A score of less than this, with a decimal point, looks like pawns.
const MOST_PAWNS: f64 = 30.0;

/// Notes that a score that looks like pawns counts as centipawns.
fn note_pawns(given: &[String]) {
    let pawns = |text: &&String| {
        let score: f64 = text.parse().ok().filter(|score: &f64| score.abs() < MOST_PAWNS)?;
        text.contains('.').then_some(score)
    };
    if let Some((text, score)) = given.iter().find_map(|text| Some((text, pawns(&text)?))) {
        let pawns = 100.0 * score;
        terminal::note(&say!(language(), "{text} counts as centipawns; of a score in pawns, write {pawns:.0}"));
    }
}
