//! Names beside lines, and legends.

use super::chart::{Area, AxisSpec, Canvas, GREY, LABEL_SIZE, Pen, ROW, SOFT_TEXT, TEXT, Words, X_AXIS, frame, sheet};
use super::palette::{Stroke, color};
use super::{EngineSeries, Figure, PlotError, PlotOptions, font};

/// The most engines that get a colour and a name; the others are grey.
const MOST_NAMED: usize = 24;
/// The most engines that are named beside their lines.
const MOST_DIRECT: usize = 10;
/// The widest name in pixels.
const WIDEST_NAME: f64 = 190.0;
const SWATCH: f64 = 34.0;
/// Distance from the frame to a name beside it.
const LEADER: f64 = 38.0;

/// How one engine appears in a figure of several.
pub(super) struct Entry {
    pub name: String,
    pub look: Stroke,
    /// Whether it has what the figure shows.
    pub drawn: bool,
    /// Whether it has a colour and a name.
    pub named: bool,
}

/// Gives a colour and a name to the engines with the most positions.
pub(super) fn entries(engines: &[EngineSeries], drawn: &[bool], options: &PlotOptions) -> Vec<Entry> {
    let (width, height) = (f64::from(options.width), f64::from(options.height));
    let widest = WIDEST_NAME.min(width * 0.25);
    let names: Vec<String> = engines.iter().map(|e| font::elide(&e.name, LABEL_SIZE, widest)).collect();
    // the legend must leave most of the area to the figure
    let column = names.iter().map(|n| font::width(n, LABEL_SIZE)).fold(0.0, f64::max) + SWATCH + 16.0;
    let columns = ((width - 60.0) / column).floor().max(1.0);
    let rows = ((height - 290.0) / ROW).floor().max(4.0);
    let most = MOST_NAMED.min((columns * rows) as usize);
    let mut order: Vec<usize> = (0..engines.len()).collect();
    order.sort_by_key(|&i| (!drawn[i], std::cmp::Reverse(engines[i].samples), i));
    let mut named = vec![false; engines.len()];
    for &i in order.iter().take(most) {
        named[i] = true;
    }
    let entry =
        |(i, name): (usize, String)| Entry { name, look: color(engines[i].color), drawn: drawn[i], named: named[i] };
    names.into_iter().enumerate().map(entry).collect()
}

/// The note about engines without a name in the figure.
pub(super) fn more(entries: &[Entry], absent: &str) -> Option<String> {
    let unnamed = entries.iter().filter(|e| !e.named).count();
    let grey = entries.iter().filter(|e| !e.named && e.drawn).count();
    if unnamed == 0 {
        return None;
    }
    let names: Vec<&str> = entries.iter().filter(|e| !e.named).map(|e| e.name.as_str()).collect();
    let how = match (grey, unnamed - grey) {
        (_, 0) => "in grey".to_owned(),
        (0, _) => absent.to_owned(),
        (_, without) => format!("in grey, {without} of them with {absent}"),
    };
    Some(format!("+{unnamed} more {how} (fewest positions): {}", names.join(", ")))
}

