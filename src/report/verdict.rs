//! The results of a diagnosis, one line per question.

use crate::calibrate::EngineResult;
use crate::diagnose::Diagnosis;
use crate::diagnose::declared::DeclaredScores;
use crate::diagnose::mismatch::Transform;
use crate::diagnose::pairwise::Scales;
use crate::language::Language;
use crate::report::headline::rounded_up;
use crate::report::text::{estimate, model_name, number, or_dash, thousands, with_interval, with_known_interval};
use crate::validate::ModelKind;
use crate::{key, say};

/// A question that a diagnosis answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// What was read.
    Samples,
    /// How precise are the constants?
    Sure,
    /// How good are the forecasts?
    Right,
    /// Do the engines share a scale?
    Scale,
    /// Why do the two fits differ?
    Differ,
    /// Does a score always mean the same?
    Split,
    /// Are signs and mates as they should be?
    Signs,
}

impl Question {
    /// The question in one to three words.
    pub fn words(self, language: Language) -> &'static str {
        language.word(match self {
            Self::Samples => key!("Samples"),
            Self::Sure => key!("How sure?"),
            Self::Right => key!("Is it right?"),
            Self::Scale => key!("One scale?"),
            Self::Differ => key!("Two fits?"),
            Self::Split => key!("Split curves"),
            Self::Signs => key!("Signs, mates"),
        })
    }
}

/// One line of the answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The line.
    pub answer: String,
}

/// A line with what it is about, for tables of text and JSON.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Line {
    /// The question in one to three words; empty if the line goes on with the answer before it.
    pub question: &'static str,
    /// The answer.
    pub answer: String,
}

/// The relative precision of w1 that is enough for most uses.
pub(super) const WANTED: f64 = 0.05;

fn line(question: Question, answer: String) -> Answer {
    Answer { question, answer }
}

/// All answers, each with its question.
pub fn with_questions(diagnosis: &Diagnosis, language: Language) -> Vec<Line> {
    let mut last = None;
    let with_question = |a: Answer| {
        let new = last.replace(a.question) != Some(a.question);
        Line { question: if new { a.question.words(language) } else { "" }, answer: a.answer }
    };
    lines(diagnosis, language).into_iter().map(with_question).collect()
}

/// All answers, in the order of the report.
pub fn lines(diagnosis: &Diagnosis, language: Language) -> Vec<Answer> {
    let base = &diagnosis.base;
    let (samples, games) = (thousands(base.samples), thousands(base.games));
    let read = say!(language, "{samples} of {games} games; {} of {} engines calibrated", base.calibrated, base.engines);
    let mut out = vec![line(Question::Samples, read)];
    out.extend(sure(diagnosis, language));
    out.extend(right(diagnosis, language));
    out.extend(declared(diagnosis, language));
    out.extend(scale(diagnosis, language));
    out.extend(differ(diagnosis, language));
    out.extend(split(diagnosis, language));
    out.push(signs(diagnosis, language));
    out
}

fn sure(diagnosis: &Diagnosis, language: Language) -> Option<Answer> {
    let share = |r: &EngineResult| {
        let needed = r.calibration.as_ref()?.games_needed(WANTED)?;
        Some((needed.share_now, r.name.clone(), needed.more))
    };
    let mut known: Vec<_> = diagnosis.results.iter().filter_map(share).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let (first, last) = (known.first()?, known.last()?);
    let enough = known.iter().filter(|k| k.0 <= WANTED).count();
    let (best, name) = (100.0 * first.0, &first.1);
    let mut text = match known.len() {
        1 => say!(language, "the constant is known to ±{best:.0}%"),
        all => say!(
            language,
            "the constants are known to ±{best:.0}% ({name}) up to ±{:.0}% ({}); {enough} of {all} to ±5%",
            100.0 * last.0,
            last.1
        ),
    };
    if last.2 > 0 {
        let more = thousands(rounded_up(last.2));
        text += &say!(language, "; {} needs about {more} more games for that", last.1);
    }
    Some(line(Question::Sure, text))
}

fn right(diagnosis: &Diagnosis, language: Language) -> Option<Answer> {
    let of = |kind: ModelKind| diagnosis.models.iter().find(|m| m.kind == kind);
    let loss = |kind: ModelKind| of(kind)?.log_loss.as_ref().ok().copied();
    let chosen = diagnosis.base.model;
    let own = estimate(&loss(chosen)?, 3);
    let mut text = say!(language, "log loss on unseen games {own}");
    if let Some(alone) = loss(ModelKind::MaximumLikelihood).filter(|_| chosen.knows_players()) {
        let alone = number(alone.value, 3);
        text += &say!(language, ", by the score alone {alone}");
    }
    let value = |kind| Some(number(loss(kind)?.value, 3));
    if let Some(shared) = value(ModelKind::Shared600) {
        text += &say!(language, ", with the shared 600 {shared}");
    }
    if let Some(shared) = value(ModelKind::Lichess) {
        text += &say!(language, ", with lichess's curve {shared}");
    }
    let best = diagnosis.models.iter().filter_map(|m| Some((m, m.log_loss.as_ref().ok()?.value)));
    if let Some((best, value)) = best.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|b| b.0.kind != chosen) {
        let (value, name) = (number(value, 3), model_name(best.kind, language));
        text += &say!(language, "; the best is {value} ({name})");
    }
    let judged = diagnosis.results.iter().filter_map(|r| r.validated.as_ref()?.scores.slope?.interval);
    let (wrong, all) = judged.fold((0, 0), |(w, a), [low, high]| (w + u32::from(low > 1.0 || high < 1.0), a + 1));
    if all > 0 {
        text += &say!(language, "; calibration slope off 1 for {wrong} of {all} engines");
    }
    Some(line(Question::Right, text))
}

