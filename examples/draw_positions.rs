//! Draws the positions of `data/positions` from records, see `data/README.md`:
//! `cargo run --release --example draw_positions -- RECORDS 30 6000 OUT`
//!
//! The positions are drawn from those of `evalcurve sample`: one for each side in every window of each game. No opening
//! gives more than its share. Nothing else decides, least of all a score: a set balanced by the scores of an engine
//! bends the constants of the engines that score it. Which half a game belongs to depends on its identity. As many
//! positions of the other games go into a third file, to compare constants with.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use evalcurve::engine::usi;
use evalcurve::engine::{Board, Game};
use evalcurve::random;
use evalcurve::run::{Input, Progress, Sample};
use evalcurve::sample::{Positions, Sample as Position, SampleTable};
use evalcurve::types::{Color, Outcome};

/// The moves that make an opening.
const OPENING: usize = 8;
/// No opening gives more than one of so many positions.
const LEAST_OPENINGS: usize = 100;
const SEED: u64 = 2026;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [records, from_ply, wanted, out] = &arguments[..] else {
        return Err("usage: draw_positions RECORDS FROM_PLY N OUT".into());
    };
    let wanted: usize = wanted.parse()?;
    let mut command = Sample::default();
    command.reading.sampling.unscored = true;
    command.reading.sampling.from_ply = Some(from_ply.parse()?);
    let all = command.run(&Input::paths([PathBuf::from(records)]), &Progress::default())?;
    let (table, positions) = (&all.value, &all.positions);
    let mut order: Vec<(u64, &Position)> = Vec::new();
    for sample in &table.samples {
        let id = table.game(sample).ok_or("a game is missing")?.id;
        order.push((random::bits(&[SEED, id, sample.ply.into()]), sample));
    }
    order.sort_by_key(|(key, _)| *key);
    let mut openings: HashMap<Vec<String>, usize> = HashMap::new();
    let mut set: Vec<&Position> = Vec::new();
    for (_, sample) in &order {
        let (_, moves) = table.game(sample).and_then(|game| positions.of(game, sample)).ok_or("no moves")?;
        let count = openings.entry(moves.iter().take(OPENING).cloned().collect()).or_default();
        if set.len() < wanted && *count < wanted / LEAST_OPENINGS {
            *count += 1;
            set.push(*sample);
        }
    }
    let most = openings.values().max().copied().unwrap_or_default();
    let used: HashSet<u32> = set.iter().map(|sample| sample.game).collect();
    let other = order.iter().map(|(_, sample)| *sample).filter(|sample| !used.contains(&sample.game));
    let mut files = [("fit", String::new()), ("judge", String::new()), ("other", String::new())];
    let others: Vec<&Position> = other.take(wanted).collect();
    for (list, is_set) in [(set.clone(), true), (others, false)] {
        let mut list: Vec<(u64, u32, &Position)> =
            list.into_iter().filter_map(|s| Some((table.game(s)?.id, s.ply, s))).collect();
        list.sort_by_key(|(id, ply, _)| (*id, *ply));
        for (id, _, sample) in list {
            let file = if is_set { (random::bits(&[SEED + 1, id]) % 2) as usize } else { 2 };
            line(&mut files[file].1, table, positions, sample)?;
        }
    }
    println!("{} positions of {} games, at most {most} of one opening", set.len(), used.len());
    let (game, ending) = if table.chess { ("chess", "epd") } else { ("shogi", "sfen") };
    for (half, text) in files {
        std::fs::write(Path::new(out).join(format!("{game}-{half}.{ending}")), text)?;
    }
    Ok(())
}

/// Adds the line of a position.
fn line(
    text: &mut String,
    table: &SampleTable,
    positions: &Positions,
    sample: &Position,
) -> Result<(), Box<dyn Error>> {
    let info = table.game(sample).ok_or("a game is missing")?;
    let (start, moves) = positions.of(info, sample).ok_or("a position is missing")?;
    let (game, word) = if table.chess { (Game::Chess, "") } else { (Game::Shogi, "sfen ") };
    let position = usi::Position { start: start.map(str::to_owned), moves: moves.to_vec() };
    let (board, problem) = Board::new(game, &position);
    let board = board.text().ok_or_else(|| problem.map(|fault| fault.to_string()).unwrap_or_default())?;
    let outcome = match (info.black_outcome, table.chess) {
        (Outcome::Draw, _) => "1/2-1/2",
        (Outcome::Win, false) | (Outcome::Loss, true) => "1-0",
        (Outcome::Loss, false) | (Outcome::Win, true) => "0-1",
    };
    write!(text, "{word}{board} result \"{outcome}\"; id \"{:08x}\";", info.id >> 32)?;
    for (color, side) in [(Color::Black, "black"), (Color::White, "white")] {
        if let Some(rating) = info.ratings[color.index()] {
            write!(text, " {side}_rating {rating:.0};")?;
        }
    }
    text.push('\n');
    Ok(())
}
