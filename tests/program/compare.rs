//! `evalcurve compare`: detects that a scale has moved, and reports it by the exit code.

use serde_json::Value;

use crate::support::Folder;

/// Writes calibrations of one engine with this w1 into `NAME/A.json`.
fn calibrate(folder: &Folder, name: &str, w1: &str, games: &str, seed: &str) -> String {
    let file = format!("{name}.csa");
    let truth = format!("A:{w1}:0.1");
    let engines = ["--engine", &truth, "--engine", "B:0.002:0"];
    folder.generate(&file, &[&engines[..], &["--games", games, "--seed", seed]].concat());
    folder.good(&["calibrate", &file, "--out", name, "--no-plots", "--quiet"]);
    format!("{name}/A.json")
}

#[test]
fn a_scale_that_moves_ends_with_1() {
    let folder = Folder::new();
    let old = calibrate(&folder, "old", "0.002", "6000", "1");
    let same = calibrate(&folder, "same", "0.002", "6000", "2");
    let moved = calibrate(&folder, "moved", "0.003", "3000", "3");
    let few = calibrate(&folder, "few", "0.0024", "60", "5");

    let ran = folder.good(&["compare", &old, &same, "--tolerance", "15%"]);
    assert!(ran.out.contains("old wins") && !ran.out.contains("the scale moved"), "{}", ran.out);
    let ran = folder.run(&["compare", &old, &moved, "--tolerance", "15"]).ends(1);
    assert!(ran.out.contains("the scale moved by more than 15%: w1 changed by +"), "{}", ran.out);
    // within the tolerance, and compatible with chance
    folder.good(&["compare", &old, &moved, "--tolerance", "200"]);
    let ran = folder.run(&["compare", &old, &few, "--json"]).ends(3);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["verdict"], "unclear", "{document:#}");
    assert!(document["sentence"].as_str().unwrap().contains("times as many games would tell"), "{document:#}");
    assert!(folder.run(&["compare", &old, &moved, "--quiet"]).ends(1).out.is_empty());

    let ran = folder.run(&["compare", &old, &moved, "--json", "--score", "-300", "--score", "300"]).ends(1);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["verdict"], "moved");
    let change = &document["change_percent"];
    let number = |v: &Value| v.as_f64().unwrap();
    assert!(number(&change["interval"][0]) < 50.0 && 50.0 < number(&change["interval"][1]), "{change}");
    assert!(number(&document["same_w1"]["p"]) < 1e-6);
    let at: Vec<f64> = document["at"].as_array().unwrap().iter().map(|a| number(&a["score_cp"])).collect();
    assert_eq!(at, [-300.0, 300.0]);
    for a in document["at"].as_array().unwrap() {
        assert!((number(&a["new"]) - number(&a["old"]) - number(&a["difference"]["value"])).abs() < 1e-12);
    }
}

#[test]
fn what_cannot_be_compared_ends_with_2() {
    let folder = Folder::new();
    let old = calibrate(&folder, "old", "0.002", "200", "1");
    folder.run(&["compare", &old, "nowhere.json"]).ends(2).says(&["nowhere.json"]);
    folder.run(&["compare", &old, &old, "--tolerance", "0"]).ends(2).says(&["a tolerance of 0% is not valid"]);
    folder.run(&["compare", &old, &old, "--tolerance", "-5"]).ends(2);
    folder.good(&["compare", &old, &old]).says(&["the same samples"]);
    let ran = folder.good(&["compare", &old, &old, "--lang", "ja", "--summary", "page.md"]).says(&["同じ標本"]);
    assert!(ran.out.contains("尺度の変化は 10% 以内: w1 の変化 0.0%(区間なし: 標本が同じ)"), "{}", ran.out);
    let page = folder.text("page.md");
    assert!(page.contains("の尺度: 変化なし") && !page.contains("score") && !page.contains("wins"), "{page}");
}

/// The page of a CI run shows the name of an engine as it is, whatever Markdown or HTML it would be.
#[test]
fn names_are_no_markdown() {
    let folder = Folder::new();
    let old = calibrate(&folder, "old", "0.002", "200", "1");
    let mut file: Value = folder.json(&old);
    let name = "![x](http://evil/p.png)<script>|`$a$`*b* @me www.evil.org \\ C-3\n# H\u{1b}[31m";
    file["engine"]["name"] = name.into();
    folder.write("hostile.json", file.to_string());
    folder.good(&["compare", "hostile.json", "hostile.json", "--summary", "page.md"]);
    let page = folder.text("page.md");
    let heading = "## Scale of \\!\\[x\\]\\(http\\:\\/\\/evil\\/p\\.png\\)\\<script\\>\\|\\`\\$a\\$\\`\\*b\\* \\@me \
                   www\\.evil\\.org \\\\ C-3\u{fffd}\\# H\u{fffd}\\[31m: the scale did not move\n";
    assert!(page.starts_with(heading), "{page}");
    assert!(!page.replace("\\<", "").contains('<') && !page.contains("](") && !page.contains('\u{1b}'), "{page}");
}

/// Files that chose one model are compared by it; the names of two engines are said.
#[test]
fn two_engines_are_no_two_versions() {
    let folder = Folder::new();
    let old = calibrate(&folder, "old", "0.002", "1000", "1");
    let ran = folder.run(&["compare", &old, "old/B.json"]);
    assert!(
        ran.out.starts_with("old A, new B, by all engines together, between equals\nold   w1 · 1000 "),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("w2"), "{}", ran.out);
    ran.says(&["the files are of A and B: if these are not versions of one engine"]);
    let ran = folder.run(&["compare", &old, &old, "--model", "maximum-likelihood"]);
    assert!(
        ran.out.starts_with("A, by sigmoid by maximum likelihood, against the opponents of each file\n"),
        "{}",
        ran.out
    );
    folder.good(&["calibrate", "old.csa", "--out", "ml", "--model", "mle", "--no-plots", "--quiet"]);
    let ran = folder.run(&["compare", &old, "ml/A.json"]);
    ran.says(&[
        "the chosen models are all engines together and sigmoid by maximum likelihood: compared by sigmoid by maximum",
    ]);
    // an alias is the same engine
    let alias = ["--alias", "A = A2", "--engine", "A2", "--no-plots", "--quiet", "--out", "alias"];
    folder.good(&[&["calibrate", "old.csa"][..], &alias].concat());
    let ran = folder.run(&["compare", &old, "alias/A2.json"]);
    assert!(!ran.err.contains("the files are of"), "{}", ran.err);
}
