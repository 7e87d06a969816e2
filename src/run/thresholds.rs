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

impl Adjudicated {
    /// The JSON document.
    pub fn document(&self) -> Value {
        let Self { games, engines, resigning, drawing, notes, .. } = self;
        json!({ "games": games, "engines": engines, "resign": resigning, "draw": drawing, "notes": notes })
    }
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
        let share = 100.0 * calibration.limits(WinRate::Field)[0];
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
             use `terminations` board, a larger `win-rate`, or `model` wdl"
        ));
    }
    if !others.is_empty() {
        let named = list(&others);
        notes.push(text!("{named}: no score below 0 wins {percent}%"));
    }
    notes
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
        for percent in found.percents.clone() {
            let of = |r: &EngineResult| {
                let score = r.calibration.as_ref()?.score(WinRate::Field, percent / 100.0, &Situation::default())?;
                Some(Losing { name: r.name.clone(), percent, score_cp: score.floor() as i64 })
            };
            let known: Vec<Losing> = results.iter().filter_map(of).filter(|losing| losing.score_cp < 0).collect();
            let without = calibrated().filter(|(name, _)| known.iter().all(|losing| losing.name != *name));
            found.notes.extend(why_without(without, percent));
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
