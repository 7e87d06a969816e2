//! Results counted by engine and quantile bin, and their resamples.

use std::collections::HashMap;

use evalcurve_fit::curve::{Z_95, wilson};
use evalcurve_words::random;
use rayon::prelude::*;

use super::MismatchOptions;
use super::rows::{MIN_CELL, MismatchRow, quantile_edges};

/// Key of the draws of the bootstrap.
const KEY: u64 = 0x6d69_736d_6174_6368;

/// Resamples per task; the draws do not depend on it.
const CHUNK: usize = 16;

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

/// M² of every transform in every resample of the games. Sample i of every transform belongs to `game_of[i]`.
pub(super) fn resample(game_of: &[u64], ids: &[u64], cells: &[Cells], options: &MismatchOptions) -> Vec<Vec<f64>> {
    let index: HashMap<u64, u32> = ids.iter().copied().zip(0..).collect();
    let game: Vec<u32> = game_of.iter().map(|id| index.get(id).copied().unwrap_or(0)).collect();
    let games = ids.len() as u64;
    let one = |r: u32| {
        let mut times = vec![0.0; ids.len()];
        for i in 0..games {
            times[random::below(games, &[KEY ^ options.seed, u64::from(r), i]) as usize] += 1.0;
        }
        cells
            .iter()
            .map(|transform| {
                let mut drawn = transform.empty();
                for (&(cell, y), &game) in transform.samples.iter().zip(&game) {
                    drawn[cell as usize].add(times[game as usize], y);
                }
                transform.m_squared(&drawn)
            })
            .collect()
    };
    (0..options.resamples).into_par_iter().with_min_len(CHUNK).map(one).collect()
}
