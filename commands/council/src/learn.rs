//! Weights of the voters from the preferences of a teacher, judged on games that the weights have not seen.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use evalcurve_calibration::file::Tool;
use evalcurve_fit::fit::percentile_interval;
use evalcurve_fit::parallel;
use evalcurve_rules::log::{Ballots, Header, Log};
use evalcurve_rules::replay::regret::{Judged, Losses, alone, compared};
use evalcurve_rules::replay::{Against, Alone, MOST_COMPARED, Regret, ReplayError, all_voters};
use evalcurve_rules::weights::{FORMAT, Learning, MemberWeight, UNIT, VERSION, Weights};
use evalcurve_rules::{PhaseWeight, Rule, check};
use evalcurve_words::random;
use serde::Serialize;

use crate::preference::{Pairs, parts, with_mean_1};

/// Parts of the games: the weights of each part are learned on the others.
const PARTS: usize = 10;

/// Draws of games for the intervals of weights.
const DRAWS: u64 = 200;

#[derive(Debug, Clone, Default)]
pub struct LearnOptions {
    /// The voter whose preferences are learned. It has no weight itself.
    pub teacher: String,
    /// Other voters that are left out.
    pub without: Vec<String>,
    /// The rule that the weights are for; `None` for cross-examination.
    pub rule: Option<Rule>,
    /// The first plies of later phases of a game, which get weights of their own.
    pub phases: Vec<u32>,
    /// The seed of the parts of cross-validations and of the draws of games.
    pub seed: u64,
}

/// Learned weights, and what they gain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Learned {
    /// The file.
    pub weights: Weights,
    /// What became of each member, in the order of the weights.
    pub members: Vec<LearnedMember>,
    /// The rules that use weights.
    pub rules: Vec<LearnedRule>,
    /// The best of the members' moves in each position.
    pub best_vote: Regret,
}

/// What one member is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearnedMember {
    /// The regret of its own moves.
    pub alone: Alone,
    /// The regret of the rule without its moves and judgements minus that with them, both by learned weights;
    /// `null` for fewer than three members. Above 0 if the member adds something.
    pub without: Option<Against>,
}

/// A rule with equal weights and with weights learned for it, over the same decisions. The weights are those of other
/// games.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearnedRule {
    pub rule: Rule,
    /// The regret with equal weights.
    pub equal: Regret,
    /// The regret with learned weights.
    pub learned: Regret,
    /// Learned minus equal weights.
    pub against_equal: Option<Against>,
    /// Learned weights minus the moves of the member that is best alone.
    pub against_best: Option<Against>,
}

/// Learns weights from a log in which the teacher has judged moves, and judges them.
///
/// # Errors
/// If a voter is not in the log, if fewer than two or more than [`MOST_COMPARED`] members are left, or if there are too
/// few games or no pair of moves to learn from.
pub fn learn(log: &Log, options: &LearnOptions) -> Result<Learned, ReplayError> {
    let known = all_voters(log);
    let named = std::iter::once(&options.teacher).chain(&options.without);
    if let Some(name) = named.into_iter().find(|name| !known.contains(name)) {
        return Err(ReplayError::NoSuchVoter { name: name.clone(), known: known.join(", ") });
    }
    let members: Vec<&str> = known.iter().map(String::as_str).collect();
    let members: Vec<&str> =
        members.into_iter().filter(|m| *m != options.teacher && !options.without.iter().any(|out| out == m)).collect();
    if members.len() < 2 || members.len() > MOST_COMPARED {
        return Err(ReplayError::Members { members: members.len() });
    }
    let rule = options.rule.unwrap_or(Rule::CrossExamination);
    let Some(course) = Course::new(log, &members, rule, options) else {
        let games = log.entries().map(|(.., line)| &line.game_id).collect::<BTreeSet<_>>().len();
        return Err(ReplayError::NoLesson { teacher: options.teacher.clone(), games, least: PARTS });
    };
    let alone = alone(log, &members, &options.teacher);
    let best =
        alone.iter().filter(|(_, losses)| !losses.by_line.is_empty()).min_by(|a, b| a.1.mean().total_cmp(&b.1.mean()));
    let rules = Rule::weighed().filter_map(|rule| {
        let course = Course::new(log, &members, rule, options)?;
        let (equal, learned) = (course.equal()?, course.unseen()?);
        Some(LearnedRule {
            rule,
            against_equal: learned.against("equal weights", &equal),
            against_best: best.and_then(|(name, own)| learned.against(name, own)),
            equal: equal.regret(&options.teacher),
            learned: learned.regret(&options.teacher),
        })
    });
    let rules = rules.collect();
    let with_all = course.unseen();
    let without = parallel::map(if members.len() >= 3 { members.len() } else { 0 }, |out| {
        let fewer: Vec<&str> = members.iter().enumerate().filter(|(i, _)| *i != out).map(|(_, name)| *name).collect();
        course.without(&fewer, options)?.unseen()?.against(members[out], with_all.as_ref()?)
    });
    let intervals = course.intervals(options.seed);
    let best_vote = course.lesson.best_votes().regret(&options.teacher);
    let alone = compared(&alone, &options.teacher).into_iter();
    let without = without.into_iter().chain(std::iter::repeat(None));
    Ok(Learned {
        members: alone.zip(without).map(|(alone, without)| LearnedMember { alone, without }).collect(),
        rules,
        best_vote,
        weights: Weights {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: Tool::current(),
            game: log.sessions.first().map_or_else(String::new, |session| session.header.game.clone()),
            unit: UNIT.to_owned(),
            rule,
            teacher: options.teacher.clone(),
            votes: course.lesson.learning(),
            seed: options.seed,
            shrinkage: Some(course.whole.shrinkage).filter(|strength| strength.is_finite()),
            members: course.whole.members(&members, &intervals),
        },
    })
}

