//! What each scale is worth on positions that two engines scored one after the other, by fits that have not seen the
//! game: the table of docs/method.md.
//!
//! ```text
//! cargo bench --bench scale -- RECORDS… [--min-samples N]
//! cargo bench --bench scale -- --invented 3000          councils whose right decisions are known
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;
use std::time::Instant;

use evalcurve::calibrate::{CalibrateOptions, cases, mark_mates, ratings};
use evalcurve::fit::ModelKind;
use evalcurve::sample::{CollectOptions, Progress, collect_with_rows};
use evalcurve::validate::FoldOptions;
use evalcurve_testkit::agreement::{JudgedScale, agreement};

/// Prints how often invented councils follow the right member.
fn print_invented(councils: u64) {
    use evalcurve::fit::{ModelKind, Reading};
    let scales = [
        (ModelKind::MaximumLikelihood, Reading::Field),
        (ModelKind::MaximumLikelihood, Reading::Equal),
        (ModelKind::Joint, Reading::Field),
        (ModelKind::Joint, Reading::Equal),
    ];
    println!("{councils} invented councils of three, 300 games per member; a fair scale follows each field in 33.3%");
    let found = evalcurve_testkit::order::recovered(councils, 201_806, &scales);
    for ((kind, reading), found) in scales.iter().zip(found) {
        let share = |n: u64| 100.0 * n as f64 / found.decisions as f64;
        println!(
            "{:<20} {:<8} {:>6} decisions, right {:.1}%, easiest field {:.1}%",
            kind.as_str(),
            format!("{reading:?}").to_lowercase(),
            found.decisions,
            share(found.right),
            share(found.easiest)
        );
    }
}

fn main() {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut min_samples = 100;
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    while let Some(argument) = arguments.next() {
        if argument == "--invented" {
            return print_invented(arguments.next().and_then(|n| n.parse().ok()).expect("--invented N"));
        } else if argument == "--min-samples" {
            min_samples = arguments.next().and_then(|n| n.parse().ok()).expect("--min-samples N");
        } else {
            paths.push(argument.into());
        }
    }
    if paths.is_empty() {
        return println!("no records given: nothing to judge");
    }
    let collecting = CollectOptions { threads: 2, ..CollectOptions::default() };
    let mut table = collect_with_rows(&paths, &[], &collecting, &Progress::default()).expect("records").table;
    ratings::fill(&mut table);
    let options = CalibrateOptions { min_samples, ..CalibrateOptions::default() };
    mark_mates(&mut table, &options.thresholds);
    let mut engines = cases(&table, options.mate_policy, options.clip_cp);
    engines.retain(|e| e.cases.len() as u64 >= min_samples);
    let fit = options.fit_options(&table);
    println!("{} engines with {min_samples} samples or more", engines.len());
    let scales = [
        ("raw / 600", JudgedScale::Raw(600.0)),
        ("raw / 400", JudgedScale::Raw(400.0)),
        ("raw / 300", JudgedScale::Raw(300.0)),
        ("raw / 200", JudgedScale::Raw(200.0)),
        ("maximum likelihood, field", JudgedScale::Field(ModelKind::MaximumLikelihood)),
        ("maximum likelihood, equal", JudgedScale::Equal(ModelKind::MaximumLikelihood)),
        ("least squares, equal", JudgedScale::Equal(ModelKind::LeastSquares)),
        ("lapse, equal", JudgedScale::Equal(ModelKind::Lapse)),
        ("joint, field", JudgedScale::Field(ModelKind::Joint)),
        ("joint, equal", JudgedScale::Equal(ModelKind::Joint)),
        ("joint, real difference", JudgedScale::AtDifference(ModelKind::Joint)),
        ("joint, real strengths", JudgedScale::AtStrengths(ModelKind::Joint)),
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
