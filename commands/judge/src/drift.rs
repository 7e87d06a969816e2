//! Has the scale of an engine's scores moved from one version to the next?
//!
//! w1 is the value of a centipawn. If w1 of the new version is 1.2 times that of the old one, a former score of +300 is
//! +250 now. The two calibrations are assumed to be independent.

use evalcurve_app::judge::Verdict;
use evalcurve_fit::calibration::{Calibration, Estimate, Method, ModelKind, PawnValue, Reading, Situation};
use evalcurve_fit::curve::Z_95;
use evalcurve_fit::fit::{Sigmoid, StageUnit, Wald, wald};
use evalcurve_fit::normal::quantile_95;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::text::signed;
use evalcurve_words::{say, text};
use serde::Serialize;
use serde_json::{Value, json};

/// How two calibrations are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftOptions {
    /// Largest tolerated change of w1 in percent, up or down.
    pub tolerance_percent: f64,
    /// The fits to compare; `None` for those of the chosen model if it is the same in both and has a slope, else for
    /// maximum likelihood.
    pub method: Option<Method>,
    /// Scores at which to compare win rates, centipawns.
    pub scores: Vec<f64>,
}

impl Default for DriftOptions {
    fn default() -> Self {
        Self { tolerance_percent: 10.0, method: None, scores: vec![-1000.0, -500.0, -200.0, 0.0, 200.0, 500.0, 1000.0] }
    }
}

/// A number with its 95% interval, `None` if a calibration has no covariance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimated {
    pub value: f64,
    /// Lower and upper end.
    pub interval: Option<(f64, f64)>,
}

/// Win rates of one score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtScore {
    /// The score, centipawns.
    pub score_cp: f64,
    /// Its win rate by the old calibration.
    pub old: f64,
    /// Its win rate by the new one.
    pub new: f64,
    /// New less old.
    pub difference: Estimated,
    /// The score of the old version that has the new version's win rate, centipawns; NaN if no score has it.
    pub old_score_cp: f64,
}

/// A parameter of the scale in both calibrations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// `w1`, `a` or `b`.
    pub name: &'static str,
    /// In the old calibration.
    pub old: Estimated,
    pub new: Estimated,
    /// Change in percent: 100 (new / old - 1). Its interval is computed from that of the logarithm.
    pub change_percent: Estimated,
    /// Whether it moved.
    pub verdict: Verdict,
    /// How many times as many games in both calibrations would tell; `None` if these do, or no number can.
    pub games_factor: Option<f64>,
    /// Test that it is equal, on its logarithm like the interval of the change.
    #[serde(skip)]
    pub same: Option<Wald>,
}

/// The scales of two calibrations compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// Name in the old calibration.
    pub old_engine: String,
    /// Name in the new one.
    pub new_engine: String,
    /// The fits that were compared.
    #[serde(rename = "method")]
    pub model: ModelKind,
    /// The old curve, if it is a sigmoid.
    pub old: Option<Sigmoid>,
    /// The new curve, if it is a sigmoid.
    pub new: Option<Sigmoid>,
    /// The stage of the game at which a, b and the win rates are compared, if the model separates draws.
    pub stage: Option<(StageUnit, f64)>,
    /// Whether the win rates are those between equals; else they are against the opponents of each file.
    pub between_equals: bool,
    /// What was compared: w1, or a and b. a is the score of 50% wins, the normalised pawn value.
    pub changes: Vec<Change>,
    /// The change of the first of them.
    pub change_percent: Estimated,
    pub tolerance_percent: f64,
    /// Whether the scale moved.
    pub verdict: Verdict,
    /// Games of the old and of the new calibration.
    pub games: Option<(u64, u64)>,
    /// Test that w1 is equal, on its logarithm like the interval of the change.
    pub same_w1: Option<Wald>,
    /// Test that w1 and w2 are equal.
    pub same_curve: Option<Wald>,
    /// Whether both are fitted to the same samples, which cannot differ by chance: no change has an interval then.
    pub same_samples: bool,
    /// Win rates at the scores of the options.
    pub at: Vec<AtScore>,
    /// What makes the comparison doubtful: different sampling, different mate policies, the same samples.
    pub remarks: Vec<Text>,
}

