//! Score comments that shogi programs write as text: ShogiGUI and ShogiHome, in KIF and, after `'`, in CSA.
//!
//! | program | comment | position | point of view |
//! |---|---|---|---|
//! | ShogiGUI | `** 対局 深さ 2 ノード数 960 評価値 100 読み筋 …` | before the move above | Black's |
//! | ShogiGUI | `** 評価値 146 読み筋 …`, `** 解析 0 … 評価値 88 …`, `** 検討 …`, `** 候補2 …` | after the move above | Black's |
//! | ShogiHome | `**評価値=8`, `**詰み=先手勝ち:5手` | before the move above | Black's |
//! | ShogiHome | `*#評価値=8`, `*#詰み=後手勝ち` | after the move above | Black's |
//! | ぴよ将棋, K-Shogi | `*#指し手[62]△７五歩 ▲…`, `*#形勢[-30]…` | after the move above | Black's |
//! | 棋神アナリティクス | `** Engine NAME … 評価値 -47 読み筋 △…` | after the move above | Black's |
//!
//! Established from real records: ShogiGUI's `対局` lines and ShogiHome's `**` lines belong to the player's own
//! search (the PV begins with the move played, or continues it), all others to an analysis of the next position; the
//! sign agrees with the outcome for Black in both colours.
//!
//! ぴよ将棋 writes the line that begins with the move played as `指し手`, and the better one as `推奨手`, which is not of
//! this game. ShogiHome (`comment.ts`) reads the first as an analysis of the position after the move, in Black's view.
//! Its issue 73 shows the sign: for a move of White `#指し手[72]△１四歩 …` and `#推奨手[29]△４二銀 …`, and the move
//! that is recommended to White has the lower number.
//!
//! ShogiGUI numbers the engines of an analysis: `**Engines 0 NAME` before the first move names the engine of the lines
//! `**解析 0 …`. ShogiDroid, its sister, writes the same in the language of the device: `**Analysis 0 … Value 88 …`.

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
    /// The number of the engine in an analysis by several.
    pub engine: u32,
}

