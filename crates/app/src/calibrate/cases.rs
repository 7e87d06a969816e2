//! What fits see of the samples: whose result counts for whom, and which samples they leave out.

use std::collections::HashMap;

use evalcurve_calibration::types::Color;
use evalcurve_fit::calibration::{MatePolicy, control_seconds};
use evalcurve_fit::fit::Observation;
use evalcurve_fit::parallel;
use evalcurve_fit::validate::{Case, Cases, EngineCases, SharedPosition, Situation};
use evalcurve_records::sample::{ByEngine, NameId, Sample, SampleTable};

use super::CalibrateOptions;

/// A sample as curve and fits see it; `None` for a mate that is left out, and for a score that was cut: it stands for
/// all larger ones. What is left is not biased, because the scores alone choose it.
pub fn observation(table: &SampleTable, sample: &Sample, policy: MatePolicy, clip_cp: u32) -> Option<Observation> {
    if is_cut(table, sample) {
        return None;
    }
    let score_cp = match policy {
        MatePolicy::Exclude if sample.mate => return None,
        MatePolicy::Clip if sample.mate => sample.score_cp.signum() * i32::try_from(clip_cp).unwrap_or(i32::MAX),
        MatePolicy::Exclude | MatePolicy::Clip | MatePolicy::Keep => sample.score_cp,
    };
    let game = table.games.get(sample.game as usize)?;
    Some(Observation { game: game.id, score_cp, outcome: sample.outcome })
}

/// Whether a score was cut.
fn is_cut(table: &SampleTable, sample: &Sample) -> bool {
    !sample.mate && table.cut_at.get(&sample.engine).is_some_and(|cp| sample.score_cp.unsigned_abs() >= *cp)
}

/// The cases of the scores that were cut, as if other engines had given them: these have a win rate of their own, and
/// say how strong the players are and how many results follow no score. The forecasts of the cut scores are not used.
pub(super) fn cut_scores(table: &SampleTable) -> Vec<EngineCases> {
    let numbers = table.names.numbers();
    let mut cut: HashMap<NameId, Vec<&Sample>> = HashMap::new();
    if !table.cut_at.is_empty() {
        for sample in table.samples.iter().filter(|sample| is_cut(table, sample)) {
            cut.entry(sample.engine).or_default().push(sample);
        }
    }
    let of_cut = |(engine, place): (&NameId, u32)| {
        let number = |id: NameId| numbers.get(id as usize).copied().unwrap_or(u32::MAX);
        let case = |sample: &Sample| {
            let game = table.game(sample)?;
            let strength = both_ratings(table, sample).map(|[own, opponent]| own - opponent);
            let situation = Situation {
                ply: Some(sample.ply),
                engine: Some(u32::MAX - 1 - place),
                players: plays(table, sample).then(|| [sample.engine, sample.opponent].map(number)),
                ..Situation::default()
            };
            let situation = strength.map_or(situation, |difference| situation.with_rating_difference(difference));
            Some(Case { game: game.id, score_cp: sample.score_cp, outcome: sample.outcome, situation })
        };
        let cases = cut.remove(engine).unwrap_or_default().into_iter().filter_map(case).collect();
        EngineCases { name: String::new(), cases }
    };
    // not in the order of their numbers, which is that of reading
    let mut engines: Vec<&NameId> = table.cut_at.keys().collect();
    engines.sort_by_key(|engine| table.names.get(**engine));
    engines.into_iter().zip(0..).map(of_cut).collect()
}

/// Whether the engine of a sample plays the game.
pub(super) fn plays(table: &SampleTable, sample: &Sample) -> bool {
    let player = table.game(sample).and_then(|game| game.players.get(sample.color.index()));
    player == Some(&sample.engine) && !table.annotates(sample)
}

/// The ratings of the side to move and of its opponent, if both are known. The engine of the sample may annotate their
/// game.
pub(super) fn both_ratings(table: &SampleTable, sample: &Sample) -> Option<[f64; 2]> {
    let game = table.game(sample)?;
    let of = |color: Color| game.ratings.get(color.index()).copied().flatten();
    of(sample.color).zip(of(sample.color.opponent())).map(|(own, opponent)| [own, opponent])
}

/// The scores of several engines for one position, by game and ply.
type SharedPositions = HashMap<(u64, u32), Vec<(NameId, i32)>>;

