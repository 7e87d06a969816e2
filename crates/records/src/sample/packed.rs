//! Draws samples from training data.
//!
//! HCPE and PSV files are cut into stretches of N records (N is [`SamplingOptions::packed_every`]). One record is
//! drawn from each stretch, depending only on seed, file and stretch. In HCPE3, each game is cut in this way. Windows
//! and first plies do not apply: HCPE and HCPE3 hold no ply, and shuffled files spread the positions of a game.
//!
//! Intervals take into account that samples of one game are not independent. HCPE3 has games. In PSV, plain text and
//! binpack, a game goes on while the ply grows and the winner stays the same ([`goes_on`]). HCPE does not separate
//! games, so each record counts as a game, and intervals are too narrow if a file has several positions per game. In
//! plain text and binpack, each of these games is cut as in HCPE3.

use std::ops::Range;

use evalcurve_calibration::types::Outcome;
use evalcurve_words::{random, text};

use super::found::{Drawn, Found, FoundBlock, FoundGame, FoundPositions, Rank, SHOWN, rank};
use super::positions::TO_BE_SCORED;
use super::report::{PositionCount, count};
use super::sampler::DrawnScore;
use super::{GameInfo, NameId, SamplingOptions};
use crate::record::packed::hcpe3::Games;
use crate::record::packed::psv::goes_on;
use crate::record::packed::{Packed, PackedPosition, digest};
use crate::record::source::Block;
use crate::record::{Played, ScoredPosition, SkipReason};

/// What is known about the game of a position, without its source. `unnamed` is the number of the empty name.
pub(super) fn game_info(id: u64, position: &PackedPosition, engine: NameId, unnamed: NameId) -> GameInfo {
    GameInfo {
        id,
        players: [engine; 2],
        ratings: [None; 2],
        start_time: None,
        time_control: unnamed,
        termination: position.termination,
        black_outcome: position.black_outcome,
        without_colors: false,
        source: 0,
        line: 0,
        end: None,
        moves: None,
        unread: 0,
    }
}

/// Draws the samples of a block of training data.
pub(super) fn read(block: &Block, packed: Packed, options: &SamplingOptions, found: &mut Found) -> FoundBlock {
    let out = FoundBlock::new(block.key, &block.member, block.filled as u64, found.games.len());
    let engine = if options.unscored { Some(TO_BE_SCORED) } else { options.annotator.as_deref() };
    let engine = engine.map(|name| found.names.intern(name));
    let unnamed = found.names.intern("");
    let every = u64::from(options.packed_every.max(1));
    let before = found.drawn.len();
    let mut draw = Draw {
        packed,
        options,
        every,
        engine,
        unnamed,
        found,
        out,
        count: PositionCount::default(),
        any_score: options.unscored,
    };
    draw.out.chess = packed.is_chess(block.text());
    match (packed.record_bytes(), packed) {
        (Some(size), _) => draw.records(block, size),
        (None, Packed::Hcpe3) => draw.games(block),
        (None, _) => draw.runs(block),
    }
    let Draw { mut out, mut count, any_score, .. } = draw;
    out.games.end = found.games.len();
    for index in out.games.clone() {
        let FoundGame { info, samples, .. } = &found.games[index];
        found.games[index].rank = rank(found, info, &found.samples[samples.clone()]);
    }
    let skipped: u64 = count.skipped.values().sum();
    count.skip(SkipReason::NotDrawn, count.read.saturating_sub(count.used + skipped));
    out.scores = count.scored();
    let (place, drawn) = ((block.file_key, block.offset), before..found.drawn.len());
    let engine = engine.unwrap_or(unnamed);
    out.positions = Some(FoundPositions { packed, count, any_score, place, engine, drawn });
    out
}

struct Draw<'a> {
    packed: Packed,
    options: &'a SamplingOptions,
    every: u64,
    engine: Option<NameId>,
    /// The number of the empty name.
    unnamed: NameId,
    found: &'a mut Found,
    out: FoundBlock,
    count: PositionCount,
    any_score: bool,
}

