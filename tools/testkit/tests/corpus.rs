//! Runs every fuzz target over its committed corpus, and compares the lists of targets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use evalcurve_testkit::fuzz::TARGETS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The inputs of each target with their names.
fn corpus() -> BTreeMap<String, Vec<(String, Vec<u8>)>> {
    let packed = fs::File::open(root().join("fuzz/corpus.tar.gz")).unwrap();
    let mut targets: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(packed)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let target = name.split('/').nth(1).unwrap().to_owned();
        targets.entry(target).or_default().push((name, bytes));
    }
    targets
}

#[test]
fn every_target_keeps_its_promise_on_its_corpus() {
    let corpus = corpus();
    assert!(corpus.keys().all(|name| TARGETS.iter().any(|target| target.name == name)), "{:?}", corpus.keys());
    let mut broken = Vec::new();
    for target in TARGETS {
        let inputs = corpus.get(target.name).map_or(&[][..], Vec::as_slice);
        assert!(inputs.len() >= 3, "{}: the corpus has {} files", target.name, inputs.len());
        for (name, bytes) in inputs {
            if catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))).is_err() {
                broken.push(name.as_str());
            }
        }
    }
    assert!(broken.is_empty(), "{} (`cargo xtask corpus unpack` writes them)", broken.join("\n"));
}

#[test]
fn every_target_has_a_program_a_dictionary_and_a_place_in_the_workflow() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let (manifest, workflow) = (read("fuzz/Cargo.toml"), read(".github/workflows/fuzz.yml"));
    let runs = read("fuzz/runs.md");
    for target in TARGETS {
        let name = target.name;
        let program = format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(manifest.contains(&program), "fuzz/Cargo.toml: {name}");
        assert!(read(&format!("fuzz/fuzz_targets/{name}.rs")).contains("CARGO_BIN_NAME"), "{name}");
        assert!(!read(&format!("fuzz/dictionaries/{name}.dict")).is_empty(), "{name}");
        assert!(workflow.contains(&format!("- {name}\n")), ".github/workflows/fuzz.yml: {name}");
        assert!(runs.contains(&format!("| `{name}` |")), "fuzz/runs.md: {name}");
        assert!(target.promise.len() > 20, "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}
