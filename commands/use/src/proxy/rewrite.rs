//! The engine's lines with scores on a common scale.

use std::io::Write;
use std::ops::Range;

use evalcurve_calibration::{Calibration, Reading, Score, Situation, permille};
use evalcurve_engine::usi::Protocol;

/// The scale of shogi GUIs: 1/(1 + exp(-score/600)) is the win rate.
const USI_SCALE: f64 = 600.0;

/// The scale of chess GUIs: that of lichess, 1/0.00368208.
const UCI_SCALE: f64 = 1.0 / 0.003_682_08;

/// Scores beyond this look like mates to some GUIs.
const LARGEST_SCORE: f64 = 29_999.0;

/// Replaces `score cp N` in `info` lines by the logit of the calibrated win rate times a scale.
#[derive(Debug, Clone)]
pub struct Rewriter {
    calibration: Calibration,
    reading: Reading,
    scale: Option<f64>,
    adds_wdl: bool,
}

impl Rewriter {
    /// A rewriter with the scale that GUIs expect by protocol: 600 in USI, 271.6 in UCI. With `adds_wdl` every line
    /// with a score in centipawns has the calibrated `wdl` in permille, also in place of the engine's own.
    pub fn new(calibration: Calibration, reading: Reading, scale: Option<f64>, adds_wdl: bool) -> Self {
        Self { calibration, reading, scale, adds_wdl }
    }

    pub(super) fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// Appends a line of the engine to `out`, with its score rewritten. A line of another kind, a mate (also one
    /// written in centipawns from the mate threshold on), and what is not read as a score are appended as they are.
    pub fn rewrite(&self, line: &[u8], protocol: Protocol, situation: &Situation, out: &mut Vec<u8>) {
        let Some(found) = Found::of(line) else { return out.extend_from_slice(line) };
        let Score::Cp(cp) = self.calibration.classify(found.score_cp) else { return out.extend_from_slice(line) };
        let logit = self.calibration.logit(self.reading, cp, situation);
        if !logit.is_finite() {
            return out.extend_from_slice(line);
        }
        let by_protocol = if protocol == Protocol::Uci { UCI_SCALE } else { USI_SCALE };
        let scaled = (logit * self.scale.unwrap_or(by_protocol)).clamp(-LARGEST_SCORE, LARGEST_SCORE);
        out.extend_from_slice(&line[..found.number.start]);
        // writing to a vector does not fail; a rounded score is never -0
        let _ = write!(out, "{}", scaled.round() as i64);
        let rest = found.number.end;
        if !self.adds_wdl {
            return out.extend_from_slice(&line[rest..]);
        }
        let shares = match self.calibration.wdl(self.reading, cp, situation) {
            Some(wdl) => wdl.permille(),
            None => {
                let rate = self.calibration.win_rate_in(self.reading, Score::Cp(cp), situation);
                permille([rate, 0.0, 1.0 - rate])
            }
        };
        let Some([win, draw, loss]) = shares else { return out.extend_from_slice(&line[rest..]) };
        match found.wdl {
            // the numbers of the engine give way
            Some(own) if own.start >= rest => {
                out.extend_from_slice(&line[rest..own.start]);
                let _ = write!(out, "{win} {draw} {loss}");
                out.extend_from_slice(&line[own.end..]);
            }
            Some(_) => out.extend_from_slice(&line[rest..]),
            None => {
                out.extend_from_slice(&line[rest..found.score_end]);
                let _ = write!(out, " wdl {win} {draw} {loss}");
                out.extend_from_slice(&line[found.score_end..]);
            }
        }
    }
}

/// Where a line has its score.
struct Found {
    score_cp: f64,
    /// The digits of the score with their sign.
    number: Range<usize>,
    /// The end of the score with its bound.
    score_end: usize,
    /// The three numbers after `wdl`.
    wdl: Option<Range<usize>>,
}

impl Found {
    /// The score in centipawns of an `info` line.
    fn of(line: &[u8]) -> Option<Self> {
        let mut words = Ranges { line, at: 0 };
        if &line[words.next()?] != b"info" {
            return None;
        }
        let (mut found, mut wdl): (Option<Self>, Option<Range<usize>>) = (None, None);
        let mut in_score = false;
        while let Some(word) = words.next() {
            match &line[word.clone()] {
                // the rest is text, even if it looks like fields
                b"string" => break,
                b"score" if found.is_none() => {
                    if &line[words.next()?] != b"cp" {
                        return None;
                    }
                    let number = words.next()?;
                    let score_cp: f64 = std::str::from_utf8(&line[number.clone()]).ok()?.parse().ok()?;
                    if !score_cp.is_finite() {
                        return None;
                    }
                    found = Some(Self { score_cp, score_end: number.end, number, wdl: None });
                    in_score = true;
                    continue;
                }
                b"lowerbound" | b"upperbound" if in_score => {
                    if let Some(found) = &mut found {
                        found.score_end = word.end;
                    }
                }
                b"wdl" => wdl = three_numbers(line, &mut words),
                _ => {}
            }
            in_score = false;
        }
        found.map(|found| Self { wdl, ..found })
    }
}

