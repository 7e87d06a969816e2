//! At which scores a match runner may adjudicate.

use std::collections::HashMap;

use evalcurve_app::calibrate::{CalibrateOptions, EngineResult, calibrate, ended_by_scores};
use evalcurve_app::{Error, Fitting, Input, Outcome, Progress, Reading, Sampling, load, on_threads};
use evalcurve_fit::calibration::{Calibration, Reading as WinRate, Situation};
use evalcurve_records::sample::SampleTable;
use evalcurve_words::language::Text;
use evalcurve_words::text;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::adjudication::{Adjudication, Kind, Played, Rule, draw, games, resign};
use crate::certified::{Candidates, CannotTell, Certified, FEWEST_ENDED, HeldOut};

/// Finds the scores at which games may be resigned or drawn, and what that would have cost in the games of the input.
#[derive(Debug, Clone, Default)]
pub struct Thresholds {
    /// What is read. Every score counts, whatever is said of plies and windows: rules look at runs of scores.
    pub reading: Reading,
    /// How engines are fitted.
    pub fitting: Fitting,
    /// Win rates at which to adjudicate, in percent; empty for 1, 2 and 5.
    pub win_rates: Vec<f64>,
    /// Scores in a row, per player; empty for 1, 2, 3, 5 and 8.
    pub move_counts: Vec<u32>,
    /// The first move after which a game may be drawn; `None` for 40.
    pub draw_from: Option<u32>,
    /// The first move after which a game may be resigned.
    pub resign_from: u32,
    /// The largest share of all games that may end wrongly, with 95% confidence.
    pub most_wrong: Option<f64>,
}

/// The first move after which a game may be drawn, unless another is given.
pub const DEFAULT_DRAW_FROM: u32 = 40;

/// Rules of adjudication.
#[derive(Debug, Clone, Default)]
pub struct Adjudicated {
    /// Games with scores that were played out.
    pub games: usize,
    /// Games whose results the scores made. Nothing is concluded from them.
    pub ended_by_scores: usize,
    /// The win rates in percent.
    pub percents: Vec<f64>,
    /// The calibrated engines, by name.
    pub calibrated: Vec<String>,
    /// The scores at which these engines win each percentage.
    pub engines: Vec<Losing>,
    pub resigning: Vec<AdjudicationRule>,
    pub drawing: Vec<AdjudicationRule>,
    /// The rules whose share of wrong games has the bound that was asked for, if one was.
    pub certified: Option<Certificate>,
    /// Why there are no others.
    pub notes: Vec<Text>,
}

/// The rules that save most of those that keep a bound.
#[derive(Debug, Clone, Serialize)]
pub struct Certificate {
    /// The largest share of all games that may end wrongly.
    pub most_wrong: f64,
    /// For resigning, for resigning at one score as engines do it themselves, and for draws.
    pub rules: [CertifiedRule; 3],
    /// By how much the constants of engines change if their games end by the rules for resigning and for draws.
    pub bias: Vec<Bias>,
}

