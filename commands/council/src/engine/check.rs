//! `--check`: starts every member and verifies that configuration and calibrations fit.

use std::time::{Duration, Instant};

use evalcurve_calibration::{Calibration, Reading, Score, Situation};
use evalcurve_engine::board::Board;
use evalcurve_engine::usi::Position;
use evalcurve_engine::{EngineConfig, Limit, Member, MemberEvent, Task, events, ignored};
use evalcurve_fit::fit::{ModelKind, Sigmoid};
use evalcurve_rules::Rule;
use evalcurve_words::language::Text;
use evalcurve_words::text;
use evalcurve_words::text::{shortened, signed};

use super::config::Config;
use super::session::{members, wait_until};

/// The grade of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grade {
    /// As it should be.
    Good,
    /// Works, but perhaps not as intended.
    Warning,
    /// Does not work.
    Error,
}

/// A finding about a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of the member.
    pub engine: String,
    /// Whether it needs a change.
    pub grade: Grade,
    /// What was found, and what to do.
    pub text: Text,
}

/// A calibration from fewer samples gets a warning.
const FEW_SAMPLES: u64 = 300;

/// Fields that are this far apart, in logits (87 Elo), decide votes.
const FIELDS_APART: f64 = 0.5;

/// Time for the trial move of a member without its own limit.
const TRIAL: Duration = Duration::from_millis(1_000);

/// The longest wait for the trial move of a member with its own limit.
const LONGEST_TRIAL: Duration = Duration::from_secs(30);

/// Starts every member once, compares it with its configuration and its calibration, and lets it play a move.
pub fn check(config: &Config) -> Vec<Finding> {
    let quiet = Config { restarts: 0, ..config.clone() };
    let (sender, receiver) = events();
    let start = Instant::now();
    let mut members = members(&quiet, &sender);
    for member in &mut members {
        member.start(start);
        member.prepare(start);
    }
    // every member has its own deadlines for this
    wait_until(&mut members, &receiver, start + Duration::from_secs(3600), |m| m.is_starting() || m.is_preparing());

    let position = Position::default();
    let (board, _) = Board::new(config.game, &position);
    let now = Instant::now();
    for (member, engine) in members.iter_mut().zip(&config.engines) {
        // a limit of the configuration replaces that of the trial
        let task = Task {
            nodes: None,
            position: position.clone(),
            side: board.side(),
            go: Limit::Byoyomi(TRIAL.as_millis() as u64).go(),
            since: now,
            budget: Some(if engine.limit.is_some() { LONGEST_TRIAL } else { TRIAL }),
            margin: Some(Duration::from_millis(config.time.margin_ms)),
        };
        member.search(&task, now);
    }
    wait_until(&mut members, &receiver, now + LONGEST_TRIAL, |m| m.is_asked());

    let mut findings = Findings { engine: String::new(), found: Vec::new() };
    for (member, engine) in members.iter_mut().zip(&config.engines) {
        findings.engine.clone_from(&engine.name);
        match first_fault(member) {
            Some(fault) => findings.error(fault.clone()),
            None => {
                findings.check_options(member, engine);
                findings.check_calibration(member, engine, config.rule);
                findings.check_move(member, engine.limit, &board);
            }
        }
        member.quit();
    }
    findings.check_scales(config);
    findings.found
}

/// What another model of the calibration file says of the score that counts as 75%; `None` if the file has no such fit.
fn by_model(calibration: &Calibration, other: ModelKind, reading: Reading) -> Option<f64> {
    let situation = Situation::default();
    let score = calibration.score(reading, 0.75, &situation)?;
    let logit = calibration.models.get(&other)?.model.logit_in(reading, score, &situation);
    Some(Sigmoid::STANDARD.win_rate(logit))
}

/// The members with a calibration.
fn calibrated(config: &Config) -> impl Iterator<Item = (&String, &Calibration)> {
    config.engines.iter().filter_map(|engine| Some((&engine.name, engine.calibration.as_ref()?)))
}

/// The first fault that a member has reported.
fn first_fault(member: &Member) -> Option<&Text> {
    member.events.iter().find_map(|event| if let MemberEvent::Fault { fault, .. } = event { Some(fault) } else { None })
}