/// A number with its variance.
type Known = (f64, Option<f64>);

/// Compares a new calibration with an old one.
///
/// The verdict is on the scale only: w1 of a sigmoid, a and b of a model that separates draws. w2 changes with the
/// strength of the opponents; the test of both is reported separately.
///
/// # Errors
/// A tolerance or a score that is no valid number, and a calibration without a fit by the model.
pub fn drift(old: &Calibration, new: &Calibration, options: &DriftOptions) -> Result<Drift, Text> {
    if !(options.tolerance_percent > 0.0 && options.tolerance_percent.is_finite()) {
        let percent = options.tolerance_percent;
        return Err(text!("a tolerance of {percent}% is not valid; use a number above 0, such as 10"));
    }
    if let Some(score) = options.scores.iter().find(|s| !s.is_finite()) {
        return Err(text!("a score of {score} centipawns cannot be compared; use a finite number"));
    }
    let (chosen, other) = (old.model.kind, new.model.kind);
    let has_scale = |c: &Calibration| c.model.kind.method().is_some() || c.wdl_model().is_some() || c.slope().is_some();
    let model = match options.method {
        Some(method) => method.into(),
        None if chosen == other && has_scale(old) && has_scale(new) => chosen,
        None => chosen.method().unwrap_or(Method::MaximumLikelihood).into(),
    };
    let compared = Compared::new(old, new, model)?;
    let mut remarks = remarks(old, new, compared.same_samples);
    if options.method.is_none() && (chosen, other) != (model, model) {
        remarks.push(text!("the chosen models are {chosen} and {other}: compared by {model}, which both files have"));
    }
    let changes = compared.changes(options.tolerance_percent)?;
    let first = changes.first();
    let of_w1 = first.filter(|_| compared.pawns.is_none());
    let verdict = [Verdict::Moved, Verdict::Unclear].into_iter().find(|v| changes.iter().any(|c| c.verdict == *v));
    Ok(Drift {
        old_engine: old.engine.name.clone(),
        new_engine: new.engine.name.clone(),
        model,
        old: compared.sigmoids.map(|s| s.0),
        new: compared.sigmoids.map(|s| s.1),
        stage: compared.stage(),
        between_equals: compared.reading == Reading::Equal,
        change_percent: first.map_or(Estimated { value: 0.0, interval: None }, |c| c.change_percent),
        tolerance_percent: options.tolerance_percent,
        verdict: verdict.unwrap_or(Verdict::Within),
        games: compared.games(&compared.a).zip(compared.games(&compared.b)),
        same_w1: of_w1.and_then(|c| c.same),
        same_curve: of_w1.and(compared.sigmoids).and_then(|(from, to)| compared.same_curve(from, to)),
        same_samples: compared.same_samples,
        at: options.scores.iter().map(|score_cp| compared.at(*score_cp)).collect(),
        changes,
        remarks,
    })
}

/// Two calibrations with one model each.
struct Compared {
    a: Calibration,
    b: Calibration,
    model: ModelKind,
    reading: Reading,
    /// The quantile of intervals.
    quantile: f64,
    /// The curves, if they are plain sigmoids.
    sigmoids: Option<(Sigmoid, Sigmoid)>,
    /// What a pawn is worth, if the model separates draws.
    pawns: Option<(PawnValue, PawnValue)>,
    /// See [`Drift::same_samples`].
    same_samples: bool,
}

impl Compared {
    fn new(old: &Calibration, new: &Calibration, model: ModelKind) -> Result<Self, Text> {
        let (a, b) = (only(old, model)?, only(new, model)?);
        // the other models know the opponents, and are read between equals
        let reading = if model.method().is_some() { Reading::Field } else { Reading::Equal };
        let sigmoids = a.model.model.sigmoid().zip(b.model.model.sigmoid()).filter(|_| model.method().is_some());
        let pawns = a.pawn_value().zip(b.pawn_value());
        let same_samples = same_samples(old, new);
        let mut found = Self { a, b, model, reading, quantile: Z_95, sigmoids, pawns, same_samples };
        let games = [&found.a, &found.b].into_iter().filter_map(|c| found.games(c)).min();
        found.quantile = games.map_or(Z_95, quantile_95);
        Ok(found)
    }

