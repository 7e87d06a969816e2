//! `evalcurve diagnose`: the verdict, the self-contained page, and the same content as JSON.

use serde_json::Value;

use crate::interface::snapshot;
use crate::support::{Folder, csv, engine, project_data, root, with_slashes};

/// Arguments for a quick diagnosis of the shipped games.
fn shipped<'a>(data: &'a str, out: &'a str) -> Vec<&'a str> {
    vec!["diagnose", data, "--mate-threshold", "auto", "--bands", "200", "--out", out]
}

/// Checks that every tag is closed in order and every attribute is quoted. Returns the number of elements.
fn well_formed(html: &str) -> usize {
    let body = html.strip_prefix("<!DOCTYPE html>").expect("a document type");
    let (mut open, mut elements, mut rest) = (Vec::new(), 0, body);
    while let Some(at) = rest.find('<') {
        let (text, tag) = (&rest[..at], &rest[at + 1..]);
        assert!(!text.contains('>') || open.last() == Some(&"style"), "a stray > in {text:.80}");
        let end = tag.find('>').expect("an end of the tag");
        let (tag, after) = (&tag[..end], &tag[end + 1..]);
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "near {:.80}", after);
            continue;
        }
        elements += 1;
        let name = tag.split([' ', '/']).next().unwrap();
        assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "<{tag}>");
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    elements
}

#[test]
fn the_shipped_games_have_a_verdict_and_a_page() {
    let data = project_data("selfplay");
    let folder = Folder::new();
    let ran = folder.good(&shipped(&data, "out"));
    snapshot("diagnose.txt", &ran.out);

    let html = folder.text("out/diagnosis.html");
    assert!(well_formed(&html) > 1000);
    for foreign in ["<script", "<link", "<iframe", " src=", "@import", "url(", "href=\"http", "javascript:"] {
        assert!(!html.contains(foreign), "{foreign}");
    }
    assert!(html.contains("name=\"viewport\"") && html.contains("@media print"));
    for id in ["sure", "right", "scale", "differ", "splits", "signs", "read"] {
        assert!(html.contains(&format!("<details class=\"section\" id=\"{id}\">")), "{id}");
    }
    assert!(html.matches("<svg ").count() > 10);
    assert!(!html.contains("NaN") && !html.contains("inf]"), "not a number");
    assert!(!html.contains(&*root().to_string_lossy()) || data.contains("/tmp"), "a path of this machine");

    let document = folder.json("out/diagnosis.json");
    assert_eq!(document["format"], "evalcurve-diagnosis");
    let transforms = document["scale"]["mismatch"]["transforms"].as_array().unwrap();
    let m_squared = |name: &str| {
        let found = transforms.iter().find(|t| t["transform"] == name).unwrap_or_else(|| panic!("no {name}"));
        found["m_squared"].as_f64().unwrap()
    };
    assert!(m_squared("raw") > 0.003, "{transforms:#?}");
    assert!(m_squared("maximum_likelihood") < m_squared("raw") / 3.0);
    assert!(document["verdict"].as_array().unwrap().len() >= 7);
    let base = &document["base"];
    assert_eq!(
        base["samples"].as_u64().unwrap(),
        base["fitted"].as_u64().unwrap() + base["mates_left_out"].as_u64().unwrap()
    );
    let pairwise = &document["scale"]["pairwise"];
    let engines = pairwise["engines"].as_array().unwrap().len();
    assert_eq!(pairwise["pairs"].as_array().unwrap().len(), engines * (engines - 1) / 2);
}

#[test]
fn threads_change_no_byte_and_json_is_the_file() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "500", "--mates", "0.02"]);
    let one = folder.good(&["diagnose", "games.csa", "--bands", "50", "--threads", "1", "--out", "one", "--json"]);
    let three = folder.good(&["diagnose", "games.csa", "--bands", "50", "--threads", "3", "--out", "three", "--json"]);
    assert_eq!(one.out, three.out);
    assert_eq!(one.out, folder.text("one/diagnosis.json"));
    assert!(folder.read("one/diagnosis.html") == folder.read("three/diagnosis.html"), "the page depends on threads");
    let document: Value = one.document();
    assert!(engine(&document, document["engines"][0]["name"].as_str().unwrap())["samples"].as_u64().unwrap() > 0);
}

