//! Tests of the calibration file: reading, writing, schema, win rates.

mod checker;
mod published;
pub(crate) mod schema;

use proptest::prelude::*;
use serde_json::{Value, json};

use self::schema::schema;
use crate::file::*;
use crate::*;

/// The text of a file of the repository; `None` in a package, which does not hold it.
pub(super) fn of_repository(path: &str) -> Option<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("tests/oracle").is_dir().then(|| std::fs::read_to_string(root.join(path)).unwrap())
}

/// A calibration with one sigmoid by least squares and nothing else.
pub(super) fn sigmoid_only(name: &str, w1: f64, w2: f64) -> Calibration {
    Calibration::from_model(name, Method::LeastSquares, FittedModel::sigmoid(w1, w2))
}

/// A calibration with every field filled.
fn full() -> Calibration {
    let fit = |w1, w2| FittedModel {
        covariance: Some(vec![vec![4.1e-9, -1.25e-6], vec![-1.25e-6, 2.3e-3]]),
        samples: Some(4),
        games: Some(3),
        ..FittedModel::sigmoid(w1, w2)
    };
    let models =
        [(ModelKind::LeastSquares, fit(0.0026, 0.1638)), (ModelKind::MaximumLikelihood, fit(0.002_345_678_91, -0.25))];
    let mut full = Calibration::from_models("技巧", models, ModelKind::MaximumLikelihood).unwrap();
    let estimate =
        |value: f64| Estimate { value, interval: Some([value - 0.01, value + 0.01].map(write::nine_digits)) };
    full.engine.aliases = vec!["gikou".into(), "Gikou 2".into()];
    full.field = Some(Field {
        rated_samples: 4,
        own_rating: Some(3512.5),
        opponents_rating: Some(3401.25),
        rated_by_these_games: false,
        fitted_together: 2,
        strength: Some(-0.125),
    });
    full.doubts = vec![Doubt::WideInterval, Doubt::SlopeOff];
    full.standardization = Some(Standardization { mean: 33.25, sd: 812.5, samples: 4 });
    full.curve = Some(Curve {
        bin_cp: 200,
        bins: vec![
            CurveBin { bin: -1, low_cp: -200, wins: 0, draws: 1, losses: 1, score_sum: -203 },
            CurveBin { bin: 3, low_cp: 600, wins: 2, draws: 0, losses: 0, score_sum: 1400 },
        ],
    });
    full.mates = Some(Mates {
        policy: MatePolicy::Clip,
        clip_cp: Some(3000.0),
        threshold_cp: Some(20_000.0),
        beyond: 5,
        wrong_sided: 1,
    });
    full.scores = Some(ScoreRange { min_cp: -32_757.0, max_cp: 31_111.0, largest_cp_left: Some(4321.0) });
    full.sampling = Some(Sampling {
        from_ply: 30,
        window: 60,
        per_window: 1,
        seed: u64::MAX,
        draws: Draws::Half,
        min_samples: 30,
        filters: vec!["rating >= 3000".into()],
    });
    full.provenance = Some(Provenance {
        inputs: vec!["wdoor2016.7z".into()],
        digest: Some("0123456789abcdef".repeat(4)),
        games: Some(3),
        samples: Some(4),
        dates: Some(Dates { first: "2016-01-01".into(), last: "2016-12-31".into() }),
        opponents: vec![Opponent { name: "nozomi".into(), games: 3, strength: Some(0.25) }],
        time_controls: vec!["floodgate-600-10F".into()],
        terminations: [("resignation".to_owned(), 2), ("repetition".to_owned(), 1)].into(),
        source: Some("floodgate 2016".into()),
    });
    full.proper_scores = Some(ProperScores {
        folds: 5,
        samples: 4,
        log_loss: estimate(0.51),
        brier: estimate(0.17),
        miscalibration: Some(estimate(0.002)),
        discrimination: Some(estimate(0.08)),
        uncertainty: Some(estimate(0.25)),
        slope: Some(estimate(0.98)),
        intercept: Some(Estimate { value: 0.01, interval: None }),
        ece: None,
        spiegelhalter_z: Some(-0.75),
        baselines: [(ModelKind::Constant, estimate(0.69)), (ModelKind::Shared600, estimate(0.55))].into(),
    });
    full
}

fn fits_schema(document: &Value) -> bool {
    checker::is_valid(&serde_json::from_str(SCHEMA).unwrap(), document)
}

#[test]
fn the_schema_is_the_committed_one() {
    if std::env::var("EVALCURVE_BLESS").is_ok_and(|v| v == "1") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema.json");
        return std::fs::write(path, schema()).unwrap();
    }
    assert_eq!(schema(), SCHEMA, "`cargo xtask bless` writes schema.json");
}

/// The table of models in `docs/calibration-file.md` is that of the list; `cargo xtask bless` writes it.
#[test]
fn the_documentation_has_the_list_of_models() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/calibration-file.md");
    let Some(docs) = of_repository("docs/calibration-file.md") else { return };
    let (head, after) = docs.split_once("<!-- models -->\n").unwrap();
    let (_, tail) = after.split_once("<!-- end -->\n").unwrap();
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let mut rows = String::from("\n| `method` | `kind` | parameters | formula | what it is |\n|---|---|---|---|---|\n");
    for kind in ModelKind::calibrations() {
        let form = kind.form_name().unwrap();
        let model = examples().into_iter().find(|model| model.form_name() == form).unwrap();
        let entry = &schema["$defs"][format!("fitted_{form}")];
        let formula =
            entry["description"].as_str().unwrap().split("\n\n").next().unwrap().replace('\n', " ").replace('|', "\\|");
        let fields = entry["properties"].as_object().unwrap().keys().map(String::as_str);
        let others = fields.filter(|field| !["kind", "covariance", "samples", "games"].contains(field));
        let mut names: Vec<&str> = model.parameters().into_iter().map(|(name, _)| name).collect();
        names.retain(|name| entry["properties"].get(name).is_some());
        let fixed: Vec<&str> = others.filter(|field| !names.contains(field)).collect();
        names.extend(fixed);
        rows += &format!("| `{kind}` | `{form}` | `{}` | {formula} | {} |\n", names.join("`, `"), kind.summary());
    }
    if std::env::var("EVALCURVE_BLESS").is_ok_and(|v| v == "1") {
        let text = format!("{head}<!-- models -->\n{rows}\n<!-- end -->\n{tail}");
        return std::fs::write(path, text).unwrap();
    }
    assert_eq!(after, format!("{rows}\n<!-- end -->\n{tail}"), "`cargo xtask bless` writes docs/calibration-file.md");
}

