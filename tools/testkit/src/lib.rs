//! Test tools of evalcurve, never shipped: records that follow a known evaluation curve, a scripted engine with faults
//! on demand, an engine for 5x5 shogi, councils whose members fail, a simulation of the coverage of intervals, and the
//! bodies of fuzz targets.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

pub mod agreement;
pub mod attack;
pub mod coverage;
pub mod coverage_figure;
pub mod faults;
pub mod fuzz;
pub mod generate;
pub mod minishogi;
pub mod odd;
pub mod odd_values;
pub mod order;
pub mod scripted;
pub mod signals;
pub mod torture;
pub mod write_csa;

/// The path of the program `evalcurve-testkit`, as [`program_of`] finds it.
pub fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| program_of("evalcurve-testkit"))
}

/// The path of a program of the workspace, in the profile of the calling test or bench.
///
/// `cargo test` in the workspace builds it. If it is missing, for example because only one test target was built, it is
/// built here.
///
/// # Panics
/// The program cannot be built; the message contains cargo's output.
#[allow(clippy::expect_used)]
pub fn program_of(name: &str) -> String {
    // target/PROFILE/deps/TEST
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).expect("target/PROFILE");
    let program = profile.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        build(profile, name);
    }
    program.to_string_lossy().into_owned()
}

#[allow(clippy::expect_used)]
fn build(profile: &Path, name: &str) {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--locked", "--package", name, "--bin", name, "--target-dir"]);
    cargo.arg(profile.parent().expect("target")).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo.output().expect("cargo starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}
