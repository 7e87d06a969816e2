//! The language of messages, reports, verdicts and figures.
//!
//! The program's code is English. A message is made by [`text!`](macro@crate::text), which keeps the English template
//! and its arguments; `language/ja.json` holds the Japanese of each template of the crates below the program, and
//! [`add_japanese`] adds that of others. A template that is in none of them stays English, and a test of the program
//! names it. An error derives [`ToText`] beside thiserror's `Error`, and its `#[error("…")]` is the template.

mod errors;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::OnceLock;

pub use errors::of_parser;
pub use evalcurve_text_macro::ToText;
#[doc(hidden)]
pub use evalcurve_text_macro::text_of;

use evalcurve_calibration::file::Doubt;
use evalcurve_calibration::{ModelKind, Termination};
use serde::{Serialize, Serializer};

/// A language that reports, verdicts and figures are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::VariantNames)]
pub enum Language {
    #[default]
    #[strum(serialize = "en")]
    English,
    #[strum(serialize = "ja")]
    Japanese,
}

impl Language {
    /// The language of a locale such as `ja_JP.UTF-8`.
    pub fn of_locale(locale: &str) -> Self {
        if locale.starts_with("ja") { Self::Japanese } else { Self::English }
    }

    /// A word or sentence without arguments in this language.
    pub fn word(self, english: &str) -> &str {
        match self {
            Self::English => english,
            Self::Japanese => japanese(english).unwrap_or(english),
        }
    }

    /// The code of the language in a document.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Japanese => "ja",
        }
    }
}

/// A JSON object of templates and their translations, read when the first text is looked up, and the next one.
struct Dictionary {
    json: &'static str,
    words: OnceLock<HashMap<String, String>>,
    next: OnceLock<Box<Self>>,
}

impl Dictionary {
    const fn new(json: &'static str) -> Self {
        Self { json, words: OnceLock::new(), next: OnceLock::new() }
    }

    fn get(&self, english: &str) -> Option<&str> {
        let words = self.words.get_or_init(|| serde_json::from_str(self.json).unwrap_or_default());
        words.get(english).map(String::as_str)
    }
}

/// The Japanese of the crates that know no command. What [`add_japanese`] adds follows it and is never taken away, so
/// that a text can be borrowed without a lock.
static JAPANESE: Dictionary = Dictionary::new(include_str!("language/ja.json"));

fn japanese(english: &str) -> Option<&'static str> {
    let mut dictionaries =
        std::iter::successors(Some(&JAPANESE), |dictionary| dictionary.next.get().map(|next| &**next));
    dictionaries.find_map(|dictionary| dictionary.get(english))
}

/// Adds the Japanese of a crate, a JSON object of templates and translations, to those that are looked up. A text that
/// several have is taken from the one that was added first. A second call with the same object changes nothing; the
/// object is not read before a text is looked up. The tests of the crate ask [`check_dictionary`] about it.
///
/// ```
/// use evalcurve_words::language::{Language, add_japanese};
///
/// add_japanese(r#"{"{n} pawns": "歩{n}枚"}"#);
/// assert_eq!(evalcurve_words::say!(Language::Japanese, "{n} pawns", n = 3), "歩3枚");
/// ```
pub fn add_japanese(json: &'static str) {
    let mut last = &JAPANESE;
    while last.json != json {
        last = last.next.get_or_init(|| Box::new(Dictionary::new(json)));
    }
}

/// What is wrong with the dictionary of a crate: it has one template on a line, each once and sorted, and a
/// translation names no argument that its template has not. For the tests of that crate.
///
/// ```
/// use evalcurve_words::language::check_dictionary;
///
/// let problems = check_dictionary("{\n\"{n} games\": \"{m}局\"\n}");
/// assert_eq!(problems, ["\"{n} games\": \"{m}局\" names an argument that is not in the template"]);
/// ```
pub fn check_dictionary(json: &str) -> Vec<String> {
    let words: HashMap<String, String> = match serde_json::from_str(json) {
        Ok(words) => words,
        Err(error) => return vec![error.to_string()],
    };
    let mut problems = Vec::new();
    for (english, japanese) in &words {
        if !arguments(japanese).is_subset(&arguments(english)) {
            problems.push(format!("{english:?}: {japanese:?} names an argument that is not in the template"));
        }
    }
    let lines = json.lines().map(str::trim).filter(|line| line.len() > 2);
    let keys: Vec<_> = lines.filter_map(|line| line.split("\": \"").next()).collect();
    if keys.len() != words.len() {
        problems.push(format!("{} lines for {} templates: write one line each, each once", keys.len(), words.len()));
    }
    problems
        .extend(keys.windows(2).filter(|pair| pair[0] > pair[1]).map(|pair| format!("{} before {}", pair[1], pair[0])));
    problems
}