#[test]
fn the_documentation_names_every_field_of_the_schema() {
    fn names(value: &Value, found: &mut Vec<String>) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            found.extend(properties.keys().cloned());
        }
        match value {
            Value::Object(members) => members.values().for_each(|v| names(v, found)),
            Value::Array(items) => items.iter().for_each(|v| names(v, found)),
            _ => {}
        }
    }
    let Some(documentation) = of_repository("docs/calibration-file.md") else { return };
    let mut found = Vec::new();
    names(&serde_json::from_str(&schema()).unwrap(), &mut found);
    assert!(found.len() > 90, "{}", found.len());
    for name in found {
        let named = [format!("`{name}`"), format!("`.{name}`"), format!(".{name}`")];
        assert!(named.iter().any(|n| documentation.contains(n)), "docs/calibration-file.md does not name {name}");
    }
}

#[test]
fn what_is_written_is_read_and_fits_the_schema() {
    for calibration in [full(), sigmoid_only("nozomi", 0.002484, 0.5750)] {
        let text = calibration.to_json().unwrap();
        assert_eq!(Calibration::from_json(&text, "test").unwrap(), calibration);
        assert!(fits_schema(&serde_json::from_str(&text).unwrap()));
        assert!(text.ends_with("}\n") && !text.contains('\r'));
    }
}

#[test]
fn a_mean_rating_without_samples_is_an_error() {
    let mut file: Value = serde_json::from_str(&full().to_json().unwrap()).unwrap();
    file["field"]["rated_samples"] = json!(0);
    let error = Calibration::from_json(&file.to_string(), "test").unwrap_err().to_string();
    assert!(error.contains("$.field.own_rating") && error.contains("0 samples"), "{error}");
}

#[test]
fn the_method_determines_the_unit_of_stages() {
    let (a, b) = ([-150.0, 400.0, -330.0, 440.0], [80.0, -140.0, 70.0, 45.0]);
    let file = |kind: ModelKind, stage| {
        let model = Model::Wdl(Wdl { stage, a, b, from_stage: 17, to_stage: 78 });
        let fit = FittedModel { model, covariance: None, samples: None, games: None };
        Calibration::from_models("Tofu", [(kind, fit)], kind).unwrap()
    };
    let by_material = file(ModelKind::WdlMaterial, StageUnit::Material);
    let text = by_material.to_json().unwrap();
    assert!(fits_schema(&serde_json::from_str(&text).unwrap()));
    let read = Calibration::from_json(&text, "test").unwrap();
    assert_eq!(read, by_material);
    // an export computed for minutes over a range up to 2^32
    let endless = text.replace("\"to_stage\": 78", "\"to_stage\": 4294967295");
    let error = Calibration::from_json(&endless, "test").unwrap_err().to_string();
    assert!(endless != text && error.contains("to_stage 4294967295 is above 20000"), "{error}");
    let rate = |material| {
        read.win_rate_in(
            Reading::Equal,
            Score::Cp(150.0),
            &Situation { material: Some(material), ply: Some(9), ..Situation::default() },
        )
    };
    assert!(rate(20) != rate(70));
    let text = text.replace("\"stage\": \"material\"", "\"stage\": \"ply\"");
    let error = Calibration::from_json(&text, "test").unwrap_err().to_string();
    assert!(
        error.contains("ply where wdl_material goes by material") && error.contains("$.models.wdl_material.stage"),
        "{error}"
    );
}

#[test]
fn the_fields_are_in_order() {
    let text = full().to_json().unwrap();
    let head =
        "{\n  \"format\": \"evalcurve-calibration\",\n  \"version\": 1,\n  \"engine\": {\n    \"name\": \"技巧\",\n";
    assert!(text.starts_with(head), "{text}");
    let model = "\"model\": {\n    \"kind\": \"sigmoid\",\n    \"method\": \"maximum_likelihood\",\n    \
                 \"w1\": 0.00234567891,\n";
    assert!(text.contains(model), "{text}");
    let order = ["\n  \"models\"", "\n  \"standardization\"", "\n  \"curve\"", "\n  \"mates\"", "\n  \"scores\""];
    let at: Vec<_> = order.iter().map(|field| text.find(field).unwrap()).collect();
    assert!(at.is_sorted());
}

#[test]
fn floats_have_nine_digits() {
    for (x, rounded) in [
        (0.1 + 0.2, 0.3),
        (1.0 / 3.0, 0.333_333_333),
        (-0.0, 0.0),
        (123_456_789_012.0, 123_456_789_000.0),
        (f64::MAX, 1.797_693_13e308),
    ] {
        assert_eq!(write::nine_digits(x).to_bits(), f64::to_bits(rounded), "{x}");
    }
}

