//! Runs a council from a configuration file, with standard input and output as its GUI.
//!
//! ```text
//! cargo run -p evalcurve-council --example council -- examples/chess.toml
//! ```

use std::error::Error;
use std::path::Path;

use evalcurve_council::{Config, run};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os().nth(1).ok_or("usage: council CONFIG.toml")?;
    let config = Config::read(Path::new(&file))?;
    eprintln!("{}: {} members, rule {}", config.name, config.engines.len(), config.rule);
    run(config, std::io::stdin(), std::io::stdout())?;
    Ok(())
}
