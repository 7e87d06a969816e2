//! Counts of the files, games and positions that were read, used and skipped.

use std::collections::BTreeMap;
use std::fmt;

use evalcurve_core::language::{Language, Text};

use crate::record::SkipReason;

/// A problem in a source, with its position.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The file, or the archive and member.
    pub source: String,
    /// Line from 1; 0 for the file as a whole.
    pub line: u64,
    /// The kind under which the problem is counted.
    pub kind: &'static str,
    /// The value, or a message.
    pub value: Text,
    /// Whether `--strict` stops here.
    #[serde(skip)]
    pub strict: bool,
}

impl Problem {
    /// The message: place, kind and value.
    pub fn text(&self, language: Language) -> String {
        let line = if self.line > 0 { format!(":{}", self.line) } else { String::new() };
        let value = self.value.text(language);
        let value = match &value[..] {
            "" => String::new(),
            value => format!(": {value}"),
        };
        format!("{}{line}: {}{value}", self.source, kind_words(self.kind, language))
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Language::English))
    }
}

/// What reports count, in Japanese: reasons for which files, games and rows were skipped, and oddities.
const JAPANESE: [(&str, &str); 46] = [
    ("abnormal", "異常終了"),
    ("all_scores_zero", "評価値がすべて 0"),
    ("analysis_without_engine", "解析エンジン名なし"),
    ("broken_move", "壊れた指し手"),
    ("broken_position", "壊れた局面"),
    ("broken_record", "壊れたレコード"),
    ("draw", "引き分け"),
    ("duplicate", "重複"),
    ("filtered", "条件に合わない"),
    ("illegal_result", "不正な結果"),
    ("interrupted", "中断"),
    ("no_effect", "効果なし"),
    ("no_moves", "指し手なし"),
    ("no_scores", "評価値なし"),
    ("no_scores_in_windows", "区間に評価値なし"),
    ("not_drawn", "抽出されず"),
    ("same_moves", "同じ指し手と評価値"),
    ("unknown_result", "結果不明"),
    ("unknown_winner", "勝者不明"),
    ("empty", "空のファイル"),
    ("nested_archive", "入れ子のアーカイブ"),
    ("no_games", "対局なし"),
    ("unknown_format", "不明な形式"),
    ("unreadable", "読み込み不可"),
    ("unreadable_score", "読めない評価値"),
    ("unknown_statement", "不明な行"),
    ("unreadable_header", "読めないヘッダ"),
    ("moves_differ", "指し手の不一致"),
    ("not_replayed", "再生できない指し手"),
    ("unread_comment", "読めないコメント"),
    ("zero_byte", "ゼロバイト"),
    ("trailing_data", "後続のデータ"),
    ("bad_engine", "不正なエンジン名"),
    ("bad_opponent", "不正な対局相手名"),
    ("bad_score", "不正な評価値"),
    ("bad_color", "不正な手番"),
    ("bad_result", "不正な結果"),
    ("bad_ply", "不正な手数"),
    ("bad_rating", "不正なレーティング"),
    ("bad_window", "不正な区間"),
    ("bad_game", "不正な対局"),
    ("bad_row", "不正な行"),
    ("bad_count", "不正な局数"),
    ("bad_player", "不正な対局者名"),
    ("same_player", "同じ対局者"),
    ("unfinished", "未完"),
];

/// The words for what reports count, such as `no_scores`.
pub fn kind_words(kind: &str, language: Language) -> String {
    let english = kind.replace('_', " ");
    let japanese = JAPANESE.iter().find(|(word, _)| *word == kind).map_or(english.as_str(), |(_, words)| words);
    language.choose(&english, japanese).to_owned()
}

