//! Judges the forecasts of any model, from tables of win rates and results.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use evalcurve_app::judge::evaluation::Judged;
use evalcurve_app::report::json::{about_records, rounded};
use evalcurve_app::{Error, Input, InputSource, Outcome, on_threads};
use evalcurve_calibration::logistic::logit;
use evalcurve_fit::normal::two_sided;
use evalcurve_fit::validate::{
    Estimate, Forecast, ScoreOptions, ValidateError, brier, holm, log_loss_difference, mean_by_game,
};
use evalcurve_records::sample::collect::{Problem, ProblemKind};
use evalcurve_records::sample::{PositionCount, ReadReport};
use evalcurve_tables::{CellKind, Cells, CsvTable, Source, TableError, game_id, own_result};
use evalcurve_words::language::{Language, Text, ToText};
use evalcurve_words::{key, random, text};
use serde::Serialize;
use serde_json::{Value, json};

/// What tells the samples of a game apart, where all tables have it.
const IDENTITY: [&str; 7] = ["engine", "opponent", "color", "ply", "window", "sample", "line"];
/// A column of win rates may have the name of its model after this.
const OF_MODEL: &str = "win_rate_";
/// The shares of wins, draws and losses of a forecast with three outcomes.
const SHARES: [&str; 3] = ["win", "draw", "loss"];
/// How far the three shares of a row may sum from 1, as numbers with few digits do.
const ROUNDING: f64 = 0.002;
/// A forecast of 0 or 1 has no logit and counts as so far from it, as in scikit-learn's `log_loss`.
const NEAREST: f64 = f64::EPSILON;
/// Problems of a kind that are shown.
const SHOWN: usize = 3;

/// Judges the forecasts of models side by side.
#[derive(Debug, Clone, Default)]
pub struct JudgeForecasts {
    /// Seed and number of the resamples.
    pub scores: ScoreOptions,
    pub threads: Option<usize>,
}

/// A model and how right it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedModel {
    pub name: String,
    #[serde(flatten)]
    pub judged: Judged,
    /// Of forecasts with three outcomes: mean -ln of the share given to what happened, in nats.
    pub log_loss_of_three: Option<Estimate>,
    /// Share of draws forecast minus that seen, of the same.
    pub draws: Option<Estimate>,
    /// Forecasts of 0 or 1, which count as 2.2e-16 from it.
    pub certain: u64,
    /// Those of them that did not come true. A draw counts as one.
    pub certain_and_wrong: u64,
}

impl JudgedModel {
    /// What the scores say, in a few words.
    pub fn verdict(&self, language: Language) -> &'static str {
        if self.judged.scores.slope.is_none() && self.judged.scores.games > 1 {
            return language.word(key!("the same forecast always"));
        }
        self.judged.verdict(key!("too hopeful"), key!("too modest"), language)
    }
}

/// Two models on the samples that both forecast.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    pub one: String,
    pub other: String,
    pub samples: u64,
    /// Log loss of one less that of the other, in nats; below 0 the first is better. Clustered by game.
    pub log_loss: Estimate,
    /// The same of the Brier score.
    pub brier: Estimate,
    /// The chance of a difference of log losses so large between models that are equally good.
    pub p: Option<f64>,
    /// The same, corrected by Holm for all pairs.
    pub p_holm: Option<f64>,
}

impl Difference {
    /// Which model is the better one; none where the corrected test does not say it.
    pub fn better(&self) -> Option<&str> {
        let one = if self.log_loss.value < 0.0 { &self.one } else { &self.other };
        self.p_holm.filter(|p| *p <= 0.05).map(|_| one.as_str())
    }
}

/// Models and their differences.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedForecasts {
    pub models: Vec<JudgedModel>,
    pub differences: Vec<Difference>,
}

/// One forecast as it was given.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// What the sample has in common with that of another model.
    sample: [u64; 3],
    forecast: Forecast,
    /// The share that a forecast with three outcomes gave to what happened, and that of a draw.
    three: Option<[f64; 2]>,
    is_certain: bool,
}

