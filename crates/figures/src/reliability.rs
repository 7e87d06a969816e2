//! The reliability diagram: results observed over win rates forecast.

use evalcurve_fit::validate::{BandPoint, Reliability, ReliabilityPool};
use evalcurve_words::say;
use evalcurve_words::text::thousands;
use plotters::style::Color;

use super::chart::{AxisSpec, GREY, SOFT_TEXT, Words, frame, sheet, stroke, win_rate_axis};
use super::palette::color;
use super::{Data, Figure, Language, PlotError, PlotOptions, Range, Spot};

/// Height of the tallest bar of the histogram, in units of the vertical axis.
const BAR: f64 = 0.14;

/// The CORP reliability diagram of one model (Dimitriadis, Gneiting and Jordan, PNAS 2021): mean results over forecast
/// win rates, with the band in which a calibrated model would stay, and a histogram of the samples by tenth at the
/// bottom.
///
/// `color_index` is the engine's index for [`color`]; `unseen` says that the model is known not to have seen the games.
///
/// # Errors
/// A diagram without pools, or options out of range.
pub fn reliability(
    name: &str,
    color_index: usize,
    diagram: &Reliability,
    unseen: bool,
    options: &PlotOptions,
) -> Result<Figure, PlotError> {
    options.check()?;
    if diagram.pools.is_empty() {
        return Err(PlotError::nothing(1, "a forecast", "0 to 1"));
    }
    let samples: u64 = diagram.pools.iter().map(|p| p.samples).sum();
    let (language, samples) = (options.language, thousands(samples));
    let title = say!(language, "{name}: what happened where the model said so");
    let caption = match unseen {
        true => say!(language, "{samples} samples, forecast by models that had not seen their games"),
        false => say!(language, "{samples} samples"),
    };
    let notes = [
        language.word("shaded: where 95 of 100 calibrated models would lie"),
        language.word("bars: samples by tenth of the forecast"),
    ];
    let words = Words { title: &title, caption: &caption, notes: &notes.map(str::to_owned) };
    let axis = |name| AxisSpec { name, emphasis: None, ..win_rate_axis(language) };
    let (x, y) = (axis(language.word("forecast win rate")), axis(language.word("win rate observed")));
    let look = color(color_index);
    let mut data = Data { head: vec!["part", "from", "to", "win_rate", "low", "high", "samples"], ..Data::default() };
    let mut spots = Vec::new();
    let number = |value: f64| format!("{value:.6}");
    let none = String::new;
    data.rows.extend(diagram.pools.iter().map(|p| {
        let part = "pool".to_owned();
        vec![part, number(p.from), number(p.to), number(p.win_rate), none(), none(), p.samples.to_string()]
    }));
    data.rows.extend(diagram.band.iter().map(|b| {
        let at = number(b.forecast);
        vec!["band".to_owned(), at.clone(), at, none(), number(b.low), number(b.high), none()]
    }));
    let figure = sheet(options, words, |pen, area| {
        frame(pen, area, &x, &y, |canvas| {
            let tallest = diagram.histogram.iter().copied().max().unwrap_or(0).max(1) as f64;
            for (tenth, count) in diagram.histogram.iter().enumerate() {
                let (left, height) = (tenth as f64 / 10.0, BAR * *count as f64 / tallest);
                if *count > 0 {
                    canvas.bar([(left + 0.005, 0.0), (left + 0.095, height)], &GREY.mix(0.45))?;
                }
            }
            let range = |b: &BandPoint| Range { x: b.forecast, low: b.low, high: b.high };
            canvas.band(&diagram.band.iter().map(range).collect::<Vec<_>>(), &look.line_color().mix(0.16))?;
            canvas.line(&[(0.0, 0.0), (1.0, 1.0)], stroke(&SOFT_TEXT, 1.0), "5,4")?;
            let steps: Vec<(f64, f64)> =
                diagram.pools.iter().flat_map(|p| [(p.from, p.win_rate), (p.to, p.win_rate)]).collect();
            canvas.line(&steps, stroke(&look.line_color(), 2.0), "")?;
            spots.extend(diagram.pools.iter().map(|pool| {
                let at = canvas.place((0.5 * (pool.from + pool.to), pool.win_rate));
                Spot::new(at, reading(pool, &diagram.band, language))
            }));
            Ok(())
        })
    })?;
    Ok(figure.with_data(data).with_spots(spots))
}

/// `forecast 20.1% to 24.3%: win rate 22.0%, chance alone [19.0, 25.2], n = 1,200`
fn reading(pool: &ReliabilityPool, band: &[BandPoint], language: Language) -> String {
    let percent = |rate: f64| format!("{:.1}", 100.0 * rate);
    let middle = 0.5 * (pool.from + pool.to);
    let nearest = band.iter().min_by(|a, b| (a.forecast - middle).abs().total_cmp(&(b.forecast - middle).abs()));
    let ends = nearest.map(|b| (percent(b.low), percent(b.high))).filter(|(low, high)| low != high);
    let chance = ends.map_or_else(String::new, |(low, high)| say!(language, ", chance alone [{low}, {high}]"));
    let (from, to, rate) = (percent(pool.from), percent(pool.to), percent(pool.win_rate));
    let n = thousands(pool.samples);
    say!(language, "forecast {from}% to {to}%: win rate {rate}%{chance}, n = {n}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagram_is_drawn_and_nothing_is_refused() {
        let pool = |from, to, win_rate| ReliabilityPool { from, to, win_rate, samples: 1_200 };
        let band = |forecast: f64| BandPoint { forecast, low: forecast - 0.05, high: forecast + 0.05 };
        let diagram = Reliability {
            pools: vec![pool(0.1, 0.3, 0.2), pool(0.4, 0.9, 0.7)],
            band: vec![band(0.1), band(0.9)],
            histogram: [0, 5, 9, 0, 0, 3, 0, 0, 0, 1],
        };
        let figure = reliability("技巧", 0, &diagram, true, &PlotOptions::default()).unwrap();
        assert!(figure.svg().contains("技巧") && figure.svg().contains("2,400 samples"));
        assert_eq!(figure.svg(), reliability("技巧", 0, &diagram, true, &PlotOptions::default()).unwrap().svg());
        let page = figure.svg_for_page();
        assert!(
            page.contains("forecast 10.0% to 30.0%: win rate 20.0%, chance alone [5.0, 15.0], n = 1,200"),
            "{page}"
        );
        let none = Reliability { pools: Vec::new(), ..diagram };
        assert!(matches!(reliability("x", 0, &none, false, &PlotOptions::default()), Err(PlotError::Nothing { .. })));
    }
}
