//! The language of verdicts and headlines.

/// A language that verdicts and headlines are written in.
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

    /// The text in this language.
    pub fn choose_owned(self, english: impl FnOnce() -> String, japanese: impl FnOnce() -> String) -> String {
        match self {
            Self::English => english(),
            Self::Japanese => japanese(),
        }
    }

    /// The code of the language in a document.
    pub fn code(self) -> &'static str {
        self.choose("en", "ja")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
