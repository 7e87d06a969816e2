//! The moves of KI2, `▲７六歩 △３四歩 ▲５八金右`: the square that a piece comes from is found on the board.

use evalcurve_calibration::types::Color;

use super::line::moved_piece;
use super::words::{Script, symbol};
use crate::record::board::Step;
use crate::record::position::{PIECES, Position, promote, square, square_name};

/// Which of several pieces moves: its direction, and the side that it comes from.
#[derive(Debug, Clone, Copy, Default)]
struct Which {
    /// 上, 寄, 引 or 直.
    motion: Option<u8>,
    /// 左 or 右.
    side: Option<u8>,
}

impl Which {
    /// Whether a piece that makes this step moves in the recorded direction.
    fn matches(self, step: Step) -> bool {
        match self.motion {
            Some(symbol::FORWARD) => step.forward > 0,
            Some(symbol::SIDEWAYS) => step.forward == 0,
            Some(symbol::BACK) => step.forward < 0,
            // 直: straight ahead
            Some(symbol::STRAIGHT) => step.forward > 0 && step.right == 0,
            _ => true,
        }
    }

    /// The one piece that is meant; `None` if the record is ambiguous.
    fn choose(self, origins: &[(usize, Step)]) -> Option<usize> {
        let mut left: Vec<_> = origins.iter().filter(|(_, step)| self.matches(*step)).collect();
        // a piece on the left of the target moves to the right; of several the outermost is meant
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

/// The move at the beginning of `text`, after its ▲ or △, as CSA writes it from the first square on, and its length. It
/// is played on the board. `None` for a text that is not a move, and for a move that no piece or several could make.
pub(super) fn play(
    script: &Script,
    text: &[u8],
    color: Color,
    last_to: Option<[u8; 2]>,
    board: &mut Position,
) -> Option<([u8; 6], usize)> {
    let width = script.width;
    let at = |i: usize| script.symbol(text.get(i..).unwrap_or_default());
    let (to_name, piece, mut i) = moved_piece(script, text, last_to, true)?;

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

    let to = square(to_name)?;
    let origins = if drops { Vec::new() } else { board.origins(color, piece, to) };
    let from = if origins.is_empty() {
        // 打 is written only if a piece on the board could go there too
        let held = board.held(color, piece).is_some_and(|n| *n > 0);
        if !held || board.squares[to] != 0 || after != piece {
            return None;
        }
        None
    } else {
        Some(which.choose(&origins)?)
    };
    board.play(color, from, to, after);
    let [a, b] = from.map_or(*b"00", square_name);
    let [e, f] = PIECES[usize::from(after) - 1].0;
    Some(([a, b, to_name[0], to_name[1], e, f], i))
}
