//! Simulated councils as tables, and the figures of LFICS ("合議の効能", 2016-12).

use std::fmt::Write;
use std::path::{Path, PathBuf};

use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::figures::{FigureError, save};
use evalcurve_app::report::text::{right, shown_or, thousands};
use evalcurve_figures::{Figure, PlotOptions, RateChart, RateLine, rate_chart};
use evalcurve_rules::{Rule, TieRule};
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{say, whole_file};

use crate::simulate::sweep::{SPREAD, Shown, Sweep, Varied};
use crate::simulate::{Contender, Engine, Model, Rate, RuleResult, Simulation, best_move_rate};

/// Largest number of pairs in the table.
const PAIRS: usize = 45;

/// The table of a simulation.
pub fn text(model: &Model, found: &Simulation, language: Language) -> String {
    let mut out = String::new();
    let trials = found.options.trials;
    let engines = Text::counted(model.engines.len() as u64, "{n} engine", "{n} engines");
    out += &say!(
        language,
        "{} positions, {} candidates, gap {}, {engines}, seed {}; rates ± standard error\n",
        thousands(trials),
        model.candidates,
        short(model.gap),
        found.options.seed
    );
    for s in &model.synchronisations {
        out += &say!(
            language,
            "engine {} copies engine {} with probability {}\n",
            s.follower + 1,
            s.of + 1,
            short(s.probability)
        );
    }
    let engines = Columns::new()
        .right(language.word("engine"), 6, |(i, ..): &(usize, &Engine, &Rate)| (i + 1).to_string())
        .right(language.word("noise"), 9, |(_, engine, _)| short(engine.noise).to_string())
        .gap(3)
        .left(language.word("best move"), 18, |(.., rate)| shown(**rate))
        .gap(1)
        .left(language.word("exact"), 0, |(i, engine, _)| {
            // the rate of a follower is that of a mixture
            let copies = model.synchronisations.iter().any(|s| s.follower == *i);
            let exact = || best_move_rate(engine.noise, model.candidates, model.gap);
            shown_or(" -", (!copies).then(exact), |rate| format!(" {rate:.5}"))
        });
    let listed = model.engines.iter().zip(&found.engines).enumerate().map(|(i, (engine, rate))| (i, engine, rate));
    out += &format!("\n{}", engines.table(listed));
    if !found.agreement.is_empty() {
        out += language.word("\nengines    same move\n");
        let (pairs, rest) = found.agreement.split_at(found.agreement.len().min(PAIRS));
        for (i, j, rate) in pairs {
            let _ = writeln!(out, "{:>4}-{:<4}   {}", i + 1, j + 1, shown(*rate));
        }
        if !rest.is_empty() {
            out += &say!(language, "  (and {} more pairs; use `json` to see them)\n", rest.len());
        }
        let _ = writeln!(out, "{}   {}", right(language.word("all"), 9), shown(found.unanimous));
    }
    if !found.rules.is_empty() {
        let against = say!(language, "against engine {} alone", found.strongest + 1);
        let rules = Columns::new()
            .left(language.word("rule"), 30, |r: &&RuleResult| r.contender.name())
            .left(language.word("best move"), 18, |r| shown(r.best_move))
            .left(against, 0, |r| format!("{:+.5} ± {:.5}", r.gain, r.gain_error));
        out += &format!("\n{}", rules.table(&found.rules));
    }
    out
}