/// The weights of some members for one rule.
struct Course<'a> {
    lesson: Lesson<'a>,
    /// The part of each game.
    part: Vec<usize>,
    /// By part: the weights by the games of the other parts.
    fits: Vec<Fitted>,
    /// The weights by all games.
    whole: Fitted,
}

impl<'a> Course<'a> {
    /// Shrinkage is chosen anew for each part, so that no choice has seen the part. `None` if there is too little.
    fn new(log: &'a Log, members: &[&'a str], rule: Rule, options: &'a LearnOptions) -> Option<Self> {
        let lesson = Lesson::new(log, &options.teacher, members, rule);
        if lesson.games < PARTS || lesson.pairs.len() == 0 {
            return None;
        }
        let part = parts(lesson.games, PARTS, options.seed);
        let mut fits = parallel::map(PARTS + 1, |held| {
            let (rows, pairs) = (lesson.rows(|game| part[game] != held), &lesson.pairs);
            let shrinkage = pairs.shrinkage(&rows, &vec![1.0; pairs.judges], lesson.games, options.seed);
            Fitted::new(pairs, &rows, &options.phases, shrinkage)
        });
        let whole = fits.pop()?;
        Some(Self { lesson, part, fits, whole })
    }

    /// The same with fewer members, drawn as strongly towards equal weights.
    fn without(&self, members: &[&'a str], options: &LearnOptions) -> Option<Self> {
        let Lesson { log, teacher, rule, .. } = self.lesson;
        let lesson = Lesson::new(log, teacher, members, rule);
        let fit = |held: usize, shrinkage| {
            let rows = lesson.rows(|game| self.part[game] != held);
            Fitted::new(&lesson.pairs, &rows, &options.phases, shrinkage)
        };
        let fits = self.fits.iter().enumerate().map(|(held, fitted)| fit(held, fitted.shrinkage)).collect();
        let whole = fit(PARTS, self.whole.shrinkage);
        Some(Self { lesson, part: self.part.clone(), fits, whole })
    }

    /// The losses of each game by weights of the other parts.
    fn unseen(&self) -> Option<Losses> {
        self.lesson.losses(|game| &self.fits[self.part[game]])
    }

    fn equal(&self) -> Option<Losses> {
        let phases = vec![vec![1.0; self.lesson.members.len()]];
        let equal = Fitted { shrinkage: f64::INFINITY, from: Vec::new(), phases };
        self.lesson.losses(|_| &equal)
    }

    /// The 95% interval of each member's weight before the first phase, by draws of games.
    fn intervals(&self, seed: u64) -> Vec<Option<[f64; 2]>> {
        let Lesson { pairs, games, members, .. } = &self.lesson;
        let mut of_game: Vec<Vec<usize>> = vec![Vec::new(); *games];
        (0..pairs.len()).for_each(|row| of_game[pairs.games[row]].push(row));
        let drawn = parallel::map(DRAWS as usize, |draw| {
            let game = |i: usize| random::below(*games as u64, &[seed, draw as u64, i as u64]) as usize;
            let rows: Vec<usize> = (0..*games).flat_map(|i| of_game[game(i)].iter().copied()).collect();
            Fitted::new(pairs, &rows, &self.whole.from, self.whole.shrinkage).phases.swap_remove(0)
        });
        let of = |i: usize| percentile_interval(drawn.iter().map(|w| w[i]).collect(), 0.95).map(|(a, b)| [a, b]);
        (0..members.len()).map(of).collect()
    }
}