/// One of these rules, or why there is none.
#[derive(Debug, Clone, Serialize)]
pub struct CertifiedRule {
    /// `resign`, `resign_value` or `draw`.
    pub name: &'static str,
    #[serde(serialize_with = "rule_or_reason")]
    pub rule: Result<Certified, CannotTell>,
    /// Match runners, each with what to write.
    pub options: Vec<(&'static str, String)>,
    /// The same in each half of the games, applied to the other half.
    pub held_out: Vec<HeldOut>,
}

/// A rule, or in its place an object whose `cannot_tell` says why there is none.
fn rule_or_reason<S: Serializer>(rule: &Result<Certified, CannotTell>, serializer: S) -> Result<S::Ok, S::Error> {
    match rule {
        Ok(certified) => certified.serialize(serializer),
        Err(reason) => json!({ "cannot_tell": reason }).serialize(serializer),
    }
}

/// The constant of an engine before and after adjudication.
#[derive(Debug, Clone, Serialize)]
pub struct Bias {
    /// The engine.
    pub name: String,
    /// 1/w1 of the games as they are.
    pub played: f64,
    /// 1/w1 of the games that the rules end, with the results that the rules give.
    pub adjudicated: f64,
}

/// The score at which an engine wins this percentage.
#[derive(Debug, Clone, Serialize)]
pub struct Losing {
    /// The engine.
    pub name: String,
    pub percent: f64,
    /// The score in centipawns.
    pub score_cp: i64,
}

/// A rule with the option that match runners have for it.
#[derive(Debug, Clone, Serialize)]
pub struct AdjudicationRule {
    /// The win rate in percent.
    pub percent: f64,
    /// The option of fastchess and cutechess.
    pub option: String,
    /// What it would have done.
    pub rule: Adjudication,
}

/// Thresholds of engines that differ by more than this factor get a note.
const LARGEST_RATIO: f64 = 1.5;

/// A smaller share of results that follow no score, in percent, has no note.
const LAPSES_NAMED: f64 = 0.1;

/// A rule that may turn more than so many percent of the games is not recommended.
const MOST_TURNED: f64 = 2.0;

/// A recommended rule waits for so many scores in a row: one is easily wrong.
const FEWEST_SCORES: u32 = 3;

/// Engines that a note names; it counts the others.
const MOST_NAMED: usize = 6;

/// The first names, and how many more there are.
fn list(names: &[&str]) -> String {
    let named = names[..names.len().min(MOST_NAMED)].join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named}, … (+{more})"),
    }
}

/// The negative score that wins this percentage. Where a share of the results follows no score, it is that of the other
/// results.
fn losing_score(calibration: &Calibration, percent: f64) -> Option<i64> {
    let limits = calibration.limits(WinRate::Field);
    let [low, high] = if calibration.model.kind.allows_lapses() { limits } else { [0.0, 1.0] };
    let rate = low + (high - low) * percent / 100.0;
    let score = calibration.score(WinRate::Field, rate, &Situation::default())?.floor() as i64;
    (score < 0).then_some(score)
}

/// What to know of the scores of calibrated engines: the results that follow no score, and the material or ply.
fn notes_on<'a>(engines: impl Iterator<Item = (&'a str, &'a Calibration)>) -> Vec<Text> {
    let (mut of_lapses, mut largest, mut notes) = (Vec::new(), 0_f64, Vec::new());
    for (name, calibration) in engines {
        let share = 100.0 * calibration.limits(WinRate::Field)[0];
        if calibration.model.kind.allows_lapses() && share >= LAPSES_NAMED {
            of_lapses.push(name);
            largest = largest.max(share);
        }
        if let Some((unit, [from, to])) = calibration.model.model.fitted_range() {
            let (unit, middle) = (unit.as_str(), from.midpoint(to));
            notes.push(text!("{name}: the scores are those at {unit} {middle}, the middle of {from} to {to}"));
        }
    }
    if !of_lapses.is_empty() {
        let named = list(&of_lapses);
        notes.push(text!(
            "{named}: up to {largest:.1}% of the results are wins that follow no score, such as those on time; the \
             scores are those that win so much of the other games (`terminations` board leaves out losses on time)"
        ));
    }
    notes
}

/// This program as a match runner.
const PLAY: &str = "evalcurve play";

