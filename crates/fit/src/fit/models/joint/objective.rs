//! What a joint fit minimises: the results given slopes, strengths, optimism, draws and lapses, and the priors of
//! strengths and draws.

use std::ops::Range;
use std::sync::Arc;

use crate::fit::lapse::{Common, PARAMETERS, Points, second};
use crate::fit::search::{Evaluation, GRADIENT_TOLERANCE, Limits, Loss, MAX_STEP};
use crate::fit::symmetric::{Arrow, Curvature, Pattern, Square};
use crate::parallel;
use crate::vector::{BLOCK, Logistics, add_all};

/// Slopes beyond this, in logits per median score, run off to infinity: a score separates wins from losses, but for
/// results that follow no score.
pub(super) const RUNAWAY: f64 = 30.0;
/// From here on a slope that grows has run off, whatever gradient is left.
const RUN_OFF: f64 = 10.0 * RUNAWAY;

/// The rest of a fit has settled where no parameter wants to move by more than this.
const SETTLED: f64 = 0.01;

/// Partial sums: fixed, so that sums have equal bits on any number of threads.
const PARTS: usize = 8;
/// Fewest rows of a part.
const LEAST: usize = 2048;
/// Shares of lapses are less than this.
const MOST_LAPSES: f64 = 0.4;
/// From a share of lapses below this, a step may end the search at 0.
const FEW_LAPSES: f64 = 1e-3;
/// Shares of results that follow no score are less than this in all.
const MOST_AT_RANDOM: f64 = 0.9;
/// Half the width of the draws is less than this.
const WIDEST: f64 = 50.0;
/// The prior of the draws counts as this part of a draw at any score, and as much of one at an even score: both kinds
/// remain possible, so that neither has a bound at which a search would end. With half a draw in its place, 2% of the
/// draws at even scores passed for draws at any score (`benches/three_outcomes.py`).
const PRIOR_DRAW: f64 = 0.02;

/// A sample of the fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) game: u64,
    pub(super) engine: u32,
    /// the players, by number
    pub(super) own: Option<u16>,
    pub(super) opponent: Option<u16>,
    /// the score in units of its engine
    pub(super) x: f64,
    /// rating difference; 0 where it is not known
    pub(super) d: f64,
    /// what is known of the logit beside the score
    pub(super) offset: f64,
    pub(super) result: f64,
}

/// The samples of a fit, number by number. Those of an engine are together, engines in their order; sums are quickest
/// where those of the same players are together, too.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) game: Vec<u64>,
    pub(super) x: Vec<f64>,
    pub(super) result: Vec<f64>,
    /// empty where all are 0, as are the offsets
    d: Vec<f64>,
    offset: Vec<f64>,
    /// the run of each row
    run: Vec<u32>,
    runs: Vec<Run>,
}

/// Neighbouring rows of the same engine and players.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    engine: u32,
    players: [Option<u16>; 2],
}

/// Numbers of a block that are all 0.
const ZEROS: [f64; BLOCK] = [0.0; BLOCK];

/// A part, within a block, of numbers that are all 0 if there are none.
fn of_run(numbers: &[f64], run: Range<usize>) -> &[f64] {
    let length = run.len();
    numbers.get(run).unwrap_or(&ZEROS[..length])
}

