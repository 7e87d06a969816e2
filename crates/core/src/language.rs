//! The language of reports, verdicts and figures.

use std::fmt;

use serde::{Serialize, Serializer};

/// A language that reports, verdicts and figures are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::VariantNames)]
pub enum Language {
    /// English.
    #[default]
    #[strum(serialize = "en")]
    English,
    /// Japanese.
    #[strum(serialize = "ja")]
    Japanese,
}

impl Language {
    /// The language of a locale such as `ja_JP.UTF-8`.
    pub fn of_locale(locale: &str) -> Self {
        if locale.starts_with("ja") { Self::Japanese } else { Self::English }
    }

    /// The word in this language.
    pub fn choose<'a>(self, english: &'a str, japanese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Japanese => japanese,
        }
    }

    /// The code of the language in a document.
    pub fn code(self) -> &'static str {
        self.choose("en", "ja")
    }
}

/// A text in every language, for results that are made before it is known who reads them. Displayed and serialised, it
/// is English.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text {
    /// In English.
    pub english: String,
    /// In Japanese.
    pub japanese: String,
}

impl Text {
    /// The same in all languages, such as a name.
    pub fn same(text: impl Into<String>) -> Self {
        let english = text.into();
        Self { japanese: english.clone(), english }
    }

    /// What `words` says in each language.
    pub fn of(words: impl Fn(Language) -> String) -> Self {
        Self { english: words(Language::English), japanese: words(Language::Japanese) }
    }

    /// The text in a language.
    pub fn text(&self, language: Language) -> &str {
        language.choose(&self.english, &self.japanese)
    }

    /// The text after what it is about, `Gikou: no games`.
    pub fn about(&self, what: &Self) -> Self {
        Self::of(|language| format!("{}: {}", what.text(language), self.text(language)))
    }

    /// Adds a text.
    pub fn push(&mut self, more: &Self) {
        self.english += &more.english;
        self.japanese += &more.japanese;
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.english)
    }
}

/// The same in all languages.
impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::same(text)
    }
}

/// A text can be the error of a command or of an option's value.
impl std::error::Error for Text {}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.english)
    }
}

/// A [`Text`] from a format in each language. Texts among the captured arguments are English in both.
#[macro_export]
macro_rules! text {
    ($english:literal, $japanese:literal $(, $argument:expr)* $(,)?) => {
        $crate::language::Text {
            english: format!($english $(, $argument)*),
            japanese: format!($japanese $(, $argument)*),
        }
    };
}

/// `format!` in a language: `say!(language, "{n} games", "{n} 局")`. Both texts take the same arguments.
#[macro_export]
macro_rules! say {
    ($language:expr, $english:literal, $japanese:literal $(, $argument:expr)* $(,)?) => {
        match $language {
            $crate::language::Language::English => format!($english $(, $argument)*),
            $crate::language::Language::Japanese => format!($japanese $(, $argument)*),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_formatted_in_its_language() {
        let n = 3;
        assert_eq!(say!(Language::English, "{n} games, {}", "{n} 局、{}", 1), "3 games, 1");
        assert_eq!(say!(Language::Japanese, "{n} games, {}", "{n} 局、{}", 1), "3 局、1");
    }

    #[test]
    fn a_text_for_all_is_english_in_documents() {
        let mut text = text!("{} games", "{} 局", 3);
        text.push(&Text::same(": 技巧"));
        assert_eq!((text.text(Language::English), text.text(Language::Japanese)), ("3 games: 技巧", "3 局: 技巧"));
        assert_eq!(serde_json::to_string(&text).unwrap(), "\"3 games: 技巧\"");
    }

    #[test]
    fn locales_name_languages() {
        for (locale, language) in [
            ("ja_JP.UTF-8", Language::Japanese),
            ("ja", Language::Japanese),
            ("C.UTF-8", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(Language::of_locale(locale), language, "{locale}");
        }
        assert_eq!("ja".parse(), Ok(Language::Japanese));
    }
}
