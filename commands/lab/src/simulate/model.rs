//! The model of LFICS ("合議の効能", 2016-12), with scales and calibrations in addition.

use evalcurve_rules::{Options, Rule, TieRule};
use strum::{Display, EnumString, VariantNames};

/// The largest number of engines of a simulated council.
pub const MOST_ENGINES: usize = 64;

/// An engine of the model.
///
/// It sees the worth of each candidate with normal noise, votes for the best it sees, and reports a score:
/// score = gain · value + offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Engine {
    /// s: standard deviation of what it sees, above 0, in the unit of the gap (logits for rules over win rates).
    pub noise: f64,
    /// Score per unit of value, above 0.
    pub gain: f64,
    /// Score at value 0.
    pub offset: f64,
    /// Error of its calibration in the slope w1: standard deviation of ln of the factor, 0 or more.
    pub calibration_error: f64,
    /// Error of its calibration in the offset w2: standard deviation, 0 or more.
    pub shift_error: f64,
    /// Its weight, 0 or more; `None` for that of the rule.
    pub weight: Option<f64>,
}

impl Engine {
    /// An engine whose scores are the values it sees, with an exact calibration.
    pub fn new(noise: f64) -> Self {
        Self { noise, gain: 1.0, offset: 0.0, calibration_error: 0.0, shift_error: 0.0, weight: None }
    }
}

/// Synchronised engines: with this probability `follower` copies the move and the value of `of`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synchronisation {
    /// The engine whose vote is copied, from 0.
    pub of: usize,
    /// The engine that copies, from 0.
    pub follower: usize,
    /// σ, 0 to 1.
    pub probability: f64,
}

/// How scores become the logits of rules over win rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum CalibrationOf {
    /// Gain and offset are removed, except for the errors of the calibration: the logit is the value that the engine
    /// saw.
    #[default]
    Scale,
    /// The logit is the prediction of the score: the least squares line from the values of the engine's votes to the
    /// true worth of the moves voted for. Like a fit to results, it corrects for the winner's curse and the noise.
    Prediction,
}

/// A rule in the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Contender {
    pub rule: Rule,
    /// How ties are broken; the leader is the first engine.
    pub tie: TieRule,
    /// Whether A is known to the optimal rule; otherwise it is estimated from the votes.
    pub best_known: bool,
}

impl Contender {
    /// A rule with ties to the leader and A estimated, as in a council.
    pub fn new(rule: Rule) -> Self {
        Self { rule, tie: TieRule::Leader, best_known: false }
    }

    /// The rules of LFICS (2016-12): majority with both tie rules, optimistic, pessimistic, optimal with A known and
    /// estimated.
    pub fn lfics() -> Vec<Self> {
        let optimal = Self::new(Rule::Optimal);
        vec![
            Self::new(Rule::Majority),
            Self { tie: TieRule::Draw, ..Self::new(Rule::Majority) },
            Self::new(Rule::Optimistic),
            Self::new(Rule::Pessimistic),
            Self { best_known: true, ..optimal },
            optimal,
        ]
    }

    /// Optimism over raw scores, standardised scores and win rates, which Takeuchi (2018) compares.
    pub fn optimisms() -> [Self; 3] {
        [Rule::Optimistic, Rule::StandardizedOptimistic, Rule::WinRateOptimistic].map(Self::new)
    }

    /// The name, with the tie rule if ties are common.
    pub fn name(&self) -> String {
        let rule = self.rule;
        if rule.needs().log_ratios {
            return format!("{rule}, A {}", if self.best_known { "known" } else { "estimated" });
        }
        match self.tie {
            _ if !rule.counts_votes() => rule.to_string(),
            TieRule::Leader => format!("{rule}, ties to the leader"),
            TieRule::Draw => format!("{rule}, ties drawn"),
            TieRule::Strongest => format!("{rule}, ties to the strongest"),
            other => format!("{rule}, ties {other}"),
        }
    }
}

/// A simulated council.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The engines, the leader first.
    pub engines: Vec<Engine>,
    /// n, the number of candidate moves, 2 or more: the best and those worth `gap` less.
    pub candidates: usize,
    /// d: how much more the best move is worth than the others, 0 or more.
    pub gap: f64,
    /// Mean of A, the worth of the best move.
    pub level: f64,
    /// Standard deviation of A between positions; 0 in LFICS.
    pub spread: f64,
    /// The synchronisations, applied in this order.
    pub synchronisations: Vec<Synchronisation>,
    /// How scores become logits.
    pub calibration: CalibrationOf,
    /// How many standard errors the corrected-optimistic rule subtracts from a logit.
    pub caution: f64,
}

