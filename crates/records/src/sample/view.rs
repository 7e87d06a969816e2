//! The point of view of scores that only a convention gives.
//!
//! cutechess, Arena and OpenBench write a score in the view of the side that moved, floodgate in Black's; some programs
//! write the same forms in the other view. Then the scores of the side that moves second (Black in chess, White in
//! shogi) have the wrong sign, whoever plays it. Files show that by themselves:
//!
//! - neighbouring scores of the two sides contradict each other in nearly all games: both say that their own side is
//!   ahead, or behind;
//! - the scores of the side that moves first agree with the results, and those of the other side contradict them.
//!
//! The second point tells it from an engine whose sign is wrong, which plays both sides. Files with fewer games than
//! that takes are judged together. Where the games do not decide, the convention stays.

use std::collections::BTreeMap;

use evalcurve_calibration::types::{Color, Outcome};
use evalcurve_words::language::Text;
use evalcurve_words::text;
use evalcurve_words::text::thousands;

use super::merge::MergedGame;
use super::sampler::{DrawnScore, Scratch, annotator, draw};
use super::{Names, SamplingOptions};
use crate::Record;
use crate::record::Convention;

/// The point of view of the players' scores in records whose format does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum View {
    /// That of the format, or the other one where the games of a file show it.
    #[default]
    Auto,
    /// That of the side that moved.
    Mover,
    /// That of the side that moves first: White in chess, Black in shogi.
    First,
}

impl View {
    /// The word in calibration files: `mover` or `white`; `None` for that of the format.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Mover => Some("mover"),
            Self::First => Some("white"),
        }
    }
}

/// Games whose scores of both sides are far from 0, from which on the view is decided ...
const LEAST_GAMES: u64 = 20;
/// ... if this share of them contradict each other. Of 1,988 games of floodgate 2 do, of 26 of asmFish none; of 70 with
/// every score in White's view all.
const CONTRADICTS: f64 = 0.95;
/// The scores of a side agree with the results, or contradict them, if the games on one side outnumber the others by
/// so many standard deviations of chance.
const CLEAR: f64 = 3.0;

/// What games show. All counts are of games.
#[derive(Debug, Clone, Copy, Default)]
struct Evidence {
    /// With scores of both sides that are far from 0 ...
    both: u64,
    /// ... and contradict each other.
    contradict: u64,
    /// With a winner, and scores of the side that moves first, or second, that are far from 0.
    decided: [u64; 2],
    /// The scores agree with the result.
    agree: [u64; 2],
}

impl Evidence {
    fn add(&mut self, game: &Told<'_>, second: Color, far: i32) {
        let is_far = |cp: i32| cp.saturating_abs() >= far;
        let (mut together, mut sides) = (0, [0; 2]);
        for DrawnScore { position, reply_cp, .. } in game.samples {
            let cp = position.score_cp;
            if !is_far(cp) {
                continue;
            }
            sides[usize::from(position.color == second)] += cp.signum();
            if let Some(reply) = reply_cp.filter(|reply| is_far(*reply)) {
                together += cp.signum() * reply.signum();
            }
        }
        self.both += u64::from(together != 0);
        self.contradict += u64::from(together > 0);
        for (side, color) in [second.opponent(), second].into_iter().enumerate() {
            let result = game.outcome.map_or(0.0, |outcome| 2.0 * outcome.in_view_of(color).value() - 1.0);
            if result != 0.0 && sides[side] != 0 {
                self.decided[side] += 1;
                self.agree[side] += u64::from((result > 0.0) == (sides[side] > 0));
            }
        }
    }

    /// Whether the sign of the scores of the side that moves second is wrong.
    fn shows_the_other_view(&self) -> bool {
        let excess = |side: usize| {
            let [agree, all] = [self.agree[side], self.decided[side]].map(|n| n as f64);
            (2.0 * agree - all) / all.max(1.0).sqrt()
        };
        self.both >= LEAST_GAMES
            && self.contradict as f64 >= CONTRADICTS * self.both as f64
            && excess(0) >= CLEAR
            && excess(1) <= -CLEAR
    }
}

/// The side whose scores have the other sign in the other view.
pub(super) fn second(convention: Convention) -> Color {
    match convention {
        Convention::Mover => Color::Black,
        Convention::First => Color::White,
    }
}

/// A game of a file whose convention gives the view of its scores.
struct Told<'a> {
    source: &'a str,
    convention: Option<Convention>,
    /// Black's.
    outcome: Option<Outcome>,
    samples: &'a [DrawnScore],
}

/// The convention that scores break if they are in this view; `None`: the games decide.
fn broken_by(view: View) -> Option<Convention> {
    match view {
        View::Auto => None,
        View::Mover => Some(Convention::First),
        View::First => Some(Convention::Mover),
    }
}

