//! An entry of the list of models.

use crate::situation::StageUnit;

/// What a model must know of a sample beyond the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// The rating difference of the players.
    pub rating: bool,
    /// The ply.
    pub ply: bool,
    /// The material on the board.
    pub material: bool,
    /// The ratings of the players themselves, with their time control.
    pub level: bool,
}

impl Needs {
    pub(super) const NONE: Self = Self { rating: false, ply: false, material: false, level: false };
}

/// An entry of the list of models.
pub(crate) struct Definition {
    /// The name in files; with hyphens in options.
    pub name: &'static str,
    /// Short names that options accept, too.
    pub aliases: &'static [&'static str],
    /// A few words for reports.
    pub label: &'static str,
    /// One sentence for help texts.
    pub summary: &'static str,
    /// The place from simple to flexible; `None` for a baseline, which no file holds. Of several models that are
    /// equally good a choice by log loss takes the lowest.
    pub rank: Option<u8>,
    /// `true` for chess alone, `false` for everything but chess, `None` for both.
    pub chess: Option<bool>,
    /// A diagnosis scores the model although it is not the chosen one.
    pub diagnosed: bool,
    /// Fitted only where it is named: no choice by log loss tries it.
    pub on_request: bool,
    /// What it must know of a sample.
    pub needs: Needs,
    /// It has a share of results that follow no score.
    pub lapses: bool,
    /// The players or their rating difference change its win rates.
    pub knows_players: bool,
    /// What the stages of its form must be measured by; `None` if the form says so itself.
    pub stage: Option<StageUnit>,
}

impl Definition {
    /// A baseline that knows the score alone; the entries change what differs.
    pub(crate) const BASELINE: Self = Self {
        name: "",
        aliases: &[],
        label: "",
        summary: "",
        rank: None,
        chess: None,
        diagnosed: true,
        on_request: false,
        needs: Needs::NONE,
        lapses: false,
        knows_players: false,
        stage: None,
    };
}
