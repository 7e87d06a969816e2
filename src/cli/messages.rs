//! Errors in the language of the user.

use std::error::Error;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ErrorKind};

use crate::language::{Language, Text};
use crate::record::find::SourceError;
use crate::table::TableError;
use crate::{run, text};

/// An error with its causes; a cause that the message already quotes is not repeated.
pub(super) fn of_error(error: &anyhow::Error, language: Language) -> String {
    let mut message = String::new();
    for cause in error.chain().map(|cause| words(cause).text(language).to_owned()) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// An error in every language, or in English.
fn words(error: &(dyn Error + 'static)) -> Text {
    let number = error.downcast_ref::<ParseIntError>().map(|number| match number.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => text!("the number is too large", "数が大きすぎます"),
        _ => text!("expected a whole number", "整数を書いてください"),
    });
    let of_float = || error.downcast_ref::<ParseFloatError>().map(|_| text!("expected a number", "数を書いてください"));
    let own = || error.downcast_ref::<Text>().cloned();
    let command = || error.downcast_ref::<run::Error>().map(run::Error::words);
    let source = || error.downcast_ref::<SourceError>().map(SourceError::words);
    let table = || error.downcast_ref::<TableError>().map(TableError::words);
    let known = number.or_else(of_float).or_else(own).or_else(command).or_else(source).or_else(table);
    known.unwrap_or_else(|| Text::same(error.to_string()))
}

/// An error in the arguments: with what is expected of a number, where Rust says "invalid digit found in string", and
/// in the language of the user.
pub(super) fn of_arguments(error: clap::Error, language: Language) -> clap::Error {
    let message = match language {
        Language::English => expected_number(&error),
        Language::Japanese => in_japanese(&error),
    };
    let help = language.choose("For more information, try '--help'.", "詳しくは --help を見てください。");
    message.map_or(error, |(kind, message)| clap::Error::raw(kind, format!("{message}\n\n{help}\n")))
}

/// What the error is about, as text.
fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    error.get(kind).map(ToString::to_string).filter(|text| !text.is_empty())
}

fn expected_number(error: &clap::Error) -> Option<(ErrorKind, String)> {
    let source = error.source().filter(|s| s.is::<ParseIntError>() || s.is::<ParseFloatError>())?;
    let (value, option) = (context(error, ContextKind::InvalidValue)?, context(error, ContextKind::InvalidArg)?);
    Some((ErrorKind::ValueValidation, format!("invalid value '{value}' for '{option}': {}", words(source))))
}

/// The usual errors in Japanese; `None` for the others, and for help and version.
fn in_japanese(error: &clap::Error) -> Option<(ErrorKind, String)> {
    let of = |kind| context(error, kind);
    let option = of(ContextKind::InvalidArg);
    let nearest = |kind| of(kind).map_or_else(String::new, |near| format!("。近いもの: {near}"));
    let message = match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let option = option?;
            let Some(value) = of(ContextKind::InvalidValue) else {
                return Some((error.kind(), format!("'{option}' に値がありません")));
            };
            let why = error
                .source()
                .map_or_else(String::new, |source| format!(": {}", words(source).text(Language::Japanese)));
            let known = of(ContextKind::ValidValue).map_or_else(String::new, |values| format!("(使える値: {values})"));
            format!("'{value}' は '{option}' の値として使えません{known}{why}")
        }
        ErrorKind::UnknownArgument => {
            let option = option?;
            let what = if option.starts_with('-') { "オプション" } else { "引数" };
            format!("'{option}' という{what}はありません{}", nearest(ContextKind::SuggestedArg))
        }
        ErrorKind::InvalidSubcommand => {
            let command = of(ContextKind::InvalidSubcommand)?;
            format!("'{command}' というコマンドはありません{}", nearest(ContextKind::SuggestedSubcommand))
        }
        ErrorKind::MissingRequiredArgument => format!("必要な引数がありません: {}", option?),
        ErrorKind::ArgumentConflict => {
            format!("'{}' は '{}' と同時に使えません", option?, of(ContextKind::PriorArg)?)
        }
        _ => return None,
    };
    Some((error.kind(), message))
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn errors_are_in_the_language_with_their_causes() {
        let error = Err::<(), _>(anyhow::Error::from(text!("no games", "対局なし"))).context("a.csa").unwrap_err();
        assert_eq!(of_error(&error, Language::English), "a.csa: no games");
        assert_eq!(of_error(&error, Language::Japanese), "a.csa: 対局なし");
    }
}
