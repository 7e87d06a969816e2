//! What a play-out needs to know of a game.

use std::fmt::Debug;

use evalcurve_core::types::Outcome;

/// Who moves: the player who began the game, or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Moves first: X, or Black on boards of stones.
    First,
    /// Moves second.
    Second,
}

impl Side {
    /// The other side.
    pub fn opponent(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 for the first, 1 for the second.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A game of two players who move in turn, with a fixed list of actions (cells to occupy, say) of which some are legal.
///
/// To clone a position must be cheap: every play-out begins with a clone.
pub trait Game: Clone + Debug + Send + Sync {
    /// Number of actions, legal or not; they are numbered from 0.
    fn actions(&self) -> usize;

    /// Who moves next.
    fn mover(&self) -> Side;

    /// Puts the legal actions in ascending order into `out`, which is emptied first; none once the game is over.
    fn legal(&self, out: &mut Vec<u16>);

    /// Brings `legal`, the legal actions before a move that was made just now, up to date; faster than to list them
    /// anew where a move takes nothing but itself away.
    fn legal_after(&self, _action: u16, legal: &mut Vec<u16>) {
        self.legal(legal);
    }

    /// Makes a legal move. What happens on an illegal one is up to the game, but it does not panic.
    fn play(&mut self, action: u16);

    /// The result for the first player; `None` as long as the play-out goes on. Games that fill the board may go on
    /// when the winner is certain, since a full board says the same and has more moves to count.
    fn outcome(&self) -> Option<Outcome>;

    /// What an action is called: `b2`.
    fn name(&self, action: u16) -> String;

    /// The action of that name.
    fn action(&self, name: &str) -> Option<u16> {
        (0..self.actions() as u16).find(|&action| self.name(action) == name)
    }

    /// The result for one side.
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

/// The position behind moves given by name, as `b2,a1`; the sides move in turn.
///
/// # Errors
/// The first name that is no legal move.
pub fn position<G: Game>(mut game: G, moves: &str) -> Result<G, String> {
    for name in moves.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match game.action(name) {
            Some(action) if game.is_legal(action) => game.play(action),
            _ => return Err(name.to_owned()),
        }
    }
    Ok(game)
}