impl Row {
    fn is_wrong(&self) -> bool {
        self.is_certain && (self.forecast.outcome.value() - self.forecast.win_rate()).abs() > 0.25
    }
}

impl JudgeForecasts {
    /// Reads the tables and judges their models.
    ///
    /// A table has the columns `result`, `win_rate` (or `win`, `draw` and `loss`, or one `win_rate_NAME` for each
    /// model), and may have `game` and `model`.
    ///
    /// # Errors
    /// [`Error`] for a table that cannot be read or lacks a column, and for tables without a forecast that can be used.
    pub fn run(&self, input: &Input) -> Result<Outcome<JudgedForecasts>, Error> {
        on_threads(self.threads, || {
            let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let open = |source: &InputSource| -> Result<(Arc<dyn Source>, String, String), TableError> {
                Ok(match source {
                    InputSource::Path(path) => {
                        let (file, unnamed) = (path.to_string_lossy().into_owned(), stem(path));
                        (evalcurve_tables::read(path)?.into(), file, unnamed)
                    }
                    InputSource::Bytes(name, bytes) => {
                        (Arc::new(CsvTable::read(&bytes[..], name)?), name.clone(), stem(Path::new(name)))
                    }
                    InputSource::Table(name, table) => (table.clone(), name.clone(), "forecast".to_owned()),
                })
            };
            let tables = input.sources.iter().map(open).collect::<Result<Vec<_>, _>>()?;
            // what only some of the tables have does not say which samples are the same
            let in_all = |name: &&str| tables.iter().all(|(table, ..)| table.names().contains(name));
            let identity: Vec<&str> = IDENTITY.into_iter().filter(in_all).collect();
            let mut reader = Reader::default();
            for (table, file, unnamed) in &tables {
                reader.add(table.as_ref(), file, unnamed, &identity)?;
            }
            self.judge(reader)
        })?
    }

    fn judge(&self, reader: Reader) -> Result<Outcome<JudgedForecasts>, Error> {
        let Reader { models, count, problems, mut notes, .. } = reader;
        if models.is_empty() {
            // the first problem says why
            let why = problems.first().map(|problem| text!("no forecast can be used: {problem}"));
            return Err(why.unwrap_or_else(|| text!("no forecast can be used: the tables have no rows")).into());
        }
        let model = |(name, rows): &(String, Vec<Row>)| {
            let forecasts: Vec<Forecast> = rows.iter().map(|row| row.forecast).collect();
            let mut judged = Judged::new(&forecasts, |_| 0.0, &self.scores)?;
            // of forecasts that do not differ there is no slope
            (judged.scale, judged.shift) = (judged.scores.slope, judged.scores.intercept);
            let three = |of: &dyn Fn(&Row, [f64; 2]) -> f64| {
                let values: Option<Vec<(u64, f64)>> =
                    rows.iter().map(|row| Some((row.forecast.game, of(row, row.three?)))).collect();
                mean_by_game(&values?)
            };
            let drawn = |row: &Row| f64::from(u8::from(row.forecast.outcome.value() == 0.5));
            let count = |of: &dyn Fn(&&Row) -> bool| rows.iter().filter(of).count() as u64;
            Ok::<_, ValidateError>(JudgedModel {
                name: name.clone(),
                judged,
                log_loss_of_three: three(&|_, [happened, _]| -libm::log(happened.max(NEAREST))),
                draws: three(&|row, [_, draw]| draw - drawn(row)),
                certain: count(&|row| row.is_certain),
                certain_and_wrong: count(&|row| row.is_wrong()),
            })
        };
        let judged = models.iter().map(model).collect::<Result<Vec<_>, _>>();
        let judged = judged.map_err(|error| Error::from(error.to_text()))?;
        for model in judged.iter().filter(|model| model.certain > 0) {
            let JudgedModel { name, certain, certain_and_wrong: wrong, .. } = model;
            notes.push(text!(
                "{name}: {certain} forecasts are 0 or 1 and count as 2.2e-16 from it; {wrong} of them were wrong, and \
                 each costs up to 36 nats"
            ));
        }
        let differences = differences(&models, &mut notes);
        let mut report = ReadReport::default();
        report.positions.insert("table", count);
        report.problems = problems;
        let mut outcome = Outcome::noted(JudgedForecasts { models: judged, differences }, notes);
        outcome.report = report;
        Ok(outcome)
    }

