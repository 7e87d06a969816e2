//! Names that play chess in one table and another game in another: scores of two games share no scale, and their
//! players no strengths.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use evalcurve_records::sample::{NameId, SampleTable};

use super::duplicates::TableFile;

/// Gives the names that occur in chess and in another game another name in chess, and returns both with the first
/// place in `files`. `records` is the number of samples that are of records.
pub(super) fn split(table: &mut SampleTable, files: &[TableFile], records: usize) -> Vec<(usize, String, String)> {
    let of_files = files.iter().enumerate().map(|(place, file)| (Some(place), file.samples.clone(), file.chess));
    let mut parts: Vec<(Option<usize>, Range<usize>, bool)> =
        std::iter::once((None, 0..records, table.chess)).chain(of_files).filter(|(_, of, _)| !of.is_empty()).collect();
    share_games(table, &mut parts);
    let mut seen: BTreeMap<NameId, [Option<usize>; 2]> = BTreeMap::new();
    for (place, range, chess) in &parts {
        for sample in &table.samples[range.clone()] {
            for name in [sample.engine, sample.opponent] {
                seen.entry(name).or_default()[usize::from(*chess)].get_or_insert(place.unwrap_or(0));
            }
        }
    }
    let mut both = Vec::new();
    let mut own = BTreeMap::new();
    for (id, [other, chess]) in seen {
        let name = table.names.get(id).to_owned();
        if let (Some(_), Some(place), false) = (other, chess, name.is_empty()) {
            let renamed = format!("{name} (chess)");
            own.insert(id, table.names.intern(&renamed));
            both.push((place, name, renamed));
        }
    }
    if both.is_empty() {
        return both;
    }
    let mut games = HashSet::new();
    for (_, range, _) in parts.into_iter().filter(|(.., chess)| *chess) {
        for sample in &mut table.samples[range] {
            games.insert(sample.game);
            for name in [&mut sample.engine, &mut sample.opponent] {
                *name = own.get(name).copied().unwrap_or(*name);
            }
        }
    }
    for (_, info) in table.games.iter_mut().enumerate().filter(|(game, _)| games.contains(&(*game as u32))) {
        info.players.iter_mut().for_each(|name| *name = own.get(name).copied().unwrap_or(*name));
    }
    both.sort_by(|a, b| a.1.cmp(&b.1));
    both
}

/// A table that does not say what it is has the same games as one of chess: it is chess, too.
fn share_games(table: &SampleTable, parts: &mut [(Option<usize>, Range<usize>, bool)]) {
    let games = |range: &Range<usize>| table.samples[range.clone()].iter().map(|sample| sample.game);
    let mut chess: HashSet<u32> = parts.iter().filter(|(.., chess)| *chess).flat_map(|(_, of, _)| games(of)).collect();
    while let Some((_, range, is_chess)) =
        parts.iter_mut().find(|(_, range, is_chess)| !is_chess && games(range).any(|game| chess.contains(&game)))
    {
        *is_chess = true;
        chess.extend(games(range));
    }
}