    fn games(&self, calibration: &Calibration) -> Option<u64> {
        calibration.models.get(&self.model).and_then(|fit| fit.games)
    }

    /// The change of w1, or of a and b.
    fn changes(&self, tolerance_percent: f64) -> Result<Vec<Change>, Text> {
        let (a, b) = (&self.a, &self.b);
        let limit = libm::log1p(tolerance_percent / 100.0);
        Ok(match (&self.sigmoids, &self.pawns) {
            (_, Some((from, to))) => {
                // back from the interval, whose quantile is each calibration's own
                let known = |c: &Calibration, e: Estimate| {
                    (e.value, e.interval.map(|[_, high]| ((high - e.value) / c.quantile()).powi(2)))
                };
                let both = |pick: fn(&PawnValue) -> Estimate| (known(a, pick(from)), known(b, pick(to)));
                [("a", both(|p| p.a)), ("b", both(|p| p.b))]
                    .map(|(name, (x, y))| self.change(name, x, y, limit))
                    .to_vec()
            }
            (Some((from, to)), None) => {
                let variance =
                    |c: &Calibration| c.models.get(&self.model)?.covariance.as_ref()?.first()?.first().copied();
                vec![self.change("w1", (from.w1, variance(a)), (to.w1, variance(b)), limit)]
            }
            (None, None) => {
                let slope = |c: &Calibration| c.slope().map(|(w1, half)| (w1, Some((half / c.quantile()).powi(2))));
                let (x, y) = slope(a).zip(slope(b)).ok_or_else(|| no_fit(b, self.model))?;
                vec![self.change("w1", x, y, limit)]
            }
        })
    }

    /// The stage at which a, b and win rates are compared.
    fn stage(&self) -> Option<(StageUnit, f64)> {
        self.pawns.as_ref().map(|(from, _)| (from.unit, from.stage))
    }

    /// The win rates of a score.
    fn at(&self, score_cp: f64) -> AtScore {
        let situation = match self.stage() {
            Some((StageUnit::Ply, at)) => Situation { ply: Some(at as u32), ..Situation::default() },
            Some((StageUnit::Material, at)) => Situation { material: Some(at as u32), ..Situation::default() },
            None => Situation::default(),
        };
        let rate = |c: &Calibration| Sigmoid::STANDARD.win_rate(c.logit(self.reading, score_cp, &situation));
        let variance = |c: &Calibration, p: f64| {
            c.logit_error(self.reading, score_cp, &situation).map(|e| (p * (1.0 - p) * e).powi(2))
        };
        let (p, q) = (rate(&self.a), rate(&self.b));
        let half =
            self.by_chance(variance(&self.a, p), variance(&self.b, q)).map(|(v, w)| self.quantile * (v + w).sqrt());
        let difference = Estimated { value: q - p, interval: half.map(|h| (q - p - h, q - p + h)) };
        let old_score_cp = match &self.sigmoids {
            Some((from, to)) => (to.logit(score_cp) + from.w2) / from.w1,
            None => self.a.score(self.reading, q, &situation).unwrap_or(f64::NAN),
        };
        AtScore { score_cp, old: p, new: q, difference, old_score_cp }
    }

    /// Test that both parameters of two sigmoids are equal.
    fn same_curve(&self, from: Sigmoid, to: Sigmoid) -> Option<Wald> {
        let covariance = |c: &Calibration| c.models.get(&c.model.kind)?.covariance.clone();
        let (v, w) = self.by_chance(covariance(&self.a), covariance(&self.b))?;
        let sum = |i: usize, j: usize| Some(v.get(i)?.get(j)? + w.get(i)?.get(j)?);
        let summed = vec![vec![sum(0, 0)?, sum(0, 1)?], vec![sum(1, 0)?, sum(1, 1)?]];
        wald(&[to.w1 - from.w1, to.w2 - from.w2], &summed)
    }

