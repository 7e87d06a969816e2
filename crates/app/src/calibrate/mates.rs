//! Mate scores: which sizes of a score mean a mate, and what the mates of an engine look like.
//!
//! Mate scores differ from engine to engine (29,998, 31,111, 32,757, ±100,000, sjaakii's 15,999, GPSShogi's
//! 1,148,897). The threshold is given, or 20,000, or found: the lowest gap with a spike above it.

use evalcurve_calibration::types::Outcome;
use evalcurve_records::sample::Sample;

/// The mate threshold unless another is given, in centipawns.
pub const DEFAULT_THRESHOLD_CP: u32 = 20_000;

/// Where `auto` begins to look for the gap under the mates, in centipawns.
const LOWEST_GAP_CP: u32 = 2_000;
/// A spike holds this many samples at least ...
const SPIKE_SAMPLES: usize = 5;
/// ... and this share of all, unless they are all within this share of their size (tablebase scores: 15,393 to 15,414).
const SPIKE_SHARE: f64 = 0.002;
const NARROW_SHARE: f64 = 0.005;
/// ... within this many centipawns (mates in 1 to mates in 256), or a fiftieth of its size.
const SPIKE_WIDTH_CP: u32 = 256;

/// From which size on a score is a mate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threshold {
    /// This many centipawns.
    Cp(u32),
    /// The gap under the lowest spike, or 20,000 without a spike.
    Auto,
}

/// Thresholds by engine; the last matching one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thresholds {
    /// For engines that no other threshold matches.
    pub default: Threshold,
    /// By name or glob.
    pub by_engine: Vec<(String, Threshold)>,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { default: Threshold::Cp(DEFAULT_THRESHOLD_CP), by_engine: Vec::new() }
    }
}

impl Thresholds {
    /// The threshold of this engine.
    pub fn of(&self, engine: &str) -> Threshold {
        let named =
            self.by_engine.iter().rev().find(|(glob, _)| evalcurve_records::sample::alias::matches_glob(glob, engine));
        named.map_or(self.default, |(_, threshold)| *threshold)
    }
}

/// Many scores of nearly the same size, far above all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spike {
    /// The largest size below the gap.
    pub below_cp: u32,
    /// The smallest and the largest size above it, up to the next gap.
    pub from_cp: u32,
    /// See `from_cp`.
    pub to_cp: u32,
    pub samples: usize,
}

impl Spike {
    /// A round threshold in the gap.
    pub fn threshold(&self) -> u32 {
        let wanted = self.below_cp + (self.from_cp - self.below_cp) * 3 / 4;
        for step in [5_000, 1_000, 500, 100] {
            let round = wanted / step * step;
            if round > self.below_cp && round < self.from_cp {
                return round;
            }
        }
        self.from_cp
    }
}

/// The lowest spike among the scores: a gap of a quarter of the size below it (1,000 at the least), and above it
/// many samples within a narrow range.
pub fn lowest_spike(samples: &[Sample]) -> Option<Spike> {
    let mut sizes: Vec<u32> = samples.iter().map(|s| s.score_cp.unsigned_abs()).collect();
    sizes.sort_unstable();
    let enough = SPIKE_SAMPLES.max((sizes.len() as f64 * SPIKE_SHARE) as usize);
    let gap_after = |size: u32| (size / 4).max(1_000);
    for at in 1..sizes.len() {
        let (below, from) = (sizes[at - 1], sizes[at]);
        // a gap counts from the lowest size on that an evaluation leaves to mates
        if from < LOWEST_GAP_CP + 1_000 || from - below < gap_after(below) {
            continue;
        }
        // everything above, cut where it thins out into other mates (29,998 and 100,000 are two spikes)
        let spike = &sizes[at..];
        let end = spike.windows(2).position(|w| w[1] - w[0] >= gap_after(w[0])).map_or(spike.len(), |i| i + 1);
        let to = spike[end - 1];
        let narrow = f64::from(to - from) <= NARROW_SHARE * f64::from(from);
        let enough = if narrow { SPIKE_SAMPLES } else { enough };
        if end >= enough && to - from <= SPIKE_WIDTH_CP.max(from / 50) {
            return Some(Spike { below_cp: below, from_cp: from, to_cp: to, samples: end });
        }
    }
    None
}

/// Scores that were cut to a size, so that the largest of all is the most frequent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The size.
    pub cp: u32,
    /// Samples of this size.
    pub samples: usize,
}

