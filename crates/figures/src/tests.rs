//! Whole figures.

use super::*;

/// Numbers that look like noise, the same every time.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

const NAMES: [&str; 20] = [
    "YaneuraOu",
    "技巧",
    "nozomi",
    "SILENT_MAJORITY-1.2_6950X_SY1010",
    "やねうら王",
    "Apery_sdt3_Intel-Core-i7-6700K_16threads_book_off",
    "ponanza-990XEE",
    "NineDayFever_XeonE5-2690_16c",
    "Gikou_7700K",
    "elmo_WCSC27_479_16t_100m",
    "BlunderX_Toybox",
    "水匠5",
    "Starbound",
    "SM_1_25_Xeon_E5_2698_v4_40c",
    "gps_l",
    "dlshogi",
    "AobaZero",
    "習甦",
    "激指13",
    "R&D <test> \"quoted\"",
];

fn point(x: f64, mean: f64, count: u64, noise: &mut Noise) -> Point {
    let sd = (mean * (1.0 - mean) / count as f64).sqrt().max(0.3 / count as f64);
    let win_rate = (mean + sd * noise.normal()).clamp(0.0, 1.0);
    Point { x, win_rate, low: (win_rate - 2.0 * sd).max(0.0), high: (win_rate + 2.0 * sd).min(1.0), count }
}

fn series(index: usize) -> EngineSeries {
    let mut noise = Noise(index as u64 * 77 + 5);
    let w1 = 0.0006 + 0.0024 * noise.uniform();
    let w2 = 0.5 * (noise.uniform() - 0.4);
    let logistic = |w1: f64, w2: f64| move |x: f64| 1.0 / (1.0 + (w2 - w1 * x).exp());
    let truth = logistic(w1, w2);
    let samples = (4000.0 * (1.0 + 60.0 * noise.uniform())) as u64;
    let spread = 0.9 / w1;
    let mut engine = EngineSeries::new(NAMES.get(index).copied().unwrap_or("another engine"), index);
    engine.samples = samples;
    for k in -25..25 {
        let centre = f64::from(k) * 200.0 + 100.0;
        let peak = 0.75 * (-(centre / spread).powi(2) / 2.0).exp() * 200.0 / spread * 0.4;
        let tail = 0.25 * (-centre.abs() / (2.4 * spread)).exp() * 200.0 / spread * 0.21;
        let count = (samples as f64 * (peak + tail) * (0.96 + 0.08 * noise.uniform())) as u64;
        if count > 0 {
            engine.histogram.push((centre, count));
        }
        if count >= 50 {
            // Scores far out are less trustworthy than the sigmoid says.
            let mean = 0.02 + 0.96 * truth(centre);
            engine.curve.push(point(centre + 30.0 * (noise.uniform() - 0.5), mean, count, &mut noise));
        }
    }
    for k in -35..35 {
        let z = f64::from(k) * 0.1 + 0.05;
        let count = (samples as f64 * 0.04 * (-z * z / 2.0).exp()) as u64;
        if count >= 50 {
            engine.standardized.push(point(z, truth(z * spread), count, &mut noise));
        }
    }
    let fit = |name: &str, w1: f64, w2: f64| {
        let at = logistic(w1, w2);
        FittedCurve::sample(name, format!("w1 = {w1:.6}, w2 = {w2:.3}"), move |x| (at(x), None))
    };
    engine.fits = vec![fit("least squares", w1 * 1.03, w2), fit("maximum likelihood", w1 * 0.86, w2 - 0.03)];
    let equal = |x: f64| {
        let band = |factor: f64| 1.0 / (1.0 + (-w1 * 0.86 * factor * x).exp());
        (band(1.0), Some((band(0.85).min(band(1.15)), band(0.85).max(band(1.15)))))
    };
    engine.equal = Some(FittedCurve::sample("maximum likelihood", "", equal));
    engine.constant = format!("1/w1 {:.0}", 1.0 / (w1 * 0.86));
    engine
}

fn engines(count: usize) -> Vec<EngineSeries> {
    (0..count).map(series).collect()
}

fn all(engines: &[EngineSeries], options: &PlotOptions) -> Vec<(&'static str, Figure)> {
    vec![
        ("fits", curve_with_fits(&engines[engines.len() / 2], options).unwrap()),
        ("sigmoids", sigmoids(engines, false, options).unwrap()),
        ("curves", curves(engines, options).unwrap()),
        ("histograms", histograms(engines, options).unwrap()),
        ("standardized", standardized_curves(engines, options).unwrap()),
    ]
}

fn texts(svg: &str) -> Vec<String> {
    let element = |part: &str| part.split_once('>').map(|(_, t)| t.split("</text>").next().unwrap_or("").to_owned());
    svg.split("<text").skip(1).filter_map(element).collect()
}