/// Changes of a full file: the pointer to change, the new value (`None` removes), the path in the error,
/// a part of the message, and whether the schema refuses it.
fn broken() -> Vec<(&'static str, Option<Value>, &'static str, &'static str, bool)> {
    vec![
        ("/format", Some(json!("evalcurve")), "$.format", "not \"evalcurve-calibration\"", true),
        ("/format", None, "$.format", "missing", true),
        ("/version", Some(json!(3)), "$.version", "version 3", true),
        ("/version", Some(json!("1")), "$.version", "an integer", true),
        ("/engine/name", Some(json!("")), "$.engine.name", "empty", true),
        ("/engine/aliases/0", Some(json!(7)), "$.engine.aliases[0]", "expected a string", true),
        ("/score_unit", Some(json!("pawn")), "$.score_unit", "centipawn", true),
        ("/model/kind", Some(json!("quadratic")), "$.model.kind", "\"quadratic\" is unknown", true),
        ("/model/kind", None, "$.model.kind", "missing", true),
        ("/model/method", Some(json!("guess")), "$.model.method", "least_squares or maximum_likelihood", true),
        ("/model/method", Some(json!("least_squares")), "$.model", "$.models.least_squares", false),
        ("/model/w1", Some(json!(-0.001)), "$.model.w1", "above 0, found -0.001", true),
        ("/model/w1", Some(json!(0.001)), "$.model", "differs from", false),
        ("/model/w3", Some(json!(0.7)), "$.model.w3", "unknown field", true),
        ("/models", Some(json!({})), "$.model.method", "is not in $.models", true),
        ("/models/least_squares/w1", Some(json!(0)), "$.models.least_squares.w1", "above 0", true),
        ("/models/least_squares/w2", Some(json!(null)), "$.models.least_squares.w2", "invalid type: null", true),
        ("/models/least_squares/covariance", None, "$.models.least_squares.covariance", "missing", true),
        ("/models/least_squares/covariance/0", Some(json!([1.0])), "$.models.least_squares.covariance[0]", "2", true),
        ("/models/least_squares/covariance/0/1", Some(json!(1.0)), "$.models.least_squares.covariance", "symm", false),
        (
            "/models/least_squares/covariance/0/0",
            Some(json!(-1.0)),
            "$.models.least_squares.covariance",
            "positive",
            false,
        ),
        (
            "/models/least_squares/covariance/1/1",
            Some(json!(1e-9)),
            "$.models.least_squares.covariance",
            "positive",
            false,
        ),
        ("/models/least_squares/samples", Some(json!(-1)), "$.models.least_squares.samples", "from 0", true),
        ("/models/least_squares/games", Some(json!(1.5)), "$.models.least_squares.games", "an integer", true),
        ("/standardization", None, "$.standardization", "missing", true),
        ("/standardization/sd", Some(json!(0.0)), "$.standardization.sd", "above 0", true),
        ("/curve", None, "$.curve", "missing", true),
        ("/curve/bin_cp", Some(json!(0)), "$.curve.bin_cp", "from 1", true),
        ("/curve/bins/1/bin", Some(json!(4)), "$.curve.bins[1].low_cp", "does not begin at 600", false),
        ("/curve/bins/1", Some(full_bin(-1)), "$.curve.bins[1]", "ascending", false),
        ("/curve/bins/1/wins", Some(json!(-2)), "$.curve.bins[1].wins", "from 0", true),
        ("/curve/bins/1/score_sum", Some(json!(1601)), "$.curve.bins[1].score_sum", "from 600 to below 800", false),
        ("/mates/policy", Some(json!("drop")), "$.mates.policy", "expected one of 'exclude', 'clip', 'keep'", true),
        ("/mates/clip_cp", Some(json!(null)), "$.mates.clip_cp", "policy is clip", false),
        ("/mates/threshold_cp", Some(json!(0)), "$.mates.threshold_cp", "above 0", true),
        ("/mates/wrong_sided", Some(json!(6)), "$.mates.wrong_sided", "6 wrong-sided mates among 5", false),
        ("/scores/min_cp", Some(json!(99_999)), "$.scores.min_cp", "above the largest", false),
        ("/scores/largest_cp_left", Some(json!(-1)), "$.scores.largest_cp_left", "below 0", true),
        ("/sampling/window", Some(json!(0)), "$.sampling.window", "from 1", true),
        ("/sampling/seed", Some(json!(1e30)), "$.sampling.seed", "an integer", true),
        ("/sampling/draws", Some(json!(true)), "$.sampling.draws", "boolean 'true'", true),
        ("/provenance", None, "$.provenance", "missing", true),
        ("/provenance/digest", Some(json!("0123456789ABCDEF".repeat(4))), "$.provenance.digest", "lower-case", true),
        ("/provenance/dates/first", Some(json!("2016/01/01")), "$.provenance.dates.first", "not a day", true),
        ("/provenance/dates/first", Some(json!("2017-01-01")), "$.provenance.dates.first", "after the last", false),
        ("/provenance/opponents", Some(json!(["nozomi"])), "$.provenance.opponents[0]", "an object", true),
        ("/provenance/source", Some(json!("")), "$.provenance.source", "empty", true),
        ("/proper_scores/folds", Some(json!(1)), "$.proper_scores.folds", "from 2", true),
        ("/proper_scores/ece", None, "$.proper_scores.ece", "missing", true),
        ("/proper_scores/brier/interval", Some(json!([0.3, 0.2])), "$.proper_scores.brier.interval", "above", false),
        ("/tool", Some(json!("evalcurve 0.1")), "$.tool", "an object", true),
    ]
}

fn full_bin(bin: i64) -> Value {
    json!({"bin": bin, "low_cp": bin * 200, "wins": 0, "draws": 0, "losses": 0, "score_sum": 0})
}

