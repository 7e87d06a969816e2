//! Counts of the files, games and positions that were read, used and skipped.

use std::collections::BTreeMap;

use evalcurve_words::language::{Language, Text, ToText};
use evalcurve_words::{display_text, text};

use super::found::FoundBlock;
use crate::record::source::Refusal;
use crate::record::{OddityKind, SkipReason};

/// A problem in a source, with its position.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The file, or the archive and member.
    pub source: String,
    /// Line from 1; 0 for the file as a whole.
    pub line: u64,
    /// What it is of, and the kind under which it is counted.
    pub kind: ProblemKind,
    /// The value, or a message.
    pub value: Text,
    /// Whether something was damaged or could not be read, so that a strict reading stops here. Else it is a remark.
    #[serde(skip)]
    pub is_error: bool,
}

/// What a [`Problem`] is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A game, a position or a row that gives no samples, or a file in which none does.
    Skipped(SkipReason),
    /// A file without games.
    Refused(Refusal),
    /// Something odd about what is used nevertheless.
    Odd(OddityKind),
    /// What only a table, or the program that reads, knows, such as `bad_score`: the word of reports.
    Other(&'static str),
}

impl ProblemKind {
    /// The word in reports, such as `broken_move`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skipped(reason) => reason.as_str(),
            Self::Refused(refusal) => refusal.as_str(),
            Self::Odd(oddity) => oddity.as_str(),
            Self::Other(word) => word,
        }
    }
}

impl serde::Serialize for ProblemKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl From<SkipReason> for ProblemKind {
    fn from(reason: SkipReason) -> Self {
        Self::Skipped(reason)
    }
}

impl From<Refusal> for ProblemKind {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<OddityKind> for ProblemKind {
    fn from(oddity: OddityKind) -> Self {
        Self::Odd(oddity)
    }
}

impl Problem {
    /// The message: place, kind and value.
    pub fn text(&self, language: Language) -> String {
        self.to_text().text(language)
    }
}

impl ToText for Problem {
    fn to_text(&self) -> Text {
        let kind = kind_words(self.kind.as_str());
        let line = if self.line > 0 { format!(":{}", self.line) } else { String::new() };
        match self.value.is_empty() {
            true => text!("{}{line}: {kind}", self.source),
            false => text!("{}{line}: {kind}: {}", self.source, self.value),
        }
    }
}

display_text!(Problem);

impl std::error::Error for Problem {}

/// The words for what reports count, such as `no_scores`.
pub fn kind_words(kind: &str) -> Text {
    Text::word(kind.replace('_', " "))
}

/// Counts of files, games and positions. Games read = used + the sum of skipped.
#[derive(Debug, Clone, Default)]
pub struct ReadReport {
    /// Files and members of archives with games.
    pub files_read: u64,
    /// Files and members without games, by reason.
    pub files_refused: BTreeMap<&'static str, u64>,
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
    /// Comments that look like scores and are not read.
    pub unread: u64,
    /// Positions of training data and rows of tables, by format.
    pub positions: BTreeMap<&'static str, PositionCount>,
    /// Games whose moves were checked by the `csa` crate.
    pub verified: u64,
    /// The first problems of each kind, in the order of reading.
    pub problems: Vec<Problem>,
    /// What was decided while reading, such as the point of view of a file's scores.
    pub notes: Vec<Text>,
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

    /// Adds the counts of a block.
    pub(super) fn add_block(&mut self, block: &FoundBlock) {
        if let Some(refusal) = block.refusal {
            count(&mut self.files_refused, refusal.as_str(), 1);
        }
        self.games_read += block.read;
        self.book_moves += block.book_moves;
        self.scores += block.scores;
        self.unread += block.unread.as_ref().map_or(0, |unread| unread.count);
        self.verified += block.verified;
        self.bytes += block.bytes;
        block.skipped.iter().for_each(|(reason, n)| self.skip_games(*reason, *n));
        self.skip_games(SkipReason::Duplicate, block.copies.len() as u64 + block.more_copies);
        add_counts(&mut self.oddities, &block.oddities);
    }

    /// Adds the counts of files without games.
    pub(super) fn add(&mut self, other: &Self) {
        self.files_read += other.files_read;
        self.games_read += other.games_read;
        self.book_moves += other.book_moves;
        self.scores += other.scores;
        self.unread += other.unread;
        self.verified += other.verified;
        self.bytes += other.bytes;
        add_counts(&mut self.files_refused, &other.files_refused);
        add_counts(&mut self.games_skipped, &other.games_skipped);
        add_counts(&mut self.oddities, &other.oddities);
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
    pub read: u64,
    /// Positions in the sample table, before filters.
    pub used: u64,
    /// The others, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl PositionCount {
    /// Positions with a score.
    pub fn scored(&self) -> u64 {
        let without = [SkipReason::BrokenRecord, SkipReason::NoScores].map(|reason| self.skipped.get(reason.as_str()));
        self.read.saturating_sub(without.into_iter().flatten().sum())
    }

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

    #[test]
    fn every_reason_has_words_in_japanese() {
        let kinds = [SkipReason::VARIANTS, Refusal::VARIANTS, OddityKind::VARIANTS].concat();
        for kind in kinds {
            assert!(!kind_words(kind).text(Language::Japanese).is_ascii(), "{kind}");
        }
        assert_eq!(kind_words("no_scores").to_string(), "no scores");
    }

    #[test]
    fn a_problem_names_place_kind_and_value() {
        let problem = Problem {
            source: "a.csa".to_owned(),
            line: 3,
            kind: SkipReason::BrokenMove.into(),
            value: Text::same("'+7776XX'"),
            is_error: true,
        };
        assert_eq!(problem.to_string(), "a.csa:3: broken move: '+7776XX'");
        assert_eq!(problem.text(Language::Japanese), "a.csa:3: 壊れた指し手: '+7776XX'");
    }
}