#[test]
fn wrong_sided_mates_are_named_as_the_cause_of_different_fits() {
    let folder = Folder::new();
    // every fifteenth game announces its mates for the wrong side
    let turned = |(i, game): (usize, &String)| match i % 15 {
        0 => game.replace("'** 30000", "'** ±").replace("'** -30000", "'** 30000").replace("'** ±", "'** -30000"),
        _ => game.clone(),
    };
    let games: Vec<String> = folder.games(1500, &["--mates", "0.1"]).iter().enumerate().map(turned).collect();
    folder.write("games.csa", games.join("/\n"));
    let run = |policy: &str| {
        folder.document(&["diagnose", "games.csa", "--bands", "50", "--mate-policy", policy, "--out", policy])
    };
    let (kept, left_out) = (run("keep"), run("exclude"));
    let fits = |d: &Value| d["differ"].as_array().unwrap().clone();
    let apart: Vec<Value> = fits(&kept).into_iter().filter(|f| f["differ"] == true).collect();
    assert!(!apart.is_empty(), "no mate for the wrong side parts the fits: {:#?}", fits(&kept));
    for fit in &apart {
        assert!(fit["cause"].as_str().unwrap().contains("wrong-sided mates"), "{fit}");
        assert_eq!(fit["contradiction"]["score_cp"].as_i64().unwrap().abs(), 30_000, "{fit}");
        assert_eq!(fit["contradiction"]["source"], "games.csa", "{fit}");
        // the same engine without mates: no difference
        let other = fits(&left_out).into_iter().find(|f| f["engine"] == fit["engine"]).unwrap();
        assert_eq!(other["differ"], false, "{other}");
    }
}

#[test]
fn foreign_files_are_not_replaced() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "300"]);
    folder.write("out/diagnosis.html", "mine");
    let arguments = ["diagnose", "games.csa", "--bands", "20", "--out", "out"];
    folder.run(&arguments).ends(2).says(&["diagnosis.html", "--force"]);
    assert_eq!(folder.text("out/diagnosis.html"), "mine");
    folder.good(&[&arguments[..], &["--force"]].concat());
    // evalcurve replaces its own files
    folder.good(&arguments);
}

#[test]
fn nothing_to_diagnose_is_reported() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "5"]);
    folder.run(&["diagnose", "games.csa", "--out", "out"]).ends(1).says(&["no engine"]);
    assert!(!folder.at("out/diagnosis.html").exists());
    folder.run(&["diagnose", "games.csa", "--by", "colour =="]).ends(2);
}

#[test]
fn numbers_of_figures_are_written_as_csv() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "600"]);
    let ran = folder.good(&["diagnose", "games.csa", "--bands", "50", "--out", "out", "--data"]);
    assert!(ran.out.contains("diagnosis-data"), "{}", ran.out);
    let figures = folder.text("out/diagnosis.html").matches("<svg ").count();
    let files: Vec<_> =
        std::fs::read_dir(folder.at("out/diagnosis-data")).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(files.len(), figures, "{files:?}");
    for file in files {
        let (head, rows) = csv(&std::fs::read_to_string(&file).unwrap());
        assert!(head.len() > 3 && !rows.is_empty(), "{} has no row", file.display());
    }
}

/// Hover and focus show the score, the win rate, its interval and, for observed points, their number.
#[test]
fn curves_can_be_read_off() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "600"]);
    folder.good(&["diagnose", "games.csa", "--bands", "50", "--out", "out"]);
    let html = folder.text("out/diagnosis.html");
    let labels: Vec<&str> = html.split("aria-label=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let (curves, others): (Vec<&str>, Vec<&str>) = labels.iter().partition(|label| label.starts_with("score "));
    let (points, fitted): (Vec<&str>, Vec<&str>) = curves.iter().partition(|label| label.contains("n = "));
    assert!(points.len() > 10 && fitted.len() > 10, "{labels:?}");
    // reliability diagrams, lines of several engines or groups, and forest plots
    for kind in ["forecast ", ", at ", "A: "] {
        assert!(others.iter().any(|label| label.contains(kind)), "no {kind} in {others:?}");
    }
    for label in curves {
        assert!(label.contains("win rate "), "{label}");
        // between equals a score of 0 is one half, without doubt
        if label == "score 0: fitted win rate 50.0%" {
            continue;
        }
        let (low, high) = label.split_once('[').and_then(|(_, rest)| rest.split_once(']')?.0.split_once(", ")).unwrap();
        let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
        assert!((0.0..=100.0).contains(&low) && low < high && high <= 100.0, "{label}");
    }
    assert_eq!(html.matches("<g tabindex=\"0\" role=\"img\"").count(), labels.len());
}