/// Fitted weights.
struct Fitted {
    shrinkage: f64,
    /// The first plies of the later phases.
    from: Vec<u32>,
    /// By phase and member.
    phases: Vec<Vec<f64>>,
}

impl Fitted {
    /// The weights of a phase are drawn towards those of the whole game.
    fn new(pairs: &Pairs, rows: &[usize], from: &[u32], shrinkage: f64) -> Self {
        let equal = vec![1.0; pairs.judges];
        let whole = with_mean_1(&pairs.fit(rows, &equal, shrinkage), &equal);
        let of = |place: usize| {
            let last = from.get(place).copied().unwrap_or(u32::MAX);
            let first = place.checked_sub(1).map_or(0, |before| from[before]);
            let rows: Vec<usize> =
                rows.iter().copied().filter(|&row| (first..last).contains(&pairs.plies[row])).collect();
            with_mean_1(&pairs.fit(&rows, &whole, shrinkage), &whole)
        };
        let phases = if from.is_empty() { vec![whole] } else { (0..=from.len()).map(of).collect() };
        Self { shrinkage, from: from.to_vec(), phases }
    }

    /// The weights of a member after the first phase.
    fn later(&self, member: usize) -> Vec<PhaseWeight> {
        let later = self.phases.iter().skip(1).zip(&self.from);
        later.map(|(weights, &from_ply)| PhaseWeight { from_ply, weight: rounded(weights[member]) }).collect()
    }

    fn members(&self, names: &[&str], intervals: &[Option<[f64; 2]>]) -> Vec<MemberWeight> {
        let member = |(i, name): (usize, &&str)| MemberWeight {
            name: (*name).to_owned(),
            weight: rounded(self.phases[0][i]),
            interval: intervals[i].map(|ends| ends.map(rounded)),
            phases: self.later(i),
        };
        names.iter().enumerate().map(member).collect()
    }
}

/// Four digits are more than the votes know.
fn rounded(weight: f64) -> f64 {
    (weight * 1e4).round() / 1e4
}

/// A log as learning needs it.
struct Lesson<'a> {
    log: &'a Log,
    teacher: &'a str,
    members: Vec<&'a str>,
    rule: Rule,
    pairs: Pairs,
    /// The number of each game.
    numbers: HashMap<&'a str, usize>,
    games: usize,
    digest: u64,
}

impl<'a> Lesson<'a> {
    fn new(log: &'a Log, teacher: &'a str, members: &[&'a str], rule: Rule) -> Self {
        // in the order of their names, so that the order of the logs does not matter
        let ids: BTreeSet<&str> = log.entries().map(|(.., line)| line.game_id.as_str()).collect();
        let numbers: HashMap<&str, usize> = ids.into_iter().enumerate().map(|(number, id)| (id, number)).collect();
        let mut pairs = Pairs { judges: members.len(), ..Pairs::default() };
        let mut digest = random::GOLDEN;
        for (_, header, line) in log.entries() {
            let judged = Judged::new(header, line, teacher);
            let header = restricted(header, members);
            let ballots = Ballots::new(&header, line);
            let (moves, judges) = ballots.judgements(&header, rule);
            let place = |i: usize| members.iter().position(|m| *m == header.voters[i].name);
            let judges: Vec<(usize, Vec<f64>)> =
                judges.into_iter().filter_map(|(i, logits)| Some((place(i)?, logits))).collect();
            let rates: Vec<Option<f64>> = moves.iter().map(|&m| judged.rate(ballots.names.name(m))).collect();
            for (a, b) in (0..moves.len()).flat_map(|a| (0..moves.len()).map(move |b| (a, b))) {
                let (Some(better), Some(worse)) = (rates[a], rates[b]) else { continue };
                if better <= worse {
                    continue;
                }
                let mut differences = vec![0.0; members.len()];
                judges.iter().for_each(|(judge, logits)| differences[*judge] = logits[a] - logits[b]);
                for number in differences.iter().chain([&better, &worse]) {
                    digest = random::bits(&[digest, number.to_bits()]);
                }
                pairs.differences.extend(differences);
                pairs.weights.push(better - worse);
                pairs.games.push(numbers.get(line.game_id.as_str()).copied().unwrap_or_default());
                pairs.plies.push(ballots.ply());
            }
        }
        Self { log, teacher, members: members.to_vec(), rule, pairs, games: numbers.len(), numbers, digest }
    }

    fn learning(&self) -> Learning {
        Learning {
            sources: Vec::new(),
            digest: format!("{:016x}", self.digest),
            games: self.games,
            decisions: self.log.decisions(),
            pairs: self.pairs.len(),
        }
    }

    /// The pairs of some games.
    fn rows(&self, of: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.pairs.len()).filter(|&row| of(self.pairs.games[row])).collect()
    }

