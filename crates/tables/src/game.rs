//! The game of rows: what each row says of it, joined so that the order of the rows and of the files has no effect.

use std::cmp::Ordering;

use evalcurve_calibration::types::Termination;
use evalcurve_records::record::StartTime;
use evalcurve_records::sample::{GameInfo, NameId, Names, Sample, SampleTable};

use super::columns::Role;
use super::row::{Parsed, Row};

/// A game, and the engine that annotates it, if it is not one of the players.
pub(super) type GameKey = (u64, Option<NameId>);

/// The game of a sample.
pub(super) fn key(table: &SampleTable, sample: &Sample) -> Option<GameKey> {
    let game = table.game(sample)?;
    Some((game.id, table.annotates(sample).then_some(sample.engine)))
}

/// What is known of the sides of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sides {
    /// All of them: the game is from a record.
    Recorded,
    /// No row has a colour.
    Open,
    /// Rows have colours; and whether one of them names the player of each side.
    Known([bool; 2]),
}

/// A game of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownGame {
    pub index: u32,
    pub sides: Sides,
}

/// What a row says of its game.
pub(super) fn of_row(
    names: &mut Names,
    row: &Row<'_>,
    (id, annotator): GameKey,
    parsed: &Parsed,
    (engine, opponent): (NameId, Option<NameId>),
    file: &str,
) -> (GameInfo, Sides) {
    let (own, other) = (parsed.color.index(), parsed.color.opponent().index());
    // without an opponent the engine has both sides: with an empty name, all engines would seem to have met one player
    let mut players = [engine; 2];
    players[other] = opponent.unwrap_or(engine);
    let mut named = [true; 2];
    named[other] = opponent.is_some();
    if annotator.is_some() {
        let player = |role| row.text(role).unwrap_or_default();
        (players, named) = ([Role::Black, Role::White].map(|role| names.intern(player(role))), [true; 2]);
    }
    let mut ratings = [None; 2];
    [ratings[own], ratings[other]] = parsed.ratings;
    let info = GameInfo {
        id,
        players,
        ratings,
        start_time: row.text(Role::StartTime).and_then(StartTime::parse),
        time_control: names.intern(row.text(Role::TimeControl).unwrap_or_default()),
        termination: row.text(Role::Termination).and_then(|word| word.parse().ok()).unwrap_or(Termination::Unknown),
        black_outcome: parsed.outcome.in_view_of(parsed.color),
        without_colors: false,
        source: names.intern(row.text(Role::Source).unwrap_or(file)),
        line: 0,
        end: row.text(Role::ScoreEnd).and_then(|text| text.parse().ok()).filter(|_| annotator.is_none()),
        moves: row.text(Role::MovesHash).and_then(hash),
        unread: row.number_up_to(Role::Unread, 100).map_or(0, |percent| percent as u8),
    };
    (info, if parsed.has_color { Sides::Known(named) } else { Sides::Open })
}

/// Adds what another row says: it fills what is empty. Of values that contradict each other, the smaller one counts.
pub(super) fn join(game: &mut GameInfo, sides: &mut Sides, more: &GameInfo, more_sides: Sides, names: &Names) {
    let by_name = |a: NameId, b: NameId| names.get(a).cmp(names.get(b));
    match (*sides, more_sides) {
        // rows do not change records, which are read before all tables
        (Sides::Recorded, _) => return,
        (Sides::Known(_), Sides::Open | Sides::Recorded) => {}
        (Sides::Open, Sides::Known(_) | Sides::Recorded) => {
            *sides = more_sides;
            take_sides(game, more);
        }
        // which side is whose is unknown, so that players and ratings count together
        (Sides::Open, Sides::Open) => {
            let [a, b] = [0, 1].map(|side| by_name(more.players[side], game.players[side]));
            match a.then(b) {
                Ordering::Less => take_sides(game, more),
                Ordering::Equal => join_sides(game, more),
                Ordering::Greater => {}
            }
        }
        (Sides::Known(mut named), Sides::Known(more_named)) => {
            for side in 0..2 {
                let is_smaller = by_name(more.players[side], game.players[side]).is_lt();
                if more_named[side] & !named[side] || more_named[side] == named[side] && is_smaller {
                    game.players[side] = more.players[side];
                }
                named[side] |= more_named[side];
            }
            *sides = Sides::Known(named);
            join_sides(game, more);
        }
    }
    // a time of day says more than a date
    let by_time = |time: &StartTime| (time.time.is_none(), *time);
    game.start_time = [game.start_time, more.start_time].into_iter().flatten().min_by_key(by_time);
    for (old, new) in [(&mut game.time_control, more.time_control), (&mut game.source, more.source)] {
        let is_filled = |name: NameId| !names.get(name).is_empty();
        if is_filled(new) && (!is_filled(*old) || by_name(new, *old).is_lt()) {
            *old = new;
        }
    }
    let by_word = |word: &Termination| (*word == Termination::Unknown, word.as_str());
    game.termination = std::cmp::min_by_key(game.termination, more.termination, by_word);
    game.end = [game.end, more.end].into_iter().flatten().min();
    game.moves = [game.moves, more.moves].into_iter().flatten().min();
    game.unread = game.unread.max(more.unread);
}

