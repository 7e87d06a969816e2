//! Whether engines agree on positions that two of them scored one after the other, and whom a council would follow.
//!
//! In a game whose players both recorded their scores, A's score at one ply and B's at the next judge nearly the same
//! position. Both are turned to one side, and both win rates of that side are read from fits without the game. On a
//! fair scale they agree, and where they do not, neither engine is favoured for having met weaker opponents.

use std::collections::HashMap;

use evalcurve_fit::fit::{Case, FitOptions, ModelKind, Reading, Sigmoid, Situation, fit_engines};
use evalcurve_fit::parallel;
use evalcurve_fit::validate::{EngineCases, Estimate, FoldOptions, fold_of, mean_by_game};

/// A scale to be judged: raw scores, or a reading of a model that is fitted without the games it is read on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JudgedScale {
    /// Scores as they are, with this many centipawns to a logit for every engine.
    Raw(f64),
    /// Against the opponents that the engine met.
    Field(ModelKind),
    /// Between players of equal strength.
    Equal(ModelKind),
    /// At the rating difference of the game.
    AtDifference(ModelKind),
    /// At the rating difference and the players' fitted strengths; only a joint fit has them.
    AtStrengths(ModelKind),
}

impl JudgedScale {
    /// The model, if it is one.
    fn kind(self) -> Option<ModelKind> {
        match self {
            Self::Raw(_) => None,
            Self::Field(kind) | Self::Equal(kind) | Self::AtDifference(kind) | Self::AtStrengths(kind) => Some(kind),
        }
    }
}

/// What a scale is worth on shared positions. Each position counts twice, once from either side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Shared positions.
    pub positions: u64,
    pub games: u64,
    /// Mean absolute difference of the two win rates.
    pub difference: Estimate,
    /// Log loss of the mean of the two win rates, in nats.
    pub mean_vote: Estimate,
    /// Log loss of the higher of the two win rates, which win-rate optimism follows.
    pub higher_vote: Estimate,
    /// Share of the decisions that go to the engine whose opponents were weaker; 0.5 on a fair scale. `None` without
    /// such decisions.
    pub easy_field: Option<Estimate>,
    /// Number of those decisions: win rates apart by more than [`DECISION`], fields by more than a logit.
    pub decisions: u64,
}

/// Two win rates that are this far apart make a decision.
pub const DECISION: f64 = 0.05;
/// Fields that are this far apart, in logits (174 Elo), differ.
const FIELDS_APART: f64 = 1.0;

/// One side of a shared position: two votes, the result, and whether the first engine's field is the easier one.
struct Judged {
    game: u64,
    votes: [f64; 2],
    result: f64,
    first_is_easier: Option<bool>,
}

/// Judges a scale by the positions that two of the engines scored, each by fits without the game's fold; `None` without
/// such positions. The numbers are the same on any number of threads.
pub fn agreement(
    scale: JudgedScale,
    engines: &[EngineCases],
    folds: &FoldOptions,
    options: &FitOptions,
) -> Option<Agreement> {
    let cases = engines.iter().enumerate().flat_map(|(e, engine)| engine.cases.iter().map(move |case| (e, case)));
    let engine_of: HashMap<u32, usize> = cases.filter_map(|(e, case)| Some((case.situation.engine?, e))).collect();
    let fields: Vec<Option<f64>> = engines.iter().map(mean_advantage).collect();
    let judged = parallel::map(folds.folds as usize, |out| {
        let inside = |case: &Case| fold_of(case.game, folds) == out as u64;
        let read = reader(scale, engines, &|case| !inside(case), options);
        let mut judged = Vec::new();
        for (e, engine) in engines.iter().enumerate() {
            for case in engine.cases.iter().filter(inside) {
                let Some(shared) = case.situation.shared else { continue };
                let Some(&other) = engine_of.get(&shared.engine).filter(|o| **o != e) else { continue };
                let easier = fields[e].zip(fields[other]).filter(|(a, b)| (a - b).abs() > FIELDS_APART);
                for sign in [1.0, -1.0] {
                    let turned = |[own, opponent]: [u32; 2]| if sign > 0.0 { [own, opponent] } else { [opponent, own] };
                    let situation = Situation {
                        strength: case.situation.strength.map(|d| sign * d),
                        players: case.situation.players.map(turned),
                        ..case.situation
                    };
                    let of = |engine: usize, cp: i32| read(engine, sign * f64::from(cp), &situation);
                    let (Some(first), Some(second)) = (of(e, case.score_cp), of(other, shared.score_cp)) else {
                        continue;
                    };
                    let result = case.outcome.value();
                    judged.push(Judged {
                        game: case.game,
                        votes: [first, second],
                        result: if sign > 0.0 { result } else { 1.0 - result },
                        first_is_easier: easier.map(|(a, b)| a > b),
                    });
                }
            }
        }
        judged
    });
    summary(&judged.into_iter().flatten().collect::<Vec<_>>())
}