fn change(document: &mut Value, pointer: &str, value: Option<Value>) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (document.pointer_mut(parent).unwrap(), value) {
        (Value::Object(members), Some(value)) => _ = members.insert(name.to_owned(), value),
        (Value::Object(members), None) => _ = members.remove(name).unwrap(),
        (Value::Array(items), Some(value)) => items[name.parse::<usize>().unwrap()] = value,
        other => panic!("{pointer}: {other:?}"),
    }
}

#[test]
fn reader_and_schema_refuse_the_same() {
    let whole = full().to_json().unwrap();
    for (pointer, value, path, word, seen_by_schema) in broken() {
        let mut document: Value = serde_json::from_str(&whole).unwrap();
        change(&mut document, pointer, value.clone());
        let error = Calibration::from_json(&document.to_string(), "gikou.json").expect_err(pointer);
        assert_eq!(error.json_path(), Some(path), "{pointer} {value:?}: {error}");
        let message = error.to_string();
        assert!(message.starts_with(&format!("gikou.json: {path}: ")) && message.contains(word), "{message}");
        assert!(message.contains("; "), "no remedy: {message}");
        assert_eq!(fits_schema(&document), !seen_by_schema, "{pointer} {value:?}");
    }
}

/// A file of a later version: what changes no win rate is kept, told, and written again.
#[test]
fn what_only_a_later_version_knows_is_kept_unless_win_rates_depend_on_it() {
    let mut file: Value = serde_json::from_str(&full().to_json().unwrap()).unwrap();
    let today = Calibration::from_json(&file.to_string(), "test").unwrap();
    let added = [
        ("/an extra", json!({"a": [1, {"b": 2.5}]}), "$[\"an extra\"]"),
        ("/engine/author", json!("N. N."), "$.engine.author \"N. N.\""),
        ("/curve/bins/1/adjudicated", json!(3), "$.curve.bins[1].adjudicated"),
        ("/models/guess", json!({"kind": "guess", "c": 1}), "$.models.guess"),
        ("/models/phase", json!({"kind": "phase_of_later", "w": 1}), "$.models.phase"),
        ("/provenance/terminations/entering", json!(1), "$.provenance.terminations.entering"),
        ("/proper_scores/baselines/lapse", json!({}), "$.proper_scores.baselines.lapse"),
        ("/doubts", json!(["one_sided", "stale"]), "$.doubts[1] \"stale\""),
    ];
    for (pointer, value, _) in &added {
        change(&mut file, pointer, Some(value.clone()));
    }
    let read = Calibration::from_json(&file.to_string(), "test").unwrap();
    let mut told: Vec<String> = read.unknown().iter().map(ToString::to_string).collect();
    let mut expected = added.map(|(_, _, path)| path.to_owned());
    told.sort();
    expected.sort();
    assert_eq!(told, expected);
    assert_eq!(read.doubts, [Doubt::OneSided, Doubt::Unknown]);
    assert_eq!(read.estimate(250), today.estimate(250));
    let written = read.to_json().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), file);
    assert_eq!(Calibration::from_json(&written, "test").unwrap(), read);
    assert!(read.without_evidence().unknown().is_empty());

    // these change the curve
    for (pointer, value) in [("/model/w3", json!(0.7)), ("/models/maximum_likelihood/w3", json!(0.7))] {
        let mut file = file.clone();
        change(&mut file, pointer, Some(value));
        let error = Calibration::from_json(&file.to_string(), "test").unwrap_err();
        assert!(error.to_string().contains("unknown field"), "{error}");
    }
    let all: serde_json::Map<String, Value> = (0..1_000).map(|i| (format!("x{i}"), json!(i))).collect();
    change(&mut file, "/more", Some(json!(1)));
    file.as_object_mut().unwrap().extend(all);
    assert!(Calibration::from_json(&file.to_string(), "test").is_err());
}

#[test]
fn errors_say_what_can_be_done() {
    let kind = |pointer: &str, value: Value| {
        let mut file: Value = serde_json::from_str(&full().to_json().unwrap()).unwrap();
        change(&mut file, pointer, Some(value));
        Calibration::from_json(&file.to_string(), "test").unwrap_err().kind()
    };
    assert_eq!(kind("/format", json!("other")), ErrorKind::OtherFormat);
    assert_eq!(kind("/version", json!(2)), ErrorKind::NewerVersion);
    assert_eq!(kind("/model/kind", json!("spline")), ErrorKind::NewerVersion);
    assert_eq!(kind("/model/method", json!("spline")), ErrorKind::NewerVersion);
    assert_eq!(kind("/version", json!("one")), ErrorKind::Damaged);
    assert_eq!(kind("/model/w1", json!(-1)), ErrorKind::Damaged);
    let of_text = |text: &str| Calibration::from_json(text, "test").unwrap_err().kind();
    assert_eq!((of_text("[]"), of_text("{\"a\": 1")), (ErrorKind::OtherFormat, ErrorKind::Damaged));
    assert_eq!([of_text("[package]\n"), of_text("V2.2\nPI")], [ErrorKind::OtherFormat; 2]);
    let of_path = |path: &str| Calibration::read(path).unwrap_err().kind();
    assert_eq!((of_path("no/such/file"), of_path("/")), (ErrorKind::NotFound, ErrorKind::Io));
}

#[test]
fn a_calibration_may_be_anywhere() {
    use std::panic::{RefUnwindSafe, UnwindSafe};
    const fn safe<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    const { safe::<Calibration>() };
}

