//! Turns scores into win rates, and back, by calibration files.

use super::{Error, Input, Outcome, Progress};
use crate::calibration::{Calibration, ModelKind, Reading, Score, Situation, WdlEstimate, permille};
use crate::language::Text;
use crate::text;

/// Makes a converter of each calibration file. An option that no model uses is an error: an effect would be expected.
#[derive(Debug, Clone, Default)]
pub struct Winrate {
    /// Whether win rates are those between equals.
    pub reading: Reading,
    /// Own rating minus the opponent's, in Elo points.
    pub rating_difference: Option<f64>,
    /// Number of the move to be made.
    pub ply: Option<u32>,
    /// Material of both sides.
    pub material: Option<u32>,
    /// The scores are rows of a table with plies and material of their own.
    pub of_rows: bool,
}

/// A calibration with the situation and reading to use.
#[derive(Debug, Clone)]
pub struct Converter {
    pub calibration: Calibration,
    /// Whether win rates are those between equals.
    pub reading: Reading,
    /// What is known of the positions.
    pub situation: Situation,
}

/// What one calibration makes of one score.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The win rate.
    pub rate: f64,
    /// Whether the score is a mate.
    pub mate: bool,
    /// The 95% interval of the win rate.
    pub interval: Option<(f64, f64)>,
    /// The shares of wins, draws and losses, if the model separates draws.
    pub wdl: Option<WdlEstimate>,
}

impl Answer {
    /// Wins, draws and losses in permille; a mate leaves no draws.
    pub fn permille(&self) -> Option<[u16; 3]> {
        match &self.wdl {
            Some(wdl) => Some(wdl.permille()),
            None if self.mate => Some(permille([self.rate, 0.0, 1.0 - self.rate])),
            None => None,
        }
    }
}

impl Converter {
    /// The win rate of a score.
    pub fn answer(&self, score: Score) -> Answer {
        self.answer_in(score, &self.situation)
    }

    /// The win rate of a score in another situation.
    pub(crate) fn answer_in(&self, score: Score, situation: &Situation) -> Answer {
        let score = self.calibration.classify_score(score);
        let rate = self.calibration.win_rate_in(self.reading, score, situation);
        match score {
            Score::Mate { .. } => Answer { rate, mate: true, interval: None, wdl: None },
            Score::Cp(cp) => Answer {
                rate,
                mate: false,
                interval: self.calibration.interval(self.reading, cp, situation),
                wdl: self.calibration.wdl(cp, situation),
            },
        }
    }

    /// Whether the model separates draws.
    pub fn separates_draws(&self) -> bool {
        self.calibration.wdl_model().is_some()
    }

    /// What a model by ply or material reads in place of what it was given: the end of its range beyond it, and the
    /// middle without a value.
    fn stage_note(&self, of_rows: bool) -> Option<Text> {
        let (unit, [from, to]) = self.calibration.model.model.fitted_range()?;
        let (engine, word) = (&self.calibration.engine.name, unit.as_str());
        match unit.of(&self.situation) {
            Some(given) if given < from || given > to => Some(text!(
                "`{word}` {given} counts as {}: the games of {engine} cover {from} to {to}",
                given.clamp(from, to)
            )),
            None if !of_rows => Some(text!(
                "without `{word}` the win rates of {engine} are those of {word} {}, the middle of {from} to {to}",
                from.midpoint(to)
            )),
            _ => None,
        }
    }
}

impl Winrate {
    /// Reads the calibration files.
    ///
    /// # Errors
    /// [`Error`] if a file cannot be read, or no model uses an option that is given.
    pub fn run(&self, input: &Input, _: &Progress) -> Result<Outcome<Vec<Converter>>, Error> {
        let situation = Situation { ply: self.ply, material: self.material, ..Situation::default() };
        let situation = self.rating_difference.map_or(situation, |elo| situation.with_rating_difference(elo));
        let converter = |(_, calibration)| Converter { calibration, reading: self.reading, situation };
        let converters: Vec<Converter> = input.calibrations()?.into_iter().map(converter).collect();
        if let Some(elo) = self.rating_difference.filter(|elo| !elo.is_finite()) {
            return Err(Error::Said(text!("`rating-difference`: {elo} is not a rating difference in Elo points")));
        }
        let mut notes = self.unused(&converters)?;
        notes.extend(converters.iter().filter_map(|converter| converter.stage_note(self.of_rows)));
        Ok(Outcome { notes, ..Outcome::from(converters) })
    }

    /// Notes for the options that some models do not use.
    fn unused(&self, converters: &[Converter]) -> Result<Vec<Text>, Error> {
        let uses = |kind: ModelKind| {
            let needs = kind.needs();
            [kind.knows_players(), needs.ply, needs.material]
        };
        let given = [
            ("rating-difference", self.rating_difference.is_some()),
            ("ply", self.ply.is_some()),
            ("material", self.material.is_some()),
        ];
        let mut notes = Vec::new();
        for (i, (option, _)) in given.into_iter().enumerate().filter(|(_, (_, given))| *given) {
            let without: Vec<&Calibration> =
                converters.iter().map(|c| &c.calibration).filter(|c| !uses(c.model.kind)[i]).collect();
            match without.first() {
                Some(first) if without.len() == converters.len() => {
                    return Err(text!(
                        "`{option}`: the model of {}, {}, does not use it; calibrate with another `model`",
                        first.engine.name,
                        first.model.kind
                    )
                    .into());
                }
                Some(first) => {
                    notes.push(text!("`{option}` has no effect on {}", first.engine.name));
                }
                None => {}
            }
        }
        Ok(notes)
    }
}
