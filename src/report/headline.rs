//! The answer of a diagnosis: a word, a sentence, the verdict on each engine and what to do.

use super::text::{constant, or_dash, printable, thousands, with_interval};
use crate::calibrate::EngineResult;
use crate::calibration::{Calibration, Doubt};
use crate::diagnose::Diagnosis;
use crate::diagnose::pairwise::Scales;
use crate::language::Language;
use crate::{key, say, text};

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

/// The ends of the interval of a good constant differ by no more than this factor.
const ROUGH: f64 = 1.5;
/// How well the verdict wants to know the constant.
const WANTED_SHARE: f64 = 0.1;

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
                Doubt::WorseThanConstant | Doubt::SlopeOff | Doubt::Miscalibrated | Doubt::ManyLapses | Doubt::Conflict,
            ) => Self::DoesNotFit,
            Some(Doubt::SlopeMayBeZero | Doubt::WideInterval) => Self::TooFewGames,
            None => match calibration.slope() {
                Some((w1, half)) if w1 + half > ROUGH * (w1 - half) => Self::Rough,
                _ => Self::Good,
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
        match (self, games.and_then(|games| games_wanted(calibration, games))) {
            (Self::Rough | Self::TooFewGames, Some(more)) => {
                let more = thousands(more);
                say!(language, "{word}: +{more} games for ±10%")
            }
            (Self::OddSigns | Self::OddScores | Self::DoesNotFit, _) => {
                format!("{word}{}", language.word(": see the warning"))
            }
            _ => word.to_owned(),
        }
    }
}

/// The games that are missing until the constant is known to ±10%; `None` if it is, or if this cannot be computed.
fn games_wanted(calibration: &Calibration, games: u64) -> Option<u64> {
    let (w1, half) = calibration.slope()?;
    let games = games as f64;
    let more = games * (half / w1 / WANTED_SHARE).powi(2) - games;
    (more >= 1.0).then(|| rounded_up(more as u64))
}

/// Rounds up to two significant digits, the precision of the estimate.
pub(super) fn rounded_up(n: u64) -> u64 {
    let unit = 10_u64.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(unit) * unit
}

/// Whether the calibrations of a run can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All of them.
    Fine,
    /// Some are uncertain.
    Care,
    /// Some are wrong.
    NotFine,
}

impl Status {
    pub fn word(self, language: Language) -> &'static str {
        language.word(match self {
            Self::Fine => key!("Fine"),
            Self::Care => key!("Use with care"),
            Self::NotFine => key!("Not fine"),
        })
    }

    /// A sign that needs no colour.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Fine => "✓",
            Self::Care => "△",
            Self::NotFine => "✗",
        }
    }
}

/// The answer of a diagnosis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// In one word.
    pub status: Status,
    /// In one or two sentences.
    pub sentence: String,
    /// What to do, the most urgent first.
    pub todo: Vec<String>,
}

/// Names of engines that a line lists.
const NAMED: usize = 4;

