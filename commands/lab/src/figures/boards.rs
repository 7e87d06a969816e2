//! Boards: cells in the colour of a win rate, and patterns of tic-tac-toe (Raiko 2006, figures 3 and 4).

use evalcurve_figures::drawing::{
    AXIS, Area, GREY, Pen, RGBColor, SOFT_TEXT, TEXT, Words, sheet, stroke, width as text_width,
};
use evalcurve_figures::{Figure, PlotError, PlotOptions, color};

/// A board with a win rate for each cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct BoardPanel {
    /// The text above it.
    pub title: String,
    /// The position of each cell, in any unit, with y downwards.
    pub places: Vec<(f64, f64)>,
    /// Cells that touch.
    pub links: Vec<(usize, usize)>,
    /// The win rate of each cell, 0 to 1; a cell without one is white.
    pub rates: Vec<Option<f64>>,
}

/// Draws boards side by side with a common colour scale.
///
/// # Errors
/// No board, no win rate, or options out of range.
pub(crate) fn board_rates(
    panels: &[BoardPanel],
    title: &str,
    caption: &str,
    notes: &[String],
    options: &PlotOptions,
) -> Result<Figure, PlotError> {
    options.check()?;
    let rates = || panels.iter().flat_map(|p| p.rates.iter().flatten().copied()).filter(|r| r.is_finite());
    let (low, high) = rates().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), r| (a.min(r), b.max(r)));
    if low > high {
        return Err(PlotError::nothing(panels.len(), "a win rate", "0 to 1"));
    }
    let words = Words { title, caption, notes };
    sheet(options, words, |pen, area| {
        let bar = Area { left: area.right - 62.0, top: area.top + 30.0, bottom: area.bottom - 30.0, ..area };
        scale(pen, bar, (low, high))?;
        let width = (bar.left - 24.0 - area.left) / panels.len() as f64;
        for (i, panel) in panels.iter().enumerate() {
            let left = area.left + i as f64 * width;
            let inside = Area { left: left + 10.0, right: left + width - 10.0, top: area.top + 26.0, ..area };
            centred(pen, &panel.title, ((inside.left + inside.right) / 2.0, area.top + 10.0), 14.0, TEXT)?;
            board(pen, panel, inside, (low, high))?;
        }
        Ok(())
    })
}

fn centred(pen: &Pen<'_>, text: &str, (x, y): (f64, f64), size: f64, color: RGBColor) -> Result<(), PlotError> {
    pen.text(text, (x - text_width(text, size) / 2.0, y), size, color)
}

/// From pale yellow over green-blue to dark blue.
fn ramp(share: f64) -> RGBColor {
    const STOPS: [(f64, f64, f64); 4] =
        [(255.0, 250.0, 214.0), (127.0, 205.0, 187.0), (34.0, 94.0, 168.0), (8.0, 24.0, 88.0)];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let from = (at as usize).min(STOPS.len() - 2);
    let part = at - from as f64;
    let (a, b) = (STOPS[from], STOPS[from + 1]);
    let mix = |a: f64, b: f64| (a + part * (b - a)).round() as u8;
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

fn share_of(rate: f64, (low, high): (f64, f64)) -> f64 {
    if high > low { (rate - low) / (high - low) } else { 0.5 }
}

fn scale(pen: &Pen<'_>, bar: Area, range: (f64, f64)) -> Result<(), PlotError> {
    const STEPS: u32 = 60;
    let height = (bar.bottom - bar.top) / f64::from(STEPS);
    for step in 0..STEPS {
        let bottom = bar.bottom - f64::from(step) * height;
        let piece = Area { left: bar.left, right: bar.left + 16.0, top: bottom - height, bottom };
        pen.fill(piece, &ramp((f64::from(step) + 0.5) / f64::from(STEPS)))?;
    }
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = bar.bottom - share * (bar.bottom - bar.top);
        let text = format!("{:.1}%", 100.0 * (range.0 + share * (range.1 - range.0)));
        pen.text(&text, (bar.left + 22.0, y), 11.5, TEXT)?;
    }
    Ok(())
}

