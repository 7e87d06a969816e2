//! The calibration file with its provenance.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use evalcurve_fit::calibration::{
    Calibration, Curve, CurveBin, Dates, Field, MatePolicy, Mates, Opponent, Provenance, Sampling, ScoreRange,
};
use evalcurve_fit::fit::{Method, ModelFit};
use evalcurve_records::sample::{NameId, Sample, SampleTable};
use sha2::{Digest, Sha256};

use super::{CalibrateOptions, EngineResult, Validated, both_ratings, draws, plays};

/// The strength of a player by its name, where the joint fit has one.
type StrengthOf<'a> = dyn Fn(NameId) -> Option<f64> + 'a;

/// The calibration of an engine whose chosen model was fitted; `None` where it was not.
pub(super) fn calibration(
    table: &SampleTable,
    samples: &[Sample],
    numbers: &[u32],
    result: &EngineResult,
    options: &CalibrateOptions,
) -> Option<Calibration> {
    let sigmoids = Method::ALL.into_iter().filter_map(|m| Some((m.into(), (*result.fit(m).ok()?).into())));
    let others =
        result.models.iter().filter_map(|(kind, fit)| Some((*kind, ModelFit::clone(fit.as_ref().ok()?).into())));
    let mut calibration = Calibration::from_models(result.name.clone(), sigmoids.chain(others), options.model)?;
    calibration.proper_scores = result.validated.as_ref().map(Validated::proper_scores);
    calibration.engine.aliases =
        table.aliases.get(&result.name).map_or_else(Vec::new, |raw| raw.iter().cloned().collect());
    let number = |id: NameId| numbers.get(id as usize).copied();
    let strength = |id: NameId| result.strengths()?.of(number(id)?);
    calibration.field = Some(field(table, samples, result, &strength));
    calibration.standardization = result.standardization;
    let bin_cp = options.bin_cp;
    calibration.curve = Some(Curve {
        bin_cp: u64::from(bin_cp),
        bins: result
            .curve
            .bins()
            .iter()
            .map(|(&bin, count)| CurveBin {
                bin: i64::from(bin),
                low_cp: i64::from(bin) * i64::from(bin_cp),
                wins: count.wins,
                draws: count.draws,
                losses: count.losses,
                score_sum: count.score_sum,
            })
            .collect(),
    });
    calibration.mates = Some(Mates {
        policy: options.mate_policy,
        clip_cp: (options.mate_policy == MatePolicy::Clip).then(|| f64::from(options.clip_cp)),
        threshold_cp: Some(f64::from(result.mates.threshold_cp)),
        beyond: result.mates.beyond,
        wrong_sided: result.mates.wrong_sided,
    });
    calibration.scores = result.score_range.map(|(min, max)| ScoreRange {
        min_cp: f64::from(min),
        max_cp: f64::from(max),
        largest_cp_left: result.mates.largest_cp_left.map(f64::from),
    });
    calibration.sampling = Some(Sampling {
        from_ply: u64::from(options.sampling.from_ply),
        window: u64::from(options.sampling.window),
        per_window: 1,
        seed: options.sampling.seed,
        draws: draws(&options.sampling),
        min_samples: options.min_samples,
        filters: options.filters.iter().cloned().chain(mended(table, samples, result)).collect(),
    });
    calibration.provenance = Some(provenance(table, samples, options, &strength));
    Some(calibration)
}

/// What was done to the samples of an engine, in words.
fn mended(table: &SampleTable, samples: &[Sample], result: &EngineResult) -> impl Iterator<Item = String> {
    let turned = samples.first().and_then(|sample| table.turned.get(&sample.engine));
    let turned = turned.map(|games| format!("sign turned in {games} games"));
    let cut = result.mates.cut.map(|cut| format!("{} scores of ±{} left out", cut.samples, cut.cp));
    turned.into_iter().chain(cut)
}

/// The opponents of an engine, and how many engines share its fit.
fn field(table: &SampleTable, samples: &[Sample], result: &EngineResult, strength: &StrengthOf<'_>) -> Field {
    let own = samples.iter().filter(|sample| plays(table, sample));
    let rated: Vec<[f64; 2]> = own.filter_map(|sample| both_ratings(table, sample)).collect();
    let mean = |side: usize| {
        (!rated.is_empty()).then(|| rated.iter().map(|ratings| ratings[side]).sum::<f64>() / rated.len() as f64)
    };
    Field {
        rated_samples: rated.len() as u64,
        own_rating: mean(0),
        opponents_rating: mean(1),
        rated_by_these_games: table.bradley_terry && !rated.is_empty(),
        fitted_together: result.fitted_together() as u64,
        strength: samples.iter().find(|sample| plays(table, sample)).and_then(|sample| strength(sample.engine)),
    }
}

/// SHA-256 of the samples of an engine.
pub fn digest(table: &SampleTable, samples: &[Sample]) -> String {
    let (mut digest, mut line) = (Sha256::new(), String::new());
    for sample in samples {
        let id = table.game(sample).map_or(0, |g| g.id);
        let Sample { color, ply, score_cp, mate, outcome, .. } = sample;
        line.clear();
        let _ = writeln!(line, "{id:016x},{color},{ply},{score_cp},{mate},{}", outcome.value());
        digest.update(line.as_bytes());
    }
    digest.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

fn provenance(
    table: &SampleTable,
    samples: &[Sample],
    options: &CalibrateOptions,
    strength: &StrengthOf<'_>,
) -> Provenance {
    let mut games = BTreeSet::new();
    let mut opponents: BTreeMap<(&str, NameId), BTreeSet<u32>> = BTreeMap::new();
    // the samples of a game are together
    for game in samples.chunk_by(|a, b| (a.game, a.opponent) == (b.game, b.opponent)) {
        let Sample { game, opponent, .. } = game[0];
        games.insert(game);
        opponents.entry((table.names.get(opponent), opponent)).or_default().insert(game);
    }
    let mut terminations: BTreeMap<String, u64> = BTreeMap::new();
    let mut time_controls = BTreeSet::new();
    let (mut first, mut last): (Option<String>, Option<String>) = (None, None);
    for game in games.iter().filter_map(|&g| table.games.get(g as usize)) {
        *terminations.entry(game.termination.as_str().to_owned()).or_default() += 1;
        let control = table.names.get(game.time_control);
        if !control.is_empty() {
            time_controls.insert(control.to_owned());
        }
        if let Some(start) = game.start_time {
            let day = format!("{:04}-{:02}-{:02}", start.year, start.month, start.day);
            first = first.into_iter().chain([day.clone()]).min();
            last = last.into_iter().chain([day]).max();
        }
    }
    let mut opponents: Vec<Opponent> = opponents
        .into_iter()
        .filter(|((name, _), _)| !name.is_empty())
        .map(|((name, id), games)| Opponent {
            name: name.to_owned(),
            games: games.len() as u64,
            strength: strength(id),
        })
        .collect();
    opponents.shrink_to_fit();
    Provenance {
        inputs: options.inputs.clone(),
        digest: Some(digest(table, samples)),
        games: Some(games.len() as u64),
        samples: Some(samples.len() as u64),
        dates: first.zip(last).map(|(first, last)| Dates { first, last }),
        opponents,
        time_controls: time_controls.into_iter().collect(),
        terminations,
        source: None,
    }
}