/// The positions that two engines or more scored, where one of them annotates the game of others or sits in a council.
fn positions_with_several_scores(table: &SampleTable) -> SharedPositions {
    let mut positions = SharedPositions::new();
    if table.samples.iter().all(|sample| plays(table, sample)) {
        return positions;
    }
    for sample in table.samples.iter().filter(|sample| !sample.mate) {
        if let Some(game) = table.game(sample) {
            positions.entry((game.id, sample.ply)).or_default().push((sample.engine, sample.score_cp));
        }
    }
    positions.retain(|_, scores| {
        scores.sort_by_key(|(engine, cp)| (table.names.get(*engine), *cp));
        scores.dedup_by_key(|(engine, _)| *engine);
        scores.len() > 1
    });
    positions
}

/// The samples of every engine as models see them, engines by name. Mates are those of
/// [`mark_mates`](super::mark_mates).
pub fn cases(table: &SampleTable, policy: MatePolicy, clip_cp: u32) -> Vec<EngineCases> {
    let table = TableCases::new(table, policy, clip_cp);
    parallel::map(table.engines.len(), |engine| table.of(engine))
}

/// The same, and those of the scores that were cut, as fits see them.
pub(super) fn cases_with_cut(table: &SampleTable, options: &CalibrateOptions) -> Vec<EngineCases> {
    let mut cases = cases(table, options.mate_policy, options.clip_cp);
    cases.extend(cut_scores(table));
    cases
}

/// Makes the cases of a table.
struct TableCases<'a> {
    table: &'a SampleTable,
    policy: MatePolicy,
    clip_cp: u32,
    positions: SharedPositions,
    numbers: Vec<u32>,
    /// of each time control; most games have one of a few
    seconds: Vec<Option<f64>>,
    engines: ByEngine<'a>,
}

impl<'a> TableCases<'a> {
    fn new(table: &'a SampleTable, policy: MatePolicy, clip_cp: u32) -> Self {
        let seconds = (0..table.names.len() as NameId).map(|id| control_seconds(table.names.get(id))).collect();
        let (positions, numbers) = (positions_with_several_scores(table), table.names.numbers());
        Self { table, policy, clip_cp, positions, numbers, seconds, engines: ByEngine::new(table) }
    }

    fn of(&self, engine: usize) -> EngineCases {
        let mut cases = Cases::with_capacity(self.engines.samples(engine));
        cases.extend(self.engines.samples_of(engine).filter_map(|sample| self.case(sample)));
        EngineCases { name: self.engines.name(engine).to_owned(), cases }
    }

    fn case(&self, sample: &Sample) -> Option<Case> {
        let (table, number) = (self.table, |id: NameId| self.numbers.get(id as usize).copied().unwrap_or(u32::MAX));
        let Observation { game, score_cp, outcome } = observation(table, sample, self.policy, self.clip_cp)?;
        let mut situation = Situation {
            ply: Some(sample.ply),
            material: sample.material.map(u32::from),
            engine: Some(number(sample.engine)),
            ..Situation::default()
        };
        if let Some([own, opponent]) = both_ratings(table, sample) {
            situation = situation.with_rating_difference(own - opponent);
            // made from results, ratings say who is stronger, and not how strong
            situation.rating = (!table.bradley_terry).then_some(0.5 * (own + opponent));
        }
        let seconds_of = |control: NameId| self.seconds.get(control as usize).copied().flatten();
        situation.seconds = table.game(sample).and_then(|game| seconds_of(game.time_control));
        // the result is that of the players, whoever gave the score
        let plays = plays(table, sample);
        let players = table
            .game(sample)
            .map(|game| [sample.color, sample.color.opponent()].map(|color| game.players[color.index()]));
        let named = |players: &[NameId; 2]| players.iter().all(|player| !table.names.get(*player).is_empty());
        situation.players = match plays {
            true => Some([sample.engine, sample.opponent].map(number)),
            false => players.filter(|players| players[0] != players[1]).filter(named).map(|p| p.map(number)),
        };
        // each score is compared with that of the next engine by name, so that a pair counts once
        let next = || {
            let scores = self.positions.get(&(game, sample.ply))?;
            scores.get(scores.iter().position(|(engine, _)| *engine == sample.engine)? + 1)
        };
        let reply = sample.reply_cp.filter(|_| plays).map(|cp| (sample.opponent, -cp, true));
        // engines that score positions of others' games have the same results, which compare them without the bias of
        // one's noisy scores against another's
        let same = || next().filter(|_| plays || situation.players.is_none()).map(|&(engine, cp)| (engine, cp, false));
        situation.shared = reply
            .or_else(same)
            .filter(|_| !sample.mate)
            .map(|(engine, score_cp, replied)| SharedPosition { engine: number(engine), score_cp, replied });
        Some(Case { game, score_cp, outcome, situation })
    }
}
