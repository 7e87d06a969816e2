//! Rules about the manifests of the workspace. Clippy, cargo-deny (`deny.toml`) and `.ci/run` check the others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::root;

/// The members of the workspace below a folder, as (name of the folder, manifest).
fn crates(below: &str) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(root().join(below))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            (folder.file_name().unwrap().to_string_lossy().into_owned(), manifest)
        })
        .collect();
    found.sort();
    assert!(found.len() >= 3, "only {} crates in {below}", found.len());
    found
}

/// The crates of this workspace that a manifest names, in any section.
fn own_dependencies(manifest: &str) -> Vec<String> {
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let all = sections.iter().flat_map(|section| dependencies(manifest, section));
    all.filter_map(|name| name.strip_prefix("evalcurve-").map(str::to_owned)).collect()
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

/// The sources below a folder.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => fs::read_to_string(&path).unwrap_or_default(),
    };
    entries.map(text).collect()
}

/// A build on one system does not notice a crate that is missing on others.
#[test]
fn crates_for_some_systems_are_in_the_manifests_that_need_them() {
    let all: Vec<(PathBuf, String)> = ["crates", "commands"]
        .iter()
        .flat_map(|below| {
            crates(below).into_iter().map(move |(name, manifest)| (root().join(below).join(name), manifest))
        })
        .collect();
    let (mut of_systems, mut used) = (BTreeSet::new(), 0);
    for (_, manifest) in &all {
        let begin = manifest.find("[target.").unwrap_or(manifest.len());
        of_systems.extend(dependencies(&manifest[begin..], "dependencies"));
    }
    assert!(of_systems.contains("same-file") && of_systems.contains("win32job"), "{of_systems:?}");
    for (folder, manifest) in &all {
        let (text, own) = (sources(&folder.join("src")), dependencies(manifest, "dependencies"));
        for name in &of_systems {
            if text.contains(&format!("{}::", name.replace('-', "_"))) {
                used += 1;
                assert!(own.contains(name), "{} needs {name}", folder.display());
            }
        }
    }
    assert!(used >= 3, "{used}");
}

#[test]
fn dependencies_are_found_in_a_manifest() {
    let manifest = "[dependencies]\na.workspace = true\nb = \"1\"\n# c\n\n[dev-dependencies]\nd = \"1\"\n\n\
                    [target.'cfg(unix)'.dependencies]\ne.workspace = true\n";
    assert_eq!(dependencies(manifest, "dependencies"), ["a", "b", "e"]);
    assert_eq!(dependencies(manifest, "dev-dependencies"), ["d"]);
}

/// The base knows no command, and a command knows no other: each can be read, built, tested and left out alone. The
/// tools combine all of them and are never shipped.
#[test]
fn commands_depend_on_the_base_alone() {
    let commands: Vec<String> = crates("commands").into_iter().map(|(name, _)| name).collect();
    for (name, manifest) in [crates("crates"), crates("commands")].concat() {
        assert!(manifest.contains(&format!("name = \"evalcurve-{name}\"")), "{name}: the package is named otherwise");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name}: the lints of the workspace");
        for own in own_dependencies(&manifest) {
            assert!(own == name || !commands.contains(&own), "{name} depends on the command {own}");
            assert!(own != "testkit", "{name} depends on the testkit");
        }
        assert!(!dependencies(&manifest, "dependencies").iter().any(|name| name == "evalcurve"), "{name}: the program");
    }
    for name in ["testkit", "xtask"] {
        let manifest = fs::read_to_string(root().join("tools").join(name).join("Cargo.toml")).unwrap();
        assert!(manifest.contains("publish = false"), "{name} is never shipped");
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(!dependencies(&manifest, "dependencies").iter().any(|d| d == "evalcurve-testkit"));
}

/// The base forms layers: what a GUI embeds, words, fits and rules; readers and engines above them.
#[test]
fn crates_depend_on_lower_layers_only() {
    let layers = [
        ("calibration", &["calibration"][..]),
        ("words", &["calibration", "text-macro"]),
        ("fit", &["calibration", "words"]),
        ("rules", &["calibration", "fit", "words"]),
        ("figures", &["calibration", "fit", "words"]),
        ("records", &["calibration", "fit", "rules", "words"]),
        ("engine", &["calibration", "rules", "words"]),
        ("tables", &["calibration", "fit", "records", "words"]),
        ("app", &["calibration", "data", "engine", "figures", "fit", "records", "rules", "tables", "words"]),
    ];
    for (name, below) in layers {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        for own in own_dependencies(&manifest) {
            assert!(below.contains(&own.as_str()), "{name} depends on {own}");
        }
        // a GUI or an engine embeds them: no archives, no encodings, no tables, no figures, no command line
        let all = dependencies(&manifest, "dependencies");
        for heavy in ["clap", "encoding_rs", "plotters", "polars", "resvg", "sevenz-rust2", "tar", "zip", "zstd"] {
            let embedded = ["calibration", "words", "fit", "rules", "engine"].contains(&name);
            assert!(!embedded || !all.iter().any(|d| d == heavy), "{name} depends on {heavy}");
        }
    }
}

/// Nobody runs a release or an image on every commit, so a file that has moved would be missed late.
#[test]
fn workflows_name_files_that_exist() {
    let made = ["fuzz/artifacts"];
    let folders: Vec<String> =
        fs::read_dir(root()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    let mut found = 0;
    let workflows = ["ci.yml", "fuzz.yml", "release.yml"].map(|name| format!(".github/workflows/{name}"));
    for file in workflows.iter().map(String::as_str).chain(["Dockerfile", ".ci/python", ".ci/run"]) {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let words = text.split(|c: char| c.is_whitespace() || "\"'`=:(),;|&<>{}[]".contains(c));
        let paths = words.map(|word| word.trim_end_matches('.').trim_start_matches("./"));
        let is_ours = |word: &&str| {
            let first = word.split_once('/').map_or("", |(first, _)| first);
            first != "target" && folders.iter().any(|name| name == first) && !word.contains(['*', '$', '\\'])
        };
        for path in paths.filter(is_ours).filter(|path| !made.contains(path)) {
            assert!(root().join(path).exists(), "{file} names {path}");
            found += 1;
        }
    }
    assert!(found > 8, "{found}");
}