/// The names of the arguments of a template; one without a name has its number.
fn arguments(template: &str) -> BTreeSet<String> {
    let mut next = 0;
    let plain = template.replace("{{", "").replace("}}", "");
    let mut name = |part: &str| match part.split(['}', ':']).next().unwrap_or_default() {
        "" => {
            next += 1;
            (next - 1).to_string()
        }
        name => name.to_owned(),
    };
    plain.split('{').skip(1).map(&mut name).collect()
}

/// A text that is put into a language when it is known who reads it. Displayed and serialised, it is English.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(Content);

#[derive(Clone, PartialEq, Eq)]
enum Content {
    /// The same in all languages.
    Same(String),
    /// Looked up as it is.
    Word(Cow<'static, str>),
    /// A template, and the arguments by the names that the template has for them.
    Template { template: &'static str, arguments: Vec<(&'static str, Text)> },
    /// One after another.
    Several(Vec<Text>),
}

impl Text {
    /// The same in all languages, such as a name.
    pub fn same(text: impl Into<String>) -> Self {
        Self(Content::Same(text.into()))
    }

    /// What [`text!`](macro@crate::text) makes.
    #[doc(hidden)]
    pub fn new(template: &'static str, arguments: Vec<(&'static str, Self)>) -> Self {
        Self(Content::Template { template, arguments })
    }

    /// A word or sentence of a list, such as the label of a kind.
    pub fn word(english: impl Into<Cow<'static, str>>) -> Self {
        Self(Content::Word(english.into()))
    }

    /// Whether it is empty in English.
    pub fn is_empty(&self) -> bool {
        self.text(Language::English).is_empty()
    }

    /// A count with its word in singular or plural, which have it as `{n}`: `1 point`, `12 points`.
    pub fn counted(n: u64, one: &'static str, many: &'static str) -> Self {
        let template = if n == 1 { one } else { many };
        Self::new(template, vec![("n", Self::same(crate::text::thousands(n)))])
    }

    /// The text in a language.
    pub fn text(&self, language: Language) -> String {
        let mut out = String::new();
        self.write(language, &mut out);
        out
    }

    fn write(&self, language: Language, out: &mut String) {
        match &self.0 {
            Content::Same(text) => *out += text,
            Content::Word(english) => *out += language.word(english),
            Content::Template { template, arguments } => fill(language.word(template), arguments, language, out),
            Content::Several(texts) => texts.iter().for_each(|text| text.write(language, out)),
        }
    }

    /// The text after what it is about, `Gikou: no games`.
    pub fn about(&self, what: &Self) -> Self {
        Self(Content::Several(vec![what.clone(), Self::same(": "), self.clone()]))
    }

    /// Adds a text.
    pub fn push(&mut self, more: &Self) {
        match &mut self.0 {
            Content::Several(texts) => texts.push(more.clone()),
            _ => *self = Self(Content::Several(vec![self.clone(), more.clone()])),
        }
    }

    /// The texts with `separator` between them.
    pub fn join(texts: impl IntoIterator<Item = Self>, separator: &Self) -> Self {
        let mut all = Vec::new();
        for text in texts {
            if !all.is_empty() {
                all.push(separator.clone());
            }
            all.push(text);
        }
        Self(Content::Several(all))
    }

    /// The texts as a list, `a, b, c`.
    pub fn list(texts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(texts, &Self::word(", "))
    }
}

/// Writes a template with its arguments. A translation has the names of the English template, in any order; how an
/// argument is formatted says the English one.
fn fill(template: &str, arguments: &[(&'static str, Text)], language: Language, out: &mut String) {
    let (mut rest, mut next) = (template, 0_usize);
    while let Some(at) = rest.find(['{', '}']) {
        *out += &rest[..at];
        let sign = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(sign) {
            *out += sign;
            rest = after;
            continue;
        }
        let Some((inside, after)) = rest.split_once('}') else { break };
        rest = after;
        let name = inside.split_once(':').map_or(inside, |(name, _)| name);
        let argument = match name {
            "" => {
                next += 1;
                let position = (next - 1).to_string();
                arguments.iter().find(|(name, _)| *name == position)
            }
            name => arguments.iter().find(|argument| argument.0 == name),
        };
        if let Some((_, argument)) = argument {
            argument.write(language, out);
        }
    }
    *out += rest;
}

impl Default for Text {
    fn default() -> Self {
        Self(Content::Same(String::new()))
    }
}

/// English.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(Language::English), f)
    }
}

/// English.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text(Language::English))
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
        serializer.serialize_str(&self.text(Language::English))
    }
}

/// What people read as a [`Text`], such as an error. As an argument of [`text!`](macro@crate::text) it is translated.
pub trait ToText {
    fn to_text(&self) -> Text;
}

impl ToText for Text {
    fn to_text(&self) -> Text {
        self.clone()
    }
}

/// The same in all languages.
impl ToText for String {
    fn to_text(&self) -> Text {
        Text::same(self.as_str())
    }
}

