//! A search of the council: from the members' results to the decision that the GUI gets.

use std::io::Write;
use std::time::Instant;

use evalcurve_engine::board::Board;
use evalcurve_engine::clock::millis;
use evalcurve_engine::usi::Protocol;
use evalcurve_engine::{SearchResult, Task};
use evalcurve_rules::Rule;
use evalcurve_rules::log::{LoggedLine, plies_before};
use evalcurve_words::text;

use super::decide::{self, Decided};
use super::follow_up::{self, FollowUp};
use super::output;
use super::session::{SHOW_EVERY, Session};

/// The state of a search.
pub(super) struct Search {
    pub(super) task: Task,
    pub(super) board: Board,
    /// When the main search or the current follow-up search must end; `None` for `infinite` and `ponder` before `stop`
    /// and `ponderhit`.
    pub(super) deadline: Option<Instant>,
    /// When the decision is due.
    pub(super) last_deadline: Option<Instant>,
    /// The GUI has sent `stop`.
    pub(super) stopped: bool,
    /// `stop` has been sent to all members.
    pub(super) members_stopped: bool,
    pub(super) shown: Instant,
    /// There is a line that has not been shown.
    pub(super) has_news: bool,
    /// A member has answered since the last check whether the decision is settled.
    pub(super) answered: bool,
    pub(super) faults: Vec<(usize, String)>,
    pub(super) checkmate: Option<String>,
    pub(super) follow_up: Option<FollowUp>,
    /// Nodes that all members may search for this move, by the budget.
    pub(super) nodes: Option<u64>,
}

/// The smallest share of the rest of a budget that is spent where more time is needed but little is at stake.
const LEAST_STAKES: f64 = 0.25;

/// How to count members that have not answered.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unanswered {
    /// By the configuration, as in the final decision.
    Configured,
    /// As votes for the first move of their last line.
    LastLine,
    /// As abstentions.
    Abstain,
}

impl<W: Write> Session<W> {
    /// Decides, stops the members or shows the state of the search, if one of these is due.
    pub(super) fn update_search(&mut self, now: Instant) {
        let Some(search) = &self.search else { return };
        let asked = self.waits(search);
        let open = search.task.go.is_open() && !search.stopped;
        let late = search.deadline.is_some_and(|d| now >= d);
        if late || (!asked && !open) {
            if !self.search_further(now) {
                self.decide(now);
            }
            return;
        }
        let running = !search.members_stopped;
        let due = self.stop_at(search).is_some_and(|at| now >= at);
        let main_search = search.follow_up.is_none();
        if running && (due || (!open && main_search && self.is_settled(now))) {
            self.stop_all(now);
        }
        let Some(search) = &self.search else { return };
        if search.has_news && main_search && now >= search.shown + SHOW_EVERY {
            self.show(now);
        }
    }

    /// Whether to wait for a member. One that has failed in this search, or is still on its way back from an earlier
    /// failure, costs the council its clock only as long as there is no vote.
    fn waits(&self, search: &Search) -> bool {
        let asked: Vec<usize> = (0..self.members.len()).filter(|&i| self.members[i].is_asked()).collect();
        let failed = |place: usize| {
            self.members[place].is_coming_back() || search.faults.iter().any(|(failed, _)| *failed == place)
        };
        if asked.is_empty() || asked.iter().any(|&place| !failed(place)) {
            return !asked.is_empty();
        }
        let is_vote = |best: Option<String>| best.is_some_and(|best| best == "win" || search.board.is_legal(&best));
        let voted = || self.members.iter().any(|member| is_vote(member.result().best));
        search.follow_up.is_none() && search.checkmate.is_none() && !voted()
    }

    /// Starts the next follow-up search if the rule needs one and there is time. Returns false if a decision is due.
    fn search_further(&mut self, now: Instant) -> bool {
        let Some(mut search) = self.search.take() else { return false };
        let follow_up = self.next_follow_up(&mut search, now);
        let tasks = follow_up.as_ref().map_or_else(Vec::new, |f| f.tasks(&search.task, now, search.last_deadline));
        if follow_up.is_some() {
            search.members_stopped = false;
            search.deadline = tasks.first().and_then(|(_, task)| task.budget).map(|b| now + b);
            if !tasks.is_empty() {
                // the members have answered, or are too late now
                self.members.iter_mut().for_each(|m| m.release(now));
            }
            for (by, task) in &tasks {
                self.members[*by].search(task, now);
            }
        }
        search.follow_up = follow_up.or(search.follow_up);
        self.search = Some(search);
        !tasks.is_empty()
    }