    /// The JSON document of what was found.
    pub fn document(&self, found: &Outcome<JudgedForecasts>) -> Value {
        let model = |model: &JudgedModel| {
            let mut value = json!(model);
            value["verdict"] = model.verdict(Language::English).into();
            value["reliability"] = json!(model.judged.reliability.pools);
            value
        };
        let models: Vec<Value> = found.value.models.iter().map(model).collect();
        let rows = found.report.positions.get("table");
        let more = json!({
            "format": "evalcurve-forecasts", "version": 1, "seed": self.scores.seed, "rows": rows,
            "models": models, "differences": found.value.differences,
        });
        rounded(about_records(&found.report, &found.notes, more))
    }
}

/// All pairs, on the samples that both models forecast.
fn differences(models: &[(String, Vec<Row>)], notes: &mut Vec<Text>) -> Vec<Difference> {
    let by_sample: Vec<BTreeMap<[u64; 3], &Row>> =
        models.iter().map(|(_, rows)| rows.iter().map(|row| (row.sample, row)).collect()).collect();
    let mut found = Vec::new();
    for (i, (one, _)) in models.iter().enumerate() {
        for (j, (other, _)) in models.iter().enumerate().skip(i + 1) {
            let both = by_sample[i].iter().filter_map(|(sample, a)| Some((*a, *by_sample[j].get(sample)?)));
            let (same, contradictory): (Vec<_>, Vec<_>) =
                both.partition(|(a, b)| a.forecast.outcome == b.forecast.outcome);
            if !contradictory.is_empty() {
                let n = contradictory.len();
                notes.push(text!(
                    "{one} and {other} have different results for {n} samples, which their difference leaves out: give \
                     columns that tell the samples of a game apart, such as ply"
                ));
            }
            let (a, b): (Vec<Forecast>, Vec<Forecast>) = same.iter().map(|(a, b)| (a.forecast, b.forecast)).unzip();
            let square = |of: &Forecast| brier(of.win_rate(), of.outcome.value());
            let squares: Vec<(u64, f64)> = a.iter().zip(&b).map(|(a, b)| (a.game, square(a) - square(b))).collect();
            let (Some(log_loss), Some(brier)) = (log_loss_difference(&a, &b), mean_by_game(&squares)) else {
                notes.push(text!("{one} and {other} have no sample in common, so that they cannot be compared"));
                continue;
            };
            let equal = a.iter().zip(&b).all(|(a, b)| a.logit == b.logit);
            let p = log_loss.standard_error().map(|error| two_sided(log_loss.value / error));
            let p = p.or(equal.then_some(1.0));
            let samples = a.len() as u64;
            found.push(Difference {
                one: one.clone(),
                other: other.clone(),
                samples,
                log_loss,
                brier,
                p,
                p_holm: None,
            });
        }
    }
    let known: Vec<usize> = (0..found.len()).filter(|&i| found[i].p.is_some()).collect();
    let corrected = holm(&known.iter().filter_map(|&i| found[i].p).collect::<Vec<_>>());
    known.into_iter().zip(corrected).for_each(|(i, p)| found[i].p_holm = Some(p));
    let sizes: BTreeSet<u64> =
        models.iter().map(|(_, rows)| rows.len() as u64).chain(found.iter().map(|pair| pair.samples)).collect();
    if sizes.len() > 1 {
        notes.push(text!(
            "the models forecast different samples; compare them by their differences, which take those of both"
        ));
    }
    found
}

