//! A rating list: all players of a collection of matches on one scale.

use std::collections::{BTreeMap, BTreeSet};

use evalcurve_fit::curve::Z_95;
use evalcurve_fit::normal;
use evalcurve_fit::rating::{Encounter, PRIOR_DRAWS, covariance, is_determined, rate_encounters};
use evalcurve_words::language::Text;
use evalcurve_words::text;

use super::elo::rate_of_elo;
use super::results::Match;

/// Groups with more players have no intervals: the covariance takes the square of their number in memory.
pub(crate) const MOST_WITH_INTERVALS: usize = 3_000;

/// Fewest games, beyond the number of players, from which a group estimates its own dispersion.
const LEAST_FOR_DISPERSION: f64 = 20.0;

/// The players of one group: a chain of games joins any two of them, and none of them met a player of another group.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RatingGroup {
    /// The players, strongest first.
    pub players: Vec<Rated>,
    /// The player whose rating was given; `None` if the mean of the group is 0.
    pub anchor: Option<String>,
    /// Whether the maximum likelihood is at finite ratings. If not, some players won, or lost, every game against all
    /// others, and half a drawn game for each player is added.
    pub determined: bool,
    /// Variance of the points of a game in units of that without draws: draws and paired openings make it less than 1.
    pub dispersion: f64,
    pub games: u64,
    /// `los[i][j]` is the probability that player i is stronger than player j; empty without intervals.
    #[serde(skip)]
    pub los: Vec<Vec<f64>>,
}

/// A player of a rating list.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Rated {
    /// The name.
    pub player: String,
    /// Elo points.
    pub elo: f64,
    /// Standard error of the difference to the anchor, or to the mean of the group, in Elo; `None` in large groups.
    pub standard_error: Option<f64>,
    /// 95% interval; an end is `None` if it is open, because all points were won or lost.
    pub interval: Option<(Option<f64>, Option<f64>)>,
    pub games: u64,
    /// Points, draws counted half.
    pub points: f64,
    /// Drawn games.
    pub draws: u64,
    pub opponents: usize,
}

/// Rates all players by the model of Bradley and Terry, with a draw as half a win (as Ordo does), largest group first.
///
/// The intervals are those of a quasi-likelihood (McCullagh and Nelder 1989, section 9.2): the inverse information,
/// times the dispersion of the group. The dispersion is the sum of the squared differences between points made and
/// expected, by pair of games of one opening where all games of two players are paired, over its expectation without
/// draws. Moving first is worth nothing: match runners let each player move first as often. Two matches of the same
/// players that are each other's view count once.
///
/// # Errors
/// An anchor that did not play, two anchors in one group, or a search that does not end.
pub fn rating_list(matches: &[&Match], anchors: &[(String, f64)]) -> Result<Vec<RatingGroup>, Text> {
    let known: BTreeSet<&str> = matches.iter().flat_map(|m| [&*m.player, &*m.opponent]).collect();
    if let Some((name, _)) = anchors.iter().find(|(name, _)| !known.contains(&**name)) {
        return Err(text!("no player {name:?} in the matches: an anchor is one of the rated players"));
    }
    let names: Vec<&str> = known.iter().copied().collect();
    let number: BTreeMap<&str, usize> = known.into_iter().zip(0..).collect();
    let mut meetings = Meetings::new();
    for of in matches.iter().filter(|of| of.player != of.opponent && of.games.games() > 0) {
        let (player, opponent) = (number[&*of.player], number[&*of.opponent]);
        let met = meetings.entry((player.min(opponent), player.max(opponent))).or_default();
        let of = if player < opponent { (*of).clone() } else { of.reversed() };
        if !met.contains(&of) {
            met.push(of);
        }
    }
    let encounter = |(&(first, second), met): (&(usize, usize), &Vec<Match>)| {
        let sum = |value: fn(&Match) -> f64| met.iter().map(value).sum();
        Encounter { first, second, games: sum(|m| m.games.games() as f64), points: sum(|m| m.games.points()) }
    };
    let encounters: Vec<Encounter> = meetings.iter().map(encounter).collect();
    let rate = |prior_draws| {
        rate_encounters(names.len(), &encounters, prior_draws).map_err(|error| text!("no ratings: {error}"))
    };
    let leaning = rate(PRIOR_DRAWS)?;
    let mut parts = vec![Part::default(); leaning.component.iter().max().map_or(0, |last| last + 1)];
    leaning.component.iter().enumerate().for_each(|(player, part)| parts[*part].players.push(player));
    for (encounter, met) in encounters.iter().zip(meetings.values()) {
        let part = &mut parts[leaning.component[encounter.first]];
        part.encounters.push(*encounter);
        part.met.push(met);
    }
    let sums = sums(&names, &meetings);
    // so little prior that it does not show, for groups whose likelihood has a maximum of its own
    let free = rate(1e-9).unwrap_or_else(|_| leaning.clone());
    let rated = |part: &Part| {
        let determined = is_determined(&part.players, &part.encounters);
        let elo = if determined { &free.elo } else { &leaning.elo };
        part.rated(elo, &sums, anchors).map(|group| RatingGroup { determined, ..group })
    };
    let mut groups = parts.iter().map(rated).collect::<Result<Vec<RatingGroup>, Text>>()?;
    groups.sort_by_key(|group| std::cmp::Reverse(group.players.len()));
    Ok(groups)
}