/// Scores below this are no centipawns.
const LEAST_CUT_CP: u32 = 100;
/// A cut needs this many samples of the largest size, this share of all, ...
const CUT_SAMPLES: usize = 10;
const CUT_SHARE: f64 = 0.005;
/// ... and this many times as many as the last twentieth below it has, and as any of the sizes next to it.
const CUT_EXCESS: usize = 3;
const CUT_NEXT: usize = 10;

/// The size to which evaluations below the mate threshold were cut.
fn cut(samples: &[Sample], threshold_cp: u32) -> Option<Cut> {
    let evaluations = samples.iter().filter(|sample| !is_mate(sample, threshold_cp));
    let mut sizes: Vec<u32> = evaluations.map(|sample| sample.score_cp.unsigned_abs()).collect();
    sizes.sort_unstable();
    let cp = *sizes.last()?;
    let below = &sizes[..sizes.partition_point(|size| *size < cp)];
    let samples = sizes.len() - below.len();
    let near = below.len() - below.partition_point(|size| *size < cp - cp / 20);
    let next = below.chunk_by(|a, b| a == b).rev().take(CUT_NEXT).map(<[u32]>::len).max()?;
    let enough = samples >= CUT_SAMPLES && samples as f64 >= CUT_SHARE * sizes.len() as f64;
    let found = cp >= LEAST_CUT_CP && enough && samples > CUT_EXCESS * near.max(next);
    found.then_some(Cut { cp, samples })
}

/// Whether this is a mate, because the record marks it as one or by its size.
pub fn is_mate(sample: &Sample, threshold_cp: u32) -> bool {
    sample.mate || sample.score_cp.unsigned_abs() >= threshold_cp
}

/// Finds the mates among the samples of one engine.
pub fn report(samples: &[Sample], threshold: Threshold) -> MateReport {
    let spike = lowest_spike(samples);
    // a table of samples marks the mates of the threshold with which it was made
    let within = |s: &Spike, cp: u32| (s.from_cp..=s.to_cp).contains(&cp);
    let is_marked = |s: &Spike| samples.iter().all(|one| one.mate || !within(s, one.score_cp.unsigned_abs()));
    let cp = match threshold {
        Threshold::Cp(cp) if cp != DEFAULT_THRESHOLD_CP || !spike.as_ref().is_some_and(is_marked) => cp,
        _ => spike.map_or(DEFAULT_THRESHOLD_CP, |s| s.threshold().min(DEFAULT_THRESHOLD_CP)),
    };
    let mut report = MateReport { threshold_cp: cp, auto: threshold == Threshold::Auto, ..MateReport::default() };
    for sample in samples {
        if is_mate(sample, cp) {
            report.beyond += 1;
            report.wrong_sided += u64::from(is_wrong_sided(sample));
        } else {
            report.largest_cp_left = Some(report.largest_cp_left.unwrap_or(0).max(sample.score_cp.unsigned_abs()));
        }
    }
    report.spike_below = spike.filter(|s| s.to_cp < cp && !is_marked(s));
    // mates of one size under the threshold have a warning of their own
    report.cut = cut(samples, cp).filter(|_| report.spike_below.is_none());
    report
}

/// Whether a mate contradicts the outcome: a win announced and not won, or a loss announced and not lost.
pub fn is_wrong_sided(sample: &Sample) -> bool {
    match sample.outcome {
        Outcome::Win => sample.score_cp < 0,
        Outcome::Draw => true,
        Outcome::Loss => sample.score_cp > 0,
    }
}