fn board(pen: &Pen<'_>, panel: &BoardPanel, area: Area, range: (f64, f64)) -> Result<(), PlotError> {
    let bounds = |pick: fn(&(f64, f64)) -> f64| {
        let values = panel.places.iter().map(pick);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
    };
    let ((x0, x1), (y0, y1)) = (bounds(|p| p.0), bounds(|p| p.1));
    // half a cell on each side
    let across = ((area.right - area.left) / (x1 - x0 + 1.2)).min((area.bottom - area.top) / (y1 - y0 + 1.2));
    let middle = ((area.left + area.right) / 2.0, (area.top + area.bottom) / 2.0);
    let place =
        |p: (f64, f64)| (middle.0 + (p.0 - (x0 + x1) / 2.0) * across, middle.1 + (p.1 - (y0 + y1) / 2.0) * across);
    let places: Vec<(f64, f64)> = panel.places.iter().map(|&p| place(p)).collect();
    let mut radius = vec![0.5 * across; places.len()];
    for &(a, b) in &panel.links {
        if let (Some(&p), Some(&q)) = (places.get(a), places.get(b)) {
            pen.line(&[p, q], stroke(&GREY, 1.0), "")?;
            let half = 0.5 * ((p.0 - q.0) * (p.0 - q.0) + (p.1 - q.1) * (p.1 - q.1)).sqrt();
            radius[a] = radius[a].min(half);
            radius[b] = radius[b].min(half);
        }
    }
    for ((&at, &radius), rate) in places.iter().zip(&radius).zip(&panel.rates) {
        let radius = radius * 0.94;
        pen.disc(at, radius, &AXIS)?;
        let Some(rate) = rate.filter(|r| r.is_finite()) else {
            pen.disc(at, radius - 0.8, &RGBColor(255, 255, 255))?;
            continue;
        };
        let share = share_of(rate, range);
        pen.disc(at, radius - 0.8, &ramp(share))?;
        let ink = if share > 0.45 { RGBColor(255, 255, 255) } else { TEXT };
        let size = (radius * 0.82).min(12.0);
        if size >= 5.0 {
            let decimals = usize::from(range.1 - range.0 < 0.2);
            centred(pen, &format!("{:.decimals$}", 100.0 * rate), at, size, ink)?;
        }
    }
    Ok(())
}

/// A mark on a small board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Column from the left, from 0.
    pub column: u8,
    /// Row from the bottom, from 0.
    pub row: u8,
    /// A cross, otherwise a nought.
    pub cross: bool,
    /// Part of the starting position: drawn in grey.
    pub old: bool,
}

/// A position of tic-tac-toe with its texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SmallBoard {
    /// The text above it.
    pub title: String,
    /// The text below it.
    pub note: String,
    pub marks: Vec<Mark>,
    /// A frame around it.
    pub framed: bool,
}

/// An arrow from one board to another, each given by row and place in the row.
pub(crate) type Arrow = ((usize, usize), (usize, usize));

/// Draws rows of small boards with arrows between them.
///
/// # Errors
/// No board, or options out of range.
pub(crate) fn board_graph(
    rows: &[Vec<SmallBoard>],
    arrows: &[Arrow],
    words: (&str, &str, &[String]),
    options: &PlotOptions,
) -> Result<Figure, PlotError> {
    options.check()?;
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    if widest == 0 {
        return Err(PlotError::NoEngines);
    }
    let words = Words { title: words.0, caption: words.1, notes: words.2 };
    sheet(options, words, |pen, area| {
        let height = (area.bottom - area.top) / rows.len() as f64;
        let width = (area.right - area.left) / widest as f64;
        // space for the texts above and below
        let side = (height - 70.0).min(width - 60.0).max(30.0);
        let corner = |(row, place): (usize, usize)| {
            let left = area.left + (place as f64 + 0.5) * width - side / 2.0;
            (left, area.top + row as f64 * height + 24.0)
        };
        for &(from, to) in arrows {
            let middle = |at| (corner(at).0 + side / 2.0, corner(at).1);
            let (from, to) = (middle(from), middle(to));
            arrow(pen, (from.0, from.1 + side + 22.0), (to.0, to.1 - 22.0))?;
        }
        for (r, row) in rows.iter().enumerate() {
            for (p, board) in row.iter().enumerate() {
                // a board without marks and texts leaves its place empty
                if *board != SmallBoard::default() {
                    small(pen, board, corner((r, p)), side)?;
                }
            }
        }
        Ok(())
    })
}

