//! Plays engines, and councils as engines, against each other: shogi, 5x5 shogi and chess.
//!
//! ```text
//! TOURNAMENT.toml -> Tournament -> pairs of games -> workers: Player against Player -> Store -> Standings
//! ```
//!
//! Every opening is played twice with colours swapped. These two games are a pair: the unit of resuming and of
//! statistics. An engine that crashes, plays an illegal move or exceeds its time loses that game, and the tournament
//! goes on. Engines with fixed nodes or depth play the same games again, however many games run at a time and wherever
//! an earlier run was stopped.

mod clock;
mod ending;
mod game;
mod opening;
mod positions;
mod problem;
mod record;
mod run;
mod score_rules;
mod standings;
mod store;
mod tournament;

pub use opening::OpeningError;
pub use positions::positions;
pub use record::extension;
pub use run::{PlayError, RunOptions, estimate, run};
pub use standings::{Encounter, Faults, Idle, Standings};
pub use store::StoreError;
pub use tournament::{Adjudication, DrawRule, Format, Openings, Order, Processors, ResignRule, Tournament};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use evalcurve_engine::{ConfigError, ConfigText, CouncilConfig, Game};
    use evalcurve_rules::Rule;

    /// The members of a council's configuration.
    pub(crate) fn read_council(path: &Path) -> Result<CouncilConfig, ConfigError> {
        let members = ConfigText::open(path)?.document()?.engines(Game::Shogi, Some(Rule::Optimistic), read_council)?;
        Ok(CouncilConfig { members, ..CouncilConfig::default() })
    }
}
