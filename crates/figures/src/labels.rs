//! Names beside lines, and legends.

use plotters::style::Color;

use super::chart::{Area, AxisSpec, Canvas, LABEL_SIZE, Pen, ROW, TEXT, Words, X_AXIS, Y_AXIS, frame, sheet, stroke};
use super::palette::{Stroke, color, dashed};
use super::{EngineSeries, Figure, PlotError, PlotOptions, font};

/// The most engines that are named beside their lines.
const MOST_DIRECT: usize = 10;
/// The widest name in pixels.
const WIDEST_NAME: f64 = 190.0;
const SWATCH: f64 = 34.0;
/// Distance from the frame to a name beside it.
const LEADER: f64 = 38.0;

/// How one engine appears in a figure of several.
pub struct Entry {
    /// Its place in the list of engines.
    pub index: usize,
    pub name: String,
    pub look: Stroke,
}

/// The names, colours and dashes of the engines that are drawn.
pub(super) fn entries(engines: &[EngineSeries], drawn: &[bool], options: &PlotOptions) -> Vec<Entry> {
    let widest = WIDEST_NAME.min(f64::from(options.width) * 0.25);
    let entry = |(index, e): (usize, &EngineSeries)| Entry {
        index,
        name: font::elide(&e.name, LABEL_SIZE, widest),
        look: if engines.len() > 1 { dashed(e.color) } else { color(e.color) },
    };
    engines.iter().enumerate().filter(|(i, _)| drawn[*i]).map(entry).collect()
}

