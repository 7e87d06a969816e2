//! Collects the `info` lines of a search into a search result.

use std::collections::BTreeMap;

use evalcurve_calibration::Score;

use super::task::SearchResult;
use crate::usi::{BestMove, Info};

/// The latest lines of a search, by rank.
#[derive(Debug, Default)]
pub struct InfoLines {
    ranks: BTreeMap<u32, Rank>,
    depth: Option<u32>,
    seldepth: Option<u32>,
    nodes: Option<u64>,
    nps: Option<u64>,
}

#[derive(Debug, Default)]
struct Rank {
    exact: Option<Info>,
    bound: Option<Info>,
}

/// Higher ranks are ignored: no position has more legal moves.
const MOST_RANKS: u32 = 600;

impl InfoLines {
    /// Adds a line; returns whether it has a score.
    pub fn add(&mut self, mut info: Info, mate_threshold_cp: Option<f64>) -> bool {
        self.depth = info.depth.or(self.depth);
        self.seldepth = info.seldepth.or(self.seldepth);
        self.nodes = info.nodes.or(self.nodes);
        self.nps = info.nps.or(self.nps);
        let rank = info.multipv.unwrap_or(1);
        if info.score.is_none() || !(1..=MOST_RANKS).contains(&rank) {
            return false;
        }
        if let (Some(Score::Cp(cp)), Some(threshold)) = (info.score, mate_threshold_cp)
            && cp.abs() >= threshold
        {
            info.score = Some(Score::Mate { wins: cp > 0.0, plies: None });
        }
        let rank = self.ranks.entry(rank).or_default();
        let line = if info.bound.is_none() { &mut rank.exact } else { &mut rank.bound };
        *line = Some(info);
        true
    }

    /// The first move of each rank with its score and line: the exact one, or the bound if there is no exact one.
    pub fn best_known(&self) -> impl Iterator<Item = (&String, Score, &Info)> {
        let lines = self.ranks.values().filter_map(|rank| rank.exact.as_ref().or(rank.bound.as_ref()));
        lines.filter_map(|line| Some((line.pv.first()?, line.score?, line)))
    }

    /// The search result with an answer, or before there is one.
    ///
    /// The score comes from the latest exact line of the answer; otherwise from the latest exact line of the best rank,
    /// whatever its move; otherwise from a bound.
    pub fn result(&self, answer: Option<&BestMove>) -> SearchResult {
        let of_answer = |line: &&Info| answer.is_some_and(|answer| line.pv.first() == Some(&answer.best));
        let exact = || self.ranks.values().filter_map(|rank| rank.exact.as_ref());
        let bounds = || self.ranks.values().filter_map(|rank| rank.bound.as_ref());
        let line = exact()
            .find(of_answer)
            .or_else(|| exact().next())
            .or_else(|| bounds().find(of_answer))
            .or_else(|| bounds().next());
        let list = self.best_known().map(|(best, score, _)| (best.clone(), score));
        // the principal variation must start with the answer
        let pv =
            line.filter(|line| answer.is_none() || of_answer(line)).map(|line| line.pv.clone()).unwrap_or_default();
        SearchResult {
            best: answer.map(|answer| answer.best.clone()),
            ponder: answer.and_then(|answer| answer.ponder.clone()).or_else(|| pv.get(1).cloned()),
            score: line.and_then(|line| line.score),
            bound: line.and_then(|line| line.bound),
            declared: line.and_then(|line| line.declared),
            pv,
            list: if self.ranks.len() > 1 { list.collect() } else { Vec::new() },
            depth: self.depth,
            seldepth: self.seldepth,
            nodes: self.nodes,
            nps: self.nps,
            ..SearchResult::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usi::Protocol;
    use evalcurve_rules::Bound;

    fn lines(texts: &[&str]) -> InfoLines {
        let mut lines = InfoLines::default();
        for text in texts {
            lines.add(Info::parse(text, Protocol::Usi), Some(30_000.0));
        }
        lines
    }

    fn best(text: &str) -> BestMove {
        BestMove { best: text.to_owned(), ponder: None }
    }

    #[test]
    fn an_exact_line_outranks_a_later_bound() {
        let l = lines(&["depth 5 score cp 30 pv 7g7f 3c3d", "depth 6 score cp 80 upperbound pv 7g7f"]);
        let o = l.result(Some(&best("7g7f")));
        assert_eq!((o.score, o.bound, o.ponder.as_deref()), (Some(Score::Cp(30.0)), None, Some("3c3d")));
        let only_bounds = lines(&["score cp 80 lowerbound pv 7g7f"]).result(Some(&best("7g7f")));
        assert_eq!((only_bounds.score, only_bounds.bound), (Some(Score::Cp(80.0)), Some(Bound::Lower)));
    }

    #[test]
    fn the_line_of_the_answer_is_found_among_several_in_any_order() {
        let l = lines(&[
            "multipv 2 depth 9 score cp 10 pv 2g2f",
            "multipv 1 depth 9 score cp 20 pv 7g7f",
            "multipv 3 depth 9 score cp -32001 pv 5g5f",
        ]);
        let o = l.result(Some(&best("2g2f")));
        assert_eq!(o.score, Some(Score::Cp(10.0)));
        let list: Vec<_> = o.list.iter().map(|(m, s)| (m.as_str(), *s)).collect();
        let mated = Score::Mate { wins: false, plies: None };
        assert_eq!(list, [("7g7f", Score::Cp(20.0)), ("2g2f", Score::Cp(10.0)), ("5g5f", mated)]);
        assert!(l.result(Some(&best("9g9f"))).pv.is_empty());
    }

    #[test]
    fn no_line_gives_no_score() {
        let o = lines(&["string hello"]).result(Some(&best("7g7f")));
        assert_eq!((o.best.as_deref(), o.score, o.list.len()), (Some("7g7f"), None, 0));
        let o = lines(&["score cp 5 pv 7g7f"]).result(None);
        assert_eq!((o.best, o.pv.len()), (None, 1));
    }
}
