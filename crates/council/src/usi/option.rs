//! Options of an engine: names, types and ranges.

use std::fmt;

/// The type of an option, with its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Check,
    /// A whole number in a range, ends included.
    Spin {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// One of several words.
    Combo {
        /// The words.
        choices: Vec<String>,
    },
    /// Something to press; it has no value.
    Button,
    /// Text.
    Text,
    /// The name of a file.
    Filename,
}

/// An option as an engine declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionSpec {
    /// Its name; may hold blanks.
    pub name: String,
    /// Its type.
    pub kind: OptionKind,
    /// The value that it has unless another is set.
    pub default: Option<String>,
}

impl OptionSpec {
    /// Reads what follows the word `option`; `None` where name or type are missing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut name = Vec::new();
        let (mut kind, mut default, mut min, mut max) = (None, None, None, None);
        let mut choices: Vec<Vec<&str>> = Vec::new();
        let mut field = "";
        for word in text.split_whitespace() {
            match word {
                "name" if field.is_empty() => field = "name",
                "type" | "default" | "min" | "max" if field != word => {
                    field = word;
                    if word == "default" {
                        default = Some(Vec::new());
                    }
                }
                "var" => {
                    field = "var";
                    choices.push(Vec::new());
                }
                value => match field {
                    "name" => name.push(value),
                    "type" => kind = kind.or(Some(value)),
                    "default" => default.iter_mut().for_each(|d: &mut Vec<&str>| d.push(value)),
                    "min" => min = min.or(value.parse().ok()),
                    "max" => max = max.or(value.parse().ok()),
                    "var" => choices.iter_mut().last().into_iter().for_each(|c| c.push(value)),
                    _ => {}
                },
            }
        }
        if name.is_empty() {
            return None;
        }
        let kind = match kind? {
            "check" => OptionKind::Check,
            "spin" => OptionKind::Spin { min: min.unwrap_or(i64::MIN), max: max.unwrap_or(i64::MAX) },
            "combo" => OptionKind::Combo { choices: choices.iter().map(|c| c.join(" ")).collect() },
            "button" => OptionKind::Button,
            "string" => OptionKind::Text,
            "filename" => OptionKind::Filename,
            _ => return None,
        };
        Some(Self { name: name.join(" "), kind, default: default.map(|d| d.join(" ")) })
    }

    /// Why a value does not fit, with the range that it should have.
    ///
    /// # Errors
    /// The remedy in words.
    pub fn check(&self, value: &str) -> Result<(), String> {
        let refuse = |remedy: String| Err(format!("option '{}' is '{value}'; {remedy}", self.name));
        match &self.kind {
            OptionKind::Check if value != "true" && value != "false" => refuse("write true or false".to_owned()),
            OptionKind::Spin { min, max } if !value.parse().is_ok_and(|n: i64| (*min..=*max).contains(&n)) => {
                refuse(format!("write a whole number from {min} to {max}"))
            }
            OptionKind::Combo { choices } if !choices.iter().any(|c| c.eq_ignore_ascii_case(value)) => {
                refuse(format!("write one of {}", choices.join(", ")))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for OptionSpec {
    /// The line that declares it, from `option` on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match &self.kind {
            OptionKind::Check => "check",
            OptionKind::Spin { .. } => "spin",
            OptionKind::Combo { .. } => "combo",
            OptionKind::Button => "button",
            OptionKind::Text => "string",
            OptionKind::Filename => "filename",
        };
        write!(f, "option name {} type {word}", self.name)?;
        if let Some(default) = &self.default {
            // an empty text is written so that the line can be read again
            write!(f, " default {}", if default.is_empty() { "<empty>" } else { default })?;
        }
        match &self.kind {
            OptionKind::Spin { min, max } => {
                if *min != i64::MIN {
                    write!(f, " min {min}")?;
                }
                if *max != i64::MAX {
                    write!(f, " max {max}")?;
                }
            }
            OptionKind::Combo { choices } => choices.iter().try_for_each(|c| write!(f, " var {c}"))?,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_are_read_and_written_again() {
        for line in [
            "option name Threads type spin default 1 min 1 max 512",
            "option name Clear Hash type button",
            "option name Style type combo default Normal Play var Solid var Normal Play var Risky",
            "option name Ponder type check default false",
            "option name Book File type filename default <empty>",
            "option name Book Name type string default a b",
        ] {
            let spec = OptionSpec::parse(line.strip_prefix("option").unwrap()).unwrap();
            assert_eq!(OptionSpec::parse(spec.to_string().strip_prefix("option").unwrap()), Some(spec), "{line}");
        }
        let style = OptionSpec::parse(" name Style type combo default Normal Play var Solid var Normal Play").unwrap();
        assert_eq!(style.to_string(), "option name Style type combo default Normal Play var Solid var Normal Play");
        assert!(OptionSpec::parse(" name X type what").is_none());
        assert!(OptionSpec::parse(" type check").is_none());
    }

    #[test]
    fn values_are_checked() {
        let spin = OptionSpec::parse("name Hash type spin default 16 min 1 max 64").unwrap();
        assert_eq!(spin.check("65").unwrap_err(), "option 'Hash' is '65'; write a whole number from 1 to 64");
        assert!(spin.check("64").is_ok() && spin.check("x").is_err());
        let check = OptionSpec::parse("name Ponder type check default true").unwrap();
        assert!(check.check("yes").is_err() && check.check("false").is_ok());
    }
}