/// Where the names of lines go, if there is room; the lines are in the units of the axes, in the order of the entries.
#[derive(Clone, Copy)]
pub enum Names<'l> {
    Legend,
    /// Right of the frame, each beside the end of its line.
    Ends(&'l [Vec<(f64, f64)>]),
    /// Each beside its line where the lines part, else as [`Names::Ends`].
    Inside(&'l [Vec<(f64, f64)>]),
}

/// Draws a figure of named lines; `series` draws into the frame.
pub fn named_lines(
    options: &PlotOptions,
    words: Words<'_>,
    entries: &[Entry],
    names: Names<'_>,
    (x, y): (&AxisSpec<'_>, &AxisSpec<'_>),
    series: impl FnOnce(&mut Canvas<'_, '_, '_>) -> Result<(), PlotError>,
) -> Result<Figure, PlotError> {
    sheet(options, words, |pen, area| {
        let whole = Area { right: area.right - 12.0, ..area };
        let placed = match names {
            Names::Inside(lines) => places(entries, inner(whole), &pixels(lines, inner(whole), x, y)),
            _ => None,
        };
        if let Some(placed) = placed {
            frame(pen, whole, x, y, series)?;
            return entries
                .iter()
                .zip(placed)
                .try_for_each(|(entry, at)| pen.text(&entry.name, at, LABEL_SIZE, entry.look.text_color()));
        }
        let place = Placement::new(entries, area, !matches!(names, Names::Legend));
        let outer = place.frame(area);
        frame(pen, outer, x, y, series)?;
        let below = outer.bottom < area.bottom;
        let bottom = outer.bottom - if below { 0.0 } else { X_AXIS };
        let ends = match names {
            Names::Legend => Vec::new(),
            Names::Ends(lines) | Names::Inside(lines) => pixels(lines, inner(outer), x, y),
        };
        let ends: Vec<(f64, f64)> = ends.iter().filter_map(|line| line.last().copied()).collect();
        place.draw(entries, pen, area, Area { bottom, ..outer }, &ends)
    })
}

/// The part of a frame between its axes.
fn inner(frame: Area) -> Area {
    Area { left: frame.left + Y_AXIS, bottom: frame.bottom - X_AXIS, ..frame }
}

fn pixels(lines: &[Vec<(f64, f64)>], inner: Area, x: &AxisSpec<'_>, y: &AxisSpec<'_>) -> Vec<Vec<(f64, f64)>> {
    let share = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low);
    let pixel = |&(a, b): &(f64, f64)| {
        let right = inner.left + share(a, x.range) * (inner.right - inner.left);
        (right, inner.bottom - share(b, y.range) * (inner.bottom - inner.top))
    };
    lines.iter().map(|line| line.iter().map(pixel).collect()).collect()
}

/// The least distance of a name inside the frame from the lines of others and from other names.
const CLEAR: f64 = 14.0;
/// Distance between a name and its line to the side, and from the middle of a name up or down.
const NEAR: f64 = 10.0;
const BESIDE: f64 = ROW / 2.0 + 4.0;

/// A place in the frame for each name (its left end and middle), right below or left above its own line, as far from
/// the other lines as [`CLEAR`] at least. `None` if a name has no such place.
fn places(named: &[Entry], frame: Area, lines: &[Vec<(f64, f64)>]) -> Option<Vec<(f64, f64)>> {
    if named.len() > MOST_DIRECT {
        return None;
    }
    let lines: Vec<Vec<(f64, f64)>> = lines.iter().map(|line| dense(line)).collect();
    let distance = |a: &Area, (x, y): (f64, f64)| {
        let (dx, dy) = ((a.left - x).max(x - a.right).max(0.0), (a.top - y).max(y - a.bottom).max(0.0));
        (dx * dx + dy * dy).sqrt()
    };
    let near = |a: &Area, line: &[(f64, f64)]| line.iter().map(|at| distance(a, *at)).fold(f64::INFINITY, f64::min);
    let mut boxes: Vec<Area> = Vec::new();
    for (i, entry) in named.iter().enumerate() {
        let width = font::width(&entry.name, LABEL_SIZE);
        let free = |a: &Area| {
            let inside =
                a.left > frame.left + 4.0 && a.right < frame.right && a.top > frame.top && a.bottom < frame.bottom;
            let apart =
                |b: &Area| a.right + CLEAR < b.left || b.right + CLEAR < a.left || a.bottom < b.top || b.bottom < a.top;
            let clear = || {
                let others = lines.iter().enumerate().filter(|(k, _)| *k != i);
                others.map(|(_, line)| near(a, line)).fold(3.0 * CLEAR, f64::min)
            };
            (inside && boxes.iter().all(apart) && near(a, &lines[i]) > 4.0).then(clear).filter(|clear| *clear >= CLEAR)
        };
        let sides = |&(x, y): &(f64, f64)| [(x + NEAR, y + BESIDE), (x - NEAR - width, y - BESIDE)];
        let boxed =
            |(left, y): (f64, f64)| Area { left, top: y - ROW / 2.0, right: left + width, bottom: y + ROW / 2.0 };
        let candidates = lines[i].iter().step_by(2).flat_map(sides).map(boxed);
        let found = candidates.filter_map(|a| Some((free(&a)?, a))).max_by(|a, b| a.0.total_cmp(&b.0));
        boxes.push(found?.1);
    }
    Some(boxes.iter().map(|a| (a.left, (a.top + a.bottom) / 2.0)).collect())
}

/// A line with a point every few pixels.
fn dense(line: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let between = |w: &[(f64, f64)]| {
        let ((x, y), (dx, dy)) = (w[0], (w[1].0 - w[0].0, w[1].1 - w[0].1));
        let steps = ((dx.abs().max(dy.abs()) / 4.0).ceil().clamp(1.0, 1000.0)) as u32;
        (0..steps).map(move |k| f64::from(k) / f64::from(steps)).map(move |s| (x + s * dx, y + s * dy))
    };
    line.windows(2).flat_map(between).chain(line.last().copied()).collect()
}

/// Where the names go that are not inside the frame.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Placement {
    /// Right of the frame, each beside the end of its line.
    Ends { width: f64 },
    /// Right of the frame, in one column.
    Right { width: f64 },
    /// Below the frame, in columns.
    Below { columns: usize, rows: usize, column: f64 },
}

