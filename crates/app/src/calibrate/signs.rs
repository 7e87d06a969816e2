//! Games in which an engine's scores have the wrong sign: those of one of several clients, or of one side.

use evalcurve_calibration::types::Color;
use evalcurve_fit::fit::inverted::{Evidence, LEAST_GAMES, Mixture, Share};
use evalcurve_fit::fit::median_size;
use evalcurve_fit::parallel;
use evalcurve_records::sample::{NameId, Sample, SampleTable};
use evalcurve_words::language::Text;
use evalcurve_words::text;

use super::plays;

/// A game judges the signs by itself if its T is this large ...
const STRONG: f64 = 0.5;
/// ... and so many of these, and this share of them, must contradict before a mixture is fitted at all.
const SUSPECT_GAMES: usize = 3;
const SUSPECT_SHARE: f64 = 0.02;
/// The lower end of the interval of the share: honest errors of judgement look like 0.5% in real records.
const LEAST_SHARE: f64 = 0.01;
/// Twice the log likelihood that the share gains, plus twice the logarithm of the number of engines ...
const LEAST_GAIN: f64 = 20.0;
/// ... and what an inverted game gains on average. It is 4.7 to 10 where signs are inverted, and up to 1.8 where an
/// engine misjudges whole games.
const LEAST_GAIN_OF_GAME: f64 = 3.0;
/// Scores are cut to so many times their median size.
const CUT: f64 = 3.0;
/// The share of the inverted games in which an engine has one colour, from which on a message says so.
const ONE_SIDE: f64 = 0.8;
/// Games that a message names.
const NAMED: usize = 3;

/// An engine whose scores have the wrong sign in some games.
#[derive(Debug, Clone, PartialEq)]
pub struct MixedSigns {
    pub engine: NameId,
    /// Games in which both sides give scores.
    pub games: u64,
    /// The share of games with the wrong sign, with its 95% interval.
    pub share: f64,
    /// See `share`.
    pub interval: [f64; 2],
    /// The games that most likely have it.
    pub inverted: Vec<Inverted>,
    /// Games as Black and as White.
    pub by_color: [u64; 2],
}

/// A game in which the sign of one side's scores is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inverted {
    /// The index of the game.
    pub game: u32,
    /// The side.
    pub color: Color,
    /// The line of the first score.
    line: u64,
}

impl MixedSigns {
    /// The games with the wrong sign, as file and line.
    pub fn places(&self, table: &SampleTable) -> Vec<String> {
        let source =
            |one: &Inverted| table.games.get(one.game as usize).map_or("", |game| table.names.get(game.source));
        let mut places: Vec<(&str, u64)> = self.inverted.iter().map(|one| (source(one), one.line)).collect();
        places.sort_unstable();
        places.into_iter().map(|(source, line)| format!("{source}:{line}")).collect()
    }

    /// The first of them, in words.
    fn examples(&self, table: &SampleTable) -> Text {
        Text::list(self.places(table).into_iter().take(NAMED).map(Text::same))
    }

    /// The warning.
    pub(super) fn text(&self, table: &SampleTable) -> Text {
        let [share, low, high] = [self.share, self.interval[0], self.interval[1]].map(|share| 100.0 * share);
        let (count, games) = (self.inverted.len(), self.games);
        let mut text = text!(
            "the sign of its scores looks inverted in {share:.0}% [{low:.0}, {high:.0}] of its {games} games against \
             engines that give scores: they contradict those of the opponents"
        );
        let of = |color: Color| self.inverted.iter().filter(|one| one.color == color).count();
        if let Some(color) = [Color::Black, Color::White].into_iter().find(|c| of(*c) as f64 > ONE_SIDE * count as f64)
            && self.by_color.iter().all(|games| *games > 0)
        {
            text.push(&text!(", mostly as {color}"));
        }
        if count > 0 {
            text.push(&text!("; most likely {count} games, such as {}", self.examples(table)));
        }
        if table.chess {
            text.push(&text!("; if the records have all scores in White's view, give `view` white"));
        }
        text.push(&text!("; check its clients, or turn the sign of these games with `signs` auto"));
        text
    }
}