/// A broken score has no win rate, and none is certain.
#[test]
fn not_a_number_stays_so_in_every_model() {
    for model in examples() {
        // no file has a baseline
        let Some(kind) = ModelKind::calibrations().find(|kind| kind.check(&model).is_ok()) else { continue };
        let size = model.parameters().len();
        let variances = (0..size).map(|i| (0..size).map(|j| if i == j { 1e-12 } else { 0.0 }).collect()).collect();
        let covariance = model.logit_gradient(0.0, &Situation::new()).map(|_| variances);
        let fit = FittedModel { model, covariance, samples: None, games: None };
        let c = Calibration::from_models("x", [(kind, fit)], kind).unwrap();
        for reading in [Reading::Equal, Reading::Field] {
            let (score, unknown) = (Score::Cp(f64::NAN), Situation::new());
            assert!(c.win_rate_in(reading, score, &unknown).is_nan(), "{kind}");
            assert_eq!(c.interval(reading, score, &unknown), None, "{kind}");
        }
        assert!(c.estimate(f64::NAN).value.is_nan(), "{kind}");
        assert_eq!(c.at(Situation::new()).wdl(f64::NAN).and_then(|wdl| wdl.permille()), None, "{kind}");
    }
    assert_eq!(permille([f64::NAN; 3]), None);
    assert_eq!(permille([0.6, 0.3, 0.1]), Some([600, 300, 100]));
}

/// The interval belongs to the win rate: a mate is 1 or 0, not a point beyond the interval of its centipawns.
#[test]
fn a_win_rate_lies_within_its_interval_also_at_the_mate_threshold() {
    let c = full();
    for score in [-20_001.0, -20_000.0, -19_999.0, -300.0, 0.0, 300.0, 19_999.0, 20_000.0, 1e9] {
        let Estimate { value, interval } = c.estimate(score);
        assert_eq!(value, c.win_rate(c.classify(score)));
        match c.classify(score) {
            Score::Mate { .. } => assert_eq!(interval, None),
            Score::Cp(_) => assert!(interval.is_some_and(|[low, high]| low <= value && value <= high), "{score}"),
        }
    }
    let field = c.at(Situation::new()).in_the_field();
    assert_eq!(field.estimate(0).value, c.win_rate_in(Reading::Field, Score::Cp(0.0), &Situation::new()));
    assert_eq!(field.score(0.5), c.score(Reading::Field, 0.5, &Situation::new()));
}

#[test]
fn every_field_must_be_there() {
    fn visit(at: &str, value: &Value, pointers: &mut Vec<String>) {
        let members: Vec<(String, &Value)> = match value {
            Value::Object(members) => members.iter().map(|(k, v)| (format!("{at}/{k}"), v)).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(i, v)| (format!("{at}/{i}"), v)).collect(),
            _ => return,
        };
        for (pointer, child) in members {
            let may_be_absent =
                ["s/least_squares", "s/constant", "s/shared_600"].iter().any(|end| pointer.ends_with(end));
            if value.is_object() && !pointer.contains("/terminations/") && !may_be_absent {
                pointers.push(pointer.clone());
            }
            visit(&pointer, child, pointers);
        }
    }
    let whole: Value = serde_json::from_str(&full().to_json().unwrap()).unwrap();
    let mut pointers = Vec::new();
    visit("", &whole, &mut pointers);
    assert!(pointers.len() > 80, "{}", pointers.len());
    for pointer in pointers {
        let mut document = whole.clone();
        change(&mut document, &pointer, None);
        assert!(Calibration::from_json(&document.to_string(), "test").is_err(), "{pointer}");
        // the schema cannot express that the chosen method is among the models
        assert!(!fits_schema(&document) || pointer == "/models/maximum_likelihood", "{pointer}");
    }
}

#[test]
fn numbers_out_of_range_and_repeated_fields_have_a_path() {
    let text = full().to_json().unwrap();
    let huge = text.replace("\"w1\": 0.0026,", "\"w1\": 1e999,");
    let message = Calibration::from_json(&huge, "gikou.json").unwrap_err().to_string();
    assert!(message.starts_with("gikou.json: $.models.least_squares.w1: number out of range (line "), "{message}");
    let twice = text.replace("\"mean\": 33.25,", "\"mean\": 33.25, \"mean\": 0,");
    let error = Calibration::from_json(&twice, "gikou.json").unwrap_err();
    assert_eq!(error.json_path(), Some("$.standardization.mean"), "{error}");
    let nan = text.replace("33.25", "NaN");
    assert_eq!(Calibration::from_json(&nan, "x").unwrap_err().json_path(), Some("$.standardization.mean"));
}

#[test]
fn integers_may_be_written_with_a_fraction_of_zero() {
    let text = full().to_json().unwrap().replace("\"folds\": 5,", "\"folds\": 5.0,");
    assert_eq!(Calibration::from_json(&text, "test").unwrap(), full());
    assert!(fits_schema(&serde_json::from_str(&text).unwrap()));
}

#[test]
fn nothing_is_written_that_cannot_be_read() {
    let mut nan = full();
    nan.standardization = Some(Standardization { mean: f64::NAN, sd: 1.0, samples: 2 });
    assert_eq!(nan.to_json().unwrap_err().json_path(), Some("$.standardization.mean"));
    let mut hidden = full();
    hidden.mates.as_mut().unwrap().threshold_cp = Some(f64::INFINITY);
    assert!(hidden.to_json().unwrap_err().to_string().contains("mates.threshold_cp is inf"));
    assert!(sigmoid_only("x", 0.0, 0.0).to_json().is_err());
    assert!(sigmoid_only("", 1.0, 0.0).to_json().is_err());
}

#[test]
fn a_byte_order_mark_is_tolerated() {
    let text = format!("\u{feff}{}", full().to_json().unwrap());
    assert_eq!(Calibration::from_json(&text, "test").unwrap(), full());
}

