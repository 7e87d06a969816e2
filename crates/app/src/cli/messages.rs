//! Errors in the language of the user.

use std::error::Error;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::sync::OnceLock;

use clap::error::{ContextKind, ErrorKind};
use evalcurve_engine::usi::SpawnError;
use evalcurve_fit::calibration::CalibrationError;
use evalcurve_records::record::find::SourceError;
use evalcurve_tables::TableError;
use evalcurve_words::language::{Language, Text, ToText};
use evalcurve_words::text::plain_number;
use evalcurve_words::whole_file::WriteError;
use evalcurve_words::{say, text};

/// The text of an error, if it is of a kind that has one.
pub type Known = fn(&(dyn Error + 'static)) -> Option<Text>;

/// The text of an error of this type.
pub fn known<E: Error + ToText + 'static>(error: &(dyn Error + 'static)) -> Option<Text> {
    error.downcast_ref::<E>().map(ToText::to_text)
}

/// The errors of the commands of this program.
static OF_COMMANDS: OnceLock<Vec<Known>> = OnceLock::new();

/// Adds the errors of commands to those that are reported in the language of the user, once.
pub fn know(errors: impl IntoIterator<Item = Known>) {
    let _ = OF_COMMANDS.set(errors.into_iter().collect());
}

/// The errors of what the commands share.
const SHARED: [Known; 7] = [
    known::<Text>,
    known::<crate::Error>,
    known::<SourceError>,
    known::<TableError>,
    known::<CalibrationError>,
    known::<WriteError>,
    known::<SpawnError>,
];

/// An error with its causes; a cause that the message already quotes is not repeated.
pub fn of_error(error: &anyhow::Error) -> Text {
    let mut message = Text::default();
    for cause in error.chain().map(words) {
        if message.is_empty() {
            message = cause;
        } else if !message.to_string().contains(&cause.to_string()) {
            message = cause.about(&message);
        }
    }
    message
}

/// Says before an error what it is about.
pub trait About<T> {
    /// The result, with the text before its error.
    fn about(self, what: impl FnOnce() -> Text) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> About<T> for Result<T, E> {
    fn about(self, what: impl FnOnce() -> Text) -> anyhow::Result<T> {
        self.map_err(|error| of_error(&error.into()).about(&what()).into())
    }
}

/// An error in every language.
fn words(error: &(dyn Error + 'static)) -> Text {
    let number = error.downcast_ref::<ParseIntError>().map(|number| match number.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => text!("the number is too large"),
        _ => text!("expected a whole number"),
    });
    let of_float = || error.downcast_ref::<ParseFloatError>().map(|_| text!("expected a number"));
    let own = || SHARED.iter().chain(OF_COMMANDS.get().into_iter().flatten()).find_map(|known| known(error));
    number.or_else(of_float).or_else(own).unwrap_or_else(|| Text::same(error.to_string()))
}

/// An error in the arguments: with what is expected of a number, where Rust says "invalid digit found in string", and
/// in the language of the user.
pub fn of_arguments(error: clap::Error, language: Language) -> clap::Error {
    let message = match language {
        Language::English => expected_number(&error),
        Language::Japanese => translated(&error, language),
    };
    let help = language.word("For more information, try '--help'.");
    message.map_or(error, |(kind, message)| clap::Error::raw(kind, format!("{message}\n\n{help}\n")))
}

/// What the error is about, as text.
fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    error.get(kind).map(ToString::to_string).filter(|text| !text.is_empty())
}

/// What to write for a number with full-width digits, separators or a unit.
fn plain(value: &str) -> Text {
    plain_number(value).map_or_else(Text::default, |plain| text!("; write {plain}"))
}

fn expected_number(error: &clap::Error) -> Option<(ErrorKind, String)> {
    let source = error.source().filter(|s| s.is::<ParseIntError>() || s.is::<ParseFloatError>())?;
    let (value, option) = (context(error, ContextKind::InvalidValue)?, context(error, ContextKind::InvalidArg)?);
    let message = format!("invalid value '{value}' for '{option}': {}{}", words(source), plain(&value));
    Some((ErrorKind::ValueValidation, message))
}

/// The usual errors in a language that clap does not speak; `None` for the others, and for help and version.
fn translated(error: &clap::Error, language: Language) -> Option<(ErrorKind, String)> {
    let of = |kind| context(error, kind);
    let option = of(ContextKind::InvalidArg);
    let nearest = |kind| of(kind).map_or_else(Text::default, |near| text!("; nearest: {near}"));
    let message = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let option = option?;
            let Some(value) = of(ContextKind::InvalidValue) else {
                return Some((error.kind(), say!(language, "'{option}' has no value")));
            };
            let why = error.source().map_or_else(Text::default, |source| words(source).about(&Text::default()));
            let known = of(ContextKind::ValidValue).map_or_else(Text::default, |values| text!(" (one of {values})"));
            text!("'{value}' is no value of '{option}'{known}{why}{}", plain(&value))
        }
        ErrorKind::UnknownArgument => {
            let option = option?;
            let nearest = nearest(ContextKind::SuggestedArg);
            match option.starts_with('-') {
                true => text!("there is no option '{option}'{nearest}"),
                false => text!("there is no argument '{option}'{nearest}"),
            }
        }
        ErrorKind::InvalidSubcommand => {
            let command = of(ContextKind::InvalidSubcommand)?;
            text!("there is no command '{command}'{}", nearest(ContextKind::SuggestedSubcommand))
        }
        ErrorKind::MissingRequiredArgument => text!("required arguments are missing: {}", option?),
        ErrorKind::ArgumentConflict => {
            text!("'{}' cannot be used with '{}'", option?, of(ContextKind::PriorArg)?)
        }
        _ => return None,
    };
    Some((error.kind(), message.text(language)))
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn errors_are_in_the_language_with_their_causes() {
        let error = Err::<(), _>(anyhow::Error::from(text!("no games"))).context("a.csa").unwrap_err();
        assert_eq!(of_error(&error).text(Language::English), "a.csa: no games");
        assert_eq!(of_error(&error).text(Language::Japanese), "a.csa: 対局なし");
    }
}
