//! From the members' opinions to one move.

use super::board::Board;
use super::config::{Config, Late, Resign};
use super::member::Opinion;
use crate::usi::Protocol;
use evalcurve_core::calibration::Score;
use evalcurve_core::rule::log::{
    Ballots, Header, Line, LoggedDecision, LoggedMove, LoggedScore, LoggedVote, MoveNames,
};
use evalcurve_core::rule::{Decision, Explanation, Pending, Reason};

/// What one member brings to a decision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voice<'a> {
    pub name: &'a str,
    pub opinion: &'a Opinion,
    /// Why it has no answer, or what was odd.
    pub fault: Option<&'a str>,
}

/// The vote behind a move.
#[derive(Debug, Clone, Default)]
pub(super) struct Behind {
    pub win_rate: Option<f64>,
    pub score: Option<Score>,
    /// Begins with the move.
    pub pv: Vec<String>,
    pub depth: Option<u32>,
}

/// What the council plays, and why.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    /// The move, `resign`, `win`, or the protocol's word for none.
    pub played: String,
    pub ponder: Option<String>,
    /// The decision by the rule, where there was one.
    pub explanation: Option<Explanation>,
    pub decision: Option<LoggedDecision>,
    pub votes: Vec<LoggedVote>,
    /// What stands behind the move: the vote that carried it, or the first that agrees.
    pub behind: Behind,
    /// The other moves that were voted for, the best first.
    pub others: Vec<Behind>,
    pub nodes: u64,
    /// Why the move is not the rule's.
    pub way_out: Option<String>,
    /// Moves that someone should search before this is decided for good.
    pub needs_search: Vec<String>,
}

/// A vote as the log holds it: only what may be played counts.
fn vote(config: &Config, board: &Board, voice: &Voice<'_>) -> LoggedVote {
    let Opinion { best, score, bound, pv, list, time, .. } = voice.opinion;
    let legal = |m: &String| board.is_legal(m);
    let late = config.late == Late::LastLine && best.is_none();
    let answer = if late { pv.first().cloned() } else { best.clone() };
    let (best, mut fault) = match answer {
        Some(m) if legal(&m) => (Some(m), None),
        Some(m) if m == "win" => (None, Some("declares a win".to_owned())),
        Some(m) if m == "resign" => (None, Some("resigns".to_owned())),
        Some(m) if m.is_empty() || m == "(none)" || m == "0000" => (None, Some("no move".to_owned())),
        Some(m) => (None, Some(format!("illegal move {}", m.escape_debug()))),
        None => (None, None),
    };
    if late && best.is_some() {
        fault = Some("the move of its last line".to_owned());
    }
    let fault = voice.fault.map(str::to_owned).or(fault);
    let counts = best.is_some();
    let list = list.iter().filter(|(m, _)| counts && legal(m));
    LoggedVote {
        voter: voice.name.to_owned(),
        score: score.filter(|_| counts).map(LoggedScore),
        bound: bound.filter(|_| counts && score.is_some()),
        win_rate: None,
        list: list.map(|(m, s)| LoggedMove { best: m.clone(), score: LoggedScore(*s) }).collect(),
        time_ms: time.map(|t| t.as_millis() as u64),
        best,
        fault,
    }
}