    /// The variances of both, which add up where the two can differ by chance; else there is no interval and no test.
    fn by_chance<T>(&self, of_a: Option<T>, of_b: Option<T>) -> Option<(T, T)> {
        of_a.zip(of_b).filter(|_| !self.same_samples)
    }

    /// The change of one number, with the tolerance on its logarithm.
    fn change(&self, name: &'static str, (from, v): Known, (to, w): Known, limit: f64) -> Change {
        let estimated = |(value, variance): Known| {
            let half = variance.map(|v| self.quantile * v.max(0.0).sqrt());
            Estimated { value, interval: half.map(|h| (value - h, value + h)) }
        };
        let log_ratio = libm::log(to / from);
        let log_variance = self.by_chance(v, w).map(|(v, w)| v / (from * from) + w / (to * to));
        let percent = |log: f64| 100.0 * libm::expm1(log);
        let half = log_variance.map(|variance| self.quantile * variance.max(0.0).sqrt());
        let ends = half.map(|half| (log_ratio - half, log_ratio + half));
        // as a ratio, so that swapping the calibrations gives the same verdict
        let verdict = Verdict::of(log_ratio, ends, limit);
        // the interval has to become so narrow that it excludes no change, or the tolerance
        let room = if log_ratio.abs() > limit { log_ratio.abs() } else { limit - log_ratio.abs() };
        let factor = half.map(|half| (half / room) * (half / room)).filter(|f| f.is_finite());
        Change {
            name,
            old: estimated((from, v)),
            new: estimated((to, w)),
            change_percent: Estimated {
                value: percent(log_ratio),
                interval: ends.map(|(low, high)| (percent(low), percent(high))),
            },
            verdict,
            games_factor: factor.filter(|_| verdict == Verdict::Unclear),
            same: log_variance.and_then(|v| wald(&[log_ratio], &[vec![v]])),
        }
    }
}

/// A calibration that has one model only.
fn only(calibration: &Calibration, model: ModelKind) -> Result<Calibration, Text> {
    let engine = &calibration.engine.name;
    let fitted = calibration.models.get(&model).cloned();
    fitted
        .and_then(|fitted| Calibration::from_models(engine.clone(), [(model, fitted)], model))
        .ok_or_else(|| no_fit(calibration, model))
}

fn no_fit(calibration: &Calibration, model: ModelKind) -> Text {
    let engine = &calibration.engine.name;
    text!("the calibration of {engine} has no fit by {model}; choose another with `model`")
}

/// Whether two calibrations are fitted to the same samples.
fn same_samples(old: &Calibration, new: &Calibration) -> bool {
    let digest = |c: &Calibration| c.provenance.as_ref().and_then(|p| p.digest.clone());
    digest(old).is_some() && digest(old) == digest(new)
}