/// A hash as tables have it; columns of other tools may have moves under the same name.
fn hash(text: &str) -> Option<u64> {
    (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok())?
}

fn take_sides(game: &mut GameInfo, more: &GameInfo) {
    game.players = more.players;
    game.ratings = more.ratings;
    game.black_outcome = more.black_outcome;
}

/// Joins ratings and result, which belong to the same sides.
fn join_sides(game: &mut GameInfo, more: &GameInfo) {
    for (old, new) in game.ratings.iter_mut().zip(more.ratings) {
        *old = [*old, new].into_iter().flatten().min_by(f64::total_cmp);
    }
    game.black_outcome = game.black_outcome.min(more.black_outcome);
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_calibration::types::Outcome;

    /// What several rows say, joined in every order of three, is the same.
    #[test]
    fn the_order_of_rows_has_no_effect() {
        let mut names = Names::default();
        let [none, a, b, c] = ["", "A", "B", "C"].map(|name| names.intern(name));
        let info = |players: [NameId; 2], ratings: [Option<f64>; 2], year: Option<u16>, source| GameInfo {
            id: 1,
            players,
            ratings,
            start_time: year.map(|year| StartTime { year, month: 1, day: 1, time: None }),
            time_control: if year.is_some() { b } else { none },
            termination: if year.is_some() { Termination::Repetition } else { Termination::Unknown },
            black_outcome: if source == a { Outcome::Win } else { Outcome::Loss },
            without_colors: false,
            source,
            line: 0,
            end: None,
            moves: year.map(u64::from),
            unread: year.map_or(0, |year| (year % 100) as u8),
        };
        let rows = [
            (info([a, b], [Some(1500.0), Some(1400.0)], Some(2020), a), Sides::Known([true, true])),
            (info([a, b], [None, None], None, b), Sides::Known([true, true])),
            (info([b, b], [None, Some(1450.0)], None, c), Sides::Known([false, true])),
            (info([a, a], [Some(1600.0), None], Some(2019), a), Sides::Known([true, false])),
            (info([c, b], [None, None], Some(2021), b), Sides::Known([true, true])),
            (info([a, b], [Some(1500.0), Some(1400.0)], None, a), Sides::Open),
            (info([b, a], [Some(1400.0), Some(1500.0)], None, b), Sides::Open),
            (info([a, b], [None, Some(1300.0)], None, c), Sides::Open),
        ];
        let joined = |order: [usize; 3]| {
            let (mut game, mut sides) = rows[order[0]].clone();
            for (more, more_sides) in order[1..].iter().map(|i| &rows[*i]) {
                join(&mut game, &mut sides, more, *more_sides, &names);
            }
            (game, sides)
        };
        for (i, j, k) in (0..512).map(|n| (n % 8, n / 8 % 8, n / 64)) {
            assert_eq!(joined([i, j, k]), joined([k, j, i]), "{i} {j} {k}");
            assert_eq!(joined([i, j, k]), joined([j, i, k]), "{i} {j} {k}");
        }
        let (game, _) = joined([1, 2, 0]);
        assert_eq!((game.players, game.ratings), ([a, b], [Some(1500.0), Some(1400.0)]));
        // the ratings of players whose sides are unknown are never mixed
        assert_eq!(joined([5, 6, 6]).0.ratings, [Some(1500.0), Some(1400.0)]);
    }
}
