//! The rules and the tie rules by name.

use std::fmt;

/// How a council decides. The documentation of each says whose move is chosen; `docs/rules.md` has the formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Rule {
    /// The move of most voters (Sato 2013, eq. 2.5 and 2.27 with w = 1).
    Majority,
    /// The move with the largest sum of weights (Sato 2013, eq. 2.27).
    Weighted,
    /// The largest raw score (Sugiyama, Obata, Hoki and Ito 2011; 単純楽観 in Takeuchi 2018).
    Optimistic,
    /// The smallest raw score.
    Pessimistic,
    /// The largest standardised score.
    StandardizedOptimistic,
    /// The largest calibrated win rate (勝率楽観, Takeuchi 2018, section 3).
    #[default]
    WinRateOptimistic,
    /// The largest mean win rate over the lists of all voters.
    MeanWinRate,
    /// The largest mean logit over the lists of all voters (a logarithmic opinion pool).
    LogPool,
    /// The move that explains all votes best, by maximum likelihood (最善合議, LFICS 2016-12).
    Optimal,
    /// The vote of the strongest voter.
    Strongest,
    /// Two advisers and a chooser (Althöfer's 3-Hirn; Sato 2013, eq. 4.1).
    ThreeHirn,
    /// The largest win rate after the correction for the winner's curse.
    CorrectedOptimistic,
    /// The logarithmic pool with weights from the voters' ratings.
    StrengthPool,
}

impl Rule {
    /// All rules, in the order of declaration.
    pub const ALL: [Self; 13] = [
        Self::Majority,
        Self::Weighted,
        Self::Optimistic,
        Self::Pessimistic,
        Self::StandardizedOptimistic,
        Self::WinRateOptimistic,
        Self::MeanWinRate,
        Self::LogPool,
        Self::Optimal,
        Self::Strongest,
        Self::ThreeHirn,
        Self::CorrectedOptimistic,
        Self::StrengthPool,
    ];

    /// The name in configurations and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Weighted => "weighted",
            Self::Optimistic => "optimistic",
            Self::Pessimistic => "pessimistic",
            Self::StandardizedOptimistic => "standardized-optimistic",
            Self::WinRateOptimistic => "winrate-optimistic",
            Self::MeanWinRate => "mean-winrate",
            Self::LogPool => "log-pool",
            Self::Optimal => "optimal",
            Self::Strongest => "strongest",
            Self::ThreeHirn => "3-hirn",
            Self::CorrectedOptimistic => "corrected-optimistic",
            Self::StrengthPool => "strength-pool",
        }
    }

    /// The rule of that name, `None` where no rule has it.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name)
    }

    /// Whether the rule compares win rates, so that voters need calibrations.
    pub fn needs_win_rates(self) -> bool {
        matches!(
            self,
            Self::WinRateOptimistic
                | Self::MeanWinRate
                | Self::LogPool
                | Self::Optimal
                | Self::CorrectedOptimistic
                | Self::StrengthPool
        )
    }

    /// Whether announced mates stand above the rule unless told otherwise: on for all rules that look for the best
    /// score, off for those that count heads, trust one voter, or look for the smallest.
    pub fn mates_by_default(self) -> bool {
        self.needs_win_rates() || matches!(self, Self::Optimistic | Self::StandardizedOptimistic)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of several moves with the same value is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TieRule {
    /// The leader's where it is among the tied, else that of the first voter in order.
    #[default]
    Leader,
    /// One of the tied moves, drawn from [`Options::seed`](super::Options) and [`Options::draw_key`](super::Options).
    Draw,
    /// That which the strongest voter scores highest (Sato 2013, eq. 2.35).
    Strongest,
}

impl TieRule {
    /// All tie rules, in the order of declaration.
    pub const ALL: [Self; 3] = [Self::Leader, Self::Draw, Self::Strongest];

    /// The name in configurations and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Draw => "draw",
            Self::Strongest => "strongest",
        }
    }

    /// The tie rule of that name, `None` where none has it.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tie| tie.as_str() == name)
    }
}

impl fmt::Display for TieRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
