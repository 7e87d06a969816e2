//! Replays of a vote log: by its own rule, by other rules, and without each member (Takeuchi 2018, sections 4.5 and 5).

mod cost;
pub mod regret;
mod result;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cost::Costs;

use super::decide::check;
use super::definition::DecisionRule;
use super::log::{Ballots, Header, Log, LoggedLine, LoggedVoter, vote_finder};
use super::options::{Stakes, TieRule};
use super::rules::Rule;
use regret::{Judged, Losses, alone, compared as compared_alone};
pub use result::{
    Adoption, Against, Agreement, Alone, Cost, Difference, Impossible, LeftOut, Logged, Regret, Replay, RuleReplay,
    Share,
};

#[derive(Debug, Clone, Default)]
pub struct ReplayOptions {
    /// The rules; empty for every rule that can work with the voters, or for `own` alone if there are any.
    pub rules: Vec<Rule>,
    /// Voters that are left out.
    pub without: Vec<String>,
    /// The voter whose win rates judge the chosen moves; it may be left out as a voter.
    pub reference: Option<String>,
    /// The tie rule; `None` for that of the log.
    pub tie: Option<TieRule>,
    /// Whether announced mates outrank the rule; `None` for the setting of the log.
    pub mates: Option<bool>,
    /// What the rule `budget` spends more time on; `None` for the numbers of the log.
    pub stakes: Option<Stakes>,
    /// Rules of the caller, replayed after `rules`.
    pub own: Vec<OwnRule>,
}

/// A rule of the caller, by its decisions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnRule {
    /// Its name in the result.
    pub name: String,
    /// The move it chooses for each decision of the log, in order; `None` where it decides nothing.
    pub moves: Vec<Option<String>>,
}

impl OwnRule {
    /// What a rule of your own chooses in a log.
    pub fn of(rule: &dyn DecisionRule, log: &Log) -> Self {
        let decide = |(_, header, line): (_, &Header, &LoggedLine)| {
            let ballots = Ballots::new(header, line);
            Some(ballots.names.name(ballots.decide(header, rule).ok()?.chosen).to_owned())
        };
        Self { name: rule.name().to_owned(), moves: log.entries().map(decide).collect() }
    }
}

/// What decides in a replay.
#[derive(Clone, Copy)]
enum By<'a> {
    Rule(Rule),
    Own(&'a OwnRule),
}

/// Why a log cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, evalcurve_words::language::ToText)]
#[non_exhaustive]
pub enum ReplayError {
    /// A name that is in no header.
    #[error("no voter of the log is called {name:?}; it has {known}")]
    NoSuchVoter {
        name: String,
        /// The names in the log.
        known: String,
    },
    /// No voter is left.
    #[error("every voter is left out; keep at least one")]
    NoVoters,
    /// Too few or too many members to learn weights of.
    #[error("{members} members are left beside the teacher; weights need from 2 to {MOST_COMPARED}")]
    Members { members: usize },
    /// Nothing to learn from.
    #[error(
        "nothing to learn from: {games} games, and {teacher} must judge two voted moves of some position, by win \
         rates; give a log of {least} games or more, by cross-examination, with calibrations"
    )]
    NoLesson {
        /// The reference.
        teacher: String,
        games: usize,
        /// How many are needed.
        least: usize,
    },
}

/// Most voters that are compared in pairs and left out one by one: that takes time by the square of their number.
pub const MOST_COMPARED: usize = 40;