    /// The follow-up searches with the next move; `None` if there is none. A finished search stores its result in
    /// `search`.
    fn next_follow_up(&self, search: &mut Search, now: Instant) -> Option<FollowUp> {
        if search.stopped || search.task.go.mate.is_some() {
            return None;
        }
        if let Some(follow_up) = &mut search.follow_up {
            let goes_on = follow_up.add(|by| self.members[by].result());
            follow_up.leave(|by| self.members[by].is_gone());
            if goes_on || follow_up.deeper || self.config.rule != Rule::Budget {
                return goes_on.then(|| follow_up.clone());
            }
            return self.handed_over(search, now);
        }
        let judged = self.config.rule.needs().judged;
        let by = follow_up::searcher(&self.config).filter(|&by| !self.members[by].is_gone());
        if by.is_none() && !judged {
            return None;
        }
        let verdict = self.verdict(search, now, Unanswered::Configured);
        if verdict.override_reason.is_some() {
            return None;
        }
        let stakes = verdict.stakes.max(LEAST_STAKES);
        let (results, moves) = (self.results(&search.board), verdict.needs_search);
        if !judged {
            return FollowUp::new(results, [(by?, moves)]);
        }
        // every member that voted and whose judgement counts judges the moves that it has not scored
        let ply = search.board.ply().saturating_add(plies_before(&verdict.line.position));
        let counts: Vec<bool> =
            self.config.voters().into_iter().map(|voter| voter.at(Some(ply)).weight != Some(0.0)).collect();
        let unknown = |(by, result): (usize, &SearchResult)| {
            let best = result.best.as_deref().filter(|best| search.board.is_legal(best))?;
            let known = |m: &String| m == best || result.list.iter().any(|(listed, _)| listed == m);
            Some((by, moves.iter().filter(|m| !known(m)).cloned().collect()))
        };
        let voters = results.iter().enumerate().filter(|(by, _)| counts[*by] && !self.members[*by].is_gone());
        let searches: Vec<(usize, Vec<String>)> = voters.filter_map(unknown).collect();
        match FollowUp::new(results, searches) {
            Some(follow_up) if self.config.rule == Rule::Budget => {
                // half of what is left for the second round if one member may search on, by what is at stake
                let half = if self.config.budget.doubt > 0.0 { 0.5 } else { 1.0 };
                let searches = follow_up.searches();
                Some(self.within_budget(follow_up, search, now, verdict.nodes, half * stakes, searches))
            }
            None if self.config.rule == Rule::Budget => self.handed_over(search, now),
            follow_up => follow_up,
        }
    }

    /// The longer search of the member that a budget gives the rest to.
    fn handed_over(&self, search: &Search, now: Instant) -> Option<FollowUp> {
        let verdict = self.verdict(search, now, Unanswered::Configured);
        let by = verdict.hand_over.filter(|&by| verdict.override_reason.is_none() && !self.members[by].is_gone())?;
        let results = search.follow_up.as_ref().map_or_else(|| self.results(&search.board), |f| f.results.clone());
        let stakes = verdict.stakes.max(LEAST_STAKES);
        Some(self.within_budget(FollowUp::deeper(results, by), search, now, verdict.nodes, stakes, 1))
    }

    /// Follow-up searches that take a share of what is left of the time and of the nodes.
    fn within_budget(
        &self,
        mut follow_up: FollowUp,
        search: &Search,
        now: Instant,
        spent: u64,
        share: f64,
        searches: u64,
    ) -> FollowUp {
        follow_up.until = search.last_deadline.map(|due| now + due.saturating_duration_since(now).mul_f64(share));
        let each = |nodes: u64| ((nodes.saturating_sub(spent) as f64 * share) as u64 / searches).max(1);
        follow_up.nodes = search.nodes.map(each);
        follow_up
    }

    /// The results of all members, with their moves in the notation of the board.
    fn results(&self, board: &Board) -> Vec<SearchResult> {
        let mut results: Vec<SearchResult> = self.members.iter().map(|m| m.result()).collect();
        for result in &mut results {
            let listed = result.list.iter_mut().map(|(best, _)| best);
            for text in result.best.iter_mut().chain(result.pv.first_mut()).chain(listed) {
                if let Some(normalized) = board.normalized(text) {
                    *text = normalized;
                }
            }
        }
        results
    }