impl Rows {
    /// None yet, with room for so many.
    pub(super) fn with_capacity(most: usize) -> Self {
        let (game, run) = (Vec::with_capacity(most), Vec::with_capacity(most));
        Self { game, run, x: Vec::with_capacity(most), result: Vec::with_capacity(most), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.game.len()
    }

    /// Whether some rating difference is known, and not 0.
    pub(super) fn are_rated(&self) -> bool {
        !self.d.is_empty()
    }

    pub(super) fn at(&self, i: usize) -> Row {
        let Run { engine, players: [own, opponent], .. } = self.run_of(i);
        let of = |numbers: &[f64]| numbers.get(i).copied().unwrap_or(0.0);
        Row {
            game: self.game[i],
            engine,
            own,
            opponent,
            x: self.x[i],
            d: of(&self.d),
            offset: of(&self.offset),
            result: self.result[i],
        }
    }

    pub(super) fn engine(&self, i: usize) -> usize {
        self.run_of(i).engine as usize
    }

    fn run_of(&self, i: usize) -> Run {
        self.runs[self.run[i] as usize]
    }

    fn run(&self, run: usize) -> Range<usize> {
        self.runs[run].start..self.runs.get(run + 1).map_or(self.len(), |next| next.start)
    }
}

impl Extend<Row> for Rows {
    fn extend<I: IntoIterator<Item = Row>>(&mut self, rows: I) {
        for row in rows {
            for (numbers, number) in [(&mut self.d, row.d), (&mut self.offset, row.offset)] {
                if number != 0.0 || !numbers.is_empty() {
                    numbers.resize(self.game.len(), 0.0);
                    numbers.push(number);
                }
            }
            let (engine, players) = (row.engine, [row.own, row.opponent]);
            if self.runs.last().is_none_or(|last| (last.engine, last.players) != (engine, players)) {
                self.runs.push(Run { start: self.game.len(), engine, players });
            }
            self.run.push(self.runs.len() as u32 - 1);
            self.game.push(row.game);
            self.x.push(row.x);
            self.result.push(row.result);
        }
    }
}

impl FromIterator<Row> for Rows {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        let mut all = Self::default();
        all.extend(rows);
        all
    }
}

/// Where each parameter is: slopes; then the tail of strengths, optimism, w3, the share drawn at any score, half the
/// width of the draws, lapse.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) players: usize,
    pub(super) engines: usize,
    pub(super) rated: bool,
    /// whether draws are results of their own; else each is half a win, or has the parameters of [`Objective::knowing`]
    pub(super) draws: bool,
    pub(super) lapse: bool,
}

impl Layout {
    /// One engine whose players are known.
    pub(super) const ALONE: Self = Self { players: 0, engines: 1, rated: false, draws: false, lapse: false };

    pub(super) fn player(&self, player: usize) -> usize {
        self.engines + player
    }

    pub(super) fn optimism(&self) -> usize {
        self.engines + self.players
    }

    pub(super) fn w3(&self) -> Option<usize> {
        self.rated.then_some(self.optimism() + 1)
    }

    /// The share drawn at any score; half the width of the draws follows it.
    pub(super) fn drawn(&self) -> Option<usize> {
        self.draws.then_some(self.optimism() + 1 + usize::from(self.rated))
    }

    pub(super) fn lapse(&self) -> Option<usize> {
        self.lapse.then_some(self.size() - 1)
    }

    /// The place of a parameter of results, counted as [`Points`] does.
    pub(super) fn of_result(&self, parameter: usize) -> Option<usize> {
        match parameter {
            LAPSE => self.lapse(),
            _ => self.drawn().map(|drawn| drawn + parameter - DRAWN),
        }
    }

    pub(super) fn size(&self) -> usize {
        self.optimism() + 1 + usize::from(self.rated) + 2 * usize::from(self.draws) + usize::from(self.lapse)
    }

    /// Size of the tail.
    pub(super) fn tail(&self) -> usize {
        self.size() - self.engines
    }
}

/// The parameters of results beside the logit, counted as [`Points`] does, in the order of the layout.
pub(super) const OF_RESULTS: [usize; PARAMETERS - 1] = [DRAWN, WIDTH, LAPSE];
const LAPSE: usize = 1;
const DRAWN: usize = 2;
const WIDTH: usize = 3;

#[derive(Clone)]
pub(super) struct Objective<'a> {
    pub(super) rows: &'a Rows,
    pub(super) layout: Layout,
    /// the share drawn at any score and half the width of the draws where they are known beforehand
    drawn: Option<[f64; 2]>,
    strength_sd: f64,
    spread: Vec<f64>,
    pattern: Arc<Pattern>,
    places: Arc<Places>,
    /// whether a search ends where the share of lapses falls to 0
    may_leave: bool,
}

/// Where rows are; the same with and without lapses.
struct Places {
    /// the rows of each engine
    starts: Vec<usize>,
    /// of each run, where the edges of its players are among those of its engine
    slots: Vec<[u16; 2]>,
}

