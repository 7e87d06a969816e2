//! The list of rules. Each rule is one file in this folder and one line below; everything else iterates the list.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::decision::Decision;
use super::definition::{Ballot, Columns, DecisionRule, Definition, Judge, Needs, Pending, Visitor};
use super::vote::{Move, Role};

/// Declares the modules, the enum [`Rule`], and the dispatch from a [`Rule`] to its [`Definition`].
macro_rules! rules {
    ($($rule:ident: $module:ident,)*) => {
        $(mod $module; pub use $module::$rule;)*

        /// How a council decides. Each variant links to its rule; `docs/rules.md` explains them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("See [`", stringify!($rule), "`].")] $rule,)*
        }

        impl Rule {
            /// All rules, in the order of the list.
            pub const ALL: [Self; NAMES.len()] = [$(Self::$rule),*];

            /// Calls a function with the type of the rule.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self { $(Self::$rule => visitor.visit::<$rule>(),)* }
            }
        }

        const NAMES: &[&str] = &[$($rule::NAME),*];

        /// The item of this name of the [`Definition`] of a rule.
        macro_rules! of {
            ($value:expr, $item:ident) => {
                match $value { $(Rule::$rule => <$rule as Definition>::$item,)* }
            };
        }
    };
}

// rustfmt does not follow modules that a macro declares: format a new file with `rustfmt FILE`
rules! {
    Majority: majority,
    Weighted: weighted,
    Optimistic: optimistic,
    Pessimistic: pessimistic,
    StandardizedOptimistic: standardized_optimistic,
    WinRateOptimistic: win_rate_optimistic,
    MeanWinRate: mean_win_rate,
    LogPool: log_pool,
    Optimal: optimal,
    Strongest: strongest,
    ThreeHirn: three_hirn,
    CorrectedOptimistic: corrected_optimistic,
    StrengthPool: strength_pool,
    CrossExamination: cross_examination,
    Budget: budget,
}

impl Rule {
    /// The name in configurations, options and vote logs.
    pub const fn as_str(self) -> &'static str {
        of!(self, NAME)
    }

    /// The rule with this name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name)
    }

    /// Which move wins, as the end of "adopts …".
    pub const fn summary(self) -> &'static str {
        of!(self, SUMMARY)
    }

    /// The value of voter i's vote. `docs/rules.md` explains the symbols.
    pub const fn formula(self) -> &'static str {
        of!(self, FORMULA)
    }

    /// Where the rule comes from.
    pub const fn source(self) -> &'static str {
        of!(self, SOURCE)
    }

    /// What the rule needs beyond moves.
    pub const fn needs(self) -> Needs {
        of!(self, NEEDS)
    }

    /// Whether the rule compares win rates, so that voters need calibrations.
    pub const fn needs_win_rates(self) -> bool {
        self.needs().any_win_rate()
    }

    /// Whether the rule only adds up votes, so that ties are common.
    pub fn counts_votes(self) -> bool {
        self.needs() == Needs::NOTHING
    }

    /// Whether announced mates outrank the rule by default.
    pub const fn mates_by_default(self) -> bool {
        of!(self, MATES)
    }

    /// The rules that weights can be learned for, those that know most of the moves first.
    pub fn weighed() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().rev().filter(|rule| rule.adds_up().is_some())
    }

    /// The rule whose learned weights this one takes: a budget judges as cross-examination does.
    pub fn weighed_as(self) -> Self {
        if self == Self::Budget { Self::CrossExamination } else { self }
    }

    /// What the rule adds up for a move, if weights can be learned for it.
    pub(super) const fn adds_up(self) -> Option<fn(&Judge, Move) -> f64> {
        of!(self, ADDS_UP)
    }

    /// Whether the outstanding votes can no longer change the decision.
    pub fn is_settled(self, pending: &Pending<'_>) -> bool {
        of!(self, is_settled)(pending)
    }
}

impl DecisionRule for Rule {
    fn name(&self) -> &'static str {
        self.as_str()
    }

    fn values(&self, votes: &Columns<'_>, values: &mut [f64]) {
        of!(self, values)(votes, values);
    }

    fn needs(&self) -> Needs {
        of!(self, NEEDS)
    }

    fn mates(&self) -> bool {
        self.mates_by_default()
    }

    fn weight(&self, given: Option<f64>, role: Role) -> f64 {
        of!(self, weight)(given, role)
    }

    fn decide(&self, ballot: &Ballot<'_>) -> Decision {
        of!(self, decide)(ballot)
    }
}

// the macro declares the variants, so none can be marked as the default there
#[allow(clippy::derivable_impls)]
impl Default for Rule {
    fn default() -> Self {
        Self::WinRateOptimistic
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).ok_or_else(|| de::Error::unknown_variant(&name, NAMES))
    }
}