    fn is_settled(&mut self, now: Instant) -> bool {
        let Some(search) = &mut self.search else { return false };
        if !self.config.early_stop || !std::mem::take(&mut search.answered) {
            return false;
        }
        let Some(search) = &self.search else { return false };
        let outstanding: Vec<usize> = (0..self.members.len()).filter(|&i| self.members[i].is_asked()).collect();
        if outstanding.is_empty() || outstanding.len() == self.members.len() {
            return false;
        }
        let verdict = self.verdict(search, now, Unanswered::Abstain);
        decide::is_settled(&self.config, &self.header, &verdict.line, &outstanding)
    }

    /// The decision if it were made now.
    fn verdict(&self, search: &Search, now: Instant, unanswered: Unanswered) -> Decided {
        let mut results = search.follow_up.as_ref().map_or_else(|| self.results(&search.board), |f| f.results.clone());
        for result in results.iter_mut().filter(|result| result.best.is_none()) {
            match unanswered {
                Unanswered::Configured => {}
                Unanswered::LastLine => result.best = result.pv.first().cloned(),
                Unanswered::Abstain => *result = SearchResult::default(),
            }
        }
        let fault = |place: usize| {
            let last = search.faults.iter().rfind(|(p, _)| *p == place).map(|(_, fault)| fault.clone());
            last.or_else(|| results[place].best.is_none().then(|| "no answer in time".to_owned()))
        };
        let position = search.task.position.line(self.config.game.protocol());
        let line = LoggedLine {
            game_id: self.game_id(),
            ply: search.board.ply(),
            position: position.trim_start_matches("position ").to_owned(),
            side: search.board.side(),
            material: search.board.material(),
            time_ms: millis(now.saturating_duration_since(search.task.since)),
            votes: Vec::new(),
            searched: search.follow_up.as_ref().map(|f| f.searched.clone()).unwrap_or_default(),
            decision: None,
            played: String::new(),
            faults: Vec::new(),
        };
        let mut decided = decide::verdict(&self.config, &self.header, &search.board, &results, fault, line);
        if self.has_no_member() {
            decided.line.played = self.config.game.protocol().no_move().to_owned();
            decided.override_reason = Some(text!("no member could be started"));
        }
        decided
    }

    /// Shows the GUI the decision if it were made now.
    fn show(&mut self, now: Instant) {
        let Some(mut search) = self.search.take() else { return };
        search.has_news = false;
        search.shown = now;
        let verdict = self.verdict(&search, now, Unanswered::LastLine);
        let time = now.saturating_duration_since(search.task.since);
        for line in output::info_lines(&verdict, time, self.style).iter().rev() {
            self.write_line(line);
        }
        self.search = Some(search);
    }

    /// Decides with the results so far, sends the decision, and releases the members.
    pub(super) fn decide(&mut self, now: Instant) {
        let Some(search) = self.search.take() else { return };
        let mut verdict = self.verdict(&search, now, Unanswered::Configured);
        self.save(search.nodes, verdict.nodes);
        let mut after = search.board.clone();
        let is_move = after.play(&verdict.line.played);
        verdict.ponder = verdict.ponder.filter(|_| is_move).and_then(|ponder| after.normalized(&ponder));
        let mate_search = search.task.go.mate.is_some() && self.style.protocol == Protocol::Usi;
        let text = match (&search.checkmate, mate_search) {
            (Some(answer), true) => format!("checkmate {answer}\n"),
            (None, true) => "checkmate timeout\n".to_owned(),
            (_, false) => output::decision(&verdict, now.saturating_duration_since(search.task.since), self.style),
        };
        self.write(&text);
        self.members.iter_mut().for_each(|m| m.release(now));
        // after the end of a game, the GUI plays no decision
        if mate_search || self.game.over {
            return;
        }
        let fault =
            |(place, text): &(usize, String)| Some(format!("{}: {text}", self.config.engines.get(*place)?.name));
        let mut line = verdict.line;
        line.faults =
            search.faults.iter().filter_map(fault).chain(verdict.override_reason.map(|why| why.to_string())).collect();
        // an interrupted ponder answers a move that the opponent did not make, and an analysis plays no move
        if !search.task.go.is_open() {
            self.game.played(line.side, line.ply);
        }
        self.game.decided(line.side, line.ply);
        if self.log.is_some() {
            for (vote, spent) in line.votes.iter_mut().zip(self.meter.spent(&self.members).into_iter().flatten()) {
                vote.cpu_ms = Some(millis(spent));
            }
        }
        self.write_log(|log, header| log.write(header, &line));
    }
}
