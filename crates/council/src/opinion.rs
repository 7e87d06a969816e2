//! From `info` lines to an opinion.

use std::collections::BTreeMap;

use super::member::Opinion;
use crate::usi::{BestMove, Info, SaidScore};
use evalcurve_core::calibration::Score;

/// The last lines of a search, by rank.
#[derive(Debug, Default)]
pub(super) struct Lines {
    ranks: BTreeMap<u32, Rank>,
    depth: Option<u32>,
    nodes: Option<u64>,
}

#[derive(Debug, Default)]
struct Rank {
    exact: Option<Said>,
    bound: Option<Said>,
}

#[derive(Debug, Clone)]
struct Said {
    score: SaidScore,
    pv: Vec<String>,
}

/// Ranks beyond this are not kept: no game has more moves.
const MOST_RANKS: u32 = 600;

impl Lines {
    /// Takes a line; whether it changed anything.
    pub fn add(&mut self, info: Info, mate_threshold_cp: Option<f64>) -> bool {
        self.depth = info.depth.or(self.depth);
        self.nodes = info.nodes.or(self.nodes);
        let rank = info.multipv.unwrap_or(1);
        let Some(mut score) = info.score.filter(|_| (1..=MOST_RANKS).contains(&rank)) else { return false };
        score.score = classified(score.score, mate_threshold_cp);
        let rank = self.ranks.entry(rank).or_default();
        let place = if score.bound.is_none() { &mut rank.exact } else { &mut rank.bound };
        *place = Some(Said { score, pv: info.pv });
        true
    }

    /// The opinion that these lines and an answer make; without an answer the first move of the best line stands for it.
    ///
    /// The score is that of the last exact line of the answer; else of the last exact line of the first rank, whatever its
    /// move; else of a bound.
    pub fn opinion(&self, answer: Option<&BestMove>) -> Opinion {
        let starts = |said: &&Said, best: &str| said.pv.first().is_some_and(|m| m == best);
        let exact = self.ranks.values().filter_map(|r| r.exact.as_ref());
        let bounds = self.ranks.values().filter_map(|r| r.bound.as_ref());
        let said = match answer {
            Some(answer) => exact
                .clone()
                .find(|s| starts(s, &answer.best))
                .or_else(|| exact.clone().next())
                .or_else(|| bounds.clone().find(|s| starts(s, &answer.best)))
                .or_else(|| bounds.clone().next()),
            None => exact.clone().next().or_else(|| bounds.clone().next()),
        };
        let list: Vec<(String, Score)> = self
            .ranks
            .values()
            .filter_map(|r| r.exact.as_ref().or(r.bound.as_ref()))
            .filter_map(|s| Some((s.pv.first()?.clone(), s.score.score)))
            .collect();
        let pv = said.map(|s| s.pv.clone()).unwrap_or_default();
        // a line of another move than the answer is no line of the answer
        let pv = if answer.is_some_and(|a| pv.first() != Some(&a.best)) { Vec::new() } else { pv };
        Opinion {
            best: answer.map(|a| a.best.clone()),
            ponder: answer.and_then(|a| a.ponder.clone()).or_else(|| pv.get(1).cloned()),
            score: said.map(|s| s.score.score),
            bound: said.and_then(|s| s.score.bound),
            pv,
            list: if self.ranks.len() > 1 { list } else { Vec::new() },
            depth: self.depth,
            nodes: self.nodes,
            time: None,
        }
    }
}

fn classified(score: Score, mate_threshold_cp: Option<f64>) -> Score {
    match (score, mate_threshold_cp) {
        (Score::Cp(cp), Some(threshold)) if cp.abs() >= threshold => Score::Mate { wins: cp > 0.0, plies: None },
        _ => score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usi::Protocol;
    use evalcurve_core::rule::Bound;

    fn lines(texts: &[&str]) -> Lines {
        let mut lines = Lines::default();
        for text in texts {
            lines.add(Info::parse(text, Protocol::Usi), Some(30_000.0));
        }
        lines
    }

    fn best(text: &str) -> BestMove {
        BestMove { best: text.to_owned(), ponder: None }
    }

    #[test]
    fn an_exact_line_stands_above_a_later_bound() {
        let l = lines(&["depth 5 score cp 30 pv 7g7f 3c3d", "depth 6 score cp 80 upperbound pv 7g7f"]);
        let o = l.opinion(Some(&best("7g7f")));
        assert_eq!((o.score, o.bound, o.ponder.as_deref()), (Some(Score::Cp(30.0)), None, Some("3c3d")));
        let only_bounds = lines(&["score cp 80 lowerbound pv 7g7f"]).opinion(Some(&best("7g7f")));
        assert_eq!((only_bounds.score, only_bounds.bound), (Some(Score::Cp(80.0)), Some(Bound::Lower)));
    }

    #[test]
    fn the_line_of_the_answer_is_found_among_several_in_any_order() {
        let l = lines(&[
            "multipv 2 depth 9 score cp 10 pv 2g2f",
            "multipv 1 depth 9 score cp 20 pv 7g7f",
            "multipv 3 depth 9 score cp -32001 pv 5g5f",
        ]);
        let o = l.opinion(Some(&best("2g2f")));
        assert_eq!(o.score, Some(Score::Cp(10.0)));
        let list: Vec<_> = o.list.iter().map(|(m, s)| (m.as_str(), *s)).collect();
        let mated = Score::Mate { wins: false, plies: None };
        assert_eq!(list, [("7g7f", Score::Cp(20.0)), ("2g2f", Score::Cp(10.0)), ("5g5f", mated)]);
        assert!(l.opinion(Some(&best("9g9f"))).pv.is_empty());
    }

    #[test]
    fn no_line_gives_no_score() {
        let o = lines(&["string hello"]).opinion(Some(&best("7g7f")));
        assert_eq!((o.best.as_deref(), o.score, o.list.len()), (Some("7g7f"), None, 0));
        let o = lines(&["score cp 5 pv 7g7f"]).opinion(None);
        assert_eq!((o.best, o.pv.len()), (None, 1));
    }
}
