//! `--config FILE`: long options from a TOML file, as if they were given before the other options.
//!
//! ```toml
//! # calibrate.toml
//! min-samples = 300
//! mate-threshold = ["sjaakii=15000", "auto"]
//! strict = true
//! ```

use std::ffi::OsString;
use std::path::Path;

use anyhow::bail;
use clap::Command;
use evalcurve_words::text;
use evalcurve_words::text::shortened;
use evalcurve_words::whole_file::read_text;

use super::messages::About;

/// Inserts the options of the file given by `--config` after the subcommand. Those of the command line come later and
/// take precedence.
pub fn expand(arguments: Vec<OsString>, command: &Command) -> anyhow::Result<Vec<OsString>> {
    let Some(path) = config_path(&arguments) else { return Ok(arguments) };
    let path = Path::new(&path);
    let shown = path.display();
    let text = read_text(path).about(|| text!("{shown}: cannot read the configuration"))?;
    let table: toml::Table =
        toml::from_str(&text).map_err(|e| anyhow::anyhow!("{shown}: {}{}", quoted(&e.to_string()), remedy(&e)))?;
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
            bail!(text!("{shown}: '{key}' is not an option of `evalcurve {}`; see its --help", subcommand.get_name()));
        }
        for value in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice) {
            let shown_value = match value {
                toml::Value::Boolean(false) => continue,
                toml::Value::Boolean(true) => {
                    extra.push(format!("--{key}").into());
                    continue;
                }
                toml::Value::String(text) => text.clone(),
                toml::Value::Array(_) | toml::Value::Table(_) => {
                    bail!(text!("{shown}: '{key} = {value}' is not a valid value of an option"))
                }
                // Rust and TOML do not write all floats in the same way
                toml::Value::Float(x) => x.to_string(),
                other => other.to_string(),
            };
            extra.push(format!("--{key}={shown_value}").into());
        }
    }
    let mut all = arguments;
    let rest = all.split_off(at + 1);
    all.extend(extra);
    all.extend(rest);
    Ok(all)
}

/// A message whose quoted lines are not longer than a terminal shows.
fn quoted(message: &str) -> String {
    message.trim().lines().map(|line| shortened(line, 200)).collect::<Vec<_>>().join("\n")
}

/// The remedy for a Windows path in double quotes, in which TOML takes backslashes for escapes.
fn remedy(error: &toml::de::Error) -> &'static str {
    let escape = error.message().contains("escape") || error.message().contains("unicode");
    if escape { "; write a Windows path in single quotes, in which a backslash has no meaning" } else { "" }
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
