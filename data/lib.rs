//! The data that the program carries.
//!
//! ```
//! let engines = evalcurve_data::ENGINES.lines().skip(1).count();
//! assert!(engines > 300);
//! ```

/// What a pawn meant to engines that published their scores: a head and a row per engine, separated by tabs.
/// `benches/atlas.py` of the repository makes it.
pub const ENGINES: &str = include_str!("atlas/engines.tsv");

/// Positions of shogi with the results of their games, compressed by zstd: one half to fit on, one to judge on.
pub const SHOGI: [(&str, &[u8]); 2] = [
    ("shogi-fit.sfen.zst", include_bytes!("positions/shogi-fit.sfen.zst")),
    ("shogi-judge.sfen.zst", include_bytes!("positions/shogi-judge.sfen.zst")),
];

/// Positions of chess, likewise.
pub const CHESS: [(&str, &[u8]); 2] = [
    ("chess-fit.epd.zst", include_bytes!("positions/chess-fit.epd.zst")),
    ("chess-judge.epd.zst", include_bytes!("positions/chess-judge.epd.zst")),
];
