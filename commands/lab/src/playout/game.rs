//! The interface of games for play-outs.

use std::fmt::Debug;

use evalcurve_calibration::types::Outcome;

/// A player: the one who began the game, or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Moves first: X, or Black on boards of stones.
    First,
    /// Moves second.
    Second,
}

impl Side {
    /// 0 for the first, 1 for the second.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A game of two players who move in turn, with a fixed list of actions (such as cells), some of which are legal.
///
/// Clones must be cheap, since every play-out begins with a clone.
pub trait Game: Clone + Debug + Send + Sync {
    /// Number of actions, legal or not; they are numbered from 0.
    fn actions(&self) -> usize;

    fn mover(&self) -> Side;

    /// Writes the legal actions in ascending order into `out`, replacing its contents; empty if the game is over.
    fn legal(&self, out: &mut Vec<u16>);

    /// Updates `legal` after a move. Faster than a new list for games in which a move only removes itself.
    fn legal_after(&self, _action: u16, legal: &mut Vec<u16>) {
        self.legal(legal);
    }

    /// Makes a legal move. The effect of an illegal one depends on the game, but it must not panic.
    fn play(&mut self, action: u16);

    /// The outcome for the first player; `None` while the play-out continues. Games that fill the board may continue
    /// after the winner is certain: the outcome is the same, and there are more moves to count.
    fn outcome(&self) -> Option<Outcome>;

    /// The name of an action, such as `b2`.
    fn name(&self, action: u16) -> String;

    /// The action with this name.
    fn action(&self, name: &str) -> Option<u16> {
        (0..self.actions() as u16).find(|&action| self.name(action) == name)
    }

    /// The outcome for one side.
    fn outcome_for(&self, side: Side) -> Option<Outcome> {
        self.outcome().map(|o| if side == Side::First { o } else { o.reversed() })
    }

    /// Whether an action is legal now.
    fn is_legal(&self, action: u16) -> bool {
        let mut legal = Vec::new();
        self.legal(&mut legal);
        legal.binary_search(&action).is_ok()
    }
}

/// The position after moves by name, such as `b2,a1`.
///
/// # Errors
/// The first name that is not a legal move.
pub fn position<G: Game>(mut game: G, moves: &str) -> Result<G, String> {
    for name in moves.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match game.action(name) {
            Some(action) if game.is_legal(action) => game.play(action),
            _ => return Err(name.to_owned()),
        }
    }
    Ok(game)
}