/// Draws a figure of named lines.
///
/// `entries` come with the words for an engine without a line. `series` draws into the frame and returns the ends of
/// the drawn, named lines in pixels, in the order of the engines. If lines have no free end beside the frame, it
/// returns none, and the names form a legend.
pub(super) fn named_lines(
    options: &PlotOptions,
    words: Words<'_>,
    (entries, absent): (&[Entry], &str),
    free_ends: bool,
    (x, y): (&AxisSpec<'_>, &AxisSpec<'_>),
    series: impl FnOnce(&mut Canvas<'_>) -> Vec<(f64, f64)>,
) -> Result<Figure, PlotError> {
    sheet(options, words, |pen, area| {
        let names = Names::new(entries, absent, area, free_ends);
        let outer = names.frame(area);
        let ends = frame(pen, outer, x, y, series);
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
    named: Vec<&'a Entry>,
    absent: &'a str,
    placement: Placement,
}

impl<'a> Names<'a> {
    fn new(entries: &'a [Entry], absent: &'a str, area: Area, free_ends: bool) -> Self {
        let named: Vec<&Entry> = entries.iter().filter(|e| e.named).collect();
        let suffix = |e: &&Entry| if e.drawn { 0.0 } else { font::width(&format!(" ({absent})"), LABEL_SIZE) };
        let widths = named.iter().map(|e| font::width(&e.name, LABEL_SIZE) + suffix(e));
        let widest = widths.fold(0.0, f64::max);
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
        Self { named, absent, placement }
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

    fn draw(&self, pen: &mut Pen, area: Area, frame: Area, ends: &[(f64, f64)]) {
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

    fn column(&self, pen: &mut Pen, at: (f64, f64), columns: usize, rows: usize, step: f64) {
        for (i, entry) in self.named.iter().enumerate().take(columns * rows) {
            let (x, y) = (at.0 + (i / rows) as f64 * step, at.1 + (i % rows) as f64 * ROW);
            if entry.drawn {
                pen.swatch((x, y), entry.look, 2.2);
                pen.text(&entry.name, (x + SWATCH, y), LABEL_SIZE, TEXT);
            } else {
                pen.text(&format!("{} ({})", entry.name, self.absent), (x + SWATCH, y), LABEL_SIZE, SOFT_TEXT);
            }
        }
    }

    fn beside(&self, pen: &mut Pen, frame: Area, ends: &[(f64, f64)]) {
        let mut ends = ends.iter();
        // engines without a line are listed at the bottom of the frame
        let anchors: Vec<(&Entry, Option<(f64, f64)>)> =
            self.named.iter().map(|e| (*e, if e.drawn { ends.next().copied() } else { None })).collect();
        let foot = frame.bottom - ROW / 2.0;
        let wanted: Vec<f64> = anchors.iter().map(|(_, at)| at.map_or(foot, |at| at.1)).collect();
        let placed = spread(&wanted, ROW, frame.top + ROW / 2.0, foot);
        for ((entry, at), y) in anchors.into_iter().zip(placed) {
            let x = frame.right + LEADER - 4.0;
            match at {
                Some((end_x, end_y)) => {
                    let turn = frame.right + 3.0;
                    let (start, turn) = ((end_x + 4.0, end_y), (turn.max(end_x + 4.0), end_y));
                    let thin = (entry.look.ink().mix(0.7), 0.9);
                    // dotted inside the frame, so that the connector is not mistaken for data
                    if turn.0 - start.0 > 12.0 {
                        pen.line(&[start, turn], thin, "1.2 3.4");
                        pen.line(&[turn, (x - 3.0, y)], thin, "");
                    } else {
                        pen.line(&[start, turn, (x - 3.0, y)], thin, "");
                    }
                    pen.text(&entry.name, (x, y), LABEL_SIZE, entry.look.text_ink());
                }
                None => pen.text(&format!("{} ({})", entry.name, self.absent), (x, y), LABEL_SIZE, SOFT_TEXT),
            }
        }
    }
}

/// The colour and dash of an entry's line.
pub(super) fn look(entry: &Entry) -> Stroke {
    if entry.named { entry.look } else { Stroke { rgb: GREY.rgb, dash: "" } }
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

    #[test]
    fn the_engines_with_most_positions_are_named() {
        let engines: Vec<EngineSeries> = (0..30)
            .map(|i| EngineSeries { samples: i, ..EngineSeries::new(format!("engine {i}"), i as usize) })
            .collect();
        let mut drawn = vec![true; 30];
        drawn[29] = false;
        let entries = entries(&engines, &drawn, &PlotOptions::default());
        assert_eq!(entries.iter().filter(|e| e.named).count(), 24);
        assert!(!entries[0].named && entries[28].named && !entries[29].named);
        let note = more(&entries, "no curve").unwrap();
        assert!(note.starts_with("+6 more in grey, 1 of them with no curve"), "{note}");
    }
}