/// Why a model cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// No engine, or too many.
    #[error("{0} engines; give 1 to {MOST_ENGINES} noise levels")]
    Engines(usize),
    /// A number or an engine out of range: which, and what is valid.
    #[error("{0}")]
    Range(String),
    /// A rule that needs more than the model has.
    #[error("rule {0} needs more than one move and its value per engine; choose another rule")]
    Rule(Rule),
    /// A tie rule that needs more than the model has.
    #[error("tie rule strongest needs the strongest engine's value of each tied move; choose leader or draw")]
    TieRule,
    /// No trials.
    #[error("0 trials; give 1 or more")]
    Trials,
    /// Threads could not be started.
    #[error("{0} threads could not be started; give `threads` a smaller number")]
    Threads(usize),
}

impl Model {
    /// The model of LFICS: independent engines with these noise levels on one scale.
    pub fn lfics(noise: &[f64], candidates: usize, gap: f64) -> Self {
        Self {
            engines: noise.iter().map(|s| Engine::new(*s)).collect(),
            candidates,
            gap,
            level: 0.0,
            spread: 0.0,
            synchronisations: Vec::new(),
            calibration: CalibrationOf::Scale,
            caution: Options::default().caution,
        }
    }

    /// Checks that the model can be simulated with these rules.
    ///
    /// # Errors
    /// [`ModelError`] names the value that is out of range, or the rule.
    pub fn check(&self, contenders: &[Contender]) -> Result<(), ModelError> {
        let engines = self.engines.len();
        if !(1..=MOST_ENGINES).contains(&engines) {
            return Err(ModelError::Engines(engines));
        }
        let range = |what: &str, value: f64, good: bool, range: &str| match good && value.is_finite() {
            true => Ok(()),
            false => Err(ModelError::Range(format!("{what} is {value}; give {range}"))),
        };
        let not_negative = |what: &str, value: f64| range(what, value, value >= 0.0, "0 or more");
        for (i, engine) in (1..).zip(&self.engines) {
            let of = |what: &str| format!("the {what} of engine {i}");
            range(&of("noise"), engine.noise, engine.noise > 0.0, "a number above 0")?;
            range(&of("gain"), engine.gain, engine.gain > 0.0, "a number above 0")?;
            range(&of("offset"), engine.offset, true, "a finite number")?;
            not_negative(&of("calibration error"), engine.calibration_error)?;
            not_negative(&of("shift error"), engine.shift_error)?;
            not_negative(&of("weight"), engine.weight.unwrap_or_default())?;
        }
        if self.engines.iter().all(|engine| engine.weight == Some(0.0)) {
            return Err(ModelError::Range("every weight is 0; give one engine a weight above 0".to_owned()));
        }
        let candidates = self.candidates as f64;
        range("the number of candidates", candidates, (2..=10_000).contains(&self.candidates), "2 to 10000")?;
        not_negative("the gap", self.gap)?;
        range("the level", self.level, true, "a finite number")?;
        not_negative("the spread", self.spread)?;
        not_negative("the caution", self.caution)?;
        for s in &self.synchronisations {
            if s.of >= engines || s.follower >= engines || s.of == s.follower {
                let (of, follower) = (s.of + 1, s.follower + 1);
                return Err(ModelError::Range(format!(
                    "synchronisation of engines {of} and {follower}; give two different engines from 1 to {engines}"
                )));
            }
            range("a synchronisation", s.probability, (0.0..=1.0).contains(&s.probability), "a probability, 0 to 1")?;
        }
        for contender in contenders {
            if contender.tie == TieRule::Strongest {
                return Err(ModelError::TieRule);
            }
            let needs = contender.rule.needs();
            if !needs.can_be_simulated() {
                return Err(ModelError::Rule(contender.rule));
            }
            if needs.log_ratios {
                range("the gap of the optimal rule", self.gap, self.gap > 0.0, "a number above 0")?;
            }
        }
        Ok(())
    }

    /// The engine with the least noise, the first of several.
    pub fn strongest(&self) -> usize {
        let better = |a: usize, b: usize| if self.engines[b].noise < self.engines[a].noise { b } else { a };
        (0..self.engines.len()).fold(0, better)
    }
}