/// What the rates are worth that engines declare: the engine with the most samples, and how many there are.
fn declared(diagnosis: &Diagnosis, language: Language) -> Option<Answer> {
    let all = &diagnosis.declared;
    let largest = all.iter().max_by_key(|d| (d.declared.samples, std::cmp::Reverse(&d.engine)))?;
    let of = |better: Option<bool>| all.iter().filter(|d| d.calibration_is_better() == better).count();
    let words = declared_words(largest, language);
    let mut text = say!(language, "W/D/L that {0} declares: {1}", largest.engine, words);
    if all.len() > 1 {
        text += &say!(
            language,
            "; of {} engines that declare W/D/L, the calibration is better for {}, W/D/L for {}",
            all.len(),
            of(Some(true)),
            of(Some(false))
        );
    }
    Some(line(Question::Right, text))
}

/// `log loss 0.412 [0.401, 0.423], slope …, by its calibration 0.398 […]: the calibration is better (difference …); …`
fn declared_words(found: &DeclaredScores, language: Language) -> String {
    let better = match found.calibration_is_better() {
        Some(true) => language.word("the calibration is better"),
        Some(false) => language.word("W/D/L is better"),
        None => language.word("no difference seen"),
    };
    let slope =
        found.declared.slope.map_or_else(String::new, |slope| say!(language, ", slope {}", estimate(&slope, 2)));
    say!(
        language,
        "log loss {}{slope}, by its calibration {}: {better} (difference {}); draws {:.1}% declared, {:.1}% seen",
        estimate(&found.declared.log_loss, 3),
        estimate(&found.calibrated.log_loss, 3),
        estimate(&found.difference, 4),
        100.0 * (found.draws.value + found.draws_seen),
        100.0 * found.draws_seen
    )
}

fn scale(diagnosis: &Diagnosis, language: Language) -> Vec<Answer> {
    let mismatch = match &diagnosis.mismatch {
        Some(found) => {
            let one = |(transform, name)| {
                let r = found.transforms.iter().find(|r| r.transform == transform)?;
                let name = language.word(name);
                Some(format!("{name} {}", with_known_interval(r.m, r.m_interval, 3)))
            };
            let parts: Vec<String> = SHOWN.into_iter().filter_map(one).collect();
            let (engines, parts) = (found.engines.len(), parts.join(language.word(", ")));
            say!(
                language,
                "scale mismatch, how far the win rates of {engines} engines at equal values are apart (root mean \
                 square): {parts}"
            )
        }
        None => {
            say!(language, "fewer than two engines: nothing to compare")
        }
    };
    let mut out = vec![line(Question::Scale, mismatch)];
    if let Some(pairs) = &diagnosis.pairwise {
        let (apart, all) = (pairs.apart(), pairs.pairs.len());
        let text = match pairs.scales() {
            Scales::Apart(a, b) => {
                let there = or_dash(pairs.equivalents[a][b], |e| with_interval(e.score_cp, (e.low, e.high), 0));
                let (score, a, b) = (number(pairs.score_cp, 0), &pairs.engines[a], &pairs.engines[b]);
                say!(
                    language,
                    "the scales of {apart} of {all} pairs differ (Holm, 5%); between equals {score} of {a} is {there} \
                     of {b}"
                )
            }
            Scales::Alike => say!(language, "the scales of all {all} pairs are alike, within a factor of 1.25"),
            Scales::Unknown => say!(
                language,
                "no difference of scales seen among {all} pairs (Holm, 5%); too few games to say that they are alike"
            ),
        };
        out.push(line(Question::Scale, text));
    }
    out.extend(fields(diagnosis, language));
    out
}

/// Fields that are this far apart make win rates against them incomparable (one logit).
const FIELDS_APART_ELO: f64 = 174.0;

