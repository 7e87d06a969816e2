//! `evalcurve-lab theory playout`

use std::path::PathBuf;

use anyhow::bail;
use evalcurve_app::cli::Done;
use evalcurve_app::cli::files::write_figure;
use evalcurve_app::cli::options::{OutputArgs, language, threads};
use evalcurve_app::report::json::rounded;
use evalcurve_figures::PlotOptions;
use evalcurve_words::text;
use serde_json::json;

use crate::playout::{AnyGame, PlayoutOptions, analyse, exact, position};
use crate::report::playouts::{self, Analysed};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  evalcurve-lab theory playout tic-tac-toe --exact
      win rates of the nine moves by play-outs, and their exact limits
  evalcurve-lab theory playout hex:7 --moves d4,c5 --heuristic all-moves-as-first
  evalcurve-lab theory playout hex:5 --heuristic higher-order --noise 0.2
      semi-random play-outs whose moves follow patterns of earlier moves
  evalcurve-lab theory playout y:13 bent-y:5:4 --heuristic all-moves-as-first --playouts 200000 --plot figure-3.svg
      a straight and a bent board of Y side by side (Raiko 2006, figure 3)
  evalcurve-lab theory playout --pattern-graph figure-4.svg
      patterns of moves in tic-tac-toe (Raiko 2006, figure 4)

Games: tic-tac-toe, hex:SIZE, y:SIZE, bent-y:CORE:RINGS. Draws count half. A move that is in no play-out has no value. \
The score is the logit of the win rate in centipawns, 600 ln(p/(1 - p)), for the calibration of play-outs.")]
pub(super) struct Args {
    /// The games
    #[arg(value_name = "GAME", required_unless_present = "pattern_graph", value_parser = AnyGame::parse_named)]
    games: Vec<(String, AnyGame)>,

    /// Moves made before, by name (b2,a1)
    #[arg(long, value_name = "MOVES", default_value = "")]
    moves: String,

    #[command(flatten)]
    options: PlayoutOptions,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<usize>,

    /// Add the exact values of uniform play-outs (for up to 11 legal moves)
    #[arg(long)]
    exact: bool,

    /// Show all moves
    #[arg(long, help_heading = "Output")]
    all: bool,

    /// Draw the moves of the games in the colours of their win rates into FILE.svg and FILE.png
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<PathBuf>,

    /// Draw patterns of tic-tac-toe into FILE.svg and FILE.png
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pattern_graph: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Number of moves in a table.
const SHOWN: usize = 20;

pub(super) fn run(args: &Args) -> anyhow::Result<Done> {
    let options = args.options;
    let plot = PlotOptions::default();
    let mut boards = Vec::new();
    for (name, game) in &args.games {
        let game = match position(game.clone(), &args.moves) {
            Ok(game) => game,
            Err(wrong) => {
                bail!(text!("'{wrong}' is not a legal move of {name} there; use the names of moves in the table"))
            }
        };
        let analysis = analyse(&game, &options)?;
        let exact = if args.exact { Some(exact(&game)?) } else { None };
        boards.push(Analysed { name: name.clone(), game, analysis, exact });
    }
    if let Some(path) = &args.plot {
        write_figure(path, playouts::board_figure(&boards, &options, &plot)?)?;
    }
    if let Some(path) = &args.pattern_graph {
        let figure = playouts::pattern_figure(&options, &plot).map_err(anyhow::Error::from_boxed)?;
        write_figure(path, figure)?;
    }
    let documents = || boards.iter().map(|board| board.document(&options)).collect::<Vec<_>>();
    let shown = if args.all { usize::MAX } else { SHOWN };
    let text = || boards.iter().map(|board| board.table(shown, language())).collect();
    args.output.print(|| rounded(json!({ "games": documents() })), text)?;
    Ok(Done::Yes)
}
