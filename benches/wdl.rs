//! Speed of the win/draw/loss fit: counts in the form of Stockfish's WDL_model are read and fitted.
//!
//! ```text
//! cargo bench --bench wdl -- --write FILE.json [POSITIONS]   writes random counts with known truth
//! cargo bench --bench wdl -- --counts FILE.json [move]       reads counts, fits by material or by move, prints a and b
//! ```
//!
//! `benches/wdl_peers.py` compares it with scoreWDL.py.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::time::Instant;

use evalcurve::fit::{Situation, StageUnit, Wdl, WdlCount, fit_wdl_counts};
use evalcurve::random;

/// Larger scores are left out, as in scoreWDL.py by default.
const MAX_SCORE_CP: i32 = 400;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str, n: usize| {
        arguments.iter().position(|a| a == flag).and_then(|at| arguments.get(at + n)).filter(|a| !a.starts_with("--"))
    };
    if let Some(path) = after("--write", 1) {
        let positions = after("--write", 2).map_or(10_000, |n| n.parse().expect("a number of positions"));
        std::fs::write(path, invented(positions)).expect("write the counts");
    } else if let Some(path) = after("--counts", 1) {
        let by_move = after("--counts", 2).is_some_and(|word| word == "move");
        let start = Instant::now();
        let counts = read(&std::fs::read_to_string(path).expect("read the counts"), by_move);
        let read_ms = start.elapsed().as_secs_f64() * 1e3;
        let unit = if by_move { StageUnit::Ply } else { StageUnit::Material };
        let start = Instant::now();
        let wdl = fit_wdl_counts(&counts, unit).expect("fit");
        let fit_ms = start.elapsed().as_secs_f64() * 1e3;
        println!("as {:?}\nbs {:?}\nread_ms {read_ms:.3}\nfit_ms {fit_ms:.3}\ncells {}", wdl.a, wdl.b, counts.len());
    } else {
        println!("nothing to do: give --write FILE or --counts FILE after --");
    }
}

/// Counts by ('W', move, material, score). The ply is twice the number of the move, so 32 moves are 64 plies.
fn read(text: &str, by_move: bool) -> Vec<WdlCount> {
    let counts: BTreeMap<String, u64> = serde_json::from_str(text).expect("counts as JSON");
    let mut sums: BTreeMap<(u32, i32), [u64; 3]> = BTreeMap::new();
    for (key, count) in &counts {
        let parts: Vec<&str> = key.trim_matches(['(', ')']).split(", ").collect();
        let number = |i: usize| parts[i].parse::<i32>().expect("a number");
        let (number_of_move, material, score_cp) = (number(1), number(2), number(3));
        let known = (1..=120).contains(&number_of_move) && (17..=78).contains(&material);
        if known && score_cp.abs() <= MAX_SCORE_CP {
            let stage = if by_move { 2 * number_of_move } else { material };
            let outcome = "LDW".find(parts[0].trim_matches('\'')).expect("W, D or L");
            sums.entry((stage as u32, score_cp)).or_default()[outcome] += count;
        }
    }
    let count = |((stage, score_cp), [losses, draws, wins]): ((u32, i32), [u64; 3])| WdlCount {
        stage,
        score_cp,
        wins,
        draws,
        losses,
    };
    sums.into_iter().map(count).collect()
}

fn invented(positions: u64) -> String {
    let truth = Wdl {
        stage: StageUnit::Material,
        a: [-37.0, 75.0, -58.0, 150.0],
        b: [-20.0, 80.0, -60.0, 50.0],
        from_stage: 17,
        to_stage: 78,
    };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for i in 0..positions {
        let material = 17 + random::below(62, &[i, 1]) as u32;
        let normal: f64 = (0..12).map(|k| random::unit(&[i, 2, k])).sum::<f64>() - 6.0;
        let score_cp = (160.0 * normal).round() as i32;
        let at = Situation { material: Some(material), ..Situation::default() };
        let rates = truth.rates(f64::from(score_cp), &at);
        let outcome = match random::unit(&[i, 3]) {
            u if u < rates.win => 'W',
            u if u < rates.win + rates.draw => 'D',
            _ => 'L',
        };
        let number_of_move = 1 + (78 - material) * 2 / 3 + random::below(20, &[i, 4]) as u32;
        *counts.entry(format!("('{outcome}', {number_of_move}, {material}, {score_cp})")).or_default() += 1;
    }
    serde_json::to_string(&counts).expect("counts as JSON")
}
