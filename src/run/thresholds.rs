//! At which scores a match runner may adjudicate.

use serde::Serialize;
use serde_json::{Value, json};

use super::load::load;
use super::options::{Fitting, Reading, Sampling};
use super::{Error, Input, Outcome, Progress, on_threads};
use crate::calibrate::{EngineResult, calibrate};
use crate::calibration::{Calibration, Reading as WinRate, Situation};
use crate::diagnose::adjudication::{Adjudication, Played, draw, games, resign};
use crate::language::Text;
use crate::text;

/// Finds the scores at which games may be resigned or drawn, and what that would have cost in the games of the input.
#[derive(Debug, Clone, Default)]
pub struct Thresholds {
    /// What is read. Every score counts, whatever is said of plies and windows: rules look at runs of scores.
    pub reading: Reading,
    /// How engines are fitted.
    pub fitting: Fitting,
    /// Win rates at which to adjudicate, in percent; empty for 1, 2 and 5.
    pub win_rates: Vec<f64>,
    /// Scores in a row, per player; empty for 1, 2, 3, 5 and 8.
    pub move_counts: Vec<u32>,
    /// The first move whose scores count for a draw; `None` for 40.
    pub draw_from: Option<u32>,
}

/// The first move whose scores count for a draw, unless another is given.
pub const DEFAULT_DRAW_FROM: u32 = 40;

/// Rules of adjudication.
#[derive(Debug, Clone, Default)]
pub struct Adjudicated {
    /// Games with scores.
    pub games: usize,
    /// The win rates in percent.
    pub percents: Vec<f64>,
    /// The calibrated engines, by name.
    pub calibrated: Vec<String>,
    /// The scores at which these engines win each percentage.
    pub engines: Vec<Losing>,
    /// Rules for resigning.
    pub resigning: Vec<AdjudicationRule>,
    /// Rules for draws.
    pub drawing: Vec<AdjudicationRule>,
    /// Why there are no others.
    pub notes: Vec<Text>,
}

/// The score at which an engine wins this percentage.
#[derive(Debug, Clone, Serialize)]
pub struct Losing {
    /// The engine.
    pub name: String,
    /// The percentage.
    pub percent: f64,
    /// The score in centipawns.
    pub score_cp: i64,
}

/// A rule with the option that match runners have for it.
#[derive(Debug, Clone, Serialize)]
pub struct AdjudicationRule {
    /// The win rate in percent.
    pub percent: f64,
    /// The option of fastchess and cutechess.
    pub option: String,
    /// What it would have done.
    pub rule: Adjudication,
}

/// Thresholds of engines that differ by more than this factor get a note.
const LARGEST_RATIO: f64 = 1.5;

/// A smaller share of results that follow no score, in percent, has no note.
const LAPSES_NAMED: f64 = 0.1;

/// A rule that may turn more than so many percent of the games is not recommended.
const MOST_TURNED: f64 = 2.0;

/// A recommended rule waits for so many scores in a row: one is easily wrong.
const FEWEST_SCORES: u32 = 3;

/// A recommended rule has ended so many games.
const FEWEST_ENDED: u64 = 20;

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

/// The negative score that wins this percentage. Where a share of the results follows no score, it is that of the other
/// results.
fn losing_score(calibration: &Calibration, percent: f64) -> Option<i64> {
    let limits = calibration.limits(WinRate::Field);
    let [low, high] = if calibration.model.kind.allows_lapses() { limits } else { [0.0, 1.0] };
    let rate = low + (high - low) * percent / 100.0;
    let score = calibration.score(WinRate::Field, rate, &Situation::default())?.floor() as i64;
    (score < 0).then_some(score)
}

/// What to know of the scores of calibrated engines: the results that follow no score, and the material or ply.
fn notes_on<'a>(engines: impl Iterator<Item = (&'a str, &'a Calibration)>) -> Vec<Text> {
    let (mut of_lapses, mut largest, mut notes) = (Vec::new(), 0_f64, Vec::new());
    for (name, calibration) in engines {
        let share = 100.0 * calibration.limits(WinRate::Field)[0];
        if calibration.model.kind.allows_lapses() && share >= LAPSES_NAMED {
            of_lapses.push(name);
            largest = largest.max(share);
        }
        if let Some((unit, [from, to])) = calibration.model.model.fitted_range() {
            let (unit, middle) = (unit.as_str(), from.midpoint(to));
            notes.push(text!("{name}: the scores are those at {unit} {middle}, the middle of {from} to {to}"));
        }
    }
    if !of_lapses.is_empty() {
        let named = list(&of_lapses);
        notes.push(text!(
            "{named}: up to {largest:.1}% of the results are wins that follow no score, such as those on time; the \
             scores are those that win so much of the other games (`terminations` board leaves out losses on time)"
        ));
    }
    notes
}

impl Adjudicated {
    /// The rules for resigning and for draws to write into the match runner: of those that would have turned no larger
    /// share of the games than they promise, the one that saves most moves.
    pub fn recommended(&self) -> [Option<&AdjudicationRule>; 2] {
        [&self.resigning, &self.drawing].map(|rules| {
            let keeps_its_word = |r: &&AdjudicationRule| {
                r.rule.ended >= FEWEST_ENDED && r.rule.share.is_some_and(|share| 100.0 * share.value <= r.percent)
            };
            let good = rules.iter().filter(|r| r.percent <= MOST_TURNED && r.rule.move_count >= FEWEST_SCORES);
            let good = good.filter(keeps_its_word);
            good.max_by(|a, b| a.rule.saved.total_cmp(&b.rule.saved))
        })
    }

