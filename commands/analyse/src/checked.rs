//! Moves that look bad are searched again, deeper, before and after them, and the noise of both limits is measured.
//!
//! Where the engine would have played the move itself, nothing was lost by it: the position after it is worth what the
//! one before is. So what the two searches differ by there is noise, and it needs no search beside those of the game.

use std::collections::BTreeSet;

use evalcurve_engine::{Game, Limit};

use crate::games::{Cost, MISTAKE, Said, Series, WholeGame, costs};
use crate::{Answer, Outcome, Scored, Value};

/// How many times the limit before it each further search has, in nodes or time: the first looks at all that looks bad,
/// the others at what is left, for what was found among many moves is what erred most.
pub(crate) const DEEPER: [u32; 3] = [8, 8, 4];
/// The same in plies: engines here take 1.6 to 1.8 times as long for one more ply, so four are about 8 times.
const PLIES_OF_8: f64 = 4.0;

/// The limit that is so many times another in nodes or time, to two digits.
pub(crate) fn times(limit: Limit, factor: f64) -> Limit {
    let of = |n: u64| {
        let wanted = n as f64 * factor;
        let unit = 10_f64.powf(wanted.max(10.0).log10().floor() - 1.0);
        ((wanted / unit).ceil() * unit) as u64
    };
    let plies = PLIES_OF_8 * factor.ln() / 8_f64.ln();
    match limit {
        Limit::Nodes(n) => Limit::Nodes(of(n)),
        Limit::Depth(n) => Limit::Depth(n.saturating_add(plies.ceil().max(1.0) as u64)),
        Limit::MoveTime(n) => Limit::MoveTime(of(n)),
        Limit::Byoyomi(n) => Limit::Byoyomi(of(n)),
    }
}

/// What neighbouring searches differ by where the engine's own choice was played, in win rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    pub mean: f64,
    /// A fifth of the differences are larger, so that a tenth of apparent costs exceed the true ones by more.
    pub edge: f64,
    pub pairs: usize,
}

/// Pairs that measure noise.
const LEAST_PAIRS: usize = 10;
/// Mean win rates of pairs that count: where a game is decided, searches agree, and no move is a mistake.
const OPEN: std::ops::RangeInclusive<f64> = 0.1..=0.9;

impl Noise {
    /// `None` with too few pairs.
    fn of(mut differences: Vec<f64>) -> Option<Self> {
        differences.sort_by(f64::total_cmp);
        let pairs = differences.len();
        let edge = *differences.get(pairs * 4 / 5)?;
        let mean = differences.iter().sum::<f64>() / pairs as f64;
        (pairs >= LEAST_PAIRS).then_some(Self { mean, edge, pairs })
    }
}

/// The noise of one engine at its limit (0), or at the deeper one (1).
pub fn noise(games: &[WholeGame], series: &[Vec<Series>], engine: usize, level: usize) -> Option<Noise> {
    let mut all = Vec::new();
    for (game, series) in games.iter().zip(series) {
        let series = series.get(engine)?;
        all.extend((1..=game.moves.len()).filter_map(|ply| {
            let (before, after) = series.level(level, ply - 1).zip(series.level(level, ply))?;
            own_choice(game, before, ply).then(|| before.rates[0] - after.rates[0]).filter(|_| is_open(before, after))
        }));
    }
    Noise::of(all.into_iter().map(f64::abs).collect())
}

fn own_choice(game: &WholeGame, before: &Said, ply: usize) -> bool {
    before.best.is_some() && before.best.as_ref() == game.moves.get(ply - 1).map(|played| &played.words)
}

fn is_open(before: &Said, after: &Said) -> bool {
    OPEN.contains(&(0.5 * (before.rates[0] + after.rates[0])))
}

/// Moves of the engine's own choice that are searched again, too: they measure the noise of the deeper limit.
const CONTROLS: usize = 24;

/// The mistakes that a deeper search has left: game, and number of the move.
fn left<'a>(
    games: &'a [WholeGame],
    series: &'a [Vec<Series>],
    counts: impl Fn(usize, &Cost) -> bool + 'a,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    games.iter().zip(series).enumerate().flat_map(move |(index, (game, series))| {
        let left = costs(game, series).into_iter().filter(|cost| cost.is_mistake() && counts(index, cost));
        left.map(|cost| (index, cost.ply)).collect::<Vec<_>>()
    })
}