/// The findings so far, and the member that further ones are about.
struct Findings {
    engine: String,
    found: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, grade: Grade, text: Text) {
        self.found.push(Finding { engine: self.engine.clone(), grade, text });
    }

    fn error(&mut self, text: Text) {
        self.add(Grade::Error, text);
    }

    fn warn(&mut self, text: Text) {
        self.add(Grade::Warning, text);
    }

    fn check_options(&mut self, member: &Member, engine: &EngineConfig) {
        for (name, value) in &engine.options {
            if let Some(spec) = member.options.iter().find(|o| o.name.eq_ignore_ascii_case(name)) {
                spec.check(value).unwrap_or_else(|problem| self.error(problem));
            }
        }
        member.unknown_options().for_each(|text| self.warn(text));
        if let Some(why) = member.not_repeatable() {
            self.warn(why);
        }
    }

    fn check_calibration(&mut self, member: &Member, engine: &EngineConfig, rule: Rule) {
        let Some(calibration) = &engine.calibration else {
            return match engine.votes_as_declared {
                true if member.result().declared.is_some() => {
                    let text = text!("it declares W/D/L, and votes by them");
                    self.add(Grade::Good, text);
                }
                true => self.error(text!(
                    "its calibration is \"declared\", but it declares no W/D/L; engines of UCI do with \
                     options = {{ UCI_ShowWDL = true }}"
                )),
                false if rule.needs_win_rates() => {
                    self.warn(text!("it has no calibration: the rule {rule} ignores its votes"))
                }
                false => {}
            };
        };
        let calibrated = &calibration.engine.name;
        let own_name = member.own_name.as_deref();
        let own_names = [own_name.unwrap_or(&engine.name).to_lowercase(), engine.name.to_lowercase()];
        let mut names = std::iter::once(calibrated).chain(&calibration.engine.aliases).map(|n| n.to_lowercase());
        if !names.any(|name| own_names.iter().any(|own| own.contains(&name) || name.contains(own.as_str()))) {
            let own = match own_name {
                Some(own) => text!("the engine is '{own}'"),
                None => text!("the engine reports no name"),
            };
            self.warn(text!("its calibration is for '{calibrated}', but {}; check the file", own));
        }
        // of the samples drawn, the fit leaves out the mates
        let fitted = calibration.models.get(&calibration.model.kind).and_then(|model| model.samples);
        let samples = fitted.or_else(|| calibration.provenance.as_ref()?.samples);
        if let Some(samples) = samples.filter(|n| *n < FEW_SAMPLES) {
            self.warn(text!("its calibration comes from only {samples} samples; use at least {FEW_SAMPLES}"));
        }
        self.check_limit(calibration, engine.limit);
        if calibration.mates.and_then(|m| m.threshold_cp).is_none() {
            self.warn(text!("neither its calibration nor its configuration has a mate threshold; set mate-threshold"));
        }
    }

    /// Whether the win rates of all members mean the same, and what it does to decisions where they do not.
    fn check_scales(&mut self, config: &Config) {
        for (name, calibration) in calibrated(config) {
            for doubt in &calibration.doubts {
                self.engine.clone_from(name);
                self.warn(text!("its calibration {doubt}: calibrate it with more or other games"));
            }
        }
        self.check_models(config);
        self.check_fields(config);
    }

    /// Whether the calibrations are of one model.
    fn check_models(&mut self, config: &Config) {
        let calibrated = || calibrated(config);
        let Some((reference, first)) = calibrated().next() else { return };
        for (name, calibration) in calibrated() {
            let (kind, other) = (calibration.model.kind, first.model.kind);
            if kind != other {
                let percent = by_model(calibration, other, config.reading).map(|rate| format!("{:.0}%", 100.0 * rate));
                let effect = percent
                    .map_or_else(Text::default, |percent| text!("; what counts as 75% would be {percent} by {other}"));
                self.engine.clone_from(name);
                self.warn(text!(
                    "its calibration is of model {kind}, that of {reference} of {other}{}: calibrate the members \
                         in one run, with one `model`",
                    effect
                ));
            }
        }
    }

    /// Whether the members met opponents of different strength.
    fn check_fields(&mut self, config: &Config) {
        let calibrated = || calibrated(config);
        let at_zero = |c: &Calibration| c.logit(Reading::Field, 0.0, &Situation::default());
        let by_field = |a: &(&String, &Calibration), b: &(&String, &Calibration)| at_zero(a.1).total_cmp(&at_zero(b.1));
        let (Some(hardest), Some(easiest)) = (calibrated().min_by(by_field), calibrated().max_by(by_field)) else {
            return;
        };
        let apart = at_zero(easiest.1) - at_zero(hardest.1);
        if apart <= FIELDS_APART {
            return;
        }
        // the score of the other member that has the field win rate of an even position of this one
        let even = easiest.1.win_rate_in(Reading::Field, Score::Cp(0.0), &Situation::default());
        let worth = hardest.1.score(Reading::Field, even, &Situation::default());
        let worth = match worth.map(|cp| signed(cp, 0)) {
            Some(cp) => text!("up to {cp}"),
            None => text!("of any size"),
        };
        let (name, other) = (easiest.0, hardest.0);
        self.engine.clone_from(name);
        if config.reading == Reading::Field {
            self.warn(text!(
                "reading = \"field\": at equal positions it wins {apart:.2} logits more than {other}, since its \
                     opponents were weaker: its 0 beats {other}'s scores {}; leave the key out to read win rates \
                     between equals",
                worth
            ));
        } else {
            let text = text!(
                "it met weaker opponents than {other} did ({apart:.2} logits); win rates are read between equals, \
                     so this does not count (in their fields its 0 would beat {other}'s scores {})",
                worth
            );
            self.add(Grade::Good, text);
        }
    }

    /// Scores change with the search time, so a calibration is valid for the limit of its games.
    fn check_limit(&mut self, calibration: &Calibration, limit: Option<Limit>) {
        let made = calibration.provenance.as_ref().map(|p| p.time_controls.clone()).unwrap_or_default();
        let made_at = made.join(", ");
        let now = match limit {
            Some(limit) => Text::same(limit.to_string()),
            None => text!("the GUI's clock"),
        };
        let as_control = match limit {
            Some(Limit::Byoyomi(ms) | Limit::MoveTime(ms)) if ms.is_multiple_of(1000) => {
                Some(format!("0+{}", ms / 1000))
            }
            _ => None,
        };
        if made.is_empty() {
            self.warn(text!(
                "its calibration does not record the limit of its games; make sure that it was similar to {}, \
                     since scores change with time",
                now
            ));
        } else if limit.is_none() {
            let text = text!("its calibration was made at {made_at}; play at similar times");
            self.add(Grade::Good, text);
        } else if !made.iter().any(|m| *m == now.to_string() || Some(m) == as_control.as_ref()) {
            self.warn(text!(
                "its calibration was made at {made_at}, but its limit here is {now}; calibrate it at the limit that it \
                 plays with"
            ));
        }
    }

    fn check_move(&mut self, member: &Member, limit: Option<Limit>, board: &Board) {
        let result = member.result();
        let reported = std::iter::once((result.depth, result.nodes));
        limit.and_then(|limit| ignored(limit, reported)).into_iter().for_each(|text| self.error(text));
        match &result.best {
            None => self.error(text!("it did not answer a go command; give it another limit")),
            Some(best) if !board.is_legal(best) => {
                let best = shortened(best, 80);
                self.error(text!("it played '{best}', which is illegal"));
            }
            Some(best) => {
                let time = result.time.unwrap_or_default();
                let ms = time.as_millis();
                let text = match result.depth {
                    Some(depth) => text!("it plays {best} after {ms} ms, depth {depth}"),
                    None => text!("it plays {best} after {ms} ms"),
                };
                self.add(Grade::Good, text);
                if result.score.is_none() {
                    self.warn(text!("it gave no score; is this a book move?"));
                }
                if time > TRIAL.mul_f64(1.2) {
                    self.warn(text!("it took {ms} ms; with a faster clock it will be late"));
                }
            }
        }
    }
}
