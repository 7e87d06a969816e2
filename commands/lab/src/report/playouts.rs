//! Reports of play-outs: tables, JSON, and the figures of Raiko 2006.

use std::error::Error;

use evalcurve_app::report::columns::Columns;
use evalcurve_app::report::text::{shown_or, thousands};
use evalcurve_figures::{Figure, PlotError, PlotOptions};
use evalcurve_fit::curve::Z_95;
use evalcurve_words::language::Language;
use evalcurve_words::{say, text};
use serde_json::{Value, json};

use crate::figures::{BoardPanel, Mark, SmallBoard, board_graph, board_rates};
use crate::playout::patterns::{Made, Pattern, made};
use crate::playout::{
    Analysis, AnyGame, Game, MoveChances, MoveValue, PlayoutOptions, Side, TicTacToe, analyse_patterns, position,
    score_of_win_rate,
};

fn side(side: Side) -> &'static str {
    if side == Side::First { "first" } else { "second" }
}

/// Half the width of a 95% interval of a rate over independent play-outs.
fn error(m: &MoveValue) -> Option<f64> {
    let rate = m.tally.rate()?;
    Some(Z_95 * (rate * (1.0 - rate) / m.tally.plays as f64).sqrt())
}

fn ranked(analysis: &Analysis) -> Vec<MoveValue> {
    let mut moves = analysis.moves.clone();
    let rate = |m: &MoveValue| m.tally.rate().unwrap_or(-1.0);
    moves.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then(a.action.cmp(&b.action)));
    moves
}

/// A game with the analysis of a position of it.
pub struct Analysed {
    pub name: String,
    pub game: AnyGame,
    pub analysis: Analysis,
    /// The exact values, if they were asked for.
    pub exact: Option<MoveChances>,
}

impl Analysed {
    /// The moves of a position, best first, at most `most` of them.
    pub fn table(&self, most: usize, language: Language) -> String {
        let Self { name, game, analysis, exact } = self;
        let player = match analysis.side {
            Side::First => text!("the first player"),
            _ => text!("the second player"),
        };
        let mut out = say!(
            language,
            "{name}: {} play-outs; {} is to move and makes {:.4} of the points\n",
            thousands(analysis.total.plays),
            player,
            analysis.total.rate().unwrap_or(f64::NAN)
        );
        if let Some(exact) = exact {
            let [win, draw, loss] = exact.chances;
            out += &say!(language, "exact, uniform play-outs: wins {win:.6}, draws {draw:.6}, losses {loss:.6}\n");
        }
        let six = |values: &[Option<f64>], m: &MoveValue| shown_or("-", value(values, m), |v| format!("{v:.6}"));
        let columns = Columns::new()
            .left(language.word("move"), 8, |m: &MoveValue| game.name(m.action))
            .right(language.word("play-outs"), 10, |m| thousands(m.tally.plays))
            .right(language.word("win rate [95%]"), 18, |m| {
                shown_or("-", m.tally.rate().zip(error(m)), |(rate, error)| format!("{rate:.4} ± {error:.4}"))
            })
            .right(language.word("score"), 9, |m| shown_or("-", score(m), |s| format!("{s:+}")));
        let columns = match exact {
            None => columns,
            Some(exact) => columns
                .gap(0)
                .right(language.word("exact first"), 16, move |m| six(&exact.expected_outcome, m))
                .gap(2)
                .right(language.word("exact any time"), 14, move |m| six(&exact.all_moves_as_first, m)),
        };
        let ranked = ranked(analysis);
        let more = ranked.len().saturating_sub(most);
        out += &columns.table(ranked.into_iter().take(most));
        if more > 0 {
            out += &say!(language, "… and {more} more (`all`)\n");
        }
        out
    }

    /// The analysis with all moves as JSON.
    pub fn document(&self, options: &PlayoutOptions) -> Value {
        let Self { name, game, analysis, exact } = self;
        let one = |m: &MoveValue| {
            json!({
                "move": game.name(m.action),
                "playouts": m.tally.plays,
                "win_rate": m.tally.rate(),
                "error_95": error(m),
                "score_cp": score(m),
                "exact_expected_outcome": exact.as_ref().and_then(|e| value(&e.expected_outcome, m)),
                "exact_all_moves_as_first": exact.as_ref().and_then(|e| value(&e.all_moves_as_first, m)),
            })
        };
        json!({
            "game": name,
            "side": side(analysis.side),
            "heuristic": options.heuristic.to_string(),
            "noise": options.noise,
            "seed": options.seed,
            "playouts": analysis.total.plays,
            "win_rate": analysis.total.rate(),
            "exact_chances": exact.as_ref().map(|e| e.chances),
            "patterns": analysis.table.patterns().len(),
            "moves": ranked(analysis).iter().map(one).collect::<Vec<_>>(),
        })
    }
}

