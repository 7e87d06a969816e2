//! `evalcurve thresholds`: at which scores a match runner may adjudicate.

use std::collections::BTreeMap;

use anyhow::bail;
use serde_json::json;

use super::load::load;
use super::options::{InputArgs, OutputArgs};
use super::{Done, terminal};
use crate::calibrate::{EngineResult, calibrate};
use crate::calibration::{Calibration, Reading, Situation};
use crate::diagnose::adjudication::{Adjudication, draw, games, resign};
use crate::language::Text;
use crate::report::columns::Columns;
use crate::report::text::{printable, thousands};
use crate::{say, text};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve thresholds games.pgn
  evalcurve thresholds games.pgn --win-rate 1 --move-count 4 --json
  evalcurve thresholds games.pgn --draw-from 30

For each win rate p the threshold for resigning is the largest of the engines' scores that win p against these \
opponents; that for a draw is the largest at which at most p of the games were not drawn. The games are then \
adjudicated by it: `turned round` are those that ended otherwise when they were played on, with a 95% interval. A game \
that was adjudicated already cannot show this: play the games to the end.")]
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

/// Thresholds of engines that differ by more than this factor get a note.
const LARGEST_RATIO: f64 = 1.5;

/// The score at which an engine wins this percentage.
#[derive(serde::Serialize)]
struct Losing {
    name: String,
    percent: f64,
    score_cp: i64,
}

/// A rule with the option that match runners have for it.
struct Row {
    percent: f64,
    option: String,
    rule: Adjudication,
}

/// Engines that a note names; it counts the others.
const MOST_NAMED: usize = 6;

/// The first names, and how many more there are.
fn list(names: &[&str]) -> String {
    let named = names[..names.len().min(MOST_NAMED)].join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named}, … (+{more})"),
    }
}