/// What to write into match runners for a rule, in their words: fastchess 74deac2, cutechess, OpenBench, rshogi 1.0
/// (`crates/tools/docs/tournament.md`; draws by plies), ShogiArena 1.3 (`rules.adjudication`), and the option of
/// engines that ShogiHome sets.
fn options_of(rule: &Rule) -> Vec<(&'static str, String)> {
    let Rule { kind, move_count, score_cp, from_ply } = *rule;
    let from = from_ply / 2;
    let of_draw = format!("movenumber={from} movecount={move_count} score={score_cp}");
    let two_sided = if kind == Kind::ResignTwoSided { " twosided=true" } else { "" };
    let of_resign = format!("movecount={move_count} score={score_cp}{two_sided}");
    if kind != Kind::Draw && from > 0 {
        // no other runner waits with resigning
        return vec![(PLAY, format!("--resign {of_resign} movenumber={from}"))];
    }
    match kind {
        Kind::Draw => vec![
            (PLAY, format!("--draw {of_draw}")),
            ("fastchess, cutechess", format!("-draw {of_draw}")),
            ("OpenBench", format!("Draw Adj: {of_draw}")),
            (
                "rshogi",
                format!("--adjudicate-draw \"movenumber={from_ply},movecount={},score={score_cp}\"", 2 * move_count),
            ),
        ],
        Kind::Resign | Kind::ResignTwoSided => {
            let mut all = vec![
                (PLAY, format!("--resign {of_resign}")),
                ("fastchess, cutechess", format!("-resign {of_resign}")),
                ("OpenBench", format!("Win Adj: {of_resign}")),
            ];
            if kind == Kind::Resign {
                all.push(("rshogi", format!("--adjudicate-resign \"movecount={move_count},score={score_cp}\"")));
            }
            let is_two_sided = kind == Kind::ResignTwoSided;
            all.push((
                "ShogiArena",
                format!(
                    "resign_threshold_cp: {score_cp}, resign_move_count: {move_count}, resign_two_sided: {is_two_sided}"
                ),
            ));
            if kind == Kind::Resign && move_count == 1 {
                all.push(("ShogiHome", format!("ResignValue {score_cp}")));
            }
            all
        }
    }
}

