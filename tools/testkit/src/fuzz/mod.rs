//! The bodies of the fuzz targets: functions over bytes that must hold for any input. `fuzz/` runs them under
//! libFuzzer, and the tests of this crate run them over the committed corpus, `fuzz/corpus.tar.gz`.
//!
//! A target panics where a promise is broken: not only on a crash, but also where a cut file gives other games than the
//! whole one, or where something that was written reads back differently.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod boards;
mod escape;
mod files;
mod growth;
mod lines;
mod readers;
mod texts;

/// One fuzz target.
#[derive(Debug)]
pub struct Target {
    /// The name of its program, dictionary and corpus.
    pub name: &'static str,
    /// What it promises.
    pub promise: &'static str,
    /// Panics unless these bytes are read as promised.
    pub run: fn(&[u8]),
}

/// All fuzz targets.
pub static TARGETS: &[Target] = &[
    Target { name: "csa", promise: readers::PROMISE, run: readers::csa },
    Target { name: "kif", promise: readers::PROMISE, run: readers::kif },
    Target { name: "pgn", promise: readers::PROMISE, run: readers::pgn },
    Target { name: "usi_log", promise: readers::PROMISE, run: readers::usi_log },
    Target { name: "votes", promise: readers::PROMISE, run: readers::votes },
    Target { name: "packed", promise: readers::PACKED_PROMISE, run: readers::packed },
    Target { name: "archive", promise: files::PROMISE, run: files::archive },
    Target { name: "samples", promise: files::SAMPLES_PROMISE, run: files::samples },
    Target { name: "growth", promise: growth::PROMISE, run: growth::growth },
    Target { name: "vote_log", promise: texts::VOTES_PROMISE, run: texts::vote_log },
    Target { name: "engine", promise: lines::ENGINE_PROMISE, run: lines::engine },
    Target { name: "gui", promise: lines::GUI_PROMISE, run: lines::gui },
    Target { name: "tcp", promise: lines::TCP_PROMISE, run: lines::tcp },
    Target { name: "calibration", promise: texts::CALIBRATION_PROMISE, run: texts::calibration },
    Target { name: "council_config", promise: texts::CONFIG_PROMISE, run: texts::council_config },
    Target { name: "tournament", promise: texts::TOURNAMENT_PROMISE, run: texts::tournament },
    Target { name: "openings", promise: files::OPENINGS_PROMISE, run: files::openings },
    Target { name: "results", promise: texts::RESULTS_PROMISE, run: texts::results },
    Target { name: "expression", promise: texts::EXPRESSION_PROMISE, run: texts::expression },
    Target { name: "chess", promise: boards::PROMISE, run: boards::chess },
    Target { name: "shogi", promise: boards::PROMISE, run: boards::shogi },
    Target { name: "minishogi", promise: boards::PROMISE, run: boards::minishogi },
    Target { name: "svg", promise: escape::PROMISE, run: escape::svg },
];

/// Runs the target with this name.
///
/// # Panics
/// There is no such target, or it fails.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("there is no target {name}")).run)(bytes);
}