    /// The JSON document.
    pub fn document(&self) -> Value {
        let Self { games, engines, resigning, drawing, notes, .. } = self;
        let [resign, draw] = self.recommended().map(|rule| rule.map(|rule| &rule.option));
        json!({
            "games": games, "engines": engines, "recommended": { "resign": resign, "draw": draw },
            "resign": resigning, "draw": drawing, "notes": notes,
        })
    }
}

impl Thresholds {
    /// Reads, calibrates and adjudicates.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read, a percentage is wrong, or no game has scores of its players.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Adjudicated>, Error> {
        if let Some(wrong) = self.win_rates.iter().find(|p| !(**p > 0.0 && **p < 50.0)) {
            return Err(text!("`win-rate`: {wrong} is not a percentage between 0 and 50, such as 2").into());
        }
        on_threads(self.reading.threads, || {
            // runs of scores need all of them
            let sampling =
                Sampling { from_ply: Some(1), window: None, all_positions: true, ..self.reading.sampling.clone() };
            let reading = Reading { sampling, ..self.reading.clone() };
            let fitting = Fitting { bands: 0, folds: None, ..self.fitting.clone() };
            let mut loaded = load(&reading, &fitting, input, progress)?;
            let results = calibrate(&mut loaded.value, &fitting.options(&reading, input));
            let played = games(&loaded.value);
            if played.is_empty() {
                return Err(text!(
                    "no game has scores of its players; give records of engine games with scores in their comments, \
                     or name the engine of an analysis with `annotator`"
                )
                .into());
            }
            let found = self.adjudicate(&results, &played);
            Ok(loaded.map(|_| found))
        })?
    }

    fn adjudicate(&self, results: &[EngineResult], played: &[Played<'_>]) -> Adjudicated {
        let percents = if self.win_rates.is_empty() { vec![1.0, 2.0, 5.0] } else { self.win_rates.clone() };
        let calibrated = || results.iter().filter_map(|r| Some((r.name.as_str(), r.calibration.as_ref()?)));
        let mut found = Adjudicated {
            games: played.len(),
            calibrated: calibrated().map(|(name, _)| name.to_owned()).collect(),
            percents,
            ..Adjudicated::default()
        };
        let others: Vec<&str> = results.iter().filter(|r| r.calibration.is_none()).map(|r| r.name.as_str()).collect();
        if !others.is_empty() {
            let named = list(&others);
            found
                .notes
                .push(text!("not calibrated, so without a score here: {named} (`evalcurve fit` has the reasons)"));
        }
        found.notes.extend(notes_on(calibrated()));
        for percent in found.percents.clone() {
            let of = |r: &EngineResult| {
                let score_cp = losing_score(r.calibration.as_ref()?, percent)?;
                Some(Losing { name: r.name.clone(), percent, score_cp })
            };
            let known: Vec<Losing> = results.iter().filter_map(of).collect();
            let is_known = |name: &str| known.iter().any(|losing| losing.name == name);
            let without: Vec<&str> = calibrated().map(|(name, _)| name).filter(|name| !is_known(name)).collect();
            if !without.is_empty() {
                let named = list(&without);
                found.notes.push(text!("{named}: no score below 0 wins {percent}%"));
            }
            self.resign(&known, percent, played, &mut found);
            found.engines.extend(known);
            self.draw(percent, played, &mut found);
        }
        found
    }

    fn counts(&self) -> &[u32] {
        if self.move_counts.is_empty() { &[1, 2, 3, 5, 8] } else { &self.move_counts }
    }

    /// Adds the rules for resigning at a win rate.
    fn resign(&self, known: &[Losing], percent: f64, played: &[Played<'_>], found: &mut Adjudicated) {
        let scores = || known.iter().map(|losing| -losing.score_cp);
        let (Some(smallest), Some(largest)) = (scores().min(), scores().max()) else {
            found.notes.push(text!("no threshold for resigning at a win rate of {percent}%"));
            return;
        };
        // rounded up to what people write
        let score_cp = i32::try_from((largest + 9) / 10 * 10).unwrap_or(i32::MAX);
        found.resigning.extend(self.counts().iter().map(|&count| {
            let option = format!("-resign movecount={count} score={score_cp}");
            AdjudicationRule { percent, option, rule: resign(played, count, score_cp) }
        }));
        let ratio = largest as f64 / smallest as f64;
        if ratio > LARGEST_RATIO {
            found.notes.push(text!(
                "the scores that win {percent}% differ between the engines by a factor of {ratio:.1}, and the options \
                 suit the largest; `evalcurve proxy` puts the engines on one scale"
            ));
        }
    }

    /// Adds the rules for draws at a share of games that were not drawn.
    fn draw(&self, percent: f64, played: &[Played<'_>], found: &mut Adjudicated) {
        let from = self.draw_from.unwrap_or(DEFAULT_DRAW_FROM).max(1);
        let mut without = Vec::new();
        for &count in self.counts() {
            let Some(rule) = draw(played, count, 2 * from - 1, percent / 100.0) else {
                without.push(count.to_string());
                continue;
            };
            let option = format!("-draw movenumber={from} movecount={count} score={}", rule.score_cp);
            found.drawing.push(AdjudicationRule { percent, option, rule });
        }
        if !without.is_empty() {
            let counts = without.join(", ");
            found
                .notes
                .push(text!("no threshold for draws turns at most {percent}% of the games at movecount {counts}"));
        }
    }
}