/// How much stronger an engine is than its opponents on average, in logits.
fn mean_advantage(engine: &EngineCases) -> Option<f64> {
    let known: Vec<f64> = engine.cases.iter().filter_map(|c| c.situation.strength).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// What reads the win rate of an engine's score in a situation, by fits to some of the cases.
fn reader<'a>(
    scale: JudgedScale,
    engines: &[EngineCases],
    keep: &dyn Fn(&Case) -> bool,
    options: &FitOptions,
) -> impl Fn(usize, f64, &Situation) -> Option<f64> + use<'a> {
    let fits = scale.kind().map_or_else(Vec::new, |kind| {
        let kept: Vec<Vec<Case>> = engines.iter().map(|e| e.cases.iter().filter(|c| keep(c)).collect()).collect();
        let kept: Vec<&[Case]> = kept.iter().map(Vec::as_slice).collect();
        fit_engines(kind, &kept, &FitOptions { min_samples: 0, forecasts_only: true, ..*options })
    });
    move |engine, score_cp, situation| {
        let unknown = Situation { strength: None, ..*situation };
        let fit = || fits.get(engine)?.as_ref().ok();
        Some(Sigmoid::STANDARD.win_rate(match scale {
            JudgedScale::Raw(cp_per_logit) => score_cp / cp_per_logit,
            JudgedScale::Field(_) => fit()?.model.logit(score_cp, &unknown),
            JudgedScale::Equal(_) => fit()?.model.equal_logit(score_cp, &unknown),
            JudgedScale::AtDifference(_) => fit()?.model.equal_logit(score_cp, situation),
            JudgedScale::AtStrengths(_) => fit()?.logit(Reading::Equal, score_cp, situation),
        }))
    }
}

fn summary(judged: &[Judged]) -> Option<Agreement> {
    let mean = |of: &dyn Fn(&Judged) -> Option<f64>| {
        let values: Vec<(u64, f64)> = judged.iter().filter_map(|j| Some((j.game, of(j)?))).collect();
        mean_by_game(&values)
    };
    let loss = |p: f64, result: f64| {
        let of = |p: f64| -libm::log(p.max(f64::MIN_POSITIVE));
        result * of(p) + (1.0 - result) * of(1.0 - p)
    };
    let decision = |j: &Judged| {
        let apart = j.votes[0] - j.votes[1];
        let easier = j.first_is_easier.filter(|_| apart.abs() > DECISION)?;
        Some(f64::from(u8::from(easier == (apart > 0.0))))
    };
    let mut games: Vec<u64> = judged.iter().map(|j| j.game).collect();
    games.sort_unstable();
    games.dedup();
    Some(Agreement {
        positions: judged.len() as u64 / 2,
        games: games.len() as u64,
        difference: mean(&|j| Some((j.votes[0] - j.votes[1]).abs()))?,
        mean_vote: mean(&|j| Some(loss(0.5 * (j.votes[0] + j.votes[1]), j.result)))?,
        higher_vote: mean(&|j| Some(loss(j.votes[0].max(j.votes[1]), j.result)))?,
        easy_field: mean(&decision),
        decisions: judged.iter().filter_map(decision).count() as u64,
    })
}