/// Counts of files, games and positions. Games read = used + the sum of skipped.
#[derive(Debug, Clone, Default)]
pub struct ReadReport {
    /// Files and members of archives with games.
    pub files_read: u64,
    /// Files and members without games, by reason.
    pub files_refused: BTreeMap<&'static str, u64>,
    /// Games read.
    pub games_read: u64,
    /// Games with at least one sample.
    pub games_used: u64,
    /// Games without samples, by reason.
    pub games_skipped: BTreeMap<&'static str, u64>,
    /// Oddities in games that were used nevertheless, by kind.
    pub oddities: BTreeMap<&'static str, u64>,
    /// Moves marked as book moves, which have no score.
    pub book_moves: u64,
    /// Scored positions, drawn or not.
    pub scores: u64,
    /// Positions of training data and rows of tables, by format.
    pub positions: BTreeMap<&'static str, PositionCount>,
    /// Games whose moves were checked by the `csa` crate.
    pub verified: u64,
    /// The first problems of each kind, in the order of reading.
    pub problems: Vec<Problem>,
    /// Bytes of game text.
    pub bytes: u64,
}

impl ReadReport {
    /// Counts `n` used games as skipped.
    pub fn skip_used(&mut self, reason: SkipReason, n: u64) {
        self.games_used -= n.min(self.games_used);
        self.skip_games(reason, n);
    }

    /// Counts `n` games as skipped.
    pub(super) fn skip_games(&mut self, reason: SkipReason, n: u64) {
        count(&mut self.games_skipped, reason.as_str(), n);
    }

    /// Whether training data was read.
    pub fn has_packed(&self) -> bool {
        self.packed().next().is_some()
    }

    /// The positions of training data, one entry per format.
    pub fn packed(&self) -> impl Iterator<Item = &PositionCount> {
        self.positions.iter().filter(|(format, _)| **format != "table").map(|(_, count)| count)
    }

    /// Counts `n` used positions of a format as skipped.
    pub(super) fn skip_positions(&mut self, format: &str, reason: SkipReason, n: u64) {
        if let Some(count) = self.positions.get_mut(format) {
            count.used -= n;
            count.skip(reason, n);
        }
    }

    /// Whether all sums hold.
    pub fn adds_up(&self) -> bool {
        self.games_read == self.games_used + self.games_skipped.values().sum::<u64>()
            && self.positions.values().all(PositionCount::adds_up)
    }
}

/// Counts of single positions, from training data or a table. Read = used + the sum of skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct PositionCount {
    /// Positions read.
    pub read: u64,
    /// Positions in the sample table, before filters.
    pub used: u64,
    /// The others, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl PositionCount {
    /// Counts `n` positions as skipped.
    pub(crate) fn skip(&mut self, reason: SkipReason, n: u64) {
        count(&mut self.skipped, reason.as_str(), n);
    }

    /// Adds the counts of another block.
    pub(crate) fn add(&mut self, other: &Self) {
        self.read += other.read;
        self.used += other.used;
        add_counts(&mut self.skipped, &other.skipped);
    }

    /// Whether the sum holds.
    pub fn adds_up(&self) -> bool {
        self.read == self.used + self.skipped.values().sum::<u64>()
    }
}

/// Adds `n` under `key`; an `n` of 0 makes no entry.
pub(super) fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K, n: u64) {
    if n > 0 {
        *counts.entry(key).or_default() += n;
    }
}

/// Adds counts by key.
pub(super) fn add_counts(counts: &mut BTreeMap<&'static str, u64>, other: &BTreeMap<&'static str, u64>) {
    other.iter().for_each(|(key, n)| count(counts, *key, *n));
}

#[cfg(test)]
mod tests {
    use strum::VariantNames;

    use super::*;
    use crate::record::OddityKind;
    use crate::record::source::Refusal;

    #[test]
    fn every_reason_has_words_in_japanese() {
        let kinds = [SkipReason::VARIANTS, Refusal::VARIANTS, OddityKind::VARIANTS].concat();
        for kind in kinds {
            assert!(!kind_words(kind, Language::Japanese).is_ascii(), "{kind}");
        }
        assert_eq!(kind_words("no_scores", Language::English), "no scores");
    }

    #[test]
    fn a_problem_names_place_kind_and_value() {
        let problem = Problem {
            source: "a.csa".to_owned(),
            line: 3,
            kind: SkipReason::BrokenMove.as_str(),
            value: Text::same("'+7776XX'"),
            strict: true,
        };
        assert_eq!(problem.to_string(), "a.csa:3: broken move: '+7776XX'");
        assert_eq!(problem.text(Language::Japanese), "a.csa:3: 壊れた指し手: '+7776XX'");
    }
}
