//! Bradley-Terry ratings from the games themselves, for records without ratings.

use std::collections::{HashMap, HashSet};

use evalcurve_calibration::types::Outcome;
use evalcurve_fit::rating::{PRIOR_DRAWS, rate};
use evalcurve_records::sample::{GameInfo, SampleTable};
use evalcurve_words::language::{Text, ToText};
use evalcurve_words::text;

/// Why ratings computed from the games themselves do not forecast these games.
pub fn own() -> Text {
    text!("the records hold no ratings, and those made from these games know the results")
}

/// Rates the players of a table in which no game has a rating. Returns remarks for the user.
///
/// The ratings of a game are its players', also where an engine that did not play gave the scores. Ratings in records
/// are not changed, and never mixed with these: the two scales have nothing in common.
pub fn fill(table: &mut SampleTable) -> Vec<Text> {
    let with = table.games.iter().filter(|g| g.ratings.iter().any(Option::is_some)).count();
    let analysed = analysed(table);
    // a game that several engines annotate counts once
    let mut seen = HashSet::new();
    let first: Vec<bool> = table.games.iter().map(|game| seen.insert(game.id)).collect();
    let own = || {
        let counted = table.games.iter().zip(&analysed).zip(&first);
        let is_own = |game: &GameInfo, analysed: bool| !analysed || game.players[0] != game.players[1];
        counted.filter(move |((game, analysed), first)| **first && is_own(game, **analysed)).map(|((game, _), _)| game)
    };
    let without = own().filter(|g| g.ratings.iter().all(Option::is_none)).count();
    if without == 0 {
        return Vec::new();
    }
    if with > 0 {
        return vec![text!(
            "{without} games have no ratings and get none, since {with} others have ratings in their records"
        )];
    }
    let mut players: Vec<u32> = own().flat_map(|g| g.players).collect();
    // by name, since the ids of names depend on the order of reading, and the last digits of the ratings would as well
    players.sort_unstable_by_key(|&id| (table.names.get(id), id));
    players.dedup();
    let numbers: HashMap<u32, usize> = players.iter().copied().zip(0..).collect();
    let index = |id: u32| numbers.get(&id).copied().unwrap_or(0);
    let games: Vec<(usize, usize, Outcome)> = own()
        .filter(|g| g.players[0] != g.players[1])
        .map(|g| (index(g.players[0]), index(g.players[1]), g.black_outcome))
        .collect();
    if games.is_empty() {
        return Vec::new();
    }
    match rate(players.len(), &games, PRIOR_DRAWS) {
        Err(error) => vec![error.to_text().about(&text!("no ratings"))],
        Ok(ratings) => {
            for game in &mut table.games {
                if game.players.iter().all(|player| numbers.contains_key(player)) && game.players[0] != game.players[1]
                {
                    game.ratings = game.players.map(|p| Some(ratings.elo[index(p)]));
                }
            }
            table.bradley_terry = true;
            let pools = ratings.component.iter().max().map_or(0, |c| c + 1);
            let mut remark = text!(
                "the records hold no ratings: those in the sample table follow from who beat whom in these games \
                 (mean 0), and constants can differ by a tenth from those with real ratings"
            );
            if pools > 1 {
                remark.push(&text!("; the mean is 0 in each of {pools} groups of engines that never met"));
            }
            vec![remark]
        }
    }
}

/// Which games hold the scores of an engine that did not play them.
fn analysed(table: &SampleTable) -> Vec<bool> {
    let mut analysed = vec![false; table.games.len()];
    for sample in &table.samples {
        let index = sample.game as usize;
        if let (Some(flag), Some(game)) = (analysed.get_mut(index), table.games.get(index)) {
            *flag |= !game.players.contains(&sample.engine);
        }
    }
    analysed
}
