//! Samples that are in several inputs: each counts once, and which one does not depend on the order of the inputs.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use evalcurve_calibration::types::Color;
use evalcurve_records::record::GameHash;
use evalcurve_records::sample::{NameId, Sample, SampleTable};

use super::game::{GameKey, key};

/// A file of which all samples are in the table.
#[derive(Debug)]
pub(super) struct TableFile {
    pub name: String,
    /// Where its samples are in the table. The files follow each other, after the samples of records.
    pub samples: Range<usize>,
    /// The line of each sample in the file; empty if its samples have no keys.
    pub lines: Vec<u64>,
    /// Whether its games are chess.
    pub chess: bool,
}

/// What was removed of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Removed {
    pub rows: u64,
    /// The line of the first one.
    pub line: u64,
    /// The other files that count instead, if they have other values, and how many windows these are.
    pub instead: BTreeSet<String>,
    pub differ: u64,
}

/// What identifies a sample: its game, engine, side and window.
type SampleKey = (GameKey, NameId, Color, u32);

/// Of two files with the same samples, the one with the larger rank counts: it says more of them, or of more of them;
/// or it has the larger digest. Files of one rank have the same samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    details: usize,
    rows: usize,
    digest: u64,
}

/// Keeps each sample once. Samples of records count, whatever the files say; and without a key, equal rows are
/// different samples. Call it when all samples have their side.
pub(super) fn settle(table: &mut SampleTable, files: &[TableFile]) -> Vec<Removed> {
    let mut removed: Vec<Removed> = files.iter().map(|_| Removed::default()).collect();
    let records = files.first().map_or(table.samples.len(), |file| file.samples.start);
    if files.len() + usize::from(records > 0) < 2 {
        return removed;
    }
    let with_keys = || files.iter().enumerate().filter(|(_, file)| !file.lines.is_empty());
    let ranks: Vec<Rank> = files.iter().map(|file| rank(table, file)).collect();
    // the file that counts, `None` for records, by what it counts for
    let mut counts: HashMap<SampleKey, Option<usize>> = HashMap::new();
    counts.extend(table.samples[..records].iter().filter_map(|sample| Some((sample_key(table, sample)?, None))));
    let mut several: HashSet<SampleKey> = HashSet::new();
    for (place, file) in with_keys() {
        for key in table.samples[file.samples.clone()].iter().filter_map(|sample| sample_key(table, sample)) {
            match counts.entry(key) {
                Entry::Vacant(free) => {
                    free.insert(Some(place));
                }
                Entry::Occupied(mut taken) if *taken.get() != Some(place) => {
                    several.insert(key);
                    if taken.get().is_some_and(|other| ranks[place] > ranks[other]) {
                        taken.insert(Some(place));
                    }
                }
                Entry::Occupied(_) => {}
            }
        }
    }
    if several.is_empty() {
        return removed;
    }
    let mut is_kept = vec![true; table.samples.len()];
    let mut contents: HashMap<(SampleKey, usize), u64> = HashMap::new();
    for (place, file) in with_keys() {
        for (index, line) in file.samples.clone().zip(&file.lines) {
            let sample = &table.samples[index];
            let Some(key) = sample_key(table, sample).filter(|key| several.contains(key)) else { continue };
            let content = contents.entry((key, place)).or_default();
            *content = content.wrapping_add(hash(table, sample));
            if counts[&key] != Some(place) {
                is_kept[index] = false;
                let removed = &mut removed[place];
                removed.line = if removed.rows == 0 { *line } else { removed.line };
                removed.rows += 1;
            }
        }
    }
    for ((key, place), content) in &contents {
        let Some(other) = counts[key].filter(|other| other != place) else { continue };
        if contents.get(&(*key, other)) != Some(content) {
            removed[*place].differ += 1;
            removed[*place].instead.insert(files[other].name.clone());
        }
    }
    let mut kept = is_kept.into_iter();
    table.samples.retain(|_| kept.next().unwrap_or(true));
    removed
}

fn sample_key(table: &SampleTable, sample: &Sample) -> Option<SampleKey> {
    Some((key(table, sample)?, sample.engine, sample.color, sample.window))
}

fn rank(table: &SampleTable, file: &TableFile) -> Rank {
    let samples = &table.samples[file.samples.clone()];
    let details = [
        file.chess,
        samples.iter().any(|sample| sample.reply_cp.is_some()),
        samples.iter().any(|sample| sample.declared.is_some()),
        samples.iter().any(|sample| sample.material.is_some()),
    ];
    Rank {
        details: details.into_iter().filter(|is_there| *is_there).count(),
        rows: samples.len(),
        digest: samples.iter().fold(0, |digest, sample| digest.wrapping_add(hash(table, sample))),
    }
}

/// A hash of the values of a sample.
fn hash(table: &SampleTable, sample: &Sample) -> u64 {
    let mut hash = GameHash::default();
    [sample.engine, sample.opponent].iter().for_each(|name| hash.bytes(table.names.get(*name).as_bytes()));
    let rates = sample.declared.map(<[u16; 3]>::from).map_or([u64::MAX; 3], |rates| rates.map(u64::from));
    let values = [
        table.game(sample).map_or(0, |game| game.id),
        sample.window.into(),
        sample.ply.into(),
        sample.score_cp as u64,
        sample.reply_cp.map_or(u64::MAX, |cp| u64::from(cp as u32)),
        sample.mate.into(),
        sample.outcome.value().to_bits(),
        sample.material.map_or(u64::MAX, u64::from),
        sample.line,
    ];
    values.into_iter().chain(rates).for_each(|value| hash.word(value));
    hash.finish(&[String::new(), String::new()], None)
}