/// The matches of two players, in the view of the one with the smaller number.
type Meetings = BTreeMap<(usize, usize), Vec<Match>>;

/// The players with the sums of their games, not yet rated.
fn sums(names: &[&str], meetings: &Meetings) -> Vec<Rated> {
    let mut sums: Vec<Rated> =
        names.iter().map(|name| Rated { player: (*name).to_owned(), ..Rated::default() }).collect();
    for (&(first, second), met) in meetings {
        for (player, is_first) in [(first, true), (second, false)] {
            let sum = &mut sums[player];
            sum.opponents += 1;
            for m in met {
                let n = m.games.games();
                sum.games += n;
                sum.draws += m.games.draws;
                sum.points += if is_first { m.games.points() } else { n as f64 - m.games.points() };
            }
        }
    }
    sums
}

/// The players and games of one group.
#[derive(Debug, Clone, Default)]
struct Part<'a> {
    players: Vec<usize>,
    encounters: Vec<Encounter>,
    /// for each encounter
    met: Vec<&'a Vec<Match>>,
}

impl Part<'_> {
    fn rated(&self, elo: &[f64], sums: &[Rated], anchors: &[(String, f64)]) -> Result<RatingGroup, Text> {
        let anchor = self.anchor(sums, anchors)?;
        let shift = anchor.map_or(0.0, |(place, given)| given - elo[self.players[place]]);
        let dispersion = self.dispersion(elo);
        let covariance = (self.players.len() <= MOST_WITH_INTERVALS)
            .then(|| covariance(elo, &self.players, &self.encounters))
            .flatten();
        let variance = |i: usize, j: usize| {
            let matrix = covariance.as_ref()?;
            Some((dispersion * (matrix[i][i] + matrix[j][j] - 2.0 * matrix[i][j])).max(0.0))
        };
        let error = |i: usize| match anchor {
            Some((place, _)) => variance(i, place),
            None => covariance.as_ref().map(|matrix| (dispersion * matrix[i][i]).max(0.0)),
        };
        let player = |(place, &player): (usize, &usize)| {
            let (of, elo, standard_error) = (&sums[player], elo[player] + shift, error(place).map(f64::sqrt));
            let interval = standard_error.map(|error| {
                let (low, high) = (elo - Z_95 * error, elo + Z_95 * error);
                ((of.points > 0.0).then_some(low), (of.points < of.games as f64).then_some(high))
            });
            Rated { elo, standard_error, interval, ..of.clone() }
        };
        let players: Vec<Rated> = self.players.iter().enumerate().map(player).collect();
        let mut order: Vec<usize> = (0..players.len()).collect();
        order.sort_by(|&a, &b| players[b].elo.total_cmp(&players[a].elo));
        let superior = |i: usize, j: usize| {
            let deviation = variance(i, j).unwrap_or(0.0).sqrt();
            if deviation > 0.0 { normal::cdf((players[i].elo - players[j].elo) / deviation) } else { 0.5 }
        };
        let rows = if covariance.is_some() { order.as_slice() } else { &[] };
        Ok(RatingGroup {
            los: rows.iter().map(|&i| order.iter().map(|&j| superior(i, j)).collect()).collect(),
            anchor: anchor.map(|(place, _)| players[place].player.clone()),
            determined: true,
            dispersion,
            games: players.iter().map(|player| player.games).sum::<u64>() / 2,
            players: order.iter().map(|&place| players[place].clone()).collect(),
        })
    }

    /// The place and the rating of the anchor.
    fn anchor(&self, sums: &[Rated], anchors: &[(String, f64)]) -> Result<Option<(usize, f64)>, Text> {
        let place = |name: &String| self.players.iter().position(|player| sums[*player].player == *name);
        let mut given = anchors.iter().filter_map(|(name, elo)| Some((place(name)?, *elo)));
        let anchor = given.next();
        if let (Some((first, _)), Some((second, _))) = (anchor, given.next()) {
            let [first, second] = [first, second].map(|place| &sums[self.players[place]].player);
            return Err(text!("{first} and {second} are joined by games: one anchor fixes the ratings of both"));
        }
        Ok(anchor)
    }

    fn dispersion(&self, elo: &[f64]) -> f64 {
        let (mut found, mut expected, mut trials) = (0.0, 0.0, 0.0);
        for (e, met) in self.encounters.iter().zip(&self.met) {
            let p = rate_of_elo(elo[e.first] - elo[e.second]);
            expected += e.games * p * (1.0 - p);
            for m in *met {
                let square = |count: u64, points: f64, games: f64| count as f64 * (points - games * p).powi(2);
                if m.is_paired() {
                    let of = |(halves, &count): (usize, &u64)| square(count, 0.5 * halves as f64, 2.0);
                    found += m.pairs.counts.iter().enumerate().map(of).sum::<f64>();
                    trials += m.pairs.pairs() as f64;
                } else {
                    let counts = [(m.games.losses, 0.0), (m.games.draws, 0.5), (m.games.wins, 1.0)];
                    found += counts.into_iter().map(|(count, points)| square(count, points, 1.0)).sum::<f64>();
                    trials += m.games.games() as f64;
                }
            }
        }
        let free = trials - (self.players.len() as f64 - 1.0);
        if free < LEAST_FOR_DISPERSION || found <= 0.0 { 1.0 } else { found / expected * trials / free }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::match_stats::{Pentanomial, Wdl, elo_of_rate};
    use evalcurve_words::random;
    use serde_json::Value;

    fn met(player: &str, opponent: &str, [wins, draws, losses]: [u64; 3]) -> Match {
        let games = Wdl::new(wins, draws, losses);
        Match { player: player.to_owned(), opponent: opponent.to_owned(), games, ..Match::default() }
    }

    fn one(matches: &[Match]) -> RatingGroup {
        let groups = rating_list(&matches.iter().collect::<Vec<_>>(), &[]).unwrap();
        assert_eq!(groups.len(), 1);
        groups[0].clone()
    }

    #[test]
    fn ordo_gives_the_same_ratings_and_errors() {
        let table = include_str!("../../../../tests/oracle/ratings.csv");
        let rows = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let number = |text: &str| text.parse().unwrap();
        let matches: Vec<Match> = rows.map(|r| met(r[0], r[1], [number(r[2]), number(r[3]), number(r[4])])).collect();
        let theirs: Value =
            serde_json::from_str(include_str!("../../../../tests/oracle/ratings.expected.json")).unwrap();
        let ours = one(&matches);
        assert_eq!(ours.players.len(), theirs.as_array().unwrap().len());
        for (ours, theirs) in ours.players.iter().zip(theirs.as_array().unwrap()) {
            assert_eq!(ours.player, theirs["player"]);
            assert_eq!(
                (ours.points, ours.games),
                (theirs["points"].as_f64().unwrap(), theirs["games"].as_u64().unwrap())
            );
            let elo = theirs["elo"].as_f64().unwrap();
            assert!((ours.elo - elo).abs() < 0.05, "{}: {} here, {elo} there", ours.player, ours.elo);
            // theirs are simulated, with one rate of draws for all differences of strength
            let ratio = Z_95 * ours.standard_error.unwrap() / theirs["error"].as_f64().unwrap();
            assert!((0.9..1.1).contains(&ratio), "{}: errors differ by {ratio}", ours.player);
        }
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let truth = [120.0, 40.0, 0.0, -50.0, -110.0];
        let (mut inside, mut all) = (0, 0);
        for set in 0..300 {
            let mut matches = Vec::new();
            for i in 0..truth.len() {
                for j in i + 1..truth.len() {
                    let p = rate_of_elo(truth[i] - truth[j]);
                    let draw = 0.5 * 4.0 * p * (1.0 - p);
                    let mut counts = [0; 3];
                    for game in 0..40 {
                        let u = random::unit(&[set, i as u64, j as u64, game]);
                        counts[usize::from(u >= p - 0.5 * draw) + usize::from(u >= p + 0.5 * draw)] += 1;
                    }
                    matches.push(met(&i.to_string(), &j.to_string(), counts));
                }
            }
            let group = one(&matches);
            for player in &group.players {
                let truth = truth[player.player.parse::<usize>().unwrap()];
                let (low, high) = player.interval.unwrap();
                inside += i32::from(low.unwrap() <= truth && truth <= high.unwrap());
                all += 1;
            }
        }
        let share = f64::from(inside) / f64::from(all);
        assert!((0.93..0.97).contains(&share), "{share}");
    }

    #[test]
    fn two_players_differ_by_the_elo_of_their_rate_in_any_view() {
        let game = met("a", "b", [70, 20, 10]);
        let group = one(std::slice::from_ref(&game));
        let [a, b] = [&group.players[0], &group.players[1]];
        assert!((a.elo - b.elo - elo_of_rate(0.8).unwrap()).abs() < 1e-6);
        assert_eq!((a.points, a.draws, a.games, a.opponents, group.games), (80.0, 20, 100, 1, 100));
        assert!(group.los[0][1] > 0.999 && (group.los[0][1] + group.los[1][0] - 1.0).abs() < 1e-9);
        assert_eq!(one(&[game.clone(), game.reversed()]), group, "a match counts once, whoever tells it");
        assert_eq!(one(&[game.clone(), met("a", "b", [7, 2, 1])]).games, 110);
    }

    #[test]
    fn pairs_of_games_and_draws_narrow_the_interval() {
        let error = |m: Match| one(&[m]).players[0].standard_error.unwrap();
        let plain = error(met("a", "b", [60, 0, 40]));
        assert!(error(met("a", "b", [30, 60, 10])) < 0.8 * plain);
        // each opening decides both games: 38 pairs are even, and 11 of 12 others are won
        let pairs = Pentanomial::new([1, 0, 38, 0, 11]);
        assert!(error(Match { pairs, ..met("a", "b", [60, 0, 40]) }) < 0.8 * plain);
    }

    #[test]
    fn players_who_only_win_have_an_open_end() {
        let group = one(&[met("a", "b", [10, 0, 0]), met("b", "c", [4, 3, 3])]);
        let [a, b, c] = [0, 1, 2].map(|i| group.players[i].interval.unwrap());
        assert!(!group.determined);
        assert!(a.0.is_some() && a.1.is_none() && b.1.is_some() && c.0.is_some());
        assert!(one(&[met("a", "b", [10, 1, 0])]).determined);
    }

    #[test]
    fn groups_have_scales_and_anchors_of_their_own() {
        let matches = [met("a", "b", [6, 2, 2]), met("x", "y", [3, 0, 7]), met("y", "z", [5, 0, 5])];
        let matches: Vec<&Match> = matches.iter().collect();
        let anchors = [("b".to_owned(), 3_000.0), ("x".to_owned(), 1_500.0)];
        let groups = rating_list(&matches, &anchors).unwrap();
        assert_eq!(groups.iter().map(|g| g.players.len()).collect::<Vec<_>>(), [3, 2]);
        let find = |name: &str| groups.iter().flat_map(|g| &g.players).find(|p| p.player == name).unwrap();
        assert!((find("b").elo - 3_000.0).abs() < 1e-9 && find("b").standard_error == Some(0.0));
        assert!((find("x").elo - 1_500.0).abs() < 1e-9 && find("y").elo > 1_500.0);
        assert_eq!(groups[0].anchor.as_deref(), Some("x"));
        let error = rating_list(&matches, &[("nobody".to_owned(), 0.0)]).unwrap_err();
        assert!(error.to_string().contains("nobody"), "{error}");
        let both = [("a".to_owned(), 0.0), ("b".to_owned(), 0.0)];
        assert!(rating_list(&matches, &both).unwrap_err().to_string().contains("one anchor"));
        assert_eq!(rating_list(&[], &[]).unwrap(), []);
    }
}
