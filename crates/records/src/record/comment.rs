//! Score comments that shogi programs write as text: ShogiGUI and ShogiHome, in KIF and, after `'`, in CSA.
//!
//! | program | comment | position | point of view |
//! |---|---|---|---|
//! | ShogiGUI | `** 対局 深さ 2 ノード数 960 評価値 100 読み筋 …` | before the move above | Black's |
//! | ShogiGUI | `** 評価値 146 読み筋 …`, `** 解析 …`, `** 検討 …`, `** 候補2 …` | after the move above | Black's |
//! | ShogiHome | `**評価値=8`, `**詰み=先手勝ち:5手` | before the move above | Black's |
//! | ShogiHome | `*#評価値=8`, `*#詰み=後手勝ち` | after the move above | Black's |
//!
//! Established from real records: ShogiGUI's `対局` lines and ShogiHome's `**` lines belong to the player's own
//! search (the PV begins with the move played, or continues it), all others to an analysis of the next position; the
//! sign agrees with the outcome for Black in both colours.

use super::game::mate_cp;

/// The score of a text comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotation {
    /// Centipawns from Black's point of view; for a mate without a number only the sign counts.
    pub black_score_cp: i32,
    /// Whether it is an announced mate.
    pub mate: bool,
    /// Whether it is an analysis of the position after the move; otherwise it is the player's own score of the position
    /// before it.
    pub analysis: bool,
    /// Whether the score is only a bound (↑ or ↓).
    pub bound: bool,
    /// 1 for the best line, 2 and more for others (候補2).
    pub candidate: u32,
}

/// Reads the score of a comment, given from its first `*` on. `None` if it holds no score of an engine: prose that
/// mentions 評価値 is not a score.
pub fn parse(comment: &str) -> Option<Annotation> {
    let body = comment.strip_prefix('*')?;
    if let Some(text) = body.strip_prefix('#') {
        return shogihome(text, true);
    }
    let body = body.strip_prefix('*')?;
    shogihome(body, false).or_else(|| shogigui(body))
}

fn shogihome(text: &str, analysis: bool) -> Option<Annotation> {
    let found = |score, mate| Annotation { black_score_cp: score, mate, analysis, bound: false, candidate: 1 };
    if let Some(value) = text.strip_prefix("評価値=") {
        return value.trim().parse().ok().map(|score| found(score, false));
    }
    let winner = text.strip_prefix("詰み=")?;
    let black = winner.starts_with("先手勝ち");
    (black || winner.starts_with("後手勝ち")).then(|| found(mate_cp(black), true))
}

fn shogigui(body: &str) -> Option<Annotation> {
    let mut words = body.split_ascii_whitespace().peekable();
    let first = *words.peek()?;
    let mut analysis = true;
    let mut candidate = 1;
    if first == "対局" {
        analysis = false;
    } else if let Some(number) = first.strip_prefix("候補") {
        candidate = number.parse().ok()?;
    } else if !matches!(first, "解析" | "検討" | "詰み探索" | "評価値" | "時間" | "深さ" | "ノード数")
    {
        return None;
    }
    while let Some(word) = words.next() {
        if word == "読み筋" {
            return None;
        }
        if word != "評価値" {
            continue;
        }
        let value = words.next()?;
        let (black_score_cp, mate, bound) = match value {
            "+詰" => (mate_cp(true), true, false),
            "-詰" => (mate_cp(false), true, false),
            _ => {
                let number = value.trim_end_matches(['↑', '↓']);
                let next_is_bound = words.next().is_some_and(|w| w == "↑" || w == "↓");
                (number.parse().ok()?, false, next_is_bound || number.len() < value.len())
            }
        };
        return Some(Annotation { black_score_cp, mate, analysis, bound, candidate });
    }
    None
}

/// A number with an optional sign at the beginning of a text, and its length. `None` if there is none, or if it does
/// not fit.
#[inline(always)]
pub(super) fn integer(text: &[u8]) -> Option<(i32, usize)> {
    let negative = text.first() == Some(&b'-');
    let first = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let mut length = first;
    let mut value: i64 = 0;
    while let Some(digit) = text.get(length).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        // ten digits hold every i32; longer numbers saturate and are refused below
        value = (value * 10 + i64::from(digit)).min(i64::from(u32::MAX));
        length += 1;
    }
    let value = i32::try_from(if negative { -value } else { value }).ok()?;
    (length > first).then_some((value, length))
}

/// The score of a floodgate comment, a whole number that ends with the text or a separator, and its length.
#[inline(always)]
pub(super) fn floodgate_score(text: &[u8]) -> Option<(i32, usize)> {
    let (score, length) = integer(text)?;
    matches!(text.get(length), None | Some(b' ' | b'\n' | b'\r' | b'\'' | b'\t')).then_some((score, length))
}

/// Whether a PV follows: CSA moves, `%PASS`, `<PASS>`, or USI moves; free text (`joseki`) is not a PV.
#[inline]
pub(super) fn begins_pv(rest: &[u8]) -> bool {
    matches!(
        rest,
        [b' ', b'+' | b'-', b'0'..=b'9', ..]
            | [b' ', b'%' | b'<', ..]
            | [b' ', b'1'..=b'9', b'a'..=b'i', b'1'..=b'9', b'a'..=b'i', ..]
            | [b' ', b'A'..=b'Z', b'*', b'1'..=b'9', ..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(comment: &str) -> Option<(i32, bool, bool, u32)> {
        parse(comment).map(|a| (a.black_score_cp, a.mate, a.analysis, a.candidate))
    }

    #[test]
    fn both_programs_are_read() {
        assert_eq!(score("**対局 深さ 2 ノード数 960 評価値 100 読み筋 ▲７六歩(77) "), Some((100, false, false, 1)));
        assert_eq!(score("** 評価値 146 読み筋 ３四歩(33)"), Some((146, false, true, 1)));
        assert_eq!(
            score("** 候補2 時間 10:38.1 深さ 34/44 評価値 -126 読み筋 ３二銀(31)"),
            Some((-126, false, true, 2))
        );
        assert_eq!(score("** 候補1 時間 00:00.0 深さ 3/2 評価値 +詰 2 読み筋 x"), Some((100_000, true, true, 1)));
        assert_eq!(score("**評価値=-35"), Some((-35, false, false, 1)));
        assert_eq!(score("*#評価値=-456"), Some((-456, false, true, 1)));
        assert_eq!(score("**詰み=後手勝ち:5手"), Some((-100_000, true, false, 1)));
        assert!(parse("**対局 評価値 300↑ 読み筋 x").is_some_and(|a| a.bound));
        assert!(parse("**対局 評価値 300 ↓ 読み筋 x").is_some_and(|a| a.bound));
    }

    #[test]
    fn prose_gives_no_score() {
        for text in
            ["*評価値は 300 点ほど", "**読み筋=▲７八金", "** 読み筋 swap multipv 1, 3", "**互角", "*", "", "**評価値=x"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