/// Where a table has the forecasts of a model.
#[derive(Debug, Clone, PartialEq)]
enum Where {
    /// A column of win rates, and the model's name if the table has no column for it.
    WinRate(String, String),
    /// Wins, draws and losses.
    Three(String),
}

/// The columns of forecasts among these. `unnamed` is the model of a table that names none.
fn columns(names: &[&str], unnamed: &str) -> Result<Vec<Where>, Text> {
    let has = |name: &str| names.contains(&name);
    let mut found = Vec::new();
    if has("win_rate") {
        found.push(Where::WinRate("win_rate".to_owned(), unnamed.to_owned()));
    } else if SHARES.into_iter().all(has) {
        found.push(Where::Three(unnamed.to_owned()));
    }
    let named = names.iter().filter_map(|name| Some((*name, name.strip_prefix(OF_MODEL)?)));
    found.extend(named.map(|(name, model)| Where::WinRate(name.to_owned(), model.to_owned())));
    let all = names.join(", ");
    if found.is_empty() {
        return Err(text!(
            "no column 'win_rate'; a table of forecasts needs win_rate (or win, draw and loss, or one win_rate_NAME \
             for each model) and result (found: {all})"
        ));
    }
    if !has("result") {
        return Err(text!(
            "no column 'result'; it says who won, for the side whose win rate is forecast: 1, 0.5 or 0 (found: {all})"
        ));
    }
    if found.len() > 1 && has("model") {
        return Err(text!(
            "the models are named by the column 'model' and by win_rate_NAME; give one of the two (found: {all})"
        ));
    }
    Ok(found)
}

/// Reads tables of forecasts.
#[derive(Default)]
struct Reader {
    /// The models in the order of the tables.
    models: Vec<(String, Vec<Row>)>,
    by_name: HashMap<String, usize>,
    /// How often a model met a sample.
    met: HashMap<(usize, [u64; 2]), u64>,
    count: PositionCount,
    problems: Vec<Problem>,
    notes: Vec<Text>,
}