/// The exact value of a move.
fn value(values: &[Option<f64>], m: &MoveValue) -> Option<f64> {
    values.get(usize::from(m.action)).copied().flatten()
}

/// The win rate of a move as a score.
fn score(m: &MoveValue) -> Option<i32> {
    score_of_win_rate(m.tally.smoothed_rate()).filter(|_| m.tally.plays > 0)
}

/// Boards side by side in the colours of their moves' win rates (Raiko 2006, figure 3).
///
/// # Errors
/// If no move has a value.
pub(crate) fn board_figure(
    boards: &[Analysed],
    options: &PlayoutOptions,
    plot: &PlotOptions,
) -> Result<Figure, PlotError> {
    let panels: Vec<BoardPanel> = boards
        .iter()
        .map(|Analysed { name, game, analysis, .. }| {
            let mut rates = vec![None; game.actions()];
            for m in &analysis.moves {
                if let Some(slot) = rates.get_mut(usize::from(m.action)) {
                    *slot = m.tally.rate();
                }
            }
            BoardPanel {
                title: format!("{} ({} cells)", title_of(name), game.actions()),
                places: game.places(),
                links: game.links(),
                rates,
            }
        })
        .collect();
    let playouts = boards.first().map_or(0, |b| b.analysis.total.plays);
    let how = match options.noise {
        None => "uniform play-outs".to_owned(),
        Some(noise) => format!("semi-random play-outs, noise {noise}"),
    };
    let caption = format!("{} · {} {how} a board · seed {}", options.heuristic, thousands(playouts), options.seed);
    let widest = boards.iter().flat_map(|b| b.analysis.moves.iter().filter_map(error)).fold(0.0, f64::max);
    let notes = [format!(
        "numbers: win rate of the side to move in percent when it plays there; 95% intervals reach {:.2} to each side \
         at the most",
        100.0 * widest
    )];
    board_rates(&panels, "Win rate of each move by play-outs", &caption, &notes, plot)
}

fn title_of(name: &str) -> &str {
    match name.split(':').next() {
        Some("y") => "straight board of Y",
        Some("bent-y") => "bent board of Y",
        Some("hex") => "Hex",
        _ => name,
    }
}

