//! The moves of KI2, `▲７六歩 △３四歩 ▲５八金右`: without the square a piece comes from, which the board tells.

use super::line::promote;
use super::words::{Script, symbol};
use crate::record::board::{Board, Step};
use crate::record::position::PIECES;
use evalcurve_core::types::Color;

/// Which of several pieces moves: how it goes, and on which side it stands.
#[derive(Debug, Clone, Copy, Default)]
struct Which {
    /// 上, 寄, 引 or 直.
    motion: Option<u8>,
    /// 左 or 右.
    side: Option<u8>,
}

impl Which {
    /// Does a piece that takes this step go as the record says?
    fn goes(self, step: Step) -> bool {
        match self.motion {
            Some(symbol::FORWARD) => step.forward > 0,
            Some(symbol::SIDEWAYS) => step.forward == 0,
            Some(symbol::BACK) => step.forward < 0,
            // 直: straight ahead
            Some(symbol::STRAIGHT) => step.forward > 0 && step.right == 0,
            _ => true,
        }
    }

    /// The one piece that is meant; `None` where the record leaves it open.
    fn choose(self, origins: &[(usize, Step)]) -> Option<usize> {
        let mut left: Vec<_> = origins.iter().filter(|(_, step)| self.goes(*step)).collect();
        // a piece to the left of the target moves to the right; of several the outermost is meant
        let outermost = match self.side {
            Some(symbol::LEFT) => left.iter().map(|(_, step)| step.right).max(),
            Some(_) => left.iter().map(|(_, step)| step.right).min(),
            None => None,
        };
        if let Some(right) = outermost {
            left.retain(|(_, step)| step.right == right);
        }
        match left[..] {
            [(from, _)] => Some(*from),
            _ => None,
        }
    }
}

/// Does `text`, behind a ▲ or △, begin with the square that a move goes to?
pub(super) fn is_move(script: &Script, text: &[u8]) -> bool {
    let at = |i: usize| script.symbol(text.get(i..).unwrap_or_default());
    at(0) == symbol::SAME || (matches!(at(0), 1..=9) && matches!(at(script.width), 0x11..=0x19))
}

/// The move at the beginning of `text`, behind its ▲ or △, as CSA writes it from the first square on, and its length.
/// The board plays it. `None` for what is no move, for one that no piece can make, and where several could.
pub(super) fn play(
    script: &Script,
    text: &[u8],
    color: Color,
    last_to: Option<[u8; 2]>,
    board: &mut Board,
) -> Option<([u8; 6], usize)> {
    let width = script.width;
    let at = |i: usize| script.symbol(text.get(i..).unwrap_or_default());
    let (to_name, mut i) = match at(0) {
        file @ 1..=9 => {
            let rank = at(width).checked_sub(symbol::RANK).filter(|r| matches!(r, 1..=9))?;
            ([b'0' + file, b'0' + rank], 2 * width)
        }
        symbol::SAME => (last_to?, width),
        _ => return None,
    };
    // `同　銀`, and `７六同歩` as some newspapers write it
    while at(i) == symbol::BLANK || at(i) == symbol::SAME || text.get(i) == Some(&b' ') {
        i += if text.get(i) == Some(&b' ') { 1 } else { width };
    }
    let promoted = at(i) == symbol::PROMOTES;
    if promoted {
        i += width;
    }
    let mut piece = at(i).checked_sub(symbol::PIECE).filter(|p| matches!(p, 1..=14))?;
    if promoted {
        piece = promote(piece)?;
    }
    i += width;

    let mut which = Which::default();
    let (mut drops, mut after) = (false, piece);
    loop {
        match at(i) {
            side @ (symbol::LEFT | symbol::RIGHT) => which.side = Some(side),
            motion @ (symbol::FORWARD | symbol::SIDEWAYS | symbol::BACK | symbol::STRAIGHT) => {
                which.motion = Some(motion);
            }
            symbol::DROP => drops = true,
            symbol::PROMOTES => after = promote(piece)?,
            // 不成
            symbol::NOT if at(i + width) == symbol::PROMOTES => i += width,
            _ => break,
        }
        i += width;
    }

    let to = Board::square(to_name)?;
    let origins = if drops { Vec::new() } else { board.origins(color, piece, to) };
    let from = if origins.is_empty() {
        // 打 is written only where a piece on the board could go there too
        if !board.holds(color, piece) || board.squares[to] != 0 || after != piece {
            return None;
        }
        None
    } else {
        Some(which.choose(&origins)?)
    };
    board.play(color, from, to, after);
    let [a, b] = from.map_or(*b"00", Board::name);
    let [e, f] = PIECES[usize::from(after) - 1];
    Some(([a, b, to_name[0], to_name[1], e, f], i))
}