/// The constants of engines whose games end by rules.
fn bias(
    table: &SampleTable,
    played: &[Played<'_>],
    rules: &[Rule],
    results: &[EngineResult],
    options: &CalibrateOptions,
) -> Vec<Bias> {
    let mut ended = table.clone();
    let ends: HashMap<u32, _> = played
        .iter()
        .filter_map(|game| game.end(rules).map(|(last, outcome)| (last.game, (last.ply, last.color, outcome))))
        .collect();
    ended.samples.retain(|sample| ends.get(&sample.game).is_none_or(|(last, ..)| sample.ply <= *last));
    for sample in &mut ended.samples {
        if let Some((_, color, outcome)) = ends.get(&sample.game) {
            sample.outcome = if sample.color == *color { *outcome } else { outcome.reversed() };
        }
    }
    let constants = |results: &[EngineResult]| -> Vec<(String, f64)> {
        let constant = |r: &EngineResult| Some((r.name.clone(), r.calibration.as_ref()?.constant()?.value));
        results.iter().filter_map(constant).collect()
    };
    let after = constants(&calibrate(&mut ended, options));
    let bias = |(name, played): (String, f64)| {
        let adjudicated = after.iter().find(|(other, _)| *other == name)?.1;
        Some(Bias { name, played, adjudicated })
    };
    constants(results).into_iter().filter_map(bias).collect()
}

impl Adjudicated {
    /// The rules for resigning and for draws to write into the match runner: of those that would have turned no larger
    /// share of the games than they promise, the one that saves most moves.
    pub fn recommended(&self) -> [Option<&AdjudicationRule>; 2] {
        [&self.resigning, &self.drawing].map(|rules| {
            let keeps_its_word = |r: &&AdjudicationRule| {
                r.rule.ended >= FEWEST_ENDED && r.rule.share.is_some_and(|share| 100.0 * share.value <= r.percent)
            };
            let good = rules.iter().filter(|r| r.percent <= MOST_TURNED && r.rule.move_count >= FEWEST_SCORES);
            let good = good.filter(keeps_its_word);
            good.max_by(|a, b| a.rule.saved.total_cmp(&b.rule.saved))
        })
    }

    /// The JSON document.
    pub fn document(&self) -> Value {
        let Self { games, ended_by_scores, engines, resigning, drawing, certified, notes, .. } = self;
        let [resign, draw] = self.recommended().map(|rule| rule.map(|rule| &rule.option));
        json!({
            "games": games, "ended_by_scores": ended_by_scores,
            "engines": engines, "recommended": { "resign": resign, "draw": draw },
            "resign": resigning, "draw": drawing, "certified": certified, "notes": notes,
        })
    }
}

impl Thresholds {
    /// Reads, calibrates and adjudicates.
    ///
    /// # Errors
    /// [`Error`] if the input cannot be read, a percentage is wrong, or no game has scores of its players.
    pub fn run(&self, input: &Input, progress: &Progress) -> Result<Outcome<Adjudicated>, Error> {
        if let Some(wrong) = self.win_rates.iter().find(|p| !(**p > 0.0 && **p < 50.0)) {
            return Err(text!("`win-rate`: {wrong} is not a percentage between 0 and 50, such as 2").into());
        }
        if let Some(wrong) = self.most_wrong.filter(|share| !(*share > 0.0 && *share < 0.5)) {
            return Err(text!("`most-wrong`: {wrong} is not a share of games; write 1/10000, for example").into());
        }
        on_threads(self.reading.threads, || {
            // runs of scores need all of them
            let sampling = Sampling { from_ply: Some(1), window: Some(1), ..self.reading.sampling.clone() };
            let reading = Reading { sampling, ..self.reading.clone() };
            let fitting = Fitting { bands: 0, folds: None, ..self.fitting.clone() };
            let mut loaded = load(&reading, &fitting, input, progress)?;
            let options = fitting.options(&reading, input);
            let results = calibrate(&mut loaded.value, &options);
            let mut played = games(&loaded.value);
            if played.is_empty() {
                return Err(text!(
                    "no game has scores of its players; give records of engine games with scores in their comments, \
                     or name the engine of an analysis with `annotator`"
                )
                .into());
            }
            // results that the scores made cannot show errors of scores
            let by_scores = ended_by_scores(&loaded.value);
            let others = played.extract_if(.., |game| game.game().is_some_and(|game| by_scores.contains(&game)));
            let others: Vec<Played<'_>> = others.collect();
            let mut found = self.adjudicate(&results, &played);
            found.ended_by_scores = others.len();
            if !others.is_empty() {
                let (ended, all, left) = (others.len(), others.len() + played.len(), played.len());
                found.notes.insert(
                    0,
                    text!(
                        "{ended} of {all} games were adjudicated, as the records say, or ended where the scores end \
                         games: their results agree with the scores by construction, and they are left out; {left} \
                         games remain"
                    ),
                );
            }
            found.notes.extend(results.iter().filter_map(|r| Some(r.adjudicated?.text()?.about(&Text::same(&r.name)))));
            found.certified = self
                .most_wrong
                .map(|most| self.certificate(most, &loaded.value, [&played, &others], &results, &options));
            Ok(loaded.map(|_| found))
        })?
    }

    fn adjudicate(&self, results: &[EngineResult], played: &[Played<'_>]) -> Adjudicated {
        let percents = if self.win_rates.is_empty() { vec![1.0, 2.0, 5.0] } else { self.win_rates.clone() };
        let calibrated = || results.iter().filter_map(|r| Some((r.name.as_str(), r.calibration.as_ref()?)));
        let mut found = Adjudicated {
            games: played.len(),
            calibrated: calibrated().map(|(name, _)| name.to_owned()).collect(),
            percents,
            ..Adjudicated::default()
        };
        let others: Vec<&str> = results.iter().filter(|r| r.calibration.is_none()).map(|r| r.name.as_str()).collect();
        if !others.is_empty() {
            let named = list(&others);
            found.notes.push(text!("not calibrated, so without a score here: {named} (`calibrate` has the reasons)"));
        }
        found.notes.extend(notes_on(calibrated()));
        for percent in found.percents.clone() {
            let of = |r: &EngineResult| {
                let score_cp = losing_score(r.calibration.as_ref()?, percent)?;
                Some(Losing { name: r.name.clone(), percent, score_cp })
            };
            let known: Vec<Losing> = results.iter().filter_map(of).collect();
            let is_known = |name: &str| known.iter().any(|losing| losing.name == name);
            let without: Vec<&str> = calibrated().map(|(name, _)| name).filter(|name| !is_known(name)).collect();
            if !without.is_empty() {
                let named = list(&without);
                found.notes.push(text!("{named}: no score below 0 wins {percent}%"));
            }
            self.resign(&known, percent, played, &mut found);
            found.engines.extend(known);
            self.draw(percent, played, &mut found);
        }
        let from = self.draw_from.unwrap_or(DEFAULT_DRAW_FROM);
        let (games, short) = (played.len(), played.iter().filter(|game| !game.reaches(2 * from)).count());
        if found.drawing.is_empty() && 2 * short > games {
            found.notes.push(text!(
                "{short} of {games} games have no score from move {from} on, where draws begin: a smaller `draw-from` \
                 begins earlier"
            ));
        }
        found
    }

    /// The rules that keep a bound.
    fn certificate(
        &self,
        most: f64,
        table: &SampleTable,
        [played, others]: [&[Played<'_>]; 2],
        results: &[EngineResult],
        options: &CalibrateOptions,
    ) -> Certificate {
        let from = 2 * self.draw_from.unwrap_or(DEFAULT_DRAW_FROM);
        let lost_from = 2 * self.resign_from;
        let [all, by_scores] = [played, others].map(|games| games.iter().collect::<Vec<&Played<'_>>>());
        let rule = |name, kinds: &[Kind], counts: &[u32], from: u32| {
            let given = self.move_counts.as_slice();
            let move_counts = if given.is_empty() || name == "resign_value" { counts } else { given };
            let candidates = Candidates { kinds, move_counts, from_ply: from, most };
            let rule = candidates.best_with(&all, &by_scores);
            // as the folds of games do not follow their order
            let held_out = candidates.held_out(played, |game| evalcurve_words::random::below(2, &[game.id]) == 0);
            let options = rule.map_or_else(|_| Vec::new(), |found| options_of(&found.rule));
            CertifiedRule { name, rule, options, held_out }
        };
        let rules = [
            rule("resign", &[Kind::Resign, Kind::ResignTwoSided], &[3], lost_from),
            rule("resign_value", &[Kind::Resign], &[1], lost_from),
            rule("draw", &[Kind::Draw], &[8], from),
        ];
        let applied: Vec<Rule> = [&rules[0], &rules[2]].into_iter().filter_map(|r| Some(r.rule.ok()?.rule)).collect();
        let bias = if applied.is_empty() { Vec::new() } else { bias(table, played, &applied, results, options) };
        Certificate { most_wrong: most, rules, bias }
    }

    fn counts(&self) -> &[u32] {
        if self.move_counts.is_empty() { &[1, 2, 3, 5, 8] } else { &self.move_counts }
    }

    /// Adds the rules for resigning at a win rate.
    fn resign(&self, known: &[Losing], percent: f64, played: &[Played<'_>], found: &mut Adjudicated) {
        let scores = || known.iter().map(|losing| -losing.score_cp);
        let (Some(smallest), Some(largest)) = (scores().min(), scores().max()) else {
            found.notes.push(text!("no threshold for resigning at a win rate of {percent}%"));
            return;
        };
        // rounded up to what people write
        let score_cp = i32::try_from((largest + 9) / 10 * 10).unwrap_or(i32::MAX);
        found.resigning.extend(self.counts().iter().map(|&count| {
            let option = match self.resign_from {
                0 => format!("-resign movecount={count} score={score_cp}"),
                from => format!("--resign movecount={count} score={score_cp} movenumber={from}"),
            };
            AdjudicationRule {
                percent,
                option,
                rule: resign(played, Kind::Resign, count, score_cp, 2 * self.resign_from),
            }
        }));
        let ratio = largest as f64 / smallest as f64;
        if ratio > LARGEST_RATIO {
            found.notes.push(text!(
                "the scores that win {percent}% differ between the engines by a factor of {ratio:.1}, and the options \
                 suit the largest; `proxy` puts the engines on one scale"
            ));
        }
    }

    /// Adds the rules for draws at a share of games that were not drawn.
    fn draw(&self, percent: f64, played: &[Played<'_>], found: &mut Adjudicated) {
        let from = self.draw_from.unwrap_or(DEFAULT_DRAW_FROM);
        let mut without = Vec::new();
        for &count in self.counts() {
            let Some(rule) = draw(played, count, 2 * from, percent / 100.0) else {
                without.push(count.to_string());
                continue;
            };
            let option = format!("-draw movenumber={from} movecount={count} score={}", rule.score_cp);
            found.drawing.push(AdjudicationRule { percent, option, rule });
        }
        if !without.is_empty() {
            let counts = without.join(", ");
            found
                .notes
                .push(text!("no threshold for draws turns at most {percent}% of the games at movecount {counts}"));
        }
    }
}
