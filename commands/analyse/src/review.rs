//! The games of one player: its mistakes over all of them, by phase and over time.

use std::collections::BTreeMap;

use evalcurve_calibration::types::Color;
use evalcurve_fit::validate::mean_by_game;
use evalcurve_records::sample::alias::matches_glob;
use evalcurve_words::language::{Language, Text};
use evalcurve_words::{say, text};
use serde_json::{Value, json};

use crate::games::{Cost, MISTAKE, PHASES, Series, WholeGame, Words, accuracy, costly, costs};

/// Whose moves are looked at: those of players whose name is one of these, with `*` for any letters and `?` for one,
/// or of everybody if none is named.
pub fn is_mine(names: &[String], game: &WholeGame, side: Color) -> bool {
    let own = &game.record.game.names[side.index()];
    names.is_empty() || names.iter().any(|name| matches_glob(name, own))
}

/// Games and the mistakes in them.
#[derive(Debug)]
pub struct Review<'a> {
    pub games: &'a [WholeGame],
    pub series: &'a [Vec<Series>],
    /// The players; empty for everybody.
    pub players: &'a [String],
    /// By game, of the moves of the players.
    pub costs: Vec<Vec<Cost>>,
    /// What each game is called: its file, and its number where the file has several.
    pub names: Vec<String>,
}

/// A phase of the game.
#[derive(Debug)]
pub struct Phase {
    pub name: &'static str,
    pub moves: usize,
    pub mistakes: usize,
    pub blunders: usize,
    /// The mean cost of a move.
    pub cost: f64,
}

/// The last part of a source's name, without the folders of the user's computer.
pub fn file_name(source: &str) -> &str {
    source.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// What games are called.
fn names(games: &[WholeGame]) -> Vec<String> {
    let mut of_file: BTreeMap<&str, usize> = BTreeMap::new();
    games.iter().for_each(|game| *of_file.entry(&game.record.source).or_default() += 1);
    let (mut so_far, mut names): (BTreeMap<&str, usize>, Vec<String>) = Default::default();
    for game in games {
        let source = &*game.record.source;
        let number = so_far.entry(source).or_default();
        *number += 1;
        let name = file_name(source).to_owned();
        names.push(if of_file.get(source) == Some(&1) { name } else { format!("{name} #{number}") });
    }
    names
}

impl<'a> Review<'a> {
    pub fn new(games: &'a [WholeGame], series: &'a [Vec<Series>], players: &'a [String]) -> Self {
        let of = |(game, series): (&WholeGame, &Vec<Series>)| {
            let mut all = costs(game, series);
            all.retain(|cost| is_mine(players, game, cost.side));
            all
        };
        Self { games, series, players, costs: games.iter().zip(series).map(of).collect(), names: names(games) }
    }

    /// The mistakes with the numbers of their games, the costliest first.
    pub fn mistakes(&self) -> Vec<(usize, &Cost)> {
        let mut found: Vec<(usize, &Cost)> = Vec::new();
        for (game, all) in self.costs.iter().enumerate() {
            found.extend(costly(all).into_iter().map(|cost| (game, cost)));
        }
        found.sort_by(|a, b| b.1.cost.total_cmp(&a.1.cost).then((a.0, a.1.ply).cmp(&(b.0, b.1.ply))));
        found
    }

    /// What the engines would have played instead.
    pub fn better(&self, game: usize, ply: usize) -> Vec<&'a Words> {
        better(&self.series[game], ply)
    }

    /// The sides of the players in a game.
    pub fn sides(&self, game: usize) -> Vec<Color> {
        let sides = [Color::Black, Color::White].into_iter();
        sides.filter(|side| is_mine(self.players, &self.games[game], *side)).collect()
    }

    /// The accuracy of the players in a game, see [`accuracy`].
    pub fn accuracy(&self, game: usize) -> Option<f64> {
        let own = self.sides(game).into_iter().filter_map(|side| accuracy(&self.costs[game], side));
        let own: Vec<f64> = own.collect();
        (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64)
    }

    pub fn phases(&self) -> Vec<Phase> {
        let of = |(number, name): (usize, &&'static str)| {
            let all: Vec<&Cost> = self
                .games
                .iter()
                .zip(&self.costs)
                .flat_map(|(game, all)| all.iter().filter(move |cost| game.phase(cost.ply) == number))
                .collect();
            let count = |which: fn(&Cost) -> bool| all.iter().filter(|cost| which(cost)).count();
            Phase {
                name,
                moves: all.len(),
                mistakes: count(Cost::is_mistake),
                blunders: count(Cost::is_blunder),
                cost: all.iter().map(|cost| cost.cost.max(0.0)).sum::<f64>() / all.len().max(1) as f64,
            }
        };
        PHASES.iter().enumerate().map(of).collect()
    }

    /// The games in the order of their dates, those without one as they were read.
    pub fn in_time(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.games.len()).collect();
        order.sort_by_key(|game| self.games[*game].record.game.start_time);
        order
    }

    /// Whether the players got better: the accuracies of the earlier and the later half of the games, and what they
    /// come to. `None` with few games, or without dates.
    pub fn trend(&self, language: Language) -> Option<String> {
        if self.games.iter().any(|game| game.record.game.start_time.is_none()) {
            return None;
        }
        let all: Vec<f64> = self.in_time().into_iter().filter_map(|game| self.accuracy(game)).collect();
        let (first, second) = all.split_at(all.len() / 2);
        let mean = |all: &[f64]| {
            let mean = mean_by_game(&(0..).zip(all.iter().copied()).collect::<Vec<_>>())?;
            Some((mean.value, mean.standard_error()?))
        };
        if all.len() < LEAST_GAMES {
            return None;
        }
        let ((before, a), (after, b)) = (mean(first)?, mean(second)?);
        let (change, error) = (after - before, 1.96 * (a * a + b * b).sqrt());
        let clear = if change.abs() > error { "" } else { language.word(" (no clear change)") };
        Some(say!(
            language,
            "accuracy {before:.0}% in the earlier half of the games, {after:.0}% in the later: {change:+.1} ± \
             {error:.1}{clear}"
        ))
    }

    /// For `--json`.
    pub fn document(&self, page: impl Fn(usize) -> Option<String>) -> Value {
        let mistake = |(game, cost): &(usize, &Cost)| {
            let (whole, better) = (&self.games[*game], self.better(*game, cost.ply));
            json!({
                "game": self.names[*game], "source": &*whole.record.source, "line": whole.record.game.line + 1,
                "ply": cost.ply, "move": whole.moves[cost.ply - 1].words.record,
                "number": whole.played(cost.ply, Language::English),
                "cost": cost.cost, "within": cost.edge, "verdict": cost.verdict(), "win_rates": cost.rates,
                "better": better.iter().map(|words| &words.record).collect::<Vec<_>>(),
                "phase": PHASES[whole.phase(cost.ply)],
                "page": page(*game).map(|page| format!("{page}#{}", cost.ply)),
            })
        };
        let phase = |phase: &Phase| {
            json!({
                "phase": phase.name, "moves": phase.moves, "mistakes": phase.mistakes, "blunders": phase.blunders,
                "mean_cost": phase.cost,
            })
        };
        let game = |game: usize| {
            let whole = &self.games[game].record.game;
            let found = costly(&self.costs[game]);
            json!({
                "game": self.names[game], "date": whole.start_time.map(|time| time.to_string()),
                "players": whole.names,
                "sides": self.sides(game).iter().map(|s| format!("{s:?}").to_lowercase()).collect::<Vec<_>>(),
                "accuracy": self.accuracy(game), "mistakes": found.len(),
                "blunders": found.iter().filter(|cost| cost.is_blunder()).count(), "page": page(game),
            })
        };
        json!({
            "players": self.players,
            "mistakes": self.mistakes().iter().map(mistake).collect::<Vec<_>>(),
            "phases": self.phases().iter().map(phase).collect::<Vec<_>>(),
            "games": self.in_time().into_iter().map(game).collect::<Vec<_>>(),
        })
    }
}

