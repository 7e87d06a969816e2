//! From the members' search results to one move.

use std::time::Duration;

use evalcurve_calibration::Score;
use evalcurve_calibration::types::Declared;
use evalcurve_engine::board::{Board, quoted};
use evalcurve_engine::clock::millis;
use evalcurve_engine::usi::Protocol;
use evalcurve_engine::{EngineConfig, SearchResult};
use evalcurve_rules::log::{
    Ballots, Header, LoggedDecision, LoggedLine, LoggedMove, LoggedScore, LoggedVote, MoveNames, plies_before,
};
use evalcurve_rules::{Decision, Explanation, Pending, Reason};
use evalcurve_words::language::Text;
use evalcurve_words::text;

use super::config::{Config, Late, Resign};

/// The numbers that the GUI gets for a move.
#[derive(Debug, Clone, Default)]
pub(super) struct MoveInfo {
    pub win_rate: Option<f64>,
    pub score: Option<Score>,
    /// Starts with the move.
    pub pv: Vec<String>,
    pub depth: Option<u32>,
}

/// What the council plays, and why.
#[derive(Debug, Clone)]
pub(super) struct Decided {
    /// The votes, the decision by the rule, and what is played: a move, `resign`, `win`, or the protocol's word for no
    /// move.
    pub line: LoggedLine,
    pub ponder: Option<String>,
    /// The explanation of the decision by the rule, if there is one.
    pub explanation: Option<Explanation>,
    /// The numbers of the vote that carries the decision, or of the first vote for the same move.
    pub chosen: MoveInfo,
    /// The other moves that were voted for, best first.
    pub others: Vec<MoveInfo>,
    /// The vote of each member, where it has one.
    pub members: Vec<Option<MoveInfo>>,
    pub nodes: u64,
    /// The time of all members.
    pub total: Duration,
    /// Why the move is not the one that the rule chose.
    pub override_reason: Option<Text>,
    /// Moves to search before the decision is final.
    pub needs_search: Vec<String>,
    /// The member that is to search on.
    pub hand_over: Option<usize>,
    /// How much is at stake, from 0 for a decided game to 1 between equals.
    pub stakes: f64,
}

/// A vote for the log. Only legal moves count. `fault` says why the member has no answer, or is a remark.
fn vote(
    config: &Config,
    board: &Board,
    engine: &EngineConfig,
    result: &SearchResult,
    fault: Option<String>,
) -> LoggedVote {
    let SearchResult { best, score, bound, declared, pv, list, judged, time, nodes, second, deeper, .. } = result;
    let late = config.late == Late::LastLine && best.is_none();
    let answer = if late { pv.first() } else { best.as_ref() };
    let (best, remark) = match answer.map(String::as_str) {
        Some(m) if board.is_legal(m) => (answer.cloned(), late.then(|| "the move of its last line".to_owned())),
        Some("win") => (None, Some("declares a win".to_owned())),
        Some("resign") => (None, Some("resigns".to_owned())),
        Some("" | "(none)" | "0000") => (None, Some("no move".to_owned())),
        Some(m) if board.leaves_out(m) => (None, Some(format!("{m}, which searchmoves leaves out"))),
        Some(m) => (None, Some(format!("illegal move {}", quoted(m)))),
        None => (None, None),
    };
    let counts = best.is_some();
    let moves = |list: &[(String, Score)]| -> Vec<LoggedMove> {
        let legal = list.iter().filter(|(m, _)| counts && board.is_legal(m));
        legal.map(|(m, s)| LoggedMove { best: m.clone(), score: LoggedScore(*s) }).collect()
    };
    let judged = if config.rule.needs().judged { moves(judged) } else { Vec::new() };
    let declared = declared.filter(|_| counts);
    LoggedVote {
        voter: engine.name.clone(),
        score: score.filter(|_| counts).map(LoggedScore),
        bound: bound.filter(|_| counts && score.is_some()),
        wdl: declared,
        win_rate: declared.filter(|_| engine.votes_as_declared).map(Declared::win_rate),
        list: moves(list),
        judged,
        time_ms: time.map(millis),
        cpu_ms: None,
        nodes: nodes.filter(|_| counts),
        second: *second,
        deeper: deeper.clone().filter(|deeper| counts && board.is_legal(&deeper.best)),
        best,
        fault: fault.or(remark),
    }
}

