//! Rules about the manifests of the workspace. Clippy, cargo-deny (`deny.toml`) and `.ci/run` check the others.

use std::fs;
use std::path::PathBuf;

use crate::support::root;

/// The members of the workspace below `crates`, as (name of the folder, folder).
fn crates() -> Vec<(String, PathBuf)> {
    let mut found: Vec<_> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| (folder.file_name().unwrap().to_string_lossy().into_owned(), folder))
        .collect();
    found.sort();
    assert!(found.len() >= 5, "only {} crates", found.len());
    found
}

/// The names of the dependencies in one section of a manifest, and in the same section of its targets.
fn dependencies(manifest: &str, section: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            let name = line.trim_matches(['[', ']']);
            inside = name == section || (name.starts_with("target.") && name.ends_with(&format!(".{section}")));
        } else if inside && line.starts_with(char::is_alphanumeric) {
            found.push(line.split(['=', '.', ' ']).next().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn dependencies_are_found_in_a_manifest() {
    let manifest = "[dependencies]\na.workspace = true\nb = \"1\"\n# c\n\n[dev-dependencies]\nd = \"1\"\n\n\
                    [target.'cfg(unix)'.dependencies]\ne.workspace = true\n";
    assert_eq!(dependencies(manifest, "dependencies"), ["a", "b", "e"]);
    assert_eq!(dependencies(manifest, "dev-dependencies"), ["d"]);
}

/// The crates form layers: what a GUI embeds, core, and those that depend only on core. Play lets the engines of
/// council play, and counts as records does; analyse asks the engines of council. The root package and the testkit
/// combine them; the Python package and the page in the browser show the root package to others.
#[test]
fn crates_depend_on_lower_layers_only() {
    for (name, folder) in crates() {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let all = dependencies(&manifest, "dependencies");
        let own: Vec<_> = all.iter().filter(|d| d.starts_with("evalcurve")).map(String::as_str).collect();
        match name.as_str() {
            "testkit" => assert!(manifest.contains("publish = false"), "the testkit is never shipped"),
            "calibration" | "text-macro" | "xtask" => assert!(own.is_empty(), "{name} depends on {own:?}"),
            "core" => assert_eq!(own, ["evalcurve-calibration", "evalcurve-text-macro"], "core"),
            "analyse" => assert_eq!(own, ["evalcurve-core", "evalcurve-council"], "analyse"),
            "python" | "web" => assert_eq!(own, ["evalcurve"], "{name} has what the library has"),
            "play" => assert_eq!(own, ["evalcurve-core", "evalcurve-council", "evalcurve-records"], "play"),
            _ => assert_eq!(own, ["evalcurve-core"], "dependencies of {name}"),
        }
        // a GUI or an engine embeds them: no archives, no encodings, no tables, no figures, no command line
        for heavy in ["clap", "encoding_rs", "plotters", "polars", "resvg", "sevenz-rust2", "tar", "zip", "zstd"] {
            let embedded = name == "calibration" || name == "core";
            assert!(!embedded || !all.iter().any(|d| d == heavy), "{name} depends on {heavy}");
        }
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name}: the lints of the workspace");
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(!dependencies(&manifest, "dependencies").iter().any(|d| d == "evalcurve-testkit"));
}
