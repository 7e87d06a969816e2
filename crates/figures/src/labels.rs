//! Names beside lines, and legends.

use plotters::style::Color;

use super::chart::{Area, AxisSpec, Canvas, LABEL_SIZE, Pen, ROW, TEXT, Words, X_AXIS, frame, sheet, stroke};
use super::palette::{Stroke, color};
use super::{EngineSeries, Figure, PlotError, PlotOptions, font};

/// The most engines that are named beside their lines.
const MOST_DIRECT: usize = 10;
/// The widest name in pixels.
const WIDEST_NAME: f64 = 190.0;
const SWATCH: f64 = 34.0;
/// Distance from the frame to a name beside it.
const LEADER: f64 = 38.0;

/// How one engine appears in a figure of several.
pub(super) struct Entry {
    /// Its place in the list of engines.
    pub index: usize,
    pub name: String,
    pub look: Stroke,
}

/// The names and colours of the engines that are drawn.
pub(super) fn entries(engines: &[EngineSeries], drawn: &[bool], options: &PlotOptions) -> Vec<Entry> {
    let widest = WIDEST_NAME.min(f64::from(options.width) * 0.25);
    let entry = |(index, e): (usize, &EngineSeries)| Entry {
        index,
        name: font::elide(&e.name, LABEL_SIZE, widest),
        look: color(e.color),
    };
    engines.iter().enumerate().filter(|(i, _)| drawn[*i]).map(entry).collect()
}

/// Draws a figure of named lines.
///
/// `series` draws into the frame and returns the ends of the lines in pixels, in the order of the entries. If lines
/// have no free end beside the frame, it returns none, and the names form a legend.
pub(super) fn named_lines(
    options: &PlotOptions,
    words: Words<'_>,
    entries: &[Entry],
    free_ends: bool,
    (x, y): (&AxisSpec<'_>, &AxisSpec<'_>),
    series: impl FnOnce(&mut Canvas<'_, '_, '_>) -> Result<Vec<(f64, f64)>, PlotError>,
) -> Result<Figure, PlotError> {
    sheet(options, words, |pen, area| {
        let names = Names::new(entries, area, free_ends);
        let outer = names.frame(area);
        let mut ends = Vec::new();
        frame(pen, outer, x, y, |canvas| {
            ends = series(canvas)?;
            Ok(())
        })?;
        let below = outer.bottom < area.bottom;
        let inner = Area { bottom: outer.bottom - if below { 0.0 } else { X_AXIS }, ..outer };
        names.draw(pen, area, inner, &ends)
    })
}

/// Where the names go.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Placement {
    /// Right of the frame, each beside the end of its line.
    Ends { width: f64 },
    /// Right of the frame, in one column.
    Right { width: f64 },
    /// Below the frame, in columns.
    Below { columns: usize, rows: usize, column: f64 },
}

/// The names of a figure and their place.
struct Names<'a> {
    named: &'a [Entry],
    placement: Placement,
}

impl<'a> Names<'a> {
    fn new(named: &'a [Entry], area: Area, free_ends: bool) -> Self {
        let widest = named.iter().map(|e| font::width(&e.name, LABEL_SIZE)).fold(0.0, f64::max);
        let fits = named.len() as f64 * ROW < (area.bottom - area.top) * 0.8;
        let width = widest + if free_ends { LEADER } else { SWATCH + 10.0 };
        let narrow = width > (area.right - area.left) * 0.3;
        let placement = if named.len() <= MOST_DIRECT && fits && !narrow {
            if free_ends { Placement::Ends { width } } else { Placement::Right { width } }
        } else {
            let column = widest + SWATCH + 16.0;
            let columns = (((area.right - area.left - 10.0) / column).floor() as usize).clamp(1, named.len().max(1));
            // no more columns than that number of rows needs, so that the last one is not nearly empty
            let rows = named.len().div_ceil(columns);
            Placement::Below { columns: named.len().div_ceil(rows), rows, column }
        };
        Self { named, placement }
    }

    /// The area that remains for the frame.
    fn frame(&self, area: Area) -> Area {
        match self.placement {
            Placement::Ends { width } | Placement::Right { width } => Area { right: area.right - width, ..area },
            Placement::Below { rows, .. } => {
                Area { bottom: area.bottom - rows as f64 * ROW - 8.0, right: area.right - 12.0, ..area }
            }
        }
    }

