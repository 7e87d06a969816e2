//! A record format, a model of the win rate and a rule of a program that only uses evalcurve's crates.

use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_calibration::{Model, ModelKind, OwnModel, Situation};
use evalcurve_fit::fit::{Case, FitError, LinearRow, regress};
use evalcurve_fit::validate::ModelFit;
use evalcurve_records::record::{Above, Cursor, Format, Game, GameError, GameHash, Reader, SkipReason, last_line_end};
use evalcurve_rules::{Columns, DecisionRule, Needs};

/// Lines such as `game A B 1-0 +35 -20 +80`: the players, the result, and the mover's score before each move.
pub struct ScoreLines;

/// The format that [`ScoreLines`] reads.
pub static SCORE_LINES: Format =
    Format::of_games::<ScoreLines>("score-lines", "lines of scores", "a game in each line");

impl Reader for ScoreLines {
    fn recognise(head: &[u8]) -> bool {
        head.starts_with(b"game ")
    }

    fn last_boundary(block: &[u8]) -> Option<usize> {
        last_line_end(block)
    }

    fn below(_: &Above) -> Self {
        Self
    }

    fn read_game(&mut self, block: &[u8], cursor: &mut Cursor, game: &mut Game) -> Result<bool, GameError> {
        let line = cursor.line;
        let Some(text) = cursor.next_line(block) else { return Ok(false) };
        let mut words = text.split(u8::is_ascii_whitespace).skip(1).map(String::from_utf8_lossy);
        game.line = line;
        game.names = [(); 2].map(|()| words.next().unwrap_or_default().into_owned());
        game.black_outcome = match words.next().as_deref() {
            Some("1-0") => Some(Outcome::Win),
            Some("0-1") => Some(Outcome::Loss),
            _ => return Err(GameError::at(SkipReason::UnknownResult, line, text)),
        };
        for (mover, score) in [Color::Black, Color::White].into_iter().cycle().zip(words) {
            let Ok(score) = score.parse::<i32>() else {
                return Err(GameError::at(SkipReason::BrokenMove, line, text));
            };
            game.plies += 1;
            game.add_score(mover, if mover == Color::Black { score } else { -score }, false, false, line);
        }
        let mut hash = GameHash::default();
        hash.bytes(text);
        game.identify(hash);
        Ok(true)
    }
}

/// Large scores count as less: log odds of `slope * asinh(score / 400) - level`.
#[derive(Debug)]
pub struct Bent;

/// The model, to be registered.
pub static BENT: Bent = Bent;

fn bent(score_cp: f64) -> f64 {
    (score_cp / 400.0).asinh()
}

impl OwnModel for Bent {
    fn name(&self) -> &'static str {
        "bent"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["slope", "level"]
    }

    fn logit(&self, parameters: &[f64], score_cp: f64, _: &Situation) -> f64 {
        parameters[0] * bent(score_cp) - parameters[1]
    }

    fn problem(&self, parameters: &[f64]) -> Option<String> {
        (parameters[0] <= 0.0).then(|| format!("the slope {} is not above 0", parameters[0]))
    }
}

impl Bent {
    /// Fits the model by maximum likelihood, with a covariance clustered by game.
    ///
    /// # Errors
    /// The samples give no fit.
    pub fn fit(kind: ModelKind, cases: &[Case]) -> Result<ModelFit, FitError> {
        let row = |case: &Case| LinearRow {
            game: case.game,
            result: case.outcome.value(),
            offset: 0.0,
            features: [(0, bent(f64::from(case.score_cp))), (1, -1.0)],
        };
        let found = regress(&cases.iter().map(row).collect(), &[1.0, 0.0])?;
        let covariance = found.covariance();
        let slope = found.at[0];
        let model = Model::own(&BENT, found.at).map_err(|_| FitError::SlopeNotPositive { w1: slope })?;
        ModelFit::of_cases(kind, model, covariance, cases)
    }
}

/// The highest win rate, with a bonus for each other voter that has the same move.
pub struct Backed {
    pub bonus: f64,
}

impl DecisionRule for Backed {
    fn name(&self) -> &'static str {
        "backed"
    }

    fn needs(&self) -> Needs {
        Needs { win_rates: true, ..Needs::NOTHING }
    }

    fn values(&self, votes: &Columns<'_>, values: &mut [f64]) {
        for (value, (own, rate)) in values.iter_mut().zip(votes.moves.iter().zip(votes.win_rates)) {
            let same = votes.moves.iter().filter(|other| *other == own).count() - 1;
            *value = rate + self.bonus * same as f64;
        }
    }
}
