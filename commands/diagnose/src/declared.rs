//! Are the rates of wins, draws and losses right that an engine declares itself, and is its calibration better?
//!
//! Both are judged on the same samples: those in the fits whose engine declared rates. The calibration forecasts games
//! that it was not fitted to; declared rates are forecasts as they are.

use evalcurve_calibration::types::{Declared, Outcome};
use evalcurve_fit::validate::{Estimate, Forecast, ScoreOptions, Scores, log_loss_difference, mean_by_game, scores};
use evalcurve_records::sample::Sample;
use serde::Serialize;

/// How good the rates are that an engine declares, beside its calibration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeclaredScores {
    pub engine: String,
    /// The scores of the declared win rates.
    pub declared: Scores,
    /// The scores of the chosen model on the same samples, out of sample.
    pub calibrated: Scores,
    /// Log loss of the declared win rates minus that of the calibration; negative if the declared ones are better.
    pub difference: Estimate,
    /// Share of draws declared, minus that seen.
    pub draws: Estimate,
    /// Share of draws seen.
    pub draws_seen: f64,
}

impl DeclaredScores {
    /// Which of the two forecasts better: `Some(true)` for the calibration; `None` where the interval holds 0.
    pub fn calibration_is_better(&self) -> Option<bool> {
        let [low, high] = self.difference.interval?;
        (low > 0.0 || high < 0.0).then_some(low > 0.0)
    }
}

/// Judges the declared rates of one engine. `samples` are those of the fits, in the order of `forecasts`. `None` if no
/// sample has rates.
pub(super) fn declared(
    engine: &str,
    samples: &[&Sample],
    forecasts: &[Forecast],
    options: &ScoreOptions,
) -> Option<DeclaredScores> {
    let both: Vec<(Declared, &Forecast)> =
        samples.iter().zip(forecasts).filter_map(|(sample, forecast)| Some((sample.declared?, forecast))).collect();
    let own: Vec<Forecast> = both.iter().map(|(rates, f)| Forecast { logit: log_odds(*rates), ..**f }).collect();
    let calibrated: Vec<Forecast> = both.iter().map(|(_, forecast)| **forecast).collect();
    let draw = |forecast: &Forecast| f64::from(u8::from(forecast.outcome == Outcome::Draw));
    let excess = |(rates, forecast): &(Declared, &Forecast)| (forecast.game, rates.shares()[1] - draw(forecast));
    Some(DeclaredScores {
        engine: engine.to_owned(),
        declared: scores(&own, options).ok()?,
        calibrated: scores(&calibrated, options).ok()?,
        difference: log_loss_difference(&own, &calibrated)?,
        draws: mean_by_game(&both.iter().map(excess).collect::<Vec<_>>())?,
        draws_seen: calibrated.iter().map(draw).sum::<f64>() / calibrated.len() as f64,
    })
}

/// The logit of the win rate that an engine declares. Rates are whole permille, so 0 or 1 counts as 0.0005 or 0.9995.
fn log_odds(rates: Declared) -> f64 {
    evalcurve_calibration::logistic::logit(rates.win_rate().clamp(0.000_5, 0.999_5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Color;

    fn sample(permille: Option<[u16; 3]>, outcome: Outcome) -> Sample {
        Sample {
            game: 0,
            engine: 0,
            opponent: 0,
            color: Color::White,
            ply: 40,
            window: 0,
            score_cp: 50,
            reply_cp: None,
            declared: permille.map(|rates| Declared::try_from(rates).unwrap()),
            mate: false,
            outcome,
            material: None,
            line: 1,
        }
    }

    #[test]
    fn declared_rates_are_judged_on_their_own_samples() {
        // three of four games of each kind end as the sign says; the fifth kind has no rates
        let mut samples = Vec::new();
        let mut forecasts = Vec::new();
        for game in 0..400u64 {
            let ahead = game % 2 == 0;
            let outcome = if ahead == (game % 8 < 6) { Outcome::Win } else { Outcome::Loss };
            let rates = if ahead { [750, 0, 250] } else { [250, 0, 750] };
            samples.push(sample((game % 5 != 0).then_some(rates), outcome));
            // a forecast that knows nothing
            forecasts.push(Forecast { game, logit: 0.0, outcome });
        }
        let samples: Vec<&Sample> = samples.iter().collect();
        let options = ScoreOptions { resamples: 50, ..ScoreOptions::default() };
        let found = declared("A", &samples, &forecasts, &options).unwrap();
        assert_eq!((found.declared.samples, found.calibrated.samples), (320, 320));
        assert!((found.calibrated.log_loss.value - std::f64::consts::LN_2).abs() < 1e-12);
        // the entropy of 3 to 1 is 0.5623
        assert!((found.declared.log_loss.value - 0.5623).abs() < 0.02, "{:?}", found.declared.log_loss);
        assert!((found.difference.value - (found.declared.log_loss.value - std::f64::consts::LN_2)).abs() < 1e-12);
        assert_eq!(found.calibration_is_better(), Some(false));
        assert_eq!((found.draws.value, found.draws_seen), (0.0, 0.0));
        let none: Vec<Sample> = samples.iter().map(|s| Sample { declared: None, ..**s }).collect();
        assert!(declared("A", &none.iter().collect::<Vec<_>>(), &forecasts, &options).is_none());
    }
}