/// The page, the table and the figures in Japanese; JSON stays English.
#[test]
fn engines_on_the_same_positions_are_ranked() {
    let data = project_data("analysed/shogi.parquet");
    let folder = Folder::new();
    let run = |out: &str, language: &str| {
        folder.good(&["diagnose", &data, "--bands", "50", "--out", out, "--lang", language, "--data"]).out
    };
    let said = run("out", "en").replace('\n', " ");
    assert!(said.contains("GPSShogi judges best on the same 5,151 positions"), "{said}");
    let document = folder.json("out/diagnosis.json");
    let judges = &document["judges"];
    let places: Vec<&Value> = judges["engines"].as_array().unwrap().iter().map(|e| &e["places"]).collect();
    assert_eq!(places, [&serde_json::json!([1, 1]), &serde_json::json!([2, 2]), &serde_json::json!([3, 3])]);
    let by: Vec<&str> = judges["groups"].as_array().unwrap().iter().map(|g| g["by"].as_str().unwrap()).collect();
    assert_eq!(by, ["phase", "phase", "phase", "ply", "ply", "ply", "ply"]);
    // the best of three alone is as good as all together, and better than their mean
    let together = &judges["together"];
    let against = |which: &str, end: usize| together[which]["against_best"]["interval"][end].as_f64().unwrap();
    assert!(against("stacked", 0) < 0.0 && against("stacked", 1) > 0.0 && against("mean", 0) > 0.0, "{together}");
    let schema: Value = serde_json::from_str(&folder.good(&["schema", "diagnosis"]).out).unwrap();
    assert_eq!(missing(&schema, &schema, &document, "$"), Vec::<String>::new());
    let html = folder.text("out/diagnosis.html");
    well_formed(&html);
    assert!(html.contains("<details class=\"section\" id=\"judges\">"));
    let numbers = folder.text("out/diagnosis-data/Log loss behind GPSShogi on the same positions.csv");
    assert_eq!(numbers.lines().count(), 1 + 8 * 2);
    // the page of own games has no such section
    let own = project_data("selfplay");
    folder.good(&shipped(&own, "own"));
    assert!(folder.json("own/diagnosis.json")["judges"].is_null());
    assert!(!folder.text("own/diagnosis.html").contains("id=\"judges\""));
    assert!(run("ja", "ja").contains("最も正確なのは GPSShogi です"));
    let html = folder.text("ja/diagnosis.html");
    let judges = &html[html.find("id=\"judges\"").unwrap()..html.find("id=\"differ\"").unwrap()];
    for words in ["engine", "positions", "forecast", "weight", " the ", " of "] {
        assert!(!text_of(judges).any(|part| part.contains(words)), "'{words}'");
    }
}