/// What differs between two calibrations apart from the engine.
fn remarks(old: &Calibration, new: &Calibration, same_samples: bool) -> Vec<Text> {
    let mut remarks = Vec::new();
    let [a, b] = [&old.engine, &new.engine];
    if a.name != b.name && !a.aliases.contains(&b.name) && !b.aliases.contains(&a.name) {
        remarks.push(text!(
            "the files are of {} and {}: if these are not versions of one engine, the result is how their scales \
             differ, and not a change",
            a.name,
            b.name
        ));
    }
    if same_samples {
        remarks.push(text!("both are fitted to the same samples, so no test is made"));
    }
    if let (Some(a), Some(b)) = (&old.mates, &new.mates) {
        if a.policy != b.policy || a.clip_cp != b.clip_cp {
            remarks.push(text!("mates were treated differently (`mate-policy`): calibrate both the same way"));
        } else if a.threshold_cp != b.threshold_cp {
            let cp = |t: Option<f64>| t.map_or_else(|| text!("none"), |t| format!("{t:.0}").into());
            let (a, b) = (cp(a.threshold_cp), cp(b.threshold_cp));
            remarks.push(text!("mates begin at {a} in the old and at {b} in the new one"));
        }
    }
    if let (Some(a), Some(b)) = (&old.sampling, &new.sampling) {
        if (a.from_ply, a.window, a.per_window, a.draws) != (b.from_ply, b.window, b.per_window, b.draws) {
            remarks.push(text!(
                "samples were drawn differently (`from-ply`, `window` or `draws`): calibrate both the same way"
            ));
        }
        if a.filters != b.filters {
            remarks.push(text!("the filters differ"));
        }
    }
    let opponents =
        |c: &Calibration| c.provenance.as_ref().map(|p| p.opponents.iter().map(|o| o.name.clone()).collect::<Vec<_>>());
    if let (Some(a), Some(b)) = (opponents(old), opponents(new))
        && !a.is_empty()
        && !b.is_empty()
        && !a.iter().any(|name| b.contains(name))
    {
        remarks.push(text!("they have no opponent in common: w2 depends on the opponents, and w1 may"));
    }
    remarks
}

impl Drift {
    /// The JSON document.
    pub fn document(&self) -> Value {
        let mut document = json!(self);
        document["sentence"] = self.sentence(Language::English).into();
        document
    }

    /// The verdict in one or two sentences.
    pub fn sentence(&self, language: Language) -> String {
        let tolerance = self.tolerance_percent;
        let one = |change: &Change| {
            let Estimated { value, interval } = change.change_percent;
            let interval = match interval {
                Some((low, high)) => format!(" [{}, {}]", signed(low, 1), signed(high, 1)),
                None if self.same_samples => say!(language, " (no interval: the samples are the same)"),
                None => say!(language, " (no interval: a calibration has no covariance)"),
            };
            let (name, value) = (change.name, signed(value, 1));
            say!(language, "{name} changed by {value}%{interval}")
        };
        let changed = self.changes.iter().map(one).collect::<Vec<_>>().join(language.word(", "));
        match self.verdict {
            Verdict::Within => say!(language, "the scale did not move by more than {tolerance}%: {changed}"),
            Verdict::Moved => {
                let known = |a: &&AtScore| a.score_cp > 0.0 && a.score_cp <= 600.0 && !a.old_score_cp.is_nan();
                let example = self.at.iter().rfind(known).map_or_else(String::new, |a| {
                    let (new, old) = (signed(a.score_cp, 0), signed(a.old_score_cp, 0));
                    match (&self.new_engine, &self.old_engine) {
                        (a, b) if a != b => say!(language, "; {new} of {a} is {old} of {b}"),
                        _ => say!(language, "; {new} of the new version is {old} of the old one"),
                    }
                });
                say!(language, "the scale moved by more than {tolerance}%: {changed}{example}")
            }
            Verdict::Unclear => {
                let games = self.games_needed(language);
                say!(language, "cannot tell whether the scale moved by more than {tolerance}%: {changed}{games}")
            }
        }
    }

