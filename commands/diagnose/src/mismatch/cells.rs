//! Results counted by engine and quantile bin, and their resamples.

use std::collections::HashMap;

use evalcurve_fit::curve::{Z_95, wilson};
use evalcurve_fit::parallel;
use evalcurve_words::random;

use super::MismatchOptions;
use super::rows::{MIN_CELL, MismatchRow, quantile_edges};

/// Key of the draws of the bootstrap.
const KEY: u64 = 0x6d69_736d_6174_6368;

/// An engine in one quantile bin of the pooled values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellPoint {
    /// The middle of the bin as a share of all samples, in 0..1.
    pub quantile: f64,
    /// Mean result.
    pub result: f64,
    /// Ends of its 95% interval (Wilson).
    pub interval: (f64, f64),
    /// Samples.
    pub count: u64,
}

/// Counts of one engine in one bin of a resample.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    n: f64,
    sum: f64,
    squares: f64,
}

/// The samples of a transform as cells of engine and quantile bin.
pub(super) struct Cells {
    engines: usize,
    bins: usize,
    /// cell and result of each sample
    pub samples: Vec<(u32, f64)>,
}

impl Cells {
    pub(crate) fn new(rows: &[MismatchRow], engines: usize) -> Self {
        let edges = quantile_edges(rows);
        let bin = |value: f64| edges.partition_point(|edge| *edge < value);
        let code = |r: &MismatchRow| ((bin(r.value) * engines + r.engine) as u32, r.result);
        Self { engines, bins: edges.len() + 1, samples: rows.iter().map(code).collect() }
    }

    pub(crate) fn empty(&self) -> Vec<Cell> {
        vec![Cell::default(); self.engines * self.bins]
    }

    /// M² of cells, by the formula of [`scale_mismatch`](super::scale_mismatch).
    pub(crate) fn m_squared(&self, cells: &[Cell]) -> f64 {
        let (mut weighted, mut total) = (0.0, 0.0);
        for bin in cells.chunks_exact(self.engines) {
            let used = || bin.iter().filter(|c| c.n >= MIN_CELL as f64);
            let n: f64 = used().map(|c| c.n).sum();
            if n == 0.0 {
                continue;
            }
            let mean = used().map(|c| c.sum).sum::<f64>() / n;
            let variance = (used().map(|c| c.squares).sum::<f64>() - n * mean * mean) / (n - 1.0);
            let spread: f64 = used()
                .map(|c| {
                    let gap = c.sum / c.n - mean;
                    c.n / n * (gap * gap - variance * (1.0 / c.n - 1.0 / n))
                })
                .sum();
            weighted += n * spread;
            total += n;
        }
        weighted / total
    }

    /// M² where the game of each sample counts as many times as was drawn.
    fn resampled(&self, game: &[u32], times: &[[f32; LANES]]) -> [f64; LANES] {
        let mut drawn = vec![[[0.0; LANES]; 3]; self.engines * self.bins];
        for (&(cell, y), &game) in self.samples.iter().zip(game) {
            let ([n, sum, squares], times) = (&mut drawn[cell as usize], &times[game as usize]);
            for lane in 0..LANES {
                let times = f64::from(times[lane]);
                n[lane] += times;
                sum[lane] += times * y;
                squares[lane] += times * y * y;
            }
        }
        std::array::from_fn(|lane| {
            let cell =
                |[n, sum, squares]: &[[f64; LANES]; 3]| Cell { n: n[lane], sum: sum[lane], squares: squares[lane] };
            self.m_squared(&drawn.iter().map(cell).collect::<Vec<Cell>>())
        })
    }

    /// The mean results by engine and bin, for cells with 5 or more samples.
    pub(crate) fn curves(&self) -> Vec<Vec<CellPoint>> {
        let mut cells = self.empty();
        self.samples.iter().for_each(|&(cell, y)| cells[cell as usize].add(1.0, y));
        let point = |bin: usize, cell: &Cell| CellPoint {
            quantile: (bin as f64 + 0.5) / self.bins as f64,
            result: cell.sum / cell.n,
            interval: wilson(cell.sum.clamp(0.0, cell.n), cell.n, Z_95),
            count: cell.n as u64,
        };
        (0..self.engines)
            .map(|e| {
                let of_bin = |bin| (bin, &cells[bin * self.engines + e]);
                (0..self.bins).map(of_bin).filter(|(_, c)| c.n >= MIN_CELL as f64).map(|(b, c)| point(b, c)).collect()
            })
            .collect()
    }
}

impl Cell {
    pub(crate) fn add(&mut self, times: f64, y: f64) {
        self.n += times;
        self.sum += times * y;
        self.squares += times * y * y;
    }
}

/// Resamples that are drawn side by side: a sample is looked up once for all of them. The draws do not depend on it.
const LANES: usize = 8;

/// M² of every transform in every resample of the games. Sample i of every transform belongs to `game_of[i]`.
pub(super) fn resample(game_of: &[u64], ids: &[u64], cells: &[Cells], options: &MismatchOptions) -> Vec<Vec<f64>> {
    let index: HashMap<u64, u32> = ids.iter().copied().zip(0..).collect();
    let game: Vec<u32> = game_of.iter().map(|id| index.get(id).copied().unwrap_or(0)).collect();
    let keys: Vec<u64> = (0..ids.len() as u64).map(random::mixed).collect();
    let side_by_side = |block: usize| {
        let mut times = vec![[0f32; LANES]; ids.len()];
        let draws: [random::Prefix; LANES] =
            std::array::from_fn(|lane| random::Prefix::new(&[KEY ^ options.seed, (block * LANES + lane) as u64]));
        for (lane, draws) in draws.into_iter().enumerate() {
            for key in &keys {
                times[draws.below_mixed(ids.len() as u64, *key) as usize][lane] += 1.0;
            }
        }
        let of_transforms: Vec<[f64; LANES]> = cells.iter().map(|cells| cells.resampled(&game, &times)).collect();
        (0..LANES).map(|lane| of_transforms.iter().map(|of| of[lane]).collect()).collect()
    };
    let blocks: Vec<Vec<Vec<f64>>> = parallel::map((options.resamples as usize).div_ceil(LANES), side_by_side);
    blocks.into_iter().flatten().take(options.resamples as usize).collect()
}