impl<T: ToText + ?Sized> ToText for &T {
    fn to_text(&self) -> Text {
        (*self).to_text()
    }
}

/// Why a game ended.
impl ToText for Termination {
    fn to_text(&self) -> Text {
        Text::word(self.as_str().replace('_', " "))
    }
}

/// The doubt as what a calibration does.
impl ToText for Doubt {
    fn to_text(&self) -> Text {
        Text::word(self.words())
    }
}

/// The model in words, not under its name in files.
impl ToText for ModelKind {
    fn to_text(&self) -> Text {
        Text::word(self.label())
    }
}

/// Makes the display of types their English text.
#[macro_export]
macro_rules! display_text {
    ($($type:ty),+ $(,)?) => {$(
        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(&$crate::language::ToText::to_text(self).text($crate::language::Language::English))
            }
        }
    )+};
}

/// An argument of a template: by [`ToText`] if it has that, else by `Display`. `(&Argument(x)).argument()` finds the
/// first of the two, because its trait is implemented with one reference less.
#[doc(hidden)]
pub struct Argument<'a, T: ?Sized>(pub &'a T);

#[doc(hidden)]
pub trait ArgumentByText {
    fn argument(&self) -> Text;
}

impl<T: ToText + ?Sized> ArgumentByText for Argument<'_, T> {
    fn argument(&self) -> Text {
        self.0.to_text()
    }
}

#[doc(hidden)]
pub trait ArgumentByDisplay {
    fn argument(&self) -> Text;
}

impl<T: fmt::Display + ?Sized> ArgumentByDisplay for &Argument<'_, T> {
    fn argument(&self) -> Text {
        Text::same(self.0.to_string())
    }
}

/// A text that [`Language::word`](crate::language::Language::word) translates where it is used, such as one of a table.
#[macro_export]
macro_rules! key {
    ($text:literal) => {
        $text
    };
}

/// A [`Text`] from what `format!` takes: `text!("{n} games of {name}: {:.2}", share)`. A text among the arguments is
/// translated as well.
#[macro_export]
macro_rules! text {
    ($($all:tt)+) => { $crate::language::text_of!($crate; $($all)+) };
}

/// [`text!`](macro@crate::text) in a language, as a `String`: `say!(language, "{n} games")`.
#[macro_export]
macro_rules! say {
    ($language:expr, $($all:tt)+) => { $crate::text!($($all)+).text($language) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_formats_and_are_translated() {
        let (share, name) = (1.0 / 3.0, "Gikou".to_owned());
        let inner = Text::word(", ");
        let text = text!("{{{name}}} {share:.2}{inner}{0:>4}{1}{0:>4}", Vec::<(u8, u8)>::new().len(), last = 7);
        assert_eq!(text.text(Language::Japanese), "{Gikou} 0.33、   07   0");
        assert_eq!(text.to_string(), "{Gikou} 0.33,    07   0");
        assert_eq!(Text::list([text!("a"), text!("b")]).text(Language::Japanese), "a、b");
    }

    #[test]
    fn the_dictionary_is_right() {
        assert_eq!(check_dictionary(include_str!("language/ja.json")), Vec::<String>::new());
    }

    #[test]
    fn dictionaries_are_checked() {
        assert!(check_dictionary("{").len() == 1);
        let twice = "{\n  \"b\": \"B\",\n  \"a\": \"A\",\n  \"a\": \"A\"\n}";
        assert_eq!(
            check_dictionary(twice),
            ["3 lines for 2 templates: write one line each, each once", "\"a before \"b"]
        );
        assert_eq!(check_dictionary("{\n  \"a {} {x:.2}\": \"{x}の{0}\"\n}"), Vec::<String>::new());
    }

    #[test]
    fn dictionaries_are_added_once_and_the_first_counts() {
        let [one, two] = [r#"{"a file of pears": "梨"}"#, r#"{"a file of pears": "ナシ", "a file of plums": "梅"}"#];
        for json in [one, two, one, two] {
            add_japanese(json);
        }
        let after = |json| {
            std::iter::successors(Some(&JAPANESE), |d| d.next.get().map(|d| &**d)).filter(|d| d.json == json).count()
        };
        assert_eq!([after(one), after(two)], [1, 1]);
        assert_eq!(["a file of pears", "a file of plums"].map(|text| Language::Japanese.word(text)), ["梨", "梅"]);
    }

    #[test]
    fn a_text_for_all_is_english_in_documents() {
        let mut text = text!("{n} points", n = 3);
        text.push(&Text::same(": 技巧"));
        assert_eq!(text.text(Language::English), "3 points: 技巧");
        assert_eq!(text.text(Language::Japanese), "3 点: 技巧");
        assert_eq!(serde_json::to_string(&text).unwrap(), "\"3 points: 技巧\"");
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