/// Why calibrated engines have no negative score that wins this percentage.
fn why_without<'a>(engines: impl Iterator<Item = (&'a str, &'a Calibration)>, percent: f64) -> Vec<Text> {
    let (mut of_lapses, mut others, mut smallest) = (Vec::new(), Vec::new(), f64::INFINITY);
    for (name, calibration) in engines {
        let share = 100.0 * calibration.limits(Reading::Field)[0];
        if calibration.model.kind.allows_lapses() && share >= percent {
            of_lapses.push(name);
            smallest = smallest.min(share);
        } else {
            others.push(name);
        }
    }
    let mut notes = Vec::new();
    if !of_lapses.is_empty() {
        let named = list(&of_lapses);
        notes.push(text!(
            "{named}: {smallest:.1}% of the results are wins that follow no score, so no score wins only {percent}%; \
             use --terminations board, a larger --win-rate, or --model wdl",
            "{named}: 結果の {smallest:.1}% は評価値と無関係な勝ちなので、勝率が {percent}% まで下がる評価値がありません。\
             --terminations board、大きい --win-rate、--model wdl のどれかを使ってください"
        ));
    }
    if !others.is_empty() {
        let named = list(&others);
        notes.push(text!(
            "{named}: no score below 0 wins {percent}%",
            "{named}: 勝率が {percent}% になる負の評価値がありません"
        ));
    }
    notes
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    if let Some(wrong) = args.win_rate.iter().find(|p| !(**p > 0.0 && **p < 50.0)) {
        bail!("--win-rate: {wrong} is not a percentage between 0 and 50, such as 2");
    }
    let percents = if args.win_rate.is_empty() { vec![1.0, 2.0, 5.0] } else { args.win_rate.clone() };
    let counts = if args.move_count.is_empty() { vec![1, 2, 3, 5, 8] } else { args.move_count.clone() };
    // runs of scores need all of them
    let input = InputArgs { from_ply: 1, all_positions: true, ..args.input.clone() };
    let mut options = input.calibrate_options();
    (options.bands, options.folds) = (0, None);
    let mut table = load(&input, args.output.quiet)?.collected.table;
    let results = calibrate(&mut table, &options);
    let games = games(&table);
    if games.is_empty() {
        bail!(
            "no game has scores of its players; give records of engine games with scores in their comments, or name \
             the engine of an analysis with --annotator"
        );
    }
    let language = args.input.language.chosen();
    let (mut resigning, mut drawing, mut notes, mut engines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let calibrated = || results.iter().filter_map(|r| Some((r.name.as_str(), r.calibration.as_ref()?)));
    let others: Vec<&str> = results.iter().filter(|r| r.calibration.is_none()).map(|r| r.name.as_str()).collect();
    if !others.is_empty() {
        let named = list(&others);
        notes.push(text!(
            "not calibrated, so without a score here: {named} (`evalcurve fit` has the reasons)",
            "較正できず、ここに評価値のないもの: {named}(理由は `evalcurve fit`)"
        ));
    }
    for &percent in &percents {
        let p = percent / 100.0;
        let of = |r: &EngineResult| {
            let score = r.calibration.as_ref()?.score(Reading::Field, p, &Situation::default())?;
            Some(Losing { name: r.name.clone(), percent, score_cp: score.floor() as i64 })
        };
        let known: Vec<Losing> = results.iter().filter_map(of).filter(|losing| losing.score_cp < 0).collect();
        let without = calibrated().filter(|(name, _)| known.iter().all(|losing| losing.name != *name));
        notes.extend(why_without(without, percent));
        let scores = || known.iter().map(|losing| -losing.score_cp);
        match (scores().min(), scores().max()) {
            (Some(smallest), Some(largest)) => {
                // rounded up to what people write
                let score_cp = i32::try_from((largest + 9) / 10 * 10).unwrap_or(i32::MAX);
                resigning.extend(counts.iter().map(|&count| {
                    let option = format!("-resign movecount={count} score={score_cp}");
                    Row { percent, option, rule: resign(&games, count, score_cp) }
                }));
                let ratio = largest as f64 / smallest as f64;
                if ratio > LARGEST_RATIO {
                    notes.push(text!(
                        "the scores that win {percent}% differ between the engines by a factor of {ratio:.1}, and the \
                         options suit the largest; `evalcurve proxy` puts the engines on one scale",
                        "勝率 {percent}% の評価値はエンジン間で {ratio:.1} 倍違い、オプションは最大のものに合わせてあります。`evalcurve \
                         proxy` で評価値を共通の尺度にできます"
                    ));
                }
            }
            _ => notes.push(text!(
                "no threshold for resigning at a win rate of {percent}%",
                "勝率 {percent}% での投了のしきい値はありません"
            )),
        }
        engines.extend(known);
        let mut without = Vec::new();
        for &count in &counts {
            let Some(rule) = draw(&games, count, 2 * args.draw_from - 1, p) else {
                without.push(count.to_string());
                continue;
            };
            let (from, score_cp) = (args.draw_from, rule.score_cp);
            let option = format!("-draw movenumber={from} movecount={count} score={score_cp}");
            drawing.push(Row { percent, option, rule });
        }
        if !without.is_empty() {
            let counts = without.join(", ");
            notes.push(text!(
                "no threshold for draws turns at most {percent}% of the games at movecount {counts}",
                "movecount {counts} では、結果の変わる対局を {percent}% 以下にする引き分けのしきい値はありません"
            ));
        }
    }
    let document = || {
        let rows = |rows: &[Row]| -> Vec<serde_json::Value> {
            rows.iter().map(|r| json!({ "percent": r.percent, "option": r.option, "rule": r.rule })).collect()
        };
        let (resign, draw) = (rows(&resigning), rows(&drawing));
        json!({ "games": games.len(), "engines": engines, "resign": resign, "draw": draw, "notes": notes })
    };
    let text = || {
        let mut out = say!(language, "{} games with scores\n", "評価値のある対局 {}\n", thousands(games.len() as u64));
        let mut of_engines: BTreeMap<&str, Vec<&Losing>> =
            calibrated().filter(|_| !engines.is_empty()).map(|(name, _)| (name, Vec::new())).collect();
        engines.iter().for_each(|losing| of_engines.entry(&losing.name).or_default().push(losing));
        let columns = Columns::new().name(
            language.choose("score that wins", "この勝率の評価値"),
            24,
            |(name, _): &(&str, Vec<&Losing>)| printable(name),
        );
        let columns = percents.iter().fold(columns, |columns, &percent| {
            columns.right(format!("{percent}%"), 7, move |(_, scores)| {
                let losing = scores.iter().find(|losing| losing.percent == percent);
                losing.map_or_else(|| "–".to_owned(), |losing| losing.score_cp.to_string())
            })
        });
        if !of_engines.is_empty() {
            out += &format!("\n{}\n{}", terminal::heading(&columns.head()), columns.rows(of_engines));
        }
        let titles = [language.choose("resigning", "投了"), language.choose("draws", "引き分け")];
        for (title, rows) in titles.into_iter().zip([&resigning, &drawing]) {
            if rows.is_empty() {
                continue;
            }
            let width = rows.iter().map(|r| r.option.len()).max().unwrap_or(0);
            let percent = |share: f64| format!("{:.1}%", 100.0 * share);
            let turned = |r: &Row| match r.rule.share {
                Some(share) => {
                    let ends = share
                        .interval
                        .map_or_else(String::new, |(low, high)| format!(" [{:.1}, {:.1}]", 100.0 * low, 100.0 * high));
                    format!("{} = {}{ends}", r.rule.turned, percent(share.value))
                }
                None => "–".to_owned(),
            };
            let columns = Columns::new()
                .right("p", 4, |r: &&Row| format!("{}%", r.percent))
                .gap(2)
                .left(
                    language.choose("option of fastchess and cutechess", "fastchess・cutechess の設定"),
                    width.max(33),
                    |r| r.option.clone(),
                )
                .right(language.choose("ended", "終局"), 6, |r| r.rule.ended.to_string())
                .left(language.choose("turned round [95%]", "結果が変わる [95%]"), 24, |r| turned(r))
                .right(language.choose("moves saved", "省けた手数"), 11, |r| percent(r.rule.saved));
            let rows: Vec<&Row> = rows.iter().collect();
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
