//! Engine options: names, types and ranges.

use std::fmt;

use evalcurve_words::language::Text;
use evalcurve_words::text;
use strum::{EnumString, IntoStaticStr};

/// The type of an option, with its range.
#[derive(Debug, Clone, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum OptionKind {
    /// `true` or `false`.
    Check,
    /// A whole number in a closed range.
    Spin {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// One of several words.
    Combo {
        /// The words.
        choices: Vec<String>,
    },
    /// A button, which has no value.
    Button,
    #[strum(serialize = "string")]
    Text,
    /// A file name.
    Filename,
}

/// An option as an engine declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionSpec {
    /// The name, which may contain spaces.
    pub name: String,
    /// The type.
    pub kind: OptionKind,
    pub default: Option<String>,
}

impl OptionSpec {
    /// Parses what follows the word `option`; `None` if name or type are missing.
    pub fn parse(text: &str) -> Option<Self> {
        // every field is a part of the line, since names and paths may contain blanks of any kind
        let mut fields: Vec<(&str, &str)> = Vec::new();
        let mut rest = text.trim();
        let mut value = rest;
        while !rest.is_empty() {
            let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let field = fields.last().map_or("", |(field, _)| *field);
            let begins = match word {
                "name" => field.is_empty(),
                "type" | "min" | "max" | "default" => field != word,
                _ => word == "var",
            };
            if begins {
                if let Some((_, last)) = fields.last_mut() {
                    *last = value[..value.len() - rest.len()].trim();
                }
                fields.push((word, ""));
                value = after;
            }
            rest = after.trim_start();
        }
        if let Some((_, last)) = fields.last_mut() {
            *last = value.trim();
        }
        let all = |wanted| fields.iter().filter(move |(field, _)| *field == wanted).map(|(_, value)| *value);
        let name = all("name").next().filter(|name| !name.is_empty())?.to_owned();
        let number = |field| all(field).find_map(|text| text.split_whitespace().find_map(|word| word.parse().ok()));
        let mut kind = all("type").next()?.split_whitespace().next()?.parse().ok()?;
        match &mut kind {
            OptionKind::Spin { min, max } => {
                (*min, *max) = (number("min").unwrap_or(i64::MIN), number("max").unwrap_or(i64::MAX));
            }
            OptionKind::Combo { choices } => *choices = all("var").map(str::to_owned).collect(),
            _ => {}
        }
        Some(Self { name, kind, default: all("default").next_back().map(str::to_owned) })
    }

    /// Checks a value against the type and the range.
    ///
    /// # Errors
    /// Names the value and the values that are valid.
    pub fn check(&self, value: &str) -> Result<(), Text> {
        let remedy = match &self.kind {
            OptionKind::Check if value != "true" && value != "false" => text!("write true or false"),
            OptionKind::Spin { min, max } if !value.parse().is_ok_and(|n: i64| (*min..=*max).contains(&n)) => {
                text!("write a whole number from {min} to {max}")
            }
            OptionKind::Combo { choices } if !choices.iter().any(|c| c.eq_ignore_ascii_case(value)) => {
                let choices = choices.join(", ");
                text!("write one of {choices}")
            }
            _ => return Ok(()),
        };
        Err(text!("option '{}' is '{value}'; {remedy}", self.name))
    }
}

impl fmt::Display for OptionSpec {
    /// The line that declares the option, starting with `option`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option name {} type {}", self.name, <&str>::from(&self.kind))?;
        if let Some(default) = &self.default {
            // an empty default would make the line unreadable
            write!(f, " default {}", if default.is_empty() { "<empty>" } else { default })?;
        }
        match &self.kind {
            OptionKind::Spin { min, max } => {
                let bounds = [("min", min, i64::MIN), ("max", max, i64::MAX)];
                let mut given = bounds.into_iter().filter(|(_, value, unbounded)| *value != unbounded);
                given.try_for_each(|(name, value, _)| write!(f, " {name} {value}"))
            }
            OptionKind::Combo { choices } => choices.iter().try_for_each(|c| write!(f, " var {c}")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_round_trip() {
        for line in [
            "option name Threads type spin default 1 min 1 max 512",
            "option name Clear Hash type button",
            "option name Style type combo default Normal Play var Solid var Normal Play var Risky",
            "option name Ponder type check default false",
            "option name Book File type filename default <empty>",
            "option name Book Name type string default a b",
            "option name Book type filename default C:\\将棋　本\\a  b.bin",
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
        assert_eq!(
            spin.check("65").unwrap_err().to_string(),
            "option 'Hash' is '65'; write a whole number from 1 to 64"
        );
        assert!(spin.check("64").is_ok() && spin.check("x").is_err());
        let check = OptionSpec::parse("name Ponder type check default true").unwrap();
        assert!(check.check("yes").is_err() && check.check("false").is_ok());
    }
}
