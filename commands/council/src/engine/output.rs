//! Formats a decision for the GUI.

use std::fmt::Write;
use std::time::Duration;

use evalcurve_calibration::Score;
use evalcurve_engine::usi::Protocol;
use evalcurve_words::language::Language;
use evalcurve_words::{key, say};

use super::decide::{Decided, MoveInfo};

/// The largest score for a win rate: GUIs take larger numbers for mates.
const LARGEST_CP: f64 = 9_999.0;

/// How to show a decision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Centipawns per logit.
    pub scale_cp: f64,
    /// The protocol of the GUI.
    pub protocol: Protocol,
    /// Whether the decision is also written as JSON.
    pub verbose: bool,
    /// The number of lines that the GUI wants: the decision and the best other moves.
    pub lines: usize,
    /// A line for the vote of each member in place of these, in the order of the configuration.
    pub of_members: bool,
    /// The language of the comments.
    pub language: Language,
}

/// The lines `info depth … score … pv …`. The score is the logit of the decision's win rate times the scale, a mate if
/// the vote that carries the decision is one, or that vote's own centipawns if its win rate is unknown.
pub(super) fn info_lines(verdict: &Decided, time: Duration, style: Style) -> Vec<String> {
    if style.of_members {
        let lines = verdict.members.iter().zip(&verdict.line.votes).enumerate();
        return lines
            .filter_map(|(i, (info, vote))| member_line(info.as_ref()?, i, &vote.voter, time, style))
            .collect();
    }
    let all = std::iter::once(&verdict.chosen).chain(&verdict.others).take(style.lines.max(1));
    all.enumerate().filter_map(|(i, info)| info_line(info, i, verdict.nodes, time, style)).collect()
}

/// The line of a member, and above it whose it is, since a GUI shows numbers only.
fn member_line(info: &MoveInfo, place: usize, name: &str, time: Duration, style: Style) -> Option<String> {
    let line = info_line(info, place, 0, time, Style { lines: usize::MAX, ..style })?;
    let none = || style.language.word(key!("no win rate")).to_owned();
    let rate = info.win_rate.map_or_else(none, |rate| format!("{:.1}%", 100.0 * rate));
    let best = info.pv.first().map_or("", String::as_str);
    Some(format!("info string multipv {}: {} {best} {rate}\n{line}", place + 1, one_line(name)))
}

fn info_line(info: &MoveInfo, place: usize, nodes: u64, time: Duration, style: Style) -> Option<String> {
    let fields = [
        ("multipv", (style.lines > 1).then(|| (place + 1).to_string())),
        ("depth", info.depth.map(|depth| depth.to_string())),
        ("time", Some(time.as_millis().to_string())),
        ("nodes", (nodes > 0).then(|| nodes.to_string())),
        ("score", Some(shown_score(info, style)?)),
        ("pv", (!info.pv.is_empty()).then(|| info.pv.join(" "))),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some(format!(" {name} {}", value?)));
    Some("info".to_owned() + &fields.collect::<String>())
}

fn shown_score(info: &MoveInfo, style: Style) -> Option<String> {
    let cp = match (info.score, info.win_rate) {
        (Some(Score::Mate { wins, plies }), _) => {
            let sign = if wins { "" } else { "-" };
            return Some(match (plies, style.protocol) {
                (Some(plies), Protocol::Usi) => format!("mate {sign}{plies}"),
                (Some(plies), Protocol::Uci) => format!("mate {sign}{}", plies.div_ceil(2)),
                (None, Protocol::Usi) => format!("mate {}", if wins { "+" } else { "-" }),
                (None, Protocol::Uci) => format!("cp {sign}{LARGEST_CP}"),
            });
        }
        (_, Some(p)) => style.scale_cp * evalcurve_calibration::logistic::logit(p),
        (Some(Score::Cp(cp)), None) => cp,
        (None, None) => return None,
    };
    Some(format!("cp {}", cp.clamp(-LARGEST_CP, LARGEST_CP).round() as i64))
}

/// All lines of a decision; `bestmove` is the last.
pub(super) fn decision(verdict: &Decided, time: Duration, style: Style) -> String {
    let mut text = String::new();
    if let Some(explanation) = &verdict.explanation {
        let json = style.verbose.then(|| explanation.json().ok()).flatten();
        for line in explanation.lines().iter().map(|line| line.text(style.language)).chain(json) {
            let _ = writeln!(text, "info string {line}");
        }
    }
    if let Some(override_reason) = &verdict.override_reason {
        let _ = writeln!(text, "info string {}: {}", verdict.line.played, override_reason.text(style.language));
    }
    if verdict.line.votes.len() > 1 {
        let (wall, total) = (time.as_millis(), verdict.total.as_millis());
        let of_all = say!(style.language, "{wall} ms, {total} ms of all members, {} nodes", verdict.nodes);
        let _ = writeln!(text, "info string {of_all}");
    }
    // the best line last, since some GUIs show only the last one
    for line in info_lines(verdict, time, style).iter().rev() {
        let _ = writeln!(text, "{line}");
    }
    let ponder = verdict.ponder.as_ref().map_or_else(String::new, |ponder| format!(" ponder {ponder}"));
    let _ = writeln!(text, "bestmove {}{ponder}", verdict.line.played);
    text
}

/// Replaces control characters, so that a text fits into one line.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(win_rate: Option<f64>, score: Option<Score>) -> MoveInfo {
        MoveInfo { win_rate, score, pv: vec!["7g7f".into(), "3c3d".into()], depth: Some(9) }
    }

    fn style(protocol: Protocol, lines: usize) -> Style {
        Style { scale_cp: 600.0, protocol, verbose: false, lines, of_members: false, language: Language::English }
    }

    #[test]
    fn scores_are_logits_on_the_scale() {
        let shown = |p, s, protocol| shown_score(&info(p, s), style(protocol, 1));
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
        let line = |place, lines| {
            let time = Duration::from_millis(12);
            info_line(&info(Some(0.5), None), place, 7, time, style(Protocol::Usi, lines)).unwrap()
        };
        assert_eq!(line(0, 1), "info depth 9 time 12 nodes 7 score cp 0 pv 7g7f 3c3d");
        assert_eq!(line(1, 3), "info multipv 2 depth 9 time 12 nodes 7 score cp 0 pv 7g7f 3c3d");
    }

    #[test]
    fn a_line_of_a_member_says_whose_it_is() {
        let time = Duration::from_millis(12);
        let line = member_line(&info(Some(0.75), None), 1, "A\nB", time, style(Protocol::Usi, 1)).unwrap();
        let (name, numbers) = line.split_once('\n').unwrap();
        assert_eq!(name, "info string multipv 2: A B 7g7f 75.0%");
        assert_eq!(numbers, "info multipv 2 depth 9 time 12 score cp 659 pv 7g7f 3c3d");
        assert_eq!(member_line(&info(None, None), 0, "A", time, style(Protocol::Usi, 1)), None);
    }
}