/// The mates of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MateReport {
    /// The threshold in use.
    pub threshold_cp: u32,
    /// Whether it was found, not given.
    pub auto: bool,
    /// Samples at the threshold and beyond.
    pub beyond: u64,
    /// Those among them whose game ended otherwise, draws included.
    pub wrong_sided: u64,
    /// The largest size left below it.
    pub largest_cp_left: Option<u32>,
    /// A spike below it: the threshold is probably too high.
    pub spike_below: Option<Spike>,
    /// The evaluations were cut to a size.
    pub cut: Option<Cut>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Color;

    fn samples(scores: impl IntoIterator<Item = i32>) -> Vec<Sample> {
        let sample = |score_cp| Sample {
            game: 0,
            engine: 0,
            opponent: 1,
            color: Color::Black,
            ply: 40,
            window: 0,
            score_cp,
            reply_cp: None,
            declared: None,
            mate: false,
            material: None,
            outcome: Outcome::Win,
            line: 1,
        };
        scores.into_iter().map(sample).collect()
    }

    #[test]
    fn a_spike_is_found_and_named() {
        // evaluations up to 9,000, sjaakii's mates at 15,988 to 16,000
        let scores = (0..300).map(|i| i * 30 * if i % 2 == 0 { 1 } else { -1 }).chain((0..12).map(|i| 15_988 + i));
        let all = samples(scores);
        let spike = lowest_spike(&all);
        assert_eq!(spike, Some(Spike { below_cp: 8_970, from_cp: 15_988, to_cp: 15_999, samples: 12 }));
        let fixed = report(&all, Threshold::Cp(20_000));
        assert_eq!((fixed.beyond, fixed.spike_below), (0, spike));
        let auto = report(&all, Threshold::Auto);
        assert_eq!((auto.threshold_cp, auto.beyond, auto.wrong_sided, auto.spike_below), (10_000, 12, 0, None));
        assert_eq!(auto.largest_cp_left, Some(8_970));
    }

    #[test]
    fn mates_that_are_marked_give_the_default_threshold_and_no_warning() {
        let mut all = samples((0..300).map(|i| i * 30).chain((0..12).map(|i| 15_988 + i)));
        all.iter_mut().filter(|s| s.score_cp > 15_000).for_each(|s| s.mate = true);
        let found = report(&all, Threshold::Cp(DEFAULT_THRESHOLD_CP));
        assert_eq!((found.threshold_cp, found.beyond, found.spike_below), (10_000, 12, None));
        let given = report(&all, Threshold::Cp(18_000));
        assert_eq!((given.threshold_cp, given.beyond, given.spike_below), (18_000, 12, None));
        all[305].mate = false;
        assert!(report(&all, Threshold::Cp(DEFAULT_THRESHOLD_CP)).spike_below.is_some());
    }

    #[test]
    fn few_scores_of_nearly_one_size_are_a_spike_in_many() {
        // 14 tablebase scores among 9,000 evaluations, and mates above
        let evaluations = (0..9_000).map(|i| (i % 900) * 10);
        let all = samples(evaluations.clone().chain((0..14).map(|i| 15_393 + 3 * i / 2)).chain([31_900; 40]));
        let spike = lowest_spike(&all).unwrap();
        assert_eq!((spike.from_cp, spike.samples), (15_393, 14));
        // as many that are spread out are not
        let spread = samples(evaluations.chain((0..14).map(|i| 15_393 + 15 * i)).chain([31_900; 40]));
        assert_eq!(lowest_spike(&spread).unwrap().from_cp, 31_900);
    }

    #[test]
    fn two_spikes_and_none() {
        let evaluations = (0..500).map(|i| i * 5);
        let both = evaluations.clone().chain([29_998; 20]).chain([100_000; 40]);
        let spike = lowest_spike(&samples(both)).map(|s| (s.from_cp, s.to_cp, s.samples));
        assert_eq!(spike, Some((29_998, 29_998, 20)));
        assert_eq!(lowest_spike(&samples(evaluations.clone())), None);
        // a few far evaluations are no spike
        assert_eq!(lowest_spike(&samples(evaluations.chain([4_000, 6_500, 9_000]))), None);
        assert_eq!(lowest_spike(&[]), None);
    }

    #[test]
    fn the_last_threshold_that_fits_counts() {
        let thresholds = Thresholds {
            default: Threshold::Cp(20_000),
            by_engine: vec![("sjaakii*".to_owned(), Threshold::Cp(15_000)), ("*2".to_owned(), Threshold::Auto)],
        };
        assert_eq!(thresholds.of("sjaakii"), Threshold::Cp(15_000));
        assert_eq!(thresholds.of("sjaakii2"), Threshold::Auto);
        assert_eq!(thresholds.of("other"), Threshold::Cp(20_000));
    }

    #[test]
    fn scores_that_were_cut_are_found() {
        let cut_at = |limit: i32| samples((-250..=250).map(|i| (i * 4).clamp(-limit, limit)));
        assert_eq!(report(&cut_at(600), Threshold::Cp(20_000)).cut, Some(Cut { cp: 600, samples: 202 }));
        assert_eq!(report(&cut_at(1_000), Threshold::Cp(20_000)).cut, None);
        // scores of few sizes, of which the largest is no more frequent than others, and mates under the threshold
        assert_eq!(report(&samples((0..600).map(|i| i % 5 * 100)), Threshold::Cp(20_000)).cut, None);
        let mates = (0..600).map(|i| if i % 10 == 0 { 15_000 } else { i % 800 });
        assert_eq!(report(&samples(mates), Threshold::Cp(20_000)).cut, None);
    }

    #[test]
    fn extreme_scores_do_not_overflow() {
        let all = samples([i32::MIN, i32::MAX, 0]);
        assert_eq!(report(&all, Threshold::Auto).beyond, 2);
    }
}