#[test]
fn mates_are_certain_and_scores_go_through_the_model() {
    let c = sigmoid_only("x", 0.0025, 0.5);
    let unknown = Situation::default();
    assert_eq!(c.win_rate(Score::Mate { wins: true, plies: Some(3) }), 1.0);
    assert_eq!(c.win_rate(Score::Mate { wins: false, plies: None }), 0.0);
    // w2 is what the opponents added: between equals a score of 0 wins half
    assert_eq!(c.win_rate_in(Reading::Field, Score::Cp(200.0), &unknown), 0.5);
    assert_eq!(c.win_rate(Score::Cp(0.0)), 0.5);
    assert!((c.score(Reading::Field, 0.5, &unknown).unwrap() - 200.0).abs() < 1e-9);
    assert!(c.score(Reading::Equal, 0.5, &unknown).unwrap().abs() < 1e-9);
    assert!(c.win_rate(Score::Cp(-1_148_897.0)) < 1e-300 && c.win_rate(Score::Cp(1_148_897.0)) == 1.0);
    assert!(c.win_rate(Score::Cp(f64::NAN)).is_nan());
    for reading in [Reading::Field, Reading::Equal] {
        for rate in [0.0, 1.0, f64::NAN] {
            assert_eq!(c.score(reading, rate, &unknown), None);
        }
    }
    assert_eq!(c.classify(99_999.0), Score::Cp(99_999.0));
    assert_eq!(full().classify(-20_000.0), Score::Mate { wins: false, plies: None });
    assert_eq!(full().classify(19_999.0), Score::Cp(19_999.0));
}

#[test]
fn the_interval_is_the_delta_method_on_the_logit() {
    let interval = |c: &Calibration, reading, x| c.interval(reading, Score::Cp(x), &Situation::default());
    assert_eq!(interval(&sigmoid_only("x", 0.0025, 0.5), Reading::Field, 0.0), None);
    let mut c = full();
    c.models.values_mut().for_each(|fit| fit.games = Some(30));
    // Student's t with 29 degrees of freedom
    assert!((c.quantile() - 2.045_23).abs() < 1e-5);
    c.models.values_mut().for_each(|fit| fit.games = None);
    // at score 0 the variance of the logit is that of w2 alone: 0.25 ± 1.959964 · sqrt(0.0023)
    let (low, high) = interval(&c, Reading::Field, 0.0).unwrap();
    assert!((low - 1.0 / (1.0 + (-0.25f64 + 0.093_996_9).exp())).abs() < 1e-6, "{low}");
    assert!((high - 1.0 / (1.0 + (-0.25f64 - 0.093_996_9).exp())).abs() < 1e-6, "{high}");
    // between equals a score of 0 is half by definition
    assert_eq!(interval(&c, Reading::Equal, 0.0), Some((0.5, 0.5)));
    // w1 x - w2: a negative covariance of w1 and w2 widens at positive scores
    let width = |reading, x: f64| {
        let (low, high) = interval(&c, reading, x).unwrap();
        ((high / (1.0 - high)) / (low / (1.0 - low))).ln()
    };
    assert!(width(Reading::Field, 500.0) > width(Reading::Field, -500.0));
    assert!((width(Reading::Equal, 500.0) - width(Reading::Equal, -500.0)).abs() < 1e-9);
    let (low, high) = interval(&c, Reading::Field, 30_000.0).unwrap();
    assert!((0.0..=1.0).contains(&low) && low <= high && high <= 1.0);
}

/// Draws: the interval of a nearly even score follows the exponential of the width, and stays on its side of one half.
#[test]
fn intervals_with_draws_are_those_of_wins_less_losses() {
    let Some(Model::Joint(joint)) = examples().into_iter().find(|model| model.form_name() == "joint") else { panic!() };
    let joint = Joint { w1: 0.05, draw_width: 5.0, lapse: 0.0, drawn: 0.0, ..joint };
    let covariance: Vec<Vec<f64>> =
        (0..9).map(|i| (0..9).map(|j| if i == 5 && j == 5 { 0.09 } else { 0.0 }).collect()).collect();
    let fit = FittedModel { model: Model::Joint(joint), covariance: Some(covariance), samples: None, games: None };
    let c = Calibration::from_models("x", [(ModelKind::Joint, fit)], ModelKind::Joint).unwrap();
    let at = |width: f64, x: f64| Joint { draw_width: width, ..joint }.against(Reading::Equal, x, 0.0);
    let rate = |logit: f64| 1.0 / (1.0 + f64::exp(-logit));
    for x in [20.0, -20.0, 60.0] {
        let (low, high) = c.interval(Reading::Equal, Score::Cp(x), &Situation::default()).unwrap();
        // 1.96 standard errors of the width
        let mut ends = [4.412, 5.588].map(|width| rate(at(width, x)));
        ends.sort_by(f64::total_cmp);
        assert!((low - ends[0]).abs() < 0.02 * (ends[0] - 0.5).abs(), "{x}: {low} {ends:?}");
        assert!((high - ends[1]).abs() < 0.02 * (ends[1] - 0.5).abs(), "{x}: {high} {ends:?}");
    }
    assert_eq!(c.interval(Reading::Equal, Score::Cp(0.0), &Situation::default()), Some((0.5, 0.5)));
    // the constant is the score of .731, and a that of half of the wins
    let constant = c.constant().unwrap();
    assert!((c.win_rate(Score::Cp(constant.value)) - rate(1.0)).abs() < 1e-12);
    let (a, b) = c.a_and_b(0.0).unwrap();
    assert!((a.value - 100.0).abs() < 1e-9 && (b.value - 20.0).abs() < 1e-9);
    assert!((c.wdl(Reading::Equal, a.value, &Situation::default()).unwrap().win.value - 0.5).abs() < 1e-12);
    // the width alone is uncertain: a by 20 of its logits
    assert!((a.interval.unwrap()[1] - 100.0 - 20.0 * 0.3 * c.quantile()).abs() < 1e-6);
}