#[test]
fn figures_say_what_they_show() {
    let some = engines(3);
    for (name, figure) in all(&some, &PlotOptions::default()) {
        let svg = figure.svg();
        let texts = texts(svg);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
        assert!(svg.contains(&format!("<title>{}</title>", figure.title())), "{name}");
        assert!(svg.contains("font-family=\"&apos;VL PGothic&apos;,"), "{name}");
        assert!(texts.contains(&figure.title().to_owned()), "{name} {texts:?}");
        let x = if name == "standardized" { "standardised score" } else { "score (centipawns, view of the engine)" };
        assert!(texts.iter().any(|t| t.starts_with(x)), "{name} {texts:?}");
        let y = if name == "histograms" { "share of positions" } else { "win rate" };
        assert!(texts.contains(&y.to_owned()), "{name} {texts:?}");
        if name != "fits" {
            for engine in &some {
                assert!(texts.iter().any(|text| text.starts_with(&engine.name)), "{name} {texts:?}");
            }
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for count in [1, 3, 20] {
        let (first, second) = (engines(count), engines(count));
        for ((name, a), (_, b)) in
            all(&first, &PlotOptions::default()).iter().zip(all(&second, &PlotOptions::default()))
        {
            assert_eq!(a, &b, "{name}");
        }
    }
    let figure = curve_with_fits(&series(1), &PlotOptions::default()).unwrap();
    assert_eq!(figure.png(1.0).unwrap(), figure.png(1.0).unwrap());
}

#[test]
fn numbers_have_two_decimals_at_most() {
    for (name, figure) in all(&engines(12), &PlotOptions::default()) {
        for attribute in figure.svg().split('"').skip(1).step_by(2) {
            for number in attribute.split([' ', ',', '(', ')']).filter(|n| n.parse::<f64>().is_ok()) {
                let decimals = number.split_once('.').map_or(0, |(_, d)| d.len());
                assert!(decimals <= 2, "{name} {attribute}");
            }
        }
    }
}

#[test]
fn everything_stays_on_the_paper() {
    for (width, height) in [(450, 360), (1000, 640), (1600, 900)] {
        let options = PlotOptions { width, height, ..PlotOptions::default() };
        for count in [1, 3, 20, 30] {
            for (name, figure) in all(&engines(count), &options) {
                let tree = raster::tree(figure.svg()).unwrap();
                let drawn = tree.root().abs_layer_bounding_box();
                let place = format!("{name} {count} {width}x{height} {drawn:?}");
                assert!(drawn.left() >= 0.0 && drawn.right() <= width as f32 + 0.5, "{place}");
                assert!(drawn.top() >= 0.0 && drawn.bottom() <= tree.size().height() + 0.5, "{place}");
            }
        }
    }
}

#[test]
fn text_is_as_wide_as_measured() {
    for text in ["YaneuraOu 技巧", "SILENT_MAJORITY-1.2", "HHHHHHHHHHHHHHHHHH"] {
        let body = format!("<text x=\"10\" y=\"50\" font-size=\"20\">{text}</text>");
        let svg = svg::document(600, 100, "t", "", &body.replace("<rect width=\"100%\"", ""));
        let tree = raster::tree(&svg).unwrap();
        let group = tree.root().children().iter().find_map(|node| match node {
            resvg::usvg::Node::Group(text) => Some(text.abs_bounding_box().width()),
            _ => None,
        });
        let (drawn, measured) = (f64::from(group.unwrap()), font::width(text, 20.0));
        // the ink ends within a tenth of an em of the first and the last letter's ends
        assert!(drawn <= measured && measured - drawn < 4.0, "{text} {drawn} {measured}");
    }
}

#[test]
fn names_cannot_break_the_file() {
    let mut some = engines(2);
    some[0].name = "<script>&\"'\u{0}\u{1b}\u{202e}".to_owned();
    some[1].note = Some("</svg> & more".to_owned());
    for (name, figure) in all(&some, &PlotOptions::default()) {
        let svg = figure.svg();
        assert!(!svg.contains("<script") && svg.matches("</svg>").count() == 1, "{name}");
        assert!(!svg.contains(['\u{0}', '\u{1b}', '\u{202e}']), "{name}");
        assert!(figure.png(0.5).is_ok(), "{name}");
    }
    let curves = curves(&some, &PlotOptions::default()).unwrap();
    assert!(curves.svg().contains("&lt;script&gt;&amp;&quot;&apos;□□□</text>"), "{:?}", texts(curves.svg()));
}

#[test]
fn what_is_not_shown_is_said() {
    let mut engine = series(0);
    let narrow = PlotOptions { score_limit_cp: Some(500.0), ..PlotOptions::default() };
    let beyond = engine.curve.iter().filter(|p| p.x.abs() > 500.0).count();
    let without = engine.histogram.len() - engine.curve.len();
    assert!(beyond > 1 && without > 1);
    engine.note = Some("not converged: maximum likelihood".to_owned());
    let figure = curve_with_fits(&engine, &narrow).unwrap();
    let note = format!(
        "clipped: {beyond} points beyond ±500 · left out: {without} bins with too few positions · not converged: \
         maximum likelihood"
    );
    assert!(texts(figure.svg()).join(" ").contains(&note), "{:?}", texts(figure.svg()));

    let mut some = engines(3);
    some[1].curve.clear();
    let figure = curves(&some, &PlotOptions::default()).unwrap();
    let words = texts(figure.svg()).join(" ");
    assert!(words.contains("1 engine without a curve: 技巧"), "{words}");

    let figure = curves(&engines(30), &PlotOptions::default()).unwrap();
    let words = texts(figure.svg()).join(" ");
    assert!(words.contains("6 engines with fewer positions, not drawn: "), "{words}");
}

/// Up to six engines share a frame, each with its own colour and dash; more get panels.
#[test]
fn many_engines_get_panels() {
    let frames = |count: usize| {
        let figure = sigmoids(&engines(count), false, &PlotOptions::default()).unwrap();
        texts(figure.svg()).iter().filter(|t| *t == "win rate").count()
    };
    assert_eq!(frames(6), 1);
    // four columns; the first panel of each row has the axis of win rates
    assert_eq!(frames(7), 2);
    assert_eq!(frames(9), 3);
    assert_eq!(frames(17), 5);
}

#[test]
fn no_word_is_cut() {
    let options = PlotOptions { width: 480, height: 640, ..PlotOptions::default() };
    let mut some = engines(3);
    some[1].name = "Apery_sdt3_Intel-Core-i7-6700K_16threads_book_off_and_more_of_it_to_fill_the_line".to_owned();
    let figure = curve_with_fits(&some[1], &options).unwrap();
    let words = texts(figure.svg()).concat();
    assert!(words.contains(&some[1].name), "{words}");
    let figure = sigmoids(&some, false, &options).unwrap();
    assert!(texts(figure.svg()).join(" ").contains("The same score means something different for each engine: +500"));
}

/// A reader of the table can draw the figure again.
#[test]
fn figures_have_their_numbers() {
    let some = engines(3);
    let data = curves(&some, &PlotOptions::default()).unwrap().data().clone();
    assert_eq!(data.head, ["engine", "series", "x", "win_rate", "low", "high", "count"]);
    let points = data.rows().filter(|row| row[1] == "point").count();
    assert_eq!(points, some.iter().map(|e| e.curve.len()).sum::<usize>());
    let first = &some[0].curve[0];
    let row = data.rows().next().unwrap();
    assert_eq!((row[0].as_str(), row[2].as_str()), ("YaneuraOu", format!("{:.3}", first.x).as_str()));
    assert_eq!(row[6], first.count.to_string());
    let shares = histograms(&some, &PlotOptions::default()).unwrap().data().clone();
    let sum: f64 = shares.rows().filter(|r| r[0] == "技巧").map(|r| r[3].parse::<f64>().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-4, "{sum}");
}

#[test]
fn nothing_is_an_error() {
    let options = PlotOptions::default();
    assert!(matches!(curves(&[], &options), Err(PlotError::NoEngines)));
    let bare = [EngineSeries::new("a", 0)];
    assert!(matches!(curves(&bare, &options), Err(PlotError::Nothing { .. })));
    assert!(matches!(histograms(&bare, &options), Err(PlotError::Nothing { .. })));
    assert!(matches!(standardized_curves(&bare, &options), Err(PlotError::Nothing { .. })));
    assert!(matches!(sigmoids(&bare, true, &options), Err(PlotError::Nothing { .. })));
    let error = curve_with_fits(&bare[0], &options).unwrap_err().to_string();
    assert_eq!(error, "nothing to draw: no engine of 1 has a point of an evaluation curve or a fit within ±3000");
    let flat = PlotOptions { height: 10, ..options };
    assert!(matches!(curves(&engines(1), &flat), Err(PlotError::Option { option: "height", .. })));
    assert!(curves(&engines(1), &options).unwrap().png(f32::NAN).is_err());
}

#[test]
fn strange_numbers_do_no_harm() {
    let mut engine = series(0);
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308];
    for x in bad {
        engine.curve.push(Point { x, win_rate: 0.5, low: 0.4, high: 0.6, count: 60 });
        engine.curve.push(Point { x: 0.0, win_rate: x, low: x, high: x, count: u64::MAX });
        engine.curve.push(Point { x: 100.0, win_rate: 0.5, low: x, high: x, count: 0 });
        engine.histogram.push((x, u64::MAX));
        engine.standardized.push(Point { x, win_rate: 0.5, low: 0.4, high: 0.6, count: 60 });
    }
    engine.fits = vec![
        FittedCurve::sample("a", "", |x| (if x < 0.0 { f64::NAN } else { 1.0 }, None)),
        FittedCurve::sample("b", "", |_| (0.5, Some((f64::NEG_INFINITY, f64::NAN)))),
    ];
    engine.equal = engine.fits.first().cloned();
    engine.samples = u64::MAX;
    for (name, figure) in all(&[engine.clone(), engine], &PlotOptions::default()) {
        assert!(!figure.svg().contains("NaN") && !figure.svg().contains("inf"), "{name}");
        assert!(figure.png(0.5).is_ok(), "{name}");
    }
}
