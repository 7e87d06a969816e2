//! What each scale is worth on positions that two engines scored one after the other, by fits that have not seen the
//! game: the table of docs/scale.md.
//!
//! ```text
//! cargo bench --bench scale -- RECORDS… [--min-samples N]
//! ```

use std::path::PathBuf;
use std::time::Instant;

use evalcurve::calibrate::{CalibrateOptions, cases, mark_mates, ratings};
use evalcurve::fit::ModelKind;
use evalcurve::sample::{CollectOptions, Progress, SamplingOptions, collect};
use evalcurve::validate::{FoldOptions, JudgedScale, Reading, agreement};

fn main() {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut min_samples = 100;
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    while let Some(argument) = arguments.next() {
        if argument == "--min-samples" {
            min_samples = arguments.next().and_then(|n| n.parse().ok()).expect("--min-samples N");
        } else {
            paths.push(argument.into());
        }
    }
    if paths.is_empty() {
        return println!("no records given: nothing to judge");
    }
    let collecting = CollectOptions {
        sampling: SamplingOptions::default(),
        threads: 2,
        strict: false,
        verify: false,
        material: false,
        format: None,
    };
    let mut table = collect(&paths, &collecting, &Progress::default()).expect("records").table;
    ratings::fill(&mut table);
    let options = CalibrateOptions { min_samples, ..CalibrateOptions::default() };
    mark_mates(&mut table, &options.thresholds);
    let mut engines = cases(&table, options.mate_policy, options.clip_cp);
    engines.retain(|e| e.cases.len() as u64 >= min_samples);
    let fit = options.fit_options(&table);
    println!("{} engines with {min_samples} samples or more", engines.len());
    let scales = [
        ("raw / 600", JudgedScale::Raw),
        ("maximum likelihood, field", JudgedScale::Fitted(ModelKind::MaximumLikelihood, Reading::Field)),
        ("maximum likelihood, equal", JudgedScale::Fitted(ModelKind::MaximumLikelihood, Reading::Equal)),
        ("least squares, equal", JudgedScale::Fitted(ModelKind::LeastSquares, Reading::Equal)),
        ("lapse, equal", JudgedScale::Fitted(ModelKind::Lapse, Reading::Equal)),
        ("strength shared, difference 0", JudgedScale::Fitted(ModelKind::StrengthShared, Reading::Field)),
        ("strength shared, equal", JudgedScale::Fitted(ModelKind::StrengthShared, Reading::Equal)),
        ("strength shared, real difference", JudgedScale::Fitted(ModelKind::StrengthShared, Reading::AtDifference)),
        ("joint, field", JudgedScale::Fitted(ModelKind::Joint, Reading::Field)),
        ("joint, equal", JudgedScale::Fitted(ModelKind::Joint, Reading::Equal)),
        ("joint, real difference", JudgedScale::Fitted(ModelKind::Joint, Reading::AtDifference)),
        ("joint, real strengths", JudgedScale::Fitted(ModelKind::Joint, Reading::AtStrengths)),
    ];
    for (name, scale) in scales {
        let start = Instant::now();
        let Some(a) = agreement(scale, &engines, &FoldOptions::default(), &fit) else {
            println!("{name:34} no shared positions");
            continue;
        };
        let easy = a
            .easy_field
            .map_or("-".to_owned(), |e| format!("{:.3} ± {:.3}", e.value, 1.96 * e.standard_error().unwrap_or(0.0)));
        println!(
            "{name:34} {} positions of {} games, difference {:.4}, easy field {easy} of {}, mean vote {:.5}, higher \
            vote {:.5}, {:.1} s",
            a.positions,
            a.games,
            a.difference.value,
            a.decisions,
            a.mean_vote.value,
            a.higher_vote.value,
            start.elapsed().as_secs_f64()
        );
    }
}