/// Games that tell whether a player got better.
const LEAST_GAMES: usize = 10;

/// What engines would have played instead of a move, counted from 1.
pub fn better(series: &[Series], ply: usize) -> Vec<&Words> {
    let at = ply.saturating_sub(1);
    let mut found: Vec<&Words> = series.iter().filter_map(|series| series.known(at)?.best.as_ref()).collect();
    found.dedup();
    found
}

/// What is said in place of mistakes, by what one game's engines say.
pub fn no_mistake(judged: usize, engines: &[Series], language: Language) -> String {
    match judged {
        0 => say!(language, "No move could be judged."),
        // a search alone blames nobody
        _ if engines.iter().all(|series| series.own.is_none() && series.limit.is_some() && series.noise.is_none()) => {
            say!(language, "Cannot tell which moves were mistakes.")
        }
        _ => say!(language, "No move cost {:.0} points or more.", 100.0 * MISTAKE),
    }
}

/// Why no game is that of the players: the names that are there.
pub fn nobody(names: &[String], there: &BTreeMap<String, usize>) -> Text {
    let mut most: Vec<(&String, &usize)> = there.iter().filter(|(name, _)| !name.is_empty()).collect();
    most.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let most = Text::list(most.iter().take(5).map(|(name, games)| Text::same(format!("{name} ({games})"))));
    text!("--player: no game is played by '{}'; the players with most games are {most}", names.join("', '"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_records::games_of;
    use evalcurve_records::record::find::Entry;

    #[test]
    fn chess_is_spoken_in_its_words() {
        let pgn = "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n";
        let entry = Entry::in_memory("home/me/two.pgn".to_owned(), (pgn.to_owned() + pgn).as_bytes());
        let games: Vec<WholeGame> =
            games_of(vec![entry]).with_moves().map(|game| WholeGame::new(game.unwrap()).unwrap()).collect();
        let say = |ply| games[0].played(ply, Language::English);
        assert_eq!([say(0), say(3), say(4), say(5)], [None, Some("2. Nf3".into()), Some("2... Nc6".into()), None]);
        assert_eq!((games[0].length(), games[0].phase(1)), (2, 0));
        assert_eq!(names(&games), ["two.pgn #1", "two.pgn #2"]);
        let mine = |name: &str, side| is_mine(&[name.to_owned()], &games[0], side);
        assert!(mine("A", Color::White) && mine("*", Color::Black) && !mine("A", Color::Black));
    }
}
