//! Results counted by engine and quantile bin, and their resamples.

use std::collections::HashMap;

use evalcurve_fit::curve::{Z_95, wilson};
use evalcurve_fit::parallel;
use evalcurve_fit::validate::ScoreOptions;
use evalcurve_words::random;

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
pub(crate) struct Cell {
    n: f64,
    sum: f64,
    squares: f64,
}

/// The samples of a transform as cells of engine and quantile bin. Those of an engine lie side by side, as its samples
/// do.
pub(crate) struct Cells {
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
    /// Cuts the rows into quantile bins of the pooled values.
    pub(crate) fn new(rows: &[MismatchRow], engines: usize) -> Self {
        let edges = quantile_edges(rows);
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
        drawn.add(self, std::iter::repeat([1; LANES]));
        drawn.lane(0).collect()
    }

    /// The scale mismatch M² of cells in their order, and how many samples it counts; M² is NaN without any.
    ///
    /// The pooled values are cut into quantile bins t; cells (engine e, bin t) with fewer than 5 samples are left out;
    /// ȳ_e and ȳ are the mean results of cell and bin, n_e and n their counts, N the total after that, s² the bin's
    /// sample variance (ddof 1):
    ///
    /// M² = Σ_t n/N Σ_e n_e/n [ (ȳ_e - ȳ)² - s²(1/n_e - 1/n) ].
    ///
    /// The term of s² subtracts what sampling alone adds, so that M² is 0 on average where the scale is good, and
    /// negative at times. It takes samples for independent; where many are of one game, M² stays above 0.
    ///
    /// Sums are all that a bin needs: Σ n_e (ȳ_e - ȳ)² is Σ sum²/n_e - n ȳ², and Σ n_e (1/n_e - 1/n) the number of its
    /// cells less one.
    pub(crate) fn m_squared(&self, cells: impl Iterator<Item = Cell>) -> (f64, u64) {
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
        (weighted / total, total as u64)
    }

    /// The mean results by engine and bin of all cells in their order, for those with 5 or more samples.
    pub(crate) fn curves(&self, cells: &[Cell]) -> Vec<Vec<CellPoint>> {
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

    /// Adds all samples, whose games were drawn so many times.
    fn add(&mut self, cells: &Cells, times: impl Iterator<Item = [u32; LANES]>) {
        match (self, &cells.samples) {
            (Self::Counts(counts), Samples::Counted(samples)) => {
                for (sample, times) in samples.iter().zip(times) {
                    counts[*sample as usize].iter_mut().zip(times).for_each(|(count, times)| *count += times);
                }
            }
            (Self::Sums(sums), Samples::Any(samples)) => {
                for (&(cell, y), times) in samples.iter().zip(times) {
                    let [n, sum, squares] = &mut sums[cell as usize];
                    for (lane, times) in times.into_iter().enumerate() {
                        let times = f64::from(times);
                        n[lane] += times;
                        sum[lane] += times * y;
                        squares[lane] += times * y * y;
                    }
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
pub(super) fn resample(game_of: &[u64], ids: &[u64], cells: &[Cells], options: &ScoreOptions) -> Vec<Vec<f64>> {
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
        let of_cells = |cells| {
            let mut drawn = Drawn::new(cells);
            drawn.add(cells, game.iter().map(|game| times[*game as usize]));
            drawn
        };
        let drawn: Vec<Drawn> = cells.iter().map(of_cells).collect();
        let m_squared =
            |lane: usize| cells.iter().zip(&drawn).map(|(cells, drawn)| cells.m_squared(drawn.lane(lane)).0).collect();
        (0..LANES).map(m_squared).collect()
    };
    let blocks: Vec<Vec<Vec<f64>>> = parallel::map((options.resamples as usize).div_ceil(LANES), side_by_side);
    blocks.into_iter().flatten().take(options.resamples as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_words::random;

    /// Two engines with p = logistic(value) and p = logistic(value - shift), by inversion of a counter-based draw.
    fn two_engines(shift: f64) -> Vec<MismatchRow> {
        (0..20_000u64)
            .map(|i| {
                let engine = (i % 2) as usize;
                let value = 4.0 * random::unit(&[1, i]) - 2.0;
                let p = 1.0 / (1.0 + libm::exp(-(value - shift * engine as f64)));
                let result = f64::from(u8::from(random::unit(&[2, i]) < p));
                MismatchRow { engine, value, result }
            })
            .collect()
    }

    fn m_squared(rows: &[MismatchRow], engines: usize) -> (f64, u64) {
        let cells = Cells::new(rows, engines);
        cells.m_squared(cells.counted().into_iter())
    }

    #[test]
    fn mismatch_is_near_zero_on_a_good_scale_and_large_on_a_bad_one() {
        let (good, samples) = m_squared(&two_engines(0.0), 2);
        assert_eq!(samples, 20_000);
        assert!(good.abs() < 2e-4, "{good}");
        // the means differ by about 0.2 in the middle, so each is 0.1 off the pooled mean
        let bad = m_squared(&two_engines(1.0), 2).0.sqrt();
        assert!((0.08..0.12).contains(&bad), "{bad}");
    }

    #[test]
    fn mismatch_of_a_worked_example() {
        // one bin only, since all values are equal; engine 0: 4 of 5, engine 1: 2 of 5, engine 2 too small
        let row = |engine, result| MismatchRow { engine, value: 3.0, result };
        let mut rows: Vec<_> = [1.0, 1.0, 1.0, 1.0, 0.0].into_iter().map(|y| row(0, y)).collect();
        rows.extend([1.0, 1.0, 0.0, 0.0, 0.0].into_iter().map(|y| row(1, y)));
        rows.push(row(2, 1.0));
        let (found, samples) = m_squared(&rows, 3);
        // ȳ = 0.6, s² = 2.4/9, M² = 0.04 - s²(1/5 - 1/10)
        assert!((found - (0.04 - 2.4 / 9.0 * 0.1)).abs() < 1e-15);
        assert_eq!(samples, 10);
        assert_eq!(m_squared(&[], 0).1, 0);
        assert_eq!(m_squared(&rows[..3], 1).1, 0);
    }

    #[test]
    fn mismatch_does_not_depend_on_the_order() {
        for seed in 0..256 {
            let row = |i: u64| {
                let draw = |key: u64, below: u64| random::below(below, &[seed, i, key]);
                let (value, result) = (0.1 * (draw(2, 10) as f64 - 5.0), 0.5 * draw(3, 3) as f64);
                MismatchRow { engine: draw(1, 3) as usize, value, result }
            };
            let rows: Vec<MismatchRow> = (0..100 + random::below(200, &[seed])).map(row).collect();
            let mut keyed: Vec<_> = rows.iter().copied().enumerate().collect();
            keyed.sort_by_key(|(i, _)| random::bits(&[seed, *i as u64]));
            let shuffled: Vec<_> = keyed.into_iter().map(|(_, r)| r).collect();
            assert_eq!(m_squared(&rows, 3), m_squared(&shuffled, 3), "{seed}");
        }
    }
}
