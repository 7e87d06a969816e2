//! Tests of the calibrations in `data/published`: the coefficients of Takeuchi 2018.

use crate::file::*;
use crate::*;

const SOURCE: &str = "竹内聖悟 (Takeuchi): 異種プログラム間における楽観合議について, 2018. \
    Coefficients and their number of positions: table 2. Standardisation: table 3, whose column 分散 (variance) \
    the paper uses as the divisor of (x - mean), so it is the sd here.";
const SWAPPED: &str = " Tables 2 and 3 print the numbers of positions of 技巧 and nozomi (3,775 and 3,696) the other \
    way round; each number is kept with its table.";

struct Published {
    file: &'static str,
    name: &'static str,
    alias: Option<&'static str>,
    least_squares: (f64, f64),
    maximum_likelihood: (f64, f64),
    samples_fit: u64,
    mean: f64,
    sd: f64,
    samples_standard: u64,
    opponents: [&'static str; 2],
    /// Least-squares win rate at z = 0, three digits.
    at_mean: &'static str,
}

const PUBLISHED: [Published; 3] = [
    Published {
        file: "data/published/yaneuraou.json",
        name: "YaneuraOu",
        alias: None,
        least_squares: (0.002895, 0.1613),
        maximum_likelihood: (0.001082, 0.1349),
        samples_fit: 3835,
        mean: 99.09,
        sd: 2228.1,
        samples_standard: 3835,
        opponents: ["技巧", "nozomi"],
        at_mean: "0.531",
    },
    Published {
        file: "data/published/gikou.json",
        name: "技巧",
        alias: Some("Gikou"),
        least_squares: (0.002600, 0.1638),
        maximum_likelihood: (0.001659, 0.1260),
        samples_fit: 3775,
        mean: 334.00,
        sd: 1925.9,
        samples_standard: 3696,
        opponents: ["YaneuraOu", "nozomi"],
        at_mean: "0.669",
    },
    Published {
        file: "data/published/nozomi.json",
        name: "nozomi",
        alias: None,
        least_squares: (0.002484, 0.5750),
        maximum_likelihood: (0.001061, 0.4533),
        samples_fit: 3696,
        mean: 420.16,
        sd: 2107.4,
        samples_standard: 3775,
        opponents: ["YaneuraOu", "技巧"],
        at_mean: "0.615",
    },
];

impl Published {
    /// The calibration from the tables.
    fn calibration(&self) -> Calibration {
        let fit = |(w1, w2)| FittedModel { samples: Some(self.samples_fit), ..FittedModel::sigmoid(w1, w2) };
        let models = [
            (ModelKind::LeastSquares, fit(self.least_squares)),
            (ModelKind::MaximumLikelihood, fit(self.maximum_likelihood)),
        ];
        let mut c = Calibration::from_models(self.name, models, ModelKind::LeastSquares).unwrap();
        c.engine.aliases = self.alias.map(str::to_owned).into_iter().collect();
        c.standardization = Some(Standardization { mean: self.mean, sd: self.sd, samples: self.samples_standard });
        let swapped = if self.samples_fit == self.samples_standard { "" } else { SWAPPED };
        c.provenance = Some(Provenance {
            inputs: Vec::new(),
            digest: None,
            games: None,
            samples: Some(self.samples_fit),
            dates: None,
            // table 1: 1,000 games against each; those against Apery were left out (section 4.2.1)
            opponents: self
                .opponents
                .map(|name| Opponent { name: name.to_owned(), games: 1000, strength: None })
                .to_vec(),
            time_controls: vec!["5 s a move".to_owned()],
            terminations: Default::default(),
            source: Some(format!("{SOURCE}{swapped}")),
        });
        // the version that wrote the file first, not the current one
        c.tool.version = "0.1.0".to_owned();
        c
    }
}

#[test]
fn the_published_files_are_what_the_writer_writes() {
    for p in &PUBLISHED {
        let written = p.calibration().to_json().unwrap();
        if std::env::var("EVALCURVE_BLESS").is_ok_and(|v| v == "1") {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            std::fs::write(root.join(p.file), written).unwrap();
            continue;
        }
        let Some(text) = super::of_repository(p.file) else { return };
        assert_eq!(text, written, "{}: `cargo xtask bless` writes it", p.name);
        assert_eq!(Calibration::from_json(&text, p.name).unwrap().to_json().unwrap(), text);
    }
}

#[test]
fn equal_standard_scores_are_not_equal_win_rates() {
    // Takeuchi 2018, section 4.2.1: if all three are at 0.0, 技巧 has the highest win rate by far
    for p in &PUBLISHED {
        let c = p.calibration();
        assert_eq!(c.model.kind, ModelKind::LeastSquares);
        let mean = c.standardization.unwrap().mean;
        assert_eq!(
            format!("{:.3}", c.win_rate_in(Reading::Field, Score::Cp(mean), &Situation::default())),
            p.at_mean,
            "{}",
            p.name
        );
    }
}

#[test]
fn the_files_in_data_are_written_again_byte_for_byte() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    if !data.join("published").is_dir() {
        return; // a package does not hold it
    }
    let mut files = 0;
    for folder in ["calibrations", "published"] {
        for entry in std::fs::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let text = std::fs::read_to_string(&path).unwrap();
                let read = Calibration::read(&path).unwrap();
                assert_eq!(read.to_json().unwrap(), text, "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files > 5, "{files}");
}
