//! The `info` line: what an engine reports during a search.

use evalcurve_calibration::Score;
use evalcurve_calibration::types::Declared;
use evalcurve_rules::Bound;

use super::Protocol;
use super::words::Words;

/// The part of an `info` line that is read; lines of engines have a few hundred bytes.
const MOST_BYTES: usize = 8 * 1024;

/// Moves of a principal variation that are kept.
const MOST_MOVES: usize = 256;

/// An `info` line. Its fields may come in any order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Info {
    /// Search depth in plies.
    pub depth: Option<u32>,
    /// The deepest line that was looked at, in plies.
    pub seldepth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes a second.
    pub nps: Option<u64>,
    /// The rank of this line among several, from 1.
    pub multipv: Option<u32>,
    /// From the side to move's point of view.
    pub score: Option<Score>,
    /// `lowerbound` or `upperbound`; `None` for an exact score.
    pub bound: Option<Bound>,
    /// The rates of wins, draws and losses that the engine declares (`wdl 512 300 188`).
    pub declared: Option<Declared>,
    /// The principal variation, up to 256 moves.
    pub pv: Vec<String>,
    /// Free text.
    pub string: Option<String>,
}

impl Info {
    /// Parses what follows the word `info`. Invalid fields are ignored, and so is what follows the first 8 KiB.
    ///
    /// USI counts mates in plies, UCI in moves of the winning or losing side: `mate 3` is 3 plies in USI and 5 in UCI.
    pub fn parse(text: &str, protocol: Protocol) -> Self {
        let mut info = Self::default();
        let text = beginning(text);
        let mut words = Words::new(text);
        while let Some(word) = words.next() {
            match word {
                // the rest of the line is text, even if it looks like fields
                "string" => {
                    let at = text.find("string").map_or(text.len(), |at| at + "string".len());
                    info.string = Some(text.get(at..).unwrap_or_default().trim().to_owned());
                    break;
                }
                "depth" => info.depth = words.value(),
                "seldepth" => info.seldepth = words.value(),
                "nodes" => info.nodes = words.value(),
                "nps" => info.nps = words.value(),
                "multipv" => info.multipv = words.value(),
                "lowerbound" => info.bound = Some(Bound::Lower),
                "upperbound" => info.bound = Some(Bound::Upper),
                "score" => {
                    info.score = match words.next() {
                        Some("cp") => words.value().filter(|cp: &f64| cp.is_finite()).map(Score::Cp),
                        Some("mate") => words.parsed(|value| mate(value, protocol)),
                        _ => None,
                    };
                }
                "wdl" => {
                    let mut rate = || words.value::<u16>();
                    info.declared = rate().zip(rate()).zip(rate()).and_then(|((w, d), l)| [w, d, l].try_into().ok());
                }
                "pv" => words.each_matching(is_move_like, |word| {
                    if info.pv.len() < MOST_MOVES {
                        info.pv.push(word.to_owned());
                    }
                }),
                _ => {}
            }
        }
        info
    }
}

/// The whole words within the first [`MOST_BYTES`].
fn beginning(text: &str) -> &str {
    if text.len() <= MOST_BYTES {
        return text;
    }
    let part = &text[..text.floor_char_boundary(MOST_BYTES)];
    part.rsplit_once(char::is_whitespace).map_or("", |(words, _)| words)
}

/// `5`, `-4`, `+`, `-`, or `0` if the side to move is mated.
fn mate(word: &str, protocol: Protocol) -> Option<Score> {
    match word {
        "+" => return Some(Score::Mate { wins: true, plies: None }),
        "-" => return Some(Score::Mate { wins: false, plies: None }),
        _ => {}
    }
    let n = word.parse::<i32>().ok()?;
    // some engines write `-0` if the side to move is mated; both mean the same
    let wins = n > 0;
    let size = n.unsigned_abs();
    let plies = match (protocol, wins) {
        (Protocol::Usi, _) => size,
        (Protocol::Uci, true) => size.saturating_mul(2).saturating_sub(1),
        (Protocol::Uci, false) => size.saturating_mul(2),
    };
    Some(Score::Mate { wins, plies: Some(plies) })
}

/// Whether a word of a principal variation can be a move: `7g7f`, `P*5e`, `e7e8q`, `0000`, `resign`, but not `nodes`.
fn is_move_like(word: &str) -> bool {
    const FIELDS: &str = "depth seldepth time nodes multipv score currmove currmovenumber hashfull nps string \
                          refutation tbhits wdl pv lowerbound upperbound currline cpuload sbhits";
    word.len() <= 12 && !FIELDS.split(' ').any(|field| field == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usi(text: &str) -> Info {
        Info::parse(text, Protocol::Usi)
    }

    fn score(text: &str) -> Option<(Score, Option<Bound>)> {
        let info = usi(text);
        info.score.map(|score| (score, info.bound))
    }

    #[test]
    fn fields_come_in_any_order() {
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
        assert_eq!(Info::parse("score mate 3", Protocol::Uci).score, Some(Score::Mate { wins: true, plies: Some(5) }));
    }

    #[test]
    fn engines_declare_rates() {
        let declared = |text: &str| usi(text).declared.map(|rates| rates.to_string());
        assert_eq!(declared("depth 9 score cp 35 wdl 29 962 9 nodes 7 pv e2e4").as_deref(), Some("29 962 9"));
        assert_eq!(declared("wdl 1000 0 0 score mate 3").as_deref(), Some("1000 0 0"));
        // also after the principal variation
        assert_eq!(declared("score cp 35 pv e2e4 wdl 29 962 9").as_deref(), Some("29 962 9"));
        assert_eq!(usi("score cp 35 pv e2e4 wdl 29 962 9 cpuload 9").pv, ["e2e4"]);
        for bad in ["score cp 35", "score cp 35 wdl 29 962", "score cp 35 wdl 29 962 90", "string wdl 29 962 9"] {
            assert_eq!(declared(bad), None, "{bad}");
        }
        // what follows rates that cannot be read is not lost
        let info = usi("score cp 35 wdl many nodes 7 pv e2e4");
        assert_eq!((info.declared, info.pv.len()), (None, 1));
    }

    #[test]
    fn long_lines_are_read_in_part() {
        let info = usi(&format!("depth 9 score cp 35 pv{} nodes 7", " 7g7f".repeat(300)));
        assert_eq!((info.pv.len(), info.nodes), (MOST_MOVES, Some(7)));
        // the last word may be a part of one
        let long = usi(&format!("score cp 35 pv{} nodes 7", " 7g7f".repeat(13_000)));
        assert_eq!((long.pv, long.nodes), (info.pv, None));
        let text = usi(&format!("string {}", "将".repeat(20_000))).string;
        assert_eq!(text.as_deref(), Some(""));
        let text = usi(&format!("depth 1 string {}", "将棋 ".repeat(5_000))).string.unwrap();
        assert!(text.len() < MOST_BYTES && text.ends_with("将棋"), "{text}");
    }

    #[test]
    fn strings_end_the_line() {
        let info = usi("depth 1 string score cp 99 pv 7g7f");
        assert_eq!(info.string.as_deref(), Some("score cp 99 pv 7g7f"));
        assert!(info.score.is_none() && info.pv.is_empty());
    }
}
