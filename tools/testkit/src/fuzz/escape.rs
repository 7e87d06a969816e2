//! Names and comments of records in SVG: every document is well-formed and shows the text.

use evalcurve_figures::{
    EngineSeries, Escaped, FittedCurve, Forest, ForestMark, ForestRow, Language, PlotOptions, Point, curve_with_fits,
    forest,
};

pub(super) const PROMISE: &str = "any text gives a document that an XML parser reads, with the text in it";

pub(super) fn svg(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let escaped = Escaped(&text).to_string();
    let element = format!("<x a=\"{escaped}\">{escaped}</x>");
    let read = roxmltree::Document::parse(&element).unwrap_or_else(|e| panic!("{e}: {element}"));
    let root = read.root_element();
    assert_eq!(root.children().filter(|c| c.is_element()).count(), 0);
    assert_eq!(root.attribute("a").map(str::len), root.text().map_or(Some(0), |t| Some(t.len())));
    let mut words = text.split('\n').map(str::to_owned);
    let mut next = || words.next().unwrap_or_default();
    let mark = ForestMark { value: 0.3, low: -0.1, high: 0.7 };
    let what = Forest {
        title: next(),
        caption: next(),
        axis: next(),
        series: vec![next(), next()],
        rows: vec![ForestRow { label: next(), marks: vec![Some(mark), None] }],
        references: Vec::new(),
        limits: None,
        notes: vec![next(), next()],
    };
    for language in [Language::English, Language::Japanese] {
        let options = PlotOptions { language, ..PlotOptions::default() };
        let figure = forest(&what, &options).expect("a row with a number");
        roxmltree::Document::parse(figure.svg()).unwrap_or_else(|e| panic!("{e}: {}", figure.svg()));
        let mut engine = EngineSeries::new(next(), 0);
        engine.curve = vec![
            Point { x: -500.0, win_rate: 0.3, low: 0.25, high: 0.35, count: 300 },
            Point { x: 480.0, win_rate: 0.71, low: 0.66, high: 0.76, count: 310 },
        ];
        engine.fits = vec![FittedCurve::sample(next(), next(), |x| (0.5 + x / 40_000.0, None))];
        let figure = curve_with_fits(&engine, &options).expect("a curve");
        for svg in [figure.svg(), &figure.svg_for_page()] {
            roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
        }
    }
}