/// Sets the view of each game, and returns a note for each file, or group of small ones, in which it is not that of
/// the format.
pub(super) fn set_views(
    games: &mut [MergedGame<'_>],
    drawn: &[Vec<DrawnScore>],
    names: &Names,
    view: View,
) -> Vec<Text> {
    if let Some(broken) = broken_by(view) {
        games.iter_mut().for_each(|game| game.other_view = game.convention() == Some(broken));
        return Vec::new();
    }
    let told = |game: &MergedGame<'_>| Told {
        source: names.get(game.source),
        convention: game.convention(),
        outcome: Some(game.entry.info.black_outcome),
        samples: &drawn[game.part][game.entry.samples.clone()],
    };
    let told: Vec<Told<'_>> = games.iter().map(told).collect();
    let (others, notes) = find_views(&told);
    others.into_iter().for_each(|index| games[index].other_view = true);
    notes
}

/// Turns the players' scores of whole games that are in the other view than their convention says, as the sample table
/// has them. Returns a note for each file, or group of small ones, in which they are.
pub fn turn_scores(records: &mut [Record], view: View) -> Vec<Text> {
    let options = SamplingOptions { from_ply: 1, ..SamplingOptions::default() };
    let convention = |record: &Record| record.game.convention.filter(|_| annotator(&record.game, &options).is_none());
    let (others, notes) = match broken_by(view) {
        Some(broken) => {
            let others = (0..records.len()).filter(|index| convention(&records[*index]) == Some(broken)).collect();
            (others, Vec::new())
        }
        None => {
            let mut scratch = Scratch::default();
            let drawn = records.iter().map(|record| {
                let mut samples = Vec::new();
                draw(&record.game, &options, &mut scratch, &mut samples);
                samples
            });
            let drawn: Vec<Vec<DrawnScore>> = drawn.collect();
            let told = |(record, samples)| {
                let (record, samples): (&Record, &Vec<DrawnScore>) = (record, samples);
                let (source, outcome) = (&*record.source, record.game.black_outcome);
                Told { source, convention: convention(record), outcome, samples }
            };
            find_views(&records.iter().zip(&drawn).map(told).collect::<Vec<_>>())
        }
    };
    for index in others {
        let game = &mut records[index].game;
        let side = game.convention.map(second);
        for score in game.scores.iter_mut().filter(|score| !score.analysis && Some(score.color) == side) {
            score.score_cp = score.score_cp.saturating_neg();
        }
    }
    notes
}

