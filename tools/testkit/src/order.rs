//! Invented councils: do calibrations recover the order of the win rates that was planted?
//!
//! A council has three engines with scales of their own, which met opponents of very different strength. In a position
//! worth A to the side to move, each member sees a move whose worth is near A. The council should follow the member
//! that sees the best one. By the field reading it follows the member that met weaker opponents.

use std::collections::BTreeMap;

use evalcurve_calibration::types::Outcome;
use evalcurve_fit::fit::{Case, FitOptions, Model, ModelKind, Reading, Sigmoid, Situation, fit_engines};
use evalcurve_words::random;
use rayon::prelude::*;

const KEY: u64 = 0x6f72_6465_7200_0001;
/// Members of a council.
const MEMBERS: usize = 3;
/// Games of each member.
const GAMES: u64 = 300;
/// Decisions of each council.
const DECISIONS: u64 = 20;

/// What a scale is worth over many councils.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Recovered {
    /// Decisions.
    pub decisions: u64,
    /// Decisions that follow the member with the best move.
    pub right: u64,
    /// Decisions that follow the member whose opponents were weakest.
    pub easiest: u64,
}

/// The shares of right decisions by some models and readings, over invented councils. The result does not depend on
/// the number of threads.
pub fn recovered(councils: u64, seed: u64, scales: &[(ModelKind, Reading)]) -> Vec<Recovered> {
    let each: Vec<Vec<Recovered>> = (0..councils).into_par_iter().map(|council| one(council, seed, scales)).collect();
    let sum = |i: usize| {
        each.iter().fold(Recovered::default(), |sum, one| Recovered {
            decisions: sum.decisions + one[i].decisions,
            right: sum.right + one[i].right,
            easiest: sum.easiest + one[i].easiest,
        })
    };
    (0..scales.len()).map(sum).collect()
}

fn one(council: u64, seed: u64, scales: &[(ModelKind, Reading)]) -> Vec<Recovered> {
    let uniform = |what: u64, i: u64, j: u64| random::unit(&[KEY, seed, council, what, i, j]);
    let normal = |what: u64, i: u64, j: u64| random::normal(uniform(what, i, j), uniform(what + 100, i, j));
    // centipawns per logit, and the strength of the opponents that each member met
    let scale: Vec<f64> = (0..MEMBERS as u64).map(|e| 600.0 * libm::exp(0.5 * normal(1, e, 0))).collect();
    let field: Vec<f64> = (0..MEMBERS as u64).map(|e| 1.5 * normal(2, e, 0)).collect();
    let cases: Vec<Vec<Case>> = (0..MEMBERS)
        .map(|e| {
            let opponent = 10 + (e as u32) * 10;
            let game = |g: u64| {
                let (e64, id) = (e as u64, (e as u64) << 32 | g);
                let worth = 1.5 * normal(3, e64, g);
                // ten opponents of each field; the member itself has strength 0
                let strength = field[e] + 0.3 * normal(4, e64, g % 10);
                let win = uniform(5, e64, g) < Sigmoid::STANDARD.win_rate(worth - strength);
                let seen = worth + 0.4 * normal(6, e64, g);
                Case {
                    game: id,
                    score_cp: (seen * scale[e]) as i32,
                    outcome: if win { Outcome::Win } else { Outcome::Loss },
                    situation: Situation {
                        strength: Some(-strength),
                        players: Some([e as u32, opponent + (g % 10) as u32]),
                        ..Situation::default()
                    },
                }
            };
            (0..GAMES).map(game).collect()
        })
        .collect();
    let cases: Vec<&[Case]> = cases.iter().map(Vec::as_slice).collect();
    let mut fits: BTreeMap<ModelKind, Option<Vec<Model>>> = BTreeMap::new();
    let easiest = (0..MEMBERS).min_by(|a, b| field[*a].total_cmp(&field[*b])).unwrap_or(0);
    scales
        .iter()
        .map(|&(kind, reading)| {
            let models = fits.entry(kind).or_insert_with(|| {
                let fits = fit_engines(kind, &cases, &FitOptions::default());
                fits.into_iter().map(|fit| Some(fit.ok()?.model)).collect()
            });
            let Some(models) = models else { return Recovered::default() };
            let mut found = Recovered::default();
            for decision in 0..DECISIONS {
                let worth = normal(7, decision, 0);
                let seen: Vec<f64> = (0..MEMBERS as u64).map(|e| worth + 0.5 * normal(8, decision, e)).collect();
                let logit = |e: usize| {
                    let cp = seen[e] * scale[e];
                    match reading {
                        Reading::Field => models[e].logit(cp, &Situation::default()),
                        Reading::Equal => models[e].equal_logit(cp, &Situation::default()),
                    }
                };
                let best = |of: &dyn Fn(usize) -> f64| (0..MEMBERS).max_by(|a, b| of(*a).total_cmp(&of(*b)));
                let followed = best(&logit);
                found.decisions += 1;
                found.right += u64::from(followed == best(&|e| seen[e]));
                found.easiest += u64::from(followed == Some(easiest));
            }
            found
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_readings_recover_the_planted_order_and_field_readings_follow_the_weaker_opponents() {
        let scales = [(ModelKind::Joint, Reading::Equal), (ModelKind::MaximumLikelihood, Reading::Field)];
        let found = recovered(60, 1, &scales);
        let share = |n: u64, found: &Recovered| n as f64 / found.decisions as f64;
        assert!(found.iter().all(|f| f.decisions >= 59 * DECISIONS), "{found:?}");
        assert!(share(found[0].right, &found[0]) > 0.8, "{found:?}");
        assert!(share(found[1].right, &found[1]) < 0.6, "{found:?}");
        assert!((share(found[0].easiest, &found[0]) - 1.0 / 3.0).abs() < 0.06, "{found:?}");
        assert!(share(found[1].easiest, &found[1]) > 0.6, "{found:?}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| recovered(60, 1, &scales)), found);
    }
}
