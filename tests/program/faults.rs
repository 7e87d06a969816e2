//! Faults on purpose, in a short form; docs/testing.md has the commands of the whole tests. Linux only.

use std::process::Command;

use serde_json::Value;

/// Runs the testkit, whose report must be without problems.
fn report(arguments: &[&str]) -> Value {
    let ran = Command::new(evalcurve_testkit::program()).args(arguments).output().unwrap();
    let [out, err] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(ran.status.success(), "{out}{err}");
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"))
}

#[test]
fn a_call_that_fails_leaves_whole_files_and_a_message() {
    let arguments = ["faults", "sample", "calibrate", "play", "council", "--every", "11", "--kills", "8"];
    let program = ["--program", env!("CARGO_BIN_EXE_evalcurve")];
    let report = report(&[&arguments[..], &program].concat());
    for (name, scene) in report.as_object().unwrap() {
        let count = |key: &str| scene[key].as_u64().unwrap();
        // each scene reads and writes files, and stops for a fault
        assert!(count("calls") > 10 && count("errors") > 0 && count("kills") > 0, "{name}: {scene}");
    }
}

/// Valid inputs with odd contents; the seed decides them.
#[test]
fn odd_inputs_give_finite_numbers_and_the_same_bytes() {
    let folder = crate::support::Folder::new();
    let at = folder.at("odd");
    let arguments = ["odd", "--cases", "6", "--engines", "60", "--folder", at.to_str().unwrap()];
    let report = report(&[&arguments[..], &["--program", env!("CARGO_BIN_EXE_evalcurve")]].concat());
    assert!(report["runs"].as_u64() > Some(100) && report["calibrations"].as_u64() > Some(10), "{report}");
}

#[test]
fn no_engine_survives_its_council() {
    let report = report(&["signals", "--runs", "3"]);
    let signals: Vec<u64> = report.as_array().unwrap().iter().map(|one| one["signal"].as_u64().unwrap()).collect();
    // after nohup, 1 and 2 are ignored
    assert!(signals.ends_with(&[9, 15]), "{signals:?}");
}