/// Every form with parameters of a usual size.
fn examples() -> Vec<Model> {
    let joint = Joint {
        w1: 0.002,
        w2: 0.4,
        w3: 0.8,
        lapse: 0.01,
        drawn: 0.01,
        draw_width: 0.6,
        optimism: 0.2,
        strength: -0.3,
        field_w1: 0.0025,
    };
    let people = People {
        w1: 0.002,
        w2: 0.1,
        w3: 0.8,
        per_elo: 6e-4,
        per_elo_squared: -1e-7,
        per_doubling: 0.05,
        rating: Span { from: 1_000.0, middle: 1_600.0, to: 2_200.0 },
        seconds: Some(Span { from: 60.0, middle: 240.0, to: 600.0 }),
    };
    let (a, b) = ([-15.0, 40.0, -33.0, 144.0], [8.0, -14.0, 7.0, 95.0]);
    let examples = vec![
        Model::Constant(Constant { win_rate: 0.4 }),
        Model::Sigmoid(Sigmoid { w1: 0.002, w2: 0.4 }),
        Model::Lapse(Lapse { w1: 0.002, w2: 0.4, lapse: 0.02 }),
        Model::Joint(joint),
        Model::Phase(Phase { w1: 0.002, w2: 0.4, w1_per_ply: 1e-6, middle_ply: 80.0, from_ply: 30, to_ply: 200 }),
        Model::Isotonic(Isotonic { points: vec![(-500.0, 0.1), (0.0, 0.4), (700.0, 0.8)] }),
        Model::People(people),
        Model::Wdl(Wdl { stage: StageUnit::Ply, a, b, from_stage: 17, to_stage: 78 }),
    ];
    let has_example = |kind: ModelKind| examples.iter().any(|model| Some(model.form_name()) == kind.form_name());
    assert!(ModelKind::calibrations().all(has_example));
    examples
}

/// One model of every form that a calibration may have.
fn models() -> Vec<Model> {
    let is_used = |model: &Model| ModelKind::calibrations().any(|kind| kind.form_name() == Some(model.form_name()));
    examples().into_iter().filter(is_used).collect()
}

/// A model of the same form with one parameter moved by `h`. A parameter `a2` may be the third number of a list `a`.
fn moved(model: &Model, parameter: usize, h: f64) -> Model {
    let (name, value) = model.parameters()[parameter];
    let mut fields = serde_json::to_value(model).unwrap();
    let field = match fields.get_mut(name) {
        Some(field) => field,
        None => &mut fields[&name[..1]][name[1..].parse::<usize>().unwrap()],
    };
    *field = json!(value + h);
    Model::deserialize_form(model.form_name(), fields).unwrap().unwrap()
}