/// The positions around the mistakes that a deeper search has left.
pub fn to_confirm(
    games: &[WholeGame],
    series: &[Vec<Series>],
    counts: impl Fn(usize, &Cost) -> bool,
) -> Vec<(usize, usize)> {
    let around = |(index, ply)| [(index, ply - 1), (index, ply)];
    let mut all: Vec<_> = left(games, series, counts).flat_map(around).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A move that an engine would play in place of a mistake: game, moves before it, and the move.
pub type Better = (usize, usize, String);

/// The better moves in place of the mistakes that are left, by the last searches, of the positions `asked`. To an
/// announced mate there is no objection.
pub fn better(
    games: &[WholeGame],
    series: &[Vec<Series>],
    (asked, found): (&[(usize, usize)], &Outcome),
    counts: impl Fn(usize, &Cost) -> bool,
) -> Vec<Better> {
    let left: BTreeSet<_> = left(games, series, counts).map(|(game, ply)| (game, ply - 1)).collect();
    let of = |(place, answer): (&(usize, usize), &Answer)| match answer {
        Answer::Scored(Scored { value: Value::Cp(_), best, .. }) if left.contains(place) => {
            Some((place.0, place.1, best.clone()))
        }
        _ => None,
    };
    let all = found.engines.iter().flat_map(|engine| asked.iter().zip(&engine.answers).filter_map(of));
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Takes what searches after the better moves say: a position is worth no more than the one after its best move. A
/// search before a move sees one ply less of each line than one after it, and hopes for what the opponent refutes: of
/// 26 moves that were called mistakes without these searches, 3 were none (`docs/game-pages.md`), each for this reason.
pub fn take_better(games: &[WholeGame], series: &mut [Vec<Series>], better: &[Better], found: &Outcome) {
    for (number, engine) in found.engines.iter().enumerate() {
        for ((game, at, best), answer) in better.iter().zip(&engine.answers) {
            let (Some(series), game) = (series[*game].get_mut(number), &games[*game]) else { continue };
            let (side, after) = (game.positions[*at].side, game.answered(at + 1, answer, &series.scale));
            let said = series.deeper.last_mut().map(|(_, said)| &mut said[*at]);
            // another engine may have another choice
            let Some(said) = said.filter(|said| said.as_ref().is_some_and(|s| s.best == game.words(*at, best))) else {
                continue;
            };
            match (said.as_mut(), after) {
                (Some(before), Some(after)) if game.rate_of(side, &after) < game.rate_of(side, before) => {
                    (before.rates, before.score) = (after.rates, after.score);
                }
                (_, Some(_)) => {}
                // what was not searched is not confirmed
                (_, None) => *said = None,
            }
        }
    }
}

/// The positions that are searched again: game, and moves before it.
pub fn to_check(
    games: &[WholeGame],
    series: &[Vec<Series>],
    counts: impl Fn(usize, &Cost) -> bool,
) -> Vec<(usize, usize)> {
    let (mut found, mut controls) = (Vec::new(), Vec::new());
    for (index, (game, series)) in games.iter().zip(series).enumerate() {
        let bad = |cost: &&Cost| cost.cost >= MISTAKE && counts(index, cost);
        found.extend(costs(game, series).iter().filter(bad).map(|cost| (index, cost.ply)));
        let Some(first) = series.first() else { continue };
        controls.extend((1..=game.moves.len()).filter_map(|ply| {
            let (before, after) = first.said[ply - 1].as_ref().zip(first.said[ply].as_ref())?;
            (own_choice(game, before, ply) && is_open(before, after)).then_some((index, ply))
        }));
    }
    let step = controls.len().div_ceil(CONTROLS).max(1);
    found.extend(controls.into_iter().step_by(step));
    let around = |(game, ply): (usize, usize)| [(game, ply - 1), (game, ply)];
    let mut all: Vec<(usize, usize)> = found.into_iter().flat_map(around).collect();
    all.retain(|(game, at)| games[*game].positions[*at].has_moves);
    all.sort_unstable();
    all.dedup();
    all
}

/// Takes what the deeper searches say of these positions. A position without moves is as it was.
pub fn take(games: &[WholeGame], series: &mut [Vec<Series>], asked: &[(usize, usize)], found: &Outcome) {
    for (number, engine) in found.engines.iter().enumerate() {
        let limit = engine.limit.map(|limit| limit.to_string()).unwrap_or_default();
        for (game, series) in games.iter().zip(series.iter_mut()) {
            if let Some(series) = series.get_mut(number) {
                // mated, so that no search is needed
                let ended = |at: usize| series.said[at].clone().filter(|_| !game.positions[at].has_moves);
                series.deeper.push((limit.clone(), (0..series.said.len()).map(ended).collect()));
            }
        }
        for ((game, at), answer) in asked.iter().zip(&engine.answers) {
            let Some(series) = series[*game].get_mut(number) else { continue };
            let said = games[*game].answered(*at, answer, &series.scale);
            if let Some((_, deep)) = series.deeper.last_mut() {
                deep[*at] = said;
            }
        }
        // later searches are of positions that were chosen for what they said
        let edge = noise(games, series, number, 1).map(|noise| noise.edge);
        for all in series.iter_mut() {
            all.iter_mut().skip(number).take(1).for_each(|series| series.noise = edge);
        }
    }
}

/// What the noise of an engine's searches lets one see.
#[derive(Debug, Clone, PartialEq)]
pub struct Sight {
    pub engine: usize,
    /// At its limit, and at the deeper one.
    pub noise: [Option<Noise>; 2],
    /// Mistakes are hidden by noise.
    pub blind: bool,
    /// A limit with which the deeper search would see them, as its noise falls; `None` if that cannot be told.
    pub would_do: Option<Limit>,
}

/// The noise that would do: then a move that costs half as much again as a mistake is found.
const ENOUGH: f64 = 0.5 * MISTAKE;
/// No limit of more than so many times the one that was tried is named: noise need not fall on as it did.
const FURTHEST: f64 = 1000.0;

/// What the noise of each engine lets one see.
pub fn sights(games: &[WholeGame], series: &[Vec<Series>], limits: &[Limit]) -> Vec<Sight> {
    let of = |(engine, limit): (usize, &Limit)| {
        let noise = [0, 1].map(|level| noise(games, series, engine, level));
        let blind = noise[1].is_none_or(|deep| deep.edge >= MISTAKE);
        let would_do = noise[0].zip(noise[1]).filter(|_| blind).and_then(|(first, second)| {
            let falls = (first.edge / second.edge).ln() / f64::from(DEEPER[0]).ln();
            let factor = (second.edge / ENOUGH).powf(1.0 / falls);
            (falls > 0.0 && factor < FURTHEST).then(|| times(*limit, factor))
        });
        Sight { engine, noise, blind, would_do }
    };
    limits.iter().enumerate().map(of).collect()
}

/// Searches of one position that take as long as the further searches of so many moves, before it is known which.
pub(crate) fn extra(moves: usize, game: Game) -> f64 {
    let (mut times, mut sum) = (1.0, 2.0 * CONTROLS as f64 * f64::from(DEEPER[0]));
    for (factor, share) in DEEPER.into_iter().zip(LEFT[usize::from(game == Game::Chess)]) {
        times *= f64::from(factor);
        sum += 2.0 * share * moves as f64 * times;
    }
    sum
}

/// The share of moves that each search looks at, in shogi and in chess, with 10,000 nodes for the first: of 60 games of
/// two programs on floodgate, and of 12 of people on lichess, of whose many mistakes there is no last look.
const LEFT: [[f64; 3]; 2] = [[0.23, 0.025, 0.005], [0.11, 0.075, 0.0]];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::Scale;
    use crate::{Reason, Searched};
    use evalcurve_calibration::Score;
    use evalcurve_records::games_of;
    use evalcurve_records::record::find::Entry;
    use std::time::Duration;

    const MOVES: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O";

    fn game() -> WholeGame {
        let pgn = format!("[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n{MOVES} 1-0\n");
        let mut games = games_of(vec![Entry::in_memory("a.pgn".to_owned(), pgn.as_bytes())]).with_moves();
        WholeGame::new(games.next().unwrap().unwrap()).unwrap()
    }

    /// Says White's win rate, and as its choice the move that was played, or the first move of the game.
    fn said(game: &WholeGame, at: usize, rate: f64, own: bool) -> Option<Said> {
        let best = Some(game.moves[if own { at.min(15) } else { 0 }].words.clone());
        Some(Said { score: Score::Cp(0.0), rates: [rate; 3], best, depth: None, nodes: None })
    }

    /// An engine to which the fifth move, 3. Bb5, loses 30 points.
    fn searched(game: &WholeGame) -> Series {
        let of = |at: usize| said(game, at, if at < 5 { 0.5 } else { 0.2 }, at != 4);
        let said = (0..game.positions.len()).map(of).collect();
        let (limit, scale) = (Some("nodes 100".to_owned()), Scale::Assumed(272.0));
        Series { name: "E".into(), limit, own: None, scale, said, deeper: Vec::new(), noise: None, given_up: None }
    }

    #[test]
    fn what_looks_bad_is_a_mistake_where_the_deeper_search_says_so() {
        let games = [game()];
        let verdict = |deep: Option<[(f64, bool); 2]>, edge: f64| {
            let mut series = searched(&games[0]);
            if let Some([before, after]) = deep {
                let mut all = vec![None; games[0].positions.len()];
                all[4] = said(&games[0], 4, before.0, before.1);
                all[5] = said(&games[0], 5, after.0, after.1);
                (series.deeper, series.noise) = (vec![("nodes 800".to_owned(), all)], Some(edge));
            }
            let cost = costs(&games[0], &[series]).swap_remove(4);
            (cost.is_mistake(), cost.is_blunder())
        };
        let other = |before: f64, after: f64| Some([(before, false), (after, false)]);
        assert_eq!(verdict(None, 0.0), (false, false));
        assert_eq!(verdict(other(0.5, 0.2), 0.02), (true, true));
        assert_eq!(verdict(other(0.5, 0.2), 0.15), (true, false));
        assert_eq!(verdict(other(0.5, 0.2), 0.25), (false, false));
        assert_eq!(verdict(other(0.5, 0.45), 0.02), (false, false));
        // one of two engines would have played the move
        let mut other_one = searched(&games[0]);
        other_one.said[4] = said(&games[0], 4, 0.9, true);
        let mut sure = searched(&games[0]);
        sure.deeper = vec![("nodes 800".to_owned(), (0..17).map(|at| sure.said[at].clone()).collect())];
        (sure.noise, other_one.noise, other_one.deeper) = (Some(0.01), Some(0.01), sure.deeper.clone());
        let cost = costs(&games[0], &[sure.clone(), other_one]).swap_remove(4);
        assert!(cost.own_choice && cost.cost > MISTAKE && !cost.is_mistake());
        let blames = |series: &Series| costs(&games[0], std::slice::from_ref(series))[4].is_mistake();
        assert!(blames(&sure));
        // a mistake is what every search finds, with one limit before and after the move
        let mut twice = sure.clone();
        twice.deeper.push(("nodes 6400".to_owned(), vec![None; 17]));
        assert!(!blames(&twice));
        twice.deeper[1].1[4] = said(&games[0], 4, 0.5, false);
        assert!(!blames(&twice));
        twice.deeper[1].1[5] = said(&games[0], 5, 0.2, false);
        assert!(blames(&twice));
        // a cost that changes from search to search is as unsure as that
        twice.deeper[0].1[5] = said(&games[0], 5, 0.05, false);
        assert!(!costs(&games[0], &[twice.clone()])[4].is_blunder() && blames(&twice));
        twice.deeper[1].1[5] = said(&games[0], 5, 0.3, false);
        assert!(!blames(&twice));
        twice.deeper[1].1[5] = said(&games[0], 5, 0.05, false);
        assert!(blames(&twice));
        twice.deeper[0].1[4] = said(&games[0], 4, 0.5, true);
        assert!(!blames(&twice));
        // deeper, it would have played the move
        assert_eq!(verdict(Some([(0.5, true), (0.2, false)]), 0.02), (false, false));
    }

    #[test]
    fn an_engine_s_own_choice_costs_nothing_and_measures_the_noise() {
        let games = [game()];
        let mut one = searched(&games[0]);
        one.said[12] = said(&games[0], 12, 0.4, true);
        let series = [vec![one]];
        let all = costs(&games[0], &series[0]);
        // 7. Bb3 and 6... b5, around the position that was misjudged
        assert_eq!((all[11].cost, all[12].cost), (0.0, 0.0));
        assert!((all[4].cost - 0.3).abs() < 1e-9 && all.iter().filter(|cost| cost.cost != 0.0).count() == 1);
        let found = noise(&games, &series, 0, 0).unwrap();
        // of 15 pairs two differ by 20 points
        assert!((found.mean - 0.4 / 15.0).abs() < 1e-9 && found.pairs == 15 && found.edge == 0.0, "{found:?}");
        let asked = to_check(&games, &series, |_, cost| cost.side == evalcurve_calibration::types::Color::White);
        assert!([4, 5].iter().all(|at| asked.contains(&(0, *at))));
        // without a deeper search nothing is seen, and no limit can be named
        let sight = &sights(&games, &series, &[Limit::Nodes(100)])[0];
        assert!(sight.blind && sight.would_do.is_none());
    }

    #[test]
    fn a_position_is_worth_no_more_than_the_one_after_its_best_move() {
        let games = [game()];
        let scored = |cp, best: &str| {
            let (declared, depth, nodes, time_us, lines) = (None, None, None, 0, Vec::new());
            Answer::Scored(Scored {
                value: Value::Cp(cp),
                best: best.to_owned(),
                declared,
                depth,
                nodes,
                time_us,
                lines,
            })
        };
        let outcome = |answers: Vec<Answer>| {
            let engine = Searched { name: "E".into(), limit: None, answers, given_up: None };
            let (notes, engine_time, time) = (Vec::new(), Duration::ZERO, Duration::ZERO);
            Outcome { positions: 0, engines: vec![engine], notes, searches: 0, engine_time, time }
        };
        let mut one = searched(&games[0]);
        let mut deep = vec![None; 17];
        deep[4] = said(&games[0], 4, 0.5, false).map(|s| Said { best: games[0].words(4, "d2d4"), ..s });
        deep[5] = said(&games[0], 5, 0.2, false);
        (one.deeper, one.noise) = (vec![("nodes 800".to_owned(), deep)], Some(0.02));
        let before = outcome(vec![scored(0, "d2d4"), scored(0, "d7d6")]);
        let better = better(&games, &[vec![one.clone()]], (&[(0, 4), (0, 5)], &before), |_, _| true);
        assert_eq!(better, [(0, 4, "d2d4".to_owned())]);
        let costs_after = |answer: Answer| {
            let mut series = [vec![one.clone()]];
            take_better(&games, &mut series, &better, &outcome(vec![answer]));
            let cost = costs(&games[0], &series[0]).swap_remove(4);
            (cost.is_mistake(), (100.0 * cost.cost).round())
        };
        assert_eq!(costs_after(scored(0, "e5d4")), (true, 30.0));
        // Black is at 75% after 3. d4, and did not lose by 3. Bb5 what the search before it promised
        assert_eq!(costs_after(scored(299, "e5d4")), (false, 5.0));
        assert!(!costs_after(Answer::failed(Reason::Crashed, "")).0);
    }

    #[test]
    fn limits_that_would_do_are_round() {
        assert_eq!(times(Limit::Nodes(1_000), 12.34), Limit::Nodes(13_000));
        assert_eq!(times(Limit::Depth(6), 8.0), Limit::Depth(10));
        assert_eq!(times(Limit::Byoyomi(100), 8.0), Limit::Byoyomi(800));
        assert_eq!(times(Limit::Depth(u64::MAX), 4.0), Limit::Depth(u64::MAX));
    }

    #[test]
    fn a_fifth_of_the_differences_is_beyond_the_edge() {
        let noise = Noise::of((0..100).map(|n| f64::from(n) / 100.0).collect()).unwrap();
        assert_eq!((noise.edge, noise.pairs), (0.8, 100));
        assert!((noise.mean - 0.495).abs() < 1e-9 && Noise::of(vec![0.1; 9]).is_none());
    }
}
