//! Game records as `evalcurve-records` reads them: CSA in both kinds of shogi, PGN in chess.

mod csa;
mod pgn;

use evalcurve_calibration::types::{Color, Termination};
use evalcurve_engine::Game;
use evalcurve_words::text::{printable, shortened};

use super::game::PlayedGame;
use super::tournament::Tournament;

/// What a record says about a game besides its moves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header<'a> {
    pub tournament: &'a Tournament,
    /// The places of the engines in the tournament, Black's first.
    pub players: [usize; 2],
    /// Number of the pair and of the game in it, from 1.
    pub round: (u32, u32),
}

/// A name or a remark in a record.
fn shown(text: &str) -> String {
    printable(text, ' ')
}

impl Header<'_> {
    fn name(&self, side: Color) -> String {
        shown(&self.tournament.engines[self.players[side.index()]].name)
    }

    /// The limit of both engines, if it is the same.
    fn shared_limit(&self) -> Option<String> {
        let [black, white] = self.players.map(|place| Tournament::limit_text(&self.tournament.engines[place]));
        (black == white && !black.is_empty()).then_some(black)
    }
}

/// What a row of the results says about a game.
#[derive(Debug, Clone)]
pub(crate) struct Claim<'a> {
    /// The names of the engines, Black's first.
    pub names: [&'a str; 2],
    /// `None` for a draw.
    pub winner: Option<Color>,
    pub termination: Termination,
    pub plies: u32,
    pub round: (u32, u32),
}

/// The first difference between a row of the results and the record that [`write`] wrote; `None` if they agree.
pub(crate) fn difference(game: Game, claim: &Claim<'_>, record: &str) -> Option<String> {
    let both = if game == Game::Chess { pgn::claims(claim, record) } else { csa::claims(claim, record) };
    let (row, record) = both.into_iter().find(|(row, record)| row != record)?;
    Some(format!("the row says {}, and the record of the game {}", shortened(&row, 200), shortened(&record, 200)))
}

/// The record of a game, with an empty line or a separator after it.
pub(crate) fn write(header: &Header<'_>, game: &PlayedGame) -> String {
    match header.tournament.game {
        Game::Chess => pgn::write(header, game),
        _ => csa::write(header, game),
    }
}

/// The ending of the name of a file with records of a game: `csa`, or in chess `pgn`.
pub fn extension(game: Game) -> &'static str {
    if game == Game::Chess { "pgn" } else { "csa" }
}

/// How the record of every game begins, and no other line of it.
pub(crate) fn beginning(game: Game) -> &'static str {
    if game == Game::Chess { pgn::BEGINNING } else { csa::BEGINNING }
}

#[cfg(test)]
mod tests;
