//! What the losses of both methods take and give for each score.

/// Counts of one score, ready for the loops.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoreRow {
    /// score / 1000
    pub x: f64,
    pub wins: f64,
    pub draws: f64,
    pub losses: f64,
}

impl ScoreRow {
    pub(crate) fn total(&self) -> f64 {
        self.wins + self.draws + self.losses
    }
}

/// Loss of a row and its derivatives by the logit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    pub loss: f64,
    pub first: f64,
    pub second: f64,
}
