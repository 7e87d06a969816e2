//! Runs every fuzz target over its committed corpus, and compares the lists of targets.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use evalcurve_testkit::fuzz::TARGETS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_target_keeps_its_promise_on_its_corpus() {
    let mut broken = Vec::new();
    for target in TARGETS {
        let folder = root().join("fuzz/corpus").join(target.name);
        let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        assert!(files.len() >= 3, "{}: the corpus has {} files", target.name, files.len());
        for file in files {
            let bytes = fs::read(&file).unwrap();
            if catch_unwind(AssertUnwindSafe(|| (target.run)(&bytes))).is_err() {
                broken.push(file.display().to_string());
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_target_has_a_program_a_dictionary_and_a_place_in_the_workflow() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let (manifest, workflow) = (read("fuzz/Cargo.toml"), read(".github/workflows/fuzz.yml"));
    let readme = read("fuzz/README.md");
    for target in TARGETS {
        let name = target.name;
        let program = format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(manifest.contains(&program), "fuzz/Cargo.toml: {name}");
        assert!(read(&format!("fuzz/fuzz_targets/{name}.rs")).contains("CARGO_BIN_NAME"), "{name}");
        assert!(!read(&format!("fuzz/dictionaries/{name}.dict")).is_empty(), "{name}");
        assert!(workflow.contains(&format!("- {name}\n")), ".github/workflows/fuzz.yml: {name}");
        assert!(readme.contains(&format!("| `{name}` |")), "fuzz/README.md: {name}");
        assert!(target.promise.len() > 20, "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}
