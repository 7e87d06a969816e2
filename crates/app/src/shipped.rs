//! The positions in the program.

use std::collections::HashSet;

use evalcurve_engine::{Game, usi};
use evalcurve_words::random;

use crate::{Input, InputSource, Progress, Sample, Sampling};

/// The positions in the program, as `evalcurve analyse` reads them without a path: lines with the results of their
/// games, see `data/README.md`. The halves are there for those who fit on one and judge on the other. There are none of
/// games other than shogi and chess.
pub fn shipped(game: Game) -> Input {
    let halves = match game {
        Game::Shogi => evalcurve_data::SHOGI,
        Game::Chess => evalcurve_data::CHESS,
        _ => return Input::default(),
    };
    Input { sources: halves.map(|(name, bytes)| InputSource::Bytes(name.to_owned(), bytes.into())).into() }
}

/// The share within which constants are known at the end, unless the options say another.
pub const TARGET: f64 = 0.1;

/// Positions of the program after which constants are known within such a share, as a rule. Within 10% three engines of
/// shogi took 4,408, and in chess three took 6,346, three others 7,615 (`docs/analyse.md`). One engine alone took 4,408
/// in shogi, and in chess at depths 3 to 7 (2026-11-28) 3,062 to more than 14,000.
pub fn enough_positions(game: Game, target: f64) -> usize {
    let within_10 = if game == Game::Chess { 6_300.0 } else { 4_400.0 };
    (within_10 * (TARGET / target) * (TARGET / target)) as usize
}

/// Takes all positions of a set, scored or not: they were drawn when the set was made.
pub fn all_positions(sampling: &mut Sampling) {
    *sampling = Sampling { from_ply: Some(1), window: Some(1), unscored: true, ..sampling.clone() };
}

/// One position of each of so many games in the program, in an order that seed and games decide, and the number of all.
///
/// # Errors
/// [`Error`](crate::Error) of reading them.
pub fn shipped_positions(game: Game, count: usize) -> Result<(Vec<usi::Position>, usize), crate::Error> {
    let mut draw = Sample::default();
    all_positions(&mut draw.reading.sampling);
    let drawn = draw.run(&shipped(game), &Progress::default())?;
    let table = &drawn.value;
    let positions = table.samples.iter().filter_map(|sample| {
        let game = table.game(sample)?;
        let (start, moves) = drawn.positions.of(game, sample)?;
        let key = random::bits(&[random::DEFAULT_SEED, game.id, u64::from(sample.ply)]);
        Some((key, game.id, usi::Position { start: start.map(str::to_owned), moves: moves.to_vec() }))
    });
    let mut positions: Vec<_> = positions.collect();
    positions.sort_by_key(|(key, ..)| *key);
    let mut seen = HashSet::new();
    let few = positions.into_iter().filter(|(_, id, _)| seen.insert(*id)).take(count).map(|(.., at)| at).collect();
    Ok((few, table.samples.len()))
}
