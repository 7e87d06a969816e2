//! The `evalcurve` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    evalcurve::PROGRAM.main()
}
