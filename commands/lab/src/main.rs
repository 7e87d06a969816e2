//! The `evalcurve-lab` program: the theory of councils, simulated councils, play-outs, and the protocol of 2009.

use std::process::ExitCode;

use evalcurve_app::cli::{Program, Services};

fn main() -> ExitCode {
    PROGRAM.main()
}

/// The program.
const PROGRAM: Program = Program {
    name: "evalcurve-lab",
    about: evalcurve_words::key!("Computes and simulates what the papers on councils of game engines say."),
    after_help: evalcurve_words::key!(
        "\
Examples:
  evalcurve-lab theory plurality --voters 3 --probabilities .4,.3,.3
      how often a plurality of three voters is right
  evalcurve-lab simulate --help
      which rule finds the best move
  evalcurve-lab serve --help
      a council whose members connect over TCP (Hanawa & Ito 2009)

Exit codes: 0 success; 2 errors in usage, input or output."
    ),
    flats: &[evalcurve_lab::cli::FLAT],
    services: Services::NONE,
    assumed: None,
};