/// A number rounded to four decimals.
fn short(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn shown(rate: Rate) -> String {
    format!("{:.5} ± {:.5}", rate.value(), rate.standard_error())
}

/// Writes a figure as SVG, PNG and CSV, and returns the path of the SVG.
///
/// # Errors
/// If the figure cannot be drawn or written.
pub(crate) fn write_figure(sweep: &Sweep, folder: &Path, options: &PlotOptions) -> Result<PathBuf, FigureError> {
    let look = of_varied(sweep.varied);
    let svg = save(figure(sweep, &look, options), folder, &look.stem, false)?;
    whole_file::write(&folder.join(format!("{}.csv", look.stem)), csv(sweep).as_bytes())?;
    Ok(svg)
}

/// What a figure is called, and what it shows.
struct Look {
    stem: String,
    title: String,
    x_name: &'static str,
    setting: &'static str,
}

fn of_varied(varied: Varied) -> Look {
    let noise = "noise of engines 2 and 3, s2/d = s3/d";
    let (stem, title, x_name, setting) = match varied {
        Varied::WeakerNoise { candidates } => (
            format!("best-move-{candidates}-candidates"),
            format!("How often the best of {candidates} moves is found, by the weaker engines' noise"),
            noise,
            "three engines, s1 = d",
        ),
        Varied::Agreement { candidates } => (
            format!("agreement-{candidates}-candidates"),
            format!("How often engines agree on one of {candidates} moves"),
            noise,
            "three engines, s1 = d; engine 3 copies engine 2 with probability 0.5, or none copies",
        ),
        Varied::SynchronisedRates { candidates } => (
            format!("synchronised-{candidates}-candidates"),
            format!("Majority and optimism with engines that think alike, {candidates} moves"),
            noise,
            "three engines, s1 = d; synchronised: engine 3 copies engine 2 with probability 0.5",
        ),
        Varied::Engines => (
            "many-engines".to_owned(),
            "How often the best of 2 moves is found, by the number of engines".to_owned(),
            "engines",
            "engines of equal strength that share nothing, s = 2 d",
        ),
        Varied::Gain => (
            "scales".to_owned(),
            "Optimism when engines score on different scales".to_owned(),
            "gain of engines 2 and 3: their scores for one of engine 1",
            "three engines, three moves, s1 = d, s2 = s3 = 1.2 d",
        ),
        Varied::CalibrationError => (
            "calibration-error".to_owned(),
            "Optimism when calibrations err".to_owned(),
            "error of each calibration: standard deviation of ln w1",
            "three engines, three moves, s1 = d, s2 = s3 = 1.2 d, gains 1, 1.5, 1.5",
        ),
    };
    Look { stem, title, x_name, setting }
}

fn figure(sweep: &Sweep, look: &Look, options: &PlotOptions) -> Result<Figure, evalcurve_figures::PlotError> {
    let agreement = matches!(sweep.varied, Varied::Agreement { .. });
    let mut notes = vec![
        "bars: two standard errors (mostly smaller than the discs); lines without discs are exact".to_owned(),
        "model of LFICS, 合議の効能 (2016-12)".to_owned(),
    ];
    if matches!(sweep.varied, Varied::Gain | Varied::CalibrationError) {
        notes.push(format!(
            "positions spread by {SPREAD} d; the same draws at every point, so that its errors move together"
        ));
    }
    let line = |line: &crate::simulate::sweep::Line| {
        let (name, color) = of_line(line.shown);
        let bar = |y: f64, error: f64| (error > 0.0).then_some([y - 2.0 * error, y + 2.0 * error]);
        let points = line.points.iter().map(|&(x, y, error)| (x, y, bar(y, error))).collect();
        RateLine { name, color, points, seen: Vec::new() }
    };
    let chart = RateChart {
        title: look.title.clone(),
        caption: format!("{} · {} positions a point, seed {}", look.setting, thousands(sweep.trials), sweep.seed),
        x_name: look.x_name.to_owned(),
        y_name: if agreement { "agreement rate" } else { "best-move rate" }.to_owned(),
        lines: sweep.lines.iter().map(line).collect(),
        notes,
    };
    rate_chart(&chart, options)
}

/// Name and colour of a line: those of LFICS if it has the line (majority green, optimism red, pessimism blue, single
/// engines black).
fn of_line(shown: Shown) -> (String, usize) {
    let of = |c: Contender| match (c.rule, c.tie, c.best_known) {
        (Rule::Majority, TieRule::Draw, _) => ("majority, ties drawn", 10),
        (Rule::Majority, ..) => ("majority", 2),
        (Rule::Optimistic, ..) => ("optimistic", 1),
        (Rule::Pessimistic, ..) => ("pessimistic", 0),
        (Rule::Optimal, _, true) => ("optimal", 4),
        (Rule::Optimal, ..) => ("optimal, A estimated", 12),
        (Rule::StandardizedOptimistic, ..) => ("standardised", 5),
        (Rule::WinRateOptimistic, ..) => ("win rate", 3),
        (rule, ..) => (rule.as_str(), 7),
    };
    match shown {
        Shown::Strongest => ("engine 1 alone".to_owned(), 6),
        Shown::Weaker => ("engine 2 alone".to_owned(), 14),
        Shown::Rule(c) => (of(c).0.to_owned(), of(c).1),
        Shown::Synchronised(c) => (format!("{}, synchronised", of(c).0), of(c).1 + 8),
        Shown::AgreementWithStrongest => ("engines 1 and 2".to_owned(), 1),
        Shown::AgreementOfWeaker => ("engines 2 and 3".to_owned(), 0),
        Shown::AgreementSynchronised => ("2 and 3, synchronised".to_owned(), 6),
    }
}

/// The points: line, x, y, standard error.
fn csv(sweep: &Sweep) -> String {
    let mut out = "line,x,rate,standard_error\n".to_owned();
    for line in &sweep.lines {
        let name = of_line(line.shown).0.replace(',', " ");
        for (x, y, error) in &line.points {
            let _ = writeln!(out, "{name},{x:.4},{y:.7},{error:.7}");
        }
    }
    out
}