impl Reader {
    /// Adds the rows of a table.
    fn add(&mut self, table: &dyn Source, file: &str, unnamed: &str, identity: &[&str]) -> Result<(), TableError> {
        let names = table.names();
        let wheres = columns(&names, unnamed).map_err(|problem| TableError::new(file, problem))?;
        let cells = |name: &str, kind| table.cells(name, kind).map_err(|problem| TableError::new(file, problem));
        let optional = |name: &str| names.contains(&name).then(|| cells(name, CellKind::Text)).transpose();
        let result = cells("result", CellKind::Number)?;
        let (game, model) = (optional("game")?, optional("model")?);
        let identity = identity.iter().filter_map(|name| optional(name).transpose());
        let identity = identity.collect::<Result<Vec<_>, _>>()?;
        if game.is_none() {
            self.notes.push(text!(
                "{file}: no column 'game'; each row counts as a game, and intervals are too narrow \
                                   if several are of one"
            ));
        }
        let mut shown = BTreeMap::new();
        for place in wheres {
            let given = match &place {
                Where::WinRate(column, _) => Given::Rate(cells(column, CellKind::Number)?),
                Where::Three(_) => {
                    let [win, draw, loss] = SHARES.map(|name| cells(name, CellKind::Number));
                    Given::Three([win?, draw?, loss?])
                }
            };
            let (Where::WinRate(_, unnamed) | Where::Three(unnamed)) = place;
            self.count.read += table.height() as u64;
            for row in 0..table.height() {
                let name = match &model {
                    Some(cells) => shown_cell(cells.as_ref(), row),
                    None => Some(unnamed.clone()),
                };
                let parsed = name.filter(|name| !name.is_empty()).ok_or(Bad::MODEL).and_then(|name| {
                    let outcome = own_result(result.as_ref(), row).ok_or(Bad::RESULT)?;
                    let (rate, shares) = given.rate(row)?;
                    let game = match &game {
                        Some(game) => {
                            let text = shown_cell(game.as_ref(), row).filter(|text| !text.is_empty());
                            Some(game_id(&text.ok_or(Bad::GAME)?))
                        }
                        None => None,
                    };
                    Ok((name, outcome, rate, shares, game))
                });
                let (name, outcome, rate, shares, game) = match parsed {
                    Ok(parsed) => parsed,
                    Err(bad) => {
                        *self.count.skipped.entry(bad.kind).or_default() += 1;
                        let shown: &mut usize = shown.entry(bad.kind).or_default();
                        *shown += 1;
                        if *shown <= SHOWN {
                            let wanted = Text::word(bad.wanted);
                            let value = text!("the row needs {wanted}; it is skipped");
                            let (source, line) = (file.to_owned(), table.line(row));
                            let kind = ProblemKind::Other(bad.kind);
                            self.problems.push(Problem { source, line, kind, value, is_error: true });
                        }
                        continue;
                    }
                };
                let next = self.models.len();
                let at = *self.by_name.entry(name.clone()).or_insert(next);
                if at == next {
                    self.models.push((name, Vec::new()));
                }
                let rows = &mut self.models[at].1;
                // without games, the rows of two models are the same samples in the same order
                let game = game.unwrap_or_else(|| random::bits(&[rows.len() as u64]));
                let keys: Vec<u64> = identity
                    .iter()
                    .map(|cells| match cells.number(row) {
                        // 12 and 12.0 are one ply
                        Some(number) => number.to_bits(),
                        None => cells.text(row).map_or(0, game_id),
                    })
                    .collect();
                let sample = [game, random::bits(&keys)];
                let met = self.met.entry((at, sample)).or_default();
                let number = *met;
                *met += 1;
                let happened = shares.map(|[win, draw, loss]| match outcome.value() {
                    1.0 => [win, draw],
                    0.0 => [loss, draw],
                    _ => [draw, draw],
                });
                rows.push(Row {
                    sample: [sample[0], sample[1], number],
                    forecast: Forecast { game, logit: logit(rate.clamp(NEAREST, 1.0 - NEAREST)), outcome },
                    three: happened,
                    is_certain: rate <= 0.0 || rate >= 1.0,
                });
                self.count.used += 1;
            }
        }
        Ok(())
    }
}

/// A cell as text, also of a column of numbers.
fn shown_cell(cells: &dyn Cells, row: usize) -> Option<String> {
    cells.text(row).map(str::to_owned).or_else(|| cells.number(row).map(|n| n.to_string()))
}