    /// The losses of the rule; `weights` gives the weights for each game. `None` if it cannot work with the members.
    fn losses<'f>(&self, weights: impl Fn(usize) -> &'f Fitted) -> Option<Losses> {
        let mut losses = Losses::default();
        for (at, of_log, line) in self.log.entries() {
            let mut header = restricted(of_log, &self.members);
            let fitted = weights(self.numbers.get(line.game_id.as_str()).copied().unwrap_or_default());
            for voter in &mut header.voters {
                let place = self.members.iter().position(|m| *m == voter.name)?;
                voter.weight = Some(rounded(fitted.phases[0][place]));
                voter.phases = fitted.later(place);
            }
            check(&self.rule, &header.voters(), &header.options()).ok()?;
            let ballots = Ballots::new(&header, line);
            let Ok(decision) = ballots.decide(&header, &self.rule) else { continue };
            let judged = Judged::new(of_log, line, self.teacher);
            losses.add(at, &line.game_id, &judged, ballots.names.name(decision.chosen));
        }
        Some(losses)
    }

    /// The losses of the best of the members' moves in each position.
    fn best_votes(&self) -> Losses {
        let mut losses = Losses::default();
        for (at, header, line) in self.log.entries() {
            let judged = Judged::new(header, line, self.teacher);
            let votes = line.votes.iter().filter(|vote| self.members.contains(&vote.voter.as_str()));
            let moves: BTreeSet<&str> = votes.filter_map(|vote| vote.best.as_deref()).collect();
            if let Some(best) =
                moves.into_iter().max_by(|a, b| judged.rate(a).partial_cmp(&judged.rate(b)).unwrap_or(Ordering::Equal))
            {
                losses.add(at, &line.game_id, &judged, best);
            }
        }
        losses
    }
}

