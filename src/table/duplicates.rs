//! Samples that are in several files: each counts once, and which one does not depend on the order of the files.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::game::{GameKey, key};
use crate::record::GameHash;
use crate::sample::{Sample, SampleTable};
use crate::types::Color;

/// What identifies a sample: its game, side and window.
pub(super) type SampleKey = (GameKey, Color, u32);

/// The samples of one file with the same key, as a number of rows and a hash of their content. The smaller one counts:
/// that with more rows. `None` for samples of records, which always count.
type Content = Option<(Reverse<u32>, u64)>;

/// The samples of the earlier files.
#[derive(Debug, Default)]
pub(super) struct Earlier(HashMap<SampleKey, Content>);

/// What was removed from the table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Removed {
    /// Rows of the file.
    pub new: u64,
    /// Rows of earlier files.
    pub old: u64,
    /// Games and windows with other values in the file than in an earlier one.
    pub differ: u64,
    /// The first row of the file with a game and window of an earlier file.
    pub first: Option<usize>,
}

impl Earlier {
    /// The samples of records.
    pub fn of_records(table: &SampleTable) -> Self {
        let all = table.samples.iter().filter_map(|s| Some(((key(table, s)?, s.color, s.window), None)));
        Self(all.collect())
    }

    /// Keeps each sample once, of those before `first` and those of the file from there on, which have `keys`.
    pub fn settle(&mut self, table: &mut SampleTable, first: usize, keys: &[SampleKey]) -> Removed {
        let mut contents: HashMap<SampleKey, (u32, GameHash)> = HashMap::new();
        for (sample, key) in table.samples[first..].iter().zip(keys) {
            let (rows, hash) = contents.entry(*key).or_default();
            *rows += 1;
            add(hash, table, sample);
        }
        let mut removed = Removed::default();
        let (mut lost, mut replaced) = (HashSet::new(), HashSet::new());
        for (key, (rows, hash)) in contents {
            let content = Some((Reverse(rows), hash.finish(&[String::new(), String::new()], None)));
            let Some(old) = self.0.get_mut(&key) else {
                self.0.insert(key, content);
                continue;
            };
            removed.differ += u64::from(old.is_some() && *old != content);
            if *old <= content {
                lost.insert(key);
            } else {
                *old = content;
                replaced.insert(key);
            }
        }
        if lost.is_empty() && replaced.is_empty() {
            return removed;
        }
        removed.first = keys.iter().position(|key| lost.contains(key) || replaced.contains(key));
        let new = table.samples.split_off(first);
        let kept = new.into_iter().zip(keys).filter(|(_, key)| !lost.contains(*key)).map(|(sample, _)| sample);
        let kept: Vec<Sample> = kept.collect();
        removed.new = (keys.len() - kept.len()) as u64;
        if !replaced.is_empty() {
            let old = std::mem::take(&mut table.samples);
            let is_replaced =
                |s: &Sample| key(table, s).is_some_and(|key| replaced.contains(&(key, s.color, s.window)));
            let stays: Vec<Sample> = old.into_iter().filter(|sample| !is_replaced(sample)).collect();
            removed.old = (first - stays.len()) as u64;
            table.samples = stays;
        }
        table.samples.extend(kept);
        removed
    }
}

/// Adds the values of a sample to a hash.
fn add(hash: &mut GameHash, table: &SampleTable, sample: &Sample) {
    [sample.engine, sample.opponent].iter().for_each(|name| hash.bytes(table.names.get(*name).as_bytes()));
    let rates = sample.declared.map(<[u16; 3]>::from).map_or([u64::MAX; 3], |rates| rates.map(u64::from));
    let values = [
        sample.ply.into(),
        sample.score_cp as u64,
        sample.reply_cp.map_or(u64::MAX, |cp| u64::from(cp as u32)),
        sample.mate.into(),
        sample.outcome.value().to_bits(),
        sample.material.map_or(u64::MAX, u64::from),
        sample.line,
    ];
    values.into_iter().chain(rates).for_each(|value| hash.word(value));
}