/// The cells of forecasts.
enum Given<'t> {
    Rate(Box<dyn Cells + 't>),
    Three([Box<dyn Cells + 't>; 3]),
}

/// What is wrong with a row.
struct Bad {
    kind: &'static str,
    wanted: &'static str,
}

impl Bad {
    const RESULT: Self = Self { kind: "bad_result", wanted: key!("a result: 1, 0.5, 0, win, draw or loss") };
    const RATE: Self = Self { kind: "bad_win_rate", wanted: key!("a win rate from 0 to 1") };
    const SHARES: Self = Self { kind: "bad_win_rate", wanted: key!("wins, draws and losses that sum to 1") };
    const GAME: Self = Self { kind: "bad_game", wanted: key!("the name of a game") };
    const MODEL: Self = Self { kind: "bad_model", wanted: key!("the name of a model") };
}

impl Given<'_> {
    /// The win rate of a row, and the shares of wins, draws and losses if it has them.
    fn rate(&self, row: usize) -> Result<(f64, Option<[f64; 3]>), Bad> {
        let share = |cells: &dyn Cells| cells.number(row).filter(|p| (0.0..=1.0).contains(p));
        match self {
            Self::Rate(cells) => Ok((share(cells.as_ref()).ok_or(Bad::RATE)?, None)),
            Self::Three(cells) => {
                let [win, draw, loss] = cells.each_ref().map(|cells| share(cells.as_ref()).ok_or(Bad::RATE));
                let shares = [win?, draw?, loss?];
                let sum: f64 = shares.iter().sum();
                if (sum - 1.0).abs() > ROUNDING {
                    return Err(Bad::SHARES);
                }
                let shares = shares.map(|share| share / sum);
                Ok((shares[0] + 0.5 * shares[1], Some(shares)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(tables: &[(&str, &str)]) -> Result<Outcome<JudgedForecasts>, Error> {
        let source =
            |(name, text): &(&str, &str)| InputSource::Bytes((*name).to_owned(), text.as_bytes().to_vec().into());
        let input = Input { sources: tables.iter().map(source).collect() };
        JudgeForecasts { scores: ScoreOptions { resamples: 20, seed: 1 }, threads: None }.run(&input)
    }

    #[test]
    fn numbers_by_hand() {
        let found = judged(&[("a.csv", "win_rate,result,game\n0.8,1,x\n0.8,0.5,x\n0.3,0,y\n0.3,1,y\n")]).unwrap();
        let model = &found.value.models[0];
        let loss = [0.8_f64.ln(), 0.5 * (0.8_f64.ln() + 0.2_f64.ln()), 0.7_f64.ln(), 0.3_f64.ln()];
        let mean = -loss.iter().sum::<f64>() / 4.0;
        assert!((model.judged.scores.log_loss.value - mean).abs() < 1e-12);
        // (.04 + (.04 + .64)/2 + .09 + .49) / 4
        assert!((model.judged.scores.brier.value - 0.24).abs() < 1e-12);
        assert_eq!((model.name.as_str(), model.judged.scores.games, model.certain), ("a", 2, 0));
        assert!(found.report.adds_up() && found.value.differences.is_empty());
    }

    #[test]
    fn samples_are_paired_by_what_all_tables_have() {
        let one = "game,ply,line,win_rate,result\ng,40,7,0.9,1\ng,42,9,0.2,0\n";
        let other = "game,ply,win_rate,result\ng,42.0,0.4,0\ng,40.0,0.6,1\n";
        let found = judged(&[("one.csv", one), ("other.csv", other)]).unwrap();
        let pair = &found.value.differences[0];
        let expected = 0.5 * ((0.6_f64 / 0.9).ln() + (0.6_f64 / 0.8).ln());
        assert_eq!(pair.samples, 2);
        assert!((pair.log_loss.value - expected).abs() < 1e-12, "{pair:?}");
        // without ply the order of the rows counts, and their results contradict each other
        let without = |text: &str| text.replace("ply", "other");
        let found = judged(&[("one.csv", &without(one)), ("other.csv", &without(other))]).unwrap();
        assert!(found.value.differences.is_empty());
        let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
        assert!(notes.iter().any(|note| note.contains("different results for 2 samples")), "{notes:?}");
        assert!(notes.iter().any(|note| note.contains("no sample in common")), "{notes:?}");
    }

    #[test]
    fn certain_forecasts_are_counted() {
        let text = "win_rate,result,game\n1,1,a\n1,0,b\n0,0.5,c\n0.5,1,d\n";
        let model = judged(&[("a.csv", text)]).unwrap().value.models.remove(0);
        assert_eq!((model.certain, model.certain_and_wrong), (3, 2));
        let worst = -NEAREST.ln();
        let expected = (worst + 0.5 * worst + 0.5_f64.recip().ln()) / 4.0;
        assert!((model.judged.scores.log_loss.value - expected).abs() < 1e-9);
        let constant = judged(&[("a.csv", "win_rate,result,game\n0.5,1,a\n0.5,0,b\n")]).unwrap().value.models.remove(0);
        assert_eq!(constant.verdict(Language::English), "the same forecast always");
    }
}