/// What all games in which both sides give scores say of their signs, and the samples that they begin with.
fn evidence(table: &SampleTable) -> (Vec<NameId>, Vec<Evidence>, Vec<&Sample>) {
    let engines = table.engines();
    let mut slots = vec![usize::MAX; table.names.len()];
    engines.iter().enumerate().for_each(|(slot, engine)| slots[*engine as usize] = slot);
    let mut scores = vec![Vec::new(); engines.len()];
    table.samples.iter().for_each(|sample| scores[slots[sample.engine as usize]].push(sample.score_cp));
    let sizes: Vec<f64> = scores.into_iter().map(|scores| f64::from(median_size(scores.into_iter()).max(1))).collect();
    let slot = |engine: NameId| slots.get(engine as usize).copied().filter(|slot| *slot < engines.len());
    let phi = |cp: i32, slot: usize| (f64::from(cp) / sizes[slot]).clamp(-CUT, CUT);
    let (mut all, mut firsts) = (Vec::new(), Vec::new());
    for samples in table.samples.chunk_by(|a, b| a.game == b.game) {
        let Some(first) = samples.first() else { continue };
        let Some(game) = table.game(first) else { continue };
        let (Some(black), Some(white)) = (slot(game.players[0]), slot(game.players[1])) else { continue };
        let players = [black, white];
        let (mut together, mut pairs, mut results, mut scored) = (0.0, 0.0, [0.0; 2], [0.0; 2]);
        // without replies, the scores of a window stand for neighbouring ones
        let mut waiting: [Option<(u32, f64)>; 2] = [None; 2];
        for sample in samples.iter().filter(|sample| plays(table, sample)) {
            let (side, other) = (sample.color.index(), sample.color.opponent().index());
            let x = phi(sample.score_cp, players[side]);
            scored[side] += 1.0;
            results[side] += x * (2.0 * sample.outcome.value() - 1.0);
            let replied = sample.reply_cp.map(|cp| phi(cp, players[other]));
            let in_window = || waiting[other].take_if(|(window, _)| *window == sample.window).map(|(_, x)| x);
            match replied.or_else(in_window) {
                Some(neighbour) => {
                    together -= x * neighbour;
                    pairs += 1.0;
                }
                None => waiting[side] = Some((sample.window, x)),
            }
        }
        if together != 0.0 && scored[0] * scored[1] > 0.0 {
            together /= pairs;
            results = [0, 1].map(|side| results[side] / scored[side]);
            all.push(Evidence { players, together, results });
            firsts.push(first);
        }
    }
    (engines, all, firsts)
}

/// The engines whose scores have the wrong sign in some games, by name. Not found are engines whose opponents give no
/// scores, and those whose scores say nothing, or are inverted in about half of the games: their slopes are 0.
pub fn mixed_signs(table: &SampleTable) -> Vec<MixedSigns> {
    let (engines, all, firsts) = evidence(table);
    let mut of_engine: Vec<Vec<u32>> = vec![Vec::new(); engines.len()];
    for (game, evidence) in (0..).zip(&all) {
        let [black, white] = evidence.players;
        of_engine[black].push(game);
        if white != black {
            of_engine[white].push(game);
        }
    }
    let of = |slot: usize| of_engine[slot].iter().map(|game| &all[*game as usize]);
    let suspect = |slot: &usize| {
        let (games, strong) = (of_engine[*slot].len(), of(*slot).filter(|e| e.together.abs() >= STRONG).count());
        let against = of(*slot).filter(|e| e.together <= -STRONG).count();
        games >= LEAST_GAMES && against >= SUSPECT_GAMES && against as f64 >= SUSPECT_SHARE * strong as f64
    };
    let suspects: Vec<usize> = (0..engines.len()).filter(suspect).collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let mixture = Mixture::fit(&all, &of_engine);
    let judged = of_engine.iter().filter(|games| games.len() >= LEAST_GAMES).count().max(1);
    let find = |slot: usize| {
        let games: Vec<&Evidence> = of(slot).collect();
        let Share { value: share, interval: interval @ [low, high], gain } = mixture.share(slot, &games)?;
        let is_large = gain >= LEAST_GAIN + 2.0 * libm::log(judged as f64);
        let of_game = gain / (share * games.len() as f64);
        if low <= LEAST_SHARE || !is_large || of_game < LEAST_GAIN_OF_GAME || (low..=high).contains(&0.5) {
            return None;
        }
        let as_black = games.iter().filter(|e| e.players[0] == slot).count() as u64;
        let games = games.len() as u64;
        let by_color = [as_black, games - as_black];
        Some((slot, MixedSigns { engine: engines[slot], games, share, interval, inverted: Vec::new(), by_color }))
    };
    let mut found: Vec<(usize, MixedSigns)> = parallel::map_into(suspects, find).into_iter().flatten().collect();
    let mut is_found = vec![false; engines.len()];
    found.iter().for_each(|(slot, _)| is_found[*slot] = true);
    let blind = mixture.without_results();
    for (slot, mixed) in &mut found {
        for game in of_engine[*slot].iter().map(|game| *game as usize) {
            let (players, first) = (all[game].players, firsts[game]);
            let by = if players.iter().all(|player| is_found[*player]) { &mixture } else { &blind };
            for (color, share) in [Color::Black, Color::White].into_iter().zip(by.inverted(&all[game])) {
                if players[color.index()] == *slot && share > 0.5 {
                    mixed.inverted.push(Inverted { game: first.game, color, line: first.line });
                }
            }
        }
    }
    found.into_iter().map(|(_, mixed)| mixed).collect()
}

