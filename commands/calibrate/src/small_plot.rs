//! A curve in a few lines of text.

use evalcurve_figures::{EngineSeries, Point};
use evalcurve_words::key;
use evalcurve_words::language::Language;

/// Rows of the plot, an odd number so that one is a win rate of 0.5.
const ROWS: usize = 11;
/// Columns of the plot, an odd number so that one is a score of 0.
const COLUMNS: usize = 61;
/// The plot ends where the curve comes this near to 1.
const END: f64 = 0.96;
/// Where it ends without such a score, centipawns.
const USUAL: f64 = 1000.0;

/// The evaluation curve (`●`) and the calibration between equals (`·`) of an engine in 61 columns, with a legend;
/// `None` without a fit.
pub(crate) fn small_plot(series: &EngineSeries, language: Language) -> Option<String> {
    let fit = series.equal.as_ref().or(series.fits.last())?;
    let reached = fit.path.iter().find(|p| p.x > 0.0 && p.win_rate >= END).map(|p| p.x);
    let limit = ((reached.unwrap_or(USUAL) / 100.0).ceil() * 100.0).max(100.0);
    let mut grid = vec![vec![' '; COLUMNS]; ROWS];
    grid[ROWS / 2].fill('╌');
    for row in &mut grid {
        row[COLUMNS / 2] = '┆';
    }
    let mut put = |x: f64, rate: f64, mark: char| {
        let column = ((x / limit + 1.0) / 2.0 * (COLUMNS - 1) as f64).round();
        let row = ((1.0 - rate) * (ROWS - 1) as f64).round();
        if (0.0..COLUMNS as f64).contains(&column)
            && let Some(cell) = grid.get_mut(row as usize).and_then(|cells| cells.get_mut(column as usize))
        {
            *cell = mark;
        }
    };
    for column in 0..COLUMNS {
        let x = (column as f64 / (COLUMNS - 1) as f64 * 2.0 - 1.0) * limit;
        if let Some(rate) = at(&fit.path, x) {
            put(x, rate, '·');
        }
    }
    series.curve.iter().for_each(|p| put(p.x, p.win_rate, '●'));
    let mut out = String::new();
    for (i, row) in grid.iter().enumerate() {
        let rate = 1.0 - i as f64 / (ROWS - 1) as f64;
        let label = if i % 5 == 0 { format!("{rate:>4.1} ┤") } else { "     │".to_owned() };
        out += label.as_str();
        out += row.iter().collect::<String>().trim_end();
        out.push('\n');
    }
    let end = format!("{limit:.0}");
    let half = (COLUMNS - 1) / 2;
    let low = format!("−{end}");
    out += &format!("     └{}\n      {low:<half$}0{end:>half$}\n", "─".repeat(COLUMNS));
    let points = if series.curve.is_empty() { "" } else { language.word(key!("● won in these games   ")) };
    let line = match series.equal.is_some() {
        true => language.word(key!("· between equals")),
        false => language.word(key!("· fitted")),
    };
    Some(format!("{out}      {points}{line}\n"))
}

/// The win rate of a path at a score.
fn at(path: &[Point], x: f64) -> Option<f64> {
    path.windows(2).find_map(|pair| {
        let [a, b] = pair else { return None };
        let inside = a.x <= x && x <= b.x && b.x > a.x;
        inside.then(|| a.win_rate + (b.win_rate - a.win_rate) * (x - a.x) / (b.x - a.x))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalcurve_figures::FittedCurve;

    #[test]
    fn a_sigmoid_rises_from_the_lower_left_to_the_upper_right() {
        let mut series = EngineSeries::new("a", 0);
        assert_eq!(small_plot(&series, Language::English), None);
        series.fits = vec![FittedCurve::sample("a", "", |x| (1.0 / (1.0 + (-x / 400.0).exp()), None))];
        series.curve = vec![Point { x: 0.0, win_rate: 0.5, low: 0.4, high: 0.6, count: 9 }];
        let plot = small_plot(&series, Language::English).unwrap();
        let lines: Vec<&str> = plot.lines().collect();
        assert_eq!((lines.len(), lines[13]), (ROWS + 3, "      ● won in these games   · fitted"));
        let first = |line: usize, mark: char| lines[line].chars().position(|c| c == mark);
        assert_eq!(first(5, '●'), Some(6 + COLUMNS / 2), "{plot}");
        assert!(first(0, '·').unwrap() > 55 && first(10, '·').unwrap() < 10, "{plot}");
        // 400 ln(0.96 / 0.04) = 1271
        assert!(lines[12].contains("−1300") && lines[12].ends_with("1300"), "{plot}");
    }
}
