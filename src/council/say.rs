//! What the council says to the GUI of a decision.

use std::fmt::Write;
use std::time::Duration;

use super::decide::Verdict;
use crate::calibration::Score;
use crate::usi::Protocol;

/// The largest score that is shown for a win rate: beyond it GUIs take numbers for mates.
const LARGEST_CP: f64 = 9_999.0;

/// `info depth … score … pv …`: the score is the logit of the decision's win rate times `scale_cp`; a mate where the vote
/// that carried the decision is one; that vote's own centipawns where no win rate is known.
pub(super) fn info_line(verdict: &Verdict, time: Duration, scale_cp: f64, protocol: Protocol) -> Option<String> {
    let mut line = String::from("info");
    let mut word = |name: &str, value: &dyn std::fmt::Display| {
        let _ = write!(line, " {name} {value}");
    };
    if let Some(depth) = verdict.depth {
        word("depth", &depth);
    }
    word("time", &time.as_millis());
    if verdict.nodes > 0 {
        word("nodes", &verdict.nodes);
    }
    let score = shown_score(verdict, scale_cp, protocol);
    if let Some(score) = &score {
        word("score", score);
    }
    if !verdict.pv.is_empty() {
        word("pv", &verdict.pv.join(" "));
    }
    score.is_some().then_some(line)
}

fn shown_score(verdict: &Verdict, scale_cp: f64, protocol: Protocol) -> Option<String> {
    if let Some(Score::Mate { wins, plies }) = verdict.score {
        let sign = if wins { "" } else { "-" };
        return Some(match (plies, protocol) {
            (Some(plies), Protocol::Usi) => format!("mate {sign}{plies}"),
            (Some(plies), Protocol::Uci) => format!("mate {sign}{}", plies.div_ceil(2)),
            (None, Protocol::Usi) => format!("mate {}", if wins { "+" } else { "-" }),
            (None, Protocol::Uci) => format!("cp {}{}", sign, LARGEST_CP),
        });
    }
    let cp = match (verdict.win_rate, verdict.score) {
        (Some(p), _) => scale_cp * libm::log(p / (1.0 - p)),
        (None, Some(Score::Cp(cp))) => cp,
        _ => return None,
    };
    // 0.5 ± nothing is 0, not -0
    Some(format!("cp {}", cp.clamp(-LARGEST_CP, LARGEST_CP).round() as i64))
}

/// All lines of a decision, `bestmove` last.
pub(super) fn decision(verdict: &Verdict, time: Duration, scale_cp: f64, protocol: Protocol) -> String {
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
    if let Some(info) = info_line(verdict, time, scale_cp, protocol) {
        line(&info);
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

    fn verdict(win_rate: Option<f64>, score: Option<Score>) -> Verdict {
        Verdict {
            played: "7g7f".into(),
            ponder: None,
            explanation: None,
            decision: None,
            votes: Vec::new(),
            win_rate,
            score,
            pv: vec!["7g7f".into(), "3c3d".into()],
            depth: Some(9),
            nodes: 0,
            way_out: None,
            needs_search: Vec::new(),
        }
    }

    #[test]
    fn scores_are_logits_on_the_scale() {
        let shown = |p, s, protocol| shown_score(&verdict(p, s), 600.0, protocol);
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
}
