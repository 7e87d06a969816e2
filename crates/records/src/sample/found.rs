//! What one worker found, until the results of all workers are merged.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use evalcurve_calibration::types::Termination;
use evalcurve_words::language::Text;
use evalcurve_words::random;

use super::positions::Positions;
use super::report::{PositionCount, count};
use super::sampler::DrawnScore;
use super::{GameEnd, GameInfo, NameId, Names};
use crate::record::packed::{Packed, PackedPosition};
use crate::record::source::{Key, Refusal};
use crate::record::{Convention, SkipReason, UnreadComment};

/// Problems of each kind that are reported with their text; the others are only counted.
pub(super) const SHOWN: usize = 20;

/// What one worker found, in the order in which it read it.
#[derive(Default)]
pub(super) struct Found {
    pub names: Names,
    pub blocks: Vec<FoundBlock>,
    pub games: Vec<FoundGame>,
    pub samples: Vec<DrawnScore>,
    pub drawn: Vec<Drawn>,
    pub positions: Positions,
    /// The first files and members of each kind that were refused: an archive of a few megabytes has a million empty
    /// members.
    refused: BTreeMap<(Refusal, Key), FoundBlock>,
    /// How many more there are.
    more_refused: BTreeMap<Refusal, u64>,
}

impl Found {
    /// Adds a file or member that was refused. Texts are only needed for the first ones in the order of reading.
    pub(crate) fn refuse(&mut self, refusal: Refusal, block: FoundBlock) {
        self.refused.insert((refusal, block.key), block);
        let of_kind = self.refused.range((refusal, (0, 0))..=(refusal, (u32::MAX, u64::MAX)));
        if let Some(last) = of_kind.map(|(key, _)| *key).nth(SHOWN) {
            self.refused.remove(&last);
            count(&mut self.more_refused, refusal, 1);
        }
    }

    /// Moves the refused files and members to the blocks. Returns how many more there are.
    pub(crate) fn take_refused(&mut self) -> BTreeMap<Refusal, u64> {
        self.blocks.extend(std::mem::take(&mut self.refused).into_values());
        std::mem::take(&mut self.more_refused)
    }
}

/// One block, or refused file, with ranges into the lists of [`Found`].
#[derive(Default)]
pub(super) struct FoundBlock {
    pub key: Key,
    pub member: Arc<str>,
    pub refusal: Option<Refusal>,
    /// It only holds a problem of a file that other blocks are of.
    pub is_note: bool,
    /// All games that gave samples are chess.
    pub chess: bool,
    pub lines: u64,
    pub bytes: u64,
    pub read: u64,
    pub book_moves: u64,
    pub scores: u64,
    pub verified: u64,
    pub skipped: BTreeMap<SkipReason, u64>,
    pub oddities: BTreeMap<&'static str, u64>,
    pub problems: Vec<FoundProblem>,
    pub unread: Option<FoundUnread>,
    pub games: Range<usize>,
    /// The first games that the worker had read before, in the same words, and did not keep again.
    pub copies: Vec<Copy>,
    /// How many more of them there are.
    pub more_copies: u64,
    pub positions: Option<FoundPositions>,
}

/// The comments of a block that are not read as scores.
#[derive(Clone)]
pub(super) struct FoundUnread {
    /// How many look like scores.
    pub count: u64,
    /// The first of them, if there is one; else the first with a number in a game without scores.
    pub first: UnreadComment,
    pub chess: bool,
}

impl FoundUnread {
    /// Adds the comments of a later game or block. Its example counts if only it looks like a score.
    pub(super) fn add(all: &mut Option<Self>, later: Self) {
        match all {
            Some(all) if all.count > 0 || later.count == 0 => all.count += later.count,
            _ => *all = Some(later),
        }
    }
}

/// A problem of a block.
pub(super) struct FoundProblem {
    /// Its line from 0 in the block; `None` for the file as a whole.
    pub line: Option<u64>,
    pub kind: &'static str,
    pub value: Text,
    pub strict: bool,
}

/// A game that is not kept, because it says the same as one that is.
pub(super) struct Copy {
    /// Its line from 0 in the block.
    pub line: u64,
    /// The index of the game that is kept.
    pub kept: usize,
    /// The index of the game that was kept next.
    pub before: usize,
}

pub(super) struct FoundGame {
    pub info: GameInfo,
    /// The engine that gave the scores of both sides, if it was not the players.
    pub annotator: Option<NameId>,
    pub samples: Range<usize>,
    pub rank: Rank,
    /// The view of the scores by convention, and how they end in the other view.
    pub view: Option<(Convention, Option<Box<GameEnd>>)>,
    /// Whether it has scores of Black, and of White.
    pub scored: [bool; 2],
}

