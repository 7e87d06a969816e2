//! A model as formulas that any programming language can evaluate.

/// The win rate of a model between equals as a list of steps, for source code in other languages.
///
/// The expressions use `+ - * /`, numbers with a decimal point, and the functions `exp`, `log1p`, `min` and `max`. They
/// read `score_cp`, the arguments, the constants, and earlier steps. No argument of `exp` exceeds 700.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    /// The arguments beside the score: `ply`, `material`, `rating`, `seconds`.
    pub arguments: Vec<&'static str>,
    /// Constants in capitals; several numbers are an array.
    pub constants: Vec<(&'static str, Vec<f64>)>,
    /// Names and expressions; the last step is `win_rate`.
    pub steps: Vec<(&'static str, &'static str)>,
}

impl Formula {
    /// A formula of the score alone with single constants.
    pub(super) fn of_score<const N: usize>(
        constants: [(&'static str, f64); N],
        steps: &[(&'static str, &'static str)],
    ) -> Self {
        let constants = constants.into_iter().map(|(name, value)| (name, vec![value])).collect();
        Self { arguments: Vec::new(), constants, steps: steps.to_vec() }
    }

    /// The logistic function of `W1 * score_cp`.
    pub(super) fn sigmoid(w1: f64) -> Self {
        Self::of_score([("W1", w1)], &[("win_rate", "1.0 / (1.0 + exp(min(700.0, -W1 * score_cp)))")])
    }

    /// The logistic function between two equal shares of results that follow no score.
    pub(super) fn lapse(w1: f64, lapse: f64) -> Self {
        Self::of_score(
            [("W1", w1), ("LAPSE", lapse)],
            &[("win_rate", "LAPSE + (1.0 - 2.0 * LAPSE) / (1.0 + exp(min(700.0, -W1 * score_cp)))")],
        )
    }
}
