//! Results counted by engine and quantile bin, and their resamples.

use std::collections::HashMap;

use evalcurve_fit::curve::{Z_95, wilson};
use evalcurve_fit::parallel;
use evalcurve_words::random;

use super::MismatchOptions;
use super::rows::{MIN_CELL, MismatchRow};

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

/// The samples of a transform as cells of engine and quantile bin. Those of an engine lie side by side, as its samples
/// do.
pub(super) struct Cells {
    engines: usize,
    bins: usize,
    samples: Samples,
}

/// The cell and the result of each sample.
enum Samples {
    /// Where each result is 0, ½ or 1: three times the cell and twice the result, whose counts are all that sums need.
    Counted(Vec<u32>),
    Any(Vec<(u32, f64)>),
}

impl Cells {
    /// Cuts the rows at the edges of the bins.
    pub(crate) fn new(rows: &[MismatchRow], edges: &[f64], engines: usize) -> Self {
        let bin = |value: f64| edges.partition_point(|edge| *edge < value);
        let bins = edges.len() + 1;
        let cell = |r: &MismatchRow| (r.engine * bins + bin(r.value)) as u32;
        let doubled = |r: &MismatchRow| [0.0, 0.5, 1.0].iter().position(|y| *y == r.result);
        let counted = rows.iter().map(|r| Some(3 * cell(r) + doubled(r)? as u32)).collect();
        let any = || Samples::Any(rows.iter().map(|r| (cell(r), r.result)).collect());
        Self { engines, bins, samples: Option::map_or_else(counted, any, Samples::Counted) }
    }

    /// The cells, with each sample once.
    pub(crate) fn counted(&self) -> Vec<Cell> {
        let mut drawn = Drawn::new(self);
        let samples = match &self.samples {
            Samples::Counted(samples) => samples.len(),
            Samples::Any(samples) => samples.len(),
        };
        (0..samples).for_each(|sample| drawn.add(self, sample, &[1; LANES]));
        drawn.lane(0).collect()
    }

    /// M² of cells in their order, by the formula of [`scale_mismatch`](super::rows::scale_mismatch). Of the cells of a
    /// bin it takes sums alone: Σ n (mean - all)² is Σ sum²/n - N all², and Σ n (1/n - 1/N) their number less one.
    pub(crate) fn m_squared(&self, cells: impl Iterator<Item = Cell>) -> f64 {
        // the sums of a bin, Σ sum²/n and the number of its cells
        let mut bins = vec![(Cell::default(), 0.0, 0.0); self.bins];
        for (bin, c) in (0..self.bins).cycle().zip(cells).filter(|(_, c)| c.n >= MIN_CELL as f64) {
            let (all, between, number) = &mut bins[bin];
            *all = Cell { n: all.n + c.n, sum: all.sum + c.sum, squares: all.squares + c.squares };
            *between += c.sum * c.sum / c.n;
            *number += 1.0;
        }
        let (mut weighted, mut total) = (0.0, 0.0);
        for (Cell { n, sum, squares }, between, number) in bins.into_iter().filter(|(all, ..)| all.n > 0.0) {
            let within = sum * sum / n;
            weighted += between - within - (squares - within) / (n - 1.0) * (number - 1.0);
            total += n;
        }
        weighted / total
    }

    /// The mean results by engine and bin, for cells with 5 or more samples.
    pub(crate) fn curves(&self) -> Vec<Vec<CellPoint>> {
        let cells = self.counted();
        let point = |bin: usize, cell: &Cell| CellPoint {
            quantile: (bin as f64 + 0.5) / self.bins as f64,
            result: cell.sum / cell.n,
            interval: wilson(cell.sum.clamp(0.0, cell.n), cell.n, Z_95),
            count: cell.n as u64,
        };
        (0..self.engines)
            .map(|e| {
                let of_bin = |bin| (bin, &cells[e * self.bins + bin]);
                (0..self.bins).map(of_bin).filter(|(_, c)| c.n >= MIN_CELL as f64).map(|(b, c)| point(b, c)).collect()
            })
            .collect()
    }
}

/// Resamples that are drawn side by side: a sample is looked up once for all of them. The draws do not depend on it.
const LANES: usize = 8;