/// Sums over rows of the same engine and players, of which a rating difference is all that differs beside the score.
#[derive(Default)]
struct Sums {
    /// of the first derivative by the logit: plain, by the score, by the difference
    first: [f64; 3],
    /// of the second one: plain, by score, score twice, difference, both, difference twice
    second: [f64; 6],
    /// of each parameter of results: the first derivative by it; that by it and the logit plain, by score, by
    /// difference
    own: [[f64; 4]; PARAMETERS - 1],
    /// of those by two of them
    both: [[f64; PARAMETERS - 1]; PARAMETERS - 1],
}

/// Most parameters of a row in the tail, but for those of results.
const FEATURES: usize = 4;

/// Derivatives of a logit by the parameters of the tail, the number of each among the edges of its engine, and how many
/// there are.
type Features = ([(usize, f64, usize); FEATURES], usize);

/// A parameter of results that is estimated: its place among [`OF_RESULTS`], as [`Points`] counts them, and in the
/// tail.
type OfResult = (usize, usize, usize);

impl<'a> Objective<'a> {
    pub(super) fn new(rows: &'a Rows, layout: Layout, strength_sd: f64) -> Self {
        let mut starts = vec![0; layout.engines + 1];
        (0..rows.runs.len()).for_each(|run| starts[rows.runs[run].engine as usize + 1] += rows.run(run).len());
        (0..layout.engines).for_each(|e| starts[e + 1] += starts[e]);
        let mut of_engine = rows.runs.chunk_by(|a, b| a.engine == b.engine).peekable();
        let mut pattern = Pattern { starts: vec![0], columns: Vec::new() };
        let (mut slot, mut slots) = (vec![0; layout.players], Vec::with_capacity(rows.runs.len()));
        for e in 0..layout.engines {
            let own = of_engine.next_if(|own| own[0].engine as usize == e).unwrap_or_default();
            let from = pattern.columns.len();
            pattern.columns.extend(own.iter().flat_map(|run| run.players).flatten().map(u32::from));
            pattern.columns[from..].sort_unstable();
            let mut kept = from;
            for at in from..pattern.columns.len() {
                if at == from || pattern.columns[at] != pattern.columns[kept - 1] {
                    pattern.columns[kept] = pattern.columns[at];
                    kept += 1;
                }
            }
            pattern.columns.truncate(kept);
            pattern.columns[from..].iter().zip(0..).for_each(|(player, place)| slot[*player as usize] = place);
            let of = |player: Option<u16>| player.map_or(0, |player| slot[usize::from(player)]);
            slots.extend(own.iter().map(|run| run.players.map(of)));
            // all rows have the shared parameters
            pattern.columns.extend(layout.players as u32..layout.tail() as u32);
            pattern.starts.push(pattern.columns.len());
        }
        let spread = vec![1.0; layout.size()];
        let places = Arc::new(Places { starts, slots });
        Self { rows, layout, drawn: None, strength_sd, spread, pattern: Arc::new(pattern), places, may_leave: false }
    }

    /// The same with these parameters of draws, which are not estimated.
    pub(super) fn knowing(self, drawn: Option<[f64; 2]>) -> Self {
        Self { drawn, ..self }
    }

    /// The objective of the same rows with a share of lapses, which this one is without.
    pub(super) fn lapsing(&self) -> Self {
        let layout = Layout { lapse: true, ..self.layout };
        let mut pattern =
            Pattern { starts: vec![0], columns: Vec::with_capacity(self.pattern.columns.len() + layout.engines) };
        for e in 0..layout.engines {
            pattern.columns.extend_from_slice(&self.pattern.columns[self.pattern.of(e)]);
            pattern.columns.push(layout.tail() as u32 - 1);
            pattern.starts.push(pattern.columns.len());
        }
        let (pattern, places) = (Arc::new(pattern), Arc::clone(&self.places));
        Self { layout, spread: vec![1.0; layout.size()], pattern, places, ..*self }
    }