impl Annotation {
    /// Whether it is the score of a position: no bound, of the best line, by the first engine.
    pub fn counts(&self) -> bool {
        !self.bound && self.candidate == 1 && self.engine == 0
    }
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

/// The engine that ShogiGUI's analysis is by: the name after `**Engines 0`, and where it begins.
pub fn engine_of_analysis(comment: &[u8]) -> Option<usize> {
    const FIRST: &[u8] = b"**Engines 0 ";
    comment.starts_with(FIRST).then_some(FIRST.len())
}

fn shogihome(text: &str, analysis: bool) -> Option<Annotation> {
    let found =
        |score, mate| Annotation { black_score_cp: score, mate, analysis, bound: false, candidate: 1, engine: 0 };
    if let Some(value) = PIYO.split(' ').find_map(|word| text.strip_prefix(word)).filter(|_| analysis) {
        return value.split_once(']')?.0.trim().parse().ok().map(|score| found(score, false));
    }
    if let Some(value) = text.strip_prefix("評価値=") {
        return value.trim().parse().ok().map(|score| found(score, false));
    }
    let winner = text.strip_prefix("詰み=")?;
    let black = winner.starts_with("先手勝ち");
    (black || winner.starts_with("後手勝ち")).then(|| found(mate_cp(black), true))
}

/// How ぴよ将棋's analyses begin.
pub(super) const PIYO: &str = "指し手[ 形勢[";

/// The first words of ShogiGUI's score comments, ShogiDroid's in English, and that of 棋神アナリティクス.
pub(super) const SHOGIGUI: &str = "対局 解析 検討 候補 詰み探索 評価値 時間 深さ ノード数 \
                                   Game Analysis Consider Rank Mate Value Time Depth Nodes Engine";

fn shogigui(body: &str) -> Option<Annotation> {
    let words = body.split_ascii_whitespace();
    let first = words.clone().next()?;
    let rank = |word: &str| word.strip_prefix("候補").or_else(|| word.strip_prefix("Rank"))?.parse::<u32>().ok();
    if !SHOGIGUI.split(' ').any(|word| word == first) && rank(first).is_none() {
        return None;
    }
    let analysis = !matches!(first, "対局" | "Game");
    let (mut candidate, mut engine) = (1, 0);
    let mut words = words.enumerate();
    while let Some((i, word)) = words.next() {
        match word {
            "評価値" | "Value" => {
                let (black_score_cp, mate, bound) = value_of(words.next()?.1, words.next().map(|(_, word)| word))?;
                return Some(Annotation { black_score_cp, mate, analysis, bound, candidate, engine });
            }
            "読み筋" | "Moves" => return None,
            _ => {}
        }
        candidate = rank(word).unwrap_or(candidate);
        if i == 1 {
            engine = word.parse().unwrap_or(engine);
        }
    }
    None
}

/// ShogiGUI's value: Black's score, whether it is a mate, whether it is a bound.
fn value_of(value: &str, next: Option<&str>) -> Option<(i32, bool, bool)> {
    for mate in ["詰", "Mate"] {
        // the number of plies may follow at once, or after a blank
        let plies = value.get(1..).and_then(|text| text.strip_prefix(mate));
        if plies.is_some_and(|plies| plies.bytes().all(|b| b.is_ascii_digit())) && value.starts_with(['+', '-']) {
            return Some((mate_cp(value.starts_with('+')), true, false));
        }
    }
    let number = value.trim_end_matches(['↑', '↓']);
    let is_bound = number.len() < value.len() || matches!(next, Some("↑" | "↓"));
    Some((number.parse().ok()?, false, is_bound))
}

/// What is written for a minus besides `-`: the sign of mathematics, which is full-width in Shift_JIS and EUC-JP, and
/// the dash that word processors make of it.
const MINUS: [char; 3] = ['\u{2212}', '\u{ff0d}', '\u{2013}'];

/// The text with `-` for every other minus; `None` if it has none.
#[cold]
pub(super) fn with_minus(text: &str) -> Option<String> {
    text.contains(MINUS).then(|| text.replace(MINUS, "-"))
}

/// Words that come before a score.
const NAMES: [&str; 8] = ["評価値", "形勢", "eval", "evaluation", "score", "value", "cp", "wv"];

/// Whether a text that is not read looks like a score: one of its first words is a number with a sign or decimals,
/// such as `(-0.35)` or `0,47/14`, or is one of [`NAMES`], and a number follows. A number of 0 is no score in the forms
/// that are known, and lichess describes what `[%eval …]` says in words with an arrow.
#[cold]
pub(super) fn looks_like_score(text: &str) -> bool {
    /// Words that are looked at.
    const WORDS: usize = 3;
    let ends = |c: char| c.is_whitespace() || "()[]{}:;=|：".contains(c);
    let mut words = text.split(ends).filter(|word| !word.is_empty());
    let mut named = false;
    !text.contains('→')
        && words.by_ref().take(WORDS).any(|word| {
            let found = is_number(word, named);
            named = NAMES.iter().any(|name| word.trim_start_matches(['*', '%', '\'']).eq_ignore_ascii_case(name));
            found
        })
}

/// Whether a word is a number other than 0 with a sign or decimals, perhaps with a depth after a slash. After the word
/// for a score it need not have them.
fn is_number(word: &str, named: bool) -> bool {
    let text = word.trim_end_matches([',', '.', '、']);
    let number = text.trim_start_matches(['+', '-']).trim_start_matches(MINUS);
    let number = number.split_once('/').map_or(number, |(number, _)| number);
    let (whole, decimals) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    are_digits(whole)
        && are_digits(decimals)
        && number.bytes().any(|b| matches!(b, b'1'..=b'9'))
        && (named
            || number.len() > whole.len()
            || text.len() > text.trim_start_matches(['+', '-']).trim_start_matches(MINUS).len())
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
        // as ShogiGUI and ShogiDroid write analyses; ShogiHome's tests and kif players on GitHub have these lines
        let analysis = "**解析 0 △ 候補1 時間 00:00.0 深さ 32 ノード数 1 評価値 -7 読み筋 △３三角(22) ";
        assert_eq!(score(analysis), Some((-7, false, true, 1)));
        assert_eq!(score(&analysis.replace("△ 候補1", " 候補2")), Some((-7, false, true, 2)));
        assert_eq!(score("**検討 候補3 時間 00:06.0 評価値 -7 読み筋 x"), Some((-7, false, true, 3)));
        assert_eq!(score("**解析 0 △ 評価値 -詰 3 読み筋 △同　角成(46)"), Some((-100_000, true, true, 1)));
        assert_eq!(score("**対局 評価値 +詰5 読み筋 none"), Some((100_000, true, false, 1)));
        let english = "**Analysis 0 Rank2 Time 00:00.3 Depth 11/15 Nodes 131458 Value 30 Moves x";
        assert_eq!(score(english), Some((30, false, true, 2)));
        assert_eq!(score("**Game Time 00:00.3 Value -Mate 12 Moves x"), Some((-100_000, true, false, 1)));
        let by = |engine: &str| parse(&analysis.replace("解析 0", engine)).map(|a| (a.engine, a.counts()));
        assert_eq!([by("解析 0"), by("解析 1"), by("解析")], [Some((0, true)), Some((1, false)), Some((0, true))]);
        assert_eq!(engine_of_analysis("**Engines 0 水匠5".as_bytes()), Some(12));
        assert_eq!(engine_of_analysis(b"**Engines 1 x"), None);
        assert_eq!(score("**評価値=-35"), Some((-35, false, false, 1)));
        assert_eq!(score("*#評価値=-456"), Some((-456, false, true, 1)));
        assert_eq!(score("**詰み=後手勝ち:5手"), Some((-100_000, true, false, 1)));
        // ShogiHome's issue 73 and its tests
        assert_eq!(score("*#指し手[72]△１四歩  ▲６八銀  △３四歩"), Some((72, false, true, 1)));
        assert_eq!(score("*#形勢[-30]▲７六歩"), Some((-30, false, true, 1)));
        assert_eq!(score("*#推奨手[29]△４二銀  ▲５八金右"), None);
        let engine =
            "** Engine suisho Version Suisho5/YaneuraOu-V7.50 候補1 深さ 13/19 ノード数 596119 評価値 -47 読み筋";
        assert_eq!(score(engine), Some((-47, false, true, 1)));
        assert!(parse("**対局 評価値 300↑ 読み筋 x").is_some_and(|a| a.bound));
        assert!(parse("**対局 評価値 300 ↓ 読み筋 x").is_some_and(|a| a.bound));
    }

    #[test]
    fn other_forms_look_like_scores() {
        for text in
            ["*評価値: +157 先手有望", "+0,47/14 0.31s", "(-0.35)", "eval 35", "−12", "Stockfish 16: +0.35/20", "2.5"]
        {
            assert!(looks_like_score(text), "{text}");
        }
        for text in [
            "",
            "0.00",
            "good",
            "12 moves",
            "1/2",
            "1-0",
            "2024.01.14",
            "0.31s",
            "(0.12 → 0.75) Inaccuracy",
            "評価値は 300 点",
        ] {
            assert!(!looks_like_score(text), "{text}");
        }
    }

    #[test]
    fn prose_gives_no_score() {
        for text in [
            "*評価値は 300 点ほど",
            "**読み筋=▲７八金",
            "** 読み筋 swap multipv 1, 3",
            "**互角",
            "*",
            "",
            "**評価値=x",
            "**解析",
            "**候補手",
            "**解析 0 読み筋 評価値 5",
            "**解析 0 評価値 52.3% 読み筋 x",
            "**対局 評価値 詰 5",
            "**対局 評価値",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