impl Placement {
    fn new(named: &[Entry], area: Area, free_ends: bool) -> Self {
        let widest = named.iter().map(|e| font::width(&e.name, LABEL_SIZE)).fold(0.0, f64::max);
        let fits = named.len() as f64 * ROW < (area.bottom - area.top) * 0.8;
        let width = widest + if free_ends { LEADER } else { SWATCH + 10.0 };
        let narrow = width > (area.right - area.left) * 0.3;
        if named.len() <= MOST_DIRECT && fits && !narrow {
            if free_ends { Self::Ends { width } } else { Self::Right { width } }
        } else {
            let column = widest + SWATCH + 16.0;
            let columns = (((area.right - area.left - 10.0) / column).floor() as usize).clamp(1, named.len().max(1));
            // no more columns than that number of rows needs, so that the last one is not nearly empty
            let rows = named.len().div_ceil(columns);
            Self::Below { columns: named.len().div_ceil(rows), rows, column }
        }
    }

    /// The area that remains for the frame.
    fn frame(self, area: Area) -> Area {
        match self {
            Self::Ends { width } | Self::Right { width } => Area { right: area.right - width, ..area },
            Self::Below { rows, .. } => {
                Area { bottom: area.bottom - rows as f64 * ROW - 8.0, right: area.right - 12.0, ..area }
            }
        }
    }

    fn draw(
        self,
        named: &[Entry],
        pen: &Pen<'_>,
        area: Area,
        frame: Area,
        ends: &[(f64, f64)],
    ) -> Result<(), PlotError> {
        match self {
            Self::Ends { .. } => beside(named, pen, frame, ends),
            Self::Right { .. } => columns_of(named, pen, (frame.right + 8.0, frame.top + 10.0), (1, named.len()), 0.0),
            Self::Below { columns, rows, column } => {
                // centred under the frame, as far as the width allows
                let width = columns as f64 * column - 16.0;
                let middle = (frame.left + frame.right) / 2.0;
                let left = (middle - width / 2.0).min(area.right - width).max(area.left + 6.0);
                columns_of(named, pen, (left, frame.bottom + 8.0 + ROW / 2.0), (columns, rows), column)
            }
        }
    }
}

/// Draws a legend in columns.
fn columns_of(
    named: &[Entry],
    pen: &Pen<'_>,
    at: (f64, f64),
    (columns, rows): (usize, usize),
    step: f64,
) -> Result<(), PlotError> {
    for (i, entry) in named.iter().enumerate().take(columns * rows) {
        let (x, y) = (at.0 + (i / rows) as f64 * step, at.1 + (i % rows) as f64 * ROW);
        pen.swatch((x, y), entry.look, 2.2)?;
        pen.text(&entry.name, (x + SWATCH, y), LABEL_SIZE, TEXT)?;
    }
    Ok(())
}

/// Draws each name right of the frame, beside the end of its line.
fn beside(named: &[Entry], pen: &Pen<'_>, frame: Area, ends: &[(f64, f64)]) -> Result<(), PlotError> {
    let wanted: Vec<f64> = ends.iter().map(|at| at.1).collect();
    let placed = spread(&wanted, ROW, frame.top + ROW / 2.0, frame.bottom - ROW / 2.0);
    for ((entry, &(end_x, end_y)), y) in named.iter().zip(ends).zip(placed) {
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
    fn names_stand_where_lines_part() {
        let frame = Area { left: 0.0, top: 0.0, right: 600.0, bottom: 400.0 };
        let entry = |index: usize| Entry { index, name: "engine".to_owned(), look: color(index) };
        let named = [entry(0), entry(1)];
        // they part from the middle on, so the names stand in the right half, each nearer to its own line
        let lines =
            [vec![(0.0, 390.0), (300.0, 200.0), (600.0, 5.0)], vec![(0.0, 392.0), (300.0, 202.0), (600.0, 160.0)]];
        let placed = places(&named, frame, &lines).unwrap();
        assert!(placed.iter().all(|at| at.0 > 250.0), "{placed:?}");
        assert!(placed[0].1 < placed[1].1, "{placed:?}");
        // two lines that nowhere part leave no place
        assert_eq!(places(&named, frame, &[lines[0].clone(), lines[0].clone()]), None);
    }

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
