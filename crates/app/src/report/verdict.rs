//! How far a calibration can be trusted, in a word.

use evalcurve_fit::calibration::{Calibration, Doubt};
use evalcurve_words::language::Language;
use evalcurve_words::{key, say};

use super::text::thousands;
use crate::calibrate::{EngineResult, LEAST_DECIDED};

/// How far a calibration can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Known well, and nothing speaks against it.
    Good,
    /// The interval of the constant is wide.
    Rough,
    /// The interval is so wide that the constant says little.
    TooFewGames,
    /// The forecasts fail a test.
    DoesNotFit,
    /// The scores are no centipawns, were cut, or made the results.
    OddScores,
    /// Higher scores do not win more often.
    OddSigns,
}

/// How well the verdict wants to know the constant.
const WANTED_SHARE: f64 = 0.1;
/// A good constant has the evidence of so many games, half of them won and half lost. `benches/verdicts.py`, 360
/// engines with 300 to 1,000 games each: by an interval within a factor of 1.5, of the constants called good at 300,
/// 350 and 400 games 50%, 50% and 92% hold the truth; by these games and no doubt (an interval beyond a factor of 2 is
/// one) 93.9%, 91.7% and 95.0%, and 97.0%, 96.4% and 95.3% at 500, 700 and 1,000. All intervals: 94.7%, 93.6%, 95.8%,
/// 96.9%, 96.4% and 95.3%.
const GOOD_GAMES: f64 = 300.0;

/// What the games of a calibration can tell, whatever their scores. The interval of a constant is the narrower the
/// smaller the constant is by chance: a verdict by its width alone selects the constants that are too small.
#[derive(Debug, Clone, Copy)]
struct Evidence {
    /// As many games, half of them won and half lost, have the same variance of results.
    games: f64,
    /// The fewer of the games won and lost.
    fewest: f64,
}

impl Evidence {
    /// `None` if the file does not have the counts.
    fn of(calibration: &Calibration) -> Option<Self> {
        let games = calibration.provenance.as_ref()?.games? as f64;
        let [wins, draws, losses] = calibration.curve.as_ref()?.results().map(|n| n as f64);
        let share = games / (wins + draws + losses).max(1.0);
        let of_decided = 4.0 * wins * losses / (wins + losses).max(1.0);
        Some(Self { games: share * of_decided, fewest: share * wins.min(losses) })
    }
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Self; 6] =
        [Self::Good, Self::Rough, Self::TooFewGames, Self::DoesNotFit, Self::OddScores, Self::OddSigns];

    /// The verdict on a result; `None` without a calibration.
    pub fn of_result(result: &EngineResult) -> Option<Self> {
        result.calibration.as_ref().map(Self::of)
    }

    /// The verdict on a calibration.
    pub fn of(calibration: &Calibration) -> Self {
        match calibration.doubts.first() {
            Some(Doubt::SignInverted) => Self::OddSigns,
            Some(Doubt::NoCentipawns | Doubt::Adjudicated | Doubt::CutScores) => Self::OddScores,
            Some(
                Doubt::WorseThanConstant
                | Doubt::SlopeOff
                | Doubt::Miscalibrated
                | Doubt::Misshapen
                | Doubt::ManyLapses
                | Doubt::Conflict,
            ) => Self::DoesNotFit,
            Some(Doubt::SlopeMayBeZero | Doubt::WideInterval | Doubt::OneSided) => Self::TooFewGames,
            Some(Doubt::UnknownOpponents | Doubt::RowsAsGames) => Self::Rough,
            // a later version doubts it, and only that one knows why
            Some(_) => Self::DoesNotFit,
            None => match Evidence::of(calibration).zip(calibration.slope()) {
                Some((evidence, _)) if evidence.fewest < LEAST_DECIDED as f64 => Self::TooFewGames,
                Some((evidence, _)) if evidence.games >= GOOD_GAMES => Self::Good,
                Some(_) => Self::Rough,
                // nothing says how well the constant is known
                None => Self::TooFewGames,
            },
        }
    }

    pub fn word(self, language: Language) -> &'static str {
        language.word(match self {
            Self::Good => key!("good"),
            Self::Rough => key!("rough"),
            Self::TooFewGames => key!("too few games"),
            Self::DoesNotFit => key!("does not fit"),
            Self::OddScores => key!("odd scores"),
            Self::OddSigns => key!("odd signs"),
        })
    }

    /// The word with what to do, in a few words.
    pub fn advice(self, calibration: &Calibration, games: Option<u64>, language: Language) -> String {
        let word = self.word(language);
        let is_odd = matches!(self, Self::OddSigns | Self::OddScores | Self::DoesNotFit);
        match (self, games.and_then(|games| games_wanted(calibration, games))) {
            // more of these games would not help
            _ if is_odd || self == Self::Rough && !calibration.doubts.is_empty() => {
                format!("{word}{}", language.word(": see the warning"))
            }
            (Self::Rough | Self::TooFewGames, Some(more)) => {
                let more = thousands(more);
                say!(language, "{word}: +{more} games for ±10%")
            }
            _ => word.to_owned(),
        }
    }
}

/// The games that are missing until the constant is known to ±10%, or until these games have the evidence of a good
/// one; `None` if none are, or if this cannot be computed.
pub fn games_wanted(calibration: &Calibration, games: u64) -> Option<u64> {
    let (w1, half) = calibration.slope()?;
    let by_evidence = Evidence::of(calibration).filter(|e| e.games > 0.0).map_or(0.0, |e| GOOD_GAMES / e.games);
    let more = games as f64 * ((half / w1 / WANTED_SHARE).powi(2).max(by_evidence) - 1.0);
    (more >= 1.0).then(|| rounded_up(more as u64))
}

/// Rounds up to two significant digits, the precision of the estimate.
pub fn rounded_up(n: u64) -> u64 {
    let unit = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(unit) * unit
}