/// Replays a log.
///
/// # Errors
/// If a voter is not in the log, or if no voter is left.
pub fn replay(log: &Log, options: &ReplayOptions) -> Result<Replay, ReplayError> {
    let voters = all_voters(log);
    let known: HashSet<&str> = voters.iter().map(String::as_str).collect();
    if let Some(name) = options.without.iter().chain(&options.reference).find(|name| !known.contains(name.as_str())) {
        return Err(ReplayError::NoSuchVoter { name: name.clone(), known: voters.join(", ") });
    }
    let without: HashSet<&str> = options.without.iter().map(String::as_str).collect();
    let remaining: Vec<&str> = voters.iter().map(String::as_str).filter(|v| !without.contains(v)).collect();
    if remaining.is_empty() && !voters.is_empty() {
        return Err(ReplayError::NoVoters);
    }
    let games: BTreeSet<&str> = log.entries().map(|(.., line)| line.game_id.as_str()).collect();
    let all = options.rules.is_empty() && options.own.is_empty();
    let wanted = if all { &Rule::ALL[..] } else { &options.rules };
    let (mut rules, mut impossible) = (Vec::new(), Vec::new());
    for &rule in wanted {
        match by_rule(log, By::Rule(rule), &without, options) {
            Ok(replayed) => rules.push((Some(rule), replayed)),
            Err(reason) => impossible.push(Impossible { rule: rule.as_str(), reason }),
        }
    }
    for own in &options.own {
        rules.extend(by_rule(log, By::Own(own), &without, options).map(|replayed| (None, replayed)));
    }
    let reference = options.reference.as_deref();
    let alone = reference.map_or_else(Vec::new, |reference| alone(log, &remaining, reference));
    let least = |a: &&(&str, Losses), b: &&(&str, Losses)| a.1.mean().total_cmp(&b.1.mean());
    if let Some((best, own)) = alone.iter().filter(|(_, losses)| !losses.by_line.is_empty()).min_by(least) {
        for (_, (replayed, losses)) in &mut rules {
            replayed.against_best = losses.against(best, own);
        }
    }
    let compared: &[&str] = if remaining.len() <= MOST_COMPARED { &remaining } else { &[] };
    let left_out = compared.iter().filter(|_| compared.len() >= 3).map(|name| {
        let without = without.iter().chain([name]).copied().collect();
        // the caller decided with all voters
        let of_library = rules.iter().filter_map(|(rule, _)| *rule);
        let each = of_library.filter_map(|rule| Some(by_rule(log, By::Rule(rule), &without, options).ok()?.0));
        LeftOut { voter: (*name).to_owned(), rules: each.collect() }
    });
    let left_out = left_out.collect();
    Ok(Replay {
        games: games.len(),
        decisions: log.decisions(),
        logged: logged(log),
        splits: shares(log.entries().filter_map(|(_, header, line)| split(&groups(header, line, &without)))),
        groups: shares(log.entries().filter_map(|(_, header, line)| named(&groups(header, line, &without)))),
        agreement: agreement(log, compared),
        rules: rules.into_iter().map(|(_, (replayed, _))| replayed).collect(),
        alone: compared_alone(&alone, reference.unwrap_or_default()),
        left_out,
        impossible,
        voters,
    })
}

/// The voters of all headers, in the order of their first.
pub fn all_voters(log: &Log) -> Vec<String> {
    let mut seen = HashSet::new();
    let all = log.sessions.iter().flat_map(|s| &s.header.voters);
    all.filter(|v| seen.insert(v.name.as_str())).map(|v| v.name.clone()).collect()
}

/// Compares the logged decisions with a replay by the logged rule.
fn logged(log: &Log) -> Logged {
    let mut logged = Logged::default();
    for ((session, number), header, line) in log.entries() {
        let ballots = Ballots::new(header, line);
        let decided = ballots.decide(header, &header.rule).ok();
        let replayed = decided.map(|d| ballots.names.name(d.chosen).to_owned());
        let logged_move = line.decision.as_ref().map(|d| d.best.clone());
        if logged_move.as_ref().is_some_and(|b| *b != line.played) {
            logged.played_otherwise += 1;
        }
        if logged_move == replayed {
            logged.same += 1;
        } else {
            let (game_id, ply) = (line.game_id.clone(), line.ply);
            logged.different.push(Difference { session, line: number, game_id, ply, logged: logged_move, replayed });
        }
    }
    logged
}

/// The voters of each move, in the order of the header.
fn groups<'a>(header: &'a Header, line: &'a LoggedLine, without: &HashSet<&str>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let find = vote_finder(&line.votes);
    for voter in header.voters.iter().filter(|v| !without.contains(v.name.as_str())) {
        let Some(best) = find(&voter.name).and_then(|v| v.best.as_deref()) else { continue };
        let place = *places.entry(best).or_insert(groups.len());
        if place == groups.len() {
            groups.push((best, Vec::new()));
        }
        groups[place].1.push(&voter.name);
    }
    groups
}

