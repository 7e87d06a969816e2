//! The test tools as a program. With this test, `cargo test` builds the program for the tests of the other packages.

use std::process::Command;

#[test]
fn generated_records_depend_on_the_seed_alone() {
    let folder = std::env::temp_dir().join(format!("evalcurve-testkit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let generate = |name: &str, seed: &str| {
        let out = folder.join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_evalcurve-testkit"));
        command.args(["generate", "--games", "3", "--seed", seed, "--out"]).arg(&out);
        assert!(command.status().unwrap().success());
        std::fs::read(out).unwrap()
    };
    let first = generate("first.csa", "1");
    assert!(!first.is_empty());
    assert_eq!(first, generate("again.csa", "1"));
    assert_ne!(first, generate("other.csa", "2"));
    std::fs::remove_dir_all(folder).unwrap();
}
