//! From training data to samples: one position of every so many, since there are no games to cut into windows.
//!
//! HCPE and PSV are cut into stretches of N records (N is [`SamplingOptions::packed_every`]) and one record of each is drawn, by
//! seed, file and stretch alone; HCPE3 is cut so game by game. Windows and first plies do not apply: HCPE and HCPE3 hold
//! no ply, and in shuffled files a game's positions lie anywhere.
//!
//! Samples of one game are not independent, and intervals count it: HCPE3 has games; in PSV a game goes on while the ply
//! grows and the winner stays the same ([`Packed::goes_on`]); HCPE tells no game from the next, so that each record counts as one
//! and intervals come out too narrow where a file has several positions of each game.

use std::ops::Range;

use super::merge::{Found, FoundBlock, FoundGame, FoundSample};
use super::{GameInfo, NameId, PositionCount, SamplingOptions};
use crate::record::packed::hcpe3::{Games, PackedGame};
use crate::record::packed::{Packed, PackedPosition, digest};
use crate::record::source::Block;
use crate::record::{ScoredPosition, SkipReason};
use evalcurve_core::random;
use evalcurve_core::types::Outcome;

/// Problems that are looked for in one block; there may be as many as records.
const SHOWN: usize = 20;

/// The positions of a block, counted, and those drawn of HCPE and PSV.
pub(super) struct FoundPositions {
    pub packed: Packed,
    pub count: PositionCount,
    /// A score that is not 0 was met.
    pub any_score: bool,
    /// Which file, by its first bytes, and where in it: a block that was met before has the same two.
    pub place: (u64, u64),
    /// Whose scores these are.
    pub engine: NameId,
    /// Range of [`Found::drawn`].
    pub drawn: Range<usize>,
}

/// A drawn record of HCPE or PSV, all that is known of its game included: millions of them are kept until all are read.
pub(super) struct Drawn {
    /// Identity of the game.
    pub id: u64,
    /// Number of the record in its block.
    pub index: u32,
    /// Number of the stretch.
    pub window: u32,
    pub position: PackedPosition,
    /// The first record that was drawn of its game.
    pub begins: bool,
}

/// What is known of the game of a position, but for where it stands. `nothing` is the name of what is not known.
pub(super) fn game_info(id: u64, position: &PackedPosition, engine: NameId, nothing: NameId) -> GameInfo {
    GameInfo {
        id,
        players: [engine; 2],
        ratings: [None; 2],
        start_time: None,
        time_control: nothing,
        termination: position.termination,
        black_outcome: position.black_outcome,
        source: 0,
        line: 0,
    }
}

/// Draws the samples of a block of training data.
pub(super) fn read(block: &Block, packed: Packed, options: &SamplingOptions, found: &mut Found) -> FoundBlock {
    let out = FoundBlock::new(block.key, &block.member, block.filled as u64, found.games.len());
    let engine = options.annotator.as_ref().map(|name| found.names.intern(name));
    let nothing = found.names.intern("");
    let count = PositionCount::default();
    let every = u64::from(options.packed_every.max(1));
    let before = found.drawn.len();
    let mut draw = Draw { packed, options, every, engine, nothing, found, out, count, any_score: false };
    match packed.record_bytes() {
        Some(size) => draw.records(block, size),
        None => draw.games(block),
    }
    let Draw { mut out, mut count, any_score, .. } = draw;
    out.games.end = found.games.len();
    let skipped: u64 = count.skipped.values().sum();
    count.skip(SkipReason::NotDrawn, count.read.saturating_sub(count.used + skipped));
    out.scores = count.read;
    let (place, drawn) = ((block.file_key, block.offset), before..found.drawn.len());
    let engine = engine.unwrap_or(nothing);
    out.positions = Some(FoundPositions { packed, count, any_score, place, engine, drawn });
    out
}

struct Draw<'a> {
    packed: Packed,
    options: &'a SamplingOptions,
    every: u64,
    engine: Option<NameId>,
    /// The name of what is not known.
    nothing: NameId,
    found: &'a mut Found,
    out: FoundBlock,
    count: PositionCount,
    any_score: bool,
}