/// What each cell has in all resamples that are drawn side by side.
enum Drawn {
    /// How often each result was drawn, three for each cell.
    Counts(Vec<[u32; LANES]>),
    /// Count, sum and sum of squares.
    Sums(Vec<[[f64; LANES]; 3]>),
}

impl Drawn {
    fn new(cells: &Cells) -> Self {
        let all = cells.engines * cells.bins;
        match cells.samples {
            Samples::Counted(_) => Self::Counts(vec![[0; LANES]; 3 * all]),
            Samples::Any(_) => Self::Sums(vec![[[0.0; LANES]; 3]; all]),
        }
    }

    /// Adds a sample whose game was drawn so many times.
    #[inline]
    fn add(&mut self, cells: &Cells, sample: usize, times: &[u32; LANES]) {
        match (self, &cells.samples) {
            (Self::Counts(counts), Samples::Counted(samples)) => {
                let count = &mut counts[samples[sample] as usize];
                count.iter_mut().zip(times).for_each(|(count, times)| *count += times);
            }
            (Self::Sums(sums), Samples::Any(samples)) => {
                let (cell, y) = samples[sample];
                let [n, sum, squares] = &mut sums[cell as usize];
                for (lane, times) in times.iter().enumerate() {
                    let times = f64::from(*times);
                    n[lane] += times;
                    sum[lane] += times * y;
                    squares[lane] += times * y * y;
                }
            }
            _ => {}
        }
    }

    /// The cells of one resample.
    fn lane(&self, lane: usize) -> impl Iterator<Item = Cell> {
        let of_counts = move |[lost, drawn, won]: &[[u32; LANES]; 3]| {
            let [lost, drawn, won] = [lost, drawn, won].map(|count| f64::from(count[lane]));
            Cell { n: lost + drawn + won, sum: won + 0.5 * drawn, squares: won + 0.25 * drawn }
        };
        let of_sums =
            move |[n, sum, squares]: &[[f64; LANES]; 3]| Cell { n: n[lane], sum: sum[lane], squares: squares[lane] };
        let (counts, sums) = match self {
            Self::Counts(counts) => (counts.as_chunks().0, &[][..]),
            Self::Sums(sums) => (&[][..], &sums[..]),
        };
        counts.iter().map(of_counts).chain(sums.iter().map(of_sums))
    }
}

/// M² of every transform in every resample of the games. Sample i of every transform belongs to `game_of[i]`.
pub(super) fn resample(game_of: &[u64], ids: &[u64], cells: &[Cells], options: &MismatchOptions) -> Vec<Vec<f64>> {
    let index: HashMap<u64, u32> = ids.iter().copied().zip(0..).collect();
    let game: Vec<u32> = game_of.iter().map(|id| index.get(id).copied().unwrap_or(0)).collect();
    let keys: Vec<u64> = (0..ids.len() as u64).map(random::mixed).collect();
    let side_by_side = |block: usize| {
        let mut times = vec![[0u32; LANES]; ids.len()];
        let draws: [random::Prefix; LANES] =
            std::array::from_fn(|lane| random::Prefix::new(&[KEY ^ options.seed, (block * LANES + lane) as u64]));
        for (lane, draws) in draws.into_iter().enumerate() {
            for key in &keys {
                times[draws.below_mixed(ids.len() as u64, *key) as usize][lane] += 1;
            }
        }
        let mut drawn: Vec<Drawn> = cells.iter().map(Drawn::new).collect();
        for (sample, &game) in game.iter().enumerate() {
            let times = times[game as usize];
            cells.iter().zip(&mut drawn).for_each(|(cells, drawn)| drawn.add(cells, sample, &times));
        }
        let m_squared =
            |lane: usize| cells.iter().zip(&drawn).map(|(cells, drawn)| cells.m_squared(drawn.lane(lane))).collect();
        (0..LANES).map(m_squared).collect()
    };
    let blocks: Vec<Vec<Vec<f64>>> = parallel::map((options.resamples as usize).div_ceil(LANES), side_by_side);
    blocks.into_iter().flatten().take(options.resamples as usize).collect()
}