#[test]
fn reports_speak_japanese() {
    let folder = Folder::new();
    folder.generate("games.csa", &["--games", "600"]);
    let chosen = folder.good(&["diagnose", "games.csa", "--bands", "50", "--out", "ja", "--lang", "ja"]);
    let by_locale = folder
        .command(&["diagnose", "games.csa", "--bands", "50", "--out", "locale"])
        .env_remove("LC_ALL")
        .env("LANG", "ja_JP.UTF-8")
        .output()
        .unwrap();
    assert_eq!(
        chosen.out.replace("ja/", ""),
        with_slashes(String::from_utf8(by_locale.stdout).unwrap()).replace("locale/", "")
    );
    let html = folder.text("ja/diagnosis.html");
    assert!(well_formed(&html) > 300 && html.contains("<html lang=\"ja\">"));
    let english = folder.good(&["diagnose", "games.csa", "--bands", "50", "--out", "en", "--lang", "en"]);
    assert!(english.out.contains("How sure?") && chosen.out.contains("確かさ"));
    assert_eq!(folder.text("en/diagnosis.json"), folder.text("ja/diagnosis.json"));
    // what remains in Latin letters are names, numbers, options and file names, which no sentence is made of
    for words in ["engine", "samples", "win rate", "score", "curve", "interval", " the ", " of ", "games "] {
        for part in text_of(&html) {
            let without_commands = part.replace("evalcurve", "").replace("--min-samples", "");
            assert!(!without_commands.contains(words), "'{words}' in: {part}");
        }
    }
    let table = folder.good(&["calibrate", "games.csa", "--no-plots", "--out", "out", "--lang", "ja"]);
    for words in ["対局", "標本", "判定", "較正ファイル"] {
        assert!(table.out.contains(words), "{}", table.out);
    }
    let inspected = folder.good(&["inspect", "games.csa", "--lang", "ja"]);
    assert!(inspected.out.contains("詰みのしきい値") && !inspected.out.contains("threshold"), "{}", inspected.out);
    folder.good(&["plot", "games.csa", "--out", "plots", "--lang", "ja"]);
    let figure = folder.text("plots/sigmoids.svg");
    assert!(figure.contains("評価値と勝率") && !figure.contains("win rate"), "{figure:.600}");
}

/// The texts between the tags of a page, without its style sheet and the names of fonts.
fn text_of(html: &str) -> impl Iterator<Item = &str> {
    let body = html.split_once("</style>").map_or(html, |(_, body)| body);
    body.split('>').filter_map(|part| part.split('<').next()).map(str::trim).filter(|text| !text.is_empty())
}

/// Where a document lacks a required field of the schema, or has an object that is neither allowed form.
fn missing(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        return missing(root, root.pointer(&name[1..]).expect("a definition"), value, path);
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        let found: Vec<Vec<String>> = forms.iter().map(|form| missing(root, form, value, path)).collect();
        return if found.iter().any(Vec::is_empty) { Vec::new() } else { found.into_iter().flatten().collect() };
    }
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("{other}"),
    };
    if schema["type"].as_str().is_some_and(|name| !is(name)) || schema.get("const").is_some_and(|c| c != value) {
        return vec![format!("{path} is {value:.60}")];
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut out: Vec<String> =
        required.filter(|name| value.get(name).is_none()).map(|name| format!("{path}.{name} is missing")).collect();
    for (name, form) in schema["properties"].as_object().into_iter().flatten() {
        out.extend(value.get(name).into_iter().flat_map(|v| missing(root, form, v, &format!("{path}.{name}"))));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate().filter(|_| schema.get("items").is_some()) {
        out.extend(missing(root, &schema["items"], item, &format!("{path}[{i}]")));
    }
    out
}

#[test]
fn the_document_has_the_form_of_its_schema() {
    let data = project_data("selfplay");
    let folder = Folder::new();
    let schema: Value = serde_json::from_str(&folder.good(&["schema", "diagnosis"]).out).unwrap();
    folder.good(&shipped(&data, "out"));
    let mut document = folder.json("out/diagnosis.json");
    assert_eq!(missing(&schema, &schema, &document, "$"), Vec::<String>::new());
    let unknown: Vec<_> =
        document.as_object().unwrap().keys().filter(|key| schema["properties"][*key].is_null()).collect();
    assert_eq!(unknown, Vec::<&String>::new(), "without a property in diagnosis/schema.json");
    // the reason why there is no value is an object with an error
    document["splits"][0]["test"] = serde_json::json!({ "error": "too few games" });
    assert_eq!(missing(&schema, &schema, &document, "$"), Vec::<String>::new());
    document["splits"][0]["test"] = serde_json::json!({ "Ok": {} });
    document["base"]["games"] = "many".into();
    document["engines"][0]["maximum_likelihood"] = serde_json::json!({ "w1": 1.0 });
    let found = missing(&schema, &schema, &document, "$").join("\n");
    for place in ["$.splits[0].test.any", "$.base.games", "$.engines[0].maximum_likelihood.w2"] {
        assert!(found.contains(place), "{place} is not in {found}");
    }
}