impl Draw<'_> {
    /// HCPE and PSV.
    fn records(&mut self, block: &Block, size: usize) {
        let text = block.text();
        let records = (text.len() / size) as u64;
        let at = |index: u64| text.get(index as usize * size..(index as usize + 1) * size).unwrap_or(&[]);
        self.out.lines = records;
        self.count.read = records;
        let rest = text.len() % size;
        if rest > 0 {
            self.out.lines += 1;
            self.count.read += 1;
            self.count.skip(SkipReason::BrokenRecord, 1);
            let value = format!(
                "{rest} bytes at the end, at byte {}, where a record of {} has {size}; the file is cut or in another format \
                 (--format), the records before are used",
                block.offset + (text.len() - rest) as u64,
                self.packed.as_str()
            );
            self.out.problem(records, SkipReason::BrokenRecord.as_str(), value, true);
        }
        // every record is looked at, so that the counts and the check for scores hold for the file
        let mut illegal = 0u64;
        let mut bits = 0;
        for record in text.chunks_exact(size) {
            illegal += u64::from(!self.packed.has_result(record));
            bits |= Packed::score(record);
        }
        self.any_score |= bits != 0;
        if illegal > 0 {
            let packed = self.packed;
            let wrong = (0..records).filter(|&i| !packed.has_result(at(i)));
            for index in wrong.take(SHOWN) {
                self.broken(SkipReason::IllegalResult, block, index, at(index));
            }
        }
        if self.without_engine(block) {
            return;
        }
        self.count.skip(SkipReason::IllegalResult, illegal);

        let first = block.offset / size as u64;
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
            if self.is_dropped(position.black_outcome) {
                self.count.skip(SkipReason::Draw, 1);
                continue;
            }
            // the beginning of the game, or the record drawn before it
            let mut begin = index;
            while self.packed == Packed::Psv
                && begin > 0
                && last.is_none_or(|last| begin > last)
                && Packed::goes_on(at(begin - 1), at(begin))
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
            self.found.drawn.push(Drawn { id, index, window, position, begins });
            last = Some(index.into());
        }
    }

    /// HCPE3.
    fn games(&mut self, block: &Block) {
        let mut games = Games::new(block.text(), true);
        let mut number = 0;
        let without_engine = self.without_engine(block);
        loop {
            let begin = games.offset();
            let Some(game) = games.next() else { break };
            self.out.read += 1;
            match game {
                Ok(game) => {
                    let reason = if without_engine {
                        let positions = self.look(&game).0;
                        self.count.read += positions;
                        self.count.skip(SkipReason::AnalysisWithoutEngine, positions);
                        Some(SkipReason::AnalysisWithoutEngine)
                    } else {
                        // converters write positions as games of one move: only their place tells equal ones apart
                        let place = if game.moves > 1 { 0 } else { block.offset + begin as u64 + 1 };
                        self.game(&game, random::bits(&[game.id, place]), number)
                    };
                    if let Some(reason) = reason {
                        *self.out.skipped.entry(reason).or_default() += 1;
                    }
                }
                Err(error) => {
                    *self.out.skipped.entry(error.reason).or_default() += 1;
                    let bytes = block.text().get(error.range).unwrap_or(&[]);
                    let value = format!(
                        "the {} bytes at byte {} are no game of HCPE3; they are passed over",
                        bytes.len(),
                        block.offset + begin as u64
                    );
                    self.out.problem(number, error.reason.as_str(), value, true);
                }
            }
            number += 1;
        }
        self.out.lines = number;
    }

    /// Scored positions of a game; is one of them not 0?
    fn look(&mut self, game: &PackedGame<'_>) -> (u64, bool) {
        let (n, any) = game.positions().fold((0, false), |(n, any), (_, p)| (n + 1, any || p.score_cp != 0));
        self.any_score |= any;
        (n, any)
    }

    /// One game of HCPE3; why it gave nothing, if so.
    fn game(&mut self, game: &PackedGame<'_>, id: u64, number: u64) -> Option<SkipReason> {
        let (scored, _) = self.look(game);
        self.count.read += u64::from(game.moves);
        self.count.skip(SkipReason::NoScores, u64::from(game.moves) - scored);
        if scored == 0 {
            return Some(SkipReason::NoScores);
        }
        if self.is_dropped(game.black_outcome) {
            self.count.skip(SkipReason::Draw, scored);
            return Some(SkipReason::Draw);
        }
        let mut begun = false;
        for (index, (_, position)) in (0..).zip(game.positions()) {
            let stretch: u64 = index / self.every;
            if index % self.every == random::below(self.every, &[self.options.seed, id, stretch]) {
                if !begun {
                    self.begin(id, &position, number);
                    begun = true;
                }
                self.sample(&position, stretch as u32, number);
            }
        }
        (!begun).then_some(SkipReason::NotDrawn)
    }

    fn is_dropped(&self, outcome: Outcome) -> bool {
        self.options.drop_draws && outcome == Outcome::Draw
    }

    /// Nobody said whose scores these are: told once a file, and all of its positions are counted so.
    fn without_engine(&mut self, block: &Block) -> bool {
        if self.engine.is_some() {
            return false;
        }
        let reason = SkipReason::AnalysisWithoutEngine;
        let counted: u64 = self.count.skipped.values().sum();
        self.count.skip(reason, self.count.read - counted);
        if block.offset == 0 {
            let text = "training data does not name the engine that gave the scores; name it with --annotator NAME";
            self.out.problem(0, reason.as_str(), text.to_owned(), false);
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
                format!("byte {byte} at byte {} is not {wanted}; the record is passed over", at + place as u64)
            }
            _ => format!("the 32 bytes at byte {at} are no position; the record is passed over"),
        };
        self.out.problem(index, reason.as_str(), value, true);
    }

    fn begin(&mut self, id: u64, position: &PackedPosition, line: u64) {
        let from = self.found.samples.len();
        let info = game_info(id, position, self.engine.unwrap_or_default(), self.nothing);
        let info = GameInfo { line, ..info };
        self.found.games.push(FoundGame { info, annotator: self.engine, samples: from..from });
    }

    fn sample(&mut self, position: &PackedPosition, window: u32, line: u64) {
        let position = ScoredPosition {
            ply: position.ply.unwrap_or(0),
            color: position.color,
            score_cp: position.score_cp,
            mate: false,
            analysis: true,
            line,
        };
        self.found.samples.push(FoundSample { position, window, material: None });
        if let Some(game) = self.found.games.last_mut() {
            game.samples.end = self.found.samples.len();
        }
        self.count.used += 1;
    }
}
