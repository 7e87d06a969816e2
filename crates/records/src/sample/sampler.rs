//! Draws the samples of one game.

use evalcurve_calibration::types::{Color, Outcome, Termination};
use evalcurve_words::random;

use super::SamplingOptions;
use super::positions::TO_BE_SCORED;
use crate::record::{Game, ScoredPosition, SkipReason};

/// Checks whether a game can give samples, and returns its outcome for Black.
///
/// # Errors
/// The reason to skip the game.
pub fn usable(game: &Game, options: &SamplingOptions) -> Result<Outcome, SkipReason> {
    if game.plies == 0 {
        return Err(SkipReason::NoMoves);
    }
    match game.termination {
        Some(ending) if options.terminations.contains(ending) => {}
        Some(Termination::Abnormal) => return Err(SkipReason::Abnormal),
        Some(Termination::Interrupted) => return Err(SkipReason::Interrupted),
        // all other endings are a filter, which tables have as well
        _ => {}
    }
    if game.scores.is_empty() {
        return Err(SkipReason::NoScores);
    }
    let outcome = game.black_outcome.ok_or(SkipReason::UnknownResult)?;
    if outcome == Outcome::Draw && options.drop_draws {
        return Err(SkipReason::Draw);
    }
    if options.unscored {
        // the scores are still to come
    } else if options.annotator.is_some() {
        if !game.scores.iter().any(|s| s.analysis) {
            return Err(SkipReason::NoScores);
        }
    } else if game.annotator.is_empty() && game.scores.iter().all(|s| s.analysis) {
        return Err(SkipReason::AnalysisWithoutEngine);
    }
    Ok(outcome)
}

/// The engine whose analysis is sampled; `None` if the scores of the players are.
pub fn annotator<'a>(game: &'a Game, options: &'a SamplingOptions) -> Option<&'a str> {
    match &options.annotator {
        _ if options.unscored => Some(TO_BE_SCORED),
        // the members of a council have names
        Some(name) if !game.votes => Some(name),
        _ => game.scores.iter().all(|s| s.analysis).then_some(game.annotator.as_str()),
    }
}

/// A drawn position.
#[derive(Debug, Clone, Copy)]
pub struct DrawnScore {
    /// The position, with the ply of the game.
    pub position: ScoredPosition,
    /// Its window, from 0.
    pub window: u32,
    /// The opponent's score of the next position, in its own view, where it gave one that is no mate.
    pub reply_cp: Option<i32>,
    /// The material before the move, once it is counted.
    pub material: Option<u16>,
}

/// The positions that can be drawn. The buffers are reused from game to game.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Indices into [`Game::scores`], by colour.
    eligible: [Vec<u32>; 2],
}

/// Draws one position per side and window. Appends it in the order of play.
///
/// The draw is uniform over the scored positions of that side in the window, mates included. It takes the scores of the
/// players or, if there is an [`annotator`], those of the analysis.
pub fn draw(game: &Game, options: &SamplingOptions, scratch: &mut Scratch, out: &mut Vec<DrawnScore>) {
    let from = out.len();
    let window_plies = u64::from(options.window.max(1));
    let before = game.plies_before;
    let ply_of = |s: &ScoredPosition| s.ply.saturating_add(before);
    let analysis = annotator(game, options).is_some();
    scratch.eligible.iter_mut().for_each(Vec::clear);
    for (index, position) in (0..).zip(&game.scores) {
        if ply_of(position) >= options.from_ply && position.analysis == analysis {
            scratch.eligible[position.color.index()].push(index);
        }
    }
    let position = |index: &u32| game.scores.get(*index as usize);
    for color in [Color::Black, Color::White] {
        // positions are in the order of play, so the positions of a window are adjacent
        let mut rest = scratch.eligible[color.index()].as_slice();
        while let Some(first) = rest.first().and_then(position) {
            let window = u64::from(ply_of(first) - options.from_ply) / window_plies;
            let next_window = u64::from(options.from_ply) + (window + 1) * window_plies;
            let length =
                rest.partition_point(|index| position(index).is_some_and(|s| u64::from(ply_of(s)) < next_window));
            let (in_window, later) = rest.split_at(length);
            let keys = [options.seed, game.id, color.index() as u64, window];
            let chosen = in_window.get(random::below(length as u64, &keys) as usize);
            out.extend(chosen.and_then(|index| Some((index, position(index)?))).map(|(index, s)| {
                let next = position(&(index + 1)).filter(|next| !analysis && replies(next, s));
                DrawnScore {
                    position: ScoredPosition { ply: ply_of(s), ..*s },
                    // a window number fits, because a ply does
                    window: window as u32,
                    reply_cp: next.map(|next| next.score_cp),
                    material: None,
                }
            }));
            rest = later;
        }
    }
    out[from..].sort_unstable_by_key(|drawn| drawn.position.ply);
}

