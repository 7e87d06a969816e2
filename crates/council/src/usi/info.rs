//! `info`: what an engine says while it thinks.

use super::Protocol;
use evalcurve_core::calibration::Score;
use evalcurve_core::rule::Bound;

/// A score as an `info` line has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SaidScore {
    /// In the view of the side to move.
    pub score: Score,
    /// `lowerbound` or `upperbound`; `None`: exact.
    pub bound: Option<Bound>,
}

/// An `info` line. Its words may stand in any order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Info {
    /// Plies searched.
    pub depth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Time spent, milliseconds.
    pub time_ms: Option<u64>,
    /// The rank of this line among several, from 1.
    pub multipv: Option<u32>,
    /// The score.
    pub score: Option<SaidScore>,
    /// The moves that the engine expects.
    pub pv: Vec<String>,
    /// Free text.
    pub string: Option<String>,
}

impl Info {
    /// Reads what follows the word `info`. What makes no sense is passed over.
    ///
    /// Mates are counted in plies by USI and in moves of the mover by UCI: `mate 3` is 3 plies there and 5 here.
    pub fn parse(text: &str, protocol: Protocol) -> Self {
        let mut info = Self::default();
        let mut words = text.split_whitespace().peekable();
        let mut bound = None;
        while let Some(word) = words.next() {
            match word {
                // the rest of the line, whatever it says
                "string" => {
                    let at = text.find("string").map_or(text.len(), |at| at + "string".len());
                    info.string = Some(text.get(at..).unwrap_or_default().trim().to_owned());
                    break;
                }
                "depth" => info.depth = words.peek().and_then(|w| w.parse().ok()),
                "nodes" => info.nodes = words.peek().and_then(|w| w.parse().ok()),
                "time" => info.time_ms = words.peek().and_then(|w| w.parse().ok()),
                "multipv" => info.multipv = words.peek().and_then(|w| w.parse().ok()),
                "lowerbound" => bound = Some(Bound::Lower),
                "upperbound" => bound = Some(Bound::Upper),
                "score" => {
                    let kind = words.next();
                    let value = words.peek().copied().unwrap_or_default();
                    let score = match kind {
                        Some("cp") => centipawns(value),
                        Some("mate") => mate(value, protocol),
                        _ => None,
                    };
                    if score.is_some() {
                        words.next();
                    }
                    info.score = score.map(|score| SaidScore { score, bound: None });
                }
                "pv" => {
                    while let Some(m) = words.next_if(|w| is_move_like(w)) {
                        info.pv.push(m.to_owned());
                    }
                }
                _ => {}
            }
        }
        if let Some(score) = &mut info.score {
            score.bound = bound;
        }
        info
    }
}

/// `+44` is 44.
fn centipawns(word: &str) -> Option<Score> {
    word.parse::<f64>().ok().filter(|cp| cp.is_finite()).map(Score::Cp)
}

/// `5`, `-4`, `+`, `-`, and `0` for a side to move that is mated.
fn mate(word: &str, protocol: Protocol) -> Option<Score> {
    match word {
        "+" => return Some(Score::Mate { wins: true, plies: None }),
        "-" => return Some(Score::Mate { wins: false, plies: None }),
        _ => {}
    }
    let n = word.parse::<i32>().ok()?;
    // some engines say `-0` for a side that is mated; so is `0`
    let wins = n > 0;
    let size = n.unsigned_abs();
    let plies = match (protocol, wins) {
        (Protocol::Usi, _) => size,
        (Protocol::Uci, true) => size.saturating_mul(2).saturating_sub(1),
        (Protocol::Uci, false) => size.saturating_mul(2),
    };
    Some(Score::Mate { wins, plies: Some(plies) })
}

/// Whether a word of a principal variation can be a move: `7g7f`, `P*5e`, `e7e8q`, `0000`, `resign` – not `nodes`.
fn is_move_like(word: &str) -> bool {
    const KEYWORDS: [&str; 13] = [
        "depth",
        "seldepth",
        "time",
        "nodes",
        "multipv",
        "score",
        "currmove",
        "currmovenumber",
        "hashfull",
        "nps",
        "string",
        "refutation",
        "tbhits",
    ];
    !KEYWORDS.contains(&word) && word.len() <= 12
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usi(text: &str) -> Info {
        Info::parse(text, Protocol::Usi)
    }

    fn score(text: &str) -> Option<(Score, Option<Bound>)> {
        usi(text).score.map(|s| (s.score, s.bound))
    }

    #[test]
    fn words_stand_in_any_order() {
        let a = usi("multipv 2 depth 9 score cp +44 nodes 1000 time 12 pv 7g7f 3c3d");
        let b = usi("pv 7g7f 3c3d time 12 nodes 1000 score cp 44 depth 9 multipv 2");
        assert_eq!(a, b);
        assert_eq!((a.multipv, a.depth, a.pv.len()), (Some(2), Some(9), 2));
    }

    #[test]
    fn scores_have_many_forms() {
        assert_eq!(score("score cp -1148897"), Some((Score::Cp(-1_148_897.0), None)));
        assert_eq!(score("score cp 30 lowerbound pv 7g7f"), Some((Score::Cp(30.0), Some(Bound::Lower))));
        assert_eq!(score("score upperbound cp 30"), None); // no engine is known to write this
        assert_eq!(score("upperbound score cp 30"), Some((Score::Cp(30.0), Some(Bound::Upper))));
        let mate = |wins, plies| Some((Score::Mate { wins, plies }, None));
        assert_eq!(score("score mate 5"), mate(true, Some(5)));
        assert_eq!(score("score mate -4"), mate(false, Some(4)));
        assert_eq!(score("score mate +"), mate(true, None));
        assert_eq!(score("score mate - pv 7g7f"), mate(false, None));
        assert_eq!(score("score mate 0"), mate(false, Some(0)));
        assert_eq!(score("score cp nan"), None);
        assert_eq!(score("score"), None);
        assert_eq!(
            Info::parse("score mate 3", Protocol::Uci).score.map(|s| s.score),
            Some(Score::Mate { wins: true, plies: Some(5) })
        );
    }

    #[test]
    fn strings_end_the_line() {
        let info = usi("depth 1 string score cp 99 pv 7g7f");
        assert_eq!(info.string.as_deref(), Some("score cp 99 pv 7g7f"));
        assert!(info.score.is_none() && info.pv.is_empty());
    }
}