/// `2:1:1`: the sizes of the groups, the largest first.
fn split(groups: &[(&str, Vec<&str>)]) -> Option<String> {
    let mut sizes: Vec<usize> = groups.iter().map(|(_, names)| names.len()).collect();
    sizes.sort_by(|a, b| b.cmp(a));
    (!sizes.is_empty()).then(|| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(":"))
}

/// `YaneuraOu+nozomi, Gikou`.
fn named(groups: &[(&str, Vec<&str>)]) -> Option<String> {
    let mut sorted: Vec<&Vec<&str>> = groups.iter().map(|(_, names)| names).collect();
    // stable, so that equal sizes stay in the order of the voters
    sorted.sort_by_key(|names| std::cmp::Reverse(names.len()));
    (!sorted.is_empty()).then(|| sorted.iter().map(|names| names.join("+")).collect::<Vec<_>>().join(", "))
}

/// Counts by kind, most frequent first.
fn shares(kinds: impl Iterator<Item = String>) -> Vec<Share> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for kind in kinds {
        *counts.entry(kind).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let share = |(kind, decisions)| Share { kind, decisions, share: decisions as f64 / all as f64 };
    let mut shares: Vec<Share> = counts.into_iter().map(share).collect();
    shares.sort_by_key(|s| std::cmp::Reverse(s.decisions));
    shares
}

fn agreement(log: &Log, voters: &[&str]) -> Vec<Agreement> {
    let pairs = voters.iter().enumerate().flat_map(|(i, a)| voters[i + 1..].iter().map(move |b| (a, b)));
    let pair = |(a, b): (&&str, &&str)| Agreement { a: (*a).to_owned(), b: (*b).to_owned(), both: 0, same: 0 };
    let mut pairs: Vec<Agreement> = pairs.map(pair).collect();
    for (.., line) in log.entries() {
        let find = vote_finder(&line.votes);
        let moves: Vec<Option<&str>> =
            voters.iter().map(|voter| find(voter).and_then(|vote| vote.best.as_deref())).collect();
        let moves = moves.iter().enumerate().flat_map(|(i, a)| moves[i + 1..].iter().map(move |b| (*a, *b)));
        for (pair, (a, b)) in pairs.iter_mut().zip(moves) {
            pair.both += usize::from(a.is_some() && b.is_some());
            pair.same += usize::from(a.is_some() && a == b);
        }
    }
    pairs
}

/// The sums of a rule over the log.
struct Tally {
    result: RuleReplay,
    costs: Costs,
    /// The places of the voters in the adoption of the result.
    places: HashMap<String, usize>,
}

/// One rule over the log without some voters, or why it cannot work.
fn by_rule(
    log: &Log,
    by: By<'_>,
    without: &HashSet<&str>,
    options: &ReplayOptions,
) -> Result<(RuleReplay, Losses), String> {
    let mut own = if let By::Own(own) = by { own.moves.as_slice() } else { &[] }.iter();
    let mut tally = Tally {
        result: RuleReplay {
            rule: match by {
                By::Rule(rule) => rule.to_string(),
                By::Own(own) => own.name.clone(),
            },
            decided: 0,
            undecided: 0,
            as_logged: 0,
            ties: 0,
            unsearched: 0,
            cost: None,
            nobodys: 0,
            adoption: Vec::new(),
            regret: None,
            against_best: None,
        },
        costs: Costs::default(),
        places: HashMap::new(),
    };
    let mut losses = Losses::default();
    for (i, session) in log.sessions.iter().enumerate() {
        let mut header = session.header.clone();
        header.voters.retain(|v| !without.contains(v.name.as_str()));
        header.tie = options.tie.unwrap_or(header.tie);
        header.mates = options.mates.or(header.mates);
        header.stakes = options.stakes.unwrap_or(header.stakes);
        if header.voters.is_empty() {
            own.by_ref().take(session.decisions.len()).for_each(drop);
            continue;
        }
        if let By::Rule(rule) = by {
            check(&rule, &header.voters(), &header.options()).map_err(|e| e.to_string())?;
        }
        let places = if session.decisions.is_empty() { Vec::new() } else { tally.places(&header) };
        for (number, line) in &session.decisions {
            let chosen = match by {
                By::Rule(rule) => tally.line(&header, &places, line, rule),
                By::Own(_) => tally.own_line(&header, &places, line, own.next().and_then(Option::as_deref)),
            };
            let Some(chosen) = chosen else { continue };
            if let Some(reference) = &options.reference {
                let judged = Judged::new(&session.header, line, reference);
                losses.add((i, *number), &line.game_id, &judged, &chosen);
            }
        }
    }
    let mut result = tally.result;
    result.cost = tally.costs.mean();
    result.regret = options.reference.as_ref().map(|name| losses.regret(name));
    Ok((result, losses))
}