/// Whether a score is the opponent's of the next position, and no mate.
fn replies(next: &ScoredPosition, to: &ScoredPosition) -> bool {
    next.ply == to.ply + 1 && next.color != to.color && !next.analysis && !next.mate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(id: u64, plies: u32) -> Game {
        let scores = (1..=plies)
            .map(|ply| ScoredPosition {
                ply,
                color: if ply % 2 == 1 { Color::Black } else { Color::White },
                score_cp: ply as i32,
                mate: false,
                analysis: false,
                declared: None,
                line: u64::from(ply),
            })
            .collect();
        Game { id, plies, scores, black_outcome: Some(Outcome::Win), ..Game::default() }
    }

    fn drawn(game: &Game, options: &SamplingOptions) -> Vec<(u32, u32, Color)> {
        let mut out = Vec::new();
        draw(game, options, &mut Scratch::default(), &mut out);
        out.iter().map(|drawn| (drawn.position.ply, drawn.window, drawn.position.color)).collect()
    }

    #[test]
    fn one_position_a_window_and_side() {
        let options = SamplingOptions::default();
        let samples = drawn(&game(1, 149), &options);
        assert_eq!(samples.len(), 4);
        for (ply, window, color) in samples {
            assert!((30 + 60 * window..90 + 60 * window).contains(&ply));
            assert_eq!(color == Color::Black, ply % 2 == 1);
        }
        assert!(drawn(&game(1, 29), &options).is_empty());
        assert_eq!(drawn(&game(1, 30), &options), [(30, 0, Color::White)]);
    }

    #[test]
    fn a_sample_knows_the_reply_of_the_opponent() {
        let replies = |game: &Game| -> Vec<(u32, Option<i32>)> {
            let mut out = Vec::new();
            draw(game, &SamplingOptions::default(), &mut Scratch::default(), &mut out);
            out.iter().map(|drawn| (drawn.position.ply, drawn.reply_cp)).collect()
        };
        // the score is the ply
        let all = game(1, 149);
        assert!(replies(&all).iter().all(|(ply, reply)| *reply == (*ply < 149).then_some(*ply as i32 + 1)));
        let mut mates = all.clone();
        mates.scores.iter_mut().filter(|s| s.ply % 2 == 0).for_each(|s| s.mate = true);
        assert!(replies(&mates).iter().all(|(ply, reply)| reply.is_some() == (ply % 2 == 0 && *ply < 149)));
        let mut one_side = all.clone();
        one_side.scores.retain(|s| s.ply % 2 == 0);
        assert!(!replies(&one_side).is_empty() && replies(&one_side).iter().all(|(_, reply)| reply.is_none()));
    }

    #[test]
    fn the_draw_is_uniform_and_depends_on_game_and_seed() {
        let options = SamplingOptions::default();
        let mut counts = [0u32; 30];
        for id in 0..30_000 {
            let samples = drawn(&game(id, 89), &options);
            let Some((ply, ..)) = samples.iter().find(|(_, _, c)| *c == Color::Black) else { continue };
            counts[(*ply as usize - 31) / 2] += 1;
        }
        // 1,000 expected, standard deviation 31
        assert!(counts.iter().all(|&c| (850..1150).contains(&c)), "{counts:?}");
        let other = SamplingOptions { seed: 7, ..options.clone() };
        assert!((0..50).any(|id| drawn(&game(id, 89), &options) != drawn(&game(id, 89), &other)));
        assert_eq!(drawn(&game(5, 89), &options), drawn(&game(5, 89), &options));
    }

    #[test]
    fn reasons_to_skip() {
        let options = SamplingOptions::default();
        let check = |change: fn(&mut Game), reason| {
            let mut g = game(1, 40);
            change(&mut g);
            assert_eq!(usable(&g, &options), Err(reason));
        };
        check(|g| g.plies = 0, SkipReason::NoMoves);
        check(|g| g.termination = Some(Termination::Abnormal), SkipReason::Abnormal);
        check(|g| g.termination = Some(Termination::Interrupted), SkipReason::Interrupted);
        check(|g| g.scores.clear(), SkipReason::NoScores);
        check(|g| g.black_outcome = None, SkipReason::UnknownResult);
        check(|g| g.scores.iter_mut().for_each(|s| s.analysis = true), SkipReason::AnalysisWithoutEngine);
        let drop = SamplingOptions { drop_draws: true, ..options.clone() };
        let mut drawn_game = game(1, 40);
        drawn_game.black_outcome = Some(Outcome::Draw);
        assert_eq!(usable(&drawn_game, &drop), Err(SkipReason::Draw));
        assert_eq!(usable(&drawn_game, &options), Ok(Outcome::Draw));
    }

    #[test]
    fn an_analysis_counts_for_its_engine_alone() {
        let options = SamplingOptions::default();
        let named = SamplingOptions { annotator: Some("x".to_owned()), ..options.clone() };
        let players = game(1, 89);
        assert_eq!((annotator(&players, &options), annotator(&players, &named)), (None, Some("x")));
        assert_eq!(usable(&players, &named), Err(SkipReason::NoScores));
        assert!(drawn(&players, &named).is_empty());

        let mut analysed = players.clone();
        analysed.scores.iter_mut().for_each(|s| s.analysis = true);
        assert_eq!(usable(&analysed, &named), Ok(Outcome::Win));
        // the draw is that of the players' scores
        assert_eq!(drawn(&analysed, &named), drawn(&players, &options));
        analysed.annotator = "y".to_owned();
        assert_eq!(usable(&analysed, &options), Ok(Outcome::Win));
        assert_eq!((annotator(&analysed, &options), annotator(&analysed, &named)), (Some("y"), Some("x")));
        // the players' own scores come first
        analysed.scores[40].analysis = false;
        assert_eq!(annotator(&analysed, &options), None);
        assert_eq!(drawn(&analysed, &options), [(41, 0, Color::Black)]);
    }

    #[test]
    fn the_number_of_the_first_move_moves_the_windows() {
        let later = Game { plies_before: 12, ..game(1, 20) };
        let samples = drawn(&later, &SamplingOptions::default());
        assert!(samples.iter().all(|(ply, window, _)| (30..33).contains(ply) && *window == 0));
        assert_eq!(samples.len(), 2);
    }
}