/// The games whose scores are in the other view, and the notes.
fn find_views(games: &[Told<'_>]) -> (Vec<usize>, Vec<Text>) {
    let mut files: BTreeMap<(Convention, &str), Vec<usize>> = BTreeMap::new();
    for (index, game) in games.iter().enumerate() {
        if let Some(convention) = game.convention {
            files.entry((convention, game.source)).or_default().push(index);
        }
    }
    // files by themselves, and small ones together
    let mut groups: BTreeMap<(Convention, Option<&str>), Vec<usize>> = BTreeMap::new();
    for ((convention, source), of_file) in files {
        let alone = (of_file.len() as u64 >= LEAST_GAMES).then_some(source);
        groups.entry((convention, alone)).or_default().extend(of_file);
    }
    let (mut others, mut notes) = (Vec::new(), Vec::new());
    for ((convention, _), group) in groups {
        let scores = group.iter().flat_map(|index| games[*index].samples).map(|drawn| drawn.position.score_cp);
        let mut sizes: Vec<i32> = scores.map(i32::saturating_abs).collect();
        sizes.sort_unstable();
        let far = sizes.get(sizes.len() / 2).map_or(1, |middle| (*middle).max(1));
        let mut evidence = Evidence::default();
        for game in group.iter().map(|index| &games[*index]) {
            evidence.add(game, second(convention), far);
        }
        if !evidence.shows_the_other_view() {
            continue;
        }
        others.extend(&group);
        let mut sources: Vec<&str> = group.iter().map(|index| games[*index].source).collect();
        sources.sort_unstable();
        sources.dedup();
        let first = sources.first().copied().unwrap_or_default();
        let more = match sources.len() - 1 {
            0 => Text::default(),
            n => text!(" and {n} other files"),
        };
        let (usual, other, word) = match convention {
            Convention::Mover => (text!("the mover's"), text!("White's"), "mover"),
            Convention::First => (text!("Black's"), text!("the mover's"), "black"),
        };
        let Evidence { both, contradict, .. } = evidence;
        let [contradict, both, left] = [contradict, both, both - contradict].map(thousands);
        notes.push(text!(
            "{first}{more}: its scores are read in {other} view, not in {usual}: in {usual} the scores of the two \
             sides contradict each other in {contradict} of {both} games, and one side's contradict the results; in \
             {other}, {left} do; `view` {word} reads them in {usual}"
        ));
    }
    (others, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::find::Entry;
    use crate::sample::{CollectOptions, Collected, Progress, SamplingOptions, collect};

    fn read(files: &[String], view: View) -> Collected {
        let sampling = SamplingOptions { from_ply: 1, view, ..SamplingOptions::default() };
        let options = CollectOptions { sampling, ..CollectOptions::default() };
        let entries: Vec<Entry> =
            (1..).zip(files).map(|(n, text)| Entry::in_memory(format!("{n}.pgn"), text.as_bytes())).collect();
        collect(&entries, &[], &options, &Progress::default()).unwrap()
    }

    /// Games between A and B with alternating colours. The scores say who wins; `turned` tells, by whether Black moves
    /// and whether A does, of which the sign is wrong.
    fn games(numbers: std::ops::Range<u32>, turned: impl Fn(bool, bool) -> bool) -> String {
        let game = |i: u32| {
            let [white, black] = if i.is_multiple_of(2) { ["A", "B"] } else { ["B", "A"] };
            let white_wins = !i.is_multiple_of(3);
            let moves = (0..8).map(|ply| {
                let is_black = ply % 2 == 1;
                let size = 30 + 40 * ply + 10 * (i % 7);
                let wrong = turned(is_black, (white == "A") != is_black);
                let sign = if (white_wins == is_black) != wrong { '-' } else { '+' };
                let san = ["a3", "a6", "b3", "b6", "c3", "c6", "d3", "d6"][ply as usize];
                format!("{san} {{{sign}{}.{:02}/9 1s}}", size / 100, size % 100)
            });
            let moves: Vec<String> = moves.collect();
            let result = if white_wins { "1-0" } else { "0-1" };
            format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Round \"{i}\"]\n\n{} {result}\n\n", moves.join(" "))
        };
        numbers.map(game).collect()
    }

    fn shown(found: &Collected) -> String {
        format!("{:?} {:?}", found.table.games, found.table.samples)
    }

    #[test]
    fn scores_in_the_view_of_white_are_found() {
        let right = read(&[games(0..30, |_, _| false)], View::Auto);
        assert!(right.report.notes.is_empty() && right.table.samples.len() == 60);
        let agrees = |cp: i32, outcome: Outcome| (cp > 0) == (outcome == Outcome::Win);
        assert!(right.table.samples.iter().all(|s| agrees(s.score_cp, s.outcome)));
        let of_white = [games(0..30, |is_black, _| is_black)];
        let found = read(&of_white, View::Auto);
        assert_eq!(shown(&found), shown(&right));
        let note = found.report.notes[0].to_string();
        assert!(
            note.starts_with("1.pgn: its scores are read in White's view")
                && note.contains("contradict the results; in White's, 0 do"),
            "{note}"
        );
        assert_eq!(shown(&read(&of_white, View::First)), shown(&right));
        assert_ne!(shown(&read(&of_white, View::Mover)), shown(&right));
        // whole games are turned as the samples are
        let whole = |view: View| {
            let entries = vec![Entry::in_memory("1.pgn".to_owned(), of_white[0].as_bytes())];
            let mut records: Vec<Record> = crate::games_of(entries).map(Result::unwrap).collect();
            let notes = turn_scores(&mut records, view);
            (notes.len(), records.into_iter().map(|record| record.game.scores).collect::<Vec<_>>())
        };
        let (auto, first, mover) = (whole(View::Auto), whole(View::First), whole(View::Mover));
        assert_eq!((auto.0, first.0, mover.0), (1, 0, 0));
        assert!(auto.1 == first.1 && auto.1 != mover.1);
        assert!(auto.1[0].windows(2).all(|two| two[0].score_cp.signum() == -two[1].score_cp.signum()));
        // an engine whose sign is wrong plays both sides
        let of_engine = read(&[games(0..30, |_, is_a| is_a)], View::Auto);
        assert!(of_engine.report.notes.is_empty());
        // a few games decide nothing, those of several files do
        let [few, more] = [games(0..19, |is_black, _| is_black), games(19..38, |is_black, _| is_black)];
        assert!(read(std::slice::from_ref(&few), View::Auto).report.notes.is_empty());
        let both = read(&[few.clone(), more], View::Auto);
        assert!(both.report.notes[0].to_string().starts_with("1.pgn and 1 other files: "));
        // and files that differ do not
        assert!(read(&[few, games(19..38, |_, _| false)], View::Auto).report.notes.is_empty());
    }

    #[test]
    fn floodgate_s_comments_are_of_black_unless_the_games_say_otherwise() {
        let games = |of_mover: bool| -> String {
            let game = |i: u32| {
                // the side to move resigns: White after an odd number of moves
                let (black_wins, plies) = if !i.is_multiple_of(3) { (true, 7) } else { (false, 8) };
                let line = |ply: u32| {
                    let token = if ply.is_multiple_of(2) { "+2726FU" } else { "-8384FU" };
                    let size = 30 + 40 * ply + 10 * (i % 7);
                    let sign = if black_wins != (of_mover && ply % 2 == 1) { "" } else { "-" };
                    format!("{token}\n'** {sign}{size} +2625FU\n")
                };
                let lines: String = (0..plies).map(line).collect();
                format!("V2.2\nN+A{i}\nN-B\nPI\n+\n{lines}%TORYO\n")
            };
            (0..60).map(game).collect()
        };
        let right = read(&[games(false)], View::Auto);
        assert!(right.report.notes.is_empty());
        let found = read(&[games(true)], View::Auto);
        assert!(found.report.notes[0].to_string().contains("its scores are read in the mover's view, not in Black's"));
        assert_eq!(shown(&found), shown(&right));
    }
}