impl Tally {
    /// The places of the header's voters in the adoption of the result; new voters get one.
    fn places(&mut self, header: &Header) -> Vec<usize> {
        let adoption = &mut self.result.adoption;
        let place = |voter: &LoggedVoter| {
            *self.places.entry(voter.name.clone()).or_insert_with(|| {
                adoption.push(Adoption { voter: voter.name.clone(), voted: 0, adopted: 0, carried: 0 });
                adoption.len() - 1
            })
        };
        header.voters.iter().map(place).collect()
    }

    /// Adds a decision. Returns the chosen move, `None` if no voter voted.
    fn line(&mut self, header: &Header, places: &[usize], line: &LoggedLine, rule: Rule) -> Option<String> {
        let ballots = Ballots::new(header, line);
        let result = &mut self.result;
        let Ok(decision) = ballots.decide(header, &rule) else {
            result.undecided += 1;
            return None;
        };
        result.decided += 1;
        result.ties += usize::from(decision.tie.is_some());
        result.unsearched += usize::from(!decision.needs_search.is_empty() || decision.hand_over.is_some());
        self.costs.add(header, line, rule, &ballots, &decision);
        result.nobodys += usize::from(decision.agreeing.is_empty());
        decision.carried_by.iter().for_each(|&i| result.adoption[places[i]].carried += 1);
        let chosen = ballots.names.name(decision.chosen);
        self.adopt(header, places, line, chosen);
        Some(chosen.to_owned())
    }

    /// Adds a decision of the caller's rule.
    fn own_line(
        &mut self,
        header: &Header,
        places: &[usize],
        line: &LoggedLine,
        chosen: Option<&str>,
    ) -> Option<String> {
        let Some(chosen) = chosen else {
            self.result.undecided += 1;
            return None;
        };
        self.result.decided += 1;
        self.result.nobodys += usize::from(self.adopt(header, places, line, chosen) == 0);
        Some(chosen.to_owned())
    }

    /// Counts whose move was chosen. Returns the number of these voters.
    fn adopt(&mut self, header: &Header, places: &[usize], line: &LoggedLine, chosen: &str) -> usize {
        self.result.as_logged += usize::from(line.decision.as_ref().is_some_and(|d| d.best == chosen));
        let find = vote_finder(&line.votes);
        let mut agreeing = 0;
        for (voter, &place) in header.voters.iter().zip(places) {
            let Some(best) = find(&voter.name).and_then(|vote| vote.best.as_deref()) else { continue };
            let adoption = &mut self.result.adoption[place];
            adoption.voted += 1;
            adoption.adopted += usize::from(best == chosen);
            agreeing += usize::from(best == chosen);
        }
        agreeing
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Voter};
    use super::*;
    use evalcurve_calibration::{Calibration, FittedModel, Method};

    /// Logs with so many voters, ten in each council, and one decision of each council.
    fn joined(voters: usize) -> Log {
        let names: Vec<String> = (0..voters).map(|i| format!("v{i}")).collect();
        let mut log = Log::default();
        for council in names.chunks(10) {
            let voters: Vec<Voter<'_>> = council.iter().map(|name| Voter::member(name)).collect();
            let header = Header::new("made up", Rule::Majority, &voters, &Options::default());
            let votes: Vec<_> =
                council.iter().map(|name| format!("{{\"voter\":\"{name}\",\"move\":\"7g7f\",\"score\":1}}")).collect();
            let decision = "{\"move\":\"7g7f\",\"reason\":\"largest_value\",\"carried_by\":null}";
            let line = format!(
                "{{\"game_id\":\"{}\",\"ply\":1,\"position\":\"startpos\",\"side\":\"black\",\"time_ms\":1,\
                 \"votes\":[{}],\"decision\":{decision},\"played\":\"7g7f\"}}",
                council[0],
                votes.join(",")
            );
            log.append(Log::parse(format!("{}\n{line}\n", serde_json::to_string(&header).unwrap()).as_bytes()));
        }
        log
    }