fn arrow(pen: &Pen<'_>, from: (f64, f64), to: (f64, f64)) -> Result<(), PlotError> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = (dx * dx + dy * dy).sqrt().max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let pen_style = stroke(&SOFT_TEXT, 1.2);
    pen.line(&[from, to], pen_style, "")?;
    for turn in [1.0, -1.0] {
        let tail = (to.0 - 9.0 * ux + turn * 4.0 * uy, to.1 - 9.0 * uy - turn * 4.0 * ux);
        pen.line(&[to, tail], pen_style, "")?;
    }
    Ok(())
}

fn small(pen: &Pen<'_>, board: &SmallBoard, (left, top): (f64, f64), side: f64) -> Result<(), PlotError> {
    let cell = side / 3.0;
    let middle = left + side / 2.0;
    if board.framed {
        let (l, t, r, b) = (left - 7.0, top - 7.0, left + side + 7.0, top + side + 7.0);
        let frame = [(l, t), (r, t), (r, b), (l, b), (l, t)];
        pen.line(&frame, stroke(&color(1).line_color(), 2.4), "")?;
    }
    for k in 0..4 {
        let at = f64::from(k) * cell;
        pen.line(&[(left + at, top), (left + at, top + side)], stroke(&GREY, 1.0), "")?;
        pen.line(&[(left, top + at), (left + side, top + at)], stroke(&GREY, 1.0), "")?;
    }
    for mark in &board.marks {
        let x = left + (f64::from(mark.column) + 0.5) * cell;
        let y = top + side - (f64::from(mark.row) + 0.5) * cell;
        let reach = 0.29 * cell;
        let ink = match (mark.old, mark.cross) {
            (true, _) => RGBColor(0x8A, 0x8A, 0x8A),
            (false, true) => color(0).line_color(),
            (false, false) => color(1).line_color(),
        };
        if mark.cross {
            pen.line(&[(x - reach, y - reach), (x + reach, y + reach)], stroke(&ink, 3.0), "")?;
            pen.line(&[(x - reach, y + reach), (x + reach, y - reach)], stroke(&ink, 3.0), "")?;
        } else {
            pen.disc((x, y), reach + 1.5, &ink)?;
            pen.disc((x, y), reach - 1.5, &RGBColor(255, 255, 255))?;
        }
    }
    centred(pen, &board.title, (middle, top - 15.0), 13.0, TEXT)?;
    centred(pen, &board.note, (middle, top + side + 16.0), 11.5, SOFT_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_their_rates() {
        let panel = BoardPanel {
            title: "two cells".to_owned(),
            places: vec![(0.0, 0.0), (1.0, 0.0), (0.5, 0.9)],
            links: vec![(0, 1), (1, 2), (0, 2), (7, 9)],
            rates: vec![Some(0.25), Some(0.75), None],
        };
        let figure = board_rates(&[panel], "t", "c", &[], &PlotOptions::default()).unwrap();
        for text in ["two cells", ">25<", ">75<", "50.0%"] {
            assert!(figure.svg().contains(text), "{text}");
        }
        assert!(board_rates(&[BoardPanel::default()], "t", "c", &[], &PlotOptions::default()).is_err());
    }

    #[test]
    fn the_ramp_gets_darker() {
        let light = |share: f64| {
            let RGBColor(r, g, b) = ramp(share);
            u32::from(r) + u32::from(g) + u32::from(b)
        };
        assert!((0..20).all(|i| light(f64::from(i) / 20.0) > light(f64::from(i + 1) / 20.0)));
    }

    #[test]
    fn small_boards_are_drawn_with_arrows() {
        let marks = vec![Mark { column: 1, row: 1, cross: true, old: false }];
        let board = SmallBoard { title: "1".to_owned(), note: "n".to_owned(), marks, framed: true };
        let rows = [vec![board.clone()], vec![board, SmallBoard::default()]];
        let words = ("t", "c", &[][..]);
        let figure = board_graph(&rows, &[((0, 0), (1, 0))], words, &PlotOptions::default()).unwrap();
        assert!(figure.svg().matches("<path").count() + figure.svg().matches("<poly").count() > 8);
        assert!(board_graph(&[], &[], words, &PlotOptions::default()).is_err());
    }
}