    /// The same objective for a search that ends where the share of lapses falls to 0.
    pub(super) fn leaving(&self) -> Self {
        let (spread, pattern, places) = (self.spread.clone(), Arc::clone(&self.pattern), Arc::clone(&self.places));
        Self { spread, pattern, places, may_leave: true, ..*self }
    }

    /// The rows of an engine.
    pub(super) fn rows_of(&self, engine: usize) -> Range<usize> {
        self.places.starts[engine]..self.places.starts[engine + 1]
    }

    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Derivatives by the parameters of the tail, without those of results.
    pub(super) fn features(&self, row: usize) -> Features {
        self.features_of(self.rows.run[row] as usize, self.rows.d.get(row).copied().unwrap_or(0.0))
    }

    /// The same of the rows of a run with this rating difference.
    fn features_of(&self, run: usize, d: f64) -> Features {
        let Run { engine, players: [own, opponent], .. } = self.rows.runs[run];
        let slots = self.places.slots[run].map(usize::from);
        let shared = self.pattern.of(engine as usize).len() - (self.layout.tail() - self.layout.players);
        let mut features = [(self.layout.players, -1.0, shared), (0, 0.0, 0), (0, 0.0, 0), (0, 0.0, 0)];
        let mut n = 1;
        let others = [
            own.map(|i| (usize::from(i), 1.0, slots[0])),
            opponent.map(|i| (usize::from(i), -1.0, slots[1])),
            self.layout.rated.then_some((self.layout.players + 1, d, shared + 1)),
        ];
        for feature in others.into_iter().flatten() {
            features[n] = feature;
            n += 1;
        }
        (features, n)
    }

    /// What is known of the logit of a row but for its score and the optimism.
    pub(super) fn advantage(&self, row: usize, at: &[f64]) -> f64 {
        let Row { own, opponent, d, offset, .. } = self.rows.at(row);
        let of = |player: Option<u16>| player.map_or(0.0, |i| at[self.layout.player(i.into())]);
        offset + (of(own) - of(opponent)) + self.layout.w3().map_or(0.0, |i| at[i] * d)
    }

    /// The logit of a row.
    pub(super) fn logit(&self, row: usize, at: &[f64]) -> f64 {
        at[self.rows.engine(row)] * self.rows.x[row] - at[self.layout.optimism()] + self.advantage(row, at)
    }

    /// Of each of some rows without lapses, the chance of a win; then, where draws are results of their own, that of no
    /// loss.
    pub(super) fn rates(&self, rows: Range<usize>, at: &[f64]) -> [Vec<f64>; 2] {
        let width = self.common(at).draws.map(|[_, width]| width);
        let rates = |shift: f64| {
            let mut rates: Vec<f64> = rows.clone().map(|row| self.logit(row, at) + shift).collect();
            let mut block = Logistics::new();
            for z in rates.chunks_mut(BLOCK) {
                block.at(z);
                z.copy_from_slice(&block.p[..z.len()]);
            }
            rates
        };
        [rates(-width.unwrap_or(0.0)), width.map(rates).unwrap_or_default()]
    }

    pub(super) fn lapse(&self, at: &[f64]) -> f64 {
        self.layout.lapse().map_or(0.0, |i| at[i])
    }

    /// What all results have in common at a point.
    pub(super) fn common(&self, at: &[f64]) -> Common {
        let lapse = self.layout.lapse().map(|i| at[i]);
        Common { lapse, draws: self.layout.drawn().map(|i| [at[i], at[i + 1]]).or(self.drawn) }
    }

    /// Calls back for each of some rows with the index in the points.
    pub(super) fn each_point(&self, rows: Range<usize>, at: &[f64], of: &mut dyn FnMut(usize, &Points, usize)) {
        self.each_block(rows, at, &mut |rows, points| rows.enumerate().for_each(|(i, row)| of(row, points, i)));
    }

    /// The runs of rows with the parts of them that lie in a range.
    fn runs_in(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let runs = if rows.is_empty() { 0..0 } else { self.rows.run[rows.start]..self.rows.run[rows.end - 1] + 1 };
        runs.map(move |run| {
            let of = self.rows.run(run as usize);
            (run as usize, of.start.max(rows.start)..of.end.min(rows.end))
        })
    }

