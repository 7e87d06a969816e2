//! Errors of crates that know no [`Text`]: of the calibration file, the system, serde and toml.

use evalcurve_calibration::CalibrationError;

use super::{Text, ToText};
use crate::{key, text};

impl ToText for CalibrationError {
    fn to_text(&self) -> Text {
        match self {
            Self::Io { action, path, source, remedy } => {
                let (action, path, remedy) = (Text::word(*action), path.display(), Text::word(*remedy));
                text!("cannot {action} {path}: {source}; {remedy}")
            }
            Self::Syntax { source_name, json_path, problem, line, column } => {
                let problem = of_parser(problem);
                text!(
                    "{source_name}: {json_path}: {problem} (line {line}, column {column}); correct the file or \
                     calibrate again"
                )
            }
            Self::Field { source_name, json_path, problem, remedy } => {
                let (problem, remedy) = (of_parser(problem), Text::word(remedy.clone()));
                text!("{source_name}: {json_path}: {problem}; {remedy}")
            }
            Self::Serialise { engine, problem } => {
                text!("the calibration of {engine} cannot be written as JSON: {problem}")
            }
            other => Text::word(other.to_string()),
        }
    }
}

/// The message of the system, or of a reader of this program.
impl ToText for std::io::Error {
    fn to_text(&self) -> Text {
        Text::word(self.to_string())
    }
}

impl ToText for serde_json::Error {
    fn to_text(&self) -> Text {
        of_parser(&self.to_string())
    }
}

/// What serde and toml say of a file, and values that they read; the first that fits counts.
const OF_PARSERS: [&str; 7] = [
    key!("unknown field '{key}', expected one of {keys}"),
    key!("unknown field '{key}', expected {keys}"),
    key!("missing field '{key}'"),
    key!("invalid type: {found}, expected {wanted}"),
    key!("invalid value '{value}', expected one of {values}"),
    key!("the name {name} cannot be displayed; write a word"),
    key!("'{text}' is no list of processors; write their numbers, such as 0,2,5-7"),
];

/// A message of serde or toml, which have English alone.
pub fn of_parser(message: &str) -> Text {
    let found = OF_PARSERS.iter().find_map(|template| {
        let mut rest = message;
        let mut arguments = Vec::new();
        let (first, parts) = template.split_once('{')?;
        rest = rest.strip_prefix(first)?;
        for part in parts.split('{') {
            let (name, literal) = part.split_once('}')?;
            let (value, after) = if literal.is_empty() { (rest, "") } else { rest.split_once(literal)? };
            arguments.push((name, Text::same(value)));
            rest = after;
        }
        rest.is_empty().then(|| Text::new(template, arguments))
    });
    found.unwrap_or_else(|| Text::word(message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn what_parsers_say_is_translated() {
        for (english, japanese) in [
            (
                "unknown field 'pears', expected one of 'pairs', 'x'",
                "'pears' という項目はありません。使えるのは 'pairs', 'x'",
            ),
            ("missing field 'pairs'", "'pairs' がありません"),
            ("missing field 'pairs' of something", "missing field 'pairs' of something"),
            ("an error of another kind", "an error of another kind"),
        ] {
            let text = of_parser(english);
            assert_eq!([text.to_string(), text.text(Language::Japanese)], [english, japanese]);
        }
    }
}