/// The range of three numbers that follow; other words are left.
fn three_numbers(line: &[u8], words: &mut Ranges<'_>) -> Option<Range<usize>> {
    let mut ahead = words.clone();
    let all = [ahead.next()?, ahead.next()?, ahead.next()?];
    let are_numbers = all.iter().all(|range| line[range.clone()].iter().all(u8::is_ascii_digit));
    are_numbers.then(|| {
        *words = ahead;
        all[0].start..all[2].end
    })
}

/// The words of a line as ranges of bytes.
#[derive(Clone)]
struct Ranges<'a> {
    line: &'a [u8],
    at: usize,
}

impl Iterator for Ranges<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.line.get(self.at..)?;
        let start = self.at + rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let end = self.line[start..].iter().position(u8::is_ascii_whitespace).map_or(self.line.len(), |n| start + n);
        self.at = end;
        Some(start..end)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use evalcurve_calibration::{FittedModel, Method};
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn calibration(w1: f64, w2: f64) -> Calibration {
        let fit = FittedModel::sigmoid(w1, w2);
        let mut calibration = Calibration::from_model("A", Method::MaximumLikelihood, fit);
        calibration.mates = Some(evalcurve_calibration::file::Mates {
            policy: evalcurve_calibration::file::MatePolicy::Exclude,
            clip_cp: None,
            threshold_cp: Some(30_000.0),
            beyond: 0,
            wrong_sided: 0,
        });
        calibration
    }

    fn rewriter(w1: f64, w2: f64, adds_wdl: bool) -> Rewriter {
        Rewriter::new(calibration(w1, w2), Reading::Equal, None, adds_wdl)
    }

    fn text(rewriter: &Rewriter, line: &str, protocol: Protocol) -> String {
        let mut out = Vec::new();
        rewriter.rewrite(line.as_bytes(), protocol, &Situation::default(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_score_becomes_the_logit_times_the_scale() {
        let half = rewriter(1.0 / 300.0, 0.4, false);
        let usi = |line| text(&half, line, Protocol::Usi);
        assert_eq!(usi("info depth 3 score cp 150 pv 7g7f\r\n"), "info depth 3 score cp 300 pv 7g7f\r\n");
        assert_eq!(usi("info score cp -7 upperbound nodes 5\n"), "info score cp -14 upperbound nodes 5\n");
        assert_eq!(usi("info  score  cp  +44  multipv 2"), "info  score  cp  88  multipv 2");
        // 1/0.00368208 = 271.585…; 150/300 logits are 136
        assert_eq!(text(&half, "info score cp 150", Protocol::Uci), "info score cp 136");
        assert_eq!(usi("info score cp 0"), "info score cp 0");
        assert_eq!(usi("info score cp 29000"), "info score cp 29999");
    }

    #[test]
    fn everything_else_is_passed_on() {
        let half = rewriter(1.0 / 300.0, 0.0, true);
        for line in [
            "info score mate 5 pv 7g7f\n",
            "info score cp 31111\n",
            "info score cp -31111\n",
            "info string score cp 100\n",
            "info depth 3 string x score cp 100\n",
            "info score cp\n",
            "info score cp x\n",
            "info score cp nan\n",
            "bestmove 7g7f ponder 3c3d\r\n",
            "id name score cp 100\n",
            "score cp 100\n",
            "\n",
            "",
        ] {
            assert_eq!(text(&half, line, Protocol::Usi), line);
        }
    }

    #[test]
    fn win_draw_loss_is_added_or_replaced() {
        let even = rewriter(0.002, 0.0, true);
        let uci = |line| text(&even, line, Protocol::Uci);
        assert_eq!(uci("info score cp 0 pv e2e4\n"), "info score cp 0 wdl 500 0 500 pv e2e4\n");
        assert_eq!(uci("info score cp 0 lowerbound\n"), "info score cp 0 lowerbound wdl 500 0 500\n");
        assert_eq!(uci("info score cp 0 wdl 100 800 100 pv\n"), "info score cp 0 wdl 500 0 500 pv\n");
        assert_eq!(uci("info score cp 0 wdl a b c\n"), "info score cp 0 wdl 500 0 500 wdl a b c\n");
    }

    proptest! {
        #[test]
        fn any_bytes_keep_all_but_the_number(line in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut out = Vec::new();
            rewriter(0.002, 0.0, false).rewrite(&line, Protocol::Usi, &Situation::default(), &mut out);
            match Found::of(&line) {
                None => prop_assert_eq!(out, line),
                Some(found) => {
                    prop_assert!(out.starts_with(&line[..found.number.start]));
                    prop_assert!(out.ends_with(&line[found.number.end..]));
                }
            }
        }
    }
}
