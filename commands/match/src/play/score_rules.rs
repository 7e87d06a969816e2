//! Games that the scores of the engines end: resigning and draws, counted as fastchess counts them.

use evalcurve_calibration::types::{Color, Termination};
use evalcurve_calibration::{Reading, Score, Situation};
use evalcurve_engine::{Board, CHESS_SCALE_CP, EngineConfig, Game};
use evalcurve_fit::fit::CP_PER_LOGIT;

use super::ending::End;
use super::tournament::{DrawRule, ResignRule, Tournament};

/// The rules with what they have seen of a game.
#[derive(Debug)]
pub(crate) struct ScoreRules {
    resign: Option<ResignRule>,
    draw: Option<DrawRule>,
    is_chess: bool,
    /// Scores in a row of each side that is lost.
    lost: [u32; 2],
    /// Scores in a row of both sides that say that one of them is lost, and that the game is drawn.
    decided: u32,
    drawn: u32,
}

impl ScoreRules {
    pub(crate) fn new(tournament: &Tournament) -> Self {
        let Tournament { resign, draw, .. } = *tournament;
        Self { resign, draw, is_chess: tournament.game == Game::Chess, lost: [0; 2], decided: 0, drawn: 0 }
    }

    /// Adds the score of a move after which the board is as it is. Returns the end of the game, if this is one.
    pub(crate) fn add(
        &mut self,
        side: Color,
        engine: &EngineConfig,
        score: Option<Score>,
        board: &Board,
    ) -> Option<End> {
        if self.resign.is_none() && self.draw.is_none() {
            return None;
        }
        let cp = score.map(|score| self.on_common_scale(engine, score));
        let (finished, starts_anew) = (board.finished_moves(), self.is_chess && board.quiet_plies() == 0);
        let (resigned, drawn) = (self.resigned(side, cp, finished), self.drawn(cp, finished, starts_anew));
        resigned.or(drawn)
    }

    /// The score in centipawns, those of a calibrated engine on the scale of all of them; a mate is infinite.
    fn on_common_scale(&self, engine: &EngineConfig, score: Score) -> f64 {
        let classified = engine.calibration.as_ref().map_or(score, |calibration| calibration.classify_score(score));
        match (classified, &engine.calibration) {
            (Score::Mate { wins: true, .. }, _) => f64::INFINITY,
            (Score::Mate { wins: false, .. }, _) => f64::NEG_INFINITY,
            (Score::Cp(cp), Some(calibration)) => {
                let scale_cp = if self.is_chess { CHESS_SCALE_CP } else { CP_PER_LOGIT };
                scale_cp * calibration.logit(Reading::Equal, cp, &Situation::default())
            }
            (Score::Cp(cp), None) => cp,
        }
    }

    fn resigned(&mut self, side: Color, cp: Option<f64>, finished: u32) -> Option<End> {
        let ResignRule { score, moves, two_sided, from_move } = self.resign?;
        let score = f64::from(score);
        let count = |seen: bool, before: u32| if seen { before.saturating_add(1) } else { 0 };
        let lost = &mut self.lost[side.index()];
        *lost = count(cp.is_some_and(|cp| cp <= -score), *lost);
        self.decided = count(cp.is_some_and(|cp| cp.abs() >= score), self.decided);
        let enough = if two_sided { self.decided >= moves.saturating_mul(2) } else { *lost >= moves };
        let is_behind = cp.is_some_and(|cp| cp < 0.0);
        let resigns = enough && is_behind && finished >= from_move;
        resigns.then(|| End::won(Termination::Adjudication, side.opponent()))
    }

    fn drawn(&mut self, cp: Option<f64>, finished: u32, starts_anew: bool) -> Option<End> {
        let DrawRule { score, moves, from_move } = self.draw?;
        let before = if starts_anew { 0 } else { self.drawn };
        let near = cp.is_some_and(|cp| cp.abs() <= f64::from(score));
        self.drawn = if near { before.saturating_add(1) } else { 0 };
        let drawn = self.drawn >= moves.saturating_mul(2) && finished >= from_move;
        drawn.then(|| End::draw(Termination::Adjudication))
    }
}

#[cfg(test)]
mod tests {
    use evalcurve_calibration::Calibration;

    use super::*;

    #[test]
    fn the_score_of_a_calibrated_engine_is_that_of_the_common_scale() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/calibrations/zshogi.json");
        let calibration = Calibration::read(file).unwrap();
        let rate = calibration.win_rate_in(Reading::Equal, Score::Cp(1000.0), &Situation::default());
        let calibrated = EngineConfig { calibration: Some(calibration), ..EngineConfig::default() };
        let rules = |is_chess| ScoreRules { resign: None, draw: None, is_chess, lost: [0; 2], decided: 0, drawn: 0 };
        let at = |is_chess, cp| rules(is_chess).on_common_scale(&calibrated, Score::Cp(cp));
        // 600 in shogi and 271.6 in chess win 73% of the games
        let rate_at = |cp: f64, scale: f64| 1.0 / (1.0 + (-cp / scale).exp());
        assert!((0.55..0.7).contains(&rate) && (rate_at(at(false, 1000.0), 600.0) - rate).abs() < 1e-9);
        assert!((rate_at(at(true, 1000.0), 271.6) - rate).abs() < 1e-9 && at(false, -1000.0) < -200.0);
        let plain = rules(false).on_common_scale(&EngineConfig::default(), Score::Cp(1938.0));
        assert!(plain.total_cmp(&1938.0).is_eq());
    }
}
