//! Do 95% intervals contain the true value? 2,000 replicates of 400 correlated games with known truth.
//!
//! ```text
//! cargo bench --bench coverage                          prints the table
//! cargo bench --bench coverage -- --replicates 200      fewer replicates
//! cargo bench --bench coverage -- --few                 how well intervals of w1 hold with few games
//! cargo bench --bench coverage -- --plot docs/plots     also draws coverage.svg and coverage.png into that folder
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::PathBuf;

use evalcurve_testkit::coverage::{CoverageOptions, FewGames, coverage, few_games};

fn main() {
    let mut options = CoverageOptions::default();
    let mut few = false;
    let mut plot: Option<PathBuf> = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--replicates" => {
                let value = arguments.next().and_then(|n| n.parse().ok());
                options.replicates = value.expect("--replicates takes a number");
            }
            "--few" => few = true,
            "--plot" => plot = Some(arguments.next().expect("--plot takes a folder").into()),
            // cargo passes this flag
            "--bench" => {}
            other => panic!("'{other}' is not known; see the head of this file"),
        }
    }
    if few {
        return print_few(&options);
    }
    println!(
        "truth w1 = {}, w2 = {}; {} replicates of {} games with {} to {} samples, {:.0}% of the variance shared; \
         {} resamples; seed {}",
        options.truth.w1,
        options.truth.w2,
        options.replicates,
        options.games,
        options.samples.0,
        options.samples.1,
        100.0 * options.shared,
        options.resamples,
        options.seed
    );
    let found = coverage(&options);
    println!("{:<20} {:<17} {:<10} {:>8}  {:<16} {:>10}", "fit", "of", "interval", "covers", "[95%]", "width");
    for c in &found {
        let (share, (low, high)) = c.share();
        println!(
            "{:<20} {:<17} {:<10} {:>7.1}%  [{:.1}%, {:.1}%]   {:>10.3e}",
            c.method.as_str(),
            c.quantity.as_str(),
            c.interval.as_str(),
            100.0 * share,
            100.0 * low,
            100.0 * high,
            c.mean_width
        );
    }
    if let Some(folder) = plot {
        use evalcurve::plot::PlotOptions;
        use evalcurve_testkit::coverage::bars_of_coverage;
        use evalcurve_testkit::coverage_figure::coverage as draw;
        let figure = draw(&bars_of_coverage(&found, &options), &PlotOptions::default()).expect("draw");
        std::fs::create_dir_all(&folder).expect("make the folder of --plot");
        std::fs::write(folder.join("coverage.svg"), figure.svg()).expect("write");
        std::fs::write(folder.join("coverage.png"), figure.png(figure.scale()).expect("png")).expect("write");
        println!("plot written to {}", folder.join("coverage.svg").display());
    }
}

/// Prints how often the interval of w1 holds the truth with few games.
fn print_few(options: &CoverageOptions) {
    println!(
        "{} replicates, {:.0}% of the variance shared, seed {}; maximum likelihood",
        options.replicates,
        100.0 * options.shared,
        options.seed
    );
    println!(
        "{:>5} {:>8}  {:>6} {:>6} {:>7}  at +500: {:>10} {:>9} {:>10}",
        "games", "samples", "fitted", "normal", "Student", "covariance", "bootstrap", "median w1"
    );
    for (games, samples) in [(3, 10), (10, 3), (20, 3), (30, 2), (60, 1), (100, 2), (400, 5)] {
        let found = few_games(&FewGames { games, samples }, options);
        println!(
            "{games:>5} {:>8}  {:>6} {:>5.1}% {:>6.1}% {:>19.1}% {:>8.1}% {:>10.2}",
            games * samples,
            found.fitted,
            100.0 * found.normal,
            100.0 * found.student,
            100.0 * found.bands[0],
            100.0 * found.bands[1],
            found.median
        );
    }
}