/// The pattern graph of [`pattern_figure`]: a position, six patterns after it, and a state of a play-out.
#[derive(Debug, Clone)]
pub(crate) struct PatternGraph {
    /// The position.
    pub start: TicTacToe,
    /// The patterns, numbered from 1 on the figure.
    pub patterns: Vec<Pattern>,
    pub state: TicTacToe,
    /// The indices of the patterns that apply to it.
    pub applying: Vec<usize>,
    /// The move that is evaluated after each pattern, and its name.
    pub judged: (Made, &'static str),
}

/// An example like figure 4 of Raiko 2006: six patterns of tic-tac-toe, of which 1, 2 and 4 apply to a state. The paper
/// does not name its patterns; these were chosen to have that property.
///
/// # Errors
/// The name of an illegal move, which would be a bug in this function.
pub(crate) fn pattern_graph() -> Result<PatternGraph, String> {
    let start = position(TicTacToe::default(), "b2,a1")?;
    let state = position(start, "a3,c1,b1")?;
    let of = |side: Side, name: &str| {
        start.action(name).map(|action| made(&start, side, action)).ok_or_else(|| name.to_owned())
    };
    let (x_a3, o_c1, x_c3) = (of(Side::First, "a3")?, of(Side::Second, "c1")?, of(Side::First, "c3")?);
    let patterns: Vec<Pattern> =
        [vec![x_a3], vec![o_c1], vec![x_c3], vec![x_a3, o_c1], vec![x_a3, x_c3], vec![o_c1, x_c3]]
            .into_iter()
            .map(Pattern::new)
            .collect();
    let state_made = [x_a3, o_c1, of(Side::First, "b1")?];
    let applying = (0..patterns.len()).filter(|&i| patterns[i].applies(&state_made)).collect();
    Ok(PatternGraph { start, patterns, state, applying, judged: (of(Side::Second, "b3")?, "b3") })
}

fn mark(cell: u16, cross: bool, old: bool) -> Mark {
    Mark { column: (cell % 3) as u8, row: (cell / 3) as u8, cross, old }
}

/// The moves of a position; those of the start are old.
fn marks(position: &TicTacToe, start: &TicTacToe) -> Vec<Mark> {
    let of = |cell| Some(mark(cell, position.holder(cell)? == Side::First, start.holder(cell).is_some()));
    (0..9).filter_map(of).collect()
}

/// Patterns, the arrows between them, and the state to which some of them apply (Raiko 2006, figure 4), with the value
/// of one move after each pattern.
///
/// # Errors
/// If the figure cannot be drawn.
pub(crate) fn pattern_figure(
    options: &PlayoutOptions,
    plot: &PlotOptions,
) -> Result<Figure, Box<dyn Error + Send + Sync>> {
    let graph = pattern_graph().map_err(|name| format!("'{name}' is not a move of the example"))?;
    let analysis = analyse_patterns(&graph.start, options, graph.patterns.clone())?;
    let (judged, judged_name) = graph.judged;
    let note = |pattern: &Pattern| {
        let rate = analysis.table.tally(pattern, judged).and_then(|t| t.rate());
        let sign = if pattern.order() == 0 { "" } else { " | pattern" };
        rate.map_or_else(String::new, |r| format!("h(O {judged_name}{sign}) = {r:.3}"))
    };
    let board = |index: usize| SmallBoard {
        title: format!("{}", index + 1),
        note: note(&graph.patterns[index]),
        marks: graph.patterns[index].moves().iter().map(|m| mark(m % 9, *m < 9, false)).collect(),
        framed: graph.applying.contains(&index),
    };
    let order =
        |n: usize| -> Vec<usize> { (0..graph.patterns.len()).filter(|&i| graph.patterns[i].order() == n).collect() };
    let (ones, twos) = (order(1), order(2));
    let row = |first: SmallBoard, of: &[usize], last: SmallBoard| {
        std::iter::once(first).chain(of.iter().map(|&i| board(i))).chain([last]).collect::<Vec<_>>()
    };
    let start = SmallBoard {
        title: "current state".to_owned(),
        note: note(&Pattern::default()),
        marks: marks(&graph.start, &graph.start),
        framed: false,
    };
    let applies = |p: &Pattern| p.order() == 0 || graph.applying.iter().any(|&i| graph.patterns[i] == *p);
    let patterns = analysis.table.patterns().iter().enumerate();
    let applying: Vec<usize> = patterns.filter(|(_, p)| applies(p)).map(|(i, _)| i).collect();
    let combined = analysis.table.value(&applying, judged, &options.patterns);
    let state = SmallBoard {
        title: "state in a play-out".to_owned(),
        note: combined.map_or_else(String::new, |v| format!("combined: {v:.3}")),
        marks: marks(&graph.state, &graph.start),
        framed: false,
    };
    let rows = [row(start, &ones, SmallBoard::default()), row(SmallBoard::default(), &twos, state)];
    let arrows = extensions(&graph.patterns, &ones, &twos);
    let applying: Vec<String> = graph.applying.iter().map(|i| (i + 1).to_string()).collect();
    let caption = format!(
        "grey: the current state; framed: patterns {} apply to the state · {} uniform play-outs · seed {}",
        applying.join(", "),
        thousands(options.playouts),
        options.seed
    );
    let notes = [format!(
        "h: points of O over the play-outs in which it made {judged_name} after the pattern's moves (eq. 3); combined: \
         over the patterns that apply"
    )];
    Ok(board_graph(&rows, &arrows, ("Patterns of moves in tic-tac-toe", &caption, &notes), plot)?)
}

/// Arrows from the patterns of the first row to those of the second that extend them.
fn extensions(patterns: &[Pattern], ones: &[usize], twos: &[usize]) -> Vec<((usize, usize), (usize, usize))> {
    let pairs = twos.iter().enumerate().flat_map(|two| ones.iter().enumerate().map(move |one| (one, two)));
    pairs
        .filter(|((_, one), (_, two))| patterns[**two].extends(&patterns[**one]))
        .map(|((a, _), (b, _))| ((0, a + 1), (1, b + 1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_1_2_and_4_apply() {
        // Raiko 2006, figure 4
        let graph = pattern_graph().unwrap();
        assert_eq!(graph.applying, [0, 1, 3]);
        assert_eq!(graph.patterns.len(), 6);
        let figure = pattern_figure(&PlayoutOptions::default(), &PlotOptions::default()).unwrap();
        assert!(figure.svg().contains("patterns 1, 2, 4 apply"));
    }
}
