//! The answer of a diagnosis: a word, a sentence and what to do.

use evalcurve_app::calibrate::EngineResult;
use evalcurve_app::report::text::{or_dash, printable, thousands, with_interval};
use evalcurve_app::report::verdict::{Verdict, games_wanted};
use evalcurve_words::language::Language;
use evalcurve_words::{key, say, text};

use crate::Diagnosis;
use crate::pairwise::Scales;

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
