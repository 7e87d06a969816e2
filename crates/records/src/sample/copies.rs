//! Which record counts of a game that several files hold: the same one in whatever order the files are read.

use evalcurve_core::random;
use evalcurve_core::types::Termination;

use super::GameInfo;
use super::merge::{Found, FoundSample};
use super::packed::Drawn;

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
pub(super) fn rank(found: &Found, info: &GameInfo, samples: &[FoundSample]) -> Rank {
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