/// All intervals depend on these gradients, in both readings.
#[test]
fn gradients_are_those_of_finite_differences() {
    let mut checked = 0;
    // isotonic regression has no gradient
    for model in models().into_iter().filter(|model| !matches!(model, Model::Isotonic(_))) {
        let people = Situation { rating: Some(1_900.0), seconds: Some(60.0), ..Situation::default() };
        let strong = Situation { strength: Some(0.7), ply: Some(40), rating: Some(900.0), ..Situation::default() };
        for situation in [Situation::default(), strong, people] {
            for x in [-700.0, 0.0, 130.0, 900.0] {
                for reading in [Reading::Field, Reading::Equal] {
                    let logit = |m: &Model| match reading {
                        Reading::Field => m.logit(x, &situation),
                        Reading::Equal => m.equal_logit(x, &situation),
                    };
                    let gradient = match reading {
                        Reading::Field => model.logit_gradient(x, &situation),
                        Reading::Equal => model.equal_gradient(x, &situation),
                    };
                    for (i, found) in gradient.unwrap().into_iter().enumerate() {
                        let h = 1e-6 * model.parameters()[i].1.abs().max(1e-4);
                        let (up, down) = (moved(&model, i, h), moved(&model, i, -h));
                        let expected = (logit(&up) - logit(&down)) / (2.0 * h);
                        let near = (found - expected).abs() <= 1e-5 * (expected.abs() + 1e-3);
                        assert!(near, "{model:?} {reading:?} {x} parameter {i}: {found}, not {expected}");
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > 500, "{checked}");
}

/// Every form: between equals a score and its mirror image sum to 1.
#[test]
fn between_equals_every_model_is_symmetric() {
    for model in models() {
        for x in [0.0, 120.0, -480.0, 2500.0] {
            let of = |x, d| model.equal_logit(x, &Situation { strength: Some(d), ..Situation::default() });
            assert!((of(x, 0.0) + of(-x, 0.0)).abs() < 1e-9, "{model:?} {x}");
            assert_eq!(of(x, 0.0), model.equal_logit(x, &Situation::default()), "{model:?} {x}");
            // a stronger side wins more, and the weaker one as much less
            assert!((of(x, 0.5) + of(-x, -0.5)).abs() < 1e-9, "{model:?} {x}");
            let back = model.equal_score(Sigmoid::STANDARD.win_rate(of(x, 0.0)), &Situation::default());
            assert!(matches!(model, Model::Isotonic(_)) || (back.unwrap() - x).abs() < 0.01, "{model:?} {x} {back:?}");
        }
    }
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![-1e6..1e6, any::<f64>().prop_filter("finite", |x| x.is_finite())]
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Calibration::from_json(&String::from_utf8_lossy(&bytes), "test");
    }

    #[test]
    fn arbitrary_damage_never_panics(
        at in 0usize..4000, with in "[\"\\\\{}\\[\\],:0-9eE.ntx\n-]{0,4}", cut in 0usize..6,
    ) {
        let mut bytes = full().to_json().unwrap().into_bytes();
        let at = at % bytes.len();
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, with.into_bytes());
        if let Ok(read) = Calibration::from_json(&String::from_utf8_lossy(&bytes), "test") {
            prop_assert!(read.to_json().is_ok());
        }
    }

    #[test]
    fn what_is_written_is_written_again(
        name in "\\PC{1,20}", w1 in 1e-12..1e3f64, w2 in finite(), mean in finite(), sd in 1e-300..1e300f64,
        v11 in 1e-12..1.0f64, v22 in 1e-12..1.0f64, r in -0.99..0.99f64,
        counts in proptest::collection::btree_map(-500i64..500, (0u64..1000, 0u64..1000, 0u64..1000), 0..5),
    ) {
        let v12 = r * (v11 * v22).sqrt();
        let mut c = sigmoid_only(&name, w1, w2);
        let covariance = Some(vec![vec![v11, v12], vec![v12, v22]]);
        c.models.insert(ModelKind::LeastSquares, FittedModel { covariance, ..FittedModel::sigmoid(w1, w2) });
        c.standardization = Some(Standardization { mean, sd, samples: 3 });
        let bins = counts.into_iter().map(|(bin, (wins, draws, losses))| CurveBin {
            bin, low_cp: bin * 200, wins, draws, losses,
            score_sum: (bin * 200 + 199) * (wins + draws + losses) as i64,
        });
        c.curve = Some(Curve { bin_cp: 200, bins: bins.collect() });
        let text = c.to_json().unwrap();
        let read = Calibration::from_json(&text, "test").unwrap();
        prop_assert_eq!(&read.to_json().unwrap(), &text);
        prop_assert_eq!(Calibration::from_json(&text, "test").unwrap(), read);
        prop_assert!(fits_schema(&serde_json::from_str(&text).unwrap()));
    }
}

/// The plain sigmoid as a model of a program's own.
#[derive(Debug)]
struct Mine;

impl OwnModel for Mine {
    fn name(&self) -> &'static str {
        "mine"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["w1", "w2"]
    }

    fn logit(&self, parameters: &[f64], score_cp: f64, _: &Situation) -> f64 {
        parameters[0] * score_cp - parameters[1]
    }

    fn problem(&self, parameters: &[f64]) -> Option<String> {
        (parameters[0] <= 0.0).then(|| format!("the slope {} is not above 0", parameters[0]))
    }
}

#[test]
fn an_own_model_is_written_read_and_refused_where_it_is_unknown() {
    static MINE: Mine = Mine;
    let kind = register(&MINE).unwrap();
    assert_eq!(register(&MINE).unwrap(), kind);
    let covariance = Some(vec![vec![4.1e-9, -1.25e-6], vec![-1.25e-6, 2.3e-3]]);
    let fit = |model| FittedModel { model, covariance: covariance.clone(), samples: Some(400), games: Some(30) };
    let models = [
        (kind, fit(Model::own(&MINE, vec![0.0026, 0.1638]).unwrap())),
        (ModelKind::LeastSquares, fit(Model::Sigmoid(Sigmoid { w1: 0.0026, w2: 0.1638 }))),
    ];
    let written = |chosen| Calibration::from_models("E", models.clone(), chosen).unwrap().to_json().unwrap();
    let text = written(kind);
    let [mine, listed] =
        [&text, &written(ModelKind::LeastSquares)].map(|text| Calibration::from_json(text, "x").unwrap());
    assert_eq!((mine.to_json().unwrap(), mine.model.kind), (text.clone(), kind));
    for cp in [-700.0, 0.0, 300.0] {
        for at in [
            |c: &Calibration, cp: f64| c.estimate(cp),
            |c: &Calibration, cp: f64| c.at(Situation::new()).in_the_field().estimate(cp),
        ] {
            let (mine, listed) = (at(&mine, cp), at(&listed, cp));
            let close = |a: [f64; 2], b: [f64; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-8);
            assert_eq!(mine.value, listed.value);
            assert!(close(mine.interval.unwrap(), listed.interval.unwrap()), "{mine:?} {listed:?}");
        }
    }
    let constant = |c: &Calibration| c.constant().unwrap().interval.unwrap();
    assert!((constant(&mine)[0] - constant(&listed)[0]).abs() < 1e-3);
    assert_eq!((mine.lapses(), mine.sigmoid()), (None, None));
    // a program that does not know it: refused where it is chosen, else kept
    let error = |text: &str| Calibration::from_json(text, "x").unwrap_err();
    let other = |text: &str| text.replace("\"mine\"", "\"theirs\"");
    assert_eq!(error(&other(&text)).kind(), ErrorKind::NewerVersion);
    assert!(error(&other(&text)).to_string().contains("$.model.kind: a model of kind \"theirs\" is unknown; use the"));
    let text = other(&written(ModelKind::LeastSquares));
    let kept = Calibration::from_json(&text, "x").unwrap();
    assert_eq!((kept.unknown()[0].json_path(), kept.models.len()), ("$.models.theirs", 1));
    assert!(kept.to_json().unwrap().contains("theirs"));
    // parameters that are missing, too many, or wrong
    let broken = |from: &str, to: &str| error(&written(kind).replace(from, to)).to_string();
    assert!(broken("\"w2\"", "\"w3\"").contains("$.model.w2: missing field 'w2'"), "{}", broken("\"w2\"", "\"w3\""));
    assert!(broken("0.0026", "-0.0026").contains("the slope -0.0026 is not above 0"));
    assert!(Model::own(&MINE, vec![0.1]).is_err() && Model::own(&MINE, vec![0.1, f64::NAN]).is_err());
    // names that are taken
    #[derive(Debug)]
    struct Joint2;
    impl OwnModel for Joint2 {
        fn name(&self) -> &'static str {
            "joint"
        }
        fn parameters(&self) -> &'static [&'static str] {
            &[]
        }
        fn logit(&self, _: &[f64], _: f64, _: &Situation) -> f64 {
            0.0
        }
    }
    assert!(register(&Joint2).unwrap_err().to_string().contains("the name of another model"));
}