impl FoundBlock {
    pub(crate) fn new(key: Key, member: &Arc<str>, bytes: u64, first_game: usize) -> Self {
        Self { key, member: member.clone(), bytes, games: first_game..first_game, ..Self::default() }
    }

    pub(crate) fn problem(
        &mut self,
        line: impl Into<Option<u64>>,
        kind: &'static str,
        value: impl Into<Text>,
        strict: bool,
    ) {
        if self.problems.iter().filter(|p| p.kind == kind).count() < SHOWN {
            self.problems.push(FoundProblem { line: line.into(), kind, value: value.into(), strict });
        }
    }

    /// Counts a game that is not kept. Texts are only needed for the first ones.
    pub(crate) fn copy(&mut self, copy: Copy) {
        match self.copies.len() < SHOWN {
            true => self.copies.push(copy),
            false => self.more_copies += 1,
        }
    }

    pub(crate) fn oddity(&mut self, line: impl Into<Option<u64>>, kind: &'static str, value: impl Into<Text>) {
        count(&mut self.oddities, kind, 1);
        self.problem(line, kind, value, true);
    }
}

/// The counted positions of a block, and the range of those drawn from HCPE or PSV.
pub(super) struct FoundPositions {
    pub packed: Packed,
    pub count: PositionCount,
    /// Whether a score differs from 0.
    pub any_score: bool,
    /// The key of the file (from its first bytes) and the offset in it. Copies of a block have the same place.
    pub place: (u64, u64),
    /// The engine that gave the scores.
    pub engine: NameId,
    /// Range of [`Found::drawn`].
    pub drawn: Range<usize>,
}

/// A drawn record of HCPE or PSV with all that is known about its game. It is small, because millions of them are held
/// until all files are read.
pub(super) struct Drawn {
    /// Identity of the game.
    pub id: u64,
    /// Index of the record in its block.
    pub index: u32,
    /// Index of the stretch.
    pub window: u32,
    pub position: PackedPosition,
    /// Whether this is the first drawn record of its game.
    pub begins: bool,
}

/// The rank of a record of a game: the one with more samples counts, among equals the one that says more, and at last
/// the one with the larger digest. Records of one rank give the same rows, apart from their source and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Rank {
    samples: usize,
    /// How many ratings, replies and the like it has.
    details: usize,
    digest: u64,
}

/// The rank of a record of a game with these samples.
pub(super) fn rank(found: &Found, info: &GameInfo, samples: &[DrawnScore]) -> Rank {
    let time_control = found.names.get(info.time_control);
    let known = [!time_control.is_empty(), info.termination != Termination::Unknown];
    let details = known.iter().filter(|is_known| **is_known).count()
        + info.ratings.iter().flatten().count()
        + samples.iter().map(|s| s.position.declared.iter().count() + s.reply_cp.iter().count()).sum::<usize>()
        + samples.iter().filter_map(|s| s.material).count();

    let optional = |value: Option<u64>| value.map_or(0, |value| random::bits(&[value]) | 1);
    let [black, white] = info.ratings.map(|rating| optional(rating.map(f64::to_bits)));
    let words = time_control.as_bytes().iter().fold(0, |h, byte| random::bits(&[h, u64::from(*byte)]));
    let head = random::bits(&[info.black_outcome as u64, info.termination as u64, black, white, words]);
    let digest = samples.iter().fold(head, |h, s| {
        let position = &s.position;
        random::bits(&[
            h,
            u64::from(position.ply),
            position.color as u64,
            position.score_cp as u64,
            u64::from(position.mate),
            u64::from(s.window),
            optional(s.reply_cp.map(|cp| cp as u64)),
            optional(position.declared.map(|declared| random::bits(&<[u16; 3]>::from(declared).map(u64::from)))),
            optional(s.material.map(u64::from)),
        ])
    });
    Rank { samples: samples.len(), details, digest }
}

/// A digest of drawn records of training data.
pub(super) fn drawn_digest(drawn: &[Drawn]) -> u64 {
    drawn.iter().fold(0, |h, one| {
        let position = &one.position;
        let ply = position.ply.map_or(0, |ply| u64::from(ply) + 1);
        let end = [position.black_outcome as u64, position.termination as u64];
        let place = [h, one.id, u64::from(one.index)];
        random::bits(&[&place[..], &[position.color as u64, ply, position.score_cp as u64], &end].concat())
    })
}