/// The answer of a diagnosis.
pub fn headline(diagnosis: &Diagnosis, language: Language) -> Headline {
    let judged: Vec<(&EngineResult, Verdict)> =
        diagnosis.results.iter().filter_map(|r| Some((r, Verdict::of_result(r)?))).collect();
    let of = |wanted: Verdict| -> Vec<&EngineResult> {
        let mut found: Vec<&EngineResult> = judged.iter().filter(|(_, v)| *v == wanted).map(|(r, _)| *r).collect();
        found.sort_by_key(|r| std::cmp::Reverse(r.fitted));
        found
    };
    let worst = judged.iter().map(|(_, v)| *v).max();
    let status = match worst {
        Some(Verdict::Good) => Status::Fine,
        Some(Verdict::Rough | Verdict::TooFewGames) => Status::Care,
        Some(Verdict::DoesNotFit | Verdict::OddScores | Verdict::OddSigns) | None => Status::NotFine,
    };
    let all = Verdict::ALL.map(|v| (v, of(v)));
    let counts: Vec<String> = all
        .iter()
        .filter(|(_, found)| !found.is_empty())
        .map(|(v, found)| {
            let (count, word) = (found.len(), v.word(language));
            say!(language, "{count} {word}")
        })
        .collect();
    let engines = judged.len();
    let counts = counts.join(language.word(", "));
    let mut sentence = match engines {
        1 => say!(language, "1 engine calibrated: {counts}."),
        _ => say!(language, "{engines} engines calibrated: {counts}."),
    };
    let scales = diagnosis.pairwise.as_ref().map(|pairs| (pairs, pairs.scales()));
    let apart = matches!(scales, Some((_, Scales::Apart(..) | Scales::Differ(..))));
    sentence += &match scales {
        Some((pairs, Scales::Apart(a, b))) => {
            let there = or_dash(pairs.equivalents[a][b], |e| with_interval(e.score_cp, (e.low, e.high), 0));
            let (score, a, b) = (pairs.score_cp, &pairs.engines[a], &pairs.engines[b]);
            say!(language, " Their scores do not share a scale: between equals, {score:.0} of {a} is {there} of {b}.")
        }
        Some((pairs, Scales::Differ(a, b))) => {
            let ratio = or_dash(pairs.ratio(a, b), |(ratio, between)| with_interval(ratio, between, 2));
            let (a, b) = (&pairs.engines[a], &pairs.engines[b]);
            say!(
                language,
                " Between equals, {b} needs {ratio} times the score of {a}; whether the scales differ by more than a \
                 factor of 1.25, which opponents alone can make, these games cannot tell."
            )
        }
        Some((_, Scales::Alike)) => say!(language, " Their scores share a scale, within a factor of 1.25."),
        Some((_, Scales::Unknown)) => {
            say!(language, " These games cannot tell whether their scores share a scale.")
        }
        None => String::new(),
    };
    let todo = todo(&all, apart, language);
    Headline { status, sentence, todo }
}

/// What to do, the most urgent first.
fn todo(all: &[(Verdict, Vec<&EngineResult>); 6], apart: bool, language: Language) -> Vec<String> {
    let names = |results: &[&EngineResult], more: bool| {
        let one =
            |r: &&EngineResult| match r.calibration.as_ref().filter(|_| more).and_then(|c| games_wanted(c, r.games)) {
                Some(games) => format!("{} +{}", printable(&r.name), thousands(games)),
                None => printable(&r.name),
            };
        let shown: Vec<String> = results.iter().take(NAMED).map(one).collect();
        let others = match results.len().saturating_sub(NAMED) {
            0 => String::new(),
            1 => say!(language, " and 1 other"),
            n => say!(language, " and {n} others"),
        };
        format!("{}{others}", shown.join(language.word(", ")))
    };
    let mut out = Vec::new();
    for (verdict, found) in all.iter().rev().filter(|(_, found)| !found.is_empty()) {
        let (plain, with_games) = (names(found, false), names(found, true));
        let line = match verdict {
            Verdict::OddSigns => {
                text!("Check the sign of the scores in the records of {plain}: higher scores do not win more often.")
            }
            Verdict::OddScores => text!(
                "Do not use the constants of {plain} before you have read the warnings: their scores were cut, are no \
                 centipawns, or ended the games."
            ),
            Verdict::DoesNotFit => {
                text!("Do not use the constants of {plain}: their forecasts fail a test. Try `model` auto.")
            }
            Verdict::TooFewGames => text!(
                "Collect more games before you use the constants of {plain}; games needed for ±10%: {with_games}."
            ),
            Verdict::Rough => {
                text!("More games would make the rough constants better; games needed for ±10%: {with_games}.")
            }
            Verdict::Good => continue,
        };
        out.push(line.text(language));
    }
    if apart {
        out.push(
            language
                .word(
                    "Compare these engines by win rates (evalcurve winrate, or a council with calibrations), not by \
                     scores.",
                )
                .to_owned(),
        );
    }
    if all.iter().any(|(v, found)| *v == Verdict::Good && !found.is_empty()) {
        out.push(say!(
            language,
            "Good constants can be entered in a GUI: evalcurve export ENGINE.json `to` shogihome, or ponanza."
        ));
    }
    out
}

/// The constant of a result with its interval, or why it has none.
pub fn constant_or_why(result: &EngineResult, language: Language) -> String {
    let calibrated = result.calibration.as_ref();
    let shown = calibrated.map(|c| constant(c).unwrap_or_else(|| super::text::DASH.to_owned()));
    shown.or_else(|| result.error.as_ref().map(|why| why.text(language).to_owned())).unwrap_or_default()
}