/// Positions of one game.
struct Run<'a> {
    positions: &'a [(u32, PackedPosition)],
    /// Moves, scored or not.
    moves: u32,
    /// Start position and moves, if they are needed and known.
    played: Option<Played>,
}

/// A record of HCPE or PSV; empty beyond the block.
fn record_at(block: &Block, size: usize, index: u64) -> &[u8] {
    block.text().get(index as usize * size..(index as usize + 1) * size).unwrap_or(&[])
}

impl Draw<'_> {
    /// Draws from HCPE or PSV.
    fn records(&mut self, block: &Block, size: usize) {
        let illegal = self.check_records(block, size);
        if self.without_engine(block) {
            return;
        }
        self.count.skip(SkipReason::IllegalResult, illegal);

        let (records, first) = ((block.text().len() / size) as u64, block.offset / size as u64);
        let at = |index| record_at(block, size, index);
        let draws = random::Prefix::new(&[self.options.seed, block.file_key]);
        let mut last: Option<u64> = None;
        for stretch in first / self.every..=(first + records) / self.every {
            let drawn = stretch * self.every + draws.below(self.every, stretch);
            let Some(index) = drawn.checked_sub(first).filter(|&i| i < records) else { continue };
            let position = match self.packed.single(at(index)) {
                Ok(position) => position,
                Err(SkipReason::IllegalResult) => continue,
                Err(reason) => {
                    self.count.skip(reason, 1);
                    self.broken(reason, block, index, at(index));
                    continue;
                }
            };
            if self.options.drop_draws && position.black_outcome == Outcome::Draw {
                self.count.skip(SkipReason::Draw, 1);
                continue;
            }
            // go back to the beginning of the game, or to the record drawn last
            let mut begin = index;
            while self.packed == Packed::Psv
                && begin > 0
                && last.is_none_or(|last| begin > last)
                && goes_on(at(begin - 1), at(begin))
            {
                begin -= 1;
            }
            let same = last.filter(|&last| last == begin && begin != index).and_then(|_| self.found.drawn.last());
            let id = match same {
                Some(before) => before.id,
                None => random::bits(&[block.file_key, first + begin, digest(at(begin))]),
            };
            let begins = same.is_none();
            self.out.read += u64::from(begins);
            self.count.used += 1;
            let (index, window) = (index as u32, stretch as u32);
            if let Some(sfen) = self.options.unscored.then(|| self.packed.sfen(at(index.into()))).flatten() {
                self.found.positions.add_single(id, position.ply.unwrap_or(0), window, sfen);
            }
            self.found.drawn.push(Drawn { id, index, window, position, begins });
            last = Some(index.into());
        }
    }

    /// Checks all records of a block, so that the counts and the check for scores hold for the whole file, and returns
    /// how many have an illegal result.
    fn check_records(&mut self, block: &Block, size: usize) -> u64 {
        let text = block.text();
        let records = (text.len() / size) as u64;
        self.out.lines = records;
        self.count.read = records;
        let rest = text.len() % size;
        if rest > 0 {
            self.out.lines += 1;
            self.count.read += 1;
            self.count.skip(SkipReason::BrokenRecord, 1);
            let value = text!(
                "{rest} bytes are left at byte {}, but a record of {} has {size}; the file is cut or in another format \
                 (`format`), the records before are used",
                block.offset + (text.len() - rest) as u64,
                self.packed.as_str()
            );
            self.out.problem(records, SkipReason::BrokenRecord, value, true);
        }
        let (mut illegal, mut bits) = (0, 0);
        for record in text.chunks_exact(size) {
            illegal += u64::from(!self.packed.has_result(record));
            bits |= Packed::score(record);
        }
        self.any_score |= bits != 0;
        if illegal > 0 {
            let packed = self.packed;
            let wrong = (0..records).filter(|&i| !packed.has_result(record_at(block, size, i)));
            for index in wrong.take(SHOWN) {
                self.broken(SkipReason::IllegalResult, block, index, record_at(block, size, index));
            }
        }
        illegal
    }

    /// Draws from HCPE3.
    fn games(&mut self, block: &Block) {
        let mut games = Games::new(block.text(), true);
        let mut number = 0;
        let without_engine = self.without_engine(block);
        let mut positions = Vec::new();
        loop {
            let begin = games.offset();
            let Some(game) = games.next() else { break };
            self.out.read += 1;
            match game {
                Ok(game) => {
                    positions.clear();
                    positions.extend(game.positions());
                    let played = if self.options.unscored { game.played() } else { None };
                    // converters write positions as games of one move; only the place distinguishes equal ones
                    let place = if game.moves > 1 { 0 } else { block.offset + begin as u64 + 1 };
                    let run = Run { positions: &positions, moves: game.moves, played };
                    self.game(run, random::bits(&[game.id, place]), number, without_engine);
                }
                Err(error) => {
                    count(&mut self.out.skipped, error.reason, 1);
                    let bytes = block.text().get(error.range).unwrap_or(&[]);
                    let value = text!(
                        "the {} bytes at byte {} are not a game of HCPE3; they are skipped",
                        bytes.len(),
                        block.offset + begin as u64
                    );
                    self.out.problem(number, error.reason, value, true);
                }
            }
            number += 1;
        }
        self.out.lines = number;
    }

    /// Counts what is no position.
    fn skip(&mut self, reason: SkipReason) {
        self.out.read += 1;
        count(&mut self.out.skipped, reason, 1);
        self.count.read += 1;
        self.count.skip(reason, 1);
    }

    /// Draws from formats that do not separate games.
    fn runs(&mut self, block: &Block) {
        let without_engine = self.without_engine(block);
        if self.options.unscored && block.offset == 0 {
            let text = text!("the positions of {} are not given to engines", self.packed.as_str());
            self.out.problem(0, SkipReason::NoScores, text, false);
        }
        let mut run: Vec<(u32, PackedPosition)> = Vec::new();
        let (mut bytes, mut line, mut shown) = (0..0, (0, 0), 0);
        let text = block.text();
        // plain text has lines, and other messages the number of the position
        let packed = self.packed;
        let mut line_of = |at: usize, count: u64| {
            if packed != Packed::Plain {
                return count;
            }
            if let Some(passed) = text.get(line.0..at) {
                line = (at, line.1 + memchr::memchr_iter(b'\n', passed).count() as u64);
            }
            line.1
        };
        let (mut number, mut begin) = (0, 0);
        packed.walk(text, None, &mut |range, found| {
            let goes_on = |position: &PackedPosition| {
                let last = run.last().map(|(_, last)| (last.ply, last.black_outcome));
                last.is_some_and(|(ply, outcome)| position.ply > ply && position.black_outcome == outcome)
            };
            if !found.is_ok_and(goes_on) && !run.is_empty() {
                self.run(block, &mut run, bytes.clone(), begin, without_engine);
            }
            match found {
                Ok(position) => {
                    if run.is_empty() {
                        (bytes.start, begin) = (range.start, line_of(range.start, number));
                    }
                    bytes.end = range.end;
                    run.push((run.len() as u32, *position));
                }
                Err(reason) => {
                    self.skip(reason);
                    shown += 1;
                    if shown <= SHOWN {
                        let at = block.offset + range.start as u64;
                        let value = text!(
                            "the {} bytes at byte {at} are not whole positions of {}; they are skipped",
                            range.len(),
                            packed.as_str()
                        );
                        self.out.problem(line_of(range.start, number), reason, value, true);
                    }
                }
            }
            number += 1;
            0
        });
        if !run.is_empty() {
            self.run(block, &mut run, bytes, begin, without_engine);
        }
        self.out.lines = line_of(text.len(), number);
    }

    /// Draws from the positions of a game, and empties them.
    fn run(
        &mut self,
        block: &Block,
        run: &mut Vec<(u32, PackedPosition)>,
        bytes: Range<usize>,
        line: u64,
        without_engine: bool,
    ) {
        self.out.read += 1;
        let place = if run.len() > 1 { 0 } else { block.offset + bytes.start as u64 + 1 };
        let id = random::bits(&[digest(block.text().get(bytes).unwrap_or(&[])), place]);
        self.game(Run { moves: run.len() as u32, positions: run, played: None }, id, line, without_engine);
        run.clear();
    }

    fn game(&mut self, run: Run<'_>, id: u64, number: u64, without_engine: bool) {
        let scored = run.positions.len() as u64;
        self.any_score |= run.positions.iter().any(|(_, position)| position.score_cp != 0);
        self.count.read += if without_engine { scored } else { u64::from(run.moves) };
        let mut refused = |reason: SkipReason, positions: u64| {
            self.count.skip(reason, positions);
            count(&mut self.out.skipped, reason, 1);
        };
        if without_engine {
            return refused(SkipReason::AnalysisWithoutEngine, scored);
        }
        let Some((_, first)) = run.positions.first() else {
            return refused(SkipReason::NoScores, u64::from(run.moves));
        };
        if self.options.drop_draws && first.black_outcome == Outcome::Draw {
            return refused(SkipReason::Draw, scored);
        }
        self.count.skip(SkipReason::NoScores, u64::from(run.moves) - scored);
        let mut begun = false;
        for (index, (move_number, mut position)) in (0..).zip(run.positions.iter().copied()) {
            let stretch: u64 = index / self.every;
            // an analysis needs the place of the position
            if run.played.is_some() {
                position.ply = Some(move_number + 1);
            }
            if index % self.every == random::below(self.every, &[self.options.seed, id, stretch]) {
                if !begun {
                    self.begin(id, &position, number);
                    begun = true;
                }
                self.sample(&position, stretch as u32, number);
            }
        }
        if let Some(played) = run.played.filter(|_| begun) {
            self.found.positions.add_game(id, played, 0);
        }
        if !begun {
            count(&mut self.out.skipped, SkipReason::NotDrawn, 1);
        }
    }

    /// Whether the engine is unknown. If so, reports it once per file and counts all positions as skipped.
    fn without_engine(&mut self, block: &Block) -> bool {
        if self.engine.is_some() {
            return false;
        }
        let reason = SkipReason::AnalysisWithoutEngine;
        let counted: u64 = self.count.skipped.values().sum();
        self.count.skip(reason, self.count.read - counted);
        if block.offset == 0 {
            let text =
                text!("training data does not name the engine that gave the scores; name it with `annotator` NAME");
            self.out.problem(0, reason, text, false);
        }
        true
    }

    fn broken(&mut self, reason: SkipReason, block: &Block, index: u64, record: &[u8]) {
        let at = block.offset + index * record.len() as u64;
        let value = match reason {
            SkipReason::IllegalResult => {
                let (place, wanted) = match self.packed {
                    Packed::Psv => (38, "1, 0 or -1"),
                    _ => (36, "0, 1 or 2 with the flags 4, 8, 16"),
                };
                let byte = record.get(place).copied().unwrap_or(0);
                text!("byte {byte} at byte {} is not {wanted}; the record is skipped", at + place as u64)
            }
            _ => text!("the 32 bytes at byte {at} are not a position; the record is skipped"),
        };
        self.out.problem(index, reason, value, true);
    }

    fn begin(&mut self, id: u64, position: &PackedPosition, line: u64) {
        let from = self.found.samples.len();
        let info = game_info(id, position, self.engine.unwrap_or_default(), self.unnamed);
        let info = GameInfo { line, ..info };
        // its samples follow
        let rank = Rank::default();
        self.found.games.push(FoundGame {
            info,
            annotator: self.engine,
            samples: from..from,
            rank,
            view: None,
            scored: [false; 2],
        });
    }

    fn sample(&mut self, position: &PackedPosition, window: u32, line: u64) {
        let position = ScoredPosition {
            ply: position.ply.unwrap_or(0),
            color: position.color,
            score_cp: position.score_cp,
            mate: false,
            analysis: true,
            declared: None,
            line,
        };
        self.found.samples.push(DrawnScore { position, window, reply_cp: None, material: None });
        if let Some(game) = self.found.games.last_mut() {
            game.samples.end = self.found.samples.len();
        }
        self.count.used += 1;
    }
}