/// How far the opponents that the engines met are apart.
fn fields(diagnosis: &Diagnosis, language: Language) -> Option<Answer> {
    let calibrations = diagnosis.results.iter().filter_map(|r| r.calibration.as_ref());
    let mut known: Vec<(f64, &str)> =
        calibrations.filter_map(|c| Some((c.field?.advantage()?, c.engine.name.as_str()))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (hardest, easiest) = (known.first()?, known.last()?);
    let signed = |elo: f64| if elo > 0.0 { format!("+{}", number(elo, 0)) } else { number(elo, 0) };
    let apart = easiest.0 - hardest.0 > FIELDS_APART_ELO;
    apart.then(|| {
        let text = say!(
            language,
            "fields: {} is {} Elo against its opponents, {} {}; win rates against such different fields cannot be \
             compared, those between equals can",
            hardest.1,
            signed(hardest.0),
            easiest.1,
            signed(easiest.0)
        );
        line(Question::Scale, text)
    })
}

/// The transforms of the verdict, with short names.
const SHOWN: [(Transform, &str); 5] = [
    (Transform::Raw, key!("raw scores")),
    (Transform::Standardized, key!("standardised")),
    (Transform::MaximumLikelihood, key!("maximum likelihood")),
    (Transform::RawAgainstEquals, key!("opponents taken out: raw scores")),
    (Transform::Equal, key!("all engines together")),
];

fn differ(diagnosis: &Diagnosis, language: Language) -> Option<Answer> {
    let tables = &diagnosis.influence;
    if tables.is_empty() {
        return None;
    }
    let apart: Vec<_> = tables.iter().filter(|t| t.differ).collect();
    let mut text = say!(
        language,
        "least squares and maximum likelihood are apart for {} of {} engines",
        apart.len(),
        tables.len()
    );
    let widest = apart.iter().max_by(|a, b| a.gap().total_cmp(&b.gap()));
    if let Some(t) = widest {
        let ratio = t.all.ratio.map(|r| with_interval(r.value, (r.low, r.high), 2));
        let ratio = ratio.map_or_else(String::new, |ratio| say!(language, " (ratio {ratio})"));
        text += &say!(language, "; the furthest apart is {}{ratio}", t.engine);
        let row = t.driver.and_then(|i| t.rows.get(i));
        text += &match row.map(|row| (row.group, row.label.text(language))) {
            Some((1, label)) => say!(language, ", by 1 sample: {label}"),
            Some((group, label)) => say!(language, ", by {group} samples: {label}"),
            None => language.word(", not by a single group: a sigmoid does not fit it well").to_owned(),
        };
    }
    let moved = tables.iter().filter(|t| t.mates_matter).count();
    if moved > 0 {
        text += &say!(language, "; with mates kept they would differ for {moved}");
    }
    Some(line(Question::Differ, text))
}

fn split(diagnosis: &Diagnosis, language: Language) -> Option<Answer> {
    let tested = diagnosis.splits.iter().filter(|s| s.test.is_ok()).count();
    if tested == 0 {
        return None;
    }
    let split: Vec<_> = diagnosis.splits.iter().filter(|s| s.splits).collect();
    let mut text = say!(language, "{} of {tested} curves split after correction", split.len());
    if !split.is_empty() {
        let mut by: Vec<(&str, usize)> = Vec::new();
        for s in &split {
            let words = s.by_words(language);
            match by.iter_mut().find(|b| b.0 == words) {
                Some(b) => b.1 += 1,
                None => by.push((words, 1)),
            }
        }
        let by: Vec<String> = by.into_iter().map(|(by, n)| say!(language, "{n} by {by}")).collect();
        text += &format!(": {}", by.join(language.word(", ")));
    }
    Some(line(Question::Split, text))
}

fn signs(diagnosis: &Diagnosis, language: Language) -> Answer {
    let kinds = [
        ("sign_inverted", key!("inverted sign")),
        ("mixed_signs", key!("inverted sign in some games")),
        ("adjudicated", key!("games that the scores ended")),
        ("cut_scores", key!("scores cut to one size")),
        ("all_scores_zero", key!("all scores 0")),
        ("score_unit", key!("scores that are not centipawns")),
        ("mates_under_threshold", key!("mates under the threshold")),
        ("threshold_in_evaluations", key!("threshold within the evaluations")),
        ("mates_inverted", key!("mates of inverted sign")),
        ("book_zeros", key!("zeros of book moves")),
    ];
    let found: Vec<String> = kinds
        .iter()
        .filter_map(|(kind, words)| {
            let has = |r: &&EngineResult| r.warnings.iter().any(|w| w.kind == *kind);
            let names: Vec<&str> = diagnosis.results.iter().filter(has).map(|r| r.name.as_str()).collect();
            let (named, more) = names.split_at(names.len().min(3));
            let tail = match more.len() {
                0 => String::new(),
                n => say!(language, " and {n} more"),
            };
            let words = language.word(words);
            (!names.is_empty()).then(|| format!("{words}: {}{tail}", named.join(", ")))
        })
        .collect();
    let nothing = language.word("nothing unusual found");
    line(Question::Signs, if found.is_empty() { nothing.to_owned() } else { found.join("; ") })
}