    /// Calls back for blocks of some rows with their points.
    fn each_block(&self, rows: Range<usize>, at: &[f64], of: &mut dyn FnMut(Range<usize>, &Points)) {
        let (mut points, mut z) = (Points::new(), [0.0; BLOCK]);
        let (optimism, w3) = (at[self.layout.optimism()], self.layout.w3().map_or(0.0, |i| at[i]));
        for from in rows.clone().step_by(BLOCK) {
            let block = from..rows.end.min(from + BLOCK);
            for (number, run) in self.runs_in(block.clone()) {
                let Run { engine, players: [own, opponent], .. } = self.rows.runs[number];
                let of = |player: Option<u16>| player.map_or(0.0, |i| at[self.layout.player(i.into())]);
                let (slope, players) = (at[engine as usize], of(own) - of(opponent));
                let (x, z) = (&self.rows.x[run.clone()], &mut z[run.start - from..run.end - from]);
                let (d, offset) = (of_run(&self.rows.d, run.clone()), of_run(&self.rows.offset, run));
                for (((z, x), d), offset) in z.iter_mut().zip(x).zip(d).zip(offset) {
                    *z = slope * x - optimism + (offset + players + w3 * d);
                }
            }
            points.at(&z[..block.len()], self.common(at), &self.rows.result[block.clone()]);
            of(block, &points);
        }
    }

    /// The sums of a run, whose points begin at a place.
    fn sums(&self, run: Range<usize>, points: &Points, place: usize, of_results: &[OfResult]) -> Sums {
        let mut sums = Sums::default();
        let places = place..place + run.len();
        let (x, d) = (&self.rows.x[run.clone()], of_run(&self.rows.d, run));
        let (by, bend) = (&points.first[0][places.clone()], &points.second[0][places.clone()]);
        for (((x, d), by), bend) in x.iter().zip(d).zip(by).zip(bend) {
            let (bend_x, bend_d) = (bend * x, bend * d);
            add_all(&mut sums.first, [*by, by * x, by * d]);
            add_all(&mut sums.second, [*bend, bend_x, bend_x * x, bend_d, bend_x * d, bend_d * d]);
        }
        for &(k, i, _) in of_results {
            let (by, cross) = (&points.first[i][places.clone()], &points.second[second(0, i)][places.clone()]);
            for (((x, d), by), cross) in x.iter().zip(d).zip(by).zip(cross) {
                add_all(&mut sums.own[k], [*by, *cross, cross * x, cross * d]);
            }
            for &(l, j, _) in of_results.iter().take_while(|(l, ..)| *l <= k) {
                sums.both[k][l] = points.second[second(i, j)][places.clone()].iter().sum();
            }
        }
        sums
    }

    fn of_results(&self) -> impl Iterator<Item = OfResult> {
        let place = |(k, i): (usize, usize)| Some((k, i, self.layout.of_result(i)? - self.layout.engines));
        OF_RESULTS.into_iter().enumerate().filter_map(place)
    }