    /// How many games would tell, after a semicolon; empty if that is not known.
    fn games_needed(&self, language: Language) -> String {
        let factor = self.changes.iter().filter_map(|c| c.games_factor).fold(0.0, f64::max);
        if factor <= 1.0 {
            return String::new();
        }
        if factor > 1_000.0 {
            return say!(language, "; the change is so near to the tolerance that no number of games will tell");
        }
        // two digits are as much as the estimate is worth
        let needed = |games: u64| {
            let games = games as f64 * factor;
            let unit = 10f64.powf(games.log10().floor() - 1.0).max(1.0);
            (games / unit).ceil() * unit
        };
        let games = self.games.map_or_else(String::new, |(old, new)| {
            let (old, new) = (needed(old), needed(new));
            say!(language, ": {old:.0} for the old and {new:.0} for the new version")
        });
        say!(language, "; about {factor:.1} times as many games would tell{games}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_fit::calibration::FittedModel;

    fn calibration(w1: f64, w2: f64, se: Option<f64>) -> Calibration {
        let covariance = se.map(|se| vec![vec![se * se, 0.3 * se * 0.05], vec![0.3 * se * 0.05, 0.0025]]);
        let fit = FittedModel { covariance, samples: Some(4000), games: Some(1000), ..FittedModel::sigmoid(w1, w2) };
        Calibration::from_model("A", Method::MaximumLikelihood, fit)
    }

    fn compare(old: &Calibration, new: &Calibration) -> Drift {
        drift(old, new, &DriftOptions::default()).unwrap()
    }

    #[test]
    fn verdicts_follow_tolerance_and_chance() {
        let old = calibration(0.002, 0.1, Some(0.00004));
        let exact = calibration(0.002, 0.1, Some(0.000_004));
        for (w1, se, verdict) in [
            (0.00205, 0.00004, Verdict::Within),
            (0.00219, 0.00004, Verdict::Unclear),
            (0.00218, 0.000_004, Verdict::Within),
            (0.0024, 0.00004, Verdict::Moved),
            (0.0017, 0.00004, Verdict::Moved),
            (0.0024, 0.0004, Verdict::Unclear),
        ] {
            // a change of 9% is within the tolerance only if its interval is
            let old = if se < 0.00004 { &exact } else { &old };
            let found = compare(old, &calibration(w1, 0.1, Some(se)));
            assert_eq!(found.verdict, verdict, "{w1} {se}: {}", found.sentence(Language::English));
            let (low, high) = found.change_percent.interval.unwrap();
            assert!(low < found.change_percent.value && found.change_percent.value < high);
        }
        let moved = compare(&old, &calibration(0.0024, 0.1, Some(0.00004)));
        assert!((moved.change_percent.value - 20.0).abs() < 1e-9);
        assert_eq!(
            moved.sentence(Language::English),
            "the scale moved by more than 10%: w1 changed by +20.0% [+14.0, +26.3]; +500 of the new version is +600 of \
             the old one"
        );
    }

    #[test]
    fn tests_agree_with_numpy() {
        // d = [0.0001, 0.05]; V = [[3.2e-9, 1.2e-6], [1.2e-6, 0.005]]
        // numpy: d @ inv(V) @ d = 3.1593406593406588, scipy.stats.chi2.sf(_, 2) = 0.2060430132775897;
        // log(1.05)**2/((4e-5/.002)**2 + (4e-5/.0021)**2)
        let found = compare(&calibration(0.002, 0.1, Some(0.00004)), &calibration(0.0021, 0.15, Some(0.00004)));
        let (w1, both) = (found.same_w1.unwrap(), found.same_curve.unwrap());
        assert!((w1.statistic - 3.1206650796044517).abs() < 1e-9 && w1.df == 1);
        assert!((both.statistic - 3.159_340_659_340_66).abs() < 1e-9 && both.df == 2, "{both:?}");
        assert!((both.p - 0.206_043_013_277_589_7).abs() < 1e-12);
    }

    #[test]
    fn curves_are_compared_at_scores() {
        let (old, new) = (calibration(0.002, 0.1, Some(0.00004)), calibration(0.0024, -0.1, Some(0.00004)));
        let found = compare(&old, &new);
        let at = found.at.iter().find(|a| a.score_cp == 500.0).unwrap();
        assert!((at.old - 1.0 / (1.0 + libm::exp(-0.9))).abs() < 1e-12);
        assert!((at.new - 1.0 / (1.0 + libm::exp(-1.3))).abs() < 1e-12);
        assert!((at.old_score_cp - 700.0).abs() < 1e-9);
        let (low, high) = at.difference.interval.unwrap();
        assert!(low < at.difference.value && at.difference.value < high);
    }

    #[test]
    fn as_many_games_as_announced_do_tell() {
        let old = calibration(0.002, 0.1, Some(0.0001));
        for w1 in [0.0021, 0.0023] {
            let found = compare(&old, &calibration(w1, 0.1, Some(0.0002)));
            assert_eq!(found.verdict, Verdict::Unclear, "{}", found.sentence(Language::English));
            assert!(
                found.sentence(Language::English).contains("times as many games would tell: "),
                "{}",
                found.sentence(Language::English)
            );
            let factor = found.changes[0].games_factor.unwrap();
            let with = |factor: f64| {
                compare(
                    &calibration(0.002, 0.1, Some(0.0001 / factor.sqrt())),
                    &calibration(w1, 0.1, Some(0.0002 / factor.sqrt())),
                )
            };
            assert_eq!(with(0.99 * factor).verdict, Verdict::Unclear);
            assert_ne!(with(1.01 * factor).verdict, Verdict::Unclear);
        }
    }

    /// A model of draws whose pawn is worth a, with this standard error of a and b.
    fn separate(a: f64, se: f64) -> Calibration {
        let wdl = evalcurve_fit::fit::Wdl {
            stage: StageUnit::Material,
            a: [0.0, 0.0, 0.0, a],
            b: [0.0, 0.0, 0.0, 60.0],
            from_stage: 17,
            to_stage: 78,
        };
        let mut covariance = vec![vec![0.0; 8]; 8];
        (covariance[3][3], covariance[7][7]) = (se * se, se * se);
        let (kind, covariance) = (ModelKind::WdlMaterial, Some(covariance));
        let model = evalcurve_fit::fit::Model::Wdl(wdl);
        let fitted =
            evalcurve_fit::calibration::FittedModel { model, covariance, samples: Some(4000), games: Some(1000) };
        Calibration::from_models("A", [(kind, fitted)], kind).unwrap()
    }

    #[test]
    fn a_model_of_draws_is_compared_by_a_and_b() {
        let found = compare(&separate(385.0, 1.0), &separate(304.0, 1.0));
        assert_eq!((found.verdict, found.stage), (Verdict::Moved, Some((StageUnit::Material, 58.0))));
        let verdicts: Vec<_> = found.changes.iter().map(|c| (c.name, c.verdict)).collect();
        assert_eq!(verdicts, [("a", Verdict::Moved), ("b", Verdict::Within)]);
        assert!((found.changes[0].change_percent.value - (30_400.0 / 385.0 - 100.0)).abs() < 1e-9);
        let (low, high) = found.changes[0].old.interval.unwrap();
        // Student's t with 999 degrees of freedom (scipy.stats.t.ppf(0.975, 999) = 1.962341461133449)
        assert!((low - 385.0 + 1.962_341_461).abs() < 1e-6 && (high - 385.0 - 1.962_341_461).abs() < 1e-6);
        // the score of 50% wins in the new version is that of the old one
        let at = |c: &Calibration, x: f64| c.wdl(Reading::Equal, x, &Situation::default()).unwrap().win.value;
        assert!((at(&separate(304.0, 1.0), 304.0) - 0.5).abs() < 1e-12);
        assert!(found.at.iter().all(|at| at.old_score_cp.is_finite()));
        assert_eq!(compare(&separate(385.0, 20.0), &separate(350.0, 20.0)).verdict, Verdict::Unclear);
        // the other file has no such model
        let error = drift(&separate(385.0, 1.0), &calibration(0.002, 0.1, None), &DriftOptions::default());
        assert!(error.unwrap_err().to_string().contains("has no fit by"));
    }

    #[test]
    fn published_coefficients_have_no_test() {
        let found = compare(&calibration(0.002, 0.1, None), &calibration(0.0024, 0.1, Some(0.0001)));
        assert_eq!((found.verdict, found.same_w1, found.change_percent.interval), (Verdict::Moved, None, None));
        assert!(found.sentence(Language::English).contains("no covariance"));
        let bad = DriftOptions { tolerance_percent: 0.0, ..DriftOptions::default() };
        let old = calibration(0.002, 0.1, None);
        assert!(drift(&old, &old, &bad).unwrap_err().to_string().contains("a tolerance of 0%"));
        let other = DriftOptions { method: Some(Method::LeastSquares), ..DriftOptions::default() };
        assert!(drift(&old, &old, &other).unwrap_err().to_string().contains("`model`"));
    }
}