/// A header with these voters only.
fn restricted(header: &Header, members: &[&str]) -> Header {
    let voters = header.voters.iter().filter(|voter| members.contains(&voter.name.as_str())).cloned().collect();
    Header { voters, ..header.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Color;
    use evalcurve_calibration::{Calibration, FittedModel, Score};
    use evalcurve_fit::fit::Method;
    use evalcurve_rules::log::LoggedLine;
    use evalcurve_rules::log::{LoggedMove, LoggedScore, LoggedVote};
    use evalcurve_rules::{Options, Voter};

    /// Two positions of each game with three moves, which members see with noise, in logits, and the teacher as they
    /// are. Every member judges every voted move.
    fn known(games: u64, noise: &[f64]) -> Log {
        let c = Calibration::from_model("E", Method::LeastSquares, FittedModel::sigmoid(1.0 / 600.0, 0.0));
        let names: Vec<String> = (0..noise.len()).map(|i| format!("m{i}")).chain(["teacher".to_owned()]).collect();
        let voters: Vec<Voter<'_>> =
            names.iter().map(|n| Voter { calibration: Some(&c), ..Voter::member(n) }).collect();
        let header = Header::new("made up", Rule::CrossExamination, &voters, &Options::default());
        let normal = |keys: &[u64]| (0..12).map(|k| random::unit(&[&[3, k], keys].concat())).sum::<f64>() - 6.0;
        let line = |at: u64| {
            let worth = |m: u64| 0.7 * normal(&[at, m, 99]);
            let seen = |v: usize, m: u64| worth(m) + noise.get(v).map_or(0.0, |s| s * normal(&[at, m, v as u64]));
            let votes = (0..names.len()).map(|v| {
                let scores: Vec<(u64, f64)> = (0..3).map(|m| (m, 600.0 * seen(v, m))).collect();
                let (best, score) = scores.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a }).unwrap();
                let named = |&(m, score): &(u64, f64)| LoggedMove {
                    best: format!("move{m}"),
                    score: LoggedScore(Score::Cp(score)),
                };
                LoggedVote {
                    voter: names[v].clone(),
                    best: Some(format!("move{best}")),
                    score: Some(LoggedScore(Score::Cp(score))),
                    judged: scores.iter().map(named).collect(),
                    ..LoggedVote::default()
                }
            });
            LoggedLine {
                game_id: format!("g{}", at / 2),
                ply: 20 + 40 * (at % 2) as u32,
                position: String::new(),
                side: Color::Black,
                material: None,
                time_ms: 0,
                votes: votes.collect(),
                searched: Vec::new(),
                decision: None,
                played: String::new(),
                faults: Vec::new(),
            }
        };
        let mut text = serde_json::to_string(&header).unwrap();
        (0..2 * games).for_each(|at| text += &format!("\n{}", serde_json::to_string(&line(at)).unwrap()));
        Log::parse(text.as_bytes())
    }

    fn learned(log: &Log, without: &[&str], phases: &[u32]) -> Learned {
        let without = without.iter().map(|&name| name.to_owned()).collect();
        learn(
            log,
            &LearnOptions { teacher: "teacher".to_owned(), without, rule: None, phases: phases.to_vec(), seed: 1 },
        )
        .unwrap()
    }

    fn mean(against: &Option<Against>) -> (f64, f64) {
        let against = against.as_ref().unwrap();
        (against.mean, 1.96 * against.standard_error.unwrap())
    }

    #[test]
    fn a_useless_member_is_found_out() {
        let log = known(400, &[0.4, 0.5, 4.0]);
        assert!(log.problems.is_empty(), "{:?}", log.problems);
        let found = learned(&log, &[], &[]);
        let weight = |name: &str| found.weights.of(name).unwrap().weight;
        assert!(weight("m2") < 0.15 && weight("m0") > 1.0 && weight("m1") > 0.8, "{:?}", found.weights);
        let cross = &found.rules[0];
        assert_eq!(
            (cross.rule, found.weights.votes.games, found.weights.votes.decisions),
            (Rule::CrossExamination, 400, 800)
        );
        let (equal, best) = (mean(&cross.against_equal), mean(&cross.against_best));
        assert!(equal.0 < -equal.1 && best.0 < 0.0, "{equal:?} {best:?}");
        let useless = mean(&found.members[2].without);
        assert!(useless.0 < useless.1 && mean(&found.members[0].without).0 > 0.0, "{:?}", found.members);
        assert!(found.best_vote.mean < cross.learned.mean);
        // weights for votes follow one good member where two others err together
        assert_eq!(found.rules.iter().map(|rule| rule.rule).collect::<Vec<_>>(), Rule::weighed().collect::<Vec<_>>());
        assert!(found.rules.iter().all(|rule| mean(&rule.against_best).0 < 0.01), "{:?}", found.rules);
        // the weights of the file give the decisions that the report judges in sample
        let interval = found.weights.of("m2").unwrap().interval.unwrap();
        assert!(interval[0] <= weight("m2") && weight("m2") <= interval[1], "{interval:?}");
    }

    #[test]
    fn what_is_learned_does_not_depend_on_order() {
        let log = known(40, &[0.4, 0.8]);
        let found = learned(&log, &[], &[50]);
        let mut turned = log.clone();
        turned.sessions[0].decisions.reverse();
        let of = |log: &Log| learned(log, &[], &[50]).weights.members;
        assert_eq!(of(&turned), of(&log));
        assert_eq!(found.weights.members[0].phases.len(), 1);
        assert_eq!((found.weights.members[0].phases[0].from_ply, found.members[0].without.is_some()), (50, false));
    }

    #[test]
    fn what_cannot_be_learned_is_said() {
        let log = known(20, &[0.4, 0.8]);
        let error = |log: &Log, teacher: &str, without: &[&str]| {
            let (teacher, without) = (teacher.to_owned(), without.iter().map(|&n| n.to_owned()).collect());
            learn(log, &LearnOptions { teacher, without, ..LearnOptions::default() }).unwrap_err().to_string()
        };
        assert!(error(&log, "nobody", &[]).contains("no voter of the log is called \"nobody\""));
        assert!(error(&log, "teacher", &["m0"]).contains("1 members are left"));
        assert!(error(&known(9, &[0.4, 0.8]), "teacher", &[]).contains("9 games"));
    }
}
