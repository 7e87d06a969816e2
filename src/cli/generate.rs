//! `evalcurve generate` (hidden): records with known truth.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;

use super::calibrate::check_replace;
use super::{Done, terminal};
use crate::record::generate::{GenerateOptions, Truth, game};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file, CSA, games separated by /
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,

    /// Engines with their truth: NAME:W1:W2
    #[arg(long, value_name = "NAME:W1:W2", value_parser = truth, default_values = ["A:0.0015:0.2", "B:0.003:-0.3", "C:0.0008:0.5"])]
    engine: Vec<Truth>,

    /// Games
    #[arg(long, default_value_t = 1000)]
    games: u64,

    /// Plies of a game
    #[arg(long, default_value_t = 150)]
    plies: u32,

    /// Standard deviation of the logit of scores
    #[arg(long, default_value_t = 1.5)]
    spread: f64,

    /// Draws at even positions
    #[arg(long, default_value_t = 0.05)]
    draws: f64,

    /// Share of mates
    #[arg(long, default_value_t = 0.0)]
    mates: f64,

    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

fn truth(text: &str) -> Result<Truth, String> {
    let mut parts = text.rsplitn(3, ':');
    let parsed = (|| {
        let w2 = parts.next()?.parse().ok()?;
        let w1 = parts.next()?.parse().ok()?;
        Some(Truth { name: parts.next()?.to_owned(), w1, w2 })
    })();
    parsed.ok_or_else(|| "write NAME:W1:W2, for example Gikou:0.0026:0.16".to_owned())
}

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    check_replace(&args.out, args.force)?;
    let options = GenerateOptions {
        engines: args.engine.clone(),
        games: args.games,
        plies: args.plies,
        spread: args.spread,
        draws: args.draws,
        mates: args.mates,
        seed: args.seed,
    };
    let shown = args.out.display();
    let file = std::fs::File::create(&args.out).with_context(|| format!("{shown}: cannot create the file"))?;
    let mut out = BufWriter::new(file);
    for index in 0..options.games {
        if index > 0 {
            out.write_all(b"/\n")?;
        }
        out.write_all(game(&options, index)?.as_bytes())?;
    }
    out.flush()?;
    terminal::note(&format!("{} games with seed {} in {shown}", options.games, options.seed));
    Ok(Done::Yes)
}