    /// Ten decisions of so many voters, each with a move of its own, a list and scores of others.
    fn different(voters: usize) -> Log {
        let calibration = Calibration::from_model("E", Method::LeastSquares, FittedModel::sigmoid(0.002, 0.0));
        let names: Vec<String> = (0..voters).map(|i| format!("v{i}")).collect();
        let of = |name| Voter { calibration: Some(&calibration), ..Voter::member(name) };
        let of: Vec<Voter<'_>> = names.iter().map(|name| of(name)).collect();
        let mut text = serde_json::to_string(&Header::new("chess", Rule::Majority, &of, &Options::default())).unwrap();
        for ply in 1..=10 {
            let scored = |i: usize| format!("{{\"move\":\"m{i}\",\"score\":{}}}", 10 * (i % 7));
            let vote = |i: usize| {
                let (list, judged) = ([i, i + 1, i + 2].map(scored).join(","), [i + 1, 0, 1].map(scored).join(","));
                format!("{{\"voter\":\"v{i}\",\"move\":\"m{i}\",\"score\":1,\"list\":[{list}],\"judged\":[{judged}]}}")
            };
            text += &format!(
                "\n{{\"game_id\":\"g\",\"ply\":{ply},\"position\":\"startpos\",\"side\":\"white\",\"time_ms\":1,\
                 \"votes\":[{}],\"decision\":null,\"played\":\"m0\"}}",
                (0..voters).map(vote).collect::<Vec<_>>().join(",")
            );
        }
        Log::parse(text.as_bytes())
    }

    /// 4,000 voters of joined logs took 8.6 GB.
    #[test]
    fn many_voters_are_not_compared_in_pairs() {
        let replayed = |voters, without: &[&str]| {
            let without = without.iter().map(|&name| name.to_owned()).collect();
            let options = ReplayOptions { rules: vec![Rule::Majority], without, ..ReplayOptions::default() };
            replay(&joined(voters), &options).unwrap()
        };
        let most = replayed(MOST_COMPARED, &[]);
        assert_eq!((most.voters.len(), most.agreement.len(), most.left_out.len()), (40, 780, 40));
        let both = |replay: &Replay| replay.agreement.iter().map(|pair| pair.both).sum::<usize>();
        assert_eq!((both(&most), most.agreement[0].same, most.agreement[38].both), (4 * 45, 1, 0));
        let more = replayed(MOST_COMPARED + 10, &[]);
        assert_eq!((more.voters.len(), more.agreement.len(), more.left_out.len()), (50, 0, 0));
        assert_eq!((more.logged.same, more.rules[0].decided, more.rules[0].adoption.len()), (5, 5, 50));
        let without = ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"];
        assert_eq!(both(&replayed(MOST_COMPARED + 10, &without)), 4 * 45);
    }

    /// Decisions for the move of one voter, for a move of no voter, and none.
    #[test]
    fn rules_of_the_caller_are_counted() {
        let log = different(3);
        let moves = (0..10).map(|i| ["m1", "m1", "elsewhere"].get(i % 4).map(|&m| m.to_owned())).collect();
        let own = OwnRule { name: "mine".to_owned(), moves };
        let reference = Some("v0".to_owned());
        let found =
            replay(&log, &ReplayOptions { own: vec![own.clone()], reference, ..ReplayOptions::default() }).unwrap();
        let [rule] = &found.rules[..] else { panic!("{:?}", found.rules) };
        assert_eq!((rule.rule.as_str(), rule.decided, rule.undecided, rule.nobodys), ("mine", 8, 2, 2));
        let adopted = |i: usize| (rule.adoption[i].voted, rule.adoption[i].adopted);
        assert_eq!([adopted(0), adopted(1), adopted(2)], [(8, 0), (8, 6), (8, 0)]);
        let regret = rule.regret.as_ref().unwrap();
        assert_eq!((regret.judged, regret.missing), (6, 2));
        let rules = vec![Rule::Majority];
        let both = replay(&log, &ReplayOptions { own: vec![own], rules, ..ReplayOptions::default() }).unwrap();
        assert_eq!((both.rules.len(), both.left_out[0].rules.len()), (2, 1));
    }
}
