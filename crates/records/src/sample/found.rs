//! What one worker found, until the results of all workers are merged.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use evalcurve_calibration::types::Termination;
use evalcurve_words::language::Text;
use evalcurve_words::random;
use evalcurve_words::text;
use evalcurve_words::text::thousands;

use super::positions::Positions;
use super::report::{PositionCount, ProblemKind, ReadReport, count};
use super::sampler::DrawnScore;
use super::{GameEnd, GameInfo, NameId, Names};
use crate::record::packed::{Packed, PackedPosition};
use crate::record::source::{Key, Refusal};
use crate::record::{Convention, OddityKind, SkipReason, UnreadComment};

/// Problems of each kind that are reported with their text; the others are only counted.
pub(super) const SHOWN: usize = 20;

/// In a file with scores, so many comments that only look like scores are reported, ...
const LEAST_UNREAD: u64 = 10;
/// ... if they are one in so many scores: prose has numbers, too.
const UNREAD_SHARE: u64 = 20;

/// What one worker found, in the order in which it read it.
#[derive(Default)]
pub(super) struct Found {
    pub names: Names,
    pub blocks: Vec<FoundBlock>,
    pub games: Vec<FoundGame>,
    pub samples: Vec<DrawnScore>,
    pub drawn: Vec<Drawn>,
    pub positions: Positions,
    barren: Barren,
}

/// Whole files and members that gave no game: an archive of 20 KB has a million of them, so only counts and the first
/// texts are kept.
#[derive(Default)]
struct Barren {
    counts: ReadReport,
    /// The first problems of each kind, in the order of reading, with the member.
    problems: BTreeMap<(&'static str, Key, usize), (Arc<str>, FoundProblem)>,
    /// The first ones that only have games that are kept already.
    copies: BTreeMap<Key, FoundBlock>,
}

impl Barren {
    fn add(&mut self, mut block: FoundBlock) {
        self.counts.add_block(&block);
        match block.holds_nothing() {
            true => {
                count(&mut self.counts.files_refused, Refusal::NoGames.as_str(), 1);
                block.problems.insert(0, FoundProblem::no_games());
            }
            false => self.counts.files_read += u64::from(block.refusal.is_none() && !block.is_note),
        }
        if let Some(unread) = block.unread.take()
            && let Some(text) = unread.text(block.scores)
        {
            block.problem(unread.first.line, OddityKind::UnreadComment, text, false);
        }
        for (number, problem) in block.problems.into_iter().enumerate() {
            let kind = problem.kind.as_str();
            self.problems.insert((kind, block.key, number), (block.member.clone(), problem));
            let of_kind = self.problems.range((kind, (0, 0), 0)..=(kind, (u32::MAX, u64::MAX), usize::MAX));
            if let Some(last) = of_kind.map(|(place, _)| *place).nth(SHOWN) {
                self.problems.remove(&last);
            }
        }
    }
}

impl Found {
    /// Adds a block that is all of a file or member, or a note on one.
    pub(crate) fn push_whole(&mut self, block: FoundBlock) {
        let barren = &mut self.barren;
        if !block.games.is_empty() || block.positions.is_some() {
            self.blocks.push(block);
        } else if block.copies.is_empty() {
            barren.add(block);
        } else {
            barren.copies.insert(block.key, block);
            if barren.copies.len() > SHOWN
                && let Some((_, last)) = barren.copies.pop_last()
            {
                barren.add(last);
            }
        }
    }

    /// Moves the texts of files and members without games to the blocks. Returns their counts.
    pub(crate) fn take_barren(&mut self) -> ReadReport {
        let Barren { counts, problems, copies } = std::mem::take(&mut self.barren);
        self.blocks.extend(copies.into_values());
        for ((_, key, _), (member, problem)) in problems {
            let problems = vec![problem];
            self.blocks.push(FoundBlock { is_note: true, problems, ..FoundBlock::new(key, &member, 0, 0) });
        }
        counts
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

    /// What to report of a file with `scores` scores. Of a file with scores, only those comments are worth a message
    /// that look like scores, and are many.
    pub(super) fn text(&self, scores: u64) -> Option<Text> {
        let Self { count, first, chess } = self;
        if scores > 0 && (*count < LEAST_UNREAD || count * UNREAD_SHARE < scores) {
            return None;
        }
        let counts = match count {
            0 => Text::default(),
            _ => {
                let [count, scores] = [*count, scores].map(thousands);
                text!(" ({count} comments look like scores and are not read, {scores} are)")
            }
        };
        let forms = match chess {
            true => text!(
                "'+0.98/25 11s' (cutechess, fastchess), \
                 '+0.57 17/28 583 363004' and '+0.57' in all comments (OpenBench), 'd=35, …, wv=0.47' and \
                 'ev=0.47, d=21, …' (TCEC), '0.27/20 384 (Nf6)' (ChessBase), '[%eval 0.25]' (lichess; without a point \
                 it could be pawns or centipawns)"
            ),
            false => text!(
                "'** 30 +7776FU …' (floodgate), '** 対局 … 評価値 100 …' (ShogiGUI), '**評価値=8' (ShogiHome), \
                 '*#指し手[62]…' (ぴよ将棋)"
            ),
        };
        Some(text!("'{}' is not read as a score{counts}; known forms are {forms}", first.value))
    }
}

/// A problem of a block.
pub(super) struct FoundProblem {
    /// Its line from 0 in the block; `None` for the file as a whole.
    pub line: Option<u64>,
    pub kind: ProblemKind,
    pub value: Text,
    pub is_error: bool,
}

impl FoundProblem {
    /// A file in a known format without a game.
    pub(super) fn no_games() -> Self {
        Self { line: None, kind: Refusal::NoGames.into(), value: Refusal::no_games(), is_error: false }
    }
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
    pub view: Option<(Convention, Option<GameEnd>)>,
    /// Whether it has scores of Black, and of White.
    pub scored: [bool; 2],
}

impl FoundBlock {
    pub(crate) fn new(key: Key, member: &Arc<str>, bytes: u64, first_game: usize) -> Self {
        Self { key, member: member.clone(), bytes, games: first_game..first_game, ..Self::default() }
    }

    /// Whether there is no game in it, although it is in a known format.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.refusal.is_none() && !self.is_note && self.read == 0 && self.positions.is_none()
    }

    pub(crate) fn problem(
        &mut self,
        line: impl Into<Option<u64>>,
        kind: impl Into<ProblemKind>,
        value: impl Into<Text>,
        is_error: bool,
    ) {
        let kind = kind.into();
        if self.problems.iter().filter(|p| p.kind == kind).count() < SHOWN {
            self.problems.push(FoundProblem { line: line.into(), kind, value: value.into(), is_error });
        }
    }

    /// Counts a game that is not kept. Texts are only needed for the first ones.
    pub(crate) fn copy(&mut self, copy: Copy) {
        match self.copies.len() < SHOWN {
            true => self.copies.push(copy),
            false => self.more_copies += 1,
        }
    }

    pub(crate) fn oddity(&mut self, line: impl Into<Option<u64>>, kind: OddityKind, value: impl Into<Text>) {
        count(&mut self.oddities, kind.as_str(), 1);
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