/// Turns the signs of the games that [`mixed_signs`] finds, and notes how many of each engine in the table. Returns a
/// sentence for each engine.
pub fn mend_signs(table: &mut SampleTable) -> Vec<Text> {
    let found = mixed_signs(table);
    let mut turned = vec![[false; 2]; table.games.len()];
    let mut notes = Vec::new();
    for mixed in &found {
        for one in &mixed.inverted {
            turned[one.game as usize][one.color.index()] = true;
        }
        let (name, count, games) = (table.names.get(mixed.engine), mixed.inverted.len(), mixed.games);
        notes.push(text!(
            "{name}: the sign of its scores was turned in {count} of {games} games, where it contradicted the scores \
             of the opponents, such as {}",
            mixed.examples(table)
        ));
        table.turned.insert(mixed.engine, count as u64);
    }
    for at in 0..table.samples.len() {
        let sample = table.samples[at];
        let Some(turned) = turned.get(sample.game as usize).filter(|_| plays(table, &sample)) else { continue };
        let sample = &mut table.samples[at];
        if turned[sample.color.index()] {
            sample.score_cp = sample.score_cp.saturating_neg();
        }
        if turned[sample.color.opponent().index()] {
            sample.reply_cp = sample.reply_cp.map(i32::saturating_neg);
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::{Outcome, Termination};
    use evalcurve_records::sample::GameInfo;

    /// Games of A as Black and B as White, each with a score of A, the reply and whether A won.
    fn table(games: impl IntoIterator<Item = (i32, i32, bool)>) -> SampleTable {
        let mut table = SampleTable::default();
        let [a, b] = ["A", "B"].map(|name| table.names.intern(name));
        for (game, (score_cp, reply, won)) in (0..).zip(games) {
            let black_outcome = if won { Outcome::Win } else { Outcome::Loss };
            table.games.push(GameInfo {
                id: u64::from(game),
                players: [a, b],
                ratings: [None; 2],
                start_time: None,
                time_control: a,
                termination: Termination::Resignation,
                black_outcome,
                without_colors: false,
                source: b,
                line: 1,
                end: None,
                moves: None,
                unread: 0,
            });
            let first = Sample {
                game,
                engine: a,
                opponent: b,
                color: Color::Black,
                ply: 41,
                window: 0,
                score_cp,
                reply_cp: Some(reply),
                declared: None,
                mate: false,
                outcome: black_outcome,
                material: None,
                line: u64::from(game) + 1,
            };
            let second = Sample {
                engine: b,
                opponent: a,
                color: Color::White,
                ply: 42,
                score_cp: reply,
                reply_cp: None,
                outcome: black_outcome.reversed(),
                ..first
            };
            table.samples.extend([first, second]);
        }
        table
    }

    /// 200 games, won with the share that the scores say; in every tenth A's sign is wrong.
    fn games() -> impl Iterator<Item = (i32, i32, bool)> {
        (0..200).map(|i| {
            let score = (i * 37 % 200 - 100) * 10;
            let won = (i * 61) % 100 < 50 + (score / 12).clamp(-48, 48);
            (if i % 10 == 0 { -score } else { score }, -score + i % 70, won)
        })
    }

    #[test]
    fn the_share_is_found_and_the_games_are_turned() {
        let mut table = table(games());
        let found = mixed_signs(&table);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(table.names.get(found[0].engine), "A");
        assert!((0.06..0.14).contains(&found[0].share) && found[0].interval[0] > 0.04, "{found:?}");
        assert!(found[0].inverted.iter().all(|one| one.game % 10 == 0 && one.color == Color::Black), "{found:?}");
        assert!(found[0].places(&table).contains(&"B:11".to_owned()), "{:?}", found[0].places(&table));
        let before = table.samples.clone();
        assert_eq!(mend_signs(&mut table).len(), 1);
        let turned = |i: usize| table.samples[i].score_cp == -before[i].score_cp;
        for one in &found[0].inverted {
            assert!(turned(2 * one.game as usize) && !turned(2 * one.game as usize + 1));
        }
        assert_eq!(table.turned.values().sum::<u64>(), found[0].inverted.len() as u64);
        assert!(mixed_signs(&table).is_empty());
    }

    #[test]
    fn right_signs_are_left_alone() {
        let right =
            games().map(|(score, reply, won)| (if (score > 0) == (reply > 0) { -score } else { score }, reply, won));
        let mut table = table(right);
        assert!(mixed_signs(&table).is_empty());
        let before = table.samples.clone();
        assert!(mend_signs(&mut table).is_empty());
        assert_eq!(before, table.samples);
    }
}
