//! The positions of samples, for engines that analyse them.

use std::collections::HashMap;

use super::{GameInfo, Sample};
use crate::record::{Played, ScoredPosition};

/// How the positions of samples are reached, if [`SamplingOptions::unscored`](super::SamplingOptions) is set.
#[derive(Debug, Clone, Default)]
pub struct Positions {
    /// The moves of each game, by its identity, and the plies before its first move.
    games: HashMap<u64, (Played, u32)>,
    /// The positions of training data, by the identity of the game, ply and window.
    single: HashMap<(u64, u32, u32), String>,
}

impl Positions {
    pub(super) fn add_game(&mut self, id: u64, played: Played, plies_before: u32) {
        self.games.entry(id).or_insert((played, plies_before));
    }

    pub(super) fn add_single(&mut self, id: u64, ply: u32, window: u32, sfen: String) {
        self.single.insert((id, ply, window), sfen);
    }

    pub(super) fn add(&mut self, other: Self) {
        self.games.extend(other.games);
        self.single.extend(other.single);
    }

    /// The start position (`None` for the standard one) and the moves that lead to the position of a sample.
    pub fn of<'a>(&'a self, game: &GameInfo, sample: &Sample) -> Option<(Option<&'a str>, &'a [String])> {
        if let Some((played, before)) = self.games.get(&game.id) {
            if !played.positions.is_empty() {
                let ply = sample.ply.checked_sub(*before)?;
                let (.., text) = played.positions.iter().find(|(at, ..)| *at == ply)?;
                return Some((Some(text.as_str()), &[]));
            }
            let moves = played.moves.get(..sample.ply.checked_sub(before + 1)? as usize)?;
            return Some((played.start.as_deref(), moves));
        }
        self.single.get(&(game.id, sample.ply, sample.window)).map(|sfen| (Some(sfen.as_str()), &[][..]))
    }
}

/// Every position of a game in which a move was played, or every single one, as a draw takes them. They have no scores.
pub(super) fn every_position(played: &Played, line: u64) -> Vec<ScoredPosition> {
    let color = |ply: u32| if ply % 2 == 1 { played.first } else { played.first.opponent() };
    let position =
        |(ply, color)| ScoredPosition { ply, color, score_cp: 0, mate: false, analysis: true, declared: None, line };
    let moves = (1..=played.moves.len() as u32).map(|ply| (ply, color(ply)));
    moves.chain(played.positions.iter().map(|(ply, color, _)| (*ply, *color))).map(position).collect()
}

/// The name of the engine that is to score the positions.
pub(super) const TO_BE_SCORED: &str = "to be analysed";

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Color;

    #[test]
    fn every_move_has_a_position_and_a_side() {
        let played = |first| {
            let mut played = Played::default();
            (played.first, played.moves) = (first, vec![String::new(); 3]);
            played
        };
        let plies =
            |first| every_position(&played(first), 7).iter().map(|p| (p.ply, p.color)).collect::<Vec<(u32, Color)>>();
        let (black, white) = (Color::Black, Color::White);
        assert_eq!(plies(black), [(1, black), (2, white), (3, black)]);
        assert_eq!(plies(white), [(1, white), (2, black), (3, white)]);
    }
}
