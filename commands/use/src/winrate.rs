//! Turns scores into win rates, and back, by calibration files.

use evalcurve_app::{Error, Input, Outcome, Progress, known};
use evalcurve_calibration::logistic::{logistic, logit};
use evalcurve_fit::calibration::{
    Calibration, Model, Reading, Score, Situation, WdlEstimate, control_seconds, permille,
};
use evalcurve_words::language::Text;
use evalcurve_words::text;

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
    /// Rating of both players, or its mean.
    pub rating: Option<f64>,
    /// Time control, see [`control_seconds`].
    pub control: Option<String>,
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
    /// Of a known engine, the standard deviation of the logarithm of its constant between events.
    pub elsewhere: Option<f64>,
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
    /// Of a known engine, the 95% interval in other events, between equals.
    pub elsewhere: Option<(f64, f64)>,
    /// The shares of wins, draws and losses, if the model separates draws.
    pub wdl: Option<WdlEstimate>,
}

impl Answer {
    /// Wins, draws and losses in permille; a mate leaves no draws.
    pub fn permille(&self) -> Option<[u16; 3]> {
        match &self.wdl {
            Some(wdl) => wdl.permille(),
            None if self.mate => permille([self.rate, 0.0, 1.0 - self.rate]),
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
            Score::Mate { .. } => Answer { rate, mate: true, interval: None, elsewhere: None, wdl: None },
            Score::Cp(cp) => Answer {
                rate,
                mate: false,
                interval: self.calibration.interval(self.reading, score, situation),
                elsewhere: self
                    .elsewhere
                    .filter(|_| self.reading == Reading::Equal)
                    .and_then(|spread| interval_elsewhere(&self.calibration, spread, cp, situation)),
                wdl: self.calibration.wdl(self.reading, cp, situation),
            },
        }
    }

    /// Whether the model separates draws.
    pub fn separates_draws(&self) -> bool {
        self.calibration.separates_draws()
    }