/// Decides. `line` brings what belongs to the position; its votes and decision are not looked at.
pub(super) fn verdict(
    config: &Config,
    header: &Header,
    board: &Board,
    voices: &[Voice<'_>],
    line: Line,
) -> (Verdict, Line) {
    let mut line = line;
    line.votes = voices.iter().map(|voice| vote(config, board, voice)).collect();
    let said = |word: &str| voices.iter().filter(|v| v.opinion.best.as_deref() == Some(word)).count();
    let mut verdict = Verdict {
        played: String::new(),
        ponder: None,
        explanation: None,
        decision: None,
        votes: Vec::new(),
        behind: Behind { depth: voices.iter().filter_map(|v| v.opinion.depth).max(), ..Behind::default() },
        others: Vec::new(),
        nodes: voices.iter().filter_map(|v| v.opinion.nodes).sum(),
        way_out: None,
        needs_search: Vec::new(),
    };

    let ballots = Ballots::new(header, &line);
    if let Ok(decision) = ballots.decide(header, header.rule) {
        let name = |m| ballots.names.name(m).to_owned();
        let voters = header.voters();
        verdict.explanation = Some(decision.explain(&voters, &ballots.votes(), name));
        verdict.decision = Some(LoggedDecision::new(&decision, &voters, name));
        verdict.needs_search = decision.needs_search.iter().map(|&m| name(m)).collect();
        verdict.played = name(decision.chosen);
        behind(&mut verdict, &decision, voices, &line);
    }

    let resigned = said("resign");
    let voted = line.votes.iter().filter(|v| v.best.is_some()).count();
    let resigns = match config.resign {
        Resign::All => voted == 0 && resigned > 0,
        Resign::Majority => resigned > voted,
        Resign::Never => false,
    };
    if board.may_declare() && said("win") > 0 {
        verdict.played = "win".to_owned();
        verdict.way_out = Some("a declaration that holds by the 27-point rule".to_owned());
    } else if resigns {
        verdict.played = config.game.protocol().no_move().to_owned();
        verdict.way_out = Some(format!("{resigned} of {} members resign", voices.len()));
    } else if verdict.played.is_empty() {
        let (played, why) = way_out(config, board, voices);
        verdict.played = played;
        verdict.way_out = Some(why);
    }
    if verdict.way_out.is_some() {
        verdict.ponder = None;
        if verdict.behind.pv.first() != Some(&verdict.played) {
            verdict.behind.pv.clear();
        }
    }
    verdict.votes = line.votes.clone();
    line.decision = verdict.decision.clone();
    line.played = verdict.played.clone();
    (verdict, line)
}

/// The numbers behind a decision: those of the member that carried it, else of the first that agrees; and those behind the
/// other moves.
fn behind(verdict: &mut Verdict, decision: &Decision, voices: &[Voice<'_>], line: &Line) {
    let of = |i: usize| -> Option<(&str, Behind)> {
        let (best, voice) = (line.votes.get(i)?.best.as_deref()?, voices.get(i)?);
        let pv = match voice.opinion.pv.first().map(String::as_str) == Some(best) {
            true => voice.opinion.pv.clone(),
            false => vec![best.to_owned()],
        };
        let win_rate = decision.win_rates.get(i).copied().flatten();
        Some((best, Behind { win_rate, score: voice.opinion.score, pv, depth: voice.opinion.depth }))
    };
    let mut carrier = decision.carried_by.into_iter().chain(decision.agreeing.iter().copied());
    let carrier = carrier.find(|&i| of(i).is_some_and(|(m, _)| m == verdict.played));
    match carrier.and_then(|i| of(i).map(|(_, b)| (i, b))) {
        Some((i, behind)) => {
            verdict.ponder = voices.get(i).and_then(|v| v.opinion.ponder.clone());
            verdict.behind = behind;
        }
        None => verdict.behind.pv = vec![verdict.played.clone()],
    }
    for (best, other) in (0..voices.len()).filter_map(of) {
        let known = verdict.others.iter().any(|o| o.pv.first().map(String::as_str) == Some(best));
        if best != verdict.played && !known {
            verdict.others.push(other);
        }
    }
    let rank = |b: &Behind| b.win_rate.unwrap_or(-1.0);
    verdict.others.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
}

/// A move where nobody voted: the first of anybody's last line, else the first legal one; the word for none where there is
/// none.
fn way_out(config: &Config, board: &Board, voices: &[Voice<'_>]) -> (String, String) {
    let last = voices.iter().find_map(|v| {
        let m = v.opinion.pv.first().filter(|m| board.is_legal(m))?;
        Some((m.clone(), format!("nobody voted; the first move of the last line of {}", v.name)))
    });
    let first = || board.legal_moves().into_iter().next().map(|m| (m, "nobody voted; a legal move".to_owned()));
    last.or_else(first).unwrap_or_else(|| {
        let why = if board.checks_moves() { "there is no legal move" } else { "nobody voted" };
        let word = if config.game.protocol() == Protocol::Usi { "resign" } else { "(none)" };
        (word.to_owned(), why.to_owned())
    })
}

/// Whether the outstanding votes can no longer change the decision: a proven win outranks every rule, and otherwise the
/// rule decides.
pub(super) fn is_settled(config: &Config, header: &Header, verdict: &Verdict, outstanding: &[usize]) -> bool {
    let Some(decision) = &verdict.decision else { return false };
    let mut names = MoveNames::default();
    let chosen = names.number(&decision.best);
    let votes: Vec<_> = verdict.votes.iter().map(|v| v.best.as_deref().map(|best| names.number(best))).collect();
    let voters = config.voters();
    let carried_by = voters.iter().position(|v| Some(v.name) == decision.carried_by.as_deref());
    let pending = Pending { voters: &voters, votes: &votes, outstanding, chosen, carried_by };
    decision.reason == Reason::ProvenWin || header.rule.is_settled(&pending)
}
