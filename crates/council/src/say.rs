//! What the council says to the GUI of a decision.

use std::fmt::Write;
use std::time::Duration;

use super::decide::{Behind, Verdict};
use crate::usi::Protocol;
use evalcurve_core::calibration::Score;

/// The largest score that is shown for a win rate: beyond it GUIs take numbers for mates.
const LARGEST_CP: f64 = 9_999.0;

/// How a decision is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Centipawns of a logit of 1.
    pub scale_cp: f64,
    /// The words of the GUI.
    pub protocol: Protocol,
    /// Lines that the GUI wants: the decision and the best of the other moves.
    pub lines: usize,
}

/// `info depth … score … pv …`: the score is the logit of the decision's win rate times the scale; a mate where the vote
/// that carried the decision is one; that vote's own centipawns where no win rate is known.
pub(super) fn info_lines(verdict: &Verdict, time: Duration, style: Style) -> Vec<String> {
    let all = std::iter::once(&verdict.behind).chain(&verdict.others).take(style.lines.max(1));
    all.enumerate().filter_map(|(i, behind)| info_line(behind, i, verdict.nodes, time, style)).collect()
}

fn info_line(behind: &Behind, place: usize, nodes: u64, time: Duration, style: Style) -> Option<String> {
    let score = shown_score(behind, style)?;
    let mut line = String::from("info");
    let mut word = |name: &str, value: &dyn std::fmt::Display| {
        let _ = write!(line, " {name} {value}");
    };
    if style.lines > 1 {
        word("multipv", &(place + 1));
    }
    if let Some(depth) = behind.depth {
        word("depth", &depth);
    }
    word("time", &time.as_millis());
    if nodes > 0 {
        word("nodes", &nodes);
    }
    word("score", &score);
    if !behind.pv.is_empty() {
        word("pv", &behind.pv.join(" "));
    }
    Some(line)
}

fn shown_score(behind: &Behind, style: Style) -> Option<String> {
    if let Some(Score::Mate { wins, plies }) = behind.score {
        let sign = if wins { "" } else { "-" };
        return Some(match (plies, style.protocol) {
            (Some(plies), Protocol::Usi) => format!("mate {sign}{plies}"),
            (Some(plies), Protocol::Uci) => format!("mate {sign}{}", plies.div_ceil(2)),
            (None, Protocol::Usi) => format!("mate {}", if wins { "+" } else { "-" }),
            (None, Protocol::Uci) => format!("cp {}{}", sign, LARGEST_CP),
        });
    }
    let cp = match (behind.win_rate, behind.score) {
        (Some(p), _) => style.scale_cp * libm::log(p / (1.0 - p)),
        (None, Some(Score::Cp(cp))) => cp,
        _ => return None,
    };
    Some(format!("cp {}", cp.clamp(-LARGEST_CP, LARGEST_CP).round() as i64))
}

/// All lines of a decision, `bestmove` last.
pub(super) fn decision(verdict: &Verdict, time: Duration, style: Style) -> String {
    let mut text = String::new();
    let mut line = |l: &str| {
        text += l;
        text.push('\n');
    };
    if let Some(explanation) = &verdict.explanation {
        for l in explanation.lines() {
            line(&format!("info string {l}"));
        }
        if let Ok(json) = explanation.json() {
            line(&format!("info string {json}"));
        }
    }
    if let Some(way_out) = &verdict.way_out {
        line(&format!("info string {}: {way_out}", verdict.played));
    }
    // the best line last, so that a GUI that shows but one shows that
    for info in info_lines(verdict, time, style).iter().rev() {
        line(info);
    }
    match &verdict.ponder {
        Some(ponder) => line(&format!("bestmove {} ponder {ponder}", verdict.played)),
        None => line(&format!("bestmove {}", verdict.played)),
    }
    text
}

/// A text that can stand in one line.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(win_rate: Option<f64>, score: Option<Score>) -> Behind {
        Behind { win_rate, score, pv: vec!["7g7f".into(), "3c3d".into()], depth: Some(9) }
    }

    fn style(protocol: Protocol, lines: usize) -> Style {
        Style { scale_cp: 600.0, protocol, lines }
    }

    #[test]
    fn scores_are_logits_on_the_scale() {
        let shown = |p, s, protocol| shown_score(&behind(p, s), style(protocol, 1));
        assert_eq!(shown(Some(0.5), Some(Score::Cp(80.0)), Protocol::Usi).as_deref(), Some("cp 0"));
        // 600 ln 3
        assert_eq!(shown(Some(0.75), None, Protocol::Usi).as_deref(), Some("cp 659"));
        assert_eq!(shown(Some(1.0), Some(Score::Cp(9.0)), Protocol::Usi).as_deref(), Some("cp 9999"));
        assert_eq!(shown(None, Some(Score::Cp(-80.0)), Protocol::Usi).as_deref(), Some("cp -80"));
        let mate = |wins, plies| Some(Score::Mate { wins, plies });
        assert_eq!(shown(Some(1.0), mate(true, Some(5)), Protocol::Usi).as_deref(), Some("mate 5"));
        assert_eq!(shown(Some(1.0), mate(true, Some(5)), Protocol::Uci).as_deref(), Some("mate 3"));
        assert_eq!(shown(Some(0.0), mate(false, None), Protocol::Usi).as_deref(), Some("mate -"));
        assert_eq!(shown(Some(0.0), mate(false, None), Protocol::Uci).as_deref(), Some("cp -9999"));
        assert_eq!(shown(None, None, Protocol::Usi), None);
    }

    #[test]
    fn several_lines_have_their_rank() {
        let info = |place, lines| {
            let time = Duration::from_millis(12);
            info_line(&behind(Some(0.5), None), place, 7, time, style(Protocol::Usi, lines)).unwrap()
        };
        assert_eq!(info(0, 1), "info depth 9 time 12 nodes 7 score cp 0 pv 7g7f 3c3d");
        assert_eq!(info(1, 3), "info multipv 2 depth 9 time 12 nodes 7 score cp 0 pv 7g7f 3c3d");
    }
}
