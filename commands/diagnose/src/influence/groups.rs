//! The groups of samples that are left out of the fits, or added to them.

use std::collections::{BTreeMap, HashMap};

use evalcurve_app::calibrate::mates::is_wrong_sided;
use evalcurve_app::calibrate::{CalibrateOptions, outermost};
use evalcurve_calibration::types::{Outcome, Termination};
use evalcurve_fit::calibration::MatePolicy;
use evalcurve_fit::fit::{FitData, FitOptions, Method, Observation, Sigmoid};
use evalcurve_records::sample::{Sample, SampleTable, Terminations};
use evalcurve_words::language::Text;
use evalcurve_words::text;

use super::Kind;

/// Largest number of opponents with their own group; the most frequent ones have one ...
const MOST_OPPONENTS: usize = 8;
/// ... if they have at least this share of the samples.
const OPPONENT_SHARE: f64 = 0.02;
/// Windows from this one on form one phase.
const LAST_PHASE: u32 = 3;
/// A draw is surprising if the sigmoid by least squares gives one side at least this win rate.
const SURE: f64 = 0.9;

/// A group of samples.
pub(super) struct Group {
    pub kind: Kind,
    pub label: Text,
    pub added: bool,
    pub members: Vec<bool>,
}

/// The groups with samples, and the names of those without.
pub(super) fn groups(
    table: &SampleTable,
    samples: &[Sample],
    seen: &[Option<Observation>],
    options: &CalibrateOptions,
) -> (Vec<Group>, Vec<Text>) {
    let termination = |s: &Sample| table.game(s).map_or(Termination::Unknown, |g| g.termination);
    let used = |i: usize| seen.get(i).is_some_and(Option::is_some);
    let mut groups = Vec::new();
    let mut empty = Vec::new();
    let mut add = |kind: Kind, label: Text, added: bool, belongs: &dyn Fn(usize, &Sample) -> bool| {
        let members: Vec<bool> = samples.iter().enumerate().map(|(i, s)| belongs(i, s) && (added || used(i))).collect();
        if members.contains(&true) {
            groups.push(Group { kind, label, added, members });
        } else {
            empty.push(label);
        }
    };
    if options.mate_policy == MatePolicy::Exclude {
        add(Kind::Mates, text!("mates kept"), true, &|_, s| s.mate);
        add(Kind::WrongSidedMates, text!("mates kept, except wrong-sided ones"), true, &|_, s| {
            s.mate && !is_wrong_sided(s)
        });
    } else {
        add(Kind::WrongSidedMates, text!("wrong-sided mates"), false, &|_, s| s.mate && is_wrong_sided(s));
        add(Kind::Mates, text!("all mates"), false, &|_, s| s.mate);
    }
    let base: Vec<Observation> = seen.iter().flatten().copied().collect();
    let sigmoid = plain_sigmoid(&base);
    let sure = |i: usize| {
        let rate = sigmoid.zip(seen[i]).map_or(0.5, |(s, o)| s.win_rate(f64::from(o.score_cp)));
        !(1.0 - SURE..=SURE).contains(&rate)
    };
    add(Kind::SurprisingDraws, text!("draws with large scores"), false, &|i, s| s.outcome == Outcome::Draw && sure(i));
    add(Kind::OffBoard, text!("ended off the board (time, illegal move, crash, ply limit)"), false, &|_, s| {
        !Terminations::is_on_board(termination(s))
    });
    let outermost = outermost(&base);
    let label = text!("the outermost 1% (|score| ≥ {outermost})");
    add(Kind::Outermost, label, false, &|i, _| seen[i].is_some_and(|o| o.score_cp.unsigned_abs() >= outermost));

    for &which in Termination::ALL {
        // a termination that all games have cannot be left out
        let mut of_samples = samples.iter().enumerate().filter(|(i, _)| used(*i));
        if samples.iter().any(|s| termination(s) == which) && of_samples.any(|(_, s)| termination(s) != which) {
            let label = text!("ended by {which}");
            add(Kind::Termination, label, false, &|_, s| termination(s) == which);
        }
    }
    let of_fits = samples.iter().enumerate().filter(|(i, _)| used(*i)).map(|(_, sample)| sample);
    for opponent in frequent_opponents(table, of_fits, (OPPONENT_SHARE * base.len() as f64) as u64) {
        let label = text!("against {}", table.names.get(opponent));
        add(Kind::Opponent, label, false, &|_, s| s.opponent == opponent);
    }
    let phases = phases(samples);
    for (which, (low, high)) in phases.iter().filter(|_| phases.len() > 1) {
        add(Kind::Phase, text!("ply {low} to {high}"), false, &|_, s| phase(s) == *which);
    }
    (groups, empty)
}

/// The sigmoid by least squares, of any number of samples.
fn plain_sigmoid(seen: &[Observation]) -> Option<Sigmoid> {
    let options = FitOptions { min_samples: 0, ..FitOptions::default() };
    FitData::new(seen).fit(Method::LeastSquares, &options).ok().map(|fit| fit.sigmoid)
}

/// The opponents with at least `least` samples, most first; none if there is only one.
fn frequent_opponents<'a>(table: &SampleTable, samples: impl Iterator<Item = &'a Sample>, least: u64) -> Vec<u32> {
    let mut counts: HashMap<u32, u64> = HashMap::new();
    samples.for_each(|sample| *counts.entry(sample.opponent).or_default() += 1);
    let mut opponents: Vec<(u32, u64)> = counts.into_iter().collect();
    opponents.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| table.names.get(a.0).cmp(table.names.get(b.0))));
    let several = opponents.len() > 1;
    let frequent = opponents.iter().take(MOST_OPPONENTS).filter(|(_, count)| *count >= least && several);
    frequent.map(|(opponent, _)| *opponent).collect()
}

/// The last windows have few samples, so they form one phase.
fn phase(sample: &Sample) -> u32 {
    sample.window.min(LAST_PHASE)
}

/// The first and last ply of each phase.
fn phases(samples: &[Sample]) -> BTreeMap<u32, (u32, u32)> {
    let mut plies: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for sample in samples {
        let span = plies.entry(phase(sample)).or_insert((sample.ply, sample.ply));
        *span = (span.0.min(sample.ply), span.1.max(sample.ply));
    }
    plies
}
