//! `--config FILE`: long options from a TOML file, as if they stood on the command line before the others.
//!
//! ```toml
//! # calibrate.toml
//! min-samples = 300
//! mate-threshold = ["sjaakii=15000", "auto"]
//! strict = true
//! ```

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, bail};
use clap::Command;

/// Puts the options of the file that `--config` names behind the subcommand. The command line's own come last and win.
pub(super) fn expand(arguments: Vec<OsString>, command: &Command) -> anyhow::Result<Vec<OsString>> {
    let Some(path) = config_path(&arguments) else { return Ok(arguments) };
    let path = Path::new(&path);
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("{shown}: cannot read the configuration"))?;
    let table: toml::Table = toml::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|e| anyhow::anyhow!("{shown}: {}", e.to_string().trim()))?;
    let at = arguments
        .iter()
        .position(|a| a.to_str().is_some_and(|a| command.find_subcommand(a).is_some()))
        .unwrap_or(arguments.len());
    let Some(subcommand) = arguments.get(at).and_then(|a| a.to_str()).and_then(|a| command.find_subcommand(a)) else {
        return Ok(arguments);
    };
    let mut extra: Vec<OsString> = Vec::new();
    for (key, value) in &table {
        let known = subcommand.get_arguments().any(|a| a.get_long() == Some(key)) && key != "config";
        if !known {
            bail!("{shown}: '{key}' is not an option of `evalcurve {}`; see its --help", subcommand.get_name());
        }
        let mut add = |value: &toml::Value| -> anyhow::Result<()> {
            match value {
                toml::Value::Boolean(true) => extra.push(format!("--{key}").into()),
                toml::Value::Boolean(false) => {}
                toml::Value::String(s) => extra.push(format!("--{key}={s}").into()),
                toml::Value::Integer(n) => extra.push(format!("--{key}={n}").into()),
                toml::Value::Float(x) => extra.push(format!("--{key}={x}").into()),
                toml::Value::Datetime(d) => extra.push(format!("--{key}={d}").into()),
                other => bail!("{shown}: '{key} = {other}' is not a value of an option"),
            }
            Ok(())
        };
        match value {
            toml::Value::Array(values) => values.iter().try_for_each(&mut add)?,
            one => add(one)?,
        }
    }
    let mut all = arguments;
    let rest = all.split_off(at + 1);
    all.extend(extra);
    all.extend(rest);
    Ok(all)
}

fn config_path(arguments: &[OsString]) -> Option<OsString> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if text == "--" {
            return None;
        }
        if text == "--config" {
            return arguments.next().cloned();
        }
        if let Some(path) = text.strip_prefix("--config=") {
            return Some(path.into());
        }
    }
    None
}
