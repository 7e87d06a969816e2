//! Heat maps of a margin: where a claim holds and where it fails.

use evalcurve_figures::drawing::{Area, AxisSpec, LABEL_SIZE, RGBColor, TEXT, Words, frame, pale, sheet};
use evalcurve_figures::{Figure, PlotError, PlotOptions, color};

/// Cells over two quantities.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct HeatMap {
    pub title: String,
    /// The line below the title.
    pub caption: String,
    /// The name of the horizontal axis.
    pub x_name: String,
    /// The name of the vertical axis.
    pub y_name: String,
    /// Centres of the columns, ascending and equally spaced.
    pub xs: Vec<f64>,
    /// Centres of the rows, ascending and equally spaced.
    pub ys: Vec<f64>,
    /// By row, then by column: the claim holds by a positive margin and fails by a negative one; NaN leaves the cell
    /// empty.
    pub margins: Vec<Vec<f64>>,
    /// Notes below the figure.
    pub notes: Vec<String>,
}

/// Steps of the colour scale: the least margin and the strength of its colour.
const STEPS: [(f64, f64); 4] = [(0.1, 1.0), (0.03, 0.7), (0.01, 0.45), (0.0, 0.22)];
/// Smaller margins are rounding errors.
const ROUNDING: f64 = 1e-9;
/// Width of the legend in pixels.
const LEGEND: f64 = 150.0;

/// Draws a heat map: blue where the margin is positive, vermilion where it is negative, darker for larger margins.
///
/// # Errors
/// Fewer than two rows or columns, or options out of range.
pub(crate) fn heat_map(map: &HeatMap, options: &PlotOptions) -> Result<Figure, PlotError> {
    options.check()?;
    let ([x0, .., x1], [y0, .., y1]) = (&map.xs[..], &map.ys[..]) else {
        return Err(PlotError::nothing(0, "two rows and two columns", "any range"));
    };
    let half_x = (x1 - x0) / (map.xs.len() - 1) as f64 / 2.0;
    let half_y = (y1 - y0) / (map.ys.len() - 1) as f64 / 2.0;
    let x_axis = AxisSpec::new(&map.x_name, (x0 - half_x, x1 + half_x));
    let y_axis = AxisSpec::new(&map.y_name, (y0 - half_y, y1 + half_y));
    let words = Words { title: &map.title, caption: &map.caption, notes: &map.notes };
    sheet(options, words, |pen, area| {
        let outer = Area { right: area.right - LEGEND, ..area };
        frame(pen, outer, &x_axis, &y_axis, |canvas| {
            for (row, y) in map.margins.iter().zip(&map.ys) {
                for (&margin, x) in row.iter().zip(&map.xs).filter(|(m, _)| !m.is_nan()) {
                    canvas.bar([(x - half_x, y - half_y), (x + half_x, y + half_y)], &ink(margin))?;
                }
            }
            Ok(())
        })?;
        let left = outer.right + 16.0;
        let mut y = outer.top + 12.0;
        for (word, sign) in [("holds by", 1.0), ("fails by", -1.0)] {
            pen.text(word, (left, y), LABEL_SIZE, TEXT)?;
            y += 18.0;
            for (i, (from, _)) in STEPS.iter().enumerate() {
                let text = match i {
                    0 => format!("{from} or more"),
                    _ if *from == 0.0 => format!("less than {}", STEPS[i - 1].0),
                    _ => format!("{from} to {}", STEPS[i - 1].0),
                };
                let swatch = Area { left, top: y - 7.0, right: left + 20.0, bottom: y + 7.0 };
                pen.fill(swatch, &ink(sign * (from + 1e-6)))?;
                pen.text(&text, (left + 27.0, y), LABEL_SIZE, TEXT)?;
                y += 18.0;
            }
            y += 10.0;
        }
        Ok(())
    })
}

fn ink(margin: f64) -> RGBColor {
    let base = color(if margin >= -ROUNDING { 0 } else { 1 }).line_color();
    let share = STEPS.iter().find(|(from, _)| margin.abs() >= *from).map_or(0.22, |step| step.1);
    pale(base, share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_colour_of_their_sign() {
        assert_eq!(ink(0.5), color(0).line_color());
        assert_eq!(ink(-0.5), color(1).line_color());
        assert_ne!(ink(0.02), ink(0.05));
        assert_eq!(ink(-1e-12), ink(1e-12));
        let map = HeatMap {
            title: "where it holds".to_owned(),
            xs: vec![1.0, 2.0],
            ys: vec![0.1, 0.2],
            margins: vec![vec![0.2, -0.2], vec![f64::NAN, 0.0]],
            ..HeatMap::default()
        };
        assert!(heat_map(&map, &PlotOptions::default()).unwrap().svg().contains("where it holds"));
        assert!(heat_map(&HeatMap::default(), &PlotOptions::default()).is_err());
    }
}