/// Decides, and completes `line`, which already describes the position. There is one result per member; `fault` gives
/// the fault of a member.
pub(super) fn verdict(
    config: &Config,
    header: &Header,
    board: &Board,
    results: &[SearchResult],
    fault: impl Fn(usize) -> Option<String>,
    mut line: LoggedLine,
) -> Decided {
    let votes = config.engines.iter().zip(results).enumerate();
    line.votes = votes.map(|(i, (engine, result))| vote(config, board, engine, result, fault(i))).collect();
    let mut verdict = Decided {
        line,
        ponder: None,
        explanation: None,
        chosen: MoveInfo { depth: results.iter().filter_map(|r| r.depth).max(), ..MoveInfo::default() },
        others: Vec::new(),
        members: Vec::new(),
        nodes: results.iter().map(SearchResult::all_nodes).fold(0, u64::saturating_add),
        total: results.iter().map(SearchResult::all_time).fold(Duration::ZERO, Duration::saturating_add),
        override_reason: None,
        needs_search: Vec::new(),
        hand_over: None,
        stakes: 1.0,
    };
    let ballots = Ballots::new(header, &verdict.line);
    if let Ok(decision) = ballots.decide(header, &header.rule) {
        let name = |m| ballots.names.name(m).to_owned();
        let voters = header.voters();
        verdict.explanation = Some(decision.explain(&voters, &ballots.votes(), name));
        verdict.needs_search = decision.needs_search.iter().map(|&m| name(m)).collect();
        verdict.hand_over = decision.hand_over;
        let rates: Vec<f64> = decision.win_rates.iter().copied().flatten().collect();
        if !rates.is_empty() {
            let rate = rates.iter().sum::<f64>() / rates.len() as f64;
            verdict.stakes = 4.0 * rate * (1.0 - rate);
        }
        let logged = LoggedDecision::new(&decision, &voters, name);
        verdict.line.played = name(decision.chosen);
        verdict.line.decision = Some(logged);
        add_move_infos(&mut verdict, &decision, results);
    }
    if let Some((played, reason)) = overridden(config, board, results, &verdict.line) {
        verdict.line.played = played;
        verdict.override_reason = Some(reason);
        verdict.ponder = None;
        if verdict.chosen.pv.first() != Some(&verdict.line.played) {
            verdict.chosen.pv.clear();
        }
    }
    verdict
}

/// Adds the numbers of the move that is played and of the other moves.
fn add_move_infos(verdict: &mut Decided, decision: &Decision, results: &[SearchResult]) {
    let LoggedLine { votes, played, .. } = &verdict.line;
    let of = |i: usize| -> Option<MoveInfo> {
        let (best, result) = (votes.get(i)?.best.clone()?, results.get(i)?);
        let pv = if result.pv.first() == Some(&best) { result.pv.clone() } else { vec![best] };
        let win_rate = decision.win_rates.get(i).copied().flatten();
        Some(MoveInfo { win_rate, score: result.score, pv, depth: result.depth })
    };
    let mut others: Vec<MoveInfo> = Vec::new();
    let members: Vec<Option<MoveInfo>> = (0..results.len()).map(of).collect();
    for info in members.iter().flatten().cloned() {
        let known = others.iter().any(|other| other.pv.first() == info.pv.first());
        if info.pv.first() != Some(played) && !known {
            others.push(info);
        }
    }
    let rank = |info: &MoveInfo| info.win_rate.unwrap_or(-1.0);
    others.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let mut candidates = decision.carried_by.into_iter().chain(decision.agreeing.iter().copied());
    let carrier = candidates.find_map(|i| Some((i, of(i).filter(|info| info.pv.first() == Some(played))?)));
    verdict.others = others;
    verdict.members = members;
    match carrier {
        Some((i, info)) => {
            verdict.ponder = results[i].ponder.clone();
            verdict.chosen = info;
        }
        None => verdict.chosen.pv = vec![played.clone()],
    }
}

/// What is played instead of the move of the rule, and why: a declaration, a resignation, or, if no member voted, the
/// first move of a last line or else any legal move.
fn overridden(config: &Config, board: &Board, results: &[SearchResult], line: &LoggedLine) -> Option<(String, Text)> {
    let answered = |word: &str| results.iter().filter(|r| r.best.as_deref() == Some(word)).count();
    if board.may_declare() && answered("win") > 0 {
        return Some(("win".to_owned(), text!("the declaration is valid by the 27-point rule")));
    }
    let no_move = || config.game.protocol().no_move().to_owned();
    let resigned = answered("resign");
    let voted = line.votes.iter().filter(|vote| vote.best.is_some()).count();
    let resigns = match config.resign {
        // UCI has no resignation: to a GUI, `(none)` is an illegal move
        _ if config.game.protocol() == Protocol::Uci => false,
        Resign::All => voted == 0 && resigned > 0,
        Resign::Majority => resigned > voted,
        Resign::Never => false,
    };
    if resigns {
        return Some((no_move(), text!("{resigned} of {} members resign", results.len())));
    }
    if !line.played.is_empty() {
        return None;
    }
    let last_line = results.iter().zip(&config.engines).find_map(|(result, engine)| {
        let first = result.pv.first().filter(|m| board.is_legal(m))?;
        Some((first.clone(), text!("no member voted; the first move of the last line of {}", engine.name)))
    });
    let legal = || Some((board.legal_moves().into_iter().next()?, text!("no member voted; a legal move")));
    last_line.or_else(legal).or_else(|| {
        Some((no_move(), if board.checks_moves() { text!("there is no legal move") } else { text!("no member voted") }))
    })
}

/// Whether the outstanding votes can no longer change the decision: a proven win outranks every rule, and otherwise the
/// rule decides.
pub(super) fn is_settled(config: &Config, header: &Header, line: &LoggedLine, outstanding: &[usize]) -> bool {
    let Some(decision) = &line.decision else { return false };
    let mut names = MoveNames::default();
    let chosen = names.number(&decision.best);
    let votes: Vec<_> = line.votes.iter().map(|v| v.best.as_deref().map(|best| names.number(best))).collect();
    let voters = config.voters();
    let carried_by = voters.iter().position(|v| Some(v.name) == decision.carried_by.as_deref());
    // a member that has not answered may still announce a mate, which outranks the rule
    let mates = header.mates.unwrap_or(header.rule.mates_by_default());
    let ply = Some(line.ply.saturating_add(plies_before(&line.position)));
    let pending = Pending { voters: &voters, votes: &votes, outstanding, chosen, carried_by, ply };
    decision.reason == Reason::ProvenWin || (!mates && header.rule.is_settled(&pending))
}