    /// The sums of some rows, of their engines alone, and the first of these.
    fn results(&self, rows: Range<usize>, at: &[f64]) -> (usize, Evaluation<Arrow>) {
        let (first, last) = (self.rows.engine(rows.start), self.rows.engine(rows.end - 1));
        let (engines, tail) = (last - first + 1, self.layout.tail());
        let before = self.pattern.starts[first];
        let (mut gradient, mut diagonal) = (vec![0.0; engines + tail], vec![0.0; engines]);
        let mut edges = vec![0.0; self.pattern.starts[last + 1] - before];
        let (mut square, mut loss) = (Square::zero(tail), 0.0);
        let of_results: Vec<OfResult> = self.of_results().collect();
        let w3 = self.layout.w3().map(|_| self.layout.players + 1);
        let mut add = |number: usize, run: Range<usize>, points: &Points, place: usize| {
            let Sums { first: by, second: bend, own, both } = self.sums(run, points, place, &of_results);
            let e = self.rows.runs[number].engine as usize - first;
            let edges =
                &mut edges[self.pattern.starts[e + first] - before..self.pattern.starts[e + first + 1] - before];
            gradient[e] += by[1];
            diagonal[e] += bend[2];
            let (features, n) = self.features_of(number, 1.0);
            // a sign, and whether the rating difference is a factor
            let signed = features.map(|(i, v, slot)| if w3 == Some(i) { (i, 1.0, 1, slot) } else { (i, v, 0, slot) });
            for (a, &(i, v, d, slot)) in signed[..n].iter().enumerate() {
                gradient[engines + i] += v * by[2 * d];
                edges[slot] += v * bend[if d == 1 { 4 } else { 1 }];
                for &(j, w, c, _) in &signed[..=a] {
                    square.add(i, j, v * w * bend[[0, 3, 5][d + c]]);
                }
            }
            let last = edges.len() - of_results.len();
            for (&(k, _, l), edge) in of_results.iter().zip(&mut edges[last..]) {
                let [by, cross, cross_x, cross_d] = own[k];
                gradient[engines + l] += by;
                *edge += cross_x;
                signed[..n].iter().for_each(|&(i, v, d, _)| square.add(l, i, v * if d == 1 { cross_d } else { cross }));
                of_results.iter().take_while(|(j, ..)| *j <= k).for_each(|&(j, _, m)| square.add(l, m, both[k][j]));
            }
        };
        self.each_block(rows, at, &mut |block, points| {
            loss += points.loss[..block.len()].iter().sum::<f64>();
            for (number, run) in self.runs_in(block.clone()) {
                add(number, run.clone(), points, run.start - block.start);
            }
        });
        let hessian = Arrow { pattern: Arc::clone(&self.pattern), diagonal, edges, tail: square };
        (first, Evaluation { loss, gradient, hessian })
    }

    /// Precision of a player's strength.
    pub(super) fn precision(&self) -> f64 {
        1.0 / (self.strength_sd * self.strength_sd)
    }

    /// The prior of the draws: of each of their parameters its place, and minus the logarithm of the prior with its
    /// derivatives, of a whole draw.
    pub(super) fn prior_of_draws(&self, at: &[f64]) -> Vec<(usize, [f64; 3])> {
        let Some(i) = self.layout.drawn() else { return Vec::new() };
        let (drawn, width) = (at[i], at[i + 1]);
        // of a draw at an even score the chance is tanh(width/2)
        let (sinh, cosh) = (libm::sinh(width), libm::cosh(width));
        let of_drawn = [-libm::log(drawn), -1.0 / drawn, 1.0 / (drawn * drawn)];
        let of_width = [-libm::log(libm::tanh(0.5 * width)), -1.0 / sinh, cosh / (sinh * sinh)];
        vec![(i, of_drawn), (i + 1, of_width)]
    }

    /// Whether a point has shares that are possible.
    fn is_possible(&self, at: &[f64]) -> bool {
        let Common { lapse, draws } = self.common(at);
        let (lapse, [drawn, width]) = (lapse.unwrap_or(0.0), draws.unwrap_or_default());
        let of_draws = draws.is_none() || (drawn > 0.0 && width > 0.0 && width < WIDEST);
        (0.0..MOST_LAPSES).contains(&lapse) && of_draws && 2.0 * lapse + drawn < MOST_AT_RANDOM
    }
}