    fn draw(&self, pen: &Pen<'_>, area: Area, frame: Area, ends: &[(f64, f64)]) -> Result<(), PlotError> {
        match self.placement {
            Placement::Ends { .. } => self.beside(pen, frame, ends),
            Placement::Right { .. } => {
                self.column(pen, (frame.right + 8.0, frame.top + 10.0), 1, self.named.len(), 0.0)
            }
            Placement::Below { columns, rows, column } => {
                // centred under the frame, as far as the width allows
                let width = columns as f64 * column - 16.0;
                let middle = (frame.left + frame.right) / 2.0;
                let left = (middle - width / 2.0).min(area.right - width).max(area.left + 6.0);
                self.column(pen, (left, frame.bottom + 8.0 + ROW / 2.0), columns, rows, column)
            }
        }
    }

    fn column(&self, pen: &Pen<'_>, at: (f64, f64), columns: usize, rows: usize, step: f64) -> Result<(), PlotError> {
        for (i, entry) in self.named.iter().enumerate().take(columns * rows) {
            let (x, y) = (at.0 + (i / rows) as f64 * step, at.1 + (i % rows) as f64 * ROW);
            pen.swatch((x, y), entry.look, 2.2)?;
            pen.text(&entry.name, (x + SWATCH, y), LABEL_SIZE, TEXT)?;
        }
        Ok(())
    }

    fn beside(&self, pen: &Pen<'_>, frame: Area, ends: &[(f64, f64)]) -> Result<(), PlotError> {
        let wanted: Vec<f64> = ends.iter().map(|at| at.1).collect();
        let placed = spread(&wanted, ROW, frame.top + ROW / 2.0, frame.bottom - ROW / 2.0);
        for ((entry, &(end_x, end_y)), y) in self.named.iter().zip(ends).zip(placed) {
            let x = frame.right + LEADER - 4.0;
            let turn = frame.right + 3.0;
            let (start, turn) = ((end_x + 4.0, end_y), (turn.max(end_x + 4.0), end_y));
            let thin = stroke(&entry.look.line_color().mix(0.7), 0.9);
            // dotted inside the frame, so that the connector is not mistaken for data
            if turn.0 - start.0 > 12.0 {
                pen.line(&[start, turn], thin, "1.2 3.4")?;
                pen.line(&[turn, (x - 3.0, y)], thin, "")?;
            } else {
                pen.line(&[start, turn, (x - 3.0, y)], thin, "")?;
            }
            pen.text(&entry.name, (x, y), LABEL_SIZE, entry.look.text_color())?;
        }
        Ok(())
    }
}

/// Positions at least `gap` apart and within the range, as near as possible to the wanted ones (least squares).
fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]).then(a.cmp(&b)));
    // With k gaps subtracted from the k-th position, "at least one gap apart" becomes "not descending", which pooling
    // adjacent violators solves.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        blocks.push((wanted[i] - k as f64 * gap, 1));
        while let [.., (a, n), (b, m)] = blocks[..] {
            if a <= b {
                break;
            }
            blocks.truncate(blocks.len() - 2);
            blocks.push(((a * n as f64 + b * m as f64) / (n + m) as f64, n + m));
        }
    }
    let top = (high - gap * wanted.len().saturating_sub(1) as f64).max(low);
    let levels = blocks.into_iter().flat_map(|(level, n)| std::iter::repeat_n(level.clamp(low, top), n));
    let mut out = vec![0.0; wanted.len()];
    for ((k, &i), level) in order.iter().enumerate().zip(levels) {
        out[i] = level + k as f64 * gap;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_overlap() {
        let placed = spread(&[10.0, 11.0, 12.0, 300.0, 299.0], 17.0, 8.0, 305.0);
        let mut sorted = placed.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 17.0 - 1e-9), "{sorted:?}");
        assert!(sorted[0] >= 8.0 && sorted[4] <= 305.0);
        assert!(placed[4] < placed[3]);
        assert_eq!(spread(&[50.0, 100.0], 17.0, 0.0, 200.0), [50.0, 100.0]);
        assert!(spread(&[], 17.0, 0.0, 200.0).is_empty());
    }
}