    /// What a model of people takes in place of what is not given, and what it does not know.
    ///
    /// # Errors
    /// Why it cannot tell what scores mean to such players.
    pub fn people_note(&self) -> Result<Option<Text>, Text> {
        let Model::People(people) = &self.calibration.model.model else { return Ok(None) };
        let engine = &self.calibration.engine.name;
        let (rating, seconds) = (self.situation.rating, self.situation.seconds);
        if let Some(rating) = rating.filter(|rating| !people.rating.contains(*rating)) {
            let (from, to) = (people.rating.from, people.rating.to);
            return Err(text!(
                "`rating` {rating}: cannot tell: the games of {engine} are of players of {from:.0} to {to:.0}; \
                 calibrate with games of such players"
            ));
        }
        match (&people.seconds, seconds) {
            (None, Some(_)) => Err(text!(
                "`control`: cannot tell: the games of {engine} have no time control; calibrate with games that have one"
            )),
            (Some(span), Some(seconds)) if !span.contains(seconds) => Err(text!(
                "`control`: cannot tell: players had {:.0} to {:.0} seconds in the games of {engine}, not \
                 {seconds:.0}; calibrate with games of such a control",
                span.from,
                span.to
            )),
            (span, _) => Ok(match (rating, seconds.or(span.is_none().then_some(0.0))) {
                (Some(_), Some(_)) => None,
                (None, _) => Some(text!(
                    "without `rating` the win rates of {engine} are those of players of {:.0}, the mean",
                    people.rating.middle
                )),
                (_, None) => span.map(|span| {
                    text!(
                        "without `control` the win rates of {engine} are those of {:.0} seconds a player, the mean",
                        span.middle
                    )
                }),
            }),
        }
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

/// Optimism in logits from which it is told, 2.5 points at an even score, where it is more than chance: two standard
/// errors of a share of the games at an even score, 2 / √games.
const TOLD_OPTIMISM: f64 = 0.1;

impl Converter {
    /// What a rate between equals leaves out: by how much scores promised more than came, whoever was to move.
    fn optimism_note(&self) -> Option<Text> {
        let Model::Joint(joint) = &self.calibration.model.model else { return None };
        let games = self.calibration.provenance.as_ref()?.games? as f64;
        let told = self.reading == Reading::Equal && joint.optimism.abs() >= TOLD_OPTIMISM.max(4.0 / games.sqrt());
        let rate = |cp: f64| self.calibration.win_rate_in(self.reading, Score::Cp(cp), &self.situation);
        let cp = self.calibration.constant()?.value;
        told.then(|| {
            let (name, optimism) = (&self.calibration.engine.name, joint.optimism);
            let (equal, came) = (rate(cp), rate(cp - optimism / joint.w1));
            text!(
                "{name}: in its games scores promised {optimism:+.2} logits more than came, whoever was to move. A \
                 rate between equals leaves that out: at {cp:.0} it is {equal:.2}, and in such games {came:.2} came; \
                 `field` takes it and the opponents in"
            )
        })
    }
}

/// The seconds of a time control, see [`control_seconds`].
///
/// # Errors
/// What may be written instead.
pub fn seconds_of(control: &str) -> Result<f64, Text> {
    control_seconds(control).ok_or_else(|| {
        text!(
            "`control`: '{control}' is no time control: write bullet, blitz, rapid, classical, or seconds with an \
             increment, as 180+2"
        )
    })
}

impl Winrate {
    /// Reads the calibration files.
    ///
    /// # Errors
    /// [`Error`] if a file cannot be read, or no model uses an option that is given.
    pub fn run(&self, input: &Input, _: &Progress) -> Result<Outcome<Vec<Converter>>, Error> {
        let control = self.control.as_deref().map(seconds_of);
        let (rating, seconds) = (self.rating, control.transpose()?);
        let situation = Situation { ply: self.ply, material: self.material, rating, seconds, ..Situation::default() };
        let situation = self.rating_difference.map_or(situation, |elo| situation.with_rating_difference(elo));
        let converter = |(_, calibration)| {
            let elsewhere = known::row(&calibration).map(|known| known.elsewhere());
            Converter { calibration, reading: self.reading, situation, elsewhere }
        };
        let converters: Vec<Converter> = input.calibrations()?.into_iter().map(converter).collect();
        if let Some(elo) = self.rating_difference.filter(|elo| !elo.is_finite()) {
            return Err(Error::Said(text!("`rating-difference`: {elo} is not a rating difference in Elo points")));
        }
        let mut notes = self.unused(&converters)?;
        notes.extend(known::notes(converters.iter().map(|c| &c.calibration)));
        notes.extend(converters.iter().filter_map(|converter| converter.stage_note(self.of_rows)));
        notes.extend(converters.iter().filter_map(Converter::optimism_note));
        for converter in &converters {
            notes.extend(converter.people_note()?);
        }
        Ok(Outcome::noted(converters, notes))
    }

    /// Notes for the options that some models do not use.
    fn unused(&self, converters: &[Converter]) -> Result<Vec<Text>, Error> {
        let uses = |calibration: &Calibration| {
            let needs = calibration.model.kind.needs();
            // 0 where the games of the fit have no ratings
            let has_w3 =
                calibration.model.model.parameters().iter().any(|(name, value)| *name == "w3" && *value != 0.0);
            [has_w3, needs.ply, needs.material, needs.level, needs.level]
        };
        let given = [
            ("rating-difference", self.rating_difference.is_some()),
            ("ply", self.ply.is_some()),
            ("material", self.material.is_some()),
            ("rating", self.rating.is_some()),
            ("control", self.control.is_some()),
        ];
        let mut notes = Vec::new();
        for (i, (option, _)) in given.into_iter().enumerate().filter(|(_, (_, given))| *given) {
            let without: Vec<&Calibration> =
                converters.iter().map(|c| &c.calibration).filter(|c| !uses(c)[i]).collect();
            match without.first() {
                Some(first) if without.len() == converters.len() && first.model.kind.knows_players() && i == 0 => {
                    return Err(text!(
                        "`{option}`: the games of {} have no ratings, so its file does not say what a difference \
                         changes",
                        first.engine.name
                    )
                    .into());
                }
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

/// The 95% interval of a win rate between equals in other events: that of the fit and the spread of the scale between
/// events, added in quadrature in logits.
fn interval_elsewhere(
    calibration: &Calibration,
    spread: f64,
    score_cp: f64,
    situation: &Situation,
) -> Option<(f64, f64)> {
    let (low, high) = calibration.interval(Reading::Equal, Score::Cp(score_cp), situation)?;
    let at = |score: f64| calibration.logit(Reading::Equal, score, situation);
    let (middle, stretch) = (at(score_cp), libm::exp(1.96 * spread));
    let (more, less) = (at(score_cp * stretch) - middle, at(score_cp / stretch) - middle);
    let up = (logit(high) - middle).hypot(more.max(less));
    let down = (middle - logit(low)).hypot(more.min(less));
    Some((logistic(middle - down), logistic(middle + up)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elsewhere_is_wider_on_both_sides_and_mirrors() {
        let known = known::find("Stockfish 2024").unwrap();
        let calibration = known.calibration().unwrap();
        let at = Situation::default();
        for score in [20.0, 100.0, 400.0] {
            let (low, high) = calibration.interval(Reading::Equal, Score::Cp(score), &at).unwrap();
            let (lower, higher) = interval_elsewhere(&calibration, known.elsewhere(), score, &at).unwrap();
            assert!(lower < low && higher > high, "{score}: {lower} {low} {high} {higher}");
            let (mirrored, _) = interval_elsewhere(&calibration, known.elsewhere(), -score, &at).unwrap();
            assert!((mirrored + higher - 1.0).abs() < 1e-9, "{mirrored} {higher}");
        }
    }
}