impl Loss<Arrow> for Objective<'_> {
    fn evaluate(&self, at: &[f64]) -> Option<Evaluation<Arrow>> {
        if !self.is_possible(at) {
            return None;
        }
        let (n, layout) = (self.rows.len(), &self.layout);
        let length = n.div_ceil(PARTS).max(LEAST);
        let part = |part: usize| self.results(part * length..n.min((part + 1) * length), at);
        let hessian = Arrow {
            pattern: Arc::clone(&self.pattern),
            diagonal: vec![0.0; layout.engines],
            edges: vec![0.0; self.pattern.columns.len()],
            tail: Square::zero(layout.tail()),
        };
        let mut total = Evaluation { loss: 0.0, gradient: vec![0.0; layout.size()], hessian };
        let add = |sums: &mut [f64], more: &[f64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        for (first, part) in parallel::map(n.div_ceil(length), part) {
            let engines = part.hessian.diagonal.len();
            total.loss += part.loss;
            add(&mut total.gradient[first..], &part.gradient[..engines]);
            add(&mut total.gradient[layout.engines..], &part.gradient[engines..]);
            add(&mut total.hessian.diagonal[first..], &part.hessian.diagonal);
            add(&mut total.hessian.edges[self.pattern.starts[first]..], &part.hessian.edges);
            total.hessian.tail.add_all(&part.hessian.tail);
        }
        let precision = self.precision();
        for player in 0..layout.players {
            let strength = at[layout.player(player)];
            total.loss += 0.5 * precision * strength * strength;
            total.gradient[layout.player(player)] += precision * strength;
            total.hessian.tail.add(player, player, precision);
        }
        for (i, of) in self.prior_of_draws(at) {
            let [value, first, second] = of.map(|v| PRIOR_DRAW * v);
            total.loss += value;
            total.gradient[i] += first;
            total.hessian.tail.add(i - layout.engines, i - layout.engines, second);
        }
        Some(total.mean(n as f64))
    }

    fn spread(&self) -> &[f64] {
        &self.spread
    }

    /// A sample has one engine and two players, whatever the others do.
    fn largest_change(&self, step: &[f64]) -> f64 {
        let largest = |steps: &[f64]| steps.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
        let (slopes, others) = step.split_at(self.layout.engines);
        let (players, shared) = others.split_at(self.layout.players);
        2.0 * largest(players) + largest(slopes) + shared.iter().map(|s| s.abs()).sum::<f64>()
    }

    /// The slope of an engine says nothing of those of the others: one that is far from its own must not hold up all.
    /// Lapses stay a share.
    fn clipped(&self, at: &[f64], step: &[f64]) -> Option<Vec<f64>> {
        // one that runs off does so in few steps
        let most = |at: f64| (0.5 * MAX_STEP).max(0.5 * at);
        let mut step: Vec<f64> = step.iter().zip(at).map(|(s, at)| s.clamp(-most(*at), most(*at))).collect();
        if let Some(l) = self.layout.lapse() {
            step[l] = step[l].clamp(-0.9 * at[l], 0.5 * (MOST_LAPSES - at[l]));
        }
        if let Some(i) = self.layout.drawn() {
            let rest = MOST_AT_RANDOM - at[i] - 2.0 * self.lapse(at);
            step[i] = step[i].clamp(-0.9 * at[i], 0.5 * rest);
            step[i + 1] = step[i + 1].clamp(-0.9 * at[i + 1], 0.5 * MAX_STEP);
        }
        Some(step)
    }

    /// Where all else has settled, a slope runs off to infinity or lies where the loss has no bowl. Or the share of
    /// lapses falls below 0, and at these slopes a first lapse makes no result more likely. The loss has only one
    /// minimum without lapses, which is known by then.
    fn leaves(&self, at: &[f64], here: &Evaluation<Arrow>, step: &[f64], is_bowl: bool) -> bool {
        let is_off = |i: usize| i < self.layout.engines && at[i] > RUNAWAY;
        let is_flat = |i: usize| at[i] > RUN_OFF || here.gradient[i].abs() <= GRADIENT_TOLERANCE;
        let runs = |i: usize| is_off(i) && step[i].abs() > SETTLED && (!is_bowl || (step[i] > 0.0 && is_flat(i)));
        if (0..self.layout.engines).any(runs) && (0..step.len()).all(|i| is_off(i) || step[i].abs() < SETTLED) {
            return true;
        }
        let falls = |l: &usize| self.may_leave && at[*l] < FEW_LAPSES && at[*l] + step[*l] <= 0.0;
        let Some(l) = self.layout.lapse().filter(falls) else { return false };
        let mut without = at.to_vec();
        without[l] = 0.0;
        self.evaluate(&without).is_some_and(|without| without.gradient[l] >= 0.0)
    }

    fn limits(&self) -> Limits {
        Limits { argmin: 0, all: 200 }
    }
}
