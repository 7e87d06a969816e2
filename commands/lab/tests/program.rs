//! The program itself; what its commands compute is tested with the program `evalcurve` (tests/program).

#![allow(clippy::unwrap_used)]

use std::process::Command;

#[test]
fn the_program_lists_its_commands() {
    let ran = Command::new(env!("CARGO_BIN_EXE_evalcurve-lab")).arg("--help").output().unwrap();
    let help = String::from_utf8(ran.stdout).unwrap();
    for command in ["theory", "simulate", "serve", "join", "schema", "completions", "man"] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
    }
}
