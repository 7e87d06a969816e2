//! The win rate over one game by several engines.

use evalcurve_figures::drawing::{AxisSpec, Entry, Names, Words, named_lines, pale, stroke};
use evalcurve_figures::{Data, Figure, PlotError, PlotOptions, Point, Range, color, dashed};

/// What one engine says of a game.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct GameLine {
    pub(super) name: String,
    /// Index for [`color`].
    pub(super) color: usize,
    /// The win rate after so many moves, with its interval; a line is broken where more than `gap` moves are between
    /// two points.
    pub(super) points: Vec<Point>,
    /// See `points`.
    pub(super) gap: f64,
}

/// A game, and the texts around its graph.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct GameGraph {
    pub(super) title: String,
    /// The line below the title.
    pub(super) caption: String,
    /// The names of the axes: moves, and whose win rate it is.
    pub(super) axes: [String; 2],
    /// The number of moves.
    pub(super) plies: usize,
    /// The engines.
    pub(super) lines: Vec<GameLine>,
    /// Notes below the figure.
    pub(super) notes: Vec<String>,
}

/// A drawn game, and where its frame is in pixels: the left and right end, which are the start of the game and its last
/// move, and top and bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnGame {
    pub figure: Figure,
    /// See above.
    pub frame: [f64; 4],
}

/// Draws the win rate over a game, 0 to 1, by every engine.
///
/// # Errors
/// No point at all, or options out of range.
pub(super) fn game_graph(game: &GameGraph, options: &PlotOptions) -> Result<DrawnGame, PlotError> {
    options.check()?;
    let with_points = game.lines.iter().enumerate().filter(|(_, line)| !line.points.is_empty());
    let look = if game.lines.len() > 1 { dashed } else { color };
    let entry = |(index, l): (usize, &GameLine)| Entry { index, name: l.name.clone(), look: look(l.color) };
    let entries: Vec<Entry> = with_points.map(entry).collect();
    if entries.is_empty() {
        return Err(PlotError::nothing(game.lines.len(), "a win rate", "0 to 1"));
    }
    let last = game.plies.max(1) as f64;
    let x = AxisSpec::new(&game.axes[0], (0.0, last));
    let percent = |rate: f64| format!("{:.0}%", 100.0 * rate);
    let y = AxisSpec {
        format: &percent,
        emphasis: Some(0.5),
        ticks: vec![0.0, 0.25, 0.5, 0.75, 1.0],
        ..AxisSpec::new(&game.axes[1], (-0.02, 1.02))
    };
    let words = Words { title: &game.title, caption: &game.caption, notes: &game.notes };
    let mut frame = [0.0; 4];
    let mut data = Data::curves();
    let paths: Vec<Vec<(f64, f64)>> = entries
        .iter()
        .map(|entry| game.lines[entry.index].points.iter().map(|p| (p.x, p.win_rate)).collect())
        .collect();
    let figure = named_lines(options, words, &entries, Names::Ends(&paths), (&x, &y), |canvas| {
        let ((left, bottom), (right, top)) = (canvas.place((0.0, 0.0)), canvas.place((last, 1.0)));
        frame = [left, right, top, bottom];
        let runs = |entry: &Entry| {
            let line = &game.lines[entry.index];
            line.points.chunk_by(|a, b| b.x - a.x <= line.gap).map(<[Point]>::to_vec).collect::<Vec<_>>()
        };
        for entry in entries.iter().rev() {
            for run in runs(entry) {
                let band: Vec<Range> = run.iter().map(|p| Range { x: p.x, low: p.low, high: p.high }).collect();
                if run.iter().any(|p| p.low < p.high) {
                    canvas.band(&band, &pale(entry.look.line_color(), 0.18))?;
                }
            }
        }
        for entry in entries.iter().rev() {
            data.curve(&entry.name, "game", &game.lines[entry.index].points);
            for run in runs(entry) {
                let path: Vec<(f64, f64)> = run.iter().map(|p| (p.x, p.win_rate)).collect();
                match path.len() {
                    1 => canvas.discs(&path, 1.8, &entry.look.line_color())?,
                    _ => canvas.line(&path, stroke(&entry.look.line_color(), 1.7), entry.look.dash)?,
                }
            }
        }
        Ok(())
    })?;
    Ok(DrawnGame { figure: figure.with_data(data), frame })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_bands_and_break_at_gaps() {
        let point = |x: f64, win_rate: f64| Point { x, win_rate, low: win_rate - 0.1, high: win_rate + 0.1, count: 0 };
        let points = vec![point(0.0, 0.5), point(1.0, 0.6), point(2.0, 0.55), point(9.0, 0.7), point(10.0, 0.8)];
        let line = GameLine { name: "技巧".to_owned(), color: 0, points, gap: 2.0 };
        let game = GameGraph { title: "a <b>".to_owned(), plies: 12, lines: vec![line], ..GameGraph::default() };
        let drawn = game_graph(&game, &PlotOptions::default()).unwrap();
        let svg = drawn.figure.svg();
        assert!(svg.contains("技巧") && svg.contains("a &lt;b&gt;") && !svg.contains("<b>"));
        assert_eq!(svg.matches("<polygon").count(), 2, "{svg}");
        let [left, right, top, bottom] = drawn.frame;
        assert!(0.0 < left && left < right && right < 1_000.0 && 0.0 < top && top < bottom && bottom < 640.0);
        assert_eq!(drawn.figure.data().rows().count(), 5);
        assert!(game_graph(&GameGraph::default(), &PlotOptions::default()).is_err());
    }
}
